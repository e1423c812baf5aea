"""A partition is an array of labels; what a principle sees of it is one histogram per group.

Histograms are additive, so the union of two groups is the sum of their histograms, and a check
never touches a row again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wideberth.encode import Codes, Column, compress
from wideberth.exact import Ints


@dataclass(frozen=True, eq=False)
class Partition:
    """Which group each row is in: ``labels[row]`` from 0 to ``count - 1``."""

    labels: Codes
    count: int

    @classmethod
    def by_equality(cls, columns: Sequence[Column], rows: int) -> Partition:
        """Group the rows that agree on every column. Labels follow the columns' value order."""
        labels = np.zeros(rows, dtype=np.int32)
        count = 1
        for column in columns:
            size = column.domain.size
            key = labels.astype(np.int64)
            key *= size
            key += column.codes
            present, labels = compress(key, count * size)
            count = len(present)
        return cls(labels, count)

    def first_rows(self) -> Ints:
        """Return the first row of each group."""
        first = np.zeros(self.count, dtype=np.int64)
        first[self.labels[::-1]] = np.arange(len(self.labels))[::-1]
        return first

    def histograms(self, column: Column) -> Groups:
        """Count the codes of a column in each group."""
        width = column.domain.size
        key = self.labels.astype(np.int64)
        key *= width
        key += column.codes
        if self.count * width <= 4 * len(key) + 1024:
            table = np.bincount(key, minlength=self.count * width)
            cells = np.flatnonzero(table)
            counts = table[cells]
        else:
            key.sort()
            edges = np.flatnonzero(np.diff(key, prepend=-1))
            cells = key[edges]
            counts = np.diff(edges, append=len(key))
        owner, codes = np.divmod(cells, width)
        start = np.searchsorted(owner, np.arange(self.count + 1))
        return Groups(start=start, codes=codes, counts=counts, width=width)


@dataclass(frozen=True, eq=False, kw_only=True)
class Groups:
    """The histograms of all groups, as compressed sparse rows.

    Parameters
    ----------
    start : array of int
        Group ``g`` owns the entries ``start[g]`` to ``start[g + 1]``.
    codes, counts : array of int
        Entry by entry, a sensitive code and how many of the group's rows hold it.
        Codes ascend within a group.
    width : int
        How many codes the domain has.
    population : array of int, optional
        How many people of a population match each group (only δ-presence asks).
    """

    start: Ints
    codes: Ints
    counts: Ints
    width: int
    population: Ints | None = None

    @classmethod
    def of(
        cls, groups: Sequence[Sequence[int]], width: int, population: Sequence[int] | None = None
    ) -> Groups:
        """Build the histograms of groups given as lists of codes.

        >>> groups = Groups.of([[0, 2, 2], [1]], width=3)
        >>> groups.codes.tolist(), groups.counts.tolist(), groups.sizes.tolist()
        ([0, 2, 1], [1, 2, 1], [3, 1])
        """
        tables = [np.unique(np.asarray(g, dtype=np.int64), return_counts=True) for g in groups]
        return cls(
            start=np.cumsum([0, *(len(codes) for codes, _ in tables)]),
            codes=np.concatenate([codes for codes, _ in tables]),
            counts=np.concatenate([counts for _, counts in tables]).astype(np.int64),
            width=width,
            population=None if population is None else np.asarray(population, dtype=np.int64),
        )

    def __len__(self) -> int:
        """Return the number of groups."""
        return len(self.start) - 1

    @cached_property
    def running(self) -> Ints:
        """The running sum of all counts: entries a to b hold ``running[b] - running[a]``."""
        return np.concatenate(([0], np.cumsum(self.counts)))

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each group."""
        return self.running[self.start[1:]] - self.running[self.start[:-1]]

    @cached_property
    def distinct(self) -> Ints:
        """The number of distinct values in each group."""
        return np.diff(self.start)

    @cached_property
    def owner(self) -> Ints:
        """The group of each entry."""
        return np.repeat(np.arange(len(self)), self.distinct)

    @cached_property
    def largest(self) -> Ints:
        """The count of each group's most frequent value."""
        return self.max(self.counts)

    @cached_property
    def descending(self) -> Ints:
        """The counts, each group's sorted from the largest down."""
        top = int(self.counts.max(initial=0)) + 1
        if top * len(self) < 2**62:
            key = self.owner * top + (top - 1 - self.counts)
            key.sort()
            return top - 1 - key % top
        return self.counts[np.lexsort((-self.counts, self.owner))]

    def sum(self, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Add up the entries of each group."""
        return np.add.reduceat(entries, self.start[:-1])

    def max(self, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Take the largest entry of each group."""
        return np.maximum.reduceat(entries, self.start[:-1])

    def min(self, entries: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Take the smallest entry of each group."""
        return np.minimum.reduceat(entries, self.start[:-1])

    def within(self, first: Ints, last: Ints) -> Ints:
        """Count, for each entry, the rows of its group whose code lies in a range.

        Parameters
        ----------
        first, last : array of int
            The range of each entry, both ends included.
        """
        base = self.owner * self.width
        place = base + self.codes
        begin = np.searchsorted(place, base + first, side="left")
        end = np.searchsorted(place, base + last, side="right")
        return self.running[end] - self.running[begin]

    def lookup(self, owner: Ints, codes: Ints | int) -> Ints:
        """Return how many rows of the given groups hold the given codes."""
        place = self.owner * self.width + self.codes
        wanted = owner * self.width + codes
        at = np.minimum(np.searchsorted(place, wanted), len(place) - 1)
        return np.where(place[at] == wanted, self.counts[at], 0)

    def select(self, kept: npt.NDArray[np.bool_]) -> Groups:
        """Keep some entries. Every group must keep at least one."""
        return Groups(
            start=np.concatenate(([0], np.cumsum(self.sum(kept.astype(np.int64))))),
            codes=self.codes[kept],
            counts=self.counts[kept],
            width=self.width,
        )

    def rows(self, group: int | np.integer[Any]) -> Ints:
        """Return the codes of one group's rows, ascending."""
        entries = slice(self.start[group], self.start[group + 1])
        return np.repeat(self.codes[entries], self.counts[entries])
