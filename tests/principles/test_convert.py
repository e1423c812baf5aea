"""(ε,δ)^k-dissimilarity against other bounds: what implies what, by the definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import wideberth as wb
from tests import naive


def satisfies(principle: wb.Dissimilarity, group: list[object], distance: str = "absolute") -> bool:
    return naive.dissimilarity(
        group, naive.Context(group), principle.epsilon, principle.delta, principle.k, distance
    )


def fullest(group: list[object], epsilon: object, distance: str) -> Fraction:
    """The largest share of a group in any neighbourhood."""
    context = naive.Context(group)
    near = [sum(naive.similar(x, y, context, distance, epsilon) for y in group) for x in group]
    return Fraction(max(near), len(group))


def groups(seed: int, many: int = 300) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [
        rng.integers(0, rng.choice([4, 12, 40]), rng.integers(1, 16)).tolist() for _ in range(many)
    ]


@pytest.mark.parametrize("m", [1, 2, Fraction(5, 2), 3, 4])
@pytest.mark.parametrize("more", [0, 1, 3, 6])
def test_no_neighbourhood_exceeds_the_bound(m, more):
    asked = wb.implying_breach(m, epsilon=1, k=-(-m // 1) + more)
    held = [group for group in groups(more) if satisfies(asked, group)]
    assert held
    assert all(fullest(group, 1, "absolute") <= 1 / Fraction(m) for group in held)


def test_the_bound_is_reached():
    """With k a multiple of m, a group of k rows has k/m of them near one: no better bound holds."""
    for m, k in ((2, 4), (2, 6), (3, 6), (3, 9), (4, 8)):
        asked = wb.implying_breach(m, epsilon=0, k=k)
        group = [row // (k // m) for row in range(k)]
        assert satisfies(asked, group)
        assert fullest(group, 0, "absolute") == Fraction(1, m)


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_the_least_delta_for_whole_rows(m):
    """The docstring's remark: 1 - floor(N/m)/(N-1) itself is too little, anything above will do."""
    for k in range(m, 3 * m):
        sizes = range(k, 12 * m)
        least = max(1 - Fraction(n // m, n - 1) for n in sizes)
        n = next(n for n in sizes if 1 - Fraction(n // m, n - 1) == least)
        group = [0] * (n // m + 1) + list(range(1, n - n // m))
        weak = wb.Dissimilarity(epsilon=0, delta=least, k=k)
        assert satisfies(weak, group)
        assert fullest(group, 0, "absolute") > Fraction(1, m)
        assert wb.implying_breach(m, epsilon=0, k=k).delta > least
        above = least + Fraction(1, 10**6)
        for n in sizes:
            assert int((1 - above) * (n - 1)) + 1 <= n // m


def test_the_default_k_asks_no_more_of_a_table():
    """Hajnal and Szemerédi: where any partition keeps the bound, δ = 1 with k = m has one, too."""
    for m in (2, 3):
        default = wb.implying_breach(m, epsilon=1)
        assert (default.delta, default.k) == (1, m)
        for values in combinations_with_replacement(range(5), 6):
            bounded = naive.feasible(
                values, lambda g, m=m: fullest(g, 1, "absolute") <= Fraction(1, m)
            )
            apart = naive.feasible(values, lambda g, d=default: satisfies(d, g))
            assert bounded == apart


@pytest.mark.parametrize(
    ("alpha", "k"), [(0.5, 2), (0.5, 5), (Fraction(1, 3), 4), (0.4, 3), (1, 1)]
)
def test_alpha_k_and_l(alpha, k):
    asked = wb.implying_alpha_k(alpha, k)
    l_diverse = wb.implying_l(1 / Fraction(str(alpha)), k=k)
    assert (asked.delta, asked.k, asked.distance) == (l_diverse.delta, k, "discrete")
    for group in groups(7):
        context = naive.Context(group)
        if satisfies(asked, group, "discrete"):
            assert naive.alpha_k(group, context, alpha, k)
            assert naive.frequency_l(group, context, 1 / Fraction(str(alpha)))
            assert len(set(group)) >= 1 / Fraction(str(alpha))


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_what_a_bound_implies(m):
    implied = wb.implied_by_breach(m, epsilon=1)
    assert (implied.delta, implied.k) == (1 - Fraction(1, m), m)
    of_values = wb.implied_by_alpha_k(Fraction(1, m), 3)
    for group in groups(m):
        context = naive.Context(group)
        if naive.epsilon_m(group, context, 1, m, False, None, None):
            assert satisfies(implied, group)
        if naive.alpha_k(group, context, Fraction(1, m), 3):
            assert satisfies(of_values, group, "discrete")


def test_no_stronger_one_is_implied():
    """1 - 1/m is the limit of large groups: N/m near rows of N, out of N - 1 others."""
    for m in (2, 3):
        n = 40 * m
        group = [row // (n // m) for row in range(n)]
        assert fullest(group, 0, "absolute") == Fraction(1, m)
        delta = wb.implied_by_breach(m, epsilon=0).delta + Fraction(1, 40)
        assert not satisfies(wb.Dissimilarity(epsilon=0, delta=delta, k=m), group)


def test_but_not_conversely():
    group = [1, 1, 1, 5, 7, 11, 12]
    assert satisfies(wb.implied_by_breach(3, epsilon=1), group)
    assert fullest(group, 1, "absolute") > Fraction(1, 3)


def test_what_makes_no_sense():
    with pytest.raises(wb.ParameterError, match="k must be at least m=4") as error:
        wb.implying_breach(4, epsilon=1, k=3)
    assert error.value.hint == "k=4"
    for wrong in (
        lambda: wb.implying_breach(0.5, epsilon=1),
        lambda: wb.implied_by_breach(0, epsilon=1),
        lambda: wb.implying_alpha_k(0.1, 5),
        lambda: wb.implying_alpha_k(0, 5),
        lambda: wb.implying_l(5, k=4),
        lambda: wb.implying_l(0),
        lambda: wb.implying_breach(2, epsilon=-1),
        lambda: wb.implied_by_alpha_k(2, 5),
    ):
        with pytest.raises(wb.ParameterError):
            wrong()
