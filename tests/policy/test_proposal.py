"""Roles guessed with a reason; policies that are valid TOML."""

from __future__ import annotations

import tomllib

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.test_types import HIDDEN
from wideberth.checks.protection import proposed_policy
from wideberth.errors import PolicyError
from wideberth.io import ReadOptions
from wideberth.policy.guesses import Guess, guess_columns
from wideberth.policy.proposal import Proposal, Suggestion, policy_text
from wideberth.policy.roles import ROLES, check_roles


def few(*values: object) -> list[object]:
    return [values[i % len(values)] for i in range(100)]


UNIQUE = [f"u{i}" for i in range(100)]


@pytest.mark.parametrize(
    ("column", "values", "role", "why"),
    [
        ("name", few("a", "b"), "identifier", 'the name has "name"; 2 distinct in 100 rows'),
        ("patientId", few(1, 2), "identifier", 'has "id"'),
        ("E-Mail", UNIQUE, "identifier", 'has "email"'),
        ("ref", UNIQUE, "identifier", "(nearly) every row has its own value; 100 distinct"),
        ("ref", [*UNIQUE[:97], None, None, "u1"], "identifier", "97 distinct in 100 rows"),
        ("serial", list(range(100)), "identifier", "every row has its own"),
        ("weight", [i / 7 for i in range(100)], "undecided", "a survey's weight"),
        ("amount", [i / 7 for i in range(100)], "undecided", "neither its name nor its values"),
        ("age", list(range(100)), "quasi", 'the name has "age"; 100 distinct in 100 rows'),
        ("ZIPCode", few("01", "02"), "quasi", 'has "zipcode"'),
        ("place-of-birth", few("a", "b"), "quasi", 'has "place"'),
        ("city_name", few("a", "b"), "quasi", 'has "city"'),
        ("tax_id", UNIQUE, "identifier", 'has "taxid"'),
        ("disease_name", few("a", "b"), "sensitive", 'has "disease"'),
        ("monthlySalary2", list(range(100)), "sensitive", 'has "salary"'),
        ("hiv", few(True), "sensitive", 'has "hiv"'),
        ("colour", few("a"), "insensitive", "the same in every row; 1 distinct"),
        ("colour", few(None, None), "insensitive", "the same in every row; 0 distinct"),
        ("colour", few("a", None), "undecided", "neither its name nor its values"),
        ("colour", few("a", "b"), "undecided", "neither its name nor its values show"),
        ("agenda", few("a", "b"), "undecided", "neither its name nor its values"),
        ("p", few([0.5, 0.5], [1.0, 0.0]), "sensitive", "a vector tells much"),
        ("s", few({"a": 1}, {"a": 2}), "sensitive", "a vector tells much"),
    ],
)
def test_roles_come_with_a_reason(column: str, values: list, role: str, why: str) -> None:
    (guess,) = guess_columns(pl.DataFrame({column: values}))
    assert guess.role == role
    assert why in guess.why
    assert guess.column == column
    assert guess.missing == values.count(None)


def test_a_single_row_is_not_taken_for_harmless() -> None:
    roles = [g.role for g in guess_columns(pl.DataFrame({"a": [1], "b": ["x"]}))]
    assert roles == ["undecided"] * 2


def test_names_that_look_like_patterns_are_names() -> None:
    frame = pl.DataFrame({"^a.*$": ["1", "2"], "ab": ["x", "y"]})
    assert [(g.column, g.type) for g in guess_columns(frame)] == [
        ("^a.*$", "integer"),
        ("ab", "text"),
    ]


def test_roles_that_fit_pass() -> None:
    check_roles(["a", "b"], {"quasi": ["a"], "sensitive": ["b"], "identifier": []})


@pytest.mark.parametrize(
    ("roles", "what", "hint"),
    [
        ({"quasi": ["age"]}, "column 'salary' has no role", "list it under"),
        (
            {"quasi": ["age", "salary", "zip"]},
            "the table has no column 'zip'",
            "another table's policy",
        ),
        ({"quasi": ["age", "sallary"]}, "the table has no column 'sallary'", "mean 'salary'?"),
        (
            {"quasi": ["age"], "sensitive": ["salary", "age"]},
            "column 'age' is listed as quasi and as sensitive",
            "keep one",
        ),
        ({"quasi": ["age", "age"]}, "column 'age' is listed twice as quasi", "keep one"),
        ({"qi": ["age"]}, "there is no role 'qi'", "identifier, quasi"),
        ({"quasi": "age"}, "role 'quasi' is not a list", '["age"]'),
    ],
)
def test_every_column_has_exactly_one_role(roles: dict, what: str, hint: str) -> None:
    with pytest.raises(PolicyError) as caught:
        check_roles(["age", "salary"], roles)
    assert caught.value.what == what
    assert hint in str(caught.value.hint)


@pytest.fixture
def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "name": UNIQUE,
            "age": few(*(str(i) for i in range(20, 60))),
            "disease": few(HIDDEN, "flu", None),
            "salary": [str(1000 + i) for i in range(100)],
            "colour": few("red"),
        }
    )


def test_the_policy_says_what_was_guessed(people: pl.DataFrame) -> None:
    guesses = guess_columns(people)
    text = policy_text(guesses, "people.csv", proposal=proposed_policy(people, guesses))
    policy = tomllib.loads(text)
    assert policy == {
        "version": 1,
        "roles": {
            "identifier": ["name"],
            "quasi": ["age"],
            "sensitive": ["disease", "salary"],
            "insensitive": ["colour"],
        },
        "types": {g.column: g.type for g in guesses},
        "principle": [
            {"name": "k-anonymity", "k": 5},
            {"name": "frequency-l", "on": "disease", "l": 2},
            {"name": "delta-l", "on": "salary", "delta": 5, "l": 3},
        ],
        "hierarchies": {},
        "transform": {"align": {"age": 5}},
    }
    check_roles(people.columns, policy["roles"])
    assert '"disease",  # category, 33 missing: the name has "disease"; 2 distinct' in text
    assert "# age = { interval = [5, 10, 20, 40] }" in text
    assert "WARNING" not in text
    assert HIDDEN not in text
    assert '"red"' not in text


def test_a_policy_without_sensitive_columns_warns() -> None:
    frame = pl.DataFrame({"age": [1, 2, 3, 4, 5]})
    guesses = guess_columns(frame)
    text = policy_text(guesses, "t.csv", proposal=proposed_policy(frame, guesses))
    assert "# WARNING: no column looks sensitive" in text
    assert tomllib.loads(text)["principle"] == [{"name": "k-anonymity", "k": 5}]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (None, None),
        (ReadOptions(), None),
        (ReadOptions(delimiter="\t"), {"delimiter": "\t"}),
        (
            ReadOptions(encoding="cp1252", missing=("-", 'a"b')),
            {"encoding": "cp1252", "missing": ["-", 'a"b']},
        ),
        (ReadOptions(missing=()), {"missing": []}),
    ],
)
def test_the_policy_keeps_how_the_table_was_read(
    options: ReadOptions | None, expected: dict | None
) -> None:
    policy = tomllib.loads(policy_text([], "t.csv", options))
    assert policy.get("table") == expected


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.lists(NAMES, unique=True), NAMES, st.sampled_from(ROLES))
def test_any_names_make_valid_toml(columns: list[str], table: str, role: str) -> None:
    guesses = [Guess(c, "float", role, 9, 0, "because") for c in columns]
    proposal = Proposal(
        principles=[
            Suggestion({"name": "delta-l", "on": c, "allowed": [c]}, f"about {c}") for c in columns
        ],
        hierarchies={c: Suggestion({"interval": [1, 2]}, c) for c in columns},
        align={c: Suggestion(0.5, c) for c in columns},
    )
    policy = tomllib.loads(policy_text(guesses, table, proposal=proposal))
    assert policy["roles"][role] == columns
    assert list(policy["types"]) == columns
    asked = policy.get("principle", [])
    assert [(p["on"], p["allowed"]) for p in asked] == [(c, [c]) for c in columns]
    assert policy.get("hierarchies", {}) == {c: {"interval": [1, 2]} for c in columns}
    assert policy.get("transform", {"align": {}}) == {"align": dict.fromkeys(columns, 0.5)}
