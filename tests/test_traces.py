"""What a release gives away besides its groups: tables with a leak, and tables without."""

from __future__ import annotations

import io
from collections import Counter
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.findings import Finding
from wideberth.groups import Partition
from wideberth.published import Published
from wideberth.traces import (
    exact_ends,
    identifiers,
    intersect,
    personal_texts,
    row_order,
    suppressed,
    swap_audit,
)
from wideberth.traces.chance import Listing, agreeing, coins

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


class TestRowOrder:
    def test_our_own_releases_are_shuffled(
        self, people: pl.DataFrame, release: pl.DataFrame
    ) -> None:
        for table in (release, as_csv(release)):
            read = Published.read(table, QUASI, original=people)
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
        read = Published.read(table, ["age"], original=ill)
        asked = {"quasi": ["age"], "sensitive": ["illness"], "published": read}
        [found] = row_order(table, ill, covering=read.covering(), **asked)
        assert found.severity == "high"
        for seed in range(5):
            mixed = shuffled(table, seed)
            read = Published.read(mixed, ["age"], original=ill)
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
        listing = Listing.of(Partition(labels, 2))
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
        listing = Listing.of(partition)
        low, unlikely, agreements, tried = 0, 0, [], 4000
        for _ in range(tried):
            mixed = np.concatenate([rng.permutation(part) for part in values.reshape(6, 4)])
            tossed = coins(listing, mixed)
            low += tossed is not None and tossed.chance <= 0.05
            found = agreeing(partition, mixed, theirs, 4)
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
        ],
    )
    def test_texts_that_look_personal(self, text: str, what: str) -> None:
        note = pl.Series("note", ["nothing", None, text] + ["fine"] * 7)
        for column in (note, note.cast(pl.Categorical())):
            hits = {f.figures["looks_like"]: f for f in personal_texts(column)}
            assert hits[what].severity == "high"
            assert hits[what].figures["rows"] == 1
            assert text not in str(hits[what].to_dict())

    def test_one_such_text_of_many_may_be_an_accident(self) -> None:
        note = pl.Series("note", ["fine"] * 999 + ["a@example.org"])
        assert severities(personal_texts(note)) == ["medium"]

    def test_texts_that_do_not(self) -> None:
        texts = ["20..34", "2020-01-01..2020-12-31", "01.02.2020", "01/02/2020", "13053", "J45.0"]
        texts += ["130**", "1,234,567", "12.5", "2020-01-01 10:00:00", "[20, 34]", "male", "B12"]
        assert not personal_texts(pl.Series("label", texts))

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
            [found] = exact_ends(Published.read(table, QUASI, original=people))
            assert found.severity in ("low", "medium")
            assert found.figures["columns"] == QUASI
            assert set(found.figures["share_of_ends_that_are_values"].values()) == {1.0}
            [found] = exact_ends(Published.read(table, QUASI))
            assert found.severity == "low"

    def test_a_crowd_at_every_end_is_low(self) -> None:
        table = datasets.sal(3000, seed=1).select("age", "income")
        made = wb.anonymize(
            table, quasi="age", sensitive="income", principles="k-anonymity:k=40", seed=0
        ).table
        found = exact_ends(Published.read(made, ["age"], original=table))
        assert set(severities(found)) <= {"low"}

    def test_boxes_that_end_at_one_person_are_counted(self) -> None:
        original = pl.DataFrame({"age": [20, 25, 25, 31, 33, 33, 40, 44, 44]})
        labels = ["20..33", "25..40", "33..44"]
        table = pl.DataFrame({"age": [labels[i] for i in (0, 0, 1, 0, 1, 2, 1, 2, 2)]})
        [found] = exact_ends(Published.read(table, ["age"], original=original))
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
        assert not exact_ends(Published.read(made, QUASI, original=people))
        assert not exact_ends(Published.read(made, QUASI))

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
            Published.read(made, ["born", "size"], original=original),
            Published.read(made, ["born", "size"]),
        ):
            found = exact_ends(read)
            assert [f.figures["columns"] for f in found] == ([["born"]] if grid is None else [])

    def test_excluded_ends_and_hierarchies_tell_nothing(self) -> None:
        for labels in (
            ["[17, 23[", "[20, 31[", "[23, 40[", "[31, 47["],
            ["0..17", "18..64", "65..99", "18..29", "30..64"],
            ["21", "22", "35", "*"],
        ):
            found = exact_ends(Published.read(pl.DataFrame({"age": labels}), ["age"]))
            assert not any(f.severity != "low" for f in found)
            if labels[0] != "[17, 23[":  # whose lower ends may be people's
                assert not found

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
        assert exact_ends(Published.read(made, QUASI, original=people))


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
        read = [Published.read(table, ["age"], original=original) for table in releases]
        for many in (2, 3):
            numbers = [table.with_columns(pl.col("ill").cast(pl.Float64)) for table in releases]
            certain, mean = naive_intersection(original, numbers[:many], "ill")
            [found] = intersect(releases[:many], read[:many], on="ill", original=original)
            assert found.figures["certain"]["after"] == certain
            assert found.figures["mean"]["after"] == pytest.approx(mean, abs=1e-4)
            assert found.figures["looked_at"] == 80
        assert certain
        assert found.severity == "high"

    def test_one_release_twice_tells_no_more(self, people: pl.DataFrame) -> None:
        table = generalised(people)
        read = Published.read(table, ["age"], original=people)
        assert not intersect([table, table], [read, read], on="income", original=people)

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
        read = [Published.read(table, QUASI, original=people) for table in tables]
        [found] = intersect(tables, read, on="income", original=people)
        assert found.severity == "high"
        assert found.figures["mean"]["after"] > found.figures["mean"]["before"]

    def test_without_the_original_fewer_are_found(self) -> None:
        rng = np.random.default_rng(4)
        original = pl.DataFrame({"age": rng.integers(20, 60, 60), "ill": rng.integers(0, 30, 60)})
        tables = [self.made(10, 0, original), self.made(10, 5, original)]
        bare = [Published.read(table, ["age"]) for table in tables]
        full = [Published.read(table, ["age"], original=original) for table in tables]
        [less] = intersect(tables, bare, on="ill")
        [more] = intersect(tables, full, on="ill", original=original)
        assert less.figures["lower_bound"] is True
        assert less.figures["certain"]["after"] <= more.figures["certain"]["after"]
        assert less.figures["looked_at"] == 60

    def test_categories_without_the_original(self) -> None:
        one = pl.DataFrame({"job": ["{a|b}"] * 2 + ["{c|d}"] * 2, "ill": [1, 2, 3, 4]})
        two = pl.DataFrame({"job": ["{b|a}", "*", "c", "d"], "ill": [1, 4, 3, 9]})
        read = [Published.read(table, ["job"]) for table in (one, two)]
        [found] = intersect([one, two], read, on="ill")
        # The first two face 1 and 4, of which the first group has 1; the others 3, 4 and 9.
        assert found.figures["certain"] == {"before": 0, "after": 1}
        # The second is guessed by the first release alone, which does not rule out the truth.
        assert found.figures["mean"] == {"before": 0.5, "after": (1 + 0.5 + 0.5 + 0.5) / 4}

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
        read = [Published.read(table, ["age"], original=original) for table in tables]
        found = intersect(tables, read, on="ill", original=original)
        sure, likely = (int(((after >= x) & (before < x)).sum()) for x in (1, 0.75))
        much = after.mean() >= 1.1 * before.mean()
        assert severities(found) == (
            ["high"] if sure else ["medium"] if likely else ["low"] if much else []
        )
        for finding in found:
            for level, counts in finding.figures["above"].items():
                wanted = [int((chance >= float(level)).sum()) for chance in (before, after)]
                assert [counts["before"], counts["after"]] == wanted
            if sure or likely:
                assert f" {sure or likely} of 16 people" in finding.title

    def test_what_does_not_rise_is_not_said_to(self) -> None:
        one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
        read = Published.read(one, ["age"])
        [found] = intersect([one, one], [read, read], on="ill")
        assert found.severity == "info"
        assert "stays at about 50 %" in found.meaning
        assert "estimates" in found.meaning

    def test_a_sample_is_a_lower_bound(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(4)
        original = pl.DataFrame({"age": rng.integers(20, 60, 80), "ill": rng.integers(0, 20, 80)})
        tables = [self.made(4, 0, original), self.made(4, 2, original)]
        read = [Published.read(table, ["age"], original=original) for table in tables]
        [every] = intersect(tables, read, on="ill", original=original)
        monkeypatch.setattr("wideberth.traces.intersection._PEOPLE", 40)
        [some] = intersect(tables, read, on="ill", original=original)
        assert "at least" not in every.title
        assert "leave at least" in some.title
        assert "of 80 people" in some.title
        assert "Of 80 people, 40 were looked at" in some.meaning

    def test_one_release_is_not_enough(self, people: pl.DataFrame) -> None:
        table = generalised(people)
        with pytest.raises(ParameterError, match="two releases"):
            intersect([table], [Published.read(table, ["age"])], on="income")


# ---- suppression


class TestSuppression:
    def test_nothing_left_out(self, people: pl.DataFrame, release: pl.DataFrame) -> None:
        read = Published.read(release, QUASI, original=people)
        assert not suppressed(
            release, people, sensitive=["income"], published=read, covering=read.covering()
        )
        assert not suppressed(release, sensitive=["income"])

    @pytest.mark.parametrize("text", [False, True])
    def test_all_of_one_value(self, text: bool) -> None:
        original = pl.DataFrame({"age": range(40), "code": [1] * 35 + [9] * 5})
        release = original.filter(pl.col("code") == 1).with_columns(age=pl.lit("0..34"))
        release = as_csv(release) if text else release
        read = Published.read(release, ["age"], original=original)
        [found] = suppressed(
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
        read = Published.read(release, ["age"], original=original)
        given = {"sensitive": ["code"], "published": read}
        [every] = suppressed(release, original, covering=read.covering(), **given)
        assert "; 500 of whom no published label covers" in every.meaning
        some = read.covering(most=1000)
        assert not some.exact
        [found] = suppressed(release, original, covering=some, **given)
        outside, looked_at = found.figures["covered_by_no_box"], len(some.victims)
        assert 0 < outside < 500
        assert f"; at least {outside} of whom no published label covers" in found.meaning
        assert f"(of 2,000 people, {looked_at:,} were looked at)" in found.meaning

    def test_a_single_row(self) -> None:
        original = pl.DataFrame({"ill": ["flu"] * 5 + ["cold"] * 5})
        assert severities(suppressed(original.head(9), original, sensitive=["ill"])) == ["medium"]

    def test_skewed_or_not(self) -> None:
        original = pl.DataFrame({"ill": ["flu"] * 900 + ["HIV"] * 100})
        some = original.filter(pl.Series(np.arange(1000) % 50 > 0))
        assert severities(suppressed(some, original, sensitive=["ill"])) == ["low"]
        most = original.head(905)[3:]
        [found] = suppressed(most, original, sensitive=["ill"])
        assert (found.severity, found.figures["values"]) == ("medium", 2)

    def test_a_sample_is_not_skewed(self) -> None:
        rng = np.random.default_rng(6)
        original = pl.DataFrame({"ill": rng.choice(20, 2000)})
        for _ in range(50):
            kept = np.sort(rng.choice(2000, 1900, replace=False))
            assert severities(suppressed(original[kept], original, sensitive=["ill"])) == ["low"]

    def test_changed_values_are_not_subtracted(self) -> None:
        original = pl.DataFrame({"pay": range(20)})
        other = original.head(15) * 3
        [found] = suppressed(other, original, sensitive=["pay"])
        assert found.severity == "low"
        assert "column" not in found.figures

    def test_rows_of_stars(self) -> None:
        table = pl.DataFrame({"age": ["1..5"] * 4 + ["*"] * 2, "zip": ["13*"] * 4 + ["*"] * 2})
        [found] = suppressed(table, sensitive=[], published=Published.read(table, ["age", "zip"]))
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
    read = Published.read(table, QUASI, original=bare)
    quasi = [name for axis in read.axes for name in axis.columns]
    covering = read.covering()
    roles = {"quasi": quasi, "sensitive": sensitive, "group": group}
    found = [
        *row_order(table, **roles),
        *row_order(table, bare, published=read, covering=covering, **roles),
        *identifiers(table, boxes=read.boxes, **roles),
        *identifiers(table, **roles),
        *suppressed(table, bare, sensitive=sensitive, published=read, covering=covering),
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
        *suppressed(secret.head(200), secret, sensitive=["income"]),
    ]
    assert len(found) > 3
    for finding in found:
        text = str(finding.to_dict())
        assert "top-secret" not in text
        assert "@example" not in text
        assert finding.advice.endswith((".", "!"))
