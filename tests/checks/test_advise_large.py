"""Advice from counted values is advice from rows: the same limits, and refusals word for word."""

from __future__ import annotations

import datetime as dt
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import samples
from tests.effort import examples
from wideberth import io
from wideberth.checks.advise import Advice, AdvisedAttribute
from wideberth.checks.advise_large import advice_on
from wideberth.core.codes import Column, encode
from wideberth.core.memory import bounded
from wideberth.engines.duckdb.source import FileSource
from wideberth.errors import EngineError, WideberthError
from wideberth.principles import Principle, iterate, parse
from wideberth.principles.counts import DistinctCounts
from wideberth.principles.feasibility.gaps import Spacing
from wideberth.principles.feasibility.limits import WholeTable
from wideberth.principles.feasibility.nearness import DissimilarityAdvice
from wideberth.principles.feasibility.refusal import infeasible_error

pytest.importorskip("duckdb")

MEMORY = "512MB"
ONE = samples.hierarchy({"any": None, "flu": "any"})
TOLD = [cls for cls in iterate() if cls.needs not in ("population", "several")]
each_told = pytest.mark.parametrize("cls", TOLD, ids=lambda cls: cls.name)


# ---- from counts


def counted(sample: samples.Sample) -> tuple[Column, Any]:
    """Return the column of the distinct values, in no order, and how many rows hold each."""
    held = np.unique(sample.column.codes)[::-1].copy()
    counts = np.bincount(sample.column.codes, minlength=sample.column.domain.size)
    return Column(held, sample.column.domain), counts


@each_told
@given(data=st.data())
@examples(40, 13)
def test_limits_and_refusals_of_every_principle(cls: type[Principle], data: st.DataObject) -> None:
    sample = data.draw(samples.samples(cls, rows=9, groups=1))
    principle = data.draw(samples.principles(cls, sample))
    rows = len(sample.values)
    column, counts = counted(sample)
    sized = cls.needs == "size"
    here = WholeTable(None if sized else sample.column, rows)
    there = WholeTable(None if sized else column, rows, counts)
    assert there.feasible(principle) == here.feasible(principle)
    keys = [key for key, parameter in cls.parameters().items() if parameter.stronger]
    chosen = {key: value for key, value in principle.given().items() if value is not None}
    for key in keys:
        others = {k: v for k, v in chosen.items() if k != key}
        assert there.strongest(cls.name, key, others) == here.strongest(cls.name, key, others)
    if not here.feasible(principle):
        said = infeasible_error(principle, here.column, rows)
        assert str(infeasible_error(principle, there.column, rows, counts)) == str(said)


def test_counts_of_something_else_are_refused() -> None:
    column = encode(pl.Series("s", [1, 2, 3]))
    for counts in (np.array([1, 1, 1]), np.array([5])):
        with pytest.raises(ValueError, match="'s' are not those of 5 rows"):
            infeasible_error(parse("distinct-l:l=2"), column, 5, counts)
    with pytest.raises(ValueError, match="not those of 5 rows"):  # codes of distinct values
        infeasible_error(parse("distinct-l:l=2"), column, 5)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([3, 60, 10**6]))
@examples(15, 5)
def test_few_and_many_rows_are_spaced_alike(seed: int, relative: bool, spread: int) -> None:
    """Numbers are looked at instead of rows, if rows would take too much memory."""
    rng = np.random.default_rng(seed)
    column = encode(pl.Series("s", rng.integers(-spread // 3, spread, 90_000)))
    counts = np.bincount(column.codes, minlength=column.domain.size)
    rows = Spacing.of(column.domain, counts, relative=relative)
    with bounded(1):
        numbers = Spacing.of(column.domain, counts, relative=relative)
    assert (rows.held is None, numbers.held is None) == (False, True)
    for most in (1, 7, 64, 700, 12_000, 45_000, 89_999):
        assert rows.supremum(most) == numbers.supremum(most)


def test_more_rows_than_could_be_listed() -> None:
    """Ten billion rows are a histogram like any other."""
    frame = pl.DataFrame({"salary": [1000, 1010, 1020, 16000, None]})
    counts = np.array([4, 1, 2, 2, 1]) * 10**9
    about = AdvisedAttribute(["salary"], {}, {})
    advice = advice_on(about, lambda columns: DistinctCounts(frame[list(columns)], counts))
    small = wb.advise([1000] * 4 + [1010] + [1020] * 2 + [16000] * 2 + [None])
    assert advice.rows == 10**10
    assert advice.max_m(epsilon=100) == small.max_m(epsilon=100) == 1
    assert advice.max_epsilon(m=2) == small.max_epsilon(m=2)
    assert advice.curve() == small.curve()
    assert advice.best("frequency-l", "l") == small.best("frequency-l", "l")
    assert "7,000,000,000 of 10,000,000,000 rows lie within 20 of each other" in str(
        advice.refusal(parse("epsilon-m:epsilon=20,m=2"))
    )
    far = advice.dissimilarity()
    assert far.max_epsilon(1, 2) == small.dissimilarity().max_epsilon(1, 2)
    assert next(iter(far.risk_curve()))[1] > Fraction(1, 3)
    with pytest.raises(wb.ParameterError, match="row by row, and 10,000,000,000 rows are too many"):
        far.max_delta(20, 2)
    assert advice.best("dissimilarity", "delta", epsilon=20, k=2) is None
    assert "none was ruled out" in str(
        advice.refusal(parse("dissimilarity:epsilon=20,delta=0.9,k=2"))
    )


def test_trees_of_unequal_depth_and_many_rows() -> None:
    tree = samples.hierarchy({"r": None, "a": "r", "b": "r", "a1": "a", "a2": "a"})
    frame = pl.DataFrame({"s": ["a", "b", "a1", "a2"]})
    about = AdvisedAttribute(["s"], {}, {"s": tree})
    advice = advice_on(about, lambda _: DistinctCounts(frame, np.array([10**9] * 4)))
    assert advice.best("l-e", "l", e=1) is None
    assert advice.best("l-e", "l", e=0).value == 4
    assert "l-e:l=3,e=1" in str(advice.refusal(parse("l-e:l=3,e=1")))


def test_groups_of_rows_that_are_not_there() -> None:
    column, counts = encode(pl.Series("s", [3, 1])), np.array([2, 2])
    found = DissimilarityAdvice(column, counts=counts).satisfiable(epsilon=1, delta=1, k=2)
    assert found.groups is not None
    assert found.groups.tolist() == [0, 1, 0, 1]  # by value


# ---- from files


def agree(path: Path, sensitive: str | list[str] | None, **known: Any) -> Advice:
    """Ask both ways, and return the advice if the answers are the same."""
    there = wb.advise(path, sensitive, memory=MEMORY, **known)
    here = wb.advise(path, sensitive, **known)
    assert (there.rows, there.numeric, there.vector) == (here.rows, here.numeric, here.vector)
    far = {"epsilon": 1, "delta": 0.5, "k": 3}
    if there.vector:
        assert there.dissimilarity().to_dict(**far) == here.dissimilarity().to_dict(**far)
        return there
    asked: dict[str, Any] = {"dissimilarity": far}
    if there.numeric:
        asked |= {"epsilon": 20, "m": 3}
    assert there.to_dict(**asked) == here.to_dict(**asked)
    for cls in TOLD:
        if (cls.needs == "numbers" and not there.numeric) or cls.needs == "distance":
            continue
        if cls.needs == "tree" and not known.get("hierarchies"):
            continue
        principle = parse(cls.example)
        assert str(there.refusal(principle)) == str(here.refusal(principle))
    return there


def people(rows: int = 400) -> pl.DataFrame:
    rng = random.Random(5)

    def some(*values: Any) -> list[Any]:
        return [rng.choice(values) for _ in range(rows)]

    return pl.DataFrame(
        {
            "salary": some(*range(1000, 1300, 7), 1000, None),
            "score": some(0.1, 0.25, 3.5, 1e6, None),
            "code": some("1.1", "1.10", "2", None),
            "disease": some("flu", "cold", "ulcer", "gout", None),
            "born": some(dt.date(1990, 1, 1), dt.date(1950, 5, 17), dt.date(1990, 1, 5), None),
            "nothing": some(None),
            "x.1": some(0.5, 0.25),
        }
    ).with_columns(pl.col("nothing").cast(pl.String), (1 - pl.col("x.1")).alias("x.2"))


@pytest.mark.parametrize(
    "suffix", ["csv", *(pytest.param(s, marks=pytest.mark.nightly) for s in ("parquet", "arrow"))]
)
def test_every_kind_of_file_and_column(tmp_path: Path, suffix: str) -> None:
    io.write(people(), path := tmp_path / f"people.{suffix}")
    assert agree(path, "salary").numeric
    for name in ("score", "code", "disease", "born", "nothing"):
        agree(path, name)
    agree(path, "code", types={"code": "text"})
    assert agree(path, "x.*").sensitive == "x.1+x.2"
    parents = {"all": None, "stomach": "all", "ulcer": "stomach", "flu": "all", "cold": "all"}
    agree(path, "disease", hierarchies={"disease": samples.hierarchy({**parents, "gout": "all"})})


def test_lists_and_categories(tmp_path: Path) -> None:
    rng = random.Random(1)
    frame = pl.DataFrame(
        {
            "profile": [rng.choice([[1.0, 0.0], [0.5, 0.5], None]) for _ in range(60)],
            "kind": pl.Series([rng.choice("abc") for _ in range(60)], dtype=pl.Categorical),
        }
    )
    frame.write_parquet(path := tmp_path / "t.parquet")
    assert agree(path, "profile").vector
    agree(path, "kind")


def test_a_policy_and_a_single_column(tmp_path: Path) -> None:
    frame = people()
    frame.select("salary", "disease").write_csv(path := tmp_path / "t.csv", separator=";")
    (policy := tmp_path / "p.toml").write_text(
        'version = 1\n[roles]\nsensitive = ["salary"]\ninsensitive = ["disease"]\n'
        '[types]\nsalary = "float"\n'
    )
    assert agree(path, None, policy=policy).sensitive == "salary"
    frame.select("salary").write_parquet(alone := tmp_path / "alone.parquet")
    assert agree(alone, None).sensitive == "salary"


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"sensitive": "salry"}, "no column 'salry'"),
        ({}, "which column is sensitive is not said"),
        ({"sensitive": "salary", "types": {"salary": "number"}}, "no type 'number'"),
        ({"sensitive": "disease", "types": {"disease": "integer"}}, "disease"),
        ({"sensitive": "disease", "hierarchies": {"disease": ONE}}, "missing from the hierarchy"),
        ({"sensitive": "salary", "memory": "1MB"}, "not enough"),
        ({"sensitive": "salary", "memory": "much"}, "amount of memory"),
    ],
)
def test_bad_input(tmp_path: Path, known: dict[str, Any], message: str) -> None:
    people().write_parquet(path := tmp_path / "t.parquet")
    with pytest.raises(WideberthError, match=message) as caught:
        wb.advise(path, **{"memory": MEMORY, **known}).other()
    assert "row " not in caught.value.what  # which would be one of the distinct values
    assert caught.value.hint


def test_memory_is_for_files() -> None:
    with pytest.raises(wb.ParameterError, match="memory is for files"):
        wb.advise([1, 2, 3], memory=MEMORY)


def test_too_many_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pl.DataFrame({"s": [str(i) for i in range(1000)]}).write_parquet(path := tmp_path / "t.parquet")
    monkeypatch.setattr("wideberth.engines.duckdb.source._PER_CELL", 2**20)
    with pytest.raises(EngineError, match="s hold 1,000 distinct values, which do not fit"):
        wb.advise(path, memory=MEMORY)


def test_the_file_is_closed_before_anything_is_asked(tmp_path: Path) -> None:
    pl.DataFrame({"s": [1, 2, 2]}).write_parquet(path := tmp_path / "t.parquet")
    advice = wb.advise(path, memory=MEMORY)
    path.unlink()
    assert advice.max_epsilon(m=1) == float("inf")
    with pytest.raises(wb.TableError), FileSource.opened(path, memory=2**30):
        pass
