"""Advice in the app is that of the library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.ui.tasks.conftest import CONTENT, TREE, people, quiet
from wideberth.errors import (
    TableError,
)
from wideberth.ui.tasks.advise import advise_task, thin_curve

# ---- advise


def advised(path: Path, on: str, content: dict[str, Any] | None = None) -> dict[str, Any]:
    told = advise_task(
        path=str(path), content=content or CONTENT, folder=str(path.parent), column=on, tell=quiet
    )
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def test_advice_is_that_of_the_library(table: Path) -> None:
    told = advised(table, "salary")
    advice = wb.advise(pl.read_csv(table), "salary")
    assert told["absolute"] == advice.to_dict()["curve"]
    assert told["relative"] == advice.to_dict(relative=True)["curve"]
    assert told["limits"] == advice.to_dict()["other"]
    assert (told["rows"], told["missing"], told["numeric"]) == (300, 0, True)
    assert (told["low"], told["high"]) == (10_000.0, 89_000.0)
    assert told["distinct"] == people()["salary"].n_unique()
    assert (told["tree"], told["vector"], told["dates"]) == (False, False, False)


def test_advice_on_categories_and_trees(table: Path) -> None:
    told = advised(table, "disease")
    assert told["numeric"] is told["tree"] is False
    assert told["absolute"] is told["relative"] is told["low"] is None
    assert "l-e" not in {limit["name"] for limit in told["limits"]}
    (table.parent / "tree.csv").write_text(TREE)
    told = advised(table, "disease", {**CONTENT, "hierarchies": {"disease": "tree.csv"}})
    assert told["tree"] is True
    apart = [one["value"] for one in told["limits"] if one["name"] == "l-e"]
    assert apart[0] == 300 // people()["disease"].value_counts()["count"].max()


def test_advice_on_dates_is_in_days(tmp_path: Path) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("age,seen\n" + "".join(f"{i},2024-01-{1 + 3 * i:02}\n" for i in range(8)))
    roles = {"quasi": ["age"], "sensitive": ["seen"]}
    told = advised(path, "seen", {"roles": roles, "types": {"seen": "date"}})
    assert told["dates"] is told["numeric"] is True
    assert told["absolute"] == [[None, 1], [12, 2], [6, 4], [3, 8]]
    assert told["relative"] is None
    assert told["high"] - told["low"] == 21


def test_advice_on_vectors(tmp_path: Path) -> None:
    path = tmp_path / "shares.csv"
    pl.DataFrame({"d.flu": [0.5, 0.25, None], "d.cold": [0.5, 0.75, None]}).write_csv(path)
    told = advised(path, "d.*", {"roles": {"sensitive": ["d.*"]}})
    assert (told["vector"], told["numeric"], told["column"]) == (True, False, "d.*")
    assert (told["distinct"], told["missing"]) == (2, 1)


def test_advice_says_what_is_wrong(table: Path) -> None:
    with pytest.raises(TableError, match="no column 'salry'"):
        advised(table, "salry")


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(2, 9))
def test_a_thinned_curve_claims_no_more(values: list[int], most: int) -> None:
    whole = wb.advise(values).to_dict()["curve"]
    thin = thin_curve(whole, most)
    assert len(thin) <= max(most, 2)
    assert thin[0] == whole[0]
    assert thin[-1] == whole[-1]

    def largest(steps: list[Any], epsilon: float) -> int:
        return max(m for bound, m in steps if bound is None or epsilon < bound)

    for epsilon in [0, *(bound for bound, _ in whole if bound is not None)]:
        assert largest(thin, epsilon) <= largest(whole, epsilon)
