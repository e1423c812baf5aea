"""wideberth measure, as a user types it."""

from __future__ import annotations

import json
from typing import Any

import pytest

ORIGINAL = """\
age,zip,disease,salary
25,13053,flu,1000
28,13068,cancer,1010
21,13053,flu,1020
44,14850,ulcer,16000
45,14853,flu,24000
49,14850,cancer,50000
30,13053,flu,3000
"""
RELEASE = """\
age,zip,disease,salary
20..29,130**,flu,1000
20..29,130**,cancer,1010
20..29,130**,flu,1020
40..49,1485*,ulcer,16000
40..49,1485*,flu,24000
40..49,1485*,cancer,50000
"""
ROLES = ("--qi", "age,zip", "--sensitive", "salary")


@pytest.fixture
def files(write) -> None:
    write("original.csv", ORIGINAL)
    write("release.csv", RELEASE)


def told(outcome) -> dict[str, Any]:
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    return json.loads(outcome.out)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("more", [(), ("--memory", "512MB")], ids=["all", "parts"])
def test_figures_goals_and_reasons(run, more):
    outcome = run("measure", "release.csv", "--original", "original.csv", *ROLES, "--k", 2, *more)
    assert outcome.code == 0
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "release.csv: 6 rows in 2 groups, 1 suppressed"
    assert "metric value better range by quasi-identifier" in lines
    assert "ncp 0.2828 lower 0 to 1 age 0.4184, zip 0.1471" in lines
    assert "c-avg 1.5 lower from 0" in lines
    assert "granularity 0.7172 higher 0 to 1 age 0.5816, zip 0.8529" in lines
    assert "precision there is no hierarchy of 'age'" in lines
    unread = "kl-divergence it looks at rows of the original, which is not in memory"
    assert (unread in lines) == bool(more)


@pytest.mark.usefixtures("files")
def test_json_is_the_same_in_parts(run):
    line = ("measure", "release.csv", *ROLES, "--format", "json")
    whole, parts = (told(run(*line, *more)) for more in ((), ("--memory", "512MB")))
    assert whole == parts
    assert (whole["rows"], whole["groups"], whole["original_rows"]) == (6, 2, None)
    names = {figure["name"] for figure in whole["figures"]}
    assert {"ncp", "loss", "discernibility"} <= names
    assert all(figure["goal"] in ("lower", "higher", "none") for figure in whole["figures"])
    reasons = {one["name"]: one["reason"] for one in whole["not_measured"]}
    assert reasons["entropy"] == "the original is not given"
    assert not names & reasons.keys()
    assert any("suppressed is not known" in note for note in whole["notes"])


@pytest.mark.usefixtures("files")
def test_some_metrics_by_a_policy_and_its_options(run, write):
    write("zip.csv", "13053;130**;*\n13068;130**;*\n14850;1485*;*\n14853;1485*;*\n")
    found = told(
        run(
            *("measure", "release.csv", "-p", "policy.toml", "--format", "json"),
            *("--metric", "c-avg,ncp", "--metric", "precision", "--qi", "zip"),
            *("--hierarchy", "zip=zip.csv", "--type", "zip=text"),
        )
    )
    values = {figure["name"]: figure["value"] for figure in found["figures"]}
    assert values == {"c-avg": 1.0, "ncp": pytest.approx(1 / 3), "precision": 0.5}


@pytest.mark.usefixtures("files")
def test_groups_by_their_ids(run, write):
    write("ids.csv", "group,age\n1,20..29\n1,20..29\n2,20..29\n")
    line = ("measure", "ids.csv", "--group", "group", "--metric", "average-size")
    assert told(run(*line, "--format", "json"))["figures"][0]["value"] == 1.5
    assert run(*line).out == run(*line, "--memory", "512MB").out


@pytest.mark.usefixtures("files")
def test_an_anatomy(run, write):
    write("quasi.csv", "age,group\n20,1\n30,1\n")
    write("sensitive.csv", "group,disease,count\n1,flu,1\n1,ulcer,1\n")
    line = (
        *("measure", "quasi.csv", "--qi", "age", "--sensitive", "disease", "--group", "group"),
        *("--sensitive-table", "sensitive.csv"),
    )
    found = told(run(*line, "--metric", "reconstruction-error", "--format", "json"))
    assert found["figures"][0]["value"] == 0.5
    run(*line, "--memory", "512MB").refuses(2, "sensitive_table is for a table in memory")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("more", [(), ("--memory", "512MB")], ids=["all", "parts"])
@pytest.mark.parametrize(
    ("line", "code", "phrase"),
    [
        (("release.csv",), 2, "no quasi-identifiers are given"),
        (("relase.csv", *ROLES), 1, "there is no file relase.csv"),
        (("release.csv", "--qi", "agee"), 1, "no column 'agee'"),
        (("release.csv", "--qi", "age", "--metric", "npc"), 2, "no metric 'npc'"),
        (("release.csv", "--qi", "age", "--type", "age=number"), 2, "no type 'number'"),
        (("release.csv", *ROLES, "--original", "nobody.csv"), 1, "there is no file nobody.csv"),
        (("original.csv", *ROLES, "--original", "release.csv"), 1, "the original only 6"),
        (("release.csv", "-p", "none.toml"), 1, "none.toml"),
    ],
)
def test_bad_input(run, line, code, phrase, more):
    run("measure", *line, *more).refuses(code, phrase)


@pytest.mark.usefixtures("files")
def test_bad_usage(run):
    for words, phrase in (
        (("--k", 0), "--k"),
        (("--hierarchy", "zip"), "COLUMN=VALUE"),
        (("--format", "yaml"), "--format"),
    ):
        outcome = run("measure", "release.csv", *ROLES, *words)
        assert (outcome.code, outcome.out) == (2, "")
        assert phrase in outcome.err
    run("measure", "release.csv", *ROLES, "--memory", "1MB").refuses(2, "not enough")
    run("measure", "release.csv", *ROLES, "--memory", "lots").refuses(2, "amount of memory")


@pytest.mark.usefixtures("files")
def test_no_value_is_quoted(run, write, secret):
    write("odd.csv", RELEASE.replace("20..29", secret))
    for more in ((), ("--memory", "512MB")):
        outcome = run("measure", "odd.csv", "--original", "original.csv", *ROLES, *more)
        assert secret not in outcome.out + outcome.err
