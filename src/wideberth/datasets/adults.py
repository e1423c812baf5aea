"""Adults of a census in the shape of UCI Adult, the table that anonymization is measured on.

Nobody in it exists. Each column is drawn from a few weights, given the columns before it: whom one
lives with from age and sex, the occupation from schooling, sex and youth, the employer from the
occupation, what is earned from all of these. The shares of the single values and the strongest
dependencies are near the real table's; whatever else there is in it, is not here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.errors import ParameterError

_BLOCK = 1 << 16

#: Ages, and how many have them; those above the last but one are told as the last.
_AGES = (17, 20, 23, 36, 47, 52, 60, 66, 72, 80, 89)
_COMMON = (0.45, 0.73, 0.93, 1.0, 0.78, 0.58, 0.33, 0.13, 0.055, 0.017, 0.004)
_OLDEST, _CROWD = 90, 0.05
_FEMALE = 0.324


class _Race(NamedTuple):
    name: str
    share: float
    female: float  # tilts towards women if positive, here and below
    abroad: float  # share of those born abroad


_RACES = (
    _Race("White", 0.872, -0.1, 0.066),
    _Race("Black", 0.070, 0.7, 0.067),
    _Race("Asian-Pac-Islander", 0.030, 0.0, 0.695),
    _Race("Amer-Indian-Eskimo", 0.0095, 0.2, 0.052),
    _Race("Other", 0.0075, 0.2, 0.51),
)
_HOME = "United-States"
#: Countries where those of a race come from, the most common first, each with its weight.
_WESTERN = (
    ("Mexico", 56), ("Germany", 12), ("Canada", 10.5), ("El-Salvador", 9.5), ("Cuba", 8.7),
    ("Puerto-Rico", 7.9), ("England", 7.8), ("Italy", 6.8), ("Guatemala", 5.9), ("Poland", 5.5),
    ("Columbia", 4.9), ("Dominican-Republic", 3.6), ("Iran", 3.4), ("Portugal", 3.3), ("Peru", 2.9),
    ("Greece", 2.8), ("Nicaragua", 2.7), ("France", 2.6), ("Ireland", 2.3), ("Ecuador", 1.8),
    ("Yugoslavia", 1.6), ("Hungary", 1.3), ("Honduras", 1.1), ("Scotland", 1.1),
    ("Outlying-US(Guam-USVI-etc)", 1), ("Holand-Netherlands", 0.1),
)  # fmt: skip
_ISLANDS = (
    ("Jamaica", 74), ("Haiti", 41), ("Trinadad&Tobago", 15), ("Dominican-Republic", 12),
    ("Puerto-Rico", 9), ("England", 7), ("Outlying-US(Guam-USVI-etc)", 6),
)  # fmt: skip
_EASTERN = (
    ("Philippines", 179), ("India", 87), ("South", 69), ("China", 66), ("Vietnam", 62),
    ("Taiwan", 40), ("Japan", 39), ("Cambodia", 18), ("Laos", 17), ("Hong", 16), ("Thailand", 15),
    ("Iran", 6),
)  # fmt: skip
_ORIGINS = (_WESTERN, _ISLANDS, _EASTERN, _WESTERN, _WESTERN)

#: At these ages, how many men live so; the last column is how much more common it is for women.
_LIVED = (18, 22, 29, 39, 49, 59, 72)
_MARITAL = {
    "Never-married": ((0.97, 0.85, 0.42, 0.155, 0.070, 0.045, 0.045), 1.0),
    "Married-civ-spouse": ((0.025, 0.13, 0.60, 0.86, 0.97, 1.0, 0.95), 0.16),
    "Divorced": ((0.004, 0.014, 0.065, 0.125, 0.125, 0.095, 0.055), 2.6),
    "Separated": ((0.004, 0.008, 0.020, 0.025, 0.018, 0.013, 0.008), 2.9),
    "Widowed": ((0.0001, 0.0002, 0.0010, 0.003, 0.009, 0.022, 0.07), 8.0),
    "Married-spouse-absent": ((0.004, 0.007, 0.010, 0.010, 0.012, 0.009, 0.008), 1.6),
    "Married-AF-spouse": ((0.0008, 0.0008, 0.0008, 0.0004, 0.0002, 0.0001, 0.0001), 2.0),
}
_MARRIED = ("Married-civ-spouse", "Married-AF-spouse")

#: From the least schooling to the most: how common it is, the age from which it is, and how it
#: tilts towards the old.
_EDUCATION = {
    "Preschool": (0.0015, 17, 0.2),
    "1st-4th": (0.005, 17, 0.4),
    "5th-6th": (0.0095, 17, 0.2),
    "7th-8th": (0.014, 17, 0.7),
    "9th": (0.015, 17, 0.3),
    "10th": (0.027, 17, 0.1),
    "11th": (0.033, 17, -0.25),
    "12th": (0.012, 17, -0.3),
    "HS-grad": (0.327, 18, 0.0),
    "Some-college": (0.222, 18, -0.2),
    "Assoc-voc": (0.046, 20, 0.0),
    "Assoc-acdm": (0.036, 20, -0.1),
    "Bachelors": (0.19, 22, -0.05),
    "Masters": (0.062, 24, 0.3),
    "Prof-school": (0.021, 25, 0.3),
    "Doctorate": (0.0145, 27, 0.5),
}
_AVERAGE = 10  # years of schooling, more or less


class _Occupation(NamedTuple):
    """An occupation: how common it is, and what tilts towards it."""

    name: str
    share: float
    learned: float  # by year of schooling
    female: float
    young: float  # under 25
    pay: float  # what it adds to the odds of a high income, as a logarithm
    public: float  # towards the government as employer
    own: float  # towards working on one's own


_WORK = (
    _Occupation("Prof-specialty", 0.083, 0.62, 0.2, -0.6, 0.35, 1.0, 0.4),
    _Occupation("Craft-repair", 0.127, -0.33, -2.1, -0.5, 0.05, -0.9, 0.3),
    _Occupation("Exec-managerial", 0.17, 0.30, -0.1, -1.0, 0.8, 0.0, 0.9),
    _Occupation("Adm-clerical", 0.133, -0.05, 1.5, 0.1, -0.1, 0.5, -2.0),
    _Occupation("Sales", 0.153, 0.10, 0.1, 0.3, 0.3, -2.9, 0.7),
    _Occupation("Other-service", 0.103, -0.28, 0.95, 0.6, -0.9, -0.6, -0.9),
    _Occupation("Machine-op-inspct", 0.064, -0.45, -0.3, -0.1, -0.25, -2.4, -2.0),
    _Occupation("Transport-moving", 0.046, -0.38, -2.1, -0.6, -0.1, -0.4, -0.3),
    _Occupation("Handlers-cleaners", 0.034, -0.40, -1.2, 0.9, -0.8, -1.3, -2.3),
    _Occupation("Farming-fishing", 0.03, -0.30, -1.9, 0.1, -1.2, -0.2, 2.2),
    _Occupation("Tech-support", 0.04, 0.22, 0.2, -0.3, 0.55, 0.2, -1.5),
    _Occupation("Protective-serv", 0.028, 0.05, -1.3, -0.4, 0.5, 2.6, -1.5),
    _Occupation("Priv-house-serv", 0.0016, -0.35, 3.2, 0.4, -2.5, -9.0, -9.0),
    _Occupation("Armed-Forces", 0.00017, 0.05, -3.0, 1.0, 0.0, 0.0, 0.0),
)
_SOLDIERS = "Armed-Forces"


class _Employer(NamedTuple):
    name: str
    share: float
    public: float
    own: float
    pay: float


_EMPLOYERS = (
    _Employer("Private", 0.74, 0.0, 0.0, 0.0),
    _Employer("Self-emp-not-inc", 0.075, 0.0, 1.0, -0.3),
    _Employer("Local-gov", 0.065, 1.0, 0.0, 0.0),
    _Employer("State-gov", 0.040, 1.0, 0.0, -0.1),
    _Employer("Self-emp-inc", 0.031, 0.0, 1.0, 0.6),
    _Employer("Federal-gov", 0.032, 0.8, 0.0, 0.5),
    _Employer("Without-pay", 0.0005, 0.0, 0.3, -3.0),
)
_FEDERAL = "Federal-gov"

#: The logarithm of the odds of more than 50K: of somebody average and single, by year of schooling,
#: for the married, for women, and by age.
_ODDS, _LEARNED, _PAIR, _WOMAN = -2.7, 0.33, 2.15, -0.1
_CAREER = ((17, 25, 35, 48, 60, 90), (-3.0, -1.0, 0.1, 0.6, 0.3, -0.8))
_INCOMES = ("<=50K", ">50K")

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Years = range(_AGES[0], _OLDEST + 1)


def adults(rows: int = 45_222, seed: int = 1994) -> pl.DataFrame:
    """Make up adults of a census: an age and eight columns of categories, correlated and skewed.

    Parameters
    ----------
    rows : int
        The number of people.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`, 17 to 90; `sex`; `race`; `marital_status`; `education`, 16 levels; `native_country`,
        41 countries, of which one has nine of ten people; `workclass`; `income`, "<=50K" or, for
        about a quarter, ">50K"; `occupation`, 14 of them. Names and spellings are those of the
        Adult table of the UCI repository, without rows in which something is missing.

    References
    ----------
    Becker, Kohavi: Adult. UCI Machine Learning Repository, 1996.

    Examples
    --------
    >>> people = adults(1000)
    >>> people.columns[:5]
    ['age', 'sex', 'race', 'marital_status', 'education']
    >>> 0.15 < (people["income"] == ">50K").mean() < 0.35
    True
    """
    if rows < 1:
        raise ParameterError(f"a table of adults needs at least one row, not {rows}")
    rng = np.random.default_rng(seed)
    model = _Model()
    blocks = range(0, rows, _BLOCK)
    return pl.concat([model.draw(min(_BLOCK, rows - start), rng) for start in blocks])


class _Model:
    """The weights as tables of shares: one row for each condition, adding up to 1."""

    def __init__(self) -> None:
        years = np.array(_Years)
        self.ages = _shares(
            np.where(years == _OLDEST, _CROWD, np.interp(years, _AGES, _COMMON))[None]
        )
        female = np.array([0, 1])
        self.races = _shares(_of(_RACES, "share") * np.exp(np.outer(female, _of(_RACES, "female"))))
        self.countries, self.origins = _origins()
        men, women = (np.array(x) for x in zip(*_MARITAL.values(), strict=True))
        alone = np.stack([np.interp(years, _LIVED, weights) for weights in men], axis=1)
        self.marital = np.stack([_shares(alone), _shares(alone * women)])
        self.education = _education(years)
        self.work = _work()
        self.employers = _employers()

    def draw(self, size: int, rng: np.random.Generator) -> pl.DataFrame:
        """Draw people: every column given the ones before it."""
        year = _draw(self.ages, np.zeros(size, np.int64), rng)
        female = (rng.random(size) < _FEMALE).astype(np.int64)
        race = _draw(self.races, female, rng)
        country = _draw(self.origins, race, rng)
        marital = _draw(self.marital, (female, year), rng)
        education = _draw(self.education, year, rng)
        young = (year + _Years[0] < 25).astype(np.int64)
        work = _draw(self.work, (young, female, education), rng)
        employer = _draw(self.employers, work, rng)
        odds = (
            _ODDS
            + _LEARNED * (education + 1 - _AVERAGE)
            + _PAIR * np.isin(marital, [list(_MARITAL).index(name) for name in _MARRIED])
            + _WOMAN * female
            + np.interp(year + _Years[0], *_CAREER)
            + _of(_WORK, "pay")[work]
            + _of(_EMPLOYERS, "pay")[employer]
        )
        income = (rng.random(size) < 1 / (1 + np.exp(-odds))).astype(np.int64)
        return pl.DataFrame(
            {
                "age": year + _Years[0],
                "sex": _named(("Male", "Female"), female),
                "race": _named([one.name for one in _RACES], race),
                "marital_status": _named(list(_MARITAL), marital),
                "education": _named(list(_EDUCATION), education),
                "native_country": _named(self.countries, country),
                "workclass": _named([one.name for one in _EMPLOYERS], employer),
                "income": _named(_INCOMES, income),
                "occupation": _named([one.name for one in _WORK], work),
            }
        )


def _origins() -> tuple[list[str], _Floats]:
    """Name the countries, and say how many of each race come from each."""
    abroad = {name for origin in _ORIGINS for name, _ in origin}
    countries = [_HOME, *sorted(abroad)]
    shares = np.zeros((len(_RACES), len(countries)))
    for row, race, origin in zip(shares, _RACES, _ORIGINS, strict=True):
        for name, weight in origin:
            row[countries.index(name)] = weight
        row *= race.abroad / row.sum()
        row[0] = 1 - race.abroad
    return countries, shares


def _education(years: _Ints) -> _Floats:
    """Weigh schooling by age; what takes longer than one has lived becomes rare."""
    common, since, old = (np.array(x) for x in zip(*_EDUCATION.values(), strict=True))
    tilt = np.exp(np.outer((years - 38) / 13, old))
    soon = np.where(years[:, None] >= since, 1.0, 0.02)
    return _shares(common * tilt * soon)


def _work() -> _Floats:
    """Weigh occupations by youth, sex and schooling."""
    young, female = np.arange(2.0)[:, None, None, None], np.arange(2.0)[:, None, None]
    learned = (np.arange(len(_EDUCATION)) + 1.0 - _AVERAGE)[:, None]
    tilt = (
        _of(_WORK, "young") * young
        + _of(_WORK, "female") * (female - _FEMALE)
        + _of(_WORK, "learned") * learned
    )
    return _shares(_of(_WORK, "share") * np.exp(tilt))


def _employers() -> _Floats:
    """Weigh employers by occupation; soldiers have but one."""
    tilt = np.outer(_of(_WORK, "public"), _of(_EMPLOYERS, "public"))
    tilt += np.outer(_of(_WORK, "own"), _of(_EMPLOYERS, "own"))
    weights = _of(_EMPLOYERS, "share") * np.exp(tilt)
    soldiers = [one.name == _SOLDIERS for one in _WORK]
    weights[soldiers] = [one.name == _FEDERAL for one in _EMPLOYERS]
    return _shares(weights)


def _of(items: Sequence[NamedTuple], field: str) -> _Floats:
    return np.array([getattr(item, field) for item in items], dtype=np.float64)


def _shares(weights: _Floats) -> _Floats:
    shares: _Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def _draw(shares: _Floats, given: _Ints | tuple[_Ints, ...], rng: np.random.Generator) -> _Ints:
    """Draw a code for each row, by the shares of the row's condition."""
    ends = shares.cumsum(axis=-1)[given]
    codes: _Ints = (rng.random((len(ends), 1)) >= ends[:, :-1]).sum(axis=1)
    return codes


def _named(names: Sequence[str], codes: _Ints) -> pl.Series:
    return pl.Series(names)[codes]
