"""Several rows for one person: noticed by every command, and never published without an answer.

THEORY's table of visits: 400 patients, 1,771 rows that satisfy k = 5 and l = 3 by rows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth.errors import UndecidedError
from wideberth.policy.guesses import guess_columns
from wideberth.policy.people import find_people, find_people_by_counts

PATIENTS, VISITS = 400, 1771
COUNTS = "1,771 rows, but only 400 different values of 'patient_id'"
POLICY = """\
version = 1
[roles]
identifier = ["patient_id"]
quasi = ["age", "sex"]
sensitive = ["disease"]
[hierarchies]
age = { interval = [20, 40, 80] }
sex = { flat = true }
[[principle]]
name = "k-anonymity"
k = 5
[[principle]]
name = "distinct-l"
on = "disease"
l = 3
"""
SAYS_SO = POLICY.replace("version = 1", "version = 1\nrows_are_people = true")


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    """Visits of patients whose quasi-identifiers stay the same."""
    rng = np.random.default_rng(9)
    who = rng.permutation(
        np.concatenate([np.arange(PATIENTS), rng.integers(0, PATIENTS, VISITS - PATIENTS)])
    )
    age, sex = rng.integers(20, 80, PATIENTS)[who], rng.integers(0, 2, PATIENTS)[who]
    return pl.DataFrame(
        {
            "patient_id": [f"P{1000 + one}" for one in who],
            "age": age,
            "sex": ["fm"[one] for one in sex],
            "disease": rng.choice(["flu", "cold", "asthma", "ulcer", "gout"], VISITS),
        }
    )


@pytest.fixture
def files(write: Any, visits: pl.DataFrame) -> None:
    visits.write_csv("visits.csv")
    visits.write_parquet("visits.parquet")
    write("policy.toml", POLICY)
    write("says_so.toml", SAYS_SO)


# Which columns tell.


@pytest.mark.parametrize(
    ("column", "tells"),
    [
        ("patient_id", True),
        ("PatientID", True),
        ("Patientennummer", True),
        ("numero_paciente", True),
        ("id_client", True),
        ("mrn", True),
        ("patient_nbr", True),
        ("tenant_no", True),
        ("email", True),
        ("visit_id", True),
        ("student_id", True),
        ("school_student_id", True),
        ("hospital_id", False),
        ("product_id", False),
        ("household_id", False),
        ("surname", False),
        ("patient_name", False),
        ("patient_zip_code", False),
        ("number_of_patients", False),
        ("group_id", False),
        ("age", False),
    ],
)
def test_names_of_columns_that_say_whose_row_it_is(column: str, tells: bool) -> None:
    frame = pl.DataFrame({column: [f"{i // 2}a" for i in range(60)], "age": [30] * 60})
    assert (find_people(frame) is not None) == tells


def test_roles_values_and_shapes_tell_as_well() -> None:
    codes = [f"{i // 2:07d}" for i in range(100)]
    shown = find_people(pl.DataFrame({"who": codes}), identifier=["who"])
    assert shown is not None
    assert (shown.people, shown.rows) == (50, 100)
    hashes = [f"{i // 4 + 2**60:032x}" for i in range(100)]
    shown = find_people(pl.DataFrame({"h": hashes, "age": range(100)}))
    assert shown is not None
    assert (shown.column, shown.people) == ("h", 25)
    for values in (
        ["Anna", "Berta", "Carla"] * 30,  # names of different people
        ["she came late and went early"] * 45 + ["she came again in spring"] * 45,
        ["12**", "13**", "14**"] * 30,  # published labels
        ["0"] * 90,
    ):
        assert find_people(pl.DataFrame({"who": values}), identifier=["who"]) is None
    assert find_people(pl.DataFrame({"id": codes}), ignored=["id"]) is None


#: Numbers of people as registers give them out, three rows each, under a name that says nothing.
CODED = {
    "zeros": [f"{i // 3 + 1:04}" for i in range(240)],
    "prefix": [f"P-{4000 + 17 * (i // 3)}" for i in range(240)],
    "running": [f"P{i // 3}" for i in range(240)],
    "sites": [f"{('BER', 'HAM')[i // 3 % 2]}-{i // 3:04}" for i in range(240)],
    "years": [f"2024-{i // 3:04}" for i in range(240)],
}
#: What looks like them, and numbers nobody.
OTHERS = {
    "postcodes": [f"0{1067 + 37 * (i // 3)}" for i in range(240)],
    "British postcodes": [f"SW{i // 3 % 20}A {i // 3 % 9}AA" for i in range(240)],
    "diseases": [f"{'ABCDE'[i % 5]}{i // 3:02}.{i % 10}" for i in range(240)],
    "departments": [f"D-{i % 12:03}" for i in range(240)],
    "products": [f"AB-{1000 + i % 15}" for i in range(240)],
    "years": [f"{1940 + i % 70}" for i in range(240)],
    "dates": [f"{1 + i // 3 % 28:02}/{1 + i // 3 % 12:02}/{1980 + i // 3}" for i in range(240)],
    "days": [f"{1 + i // 3 % 28:02}{1 + i // 3 % 12:02}{1980 + i // 3}" for i in range(240)],
    "times": [f"{i // 3 * 7 % 24:02}:{i // 3 * 11 % 60:02}" for i in range(240)],
    "clock": [f"{i // 3 * 7 % 24:02}{i // 3 * 11 % 60:02}" for i in range(240)],
    "phones": [f"+49 228 {100_000 + 7 * (i // 3)}" for i in range(240)],
    "shares": [f"0.{1000 + 7 * (i // 3)}" for i in range(240)],
    "wages": [f"EUR {1003 + 7 * (i // 3)}" for i in range(240)],
    "minutes": [f"{i % 3}:{i // 4:02}" for i in range(240)],
    "laps": [f"1:{i // 30:02}.{i // 3 % 10}" for i in range(240)],
    "hours": [f"{i % 3}h{i // 4:02}" for i in range(240)],
    "ratios": [f"1:{10 + i // 3}" for i in range(240)],
    "pressures": [f"{100 + 10 * (i % 3)}/{60 + i // 6}" for i in range(240)],
    "machines": [f"10.0.{i % 4}.{1 + i // 3}" for i in range(240)],
    "months": [f"{1 + i % 3:02}/{1990 + i // 9}" for i in range(240)],
    "months by name": [f"{('Jan', 'Apr', 'Dec')[i % 3]} {1990 + i // 9}" for i in range(240)],
    "quarters": [f"Q{1 + i % 4} {1990 + i // 9}" for i in range(240)],
    "weeks": [f"{2016 + i % 3}-W{1 + i // 5:02}" for i in range(240)],
}


@pytest.mark.parametrize("values", CODED.values(), ids=CODED)
@pytest.mark.parametrize("kept", [True, False], ids=["identifier", "kept"])
def test_numbers_with_a_prefix_or_zeros_tell_under_any_name(values: list[str], kept: bool) -> None:
    frame = pl.DataFrame({"who": values, "age": [i % 60 for i in range(240)]})
    (guessed, _) = guess_columns(frame)
    assert guessed.role == "identifier"
    assert "with several rows each" in guessed.why
    found = find_people(frame, identifier=["who"] if kept else [])
    assert found is not None
    assert (found.people, found.rows) == (80, 240)
    first = find_people_by_counts(frame.head(120), lambda _: (80, 0), 240)
    assert first is not None
    assert first.people == 80
    assert find_people(frame.rename({"who": "zip"})) is None
    assert find_people(frame.rename({"who": "product"})) is None
    assert find_people(frame.rename({"who": "style"})) is None


@pytest.mark.parametrize("values", OTHERS.values(), ids=OTHERS)
def test_codes_dates_and_wages_number_nobody(values: list[str]) -> None:
    frame = pl.DataFrame({"who": values, "age": [i % 60 for i in range(240)]})
    assert find_people(frame) is None
    assert guess_columns(frame)[0].why.find("numbers look like those of people") < 0


def interviews(**more: list[Any]) -> pl.DataFrame:
    """400 people, asked by ten interviewers whom a code names."""
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {"asked_by": [f"K{i % 10:02}" for i in range(400)], "town": rng.integers(0, 9, 400)}
    )
    return frame.with_columns(pl.Series(name, values) for name, values in more.items())


def test_rows_that_differ_in_sex_birth_or_age_are_different_people() -> None:
    rng = np.random.default_rng(6)
    sex = list(rng.choice(["f", "m"], 400))
    day = [f"{1940 + int(i) % 60}-05-{1 + int(i) % 28:02}" for i in rng.integers(0, 9999, 400)]
    ages = [int(age) for age in rng.integers(18, 90, 400)]
    told: dict[str, Any] = {"identifier": ["asked_by"]}
    for name, values in (("sex", sex), ("date_of_birth", day), ("age", ages)):
        frame = interviews(**{name: values})
        assert find_people(frame, **told) is None
        assert find_people_by_counts(frame, lambda _: (10, 0), 400, **told) is None
        # What is the same in all rows of a value, or differs in years of a study, says nothing.
        same = interviews(**{name: [values[i % 10] for i in range(400)]})
        assert find_people(same, **told) is not None
    aged = interviews(age=[30 + i % 10 + i // 100 for i in range(400)])
    assert find_people(aged, **told) is not None
    # Others' sex says nothing, nor does any of it where the name speaks of people.
    assert find_people(interviews(doctor_sex=sex), **told) is not None
    named = interviews(sex=sex).rename({"asked_by": "patient_no"})
    assert find_people(named) is not None


def test_few_values_are_asked_about_in_the_words_of_each_interface(run: Any) -> None:
    found = find_people(interviews(), identifier=["asked_by"])
    assert found is not None
    assert (found.people, found.rows) == (10, 400)
    assert "because 'asked_by' stands for a place or an interviewer" in str(found.error.hint)
    assert str(found.error.hint).endswith(", rows_are_people=True")
    interviews().write_csv("asked.csv")
    Path("asked.toml").write_text(
        '[roles]\nidentifier = ["asked_by"]\nquasi = ["town"]\n[[principle]]\n'
        'name = "k-anonymity"\nk = 2\n'
    )
    told = run("check", "asked.csv", "-p", "asked.toml")
    assert told.code == 3
    assert "stands for a place or an interviewer, say), rows_are_people = true in the" in " ".join(
        told.out.split()
    )
    refused = run("anonymize", "asked.csv", "-p", "asked.toml", "-o", "release.csv")
    refused.refuses(2, "stands for a place or an interviewer", "rows_are_people = true")
    assert run("check", "asked.csv", "-p", "asked.toml", "--rows-are-people").code == 0


def test_a_missing_identifier_is_a_person_and_a_unique_one_settles_it() -> None:
    frame = pl.DataFrame({"patient_id": [1, 1, 2, None, None]})
    found = find_people(frame)
    assert found is not None
    assert found.people == 4
    one_each = pl.DataFrame({"respondent_id": range(60), "visit_id": [i // 2 for i in range(60)]})
    assert find_people(one_each) is None
    several = pl.DataFrame({"record_id": range(60), "visit_id": [i // 2 for i in range(60)]})
    assert find_people(several) is not None
    both = find_people(several.with_columns(patient_no=pl.Series([i // 3 for i in range(60)])))
    assert both is not None
    assert (both.column, both.others) == ("patient_no", ("visit_id",))


def test_birth_sex_and_postcode_that_repeat_more_often_than_chance() -> None:
    rng = np.random.default_rng(3)

    def born(people: int, rows: int) -> pl.DataFrame:
        who = rng.integers(0, people, rows)
        days = pl.Series(rng.integers(0, 25_000, people)[who]).cast(pl.Int32).cast(pl.Date)
        post = pl.Series(rng.integers(10, 60, people)[who] * 100)
        sex = pl.Series(["f", "m"])[rng.integers(0, 2, people)[who].tolist()]
        return pl.DataFrame({"date_of_birth": days, "sex": sex, "zip": post})

    found = find_people(born(300, 1200))
    assert found is not None
    assert found.columns == ("date_of_birth", "sex", "zip")
    assert 250 < found.people <= 300
    assert find_people(born(2_000_000, 1200)) is None
    years = born(300, 1200).with_columns(pl.col("date_of_birth").dt.truncate("1y"))
    assert find_people(years) is None  # to the year, different people share it


def persons(many: int, rng: np.random.Generator) -> pl.DataFrame:
    """Different people, whose names come from realistic, skewed lists and tell their sex."""
    first, last = (
        rng.choice(names, many, p=weights / weights.sum())
        for names, weights in ((40, 1 / np.arange(5, 45)), (400, 1 / np.arange(10, 410)))
    )
    return pl.DataFrame(
        {
            "first_name": [f"{'Aeiou'[one % 5]}{'bdglnrst'[one % 8]}a" for one in first],
            "surname": [
                f"{'BDFGHKLMNP'[one % 10]}{'aeiou'[one // 10 % 5]}{'bdfgklmn'[one // 50]}ler"
                for one in last
            ],
            "phone": [f"0171 {2_000_000 + 7919 * i}" for i in range(many)],
            "age": rng.integers(18, 90, many),
            "sex": ["fm"[one % 2] for one in first],
            "zip": [str(10_000 + 10 * int(one)) for one in rng.integers(0, 300, many)],
        }
    ).with_columns(full_name=pl.concat_str("first_name", "surname", separator=" "))


@pytest.mark.parametrize("column", ["full_name", "surname", "phone", "called"])
def test_names_and_telephones_that_go_with_age_and_postcode_are_people(column: str) -> None:
    rng = np.random.default_rng(8)
    one_each = persons(200, rng)
    several = one_each[rng.integers(0, 200, 600)]
    several = several.with_columns(age=pl.col("age") + rng.integers(0, 3, 600))
    for frame, asked in ((several, True), (one_each, False)):
        kept = [column, "age", "sex", "zip"]
        frame = frame.with_columns(called="full_name").select(kept)
        found = find_people(frame, identifier=[column])
        assert (found is not None) == asked
        if found is not None:
            assert column in found.columns
            assert found.grave


@pytest.mark.parametrize("rows", [60, 600, 5000])
@pytest.mark.parametrize("lacking", ["none", "zip", "sex", "age"])
def test_different_people_share_names_telephones_and_addresses(rows: int, lacking: str) -> None:
    rng = np.random.default_rng(rows)
    frame = persons(rows, rng).drop("phone")
    for column in ("first_name", "surname", "full_name"):
        kept = {"age", "sex", "zip"} - {lacking}
        assert find_people(frame.select(column, *sorted(kept)), identifier=[column]) is None
    assert find_people(frame.select("full_name")) is None  # no more often than their parts explain
    couples = pl.concat([persons(rows, rng).drop("full_name")] * 2).with_columns(
        pl.Series("sex", ["f"] * rows + ["m"] * rows),
        age=pl.col("age") + rng.integers(-4, 5, 2 * rows),
        address=pl.col("phone"),
    )
    assert find_people(couples.select("phone", "address", "age", "sex", "zip")) is None
    assert find_people(couples.select("address", "age", "zip")) is None


def test_names_and_telephones_that_nobody_can_judge_are_asked_about() -> None:
    rng = np.random.default_rng(2)
    visits = persons(200, rng)[rng.integers(0, 200, 600)]
    for column in ("full_name", "phone"):
        found = find_people(visits.select(column, job=pl.lit("clerk")), identifier=[column])
        assert found is not None
        assert found.column == column
    for column in ("first_name", "surname"):
        assert find_people(visits.select(column), identifier=[column]) is None


def unnamed_visits() -> pl.DataFrame:
    """500 visits of 100 patients, whom a plain number under an unknown name tells."""
    rng = np.random.default_rng(4)
    who = rng.integers(0, 100, 500)
    patients = persons(100, rng).select("age", "sex", "zip")
    return patients[who].with_columns(
        kz=pl.Series(who * 37 % 101), illness=pl.Series(rng.choice(list("abcdef"), 500))
    )


def test_plain_numbers_under_an_unknown_name_are_people_if_all_they_keep_goes_with_them() -> None:
    visits = unnamed_visits()
    found = find_people(visits)
    assert found is not None
    assert (found.column, found.rows) == ("kz", 500)
    assert find_people(visits.drop("sex", "zip")) is None  # an age alone may be what they code
    assert find_people(visits.rename({"kz": "ward"})) is None
    rng = np.random.default_rng(5)
    people = persons(600, rng).drop("first_name", "surname", "full_name", "phone")
    codes = {
        "wards": rng.integers(0, 60, 600),
        "towns": people["zip"].cast(pl.Int64).to_numpy() // 50,
        "bands": people["age"].to_numpy() // 5 * 2 + (people["sex"] == "f").to_numpy(),
        "households": np.arange(600) // 3,
    }
    for values in codes.values():
        assert find_people(people.with_columns(kz=pl.Series(values))) is None


@pytest.mark.parametrize("name", ["nr", "No", "num", "Nummer"])
def test_a_bare_number_numbers_people(name: str) -> None:
    frame = unnamed_visits().rename({"kz": name})
    assert {one.column: one.role for one in guess_columns(frame)}[name] == "identifier"
    found = find_people(frame.select(name))
    assert found is not None
    assert found.column == name
    assert find_people(frame.select(name).rename({name: "no_of_children"})) is None


@pytest.mark.parametrize("role", ["insensitive", "quasi"])
def test_no_green_verdict_whatever_role_such_a_number_has(role: str) -> None:
    visits = unnamed_visits()
    quasi = ["age", "sex", "zip", *(["kz"] if role == "quasi" else [])]
    roles: dict[str, Any] = {"quasi": quasi, "sensitive": "illness"}
    asked = {**roles, "principles": "k-anonymity:k=5"}
    asked["insensitive"] = "kz" if role == "insensitive" else None
    with pytest.raises(UndecidedError, match="different values of 'kz'"):
        wb.anonymize(visits, **asked)
    made = wb.anonymize(visits, **asked, rows_are_people=True)
    for original in (visits, None):
        audit = wb.audit(made.table, original=original, **roles, swaps=False)
        assert audit.judgement.level != "good"
        if original is not None or role == "insensitive":
            assert audit.people is not None
            assert audit.people.column == "kz"


def test_a_column_that_numbers_the_groups_of_a_release_is_no_person() -> None:
    groups = pl.DataFrame(
        {
            "eq": [i // 5 for i in range(300)],
            "age": [f"{20 + i // 5}..{30 + i // 5}" for i in range(300)],
            "sex": ["fm"[i // 5 % 2] for i in range(300)],
            "zip": [f"{100 + i // 5}**" for i in range(300)],
        }
    )
    assert find_people(groups) is None
    # What depends on the postcode alone is none either, though groups are made by postcodes only.
    towns = groups.with_columns(
        eq=pl.Series([i // 5 % 60 // 2 * 3 + i % 2 for i in range(300)]), age=pl.lit("18..90")
    ).with_columns(zip=pl.format("{}**", pl.col("eq") // 6), sex=pl.lit("*"))
    assert find_people(towns) is None


def test_large_files_find_them_among_all_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    people = persons(20_000, rng).select("age", "sex", "zip").with_columns(kz=pl.row_index())
    visits = pl.concat([people, people, people])  # the first rows are different people's
    visits.write_parquet(path := tmp_path / "visits.parquet")
    asked = {"quasi": ["age", "sex"], "principles": "k-anonymity:k=5", "memory": "600MB"}
    found = wb.check(path, **asked)
    assert found.people is not None
    assert (found.people.column, found.people.people) == ("kz", 20_000)
    people.write_parquet(path)
    assert wb.check(path, **asked).people is None


# What commands do about it.


def test_init_says_how_many_people_there_are_and_its_policy_asks(run: Any, files: None) -> None:
    told = run("init", "visits.csv", "-o", "proposed.toml")
    assert COUNTS in told.err
    assert f"# {COUNTS}" in Path("proposed.toml").read_text()
    assert "\n# rows_are_people = true\n" in Path("proposed.toml").read_text()
    shown = json.loads(run("init", "visits.csv", "--format", "json").out)
    assert shown["people"]["column"] == "patient_id"
    refused = run("anonymize", "visits.csv", "-p", "proposed.toml", "-o", "release.csv")
    refused.refuses(2, COUNTS, "rows_are_people = true in the policy (--rows-are-people")
    assert not Path("release.csv").exists()


@pytest.mark.parametrize("more", [(), ("--memory", "600MB"), ("--algorithm", "lattice")])
def test_anonymize_refuses_until_somebody_says_that_rows_are_people(
    run: Any, files: None, more: tuple[str, ...]
) -> None:
    line = ("anonymize", "visits.parquet", "-o", "release.parquet", *more)
    run(*line, "-p", "policy.toml").refuses(2, COUNTS, "--rows-are-people")
    assert not Path("release.parquet").exists()
    for answer in (("-p", "says_so.toml"), ("-p", "policy.toml", "--rows-are-people")):
        assert run(*line, *answer, "--force").code == 0
        manifest = json.loads(Path("release.parquet.manifest.json").read_text())
        assert manifest["rows_are_people"] is True
        if not more:
            assert manifest["people"]["people"] == PATIENTS
    if "lattice" in more:
        run("lattice", "visits.csv", "-p", "policy.toml").refuses(2, COUNTS)
        assert run("lattice", "visits.csv", "-p", "says_so.toml").code == 0


@pytest.mark.parametrize("more", [(), ("--memory", "600MB")])
def test_check_has_no_green_verdict_though_rows_satisfy_it(
    run: Any, files: None, more: tuple[str, ...]
) -> None:
    line = ("check", "visits.parquet", *more, "--qi", "sex", "--sensitive", "disease")
    line += ("--principle", "k-anonymity:k=5", "--principle", "distinct-l:l=3")
    told = run(*line)
    assert told.code == 3
    assert COUNTS in told.out
    assert "satisfied by rows only" in told.out.splitlines()[-1]
    assert "✓ satisfied" not in told.out
    shown = run(*line, "--format", "json")
    found = json.loads(shown.out)
    assert shown.code == 3
    assert (found["satisfied"], found["verdict"]) == (True, "satisfied by rows only")
    assert found["people"]["people"] == PATIENTS
    assert found["people"]["rows"] == VISITS
    said = run(*line, "--rows-are-people")
    assert said.code == 0
    assert "✓ satisfied" in said.out.splitlines()[-1]
    if not more:
        assert run("check", "visits.csv", "-p", "policy.toml", "--qi", "sex").code == 3
        assert run("check", "visits.csv", "-p", "says_so.toml", "--qi", "sex").code == 0


def test_audit_and_report_find_it_in_the_release_and_in_its_original(run: Any, files: None) -> None:
    roles = ("--qi", "age,sex", "--sensitive", "disease")
    foreign = run("audit", "visits.csv", *roles, "--format", "json")
    assert foreign.code == 3
    found = {one["name"]: one for one in json.loads(foreign.out)["findings"]}["several-rows"]
    assert (found["severity"], found["figures"]["people"]) == ("high", PATIENTS)
    visits = pl.read_csv("visits.csv")
    visits.drop("patient_id").with_columns(age=pl.lit("20..79")).write_csv("release.csv")
    original = ("--original", "visits.csv")
    assert "several-rows" not in run("audit", "release.csv", *roles, "--format", "json").out
    told = run("audit", "release.csv", *original, *roles)
    assert told.code == 3
    assert "patient_id" in told.out
    assert "✓" not in told.out.splitlines()[-1]
    told = run("report", "release.csv", *original, *roles)
    assert told.code == 3
    assert "patient_id" in told.out
    said = run("audit", "release.csv", *original, *roles, "--rows-are-people", "--format", "json")
    audit = json.loads(said.out)
    [found] = [one for one in audit["findings"] if one["name"] == "several-rows"]
    assert found["severity"] == "medium"
    assert "it was decided that each row is a person" in found["title"]
    assert COUNTS in found["title"]


def test_an_audit_of_a_release_knows_what_its_custodian_decided(run: Any, files: None) -> None:
    assert run("anonymize", "visits.csv", "-p", "says_so.toml", "-o", "release.csv").code == 0
    for original in (("--original", "visits.csv"), ()):  # else the manifest says what it had
        told = run("audit", "release.csv", *original, "--no-swaps", "--format", "json")
        audit = json.loads(told.out)
        assert audit["rows_are_people"] is True
        assert audit["people"]["people"] == PATIENTS
        [found] = [one for one in audit["findings"] if one["name"] == "several-rows"]
        assert found["severity"] == "medium"
        assert COUNTS in found["title"]
        assert audit["level"] != "good"
    told = run("report", "release.csv", "--format", "json")
    assert "several-rows" in {one["name"] for one in json.loads(told.out)["findings"]}


def test_a_few_repeats_are_a_finding_too_but_no_high_one() -> None:
    rows = pl.DataFrame({"patient_id": [*range(99), 0], "age": ["20..79"] * 100, "pay": range(100)})
    found = wb.audit(rows, quasi="age", sensitive="pay")
    [one] = [finding for finding in found.findings if finding.name == "several-rows"]
    assert one.severity == "medium"


# In Python.


def test_python_refuses_and_goes_on_alike(visits: pl.DataFrame) -> None:
    asked: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "disease"}
    with pytest.raises(UndecidedError, match="400 different values of 'patient_id'"):
        wb.anonymize(visits, **asked, identifier="patient_id", principles="k-anonymity:k=5")
    release = wb.anonymize(
        visits,
        **asked,
        identifier="patient_id",
        principles="k-anonymity:k=5",
        rows_are_people=True,
    )
    assert release.verified
    assert release.check()
    result = wb.check(visits, quasi="sex", sensitive="disease", principles="distinct-l:l=3")
    assert result.satisfied
    assert not result
    assert "several rows" in str(result)
    assert "✓ satisfied" not in result._repr_html_()
    assert wb.check(visits, quasi="sex", principles="k-anonymity:k=5", rows_are_people=True)
    anatomy: dict[str, Any] = {"identifier": "patient_id", "algorithm": "anatomy"}
    with pytest.raises(UndecidedError):
        wb.anonymize(visits, **asked, **anatomy, principles="distinct-l:l=3")


def test_one_row_for_each_person_asks_nothing(visits: pl.DataFrame) -> None:
    patients = visits.unique("patient_id", keep="first", maintain_order=True)
    release = wb.anonymize(
        patients,
        quasi=["age", "sex"],
        sensitive="disease",
        identifier="patient_id",
        principles="k-anonymity:k=5",
    )
    assert release.manifest["people"] is None
    assert release.manifest["rows_are_people"] is False
    assert release.check()


def test_a_policy_says_true_or_false(write: Any, run: Any) -> None:
    write("policy.toml", 'rows_are_people = "yes"\n[roles]\nquasi = ["age"]\n')
    run("check", "people.csv", "-p", "policy.toml").refuses(1, "must be true or false")
