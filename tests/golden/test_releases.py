"""Releases for fixed seeds: three algorithms, each in memory, from a file by DuckDB, and on Spark.

A file in `stored/releases` holds the manifest and the first rows of one seed in full, and digests
for all seeds. `groups` are the rows of each group, which no engine may change; `table` covers
labels, group ids and values, with its rows sorted; `order` is the table as it is.

What Spark's executors run is called without a cluster, on partitions in random order, so Spark has
no `order`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

import wideberth as wb

from .inside import emulated
from .snapshots import compare, digest, json_text, steady
from .test_groups import groups_of

SEEDS = range(8)
ROWS = 300
BUCKET_ROWS = 60  # so that engines finish several parts

#: Settings of `wb.anonymize`, with everything that makes labels: grids, trees, missing values.
ALGORITHMS: dict[str, dict[str, Any]] = {
    "mondrian": {
        "principles": ["k-anonymity:k=5", "epsilon-m:on=salary,epsilon=1000,m=4"],
        "hierarchies": {"zip": {"mask": 4}},
        "align": {"age": 5},
        "weights": {"age": 2.0},
    },
    "lattice": {
        "principles": ["entropy-l:on=salary,l=3", "k-anonymity:k=4"],
        "hierarchies": {
            "age": {"interval": [5, 20], "origin": 0},
            "zip": {"mask": 4},
            "sex": {"flat": True},
        },
        "suppression_limit": 0.1,
    },
    "anatomy": {"principles": ["frequency-l:on=disease,l=3"]},
}


class Made(NamedTuple):
    """A release: its tables, and its manifest."""

    tables: list[pl.DataFrame]
    manifest: dict[str, Any]


def in_memory(people: pl.DataFrame, path: Path, **settings: Any) -> Made:
    release = wb.anonymize(people, **settings)
    two = isinstance(release, wb.Anatomy)
    return Made([release.table, *([release.sensitive] if two else [])], release.manifest)


def by_duckdb(people: pl.DataFrame, path: Path, **settings: Any) -> Made:
    release = wb.anonymize(path, memory="600MB", bucket_rows=BUCKET_ROWS, **settings)
    made = Made([release.table.collect()], release.manifest)
    release.close()
    return made


def on_spark(people: pl.DataFrame, path: Path, **settings: Any) -> Made:
    table, manifest = emulated(people, bucket_rows=BUCKET_ROWS, **settings)
    return Made([table], manifest)


ENGINES: dict[str, Callable[..., Made]] = {
    "memory": in_memory,
    "duckdb": by_duckdb,
    "spark": on_spark,
}
FILES = [f"releases/{algorithm}-{engine}.json" for algorithm in ALGORITHMS for engine in ENGINES]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """A census with ties, in which some ages and diseases are missing; rows have numbers."""
    row = pl.int_range(ROWS)
    return wb.datasets.census(ROWS, seed=7).with_columns(
        (pl.col("salary") / 1000).round().cast(pl.Int64) * 1000,
        age=pl.when(row % 29 != 3).then("age"),
        disease=pl.when(row % 31 != 5).then("disease"),
        row=row,
    )


@pytest.fixture(scope="module")
def path(people: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("golden") / "people.parquet"
    people.write_parquet(path)
    return path


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_releases(people: pl.DataFrame, path: Path, algorithm: str, engine: str) -> None:
    settings = {
        "quasi": ["age", "zip", "sex"],
        "sensitive": ["salary", "disease"] if algorithm != "anatomy" else "disease",
        "identifier": "id",
        "insensitive": ["education", "row", *(["salary"] if algorithm == "anatomy" else [])],
        "algorithm": algorithm,
        "group": "group",
        **ALGORITHMS[algorithm],
    }
    seeds: dict[str, Any] = {}
    told: dict[str, Any] = {}
    try:
        for seed in SEEDS:
            made = ENGINES[engine](people, path, seed=seed, **settings)
            if not seeds:
                told = {"manifest": steady(made.manifest), "tables": [*map(shown, made.tables)]}
            seeds[str(seed)] = digests(made, ordered=engine != "spark")
    except wb.WideberthError as error:
        told = error.to_dict()
    text = json_text({**told, "seeds": seeds} if seeds else told)
    compare(f"releases/{algorithm}-{engine}.json", text)


def shown(table: pl.DataFrame) -> dict[str, Any]:
    """Return the types of a table, and its first rows in sorted order."""
    return {
        "columns": {name: str(dtype) for name, dtype in table.schema.items()},
        "first": [list(map(str, row)) for row in table.sort(pl.all()).head(5).rows()],
    }


def digests(made: Made, *, ordered: bool) -> dict[str, str]:
    tables = [table.sort(pl.all()) for table in made.tables]
    found = {
        "manifest": digest(json_text(steady(made.manifest))),
        "groups": digest(json.dumps(groups_of(made.tables[0]))),
        "table": digest("".join(table.write_csv() for table in tables)),
    }
    if ordered:
        found["order"] = digest("".join(table.write_csv() for table in made.tables))
    return found
