"""The fast engine: kernels without the interpreter's lock, on all cores.

Nodes are tasks on a heap, the largest first; a large one is cut but once, so that its halves can be
shared. A node's subtree depends on its own rows alone, so the result does not depend on the number
of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from wideberth.algorithms.mondrian.arrangement import (
    BeamSettings,
    GroupBoxes,
    Leaves,
    Pools,
    SplitProblem,
    exchange_between_leaves,
)
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition
from wideberth.core.threads import WorkItem, cores, run_work_items
from wideberth.hierarchy.quasi import Quasi
from wideberth.kernels import equal_groups, group_tests, kinds, refine, sort, splits
from wideberth.kernels.cache import warm

#: Told how many rows are settled.
Settled: TypeAlias = Callable[[int], None]

#: Nodes with more rows are cut once, so that threads can share them, and Ctrl-C is heard.
_LARGE = 1 << 17


class CompiledSplitter:
    """See `wideberth.algorithms.mondrian.arrangement.Splitter`."""

    def __init__(self, task: SplitProblem, threads: int | None, settled: Settled) -> None:
        self.task = task
        self.threads = threads or cores()
        self.settled = settled
        self.spans = [quasi.domain.size for quasi in task.quasis]
        self.kind: Any = np.uint16 if max(self.spans) <= 2**16 else np.int32

    # ---- what the kernels are told

    @cached_property
    def judge(self) -> group_tests.GroupTests:
        """All demands in one."""
        lines, tables, offset = [], [np.zeros(0, np.int64)], 0
        p = q = dealt = alone = 0
        for index, (demand, attribute) in enumerate(self.tested):
            kernel = demand.rule.kernel
            assert kernel is not None  # noqa: S101 - `compilable` has seen to it
            width = self.width(demand)
            table = kernel.table
            if kernel.kind == kinds.CROWD and not len(table):
                table = np.tile(np.arange(width), 3)  # each value is similar to itself alone
            if index == 0 and kernel.kind == kinds.CROWD:
                p, q, dealt, alone = kernel.numbers
                table = table[width:] if dealt else table[:0]  # `limits` hold the reach
            elif kernel.kind == kinds.APART:  # not monotone, so it is the first
                (p, alone, q), dealt = kernel.numbers, kinds.BY_NEARNESS
            else:
                line = np.zeros(group_tests.COLUMNS, np.int64)
                line[: group_tests.NUMBERS] = kernel.kind, attribute, width, offset
                line[group_tests.NUMBERS :][: len(kernel.numbers)] = kernel.numbers
                lines.append(line)
            tables.append(table.astype(np.int64))
            offset += len(table)
        tests = np.array(lines, np.int64).reshape(len(lines), group_tests.COLUMNS)
        return group_tests.GroupTests(
            self.task.unit, p, q, dealt, alone, self.task.leading[1], tests, np.concatenate(tables)
        )

    @cached_property
    def tested(self) -> list[tuple[Any, int]]:
        """The demands on sensitive values, each with its attribute, those of one side by side."""
        # A column looked at by classes of its values is another attribute than the column itself.
        seen = [(d.column, d.rule.kernel and d.rule.kernel.order) for d in self.task.guarded]
        views = list(dict.fromkeys((id(column), id(order)) for column, order in seen))
        numbers = [views.index((id(column), id(order))) for column, order in seen]
        numbered = list(zip(self.task.guarded, numbers, strict=True))
        return sorted(numbered, key=lambda pair: pair[1])  # stable: the leading one stays first

    def width(self, demand: Any) -> int:
        """Return how many values a demand tells apart."""
        kernel = demand.rule.kernel
        if kernel.order is not None:
            return int(kernel.order.max()) + 1
        width: int = demand.column.domain.size
        return width

    @cached_property
    def matrix(self) -> Any:
        """The quasi-identifiers of each rank."""
        matrix = np.empty((self.task.rows, len(self.spans)), self.kind)
        for a, quasi in enumerate(self.task.quasis):
            matrix[:, a] = quasi.codes[self.task.order]
        return matrix

    def limits(self, out: Any) -> None:
        """Fill in the last rank within reach of each rank."""
        if not self.judge.q or self.task.apart:
            out[:] = 0
            return
        kernel = self.task.guarded[0].rule.kernel
        assert kernel is not None  # noqa: S101 - as above
        begins = self.task.begins
        width = len(begins) - 1
        reach = kernel.table[:width] if len(kernel.table) else np.arange(width)
        # What reaches nothing comes after all else, or else begins at rank 0.
        last = (np.maximum(begins[reach + 1], 1) - 1).astype(np.uint32)
        # Some values at a time: a large table leaves no room for a copy.
        edges = np.searchsorted(begins, np.arange(_LARGE, self.task.rows, _LARGE))
        for a, b in pairwise(dict.fromkeys([0, *edges.tolist(), width])):
            out[begins[a] : begins[b]] = np.repeat(last[a:b], np.diff(begins[a : b + 1]))

    @cached_property
    def sensitive(self) -> Any:
        """The sensitive values of each rank, a line for each attribute."""
        if not self.task.looks_up:
            return np.zeros((1, 1), np.int32)
        lines = {}
        for demand, attribute in self.tested:
            codes = demand.column.codes
            kernel = demand.rule.kernel
            if kernel.order is not None:
                codes = kernel.order[codes]
            lines[attribute] = codes[self.task.order].astype(np.int32)
        return np.ascontiguousarray(np.stack([lines[i] for i in sorted(lines)]))

    def test_buffers(self, rows: int) -> Any:
        """Make room for judging up to `rows` rows."""
        test_buffers = group_tests.make_test_buffers(rows if self.task.looks_up else 1, self.judge)
        if not self.task.apart:
            return test_buffers
        more = max(equal_groups.part_buffer_length(rows, self.task.unit), test_buffers.shape[1])
        return np.zeros((equal_groups.SHORT + 1, more), np.int64)

    @property
    def hands(self) -> Any:
        """The kernel that returns into how many groups rows are dealt."""
        return (
            equal_groups.part_count_kernel()
            if self.task.apart
            else group_tests.group_count_kernel(self.task.looks_up)
        )

    # ---- the work

    def prepare(self, cuts: str) -> None:
        """Compile the kernels, unless an earlier run has."""
        warm(self.kind, self.task.kernels(cuts))

    def cut(self, *, paper: bool, block: int) -> Leaves:
        """Cut the table at values."""
        cutter = _Cutter(self, paper, block)
        low = np.zeros(len(self.spans), np.int32)
        high = np.array(self.spans, np.int32) - 1
        run_work_items(
            [WorkItem(self.task.rows, partial(cutter, 0, self.task.rows, 0, low, high))],
            self.threads,
        )
        return _closed_up(cutter.leaves, cutter.front.codes)

    def gather(self, codes: Any) -> None:
        """Bring the quasi-identifiers into the order of the ranks."""
        edges = np.linspace(0, self.task.rows, self.threads + 1).astype(int).tolist()
        order = self.task.order  # made here, not by each thread
        for a, quasi in enumerate(self.task.quasis):  # one by one, for the cache's sake

            def some(first: int, last: int, a: int = a, quasi: Quasi = quasi) -> None:
                here = slice(first, last)
                sort.gather(quasi.codes, order[here], codes[a, here])

            run_work_items(
                (WorkItem(1, partial(some, *ends)) for ends in pairwise(edges)), self.threads
            )

    def solve(self, leaves: Leaves, pools: Pools, style: BeamSettings) -> tuple[Leaves, float]:
        """Pool leaves and take them apart at ranks."""
        rows = pools.rows(leaves)
        target = np.cumsum(rows) - rows
        new = _empty(self.task.rows, self.task.rows // self.task.unit + 1)
        old = refine.LeafArrays(leaves.ranks, leaves.sizes, leaves.hands)
        how = refine.BeamParameters(style.beam, style.narrow, style.wide, int(style.thrifty))
        hands, solve = self.hands, refine.solver()
        solve_pools = refine.pools_for(self.kind)
        limits = np.empty(self.task.rows, np.uint32)
        self.limits(limits)
        matrix, ties = self.matrix, self.task.ties  # made here, not by each thread
        gains: list[float] = []
        widest = int(rows.max(initial=1))

        def some(first: int, last: int) -> None:
            block, room = refine.make_pool_buffers(int(rows[first:last].max()), len(self.spans))
            gains.append(
                solve_pools(
                    hands, solve, old, leaves.begins, pools.leaves,
                    pools.begins,
                    first, last, target, limits, ties, matrix,
                    self.task.places, how,
                    self.sensitive, self.judge, self.test_buffers(widest), block, room, new,
                )
            )  # fmt: skip
            self.settled(int(rows[first:last].sum()))

        run_work_items(_shared(some, rows), self.threads)
        return _closed_up(new), sum(gains)

    def exchange(self, leaves: Leaves, near: Ints) -> tuple[Leaves, int]:
        """Move and swap rows between near leaves."""
        at = np.stack([line[self.matrix[:, a]] for a, line in enumerate(self.task.places)], axis=1)
        return exchange_between_leaves(leaves, near, at, self.task.unit, refine.exchange_rows)

    def centres(self, leaves: Leaves) -> Floats:
        """Return the middle of each leaf's box."""
        middles = []
        for a, line in enumerate(self.task.places):
            at = line[self.matrix[leaves.ranks, a]]
            low = np.minimum.reduceat(at, leaves.begins)
            middles.append((low + np.maximum.reduceat(at, leaves.begins)) / 2)
        return np.stack(middles, axis=1)

    def deal(self, leaves: Leaves) -> tuple[Partition, GroupBoxes]:
        """Deal the rows of each leaf to its groups; also return their boxes."""
        groups = leaves.groups
        first = np.cumsum(groups) - groups
        many = int(groups.sum())
        labels = np.empty(self.task.rows, np.int32)
        boxes = np.empty((2, many, len(self.spans)), self.kind)
        old = refine.LeafArrays(leaves.ranks, leaves.sizes, leaves.hands)
        codes = leaves.codes
        if codes is None:
            codes = np.stack([column[leaves.ranks] for column in self.matrix.T])

        def some(a: int, b: int) -> None:
            refine.number_groups(
                old, int(leaves.begins[a]), a, b, int(first[a]), self.task.order, codes,
                self.judge.q, labels, boxes,
            )  # fmt: skip

        run_work_items(_shared(some, leaves.sizes), self.threads)
        return Partition(labels, many), (boxes[0], boxes[1])


class _Cutter:
    """Cuts nodes, each a task; by itself, for tasks that knew themselves would outlive the work."""

    def __init__(self, engine: CompiledSplitter, paper: bool, block: int) -> None:
        self.engine, self.paper, self.block = engine, paper, block
        rows = engine.task.rows
        codes = np.empty((len(engine.spans), rows), engine.kind)
        engine.gather(codes)
        lines = np.empty((2, rows), np.uint32)
        for begin in range(0, rows, _LARGE):  # a large table leaves no room for a copy
            end = min(begin + _LARGE, rows)
            lines[0, begin:end] = np.arange(begin, end, dtype=np.uint32)
        engine.limits(lines[1])
        self.front = splits.RowBuffers(codes, lines)
        self.back = splits.RowBuffers(np.empty_like(codes), np.empty_like(lines))
        self.leaves = _empty(rows, rows // engine.task.unit + 1)
        # Compiled here, not by the threads, which would all begin to.
        self.hands = engine.hands
        self.propose = splits.proposer(engine.kind, paper)
        self.subtree = splits.subtree_for(engine.kind)
        self.sensitive, self.judge = engine.sensitive, engine.judge
        self.own = threading.local()

    def __call__(self, s: int, e: int, side: int, low: Any, high: Any) -> list[WorkItem]:
        """Cut a node: a large one once, a small one down to its leaves."""
        own, engine = self.own, self.engine
        if not hasattr(own, "cut_buffers"):
            own.cut_buffers = splits.make_cut_buffers(engine.spans, self.paper)
            own.test_buffers = engine.test_buffers(engine.task.rows)

        def cut(block: int, once: bool) -> int:
            found: int = self.subtree(
                self.hands, self.propose, self.front, self.back, s, e, side, low, high,
                engine.task.places, block, int(once), self.sensitive, self.judge, own.test_buffers,
                own.cut_buffers, self.leaves,
            )  # fmt: skip
            return found

        once = e - s > _LARGE
        found = cut(self.block, once)
        if once and not found:
            cut(e - s + 1, False)  # a large leaf: let it be noted as such
        if not once or not found:
            engine.settled(e - s)
            return []
        box = own.cut_buffers.box.copy()
        middle = s + found
        return [
            WorkItem(found, partial(self, s, middle, 1 - side, box[0], box[1])),
            WorkItem(e - middle, partial(self, middle, e, 1 - side, box[2], box[3])),
        ]


def _empty(rows: int, slots: int) -> refine.LeafArrays:
    return refine.LeafArrays(
        np.empty(rows, np.uint32), np.zeros(slots, np.int32), np.zeros(slots, np.int32)
    )


def _closed_up(leaves: refine.LeafArrays, codes: Any = None) -> Leaves:
    """Leave out the slots that were not needed."""
    used = leaves.sizes > 0
    return Leaves(leaves.ranks, leaves.sizes[used], leaves.hands[used], codes)


def _shared(act: Callable[[int, int], None], sizes: Any) -> Iterator[WorkItem]:
    """Divide leaves or pools into runs of about as many rows, each a task."""
    running = np.cumsum(sizes, dtype=np.int64)
    edges = np.searchsorted(running, np.arange(_LARGE, int(running[-1]), _LARGE)) + 1
    for a, b in pairwise(dict.fromkeys([0, *edges.tolist(), len(sizes)])):
        yield WorkItem(int(sizes[a:b].sum()), partial(act, a, b))
