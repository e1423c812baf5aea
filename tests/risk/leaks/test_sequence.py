"""What the order of rows gives away."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.risk.leaks.conftest import QUASI, as_csv, generalised, severities
from wideberth.core.groups import Partition
from wideberth.labels import PublishedBoxes
from wideberth.risk.leaks import (
    row_order,
)
from wideberth.risk.leaks.sequence import GroupListing, compare_in_place, pair_order_test


def shuffled(frame: pl.DataFrame, seed: int) -> pl.DataFrame:
    return frame[np.random.default_rng(seed).permutation(frame.height)]


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
