"""`anonymize` as a library: what comes out covers what went in, and nothing else gets out."""

from __future__ import annotations

import datetime as dt
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from wideberth.algorithms.mondrian import split
from wideberth.algorithms.mondrian.arrangement import boxes_of
from wideberth.core.groups import Partition
from wideberth.datasets import census
from wideberth.policy import settings as transform
from wideberth.release import anonymize

PEOPLE = pl.DataFrame(
    {
        "name": [f"p{i}" for i in range(24)],
        "visits": [i % 5 for i in range(24)],
        "age": [20 + 3 * i % 40 for i in range(24)],
        "zip": [f"{13000 + 7 * i % 50}" for i in range(24)],
        "born": [dt.date(1960 + i, 1 + i % 12, 1 + i) for i in range(24)],
        "weight": [60.5 + i for i in range(24)],
        "sex": ["m", "f", "f"] * 8,
        "disease": ["flu", "ulcer", None, "cancer"] * 6,
        "salary": [1000 * (1 + 7 * i % 24) for i in range(24)],
    }
)
ROLES: dict[str, Any] = {
    "identifier": "name",
    "quasi": ["age", "zip", "born", "weight", "sex"],
    "sensitive": ["disease", "salary"],
    "insensitive": ["visits"],
}
MONOTONE = ["k-anonymity:k=3", "frequency-l:on=disease,l=2"]
PROXIMITY = ["k-anonymity:k=3", "epsilon-m:on=salary,epsilon=2500,m=3"]
HOW: dict[str, Any] = {"principles": PROXIMITY, **ROLES}


def by_thirds(quasis: Any, demands: Any, *, rng: Any, **_: Any) -> split.SplitResult:
    """Make three groups by the first quasi-identifier, whatever is demanded."""
    codes = quasis[0].codes
    labels = np.empty(len(codes), dtype=np.int32)
    labels[np.argsort(codes, kind="stable")] = np.arange(len(codes)) * 3 // len(codes)
    partition = Partition(labels, 3)
    boxes = boxes_of(partition, [quasi.codes for quasi in quasis])
    return split.SplitResult(partition, boxes, 3, None)


@pytest.fixture
def thirds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anonymize, "split", by_thirds)


# The kind of table.

KINDS: dict[str, Any] = {
    "polars": lambda frame, _: frame,
    "lazy": lambda frame, _: frame.lazy(),
    "pandas": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas-arrow": lambda frame, _: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame, _: frame.to_arrow(),
    "parquet": lambda frame, folder: write(frame, folder / "people.parquet"),
    "csv": lambda frame, folder: write(frame, folder / "people.csv"),
}


def write(frame: pl.DataFrame, path: Path) -> Path:
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)
    return path


def names(table: Any) -> list[str]:
    return table.column_names if isinstance(table, pa.Table) else list(table.columns)


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_table_stays(kind, tmp_path):
    table = KINDS[kind](PEOPLE, tmp_path)
    release = wb.anonymize(table, seed=1, **HOW)
    eager = isinstance(table, pd.DataFrame | pa.Table)
    assert type(release.table) is (type(table) if eager else pl.DataFrame)
    columns = [*PEOPLE.columns[1:], "group"]
    assert names(release.table) == columns
    assert release.check().satisfied
    expected = wb.anonymize(PEOPLE, seed=1, **HOW).table
    found = pl.DataFrame(release.table)
    for column in columns:
        assert found[column].cast(pl.String).to_list() == expected[column].cast(pl.String).to_list()


@pytest.mark.parametrize("kind", ["polars", "pandas", "pandas-arrow", "pyarrow"])
def test_types_of_what_is_published_as_it_is_stay(kind, tmp_path):
    frame = PEOPLE.with_columns(
        salary=pl.col("salary").cast(pl.Int16),
        disease=pl.col("disease").cast(pl.Categorical),
        visits=pl.lit(dt.datetime(2024, 1, 1)),
    )
    table = KINDS[kind](frame, tmp_path)
    release = wb.anonymize(table, **HOW)
    for column in ("salary", "disease", "visits"):
        if kind == "pyarrow":
            assert release.table.schema.field(column).type == table.schema.field(column).type
        elif kind == "polars" and column == "disease":  # in categories of its own
            assert isinstance(release.table[column].dtype, pl.Categorical)
        else:
            assert release.table[column].dtype == table[column].dtype


def test_no_index_and_no_metadata_gets_out():
    table = PEOPLE.to_pandas().set_index(pd.Index([f"secret {i}" for i in range(24)], name="who"))
    table.attrs["source"] = "secret"
    release = wb.anonymize(table, **HOW)
    assert isinstance(release.table.index, pd.RangeIndex)
    assert release.table.index.name is None
    assert release.table.attrs == {}
    arrow = PEOPLE.to_arrow().replace_schema_metadata({"who": "secret"})
    assert not wb.anonymize(arrow, **HOW).table.schema.metadata


@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "csv"])
def test_odd_names(kind, tmp_path):
    frame = pl.DataFrame({"^a.*$": [1, 2], "ab": ["x", "y"], "*": ["p", "q"], "new\nline": [1, 2]})
    release = wb.anonymize(
        KINDS[kind](frame, tmp_path),
        quasi=["^a.*$", "ab"],
        sensitive="*",
        insensitive="new\nline",
        principles="distinct-l:l=2",
    )
    assert names(release.table) == frame.columns
    release.save(tmp_path / "release.csv")


@pytest.mark.parametrize(
    ("series", "align", "expected"),
    [
        (pl.Series([2**100, 1], dtype=pl.Int128), None, f"1..{2**100}"),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), None, f"1..{2**64 - 1}"),
        (pl.Series([2**64 - 1, 1], dtype=pl.UInt64), 10, "0..18446744073709551619"),
        (pl.Series([1e308, -1e308]), None, "-1e+308..1e+308"),
        (pl.Series([dt.time(1), dt.time(2)]), None, "{01:00:00|02:00:00}"),
        (pl.Series(["u", "v"], dtype=pl.Enum(["v", "u"])), None, "{v|u}"),
        (pl.Series(["x or missing", None]), None, "x or missing or missing"),
        (pl.Series(["", "a\nb"]), None, '{|"a\nb"}'),
        (pl.Series([dt.date(1, 1, 1), dt.date(9999, 12, 31)]), "year", "0001-01-01..9999-12-31"),
    ],
    ids=str,
)
def test_odd_values(series, align, expected):
    release = wb.anonymize(
        pl.DataFrame({"q": series}),
        quasi="q",
        principles="k-anonymity:k=2",
        align=None if align is None else {"q": align},
    )
    assert release.table["q"].to_list() == [expected] * 2


def test_a_release_of_quasi_identifiers_alone():
    table = pd.DataFrame({"age": [1, 2, 3]}, index=[7, 8, 9])
    release = wb.anonymize(table, quasi="age", principles="k-anonymity:k=3")
    assert release.table["age"].tolist() == ["1..3"] * 3
    assert release.table.index.tolist() == [0, 1, 2]


# What is published.


@pytest.mark.usefixtures("thirds")
def test_groups_are_published_with_what_covers_them():
    release = wb.anonymize(PEOPLE, principles=MONOTONE, **ROLES)
    ages = sorted(PEOPLE["age"])
    spans = {f"{ages[i]}..{ages[i + 7]}" for i in (0, 8, 16)}
    assert Counter(release.table["age"]) == dict.fromkeys(spans, 8)
    assert "group" not in release.table.columns
    assert set(release.table["sex"]) <= {"{f|m}", "f", "m"}


def test_a_column_that_nobody_recognizes_is_named_if_it_is_published_exactly():
    table = pl.DataFrame(
        {
            "age": [21, 34, 25, 38],
            "pay": [10, 90, 50, 30],
            "kz7": ["a", "a", "b", "c"],
            "region": ["n", "n", "s", "s"],
            "unit": ["x"] * 4,
        }
    )
    how = {"quasi": "age", "sensitive": "pay", "principles": "distinct-l:l=2"}
    harmless = ["kz7", "region", "unit"]
    cautions = wb.anonymize(table, **how, insensitive=harmless).manifest["warnings"]
    [caution] = [one for one in cautions if "make sure that it is harmless" in one]
    assert caution.startswith("'kz7' is published exactly")
    without = wb.anonymize(table.drop("kz7"), **how, insensitive=harmless[1:])
    assert not any("harmless" in one for one in without.manifest["warnings"])


@pytest.mark.parametrize("principles", [MONOTONE, PROXIMITY])
def test_sensitive_and_insensitive_values_are_untouched(principles):
    release = wb.anonymize(PEOPLE, principles=principles, **ROLES)
    columns = ["visits", "disease", "salary"]
    assert Counter(release.table.select(columns).rows()) == Counter(PEOPLE.select(columns).rows())


def test_text_stays_as_it_is_written(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;pay;note\n21;01.50; x \n34;2.5e3;?\n25;1;y\n")
    release = wb.anonymize(
        path, quasi="age", sensitive="pay", insensitive="note", principles="distinct-l:l=3"
    )
    assert Counter(release.table.rows()) == Counter(
        [("21..34", "01.50", " x "), ("21..34", "2.5e3", None), ("21..34", "1", "y")]
    )


def test_quasi_identifiers_look_as_they_did(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("member,zip,score,code\nyes,01234,1.50,1.10\nno,01299,2.25,1.1\n")
    release = wb.anonymize(
        path,
        quasi=["member", "zip", "score", "code"],
        principles="k-anonymity:k=2",
        hierarchies={"zip": {"mask": 5}, "code": {"mask": 4}},
    )
    assert set(release.table.rows()) == {("{no|yes}", "012**", "1.50..2.25", "*")}


def test_whole_floats_are_written_whole():
    table = pd.DataFrame({"age": [21, None, 34], "score": [1.0, 2.0, 2.5]})  # floats, to pandas
    release = wb.anonymize(table, quasi=["age", "score"], principles="k-anonymity:k=3")
    assert release.table.iloc[0].tolist() == ["21..34 or missing", "1..2.5"]
    typed = wb.anonymize(
        table,
        quasi=["age", "score"],
        principles="k-anonymity:k=3",
        types={"age": "float"},
        align={"age": 0.5},
    )
    assert typed.table.iloc[0, 0] == "21..34.5 or missing"


def test_hierarchies_files_and_grids(tmp_path):
    (tmp_path / "sex.csv").write_text("f;person\nm;person\n")
    release = wb.anonymize(
        PEOPLE,
        hierarchies={"sex": tmp_path / "sex.csv", "zip": {"mask": 5}, "age": {"interval": 100}},
        align={"born": "year", "weight": 10},
        **HOW,
    )
    row = release.table.row(0, named=True)
    assert (row["zip"][:3], row["age"]) == ("130", "0-99")
    assert row["sex"] in ("f", "m", "person")
    assert row["born"].endswith("-12-31")
    assert release.manifest["transform"]["align"] == {"born": "year", "weight": 10}


def test_bounds():
    release = wb.anonymize(PEOPLE, recoding={"age": "bounds", "born": "bounds"}, **HOW)
    assert release.table.columns[1:4] == ["age_min", "age_max", "age_missing"]
    assert release.table.schema["born_max"] == pl.Date
    assert release.check()


# Groups.


def test_a_non_monotone_principle_publishes_group_ids():
    release = wb.anonymize(PEOPLE, **HOW)
    assert release.table.columns[-1] == "group"
    assert sorted(set(release.table["group"])) == list(range(1, release.manifest["groups"] + 1))
    named = wb.anonymize(PEOPLE, group="cell", **HOW)
    assert named.table.columns[-1] == "cell"
    assert named.check()
    assert named.manifest["group"] == "cell"


def test_group_ids_on_request_only_for_monotone_principles():
    for group, expected in (
        (None, "salary"),
        ("auto", "salary"),
        (False, "salary"),
        (True, "group"),
    ):
        release = wb.anonymize(PEOPLE, principles=MONOTONE, group=group, **ROLES)
        assert release.table.columns[-1] == expected


@pytest.mark.usefixtures("thirds")
def test_groups_are_numbered_in_random_order():
    how = {"principles": "k-anonymity:k=2", "group": True, **ROLES}
    orders = set()
    for seed in range(40):
        table = wb.anonymize(PEOPLE, seed=seed, **how).table
        orders.add(tuple(table.unique(["age", "group"]).sort("age")["group"]))
    assert len(orders) == 6


# Randomness.


def test_a_seed_makes_it_repeatable():
    one, two, other = (wb.anonymize(PEOPLE, seed=seed, **HOW) for seed in (7, 7, 8))
    assert one.table.equals(two.table)
    assert not one.table.equals(other.table)
    assert not wb.anonymize(PEOPLE, **HOW).table.equals(wb.anonymize(PEOPLE, **HOW).table)


@pytest.mark.usefixtures("thirds")
def test_the_original_order_does_not_show():
    """Over many releases, each row of a group comes first in it about equally often."""
    frame = PEOPLE.with_columns(visits=pl.arange(24, eager=True))
    first: defaultdict[str, Counter[int]] = defaultdict(Counter)
    places: Counter[int] = Counter()
    for seed in range(120):
        how = {"quasi": "age", "insensitive": "visits", "principles": "k-anonymity:k=2"}
        table = wb.anonymize(frame.select("age", "visits"), seed=seed, **how).table
        places[table["visits"][0]] += 1
        for age, row in table.unique("age", keep="first").select("age", "visits").rows():
            first[age][row] += 1
    assert len(places) > 20
    assert all(len(rows) == 8 and min(rows.values()) > 4 for rows in first.values())


# Roles and names.


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"insensitive": None}, wb.PolicyError, "column 'visits' has no role"),
        ({"quasi": ["age", "zip"]}, wb.PolicyError, "columns 'born', 'weight', 'sex' have no role"),
        ({"insensitive": ["visits", "age"]}, wb.PolicyError, "as quasi and as insensitive"),
        ({"insensitive": ["visit"]}, wb.PolicyError, "no column 'visit'"),
        ({"principles": []}, wb.ParameterError, "no principle to satisfy"),
        ({"principles": [5]}, wb.ParameterError, "object or text, not int"),
        ({"principles": "distinct-l:l=2"}, wb.ParameterError, "which sensitive attribute"),
        ({"principles": "distinct-l:on=age,l=2"}, wb.ParameterError, "no sensitive attribute"),
        ({"principles": "delta-presence:delta_max=1"}, wb.ParameterError, "only checked"),
        (
            {
                "principles": [
                    "epsilon-m:on=salary,epsilon=1,m=2",
                    "dissimilarity:on=disease,epsilon=0,delta=0.5,k=2",
                ]
            },
            wb.ParameterError,
            "epsilon-m.* and dissimilarity.* are both non-monotone",
        ),
        ({"group": False}, wb.ParameterError, "epsilon-m is non-monotone"),
        ({"group": "salary"}, wb.ParameterError, "needs a column 'salary'"),
        ({"group": "name"}, wb.ParameterError, "needs a column 'name'"),
        ({"group": " "}, wb.ParameterError, "needs a name"),
        ({"group": 1}, wb.ParameterError, "group must be a column name"),
        ({"seed": -1}, wb.ParameterError, "seed must be"),
        ({"seed": "x"}, wb.ParameterError, "seed must be"),
        ({"cuts": "worst"}, wb.ParameterError, "cuts must be one of"),
        ({"dealing": "cards"}, wb.ParameterError, "dealing must be one of"),
        ({"algorithm": "anatomy"}, wb.ParameterError, "one sensitive attribute, not 2"),
        ({"suppression_limit": 2}, wb.ParameterError, "suppression_limit must be"),
        ({"weights": {"salary": 1}}, wb.ParameterError, "'salary' is no quasi-identifier"),
        ({"weights": {"age": 0}}, wb.ParameterError, "weight of 'age' must be"),
        ({"recoding": {"age": "mean"}}, wb.ParameterError, "recoding of 'age' must be"),
        ({"align": {"age": 0}}, wb.ParameterError, "align of 'age' must be"),
        ({"types": {"age": "money"}}, wb.ParameterError, "no type 'money'"),
        ({"types": {"agee": "text"}}, wb.TableError, "no column 'agee'"),
        ({"hierarchies": {"agee": {"mask": 1}}}, wb.TableError, "no column 'agee'"),
    ],
    ids=str,
)
def test_refused(change, error, message):
    with pytest.raises(error, match=message) as refusal:
        wb.anonymize(PEOPLE, **{**HOW, **change})
    assert refusal.value.hint


def test_names_that_are_taken():
    frame = PEOPLE.rename({"visits": "age_min"})
    how = {**HOW, "insensitive": "age_min"}
    with pytest.raises(wb.ParameterError, match="needs a column 'age_min'"):
        wb.anonymize(frame, recoding="bounds", **how)
    frame = PEOPLE.rename({"visits": "group"})
    with pytest.raises(wb.ParameterError, match="needs a column 'group'"):
        wb.anonymize(frame, **{**HOW, "insensitive": "group"})


def test_there_must_be_a_quasi_identifier():
    with pytest.raises(wb.PolicyError, match="no quasi-identifier"):
        wb.anonymize(pl.DataFrame({"pay": [1, 2]}), sensitive="pay", principles="distinct-l:l=2")


def test_an_impossible_demand_is_refused():
    with pytest.raises(wb.InfeasibleError):
        wb.anonymize(PEOPLE, principles="k-anonymity:k=25", **ROLES)
    with pytest.raises(wb.InfeasibleError):
        wb.anonymize(PEOPLE, principles="epsilon-m:on=salary,epsilon=99999,m=2", **ROLES)


def test_matching_warns():
    with pytest.warns(wb.PrivacyWarning, match="matching reads quasi-identifiers") as caught:
        release = wb.anonymize(PEOPLE, dealing="matching", **HOW)
    assert caught[0].filename == __file__
    assert any("matching" in text for text in release.manifest["warnings"])


def test_the_settings_are_those_of_the_algorithm():
    assert transform.CUTS == split.CUTS
    assert transform.DEALING == split.DEALING


# Policies.


def policy(**change: Any) -> wb.Policy:
    roles = {role: [c] if isinstance(c, str) else c for role, c in ROLES.items()}
    content = {"roles": roles, "principle": [{"name": "k-anonymity", "k": 4}], **change}
    return wb.Policy.of(content)


def test_a_policy_says_everything():
    told = policy(
        transform={"cuts": "paper", "align": {"age": 10}, "weights": {"age": 2}}, group="cell"
    )
    release = wb.anonymize(PEOPLE, policy=told)
    assert release.table.columns[-1] == "cell"
    settings = release.manifest["transform"]
    assert (settings["cuts"], settings["align"], settings["weights"]) == (
        "paper",
        {"age": 10},
        {"age": 2},
    )
    assert wb.check(release.table, policy=told)


def test_arguments_go_first():
    told = policy(transform={"cuts": "paper", "align": {"age": 10}})
    release = wb.anonymize(
        PEOPLE, policy=told, principles="k-anonymity:k=2", cuts="quality", align={"age": 50}
    )
    assert release.manifest["transform"]["cuts"] == "quality"
    assert release.manifest["principles"] == ["k-anonymity:k=2"]


def test_what_a_policy_made_it_can_check(tmp_path):
    told = policy(
        principle=[{"name": "epsilon-m", "on": "salary", "epsilon": 2500, "m": 3}],
        transform={"recoding": "bounds"},
        group="cell",
    )
    release = wb.anonymize(PEOPLE, policy=told)
    assert "cell" in release.table.columns
    assert "age_min" in release.table.columns
    release.save(tmp_path / "release.csv")
    assert wb.check(tmp_path / "release.csv", policy=told)


def test_a_mistake_of_the_policy_is_said_to_be_one():
    with pytest.raises(wb.PolicyError, match="which sensitive attribute"):
        wb.anonymize(PEOPLE, policy=policy(principle=[{"name": "distinct-l", "l": 2}]))


# It fails closed.


@pytest.mark.usefixtures("thirds")
def test_a_violating_partition_is_not_published(tmp_path):
    with pytest.raises(wb.VerificationError, match="3 groups violate k-anonymity:k=9") as refusal:
        wb.anonymize(PEOPLE, principles="k-anonymity:k=9", **ROLES).save(tmp_path / "x.csv")
    assert "nothing was published" in refusal.value.hint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("thirds")
def test_a_non_monotone_principle_is_verified_by_group():
    with pytest.raises(wb.VerificationError, match="groups violate epsilon-m"):
        wb.anonymize(PEOPLE, principles="epsilon-m:on=salary,epsilon=9000,m=2", **ROLES)


def test_values_that_do_not_cover_are_not_published(monkeypatch):
    honest = anonymize.recode

    def forged(*arguments: Any) -> Any:
        recoded = honest(*arguments)
        recoded.columns["age"][0] = (
            recoded.columns["age"][0].cast(pl.String).str.replace(r"\d+$", "30")
        )
        return recoded

    monkeypatch.setattr(anonymize, "recode", forged)
    with pytest.raises(wb.VerificationError, match="'age' do not cover"):
        wb.anonymize(PEOPLE, **HOW)


def test_changed_values_are_not_published(monkeypatch):
    honest = anonymize._publish

    def forged(*arguments: Any) -> Any:
        return honest(*arguments).with_columns(pl.col("salary").reverse())

    monkeypatch.setattr(anonymize, "_publish", forged)
    with pytest.raises(wb.VerificationError, match="'salary' have changed"):
        wb.anonymize(PEOPLE, **HOW)


# Suppression.


def test_suppressed_rows_are_left_out_and_counted():
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5], "pay": ["a", "a", "a", "b", "b"]})
    how = {"quasi": "age", "sensitive": "pay", "principles": "frequency-l:l=2"}
    with pytest.raises(wb.InfeasibleError):
        wb.anonymize(frame, **how)
    with pytest.raises(wb.InfeasibleError, match="1 row would have to be suppressed"):
        wb.anonymize(frame, suppression_limit=0.1, **how)
    release = wb.anonymize(frame, suppression_limit=0.2, **how)
    assert sorted(release.table["pay"]) == ["a", "a", "b", "b"]
    assert release.manifest["suppressed"] == {"rows": 1, "share": 0.2}
    assert release.manifest["loss"]["discernibility"] == 16 + 5
    assert release.manifest["input"]["rows"] == 5
    pandas = wb.anonymize(frame.to_pandas(), suppression_limit=0.2, **how).table
    assert sorted(pandas["pay"]) == ["a", "a", "b", "b"]
    assert pandas.index.tolist() == [0, 1, 2, 3]


# Against the slow twins.

VALUES = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from("fm"), st.one_of(st.none(), st.integers(0, 99))),
    min_size=2,
    max_size=14,
)


@given(VALUES, st.integers(1, 9), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=60)
def test_whatever_is_published_satisfies(rows, epsilon, m, seed):
    frame = pl.DataFrame(rows, schema=["age", "sex", "pay"], orient="row")
    if frame["pay"].null_count() == frame.height:
        return
    principles = [f"epsilon-m:epsilon={epsilon},m={m}", f"k-anonymity:k={m}"]
    try:
        release = wb.anonymize(
            frame, quasi=["age", "sex"], sensitive="pay", principles=principles, seed=seed
        )
    except wb.InfeasibleError:
        table = list(frame["pay"])
        context = naive.Context(table)
        assert naive.maxsize(table, context, epsilon, False, None, None) * m > len(table)
        return
    groups = defaultdict(list)
    for group, pay in release.table.select("group", "pay").rows():
        groups[group].append(pay)
    context = naive.Context(list(frame["pay"]))
    for group in groups.values():
        assert len(group) >= m
        assert naive.epsilon_m(group, context, epsilon, m, False, None, None)


@pytest.mark.parametrize("rows", [200, 3000])
def test_a_census(rows):
    table = census(rows)
    release = wb.anonymize(
        table,
        identifier="id",
        quasi=["age", "zip", "sex", "education"],
        sensitive=["disease", "salary"],
        principles=["k-anonymity:k=5", "epsilon-m:on=salary,epsilon=500,m=5"],
        hierarchies={"zip": {"mask": 5}},
    )
    assert release.check()
    assert json.loads(json.dumps(release.manifest, allow_nan=False)) == release.manifest
    assert 0 <= release.manifest["loss"]["ncp_percent"] <= 100


def test_a_column_of_vectors_and_of_decimals():
    frame = pl.DataFrame(
        {
            "age": [Decimal("1.5"), Decimal("2.25"), None],
            "disease": [[0.5, 0.5], [0.1, 0.9], None],
        }
    )
    release = wb.anonymize(
        frame,
        quasi="age",
        sensitive="disease",
        principles="dissimilarity:epsilon=0.1,delta=1,k=2,distance=variational",
    )
    assert release.table["age"].to_list() == ["1.50..2.25 or missing"] * 3
    assert sorted(map(str, release.table["disease"].to_list())) == sorted(
        map(str, frame["disease"].to_list())
    )


@pytest.mark.parametrize(
    "how",
    [
        {"weights": {"age": 10**400}},
        {"weights": {"age": 1e300}},
        {"suppression_limit": 10**400},
        {"align": {"age": 10**400}},
        {"threads": "2"},
        {"threads": 1.5},
        {"threads": True},
    ],
)
def test_settings_of_no_sensible_size(how: dict[str, Any]) -> None:
    table = pl.DataFrame({"age": [21, 34], "pay": [10, 90]})
    with pytest.raises(wb.ParameterError):
        wb.anonymize(table, quasi="age", sensitive="pay", principles="distinct-l:l=2", **how)


def test_periods_of_no_sensible_length() -> None:
    born = [dt.date(2001, 2, 3), dt.date(1990, 1, 1)]
    table = pl.DataFrame({"born": born, "pay": [10, 90]})
    asked = {"quasi": "born", "sensitive": "pay", "principles": "distinct-l:l=2"}
    with pytest.raises(wb.ParameterError, match="so many days"):
        wb.anonymize(table, **asked, align={"born": 10**12})


def test_the_nearest_setting_is_proposed() -> None:
    with pytest.raises(wb.ParameterError, match='try: cuts = "best"'):
        transform.Transform(cuts="bset")


def test_what_no_principle_protects_is_said() -> None:
    table = pl.DataFrame({"age": [21, 34], "pay": [10, 90], "ill": ["a", "b"]})
    asked = {"quasi": "age", "sensitive": ["pay", "ill"]}
    told = wb.anonymize(table, **asked, principles="k-anonymity:k=2").manifest["warnings"]
    assert [text.split("'")[1] for text in told] == ["pay", "ill"]
    told = wb.anonymize(table, **asked, principles="distinct-l:on=pay,l=2").manifest["warnings"]
    assert [text.split("'")[1] for text in told] == ["ill"]
    both = ["distinct-l:on=pay,l=2", "distinct-l:on=ill,l=2"]
    assert wb.anonymize(table, **asked, principles=both).manifest["warnings"] == []


def test_days_are_written_without_midnight() -> None:
    born = [dt.datetime(2000, 3, 8), dt.datetime(2003, 10, 25)]
    table = pd.DataFrame({"born": born, "pay": [10, 90]})
    release = wb.anonymize(table, quasi="born", sensitive="pay", principles="k-anonymity:k=2")
    assert list(release.table["born"]) == ["2000-03-08..2003-10-25"] * 2


def with_bounds(values: Any, align: Any) -> Any:
    """Publish bounds on a grid, verified, and checked again."""
    frame = {"q": values, "s": [f"v{i % 4}" for i in range(len(values))]}
    table = pl.DataFrame(frame) if isinstance(values, pl.Series) else pd.DataFrame(frame)
    release = wb.anonymize(
        table,
        quasi="q",
        sensitive="s",
        principles="k-anonymity:k=2",
        recoding="bounds",
        align={"q": align},
        seed=1,
    )
    assert release.check()
    return release.table


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize(
    ("zone", "noon"),
    [
        ("America/Sao_Paulo", dt.datetime(2018, 11, 4, 12)),  # no midnight
        ("America/Toronto", dt.datetime(1919, 3, 31, 12)),  # 23:30 is followed by 0:30
        ("America/Havana", dt.datetime(2024, 11, 3, 12)),  # midnight comes twice
        ("America/St_Johns", dt.datetime(2005, 10, 30, 12)),  # 0:01 is followed by 23:01
        ("Pacific/Apia", dt.datetime(2011, 12, 31, 12)),  # no 30 December
    ],
)
def test_days_on_which_a_clock_changes_are_covered(unit: Any, zone: str, noon: dt.datetime) -> None:
    """Every half hour of three days, by days and by weeks; an end beyond them is no one's."""
    start = pl.Series([noon]).dt.replace_time_zone(zone)[0].astimezone(dt.UTC)
    moments = [start + dt.timedelta(minutes=30 * i) for i in range(-72, 72)]
    values = pl.Series(moments).cast(pl.Datetime(unit, "UTC")).dt.convert_time_zone(zone)
    for align in (1, "week"):
        table = with_bounds(values, align)
        assert table["q_min"].null_count() == table["q_max"].null_count() == 0


def test_a_day_without_midnight_begins_when_its_clock_does() -> None:
    values = pl.Series([dt.datetime(2018, 11, 4, 5), dt.datetime(2018, 11, 4, 7)])
    table = with_bounds(values.dt.replace_time_zone("America/Sao_Paulo"), 1)
    assert [str(end)[:16] for end in table.row(0)[:2]] == ["2018-11-04 01:00", "2018-11-04 23:59"]


@pytest.mark.parametrize("align", [7, "week", "month", 400_000])
@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("us"), pl.Datetime("us", "UTC")])
@pytest.mark.parametrize(("edge", "step"), [(dt.date(9999, 12, 31), -1), (dt.date(1, 1, 1), 1)])
def test_periods_end_with_the_calendar(edge: dt.date, step: int, kind: Any, align: Any) -> None:
    days = [edge + dt.timedelta(days=step * i) for i in range(8)]
    table = with_bounds(pl.Series(days).cast(pl.Datetime("us")).cast(kind), align)
    assert str(edge) in {str(end)[:10] for end in table["q_max" if step < 0 else "q_min"]}


@pytest.mark.parametrize("edge", [-(2**63) + 1, 2**63 - 1 - 8 * 86_400 * 10**9])
def test_periods_end_with_the_nanoseconds_that_there_are(edge: int) -> None:
    values = pl.Series([edge + i * 86_400 * 10**9 for i in range(8)]).cast(pl.Datetime("ns"))
    for align in (1, "week", "year"):
        with_bounds(values, align)


@pytest.mark.parametrize("align", [5, "0.25"])
def test_decimals_of_pandas_have_bounds(align: Any) -> None:
    """pandas has no decimals of its own: what comes back has as many digits as it needs."""
    table = with_bounds([Decimal("1.5"), None, Decimal("3.25"), Decimal(4)] * 2, align)
    assert set(table["q_min"].dropna()) <= {Decimal(0), Decimal("1.5"), Decimal("3.25"), Decimal(4)}
    with pytest.raises(wb.ParameterError, match="more than 38 digits"):
        with_bounds([Decimal(10) ** 30, Decimal(10) ** 30 + 1], "0.000000001")
