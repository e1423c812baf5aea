"""What a release says of columns that no principle protects, beside brute force and in words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.effort import examples
from tests.everyday import renamed, unsafe
from wideberth import datasets
from wideberth.core.groups import Groups
from wideberth.labels import PublishedBoxes
from wideberth.risk.attacks import Risk, VictimClasses, own_shares
from wideberth.risk.disclosure import COLUMNS, LEVELS, Disclosure, GuessesBeyondChance
from wideberth.risk.findings import Finding

PEOPLE = st.lists(
    st.tuples(st.integers(20, 40), st.sampled_from("fmx"), st.integers(0, 3)),
    min_size=8,
    max_size=40,
)


def covers(label: str, value: object) -> bool:
    """Read a published label as a person would."""
    if label == "*":
        return True
    if ".." in label:
        low, high = map(int, label.split(".."))
        return low <= int(str(value)) <= high
    if label.startswith("{"):
        return str(value) in label[1:-1].split("|")
    return label == str(value)


def about(audit: wb.Audit, on: str) -> Disclosure:
    return next(one for one in audit.disclosures if one.on == on)


def disclosed(audit: wb.Audit) -> list[Finding]:
    return [found for found in audit.findings if found.name == "attribute-disclosure"]


def same(risk: Risk, shares: list[Fraction]) -> None:
    assert risk.people == len(shares)
    assert risk.worst == pytest.approx(float(max(shares)))
    assert risk.mean == pytest.approx(float(sum(shares) / len(shares)))
    for level in (0.5, 0.9, 1.0):
        assert risk.above[level] == sum(share >= Fraction(str(level)) for share in shares)


@given(PEOPLE, st.integers(1, 4))
@examples(40, 13)
def test_shares_are_as_counted_one_by_one(rows: list[Any], k: int) -> None:
    table = pl.DataFrame(rows, schema=["age", "sex", "ward"], orient="row")
    quasi = ["age", "sex", "ward"]
    table = table.with_columns(pay=pl.int_range(pl.len()), area=pl.col("ward") // 2)
    roles = {"quasi": quasi, "sensitive": "pay", "insensitive": "area"}
    made = wb.anonymize(table, **roles, principles=f"k-anonymity:k={min(k, len(rows))}", seed=1)
    release = made.table.with_columns(pl.all().cast(pl.String)).to_dicts()
    people = table.to_dicts()
    audit = wb.audit(made, original=table, swaps=False)
    for on in quasi:
        if table[on].n_unique() == 1:
            assert on not in [one.on for one in audit.disclosures]
            continue
        others = [name for name in quasi if name != on]
        shares = [naive.told_exactly(p, on, others, release, covers) for p in people]
        found = about(audit, on)
        same(found.guess, shares)
        held = table[on].to_list()
        rare = [
            share
            for share, value in zip(shares, held, strict=True)
            if 2 * held.count(value) < len(held)
        ]
        assert found.uncommon["people"] == len(rare)
        assert found.uncommon["certain"] == rare.count(Fraction(1))
        assert found.common == pytest.approx(max(held.count(v) for v in held) / len(held))
        assert found.rows == sum(row[on] in map(str, held) for row in release)
    if table["area"].n_unique() > 1 and 2 * table["area"].n_unique() <= len(rows):
        shares = [naive.told_exactly(p, "area", quasi, release, covers) for p in people]
        same(about(audit, "area").guess, shares)


@given(PEOPLE, st.integers(1, 4))
@examples(40, 13)
def test_without_the_original_people_are_drawn_who_fit(rows: list[Any], k: int) -> None:
    table = pl.DataFrame(rows, schema=["age", "sex", "ward"], orient="row")
    quasi = ["age", "sex", "ward"]
    principles = f"k-anonymity:k={min(k, len(rows))}"
    made = wb.anonymize(table, quasi=quasi, principles=principles, seed=1)
    frame = made.table.with_columns(pl.all().cast(pl.String))
    release = frame.to_dicts()
    published, own = PublishedBoxes.read(frame, quasi).drawn(1000)
    assert own.tolist() == list(range(frame.height))
    drawn = [
        {axis.name: axis.atoms[int(axis.points[row])] for axis in published.axes}
        for row in range(frame.height)
    ]
    for row, person in zip(release, drawn, strict=True):
        assert all(covers(row[name], person[name]) for name in quasi)
    audit = wb.audit(frame, quasi=quasi, sensitive=[], principles=principles)
    for found in audit.disclosures:
        others = [name for name in quasi if name != found.on]
        people = [
            {**person, found.on: row[found.on]} for row, person in zip(release, drawn, strict=True)
        ]
        exact = ["{" not in row[found.on] and ".." not in row[found.on] for row in release]
        shares = [
            naive.told_exactly(person, found.on, others, release, covers) if told else Fraction(0)
            for person, told in zip(people, exact, strict=True)
        ]
        same(found.guess, shares)
        assert found.victims["drawn"]


def diagnoses(rows: int = 4000, *, name: str, sure: float = 0.83) -> tuple[pl.DataFrame, ...]:
    """People of ages and places, and a release: of most groups, it says which diagnosis all have.

    Ages and places are published in ranges. Each group has a place of its own, so that an adversary
    who knows age and place finds it.
    """
    rng = np.random.default_rng(3)
    group = np.arange(rows) // 5
    codes = np.array([f"{letter}{number}" for letter in "CEIJK" for number in range(10, 20)])
    first = rng.integers(0, len(codes), group[-1] + 1)
    exact = rng.random(group[-1] + 1) < sure
    second = (first + 1 + rng.integers(0, len(codes) - 1, len(first))) % len(codes)
    own = np.where(exact[group] | (np.arange(rows) % 2 == 0), first[group], second[group])
    low, high = np.minimum(first, second), np.maximum(first, second)
    said = np.where(
        exact,
        codes[first],
        np.char.add(np.char.add(np.char.add("{", codes[low]), "|"), np.char.add(codes[high], "}")),
    )
    zips = 10_000 + 10 * group + rng.integers(0, 10, rows)
    ages = 20 + rng.integers(0, 60, rows)
    pay = rng.integers(1000, 90_000, rows)
    original = pl.DataFrame({"age": ages, "zip": zips, name: codes[own], "pay": pay})
    released = pl.DataFrame(
        {
            "age": np.array(["20..79"] * rows),
            "zip": [f"{10_000 + 10 * g}..{10_009 + 10 * g}" for g in group],
            name: said[group],
            "pay": pay,
        }
    )
    order = rng.permutation(rows)
    return original, released[order]


@pytest.mark.parametrize("with_original", [True, False])
@pytest.mark.parametrize(
    ("name", "severity"), [("diagnosis", "high"), ("icd10", "high"), ("xq7", "high")]
)
def test_a_diagnosis_among_quasi_identifiers(name: str, severity: str, with_original: bool) -> None:
    original, release = diagnoses(name=name)
    audit = wb.audit(
        release,
        original=original if with_original else None,
        quasi=["age", "zip", name],
        sensitive="pay",
        principles="k-anonymity:k=5",
    )
    [found] = disclosed(audit)
    assert (found.severity, found.figures["column"]) == (severity, name)
    assert found.figures["published_exactly"] / 4000 == pytest.approx(0.83, abs=0.03)
    certain = found.figures["guess"]["above"]["1"] / found.figures["guess"]["people"]
    assert certain == pytest.approx(0.83, abs=0.03)
    assert f"'{name}'" in found.title
    assert "other quasi-identifiers" in found.title
    if severity == "high":
        assert not audit.safe
        assert "nothing grave" not in audit.verdict
    values = set(original[name]) | set(release[name])
    assert not any(value in str(found.to_dict()) for value in values)


def test_a_column_of_which_nothing_is_known() -> None:
    released = [
        table.with_columns(pl.col("xq7").str.to_lowercase()) for table in diagnoses(name="xq7")
    ]
    audit = wb.audit(
        released[1], original=released[0], quasi=["age", "zip", "xq7"], sensitive="pay"
    )
    assert [found.severity for found in disclosed(audit)] == ["medium"]


def test_the_same_column_as_a_sensitive_one_is_not_found_twice() -> None:
    original, release = diagnoses(name="icd10")
    audit = wb.audit(release, original=original, quasi=["age", "zip"], sensitive=["icd10", "pay"])
    assert not disclosed(audit)
    assert "icd10" not in [one.on for one in audit.disclosures]


def test_an_insensitive_column_that_its_groups_give_away() -> None:
    original, release = diagnoses(name="diagnosis", sure=1.0)
    asked = {"quasi": ["age", "zip"], "sensitive": "pay", "principles": "k-anonymity:k=5"}
    for before in (original, None):
        [found] = disclosed(wb.audit(release, original=before, **asked))
        assert (found.severity, found.figures["role"]) == ("medium", "insensitive")
    other = {"diagnosis": "xq7"}
    [found] = disclosed(wb.audit(release.rename(other), original=original.rename(other), **asked))
    assert found.severity == "medium"
    region = {"diagnosis": "region"}
    [found] = disclosed(wb.audit(release.rename(region), original=original.rename(region), **asked))
    assert found.severity == "low"


@pytest.mark.parametrize("role", ["quasi", "insensitive"])
@pytest.mark.parametrize(("sure", "severity"), [(0.09, "medium"), (0.03, "low")])
def test_few_people_are_enough_for_a_doubt(role: str, sure: float, severity: str) -> None:
    """Nobody can tell what the column is, so one person in twenty keeps a release from a tick."""
    tables = [
        table.with_columns(pl.col("xq7").str.to_lowercase())
        for table in diagnoses(name="xq7", sure=sure)
    ]
    asked = {"quasi": ["age", "zip"], "sensitive": "pay", "principles": "k-anonymity:k=5"}
    if role == "quasi":
        asked["quasi"] = [*asked["quasi"], "xq7"]
    [found] = disclosed(wb.audit(tables[1], original=tables[0], **asked))
    assert (found.severity, found.figures["role"]) == (severity, role)


@pytest.mark.parametrize("rows", [240, 400])
@pytest.mark.parametrize("role", ["quasi", "insensitive"])
def test_a_diagnosis_that_is_guessed_though_nobody_is_certain(
    role: str, rows: int, tmp_path: Path
) -> None:
    """Most people of an age have the same one; the tables differ by chance only."""
    quasi = ["age", "sex", "zip"] + ["kz7"] * (role == "quasi")
    people, published = tmp_path / "people.csv", tmp_path / "release.csv"
    for seed in (13, 14, 17, 18, 19):
        everyday = renamed(role, seed=seed, rows=rows)()
        people.write_text(everyday.text)
        table = pl.read_csv(people, schema_overrides={"zip": pl.String})
        made = wb.anonymize(
            table,
            quasi=quasi,
            insensitive=[] if role == "quasi" else "kz7",
            sensitive="salary",
            principles=["k-anonymity:k=5", "delta-l:delta=500,l=3"],
            hierarchies={"zip": {"mask": 5}},
            align={"age": 5},
            seed=1,
        )
        made.table.write_csv(published)
        assert any("kz7" in what for what in unsafe(everyday, people, published))
        [found] = disclosed(wb.audit(made, original=table, swaps=False))
        assert (found.severity, found.figures["column"]) == ("medium", "kz7")


def test_independent_columns_raise_no_doubt() -> None:
    rng = np.random.default_rng(5)
    table = datasets.sal(600, seed=3).select("age", "birthplace", "occupation", "income")
    names = [first + second for first in "abcdefghij" for second in "klmnopqrst"]
    columns = {f"kz{n}": [names[i] for i in rng.integers(0, n, 600)] for n in (2, 3, 10, 100)}
    table = table.with_columns(pl.Series(name, cells) for name, cells in columns.items())
    for k in (5, 8, 20):
        made = wb.anonymize(
            table,
            quasi=["age", "birthplace", "occupation"],
            sensitive="income",
            insensitive=list(columns),
            principles=f"k-anonymity:k={k}",
            rows_are_people=True,
            seed=1,
        )
        audit = wb.audit(made, original=table, swaps=False)
        assert {one.on for one in audit.disclosures} >= columns.keys()
        assert {found.severity for found in disclosed(audit)} <= {"low"}


def test_chance_is_what_independent_columns_show() -> None:
    """Of groups of equal size, beside what is counted in columns drawn at random."""
    rng = np.random.default_rng(1)
    for size, values in ((3, 2), (5, 2), (5, 6), (8, 3)):
        drawn = rng.integers(0, values, (4000, size))
        faced = VictimClasses.known(Groups.of(drawn.tolist(), values))
        everybody = np.ones(len(faced), dtype=bool)
        chance = np.full(len(faced), 1 / values)
        found = GuessesBeyondChance.of_faced(faced, own_shares(faced), chance, everybody)
        for level in LEVELS:
            assert found.people[level] / found.of == pytest.approx(
                found.expected[level] / found.of, abs=0.02
            )
            assert found.share(level) == 0


def test_a_guess_is_said_in_a_sentence() -> None:
    """Fewer people's value is certain than as good as certain: these are counted."""
    ages = np.repeat(np.arange(20, 60), 10)
    illness = np.array(["a", "b", "c", "d"])[ages % 4]
    illness[::10] = np.array(["b", "c", "d", "a"])[ages[::10] % 4]
    table = pl.DataFrame({"age": ages, "kz7": illness, "pay": np.arange(400)})
    asked = {"quasi": "age", "sensitive": "pay", "insensitive": "kz7"}
    made = wb.anonymize(table, **asked, principles="k-anonymity:k=10", seed=1)
    [found] = disclosed(wb.audit(made, original=table, swaps=False))
    assert found.title.replace("\u00a0", " ") == (
        "'kz7' of 360 people of 400 (90 %) can be guessed with 90 % confidence or more by an "
        "adversary who knows their quasi-identifiers"
    )
    table = table.with_columns(kz7=pl.Series(np.where(np.arange(400) % 10 < 4, "e", illness)))
    made = wb.anonymize(table, **asked, principles="k-anonymity:k=10", seed=1)
    [found] = disclosed(wb.audit(made, original=table, swaps=False))
    assert " can be guessed with 50 % confidence" in found.title.replace("\u00a0", " ")
    assert " Chance alone explains " in found.meaning
    assert found.figures["beyond_chance"]["0.5"]["people"] > 200


def test_what_most_people_have_is_no_news_and_what_few_have_is() -> None:
    original, release = diagnoses(name="diagnosis", sure=1.0)
    asked = {"quasi": ["age", "zip", "diagnosis"], "sensitive": "pay"}
    same = pl.when(pl.col("diagnosis") == "C10").then(pl.lit("yes")).otherwise(pl.lit("no"))
    rare = [table.with_columns(diagnosis=same) for table in (original, release)]
    audit = wb.audit(rare[1], original=rare[0], **asked)
    [found] = disclosed(audit)  # each of the few who have it is certain to have it
    assert found.severity == "high"
    assert found.figures["most_common"] > 0.95
    hidden = pl.when(pl.col("diagnosis") == "yes").then(pl.lit("{no|yes}")).otherwise("diagnosis")
    audit = wb.audit(rare[1].with_columns(diagnosis=hidden), original=rare[0], **asked)
    assert about(audit, "diagnosis").guess.above[1.0] > 3800
    assert not disclosed(audit)


def test_a_number_that_is_known_nearly() -> None:
    original, release = diagnoses(name="dose")
    rng = np.random.default_rng(0)
    base = rng.integers(0, 1000, 800)[np.arange(4000) // 5]
    band = pl.Series([f"{low}..{low + 9}" for low in base])
    original = original.with_columns(dose=pl.Series(base + rng.integers(0, 10, 4000)))
    release = diagnoses(name="dose")[0].with_columns(
        dose=band,
        zip=pl.col("zip").cast(pl.String).str.slice(0, 4)
        + pl.lit("0..")
        + pl.col("zip").cast(pl.String).str.slice(0, 4)
        + pl.lit("9"),
    )
    audit = wb.audit(release.drop("age"), original=original, quasi=["zip", "dose"], sensitive="pay")
    [found] = disclosed(audit)
    assert found.figures["near"]["people"] == 4000
    assert "is known to within 50 to" in found.title
    assert about(audit, "zip").looks_like == "known"


def test_usual_releases_of_ours_raise_no_alarm() -> None:
    table = datasets.adults(6000)
    quasi = ["age", "sex", "race", "marital_status", "education", "native_country", "workclass"]
    for principles in ("k-anonymity:k=5", "frequency-l:l=3"):
        made = wb.anonymize(
            table.drop("income"),
            quasi=quasi,
            sensitive="occupation",
            principles=principles,
            seed=1,
        )
        for original in (table.drop("income"), None):
            audit = wb.audit(made, original=original, swaps=False)
            assert {one.on for one in audit.disclosures} == set(quasi)
            assert [f for f in disclosed(audit) if f.severity != "info"] == []


def test_a_single_quasi_identifier_and_constants() -> None:
    table = pl.DataFrame({"age": ["20..29"] * 30, "unit": ["x"] * 30, "pay": range(30)})
    assert wb.audit(table, quasi="age", sensitive="pay").disclosures == []


def test_few_people_make_no_finding() -> None:
    _, release = diagnoses(10, name="diagnosis", sure=1.0)
    audit = wb.audit(release, quasi=["age", "zip", "diagnosis"], sensitive="pay")
    assert about(audit, "diagnosis").guess.above[1.0]
    assert not disclosed(audit)


def test_missing_values_and_stars() -> None:
    table = pl.DataFrame(
        {
            "age": ["20..29"] * 15 + ["30..39"] * 15 + ["*"],
            "diagnosis": [None] * 15 + ["flu"] * 15 + ["*"],
            "pay": range(31),
        }
    )
    audit = wb.audit(table, quasi=["age", "diagnosis"], sensitive="pay")
    found = about(audit, "diagnosis")
    assert found.rows == 30
    assert found.guess.above[0.9] == 30  # the row of stars covers everybody


def test_two_tables() -> None:
    table = datasets.adults(500).select("age", "sex", "workclass", "occupation")
    made = wb.anonymize(
        table,
        quasi=["age", "sex", "workclass"],
        sensitive="occupation",
        principles="frequency-l:l=3",
        algorithm="anatomy",
        seed=1,
    )
    audit = wb.audit(made, original=table)
    assert about(audit, "workclass").rows == 500


def test_too_many_columns_are_said_to_be_left_out() -> None:
    rng = np.random.default_rng(0)
    columns = {f"c{i}": rng.integers(0, 3, 60).astype(str) for i in range(COLUMNS + 3)}
    table = pl.DataFrame({**columns, "diagnosis": rng.integers(0, 3, 60).astype(str)})
    audit = wb.audit(table.with_columns(pay=pl.int_range(60)), quasi=table.columns, sensitive="pay")
    assert len(audit.disclosures) == COLUMNS
    assert "diagnosis" in [one.on for one in audit.disclosures]  # the ones that matter first
    assert any("were not looked at for attribute disclosure" in note for note in audit.notes)


def test_a_sample_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wideberth.risk.disclosure.PEOPLE", 500)
    original, release = diagnoses(name="diagnosis")
    asked = {"quasi": ["age", "zip", "diagnosis"], "sensitive": "pay", "original": original}
    audit = wb.audit(release, **asked)
    found = about(audit, "diagnosis")
    assert found.victims == {"looked_at": 500, "of": 4000, "exact": False, "drawn": False}
    assert found.guess.above[1.0] / 500 == pytest.approx(0.83, abs=0.06)
    assert "random sample" in disclosed(audit)[0].meaning
    assert about(wb.audit(release, **asked, everyone=True), "diagnosis").victims["exact"]


def test_a_report_lists_what_no_principle_protects() -> None:
    original, release = diagnoses(name="diagnosis")
    quasi = ["age", "zip", "diagnosis"]
    asked = {"quasi": quasi, "sensitive": "pay"}
    made = wb.report(release, original=original, principles="k-anonymity:k=5", **asked)
    told = made.to_dict()
    assert [one["on"] for one in told["risk"]["after"]["disclosures"]] == quasi
    page = made.html()
    assert "Columns that no principle protects" in page
    assert "people whose value is certain" in page
    few = wb.report(release.head(7), **asked)  # one or two people are not pointed at
    assert "fewer than 3" in few.html()


def beside(rows: int = 1500, **columns: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    """People with a disease, and columns of which somebody says that they are harmless."""
    rng = np.random.default_rng(2)
    names = np.array(["flu", "cancer", "asthma", "gout", "migraine", "eczema", "ulcer", "sprain"])
    people = {
        "age": rng.integers(18, 80, rows),
        "zip": rng.integers(10_000, 10_040, rows).astype(str),
        "disease": names[rng.integers(0, 8, rows)],
        "other": names[rng.integers(0, 8, rows)],
        "any": rng.integers(0, 8, rows),
    }
    made = {name: make(people) for name, make in columns.items()}
    asked = {"quasi": ["age", "zip"], "sensitive": "disease", "insensitive": list(columns)}
    return pl.DataFrame({**{n: people[n] for n in ("age", "zip", "disease")}, **made}), asked


def determined(table: pl.DataFrame, asked: dict[str, Any], *, known: bool = True) -> list[Finding]:
    principles = ["k-anonymity:k=5", "frequency-l:l=3"]
    made = wb.anonymize(table, **asked, principles=principles, rows_are_people=True, seed=1)
    audit = wb.audit(made, original=table if known else None, swaps=False)
    return [found for found in audit.findings if found.name == "determined"]


def letters(values: Any) -> list[str]:
    return ["kjhgfdsa"[sorted(set(values)).index(value)] for value in values]


def mostly(people: dict[str, Any]) -> list[str]:
    """A code of the disease that is wrong for one person in six."""
    codes = np.array(letters(people["disease"]))
    codes[::6] = np.array(list("kjhgfdsa"))[people["any"]][::6]
    return codes.tolist()


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("make", "severity"),
    [
        (lambda people: letters(people["disease"]), "high"),
        (mostly, "medium"),
        # Only within a group does it tell the disease: the code is another one in each place.
        (
            lambda people: [
                "abcdefgh"["kjhgfdsa".index(code) ^ int(place) % 8]
                for code, place in zip(letters(people["disease"]), people["zip"], strict=True)
            ],
            None,
        ),
        (lambda people: letters(people["other"]), None),
        (lambda people: list(range(len(people["age"]))), None),
    ],
)
def test_a_code_of_the_sensitive_value_is_no_harmless_column(
    make: Any, severity: str | None, known: bool
) -> None:
    found = determined(*beside(q7=make), known=known)
    assert [one.severity for one in found] == ([severity] if severity else [])
    if found:
        assert found[0].title.startswith("'q7' tells 'disease' of up to ")
        assert "cancer" not in str(found[0].to_dict())


def test_a_code_that_tells_the_sensitive_value_within_groups_only() -> None:
    """In each place it is another code, and groups are of one place."""
    rng = np.random.default_rng(0)
    place = np.repeat(np.arange(60), 20)
    illness = rng.integers(0, 6, 1200)
    table = pl.DataFrame(
        {
            "place": [f"p{n:02d}" for n in place],
            "disease": np.array(list("abcdef"))[illness],
            "q7": np.array(list("uvwxyz"))[(illness + 5 * place + place // 7) % 6],
        }
    )
    asked = {"quasi": "place", "sensitive": "disease"}
    [found] = [
        one for one in wb.audit(table, **asked, swaps=False).findings if one.name == "determined"
    ]
    [told] = found.figures["told"]
    assert (found.severity, told["nearly"], told["within_groups"]) == ("high", 0.0, 1.0)
    shuffled = table.with_columns(pl.col("q7").shuffle(seed=1))
    found = wb.audit(shuffled, **asked, swaps=False).findings
    assert "determined" not in [one.name for one in found]


def test_insensitive_columns_that_determine_each_other() -> None:
    table, asked = beside(
        q7=lambda people: letters(people["other"]), q8=lambda people: people["other"]
    )
    [found] = determined(table, asked)
    assert found.severity == "medium"
    assert found.title == "'q7' and 'q8' are nearly determined by other insensitive columns"
    harmless = {"q7": "country_code", "q8": "country"}
    asked["insensitive"] = list(harmless.values())
    assert not determined(table.rename(harmless), asked)
    kinds = {"q7": "country", "q8": "diagnosis"}
    asked["insensitive"] = list(kinds.values())
    assert [one.severity for one in determined(table.rename(kinds), asked)] == ["medium"]


def test_a_copy_of_a_quasi_identifier_that_is_coarsened() -> None:
    table, asked = beside(q7=lambda people: [f"{int(zip_) * 7 % 64:o}x" for zip_ in people["zip"]])
    [found] = determined(table, asked)
    assert found.severity == "medium"
    assert "'q7' tells 'zip' of up to" in found.title
    tens, asked = beside(q7=lambda people: [f"{age // 10}x" for age in people["age"]])
    assert not determined(tens, asked)  # it tells less than the quasi-identifier


def test_numbers_that_tell_a_sensitive_number() -> None:
    rng = np.random.default_rng(0)
    pay = rng.integers(1000, 90_000, 900)
    table = pl.DataFrame({"age": [f"{n}0..{n}9" for n in rng.integers(2, 6, 900)], "pay": pay})
    asked = {"quasi": "age", "sensitive": "pay", "swaps": False}
    for make, severities in (
        (pay * 3 // 10, ["medium"]),
        (rng.permutation(pay * 3 // 10), []),
    ):
        audit = wb.audit(table.with_columns(levy=pl.Series(make)), **asked)
        found = [one for one in audit.findings if one.name == "determined"]
        assert [one.severity for one in found] == severities
