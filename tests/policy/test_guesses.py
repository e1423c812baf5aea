"""Roles guessed from names in four languages and from shapes of values; undecided columns."""

from __future__ import annotations

import hashlib
import re
import uuid
from pathlib import Path

import polars as pl
import pytest

from wideberth.checks.protection import proposed_policy
from wideberth.policy.guesses import guess_columns

ROWS = 400
FEW = [("a", "b", "c")[i % 3] for i in range(ROWS)]
NUMBERS = [f"{(i * 7) % 97 / 10}" for i in range(ROWS)]
MANY = [str(17 * i) for i in range(ROWS)]  # each row another


def role(name: str, values: list) -> str:
    return guess_columns(pl.DataFrame({name: values}))[0].role


IDENTIFIERS = """
mrn MRN nhs_number ssn patient_id patientId PatientNr hashed_id id_hash userid customer_code
case_no email_address phone1 Telefonnummer Vorname nachname Versichertennummer Kundennummer
steuer_id IBAN numero_securite_sociale numero_de_seguridad_social DNI correo_electronico prénom
nom_de_famille Straße apellidos applicant_no
"""
SENSITIVE = """
icd ICD10 icd_10 icd10_code cd4 CD4Count HbA1c hba1c viral_load viralLoad test_result hiv_test
conviction prior_convictions pension smoker is_smoker systolic diastolic_bp BMI bmi_2019
blood_pressure allergies pregnancy pregnant benefit housing_benefit benefits income_2020
household_income monthly_wage net_pay salary2 diagnosis_code type_of_cancer drug_name cause_of_death
Diagnose Hauptdiagnose Monatsgehalt Bruttoeinkommen Raucher Vorstrafen Schwangerschaft Allergien
Blutdruck Rente systolisch Testergebnis Viruslast salaire revenu_annuel grossesse fumeur
résultat_test condamnation retraite allergies_connues charge_virale salario_mensual ingresos
diagnóstico embarazo fumador resultado_prueba condena pensión carga_viral enfermedad
"""
QUASI = """
age ZIP5 date_of_birth birth_date lat lon latitude geo_lat ethnicity native_country marital_status
city_name school_name country_of_birth number_of_children postal_code Alter PLZ Geburtsdatum
Familienstand Staatsangehörigkeit Breitengrad Beruf sexe date_naissance code_postal état_civil
lieu_de_naissance edad sexo fecha_nacimiento estado_civil código_postal ocupación latitud profesión
"""
UNDECIDED = """
weight survey_weight fnlwgt q7 amount colour agenda region_of_diagnosis income_tax_zone
age_at_diagnosis diagnosis_date notes status
"""


@pytest.mark.parametrize("name", IDENTIFIERS.split())
def test_names_of_identifiers(name: str) -> None:
    assert role(name, MANY) == "identifier"


@pytest.mark.parametrize("name", SENSITIVE.split())
def test_names_of_sensitive_columns(name: str) -> None:
    assert role(name, FEW) == "sensitive"
    assert role(name, NUMBERS) == "sensitive"


@pytest.mark.parametrize("name", QUASI.split())
def test_names_of_quasi_identifiers(name: str) -> None:
    assert role(name, FEW) == "quasi"
    assert role(name, NUMBERS) == "quasi"


@pytest.mark.parametrize("name", UNDECIDED.split())
def test_other_names_are_undecided(name: str) -> None:
    assert role(name, FEW) == "undecided"


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("disease_name", FEW, "sensitive"),  # the name of a disease
        ("name_of_disease", FEW, "sensitive"),
        ("disease_id", FEW, "sensitive"),  # its code
        ("city_id", FEW, "quasi"),
        ("patient_name", FEW, "identifier"),
        ("tax_id", FEW, "identifier"),  # a person's, however often it repeats
        ("tax_class", FEW, "sensitive"),
        ("income_tax_zone", FEW, "undecided"),  # a zone, and yet something of an income
        ("zone_income", FEW, "sensitive"),
        ("patient_age", FEW, "quasi"),
        ("age_id", MANY, "identifier"),
    ],
)
def test_the_order_of_words_matters(name: str, values: list, expected: str) -> None:
    assert role(name, values) == expected


def test_every_guess_says_which_word_decided() -> None:
    frame = pl.DataFrame({"HbA1c": NUMBERS, "income_tax_zone": FEW, "weight": NUMBERS})
    whys = [guess.why for guess in guess_columns(frame)]
    assert 'the name has "hba1c"' in whys[0]
    assert 'the name has "zone", but "tax" as well' in whys[1]
    assert "the weight of a person is sensitive" in whys[2]


def words(row: int) -> str:
    return f"Seen on ward {row % 9} by doctor {row}, complains of pain since week {row % 5}"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([f"p{i % 150}@example.org" for i in range(ROWS)], "e-mail addresses"),
        ([f"+49 228 {100000 + i % 150}" for i in range(ROWS)], "telephone numbers"),
        ([str(uuid.UUID(int=i % 150)) for i in range(ROWS)], "UUIDs"),
        ([hashlib.sha256(str(i % 150).encode()).hexdigest() for i in range(ROWS)], "hashes"),
        ([hashlib.md5(str(i % 150).encode()).hexdigest() for i in range(ROWS)], "hashes"),  # noqa: S324
        ([words(i) for i in range(ROWS)], "free text"),
        ([f"52.{i % 90:02}1, 13.{i % 80:02}7" for i in range(ROWS)], "coordinates"),
        ([f"2024-03-{1 + i % 28:02} 10:{i % 60:02}:{i % 59:02}.{i}" for i in range(ROWS)], ""),
        (list(range(ROWS)), "every row has its own"),
        ([100_000 + 37 * (i // 2) for i in range(2 * ROWS)], "with several rows each"),
        ([f"{4_000_000 + 37 * (i // 2):08}" for i in range(2 * ROWS)], "with several rows each"),
    ],
)
def test_shapes_of_identifiers(values: list, reason: str) -> None:
    (guess,) = guess_columns(pl.DataFrame({"q7": values}))
    assert guess.role == "identifier"
    assert reason in guess.why


def test_free_text_is_an_identifier_whatever_its_name() -> None:
    values = [words(i) for i in range(ROWS)]
    for name in ("notes", "diagnosis", "occupation"):
        assert role(name, values) == "identifier"
    labels = ["Married, spouse present in the household", "Never married and living with parents"]
    assert role("marital_status", [labels[i % 2] for i in range(ROWS)]) == "quasi"


@pytest.mark.parametrize(
    "values",
    [
        [i % 83 for i in range(ROWS)],
        [1000 * (i % 83) for i in range(5 * ROWS)],
        [20_000 + 10 * (i * 7919 % 700) for i in range(5 * ROWS)],  # rounded, as wages are
        [f"{i % 50}..{i % 50 + 9}" for i in range(ROWS)],  # published ranges
        [f"{10_000 + i % 50:05}..{20_000 + i % 50:05}" for i in range(ROWS)],
        [
            "{" + ", ".join(f"v{i % 50 + j} of some kind" for j in range(5)) + "}"
            for i in range(ROWS)
        ],
        [i / 7 for i in range(ROWS)],
    ],
)
def test_other_values_are_no_identifiers(values: list) -> None:
    assert role("q7", values[:-1] + values[:1]) == "undecided"


def test_times_when_records_were_made() -> None:
    times = [f"2024-03-01 10:{i // 60 % 60:02}:{i % 60:02}" for i in range(ROWS)]
    days = [f"2024-03-{1 + i % 9:02}" for i in range(ROWS)]
    assert role("created_at", times) == "identifier"
    assert role("created_at", days) == "quasi"


@pytest.mark.parametrize(
    "values",
    [
        ["1e400", "10e399"] * 200,
        [[str(i // 2)] for i in range(1200)],
        [b"%d" % i for i in range(9)],
    ],
    ids=["too long", "lists", "bytes"],
)
def test_values_that_cannot_be_looked_at_are_undecided(values: list) -> None:
    guesses = guess_columns(pl.DataFrame({"q7": values, "q8": values}))
    assert [guess.role for guess in guesses] == ["undecided"] * 2


@pytest.mark.parametrize("names", [("Breite", "Länge"), ("breite", "laenge"), ("geo_y", "geo_x")])
def test_exact_places_are_quasi_identifiers_on_a_grid(names: tuple[str, str]) -> None:
    places = [52 + i / 997 for i in range(ROWS)], [13 + i / 991 for i in range(ROWS)]
    for pair in (names, ("lat", "lng"), ("latitud", "longitud"), ("home_lat", "home_lon")):
        frame = pl.DataFrame(dict(zip(pair, places, strict=True)))
        guesses = guess_columns(frame)
        assert [guess.role for guess in guesses] == ["quasi"] * 2
        grids = proposed_policy(frame, guesses).align
        assert all(grids[name].active and grids[name].value == 0.02 for name in pair)
    sizes = pl.DataFrame({names[0]: places[0], "kind": ["a"] * ROWS, names[1]: places[1]})
    roles = [guess.role for guess in guess_columns(sizes)]  # no neighbours, so perhaps of a thing
    assert roles[0] == ("quasi" if "geo" in names[0] else "undecided")


def test_a_pair_of_numbers_that_may_be_a_place_is_remarked_on() -> None:
    frame = pl.DataFrame(
        {"y1": [52 + i / 997 for i in range(ROWS)], "x1": [13 + i / 991 for i in range(ROWS)]}
    )
    guesses = guess_columns(frame)
    assert [guess.role for guess in guesses] == ["undecided"] * 2
    assert "it and 'x1' could be a latitude and a longitude" in guesses[0].why


#: What docs/columns.md lists by what the values look like; names alone do not tell.
BY_VALUES = {"UUIDs", "notes", "comments", "created_at", "updated_at"}


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("identifiers", "identifier"),
        ("quasi-identifiers", "quasi"),
        ("sensitive columns", "sensitive"),
    ],
)
def test_usual_columns_of_the_page_have_the_role_that_it_says(title: str, expected: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "columns.md").read_text("utf-8")
    section = page.split(f"## Usual {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE)[1:]
    names = [
        name.strip(" *").replace(" ", "_")
        for _, examples in rows
        for name in re.split(", | or | and ", examples.partition(":")[0])
    ]
    assert len(names) > 12
    for name in names:
        if name not in BY_VALUES and name != "hire":  # of "date of admission, discharge or hire"
            assert role(name, FEW) == expected, name
