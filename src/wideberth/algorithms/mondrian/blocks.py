"""Splitting a table whose rows are dealt by who is near whom, a block of rows at a time.

Asking that of all pairs of a large table would take too long, and of all pairs in a block only
takes time in proportion to the table. So the table is first cut, by quasi-identifiers alone, into
blocks of some hundred rows; each is split as usual, its cuts accepted only if both halves can be
dealt. A block for which no groups are found is pooled with the block beside it, and what is pooled
is dealt to blocks of equal composition: such a cut is undone. In the end all of the table is
pooled, which is known to be satisfiable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import Leaves, SplitProblem
from wideberth.algorithms.mondrian.rule_splitter import RankJudge
from wideberth.core.codes import Column, Domain
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.threads import WorkItem, cores, run_work_items
from wideberth.errors import InfeasibleError
from wideberth.kernels.randomness import KEY, Chance, Stream, subkey
from wideberth.principles import KAnonymity
from wideberth.principles.partition.caps import SearchedRule
from wideberth.principles.partition.deal import deal
from wideberth.principles.partition.swap import BlockRule, color_equitably, deal_apart

#: Rows of a block: at most, and at least, if quasi-identifiers permit.
_MOST, _LEAST = 1024, 256
#: Swaps for each row when a leaf is dealt, and rows that may be looked at for that.
_PER_ROW, _WORK = 8, 1 << 22
#: Times to try again beside other demands.
_TRIES = 12


def split_in_blocks(
    task: SplitProblem,
    blocks: Callable[[SplitProblem, int], Leaves],
    grow: Callable[[SplitProblem], Leaves],
    *,
    rng: Chance,
    threads: int | None,
    settled: Callable[[int], None],
) -> tuple[Partition, int] | None:
    """Partition a table, and count the leaves its rows were dealt from; None if that fails."""
    # The rule that is not monotone is a `SearchedRule`. `blocks` cuts a task that looks at sizes
    # only into leaves of at most that many rows, if it can; `grow` finds the leaves of a block.
    work = _BlockSplitter(task, grow, settled)
    pieces = list(_pieces(task, blocks, rng))
    found = work.all(pieces, rng, threads or cores())
    whole = _pooled(work, pieces, found, rng) or work.whole(rng)
    if whole is None:
        return None
    labels = np.empty(task.rows, dtype=np.int32)
    labels[whole.rows] = whole.labels
    return Partition(labels, whole.groups), whole.leaves


@dataclass(frozen=True, eq=False)
class _DealtRows:
    """Rows, their groups, and how many leaves these come from."""

    rows: Ints
    labels: Ints
    leaves: int

    @property
    def groups(self) -> int:
        return int(self.labels.max()) + 1

    @classmethod
    def joined(cls, parts: Sequence[_DealtRows]) -> _DealtRows:
        """Put parts side by side."""
        many = [part.groups for part in parts]
        first = np.cumsum(many) - many
        labels = [begin + part.labels for begin, part in zip(first, parts, strict=True)]
        rows = np.concatenate([part.rows for part in parts])
        return cls(rows, np.concatenate(labels), sum(part.leaves for part in parts))


def _pieces(
    task: SplitProblem, blocks: Callable[[SplitProblem, int], Leaves], rng: Chance
) -> Iterator[Ints]:
    """Cut the table into blocks, in an order in which near ones stand beside each other."""
    if task.rows <= _MOST:
        yield np.arange(task.rows)
        return
    rule = _searched(task)
    least = min(max(_LEAST, 4 * task.unit), max(rule.together // 2, task.unit))
    size = KAnonymity(k=least)
    domain = Domain(name="rows", histogram=np.array([task.rows]))
    sizes = replace(task, demands=[Demand(size, size.bind(domain), None)])
    leaves = blocks(sizes, min(max(_MOST, 2 * least), rule.together))
    for begin, many in zip(leaves.begins.tolist(), leaves.sizes.tolist(), strict=True):
        rows = sizes.order[leaves.ranks[begin : begin + many]].astype(np.int64)
        yield from _dealt(task, rows, rng)


def _searched(task: SplitProblem) -> SearchedRule:
    """Return the rule that is not monotone."""
    rule = task.dealt.rule if task.dealt is not None else None
    assert isinstance(rule, SearchedRule)  # noqa: S101 - who deals by nearness has such a demand
    return rule


def _dealt(task: SplitProblem, rows: Ints, rng: Chance) -> Iterator[Ints]:
    """Deal rows to blocks of equal composition, if they are too many for one."""
    dealt = task.dealt
    assert dealt is not None  # noqa: S101 - who deals by nearness has such a demand
    assert dealt.column is not None  # noqa: S101
    many = -(-len(rows) // min(max(_MOST, 4 * task.unit), _searched(task).together))
    label = deal(dealt.column.codes[rows].astype(np.int64), many, rng)
    for one in range(many):
        yield rows[label == one]


class _BlockSplitter:
    """The splitting of blocks."""

    def __init__(
        self,
        task: SplitProblem,
        grow: Callable[[SplitProblem], Leaves],
        settled: Callable[[int], None],
    ) -> None:
        self.task, self.grow, self.settled = task, grow, settled
        dealt = task.dealt
        assert dealt is not None  # noqa: S101 - who deals by nearness has such a demand
        assert dealt.column is not None  # noqa: S101
        assert isinstance(dealt.rule, SearchedRule)  # noqa: S101
        self.dealt, self.column, self.rule = dealt, dealt.column, dealt.rule

    def all(self, pieces: Sequence[Ints], rng: Chance, threads: int) -> list[_DealtRows | None]:
        """Split many blocks; None stands for one that could not be."""
        found: list[_DealtRows | None] = [None] * len(pieces)
        keys = [rng.bytes(KEY) for _ in pieces]

        def one(i: int) -> None:
            found[i] = self.block(pieces[i], keys[i])
            self.settled(len(pieces[i]))

        run_work_items((WorkItem(len(p), partial(one, i)) for i, p in enumerate(pieces)), threads)
        return found

    def whole(self, rng: Chance) -> _DealtRows | None:
        """Deal all rows at once, without a look at quasi-identifiers."""
        order, n = self.task.order.astype(np.int64), self.task.rows
        larger = copy(self.rule)
        larger.smallest = self.task.unit
        try:
            labels = larger.finish(self.column.codes[order].astype(np.int64), rng)
        except InfeasibleError:
            return None
        fits = RankJudge(self.task).accepts(np.arange(n), labels)
        return _DealtRows(order, labels, 1) if fits else None

    def block(self, rows: Ints, key: bytes) -> _DealtRows | None:
        """Split a block; beside other demands, which a deal may break by chance, try again."""
        tries = _TRIES if len(self.task.guarded) > 1 else 1
        turns = (self._block(rows, subkey(key, "try", turn)) for turn in range(tries))
        return next((dealt for dealt in turns if dealt is not None), None)

    def _block(self, rows: Ints, key: bytes) -> _DealtRows | None:
        rule, places = self.rule.local(self.column.codes[rows].astype(np.int64), self.task.unit)
        if not rule.hands(places):
            return None
        domain = Domain(name=self.column.domain.name, histogram=np.bincount(places))
        demands = [
            Demand(d.principle, rule, Column(places.astype(np.int32), domain))
            if d is self.dealt
            else replace(d, column=d.column and Column(d.column.codes[rows], d.column.domain))
            for d in self.task.demands
        ]
        quasis = [replace(quasi, codes=quasi.codes[rows]) for quasi in self.task.quasis]
        task = SplitProblem(quasis, demands, key)
        leaves = self.grow(task)
        if not leaves.hands.all():
            return None
        labels = np.empty(len(rows), dtype=np.int64)
        judge = RankJudge(task)
        rng = Stream(key, "dealing")
        groups = 0
        for begin, many in zip(leaves.begins.tolist(), leaves.sizes.tolist(), strict=True):
            ranks = leaves.ranks[begin : begin + many].astype(np.int64)
            dealt = _deal(judge, rule, ranks, rng)
            if dealt is None:
                return None
            labels[task.order[ranks]] = groups + dealt
            groups += int(dealt.max()) + 1
        return _DealtRows(rows, labels, len(leaves))


def _deal(judge: RankJudge, rule: BlockRule, ranks: Ints, rng: Chance) -> Ints | None:
    """Deal a leaf's rows to groups, in a secret order, if that will do."""
    codes = judge.codes[0][ranks].astype(np.int64)
    n, unit = len(ranks), rule.smallest
    order = rng.permutation(n)
    labels = deal_apart(rule.relation, codes[order], n // unit, rule.cap, unit, _PER_ROW * n, _WORK)
    if labels is not None:
        secretly = np.empty_like(labels)
        secretly[order] = labels
        if len(judge.task.guarded) == 1 or judge.accepts(ranks, secretly):
            return secretly
    plain = judge.settle(ranks)
    return _coloured(judge, rule, ranks, codes, rng) if plain is None else plain


def _coloured(
    judge: RankJudge, rule: BlockRule, ranks: Ints, codes: Ints, rng: Chance
) -> Ints | None:
    """Colour a leaf's rows equitably, which always works if there are enough of them."""
    if not rule.certified(codes):
        return None
    order = rng.permutation(len(codes))
    near = rule.relation.near[np.ix_(codes[order], codes[order])]
    labels = np.empty(len(codes), dtype=np.int64)
    labels[order] = color_equitably(near, len(codes) // rule.smallest)
    return labels if judge.accepts(ranks, labels) else None


def _pooled(
    work: _BlockSplitter, pieces: Sequence[Ints], found: Sequence[_DealtRows | None], rng: Chance
) -> _DealtRows | None:
    """Put blocks together, from pairs of neighbours up; take those apart anew where one failed."""

    def solved(low: int, high: int) -> _DealtRows | None:
        if high - low == 1:
            return found[low]
        middle = (low + high) // 2
        left, right = solved(low, middle), solved(middle, high)
        if left is not None and right is not None:
            return _DealtRows.joined([left, right])
        parts = []
        for rows in _dealt(work.task, np.concatenate(pieces[low:high]), rng):
            part = work.block(rows, rng.bytes(KEY))
            if part is None:
                return None
            parts.append(part)
        return _DealtRows.joined(parts)

    return solved(0, len(pieces))
