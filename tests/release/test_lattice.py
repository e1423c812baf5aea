"""`lattice`, and `anonymize` by the lattice, as a library."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import wideberth as wb
from wideberth import io
from wideberth.algorithms.lattice import generalize
from wideberth.algorithms.lattice.measures import NODE_MEASURES as REGISTRY
from wideberth.algorithms.lattice.measures import Facts
from wideberth.policy.settings import MEASURES

RNG = np.random.default_rng(1)
PEOPLE = pl.DataFrame(
    {
        "age": 20 + RNG.geometric(0.08, 120).clip(max=45),  # few are old
        "zip": [f"{number}" for number in 1300 + RNG.binomial(40, 0.3, 120)],
        "sex": RNG.choice(["f", "m"], 120),
        "disease": RNG.choice(["flu", "ulcer", "cold", "cancer"], 120),
        "salary": 1000 + 130 * RNG.permutation(120),
    }
)
HIERARCHIES: dict[str, Any] = {
    "age": {"interval": [5, 10]},
    "zip": {"mask": 3},
    "sex": {"flat": True},
}
ASKED: dict[str, Any] = {
    "quasi": ["age", "zip", "sex"],
    "sensitive": ["disease", "salary"],
    "hierarchies": HIERARCHIES,
}
K = "k-anonymity:k=4"
LATTICE: dict[str, Any] = {"algorithm": "lattice", **ASKED}


def published_for(release: wb.Release, column: str) -> dict[Any, set[Any]]:
    """Tell how each value is published: a salary is somebody's alone, so rows can be found."""
    original = dict(zip(PEOPLE["salary"], PEOPLE[column], strict=True))
    seen = defaultdict(set)
    for salary, value in release.table.select("salary", column).iter_rows():
        seen[original[salary]].add(value)
    return seen


def groups(table: pl.DataFrame, column: str) -> list[Counter[Any]]:
    parts = table.partition_by("age", "zip", "sex", as_dict=True).values()
    return [Counter(part[column]) for part in parts]


# lattice


def test_minimal_and_best():
    result = wb.lattice(PEOPLE, principles=K, **ASKED)
    assert (result.nodes, result.complete, result.proven) == (4 * 5 * 2, True, True)
    assert result.highest == {"age": 3, "zip": 4, "sex": 1}
    scores = [node.scores["loss"] for node in result.best]
    assert scores == sorted(scores)
    assert result.gap == 0
    for node in result.minimal:
        assert list(node.scores) == list(MEASURES)
        made = wb.anonymize(PEOPLE, principles=K, levels=node.levels, **LATTICE)
        assert made.manifest["groups"] == node.groups
        for column, level in node.levels.items():  # and nothing finer will do
            finer = {**node.levels, column: level - 1}
            if level:
                with pytest.raises(wb.InfeasibleError):
                    wb.lattice(PEOPLE, principles=K, levels=finer, **ASKED)


def test_figures_are_those_of_the_release():
    asked = {"principles": K, "suppression_limit": 0.2, **ASKED}
    for node in wb.lattice(PEOPLE, **asked).best:
        release = wb.anonymize(PEOPLE, algorithm="lattice", levels=node.levels, **asked)
        told = release.manifest
        assert told["suppressed"]["rows"] == node.suppressed
        assert told["groups"] == node.groups
        assert told["loss"]["discernibility"] == node.scores["discernibility"]
        assert told["loss"]["average_group_size"] == pytest.approx(node.scores["average-size"])
        assert told["lattice"]["rounds"][0]["levels"] == node.levels


@pytest.mark.parametrize("measure", MEASURES)
def test_the_best_by_any_measure_is_no_worse_than_all_nodes(measure):
    asked = {"principles": K, "suppression_limit": 0.1, **ASKED}
    result = wb.lattice(PEOPLE, measure=measure, best=1000, **asked)
    (first, *rest) = [node.scores[measure] for node in result.best]
    assert all(first <= score for score in rest)
    assert {tuple(node.levels.values()) for node in result.minimal} <= {
        tuple(node.levels.values()) for node in result.best
    }


def test_a_measure_of_ones_own():
    def groupless(facts: Facts) -> float:
        assert facts.sizes().sum() == facts.rows - facts.suppressed
        return -facts.groups

    result = wb.lattice(PEOPLE, measure=groupless, principles=K, suppression_limit=0.1, **ASKED)
    assert result.measure == "groupless"
    assert result.best[0].scores["groupless"] == -result.best[0].groups
    assert result.best[0].groups == max(node.groups for node in result.minimal)
    release = wb.anonymize(
        PEOPLE, measure=groupless, principles=K, suppression_limit=0.1, **LATTICE
    )
    assert release.manifest["groups"] == result.best[0].groups
    assert release.manifest["lattice"]["measure"] == "groupless"
    assert release.manifest["transform"]["measure"] == "groupless"


def test_a_measure_of_ones_own_within_a_budget_can_be_saved(tmp_path):
    how = {"measure": lambda facts: facts.suppressed, "max_checks": 3, "principles": K}
    result = wb.lattice(PEOPLE, suppression_limit=0.1, **how, **ASKED)
    assert not result.proven
    json.dumps(result.to_dict(), allow_nan=False)
    release = wb.anonymize(PEOPLE, suppression_limit=0.1, **how, **LATTICE)
    told = release.save(tmp_path / "out.csv")
    assert told["lattice"]["rounds"][0]["no_better_than"] is None


def test_a_budget():
    result = wb.lattice(PEOPLE, principles=K, max_checks=4, **ASKED)
    assert result.checked <= 4
    assert not result.proven
    sure = wb.lattice(PEOPLE, principles=K, **ASKED)
    assert result.found.bound <= sure.best[0].scores["loss"] <= result.best[0].scores["loss"]
    assert result.gap == pytest.approx(result.found.score - result.found.bound)


def test_weights_change_what_is_best():
    def levels(column):
        result = wb.lattice(PEOPLE, principles=K, weights={column: 1000}, **ASKED)
        return result.best[0].levels[column]

    usual = wb.lattice(PEOPLE, principles=K, **ASKED)
    for column in ASKED["quasi"]:
        assert levels(column) == min(node.levels[column] for node in usual.minimal)


def test_a_policy_for_mondrian_can_be_explored():
    """What it says to the other algorithm is left out, if the lattice is asked for beside it."""
    content = {
        "roles": {"quasi": ASKED["quasi"], "sensitive": ASKED["sensitive"]},
        "principle": [{"name": "k-anonymity", "k": 4}],
        "transform": {"cuts": "paper", "recoding": "bounds", "suppression_limit": 0.1},
        "hierarchies": HIERARCHIES,
    }
    policy = wb.Policy.of(content)
    result = wb.lattice(PEOPLE, policy=policy)
    assert result.ground.limit == 12
    release = wb.anonymize(PEOPLE, policy=policy, algorithm="lattice")
    assert release.manifest["lattice"]["rounds"][0]["levels"] == result.best[0].levels


def test_what_a_reader_is_told():
    result = wb.lattice(PEOPLE, principles=[K, "distinct-l:l=2,on=disease"], **ASKED)
    assert result.principles == ["k-anonymity:k=4", "distinct-l:l=2 on disease"]
    assert result.examples["sex"] == [None, "*"]
    assert result.examples["age"][0] is None
    assert len(repr(result)) < 200
    assert "lattice of 40 nodes" in repr(result)


@pytest.mark.parametrize("checks", [1, 2, 3])
def test_a_budget_is_kept(checks):
    result = wb.lattice(PEOPLE, principles=K, max_checks=checks, **ASKED)
    assert result.checked <= checks
    assert result.found.bound <= result.best[0].scores["loss"]


def test_nothing_but_quasi_identifiers():
    table = PEOPLE.select("age", "zip", "sex")
    how = {"quasi": ["age", "zip", "sex"], "hierarchies": HIERARCHIES, "principles": K}
    for limit in (0.0, 0.1):
        release = wb.anonymize(table, algorithm="lattice", suppression_limit=limit, **how)
        assert release.table.columns == ["age", "zip", "sex"]
        assert release.check().satisfied


def test_time_is_up_and_the_top_does_not_tell():
    """(ε,m) fails on the whole table, which could still be divided: a second look is no use."""
    table = pl.DataFrame({"age": range(40), "pay": [40, 60, 50, 80] * 10})
    with pytest.raises(wb.InfeasibleError, match="before the budget was used up"):
        wb.anonymize(
            table,
            quasi="age",
            sensitive="pay",
            principles="epsilon-m:epsilon=15,m=2",
            hierarchies={"age": {"interval": [5, 20]}},
            algorithm="lattice",
            max_seconds=1e-9,
        )


@pytest.mark.parametrize(("wrong", "what"), [(float("nan"), "NaN"), (None, "must return a number")])
def test_a_measure_that_is_none(wrong, what):
    with pytest.raises(wb.ParameterError, match=what):
        wb.lattice(PEOPLE, principles=K, measure=lambda facts: wrong, **ASKED)


@pytest.mark.parametrize("limit", [0.0, 0.05])
@pytest.mark.parametrize("measure", ["loss", "ncp", "precision", "entropy", "height"])
def test_boxes_find_what_the_list_finds(monkeypatch, measure, limit):
    how = {"principles": K, "measure": measure, "suppression_limit": limit, **ASKED}
    listed = wb.lattice(PEOPLE, best=4, **how)
    monkeypatch.setattr(generalize, "_boxes_pay", lambda ground: True)
    boxed = wb.lattice(PEOPLE, best=4, **how)
    assert boxed.proven
    scores = [[node.scores[measure] for node in result.best] for result in (listed, boxed)]
    assert scores[0] == pytest.approx(scores[1])
    for checks in (1, 2, 5, 9):
        hurried = wb.lattice(PEOPLE, max_checks=checks, **how)
        assert 0 <= hurried.found.bound <= scores[0][0] + 1e-12
        assert hurried.best[0].scores[measure] >= scores[0][0] - 1e-12


@pytest.mark.parametrize("boxes", [False, True])
def test_of_equal_nodes_the_finest(monkeypatch, boxes):
    """All postcodes begin alike, so masking one digit costs as much as masking all."""
    monkeypatch.setattr(generalize, "_boxes_pay", lambda ground: boxes)
    table = pl.DataFrame(
        {
            "age": [21, 22, 23, 24, 31, 32, 33, 34],
            "zip": ["13051", "13052", "13053", "13054"] * 2,
        }
    )
    trees = {"age": {"interval": [10]}, "zip": {"mask": 3}}
    result = wb.lattice(
        table, quasi=["age", "zip"], principles=K, hierarchies=trees, best=1, measure="loss"
    )
    assert result.best[0].levels == {"age": 1, "zip": 1}
    assert result.best[0].minimal


def test_one_budget_for_all_rounds():
    made = wb.anonymize(
        PEOPLE, principles=K, suppression_limit=0.5, local_rounds=5, max_checks=12, **LATTICE
    )
    assert sum(one["checked"] for one in made.manifest["lattice"]["rounds"]) <= 12


def test_bits_would_tell_what_was_suppressed():
    how = {"principles": K, "suppression_limit": 0.1, **LATTICE}
    rounds = {m: wb.anonymize(PEOPLE, measure=m, **how).manifest for m in ("entropy", "loss")}
    assert rounds["entropy"]["suppressed"]["rows"] > 0
    assert rounds["entropy"]["lattice"]["rounds"][0]["score"] is None
    assert rounds["loss"]["lattice"]["rounds"][0]["score"] is not None


def test_measures_have_one_list_of_names():
    assert tuple(REGISTRY) == MEASURES


def test_none_is_admissible():
    with pytest.raises(wb.InfeasibleError, match="none of the 10 nodes satisfies") as refused:
        wb.lattice(PEOPLE, principles="k-anonymity:k=100", levels={"age": 1}, **ASKED)
    assert "suppression_limit" in refused.value.hint
    with pytest.raises(wb.InfeasibleError, match="121"):
        wb.lattice(PEOPLE, principles="k-anonymity:k=121", **ASKED)
    # Too diverse for the whole table, and for too few of its parts to tell at once.
    hurried = {"suppression_limit": 0.5, "max_checks": 1}
    with pytest.raises(wb.InfeasibleError, match="before the budget was used up"):
        wb.lattice(PEOPLE, principles="entropy-l:l=3.999,on=disease", **hurried, **ASKED)


# anonymize


@pytest.mark.parametrize("limit", [0, 0.1])
def test_every_value_is_published_alike(limit):
    release = wb.anonymize(PEOPLE, principles=K, suppression_limit=limit, **LATTICE)
    assert release.check().satisfied
    for column in ASKED["quasi"]:
        assert all(len(values) == 1 for values in published_for(release, column).values())
    assert min(sum(group.values()) for group in groups(release.table, "disease")) >= 4


def test_suppressed_rows_are_counted():
    release = wb.anonymize(PEOPLE, principles=K, suppression_limit=0.1, **LATTICE)
    gone = PEOPLE.height - release.table.height
    assert 0 < gone <= 12
    assert release.manifest["suppressed"] == {"rows": gone, "share": gone / 120}
    assert set(release.table["salary"]) < set(PEOPLE["salary"])
    (only,) = release.manifest["lattice"]["rounds"]
    assert only["rows"] == release.table.height


def test_local_rounds_bring_rows_back():
    def made(rounds):
        return wb.anonymize(
            PEOPLE, principles=K, suppression_limit=0.5, local_rounds=rounds, **LATTICE
        )

    one, more = made(0), made(3)
    assert one.manifest["suppressed"]["rows"] > more.manifest["suppressed"]["rows"]
    told = more.manifest["lattice"]["rounds"]
    assert 1 < len(told) <= 4
    assert sum(entry["rows"] for entry in told) == more.table.height
    assert told[0] == one.manifest["lattice"]["rounds"][0]
    assert more.check().satisfied


def test_levels_fix_a_node():
    levels = {"age": 2, "zip": 2, "sex": 1}
    release = wb.anonymize(PEOPLE, principles="k-anonymity:k=2", levels=levels, **LATTICE)
    assert set(release.table["age"]) == {"20-29", "30-39", "40-49", "50-59", "60-69"}
    assert set(release.table["zip"]) == {"13**"}
    assert set(release.table["sex"]) == {"*"}
    assert release.manifest["lattice"]["nodes"] == 1
    some = wb.lattice(PEOPLE, principles=K, levels={"age": [1, 2]}, **ASKED)
    assert {node.levels["age"] for node in some.best} <= {1, 2}


@pytest.mark.parametrize("level", [0, 1, 2])
def test_missing_values_stay_apart_below_the_top(level):
    people = pl.DataFrame({"age": [21, 24, 21, 24, None, None], "s": list("abcdef")})
    release = wb.anonymize(
        people,
        algorithm="lattice",
        quasi="age",
        sensitive="s",
        hierarchies={"age": {"interval": 5}},
        principles="k-anonymity:k=2",
        levels={"age": level},
    )
    published = dict(zip(release.table["s"], release.table["age"], strict=True))
    if level == 2:
        assert set(published.values()) == {"* or missing"}
    else:
        assert [letter for letter in "abcdef" if published[letter] is None] == ["e", "f"]
        assert len(set(published.values())) == 3 - level


def test_t_closeness_looks_at_the_original():
    t = "t-closeness:on=disease,t=0.2"
    release = wb.anonymize(PEOPLE, principles=[K, t], suppression_limit=0.3, **LATTICE)
    assert release.manifest["suppressed"]["rows"]
    overall = Counter(PEOPLE["disease"])
    for group in groups(release.table, "disease"):
        size = sum(group.values())
        shares = [abs(Fraction(group[d], size) - Fraction(overall[d], 120)) for d in overall]
        assert sum(shares) / 2 <= Fraction(2, 10)
    asked = {"quasi": ASKED["quasi"], "sensitive": ASKED["sensitive"], "principles": t}
    assert wb.check(release.table, reference=PEOPLE, **asked).satisfied


def test_a_principle_that_is_not_monotone():
    asked = {**LATTICE, "principles": "epsilon-m:on=salary,epsilon=100,m=3"}
    release = wb.anonymize(PEOPLE, suppression_limit=0.4, **asked)
    assert "group" in release.table.columns
    assert release.check().satisfied
    near = {**asked, "principles": "epsilon-m:on=salary,epsilon=3000,m=4"}
    with pytest.raises(wb.InfeasibleError) as refused:
        wb.anonymize(PEOPLE, **near)
    assert "delta-l" in refused.value.hint
    del near["algorithm"]
    with pytest.raises(wb.InfeasibleError) as refused:
        wb.lattice(PEOPLE, **near)
    assert "delta-l" in refused.value.hint


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_the_kind_of_table_stays(kind):
    given = (
        PEOPLE.to_arrow() if kind == "pyarrow" else pd.DataFrame(PEOPLE.to_dict(as_series=False))
    )
    release = wb.anonymize(given, principles=K, seed=1, **LATTICE)
    assert type(release.table) is (pa.Table if kind == "pyarrow" else pd.DataFrame)
    expected = wb.anonymize(PEOPLE, principles=K, seed=1, **LATTICE).table
    found = pl.DataFrame(release.table)
    for column in PEOPLE.columns:
        assert found[column].cast(pl.String).to_list() == expected[column].cast(pl.String).to_list()
    assert wb.lattice(given, principles=K, **ASKED).to_dict()["rows"] == 120


def test_a_seed_repeats_a_release():
    one, two, other = (
        wb.anonymize(PEOPLE, principles=K, seed=seed, **LATTICE).table for seed in (5, 5, 6)
    )
    assert one.equals(two)
    assert not one.equals(other)
    assert one.sort("salary").equals(other.sort("salary"))


def test_the_manifest_tells_no_value(tmp_path):
    marked = PEOPLE.with_columns(
        pl.col("zip").replace("1300", "Zq7Xhush"), disease=pl.col("disease") + "Zq7Xhush"
    )
    hierarchies = {**HIERARCHIES, "zip": {"flat": True}}
    asked = {**LATTICE, "hierarchies": hierarchies, "suppression_limit": 0.3, "local_rounds": 2}
    release = wb.anonymize(marked, principles=[K, "distinct-l:on=disease,l=2"], **asked)
    release.save(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    assert "Zq7Xhush" not in text
    assert json.loads(text)["lattice"]["rounds"]


def test_categories_name_only_what_is_published(tmp_path):
    people = PEOPLE.with_columns(pl.col("zip", "sex").cast(pl.Categorical))
    asked = {"suppression_limit": 0.3, "local_rounds": 1, "principles": K}
    release = wb.anonymize(people, **asked, **LATTICE)
    release.save(tmp_path / "out.parquet")
    written = pq.read_table(tmp_path / "out.parquet")
    for column in ASKED["quasi"]:
        chunks = written[column].chunks
        named = {
            text
            for chunk in chunks
            if isinstance(chunk, pa.DictionaryArray)
            for text in chunk.dictionary.to_pylist()
        }
        assert named <= set(written[column].to_pylist())
    for series in io.read(tmp_path / "out.parquet").select(ASKED["quasi"]):
        if isinstance(series.dtype, pl.Enum):
            assert set(series.dtype.categories) == set(series.drop_nulls())
