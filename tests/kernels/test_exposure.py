"""Pooled histograms against plain loops."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wideberth.kernels.exposure import curve, pool


@given(
    histograms=st.lists(
        st.dictionaries(st.integers(0, 50), st.integers(1, 9), min_size=1), min_size=1, max_size=8
    ),
    data=st.data(),
)
def test_pool(histograms: list[dict[int, int]], data: st.DataObject) -> None:
    which = st.sets(st.integers(0, len(histograms) - 1), min_size=1)
    situations = [sorted(s) for s in data.draw(st.lists(which, max_size=6))]
    start = np.cumsum([0, *map(len, situations)])
    boxes = np.array([box for s in situations for box in s], dtype=np.int64)
    entries = np.cumsum([0, *map(len, histograms)])
    codes = np.array([code for h in histograms for code in sorted(h)], dtype=np.int64)
    counts = np.array([h[code] for h in histograms for code in sorted(h)], dtype=np.int64)
    filled, made = np.zeros_like(start), np.zeros((2, 51 * 6), dtype=np.int64)
    memory = (np.zeros(51, np.int64), np.zeros(51, np.int64))
    given_ = (start, boxes, entries, codes, counts, 0, *memory, made[0], made[1], filled[1:])
    assert pool(*given_) == len(situations)
    for number, situation in enumerate(situations):
        sums: dict[int, int] = {}
        for box in situation:
            for code, count in histograms[box].items():
                sums[code] = sums.get(code, 0) + count
        own = made[:, filled[number] : filled[number + 1]]
        assert own.T.tolist() == [list(pair) for pair in sorted(sums.items())]


def test_a_curve_interleaves_bits() -> None:
    points = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 3]], dtype=np.int32)
    keys = np.zeros(5, dtype=np.int64)
    curve(points, points, np.ones(2, dtype=np.int64), 2, keys)
    assert keys.tolist() == [0, 1, 2, 3, 13]
