"""Tables and releases for the tests of what a release gives away besides its groups."""

from __future__ import annotations

import io

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.risk.findings import Finding

QUASI = ["age", "birthplace", "occupation"]


NEAR = "epsilon-m:epsilon=2000,m=5"


def severities(findings: list[Finding]) -> list[str]:
    return [finding.severity for finding in findings]


def as_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Write a table and read it back as text, as our reader does."""
    return pl.read_csv(io.StringIO(frame.write_csv()), infer_schema=False)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Three hundred people; where they live is nobody's secret and is published as it is."""
    rng = np.random.default_rng(5)
    table = datasets.sal(300, seed=11)
    return table.with_columns(region=pl.Series(rng.choice(["north", "south"], 300)))


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> pl.DataFrame:
    return wb.anonymize(
        people,
        quasi=QUASI,
        sensitive="income",
        insensitive="region",
        principles="k-anonymity:k=5",
        seed=1,
    ).table


def generalised(people: pl.DataFrame, *, rows: int | None = None) -> pl.DataFrame:
    """Generalise without shuffling: ages by decades."""
    decade = pl.col("age") // 10 * 10
    label = pl.format("{}..{}", decade, decade + 9)
    return people.select(label.alias("age"), "income", "region").head(rows or people.height)
