"""wideberth anonymize, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets, tables

ROLES = ("--qi", "age,birthplace,occupation", "--sensitive", "income")
K = ("--principle", "k-anonymity:k=5")
PROXIMITY = ("--principle", "epsilon-m:epsilon=4500,m=5")
ANONYMIZE = ("anonymize", "census.csv", *ROLES, *K)


@pytest.fixture(autouse=True)
def census(write):
    """300 people in the current folder, without any policy."""
    for path in Path().iterdir():
        path.unlink()
    people = datasets.sal(300)
    people.write_csv("census.csv")
    return people


def names():
    return sorted(os.listdir())


def test_without_a_policy(run, census):
    outcome = run(*ANONYMIZE, *PROXIMITY, "-o", "out.csv")
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.rstrip() for line in outcome.out.splitlines()]
    assert lines[0].startswith("out.csv: 300 rows in ")
    assert lines[2].startswith("✓  k-anonymity:k=5             -       k=")
    assert lines[3].startswith("✓  epsilon-m:epsilon=4500,m=5  income  m=")
    assert lines[4] == "✓ satisfied: 2 principles"
    assert lines[6].startswith("no row is left out; on average a range spans ")
    assert lines[6].endswith(" % of an attribute's domain")
    assert lines[7] == "wrote out.csv and out.csv.manifest.json beside it"
    assert lines[8].startswith("not promised: ")
    assert len(lines) == 10
    release = tables.read("out.csv")
    assert release.columns == [*census.columns, "group"]
    assert sorted(release["income"].cast(pl.Int64)) == sorted(census["income"])
    check = ("check", "out.csv", *ROLES, "--group", "group", *K, *PROXIMITY)
    assert run(*check).code == 0


def test_with_a_policy(run, write):
    write("policy.toml", policy())
    assert run("anonymize", "census.csv", "-p", "policy.toml", "-o", "out.parquet").code == 0
    assert run("check", "out.parquet", "-p", "policy.toml").code == 0
    manifest = json.loads(Path("out.parquet.manifest.json").read_text())
    assert manifest["principles"] == ["k-anonymity:k=7"]
    assert manifest["transform"]["cuts"] == "paper"


def policy(cuts="paper"):
    return (
        '[roles]\nquasi = ["age", "birthplace", "occupation"]\nsensitive = ["income"]\n'
        f'[transform]\ncuts = "{cuts}"\n[[principle]]\nname = "k-anonymity"\nk = 7\n'
    )


def test_the_command_line_goes_before_the_policy(run, write):
    write("policy.toml", policy())
    line = ("anonymize", "census.csv", "-p", "policy.toml", "--dry-run", "--format", "json")
    outcome = run(*line, *PROXIMITY, "--cuts", "disjoint")
    assert outcome.err == "note: --principle replaces the 1 that the policy lists\n"
    manifest = json.loads(outcome.out)
    assert manifest["principles"] == ["epsilon-m:epsilon=4500,m=5 on income"]
    assert manifest["transform"]["cuts"] == "disjoint"


def test_for_programs(run):
    outcome = run(*ANONYMIZE, "-o", "out.csv", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == Path("out.csv.manifest.json").read_text()
    manifest = json.loads(outcome.out)
    assert manifest["input"]["name"] == "census.csv"
    assert manifest["output"]["name"] == "out.csv"
    assert manifest["verified"]["satisfied"] is True


def test_dry_run(run):
    outcome = run(*ANONYMIZE, "--dry-run")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("release: 300 rows in ")
    assert "nothing was written (--dry-run)" in outcome.out
    assert run(*ANONYMIZE, "-o", "out.csv", "--dry-run").code == 0
    assert names() == ["census.csv"]


def test_a_seed_repeats_a_release(run):
    for out in ("one.csv", "two.csv"):
        assert run(*ANONYMIZE, *PROXIMITY, "--seed", "7", "--threads", "1", "-o", out).code == 0
    assert run(*ANONYMIZE, *PROXIMITY, "-o", "other.csv").code == 0
    one, two, other = (Path(f"{name}.csv").read_bytes() for name in ("one", "two", "other"))
    assert one == two != other


def test_identifiers_go_and_other_columns_stay(run, census):
    census.with_columns(
        name=pl.int_range(pl.len()).cast(pl.String) + " Doe", visits=pl.lit(3)
    ).write_csv("census.csv")
    line = (*ANONYMIZE, "--identifier", "name", "--insensitive", "visits", "-o", "out.csv")
    assert run(*line).code == 0
    assert tables.read("out.csv").columns == ["age", "birthplace", "occupation", "income", "visits"]
    assert "Doe" not in Path("out.csv").read_text() + Path("out.csv.manifest.json").read_text()


def test_how_csv_is_read(run):
    Path("odd.csv").write_text("age|pay\n" + "21|-\n35|7\n" * 5)
    line = ("anonymize", "odd.csv", "--qi", "age", "--sensitive", "pay", *K, "-o", "out.csv")
    assert run(*line, "--delimiter", "|", "--missing", "-").code == 0
    assert tables.read("out.csv")["pay"].null_count() == 5


def test_a_hierarchy_and_a_type(run, write):
    write("age.csv", "".join(f"{age};{age // 10}0s;*\n" for age in range(16, 94)))
    given = ("--hierarchy", "age=age.csv", "--type", "birthplace=category")
    assert run(*ANONYMIZE, *given, "-o", "out.csv").code == 0
    ages = set(tables.read("out.csv")["age"])
    assert ages <= {f"{tens}0s" for tens in range(1, 10)} | {"*"} | set(map(str, range(16, 94)))


# What cannot be


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_cannot_be_promised(run, form):
    outcome = run(
        *ANONYMIZE, "--principle", "epsilon-m:epsilon=60000,m=9", "-o", "o.csv", "--format", form
    )
    outcome.refuses(3)
    assert names() == ["census.csv"]


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ((*ANONYMIZE[:2], *ROLES, "-o", "o.csv"), "give a policy"),
        (ANONYMIZE, "-o OUT"),
        ((*ANONYMIZE, "-o", "o.csv", "--suppression-limit", "2"), "--suppression-limit"),
        ((*ANONYMIZE, "-o", "o.csv", "--cuts", "worst"), "--cuts"),
        ((*ANONYMIZE, "-o", "o.csv", "--threads", "0"), "--threads"),
        ((*ANONYMIZE, "-o", "o.csv", "--seed", "-1"), "--seed"),
        ((*ANONYMIZE, "-o", "o.csv", "--type", "age"), "COLUMN=VALUE"),
        ((*ANONYMIZE, "-o", "o.csv", "--principle", "k-anonymity"), "k-anonymity"),
    ],
)
def test_wrong_usage(run, line, phrase):
    run(*line).refuses(2, phrase)
    assert names() == ["census.csv"]


def test_a_column_without_a_role(run):
    line = ("anonymize", "census.csv", "--qi", "age", "--sensitive", "income", *K, "-o", "o.csv")
    run(*line).refuses(1, "column 'birthplace' has no role")
    assert names() == ["census.csv"]


def test_a_table_that_is_not_there(run):
    run("anonymize", "no.csv", *ROLES, *K, "-o", "o.csv").refuses(1, "there is no file no.csv")


# On the way


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals of POSIX")
def test_progress_is_shown_on_a_terminal_only():
    script = Path(sys.executable).with_name("wideberth")
    line = [script, *ANONYMIZE, "--dry-run", "--format", "json"]
    master, slave = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    seen = subprocess.run(
        line, stdout=subprocess.PIPE, stderr=slave, env=environment, timeout=60, check=True
    )
    os.close(slave)
    shown = os.read(master, 100_000).decode(errors="replace")
    os.close(master)
    assert "of 300 rows" in shown
    assert json.loads(seen.stdout)["rows"] == 300
    hidden = subprocess.run(line, capture_output=True, env=environment, timeout=60, check=True)
    assert hidden.stderr == b""


def test_interrupted(run, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("wideberth.making.split", interrupted)
    outcome = run(*ANONYMIZE, "-o", "out.csv")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "interrupted")
    assert names() == ["census.csv"]
