"""What every way in and out agrees on: formats by suffix, and names of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import cast

import polars as pl

from wideberth.core.memory import available
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


def require_unique_names(names: Sequence[object], where: str) -> None:
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


# -----------------------------------------------------------------------------
# Whether a table fits into the memory, known before it is unpacked.
#
# A file of a few kilobytes can hold gigabytes, if all its rows are the same. Reading takes several
# times what a file holds, so what it holds is compared with a share of the memory that is free.


#: How many times the data of a file its reading takes at the peak, measured with `check` and
#: `init`: 480 MB of an Arrow file 1,270 MB and of a Parquet file 810 MB, 105 MB of CSV 790 MB.
TIMES = {"Arrow": 3, "Parquet": 2, "CSV": 8}
#: No table about people is packed so well: all its rows would be the same.
_PACKED = 1000
#: Nor does text pack so well, of which reading takes more memory.
_PACKED_TEXT = 100
#: Up to so many bytes, it does no harm; text, which is held several times while it is read.
_ROOMY = 2**30
_HARMLESS_TEXT = 2**28


def require_memory(needed: int, *, form: str, name: str, packed: int) -> None:
    """Refuse a table that does not fit into the memory, however well its file is packed."""
    # needed: bytes of the table, unpacked. packed: bytes of its file.
    room = readable_bytes(form)
    if room is not None and needed > room:
        free = room * TIMES[form]
        raise TableError(
            f"{name} holds {gigabytes(needed)} of data, which takes about "
            f"{gigabytes(needed * TIMES[form])} to read, and {gigabytes(free)} of memory are free",
            hint=what_to_type(
                python='memory="2GB", which reads a file in parts',
                command="--memory 2GB, which reads a file in parts",
            ),
        )
    if needed > max(_ROOMY, _PACKED * packed):
        raise TableError(
            f"{name} has {packed:,} bytes, and claims to hold {gigabytes(needed)} of data: no "
            "table about people can be packed so well",
            hint="ask whoever made the file; write it again in smaller parts if it is right",
        )


def unpacked_text_limit(packed: int) -> int:
    """Return how many bytes a packed text may unpack to, whatever memory is free.

    >>> unpacked_text_limit(6_000_000) >> 20
    572
    """
    return max(_HARMLESS_TEXT, _PACKED_TEXT * packed)


def readable_bytes(form: str) -> int | None:
    """Return how many bytes of data a file may hold to be read at once; None if unknown."""
    free = available()
    return None if free is None else free // TIMES[form]


def gigabytes(size: int) -> str:
    """Write a number of bytes.

    >>> gigabytes(3 * 2**29)
    '1.5 GB'
    """
    return f"{size / 2**30:,.1f} GB"


# -----------------------------------------------------------------------------
# Cells of text that a spreadsheet program would run as formulas.
#
# Excel, LibreOffice and others evaluate a cell of a CSV file that begins with `=`, `+`, `-` or `@`,
# some of them also after blanks, or if these signs are of full width; such a cell can fetch what
# lies beside it and send it elsewhere. Whether it may stay as it is only the custodian can tell:
# cells are counted here, never changed and never shown.


#: What all such cells begin with, in words.
BEGINNINGS = "=, +, -, @, a tab or a carriage return"

_SIGN = "+\uff0b\uff0d\u2212-"  # of full width, and the minus of typesetters
_FORMULA = rf"(?s)^(?:[\t\r]|\s*[=@\uff1d\uff20{_SIGN}])."
_NUMBER = (
    rf"[{_SIGN}]?(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:e[+-]?[0-9]+)? ?%?"
)
#: Numbers, and intervals of them as releases write them, are no formulas.
_HARMLESS = (
    rf"(?i)^ *(?:{_NUMBER}(?:\.\.{_NUMBER})?(?: or missing)?|[{_SIGN}](?:inf(?:inity)?|nan))$"
)
_MANY = 5  # columns that are named


def formula_cells(frame: pl.DataFrame | pl.LazyFrame) -> dict[str, int]:
    """Count the cells of each column, its name among them, that look like formulas.

    >>> formula_cells(pl.DataFrame({"note": ["=1+1", "fine", "-5"], "+a": [-1, -2, -3]}))
    {'note': 1, '+a': 1}
    """
    total = {}
    for place, (name, dtype) in enumerate(frame.collect_schema().items()):
        column = frame.lazy().select(pl.nth(place))
        total[name] = _many(pl.LazyFrame({"": [name]}))
        categories = isinstance(dtype, pl.Categorical | pl.Enum)
        # Of categories, each text is looked at but once unless one is a formula.
        if dtype == pl.String or (categories and _many(column.unique())):
            total[name] += _many(column)
    return {name: many for name, many in total.items() if many}


def _many(cells: pl.LazyFrame) -> int:
    text = pl.first().cast(pl.String)
    # Most cells are passed over by comparing, which is fast; a formula begins up to - or = to @,
    # or with what is no ASCII.
    few = text.filter((text < ".") | text.is_between(pl.lit("="), pl.lit("A")) | (text > "~"))
    runs = few.str.contains(_FORMULA) & ~few.str.contains(_HARMLESS)
    return int(cells.select(runs.sum()).collect(engine="streaming").item())


def formula_caution(files: Mapping[Path, pl.DataFrame | pl.LazyFrame]) -> list[str]:
    """Warn of cells that look like formulas in the files of text that are written."""
    found: dict[str, int] = {}
    for path, frame in files.items():
        if is_csv(path):
            for name, many in formula_cells(frame).items():
                found[name] = found.get(name, 0) + many
    if not found:
        return []
    many = sum(found.values())
    cells = "1 cell begins" if many == 1 else f"{many:,} cells begin"
    return [
        f"{cells} with {BEGINNINGS}, and a spreadsheet program may run "
        f"{'it' if many == 1 else 'them'} as {'a formula' if many == 1 else 'formulas'}: "
        f"{list_columns(found)}; nothing was changed"
    ]


def list_columns(found: Mapping[str, int]) -> str:
    """List columns with their numbers, the first few of them.

    >>> list_columns({"note": 3, "name": 1})
    "'note' (3), 'name' (1)"
    """
    named = [f"'{name}' ({many:,})" for name, many in found.items()]
    more = len(named) - _MANY
    return ", ".join(named[:_MANY]) + (f" and {more:,} more columns" if more > 0 else "")
