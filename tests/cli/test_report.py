"""wideberth report, and anonymize --report: what is written, what is not, and when."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb

#: Values that no report may tell, whatever it is about.
ILLS = ("Quinsy", "Dropsy", "Ague", "Scurvy", "Croup")

POLICY = """\
version = 1
[roles]
identifier = ["name"]
quasi = ["age", "zip", "sex"]
sensitive = ["disease", "salary"]
[[principle]]
name = "k-anonymity"
k = 4
[[principle]]
name = "frequency-l"
on = "disease"
l = 2
[[principle]]
name = "epsilon-m"
on = "salary"
epsilon = 500
m = 3
"""
CONTENT = [
    *("title", "created", "verdict", "versions", "release", "policy", "risk", "tradeoff"),
    *("group_sizes", "worst_groups", "utility", "queries", "probe", "findings", "promise"),
    *("not_promised", "notes", "manifest"),
]
BOTH = ("--original", "people.csv", "-p", "policy.toml", "--no-swaps")
MADE = ("anonymize", "people.csv", "-p", "policy.toml", "--seed", "1")


@cache
def people() -> pl.DataFrame:
    at = range(60)
    return pl.DataFrame(
        {
            "name": [f"Xaver{i}" for i in at],
            "age": [20 + 7 * i % 50 for i in at],
            "zip": [f"130{10 + 3 * i % 40}" for i in at],
            "sex": ["mf"[i % 2] for i in at],
            "disease": [ILLS[i * i % 5 if i % 3 else i % 5] for i in at],
            "salary": [71_003 + 3_719 * i for i in at],
        }
    )


@cache
def saved() -> dict[str, bytes]:
    """Make a release once, and keep its files."""
    release = wb.anonymize(
        people(),
        identifier="name",
        quasi=["age", "zip", "sex"],
        sensitive=["disease", "salary"],
        principles=[
            "k-anonymity:k=4",
            "frequency-l:l=2,on=disease",
            "epsilon-m:epsilon=500,m=3,on=salary",
        ],
        seed=1,
    )
    release.save("release.csv")
    return {name: Path(name).read_bytes() for name in ("release.csv", "release.csv.manifest.json")}


@pytest.fixture
def report(run, write):
    """Stand beside a release, its manifest, its original and its policy, and report on it."""
    people().write_csv("people.csv")
    write("policy.toml", POLICY)
    for name, content in saved().items():
        write(name, content)

    def typed(*options: object, of: str = "release.csv"):
        return run("report", of, *options)

    return typed


def here() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def tells_nothing(text: str) -> None:
    """Assert that a report has no sensitive value in it, and no name."""
    for value in ("Xaver", *ILLS):
        assert value not in text
    numbers = set(re.findall(r"\d[\d,]*", text))
    for salary in people()["salary"]:
        assert not numbers & {str(salary), f"{salary:,}"}


def needs_nothing(html: str) -> None:
    """Assert that a page runs no script and asks for no other file."""
    assert html.lower().startswith("<!doctype html>")
    assert "<script" not in html.lower()
    assert "@import" not in html
    for link in re.findall(r"""(?:src|href|action|data|srcset)\s*=\s*["']?([^"'\s>]+)""", html):
        assert link.startswith(("#", "data:")), link
    for link in re.findall(r"url\(\s*[\"']?([^)\"']+)", html):
        assert link.startswith(("#", "data:")), link


# What is written.


def test_a_page(report):
    outcome = report(*BOTH, "-o", "report.html")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1] == "wrote report.html"
    html = Path("report.html").read_text(encoding="utf-8")
    tells_nothing(html)
    needs_nothing(html)
    assert "release.csv" in html
    assert "<title>" in html
    assert len(html) < 1_000_000


def test_json(report):
    outcome = report(*BOTH, "-o", "report.json")
    assert outcome.code == 0, outcome.err
    text = Path("report.json").read_text(encoding="utf-8")
    tells_nothing(text)
    told = json.loads(text, parse_constant=pytest.fail)
    assert list(told) == CONTENT
    assert told["release"]["rows"] == told["release"]["original_rows"] == 60
    assert told["policy"]["satisfied"] is True
    assert told["risk"]["before"]["identity"]["uniques"] > 0
    assert told["risk"]["after"]["identity"]["smallest"] >= 4
    assert told["queries"]["on"] == "disease"
    assert [curve["on"] for curve in told["tradeoff"]] == ["salary"]
    assert told["manifest"]["output"]["sha256"]


def test_the_file_says_what_standard_output_says(report):
    outcome = report(*BOTH, "-o", "report.json", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == json.loads(Path("report.json").read_text(encoding="utf-8"))


def test_a_summary_only(report):
    before = here()
    outcome = report(*BOTH)
    assert (outcome.code, outcome.err) == (0, "")
    tells_nothing(outcome.out)
    assert "wrote" not in outcome.out
    assert here() == before


def test_the_policy_of_an_original_says_more_than_a_release_has(report, run, write):
    """Identifiers are dropped, and their types and hierarchies stay in the policy."""
    kinds = 'name = "text"\nage = "integer"\nzip = "text"\nsex = "category"\n'
    write("policy.toml", f"{POLICY}[types]\n{kinds}[hierarchies]\nname = {{ mask = 9 }}\n")
    outcome = report(*BOTH)
    assert (outcome.code, outcome.err) == (0, "")
    for verb in ("check", "audit", "measure"):
        asked = (verb, "release.csv", "-p", "policy.toml", "--group", "group")
        assert run(*asked).code == 0
    kept = POLICY.replace('"zip", "sex"]', '"zip"]\ninsensitive = ["sex"]')
    write("policy.toml", f"{kept}[types]\n{kinds}")
    assert run(*MADE, "-o", "kept.csv").code == 0
    outcome = report(*BOTH, of="kept.csv")
    assert outcome.code in (0, 3), outcome.err


def test_a_release_alone(report):
    outcome = report("-o", "report.json")
    assert outcome.code == 0, outcome.err
    told = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert told["policy"]["guessed"] is False  # its manifest tells
    assert told["policy"]["satisfied"] is True
    assert told["risk"]["before"] is None
    assert told["queries"] is None
    tells_nothing(json.dumps(told))


def test_a_title_is_a_text(report):
    outcome = report(*BOTH, "--title", "<script>alert(1)</script> & {{ 7 * 7 }}", "-o", "r.html")
    assert outcome.code == 0, outcome.err
    html = Path("r.html").read_text(encoding="utf-8")
    needs_nothing(html)
    assert "&lt;script&gt;" in html
    assert "{{ 7 * 7 }}" in html


def test_names_of_columns_are_texts(run, write):
    frame = people().select("age", "sex", "salary")
    frame.columns = names = ["^a.*(g$", "<b>&'", "{{7*7}} [red]"]
    frame.write_csv("odd.csv")
    outcome = run(
        *("report", "odd.csv", "--original", "odd.csv", "--qi", names[0], "--qi", names[1]),
        *("--sensitive", names[2], "-o", "odd.html"),
    )
    assert outcome.code == 3, outcome.err
    html = Path("odd.html").read_text(encoding="utf-8")
    needs_nothing(html)
    assert "<b>" not in html
    assert "{{7*7}} [red]" in html


def test_an_unsafe_table_is_reported_all_the_same(report):
    outcome = report("-p", "policy.toml", "-o", "report.html", of="people.csv")
    assert outcome.code == 3
    assert outcome.out.splitlines()[-1] == "wrote report.html"
    tells_nothing(Path("report.html").read_text(encoding="utf-8"))


def test_a_manifest_of_another_file_is_refused(report):
    with Path("release.csv").open("a", encoding="utf-8") as file:
        file.write(Path("release.csv").read_text(encoding="utf-8").splitlines()[-1] + "\n")
    report("-o", "report.json").refuses(
        1, "release.csv is not the file that release.csv.manifest.json describes", "remove"
    )
    assert not Path("report.json").exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '{"output": 3}', "\xff"])
def test_a_manifest_that_is_none(report, write, content):
    write("release.csv.manifest.json", content.encode("latin-1"))
    outcome = report("-o", "report.json")
    assert outcome.code == 0, outcome.err
    told = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert told["manifest"] is None


def test_an_anatomised_folder(report, run):
    made = run(
        *("anonymize", "people.csv", "--qi", "age,zip,sex", "--sensitive", "disease"),
        *("--identifier", "name,salary", "--principle", "distinct-l:l=3", "--seed", "1"),
        *("--algorithm", "anatomy", "-o", "folder"),
    )
    assert made.code == 0, made.err
    outcome = report("--original", "people.csv", "-o", "report.json", of="folder")
    assert outcome.code == 0, outcome.err
    text = Path("report.json").read_text(encoding="utf-8")
    told = json.loads(text)
    tells_nothing(text)
    assert told["release"]["name"] == "folder"
    assert told["manifest"]["anatomy"]


# Where it goes.


@pytest.mark.parametrize("name", ["report.html", "report.json"])
def test_what_exists_stays_unless_forced(report, write, name):
    write(name, "precious")
    before = here()
    report(*BOTH, "-o", name).refuses(1, f"{name} exists", "--force")
    assert here() == before
    assert report(*BOTH, "-o", name, "--force").code == 0
    assert set(here()) == set(before)
    assert b"precious" not in here()[name]


@pytest.mark.parametrize(
    ("name", "phrase"),
    [
        ("report.pdf", "a report is written as .html or .json"),
        ("report", "a report is written as .html or .json"),
        ("release.csv", "a report is written as .html or .json"),
        ("nowhere/report.html", "no directory nowhere"),
        ("folder.html", "folder.html is a directory"),
        ("release.csv/report.html", "release.csv"),
    ],
)
@pytest.mark.parametrize("command", ["report", "anonymize"])
def test_where_it_cannot_go(report, run, name, phrase, command):
    """It is said before any work: nothing else is written then."""
    Path("folder.html").mkdir()
    before = here()
    if command == "report":
        outcome = report(*BOTH, "-o", name, "--force")
    else:
        outcome = run(*MADE, "-o", "new.csv", "--report", name, "--force")
    outcome.refuses(1, phrase)
    assert here() == before


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed(report):
    Path("closed").mkdir(mode=0o500)
    report(*BOTH, "-o", "closed/report.html").refuses(1, "nothing may be written")


@pytest.mark.parametrize("source", ["release.csv", "people.csv", "policy.toml"])
@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symlink", "hard link"])
def test_what_is_read_is_never_replaced(report, run, source, link):
    link(source, "report.html")
    before = here()
    report(*BOTH, "-o", "report.html", "--force").refuses(1, "is the file that is read")
    assert here() == before


def test_the_manifest_is_never_replaced(report, run):
    before = here()
    target = "release.csv.manifest.json"
    report(*BOTH, "-o", target, "--force").refuses(1, target)
    assert here() == before
    for path in ("release.csv", target):
        Path(path).unlink()
    for force in ([], ["--force"]):
        run(*MADE, "-o", "release.csv", "--report", target, *force).refuses(2, target)
        assert sorted(here()) == ["people.csv", "policy.toml"]


@pytest.mark.parametrize(
    ("options", "phrase"),
    [
        (["--original", "half.csv"], "the original only 30"),
        (["--original", "none.csv"], "no file none.csv"),
        (["-p", "other.toml"], "no column 'height'"),
        (["--other", "empty.csv"], "empty.csv is empty"),
        (["--population", "half.parquet"], "half.parquet is damaged"),
        (["--sensitive", "salry"], "did you mean 'salary'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_fails_leaves_nothing(report, write, secret, options, phrase):
    people().head(30).write_csv("half.csv")
    write("empty.csv", "")
    write("half.parquet", secret)
    write("other.toml", POLICY.replace('"age"', '"height"'))
    before = here()
    report(*options, "-o", "report.html").refuses(1, phrase)
    assert here() == before


def test_it_fails_before_it_reads(report):
    Path("release.csv").unlink()
    report("-o", "report.pdf").refuses(1, "a report is written as .html or .json")


def test_an_interruption_leaves_nothing(report, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("wideberth.reports.report.measure_examined", interrupted)
    before = here()
    outcome = report(*BOTH, "-o", "report.html")
    assert outcome.code == 130
    assert here() == before


# Beside a release.


@pytest.mark.parametrize("suffix", ["html", "json"])
def test_anonymize_reports(report, run, suffix):
    outcome = run(*MADE, "-o", "new.csv", "--report", f"new.{suffix}")
    assert (outcome.code, outcome.err.count("error")) == (0, 0), outcome.err
    assert f"the report new.{suffix}" in outcome.out
    text = Path(f"new.{suffix}").read_text(encoding="utf-8")
    tells_nothing(text)
    if suffix == "html":
        needs_nothing(text)
    else:
        told = json.loads(text)
        assert told["release"]["name"] == "new.csv"
        assert told["manifest"]["output"]["name"] == "new.csv"
        assert told["risk"]["before"] is not None
        assert told["policy"]["satisfied"] is True


def test_anonymize_reports_on_an_anatomised_release(report, run):
    outcome = run(
        *("anonymize", "people.csv", "--qi", "age,zip,sex", "--sensitive", "disease"),
        *("--identifier", "name,salary", "--principle", "distinct-l:l=3", "--seed", "1"),
        *("--algorithm", "anatomy", "-o", "folder", "--report", "folder.html"),
    )
    assert outcome.code == 0, outcome.err
    tells_nothing(Path("folder.html").read_text(encoding="utf-8"))


def test_a_report_on_nothing_written(report, run):
    run(*MADE, "--dry-run", "--report", "new.html").refuses(2, "leave out --dry-run")


def test_principles_that_cannot_be_met_leave_no_report(report, run):
    Path("policy.toml").write_text(POLICY.replace("l = 2", "l = 50"), encoding="utf-8")
    before = here()
    run(*MADE, "-o", "new.csv", "--report", "new.html").refuses(3)
    assert here() == before


def test_the_report_of_one_table_twice(report, run):
    """A report that exists is seen before the release is made."""
    Path("new.html").write_text("precious", encoding="utf-8")
    before = here()
    run(*MADE, "-o", "new.csv", "--report", "new.html").refuses(1, "new.html exists")
    assert here() == before
