"""What `init` and the app propose: possible, as strong as that permits, and without a value."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from wideberth.checks.protection import proposed_policy, proposed_protection
from wideberth.policy.guesses import guess_columns
from wideberth.policy.proposal import Suggestion, policy_text

SPIKED = [0] * 60 + [1000 + 13 * i for i in range(40)]


def entries(column: pl.Series, kind: str, *, active: bool = True) -> list[dict]:
    """Return the principles that are proposed."""
    found = proposed_protection(column, kind)
    return [dict(one.value) for one in found if one.value and one.active is active]


@pytest.mark.parametrize(
    ("counts", "l"), [([25] * 4, 3), ([34, 33, 33], 2), ([40, 30, 30], 2), ([50, 50], 2)]
)
def test_categories_get_the_largest_l_that_is_possible(counts: list[int], l: int) -> None:  # noqa: E741
    column = pl.Series("disease", [f"d{i}" for i, n in enumerate(counts) for _ in range(n)])
    assert entries(column, "category") == [{"name": "frequency-l", "on": "disease", "l": l}]


@pytest.mark.parametrize("positive", [1, 40])
def test_a_value_of_more_than_half_is_left_to_the_custodian(positive: int) -> None:
    column = pl.Series("hiv", ["negative"] * (100 - positive) + ["positive"] * positive)
    assert entries(column, "category") == [{"name": "t-closeness", "on": "hiv", "t": 0.2}]
    (harmless,) = entries(column, "category", active=False)
    assert harmless["name"] == "frequency-l"
    assert harmless["allowed"] == ["…"]
    named = wb.FrequencyLDiversity(l=harmless["l"], allowed=("negative",))
    assert wb.check(whole(column), quasi="all", sensitive="hiv", principles=named).satisfied
    why = " ".join(one.why for one in proposed_protection(column, "category"))
    assert f"{100 - positive} of 100 rows" in why
    assert "negative" not in why


def test_numbers_get_an_interval_from_their_spread() -> None:
    wages = pl.Series("wage", range(1000, 5000, 10))
    (asked,) = entries(wages, "integer")
    assert asked == {"name": "delta-l", "on": "wage", "delta": 200, "l": 3}  # 5% of 3,200 is 160
    crowded = pl.Series("wage", [1000] * 40 + list(range(1010, 5000, 50)))
    (asked,) = entries(crowded, "integer")
    assert (asked["name"], asked["l"]) == ("delta-l", 2)


def test_close_numbers_get_a_smaller_interval() -> None:
    """Most lie within 5% of the spread, so delta is smaller."""
    near = pl.Series("wage", [*range(1000, 1060), *range(5000, 9000, 100)])
    (asked,) = entries(near, "integer")
    assert asked["name"] == "delta-l"
    assert asked["delta"] < 50
    assert asked["l"] == 2


def test_a_spike_is_left_to_the_custodian() -> None:
    column = pl.Series("wage", SPIKED)
    assert entries(column, "integer") == [{"name": "t-closeness", "on": "wage", "t": 0.2}]
    (harmless,) = entries(column, "integer", active=False)
    assert harmless["name"] == "delta-l"
    assert harmless["allowed"] == ["…"]
    named = wb.DeltaLDiversity(delta=harmless["delta"], l=harmless["l"], allowed=("0",))
    assert harmless["delta"] >= 10
    assert wb.check(whole(column), quasi="all", sensitive="wage", principles=named).satisfied


def test_what_is_missing_for_most_is_said() -> None:
    column = pl.Series("disease", [None] * 60 + ["flu", "ulcer"] * 20)
    found = proposed_protection(column, "category")
    assert "missing in 60 of 100 rows" in found[-1].why
    assert [one.value.get("name") for one in found] == ["t-closeness", None]


def test_dates_and_few_numbers() -> None:
    born = pl.Series("born", [date(1950, 1, 1) + timedelta(days=70 * i) for i in range(300)])
    assert entries(born, "date") == [{"name": "delta-l", "on": "born", "delta": 1000, "l": 3}]
    score = pl.Series("score", [1, 2, 3, 4, 5] * 9)
    assert entries(score, "integer") == [{"name": "frequency-l", "on": "score", "l": 3}]


def test_one_value_cannot_be_hidden() -> None:
    (only,) = proposed_protection(pl.Series("disease", ["flu"] * 9), "category")
    assert not only.value
    assert "no grouping can hide it" in only.why


def test_a_column_that_cannot_be_judged_is_said() -> None:
    (only,) = proposed_protection(pl.Series("wage", [1.0, float("inf")] * 9), "float")
    assert not only.value
    assert "wage" in only.why


def whole(column: pl.Series) -> pl.DataFrame:
    """Return a table of one group."""
    return pl.DataFrame({"all": ["*"] * len(column), column.name: column})


CELLS = st.one_of(st.none(), st.integers(-3, 3), st.integers(-(10**6), 10**6))


@settings(max_examples=60)
@given(st.lists(CELLS, min_size=2, max_size=60), st.sampled_from(["integer", "float", "text"]))
def test_all_that_is_proposed_is_possible_together_and_no_stronger_l(
    cells: list[int | None], kind: str
) -> None:
    dtype = {"integer": pl.Int64, "float": pl.Float64, "text": pl.String}[kind]
    column = pl.Series("secret", cells, dtype=pl.Int64).cast(dtype)
    asked = entries(column, kind)
    if not asked:
        return
    frame = whole(column)
    known = {"quasi": "all", "sensitive": "secret", "types": {"secret": kind}}
    done = wb.check(frame, **known, principles=[made(one) for one in asked])
    assert done.satisfied
    for one in asked:
        if one.get("l", 3) < 3 and one["name"] == "frequency-l":
            more = made({**one, "l": one["l"] + 1})
            assert not wb.check(frame, **known, principles=more).satisfied


def made(entry: dict) -> wb.Principle:
    """Build a principle from an entry of a policy."""
    return wb.Policy.of({"roles": {"sensitive": ["secret"]}, "principle": [entry]}).principles[0]


def test_how_quasi_identifiers_are_coarsened() -> None:
    rows = 400
    frame = pl.DataFrame(
        {
            "age": [18 + i % 70 for i in range(rows)],
            "zip": [f"{i * 37 % 90000 + 10000}" for i in range(rows)],
            "birthdate": [date(1940, 1, 1) + timedelta(days=70 * i) for i in range(rows)],
            "sex": ["f", "m"] * (rows // 2),
            "occupation": [f"job {i % 40}" for i in range(rows)],
            "country": ["x"] * rows,
        }
    )
    guesses = guess_columns(frame)
    text = policy_text(guesses, "t.csv", proposal=proposed_policy(frame, guesses))
    policy = tomllib.loads(text)
    assert policy["transform"]["align"] == {"age": 5, "birthdate": "year"}
    assert policy["hierarchies"] == {"zip": {"mask": 5}}
    assert policy["types"]["zip"] == "text"  # digits, but no number
    assert "# age = { interval = [5, 10, 20, 40] }" in text
    assert '# birthdate = { date = ["month", "quarter", "year"] }' in text
    assert "# sex = { flat = true }" in text
    assert '# occupation = { file = "occupation.csv" }' in text
    wb.Policy.of(policy)


@pytest.mark.parametrize("form", ["{:05}", "P-{:04}", "{:08}"])
def test_no_mask_is_proposed_for_numbers_of_people(form: str) -> None:
    def proposed(name: str, role: str) -> dict[str, Suggestion]:
        frame = pl.DataFrame({name: [form.format(i // 3) for i in range(300)]})
        (guess,) = guess_columns(frame)
        return proposed_policy(frame, [replace(guess, role=role)]).hierarchies

    assert proposed("pat", "undecided") == proposed("pat", "quasi") == {}
    assert "mask" in proposed("postcode", "quasi")["postcode"].value


def test_small_tables_get_no_k_that_they_cannot_keep() -> None:
    for rows, asked in ((1, []), (3, [3]), (9, [5])):
        proposal = proposed_policy(pl.DataFrame({"age": range(rows)}), [])
        assert [one.value["k"] for one in proposal.principles if one.value] == asked
        assert all(one.why for one in proposal.principles)
