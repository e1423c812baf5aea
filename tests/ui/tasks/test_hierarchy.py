"""Hierarchies in the app: proposed, tried, and really usable."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth as wb
from tests.ui.tasks.conftest import CONTENT, TREE, people, quiet
from wideberth import io
from wideberth.errors import (
    HierarchyError,
    WideberthError,
)
from wideberth.ui.tasks.hierarchy import hierarchy_task, rule_for, usual

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


# ---- hierarchy


def tried(path: Path, on: str, rule: Any, **content: Any) -> dict[str, Any]:
    told = hierarchy_task(
        path=str(path),
        content={**CONTENT, **content},
        folder=str(path.parent),
        column=on,
        rule=rule,
        tell=quiet,
    )
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told


def test_intervals_masks_and_trees(table: Path) -> None:
    ages = tried(table, "age", {"interval": [10, 20]})
    assert [level["level"] for level in ages["levels"]] == [0, 1, 2, 3]
    assert ages["levels"][0]["values"] == people()["age"].n_unique() == ages["leaves"]
    assert ages["levels"][-1]["values"] == 1
    assert ages["levels"][1]["examples"][0] == ["18", "10-19"]
    assert all(len(level["examples"]) == 6 for level in ages["levels"])
    assert ages["balanced"] is True
    assert ages["outline"][0] == [0, "*", ages["leaves"]]
    zips = tried(table, "zip", {"mask": 2})
    assert zips["levels"][1]["examples"][0][1].endswith("*")
    (table.parent / "tree.csv").write_text(TREE)
    tree = tried(table, "disease", "tree.csv")
    assert tree["leaves"] == 4
    assert [level["values"] for level in tree["levels"]] == [4, 2, 1]
    assert ["flu", "airways"] in tree["levels"][1]["examples"]


def test_levels_are_those_of_an_audit_s_findings(tmp_path: Path) -> None:
    """Also where values lie at unequal depth: a finding's level is one that the editor shows."""
    (tmp_path / "tree.csv").write_text("flu;airways;inner;*\ncold;airways;inner;*\nulcer;inner;*\n")
    ill = ["flu", "cold"] * 3 + ["flu", "ulcer"] * 3
    frame = pl.DataFrame({"age": [1] * 6 + [2] * 6, "ill": ill})
    frame.write_csv(tmp_path / "ill.csv")
    roles = {"quasi": ["age"], "sensitive": ["ill"]}
    told = hierarchy_task(
        path=str(tmp_path / "ill.csv"),
        content={"roles": roles},
        folder=str(tmp_path),
        column="ill",
        rule="tree.csv",
        tell=quiet,
    )
    shown = {level["level"]: dict(level["examples"]) for level in told["levels"]}
    rules = {"ill": str(tmp_path / "tree.csv")}
    audit = wb.audit(frame, quasi="age", sensitive="ill", hierarchies=rules)
    (finding,) = [one for one in audit.findings if one.name == "similarity"]
    found = finding.figures["levels"]
    assert [one["people"] for one in found] == [6, 12]
    for one in found:
        level = one["above_values"]
        assert f"at level {level}" in finding.title
        # By hand: those whose group is of one kind on that level, and not on the one below.
        kinds = [shown[level][value] for value in ill]
        alike = sum(6 for group in (kinds[:6], kinds[6:]) if len(set(group)) == 1)
        assert alike == one["people"]
        below = [shown[level - 1][value] for value in ill]
        assert alike > sum(6 for group in (below[:6], below[6:]) if len(set(group)) == 1)


def test_what_is_wrong_with_a_hierarchy(table: Path) -> None:
    (table.parent / "short.csv").write_text("flu;airways;*\ncold;airways;*\n")
    (table.parent / "odd.csv").write_text("flu;airways;*\ncold;flu;*\nairways;flu;*\n")
    with pytest.raises(
        HierarchyError, match=r"2 values are missing .*row \d+.*'ulcer' in \d+ rows"
    ):
        tried(table, "disease", "short.csv")  # labels, of many people each
    for on, rule in (
        ("disease", "odd.csv"),
        ("disease", "absent.csv"),
        ("age", {"interval": [10, 15]}),
        ("age", {"intervall": 10}),
        ("zip", {"date": ["year"]}),
    ):
        with pytest.raises(HierarchyError):
            tried(table, on, rule)
    with pytest.raises(WideberthError, match="'wage'"):
        tried(table, "wage", {"flat": True})
