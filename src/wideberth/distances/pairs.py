"""Values as points: near if their points are, as far as floats can tell.

Distances of points are computed in three ways. For a list of pairs, directly. For a block of
pairs, |x - y|² = |x|² + |y|² - 2xy by one matrix product, which is fast but loses digits. For a
large group, by a tree of points, unless there are so many dimensions or neighbours that looking at
every pair is faster; a sample tells. Each way knows how wrong it may be, and leaves the pairs that
it cannot decide to the next: matrix and tree to the list, the list to exact arithmetic.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from math import isqrt
from time import process_time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.core.memory import budget

if TYPE_CHECKING:
    from scipy.spatial import cKDTree


# -----------------------------------------------------------------------------
# Who is near whom, decided pair by pair, a block of pairs at a time.
#
# A `PairTest` knows the verdict on any pair. `PairwiseSimilarity` asks it for the pairs that
# matter: those within a group. Small groups are many, so their pairs are listed and decided
# together; the pairs of a large group are the blocks of a matrix, of which there is never more
# than one in memory. No matter how a pair comes to be asked for, its verdict is the same, so
# neither the blocks nor the memory show.


_SMALL = 48  # values of a group whose pairs are listed
_CELLS = 1 << 18  # of a block: what the processor's cache holds
_PER_CELL = 64  # bytes that a cell of a block takes, if it is in doubt


class PairTest(ABC):
    """A measure that decides which pairs of codes, none of them missing, are near."""

    def __init__(self, per_pair: int) -> None:
        # per_pair: how many bytes it takes to decide one pair of a list.
        self.budget = budget()
        self.workers = os.cpu_count() or 1
        own = self.budget // self.workers
        self.pairs_at_once = max(1, own // per_pair)
        self.cells_at_once = max(1, min(own // _PER_CELL, _CELLS))

    @abstractmethod
    def listed(self, ones: Ints, others: Ints) -> Bools:
        """Return which pairs of a list are near; the list is short enough for the memory."""

    @abstractmethod
    def block(self, ones: Ints, others: Ints) -> Bools:
        """Return who of one list is near whom of the other, as a matrix."""

    def pairs(self, ones: Ints, others: Ints) -> Bools:
        """Return which pairs of a list of any length are near."""
        step = self.pairs_at_once
        if len(ones) <= step:
            return self.listed(ones, others)
        result = np.empty(len(ones), dtype=bool)
        for begin in range(0, len(ones), step):
            part = slice(begin, begin + step)
            result[part] = self.listed(ones[part], others[part])
        return result

    def among(self, codes: Ints, counts: Ints) -> Ints:
        """Count, for each of many different codes, the rows with codes near it, itself included."""
        return self.by_blocks(codes, counts)

    def by_blocks(self, codes: Ints, counts: Ints) -> Ints:
        """Do so by looking at every pair once, on all processors."""
        workers = self.workers if len(codes) ** 2 > 4 * self.cells_at_once else 1
        work = partial(self._by_blocks, codes, counts, workers)
        if workers == 1:
            return work(0)
        with ThreadPoolExecutor(workers) as pool:
            return counts - workers * counts + sum(pool.map(work, range(workers)))

    def _by_blocks(self, codes: Ints, counts: Ints, workers: int, worker: int) -> Ints:
        """Count what one worker's share of the blocks adds to the counts."""
        result = counts.copy()
        alone = bool((counts == 1).all())
        for rows, columns in islice(tiles(len(codes), self.cells_at_once), worker, None, workers):
            near = self.block(codes[rows], codes[columns])
            if rows == columns:
                np.fill_diagonal(near, False)
            else:
                result[columns] += sum_near_counts(near.T, None if alone else counts[rows])
            result[rows] += sum_near_counts(near, None if alone else counts[columns])
        return result

    def square(self, codes: Ints) -> Bools:
        """Return who of some different codes is near whom."""
        result = np.empty((len(codes), len(codes)), dtype=bool)
        for rows, columns in tiles(len(codes), self.cells_at_once):
            near = self.block(codes[rows], codes[columns])
            result[rows, columns] = near
            result[columns, rows] = near.T
        np.fill_diagonal(result, True)
        return result


def tiles(size: int, cells: int) -> Iterator[tuple[slice, slice]]:
    """Cut the upper half of a matrix into squares of about `cells` cells.

    >>> [(r.start, c.start) for r, c in tiles(5, 9)]
    [(0, 0), (0, 3), (3, 3)]
    """
    step = max(1, isqrt(cells))
    for row in range(0, size, step):
        for column in range(row, size, step):
            yield slice(row, min(row + step, size)), slice(column, min(column + step, size))


def sum_near_counts(near: Bools, counts: Ints | None) -> Ints:
    """Add up the counts of what each row is near to, or just count that.

    >>> sum_near_counts(np.array([[True, False, True]]), np.array([5, 7, 1])).tolist()
    [6]
    """
    if counts is None:
        return near.view(np.uint8).sum(axis=1, dtype=np.uint32).astype(np.int64)
    # Floats add up fast, and exactly up to 2**53.
    added = np.einsum("ij,j->i", near.astype(np.float64), counts.astype(np.float64))
    return np.asarray(added, dtype=np.int64)


class PairwiseSimilarity:
    """Similarity as a measure decides it."""

    def __init__(self, domain: Domain, measure: PairTest) -> None:
        self.known, self.missing = domain.known, domain.missing
        self.measure = measure

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        result = groups.counts.copy()
        # Of the codes of a group, a missing one is the last.
        sizes = groups.distinct - (groups.codes[groups.start[1:] - 1] >= self.known)
        for size in np.unique(sizes[(sizes > 1) & (sizes <= _SMALL)]).tolist():
            self._many_small(groups, groups.start[:-1][sizes == size], size, result)
        for group in np.flatnonzero(sizes > _SMALL):
            begin = int(groups.start[group])
            entries = slice(begin, begin + int(sizes[group]))
            result[entries] = self.measure.among(groups.codes[entries], groups.counts[entries])
        return result

    def _many_small(self, groups: Groups, begins: Ints, size: int, result: Ints) -> None:
        """Add who is near whom in groups of equal size, as many as fit into memory together."""
        one, other = np.triu_indices(size, 1)
        step = max(1, self.measure.pairs_at_once // len(one))
        for at in range(0, len(begins), step):
            begin = begins[at : at + step, None]
            ones, others = (begin + one).ravel(), (begin + other).ravel()
            near = self.measure.pairs(groups.codes[ones], groups.codes[others])
            ones, others = ones[near], others[near]
            np.add.at(result, ones, groups.counts[others])
            np.add.at(result, others, groups.counts[ones])

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        if code >= self.known:
            return np.array([code])
        every = np.arange(self.known)
        step = self.measure.cells_at_once
        row = [
            self.measure.block(np.array([code]), every[at : at + step])[0]
            for at in range(0, self.known, step)
        ]
        near = np.concatenate(row)
        near[code] = True
        return np.flatnonzero(near)

    def matrix(self, codes: Ints) -> Bools:
        """Return who of some codes is similar to whom."""
        distinct, place = np.unique(codes, return_inverse=True)
        result = np.eye(len(distinct), dtype=bool)
        known = int(np.searchsorted(distinct, self.known))
        result[:known, :known] = self.measure.square(distinct[:known])
        if np.array_equal(distinct, codes):
            return result
        return result[place[:, None], place]


# -----------------------------------------------------------------------------
# Values as points: near if their points are, as far as floats can tell.


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
class PointCloud:
    """Points, and which sums of their differences mean near or far."""

    points: Floats  # a row for each code
    p: int  # 1 to add up the absolute differences, 2 the squared ones
    inner: float  # a sum up to this means near, however it was rounded
    outer: float  # a sum beyond this means far, however it was rounded
    whole: bool = False  # whether all coordinates and sums are integers that floats hold exactly


class PointTest(PairTest):
    """Values near to each other if their points are; a subclass decides the doubtful pairs."""

    def __init__(self, cloud: PointCloud) -> None:
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
        forest = PointTrees(self, codes, counts)
        if self._tree_wins(forest):
            return forest.count(np.arange(len(codes)))
        return self.by_blocks(codes, counts)

    def _tree_wins(self, forest: PointTrees) -> bool:
        """Measure what some of the queries and one of the blocks take."""
        size = len(forest.codes)
        side = min(size, isqrt(self.cells_at_once))
        tile = forest.codes[:: size // side][:side]
        queries = np.arange(0, size, size // _SAMPLE)
        self.block(tile[:1], tile)  # prepares what all blocks share
        # In time of processors, which does not depend on what else they do.
        start = process_time()
        sum_near_counts(self.block(tile, tile), None)
        between = process_time()
        forest.count(queries)
        by_tree = (process_time() - between) * size / len(queries)
        by_blocks = (between - start) * (size / side) ** 2 / 2
        return by_tree <= by_blocks

    def by_tree(self, codes: Ints, counts: Ints) -> Ints:
        """Do so by range queries."""
        return PointTrees(self, codes, counts).count(np.arange(len(codes)))


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


class PointTrees:
    """Trees that count the rows near a point."""

    # A tree counts points, not rows, so there is one for each binary digit of the counts.

    def __init__(self, near: PointTest, codes: Ints, counts: Ints) -> None:
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
