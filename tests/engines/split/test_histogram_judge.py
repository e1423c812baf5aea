"""Dealing known by ranks alone, against hands that are really dealt."""

from fractions import Fraction
from math import floor

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wideberth.engines.split.histogram_judge import exceeds_window_limit


@st.composite
def dealings(draw):
    counts = np.array(draw(st.lists(st.integers(0, 6), min_size=1, max_size=8)))
    counts[draw(st.integers(0, len(counts) - 1))] += 1
    values, many = np.arange(len(counts)), len(counts)
    ahead, back = (draw(st.lists(st.integers(0, 3), min_size=many, max_size=many)) for _ in "ab")
    last = np.minimum(np.maximum.accumulate(values + ahead), many - 1)
    first = np.maximum(np.minimum.accumulate((values - back)[::-1])[::-1], 0)
    hands = draw(st.integers(1, int(counts.sum())))
    share = Fraction(draw(st.integers(1, 3)), draw(st.integers(3, 7)))
    return counts, first, last, hands, share, draw(st.booleans())


@given(dealings())
def test_no_hand_need_be_looked_at(dealing):
    counts, first, last, hands, share, alone = dealing
    rows = np.repeat(np.arange(len(counts)), counts)
    slow = False
    for hand in range(hands):
        held = rows[hand::hands]
        most = 1 if alone else floor(len(held) * share)
        slow |= any(((first[v] <= held) & (held <= last[v])).sum() > most for v in held)
    running = np.concatenate(([0], np.cumsum(counts)))
    small = len(rows) // hands
    allowed = (1, 1) if alone else (floor(small * share), floor((small + 1) * share))
    windows = running[first], running[last + 1]
    assert exceeds_window_limit(running, windows, hands, len(rows), allowed) == slow
