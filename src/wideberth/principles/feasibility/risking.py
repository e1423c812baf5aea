"""How the risk of a proximity breach grows with ε, in a table that is one single group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wideberth.core.exact import Floats, fraction
from wideberth.core.groups import Groups
from wideberth.distances import Branches, Similarity, Space, Windows
from wideberth.distances.custom import Called
from wideberth.principles.feasibility.rounding import rounded

#: Values around all of which neighbours are counted; of a Python function's.
_EACH, _EACH_CALLED = 5000, 400
#: Values around which they are counted beyond that.
_CENTRES, _CENTRES_CALLED = 64, 4


@dataclass(frozen=True)
class RiskCurve:
    """The risk for some ε: the largest share of the others that are near one row."""

    points: tuple[tuple[Fraction, Fraction], ...]  # each ε with its risk
    exact: bool  # False if neighbours of some values only were counted: the true risk may be higher

    def __iter__(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Go through the points."""
        return iter(self.points)

    def __len__(self) -> int:
        """Return how many points there are."""
        return len(self.points)


def risk_curve(space: Space, whole: Groups, distances: Floats, points: int) -> RiskCurve:
    """Compute the risk for at most `points` ε, taken from distances that occur."""
    rows = int(whole.sizes[0])
    called = isinstance(space, Called)
    each = len(whole.codes) <= (_EACH_CALLED if called else _EACH)
    spread = np.linspace(0, len(whole.codes) - 1, _CENTRES_CALLED if called else _CENTRES)
    centres = np.unique(np.append(spread.astype(np.int64), whole.counts.argmax()))
    found, exact = [], True
    for epsilon in _epsilons(space, distances, points):
        near = space.within(epsilon)
        if each or isinstance(near, Windows | Branches):
            crowd = int(near.crowd(whole).max())
        else:
            exact = False
            crowd = max(_around(near, whole, int(centre)) for centre in centres)
        found.append((epsilon, Fraction(crowd - 1, rows - 1) if rows > 1 else Fraction(1)))
        if found[-1][1] == 1:
            break
    return RiskCurve(tuple(found), exact)


def _around(near: Similarity, whole: Groups, entry: int) -> int:
    """Count the rows that are near one entry's."""
    codes = near.near(int(whole.codes[entry]))
    return int(whole.counts[np.isin(whole.codes, codes, assume_unique=True)].sum())


def _epsilons(space: Space, distances: Floats, points: int) -> list[Fraction]:
    """Choose round steps over most distances, or each of them, if there are few."""
    if len(distances) < points:
        return [Fraction(0), *(fraction(float(d)) for d in distances)]
    end = fraction(float(np.quantile(distances, 0.9)))
    step = rounded(end / (points - 1), up=True, digits=1)
    if bool((distances == np.rint(distances)).all()):  # whole numbers, as of letters to change
        step = Fraction(-(-step.numerator // step.denominator))
    steps = [step * i for i in range(points)]
    return [epsilon for epsilon in steps if space.top is None or epsilon <= space.top]
