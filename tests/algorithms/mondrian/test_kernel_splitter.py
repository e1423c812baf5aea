"""The compiled engine against the plain one: the same leaves and the same groups, row for row.

Also with the JIT off, in a process of its own, so that the kernels' Python source is covered.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from typing import Any
from unittest import mock

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests import effort, naive
from tests.cases import LISTS, Case, Wish, cases, rule_for, wish
from tests.samples import Sample, sample
from wideberth import datasets
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian import kernel_splitter
from wideberth.algorithms.mondrian.arrangement import BeamSettings, Leaves, Pools, SplitProblem
from wideberth.algorithms.mondrian.kernel_splitter import CompiledSplitter
from wideberth.algorithms.mondrian.rule_splitter import PlainSplitter, RankJudge
from wideberth.algorithms.mondrian.split import CUTS, _nearest, grow
from wideberth.core.codes import Column, encode
from wideberth.core.groups import Groups, Partition
from wideberth.hierarchy.quasi import read_quasi
from wideberth.kernels import cache as warming
from wideberth.kernels import group_tests, refine
from wideberth.kernels.randomness import Stream, root_key
from wideberth.kernels.sort import secret_order
from wideberth.principles import Principle, iterate, parse

INTERPRETED = bool(numba.config.DISABLE_JIT)
compiled_only = pytest.mark.skipif(INTERPRETED, reason="too many rows for the interpreter")
EXAMPLES = 2 if INTERPRETED else 8 if effort.ALL else 4

#: Those that kernels know; searching for partitions has no compiled form.
KNOWN = [cls for cls in iterate() if cls.needs not in ("distance", "several", "population")]
each = pytest.mark.parametrize("cls", KNOWN, ids=lambda cls: cls.name)
each_list = pytest.mark.parametrize("name", LISTS)
BALANCED = ("balanced",)  # where l-e has a compiled form


def silent(rows: int) -> None:
    """Progress nobody asks for."""


def draw_task(data: st.DataObject, wishes: list[Wish], rows: int = 60) -> tuple[Case, SplitProblem]:
    kinds = BALANCED if any(who == "l-e" for _, who, _ in wishes) else ()
    case = data.draw(cases(wishes, rows=rows, kinds=kinds))
    task = SplitProblem(case.quasis(), case.demands(), root_key(data.draw(st.integers(0, 2**62))))
    assume(task.compilable)
    return case, task


def engine(task: SplitProblem, threads: int = 1, kind: Any = None) -> CompiledSplitter:
    """Return a compiled engine, if so wished the one for codes beyond 16 bits."""
    made = CompiledSplitter(task, threads, silent)
    if kind is not None:
        made.kind = kind
    return made


def leaves_of(leaves: Leaves) -> set[tuple[Any, ...]]:
    """The ranks of every leaf, and its hands. They ascend, and no rank is lost."""
    parts = np.split(leaves.ranks.astype(np.int64), leaves.begins[1:])
    assert all((np.diff(part) > 0).all() for part in parts)
    assert sorted(leaves.ranks.tolist()) == list(range(len(leaves.ranks)))
    return {(*part.tolist(), "hands", int(h)) for part, h in zip(parts, leaves.hands, strict=True)}


def groups_of(partition: Partition) -> set[tuple[int, ...]]:
    """The rows of every group. None is empty."""
    order = np.argsort(partition.labels, kind="stable")
    sizes = np.bincount(partition.labels, minlength=partition.count)
    assert sizes.min() > 0
    return set(map(tuple, np.split(order, np.cumsum(sizes)[:-1])))


def boxed(dealt: tuple[Partition, Any]) -> set[tuple[Any, ...]]:
    """The rows of every group, and its box."""
    partition, (low, high) = dealt
    ids = partition.labels[[rows[0] for rows in groups_of(partition)]]
    boxes = zip(low[ids].tolist(), high[ids].tolist(), strict=True)
    return {
        (*rows, *map(tuple, box)) for rows, box in zip(groups_of(partition), boxes, strict=True)
    }


def check_same(task: SplitProblem, cuts: str, kind: Any = None) -> None:
    """Both engines find the same leaves, and deal them to the same groups."""
    plain, fast = PlainSplitter(task, silent), engine(task, kind=kind)
    slow_leaves, fast_leaves = grow(plain, task, cuts), grow(fast, task, cuts)
    if not fast_leaves.hands.all() and task.dealt is None:
        # As `find_leaves` does: the rules decide on a whole table of which a kernel is not sure, or
        # that is smaller than usual groups because all of its values are allowed.
        fast_leaves.hands[:] = RankJudge(task).hands(np.arange(task.rows)) > 0
    assert leaves_of(slow_leaves) == leaves_of(fast_leaves)
    if slow_leaves.hands.all():
        groups = boxed(plain.deal(slow_leaves))
        assert groups == boxed(fast.deal(fast_leaves))
        assert len(groups) == slow_leaves.groups.sum()


# Whole runs.


@each
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_each_principle(cls: type[Principle], data: st.DataObject) -> None:
    with_k: list[Wish] = [(None, "k-anonymity", {})] if data.draw(st.booleans()) else []
    wishes = [*wish(cls), *with_k]
    case = data.draw(cases(wishes, kinds=BALANCED if cls.name == "l-e" else ()))
    task = SplitProblem(case.quasis(), case.demands(), root_key(data.draw(st.integers(0, 2**62))))
    assume(task.compilable)
    check_same(task, data.draw(st.sampled_from(CUTS)), data.draw(st.sampled_from([None, np.int32])))


@each_list
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_lists(name: str, data: st.DataObject) -> None:
    _, task = draw_task(data, LISTS[name])
    check_same(task, data.draw(st.sampled_from(CUTS)))


@pytest.mark.parametrize("cuts", CUTS)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_sizes_alone(cuts: str, data: st.DataObject) -> None:
    """The one list for which rows are exchanged as well."""
    _, task = draw_task(data, [(None, "k-anonymity", {})])
    check_same(task, cuts)


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_any_number_of_threads(data: st.DataObject) -> None:
    """Nodes of more than eight rows are shared, as are runs of leaves."""
    name = data.draw(st.sampled_from([*LISTS]))
    _, task = draw_task(data, LISTS[name])
    cuts = data.draw(st.sampled_from(CUTS))
    slow = PlainSplitter(task, silent)
    expected = grow(slow, task, cuts)
    for threads in (1, 2, 3):
        fast = engine(task, threads)
        with mock.patch.object(kernel_splitter, "_LARGE", 8):
            leaves = grow(fast, task, cuts)
            assert leaves_of(leaves) == leaves_of(expected)
            if leaves.hands.all():
                assert boxed(fast.deal(leaves)) == boxed(slow.deal(expected))


# Step by step, from the same leaves.


@settings(max_examples=2 * EXAMPLES)
@given(data=st.data())
def test_cutting_at_values(data: st.DataObject) -> None:
    _, task = draw_task(data, LISTS[data.draw(st.sampled_from([*LISTS]))])
    how = {"paper": data.draw(st.booleans()), "block": data.draw(st.sampled_from([0, 3, 12]))}
    kind = data.draw(st.sampled_from([None, np.int32]))
    slow, fast = PlainSplitter(task, silent), engine(task, kind=kind)
    assert leaves_of(slow.cut(**how)) == leaves_of(fast.cut(**how))


@settings(max_examples=2 * EXAMPLES)
@given(data=st.data())
def test_taking_pools_apart(data: st.DataObject) -> None:
    _, task = draw_task(data, LISTS[data.draw(st.sampled_from([*LISTS]))])
    slow, fast = PlainSplitter(task, silent), engine(task)
    leaves = slow.cut(paper=data.draw(st.booleans()), block=data.draw(st.sampled_from([0, 20])))
    fast.cut(paper=True, block=0)  # brings the codes into order
    order = np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(leaves))
    steps = data.draw(st.integers(1, 4))
    pools = Pools(order, np.append(np.arange(0, len(leaves), steps), len(leaves)))
    unit = task.unit
    style = BeamSettings(
        data.draw(st.integers(1, 3)), data.draw(st.integers(0, 3)) * unit, 16 * unit,
        data.draw(st.booleans()),
    )  # fmt: skip
    (expected, gain), (found, same) = (e.solve(leaves, pools, style) for e in (slow, fast))
    assert leaves_of(found) == leaves_of(expected)
    assert same == pytest.approx(gain, rel=1e-9, abs=1e-3)
    assert (slow.centres(expected) == fast.centres(expected)).all()


@settings(max_examples=2 * EXAMPLES)
@given(data=st.data())
def test_exchanging_rows(data: st.DataObject) -> None:
    """Where middles coincide, a leaf may be found among its own neighbours."""
    _, task = draw_task(data, [(None, "k-anonymity", {})], rows=40)
    slow, fast = PlainSplitter(task, silent), engine(task)
    leaves = slow.cut(paper=data.draw(st.booleans()), block=0)
    fast.cut(paper=True, block=0)
    assume(leaves.hands.all())
    near = _nearest(slow, leaves, data.draw(st.integers(1, 12)))
    (expected, gain), (found, same) = (e.exchange(leaves, near) for e in (slow, fast))
    assert leaves_of(found) == leaves_of(expected)
    assert gain == same == _loss(slow, leaves) - _loss(slow, expected)
    assert expected.sizes.min() >= task.unit


def _loss(slow: PlainSplitter, leaves: Leaves) -> int:
    """Rows times extent, of all leaves together."""
    parts = np.split(slow.places[leaves.ranks], leaves.begins[1:])
    return sum(len(at) * int((at.max(axis=0) - at.min(axis=0)).sum()) for at in parts)


def test_leaves_with_the_same_middle() -> None:
    """A leaf that is found near itself exchanges nothing with itself."""
    ages = [0, 30, 1, 29, 10, 20, 9, 21]
    task = _task({"age": ages}, {}, ["k-anonymity:k=2"], key=1)
    rank = np.argsort(task.order)
    nested = np.sort(rank.reshape(4, 2), axis=1).reshape(-1).astype(np.uint32)
    leaves = Leaves(nested, np.full(4, 2, np.int32), np.ones(4, np.int32))
    slow, fast = PlainSplitter(task, silent), engine(task)
    fast.cut(paper=True, block=0)
    near = np.tile(np.arange(4), (4, 1))
    (expected, gain), (found, same) = (e.exchange(leaves, near) for e in (slow, fast))
    assert leaves_of(expected) == leaves_of(found)
    assert gain == same == _loss(slow, leaves) - _loss(slow, expected)


def test_a_table_that_cannot_be_dealt() -> None:
    """{40, 60, 50, 80} as a whole is the only group of three or more, and not good enough."""
    wanted = ["epsilon-m:on=pay,epsilon=15,m=2", "k-anonymity:k=3"]
    task = _task({"age": [0, 10, 20, 30]}, {"pay": [40, 60, 50, 80]}, wanted)
    for cuts in CUTS:
        for one in (PlainSplitter(task, silent), engine(task)):
            assert grow(one, task, cuts).hands.tolist() == [0]


def test_rows_by_themselves_lose_nothing() -> None:
    """Their expected extent is 0, and must not be what rounding leaves of it."""
    heights = [7225, 3969, 2601, 676, 900, 16, None, 1, None, 6561, 4096, None, 2500, None]
    task = _task({"height": heights}, {"s": ["a"] * 14}, ["m-uniqueness:on=s,m=1"], key=0)
    check_same(task, "best")
    assert grow(engine(task), task, "best").hands.sum() == 14


def test_two_views_of_one_attribute() -> None:
    """l-e looks at classes of values, distinct-l at the values: one must not see the other's."""
    tree = {"r": None, "x": "r", "y": "r", "z": "r"}
    tree |= {f"{p}{i}": p for p in "xyz" for i in range(3)}
    data = sample("balanced", ["x0", "x1", "x2", "y0"], tree)
    wanted = [parse("l-e:l=2,e=1,on=s"), parse("distinct-l:l=3,on=s")]
    task = SplitProblem(
        [read_quasi(pl.Series("age", [1, 2, 3, 4]))],
        [Demand(p, p.bind(data.column.domain), data.column) for p in wanted],
        root_key(1),
    )
    fast = engine(task)
    for ranks in ([0, 1, 2, 3], [0, 1, 3], [0, 3]):
        assert _hands(fast, np.array(ranks)) == RankJudge(task).hands(np.array(ranks)) == 0


# Larger tables.


def _task(
    quasi: dict[str, Any], sensitive: dict[str, Any], wanted: Iterable[str], key: int = 7
) -> SplitProblem:
    columns = {name: encode(pl.Series(name, cells)) for name, cells in sensitive.items()}
    demands = []
    for principle in map(parse, wanted):
        column = columns.get(principle.on)
        domain = (column or encode(pl.Series("rows", next(iter(quasi.values()))))).domain
        demands.append(Demand(principle, principle.bind(domain), column))
    return SplitProblem(
        [read_quasi(pl.Series(n, c)) for n, c in quasi.items()], demands, root_key(key)
    )


@cache
def _incomes(rows: int) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    table = datasets.sal(rows)
    names = ["age", "birthplace", "occupation"]
    return {n: table[n] for n in names}, {"income": table["income"], "job": table["occupation"]}


@cache
def _people(rows: int) -> tuple[dict[str, pl.Series], dict[str, pl.Series]]:
    table = datasets.census(rows)
    names = ["age", "zip", "sex", "education"]
    return {n: table[n] for n in names}, {n: table[n] for n in ("disease", "salary")}


INCOMES = [
    ["k-anonymity:k=10"],
    ["epsilon-m:on=income,epsilon=2000,m=5"],
    ["epsilon-m:on=income,epsilon=10%,m=3", "k-anonymity:k=8"],
    ["delta-l:on=income,delta=1000,l=4", "k-anonymity:k=5"],
]
PEOPLE = [
    ["epsilon-m:on=salary,epsilon=300,m=4", "entropy-l:on=disease,l=2", "k-anonymity:k=5"],
    ["t-closeness:on=disease,t=0.5", "recursive-cl:on=disease,c=3,l=2", "k-e:on=salary,k=4,e=900"],
    ["frequency-l:on=disease,l=2.5", "variance:on=salary,t=1000"],
    ["m-uniqueness:on=disease,m=3"],
]
large = pytest.mark.parametrize("wanted", [*INCOMES, *PEOPLE], ids=" and ".join)


def _table_for(wanted: list[str], rows: int) -> Any:
    return (_incomes if wanted in INCOMES else _people)(rows)


def check_groups(task: SplitProblem, partition: Partition) -> None:
    """Every group satisfies every demand."""
    for demand in task.demands:
        column = demand.column
        groups = partition.sizes() if column is None else partition.histograms(column)
        assert demand.rule.satisfies(groups).all()


@compiled_only
@large
def test_fifteen_hundred_rows(wanted: list[str]) -> None:
    task = _task(*_table_for(wanted, 1500), wanted)
    check_same(task, "best")


@compiled_only
@large
def test_many_rows(wanted: list[str]) -> None:
    task = _task(*_table_for(wanted, 25_000), wanted)
    results = []
    for threads in (1, 2):
        fast = engine(task, threads)
        partition, _ = fast.deal(grow(fast, task, "best"))
        check_groups(task, partition)
        results.append(partition.labels)
    assert (results[0] == results[1]).all()
    assert partition.count > 25_000 / task.unit / 3


@compiled_only
@pytest.mark.parametrize("cuts", ["paper", "best"])
@pytest.mark.parametrize("wanted", INCOMES[1:3], ids=" and ".join)
def test_shared_work(cuts: str, wanted: list[str]) -> None:
    task = _task(*_incomes(300_000), wanted)
    assert task.rows > 2 * kernel_splitter._LARGE
    results = []
    for threads in (1, 3):
        fast = engine(task, threads)
        results.append(fast.deal(grow(fast, task, cuts))[0])
    assert (results[0].labels == results[1].labels).all()
    check_groups(task, results[0])


@compiled_only
@pytest.mark.parametrize("cuts", ["paper", "best"])
def test_more_values_than_sixteen_bits(cuts: str) -> None:
    rng = np.random.default_rng(3)
    quasi = {"height": rng.permutation(70_000) / 64, "age": rng.integers(0, 90, 70_000)}
    pay = {"pay": rng.integers(0, 5000, 70_000)}
    task = _task(quasi, pay, ["epsilon-m:on=pay,epsilon=5,m=10"])
    one, two = engine(task, 1), engine(task, 2)
    assert one.kind is np.int32
    leaves = grow(one, task, cuts)
    partition, _ = one.deal(leaves)
    assert leaves_of(leaves) == leaves_of(grow(two, task, cuts))
    check_groups(task, partition)
    assert len(leaves) > 500


@compiled_only
@pytest.mark.parametrize("cuts", ["paper", "disjoint", "best"])
def test_sparse_values(cuts: str) -> None:
    """Nodes with far fewer rows than values are sorted; larger ones are counted."""
    rng = np.random.default_rng(4)
    quasi = {"height": rng.permutation(1200) / 7, "age": rng.integers(0, 9, 1200)}
    task = _task(quasi, {"pay": rng.integers(0, 400, 1200)}, ["delta-l:on=pay,delta=5,l=3"])
    for kind in (None, np.int32):
        check_same(task, cuts, kind)


# The compiled tests of each principle.


@numba.njit
def _asked(
    hands: Any, rows: Any, s: int, e: int, sensitive: Any, judge: Any, test_buffers: Any
) -> Any:
    """Kernels that others get as pointers cannot be called from here."""
    return hands(rows, s, e, sensitive, judge, test_buffers)


def _hands(fast: CompiledSplitter, ranks: Any) -> int:
    """Ask the kernel how many groups rows, given by ascending ranks, can be dealt to."""
    limits = np.empty(fast.task.rows, np.uint32)
    fast.limits(limits)
    rows = np.stack([ranks, limits[ranks]]).astype(np.uint32)
    test_buffers = group_tests.make_test_buffers(fast.task.rows, fast.judge)
    question = (rows, 0, len(ranks), fast.sensitive, fast.judge, test_buffers)
    found = _asked(group_tests.group_count_kernel(True), *question)
    assert not test_buffers[group_tests.TALLY].any()  # left clean for the next
    if not fast.task.looks_up:
        assert _asked(group_tests.group_count_kernel(False), *question) == found
    return int(found)


def _satisfied(task: SplitProblem, ranks: Any) -> bool:
    rows = task.order[ranks]
    for demand in task.demands:
        column: Column | None = demand.column
        codes = [0] * len(rows) if column is None else column.codes[rows].tolist()
        width = 1 if column is None else column.domain.size
        if not demand.rule.satisfies(Groups.of([codes], width))[0]:
            return False
    return True


@each
@settings(max_examples=2 * EXAMPLES)
@given(data=st.data())
def test_verdicts(cls: type[Principle], data: st.DataObject) -> None:
    """By itself a principle leads, and may be judged by ranks; beside another, by histograms."""
    beside: list[Wish] = [("t", "frequency-l", {"l": 1})] if data.draw(st.booleans()) else []
    case = data.draw(cases([*beside, *wish(cls)], kinds=BALANCED if cls.name == "l-e" else ()))
    task = SplitProblem(case.quasis(), case.demands(), root_key(1))
    assume(task.compilable)
    fast, judge = engine(task), RankJudge(task)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    for _ in range(8):
        ranks = np.sort(rng.permutation(task.rows)[: rng.integers(1, task.rows + 1)])
        found = _hands(fast, ranks)
        if len(ranks) < task.unit:  # allowed values alone may satisfy, but no such group is made
            assert not found
            assert task.least < task.unit or not _satisfied(task, ranks)
            continue
        assert found == judge.hands(ranks)
        if task.dealt is None:
            assert found == _satisfied(task, ranks)
        for hand in range(found):
            assert _satisfied(task, ranks[hand::found])


def verdicts(principle: Principle, data: Sample, part: list[int]) -> set[bool]:
    """A principle's verdicts on some rows of a table: its rule's, the kernel's leading and not."""
    rule = rule_for(principle, {"s": data})
    quasi = [read_quasi(pl.Series("q", np.arange(len(data.values))))]
    led = [Demand(principle, rule, data.column)]
    always = parse("frequency-l:l=1")
    other = encode(pl.Series("t", [i % 3 for i in range(len(data.values))]))
    beside = [Demand(always, always.bind(other.domain), other), *led]
    found = {bool(rule.satisfies(data.groups([part]))[0])}
    for demands in (led, beside):
        task = SplitProblem(quasi, demands, root_key(5))
        assert task.compilable
        ranks = np.sort(np.argsort(task.order)[part])
        found.add(bool(_hands(engine(task), ranks)))
    return found


def histogram(*counts: int) -> list[str]:
    return [f"v{i:02}" for i, count in enumerate(counts) for _ in range(count)]


@pytest.mark.parametrize(
    ("counts", "wanted", "verdict"),
    [
        ((4, 1, 1, 1, 1), 4, True),  # 4⁴ · 4⁸ = 8⁸
        ((4, 1, 1, 1, 1), Fraction(400_001, 100_000), False),
        ((4, 1, 1, 1, 1), Fraction(399_999, 100_000), True),
        ((8, 2, 2, 2, 2), 4, True),
        ((4000, 1000, 1000, 1000, 1000), 4, True),
        ((2, 1, 1), Fraction(2828, 1000), True),
        ((2, 1, 1), Fraction(2829, 1000), False),
        ((1,), 1, True),
        ((7,), Fraction(101, 100), False),
    ],
    ids=str,
)
def test_entropies_that_tie(counts: tuple[int, ...], wanted: Any, verdict: bool) -> None:
    data = sample("text", histogram(*counts))
    assert verdicts(parse(f"entropy-l:l={wanted}"), data, data.parts[0]) == {verdict}


@pytest.mark.parametrize("times", [1, 2, 3, 7])
def test_uniform_groups_are_as_diverse_as_they_have_values(times: int) -> None:
    for wanted in range(2, 60):
        data = sample("text", histogram(*[times] * wanted))
        assert verdicts(parse(f"entropy-l:l={wanted}"), data, data.parts[0]) == {True}
        just_more = parse(f"entropy-l:l={wanted}.0001")
        assert verdicts(just_more, data, data.parts[0]) == {False}


def test_a_tie_of_many_rows_counts_as_too_low() -> None:
    """Beyond what is factored, the kernel may refuse what the rule accepts, never accept more."""
    data = sample("text", histogram(4096, *[1] * 4096))  # 7 bits, half of them from each half
    assert verdicts(parse("entropy-l:l=128"), data, data.parts[0]) == {True, False}
    assert verdicts(parse("entropy-l:l=127.999"), data, data.parts[0]) == {True}
    assert verdicts(parse("entropy-l:l=128.001"), data, data.parts[0]) == {False}


TREE = {"r": None, "a": "r", "b": "r", "c": "r"}
TREE |= {f"{p}{i}": p for p in "abc" for i in range(3)}
CLOSENESS = [
    ("equal", "text", list("aabbccdeef")),
    ("equal", "text", [*"aabbcc", None, None]),
    ("ordered", "integers", [1, 1, 2, 5, 8, 8, 8, 9, 30]),
    ("hierarchical", "balanced", ["a0", "a0", "a1", "b0", "b2", "c0", "c1", "c2"]),
    ("hierarchical", "balanced", ["a0", "a0", "a1", "b0", None, "c0", "c1", None]),
]


@pytest.mark.parametrize(("distance", "kind", "values"), CLOSENESS, ids=str)
def test_closeness_at_its_very_bound(distance: str, kind: str, values: list[Any]) -> None:
    data = sample(kind, values, TREE if distance == "hierarchical" else None)
    rng = np.random.default_rng(8)
    for _ in range(8):
        part = np.sort(rng.permutation(len(values))[: rng.integers(1, len(values) + 1)]).tolist()
        exact = naive.closeness(data.of(part), data.context, distance)
        for t, verdict in ((exact, True), (exact - Fraction(1, 10**6), False)):
            if 0 <= t <= 1:
                principle = parse(f"t-closeness:t={t},distance={distance}")
                assert verdicts(principle, data, part) == {verdict}


@pytest.mark.parametrize(
    ("counts", "wanted", "verdict"),
    [
        ((3, 2, 1), "c=1,l=2", False),
        ((3, 2, 2), "c=1,l=2", True),
        ((3, 2, 2), "c=1.5,l=3", False),
        ((3, 2, 2), "c=1.51,l=3", True),
        ((9, 1), "c=9,l=2", False),
        ((9, 1), "c=9.01,l=2", True),
        ((5, 5), "c=1,l=2,allowed=v00", False),
        ((6, 5), "c=1,l=2,allowed=v00", True),
        ((6, 5), "c=1,l=2,allowed=v00|v01", True),
        ((4, 4, 4, 4), "c=1,l=3", True),
        ((4, 4, 4, 4), "c=1,l=4", False),
        ((4, 4, 4, 4), "c=100,l=5", False),
        ((4, 4, 2), "c=9,l=1,required=v02,c2=20", True),
        ((4, 4, 2), "c=9,l=1,required=v02,c2=20.1", False),
        ((4, 4, 2), "c=9,l=1,required=v02|never,c2=1", False),
        ((4, 4, 2), "c=3,l=3,required=v00|v01,c2=40", True),
        ((4, 4, 2), "c=2,l=3,required=v00|v01,c2=40", False),
    ],
    ids=str,
)
def test_recursive_at_its_very_bound(counts: tuple[int, ...], wanted: str, verdict: bool) -> None:
    data = sample("text", histogram(*counts))
    assert verdicts(parse(f"recursive-cl:{wanted}"), data, data.parts[0]) == {verdict}


def test_a_required_value_that_a_group_lacks() -> None:
    data = sample("text", histogram(3, 3, 3))
    principle = parse("recursive-cl:c=9,l=2,required=v02,c2=1")
    assert verdicts(principle, data, [0, 1, 3, 4]) == {False}
    assert verdicts(principle, data, [0, 1, 3, 4, 6]) == {True}


@pytest.mark.parametrize(
    ("wanted", "values", "verdict"),
    [
        ("variance:t=4", [0, 4], True),
        ("variance:t=4.000001", [0, 4], False),
        ("variance:t=0.24", [0.1, 0.1, 1.1, 0.1, 1.1], True),
        ("variance:t=0.24000001", [0.1, 0.1, 1.1, 0.1, 1.1], False),
        ("variance:t=4", [0, 4, None], True),
        ("variance:t=0", [None, None], True),
        ("variance:t=0.001", [None, None], False),
        ("variance:t=0", [3, 3], True),
        ("k-e:k=3,e=4", [1, 5, None], True),
        ("k-e:k=3,e=4.5", [1, 5, None], False),
        ("k-e:k=4,e=4", [1, 5, None], False),
        ("k-e:k=1,e=0", [None], True),
        ("k-e:k=1,e=1", [None], False),
        ("k-e:k=2,e=0", [7, None], True),
        ("k-e:k=2,e=0.2", [0.1, 0.3], True),
        ("k-e:k=2,e=0.2000001", [0.1, 0.3], False),
        ("frequency-l:l=2.5", [1, 1, 2, 2, 3], True),
        ("frequency-l:l=2.5001", [1, 1, 2, 2, 3], False),
        ("frequency-l:l=5/3", [1, 1, 1, 2, 3], True),
        ("alpha-k:alpha=0.4,k=5", [1, 1, 2, 2, 3], True),
        ("alpha-k:alpha=0.4,k=6", [1, 1, 2, 2, 3], False),
        ("alpha-k:alpha=0,k=1", [1, 2], False),
        ("delta-l:delta=10,l=4/3", [490, 500, 510, 1000], True),
        ("delta-l:delta=10,l=1.34", [490, 500, 510, 1000], False),
        ("delta-l:delta=0.1,l=2", [0.1, 0.3, 0.31, 0.51], True),
        ("distinct-l:l=3", [1, 2, None], True),
        ("distinct-l:l=4", [1, 2, None], False),
    ],
)
def test_numbers_at_their_very_bound(wanted: str, values: list[Any], verdict: bool) -> None:
    kind = "tenths" if any(isinstance(v, float) for v in values) else "integers"
    data = sample(kind, values)
    assert verdicts(parse(wanted), data, data.parts[0]) == {verdict}


def test_a_variance_too_large_to_be_exact_is_not_accepted_by_mistake() -> None:
    """Numbers far apart are judged in floats; what is too close to tell counts as too low."""
    far = 2**31 - 1
    data = sample("integers", [0, 2 * far, 2**45, 2**45 + 2])
    assert verdicts(parse("variance:t=1"), data, [2, 3]) == {True}
    assert verdicts(parse("variance:t=1.000001"), data, [2, 3]) == {False}
    assert verdicts(parse("variance:t=2000000000"), data, [0, 1, 2, 3]) == {True}
    assert verdicts(parse("variance:t=2147483647"), data, [2, 3]) == {False}


def test_immodest_parameters_are_left_to_the_plain_engine() -> None:
    for wanted in (f"frequency-l:l={2**32 + 1}/{2**32}", f"variance:t={2**40}", "k-e:k=1,e=1e10"):
        principle = parse(wanted)
        column = encode(pl.Series("s", [1, 2]))
        demand = Demand(principle, principle.bind(column.domain), column)
        assert not SplitProblem([read_quasi(pl.Series("q", [1, 2]))], [demand], b"").compilable


# The order of the rows.


@settings(max_examples=EXAMPLES)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=80), st.integers(0, 2**63 - 1))
def test_a_secret_order_sorts(values: list[int], seed: int) -> None:
    codes = np.array(values, np.int32)
    start = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=6))[:-1]))
    order = np.empty(len(codes), np.uint32)
    secret_order(codes, start, Stream(root_key(seed), "order").words(len(codes)), order)
    assert sorted(order.tolist()) == list(range(len(values)))
    assert (np.diff(codes[order]) >= 0).all()


def test_ties_are_in_every_order_about_equally_often() -> None:
    codes = np.array([1, 0, 1, 0, 1, 0, 0], np.int32)
    times = 300 if INTERPRETED else 6000
    places = np.zeros((7, 7), np.int64)
    orders = set()
    stream = Stream(root_key(11), "order")
    for _ in range(times):
        order = np.empty(len(codes), np.uint32)
        secret_order(codes, np.array([0, 4]), stream.words(7), order)
        orders.add(tuple(order.tolist()))
        places[order, np.arange(7)] += 1
    assert len(orders) > (24 * 6) * (0.8 if INTERPRETED else 0.999)
    for row, ties in ((1, 4), (0, 3)):
        held = places[row][places[row] > 0]
        assert len(held) == ties
        assert np.abs(held / times - 1 / ties).max() < 5 / np.sqrt(times) / 2


@compiled_only
def test_large_and_small_tables_are_ordered_alike() -> None:
    """Above 100,000 rows the kernel sorts, below NumPy: both by code, ties by the key."""
    rng = np.random.default_rng(2)
    for rows in (1000, 120_000):
        quasi, pay = {"q": rng.integers(0, 9, rows)}, {"pay": rng.integers(0, 40, rows)}
        orders = []
        for key in (1, 1, 2):
            task = _task(quasi, pay, ["distinct-l:on=pay,l=2"], key)
            orders.append(task.order)
            assert (np.diff(task.leading[0][task.order]) >= 0).all()
            assert (np.sort(task.order) == np.arange(rows)).all()
        assert (orders[0] == orders[1]).all()
        assert (orders[0] != orders[2]).mean() > 0.8


def test_the_helper_imports_nothing_from_the_current_folder() -> None:
    with (
        mock.patch.object(warming, "missing", side_effect=lambda names, place: list(names)),
        mock.patch.object(warming, "_compile"),
        mock.patch.object(warming.subprocess, "Popen") as popen,
    ):
        warming.warm(np.uint16, ["solve", "_subtree"])
    assert "-P" in popen.call_args.args[0]


def test_several_callers_at_once_get_the_same_kernel() -> None:
    kernel = mock.Mock(overloads=[])

    def compiles(signature: object) -> None:
        time.sleep(0.05)  # long enough for the others to come
        kernel.overloads.append(signature)

    kernel.compile.side_effect = compiles
    with mock.patch.object(refine, "solve", kernel), ThreadPoolExecutor(4) as pool:
        found = [pool.submit(refine.solver) for _ in range(8)]
        assert all(one.result() is kernel for one in found)
    kernel.compile.assert_called_once()
