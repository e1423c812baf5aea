"""Perturbation: the largest retention probability, and what can still be counted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from wideberth.errors import ParameterError, TableError
from wideberth.utility.perturbation import Span, belief, perturb, perturbed_answers, retention
from wideberth.utility.workload import Workload, answers

# ---- slow twins, straight from formula 3


def neighbourhood(x: int, epsilon: Fraction, relative: bool) -> tuple[Fraction, Fraction]:
    reach = epsilon * abs(x) if relative else epsilon
    return x - reach, x + reach


def shares(
    x: int, values: list[int], epsilon: Fraction, relative: bool, span: tuple[int, int]
) -> tuple[Fraction, Fraction]:
    """The share of the rows, and of the domain, in the neighbourhood of x."""
    low, high = neighbourhood(x, epsilon, relative)
    near = sum(low <= y <= high for y in values)
    covered = [y for y in range(span[0], span[1] + 1) if low <= y <= high]
    return Fraction(near, len(values)), Fraction(len(covered), span[1] - span[0] + 1)


def highest_belief(
    values: list[int], epsilon: Fraction, relative: bool, span: tuple[int, int], p: Fraction
) -> Fraction:
    """The largest P_brh of all tuples, with the formula as it is printed."""
    risks = []
    for x in values:
        near, covered = shares(x, values, epsilon, relative, span)
        above = near * (p + (1 - p) * covered)
        below = near * p + (1 - p) * covered
        risks.append(above / below)
    return max(risks)


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[int], Fraction, int, bool, tuple[int, int]]:
    values = draw(st.lists(st.integers(-30, 60), min_size=1, max_size=25))
    relative = draw(st.booleans())
    most = 10 if relative else 300
    epsilon = Fraction(draw(st.integers(0, most)), 10)
    m = draw(st.integers(1, 8))
    wider = draw(st.integers(0, 20)), draw(st.integers(0, 20))
    return values, epsilon, m, relative, (min(values) - wider[0], max(values) + wider[1])


@given(situations())
def test_no_larger_probability_will_do(
    drawn: tuple[list[int], Fraction, int, bool, tuple[int, int]],
) -> None:
    """It satisfies the formula, and the least bit more does not, unless nothing is left."""
    values, epsilon, m, relative, span = drawn
    keep = retention(values, epsilon=epsilon, m=m, relative=relative, domain=span)
    limit = Fraction(1, m)
    if keep is None:
        assert highest_belief(values, epsilon, relative, span, Fraction(0)) > limit
        return
    assert 0 <= keep <= 1
    assert highest_belief(values, epsilon, relative, span, keep) <= limit
    if keep < 1:
        more = keep + (1 - keep) / 10**12
        assert highest_belief(values, epsilon, relative, span, more) > limit


@given(situations())
def test_a_domain_of_the_values_that_occur(
    drawn: tuple[list[int], Fraction, int, bool, tuple[int, int]],
) -> None:
    values, epsilon, m, relative, _ = drawn
    keep = retention(values, epsilon=epsilon, m=m, relative=relative, domain="occurring")

    def highest(p: Fraction) -> Fraction:
        risks = []
        for x in values:
            low, high = neighbourhood(x, epsilon, relative)
            near = Fraction(sum(low <= y <= high for y in values), len(values))
            covered = Fraction(sum(low <= y <= high for y in set(values)), len(set(values)))
            risks.append(near * (p + (1 - p) * covered) / (near * p + (1 - p) * covered))
        return max(risks)

    if keep is None:
        assert highest(Fraction(0)) > Fraction(1, m)
        return
    assert highest(keep) <= Fraction(1, m)
    if keep < 1:
        assert highest(keep + (1 - keep) / 10**12) > Fraction(1, m)


@given(situations())
def test_belief_is_formula_3(
    drawn: tuple[list[int], Fraction, int, bool, tuple[int, int]],
) -> None:
    values, epsilon, _, relative, span = drawn
    near, covered = shares(values[0], values, epsilon, relative, span)
    for p in (Fraction(0), Fraction(1, 3), Fraction(1)):
        above, below = near * (p + (1 - p) * covered), near * p + (1 - p) * covered
        assert belief(near, covered, p) == above / below


@pytest.mark.parametrize(("m", "expected"), [(4, Fraction(1, 16)), (5, Fraction(0)), (6, None)])
def test_the_worked_example(m: int, expected: Fraction | None) -> None:
    """Uniform values, |I| = 0.2: 0.0625 for m = 4 ("below 7 %"), none kept for m = 5, then no way.

    Neighbourhoods at the ends of a line are shorter, so each is one of five values here.
    """
    values = np.arange(5).repeat(7)
    assert retention(values, epsilon=0.5, m=m) == expected
    assert retention(values, epsilon=0.05, m=m, relative=True) == expected


def test_the_least_of_all_rows() -> None:
    """Crowds at the ends of the domain, single rows between: the crowds decide."""
    values = [0] * 5 + [99] * 5 + list(range(30, 70))
    # 5 of 50 rows on 1 of 100 numbers: odds 0.01 (1 - 4 · 0.1) / (0.1 · 3) = 0.02.
    assert retention(values, epsilon=0, m=4) == Fraction(2, 102)


def test_equal_parts_of_a_relative_neighbourhood() -> None:
    """11,000 lies within 10 % of 10,000, and 12,100 of 11,000: exactly at the ends."""
    values = [10_000, 11_000, 12_100, 30_000]
    assert retention(values, epsilon=0.1, m=2, relative=True) is None
    # The neighbourhood of 11,000 ends short of 12,101 and begins below 10,000; 12,101's begins at
    # 10,890.9, so it holds 11,000: two of four either way.
    assert retention([10_000, 11_000, 12_101, 30_000], epsilon=0.1, m=2, relative=True) == 0


def test_what_does_not_protect_need_not_perturb() -> None:
    assert retention([1, 1, 1], epsilon=5, m=1) == 1
    assert retention([1, 1, 1], epsilon=5, m=2) is None
    assert retention(np.array([7], dtype=np.uint8), epsilon=0, m=1) == 1


def test_large_numbers_do_not_overflow() -> None:
    low, high = -(2**61), 2**61
    keep = retention([low, 0, high], epsilon=1, m=2, domain=(low, high))
    size = high - low + 1
    # At the ends 2 of the numbers, near a third: odds 2/size (1 - 2/3) / (1/3).
    assert keep == Fraction(2, size) / (1 + Fraction(2, size))


def test_beliefs_by_simulation() -> None:
    """Count who is right: of those seen in a neighbourhood, how many belong there.

    All values of the neighbourhood of one tuple are looked at, over many published tables.
    """
    rng = np.random.default_rng(8)
    values, span, epsilon, p = np.array([0, 1, 2, 9, 14, 18]), Span(0, 19), 2, Fraction(3, 10)
    many = np.tile(values, 200_000)
    published = perturb(many, p, domain=span, rng=rng)
    for x in (0, 2, 14):
        near, covered = shares(x, values.tolist(), Fraction(epsilon), False, span)
        seen = np.abs(published - x) <= epsilon
        right = np.abs(many[seen] - x) <= epsilon
        assert right.mean() == pytest.approx(float(belief(near, covered, p)), abs=0.005)


def test_keeping_and_making_up() -> None:
    rng = np.random.default_rng(1)
    values = np.full(100_000, 3)
    published = perturb(values, 0.4, domain=(1, 5), rng=rng)
    shares_of = np.bincount(published, minlength=6) / len(values)
    assert shares_of[1:].tolist() == pytest.approx([0.12, 0.12, 0.52, 0.12, 0.12], abs=0.01)
    assert perturb(values, 0, domain=(1, 5), rng=rng).max() == 5
    assert (perturb(values, 1, domain=(1, 5), rng=rng) == 3).all()


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.2, 0.5, 1.0]))
def test_estimates_query_by_query(seed: int, keep: float) -> None:
    """The same as counting row by row, as the formula says it."""
    rng = np.random.default_rng(seed)
    span = (10, 29)
    quasi = [rng.integers(0, size, 30).astype(np.int32) for size in (4, 6)]
    seen = perturb(rng.integers(10, 30, 30), keep, domain=span, rng=rng)
    ask = Workload.draw([4, 6, 20], dimensions=2, volume=0.3, queries=5, seed=seed % 100)
    found = perturbed_answers(ask, quasi, seen, keep=keep, domain=span)
    bounded = perturbed_answers(ask, quasi, seen, keep=keep, domain=span, possible=True)
    assert found is not None
    assert bounded is not None
    anything = replace(ask, asked=ask.asked & np.array([True, True, False]))
    counted = answers(anything, quasi, np.zeros(30, dtype=np.int32))
    again = perturbed_answers(ask, quasi, seen, keep=keep, domain=span, matching=counted)
    assert again is not None
    assert again.tolist() == found.tolist()
    for query in range(5):
        low, high = ask.first[query].tolist(), ask.last[query].tolist()
        rows = [
            i
            for i in range(30)
            if all(low[a] <= quasi[a][i] <= high[a] for a in range(2) if ask.asked[query, a])
        ]
        inside = [i for i in rows if low[2] + 10 <= seen[i] <= high[2] + 10]
        share = (high[2] - low[2] + 1) / 20
        expected = (len(inside) - (1 - keep) * len(rows) * share) / keep
        assert found[query] == pytest.approx(expected)
        assert bounded[query] == pytest.approx(min(max(expected, 0), len(rows)))


def test_estimates_are_unbiased() -> None:
    rng = np.random.default_rng(3)
    span, rows = (0, 49), 400
    quasi = [rng.integers(0, 5, rows).astype(np.int32)]
    values = np.minimum(rng.geometric(0.08, rows), 49)
    ask = Workload.draw([5, 50], dimensions=2, volume=0.2, queries=10, seed=1)
    truth = answers(ask, quasi, values.astype(np.int32))
    several = []
    for _ in range(600):
        seen = perturb(values, 0.4, domain=span, rng=rng)
        several.append(perturbed_answers(ask, quasi, seen, keep=0.4, domain=span))
    found = np.array(several)
    error = found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - truth) < 4.5 * error).all()


def test_no_answer_where_nothing_is_kept() -> None:
    ask = Workload.draw([3, 5], dimensions=2)
    codes = np.zeros(4, dtype=np.int32)
    assert perturbed_answers(ask, [codes], codes, keep=0, domain=(0, 4)) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"epsilon": -1}, "at least 0"),
        ({"epsilon": 1.5, "relative": True}, "from 0 to 1"),
        ({"m": 0}, "m must be at least 1"),
        ({"domain": (2, 9)}, "outside the domain"),
    ],
)
def test_parameters_that_make_no_sense(wrong: dict[str, object], said: str) -> None:
    asked: dict[str, object] = {"epsilon": 1, "m": 2, **wrong}
    with pytest.raises(ParameterError, match=said):
        retention([1, 5, 9], **asked)  # type: ignore[arg-type]


def test_values_that_cannot_be_perturbed() -> None:
    with pytest.raises(TableError, match="whole numbers"):
        retention([1.5, 2.0], epsilon=1, m=2)
    with pytest.raises(TableError, match="no sensitive values"):
        retention(np.array([], dtype=np.int64), epsilon=1, m=2)
    with pytest.raises(ParameterError, match="from 0 to 1"):
        perturb([1], 1.5, rng=np.random.default_rng())


@given(st.integers(-50, 50), st.fractions(0, 1))
def test_ends_of_neighbourhoods(x: int, epsilon: Fraction) -> None:
    """Whole numbers from the ceiling of the lower end to the floor of the upper."""
    assume(epsilon.denominator < 1000)
    low, high = neighbourhood(x, epsilon, True)
    span = (-120, 120)
    _, covered = shares(x, [x], epsilon, True, span)
    assert covered == Fraction(floor(high) - ceil(low) + 1, 241)
