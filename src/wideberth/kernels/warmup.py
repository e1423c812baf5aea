"""The kernels of the lattice, tried out on next to nothing: so numba learns their types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wideberth.kernels import group_tests, lattice_judge, lattice_rollup

_ONE: Any = np.zeros(1, np.int64)
_NONE: Any = np.zeros(0, np.int64)
_NODE: Any = np.zeros(1, np.int16)


def _pool() -> lattice_rollup.TablePool:
    """Return a pool with one table of one group without rows."""
    pool = lattice_rollup.make_table_pool(1, 1, 1)
    pool.sizes[:] = 0
    pool.spans[0] = 0, 1
    pool.state[:] = 1, 1, 0, 0
    return pool


def _room() -> lattice_rollup.RollupBuffers:
    return lattice_rollup.make_rollup_buffers(1, 1, 1, 1)


def _layout() -> lattice_rollup.KeyLayout:
    at = np.zeros((1, 1, 1), np.int64)
    return lattice_rollup.KeyLayout(np.zeros((1, 3), np.int64), _ONE, at, np.ones((1, 1)))


def _court() -> lattice_judge.LatticeTests:
    none = np.zeros((0, group_tests.COLUMNS), np.int64)
    return lattice_judge.LatticeTests(1, 0, 0, none, _ONE, none, np.zeros((4, 1), np.int64))


def _bill() -> lattice_judge.SuppressionCosts:
    return lattice_judge.SuppressionCosts(
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
    lattice_judge.choose(np.zeros(1), 1.0, order, np.ones(1, np.int64), np.ones(1, np.int64), *rest)


LATTICE: dict[str, Callable[[], object]] = {
    "count_keys": lambda: lattice_rollup.count_keys(
        np.zeros((1, 1), np.int64), _NONE, 1, _pool(), _room()
    ),
    "count_values": lambda: lattice_rollup.count_values(
        np.zeros(1, np.int32), np.zeros(1, np.int32), _NONE, 0, np.zeros((1, 1), np.int32)
    ),
    "reach_node": lambda: lattice_judge.reach_node(
        _NODE, _pool(), _layout(), _room(), _court(), _bill()
    ),
    "judge_node_groups": lambda: lattice_judge.judge_node_groups(0, _pool(), _court(), _bill()),
    "weigh_suppression": lambda: lattice_judge.weigh_suppression(
        _NODE, 0, _pool(), _layout(), _court(), _bill()
    ),
    "lift": lambda: lattice_judge.lift(
        np.zeros(1), np.ones(1, np.int64), _ONE, _ONE, np.zeros((1, 1)), np.zeros(1, np.int64)
    ),
    "choose": _choose,
    "choose_in_order": lambda: lattice_judge.choose_in_order(
        np.zeros(1), 1.0, np.zeros(1, np.int32), 0.5
    ),
}
