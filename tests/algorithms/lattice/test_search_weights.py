"""A lattice on distinct tuples with weights is the lattice on their rows.

Tables are drawn with every row several times. Whatever a search says of their rows, it must say of
their distinct tuples: to the last bit if these come in the order in which the rows have them, and
but for rounding in any other order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.algorithms.lattice.test_search import (
    EXAMPLES,
    PLENTY,
    Task,
    compiled_only,
    engines,
    measures,
    near,
    random_task,
    tasks,
)
from tests.cases import LISTS, Case, Wish, wish
from tests.laws.test_releases import SINGLE
from tests.samples import sample
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice import generalize as choosing
from wideberth.algorithms.lattice import kernel_judge
from wideberth.algorithms.lattice.bounds import NoBounds, bounds_for
from wideberth.algorithms.lattice.generalize import Generalization, SearchSettings, generalize
from wideberth.algorithms.lattice.kernel_judge import CompiledNodeChecker
from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.algorithms.lattice.measures import NODE_MEASURES, AttributeMeasure
from wideberth.algorithms.lattice.problem import LatticeProblem, NodeChecker, NodeResult, Prices
from wideberth.algorithms.lattice.rule_judge import PlainNodeChecker
from wideberth.algorithms.lattice.search import (
    BoxSearch,
    NodeChecks,
    SearchBudget,
    SearchResult,
    find_minimal_nodes,
    optimum,
)
from wideberth.core.codes import Column, Domain
from wideberth.core.exact import Ints
from wideberth.errors import InfeasibleError
from wideberth.hierarchy import flat
from wideberth.hierarchy.quasi import read_quasi
from wideberth.policy.settings import Transform
from wideberth.principles import Principle, parse
from wideberth.release.lattice import LatticeRecoding, lattice_account, lattice_problem

# Hashes wrap around.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")

ASKED: dict[str, list[Wish]] = {cls.name: wish(cls) for cls in SINGLE} | LISTS

WANTED = [
    ["k-anonymity:k=30"],
    ["entropy-l:on=s,l=3"],
    ["recursive-cl:on=s,c=2,l=3"],
    ["t-closeness:on=t,t=0.2,distance=equal", "k-anonymity:k=9"],
    ["epsilon-m:on=s,epsilon=0.5,m=2"],
    ["delta-l:on=s,delta=0.5,l=2", "distinct-l:on=t,l=3"],
]


# ---- rows and tuples


@dataclass(frozen=True)
class Folded:
    """The distinct tuples of a ground's rows: as a ground, and which of them each row has."""

    ground: LatticeProblem
    entry: Ints

    @classmethod
    def of(cls, rows: LatticeProblem, shuffled: bool = False) -> Folded:
        columns = {id(d.column): d.column for d in rows.demands if d.column is not None}
        guarded = [column.codes for column in columns.values()]
        lines = np.stack(
            [*(quasi_level.quasi.codes for quasi_level in rows.quasi_levels), *guarded], axis=1
        )
        _, first, inverse = np.unique(lines, axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        if shuffled:
            order = np.random.default_rng(7).permutation(order)
        entry = np.argsort(order)[inverse.reshape(-1)]
        at = first[order]
        quasi_levels = [
            replace(
                quasi_level, quasi=replace(quasi_level.quasi, codes=quasi_level.quasi.codes[at])
            )
            for quasi_level in rows.quasi_levels
        ]
        fewer = {key: Column(c.codes[at], c.domain) for key, c in columns.items()}
        demands = [replace(d, column=fewer.get(id(d.column))) for d in rows.demands]
        return cls(LatticeProblem(quasi_levels, demands, rows.limit, np.bincount(entry)), entry)

    def rows(self, entries: Ints) -> list[int]:
        """The rows that have one of these tuples."""
        return np.flatnonzero(np.isin(self.entry, entries)).tolist()


@st.composite
def repeated(draw: st.DrawFn, wishes: list[Wish], rows: int = 30, nodes: int = 40) -> Task:
    """Draw a table in which most rows occur several times, in any order."""
    task = draw(tasks(wishes, rows=rows, nodes=nodes))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    times = rng.integers(1, draw(st.sampled_from([2, 4, 7])), task.case.rows)
    case = _taken(task.case, rng.permutation(np.repeat(np.arange(task.case.rows), times)).tolist())
    n = case.rows
    return replace(task, case=case, limit=draw(st.sampled_from([0, n // 12, n // 5, n // 2, n])))


def _taken(case: Case, rows: list[int]) -> Case:
    return replace(
        case,
        quasi={name: [cells[row] for row in rows] for name, cells in case.quasi.items()},
        samples={
            name: sample(data.kind, data.of(rows), data.context.parents)
            for name, data in case.samples.items()
        },
    )


# ---- what must be the same


def confirm(rows: LatticeProblem) -> None:
    """Both engines, all nodes, all measures, all searches."""
    for shuffled in (False, True):
        folded = Folded.of(rows, shuffled).ground
        assert (folded.rows, folded.entries) == (rows.rows, len(folded.quasi_levels[0].quasi.codes))
        for one, other in zip(engines(rows), engines(folded), strict=True):
            confirm_verdicts(rows, one(_ncp(rows)), other(_ncp(folded)))
            found = [
                find_minimal_nodes(g, NodeChecks(e(None), SearchBudget()))
                for g, e in ((rows, one), (folded, other))
            ]
            assert found[0] == found[1]
            for name, _ in measures():
                expected, told = _searched(rows, one, name), _searched(folded, other, name)
                confirm_found(expected, told, exactly=not shuffled)


def _ncp(ground: LatticeProblem) -> Prices:
    return Prices(ground.quasi_levels, NODE_MEASURES["ncp"].price)


def confirm_verdicts(rows: LatticeProblem, one: NodeChecker, other: NodeChecker) -> None:
    priced = {
        name: (measure, Prices(rows.quasi_levels, measure.price))
        for name, measure in NODE_MEASURES.items()
        if isinstance(measure, AttributeMeasure)
    }
    for node in np.ndindex(*rows.shape.dims):
        expected, told = one.check(node), other.check(node)
        confirm_verdict(expected, told, rows.limit)
        if expected.lost <= rows.limit:
            assert sorted(one.sizes(node).tolist()) == sorted(other.sizes(node).tolist())
            for _, prices in priced.values():
                assert other.price(node, prices).tolist() == near(one.price(node, prices).tolist())


def confirm_verdict(expected: NodeResult, told: NodeResult, limit: int) -> None:
    # Beyond the limit the work ends, wherever in the table it is.
    assert min(told.lost, limit + 1) == min(expected.lost, limit + 1)
    assert told[1:7] == expected[1:7]
    assert told.here.tolist() == near(expected.here.tolist())
    assert told.below.tolist() == near(expected.below.tolist())


def _searched(ground: LatticeProblem, engine: Any, name: str) -> list[SearchResult]:
    """By a list of nodes, and by boxes where these can be searched."""
    measure = dict(measures())[name]
    bounds = bounds_for(ground, measure)
    probe = NodeChecks(engine(bounds.prices), SearchBudget())
    if isinstance(bounds, NoBounds):
        bounds.engine = probe.engine
    found = [optimum(bounds, probe, 3)]
    if isinstance(measure, AttributeMeasure):
        boxes = BoxSearch(ground, measure)
        found.append(boxes.optimum(NodeChecks(engine(boxes.prices), SearchBudget()), 3))
    return found


def confirm_found(expected: list[SearchResult], told: list[SearchResult], exactly: bool) -> None:
    for one, other in zip(expected, told, strict=True):
        assert one.proven
        assert other.proven
        assert (one.node is None) == (other.node is None)
        if exactly:
            assert (one.node, one.score, one.bound) == (other.node, other.score, other.bound)
            assert [r[:2] for r in one.ranking] == [r[:2] for r in other.ranking]
        else:
            assert other.score == (inf if one.node is None else near(one.score))
            assert [r[0] for r in other.ranking] == near([r[0] for r in one.ranking])


@pytest.mark.parametrize("name", ASKED)
@settings(max_examples=max(EXAMPLES // 2, 1))
@given(data=st.data())
def test_searches(name: str, data: st.DataObject) -> None:
    confirm(data.draw(repeated(ASKED[name])).ground())


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_histograms_that_are_lists(data: st.DataObject) -> None:
    task = data.draw(repeated(LISTS["monotone ones"]))
    with mock.patch.object(kernel_judge, "_FEW", 0):
        confirm(task.ground())


@compiled_only
@pytest.mark.parametrize("few", [64, 0], ids=["lines", "lists"])
@pytest.mark.parametrize("wanted", WANTED, ids=" and ".join)
def test_many_rows_of_few_tuples(wanted: list[str], few: int) -> None:
    """With suppression and without, where most nodes are neither all good nor all bad."""
    small = random_task(40, 2, 5, wanted)
    rows = np.random.default_rng(5).integers(0, 40, 600).tolist()
    case = _taken(small.case, rows)
    with mock.patch.object(kernel_judge, "_FEW", few):
        for limit in (0, 120, 400):
            ground = Task(case, small.levels, limit).ground()
            assert Folded.of(ground).ground.entries <= 40
            confirm(ground)


# ---- what is published

LOCAL: dict[str, list[Wish]] = {
    "k-anonymity": [(None, "k-anonymity", {"k": 4})],
    "frequency and k": [("s", "frequency-l", {"l": 2}), (None, "k-anonymity", {"k": 3})],
    "t-closeness": [("s", "t-closeness", {})],
    "epsilon-m": [("s", "epsilon-m", {"m": 2})],
}


@pytest.mark.parametrize("few", [2_000, 0], ids=["plain", "compiled"])
@pytest.mark.parametrize("name", LOCAL)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_releases(name: str, few: int, data: st.DataObject) -> None:
    """The same rows are kept and grouped, in all rounds, and published alike."""
    rows = data.draw(repeated(LOCAL[name])).ground()
    folded = Folded.of(rows)
    how = SearchSettings(rounds=data.draw(st.sampled_from([0, 2])))
    with mock.patch.object(choosing, "_FEW_ROWS", few):
        one, other = _made(rows, how), _made(folded.ground, how)
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    assert folded.rows(other.suppressed) == one.suppressed.tolist()
    assert lattice_account(other) == lattice_account(one)
    for expected, told in zip(one.rounds, other.rounds, strict=True):
        assert told.node == expected.node
        assert folded.rows(told.entries) == expected.entries.tolist()
    slow, fast = LatticeRecoding(one), LatticeRecoding(other)
    place = np.searchsorted(fast.rows, folded.entry[slow.rows])  # among the entries that are kept
    assert fast.partition.count == slow.partition.count
    assert (fast.partition.labels[place] == slow.partition.labels).all()
    assert (other.partition().labels[place] == one.partition().labels).all()
    wide = slow.recoded(np.arange(len(slow.rows)))
    narrow = fast.recoded(place)
    assert narrow.losses == near(wide.losses)
    assert narrow.loss == near(wide.loss)
    for column, series in wide.columns.items():
        assert [s.to_list() for s in narrow.columns[column]] == [s.to_list() for s in series]
    for part in other.rounds:
        said = fast.labels(part)
        for quasi_level in folded.ground.quasi_levels:
            kept = np.searchsorted(fast.rows, part.entries)
            texts = fast.recoded(kept).columns[quasi_level.name][0].to_list()
            assert [
                said[quasi_level.name][c] for c in quasi_level.quasi.codes[part.entries]
            ] == texts


def _made(ground: LatticeProblem, how: SearchSettings) -> Generalization | None:
    try:
        return generalize(ground, how)
    except InfeasibleError:
        return None


@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_some_of_the_entries(data: st.DataObject) -> None:
    rows = data.draw(repeated([("s", "t-closeness", {}), (None, "k-anonymity", {})])).ground()
    folded = Folded.of(rows)
    some = np.arange(0, folded.ground.entries, 2)
    part, same = folded.ground.only(some), rows.only(np.array(folded.rows(some)))
    assert (part.rows, part.limit) == (same.rows, same.limit)
    for one, other in zip(part.quasi_levels, same.quasi_levels, strict=True):
        assert one.quasi.domain.histogram.tolist() == other.quasi.domain.histogram.tolist()
    for one, other in zip(engines(same), engines(part), strict=True):
        confirm_verdicts(same, one(_ncp(same)), other(_ncp(part)))


# ---- building and refusing


def test_a_limit_is_a_share_of_rows() -> None:
    quasi = _counted([6, 1, 1, 2])
    how = Transform(algorithm="lattice", suppression_limit=0.3)
    ground = lattice_problem([quasi.quasi], [_size(10, 2)], how, np.array([6, 1, 1, 2]))
    assert (ground.rows, ground.entries, ground.limit) == (10, 4, 3)
    (one,) = generalize(ground, SearchSettings("discernibility")).rounds
    assert (one.node, one.entries.tolist()) == ((0,), [0, 3])


def test_what_no_partition_satisfies_is_refused_with_a_witness() -> None:
    ground = LatticeProblem([_counted([6, 1])], [_size(7, 8)], 0, np.array([6, 1]))
    with pytest.raises(InfeasibleError, match="k-anonymity:k=8 needs 8 rows, the table has 7"):
        generalize(ground, SearchSettings())
    entries = sample("text", ["x", "y"]).column
    column = Column(entries.codes, replace(entries.domain, histogram=np.array([6, 1])))
    principle = parse("frequency-l:l=2")
    demand = Demand(principle, principle.bind(column.domain), column)
    ground = LatticeProblem([_counted([6, 1])], [demand], 0, np.array([6, 1]))
    with pytest.raises(InfeasibleError, match="6 of 7 rows share one value, more than 1/2"):
        generalize(ground, SearchSettings())


def test_weights_and_histograms_that_disagree() -> None:
    quasi_level, size = _counted([6, 1]), _size(7, 2)
    for weights in ([6, 1, 1], [6, 0], [7]):
        with pytest.raises(ValueError, match="a weight for each entry"):
            LatticeProblem([quasi_level], [size], 0, np.array(weights))
    with pytest.raises(ValueError, match="of a quasi-identifier does not count the rows"):
        LatticeProblem([quasi_level], [size], 0, np.array([6, 2]))
    entries = sample("text", ["x", "y"]).column
    principle = parse("distinct-l:l=2")
    demand = Demand(principle, principle.bind(entries.domain), entries)
    with pytest.raises(ValueError, match="of a sensitive attribute does not count the rows"):
        LatticeProblem([quasi_level], [demand], 0, np.array([6, 1]))


def test_more_rows_than_kernels_can_count() -> None:
    """Beyond 2^31 rows the rules are asked; squares are beyond 64 bits."""
    counts = [2**31, 3 * 2**31, 1]
    ground = LatticeProblem([_counted(counts)], [_size(sum(counts), 2)], 1, np.array(counts))
    engine = choosing.node_checker_for(ground, _ncp(ground), SearchSettings())
    assert isinstance(engine, PlainNodeChecker)
    verdict = engine.check((0,))
    assert (verdict.lost, verdict.suppressed, verdict.kept) == (1, 1, 2)
    assert verdict.squares == sum(n * n for n in counts)
    assert verdict.squares_kept == verdict.squares - 1
    assert verdict.apart == sum(counts) - 1
    fewer = [2**31 - 10, 8, 1]
    ground = LatticeProblem([_counted(fewer)], [_size(sum(fewer), 2)], 1, np.array(fewer))
    verdict = PlainNodeChecker(ground, None).check((0,))
    confirm_verdict(verdict, CompiledNodeChecker(ground, None, PLENTY).check((0,)), 1)
    assert verdict.squares == sum(n * n for n in fewer)


def _counted(counts: list[int]) -> QuasiLevels:
    """A quasi-identifier with an entry for each value."""
    values = [f"v{i}" for i in range(len(counts))]
    quasi = read_quasi(pl.Series("q", values), hierarchy=flat(values))
    domain = replace(quasi.domain, histogram=np.array(counts))
    return QuasiLevels.of(replace(quasi, domain=domain))


def _size(rows: int, k: int) -> Demand:
    principle: Principle = parse(f"k-anonymity:k={k}")
    return Demand(principle, principle.bind(Domain(name="rows", histogram=np.array([rows]))), None)
