"""Releases made by Spark itself: the same as in memory, row by row."""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import stat
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import wideberth as wb
from tests.engines.spark.emulation import groups_of
from wideberth import datasets, io
from wideberth.errors import (
    EngineError,
    InfeasibleError,
    OutputError,
    ParameterError,
    PolicyError,
    TableError,
    UndecidedError,
    VerificationError,
)
from wideberth.io.manifest import compare

QUASI = ["age", "birthplace", "occupation"]


def as_polars(frame):
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


NIGHTLY = [pytest.param(rows, marks=pytest.mark.nightly) for rows in (60_000, 600_000)]


@pytest.fixture(scope="module", params=[20_000, *NIGHTLY])
def people(request, spark, tmp_path_factory):
    """Incomes in single units, in several files."""
    table = datasets.sal(request.param, seed=8)
    cents = np.random.default_rng(1).integers(0, 100, table.height)
    table = table.with_columns((pl.col("income") + pl.Series(cents)).alias("income"))
    folder = tmp_path_factory.mktemp("people")
    for i, part in enumerate(table.iter_slices(table.height // 4)):
        part.write_parquet(folder / f"{i}.parquet")
    return table, spark.read.parquet(str(folder))


@pytest.mark.parametrize(
    "principles",
    [
        ["epsilon-m:epsilon=4000,m=5", "k-anonymity:k=12"],
        ["epsilon-m:epsilon=20%,m=5"],
        ["entropy-l:l=60"],
    ],
    ids=["absolute", "relative", "entropy"],
)
def test_many_rows(people, principles):
    table, frame = people
    asked = {"quasi": QUASI, "sensitive": "income", "principles": principles, "seed": 3}
    whole = wb.anonymize(table, **asked)
    release = wb.anonymize(frame, **asked, bucket_rows=table.height // 10)
    columns = [*QUASI, "income"]
    assert release.table.columns == whole.table.columns
    assert groups_of(as_polars(release.table), columns).equals(groups_of(whole.table, columns))
    for key in ("groups", "leaves", "loss", "principles", "rows", "roles", "group"):
        assert release.manifest[key] == whole.manifest[key]
    assert release.manifest["engine"]["buckets"] > 3
    release.forget()


@pytest.fixture(scope="module")
def odd(spark):
    """A small table with all kinds of columns, and values missing in each."""
    rng = np.random.default_rng(5)
    n = 3000
    lacking = rng.random((5, n)) < 0.03

    def some(i, values):
        return [None if gone else value for gone, value in zip(lacking[i], values, strict=True)]

    born = [dt.date(1950, 1, 1) + dt.timedelta(days=int(d)) for d in rng.integers(0, 9000, n)]
    table = pl.DataFrame(
        {
            "Born": some(0, born),
            "a.b `c`": some(1, rng.choice(["x", "y", "z|w", ""], n).tolist()),
            "height": some(2, (rng.integers(1400, 2000, n) / 1000).tolist()),
            "paid": some(3, [Decimal(int(x)) / 100 for x in rng.integers(1000, 900000, n)]),
            "note": some(4, rng.choice(["p", "q"], n).tolist()),
            "tags": [[int(x)] for x in rng.integers(0, 3, n)],
            "name": [f"n{i}" for i in range(n)],
        },
        schema_overrides={"paid": pl.Decimal(12, 2)},
    )
    return table, spark.createDataFrame(table.to_arrow(compat_level=pl.CompatLevel.oldest()))


ODD = {
    "quasi": ["Born", "a.b `c`", "height"],
    "sensitive": "paid",
    "insensitive": ["note", "tags"],
    "identifier": "name",
    "seed": 1,
}


@pytest.mark.parametrize(
    "how",
    [
        {"principles": "epsilon-m:epsilon=50,m=3"},
        {"principles": ["distinct-l:l=4"], "recoding": {"height": "bounds"}, "align": {"Born": 30}},
    ],
    ids=["ranges", "bounds"],
)
def test_all_kinds_of_columns(odd, how):
    table, frame = odd
    whole = wb.anonymize(table, **ODD, **how)
    release = wb.anonymize(frame, **ODD, **how, bucket_rows=400)
    assert release.table.columns == whole.table.columns
    published = as_polars(release.table)
    kept = [c for c in whole.table.columns if c not in ("group", "tags", "note")]
    texts = [pl.col(c).cast(pl.String) for c in kept if c != "paid"]
    assert groups_of(published.with_columns(texts), kept).equals(
        groups_of(whole.table.with_columns(texts), kept)
    )
    assert published["paid"].dtype == pl.Decimal(12, 2)
    assert sorted(published["tags"].to_list()) == sorted(table["tags"].to_list())
    assert release.check().satisfied


def test_a_lattice(spark):
    people = datasets.census(5_000, seed=2)
    asked = {
        "quasi": ["age", "zip", "sex"],
        "sensitive": "disease",
        "insensitive": ["education", "salary"],
        "identifier": "id",
        "principles": ["k-anonymity:k=5", "entropy-l:l=2"],
        "suppression_limit": 0.01,
        "hierarchies": {"age": {"interval": [5, 10]}, "zip": {"mask": 5}, "sex": {"flat": True}},
        "algorithm": "lattice",
    }
    whole = wb.anonymize(people, **asked)
    release = wb.anonymize(spark.createDataFrame(people.to_arrow()), **asked)
    columns = ["age", "zip", "sex", "disease", "education", "salary"]
    assert groups_of(as_polars(release.table), columns).equals(groups_of(whole.table, columns))
    for key in ("lattice", "suppressed", "loss", "groups"):
        assert release.manifest[key] == whole.manifest[key]


def test_written_by_spark(spark, tmp_path):
    people = spark.createDataFrame(datasets.sal(2_000, seed=1).to_arrow())
    asked = {"quasi": QUASI, "sensitive": "income", "principles": "epsilon-m:epsilon=500,m=3"}
    release = wb.anonymize(people, **asked, bucket_rows=500)
    path = tmp_path / "release.parquet"
    manifest = release.save(path)
    assert manifest["output"]["name"] == "release.parquet"
    assert len(manifest["output"]["sha256"]) == 64
    noted = json.loads((tmp_path / "release.parquet.manifest.json").read_text())
    assert noted["verified"]["satisfied"]
    assert noted["engine"]["name"] == "spark"
    published = spark.read.parquet(str(path))
    assert wb.check(published, **release.question).satisfied
    with pytest.raises(OutputError, match="exists"):
        release.save(path)
    release.save(path, force=True)
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"release.parquet", "release.parquet.manifest.json"}
    # Rows come in no order that tells of their parts.
    ids = as_polars(spark.read.parquet(str(path)))["group"].to_list()
    assert len(ids) == 2_000
    together = sum(a == b for a, b in pairwise(ids))
    assert together < len(ids) / 50


def test_what_was_written_is_verified(spark, tmp_path, monkeypatch):
    """What fails is not published, and what was there before stays."""
    from wideberth.release import release_spark

    source = tmp_path / "people.parquet"
    datasets.sal(2_000, seed=1).write_parquet(source)
    asked = {"quasi": QUASI, "sensitive": "income", "principles": "epsilon-m:epsilon=500,m=3"}
    release = wb.anonymize(spark.read.parquet(str(source)), **asked)
    with pytest.raises(OutputError, match="is what is read"):
        release.save(source, force=True)
    path = tmp_path / "release.parquet"
    release.save(path)
    before = {p.name: p.read_bytes() for p in tmp_path.rglob("*.*") if p.is_file()}
    check = release_spark.check_spark
    monkeypatch.setattr(
        release_spark, "check_spark", lambda table, **q: check(table.limit(1_999), **q)
    )
    with (
        pytest.warns(io.TableWarning, match="may change"),
        pytest.raises(VerificationError, match="1,999 rows instead of 2,000"),
    ):
        release.save(path, force=True)
    after = {p.name: p.read_bytes() for p in tmp_path.rglob("*.*") if p.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("asked", "error", "told"),
    [
        ({"principles": "epsilon-m:epsilon=90000,m=5"}, InfeasibleError, "epsilon"),
        ({"principles": "k-anonymity:k=5", "cuts": "quality"}, ParameterError, "in memory"),
        ({"principles": "k-anonymity:k=5", "algorithm": "anatomy"}, ParameterError, "in memory"),
        (
            {"principles": ["epsilon-m:epsilon=100,m=2", "entropy-l:l=2"]},
            ParameterError,
            "delta-l",
        ),
        ({"principles": "k-anonymity:k=5", "memory": "2GB"}, ParameterError, "files"),
        ({"principles": "k-anonymity:k=5", "bucket_rows": 0}, ParameterError, "bucket_rows"),
        ({"principles": "k-anonymity:k=5", "quasi": ["agee"]}, PolicyError, "did you mean 'age'"),
        ({"principles": "frequency-l:l=40", "bucket_rows": 20}, EngineError, "bucket_rows="),
    ],
)
def test_refused(spark, asked, error, told):
    people = datasets.sal(1_000, seed=1)
    if "frequency-l:l=40" in asked["principles"]:  # feasible, but nothing can be cut
        people = people.with_columns((pl.int_range(1_000) // 25).alias("income"))
    frame = spark.createDataFrame(people.to_arrow())
    given = {"quasi": QUASI, "sensitive": "income", "insensitive": None, **asked}
    if asked.get("quasi"):
        given["insensitive"] = ["age", "birthplace", "occupation"]
    with pytest.raises(error, match=told):
        wb.anonymize(frame, **given)


@pytest.mark.parametrize("limit", [0, 0.3])
def test_a_refusal_keeps_its_proof(spark, limit):
    """It is found by an executor; where rows may be left out, there is none."""
    table = pa.table({"age": range(4), "pay": [40, 60, 50, 80]})
    with pytest.raises(InfeasibleError) as refused:
        wb.anonymize(
            spark.createDataFrame(table),
            quasi="age",
            sensitive="pay",
            principles=["epsilon-m:epsilon=15,m=2", "k-anonymity:k=3"],
            suppression_limit=limit,
        )
    told = refused.value.to_dict()
    assert told["outcome"] == ("not found" if limit else "impossible")
    assert (told["witness"] is None) == bool(limit)
    assert ("impossible" in told["what"]) == (not limit)


def test_a_table_that_changes(spark):
    from pyspark.sql import functions as sql

    frame = spark.range(5_000).select(
        (sql.rand() * 90).cast("int").alias("age"), sql.col("id").alias("pay")
    )
    asked = {"quasi": "age", "sensitive": "pay", "principles": "k-anonymity:k=5"}
    with pytest.warns(io.TableWarning, match="may change"):
        release = wb.anonymize(frame, **asked)
    assert release.check().satisfied


class Killed(BaseException):
    """Stands for a kill: nothing is done after it."""


@pytest.mark.parametrize("at", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("replacing", [True, False], ids=["old", "none"])
def test_killed_while_spark_gives_files_their_places(spark, tmp_path, monkeypatch, replacing, at):
    """No manifest is ever beside a table of another release, and the next run repairs."""
    from wideberth.engines.spark.store import SparkTarget, require_folder

    path = tmp_path / "out.parquet"

    def save(text: str, *, force: bool = True) -> None:
        place = SparkTarget.of(spark, str(path), force=force)
        with place.drafts() as (draft, note):
            Path(draft).mkdir()
            (Path(draft) / "part.parquet").write_text(text)
            note(text)

    def shown() -> list[str]:
        files = [path / "part.parquet", Path(f"{path}.manifest.json")]
        return [file.read_text() for file in files if file.exists()]

    if replacing:
        save("old")
    honest, count = SparkTarget._rename, 0

    def rename(self: SparkTarget, *given: object) -> None:
        nonlocal count
        count += 1
        if count == at:
            raise Killed
        honest(self, *given)

    def killed(*_: object) -> bool:
        raise Killed

    expected = 4 if replacing else 2
    with monkeypatch.context() as patch:
        patch.setattr(SparkTarget, "_rename", rename)
        if at <= expected:
            patch.setattr(SparkTarget, "_end", killed)
            with pytest.raises(Killed):
                save("new")
        else:
            save("new")
    assert shown() in (["old", "old"], ["old"], ["new"], ["new", "new"], [])
    assert not (path.exists() and len(set(shown())) > 1)
    require_folder(str(path), "people.csv", force=True)
    if at > expected:
        assert shown() == ["new", "new"]
    else:
        with pytest.warns(io.TableWarning, match=r"stopped while it wrote out\.parquet"):
            SparkTarget.of(spark, str(path), force=True).system.close()
        assert shown() == (["old", "old"] if replacing else [])
    save("next")
    assert shown() == ["next", "next"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "out.parquet",
        "out.parquet.manifest.json",
    ]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_drafts_of_spark_are_private(spark, tmp_path, monkeypatch):
    """Nobody else may look into them before they take their places; then as everywhere."""
    from wideberth.engines.spark.store import SparkTarget

    path, usual, seen = tmp_path / "out.parquet", tmp_path / "usual", []
    usual.mkdir()
    (usual / "file").touch()
    honest = SparkTarget._rename

    def rename(self: SparkTarget, *given: object) -> None:
        (draft,) = tmp_path.glob(".*.draft.out.parquet")
        seen.append((mode(draft), mode(tmp_path / ".out.parquet.unfinished")))
        honest(self, *given)

    monkeypatch.setattr(SparkTarget, "_rename", rename)
    for text in ("old", "new"):
        with SparkTarget.of(spark, str(path), force=True).drafts() as (draft, note):
            Path(draft).mkdir()
            (Path(draft) / "part.parquet").write_text(text)
            note(text)
            hidden = [p for p in tmp_path.iterdir() if p.name.startswith(".")]
            assert [(p, mode(p)) for p in hidden] == [(Path(draft).parent, 0o700)]
    assert seen == [(0o700, 0o600)] * 6
    assert mode(path) == mode(usual)
    assert mode(Path(f"{path}.manifest.json")) == mode(usual / "file")
    assert mode(path / "part.parquet") == mode(usual / "file")


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_drafts_of_spark_that_a_kill_left_are_swept(spark, tmp_path, monkeypatch, where):
    from wideberth.engines.spark.store import SparkTarget

    path = str(tmp_path / "out.parquet")
    if where == "elsewhere":
        monkeypatch.setattr(SparkTarget, "local", None)

    def killed() -> Path:
        with monkeypatch.context() as patch:
            patch.setattr(SparkTarget, "_delete", lambda *_: None)
            with SparkTarget.of(spark, path, force=True).drafts() as (draft, _):
                Path(draft).mkdir()
                (Path(draft) / "part.parquet").write_text("people")
                raise Killed

    with pytest.raises(Killed):
        killed()
    (left,) = tmp_path.glob(".*.draft.*")
    unrelated = tmp_path / ".0123abcd.draft.an.out.parquet"
    unrelated.mkdir()
    if where == "elsewhere":
        SparkTarget.of(spark, path, force=True).system.close()
        assert left.exists()  # there are no locks: a run may have it
        for found in (*left.iterdir(), left):
            os.utime(found, (0, 0))
    with SparkTarget.of(spark, path, force=True).drafts() as (living, note):
        assert not left.exists()
        Path(living).mkdir()
        SparkTarget.of(spark, path, force=True).system.close()
        assert Path(living).exists()
        note("new")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        unrelated.name,
        "out.parquet",
        "out.parquet.manifest.json",
    ]


def test_an_old_release_of_sparks_is_kept_when_drafts_are_gone(spark, tmp_path, monkeypatch):
    """Somebody removed what looked like rubbish after a kill."""
    from wideberth.engines.spark.store import SparkTarget

    path = tmp_path / "out.parquet"

    def save(text: str) -> None:
        with SparkTarget.of(spark, str(path), force=True).drafts() as (draft, note):
            Path(draft).mkdir()
            (Path(draft) / "part.parquet").write_text(text)
            note(text)

    def killed(*_: object) -> bool:
        raise Killed

    save("old")
    with monkeypatch.context() as patch:
        patch.setattr(SparkTarget, "_end", killed)
        honest = SparkTarget._rename

        def rename(self: SparkTarget, source: Any, target: Any) -> None:
            if ".draft." in source.toString() and "manifest" not in source.getName():
                raise Killed
            honest(self, source, target)

        patch.setattr(SparkTarget, "_rename", rename)
        with pytest.raises(Killed):
            save("new")
    for draft in tmp_path.glob(".*.draft.*"):
        shutil.rmtree(draft)
    with pytest.warns(io.TableWarning, match="what it had replaced is back"):
        SparkTarget.of(spark, str(path), force=True).system.close()
    assert (path / "part.parquet").read_text() == "old"
    assert Path(f"{path}.manifest.json").read_text() == "old"


def test_a_folder_of_spark_that_is_not_its_manifests(spark, tmp_path):
    people = spark.createDataFrame(datasets.sal(500, seed=1).to_arrow())
    asked = {"quasi": QUASI, "sensitive": "income", "principles": "k-anonymity:k=5"}
    path = tmp_path / "release.parquet"
    wb.anonymize(people, **asked, bucket_rows=500).save(path)
    assert compare(path).matches
    next(path.glob("*.parquet")).unlink()
    with pytest.raises(TableError, match=r"release\.parquet is not the file that"):
        compare(path)


def test_an_identifier_that_repeats_is_refused_until_rows_are_people(spark):
    visits = pl.DataFrame(
        {
            "patient_id": [i // 3 for i in range(60)],
            "age": [20 + i % 7 for i in range(60)],
            "disease": ["flu", "cold", "gout"] * 20,
        }
    )
    table = spark.createDataFrame(visits.to_arrow())
    asked = {
        "quasi": "age",
        "sensitive": "disease",
        "identifier": "patient_id",
        "principles": "k-anonymity:k=5",
    }
    with pytest.raises(UndecidedError, match="60 rows, but only 20 different values"):
        wb.anonymize(table, **asked)
    release = wb.anonymize(table, **asked, rows_are_people=True)
    assert release.manifest["people"]["people"] == 20
    assert release.check()
    release.forget()
    found = wb.check(table, quasi="age", sensitive="disease", principles="k-anonymity:k=1")
    assert found.satisfied
    assert found.people.people == 20
    assert not found


def test_rows_that_are_no_people_are_told_by_their_words(spark):
    people = pl.DataFrame(
        {
            "employee": [f"E{i}" for i in range(60)],
            "age": [20 + i % 7 for i in range(60)],
            "sex": ["f", "m"] * 30,
        }
    )
    total = pl.DataFrame({"employee": "Total", "age": None, "sex": None}, schema=people.schema)
    void = pl.DataFrame({name: [None] for name in people.columns}, schema=people.schema)
    table = spark.createDataFrame(pl.concat([people, total, void]).to_arrow())
    asked = {"quasi": ["age", "sex"], "principles": "k-anonymity:k=1"}
    with pytest.raises(UndecidedError, match="a row looks like a total, not like a person"):
        wb.anonymize(table, **asked, identifier="employee")
    notes = wb.check(table, **asked).notes
    assert "a row looks like a total, not like a person: delete it" in notes
    assert "1 row is empty in all columns, but counts as a person: delete it" in notes
