"""Releases of the app are those of the command line."""

from __future__ import annotations

import gzip
import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomli_w

from tests.ui.tasks.conftest import CONTENT, ROLES, TREE, opened, people, quiet
from wideberth import datasets
from wideberth.errors import (
    OutputError,
    TableError,
    UndecidedError,
    in_the_app,
)
from wideberth.ui.tasks.release import release_task, without_charts

# ---- release


def run(*words: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wideberth", *map(str, words)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def released(path: Path, content: dict[str, Any], **more: Any) -> tuple[dict[str, Any], Path]:
    output = path.parent / "made"
    output.mkdir(mode=0o700)
    asked = {"path": str(path), "content": content, "folder": str(path.parent), "seed": 7} | more
    told = release_task(**asked, output=str(output), tell=quiet)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    return told, output


NEAR = {"name": "epsilon-m", "on": "salary", "epsilon": 2000, "m": 4}


DIVERSE = {"name": "frequency-l", "on": "disease", "l": 2}


MADE = {
    "mondrian": {"principle": [{"name": "k-anonymity", "k": 4}, NEAR]},
    "matching": {"principle": [NEAR], "transform": {"cuts": "paper", "dealing": "matching"}},
    "lattice": {
        "principle": [{"name": "k-anonymity", "k": 4}, DIVERSE],
        "hierarchies": {"age": {"interval": [10, 20]}, "zip": "zip.csv"},
        "transform": {"algorithm": "lattice", "suppression_limit": 0.05},
    },
    "anatomy": {
        "roles": {**ROLES, "sensitive": ["disease"], "insensitive": ["salary"]},
        "hierarchies": {"disease": "tree.csv"},
        "principle": [{"name": "l-e", "on": "disease", "l": 2, "e": 0}],
        "transform": {"algorithm": "anatomy", "suppression_limit": 0.2},
    },
}


@pytest.mark.filterwarnings("ignore:dealing by matching")
@pytest.mark.parametrize("kind", MADE)
def test_a_release_is_that_of_the_command_line(table: Path, kind: str) -> None:
    content, folder = {**CONTENT, **MADE[kind]}, table.parent
    (folder / "tree.csv").write_text(TREE)
    zips = sorted(set(people()["zip"]))
    (folder / "zip.csv").write_text("".join(f"{z};{z[:4]}*;*\n" for z in zips))
    policy = folder / "policy.toml"
    policy.write_text(tomli_w.dumps(content))
    told, output = released(table, content)
    assert told["problem"] is None
    exact = kind == "anatomy"
    target = folder / "typed" if exact else folder / "release.csv"
    report = folder / "typed.json"
    typed = ["anonymize", table, "-p", policy, "-o", target, "--seed", "7", "--report", report]
    run(*typed)
    if exact:
        made = ["release/manifest.json", "release/quasi.csv", "release/sensitive.csv"]
        pairs = [(output / name, target / Path(name).name) for name in made[1:]]
    else:
        made = ["release.csv", "release.csv.manifest.json"]
        pairs = [(output / "release.csv", target)]
    # "Random order" stands under no sorted table: that of an anatomy's values is one.
    assert [one["sorted_by"] for one in told["previews"]] == ([None, "group"] if exact else [None])
    assert told["files"] == [*made, "report.html", "report.json"]
    for ours, theirs in pairs:
        assert ours.read_bytes() == theirs.read_bytes()
    written = json.loads((output / made[0 if exact else 1]).read_text())
    assert told["manifest"] == written
    assert any(text.startswith("the seed is fixed") for text in told["manifest"]["warnings"])
    assert told["manifest"]["seed"] == "fixed, for tests only"
    theirs = json.loads(report.read_text())
    assert told["report"] == json.loads((output / "report.json").read_text())
    same = ("risk", "group_sizes", "utility", "queries", "tradeoff")
    assert {k: told["report"][k] for k in same} == {k: theirs[k] for k in same}
    # What to do is said in words of the app there, and in those of the command line here.
    found, typed_ones = (
        [[finding[key] for key in ("name", "severity")] for finding in one["findings"]]
        for one in (told["report"], theirs)
    )
    assert found == typed_ones
    for path in output.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert (told["nodes"] is None) == (kind != "lattice")
    if kind == "lattice":
        assert told["nodes"]["minimal"]
        assert told["nodes"]["best"][0]["levels"] == written["lattice"]["rounds"][0]["levels"]
    charts = [*told["charts"]["sizes"], *told["charts"]["identity"]]
    assert all({"name", "title", "text", "columns", "rows", "spec"} <= set(c) for c in charts)


def test_files_are_of_the_input_s_kind(tmp_path: Path) -> None:
    content = {**CONTENT, "principle": [{"name": "k-anonymity", "k": 5}]}
    path = tmp_path / "people.parquet"
    people().write_parquet(path)
    assert "release.parquet" in released(path, content)[0]["files"]
    packed = tmp_path / "packed"
    packed.mkdir()
    path = packed / "people.csv.gz"
    path.write_bytes(gzip.compress(people().write_csv().encode()))
    told, output = released(path, content, seed=None)
    assert "release.csv" in told["files"]
    assert (output / "release.csv").read_text().startswith("age,")
    assert told["manifest"]["seed"].startswith("secret")
    assert told["manifest"]["input"]["name"] == "people.csv.gz"


def test_without_a_report_the_release_is_there(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise TableError("the original is gone", hint="look for it")

    monkeypatch.setattr("wideberth.reports.report.report", fails)
    told, output = released(table, CONTENT)
    assert told["report"] is told["charts"] is None
    assert told["problem"] == {
        "kind": "TableError",
        "what": "the original is gone",
        "hint": "look for it",
    }
    assert told["files"] == ["release.csv", "release.csv.manifest.json"]
    assert (output / "release.csv").exists()


def test_nothing_is_replaced(table: Path) -> None:
    (table.parent / "made").mkdir()
    (table.parent / "made" / "release.csv").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        release_task(
            path=str(table),
            content=CONTENT,
            folder="",
            output=str(table.parent / "made"),
            tell=quiet,
        )
    assert (table.parent / "made" / "release.csv").read_text() == "mine"


def test_charts_become_plain() -> None:
    from wideberth.reports.chart_style import Chart

    chart = Chart(
        name="a", title="b", text="c", columns=("x",), rows=[("1",)], spec={"mark": "bar"}
    )
    made = without_charts({"on": "salary", "charts": [chart], "more": ({"one": chart}, 5, None)})
    assert made["charts"][0]["spec"] == {"mark": "bar"}
    assert made["more"][1:] == [5, None]
    json.dumps(made, allow_nan=False)


def test_progress_is_told(table: Path, tmp_path: Path) -> None:
    heard: list[str] = []
    (tmp_path / "out").mkdir()
    release_task(
        path=str(table),
        content=CONTENT,
        folder="",
        seed=1,
        output=str(tmp_path / "out"),
        tell=lambda phase, done, total: heard.append(phase),
    )
    assert {"encoding", "recoding", "verifying", "saving", "auditing", "measuring"} <= set(heard)


@pytest.mark.parametrize("made", [datasets.adults, datasets.census, datasets.symptoms])
def test_what_is_proposed_can_be_released(tmp_path: Path, made: Any) -> None:
    path = tmp_path / "table.csv"
    made(400).write_csv(path)
    proposal = opened(path)["proposal"]
    assert sum(map(len, proposal["roles"].values())) == made(400).width
    told, _ = released(path, proposal)
    assert told["problem"] is None


def test_an_identifier_that_repeats_is_asked_about_in_step_1(tmp_path: Path) -> None:
    once = people(60).drop("name")
    visits = pl.concat([once, once]).with_columns(patient_id=pl.Series([*range(60)] * 2))
    visits.write_csv(tmp_path / "visits.csv")
    told = opened(tmp_path / "visits.csv")
    assert told["people"]["what"] == "120 rows, but only 60 different values of 'patient_id'"
    content = told["proposal"]
    content["roles"]["identifier"] = ["patient_id"]
    content["roles"]["quasi"] = ["age", "zip"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="120 rows, but only 60")
    with in_the_app(), refusal as refused:
        released(tmp_path / "visits.csv", content)
    assert "tick the box below the columns in step 1" in str(refused.value.hint)
    (tmp_path / "made").rmdir()
    made, _ = released(tmp_path / "visits.csv", {**content, "rows_are_people": True})
    assert made["manifest"]["rows_are_people"] is True
    once.write_csv(tmp_path / "once.csv")
    assert opened(tmp_path / "once.csv")["people"] is None


def test_dates_that_can_be_read_in_two_ways_are_asked_about_in_step_1(tmp_path: Path) -> None:
    born = [f"0{1 + i % 9}/0{1 + i % 7}/1972" for i in range(60)]
    people(60).drop("name", "zip").with_columns(born=pl.Series(born)).write_csv(
        tmp_path / "people.csv"
    )
    content = opened(tmp_path / "people.csv")["proposal"]
    content["roles"]["quasi"] = ["age", "born"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="'born' can be read in 2 ways")
    with in_the_app(), refusal as refused:
        released(tmp_path / "people.csv", content)
    assert str(refused.value.hint).endswith("or, to keep it as text, choose that type there")
    assert "types=" not in str(refused.value.hint)


def test_a_total_is_asked_about_in_step_1(tmp_path: Path) -> None:
    table = people(60).drop("name").with_columns(pl.col("zip").cast(pl.String))
    total = table.tail(1).with_columns(zip=pl.lit("Total"))
    pl.concat([table, total]).write_csv(tmp_path / "people.csv")
    content = opened(tmp_path / "people.csv")["proposal"]
    content["roles"]["quasi"] = ["age", "zip"]
    content["principle"] = [{"name": "k-anonymity", "k": 5}]
    refusal = pytest.raises(UndecidedError, match="looks like a total")
    with in_the_app(), refusal as refused:
        released(tmp_path / "people.csv", content)
    assert str(refused.value.hint).startswith("delete it; or, if every row is a different person")
    assert "tick the box below the columns in step 1" in str(refused.value.hint)
