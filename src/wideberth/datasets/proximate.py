"""People whose sensitive values have a distance: distributions, vectors, places and texts.

The country is always the same: its conditions, its complaints, its towns and streets. A seed draws
the people. What somebody has, or where somebody lives, is drawn first, and then who that is: an
age typical of it, a district where it is common, one sex rather than the other. So the sensitive
values depend on the quasi-identifiers, but nobody can be sure of them.
"""

from __future__ import annotations

from math import comb
from string import ascii_lowercase

import numpy as np
import polars as pl
from numpy.random import Generator, default_rng

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.errors import ParameterError

_COUNTRY, _DISTRICTS = 2009, 30
_AGES, _WORKING = (0, 95), (16, 67)

_OUTCOMES = (
    *("flu", "asthma", "bronchitis", "pneumonia", "angina", "reflux", "anaemia", "none"),
    *("migraine", "gastritis", "diabetes", "arthritis"),
)
_FEWEST, _CONDITIONS, _HUNDRED = 3, 24, 100
#: How surely a condition's doctors agree, and what they grant to any other disease.
_AGREEMENT, _DOUBT = 30.0, 0.1
#: A condition's first opinions are the common ones; this many share the first place, so to speak.
_FLAT = 10.0

#: Three hidden causes move all of a person's measurements; what is left is the laboratory's noise.
_CAUSES, _NOISE = 3, 0.05

_TOWNS, _STREETS = 24, 3_000
#: An island where the maps have none: its southern and western end, and how far it reaches.
_SOUTH, _WEST, _HEIGHT, _WIDTH = 44.2, -30.1, 1.6, 2.8
_DEGREE, _DOOR = 111.2, 0.018  # kilometres: of latitude; from one house to the next
_HOUSEHOLDS = (0.42, 0.31, 0.13, 0.10, 0.04)  # of one person, of two, ...

#: The age at which one hears a complaint most, and the complaint.
_COMPLAINTS = """
    06 earache on the left; 08 earache on both sides; 10 rash on arms and legs;
    12 sore throat and fever; 16 painful wrist after a fall; 22 twisted ankle, swollen;
    24 itching rash on the belly; 28 wheezing when it is cold; 30 stomach cramps after meals;
    32 always tired and pale; 34 throbbing headache on one side; 36 dry cough, no fever;
    38 cannot sleep, feels tense; 42 heart is racing at night; 46 dull headache at the back;
    48 lower back pain, cannot bend; 50 thirsty and losing weight; 52 burning in the chest;
    56 ringing in the right ear; 58 cough with yellow phlegm; 62 stiff fingers in the morning;
    64 tightness in the chest; 66 knee hurts when walking; 68 numbness in the left foot;
    70 short of breath on stairs; 72 hip hurts when lying; 74 blurred sight in one eye;
    76 dizzy when getting up; 78 swollen legs in the evening; 82 forgets names and dates
"""
_SINCE = """
    since this morning; since last night; since Monday; since Tuesday; since Thursday; since Sunday;
    since May; since June; since August; for hours; for two days; for three days; for four days;
    for ten days; for a week; for two weeks; for three weeks; for six weeks; for a month;
    for two months; for six months; for nine months; for a year; for some years; now and then;
    since childhood; since an accident; after a journey
"""
_REMARKS = """
    worse at night; worse in the cold; worse after coffee; worse when sitting; better when resting;
    better after walking; no better with tablets; took aspirin, no help; took ibuprofen, helped;
    mother has the same; never had it before; had it last year too; wants a blood test;
    wants a sick note; asks for a specialist; afraid of an operation; could not work;
    does not eat much; slept badly; smokes a pack a day; allergic to penicillin; works outdoors
"""
#: Notes with a remark; with a slip of the pen, and as many of these with another.
_REMARKED, _SLIPS = 0.7, 0.5


def symptoms(
    rows: int = 10_000, *, distinct: int | None = None, outcomes: int = 8, seed: int = 0
) -> pl.DataFrame:
    """Make up patients with uncertain diagnoses: how probable each of a few diseases is.

    A sensible ε is 0.1 in variational distance: on average 0.6 % of the rows lie within it of a
    row, at most some 4 %. As all shares are hundredths, many pairs are exactly 0.1 apart.

    Parameters
    ----------
    rows : int
        The number of patients.
    distinct : int, optional
        How many different distributions there are; by default one per 20 rows, but 1,000 if the
        rows allow it.
    outcomes : int
        How many diseases, 3 to 12.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`; `zip`, five digits as text; `sex`; `disease.flu`, `disease.asthma` and so on, in
        hundredths, which add up to 1 in every row.

    Examples
    --------
    >>> table = symptoms(1000, outcomes=4)
    >>> table.columns[3:]
    ['disease.flu', 'disease.asthma', 'disease.bronchitis', 'disease.pneumonia']
    >>> hundredths = (100 * table.select("^disease.*$")).sum_horizontal().round()
    >>> hundredths.unique().to_list()
    [100.0]
    """
    _at_least_one(rows)
    if not _FEWEST <= outcomes <= len(_OUTCOMES):
        raise ParameterError(f"outcomes must be a whole number from {_FEWEST} to {len(_OUTCOMES)}")
    # Of all distributions in hundredths, those that some condition makes likely are a small part.
    most = min(rows, comb(_HUNDRED + outcomes - 1, outcomes - 1) // 40)
    if distinct is None:
        distinct = min(max(rows // 20, 1_000), most)
    if not 1 <= distinct <= most:
        raise ParameterError(
            f"distinct must be a whole number from 1 to {most} for {rows} rows "
            f"and {outcomes} outcomes"
        )
    rng = default_rng(seed)
    opinions, condition = _opinions(distinct, outcomes, rng)
    held = _held(condition, rows, rng)
    country = default_rng(_COUNTRY)
    who = _people(condition[held], country.uniform(5, 85, _CONDITIONS), rng)
    shares = (opinions[held] / _HUNDRED).T
    return who.with_columns(
        pl.Series(f"disease.{name}", share) for name, share in zip(_OUTCOMES, shares, strict=False)
    )


def measurements(rows: int = 10_000, *, dimensions: int = 16, seed: int = 0) -> pl.DataFrame:
    """Make up patients with laboratory profiles: vectors that cluster by condition.

    A sensible ε is 1 in Euclidean distance, for the 16 dimensions that are the default: on average
    0.4 % of the rows lie within it of a row, at most some 2 %.

    Parameters
    ----------
    rows : int
        The number of patients.
    dimensions : int
        How many measurements a profile has. Distances grow with its square root.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`; `zip`, five digits as text; `sex`; `profile`, a list of floats, in standard
        deviations from what is normal. No two are equal.

    Examples
    --------
    >>> table = measurements(1000, dimensions=3)
    >>> table["profile"].dtype, table["profile"].list.len().unique().to_list()
    (List(Float64), [3])
    """
    _at_least_one(rows)
    if dimensions < 1:
        raise ParameterError("dimensions must be a whole number from 1")
    rng, country = default_rng(seed), default_rng(_COUNTRY)
    typical = country.uniform(5, 85, _CONDITIONS)
    usual = country.normal(0, 0.8, (_CONDITIONS, dimensions))
    effects = country.normal(0, 0.25, (_CONDITIONS, _CAUSES, dimensions))
    ageing = country.normal(0, 0.1, dimensions)
    condition = _conditions(rows, rng)
    who = _people(condition, typical, rng)
    profile = usual[condition]
    profile += ((who["age"].to_numpy() - 45) / 25)[:, None] * ageing
    for cause in range(_CAUSES):
        profile += rng.standard_normal((rows, 1)) * effects[condition, cause]
    profile += _NOISE * rng.standard_normal(profile.shape)
    return who.with_columns(_lists("profile", profile))


def addresses(rows: int = 10_000, *, seed: int = 0) -> pl.DataFrame:
    """Make up employees and where they live: towns of differing size, streets, houses.

    A sensible ε is 1 kilometre (distance haversine): on average 0.5 % of the rows lie within it of
    a row, at most some 2 %.

    Parameters
    ----------
    rows : int
        The number of employees.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`; `zip`, five digits as text, not of the home but of the place of work, which is
        seldom far; `sex`; `home`, a list of latitude and longitude in degrees with five decimals.
        Most share theirs with somebody: a household, or a house.

    Examples
    --------
    >>> table = addresses(1000)
    >>> table["home"].n_unique() < 1000, table["home"].list.len().unique().to_list()
    (True, [2])
    """
    _at_least_one(rows)
    rng = default_rng(seed)
    town, homes = _households(rows, rng)
    who = _people(town, np.full(_TOWNS, 41.0), rng, ages=_WORKING, variety=0.15)
    return who.with_columns(_lists("home", homes.round(5)))


def notes(rows: int = 10_000, *, seed: int = 0) -> pl.DataFrame:
    """Make up patients with complaints in free text, slips of the pen included.

    A sensible ε is 10 edits: on average 0.2 % of the rows lie within it of a row, at most some 1 %.

    Parameters
    ----------
    rows : int
        The number of patients.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`; `zip`, five digits as text; `sex`; `note`, a text of some fifty characters: what it
        is, since when, and mostly a remark. Few of them are equal.

    Examples
    --------
    >>> table = notes(1000)
    >>> table["note"].n_unique() > 950, table["note"].str.contains("cough").any()
    (True, True)
    """
    _at_least_one(rows)
    rng = default_rng(seed)
    ages, complaints = zip(*(text.split(" ", 1) for text in _phrases(_COMPLAINTS)), strict=True)
    complaint = rng.integers(0, len(complaints), rows)
    who = _people(complaint, np.array(ages, np.float64), rng)
    return who.with_columns(note=_written(pl.Series(complaints).gather(complaint), rng))


def _at_least_one(rows: int) -> None:
    if rows < 1:
        raise ParameterError(f"a table needs at least one row, not {rows}")


# ---- who it is


def _people(
    kind: Ints,
    typical: Floats,
    rng: Generator,
    *,
    ages: tuple[int, int] = _AGES,
    variety: float = 2.0,
) -> pl.DataFrame:
    """Draw a person for each row: an age near what is typical of the kind, a district, a sex."""
    # The smaller the variety, the fewer districts a kind is found in.
    country = default_rng(_COUNTRY + 1)
    districts = country.choice(np.arange(100, 1000), _DISTRICTS, replace=False)
    women = country.uniform(0.3, 0.7, len(typical))
    common = country.gamma(variety, size=(len(typical), _DISTRICTS)) / np.arange(2, _DISTRICTS + 2)
    district = districts[_drawn(common, kind, rng)]
    street = (100 * rng.beta(1, 3, len(kind))).astype(np.int64)
    return pl.DataFrame(
        {
            "age": _aged(typical[kind] + 15 * rng.standard_normal(len(kind)), *ages),
            "zip": pl.Series(100 * district + street).cast(pl.String),
            "sex": pl.Series(["F", "M"]).gather((rng.random(len(kind)) > women[kind]).astype(int)),
        }
    )


def _aged(age: Floats, least: int, most: int) -> Ints:
    """Round ages, and turn back at either end whoever is beyond it."""
    back = most - np.abs(most - (least + np.abs(age - least)))
    return np.clip(np.rint(back), least, most).astype(np.int64)


def _drawn(weights: Floats, kind: Ints, rng: Generator) -> Ints:
    """Draw a column for each kind, by the weights in the kind's row."""
    width = weights.shape[1]
    ends = weights.cumsum(axis=1)
    ends = ends / ends[:, -1:] + np.arange(len(weights))[:, None]
    column = np.searchsorted(ends.ravel(), kind + rng.random(len(kind)), "right") - width * kind
    return np.minimum(column, width - 1)


def _lists(name: str, matrix: Floats) -> pl.Series:
    return pl.Series(name, matrix).cast(pl.List(pl.Float64))


# ---- distributions


def _conditions(rows: int, rng: Generator) -> Ints:
    """Draw conditions, the first ones three times as often as the last."""
    common = 1 / np.arange(12, 12 + _CONDITIONS)
    return rng.choice(_CONDITIONS, rows, p=common / common.sum())


def _opinions(distinct: int, outcomes: int, rng: Generator) -> tuple[Ints, Ints]:
    """Draw different distributions, in hundredths, and the condition that each is about."""
    country = default_rng(_COUNTRY + 2)
    usual = _DOUBT + _AGREEMENT * country.dirichlet(np.full(outcomes, 0.5), _CONDITIONS)
    opinions, condition = np.empty((0, outcomes), np.int64), np.empty(0, np.int64)
    while len(opinions) < distinct:
        about = _conditions(2 * distinct, rng)
        weights = rng.standard_gamma(usual[about])
        opinions = np.concatenate([opinions, _hundredths(weights)])
        condition = np.concatenate([condition, about])
        first = np.sort(np.unique(opinions, axis=0, return_index=True)[1])
        opinions, condition = opinions[first], condition[first]
    return opinions[:distinct], condition[:distinct]


def _hundredths(weights: Floats) -> Ints:
    """Round shares so that they still add up: the largest remainders are rounded up."""
    exact = _HUNDRED * weights / weights.sum(axis=1, keepdims=True)
    parts = np.floor(exact).astype(np.int64)
    lacking = _HUNDRED - parts.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(parts - exact, axis=1), axis=1)
    return parts + (rank < lacking)


def _held(condition: Ints, rows: int, rng: Generator) -> Ints:
    """Return the opinion of each row: each occurs at least once, a condition's first ones often."""
    order = np.argsort(condition, kind="stable")
    start = np.searchsorted(condition[order], condition[order])
    popularity = np.empty(len(condition))
    popularity[order] = 1 / (np.arange(len(order)) - start + _FLAT)
    more = rng.choice(len(order), rows - len(order), p=popularity / popularity.sum())
    return rng.permutation(np.concatenate([np.arange(len(order)), more]))


# ---- places


def _households(rows: int, rng: Generator) -> tuple[Ints, Floats]:
    """Draw the town, latitude and longitude of people who live in households."""
    country = default_rng(_COUNTRY + 3)
    size = 1 / np.arange(1, _TOWNS + 1)
    town = np.repeat(np.arange(_TOWNS), np.ceil(_STREETS * size / size.sum()).astype(int))
    centre = country.random((_TOWNS, 2)) * (_HEIGHT, _WIDTH) + (_SOUTH, _WEST)
    # Large towns are wider than small ones, and denser.
    radius = 3.5 * size**0.4
    start = radius[town, None] * country.standard_normal((len(town), 2))
    angle = country.uniform(0, 2 * np.pi, len(town))
    ahead = np.stack([np.sin(angle), np.cos(angle)], axis=1)
    doors = country.integers(10, 60, len(town))

    street = rng.integers(0, len(town), rows)
    door = rng.integers(0, doors[street])
    people = rng.choice(np.arange(1, len(_HOUSEHOLDS) + 1), rows, p=_HOUSEHOLDS)
    member = rng.permutation(np.repeat(np.arange(rows), people)[:rows])
    street, door = street[member], door[member]
    north, east = (start[street] + _DOOR * door[:, None] * ahead[street]).T
    latitude, longitude = centre[town[street]].T
    latitude = latitude + north / _DEGREE
    longitude = longitude + east / (_DEGREE * np.cos(np.radians(latitude)))
    return town[street], np.stack([latitude, longitude], axis=1)


# ---- texts


def _phrases(block: str) -> list[str]:
    return [phrase.strip() for phrase in block.split(";")]


def _written(complaints: pl.Series, rng: Generator) -> pl.Series:
    """Add since when, mostly a remark, and now and then a slip of the pen."""
    size = len(complaints)
    since, remark = (
        pl.Series(phrases).gather(rng.integers(0, len(phrases), size))
        for phrases in (_phrases(_SINCE), _phrases(_REMARKS))
    )
    brief = pl.concat_str(complaints, since, separator=" ")
    full = pl.concat_str(brief, remark, separator=", ")
    remarked = pl.Series(rng.random(size) < _REMARKED)
    texts = pl.select(pl.when(remarked).then(full).otherwise(brief)).to_series()
    once = rng.random(size) < _SLIPS
    twice = once & (rng.random(size) < _SLIPS)
    return _slip(_slip(texts, once, rng), twice, rng)


def _slip(texts: pl.Series, slipped: Bools, rng: Generator) -> pl.Series:
    """Leave out a letter, add one, or hit another key, where the pen slipped."""
    size = len(texts)
    place = (rng.random(size) * texts.str.len_chars().to_numpy()).astype(np.int64)
    key = pl.Series([*ascii_lowercase, *[""] * 13]).gather(rng.integers(0, 39, size))
    rest = place + ((key == "").to_numpy() | (rng.random(size) < 0.5))
    before, after = texts.str.slice(0, pl.Series(place)), texts.str.slice(pl.Series(rest))
    spoilt = pl.concat_str(before, key, after)
    return pl.select(pl.when(pl.Series(slipped)).then(spoilt).otherwise(texts)).to_series()
