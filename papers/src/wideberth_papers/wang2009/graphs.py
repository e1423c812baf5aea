"""Similarity graphs: rows are joined if they are near each other.

(ε,δ)^k-dissimilarity asks of a table nothing but its similarity graph, and any graph is that of a
table: let joined rows be 1 apart, all others 2, and ε = 1. So what can be satisfied at all is
looked for in graphs. A graph is a symmetric matrix of truth values with a true diagonal.

What is here shares nothing with the library, so that it can judge it: the definition, conditions,
and two searches that end with the truth, through all subsets of a few rows and by CP-SAT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import ceil, lcm

import numpy as np

from wideberth.core.exact import Bools

KINDS = ("any pairs", "on a line", "clusters")
#: How likely two rows are near each other in one cluster, and in two.
_WITHIN, _BETWEEN = 0.9, 0.02


def random_graph(kind: str, rows: int, density: float, rng: np.random.Generator) -> Bools:
    """Draw a graph in which about so large a share of all pairs is joined.

    Parameters
    ----------
    kind : str
        "any pairs": each by itself (Erdős and Rényi). "on a line": random numbers that differ by
        little. "clusters": rows of one of 1/density clusters mostly, others hardly ever.
    rows : int
        How many rows.
    density : float
        The share.
    rng : Generator
        Of chance.

    Examples
    --------
    >>> near = random_graph("on a line", 50, 0.2, np.random.default_rng(0))
    >>> bool(near.diagonal().all()), bool((near == near.T).all())
    (True, True)
    """
    if kind == "on a line":
        place = rng.random(rows)
        return np.abs(place[:, None] - place) <= 1 - (1 - density) ** 0.5
    chance = np.full((rows, rows), density)
    if kind == "clusters":
        cluster = rng.integers(0, round(1 / density), rows)
        chance = np.where(cluster[:, None] == cluster, _WITHIN, _BETWEEN)
    upper = np.triu(rng.random((rows, rows)) < chance, 1)
    return upper | upper.T | np.eye(rows, dtype=bool)


def all_graphs(rows: int) -> Iterator[Bools]:
    """Yield all graphs of two to seven rows, one of each form.

    >>> len(list(all_graphs(5)))
    34
    """
    import networkx as nx

    for graph in nx.graph_atlas_g():
        if graph.number_of_nodes() == rows:
            yield nx.to_numpy_array(graph, dtype=bool) | np.eye(rows, dtype=bool)


def metric(near: Bools) -> Callable[[int, int], int]:
    """Return the distance of rows, told by their numbers, that gives this graph with ε = 1."""
    apart = (2 - near.astype(int) - np.eye(len(near), dtype=int)).tolist()
    return lambda a, b: apart[a][b]


def edges(near: Bools) -> str:
    """Write a graph down, its rows numbered from 1.

    >>> edges(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    '3 rows; near each other: 1-2 2-3'
    """
    pairs = " ".join(f"{a + 1}-{b + 1}" for a, b in np.argwhere(np.triu(near, 1)).tolist())
    return f"{len(near)} rows; near each other: {pairs or 'none'}"


# ---- the definition


def holds(near: Bools, labels: Sequence[int], delta: Fraction, k: int) -> bool:
    """Tell whether groups are (ε,δ)^k-dissimilar, by the definition, row by row."""
    for group in set(labels):
        members = [row for row, label in enumerate(labels) if label == group]
        others = len(members) - 1
        if len(members) < k or (not others and delta > 0):
            return False
        for row in members:
            far = sum(not near[row, other] for other in members)
            if far < delta * others:
                return False
    return True


def best_delta(near: Bools, k: int) -> Fraction | None:
    """Return the largest δ that any groups of k rows or more reach, by looking at all of them.

    It is for a dozen rows at most; None if there are fewer than k.

    >>> star = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]], dtype=bool)
    >>> best_delta(star, 2), best_delta(star, 4)
    (Fraction(0, 1), None)
    """
    n = len(near)
    whole = lcm(*range(1, max(n, 2)))  # in which the shares of all groups are whole numbers
    subsets = np.arange(1 << n)
    inside = (subsets[:, None] >> np.arange(n)) & 1
    size = inside.sum(axis=1)
    crowd = np.where(inside == 1, inside @ near.astype(np.int64), 0).max(axis=1)
    shares = np.where(size > 1, (size - crowd) * whole // np.maximum(size - 1, 1), 0)
    reach = np.where(size >= k, shares, -1).tolist()

    @cache
    def best(left: int) -> int:
        """Return the best of the rows left; the first of them is in a group with some others."""
        lowest = left & -left
        others = some = left ^ lowest
        found = -1
        while True:
            if reach[some | lowest] > found:
                rest = others ^ some
                found = max(found, min(reach[some | lowest], best(rest) if rest else whole))
            if not some:
                return found
            some = (some - 1) & others

    most = best((1 << n) - 1)
    return None if most < 0 else Fraction(most, whole)


def possible(near: Bools, delta: Fraction, k: int) -> bool | None:
    """Tell whether there are (ε,δ)^k-dissimilar groups, by CP-SAT; None where it is not installed.

    It is asked row by row, which group each is in: no group is numbered above its first row.
    """
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None
    n, allowed = len(near), 1 - delta
    unit = max(k, 2) if delta else k
    model = cp_model.CpModel()
    groups = range(n // unit)
    at = {(v, g): model.new_bool_var("") for v in range(n) for g in groups if g <= v}
    for v in range(n):
        model.add_exactly_one(at[v, g] for g in groups if g <= v)
    for g in groups:
        members = {v: at[v, g] for v in range(g, n)}
        size = sum(members.values())
        for v, here in members.items():
            close = sum(other for u, other in members.items() if u != v and near[u, v])
            model.add(size >= unit).only_enforce_if(here)
            model.add(
                allowed.denominator * close <= allowed.numerator * (size - 1)
            ).only_enforce_if(here)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    return bool(status in (cp_model.OPTIMAL, cp_model.FEASIBLE))


# ---- what is known without a search


def chromatic(near: Bools) -> int:
    """Return the fewest colours that tell near rows apart, by trying them all.

    >>> chromatic(np.ones((4, 4), dtype=bool))
    4
    """
    n = len(near)

    def coloured(colours: list[int], most: int) -> bool:
        row = len(colours)
        if row == n:
            return True
        taken = {colours[other] for other in range(row) if near[row, other]}
        fresh = max(colours, default=-1) + 1  # unused colours are all alike
        return any(
            coloured([*colours, colour], most)
            for colour in range(min(fresh + 1, most))
            if colour not in taken
        )

    return next(most for most in range(1, n + 1) if coloured([], most))


def largest_clique(near: Bools) -> int:
    """Return how many rows are all near each other, at most."""
    import networkx as nx

    graph = nx.from_numpy_array(near & ~np.eye(len(near), dtype=bool))
    return max(len(found) for found in nx.find_cliques(graph))


def refuting(near: Bools, delta: Fraction, k: int) -> list[str]:
    """Name the necessary conditions that a graph fails.

    "crowd": of rows all near each other, a group of s has room for 1 + (1 - δ)(s - 1), so all
    groups for δ floor(N/k) + (1 - δ) N. "row": a row needs ceil(δ(k - 1)) others that are far.
    """
    n, unit = len(near), max(k, 2) if delta else k
    failed = []
    if largest_clique(near) > delta * (n // unit) + (1 - delta) * n:
        failed.append("crowd")
    if n - int(near.sum(axis=1).max()) < ceil(delta * (unit - 1)):
        failed.append("row")
    return failed


def ensuring(near: Bools, delta: Fraction, k: int) -> list[str]:
    """Name the sufficient conditions that a graph meets; Δ is the most rows near another.

    "whole": all rows may be one group. "colours": N >= k(Δ + 1), so an equitable colouring has k
    rows or more of each colour (Hajnal and Szemerédi). "merged": the same with r colours taken
    together, where r divides Δ + 1.
    """
    n, unit = len(near), max(k, 2) if delta else k
    most = int(near.sum(axis=1).max()) - 1
    met = []
    if n >= unit and most <= (1 - delta) * (n - 1):
        met.append("whole")
    if n >= unit * (most + 1):
        met.append("colours")
    size = n // (most + 1)
    if any(
        r * size >= unit and min(most, (r - 1) * (size + 1)) <= (1 - delta) * (r * size - 1)
        for r in range(1, most + 2)
        if (most + 1) % r == 0
    ):
        met.append("merged")
    return met


def padded(near: Bools, rows: int) -> Bools:
    """Add rows that are near nobody, until there are so many."""
    wide = np.eye(rows, dtype=bool)
    wide[: len(near), : len(near)] = near
    return wide


def sizes_of(n: int) -> list[int]:
    """Return each k of which n rows make at least two groups."""
    return [k for k in range(2, n) if n // k > 1]
