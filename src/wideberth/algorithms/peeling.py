"""Which rows to leave out where it matters who is near whom: sound, but not always the fewest.

Each reason why there are no groups tells how many rows are too many: one that is near too many
goes itself, of a crowd all near each other as many as groups have no room for. Where no reason is
known and no groups are found, a few of those with most neighbours go.
"""

from __future__ import annotations

import numpy as np

from wideberth.core.exact import Ints
from wideberth.principles.partition.caps import Searched
from wideberth.principles.partition.decide import clique, crowded, overfull
from wideberth.principles.partition.swap import part

#: One in so many rows goes at a time if no reason is known.
_AT_A_TIME = 50
#: Rows that may be looked at while others change places.
_WORK = 1 << 22
#: Up to so many rows all pairs are looked at.
_MOST = 4096


def peeled(rule: Searched, codes: Ints) -> Ints | None:
    """Return how many rows of each value to keep, in ascending order of values; None if unknown."""
    if len(codes) > _MOST:
        return None
    relation, places = rule.among(codes)
    near = relation.near.astype(np.int64)
    left = np.bincount(places, minlength=len(near))
    while left.sum() >= max(rule.smallest, len(codes) // 2):  # to lose more helps nobody
        crowd = near @ left
        worst = int(np.where(left > 0, crowd, 0).argmax())
        if crowded(int(left.sum()), int(crowd[worst]) - 1, rule.cap, rule.smallest):
            left[worst] -= 1
            continue
        rows = np.repeat(np.arange(len(left)), left)
        together = clique(relation, rows)
        if _trimmed(left, together, rule):
            continue
        many = len(rows)
        hands, steps = many // rule.smallest, 2 * many
        if part(relation, rows, hands, rule.cap, rule.smallest, steps, _WORK) is not None:
            return left
        for _ in range(max(1, many // _AT_A_TIME)):
            worst = int(np.where(left > 0, near @ left, 0).argmax())
            left[worst] -= 1
    return None


def _trimmed(left: Ints, together: Ints, rule: Searched) -> bool:
    """Take as many rows from a crowd as there is no room for; return whether there were any."""
    gone = 0
    while overfull(int(left.sum()), int(left[together].sum()), rule.cap, rule.smallest):
        left[together[int(left[together].argmax())]] -= 1
        gone += 1
    return gone > 0
