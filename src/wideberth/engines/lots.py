"""Lots: group ids and the order of published rows, drawn so that a part draws the same ones again.

What is published must tell nothing of how it came about. So lots have a secret of their own, which
has nothing to do with the one that breaks ties; each purpose and each part draws from a generator
seeded by a keyed hash of it; and whatever of the making goes into a number that is published (which
part and which group of it is which) is permuted at random first.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np

from wideberth.errors import EngineError
from wideberth.exact import Ints

#: A group id is made of the part's number and a lot; so many bits are for the latter, and ids go
#: up to 2^52: whole numbers even to those who have no others than floats.
_LOT, _BITS = 32, 52
_MASK = np.uint64(2**_BITS - 1)
_PARTS = 1 << (_BITS - _LOT)


def ids(secret: bytes, part: int, many: int) -> Ints:
    """Number the groups of a part at random, unlike those of any other part.

    >>> first, second = ids(b"s", 0, 1000), ids(b"s", 1, 1000)
    >>> len({*first.tolist(), *second.tolist()})
    2000
    """
    if part >= _PARTS:
        raise EngineError("there are more than a million parts", hint="a larger bucket_rows")
    lots = _generator(secret, "ids", part).permutation(many).astype(np.uint64)
    part = int(_parts(secret)[part])
    shift = _generator(secret, "shift", 0).integers(1 << _BITS, dtype=np.uint64)
    z = (lots | np.uint64(part << _LOT)) + shift
    for odd in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        # Numbers of a part would lie side by side. Each step can be undone within so many bits, so
        # different numbers stay different, and whoever undoes it finds lots.
        z = (z & _MASK) * np.uint64(odd) & _MASK
        z ^= z >> np.uint64(_BITS // 2)
    return z.astype(np.int64) + 1


@lru_cache(1)
def _parts(secret: bytes) -> Ints:
    """Number the parts at random: their order is that of their making."""
    return _generator(secret, "parts", 0).permutation(_PARTS)


def places(secret: bytes, part: int, rows: int) -> Ints:
    """Draw a number for each row of a part: in the order of these, rows of all parts are mixed."""
    return _generator(secret, "places", part).integers(2**63, size=rows)


def _generator(secret: bytes, purpose: str, part: int) -> np.random.Generator:
    seed = hashlib.blake2b(f"{purpose} {part}".encode(), key=secret, digest_size=32).digest()
    return np.random.default_rng(int.from_bytes(seed))
