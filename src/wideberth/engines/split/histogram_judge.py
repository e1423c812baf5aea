"""Whether rows can satisfy all demands, told from their histograms: the kernels' own decisions.

A large table's node is never seen row by row, only as histograms of its sensitive values. All that
is asked of a node can be told from them, but for one thing: whether rows dealt for one attribute
satisfy demands on another, which is refused here.

Where an attribute has very many values, neighbouring ones are counted together in cells. How many
rows a window holds is then known up to a bound from below and one from above; only where these
leave open whether it is too many, single values have to be counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import SplitProblem
from wideberth.algorithms.mondrian.kernel_splitter import CompiledSplitter
from wideberth.core.codes import Column
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups
from wideberth.engines.split.scan import ScanLayout
from wideberth.errors import ParameterError
from wideberth.kernels import kinds
from wideberth.principles.partition import deal

#: Up to so many values of the leading attribute are counted one by one.
MAX_COUNTED_VALUES = 4096
#: Cells in a window, if there are more.
_PER_WINDOW = 32


class HistogramJudge:
    """Judge of the nodes of a split tree."""

    def __init__(self, task: SplitProblem, few: int = MAX_COUNTED_VALUES) -> None:
        self.task = task
        self.few = few
        self.engine = CompiledSplitter(task, 1, lambda rows: None) if task.compilable else None
        _require_fit(task)

    @property
    def asks(self) -> bool:
        """Whether sensitive values matter at all."""
        return not self.task.only_sizes

    @cached_property
    def columns(self) -> Sequence[Column]:
        """The sensitive attributes that are looked at; one looked at in two ways, twice."""
        return [column for column, _ in self._views]

    @cached_property
    def _views(self) -> list[tuple[Column, Ints | None]]:
        """Attributes as demands read them: with the class of each value, if classes matter."""
        views: dict[int, tuple[Column, Ints | None]] = {}
        if self.engine is None:
            for demand in self.task.guarded:
                views.setdefault(id(demand.column), (_column(demand), None))
            return list(views.values())
        for demand, attribute in self.engine.tested:
            kernel = demand.rule.kernel
            views.setdefault(attribute, (_column(demand), None if kernel is None else kernel.order))
        return [views[attribute] for attribute in sorted(views)]

    @cached_property
    def exact(self) -> ScanLayout:
        """Every value, or class of values, in a cell of its own."""
        spans = [quasi.domain.size for quasi in self.task.quasis]
        cells = [
            np.arange(column.domain.size) if order is None else order.astype(np.int64)
            for column, order in self._views
        ]
        return ScanLayout(spans, cells)

    @cached_property
    def coarse(self) -> ScanLayout:
        """Neighbouring values of the leading attribute together, if they are many."""
        if self._bins is None:
            return self.exact
        first, *others = self.exact.cells
        return ScanLayout(self.exact.spans, [self._bins.cell_of[first], *others])

    @cached_property
    def _reach(self) -> Ints | None:
        """The last value in the window that begins at each value, if windows are demanded."""
        if self.engine is None or not self.engine.judge.q:
            return None
        kernel = self.task.guarded[0].rule.kernel
        assert kernel is not None  # noqa: S101 - it is compilable
        width = self.engine.width(self.task.guarded[0])
        return kernel.table[:width] if len(kernel.table) else np.arange(width)

    @cached_property
    def _bins(self) -> _ValueCells | None:
        if self._reach is None or self.engine is None or len(self._reach) <= self.few:
            return None
        tested = self.engine.judge.tests[:, 1] == 0  # by attribute: other tests need single values
        return None if tested.any() else _ValueCells(self._reach, self.few)

    def judge(self, rows: int, histogram: Ints, *, coarse: bool) -> bool | None:
        """Return whether rows can satisfy all demands; None if the cells leave it open."""
        # `histogram` counts in the cells of the coarse layout, or of the exact one.
        if rows < self.task.unit:
            return False
        if self.engine is None:
            return self._by_rules(histogram)
        judge = self.engine.judge
        coarse = coarse and self._bins is not None
        certain = True
        if self._reach is not None:
            allowed = rows * judge.p // judge.q
            low, high = self._crowd(histogram, coarse=coarse)
            if low > allowed or not allowed:
                return False
            # Dealt to as many groups as possible, or else to fewer: that takes the ranks.
            enough = self._sure(rows, allowed) if judge.dealt else allowed
            certain = high <= enough
            if not certain and not coarse:
                return self._dealt(rows, histogram, high)
        if len(judge.tests) and not self._tests(rows, histogram, coarse=coarse):
            return False
        return True if certain else None

    def _crowd(self, histogram: Ints, *, coarse: bool) -> tuple[int, int]:
        """Bound the rows of the fullest window from below and above."""
        edges = (self.coarse if coarse else self.exact).edges
        counts = histogram[: edges[1]]
        if coarse and self._bins is not None:
            return self._bins.bounds(counts)
        running = np.concatenate(([0], np.cumsum(counts)))
        assert self._reach is not None  # noqa: S101 - asked only where windows are demanded
        most = int((running[self._reach + 1] - running[:-1]).max())
        return most, most

    def _tests(self, rows: int, histogram: Ints, *, coarse: bool) -> bool:
        from wideberth.kernels import group_tests

        assert self.engine is not None  # noqa: S101 - else rules are asked
        edges = (self.coarse if coarse else self.exact).edges
        test_buffers = group_tests.make_test_buffers(1, self.engine.judge)
        return bool(group_tests.pass_tests(self.engine.judge, edges, histogram, rows, test_buffers))

    def _sure(self, rows: int, allowed: int) -> int:
        """Return how many rows of a crowd can surely be dealt: in turn, or by columns."""
        assert self.engine is not None  # noqa: S101 - else rules are asked
        judge = self.engine.judge
        sure = rows // judge.unit
        if judge.p == 1 and not judge.alone:
            hands, far = kinds.column_layout(rows, judge.unit, judge.q)
            sure = max(sure, far) if hands else sure
        return min(allowed, sure)

    def _dealt(self, rows: int, histogram: Ints, crowd: int) -> bool:
        """Return whether rows can be dealt: as the kernel does, with ranks instead of rows."""
        assert self.engine is not None  # noqa: S101 - else rules are asked
        judge, width = self.engine.judge, self.engine.judge.width
        if not judge.dealt:
            return False
        counts = histogram[: self.exact.edges[1]]
        running = np.concatenate(([0], np.cumsum(counts)))
        begin, end = running[judge.tables[:width]], running[judge.tables[width : 2 * width] + 1]
        windows = begin, np.maximum(begin, end)  # what reaches nothing has an empty one

        def fits(hands: int) -> bool:
            if hands < 0:
                return True  # there are no other tests
            small, large = rows // hands, rows // hands + 1
            allowed = (
                (1, 1) if judge.alone else tuple(n * judge.p // judge.q for n in (small, large))
            )
            return not exceeds_window_limit(running, windows, hands, rows, allowed)

        near = int((windows[1] - windows[0])[counts > 0].max()) - 1
        numbers = judge.p, judge.q, judge.dealt, judge.alone
        found = deal.dealt_group_count(rows, judge.unit, numbers, crowd=crowd, near=near, fits=fits)
        return found != 0

    def _by_rules(self, histogram: Ints) -> bool:
        """Ask the rules themselves, where a demand has no compiled form."""
        edges = self.exact.edges
        places = {id(column): place for place, column in enumerate(self.columns)}
        for demand in self.task.guarded:
            place = places[id(demand.column)]
            counts = histogram[edges[place] : edges[place + 1]]
            if not demand.rule.satisfies(single_group(counts))[0]:
                return False
        return True


class _ValueCells:
    """Cells of neighbouring values, and the bounds on windows that follow from them."""

    # `reach` is the last value in the window that begins at each value, never less than the one
    # before; `most` is how many cells there may be.
    def __init__(self, reach: Ints, most: int) -> None:
        width = len(reach)
        starts = _steps(reach, _PER_WINDOW, most)
        if starts is None:  # windows are too narrow for so few cells
            starts = np.unique(np.linspace(0, width, most, endpoint=False).astype(np.int64))
        if reach[-1] < width - 1:  # the last one is in no window: it has a cell of its own
            starts = np.union1d(starts, [width - 1])
        self.cell_of = np.zeros(width, np.int64)
        self.cell_of[starts[1:]] = 1
        self.cell_of = np.cumsum(self.cell_of)
        after = np.append(self.cell_of, len(starts))  # one beyond the last value
        ends = np.append(starts[1:], width) - 1
        #: The first cell not wholly in the window that begins with a cell, and the first that no
        #: window beginning in it reaches.
        self.within, self.beyond = after[reach[starts] + 1], self.cell_of[reach[ends]] + 1

    def bounds(self, counts: Ints) -> tuple[int, int]:
        """Bound the rows of the fullest window from below and above."""
        running = np.concatenate(([0], np.cumsum(counts)))
        own = running[:-1]
        return (
            int((running[self.within] - own).max()),
            int((running[self.beyond] - own).max()),
        )


def _steps(reach: Ints, per_window: int, most: int) -> Ints | None:
    """Go through the values in steps of a share of a window; None if that takes too many."""
    starts = [0]
    width = len(reach)
    ahead = reach.tolist()
    while len(starts) <= most:
        at = starts[-1]
        following = at + max(1, (ahead[at] - at + 1) // per_window)
        if following >= width:
            return np.array(starts, np.int64)
        starts.append(following)
    return None


def single_group(counts: Ints) -> Groups:
    """Return the histogram of a single group, given by the count of every value."""
    codes = np.flatnonzero(counts)
    return Groups(
        start=np.array([0, len(codes)]),
        codes=codes.astype(np.int64),
        counts=counts[codes].astype(np.int64),
        width=len(counts),
    )


def _column(demand: Demand) -> Column:
    assert demand.column is not None  # noqa: S101 - guarded demands have one
    return demand.column


def _require_fit(task: SplitProblem) -> None:
    """Refuse demands that cannot be judged by histograms."""
    dealt = task.dealt
    if dealt is None:
        return
    if task.apart or not task.compilable:
        raise ParameterError(
            f"{dealt.principle} takes rows apart by who is near whom: that needs the whole table "
            "in memory",
            hint="leave out the engine, or use a monotone principle",
        )
    if len(task.guarded) > 1:
        others = " and ".join(str(d.principle) for d in task.guarded if d is not dealt)
        raise ParameterError(
            f"{dealt.principle} is not monotone; beside {others} its groups can be told only with "
            "the whole table in memory",
            hint="delta-l instead, which is monotone",
        )


# -----------------------------------------------------------------------------
# Rows dealt to hands in turn, known by their ranks alone: whether a hand is crowded.
#
# Hand h holds every g-th rank from h on. Of a window of L ranks each hand holds floor(L / g), and
# some neighbouring hands (in a circle) hold one more. So no hand need be looked at: intervals of
# them tell all.


def exceeds_window_limit(
    running: Ints, windows: tuple[Ints, Ints], hands: int, rows: int, allowed: tuple[int, ...]
) -> bool:
    """Return whether some hand holds a value and too many rows of the value's window."""
    # `running` is the rank at which each value begins, at last the number of rows; `windows` are
    # the ranks at which each value's window begins and ends (exclusive). `allowed` is how many rows
    # of a window a smaller hand may hold, and one with a row more.
    begin, end = windows
    held = np.diff(running)
    there = held > 0
    begin, end, held, first = begin[there], end[there], held[there], running[:-1][there]
    own = _circle(first, np.minimum(held, hands), hands)
    more = _circle(begin, (end - begin) % hands, hands)
    base = (end - begin) // hands
    longer = rows % hands  # so many hands, the first ones, have a row more
    everywhere = [(np.zeros_like(base), np.full_like(base, hands))]
    for low, high, limit in ((longer, hands, allowed[0]), (0, longer, allowed[1])):
        if (_meet(own, everywhere, low, high) & (base > limit)).any():
            return True
        if (_meet(own, more, low, high) & (base + 1 > limit)).any():
            return True
    return False


def _circle(begin: Ints, length: Ints, hands: int) -> list[tuple[Ints, Ints]]:
    """Return an interval of hands, which may go round, as two that do not."""
    start = begin % hands
    end = start + length
    return [(start, np.minimum(end, hands)), (np.zeros_like(end), np.maximum(end - hands, 0))]


def _meet(
    some: list[tuple[Ints, Ints]], others: list[tuple[Ints, Ints]], low: int, high: int
) -> Bools:
    """Return where intervals of two kinds meet between two hands."""
    found = np.zeros(len(some[0][0]), dtype=bool)
    for a, b in some:
        for c, d in others:
            found |= np.maximum(np.maximum(a, c), low) < np.minimum(np.minimum(b, d), high)
    return found
