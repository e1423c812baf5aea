"""The same release on any engine: row by row, none different.

Table, seed and parameters are the same, engine, order of rows, partitions and buckets are not.
"""

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets

from .emulation import emulated, groups_of

QUASI = ["age", "birthplace", "occupation"]
MANY = 600_000


@pytest.fixture(scope="module")
def people():
    """Incomes in single units: far more of them than a driver counts one by one."""
    table = datasets.sal(MANY, seed=8)
    cents = np.random.default_rng(1).integers(0, 100, MANY)
    visits = np.random.default_rng(2).integers(0, 5, MANY)
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
def test_600_000_rows(people, principles, cuts):
    asked = {
        "quasi": QUASI,
        "sensitive": "income",
        "insensitive": "visits",
        "principles": principles,
        "cuts": cuts,
        "seed": 3,
    }
    whole = wb.anonymize(people, **asked)
    table, manifest = emulated(people, bucket_rows=50_000, **asked)
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
    for key in ("groups", "leaves", "loss", "principles", "rows"):
        assert manifest[key] == whole.manifest[key]
