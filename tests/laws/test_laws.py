"""The five laws, for every registered principle: a new one is tested by being registered.

1. A group that satisfies is feasible. 2. The union of two feasible groups is feasible. 3. Every
group that `finish` makes of a feasible one satisfies. 4. For a monotone principle unions of
satisfying groups satisfy, feasible is satisfies, and `finish` leaves the group whole. 5. The order
of the rows, and how a dataframe labels them, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.effort import examples
from tests.samples import Sample, bound, hierarchy, principles, samples
from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.principles import Principle, iterate, registry


@dataclass(frozen=True, kw_only=True)
class SizeCap(Principle):
    """A user's own: no group may have more than so many rows. Everything is feasible."""

    most: int = wb.parameter("the largest permitted group", kind="whole", low=1, stronger="lower")

    name: ClassVar[str] = "size-cap"
    title: ClassVar[str] = "size cap"
    reference: ClassVar[str] = "this test"
    protects: ClassVar[str] = "Nothing; it shows how to write a principle."
    does_not_protect: ClassVar[str] = "Anything."
    monotonicity: ClassVar[str] = "Not monotone: unions grow."
    example: ClassVar[str] = "size-cap:most=3"

    @property
    def monotone(self) -> bool:
        return False

    def bind(self, domain: Domain) -> wb.Rule:
        return _AtMost(self.most)


class _AtMost(wb.Rule):
    monotone = False

    def __init__(self, most: int) -> None:
        self.most = most

    def satisfies(self, groups: Groups) -> Bools:
        return groups.sizes <= self.most

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {"most": groups.sizes.astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        return f"{groups.sizes[group]} rows"

    def feasible(self, groups: Groups) -> Bools:
        return np.ones(len(groups), dtype=bool)

    def finish(self, codes: Ints, rng: np.random.Generator) -> Ints:
        return rng.permutation(len(codes)) // self.most


each = pytest.mark.parametrize("cls", [*iterate(), SizeCap], ids=lambda cls: cls.name)
laws = examples(200, 50)


@pytest.fixture
def registered() -> Iterator[None]:
    wb.register(SizeCap)
    yield
    registry().pop(SizeCap.name)  # type: ignore[attr-defined]


def draw_bound(cls: type[Principle], data: st.DataObject, **shape: int) -> tuple[Any, Any, Any]:
    """Draw a table, a principle, and its rule for the whole table."""
    table = data.draw(samples(cls, **shape))
    principle = data.draw(principles(cls, table))
    return table, principle, bound(principle, table)


def draw_people(table: Sample, data: st.DataObject) -> list[int]:
    """Draw how many people match each group; the table's own rows may be among them or not."""
    return [data.draw(st.integers(0, 2 * len(part))) for part in table.parts]


def united(table: Sample, people: list[int]) -> Groups:
    """Return the union of all groups. Their populations unite too."""
    return table.groups([[row for part in table.parts for row in part]], [sum(people)])


@each
@laws
@given(data=st.data())
def test_1_satisfying_is_feasible(cls: type[Principle], data: st.DataObject) -> None:
    table, _, rule = draw_bound(cls, data, rows=14)
    groups = table.groups(table.parts, draw_people(table, data))
    satisfied, feasible = rule.satisfies(groups), rule.feasible(groups)
    assert satisfied.dtype == feasible.dtype == bool
    assert satisfied.shape == feasible.shape == (len(table.parts),)
    assert not (satisfied & ~feasible).any()


@each
@laws
@given(data=st.data())
def test_2_feasible_groups_unite(cls: type[Principle], data: st.DataObject) -> None:
    """At most ten rows together: up to there feasibility is exact even where it is NP-hard."""
    table, _, rule = draw_bound(cls, data, rows=10, groups=2)
    people = draw_people(table, data)
    if rule.feasible(table.groups(table.parts, people)).all():
        assert rule.feasible(united(table, people))[0]


@each
@laws
@given(data=st.data())
def test_3_finish_makes_groups_that_satisfy(cls: type[Principle], data: st.DataObject) -> None:
    table, _, rule = draw_bound(cls, data, rows=14, groups=1)
    people = draw_people(table, data)
    feasible = rule.feasible(table.groups(table.parts, people))[0]
    if not feasible:
        return
    codes = table.column.codes.astype(np.int64)
    labels = rule.finish(codes, np.random.default_rng(data.draw(st.integers(0, 3))))
    assert labels.shape == codes.shape
    parts = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    # A group that stays whole keeps its population; only monotone principles ask for one.
    made = table.groups(parts, people if len(parts) == 1 else None)
    assert rule.satisfies(made).all()


@each
@laws
@given(data=st.data())
def test_4_monotone(cls: type[Principle], data: st.DataObject) -> None:
    table, principle, rule = draw_bound(cls, data, rows=12, groups=2)
    assert principle.monotone == rule.monotone
    if not principle.monotone:
        return
    people = draw_people(table, data)
    groups = table.groups(table.parts, people)
    satisfied = rule.satisfies(groups)
    assert rule.feasible(groups).tolist() == satisfied.tolist()
    codes = table.column.codes.astype(np.int64)
    assert not rule.finish(codes, np.random.default_rng(0)).any()
    if satisfied.all():
        assert rule.satisfies(united(table, people))[0]


def frame(table: Sample, data: st.DataObject) -> tuple[dict[str, list[Any]], list[str], list[Any]]:
    """Return the columns of a table, its sensitive attributes, and its groups' labels."""
    first = data.draw(st.sampled_from(["x", "y"]))  # some row must have a quasi-identifier
    label = [first, *data.draw(st.permutations(["z", None]))]
    owner = {row: label[g] for g, part in enumerate(table.parts) for row in part}
    quasi = [owner[row] for row in range(len(table.values))]
    if table.kind == "several":
        cells = dict(
            zip(("s1", "s2", "s3"), map(list, zip(*table.values, strict=True)), strict=False)
        )
    else:
        cells = {"s": [list(v) if isinstance(v, tuple) else v for v in table.values]}
    return {"q": quasi, **cells}, list(cells), label


@each
@examples(200, 25)  # whole checks, two of each example
@given(data=st.data())
def test_5_row_order_is_irrelevant(cls: type[Principle], data: st.DataObject) -> None:
    table, principle, _ = draw_bound(cls, data)
    columns, sensitive, labels = frame(table, data)
    population = [q for q in labels for _ in range(data.draw(st.integers(0, 3)))] or ["y"]
    rows = len(table.values)

    def checked(make: Any, order: list[int], people: list[Any], index: Any = None) -> Any:
        shuffled = {name: [cells[row] for row in order] for name, cells in columns.items()}
        extra = {} if index is None else {"index": index}
        result = wb.check(
            make(shuffled, **extra),
            quasi="q",
            sensitive=sensitive,
            principles=principle,
            population=make({"q": people}) if cls.needs == "population" else None,
            hierarchies={"s": hierarchy(table.context.parents)} if table.context.parents else None,
        )
        told = result.to_dict()
        # Whether the last row looks like a footnote is a remark on the order itself.
        told["notes"] = [note for note in told["notes"] if not note.startswith("the last row")]
        return told

    order = data.draw(st.permutations(range(rows)))
    people = data.draw(st.permutations(population))
    index = data.draw(
        st.one_of(
            st.permutations(range(rows)), st.lists(st.integers(0, 2), min_size=rows, max_size=rows)
        )
    )
    make = data.draw(st.sampled_from([pl.DataFrame, pd.DataFrame]))
    before = checked(make, list(range(rows)), population)
    assert before == checked(make, order, people, index if make is pd.DataFrame else None)
    assert before["rows"] == rows


@each
@laws
@given(data=st.data())
def test_6_upward(cls: type[Principle], data: st.DataObject) -> None:
    """What satisfies still does with any rows added, if the rule says so."""
    table, _, rule = draw_bound(cls, data, rows=12, groups=2)
    if not rule.upward:
        return
    assert rule.monotone
    people = draw_people(table, data)
    if rule.satisfies(table.groups(table.parts, people)).any():
        assert rule.satisfies(united(table, people))[0]


def test_a_users_principle_is_known_by_name(registered: None) -> None:
    """Registered, it is listed, parsed, checked and reported like any other."""
    assert SizeCap in list(iterate())
    table = pl.DataFrame({"q": [1, 1, 1, 2], "s": ["a", "b", "c", "a"]})
    result = wb.check(
        table, quasi="q", sensitive="s", principles=["size-cap:most=2", "k-anonymity:k=1"]
    )
    report = result.principles[0]
    assert (result.satisfied, report.satisfied, report.achieved) == (False, False, {"most": 3.0})
    assert (report.violating_groups, report.violating_rows) == (1, 3)
    assert report.worst[0].to_dict(show_rows=True) == {
        "number": 1,
        "group": {"q": 1},
        "rows": 3,
        "satisfied": False,
        "achieved": {"most": 3},
        "reason": "3 rows",
    }
    assert wb.check(table, quasi="q", sensitive="s", principles="size-cap:most=3").satisfied


def test_a_users_principle_keeps_its_range_and_its_name(registered: None) -> None:
    table = pl.DataFrame({"q": [1], "s": ["a"]})
    with pytest.raises(wb.ParameterError, match="most must be a whole number from 1"):
        wb.check(table, quasi="q", sensitive="s", principles="size-cap:most=0")
    with pytest.raises(ValueError, match="registered already"):
        wb.register(type("Other", (SizeCap,), {}))


def test_a_cell_of_a_notebook_can_run_again(registered: None) -> None:
    again = type("SizeCap", (SizeCap,), {"__module__": SizeCap.__module__, "title": "newer"})
    assert wb.register(again) is again
    assert registry()["size-cap"] is again
    with pytest.raises(
        ValueError, match=r"by wideberth\.principles\.size: give yours another name"
    ):
        wb.register(type("Mine", (SizeCap,), {"name": "k-anonymity"}))


def test_what_is_taken_back_is_unknown_again() -> None:
    assert SizeCap.name not in registry()
    with pytest.raises(wb.ParameterError, match="no principle 'size-cap'"):
        wb.check(pl.DataFrame({"q": [1]}), quasi="q", principles="size-cap:most=2")
