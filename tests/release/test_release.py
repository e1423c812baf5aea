"""A release is written whole or not at all, and its manifest tells what a reader must know."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

import wideberth as wb
from wideberth import ParameterError, TableError, datasets, io
from wideberth.io.manifest import manifest_path
from wideberth.release import anonymize
from wideberth.release.release import table_fingerprint

PEOPLE = pl.DataFrame(
    {
        "name": [f"secret{i}" for i in range(8)],
        "age": [21, 22, 25, None, 40, 41, 44, 47],
        "sex": ["f", "m"] * 4,
        "salary": [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000],
    }
)
HOW: dict[str, Any] = {
    "identifier": "name",
    "quasi": ["age", "sex"],
    "sensitive": "salary",
    "principles": [wb.EpsilonMAnonymity(epsilon=1500, m=2), "k-anonymity:k=2"],
}
KEYS = [
    "versions",
    "created",
    "input",
    "output",
    "roles",
    "group",
    "principles",
    "transform",
    "seed",
    "rows",
    "groups",
    "rows_are_people",
    "people",
    "leaves",
    "swap_audit",
    "suppressed",
    "loss",
    "verified",
    "warnings",
    "promise",
    "not_promised",
    "seconds",
]


@pytest.fixture(scope="module")
def release() -> wb.Release:
    return wb.anonymize(PEOPLE, **HOW)


def hashed(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# The manifest.


def test_the_manifest(release):
    told = release.manifest
    assert list(told) == KEYS
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert set(told["versions"]) == {"wideberth", "python", "numpy", "polars", "numba"}
    assert told["versions"]["wideberth"] == wb.__version__
    assert dt.datetime.fromisoformat(told["created"]).utcoffset() == dt.timedelta(0)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["created"])
    assert told["input"] == {"name": None, "rows": 8, "columns": 4}
    assert told["output"] == {"name": None, "sha256": None}
    assert told["roles"]["identifier"] == ["name"]
    assert told["group"] == "group"
    assert told["principles"] == ["epsilon-m:epsilon=1500,m=2 on salary", "k-anonymity:k=2"]
    assert told["transform"]["algorithm"] == "mondrian"
    assert told["rows"] == 8
    assert told["groups"] == told["verified"]["groups"] > 0
    assert told["suppressed"] == {"rows": 0, "share": 0}
    assert told["loss"]["average_group_size"] == 8 / told["groups"]
    by_attribute = told["loss"]["ncp_percent_by_attribute"]
    assert told["loss"]["ncp_percent"] == pytest.approx(sum(by_attribute.values()) / 2, rel=1e-2)
    assert told["loss"]["discernibility"] >= 64 / told["groups"]
    assert told["verified"]["satisfied"] is True
    assert all("worst" not in report for report in told["verified"]["principles"])
    assert told["warnings"] == []
    assert "single release" in told["promise"]
    assert told["not_promised"]
    assert list(told["seconds"]) == ["reading", "encoding", "splitting", "recoding", "verifying"]


def test_the_manifest_holds_no_secret(release):
    text = json.dumps(release.manifest)
    assert release.manifest["seed"] == "secret, from the operating system"
    assert "secret" not in text.replace(release.manifest["seed"], "")


def test_a_fixed_seed_is_told_and_warned_of():
    with pytest.warns(wb.PrivacyWarning, match="the seed is fixed.*do not publish"):
        told = wb.anonymize(PEOPLE, seed=918_273, **HOW).manifest
    assert told["seed"] == "fixed, for tests only"
    assert any("can undo the shuffling" in text for text in told["warnings"])


@pytest.mark.parametrize("name", ["r.csv", "r.parquet", "r.feather"])
def test_the_seed_is_in_nothing_that_recipients_get(tmp_path, name):
    path = tmp_path / name
    release = wb.anonymize(PEOPLE, seed=918_273, **HOW)
    release.save(path)
    report = wb.report(release, original=PEOPLE, source=path)
    report.save(tmp_path / "report.html")
    report.save(tmp_path / "report.json")
    written = [file.read_bytes() for file in tmp_path.iterdir()]
    assert len(written) == 4
    assert not any(b"918273" in held or b"918,273" in held for held in written)
    assert "do not publish this release" in (tmp_path / "report.html").read_text("utf-8")
    assert report.to_dict()["verdict"]["level"] != "good"
    old = replace(release, manifest=release.manifest | {"seed": "fixed: 918273"})
    assert "918273" not in wb.report(old, original=PEOPLE).html()


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
def test_the_seed_is_in_no_release_of_a_large_file(tmp_path, name):
    pytest.importorskip("duckdb")
    PEOPLE.write_parquet(tmp_path / "people.parquet")
    (tmp_path / "made").mkdir()
    with pytest.warns(wb.PrivacyWarning, match="the seed is fixed.*do not publish"):
        release = wb.anonymize(tmp_path / "people.parquet", seed=918_273, memory="600MB", **HOW)
    release.save(tmp_path / "made" / name)
    assert release.manifest["seed"] == "fixed, for tests only"
    written = [file.read_bytes() for file in (tmp_path / "made").iterdir()]
    assert len(written) == 2
    assert not any(b"918273" in held or b"918,273" in held for held in written)


def test_a_seed_and_a_key_together_are_refused(tmp_path):
    with pytest.raises(wb.ParameterError, match="not both"):
        wb.anonymize(PEOPLE, seed=1, key=tmp_path / "key", **HOW)
    assert not (tmp_path / "key").exists()


def test_a_key_makes_runs_repeatable(tmp_path):
    key = tmp_path / "my.key"
    first = wb.anonymize(PEOPLE, key=key, **HOW)
    assert key.stat().st_mode & 0o777 == 0o600
    held = key.read_bytes()
    again = wb.anonymize(PEOPLE, key=str(key), **HOW)
    assert key.read_bytes() == held
    assert again.table.equals(first.table)
    assert first.manifest["seed"] == "secret, repeatable with a key file"
    assert not any("seed" in text for text in first.manifest["warnings"])
    others = [wb.anonymize(PEOPLE, key=tmp_path / f"{n}.key", **HOW).table for n in range(8)]
    assert not all(other.equals(first.table) for other in others)


def test_nothing_in_a_manifest_follows_from_the_key(tmp_path):
    """Not even a fingerprint, by which whoever has a file could tell whether it is the key."""
    one, two = (
        wb.anonymize(PEOPLE, key=tmp_path / f"{n}.key", **{**HOW, "principles": "k-anonymity:k=8"})
        for n in range(2)
    )
    told = [
        {k: v for k, v in r.manifest.items() if k not in ("seconds", "created")} for r in (one, two)
    ]
    assert told[0] == told[1]


def test_rows_of_two_releases_with_one_key_are_not_in_the_same_order(tmp_path):
    """Otherwise anybody could tell which rows of two months, or two policies, belong together."""
    months = [
        pl.DataFrame({"age": range(200), "pay": range(200), "seen": range(200)}),
        pl.DataFrame({"age": range(200), "pay": [*range(199), 999], "seen": range(200)}),
    ]
    how = {"quasi": "age", "sensitive": "pay", "insensitive": "seen", "key": tmp_path / "k"}
    orders = [
        wb.anonymize(table, **how, principles=f"k-anonymity:k={k}").table["seen"].to_list()
        for table, k in ((months[0], 5), (months[1], 5), (months[0], 6), (months[0], 5))
    ]
    assert orders[0] == orders[3]
    assert len({tuple(order) for order in orders}) == 3


def test_an_anatomy_with_a_key_is_repeatable(tmp_path):
    how = {**HOW, "principles": "frequency-l:l=2", "algorithm": "anatomy", "key": tmp_path / "k"}
    one, two = (wb.anonymize(PEOPLE, **how) for _ in range(2))
    assert one.table.equals(two.table)
    assert one.sensitive.equals(two.sensitive)


@pytest.mark.parametrize(
    ("content", "mode", "what"),
    [
        (None, 0o640, "open to other users"),
        (None, 0o604, "open to other users"),
        (b"age,zip\n1,2\n", 0o600, "is not a key file"),
        (b"", 0o600, "is not a key file"),
        (b"wideberth-key-1:" + b"0" * 63, 0o600, "is not a key file"),
    ],
)
def test_what_is_no_secret_key_is_refused(tmp_path, content, mode, what):
    key = tmp_path / "my.key"
    key.write_bytes(b"wideberth-key-1:" + b"5" * 64 if content is None else content)
    key.chmod(mode)
    before = key.read_bytes()
    with pytest.raises(wb.OutputError, match=what) as caught:
        wb.anonymize(PEOPLE, key=key, **HOW)
    assert "555" not in str(caught.value)
    assert key.read_bytes() == before


def test_a_folder_is_no_key(tmp_path):
    with pytest.raises(wb.OutputError, match="is not a file"):
        wb.anonymize(PEOPLE, key=tmp_path, **HOW)


def test_the_input_is_identified(tmp_path):
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path)
    told = wb.anonymize(path, **HOW).manifest
    assert told["input"] == {
        "name": "people.csv",
        "rows": 8,
        "columns": 4,
    }
    assert str(tmp_path) not in json.dumps(told)


# Checking.


def test_a_release_checks_itself(release):
    result = release.check()
    assert result.satisfied
    assert [str(r.principle) for r in result.principles] == [
        "epsilon-m:epsilon=1500,m=2",
        "k-anonymity:k=2",
    ]
    assert "8 rows in" in repr(release)
    assert "k-anonymity:k=2" in repr(release)


def test_a_table_that_was_changed_is_found_out(tmp_path):
    release = wb.anonymize(PEOPLE.to_pandas(), **HOW)
    release.table["salary"] = 1000
    assert not release.check()
    with pytest.raises(wb.VerificationError, match="does not keep its principles"):
        release.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


# Writing.


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather"])
def test_saving(release, suffix, tmp_path):
    path = tmp_path / f"release{suffix}"
    told = release.save(path)
    beside = tmp_path / f"release{suffix}.manifest.json"
    assert beside == manifest_path(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, beside])
    assert json.loads(beside.read_text(encoding="utf-8")) == told
    assert told["output"] == {"name": path.name, "sha256": hashed(path)}
    assert {**told, "output": None} == {**release.manifest, "output": None}
    written = io.read(path)
    text = [column.cast(pl.String) for column in release.table]
    assert written.select(pl.all().cast(pl.String)).equals(pl.DataFrame(text))
    assert wb.check(path, group="group", **{k: v for k, v in HOW.items() if k != "identifier"})


def test_the_kind_of_table_does_not_matter(tmp_path):
    for table in (PEOPLE.to_pandas(), PEOPLE.to_arrow(), PEOPLE):
        release = wb.anonymize(table, seed=1, **HOW)
        release.save(tmp_path / "r.parquet", force=True)
        found = pl.read_parquet(tmp_path / "r.parquet")
        assert found.columns == ["age", "sex", "salary", "group"]
        assert sorted(found["salary"]) == PEOPLE["salary"].to_list()


def test_nothing_is_replaced_without_force(release, tmp_path):
    path = tmp_path / "release.csv"
    for existing in (path, manifest_path(path)):
        existing.write_text("mine")
        with pytest.raises(wb.OutputError, match="exists"):
            release.save(path)
        assert list(tmp_path.iterdir()) == [existing]
        assert existing.read_text() == "mine"
        existing.unlink()
    path.write_text("mine")
    release.save(path, force=True)
    assert path.read_text() != "mine"


def test_a_manifest_that_cannot_be_written_takes_the_table_with_it(release, tmp_path):
    path = tmp_path / "release.csv"
    manifest_path(path).mkdir()
    with pytest.raises(wb.OutputError, match="is a directory"):
        release.save(path, force=True)
    assert list(tmp_path.iterdir()) == [manifest_path(path)]


def test_a_failure_while_writing_leaves_nothing(release, tmp_path, monkeypatch):
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(wb.OutputError, match="No space left on device"):
        release.save(tmp_path / "release.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["release.xlsx", "release", "nowhere/release.csv"])
def test_places_that_do_not_do(release, name, tmp_path):
    with pytest.raises(wb.OutputError):
        release.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_not_keep_the_principle_is_not_written(tmp_path):
    """In CSV an empty text and a missing value are the same: two values become one."""
    table = pd.DataFrame({"age": [1, 2], "disease": ["", None]})
    release = wb.anonymize(table, quasi="age", sensitive="disease", principles="distinct-l:l=2")
    with pytest.raises(wb.VerificationError, match="read back from the file") as refusal:
        release.save(tmp_path / "release.csv")
    assert ".parquet" in refusal.value.hint
    assert list(tmp_path.iterdir()) == []
    release.save(tmp_path / "release.parquet")


def test_moments_in_text(tmp_path):
    table = pl.DataFrame(
        {"age": [1, 2], "when": [dt.datetime(2024, 1, 1, 8), dt.datetime(2024, 1, 3, 9)]}
    )
    release = wb.anonymize(table, quasi="age", sensitive="when", principles="k-e:k=2,e=1")
    release.save(tmp_path / "release.csv")
    assert (tmp_path / "release.csv").exists()


# What lies behind the columns.


TEXTS = [f"a text that is long enough, number {i:03}" for i in range(60)]


@pytest.mark.parametrize("suffix", [".csv", ".arrow"])  # not compressed
@pytest.mark.parametrize("kind", ["text", "enum", "category", "dictionary"])
def test_files_do_not_tell_the_original_order(kind, suffix, tmp_path):
    """Texts may lie in one buffer, categories in the order of their first appearance."""
    table: Any = pl.DataFrame({"age": list(range(60)), "note": TEXTS})
    if kind == "category":
        table = table.to_pandas()
        table["note"] = pd.Categorical(table["note"], categories=TEXTS[::-1])
    if kind == "enum":
        table = table.with_columns(pl.col("note").cast(pl.Enum(sorted(TEXTS))))
    if kind == "dictionary":
        plain = table.to_arrow()
        table = plain.set_column(1, "note", plain.column("note").dictionary_encode())
    release = wb.anonymize(table, quasi="age", sensitive="note", principles="k-anonymity:k=5")
    path = tmp_path / f"release{suffix}"
    release.save(path)
    found = re.findall(rb"number (\d\d\d)", path.read_bytes())
    assert sorted(set(found)) == sorted(text[-3:].encode() for text in TEXTS)
    if kind != "enum" and kind != "category":  # whose categories come sorted
        assert found[:60] != sorted(found[:60])


def test_what_is_suppressed_is_not_in_the_file(tmp_path):
    table = pl.DataFrame(
        {"age": [1] * 10, "pay": [1] * 6 + [2, 3, 4, 5], "note": [f"{t}!" for t in TEXTS[:10]]}
    )
    release = wb.anonymize(
        table,
        quasi="age",
        sensitive="pay",
        insensitive="note",
        principles="frequency-l:l=2",
        suppression_limit=0.5,
    )
    kept = set(release.table["note"].to_list())
    assert 0 < len(kept) < 10
    release.save(tmp_path / "release.arrow")
    written = (tmp_path / "release.arrow").read_bytes()
    assert {t for t in TEXTS[:10] if t.encode() in written} == {t.removesuffix("!") for t in kept}


def test_a_group_shows_one_value(monkeypatch):
    """Rows with their own exact values would be covered, and their groups still large enough."""
    honest = anonymize.recode

    def forged(quasis: Any, *rest: Any) -> Any:
        recoded = honest(quasis, *rest)
        order = rest[2]
        values = quasis[0].domain.values.gather(quasis[0].codes[order])
        recoded.columns["age"] = [values.cast(pl.String).alias("age")]
        return recoded

    monkeypatch.setattr(anonymize, "recode", forged)
    with pytest.raises(wb.VerificationError, match="'age' differs within a group"):
        wb.anonymize(PEOPLE.with_columns(pl.col("age").fill_null(30)), **HOW)


def test_a_renamed_column_is_not_what_was_verified() -> None:
    frame = pl.DataFrame({"a": [1], "b": [2]})
    assert table_fingerprint(frame) != table_fingerprint(frame.rename({"a": "b", "b": "a"}))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", ["polars", "pyarrow", "pandas"])
def test_no_category_names_what_is_not_published(tmp_path: Path, suffix: str, kind: str) -> None:
    # They end in letters, as no label does: compression may put digits of labels side by side.
    letters = "abcdefghij"
    codes = [37 * i % 500 for i in range(240)]
    zips = [f"10{n // 100}{letters[n // 10 % 10]}{letters[n % 10]}" for n in codes]
    table = pl.DataFrame({"zip": zips, "pay": range(240)})
    given = {"polars": table, "pyarrow": table.to_arrow(), "pandas": table.to_pandas()}[kind]
    release = wb.anonymize(
        given,
        quasi="zip",
        sensitive="pay",
        types={"zip": "text"},
        hierarchies={"zip": {"mask": 5}},
        principles="k-anonymity:k=20",
    )
    release.save(tmp_path / f"release.{suffix}")
    written = (tmp_path / f"release.{suffix}").read_bytes()
    column = io.read(tmp_path / f"release.{suffix}")["zip"]
    if isinstance(column.dtype, pl.Enum):  # others share their categories within a process
        assert set(column.dtype.categories) == set(column.unique())
    hidden = set(zips) - set(column.unique())
    assert hidden
    assert not any(value.encode() in written for value in hidden)


def formulas() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20, 21, 22, 40, 41, 42],
            "note": ["=HIDE()", "+1", "@HIDE", "a", "-HIDE", "-2"],
            "pay": [-1, -2, -3, 4, 5, 6],
        }
    )


@pytest.mark.parametrize("memory", [None, "512MB"])
def test_cells_that_look_like_formulas_are_noticed(tmp_path: Path, memory: str | None) -> None:
    if memory:
        pytest.importorskip("duckdb")
    formulas().write_parquet(source := tmp_path / "people.parquet")
    release = wb.anonymize(
        source,
        quasi="age",
        sensitive="pay",
        insensitive="note",
        principles="k-anonymity:k=3",
        memory=memory,
    )
    release.save(tmp_path / "r.parquet")  # which no spreadsheet program runs
    with pytest.warns(io.TableWarning, match="3 cells begin with =, .*'note' ") as caught:
        told = release.save(tmp_path / "r.csv")
    written = json.loads((tmp_path / "r.csv.manifest.json").read_text())
    for said in (str(caught[0].message), *told["warnings"], *written["warnings"]):
        assert "HIDE" not in said
    assert told["warnings"] == written["warnings"]
    assert str(caught[0].message) in told["warnings"]
    assert sorted(io.read(tmp_path / "r.csv")["note"]) == sorted(formulas()["note"])
    found = wb.audit(tmp_path / "r.csv", quasi="age", sensitive="pay").findings
    [one] = [finding for finding in found if finding.name == "formulas"]
    assert (one.severity, one.figures) == ("low", {"cells": 3, "by_column": {"note": 3}})
    assert "HIDE" not in str(one.to_dict())
    found = wb.audit(tmp_path / "r.parquet", quasi="age", sensitive="pay").findings
    assert "formulas" not in [finding.name for finding in found]


def test_formulas_in_either_table_of_an_anatomy(tmp_path: Path) -> None:
    release = wb.anonymize(
        formulas().with_columns(pay=pl.Series(["=A1", "b", "c"] * 2)),
        quasi="age",
        sensitive="pay",
        insensitive="note",
        algorithm="anatomy",
        principles="frequency-l:l=3",
    )
    with pytest.warns(io.TableWarning, match=r"'note' \(3\), 'pay' \(2\)"):
        told = release.save(tmp_path / "r")
    assert len(told["warnings"]) == len(release.manifest["warnings"]) + 1


def test_groups_of_the_original(tmp_path):
    people = datasets.sal(500)
    original = people.sort("income")  # an order that says something
    asked = {"quasi": ["age", "birthplace"], "sensitive": "income"}
    asked["insensitive"] = [c for c in original.columns if c not in (*asked["quasi"], "income")]
    release = wb.anonymize(original, principles="epsilon-m:epsilon=2000,m=3", **asked)
    told = release.groups_of(original)
    assert told.columns == ["age", "birthplace", "group"]
    # As many rows of every group hold every value, and in the original's order.
    mine = told.with_columns(income=original["income"])
    published = release.table.select(mine.columns)
    assert mine.sort(mine.columns).equals(published.sort(mine.columns))
    for label, age in zip(told["age"].cast(str), original["age"], strict=True):
        low, _, high = label.partition("..")
        assert int(low) <= age <= int(high or low)
    assert release.groups_of(original.to_pandas())["group"].tolist() == told["group"].to_list()
    # Nothing that is written or passed on knows it.
    release.save(tmp_path / "r.parquet")
    passed_on = pickle.loads(pickle.dumps(release))  # noqa: S301 - our own
    with pytest.raises(ParameterError, match="does not know which row"):
        passed_on.groups_of(original)
    with pytest.raises(TableError, match="not the table"):
        release.groups_of(original.reverse())
    with pytest.raises(TableError, match="not the table"):
        release.groups_of(original.head(10))


@pytest.mark.parametrize("algorithm", ["lattice", "anatomy"])
def test_groups_of_the_original_by_every_algorithm(algorithm, tmp_path):
    rng = np.random.default_rng(1)
    original = pl.DataFrame(
        {"age": rng.integers(20, 60, 90), "ill": rng.permutation(["flu", "cold", "gout"] * 30)}
    )
    asked: dict[str, Any] = {"quasi": "age", "sensitive": "ill"}
    asked["principles"] = "frequency-l:l=2" if algorithm == "anatomy" else "k-anonymity:k=5"
    if algorithm == "lattice":
        asked["hierarchies"] = {"age": {"interval": [10, 40]}}
    release = wb.anonymize(original, algorithm=algorithm, **asked)
    told = release.groups_of(original)
    mine = told.with_columns(original["ill"])
    if algorithm == "anatomy":
        assert told["age"].cast(str).equals(original["age"].cast(str))
        assert release.table["age"].to_list() != original["age"].to_list()
        counts = mine.group_by("group", "ill").len("count").sort("group", "ill")
        assert counts.rows() == release.sensitive.sort("group", "ill").rows()
        for age, group in release.table.select("age", "group").rows():
            assert told.filter(pl.col("age").cast(str) == str(age))["group"].is_in([group]).any()
    else:
        shown = ["age", "ill"]
        assert sorted(mine.select(shown).rows()) == sorted(release.table.select(shown).rows())
        for label, age in zip(told["age"].cast(str), original["age"], strict=True):
            assert label == f"{age // 10 * 10}-{age // 10 * 10 + 9}"
    original.write_csv(tmp_path / "people.csv")
    with pytest.raises(ParameterError, match="a table in memory"):
        wb.anonymize(
            tmp_path / "people.csv",
            **{**asked, "hierarchies": {}, "principles": "k-anonymity:k=5"},
            memory="600MB",
        ).groups_of(original)


def test_rows_that_are_left_out_have_no_group():
    table = pl.DataFrame({"age": [1, 1, 1, 2, 2, 2, 3], "pay": [5, 5, 5, 6, 7, 8, 9]})
    release = wb.anonymize(
        table, quasi="age", sensitive="pay", principles="frequency-l:l=3", suppression_limit=0.5
    )
    told = release.groups_of(table)
    gone = release.manifest["suppressed"]["rows"]
    assert gone == 1
    assert told["group"].null_count() == told["age"].null_count() == gone
    assert told["group"][4:].null_count() == 0  # one of those with the same pay is left out
    groups = wb.partition(
        table, quasi="age", sensitive="pay", principles="frequency-l:l=3", suppression_limit=0.5
    )
    assert (groups == 0).sum() == gone
    assert len(groups) == 7


def test_groups_without_a_release():
    people = datasets.sal(300).select("age", "income")
    asked: dict[str, Any] = {"quasi": "age", "sensitive": "income", "principles": "k-anonymity:k=5"}
    groups = wb.partition(people, **asked)
    sizes = np.bincount(groups)[1:]
    assert sizes.min() >= 5
    assert sizes.sum() == people.height
    hospital = pl.DataFrame({"age": [1, 2, 3, 4], "illness": ["a", "a", "b", "b"]})
    two = wb.partition(
        hospital,
        quasi="age",
        sensitive="illness",
        principles="frequency-l:l=2",
        algorithm="anatomy",
    )
    assert [set(hospital["illness"].filter(two == g)) for g in (1, 2)] == [{"a", "b"}] * 2


def test_results_can_be_pickled():
    table = pl.DataFrame({"age": [1, 1, 2, 2], "pay": [1, 9, 2, 8]})
    asked = {"quasi": "age", "sensitive": "pay"}
    wanted = ["k-anonymity:k=2", "dissimilarity:epsilon=1,delta=0.5,k=2"]
    release = wb.anonymize(table, principles=wanted, **asked)
    check = wb.check(table, principles=wanted, **asked)
    audit = wb.audit(table, principles=wanted, **asked)
    again = [pickle.loads(pickle.dumps(one)) for one in (release, check, audit)]  # noqa: S301
    assert again[0].table.equals(release.table)
    assert again[0].check().to_dict() == release.check().to_dict()
    assert again[1].to_dict() == check.to_dict()
    assert again[1].table.equals(check.table)
    assert again[2].to_dict() == audit.to_dict()
    with pytest.raises(ParameterError, match="claims quote"):
        again[1].principles[1].claims()


# Two months under one policy: the same columns, in the same order, of the same types.

JUNE = pl.DataFrame(
    {
        "name": [*"abcdefghijkl"],
        "age": ["21", "22", "25", "30"] * 3,
        "zip": ["10", "20", "10", "20"] * 3,
        "height": ["1", "2", "3", "4"] * 3,
        "born": ["2001-01-02", "2001-03-02", "2003-01-02", "2004-01-02"] * 3,
        "ill": ["flu", "cold", "gout", "flu"] * 3,
        "wage": ["10", "20", "30", "40"] * 3,
        "visits": ["1", "2", "3", "4"] * 3,
    }
)
JULY = JUNE.with_columns(
    age=pl.Series(["21", None, "25", "30"] * 3),
    zip=pl.Series(["10", None, "30", "20"] * 3),
    height=pl.Series(["1.5", "2", "3", None] * 3),
    born=pl.Series(["2001-01-02", None, "2003-01-02", "2004-01-02"] * 3),
    ill=pl.Series(["flu", "cold", "ulcer", None] * 3),
    wage=pl.Series(["10", "20", None, "41"] * 3),
)
POLICY = {
    "roles": {
        "identifier": ["name"],
        "quasi": ["age", "zip", "height", "born"],
        "sensitive": ["ill", "wage"],
        "insensitive": ["visits"],
    },
    "types": {
        **{"age": "integer", "zip": "text", "height": "float", "born": "date"},
        **{"ill": "category", "wage": "integer", "visits": "integer"},
    },
    "principle": [{"name": "k-anonymity", "k": 2}],
}
BOUNDS = {"recoding": dict.fromkeys(("age", "height", "born"), "bounds")}
TREES = {
    **{name: {"flat": True} for name in ("zip", "height")},
    **{"age": {"interval": 10}, "born": {"date": ["month", "year"]}},
}
SHAPES: dict[str, dict[str, Any]] = {
    "ranges": {},
    "bounds": {"transform": BOUNDS},
    "lattice": {"transform": {"algorithm": "lattice"}, "hierarchies": TREES},
    "group ids": {"principle": [{"name": "epsilon-m", "on": "wage", "epsilon": 1, "m": 2}]},
    "rows left out": {
        "transform": {"suppression_limit": 0.5},
        "principle": [{"name": "frequency-l", "on": "ill", "l": 2}],
    },
    "anatomy": {
        "transform": {"algorithm": "anatomy"},
        "roles": {**POLICY["roles"], "sensitive": ["ill"], "insensitive": ["wage", "visits"]},
        "principle": [{"name": "frequency-l", "on": "ill", "l": 2}],
    },
}


def schemas(path: Path) -> list[Any]:
    """Return the columns of a release's tables as a reader finds them."""
    if path.suffix == ".csv":
        return pl.read_csv(path, infer_schema=False).columns
    return [*pl.read_parquet_schema(path).items(), str(pq.read_schema(path).remove_metadata())]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("shape", SHAPES)
def test_two_months_have_the_same_columns(tmp_path, shape, kind):
    policy = wb.Policy.of(POLICY | SHAPES[shape])
    found = []
    for number, month in enumerate((JUNE, JULY)):
        given, made = tmp_path / f"{number}.csv", tmp_path / f"made{number}.{kind}"
        month.write_csv(given)
        release = wb.anonymize(given, policy=policy)
        if shape == "anatomy":
            both = [tmp_path / f"{part}{number}.{kind}" for part in "qs"]
            release.save(*both)
            found.append([schemas(path) for path in both])
        else:
            release.save(made)
            found.append(schemas(made))
    assert found[0] == found[1]
    if kind == "parquet" and shape != "anatomy":
        assert ("group" in dict(found[0][:-1])) == (shape == "group ids")
    if shape == "bounds":
        names = found[0] if kind == "csv" else [name for name, _ in found[0][:-1]]
        assert names[:4] == ["age_min", "age_max", "age_missing", "zip"]


@pytest.mark.parametrize("shape", ["ranges", "bounds", "lattice", "group ids"])
def test_two_months_have_the_same_columns_by_parts(tmp_path, shape):
    policy = wb.Policy.of(POLICY | SHAPES[shape])
    found = []
    for number, month in enumerate((JUNE, JULY)):
        month.write_csv(tmp_path / f"{number}.csv")
        release = wb.anonymize(tmp_path / f"{number}.csv", policy=policy, memory="600MB")
        found.append(release.table.collect_schema())
        release.close()
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", ["ranges", "bounds"])
def test_two_months_of_dataframes_have_the_same_columns(shape):
    """Floats that happen to be whole stay floats."""
    policy = wb.Policy.of({**POLICY, "types": {"zip": "text"}} | SHAPES[shape])
    kinds = {"age": pl.Float64, "height": pl.Float64, "wage": pl.Int64}
    born = pl.col("born").str.to_date()
    months = [month.cast(kinds).with_columns(born) for month in (JUNE, JULY)]
    one, two = (wb.anonymize(month, policy=policy).table.schema for month in months)
    assert one == two
    one, two = (wb.anonymize(m.to_pandas(), policy=policy).table.dtypes for m in months)
    labels = ["age", "zip"] if shape == "ranges" else ["zip", "age_min", "height_max"]
    assert (one[labels] == two[labels]).all()


def test_a_type_that_the_policy_names_decides(tmp_path):
    JULY.with_columns(wage=pl.lit("1x")).write_csv(tmp_path / "people.csv")
    with pytest.raises(wb.TableError, match=r"'wage'.*row 1"):
        wb.anonymize(tmp_path / "people.csv", policy=wb.Policy.of(POLICY))
