"""Checks nodes by asking the rules themselves: for principles without a compiled form, and tests.

Rows are counted once, as tuples of quasi-identifiers with histograms of sensitive values; a node
merges tuples, and the rules see what they always see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.algorithms.lattice.problem import LatticeNode, LatticeProblem, NodeResult, Prices
from wideberth.core.codes import Codes, Column, compress
from wideberth.core.exact import Bools, Floats, Ints, whole
from wideberth.core.groups import Groups, Partition, count_group_rows, roll_up


class PlainNodeChecker:
    """See `wideberth.algorithms.lattice.problem.NodeChecker`."""

    def __init__(self, ground: LatticeProblem, prices: Prices | None) -> None:
        self.ground = ground
        self.prices = prices
        tuples = node_partition(ground, ground.shape.bottom)
        first = tuples.first_rows()
        self.codes = [quasi_level.quasi.codes[first] for quasi_level in ground.quasi_levels]
        columns = dict.fromkeys([None, *(demand.column for demand in ground.demands)])
        self.counted: dict[Column | None, Groups] = {
            column: count_group_rows(tuples, column, ground.weights) for column in columns
        }

    def check(self, node: LatticeNode) -> NodeResult:
        """Judge the groups of a node."""
        ground = self.ground
        partition, sizes, fine, most = self._groups(node)
        lost = int((sizes - most).sum())
        suppressed = int(sizes[~fine].sum())
        large = whole(sizes, ground.rows**2)  # for squares
        squares = int(large @ large)
        if lost > ground.limit:
            return NodeResult(lost, groups=len(sizes), squares=squares)
        here, below = np.zeros(len(node)), np.zeros(len(node))
        if self.prices is not None:
            here = self._cost(node, self.prices, partition, np.where(fine, 0, sizes))
            below = self._cost(node, self.prices, partition, sizes - most)
        apart = (large - most) @ (ground.rows - large)
        return NodeResult(
            lost=lost,
            suppressed=suppressed,
            kept=int(fine.sum()),
            groups=len(sizes),
            squares=squares,
            squares_kept=int(large[fine] @ large[fine]),
            apart=int(apart),
            here=here,
            below=below,
        )

    def sizes(self, node: LatticeNode) -> Ints:
        """Return the sizes of the groups that are kept in a node."""
        _, sizes, fine, _ = self._groups(node)
        return sizes[fine]

    def price(self, node: LatticeNode, prices: Prices) -> Floats:
        """Return what suppressed rows cost in a node, by quasi-identifier, at other prices."""
        partition, sizes, fine, _ = self._groups(node)
        return self._cost(node, prices, partition, np.where(fine, 0, sizes))

    def _groups(self, node: LatticeNode) -> tuple[Partition, Ints, Bools, Ints]:
        """Return the groups of a node, their sizes, which satisfy, and what can be kept of each."""
        partition = group_equal_columns([x.codes[r][c] for x, r, c in self._raised(node)])
        sizes = roll_up(self.counted[None], partition).sizes
        return partition, sizes, *self._judged(partition, sizes)

    def _cost(self, node: LatticeNode, prices: Prices, partition: Partition, rows: Ints) -> Floats:
        """Add up what suppressed rows cost, given how many there are of each group."""
        one = partition.first_rows()
        costs = np.zeros(len(node))
        for i, (quasi_level, level_index, codes) in enumerate(self._raised(node)):
            costs[i] = (
                prices.gaps[i][level_index][quasi_level.codes[level_index][codes[one]]] @ rows
            )
        return costs

    def _raised(self, node: LatticeNode) -> Iterator[tuple[QuasiLevels, int, Codes]]:
        return zip(self.ground.quasi_levels, node, self.codes, strict=True)

    def _judged(self, partition: Partition, sizes: Ints) -> tuple[Bools, Ints]:
        """Return which groups satisfy all demands, and how many rows can be kept, here or below."""
        fine = np.ones(len(sizes), dtype=bool)
        most = np.where(sizes >= self.ground.unit, sizes, 0)
        for demand in self.ground.demands:
            groups = roll_up(self.counted[demand.column], partition)
            rule = demand.rule
            satisfied = rule.satisfies(groups)
            fine &= satisfied
            # What can be kept of a group is a union of groups that satisfy, which is feasible.
            if rule.upward:
                most = np.where(satisfied, most, 0)
            elif not self.ground.limit and rule.certain:
                most = np.where(rule.feasible(groups), most, 0)
        return fine, most


def node_partition(ground: LatticeProblem, node: LatticeNode) -> Partition:
    """Group the entries as a node does."""
    return group_equal_columns(
        [x.codes[r][x.quasi.codes] for x, r in zip(ground.quasi_levels, node, strict=True)]
    )


def satisfying_groups(ground: LatticeProblem, partition: Partition) -> Bools:
    """Return which groups satisfy all demands."""
    fine = np.ones(partition.count, dtype=bool)
    for demand in ground.demands:
        fine &= demand.rule.satisfies(count_group_rows(partition, demand.column, ground.weights))
    return fine


def group_equal_columns(columns: Iterable[Codes]) -> Partition:
    """Group what agrees on all columns."""
    labels, count = np.zeros(1, dtype=np.int32), 1
    for codes in columns:
        width = int(codes.max()) + 1
        key = labels.astype(np.int64) * width + codes
        present, labels = compress(key, count * width)
        count = len(present)
    return Partition(labels, count)
