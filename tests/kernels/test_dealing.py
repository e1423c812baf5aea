"""Taking groups apart: `deal`."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wideberth.principles.dealing import deal, shuffled_within

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
