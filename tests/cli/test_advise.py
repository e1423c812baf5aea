"""wideberth advise, as a user types it."""

from __future__ import annotations

import json

import pytest

ADVISE = ("advise", "people.csv", "--sensitive", "salary")


def strictly(text: str) -> dict:
    """Read JSON as the standard has it, without NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_answer_comes_first(run):
    outcome = run(*ADVISE, "--epsilon", "100")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[:2] == ["salary: 6 rows", "with epsilon=100: m up to 2"]
    assert "with m=3: epsilon below 20" in run(*ADVISE, "--m", "3").out
    assert "largest m of all: 6, with epsilon below 10" in run(*ADVISE).out
    assert "with m=7: no epsilon is possible" in run(*ADVISE, "--m", "7").out
    assert "with m=1: any epsilon" in run(*ADVISE, "--m", "1").out


def test_possible_or_not(run):
    outcome = run(*ADVISE, "--epsilon", "19.9", "--m", "3")
    assert outcome.code == 0
    assert "✓ possible: epsilon=19.9, m=3" in outcome.out
    outcome = run(*ADVISE, "--epsilon", "20", "--m", "3")
    assert outcome.code == 3
    assert "✗ not possible: epsilon=20, m=3" in outcome.out
    assert "3 of 6 rows lie in the window [1000, 1020], more than 1/3" in outcome.out
    assert "try: m=2 with epsilon=20, or epsilon below 20 with m=3" in outcome.out
    assert run(*ADVISE, "--e1", "20", "--e2", "0", "--m", "2").code == 0
    assert run(*ADVISE, "--e1", "20", "--e2", "0", "--m", "3").code == 3


def test_relative(run):
    for words in (("--epsilon", "1%"), ("--epsilon", "0.01", "--relative")):
        outcome = run(*ADVISE, *words)
        assert outcome.out.splitlines()[1] == "with epsilon=1%: m up to 3"
    assert "epsilon below 1.96078%" in run(*ADVISE, "--m", "3", "--relative").out


def test_other_principles_and_the_drawing(run):
    text = run(*ADVISE).out
    assert "distinct-l    -      l up to 6" in text
    assert "recursive-cl  l=2    c above 0.2" in text
    assert "  2 │████" in text
    assert text.splitlines()[-1].split() == ["0", "7,500", "15,000", "epsilon"]


def test_ascii(shell):
    line = "wideberth advise people.csv --sensitive salary --epsilon 20 --m 3"
    outcome = shell(line, PYTHONIOENCODING="ascii")
    assert outcome.code == 3
    assert outcome.out.isascii()
    assert "FAIL not possible" in outcome.out
    assert "2 |####" in outcome.out


def test_json(run):
    outcome = run(*ADVISE, "--epsilon", "20", "--m", "3", "--format", "json")
    assert (outcome.code, outcome.err) == (3, "")
    found = strictly(outcome.out)
    other = found.pop("other")
    assert found == {
        "sensitive": "salary",
        "rows": 6,
        "epsilon": 20,
        "m": 3,
        "achievable": False,
        "max_m": 2,
        "max_epsilon_exclusive": 20,
        "curve": [[None, 1], [15000, 2], [20, 3], [10, 6]],
        "relative": False,
        "e1": None,
        "e2": None,
    }
    assert other[0] == {
        "name": "k-anonymity",
        "parameter": "k",
        "given": {},
        "value": 6,
        "exclusive": False,
        "achievable": True,
    }
    assert strictly(run(*ADVISE, "--format", "json").out)["achievable"] is None
    relative = strictly(run(*ADVISE, "--epsilon", "1%", "--format", "json").out)
    assert (relative["epsilon"], relative["relative"], relative["max_m"]) == (0.01, True, 3)


def test_categories(run):
    outcome = run("advise", "people.csv", "--sensitive", "disease")
    assert outcome.code == 0
    assert "epsilon-m does not apply" in outcome.out
    assert "distinct-l    -      l up to 3" in outcome.out
    found = strictly(run("advise", "people.csv", "--sensitive", "disease", "--format", "json").out)
    assert found["curve"] is None
    for asked in (("--epsilon", "3"), ("--m", "2")):
        run("advise", "people.csv", "--sensitive", "disease", *asked).refuses(1, "needs numbers")


def test_tree(run, write):
    write("tree.csv", "flu;lung;any\ncancer;growth;any\nulcer;stomach;any\n")
    text = run("advise", "people.csv", "--sensitive", "disease", "--hierarchy", "disease=tree.csv")
    assert "l-e           e=1    l up to 2" in text.out


def test_dates_and_gaps(run, write):
    write("people.csv", "salary\n2024-01-01\n2024-01-31\n2024-03-01\n\n?\n")
    assert "with m=2: epsilon below 60" in run(*ADVISE, "--m", "2").out
    run(*ADVISE, "--m", "2", "--relative").refuses(2, "share of a date")


def test_one_row_and_one_value(run, write):
    write("people.csv", "salary\n7\n")
    assert "largest m of all: 1, with any epsilon" in run(*ADVISE).out
    write("people.csv", "salary\n7\n7\n")
    assert run(*ADVISE, "--epsilon", "0", "--m", "2").code == 3
    write("people.csv", "salary,x\n,1\n,1\n")
    assert "largest m of all: 1" in run(*ADVISE).out


def test_policy(run, write):
    run("advise", "people.csv", "-p", "policy.toml").refuses(2, "which column")
    outcome = run("advise", "people.csv", "-p", "policy.toml", "--sensitive", "salary", "--m", "3")
    assert "epsilon below 20" in outcome.out


@pytest.mark.parametrize(
    ("words", "code", "phrase"),
    [
        (("--epsilon", "wide"), 2, "epsilon must be"),
        (("--epsilon", "-1"), 2, "epsilon must be"),
        (("--epsilon", "101%"), 2, "0 to 1"),
        (("--e1", "3"), 2, "both e1 and e2"),
        (("--m", "0"), 2, "Invalid value"),
        (("--type", "salary=number"), 2, "no type"),
        (("--type", "salary"), 2, "COLUMN=VALUE"),
        (("--sensitive", "salry"), 1, "no column"),
    ],
)
def test_bad_input(run, words, code, phrase):
    run(*ADVISE, *words).refuses(code, phrase)
