"""Rows dealt by who is near whom: compiled code against its plain twin, engine against engine.

Also with the JIT off, in a process of its own, so that the kernels' Python source is covered.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any
from unittest import mock

import numba
import numpy as np
import polars as pl
import pytest

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian import split as splitting
from wideberth.algorithms.mondrian.arrangement import Leaves, SplitProblem
from wideberth.algorithms.mondrian.kernel_splitter import CompiledSplitter
from wideberth.algorithms.mondrian.rule_splitter import PlainSplitter, RankJudge
from wideberth.algorithms.mondrian.split import CUTS, grow, split
from wideberth.core.codes import Column, Domain, encode
from wideberth.core.exact import Bools, Ints
from wideberth.hierarchy.quasi import read_quasi
from wideberth.kernels import equal_groups as kernels
from wideberth.kernels import group_tests, kinds
from wideberth.principles import parse
from wideberth.principles.partition import swap
from wideberth.principles.partition.caps import SearchedRule
from wideberth.principles.partition.swap import (
    BlockRule,
    NeighborCap,
    SimilarityMatrix,
    _PlainDealer,
    deal_apart,
    plain_next_part_count,
)

INTERPRETED = bool(numba.config.DISABLE_JIT)
SHARES = [Fraction(s) for s in ("1", "1/2", "0.8", "2/3", "1/3", "0.95", "0", "0.123456789")]
CROWDS = [Fraction(c) for c in ("2", "3", "5/2", "7/3", "1.01")]


def symmetric(upper: Any) -> Bools:
    """Make a relation of the upper half of a matrix."""
    above = np.triu(upper, 1)
    return above | above.T | np.eye(len(upper), dtype=bool)


def relation(rng: np.random.Generator, values: int) -> SimilarityMatrix:
    """Draw who is near whom: by chance, on a line, in the plane, or in buckets."""
    kind = rng.integers(4)
    if kind == 0:
        return SimilarityMatrix(
            symmetric(rng.random((values, values)) < rng.choice([0.02, 0.1, 0.4, 0.8]))
        )
    if kind == 3:
        bucket = rng.integers(0, max(values // 3, 1), values)
        return SimilarityMatrix(bucket[:, None] == bucket)
    points = rng.integers(0, 30, (values, kind))
    apart = np.abs(points[:, None] - points).sum(axis=2)
    return SimilarityMatrix(symmetric(apart <= rng.integers(0, 12)))


def caps(rng: np.random.Generator) -> tuple[NeighborCap, int]:
    """Draw a rule and the smallest group that it permits."""
    if rng.random() < 0.2:
        wanted = CROWDS[rng.integers(len(CROWDS))]
        return NeighborCap.of_crowd(wanted), -(-wanted.numerator // wanted.denominator)
    delta = SHARES[rng.integers(len(SHARES))]
    return NeighborCap.of_share(delta), int(rng.integers(2 if delta else 1, 7))


def drawn(times: int, most: int = 60) -> Iterator[tuple[Any, ...]]:
    """Draw rows, rules, and how long to look."""
    for seed in range(times):
        rng = np.random.default_rng(seed)
        values = int(rng.integers(1, 90))
        cap, unit = caps(rng)
        n = int(rng.integers(unit, most))
        codes = rng.integers(0, values, n)
        if rng.random() < 0.3:  # a few values that many rows hold
            codes = rng.integers(0, values, 3)[rng.integers(0, 3, n)]
        hands = n // unit if rng.random() < 0.7 else int(rng.integers(1, n // unit + 1))
        steps = int(rng.choice([0, 3, n, 2 * n + kinds.SWAPS]))
        yield relation(rng, values), codes, hands, cap, unit, steps, 1 << int(rng.choice([9, 18]))


def test_the_kernel_decides_as_its_plain_twin() -> None:
    outcomes = {True: 0, False: 0}
    with mock.patch.object(swap, "_not_compiled", return_value=False):
        for near, codes, hands, cap, unit, steps, work in drawn(12 if INTERPRETED else 80):
            found = deal_apart(near, codes, hands, cap, unit, steps, work)
            square = near.near[np.ix_(codes, codes)]
            expected = _PlainDealer(square, cap, unit).parted(hands, steps, work)
            outcomes[expected is not None] += 1
            if expected is None:
                assert found is None
                continue
            assert found is not None
            assert found.tolist() == expected.tolist()
            sizes = np.bincount(found)
            assert 1 <= len(sizes) <= hands
            assert unit <= sizes.min() == sizes[-1] <= sizes.max() == sizes[0] <= sizes.min() + 1
            together = found[:, None] == found
            crowd = (square & together).sum(axis=1) - 1
            assert (crowd * cap.q <= cap.a * sizes[found] - cap.b).all()
    assert min(outcomes.values()) > sum(outcomes.values()) / 6


def test_few_rows_need_no_compiler() -> None:
    """The same groups whether or not an earlier run has compiled the kernel."""
    for near, codes, hands, cap, unit, steps, work in drawn(6 if INTERPRETED else 16, 40):
        found = []
        for uncompiled in (True, False):
            with (
                mock.patch.object(swap, "_not_compiled", return_value=uncompiled),
                mock.patch.object(_PlainDealer, "swaps", 0),
            ):
                labels = deal_apart(near, codes, hands, cap, unit, steps, work)
                found.append(None if labels is None else labels.tolist())
        assert found[0] == found[1]


def test_too_few_rows() -> None:
    cap = NeighborCap.of_share(Fraction(1, 2))
    lone = SimilarityMatrix(np.ones((1, 1), dtype=bool))
    assert deal_apart(lone, np.zeros(2, dtype=np.int64), 1, cap, 3, 9, 999) is None
    assert deal_apart(lone, np.zeros(2, dtype=np.int64), 0, cap, 2, 9, 999) is None


@numba.njit
def _fewer(g: int, n: int, unit: int, a: int, b: int, q: int) -> Any:
    """Kernels for kernels cannot be called from Python."""
    return kernels.next_part_count(g, n, unit, a, b, q)


def test_the_next_number_of_groups() -> None:
    """Falls until it is 0, and is the same in the kernel."""
    for cap in [*map(NeighborCap.of_share, SHARES), *map(NeighborCap.of_crowd, CROWDS)]:
        for n in (2, 5, 11, 12, 40, 63, 200):
            for unit in (1, 2, 3, 7):
                g = n // unit
                while g > 0:
                    after = plain_next_part_count(g, n, unit, cap)
                    assert _fewer(g, n, unit, cap.a, cap.b, cap.q) == after < g
                    g = after


# What a cap means.


def test_a_cap_is_exact() -> None:
    """Whatever the denominator: three is 1/3 of nine even if δ has twelve digits."""
    written = ["0.33333333333", "0.6666666666666667", "0.999999999999", "0.1234567890123", "1e-12"]
    for delta in [*SHARES, *map(Fraction, written), Fraction(1, 3) - Fraction(1, 10**15)]:
        cap = NeighborCap.of_share(delta)
        for size in range(1, 200):
            assert cap.of(size) == (1 - delta) * (size - 1) // 1, (delta, size)
        assert cap.none == (delta == 1) or delta > Fraction(99, 100)
    for wanted in [*CROWDS, *map(Fraction, ["2.99999999999", "3.33333333333333", "1.5000000001"])]:
        cap = NeighborCap.of_crowd(wanted)
        for size in range(1, 200):
            assert cap.of(size) == size // wanted - 1, (wanted, size)


def test_caps_fit_the_kernels() -> None:
    """No product overflows."""
    wild = [Fraction(1, 10**40), 1 - Fraction(1, 10**40), Fraction(10**20 // 7, 10**20)]
    for cap in (*map(NeighborCap.of_share, wild), *(NeighborCap.of_crowd(1 + s) for s in wild)):
        local = BlockRule(SimilarityMatrix(np.eye(3, dtype=bool)), cap, 2)
        assert local.kernel is not None
        assert local.kernel.modest


def test_bits_of_a_relation() -> None:
    for values in (1, 2, 63, 64, 65, 130):
        near = relation(np.random.default_rng(values), values)
        words = near.bits.reshape(values, near.words)
        read = [
            [bool(int(words[i, j >> 6]) >> (j & 63) & 1) for j in range(values)]
            for i in range(values)
        ]
        assert read == near.near.tolist()
        codes = np.random.default_rng(0).integers(0, values, 50)
        expected = near.near[np.ix_(codes, codes)].sum(axis=1) - 1
        assert near.degrees(codes).tolist() == expected.tolist()


# Engine against engine.


def silent(rows: int) -> None:
    """Progress nobody asks for."""


BESIDE = {
    "alone": [],
    "k": ["k-anonymity:k=4"],
    "distinct on another": ["distinct-l:l=2,on=t"],
    "entropy on another": ["entropy-l:l=1.7,on=t"],
    "distinct on it": ["distinct-l:l=3,on=s"],
    "entropy on it": ["entropy-l:l=2.2,on=s"],
    "several": ["k-anonymity:k=3", "entropy-l:l=1.5,on=t", "distinct-l:l=3,on=s"],
}
RULES = [
    "dissimilarity:on=s,epsilon=1,delta=1,k=2,distance=euclidean",
    "dissimilarity:on=s,epsilon=2,delta=0.6,k=3,distance=manhattan",
    "dissimilarity:on=s,epsilon=0,delta=0.5,k=2,distance=discrete",
]


def demands(rng: np.random.Generator, n: int, wanted: list[str]) -> list[Demand]:
    """Bind principles to two attributes; "s" is crowded in places."""
    spots = rng.choice([0, 0, 1, 2, 3, 5, 8, 9, 12, 20, 31, 40], n)
    if "euclidean" in wanted[0] or "manhattan" in wanted[0]:
        cells = pl.Series("s", np.stack((spots, rng.integers(0, 4, n)), axis=1).astype(float))
        cells = cells.arr.to_list()
    else:
        cells = pl.Series("s", spots)
    columns = {"s": encode(cells), "t": encode(pl.Series("t", rng.choice(list("abc"), n)))}
    made = []
    for principle in map(parse, wanted):
        column = columns.get(str(principle.on))
        domain = columns["t"].domain if column is None else column.domain
        made.append(Demand(principle, principle.bind(domain), column))
    return made


def quasis(rng: np.random.Generator, n: int) -> list[Any]:
    cells = {"a": rng.integers(0, 60, n), "b": rng.integers(0, 3, n)}
    return [read_quasi(pl.Series(name, c)) for name, c in cells.items()]


def block(rng: np.random.Generator, n: int, wanted: list[str]) -> SplitProblem:
    """Arrange one block of rows, as splitting does."""
    given = demands(rng, n, wanted)
    unit = max(demand.rule.least for demand in given)
    first = given[0]
    assert isinstance(first.rule, SearchedRule)
    assert first.column is not None
    rule, places = first.rule.local(first.column.codes.astype(np.int64), unit)
    domain = Domain(name="s", histogram=np.bincount(places))
    given[0] = Demand(first.principle, rule, Column(places.astype(np.int32), domain))
    task = SplitProblem(quasis(rng, n), given, rng.bytes(32))
    assert task.apart
    assert task.compilable
    return task


@numba.njit
def _asked(
    hands: Any, rows: Any, s: int, e: int, sensitive: Any, judge: Any, test_buffers: Any
) -> Any:
    """Kernels that others get as pointers cannot be called from here."""
    return hands(rows, s, e, sensitive, judge, test_buffers)


each_list = pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
each_rule = pytest.mark.parametrize("rule", RULES, ids=["euclidean", "manhattan", "discrete"])


@each_list
@each_rule
def test_hands(rule: str, beside: list[str]) -> None:
    """Into how many groups some rows can be dealt; and nothing is left in the buffers."""
    rng = np.random.default_rng(5)
    seen = set()
    for n in (12, 40, 150) if not INTERPRETED else (12,):
        task = block(rng, n, [rule, *beside])
        fast, judge = CompiledSplitter(task, 1, silent), RankJudge(task)
        test_buffers = fast.test_buffers(task.rows)
        for _ in range(3 if INTERPRETED else 12):
            ranks = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
            rows = np.stack([ranks, ranks]).astype(np.uint32)
            question = (rows, 0, len(ranks), fast.sensitive, fast.judge, test_buffers)
            found = int(_asked(fast.hands, *question))
            assert found == judge.hands(ranks)
            assert rows[0].tolist() == ranks.tolist()
            assert not test_buffers[group_tests.TALLY].any()
            if found and (labels := judge.settle(ranks)) is not None:
                assert judge.accepts(ranks, labels)
            seen.add(found > 0)
    assert True in seen


def found_by(engine: Any, task: SplitProblem, cuts: str) -> set[tuple[Any, ...]]:
    leaves: Leaves = grow(engine, task, cuts)
    parts = np.split(leaves.ranks.astype(np.int64), leaves.begins[1:])
    return {(*p.tolist(), "hands", int(h)) for p, h in zip(parts, leaves.hands, strict=True)}


@each_list
@pytest.mark.parametrize("cuts", CUTS)
def test_both_engines_find_the_same_leaves(cuts: str, beside: list[str]) -> None:
    rng = np.random.default_rng(11)
    for rule in RULES[:1] if INTERPRETED else RULES:
        task = block(rng, 20 if INTERPRETED else 90, [rule, *beside])
        slow = found_by(PlainSplitter(task, silent), task, cuts)
        assert slow == found_by(CompiledSplitter(task, 1, silent), task, cuts)


@each_list
@each_rule
def test_both_engines_make_the_same_groups(rule: str, beside: list[str]) -> None:
    """Whole runs, several blocks included."""
    if INTERPRETED:
        pytest.skip("too many rows for the interpreter")
    results: list[Ints] = []
    for made in (PlainSplitter, CompiledSplitter):
        rng = np.random.default_rng(2)
        given, table = demands(rng, 300, [rule, *beside]), quasis(rng, 300)

        def engine(task: Any, cuts: str, threads: Any, tally: Any, **_: Any) -> Any:
            return made(task, *([threads] if made is CompiledSplitter else []), tally.settled)  # noqa: B023

        with (
            mock.patch.object(splitting, "_engine", engine),
            mock.patch("wideberth.algorithms.mondrian.blocks._MOST", 120),
            mock.patch("wideberth.algorithms.mondrian.blocks._LEAST", 60),
        ):
            partition = split(table, given, rng=np.random.default_rng(9)).partition
        for demand in given:
            groups = (
                partition.sizes() if demand.column is None else partition.histograms(demand.column)
            )
            assert demand.rule.satisfies(groups).all()
        results.append(partition.labels)
    assert (results[0] == results[1]).all()
    assert len(set(results[0].tolist())) > 15
