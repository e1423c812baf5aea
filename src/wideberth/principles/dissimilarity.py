"""Principles for any data with a distance: (ε,δ)^k-dissimilarity, and (l,e)-diversity on trees.

Whether a group can be partitioned is NP-hard here. `feasible` is exact for small groups and for
similarity that is transitive; beyond that it answers yes only with a partition in hand, so a no
may also mean that none was found (for trees, `partition.tree_conflicts` rarely misses one).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, at_least, fraction
from wideberth.core.groups import Groups
from wideberth.distances import (
    DISTANCE_NAMES,
    DistanceFunction,
    Similarity,
    TreeSimilarity,
    Windows,
    classes,
    similarity,
)
from wideberth.errors import ParameterError, what_to_type
from wideberth.principles.allowance import AllowedValues, allowed_values, allowed_values_of
from wideberth.principles.base import Needs, Principle, Rule, parameter, register, rows_in_words
from wideberth.principles.partition.caps import LinearOrder, SearchedRule
from wideberth.principles.partition.decide import PartitionAnswer, Witness
from wideberth.principles.partition.swap import NeighborCap
from wideberth.principles.partition.tree_conflicts import TreeConflicts, group_dissimilar


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
    distance: str | DistanceFunction = parameter(
        "how far two values are apart", kind="metric", choices=DISTANCE_NAMES, default="auto"
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
        return self.over(similarity(domain, self.distance, fraction(self.epsilon)), domain.size)

    def over(self, near: Similarity, width: int) -> DissimilarityRule:
        """Bind to a domain of so many codes of which it is known who is near whom."""
        delta = fraction(self.delta)
        line = None
        if delta == 1:  # no two similar rows: easy, if these lie side by side
            if isinstance(near, Windows):
                line = LinearOrder(np.arange(width), near.last)
            elif isinstance(near, TreeSimilarity):
                buckets = classes(near, width)
                line = None if buckets is None else in_buckets(buckets)
        return DissimilarityRule(near, width, delta, self.k, line)


class DissimilarityRule(SearchedRule):
    """Every row is far from at least a share of its group's others."""

    def __init__(
        self, near: Similarity, width: int, delta: Fraction, k: int, line: LinearOrder | None
    ) -> None:
        # A row that is alone has nobody to be far from.
        super().__init__(near, width, NeighborCap.of_share(delta), max(k, 2) if delta else k, line)
        self.delta = delta

    def satisfies(self, groups: Groups) -> Bools:
        """Return which groups are large enough, every row of them far from enough others."""
        far = groups.sizes - self.crowd(groups)
        return at_least(far, self.delta, groups.sizes - 1) & (groups.sizes >= self.smallest)

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the share of far rows, and the size, of each group."""
        others = np.maximum(groups.sizes - 1, 1)
        return {
            "delta": (groups.sizes - self.crowd(groups)) / others,
            "k": groups.sizes.astype(np.float64),
        }

    def reason(self, groups: Groups, group: int) -> str:
        """Return in words how many rows are near one of them."""
        near = self.crowd(groups)[group] - 1
        return f"one row is near {near:,} of the {groups.sizes[group] - 1:,} others"


@register
@dataclass(frozen=True, kw_only=True)
class LEDiversity(Principle):
    """Every group has l rows or more, any two of which are farther than e apart on the tree.

    The distance on the semantic tree is half the path between two values. Equal values are 0
    apart, so they never share a group. With `allowed`, values that need no protection are far from
    every row, also from each other and from equal ones.
    """

    l: int = parameter("the smallest permitted group", kind="whole", low=1, stronger="higher")  # noqa: E741
    e: float = parameter("distance that any two rows must exceed", low=0, stronger="higher")
    allowed: tuple[object, ...] = allowed_values()

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
                hint=what_to_type(
                    python='hierarchies={"column": "tree.csv"}',
                    command="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
                ),
            )
        near = similarity(domain, "tree", fraction(self.e))
        assert isinstance(near, TreeSimilarity)  # noqa: S101 - what a tree gives
        buckets, allowed = classes(near, domain.size), allowed_values_of(domain, self.allowed)
        return LEDiversityRule(near, domain.size, self.l, buckets, allowed)


class LEDiversityRule(SearchedRule):
    """No two rows of a group are near each other, and it has l rows or more."""

    near: TreeSimilarity

    def __init__(
        self,
        near: TreeSimilarity,
        width: int,
        wanted: int,
        buckets: Ints | None,
        allowed: AllowedValues | None = None,
    ) -> None:
        line = None if buckets is None else in_buckets(buckets, allowed)
        super().__init__(near, width, NeighborCap.of_share(Fraction(1)), wanted, line, allowed)

    def fullest(self, codes: Ints) -> int:
        """Return how many of some rows are all similar to each other, at most."""
        # Each needs a group of its own, so there must be as many groups.
        if self.allowance is not None:
            codes = codes[~self.allowance.codes[codes]]
        if self.line is None:
            return TreeConflicts(self.near, codes).fullest if len(codes) else 0
        return int(np.bincount(self.line.place[codes]).max(initial=0))

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the size of each group, or 0 if two of its rows are near each other."""
        return {"l": np.where(self.crowd(groups) <= 1, groups.sizes, 0).astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        """Return in words how many rows are near one of them, or that there are too few."""
        crowd, size = self.crowd(groups)[group], groups.sizes[group]
        if crowd <= 1 and size < self.smallest:
            return f"{rows_in_words(size)}, none of them similar"
        return f"{crowd:,} of {rows_in_words(size)} similar to one of them"

    def answer(self, codes: Ints, *, exact: bool = True) -> PartitionAnswer:
        """Return whether rows can be partitioned; a tree tells its largest crowds exactly."""
        if self.line is not None or not len(codes):
            return super().answer(codes, exact=exact)
        fullest = self.fullest(codes)
        if fullest > len(codes) // self.smallest:
            return PartitionAnswer.no(Witness("clique", fullest, len(codes) // self.smallest))
        if self.allowance is not None:  # similar to nothing, so they are on no tree
            return super().answer(codes, exact=exact)
        rng = np.random.default_rng(0)  # picks among equal rows, which the caller has shuffled
        found = group_dissimilar(codes, self.near, self.smallest, rng, complete=True)
        return (
            super().answer(codes, exact=exact)
            if found.left_out
            else PartitionAnswer.of(found.labels)
        )


def in_buckets(buckets: Ints, allowed: AllowedValues | None = None) -> LinearOrder:
    """Put the codes on a line, those of a bucket at one place, allowed ones last, in no reach."""
    if allowed is None:
        place = np.unique(buckets, return_inverse=True)[1].reshape(-1)
        return LinearOrder(place, np.arange(int(place.max(initial=-1)) + 1))
    found, at = np.unique(buckets[allowed.guarded], return_inverse=True)
    place = np.full(len(buckets), len(found), dtype=np.int64)
    place[allowed.guarded] = at.reshape(-1)
    return LinearOrder(place, np.append(np.arange(len(found)), len(found) - 1))
