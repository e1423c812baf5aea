"""A release is written whole or not at all, and its manifest tells what a reader must know."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import wideberth as wb
from wideberth import making, tables
from wideberth.release import fingerprint, manifest_path

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
    told = wb.anonymize(PEOPLE, seed=12, **HOW).manifest
    assert told["seed"] == "fixed: 12"
    assert any("can undo the shuffling" in text for text in told["warnings"])


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
    written = tables.read(path)
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
    honest = making.recode

    def forged(quasis: Any, *rest: Any) -> Any:
        recoded = honest(quasis, *rest)
        order = rest[2]
        values = quasis[0].domain.values.gather(quasis[0].codes[order])
        recoded.columns["age"] = [values.cast(pl.String).alias("age")]
        return recoded

    monkeypatch.setattr(making, "recode", forged)
    with pytest.raises(wb.VerificationError, match="'age' differs within a group"):
        wb.anonymize(PEOPLE.with_columns(pl.col("age").fill_null(30)), **HOW)


def test_a_renamed_column_is_not_what_was_verified() -> None:
    frame = pl.DataFrame({"a": [1], "b": [2]})
    assert fingerprint(frame) != fingerprint(frame.rename({"a": "b", "b": "a"}))


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
    column = tables.read(tmp_path / f"release.{suffix}")["zip"]
    if isinstance(column.dtype, pl.Enum):  # others share their categories within a process
        assert set(column.dtype.categories) == set(column.unique())
    hidden = set(zips) - set(column.unique())
    assert hidden
    assert not any(value.encode() in written for value in hidden)
