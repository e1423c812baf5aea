"""Identifiers that a release still holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.risk.leaks.conftest import QUASI, as_csv, severities
from wideberth.risk.leaks import (
    identifiers,
    personal_texts,
)

# ---- row order


def nhs(number: int) -> int:
    """Make an NHS number: nine digits and their check digit."""
    while True:
        digits = f"{400_000_000 + 7919 * number:09d}"
        check = -sum((10 - at) * int(digit) for at, digit in enumerate(digits)) % 11
        if check < 10:
            return int(digits + str(check))
        number += 100_000


# ---- identifiers


class TestIdentifiers:
    def test_our_own_releases_have_none(self, release: pl.DataFrame) -> None:
        for table in (release, as_csv(release)):
            found = identifiers(table, quasi=QUASI, sensitive=["income"], identifier=["name"])
            assert set(severities(found)) <= {"low"}
            assert {finding.name for finding in found} <= {"insensitive-columns"}
        bare = release.drop("region")
        assert not identifiers(bare, quasi=QUASI, sensitive=["income"])

    def test_an_identifier_still_there(self, release: pl.DataFrame) -> None:
        table = release.with_columns(name=pl.Series([f"Ann {i}" for i in range(release.height)]))
        found = identifiers(table, quasi=QUASI, sensitive=["income"], identifier=["name"])
        assert (found[0].name, found[0].severity) == ("identifier", "high")
        stars = release.with_columns(name=pl.lit("*"))
        found = identifiers(stars, quasi=QUASI, sensitive=["income"], identifier=["name"])
        assert "identifier" not in {finding.name for finding in found}

    @pytest.mark.parametrize("name", ["Unnamed: 0", "__index_level_0__", "index", "", "number"])
    @pytest.mark.parametrize("text", [False, True])
    def test_row_numbers(self, release: pl.DataFrame, name: str, text: bool) -> None:
        rows = release.height
        orders = {
            "medium": [range(rows), range(1, rows + 1)],
            "high": [range(rows - 1, -1, -1), [i + i // 9 for i in range(rows)]],
        }
        for severity, all_of_them in orders.items():
            for numbers in all_of_them:
                table = release.with_columns(pl.Series(name, list(numbers)))
                table = as_csv(table) if text else table
                found = identifiers(table, quasi=QUASI, sensitive=["income"])
                assert found[0].name == "row-numbers"
                assert found[0].severity == severity
                assert [finding.name for finding in found].count("identifier") == 0

    def test_what_pandas_leaves_after_dropping_rows(self, release: pl.DataFrame) -> None:
        kept = np.random.default_rng(1).choice(400, release.height, replace=False)
        table = release.with_columns(index=pl.Series(kept))
        found = identifiers(table, quasi=QUASI, sensitive=["income"])
        assert (found[0].name, found[0].severity) == ("row-numbers", "high")

    def test_numbers_of_groups_are_none(self) -> None:
        table = pl.DataFrame({"age": ["*"] * 40, "group": np.arange(40) % 4, "pay": [1, 2] * 20})
        assert not identifiers(table, quasi=["age"], sensitive=["pay"], group="group")

    def test_unique_values_identify(self, release: pl.DataFrame) -> None:
        codes = [f"x{i * 7919 % 10_007}" for i in range(release.height)]
        table = release.with_columns(code=pl.Series(codes))
        found = identifiers(table, quasi=QUASI, sensitive=["income"])
        assert str(found[0]) == "high: (nearly) every row has its own 'code'"
        table = release.with_columns(account=pl.Series(["checking", "savings"] * 150))
        found = identifiers(table, quasi=QUASI, sensitive=["income"])
        assert "low: the name of column 'account'" in str(found[0])

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("call ann.b@example.org", "e-mail addresses"),
            ("+44 20 7946 0958", "telephone numbers"),
            ("030 1234567", "telephone numbers"),
            ("(555) 123-4567", "telephone numbers"),
            ("DE89 3704 0044 0532 0130 00", "bank account numbers (IBAN)"),
            ("GB82WEST12345698765432", "bank account numbers (IBAN)"),
            ("078-05-1120", "national identity numbers"),
            ("AB 12 34 56 C", "national identity numbers"),
            ("131052-308T", "national identity numbers"),
            ("seen by Ann (tel. 6175551234)", "telephone numbers"),
            ("617-555-0123", "telephone numbers"),
            ("01.23.45.67.89", "telephone numbers"),
            ("on 2013-05-31 called 030 1234567", "telephone numbers"),
            ("NHS 943 476 5919", "national identity numbers"),
            ("Steuer-ID 86 095 742 719", "national identity numbers"),
            ("86095742719", "national identity numbers"),
            ("NIR 2 55 08 14 168 025 38", "national identity numbers"),
            ("DNI 12345678Z", "national identity numbers"),
            ("NIE X1234567L, Madrid", "national identity numbers"),
            ("AHV 756.9217.0769.85", "national identity numbers"),
            ("SSN:078-05-1120", "national identity numbers"),
            ("transferred to DE89370400440532013000 today", "bank account numbers (IBAN)"),
            ("MRN 123456", "patient or record numbers"),
            ("see Pat-Nr. 4711-08", "patient or record numbers"),
            ("Patient no. 00815", "patient or record numbers"),
            ("patient #20045 was moved", "patient or record numbers"),
            ("medical record number: A-123456", "patient or record numbers"),
            ("ring 01712345678", "telephone numbers"),
            ("please ring me on 7700900123", "telephone numbers"),
            ("Rueckruf 00491701234567", "telephone numbers"),
            ("bitte Rückruf unter 4917012345", "telephone numbers"),
            ("0049 170 1234567", "telephone numbers"),
            ("unter 01712345678 erreichbar", "telephone numbers"),
            ("(020) 7946 0958", "telephone numbers"),
            ("(0170) 1234567", "telephone numbers"),
            ("01712345678", "telephone numbers"),
            ("2125550187", "telephone numbers"),
            ("Mobil: 01712345678", "telephone numbers"),
            ("téléphone 0612345678", "telephone numbers"),
            ("SSN 123456789", "national identity numbers"),
            ("KV-Nr. A123456780", "national identity numbers"),
            ("case 12345", "patient or record numbers"),
            ("pt id 88213", "patient or record numbers"),
            ("paid by 4111 1111 1111 1111", "card numbers"),
            ("card 378282246310005", "card numbers"),
            ("https://example.org/people/ann", "web addresses or account names"),
            ("posted by @ann_b", "web addresses or account names"),
        ],
    )
    def test_texts_that_look_personal(self, text: str, what: str) -> None:
        note = pl.Series("note", ["nothing", None, text] + ["fine"] * 7)
        for column in (note, note.cast(pl.Categorical())):
            hits = {f.figures["looks_like"]: f for f in personal_texts(column)}
            assert hits[what].severity == ("medium" if what.startswith("web") else "high")
            assert hits[what].figures["rows"] == 1
            assert text not in str(hits[what].to_dict())

    def test_one_such_text_of_many_may_be_an_accident(self) -> None:
        note = pl.Series("note", ["fine"] * 999 + ["a@example.org"])
        assert severities(personal_texts(note)) == ["medium"]

    def test_texts_that_do_not(self) -> None:
        texts = ["20..34", "2020-01-01..2020-12-31", "01.02.2020", "01/02/2020", "13053", "J45.0"]
        texts += ["130**", "1,234,567", "12.5", "2020-01-01 10:00:00", "[20, 34]", "male", "B12"]
        assert not personal_texts(pl.Series("label", texts))

    @pytest.mark.parametrize(
        "texts",
        [
            [f"{wage}" for wage in range(12_000, 98_000, 137)],  # wages
            [f"${wage:,}.00" for wage in range(12_000, 998_000, 1370)],
            [f"{wage:.2f}" for wage in np.linspace(1e6, 9e8, 500)],
            [f"{letter}{n:02d}.{n % 10}" for letter in "ACEIJ" for n in range(100)],  # ICD-10
            [f"{n:05d}..{n + 400:05d}" for n in range(1000, 99_000, 500)],  # postcodes, in ranges
            [f"{n:05d}-{n + 400:05d}" for n in range(1000, 99_000, 500)],
            [f"{n:06d}-{n + 400:06d}" for n in range(10_000, 99_000, 500)],
            ["{" + "|".join(f"{n + k:05d}" for k in range(4)) + "}" for n in range(1000, 2000)],
            [f"0{n}139-{n}234" for n in range(1, 9)],  # ZIP+4
            [f"{1950 + n}-01-01..{1959 + n}-12-31" for n in range(0, 70, 10)],
            [f"2013-05-{day:02d} 08:15:00" for day in range(1, 31)],
            [f"{day:02d}.05.2013 - {day + 1:02d}.05.2013" for day in range(1, 30)],
            [str(1_300_000_000 + 977 * n) for n in range(2000)],  # seconds since 1970
            [str(7_000_000_000 + 7919 * n) for n in range(2000)],  # numbers of ten digits
            [f"{n:08d}{'ABCDEFGH'[n % 8]}" for n in range(10_000_000, 10_000_400)],
            [f"{n}/{n + 10} mmHg, pulse {n}" for n in range(60, 140)],
            [str(2_125_000_000 + 7919 * n) for n in range(2000)],  # they could be telephone numbers
            [*(str(2_000_000_000 + 7_919_333 * n) for n in range(500)), "unknown"],
            [f"{n:010d}" for n in range(1, 3_000_000_000, 7_919_333)],  # filled with zeros
            [*(f"{n:012d}" for n in range(1, 300_000_000, 919_333)), "unknown"],
            [f"{n:016d}" for n in range(4_000_000_000_000_000, 4_000_000_000_900_000, 1009)],
            [f"A{n:09d}" for n in range(100_000_000, 900_000_000, 1_001_003)],
            [f"E{n}" for n in range(1000, 1400)],
            [f"total {n:,} EUR" for n in range(10_000, 90_000_000, 99_991)],
            ["stage 3, case of 2013, 12 rings of 100 mm, ring 12", "in case of 5000 or more"],
            [f"{n:08d} at noon" for n in range(1_012_013, 31_122_013, 1_000_000)],
            ["patient 65 years, 2 visits, no record of 2013", "called twice in 2012 and 2013"],
            [f"[{n}, {n + 10})" for n in range(0, 4000, 10)],
            [f"+{wage}" for wage in range(1000, 99_000, 500)],
            [
                "12.5 %",
                "1e-05",
                "-0.25",
                "10:30",
                "100 000 000",
                "1 000 200 3000",
                "B12",
                "1.1.1.1",
            ],
        ],
    )
    def test_nor_do_these(self, texts: list[str]) -> None:
        assert not personal_texts(pl.Series("label", texts))
        numbers = [text for text in texts if text.isdigit()]
        assert not personal_texts(pl.Series("label", [int(text) for text in numbers]))

    def test_every_column_is_searched(self) -> None:
        rows = 60
        table = pl.DataFrame(
            {
                "age": ["20..29", "30..39"] * 30,
                "contact": ["{ann@example.org|bob@example.org}", "{030 1234567|030 7654321}"] * 30,
                "note": ["fine"] * 59 + ["MRN 123456"],
                "pay": range(rows),
                "remark": ["paid to DE89 3704 0044 0532 0130 00"] + ["paid"] * 59,
                "nhs": [9434765919 if n == 3 else nhs(n) for n in range(rows)],
            }
        )
        found = identifiers(
            table, quasi=["age", "contact"], sensitive=["pay", "remark"], identifier=["note"]
        )
        told = {
            (f.figures["column"], f.figures["looks_like"])
            for f in found
            if f.name == "personal-texts"
        }
        assert told == {
            ("contact", "e-mail addresses"),
            ("contact", "telephone numbers"),
            ("note", "patient or record numbers"),
            ("remark", "bank account numbers (IBAN)"),
            ("nhs", "national identity numbers"),
        }
        audit = wb.audit(table.drop("nhs"), quasi=["age", "contact"], sensitive=["pay", "remark"])
        assert not audit.safe
        shown = str([f.to_dict() for f in [*found, *audit.findings] if f.name == "personal-texts"])
        for value in ("ann@", "1234567", "123456", "3704", "1120", "9434765919"):
            assert value not in shown

    def test_lists_are_searched(self) -> None:
        seen = pl.Series("seen", [["ward", "078-05-1120"]] + [["ward"]] * 8 + [None])
        [found] = personal_texts(seen)
        assert (found.figures["rows"], found.figures["looks_like"][:8]) == (1, "national")
        assert not personal_texts(pl.Series("place", [[1.5, 2.5]] * 9))

    def test_many_texts_are_sampled_and_that_is_said(self, monkeypatch: Any) -> None:
        monkeypatch.setattr("wideberth.risk.leaks.cells.TEXTS", 100)
        note = pl.Series("note", [f"to a{n}@example.org" for n in range(1000)])
        mail, sampled = personal_texts(note)
        assert (mail.severity, mail.figures["rows"]) == ("high", 100)
        assert (sampled.severity, sampled.figures["searched"]) == ("info", 100)
        assert "At least 100 of 1,000" in mail.meaning
        monkeypatch.setattr("wideberth.risk.leaks.cells.LETTERS", 50)
        long = pl.Series("note", ["x" * 60 + f" {n} ann@example.org" for n in range(30)])
        assert [found.name for found in personal_texts(long)] == ["texts-sampled"]

    def test_insensitive_columns_extend_quasi_identifiers(self, release: pl.DataFrame) -> None:
        [found] = identifiers(release, quasi=QUASI, sensitive=["income"])
        sizes = release.group_by(*QUASI, "region").len()["len"]
        assert found.figures["rows"] == int((sizes == 1).sum())
        assert found.figures["by_column"] == {"region": found.figures["rows"]}
        same = release.with_columns(region=pl.lit("north"))
        assert not identifiers(same, quasi=QUASI, sensitive=["income"])

    def test_who_is_alone_anyway_is_not_told_apart_by_more(self, release: pl.DataFrame) -> None:
        release = as_csv(release)
        [found] = identifiers(release, quasi=QUASI, sensitive=["income"])
        alone = release.head(1).with_columns(pl.lit("exact").alias(name) for name in QUASI)
        [again] = identifiers(pl.concat([release, alone]), quasi=QUASI, sensitive=["income"])
        assert (again.name, again.severity) == ("insensitive-columns", "low")
        assert again.figures == {**found.figures, "of": found.figures["of"] + 1}
        exact = pl.DataFrame({"age": range(30), "region": ["north", "south"] * 15})
        assert not identifiers(exact, quasi=["age"])

    def test_fine_numbers(self, release: pl.DataFrame) -> None:
        fine = pl.Series("weight", np.random.default_rng(0).normal(70, 9, release.height))
        found = identifiers(release.with_columns(fine), quasi=QUASI, sensitive=["income"])
        assert ("fine-numbers", "medium") in [(f.name, f.severity) for f in found]
        found = identifiers(
            release.with_columns(fine).drop("region"), quasi=QUASI, sensitive=["income", "weight"]
        )
        assert severities(found) == ["info"]
