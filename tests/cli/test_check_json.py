"""What programs read: the keys, plain values, and nothing else on standard output."""

from __future__ import annotations

import json

import pytest

TOP = ["rows", "groups", "satisfied", "verdict", "people", "uneven", "principles", "notes"]
PRINCIPLE = [
    *("name", "on", "parameters", "satisfied", "achieved"),
    *("violating_groups", "violating_rows", "worst"),
]
GROUP = ["number", "group", "rows", "satisfied", "achieved", "reason"]

CHECK = ("check", "people.csv", "--qi", "age,zip", "--sensitive", "salary", "--format", "json")


def strictly(text: str) -> dict:
    """Read JSON as the standard has it, without NaN and Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_keys(run):
    outcome = run(*CHECK, "--principle", "epsilon-m:epsilon=100,m=2")
    assert (outcome.code, outcome.err) == (3, "")
    report = strictly(outcome.out)
    assert list(report) == TOP
    assert list(report["principles"][0]) == PRINCIPLE
    assert [list(group) for group in report["principles"][0]["worst"]] == [GROUP] * 2


def test_content(run):
    line = (*CHECK, "--principle", "epsilon-m:epsilon=100,m=2", "--worst", "1")
    outcome = run(*line, "--show-rows")
    (principle,) = strictly(outcome.out)["principles"]
    (group,) = principle.pop("worst")
    assert principle == {
        "name": "epsilon-m",
        "on": "salary",
        "parameters": {"epsilon": 100, "m": 2},
        "satisfied": False,
        "achieved": {"m": 1},
        "violating_groups": 1,
        "violating_rows": 3,
    }
    assert isinstance(group.pop("reason"), str)
    assert group == {
        "number": 1,
        "group": {"age": "<30", "zip": "130**"},
        "rows": 3,
        "satisfied": False,
        "achieved": {"m": 1},
    }
    hidden = run(*line)
    assert "130**" not in hidden.out
    ((shown,),) = (one["worst"] for one in strictly(hidden.out)["principles"])
    assert {key: shown[key] for key in group} == {**group, "group": {}}


def test_satisfied(run):
    outcome = run(*CHECK, "--principle", "k-anonymity:k=3")
    assert outcome.code == 0
    report = strictly(outcome.out)
    assert report["satisfied"] is True
    assert report["principles"][0]["on"] is None
    assert report["principles"][0]["violating_groups"] == 0


def test_infinite_is_null(run, write):
    write("people.csv", "age,zip,salary\n1,2,3\n1,2,4\n")
    write("everyone.csv", "age,zip\n9,9\n")
    presence = ("--population", "everyone.csv", "--principle", "delta-presence:delta_max=0.5")
    report = strictly(run(*CHECK, *presence).out)
    assert report["principles"][0]["achieved"]["delta_max"] is None


def test_unfulfillable_is_null(run, write):
    write("people.csv", "age,zip,salary\n1,2,3\n1,2,3\n")
    outcome = run(*CHECK, "--principle", "recursive-cl:c=2,l=2")
    assert outcome.code == 3
    assert strictly(outcome.out)["principles"][0]["achieved"]["c"] is None
    assert "no c" in run(*CHECK[:-2], "--principle", "recursive-cl:c=2,l=2").out


@pytest.mark.parametrize(
    ("principle", "parameters"),
    [
        ("epsilon-m:epsilon=10%,m=2", {"epsilon": 0.1, "m": 2, "relative": True}),
        ("frequency-l:l=4/3", {"l": "4/3"}),
        ("t-closeness:t=0.25", {"t": 0.25}),
        ("recursive-cl:c=3,l=2,allowed=1000|1010", {"c": 3, "l": 2, "allowed": "1000|1010"}),
        ("delta-l:delta=10,l=2,variant=literal", {"delta": 10, "l": 2, "variant": "literal"}),
    ],
)
def test_parameters_as_they_were_written(run, principle, parameters):
    report = strictly(run(*CHECK, "--principle", principle).out)
    assert report["principles"][0]["parameters"] == parameters


def test_missing_and_letters(run, write):
    write("people.csv", "age,zip,salary\nÄ–ε,,1\nb,2,1\nb,2,1\n")
    outcome = run(*CHECK, "--principle", "k-anonymity:k=2", "--show-rows")
    assert "Ä–ε" in outcome.out
    group = strictly(outcome.out)["principles"][0]["worst"][0]["group"]
    assert group == {"age": "Ä–ε", "zip": None}


def test_notes_do_not_get_between(shell, write):
    write("people.csv", "age,zip,salary\né,2,3\n".encode("cp1252"))
    outcome = shell(
        "wideberth check people.csv --qi age,zip --principle k-anonymity:k=1 --format json"
    )
    assert strictly(outcome.out)["satisfied"] is True
    assert outcome.err.startswith("note: ")


@pytest.mark.parametrize(
    ("line", "code", "error"),
    [
        (("check", "people.csv", "--qi", "nobody"), 1, "TableError"),
        (("check", "nothing.csv", "--qi", "age"), 1, "TableError"),
        (("check", "people.csv", "--principle", "k-anon:k=2"), 2, "ParameterError"),
        (("check", "people.csv", "--colour"), 2, "UsageError"),
        (("anonymize", "people.csv", "-p", "policy.toml"), 2, "UsageError"),
    ],
)
def test_errors_are_json_too(run, line, code, error):
    principle = (
        () if "--principle" in line or "anonymize" in line else ("--principle", "k-anonymity:k=2")
    )
    for form in (("--format", "json"), ("--format=json",)):
        outcome = run(*line, *principle, *form)
        assert outcome.code == code
        told = strictly(outcome.out)
        assert (told["error"], told["exit_code"]) == (error, code)
        assert told["what"] in outcome.err  # people read it where they always do
    assert run(*line, *principle).out == ""


def test_a_refusal_keeps_its_keys(run):
    line = ("anonymize", "people.csv", "--qi", "age,zip", "--sensitive", "disease,salary")
    outcome = run(*line, "--principle", "k-anonymity:k=7", "--dry-run", "--format", "json")
    assert outcome.code == 3
    told = strictly(outcome.out)
    assert {"outcome", "what", "witness", "hint", "error", "exit_code", "tries"} == set(told)
    assert (told["error"], told["exit_code"]) == ("InfeasibleError", 3)
