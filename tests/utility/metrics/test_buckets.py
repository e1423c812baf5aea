"""Measures of anatomised tables: against slow twins, and the figures of Wang et al. 2013."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import naive
from tests.samples import Sample, sample, samples
from wideberth import datasets
from wideberth.core.codes import Column, Domain, encode
from wideberth.core.groups import Groups, Partition
from wideberth.errors import ParameterError
from wideberth.hierarchy import Hierarchy
from wideberth.principles import LEDiversity
from wideberth.utility.metrics import (
    AnatomyFigures,
    average_diversity,
    diversity_degree,
    reconstruction_error,
    similarity_risk,
    true_point_error,
)

TREE = datasets.wang2013_figure1()

# ---- slow twins: lists of values, None for a missing one


def shares(group: Sequence[Any]) -> dict[Any, Fraction]:
    return {value: Fraction(many, len(group)) for value, many in Counter(group).items()}


def row_error(own: Any, group: Sequence[Any]) -> Fraction:
    """Σ (P'(x) - P(x))² over every value x of the group; P is 1 at the row's own."""
    return sum(((p - (x == own)) ** 2 for x, p in shares(group).items()), Fraction(0))


def row_error_at_the_true_point(own: Any, group: Sequence[Any]) -> Fraction:
    return (shares(group)[own] - 1) ** 2


def degree(group: Sequence[Any], parents: dict[str, str | None]) -> Fraction | None:
    """Σ over pairs i < j of D_ij, over q."""
    rows = [value for value in group if value is not None]
    pairs = combinations(rows, 2)
    total = sum((naive.tree_distance(a, b, parents) for a, b in pairs), Fraction(0))
    return total / len(rows) if rows else None


def risk(group: Sequence[Any], level: int, parents: dict[str, str | None]) -> Fraction:
    """The share of the rows under the commonest node at the level."""
    ways = [naive.ancestry(value, parents)[::-1] for value in group]  # from the root down
    kinds = Counter(way[level] for way in ways if len(way) > level)
    return Fraction(max(kinds.values(), default=0), len(group))


def height(parents: dict[str, str | None]) -> int:
    return max(len(naive.ancestry(node, parents)) for node in parents) - 1


# ---- any tree, any groups

on_trees = samples(LEDiversity, rows=14, kinds=("balanced", "unbalanced"), groups=4)
anything = samples(LEDiversity, rows=14, kinds=("text", "unbalanced"), groups=4)


def lists(data: Sample) -> list[list[Any]]:
    return [data.of(part) for part in data.parts]


@given(anything)
def test_reconstruction_errors(data: Sample) -> None:
    groups = data.groups(data.parts)
    for measure, twin in [
        (reconstruction_error, row_error),
        (true_point_error, row_error_at_the_true_point),
    ]:
        by_hand = [sum(twin(own, group) for own in group) for group in lists(data)]
        assert measure(groups).tolist() == [float(error) for error in by_hand]


@given(on_trees)
def test_diversity_degree(data: Sample) -> None:
    groups, domain = data.groups(data.parts), data.column.domain
    by_hand = [degree(group, data.context.parents) for group in lists(data)]
    found = diversity_degree(groups, domain).tolist()
    assert [None if isnan(d) else d for d in found] == [
        None if d is None else float(d) for d in by_hand
    ]
    some = [d for d in by_hand if d is not None]
    if some:
        mean = float(sum(some) / len(some))
        assert average_diversity(groups, domain) == pytest.approx(mean, rel=1e-12)
    else:
        assert isnan(average_diversity(groups, domain))


@given(on_trees)
def test_similarity_risk(data: Sample) -> None:
    parents = data.context.parents
    found = similarity_risk(data.groups(data.parts), data.column.domain)
    assert found.shape == (len(data.parts), height(parents))
    assert found.tolist() == [
        [float(risk(group, level, parents)) for level in range(1, height(parents) + 1)]
        for group in lists(data)
    ]


@given(on_trees, st.integers(0, 5))
def test_figures(data: Sample, suppressed: int) -> None:
    parents, groups = data.context.parents, lists(data)
    figures = AnatomyFigures.of(data.groups(data.parts), data.column.domain, suppressed).to_dict()
    assert json.loads(json.dumps(figures)) == figures
    rows = [(own, group) for group in groups for own in group]
    for name, twin in [
        ("reconstruction_error", row_error),
        ("true_point_error", row_error_at_the_true_point),
    ]:
        errors = [twin(*row) for row in rows] + [Fraction(1)] * suppressed
        assert figures[name] == pytest.approx(float(sum(errors) / len(errors)), rel=1e-12)
    some = [d for group in groups if (d := degree(group, parents)) is not None]
    wanted = pytest.approx(float(sum(some) / len(some)), rel=1e-12) if some else None
    assert figures["average_diversity"] == wanted
    assert [entry["level"] for entry in figures["similarity_risk"]] == [
        *range(1, height(parents) + 1)
    ]
    for entry in figures["similarity_risk"]:
        every = [risk(group, entry["level"], parents) for _, group in rows]
        assert entry["worst"] == float(max(every))
        assert entry["mean"] == pytest.approx(float(sum(every) / len(every)), rel=1e-12)


def test_figures_without_a_tree() -> None:
    data = sample("text", ["a", "b", "b", None], parts=[[0, 1], [2, 3]])
    figures = AnatomyFigures.of(data.groups(data.parts), data.column.domain)
    assert figures.to_dict() == {
        "reconstruction_error": 0.5,
        "true_point_error": 0.25,
        "average_diversity": None,
        "similarity_risk": None,
    }


@pytest.mark.parametrize("measure", [diversity_degree, average_diversity, similarity_risk])
def test_no_tree_no_distance(measure: Any) -> None:
    domain = Domain(name="diagnosis", histogram=np.array([2]))
    with pytest.raises(ParameterError, match="'diagnosis' has no hierarchy"):
        measure(Groups.of([[0, 0]], width=1), domain)


def test_a_tree_that_is_but_a_root() -> None:
    data = sample("unbalanced", ["n0", "n0", None], {"n0": None}, [[0, 1], [2]])
    groups, domain = data.groups(data.parts), data.column.domain
    assert diversity_degree(groups, domain)[0] == 0
    assert isnan(diversity_degree(groups, domain)[1])
    assert similarity_risk(groups, domain).shape == (2, 0)
    assert AnatomyFigures.of(groups, domain).to_dict()["similarity_risk"] == []


def test_every_value_missing() -> None:
    data = sample("unbalanced", [None, None], {"n0": None, "n1": "n0"}, [[0], [1]])
    figures = AnatomyFigures.of(data.groups(data.parts), data.column.domain)
    assert figures.average_diversity is None
    assert [risk.worst for risk in figures.similarity_risk or ()] == [0]


def test_every_row_suppressed() -> None:
    """Nothing is published: nothing is right, and nothing is given away."""
    nothing = Groups(
        start=np.array([0]), codes=np.array([], int), counts=np.array([], int), width=1
    )
    domain = Domain(name="s", histogram=np.array([3]), values=pl.Series(["Flu"]), tree=TREE)
    assert AnatomyFigures.of(nothing, domain, rows_suppressed=3).to_dict() == {
        "reconstruction_error": 1,
        "true_point_error": 1,
        "average_diversity": None,
        "similarity_risk": None,
    }


def test_groups_so_large_that_cubes_overflow() -> None:
    """Half and half of 2**40 rows: 1/2 and 1/4 a row, and N/4 for two values at distance 1."""
    size = 2**40
    groups = Groups(
        start=np.array([0, 2]),
        codes=np.array([0, 1]),
        counts=np.array([size // 2, size // 2]),
        width=2,
    )
    tree = Hierarchy(("*", "a", "b"), [-1, 0, 0])
    domain = Domain(name="s", histogram=groups.counts, values=pl.Series(["a", "b"]), tree=tree)
    assert reconstruction_error(groups).tolist() == [size / 2]
    assert true_point_error(groups).tolist() == [size / 4]
    assert diversity_degree(groups, domain).tolist() == [size / 4]
    assert similarity_risk(groups, domain).tolist() == [[0.5]]


# ---- Wang et al. 2013, Tables III and V


def anatomised(table: pl.DataFrame) -> tuple[Groups, Domain]:
    column: Column = encode(table["disease"]).with_tree(TREE)
    labels = (table["group"].to_numpy() - 1).astype(np.int32)
    return Partition(labels, 3).histograms(column), column.domain


TABLE_III = anatomised(datasets.wang2013_table3())
TABLE_V = anatomised(datasets.wang2013_table5())


@pytest.mark.parametrize("published", [TABLE_III, TABLE_V], ids=["III", "V"])
def test_formula_5_and_the_example_below_it(published: tuple[Groups, Domain]) -> None:
    """Three values, equally likely: 4/9 + 1/9 + 1/9 by the formula; the example has 4/9 alone."""
    groups, domain = published
    assert reconstruction_error(groups).tolist() == [2, 2, 2]
    assert true_point_error(groups).tolist() == [12 / 9] * 3
    figures = AnatomyFigures.of(groups, domain)
    assert figures.reconstruction_error == pytest.approx(2 / 3)
    assert round(figures.true_point_error, 2) == 0.44


def test_formula_9_on_table_5() -> None:
    """One disease of each bucket, so any two are at distance 3: (3 + 3 + 3) / 3."""
    assert diversity_degree(*TABLE_V).tolist() == [3, 3, 3]
    assert average_diversity(*TABLE_V) == 3


def test_formula_9_on_table_3() -> None:
    """Two groups have a similar pair, (1 + 3 + 3) / 3; the third is all gastropathy, 3 / 3."""
    assert diversity_degree(*TABLE_III).tolist() == [7 / 3, 7 / 3, 1]
    assert average_diversity(*TABLE_III) == pytest.approx((7 + 7 + 3) / 9)


def test_table_3_tells_that_tom_has_stomach_trouble() -> None:
    """Level 1: the system; level 2: the bucket; level 3: the disease itself."""
    assert TREE.labels[TREE.ancestors(TREE.node("Gastritis"))[0]] == "stomach"
    assert TREE.depth[TREE.node("stomach")] == 2
    assert similarity_risk(*TABLE_III).tolist() == [
        [2 / 3, 2 / 3, 1 / 3],
        [2 / 3, 2 / 3, 1 / 3],
        [1, 1, 1 / 3],
    ]
    figures = AnatomyFigures.of(*TABLE_III).to_dict()
    assert [entry["worst"] for entry in figures["similarity_risk"]] == [1, 1, 1 / 3]
    assert figures["similarity_risk"][1]["mean"] == pytest.approx(7 / 9)


def test_table_5_does_not() -> None:
    assert (similarity_risk(*TABLE_V) == 1 / 3).all()
