"""What published labels say of people."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest

from wideberth.hierarchy import Hierarchy
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.labels.axes import read_published_quasi

TREE = Hierarchy.build(
    ["*", "Europe", "France", "Spain", "Asia", "Japan", "India"], [-1, 0, 1, 1, 0, 4, 4]
)


def covered(axis: PublishedQuasi, label: int) -> set[object]:
    """Return the values that a label covers, one by one."""
    found: set[object] = set()
    for run in range(axis.start[label], axis.start[label + 1]):
        found.update(axis.atoms[int(axis.first[run]) : int(axis.last[run]) + 1].to_list())
    return found | {None} if axis.missing[label] else found


def meaning(axis: PublishedQuasi, text: str | None) -> set[object]:
    return covered(axis, axis.texts.index(text))


AGES = pl.Series("age", [19, 20, 25, 29, 30, 34, 35, 40, 61])


READINGS = {
    "20..34": {20, 25, 29, 30, 34},
    "25": {25},
    "25.0": {25},
    "[20, 34]": {20, 25, 29, 30, 34},
    "[20, 35[": {20, 25, 29, 30, 34},
    "]20, 35]": {25, 29, 30, 34, 35},
    "(20, 35]": {25, 29, 30, 34, 35},
    "(20,35]": {25, 29, 30, 34, 35},
    "[20,35)": {20, 25, 29, 30, 34},
    "(19.999, 30.0]": {20, 25, 29, 30},
    "20-34": {20, 25, 29, 30, 34},
    "20 - 34": {20, 25, 29, 30, 34},
    "20–34": {20, 25, 29, 30, 34},
    "20~34": {20, 25, 29, 30, 34},
    "20 to 34": {20, 25, 29, 30, 34},
    "['20-34']": {20, 25, 29, 30, 34},
    "-5..20": {19, 20},
    "<=30": {19, 20, 25, 29, 30},
    "<30": {19, 20, 25, 29},
    "< 30": {19, 20, 25, 29},
    "≤30": {19, 20, 25, 29, 30},
    ">=40": {40, 61},
    ">40": {61},
    "≥ 40": {40, 61},
    "40+": {40, 61},
    "(-Inf,20]": {19, 20},
    "(60, Inf]": {61},
    "(1e+01,2e+01]": {19, 20},
    "{20, 61}": {20, 61},
    "{20|61}": {20, 61},
    "20,61": {20, 61},
    "3*": {30, 34, 35},
    "*": {*AGES, None},
    "**": {*AGES, None},
    "Any": {*AGES, None},
    "25 or missing": {25, None},
    "20..25 or missing": {20, 25, None},
    "[15, 19)": {19},  # some tools put a value that is an end into the interval beside it
}


@pytest.mark.parametrize("text", READINGS)
def test_labels_of_numbers(text: str) -> None:
    axis = read_published_quasi("age", [pl.Series("age", [text])], original=AGES)
    assert axis.read
    assert meaning(axis, text) == READINGS[text]
    assert axis.widths().tolist() == [len(READINGS[text])]


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "2020-01-01..2020-02-29": ["2020-01-01", "2020-02-29"],
        "2020-02-29": ["2020-02-29"],
        "29.02.2020": ["2020-02-29"],
        "2020-02": ["2020-02-29"],
        "02/2020": ["2020-02-29"],
        "2020-Q1": ["2020-01-01", "2020-02-29"],
        "Q1 2020": ["2020-01-01", "2020-02-29"],
        "2020": ["2020-01-01", "2020-02-29"],
        "2020s": ["2020-01-01", "2020-02-29", "2021-12-31"],
        "[2020, 2021[": ["2020-01-01", "2020-02-29"],
        "<01.01.2020": ["1999-12-31"],
        ">=01.01.2021": ["2021-12-31"],
    }.items(),
)
def test_labels_of_dates(text: str, expected: list[str]) -> None:
    days = [date(1999, 12, 31), date(2020, 1, 1), date(2020, 2, 29), date(2021, 12, 31)]
    for original in (pl.Series(days), pl.Series(days).cast(pl.Datetime)):
        axis = read_published_quasi("born", [pl.Series("born", [text])], original=original)
        assert [str(day)[:10] for day in sorted(meaning(axis, text))] == expected


def test_moments_as_they_are_published() -> None:
    moments = pl.Series([datetime(2020, 1, 1, hour) for hour in (6, 12, 18)])
    text = "2020-01-01 06:00:00..2020-01-01 12:00:00"
    assert read_published_quasi("at", [pl.Series([text])], original=moments).widths().tolist() == [
        2
    ]
    assert read_published_quasi(
        "at", [pl.Series(["2020-01-01"])], original=moments
    ).widths().tolist() == [3]


@pytest.mark.parametrize(
    ("text", "expected"),
    {
        "{flu|cold}": {"flu", "cold"},
        "{flu, cold}": {"flu", "cold"},
        "['flu', 'cold']": {"flu", "cold"},
        "flu,cold": {"flu", "cold"},
        "['cold,flu']": {"flu", "cold"},
        '{flu|"a|b"}': {"flu", "a|b"},
        "{flu|cold} or missing": {"flu", "cold", None},
        "20-34": {"20-34"},  # a value of that name is no interval
        "[flu, cold]": {"[flu, cold]"},
    }.items(),
)
def test_labels_of_categories(text: str, expected: set[str | None]) -> None:
    values = ["20-34", "[flu, cold]", "a|b", "cold", "flu", "gout"]
    axis = read_published_quasi("ill", [pl.Series([text])], original=pl.Series(values))
    assert axis.read
    assert meaning(axis, text) == expected


def test_masks() -> None:
    zips = pl.Series(["13053", "13068", "14850", "148"])
    labels = ["130**", "1306*", "148**", "***53", "14*", "*****"]
    axis = read_published_quasi("zip", [pl.Series(labels)], original=zips, kind="text")
    assert meaning(axis, "130**") == {"13053", "13068"}
    assert meaning(axis, "1306*") == {"13068"}
    assert meaning(axis, "148**") == {"14850"}
    assert meaning(axis, "***53") == {"13053"}
    assert meaning(axis, "14*") == {"148"}
    assert meaning(axis, "*****") == {*zips, None}


def test_a_hierarchy_tells_what_a_node_covers() -> None:
    labels = pl.Series(["Europe", "Japan", "*", "Asia or missing", None])
    axis = read_published_quasi("land", [labels], hierarchy=TREE)
    assert axis.atoms.to_list() == ["France", "Spain", "Japan", "India"]
    assert meaning(axis, "Europe") == {"France", "Spain"}
    assert meaning(axis, "Asia or missing") == {"Japan", "India", None}
    assert meaning(axis, None) == {None}
    assert axis.tree is TREE
    original = pl.Series(["Spain", "India", "Asia", None, "Spain"])  # an inner node as a value
    labels = pl.Series(["Europe", "Asia", "*", None])
    axis = read_published_quasi("land", [labels], original=original, hierarchy=TREE)
    assert axis.atoms.to_list() == ["Spain", "Asia", "India"]
    assert meaning(axis, "Asia") == {"Asia", "India"}
    assert axis.points is not None
    assert axis.points.tolist() == [0, 2, 1, 3, 0]
    assert axis.histogram is not None
    assert axis.histogram.tolist() == [2, 1, 1, 1]


def test_a_rule_needs_the_values_of_the_original() -> None:
    labels, rule = pl.Series(["20-29", "35-39"]), {"interval": [5, 10]}
    with_original = read_published_quasi("age", [labels], original=AGES, hierarchy=rule)
    assert meaning(with_original, "20-29") == {20, 25, 29}
    assert meaning(with_original, "35-39") == {35}
    alone = read_published_quasi("age", [labels], hierarchy=rule)
    assert alone.tree is None
    assert meaning(alone, "35-39") == {35, 36, 37, 38, 39}


def test_labels_alone_tell_the_values() -> None:
    axis = read_published_quasi("age", [pl.Series(["20..22", "[24, 26[", ">26", "NA", "*"])])
    assert axis.atoms.to_list() == list(range(20, 28))
    assert axis.places.tolist() == list(range(8))
    assert meaning(axis, ">26") == {27}
    assert meaning(axis, "NA") == {None}
    assert axis.spans().tolist() == [7, 2, 0, 0, 1]
    assert axis.points is None
    assert axis.histogram is None
    wide = read_published_quasi("pay", [pl.Series(["0..200000", "7"])])
    assert wide.atoms.to_list() == [0, 7, 200_000]
    fine = read_published_quasi("dose", [pl.Series(["0.5..1", "(1, 2)", "<0.5"])])
    assert fine.numeric
    assert fine.atoms.to_list() == [-0.5, 0.5, 1.0, 1.5]
    days = read_published_quasi("born", [pl.Series(["2020-02-28..2020-03-01", "*"])])
    assert days.atoms.dtype == pl.Date
    assert len(days.atoms) == 3
    codes = read_published_quasi("zip", [pl.Series(["01234", "0123*", "012**", "99***"])])
    assert codes.atoms.to_list() == ["01234", "99***"]
    assert meaning(codes, "012**") == {"01234"}
    nothing = read_published_quasi("sex", [pl.Series(["*", "*"])])
    assert nothing.everything.tolist() == [True]
    assert nothing.read


@pytest.mark.parametrize(
    ("labels", "atoms"),
    [
        (["a..b", "c"], ["a..b", "c"]),
        (["10-20 km", "Doe, Jane"], ["10-20 km", "Doe, Jane"]),
        (["555-123", "12"], ["12", "555-123"]),  # no interval: its ends are the wrong way round
        (["NA", "DE"], ["DE", "NA"]),
        (["1e999", "5"], ["1e999", "5"]),
        ([True, False], ["false", "true"]),
        ([2.5, None], [2.5]),
        ([" 25", "26 "], [25, 26]),
        (["1" + "0" * 30, "5"], [5, 10**30]),
        (["-5--3", "-2"], [-5, -4, -3, -2]),
        (["1-2", "4+"], [1, 2, 3, 4]),
        (
            ["2020-01-01 06:00:00..2020-01-01 18:00:00", "2020-01-01"],
            [datetime(2020, 1, 1, hour) for hour in (0, 6, 18)],
        ),
    ],
)
def test_odd_labels(labels: list[object], atoms: list[object]) -> None:
    axis = read_published_quasi("odd", [pl.Series("odd", labels)])
    assert axis.read
    assert axis.atoms.to_list() == atoms


def test_labels_that_nobody_understands_stand_for_themselves() -> None:
    axis = read_published_quasi(
        "age", [pl.Series(["young", "20..34", "*", "* or missing", "", None])]
    )
    assert not axis.read
    assert not axis.numeric
    assert meaning(axis, "young") == {"young"}
    assert meaning(axis, "20..34") == {"20..34"}
    assert meaning(axis, "*") == {"young", "20..34", "", None}
    assert meaning(axis, "* or missing") == {"young", "20..34", "", None}
    assert meaning(axis, "") == {""}
    original = pl.Series([25, 40, None])
    axis = read_published_quasi(
        "age", [pl.Series(["young", "25", "*", "40 or missing"])], original=original
    )
    assert not axis.read
    assert axis.atoms.to_list() == ["25", "40", "young"]
    assert axis.points is not None
    assert axis.points.tolist() == [0, 1, 3]
    assert axis.histogram is not None
    assert axis.histogram.tolist() == [1, 1, 0, 1]
    assert meaning(axis, "40 or missing") == {"40", None}


def test_means_are_nobodys_values() -> None:
    axis = read_published_quasi("age", [pl.Series(["42.27", "25"])], original=AGES)
    assert not axis.read


def test_a_missing_label_is_suppression_where_nobody_is_missing() -> None:
    labels = pl.Series(["25", None])
    assert meaning(read_published_quasi("age", [labels], original=AGES), None) == {*AGES, None}
    some = pl.concat([AGES, pl.Series([None], dtype=pl.Int64)])
    assert meaning(read_published_quasi("age", [labels], original=some), None) == {None}
    words = read_published_quasi(
        "land", [pl.Series(["NA", "DE"])], original=pl.Series(["NA", "DE"])
    )
    assert meaning(words, "NA") == {"NA"}


def test_bounds() -> None:
    frame = pl.DataFrame(
        {"age_min": [20, 30, None], "age_max": [25, 30, None], "age_missing": [True, False, True]}
    )
    for quasi in (["age"], ["age_min", "age_max", "age_missing"]):
        axis = PublishedBoxes.read(frame, quasi).axes[0]
        assert axis.name == "age"
        assert axis.columns == ("age_min", "age_max", "age_missing")
        assert [covered(axis, label) for label in axis.labels] == [
            {20, 21, 22, 23, 24, 25, None},
            {30},
            {None},
        ]
    apart = PublishedBoxes.read(frame, ["age_min"])  # somebody means the column itself
    assert apart.axes[0].columns == ("age_min",)


def test_sets_in_any_order_are_one_label() -> None:
    published = PublishedBoxes.read(pl.DataFrame({"a": ["x,y", "y,x", "['x,y']", "x"]}), ["a"])
    assert published.boxes.count == 2
    assert published.sizes.tolist() == [1, 3] or published.sizes.tolist() == [3, 1]
