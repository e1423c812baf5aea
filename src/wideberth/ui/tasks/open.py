"""Opening a table: what is in it, what its columns seem to be, and a policy to begin with."""

from __future__ import annotations

import re
import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.checks.protection import proposed_policy
from wideberth.core.codes import encode_as
from wideberth.core.progress import Progress
from wideberth.core.types import convert
from wideberth.errors import TableError, WideberthError
from wideberth.io import notation
from wideberth.policy.guesses import Guess, guess_columns
from wideberth.policy.people import find_people
from wideberth.policy.policy import Policy
from wideberth.policy.proposal import (
    Proposal,
    proposed_reading,
    reading_remarks,
    require_moderate_width,
)
from wideberth.policy.roles import LISTS
from wideberth.principles.columns import require_column

#: How many rows are shown, how many examples of a column, and of how many values all.
_ROWS, _EXAMPLES, _VALUES = 12, 3, 200
#: Letters of a cell that are shown; and of all values of a column, beyond which none is listed.
_LONG, _LETTERS = 200, 100_000
#: Bytes of a file that are looked at before it is read.
_BEGIN = 1 << 16
#: By which ways to write a date are told apart.
_A_DAY = datetime(2013, 5, 31, 14, 2, 11)
#: Rows in which examples are looked for first.
_FIRST = 1000


def profile(
    *, path: str, options: Mapping[str, Any] | None = None, tell: Progress
) -> dict[str, Any]:
    """Read a table and describe it, guess roles and types, and propose a policy."""
    reading = Policy.of({"table": dict(options or {})}, where="the table").options
    tell("reading", 0, 0)
    _require_file(path, reading)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", io.TableWarning)
        frame = io.read(path, reading)
    require_moderate_width(frame, Path(path).name)
    tell("looking at how values are written", 0, 0)
    better = proposed_reading(frame, reading)
    noticed = reading_remarks(frame, reading, better)
    if better != reading:
        frame, reading = io.read(path, better), better
    tell("guessing types and roles", 0, 0)
    guesses = guess_columns(frame)
    columns = []
    for at, one in enumerate(guesses):
        tell("looking at columns", at, len(guesses))
        columns.append(_column(frame[one.column], one))
    tell("looking at what is possible", 0, 0)
    proposal = proposed_policy(frame, guesses)
    people = find_people(
        frame,
        identifier=[one.column for one in guesses if one.role == "identifier"],
        ignored=[one.column for one in guesses if one.role == "sensitive"],
    )
    return {
        "rows": frame.height,
        "bytes": Path(path).stat().st_size,
        "columns": columns,
        "preview": list(map(list, zip(*(short_texts(s.head(_ROWS)) for s in frame), strict=True))),
        "notes": [
            *(str(one.message) for one in said if one.category is io.TableWarning),
            *noticed,
        ],
        "people": None
        if people is None
        else {"what": str(people), "hint": people.hint(), **people.to_dict()},
        "proposal": {
            "version": 1,
            **_read(reading),
            "roles": {role: [g.column for g in guesses if g.role == role] for role in LISTS},
            "types": {
                g.column: proposal.types.get(g.column, g.type) for g in guesses if not g.unclear
            },
            **({"formats": dict(reading.formats)} if reading.formats else {}),
            **_in_force(proposal),
        },
    }


def fits_task(
    *, path: str, content: Mapping[str, Any], folder: str, column: str, kind: str, tell: Progress
) -> dict[str, Any]:
    """Refuse a type that a value of the column does not have, naming its row."""
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 0)
    frame = io.read(path, policy.options)
    require_column(frame, column)
    convert(frame[column], kind)
    return {"column": column, "type": kind}


def _in_force(proposal: Proposal) -> dict[str, Any]:
    """Return what a policy says of a proposal, without what somebody must decide first."""
    hierarchies, align = (
        {column: one.value for column, one in settings.items() if one.active}
        for settings in (proposal.hierarchies, proposal.align)
    )
    return {
        "principle": [one.value for one in proposal.principles if one.active and one.value],
        **({"hierarchies": hierarchies} if hierarchies else {}),
        **({"transform": {"align": align}} if align else {}),
    }


def _require_file(path: str, options: io.ReadOptions) -> None:
    """Refuse a folder, and what a suffix of text was given to: some of it could be read as text."""
    file = Path(path)
    if file.is_dir():
        raise TableError(f"{file.name or file} is a folder", hint="name one file in it")
    if not file.is_file() or not io.is_csv(file) or options.encoding is not None:
        return  # which reading it looks at
    with file.open("rb") as opened:
        begin = opened.read(_BEGIN)
    packed = file.suffix.lower() == ".gz"
    if b"\0" in begin and not packed and not begin.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise TableError(f"{file.name} holds no text", hint="export the table as CSV")


def short_texts(series: pl.Series) -> list[str | None]:
    """Return cells as short texts: as they are in the file, if it is one of text.

    >>> short_texts(pl.Series([True, None])), short_texts(pl.Series([[0.25, 0.75]]))
    (['true', None], ['[0.25, 0.75]'])
    """
    return list(iterate_short_texts(series))


def iterate_short_texts(series: pl.Series) -> Iterator[str | None]:
    """Yield the same, for those who need but the first."""
    cells = series.alias("")
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    yield from (None if cell is None else _short(cell) for cell in cells.to_list())


def _short(cell: object) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, bytes):
        return f"{len(cell):,} bytes"
    if isinstance(cell, Mapping):
        text = ", ".join(f"{key}: {_plain(value)}" for key, value in cell.items())
    elif isinstance(cell, list):
        text = f"[{', '.join(map(_plain, cell[:_LONG]))}]"
    else:
        text = str(cell)
    return text if len(text) <= _LONG else text[: _LONG - 1] + "…"


def _plain(part: object) -> str:
    return "" if part is None else _short(part)


def _read(options: io.ReadOptions) -> dict[str, Any]:
    """Return what a policy must say of how the table is read, if anything."""
    usual = asdict(io.ReadOptions())
    said = {k: v for k, v in asdict(options).items() if k not in ("formats", "made")}
    kept = {key: value for key, value in said.items() if value != usual[key]}
    if "missing" in kept:
        kept["missing"] = list(kept["missing"])
    return {"table": kept} if kept else {}


def _column(series: pl.Series, guess: Guess) -> dict[str, Any]:
    return {
        "name": guess.column,
        "type": guess.type,
        "role": guess.role,
        "distinct": guess.distinct,
        "missing": guess.missing,
        "why": guess.why.partition("; WRITTEN AS")[0],  # the ways are offered
        "unclear": guess.unclear,
        "ways": [{"way": way, "words": _worded(way)} for way in guess.ways if guess.ways[1:]],
        "part_of": guess.part_of,
        "examples": _examples(series),
        "values": _values(series, guess),
    }


def _worded(way: str) -> str:
    """Describe a notation by an example.

    >>> _worded("%d/%m/%Y"), _worded("%m/%d/%Y"), _worded("1,234.56")
    ('day first: 31/05/2013', 'month first: 05/31/2013', 'numbers: 1,234.56')
    """
    if not notation(way).date:
        return f"numbers: {way}"
    codes = [code for code in re.findall("%([A-Za-z])", way) if code in "YdmbB"]
    first = {"Y": "year", "d": "day"}.get(codes[0], "month")
    return f"{first} first: {_A_DAY.strftime(way.replace('%.f', '.25'))}"


def _examples(series: pl.Series) -> list[str | None]:
    """Return the first values that differ."""
    cells = series.alias("")
    first = cells.head(_FIRST).drop_nulls()
    if first.is_empty():
        first = cells.drop_nulls().head(_FIRST)
    found: dict[str | None, None] = {}
    for cell in iterate_short_texts(first):
        found[cell] = None
        if len(found) == _EXAMPLES:
            break
    return list(found)


def _values(series: pl.Series, guess: Guess) -> list[str] | None:
    """Return all values in their order, as hierarchies and policies name them, if they are few."""
    if guess.distinct > _VALUES or series.dtype.is_nested() or not guess.distinct:
        return None
    try:
        texts = encode_as(series.alias("").drop_nulls().unique(), guess.type).domain.texts
    except WideberthError:  # a number that is none, say: whoever uses the column is told
        return None
    return texts if sum(map(len, texts)) <= _LETTERS else None
