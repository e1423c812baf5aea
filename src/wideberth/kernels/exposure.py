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


# -----------------------------------------------------------------------------
# Counting rows that boxes let one expect: in the intervals of a query, and in single cells.


@njit(**JIT)
def shares(start, first, last, missing, atoms, low, high, out):
    """Fill `out` with the share of what each label covers that lies in an interval of codes."""
    # Label i covers the codes first[j] to last[j], j from start[i] to start[i + 1], exclusive;
    # where `missing`, also the code `atoms`, above all others. `low` and `high` are both included.
    for label in range(start.size - 1):
        inside = 0
        total = 0
        for run in range(start[label], start[label + 1]):
            total += last[run] - first[run] + 1
            begin = max(first[run], low)
            end = min(last[run], high)
            if begin <= end:
                inside += end - begin + 1
        if missing[label]:
            total += 1
            if low <= atoms <= high:
                inside += 1
        out[label] = inside / total if total else 0.0


@njit(**JIT)
def expected(labels, inside, asked, low, high, start, codes, counts, share, some):
    """Return how many rows of all boxes are expected in a query's intervals."""
    # `labels` and `inside` have a line for each axis; `low` and `high` are both included. Memory:
    # `share` has a place for each box, `some` one more.
    boxes = labels.shape[1]
    share[:boxes] = 1.0
    for axis in asked:
        for box in range(boxes):
            share[box] *= inside[axis, labels[axis, box]]
    many = 0
    for box in range(boxes):  # without a branch, which nobody could foresee
        some[many] = box
        many += share[box] > 0.0
    total = 0.0
    for i in range(many):
        box = some[i]
        rows = 0
        for entry in range(start[box], start[box + 1]):
            rows += counts[entry] * ((codes[entry] >= low) & (codes[entry] <= high))
        total += share[box] * rows
    return total


@njit(**JIT)
def likelihoods(begin, boxes, situation, value, weight, start, codes, counts, out):
    """Fill `out` with the rows expected in each cell: those with its value, weighted by box."""
    # Situation s is covered by boxes[begin[s] : begin[s + 1]]. A box weighs one over the number of
    # cells that it covers; its codes ascend.
    for cell in range(situation.size):
        total = 0.0
        wanted = value[cell]
        for place in range(begin[situation[cell]], begin[situation[cell] + 1]):
            box = boxes[place]
            low = start[box]
            high = start[box + 1]
            while low < high:
                middle = (low + high) // 2
                if codes[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < start[box + 1] and codes[low] == wanted:
                total += counts[low] * weight[box]
        out[cell] = total


# -----------------------------------------------------------------------------
# Numbers near each other in many small histograms: each is gone through once, from both ends.


@njit(**INNER)
def _first(codes, begin, end, wanted):
    """Return the first place in ascending codes from `wanted` on, or the end."""
    while begin < end:
        middle = (begin + end) // 2
        if codes[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(**JIT)
def count_between(start, codes, running, owner, own, first, last, rows):
    """Count, for each class of victims, the faced rows in the window of its own code."""
    # Class i faces the histogram owner[i] and has the code own[i]; windows include both ends.
    # `running` is the running sum of the counts. Fills `rows`.
    for i in range(owner.size):
        begin, end = start[owner[i]], start[owner[i] + 1]
        low = _first(codes, begin, end, first[own[i]])
        high = _first(codes, low, end, last[own[i]] + 1)
        rows[i] = running[high] - running[low]


@njit(**JIT)
def sweep_intervals(start, stop, codes, counts, reach, units, wanted, most, widths):
    """Find the fullest and the shortest intervals of each histogram."""
    # stop[g] is where the numbers of histogram g end: missing values come last. An interval that
    # begins at code c holds no code beyond reach[c]. `wanted` has a line for each confidence: how
    # many rows an interval must hold. Fills `most` (rows of the fullest interval) and `widths`
    # (length of the shortest, -1 if there is none).
    for group in range(most.size):
        begin, end = start[group], stop[group]
        held = best = np.int64(0)
        right = begin
        for left in range(begin, end):
            while right < end and codes[right] <= reach[codes[left]]:
                held += counts[right]
                right += 1
            best = max(best, held)
            held -= counts[left]
        most[group] = best
        for line in range(wanted.shape[0]):
            shortest = np.int64(-1)
            held = np.int64(0)
            right = begin
            for left in range(begin, end):
                while right < end and held < wanted[line, group]:
                    held += counts[right]
                    right += 1
                if held < wanted[line, group]:
                    break
                width = units[codes[right - 1]] - units[codes[left]]
                if shortest < 0 or width < shortest:
                    shortest = width
                held -= counts[left]
            widths[line, group] = shortest
