"""Any other distance: a Python function of two values.

It is called for the pairs that are asked for and no others, and never twice for the same pair in
one go: it may be slow.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import isclose, isfinite
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.distances.base import DistanceFunction, Similarity, Space
from wideberth.errors import ParameterError

_ROUNDING = 1e-9  # relatively: what a user's function may have rounded
_TRIED = 48  # pairs


class FunctionDistance(Space):
    """What a function returns for two values; vectors are tuples, None where a part is missing."""

    name = "a function"

    def __init__(self, domain: Domain, metric: DistanceFunction) -> None:
        super().__init__(domain)
        self.metric = metric
        self.values = _values(domain)
        self._try()

    def of(self, one: int, other: int) -> Any:
        """Return the distance of two codes, the smaller one's value as the first argument."""
        if one == other:
            return 0
        return self._measured(min(one, other), max(one, other))

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        apart = [[float(self.of(a, b)) for b in others.tolist()] for a in ones.tolist()]
        return np.array(apart, dtype=np.float64).reshape(len(ones), len(others))

    def _within(self, epsilon: Fraction) -> Similarity:
        return FunctionSimilarity(self, epsilon)

    def _measured(self, one: int, other: int) -> Any:
        try:
            distance = self.metric(self.values[one], self.values[other])
        except Exception as error:  # its message may quote the values
            kind = type(error).__name__
            raise ParameterError(
                f"the given metric raised {kind} for a pair of values",
                hint="it is called with two values; those of several columns are tuples",
            ) from None
        if isinstance(distance, np.generic):
            distance = distance.item()
        if not isinstance(distance, int | float | Fraction | Decimal):
            raise ParameterError(
                f"the given metric returned {type(distance).__name__} for a pair of values",
                hint="a distance is a finite number from 0",
            )
        if distance >= 0 and isfinite(distance):
            return distance
        raise ParameterError(
            "the given metric is negative, infinite or NaN for a pair of values",
            hint="a distance is a finite number from 0",
        )

    def _try(self) -> None:
        """Refuse what is plainly no distance. A few pairs suffice to catch an honest mistake."""
        known = self.domain.known
        pairs = np.random.default_rng(1).integers(0, max(known, 1), (_TRIED if known else 0, 2))
        if known:
            pairs = np.vstack((pairs, [[0, known - 1]]))
        largest = 0.0
        for one, other in np.unique(pairs, axis=0).tolist():
            there, back = self._measured(one, other), self._measured(other, one)
            largest = max(largest, float(there), float(back))
            if _rounded(there, back, 0.0):
                continue
            raise ParameterError(
                "the given metric is not symmetric",
                hint="metric(a, b) must equal metric(b, a)",
            )
        for one in np.unique(pairs).tolist():
            if not _rounded(self._measured(one, one), 0, largest):
                raise ParameterError(
                    "the given metric is not 0 between a value and itself",
                    hint="metric(a, a) must be 0",
                )


def _rounded(one: Any, other: Any, scale: float) -> bool:
    """Return whether two distances are equal but for rounding; exact numbers are not rounded."""
    if not isinstance(one, float) and not isinstance(other, float):
        return bool(one == other)
    # The root of what is rounded to the sixteenth digit is wrong in the eighth.
    return isclose(one, other, rel_tol=_ROUNDING, abs_tol=max(scale * 1e-7, 1e-12))


class FunctionSimilarity:
    """Similarity as a function decides it."""

    def __init__(self, space: FunctionDistance, epsilon: Fraction) -> None:
        self.space, self.epsilon = space, epsilon
        self.known = space.domain.known

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        # Code by code, since a pair may meet in several groups.
        result = groups.counts.copy()
        entries = np.argsort(groups.codes, kind="stable")
        edges = np.flatnonzero(np.diff(groups.codes[entries], prepend=-1, append=-1))
        ends = groups.start[1:][groups.owner]
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            own = entries[begin:end]
            after = ends[own] - own - 1  # codes ascend within a group
            other = np.repeat(own + 1 - np.cumsum(after) + after, after) + np.arange(after.sum())
            codes, place = np.unique(groups.codes[other], return_inverse=True)
            near = self._near_to(int(groups.codes[own[0]]), codes)[place]
            one, other = np.repeat(own, after)[near], other[near]
            np.add.at(result, one, groups.counts[other])
            np.add.at(result, other, groups.counts[one])
        return result

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        every = np.arange(self.space.domain.size)
        return every[self._near_to(code, every)]

    def matrix(self, codes: Ints) -> Bools:
        """Return who of some codes is similar to whom."""
        distinct, place = np.unique(codes, return_inverse=True)
        result = np.eye(len(distinct), dtype=bool)
        for at, code in enumerate(distinct.tolist()):
            result[at, at + 1 :] = result[at + 1 :, at] = self._near_to(code, distinct[at + 1 :])
        return result[place[:, None], place]

    def _near_to(self, code: int, others: Ints) -> Bools:
        if code >= self.known:
            return others == code
        verdicts = (b < self.known and self._is_near(code, b) for b in others.tolist())
        return np.fromiter(verdicts, dtype=bool, count=len(others))

    def _is_near(self, one: int, other: int) -> bool:
        """Compare exactly what is exact; of a float, count what may be rounding as near."""
        distance = self.space.of(one, other)
        if isinstance(distance, float):
            return distance <= float(self.epsilon) * (1 + _ROUNDING)
        return bool(Fraction(distance) <= self.epsilon)


def _values(domain: Domain) -> list[Any]:
    if not domain.components:
        return [] if domain.values is None else domain.values.to_list()
    assert domain.parts is not None  # noqa: S101 - components imply parts
    single = [[*_values(part), None] for part in domain.components]
    return [
        tuple(column[code] for column, code in zip(single, row, strict=True))
        for row in domain.parts[: domain.known].tolist()
    ]
