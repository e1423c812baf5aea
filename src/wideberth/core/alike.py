"""Rows that agree on several columns of codes."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.groups import Partition

_LARGEST = 2**62


def alike(columns: Sequence[Codes], sizes: Sequence[int]) -> Partition:
    """Group the rows that agree on every column; labels follow the order of the codes.

    >>> alike([np.array([1, 0, 1]), np.array([0, 1, 0])], [2, 2]).labels
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
