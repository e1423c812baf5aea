"""A policy says the same as a file, as a command line and as Python."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import runpy
import shlex
import subprocess
import sys
import tomllib
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth.cli import main
from wideberth.core.exact import fraction
from wideberth.errors import PolicyError
from wideberth.policy.settings import Transform
from wideberth.principles import iterate, parse, plain_value
from wideberth.ui import policy_forms

ROLES = {
    "identifier": ["name"],
    "quasi": ["age", "zip"],
    "sensitive": ["disease", "pay"],
    "insensitive": ["visits"],
}
EVERYTHING: dict[str, Any] = {
    "transform": {
        "weights": {"age": 2},
        "align": {"age": 5},
        "recoding": {"zip": "hierarchy"},
        "suppression_limit": 0.05,
        "cuts": "quality",
    },
    "hierarchies": {
        "zip": {"mask": 5, "char": "#"},
        "age": {"interval": [5, 10], "origin": 0},
        "disease": "hierarchies/disease.csv",
    },
    "principle": [
        {"m": 5, "epsilon": "10%", "on": "pay", "name": "epsilon-m"},
        {"name": "recursive-cl", "on": "disease", "c": 2.5, "l": 2, "allowed": ["flu", "none"]},
        {"name": "multi-attribute-l", "on": ["disease", "pay"], "l": 2},
        {"name": "k-anonymity", "k": 5},
    ],
    "table": {"missing": ["-", ""], "delimiter": ";", "encoding": "latin-1"},
    "types": {"zip": "text", "pay": "decimal"},
    "roles": ROLES,
    "population": "everyone.csv",
    "group": "group",
}


def same(content: dict[str, Any], text: str) -> bool:
    """Tell whether a text means the policy that a content means."""
    one, other = wb.Policy.of(content), wb.Policy.of(tomllib.loads(text))
    settings = [Transform(**policy.transform) for policy in (one, other)]
    keys = ("roles", "principles", "types", "hierarchies", "options", "population", "group")
    alike = all(getattr(one, key) == getattr(other, key) for key in keys)
    return alike and settings[0] == settings[1]


def meaning(principle: wb.Principle) -> Any:
    """Return what a principle asks, whether 0.1 was written as a float or as a fraction."""
    said = {
        key: fraction(value) if isinstance(value, float | Fraction) else value
        for key, value in principle.given().items()
    }
    return type(principle), principle.on, said


def settings_of(principle: wb.Principle) -> dict[str, Any]:
    """Return an entry of a policy as the app keeps it: plain JSON."""
    said = {
        key: list(value) if isinstance(value, tuple) else plain_value(value)
        for key, value in principle.given().items()
    }
    return json.loads(json.dumps({"name": principle.name, **said}))


# As a file


def test_everything_round_trips():
    text = policy_forms.policy_toml(EVERYTHING, name="people.csv")
    assert same(EVERYTHING, text)
    assert policy_forms.read_policy_text(text) == policy_forms.normal(EVERYTHING)
    assert policy_forms.policy_toml(policy_forms.read_policy_text(text), name="people.csv") == text


def test_sections_come_in_the_order_in_which_people_read():
    text = policy_forms.policy_toml(EVERYTHING)
    marks = ["version", "group", "population", "[roles]", "[types]", "[table]", "[[principle]]"]
    marks += ["[hierarchies]", "[transform]"]
    places = [text.index(f"\n{mark}") for mark in marks]
    assert places == sorted(places)
    assert 'name = "epsilon-m"\non = "pay"\nepsilon = "10%"\nm = 5\n' in text


def test_load_reads_it(tmp_path):
    content = {key: EVERYTHING[key] for key in ("roles", "principle", "hierarchies", "transform")}
    path = tmp_path / "policy.toml"
    path.write_bytes(policy_forms.policy_toml(content).encode())
    loaded = wb.Policy.load(path)
    assert loaded.hierarchies["disease"] == str(tmp_path / "hierarchies" / "disease.csv")
    assert loaded.principles == wb.Policy.of(content).principles


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_every_principle_round_trips(cls):
    entry = settings_of(parse(cls.example))
    content = {"roles": ROLES, "principle": [entry]}
    text = policy_forms.policy_toml(content)
    assert same(content, text)
    (principle,) = wb.Policy.of(policy_forms.read_policy_text(text)).principles
    assert meaning(principle) == meaning(parse(cls.example))


@pytest.mark.parametrize(
    "number", [1, 0.1, 0.30000000000000004, 1e-9, 12345678901234567890, "1/3", "0.1", "5/6"]
)
def test_numbers_stay_exact(number):
    content = {"roles": ROLES, "principle": [{"name": "delta-l", "delta": number, "l": 2}]}
    assert same(content, policy_forms.policy_toml(content))
    assert (
        policy_forms.read_policy_text(policy_forms.policy_toml(content))["principle"][0]["delta"]
        == number
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, None),
        ({"algorithm": "mondrian", "cuts": "best", "dealing": "rank"}, None),
        ({"suppression_limit": 0, "recoding": None, "weights": {}, "max_memory": 256}, None),
        ({"cuts": "paper"}, {"cuts": "paper"}),
        ({"algorithm": "lattice", "max_memory": 1024}, {"algorithm": "lattice"}),
        (
            {"max_memory": 256, "algorithm": "lattice", "levels": {"age": [0, 2], "zip": 1}},
            {"algorithm": "lattice", "levels": {"age": [0, 2], "zip": 1}, "max_memory": 256},
        ),
        (
            {"algorithm": "lattice", "measure": "ncp", "max_seconds": 1.5, "max_checks": None},
            {"algorithm": "lattice", "measure": "ncp", "max_seconds": 1.5},
        ),
        ({"algorithm": "anatomy", "method": "optimal"}, {"algorithm": "anatomy"}),
        (
            {"algorithm": "anatomy", "method": "mbf"},
            {"algorithm": "anatomy", "method": "mbf"},
        ),
        ({"align": "hierarchy", "recoding": "set"}, {"align": "hierarchy", "recoding": "set"}),
    ],
)
def test_what_goes_without_saying_is_left_out(given, kept):
    content = {"roles": ROLES, "transform": given}
    text = policy_forms.policy_toml(content)
    assert tomllib.loads(text).get("transform") == kept
    plainly = {key: value for key, value in given.items() if value is not None}
    assert same({"roles": ROLES, "transform": plainly}, text)


def test_empty_sections_are_left_out():
    text = policy_forms.policy_toml(
        {"roles": {"quasi": ["a"], "sensitive": []}, "types": {}, "table": {}}
    )
    assert tomllib.loads(text) == {"version": 1, "roles": {"quasi": ["a"]}}


def test_what_is_read_has_every_role():
    assert policy_forms.read_policy_text("") == {
        "version": 1,
        "roles": {"identifier": [], "quasi": [], "sensitive": [], "insensitive": []},
        "principle": [],
    }


STRANGE = ['a"b', "a'b", "\"'", "a.b", "a b", " ", "#", "\\", "\\n", "{x}", "[a]", "=", "'''"]
STRANGE += ["a\nb", "a\r\nb", "\x7f", "\x00", "\x85", "\u2028", "\u202e", "\ufeff", "é漢"]
STRANGE += ['"""', "disease.*"]
names = st.text(min_size=1) | st.sampled_from(STRANGE)


@given(st.lists(names, min_size=4, max_size=6, unique=True), names)
def test_whatever_columns_are_called(columns, name):
    identifier, quasi, other, sensitive, *insensitive = columns
    content = {
        "group": name,
        "roles": {
            "identifier": [identifier],
            "quasi": [quasi, other],
            "sensitive": [sensitive],
            "insensitive": insensitive,
        },
        "types": dict.fromkeys(columns, "text"),
        "principle": [{"name": "distinct-l", "on": sensitive, "l": 2}],
        "hierarchies": {quasi: {"mask": 5, "char": "#"}, other: f"hierarchies/{name}.csv"},
        "transform": {"weights": {quasi: 2, other: 0.5}},
    }
    text = policy_forms.policy_toml(content, name=name)
    text.encode()
    assert same(content, text)
    assert policy_forms.read_policy_text(text.encode()) == policy_forms.normal(content)
    said = called(policy_forms.python(content, table=name, output="release.csv"))
    assert said["table"] == name
    assert said["quasi"] == [quasi, other]
    assert said["sensitive"] == [sensitive]
    assert said["types"] == content["types"]
    assert said["hierarchies"] == content["hierarchies"]
    assert said["weights"] == content["transform"]["weights"]
    assert said["group"] == name


@given(st.text())
def test_the_first_line_is_one_comment(name):
    text = policy_forms.policy_toml({"roles": {"quasi": ["a"]}}, name=name)
    assert text.encode().decode().split("\n")[1] == "version = 1"
    assert tomllib.loads(text) == {"version": 1, "roles": {"quasi": ["a"]}}


def test_a_name_that_no_file_can_hold():
    assert '"people?.csv"' in policy_forms.policy_toml({}, name="people\udcff.csv")
    with pytest.raises(PolicyError, match="is not text"):
        policy_forms.policy_toml({"roles": {"quasi": ["a\udcff"]}})


# Somebody's file


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("roles = x", "the policy is not valid TOML: .*line 1.*\n  try: write texts in quotes"),
        ("[principle]\n[principle]", r"not valid TOML.*\n  try: \[\[principle\]\], two brackets"),
        (b"\xff\xfe", "the policy is not UTF-8 text\n  try: save it as UTF-8"),
        ("version = 2", "the policy has a version this program does not know"),
        ("role = 1", "the policy has an unknown key 'role'\n  try: did you mean 'roles'"),
        ("[[principle]]\nname = 'k-anonymity'", "the policy: principle 1: .*needs its parameter"),
        ("[[principle]]\nname = 'k-anonymity'\nk = nan", "policy.principle.k is neither text nor"),
        ("[hierarchies]\nage = { interval = inf }", "is neither text nor a number"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ("[roles]\nquasi = 5", "roles.quasi must be a list of column names"),
        ("group = 5", "group must be text"),
        ("[types]\nage = 'text'", "column 'age' has no role, but stands under .types."),
    ],
)
def test_what_is_no_policy(text, message):
    with pytest.raises(PolicyError, match=message):
        policy_forms.read_policy_text(text)


def test_windows_and_marks():
    text = '\ufeffversion = 1\r\n[roles]\r\nquasi = ["a"]\r\n'
    assert policy_forms.read_policy_text(text) == policy_forms.read_policy_text(text.encode())
    assert policy_forms.read_policy_text(text)["roles"]["quasi"] == ["a"]


def test_what_is_read_can_be_told_as_json():
    text = '[roles]\nsensitive = ["day"]\n[[principle]]\nname = "recursive-cl"\nc = 2\nl = 2\n'
    content = policy_forms.read_policy_text(text + "allowed = [1979-05-27, 7, true]")
    assert content["principle"][0]["allowed"] == ["1979-05-27", 7, True]
    json.dumps(content, allow_nan=False)


# Hierarchy files


HIERARCHIES = {
    "a": "trees/a.csv",
    "b": "parents:b.csv",
    "c": {"file": "/data/c.csv", "header": True},
    "d": {"parents": "d.csv", "delimiter": ";"},
    "e": "icd-10",
    "f": {"mask": 5},
    "g": {"interval": [5, 10]},
}


def test_which_files_a_policy_names():
    found = policy_forms.files_of({"hierarchies": HIERARCHIES})
    assert found == {"a": "trees/a.csv", "b": "b.csv", "c": "/data/c.csv", "d": "d.csv"}


@pytest.mark.parametrize("rules", [None, [], "x", {"a": None}, {"a": 5}, {"a": {"file": 5}}])
def test_what_is_no_hierarchy_names_no_file(rules):
    assert policy_forms.files_of({"hierarchies": rules}) == {}
    assert policy_forms.files_of({}) == {}


def test_files_may_lie_elsewhere():
    content = {"roles": ROLES, "hierarchies": HIERARCHIES}
    moved = policy_forms.relocated(content, {c: f"hierarchies/{c}.csv" for c in "abcd"})
    assert moved["hierarchies"] == {
        "a": "hierarchies/a.csv",
        "b": {"parents": "hierarchies/b.csv"},
        "c": {"file": "hierarchies/c.csv", "header": True},
        "d": {"parents": "hierarchies/d.csv", "delimiter": ";"},
        "e": "icd-10",
        "f": {"mask": 5},
        "g": {"interval": [5, 10]},
    }
    assert content["hierarchies"] is HIERARCHIES
    assert HIERARCHIES["a"] == "trees/a.csv"
    assert policy_forms.relocated({"roles": ROLES}, {}) == {"roles": ROLES}


# As a command line


def test_a_command_line():
    line = policy_forms.command_line(EVERYTHING, table="people.csv", output="release.csv")
    assert line == "wideberth anonymize people.csv -p policy.toml -o release.csv"


def test_a_command_line_with_a_report():
    line = policy_forms.command_line({}, table="a.csv", output="b.csv", report="report.html")
    assert line == "wideberth anonymize a.csv -p policy.toml -o b.csv --report report.html"


@pytest.mark.parametrize("output", ["release.csv", "release", "release.parquet", "release.csv.gz"])
def test_an_anatomy_goes_into_a_folder(output):
    anatomy = {"transform": {"algorithm": "anatomy"}}
    line = policy_forms.command_line(anatomy, table="a.csv", output=output)
    assert line.endswith("-o release")
    assert policy_forms.python(anatomy, table="a", output=output).endswith(
        'release.save("release")\n'
    )


@pytest.mark.parametrize(
    "name", ["my people.csv", "$(rm -rf).csv", "it's.csv", "-x.csv", "a\nb.csv"]
)
def test_a_shell_reads_names_as_they_are(name):
    line = policy_forms.command_line({}, table=name, output=name, policy=name)
    shown = subprocess.run(
        ["bash", "-c", line.replace("wideberth", "printf '%s|'", 1)], capture_output=True, text=True
    )
    path = f"./{name}" if name.startswith("-") else name
    assert shown.stdout == "|".join(["anonymize", path, "-p", path, "-o", path, ""])


# As Python


def called(script: str) -> dict[str, Any]:
    """Return what a script asks for, without running it."""
    ast.parse(script)
    seen: dict[str, Any] = {}

    class Library:
        def __getattr__(self, name: str) -> Any:
            return getattr(wb, name)

        @staticmethod
        def anonymize(table: str, **arguments: Any) -> Any:
            seen.update(arguments, table=table)
            return type("Release", (), {"save": lambda self, path: seen.update(output=path)})()

    exec(script.replace("import wideberth as wb\n", ""), {"wb": Library()})
    return seen


def test_everything_in_python():
    script = policy_forms.python(EVERYTHING, table="people.csv", output="release.csv")
    assert (
        script
        == """\
import wideberth as wb

release = wb.anonymize(
    "people.csv",
    quasi=["age", "zip"],
    sensitive=["disease", "pay"],
    identifier=["name"],
    insensitive=["visits"],
    principles=[
        wb.EpsilonMAnonymity(on="pay", epsilon="10%", m=5),
        wb.RecursiveCLDiversity(on="disease", c=2.5, l=2, allowed=["flu", "none"]),
        wb.MultiAttributeLDiversity(on=["disease", "pay"], l=2),
        wb.KAnonymity(k=5),
    ],
    types={"zip": "text", "pay": "decimal"},
    hierarchies={
        "zip": {"mask": 5, "char": "#"},
        "age": {"interval": [5, 10], "origin": 0},
        "disease": "hierarchies/disease.csv",
    },
    group="group",
    cuts="quality",
    suppression_limit=0.05,
    recoding={"zip": "hierarchy"},
    align={"age": 5},
    weights={"age": 2},
    policy=wb.Policy.of({
        "population": "everyone.csv",
        "table": {"missing": ["-", ""], "delimiter": ";", "encoding": "latin-1"},
    }),
)
release.save("release.csv")
"""
    )
    said, policy = called(script), wb.Policy.of(EVERYTHING)
    assert said["principles"] == policy.principles
    assert said["policy"].options == policy.options
    assert said["policy"].population == policy.population
    assert said["output"] == "release.csv"


@pytest.mark.parametrize("cls", list(iterate()), ids=lambda cls: cls.name)
def test_every_principle_in_python(cls):
    content = {"roles": ROLES, "principle": [settings_of(parse(cls.example))]}
    said = called(policy_forms.python(content, table="a.csv", output="b.csv"))
    assert [meaning(p) for p in said["principles"]] == [meaning(parse(cls.example))]


@pytest.mark.parametrize("number", [1, 0.1, 1e-9, "1/3", "0.1", 12345678901234567890])
def test_numbers_stay_exact_in_python(number):
    content = {"roles": ROLES, "principle": [{"name": "delta-l", "delta": number, "l": 2}]}
    said = called(policy_forms.python(content, table="a.csv", output="b.csv"))
    (principle,) = wb.Policy.of(content).principles
    assert [meaning(p) for p in said["principles"]] == [meaning(principle)]


def test_a_text_that_looks_like_a_fraction_needs_none():
    content = {
        "roles": {"quasi": ["Fraction(1, 2)"]},
        "principle": [{"name": "k-anonymity", "k": 2}],
    }
    assert "import Fraction" not in policy_forms.python(content, table="a.csv", output="b.csv")


# The same release


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Make a table of 48 people in the current folder, with a tree of their diseases."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own
    diseases = {"flu": "lung", "asthma": "lung", "ulcer": "gut", "colitis": "gut"}
    diseases |= {"mole": "skin", "rash": "skin"}
    frame = pl.DataFrame(
        {
            "name": [f"somebody{i}" for i in range(48)],
            "age": [20 + i * 7 % 31 for i in range(48)],
            "zip code": [f"0130{i % 8}" for i in range(48)],
            "disease": [list(diseases)[i % 6] for i in range(48)],
            "pay": [1000 + i * 137 % 4000 for i in range(48)],
        }
    )
    frame.write_csv("people 1.csv", separator=";")
    Path("hierarchies").mkdir()
    Path("hierarchies/disease.csv").write_text(
        "".join(f"{leaf};{kind};*\n" for leaf, kind in diseases.items()), encoding="utf-8"
    )
    return tmp_path


ASKED: dict[str, Any] = {
    "roles": {
        "identifier": ["name"],
        "quasi": ["age", "zip code"],
        "sensitive": ["disease", "pay"],
    },
    "types": {"zip code": "text"},
    "table": {"delimiter": ";"},
    "hierarchies": {
        "age": {"interval": [5, 10, 20]},
        "zip code": {"mask": 5},
        "disease": "hierarchies/disease.csv",
    },
}
K = {"name": "k-anonymity", "k": 3}
DISTINCT = {"name": "distinct-l", "on": "disease", "l": 2}
CASES: dict[str, dict[str, Any]] = {
    "mondrian": {
        "principle": [K, {"name": "epsilon-m", "on": "pay", "epsilon": "1/3", "m": 3}],
        "transform": {"cuts": "disjoint", "recoding": {"zip code": "hierarchy"}},
        "group": "together",
    },
    "lattice": {
        "principle": [K, DISTINCT],
        "transform": {
            "algorithm": "lattice",
            "suppression_limit": 0.1,
            "levels": {"zip code": [0, 3]},
            "weights": {"age": 2},
        },
    },
    "anatomy": {
        "roles": {**ASKED["roles"], "sensitive": ["disease"], "insensitive": ["pay"]},
        "principle": [{"name": "l-e", "on": "disease", "l": 3, "e": 1}],
        "transform": {"algorithm": "anatomy", "suppression_limit": 0.2},
    },
}


def made(path: Path) -> dict[str, str]:
    """Return what a release consists of, but for the manifest, which tells the time."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {
        (file.name if path.is_dir() else file.suffix): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if not file.name.endswith("manifest.json")
    }


def seeded(script: str) -> str:
    """Give a program the seed that the app does not write into it."""
    return script.replace("\n)\nrelease.save", "\n    seed=7,\n)\nrelease.save")


@pytest.mark.parametrize("case", CASES)
def test_file_command_and_python_make_the_same_release(people, case):
    content = {**ASKED, **CASES[case]}
    told = {"table": "people 1.csv"}
    Path("policy.toml").write_text(
        policy_forms.policy_toml(content, name="people 1.csv"), encoding="utf-8"
    )
    line = policy_forms.command_line(content, output="by command.csv", **told) + " --seed 7"
    command, *words = shlex.split(line)
    assert command == "wideberth"
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0
    Path("script.py").write_text(
        seeded(policy_forms.python(content, output="by python.csv", **told)), encoding="utf-8"
    )
    runpy.run_path("script.py")
    end = "" if case == "anatomy" else ".csv"
    by_command, by_python = made(Path(f"by command{end}")), made(Path(f"by python{end}"))
    assert by_command == by_python
    assert len(by_command) == (2 if case == "anatomy" else 1)
    released = wb.anonymize("people 1.csv", policy=wb.Policy.of(content, folder=people), seed=7)
    released.save(f"by policy{end}")
    assert made(Path(f"by policy{end}")) == by_command


def test_both_run_as_they_are_pasted(people):
    """In a shell of their own."""
    content = {**ASKED, **CASES["mondrian"]}
    told = {"table": "people 1.csv"}
    Path("policy.toml").write_text(policy_forms.policy_toml(content), encoding="utf-8")
    line = policy_forms.command_line(content, output="one.csv", **told) + " --seed 7"
    folder = str(Path(sys.executable).parent)
    path = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", "-c", line], check=True, env=path, capture_output=True)
    script = seeded(policy_forms.python(content, output="two.csv", **told))
    subprocess.run([sys.executable, "-"], input=script, text=True, check=True, encoding="utf-8")
    assert made(Path("one.csv")) == made(Path("two.csv"))
