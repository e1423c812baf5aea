"""The cuts of a node, the cheapest first, told from its table: the kernels' own order.

A node's table holds, by attribute and value, how many rows there are and the extremes of every
attribute among them. What a cut loses follows from running extremes, without a look at rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wideberth.core.exact import Ints


@dataclass(frozen=True, eq=False)
class Table:
    """What is known of a node; see `wideberth.kernels.table_scan.Sheets`."""

    begins: Ints  # where the cells of each attribute begin
    counts: Ints  # by cell, as are the other two
    lows: npt.NDArray[np.int32]
    highs: npt.NDArray[np.int32]

    @property
    def attributes(self) -> int:
        """How many quasi-identifiers there are."""
        return self.lows.shape[1]

    def present(self, a: int) -> Ints:
        """Return the cells of an attribute that hold rows."""
        begin, end = int(self.begins[a]), int(self.begins[a + 1])
        return begin + np.flatnonzero(self.counts[begin:end])


@dataclass(frozen=True, eq=False)
class Cuts:
    """Cuts, the cheapest first: attribute, last value on the left, rows on the left."""

    by: Ints
    value: Ints
    left: Ints

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.by)


def cuts_of(table: Table, rows: int, places: npt.NDArray[np.int32], unit: int, paper: bool) -> Cuts:
    """Return the cuts of a node that leave both halves enough rows."""
    # `places` are those of `Arrangement.places`. `paper`: only the cut next to the median of each
    # attribute counts.
    found = []
    for a in range(table.attributes):
        cells = table.present(a)
        if len(cells) < 2:
            continue
        values = cells - table.begins[a]
        upto = np.cumsum(table.counts[cells])
        at = np.arange(len(cells) - 1)
        if paper:
            at, last = _next_to_median(upto, values, rows)
        else:
            last = values[:-1]
        left = upto[at]
        enough = (left >= unit) & (rows - left >= unit)
        before = _extents(table, cells, places)
        behind = _extents(table, cells[::-1], places)[::-1]
        loss = left * before[at] + (rows - left) * behind[at + 1]
        many = np.full(len(at), a)
        found.append(np.stack((loss, many, last, left), axis=1)[enough])
    if not found:
        return Cuts(*np.zeros((3, 0), np.int64))
    loss, by, value, left = np.concatenate(found).T
    order = _cheapest_first(loss)
    return Cuts(by[order], value[order], left[order])


def _next_to_median(upto: Ints, values: Ints, rows: int) -> tuple[Ints, Ints]:
    """Return the place of the cut nearest the middle, and its last value on the left."""
    middle = int(np.searchsorted(upto, (rows - 1) // 2, side="right"))
    below = int(upto[middle - 1]) if middle else 0
    above = int(upto[middle])
    if above == rows or (below and rows - 2 * below < 2 * above - rows):
        # The kernel names the value before the median's, whether rows hold it or not.
        return np.array([middle - 1]), values[[middle]] - 1
    return np.array([middle]), values[[middle]]


def _extents(table: Table, cells: Ints, places: npt.NDArray[np.int32]) -> Ints:
    """Return the extent of the first cell's rows, of the first two cells', and so on."""
    low = np.minimum.accumulate(table.lows[cells], axis=0)
    high = np.maximum.accumulate(table.highs[cells], axis=0)
    extents = np.zeros(len(cells), np.int64)
    for b, line in enumerate(places):
        extents += line[high[:, b]].astype(np.int64) - line[low[:, b]]
    return extents


def _cheapest_first(loss: Ints) -> Ints:
    """Order cuts by loss, then by position; what is too large for the kernels is rounded."""
    many = max(len(loss), 1)
    worst = int(loss.max(initial=0))
    shift = 0
    while worst >> shift > 2**62 // many:
        shift += 1
    return np.argsort(loss >> shift, kind="stable")
