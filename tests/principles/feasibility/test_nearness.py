"""What (ε,δ)^k-dissimilarity is possible: against brute force; and refusals that are true."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests import naive
from wideberth import datasets
from wideberth.core.codes import encode
from wideberth.principles.feasibility import nearness
from wideberth.principles.feasibility.limits import WholeTable
from wideberth.principles.feasibility.nearness import Bracket
from wideberth.principles.feasibility.refusal import alternatives, infeasible_error

VECTORS = ("flu", "asthma", "bronchitis", "none")


def tables(many: int, seed: int, rows: int = 6) -> list[list[object]]:
    """Small columns of numbers, many of them equal or near, some missing."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(many):
        numbers = rng.integers(0, rng.choice([2, 5, 12]), rng.integers(1, rows + 1)).tolist()
        made.append([None if rng.random() < 0.1 else number for number in numbers])
    return made


def share(group: list[object], epsilon: Fraction) -> Fraction:
    """The δ that a group reaches."""
    if len(group) == 1:
        return Fraction(0)
    context = naive.Context(group)
    far = min(
        sum(not naive.similar(x, y, context, "absolute", epsilon) for y in group) for x in group
    )
    return Fraction(far, len(group) - 1)


def largest_delta(values: list[object], epsilon: Fraction, k: int) -> Fraction | None:
    """The largest δ of any partition into groups of k or more."""
    reached = [
        min(share([values[i] for i in part], epsilon) for part in parts)
        for parts in naive.partitions(range(len(values)))
        if all(len(part) >= k for part in parts)
    ]
    return max(reached, default=None)


def dissimilarity(values: object) -> wb.advice.DissimilarityAdvice:
    column = pl.Series("s", values, dtype=pl.Int64) if isinstance(values, list) else values
    return wb.advise(column).dissimilarity("absolute")


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_largest_delta_is_that_of_brute_force(k):
    for values in tables(40, seed=k):
        for epsilon in (0, 1, 3):
            true = largest_delta(values, Fraction(epsilon), k)
            bracket = dissimilarity(values).max_delta(epsilon, k)
            assert bracket.feasible == true, (values, epsilon)
            assert bracket.infeasible == (0 if true is None else true)
            assert bracket.gap == 0
            assert bracket.beyond == (true is not None)


@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(2, 3), Fraction(1)])
def test_the_largest_epsilon_encloses_that_of_brute_force(delta):
    for values in tables(30, seed=9):
        known = [v for v in values if v is not None]
        edges = sorted({Fraction(abs(x - y)) for x in known for y in known} | {Fraction(0)})
        k = 2
        possible = [
            (largest_delta(values, edge, k) if len(values) >= k else None) for edge in edges
        ]
        fails = [e for e, d in zip(edges, possible, strict=True) if d is None or d < delta]
        bracket = dissimilarity(values).max_epsilon(delta, k)
        if not fails:
            assert bracket.every
        elif fails[0] == 0:
            assert (bracket.feasible, bracket.infeasible) == (None, 0)
        else:
            assert bracket.feasible < fails[0] or not bracket.attained
            assert bracket.infeasible >= fails[0]
            assert bracket.gap <= bracket.infeasible / 100


def test_numbers_without_similar_rows_agree_with_epsilon_m():
    rng = np.random.default_rng(3)
    for _ in range(20):
        advice = wb.advise(pl.Series("s", rng.integers(0, 500, rng.integers(2, 300))))
        for m in (2, 3, 7):
            for relative in (False, True):
                bound = advice.max_epsilon(m, relative=relative)
                distance = "relative" if relative else "absolute"
                bracket = advice.dissimilarity(distance).max_epsilon(1, m)
                assert bracket.gap == 0
                if bound == inf:
                    assert bracket.every
                else:
                    assert bracket.infeasible == naive.given(bound)
                    assert bracket.attained == (bound == 0)


def test_answers_come_with_groups_a_witness_or_neither():
    far = dissimilarity([1, 1, 2, 2, 9])
    found = far.satisfiable(0, 1, 2)
    assert found.verdict == "yes"
    parts = [np.flatnonzero(found.groups == g) for g in range(found.groups.max() + 1)]
    values = [1, 1, 2, 2, 9]
    assert all(len(p) >= 2 and len({values[i] for i in p}) == len(p) for p in parts)
    assert found.delta == 1
    no = far.satisfiable(1, 1, 2)
    assert (no.verdict, no.groups) == ("no", None)
    assert no.witness == "4 rows are all near each other, groups have room for 2"
    assert far.satisfiable(0, 0.5, 6).witness == "5 rows, fewer than the 6 of a group"
    assert no.to_dict() == {"verdict": "no", "groups": None, "witness": no.witness}


def test_brackets_of_larger_tables_hold():
    """What is certified possible has groups; what is ruled out has none, so they never cross."""
    rng = np.random.default_rng(5)
    points = pl.Series("p", rng.normal(size=(120, 2)).round(2).tolist())
    far = wb.advise(points).dissimilarity("euclidean")
    for k in (5, 9):
        bracket = far.max_delta(2, k)
        assert 0 < bracket.feasible <= bracket.infeasible < 1
        assert far.satisfiable(2, bracket.feasible, k).verdict == "yes"
        assert far.satisfiable(2, bracket.infeasible + Fraction(1, 99), k).verdict == "no"
    bracket = far.max_epsilon(0.8, 4)
    assert 0 < bracket.feasible < bracket.infeasible
    assert far.satisfiable(bracket.feasible, 0.8, 4).verdict == "yes"
    assert far.satisfiable(bracket.infeasible, 0.8, 4).verdict == "no"


def test_largest_k():
    far = dissimilarity([1, 1, 2, 2, 3, 3])
    assert far.max_k(0, 1) == Bracket(Fraction(3), Fraction(3), beyond=True)
    assert far.max_k(0, 0).feasible == 6
    assert far.max_k(5, 1).feasible is None
    assert wb.advise([1, 1, 2, 2, 3, 3]).best("dissimilarity", "k", epsilon=0, delta=1).value == 3


def test_edges():
    assert dissimilarity([7]).max_delta(0, 1) == Bracket(Fraction(0), Fraction(0), beyond=True)
    assert dissimilarity([7]).max_delta(0, 2).feasible is None
    assert dissimilarity([7, 7]).max_epsilon(0.5, 2) == Bracket(None, Fraction(0))
    assert dissimilarity([7, 9]).max_epsilon(0, 2).every
    gaps = wb.advise([None, None, None, 4]).dissimilarity("absolute")
    assert gaps.max_delta(1, 2).feasible == Fraction(1, 3) == gaps.max_delta(1, 3).feasible
    with pytest.raises(wb.ParameterError, match="delta"):
        dissimilarity([7]).max_epsilon(1.5, 2)
    with pytest.raises(wb.ParameterError, match="points"):
        dissimilarity([7]).risk_curve(points=1)


def test_the_risk_curve_is_the_definition():
    table = datasets.wang2009_table1()
    curve = wb.advise(table, VECTORS).dissimilarity().risk_curve()
    assert curve.exact
    rows = [tuple(row) for row in table.select(VECTORS).rows()]
    context = naive.Context(rows)
    for epsilon, risk in curve:
        near = [
            sum(naive.similar(x, y, context, "variational", epsilon) for y in rows) for x in rows
        ]
        assert risk == Fraction(max(near) - 1, len(rows) - 1)
    assert [float(e) for e, _ in curve][:3] == [0, 0.1, 0.2]
    assert len(curve) <= 20


def test_the_risk_of_many_values_is_a_lower_bound_and_says_so(monkeypatch):
    points = pl.Series("p", np.random.default_rng(1).normal(size=(200, 2)).round(3).tolist())
    far = wb.advise(points).dissimilarity("euclidean")
    whole = far.risk_curve()
    monkeypatch.setattr(nearness, "_EACH", 10)
    monkeypatch.setattr(nearness, "_CENTRES", 5)
    some = far.risk_curve()
    assert whole.exact
    assert not some.exact
    assert all(s <= w for (_, s), (_, w) in zip(some, whole, strict=False))


def test_values_of_several_numbers():
    table = datasets.wang2009_table1()
    named = table.rename({name: f"disease.{name}" for name in VECTORS})
    listed = table.select(disease=pl.concat_list(VECTORS))
    fields = table.select(disease=pl.struct(VECTORS))
    for advice in (
        wb.advise(table, VECTORS),
        wb.advise(named, "disease.*", max_memory=1),
        wb.advise(listed),
        wb.advise(fields, "disease"),
    ):
        assert advice.vector
        assert not advice.numeric
        assert advice.dissimilarity("variational").max_delta(0.1, 5).feasible == Fraction(4, 7)
        assert advice.best("distinct-l", "l").value == 8
        assert advice.to_dict()["curve"] is None
        with pytest.raises(wb.TableError, match="made of several"):
            advice.max_m(epsilon=1)
    found = wb.advise(listed).to_dict(dissimilarity={"epsilon": 0.1, "delta": 0.5, "k": 5})
    assert found["dissimilarity"]["satisfiable"]["verdict"] == "yes"
    assert found["dissimilarity"]["max_delta"]["gap"] == 0
    with pytest.raises(wb.TableError, match=r"begins with 'ill\.'"):
        wb.advise(named, "ill.*")


def test_a_metric_of_ones_own():
    words = ["flu", "flu!", "ulcer", "ulcer!", "gout"]
    far = wb.advise(words).dissimilarity(lambda a, b: abs(len(a) - len(b)))
    assert far.max_delta(0, 2).feasible == 1
    assert far.space.name == "a function"


# ---- refusals


def said(principle: str, values: list[object]) -> str:
    return str(
        infeasible_error(
            wb.principles.parse(principle), encode(pl.Series("s", values)), len(values)
        )
    )


def test_a_refusal_names_the_witness_and_what_is_possible():
    crowd = [1, 1, 1, 1, 5, 9]
    assert said("dissimilarity:epsilon=0,delta=1,k=2", crowd) == (
        "column 's': 4 rows are all near each other, groups have room for 3\n"
        "  try: delta=0.5 with epsilon=0"
    )
    assert said("dissimilarity:epsilon=0,delta=1,k=7", crowd).startswith(
        "dissimilarity:epsilon=0,delta=1,k=7 needs 7 rows, the table has 6\n"
    )
    assert "one row is near 5 others" in said("dissimilarity:epsilon=9,delta=0.5,k=3", crowd)


def test_an_unknown_is_not_called_impossible(monkeypatch):
    from wideberth.principles.partition.caps import SearchedRule
    from wideberth.principles.partition.decide import PartitionAnswer

    monkeypatch.setattr(SearchedRule, "answer", lambda self, codes, **_: PartitionAnswer("unknown"))
    words = said("dissimilarity:epsilon=1,delta=0.9,k=2", [1, 2, 3, 4])
    assert "no partition was found, though none was ruled out" in words


def test_alternatives_to_dissimilarity_are_possible():
    for values in tables(40, seed=21):
        column = encode(pl.Series("s", values, dtype=pl.Int64))
        table = WholeTable(column, len(values))
        for epsilon, delta, k in ((0, 1, 2), (1, 0.8, 2), (1, 0.7, 3)):
            asked = wb.Dissimilarity(epsilon=epsilon, delta=delta, k=k)
            if table.feasible(asked):
                continue
            assert infeasible_error(asked, column, len(values)).hint
            for alternative in alternatives(asked, table):
                other = alternative.principle
                true = largest_delta(values, Fraction(other.epsilon), other.k)
                assert true is not None
                assert true >= Fraction(other.delta)
