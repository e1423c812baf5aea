"""Nodes of a lattice, in words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import floor, isfinite, log10


def assigned(levels: Mapping[str, int]) -> list[str]:
    """Write levels as options do.

    >>> assigned({"age": 2, "sex": 0})
    ['age=2', 'sex=0']
    """
    return [f"{column}={level}" for column, level in levels.items()]


def certainty(
    nodes: int, measure: str, score: float | None, bound: float | None, proven: bool
) -> str:
    """Describe how certain it is that a node is the best, and its score unless that is kept back.

    >>> certainty(36, "loss", 0.123456, 0.123456, True)
    'the best of 36 nodes: loss 0.1235'
    >>> certainty(36, "loss", 0.123456, 0.1, False)
    'best so far of 36 nodes: loss 0.1235; no node is better than 0.1'
    >>> certainty(36, "entropy", None, None, True)
    'the best of 36 nodes by entropy'
    """
    scored = f" by {measure}" if score is None else f": {measure} {figure(score)}"
    if nodes == 1:
        return f"the only node{scored}"
    if proven:
        return f"the best of {nodes:,} nodes{scored}"
    known = ""
    if bound is not None and isfinite(bound):
        known = f"; no node is better than {figure(_lowered(bound))}"
    return f"best so far of {nodes:,} nodes{scored}{known}"


def figure(value: float) -> str:
    """Write a measure with four digits, large ones in thousands, millions and so on.

    >>> [figure(value) for value in (0, 0.6183825, 142.7142, 4000, 405168, 123456789)]
    ['0', '0.6184', '142.7', '4000', '405.2k', '123.5M']
    """
    size = min(floor(log10(abs(value)) / 3), 5) if abs(value) >= 9999.5 else 0
    return f"{value / 1000**size:.4g}{' kMGTP'[size].strip()}"


def _lowered(bound: float) -> float:
    """Round down to four digits, so that a bound stays one.

    >>> _lowered(0.123476)
    0.1234
    """
    unit = 3 - floor(log10(bound)) if bound > 0 else 0
    return float(Fraction(floor(Fraction(bound) * Fraction(10) ** unit)) / Fraction(10) ** unit)
