"""The most rows that groups of dissimilar rows can hold: found, and proven where that is possible.

A dozen rows are searched to the end. Beyond, it is a question of how often to use each pattern: a
set of classes of which a group has one row each. There are as many unknowns as patterns, however
many rows there are. CP-SAT answers it with a proof, if the extra [exact] is installed; else SciPy
looks for an answer, which is as good, but whose bound is a matter of rounded numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import floor, prod

import numpy as np

from wideberth.core.exact import Ints
from wideberth.principles.partition.conflicts import Conflicts

_ROWS = 100  # that are searched to the end, row by row
_STATES = 1 << 15  # what such a search may look at
_PATTERNS = 5000  # what a solver is given
_EFFORT = 3.0  # of CP-SAT, in a measure of its own that does not depend on the machine's mood
_NODES = 500  # of SciPy's search tree
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Proof:
    """What was found."""

    most: int | None  # no groups hold more rows; None if that is not proven
    held: list[Ints]  # for each class, the groups that hold a row of it


def best(conflicts: Conflicts, smallest: int) -> Proof | None:
    """Return the groups that hold the most rows, if there are not too many ways to look at."""
    few = len(conflicts.codes) <= _ROWS
    if few and prod(int(c) + 1 for c in conflicts.count) <= _STATES:
        return exhaustive(conflicts, smallest)
    similar = [set(s.tolist()) for s in conflicts.similar]
    every = range(len(similar))
    found = (p for v in every for p in _patterns(v, every[v + 1 :], similar, smallest))
    patterns = list(islice(found, _PATTERNS + 1))
    if not patterns or len(patterns) > _PATTERNS:
        return None
    return proven(conflicts, patterns) or sought(conflicts, patterns)


def _patterns(
    first: int, others: Sequence[int], similar: Sequence[set[int]], smallest: int
) -> Iterator[tuple[int, ...]]:
    """Yield the sets of dissimilar classes with a given one, too small to be two groups."""

    def extended(group: tuple[int, ...], others: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if len(group) >= smallest:
            yield group
        if len(group) < 2 * smallest - 1:
            for i, v in enumerate(others):
                yield from extended(
                    (*group, v), [u for u in others[i + 1 :] if u not in similar[v]]
                )

    yield from extended((first,), [u for u in others if u not in similar[first]])


def exhaustive(conflicts: Conflicts, smallest: int) -> Proof:
    """Try all ways to form groups, remembering what is left after each."""
    similar = [set(s.tolist()) for s in conflicts.similar]
    every = range(len(similar))

    @cache
    def most(left: tuple[int, ...]) -> tuple[int, tuple[int, ...] | None]:
        """Return how many rows fit into groups, and one group to begin with."""
        first = next((v for v in every if left[v]), None)
        if first is None:
            return 0, ()
        best, chosen = most(_less(left, (first,)))[0], None
        others = [v for v in every[first + 1 :] if left[v]]
        for group in _patterns(first, others, similar, smallest):
            kept = len(group) + most(_less(left, group))[0]
            if kept > best:
                best, chosen = kept, group
        return best, chosen

    left = tuple(conflicts.count.tolist())
    used: list[tuple[int, ...]] = []
    total = most(left)[0]
    while any(left):
        group = most(left)[1]
        if group is None:  # the first row left is in no group
            group = (next(v for v in every if left[v]),)
        else:
            used.append(group)
        left = _less(left, group)
    return Proof(total, _held(conflicts, used, [1] * len(used)))


def _less(left: tuple[int, ...], group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(many - (v in group) for v, many in enumerate(left))


def proven(conflicts: Conflicts, patterns: Sequence[tuple[int, ...]]) -> Proof | None:
    """Ask CP-SAT how often to use each pattern, if it is installed."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None
    model = cp_model.CpModel()
    counts = conflicts.count.tolist()
    times = [model.new_int_var(0, min(counts[v] for v in p), "") for p in patterns]
    inside: list[list[cp_model.IntVar]] = [[] for _ in counts]
    for pattern, many in zip(patterns, times, strict=True):
        for v in pattern:
            inside[v].append(many)
    for used, count in zip(inside, counts, strict=True):
        model.add(sum(used) <= count)
    model.maximize(sum(len(p) * many for p, many in zip(patterns, times, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = _EFFORT
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    most = floor(solver.best_objective_bound + _ROUNDING)
    return Proof(most, _held(conflicts, patterns, [solver.value(many) for many in times]))


def sought(conflicts: Conflicts, patterns: Sequence[tuple[int, ...]]) -> Proof | None:
    """Ask SciPy how often to use each pattern: no proof, but groups that are right."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    sizes = np.array([len(p) for p in patterns])
    start = np.concatenate(([0], np.cumsum(sizes)))
    classes = np.concatenate([np.array(p) for p in patterns])
    width = len(conflicts.count)
    holds = csr_array((np.ones(len(classes)), classes, start), shape=(len(patterns), width)).T
    most = np.minimum.reduceat(conflicts.count[classes], start[:-1])
    answer = milp(
        -sizes,
        constraints=LinearConstraint(holds, ub=conflicts.count),
        integrality=np.ones(len(patterns)),
        bounds=Bounds(0, most),
        options={"node_limit": _NODES, "mip_rel_gap": 0},
    )
    if answer.x is None:
        return None
    times = np.rint(answer.x).astype(np.int64)
    if (holds @ times > conflicts.count).any():  # rounded the wrong way
        return None
    return Proof(None, _held(conflicts, patterns, times.tolist()))


def _held(
    conflicts: Conflicts, patterns: Sequence[tuple[int, ...]], times: Sequence[int]
) -> list[Ints]:
    """Number the groups, and note for each class in which it is."""
    held: list[list[int]] = [[] for _ in conflicts.count]
    groups = 0
    for pattern, many in zip(patterns, times, strict=True):
        for v in pattern:
            held[v] += range(groups, groups + many)
        groups += many
    return [np.array(numbers, dtype=np.int64) for numbers in held]
