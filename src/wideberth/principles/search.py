"""Rules whose partitions must be searched for.

Whether a group can be partitioned is NP-hard in general. `feasible` is exact for small groups;
beyond, it answers yes only with a partition in hand, so that a no may also mean: not found.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wideberth.distances import Similarity
from wideberth.errors import InfeasibleError
from wideberth.exact import Bools, Ints
from wideberth.groups import Groups
from wideberth.principles.base import Rule, remembered
from wideberth.principles.dealing import deal, partition_exactly, shuffled_within

_EXACT_UP_TO = 10  # rows: 3**10 steps


class Searched(Rule):
    """A rule whose partitions must be searched for."""

    monotone = False
    certain = False
    smallest: int

    def __init__(self, near: Similarity, width: int) -> None:
        self.near = near
        self.width = width  # of the domain: how many codes there are

    @remembered
    def crowd(self, groups: Groups) -> Ints:
        """The most rows of each group that are near one of them, itself included."""
        return groups.max(self.near.crowd(groups))

    def feasible(self, groups: Groups) -> Bools:
        """Tell for which groups a partition is found; see the module's remark."""
        verdict = self.satisfies(groups)
        for group in np.flatnonzero(~verdict):
            verdict[group] = self._partition(groups.rows(group), _any()) is not None
        return verdict

    def finish(self, codes: Ints, rng: np.random.Generator) -> Ints:
        """Partition one group, or say that no partition was found."""
        # The search sees the sorted codes only; who of several equal rows goes where is chance.
        order = shuffled_within(codes, rng)
        found = self._partition(codes[order], rng)
        if found is None:
            raise InfeasibleError(f"found no partition of a group of {len(codes)} rows")
        labels = np.empty_like(found)
        labels[order] = found
        return labels

    def _all_satisfy(self, codes: Ints, labels: Ints) -> bool:
        parts = [codes[labels == label] for label in np.unique(labels)]
        return bool(self.satisfies(Groups.of(parts, self.width)).all())

    def _partition(self, codes: Ints, rng: np.random.Generator) -> Ints | None:
        """Return labels for ascending codes such that every part satisfies, if any are found.

        Whether any are found must not depend on the generator.
        """
        whole = np.zeros(len(codes), dtype=np.int64)
        if self._all_satisfy(codes, whole):
            return whole
        if len(codes) <= _EXACT_UP_TO:
            return partition_exactly(
                len(codes), lambda rows: self._all_satisfy(codes[rows], np.zeros_like(rows))
            )
        for labels in self._attempts(codes):
            if self._all_satisfy(codes, labels):
                return labels
        return None

    def _attempts(self, codes: Ints) -> Iterator[Ints]:
        """Propose partitions into fewer and fewer groups."""
        hands = len(codes) // self.smallest
        while hands > 1:
            yield deal(codes, hands, _any())
            yield self._spread(codes, hands)
            hands = hands * 3 // 4

    def _spread(self, codes: Ints, hands: int) -> Ints:
        """Give each row, those with most neighbours first, to the group with fewest of them."""
        values, place, counts = np.unique(codes, return_inverse=True, return_counts=True)
        near = [np.flatnonzero(np.isin(values, self.near.near(int(v)))) for v in values]
        crowded = np.array([counts[others].sum() for others in near])
        held = np.zeros((hands, len(values)), dtype=np.int64)
        sizes = np.zeros(hands, dtype=np.int64)
        labels = np.empty(len(codes), dtype=np.int64)
        room = -(-len(codes) // hands)
        for row in np.argsort(-crowded[place], kind="stable"):
            conflicts = held[:, near[place[row]]].sum(axis=1)
            conflicts = np.where(sizes >= room, len(codes) + 1, conflicts)
            best = int(np.lexsort((sizes, conflicts))[0])
            labels[row] = best
            held[best, place[row]] += 1
            sizes[best] += 1
        return labels


def _any() -> np.random.Generator:
    """Return a fixed generator, for choices that decide nothing."""
    return np.random.default_rng(0)
