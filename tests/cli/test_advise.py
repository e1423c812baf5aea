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
    assert "3 of 6 rows lie within 20 of each other, more than 1/3" in outcome.out
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


# ---- values with a distance

VECTORS = (
    "age,ill.a,ill.b\n1,0.5,0.5\n2,0.5,0.5\n3,0.6,0.4\n4,0.6,0.4\n5,0,1\n6,0,1\n7,1,0\n8,1,0\n"
)
FAR = ("advise", "ill.csv", "--sensitive", "ill.*")


def test_distance(run, write):
    write("ill.csv", VECTORS)
    outcome = run(*FAR, "--distance", "variational", "--epsilon", "0.1", "--k", "2")
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0] == "ill.*: 8 rows, distance variational"
    assert lines[1] == "with epsilon=0.1, k=2: delta up to 1 is possible"
    assert "risk of the whole table as one group, for each epsilon" in outcome.out
    assert " 0.1 │█████████████████████▍ 42.9 %" in outcome.out
    found = run(*FAR, "--epsilon", "0.1", "--delta", "1", "--k", "2")
    assert found.code == 0
    assert "✓ possible: epsilon=0.1, delta=1, k=2 (4 groups found)" in found.out
    assert "epsilon up to" not in found.out  # all three are given
    found = run(*FAR, "--epsilon", "0.1", "--delta", "1", "--k", "3")
    assert found.code == 3
    assert "✗ not possible: epsilon=0.1, delta=1, k=3" in found.out
    assert "4 rows are all near each other, groups have room for 2" in found.out
    assert "with delta=1, k=2: epsilon up to 0.49" in run(*FAR).out


def test_distance_not_known(run, write, monkeypatch):
    from wideberth.principles.partition.caps import SearchedRule
    from wideberth.principles.partition.decide import PartitionAnswer

    write("ill.csv", VECTORS)
    monkeypatch.setattr(SearchedRule, "answer", lambda self, codes, **_: PartitionAnswer("unknown"))
    found = run(*FAR, "--epsilon", "0.1", "--delta", "0.9")
    assert found.code == 3
    assert "✗ not known: epsilon=0.1, delta=0.9, k=2" in found.out
    assert "no partition was found, and none was ruled out" in found.out


def test_distance_json(run, write):
    write("ill.csv", VECTORS)
    asked = ("--epsilon", "0.1", "--delta", "1", "--k", "3", "--format", "json")
    outcome = run(*FAR, *asked)
    assert outcome.code == 3
    found = strictly(outcome.out)
    assert found["sensitive"] == "ill.a+ill.b"
    assert found["curve"] is None
    far = found["dissimilarity"]
    assert far.pop("risk")[:2] == [[0, 0.14285714285714285], [0.1, 0.42857142857142855]]
    assert far["satisfiable"] == {
        "verdict": "no",
        "groups": None,
        "witness": "4 rows are all near each other, groups have room for 2",
    }
    assert (far["distance"], far["k"], far["risk_exact"]) == ("variational", 3, True)
    assert far["max_delta"]["feasible"] <= far["max_delta"]["infeasible"] < 1
    assert "dissimilarity" not in strictly(run(*ADVISE, "--format", "json").out)


def test_distance_of_numbers_and_texts(run, write):
    outcome = run(*ADVISE, "--distance", "absolute", "--delta", "1", "--k", "3")
    assert "with delta=1, k=3: epsilon below 20 is possible, from 20 on it is not" in outcome.out
    outcome = run(
        "advise", "people.csv", "--sensitive", "disease", "--distance", "edit", "--epsilon", "1"
    )
    assert outcome.code == 0
    assert "disease: 6 rows, distance edit" in outcome.out


def test_distance_ascii(shell, write):
    write("ill.csv", VECTORS)
    line = "wideberth advise ill.csv --sensitive 'ill.*' --epsilon 0.1 --delta 1 --k 3"
    outcome = shell(line, PYTHONIOENCODING="ascii")
    assert outcome.code == 3
    assert outcome.out.isascii()
    assert "FAIL not possible" in outcome.out


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        (("--distance", "nearly"), 2, "distance must be one of"),
        (("--delta", "2"), 2, "delta must be a number from 0 to 1"),
        (("--epsilon", "much"), 2, "epsilon must be a number"),
        (("--k", "0"), 2, "0 is not in the range"),
        (("--k", "2", "--m", "2"), 2, "one at a time"),
        (("--m", "2"), 1, "made of several"),
        (("--distance", "edit"), 1, ""),
    ],
)
def test_distance_bad_input(run, write, asked, code, words):
    write("ill.csv", VECTORS)
    run(*FAR, *asked).refuses(code, words)
    beyond = run(*FAR, "--epsilon", "2", "--k", "2")
    assert beyond.code == 2
    assert "epsilon must be at most 1 for distance=variational" in beyond.err


def test_claims(run, write):
    write("ill.csv", VECTORS.replace("\n1,", "\n2,"))
    asked = ("check", "ill.csv", "--qi", "age", "--sensitive", "ill.*", "--principle")
    outcome = run(*asked, "dissimilarity:epsilon=0.1,delta=0.5,k=2", "--claims", "--worst", "1")
    assert outcome.code == 3
    flat = " ".join(outcome.out.split())
    assert "what could be claimed (dissimilarity:epsilon=0.1,delta=0.5)" in flat
    assert (
        "anybody in the group (age 2) has an ill within 0.1 of (0.5, 0.5) with 100 % confidence "
        "(2 of 2 rows, around row 1; risk 1)"
    ) in flat
    found = strictly(
        run(*asked, "dissimilarity:epsilon=0.1,delta=0.5,k=2", "--claims", "--format", "json").out
    )
    claim = found["principles"][0]["claims"][0]
    assert (claim["near"], claim["rows"], claim["risk"], claim["prior"]) == (2, 2, 1, 0.5)
    assert "no claims" in run(*asked, "k-anonymity:k=1", "--claims").out
    plain = run(*asked, "dissimilarity:epsilon=0.1,delta=0.5,k=2", "--format", "json").out
    assert "claims" not in strictly(plain)["principles"][0]


def test_values_that_need_no_protection(run, write):
    path = write("wages.csv", "wage\n0\n0\n0\n0\n0\n0\n1000\n1010\n5000\n")
    asked = ("advise", str(path), "--sensitive", "wage", "--epsilon", "100")
    assert "with epsilon=100: m up to 1" in run(*asked).out
    lines = run(*asked, "--allowed", "0").out.splitlines()
    assert lines[:3] == [
        "wage: 9 rows",
        "6 of them need no protection (--allowed)",
        "with epsilon=100: m up to 4",
    ]
    outcome = run(*asked, "--m", "5", "--allowed", "0")
    assert outcome.code == 3
    assert "2 of 9 rows lie within 10 of each other, more than 1/5" in outcome.out
    assert "try: m=4 with epsilon=100, or epsilon below 10 with m=5" in outcome.out
    found = strictly(run(*asked, "--allowed", "0", "--format", "json").out)
    assert (found["allowed_rows"], found["max_m"]) == (6, 4)
    assert run(*asked, "--allowed", "0", "--distance", "absolute").code == 2
