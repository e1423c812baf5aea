"""Distances along a line: each code is near to a window of codes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, Numbers
from wideberth.core.groups import Groups
from wideberth.distances.base import Similarity, Space
from wideberth.errors import ParameterError, TableError


@dataclass(frozen=True, eq=False)
class Windows:
    """Each code is similar to the codes from ``first[code]`` to ``last[code]``."""

    first: Ints
    last: Ints

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        return groups.within(self.first[groups.codes], self.last[groups.codes])

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        return np.arange(self.first[code], self.last[code] + 1)

    def matrix(self, codes: Ints) -> Bools:
        """Return who of some codes is similar to whom."""
        result = self.first[codes][:, None] <= codes
        result &= codes <= self.last[codes][:, None]
        return result


def windows(domain: Domain, first: Ints, last: Ints) -> Windows:
    """Add the missing code, similar to itself alone, to the windows of the other codes."""
    if domain.missing is None:
        return Windows(first, last)
    return Windows(np.append(first, domain.missing), np.append(last, domain.missing))


def numbers_of(domain: Domain, who: str) -> Numbers:
    """Return the domain's numbers, or say that it has none."""
    if domain.numbers is None:
        if domain.components:
            what = f"{who} needs single numbers, but '{domain.name}' has {len(domain.components)}"
            raise TableError(f"{what} for each row", hint="dissimilarity with distance=euclidean")
        raise TableError(
            f"{who} needs numbers, but column '{domain.name}' holds none",
            hint="choose a principle for categories (wideberth principles), or set its type",
        )
    return domain.numbers


class Absolute(Space):
    """The difference of two numbers; days for dates."""

    name = "absolute"

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.numbers = numbers_of(domain, f"distance={self.name}")

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        numbers = self.numbers.floats()
        return np.abs(numbers[ones][:, None] - numbers[others])

    def _within(self, epsilon: Fraction) -> Similarity:
        return windows(self.domain, *self.numbers.within(epsilon, epsilon))


class Relative(Space):
    """The difference of two numbers as a share of the larger: |x - y| / max(|x|, |y|)."""

    # It is at most ε if, and only if, one of the numbers lies in the other's relative
    # neighbourhood. Numbers of unlike sign are more than 1 apart.

    name = "relative"
    top = Fraction(1)
    beyond = "a share is at most 1"

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.numbers = numbers_of(domain, f"distance={self.name}")
        if domain.dated:
            raise ParameterError(
                f"a share of a date means nothing (column '{domain.name}')",
                hint="distance=absolute, with epsilon as a number of days",
            )

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        numbers = self.numbers.floats()
        one, other = numbers[ones][:, None], numbers[others]
        larger = np.maximum(np.abs(one), np.abs(other))
        # Divided one by one, as the difference of two large numbers need not be a float.
        larger[larger == 0] = 1
        return np.abs(one / larger - other / larger)

    def _within(self, epsilon: Fraction) -> Similarity:
        first, last = self.numbers.within_share(epsilon)
        # Both ends rise with the code, so who has a code in its window is itself a window.
        every = np.arange(len(first))
        return windows(
            self.domain,
            np.minimum(first, np.searchsorted(last, every, side="left")),
            np.maximum(last, np.searchsorted(first, every, side="right") - 1),
        )


class Discrete(Space):
    """0 between equal values, 1 between any others."""

    name = "discrete"
    top = Fraction(1)

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        return (ones[:, None] != others).astype(np.float64)

    def _within(self, epsilon: Fraction) -> Similarity:
        every = np.arange(self.domain.known)
        if epsilon < 1:
            return windows(self.domain, every, every)
        return windows(self.domain, np.zeros_like(every), np.full_like(every, len(every) - 1))
