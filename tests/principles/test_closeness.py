"""t-closeness against the transport problem that defines it, solved in two other ways."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import wideberth as wb
from tests import naive
from tests.samples import Sample, bound, sample, samples

TINY = Fraction(1, 10**12)
RANKED = ("integers", "tenths", "dates", "floats")


def kinds_of_distance(table: Sample) -> list[str]:
    """The distances that a column of this kind has."""
    known = any(v is not None for v in table.values)
    if table.kind in RANKED:
        return ["equal", "ordered"] if known else ["equal"]
    return ["equal", "hierarchical"] if table.context.parents else ["equal"]


tables = samples(wb.TCloseness, rows=9, kinds=(*RANKED, "text", "balanced", "unbalanced"))


def by_linear_programming(p: list[Fraction], q: list[Fraction], cost: Any) -> float:
    """Definition 1 of the earth mover's distance, handed to a solver as it stands."""
    size = len(p)
    flow = np.arange(size * size).reshape(size, size)
    rows = np.zeros((2 * size, size * size))
    for i in range(size):
        rows[i, flow[i]] = 1
        rows[size + i, flow[:, i]] = 1
    sums = np.array([float(x) for x in (*p, *q)])
    solved = linprog(np.array(cost, dtype=float).ravel(), A_eq=rows, b_eq=sums)
    assert solved.success
    return solved.fun


@settings(max_examples=60)
@given(tables, st.data())
def test_the_twin_solves_the_transport_problem(table: Sample, data: st.DataObject) -> None:
    """A second opinion on the twin itself, and on the closed forms of Li et al., Sec. 4."""
    kind = data.draw(st.sampled_from(kinds_of_distance(table)))
    for part in table.parts:
        p, q, cost = naive.transport_problem(table.of(part), table.context, kind)
        least = naive.transport(p, q, cost)
        assert by_linear_programming(p, q, cost) == pytest.approx(float(least), abs=1e-9)
        if kind == "equal":
            assert least == naive.emd_equal(p, q)
        if kind == "ordered" and None not in table.values:
            assert least == naive.emd_ordered(p, q)


@settings(max_examples=150)
@given(tables, st.data())
def test_the_very_distance_is_permitted(table: Sample, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(kinds_of_distance(table)))
    groups = table.groups(table.parts)
    achieved = bound(wb.TCloseness(t=0, distance=kind), table).achieved(groups)["t"]
    for group, part in enumerate(table.parts):
        exact = naive.closeness(table.of(part), table.context, kind)
        assert achieved[group] == pytest.approx(float(exact), abs=1e-15)
        assert bound(wb.TCloseness(t=exact, distance=kind), table).satisfies(groups)[group]
        if exact:
            less = wb.TCloseness(t=max(exact - TINY, Fraction(0)), distance=kind)
            assert not bound(less, table).satisfies(groups)[group]


@settings(max_examples=100)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=9), st.integers(1, 6), st.data())
def test_missing_values_off_the_line(ranks: list[int], lacking: int, data: st.DataObject) -> None:
    """A missing value is at distance 1 from all others: no closed form, mass may come from any."""
    values = [*ranks, *[None] * lacking]
    inside = data.draw(
        st.lists(st.integers(0, len(values) - 1), min_size=1, unique=True), label="rows"
    )
    table = sample("integers", values, parts=[inside])
    exact = naive.closeness(table.of(inside), table.context, "ordered")
    groups = table.groups(table.parts)
    assert bound(wb.TCloseness(t=exact, distance="ordered"), table).satisfies(groups)[0]
    if exact:
        less = wb.TCloseness(t=exact - Fraction(1, 10**9), distance="ordered")
        assert not bound(less, table).satisfies(groups)[0]


@settings(max_examples=60)
@given(st.data())
def test_balanced_trees_by_the_recursive_formula(data: st.DataObject) -> None:
    """Li et al. 2007, Sec. 4.3: cost(N) = height(N)/H · min(surplus, shortage) of its children."""
    table = data.draw(samples(wb.TCloseness, rows=9, kinds=("balanced",)))
    if None in table.values:
        return
    parents = table.context.parents
    depth = {node: len(naive.ancestry(node, parents)) for node in parents}
    height = max(depth.values()) - 1
    for part, achieved in zip(
        table.parts,
        bound(wb.TCloseness(t=1, distance="hierarchical"), table).achieved(
            table.groups(table.parts)
        )["t"],
        strict=True,
    ):
        extra = dict.fromkeys(parents, Fraction(0))
        for values, sign in ((table.of(part), 1), (table.values, -1)):
            for value in values:
                for node in naive.ancestry(value, parents):
                    extra[node] += Fraction(sign, len(values))
        cost = Fraction(0)
        for node in parents:
            children = [extra[c] for c, up in parents.items() if up == node]
            surplus = sum((x for x in children if x > 0), Fraction(0))
            shortage = -sum((x for x in children if x < 0), Fraction(0))
            cost += Fraction(height + 1 - depth[node], height) * min(surplus, shortage)
        assert achieved == pytest.approx(float(cost), abs=1e-15)


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical", "auto"])
def test_nothing_but_missing_values(distance: str) -> None:
    """The group is the table, so the distance is 0; there is nothing to divide by."""
    kind = "unbalanced" if distance == "hierarchical" else "integers"
    parents = {"*": None, "a": "*"} if distance == "hierarchical" else None
    table = sample(kind, [None, None], parents)
    rule = bound(wb.TCloseness(t=0, distance=distance), table)
    groups = table.groups(table.parts)
    assert rule.satisfies(groups).tolist() == [True]
    assert rule.achieved(groups)["t"].tolist() == [0.0]


def test_a_missing_value_in_a_tree() -> None:
    """It hangs under the root, at distance 1 from the value that is nearest to the root."""
    parents = {"*": None, "shallow": "*", "x": "*", "y": "x", "deep": "y"}
    for value in ("deep", "shallow"):
        table = sample("unbalanced", [value, None], parents, [[0], [1]])
        rule = bound(wb.TCloseness(t=1, distance="hierarchical"), table)
        assert rule.achieved(table.groups(table.parts))["t"].tolist() == [0.5, 0.5]
    table = sample("unbalanced", ["shallow", "deep", None, None], parents, [[0, 1], [2, 3]])
    rule = bound(wb.TCloseness(t=1, distance="hierarchical"), table)
    # Half the mass has to go: a quarter at distance 1, a quarter at 1 + 2/6.
    exact = Fraction(1, 4) * 1 + Fraction(1, 4) * Fraction(4, 3)
    assert rule.achieved(table.groups(table.parts))["t"].tolist() == [float(exact)] * 2


def test_thousands_of_rows_do_not_wrap_around() -> None:
    """rows² · ranks is far above 2**31 here; against the closed forms in fractions."""
    random = np.random.default_rng(5)
    values = random.integers(0, 3000, 6000).tolist()
    table = sample("integers", values)
    parts = [list(range(0, 10)), list(range(10, 3000)), list(range(3000, 6000))]
    for kind, formula in (("ordered", naive.emd_ordered), ("equal", naive.emd_equal)):
        figures = bound(wb.TCloseness(t=1, distance=kind), table).achieved(table.groups(parts))
        for part, figure in zip(parts, figures["t"], strict=True):
            ranks = sorted(set(values))
            p = np.bincount([ranks.index(values[r]) for r in part], minlength=len(ranks))
            q = np.bincount([ranks.index(v) for v in values], minlength=len(ranks))
            exact = formula(
                [Fraction(int(n), len(part)) for n in p], [Fraction(int(n), 6000) for n in q]
            )
            assert figure == pytest.approx(float(exact), rel=1e-12)
