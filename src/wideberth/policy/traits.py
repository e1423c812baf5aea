"""What people keep: sex, birth, age and postcode; and whether rows agree in it.

If most rows that share a value differ in sex, birth or age, they are different people's, whatever
the column is called. If nearly all of them agree in everything that people keep, although other
rows do not, a value stands for a person, and the person has several rows.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np
import polars as pl

from wideberth.core.exact import Bools, Ints
from wideberth.core.strings import is_text
from wideberth.core.types import convert, infer_type, unnamed

Kind = Literal["sex", "years", "post"]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


BIRTH = _set(
    "birth dob yob birthdate birthday birthyear geburtsdatum geburtstag geburtsjahr naissance "
    "nacimiento born"
)
SEX = _set("sex gender geschlecht sexe sexo genero género genre")
POST = _set("zip zipcode postcode postal plz postleitzahl cp")
_AGE = _set("age alter edad")
#: Words that may stand beside those for birth, sex, age and postcode.
_BESIDE = _set("date of datum day year years de fecha du patient patienten person code")
_NUMBERS = ("integer", "float", "decimal")
#: Years between two rows that make them different people's, and that a person's rows may be apart.
_APART, _DRIFT = 40, 5
#: The share of values whose rows agree that makes a value a person's, in a table and in a release,
#: where a person's rows may come into different groups; how unlikely that must be by chance (a
#: bound of Chernoff's, as a logarithm); and how often rows of two values are compared.
_SAME, _SAME_LABELS, _UNLIKELY, _COMPARED = 0.7, 0.4, 7.0, 8
_LABEL = r"\*|\.\.|^[\[\(\{]"  # a published range, set or mask

Verdict = Literal["same", "different", "unclear"]


def words_of(name: str) -> list[str]:
    """Split a column's name into its words, in small letters.

    >>> words_of("PatientID"), words_of("visit_no2")
    (['patient', 'id'], ['visit', 'no'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [word for word in re.split(r"[\W\d_]+", spaced.lower()) if word]


@dataclass(frozen=True)
class Traits:
    """The columns of a table that hold what people keep, at most one of each kind."""

    columns: dict[Kind, str]

    @classmethod
    def of(cls, columns: Sequence[str], ignored: Collection[str] = ()) -> Traits:
        """Find these columns by their names.

        >>> Traits.of(["id", "age", "date_of_birth", "sex", "town"]).columns
        {'sex': 'sex', 'years': 'date_of_birth'}
        """
        found: dict[Kind, str] = {}
        named: tuple[tuple[Kind, frozenset[str]], ...] = (
            ("sex", SEX),
            ("years", BIRTH),
            ("years", _AGE),
            ("post", POST),
        )
        for kind, known in named:
            for column in columns:
                words = set(words_of(column)) - _BESIDE
                if kind not in found and column not in ignored and words and words <= known:
                    found[kind] = column
        return cls(found)

    def without(self, *kinds: Kind) -> Traits:
        """Return the columns of all other kinds."""
        return Traits({kind: name for kind, name in self.columns.items() if kind not in kinds})

    def labeled(self, frame: pl.DataFrame) -> bool:
        """Return whether they are published ranges, sets or masks, so that a table is a release."""
        cells = (frame[name] for name in self.columns.values())
        return any(
            cell.cast(pl.String).str.contains(_LABEL).any() for cell in cells if is_text(cell.dtype)
        )

    def all_say(self, frame: pl.DataFrame, column: str, *, chance: float) -> bool:
        """Return whether rows equal in a column seem one person's, even without any one trait."""
        # What depends on one trait alone, as a town's code on the postcode, does not pass.
        if self.verdict(frame, column, chance=chance) != "same":
            return False
        return all(
            self.without(kind).verdict(frame, column, chance=1) == "same" for kind in self.columns
        )

    def verdict(self, frame: pl.DataFrame, column: str, *, chance: float) -> Verdict:
        """Return whether rows that agree in a column seem to be the same person's."""
        # Two rows of each value are compared in all traits, and so are rows of two values. If those
        # agree more often than `chance`, the verdict is "unclear".
        names = [name for name in self.columns.values() if name != column]
        codes = unnamed(frame[column]).rank("dense").to_physical()
        rows = np.flatnonzero(codes.is_not_null().to_numpy())
        if not names or len(rows) < 2:
            return "unclear"
        of = codes.drop_nulls().cast(pl.Int64).to_numpy()
        order = np.argsort(of, kind="stable")
        rows, of = rows[order], of[order]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        again = first[np.diff(first, append=len(of)) > 1]
        if not len(again) or len(first) < 2:
            return "unclear"
        kept = [_comparable(frame[name]) for name in names]
        same = _agree(kept, rows[again], rows[again + 1])
        others = np.random.default_rng(0).permutation(rows[first])
        shifts = range(1, min(_COMPARED, len(others) - 1) + 1)
        alike = np.concatenate([_agree(kept, others, np.roll(others, by)) for by in shifts])
        share, by_chance = float(same.mean()), max(float(alike.mean()), 1 / len(alike))
        if share < (_SAME_LABELS if self.labeled(frame) else _SAME):
            return "different"
        unlikely = share > by_chance and len(same) * _divergence(share, by_chance) > _UNLIKELY
        return "same" if unlikely and by_chance <= chance else "unclear"


def _comparable(series: pl.Series) -> pl.Series:
    """Return ages as numbers, and everything else as it is."""
    cells = unnamed(series)
    aged = not (set(words_of(series.name)) - _BESIDE - _AGE)
    if aged and (kind := infer_type(cells)) in _NUMBERS:
        return convert(cells, kind).cast(pl.Float64)
    return cells


def _agree(kept: Sequence[pl.Series], one: Ints, other: Ints) -> Bools:
    """Return which rows agree with which others; what is missing agrees with everything."""
    agree = np.ones(len(one), dtype=bool)
    for cells in kept:
        here, there = cells[one], cells[other]
        near = (here - there).abs() <= _DRIFT if cells.dtype == pl.Float64 else here == there
        agree &= near.fill_null(True).to_numpy()
    return agree


def _divergence(share: float, chance: float) -> float:
    """Return how unlikely a share is, for each case, by chance (Kullback and Leibler)."""
    rest = (1 - share) * log((1 - share) / (1 - chance)) if share < 1 else 0.0
    return share * log(share / chance) + rest


def of_several(frame: pl.DataFrame, column: str) -> bool:
    """Return whether most rows that agree in a column differ in sex, birth or age."""
    for other in frame.columns:
        words = set(words_of(other)) - _BESIDE
        if other == column or not words or not words <= SEX | BIRTH | _AGE:
            continue
        cells = unnamed(frame[other])
        if aged := words <= _AGE:
            kind = infer_type(cells)
            if kind not in _NUMBERS:
                continue
            cells = convert(cells, kind).cast(pl.Float64)
        pair = pl.DataFrame({"of": unnamed(frame[column]), "is": cells}).drop_nulls()
        one = pl.col("is")
        apart = one.max() - one.min() > _APART if aged else one.n_unique() > 1
        repeated = pair.group_by("of").agg(rows=pl.len(), apart=apart).filter(pl.col("rows") > 1)
        if repeated.height and repeated["apart"].sum() > repeated.height / 2:
            return True
    return False


def repeats_by_chance(frame: pl.DataFrame) -> float:
    """Return how many rows repeat another one's values by chance, if columns are independent."""
    # No column may have missing values.
    alike = 1.0
    for part in frame:
        shares = part.unique_counts().cast(pl.Float64) / frame.height
        alike *= float((shares * shares).sum())
    return alike * frame.height * (frame.height - 1) / 2
