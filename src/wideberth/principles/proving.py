"""The most rows that groups of dissimilar rows can hold, proven: by trying all, or by a solver.

Trying all is for a dozen rows. The solver is CP-SAT, if the extra [exact] is installed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np

from wideberth.exact import Ints
from wideberth.principles.conflicts import Conflicts

_STATES = 1 << 15  # what trying all may look at
_CELLS = 4000  # classes times groups that the solver is given
_EFFORT = 20.0  # of the solver, in its own measure, which does not depend on the machine's mood


@dataclass(frozen=True, eq=False)
class Proof:
    """What was proven.

    Parameters
    ----------
    most : int
        No groups hold more rows.
    held : list of array of int
        Groups that come nearest to it: for each class those that hold a row of it.
    """

    most: int
    held: list[Ints]


def best(conflicts: Conflicts, smallest: int, found: int) -> Proof | None:
    """Return what can be proven about the most rows, given that so many are known to fit."""
    if prod(int(c) + 1 for c in conflicts.count) <= _STATES:
        return exhaustive(conflicts, smallest)
    hands = len(conflicts.codes) // smallest
    if hands * len(conflicts.count) <= _CELLS:
        return _solved(conflicts, smallest, found)
    return None


def exhaustive(conflicts: Conflicts, smallest: int) -> Proof:
    """Try all ways to form groups, remembering what is left after each."""
    similar = [set(s.tolist()) for s in conflicts.similar]
    every = range(len(conflicts.count))

    def choices(left: tuple[int, ...], first: int) -> list[tuple[int, ...]]:
        """Return the groups that hold the first class, smaller than two groups."""
        found: list[tuple[int, ...]] = []

        def extend(group: tuple[int, ...], others: list[int]) -> None:
            if len(group) >= smallest:
                found.append(group)
            if len(group) == 2 * smallest - 1:
                return
            for i, v in enumerate(others):
                extend((*group, v), [u for u in others[i + 1 :] if u not in similar[v]])

        extend((first,), [u for u in every[first + 1 :] if left[u] and u not in similar[first]])
        return found

    @cache
    def most(left: tuple[int, ...]) -> tuple[int, tuple[int, ...] | None]:
        """Return how many rows fit into groups, and one group to begin with."""
        first = next((v for v in every if left[v]), None)
        if first is None:
            return 0, ()
        best, chosen = most(_less(left, (first,)))[0], None
        for group in choices(left, first):
            kept = len(group) + most(_less(left, group))[0]
            if kept > best:
                best, chosen = kept, group
        return best, chosen

    left = tuple(conflicts.count.tolist())
    held: list[list[int]] = [[] for _ in every]
    number, total = 0, most(left)[0]
    while any(left):
        group = most(left)[1]
        if group is None:  # the first row left is in no group
            left = _less(left, (next(v for v in every if left[v]),))
            continue
        for v in group:
            held[v].append(number)
        left, number = _less(left, group), number + 1
    return Proof(total, [np.array(groups, dtype=np.int64) for groups in held])


def _less(left: tuple[int, ...], group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(many - (v in group) for v, many in enumerate(left))


def _solved(conflicts: Conflicts, smallest: int, found: int) -> Proof | None:
    """Ask the solver, if it is there: which class has a row in which group."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None
    model = cp_model.CpModel()
    classes = range(len(conflicts.count))
    hands = range(len(conflicts.codes) // smallest)
    holds = [[model.new_bool_var("") for _ in hands] for _ in classes]
    used = [model.new_bool_var("") for _ in hands]
    for v in classes:
        model.add(sum(holds[v]) <= int(conflicts.count[v]))
    for hand in hands:
        model.add(sum(holds[v][hand] for v in classes) >= smallest * used[hand])
        for clique in conflicts.shallower:
            model.add(sum(holds[v][hand] for v in clique.tolist()) <= used[hand])
        if hand:  # groups have no order: those that are used come first
            model.add(used[hand] <= used[hand - 1])
    total = sum(cell for row in holds for cell in row)
    model.add(total >= found)
    model.maximize(total)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = _EFFORT
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    held = [
        np.array([hand for hand in hands if solver.value(holds[v][hand])], dtype=np.int64)
        for v in classes
    ]
    return Proof(int(solver.best_objective_bound), held)
