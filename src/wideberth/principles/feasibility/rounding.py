"""Numbers that are short to write, on the side on which they stay true."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction


def rounded(value: Fraction, *, up: bool, digits: int = 6) -> Fraction:
    """Return a number that is short to write, on the given side of the exact one.

    >>> rounded(Fraction(2, 3), up=False, digits=2), rounded(Fraction(1200), up=True)
    (Fraction(33, 50), Fraction(1200, 1))
    """
    if value.denominator == 1:
        return value
    with localcontext(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR):
        return Fraction(Decimal(value.numerator) / Decimal(value.denominator))
