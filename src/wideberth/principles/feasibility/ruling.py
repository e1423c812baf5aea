"""Which δ of (ε,δ)^k-dissimilarity a no rules out: all that are larger, and often some more."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

from wideberth.principles.feasibility.brackets import halfway
from wideberth.principles.partition.decide import Answer, Witness, overfull
from wideberth.principles.partition.swap import Cap

#: Rows of which every possible δ is considered.
FEW = 1000


def ruled_out(answer: Answer, delta: Fraction, n: int, unit: int) -> Fraction:
    """Return the δ above which a no is certain, from a no for one of them."""
    witness, bound = answer.witness, delta
    if witness is not None and witness.kind == "vertex":
        bound = min(bound, Fraction(n - 1 - witness.rows, unit - 1))
    if witness is not None and witness.kind == "clique":
        bound = min(bound, Fraction(n - witness.rows, n - n // unit))
        if n <= FEW:
            return _room(witness, bound, n, unit)
    return _largest_below(delta, n, unit) if n <= FEW and bound == delta else bound


def _room(witness: Witness, bound: Fraction, n: int, unit: int) -> Fraction:
    """Return the largest δ that has room for a crowd, by whole rows in groups of any sizes."""
    low, high = Fraction(0), bound
    while high - low > Fraction(1, n * n):
        middle = halfway(low, high)
        if overfull(n, witness.rows, Cap.of_share(middle), unit) is None:
            low = middle
        else:
            high = _largest_below(middle, n, unit)
    return high


def _largest_below(delta: Fraction, n: int, unit: int) -> Fraction:
    """Return the largest share below δ that any group of n rows or fewer can reach.

    >>> _largest_below(Fraction(3, 4), 4, 2)
    Fraction(2, 3)
    """
    shares = (Fraction(ceil(delta * others) - 1, others) for others in range(unit - 1, n))
    return max(Fraction(0), *shares)
