"""A table and its settings, for the tests of the app's tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wideberth.ui.tasks.open import profile


def quiet(phase: str, done: int, total: int) -> None:
    """Listen to nothing."""


def opened(path: str | Path, **options: Any) -> dict[str, Any]:
    told = profile(path=str(path), options=options, tell=quiet)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def people(rows: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(10)
    return pl.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(18, 80, rows),
            "zip": [f"{z:05}" for z in rng.integers(1000, 1040, rows)],
            "disease": rng.choice(["flu", "cold", "ulcer", "gastritis"], rows),
            "salary": rng.integers(10, 90, rows) * 1000,
        }
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().write_csv(path)
    return path


TREE = "flu;airways;*\ncold;airways;*\nulcer;stomach;*\ngastritis;stomach;*\n"


ROLES = {
    "identifier": ["name"],
    "quasi": ["age", "zip"],
    "sensitive": ["disease", "salary"],
    "insensitive": [],
}


CONTENT: dict[str, Any] = {
    "version": 1,
    "roles": ROLES,
    "types": {"age": "integer", "zip": "text", "disease": "category", "salary": "integer"},
    "principle": [{"name": "k-anonymity", "k": 5}],
}
