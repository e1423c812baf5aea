"""What is *not* monotone, by example, and how the proximity principles imply each other.

Each counterexample refutes a shortcut that a search for groups might be tempted to take.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests.samples import bound, sample
from wideberth.distances import classes

HALF = Fraction(1, 2)


def verdicts(principle: wb.Principle, *groups: list[Any], kind: str = "integers") -> list[bool]:
    """Judge groups of one table, which holds all of them and their union."""
    rows = [value for group in groups for value in group]
    table = sample(kind, rows)
    ends = np.cumsum([0, *map(len, groups)]).tolist()
    parts = [list(range(a, b)) for a, b in pairwise(ends)]
    return bound(principle, table).satisfies(table.groups(parts)).tolist()


def refute(principle: wb.Principle, a: list[Any], b: list[Any], kind: str = "integers") -> None:
    """Both satisfy, their union does not; it is feasible nevertheless, and `finish` shows how."""
    assert verdicts(principle, a, b, kind=kind) == [True, True]
    assert verdicts(principle, a + b, kind=kind) == [False]
    assert not principle.monotone
    table = sample(kind, a + b)
    rule = bound(principle, table)
    assert not rule.monotone
    assert rule.feasible(table.groups(table.parts)).tolist() == [True]
    labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(0))
    parts = [np.flatnonzero(labels == label).tolist() for label in set(labels.tolist())]
    assert len(parts) > 1
    assert rule.satisfies(table.groups(parts)).all()


def test_epsilon_m_is_not_monotone() -> None:
    """Li, Tao, Xiao 2008: 40, 50 and 60 of four lie within 15 of 50."""
    refute(wb.EpsilonMAnonymity(epsilon=15, m=2), [40, 60], [50, 80])


def test_literal_delta_l_is_not_monotone() -> None:
    """Against the claim of the paper: 0, 1 and 2 of four are similar to 1."""
    refute(wb.DeltaLDiversity(delta=HALF, l=2, variant="literal"), [0, 2], [1, 3])
    stab = wb.DeltaLDiversity(delta=HALF, l=2)
    assert stab.monotone
    assert verdicts(stab, [0, 2], [1, 3], [0, 1, 2, 3]) == [True, True, True]


def test_dissimilarity_is_not_monotone_even_for_equality() -> None:
    refute(wb.Dissimilarity(epsilon=0, delta=1), ["a", "b"], ["a", "b"], kind="text")


def test_m_uniqueness_is_not_monotone() -> None:
    refute(wb.MUniqueness(m=2), ["a", "b"], ["a", "b"], kind="text")


def test_l_e_is_not_monotone() -> None:
    """Equal values never share a group."""
    parents = {"*": None, "x": "*", "y": "*", "a": "x", "b": "y"}
    table = sample("balanced", ["a", "b", "a", "b"], parents)
    rule = bound(wb.LEDiversity(l=2, e=1), table)
    groups = table.groups([[0, 1], [2, 3], [0, 1, 2, 3]])
    assert rule.satisfies(groups).tolist() == [True, True, False]
    assert rule.feasible(groups).tolist() == [True, True, True]


@pytest.mark.parametrize("m", [2, 3])
def test_a_single_row_is_not_anonymous(m: int) -> None:
    """The paper's own check lets every group of one row pass."""
    assert verdicts(wb.EpsilonMAnonymity(epsilon=1, m=m), [40]) == [False]
    assert verdicts(wb.EpsilonMAnonymity(epsilon=1, m=1), [40]) == [True]
    for variant in ("stab", "literal"):
        assert verdicts(wb.DeltaLDiversity(delta=1, l=m, variant=variant), [40]) == [False]
    assert verdicts(wb.Dissimilarity(epsilon=1, delta=HALF, k=1), [40]) == [False]


@pytest.mark.parametrize(
    ("group", "delta", "most"),
    [
        ([490, 500, 510, 1000], 10, Fraction(4, 3)),
        ([40, 60], 15, Fraction(1)),
        ([40, 50, 60], 15, Fraction(1)),
        ([1, 3, 9], 3, Fraction(3, 2)),
    ],
)
def test_stab_on_the_examples_that_motivate_it(
    group: list[int], delta: int, most: Fraction
) -> None:
    """The largest l: no interval of length 2δ, ends included, holds more than 1/l of the group."""
    assert verdicts(wb.DeltaLDiversity(delta=delta, l=most), group) == [True]
    more = most + Fraction(1, 10**9)
    assert verdicts(wb.DeltaLDiversity(delta=delta, l=more), group) == [False]


numbers = st.lists(st.integers(-12, 12), min_size=1, max_size=9)
wholes = st.integers(1, 4)


@settings(max_examples=300)
@given(numbers, st.integers(0, 12).map(lambda n: Fraction(n, 2)), wholes)
def test_the_chain_of_implications(group: list[int], delta: Fraction, most: int) -> None:
    """stab(2δ) ⇒ literal(δ) ⇒ stab(δ) ⇒ (ε = δ, m = l)."""
    chain = [
        wb.DeltaLDiversity(delta=2 * delta, l=most),
        wb.DeltaLDiversity(delta=delta, l=most, variant="literal"),
        wb.DeltaLDiversity(delta=delta, l=most),
        wb.EpsilonMAnonymity(epsilon=delta, m=most),
    ]
    held = [verdicts(principle, group)[0] for principle in chain]
    assert held == sorted(held)


def test_no_link_of_the_chain_can_be_reversed() -> None:
    epsilon_m = wb.EpsilonMAnonymity(epsilon=15, m=2)
    assert verdicts(epsilon_m, [40, 60]) == [True]
    assert verdicts(wb.DeltaLDiversity(delta=15, l=2), [40, 60]) == [False]
    stab, literal = (
        wb.DeltaLDiversity(delta=HALF, l=2, variant=variant) for variant in ("stab", "literal")
    )
    assert verdicts(stab, [0, 1, 2, 3]) == [True]
    assert verdicts(literal, [0, 1, 2, 3]) == [False]
    assert verdicts(literal, [0, 2]) == [True]
    assert verdicts(wb.DeltaLDiversity(delta=1, l=2), [0, 2]) == [False]


@settings(max_examples=300)
@given(numbers, st.integers(0, 6), wholes)
def test_literal_is_epsilon_m_with_twice_the_reach(group: list[int], delta: int, l: int) -> None:  # noqa: E741
    literal = wb.DeltaLDiversity(delta=delta, l=l, variant="literal")
    assert verdicts(literal, group) == verdicts(wb.EpsilonMAnonymity(epsilon=2 * delta, m=l), group)


@settings(max_examples=300)
@given(numbers, st.integers(0, 6), wholes)
def test_epsilon_m_implies_dissimilarity(group: list[int], epsilon: int, m: int) -> None:
    """(ε,m) ⇒ (ε, 1 - 1/m)^m."""
    if verdicts(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), group)[0]:
        share = 1 - Fraction(1, m)
        assert verdicts(wb.Dissimilarity(epsilon=epsilon, delta=share, k=m), group) == [True]


def test_dissimilarity_does_not_imply_epsilon_m() -> None:
    group = [1, 1, 1, 5, 7, 11, 12]
    assert verdicts(wb.Dissimilarity(epsilon=1, delta=Fraction(2, 3), k=3), group) == [True]
    assert verdicts(wb.EpsilonMAnonymity(epsilon=1, m=3), group) == [False]


@settings(max_examples=300)
@given(numbers, st.integers(0, 6), st.integers(1, 3), st.integers(2, 6))
def test_dissimilarity_strong_enough_for_a_breach_of_one_in_m(
    group: list[int], epsilon: int, m: int, more: int
) -> None:
    """k >= m and δ >= (1 - 1/m) / (1 - 1/k) give (ε,m)."""
    k = max(m, more)
    delta = (1 - Fraction(1, m)) / (1 - Fraction(1, k))
    if verdicts(wb.Dissimilarity(epsilon=epsilon, delta=delta, k=k), group)[0]:
        assert verdicts(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), group) == [True]


def mixture(groups: list[list[int]], weights: list[int], low: Fraction, high: Fraction) -> Fraction:
    """How likely a value in [low, high] is to someone who does not know which group it is."""
    shares = [Fraction(sum(low <= x <= high for x in g), len(g)) for g in groups]
    return sum((w * s for w, s in zip(weights, shares, strict=True)), Fraction(0)) / sum(weights)


def test_candidate_groups_can_be_worse_than_each_of_them() -> None:
    """Whose box covers {40,60} and {50,80} alike: the holder of 50 is in [35,65] with 3/4."""
    groups = [[40, 60], [50, 80]]
    assert verdicts(wb.EpsilonMAnonymity(epsilon=15, m=2), *groups) == [True, True]
    assert mixture(groups, [1, 1], Fraction(35), Fraction(65)) == Fraction(3, 4)


spread = st.lists(st.integers(0, 30), min_size=2, max_size=16)


@settings(max_examples=200)
@given(spread, st.integers(0, 6), st.integers(2, 3), st.data())
def test_mixtures_of_groups(values: list[int], reach: int, m: int, data: st.DataObject) -> None:
    """At most 2/m under (ε,m), and 1/l under stab(δ), for any weights and any candidate groups."""
    table = sample("integers", values)
    codes = table.column.codes.astype(np.int64)
    rule = bound(wb.EpsilonMAnonymity(epsilon=reach, m=m), table)
    if not rule.feasible(table.groups(table.parts))[0]:
        return
    labels = rule.finish(codes, np.random.default_rng(data.draw(st.integers(0, 3))))
    groups = [
        [v for v, at in zip(values, labels, strict=True) if at == hand]
        for hand in range(labels.max() + 1)
    ]
    weights = [data.draw(st.integers(1, 3)) for _ in groups]
    for x in values:
        worst = mixture(groups, weights, Fraction(x - reach), Fraction(x + reach))
        assert worst <= Fraction(2, m)
    stab = wb.DeltaLDiversity(delta=reach, l=m)
    if all(verdicts(stab, *groups)):
        for x in range(-1, 32):
            worst = mixture(groups, weights, Fraction(x - reach), Fraction(x + reach))
            assert worst <= Fraction(1, m)


def test_similarity_on_an_unbalanced_tree_has_no_buckets() -> None:
    """R → {b, X → X1 → a, Y → Y1 → c}: d(a,b) = d(b,c) = 2, d(a,c) = 3."""
    parents = {"R": None, "b": "R", "X": "R", "X1": "X", "a": "X1", "Y": "R", "Y1": "Y", "c": "Y1"}
    table = sample("unbalanced", ["a", "b", "c", "a", "c", "b"], parents)
    tree = table.column.domain.tree
    assert [tree.distance(*pair) for pair in ("ab", "bc", "ac")] == [2, 2, 3]
    rule = bound(wb.LEDiversity(l=2, e=2), table)
    assert classes(rule.near, table.column.domain.size) is None
    groups = table.groups([[0, 2], [0, 1], [1, 2], [0, 2, 3, 4], [0, 1, 2, 5]])
    assert rule.satisfies(groups).tolist() == [True, False, False, False, False]
    # Of {a,a,c,c} each a goes with a c; a b can go with nothing, which buckets would not see.
    assert rule.feasible(groups).tolist() == [True, False, False, True, False]
    wider = bound(wb.LEDiversity(l=2, e=Fraction(3, 2)), table)
    assert classes(wider.near, table.column.domain.size) is not None
    assert wider.feasible(table.groups([[0, 1, 2, 5]])).tolist() == [True]
