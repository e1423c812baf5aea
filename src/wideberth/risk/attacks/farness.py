"""Values of any kind that lie near each other: Wang, Meng, Bamba, Liu, Pu 2009."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Floats
from wideberth.distances import Metric, space
from wideberth.principles import plain
from wideberth.risk.attacks.situations import Faced, Risk


class Farness:
    """The values near each value of a domain, by any distance.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> from wideberth.core.groups import Groups
    >>> domain = encode(pl.Series("s", [1, 2, 9])).domain
    >>> faced = Faced.known(Groups.of([[0, 1, 2], [2]], width=3))
    >>> Farness(domain, Fraction(1)).shares(faced)
    array([0.5, 0.5, 0. , 1. ])
    """

    def __init__(self, domain: Domain, epsilon: Fraction, distance: str | Metric = "auto") -> None:
        chosen = space(domain, distance)
        self.epsilon, self.near = epsilon, chosen.within(epsilon)
        self.distance = chosen.name

    def shares(self, faced: Faced) -> Floats:
        """Return, for each class of victims, the share of the other rows that are near theirs."""
        # Of a row that is alone it is 1. If the victim's own row is not among those faced, all of
        # these are others.
        filled = faced.filled()
        near = filled.of_own(self.near.crowd(filled.groups))
        itself = faced.own > 0
        others = faced.sizes - itself
        return np.where(others > 0, (near - itself) / np.maximum(others, 1), 1.0)

    def on(self, faced: Faced) -> Risk:
        """Look at all histograms."""
        return Risk.of(self.shares(faced), faced.people)

    def to_dict(self, risk: Risk) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"epsilon": plain(self.epsilon), "distance": self.distance, **risk.to_dict()}
