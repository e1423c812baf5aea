"""A partition is an array of labels; what a principle sees of it is one histogram per group.

Histograms are additive, so the union of two groups is the sum of their histograms, and a check
never touches a row again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes, Column, Domain, compress
from wideberth.core.exact import Ints


@dataclass(frozen=True, eq=False)
class Partition:
    """Which group each row is in: ``labels[row]`` from 0 to ``count - 1``."""

    labels: Codes
    count: int

    @classmethod
    def by_equality(cls, columns: Iterable[Column], rows: int) -> Partition:
        """Group the rows that agree on every column; labels follow the columns' value order."""
        # Columns may come one at a time, so that no more than one need be held.
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

    @property
    def squares(self) -> int:
        """The sum of the squares of the groups' sizes."""
        sizes = np.bincount(self.labels, minlength=self.count)
        return int(sizes @ sizes)

    def sizes(self) -> Groups:
        """Count the rows of each group, as the histograms of a column with a single value."""
        return Groups(
            start=np.arange(self.count + 1),
            codes=np.zeros(self.count, dtype=np.int64),
            counts=np.bincount(self.labels, minlength=self.count),
            width=1,
        )

    def histograms(self, column: Column) -> Groups:
        """Count the codes of a column in each group."""
        width = column.domain.size
        # Sorting small integers is cheaper than counting into a table of all cells.
        kind = np.int32 if self.count * width < 2**31 else np.int64
        key: npt.NDArray[Any] = self.labels.astype(kind)
        key *= width
        key += column.codes
        key.sort()
        edges = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1], [True])))
        codes = key[edges[:-1]].astype(np.int64, copy=False)
        del key  # a large table's entries fill much memory
        owner = codes // width
        start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=self.count))))
        owner *= width
        codes -= owner
        del owner
        return Groups(start=start, codes=codes, counts=np.diff(edges), width=width)


@dataclass(frozen=True)
class Uneven:
    """Groups whose rows are published with different quasi-identifiers, and so are no groups."""

    groups: int  # how many there are
    rows: int  # how many rows they have
    columns: list[str]  # the quasi-identifiers that differ

    def __str__(self) -> str:
        """Return it as a sentence of a report."""
        many = f"{self.groups:,} group{' is' if self.groups == 1 else 's are'}"
        listed = ", ".join(f"'{name}'" for name in self.columns)
        return (
            f"{many} not uniform: {self.rows:,} rows, within whose groups {listed} "
            f"{'differs' if len(self.columns) == 1 else 'differ'}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"groups": self.groups, "rows": self.rows, "columns": list(self.columns)}


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

    def blocks(self, entries: int = 1 << 15) -> Iterator[Groups]:
        """Go through the groups a block at a time: what is derived from one stays in the cache."""
        edges = np.searchsorted(self.start, np.arange(0, len(self.codes), entries), side="left")
        for begin, end in pairwise(dict.fromkeys([*edges.tolist(), len(self)])):
            yield self[begin:end]

    def __getitem__(self, groups: slice) -> Groups:
        """Return a run of groups."""
        begin, end, _ = groups.indices(len(self))
        entries = slice(self.start[begin], self.start[end])
        return Groups(
            start=self.start[begin : end + 1] - self.start[begin],
            codes=self.codes[entries],
            counts=self.counts[entries],
            width=self.width,
            population=None if self.population is None else self.population[begin:end],
        )

    def some(self, chosen: Ints) -> Groups:
        """Return some of the groups, in the order given.

        >>> Groups.of([[0, 2], [1], [1, 1]], width=3).some(np.array([2, 0])).codes.tolist()
        [1, 0, 2]
        """
        length = self.distinct[chosen]
        start = np.concatenate(([0], np.cumsum(length)))
        entries = np.arange(start[-1]) + np.repeat(self.start[chosen] - start[:-1], length)
        return Groups(
            start=start, codes=self.codes[entries], counts=self.counts[entries], width=self.width
        )

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

    @cached_property
    def place(self) -> Ints:
        """One ascending number for each entry: its group, then its code."""
        return self.owner * self.width + self.codes

    def within(self, first: Ints, last: Ints) -> Ints:
        """Count, for each entry, the rows of its group whose code lies in a range.

        Parameters
        ----------
        first, last : array of int
            The range of each entry, both ends included.
        """
        base = self.place - self.codes
        begin = np.searchsorted(self.place, base + first, side="left")
        end = np.searchsorted(self.place, base + last, side="right")
        return self.running[end] - self.running[begin]

    def lookup(self, owner: Ints, codes: Ints | int) -> Ints:
        """Return how many rows of the given groups hold the given codes."""
        wanted = owner * self.width + codes
        at = np.minimum(np.searchsorted(self.place, wanted), len(self.place) - 1)
        return np.where(self.place[at] == wanted, self.counts[at], 0)

    def shape(self, group: int | np.integer[Any]) -> tuple[int, ...]:
        """Return one group's counts in order, without a common factor: proportions, that is."""
        counts = self.counts[self.start[group] : self.start[group + 1]]
        return tuple(np.sort(counts // np.gcd.reduce(counts)).tolist())

    def rows(self, group: int | np.integer[Any]) -> Ints:
        """Return the codes of one group's rows, ascending."""
        entries = slice(self.start[group], self.start[group + 1])
        return np.repeat(self.codes[entries], self.counts[entries])


# -----------------------------------------------------------------------------
# Rows that agree on several columns of codes.


_LARGEST = 2**62


def group_alike(columns: Sequence[Codes], sizes: Sequence[int]) -> Partition:
    """Group the rows that agree on every column; labels follow the order of the codes.

    >>> group_alike([np.array([1, 0, 1]), np.array([0, 1, 0])], [2, 2]).labels
    array([1, 0, 1], dtype=int32)
    """
    rows = len(columns[0])
    bits = max(rows - 1, 1).bit_length()
    if prod(sizes) << bits >= _LARGEST or not rows:
        encoded = (
            Column(codes, Domain(name="", histogram=np.zeros(size, dtype=np.int64)))
            for codes, size in zip(columns, sizes, strict=True)
        )
        return Partition.by_equality(encoded, rows)
    # The same, but faster: one sort of whole numbers that hold codes and row.
    keys = np.zeros(rows, dtype=np.int64)
    for codes, size in zip(columns, sizes, strict=True):
        keys *= size
        keys += codes
    keys <<= bits
    keys |= np.arange(rows)
    keys.sort()
    row = keys & ((1 << bits) - 1)
    keys >>= bits
    numbers = np.cumsum(np.append(False, keys[1:] != keys[:-1]), dtype=np.int32)
    labels = np.empty(rows, dtype=np.int32)
    labels[row] = numbers
    return Partition(labels, int(numbers[-1]) + 1)


# -----------------------------------------------------------------------------
# How many rows groups have, where entries of a table may stand for several rows each.
#
# An entry is a group of its own, of equal rows. So to count is to roll up: the histograms of
# entries that fall together are added up, as those of groups are.


def count_group_rows(partition: Partition, column: Column | None, weights: Ints | None) -> Groups:
    """Count the rows of each group, by the codes of a column if there is one.

    >>> halves = Partition(np.array([0, 1, 0], dtype=np.int32), 2)
    >>> count_group_rows(halves, None, None).sizes.tolist()
    [2, 1]
    >>> count_group_rows(halves, None, np.array([5, 1, 3])).sizes.tolist()
    [8, 1]
    """
    if weights is None:
        return partition.sizes() if column is None else partition.histograms(column)
    entries = len(weights)
    apart = Groups(
        start=np.arange(entries + 1),
        codes=np.zeros(entries, np.int64) if column is None else column.codes.astype(np.int64),
        counts=weights,
        width=1 if column is None else column.domain.size,
    )
    return roll_up(apart, partition)


def roll_up(groups: Groups, partition: Partition) -> Groups:
    """Add up the histograms of groups that fall together."""
    if groups.width == 1:  # sizes
        counts = np.bincount(partition.labels, groups.counts, partition.count).astype(np.int64)
        start = np.arange(partition.count + 1)
        return Groups(start=start, codes=np.zeros_like(counts), counts=counts, width=1)
    key = partition.labels[groups.owner].astype(np.int64) * groups.width + groups.codes
    present, position = np.unique(key, return_inverse=True)
    counts = np.bincount(position, weights=groups.counts).astype(np.int64)
    owner, codes = np.divmod(present, groups.width)
    start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=partition.count))))
    return Groups(start=start, codes=codes, counts=counts, width=groups.width)
