"""What columns seem to be, told from their names and values.

Roles can only be guessed, so every guess carries its reason, and a column about which nothing is
known is taken for a quasi-identifier: protecting it in vain costs utility, not somebody's privacy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wideberth.schema.types import convert, floats, infer_type, unnamed
from wideberth.words import is_text

_NEARLY = 0.95  # share of distinct values that makes a column as good as unique
_ROUNDING = 1e-6  # by so much shares may fail to add up to 1
_NUMBERS = ("integer", "float", "decimal")
_ENOUGH = 20  # rows below which being unique means little

#: Names of columns that number the rows, if their values are all different.
_NUMBERING = {"index", "row", "rows", "rownum", "unnamed"}
_WORDS = {
    "identifier": "id uuid name surname firstname lastname fullname username email mail phone "
    "telephone mobile fax ssn passport iban account address street "
    "vorname nachname telefon adresse",
    "sensitive": "salary income wage wages earnings pay tax debt disease diagnosis condition "
    "illness symptom medication treatment drug hiv religion belief party orientation score grade "
    "gehalt einkommen lohn diagnose krankheit revenu salaire maladie",
    "quasi": "age sex gender zip zipcode postcode postal birth birthdate birthday birthplace dob "
    "nationality citizenship race ethnicity marital education degree school occupation job "
    "profession employer workclass region city town county state country language "
    "alter geschlecht plz postleitzahl geburtsdatum geburtsort beruf sexe naissance",
}


@dataclass(frozen=True)
class Guess:
    """What a column seems to be, and why; it holds none of the column's values."""

    column: str
    type: str  # one of TYPES
    role: str  # one of ROLES
    distinct: int  # different values, missing ones aside
    missing: int
    why: str  # the reason for the role, in plain words
    part_of: str | None = None  # the distribution that it is a share of: its columns' prefix


def guess(frame: pl.DataFrame) -> list[Guess]:
    """Guess type and role of every column, in their order.

    Examples
    --------
    >>> [g.role for g in guess(pl.DataFrame({"zipCode": [1, 2], "salary": [3, 4]}))]
    ['quasi', 'sensitive']
    """
    types = {series.name: infer_type(series) for series in frame}
    distributions = _distributions(frame, types)
    return [_guess(series, types[series.name], distributions.get(series.name)) for series in frame]


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
    """Tell whether numbers are a distribution in every row, but for rows that have none."""
    table = np.column_stack([share.fill_null(np.nan).to_numpy() for share in shares])
    table = table[~np.isnan(table).all(axis=1)]
    sums = np.abs(table.sum(axis=1) - 1) <= _ROUNDING  # never true of NaN
    return bool(len(table) and (table >= 0).all() and sums.all())


def _guess(series: pl.Series, type_: str, whole: str | None) -> Guess:
    missing = series.null_count()
    distinct = unnamed(series).drop_nulls().n_unique()
    role, reason = _role(series.name, type_, len(series), distinct, missing)
    if whole is not None:
        role, reason = "sensitive", f'the columns "{whole}.*" add up to 1'
    why = f"{reason}; {distinct} distinct in {len(series)} rows{_stray(series, type_)}"
    return Guess(series.name, type_, role, distinct, missing, why, whole)


def _stray(series: pl.Series, type_: str) -> str:
    """Remark that nearly all of a column's texts are numbers: a single slip makes it text."""
    if type_ not in ("text", "category") or not is_text(series.dtype):
        return ""
    texts = unnamed(series).drop_nulls().unique().cast(pl.String)
    odd = texts.filter(floats(texts.str.strip_chars()).is_null())
    if len(odd) > len(texts) * (1 - _NEARLY) or len(odd) == len(texts):
        return ""
    row = int(unnamed(series).cast(pl.String).is_in(odd.to_list()).fill_null(False).arg_true()[0])
    return f"; ALL BUT {len(odd)} ARE NUMBERS, see row {row + 1}"


def _role(name: str, type_: str, rows: int, distinct: int, missing: int) -> tuple[str, str]:
    constant = rows > 1 and distinct + bool(missing) <= 1
    if type_ == "vector" and not constant:
        return "sensitive", "a vector tells much of a person"
    words = _words(name)
    hints = {
        role: next((w for w in words if w in said.split()), "") for role, said in _WORDS.items()
    }
    unique = distinct >= _NEARLY * (rows - missing) and distinct > 1
    # "disease_name" names a disease, "tax_id" a person: being unique decides.
    if hints["identifier"] and (unique or not (hints["sensitive"] or hints["quasi"])):
        return "identifier", f'the name has "{hints["identifier"]}"'
    if unique and type_ == "integer" and not _NUMBERING.isdisjoint(words):
        return "identifier", "it numbers the rows"
    if hints["sensitive"]:
        return "sensitive", f'the name has "{hints["sensitive"]}"'
    if constant:
        return "insensitive", "the same in every row"
    if hints["quasi"]:
        return "quasi", f'the name has "{hints["quasi"]}"'
    if unique and rows >= _ENOUGH and type_ in ("integer", "text"):
        return "identifier", "(nearly) every row has its own value"
    return "quasi", "nothing tells its role, so the cautious one"


def _words(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.split(r"[\W\d_]+", spaced.lower())
