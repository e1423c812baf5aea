"""How a group is taken apart so that every part satisfies a principle that is not monotone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wideberth.core.exact import Ints
from wideberth.kernels import kinds
from wideberth.kernels.randomness import Chance

#: So many rows must a code have, on average, for its rows to be shuffled by themselves.
_PER_CODE = 100


def deal(codes: Ints, hands: int, rng: Chance, per: int = 1) -> Ints:
    """Deal the rows, in order of their codes, to so many groups in turn: a label for each row.

    >>> deal(np.array([3, 1, 2, 0]), 2, np.random.default_rng(0))
    array([1, 1, 0, 0])
    """
    # Rows with equal codes are shuffled first: their order must not reveal anything. If no window
    # of similar values holds more rows than there are hands, no group gets two similar rows. Less
    # than 0 hands are hands of whole columns with `per` rows; see
    # `wideberth.kernels.kinds.column_layout`.
    labels = np.empty(len(codes), dtype=np.int64)
    labels[shuffled_within(codes, rng)] = labels_of(len(codes), hands or 1, per)
    return labels


def shuffled_within(codes: Ints, rng: Chance) -> Ints:
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


def dealt_group_count(
    rows: int,
    unit: int,
    numbers: tuple[int, ...],
    *,
    crowd: int,
    near: int,
    fits: Callable[[int], bool],
) -> int:
    """Return how many hands to deal rows to, in the order of their values, as the kernels do."""
    # 0 if no way is found; less than 0 if the hands are of whole columns. As many as possible, so
    # that groups are small; of equally many dealt in turn rather than by columns, for that spreads
    # values farther. `numbers` are those of the rule's kernel (`kinds.CROWD`). `crowd`: the most
    # rows of which any two are similar; `near`: the most others near one row. `fits` tests a number
    # of hands; of less than 0, it skips the test for crowding.
    p, q, _, alone = numbers
    many, by_columns = rows // unit, 0
    if p == 1 and not alone:
        found, far = kinds.column_layout(rows, unit, q)
        if crowd <= far:
            by_columns = found
    least = kinds.least_group_count(near, rows, p, q)
    while by_columns or many >= least:
        if by_columns > many or many < least:  # in turn only if that makes as many groups
            if fits(-by_columns):
                return -by_columns
            by_columns = 0
        elif fits(many):
            return many
        else:
            many = kinds.next_group_count(many, rows, unit)
    return 0


def labels_of(rows: int, hands: int, per: int) -> Ints:
    """Return the hand of each row; of columns of `per` rows if there are less than 0 hands.

    >>> labels_of(13, 4, 2).tolist()
    [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0]
    >>> labels_of(13, -2, 2).tolist()
    [0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
    """
    if hands > 0:
        return np.resize(np.arange(hands), rows)
    width = rows // per
    return np.arange(rows) % width * -hands // width
