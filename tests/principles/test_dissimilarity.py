"""Who is near whom under every distance, and the principles that ask it."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.samples import Sample, bound, sample, samples
from wideberth import distances
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, TableError

TINY = Fraction(1, 10**12)
tables = samples(wb.Dissimilarity, rows=8)


def distances_in(table: Sample, values: list[object], kind: str = "auto") -> list[Fraction]:
    """The distances that occur, each of which is a boundary for ε."""
    known = [v for v in values if v is not None]
    pairs = combinations(known, 2)
    found = {naive.distance(a, b, table.context, kind) for a, b in pairs}
    return sorted({*found, Fraction(0)})


@settings(max_examples=120)
@given(tables, st.data())
def test_near_means_at_distance_epsilon_or_less(table: Sample, data: st.DataObject) -> None:
    """ε exactly a distance, and just below one."""
    exact = data.draw(st.sampled_from(distances_in(table, table.values)))
    domain = table.column.domain
    around = [exact, max(exact - TINY, Fraction(0)), exact + TINY]
    top = distances.space(domain, "auto").top
    epsilon = data.draw(st.sampled_from([e for e in around if top is None or e <= top]))
    near = distances.similarity(domain, "auto", epsilon)
    value_of = dict(zip(table.column.codes.tolist(), table.values, strict=True))
    for code in range(domain.size):
        expected = [
            other
            for other in range(domain.size)
            if naive.similar(value_of[code], value_of[other], table.context, "auto", epsilon)
        ]
        assert near.near(code).tolist() == expected
    crowds = near.crowd(table.groups(table.parts)).tolist()
    counted = [
        sum(naive.similar(value_of[c], v, table.context, "auto", epsilon) for v in table.of(part))
        for part in table.parts
        for c in sorted({int(table.column.codes[row]) for row in part})
    ]
    assert crowds == counted


@settings(max_examples=80)
@given(tables, st.data())
def test_classes_exist_exactly_where_similarity_is_transitive(
    table: Sample, data: st.DataObject
) -> None:
    epsilon = data.draw(st.sampled_from(distances_in(table, table.values)))
    domain = table.column.domain
    near = distances.similarity(domain, "auto", epsilon)
    sets = [set(near.near(code).tolist()) for code in range(domain.size)]
    transitive = all(sets[a] == sets[b] for a in range(domain.size) for b in sets[a])
    labels = distances.classes(near, domain.size)
    assert (labels is not None) == transitive
    if labels is not None:
        for a, b in combinations(range(domain.size), 2):
            assert (labels[a] == labels[b]) == (b in sets[a])


@settings(max_examples=100)
@given(tables, st.data())
def test_risk_at_its_very_value(table: Sample, data: st.DataObject) -> None:
    """δ equal to the share of far rows that the group achieves, and just above."""
    epsilon = data.draw(st.sampled_from(distances_in(table, table.values)))
    for part in table.parts:
        group = table.of(part)
        far = [
            sum(not naive.similar(x, y, table.context, "auto", epsilon) for y in group)
            for x in group
        ]
        share = Fraction(min(far), max(len(group) - 1, 1))
        for delta, k, expected in (
            (share, len(group), True),
            (share + TINY, 1, False),
            (share, len(group) + 1, False),
        ):
            if delta <= 1:
                rule = bound(wb.Dissimilarity(epsilon=epsilon, delta=delta, k=k), table)
                assert rule.satisfies(table.groups([part])).tolist() == [expected]


def test_risk_of_distributions() -> None:
    """Variational distance, ε = 0.1: the second row is near three of the four others."""
    group = [
        (0.30, 0.30, 0.20, 0.20),
        (0.35, 0.25, 0.20, 0.20),
        (0.35, 0.30, 0.15, 0.20),
        (0.40, 0.25, 0.20, 0.15),
        (0.05, 0.05, 0.10, 0.80),
    ]
    table = sample("vectors", group)
    near = distances.similarity(table.column.domain, "auto", Fraction(1, 10))
    second = int(table.column.codes[1])
    assert near.near(second).tolist() == sorted(table.column.codes[:4].tolist())
    rule = bound(wb.Dissimilarity(epsilon=0.1, delta=0.25, k=5), table)
    assert rule.satisfies(table.groups(table.parts)).tolist() == [True]
    assert rule.achieved(table.groups(table.parts))["delta"].tolist() == [1 - 3 / 4]


@settings(max_examples=100)
@given(samples(wb.LEDiversity, rows=7), st.data())
def test_l_e_at_the_very_distance(table: Sample, data: st.DataObject) -> None:
    """Any two rows must be *farther* than e apart."""
    for part in table.parts:
        group = table.of(part)
        e = data.draw(st.sampled_from(distances_in(table, group, "tree")))
        for reach in (e, max(e - TINY, Fraction(0)), e + TINY):
            expected = naive.l_e(group, table.context, len(group), reach)
            rule = bound(wb.LEDiversity(l=len(group), e=reach), table)
            assert rule.satisfies(table.groups([part])).tolist() == [expected]
            longer = bound(wb.LEDiversity(l=len(group) + 1, e=reach), table)
            assert longer.satisfies(table.groups([part])).tolist() == [False]


@settings(max_examples=80)
@given(st.lists(st.integers(0, 9), min_size=11, max_size=18), st.integers(0, 2), st.integers(2, 4))
@example([0, 0, 0, 1, 1, 1, 2, 3, 3, 3, 3, 4, 4], 1, 2)
def test_beyond_exact_search_a_verdict_rests_on_the_group_alone(
    values: list[int], epsilon: int, k: int
) -> None:
    """Values that the table holds elsewhere change nothing, and a yes comes with a partition."""
    principle = wb.Dissimilarity(epsilon=epsilon, delta=1, k=k)
    verdicts = []
    for elsewhere in ([], [max(values) + 1, max(values) + 2], [min(values) - 1]):
        everything = [*values, *elsewhere]
        table = sample("integers", everything, parts=[list(range(len(values)))])
        rule = bound(principle, table)
        verdicts.append(bool(rule.feasible(table.groups(table.parts))[0]))
        if verdicts[-1]:
            codes = table.column.codes[: len(values)].astype(np.int64)
            labels = rule.finish(codes, np.random.default_rng(2))
            made = [[r for r, at in enumerate(labels) if at == hand] for hand in set(labels)]
            for part in made:
                group = table.of(part)
                assert naive.dissimilarity(group, table.context, epsilon, 1, k, "auto")
    assert len(set(verdicts)) == 1


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=40), st.integers(1, 4))
def test_buckets_of_a_balanced_tree_are_exact_at_any_size(values: list[str], wanted: int) -> None:
    """THEORY: feasible if and only if the largest bucket is at most floor(n/l)."""
    parents = {"*": None, "x": "*", "y": "*", "z": "*"}
    parents |= {"a": "x", "b": "y", "c": "x", "d": "z", "e": "y", "f": "x"}
    table = sample("balanced", values, parents)
    rule = bound(wb.LEDiversity(l=wanted, e=1), table)
    buckets = [parents[v] for v in values]
    fits = max(map(buckets.count, buckets)) <= len(values) // wanted
    assert rule.feasible(table.groups(table.parts)).tolist() == [fits]
    if fits:
        labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(3))
        for hand in set(labels.tolist()):
            dealt = [v for v, at in zip(values, labels, strict=True) if at == hand]
            assert naive.l_e(dealt, table.context, wanted, 1)


def test_buckets_where_trying_does_not_find_a_partition() -> None:
    """Five rows in each of four buckets, l = 3: the general search gives up on these."""
    parents = {"*": None} | dict.fromkeys("wxyz", "*")
    parents |= {leaf: bucket for bucket, leaves in BUCKETS.items() for leaf in leaves}
    table = sample("balanced", list("aaacddeeffggghijjjkl"), parents)
    rule = bound(wb.LEDiversity(l=3, e=1), table)
    assert rule.feasible(table.groups(table.parts)).tolist() == [True]


BUCKETS = {"w": "ghi", "x": "cjk", "y": "abd", "z": "efl"}


def test_a_metric_must_be_one() -> None:
    domain = sample("integers", [1, 2, 5]).column.domain
    for wrong in (lambda a, b: a - b, lambda a, b: 1, lambda a, b: -abs(a - b)):
        with pytest.raises(ParameterError, match="metric"):
            distances.similarity(domain, wrong, Fraction(1))


def test_vectors_must_be_distributions() -> None:
    domain = sample("vectors", [(0.5, 0.6), (0.5, 0.5)]).column.domain
    with pytest.raises(TableError, match="distributions"):
        distances.similarity(domain, "variational", Fraction(1))


def test_neighbours_in_many_groups() -> None:
    """A pair may meet in several groups, and a value may be held by several rows."""
    table = sample("text", list("abcdef"))
    near = distances.similarity(table.column.domain, lambda a, b: abs(ord(a) - ord(b)), Fraction(2))
    lists = [[0, 1, 1, 5], [2], [3, 4, 5, 5], [0, 2, 4]]
    assert near.crowd(Groups.of(lists, 6)).tolist() == [3, 3, 1, 1, 4, 4, 4, 2, 3, 2]
