"""From a table to a report by what `init` proposes: it works, and causes no finding of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets, io

HERE = Path(__file__).parents[1]
ROWS = 240
MADE = ("addresses", "adults", "census", "measurements", "notes", "orders", "patients", "sal")
#: Findings that a proposal could cause: it says where intervals end, and which principles hold.
CAUSED = {"exact-ends", "unguarded", "duplicate-columns"}


def negatives() -> pl.DataFrame:
    """Return a table in which nearly all tests are negative, and most wages are 0."""
    at = range(ROWS)
    return pl.DataFrame(
        {
            "age": [18 + 7 * i % 60 for i in at],
            "zip": [f"{10000 + 37 * i % 900}" for i in at],
            "hiv": ["yes" if i % 80 == 0 else "no" for i in at],
            "wage": [0 if i % 5 < 3 else 1000 + 13 * i for i in at],
            "diagnosis_date": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in at],
        }
    )


def table(name: str) -> pl.DataFrame:
    if name in MADE:
        return getattr(datasets, name)(ROWS)
    if name == "symptoms":
        return datasets.symptoms(ROWS, distinct=40)
    if name == "negatives":
        return negatives()
    return io.read(HERE / name)


NAMES = (*MADE, "symptoms", "negatives", "peers/people.csv", "golden/tables/people.csv")


@pytest.fixture(params=NAMES)
def path(request, run) -> Path:
    """Write a table into the current folder."""
    frame = table(request.param)
    suffix = "parquet" if any(kind.is_nested() for kind in frame.dtypes) else "csv"
    path = Path(f"table.{suffix}")
    io.write(frame, path)
    return path


def decided(text: str) -> str:
    """Let every undecided column be a quasi-identifier, on the grid that is proposed for it."""
    found = re.search(r"^undecided = \[\n(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    if found is None:
        return text
    text = text.replace(found[0], "").replace("quasi = [", f"quasi = [\n{found[1]}", 1)
    before, title, grids = text.partition("\n[transform.align]")
    return before + title + re.sub(r"^# (\w+ = )", r"\1", grids, flags=re.MULTILINE)


def test_what_is_proposed_makes_a_release_and_a_report(run, path):
    assert run("init", str(path), "-o", "proposed.toml").code == 0
    policy = Path("proposed.toml")
    policy.write_text(decided(policy.read_text("utf-8")), "utf-8")
    release, given = f"release{path.suffix}", ("-p", "proposed.toml", "--original", str(path))
    done = run("anonymize", str(path), "-p", "proposed.toml", "-o", release)
    assert done.code == 0, done.err
    done = run("check", release, "-p", "proposed.toml")
    assert done.code == 0, done.err
    done = run("audit", release, *given, "--format", "json")
    assert done.code in (0, 3), done.err
    told = json.loads(done.out)
    assert {one["name"] for one in told["findings"]}.isdisjoint(CAUSED)
    reported = run("report", release, *given)
    assert reported.code == done.code, reported.err
    assert run("report", release, "-p", "proposed.toml").code in (0, 3)
    assert run("measure", release, *given).code == 0


def test_harmless_values_are_asked_for_and_make_a_release_safe(run):
    """That nearly all tests are negative cannot be hidden: a custodian must say if it harms."""
    negatives().write_csv("table.csv")
    assert run("init", "table.csv", "-o", "proposed.toml").code == 0
    text = decided(Path("proposed.toml").read_text("utf-8"))
    assert text.count('allowed = ["…"]') == 2
    Path("proposed.toml").write_text(text, "utf-8")
    verbs = (
        ("anonymize", "table.csv", "-o", "release.csv", "--force"),
        ("audit", "release.csv", "--original", "table.csv"),
    )
    codes = [run(*verb, "-p", "proposed.toml").code for verb in verbs]
    assert codes == [0, 3]
    lines, marked = [], False
    for line in text.splitlines():
        marked = line == "# [[principle]]" or (marked and line.startswith("#"))
        lines.append(line[2:] if marked else line)
    decided_on = "\n".join(lines).replace('["…"]', '["no"]', 1).replace('["…"]', '["0"]', 1)
    Path("proposed.toml").write_text(decided_on, "utf-8")
    assert [run(*verb, "-p", "proposed.toml").code for verb in verbs] == [0, 0]
