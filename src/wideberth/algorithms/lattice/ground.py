"""What a search works on, and what it learns of a node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.ladder import Ladder
from wideberth.algorithms.lattice.shape import Node, Shape
from wideberth.encode import Column
from wideberth.exact import Floats, Ints


@dataclass(frozen=True, eq=False)
class Ground:
    """A table, the levels of its quasi-identifiers, and what is demanded.

    Parameters
    ----------
    ladders : sequence of Ladder
        The levels of each quasi-identifier.
    demands : sequence of Demand
        What every published group must satisfy.
    limit : int
        How many rows may be suppressed.
    """

    ladders: Sequence[Ladder]
    demands: Sequence[Demand]
    limit: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.ladders[0].quasi.codes)

    @cached_property
    def shape(self) -> Shape:
        """The shape of the lattice."""
        return Shape(tuple(len(ladder) for ladder in self.ladders))

    @cached_property
    def unit(self) -> int:
        """The fewest rows that any group can have."""
        return max((demand.rule.least for demand in self.demands), default=1)

    @cached_property
    def monotone(self) -> bool:
        """Whether the nodes above an admissible one are admissible.

        Without suppression it takes monotone demands. With suppression a failing group may spoil a
        satisfying one that it is merged with, unless demands survive the addition of any rows.
        """
        rules = [demand.rule for demand in self.demands]
        return all(rule.upward or (rule.monotone and not self.limit) for rule in rules)

    def admits(self, verdict: Verdict) -> bool:
        """Tell whether a node may be published."""
        return verdict.lost <= self.limit and verdict.suppressed <= self.limit and verdict.kept > 0

    def only(self, rows: Ints, limit: int) -> Ground:
        """Return the same for some of the rows. Demands still refer to the whole table."""
        ladders = []
        for ladder in self.ladders:
            quasi = ladder.quasi
            codes = quasi.codes[rows]
            histogram = np.bincount(codes, minlength=quasi.domain.size)
            domain = replace(quasi.domain, histogram=histogram)
            ladders.append(replace(ladder, quasi=replace(quasi, codes=codes, domain=domain)))
        columns = {id(d.column): d.column for d in self.demands if d.column is not None}
        fewer = {key: Column(c.codes[rows], c.domain) for key, c in columns.items()}
        demands = [replace(d, column=fewer.get(id(d.column))) for d in self.demands]
        return Ground(ladders, demands, limit)


class Prices:
    """What values lose on each level of each quasi-identifier.

    Parameters
    ----------
    ladders : sequence of Ladder
        The quasi-identifiers.
    price : callable
        What each code of a level loses, and what more if its row is suppressed.
    """

    def __init__(
        self, ladders: Sequence[Ladder], price: Callable[[Ladder, int], tuple[float, Floats]]
    ) -> None:
        priced = [[price(ladder, rung) for rung in range(len(ladder))] for ladder in ladders]
        #: By quasi-identifier and level: the mean over all rows, if none is suppressed.
        self.means = [np.array([mean for mean, _ in levels]) for levels in priced]
        #: By quasi-identifier and level: what more each code loses when suppressed.
        self.gaps = [[gap for _, gap in levels] for levels in priced]


class Verdict(NamedTuple):
    """What is known of a node that was checked.

    Where `lost` is beyond the limit, nothing else is known.
    """

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


class Engine(Protocol):
    """Checks nodes."""

    def check(self, node: Node) -> Verdict:
        """Judge the groups of a node."""
        ...

    def sizes(self, node: Node) -> Ints:
        """Return the sizes of the groups that are kept in a node."""
        ...

    def price(self, node: Node, prices: Prices) -> Floats:
        """Return what suppressed rows cost in a node, by quasi-identifier, at other prices."""
        ...
