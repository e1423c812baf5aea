"""A census of incomes in the shape of SAL, the table that proximity privacy is measured on.

The country is always the same: which codes exist, how common each is, what it pays. A seed draws
its people. Whoever lives there is drawn from urns of 65,536 tickets, by 16 random bits and one look
into the urn; the table grows block by block, so that next to the columns themselves even 50 million
rows need hardly any memory.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.errors import ParameterError

_BLOCK = 1 << 18
_TICKETS = 1 << 16

#: Median income and spread (a standard deviation of logarithms) of somebody average. They put the
#: table where the literature's lies: hiding by perturbation, which needs less than 1/5 of the rows
#: within ε on either side of any income, is possible up to ε = 4000 or 15 %, but hardly beyond.
_MEDIAN, _SPREAD = 32_700, 0.42
#: Whom a rounding suits: units in which incomes are told, and how many tell theirs so.
_UNITS, _TOLD = (100, 500, 1000, 5000), (0.40, 0.20, 0.25, 0.15)
_LOWEST, _HIGHEST = 1_000, 100_000

#: Ages, how many have them, and the logarithm of what they earn beside somebody average.
_AGES = (16, 19, 25, 38, 47, 55, 62, 67, 78, 93)
_COMMON = (0.2, 0.7, 0.95, 1.0, 0.95, 0.75, 0.4, 0.12, 0.03, 0.003)
_CAREER = (-1.1, -0.8, -0.3, 0.1, 0.25, 0.25, 0.1, -0.1, -0.35, -0.4)
_BANDS = (25, 40, 55)  # the ages at which occupations change


class _Family(NamedTuple):
    """Occupations with neighbouring codes."""

    first: int
    last: int
    share: float
    pay: float  # logarithm, beside the average
    age: float  # tilts towards the old if positive
    abroad: float  # tilts towards those born abroad if positive


_FAMILIES = (
    _Family(1, 42, 0.12, 0.40, 0.5, -0.3),  # managers
    _Family(43, 202, 0.16, 0.35, 0.2, -0.1),  # professions
    _Family(203, 240, 0.04, 0.10, 0.0, -0.2),  # technicians
    _Family(243, 300, 0.12, 0.00, -0.5, -0.2),  # sales
    _Family(303, 400, 0.15, -0.12, 0.0, -0.4),  # offices
    _Family(403, 500, 0.15, -0.45, -0.5, 0.6),  # services, farms
    _Family(503, 700, 0.12, 0.05, 0.1, 0.3),  # crafts
    _Family(703, 900, 0.13, -0.20, -0.1, 0.5),  # machines, transport
    _Family(903, 983, 0.01, -0.05, -0.9, -0.3),  # armed forces
)
#: Codes of birthplaces: at home, then regions abroad; share and logarithm of the pay.
_REGIONS = (
    (1, 56, 0.86, 0.0),
    (100, 160, 0.02, 0.0),
    (200, 200, 0.04, -0.25),
    (210, 260, 0.02, -0.15),
    (300, 330, 0.01, -0.1),
    (400, 499, 0.02, 0.1),
    (500, 599, 0.02, 0.0),
    (600, 710, 0.01, -0.1),
)
_ABROAD = 100

_Floats = npt.NDArray[np.float32]
_Codes = npt.NDArray[np.int16]


def sal(rows: int = 500_000, seed: int = 2008) -> pl.DataFrame:
    """Make up a census of incomes: four columns of numbers, correlated, skewed and heaped.

    Parameters
    ----------
    rows : int
        The number of people.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `age`, 16 to 93; `birthplace`, a code from 1 to 710, up to 56 for those born at home;
        `occupation`, a code from 1 to 983, in families such as managers or crafts, which attract
        different ages and origins; `income`, 1,000 to 100,000, which depends on all three, told in
        round numbers. No more than an eighth of the incomes lie within 4,500 of one another: the
        whole table can be made (ε,m)-anonymous for ε = 4500 and m = 5, or 10 % and m = 4.

    References
    ----------
    Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008, Section 7.

    Examples
    --------
    >>> people = sal(1000)
    >>> people.columns, people["income"].is_between(1_000, 100_000).all()
    (['age', 'birthplace', 'occupation', 'income'], True)
    """
    if rows < 1:
        raise ParameterError(f"a census needs at least one row, not {rows}")
    rng = np.random.default_rng(seed)
    country = _Country()
    age, birthplace, occupation = (np.empty(rows, np.int16) for _ in range(3))
    income = np.empty(rows, np.int32)
    for start in range(0, rows, _BLOCK):
        block = slice(start, min(start + _BLOCK, rows))
        size = block.stop - block.start
        age[block] = country.ages[_draw(size, rng)]
        birthplace[block] = country.birthplaces[_draw(size, rng)]
        kind = 2 * np.searchsorted(_BANDS, age[block], "right") + (birthplace[block] >= _ABROAD)
        occupation[block] = country.occupations[kind, _draw(size, rng)]
        expected = (
            country.pay_of_age[age[block]]
            + country.pay_of_birthplace[birthplace[block]]
            + country.pay_of_occupation[occupation[block]]
        )
        income[block] = _told(expected, rng)
    return pl.DataFrame(
        {"age": age, "birthplace": birthplace, "occupation": occupation, "income": income}
    )


class _Country:
    """Urns of codes, and what a code adds to the logarithm of an income."""

    def __init__(self) -> None:
        rng = np.random.default_rng(710)  # the same for all
        years = np.arange(_AGES[0], _AGES[-1] + 1)
        self.ages = _urn(years, np.interp(years, _AGES, _COMMON))
        self.pay_of_age = np.interp(np.arange(_AGES[-1] + 1), _AGES, _CAREER).astype(np.float32)

        self.pay_of_birthplace = np.zeros(_REGIONS[-1][1] + 1, np.float32)
        places, weights = [], []
        for first, last, share, pay in _REGIONS:
            codes, popularity = _existing(first, last, rng)
            places.append(codes)
            weights.append(share * popularity)
            self.pay_of_birthplace[codes] = rng.normal(pay, 0.05, len(codes))
        self.birthplaces = _urn(np.concatenate(places), np.concatenate(weights))

        self.pay_of_occupation = np.zeros(_FAMILIES[-1].last + 1, np.float32)
        members = [_existing(family.first, family.last, rng) for family in _FAMILIES]
        for family, (codes, _) in zip(_FAMILIES, members, strict=True):
            self.pay_of_occupation[codes] = rng.normal(family.pay, 0.18, len(codes))
        occupations = np.concatenate([codes for codes, _ in members])
        self.occupations = np.stack(
            [
                _urn(occupations, np.concatenate(_wanted(members, band, abroad)))
                for band in (-0.8, -0.2, 0.3, 0.6)
                for abroad in (False, True)
            ]
        )


def _wanted(
    members: list[tuple[_Codes, npt.NDArray[np.float64]]], band: float, abroad: bool
) -> list[npt.NDArray[np.float64]]:
    """Weigh the occupations for people of an age band and an origin."""
    return [
        family.share * np.exp(family.age * band + family.abroad * abroad) * popularity
        for family, (_, popularity) in zip(_FAMILIES, members, strict=True)
    ]


def _existing(
    first: int, last: int, rng: np.random.Generator
) -> tuple[_Codes, npt.NDArray[np.float64]]:
    """Choose about half the codes of a range, both ends among them; a few are very common."""
    codes = np.arange(first, last + 1, dtype=np.int16)
    exists = rng.random(len(codes)) < 0.5
    exists[[0, -1]] = True
    popularity = rng.lognormal(0, 1.1, exists.sum())
    return codes[exists], popularity / popularity.sum()


def _urn(codes: npt.NDArray[np.integer], weights: npt.NDArray[np.float64]) -> _Codes:
    """Fill an urn by weight, no code left out."""
    shares = np.maximum(weights / weights.sum(), 1.5 / _TICKETS)
    ends = np.rint(_TICKETS * shares.cumsum() / shares.sum()).astype(np.int64)
    return codes[np.searchsorted(ends, np.arange(_TICKETS), "right")].astype(np.int16)


def _draw(size: int, rng: np.random.Generator) -> npt.NDArray[np.uint16]:
    return rng.integers(0, _TICKETS, size, dtype=np.uint16)


def _told(expected: _Floats, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """Spread incomes around the expected ones, and round them as their owners would."""
    spread = np.float32(_SPREAD) * rng.standard_normal(len(expected), dtype=np.float32)
    exact = np.float32(_MEDIAN) * np.exp(expected + spread)
    unit = np.array(_UNITS, np.float32)[
        np.searchsorted(np.cumsum(_TOLD)[:-1], rng.random(len(expected), dtype=np.float32))
    ]
    return np.clip(np.rint(exact / unit) * unit, _LOWEST, _HIGHEST)


# -----------------------------------------------------------------------------
# Sales of a mail-order house in the shape of Lands End, the literature's table of many tuples.
#
# The house is always the same: where its customers live, what it sells, at which prices, and what
# each style costs it. A seed draws the sales. A plain style always costs the same, so whoever knows
# the style knows the cost; the others come in variants. That is an assumption: of the real house
# only numbers of values are known.


#: How many different values columns have, as printed for the real table.
_ZIPCODES, _DAYS, _STYLES, _PRICES, _COSTS = 31_953, 320, 1_509, 346, 147
_NEW_YEAR = date(2001, 1, 1)
_SEASON = 334  # the first of December
#: Prices are in tenths of a dollar, costs in cents, told in full dollars.
_CHEAPEST, _DEAREST = 45, 3_200
_DOLLAR = 100
_SHARE_OF_COST = (0.30, 0.50)
_PLAIN, _VARIANTS = 0.6, (0.7, 0.85, 1.0, 1.2)
_MARKED_DOWN, _STEPS_DOWN = 0.12, 12

_Ints = npt.NDArray[np.int64]
_Money = npt.NDArray[np.float64]


def orders(rows: int = 1_000_000, seed: int = 2006) -> pl.DataFrame:
    """Make up sales of a mail-order house: seven columns about an order, and what it cost.

    Parameters
    ----------
    rows : int
        The number of sales.
    seed : int
        Equal seeds and sizes give equal tables.

    Returns
    -------
    polars.DataFrame
        `zipcode`, five digits as text, up to 31,953 of them; `order_date`, up to 320 days of a
        year, most before Christmas; `gender`; `style`, up to 1,509 of them; `price`, up to four
        digits, 346 different ones at most; `quantity`, always 1; `shipment`; `cost`, a multiple of
        100, of which there are at most 147. Three of five styles always cost the same.

    References
    ----------
    Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity: Privacy beyond k-anonymity.
    ICDE 2006, Figure 4.

    Examples
    --------
    >>> sales = orders(1000)
    >>> sales.columns[:5]
    ['zipcode', 'order_date', 'gender', 'style', 'price']
    >>> sales["price"].max() < 10_000, sales["quantity"].n_unique()
    (True, 1)
    """
    if rows < 1:
        raise ParameterError(f"a table of orders needs at least one row, not {rows}")
    rng = np.random.default_rng(seed)
    house = _House()
    style = _draw_orders(house.popular, rows, rng)
    female = rng.random(rows) < house.female[style]
    steps = np.where(rng.random(rows) < _MARKED_DOWN, rng.integers(1, _STEPS_DOWN, rows), 0)
    rank = np.maximum(house.rank[style] - steps, 0)
    return pl.DataFrame(
        {
            "zipcode": house.zipcodes[_draw_orders(house.crowded, rows, rng)],
            "order_date": house.days[_draw_orders(house.busy, rows, rng)],
            "gender": pl.Series(["male", "female"])[female.astype(np.int64)],
            "style": house.styles[style],
            "price": house.prices[rank],
            "quantity": np.ones(rows, np.int64),
            "shipment": pl.Series(["standard", "express"])[
                (rng.random(rows) < 0.12).astype(np.int64)
            ],
            "cost": house.costs(style, rng),
        }
    )


class _House:
    """The house: the same for all seeds."""

    def __init__(self) -> None:
        rng = np.random.default_rng(_STYLES)
        codes = np.sort(rng.choice(np.arange(501, 99_951), _ZIPCODES, replace=False))
        self.zipcodes = pl.Series([f"{code:05d}" for code in codes])
        self.crowded = rng.lognormal(0, 1.0, _ZIPCODES)

        days = np.sort(rng.choice(365, _DAYS, replace=False))
        self.days = pl.Series([_NEW_YEAR + timedelta(int(day)) for day in days])
        self.busy = 1 + 2.5 * np.exp(-(((days - _SEASON) / 25) ** 2))

        # Most prices are low, and every one is that of a style.
        scale = np.linspace(np.log(_CHEAPEST), np.log(_DEAREST), 4 * _PRICES)
        quasi_level = np.unique(np.exp(scale).astype(np.int64))
        self.prices = np.sort(rng.choice(quasi_level, _PRICES, replace=False))
        other = (_PRICES * rng.beta(2, 3, _STYLES - _PRICES)).astype(np.int64)
        self.rank = rng.permutation(np.concatenate([np.arange(_PRICES), other]))

        self.styles = pl.Series([f"S{number:04d}" for number in range(1, _STYLES + 1)])
        self.popular = rng.lognormal(0, 0.8, _STYLES)
        self.female = rng.choice([0.15, 0.7, 0.95], _STYLES, p=[0.25, 0.35, 0.4])
        self.unit = 10 * self.prices[self.rank] * rng.uniform(*_SHARE_OF_COST, _STYLES)
        self.plain = rng.random(_STYLES) < _PLAIN

    def costs(self, style: _Ints, rng: np.random.Generator) -> _Ints:
        """Return what sales of these styles cost the house, in full dollars."""
        variant = np.where(self.plain[style], 1.0, rng.choice(_VARIANTS, len(style)))
        dollars = (self.unit[style] * variant / _DOLLAR).astype(np.int64)
        return np.minimum(dollars, _COSTS - 1) * _DOLLAR


def _draw_orders(weights: _Money, size: int, rng: np.random.Generator) -> _Ints:
    ends = weights.cumsum()
    codes: _Ints = np.searchsorted(ends[:-1], ends[-1] * rng.random(size), "right")
    return codes
