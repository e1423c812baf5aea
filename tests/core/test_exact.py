"""Exact arithmetic against fractions, one value at a time."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests import naive
from wideberth.core.exact import Numbers, at_least, at_most, fraction, whole

finite = st.floats(allow_nan=False, allow_infinity=False)
huge = st.integers(-(10**30), 10**30)
ratios = st.fractions(0, 10, max_denominator=20)


def column(values: list[Any]) -> tuple[Numbers, list[Fraction]]:
    """Return distinct ascending values as the package reads them, and as the twin does."""
    distinct = sorted(set(values))
    inside = all(isinstance(v, int) and abs(v) < 2**63 for v in distinct)
    plain = all(isinstance(v, float) for v in distinct)
    dtype = np.int64 if inside else np.float64 if plain else object
    context = naive.Context(tuple(distinct))
    return Numbers.of(np.array(distinct, dtype=dtype)), context.numbers(distinct)


columns = st.one_of(
    st.lists(st.integers(-20, 20), min_size=1, max_size=8),
    st.lists(st.sampled_from([-(2**62), 2**62, 2**63 - 1, 0, 1, -1]), min_size=1, max_size=5),
    st.lists(huge, min_size=1, max_size=6),
    st.lists(st.one_of(huge, st.integers(-5, 5)), min_size=1, max_size=6),
    st.lists(st.integers(-300, 300).map(lambda k: k / 10), min_size=1, max_size=8),
    st.lists(st.integers(-300, 300).map(lambda k: Decimal(k) / 100), min_size=1, max_size=8),
    st.lists(finite, min_size=1, max_size=6),
    st.lists(st.fractions(-5, 5, max_denominator=9), min_size=1, max_size=6),
).map(column)


@given(columns)
@example(column([0.1, 0.25]))
@example(column([0.1, 0.2, 0.1 + 0.2]))  # one long number leaves the others as they are
@example(column([5e-324, 1.7e308]))
@example(column([2.0**53, 1.0]))
@example(column([1e22, 1e23]))
@example(column([1e-15, 1.0]))
@example(column([1e-16, 1.0]))
@example(column([0.0, -0.0]))
def test_numbers_keep_their_values(pair: tuple[Numbers, list[Fraction]]) -> None:
    numbers, exact = pair
    assert [Fraction(int(u), numbers.per) for u in numbers.units] == exact
    assert numbers.floats().tolist() == [float(x) for x in exact]
    assert numbers.bound == max(abs(int(u)) for u in numbers.units)


@given(columns, st.data())
def test_within(pair: tuple[Numbers, list[Fraction]], data: st.DataObject) -> None:
    numbers, exact = pair
    gaps = [abs(x - y) for x in exact for y in exact]
    reach = st.one_of(
        ratios,
        st.sampled_from(gaps),
        st.sampled_from(gaps).map(lambda g: g * (1 - Fraction(1, 10**40))),
        st.just(Fraction(10**400)),
    )
    below, above = data.draw(reach), data.draw(reach)
    first, last = numbers.within(below, above)
    assert first.dtype == last.dtype == np.int64
    for x, a, b in zip(exact, first, last, strict=True):
        inside = [i for i, y in enumerate(exact) if x - below <= y <= x + above]
        assert inside == list(range(a, b + 1))


@given(columns, st.data())
def test_within_share(pair: tuple[Numbers, list[Fraction]], data: st.DataObject) -> None:
    numbers, exact = pair
    shares = [abs(x - y) / abs(x) for x in exact for y in exact if x and abs(x - y) <= abs(x)]
    share = data.draw(
        st.one_of(st.fractions(0, 1, max_denominator=20), st.sampled_from([0, *shares]))
    )
    first, last = numbers.within_share(Fraction(share))
    for x, a, b in zip(exact, first, last, strict=True):
        inside = [i for i, y in enumerate(exact) if abs(x - y) <= share * abs(x)]
        assert inside == list(range(a, b + 1))


def test_the_pair_that_logarithms_misjudge() -> None:
    """11000 + 10 % is 12100, closed; 12100 - 10 % is 10890, so each is near the other."""
    first, last = Numbers.of(np.array([11000, 12100])).within_share(fraction(0.1))
    assert (first.tolist(), last.tolist()) == ([0, 0], [1, 1])
    first, last = Numbers.of(np.array([11000, 12101])).within_share(fraction(0.1))
    assert (first.tolist(), last.tolist()) == ([0, 0], [0, 1])


def test_floats_mean_the_decimal_that_was_written() -> None:
    assert fraction(0.3) == Fraction(3, 10) != Fraction(0.3)
    assert fraction(1e-7) == Fraction(1, 10**7)
    assert fraction(Decimal("0.30")) == fraction("0.3") == Fraction(3, 10)
    first, last = Numbers.of(np.array([0.1, 0.2, 0.3])).within(fraction(0.1), fraction(0.1))
    assert (first.tolist(), last.tolist()) == ([0, 0, 1], [1, 2, 2])


numerators = st.one_of(st.integers(-12, 12), st.integers(-(10**25), 10**25))


@given(
    st.lists(st.tuples(numerators, numerators), min_size=1, max_size=5),
    st.one_of(ratios, st.fractions(-(10**30), 10**30), st.builds(Fraction, numerators)),
)
@example([(0, 0)], Fraction(10**30))
@example([(0, 0)], Fraction(1, 10**30))
@example([(3, 10), (4, 10)], Fraction(3, 10))
def test_comparisons(pairs: list[tuple[int, int]], ratio: Fraction) -> None:
    left, right = (np.array(side, dtype=object) for side in zip(*pairs, strict=True))
    left, right = (whole(s, max(abs(v) for v in s)) for s in (left, right))
    assert at_most(left, ratio, right).tolist() == [a <= ratio * b for a, b in pairs]
    assert at_least(left, ratio, right).tolist() == [a >= ratio * b for a, b in pairs]


@pytest.mark.parametrize("bound", [2**62 - 1, 2**62])
def test_whole_leaves_room_for_a_sum(bound: int) -> None:
    doubled = whole(np.array([bound, -bound], dtype=object), bound) * 2
    assert doubled.tolist() == [2 * bound, -2 * bound]
