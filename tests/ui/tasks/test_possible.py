"""Which principles are possible, alone and together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.ui.tasks.conftest import CONTENT, ROLES, TREE, people, quiet
from wideberth import datasets
from wideberth.errors import (
    TableError,
    WideberthError,
)
from wideberth.policy.policy import Policy
from wideberth.ui.tasks.hierarchy import protect
from wideberth.ui.tasks.open import fits_task
from wideberth.ui.tasks.possible import possible

# ---- possible


def judged(path: Path, *principles: dict[str, Any], **content: Any) -> list[dict[str, Any]]:
    asked = {**CONTENT, **content, "principle": list(principles)}
    told = possible(path=str(path), content=asked, folder=str(path.parent), tell=quiet)
    assert len(told["principles"]) == len(principles)
    return told["principles"]


def test_each_principle_is_judged_alone(table: Path) -> None:
    (table.parent / "tree.csv").write_text(TREE)
    told = judged(
        table,
        {"name": "k-anonymity", "k": 300},
        {"name": "k-anonymity", "k": 301},
        {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 5},
        {"name": "epsilon-m", "on": "salary", "epsilon": 60_000, "m": 5},
        {"name": "l-e", "on": "disease", "l": 2, "e": 1},
        {"name": "l-e", "on": "disease", "l": 3, "e": 1},
        {"name": "t-closeness", "on": "disease", "t": 0.1},
        {"name": "multi-attribute-l", "l": 2},
        hierarchies={"disease": "tree.csv"},
    )
    # By hand: each kind of disease needs a group of its own, and no more than half the rows.
    stomach = people()["disease"].is_in(["ulcer", "gastritis"]).sum()
    halves = "yes" if stomach == 150 else "no"
    # And each value of one attribute must occur with two of the other.
    pairs = people()["disease", "salary"].unique()
    least = min(pairs.group_by(name).len()["len"].min() for name in pairs.columns)
    several = "yes" if least >= 2 else "no"
    verdicts = [one["verdict"] for one in told]
    assert verdicts == ["yes", "no", "yes", "no", halves, "no", "yes", several]
    assert told[1]["what"] == "k-anonymity:k=301 needs 301 rows, the table has 300"
    assert told[1]["hint"] == "k=300"
    assert "epsilon below" in told[3]["hint"]
    assert all((one["hint"] is None) == (one["verdict"] == "yes") for one in told)


def test_a_bad_principle_does_not_spoil_the_others(table: Path) -> None:
    told = judged(
        table,
        {"name": "k-anonimity", "k": 5},
        {"k": 5},
        {"name": "epsilon-m", "on": "salary", "epsilon": "much", "m": 5},
        {"name": "distinct-l", "l": 2},
        {"name": "distinct-l", "on": "age", "l": 2},
        {"name": "epsilon-m", "on": "disease", "epsilon": 1, "m": 2},
        {"name": "l-e", "on": "disease", "l": 2, "e": 1},
        {"name": "distinct-l", "on": 5, "l": 2},
        {"name": "delta-presence", "delta_max": 0.5},
        {"name": "k-anonymity", "k": 5},
    )
    assert [one["verdict"] for one in told] == ["no"] * 8 + ["unknown", "yes"]
    assert told[0]["what"].startswith("there is no principle 'k-anonimity'")
    assert told[2]["what"].startswith("epsilon-m: epsilon must be")
    assert "which sensitive attribute" in told[3]["what"]
    assert "no sensitive attribute" in told[4]["what"]
    assert "cannot be made" in told[8]["what"]


def test_what_cannot_be_told_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "vectors.csv"
    rng = np.random.default_rng(3)
    pl.DataFrame(
        {"age": range(60), "p.x": rng.integers(0, 9, 60), "p.y": rng.integers(0, 9, 60)}
    ).write_csv(path)
    content = {"roles": {"quasi": ["age"], "sensitive": ["p.*"]}, "types": {}}
    entries = [
        {"name": "dissimilarity", "on": "p.*", "delta": 1, "k": 3, "distance": "euclidean"}
        | {"epsilon": epsilon}
        for epsilon in (0, 1, 2, 3, 4, 5, 6, 100)
    ]
    told = judged(path, *entries, **content)
    verdicts = [one["verdict"] for one in told]
    assert verdicts[0] == "yes"
    assert verdicts[-1] == "no"
    frame = pl.read_csv(path)
    advice = wb.advise(frame, ["p.x", "p.y"]).dissimilarity("euclidean")
    assert verdicts == [advice.satisfiable(e["epsilon"], 1, 3).verdict for e in entries]


def test_principles_that_do_not_go_together(table: Path) -> None:
    near = {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 2}
    asked = {**CONTENT, "principle": [near, {**near, "m": 3}]}
    told = possible(path=str(table), content=asked, folder="", tell=quiet)
    assert "non-monotone" in told["together"]["what"]
    asked = {**CONTENT, "principle": [near]}
    assert possible(path=str(table), content=asked, folder="", tell=quiet)["together"] is None


def test_principles_are_tested_together_and_proposals_hold(tmp_path: Path) -> None:
    # Of 0, 1, … 39, only pairs such as 7 and 27 differ by more than 19.
    path = tmp_path / "pairs.csv"
    pl.DataFrame({"age": range(40), "pay": range(40)}).write_csv(path)
    near = {"name": "epsilon-m", "on": "pay", "epsilon": 19, "m": 2}
    crowd = {"name": "k-anonymity", "k": 10}
    content = {"roles": {"quasi": ["age"], "sensitive": ["pay"]}, "types": {"pay": "integer"}}

    def told_of(*entries: dict[str, Any]) -> dict[str, Any]:
        asked = {**CONTENT, **content, "principle": list(entries)}
        told = possible(path=str(path), content=asked, folder="", tell=quiet)
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        return told

    told = told_of(crowd, near)
    assert [one["verdict"] for one in told["principles"]] == ["yes", "yes"]
    assert told["together"]["verdict"] in ("no", "unknown")
    assert "k-anonymity" in told["together"]["what"]
    crowded, nearer = told["together"]["tries"]
    assert crowded == {"words": "k-anonymity: k=2", "at": 0, "entry": {**crowd, "k": 2}}
    assert told_of(crowded["entry"], near)["together"] is None
    assert nearer["words"] == "(ε,m)-anonymity: epsilon=15"
    assert told_of(crowd, nearer["entry"])["together"] is None

    told = told_of(crowd, {**near, "epsilon": 30})
    assert [one["verdict"] for one in told["principles"]] == ["yes", "no"]
    tries = told["principles"][1]["tries"]
    assert {one["at"] for one in tries} == {1}
    for one in tries:
        assert told_of(one["entry"])["principles"][0]["verdict"] == "yes"


def test_principles_that_the_whole_table_satisfies_go_together(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    datasets.sal(100).write_csv(path)
    far = {"name": "dissimilarity", "on": "income", "k": 5, "epsilon": 8000, "delta": 0.5}
    content: dict[str, Any] = {
        "version": 1,
        "roles": {
            "quasi": ["age"],
            "sensitive": ["income"],
            "insensitive": ["birthplace", "occupation"],
        },
        "principle": [{"name": "k-anonymity", "k": 70}, far],
    }
    assert possible(path=str(path), content=content, folder="", tell=quiet)["together"] is None
    assert wb.anonymize(path, policy=Policy.of(content)).manifest["groups"] == 1


@pytest.mark.parametrize(
    ("algorithm", "m"), [("mondrian", 2), ("mondrian", 3), ("lattice", 2), ("anatomy", 2)]
)
def test_what_each_algorithm_is_told_of_principles_together(
    tmp_path: Path, algorithm: str, m: int
) -> None:
    path = tmp_path / "pairs.csv"
    table = pl.DataFrame({"age": range(40), "pay": range(40), "ill": ["a", "b"] * 20})
    table.write_csv(path)
    asked = [
        {"name": "k-anonymity", "k": 10},
        {"name": "frequency-l", "on": "ill", "l": 2},
        {"name": "epsilon-m", "on": "pay", "epsilon": 19 if m == 2 else 12, "m": m},
    ]
    content = {
        "version": 1,
        "roles": {"quasi": ["age"], "sensitive": ["pay", "ill"]},
        "types": {"pay": "integer"},
        "transform": {"algorithm": algorithm},
        "hierarchies": {"age": {"interval": [10, 20, 40]}},
    }
    told = possible(path=str(path), content={**content, "principle": asked}, folder="", tell=quiet)
    assert {one["verdict"] for one in told["principles"]} == {"yes"}
    with pytest.raises(WideberthError):
        wb.anonymize(path, policy=Policy.of({**content, "principle": asked}))
    assert told["together"]["verdict"] == ("no" if m == 2 else "unknown")
    assert ("one sensitive attribute" in told["together"]["what"]) is (algorithm == "anatomy")
    assert m != 3 or any("epsilon=" in one["words"] for one in told["together"]["tries"])
    for one in told["together"]["tries"] or ():
        changed = [*asked[: one["at"]], one["entry"], *asked[one["at"] + 1 :]]
        assert wb.anonymize(path, policy=Policy.of({**content, "principle": changed}), seed=1)


def test_a_column_made_sensitive_gets_a_principle_that_goes_with_the_others(table: Path) -> None:
    near = {"name": "epsilon-m", "on": "salary", "epsilon": 1000, "m": 5}
    asked = [{"name": "k-anonymity", "k": 5}, near]
    roles = {**ROLES, "quasi": ["zip"], "sensitive": ["disease", "salary", "age"]}
    content = {**CONTENT, "roles": roles, "principle": asked}
    given: dict[str, Any] = {"path": str(table), "folder": "", "tell": quiet}
    for column, name in (("age", "delta-l"), ("disease", "frequency-l")):
        (entry,) = protect(column=column, content=content, **given)["principle"]
        assert (entry["name"], entry["on"]) == (name, column)
        told = possible(content={**content, "principle": [*asked, entry]}, **given)
        assert {one["verdict"] for one in told["principles"]} == {"yes"}
        assert told["together"] is None
    people().with_columns(disease=pl.lit("flu")).write_csv(table)
    told = protect(column="disease", content=content, **given)
    assert told["principle"] == []
    assert "one value" in told["why"]


def test_a_type_that_does_not_fit_is_refused_with_the_row(table: Path) -> None:
    given: dict[str, Any] = {"path": str(table), "content": CONTENT, "folder": "", "tell": quiet}
    assert fits_task(column="age", kind="float", **given) == {"column": "age", "type": "float"}
    with pytest.raises(TableError, match="column 'disease', row 1: not an integer"):
        fits_task(column="disease", kind="integer", **given)
    with pytest.raises(WideberthError):
        fits_task(column="height", kind="integer", **given)


def test_roles_need_not_be_complete(table: Path) -> None:
    (one,) = judged(table, {"name": "k-anonymity", "k": 2}, roles={}, types={})
    assert one["verdict"] == "yes"
