"""Taking groups apart: `deal`, and to how many hands."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wideberth.kernels import kinds
from wideberth.principles.partition.deal import deal, dealt_group_count, labels_of, shuffled_within

codes = st.lists(st.integers(0, 6), min_size=1, max_size=14)


@given(codes, st.integers(1, 6), st.integers(0, 5))
def test_deal_gives_each_hand_every_so_manyth_rank(rows: list[int], hands: int, seed: int) -> None:
    labels = deal(np.array(rows), hands, np.random.default_rng(seed))
    dealt = [sorted(c for c, at in zip(rows, labels, strict=True) if at == h) for h in range(hands)]
    assert dealt == [sorted(rows)[h::hands] for h in range(hands)]


@given(codes, st.integers(1, 6))
def test_no_hand_gets_two_equal_rows_if_there_are_enough_hands(rows: list[int], more: int) -> None:
    most = max(Counter(rows).values())
    labels = deal(np.array(rows), most + more - 1, np.random.default_rng(0))
    assert max(Counter(zip(rows, labels.tolist(), strict=True)).values()) == 1


def test_who_of_equal_rows_goes_where_is_chance() -> None:
    """The order of the rows must not tell, so seeds must matter, and nothing else may."""
    same = np.zeros(8, dtype=np.int64)
    dealt = {tuple(deal(same, 4, np.random.default_rng(seed)).tolist()) for seed in range(40)}
    assert len(dealt) > 30
    again = [deal(same, 4, np.random.default_rng(5)).tolist() for _ in range(2)]
    assert again[0] == again[1]


def test_no_hands_at_all_still_deals_one_group() -> None:
    assert deal(np.array([2, 1]), 0, np.random.default_rng(0)).tolist() == [0, 0]


def test_many_rows_of_few_codes_are_shuffled_code_by_code() -> None:
    codes = np.random.default_rng(1).integers(0, 3, 3000)
    orders = [shuffled_within(codes, np.random.default_rng(seed)) for seed in range(2)]
    for order in orders:
        assert sorted(order.tolist()) == list(range(3000))
        assert (np.diff(codes[order]) >= 0).all()
        # In about half of the steps within a code the row number falls.
        assert 0.45 < (np.diff(order) < 0).mean() < 0.55
    assert (orders[0] != orders[1]).mean() > 0.9


# ---- hands in which similar rows meet


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[int], int, int, int, int]:
    """Values in order, both reaches of a neighbourhood, m, and a group size above it."""
    rows = sorted(draw(st.lists(st.integers(0, 12), min_size=4, max_size=40)))
    below, above = draw(st.integers(0, 4)), draw(st.integers(0, 4))
    m = draw(st.integers(1, 4))
    return rows, below, above, m, draw(st.integers(m, m + 4))


def satisfied(hand: list[int], below: int, above: int, m: int) -> bool:
    """The definition, row by row."""
    return all(sum(x - below <= y <= x + above for y in hand) * m <= len(hand) for x in hand)


def largest_crowd(rows: list[int], reach: int) -> int:
    return max(sum(x <= y <= x + reach for y in rows) for x in rows)


@given(crowds())
def test_the_bound_on_hands_dealt_in_turn_is_safe(crowd: tuple[list[int], int, int, int, int]):
    """At most 1 + floor((a - 1) / g) + floor((b - 1) / g) rows of its hand are near a row."""
    rows, below, above, m, unit = crowd
    n = len(rows)
    a = [sum(x <= y <= x + above for y in rows) for x in rows]
    b = [sum(x - below <= y <= x for y in rows) for x in rows]
    for g in range(1, n // unit + 1):
        most = max(1 + (ahead - 1) // g + (back - 1) // g for ahead, back in zip(a, b, strict=True))
        if most * m <= n // g:
            assert all(satisfied(rows[h::g], below, above, m) for h in range(g))


@given(crowds())
def test_hands_of_columns(crowd: tuple[list[int], int, int, int, int]):
    rows, below, above, m, unit = crowd
    hands, far = kinds.column_layout(len(rows), unit, m)
    if not hands or largest_crowd(rows, max(below, above)) > far:
        return
    labels = labels_of(len(rows), -hands, m)
    dealt = [[x for x, at in zip(rows, labels, strict=True) if at == h] for h in range(hands)]
    assert sorted(chain.from_iterable(dealt)) == rows
    for hand in dealt:
        assert len(hand) >= unit
        assert satisfied(hand, below, above, m)


@given(crowds())
def test_no_number_of_hands_is_ruled_out_that_would_do(crowd: tuple[list[int], int, int, int, int]):
    rows, below, above, m, _ = crowd
    near = max(sum(x - below <= y <= x + above for y in rows) for x in rows) - 1
    for g in range(1, kinds.least_group_count(near, len(rows), 1, m)):
        assert not all(satisfied(rows[h::g], below, above, m) for h in range(g))


@given(st.integers(1, 3000), st.integers(1, 20))
def test_every_size_up_to_four_units_and_every_doubling_is_tried(rows: int, unit: int) -> None:
    hands, tried = rows // unit, []
    while hands:
        tried.append(hands)
        hands = kinds.next_group_count(hands, rows, unit)
    sizes = [*range(unit, 4 * unit + 1), *(unit << times for times in range(12))]
    assert {rows // size for size in sizes} - {0} <= set(tried)
    assert tried == sorted(set(tried), reverse=True)
    assert len(tried) <= 3 * unit + 1 + 16 * 12


@given(crowds())
def test_as_many_hands_as_will_do(crowd: tuple[list[int], int, int, int, int]) -> None:
    """What is found satisfies, no larger number of hands that is tried does, 0 is none."""
    rows, below, above, m, unit = crowd
    n, reach = len(rows), max(below, above)
    near = max(sum(x - below <= y <= x + above for y in rows) for x in rows) - 1

    def fits(g: int) -> bool:
        return all(satisfied(rows[h::g], below, above, m) for h in range(g))

    most = largest_crowd(rows, reach)
    found = dealt_group_count(n, unit, (1, m, 1, 0), crowd=most, near=near, fits=fits)
    g, by_rank = n // unit, 0
    while g and not by_rank:
        by_rank, g = g * fits(g), kinds.next_group_count(g, n, unit)
    columns = kinds.column_layout(n, unit, m)
    if found >= 0:
        assert found == by_rank
    else:
        assert by_rank < -found == columns[0]
        assert most <= columns[1]
