"""What `anonymize` publishes, judged from the published values alone by the slow twins.

And what it refuses, for small tables against all partitions there are. Every principle is tested
by being registered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.cases import LISTS, Case, Wish, cases, climbing, wish
from tests.effort import examples
from tests.laws.test_laws import SizeCap
from tests.samples import expected, hierarchy
from wideberth.algorithms.mondrian import assignment, split
from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats
from wideberth.core.groups import Groups
from wideberth.policy.settings import CUTS, MEASURES
from wideberth.principles import Principle, iterate

ROW = "row"  # an insensitive column that tells which row is which
FEW = 7  # rows of which all partitions are tried


@dataclass(frozen=True, kw_only=True)
class MajorityFree(Principle):
    """A user's own: no sensitive value is held by more than half of a group."""

    name: ClassVar[str] = "majority-free"
    title: ClassVar[str] = "majority-freeness"
    example: ClassVar[str] = "majority-free"
    reference: ClassVar[str] = "an example"
    protects: ClassVar[str] = "Guessing right more often than not."
    does_not_protect: ClassVar[str] = "Anything finer."
    monotonicity: ClassVar[str] = "Monotone: largest counts are subadditive."

    def bind(self, domain: Domain) -> wb.Rule:
        return _MajorityFree()


class _MajorityFree(wb.Rule):
    def satisfies(self, groups: Groups) -> Bools:
        return 2 * groups.largest <= groups.sizes

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {}

    def reason(self, groups: Groups, group: int) -> str:
        return f"one value holds {groups.largest[group]} of {groups.sizes[group]} rows"


MADE = [cls for cls in iterate() if cls.needs != "population"]
SINGLE: list[type[Principle]] = [*MADE, SizeCap, MajorityFree]
OWN: dict[str, list[Wish]] = {
    "majority-free and k": [("s", MajorityFree, {}), (None, "k-anonymity", {})],
    "majority-free and epsilon-m": [("t", MajorityFree, {}), ("s", "epsilon-m", {"m": 2})],
    "size-cap and distinct": [("s", SizeCap, {"most": 4}), ("s", "distinct-l", {"l": 2})],
}
OTHERS: dict[str, list[Wish]] = {
    "dissimilarity and k": [("s", "dissimilarity", {}), (None, "k-anonymity", {})],
    "dissimilarity and distinct": [("s", "dissimilarity", {}), ("t", "distinct-l", {"l": 2})],
    "several and entropy": [("s", "multi-attribute-l", {}), ("t", "entropy-l", {})],
}
EVERY = {**LISTS, **OTHERS, **OWN}
each = pytest.mark.parametrize("cls", SINGLE, ids=lambda cls: cls.name)
each_list = pytest.mark.parametrize("name", EVERY)


def twin(principle: Principle, group: Sequence[Any], context: naive.Context) -> bool:
    """The verdict of the slow twin; users' principles have theirs here."""
    if isinstance(principle, SizeCap):
        return len(group) <= principle.most
    if isinstance(principle, MajorityFree):
        return max(map(list(group).count, group)) * 2 <= len(group)
    return expected(principle, group, context)


# ---- making releases


def frame_of(case: Case) -> pl.DataFrame:
    quasi = {name: pl.Series(name, cells) for name, cells in case.quasi.items()}
    return pl.DataFrame({**quasi, **case.cells(), ROW: np.arange(case.rows)})


def made(case: Case, frame: pl.DataFrame | None = None, **how: Any) -> wb.Release:
    """Anonymize a case as a user would."""
    trees = {name: data.context.parents for name, data in case.samples.items()}
    trees = {**case.trees, **{name: parents for name, parents in trees.items() if parents}}
    return wb.anonymize(
        frame_of(case) if frame is None else frame,
        quasi=[*case.quasi],
        sensitive=[*case.cells()],
        insensitive=ROW,
        principles=case.wanted,
        hierarchies={name: hierarchy(parents) for name, parents in trees.items()},
        weights=case.weights,
        seed=how.pop("seed", 1),
        trials=False,
        **how,
    )


@contextmanager
def either_engine(compiled: bool) -> Iterator[None]:
    """Choose the engine for small tables, which else depends on what was compiled before."""
    with mock.patch.object(split, "missing", return_value=[] if compiled else ["_hands"]):
        yield


# ---- reading them


def published(table: pl.DataFrame, case: Case, principle: Principle) -> list[Any]:
    """The values of the attribute that a principle is on, row by row, as plain values."""
    on = principle.on
    if on is None:
        return [None] * table.height
    if not isinstance(on, str):
        return table.select(on).rows()
    return [tuple(v) if isinstance(v, list) else v for v in table[on].to_list()]


def groups_of(table: pl.DataFrame, case: Case) -> list[list[int]]:
    """The rows of every group: by id if ids are published, else by equal published values."""
    by = ["group"] if "group" in table.columns else [*case.quasi]
    found = defaultdict(list)
    for row, key in enumerate(table.select(by).rows()):
        found[key].append(row)
    return list(found.values())


def context_of(case: Case, principle: Principle, values: Sequence[Any]) -> naive.Context:
    data = case.samples.get(principle.on) if isinstance(principle.on, str) else None
    return naive.Context(tuple(values), data.context.parents if data else None)


def covered(said: str | None, value: Any, parents: dict[str, str | None] | None) -> bool:
    """Whether a published text covers a value, as its reader would understand it."""
    if value is None or said is None:
        return said is None or said.endswith(" or missing")
    said = said.removesuffix(" or missing")
    if parents:
        return said in naive.ancestry(str(value), parents)
    if isinstance(value, str):
        return value in said.strip("{}").split("|")
    read: Callable[[Any], Any] = date.fromisoformat if isinstance(value, date) else Fraction
    low, _, high = said.partition("..")
    return read(low) <= read(str(value)) <= read(high or low)


def confirm(
    case: Case, release: wb.Release, suppressed: int = 0, reference: pl.DataFrame | None = None
) -> None:
    """Nothing is lost, everything is covered, and every group keeps every principle.

    The distribution that groups are compared with is the reference's, if there is one.
    """
    table = release.table
    rows = table[ROW].to_list()
    assert len(set(rows)) == len(rows) == case.rows - suppressed
    original = frame_of(case)[rows]
    for name in case.cells():
        assert table[name].equals(original[name])
    for name in case.quasi:
        said, values = table[name].cast(pl.String).to_list(), original[name].to_list()
        parents = case.trees.get(name)
        assert all(covered(s, v, parents) for s, v in zip(said, values, strict=True)), name
    intricate = not all(principle.monotone for principle in case.wanted)
    assert ("group" in table.columns) == intricate
    groups = groups_of(table, case)
    for principle in case.wanted:
        values = published(table, case, principle)
        whole = values if reference is None else published(reference, case, principle)
        context = context_of(case, principle, whole)
        for group in groups:
            assert twin(principle, [values[row] for row in group], context), principle


def refused(case: Case, error: wb.InfeasibleError) -> None:
    """A refusal is right: no partition at all satisfies, unless it says that none was found."""
    intricate = [principle for principle in case.wanted if not principle.monotone]
    if "no way was found" in error.what:
        assert intricate
        assert len(case.wanted) > 1
        assert case.rows > FEW  # of few rows, all partitions are tried
        assert error.outcome == "not found"
        return
    if case.rows <= FEW:
        assert not possible(case)
    assert error.hint


def possible(case: Case) -> bool:
    """Whether any partition satisfies all principles."""
    table = frame_of(case)
    columns = [(p, published(table, case, p)) for p in case.wanted]
    contexts = [context_of(case, p, values) for p, values in columns]

    def good(part: Sequence[int]) -> bool:
        return all(
            twin(p, [values[row] for row in part], context)
            for (p, values), context in zip(columns, contexts, strict=True)
        )

    return naive.feasible(range(case.rows), good)


def judge(case: Case, **how: Any) -> wb.Release | None:
    """Make a release and confirm it, or confirm that there is none."""
    try:
        release = made(case, **how)
    except wb.InfeasibleError as error:
        refused(case, error)
        return None
    confirm(case, release)
    assert release.check().satisfied
    return release


# ---- the laws of releases


def draw_case(data: st.DataObject, wishes: list[Wish]) -> Case:
    """Draw few rows as often as many: refusals are checked against all partitions of the few."""
    return data.draw(cases(wishes, rows=data.draw(st.sampled_from([FEW, 18]))))


@each
@examples(12, 6)
@given(data=st.data())
def test_one_principle(cls: type[Principle], data: st.DataObject) -> None:
    case = draw_case(data, wish(cls))
    with either_engine(data.draw(st.booleans())):
        judge(case, cuts=data.draw(st.sampled_from(CUTS)))


@each_list
@examples(8, 4)
@given(data=st.data())
def test_lists(name: str, data: st.DataObject) -> None:
    case = draw_case(data, EVERY[name])
    with either_engine(data.draw(st.booleans())):
        judge(case, cuts=data.draw(st.sampled_from(CUTS)))


@pytest.mark.parametrize("cuts", CUTS)
@examples(8, 4)
@given(data=st.data())
def test_larger_tables(cuts: str, data: st.DataObject) -> None:
    case = data.draw(cases(EVERY[data.draw(st.sampled_from([*LISTS]))], rows=60))
    with either_engine(True):
        judge(case, cuts=cuts)


@each
@examples(4, 3)
@given(data=st.data())
def test_the_order_of_rows_decides_nothing(cls: type[Principle], data: st.DataObject) -> None:
    case = draw_case(data, wish(cls))
    seed = data.draw(st.integers(0, 99))
    outcomes = []
    for order in (np.arange(case.rows), np.random.default_rng(seed).permutation(case.rows)):
        try:
            made(case, frame_of(case)[order], cuts="paper")
            outcomes.append(True)
        except wb.InfeasibleError:
            outcomes.append(False)
    assert outcomes[0] == outcomes[1]
    if case.rows <= FEW:
        assert outcomes[0] == possible(case)


@pytest.mark.parametrize("name", [*EVERY, *(cls.name for cls in SINGLE)])
@examples(8, 4)
@given(data=st.data())
def test_the_lattice(name: str, data: st.DataObject) -> None:
    """One level for all, with suppression and local rounds; or a refusal that is right."""
    wishes = EVERY[name] if name in EVERY else wish(next(c for c in SINGLE if c.name == name))
    case = data.draw(climbing(wishes, rows=data.draw(st.sampled_from([FEW, 18]))))
    limit = data.draw(st.sampled_from([0.0, 0.2, 1.0]))
    rounds = data.draw(st.sampled_from([0, 0, 2]))
    measure = data.draw(st.sampled_from([*MEASURES]))
    how = {"algorithm": "lattice", "suppression_limit": limit, "local_rounds": rounds}
    try:
        release = made(case, measure=measure, **how)
    except wb.InfeasibleError as error:
        if not limit and all(principle.monotone for principle in case.wanted):
            refused(case, error)
        return
    suppressed = release.manifest["suppressed"]["rows"]
    assert suppressed <= limit * case.rows
    confirm(case, release, suppressed, frame_of(case))
    assert release.check().satisfied
    told = release.manifest["lattice"]["rounds"]
    assert 1 <= len(told) <= 1 + rounds
    if len(told) == 1:
        original = frame_of(case)[release.table[ROW].to_list()]
        for column in case.quasi:  # equal values are published alike
            pairs = set(zip(original[column].to_list(), release.table[column], strict=True))
            assert len(pairs) == original[column].n_unique()


def test_lists_of_monotone_principles_are_refused_exactly() -> None:
    """Each by itself is possible, so all are: a monotone one is, if the whole table satisfies."""
    frame = pl.DataFrame({"age": range(6), "pay": [1, 1, 2, 2, 9, 9]})
    how = {"quasi": "age", "sensitive": "pay"}
    wb.anonymize(frame, principles=["distinct-l:l=3", "k-e:k=2,e=8", "k-anonymity:k=6"], **how)
    with pytest.raises(wb.InfeasibleError, match="pay"):
        wb.anonymize(frame, principles=["distinct-l:l=3", "k-e:k=2,e=9"], **how)


def test_what_is_impossible_is_called_so() -> None:
    frame = pl.DataFrame({"age": range(4), "pay": [40, 60, 50, 80]})
    for compiled in (False, True):
        with (
            either_engine(compiled),
            pytest.raises(wb.InfeasibleError, match="and k-anonymity:k=3 are impossible") as error,
        ):
            wb.anonymize(
                frame,
                quasi="age",
                sensitive="pay",
                principles=["epsilon-m:epsilon=15,m=2", "k-anonymity:k=3"],
            )
        assert error.value.outcome == "impossible"
        assert error.value.witness.startswith("one row is near 2 others")
        assert "weaken one of them" in error.value.hint


def test_a_required_value_that_is_too_rare() -> None:
    frame = pl.DataFrame({"age": range(3), "disease": ["x", "y", "y"]})
    with pytest.raises(wb.InfeasibleError, match="the rarest required value 1 times"):
        wb.anonymize(
            frame,
            quasi="age",
            sensitive="disease",
            principles="recursive-cl:c=2,l=1,required=x,c2=50",
        )


def test_attributes_that_tell_each_other() -> None:
    frame = pl.DataFrame({"age": [0, 1], "s": ["x", "x"], "t": ["y", "y"]})
    with pytest.raises(wb.InfeasibleError, match="sensitive attribute 1, 2 is not diverse"):
        wb.anonymize(
            frame,
            quasi="age",
            sensitive=["s", "t"],
            principles="multi-attribute-l:l=3,form=recursive,c=2",
        )


def test_trees_beside_the_values_on_them() -> None:
    """l-e looks at classes of values, distinct-l at the values: one must not see the other's."""
    parents = {"r": None, "x": "r", "y": "r", **{f"{p}{i}": p for p in "xy" for i in range(3)}}
    frame = pl.DataFrame({"age": range(4), "disease": ["x0", "x1", "x2", "y0"]})
    for compiled in (False, True):
        with either_engine(compiled), pytest.raises(wb.InfeasibleError):
            wb.anonymize(
                frame,
                quasi="age",
                sensitive="disease",
                principles=["l-e:l=1,e=1", "distinct-l:l=3"],
                hierarchies={"disease": hierarchy(parents)},
            )


def test_presence_is_checked_not_made() -> None:
    frame = pl.DataFrame({"age": [1, 2]})
    with pytest.raises(wb.ParameterError, match="cannot be made, only checked") as error:
        wb.anonymize(frame, quasi="age", principles="delta-presence:delta_max=0.5")
    assert "check the release against a population" in error.value.hint


# ---- dealing by matching

INTRICATE: dict[str, list[Wish]] = {
    "epsilon-m": [("s", "epsilon-m", {})],
    "m-uniqueness": [("s", "m-uniqueness", {})],
    "l-e": [("s", "l-e", {})],
    "dissimilarity": [("s", "dissimilarity", {})],
    "literal": [("s", "delta-l", {"variant": "literal"})],
    "size-cap": [("s", SizeCap, {})],
    **{name: EVERY[name] for name in EVERY if "epsilon-m" in name or "l-e" in name},
}


def matched(case: Case, cuts: str) -> wb.Release | None:
    """Deal by matching, unless rows are dealt by who is near whom: that is refused."""
    try:
        return judge(case, cuts=cuts, dealing="matching")
    except wb.ParameterError as error:
        near = {p.name for p in case.wanted} & {"dissimilarity", "delta-l", "l-e"}
        if not near or "matching needs values on a line" not in str(error):
            raise
        return None


@pytest.mark.parametrize("name", INTRICATE)
@examples(4, 3)
@given(data=st.data())
def test_matching(name: str, data: st.DataObject) -> None:
    case = draw_case(data, INTRICATE[name])
    cuts = data.draw(st.sampled_from(CUTS))
    with (
        mock.patch.object(assignment, "_SWAPS", 10),
        pytest.warns(wb.PrivacyWarning, match="dealing by matching"),
    ):
        release = matched(case, cuts)
    if release is not None:
        audit = release.manifest["swap_audit"]
        assert 0 <= audit["unchanged"] <= 1
        assert 0 <= audit["swaps"] <= 10
        assert judge(case, cuts=cuts).manifest["swap_audit"] is None


def test_matching_where_ranks_do_not_decide() -> None:
    """Dissimilar groups are searched for, in no order of values that stripes could be cut from."""
    frame = pl.DataFrame({"age": [1] * 6, "pay": [0, 0, 1, 2, 2, 3]})
    with (
        pytest.warns(wb.PrivacyWarning),
        pytest.raises(wb.ParameterError, match="matching needs values on a line"),
    ):
        wb.anonymize(
            frame,
            quasi="age",
            sensitive="pay",
            principles="dissimilarity:epsilon=1,delta=0.6,k=2",
            dealing="matching",
            seed=1,
        )


def test_matching_what_needs_no_dealing() -> None:
    frame = pl.DataFrame({"age": range(6), "pay": [1, 1, 2, 2, 9, 9]})
    with pytest.warns(wb.PrivacyWarning, match="dealing by matching"):
        release = wb.anonymize(
            frame, quasi="age", sensitive="pay", principles="distinct-l:l=2", dealing="matching"
        )
    assert release.manifest["swap_audit"] is None


def test_dealing_by_rank_withstands_every_swap() -> None:
    """Put to the audit that matching is put to, dealing by rank never changes a group."""
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"age": rng.integers(0, 50, 80), "pay": rng.integers(0, 400, 80)})

    def by_rank(task: Any, judge: Any, ranks: Any, places: Any, hands: int) -> Any:
        return np.arange(len(ranks)) % hands

    how = {"quasi": "age", "sensitive": "pay", "principles": "epsilon-m:epsilon=20,m=3"}
    shares = []
    for deal in (by_rank, assignment._deal):
        with (
            mock.patch.object(assignment, "_deal", deal),
            mock.patch.object(assignment, "_SWAPS", 100),
            pytest.warns(wb.PrivacyWarning),
        ):
            release = wb.anonymize(frame, dealing="matching", seed=3, **how)
        shares.append(release.manifest["swap_audit"]["unchanged"])
    assert shares[0] == 1 > shares[1]


# ---- suppression


@pytest.mark.parametrize("name", EVERY)
@examples(5, 3)
@given(data=st.data())
def test_suppression(name: str, data: st.DataObject) -> None:
    case = draw_case(data, EVERY[name])
    limit = data.draw(st.sampled_from([0.2, 0.5, 1.0]))
    try:
        release = made(case, suppression_limit=limit)
    except wb.InfeasibleError:
        return
    lost = case.rows - release.table.height
    assert lost <= limit * case.rows
    assert release.manifest["suppressed"]["rows"] == lost
    confirm(case, release, lost)
    if lost:  # nothing is left out of a table that can be published whole
        with pytest.raises(wb.InfeasibleError):
            made(case)
