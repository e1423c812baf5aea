"""The same release on any engine: row by row, none different.

Table, seed and parameters are the same, engine, order of rows, partitions and buckets are not.
"""

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.engines.spark.emulation import emulated, groups_of
from wideberth import datasets

QUASI = ["age", "birthplace", "occupation"]


@pytest.fixture(scope="module", params=[60_000, pytest.param(600_000, marks=pytest.mark.nightly)])
def people(request):
    """Incomes in single units: far more of them than a driver counts one by one."""
    many = request.param
    table = datasets.sal(many, seed=8)
    cents = np.random.default_rng(1).integers(0, 100, many)
    visits = np.random.default_rng(2).integers(0, 5, many)
    return table.with_columns(
        (pl.col("income") + pl.Series(cents)).alias("income"), pl.Series("visits", visits)
    )


@pytest.mark.parametrize(
    ("principles", "cuts"),
    [
        (["epsilon-m:epsilon=1000,m=3"], "best"),
        (["epsilon-m:epsilon=4000,m=5", "k-anonymity:k=12"], "best"),
        (["epsilon-m:epsilon=4500,m=5"], "paper"),
        (["epsilon-m:epsilon=5%,m=4"], "disjoint"),
        (["epsilon-m:epsilon=20%,m=5"], "best"),
        (["entropy-l:l=5"], "disjoint"),
        (["entropy-l:l=60"], "best"),
        (["recursive-cl:c=2,l=4"], "paper"),
        (["recursive-cl:c=0.5,l=30", "k-anonymity:k=20"], "best"),
        (["k-anonymity:k=10"], "best"),
        (["delta-l:delta=4000,l=4", "t-closeness:t=0.3"], "disjoint"),
    ],
)
def test_many_rows(people, principles, cuts):
    asked = {
        "quasi": QUASI,
        "sensitive": "income",
        "insensitive": "visits",
        "principles": principles,
        "cuts": cuts,
        "seed": 3,
    }
    whole = wb.anonymize(people, **asked)
    table, manifest = emulated(people, bucket_rows=people.height // 12, **asked)
    # Rows with equal quasi-identifiers and income are one to the algorithm, whatever their visits.
    columns = [*QUASI, "income"]
    assert groups_of(table, columns).equals(groups_of(whole.table, columns))
    assert (
        table.select("income", "visits")
        .sort(pl.all())
        .equals(whole.table.select("income", "visits").sort(pl.all()))
    )
    assert manifest["engine"]["buckets"] > 3
    for key in ("groups", "leaves", "loss", "principles", "rows"):
        assert manifest[key] == whole.manifest[key]


@pytest.fixture(scope="module")
def patients():
    """Several sensitive attributes, and values missing in every column."""
    table = datasets.census(8_000, seed=5).drop("id")
    lacking = np.random.default_rng(3).random((table.width, table.height)) < 0.02
    return pl.DataFrame(
        [
            s.zip_with(pl.Series(~gone), s.clear(len(s)))
            for s, gone in zip(table, lacking, strict=True)
        ]
    )


@pytest.mark.parametrize(
    "how",
    [
        {"principles": ["frequency-l:on=disease,l=2", "delta-l:on=salary,delta=2000,l=3"]},
        {"principles": "entropy-l:on=disease,l=3", "weights": {"age": 3.0}, "align": {"age": 5}},
        {"principles": "m-uniqueness:on=disease,m=3", "recoding": {"age": "bounds"}},
        {"principles": "l-e:on=disease,l=2,e=1", "cuts": "disjoint"},
        {"principles": ["alpha-k:on=disease,alpha=0.5,k=6", "t-closeness:on=disease,t=0.4"]},
        {"principles": ["variance:on=salary,t=100000", "k-e:on=salary,k=4,e=2000"]},
        {"principles": "recursive-cl:on=disease+education,c=3,l=3", "cuts": "paper"},
        {"principles": "epsilon-m:on=salary,epsilon=10%,m=3", "group": "class"},
    ],
    ids=lambda how: str(how["principles"])[:24],
)
def test_all_kinds_of_demands(patients, how):
    asked = {
        "quasi": ["age", "zip", "sex"],
        "sensitive": ["disease", "salary", "education"],
        "hierarchies": {"zip": {"mask": 5}, "disease": datasets.wang2013_figure1()},
        "types": {"zip": "text"},
        "seed": 2,
        **how,
    }
    if "l-e" not in how["principles"]:
        del asked["hierarchies"]["disease"]
    whole = wb.anonymize(patients, **asked)
    table, manifest = emulated(patients, bucket_rows=900, partitions=4, **asked)
    columns = [name for name in whole.table.columns if name != whole.manifest["group"]]
    assert sorted(table.columns) == sorted(whole.table.columns)
    made, kept = (groups_of(t, columns, whole.manifest["group"]) for t in (table, whole.table))
    assert made.equals(kept)
    assert manifest["engine"]["buckets"] > 2
    for key in ("groups", "leaves", "principles", "rows"):
        assert manifest[key] == whole.manifest[key]
    assert manifest["loss"] == whole.manifest["loss"]


def test_sets_that_would_be_too_long(patients):
    asked = {
        "quasi": ["zip", "sex"],
        "identifier": "age",
        "sensitive": ["disease", "salary", "education"],
        "types": {"zip": "text"},
        "principles": ["k-anonymity:k=300", "distinct-l:on=disease,l=3"],
        "max_set": 20,
        "seed": 2,
    }
    whole = wb.anonymize(patients, **asked)
    table, manifest = emulated(patients, bucket_rows=900, partitions=4, **asked)
    assert (whole.table["zip"].cast(pl.String) == "*").any()
    columns = whole.table.columns
    assert groups_of(table, columns).equals(groups_of(whole.table, columns))
    assert manifest["loss"] == whole.manifest["loss"]
    said = [text for text in whole.manifest["warnings"] if "'zip'" in text]
    assert said
    assert said == [text for text in manifest["warnings"] if "'zip'" in text]


def test_a_seed_repeats_a_release_and_none_does_not(tmp_path):
    """In memory, from a file, and on Spark: ids and all, and the groups are the same."""
    people = datasets.sal(3_000, seed=8)
    people.write_parquet(tmp_path / "people.parquet")
    asked = {
        "quasi": QUASI,
        "sensitive": "income",
        "principles": "epsilon-m:epsilon=1000,m=3",
    }

    def memory(seed):
        return wb.anonymize(people, **asked, seed=seed).table

    def file(seed):
        path, more = tmp_path / "people.parquet", {"memory": "600MB", "bucket_rows": 700}
        return wb.anonymize(path, **asked, **more, seed=seed).table.collect()

    def spark(seed):  # which is only emulated, and so are the files that mix the rows
        return emulated(people, bucket_rows=700, partitions=3, **asked, seed=seed)[0].sort(pl.all())

    columns = [*QUASI, "income"]
    expected = groups_of(memory(1), columns)
    for release in (memory, file, spark):
        tables = [release(seed) for seed in (1, 1, 2, None, None)]
        assert tables[0].equals(tables[1])
        assert groups_of(tables[0], columns).equals(expected)
        for a, b in ((0, 2), (0, 3), (3, 4)):
            assert not tables[a].equals(tables[b])


@pytest.mark.parametrize(
    "how",
    [
        {"principles": "recursive-cl:on=disease+education,c=3,l=3"},
        {"principles": "l-e:on=disease,l=2,e=1"},
        {"principles": "epsilon-m:on=salary,epsilon=10%,m=3", "recoding": {"age": "bounds"}},
    ],
    ids=lambda how: str(how["principles"])[:24],
)
def test_a_key_makes_the_same_groups_on_every_engine(patients, tmp_path, how):
    """From a file of text too, and whatever the order of the rows."""
    patients.write_csv(tmp_path / "people.csv")
    asked = {
        "quasi": ["age", "zip", "sex"],
        "sensitive": ["disease", "salary", "education"],
        "hierarchies": {"zip": {"mask": 5}, "disease": datasets.wang2013_figure1()},
        "types": {"zip": "text"},
        "key": tmp_path / "my.key",
        "group": "group",
        **how,
    }
    whole = wb.anonymize(patients, **asked).table
    columns = [name for name in whole.columns if name != "group"]
    expected = groups_of(whole, columns)
    path, more = tmp_path / "people.csv", {"memory": "600MB", "bucket_rows": 2_000}
    for table in (
        wb.anonymize(patients.reverse(), **asked).table,
        wb.anonymize(path, **asked).table,
        wb.anonymize(path, **asked, **more).table.collect(),
        emulated(patients, bucket_rows=900, partitions=4, **asked)[0],
    ):
        assert groups_of(table, columns).equals(expected)
    assert not groups_of(wb.anonymize(patients, **asked | {"key": None}).table, columns).equals(
        expected
    )
