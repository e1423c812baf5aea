"""Numbers near each other in many small histograms: each is gone through once, from both ends."""

from __future__ import annotations

import numpy as np
from numba import njit

from wideberth.kernels.sorting import INNER, JIT


@njit(**INNER)
def _first(codes, begin, end, wanted):
    """Return the first of some ascending codes that is at least so large, or the end."""
    while begin < end:
        middle = (begin + end) // 2
        if codes[middle] < wanted:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(**JIT)
def count_between(start, codes, running, owner, own, first, last, rows):
    """Count, for each class of victims, the faced rows in the window of its own code.

    Parameters
    ----------
    start, codes, running : array of int
        The histograms, and the running sum of their counts.
    owner, own : array of int
        For each class, the histogram it faces and its own code.
    first, last : array of int
        The window of each code, both ends included.
    rows : array of int
        Is filled.
    """
    for i in range(owner.size):
        begin, end = start[owner[i]], start[owner[i] + 1]
        low = _first(codes, begin, end, first[own[i]])
        high = _first(codes, low, end, last[own[i]] + 1)
        rows[i] = running[high] - running[low]


@njit(**JIT)
def sweep(start, stop, codes, counts, reach, units, wanted, most, widths):
    """Find the fullest and the shortest intervals of each histogram.

    Parameters
    ----------
    start, stop : array of int
        Where each histogram begins, and where its numbers end: missing values come last.
    codes, counts : array of int
        The histograms.
    reach : array of int
        For each code, the last that an interval holds which begins there; ascending.
    units : array of int
        The number behind each code.
    wanted : matrix of int
        A line for each confidence: how many rows an interval must hold.
    most : array of int
        Is filled: how many rows the fullest interval holds.
    widths : matrix of int
        Is filled, a line for each confidence: how long the shortest is; -1 if there is none.
    """
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
