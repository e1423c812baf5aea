"""How far apart a column's numbers lie: the largest ε for a given m, and the whole trade-off.

(ε,m)-anonymity is possible for a table of n rows if, and only if, no window of ε holds more than
h = floor(n / m) of them (Theorem 1). So ε must stay below the least distance between any number
and the one h ranks above it: S[i + h] - S[i]. For a relative ε the distance of x and y is the
smallest share at which either is in the other's neighbourhood: |x - y| / max(|x|, |y|).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from wideberth.core.codes import Codes, Domain
from wideberth.core.exact import Bools, Floats, Ints, Numbers, WholeNumbers, ratios, whole
from wideberth.core.memory import budget
from wideberth.errors import ParameterError

_CUT = 8  # a block of places is cut into so many
_LONGEST = 8**4  # places in a block
#: Bytes that a place of its own takes for each row.
_PER_ROW = 13
#: Neither an ε is so large nor twice a δ.
_FARTHEST = 2 * 10**300


class Spacing:
    """The sorted numbers of a column, ready to be asked how close together they lie."""

    def __init__(
        self, numbers: Numbers, counts: Ints, missing: int, relative: bool, besides: int = 0
    ) -> None:
        # missing: rows without a number, which are a crowd of their own, whatever ε. besides:
        # further rows, which are in no crowd. relative: ε is a share of the numbers.
        # Each row has a place; or each number, if rows would take too much memory.
        if not counts.all():  # numbers of a reference, perhaps, that nobody here has
            numbers, counts = Numbers(numbers.units[counts > 0], numbers.per), counts[counts > 0]
        self.numbers = numbers
        self.relative = relative
        self.crowd = max(int(counts.max(initial=0)), missing)  # the fullest window for ε = 0
        self.known = int(counts.sum())
        self.rows = self.known + missing + besides
        # Floats find the closest pairs, integers decide among those that floats cannot tell apart.
        self.bound = numbers.bound
        exact = self.bound < 2**53
        if exact:
            self.sorted = numbers.units.astype(np.float64)
        else:  # in a unit in which no distance of two is beyond floats
            moderate = relative and self.bound < numbers.per << 1000
            unit = 4 * numbers.per if moderate else self.bound
            self.sorted = ratios(numbers.units.astype(object), unit)
        self.margin = 0.0 if exact and not relative else 2.0**-48
        #: Which number is at each place, if each row has one; else each number has.
        self.held: Codes | None = None
        #: The first rank of each number, and the one after the last.
        self.begins = np.concatenate(([0], np.cumsum(counts)))
        if self.known * _PER_ROW <= budget():
            self.held = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
            self.sorted = self.sorted[self.held]
            self.lowest = np.zeros(self.known, dtype=bool)  # of the rows with the same number
            self.lowest[self.begins[:-1]] = True
        self._coarse: dict[int, Floats] = {}

    @classmethod
    def of(
        cls, domain: Domain, counts: Ints, *, relative: bool = False, allowed: Bools | None = None
    ) -> Spacing:
        """Sort an attribute that holds numbers."""
        # allowed: the codes of values that are in no crowd.
        numbers = domain.numbers
        if numbers is None:
            raise ParameterError(
                f"'{domain.name}' holds no numbers, so there is no epsilon",
                hint="the principles for categories need none",
            )
        if relative:
            refuse_dates(domain)
        known = domain.known
        besides = 0
        if allowed is not None:
            besides, counts = int(counts[allowed].sum()), np.where(allowed, 0, counts)
        return cls(numbers, counts[:known], int(counts[known:].sum()), relative, besides)

    def supremum(self, most: int) -> Fraction | None:
        """Return the least ε at which a window holds more than `most` rows; None if none does."""
        # Any smaller ε is fine, this one is not. A relative ε goes up to 1 only.
        if self.crowd > most:
            return Fraction(0)
        if most >= self.known:
            return None
        closest = self._closest(most)
        if not len(closest):
            return None
        if not self.margin:  # then they are all the same
            closest = closest[:1]
        ends = closest, self._reached(closest, most)
        low, high = ends if self.held is None else (self.held[places] for places in ends)
        least = self._least(low, high)
        return None if least > _FARTHEST else least

    def steps(self) -> Iterator[tuple[Fraction | None, int]]:
        """Yield each ε that m must give way to, with the largest m below it, from m = 1 up."""
        # There are at most 2 sqrt(n) steps, for floor(n/m) has no more values than that.
        rooms = []  # the values of floor(n / m), descending
        m = 1
        while m <= self.rows // max(self.crowd, 1):
            rooms.append(self.rows // m)
            m = self.rows // rooms[-1] + 1
        found: dict[int, Fraction | None] = {}
        pending = [(0, len(rooms) - 1)]
        while pending:  # between two equal ones all are equal
            low, high = pending.pop()
            for end in (low, high):
                if end not in found:
                    found[end] = self.supremum(rooms[end])
            if high - low > 1 and found[low] != found[high]:
                middle = (low + high) // 2
                pending += [(low, middle), (middle, high)]
        places = sorted(found)
        for place, after in zip(places, [*places[1:], None], strict=True):
            if after is None or found[place] != found[after]:
                yield found[place], self.rows // rooms[place]

    def _closest(self, most: int) -> Ints:
        """Return the places from which `most` ranks further up is least far, as floats see it."""
        # The places are taken in blocks. From any place of a block it is at least as far as from
        # the block's end to where its beginning leads. A block for which that is farther than from
        # some place seen already is done with, the others are cut into smaller ones.
        many = self.known - most  # from places beyond, it leads nowhere
        if self.held is None:
            many = int(np.searchsorted(self.begins, many))
        room = most * len(self.sorted) // self.known  # places on the way, on average
        block = 1
        while block < _LONGEST and block * (_CUT if self.held is None else _CUT**2) <= room:
            block *= _CUT
        blocks = np.arange(-(-many // block))
        best, witness = np.inf, blocks[:0]
        while block > 1 and len(blocks):
            bound = self._bounds(blocks, block, most, many)
            seen = np.append(blocks[bound.argmin()], blocks[::_CUT]) * block
            distances = self._apart(seen, most)
            nearest = int(distances.argmin())
            if distances[nearest] < best:
                best, witness = float(distances[nearest]), seen[nearest : nearest + 1]
            open_ = bound <= best + self.margin if self.margin else bound < best
            blocks = (blocks[open_][:, None] * _CUT + np.arange(_CUT)).ravel()
            block //= _CUT
            blocks = blocks[: np.searchsorted(blocks * block, many)]
        # From the lowest of several equal rows it is least far.
        blocks = blocks if self.held is None else blocks[self.lowest[blocks]]
        found = np.append(blocks, witness)
        distances = self._apart(found, most)
        least = distances.min(initial=np.inf)
        return found[:0] if np.isinf(least) else found[distances <= least + self.margin]

    def _bounds(self, blocks: Ints, block: int, most: int, many: int) -> Floats:
        """Return how far it is at least from any place of each block."""
        if self.held is None:
            ends = np.minimum(blocks * block + block, many) - 1
            leads = self._reached(blocks * block, most)
            return self._distances(self.sorted[ends], self.sorted[leads])
        # Rounded down to a block, it leads equally far from every one.
        if block not in self._coarse:
            self._coarse[block] = self.sorted[::block].copy()
        coarse, further = self._coarse[block], most // block
        if blocks[-1] - blocks[0] == len(blocks) - 1:  # a slice is much faster than a choice
            begin, end = int(blocks[0]), int(blocks[-1]) + 1
            return self._distances(
                coarse[begin + 1 : end + 1], coarse[begin + further : end + further]
            )
        return self._distances(coarse[blocks + 1], coarse[blocks + further])

    def _reached(self, places: Ints, most: int) -> Ints:
        """Return the place that is `most` ranks above the first rank of each place."""
        if self.held is not None:
            return places + most
        return np.searchsorted(self.begins, self.begins[places] + most, side="right") - 1

    def _apart(self, places: Ints, most: int) -> Floats:
        return self._distances(self.sorted[places], self.sorted[self._reached(places, most)])

    def _distances(self, low: Floats, high: Floats) -> Floats:
        """Return the distances, none of which shrinks if low falls or high rises."""
        # Where low is above high, the distance is below 0.
        difference: Floats = high - low
        if not self.relative:
            return difference
        if self.sorted[0] > 0:
            return difference / high
        size = np.maximum(np.abs(low), np.abs(high))
        share = np.divide(difference, size, out=np.zeros_like(difference), where=size > 0)
        share[(low < 0) & (high > 0)] = np.inf  # beyond 1, so never similar
        return share

    def _least(self, low: Ints | Codes, high: Ints | Codes) -> Fraction:
        """Return the least distance among pairs of numbers, exactly."""
        x, y = (whole(self.numbers.units[codes], 2 * self.bound) for codes in (low, high))
        difference: WholeNumbers = y - x
        if not self.relative:
            return Fraction(int(difference.min()), self.numbers.per)
        difference, size = (
            whole(figures, 2 * self.bound**2)
            for figures in (difference, np.maximum(abs(x), abs(y)))
        )
        while True:  # each round leaves smaller shares than that of the pair in the middle
            middle = len(size) // 2
            a, b = int(difference[middle]), int(size[middle])
            less = difference * b < size * a
            if not less.any():
                return Fraction(a, b)
            difference, size = difference[less], size[less]


def refuse_dates(domain: Domain) -> None:
    """Refuse a relative ε for dates."""
    if domain.dated:
        raise ParameterError(
            f"a share of a date means nothing (column '{domain.name}')",
            hint="give epsilon as a number of days",
        )
