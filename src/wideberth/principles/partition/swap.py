"""Dealing rows to groups in which nobody is near too many others, whatever being near means.

The rule is a cap: in a group of so many rows, how many others may be near a row. This module takes
a group apart, or does not find a way; `decide` finds out whether there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import Any

import numpy as np

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.errors import InfeasibleError
from wideberth.kernels import kinds
from wideberth.kernels.cache import missing
from wideberth.kernels.kinds import CompiledRule
from wideberth.kernels.randomness import Chance
from wideberth.principles.base import Rule

#: Up to so many rows, and until it has looked at so many swaps, the plain way is done before a
#: compiler would be.
_FEW, _SWAPS = 48, 20_000
#: What 64-bit arithmetic can do with: numerators and denominators of a cap.
_FINE = 2**30


@dataclass(frozen=True)
class NeighborCap:
    """At most ``(a * size - b) / q`` others of a group may be near a row.

    >>> NeighborCap.of_share(Fraction(3, 4)).of(5)
    1
    """

    a: int
    b: int
    q: int

    @classmethod
    def of_share(cls, delta: Fraction) -> NeighborCap:
        """At least the share δ of the others is far: at most (1 - δ)(size - 1) are near."""
        near = _modest(1 - delta)
        return cls(near.numerator, near.numerator, near.denominator)

    @classmethod
    def of_crowd(cls, wanted: Fraction) -> NeighborCap:
        """At most one in so many rows is near a row, itself included."""
        near = _modest(1 / wanted)
        return cls(near.numerator, near.denominator, near.denominator)

    def of(self, size: Any) -> Any:
        """Return how many others may be near a row in a group of that size."""
        return (self.a * size - self.b) // self.q

    @property
    def none(self) -> bool:
        """Whether no two rows of a group may be near each other, however large it is."""
        return self.a == 0


def _modest(share: Fraction) -> Fraction:
    """Return the largest fraction up to a share that 64-bit arithmetic can do with."""
    # It allows groups of fewer than `_FINE` rows as much: m rows of s are at most the share if, and
    # only if, m / s is, which is such a fraction itself.
    found = share.limit_denominator(_FINE)
    if found > share:  # its neighbour below, among all such fractions
        a, b = found.numerator, found.denominator
        per = _FINE - (_FINE - pow(a, -1, b)) % b
        found = Fraction((a * per - 1) // b, per)
    return found


@dataclass(frozen=True, eq=False)
class SimilarityMatrix:
    """The similarity of a few values: a symmetric matrix with a true diagonal."""

    near: Bools

    @property
    def words(self) -> int:
        """How many numbers of 64 bits hold a line."""
        return (len(self.near) + 63) >> 6

    @cached_property
    def bits(self) -> Ints:
        """The matrix as the kernels read it."""
        wide = np.zeros((len(self.near), 64 * self.words), dtype=bool)
        wide[:, : len(self.near)] = self.near
        return np.packbits(wide, axis=1, bitorder="little").reshape(-1).view("<i8")

    def degrees(self, codes: Ints) -> Ints:
        """Return how many other rows each row is near."""
        counts = np.bincount(codes, minlength=len(self.near))
        return (self.near @ counts)[codes] - 1


def deal_apart(
    relation: SimilarityMatrix,
    codes: Ints,
    hands: int,
    cap: NeighborCap,
    unit: int,
    steps: int,
    work: int,
) -> Ints | None:
    """Deal rows to so many groups of equal size, or fewer, such that nobody is near too many."""
    # `unit`: the smallest permitted group. `steps`, `work`: how many times two rows may change
    # places, and how many rows may be looked at for that, with each number of groups. Labels begin
    # at 0, the larger groups first; None if no groups were found.
    n = len(codes)
    if n < unit or hands < 1:
        return None
    if n <= _FEW and _PlainDealer.swaps < _SWAPS and _not_compiled():
        return _PlainDealer(relation.near[np.ix_(codes, codes)], cap, unit).parted(
            hands, steps, work
        )
    from wideberth.kernels import equal_groups

    short = np.zeros(equal_groups.LINES * (n + 1), dtype=np.int64)
    short[:n] = codes
    held = np.zeros(n * hands, dtype=np.int64)
    found = equal_groups.part_kernel()(
        relation.bits, relation.words, n, hands, unit, cap.a, cap.b, cap.q, steps, work, held, short
    )
    if not found:
        return None
    labels: Ints = short[equal_groups.LABEL * (n + 1) :][:n].copy()
    return labels


def color_equitably(near: Bools, hands: int) -> Ints:
    """Colour rows equitably, no two near ones alike: always possible with enough groups."""
    # Enough: more than any row has neighbours (Hajnal and Szemerédi). Much slower than
    # `deal_apart`.
    import networkx as nx

    graph = nx.from_numpy_array(near & ~np.eye(len(near), dtype=bool))
    colours = nx.equitable_color(graph, hands)
    return np.array([colours[v] for v in range(len(near))], dtype=np.int64)


@cache
def _not_compiled() -> bool:
    """Return whether no earlier run has compiled the kernel."""
    return bool(missing(["_part"]))


def plain_next_part_count(hands: int, n: int, unit: int, cap: NeighborCap) -> int:
    """Return the next smaller number of groups to try, as the kernel does."""
    if cap.none:
        hands -= max(hands // 4, 1)
        return hands if 2 * unit * hands > n or n < 2 * unit else 0
    if hands == n // unit:  # the size from which on a row may have one neighbour more
        size = unit
        while size < n and cap.of(size) == cap.of(unit):
            size += 1
        if kinds.EACH < n // size < hands - 1:
            return n // size
    return hands - 1 if hands <= kinds.EACH else hands // 2


class _PlainDealer:
    """The same decisions as the kernel's, without a compiler."""

    swaps = 0  # that were looked at, in this process

    def __init__(self, near: Bools, cap: NeighborCap, unit: int) -> None:
        self.near, self.cap, self.unit = near, cap, unit
        self.n = len(near)

    def parted(self, hands: int, steps: int, work: int) -> Ints | None:
        """See `deal_apart`."""
        degree = self.near.sum(axis=1) - 1
        most = int(degree.max())
        if self.n - 1 - most < self.unit - 1 - self.cap.of(self.unit):
            return None
        order = np.argsort(-degree, kind="stable")
        g = hands
        while g > 1:
            labels = self._attempt(order, g, steps, work)
            if labels is not None:
                return labels
            g = plain_next_part_count(g, self.n, self.unit, self.cap)
        whole = g == 1 and most <= self.cap.of(self.n)
        return np.zeros(self.n, dtype=np.int64) if whole else None

    def _attempt(self, order: Ints, g: int, steps: int, work: int) -> Ints | None:
        n = self.n
        size, larger = divmod(n, g)
        sizes = size + (np.arange(g) < larger)
        allowed = self.cap.of(sizes)
        if self.cap.of(size) < 0:
            return None
        held = np.zeros((n, g), dtype=np.int64)
        fill = np.zeros(g, dtype=np.int64)
        labels = np.zeros(n, dtype=np.int64)
        for v in order.tolist():
            key = np.where(fill < sizes, held[v] * (n + 1) + fill, np.iinfo(np.int64).max)
            labels[v] = best = int(key.argmin())
            fill[best] += 1
            held[self.near[v], best] += 1
        held[np.arange(n), labels] -= 1
        rest = np.zeros(n, dtype=np.int64)
        chance, step = 1, 0
        steps = min(steps, work // (n * (size + 1)))
        while True:
            surplus = np.maximum(held[np.arange(n), labels] - allowed[labels], 0)
            movable = np.flatnonzero((surplus > 0) & (rest <= step)).tolist()
            if not surplus.any():
                return labels
            step += 1
            if step > steps or surplus.sum() > kinds.PER_STEP * (steps - step + 1):
                return None
            if not movable:
                continue
            chance = _next(chance)
            v = movable[chance % len(movable)]
            others = np.flatnonzero((labels != labels[v]) & (rest <= step)).tolist()
            growth = [self._change(v, u, held, labels, allowed) for u in others]
            _PlainDealer.swaps += len(others)
            if not others:
                continue
            least = [u for u, more in zip(others, growth, strict=True) if more == min(growth)]
            chance = _next(chance)
            u = least[chance % len(least)]
            change = self.near[:, u].astype(np.int64) - self.near[:, v]
            change[u] -= 1
            change[v] += 1
            held[:, labels[v]] += change
            held[:, labels[u]] -= change
            labels[v], labels[u] = labels[u], labels[v]
            chance = _next(chance)
            rest[v] = rest[u] = step + 2 + chance % 4

    def _change(self, v: int, u: int, held: Ints, labels: Ints, allowed: Ints) -> int:
        total = 0
        for out, into in ((v, u), (u, v)):
            h = labels[out]
            most = allowed[h]
            stay = np.flatnonzero(labels == h)
            stay = stay[stay != out]
            now = held[stay, h]
            then = now - self.near[stay, out] + self.near[stay, into]
            total += int((np.maximum(then - most, 0) - np.maximum(now - most, 0)).sum())
            total += max(int(held[into, h] - self.near[v, u] - most), 0)
            total -= max(int(held[out, h] - most), 0)
        return total


def _next(chance: int) -> int:
    return chance * 48271 % 0x7FFFFFFF


# -----------------------------------------------------------------------------
# A searched rule among a few rows: who is near whom is known for all pairs of their values.


class BlockRule(Rule):
    """The rule of a block of rows; codes are places among the block's values."""

    monotone = False
    certain = False

    def __init__(self, relation: SimilarityMatrix, cap: NeighborCap, smallest: int) -> None:
        self.relation, self.cap = relation, cap
        self.smallest = self.least = smallest
        self.kernel = CompiledRule(kinds.APART, (cap.a, cap.b, cap.q), relation.bits)

    def satisfies(self, groups: Groups) -> Bools:
        """Return which groups have rows enough, none of them near too many."""
        near = np.array([self._crowd(groups, g) for g in range(len(groups))]) - 1
        return (near <= self.cap.of(groups.sizes)) & (groups.sizes >= self.smallest)

    def _crowd(self, groups: Groups, group: int) -> int:
        entries = slice(groups.start[group], groups.start[group + 1])
        codes, counts = groups.codes[entries], groups.counts[entries]
        return int((self.relation.near[np.ix_(codes, codes)] @ counts).max())

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the size of each group."""
        return {"k": groups.sizes.astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        """Return in words how many rows are near one of them."""
        return f"one row is near {self._crowd(groups, group) - 1:,} others"

    def feasible(self, groups: Groups) -> Bools:
        """Return for which groups a partition is found."""
        found = [self.hands(groups.rows(group)) > 0 for group in range(len(groups))]
        return np.array(found, dtype=bool)

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        """Partition one feasible group."""
        labels = next(self.ways(codes), None)
        if labels is None:
            raise InfeasibleError(f"found no partition of a group of {len(codes)} rows")
        return labels

    def certified(self, codes: Ints) -> bool:
        """Return whether Hajnal and Szemerédi's condition for equitable colouring is met."""
        # With one more colour than the most neighbours, every class has rows enough.
        most = int(self.relation.degrees(codes).max(initial=0))
        return len(codes) >= kinds.CERTIFIED and len(codes) >= self.smallest * (most + 1)

    def hands(self, codes: Ints) -> int:
        """Return into how many groups rows are to be dealt, 0 if no way is found."""
        if self.certified(codes):
            return len(codes) // self.smallest
        return next((int(labels.max()) + 1 for labels in self.ways(codes)), 0)

    def ways(self, codes: Ints) -> Iterator[Ints]:
        """Go through the groups that are found, the most first."""
        n = len(codes)
        hands = n // self.smallest
        while hands:
            steps = 2 * n + kinds.SWAPS
            labels = deal_apart(
                self.relation, codes, hands, self.cap, self.smallest, steps, kinds.WORK
            )
            if labels is None:
                return
            yield labels
            hands = plain_next_part_count(int(labels.max()) + 1, n, self.smallest, self.cap)
