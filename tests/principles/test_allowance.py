"""Values that need no protection: definitions, laws by brute force, and every way to a release.

The laws in tests/laws, the twins, and the parity of engines draw allowed values as well; here is
what they cannot tell: all small groups, whole releases, audits, advice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests import naive
from tests.engines.spark.emulation import emulated, groups_of
from tests.samples import Sample, bound, expected, hierarchy, sample
from wideberth.principles import Principle, make, parse

#: Of a test, all but the last of which need protection.
VALUES = ("a", "b", "c", "no")
#: Wages; 0 is harmless, and lies near 1.
WAGES = (0, 1, 2, 5)
PARENTS = {"root": None, "x": "root", "y": "root", **dict.fromkeys("ab", "x")}
PARENTS |= {"c": "y", "no": "y"}
UNEVEN: dict[str, str | None] = {"root": None, "x": "root", "x1": "x", "a": "x1"}
UNEVEN |= {"b": "root", "y": "root", "no": "y", "c": "x"}

MONOTONE = [
    "frequency-l:l=2,allowed=no",
    "frequency-l:l=2.5,allowed=no|c",
    "distinct-l:l=2,allowed=no",
    "distinct-l:l=3,allowed=no|c",
    "entropy-l:l=2,allowed=no",
    "entropy-l:l=1.7,allowed=no",
    "entropy-l:l=2.5,allowed=no|c",
]
NUMBERS = [
    "delta-l:delta=0.5,l=2,allowed=0",
    "delta-l:delta=1,l=1.5,allowed=0|5",
]
DEALT = [
    "epsilon-m:epsilon=1,m=2,allowed=0",
    "epsilon-m:e1=0,e2=1,m=3,allowed=2",
    "epsilon-m:epsilon=50%,m=2,allowed=1",
    "delta-l:delta=0.5,l=2,variant=literal,allowed=0|5",
]


def multisets(values: tuple[Any, ...], rows: int) -> Iterator[tuple[Any, ...]]:
    for size in range(1, rows + 1):
        yield from combinations_with_replacement(values, size)


def whole(values: tuple[Any, ...], parents: Any = None) -> Sample:
    """A table with every value."""
    kind = "integers" if isinstance(values[0], int) else "balanced" if parents else "text"
    return sample(kind, values, parents)


def satisfied(principle: Principle, table: Sample, groups: list[tuple[Any, ...]]) -> list[bool]:
    """Judge groups of values all at once."""
    at = {value: row for row, value in enumerate(table.values)}
    rule = bound(principle, table)
    return rule.satisfies(table.groups([[at[v] for v in group] for group in groups])).tolist()


@pytest.mark.parametrize("text", [*MONOTONE, *NUMBERS])
def test_unions_of_satisfying_groups_satisfy(text: str) -> None:
    """All pairs of groups of up to 5 rows, judged by the rule, which the twin confirms."""
    principle = parse(text)
    table = whole(WAGES if text in NUMBERS else VALUES)
    groups = list(multisets(tuple(table.values), 5))
    verdicts = satisfied(principle, table, groups)
    assert verdicts == [expected(principle, group, table.context) for group in groups]
    good = [group for group, fine in zip(groups, verdicts, strict=True) if fine]
    assert 0 < len(good) < len(groups)
    unions = [one + other for one, other in product(good, good) if one <= other]
    assert all(satisfied(principle, table, unions))


@pytest.mark.parametrize("text", DEALT)
def test_dealing_finds_groups_wherever_there_are_any(text: str) -> None:
    """Theorem 1 beside allowed values: all tables of up to 6 rows, all their partitions."""
    principle = parse(text)
    found = 0
    for values in multisets(WAGES, 6):
        table = sample("integers", values)
        rule = bound(principle, table)
        possible = naive.feasible(values, lambda g, t=table: expected(principle, g, t.context))
        assert bool(rule.feasible(table.groups(table.parts))[0]) == possible
        if possible:
            labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(0))
            for label in set(labels.tolist()):
                part = [v for v, at in zip(values, labels, strict=True) if at == label]
                assert expected(principle, part, table.context)
            found += labels.max() > 0
    assert found > 10


@pytest.mark.parametrize("parents", [PARENTS, UNEVEN], ids=["level", "uneven"])
def test_l_e_deals_allowed_values_to_any_group(parents: dict[str, str | None]) -> None:
    principle = parse("l-e:l=2,e=1,allowed=no")
    several = 0
    for values in multisets(VALUES, 6):
        table = sample("balanced", values, parents)
        rule = bound(principle, table)
        possible = naive.feasible(values, lambda g, t=table: expected(principle, g, t.context))
        assert bool(rule.feasible(table.groups(table.parts))[0]) == possible
        if possible:
            labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(0))
            several += labels.max() > 0
    assert several > 10


def test_the_definitions_in_words() -> None:
    """99 % are negative: the few positive ones are well hidden, and nobody else need be."""
    table = whole(("no", "yes", "unclear"))

    def holds(text: str, *groups: list[str]) -> list[bool]:
        return satisfied(parse(text), table, [tuple(group) for group in groups])

    mostly = ["no"] * 99 + ["yes"]
    positive = ["yes"] * 99 + ["no"]
    for name in ("frequency-l:l=2", "entropy-l:l=2", "recursive-cl:c=2,l=2"):
        assert holds(name, mostly, ["no"] * 3) == [False, False]
        assert holds(f"{name},allowed=no", mostly, ["no"] * 3, positive) == [True, True, False]
    assert holds("distinct-l:l=2,allowed=no", mostly, ["no"], ["yes"]) == [True, True, False]
    # Allowed values are one value.
    both = ["no", "unclear", "yes"]
    assert holds("distinct-l:l=3,allowed=no|unclear", both) == [False]
    assert holds("distinct-l:l=3,allowed=no", both) == [True]
    assert holds("entropy-l:l=3,allowed=no|unclear", both) == [False]


def test_nothing_changes_without_allowed_values() -> None:
    """None given, or none that occur: the very same groups, and the same command line."""
    table = wb.datasets.sal(2_000, seed=3).select("age", "birthplace", "income")
    asked = {"quasi": ["age", "birthplace"], "sensitive": "income", "seed": 1}
    plain = wb.anonymize(table, **asked, principles="epsilon-m:epsilon=500,m=3")
    same = wb.anonymize(table, **asked, principles="epsilon-m:epsilon=500,m=3,allowed=-1")
    assert plain.table.equals(same.table)
    text = "epsilon-m:epsilon=10%,m=3,allowed=0|7"
    assert str(parse(text)) == text
    assert str(parse("frequency-l:l=2")) == "frequency-l:l=2"


def test_values_are_matched_as_people_write_them() -> None:
    moments = pl.DataFrame({"q": [1] * 4, "s": [datetime(2024, 3, 5)] * 3 + [datetime(2024, 3, 6)]})
    days = moments.with_columns(pl.col("s").dt.date())
    for table, written in product(
        (moments, days), ("2024-03-05", date(2024, 3, 5), datetime(2024, 3, 5))
    ):
        principle = wb.FrequencyLDiversity(l=4, allowed=[written])
        assert wb.check(table, quasi="q", sensitive="s", principles=principle).satisfied
    wages = pl.DataFrame({"q": [1] * 4, "s": [0.0, 0.0, 0.0, 5.5]})
    assert wb.check(wages, quasi="q", sensitive="s", principles="frequency-l:l=4,allowed=0")
    result = wb.check(wages, quasi="q", sensitive="s", principles="frequency-l:l=1,allowed=7")
    assert any("names what does not occur" in note for note in result.notes)


def test_a_group_without_harm_reaches_every_l() -> None:
    """Infinity is no JSON."""
    table = pl.DataFrame({"q": [1, 1], "s": ["no", "no"]})
    for name in ("frequency-l:l=5", "distinct-l:l=5", "entropy-l:l=5"):
        result = wb.check(table, quasi="q", sensitive="s", principles=f"{name},allowed=no")
        assert result.satisfied
        json.loads(json.dumps(result.to_dict(), allow_nan=False))


# ---- releases


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    """Most of them without a wage, and most tests negative."""
    rng = np.random.default_rng(5)
    n = 600
    return pl.DataFrame(
        {
            "age": rng.integers(20, 80, n),
            "zip": rng.integers(0, 9, n),
            "wage": np.where(rng.random(n) < 0.7, 0, rng.integers(1_000, 9_000, n)),
            "test": np.where(rng.random(n) < 0.95, "no", rng.choice(["hiv", "hcv"], n)),
        }
    )


RELEASES = [
    ("wage", "epsilon-m:epsilon=300,m=4,allowed=0"),
    ("wage", "delta-l:delta=300,l=3,allowed=0"),
    ("wage", "delta-l:delta=100,l=3,variant=literal,allowed=0"),
    ("wage", "frequency-l:l=4,allowed=0"),
    ("test", "frequency-l:l=4,allowed=no"),
    ("test", "distinct-l:l=2,allowed=no"),
    ("test", "entropy-l:l=2,allowed=no"),
]
HIERARCHIES = {"age": {"interval": [10, 20, 40]}, "zip": {"interval": [3, 9]}}


def sound(table: pl.DataFrame, on: str, principle: Principle) -> bool:
    """Judge the groups of a release by the twin."""
    groups = table.group_by("group").agg(pl.col(on))[on].to_list()
    context = naive.Context(tuple(table[on]))
    return all(expected(principle, group, context) for group in groups)


@pytest.mark.parametrize(("on", "text"), RELEASES)
@pytest.mark.parametrize("algorithm", ["mondrian", "lattice", "anatomy"])
def test_releases(people: pl.DataFrame, on: str, text: str, algorithm: str) -> None:
    """Possible with allowed values only; every group is judged by its definition."""
    principle = parse(text)
    asked: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": on, "group": "group", "seed": 2}
    table = people.select("age", "zip", on)
    if algorithm == "lattice":
        asked |= {"algorithm": "lattice", "hierarchies": HIERARCHIES}
        if not principle.monotone:
            pytest.skip("a lattice has no groups to deal")
    elif algorithm == "anatomy":
        asked["algorithm"] = "anatomy"
    release = wb.anonymize(table, **asked, principles=principle)
    assert release.check().satisfied
    if algorithm == "mondrian":
        assert sound(release.table, on, principle)
        assert release.manifest["groups"] > 20
    if principle.name != "distinct-l":  # which the whole table satisfies
        with pytest.raises(wb.InfeasibleError):
            wb.anonymize(table, **asked, principles=text.rpartition(",")[0])


@pytest.mark.filterwarnings("ignore:numbers of single people")
def test_suppression_leaves_allowed_rows_alone() -> None:
    table = pl.DataFrame({"q": range(20), "s": ["no"] * 4 + ["hiv"] * 16})
    asked: dict[str, Any] = {"quasi": "q", "sensitive": "s", "seed": 1}
    principle = "frequency-l:l=3,allowed=no"
    with pytest.raises(wb.InfeasibleError, match="14 rows would have to be suppressed"):
        wb.anonymize(table, **asked, principles=principle)
    release = wb.anonymize(table, **asked, principles=principle, suppression_limit=0.7)
    assert release.table["s"].value_counts(sort=True).rows() == [("no", 4), ("hiv", 2)]


def test_the_same_release_from_a_file_and_by_parts(people: pl.DataFrame, tmp_path: Any) -> None:
    """Wages one by one, and so many that neighbouring ones are counted together."""
    many = pl.concat([people] * 30).with_row_index("row")
    many = many.with_columns(
        pl.when(pl.col("wage") > 0).then(pl.col("wage") * 30 + pl.col("row") % 31).otherwise(0)
    )
    assert many["wage"].n_unique() > 4096
    path = tmp_path / "people.parquet"
    many.write_parquet(path)
    asked: dict[str, Any] = {"quasi": ["age", "zip"], "sensitive": "wage", "seed": 4}
    columns = ["age", "zip", "wage"]
    for text in (
        "epsilon-m:epsilon=3000,m=4,allowed=0",
        "delta-l:delta=3000,l=3,allowed=0",
        "entropy-l:l=3,allowed=0",
    ):
        known = {**asked, "principles": text}
        here = wb.anonymize(many.select(columns), **known)
        there, _ = emulated(many.select(columns), bucket_rows=3_000, **known)
        assert groups_of(there, columns).equals(groups_of(here.table, columns))
        pytest.importorskip("duckdb")
        filed = wb.anonymize(path, **known, identifier=["row", "test"], memory="600MB")
        assert groups_of(filed.table.collect(), columns).equals(groups_of(here.table, columns))
        assert filed.check().satisfied
        filed.close()
        reported = [
            wb.check(path, **asked_check(text), **limit) for limit in ({}, {"memory": "600MB"})
        ]
        assert naive.unnumbered(reported[0]) == naive.unnumbered(reported[1])


def asked_check(text: str) -> dict[str, Any]:
    return {"quasi": ["age", "zip"], "sensitive": "wage", "principles": text}


def test_what_cannot_be_combined_is_refused(people: pl.DataFrame) -> None:
    with pytest.raises(wb.ParameterError, match="literal takes a whole l"):
        wb.DeltaLDiversity(delta=1, l=1.5, variant="literal", allowed=[0])
    with pytest.raises(wb.ParameterError, match="no values that need no protection"):
        wb.anonymize(
            people.select("age", "test"),
            quasi="age",
            sensitive="test",
            principles="frequency-l:l=2,allowed=no",
            algorithm="anatomy",
            method="mbf",
        )


# ---- audits


def audited(rows: list[tuple[int, Any]], principles: Any, **more: Any) -> wb.Audit:
    table = pl.DataFrame({"q": [q for q, _ in rows], "s": [s for _, s in rows]})
    return wb.audit(table, quasi="q", sensitive="s", principles=principles, **more)


def names(audit: wb.Audit) -> set[str]:
    return {finding.name for finding in audit.findings}


def test_an_audit_finds_nothing_about_allowed_values() -> None:
    rows = [(g, "no") for g in range(3) for _ in range(99)] + [(1, "hiv"), (2, "hcv")]
    without = audited(rows, "frequency-l:l=1")
    assert {"homogeneity", "likely-value"} <= names(without)
    within = audited(rows, "frequency-l:l=5,allowed=no")
    assert not {"homogeneity", "likely-value", "homogeneity-covering"} & names(within)
    assert any("allows 1 value (297 of 299 rows)" in note for note in within.notes)
    assert "no" not in json.dumps(within.to_dict()["attributes"][0]["allowed"])
    known = within.attributes[0].known
    assert (known.guess.people, known.guess.worst) == (2, 0.01)
    assert known.change.positive == (0, 0)


def test_an_audit_still_finds_what_is_not_allowed() -> None:
    rows = [(0, "hiv")] * 4 + [(1, "hiv")] * 3 + [(1, "no")] + [(2, "no")] * 5
    audit = audited(rows, "frequency-l:l=1,allowed=no")
    found = {finding.name: finding for finding in audit.findings}
    assert found["homogeneity"].figures["people"] == 4
    assert found["likely-value"].title.startswith("s of 3 people")


def test_a_value_is_protected_unless_all_principles_allow_it() -> None:
    rows = [(0, "no")] * 4 + [(1, "hiv"), (1, "no")]
    both = ["frequency-l:l=1,allowed=no", "distinct-l:l=1"]
    assert "homogeneity" in names(audited(rows, both))
    both = ["frequency-l:l=1,allowed=no|hiv", "distinct-l:l=1,allowed=no"]
    assert "homogeneity" not in names(audited(rows, both))
    assert "homogeneity" not in names(
        audited(rows, ["frequency-l:l=1,allowed=no", "k-anonymity:k=2"])
    )


def test_proximity_and_kinds_are_about_guarded_rows() -> None:
    rows = [(0, 0)] * 8 + [(0, 5000), (0, 9000)] + [(1, w) for w in (100, 101, 102, 103)]
    rows += [(2, w) for w in range(20_000, 90_000, 1000)]
    audit = audited(rows, "delta-l:delta=10,l=1,allowed=0")
    near = audit.attributes[0].known.to_dict()["nearness"]
    assert [claim["people"] for claim in near["claims"]] == [4, 4, 4, 4]
    assert near["risk"]["people"] == len(rows) - 8
    assert [f.figures["people"] for f in audit.findings if f.name == "proximity"] == [4]
    tree = hierarchy(PARENTS)
    sick = [(0, "no")] * 3 + [(0, "c")] + [(1, "a"), (1, "b")]
    audit = audited(sick, "frequency-l:l=1,allowed=no", hierarchies={"s": tree})
    similar = [f.figures["people"] for f in audit.findings if f.name == "similarity"]
    assert similar == [2]


def test_beliefs_in_allowed_values_are_no_disclosure() -> None:
    rows = [(1, "no")] * 9 + [(1, "hiv")]
    priors = pl.DataFrame({"q": ["1", "1"], "s": ["no", "hiv"], "probability": [0.99, 0.01]})
    table = pl.DataFrame({"q": [str(q) for q, _ in rows], "s": [s for _, s in rows]})
    asked: dict[str, Any] = {"quasi": "q", "sensitive": "s", "priors": priors}
    before = wb.audit(table, **asked, principles="frequency-l:l=1")
    assert "positive-disclosure" in names(before)
    after = wb.audit(table, **asked, principles="frequency-l:l=1,allowed=no")
    assert "positive-disclosure" not in names(after)


# ---- advice


@pytest.mark.parametrize("seed", range(20))
def test_advice_is_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wages = rng.integers(0, 8, 7).tolist()
    advice = wb.advise(wages, allowed=0)
    context = naive.Context(tuple(wages))
    own = naive.guarded(wages, ["0"])
    for epsilon in range(4):
        most = naive.maxsize(own, context, epsilon, False, None, None)
        assert advice.max_m(epsilon=epsilon) == len(wages) // max(most, 1)
        for m in range(1, 8):
            possible = most * m <= len(wages)
            assert advice.achievable(epsilon, m) == possible
            assert (epsilon < advice.max_epsilon(m)) == possible
    for name in ("frequency-l", "distinct-l", "entropy-l"):
        limit = advice.best(name, "l")
        assert limit is not None
        for wanted in (Fraction(1), Fraction(2), Fraction(3), Fraction(7, 2), Fraction(5)):
            if name == "distinct-l" and wanted.denominator != 1:
                continue
            principle = make(name, {"l": wanted, "allowed": ["0"]})
            possible = limit.value is None or wanted <= limit.value
            assert expected(principle, wages, context) == possible


@pytest.mark.parametrize("seed", range(10))
def test_advice_on_intervals_is_exact(seed: int) -> None:
    wages = np.random.default_rng(seed).integers(0, 8, 7).tolist()
    advice = wb.advise(wages, allowed=0)
    context = naive.Context(tuple(wages))
    for l in (2, 3, 5):  # noqa: E741
        limit = advice.best("delta-l", "delta", l=l)
        for quarters in range(0, 40):
            wanted = Fraction(quarters, 4)
            principle = make("delta-l", {"delta": wanted, "l": l, "allowed": ["0"]})
            possible = limit is not None and (limit.value is None or wanted < limit.value)
            assert limit is None or limit.value is None or limit.exclusive
            assert expected(principle, wages, context) == possible, (wages, l, wanted)


def test_advice_of_a_table_without_harm() -> None:
    advice = wb.advise([0, 0, 0], allowed=[0])
    assert (advice.max_m(epsilon=5), advice.max_epsilon(3), advice.allowed_rows) == (3, np.inf, 3)
    assert advice.best("frequency-l", "l") == advice.best("entropy-l", "l")
    json.dumps(advice.to_dict(epsilon=1, m=2), allow_nan=False)
