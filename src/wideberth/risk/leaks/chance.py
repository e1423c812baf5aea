"""How likely a shuffled file is to look like this one.

Rows are compared within groups only: within them, every order is equally likely.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition

#: Places to compare, of very many.
_PLACES = 20_000
_GLANCE = 1_000


@dataclass(frozen=True, eq=False)
class Listing:
    """Rows group by group, those of a group as they come in the file."""

    partition: Partition
    order: Ints
    start: Ints  # group ``g`` has the rows ``order[start[g]:start[g + 1]]``

    @classmethod
    def of(cls, partition: Partition) -> Listing:
        """List all rows."""
        sizes = np.bincount(partition.labels, minlength=partition.count)
        # To sort whole numbers that hold group and row is faster than a stable sort of groups.
        bits = len(partition.labels).bit_length()
        keys = partition.labels.astype(np.int64) << bits | np.arange(len(partition.labels))
        keys.sort()
        order = keys & ((1 << bits) - 1)
        return cls(partition, order, np.concatenate(([0], np.cumsum(sizes))))

    @classmethod
    def whole(cls, rows: int) -> Listing:
        """List the rows of a file as a single group."""
        partition = Partition(np.zeros(rows, dtype=np.int32), 1)
        return cls(partition, np.arange(rows), np.array([0, rows]))

    def only(self, rows: Ints) -> Listing:
        """Leave out all rows but some; groups may become empty, and labels are of no use then."""
        kept = np.zeros(len(self.order), dtype=bool)
        kept[rows] = True
        before = np.concatenate(([0], np.cumsum(kept[self.order])))
        return Listing(self.partition, self.order[kept[self.order]], before[self.start])

    def sorted(self, codes: Codes) -> bool:
        """Return whether all groups are sorted, all in the same direction."""
        # A glance at the first rows mostly tells that they are not.
        return self._sorted(codes, _GLANCE) and self._sorted(codes, len(self.order))

    def _sorted(self, codes: Codes, rows: int) -> bool:
        steps = np.diff(codes[self.order[:rows]])
        begins = self.start[1 : np.searchsorted(self.start, len(steps), side="right")]
        steps[begins - 1] = 0  # from one group to the next
        return bool((steps >= 0).all() or (steps <= 0).all())

    def pairs(self, *, far: bool) -> tuple[Ints, Ints]:
        """Return pairs of rows of one group, the earlier first; no row is in two of them."""
        sizes = np.diff(self.start)
        halves = sizes // 2
        owner = np.repeat(np.arange(len(sizes)), halves)
        nth = np.arange(len(owner)) - np.repeat(np.cumsum(halves) - halves, halves)
        first = self.start[owner] + (nth if far else 2 * nth)
        second = first + (sizes - halves)[owner] if far else first + 1
        return self.order[first], self.order[second]


@dataclass(frozen=True)
class Agreement:
    """How many rows have the value that the original has in their place."""

    chance: float  # a bound on the probability that so many agree in a shuffled file
    places: int  # how many were looked at
    agreeing: int  # in how many of them the values agree
    expected: float  # in how many they do in a shuffled file, on average


def agreeing(partition: Partition, ours: Codes, theirs: Codes, width: int) -> Agreement:
    """Compare two sequences place by place, one of which may be shuffled within groups.

    >>> found = agreeing(Partition(np.zeros(4, int), 1), np.arange(4), np.arange(4), 4)
    >>> found.agreeing, found.expected
    (4, 1.0)
    """
    # Chatterjee 2007, Proposition 1.1; it holds for several permutations as for one, because it is
    # a bound on the moment generating function, and that of independent sums is a product.
    labels = partition.labels.astype(np.int64)
    sizes = np.bincount(labels, minlength=partition.count)
    held = np.sort(labels * width + ours)
    some = slice(None, None, -(-len(ours) // _PLACES))  # any places do, if they are fixed before
    ours, theirs, labels = ours[some], theirs[some], labels[some]
    wanted = np.sort(labels * width + theirs)  # in order, they are found faster
    same = np.searchsorted(held, wanted, "right") - np.searchsorted(held, wanted, "left")
    expected = float((same / sizes[wanted // width]).sum())
    agree = int((ours == theirs).sum())
    beyond = agree - expected
    chance = 2 * exp(-(beyond**2) / (4 * expected + 2 * beyond)) if beyond > 0 else 1.0
    return Agreement(chance, len(ours), agree, round(expected, 1))


def log_orders(partition: Partition, codes: Codes) -> float:
    """Return the logarithm of how many orders the rows could have, group by group."""
    from scipy.special import gammaln

    sizes = np.bincount(partition.labels)
    _, counts = np.unique(
        partition.labels.astype(np.int64) * (int(codes.max()) + 1) + codes, return_counts=True
    )
    return float(gammaln(sizes + 1).sum() - gammaln(counts + 1).sum())


@dataclass(frozen=True)
class Coins:
    """How many pairs of rows are in ascending order, or in descending order, if these are more."""

    chance: float  # the probability that so many are, in a shuffled file
    pairs: int
    share: float  # of the pairs that are in the same order


def coins(listing: Listing, values: Ints | Codes) -> Coins | None:
    """Toss a coin for each pair: does the larger value come last? None if there is no pair."""
    from scipy.special import bdtrc

    worst = None
    for far in (True, False):
        first, second = listing.pairs(far=far)
        rising = int((values[first] < values[second]).sum())
        pairs = int((values[first] != values[second]).sum())
        if pairs:
            most = max(rising, pairs - rising)
            chance = min(1.0, 2 * float(bdtrc(most - 1, pairs, 0.5)))
            found = Coins(chance, pairs, round(most / pairs, 3))
            if worst is None or found.chance < worst.chance:
                worst = found
    return worst
