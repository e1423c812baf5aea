"""Opening a table: what is in it, what its columns seem to be, and a policy to begin with."""

from __future__ import annotations

import warnings
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from math import floor, isfinite, log10
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import schema, tables
from wideberth.clock import Progress
from wideberth.encode import encode_as
from wideberth.errors import TableError, WideberthError
from wideberth.policy import Policy
from wideberth.principles import EpsilonMAnonymity
from wideberth.schema import ROLES, Guess
from wideberth.schema.types import floats
from wideberth.words import by_word, is_text

#: How many rows are shown, how many examples of a column, and of how many values all.
_ROWS, _EXAMPLES, _VALUES = 12, 3, 200
#: Letters of a cell that are shown; and of all values of a column, beyond which none is listed.
_LONG, _LETTERS = 200, 100_000
#: Bytes of a file that are looked at before it is read.
_BEGIN = 1 << 16
#: Rows in which examples are looked for first.
_FIRST = 1000
_NUMBERS = ("integer", "float", "decimal")
_K, _M = 5, 5
#: What floats may be wrong by, relatively, and more.
_ROUNDING = 1e-9

Entry = dict[str, Any]


def profile(
    *, path: str, options: Mapping[str, Any] | None = None, tell: Progress
) -> dict[str, Any]:
    """Read a table and describe it, guess roles and types, and propose a policy.

    Parameters
    ----------
    path : str
        The file.
    options : mapping, optional
        How to read it: a policy's section ``table``.
    tell : callable
        Told how far it is.
    """
    reading = Policy.of({"table": dict(options or {})}, where="the table").options
    tell("reading", 0, 3)
    _require_file(path, reading)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", tables.TableWarning)
        frame = tables.read(path, reading)
    tell("looking at columns", 1, 3)
    guesses = schema.guess(frame)
    columns = [_column(frame[one.column], one) for one in guesses]
    tell("looking at what is possible", 2, 3)
    return {
        "rows": frame.height,
        "bytes": Path(path).stat().st_size,
        "columns": columns,
        "preview": list(map(list, zip(*(shown(s.head(_ROWS)) for s in frame), strict=True))),
        "notes": [str(one.message) for one in said if one.category is tables.TableWarning],
        "proposal": {
            "version": 1,
            **_read(reading),
            "roles": {role: [g.column for g in guesses if g.role == role] for role in ROLES},
            "types": {g.column: g.type for g in guesses},
            "principle": list(_principles(frame, guesses)),
        },
    }


def _require_file(path: str, options: tables.ReadOptions) -> None:
    """Refuse a folder, and what a suffix of text was given to: some of it could be read as text."""
    file = Path(path)
    if file.is_dir():
        raise TableError(f"{file.name or file} is a folder", hint="name one file in it")
    if not file.is_file() or not tables.is_csv(file) or options.encoding is not None:
        return  # which reading it looks at
    with file.open("rb") as opened:
        begin = opened.read(_BEGIN)
    packed = file.suffix.lower() == ".gz"
    if b"\0" in begin and not packed and not begin.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise TableError(f"{file.name} holds no text", hint="export the table as CSV")


def shown(series: pl.Series) -> list[str | None]:
    """Return cells as short texts: as they are in the file, if it is one of text.

    >>> shown(pl.Series([True, None])), shown(pl.Series([[0.25, 0.75]]))
    (['true', None], ['[0.25, 0.75]'])
    """
    cells = series.alias("")
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    return [None if cell is None else _short(cell) for cell in cells.to_list()]


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


def _read(options: tables.ReadOptions) -> dict[str, Any]:
    """Return what a policy must say of how the table is read, if anything."""
    usual = asdict(tables.ReadOptions())
    kept = {key: value for key, value in asdict(options).items() if value != usual[key]}
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
        "why": guess.why,
        "part_of": guess.part_of,
        "examples": _examples(series),
        "values": _values(series, guess),
    }


def _examples(series: pl.Series) -> list[str | None]:
    """Return the first values that differ."""
    cells = series.alias("")
    first = cells.head(_FIRST).drop_nulls()
    if first.is_empty():
        first = cells.drop_nulls().head(_FIRST)
    return list(dict.fromkeys(shown(first)))[:_EXAMPLES]


def _values(series: pl.Series, guess: Guess) -> list[str] | None:
    """Return all values in their order, as hierarchies and policies name them, if they are few."""
    if guess.distinct > _VALUES or series.dtype.is_nested() or not guess.distinct:
        return None
    try:
        texts = encode_as(series.alias("").drop_nulls().unique(), guess.type).domain.texts
    except WideberthError:  # a number that is none, say: whoever uses the column is told
        return None
    return texts if sum(map(len, texts)) <= _LETTERS else None


def _principles(frame: pl.DataFrame, guesses: Sequence[Guess]) -> Iterator[Entry]:
    """Propose principles, none of them one that the table cannot satisfy."""
    if frame.height > 1:
        yield {"name": "k-anonymity", "k": min(_K, frame.height)}
    dealt = False  # by a principle that is not monotone, of which there can be one only
    attributes: dict[str, list[Guess]] = {}
    for guess in guesses:
        if guess.role == "sensitive":
            on = guess.column if guess.part_of is None else f"{guess.part_of}.*"
            attributes.setdefault(on, []).append(guess)
    for on, parts in attributes.items():
        number = len(parts) == 1 and parts[0].type in _NUMBERS
        with suppress(WideberthError):  # a column that cannot be judged is left to the custodian
            near = _proximity(on, frame, parts[0]) if number and not dealt else None
            entry = near or _diversity(on, frame, parts, 3 if number or len(parts) > 1 else 2)
            dealt = dealt or near is not None
            if entry is not None:
                yield entry


def _proximity(on: str, frame: pl.DataFrame, guess: Guess) -> Entry | None:
    """Propose (ε,m) with an ε well within what is possible, for the largest m up to the usual.

    The bound is that of :mod:`wideberth.advice.spacing`, in floats: half of it is far enough off.
    """
    ascending = _floats(frame[guess.column]).drop_nulls().sort().to_numpy()
    if not np.isfinite(ascending).all():
        return None
    missing = frame.height - len(ascending)
    for m in range(_M, 1, -1):
        room = frame.height // m
        if missing > room or len(ascending) <= room or not room:
            continue  # no ε is possible, or any is, for hardly a row has a number
        with np.errstate(over="ignore"):
            bound = float((ascending[room:] - ascending[:-room]).min())
        if isfinite(bound) and bound > np.abs(ascending[[0, -1]]).max() * _ROUNDING:
            epsilon = round_number(Fraction(bound) / 2)
            EpsilonMAnonymity(epsilon=epsilon, m=m)  # refuses what is beyond all measure
            return {"name": "epsilon-m", "on": on, "epsilon": epsilon, "m": m}
    return None


def _floats(series: pl.Series) -> pl.Series:
    """Return a column of numbers rounded to floats."""
    cells = series.alias("")
    if not is_text(cells.dtype):
        return cells.cast(pl.Float64)
    return by_word(cells, lambda texts: floats(texts.cast(pl.String).str.strip_chars()))


def _diversity(on: str, frame: pl.DataFrame, parts: Sequence[Guess], wanted: int) -> Entry | None:
    """Propose distinct values, as many as there are up to those that are wanted."""
    most = max(_differing(frame[guess.column], guess, wanted) for guess in parts)
    return {"name": "distinct-l", "on": on, "l": most} if most > 1 else None


def _differing(series: pl.Series, guess: Guess, wanted: int) -> int:
    """Return how many values differ, up to so many; 1.0 and 1.00 are not two."""
    cells, known = series.alias(""), 0
    for part in (cells.head(_FIRST), cells):
        unique = part.drop_nulls().unique()
        known = encode_as(unique, guess.type).domain.known if len(unique) else 0
        if known >= wanted:
            break
    return min(known, wanted)


def round_number(value: Fraction) -> int | float:
    """Return the nearest of 1, 2, 5, 10, 20, …: at most 1.6 times as much, or as little.

    >>> round_number(Fraction(4250)), round_number(Fraction(3, 10)), round_number(Fraction(1))
    (5000, 0.2, 1)
    """
    power = floor(log10(value))
    near = [Fraction(10) ** place * digit for place in (power, power + 1) for digit in (1, 2, 5)]
    best = min(near, key=lambda one: max(one / value, value / one))
    return int(best) if best.denominator == 1 else float(best)
