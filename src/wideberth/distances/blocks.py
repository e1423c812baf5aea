"""Who is near whom, decided pair by pair, a block of pairs at a time.

A `Measure` knows the verdict on any pair. `Near` asks it for the pairs that matter: those within a
group. Small groups are many, so their pairs are listed and decided together; the pairs of a large
group are the blocks of a matrix, of which there is never more than one in memory. No matter how a
pair comes to be asked for, its verdict is the same, so neither the blocks nor the memory show.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from math import isqrt

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups
from wideberth.core.memory import budget

_SMALL = 48  # values of a group whose pairs are listed
_CELLS = 1 << 18  # of a block: what the processor's cache holds
_PER_CELL = 64  # bytes that a cell of a block takes, if it is in doubt


class Measure(ABC):
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
                result[columns] += weigh(near.T, None if alone else counts[rows])
            result[rows] += weigh(near, None if alone else counts[columns])
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


def weigh(near: Bools, counts: Ints | None) -> Ints:
    """Add up the counts of what each row is near to, or just count that.

    >>> weigh(np.array([[True, False, True]]), np.array([5, 7, 1])).tolist()
    [6]
    """
    if counts is None:
        return near.view(np.uint8).sum(axis=1, dtype=np.uint32).astype(np.int64)
    # Floats add up fast, and exactly up to 2**53.
    added = np.einsum("ij,j->i", near.astype(np.float64), counts.astype(np.float64))
    return np.asarray(added, dtype=np.int64)


class Near:
    """Similarity as a measure decides it."""

    def __init__(self, domain: Domain, measure: Measure) -> None:
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
