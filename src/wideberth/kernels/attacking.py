"""Numbers near each other in many small histograms: each is gone through once, from both ends."""

from __future__ import annotations

import numpy as np
from numba import njit

from wideberth.kernels.sort import INNER, JIT


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
def sweep(start, stop, codes, counts, reach, units, wanted, most, widths):
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
