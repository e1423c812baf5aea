"""Record numbers as quasi-identifiers: the ends of their ranges are numbers of single people."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from collections import Counter

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.errors import PolicyError, PrivacyWarning, RoleError
from wideberth.policy.guesses import leads_to_people

ROWS = 600
NUMBERS = np.random.default_rng(4).choice(np.arange(1_000_000, 10_000_000), ROWS, replace=False)
BIRTHS = [dt.date(1940, 1, 1) + dt.timedelta(days=int(day)) for day in NUMBERS % 25_000]
PEOPLE = datasets.census(ROWS, seed=3).with_columns(
    patient_number=pl.Series(NUMBERS),
    ward_round=pl.Series(NUMBERS),
    code=pl.Series([f"C-{number}" for number in NUMBERS]),
    birth_date=pl.Series(BIRTHS),
    pay=pl.Series(NUMBERS),
)
ASKED = {"principles": "k-anonymity:k=5"}


def made(column: str, **asked) -> wb.Release:
    table = PEOPLE.select("age", "sex", column)
    return wb.anonymize(table, quasi=["age", "sex", column], **ASKED, **asked)


def verbatim(release: wb.Release, column: str) -> tuple[int, int]:
    """Count the published ends, and those that are the value of a single person."""
    ends = {
        end for label in release.table[column].unique() for end in re.findall(r"[0-9-]{4,}", label)
    }
    alone = {str(value) for value, many in Counter(PEOPLE[column]).items() if many == 1}
    return len(ends & alone), len(ends)


@pytest.mark.parametrize("column", ["patient_number", "code"])
@pytest.mark.parametrize("recoding", [None, "set"])
def test_a_record_number_is_refused(column: str, recoding: str | None) -> None:
    named = PEOPLE.rename({"code": "customer_code"}) if column == "code" else PEOPLE
    name = "customer_code" if column == "code" else column
    with pytest.raises(PolicyError) as caught:
        wb.anonymize(named.select("age", name), quasi=["age", name], recoding=recoding, **ASKED)
    error = caught.value
    assert isinstance(error, RoleError)
    assert error.exit_code == 2
    assert f"quasi-identifier '{name}'" in error.what
    assert f"{ROWS} of its {ROWS} values are one row's" in error.what
    assert "identifier, which drops it" in str(error.hint)
    assert not any(str(number) in str(error) for number in NUMBERS)


def test_two_tables_and_engines_refuse_it_too(tmp_path) -> None:
    table = PEOPLE.select("age", "patient_number", "disease")
    roles = {"quasi": ["age", "patient_number"], "sensitive": "disease"}
    with pytest.raises(RoleError, match="its column publishes those of single people"):
        wb.anonymize(table, **roles, algorithm="anatomy", principles="frequency-l:l=2")
    table.write_csv(tmp_path / "t.csv")
    with pytest.raises(RoleError, match="'patient_number'"):
        wb.anonymize(tmp_path / "t.csv", **roles, **ASKED, memory="2GB")


@pytest.mark.parametrize(
    ("form", "published"), [("{}/23", "its sets list"), ("{}0", "its ranges end at")]
)
def test_values_of_their_own_in_nearly_every_row_are_warned_of(form: str, published: str) -> None:
    cells = [form.format(number) for number in NUMBERS]
    table = PEOPLE.select("age", where=pl.Series(cells if "/" in form else list(map(int, cells))))
    said = f"'where' has a value of its own in nearly every row, and {published} them"
    with pytest.warns(PrivacyWarning, match=said):
        release = wb.anonymize(table, quasi=["age", "where"], **ASKED)
    assert any(said in warning for warning in release.manifest["warnings"])
    coarse = {"where": {"mask": 7}} if "/" in form else {"where": {"interval": 10_000_000}}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wb.anonymize(table, quasi=["age", "where"], hierarchies=coarse, **ASKED)


def test_what_looks_like_a_record_number_is_warned_of() -> None:
    with pytest.warns(PrivacyWarning, match="numbers of single people are published: 'ward_round'"):
        release = made("ward_round")
    assert any("'ward_round' looks like numbers" in said for said in release.manifest["warnings"])
    single, ends = verbatim(release, "ward_round")
    assert ends > 20
    assert single == ends  # what the warning is about: every end is one person's number


@pytest.mark.parametrize("form", ["{}", "P-{}", "00{}"])
def test_numbers_with_a_prefix_or_zeros_are_warned_of_too(form: str) -> None:
    table = PEOPLE.select("age", pat=pl.format(form, "ward_round"))
    with pytest.warns(PrivacyWarning, match="'pat' looks like numbers of people or records"):
        wb.anonymize(table, quasi=["age", "pat"], **ASKED)


@pytest.mark.parametrize(
    "coarse",
    [
        {"align": {"patient_number": 1_000_000}},
        {"hierarchies": {"patient_number": {"interval": [1_000_000, 3_000_000, 9_000_000]}}},
    ],
    ids=["align", "hierarchy"],
)
def test_a_grid_or_a_hierarchy_makes_it_fine(coarse: dict) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = made("patient_number", **coarse)
    single, ends = verbatim(release, "patient_number")
    assert ends > 2
    assert single == 0


@pytest.mark.parametrize("column", ["birth_date", "pay"])
def test_dates_of_birth_and_wages_still_work(column: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(column).check().satisfied


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("mrn", NUMBERS, "by name"),
        ("case_no", np.repeat(NUMBERS, 3), "by name"),  # several rows each
        ("row", np.arange(ROWS), "by name"),
        ("city_id", NUMBERS[:15].repeat(40), None),  # codes of something else
        ("q7", NUMBERS, "by shape"),
        ("q7", np.arange(ROWS), "by shape"),
        ("q7", NUMBERS * 10, "by being unique"),  # rounded
        ("q7", NUMBERS % 1_000_003 + 1, "by being unique"),  # of different lengths
        ("q7", [f"{number}/23" for number in NUMBERS], "by being unique"),
        ("q7", [f"AB{number}X" for number in NUMBERS], "by being unique"),
        ("q7", NUMBERS / 8, None),  # measures
        ("admission", NUMBERS % 900_000 + 100_000, "by shape"),  # no days
        ("date", [f"AB{number}X" for number in NUMBERS], "by being unique"),
        ("admission", np.arange(19_900_101, 19_900_129), None),  # days
        ("born", np.arange(1930, 2000), None),  # years
        ("q7", [f"P-{number}" for number in NUMBERS], "by shape"),
        ("q7", [f"{number:04}" for number in range(ROWS)], "by shape"),
        ("q7", [f"{number:04}" for number in np.arange(ROWS).repeat(4)], "by shape"),
        ("q7", [f"{number % 90_000:05}" for number in NUMBERS.repeat(2)], None),  # postcodes
        ("q7", [f"E{10 + number % 89}.{number % 7}" for number in range(ROWS)] * 2, None),
        ("q7", [f"D-{number % 12:03}" for number in range(ROWS)], None),
        ("q7", NUMBERS % 500, None),
        ("salary", NUMBERS, None),
        ("zip", NUMBERS, None),
        ("weight", NUMBERS, None),
    ],
)
def test_which_columns_lead_to_people(
    name: str, values: np.ndarray | list[str], expected: str | None
) -> None:
    counted = pl.Series("v", values).value_counts()
    assert leads_to_people(name, counted["v"], counted["count"].to_numpy()) == expected
