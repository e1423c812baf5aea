"""Swaps that somebody who knows the algorithm can rule out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import wideberth as wb
from tests.risk.leaks.conftest import NEAR, QUASI, as_csv, severities
from wideberth.errors import InfeasibleError, in_the_app
from wideberth.policy.request import Request
from wideberth.risk.leaks import (
    swap_audit,
)
from wideberth.risk.leaks.swaps import less_telling

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
