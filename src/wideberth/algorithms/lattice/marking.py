"""Bounds on all nodes, and which node to check next, in NumPy.

The twin of `wideberth.kernels.tagging`, which says what the functions do; both come to the same
results, to the last bit. For small lattices numba takes longer to load than these take to run.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from wideberth.algorithms.lattice.shape import outer_sum
from wideberth.core.exact import Floats, Ints


def marks() -> Any:
    """Return the module to use: the compiled one, if numba has been loaded anyway."""
    if "numba" in sys.modules:
        from wideberth.kernels import tagging

        return tagging
    return sys.modules[__name__]


def lift(bounds: Floats, strides: Ints, low: Ints, high: Ints, terms: Floats, at: Ints) -> None:
    """Raise the bounds of a box of nodes to a sum of terms, one for each level of each axis."""
    box = tuple(slice(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True))
    part = bounds.reshape(_dims(len(bounds), strides))[box]
    total = outer_sum([line[side] for line, side in zip(terms, box, strict=True)])
    np.maximum(part, total, out=part)


def choose(
    floor: Floats,
    bar: float,
    order: Any,
    dims: Ints,
    strides: Ints,
    kind: Any,
    chance: Any,
    logs: Any,
    under: Any,
    later: Any,
) -> int:
    """Return the node to check next, -1 if nothing is left to decide."""
    undecided = (floor < bar).astype(np.int32)
    if not undecided.any():
        return -1
    after = np.cumsum(undecided[order][::-1], dtype=np.int32)[::-1]
    later[order] = after * undecided[order]
    below = undecided.reshape(tuple(dims.tolist()))
    for axis in range(len(dims)):
        below = np.cumsum(below, axis=axis, dtype=np.int32)
    p = chance[kind]
    gain = (np.float32(1) - p) * logs[below.ravel()] + p * logs[later]
    return int(np.where(floor < np.inf, gain, np.float32(-np.inf)).argmax())


def choose_in_order(floor: Floats, bar: float, order: Any, share: float) -> int:
    """Return the undecided node that comes after a share of them all, -1 if there is none."""
    left = order[floor[order] < bar]
    return int(left[int(share * len(left))]) if len(left) else -1


def _dims(nodes: int, strides: Ints) -> tuple[int, ...]:
    """Return how many levels each axis has.

    >>> _dims(6, np.array([3, 1]))
    (2, 3)
    """
    steps = strides.tolist()
    return tuple(a // b for a, b in zip([nodes, *steps], steps, strict=False))
