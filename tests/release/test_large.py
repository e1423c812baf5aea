"""Releases of files larger than memory: the same as in memory, and nothing left behind."""

import json

import polars as pl
import pytest

import wideberth as wb
from tests.engines.spark.emulation import emulated, groups_of
from wideberth import datasets, io
from wideberth.errors import EngineError, InfeasibleError, OutputError, ParameterError, TableError
from wideberth.io.manifest import sha256

QUASI = ["age", "birthplace", "occupation"]
ASKED = {"quasi": QUASI, "sensitive": "income", "seed": 5}
SMALL = {"memory": "600MB", "bucket_rows": 3_000}


@pytest.fixture(scope="module")
def people():
    return datasets.sal(20_000, seed=4)


@pytest.fixture
def spilled(tmp_path, monkeypatch):
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setenv("WIDEBERTH_SPILL", str(folder))
    return folder


@pytest.mark.parametrize("form", ["parquet", "csv", "feather"])
@pytest.mark.parametrize(
    "principles",
    [["k-anonymity:k=5"], ["epsilon-m:epsilon=2000,m=4", "k-anonymity:k=6"]],
    ids=["k", "epsilon-m"],
)
def test_the_same_release(people, tmp_path, spilled, form, principles):
    path = tmp_path / f"people.{form}"
    io.write(people, path)
    whole = wb.anonymize(people, **ASKED, principles=principles)
    release = wb.anonymize(path, **ASKED, principles=principles, **SMALL)
    columns = [*QUASI, "income"]
    assert groups_of(release.table.collect(), columns).equals(groups_of(whole.table, columns))
    assert release.manifest["engine"]["buckets"] > 4
    for key in ("groups", "loss", "principles", "rows", "leaves"):
        assert release.manifest[key] == whole.manifest[key]
    assert release.manifest["input"]["name"] == path.name
    assert release.check().satisfied
    assert len(list(spilled.iterdir())) == 1
    release.close()
    assert not list(spilled.iterdir())


def test_saved_and_verified(people, tmp_path, spilled):
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    release = wb.anonymize(path, **ASKED, principles="epsilon-m:epsilon=1000,m=3", **SMALL)
    for name in ("out.csv", "out.parquet", "out.arrow", "out.tsv"):
        target = tmp_path / name
        manifest = release.save(target)
        noted = json.loads((tmp_path / f"{name}.manifest.json").read_text())
        assert noted == manifest
        assert manifest["output"] == {"name": name, "sha256": sha256(target)}
        assert wb.check(target, **release.question).satisfied
        with pytest.raises(OutputError, match="exists"):
            release.save(target)
    with pytest.raises(OutputError, match="not packed"):
        release.save(tmp_path / "out.csv.gz")
    # Neither parts nor the order of the original show.
    ids = release.table.collect()["group"]
    assert (ids == ids.shift(1)).sum() < len(ids) / 100
    assert ids.n_unique() == release.manifest["groups"]


def test_rows_of_a_kind_never_matter(people):
    """Neither partitions nor buckets nor the order of rows change the groups."""
    asked = {**ASKED, "principles": ["epsilon-m:epsilon=3000,m=4"]}
    columns = [*QUASI, "income"]
    made = [
        groups_of(emulated(people, partitions=p, bucket_rows=b, rows_seed=s, **asked)[0], columns)
        for p, b, s in ((1, 30_000, 0), (5, 4_000, 1), (2, 1_000, 2), (7, 150, 3))
    ]
    assert all(one.equals(made[0]) for one in made[1:])


@pytest.mark.filterwarnings("ignore:dealing by matching")
@pytest.mark.parametrize(
    ("asked", "error", "told"),
    [
        ({"memory": "100MB"}, ParameterError, "not enough"),
        ({"memory": "much"}, ParameterError, "much"),
        ({"bucket_rows": 0}, ParameterError, "bucket_rows"),
        ({"cuts": "quality"}, ParameterError, "in memory"),
        ({"dealing": "matching"}, ParameterError, "in memory"),
        ({"principles": "frequency-l:l=40", "bucket_rows": 20}, EngineError, "bucket_rows="),
        (
            {"principles": "dissimilarity:epsilon=10,delta=0.5,k=3"},
            ParameterError,
            "who is near whom",
        ),
    ],
)
def test_refused(tmp_path, spilled, asked, error, told):
    path = tmp_path / "people.parquet"
    people = datasets.sal(1_000, seed=1)
    people.with_columns((pl.int_range(1_000) // 25).alias("income")).write_parquet(path)
    given = {**ASKED, "principles": "k-anonymity:k=5", **SMALL, **asked}
    with pytest.raises(error, match=told):
        wb.anonymize(path, **given)
    assert not list(spilled.iterdir())


def test_files_that_are_none(tmp_path, people):
    with pytest.raises(TableError, match="there is no file"):
        wb.anonymize(tmp_path / "no.parquet", **ASKED, principles="k-anonymity:k=5", **SMALL)
    with pytest.raises(ParameterError, match="memory is for files"):
        wb.anonymize(people, **ASKED, principles="k-anonymity:k=5", **SMALL)


def test_a_refusal_is_worded_as_in_memory(tmp_path, people):
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    asked = {**ASKED, "principles": "epsilon-m:epsilon=60000,m=5"}
    with pytest.raises(InfeasibleError) as there:
        wb.anonymize(people, **asked, trials=False)
    with pytest.raises(InfeasibleError) as here:
        wb.anonymize(path, **asked, **SMALL)
    assert here.value.what == there.value.what.split("; ")[0]
    assert there.value.hint.startswith(here.value.hint)
    with pytest.raises(InfeasibleError, match="only with the table in memory"):
        wb.anonymize(path, **asked, **SMALL, suppression_limit=0.1)
