"""Principles for any data with a distance: (ε,δ)^k-dissimilarity, and (l,e)-diversity on trees.

Whether a group can be partitioned is NP-hard here. `feasible` is exact for small groups and for
similarity that is transitive; beyond that it answers yes only with a partition in hand, so a no
may also mean that none was found (of trees see `scattering`, which rarely misses one).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wideberth.distances import NAMES, Branches, Metric, Similarity, classes, similarity
from wideberth.encode import Domain
from wideberth.errors import ParameterError
from wideberth.exact import Bools, Floats, Ints, at_least, fraction
from wideberth.groups import Groups
from wideberth.kernels import kinds
from wideberth.kernels.kinds import Kernel
from wideberth.principles.base import Needs, Principle, Rule, parameter, register, rows
from wideberth.principles.conflicts import Conflicts
from wideberth.principles.dealing import deal
from wideberth.principles.scattering import scatter
from wideberth.principles.search import Searched


@register
@dataclass(frozen=True, kw_only=True)
class Dissimilarity(Principle):
    """Every row is farther than ε from at least δ of its group's other rows; k rows or more.

    A row that is alone has nobody to hide behind: its risk is 1, and only δ = 0 accepts it.
    """

    epsilon: float = parameter("largest distance that counts as near", low=0, stronger="higher")
    delta: float = parameter("least share of far rows", low=0, high=1, stronger="higher")
    k: int = parameter(
        "the smallest permitted group", kind="whole", low=1, default=2, stronger="higher"
    )
    distance: str | Metric = parameter(
        "how far two values are apart", kind="metric", choices=NAMES, default="auto"
    )

    name: ClassVar[str] = "dissimilarity"
    example: ClassVar[str] = "dissimilarity:epsilon=0.1,delta=0.8,k=5,distance=variational"
    title: ClassVar[str] = "(ε,δ)^k-dissimilarity"
    reference: ClassVar[str] = "Wang, Meng, Bamba, Liu, Pu 2009, Sec. III"
    protects: ClassVar[str] = (
        "Proximity for any data with a distance: a value that too much of its group is near."
    )
    does_not_protect: ClassVar[str] = (
        "Claims around a value that no row holds; the exact bound 1/m of epsilon-m, unless "
        "k >= m and δ >= (1 - 1/m) / (1 - 1/k)."
    )
    needs: ClassVar[Needs] = "distance"
    monotonicity: ClassVar[str] = (
        "Not monotone, even for equality: {a,b} and {a,b} satisfy δ = 1, {a,a,b,b} does not."
    )

    @property
    def monotone(self) -> bool:
        """No."""
        return False

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain on which the distance is defined."""
        near = similarity(domain, self.distance, fraction(self.epsilon))
        return _Dissimilar(near, domain.size, fraction(self.delta), self.k)


class _Dissimilar(Searched):
    def __init__(self, near: Similarity, width: int, delta: Fraction, k: int) -> None:
        super().__init__(near, width)
        self.delta = delta
        self.smallest = self.least = k

    def satisfies(self, groups: Groups) -> Bools:
        far = groups.sizes - self.crowd(groups)
        enough = at_least(far, self.delta, groups.sizes - 1)
        alone = groups.sizes == 1
        return np.where(alone, self.delta == 0, enough) & (groups.sizes >= self.smallest)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        others = np.maximum(groups.sizes - 1, 1)
        return {
            "delta": (groups.sizes - self.crowd(groups)) / others,
            "k": groups.sizes.astype(np.float64),
        }

    def reason(self, groups: Groups, group: int) -> str:
        near = self.crowd(groups)[group] - 1
        return f"one row is near {near:,} of the {groups.sizes[group] - 1:,} others"


@register
@dataclass(frozen=True, kw_only=True)
class LEDiversity(Principle):
    """Every group has l rows or more, any two of which are farther than e apart on the tree.

    The distance on the semantic tree is half the path between two values. Equal values are 0
    apart, so they never share a group.
    """

    l: int = parameter("the smallest permitted group", kind="whole", low=1, stronger="higher")  # noqa: E741
    e: float = parameter("distance that any two rows must exceed", low=0, stronger="higher")

    name: ClassVar[str] = "l-e"
    example: ClassVar[str] = "l-e:l=3,e=1"
    title: ClassVar[str] = "(l,e)-diversity"
    reference: ClassVar[str] = "Wang, Han, Wang, Wang 2013, Def. 3"
    protects: ClassVar[str] = (
        "Semantic similarity: gastric ulcer, dyspepsia and gastritis are three diseases, but all "
        "of them say “stomach”."
    )
    does_not_protect: ClassVar[str] = "What the tree does not know to be similar."
    needs: ClassVar[Needs] = "tree"
    monotonicity: ClassVar[str] = "Not monotone: two groups with the same value cannot be united."

    @property
    def monotone(self) -> bool:
        """No."""
        return False

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain with a semantic tree."""
        if domain.tree is None:
            raise ParameterError(
                f"l-e: '{domain.name}' has no hierarchy",
                hint="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
            )
        near = similarity(domain, "tree", fraction(self.e))
        assert isinstance(near, Branches)  # noqa: S101 - what a tree gives
        return Scattered(near, domain.size, self.l, classes(near, domain.size))


class Scattered(Searched):
    """No two rows of a group are near each other, and it has l rows or more."""

    near: Branches

    def __init__(self, near: Branches, width: int, wanted: int, buckets: Ints | None) -> None:
        super().__init__(near, width)
        self.smallest = self.least = wanted
        self.buckets = None
        if buckets is not None:  # dealt like equal values, bucket by bucket
            self.buckets = np.unique(buckets, return_inverse=True)[1].reshape(-1)
            self.kernel = Kernel(kinds.CROWD, (1, wanted, 1, 1), order=self.buckets)

    def satisfies(self, groups: Groups) -> Bools:
        """Tell which groups have l rows or more, none of them near another."""
        return (self.crowd(groups) == 1) & (groups.sizes >= self.smallest)

    def feasible(self, groups: Groups) -> Bools:
        """Tell which groups can be partitioned; without buckets, for which that was found."""
        if self.buckets is None:
            return super().feasible(groups)
        # Without a bucket of more rows than there are groups, one row of each fits into each.
        key = groups.owner * len(self.buckets) + self.buckets[groups.codes]
        where, place = np.unique(key, return_inverse=True)
        rows = np.zeros(len(where), dtype=np.int64)
        np.add.at(rows, place, groups.counts)
        fullest = np.zeros(len(groups), dtype=np.int64)
        np.maximum.at(fullest, where // len(self.buckets), rows)
        return fullest <= groups.sizes // self.smallest

    def fullest(self, codes: Ints) -> int:
        """Return how many of some rows are all similar to each other, at most.

        Each needs a group of its own, so there must be as many groups.
        """
        if self.buckets is None:
            return Conflicts(self.near, codes).fullest
        return int(np.bincount(self.buckets[codes]).max(initial=0))

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the size of each group, or 0 if two of its rows are near each other."""
        return {"l": np.where(self.crowd(groups) == 1, groups.sizes, 0).astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        """Say how many rows are near one of them, or that there are too few."""
        crowd, size = self.crowd(groups)[group], groups.sizes[group]
        if crowd == 1 and size < self.smallest:
            return f"{rows(size)}, none of them similar"
        return f"{crowd:,} of {rows(size)} similar to one of them"

    def _partition(self, codes: Ints, rng: np.random.Generator) -> Ints | None:
        if self.buckets is None:
            found = scatter(codes, self.near, self.smallest, rng, complete=True)
            return None if found.left_out else found.labels
        # Similarity is transitive: one row of each bucket at most, as for equal values.
        bucket = self.buckets[codes]
        hands = len(codes) // self.smallest
        if np.bincount(bucket).max() > hands:
            return None
        return deal(bucket, hands, rng)
