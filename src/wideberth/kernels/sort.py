"""Orders: of rows by a sensitive attribute with secret ties, and of a few numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numba.core.caching import FunctionCache


def cache_folder() -> Path | None:
    """Return the folder where compiled code is kept, None if no folder can be written."""
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


@njit(**INNER)
def _turned(x, bits):
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@njit(**INNER)
def _mixed(v0, v1, v2, v3):
    """Do two rounds of SipHash."""
    for _ in range(2):
        v0 += v1
        v2 += v3
        v1 = _turned(v1, 13) ^ v0
        v3 = _turned(v3, 16) ^ v2
        v0 = _turned(v0, 32)
        v2 += v1
        v0 += v3
        v1 = _turned(v1, 17) ^ v2
        v3 = _turned(v3, 21) ^ v0
        v2 = _turned(v2, 32)
    return v0, v1, v2, v3


@njit(**JIT)
def siphash_absorb(state, words):
    """Take a word of each row into its state, as SipHash-2-4 does."""
    for i in range(words.size):
        a, b, c, d = _mixed(state[0, i], state[1, i], state[2, i], state[3, i] ^ words[i])
        state[0, i], state[1, i], state[2, i], state[3, i] = a ^ words[i], b, c, d


@njit(**JIT)
def siphash_numbers(start, words):
    """Hash the number of each row with SipHash-2-4, whose state begins with `start`."""
    length = np.uint64(8 << 56)
    v0, v1, v2, v3 = start[0], start[1], start[2], start[3]
    for row in range(words.size):
        word = np.uint64(row)
        a, b, c, d = _mixed(v0, v1, v2, v3 ^ word)
        a, b, c, d = _mixed(a ^ word, b, c, d ^ length)
        a, b, c, d = _mixed(a ^ length, b, c ^ np.uint64(0xFF), d)
        a, b, c, d = _mixed(a, b, c, d)
        words[row] = a ^ b ^ c ^ d


@njit(**INNER)
def _shuffle(array, begin, end, words):
    """Shuffle a part of an array (Fisher and Yates)."""
    low = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    for i in range(end - 1, begin, -1):
        many = np.uint64(i - begin + 1)
        # The word times the range, of 96 bits the upper 32: unbiased up to range / 2^64.
        upper = (words[i] >> half) * many + (((words[i] & low) * many) >> half)
        j = begin + np.int64(upper >> half)
        array[i], array[j] = array[j], array[i]


@njit(**JIT)
def secret_order(codes, start, words, order):
    """Put the rows in order of their codes, those with equal codes in a secret random order."""
    # start[c] is where code c begins; it is used up. `words` has a random word for each row.
    # Shuffling one code at a time stays in the cache, as a permutation of all rows would not.
    for row in range(codes.size):
        at = start[codes[row]]
        order[at] = row
        start[codes[row]] = at + 1
    begin = 0
    for end in start:
        _shuffle(order, begin, end, words)
        begin = end


@njit(**JIT)
def shuffle(array, words):
    """Shuffle an array of fewer than 2^32 entries, with a random word for each."""
    _shuffle(array, 0, array.size, words)


@njit(**JIT)
def placed(codes, start, ties, order):
    """Put the rows in order of their codes, those with equal codes in the order of `ties`."""
    # start[c] is where code c begins; it is used up.
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
