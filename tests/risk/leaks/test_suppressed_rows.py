"""What suppression gives away."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tests.risk.leaks.conftest import QUASI, as_csv, severities
from wideberth.labels import PublishedBoxes
from wideberth.risk.leaks import (
    suppression_findings,
)

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
