"""What columns seem to be, by their names and values.

Roles can only be guessed, so every guess carries its reason, and nothing is guessed where neither
the name nor the values of a column show its role: such a column is undecided. A quasi-identifier's
value is not protected, a sensitive column's is published, so a wrong guess hurts either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from wideberth.core.exact import Ints
from wideberth.core.questions import column_question, odd_among
from wideberth.core.strings import is_text
from wideberth.core.types import convert, floats, infer_type, unnamed
from wideberth.io import notations
from wideberth.policy.roles import UNDECIDED
from wideberth.policy.shapes import (
    NEARLY,
    are_days,
    has_times,
    look_numbered,
    numbers_people,
    shape_of,
    too_often,
)
from wideberth.policy.vocabulary import NameWord, name_words, split_name, why_ambiguous

_ROUNDING = 1e-6  # by so much shares may fail to add up to 1
_NUMBERS = ("integer", "float", "decimal")
_ENOUGH = 20  # rows below which being unique means little

#: Names of columns that number the rows, if their values are all different.
_NUMBERING = {"index", "row", "rows", "rownum", "unnamed"}
#: Words for a latitude or longitude that are words for a size, too.
_SIZES = {"breite", "lange", "laenge"}
_PLACES = 3  # decimals of a number that may be a latitude
#: What a code of a disease (ICD-10) looks like, and a label of several values; how many different
#: codes there are at least, and how large their share of the distinct values is.
_ICD, _SEVERAL_VALUES = r"^[A-TV-Z][0-9][0-9AB](\.[0-9A-Z]{1,4})?$", r"[{|*]|\.\."
_CODES, _MOSTLY_CODES = 5, 0.9

Looks = Literal["known", "sensitive", "unknown"]


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why; it holds none of the column's values."""

    column: str
    type: str  # one of TYPES
    role: str  # one of ROLES, or UNDECIDED
    distinct: int  # different values, missing ones aside
    missing: int
    why: str  # the reason for the role, in plain words
    part_of: str | None = None  # the distribution that it is a share of: its columns' prefix
    ways: tuple[str, ...] = ()  # notations between which somebody must choose
    unclear: bool = False  # whether it may be numbers, so that its type is for somebody to decide
    named: bool = False  # whether its name shows the role, not only its values


def guess_columns(frame: pl.DataFrame) -> list[Guess]:
    """Guess type and role of every column, in their order.

    >>> people = pl.DataFrame({"zipCode": [1, 2], "salary": [3, 4], "q7": [5, 6]})
    >>> [guess.role for guess in guess_columns(people)]
    ['quasi', 'sensitive', 'undecided']
    """
    types = {series.name: infer_type(series) for series in frame}
    distributions = _distributions(frame, types)
    found = [_guess(series, types[series.name], distributions.get(series.name)) for series in frame]
    return _coordinates(frame, found)


def _distributions(frame: pl.DataFrame, types: Mapping[str, str]) -> dict[str, str]:
    """Find columns x.a, x.b, … that are shares of 1 in every row: which prefix each belongs to."""
    families: dict[str, list[str]] = {}
    for column in frame.columns:
        families.setdefault(column.rpartition(".")[0], []).append(column)
    return {
        column: prefix
        for prefix, columns in families.items()
        if prefix and len(columns) > 1 and all(types[c] in _NUMBERS for c in columns)
        if _add_up([convert(frame[c], types[c]).cast(pl.Float64) for c in columns])
        for column in columns
    }


def _add_up(shares: Sequence[pl.Series]) -> bool:
    """Return whether numbers are a distribution in every row, but for rows that have none."""
    table = np.column_stack([share.fill_null(np.nan).to_numpy() for share in shares])
    table = table[~np.isnan(table).all(axis=1)]
    sums = np.abs(table.sum(axis=1) - 1) <= _ROUNDING  # never true of NaN
    return bool(len(table) and (table >= 0).all() and sums.all())


def _guess(series: pl.Series, type_: str, whole: str | None) -> Guess:
    missing = series.null_count()
    distinct = unnamed(series).drop_nulls().n_unique()
    role, reason, named = _role(series, type_, distinct, missing)
    if whole is not None:
        role, reason = "sensitive", f'the columns "{whole}.*" add up to 1'
    why = f"{reason}; {distinct} distinct in {len(series)} rows{_stray(series, type_)}"
    ways = tuple(notations(unnamed(series))) if is_text(series.dtype) else ()
    if len(ways) > 1:
        why += f"; WRITTEN AS {' OR AS '.join(ways)}? See [formats]"
        type_ = "text"
    unclear = column_question(series) is not None
    return Guess(series.name, type_, role, distinct, missing, why, whole, ways, unclear, named)


def _stray(series: pl.Series, type_: str) -> str:
    """Remark that nearly all of a column's texts are numbers or dates: one slip makes it text."""
    if type_ not in ("text", "category") or not is_text(series.dtype):
        return ""
    texts = unnamed(series).drop_nulls().unique().cast(pl.String)
    if (found := odd_among(texts)) is None:
        return ""
    nouns, odd = found
    what, _, written = nouns.partition(" ")
    row = int(unnamed(series).cast(pl.String).is_in(odd.to_list()).fill_null(False).arg_true()[0])
    return f"; ALL BUT {len(odd)} ARE {what.upper()}{written and ' ' + written}, see row {row + 1}"


def _role(series: pl.Series, type_: str, distinct: int, missing: int) -> tuple[str, str, bool]:
    """Guess a role: which one, why, and whether the name says so."""
    rows, present = len(series), len(series) - missing
    constant = rows > 1 and distinct + bool(missing) <= 1
    if type_ == "vector" and not constant:
        return "sensitive", "a vector tells much of a person", False
    said = name_words(series.name)
    coarse = bool(said) and said[-1].kind == "quasi"
    if not constant and (shape := shape_of(series, type_, ranges=coarse)) is not None:
        return "identifier", shape, False
    unique = distinct >= NEARLY * present and distinct > 1
    few = not unique and distinct <= max(_ENOUGH, present // 100)
    if said and (by_name := _by_name(said, type_, unique, few, constant)) is not None:
        return *by_name, True
    if unique and type_ == "integer" and not _NUMBERING.isdisjoint(split_name(series.name)):
        return "identifier", "it numbers the rows", True
    if constant:
        return "insensitive", "the same in every row", False
    if unique and rows >= _ENOUGH and type_ in ("integer", "text"):
        return "identifier", "(nearly) every row has its own value", False
    if numbers_people(series, type_):
        reason = "its numbers look like those of people or records with several rows each"
        return "identifier", reason, False
    if unique and rows >= _ENOUGH and has_times(series):
        return "identifier", "its exact times lead back to single records", False
    return UNDECIDED, "neither its name nor its values show its role", False


def _by_name(
    said: Sequence[NameWord], type_: str, unique: bool, few: bool, constant: bool
) -> tuple[str, str] | None:
    """Guess a role by the words of a name; None if they leave it open."""
    last = said[-1]
    reason = f'the name has "{last.word}"'
    others = [one for one in said if one.kind in ("sensitive", "quasi")]
    if last.kind in ("name", "key") and others and (last.kind == "name" or few):
        # The name or code of something: of a disease, a city.
        last, said = others[-1], others
        reason = f'the name has "{last.word}"'
    if last.kind in ("identifier", "name", "key"):
        return "identifier", reason
    if last.kind == "sensitive":
        return "sensitive", reason
    if constant:
        return None
    if last.kind == "text":
        free = type_ == "text" and not few
        return ("identifier", f"{reason}: free text may name people") if free else None
    if last.kind == "timestamp":
        # An exact time leads back to the record; a day, or a month, is what others may know.
        return ("identifier" if unique else "quasi"), f"{reason}: when the record was made"
    if last.kind == "ambiguous":
        return UNDECIDED, f"{reason}: {why_ambiguous(last)}"
    if hidden := [one.word for one in said if one.kind == "sensitive"]:
        return UNDECIDED, f'{reason}, but "{hidden[-1]}" as well'
    return "quasi", reason


def looks_of(frame: pl.DataFrame) -> dict[str, Looks]:
    """Return which columns look like usual quasi-identifiers, sensitive ones, or neither.

    >>> looks_of(pl.DataFrame({"age": [21, 34], "disease": ["flu", "flu"], "kz7": ["a", "b"]}))
    {'age': 'known', 'disease': 'sensitive', 'kz7': 'unknown'}
    """
    # Codes of diseases (ICD-10) look sensitive whatever their column is called, unless its name is
    # that of a usual quasi-identifier.
    return {found.column: _looks(found, frame[found.column]) for found in guess_columns(frame)}


def _looks(found: Guess, series: pl.Series) -> Looks:
    if found.role == "quasi":
        return "known"
    return "sensitive" if found.role == "sensitive" or _of_diseases(series) else "unknown"


def _of_diseases(series: pl.Series) -> bool:
    """Return whether a column's values are codes of diseases (ICD-10), whatever its name."""
    if not is_text(series.dtype) and not isinstance(series.dtype, pl.Categorical | pl.Enum):
        return False
    texts = unnamed(series).drop_nulls().cast(pl.String).unique()
    texts = texts.filter(~texts.str.contains(_SEVERAL_VALUES))
    codes = int(texts.str.contains(_ICD).sum())
    return len(texts) >= _CODES and codes >= _MOSTLY_CODES * len(texts)


def leads_to_people(
    name: str, values: pl.Series, counts: Ints
) -> Literal["by name", "by shape", "by being unique"] | None:
    """Return whether a quasi-identifier holds numbers or names of people or records.

    >>> numbers, once = pl.Series(range(100_003, 100_903, 9)), np.ones(100, dtype=np.int64)
    >>> leads_to_people("patient_id", numbers, once), leads_to_people("q7", numbers, once)
    ('by name', 'by shape')
    >>> leads_to_people("salary", numbers, once)
    """
    # `values` are different; `counts` has the rows of each. "by name": the name says so, and values
    # are too many for a code of something else. "by shape": the name is silent, the numbers look
    # like it. "by being unique": nearly every row has its own value. A name that speaks of a day,
    # such as "admission", excludes days alone.
    rows, distinct = int(counts.sum()), len(values)
    unique = distinct >= NEARLY * rows
    few = not unique and distinct <= max(_ENOUGH, rows // 100)
    if rows < _ENOUGH or few or values.dtype.is_temporal() or values.dtype.is_float():
        return None
    if not _NUMBERING.isdisjoint(split_name(name)) and unique:
        return "by name"
    said = name_words(name)
    if said and not (said[-1].dated and unique and not are_days(values)):
        by_name = _by_name(said, "text", unique, few, False)
        return "by name" if by_name is not None and by_name[0] == "identifier" else None
    if not too_often(counts) and look_numbered(values, rows):
        return "by shape"
    measured = isinstance(values.dtype, pl.Decimal) and values.dtype.scale
    return "by being unique" if unique and not measured else None


def _coordinates(frame: pl.DataFrame, guesses: Sequence[Guess]) -> list[Guess]:
    """Find neighbouring undecided columns that could be a latitude and a longitude."""
    # Words such as "Breite" and "Länge" also stand for sizes: they decide for both only.
    found = list(guesses)
    for at in range(len(found) - 1):
        pair = found[at : at + 2]
        if any(one.role != UNDECIDED or one.type not in ("float", "decimal") for one in pair):
            continue
        if all(_may_be_place(frame[one.column]) for one in pair):
            first, second = pair
            if all(not _SIZES.isdisjoint(split_name(one.column)) for one in pair):
                why = "its name and numbers look like a latitude or longitude"
                found[at : at + 2] = (
                    replace(one, role="quasi", named=True, why=_because(one.why, why))
                    for one in pair
                )
                continue
            both = "could be a latitude and a longitude"
            found[at] = replace(first, why=f"{first.why}; it and '{second.column}' {both}")
            found[at + 1] = replace(second, why=f"{second.why}; it and '{first.column}' {both}")
    return found


def _because(why: str, reason: str) -> str:
    """Put another reason in front of the counts."""
    return f"{reason}; {why.partition('; ')[2]}"


def _may_be_place(series: pl.Series) -> bool:
    cells = unnamed(series).drop_nulls()
    numbers = floats(cells) if is_text(cells.dtype) else cells.cast(pl.Float64)
    numbers = numbers.drop_nulls()
    if len(numbers) < _ENOUGH or not numbers.is_between(-180, 180).all():
        return False
    fine = (numbers.round(_PLACES - 1) - numbers).abs() > _ROUNDING
    return bool(fine.sum() > 0.5 * len(numbers))
