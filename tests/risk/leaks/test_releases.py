"""Several releases of the same people."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests.risk.leaks.conftest import NEAR, QUASI, as_csv, generalised, severities
from wideberth.errors import ParameterError
from wideberth.labels import PublishedBoxes
from wideberth.risk.leaks import (
    intersect,
)

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
