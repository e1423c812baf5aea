"""Values as points: near if their points are, as far as floats can tell.

Distances of points are computed in three ways. For a list of pairs, directly. For a block of
pairs, |x - y|² = |x|² + |y|² - 2xy by one matrix product, which is fast but loses digits. For a
large group, by a tree of points, unless there are so many dimensions or neighbours that looking at
every pair is faster; a sample tells. Each way knows how wrong it may be, and leaves the pairs that
it cannot decide to the next: matrix and tree to the list, the list to exact arithmetic.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from time import process_time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.distances.blocks import Measure, weigh

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

_TREE_FROM = 2000  # points; fewer are compared one by one soon enough
_SAMPLE = 256  # points to measure with
_LEAF = 32  # points in a leaf of the tree
_EXACT_TAKES = 8  # times the memory that floats take, at most
_PER_FOUND = 48  # bytes that a neighbour in a list of the tree takes
_FEW = 1 / 32  # of the pairs of a block
_PANEL = 16  # rows of a small product
_ALONE = 1 << 18  # multiplications that no library starts threads for

Real: TypeAlias = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Cloud:
    """Points, and which sums of their differences mean near or far."""

    points: Floats  # a row for each code
    p: int  # 1 to add up the absolute differences, 2 the squared ones
    inner: float  # a sum up to this means near, however it was rounded
    outer: float  # a sum beyond this means far, however it was rounded
    whole: bool = False  # whether all coordinates and sums are integers that floats hold exactly


class Points(Measure):
    """Values near to each other if their points are; a subclass decides the doubtful pairs."""

    def __init__(self, cloud: Cloud) -> None:
        points = cloud.points
        super().__init__(per_pair=3 * points.itemsize * points.shape[1] + 64)
        self.points, self.p, self.whole = points, cloud.p, cloud.whole
        self.inner, self.outer = cloud.inner, cloud.outer

    @abstractmethod
    def settle(self, ones: Ints, others: Ints) -> Bools:
        """Decide pairs that floats cannot, each with its smaller code first."""

    def listed(self, ones: Ints, others: Ints) -> Bools:
        """Return which pairs of a list are near."""
        apart = self.points[ones] - self.points[others]
        sums = np.abs(apart).sum(axis=1) if self.p == 1 else np.einsum("ij,ij->i", apart, apart)
        near = sums <= self.inner
        doubtful = np.flatnonzero(near != (sums <= self.outer))
        step = max(1, self.pairs_at_once // _EXACT_TAKES)
        for begin in range(0, len(doubtful), step):
            part = doubtful[begin : begin + step]
            one, other = ones[part], others[part]
            near[part] = self.settle(np.minimum(one, other), np.maximum(one, other))
        return np.asarray(near)

    def block(self, ones: Ints, others: Ints) -> Bools:
        """Return who of one list is near whom of the other, as a matrix."""
        left, right, margin = self._factors
        sums = multiply(left[ones], right[others])
        if self.p == 1:
            # As the crow flies, no way is longer: often that leaves few pairs to look at.
            maybe = sums <= self.outer**2 + margin
            if np.count_nonzero(maybe) < _FEW * maybe.size:
                near = np.zeros_like(maybe)
                self.decide(near, maybe, ones, others)
                return near
            from scipy.spatial.distance import cdist

            sums, margin = cdist(self.points[ones], self.points[others], "cityblock"), 0.0
        near = np.asarray(sums <= self.inner - margin)
        if margin or self.inner < self.outer:
            maybe = np.asarray(sums <= self.outer + margin)
            if np.count_nonzero(maybe) > np.count_nonzero(near):
                self.decide(near, maybe ^ near, ones, others)
        return near

    def decide(self, near: Bools, doubtful: Bools, ones: Ints, others: Ints) -> None:
        """Write the verdicts on the doubtful pairs of a matrix into it."""
        one, other = np.divmod(np.flatnonzero(doubtful), len(others))
        near[one, other] = self.pairs(ones[one], others[other])

    @cached_property
    def _factors(self) -> tuple[Real, Real, float]:
        """Two matrices whose product holds all squared distances, and how wrong these may be."""
        # (-2x, |x|², 1) times (y, 1, |y|²) has terms whose sizes add up to at most 4r², with r the
        # longest x. Each is rounded when it is converted, multiplied and added.
        square = np.einsum("ij,ij->i", self.points, self.points)[:, None]
        one = np.ones_like(square)
        left = np.hstack((-2 * self.points, square, one))
        right = np.hstack((self.points, one, square))
        terms = 4 * float(square.max(initial=0)) * (left.shape[1] + 8)
        whole = self.whole and self.p == 2
        single = 0.0 if whole and terms < 2**24 else terms * 2.0**-22
        if single <= self.outer ** (2 / self.p) * 2.0**-9:  # few pairs are in doubt
            return left.astype(np.float32), right.astype(np.float32), single
        return left, right, 0.0 if whole else terms * 2.0**-51

    def among(self, codes: Ints, counts: Ints) -> Ints:
        """Count, for each of many different codes, the rows with codes near it, itself included."""
        if len(codes) < _TREE_FROM:
            return self.by_blocks(codes, counts)
        forest = Forest(self, codes, counts)
        if self._tree_wins(forest):
            return forest.count(np.arange(len(codes)))
        return self.by_blocks(codes, counts)

    def _tree_wins(self, forest: Forest) -> bool:
        """Measure what some of the queries and one of the blocks take."""
        size = len(forest.codes)
        side = min(size, isqrt(self.cells_at_once))
        tile = forest.codes[:: size // side][:side]
        queries = np.arange(0, size, size // _SAMPLE)
        self.block(tile[:1], tile)  # prepares what all blocks share
        # In time of processors, which does not depend on what else they do.
        start = process_time()
        weigh(self.block(tile, tile), None)
        between = process_time()
        forest.count(queries)
        by_tree = (process_time() - between) * size / len(queries)
        by_blocks = (between - start) * (size / side) ** 2 / 2
        return by_tree <= by_blocks

    def by_tree(self, codes: Ints, counts: Ints) -> Ints:
        """Do so by range queries."""
        return Forest(self, codes, counts).count(np.arange(len(codes)))


def multiply(left: Real, right: Real) -> Real:
    """Return the products of all rows of one matrix with all rows of another."""
    # As many small products rather than a large one, if rows are short: for that, the library would
    # start threads that wait for each other, and the blocks have threads already.
    if _PANEL * right.size > _ALONE:
        return np.asarray(left @ right.T)
    result = np.empty((len(left), len(right)), dtype=left.dtype)
    whole = len(left) // _PANEL * _PANEL
    panels = left[:whole].reshape(-1, _PANEL, left.shape[1])
    np.matmul(panels, right.T, out=result[:whole].reshape(-1, _PANEL, len(right)))
    np.matmul(left[whole:], right.T, out=result[whole:])
    return result


class Forest:
    """Trees that count the rows near a point."""

    # A tree counts points, not rows, so there is one for each binary digit of the counts.

    def __init__(self, near: Points, codes: Ints, counts: Ints) -> None:
        from scipy.spatial import cKDTree

        self.measure, self.codes, self.counts = near, codes, counts
        self.points = near.points[codes]
        self.all = cKDTree(self.points, leafsize=_LEAF)
        self.trees: list[tuple[int, cKDTree]] = []
        for digit in range(int(counts.max()).bit_length()):
            chosen = (counts >> digit & 1).astype(bool)
            if chosen.all():
                self.trees.append((digit, self.all))
            elif chosen.any():
                self.trees.append((digit, cKDTree(self.points[chosen], leafsize=_LEAF)))
        # On its way down a tree adds to and takes from sums as large as its whole extent.
        extent = (np.ptp(self.points, axis=0) ** near.p).sum()
        # Whole numbers it adds exactly, but a root that is squared again may be the next one.
        exactly = near.whole and (near.p == 1 or near.outer < 2**48)
        margin = 0.0 if exactly else extent * 2.0**-40
        self.inner, self.outer = (
            reach ** (1 / near.p) if reach >= 0 else -1.0
            for reach in (near.inner - margin, near.outer + margin)
        )

    def count(self, asked: Ints) -> Ints:
        """Count the rows near the points at some places."""
        result = self._rows(asked, self.inner)
        if self.inner == self.outer:
            return result
        doubtful = np.flatnonzero(result != self._rows(asked, self.outer))
        if not len(doubtful):
            return result
        found = self._within(asked[doubtful], self.outer, self.all)
        run = np.cumsum(found) // max(1, self.measure.budget // _PER_FOUND)
        for part in np.split(doubtful, np.flatnonzero(np.diff(run)) + 1):
            result[part] = self._settled(asked[part])
        return result

    def _settled(self, asked: Ints) -> Ints:
        near = self.all.query_ball_point(self.points[asked], self.outer, p=self.measure.p)
        lengths = np.array([len(found) for found in near], dtype=np.int64)
        other = np.concatenate([np.array(found, dtype=np.int64) for found in near])
        place = np.repeat(np.arange(len(asked)), lengths)
        one = asked[place]
        same = one == other
        verdict = self.measure.pairs(self.codes[one], self.codes[other]) | same
        result = np.zeros(len(asked), dtype=np.int64)
        np.add.at(result, place[verdict], self.counts[other[verdict]])
        return result

    def _rows(self, asked: Ints, radius: float) -> Ints:
        result = np.zeros(len(asked), dtype=np.int64)
        for digit, tree in self.trees if radius >= 0 else ():
            result += self._within(asked, radius, tree) << digit
        return result

    def _within(self, asked: Ints, radius: float, tree: cKDTree) -> Ints:
        found = tree.query_ball_point(
            self.points[asked], radius, p=self.measure.p, return_length=True, workers=-1
        )
        return np.asarray(found, dtype=np.int64)
