"""What every distance offers: who is near whom for a fixed ε, and how far apart values are."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError

DistanceFunction: TypeAlias = Callable[[Any, Any], float]


class Similarity(Protocol):
    """Who is near whom, for a fixed ε. Near is mutual, and every code is near itself."""

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are near it, itself included."""

    def near(self, code: int) -> Ints:
        """Return the codes near one, ascending, itself included."""

    def matrix(self, codes: Ints) -> Bools:
        """Return who of some codes is near whom. Codes may repeat, in any order."""


class Space(ABC):
    """A domain with a distance, before ε is chosen.

    Parameters
    ----------
    domain : Domain
        The values.

    Attributes
    ----------
    name : str
        The distance's name.
    top : Fraction or None
        The largest ε that makes sense, whatever the values; None if there is no such bound.
    beyond : str
        Why a larger one makes none.
    """

    name: str
    top: Fraction | None = None
    beyond: str = "no two values are farther apart"

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    def apart(self, ones: Ints, others: Ints) -> Floats:
        """Return the distances between codes as a matrix, rounded: for display, not for verdicts.

        A missing value is infinitely far from any other.
        """
        known = self.domain.known
        result = np.full((len(ones), len(others)), np.inf)
        row, column = np.flatnonzero(ones < known), np.flatnonzero(others < known)
        result[np.ix_(row, column)] = self._apart(ones[row], others[column])
        result[np.ix_(ones >= known, others >= known)] = 0
        return result

    def within(self, epsilon: Fraction) -> Similarity:
        """Return who is at distance ε or less from whom."""
        if self.top is not None and epsilon > self.top:
            raise ParameterError(
                f"epsilon must be at most {float(self.top):.10g} for distance={self.name}: "
                f"{self.beyond}",
                hint="a smaller epsilon: the largest distance that counts as near",
            )
        return self._within(epsilon)

    @abstractmethod
    def _apart(self, ones: Ints, others: Ints) -> Floats:
        """Return the distances between codes of values that are not missing."""

    @abstractmethod
    def _within(self, epsilon: Fraction) -> Similarity:
        """Return who is near whom, for an ε that makes sense."""
