"""Sales of a mail-order house in the shape of Lands End, the literature's table of many tuples.

The house is always the same: where its customers live, what it sells, at which prices, and what
each style costs it. A seed draws the sales. A plain style always costs the same, so whoever knows
the style knows the cost; the others come in variants. That is an assumption: of the real house only
numbers of values are known.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.errors import ParameterError

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
_Floats = npt.NDArray[np.float64]


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
    style = _draw(house.popular, rows, rng)
    female = rng.random(rows) < house.female[style]
    steps = np.where(rng.random(rows) < _MARKED_DOWN, rng.integers(1, _STEPS_DOWN, rows), 0)
    rank = np.maximum(house.rank[style] - steps, 0)
    return pl.DataFrame(
        {
            "zipcode": house.zipcodes[_draw(house.crowded, rows, rng)],
            "order_date": house.days[_draw(house.busy, rows, rng)],
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
        ladder = np.unique(np.exp(scale).astype(np.int64))
        self.prices = np.sort(rng.choice(ladder, _PRICES, replace=False))
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


def _draw(weights: _Floats, size: int, rng: np.random.Generator) -> _Ints:
    ends = weights.cumsum()
    codes: _Ints = np.searchsorted(ends[:-1], ends[-1] * rng.random(size), "right")
    return codes
