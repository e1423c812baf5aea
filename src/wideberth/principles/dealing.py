"""How a group is taken apart so that every part satisfies a principle that is not monotone."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from wideberth.exact import Ints

#: So many rows must a code have, on average, for its rows to be shuffled by themselves.
_PER_CODE = 100


def deal(codes: Ints, hands: int, rng: np.random.Generator) -> Ints:
    """Deal the rows, in order of their codes, to so many groups in turn: a label for each row.

    Rows with equal codes are shuffled first: their order must not tell anything. If no window of
    similar values holds more rows than there are hands, no group gets two similar rows.

    >>> deal(np.array([3, 1, 2, 0]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0])
    """
    labels = np.empty(len(codes), dtype=np.int64)
    labels[shuffled_within(codes, rng)] = np.resize(np.arange(max(hands, 1)), len(codes))
    return labels


def shuffled_within(codes: Ints, rng: np.random.Generator) -> Ints:
    """Return the rows in order of their codes, those with equal codes in random order."""
    if len(codes) and codes.min() >= 0 and codes.max() < 1 << 16:
        codes = codes.astype(np.uint16)  # which are sorted without comparisons
        if codes.max() < len(codes) // _PER_CODE:
            # Rows of few codes are shuffled code by code: that stays in the cache.
            order = np.argsort(codes, kind="stable")
            for begin, end in pairwise([0, *np.cumsum(np.bincount(codes)).tolist()]):
                rng.shuffle(order[begin:end])
            return order
    shuffled = rng.permutation(len(codes))
    return shuffled[np.argsort(codes[shuffled], kind="stable")]
