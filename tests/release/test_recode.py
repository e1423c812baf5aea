"""What a release says of a quasi-identifier covers every row of the group, and nothing is lost."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth.core.groups import Partition
from wideberth.hierarchy import Hierarchy
from wideberth.hierarchy.quasi import read_quasi
from wideberth.release.align import interval_ends
from wideberth.release.recode import long_set_cautions, recode
from wideberth.release.styles import choose_recodings
from wideberth.release.verify import labels_cover_values

TREE = Hierarchy(
    ("*", "lung", "flu", "pneumonia", "gut", "gastritis", "ulcer", "ill-defined"),
    [-1, 0, 1, 1, 0, 4, 4, 0],
)

MOMENTS = [dt.datetime(2024, 3, 5, 10), dt.datetime(2024, 3, 5)]


def parted(labels: list[int]) -> Partition:
    return Partition(np.array(labels, dtype=np.int32), max(labels) + 1)


def published(
    values: Any,
    labels: list[int],
    recoding: str | None = None,
    align: Any = None,
    max_set: int = 50,
    **how: Any,
) -> list[Any]:
    """Recode one column, make sure that it covers the original, and return what is published."""
    series = values if isinstance(values, pl.Series) else pl.Series("q", values, strict=False)
    quasi = read_quasi(series.alias("q"), **how)
    style = choose_recodings([quasi], recoding, None if align is None else {"q": align}, max_set)
    columns = recode([quasi], parted(labels), style).columns["q"]
    assert labels_cover_values(quasi, style["q"], columns, quasi.codes)
    assert [c.name for c in columns] == style["q"].columns(quasi)
    lists = [column.to_list() for column in columns]
    return lists[0] if len(lists) == 1 else lists


def loss(values: Any, labels: list[int], recoding: str | None = None, **how: Any) -> float:
    align = how.pop("align", None)
    quasi = read_quasi(pl.Series("q", values), **how)
    style = choose_recodings([quasi], recoding, None if align is None else {"q": align})
    return recode([quasi], parted(labels), style).loss


# Intervals.


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([25, 34, 61], ["25..34", "25..34", "61"]),
        ([-5, -1, -7], ["-5..-1", "-5..-1", "-7"]),
        ([25.0, 34.5, 0.1], ["25..34.5", "25..34.5", "0.1"]),
        ([1e20, -1e-7, 0.5], ["-1e-7..1e+20", "-1e-7..1e+20", "0.5"]),
        ([Decimal("1.50"), Decimal("2.25"), Decimal("-0.10")], ["1.50..2.25"] * 2 + ["-0.10"]),
        (
            [dt.date(2024, 3, 5), dt.date(2023, 12, 31), dt.date(1969, 1, 1)],
            ["2023-12-31..2024-03-05"] * 2 + ["1969-01-01"],
        ),
        (
            [*MOMENTS, dt.datetime(1999, 1, 2, 3, 4, 5, 6)],
            ["2024-03-05 00:00:00..2024-03-05 10:00:00"] * 2 + ["1999-01-02 03:04:05.000006"],
        ),
        (["25", "34", "61"], ["25..34", "25..34", "61"]),
        (
            ["05.03.2024", "01.03.2024", "01.01.2001"],
            ["2024-03-01..2024-03-05"] * 2 + ["2001-01-01"],
        ),
        ([2**63 - 1, -(2**63), 7], ["-9223372036854775808..9223372036854775807"] * 2 + ["7"]),
    ],
    ids=str,
)
def test_intervals(values, expected):
    assert published(values, [0, 0, 1]) == expected


def test_single_precision_is_written_with_its_own_digits():
    assert published(pl.Series([0.1, 0.7], dtype=pl.Float32), [0, 0]) == ["0.1..0.7"] * 2


def test_durations():
    day = dt.timedelta(days=1)
    found = published([day, 3 * day], [0, 0])
    assert found == ["1 day, 0:00:00..3 days, 0:00:00"] * 2


def test_missing_values_are_said():
    values = [25, None, 34, None, 61]
    assert published(values, [0, 0, 0, 1, 2]) == ["25..34 or missing"] * 3 + [None, "61"]
    assert published(values[:2], [0, 0]) == ["25 or missing"] * 2


# Bounds.


def test_bounds_have_the_type_of_the_values():
    quasi = read_quasi(pl.Series("age", [25, 34, 61], dtype=pl.UInt8))
    recoded = recode([quasi], parted([0, 0, 1]), choose_recodings([quasi], "bounds"))
    low, high, missing = recoded.columns["age"]
    assert (low.name, high.name, missing.name) == ("age_min", "age_max", "age_missing")
    assert missing.to_list() == [False] * 3
    assert (low.dtype, high.dtype) == (pl.UInt8, pl.UInt8)
    assert (low.to_list(), high.to_list()) == ([25, 25, 61], [34, 34, 61])


def test_bounds_say_whether_values_are_missing():
    low, high, missing = published([25, None, 34, None, 61], [0, 0, 0, 1, 2], "bounds")
    assert low == [25, 25, 25, None, 61]
    assert high == [34, 34, 34, None, 61]
    assert missing == [True, True, True, True, False]


def test_bounds_of_dates_and_decimals():
    days = [dt.date(2024, 3, 5), dt.date(2023, 12, 31)]
    assert published(days, [0, 0], "bounds") == [[days[1]] * 2, [days[0]] * 2, [False] * 2]
    low, high, _ = published([Decimal("1.50"), Decimal("2.25")], [0, 0], "bounds", 0.125)
    assert (low, high) == ([Decimal("1.5")] * 2, [Decimal("2.375")] * 2)


def test_aligned_bounds_stay_within_their_type():
    series = pl.Series([100, 127], dtype=pl.Int8)
    assert published(series, [0, 0], "bounds", 50) == [[100, 100], [127, 127], [False, False]]
    assert published(series, [0, 0], "interval", 50) == ["100..149"] * 2


# Hierarchies.


def test_the_lowest_common_ancestor():
    values = ["flu", "pneumonia", "flu", "ulcer", "gastritis", "gastritis", "ill-defined"]
    found = published(values, [0, 0, 1, 1, 2, 2, 3], hierarchy=TREE)
    assert found == ["lung", "lung", "*", "*", "gastritis", "gastritis", "ill-defined"]


def test_an_inner_node_as_a_value():
    assert published(["flu", "lung"], [0, 0], hierarchy=TREE) == ["lung", "lung"]


def test_a_mask():
    found = published(["13053", "13068", "14850"], [0, 0, 1], hierarchy={"mask": 5})
    assert found == ["130**", "130**", "14850"]


def test_a_hierarchy_of_numbers():
    rule = {"interval": [5, 10]}
    values = [7, 31, 38, 34, 30]
    assert published(values, [0, 1, 1, 2, 2], hierarchy=rule)[1:] == ["30-39"] * 2 + ["30-34"] * 2
    assert published(values, [0, 1, 1, 2, 2], "interval", hierarchy=rule)[1] == "31..38"
    aligned = published(values, [0, 1, 1, 2, 2], "interval", "hierarchy", hierarchy=rule)
    assert aligned[1] == "30-39"


def test_a_file_may_order_numbers_as_it_likes(tmp_path):
    path = tmp_path / "age.csv"
    path.write_text("3;odd;*\n1;odd;*\n2;even;*\n")
    values = [1, 2, 3]
    assert published(values, [0, 1, 0], hierarchy=path) == ["odd", "2", "odd"]


def test_dates_in_a_hierarchy():
    days = [dt.date(2024, 3, 5), dt.date(2024, 3, 9), dt.date(2024, 12, 31)]
    found = published(days, [0, 0, 1], hierarchy={"date": ["month", "year"]})
    assert found == ["2024-03", "2024-03", "2024-12-31"]


def test_missing_values_in_a_hierarchy():
    found = published(["flu", None, "pneumonia", None], [0, 0, 0, 1], hierarchy=TREE)
    assert found == ["lung or missing"] * 3 + [None]


# Sets.


def test_sets():
    assert published(list("bacab"), [0, 0, 1, 1, 2]) == ["{a|b}"] * 2 + ["{a|c}"] * 2 + ["b"]
    assert published([True, False, True], [0, 0, 1]) == ["{false|true}"] * 2 + ["true"]
    assert published([3, 1, 2], [0, 0, 1], "set") == ["{1|3}"] * 2 + ["2"]


def test_missing_values_in_sets():
    values = ["a", None, "b", None, "c", None]
    assert published(values, [0, 0, 0, 1, 2, 2]) == [
        *["{a|b} or missing"] * 3,
        None,
        *["c or missing"] * 2,
    ]


def test_a_value_with_marks_of_a_set_is_quoted():
    values = ["a|b", 'say "x"', "{c}", "d"]
    assert published(values, [0, 0, 1, 1])[0] == '{"a|b"|"say ""x"""}'
    assert published(values, [0, 0, 1, 1])[2] == '{d|"{c}"}'


def test_sets_of_many_values():
    values = [f"{i:03}" for i in range(200)]
    found = published([*values, None], [i % 2 for i in range(200)] + [0], max_set=100)
    assert found[0] == "{" + "|".join(values[::2]) + "} or missing"
    assert found[1] == "{" + "|".join(values[1::2]) + "}"


def test_a_set_that_would_list_too_many_values_is_a_star():
    """What had no bound made a CSV file of 4.7 MB one of 334 MB."""
    values = [f"{i:03}" for i in range(102)]
    labels = [int(i >= 51) for i in range(102)] + [1]
    found = published([*values, None], labels)
    assert found[0] == "*"
    assert found[-1] == "* or missing"
    assert published(values[:51], [0] * 50 + [1])[0] == "{" + "|".join(values[:50]) + "}"
    # Texts are long, too; a single value says no less than itself.
    assert published(["a" * 600, "b" * 500, "c" * 2000], [0, 0, 1]) == ["*", "*", "c" * 2000]


def test_a_star_for_a_set_costs_everything():
    quasis = [read_quasi(pl.Series("q", list("abcde"))), read_quasi(pl.Series("r", list("abcde")))]
    recoded = recode(quasis, parted([0, 0, 0, 1, 1]), choose_recodings(quasis, max_set=2))
    assert recoded.losses["q"] == pytest.approx((3 * 1 + 2 * 0.25) / 5)
    assert recoded.starred == {"q": 3, "r": 3}
    assert (
        "in 60% of rows"
        in long_set_cautions(recoded.starred, choose_recodings(quasis, max_set=2), 5)[0]
    )


@pytest.mark.parametrize("principle", ["k-anonymity:k=40", "epsilon-m:epsilon=5,m=40"])
def test_a_release_with_stars_for_sets_is_read_like_any_other(principle):
    towns = [f"town {i * i % 83:02}" for i in range(400)]
    table = pl.DataFrame({"town": towns, "pay": [i * 7 % 397 for i in range(400)]})
    asked = {"quasi": "town", "sensitive": "pay", "principles": principle, "seed": 1}
    release = wb.anonymize(table, **asked, max_set=4)
    whole = wb.anonymize(table, **asked, max_set=100)
    said = release.table["town"].cast(pl.String)
    assert (said == "*").any()
    assert release.check()
    # Those of groups without a bound, of which some have the same label now.
    assert release.manifest["groups"] <= whole.manifest["groups"]
    assert release.manifest["loss"]["ncp_percent"] > whole.manifest["loss"]["ncp_percent"]
    assert release.manifest["transform"]["max_set"] == 4
    assert any("give the column a hierarchy" in text for text in release.manifest["warnings"])
    assert not any("give the column" in text for text in whole.manifest["warnings"])
    audit = wb.audit(release, original=table)
    assert not [f for f in audit.findings if f.severity == "high"]
    group = {"group": "group"} if "group" in release.table.columns else {}
    known = {"original": table, "quasi": "town", "sensitive": "pay", **group}
    measured = wb.measure(release.table, **known)["ncp"]
    assert measured == pytest.approx(release.manifest["loss"]["ncp_percent"] / 100, abs=1e-3)


# Grids.


@pytest.mark.parametrize(
    ("values", "grid", "expected"),
    [
        ([23, 31], 5, "20..34"),
        ([25, 25], 5, "25..29"),
        ([-3, 2], 5, "-5..4"),
        ([0, 0], 1, "0"),
        ([0.25, 0.3], 0.1, "0.2..0.4"),
        ([0.3, 0.3], "0.1", "0.3..0.4"),
        ([-0.05, 12.0], 2.5, "-2.5..12.5"),
        ([Decimal("1.50"), Decimal("2.25")], 1, "1..3"),
        ([dt.date(2024, 2, 5), dt.date(2024, 2, 28)], "month", "2024-02-01..2024-02-29"),
        ([dt.date(2024, 2, 5), dt.date(2025, 7, 1)], "year", "2024-01-01..2025-12-31"),
        ([dt.date(2024, 2, 5), dt.date(2024, 2, 5)], "quarter", "2024-01-01..2024-03-31"),
        ([dt.date(2024, 2, 7), dt.date(2024, 2, 7)], "week", "2024-02-05..2024-02-11"),
        ([dt.date(2024, 2, 7), dt.date(2024, 2, 7)], 7, "2024-02-05..2024-02-11"),
        ([dt.date(1960, 2, 7), dt.date(1960, 2, 7)], 1, "1960-02-07"),
        ([dt.datetime(2024, 2, 5, 9), dt.datetime(2024, 3, 1)], "month", "2024-02-01..2024-03-31"),
    ],
    ids=str,
)
def test_a_grid(values, grid, expected):
    assert published(values, [0, 0], align=grid) == [expected] * 2


def test_a_grid_in_a_time_zone():
    times = pl.Series([dt.datetime(2024, 2, 5, 23, 30)]).dt.replace_time_zone("Europe/Berlin")
    assert published(times, [0], align=1) == ["2024-02-05"]
    low, high, _ = published(times, [0], "bounds", "month")
    assert low[0].isoformat() == "2024-02-01T00:00:00+01:00"
    assert high[0].isoformat() == "2024-02-29T23:59:59.999999+01:00"


@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=30),
    st.integers(1, 1000),
    st.randoms(),
)
def test_a_grid_of_whole_numbers_covers_and_hides(values, step, random):
    labels = [random.randrange(3) for _ in values]
    labels = [sorted(set(labels)).index(label) for label in labels]
    for text, value in zip(published(values, labels, align=step), values, strict=True):
        low, _, high = text.partition("..")
        assert int(low) <= value <= int(high or low)
        assert int(low) % step == 0
        assert (int(high or low) + 1) % step == 0


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 4)), min_size=1, max_size=20),
    st.sampled_from([0.1, 0.25, 1, 7, 1e-4, 12.5]),
)
def test_a_grid_of_floats_covers_exactly(values, step):
    texts = published(values, [0] * len(values), align=step)
    low, high = (Fraction(text) for text in texts[0].split(".."))
    exact = [Fraction(repr(v)) for v in values]
    assert low <= min(exact)
    assert max(exact) <= high
    assert (low / Fraction(repr(step))).denominator == 1
    assert high - low <= max(exact) - min(exact) + 2 * Fraction(repr(step))


# Loss.


def test_the_loss_of_intervals():
    assert loss([0, 10, 50, 100], [0, 0, 1, 1]) == pytest.approx((0.1 + 0.5) / 2)
    assert loss([0, 10, 50, 100], [0, 0, 1, 1], align=20) == pytest.approx((0.19 + 0.79) / 2)
    assert loss([3, 3, 3], [0, 0, 0]) == 0
    assert loss([0, 9], [0, 0], align=100) == 1


def test_the_loss_of_hierarchies():
    assert loss(["flu", "pneumonia", "ulcer", "ulcer"], [0, 0, 1, 1], hierarchy=TREE) == 0.125
    assert loss(["flu", "ulcer"], [0, 0], hierarchy=TREE) == 1


def test_the_loss_of_sets():
    assert loss(list("abcde"), [0, 0, 0, 1, 2]) == pytest.approx(0.5 * 3 / 5)


@pytest.mark.parametrize("recoding", ["interval", "bounds", "set"])
def test_mixing_with_missing_values_costs_everything(recoding):
    assert loss([1, 1, None, 2, 3], [0, 0, 0, 1, 2], recoding) == pytest.approx(3 / 5)
    assert loss([1, None, None], [0, 1, 1], recoding) == 0


def test_weights():
    quasis = [
        read_quasi(pl.Series("a", [0, 10]), weight=3),
        read_quasi(pl.Series("b", ["x", "x"])),
    ]
    recoded = recode(quasis, parted([0, 0]))
    assert recoded.losses == {"a": 1, "b": 0}
    assert recoded.loss == 0.75


# Against an obvious twin.

COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-50, 50)), min_size=1, max_size=25),
    st.lists(st.one_of(st.none(), st.sampled_from("abcdefg")), min_size=1, max_size=25),
)


@given(
    COLUMNS,
    st.randoms(),
    st.sampled_from(["interval", "bounds", "hierarchy", "set"]),
    st.sampled_from([1, 2, 3, 50]),
)
def test_as_the_obvious_twin(values, random, recoding, max_set):
    numeric = any(isinstance(v, int) for v in values)
    if all(v is None for v in values):
        return
    tree = wb.Hierarchy(("*", *dict.fromkeys(str(v) for v in values if v is not None)), [-1] + [0] * len({v for v in values if v is not None}))  # noqa: E501  # fmt: skip
    labels = [random.randrange(4) for _ in values]
    labels = [sorted(set(labels)).index(label) for label in labels]
    if recoding in ("interval", "bounds") and not numeric:
        recoding = "set"
    found = published(values, labels, recoding, hierarchy=tree, max_set=max_set)
    groups = defaultdict(list)
    for label, value in zip(labels, values, strict=True):
        groups[label].append(value)
    expected = [twin(groups[label], recoding, max_set) for label in labels]
    if recoding == "bounds":
        expected = [list(part) for part in zip(*expected, strict=True)]
    elif recoding == "set" and not numeric:
        # With a hierarchy, a set is in the order of its leaves.
        found = ["".join(sorted(text)) if text else text for text in found]
        expected = ["".join(sorted(text)) if text else text for text in expected]
    assert found == expected


def twin(group: list[Any], recoding: str, max_set: int) -> Any:
    known = sorted({v for v in group if v is not None})
    lacking = None in group
    if recoding == "bounds":
        return (min(known), max(known), lacking) if known else (None, None, True)
    if not known:
        return None
    text = str(known[0])
    if recoding == "set" and len(known) > max_set:
        text = "*"
    elif len(known) > 1:
        text = {
            "interval": f"{known[0]}..{known[-1]}",
            "hierarchy": "*",
            "set": "{" + "|".join(map(str, known)) + "}",
        }[recoding]
    return text + " or missing" * lacking


# What does not cover is found out.


@pytest.mark.parametrize(
    ("values", "labels", "how"),
    [
        ([1, 5], ["1..5", "1..4"], {}),
        ([1, 5], ["2..5", "1..5"], {}),
        ([1, None], ["1", "1"], {}),
        ([1, None], [None, None], {}),
        (["a", "b"], ["{b|c}", "b"], {}),
        (["a", "b"], ["a", "a"], {}),
        (["a", None], ["*", "*"], {}),
        (["flu", "ulcer"], ["gut", "gut"], {"hierarchy": TREE}),
        ([dt.date(2024, 1, 1), dt.date(2024, 1, 2)], ["2024-01-02", "2024-01-02"], {}),
    ],
    ids=str,
)
def test_what_does_not_cover(values, labels, how):
    quasi = read_quasi(pl.Series("q", values), **how)
    column = pl.Series("q", labels, dtype=pl.String)
    assert not labels_cover_values(quasi, choose_recodings([quasi])["q"], [column], quasi.codes)


def test_bounds_that_do_not_cover():
    quasi = read_quasi(pl.Series("q", [1, None]))
    style = choose_recodings([quasi], "bounds")["q"]
    low, high = pl.Series([1, 1]), pl.Series([2, 2])
    assert labels_cover_values(quasi, style, [low, high, pl.Series([True, True])], quasi.codes)
    assert not labels_cover_values(quasi, style, [low, high, pl.Series([True, False])], quasi.codes)
    assert not labels_cover_values(
        quasi, style, [low + 1, high, pl.Series([True, True])], quasi.codes
    )


# Refusals.


@pytest.mark.parametrize(
    ("values", "recoding", "align", "message"),
    [
        (["a", "b"], {"q": "interval"}, None, "'q' holds neither numbers nor dates"),
        (["a", "b"], {"q": "hierarchy"}, None, "'q' has no hierarchy"),
        (["a", "b"], {"x": "set"}, None, "'x' is no quasi-identifier"),
        ([1, 2], {"q": "mean"}, None, "cannot be recoded like that"),
        ([1, 2], None, {"x": 5}, "'x' is no quasi-identifier"),
        ([1, 2], None, {"q": "hierarchy"}, "'q' has no hierarchy"),
        ([1, 2], None, {"q": 2.5}, "must be a whole number above 0"),
        ([1, 2], None, {"q": -5}, "must be a whole number above 0"),
        ([1, 2], None, {"q": "month"}, "must be a whole number above 0"),
        ([1.5, 2], None, {"q": "1/3"}, "must be a decimal number above 0"),
        ([dt.date(2024, 1, 1)], None, {"q": "fortnight"}, "'q' holds dates"),
        ([dt.timedelta(1)], None, {"q": 5}, "holds durations"),
        (["a", "b"], None, {"q": 5}, "published as a set, which has no grid"),
        ([1, 2], None, "month", "align must be 'hierarchy'"),
    ],
    ids=str,
)
def test_refused(values, recoding, align, message):
    quasi = read_quasi(pl.Series("q", values))
    with pytest.raises(wb.ParameterError, match=message) as refusal:
        choose_recodings([quasi], recoding, align)
    assert refusal.value.hint


def test_one_recoding_for_all_applies_where_it_suits():
    quasis = [read_quasi(pl.Series("age", [1, 2])), read_quasi(pl.Series("sex", ["f", "m"]))]
    assert [s.recoding for s in choose_recodings(quasis, "bounds").values()] == ["bounds", "set"]
    assert [s.recoding for s in choose_recodings(quasis, "set").values()] == ["set", "set"]


def test_ends_of_nothing_but_one_value():
    found = interval_ends(read_quasi(pl.Series("q", [7])), 5)
    assert found.low_places.tolist() == found.high_places.tolist() == [0]


@pytest.mark.parametrize("missing", [False, True])
def test_more_values_than_two_bytes_tell_apart(missing: bool) -> None:
    values = [*range(0, 200_000), *([None] if missing else [])]
    quasi = read_quasi(pl.Series("q", values, dtype=pl.Int64))
    labels = np.arange(len(values), dtype=np.int32) // 10
    partition = Partition(labels, int(labels[-1]) + 1)
    (published,) = recode([quasi], partition).columns["q"]
    assert published[199_995] == "199990..199999"
    assert published[131_072] == "131070..131079"
