"""What a search works on, and what it learns of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.core.codes import Column
from wideberth.core.exact import Floats, Ints

# -----------------------------------------------------------------------------
# The lattice as an array with an axis for each quasi-identifier.
#
# A node is one level per quasi-identifier. What is no coarser than a node, or no finer, is then a
# box: a slice of the array.


LatticeNode: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """How many levels each quasi-identifier has.

    >>> shape = Shape((2, 3))
    >>> tags = np.zeros(shape.dims, int)
    >>> tags[shape.below((1, 1))] = 1
    >>> tags[shape.above((1, 1))] += 2
    >>> tags.tolist()
    [[1, 1, 0], [1, 3, 2]]
    """

    dims: tuple[int, ...]

    @property
    def top(self) -> LatticeNode:
        """The coarsest node."""
        return tuple(levels - 1 for levels in self.dims)

    @property
    def bottom(self) -> LatticeNode:
        """The finest node."""
        return (0,) * len(self.dims)

    @cached_property
    def nodes(self) -> int:
        """How many nodes there are."""
        return prod(self.dims)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far the next level of each quasi-identifier is, counting nodes in a row."""
        return tuple(prod(self.dims[i + 1 :]) for i in range(len(self.dims)))

    def node(self, index: int) -> LatticeNode:
        """Return the node at a place in the row of all nodes."""
        return tuple(
            index // step % many for step, many in zip(self.strides, self.dims, strict=True)
        )

    def index(self, node: LatticeNode) -> int:
        """Return a node's place in the row of all nodes."""
        return sum(level * step for level, step in zip(node, self.strides, strict=True))

    def below(self, node: LatticeNode) -> tuple[slice, ...]:
        """Return the nodes that are no coarser in any quasi-identifier."""
        return tuple([slice(level + 1) for level in node])

    def above(self, node: LatticeNode) -> tuple[slice, ...]:
        """Return the nodes that are no finer in any quasi-identifier."""
        return tuple([slice(level, None) for level in node])

    @cached_property
    def heights(self) -> Ints:
        """The sum of the levels of each node."""
        return outer_sum([np.arange(levels) for levels in self.dims])


def outer_sum(terms: list[Any]) -> Any:
    """Add up terms that depend on one axis each, for all combinations.

    >>> outer_sum([np.array([0, 10]), np.array([1, 2, 3])]).tolist()
    [[1, 2, 3], [11, 12, 13]]
    """
    total = terms[0]
    for term in terms[1:]:
        total = np.add.outer(total, term)
    return total


# -----------------------------------------------------------------------------
# What a search works on, and what it learns of a node.


@dataclass(frozen=True, eq=False)
class LatticeProblem:
    """A table, the levels of its quasi-identifiers, and what is demanded."""

    # Codes, of quasi-identifiers and sensitive attributes alike, may be given as their distinct
    # tuples. Such an entry stands for several rows; whatever is found is the same.
    quasi_levels: Sequence[QuasiLevels]
    demands: Sequence[Demand]  # on every published group
    limit: int  # how many rows may be suppressed
    weights: Ints | None = None  # how many rows each entry stands for; None: one

    def __post_init__(self) -> None:
        """Refuse weights and histograms that do not belong together."""
        # Principles are bound to histograms. One that counts entries would weaken them silently.
        if self.weights is None:
            return
        if len(self.weights) != self.entries or (self.weights < 1).any():
            raise ValueError("there must be a weight for each entry, and none below 1")
        if any(quasi_level.rows != self.rows for quasi_level in self.quasi_levels):
            raise ValueError("the histogram of a quasi-identifier does not count the rows")
        columns = [demand.column for demand in self.demands if demand.column is not None]
        if any(column.domain.histogram.sum() < self.rows for column in columns):
            raise ValueError("the histogram of a sensitive attribute does not count the rows")

    @property
    def entries(self) -> int:
        """The number of entries: codes of each quasi-identifier."""
        return len(self.quasi_levels[0].quasi.codes)

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return self.entries if self.weights is None else int(self.weights.sum())

    def rows_of(self, entries: Ints) -> int:
        """Return how many rows some entries stand for."""
        return len(entries) if self.weights is None else int(self.weights[entries].sum())

    @cached_property
    def shape(self) -> Shape:
        """The shape of the lattice."""
        return Shape(tuple(len(quasi_level) for quasi_level in self.quasi_levels))

    @cached_property
    def unit(self) -> int:
        """The fewest rows that any group can have."""
        return max((demand.rule.least for demand in self.demands), default=1)

    @cached_property
    def monotone(self) -> bool:
        """Whether the nodes above an admissible one are admissible."""
        # Without suppression it takes monotone demands. With suppression a failing group may spoil
        # a satisfying one that it is merged with, unless demands survive the addition of any rows.
        rules = [demand.rule for demand in self.demands]
        return all(rule.upward or (rule.monotone and not self.limit) for rule in rules)

    def admits(self, verdict: NodeResult) -> bool:
        """Return whether a node may be published."""
        return verdict.lost <= self.limit and verdict.suppressed <= self.limit and verdict.kept > 0

    def only(self, entries: Ints, limit: int | None = None) -> LatticeProblem:
        """Return the ground of some entries alone; demands still refer to the whole table."""
        weights = None if self.weights is None else self.weights[entries]
        quasi_levels = []
        for quasi_level in self.quasi_levels:
            quasi = quasi_level.quasi
            codes = quasi.codes[entries]
            histogram = np.bincount(codes, weights, quasi.domain.size).astype(np.int64)
            domain = replace(quasi.domain, histogram=histogram)
            quasi_levels.append(
                replace(quasi_level, quasi=replace(quasi, codes=codes, domain=domain))
            )
        columns = {id(d.column): d.column for d in self.demands if d.column is not None}
        fewer = {key: Column(c.codes[entries], c.domain) for key, c in columns.items()}
        demands = [replace(d, column=fewer.get(id(d.column))) for d in self.demands]
        most = self.rows_of(entries) if limit is None else limit
        return LatticeProblem(quasi_levels, demands, most, weights)


class Prices:
    """What values lose on each level of each quasi-identifier."""

    def __init__(
        self,
        quasi_levels: Sequence[QuasiLevels],
        price: Callable[[QuasiLevels, int], tuple[float, Floats]],
    ) -> None:
        priced = [
            [price(quasi_level, level_index) for level_index in range(len(quasi_level))]
            for quasi_level in quasi_levels
        ]
        #: By quasi-identifier and level: the mean over all rows, if none is suppressed.
        self.means = [np.array([mean for mean, _ in levels]) for levels in priced]
        #: By quasi-identifier and level: what more each code loses when suppressed.
        self.gaps = [[gap for _, gap in levels] for levels in priced]


class NodeResult(NamedTuple):
    """What is known of a node that was checked."""

    # Where `lost` is beyond the limit, nothing else is known.
    #: Rows that neither this node nor any finer one can keep, at least.
    lost: int
    #: Rows of groups that fail.
    suppressed: int = 0
    #: How many groups are kept, and how many there are.
    kept: int = 0
    groups: int = 0
    #: The sum of the squares of all sizes, and of those that are kept.
    squares: int = 0
    squares_kept: int = 0
    #: What the lost rows will add to the squares of any finer node, at least.
    apart: int = 0
    #: By quasi-identifier: what suppressed rows cost here, and lost ones in any finer node.
    here: Floats = np.zeros(0)
    below: Floats = np.zeros(0)


class NodeChecker(Protocol):
    """What checks nodes."""

    def check(self, node: LatticeNode) -> NodeResult:
        """Judge the groups of a node."""
        ...

    def sizes(self, node: LatticeNode) -> Ints:
        """Return the sizes of the groups that are kept in a node."""
        ...

    def price(self, node: LatticeNode, prices: Prices) -> Floats:
        """Return what suppressed rows cost in a node, by quasi-identifier, at other prices."""
        ...
