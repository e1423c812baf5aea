"""Lots: group ids and the order of published rows, drawn so that a part draws the same ones again.

What is published must tell nothing of how it came about. So lots have a secret of their own, which
has nothing to do with the one that breaks ties; each purpose and each part has a stream of its own;
and a group's number, made of its part's and its own within the part, is published only after a
secret permutation of all such numbers.
"""

from __future__ import annotations

import numpy as np

from wideberth.core.exact import Ints
from wideberth.errors import EngineError
from wideberth.kernels.randomness import Stream, permuted, subkey

#: A group's number is made of the part's number and its own, which has 32 bits. Ids go up to 2^52:
#: whole numbers even to those who have no others than floats.
_OWN, _BITS = 32, 52
_PARTS = 1 << (_BITS - _OWN)


def ids(secret: bytes, part: int, many: int) -> Ints:
    """Number the groups of a part at random, unlike those of any other part.

    >>> first, second = ids(b"s", 0, 1000), ids(b"s", 1, 1000)
    >>> len({*first.tolist(), *second.tolist()})
    2000
    """
    if part >= _PARTS:
        raise EngineError("there are more than a million parts", hint="a larger bucket_rows")
    numbers = np.arange(many, dtype=np.uint64) | np.uint64(part << _OWN)
    return permuted(subkey(secret, "ids"), numbers, _BITS).astype(np.int64) + 1


def places(secret: bytes, part: int, rows: int) -> Ints:
    """Draw a number for each row of a part: in the order of these, rows of all parts are mixed."""
    return (Stream(secret, "places", part).words(rows) >> np.uint64(1)).astype(np.int64)
