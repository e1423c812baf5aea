"""Groups of rows that are far apart on a tree whose values lie at unequal depth."""

from __future__ import annotations

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.effort import examples
from tests.samples import Sample, bound, hierarchy, sample
from wideberth import distances
from wideberth.core.exact import Ints, fraction
from wideberth.errors import InfeasibleError
from wideberth.principles.partition import tree_conflicts
from wideberth.principles.partition.tree_conflicts import (
    ScatterResult,
    TreeConflicts,
    group_dissimilar,
)

REACHES = (0, 0.3, 0.5, 1, 1.5, 1.7, 2, 2.5, 3, 3.5, 9)

#: d(a, b) = d(b, c) = 2, but d(a, c) = 3.
PATH = {"R": None, "b": "R", "X": "R", "X1": "X", "a": "X1", "Y": "R", "Y1": "Y", "c": "Y1"}

#: The hub is 2 from each of a, c and d, which are 3 apart.
STAR = {**PATH, "Z": "R", "Z1": "Z", "d": "Z1"}


@dataclass(frozen=True)
class Case:
    """Rows with values on a tree, how near is too near, and how many rows a group must have."""

    parents: dict[str, str | None]
    values: list[str | None]
    e: float
    smallest: int

    @property
    def table(self) -> Sample:
        return sample("unbalanced", self.values, self.parents)

    @property
    def codes(self) -> Ints:
        return self.table.column.codes.astype(np.int64)

    @property
    def near(self) -> distances.TreeSimilarity:
        near = distances.similarity(self.table.column.domain, "tree", fraction(self.e))
        assert isinstance(near, distances.TreeSimilarity)
        return near

    def conflicts(self) -> TreeConflicts:
        return TreeConflicts(self.near, self.codes)

    def scatter(
        self, seed: int = 0, ways: Sequence[str] = tree_conflicts.SEARCH_METHODS
    ) -> ScatterResult:
        rng = np.random.default_rng(seed)
        return group_dissimilar(self.codes, self.near, self.smallest, rng, ways)

    def alike(self) -> Callable[[str | None, str | None], bool]:
        """Whether two values are similar, by the book."""
        context = naive.Context(tuple(self.values), self.parents)
        return cache(lambda a, b: naive.similar(a, b, context, "tree", self.e))

    def similar(self) -> list[list[bool]]:
        """Who is similar to whom, row by row."""
        alike = self.alike()
        return [[alike(a, b) for b in self.values] for a in self.values]


# ---- random cases


@st.composite
def cases(draw: st.DrawFn, rows: int, least: int = 1) -> Case:
    """Draw a tree, a few of its nodes as values, and rows with them."""
    parents: dict[str, str | None] = {"n0": None}
    for i in range(1, draw(st.integers(3, 14))):
        parents[f"n{i}"] = f"n{draw(st.integers(0, i - 1))}"
    pool: list[str | None] = [*parents]
    if draw(st.booleans()):
        pool = [node for node in parents if node not in parents.values()]
    if draw(st.integers(0, 3)) == 0:
        pool.append(None)
    values = draw(st.lists(st.sampled_from(pool), min_size=least, max_size=rows))
    return Case(parents, values, draw(st.sampled_from(REACHES)), draw(st.integers(1, 5)))


def grown(rng: np.random.Generator, nodes: int) -> dict[str, str | None]:
    """Grow a tree: legs of unequal length below the root, or bushy, or with long branches."""
    shape = int(rng.integers(4))
    parents: dict[str, str | None] = {"n0": None}
    for i in range(1, nodes):
        leg = 0 if rng.random() < 0.4 else i - 1
        branch = int(rng.integers(max(0, i - (nodes, 2, 4)[shape % 3]), i))
        parents[f"n{i}"] = f"n{branch if shape < 3 and i % 5 else leg}"
    return parents


def random_case(seed: int, least: int, most: int) -> Case:
    """Make up a case; which one follows from the seed.

    e is a distance that occurs, though not one of the longest, or a little less or more.
    """
    rng = np.random.default_rng(seed)
    parents = grown(rng, int(rng.integers(8, 24)))
    leaves = [node for node in parents if node not in parents.values()]
    pool: list[str | None] = leaves if rng.random() < 0.5 else [*parents]
    if rng.random() < 0.2:
        pool = [*pool, None]
    popular = rng.dirichlet(np.full(len(pool), rng.choice([1, 3, 30])))
    drawn = rng.choice(len(pool), size=int(rng.integers(least, most + 1)), p=popular)
    values = [pool[i] for i in drawn.tolist()]
    pairs = combinations([v for v in values if v is not None], 2)
    between = sorted(naive.tree_distance(a, b, parents) for a, b in pairs if a != b)
    e = float(between[int(len(between) * 0.6 * rng.random())]) if between else 0.5
    e = round(max(e + float(rng.choice([0, 0, -0.2, 0.3])), 0), 1)
    return Case(parents, values, e, int(rng.choice([1, 2, 2, 2, 3, 3, 3, 4, 5])))


# ---- twins


def fewest_left_out(similar: Sequence[Sequence[bool]], smallest: int) -> int:
    """Put each row into one of the groups so far, into a new one, or into none: all ways."""
    groups: list[list[int]] = []

    def fewest(row: int, out: int) -> int:
        if row == len(similar):
            return out if all(len(g) >= smallest for g in groups) else len(similar)
        best = fewest(row + 1, out + 1)
        for group in groups:
            if not any(similar[row][other] for other in group):
                group.append(row)
                best = min(best, fewest(row + 1, out))
                group.pop()
        groups.append([row])
        best = min(best, fewest(row + 1, out))
        groups.pop()
        return best

    return fewest(0, 0)


def solved_row_by_row(similar: Sequence[Sequence[bool]], smallest: int) -> int:
    """The fewest rows left out, by a solver that knows nothing of trees, classes or cliques."""
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    rows, hands = range(len(similar)), range(len(similar) // smallest)
    into = [[model.new_bool_var("") for _ in hands] for _ in rows]
    used = [model.new_bool_var("") for _ in hands]
    for row in rows:
        model.add_at_most_one(into[row])
        for hand in hands:
            model.add_implication(into[row][hand], used[hand])
            if hand > row:  # groups have no order: a row needs no more groups than came before it
                model.add(into[row][hand] == 0)
    for hand in hands:
        model.add(sum(into[row][hand] for row in rows) >= smallest * used[hand])
        for a, b in combinations(rows, 2):
            if similar[a][b]:
                model.add_bool_or(~into[a][hand], ~into[b][hand])
    model.maximize(sum(cell for row in into for cell in row))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return len(similar) - round(solver.objective_value)


def fullest_of(similar: Sequence[Sequence[bool]]) -> list[int]:
    """The most mutually similar rows of every set of rows; a set is the bits of its place."""
    fullest = [0]
    for rows in range(1, 2 ** len(similar)):
        inside = [row for row in range(len(similar)) if rows >> row & 1]
        if all(similar[a][b] for a, b in combinations(inside, 2)):
            fullest.append(len(inside))
        else:
            fullest.append(max(fullest[rows ^ 1 << row] for row in inside))
    return fullest


def check_sound(found: ScatterResult, case: Case) -> None:
    """Every group has l rows or more, none of them similar, and groups are numbered from 0."""
    labels, alike = found.labels.tolist(), case.alike()
    groups: dict[int, list[str | None]] = {}
    for label, value in zip(labels, case.values, strict=True):
        groups.setdefault(label, []).append(value)
    assert found.left_out == len(groups.pop(-1, []))
    assert sorted(groups) == list(range(len(groups)))
    for group in groups.values():
        assert len(group) >= case.smallest
        assert not any(alike(a, b) for a, b in combinations(group, 2))
    assert 0 <= found.at_least <= found.left_out
    assert found.how in tree_conflicts.SEARCH_METHODS


# ---- conflicts


@examples(200, 50)
@given(cases(10))
@example(Case(PATH, ["R", "X", "a", "a", None, "b", None, "Y1"], 1, 2))
def test_similar_classes_are_those_at_distance_e_or_less(case: Case) -> None:
    """Inner nodes, equal values and missing ones included."""
    conflicts, tree = case.conflicts(), hierarchy(case.parents)
    member = conflicts.member.tolist()
    assert [member.count(v) for v in range(len(conflicts.count))] == conflicts.count.tolist()
    for one, a in enumerate(case.values):
        row = conflicts.similar[member[one]].tolist()
        assert row == sorted(set(row))
        for other, b in enumerate(case.values):
            near = (
                a is b if a is None or b is None else tree.distance(a, b) <= Fraction(str(case.e))
            )
            assert (member[other] in row) == near


@examples(150, 37)
@given(cases(10))
@example(Case(STAR, ["X", "X1", "a", "b", "R", "Y", "Z"], 1, 2))
def test_a_class_holds_twins_only(case: Case) -> None:
    """Rows of a class are similar to each other and to the same rows; equal ones share it."""
    member, similar = case.conflicts().member.tolist(), case.similar()
    for one, other in combinations(range(len(member)), 2):
        if member[one] == member[other]:
            assert similar[one] == similar[other]
            assert similar[one][other]
        assert member[one] == member[other] or case.values[one] != case.values[other]


def test_leaves_below_one_node_are_one_class_where_similarity_reaches_two_steps() -> None:
    parents = {"R": None, "x": "R", "x1": "x", "x2": "x", "y": "R"}
    for e, classes in ((0, 3), (0.5, 3), (1, 2), (1.5, 2)):
        assert len(Case(parents, ["x1", "x2", "x2", "y"], e, 2).conflicts().count) == classes
    # With a value below it, x is similar to others than y is.
    assert len(Case(parents, ["x", "x1", "y"], 1, 2).conflicts().count) == 3
    assert len(Case(parents, ["x", "y"], 1, 2).conflicts().count) == 1


@examples(120, 30)
@given(cases(9))
def test_classes_no_deeper_are_a_clique_and_the_fullest_is_among_them(case: Case) -> None:
    conflicts = case.conflicts()
    for clique in conflicts.shallower:
        for a, b in combinations(clique.tolist(), 2):
            assert b in conflicts.similar[a]
    assert conflicts.fullest == fullest_of(case.similar())[-1]


@examples(120, 30)
@given(cases(9))
@example(Case(STAR, ["b", "b", "a", "a", "c", "d", "d", "d", None], 2, 2))
def test_the_most_rows_without_a_larger_clique(case: Case) -> None:
    """Against all subsets of the rows; and what is kept is such a subset."""
    conflicts, fullest = case.conflicts(), fullest_of(case.similar())
    member = conflicts.member.tolist()
    totals = []
    for groups in range(len(member) + 1):
        kept = conflicts.most(groups)
        assert (kept >= 0).all()
        assert (kept <= conflicts.count).all()
        chosen = [row for row, v in enumerate(member) if member[:row].count(v) < kept[v]]
        assert fullest[sum(1 << row for row in chosen)] <= groups
        totals.append(len(chosen))
        assert len(chosen) == max(
            rows.bit_count() for rows, many in enumerate(fullest) if many <= groups
        )
    gains = [b - a for a, b in pairwise(totals)]
    assert gains == sorted(gains, reverse=True)  # so that the bound may be searched by halving


# ---- proofs


@examples(150, 37)
@given(cases(8))
@example(Case(STAR, ["b", "a", "c", "d"], 2, 2))
def test_trying_all_ways_finds_what_trying_all_partitions_does(case: Case) -> None:
    conflicts = case.conflicts()
    fewest = fewest_left_out(case.similar(), case.smallest)
    _check_proof(tree_conflicts.exhaustive(conflicts, case.smallest), case, fewest)


@examples(100, 33)
@given(cases(8))
@example(Case(STAR, ["b", "a", "c", "d"], 2, 2))
def test_the_solver_proves_the_same(case: Case) -> None:
    pytest.importorskip("ortools")
    fewest = fewest_left_out(case.similar(), case.smallest)
    conflicts = case.conflicts()
    if patterns := _every_pattern(conflicts, case.smallest):
        proof = tree_conflicts.packing_by_cp_sat(conflicts, patterns)
        assert proof is not None
        _check_proof(proof, case, fewest)
    else:
        assert fewest == len(case.values)


@examples(100, 33)
@given(cases(8))
@example(Case(STAR, ["b", "a", "c", "d"], 2, 2))
def test_without_it_the_same_groups_are_found(case: Case) -> None:
    fewest = fewest_left_out(case.similar(), case.smallest)
    conflicts = case.conflicts()
    if patterns := _every_pattern(conflicts, case.smallest):
        found = tree_conflicts.packing_by_milp(conflicts, patterns)
        assert found is not None
        assert found.most is None
        _check_proof(
            tree_conflicts.PackingProof(len(case.values) - fewest, found.held), case, fewest
        )


def _every_pattern(conflicts: TreeConflicts, smallest: int) -> list[tuple[int, ...]]:
    """List the groups of dissimilar classes that are no two groups."""
    every = range(len(conflicts.count))
    return [
        group
        for size in range(smallest, 2 * smallest)
        for group in combinations(every, size)
        if all(b not in conflicts.similar[a] for a, b in combinations(group, 2))
    ]


@pytest.mark.parametrize("copies", [1, 3, 30])
def test_more_rows_of_the_same_kinds_are_no_harder(copies: int) -> None:
    """What holds for some rows holds for so many copies of them; quick ways alone miss it."""
    parents = dict.fromkeys(["p", "M"], "R") | dict.fromkeys(["q", "S"], "M")
    parents |= {"R": None, "h": "S", "h1": "h", "t": "h1", "k": "S", "w": "k"}
    case = Case(parents, ["p", "t", "q", "h", "w"] * copies, 2, 2)
    found = case.scatter()
    check_sound(found, case)
    assert found.left_out == copies
    if _has("ortools") or copies == 1:
        assert found.at_least == copies


def test_no_rows_are_in_no_groups() -> None:
    case = Case(STAR, ["a"], 1, 1)
    empty = tree_conflicts.group_dissimilar(
        np.empty(0, np.int64), case.near, 2, np.random.default_rng(0)
    )
    assert (len(empty.labels), empty.at_least) == (0, 0)


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _check_proof(proof: tree_conflicts.PackingProof, case: Case, fewest: int) -> None:
    """As many rows as proven, in sound groups."""
    conflicts = case.conflicts()
    assert proof.most == sum(map(len, proof.held)) == len(case.values) - fewest
    for groups, many in zip(proof.held, conflicts.count.tolist(), strict=True):
        assert len(set(groups.tolist())) == len(groups) <= many
    labels = tree_conflicts._labels(conflicts, proof.held, np.random.default_rng(0))
    check_sound(ScatterResult(labels, fewest, "patterns"), case)


# ---- the solver


@examples(200, 50)
@given(cases(8))
@example(Case(PATH, ["a", "b", "c"], 2, 2))
@example(Case(STAR, ["b", "a", "c", "d"], 2, 2))
def test_few_rows_are_scattered_as_well_as_any_partition_does(case: Case) -> None:
    found = case.scatter()
    check_sound(found, case)
    assert found.left_out == found.at_least == fewest_left_out(case.similar(), case.smallest)


@pytest.mark.parametrize("part", range(4))
def test_as_few_are_left_out_as_a_solver_row_by_row_leaves_out(part: int) -> None:
    telling = not_transitive = 0
    for seed in range(part * 100, part * 100 + 100):
        case = random_case(seed, 1, 14)
        found = case.scatter(seed)
        check_sound(found, case)
        assert found.left_out == found.at_least == solved_row_by_row(case.similar(), case.smallest)
        telling += 0 < found.left_out < len(case.values)
        not_transitive += distances.classes(case.near, case.table.column.domain.size) is None
    # Neither easy nor hopeless are many of them, and in many there are no buckets.
    assert telling > 25
    assert not_transitive > 35


def test_without_a_proof_groups_are_sound_and_the_bound_is_true(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And hardly ever could more rows be kept: that is what the proof is for."""
    optimal, tables = 0, 600
    for seed in range(1000, 1000 + tables):
        case = random_case(seed, 4, 14)
        fewest = case.scatter().at_least  # true, as other tests show
        with monkeypatch.context() as patched:
            patched.setattr(tree_conflicts, "best_packing", lambda *_: None)
            found = case.scatter()
        check_sound(found, case)
        assert found.how != "patterns"
        assert found.at_least <= fewest <= found.left_out
        optimal += found.left_out == fewest
    assert optimal >= 0.98 * tables


def test_more_rows_than_can_be_tried_go_to_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver of patterns agrees with the one of rows where no bound is reached."""
    pytest.importorskip("ortools")
    monkeypatch.setattr(tree_conflicts, "_STATES", 0)
    asked = []
    proven = tree_conflicts.packing_by_cp_sat
    monkeypatch.setattr(
        tree_conflicts, "packing_by_cp_sat", lambda *given: asked.append(given) or proven(*given)
    )
    for seed in range(2000, 2500):
        case = random_case(seed, 8, 13)
        before = len(asked)
        found = case.scatter()
        if len(asked) > before:
            check_sound(found, case)
            fewest = solved_row_by_row(case.similar(), case.smallest)
            assert found.left_out == found.at_least == fewest
    assert len(asked) >= 3


def test_what_cannot_be_proven_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many rows to try, and no solver: the groups stand, with the bound that is known."""
    case = Case(STAR, ["b", "a", "c", "d"], 2, 2)
    monkeypatch.setattr(tree_conflicts, "_STATES", 0)
    monkeypatch.setattr(tree_conflicts, "_PATTERNS", 0)
    found = case.scatter()
    check_sound(found, case)
    assert (found.at_least, found.left_out) == (0, 1)


@examples(100, 33)
@given(cases(20), st.randoms(use_true_random=False))
def test_how_many_are_left_out_rests_on_the_values_alone(case: Case, random: Any) -> None:
    """Neither the generator nor the order of the rows has a say in it, class by class."""
    kept = set()
    member = case.conflicts().member
    for seed in range(3):
        order = list(range(len(case.values)))
        if seed:
            random.shuffle(order)
        shuffled = Case(case.parents, [case.values[i] for i in order], case.e, case.smallest)
        found = shuffled.scatter(seed)
        in_groups = member[order][found.labels >= 0]
        kept.add((found.left_out, found.at_least, tuple(np.bincount(in_groups).tolist())))
    assert len(kept) == 1


def test_who_of_similar_twins_is_left_out_is_chance() -> None:
    """Five rows of which two find a partner: each of the five equally often."""
    for twins in (["a"] * 5, ["a", "a2", "a", "a2", "a2"]):  # equal values, or leaves of one node
        case = Case({**PATH, "a2": "X1"}, [twins[0], "c", *twins[1:3], "c", *twins[3:]], 2, 2)
        times: Counter[int] = Counter()
        for seed in range(400):
            found = case.scatter(seed)
            assert found.left_out == found.at_least == 3
            times.update(np.flatnonzero(found.labels < 0).tolist())
        assert set(times) == {0, 2, 3, 5, 6}
        assert all(200 < many < 280 for many in times.values())  # 240 on average
        assert case.scatter(7).labels.tolist() == case.scatter(7).labels.tolist()


@examples(100, 33)
@given(cases(12), st.lists(st.sampled_from(tree_conflicts.SEARCH_METHODS), min_size=1, unique=True))
def test_each_way_by_itself_is_sound(case: Case, ways: list[str]) -> None:
    """And none leaves out fewer than all of them together."""
    found = case.scatter(ways=ways)
    check_sound(found, case)
    assert found.how in ways
    assert found.at_least <= case.scatter().left_out <= found.left_out


# ---- examples of the theory


def test_being_similar_is_not_transitive_where_leaves_lie_at_unequal_depth() -> None:
    """b is near both a and c, which are far apart: these share a group, and b is left out."""
    tree = hierarchy(PATH)
    assert [tree.distance(*pair) for pair in ("ab", "bc", "ac")] == [2, 2, 3]
    case = Case(PATH, ["a", "b", "c"], 2, 2)
    assert distances.classes(case.near, 3) is None
    found = case.scatter()
    assert found.labels.tolist() == [0, -1, 0]
    assert found.at_least == 1


def test_padding_leaves_to_equal_depth_is_unsafe() -> None:
    """Two steps further down b seems 3 away from a and from c, but it is 2."""
    padded = {**PATH, "B": "R", "B1": "B", "b": "B1"}
    case = Case(padded, ["a", "b", "c"], 2, 2)
    assert distances.classes(case.near, 3) is not None
    found = case.scatter()
    assert found.labels.tolist() == [0, 0, 0]
    context = naive.Context(tuple("abc"), PATH)
    assert naive.l_e("abc", naive.Context(tuple("abc"), padded), 2, 2)
    assert not naive.l_e("abc", context, 2, 2)
    rule = bound(wb.LEDiversity(l=2, e=2), Case(PATH, ["a", "b", "c"], 2, 2).table)
    assert rule.satisfies(case.table.groups([[0, 1, 2], [0, 1], [1, 2], [0, 2]])).tolist() == [
        False,
        False,
        False,
        True,
    ]


def test_components_are_safe_but_coarse() -> None:
    """By way of b all three are in one bucket, of which a group may hold one row."""
    conflicts = Case(PATH, ["a", "b", "c"], 2, 2).conflicts()
    assert not any(map(len, tree_conflicts._by_components(conflicts, 2)))
    found = Case(PATH, ["a", "b", "c"], 2, 2).scatter(ways=["components"])
    assert (found.left_out, found.at_least) == (3, 1)


def test_a_hub_among_leaves_that_are_far_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two groups have room for every clique, but no group for both the hub and another row."""
    case = Case(STAR, ["b", "a", "c", "d"], 2, 2)
    assert case.conflicts().fullest == 2
    found = case.scatter()
    assert found.labels.tolist() == [-1, 0, 0, 0]
    assert found.at_least == 1
    monkeypatch.setattr(tree_conflicts, "best_packing", lambda *_: None)
    assert case.scatter().at_least == 0
    assert case.scatter().left_out == 1


def test_missing_values_are_far_from_all_others() -> None:
    found = Case(PATH, [None, "b", None, "a", None], 2, 2).scatter()
    assert sorted(found.labels[[0, 2, 4]].tolist()) == [-1, 0, 1]
    assert sorted(found.labels[[1, 3]].tolist()) == [0, 1]
    assert found.at_least == 1


@pytest.mark.parametrize("how", ["none", "all", "one"])
def test_the_plainest_cases(how: str) -> None:
    """l = 1 takes every row; too few rows, or all of them similar, leave none."""
    values = ["a", "a", "b", "c", None]
    found = Case(PATH, values, 2, {"none": 1, "all": 6, "one": 2}[how]).scatter()
    if how == "one":
        found = Case(PATH, ["a", "a", "b"], 9, 2).scatter()
    assert found.left_out == found.at_least == {"none": 0, "all": 5, "one": 3}[how]


# ---- many rows


def many_rows(seed: int) -> Case:
    """Make up a case with thousands of rows."""
    rng = np.random.default_rng(seed)
    parents = grown(rng, int(rng.integers(100, 500)))
    leaves = [node for node in parents if node not in parents.values()]
    pool: list[str | None] = leaves if seed % 2 else [*parents, None]
    popular = rng.dirichlet(np.full(len(pool), 0.8))
    drawn = rng.choice(len(pool), size=int(rng.integers(2000, 4000)), p=popular)
    e = float(rng.choice([0.5, 1, 1.5, 2, 2.5, 3, 4]))
    return Case(parents, [pool[i] for i in drawn.tolist()], e, int(rng.integers(2, 7)))


def test_thousands_of_rows() -> None:
    """As few are left out as must be in nearly all of them, and groups are sound in all."""
    closed = telling = 0
    for seed in range(20):
        case = many_rows(seed)
        found = case.scatter(seed)
        check_sound(found, case)
        closed += found.left_out == found.at_least
        telling += 0 < found.left_out == found.at_least
    assert closed >= 19
    assert telling >= 10


def test_similar_classes_of_a_large_tree() -> None:
    case = many_rows(8)
    conflicts, alike = case.conflicts(), case.alike()
    first = dict(zip(conflicts.member.tolist(), case.values, strict=True))
    for v in range(0, len(first), 17):
        expected = [u for u in range(len(first)) if alike(first[u], first[v])]
        assert conflicts.similar[v].tolist() == expected


# ---- the rule


@examples(150, 37)
@given(cases(9))
@example(Case(PATH, ["a", "b", "c"], 2, 2))
@example(Case(PATH, ["a", "b", "c", None], 2, 2))
@example(Case(STAR, ["b", "a", "c", "d"], 2, 2))
def test_the_rule_finds_a_partition_exactly_if_there_is_one(case: Case) -> None:
    _check_rule(case)


def test_the_rule_where_similarity_is_not_transitive() -> None:
    verdicts: Counter[bool] = Counter()
    for seed in range(5000, 5250):
        case = random_case(seed, 4, 9)
        if distances.classes(case.near, case.table.column.domain.size) is None:
            verdicts[_check_rule(case)] += 1
    assert min(verdicts[True], verdicts[False]) > 20


def _check_rule(case: Case) -> bool:
    """Return whether all rows fit into groups, after having compared both answers."""
    table, rule = case.table, bound(wb.LEDiversity(l=case.smallest, e=case.e), case.table)
    fits = fewest_left_out(case.similar(), case.smallest) == 0
    assert rule.feasible(table.groups(table.parts)).tolist() == [fits]
    if not fits:
        with pytest.raises(InfeasibleError):
            rule.finish(case.codes, np.random.default_rng(1))
        return False
    labels = rule.finish(case.codes, np.random.default_rng(1)).tolist()
    parts = [[row for row, at in enumerate(labels) if at == hand] for hand in set(labels)]
    assert all(naive.l_e(table.of(part), table.context, case.smallest, case.e) for part in parts)
    assert rule.satisfies(table.groups(parts)).all()
    return True
