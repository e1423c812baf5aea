"""Releases made by Spark itself: the same as in memory, row by row."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from engines.emulation import groups_of
from wideberth import datasets, tables
from wideberth.errors import (
    EngineError,
    InfeasibleError,
    OutputError,
    ParameterError,
    PolicyError,
    VerificationError,
)

QUASI = ["age", "birthplace", "occupation"]


def as_polars(frame):
    return pl.DataFrame(pl.from_arrow(frame.toArrow()))


@pytest.fixture(scope="module")
def people(spark, tmp_path_factory):
    """600,000 incomes in single units, in several files."""
    table = datasets.sal(600_000, seed=8)
    cents = np.random.default_rng(1).integers(0, 100, table.height)
    table = table.with_columns((pl.col("income") + pl.Series(cents)).alias("income"))
    folder = tmp_path_factory.mktemp("people")
    for i, part in enumerate(table.iter_slices(150_000)):
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
def test_600_000_rows(people, principles):
    table, frame = people
    asked = {"quasi": QUASI, "sensitive": "income", "principles": principles, "seed": 3}
    whole = wb.anonymize(table, **asked)
    release = wb.anonymize(frame, **asked, bucket_rows=60_000)
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
    from wideberth.engines.spark import releasing

    source = tmp_path / "people.parquet"
    datasets.sal(2_000, seed=1).write_parquet(source)
    asked = {"quasi": QUASI, "sensitive": "income", "principles": "epsilon-m:epsilon=500,m=3"}
    release = wb.anonymize(spark.read.parquet(str(source)), **asked)
    with pytest.raises(OutputError, match="is what is read"):
        release.save(source, force=True)
    path = tmp_path / "release.parquet"
    release.save(path)
    before = {p.name: p.read_bytes() for p in tmp_path.rglob("*.*") if p.is_file()}
    check = releasing.check
    monkeypatch.setattr(releasing, "check", lambda table, **q: check(table.limit(1_999), **q))
    with (
        pytest.warns(tables.TableWarning, match="may change"),
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


def test_a_table_that_changes(spark):
    from pyspark.sql import functions as sql

    frame = spark.range(5_000).select(
        (sql.rand() * 90).cast("int").alias("age"), sql.col("id").alias("pay")
    )
    asked = {"quasi": "age", "sensitive": "pay", "principles": "k-anonymity:k=5"}
    with pytest.warns(tables.TableWarning, match="may change"):
        release = wb.anonymize(frame, **asked)
    assert release.check().satisfied
