"""What a release gives away besides its groups: tables with a leak, and tables without."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from itertools import permutations, product
from typing import Any

import networkx
import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.algorithms.mondrian.split import split
from wideberth.core.groups import Groups, Partition
from wideberth.errors import InfeasibleError, ParameterError, in_the_app
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.policy.request import Request
from wideberth.release.prepare import demands_of, quasis_of
from wideberth.risk.findings import Finding
from wideberth.risk.leaks import (
    exact_ends,
    identifiers,
    intersect,
    personal_texts,
    row_order,
    suppression_findings,
    swap_audit,
)
from wideberth.risk.leaks.joint_inference import deduce
from wideberth.risk.leaks.sequence import GroupListing, compare_in_place, pair_order_test
from wideberth.risk.leaks.swaps import less_telling

QUASI = ["age", "birthplace", "occupation"]
NEAR = "epsilon-m:epsilon=2000,m=5"


def severities(findings: list[Finding]) -> list[str]:
    return [finding.severity for finding in findings]


def as_csv(frame: pl.DataFrame) -> pl.DataFrame:
    """Write a table and read it back as text, as our reader does."""
    return pl.read_csv(io.StringIO(frame.write_csv()), infer_schema=False)


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame[np.random.default_rng(seed).permutation(frame.height)]


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Three hundred people; where they live is nobody's secret and is published as it is."""
    rng = np.random.default_rng(5)
    table = datasets.sal(300, seed=11)
    return table.with_columns(region=pl.Series(rng.choice(["north", "south"], 300)))


@pytest.fixture(scope="module")
def release(people: pl.DataFrame) -> pl.DataFrame:
    return wb.anonymize(
        people,
        quasi=QUASI,
        sensitive="income",
        insensitive="region",
        principles="k-anonymity:k=5",
        seed=1,
    ).table


def generalised(people: pl.DataFrame, *, rows: int | None = None) -> pl.DataFrame:
    """Generalise without shuffling: ages by decades."""
    decade = pl.col("age") // 10 * 10
    label = pl.format("{}..{}", decade, decade + 9)
    return people.select(label.alias("age"), "income", "region").head(rows or people.height)


# ---- row order


def nhs(number: int) -> int:
    """Make an NHS number: nine digits and their check digit."""
    while True:
        digits = f"{400_000_000 + 7919 * number:09d}"
        check = -sum((10 - at) * int(digit) for at, digit in enumerate(digits)) % 11
        if check < 10:
            return int(digits + str(check))
        number += 100_000


class TestRowOrder:
    def test_our_own_releases_are_shuffled(
        self, people: pl.DataFrame, release: pl.DataFrame
    ) -> None:
        for table in (release, as_csv(release)):
            read = PublishedBoxes.read(table, QUASI, original=people)
            assert not row_order(table, quasi=QUASI, sensitive=["income"])
            assert not row_order(
                table,
                people,
                quasi=QUASI,
                sensitive=["income"],
                published=read,
                covering=read.covering(),
            )

    @pytest.mark.parametrize("text", [False, True])
    def test_the_order_of_the_original_is_found(self, people: pl.DataFrame, text: bool) -> None:
        table = generalised(people)
        [found] = row_order(
            as_csv(table) if text else table, people, quasi=["age"], sensitive=["income"]
        )
        assert found.name == "row-order"
        assert found.severity == "high"
        assert found.figures["agreeing"] == 300
        assert found.figures["expected"] < 30

    def test_so_is_an_order_that_only_some_rows_kept(self, people: pl.DataFrame) -> None:
        table = generalised(people)
        half = pl.concat([table.head(150), shuffled(table.tail(150), 2)])
        [found] = row_order(half, people, quasi=["age"], sensitive=["income"])
        assert found.severity == "medium"

    def test_columns_that_were_changed_do_not_hide_it(self, people: pl.DataFrame) -> None:
        table = generalised(people).with_columns(region=pl.lit("*"))
        kept = table.filter(pl.Series(np.arange(300) % 17 > 0))
        for some in (table, kept):
            found = row_order(some, people, quasi=["age"], sensitive=["income"])
            assert severities(found) == ["high"]

    def test_row_numbers_do_not_hide_it(self, people: pl.DataFrame) -> None:
        table = generalised(people).with_row_index("Unnamed: 0")
        found = row_order(table, people, quasi=["age"], sensitive=["income"])
        assert severities(found) == ["high"]
        assert not row_order(table, quasi=["age"], sensitive=["income"])

    def test_so_is_the_reverse(self, people: pl.DataFrame) -> None:
        table = generalised(people).reverse()
        assert severities(row_order(table, people, quasi=["age"], sensitive=["income"])) == ["high"]

    def test_so_is_the_order_with_rows_left_out(self, people: pl.DataFrame) -> None:
        table = generalised(people).filter(pl.Series(np.arange(300) % 17 > 0))
        [found] = row_order(table, people, quasi=["age"], sensitive=["income"])
        assert (found.severity, found.figures["rows"]) == ("high", table.height)

    def test_so_is_the_order_within_groups(self, people: pl.DataFrame) -> None:
        rare = people.with_columns(income=pl.Series(np.random.default_rng(0).permutation(300)))
        table = generalised(rare).sort("age", maintain_order=True)
        [found] = row_order(table, rare, quasi=["age"], sensitive=["income"])
        assert found.severity == "high"
        assert "of a group" in found.title
        assert not row_order(shuffled(table, 3).sort("age"), rare, quasi=["age"], sensitive=[])

    def test_so_is_it_where_only_boxes_tell_who_it_is(self, people: pl.DataFrame) -> None:
        ill = people.with_columns(
            income=pl.Series(np.random.default_rng(0).choice(["flu", "cold", "none"], 300))
        ).drop("region")
        decade = pl.col("age") // 10 * 10
        table = ill.select(
            pl.format("{}..{}", decade, decade + 9).alias("age"), illness="income"
        ).sort("age", maintain_order=True)
        ill = ill.rename({"income": "illness"})
        read = PublishedBoxes.read(table, ["age"], original=ill)
        asked = {"quasi": ["age"], "sensitive": ["illness"], "published": read}
        [found] = row_order(table, ill, covering=read.covering(), **asked)
        assert found.severity == "high"
        for seed in range(5):
            mixed = shuffled(table, seed)
            read = PublishedBoxes.read(mixed, ["age"], original=ill)
            asked["published"] = read
            assert not row_order(mixed, ill, covering=read.covering(), **asked)

    def test_few_values_suffice_if_there_are_many_rows(self, people: pl.DataFrame) -> None:
        table = generalised(people).select("age", "region")
        assert severities(row_order(table, people, quasi=["age"], sensitive=["region"])) == ["high"]

    def test_a_small_table_needs_an_exact_test(self) -> None:
        table = pl.DataFrame({"age": ["*"] * 12, "pay": [5, 3, 9, 1, 7, 2, 8, 4, 12, 6, 11, 10]})
        assert severities(row_order(table, table, quasi=["age"], sensitive=["pay"])) == ["high"]

    def test_shuffled_files_pass(self, people: pl.DataFrame) -> None:
        original = people.with_columns(day=pl.Series(range(300))).sort("income")
        decade = pl.col("age") // 10 * 10
        table = original.with_columns(pl.format("{}..{}", decade, decade + 9).alias("age")).drop(
            "birthplace", "occupation"
        )
        for seed in range(60):
            mixed = shuffled(table, seed)
            for quasi in (["age"], []):
                assert not row_order(mixed, quasi=quasi, sensitive=["income"])
                assert not row_order(mixed, original, quasi=quasi, sensitive=["income"])
            some = mixed.head(280)
            assert not row_order(some, original, quasi=["age"], sensitive=["income"])

    def test_sorting_by_what_is_published_is_harmless(self, people: pl.DataFrame) -> None:
        table = shuffled(generalised(people.sort("age", "income")), 4)
        original = people.sort("age", "income")
        for by in (["age"], ["age", "income"], ["age", "region", "income"]):
            ordered = table.sort(by, maintain_order=True)
            assert not row_order(ordered, quasi=["age"], sensitive=["income"])
            assert not row_order(ordered, original, quasi=["age"], sensitive=["income"])
        ordered = table.sort("age", "income", descending=[False, True])
        assert not row_order(ordered, quasi=["age"], sensitive=["income"])

    def test_a_file_sorted_by_a_secret_is_worth_a_word(self, people: pl.DataFrame) -> None:
        table = generalised(people).sort("income")
        [found] = row_order(table, quasi=["age"], sensitive=["income"])
        assert (found.severity, found.figures["column"]) == ("low", "income")
        lacking = table.with_columns(
            pl.when(pl.col("income") > 20_000).then("income").alias("income")
        )
        for last in (True, False):
            again = lacking.sort("income", nulls_last=last)
            assert severities(row_order(again, quasi=["age"], sensitive=["income"])) == ["low"]

    def test_an_order_of_arrival_shows_in_other_columns(self, people: pl.DataFrame) -> None:
        rng = np.random.default_rng(8)
        days = np.arange(300) / 3 + rng.normal(0, 8, 300)  # noted a few days early or late
        table = generalised(people).with_columns(day=pl.Series(days.round()))
        [found] = row_order(table, quasi=["age"], sensitive=["income"])
        assert (found.severity, found.figures["column"]) == ("medium", "day")
        assert not row_order(shuffled(table, 1), quasi=["age"], sensitive=["income"])

    def test_nothing_to_say_of_nothing(self) -> None:
        empty = pl.DataFrame({"age": [], "pay": []}, schema={"age": pl.String, "pay": pl.Int64})
        assert not row_order(empty, empty, quasi=["age"], sensitive=["pay"])
        odd = pl.DataFrame({"age": ["*"] * 3, "pay": [1.0, float("nan"), None]})
        assert not row_order(odd, odd.drop("pay"), quasi=["age"], sensitive=["pay"])

    def test_pairs_share_no_row(self) -> None:
        labels = np.array([0, 1, 0, 0, 1, 0, 0], dtype=np.int32)
        listing = GroupListing.of(Partition(labels, 2))
        for far in (True, False):
            first, second = listing.pairs(far=far)
            assert (labels[first] == labels[second]).all()
            assert (first < second).all()
            assert len(set(first) | set(second)) == len(first) + len(second) == 6

    def test_chances_are_as_told(self) -> None:
        """In a shuffled file, a chance of p or less comes with at most that probability."""
        rng = np.random.default_rng(2)
        labels = np.repeat(np.arange(6), 4).astype(np.int32)
        values = rng.integers(0, 4, 24).astype(np.int32)
        theirs = rng.integers(0, 4, 24).astype(np.int32)
        partition = Partition(labels, 6)
        listing = GroupListing.of(partition)
        low, unlikely, agreements, tried = 0, 0, [], 4000
        for _ in range(tried):
            mixed = np.concatenate([rng.permutation(part) for part in values.reshape(6, 4)])
            tossed = pair_order_test(listing, mixed)
            low += tossed is not None and tossed.chance <= 0.05
            found = compare_in_place(partition, mixed, theirs, 4)
            agreements.append(found.agreeing)
            unlikely += found.chance <= 0.05
        assert low / tried < 0.1  # the worse of two tests
        assert unlikely / tried < 0.05
        assert abs(np.mean(agreements) - found.expected) < 0.2


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


# ---- interval ends


class TestEnds:
    def test_our_own_ends_are_people_s(self, people: pl.DataFrame, release: pl.DataFrame) -> None:
        for table in (release, as_csv(release)):
            [found] = exact_ends(PublishedBoxes.read(table, QUASI, original=people))
            assert found.severity in ("low", "medium")
            assert found.figures["columns"] == QUASI
            assert set(found.figures["share_of_ends_that_are_values"].values()) == {1.0}
            [found] = exact_ends(PublishedBoxes.read(table, QUASI))
            assert found.severity == "low"

    def test_a_crowd_at_every_end_is_low(self) -> None:
        table = datasets.sal(3000, seed=1).select("age", "income")
        made = wb.anonymize(
            table, quasi="age", sensitive="income", principles="k-anonymity:k=40", seed=0
        ).table
        found = exact_ends(PublishedBoxes.read(made, ["age"], original=table))
        assert set(severities(found)) <= {"low"}

    def test_boxes_that_end_at_one_person_are_counted(self) -> None:
        original = pl.DataFrame({"age": [20, 25, 25, 31, 33, 33, 40, 44, 44]})
        labels = ["20..33", "25..40", "33..44"]
        table = pl.DataFrame({"age": [labels[i] for i in (0, 0, 1, 0, 1, 2, 1, 2, 2)]})
        [found] = exact_ends(PublishedBoxes.read(table, ["age"], original=original))
        assert found.figures["boxes_with_an_end_of_one_person"] == 2
        assert found.severity == "medium"

    @pytest.mark.parametrize("step", [5, 10])
    def test_aligned_ends_tell_nothing(self, people: pl.DataFrame, step: int) -> None:
        made = wb.anonymize(
            people,
            quasi=QUASI,
            sensitive="income",
            insensitive="region",
            principles="k-anonymity:k=5",
            align={"age": step, "birthplace": step, "occupation": 50},
            seed=1,
        ).table
        assert not exact_ends(PublishedBoxes.read(made, QUASI, original=people))
        assert not exact_ends(PublishedBoxes.read(made, QUASI))

    @pytest.mark.parametrize("grid", [None, "month", "year", "week", 10])
    def test_dates(self, grid: str | int | None) -> None:
        rng = np.random.default_rng(3)
        days = [date(1950, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 20_000, 200)]
        original = pl.DataFrame({"born": days, "pay": rng.integers(0, 50, 200)})
        original = original.with_columns(size=pl.Series(rng.integers(150, 200, 200)))
        made = wb.anonymize(
            original,
            quasi=["born", "size"],
            sensitive="pay",
            principles="k-anonymity:k=5",
            align={"size": 5} if grid is None else {"born": grid, "size": 5},
            seed=2,
        ).table
        for read in (
            PublishedBoxes.read(made, ["born", "size"], original=original),
            PublishedBoxes.read(made, ["born", "size"]),
        ):
            found = exact_ends(read)
            assert [f.figures["columns"] for f in found] == ([["born"]] if grid is None else [])

    def test_excluded_ends_and_hierarchies_tell_nothing(self) -> None:
        for labels in (
            ["[17, 23[", "[20, 31[", "[23, 40[", "[31, 47["],
            ["0..17", "18..64", "65..99", "18..29", "30..64"],
            ["21", "22", "35", "*"],
        ):
            found = exact_ends(PublishedBoxes.read(pl.DataFrame({"age": labels}), ["age"]))
            assert not any(f.severity != "low" for f in found)
            if labels[0] != "[17, 23[":  # whose lower ends may be people's
                assert not found

    @pytest.mark.parametrize("base", [10**10, 10**17, 10**20, -(10**20)])
    def test_ends_of_long_numbers_are_compared_exactly(self, base: int) -> None:
        original = [20, 25, 25, 31, 33, 33, 40, 44, 44]
        ends = [(20, 33), (25, 40), (33, 44)]

        def found(base: int) -> list[Finding]:
            labels = [f"{base + low}..{base + high}" for low, high in ends]
            people = pl.DataFrame({"age": [str(base + age) for age in original]})
            table = pl.DataFrame({"age": [labels[i] for i in (0, 0, 1, 0, 1, 2, 1, 2, 2)]})
            return exact_ends(PublishedBoxes.read(table, ["age"], original=people))

        assert [one.figures for one in found(base)] == [one.figures for one in found(0)]
        # An end beside a value is nobody's.
        people = pl.DataFrame({"age": [str(base + 10 * age) for age in original]})
        labels = [f"{base + 10 * low - 1}..{base + 10 * high + 1}" for low, high in ends]
        table = pl.DataFrame({"age": [labels[i] for i in (0, 0, 1, 0, 1, 2, 1, 2, 2)]})
        for one in exact_ends(PublishedBoxes.read(table, ["age"], original=people)):
            assert one.figures["share_of_ends_that_are_values"] == {"age": 0.0}

    def test_bounds_in_columns_of_their_own(self, people: pl.DataFrame) -> None:
        made = wb.anonymize(
            people,
            quasi=QUASI,
            sensitive="income",
            insensitive="region",
            principles="k-anonymity:k=5",
            recoding="bounds",
            seed=1,
        ).table
        assert exact_ends(PublishedBoxes.read(made, QUASI, original=people))


# ---- several releases


def naive_intersection(
    original: pl.DataFrame, releases: list[pl.DataFrame], on: str
) -> tuple[int, float]:
    """Count the people with one value left, and the mean chance of guessing right.

    Labels are ranges of ages. Whoever guesses may look at one release only.
    """
    certain, total = 0, 0.0
    for age, truth in original.select("age", on).iter_rows():
        left: dict[object, int] | None = None
        chance = 0.0
        for release in releases:
            counts: dict[object, int] = {}
            for label, value in release.select("age", on).iter_rows():
                low, high = map(int, label.split(".."))
                if low <= age <= high:
                    counts[value] = counts.get(value, 0) + 1
            chance = max(chance, counts.get(truth, 0) / sum(counts.values()))
            both = (
                counts if left is None else {v: min(n, counts.get(v, 0)) for v, n in left.items()}
            )
            left = {v: n for v, n in both.items() if n}
        assert left is not None
        certain += list(left) == [truth]
        total += max(chance, left.get(truth, 0) / max(sum(left.values()), 1))
    return certain, total / original.height


class TestIntersection:
    @staticmethod
    def made(step: int, offset: int, original: pl.DataFrame) -> pl.DataFrame:
        low = (pl.col("age") - offset) // step * step + offset
        return original.select(pl.format("{}..{}", low, low + step - 1).alias("age"), "ill")

    @pytest.fixture
    def person_by_person(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take every table for too large to share out the rows of its boxes."""
        monkeypatch.setattr("wideberth.risk.leaks.releases.LINKS", 0)

    @pytest.mark.usefixtures("person_by_person")
    @pytest.mark.parametrize("text", [False, True])
    def test_against_counting_person_by_person(self, text: bool) -> None:
        rng = np.random.default_rng(4)
        original = pl.DataFrame(
            {"age": rng.integers(20, 60, 80), "ill": rng.integers(0, 20, 80).astype(float)}
        )
        releases = [
            self.made(4, 0, original),
            self.made(4, 2, original),
            self.made(6, 3, original),
        ]
        if text:
            releases[1] = as_csv(releases[1])
        read = [PublishedBoxes.read(table, ["age"], original=original) for table in releases]
        for many in (2, 3):
            numbers = [table.with_columns(pl.col("ill").cast(pl.Float64)) for table in releases]
            certain, mean = naive_intersection(original, numbers[:many], "ill")
            [found] = intersect(releases[:many], read[:many], on="ill", original=original)
            assert found.figures["certain"]["after"] == certain
            assert found.figures["mean"]["after"] == pytest.approx(mean, abs=1e-4)
            assert found.figures["looked_at"] == 80
        assert certain
        assert found.severity == "high"
        assert found.figures["inference"] == "person by person"
        assert found.figures["lower_bound"] is True

    @pytest.mark.usefixtures("person_by_person")
    @pytest.mark.parametrize("base", [10**17, 10**20])
    def test_where_numbers_begin_makes_no_difference(self, base: int) -> None:
        rng = np.random.default_rng(4)
        ages, ills = rng.integers(20, 60, 80).tolist(), rng.integers(0, 20, 80).tolist()

        def figures(base: int) -> dict[str, Any]:
            releases = []
            for offset in (0, 2):
                lows = [(age - offset) // 4 * 4 + offset + base for age in ages]
                labels = [f"{low}..{low + 3}" for low in lows]
                releases.append(pl.DataFrame({"age": labels, "ill": ills}))
            read = [PublishedBoxes.read(table, ["age"]) for table in releases]
            [found] = intersect(releases, read, on="ill")
            return dict(found.figures)

        assert figures(base) == figures(0)

    def test_one_release_twice_tells_no_more(self, people: pl.DataFrame) -> None:
        table = generalised(people)
        read = PublishedBoxes.read(table, ["age"], original=people)
        [found] = intersect([table, table], [read, read], on="income", original=people)
        assert found.severity == "info"
        assert "joint inference over the releases was not exhausted" in found.meaning
        assert found.figures["lower_bound"] is True

    def test_two_releases_of_ours(self, people: pl.DataFrame) -> None:
        tables = [
            wb.anonymize(
                people,
                quasi=QUASI,
                sensitive="income",
                insensitive="region",
                principles=NEAR,
                cuts=cuts,
                seed=1,
            ).table
            for cuts in ("best", "paper")
        ]
        read = [PublishedBoxes.read(table, QUASI, original=people) for table in tables]
        [found] = intersect(tables, read, on="income", original=people)
        assert found.severity == "high"
        assert found.figures["mean"]["after"] > found.figures["mean"]["before"]

    def test_without_the_original_fewer_are_found(self) -> None:
        rng = np.random.default_rng(4)
        original = pl.DataFrame({"age": rng.integers(20, 60, 60), "ill": rng.integers(0, 30, 60)})
        tables = [self.made(10, 0, original), self.made(10, 5, original)]
        bare = [PublishedBoxes.read(table, ["age"]) for table in tables]
        full = [PublishedBoxes.read(table, ["age"], original=original) for table in tables]
        [less] = intersect(tables, bare, on="ill")
        [more] = intersect(tables, full, on="ill", original=original)
        assert less.figures["lower_bound"] is True
        assert less.figures["certain"]["after"] <= more.figures["certain"]["after"]
        assert less.figures["looked_at"] == 60

    def test_categories_without_the_original(self) -> None:
        one = pl.DataFrame({"job": ["{a|b}"] * 2 + ["{c|d}"] * 2, "ill": [1, 2, 3, 4]})
        two = pl.DataFrame({"job": ["{b|a}", "*", "c", "d"], "ill": [1, 4, 3, 9]})
        read = [PublishedBoxes.read(table, ["job"]) for table in (one, two)]
        [found] = intersect([one, two], read, on="ill")
        # The first two face 1 and 4, of which the first group has 1; the others 3, 4 and 9.
        assert found.figures["certain"] == {"before": 0, "after": 1}
        # The second is guessed by the first release alone, which does not rule out the truth.
        assert found.figures["mean"] == {"before": 0.5, "after": (1 + 0.5 + 0.5 + 0.5) / 4}

    @pytest.mark.usefixtures("person_by_person")
    @pytest.mark.parametrize("seed", [*range(30), 119, 1069])  # the last two: one gains, one loses
    def test_who_gains_is_not_set_off_by_who_loses(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        ill = rng.choice(list("abc"), 16, p=[0.7, 0.2, 0.1])
        people = np.arange(16)
        original = pl.DataFrame({"age": people, "ill": ill})
        tables, chances, left = [], np.zeros((2, 16)), {}
        for release in range(2):
            cuts = np.sort(rng.choice(np.arange(2, 15), 2, replace=False))
            member = np.searchsorted(cuts, people, side="right")
            ages = [people[member == group] for group in range(3)]
            labels = [f"{ages[group][0]}..{ages[group][-1]}" for group in member]
            tables.append(pl.DataFrame({"age": labels, "ill": ill}))
            for i in people:
                faced = Counter(ill[member == member[i]])
                chances[release, i] = faced[ill[i]] / faced.total()
                left[i] = left[i] & faced if i in left else faced
        together = [left[i][ill[i]] / left[i].total() for i in people]
        before, after = chances[0], np.maximum(chances.max(axis=0), together)
        read = [PublishedBoxes.read(table, ["age"], original=original) for table in tables]
        found = intersect(tables, read, on="ill", original=original)
        sure, likely = (int(((after >= x) & (before < x)).sum()) for x in (1, 0.75))
        much = after.mean() >= 1.1 * before.mean()
        assert severities(found) == (
            ["high"] if sure else ["medium"] if likely else ["low"] if much else ["info"]
        )
        for finding in found:
            for level, counts in finding.figures["above"].items():
                wanted = [int((chance >= float(level)).sum()) for chance in (before, after)]
                assert [counts["before"], counts["after"]] == wanted
            if sure:
                assert f" at least {sure} of 16 people" in finding.title
            elif likely:
                assert f" an estimated {likely} of 16 people" in finding.title

    def test_what_does_not_rise_is_not_said_to(self) -> None:
        one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
        read = PublishedBoxes.read(one, ["age"])
        [found] = intersect([one, one], [read, read], on="ill")
        assert found.severity == "info"
        assert "stays at about 50 %" in found.meaning
        assert "estimates" in found.meaning

    @pytest.mark.usefixtures("person_by_person")
    def test_a_sample_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(4)
        original = pl.DataFrame({"age": rng.integers(20, 60, 80), "ill": rng.integers(0, 20, 80)})
        tables = [self.made(4, 0, original), self.made(4, 2, original)]
        read = [PublishedBoxes.read(table, ["age"], original=original) for table in tables]
        monkeypatch.setattr("wideberth.risk.leaks.releases._PEOPLE", 40)
        [some] = intersect(tables, read, on="ill", original=original)
        assert "leave at least" in some.title
        assert "of 80 people" in some.title
        assert "Of 80 people, 40 were looked at" in some.meaning

    def test_one_release_is_not_enough(self, people: pl.DataFrame) -> None:
        table = generalised(people)
        with pytest.raises(ParameterError, match="two releases"):
            intersect([table], [PublishedBoxes.read(table, ["age"])], on="income")


def worlds(
    truth: list[str], releases: list[list[tuple[set[int], list[str]]]]
) -> list[tuple[str, ...]]:
    """Enumerate who could have which value. A release lists boxes: whom each covers, its values."""
    values = sorted(set(truth))
    found = []
    for world in product(values, repeat=len(truth)):
        if all(fits(world, release) for release in releases):
            found.append(world)
    return found


def fits(world: tuple[str, ...], release: list[tuple[set[int], list[str]]]) -> bool:
    """Tell whether each row of a release can be the row of a person of its own."""
    rows = [(covers, value) for covers, values in release for value in values]
    graph = networkx.Graph()
    graph.add_nodes_from(("row", at) for at in range(len(rows)))
    for at, (covers, value) in enumerate(rows):
        graph.add_edges_from((("row", at), ("person", i)) for i in covers if world[i] == value)
    top = [("row", at) for at in range(len(rows))]
    matching = networkx.bipartite.hopcroft_karp_matching(graph, top)
    return sum(node[0] == "row" for node in matching) == len(rows)


def laid_out(
    truth: list[str], releases: list[list[tuple[set[int], list[str]]]]
) -> tuple[list[BoxCover], list[Groups], np.ndarray]:
    """Return releases as `deduce` takes them."""
    values = sorted(set(truth))
    coverings, groups = [], []
    for release in releases:
        lists = [
            tuple(b for b, (covers, _) in enumerate(release) if i in covers)
            for i in range(len(truth))
        ]
        kinds = sorted({boxes for boxes in lists if boxes})
        situation = np.array([kinds.index(boxes) if boxes else -1 for boxes in lists])
        coverings.append(
            BoxCover(
                victims=np.arange(len(truth)),
                of=len(truth),
                situation=situation,
                start=np.cumsum([0, *map(len, kinds)]),
                boxes=np.array([box for boxes in kinds for box in boxes]),
                exact=True,
            )
        )
        groups.append(
            Groups.of([[values.index(v) for v in held] for _, held in release], len(values))
        )
    return coverings, groups, np.array([values.index(value) for value in truth])


def kept(truth: list[str], releases: list[list[tuple[set[int], list[str]]]]) -> list[set[str]]:
    """Return the values that are left for each person."""
    values = sorted(set(truth))
    possible = deduce(*laid_out(truth, releases))
    assert possible is not None
    parts = np.split(possible.codes, possible.start[1:-1])
    return [{values[code] for code in parts[kind]} for kind in possible.member]


def grouped(truth: list[str], member: list[int]) -> list[tuple[set[int], list[str]]]:
    """Publish groups, which everybody knows."""
    return [
        (
            {i for i, g in enumerate(member) if g == group},
            [v for v, g in zip(truth, member, strict=True) if g == group],
        )
        for group in sorted(set(member))
    ]


class TestDeduction:
    def test_rows_and_columns(self) -> None:
        """Person by person nobody is certain; all worlds, and the filter, leave 4 of 12 one."""
        truth = list("xyyzxzwyyzxz")
        releases = [
            grouped(truth, [i // 4 for i in range(12)]),
            grouped(truth, [i % 4 for i in range(12)]),
        ]
        alone = [set(truth[i - i % 4 : i - i % 4 + 4]) & set(truth[i % 4 :: 4]) for i in range(12)]
        assert min(map(len, alone)) == 2
        # All of 4**12 assignments are too many: each row in all orders, columns compared.
        orders = [sorted(set(permutations(truth[r : r + 4]))) for r in (0, 4, 8)]
        columns = [sorted(truth[c::4]) for c in range(4)]
        possible = [
            [*one, *two, *three]
            for one, two, three in product(*orders)
            if [sorted(column) for column in zip(one, two, three, strict=True)] == columns
        ]
        assert len(possible) == 4
        exact = [{world[i] for world in possible} for i in range(12)]
        assert sum(len(values) == 1 for values in exact) == 4
        assert kept(truth, releases) == exact

    @pytest.mark.parametrize("seed", range(60))
    def test_no_world_is_ruled_out(self, seed: int) -> None:
        """Against all worlds: groups, boxes that overlap, and people whom a release left out."""
        rng = np.random.default_rng(seed)
        n = 6
        truth = [str(value) for value in rng.choice(list("abc"), n)]
        releases = []
        for _ in range(int(rng.integers(2, 4))):
            order = rng.permutation(n)
            cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
            release = []
            for members in np.split(order, cuts):
                there = [int(i) for i in members if seed % 3 != 1 or rng.random() > 0.2]
                more = rng.choice(n, int(rng.integers(0, 3))).tolist() if seed % 3 == 2 else []
                if there:
                    covers = {*map(int, members), *more}
                    release.append((covers, [truth[i] for i in there]))
            if release:
                releases.append(release)
        exact = [set(values) for values in zip(*worlds(truth, releases), strict=True)]
        found = kept(truth, releases)
        for i in range(n):
            faced = {
                v for release in releases for cov, values in release if i in cov for v in values
            }
            assert exact[i] & faced <= found[i] <= faced
        if seed % 3 == 0:  # nobody was left out, and nobody is covered by a box of others
            for i in range(n):
                each = [{*values} for release in releases for cov, values in release if i in cov]
                assert found[i] <= set.intersection(*each)

    @pytest.mark.parametrize("links", [None, 0], ids=["matching", "person by person"])
    @pytest.mark.parametrize("leave_out", [0.0, 0.25])
    def test_at_least_is_never_too_many(
        self, links: int | None, leave_out: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whoever is reported as certain has one value in all worlds, also if rows are missing."""
        if links is not None:
            monkeypatch.setattr("wideberth.risk.leaks.releases.LINKS", links)
        claimed = 0
        for seed in range(25):
            rng = np.random.default_rng(seed)
            n = 6
            truth = [str(value) for value in rng.choice(list("abc"), n)]
            keys = {"age": np.arange(n), "zip": rng.permutation(n)}
            releases, frames = [], []
            for name, key in keys.items():
                cuts = np.sort(rng.choice(np.arange(1, n), 2, replace=False))
                release, rows = [], []
                for members in np.split(np.argsort(key), cuts):
                    there = [int(i) for i in members if rng.random() >= leave_out]
                    if there:
                        release.append(({*map(int, members)}, [truth[i] for i in there]))
                    label = f"{key[members].min()}..{key[members].max()}"
                    every = dict.fromkeys(keys, f"0..{n - 1}")
                    rows += [{**every, name: label, "ill": truth[i]} for i in there]
                releases.append(release)
                frames.append(pl.DataFrame(rows, schema=["age", "zip", "ill"]))
            if not all(frame.height for frame in frames):
                continue
            original = pl.DataFrame({**keys, "ill": truth})
            read = [PublishedBoxes.read(frame, [*keys], original=original) for frame in frames]
            [found] = intersect(frames, read, on="ill", original=original)
            exact = [set(values) for values in zip(*worlds(truth, releases), strict=True)]
            certain = found.figures.get("certain", {"after": 0})["after"]
            assert certain <= sum(len(values) == 1 for values in exact), seed
            claimed += certain
        assert claimed

    def test_releases_of_other_values(self) -> None:
        """Nothing is left of values that were recoded: that is no reason to fail."""
        original = pl.DataFrame({"age": [20, 21, 30, 31], "ill": list("abab")})
        first = original.with_columns(age=pl.Series(["20..29"] * 2 + ["30..39"] * 2))
        second = first.with_columns(ill=pl.Series(list("xyxy")))
        read = [PublishedBoxes.read(t, ["age"], original=original) for t in (first, second)]
        [found] = intersect([first, second], read, on="ill", original=original)
        assert found.figures["certain"] == {"before": 0, "after": 0}

    @pytest.mark.parametrize(("draw", "expected"), [(0, (12, 55)), (2, (6, 37))])
    def test_more_is_proven_than_person_by_person(
        self, draw: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Two releases of 200 people, each distinct 3-diverse: few by themselves, many together."""
        rng = np.random.default_rng(draw)
        original = pl.DataFrame(
            {
                "age": rng.integers(20, 80, 200),
                "zip": rng.integers(0, 100, 200),
                "ill": rng.choice([f"d{i}" for i in range(6)], 200),
            }
        )
        known = {"quasi": ["age", "zip"], "sensitive": "ill", "principles": "distinct-l:l=3"}
        tables = [
            wb.anonymize(original, **known, cuts=cuts, seed=seed).table
            for seed, cuts in enumerate(("best", "paper"))
        ]
        read = [PublishedBoxes.read(table, ["age", "zip"], original=original) for table in tables]
        [together] = intersect(tables, read, on="ill", original=original)
        monkeypatch.setattr("wideberth.risk.leaks.releases.LINKS", 0)
        [alone] = intersect(tables, read, on="ill", original=original)
        few, many = (found.figures["certain"]["after"] for found in (alone, together))
        assert (few, many) == expected
        assert f"at least {many} of 200 people" in together.title
        assert together.figures["inference"] == "matching"
        assert together.figures["mean"]["after"] > alone.figures["mean"]["after"]

    def test_values_that_fit_nobody_are_not_believed(self) -> None:
        """A release whose values were changed says nothing, instead of something wrong."""
        truth = list("aabb")
        changed = [({0, 1}, ["a", "b"]), ({2, 3}, ["b", "b"])]
        found = kept(truth, [grouped(truth, [0, 0, 1, 1]), changed])
        assert found == [{"a"}, {"a"}, {"b"}, {"b"}]

    def test_boxes_with_too_many_links_rule_nothing_out(self) -> None:
        truth = list("xyyzxzwyyzxz")
        releases = [
            grouped(truth, [i // 4 for i in range(12)]),
            grouped(truth, [i % 4 for i in range(12)]),
        ]
        parts = laid_out(truth, releases)
        every = deduce(*parts)
        some = deduce(*parts, most=36)  # of 3 x 4 x 3 links by rows, and 2 or 3 values by columns
        none = deduce(*parts, most=len(truth))
        assert every is not None
        assert some is not None
        assert none is None
        assert set(every.codes.tolist()) == {0, 1, 2, 3}
        assert len(every.codes) <= len(some.codes)


# ---- suppression


class TestSuppression:
    def test_nothing_left_out(self, people: pl.DataFrame, release: pl.DataFrame) -> None:
        read = PublishedBoxes.read(release, QUASI, original=people)
        assert not suppression_findings(
            release, people, sensitive=["income"], published=read, covering=read.covering()
        )
        assert not suppression_findings(release, sensitive=["income"])

    @pytest.mark.parametrize("text", [False, True])
    def test_all_of_one_value(self, text: bool) -> None:
        original = pl.DataFrame({"age": range(40), "code": [1] * 35 + [9] * 5})
        release = original.filter(pl.col("code") == 1).with_columns(age=pl.lit("0..34"))
        release = as_csv(release) if text else release
        read = PublishedBoxes.read(release, ["age"], original=original)
        [found] = suppression_findings(
            release, original, sensitive=["code"], published=read, covering=read.covering()
        )
        assert found.severity == "high"
        assert found.figures["suppressed"] == 5
        assert found.figures["covered_by_no_box"] == 5
        assert "9" not in found.title + found.meaning

    def test_of_a_sample_as_many_at_least(self) -> None:
        original = pl.DataFrame({"age": range(2000), "code": [1, 2] * 1000})
        release = original.head(1500).with_columns(age=pl.lit("0..1499"))
        release = release.with_columns(age=pl.when(pl.col("code") == 1).then("age"))
        release = release.with_columns(pl.col("age").fill_null("0..1498"))
        read = PublishedBoxes.read(release, ["age"], original=original)
        given = {"sensitive": ["code"], "published": read}
        [every] = suppression_findings(release, original, covering=read.covering(), **given)
        assert "; 500 of whom no published label covers" in every.meaning
        some = read.covering(most=1000)
        assert not some.exact
        [found] = suppression_findings(release, original, covering=some, **given)
        outside, looked_at = found.figures["covered_by_no_box"], len(some.victims)
        assert 0 < outside < 500
        assert f"; at least {outside} of whom no published label covers" in found.meaning
        assert f"(of 2,000 people, {looked_at:,} were looked at)" in found.meaning

    def test_a_single_row(self) -> None:
        original = pl.DataFrame({"ill": ["flu"] * 5 + ["cold"] * 5})
        assert severities(suppression_findings(original.head(9), original, sensitive=["ill"])) == [
            "medium"
        ]

    def test_skewed_or_not(self) -> None:
        original = pl.DataFrame({"ill": ["flu"] * 900 + ["HIV"] * 100})
        some = original.filter(pl.Series(np.arange(1000) % 50 > 0))
        assert severities(suppression_findings(some, original, sensitive=["ill"])) == ["low"]
        most = original.head(905)[3:]
        [found] = suppression_findings(most, original, sensitive=["ill"])
        assert (found.severity, found.figures["values"]) == ("medium", 2)

    def test_a_sample_is_not_skewed(self) -> None:
        rng = np.random.default_rng(6)
        original = pl.DataFrame({"ill": rng.choice(20, 2000)})
        for _ in range(50):
            kept = np.sort(rng.choice(2000, 1900, replace=False))
            assert severities(
                suppression_findings(original[kept], original, sensitive=["ill"])
            ) == ["low"]

    def test_changed_values_are_not_subtracted(self) -> None:
        original = pl.DataFrame({"pay": range(20)})
        other = original.head(15) * 3
        [found] = suppression_findings(other, original, sensitive=["pay"])
        assert found.severity == "low"
        assert "column" not in found.figures

    def test_rows_of_stars(self) -> None:
        table = pl.DataFrame({"age": ["1..5"] * 4 + ["*"] * 2, "zip": ["13*"] * 4 + ["*"] * 2})
        [found] = suppression_findings(
            table, sensitive=[], published=PublishedBoxes.read(table, ["age", "zip"])
        )
        assert (found.severity, found.figures["rows"]) == ("info", 2)


# ---- swaps


HOW = {"quasi": QUASI, "sensitive": "income", "insensitive": "region"}


class TestSwaps:
    def test_groups_made_without_a_look_at_secrets(self, people: pl.DataFrame) -> None:
        assert not swap_audit(people, principles="k-anonymity:k=5", **HOW)
        assert not swap_audit(people, principles="frequency-l:l=2", algorithm="anatomy", **HOW)

    def test_dealing_without_splitting_tells_nothing(self, people: pl.DataFrame) -> None:
        # No half of so few rows can be dealt, so the whole table is.
        few = people.with_columns(income=pl.Series(range(300))).head(12)
        assert not swap_audit(few, principles="epsilon-m:epsilon=1,m=6", swaps=30, **HOW)

    def test_matching_tells_more_than_rank(self, people: pl.DataFrame) -> None:
        asked = {**HOW, "principles": NEAR, "seconds": 60}
        [rank] = swap_audit(people, **asked)
        [matching] = swap_audit(people, dealing="matching", **asked)
        assert (rank.severity, matching.severity) == ("low", "medium")
        assert matching.figures["unchanged"] < rank.figures["unchanged"]

    def test_a_policy_does(self, people: pl.DataFrame) -> None:
        policy = wb.Policy.of(
            {
                "roles": {"quasi": QUASI, "sensitive": ["income"], "insensitive": ["region"]},
                "principle": [{"name": "epsilon-m", "epsilon": 2000, "m": 5}],
                "transform": {"cuts": "paper"},
            }
        )
        found = swap_audit(as_csv(people), policy=policy, swaps=40)
        assert set(severities(found)) <= {"low"}

    def test_advice_is_not_what_was_asked_for(self, people: pl.DataFrame) -> None:
        def advised(principle: str, **transform: Any) -> str:
            request = Request.of(
                people,
                roles={"identifier": None, **HOW},
                principles=principle,
                hierarchies=None,
                types=None,
                policy=None,
                transform=transform,
                group=None,
            )
            return less_telling(request)

        dealt, monotone = NEAR, "delta-l:delta=2000,l=3"
        for way in ('dealing="rank"', 'cuts="paper"', "need no dealing"):
            assert way in advised(dealt, dealing="matching")
        assert "dealing=" not in advised(dealt)
        with in_the_app():
            best = advised(monotone)
        assert "told by the cuts “paper” (step 3) or larger groups," in best
        assert "told by larger groups," in advised(monotone, cuts="paper")
        # A lattice has neither cuts nor dealing.
        assert "told by larger groups," in advised(monotone, algorithm="lattice")
        found = swap_audit(people, principles=monotone, swaps=10, **HOW)
        assert all(one.advice.endswith(f"{advised(monotone)[1:]}.") for one in found)

    def test_a_large_table_is_sampled(self, people: pl.DataFrame) -> None:
        [found] = swap_audit(people, principles=NEAR, most_rows=200, sample=150, **HOW)
        assert (found.figures["rows"], found.figures["of"]) == (150, 300)
        assert "random sample" in found.meaning

    def test_a_sample_that_cannot_be_published(self, people: pl.DataFrame) -> None:
        how = {"principles": "distinct-l:l=90", **HOW}
        [found] = swap_audit(people, most_rows=100, sample=60, **how)
        assert found.severity == "info"
        with pytest.raises(InfeasibleError):
            swap_audit(people.head(50), **how)

    def test_suppression_and_lattices(self, people: pl.DataFrame) -> None:
        flat = people.with_columns(income=pl.Series([1] * 200 + list(range(2, 102))))
        swap_audit(flat, principles="frequency-l:l=2", suppression_limit=0.5, swaps=10, **HOW)
        trees = {name: {"interval": [10, 100, 500]} for name in QUASI}
        found = swap_audit(
            people,
            principles="distinct-l:l=3",
            algorithm="lattice",
            hierarchies=trees,
            suppression_limit=0.1,
            swaps=10,
            **HOW,
        )
        assert set(severities(found)) <= {"low"}


MADE = {
    "near": {"principles": NEAR},
    "diverse": {"principles": ["k-anonymity:k=4", "distinct-l:l=3"], "cuts": "disjoint"},
    "bounds": {"principles": "k-anonymity:k=5", "recoding": "bounds"},
    "sets": {"principles": "k-anonymity:k=5", "recoding": "set"},
    "lattice": {
        "principles": "k-anonymity:k=5",
        "algorithm": "lattice",
        "hierarchies": {name: {"interval": [10, 100, 500]} for name in QUASI},
    },
    "aligned": {"principles": NEAR, "align": {"age": 10, "birthplace": 20, "occupation": 100}},
    "anatomy": {"principles": "frequency-l:l=3", "algorithm": "anatomy"},
}


@pytest.mark.parametrize("how", MADE)
@pytest.mark.parametrize("text", [False, True])
def test_our_own_releases_raise_nothing_grave(people: pl.DataFrame, how: str, text: bool) -> None:
    bare = people.drop("region").with_columns(
        age=pl.when(pl.col("age") > 75).then(None).otherwise("age"),  # some are missing
    )
    made = wb.anonymize(bare, quasi=QUASI, sensitive="income", seed=3, **MADE[how])
    table = as_csv(made.table) if text else made.table
    group = "group" if "group" in table.columns else None
    sensitive = [name for name in ("income",) if name in table.columns]
    read = PublishedBoxes.read(table, QUASI, original=bare)
    quasi = [name for axis in read.axes for name in axis.columns]
    covering = read.covering()
    roles = {"quasi": quasi, "sensitive": sensitive, "group": group}
    found = [
        *row_order(table, **roles),
        *row_order(table, bare, published=read, covering=covering, **roles),
        *identifiers(table, boxes=read.boxes, **roles),
        *identifiers(table, **roles),
        *suppression_findings(table, bare, sensitive=sensitive, published=read, covering=covering),
    ]
    assert [str(finding) for finding in found if finding.severity in ("high", "medium")] == []
    assert how == "anatomy" or not found
    assert {finding.name for finding in exact_ends(read)} <= {"exact-ends"}
    if how in ("lattice", "aligned", "anatomy"):
        assert not exact_ends(read)


def test_no_finding_tells_a_value(people: pl.DataFrame) -> None:
    """Texts and figures are for a report: they hold counts and column names only."""
    secret = people.with_columns(
        income=pl.lit("top-secret"), region=pl.Series([f"z{i}q@example.org" for i in range(300)])
    )
    found = [
        *identifiers(secret, quasi=QUASI, sensitive=["income"]),
        *identifiers(secret, identifier=["region"]),
        *row_order(secret, secret, quasi=[], sensitive=["income"]),
        *suppression_findings(secret.head(200), secret, sensitive=["income"]),
    ]
    assert len(found) > 3
    for finding in found:
        text = str(finding.to_dict())
        assert "top-secret" not in text
        assert "@example" not in text
        assert finding.advice.endswith((".", "!"))


# ---- the worst case of splitting


@pytest.mark.parametrize(("cuts", "above"), [("paper", 144), ("best", 352)])
def test_for_single_people_cuts_can_tell_everything(cuts: str, above: int) -> None:
    """Six people of different ages, all 720 ways to give them six salaries; epsilon = 1, m = 2.

    Somebody who knows the algorithm and everybody's group holds those ways for possible that lead
    to what is published. How likely is it that a salary is within 1 of the true one? Above 1/m for
    144 (3.3 %) or 352 (8.1 %) of 4,320 rows, and certain for some.
    """
    pay = np.array([1, 2, 3, 10, 11, 20])
    request = Request.of(
        pl.DataFrame({"age": np.arange(6), "pay": pay}),
        roles={"quasi": ["age"], "sensitive": ["pay"], "identifier": [], "insensitive": []},
        principles="epsilon-m:epsilon=1,m=2",
        hierarchies=None,
        types=None,
        policy=None,
        transform={"cuts": cuts},
        group=None,
    )
    [age], demands = quasis_of(request, request.frame), demands_of(request, request.frame)
    views: dict[frozenset[object], list[tuple[int, ...]]] = {}
    for ages in permutations(range(6)):  # row i has salary i; whose it is differs
        people = replace(age, codes=np.array(ages, dtype=age.codes.dtype))
        made = split([people], demands, rng=np.random.default_rng(1), cuts=cuts, threads=1)
        labels = made.partition.labels
        groups = [np.flatnonzero(labels == group) for group in range(made.partition.count)]
        seen = frozenset((tuple(sorted(ages[i] for i in g)), tuple(pay[g])) for g in groups)
        views.setdefault(seen, []).append(tuple(pay[np.argsort(ages)]))
    chances = []
    for worlds in views.values():
        held = np.array(worlds)
        near = np.abs(held[:, None, :] - held[None, :, :]) <= 1
        chances.append(near.mean(axis=0).ravel())
    found = np.concatenate(chances)
    assert len(found) == 720 * 6
    assert int((found > 1 / 2).sum()) == above
    assert found.max() == 1
