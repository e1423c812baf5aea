"""What an adversary can claim, against the definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wideberth as wb
from tests import naive
from wideberth import datasets


def test_claims_are_those_of_the_definition():
    rng = np.random.default_rng(4)
    table = pl.DataFrame(
        {
            "zip": rng.integers(0, 12, 120),
            "pay": pl.Series(
                [None if rng.random() < 0.05 else int(rng.integers(60)) for _ in range(120)]
            ),
        }
    )
    found = wb.claims(table, quasi="zip", sensitive="pay", epsilon=4, worst=99)
    assert len(found) == table["zip"].n_unique()
    assert [c.confidence for c in found] == sorted((c.confidence for c in found), reverse=True)
    rows = table.rows()
    context = naive.Context(table["pay"].to_list())
    for claim in found:
        members = [i for i, (zip_, _) in enumerate(rows, 1) if zip_ == claim.group["zip"]]
        near = {
            i: [
                j
                for j in members
                if naive.similar(rows[i - 1][1], rows[j - 1][1], context, "absolute", 4)
            ]
            for i in members
        }
        most = max(map(len, near.values()))
        assert claim.rows == len(members)
        assert list(claim.neighbours) == near[claim.centre]
        assert len(claim.neighbours) == most
        assert claim.value == rows[claim.centre - 1][1]
        assert claim.confidence == Fraction(most, len(members))
        assert claim.prior == Fraction(1, len(members))
        alone = len(members) == 1
        assert claim.risk == (1 if alone else Fraction(most - 1, len(members) - 1))


def test_in_words():
    table = pd.DataFrame({"zip": ["1", "1", "2", "2"], "income": [5, 6, 1, 9]})
    first, second = wb.claims(table, quasi="zip", sensitive="income", epsilon=1)
    assert str(first) == (
        "anybody in the group (zip 1) has an income within 1 of 5 with 100 % confidence"
    )
    assert (second.risk, second.confidence) == (0, Fraction(1, 2))
    gaps = pl.DataFrame({"zip": [None, "1", "1"], "s": [None, 3, 4]})
    (alone,) = wb.claims(gaps, quasi="zip", sensitive="s", epsilon=0, worst=1)
    assert alone.risk == 1
    assert "zip <missing>" in str(alone)
    assert "has no value of s, with 100 % confidence" in str(alone)
    assert alone.to_dict()["value"] is None
    assert wb.claims(table, quasi="zip", sensitive="income", epsilon=1, worst=0) == []


def test_lists_structs_and_group_ids():
    table = datasets.wang2009_table1()
    names = ("flu", "asthma", "bronchitis", "none")
    for value in (pl.concat_list(names), pl.struct(names)):
        published = table.select("group", disease=value)
        claim = wb.claims(published, group="group", sensitive="disease", epsilon=0.1)[0]
        assert claim.group == {"group": 1}
        assert claim.value == (0.4, 0.3, 0.2, 0.1)
        assert claim.about == "disease"
        assert claim.to_dict()["value"] == [0.4, 0.3, 0.2, 0.1]


def test_reports_have_claims_of_distances_only():
    table = pl.DataFrame({"zip": ["1"] * 3, "pay": [1, 2, 9]})
    asked = ["k-anonymity:k=2", "dissimilarity:epsilon=1,delta=0.5,k=2"]
    sizes, far = wb.check(table, quasi="zip", sensitive="pay", principles=asked).principles
    assert sizes.claims() == []
    assert [c.centre for c in far.claims()] == [1]
    assert "claims" not in far.to_dict()


def test_bad_input():
    table = pl.DataFrame({"zip": ["1"] * 3, "pay": [1, 2, 9]})
    with pytest.raises(wb.ParameterError, match="epsilon"):
        wb.claims(table, quasi="zip", sensitive="pay", epsilon=-1)
    with pytest.raises(wb.ParameterError, match="distance"):
        wb.claims(table, quasi="zip", sensitive="pay", epsilon=1, distance="near")
    with pytest.raises(wb.TableError, match="no column"):
        wb.claims(table, quasi="zip", sensitive="wage", epsilon=1)
