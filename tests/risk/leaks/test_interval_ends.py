"""Ends of intervals that are values of single people."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.risk.leaks.conftest import QUASI, as_csv, severities
from wideberth import datasets
from wideberth.labels import PublishedBoxes
from wideberth.risk.findings import Finding
from wideberth.risk.leaks import (
    exact_ends,
)

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
