"""wideberth reproduce: all papers at a small size, continued runs, and what is refused."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets
from wideberth_papers import PAPERS

WORDS = {"confirmed", "confirmed with differences", "contradicted", "not tested here"}
#: A study is called by an enlarged name when its steps are counted.
STEPS = re.compile(r"^(\w+): (\d+) steps(?:, (\d+) of them done before)?$", re.M)


def test_the_command_is_known_before_the_experiments_are_loaded():
    program = "import sys, wideberth_papers.command; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "wideberth_papers" in done.stdout.split()
    assert not {"polars", "wideberth_papers.reproduction"} & {*done.stdout.split()}


@pytest.mark.nightly
def test_all_papers_at_a_small_size(shell):
    outcome = shell("wideberth reproduce all --rows 1000 -o out --format json")
    assert outcome.code == 0, outcome.err
    assert [paper for paper, *_ in STEPS.findall(outcome.err)] == list(PAPERS)
    told = json.loads(outcome.out)
    assert [study["paper"] for study in told["studies"]] == list(PAPERS)
    files = [Path(path) for path in told["files"]]
    assert files[0] == Path("out/summary.md")
    assert all(path.stat().st_size for path in files)
    summary = files[0].read_text(encoding="utf-8")
    for study in told["studies"]:
        page = Path(f"out/{study['paper']}.md").read_text(encoding="utf-8")
        assert study["figures"]
        for figure in study["figures"]:
            assert figure["verdict"] in WORDS
            assert figure["because"]
            assert figure["counterexample"] or figure["verdict"] != "contradicted"
            assert figure["claim"] in page
            assert figure["because"] in page
            assert f"]({study['paper']}.md#{figure['name']})" in summary
            assert pl.read_csv(f"out/{study['paper']}/{figure['name']}.csv").height
        for link in re.findall(r"\]\(([^)#]+)\)", page):
            assert Path("out", link).is_file(), link

    again = shell("wideberth reproduce all --rows 1000 -o out")
    assert again.code == 0, again.err
    assert not STEPS.search(again.err)  # all was done before
    assert "wrote out/summary.md" in again.out

    other = shell("wideberth reproduce deltal --rows 2000 -o out")
    other.refuses(1, "other settings", "--force")


def test_an_interrupted_run_goes_on(shell, monkeypatch):
    first = shell("wideberth reproduce deltal --rows 500 -o out")
    assert first.code == 0, first.err
    journal = Path("out/deltal/steps.jsonl")
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    journal.write_text("".join(lines[:-1]) + lines[-1][:20], encoding="utf-8")
    again = shell("wideberth reproduce deltal --rows 500 -o out")
    assert again.code == 0, again.err
    assert STEPS.findall(again.err) == [("deltal", str(len(lines) - 1), str(len(lines) - 2))]


def test_a_real_table_is_used_and_named(run, write):
    datasets.sal(600).write_csv("mine.csv")
    outcome = run("reproduce", "deltal", "--data", "mine.csv", "--rows", 400, "-o", "out")
    assert outcome.code == 0, outcome.err
    page = Path("out/deltal.md").read_text(encoding="utf-8")
    assert "400 rows, mine.csv" in page
    assert "`wideberth reproduce deltal --data mine.csv --rows 400`" in page


@pytest.mark.parametrize(
    ("line", "code", "phrases"),
    [
        ("reproduce", 2, ["PAPER"]),
        ("reproduce li2009", 2, ["li2009"]),
        ("reproduce li2008 --rows 3", 2, ["--rows"]),
        ("reproduce li2008 --data none.csv", 1, ["no file none.csv"]),
        ("reproduce li2008 --data people.csv", 1, ["li2008 needs", "birthplace", "taxable_income"]),
        ("reproduce deltal --data people.csv", 1, ["deltal needs", "SAL (age", "ATO (age_range"]),
        ("reproduce li2008 --data broken.parquet", 1, ["broken.parquet is damaged"]),
        ("reproduce deltal -o people.csv", 1, ["not a directory"]),
        ("reproduce deltal -o mine", 1, ["mine/deltal.md exists", "--force"]),
        ("reproduce deltal -o stray", 1, ["other settings"]),
    ],
)
def test_what_is_refused(run, write, line, code, phrases):
    write("broken.parquet", b"PAR1 and no more")
    Path("mine").mkdir()
    write("mine/deltal.md", "my own page")
    Path("stray/deltal").mkdir(parents=True)
    write("stray/deltal/steps.jsonl", "no journal")
    outcome = run(*line.split())
    outcome.refuses(code, *phrases)
    assert Path("mine/deltal.md").read_text() == "my own page"
    assert not Path("reproduction").exists() or not list(Path("reproduction").glob("*.md"))
