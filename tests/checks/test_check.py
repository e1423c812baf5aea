"""`check` as a library: the kind of table, the order of rows and the way of asking never matter."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from wideberth import io
from wideberth.datasets import li2008_table1b, wang2009_table1, wang2013_figure1
from wideberth.hierarchy import from_parents
from wideberth.principles import iterate, parse

PEOPLE = pl.DataFrame(
    {
        "age": ["[17,24]"] * 4 + ["3*"] * 3 + [None] * 2,
        "zip": ["130**", "130**", "130**", "130**", "*", "*", "*", "1485*", "1485*"],
        "disease": ["flu", "flu", "cancer", "ulcer", "flu", None, "flu", "ulcer", "cancer"],
        "salary": [1000, 1010, 1020, 50000, 16000, 24000, None, 33000, 31000],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": ["disease", "salary"]}
PRINCIPLES = [
    "k-anonymity:k=3",
    "distinct-l:on=disease,l=2",
    "entropy-l:on=disease,l=2",
    "t-closeness:on=salary,t=0.4",
    "epsilon-m:on=salary,epsilon=100,m=2",
    "epsilon-m:on=salary,epsilon=10%,m=2",
    "variance:on=salary,t=1000",
    "multi-attribute-l:l=1",
]

Constructor = Callable[[pl.DataFrame], Any]


def _file(suffix: str) -> Callable[[pl.DataFrame, Path], Path]:
    def write(frame: pl.DataFrame, folder: Path) -> Path:
        path = folder / f"people{suffix}"
        if suffix == ".parquet":
            frame.write_parquet(path)
        elif suffix == ".feather":
            frame.write_ipc(path)
        else:
            frame.write_csv(path, separator="\t" if suffix == ".tsv" else ",")
        return path

    return write


KINDS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: frame,
    "lazy": lambda frame, _: frame.lazy(),
    "pandas": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas-arrow": lambda frame, _: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "csv": _file(".csv"),
    "tsv": _file(".tsv"),
    "parquet": _file(".parquet"),
    "feather": _file(".feather"),
    "text": lambda frame, folder: str(_file(".csv")(frame, folder)),
}


@pytest.fixture(params=KINDS)
def constructor(request: pytest.FixtureRequest, tmp_path: Path) -> Constructor:
    """Each kind of table there is, made from a polars one."""
    return lambda frame: KINDS[request.param](frame, tmp_path)


def achieved(table: Any, principles: str, **how: Any) -> dict[str, float]:
    """Check one principle, and return the figures."""
    return wb.check(table, principles=principles, **how).principles[0].achieved


# The kind of table never matters.


def test_every_kind_of_table_gives_the_same_result(constructor):
    expected = wb.check(PEOPLE, principles=PRINCIPLES, **ROLES).to_dict()
    assert expected["groups"] == 3
    assert [p["satisfied"] for p in expected["principles"]].count(False) > 2
    found = wb.check(constructor(PEOPLE), principles=PRINCIPLES, **ROLES).to_dict()
    assert found == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_table_of_groups_is_of_the_callers_kind(constructor):
    table = constructor(PEOPLE)
    groups = wb.check(table, principles="k-anonymity:k=3", **ROLES).table
    kind = pl.DataFrame if isinstance(table, pl.LazyFrame | Path | str) else type(table)
    assert type(groups) is kind
    names = groups.column_names if isinstance(groups, pa.Table) else list(groups.columns)
    assert names == ["age", "zip", "rows", "k-anonymity:k=3", "k-anonymity:k=3 k"]
    as_polars = pl.DataFrame(groups)
    by_age = {row[0]: row[2:] for row in as_polars.rows()}
    assert by_age == {"3*": (3, True, 3), "[17,24]": (4, True, 4), None: (2, False, 2)}


@pytest.mark.parametrize(
    "index",
    [
        [5, 3, 8, 1, 0, 2, 7, 6, 4],
        [0] * 9,
        list("ihgfedcba"),
        pd.MultiIndex.from_product([[1, 2, 3], list("abc")]),
        [1.5, np.nan, 1.5, 0, 0, 0, 0, 0, 0],
    ],
    ids=["shuffled", "duplicated", "text", "levels", "missing"],
)
def test_pandas_index_labels_never_matter(index):
    table = pd.DataFrame(PEOPLE.to_dict(as_series=False))
    expected = wb.check(table, principles=PRINCIPLES, **ROLES)
    table.index = index
    found = wb.check(table, principles=PRINCIPLES, **ROLES)
    assert found.to_dict() == expected.to_dict()
    pd.testing.assert_frame_equal(found.table, expected.table)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_rows_never_matters(seed):
    shuffled = PEOPLE.sample(fraction=1, shuffle=True, seed=seed)
    found = wb.check(shuffled, principles=PRINCIPLES, **ROLES)
    expected = wb.check(PEOPLE, principles=PRINCIPLES, **ROLES)
    assert found.to_dict() == expected.to_dict()
    assert found.table.equals(expected.table)


def test_the_order_of_columns_never_matters():
    found = wb.check(PEOPLE[:, ::-1], principles=PRINCIPLES, **ROLES).to_dict()
    assert found == wb.check(PEOPLE, principles=PRINCIPLES, **ROLES).to_dict()


def test_the_callers_table_is_left_alone():
    table = pd.DataFrame(PEOPLE.to_dict(as_series=False))
    before = table.copy()
    _ = wb.check(table, principles=PRINCIPLES, **ROLES).table
    pd.testing.assert_frame_equal(table, before)


def test_names_that_look_like_patterns():
    table = PEOPLE.rename({"age": "^a.*$", "salary": "^s$", "zip": "*"})
    result = wb.check(
        table, quasi=["^a.*$", "*"], sensitive="^s$", principles="epsilon-m:epsilon=100,m=2"
    )
    assert result.groups == 3
    assert result.table.columns[:2] == ["^a.*$", "*"]


# Groups.


def test_generalised_values_are_labels():
    table = pl.DataFrame({"age": ["[17,24]", "[17,24]", "[17-24]", "*", "1*", "130**", "130**"]})
    result = wb.check(table, quasi="age", principles="k-anonymity:k=2")
    assert result.groups == 5
    assert result.principles[0].violating_rows == 3


def test_missing_quasi_identifiers_agree_with_each_other_only():
    table = pl.DataFrame({"age": ["a", "a", None, None, None], "zip": ["1", "1", "1", "1", None]})
    result = wb.check(table, quasi=["age", "zip"], principles="k-anonymity:k=2")
    sizes = {(row["age"], row["zip"]): row["rows"] for row in result.table.to_dicts()}
    assert sizes == {("a", "1"): 2, (None, "1"): 2, (None, None): 1}
    assert result.principles[0].worst[0].values == {"age": None, "zip": None}


def test_numbers_are_quasi_identifiers_too():
    table = pl.DataFrame({"age": [9, 10, 100, 9], "height": [1.5, 1.5, 2.0, 1.5]})
    result = wb.check(table, quasi=["age", "height"], principles="k-anonymity:k=2")
    assert result.table["age"].to_list() == [9, 10, 100]
    (worst, *_) = result.to_dict(show_rows=True)["principles"][0]["worst"]
    assert worst["group"] == {"age": 10, "height": 1.5}
    assert result.table.row(worst["number"] - 1, named=True)["age"] == 10


def test_quasi_identifiers_are_shown_on_request_only():
    """A group of a table that is not published yet may be a single person."""
    table = pl.DataFrame({"name": ["Jane Doe", "Bob", "Bob"], "pay": [1, 2, 3]})
    result = wb.check(table, quasi="name", sensitive="pay", principles="k-anonymity:k=2")
    report = result.principles[0]
    assert report.worst[0].values == {"name": "Jane Doe"}
    audit = wb.audit(table, quasi="name", sensitive="pay", principles="k-anonymity:k=2")
    texts = [
        *(repr(result), str(result), repr(report), repr(report.worst), repr(audit), str(audit)),
        *(result._repr_html_(), audit._repr_html_()),
        *(json.dumps(result.to_dict()), json.dumps(audit.to_dict())),
    ]
    assert not any("Jane" in text for text in texts)
    assert "Jane" in json.dumps(result.to_dict(show_rows=True))
    assert "Jane" in json.dumps(audit.to_dict(show_rows=True))


def test_groups_of_a_population_have_the_numbers_of_the_table():
    table = pl.DataFrame({"zip": ["b", "c"], "pay": [1, 2]})
    people = pl.DataFrame({"zip": ["a", "b", "b", "c"]})
    wanted = "delta-presence:delta_min=0,delta_max=0.1"
    result = wb.check(table, quasi="zip", principles=wanted, population=people)
    for group in result.principles[0].worst:
        if group.number is None:
            assert group.values == {"zip": "a"}
        else:
            assert result.table["zip"][group.number - 1] == group.values["zip"]


def test_group_ids_make_the_groups():
    table = pl.DataFrame({"age": ["*"] * 4, "id": [7, 7, 8, 8], "salary": [40, 60, 50, 80]})
    how = {"sensitive": "salary", "principles": "epsilon-m:epsilon=15,m=2"}
    by_id = wb.check(table, quasi="age", group="id", **how)
    assert by_id.satisfied
    assert by_id.groups == 2
    assert by_id.principles[0].worst[0].values == {"id": 7}
    assert not wb.check(table, quasi="age", **how)
    alone = wb.check(table, group="id", **how)
    assert dataclasses.replace(alone, notes=[]).to_dict() == by_id.to_dict()


def test_table_1b_of_li_2008():
    result = wb.check(
        li2008_table1b(),
        quasi=["age", "zip"],
        sensitive="salary",
        principles=wb.EpsilonMAnonymity(epsilon=100, m=2),
    )
    (report,) = result.principles
    assert not result
    assert report.achieved == {"m": 4 / 3}
    assert (report.violating_groups, report.violating_rows) == (1, 4)
    assert report.worst[0].values == {"age": "[17,24]", "zip": "[12k,16k]"}


def test_a_column_named_twice_counts_once():
    twice = {"quasi": ["age", "zip", "age"], "sensitive": ["disease", "disease"]}
    result = wb.check(PEOPLE, principles="distinct-l:l=2", **twice)
    assert result.table.columns[:3] == ["age", "zip", "rows"]


# Sensitive attributes.


def test_several_sensitive_attributes():
    result = wb.check(
        PEOPLE, principles=["distinct-l:on=disease,l=3", "distinct-l:on=salary,l=3"], **ROLES
    )
    assert [(p.on, p.satisfied) for p in result.principles] == [
        ("disease", False),
        ("salary", False),
    ]
    assert [p.violating_rows for p in result.principles] == [5, 2]


def test_the_same_principle_on_two_attributes_has_two_columns():
    same = ["distinct-l:on=disease,l=3", "distinct-l:on=salary,l=3"]
    groups = wb.check(PEOPLE, principles=same, **ROLES).table
    assert groups.columns[3:] == [
        "distinct-l:l=3 on disease",
        "distinct-l:l=3 on disease l",
        "distinct-l:l=3 on salary",
        "distinct-l:l=3 on salary l",
    ]
    assert groups["distinct-l:l=3 on disease"].to_list() == [False, True, False]
    assert groups["distinct-l:l=3 on salary"].to_list() == [True, True, False]


def test_a_quasi_identifier_called_rows():
    table = pl.DataFrame({"rows": ["a", "a", "b"]})
    groups = wb.check(table, quasi="rows", principles="k-anonymity:k=2").table
    assert groups.to_dicts()[0] == {
        "rows": "a",
        "rows'": 2,
        "k-anonymity:k=2": True,
        "k-anonymity:k=2 k": 2.0,
    }


DISSIMILAR = "epsilon=0.1,delta=0.5,k=2,distance=variational"
DISEASES = ["flu", "asthma", "bronchitis", "none"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_an_attribute_of_several_columns(tmp_path, suffix):
    table = _file(suffix)(wang2009_table1(), tmp_path)
    result = wb.check(
        table,
        quasi=["age", "zip"],
        sensitive=DISEASES,
        principles=f"dissimilarity:on={'+'.join(DISEASES)},{DISSIMILAR}",
    )
    (report,) = result.principles
    assert report.on == "flu+asthma+bronchitis+none"
    assert report.achieved["delta"] == 1 / 4  # the paper: a risk of 3/4
    assert report.violating_rows == 5


def test_an_attribute_that_is_a_list(tmp_path):
    table = wang2009_table1()
    lists = table.select("age", "zip", disease=pl.concat_list(DISEASES))
    assert lists["disease"].dtype == pl.List(pl.Float64)
    lists.write_parquet(tmp_path / "lists.parquet")
    found = wb.check(
        tmp_path / "lists.parquet",
        quasi=["age", "zip"],
        sensitive="disease",
        principles=f"dissimilarity:{DISSIMILAR}",
    )
    (report,) = found.principles
    assert report.achieved["delta"] == 1 / 4
    assert report.violating_rows == 5


def test_dates_are_numbers_of_days(constructor):
    born = [dt.date(2000, 2, 28), dt.date(2000, 3, 1), dt.date(1999, 1, 1), None]
    table = constructor(pl.DataFrame({"zip": ["1"] * 4, "born": born}))
    roles = {"quasi": "zip", "sensitive": "born"}
    assert achieved(table, "epsilon-m:epsilon=1,m=2", **roles) == {"m": 4}
    assert achieved(table, "epsilon-m:epsilon=2,m=2", **roles) == {"m": 2}
    assert achieved(table, "k-e:k=1,e=1", **roles)["e"] == 425


def test_times_are_parts_of_days():
    born = [dt.datetime(2000, 1, 1, 0), dt.datetime(2000, 1, 1, 12), dt.datetime(2000, 1, 2, 12)]
    table = pl.DataFrame({"zip": ["1"] * 3, "born": born})
    roles = {"quasi": "zip", "sensitive": "born"}
    assert achieved(table, "epsilon-m:epsilon=0.5,m=2", **roles) == {"m": 1.5}
    assert achieved(table, "epsilon-m:epsilon=0.49,m=2", **roles) == {"m": 3}


def test_decimals_are_exact(constructor):
    # As floats, 0.3 - 0.2 is less than 0.1, and 0.8 - 0.7 more.
    prices = [Decimal("0.2"), Decimal("0.3"), Decimal("0.7"), Decimal("0.8")]
    table = constructor(pl.DataFrame({"zip": ["1"] * 4, "price": prices}))
    roles = {"quasi": "zip", "sensitive": "price"}
    assert achieved(table, "epsilon-m:epsilon=0.1,m=2", **roles) == {"m": 2}
    assert achieved(table, "epsilon-m:epsilon=0.0999,m=2", **roles) == {"m": 4}


def test_truth_values_are_categories(constructor):
    table = constructor(pl.DataFrame({"zip": ["1"] * 4, "smokes": [True, False, True, None]}))
    roles = {"quasi": "zip", "sensitive": "smokes"}
    assert achieved(table, "distinct-l:l=2", **roles) == {"l": 3}
    assert achieved(table, "frequency-l:l=2", **roles) == {"l": 2}
    allowed = "recursive-cl:c=1,l=2,allowed=true"
    assert wb.check(table, principles=allowed, **roles).satisfied
    with pytest.raises(wb.TableError, match="'smokes', row 1: not a number"):
        wb.check(table, principles="variance:t=1", **roles)


def test_a_given_type_goes_before_the_guessed_one():
    table = pl.DataFrame({"zip": ["1"] * 3, "code": ["1", "1.0", "01"]})
    roles = {"quasi": "zip", "sensitive": "code"}
    assert achieved(table, "distinct-l:l=2", **roles) == {"l": 3}
    table = table.head(2)
    assert achieved(table, "distinct-l:l=2", **roles) == {"l": 1}
    assert achieved(table, "distinct-l:l=2", types={"code": "text"}, **roles) == {"l": 2}


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_principles_never_matters(order):
    table = pl.DataFrame({"zip": ["1"] * 2, "code": ["1", "1.0"]})
    wanted = ["distinct-l:l=2", "epsilon-m:epsilon=1,m=2"][::order]
    roles = {"quasi": "zip", "sensitive": "code", "principles": wanted}
    result = wb.check(table, **roles)
    assert {p.principle.name: p.achieved for p in result.principles} == {
        "distinct-l": {"l": 1},
        "epsilon-m": {"m": 1},
    }
    with pytest.raises(wb.TableError, match="epsilon-m needs numbers"):
        wb.check(table, types={"code": "text"}, **roles)


@pytest.mark.parametrize("order", [1, -1])
def test_an_attribute_that_is_missing_in_every_row(order):
    table = pl.DataFrame({"zip": ["1"] * 3, "salary": [None] * 3}, schema_overrides={"salary": str})
    wanted = ["distinct-l:l=2", "epsilon-m:epsilon=1,m=2"][::order]
    result = wb.check(table, quasi="zip", sensitive="salary", principles=wanted)
    assert [p.achieved for p in result.principles][::order] == [{"l": 1}, {"m": 1}]


# Distances.


@pytest.mark.parametrize("kind", ["object", "file", "text", "rule"])
def test_semantic_trees(tmp_path, kind):
    tree = wang2013_figure1()
    path = tmp_path / "tree.csv"
    path.write_text("\n".join(";".join(row) for row in tree.to_rows()))
    given = {"object": tree, "file": path, "text": str(path), "rule": {"file": str(path)}}[kind]
    table = pl.DataFrame(
        {"zip": ["1"] * 3 + ["2"] * 3, "disease": ["Flu", "Cancer", "Gastritis"] * 2}
    )
    how = {"quasi": "zip", "sensitive": "disease", "hierarchies": {"disease": given}}
    assert wb.check(table, principles="l-e:l=3,e=1", **how).satisfied
    assert not wb.check(table, principles="l-e:l=3,e=3", **how).satisfied


def test_a_python_function_as_distance():
    def initials(a: str, b: str) -> float:
        return 0 if a[0] == b[0] else 1

    table = pl.DataFrame({"zip": ["1"] * 4, "disease": ["flu", "fever", "cancer", "ulcer"]})
    principle = wb.Dissimilarity(epsilon=0, delta=1, k=2, distance=initials)
    result = wb.check(table, quasi="zip", sensitive="disease", principles=principle)
    assert result.principles[0].achieved["delta"] == 2 / 3
    assert result.to_dict()["principles"][0]["parameters"]["distance"] == "initials"


def test_a_python_function_of_vectors():
    def largest(a: tuple[float, ...], b: tuple[float, ...]) -> float:
        return max(abs(x - y) for x, y in zip(a, b, strict=True))

    table = pl.DataFrame({"zip": ["1"] * 3, "x": [0, 1, 5], "y": [0, 2, 5]})
    principle = wb.Dissimilarity(on=["x", "y"], epsilon=2, delta=1, k=2, distance=largest)
    result = wb.check(table, quasi="zip", sensitive=["x", "y"], principles=[principle])
    assert result.principles[0].achieved["delta"] == 1 / 2


# The population.


def presence(table: pl.DataFrame, population: Any, principle: str) -> wb.CheckResult:
    return wb.check(table, quasi="age", principles=principle, population=population)


def test_presence_counts_the_groups_of_the_population_only():
    table = pl.DataFrame({"age": ["a", "a", "b"]})
    population = pl.DataFrame({"age": ["a", "a", "a", "a", "b", "b", "c"]})
    assert presence(table, population, "delta-presence:delta_max=0.5").satisfied
    result = presence(table, population, "delta-presence:delta_max=0.5,delta_min=0.25")
    (report,) = result.principles
    assert result.groups == 2
    assert (report.violating_groups, report.violating_rows) == (1, 0)
    assert report.achieved == {"delta_max": 0.5, "delta_min": 0}
    assert report.worst[0].values == {"age": "c"}
    assert not report.worst[0].satisfied


def test_presence_of_people_who_are_not_in_the_population():
    table = pl.DataFrame({"age": ["a", "z"]})
    population = pl.DataFrame({"age": ["a", "a"]})
    result = presence(table, population, "delta-presence:delta_max=1")
    assert not result
    assert result.principles[0].worst[0].values == {"age": "z"}
    assert result.to_dict()["principles"][0]["achieved"]["delta_max"] is None


def test_presence_finds_a_group_again_whatever_its_order_and_type(constructor):
    table = pl.DataFrame({"age": [100, 9, 10, 9]})
    population = constructor(pl.DataFrame({"age": [10] * 2 + [100] * 4 + [9] * 3 + [1]}))
    result = presence(table, population, "delta-presence:delta_max=0.5")
    verdicts = {age: (verdict, share) for age, _, verdict, share, _ in result.table.rows()}
    assert verdicts == {9: (False, 2 / 3), 10: (True, 1 / 2), 100: (True, 1 / 4)}


# The reference.

ABOVE: dict[str, str | None] = {
    "disease": None,
    "infection": "disease",
    "flu": "infection",
    "cold": "infection",
    "ulcer": "disease",
}
TREE = from_parents([(node, parent) for node, parent in ABOVE.items() if parent])


def close(table: Any, reference: Any = None, t: Any = 1, **how: Any) -> wb.CheckResult:
    """Check t-closeness of s in the groups of q."""
    principle = wb.TCloseness(t=t, distance=how.pop("distance", "auto"), on=how.pop("on", None))
    roles: dict[str, Any] = {"quasi": "q", "sensitive": "s"}
    return wb.check(table, principles=principle, reference=reference, **(roles | how))


def released(groups: Any, suppressed: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a table of these groups, and the original with the suppressed values in it."""
    rows = [(f"{q}", value) for q, group in enumerate(groups) for value in group]
    table = pl.DataFrame(rows, schema=["q", "s"], orient="row")
    return table, pl.concat([pl.DataFrame({"q": "x", "s": list(suppressed)}), table])


@pytest.mark.parametrize(
    ("groups", "suppressed", "distance", "own", "promised"),
    [
        # Shares 1/2 and 1/2 in groups and table, 2/3 and 1/3 in the original.
        (["ac", "ac"], "aa", "equal", Fraction(0), Fraction(1, 6)),
        # The last group lacks the a's: 4/7 of the table, 4/11 of the original.
        (["aac", "aac", "c"], "cccc", "equal", Fraction(4, 7), Fraction(4, 11)),
        # Running shares 1/2, 1, 1 against 1/3, 2/3, 1: (1/6 + 1/3) / 2.
        ([[1, 2], [1, 2]], [3, 3], "ordered", Fraction(0), Fraction(1, 4)),
        # Two values were the whole scale, now there are four: (1/4 + 1/2 + 1/4) / 3.
        ([[1], [2]], [0, 3], "ordered", Fraction(1, 2), Fraction(1, 3)),
        # flu and cold are 1/2 apart, and 3/4 from ulcer: 1/3 of each is to be moved.
        ([["flu"], ["cold"]], ["ulcer"], "hierarchical", Fraction(1, 4), Fraction(5, 12)),
        # Of the first group, 2/3 would have to be moved to be like the table, now 1/2.
        ([["flu"], ["ulcer"] * 2], ["flu"], "hierarchical", Fraction(1, 2), Fraction(3, 8)),
    ],
)
def test_closeness_to_the_original(groups, suppressed, distance, own, promised):
    table, original = released(groups, suppressed)
    how = {"distance": distance, "hierarchies": {"s": TREE} if distance == "hierarchical" else {}}
    assert close(table, t=own, **how).satisfied
    assert close(table, original, t=promised, **how).satisfied
    # What is promised of the one is not kept by the other.
    between = (own + promised) / 2
    assert close(table, t=between, **how).satisfied == (own < promised)
    assert close(table, original, t=between, **how).satisfied == (own > promised)


VALUES = {
    "equal": st.sampled_from(["a", "b", "c"]),
    "ordered": st.sampled_from([1, 2, 4, 8]),
    "hierarchical": st.sampled_from(["flu", "cold", "ulcer", "infection"]),
}


@pytest.mark.parametrize("distance", VALUES)
@hypothesis.given(st.data())
def test_closeness_to_the_original_by_definition(distance, data):
    rows = st.tuples(st.sampled_from("xyz"), st.booleans(), VALUES[distance] | st.none())
    drawn = data.draw(st.lists(rows, min_size=1, max_size=9))
    kept = [(q, s) for q, keep, s in drawn if keep] or [drawn[0][::2]]
    kind = pl.Int64 if distance == "ordered" else pl.String
    table = pl.DataFrame(kept, schema={"q": pl.String, "s": kind}, orient="row")
    original = pl.DataFrame({"s": [s for *_, s in drawn]}, schema={"s": kind})
    parents = ABOVE if distance == "hierarchical" else None
    context = naive.Context(table=original["s"].to_list(), parents=parents)
    worst = max(
        naive.closeness([s for q, s in kept if q == name], context, distance)
        for name in {q for q, _ in kept}
    )
    how = {"distance": distance, "hierarchies": {"s": TREE} if parents else {}}
    if not any(original["s"].is_not_null()):
        how["types"] = {"s": "integer" if distance == "ordered" else "text"}
    assert close(table, original, t=min(worst, 1), **how).satisfied == (worst <= 1)
    if worst:
        assert not close(table, original, t=min(worst, 1) * Fraction(999, 1000), **how).satisfied


def test_a_table_may_be_its_own_reference():
    expected = wb.check(PEOPLE, principles=PRINCIPLES, **ROLES).to_dict()
    found = wb.check(PEOPLE, principles=PRINCIPLES, reference=PEOPLE, **ROLES).to_dict()
    assert found["principles"] == expected["principles"]
    added = [note for note in found["notes"] if note not in expected["notes"]]
    assert added == ["t-closeness compares with the 9 rows of the reference"]


def test_the_reference_matters_to_no_other_principle():
    others = [text for text in PRINCIPLES if "t-closeness" not in text]
    expected = wb.check(PEOPLE, principles=others, **ROLES).to_dict()
    strange = pl.DataFrame({"salary": ["much", "1000"]})
    assert wb.check(PEOPLE, principles=others, reference=strange, **ROLES).to_dict() == expected
    # Nor if t-closeness is asked for beside them, and reads the same column otherwise.
    original = PEOPLE.cast(pl.String).vstack(PEOPLE.cast(pl.String)[:1].with_columns(salary="age"))
    both = wb.check(PEOPLE, principles=PRINCIPLES, reference=original, **ROLES).to_dict()
    close_now = both["principles"].pop(3)
    assert both["principles"] == expected["principles"]
    assert close_now != wb.check(PEOPLE, principles=PRINCIPLES, **ROLES).to_dict()["principles"][3]


def test_notes_count_the_missing_values_of_the_table():
    table = pl.DataFrame({"q": ["a"] * 3, "s": [1, 2, None]})
    original = pl.concat([table, table, table])
    assert close(table, original).notes[0].startswith("s is missing in 1 of 3 rows")
    told = close(table.head(2), original).notes
    assert told == ["t-closeness compares with the 9 rows of the reference"]


@pytest.mark.parametrize("values", [[100, 9, 10, 9, 9], [None, 9, 10, 9, 9], [0.5, 9, 10, 9, None]])
def test_values_are_found_in_the_reference_whatever_their_type(constructor, values):
    original = pl.DataFrame({"q": ["a", "a", "a", "b", "b"], "s": values}, strict=False)
    expected = close(original[1:4], original).to_dict()
    assert close(original[1:4], constructor(original)).to_dict() == expected
    assert close(constructor(original[1:4]), original).to_dict() == expected
    whole = original[1:4].cast({"s": pl.Int32})
    assert close(whole, constructor(original)).to_dict() == expected


def test_other_types_are_found_in_the_reference(constructor):
    for values in (
        [dt.date(2000, 2, 28), dt.date(2000, 3, 1), dt.date(1999, 1, 1)],
        [Decimal("1.10"), Decimal("2.25"), Decimal("1.00")],
        [True, False, True],
        ["flu", "cold", "x, y"],
    ):
        original = pl.DataFrame({"q": ["a"] * 3, "s": values})
        expected = close(original[:2], original)
        assert expected.principles[0].achieved["t"] > 0
        assert close(original[:2], constructor(original)).to_dict() == expected.to_dict()


def test_categories_are_found_in_the_reference():
    original = pl.DataFrame({"q": ["a"] * 3, "s": ["flu", "cold", "ulcer"]})
    expected = close(original[1:], original).to_dict()
    kinds = [pl.String, pl.Categorical, pl.Enum(["ulcer", "cold", "flu"])]
    for one in kinds:
        for other in kinds:
            table, reference = original[1:].cast({"s": one}), original.cast({"s": other})
            assert close(table, reference).to_dict() == expected


def test_a_long_reference_from_a_file(tmp_path):
    original = pl.DataFrame({"q": ["a", "b"] * 10_000, "s": list(range(10)) * 2_000})
    original.write_csv(tmp_path / "original.csv")
    original[:15_000].write_csv(tmp_path / "table.csv")
    expected = close(original[:15_000], original).to_dict()
    assert close(tmp_path / "table.csv", tmp_path / "original.csv").to_dict() == expected


def test_a_hierarchy_by_a_rule_covers_the_reference():
    original = pl.DataFrame({"q": ["a"] * 4, "s": ["13", "14", "25", None]})
    how = {"distance": "hierarchical", "hierarchies": {"s": {"interval": 10}}}
    # 13 is 1/2 from 14, and 1 from what is another interval's, or missing.
    found = close(original[:1], original.cast({"s": pl.Int64}), **how).principles[0].achieved["t"]
    assert found == (1 / 2 + 1 + 1) / 4


@pytest.mark.parametrize("listed", [False, True])
def test_several_columns_have_a_reference(listed):
    original = pl.DataFrame({"q": ["a"] * 5, "x": [0, 1, 1, None, 0], "y": [1, 0, 1, None, 1]})
    how: dict[str, Any] = {"sensitive": ["x", "y"], "on": ["x", "y"]}
    if listed:
        both = pl.when(pl.col("x").is_not_null()).then(pl.concat_list("x", "y"))
        original, how = original.select("q", s=both), {}
    # Of the table all are (0, 1) or (1, 0), of the original 2/5 and 1/5.
    assert close(original[:2], original, **how).principles[0].achieved["t"] == 2 / 5
    # No row of the reference has both, though it has each.
    named = "'s'" if listed else r"'x\+y'"
    with pytest.raises(wb.TableError, match=f"column {named}, row 3: a value that the reference"):
        close(original[:3], original.head(2), **how)


def test_names_of_the_reference_that_look_like_patterns():
    table, original = (
        frame.rename({"q": "^q.*$", "s": "^s$"}) for frame in released(["ac", "ac"], "aa")
    )
    roles = {"quasi": "^q.*$", "sensitive": "^s$"}
    assert close(table, original, **roles).principles[0].achieved["t"] == 1 / 6


NUMBERS = pl.DataFrame({"q": ["a"] * 3, "s": [1, 2, 3]})


@pytest.mark.parametrize(
    ("values", "how", "message"),
    [
        ([1, 2, 4], {}, "column 's', row 3: a value that the reference does not have"),
        (["1", "2", "secret"], {}, "column 's', row 3: a value that the reference does not have"),
        ([1, 2, 2, 4], {"types": {"s": "text"}}, "column 's', row 3: a value that"),
        (
            ["1", "2", "3", "secret"],
            {"types": {"s": "integer"}},
            "the reference: column 's', row 4: not an integer",
        ),
        ([1.0, 2.0, 3.0, float("nan")], {}, "the reference: column 's', row 4: NaN is neither"),
        (
            [1, 2, 3, 15],
            {"hierarchies": {"s": from_parents([("1", "*"), ("2", "*"), ("3", "*")])}},
            r"the reference: column 's': 1 value is missing .*\(first in row 4\)",
        ),
        ([[1], [2], [3]], {}, "column 's' has different types in the table and the reference"),
    ],
)
def test_refused_references(values, how, message):
    with pytest.raises(wb.WideberthError, match=message) as error:
        close(NUMBERS, pl.DataFrame({"s": values}, strict=False), **how)
    assert "secret" not in str(error.value)


def test_missing_values_that_the_reference_does_not_have():
    table = NUMBERS.with_columns(s=pl.Series([1, None, 3]))
    with pytest.raises(wb.TableError, match="column 's', row 2: a value") as error:
        close(table, NUMBERS)
    assert error.value.hint == "the reference must be the table that the release was made from"


def test_what_is_wrong_in_the_table_is_not_told_of_the_reference():
    table = NUMBERS.with_columns(s=pl.Series(["1", "x", "3"]))
    with pytest.raises(wb.TableError, match=r"^column 's', row 2: not an integer"):
        close(table, table, types={"s": "integer"})


def test_lists_of_another_length_in_the_reference():
    lists = pl.DataFrame({"q": ["a", "a"], "s": [[1, 2], [3, 4]]})
    with pytest.raises(wb.TableError, match="different types in the table and the reference"):
        close(lists, pl.DataFrame({"s": [[1, 2, 0], [3, 4, 0]]}))


def test_a_reference_without_the_column():
    with pytest.raises(wb.TableError, match="the reference has no column 's'"):
        close(NUMBERS, NUMBERS.drop("s"))
    with pytest.raises(wb.TableError, match="got list"):
        close(NUMBERS, [1, 2, 3])


# Policies.


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    path = tmp_path / "rules" / "policy.toml"
    path.write_text(
        """
        [roles]
        identifier = ["name"]
        quasi = ["age", "zip"]
        sensitive = ["disease", "salary"]
        insensitive = ["visits"]
        [[principle]]
        name = "distinct-l"
        on = "disease"
        l = 2
        [[principle]]
        name = "epsilon-m"
        on = "salary"
        epsilon = "10%"
        m = 2
        """
    )
    return path


def test_policy_as_path_text_and_object(policy):
    expected = wb.check(PEOPLE, principles=["distinct-l:on=disease,l=2", PRINCIPLES[5]], **ROLES)
    for given in (policy, str(policy), wb.Policy.load(policy)):
        assert wb.check(PEOPLE, policy=given).to_dict() == expected.to_dict()


def test_a_policy_fits_the_original_and_the_release(policy):
    original = PEOPLE.with_columns(name=pl.lit("x"), visits=pl.lit(1))
    assert wb.check(original, policy=policy).to_dict() == wb.check(PEOPLE, policy=policy).to_dict()


def test_a_release_may_have_a_column_of_groups(policy):
    release = PEOPLE.with_columns(group=pl.lit(1))
    assert wb.check(release, policy=policy, group="group").groups == 1
    with pytest.raises(wb.PolicyError, match="column 'group' has no role"):
        wb.check(release, policy=policy)


def test_a_release_may_not_lack_what_is_to_be_checked(policy):
    with pytest.raises(wb.PolicyError, match="the table has no column 'salary'"):
        wb.check(PEOPLE.drop("salary"), policy=policy)


def test_arguments_go_before_the_policy(policy):
    result = wb.check(PEOPLE, policy=policy, quasi="zip", principles="k-anonymity:k=3")
    assert [p.principle for p in result.principles] == [wb.KAnonymity(k=3)]
    assert list(result.principles[0].worst[0].values) == ["zip"]


def test_a_mistake_of_the_policy_is_a_policy_error(policy):
    policy.write_text(policy.read_text().replace('on = "disease"', 'on = "zip"'))
    with pytest.raises(wb.PolicyError, match="'zip' is no sensitive attribute"):
        wb.check(PEOPLE, policy=policy)


# The result.


@pytest.mark.parametrize("worst", [0, 1, 2, 10])
def test_worst(worst):
    result = wb.check(PEOPLE, principles="k-anonymity:k=3", worst=worst, **ROLES)
    sizes = [group.rows for group in result.principles[0].worst]
    assert sizes == [2, 3, 4][:worst]
    assert result.principles[0].violating_groups == 1


def test_the_worst_groups_come_first():
    table = pl.DataFrame({"zip": list("aabbbcccc"), "s": [1, 1, 1, 1, 2, 1, 2, 3, 4]})
    result = wb.check(table, quasi="zip", sensitive="s", principles="frequency-l:l=2")
    assert [g.values["zip"] for g in result.principles[0].worst] == ["a", "b", "c"]
    assert [g.achieved["l"] for g in result.principles[0].worst] == [1, 1.5, 4]


def test_a_result_is_as_true_as_the_table_is_safe():
    assert wb.check(PEOPLE, principles="k-anonymity:k=2", **ROLES)
    assert not wb.check(PEOPLE, principles=["k-anonymity:k=2", "k-anonymity:k=3"], **ROLES)


def test_a_single_row():
    result = wb.check(PEOPLE.head(1), principles=["k-anonymity:k=1", PRINCIPLES[1]], **ROLES)
    assert (result.rows, result.groups) == (1, 1)
    assert [p.satisfied for p in result.principles] == [True, False]


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_every_principle_is_read_as_it_is_written(cls):
    principle = parse(cls.example)
    assert type(principle) is cls
    assert parse(str(principle)) == principle


@pytest.mark.parametrize(
    "text",
    [
        "epsilon-m:epsilon=10%,m=4",
        "epsilon-m:e1=20,e2=10000,m=2",
        "delta-l:delta=0.5,l=4/3",
        "recursive-cl:c=0.1,l=2,required=flu|cancer,c2=5",
        "frequency-l:l=2.7182818284590451",
    ],
)
def test_a_principle_is_read_as_it_is_written(text):
    principle = parse(text)
    assert parse(str(principle)) == principle


# What cannot be.


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"principles": []}, wb.ParameterError, "no principle"),
        ({"principles": "k-anonymity:k=2", "quasi": []}, wb.ParameterError, "quasi-identifiers"),
        ({"principles": "distinct-l:l=2"}, wb.ParameterError, "which sensitive attribute"),
        ({"principles": "distinct-l:on=zip,l=2"}, wb.ParameterError, "'zip' is no sensitive"),
        ({"principles": "delta-presence:delta_max=1"}, wb.ParameterError, "population"),
        ({"principles": "k-anonymity:k=2", "types": {"x": "text"}}, wb.TableError, "'x'"),
        ({"principles": "k-anonymity:k=2", "types": {"zip": "x"}}, wb.ParameterError, "'x'"),
        ({"principles": "k-anonymity:k=2", "hierarchies": {"x": "y"}}, wb.TableError, "'x'"),
        ({"principles": "k-anonymity:k=2", "group": "x"}, wb.TableError, "'x'"),
        ({"principles": "k-anonymity:k=2", "sensitive": "zip"}, wb.TableError, "both"),
    ],
)
def test_refused(how, error, message):
    with pytest.raises(error, match=message):
        wb.check(PEOPLE, **(ROLES | how))


def test_what_is_no_table():
    with pytest.raises(wb.TableError, match="got list"):
        wb.check([1, 2], quasi="a", principles="k-anonymity:k=2")


# ---- groups by ids must be uniform


def put_back() -> pl.DataFrame:
    """A release of nine people in groups of three, with exact ages put back in one group."""
    return pl.DataFrame(
        {
            "group": [1, 1, 1, 2, 2, 2, 3, 3, 3],
            "age": ["20..29", "20..29", "20..29", "31", "35", "38", "40..49", "40..49", "40..49"],
            "sex": ["*", "*", "*", "f", "f", "f", None, None, "m"],
            "ill": list("abcabcabc"),
        }
    )


def test_a_group_with_different_labels_is_no_group():
    known = {"quasi": ["age", "sex"], "sensitive": "ill", "principles": "k-anonymity:k=3"}
    result = wb.check(put_back(), group="group", **known)
    assert [report.satisfied for report in result.principles] == [True]
    assert not result.satisfied
    assert not result
    assert result.uneven.to_dict() == {"groups": 2, "rows": 6, "columns": ["age", "sex"]}
    assert result.to_dict()["uneven"] == {"groups": 2, "rows": 6, "columns": ["age", "sex"]}
    assert "2 groups are not uniform" in str(result)
    assert "2 groups are not uniform" in result._repr_html_()
    for said in (str(result), result._repr_html_()):
        assert "31" not in said
    # By age alone one group, without quasi-identifiers nothing can be said.
    assert wb.check(put_back(), group="group", **{**known, "quasi": "age"}).uneven.groups == 1
    silent = wb.check(put_back(), group="group", **{**known, "quasi": None})
    assert silent.satisfied
    assert "no quasi-identifiers are given" in " ".join(silent.notes)


def test_groups_that_are_uniform_stay_satisfied():
    table = put_back().filter(pl.col("group") == 1)
    result = wb.check(
        table, group="group", quasi=["age", "sex"], sensitive="ill", principles="k-anonymity:k=3"
    )
    assert result
    assert result.to_dict()["uneven"] is None


@pytest.mark.parametrize(
    "how",
    [
        {"principles": "epsilon-m:epsilon=5,m=2"},
        {"principles": "epsilon-m:epsilon=5,m=2", "recoding": "bounds"},
        {"principles": "distinct-l:l=2", "cuts": "paper"},
        {
            "principles": "k-anonymity:k=3",
            "algorithm": "lattice",
            "hierarchies": {"age": {"interval": [10, 20]}, "sex": {"flat": True}},
        },
        {"principles": "frequency-l:l=2", "algorithm": "anatomy"},
        {"principles": "frequency-l:l=3", "suppression_limit": 0.2},
    ],
    ids=str,
)
def test_releases_of_ours_are_uniform(how):
    rng = np.random.default_rng(1)
    people = pl.DataFrame(
        {
            "age": [None, *rng.integers(20, 60, 59).tolist()],
            "sex": rng.choice(["f", "m"], 60),
            "pay": rng.integers(0, 100, 60),
            "town": rng.choice(["a", "b", "c"], 60),
        }
    )
    release = wb.anonymize(
        people,
        quasi=["age", "sex"],
        sensitive="pay",
        identifier="town" if how.get("algorithm") == "anatomy" else [],
        insensitive=[] if how.get("algorithm") == "anatomy" else "town",
        seed=1,
        **how,
    )
    assert release.check()
    assert release.check().uneven is None
    found = wb.audit(release, original=people, swaps=False).findings
    assert "uneven-groups" not in [finding.name for finding in found]


# ---- values that look the same


def test_values_that_look_the_same_are_noticed(tmp_path):
    """White space around them, upper and lower case, and the encoding of accents count."""
    ills = ["flu", "flu ", "Flu", "caf\u00e9", "cafe\u0301", "gout"]
    table = pl.DataFrame({"zip": ["1"] * 6, "ill": ills})
    known = {"quasi": "zip", "sensitive": "ill"}
    result = wb.check(table, **known, principles=["distinct-l:l=2", "frequency-l:l=2"])
    [note] = result.notes
    assert note.startswith("ill has 4 pairs of values that look the same")
    assert "flu" not in note
    assert note in wb.audit(table, **known).notes
    table.write_parquet(path := tmp_path / "t.parquet")
    pytest.importorskip("duckdb")
    assert wb.check(path, **known, principles="distinct-l:l=2", memory="512MB").notes == [note]
    people = pl.DataFrame({"age": range(12), "ill": ills * 2})
    release = wb.anonymize(
        people, quasi="age", sensitive="ill", principles="distinct-l:l=2", seed=1
    )
    assert note in release.check().notes
    codes = pl.DataFrame({"zip": ["1"] * 4, "ill": ["07", "7", "007", "10"]})
    [note] = wb.check(codes, **known, principles="distinct-l:l=2").notes
    assert note.startswith("ill has 3 pairs of values that look the same")
    for numbers in ([1, 2, 3], ["0.5", "00.6", "100"], ["01234", "12340"]):
        table = pl.DataFrame({"zip": ["1"] * len(numbers), "ill": numbers})
        assert not wb.check(table, **known, principles="distinct-l:l=2").notes


WAYS = pl.DataFrame(
    {
        "weight": ["1.1", "1.10", "2", "+2.0", " 2 ", None, "30"],
        "born": ["2020-01-05", "2020-01-05 ", *["2020-01-06"] * 5],
        "code": ["1e1", "10", "a", "a", "a", "a", "a"],
        "s": list("aabbccc"),
    }
)


@pytest.mark.parametrize("memory", [None, "512MB"])
def test_quasi_identifiers_in_text_are_read_as_numbers(tmp_path: Path, memory: str | None) -> None:
    """As `anonymize` reads them: 1.1 and 1.10 are one value, unless the type is text."""
    path = tmp_path / "table.csv"
    WAYS.write_csv(path)
    asked: dict[str, Any] = {"sensitive": "s", "principles": "k-anonymity:k=2", "memory": memory}
    found = wb.check(path, quasi="weight", **asked)
    groups = [(g.values["weight"], g.rows) for g in found.principles[0].worst]
    assert groups == [("30", 1), (None, 1), ("1.1", 2), ("2", 3)]
    (note,) = found.notes
    assert note.startswith("weight has numbers or dates that are written in several ways")
    listed = found.table
    assert listed["weight"].to_list() == ["1.1", "2", "30", None]
    as_text = wb.check(path, quasi="weight", types={"weight": "text"}, **asked)
    assert as_text.groups == 7
    assert all("look the same" in note for note in as_text.notes)  # 30 and 30 with a blank
    assert wb.check(path, quasi="born", **asked).groups == 2
    assert wb.check(path, quasi="code", **asked).groups == 3  # not all of them are numbers
    rule = {"weight": {"flat": True}}
    assert wb.check(path, quasi="weight", hierarchies=rule, **asked).groups == 7


def test_all_verbs_read_quasi_identifiers_alike(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    WAYS.select(pl.col("weight").fill_null("30"), "s").write_csv(path)
    asked: dict[str, Any] = {"quasi": "weight", "sensitive": "s"}
    k = wb.check(path, **asked, principles="k-anonymity:k=1").principles[0].achieved["k"]
    assert k == 2
    for algorithm in ("mondrian", "lattice"):
        trees = {"weight": {"interval": [5]}} if algorithm == "lattice" else {}
        release = wb.anonymize(
            path,
            **asked,
            principles=["k-anonymity:k=2"],
            algorithm=algorithm,
            hierarchies=trees,
            seed=1,
        )
        assert release.manifest["groups"] == 3
    assert wb.measure(path, **asked).to_dict()["groups"] == 3
    audit = wb.audit(path, **asked).to_dict()
    assert audit["groups"] == 3
    assert "written in several ways" in " ".join(audit["notes"])


DAY = dt.date(2024, 3, 5)


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        (pl.Series(["30", "31"]), pl.Series([30, 31])),
        (pl.Series([30, 31]), pl.Series([30.0, 31.0])),
        (pl.Series([Decimal(30), Decimal("0.5")]), pl.Series([30.0, 0.5])),
        (pl.Series(["30.0", "31.50"]), pl.Series([30.0, 31.5])),
        (pl.Series(["30", "31.5"]), pl.Series([Decimal("30.00"), Decimal("31.50")])),
        (pl.Series([30.0, 31.5]), pl.Series([Decimal("30.00"), Decimal("31.50")])),
        (pl.Series(["30", "31"]), pl.Series(["30.0", "+31"])),
        (pl.Series([0.5, 30.0], dtype=pl.Float32), pl.Series(["0.50", "3e1"])),
        (pl.Series([str(2**53 + 1)]), pl.Series([2**53 + 1])),
        (pl.Series(["yes", "no"]), pl.Series([True, False])),
        (pl.Series(["05.03.2024"]), pl.Series([DAY])),
        (pl.Series([DAY]), pl.Series([dt.datetime(2024, 3, 5)])),
        (pl.Series(["2024-03-05"]), pl.Series([dt.datetime(2024, 3, 5)])),
        (
            pl.Series([dt.datetime(2024, 3, 5, 12)], dtype=pl.Datetime("ns")),
            pl.Series([dt.datetime(2024, 3, 5, 12)], dtype=pl.Datetime("ms")),
        ),
        (pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])), pl.Series(["a", "b"])),
        (pl.Series(["30"], dtype=pl.Categorical), pl.Series([30])),
    ],
    ids=str,
)
def test_a_population_matches_equal_values_of_other_types(own, theirs):
    """As text is read elsewhere: 30, 30.0 and "30" are one value, a date is its midnight."""
    for table, people in ((own, theirs), (theirs, own)):
        population = pl.concat([people, people]).to_frame("q")
        result = wb.check(
            table.to_frame("q"),
            quasi="q",
            principles="delta-presence:delta_min=0.5,delta_max=0.5",
            population=population,
        )
        assert result.satisfied
        assert result.notes == []


@pytest.mark.parametrize("own", ["2024-03-05 00:00:00", "2024-03-05T00:00:00.000"])
@pytest.mark.parametrize("theirs", [DAY, dt.datetime(2024, 3, 5)])
def test_a_population_matches_moments_as_text(own, theirs):
    """They are asked about, as all dates with a time in text; until then, midnight is a date."""
    text, typed = pl.DataFrame({"q": [own]}), pl.DataFrame({"q": [theirs]})
    asked = {"quasi": "q", "principles": "delta-presence:delta_min=1,delta_max=1"}
    assert wb.check(text, **asked, population=typed).satisfied
    assert wb.check(typed, **asked, population=text).satisfied
    half, moment = "2024-03-05T12:30:00.5", dt.datetime(2024, 3, 5, 12, 30, 0, 500_000)
    population = pl.DataFrame({"q": [moment]})
    assert wb.check(pl.DataFrame({"q": [half]}), **asked, population=population).satisfied


def test_text_that_is_said_to_be_text_matches_no_number():
    table, population = pl.DataFrame({"q": ["30.0"]}), pl.DataFrame({"q": [30]})
    asked = {"quasi": "q", "principles": "delta-presence:delta_max=1", "population": population}
    assert wb.check(table, **asked).notes == []
    assert wb.check(table, **asked, types={"q": "text"}).notes != []


SCALE = ["low", "mid", "high", "top"]  # alphabetically: high low mid top
PAIRS = ["low", "low", "mid", "mid", "high", "high", "top", "top"]
ORDERED = {
    "polars": lambda values: pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum([*SCALE, "-"]))}),
    "pandas": lambda values: pd.DataFrame(
        {"x": pd.Categorical(values, [*SCALE, "-"], ordered=True)}
    ),
    "pyarrow": lambda values: pa.table(
        {
            "x": pa.DictionaryArray.from_arrays(
                [SCALE.index(value) for value in values], SCALE, ordered=True
            )
        }
    ),
}


@pytest.mark.parametrize("kind", ORDERED)
def test_ordered_categories_keep_their_order(kind):
    """As quasi-identifiers they are cut in it, as sensitive values moved along it."""
    table = io.adopt(ORDERED[kind](PAIRS))[0]
    people = table.with_columns(s=pl.Series(["a", "b"] * 4))
    release = wb.anonymize(people, quasi="x", sensitive="s", principles="k-anonymity:k=4", seed=1)
    assert set(release.table["x"]) == {"{low|mid}", "{high|top}"}
    sensitive = table.with_columns(q=pl.Series([1, 1, 2, 2, 1, 1, 2, 2]))
    ranks = sensitive.with_columns(x=pl.Series([SCALE.index(value) for value in PAIRS]))
    asked = {"quasi": "q", "sensitive": "x", "principles": "t-closeness:t=0.1,distance=ordered"}
    found, expected = (
        wb.check(frame, **asked).principles[0].achieved for frame in (sensitive, ranks)
    )
    assert found == expected
    plain = sensitive.with_columns(pl.col("x").cast(pl.String))
    with pytest.raises(wb.ParameterError, match="has no order"):
        wb.check(plain, **asked)


@pytest.mark.parametrize("memory", [None, "512MB"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_ordered_categories_of_files_keep_their_order(tmp_path, kind, suffix, memory):
    """polars reads them as categories without an order; pyarrow knows it."""
    made = ORDERED[kind](PAIRS)
    table = pa.Table.from_pandas(made) if kind == "pandas" else made
    table = table.append_column("q", pa.array([1, 1, 2, 2, 1, 1, 2, 2]))
    path = tmp_path / f"table.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, path, row_group_size=3)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=3)
    principle = "t-closeness:t=0.1,distance=ordered"
    asked = {"quasi": "q", "sensitive": "x", "principles": principle}
    (of_file,) = wb.check(path, **asked, memory=memory).principles
    (of_frame,) = wb.check(
        made.assign(q=[1, 1, 2, 2] * 2) if kind == "pandas" else table, **asked
    ).principles
    assert of_file.achieved == of_frame.achieved
    groups = wb.check(path, quasi="x", principles="k-anonymity:k=2", memory=memory).table
    assert groups["x"].to_list() == SCALE


def test_categories_that_differ_within_a_file_have_no_order(tmp_path):
    low, high = (
        pa.table({"x": pa.DictionaryArray.from_arrays([0, 0, 1, 1], names, ordered=True)})
        for names in (["low", "mid"], ["mid", "high"])
    )
    with pq.ParquetWriter(tmp_path / "table.parquet", low.schema) as file:
        file.write_table(low)
        file.write_table(high)
    assert io.read(tmp_path / "table.parquet")["x"].dtype == pl.Categorical
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, table in (("a", low), ("b", high)):
        pq.write_table(table, folder / f"{name}.parquet")
    assert wb.check(folder, quasi="x", principles="k-anonymity:k=2", memory="512MB").satisfied


def test_groups_of_ordered_categories_come_in_their_order(tmp_path):
    table = pl.DataFrame({"x": pl.Series(PAIRS, dtype=pl.Enum(SCALE)), "s": list("abababab")})
    table.write_parquet(tmp_path / "table.parquet")
    asked = {"quasi": "x", "sensitive": "s", "principles": "k-anonymity:k=2"}
    for memory in (None, "512MB"):
        listed = wb.check(tmp_path / "table.parquet", **asked, memory=memory).table
        assert listed["x"].to_list() == SCALE


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York", "UTC", None])
def test_the_first_and_the_last_day_in_any_zone(zone: str | None) -> None:
    """9999-12-31 often stands for "never": it is within the years 1 to 9999."""
    for day in (dt.datetime(9999, 12, 31, 12), dt.datetime(1, 1, 1, 12)):
        days = pl.Series([day] * 3).dt.replace_time_zone(zone)
        table = pl.DataFrame({"day": days, "ill": ["a", "b", "c"]})
        asked = {"quasi": "day", "sensitive": "ill", "principles": "k-anonymity:k=3"}
        assert wb.check(table, **asked).satisfied
    beyond = pl.Series([dt.datetime(9999, 12, 31, 23)]).dt.replace_time_zone("UTC")
    table = pl.DataFrame({"day": beyond.dt.convert_time_zone("Asia/Tokyo"), "ill": ["a"]})
    with pytest.raises(wb.TableError, match="outside the years 1 to 9999"):
        wb.check(table, quasi="day", sensitive="ill", principles="k-anonymity:k=1")


def test_one_table_is_no_anatomy_because_a_policy_says_so(tmp_path: Path) -> None:
    """Exact ages beside each person's own value: groups of ids alone do not protect them."""
    table = pl.DataFrame({"group": [1, 1, 2, 2], "age": [20, 21, 30, 31], "ill": list("abab")})
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[roles]\nquasi = ["age"]\nsensitive = ["ill"]\n[transform]\nalgorithm = "anatomy"\n'
        '[[principle]]\nname = "distinct-l"\nl = 2\n'
    )
    result = wb.check(table, policy=policy, group="group")
    assert not result.satisfied
    assert result.uneven is not None
    assert result.uneven.columns == ["age"]


@pytest.mark.parametrize("label", [math.nan, math.inf, [1, 2], [1]])
def test_labels_of_groups_may_be_anything(label: object) -> None:
    other = [3] if isinstance(label, list) else 3.0
    asked = {"quasi": "q", "sensitive": "ill", "group": "g", "principles": "k-anonymity:k=2"}
    rest = {"g": [1, 1, 2, 2], "ill": list("abab")}
    alike = pl.DataFrame({"q": [label, label, other, other], **rest}, strict=False)
    assert wb.check(alike, **asked).satisfied
    mixed = pl.DataFrame({"q": [label, other, other, other], **rest}, strict=False)
    assert not wb.check(mixed, **asked).satisfied


def test_dates_in_a_principle_match_moments() -> None:
    """A date is the moment at which it begins, also where a principle names it."""
    days = [dt.datetime(2024, 3, 5)] * 3 + [dt.datetime(2024, 3, 6)]
    table = pl.DataFrame({"q": [1] * 4, "day": days})
    asked = {"quasi": "q", "sensitive": "day"}
    strict = "recursive-cl:c=1,l=2"
    assert not wb.check(table, **asked, principles=strict).satisfied
    assert wb.check(table, **asked, principles=f"{strict},allowed=2024-03-05").satisfied
    # Of 4 rows, 3 hold the required day: it must be found to count them.
    for share, fine in ((75, True), (76, False)):
        required = f"recursive-cl:c=9,l=1,required=2024-03-05,c2={share}"
        for form in (table, table.with_columns(pl.col("day").dt.date())):
            result = wb.check(form, **asked, principles=required)
            assert result.satisfied is fine
            assert not result.notes
