"""Checks nodes by compiled kernels: rows are counted once, then tables come from finer tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.problem import LatticeNode, LatticeProblem, NodeResult, Prices
from wideberth.core.codes import Column, Domain
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition, count_group_rows
from wideberth.errors import ParameterError
from wideberth.kernels import cache, group_tests, kinds, lattice_judge, lattice_rollup

#: Bits of a word of a key.
_WORD = 63
#: With more sensitive values than that, histograms are lists.
_FEW = 64
#: Room for so many times the groups of the first table.
_TIMES = 64
#: Tests of which it is known how much of a failing group can be kept.
_EASED = (kinds.CROWD, kinds.ENTROPY, kinds.RECURSIVE, kinds.EQUAL_CLOSENESS, kinds.TREE)


class CompiledNodeChecker:
    """See `wideberth.algorithms.lattice.problem.NodeChecker`."""

    def __init__(self, ground: LatticeProblem, prices: Prices | None, memory: int) -> None:
        tests = any(demand.column is not None for demand in ground.demands)
        cache.warm_for_lattice(tests=tests)
        self.ground = ground
        self.fields = _fields([quasi_level.width(0) for quasi_level in ground.quasi_levels])
        self.pool = self._pool(memory)
        self.node = np.zeros(len(ground.quasi_levels), np.int16)
        self.lattice_tests = self._court()
        self.suppression_costs = self._bill(prices)

    def check(self, node: LatticeNode) -> NodeResult:
        """Judge the groups of a node."""
        table = self._judged(node)
        suppression_costs = self.suppression_costs
        if suppression_costs.totals[lattice_judge.LOST] <= self.ground.limit:
            lattice_judge.weigh_suppression(
                self.node, table, self.pool, self.layout, self.lattice_tests, suppression_costs
            )
        lost, suppressed, kept, groups, squares, squares_kept, apart = (
            suppression_costs.totals.tolist()
        )
        if lost > self.ground.limit:
            return NodeResult(lost, groups=groups, squares=squares)
        here, below = suppression_costs.costs.copy()
        return NodeResult(lost, suppressed, kept, groups, squares, squares_kept, apart, here, below)

    def sizes(self, node: LatticeNode) -> Ints:
        """Return the sizes of the groups that are kept in a node."""
        begin, many = self.pool.spans[self._judged(node)]
        sizes = self.pool.sizes[begin : begin + many]
        kept: Ints = sizes[self.suppression_costs.fine[:many] != 0].astype(np.int64)
        return kept

    def price(self, node: LatticeNode, prices: Prices) -> Floats:
        """Return what suppressed rows cost in a node, by quasi-identifier, at other prices."""
        table = self._judged(node)
        suppression_costs = self.suppression_costs._replace(**self._priced(prices))
        lattice_judge.weigh_suppression(
            self.node, table, self.pool, self.layout, self.lattice_tests, suppression_costs
        )
        costs: Floats = suppression_costs.costs[0].copy()
        return costs

    def _judged(self, node: LatticeNode) -> int:
        """Judge a node as far as it takes; return which is its table."""
        self.node[:] = node
        pool, lattice_tests, suppression_costs = (
            self.pool,
            self.lattice_tests,
            self.suppression_costs,
        )
        table = lattice_judge.reach_node(
            self.node, pool, self.layout, self.room, lattice_tests, suppression_costs
        )
        if (
            len(lattice_tests.tests)
            and suppression_costs.totals[lattice_judge.LOST] <= lattice_tests.limit
        ):
            lattice_judge.judge_node_groups(table, pool, lattice_tests, suppression_costs)
        return table

    # ---- sensitive values

    @cached_property
    def attributes(self) -> list[tuple[Column, list[Demand]]]:
        """The sensitive attributes that matter, each with its demands."""
        # An attribute whose values are looked at by classes is another one, of classes.
        found: dict[tuple[int, int], tuple[Column, list[Demand]]] = {}
        for demand in self.ground.demands:
            column, kernel = demand.column, demand.rule.kernel
            if column is not None:
                order = None if kernel is None else kernel.order
                key = id(column), id(order)
                if key not in found:
                    found[key] = (column if order is None else _classed(column, order)), []
                found[key][1].append(demand)
        return list(found.values())

    @cached_property
    def offsets(self) -> list[int]:
        """Where the values of each attribute begin in a histogram; at last, its width."""
        widths = [column.domain.size for column, _ in self.attributes]
        return np.cumsum([0, *widths]).tolist()

    def _court(self) -> lattice_judge.LatticeTests:
        lines, eased, tables, offset = [], [], [np.zeros(0, np.int64)], 0
        for (column, demands), begin in zip(self.attributes, self.offsets, strict=False):
            width = column.domain.size
            for demand in demands:
                kernel = demand.rule.kernel
                assert kernel is not None  # noqa: S101 - `compilable` has seen to it
                table = kernel.table.astype(np.int64)
                if kernel.kind == kinds.CROWD and not len(table):
                    table = np.arange(width)  # each value is similar to itself alone
                line = np.zeros(group_tests.COLUMNS, np.int64)
                line[: group_tests.NUMBERS] = kernel.kind, begin, width, offset
                line[group_tests.NUMBERS :][: len(kernel.numbers)] = kernel.numbers
                lines.append(line)
                eased.append(self._eased(demand, line))
                tables.append(table)
                offset += len(table)
        shape = len(lines), group_tests.COLUMNS
        tests = np.array(lines, np.int64).reshape(shape)
        judge = group_tests.GroupTests(1, 0, 0, 0, 0, 1, tests, tables[0])
        return lattice_judge.LatticeTests(
            unit=self.ground.unit,
            limit=self.ground.limit,
            rows=self.ground.rows,
            tests=tests,
            tables=np.concatenate(tables),
            eased=np.array(eased, np.int64).reshape(shape),
            test_buffers=group_tests.make_test_buffers(1, judge),
        )

    def _eased(self, demand: Demand, line: Any) -> Any:
        """Return the test of what can be kept of a group that fails."""
        eased = line.copy()
        kind = int(line[group_tests.KIND])
        if demand.rule.upward or not self.ground.limit:
            eased[group_tests.KIND] = lattice_judge.NOTHING
        elif kind not in _EASED:
            eased[group_tests.KIND] = lattice_judge.ALL
        elif kind == kinds.RECURSIVE:
            eased[group_tests.NUMBERS + 5] = 0  # without required values, more can be kept
        return eased

    # ---- quasi-identifiers

    @cached_property
    def layout(self) -> lattice_rollup.KeyLayout:
        """Where quasi-identifiers are in a key, and what raises them."""
        quasi_levels = self.ground.quasi_levels
        levels = max(map(len, quasi_levels))
        at = np.zeros((len(quasi_levels), levels, levels), np.int64)
        crowding = np.ones((len(quasi_levels), levels))
        deltas, end = [], 0
        for i, (quasi_level, (_, shift, _)) in enumerate(
            zip(quasi_levels, self.fields, strict=True)
        ):
            change, begins = quasi_level.changes
            at[i, : len(quasi_level), : len(quasi_level)] = begins + end
            crowding[i, : len(quasi_level)] = quasi_level.crowding
            deltas.append(change << shift)
            end += len(change)
        return lattice_rollup.KeyLayout(np.array(self.fields), np.concatenate(deltas), at, crowding)

    def _priced(self, prices: Prices | None) -> dict[str, Any]:
        quasi_levels = self.ground.quasi_levels
        gaps = [
            [np.zeros(quasi_level.width(r)) for r in range(len(quasi_level))]
            for quasi_level in quasi_levels
        ]
        if prices is not None:
            gaps = prices.gaps
        at = np.zeros((len(quasi_levels), max(map(len, quasi_levels))), np.int64)
        end = 0
        for line, levels in zip(at, gaps, strict=True):
            for level, gap in enumerate(levels):
                line[level] = end
                end += len(gap)
        return {"prices": np.concatenate([gap for levels in gaps for gap in levels]), "at": at}

    def _bill(self, prices: Prices | None) -> lattice_judge.SuppressionCosts:
        groups = int(self.pool.spans[0, lattice_rollup.MANY])
        return lattice_judge.SuppressionCosts(
            **self._priced(prices),
            fine=np.empty(groups, np.uint8),
            most=np.empty(groups, np.int32),
            bad=np.empty(groups + 1, np.int32),
            costs=np.zeros((2, len(self.fields))),
            totals=np.zeros(7, np.int64),
        )

    # ---- tables

    def _pool(self, memory: int) -> lattice_rollup.TablePool:
        """Count the rows, and reserve memory for more tables."""
        entries, width = self.ground.entries, self.offsets[-1]
        weights = self._weights()
        keys = self._keys()
        words, axes = len(keys), len(self.fields)
        room = lattice_rollup.make_rollup_buffers(entries, words, width, axes)
        first = lattice_rollup.make_table_pool(entries, words, axes)
        groups = int(lattice_rollup.count_keys(keys, weights, entries, first, room))
        label = room.label
        lists = self._lists(label, groups) if width > _FEW else None
        cells = len(lists[1]) if lists else 0
        lines = 0 if lists else width
        bytes_each = 8 * words + 4 + 4 * lines + (4 if lists else 0)
        once = groups * bytes_each + 8 * cells
        if 2 * once > memory:
            raise ParameterError(
                f"max_memory: two tables of this lattice take {-(-2 * once // 2**20):,} MB",
                hint=f"max_memory = {-(-4 * once // 2**20)}",
            )
        times = min(memory // once, _TIMES, (2**31 - 1) // max(cells, 1))
        pool = lattice_rollup.make_table_pool(groups * times, words, axes, lines, cells * times)
        pool.keys[:, :groups] = first.keys[:, :groups]
        pool.sizes[:groups] = first.sizes[:groups]
        if lists:
            for whole, part in zip((pool.start, pool.codes, pool.counts), lists, strict=True):
                whole[: len(part)] = part
        elif width:
            pool.lines[:groups] = 0
            for (column, _), offset in zip(self.attributes, self.offsets, strict=False):
                lattice_rollup.count_values(label, column.codes, weights, offset, pool.lines)
        pool.spans[0] = 0, groups
        pool.state[:] = 1, groups, cells, 0
        self.room = lattice_rollup.make_rollup_buffers(groups, words, width, axes)
        return pool

    def _weights(self) -> Any:
        """Return the weights as kernels know them: a copy, for they may be of any type."""
        weights = self.ground.weights
        return np.zeros(0, np.int64) if weights is None else np.array(weights, np.int64)

    def _keys(self) -> Any:
        """Pack the entries' quasi-identifiers."""
        words = 1 + max(word for word, _, _ in self.fields)
        keys = np.zeros((words, self.ground.entries), np.int64)
        for quasi_level, (word, shift, _) in zip(
            self.ground.quasi_levels, self.fields, strict=True
        ):
            # Not the quasi-identifier's own codes: these follow the order of numbers.
            codes = quasi_level.codes[0][quasi_level.quasi.codes]
            keys[word] |= np.left_shift(codes, shift, dtype=np.int64)
        return keys

    def _lists(self, label: Any, groups: int) -> tuple[Any, Any, Any]:
        """Count the values of all attributes in each group: starts, values, counts."""
        owners, codes, counts = [], [], []
        for (column, _), offset in zip(self.attributes, self.offsets, strict=False):
            found = count_group_rows(Partition(label, groups), column, self.ground.weights)
            owners.append(found.owner)
            codes.append(found.codes + offset)
            counts.append(found.counts)
        owner = np.concatenate(owners)
        order = np.argsort(owner, kind="stable")  # attribute by attribute within a group
        start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=groups))))
        return start, np.concatenate(codes)[order], np.concatenate(counts)[order]


def _classed(column: Column, order: Ints) -> Column:
    """Return a column of classes instead of values."""
    width = int(order.max()) + 1
    histogram = np.bincount(order, column.domain.histogram, width).astype(np.int64)
    domain = Domain(name=column.domain.name, histogram=histogram)
    return Column(order[column.codes].astype(np.int32), domain)


def _fields(widths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Give every quasi-identifier a place in the words of a key: word, shift and mask.

    >>> _fields([4, 100, 2])
    [(0, 0, 3), (0, 2, 127), (0, 9, 1)]
    """
    fields, word, shift = [], 0, 0
    for width in widths:
        bits = max(width - 1, 1).bit_length()
        if shift + bits > _WORD:
            word, shift = word + 1, 0
        fields.append((word, shift, (1 << bits) - 1))
        shift += bits
    return fields
