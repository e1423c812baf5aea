"""The plain engine: the same decisions as the kernels', made by the rules themselves.

It serves principles written in Python, which no kernel knows; small tables, for which a compiler
would take longer than the work; and the tests, in which it must find the kernels' partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop
from typing import Any

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import (
    BeamSettings,
    GroupBoxes,
    Leaves,
    Pools,
    SplitProblem,
    boxes_of,
    exchange_between_leaves,
)
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Groups, Partition
from wideberth.errors import InfeasibleError
from wideberth.kernels.kinds import (
    BY_NEARNESS,
    EFFORT_AT_RANKS,
    EFFORT_AT_VALUES,
    CompiledRule,
    cut_tries,
)
from wideberth.principles.partition.deal import dealt_group_count as hands_of
from wideberth.principles.partition.deal import labels_of
from wideberth.principles.partition.decide import SUBSETS, cover_by_subsets
from wideberth.principles.partition.swap import BlockRule
from wideberth.principles.proximity import _NeighborhoodShare

#: Rows that may change places, at most, before a table is refused.
MAX_DEAL_SEARCH_ROWS = 1024


class PlainSplitter:
    """See `wideberth.algorithms.mondrian.arrangement.Splitter`."""

    def __init__(self, task: SplitProblem, settled: Callable[[int], None]) -> None:
        self.task = task
        self.settled = settled
        self.judge = RankJudge(task)
        order = task.order
        self.codes = np.stack([q.codes[order] for q in task.quasis], axis=1).astype(np.int64)
        self.places = np.stack(
            [line[self.codes[:, a]] for a, line in enumerate(task.places)], axis=1
        ).astype(np.int64)

    @property
    def _dealt(self) -> int:
        return BY_NEARNESS if self.task.apart else 0

    def prepare(self, cuts: str) -> None:
        """Do nothing: there is nothing to compile."""

    def cut(self, *, paper: bool, block: int) -> Leaves:
        """Cut the table at values."""
        found: list[Ints] = []
        pending = [np.arange(self.task.rows)]
        while pending:
            rows = pending.pop()
            halves = self._cut(rows, paper) if len(rows) >= block else None
            if halves is None:
                found.append(rows)
                self.settled(len(rows))
            else:
                pending += reversed(halves)
        return self._noted(found)

    def _cut(self, rows: Ints, paper: bool) -> tuple[Ints, Ints] | None:
        candidates = [
            c for a in range(self.codes.shape[1]) for c in self._at_values(rows, a, paper)
        ]
        left = cut_tries(EFFORT_AT_VALUES, len(rows), self._dealt)
        for i in _cheapest([loss for loss, _, _ in candidates]):
            if not left:
                break
            left -= 1
            _, a, value = candidates[i]
            low = self.codes[rows, a] <= value
            halves = rows[low], rows[~low]
            if self.judge.hands(halves[0]) and self.judge.hands(halves[1]):
                return halves
        return None

    def _at_values(self, rows: Ints, a: int, paper: bool) -> Iterator[tuple[int, int, int]]:
        """Propose cuts between values of an attribute: loss, attribute, last value on the left."""
        n, unit = len(rows), self.task.unit
        order = rows[np.argsort(self.codes[rows, a], kind="stable")]
        codes = self.codes[order, a]
        ends = np.flatnonzero(codes[1:] > codes[:-1]) + 1  # rows up to and with each value
        if paper and len(ends):
            median = codes[(n - 1) // 2]
            upto = int(np.searchsorted(codes, median, side="right"))
            below = int(np.searchsorted(codes, median, side="left"))
            nearer = upto == n or (below and n - 2 * below < 2 * upto - n)
            ends = np.array([below if nearer else upto])
        before, behind = self._extents(order), self._extents(order[::-1])[::-1]
        for k in ends.tolist():
            if unit <= k <= n - unit:
                yield k * before[k - 1] + (n - k) * behind[k], a, codes[k - 1]

    def _extents(self, order: Ints) -> list[int]:
        """Return the extents of the first row, the first two rows, and so on."""
        places = self.places[order]
        high, low = np.maximum.accumulate(places), np.minimum.accumulate(places)
        extents: list[int] = (high - low).sum(axis=1).tolist()
        return extents

    def solve(self, leaves: Leaves, pools: Pools, style: BeamSettings) -> tuple[Leaves, float]:
        """Pool leaves and take them apart at ranks."""
        found: list[Ints] = []
        gain = 0.0
        for begin, end in zip(pools.begins[:-1], pools.begins[1:], strict=True):
            old = [
                leaves.ranks[leaves.begins[i] :][: leaves.sizes[i]].astype(np.int64)
                for i in pools.leaves[begin:end]
            ]
            rows = np.sort(np.concatenate(old))
            new = old
            if self.judge.hands(rows):
                after, parts = self._solve(rows, style)
                before = sum(self._loss(leaf) for leaf in old) if len(old) > 1 else None
                if before is None or after < before:
                    new = parts
                    gain += 0 if before is None else before - after
            found += new
            self.settled(len(rows))
        return self._noted(found), gain

    def _solve(self, rows: Ints, style: BeamSettings) -> tuple[float, list[Ints]]:
        n, unit = len(rows), self.task.unit
        whole = self._loss(rows)
        if n < 2 * unit or whole == 0:
            return whole, [rows]
        best, parts = whole, [rows]
        beam = style.beam if style.narrow <= n < style.wide else 1
        effort = cut_tries(EFFORT_AT_RANKS, n, self._dealt)
        orders, losses = self._at_ranks(rows)
        seen: set[tuple[int, int]] = set()
        for wasteful in (False,) if style.thrifty else (False, True):
            if seen:
                break
            cuts = [
                (a, p)
                for a in orders
                for p in range(unit, n - unit + 1)
                if (p // unit + (n - p) // unit < n // unit) == wasteful
            ]
            worst = max(losses.values(), default=0)
            ranking = _cheapest(
                [losses[cut] for cut in cuts],
                [a * n + p for a, p in cuts],
                worst,
                self.codes.shape[1] * n,
            )
            for i in ranking:
                if len(seen) == beam or not effort:
                    break
                a, p = cuts[i]
                if (a, p // unit) in seen:
                    continue
                effort -= 1
                halves = np.sort(orders[a][:p]), np.sort(orders[a][p:])
                if not (self.judge.hands(halves[0]) and self.judge.hands(halves[1])):
                    continue
                seen.add((a, p // unit))
                (z1, left), (z2, right) = (self._solve(half, style) for half in halves)
                if z1 + z2 <= whole and (parts == [rows] or z1 + z2 < best):
                    best, parts = z1 + z2, left + right
        return best, parts

    def _at_ranks(self, rows: Ints) -> tuple[dict[int, Ints], dict[tuple[int, int], int]]:
        """Order the rows by each attribute, ties by the others, the widest first."""
        n, unit = len(rows), self.task.unit
        codes, places = self.codes[rows], self.places[rows]
        low, span = codes.min(axis=0), (codes.max(axis=0) - codes.min(axis=0) + 1).tolist()
        wide = np.argsort(-(places.max(axis=0) - places.min(axis=0)), kind="stable").tolist()
        orders, losses = {}, {}
        for a in range(codes.shape[1]):
            if span[a] == 1:
                continue
            key, full = codes[:, a] - low[a], span[a]
            for b in wide:
                if b != a and span[b] > 1 and full <= 2**31 // span[b]:
                    full *= span[b]
                    key = key * span[b] + (codes[:, b] - low[b])
            order = orders[a] = rows[np.lexsort((self.task.ties[rows], key))]
            before, behind = self._extents(order), self._extents(order[::-1])[::-1]
            for p in range(unit, n - unit + 1):
                losses[a, p] = p * before[p - 1] + (n - p) * behind[p]
        return orders, losses

    def _loss(self, rows: Ints) -> float:
        """Return rows times extent; for a leaf to be dealt, the mean of that over random hands."""
        n, g = len(rows), self.judge.hands(rows)
        q = n // abs(g)
        total = 0.0
        for line in np.sort(self.places[rows], axis=0).T.tolist():
            if g == 1 or line[0] == line[-1]:
                total += line[-1] - line[0]
                continue
            if q == 1:
                continue
            chance = q / n
            for i in range(n - 1, q - 2, -1):
                total += chance * (line[i] - line[n - 1 - i])
                chance = chance * (i - q + 1) / max(i, 1)
        return max(total, 0.0) * n  # rounding may leave less than nothing

    def exchange(self, leaves: Leaves, near: Ints) -> tuple[Leaves, int]:
        """Move and swap rows between near leaves."""
        return exchange_between_leaves(leaves, near, self.places, self.task.unit, _exchange_rows)

    def centres(self, leaves: Leaves) -> Floats:
        """Return the middle of each leaf's box."""
        at = self.places[leaves.ranks]
        low = np.minimum.reduceat(at, leaves.begins)
        middles: Floats = (low + np.maximum.reduceat(at, leaves.begins)) / 2
        return middles

    def deal(self, leaves: Leaves) -> tuple[Partition, GroupBoxes]:
        """Deal the rows of each leaf to its groups; also return their boxes."""
        labels = np.empty(self.task.rows, np.int32)
        many = 0
        for begin, size in zip(leaves.begins, leaves.sizes, strict=True):
            ranks = leaves.ranks[begin : begin + size].astype(np.int64)
            dealt = self.judge.settle(ranks)
            assert dealt is not None  # noqa: S101 - only leaves that can be dealt are made
            labels[self.task.order[ranks]] = many + dealt
            many += int(dealt.max()) + 1
        partition = Partition(labels, many)
        return partition, boxes_of(partition, [quasi.codes for quasi in self.task.quasis])

    def _noted(self, found: list[Ints]) -> Leaves:
        return Leaves(
            np.concatenate(found).astype(np.uint32),
            np.array([len(rows) for rows in found], np.int32),
            np.array([self.judge.hands(rows) for rows in found], np.int32),
        )


def _cheapest(
    losses: Sequence[int],
    positions: Sequence[int] | None = None,
    worst: int | None = None,
    total: int | None = None,
) -> Iterator[int]:
    """Go through candidates by loss, then position; losses too large for 62 bits are rounded."""
    worst = max(losses, default=0) if worst is None else worst
    total = total or max(len(losses), 1)
    shift = 0
    while worst >> shift > 2**62 // total:
        shift += 1
    places = range(len(losses)) if positions is None else positions
    heap = [(loss >> shift, at, i) for i, (loss, at) in enumerate(zip(losses, places, strict=True))]
    heapify(heap)
    while heap:
        yield heappop(heap)[2]


class RankJudge:
    """All demands in one, on rows given by ascending ranks."""

    def __init__(self, task: SplitProblem) -> None:
        self.task = task
        self.remembered: dict[bytes, Ints | None] = {}
        self.columns: set[bytes] = set()  # those of them that are dealt by columns
        order = task.order
        self.codes = [d.column.codes[order] for d in task.guarded if d.column is not None]

    def hands(self, ranks: Ints) -> int:
        """Return the number of groups, 0 if the rows cannot satisfy the demands."""
        # Less than 0 means hands of whole columns, as in `Leaves`.
        if self.task.only_sizes:
            return int(len(ranks) >= self.task.unit)
        alone = len(self.task.guarded) == 1 and len(ranks) >= self.task.unit
        if self.task.apart and alone and self._local.certified(self._own(ranks)):
            return len(ranks) // self._local.smallest
        dealt = self.settle(ranks)
        if dealt is None:
            return 0
        many = int(dealt.max()) + 1
        return -many if ranks.tobytes() in self.columns else many

    def settle(self, ranks: Ints) -> Ints | None:
        """Return the group of each row, None if the rows cannot satisfy the demands."""
        whole = len(ranks) == self.task.rows
        if len(ranks) < (self.task.least if whole else self.task.unit):
            return None
        if self.task.only_sizes:
            return np.zeros(len(ranks), np.int64)
        key = ranks.tobytes()
        if key not in self.remembered:
            if len(self.remembered) > 1 << 14:
                self.remembered.clear()
                self.columns.clear()
            self.remembered[key] = self._settle(ranks)
        return self.remembered[key]

    def search(self) -> Ints | None:
        """Look for groups of a table that no dealing finds, and keep them if there are any."""
        # Of few rows all partitions are tried; of some, rows change places until nobody is crowded.
        n = self.task.rows
        if n > SUBSETS:
            rule = self.task.guarded[0].rule
            if n > MAX_DEAL_SEARCH_ROWS or not isinstance(rule, _NeighborhoodShare):
                return None
            ranks = np.arange(n)
            labels = rule.sought(self._own(ranks), self.task.unit)
            if labels is None or not self.accepts(ranks, labels):
                return None
            self.remembered[ranks.tobytes()] = labels
            return labels
        row, subset = np.nonzero((np.arange(1 << n) >> np.arange(n)[:, None]) & 1)
        good = np.bincount(subset, minlength=1 << n) >= self.task.least
        for i, demand in enumerate(self.task.guarded):
            groups = _histograms(self.codes[i][row], subset - 1, self._width(i))
            good[1:] &= demand.rule.satisfies(groups)
        labels = self.remembered[np.arange(n).tobytes()] = cover_by_subsets(good)
        return labels

    def accepts(self, ranks: Ints, labels: Ints) -> bool:
        """Return whether the groups that labels make of rows satisfy all demands."""
        every = range(len(self.task.guarded))
        large = np.bincount(labels).min() >= self.task.least
        return bool(large and all(self._satisfied(i, ranks, labels) for i in every))

    def _settle(self, ranks: Ints) -> Ints | None:
        n = len(ranks)
        whole = np.zeros(n, np.int64)
        dealt = self.task.dealt
        others = range(0 if dealt is None else 1, len(self.task.guarded))
        if not all(self._satisfied(i, ranks, whole) for i in others):
            return None
        if dealt is None:
            return whole
        if self.task.apart:
            ways = self._local.ways(self._own(ranks))
            return next((labels for labels in ways if self.accepts(ranks, labels)), None)
        groups = _histograms(self.codes[0][ranks], whole, self._width(0))
        if not dealt.rule.feasible(groups)[0]:
            return None
        if dealt.rule.kernel is None:  # its own way to take rows apart
            return self._finished(ranks, dealt)
        return self._by_rank(ranks, dealt.rule.kernel)

    def _by_rank(self, ranks: Ints, kernel: CompiledRule) -> Ints | None:
        """Deal rows in the order of their values."""
        n, unit = len(ranks), self.task.unit
        codes = self._own(ranks)
        if kernel.order is not None:
            codes = kernel.order[codes]
        reach, first, last = (codes,) * 3
        if len(kernel.table):
            reach, first, last = kernel.table.reshape(3, -1)[:, codes]
        places = np.arange(n)
        crowd = np.searchsorted(codes, reach, side="right") - places
        before = np.maximum(places - np.searchsorted(codes, first, side="left"), 0)
        behind = np.maximum(np.searchsorted(codes, last, side="right") - places - 1, 0)
        p, q, _, alone = kernel.numbers
        tested = len(self.task.guarded) > 1

        def fits(hands: int) -> bool:
            if hands > 0:
                sizes = n // hands + (places % hands < n % hands)
                allowed = 1 if alone else sizes * p // q
                if (before // hands + behind // hands >= allowed).any():
                    return False
            return not tested or self.accepts(ranks, labels_of(n, hands, q))

        found = hands_of(
            n, unit, kernel.numbers,
            crowd=int(crowd.max()), near=int((before + behind).max()), fits=fits,
        )  # fmt: skip
        if not found:
            return None
        if found < 0:
            self.columns.add(ranks.tobytes())
        labels = labels_of(n, found, q)
        return labels if self.accepts(ranks, labels) else None

    @property
    def _local(self) -> BlockRule:
        rule = self.task.guarded[0].rule
        assert isinstance(rule, BlockRule)  # noqa: S101 - what is dealt by who is near whom
        return rule

    def _own(self, ranks: Ints) -> Ints:
        return self.codes[0][ranks].astype(np.int64)

    def _finished(self, ranks: Ints, dealt: Demand) -> Ints | None:
        try:
            # The rows come in a secret order already, so the generator need not be secret.
            labels = dealt.rule.finish(
                self.codes[0][ranks].astype(np.int64), np.random.default_rng(0)
            )
        except InfeasibleError:
            return None
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
        return labels if self.accepts(ranks, labels) else None

    def _satisfied(self, i: int, ranks: Ints, labels: Ints) -> bool:
        groups = _histograms(self.codes[i][ranks], labels, self._width(i))
        return bool(self.task.guarded[i].rule.satisfies(groups).all())

    def _width(self, i: int) -> int:
        column = self.task.guarded[i].column
        assert column is not None  # noqa: S101 - guarded demands have one
        return column.domain.size


def _histograms(codes: Any, labels: Ints, width: int) -> Groups:
    key = np.sort(labels * width + codes)
    edges = np.flatnonzero(np.diff(key, prepend=-1))
    owner, values = np.divmod(key[edges], width)
    return Groups(
        start=np.searchsorted(owner, np.arange(int(labels.max()) + 2)),
        codes=values,
        counts=np.diff(edges, append=len(key)),
        width=width,
    )


def _exchange_rows(members: Ints, sizes: Ints, near: Ints, at: Ints, unit: int, most: int) -> int:
    """Give every row in turn its best move or swap with a near leaf; return what that gains."""

    def extent(rows: Sequence[int]) -> int:
        inside = at[list(rows)]
        return int((inside.max(axis=0) - inside.min(axis=0)).sum()) if len(rows) else -(2**41)

    total = 0
    for leaf in range(len(sizes)):
        i = 0
        while i < sizes[leaf]:
            own = members[leaf, : sizes[leaf]].tolist()
            row, rest = own[i], own[:i] + own[i + 1 :]
            n, wide, narrow = len(own), extent(own), extent(rest)
            best, mate, partner = 0, -1, -1
            others = [other for other in near[leaf].tolist() if other != leaf]
            for there in others if n > unit or narrow < wide else ():
                other = members[there, : sizes[there]].tolist()
                m, theirs = len(other), extent(other)
                if n > unit and m < most:
                    gain = n * wide - (n - 1) * narrow
                    gain -= (m + 1) * extent([*other, row]) - m * theirs
                    if gain > best:
                        best, mate, partner = gain, there, -1
                for j in range(m) if narrow < wide else ():
                    swapped = [*other[:j], *other[j + 1 :], row]
                    gain = n * (wide - extent([*rest, other[j]])) + m * (theirs - extent(swapped))
                    if gain > best:
                        best, mate, partner = gain, there, j
            if mate < 0:
                i += 1
                continue
            total += best
            if partner < 0:
                members[leaf, i] = members[leaf, n - 1]
                sizes[leaf] -= 1
                members[mate, sizes[mate]] = row
                sizes[mate] += 1
            else:
                members[leaf, i], members[mate, partner] = members[mate, partner], row
                i += 1
    return total
