"""The groups that each way of making them gives: of a few people for three seeds, and of many.

Small tables take the plain path of most algorithms, large ones the compiled path.
"""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import wideberth as wb

from .snapshots import compare, digest, json_text

FILES = ["groups.json"]

SEEDS = (0, 1, 2)
FEW, MANY = 300, 5_000
AGES = {"interval": [5, 20], "origin": 0}
ZIPS = {"mask": 1}


#: Each way of making groups: settings of `wb.anonymize`.
WAYS: dict[str, dict[str, Any]] = {
    "k, best cuts": {"principles": "k-anonymity:k=5"},
    "k, paper cuts": {"principles": "k-anonymity:k=5", "cuts": "paper"},
    "k, quality cuts": {"principles": "k-anonymity:k=5", "cuts": "quality"},
    "distinct l": {"principles": "distinct-l:l=4"},
    "entropy l": {"principles": "entropy-l:l=3"},
    "recursive (c,l)": {"principles": "recursive-cl:c=3,l=3"},
    "t-closeness": {"principles": ["k-anonymity:k=4", "t-closeness:t=0.3"]},
    "delta-l": {"principles": "delta-l:delta=500,l=4"},
    "epsilon-m": {"principles": "epsilon-m:epsilon=1000,m=4"},
    "epsilon-m, paper cuts": {"principles": "epsilon-m:epsilon=1000,m=4", "cuts": "paper"},
    "epsilon-m, matching": {"principles": "epsilon-m:epsilon=1000,m=4", "dealing": "matching"},
    "epsilon-m beside k <= m": {"principles": ["k-anonymity:k=3", "epsilon-m:epsilon=1000,m=4"]},
    "dissimilarity": {"principles": "dissimilarity:epsilon=1000,delta=0.6,k=4"},
    "suppression": {"principles": "entropy-l:l=8", "suppression_limit": 0.5},
    "lattice": {"principles": "k-anonymity:k=5", "algorithm": "lattice"},
    "lattice, local": {
        "principles": "k-anonymity:k=8",
        "algorithm": "lattice",
        "suppression_limit": 0.2,
        "local_rounds": 2,
    },
    "anatomy": {"principles": "frequency-l:l=3", "algorithm": "anatomy"},
}  # fmt: skip


def people(rows: int) -> pl.DataFrame:
    """Make people with ties in everything, and a number for each that identifies the row."""
    census = wb.datasets.census(rows, seed=7).select("age", "zip", "sex", "salary")
    rounded = (pl.col("salary").fill_null(0) / 250).round().cast(pl.Int64) * 250
    return census.with_columns(salary=rounded, row=pl.int_range(rows))


def partition(way: str, seed: int, rows: int) -> list[list[int]]:
    """Return the groups of a release as sorted lists of row numbers, in a fixed order."""
    settings = dict(WAYS[way])
    if settings.get("algorithm") == "lattice":
        settings["hierarchies"] = {"age": AGES, "zip": ZIPS, "sex": {"flat": True}}
    roles: dict[str, Any] = {"quasi": ["age", "zip", "sex"], "sensitive": "salary"}
    made = wb.anonymize(
        people(rows), **roles, insensitive="row", group="group", seed=seed, **settings
    )
    return groups_of(made.table)


def groups_of(table: pl.DataFrame) -> list[list[int]]:
    groups: dict[Any, list[int]] = {}
    for group, row in table.select("group", "row").rows():
        groups.setdefault(group, []).append(int(row))
    return sorted(sorted(rows) for rows in groups.values())


@pytest.mark.filterwarnings("ignore:dealing by matching")
def test_groups_for_fixed_seeds() -> None:
    found: dict[str, dict[str, str]] = {}
    for way in WAYS:
        made = {str(seed): partition(way, seed, FEW) for seed in SEEDS}
        made["many people"] = partition(way, 0, MANY)
        found[way] = {
            name: f"{len(groups)} groups {digest(json.dumps(groups))}"
            for name, groups in made.items()
        }
    compare("groups.json", json_text(found))
