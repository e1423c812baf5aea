"""Hierarchies that are proposed: right for the values, and really usable."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth as wb
from wideberth import io
from wideberth.ui.tasks.hierarchy import rule_for, usual

CASES = {
    "numbers": ([17, 90, None, 33], "integer", {"interval": [2, 4, 8, 16]}),
    "few numbers": ([1, 2, 3], "integer", {"interval": [1, 2, 4, 8]}),
    "fractions": ([0.0, 1.2], "float", {"interval": [0.05, 0.1, 0.2, 0.4]}),
    "texts of numbers": (["10", "250"], "integer", {"interval": [10, 20, 40, 80]}),
    "one number": ([5, 5], "integer", {"flat": True}),
    "dates": ([date(2020, 1, 1), date(2024, 5, 6)], "date", {"date": ["month", "quarter", "year"]}),
    "codes": ([f"{n * 3331:05}" for n in range(30)] * 2, "text", {"mask": 5}),
    "numbers of people": ([f"{n:05}" for n in range(30)] * 2, "text", {"flat": True}),
    "few codes": (["aa", "bb"], "category", {"flat": True}),
    "words": (["red", "green"], "category", {"flat": True}),
    "nothing": ([None, None], "text", {"flat": True}),
}


@pytest.mark.parametrize("case", CASES)
def test_rule(case: str):
    values, kind, rule = CASES[case]
    assert rule_for(pl.Series("x", values), kind) == rule


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_lattice_can_use_them(tmp_path: Path, suffix: str):
    people = wb.datasets.census(400).select("age", "zip", "sex", "salary", "disease")
    path = tmp_path / f"people.{suffix}"
    io.write(people, path)
    content: dict[str, Any] = {
        "roles": {"quasi": ["age", "zip", "sex", "salary"], "sensitive": ["disease"]},
        "principle": [{"name": "k-anonymity", "k": 3}],
        "transform": {"algorithm": "lattice"},
    }
    told = usual(
        path=str(path),
        content=content,
        folder=str(tmp_path),
        columns=content["roles"]["quasi"],
        tell=lambda *_: None,
    )
    assert set(told["rules"]) == {"age", "zip", "sex", "salary"}
    policy = wb.Policy.of({**content, "hierarchies": told["rules"]})
    assert wb.anonymize(path, policy=policy).check().satisfied
