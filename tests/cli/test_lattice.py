"""wideberth lattice, and anonymize by the lattice, as a user types it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_check_json import strictly
from tests.golden.snapshots import TABLES
from wideberth.release import lattice_plot

KEYS = [
    *(
        "rows",
        "quasi",
        "examples",
        "principles",
        "suppression_limit",
        "nodes",
        "checked",
        "measure",
        "best",
    ),
    *("score", "no_better_than", "proven", "minimal", "minimal_complete"),
]
NODE = ["levels", "suppressed", "groups", "scores", "minimal"]
MEASURES = ["loss", "ncp", "discernibility", "average-size", "precision", "height", "entropy"]
LATTICE = ("lattice", "adults.csv", "-p", "adults.toml")
RELEASE = ("anonymize", "adults.csv", "-p", "adults.toml", "--algorithm", "lattice")
#: So much that no node can be admissible below the top.
STRICT = ("--principle", "k-anonymity:k=40", "--level", "zip=0")


@pytest.fixture(autouse=True)
def adults(write):
    """Forty people in the current folder, and a policy with hierarchies."""
    for path in Path().iterdir():
        path.unlink()
    for name in ("adults.csv", "adults.toml"):
        write(name, (TABLES / name).read_bytes())


def names():
    return sorted(os.listdir())


def test_for_programs(run):
    outcome = run(*LATTICE, "--format", "json", "--best", "2", "--minimal", "1")
    assert (outcome.code, outcome.err) == (0, "")
    told = strictly(outcome.out)
    assert list(told) == KEYS
    assert len(told["best"]) == 2
    assert len(told["minimal"]) > 1
    assert told["minimal_complete"] is told["proven"] is True
    for node in (*told["best"], *told["minimal"]):
        assert list(node) == NODE
        assert list(node["scores"]) == MEASURES
    assert told["score"] == told["no_better_than"] == told["best"][0]["scores"]["loss"]


def test_the_next_command_is_there_to_be_pasted(run):
    options = ("--suppression-limit", "0.1", "--level", "age=0-2", "--max-checks", "99")
    lines = run(*LATTICE, *options, "--measure", "ncp").out.splitlines()
    assert lines[-2] == "to publish the best node (or another, by its levels):"
    words = shlex.split(lines[-1])
    assert words[:5] == ["wideberth", "anonymize", *LATTICE[1:4]]
    assert words[5:9] == ["--suppression-limit", "0.1", "--algorithm", "lattice"]
    assert words[-2:] == ["-o", "release.csv"]
    assert run(*words[1:]).code == 0
    manifest = json.loads(Path("release.csv.manifest.json").read_text())
    best = strictly(run(*LATTICE, *options, "--measure", "ncp", "--format", "json").out)["best"][0]
    assert manifest["lattice"]["rounds"][0]["levels"] == best["levels"]
    assert manifest["suppressed"]["rows"] == best["suppressed"]


def test_levels_are_restricted_column_by_column(run, write):
    write(
        "adults.toml",
        Path("adults.toml").read_text()
        + '[transform]\nalgorithm = "lattice"\nlevels = { age = 1, zip = [1, 2] }\n',
    )
    told = strictly(run(*LATTICE, "--level", "age=1-3", "--format", "json").out)
    assert told["quasi"] == {"age": [1, 2, 3], "zip": [1, 2], "sex": [0, 1]}


def test_a_budget(run):
    outcome = run(*LATTICE, "--max-checks", "3")
    assert outcome.code == 0
    assert "3 of them checked" in outcome.out
    assert "best so far of 40 nodes: loss 0." in outcome.out
    assert "; no node is better than 0." in outcome.out
    assert "found so far" in outcome.out


def test_a_narrow_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    outcome = run(*LATTICE)
    assert "--format json" in outcome.out
    assert "ncp" not in outcome.out
    monkeypatch.setenv("COLUMNS", "80")
    outcome = run(*LATTICE)
    assert "--format json" not in outcome.out
    assert "ncp" in outcome.out


def test_too_many_nodes_to_list(run, monkeypatch):
    for module in ("release.lattice", "algorithms.lattice.generalize"):
        monkeypatch.setattr(f"wideberth.{module}.LISTED", 10)
    outcome = run(*LATTICE, "--max-seconds", "60")
    assert outcome.code == 0
    assert "minimal nodes are not listed" in outcome.out
    assert strictly(run(*LATTICE, "--max-seconds", "60", "--format", "json").out)["minimal"] is None


@pytest.mark.parametrize("form", ["text", "json"])
def test_none_is_admissible(run, form):
    outcome = run(*LATTICE, *STRICT, "--picture", "a.svg", "--format", form)
    assert outcome.err.startswith("note: --principle replaces the 2 that the policy lists\n")
    err = outcome.err.split("\n", 1)[1]
    if form == "json":
        assert strictly(outcome.out)["outcome"] == "not found"
    outcome = outcome._replace(err=err, out="")
    outcome.refuses(3, "none of the 8 nodes satisfies k-anonymity:k=40")
    assert names() == ["adults.csv", "adults.toml"]


def test_nothing_to_satisfy(run):
    run("lattice", "adults.csv", "--qi", "age").refuses(2, "give a policy")


def test_interrupted(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("wideberth.release.lattice.search", interrupted)
    outcome = run(*LATTICE, "--picture", "a.svg")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "interrupted")
    assert names() == ["adults.csv", "adults.toml"]


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of POSIX")
@pytest.mark.parametrize("line", [LATTICE, (*RELEASE, "--dry-run")], ids=["lattice", "anonymize"])
def test_progress_is_told_in_nodes(line):
    script = Path(sys.executable).with_name("wideberth")
    master, slave = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run(
        [script, *line], stdout=subprocess.PIPE, stderr=slave, env=environment, check=True
    )
    os.close(slave)
    shown = os.read(master, 100_000).decode(errors="replace")
    os.close(master)
    assert "of 40 nodes" in shown
    assert ("of 40 rows" in shown) == (line is not LATTICE)


# Pictures


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<svg"), ("a.PNG", b"\x89PNG")])
def test_a_picture(run, name, start):
    outcome = run(*LATTICE, "--picture", name)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"wrote {name}\n" in outcome.out
    content = Path(name).read_bytes()
    assert content.startswith(start)
    if start == b"<svg":
        for text in (b"Generalization lattice of 40 nodes", b"not admissible", b">3,4,1<"):
            assert text in content
    assert names() == sorted(["adults.csv", "adults.toml", name])


@pytest.mark.parametrize("drawn", [150, 10], ids=["diagram", "bars"])
def test_what_a_picture_shows(run, monkeypatch, drawn):
    from wideberth import lattice

    monkeypatch.setattr(lattice_plot, "DRAWN", drawn)
    result = lattice("adults.csv", policy="adults.toml")
    spec = lattice_plot.lattice_spec(result)
    kinds: dict[str, int] = {}
    for entry in spec["layer"][1 if drawn == 150 else 0]["data"]["values"]:
        kinds[entry["kind"]] = kinds.get(entry["kind"], 0) + entry.get("nodes", 1)
    assert sum(kinds.values()) == 40
    assert kinds["minimal"] + kinds.get("best", 0) == len(result.minimal)
    every = [result.ground.admits(result.verdict(result.ground.shape.node(i))) for i in range(40)]
    assert kinds["not admissible"] == 40 - sum(every)


def test_a_picture_that_would_be_too_large(run, monkeypatch):
    monkeypatch.setattr(lattice_plot, "DRAWN", 10)
    monkeypatch.setattr(lattice_plot, "CHECKED", 20)
    assert run(*LATTICE, "--picture", "a.svg").code == 0  # minimal nodes tell it all
    outcome = run(*LATTICE, "--picture", "b.svg", "--suppression-limit", "0.1")
    outcome.refuses(2, "the lattice has 40 nodes, too many for a picture")
    assert "b.svg" not in names()


def test_a_picture_is_replaced_on_demand_only(run, write, monkeypatch):
    write("a.svg", "precious")
    line = (*LATTICE, "--picture", "a.svg")
    with monkeypatch.context() as idle:
        idle.setattr("wideberth.release.lattice.lattice", None)  # so that no work is done
        run(*line).refuses(1, "a.svg exists", "--force")
    assert Path("a.svg").read_text() == "precious"
    assert run(*line, "--force").code == 0
    assert Path("a.svg").read_text().startswith("<svg")


@pytest.mark.parametrize("name", ["a.pdf", "a", "adults.csv", "no/a.svg"])
def test_a_picture_nobody_can_draw(run, name):
    outcome = run(*LATTICE, "--picture", name, "--force")
    outcome.refuses(1, "unknown suffix" if "svg" not in name else "no directory")
    assert names() == ["adults.csv", "adults.toml"]


def test_a_source_is_never_replaced(run):
    Path("link.svg").symlink_to("adults.csv")
    run(*LATTICE, "--picture", "link.svg", "--force").refuses(1, "is the file that is read")


# anonymize


def test_a_release(run):
    outcome = run(*RELEASE, "-o", "out.csv")
    assert (outcome.code, outcome.err) == (0, "")
    assert "\nlevels age=" in outcome.out
    assert "; the best of 40 nodes: loss 0." in outcome.out
    assert "no row is left out" in outcome.out
    assert run("check", "out.csv", "-p", "adults.toml").code == 0


def test_a_release_of_several_rounds(run):
    options = ("--suppression-limit", "0.7", "--local-rounds", "2", "--measure", "height")
    outcome = run(*RELEASE, *options, "--dry-run")
    assert outcome.code == 0
    assert "\nround 1, " in outcome.out
    assert "\nround 2, " in outcome.out
    assert " of 40 nodes: height " in outcome.out


def test_a_release_within_a_budget(run):
    options = ("--max-checks", "3", "--max-seconds", "100", "--max-memory", "64")
    outcome = run(*RELEASE, *options, "--level", "sex=1", "--dry-run")
    assert outcome.code == 0
    assert ", sex=1; best so far of 20 nodes: loss 0." in outcome.out
    settings = json.loads(run(*RELEASE, *options, "--dry-run", "--format", "json").out)["transform"]
    assert (settings["max_checks"], settings["max_seconds"], settings["max_memory"]) == (3, 100, 64)
