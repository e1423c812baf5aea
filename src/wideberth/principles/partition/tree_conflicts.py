"""Groups of l rows or more, no two of them similar, where being similar is not transitive.

How many rows can be kept is bounded by cliques: g groups hold at most g rows of each, and need
g * l rows. `Conflicts.most` gives the most rows that g groups can hold, and it grows no faster
than g, so the bound is its value at the largest g that it fills. Rows then go to groups by
dealing, by colouring, or by whole components; what is found is compared with the bound. If it
falls short, `proving` is asked. What remains between what was found and what was proven is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from wideberth.core.exact import Bools, Ints
from wideberth.distances import Branches
from wideberth.kernels.randomness import Chance
from wideberth.principles.partition.conflicts import Conflicts
from wideberth.principles.partition.deal import shuffled_within
from wideberth.principles.partition.proving import best

#: For each class, the groups that hold a row of it.
Held: TypeAlias = list[Ints]

#: How groups are looked for.
WAYS = ("dealing", "colouring", "components", "patterns")

_FEW = 8  # numbers of groups to try
_FEWER = 3  # if there are many, and only groups of all rows will do
_AGAIN = 5  # times to try again by chance
_ROWS = 5000  # up to which that is done
_FAILURES = 50  # groups that cannot be filled
_PAIRS = 2000  # pairs of groups between which an exchange is tried


@dataclass(frozen=True, eq=False)
class Scattering:
    """Rows in groups."""

    labels: Ints  # the group of each row; -1 if it is left out
    at_least: int  # so many rows must be left out, whatever the groups
    how: str  # one of WAYS

    @property
    def left_out(self) -> int:
        """How many rows are in no group."""
        return int((self.labels < 0).sum())


def scatter(
    codes: Ints,
    near: Branches,
    smallest: int,
    rng: Chance,
    ways: Sequence[str] = WAYS,
    *,
    complete: bool = False,
) -> Scattering:
    """Put rows into groups of dissimilar ones, leaving out as few as possible."""
    # `rng` picks among the rows of a class, and has no say in how many are left out. `complete`:
    # only groups of all rows will do, so others need not be looked for.
    conflicts = Conflicts(near, codes)
    found: Held = [np.empty(0, dtype=np.int64) for _ in conflicts.count]
    how = ways[0]
    if complete and conflicts.fullest > len(codes) // smallest:
        return Scattering(_labels(conflicts, found, rng), 1, how)
    hands, kept = _most(conflicts, smallest)
    most = int(kept.sum())
    for name, held in _attempts(conflicts, smallest, hands, kept, ways, complete):
        if _rows(held) > _rows(found):
            found, how = held, name
        if _rows(found) == most:
            break
    if _rows(found) < most and "patterns" in ways:
        proof = best(conflicts, smallest)
        if proof is not None:
            most = most if proof.most is None else min(most, proof.most)
            if _rows(proof.held) > _rows(found):
                found, how = proof.held, "patterns"
    return Scattering(_labels(conflicts, found, rng), len(codes) - most, how)


def _rows(held: Held) -> int:
    return sum(map(len, held))


def _most(conflicts: Conflicts, smallest: int) -> tuple[int, Ints]:
    """Return the most groups that cliques leave room for, and the rows of each class they hold."""
    low, high = 0, len(conflicts.codes) // smallest
    if conflicts.fullest <= high:
        return high, conflicts.count
    while low < high:
        middle = (low + high + 1) // 2
        if int(conflicts.most(middle).sum()) >= middle * smallest:
            low = middle
        else:
            high = middle - 1
    return low, conflicts.most(low)


def _attempts(
    conflicts: Conflicts, smallest: int, top: int, kept: Ints, ways: Sequence[str], complete: bool
) -> Iterator[tuple[str, Held]]:
    """Yield groups, those that are made quickly first."""
    if not top:
        return
    if "dealing" in ways:
        held = _dealt(conflicts, kept, top)
        yield "dealing", _settled(conflicts, smallest, top, held, complete)
    roomy = conflicts.fullest <= top
    least = conflicts.fullest if roomy else (top + 1) // 2
    for hands in _numbers(least, top, _FEWER if complete else _FEW) if "colouring" in ways else ():
        quota = kept if roomy else conflicts.most(hands)
        held = _coloured(conflicts, quota, hands)
        yield "colouring", _settled(conflicts, smallest, hands, held, complete)
    # Of few rows, what ties and the order within a depth make of it; the same for equal tables.
    again = np.random.default_rng(0)
    few = "colouring" in ways and len(conflicts.codes) <= _ROWS
    for hands in [top, max(top - 1, 1)] * _AGAIN if few else ():
        quota = kept if conflicts.fullest <= hands else conflicts.most(hands)
        held = _coloured(conflicts, quota, hands, again)
        yield "colouring", _settled(conflicts, smallest, hands, held, complete)
    if "components" in ways:
        yield "components", _by_components(conflicts, smallest)


def _numbers(least: int, top: int, few: int) -> list[int]:
    """Return a few numbers from the top down."""
    if top - least < _FEW:
        return list(range(top, least - 1, -1))
    return sorted({*np.geomspace(least, top, few).astype(int).tolist(), top}, reverse=True)


def _dealt(conflicts: Conflicts, kept: Ints, hands: int) -> Held:
    """Deal the rows to the groups in turn, in the order of the tree."""
    # Similar classes mostly lie side by side in it; where two would meet in a group, the row of the
    # deeper one is left over.
    begin = np.cumsum(kept) - kept
    held: Held = [np.empty(0, dtype=np.int64) for _ in kept]
    for v in conflicts.shallow_first:
        turns = np.arange(begin[v], begin[v] + kept[v]) % hands
        held[v] = turns[_free(held, conflicts.shallower[v], hands)[turns]]
    return held


def _free(held: Held, classes: Ints, hands: int) -> Bools:
    """Return which groups hold none of some classes."""
    free = np.ones(hands, dtype=bool)
    free[np.concatenate([held[v] for v in classes.tolist()])] = False
    return free


def _coloured(conflicts: Conflicts, kept: Ints, hands: int, rng: Chance | None = None) -> Held:
    """Give each class, those near the root first, to the smallest groups that it fits in."""
    # Of classes equally near and groups equally small, `rng` decides if there is one. What is
    # similar to a class and lies no deeper is a clique, so a group is always free if there are as
    # many groups as rows in any clique.
    held: Held = [np.empty(0, dtype=np.int64) for _ in kept]
    sizes = np.zeros(hands, dtype=np.int64)
    order, turn, rank = conflicts.shallow_first, 0, np.arange(hands)
    if rng is not None:
        order = np.lexsort((rng.random(len(kept)), conflicts.depth)).tolist()
    for v in order:
        many = int(kept[v])
        open_ = np.flatnonzero(_free(held, conflicts.shallower[v], hands))
        if many < len(open_):  # of equally small ones those whose turn it is, as in dealing
            rank = rank if rng is None else rng.permutation(hands)
            key = sizes[open_] * hands + (rank[open_] - turn) % hands
            open_ = open_[np.argpartition(key, many)[:many]]
        held[v] = open_
        sizes[open_] += 1
        turn = (turn + many) % hands
    return held


def _by_components(conflicts: Conflicts, smallest: int) -> Held:
    """Treat all classes that are connected by similar ones as one bucket: safe, but coarse."""
    bucket = np.arange(len(conflicts.count))
    for similar in conflicts.similar:
        joined = np.unique(bucket[similar])
        if len(joined) > 1:
            bucket[np.isin(bucket, joined)] = joined[0]
    place = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    total = np.zeros(len(bucket), dtype=np.int64)
    np.add.at(total, place, conflicts.count)
    hands = len(conflicts.codes) // smallest
    while (rows := int(np.minimum(total, hands).sum())) < hands * smallest:
        hands = rows // smallest
    room = np.minimum(total, hands)
    held: Held = [np.empty(0, dtype=np.int64) for _ in bucket]
    start = 0
    for v in np.argsort(place, kind="stable").tolist() if hands else ():
        many = min(int(conflicts.count[v]), int(room[place[v]]))
        room[place[v]] -= many
        held[v] = np.arange(start, start + many) % hands
        start += many
    return held


def _settled(conflicts: Conflicts, smallest: int, hands: int, held: Held, complete: bool) -> Held:
    """Place rows left over, fill groups that are too small, and give up those that stay so."""
    # If only groups of all rows will do, too many groups that cannot be filled are reason to stop.
    tables = _Tables(conflicts, smallest, hands, held)
    tables.place(np.arange(hands))
    small = np.flatnonzero(tables.sizes < smallest)
    failures = 0
    for group in small[np.argsort(-tables.sizes[small], kind="stable")].tolist():
        tables.fill(group)
        failures += tables.sizes[group] < smallest
        if complete and failures > _FAILURES:
            return [np.empty(0, dtype=np.int64) for _ in held]
    small = np.flatnonzero((tables.sizes < smallest) & (tables.sizes > 0))
    for group in small[np.argsort(tables.sizes[small], kind="stable")].tolist():
        if tables.sizes[group] < smallest:  # another one's rows may have filled it
            tables.give_up(group)
    tables.place(np.flatnonzero(tables.sizes >= smallest))
    return tables.held


class _Tables:
    """Groups while rows still move between them."""

    def __init__(self, conflicts: Conflicts, smallest: int, hands: int, held: Held) -> None:
        self.conflicts = conflicts
        self.smallest = smallest
        self.held = held
        self.inside: list[list[int]] = [[] for _ in range(hands)]
        for v, groups in enumerate(held):
            for group in groups.tolist():
                self.inside[group].append(v)
        self.sizes = np.array([len(classes) for classes in self.inside])
        self.patience = _PAIRS

    def move(self, v: int, source: int | None, target: int | None) -> None:
        """Move a class's row from a group to another; None stands for no group."""
        groups = self.held[v]
        if source is not None:
            groups = groups[groups != source]
            self.inside[source].remove(v)
            self.sizes[source] -= 1
        if target is not None:
            groups = np.append(groups, target)
            self.inside[target].append(v)
            self.sizes[target] += 1
        self.held[v] = groups

    def open_to(self, v: int) -> Bools:
        """Return which groups hold nothing similar to a class."""
        return _free(self.held, self.conflicts.similar[v], len(self.sizes))

    def place(self, targets: Ints) -> None:
        """Put rows that are in no group into any of these that they fit in, the smallest first."""
        lacking = self.conflicts.count - [len(groups) for groups in self.held]
        for v in np.flatnonzero(lacking).tolist():
            fits = targets[self.open_to(v)[targets]]
            groups = fits[np.argsort(self.sizes[fits], kind="stable")][: lacking[v]]
            self.held[v] = np.append(self.held[v], groups)
            self.sizes[groups] += 1
            for group in groups.tolist():
                self.inside[group].append(v)

    def fill(self, group: int) -> None:
        """Let a group that is too small have rows of others that can spare them."""
        while self.sizes[group] < self.smallest:
            if not self._lend(group) and not self._exchange(group):
                return

    def _lend(self, group: int) -> bool:
        """Take a row that fits from a group that is larger than need be."""
        free = self.conflicts.apart(self.inside[group]).tolist()
        for other in np.flatnonzero(self.sizes > self.smallest).tolist():
            for v in self.inside[other]:
                if free[v]:
                    self.move(v, other, group)
                    return True
        return False

    def _exchange(self, group: int) -> bool:
        """Swap rows with another group so that this one gains, and the other can afford it."""
        for other in np.flatnonzero(self.sizes > self.smallest).tolist():
            if not self.patience:
                return False
            self.patience -= 1
            for mine, theirs in self._chains(self.inside[group], self.inside[other]):
                gain = len(theirs) - len(mine)
                if 0 < gain <= self.sizes[other] - self.smallest:
                    for v in mine:
                        self.move(v, group, other)
                    for v in theirs:
                        self.move(v, other, group)
                    return True
        return False

    def _chains(self, own: list[int], theirs: list[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield rows of two groups that are linked by being similar, those of each side apart."""
        # They can change sides together: neither group gets two similar rows by that.
        unseen = [set(own), set(theirs)]
        while unseen[1]:
            chain: tuple[list[int], list[int]] = ([], [])
            pending = [(min(unseen[1]), 1)]
            unseen[1].discard(pending[0][0])
            while pending:
                v, side = pending.pop()
                chain[side].append(v)
                near = unseen[1 - side].intersection(self.conflicts.similar[v].tolist())
                unseen[1 - side] -= near
                pending += [(u, 1 - side) for u in near]
            yield chain

    def give_up(self, group: int) -> None:
        """Dissolve a group; its rows go where they fit, first of all to others that lack some."""
        members = list(self.inside[group])
        for v in members:
            self.move(v, group, None)
        for v in members:
            fits = np.flatnonzero(self.open_to(v) & (self.sizes > 0))
            fits = fits[fits != group]
            if len(fits):
                self.move(v, None, int(fits[np.argmin(self.sizes[fits])]))


def _labels(conflicts: Conflicts, held: Held, rng: Chance) -> Ints:
    """Give the groups of each class to its rows at random, and number those that have any."""
    labels = np.full(len(conflicts.codes), -1, dtype=np.int64)
    order = shuffled_within(conflicts.member, rng)
    begin = np.cumsum(conflicts.count) - conflicts.count
    for start, groups in zip(begin.tolist(), held, strict=True):
        labels[order[start : start + len(groups)]] = groups
    used = np.unique(labels[labels >= 0])
    return np.where(labels >= 0, np.searchsorted(used, labels), -1)
