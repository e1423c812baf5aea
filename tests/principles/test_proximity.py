"""Principles about numbers where a verdict turns: an ε that is a difference of two rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.samples import NUMERIC, Sample, as_written, bound, principles, sample, samples
from wideberth.core.groups import Groups

TINY = Fraction(1, 10**12)
tables = samples(wb.EpsilonMAnonymity, rows=7, groups=2)


def verdicts(principle: wb.Principle, table: Sample) -> list[bool]:
    return bound(principle, table).satisfies(table.groups(table.parts)).tolist()


def gaps(values: list[Any], context: naive.Context) -> list[Fraction]:
    pairs = combinations(context.numbers(values), 2)
    return sorted({abs(x - y) for x, y in pairs} | {Fraction(0)})


@settings(max_examples=100)
@given(tables, st.integers(1, 4), st.data())
def test_neighbourhoods_are_closed(table: Sample, m: int, data: st.DataObject) -> None:
    """Defs. 7 and 8, with ε exactly a difference and just short of it."""
    gap = data.draw(st.sampled_from(gaps(table.values, table.context)))
    for epsilon in (data.draw(as_written(gap)), max(gap - TINY, Fraction(0)), gap + TINY):
        expected = [
            naive.epsilon_m(table.of(part), table.context, epsilon, m, False, None, None)
            for part in table.parts
        ]
        assert verdicts(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), table) == expected


@settings(max_examples=80)
@given(st.data())
def test_maxsize_is_the_largest_clique(data: st.DataObject) -> None:
    """Def. 11 and Theorem 1, over absolute, relative and general neighbourhoods."""
    table = data.draw(samples(wb.EpsilonMAnonymity, rows=7, groups=1))
    principle = data.draw(principles(wb.EpsilonMAnonymity, table))
    reach = (principle.epsilon, principle.relative, principle.e1, principle.e2)
    rule = bound(principle, table)
    own = naive.guarded(table.values, principle.allowed)
    most = naive.maxsize(own, table.context, *reach)
    groups = table.groups(table.parts)
    assert rule.maxsize(groups).tolist() == [most]
    assert rule.feasible(groups)[0] == (most * principle.m <= len(table.values))


@settings(max_examples=80)
@given(st.lists(st.integers(-30, 30), min_size=1, max_size=7), st.integers(1, 4))
def test_relative_neighbourhoods_of_zero_and_negative_numbers(values: list[int], m: int) -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)):
        table = sample("integers", values)
        expected = naive.epsilon_m(values, table.context, epsilon, m, True, None, None)
        principle = wb.EpsilonMAnonymity(epsilon=epsilon, m=m, relative=True)
        assert verdicts(principle, table) == [expected]
        most = naive.maxsize(values, table.context, epsilon, True, None, None)
        assert bound(principle, table).maxsize(table.groups(table.parts)).tolist() == [most]


@given(st.lists(st.integers(0, 60), min_size=1, max_size=40), st.integers(1, 5), st.integers(0, 9))
def test_dealing_never_puts_two_similar_rows_together(
    values: list[int], m: int, epsilon: int
) -> None:
    """Theorem 1's construction with g = floor(N/m) hands."""
    table = sample("integers", values)
    rule = bound(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), table)
    if rule.feasible(table.groups(table.parts))[0]:
        labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(0))
        for hand in range(labels.max() + 1):
            dealt = sorted(v for v, at in zip(values, labels, strict=True) if at == hand)
            assert len(dealt) >= m
            assert all(b - a > epsilon for a, b in pairwise(dealt))


@settings(max_examples=100)
@given(tables, st.data())
def test_stab_holds_any_interval_not_only_those_that_begin_with_a_row(
    table: Sample, data: st.DataObject
) -> None:
    """The fullest of all closed intervals of length 2δ, their ends at or between the rows."""
    delta = data.draw(st.sampled_from(gaps(table.values, table.context))) / 2
    groups = table.groups(table.parts)
    achieved = bound(wb.DeltaLDiversity(delta=delta, l=1), table).achieved(groups)["l"]
    for part, figure in zip(table.parts, achieved, strict=True):
        numbers = table.context.numbers(table.of(part))
        starts = [x - shift for x in numbers for shift in (0, delta, 2 * delta, TINY, -TINY)]
        fullest = max(
            [sum(s <= x <= s + 2 * delta for x in numbers) for s in starts],
            default=0,
        )
        share = Fraction(max(fullest, table.of(part).count(None)), len(part))
        assert figure == pytest.approx(float(1 / share))
        for wanted, verdict in ((1 / share, True), (1 / share + TINY, False)):
            rule = bound(wb.DeltaLDiversity(delta=delta, l=wanted), table)
            assert rule.satisfies(table.groups([part])).tolist() == [verdict]


@given(tables)
def test_range_and_variance_at_their_very_values(table: Sample) -> None:
    """(k,e): at least e. Variance control: at least t, divided by N."""
    for part in table.parts:
        numbers = table.context.numbers(table.of(part))
        span = max(numbers) - min(numbers) if numbers else Fraction(0)
        spread = naive.variance_of(numbers) if numbers else Fraction(0)
        distinct = len(set(table.of(part)))
        group = table.groups([part])
        for principle, expected in (
            (wb.KEAnonymity(k=distinct, e=span), True),
            (wb.KEAnonymity(k=1, e=span + TINY), False),
            (wb.KEAnonymity(k=distinct + 1, e=0), False),
            (wb.VarianceControl(t=spread), True),
            (wb.VarianceControl(t=spread + TINY), False),
        ):
            rule = bound(principle, table)
            assert rule.satisfies(group).tolist() == [expected], principle


@pytest.mark.parametrize("kind", NUMERIC)
def test_groups_of_missing_values_only(kind: str) -> None:
    """They are equal to each other, lie nowhere, and spread over nothing."""
    table = sample(kind, [None, None, None])
    for principle, expected in (
        (wb.EpsilonMAnonymity(epsilon=5, m=1), True),
        (wb.EpsilonMAnonymity(epsilon=0, m=2), False),
        (wb.DeltaLDiversity(delta=0, l=1), True),
        (wb.DeltaLDiversity(delta=0, l=1 + TINY), False),
        (wb.KEAnonymity(k=1, e=0), True),
        (wb.KEAnonymity(k=1, e=TINY), False),
        (wb.VarianceControl(t=0), True),
        (wb.VarianceControl(t=1), False),
    ):
        assert verdicts(principle, table) == [expected], principle


@pytest.mark.parametrize("kind", ["dates", "datetimes"])
def test_a_share_of_a_date_is_refused(kind: str) -> None:
    """It would depend on where the calendar begins."""
    with pytest.raises(wb.ParameterError, match="date"):
        bound(wb.EpsilonMAnonymity(epsilon="10%", m=2), sample(kind, [None, None]))


@pytest.mark.parametrize("small", [1e-20, 1e-200, 5e-324])
def test_numbers_of_very_different_size(small: float) -> None:
    table = sample("floats", [small, 1.0, 3.0])
    groups = table.groups(table.parts)
    exact = naive.variance_of([Fraction(small), Fraction(1), Fraction(3)])
    for principle, key, figure in (
        (wb.VarianceControl(t=1), "t", exact),
        (wb.KEAnonymity(k=1, e=1), "e", 3 - Fraction(small)),
    ):
        rule = bound(principle, table)
        assert rule.satisfies(groups).tolist() == [True]
        assert rule.achieved(groups)[key][0] == pytest.approx(float(figure))


def test_large_integers_do_not_wrap_around() -> None:
    far = [-(2**62), 0, 2**62, 2**63 - 1]
    table = sample("large", far)
    context = table.context
    for epsilon in (2**62 - 1, 2**62, 2**63, 10**30):
        for m in (1, 2, 3):
            expected = naive.epsilon_m(far, context, epsilon, m, False, None, None)
            assert verdicts(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), table) == [expected]
    spread = naive.variance_of(context.numbers(far))
    assert verdicts(wb.VarianceControl(t=spread), table) == [True]
    assert verdicts(wb.VarianceControl(t=spread + 1), table) == [False]
    assert verdicts(wb.KEAnonymity(k=4, e=2**63 - 1 + 2**62), table) == [True]
    assert verdicts(wb.KEAnonymity(k=4, e=2**63 + 2**62), table) == [False]


def test_a_few_large_groups() -> None:
    """Thousands of rows, so that sums pass through the wide types; counts by a plain loop."""
    random = np.random.default_rng(11)
    values = random.integers(0, 400, 3000)
    table = sample("integers", values.tolist())
    parts = np.array_split(np.arange(3000), 3)
    groups = Groups.of([table.column.codes[p] for p in parts], table.column.domain.size)
    rule = bound(wb.EpsilonMAnonymity(epsilon=7, m=3), table)
    crowds = [max(int((abs(values[p] - x) <= 7).sum()) for x in values[p]) for p in parts]
    assert rule.crowd(groups).tolist() == crowds
