"""Moving rows to near leaves, and swapping them, where that loses less.

Only for principles about sizes: where one guards sensitive values, deciding row by row who goes
where would read quasi-identifiers and sensitive values together.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit, types

from wideberth.kernels.sort import INNER, JIT


@njit(**INNER)
def _ends(at, members, n, ends):
    """Find the two lowest and two highest places on each attribute; return the extent."""
    # With two of each, the box without any one member is known at once; see `_without`.
    extent = np.int64(0)
    for b in range(at.shape[1]):
        low = low2 = np.int64(2**40)
        high = high2 = np.int64(-(2**40))
        for i in range(n):
            x = np.int64(at[members[i], b])
            if x < low:
                low2 = low
                low = x
            elif x < low2:
                low2 = x
            if x > high:
                high2 = high
                high = x
            elif x > high2:
                high2 = x
        ends[0, b], ends[1, b], ends[2, b], ends[3, b] = low, low2, high, high2
        extent += high - low
    return extent


@njit(**INNER)
def _without(ends, at, out, extra):
    """Return the extent of a leaf without one member and, unless `extra` is -1, with that row."""
    extent = np.int64(0)
    for b in range(at.shape[1]):
        x = np.int64(at[out, b])
        low = ends[1, b] if x == ends[0, b] else ends[0, b]
        high = ends[3, b] if x == ends[2, b] else ends[2, b]
        if extra >= 0:
            y = np.int64(at[extra, b])
            low = min(low, y)
            high = max(high, y)
        extent += high - low
    return extent


def _exchange_rows(members, sizes, near, at, unit, most, ends, extents):
    """Give every row in turn its best move or swap with a near leaf; return what that gains."""
    # `members` (a line for each leaf) and `sizes` are changed in place; a leaf keeps `unit` to
    # `most` rows. `near` holds the nearest leaves of each leaf; the last two are memory.
    many, d = sizes.size, at.shape[1]
    for leaf in range(many):
        extents[leaf] = _ends(at, members[leaf], np.int64(sizes[leaf]), ends[leaf])
    nobody = np.int64(-1)
    total = np.int64(0)
    for leaf in range(many):
        i = 0
        while i < sizes[leaf]:
            n = np.int64(sizes[leaf])
            row = np.int64(members[leaf, i])
            own = ends[leaf]
            rest = _without(own, at, row, nobody)
            best = np.int64(0)
            mate = partner = -1
            if n > unit or rest < extents[leaf]:
                for c in range(near.shape[1]):
                    there = near[leaf, c]
                    m = np.int64(sizes[there])
                    if there == leaf:
                        continue
                    other = ends[there]
                    if n > unit and m < most:
                        wider = np.int64(0)
                        for b in range(d):
                            x = np.int64(at[row, b])
                            wider += max(other[2, b], x) - min(other[0, b], x)
                        gain = n * extents[leaf] - (n - 1) * rest
                        gain -= (m + 1) * wider - m * extents[there]
                        if gain > best:
                            best, mate, partner = gain, there, -1
                    if rest < extents[leaf]:
                        for j in range(m):
                            swapped = np.int64(members[there, j])
                            gain = n * (extents[leaf] - _without(own, at, row, swapped))
                            gain += m * (extents[there] - _without(other, at, swapped, row))
                            if gain > best:
                                best, mate, partner = gain, there, j
            if mate < 0:
                i += 1
                continue
            total += best
            if partner < 0:
                members[leaf, i] = members[leaf, n - 1]
                sizes[leaf] -= 1
                members[mate, sizes[mate]] = row
                sizes[mate] += 1
            else:
                members[leaf, i], members[mate, partner] = members[mate, partner], row
                i += 1
            extents[leaf] = _ends(at, members[leaf], np.int64(sizes[leaf]), ends[leaf])
            extents[mate] = _ends(at, members[mate], np.int64(sizes[mate]), ends[mate])
    return total


@cache
def exchanger():
    """Return the kernel."""
    number, numbers = types.int64, types.int64[:, ::1]
    places = types.int32[:, ::1]
    room = (types.int64[:, :, ::1], types.int64[::1])
    return njit(number(numbers, types.int32[::1], numbers, places, number, number, *room), **JIT)(
        _exchange_rows
    )


def exchange_rows(members, sizes, near, at, unit, most):
    """Give every row in turn its best move or swap with a near leaf; return what that gains."""
    many = len(sizes)
    room = np.empty((many, 4, at.shape[1]), np.int64), np.empty(many, np.int64)
    return exchanger()(members, sizes, near, at, unit, most, *room)
