"""What the text of a figure says of a curve: trends, peaks, and what may be noise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth_papers import trends

Y = st.lists(st.floats(0.01, 10), min_size=3, max_size=8)


def form(y: float) -> str:
    return f"{y:.1f}"


@given(Y)
def test_sorted_points_are_a_trend_if_they_move(ys: list[float]) -> None:
    up, down = (list(enumerate(sorted(ys, reverse=back))) for back in (False, True))
    moves = max(ys) * 0.95 > min(ys)
    assert trends.share_in_order(up, slack=0) == 1.0
    if max(ys) * 0.94 > min(ys):
        assert trends.trend(up, "It").state == "holds"
        assert trends.trend(down, "It", falling=True).state == "holds"
        assert trends.trend(down, "It").state == "fails"
        assert trends.trend(up, "It", falling=True).state == "fails"
    if not moves:
        for falling in (False, True):
            assert trends.trend(up, "It", falling=falling).state == "fails"
            assert trends.trend(up, "It", falling=falling, enough=False).state == "open"


@given(Y)
def test_a_fall_of_half_fails(ys: list[float]) -> None:
    points = [*enumerate(ys), (len(ys), max(ys) * 2), (len(ys) + 1, min(ys) / 2)]
    found = trends.trend(points, "It")
    assert found.state == "fails"
    assert found.against is not None
    assert trends.trend(points, "It", enough=False).state == "open"


def test_a_step_back() -> None:
    points = [(1, 1.0), (2, 2.0), (3, 1.5), (4, 4.0), (5, 8.0)]
    found = trends.trend(points, "The error", form, sign="ε")
    assert found.state == "differs"
    assert "in between from 2.0 at ε = 2 to 1.5 at 3" in found.said


def test_what_a_trend_says() -> None:
    """The text names small reversals, calls no flat line a trend, and repeats nothing."""
    steps = [(1, 1.0), (2, 2.0), (3, 1.96), (4, 4.0)]
    assert "nowhere back by more than 5\u00a0%" in trends.trend(steps, "It", form).said
    flat = [(1, 5.0), (2, 5.0), (3, 4.8)]
    assert "no change" in trends.trend(flat, "It", form).said
    back = trends.trend([(1, 5.0), (2, 3.0), (3, 1.0)], "It", form)
    assert (back.said, back.against) == (
        "It goes from 5.0 at 1 to 1.0 at 3.",
        "it goes from 5.0 at 1 to 1.0 at 3",
    )
    assert trends.trend([(1, 0.0), (2, 0.0), (3, 0.0)], "It", form).state == "open"


@pytest.mark.parametrize(
    ("ys", "state"),
    [
        ([1, 2, 3, 2, 1, 1], "holds"),
        ([1, 3, 2.1, 5, 4, 1, 1], "holds"),  # a step back that may be chance
        ([1, 3, 1.5, 5, 4, 1, 1], "differs"),
        ([5, 4, 3, 2, 1], "fails"),
        ([1, 2, 3, 4, 5], "fails"),
        ([1, 2, 2, 1, 1, 1, 2, 3, 3], "fails"),
        ([5, 9, 5, 4, 3, 2], "open"),  # one point alone may be chance, and the rest is little
        ([5, 5.2, 5.4, 5.2, 5.1, 5], "open"),
        ([0.113, 0.122, 0.130, 0.135, 0.113, 0.112, 0.118, 0.096], "open"),  # on ATO, once
        ([9, 9, 8, 8, 7, 5, 4, 3], "open"),  # falls, and may have risen before
        ([3, 4, 5, 7, 8, 8, 9, 9], "open"),  # rises, and may begin to fall
        ([1, 2, 1], "open"),
    ],
)
def test_peaks(ys: list[float], state: str) -> None:
    found = trends.peak(list(enumerate(ys)), "It", form)
    assert found.state == state
    assert (found.against is not None) == (state == "fails")
    assert found.against is None or found.against[3:] not in found.said  # it tells more


@given(st.lists(st.floats(1, 1.49), min_size=5, max_size=9))
def test_what_may_be_noise_decides_nothing(ys: list[float]) -> None:
    points = list(enumerate(ys))
    assert trends.peak(points, "It", form).state == "open"
    assert trends.quicker(points, "It", form).state == "open"


@pytest.mark.parametrize(
    ("ys", "said"),
    [
        ([1, 1.1, 1.2, 1.1, 1], "it neither rises nor falls by more than may be chance"),
        ([9, 9, 8, 8, 7, 5, 4, 3], "it falls, but does not rise before, by more than may be"),
        ([3, 4, 5, 7, 8, 8, 9, 9], "it rises, but does not fall after, by more than may be"),
        ([5, 4, 3, 2, 1], "it falls at once"),
        ([1, 2, 3, 4, 5], "it rises to the end"),
    ],
)
def test_what_a_peak_says(ys: list[float], said: str) -> None:
    assert said in trends.peak(list(enumerate(ys)), "It", form).said


@pytest.mark.parametrize(
    ("ys", "state"),
    [
        ([4, 3, 2, 1], "holds"),
        ([4, 1, 3, 1, 1, 0.5], "differs"),
        ([1, 2, 3, 4], "fails"),
        ([1, 1.1, 0.9, 0.8], "open"),
        ([1, 1.4, 1.4, 1.45], "open"),
        ([2, 1], "open"),
    ],
)
def test_quicker(ys: list[float], state: str) -> None:
    found = trends.quicker(list(enumerate(ys)), "It", form)
    assert found.state == state
    assert (found.against is not None) == (state == "fails")


def test_the_main_part_decides_what_is_open() -> None:
    holds, is_open = trends.Finding("holds", "Yes."), trends.Finding("open", "Not measured.")
    aside = trends.Finding("aside", "By the way.")
    assert trends.together([holds, aside]).word == "confirmed"
    assert trends.together([holds, is_open]).word == "confirmed with differences"
    assert trends.together([is_open, holds]).word == "not tested here"
    assert trends.together([holds, trends.Finding("differs", "Or so.")]).word != "confirmed"
