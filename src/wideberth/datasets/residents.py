"""A census with names, postcodes and diseases, in which some values are missing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.datasets.papers import wang2013_figure1
from wideberth.errors import ParameterError


def census(rows: int = 10_000, seed: int = 2008) -> pl.DataFrame:
    """Make up a census: skewed, correlated and heaped as real ones are, with missing values.

    Parameters
    ----------
    rows : int
        The number of people.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `id`, a made-up name that nobody else has; `age`; `zip`, five digits as text, missing for
        1 %; `sex`; `education`, six levels that take years to reach; `disease`, a leaf of
        `wang2013_figure1`, missing for 2 %; `salary`, which grows with age and education and is
        mostly told in round hundreds or thousands.

    Examples
    --------
    >>> people = census(1000)
    >>> people.shape, people["zip"].null_count() > 0
    ((1000, 7), True)
    """
    if rows < 1:
        raise ParameterError(f"a census needs at least one row, not {rows}")
    rng = np.random.default_rng(seed)
    age = 17 + (74 * rng.beta(1.6, 2.4, rows)).astype(np.int64)
    level = _education(age, rng)
    return pl.DataFrame(
        {
            "id": _names(rows, rng),
            "age": age,
            "zip": _mostly(_zips(rows, rng), 0.01, rng),
            "sex": rng.choice(["F", "M"], rows, p=[0.51, 0.49]),
            "education": np.array(_EDUCATION)[level],
            "disease": _mostly(_diseases(age, rng), 0.02, rng),
            "salary": _salaries(age, level, rng),
        }
    )


_EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master", "doctorate")
_SYLLABLES = np.array([a + b for a in "bdfghjklmnprstvz" for b in "aeiou"])

_Ints = npt.NDArray[np.int64]
_Texts = npt.NDArray[np.str_]


def _education(age: _Ints, rng: np.random.Generator) -> _Ints:
    """Choose a level, no higher than the age permits: secondary at 17, a doctorate from 27."""
    wanted = rng.choice(6, len(age), p=[0.10, 0.34, 0.22, 0.20, 0.11, 0.03])
    return np.minimum(wanted, np.searchsorted([16, 19, 21, 24, 27], age, side="right"))


def _zips(rows: int, rng: np.random.Generator) -> _Texts:
    """Spread people over 24 districts, each half as popular as one at half its rank."""
    districts = rng.choice(1000, 24, replace=False)
    popularity = 1 / np.arange(1, 25)
    district = rng.choice(districts, rows, p=popularity / popularity.sum())
    street = (100 * rng.beta(1, 3, rows)).astype(np.int64)
    return np.char.zfill((100 * district + street).astype(np.str_), 5)


def _diseases(age: _Ints, rng: np.random.Generator) -> _Texts:
    """Draw diseases by age: infections at any, tumours and ulcers rather late."""
    leaves = np.array(wang2013_figure1().leaves)
    young = np.array([0.34, 0.04, 0.09, 0.02, 0.01, 0.07, 0.20, 0.23]).cumsum()
    old = np.array([0.20, 0.10, 0.12, 0.18, 0.04, 0.12, 0.10, 0.14]).cumsum()
    late = ((age - 17) / 74)[:, None]
    drawn = rng.random((len(age), 1))
    chosen: _Texts = leaves[(drawn >= young[:-1] * (1 - late) + old[:-1] * late).sum(axis=1)]
    return chosen


def _salaries(age: _Ints, level: _Ints, rng: np.random.Generator) -> _Ints:
    """Log-normal around what age and education suggest; 85 % of people give a round number."""
    career = 1 - ((np.minimum(age, 65) - 55) / 50) ** 2
    typical = 11_000 * 1.32**level * (0.6 + 1.6 * career)
    exact = typical * rng.lognormal(0, 0.35, len(age))
    unit = rng.choice([1, 100, 1000], len(age), p=[0.15, 0.30, 0.55])
    return np.maximum(np.rint(exact / unit).astype(np.int64), 1) * unit


def _names(rows: int, rng: np.random.Generator) -> pl.Series:
    """Spell different numbers in syllables, which makes different names."""
    base, length = len(_SYLLABLES), 3
    while base**length < 8 * rows:
        length += 1
    numbers = rng.choice(base**length, rows, replace=False)
    syllables = (pl.Series(str(i), _SYLLABLES[numbers // base**i % base]) for i in range(length))
    return pl.select(pl.concat_str(*syllables)).to_series().str.to_titlecase()


def _mostly(texts: _Texts, missing: float, rng: np.random.Generator) -> pl.Series:
    """Lose a share of the values."""
    known = pl.Series(rng.random(len(texts)) >= missing)
    return pl.select(pl.when(known).then(pl.Series(texts))).to_series()
