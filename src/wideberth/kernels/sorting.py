"""Orders: of rows by a sensitive attribute with secret ties, and of a few numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache


def cache_folder() -> Path | None:
    """Return where compiled code is kept; nowhere, if no folder may be written."""
    try:
        return Path(FunctionCache(cache_folder).cache_path)
    except RuntimeError:
        return None


#: For functions that only kernels call: half the code of a small one would be wrappers and
#: reference counts. Kernels are given all their memory, so they need count no references.
#: No parallel=True (threads share the work above), no fastmath (the twin must agree).
INNER: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "no_cpython_wrapper": True,
    "_nrt": False,
}
#: For kernels that Python calls, and for those that others get as pointers.
_KEPT = {"cache": cache_folder() is not None}
JIT = {**INNER, **_KEPT, "no_cpython_wrapper": False}
POINTED = {**INNER, **_KEPT, "no_cfunc_wrapper": False}


@njit(**JIT)
def secret_order(codes, start, key, order):
    """Put the rows in order of their codes, those with equal codes in a secret random order.

    ``start[c]`` is where code c begins; it is used up. Shuffling within one code at a time stays
    in the cache, as a permutation of all rows would not. The generator is SplitMix64.
    """
    for row in range(codes.size):
        at = start[codes[row]]
        order[at] = row
        start[codes[row]] = at + 1
    begin = 0
    state = np.uint64(key)
    for end in start:
        for i in range(end - 1, begin, -1):
            state += np.uint64(0x9E3779B97F4A7C15)
            z = state
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z = z ^ (z >> np.uint64(31))
            # The high bits times the range: unbiased up to range / 2^32.
            j = begin + np.int64(((z >> np.uint64(32)) * np.uint64(i - begin + 1)) >> np.uint64(32))
            order[i], order[j] = order[j], order[i]
        begin = end


@njit(**JIT)
def placed(codes, start, ties, order):
    """Put the rows in order of their codes, those with equal codes in the order of `ties`.

    ``start[c]`` is where code c begins; it is used up.
    """
    for i in range(ties.size):
        row = ties[i]
        at = start[codes[row]]
        order[at] = row
        start[codes[row]] = at + 1


@njit(**JIT)
def gather(column, order, line):
    """Bring a column into an order."""
    for j in range(order.size):
        line[j] = column[order[j]]


@njit(**INNER)
def sort(keys, n):
    """Sort the first n in place (Shell's method: short, and fast for a small node's numbers)."""
    gap = 1
    while gap < n:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, n):
            x = keys[i]
            j = i
            while j >= gap and keys[j - gap] > x:
                keys[j] = keys[j - gap]
                j -= gap
            keys[j] = x
        gap //= 3


@njit(**INNER)
def sift(heap, n, i):
    """Let entry i of a heap of n sink to its place; the smallest is on top."""
    x = heap[i]
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= x:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = x


@njit(**INNER)
def heapify(heap, n):
    """Make a heap of the first n entries."""
    for i in range(n // 2 - 1, -1, -1):
        sift(heap, n, i)
