"""The kernels of the lattice, tried out on next to nothing: so numba learns their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wideberth.kernels import judging, rolling, tagging, weighing

_ONE: Any = np.zeros(1, np.int64)
_NONE: Any = np.zeros(0, np.int64)
_NODE: Any = np.zeros(1, np.int16)


def _pool() -> rolling.Pool:
    """Return a pool with one table of one group without rows."""
    pool = rolling.make_pool(1, 1, 1)
    pool.sizes[:] = 0
    pool.spans[0] = 0, 1
    pool.state[:] = 1, 1, 0, 0
    return pool


def _room() -> rolling.Room:
    return rolling.make_room(1, 1, 1, 1)


def _layout() -> rolling.Layout:
    at = np.zeros((1, 1, 1), np.int64)
    return rolling.Layout(np.zeros((1, 3), np.int64), _ONE, at, np.ones((1, 1)))


def _court() -> weighing.Court:
    none = np.zeros((0, judging.COLUMNS), np.int64)
    return weighing.Court(1, 0, 0, none, _ONE, none, np.zeros((4, 1), np.int64))


def _bill() -> weighing.Bill:
    return weighing.Bill(
        prices=np.zeros(1),
        at=np.zeros((1, 1), np.int64),
        fine=np.zeros(1, np.uint8),
        most=np.zeros(1, np.int32),
        bad=np.zeros(2, np.int32),
        costs=np.zeros((2, 1)),
        totals=np.zeros(7, np.int64),
    )


def _choose() -> None:
    order, kind = np.zeros(1, np.int32), np.zeros(1, np.int32)
    chance, logs = np.zeros(1, np.float32), np.zeros(2, np.float32)
    rest = kind, chance, logs, np.zeros(1, np.int32), np.zeros(1, np.int32)
    tagging.choose(np.zeros(1), 1.0, order, np.ones(1, np.int64), np.ones(1, np.int64), *rest)


LATTICE: dict[str, Callable[[], object]] = {
    "count": lambda: rolling.count(np.zeros((1, 1), np.int64), _NONE, 1, _pool(), _room()),
    "count_values": lambda: rolling.count_values(
        np.zeros(1, np.int32), np.zeros(1, np.int32), _NONE, 0, np.zeros((1, 1), np.int32)
    ),
    "reach": lambda: weighing.reach(_NODE, _pool(), _layout(), _room(), _court(), _bill()),
    "judge": lambda: weighing.judge(0, _pool(), _court(), _bill()),
    "weigh": lambda: weighing.weigh(_NODE, 0, _pool(), _layout(), _court(), _bill()),
    "lift": lambda: tagging.lift(
        np.zeros(1), np.ones(1, np.int64), _ONE, _ONE, np.zeros((1, 1)), np.zeros(1, np.int64)
    ),
    "choose": _choose,
    "choose_in_order": lambda: tagging.choose_in_order(
        np.zeros(1), 1.0, np.zeros(1, np.int32), 0.5
    ),
}
