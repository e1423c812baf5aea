"""Exact arithmetic: numbers as whole multiples of one unit, thresholds as fractions.

A principle's verdict must not hang on rounding: in floats, 29 of 100 rows exceed a share of 0.29,
and 0.8 - 0.7 exceeds 0.1. So a parameter is the decimal its user wrote, a float of a table is the
shortest decimal that denotes it, and a column is a vector of integers over a common unit.
Everything after that compares integers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]
#: int64 where that cannot overflow, Python integers (dtype object) where it could.
WholeNumbers: TypeAlias = npt.NDArray[Any]

_SAFE = 2**62  # sums of two such integers still fit int64
# An exponent of ten digits would be a number of ten thousand million digits.
_PLAUSIBLE = re.compile(r"\s*[+-]?[\d_./]{1,400}(e[+-]?\d{1,3})?\s*", re.IGNORECASE)
_FIRST = 64  # a few numbers tell mostly that there are too few decimals
_DECIMALS = 15  # a double tells at most 15 decimal digits apart


def fraction(number: int | float | str | Decimal | Fraction) -> Fraction:
    """Return the number as its writer meant it: a float as its shortest decimal.

    >>> fraction(0.3), fraction("1/3"), fraction(2)
    (Fraction(3, 10), Fraction(1, 3), Fraction(2, 1))
    """
    if isinstance(number, float):
        return Fraction(repr(number))
    if isinstance(number, str) and not _PLAUSIBLE.fullmatch(number):
        raise ValueError("not a number, or far beyond any float")
    return Fraction(number)


def share(text: str) -> Fraction:
    """Read a share of a whole, exactly as it is written.

    >>> share("5%"), share("0.05")
    (Fraction(1, 20), Fraction(1, 20))
    """
    number = text.strip()
    exact = fraction(number.removesuffix("%"))
    return exact / 100 if number.endswith("%") else exact


def whole(numbers: WholeNumbers, bound: int) -> WholeNumbers:
    """Return the integers in a type that can hold values up to ``bound`` in size."""
    return numbers.astype(np.int64 if bound < _SAFE else object, copy=False)


def at_most(left: WholeNumbers, ratio: Fraction, right: WholeNumbers) -> Bools:
    """Return where ``left <= ratio * right``, in integers.

    >>> at_most(np.array([3, 4]), fraction(0.3), np.array([10, 10]))
    array([ True, False])
    """
    scaled, other = _cross_multiplied(left, ratio, right)
    return (scaled <= other).astype(bool)


def at_least(left: WholeNumbers, ratio: Fraction, right: WholeNumbers) -> Bools:
    """Return where ``left >= ratio * right``, in integers."""
    scaled, other = _cross_multiplied(left, ratio, right)
    return (scaled >= other).astype(bool)


def ratios(numerators: WholeNumbers, denominators: WholeNumbers | int) -> Floats:
    """Divide integers of any size, rounding once; what no float can hold is infinite.

    >>> ratios(np.array([1, 10**400], dtype=object), 4)
    array([0.25,  inf])
    """
    spread = np.broadcast_to(denominators, numerators.shape)
    if numerators.dtype != object and spread.dtype != object:
        return numerators / spread
    results = [_ratio(int(a), int(b)) for a, b in zip(numerators.flat, spread.flat, strict=True)]
    return np.array(results, dtype=np.float64).reshape(numerators.shape)


def _ratio(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator  # correctly rounded, whatever the size
    except OverflowError:
        return float("inf") if numerator > 0 else float("-inf")


def _cross_multiplied(
    left: WholeNumbers, ratio: Fraction, right: WholeNumbers
) -> tuple[WholeNumbers, WholeNumbers]:
    bound = max(
        max(_bound(left), 1) * ratio.denominator,
        max(_bound(right), 1) * max(abs(ratio.numerator), 1),
    )
    return whole(left, bound) * ratio.denominator, whole(right, bound) * ratio.numerator


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers as integers: entry ``i`` is ``units[i] / per``."""

    units: WholeNumbers  # one-dimensional and ascending for a column; rows of vectors for several
    per: int

    @classmethod
    def whole(cls, units: WholeNumbers, per: int) -> Numbers:
        """Take integers of any size, in the smallest type that holds them."""
        return cls(whole(units, _bound(units)), per)

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> Numbers:
        """Read integers, decimals or finite floats; a float as its shortest decimal.

        >>> Numbers.of(np.array([0.1, 0.25]))
        Numbers(units=array([10, 25]), per=100)
        """
        values = np.asarray(values)
        if values.dtype.kind in "iub":
            return cls.whole(values, 1)
        if values.dtype.kind == "f":
            if values.dtype != np.float64:  # 0.1 in single precision is a tenth, too
                values = values.astype(str).astype(np.float64)
            return short_decimals(values) or _decimals(values)
        return _fractions(values)

    @property
    def bound(self) -> int:
        """The largest absolute number of units."""
        return _bound(self.units)

    def floats(self) -> Floats:
        """Return the numbers rounded to floats, for display and measures, never for verdicts."""
        exactly = self.bound >= 2**53  # else the integers are floats already
        return ratios(self.units.astype(object) if exactly else self.units, self.per)

    @property
    def offsets(self) -> WholeNumbers:
        """How far each is from the first, in units, exactly.

        >>> Numbers.of(np.array([2**62, 2**62 + 1])).offsets.tolist()
        [0, 1]
        """
        units = whole(self.units, 2 * self.bound)
        return units - units[:1]

    def within(self, below: Fraction, above: Fraction) -> tuple[Ints, Ints]:
        """Return, for each number x, the first and last position in [x - below, x + above]."""
        down, up = (_floor_scaled(reach, self.per) for reach in (below, above))
        units = whole(self.units, self.bound + max(down, up))
        return self._positions(units - down, units + up)

    def within_share(self, share: Fraction) -> tuple[Ints, Ints]:
        """Return, for each number x, the first and last position within ``share * |x|`` of x."""
        units = whole(self.units, max(self.bound, 1) * (share.numerator + share.denominator))
        reach = np.abs(units) * share.numerator // share.denominator
        return self._positions(units - reach, units + reach)

    def _positions(self, low: WholeNumbers, high: WholeNumbers) -> tuple[Ints, Ints]:
        first = np.searchsorted(self.units, low, side="left")
        last = np.searchsorted(self.units, high, side="right") - 1
        return first.astype(np.int64), last.astype(np.int64)


def _bound(units: WholeNumbers) -> int:
    return max(abs(int(units.min())), abs(int(units.max()))) if units.size else 0


def _floor_scaled(number: Fraction, per: int) -> int:
    return number.numerator * per // number.denominator


def short_decimals(floats: Floats) -> Numbers | None:
    """Find the smallest number of decimals that denotes every float, if there is one."""
    # A quotient of two exactly representable integers is correctly rounded, so it equals the float
    # precisely when that float is how the decimal would be read.
    if np.abs(floats).max(initial=0) >= 2**53:
        return None
    first = floats[:_FIRST]
    for decimals in range(_DECIMALS + 1):
        per = 10**decimals
        if not np.array_equal(np.rint(first * per) / per, first):
            continue
        units = np.rint(floats * per)
        if units.size and np.abs(units).max() >= 2**53:
            return None
        if np.array_equal(units / per, floats):
            return Numbers(units.astype(np.int64), per)
    return None


def _decimals(floats: Floats) -> Numbers:
    """Read every float's own digits: the slow way, for columns with long or unlike numbers."""
    parsed = [Decimal(repr(x)).as_tuple() for x in floats.ravel().tolist()]
    finest = min(0, *(int(p.exponent) for p in parsed))
    units = [
        (-1 if p.sign else 1) * int("".join(map(str, p.digits))) * 10 ** (int(p.exponent) - finest)
        for p in parsed
    ]
    return Numbers.whole(np.array(units, dtype=object).reshape(floats.shape), 10**-finest)


def _fractions(values: npt.NDArray[Any]) -> Numbers:
    exact = [fraction(v) for v in values.flat]
    per = lcm(*(v.denominator for v in exact))
    units = np.array([int(v * per) for v in exact], dtype=object).reshape(values.shape)
    return Numbers.whole(units, per)
