"""What other tools get wrong at the edges, each as a check of ours.

The mistakes were found by running the tools: sorting the wrong way round, rounding, dropping rows,
taking labels for positions, dividing by zero, overwriting thresholds.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import naive
import wideberth as wb
from wideberth.hierarchy import Hierarchy


def one_group(values: list[object]) -> pl.DataFrame:
    return pl.DataFrame({"q": ["x"] * len(values), "s": values})


def report(table: object, *principles: str | wb.Principle, **options: object) -> list[object]:
    result = wb.check(table, quasi="q", sensitive="s", principles=list(principles), **options)
    return result.principles


def verdicts(table: object, *principles: str | wb.Principle, **options: object) -> list[bool]:
    return [r.satisfied for r in report(table, *principles, **options)]


def test_recursive_counts_from_the_most_frequent_value_and_is_strict() -> None:
    """9 : 1 at l = 2 needs 9 < c · 1 (Machanavajjhala et al. 2006, Def. 4.2)."""
    table = one_group(["a"] * 9 + ["b"])
    cs = ["1", "8.99", "9", "9.0", "9.01", "10"]
    found = verdicts(table, *(f"recursive-cl:c={c},l=2" for c in cs))
    assert found == [False, False, False, False, True, True]
    assert report(table, "recursive-cl:c=1,l=2")[0].achieved == {"c": 9.0}


def test_recursive_is_less_than_not_at_most() -> None:
    """2 = c · (1 + 1) at c = 1: equality does not satisfy."""
    table = one_group(["a", "a", "b", "c"])
    assert verdicts(table, "recursive-cl:c=1,l=2", "recursive-cl:c=1.0001,l=2") == [False, True]


def test_recursive_needs_l_values() -> None:
    table = one_group(["a", "a", "b"])
    assert verdicts(table, "recursive-cl:c=1000000,l=3") == [False]
    assert report(table, "recursive-cl:c=1,l=3")[0].to_dict()["achieved"] == {"c": None}


@pytest.mark.parametrize("wanted", range(2, 61))
def test_uniform_groups_have_the_entropy_of_their_number_of_values(wanted: int) -> None:
    """Plain floats reject 22 of these, and truncation misreports 42."""
    table = one_group([f"v{i}" for i in range(wanted)] * 3)
    beyond = (
        wb.EntropyLDiversity(l=wanted + Fraction(1, 10**9)),
        wb.EntropyLDiversity(l=wanted + Decimal("1e-9")),
        wb.EntropyLDiversity(l=wanted + Fraction(1, 10**30)),
    )
    exactly, *more = report(table, wb.EntropyLDiversity(l=wanted), *beyond)
    assert exactly.satisfied
    assert exactly.achieved["l"] == pytest.approx(wanted, abs=1e-9)
    assert [r.satisfied for r in more] == [False, False, False]


def test_entropy_of_one_value_is_one() -> None:
    """No rounding error below 1, nor above."""
    table = one_group(["a"] * 49)
    single = report(table, "entropy-l:l=1", wb.EntropyLDiversity(l=1 + Fraction(1, 10**30)))
    assert [r.satisfied for r in single] == [True, False]
    assert single[0].achieved == {"l": 1.0}


@pytest.mark.parametrize(
    "index", [[3, 2, 1, 0], [7, 7, 7, 7], ["b", "a", "b", "a"], [1, 2, 3, 4], [-1, 0, -2, 9]]
)
def test_index_labels_are_no_positions(index: list[object]) -> None:
    columns = {"q": ["x", "x", "y", "y"], "s": ["a", "b", "a", "a"]}
    plain, labelled = pd.DataFrame(columns), pd.DataFrame(columns, index=index)
    for principle in (
        "distinct-l:l=2",
        "entropy-l:l=2",
        "t-closeness:t=0.2",
        "recursive-cl:c=2,l=2",
    ):
        expected = wb.check(plain, quasi="q", sensitive="s", principles=principle).to_dict()
        found = wb.check(labelled, quasi="q", sensitive="s", principles=principle)
        assert found.to_dict() == expected
        assert found.table["rows"].tolist() == [2, 2]
    result = wb.check(labelled, quasi="q", sensitive="s", principles="distinct-l:l=2")
    assert [(g.values, g.satisfied) for g in result.principles[0].worst] == [
        ({"q": "y"}, False),
        ({"q": "x"}, True),
    ]


@pytest.mark.parametrize(
    ("make", "missing"),
    [(pd.DataFrame, None), (pd.DataFrame, float("nan")), (pl.DataFrame, None)],
)
def test_rows_with_a_missing_quasi_identifier_stay(make: type, missing: float | None) -> None:
    """They form a group of their own, here the only one that fails."""
    table = make({"q": [1.0, 1.0, missing, 1.0], "s": ["a", "b", "c", "c"]})
    result = wb.check(table, quasi="q", sensitive="s", principles="k-anonymity:k=2")
    assert (result.rows, result.groups, result.satisfied) == (4, 2, False)
    worst = result.principles[0].worst[0]
    assert (worst.values, worst.rows) == ({"q": None}, 1)
    assert result.principles[0].violating_rows == 1


def test_missing_quasi_identifiers_agree_with_each_other_only() -> None:
    table = pl.DataFrame(
        {"q": ["x", None, "x", None], "r": [1, 1, None, 1], "s": ["a", "b", "c", "d"]}
    )
    result = wb.check(table, quasi=["q", "r"], sensitive="s", principles="k-anonymity:k=1")
    sizes = sorted((str(g.values), g.rows) for g in result.principles[0].worst)
    assert sizes == [
        ("{'q': 'x', 'r': 1}", 1),
        ("{'q': 'x', 'r': None}", 1),
        ("{'q': None, 'r': 1}", 2),
    ]


@pytest.mark.parametrize(
    ("distance", "value"),
    [
        *((d, v) for d in ("equal", "ordered", "hierarchical", "auto") for v in (5, None)),
        *((d, "flu") for d in ("equal", "hierarchical", "auto")),
    ],
)
def test_a_constant_attribute_is_at_distance_zero(distance: str, value: object) -> None:
    """One value has no ranks to divide by."""
    series = pl.Series([value] * 3, dtype=pl.Int64 if value is None else None)
    table = pl.DataFrame({"q": ["x", "x", "y"], "s": series})
    leaf = str(value if value is not None else 5)
    tree = {"s": Hierarchy(("*", leaf), [-1, 0])} if distance == "hierarchical" else None
    found = report(table, f"t-closeness:t=0,distance={distance}", hierarchies=tree)[0]
    assert (found.satisfied, found.achieved) == (True, {"t": 0.0})


def test_a_thousand_distinct_numbers() -> None:
    """Minutes elsewhere; here against the closed form in fractions."""
    values = [i * i for i in range(1000)]
    groups = ["low" if i < 10 else "odd" if i % 2 else "even" for i in range(1000)]
    table = pl.DataFrame({"q": groups, "s": values})
    far = {}
    for name in ("low", "odd", "even"):
        size = groups.count(name)
        shares = [Fraction(int(g == name), size) for g in groups]
        far[name] = naive.emd_ordered(shares, [Fraction(1, 1000)] * 1000)
    most = max(far.values())
    exactly, less = report(
        table,
        wb.TCloseness(t=most, distance="ordered"),
        wb.TCloseness(t=most - Fraction(1, 10**15), distance="ordered"),
    )
    assert (exactly.satisfied, less.satisfied) == (True, False)
    for group in exactly.worst:
        assert group.achieved["t"] == pytest.approx(float(far[group.values["q"]]), rel=1e-14)
    assert len(exactly.worst) == 3


def test_the_threshold_of_t_closeness_is_the_one_given() -> None:
    """A class at distance 0.95 fails t = 0.01, whatever other classes reach."""
    table = pl.DataFrame({"q": ["x"] + ["y"] * 19, "s": ["rare"] + ["common"] * 19})
    found = report(table, "t-closeness:t=0.01,distance=equal", "t-closeness:t=0.95,distance=equal")
    assert [r.satisfied for r in found] == [False, True]
    assert found[0].achieved == {"t": 0.95}
    assert found[0].principle.t == Fraction(1, 100)
    assert (found[0].worst[0].values, found[0].worst[0].rows) == ({"q": "x"}, 1)


@pytest.mark.parametrize(
    "alpha", [0.3, Decimal("0.3"), Fraction(3, 10), np.float64(0.3), Fraction("0.3")]
)
def test_three_of_ten_are_a_share_of_three_tenths(alpha: object) -> None:
    """As a binary fraction 0.3 is less than 3/10."""
    table = one_group(list("aaabbbcccd"))
    assert verdicts(table, wb.AlphaKAnonymity(alpha=alpha, k=10)) == [True]
    assert verdicts(table, wb.AlphaKAnonymity(alpha=alpha, k=11)) == [False]


def test_thresholds_are_the_decimals_that_were_written() -> None:
    """29 > 0.29 * 100 in floating point."""
    table = one_group(["a"] * 29 + [f"v{i // 20}" for i in range(71)])
    found = verdicts(table, "alpha-k:alpha=0.29,k=1", "alpha-k:alpha=0.28999999999999999,k=1")
    assert found == [True, False]
    assert report(table, "alpha-k:alpha=0.29,k=1")[0].achieved == {"alpha": 0.29, "k": 100.0}


def test_tenths_are_tenths() -> None:
    """0.3 - 0.2 is 0.1, not 0.09999999999999998; so the three are neighbours at ε = 0.1."""
    table = one_group([0.1, 0.2, 0.3])
    assert verdicts(table, "epsilon-m:epsilon=0.1,m=1", "epsilon-m:epsilon=0.1,m=2") == [
        True,
        False,
    ]
    assert report(table, "epsilon-m:epsilon=0.1,m=1")[0].achieved == {"m": 1.0}
    assert report(table, "epsilon-m:epsilon=0.0999999,m=1")[0].achieved == {"m": 3.0}


def test_ten_percent_of_11000() -> None:
    """12100 is within 10 % of 11000 (a logarithm says it is not), and the other way round."""
    table = one_group([11000, 12100])
    assert verdicts(table, "epsilon-m:epsilon=10%,m=2") == [False]
    assert verdicts(one_group([11000, 12223]), "epsilon-m:epsilon=10%,m=2") == [True]
    # 12101 - 10 % = 10890.9 reaches 11000, though 11000 + 10 % does not reach 12101.
    assert verdicts(one_group([11000, 12101]), "epsilon-m:epsilon=10%,m=2") == [False]


def test_the_worst_group_decides_and_is_named() -> None:
    table = pl.DataFrame({"q": ["x"] * 3 + ["y"] * 2, "s": ["a", "b", "c", "a", "a"]})
    found = report(table, "frequency-l:l=1.5")[0]
    assert (found.satisfied, found.violating_groups, found.violating_rows) == (False, 1, 2)
    assert found.achieved == {"l": 1.0}
    assert (found.worst[0].values, found.worst[0].satisfied) == ({"q": "y"}, False)
