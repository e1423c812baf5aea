"""Columns that nobody has decided: written by init, refused by whatever publishes or promises."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.errors import PolicyError, UndecidedError
from wideberth.policy.roles import ROLES, check_roles

MEANS = ("identifier (", "quasi (", "sensitive (", "insensitive (", "not protected")


@pytest.fixture
def table(tmp_path, monkeypatch) -> pl.DataFrame:
    """Write patients whose diagnosis has another name, and a column that nobody can name."""
    monkeypatch.chdir(tmp_path)
    people = datasets.census(300).select("age", "zip", icd10=pl.col("disease"), q7=pl.col("sex"))
    people = people.with_columns(amount=pl.Series([i % 17 / 2 for i in range(300)]))
    people.write_csv("t.csv")
    return people


def proposed(run) -> dict:
    assert run("init", "t.csv", "-o", "policy.toml", "--force").code == 0
    return tomllib.loads(Path("policy.toml").read_text())


def test_init_protects_icd10_and_leaves_the_rest_undecided(run, table):
    made = run("init", "t.csv", "-o", "policy.toml", "--force")
    assert made.err.splitlines()[-1] == (
        "you must decide 2 columns before you can publish: 'q7', 'amount', see undecided in "
        "policy.toml"
    )
    text = Path("policy.toml").read_text()
    policy = tomllib.loads(text)
    assert policy["roles"]["quasi"] == ["age", "zip"]
    assert policy["roles"]["sensitive"] == ["icd10"]
    assert policy["roles"]["undecided"] == ["q7", "amount"]
    assert any(entry.get("on") == "icd10" for entry in policy["principle"])
    for role in ROLES:  # what each choice would mean, for each column
        assert text.count(f"    #   {role}  ") == 2
    assert "its 17 values become ranges" in text
    assert "its 2 values become sets of values" in text
    told = json.loads(run("init", "t.csv", "--format", "json").out)
    assert told["undecided"] == ["q7", "amount"]


@pytest.mark.parametrize(
    "command",
    [
        ("anonymize", "t.csv", "-p", "policy.toml", "-o", "release.csv"),
        ("anonymize", "t.csv", "-p", "policy.toml", "-o", "release.csv", "--memory", "2GB"),
        ("anonymize", "t.csv", "-p", "policy.toml", "-o", "release.csv", "--algorithm", "lattice"),
        ("anonymize", "t.csv", "-p", "policy.toml", "-o", "release", "--algorithm", "anatomy"),
        ("lattice", "t.csv", "-p", "policy.toml"),
        ("check", "t.csv", "-p", "policy.toml"),
        ("check", "t.csv", "-p", "policy.toml", "--memory", "2GB"),
        ("audit", "t.csv", "-p", "policy.toml"),
    ],
    ids=" ".join,
)
def test_nothing_is_published_or_promised_before_all_are_decided(run, table, command):
    proposed(run)
    run(*command).refuses(2, "2 columns are undecided: 'q7', 'amount'", "[roles]", *MEANS)
    assert not Path("release.csv").exists()
    assert not Path("release").exists()


def test_python_refuses_alike_and_takes_decisions_as_arguments(run, table):
    policy = wb.Policy.of(proposed(run))
    for verb in (wb.anonymize, wb.lattice, wb.check):
        with pytest.raises(PolicyError, match="2 columns are undecided: 'q7', 'amount'") as caught:
            verb(table, policy=policy)
        assert isinstance(caught.value, UndecidedError)
        assert caught.value.exit_code == 2
    release = wb.anonymize(table, policy=policy, identifier="amount", quasi=["age", "zip", "q7"])
    assert release.table.columns[:3] == ["age", "zip", "icd10"]


def test_a_decided_policy_makes_a_release(run, table):
    text = (proposed(run), Path("policy.toml").read_text())[1]
    start = text.index("# YOU MUST DECIDE")
    end = text.index("[types]")
    decided = text.replace(text[start:end], "").replace(
        "insensitive = []", 'insensitive = ["amount", "q7"]'
    )
    Path("policy.toml").write_text(decided)
    made = run("anonymize", "t.csv", "-p", "policy.toml", "-o", "release.csv")
    assert made.code == 0, made.err
    assert pl.read_csv("release.csv")["q7"].sort().equals(table["q7"].sort())


@pytest.mark.parametrize("typed", [True, False])
def test_an_undecided_column_that_was_deleted_is_asked_for(run, table, typed):
    proposed(run)
    text = Path("policy.toml").read_text()
    start, end = text.index("# YOU MUST DECIDE"), text.index("[types]")
    text = text[:start] + text[end:]
    if not typed:
        text = "".join(
            line for line in text.splitlines(True) if not line.startswith(("q7", "amount"))
        )
    Path("policy.toml").write_text(text)
    for command in ("anonymize", "check"):
        out = ("-o", "release.csv") if command == "anonymize" else ()
        done = run(command, "t.csv", "-p", "policy.toml", *out)
        assert done.code == 1
        assert "columns 'q7', 'amount' have no role" in done.err
        assert "list each under one of the roles in [roles] of the policy: identifier (" in done.err
        assert ("or delete their lines under [types]" in done.err) == typed
    assert not Path("release.csv").exists()


@pytest.mark.parametrize("verb", ["audit", "report"])
def test_a_foreign_table_is_read_cautiously(run, table, verb):
    done = run(verb, "t.csv", "--format", "json")
    assert done.code == 3
    said = json.loads(done.out)
    roles = said["roles"] if verb == "audit" else said["policy"]["roles"]
    assert roles["quasi"] == ["age", "zip", "q7", "amount"]
    assert roles["sensitive"] == ["icd10"]
    (note,) = [note for note in said["notes"] if "'q7', 'amount'" in note]
    assert "count as quasi-identifiers" in note
    assert "--qi" in note


def test_no_column_is_undecided_and_something_else():
    roles = {"quasi": ["age"], "undecided": ["age"]}
    with pytest.raises(PolicyError, match="'age' is listed as quasi and as undecided"):
        check_roles(["age"], roles)
    with pytest.raises(PolicyError, match=r"roles\.undecided must be a list"):
        wb.Policy.of({"roles": {"undecided": "q7"}})
