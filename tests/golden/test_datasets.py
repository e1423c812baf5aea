"""The tables that `wideberth.datasets` makes, printed ones and made-up ones."""

from __future__ import annotations

import json
from inspect import signature

import polars as pl

import wideberth as wb

from .snapshots import compare, digest, json_text

FILES = ["datasets.json"]


def test_datasets() -> None:
    found = {}
    for name in wb.datasets.__all__:
        make = getattr(wb.datasets, name)
        made = make(200) if "rows" in signature(make).parameters else make()
        if isinstance(made, wb.Hierarchy):
            found[name] = {"rows": digest(json_text(made.to_rows()))}
            continue
        assert isinstance(made, pl.DataFrame)
        plain = json.loads(json.dumps(made.rows(), default=str))
        found[name] = {
            "columns": {column: str(dtype) for column, dtype in made.schema.items()},
            "rows": f"{made.height} rows {digest(json_text(plain))}",
        }
    compare("datasets.json", json_text(found))
