"""What every way in and out agrees on: formats by suffix, and names of columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import cast

import polars as pl

from wideberth.errors import OutputError, TableError, what_to_type

AGAIN = "export the table again"

_FORMATS = (
    dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), "CSV")
    | dict.fromkeys((".parquet", ".pq"), "Parquet")
    | dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow")
)
#: How the names of tables end.
SUFFIXES = tuple(_FORMATS)


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
    """Return whether a name ends as a table's does."""
    return any(Path(path).name.lower().endswith(suffix) for suffix in _FORMATS)


def is_csv(path: str | Path) -> bool:
    """Return whether a file's suffix says that it holds text, without types."""
    return format_of(Path(path), TableError)[1] == "CSV"


#: The first and the last day that Python has, as polars counts them; and how it counts times.
_FIRST, _LAST = (day.toordinal() - date(1970, 1, 1).toordinal() for day in (date.min, date.max))
_PER_DAY = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


def check_dates(frame: pl.DataFrame, where: str) -> None:
    """Raise a ``TableError`` about a date outside the years 1 to 9999, which cannot be shown."""
    for series in frame:
        first, last, dtype = _FIRST, _LAST, series.dtype
        if isinstance(dtype, pl.Datetime):
            per_day = _PER_DAY[dtype.time_unit]
            # Nanoseconds of 64 bits do not reach that far.
            first = max(first * per_day, -(2**63))
            last = min((last + 1) * per_day - 1, 2**63 - 1)
        elif dtype != pl.Date:
            continue
        moments = series.alias("")
        numbers = moments.to_physical().cast(pl.Int64)
        if isinstance(dtype, pl.Datetime) and dtype.time_zone is not None:
            # What the clock shows must be such a date as well, a day more or less.
            near = ~numbers.is_between(first + per_day, last - per_day)
            within = numbers.filter(near).is_between(first, last).all()
            if near.any() and within and dtype.time_unit != "ns":
                shown = moments.filter(near).dt.replace_time_zone(None).to_physical()
                numbers = numbers.scatter(near.arg_true(), shown.cast(pl.Int64))
        low, high = cast("tuple[int | None, int | None]", (numbers.min(), numbers.max()))
        if low is not None and high is not None and (low < first or high > last):
            row = int((~numbers.is_between(first, last)).arg_true()[0]) + 1
            raise TableError(
                f"column {series.name!r} of {where}, row {row}: a date outside the years 1 to 9999",
                hint="correct it, or leave it out",
            )


def check_names(names: Sequence[object], where: str) -> None:
    """Raise a ``TableError`` unless every column has a name of its own."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not isinstance(name, str):
            what = f"column {position} of {where} is named by {type(name).__name__}, not by text"
        elif "\0" in name:
            what = f"the name of column {position} of {where} holds a zero byte"
            raise TableError(
                what,
                hint="is it a file in UTF-16 or UTF-32? Give its encoding: "
                + what_to_type(
                    python='encoding = "utf-16" under [table] of the policy',
                    command="--encoding utf-16",
                    app="“Is the file read wrongly?”",
                ),
            )
        elif not name.strip():
            what = f"column {position} of {where} has no name"
        elif name in seen:
            what = f"columns {seen[name]} and {position} of {where} are both named {name!r}"
        else:
            seen[name] = position
            continue
        raise TableError(what, hint="give every column a name of its own")
