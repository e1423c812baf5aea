"""What every way in and out agrees on: formats by suffix, and names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wideberth.errors import OutputError, TableError

AGAIN = "export the table again"

_FORMATS = (
    dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), "CSV")
    | dict.fromkeys((".parquet", ".pq"), "Parquet")
    | dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow")
)


def format_of(path: Path, error: type[TableError | OutputError]) -> tuple[str, str]:
    """Return a file's suffix in small letters and the format it stands for, or raise `error`."""
    suffix = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else [path.suffix]).lower()
    if suffix not in _FORMATS:
        hint = f"use {', '.join(_FORMATS)}"
        raise error(f"{path.name} has the unknown suffix {suffix!r}", hint=hint)
    return suffix, _FORMATS[suffix]


def suffix_of(path: str | Path) -> str:
    """Return the suffix that tells a file's format, in small letters."""
    return format_of(Path(path), TableError)[0]


def is_table(path: str | Path) -> bool:
    """Tell whether a name ends as a table's does."""
    return any(Path(path).name.lower().endswith(suffix) for suffix in _FORMATS)


def is_csv(path: str | Path) -> bool:
    """Tell whether a file's suffix says that it holds text, without types."""
    return format_of(Path(path), TableError)[1] == "CSV"


def check_names(names: Sequence[object], where: str) -> None:
    """Raise a ``TableError`` unless every column has a name of its own."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not isinstance(name, str):
            what = f"column {position} of {where} is named by {type(name).__name__}, not by text"
        elif not name.strip():
            what = f"column {position} of {where} has no name"
        elif name in seen:
            what = f"columns {seen[name]} and {position} of {where} are both named {name!r}"
        else:
            seen[name] = position
            continue
        raise TableError(what, hint="give every column a name of its own")
