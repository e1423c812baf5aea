"""Hierarchies from values: intervals, masks, dates."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hierarchy.test_tree import as_csv, same, write
from wideberth.errors import HierarchyError
from wideberth.hierarchy import (
    dates,
    flat,
    intervals,
    masks,
    read_hierarchy,
)

# ---- intervals


def test_whole_intervals() -> None:
    h = intervals(["34", None, "7", "38", "34"], [5, 10, 20])
    assert h.to_rows() == [
        ["7", "5-9", "0-9", "0-19", "*"],
        ["34", "30-34", "30-39", "20-39", "*"],
        ["38", "35-39", "30-39", "20-39", "*"],
    ]


def test_negative_intervals() -> None:
    assert intervals([-1, -10, -11, 0, 9], 10).to_rows() == [
        ["-11", "-20 to -11", "*"],
        ["-10", "-10 to -1", "*"],
        ["-1", "-10 to -1", "*"],
        ["0", "0 to 9", "*"],
        ["9", "0 to 9", "*"],
    ]
    assert intervals(["-0.5"], 1).generalize("-0.5", 1) == "[-1, 0)"


def test_decimal_intervals() -> None:
    h = intervals(["30.0", "39.99", "40"], 10)
    assert [h.generalize(v, 1) for v in ("30.0", "39.99", "40")] == [
        "[30, 40)",
        "[30, 40)",
        "[40, 50)",
    ]
    # In binary, 0.3 // 0.1 is 2.
    assert intervals([0.3], 0.1).generalize("0.3", 1) == "[0.3, 0.4)"
    assert intervals(["0.1234567890123456789012345678901234"], "0.01").labels[1] == "[0.12, 0.13)"
    assert intervals([1], [0.5]).labels[1] == "[1, 1.5)"


def test_numbers_as_people_write_them() -> None:
    h = intervals(["1e3", "+7", "0007", "-0", "1000.0"], 10.0)
    assert h.generalize("1e3", 1) == h.generalize("1000.0", 1) == "[1000, 1010)"
    assert h.generalize("0007", 1) == h.generalize("+7", 1) == h.generalize("-0", 1) == "[0, 10)"
    assert intervals(["1e3", "7"], Decimal(10)).generalize("1e3", 1) == "1000-1009"


def test_origin() -> None:
    assert intervals([17, 18, 24], [5, 10], origin=18).to_rows() == [
        ["17", "13-17", "8-17", "*"],
        ["18", "18-22", "18-27", "*"],
        ["24", "23-27", "18-27", "*"],
    ]


def test_width_one_is_labelled_by_its_number() -> None:
    assert intervals([3, 4], [1, 2]).to_rows() == [["3", "3", "2-3", "*"], ["4", "4", "4-5", "*"]]


def test_no_values_leave_the_top() -> None:
    assert intervals([], 5).labels == ("*",)
    assert masks([None], 5).labels == ("*",)
    assert dates([None]).labels == ("*",)
    assert flat([None]).labels == ("*",)


@pytest.mark.parametrize(
    ("widths", "origin", "message"),
    [
        ([5, 12], 0, "interval width 12 is not a multiple of 5"),
        ([10, 5], 0, "interval width 5 is not a multiple of 10"),
        ([0.1, 0.25], 0, "interval width 0.25 is not a multiple of 0.1"),
        (0, 0, "interval width 0 is not above 0"),
        ([5, -10], 0, "interval width -10 is not above 0"),
        ([], 0, "there is no interval width"),
        ("wide", 0, "interval width 'wide' is not a number"),
        (True, 0, "interval width True is not a number"),
        (float("inf"), 0, "interval width inf is not a number"),
        (5, "nan", "interval origin 'nan' is not a number"),
    ],
)
def test_wrong_intervals(widths: object, origin: object, message: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        intervals([1], widths, origin)  # type: ignore[arg-type]
    assert caught.value.what == message


@pytest.mark.parametrize("value", ["x1", "", "NaN", "inf", "1/3", "1e999", "9" * 2000, "1e-999"])
def test_values_that_are_no_numbers(value: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        intervals(["1", None, value, value], 5)
    assert caught.value.what == "1 value is not numeric (first in row 3)"
    with pytest.raises(HierarchyError, match=r"2 values are not numeric \(first in row 11\)"):
        intervals(["1", value, "?"], 5, rows=[1, 12, 11])


decimals = st.decimals(-1000, 1000, places=2)


@given(st.lists(decimals, max_size=20), decimals, st.sampled_from([1, "0.5", "0.25", 7]))
def test_intervals_nest_and_hold_their_values(
    values: list[Decimal], origin: Decimal, width: int | str
) -> None:
    wide = Decimal(width) * 4
    h = intervals(values, [width, wide], origin)
    for value in values:
        for level, size in ((1, Decimal(width)), (2, wide)):
            low, high = (Decimal(x) for x in h.generalize(str(value), level)[1:-1].split(", "))
            assert low <= value < high
            assert high - low == size
            assert (low - origin) % size == 0
    assert h.balanced


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=30), st.integers(-20, 20))
def test_whole_intervals_hold_their_values(values: list[int], origin: int) -> None:
    h = intervals(values, [6, 12], origin)
    mark = " to " if any(" to " in label for label in h.labels) else "-"
    for value in values:
        low, high = map(int, h.generalize(str(value), 1).split(mark))
        assert low <= value <= high == low + 5
    assert h.leaves == tuple(str(value) for value in sorted(set(values)))


# ---- masks


def test_masks_of_zip_codes() -> None:
    h = masks(["13053", "13068", "14850"], 5)
    assert [h.generalize("13053", i) for i in range(6)] == [
        "13053",
        "1305*",
        "130**",
        "13***",
        "1****",
        "*****",
    ]
    assert h.levels == 6


def test_a_top_is_added_while_the_mask_shows_something() -> None:
    assert masks(["13053", "14850"], 3).to_rows()[0] == ["13053", "1305*", "130**", "13***", "*"]
    assert masks(["13053", "13068"], 3).to_rows()[0][-2:] == ["13***", "*"]
    assert masks(["13053"], 1).to_rows() == [["13053", "1305*", "*"]]


def test_masks_of_unequal_length() -> None:
    assert masks(["7", "123", ""], 2, char="x").to_rows() == [
        ["", "x", "x", "*"],
        ["7", "x", "x", "*"],
        ["123", "12x", "1xx", "*"],
    ]


def test_masks_of_values_that_look_masked() -> None:
    h = masks(["12", "1*", "**"], 2)
    assert h.generalize("1*", 1) == h.generalize("12", 1) == "1*"
    assert h.generalize("**", 2) == h.generalize("12", 2) == "**"


def test_rules_of_too_many_levels() -> None:
    with pytest.raises(HierarchyError, match="more than 1000 levels"):
        masks(["12"], 1001)
    with pytest.raises(HierarchyError, match="more than 1000 widths"):
        intervals([12], [1] * 1001)


@pytest.mark.parametrize("levels", [0, -1, 1.5, True, "5"])
def test_wrong_mask(levels: object) -> None:
    with pytest.raises(HierarchyError, match=r"^mask .* is not a whole number above 0$"):
        masks(["1"], levels)  # type: ignore[arg-type]


@pytest.mark.parametrize("char", ["", "**"])
def test_wrong_mask_character(char: str) -> None:
    with pytest.raises(HierarchyError, match="is not one character"):
        masks(["1"], 1, char=char)


@given(st.lists(st.text("01*", max_size=4), max_size=12), st.integers(1, 5))
def test_masks_nest(values: list[str], levels: int) -> None:
    h = masks(values, levels)
    for value in values:
        for level in range(1, levels + 1):
            shown = h.generalize(value, level)
            assert shown[: max(0, len(value) - level)] == value[: max(0, len(value) - level)]
            assert set(shown[max(0, len(value) - level) :]) == {"*"}
    assert set(h.labels[0]) == {"*"}
    if values:
        assert h.balanced
        assert set(h.leaves) == set(values)


# ---- dates


def test_dates() -> None:
    h = dates(["2024-03-05", None, "1999-12-31T23:59:00"])
    assert h.to_rows() == [
        ["1999-12-31T23:59:00", "1999-12", "1999", "*"],
        ["2024-03-05", "2024-03", "2024", "*"],
    ]


def test_every_date_level() -> None:
    h = dates(["2024-03-05 10:00:00+02:00"], ["day", "month", "quarter", "year", "decade"])
    assert h.to_rows()[0][1:] == ["2024-03-05", "2024-03", "2024-Q1", "2024", "2020s", "*"]
    assert dates(["2024-12-05"], "quarter").labels[1] == "2024-Q4"


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["week"], "date level 'week' does not exist"),
        (["year", "month"], "date levels year, month do not go from fine to coarse"),
        (["year", "year"], "date levels year, year do not go from fine to coarse"),
        ([], "date levels (none) do not go from fine to coarse"),
    ],
)
def test_wrong_date_levels(levels: list[str], message: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        dates(["2024-03-05"], levels)
    assert caught.value.what == message
    assert "day, month, quarter, year, decade" in (caught.value.hint or "")


def test_values_that_are_no_dates() -> None:
    with pytest.raises(HierarchyError) as caught:
        dates(["2024-03-05", "05.03.2024", "2024-02-30"], rows=[1, 9, 5])
    assert caught.value.what == "2 values are not in ISO date form (first in row 5)"


@given(st.lists(st.dates(), min_size=1, max_size=20))
def test_dates_nest(days: list[object]) -> None:
    levels = ["day", "month", "quarter", "year", "decade"]
    h = dates(days, levels)
    assert h.balanced
    assert h.leaves == tuple(sorted({str(day) for day in days}))


@given(st.permutations(["2024-03-05", "2023-01-01", "2024-12-31"]))
def test_row_order_does_not_matter(values: list[str]) -> None:
    assert same(dates(values), dates(sorted(values)))
    assert same(masks(values, 3), masks(sorted(values), 3))
    assert same(flat(values), flat(sorted(values)))
    years = [value[:4] for value in values]
    assert same(intervals(years, 10), intervals(sorted(years), 10))


# ---- nothing in between


def test_flat() -> None:
    h = flat(["m", "f", None, 7, "m"])
    assert h.to_rows() == [["7", "*"], ["f", "*"], ["m", "*"]]
    assert (h.levels, h.balanced, h.completed) == (2, True, False)


def test_flat_over_a_value_that_looks_like_the_top(tmp_path: Path) -> None:
    h = flat(["f", "*"])
    assert h.labels == ("*", "*", "f")
    assert h.generalize("*", 0) == h.generalize("*", 1) == h.generalize("f", 1) == "*"
    assert h.distance("*", "f") == 1
    assert same(read_hierarchy(write(tmp_path / "h.csv", as_csv(h.to_rows()))), h)
    assert flat(["*"]).to_rows() == [["*", "*"]]


@given(st.lists(st.none() | st.text("01*", max_size=2), max_size=8))
def test_flat_holds_its_values(values: list[str | None]) -> None:
    h = flat(values)
    known = {value for value in values if value is not None}
    assert set(h.leaves) == (known or {"*"})
    assert h.levels == (2 if known else 1)
    for value in known:
        assert h.labels[h.node(value)] == value
        assert h.climb(np.array([h.node(value)]), 1).tolist() == [0]
