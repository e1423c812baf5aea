"""Rules that cap how many of a group may be near a row; their partitions must be searched for.

Whether a group can be partitioned is NP-hard in general, so `feasible` says yes only with groups in
hand, and a no may also mean: not found. Where no two rows of a group may be similar and values lie
on a line, or in buckets, it is easy, and the answer exact: dealing in order will do, if no crowd
has more rows than there are groups.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from math import isqrt

import numpy as np

from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups
from wideberth.core.memory import budget
from wideberth.distances import Similarity
from wideberth.errors import InfeasibleError
from wideberth.kernels import kinds
from wideberth.kernels.kinds import CompiledRule
from wideberth.kernels.randomness import Chance
from wideberth.principles.allowance import AllowedValues
from wideberth.principles.base import Rule, remembered
from wideberth.principles.partition.deal import deal, shuffled_within
from wideberth.principles.partition.decide import (
    PartitionAnswer,
    Witness,
    clique,
    clique_witness,
    decide_partition,
    row_witness,
    search_equal_groups,
    search_partition,
)
from wideberth.principles.partition.swap import BlockRule, NeighborCap, SimilarityMatrix

#: Rows that are looked at together, at most; of more, as many sets as it takes, small ones first.
_TOGETHER, _SMALL = 4096, 1024
#: Crowds are looked for around so many values of a large table, and so many of their neighbours.
_CENTRES, _AROUND = 8, 4


@dataclass(frozen=True, eq=False)
class LinearOrder:
    """Codes on a line, on which similar ones lie next to each other."""

    place: Ints  # of each code; those of one bucket share a place
    reach: Ints  # the last place that is similar to each place; never falls

    def crowds(self, groups: Groups) -> Ints:
        """Return the most rows of each group that are all similar to each other."""
        width = len(self.reach)
        key = groups.owner * width + self.place[groups.codes]
        held, at = np.unique(key, return_inverse=True)
        rows = np.zeros(len(held), dtype=np.int64)
        np.add.at(rows, at, groups.counts)
        running = np.concatenate(([0], np.cumsum(rows)))
        owner, place = np.divmod(held, width)
        end = np.searchsorted(held, owner * width + self.reach[place], side="right")
        most = np.zeros(len(groups), dtype=np.int64)
        np.maximum.at(most, owner, running[end] - running[:-1])
        return most


class SearchedRule(Rule):
    """The rule that at most some number of others, by the group's size, are near any row."""

    monotone = False
    certain = False

    def __init__(
        self,
        near: Similarity,
        width: int,
        cap: NeighborCap,
        smallest: int,
        line: LinearOrder | None = None,
        allowed: AllowedValues | None = None,
    ) -> None:
        # `smallest`: the smallest permitted group. `line`: the codes on a line, if no two similar
        # rows may share a group and there is such a line. `allowed`: values near nothing, not even
        # themselves.
        self.near = near
        self.width = width
        self.cap = cap
        self.smallest = self.least = smallest
        self.line = line
        self.allowance = allowed
        #: All pairs of so many rows may be looked at in one go: a matrix, its bits, and a copy.
        self.together = max(_TOGETHER, isqrt(budget() // 3))
        if line is not None:
            self.certain = True
            self.kernel = _kernel(line, smallest)

    @remembered
    def crowd(self, groups: Groups) -> Ints:
        """Return the most rows of each group that are near one of them, itself included."""
        return groups.max(self._near(groups))

    def _near(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are near it."""
        if self.allowance is None:
            return self.near.crowd(groups)
        return self.allowance.crowd(self.near, groups)

    def satisfies(self, groups: Groups) -> Bools:
        """Return which groups have rows enough, none of them near too many."""
        near = self.crowd(groups) - 1
        return (near <= self.cap.of(groups.sizes)) & (groups.sizes >= self.smallest)

    def feasible(self, groups: Groups) -> Bools:
        """Return for which groups a partition is found; see the module's remark."""
        if self.line is not None:
            hands = groups.sizes // self.smallest
            return (self.line.crowds(groups) <= hands) & (hands > 0)
        # To count the neighbours of all rows takes longer than to take many rows apart.
        large = bool((groups.sizes > _TOGETHER).any())
        verdict = np.zeros(len(groups), dtype=bool) if large else self.satisfies(groups)
        for group in np.flatnonzero(~verdict):
            verdict[group] = self.answer(groups.rows(group)).verdict == "yes"
        return verdict

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        """Partition one group, or say that no partition was found."""
        # The search sees the sorted codes only; who of several equal rows goes where is chance.
        order = shuffled_within(codes, rng)
        answer = self.answer(codes[order])
        if answer.labels is None:
            raise InfeasibleError(f"found no partition of a group of {len(codes)} rows")
        labels = np.empty_like(answer.labels)
        labels[order] = answer.labels
        return labels

    def answer(self, codes: Ints, *, exact: bool = True) -> PartitionAnswer:
        """Return whether rows can be partitioned: yes (with groups), no (a witness), or unknown."""
        # Codes ascend. `exact`: search a few rows to the end, if nothing else gives an answer.
        n = len(codes)
        if n < self.smallest:
            return PartitionAnswer.no(Witness("rows", n, self.smallest))
        if self.line is not None:
            fullest = int(self.line.crowds(self._together(codes))[0])
            hands = n // self.smallest
            if fullest > hands:
                return PartitionAnswer.no(Witness("clique", fullest, hands))
            place = self.line.place[codes]
            return PartitionAnswer("yes", labels=deal(place, hands, np.random.default_rng(0)))
        if n > _TOGETHER:
            return self._in_parts(codes)
        relation, local = self.among(codes)
        answer = decide_partition(relation, local, self.cap, self.smallest, exact=False)
        if answer.verdict == "unknown":
            answer = self.refuted(codes)
        if answer.verdict == "unknown" and exact:
            answer = search_partition(relation, local, self.cap, self.smallest)
        return answer

    def ruled_out(self, codes: Ints, unit: int) -> Witness | None:
        """Prove that rows make no groups of at least so many rows."""
        larger = copy(self)
        larger.smallest = max(unit, self.smallest)
        codes = np.sort(codes)
        return (larger.answer if self.line is not None else larger.refuted)(codes).witness

    def among(self, codes: Ints) -> tuple[SimilarityMatrix, Ints]:
        """Return who is near whom among the values of some rows, and the rows' places there."""
        if self.allowance is not None:  # rows that are near themselves alone
            values, places = self.allowance.places(codes)
            free = int(self.allowance.codes[codes].sum())
            return SimilarityMatrix(self.allowance.apart(self.near.matrix(values), free)), places
        values, local = np.unique(codes, return_inverse=True)
        return SimilarityMatrix(self.near.matrix(values)), local.reshape(-1)

    def local(self, codes: Ints, smallest: int) -> tuple[BlockRule, Ints]:
        """Return the rule of a block of rows in larger groups, and their values' places there."""
        relation, places = self.among(codes)
        return BlockRule(relation, self.cap, max(smallest, self.smallest)), places

    def _together(self, codes: Ints) -> Groups:
        return Groups.of([codes.tolist()], self.width)

    def _in_parts(self, codes: Ints) -> PartitionAnswer:
        """Deal many rows to sets of equal composition, and take each of them apart."""
        labels = self._parted(codes, max(_SMALL, 8 * self.smallest))
        if labels is None:
            labels = self._parted(codes, max(_TOGETHER, 16 * self.smallest))
        return self.refuted(codes) if labels is None else PartitionAnswer("yes", labels=labels)

    def _parted(self, codes: Ints, rows: int) -> Ints | None:
        """Deal to sets of so many rows, or as many as the memory is for."""
        sets = -(-len(codes) // min(rows, self.together))
        if len(codes) < sets * self.smallest:
            return None
        label = deal(codes, sets, np.random.default_rng(0))
        labels = np.empty(len(codes), dtype=np.int64)
        groups = 0
        for one in range(sets):
            members = np.flatnonzero(label == one)
            relation, local = self.among(codes[members])
            found = search_equal_groups(relation, local, self.cap, self.smallest)
            if found is None:
                return None
            labels[members] = groups + found
            groups += int(found.max()) + 1
        return labels

    def refuted(self, codes: Ints) -> PartitionAnswer:
        """Look for a witness in many rows."""
        if len(codes) < self.smallest:
            return PartitionAnswer.no(Witness("rows", len(codes), self.smallest))
        whole = self._together(codes)
        near = self._near(whole)
        if int(near.max()) - 1 <= self.cap.of(len(codes)):
            return PartitionAnswer("yes", labels=np.zeros(len(codes), dtype=np.int64))
        witness = row_witness(len(codes), int(near.max()) - 1, self.cap, self.smallest)
        for entry in np.argsort(-near, kind="stable")[:_CENTRES].tolist():
            if witness is not None:
                break
            around = np.intersect1d(self.near.near(int(whole.codes[entry])), whole.codes)
            if self.allowance is not None:
                around = around[~self.allowance.codes[around]]
            counts = whole.counts[np.searchsorted(whole.codes, around)]
            heavy = np.sort(np.argsort(-counts, kind="stable")[:_TOGETHER])
            relation = SimilarityMatrix(self.near.matrix(around[heavy]))
            rows = np.repeat(np.arange(len(heavy)), counts[heavy])
            together = int(np.isin(rows, clique(relation, rows, _AROUND)).sum())
            witness = clique_witness(len(codes), together, self.cap, self.smallest)
        return PartitionAnswer("unknown") if witness is None else PartitionAnswer.no(witness)


def _kernel(line: LinearOrder, smallest: int) -> CompiledRule:
    """Return the compiled form: no crowd of more rows than groups, dealt in order."""
    places = np.arange(len(line.reach))
    if np.array_equal(line.reach, places):
        return CompiledRule(kinds.CROWD, (1, smallest, 1, 1), order=line.place)
    first = np.searchsorted(line.reach, places, side="left")
    table = np.concatenate((line.reach, first, line.reach))
    order = None if np.array_equal(line.place, places) else line.place
    return CompiledRule(kinds.CROWD, (1, smallest, 1, 1), table, order=order)
