"""Boxes that enclose a victim, found by sieves; and histograms added up."""

from __future__ import annotations

import numpy as np
from numba import njit

from wideberth.kernels.sort import INNER, JIT, sort


@njit(**INNER)
def _holds(first, last, begin, end, low, high):
    """Return whether a run lies within one of several, which ascend."""
    while begin < end:
        middle = (begin + end) // 2
        if last[middle] < low:
            begin = middle + 1
        elif first[middle] > low:
            end = middle
        else:
            return last[middle] >= high
    return False


@njit(**INNER)
def _inside(box, victim, own, labels, points, start, first, last):
    """Return whether each run of a victim lies within a run of the box, on every axis."""
    for axis in range(labels.shape[1]):
        label = labels[box, axis]
        begin, end = start[label], start[label + 1]
        if end == begin + 1:
            continue  # then the ends have told it
        if own.size == 0:
            point = points[victim, axis]
            if not _holds(first, last, begin, end, point, point):
                return False
            continue
        other = labels[own[victim], axis]
        for run in range(start[other], start[other + 1]):
            if not _holds(first, last, begin, end, first[run], last[run]):
                return False
    return True


@njit(**INNER)
def _sieve(low, high, hull, source, many, left):
    """Keep the boxes that reach from the hull's first atom to its last, on every axis."""
    kept = 0
    for at in range(many):
        box = source[at]
        left[kept] = box
        kept += (low[0, box] <= hull[0, 0]) & (high[0, box] >= hull[1, 0])
    for axis in range(1, low.shape[0]):
        among, kept = kept, 0
        for at in range(among):
            box = left[at]
            left[kept] = box  # without a branch: what is not kept is overwritten
            kept += (low[axis, box] <= hull[0, axis]) & (high[axis, box] >= hull[1, axis])
    return kept


@njit(**JIT)
def curve(low, high, shift, bits, keys):
    """Number victims along a curve on which neighbours are close on all axes: bits interleaved."""
    for victim in range(keys.size):
        key = np.int64(0)
        for bit in range(bits - 1, -1, -1):
            for axis in range(low.shape[1]):
                middle = (np.int64(low[victim, axis]) + np.int64(high[victim, axis])) >> shift[axis]
                key = (key << 1) | ((middle >> bit) & 1)
        keys[victim] = key


@njit(**JIT)
def enclose(
    low, high, plain, labels, start, first, last,
    own, known_low, known_high, begin, sizes, lists, many, hull, found, ends, hashes,
):  # fmt: skip
    """List the boxes that enclose each victim, until there is no more room."""
    # Victims stand in an order in which neighbours are close. Boxes are sieved for many of them at
    # once (sizes[level]), what remains for fewer, and so on: most boxes are far from most victims.
    # `low` and `high` are the outermost atoms of each box (axes × boxes), `known_low` and
    # `known_high` of each victim (victims × axes). Where `plain`, they tell all. `own` is the box
    # that each victim is; empty if victims are points. Label i covers the atoms first[j] to
    # last[j], j from start[i] on.
    # `lists` and `many` are the boxes left at each level; all are left at the first. Fills `found`,
    # `ends` and `hashes`, which nearly always differ for different lists of boxes. Returns the
    # victim before which room ran out; the number of victims if it did not.
    victims, axes = known_low.shape
    deepest = sizes.size - 1
    used = 0
    for victim in range(begin, victims):
        for level in range(1, sizes.size):
            if (victim - begin) % sizes[level]:
                continue
            for axis in range(axes):
                hull[0, axis] = known_low[victim, axis]
                hull[1, axis] = known_high[victim, axis]
            for other in range(victim + 1, min(victim + sizes[level], victims)):
                for axis in range(axes):
                    hull[0, axis] = max(hull[0, axis], known_low[other, axis])
                    hull[1, axis] = min(hull[1, axis], known_high[other, axis])
            many[level] = _sieve(low, high, hull, lists[level - 1], many[level - 1], lists[level])
        if used + many[deepest] > found.size:
            return victim
        before = used
        code = np.uint64(0)
        for at in range(many[deepest]):
            box = lists[deepest, at]
            if plain[box] or _inside(box, victim, own, labels, known_low, start, first, last):
                found[used] = box
                used += 1
                code = (code ^ np.uint64(box + 1)) * np.uint64(0x9E3779B97F4A7C15)
                code ^= code >> np.uint64(29)
        ends[victim] = ends[victim - 1] + used - before if victim else used
        hashes[victim] = code
    return victims


@njit(**JIT)
def pool(start, boxes, entries, codes, counts, begin, sums, seen, made_codes, made_counts, ends):
    """Add up the histograms of the boxes of each situation, until there is no more room."""
    # entries[b] is where the histogram of box b begins. `sums` is all zeros before and after;
    # `seen` has a place for each code that a situation can have. `ends` counts from the very first
    # situation. Returns the situation before which room may have run out; their number if it did
    # not.
    used = 0
    for situation in range(begin, start.size - 1):
        if used + seen.size > made_codes.size:
            return situation
        many = 0
        for at in range(start[situation], start[situation + 1]):
            box = boxes[at]
            for entry in range(entries[box], entries[box + 1]):
                code = codes[entry]
                if sums[code] == 0:
                    seen[many] = code
                    many += 1
                sums[code] += counts[entry]
        if many * 16 < sums.size:
            sort(seen, many)
        else:  # to look at all codes is faster than to sort
            many = 0
            for code in range(sums.size):
                if sums[code]:
                    seen[many] = code
                    many += 1
        for i in range(many):
            code = seen[i]
            made_codes[used] = code
            made_counts[used] = sums[code]
            sums[code] = 0
            used += 1
        ends[situation] = many + (ends[situation - 1] if situation else 0)
    return start.size - 1
