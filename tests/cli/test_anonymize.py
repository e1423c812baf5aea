"""wideberth anonymize, as a user types it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets, io

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
    release = io.read("out.csv")
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


def test_a_seed_is_warned_of_loudly(shell):
    line = f"wideberth {' '.join(ANONYMIZE)} -o out.csv --seed 918273"
    outcome = shell(line)
    assert outcome.code == 0
    assert outcome.err.startswith("warning: the seed is fixed, for tests only: ")
    told = shell(f"{line} --force --format json")
    assert told.err.startswith("warning: the seed is fixed")
    (caution,) = (text for text in json.loads(told.out)["warnings"] if "seed" in text)
    assert "do not publish this release" in caution
    assert "918273" not in told.out + told.err + Path("out.csv.manifest.json").read_text()


def test_a_key_file_is_created_once_and_repeats_a_release(run):
    line = (*ANONYMIZE, *PROXIMITY, "--threads", "1", "--key", "my.key", "-o")
    first = run(*line, "one.csv")
    assert (first.code, first.out.count("my.key")) == (0, 0)
    assert first.err.startswith("note: created the key file my.key: keep it secret")
    assert Path("my.key").stat().st_mode & 0o777 == 0o600
    held = Path("my.key").read_bytes()
    again = run(*line, "two.csv")
    assert (again.code, again.err) == (0, "")
    assert Path("my.key").read_bytes() == held
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    manifest = Path("one.csv.manifest.json").read_text()
    assert json.loads(manifest)["seed"] == "secret, repeatable with a key file"
    assert "my.key" not in manifest


@pytest.mark.parametrize(
    ("more", "code", "what"),
    [
        (("--seed", "1", "--key", "my.key", "-o", "o.csv"), 2, "not both"),
        (("--key", "census.csv", "-o", "o.csv"), 1, "census.csv"),
        (("--key", "out/my.key", "--algorithm", "anatomy", "-o", "out"), 2, "release's own folder"),
    ],
)
def test_keys_that_are_refused(run, more, code, what):
    before = Path("census.csv").read_bytes()
    outcome = run("anonymize", "census.csv", *ROLES, "--principle", "distinct-l:l=2", *more)
    assert outcome.code == code, outcome.err
    assert what in outcome.err
    assert names() == ["census.csv"]
    assert Path("census.csv").read_bytes() == before


def test_a_release_does_not_replace_its_key(run):
    assert run(*ANONYMIZE, "--key", "my.key", "-o", "one.csv").code == 0
    held = Path("my.key").read_bytes()
    os.rename("my.key", "key.csv")
    outcome = run(*ANONYMIZE, "--key", "key.csv", "-o", "key.csv", "--force")
    assert outcome.code != 0
    assert Path("key.csv").read_bytes() == held
    os.chmod("key.csv", 0o644)
    outcome = run(*ANONYMIZE, "--key", "key.csv", "-o", "two.csv")
    outcome.refuses(1, "the key file key.csv is open to other users", "chmod 600 key.csv")


def test_identifiers_go_and_other_columns_stay(run, census):
    census.with_columns(
        name=pl.int_range(pl.len()).cast(pl.String) + " Doe", visits=pl.lit(3)
    ).write_csv("census.csv")
    line = (*ANONYMIZE, "--identifier", "name", "--insensitive", "visits", "-o", "out.csv")
    assert run(*line).code == 0
    assert io.read("out.csv").columns == ["age", "birthplace", "occupation", "income", "visits"]
    assert "Doe" not in Path("out.csv").read_text() + Path("out.csv.manifest.json").read_text()


def test_how_csv_is_read(run):
    Path("odd.csv").write_text("age|pay\n" + "21|-\n35|7\n" * 5)
    line = ("anonymize", "odd.csv", "--qi", "age", "--sensitive", "pay", *K, "-o", "out.csv")
    assert run(*line, "--delimiter", "|", "--missing", "-").code == 0
    assert io.read("out.csv")["pay"].null_count() == 5


def test_a_hierarchy_and_a_type(run, write):
    write("age.csv", "".join(f"{age};{age // 10}0s;*\n" for age in range(16, 94)))
    given = ("--hierarchy", "age=age.csv", "--type", "birthplace=category")
    assert run(*ANONYMIZE, *given, "-o", "out.csv").code == 0
    ages = set(io.read("out.csv")["age"])
    assert ages <= {f"{tens}0s" for tens in range(1, 10)} | {"*"} | set(map(str, range(16, 94)))


# What cannot be


@pytest.mark.parametrize("form", ["text", "json"])
def test_what_cannot_be_promised(run, form):
    outcome = run(
        *ANONYMIZE, "--principle", "epsilon-m:epsilon=60000,m=9", "-o", "o.csv", "--format", form
    )
    if form == "json":
        told = json.loads(outcome.out)
        assert list(told) == [
            "error",
            "what",
            "hint",
            "exit_code",
            "outcome",
            "witness",
            "tries",
        ]
        assert told["outcome"] == "impossible"
        assert told["what"] in outcome.err
        outcome = outcome._replace(out="")
    outcome.refuses(3)
    assert names() == ["census.csv"]


@pytest.mark.parametrize(
    ("line", "phrase"),
    [
        ((*ANONYMIZE[:2], *ROLES, "-o", "o.csv"), "give a policy"),
        (ANONYMIZE, "-o OUT"),
        ((*ANONYMIZE, "-o", "o.csv", "--suppression-limit", "2"), "--suppression-limit"),
        ((*ANONYMIZE, "-o", "o.csv", "--suppression-limit", "120%"), "from 0% to 100%"),
        ((*ANONYMIZE, "-o", "o.csv", "--suppression-limit", "some"), "write 0.05 or 5%"),
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
    run(*line).refuses(1, "columns 'birthplace', 'occupation' have no role")
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

    monkeypatch.setattr("wideberth.release.anonymize.split", interrupted)
    outcome = run(*ANONYMIZE, "-o", "out.csv")
    assert (outcome.code, outcome.out, outcome.err.strip()) == (130, "", "interrupted")
    assert names() == ["census.csv"]


@pytest.mark.filterwarnings("always")
def test_cells_that_look_like_formulas_are_noticed(run, write):
    write("p.csv", "age,name,pay\n20,=Zq7Xhush(),1\n21,-5,2\n22,+x,3\n23,b,4\n")
    line = ("p.csv", "--qi", "age", "--sensitive", "pay", "--insensitive", "name")
    line = ("anonymize", *line, "--principle", "k-anonymity:k=2", "-o", "r.csv")
    outcome = run(*line)
    assert outcome.code == 0
    assert (outcome.out + outcome.err).count("2 cells begin with =") == 1
    assert "'name' (2)" in outcome.err
    assert "Zq7Xhush" not in outcome.out + outcome.err
    found = json.loads(run("audit", "r.csv", "--format", "json").out)["findings"]
    assert [f["severity"] for f in found if f["name"] == "formulas"] == ["low"]


@pytest.mark.parametrize("wrong", ["disk", "bug"])
def test_a_report_that_fails_says_that_the_release_exists(run, monkeypatch, wrong):
    from wideberth.errors import OutputError
    from wideberth.reports.content import Report

    def fail(*_, **__):
        raise OutputError("the disk is full", hint="another") if wrong == "disk" else KeyError("x")

    monkeypatch.setattr(Report, "save", fail)
    outcome = run(*ANONYMIZE, "-o", "out.csv", "--report", "report.html")
    assert (outcome.code, outcome.out) == (1, "")
    said = "the disk is full" if wrong == "disk" else "wideberth failed unexpectedly (KeyError"
    assert outcome.err.startswith(
        "error: the release was written (out.csv and out.csv.manifest.json beside it), but its "
        f"report failed: {said}"
    )
    assert Path("out.csv").exists()


def test_interrupted_while_reporting(run, monkeypatch):
    from wideberth.reports.content import Report

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Report, "save", stop)
    outcome = run(*ANONYMIZE, "-o", "out.csv", "--report", "report.html")
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err.splitlines() == [
        "note: wrote out.csv and out.csv.manifest.json beside it, but not its report",
        "",
        "interrupted",
    ]
