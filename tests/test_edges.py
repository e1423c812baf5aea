"""Verdicts at the edges of what numbers, types and tables can be."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import wideberth as wb
from wideberth.hierarchy import from_rows


def satisfied(values, principle, *, dtype=None, **others) -> bool:
    table = pl.DataFrame({"s": pl.Series(values, dtype=dtype)}).with_columns(q=pl.lit("x"))
    return wb.check(table, quasi="q", sensitive="s", principles=principle, **others).satisfied


def test_a_long_number_elsewhere_changes_nothing() -> None:
    """0.1 and 0.2 are a tenth apart, whatever another group holds."""
    table = pl.DataFrame({"q": ["a", "a", "b"], "s": [0.1, 0.2, 1 / 3]})
    near = wb.check(table, quasi="q", sensitive="s", principles="epsilon-m:epsilon=0.1,m=2")
    alone = wb.check(table[:2], quasi="q", sensitive="s", principles="epsilon-m:epsilon=0.1,m=2")
    assert near.principles[0].worst[0].achieved == alone.principles[0].worst[0].achieved == {"m": 1}
    apart = wb.check(table[:2], quasi="q", sensitive="s", principles="k-e:k=2,e=0.1")
    assert apart.satisfied


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_single_precision_is_read_as_written(dtype) -> None:
    assert not satisfied([0.1, 0.2], "epsilon-m:epsilon=0.1,m=2", dtype=dtype)
    assert satisfied([0.7, 0.9], "k-e:k=2,e=0.2", dtype=dtype)


def test_single_precision_parameters() -> None:
    assert wb.EpsilonMAnonymity(epsilon=np.float32(0.1), m=2).epsilon == 0.1


def test_a_long_percentage_does_not_overflow() -> None:
    values = ["x"] * 1000 + ["y"] * 3000
    for c2 in (33.3, 33.33333333333333):
        rule = wb.RecursiveCLDiversity(c=100, l=2, required=("x",), c2=c2)
        assert not satisfied(values, rule)
    assert satisfied(values, wb.RecursiveCLDiversity(c=100, l=2, required=("x",), c2=25))


@pytest.mark.parametrize(
    ("values", "named"),
    [
        (["yes", "no", "no"], "yes"),
        (["05.03.2024", "06.03.2024", "06.03.2024"], "05.03.2024"),
        ([0.1, 1 / 3, 1 / 3], "0.1"),
        ([1.0, 2.0, 2.0], 1),
        ([True, False, False], True),
        (["1.50", "2.00", "2.00"], "1.5"),
    ],
)
def test_named_values_are_found_however_they_are_written(values, named) -> None:
    found = wb.RecursiveCLDiversity(c=100, l=2, required=(named,), c2=30)
    assert satisfied(values, found)
    assert not satisfied(values, wb.RecursiveCLDiversity(c=100, l=2, required=(named,), c2=40))


def test_a_named_value_that_does_not_occur_is_noted() -> None:
    table = pl.DataFrame({"q": [1, 1], "s": ["flu", "cancer"]})
    result = wb.check(
        table, quasi="q", sensitive="s", principles="recursive-cl:c=2,l=2,allowed=flue"
    )
    assert result.notes == ["recursive-cl: allowed names what does not occur: flue"]


@pytest.mark.parametrize("values", [["yes", "no"], ["1", "1.5"], ["05.03.2024", "06.03.2024"]])
def test_a_trees_labels_are_the_values_as_written(values) -> None:
    tree = from_rows([[v, "*"] for v in values])
    assert satisfied(values, "l-e:l=2,e=0", hierarchies={"s": tree})
    assert not satisfied(values, "l-e:l=2,e=1", hierarchies={"s": tree})


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_principles_changes_nothing(order) -> None:
    """Digits too long for numbers are text, unless a principle must have numbers."""
    table = pl.DataFrame({"q": [1, 1], "s": [str(10**20), str(10**20 + 1)]})
    wanted = ["distinct-l:l=2", "epsilon-m:epsilon=5,m=2"][::order]
    result = wb.check(table, quasi="q", sensitive="s", principles=wanted)
    assert {r.principle.name: r.satisfied for r in result.principles} == {
        "distinct-l": True,
        "epsilon-m": False,
    }


def test_a_metric_of_exact_numbers_is_compared_exactly() -> None:
    def third(a, b):
        return Fraction(0) if a == b else Fraction(1, 3)

    for epsilon, far in ((Fraction(1, 3), False), (Fraction(1, 3) - Fraction(1, 10**30), True)):
        rule = wb.Dissimilarity(epsilon=epsilon, delta=1, k=2, distance=third)
        assert satisfied(["a", "b"], rule) == far


def test_what_a_metric_may_have_rounded_counts_as_near() -> None:
    rule = wb.Dissimilarity(epsilon=0.1, delta=1, k=2, distance=lambda a, b: abs(a - b))
    assert not satisfied([0.8, 0.7], rule)


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (lambda a, b: 0.0 if a == b else float("nan"), "infinite or NaN"),
        (lambda a, b: 0 if a == b else -1, "negative"),
        (lambda a, b: 1, "itself"),
        (lambda a, b: 0 if a == b else ord(a), "not symmetric"),
        (lambda a, b: float(a), "raised ValueError"),
    ],
)
def test_what_is_no_metric_is_refused_without_its_values(metric, message) -> None:
    rule = wb.Dissimilarity(epsilon=1, delta=0.5, k=2, distance=metric)
    with pytest.raises(wb.ParameterError, match=message) as caught:
        satisfied(["hush", "x", "z"][1:], rule)
    assert "hush" not in str(caught.value)


def test_spans_of_time_are_numbers_of_days() -> None:
    spans = [timedelta(days=1), timedelta(days=2), timedelta(days=9)]
    assert satisfied(spans[1:], "epsilon-m:epsilon=1,m=2")
    assert not satisfied(spans[:2], "epsilon-m:epsilon=1,m=2")


def test_nanoseconds_count() -> None:
    moments = pl.Series([0, 1], dtype=pl.Int64).cast(pl.Datetime("ns"))
    assert satisfied(moments, "distinct-l:l=2")
    assert not satisfied(moments, "epsilon-m:epsilon=0.0001,m=2")
    assert satisfied(moments, "epsilon-m:epsilon=0,m=2")


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int128])
def test_integers_beyond_64_bits(dtype) -> None:
    values = [2**63, 2**63 + 1]
    assert satisfied(values, "epsilon-m:epsilon=0.5,m=2", dtype=dtype)
    assert not satisfied(values, "epsilon-m:epsilon=1,m=2", dtype=dtype)
    table = pl.DataFrame({"q": pl.Series(values, dtype=dtype)})
    assert wb.check(table, quasi="q", principles="k-anonymity:k=1").groups == 2


def test_decimals_that_polars_cannot_hold_are_refused_by_name() -> None:
    wide = pa.table({"q": [1], "s": pa.array([Decimal(1)], type=pa.decimal256(60, 2))})
    with pytest.raises(wb.TableError, match="column 's' holds values of mixed or unsupported"):
        wb.check(wide, quasi="q", sensitive="s", principles="distinct-l:l=1")


@pytest.mark.parametrize(
    "dtype", [pl.Boolean, pl.Date, pl.Time, pl.Categorical, pl.Decimal(10, 2), pl.Int8]
)
def test_any_type_may_be_a_quasi_identifier(dtype) -> None:
    values = {
        pl.Boolean: [True, False],
        pl.Date: [date(2024, 1, 1), None],
        pl.Time: [None, pl.time(1, 2).alias("t")],
        pl.Categorical: ["a", "b"],
    }.get(dtype, [1, 2])
    if dtype == pl.Time:
        column = pl.Series([0, 10**9], dtype=pl.Int64).cast(pl.Time)
    else:
        column = pl.Series(values, dtype=dtype)
    table = pl.DataFrame({"q": column})
    assert wb.check(table, quasi="q", principles="k-anonymity:k=1").groups == 2


def test_a_distance_beyond_the_tree_is_the_whole_tree() -> None:
    tree = from_rows([["a", "x", "*"], ["b", "y", "*"]])
    for e, far in ((1, True), (2, False), (10**200, False)):
        assert satisfied(["a", "b"], wb.LEDiversity(l=2, e=e), hierarchies={"s": tree}) == far


def test_the_population_may_write_whole_numbers_otherwise() -> None:
    table = pl.DataFrame({"q": [25, 30]})
    for people in (["25", "30", "30"], [25.0, 30.0, 30.0]):
        result = wb.check(
            table,
            quasi="q",
            principles="delta-presence:delta_max=1",
            population=pl.DataFrame({"q": people}),
        )
        assert result.satisfied
        assert not result.notes


def test_a_population_of_strangers_is_noted() -> None:
    result = wb.check(
        pl.DataFrame({"q": ["20-29"]}),
        quasi="q",
        principles="delta-presence:delta_max=1",
        population=pl.DataFrame({"q": ["25"]}),
    )
    assert not result.satisfied
    assert "generalised in the same way" in result.notes[0]


def test_missing_values_are_noted() -> None:
    table = pl.DataFrame({"q": [1] * 4, "s": ["flu", None, None, None]})
    result = wb.check(table, quasi="q", sensitive="s", principles="distinct-l:l=2")
    assert result.satisfied
    assert result.notes[0].startswith("s is missing in 3 of 4 rows")
    assert result.notes[0] in str(result)


def test_hierarchies_of_quasi_identifiers_must_be_sound(tmp_path) -> None:
    table = pl.DataFrame({"q": ["a"], "s": [1]})
    with pytest.raises(wb.HierarchyError, match="nofile"):
        wb.check(
            table,
            quasi="q",
            sensitive="s",
            principles="k-anonymity:k=1",
            hierarchies={"q": tmp_path / "nofile.csv"},
        )


def test_mistakes_in_python_are_named() -> None:
    table = pl.DataFrame({"q": [1]})
    with pytest.raises(wb.ParameterError, match="worst must be"):
        wb.check(table, quasi="q", principles="k-anonymity:k=1", worst=-1)
    with pytest.raises(wb.ParameterError, match="must be an object or text, not ABCMeta"):
        wb.check(table, quasi="q", principles=wb.KAnonymity)
    with pytest.raises(wb.ParameterError, match="k must be"):
        wb.KAnonymity(k=None)
    with pytest.raises(wb.ParameterError, match=r"not 2\.5"):
        wb.KAnonymity(k=Fraction(5, 2))


def test_achieved_entropy_can_be_asked_for() -> None:
    """What is reported satisfies when it is asked for: 4 for counts 4, 1, 1, 1, 1."""
    values = list("aaaabcde")
    table = pl.DataFrame({"q": [1] * 8, "s": values})
    result = wb.check(table, quasi="q", sensitive="s", principles="entropy-l:l=4")
    assert result.satisfied
    assert result.principles[0].achieved == {"l": 4}
