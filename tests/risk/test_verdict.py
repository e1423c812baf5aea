"""One verdict: audit, report and app say the same word and the same figures about a release."""

from __future__ import annotations

import io
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import wideberth as wb
from wideberth import datasets
from wideberth.cli import main
from wideberth.cli.audit import render as audit_lines
from wideberth.reports.html import environment
from wideberth.reports.terminal import render_report as report_lines
from wideberth.risk.verdict import WORDS, is_severe, judge_release

QUASI = ["age", "birthplace", "occupation"]
TREES = {
    "age": {"interval": [5, 20, 40]},
    "birthplace": {"interval": [10, 30]},
    "occupation": {"interval": [10, 30]},
}
RELEASES: dict[str, dict[str, Any]] = {
    "mondrian": {"principles": "k-anonymity:k=5"},
    "aligned": {"principles": "k-anonymity:k=5", "align": dict.fromkeys(QUASI, 10)},
    "ids": {"principles": "epsilon-m:epsilon=2000,m=3"},
    "lattice": {
        "principles": "k-anonymity:k=5",
        "algorithm": "lattice",
        "suppression_limit": 0.1,
        "hierarchies": TREES,
    },
    "anatomy": {"principles": "distinct-l:l=4", "algorithm": "anatomy"},
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return datasets.sal(600, seed=3)


@pytest.fixture(scope="module", params=RELEASES)
def release(request: pytest.FixtureRequest, people: pl.DataFrame) -> wb.Release:
    asked = RELEASES[request.param]
    return wb.anonymize(people, quasi=QUASI, sensitive="income", **asked)


def printed(parts: Any) -> str:
    file = io.StringIO()
    out = Console(file=file, width=120, highlight=False, markup=False, emoji=False)
    for part in parts:
        out.print(part)
    return file.getvalue()


def one(severity: str, name: str = "x") -> dict[str, str]:
    return {"name": name, "severity": severity}


# The rule.


@pytest.mark.parametrize(
    ("findings", "known", "level", "headline"),
    [
        ([], {"satisfied": True}, "good", "found nothing grave"),
        ([one("low")], {"satisfied": True}, "good", "found nothing grave"),
        ([one("medium")], {"satisfied": True}, "caution", "1 finding to look at"),
        (
            [{**one("medium", "unprotected"), "title": "no principle protects 'pay'"}],
            {"satisfied": True},
            "caution",
            "The policy is met, but no principle protects 'pay'",
        ),
        ([one("high")], {"satisfied": True}, "bad", "do not publish it so"),
        ([one("high")], {"satisfied": None}, "bad", "No policy was given to judge by"),
        ([], {"satisfied": None}, "caution", "described, not judged"),
        ([], {"satisfied": False}, "bad", "not published alike"),
        ([], {"satisfied": True, "guessed": True}, "caution", "guessed right"),
        ([], {"satisfied": True, "seeded": True}, "caution", "the seed is fixed"),
        ([], {"satisfied": True, "lost": 0.596}, "caution", "59.6"),
        ([], {"satisfied": True, "lost": 0.5}, "good", "nothing grave"),
        ([], {"satisfied": True, "left_out": 0.11}, "caution", "of the rows are left out"),
        ([], {"satisfied": True, "left_out": 0.1}, "good", "nothing grave"),
        ([one("low", "mixture")], {"satisfied": True}, "caution", "overlap tell more"),
        ([one("info", "several-releases")], {"satisfied": True}, "caution", "not exhausted"),
        ([one("info", "several-releases")], {"satisfied": None}, "caution", "not exhausted"),
    ],
)
def test_the_rule(findings: Any, known: Any, level: str, headline: str) -> None:
    told = judge_release(findings, **known)
    assert told.level == level
    assert headline in told.headline
    assert str(told).startswith(f"{WORDS[level]}: ")
    assert bool(told.reasons) == (level != "good")


def test_all_reasons_are_kept() -> None:
    told = judge_release([one("medium")], satisfied=True, guessed=True, lost=0.7, left_out=0.2)
    assert len(told.reasons) == 4


def test_severities_from_which_a_command_fails() -> None:
    assert is_severe([one("high")])
    assert not is_severe([one("medium")])
    assert is_severe([one("medium")], "medium")
    assert not is_severe([one("low")], "medium")
    assert is_severe([one("low")], "low")
    assert not is_severe([one("info")], "low")


# The same everywhere.


def test_audit_report_and_app_say_the_same(release: wb.Release, people: pl.DataFrame) -> None:
    audit = wb.audit(release, original=people, swaps=False)
    told = wb.report(release, original=people, swaps=False)
    content = told.to_dict()
    verdict = content["verdict"]
    assert audit.verdict == f"{verdict['word']}: {verdict['headline']}"
    assert audit.to_dict()["level"] == verdict["level"]
    assert list(audit.judgement.reasons) == verdict["reasons"]
    said = printed(audit_lines(audit, "release", Console(file=io.StringIO(), width=120)))
    assert audit.verdict in said.splitlines()[-1]
    assert audit.verdict in printed(report_lines(told))
    assert audit.verdict in unescape(audit._repr_html_())
    page = environment("wideberth.ui").from_string("{{ words[level] }}")
    assert page.render(level=verdict["level"]) == verdict["word"]
    bare = all(said.startswith("k-anonymity") for said in release.manifest["principles"])
    assert ("unprotected" in {finding.name for finding in audit.findings}) == bare
    if bare:
        assert "but no principle protects 'income'" in " ".join(verdict["reasons"])
        assert verdict["level"] != "good"
        assert "no principle protects 'income'" in said
        assert "no principle protects" in told.html()
    if audit.lost is not None:
        [ncp] = [f["value"] for f in content["utility"]["figures"] if f["name"] == "ncp"]
        assert audit.lost == pytest.approx(ncp)


def test_figures_agree(release: wb.Release, people: pl.DataFrame, tmp_path: Path) -> None:
    manifest = release.manifest
    content = wb.report(release, original=people, swaps=False).to_dict()
    audit = wb.audit(release, original=people, swaps=False)
    assert release.verified is not None
    groups, rows = manifest["groups"], manifest["rows"]
    terminal = re.search(r"([\d,]+) rows in ([\d,]+) groups", str(release.verified))
    assert terminal is not None
    assert [int(n.replace(",", "")) for n in terminal.groups()] == [rows, groups]
    assert repr(release).startswith(f"{rows:,} rows in {groups:,} groups")
    assert (audit.rows, audit.groups) == (rows, groups)
    assert (content["release"]["rows"], content["release"]["groups"]) == (rows, groups)
    assert content["utility"]["groups"] == content["group_sizes"]["groups"] == groups
    figures = {figure["name"]: figure["value"] for figure in content["utility"]["figures"]}
    mean = manifest["loss"]["average_group_size"]
    assert content["group_sizes"]["mean"] == pytest.approx(mean)
    assert figures["average-size"] == pytest.approx(mean) == pytest.approx(rows / groups)
    assert figures["discernibility"] == manifest["loss"]["discernibility"]
    assert content["release"]["suppressed"] == manifest["suppressed"]["rows"]


def test_little_use_is_no_tick(people: pl.DataFrame) -> None:
    release = wb.anonymize(
        people,
        quasi=QUASI,
        sensitive="income",
        principles="k-anonymity:k=5",
        algorithm="lattice",
        hierarchies={name: {"flat": True} for name in QUASI},
        suppression_limit=0,
    )
    audit = wb.audit(release, original=people, swaps=False)
    assert audit.lost is not None
    assert audit.lost > 0.5
    assert audit.judgement.level != "good"
    assert any("of the detail is lost" in reason for reason in audit.judgement.reasons)


# What is said besides.


def test_an_epsilon_that_nobody_chose_is_said(people: pl.DataFrame) -> None:
    coarse = people.with_columns(age=pl.lit("17..90")).select("age", "income")
    chosen = wb.audit(coarse, quasi="age", sensitive="income", principles="k-anonymity:k=5")
    [note] = [note for note in chosen.notes if "this audit chose ε" in note]
    assert note.startswith("income: ")
    asked = wb.audit(
        coarse, quasi="age", sensitive="income", principles="k-anonymity:k=5", epsilon=1000
    )
    assert not [note for note in asked.notes if "this audit chose ε" in note]
    told = wb.report(coarse, quasi="age", sensitive="income", principles="k-anonymity:k=5")
    assert any("this audit chose ε" in note for note in told.to_dict()["notes"])


def test_several_thresholds_of_one_thing_are_one_finding() -> None:
    """Of one zip all salaries are near, of the other four in five: certain, and 75 % or more."""
    near, mostly = [1000, 1001, 1002, 1003, 1004], [5000, 5001, 5002, 5003, 90_000]
    table = pl.DataFrame(
        {
            "zip": ["1*"] * 5 + ["2*"] * 5 + ["3*"] * 5,
            "pay": near + mostly + [7, 800, 9000, 2, 40_000],
        }
    )
    audit = wb.audit(table, quasi="zip", sensitive="pay", epsilon=10)
    [found] = [finding for finding in audit.findings if finding.name == "proximity"]
    assert found.severity == "high"
    assert len(found.figures["levels"]) > 1
    assert found.figures["confidence"] == 1


def test_fail_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{age},{ill}" for age in ("20..29", "30..39") for ill in "aaaab"]
    Path("release.csv").write_text("age,ill\n" + "\n".join(rows) + "\n")
    roles = ["--qi", "age", "--sensitive", "ill", "--principle", "k-anonymity:k=5"]

    def code(command: str, *more: str) -> int:
        with pytest.raises(SystemExit) as stop:
            main([command, "release.csv", *roles, *more])
        assert isinstance(stop.value.code, int)
        return stop.value.code

    for command in ("audit", "report"):
        assert code(command) == 0
        assert code(command, "--fail-on", "high") == 0
        assert code(command, "--fail-on", "medium") == 3  # 80 % of a group have one value
        assert code(command, "--fail-on", "low") == 3
        assert code(command, "--fail-on", "never") == 2
    assert code("report", "-o", "report.json", "--fail-on", "medium") == 3
    assert json.loads(Path("report.json").read_text())["verdict"]["level"] == "caution"
