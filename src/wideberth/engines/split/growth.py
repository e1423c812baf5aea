"""The split tree of a large table, grown by scans until all its leaves fit into a worker.

Whoever grows it holds a few nodes, never rows. A scan looks at all rows once, for all open nodes:
it fills a table for those whose cuts are not known yet, and for the cheapest cuts of the others it
counts the sensitive values on the left. That tells which cut is the first to leave both halves able
to satisfy the demands. As it mostly is the cheapest, the tables of its halves are filled by the
same scan; so a level of the tree takes about one.

The decisions are those of `algorithms.mondrian.kernel_splitter`, cut by cut. So the tree is the
upper part of the tree that a single process would make, and its leaves can be finished one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.algorithms.mondrian.arrangement import SplitProblem
from wideberth.core.exact import Ints
from wideberth.core.progress import Progress
from wideberth.engines.split.histogram_judge import HistogramJudge
from wideberth.engines.split.scan import CELLS, Scan, ScanCounts, ScanLayout
from wideberth.kernels.kinds import EFFORT_AT_VALUES, cut_tries

# -----------------------------------------------------------------------------
# The cuts of a node, the cheapest first, told from its table: the kernels' own order.
#
# A node's table holds, by attribute and value, how many rows there are and the extremes of every
# attribute among them. What a cut loses follows from running extremes, without a look at rows.


@dataclass(frozen=True, eq=False)
class NodeTable:
    """What is known of a node; see `wideberth.kernels.table_scan.ScanArrays`."""

    begins: Ints  # where the cells of each attribute begin
    counts: Ints  # by cell, as are the other two
    lows: npt.NDArray[np.int32]
    highs: npt.NDArray[np.int32]

    @property
    def attributes(self) -> int:
        """How many quasi-identifiers there are."""
        return self.lows.shape[1]

    def present(self, a: int) -> Ints:
        """Return the cells of an attribute that hold rows."""
        begin, end = int(self.begins[a]), int(self.begins[a + 1])
        return begin + np.flatnonzero(self.counts[begin:end])


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts, the cheapest first: attribute, last value on the left, rows on the left."""

    by: Ints
    value: Ints
    left: Ints

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.by)


def cuts_of(
    table: NodeTable, rows: int, places: npt.NDArray[np.int32], unit: int, paper: bool
) -> Cuts:
    """Return the cuts of a node that leave both halves enough rows."""
    # `places` are those of `SplitProblem.places`. `paper`: only the cut next to the median of each
    # attribute counts.
    found = []
    for a in range(table.attributes):
        cells = table.present(a)
        if len(cells) < 2:
            continue
        values = cells - table.begins[a]
        upto = np.cumsum(table.counts[cells])
        at = np.arange(len(cells) - 1)
        if paper:
            at, last = _next_to_median(upto, values, rows)
        else:
            last = values[:-1]
        left = upto[at]
        enough = (left >= unit) & (rows - left >= unit)
        before = _extents(table, cells, places)
        behind = _extents(table, cells[::-1], places)[::-1]
        loss = left * before[at] + (rows - left) * behind[at + 1]
        many = np.full(len(at), a)
        found.append(np.stack((loss, many, last, left), axis=1)[enough])
    if not found:
        return Cuts(*np.zeros((3, 0), np.int64))
    loss, by, value, left = np.concatenate(found).T
    order = _cheapest_first(loss)
    return Cuts(by[order], value[order], left[order])


def _next_to_median(upto: Ints, values: Ints, rows: int) -> tuple[Ints, Ints]:
    """Return the place of the cut nearest the middle, and its last value on the left."""
    middle = int(np.searchsorted(upto, (rows - 1) // 2, side="right"))
    below = int(upto[middle - 1]) if middle else 0
    above = int(upto[middle])
    if above == rows or (below and rows - 2 * below < 2 * above - rows):
        # The kernel names the value before the median's, whether rows hold it or not.
        return np.array([middle - 1]), values[[middle]] - 1
    return np.array([middle]), values[[middle]]


def _extents(table: NodeTable, cells: Ints, places: npt.NDArray[np.int32]) -> Ints:
    """Return the extent of the first cell's rows, of the first two cells', and so on."""
    low = np.minimum.accumulate(table.lows[cells], axis=0)
    high = np.maximum.accumulate(table.highs[cells], axis=0)
    extents = np.zeros(len(cells), np.int64)
    for b, line in enumerate(places):
        extents += line[high[:, b]].astype(np.int64) - line[low[:, b]]
    return extents


def _cheapest_first(loss: Ints) -> Ints:
    """Order cuts by loss, then by position; what is too large for the kernels is rounded."""
    many = max(len(loss), 1)
    worst = int(loss.max(initial=0))
    shift = 0
    while worst >> shift > 2**62 // many:
        shift += 1
    return np.argsort(loss >> shift, kind="stable")


# -----------------------------------------------------------------------------
# What one scan is to do, put together node by node, within bounds of memory.


if TYPE_CHECKING:
    pass


class ScanPlan:
    """A scan being put together; nodes for which there is no room are left for another one."""

    def __init__(
        self, by: Sequence[int], value: Sequence[int], child: Sequence[int], layout: ScanLayout
    ) -> None:
        self.layout = layout
        self.by, self.value, self.child = list(by), list(value), list(child)
        self.tables: dict[int, int] = {}  # by number of the node
        self.filled: list[OpenNode] = []
        self.asked: dict[OpenNode, Sequence[int]] = {}
        self._first: dict[OpenNode, int] = {}
        self._ahead: dict[OpenNode, list[int | None]] = {}
        self._by: list[int] = []
        self._value: list[int] = []
        width, d = int(layout.begins[-1]), len(layout.spans)
        self._room = max(CELLS // (width * (1 + d)), 2)
        self._space = max(CELLS // max(int(layout.edges[-1]), 1), 2)

    def fill(self, node: OpenNode) -> None:
        """Let a node's table be filled."""
        if len(self.tables) < self._room:
            self._slot(node.number)
            self.filled.append(node)

    def _slot(self, number: int) -> int:
        return self.tables.setdefault(number, len(self.tables))

    def ask(
        self,
        node: OpenNode,
        cuts: Sequence[int],
        *,
        whole: bool = False,
        ahead: Sequence[bool] = (),
    ) -> None:
        """Let the left halves of cuts be counted."""
        # If there is no room for all cuts, the first ones. `whole`: all of the node's rows are
        # counted first. `ahead`: for each half of the first cut, whether its table is filled as
        # well.
        if self.asked and len(self._by) + whole + len(cuts) > self._space:
            return
        self.asked[node] = cuts[: max(self._space - whole, 1)]
        self._first[node] = len(self._by)
        if whole:
            self._by.append(-1)
            self._value.append(0)
        assert node.cuts is not None  # noqa: S101 - some of them are asked about
        for cut in self.asked[node]:
            self._by.append(int(node.cuts.by[cut]))
            self._value.append(int(node.cuts.value[cut]))
        if any(ahead) and len(self.tables) + sum(ahead) <= self._room:
            # As if the first cut were made already.
            number = len(self.by)
            cut = self.asked[node][0]
            self.by[node.number] = int(node.cuts.by[cut])
            self.value[node.number] = int(node.cuts.value[cut])
            self.child[node.number] = number
            for line in (self.by, self.value, self.child):
                line += [-1, -1]
            self._ahead[node] = [
                self._slot(number + side) if wanted else None for side, wanted in enumerate(ahead)
            ]

    def scan(self) -> Scan:
        """Return what is to be asked of the rows."""
        table = np.full(len(self.by), -1, np.int64)
        for number, slot in self.tables.items():
            table[number] = slot
        ask = np.full(len(self.by), -1, np.int64)
        for place, node in enumerate(self.asked):
            ask[node.number] = place
        return Scan(
            layout=self.layout,
            by=np.array(self.by, np.int64),
            value=np.array(self.value, np.int64),
            child=np.array(self.child, np.int64),
            table=table,
            ask=ask,
            first=np.array([*self._first.values(), len(self._by)], np.int64),
            question_by=np.array(self._by, np.int64),
            question_value=np.array(self._value, np.int64),
        )

    def table(self, scan_counts: ScanCounts, node: OpenNode) -> NodeTable:
        """Return the table of a node that was to be filled."""
        return self._table(scan_counts, self.tables[node.number])

    def promised(
        self, scan_counts: ScanCounts, node: OpenNode
    ) -> tuple[NodeTable | None, NodeTable | None]:
        """Return the tables of the halves of a node's first cut, those that were to be filled."""
        left, right = self._ahead.get(node, (None, None))
        return (
            None if left is None else self._table(scan_counts, left),
            None if right is None else self._table(scan_counts, right),
        )

    def _table(self, scan_counts: ScanCounts, slot: int) -> NodeTable:
        # Copies: the sheets of a scan must not live as long as one of its nodes.
        lows, highs = scan_counts.lows[slot].copy(), scan_counts.highs[slot].copy()
        return NodeTable(self.layout.begins, scan_counts.counts[slot].copy(), lows, highs)

    def histograms(self, scan_counts: ScanCounts, node: OpenNode) -> Ints:
        """Return what was counted for a node."""
        order = list(self._first)
        at = order.index(node)
        first = self._first[node]
        last = self._first[order[at + 1]] if at + 1 < len(order) else len(self._by)
        return scan_counts.histograms[first:last]


# -----------------------------------------------------------------------------
# The split tree of a large table, grown by scans until all its leaves fit into a worker.


#: Gives the sum of what all rows answer.
ScanFunction: TypeAlias = Callable[[Scan], ScanCounts]

#: Cuts of a node that are judged in its first scan; twice as many in each further one.
_FIRST = 2


@dataclass(frozen=True, eq=False)
class SplitTree:
    """A split tree."""

    by: Ints  # of each node the attribute it is cut by; -1: it is a leaf
    value: Ints  # the last value on the left
    child: Ints  # the left child; the right one is next
    rows: Ints  # how many rows it has
    scans: int  # how many passes over the table it took

    @property
    def leaves(self) -> Ints:
        """The nodes that are not cut."""
        return np.flatnonzero(self.by < 0)

    def route(self, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Return the leaf that each row belongs to; codes have a line for each attribute."""
        from wideberth.kernels import table_scan

        nodes = np.empty(codes.shape[1], np.int32)
        table_scan.route(codes, self.by, self.value, self.child, nodes)
        return nodes


@dataclass(eq=False)
class CutTrial:
    """A cut that is being judged."""

    cut: int  # which of the node's cuts
    left: Ints  # the histogram of its left half, in coarse cells
    verdict: bool | None  # whether both halves can satisfy the demands; None: that is left open


@dataclass(eq=False)
class OpenNode:
    """A node that may still be cut."""

    number: int  # its place in the tree
    rows: int
    whole: Ints  # the histogram of its sensitive values, in coarse cells
    table: NodeTable | None = None  # the table that its cuts are computed from
    cuts: Cuts | None = None
    tried: int = 0  # how many of its cuts failed
    upto: int = 0  # up to which cut they are on trial
    width: int = _FIRST  # how many are judged next
    # the cuts that did not fail by coarse cells, in their order
    trials: list[CutTrial] = field(default_factory=list)
    # the tables of the halves of the cut that is likely to be made
    promised: tuple[NodeTable | None, NodeTable | None] = (None, None)

    @property
    def asked(self) -> range:
        """The cuts that are judged next, but for those that are not worth the effort."""
        assert self.cuts is not None  # noqa: S101 - its table is known
        worth = min(len(self.cuts), cut_tries(EFFORT_AT_VALUES, self.rows, 0))
        return range(self.tried, min(self.tried + self.width, worth))

    @property
    def doubtful(self) -> list[CutTrial]:
        """The trials to be judged value by value: up to the first that will do."""
        upto = next((i for i, t in enumerate(self.trials) if t.verdict), len(self.trials))
        return self.trials[:upto]

    def halves(self, cut: int) -> tuple[int, int]:
        """Return how many rows are on either side of a cut."""
        assert self.cuts is not None  # noqa: S101 - one of them is looked at
        left = int(self.cuts.left[cut])
        return left, self.rows - left


class SplitTreeBuilder:
    """A tree that grows."""

    def __init__(
        self,
        task: SplitProblem,
        node_judge: HistogramJudge,
        *,
        rows: int,
        paper: bool,
        bucket_rows: int,
        block: int,
        progress: Progress | None = None,
    ) -> None:
        self.task, self.node_judge, self.paper = task, node_judge, paper
        # Nodes of at most `bucket_rows` rows are left whole; those of fewer than `block` are never
        # cut at values.
        self.large = max(bucket_rows + 1, 2 * task.unit, block)
        self.progress, self.total = progress, rows
        self.by, self.value, self.child, self.rows = [-1], [0], [0], [rows]
        self.scans = self.settled = 0
        self.open: list[OpenNode] = []
        self._take_in(OpenNode(0, rows, self._histogram()))

    def run(self, look: ScanFunction) -> SplitTree:
        """Scan until no node is open."""
        while self.open:
            for node in list(self.open):
                self._ponder(node)
            doubtful = [node for node in self.open if node.trials]
            if doubtful:
                self._scan_values(look, doubtful)
            elif waiting := [n for n in self.open if n.table is None or n.asked]:
                self._scan(look, waiting)
        by, value, child, rows = (
            np.array(line, np.int64) for line in (self.by, self.value, self.child, self.rows)
        )
        return SplitTree(by, value, child, rows, self.scans)

    def _histogram(self) -> Ints:
        """Return the histogram of the whole table, in coarse cells."""
        layout = self.node_judge.coarse
        whole = np.zeros(int(layout.edges[-1]), np.int64)
        for cells, begin, column in zip(
            layout.cells, layout.edges.tolist(), self.node_judge.columns, strict=False
        ):
            np.add.at(whole, begin + cells, column.domain.histogram)
        return whole

    # ---- nodes

    def _take_in(self, node: OpenNode) -> None:
        if node.rows >= self.large:
            self.open.append(node)
        else:
            self._settled(node)

    def _settled(self, node: OpenNode) -> None:
        """Count the rows of a leaf, which are few enough or have no cut, as settled."""
        self.settled += node.rows
        if self.progress is not None:
            self.progress("cutting", self.settled, self.total)

    def _ponder(self, node: OpenNode) -> None:
        """Do for a node what needs no scan."""
        if node.table is None:
            return
        if node.cuts is None:
            unit, places = self.task.unit, self.task.places
            node.cuts = cuts_of(node.table, node.rows, places, unit, self.paper)
        if node.trials:
            return
        if not node.asked:
            self.open.remove(node)
            self._settled(node)
        elif not self.node_judge.asks:  # any cut will do
            self._cut(node, CutTrial(0, node.whole, True))

    def _cut(self, node: OpenNode, trial: CutTrial) -> None:
        """Cut a node, and take in its halves."""
        cuts, number = node.cuts, len(self.by)
        assert cuts is not None  # noqa: S101 - one of them is made
        self.by[node.number] = int(cuts.by[trial.cut])
        self.value[node.number] = int(cuts.value[trial.cut])
        self.child[node.number] = number
        few, many = node.halves(trial.cut)
        left = trial.left.copy()
        halves = OpenNode(number, few, left), OpenNode(number + 1, many, node.whole - left)
        likely = trial.cut == node.tried
        self.open.remove(node)
        for half, table in zip(halves, node.promised, strict=True):
            self.by.append(-1)
            self.value.append(0)
            self.child.append(0)
            self.rows.append(half.rows)
            half.table = table if likely else None
            self._take_in(half)

    def _decide(self, node: OpenNode) -> None:
        """Cut at the first cut that will do; if all have failed, go on to others."""
        node.trials = [trial for trial in node.trials if trial.verdict is not False]
        if node.trials and node.trials[0].verdict:
            self._cut(node, node.trials[0])
        elif not node.trials:
            node.tried = node.upto
            node.width *= 2
            node.promised = (None, None)

    # ---- scans

    def _scan(self, look: ScanFunction, nodes: Sequence[OpenNode]) -> None:
        """Fill tables, and judge the cheapest cuts by coarse histograms."""
        script = ScanPlan(self.by, self.value, self.child, self.node_judge.coarse)
        for node in nodes:
            if node.table is None:
                script.fill(node)
            else:
                ahead = [rows >= self.large for rows in node.halves(node.tried)]
                script.ask(node, list(node.asked), ahead=ahead)
        scan_counts = self._looked(look, script)
        for node in script.filled:
            node.table = script.table(scan_counts, node)
        for node, cuts in script.asked.items():
            lefts = script.histograms(scan_counts, node)
            node.upto = cuts[-1] + 1
            node.promised = script.promised(scan_counts, node)
            node.trials = [
                CutTrial(cut, left, self._judge(node, cut, node.whole, left, coarse=True))
                for cut, left in zip(cuts, lefts, strict=True)
            ]
            self._decide(node)

    def _scan_values(self, look: ScanFunction, nodes: Sequence[OpenNode]) -> None:
        """Judge by the histograms of single values what cells have left open."""
        script = ScanPlan(self.by, self.value, self.child, self.node_judge.exact)
        for node in nodes:
            script.ask(node, [trial.cut for trial in node.doubtful], whole=True)
        scan_counts = self._looked(look, script)
        for node, cuts in script.asked.items():
            whole, *lefts = script.histograms(scan_counts, node)
            for trial, cut, left in zip(node.doubtful, cuts, lefts, strict=False):
                trial.verdict = self._judge(node, cut, whole, left, coarse=False)
                if trial.verdict:
                    break
            self._decide(node)

    def _looked(self, look: ScanFunction, script: ScanPlan) -> ScanCounts:
        self.scans += 1
        return look(script.scan())

    def _judge(
        self, node: OpenNode, cut: int, whole: Ints, left: Ints, *, coarse: bool
    ) -> bool | None:
        """Return whether both halves of a cut can satisfy the demands."""
        few, many = node.halves(cut)
        first = self.node_judge.judge(few, left, coarse=coarse)
        if first is False:
            return False
        second = self.node_judge.judge(many, whole - left, coarse=coarse)
        return second if second is not True else first
