"""What other tools get wrong at the edges, each as a check of ours.

The mistakes were found by running the tools: sorting the wrong way round, rounding, dropping rows,
taking labels for positions, dividing by zero, overwriting thresholds.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import wideberth as wb
from tests import naive
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


def numeric_texts(rng: random.Random) -> list[str]:
    """Write a few numbers that floats would round: long, with exponents, of unlike scales."""
    style = rng.choice(["long", "mixed", "one decimal", "exponents", "short", "scales"])
    base = rng.choice([0, 2**53, 2**63, 10**15, 10**17, 10**19, 123456789012345678, 10**24])
    step = rng.choice([1, 2, 10, 100])
    texts = []
    for i in range(rng.randint(2, 5)):
        number = base + rng.randint(-6, 6) * step
        ways = {
            "long": [f"{number}"],
            "mixed": [f"{number}", f"{number}.0", f"{number}.5", f"{number}.{rng.randint(10, 99)}"],
            "one decimal": [f"{number}.25" if i == 0 else f"{number}"],
            "exponents": [f"{number}", f"{number}e0", f"{number}0E-1", f"{number}e+2"],
            "short": [f"{rng.randint(0, 30) / rng.choice([1, 4, 10])}"],
            "scales": [f"{number}.{'0' * rng.randint(0, 8)}{rng.randint(1, 9)}", "0.5"],
        }
        text = rng.choice(ways[style])
        texts.append(text if text.startswith("-") or rng.random() < 0.8 else f"+{text}")
    return texts


def partitions(items: list[Fraction]) -> Iterator[list[list[Fraction]]]:
    if not items:
        yield []
        return
    first, *rest = items
    for parts in partitions(rest):
        yield [[first], *parts]
        for i, part in enumerate(parts):
            yield [*parts[:i], [first, *part], *parts[i + 1 :]]


def best_m(group: list[Fraction], epsilon: Fraction) -> int:
    return len(group) // max(sum(abs(x - y) <= epsilon for y in group) for x in group)


def numeric_cases(seed: int, many: int) -> Iterator[tuple[list[str], list[Fraction], Fraction]]:
    """Yield texts, the numbers they are, and an ε that some distances reach and others miss."""
    rng = random.Random(seed)
    for _ in range(many):
        texts = numeric_texts(rng)
        numbers = [Fraction(text) for text in texts]
        epsilon = abs(rng.choice(numbers) - rng.choice(numbers)) or Fraction(100)
        yield texts, numbers, epsilon - rng.choice([0, 0, Fraction(1, 100)])


def test_long_numbers_as_text_are_never_rounded() -> None:
    """Oracle: fractions. As floats, 53 of 300 such columns lose a distinct value."""
    for texts, numbers, epsilon in numeric_cases(seed=20, many=150):
        n, distinct, mean = len(numbers), len(set(numbers)), sum(numbers) / len(numbers)
        stabbed = max(sum(0 <= y - x <= 2 * epsilon for y in numbers) for x in numbers)
        expected = [
            best_m(numbers, epsilon) >= 2,
            stabbed * 2 <= n,
            distinct >= 2 and max(numbers) - min(numbers) >= epsilon,
            sum((x - mean) ** 2 for x in numbers) >= n * epsilon,
            distinct >= 3,
        ]
        found = verdicts(
            one_group(texts),
            wb.EpsilonMAnonymity(epsilon=epsilon, m=2),
            wb.DeltaLDiversity(delta=epsilon, l=2),
            wb.KEAnonymity(k=2, e=epsilon),
            wb.VarianceControl(t=epsilon),
            "distinct-l:l=3",
        )
        assert found == expected, (texts, epsilon)


def test_advice_and_releases_of_long_numbers_are_exact() -> None:
    """Oracle: all partitions of a few rows. A release is read back as its readers see it."""
    for texts, numbers, epsilon in numeric_cases(seed=21, many=25):
        best = max(min(best_m(g, epsilon) for g in parts) for parts in partitions(numbers))
        assert wb.advise(pl.Series("s", texts)).max_m(epsilon=epsilon) == best, (texts, epsilon)
        table = pl.DataFrame({"q": [f"{i}" for i in range(len(texts))], "s": texts})
        asked = {"quasi": "q", "sensitive": "s", "seed": 1}
        principle = wb.EpsilonMAnonymity(epsilon=epsilon, m=2)
        if best < 2:
            with pytest.raises(wb.InfeasibleError):
                wb.anonymize(table, **asked, principles=principle)
            continue
        published = wb.anonymize(table, **asked, principles=principle).table
        for _, group in published.group_by("group" if "group" in published.columns else "q"):
            read = [Fraction(str(cell)) for cell in group["s"]]
            assert best_m(read, epsilon) >= 2, (texts, epsilon)


@pytest.mark.parametrize("memory", [None, "512MB"])
def test_long_numbers_of_a_file_are_exact_in_every_engine(
    tmp_path: Path, memory: str | None
) -> None:
    """With and without a group of short numbers and decimals beside the long ones."""
    near = pl.DataFrame({"q": ["x"] * 2, "s": ["9223372036854776831", "9223372036854776833"]})
    far = pl.DataFrame({"q": ["y"] * 2, "s": ["9223372036854776831.5", "+1e2"]})
    for i, table in enumerate((near, pl.concat([near, far]))):
        path = tmp_path / f"{i}.csv"
        table.write_csv(path)
        known = {"quasi": "q", "sensitive": "s", "principles": "epsilon-m:epsilon=100,m=2"}
        result = wb.check(path, **known, memory=memory)
        assert not result.satisfied
        assert result.principles[0].violating_groups == 1
        assert wb.advise(path, sensitive="s", memory=memory).max_m(epsilon=1) == 2
    with pytest.raises(wb.InfeasibleError):
        wb.anonymize(tmp_path / "0.csv", **known, memory=memory, seed=1)
    near.with_columns(s=pl.lit("1" * 39)).write_csv(path)
    with pytest.raises(wb.TableError, match="needs more than 38 digits"):
        wb.check(path, **known, memory=memory)


@pytest.mark.parametrize("long", ["1" * 39, "1e400"])
def test_equal_numbers_beside_one_too_long_never_count_as_different(
    long: str, tmp_path: Path
) -> None:
    table = pl.DataFrame({"q": ["a"] * 4, "s": ["1", "1.0", "1.00", long]})
    path = tmp_path / "table.csv"
    table.write_csv(path)
    for given, how in ((table, {}), (path, {}), (path, {"memory": "2GB"})):
        with pytest.raises(wb.TableError, match="more than 38 digits"):
            wb.check(given, quasi=["q"], sensitive="s", principles="distinct-l:l=4", **how)
    keys = pl.DataFrame({"q": ["1.1", "1.10", long, long], "s": ["a", "b", "c", "d"]})
    keys.write_csv(path)
    for given, how in ((keys, {}), (path, {}), (path, {"memory": "2GB"})):
        with pytest.raises(wb.TableError, match="column 'q': it needs more than 38 digits"):
            wb.check(given, quasi=["q"], sensitive="s", principles="k-anonymity:k=2", **how)
