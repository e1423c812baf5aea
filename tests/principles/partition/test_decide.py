"""Yes, no or unknown: whether rows can be dealt to groups in which nobody is near too many.

Two oracles that share nothing with the package: CP-SAT, asked which rows are together, row by row;
and a search through the subsets of rows. Every partition is judged by the definition.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest

from tests import effort, naive
from wideberth.algorithms.mondrian import blocks
from wideberth.core.exact import Bools, Ints
from wideberth.principles.partition import decide as deciding
from wideberth.principles.partition.decide import (
    PartitionAnswer,
    Witness,
    by_constraints,
    by_subsets,
    clique,
    clique_witness,
    decide_partition,
    room_for_clique,
    row_witness,
    search_partition,
)
from wideberth.principles.partition.swap import BlockRule, NeighborCap, SimilarityMatrix

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="too many tables for the interpreter"
)

TABLES = 2040
DELTAS = [Fraction(d) for d in ("1", "1/2", "0.8", "2/3", "0.3", "0.9")]
KINDS = ("balanced", "skewed", "line", "plane", "tree", "dense")
UNKNOWN, UNKNOWN_IN_HASTE = 0.02, 0.05


@dataclass(frozen=True)
class Case:
    """A table, and what its groups must satisfy."""

    kind: str
    values: list[Any]  # of the rows
    distance: Any
    epsilon: Fraction
    delta: Fraction
    k: int

    @property
    def rows(self) -> int:
        return len(self.values)

    @property
    def cap(self) -> NeighborCap:
        return NeighborCap.of_share(self.delta)

    def coded(self) -> tuple[SimilarityMatrix, Ints]:
        """Who is near whom of the distinct values, and the value of each row."""
        distinct = list(dict.fromkeys(self.values))
        context = naive.Context(self.values)
        near = [
            [naive.similar(a, b, context, self.distance, self.epsilon) for b in distinct]
            for a in distinct
        ]
        return SimilarityMatrix(np.array(near)), np.array([distinct.index(v) for v in self.values])

    def satisfied(self, labels: Ints) -> bool:
        """Judge every group by the definition."""
        context = naive.Context(self.values)
        wanted = (context, self.epsilon, self.delta, self.k, self.distance)
        groups = [[v for v, at in zip(self.values, labels, strict=True) if at == g]
                  for g in set(labels.tolist())]  # fmt: skip
        return len(labels) == self.rows and all(naive.dissimilarity(g, *wanted) for g in groups)


def case(seed: int, rows: int = 12) -> Case:
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n, k = int(rng.integers(2, rows + 1)), int(rng.integers(2, 6))
    if rng.random() < 0.5:
        n = rows - int(rng.integers(0, 3))
    delta = DELTAS[rng.integers(len(DELTAS))]
    distance: Any = "absolute"
    epsilon = Fraction(int(rng.integers(0, 5)), 2)
    if kind == "line":
        pool: list[Any] = (rng.choice([0, 10, 20], n) + rng.integers(0, 4, n)).tolist()
    elif kind == "plane":
        distance = str(rng.choice(["euclidean", "manhattan"]))
        centre = rng.integers(0, 3, (n, 1)) * 4
        pool = list(map(tuple, (centre + rng.integers(0, 3, (n, 2))).tolist()))
    else:
        values = n if kind != "skewed" else int(rng.integers(2, 5))
        share = {
            "balanced": rng.choice([0.1, 0.25]),
            "skewed": 0.2,
            "dense": rng.choice([0.5, 0.7]),
        }
        if kind == "tree":  # near is having an ancestor in common
            bucket = rng.integers(0, 4, values)
            adjacent = bucket[:, None] == bucket
        else:
            adjacent = rng.random((values, values)) < share[kind]
        distance = _by(np.triu(adjacent, 1))
        epsilon = Fraction(0)
        pool = rng.permutation(n).tolist()
        if kind == "skewed":
            pool = rng.choice(values, n, p=(p := 1.0 / np.arange(1, values + 1)) / p.sum()).tolist()
    return Case(kind, pool, distance, epsilon, delta, k)


def _by(adjacent: Bools) -> Any:
    """A distance that is 0 between neighbours, else 1."""
    return lambda a, b: 0 if a == b or adjacent[min(a, b), max(a, b)] else 1


# ---- oracles


class Together:
    """CP-SAT with an unknown for each pair of rows: are they together?

    Being together is transitive; a row counts those who are with it. There are no groups at all.
    """

    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        self.cp = cp_model
        self.solver = cp_model.CpSolver()
        self.solver.parameters.num_workers = 1
        self.solver.parameters.cp_model_presolve = False
        self.solver.parameters.symmetry_level = 0

    @cache  # noqa: B019 - one of them in a run
    def _bare(self, n: int) -> Any:
        model = self.cp.CpModel()
        pair = {(i, j): model.new_bool_var("") for i, j in combinations(range(n), 2)}
        for i, j, h in combinations(range(n), 3):
            sides = pair[i, j], pair[j, h], pair[i, h]
            for a, b, c in (sides, sides[1:] + sides[:1], sides[2:] + sides[:2]):
                model.add_bool_or(~a, ~b, c)
        return model, pair

    def possible(self, one: Case, near: Bools) -> bool:
        bare, pair = self._bare(one.rows)
        model = bare.clone()
        p, q = one.delta.numerator, one.delta.denominator
        for i in range(one.rows):
            beside = [j for j in range(one.rows) if j != i]
            others = [pair[min(i, j), max(i, j)].index for j in beside]
            every = sum(model.get_bool_var_from_proto_index(v) for v in others)
            far = sum(
                model.get_bool_var_from_proto_index(v)
                for j, v in zip(beside, others, strict=True)
                if not near[i, j]
            )
            model.add(every >= one.k - 1)
            model.add(q * far >= p * every)
        status = self.solver.solve(model)
        assert status in (self.cp.OPTIMAL, self.cp.FEASIBLE, self.cp.INFEASIBLE)
        return status != self.cp.INFEASIBLE


def covered(one: Case, near: Bools) -> bool:
    """Cover the rows by good sets, each time beginning with the lowest row that is left."""
    n = one.rows
    bit = 1 << np.arange(n)
    every = np.arange(1 << n)
    member = (every[:, None] & bit) > 0
    size = member.sum(axis=1)
    far = member.astype(np.int64) @ (~near).astype(np.int64)
    enough = far * one.delta.denominator >= one.delta.numerator * (size - 1)[:, None]
    good = every[(size >= one.k) & (enough | ~member).all(axis=1)]
    reached = np.zeros(1, dtype=np.int64)
    for row in range(n):
        here = (reached >> row & 1) == 0
        lowest = good[good & -good == 1 << row]
        fresh = (reached[here][:, None] | lowest)[(reached[here][:, None] & lowest) == 0]
        reached = np.unique(np.concatenate((reached[~here], fresh)))
    return bool(len(reached))


@cache
def judged() -> list[tuple[Case, SimilarityMatrix, Ints, bool]]:
    """All cases, with the truth."""
    result = []
    for seed in range(TABLES):
        one = case(seed)
        relation, codes = one.coded()
        near = relation.near[np.ix_(codes, codes)]
        result.append((one, relation, codes, covered(one, near)))
    return result


def check(one: Case, answer: PartitionAnswer, possible: bool) -> None:
    """No wrong yes, no wrong no, and each with its reason."""
    if answer.verdict == "yes":
        assert possible
        assert answer.labels is not None
        assert one.satisfied(answer.labels)
    elif answer.verdict == "no":
        assert not possible
        assert answer.witness is not None
        assert str(answer.witness)


def share_of_unknown(verdicts: list[str], what: str, record_property: Any) -> float:
    counts = Counter(verdicts)
    share = counts["unknown"] / len(verdicts)
    record_property(f"unknown, {what}", share)
    print(f"\n{what}: {len(verdicts):,} tables, {dict(counts)}, unknown {share:.2%}")  # noqa: T201
    return share


@pytest.mark.parametrize(
    ("exact", "most"), [(True, UNKNOWN), (False, UNKNOWN_IN_HASTE)], ids=["exact", "in haste"]
)
def test_answers_against_the_truth(exact: bool, most: float, record_property: Any) -> None:
    verdicts = []
    for one, relation, codes, possible in judged():
        answer = decide_partition(relation, codes, one.cap, one.k, exact=exact)
        check(one, answer, possible)
        verdicts.append(answer.verdict)
    what = "to the end" if exact else "without exact search"
    assert share_of_unknown(verdicts, what, record_property) <= most
    assert min(Counter(verdicts)[v] for v in ("yes", "no")) > TABLES / 6


def test_cp_sat_agrees_with_the_truth() -> None:
    """Row by row, at night on all the tables: so the answers above are right by CP-SAT as well."""
    oracle = Together()
    for one, relation, codes, possible in judged()[:: 1 if effort.ALL else 5]:
        assert oracle.possible(one, relation.near[np.ix_(codes, codes)]) == possible


def test_the_mix() -> None:
    """All kinds of tables, and of each some that can be dealt and some that cannot."""
    for kind in KINDS:
        truths = [possible for one, *_, possible in judged() if one.kind == kind]
        assert len(truths) == TABLES / len(KINDS)
        assert 0.1 < np.mean(truths) < 0.95
    assert {one.delta for one, *_ in judged()} == set(DELTAS)


def test_each_way_to_search_to_the_end() -> None:
    """By subsets and by constraints, also where a quick look would have sufficed."""
    for one, relation, codes, possible in judged()[::8]:
        labels = by_subsets(relation.near[np.ix_(codes, codes)], one.cap, one.k)
        assert (labels is not None) == possible
        assert labels is None or one.satisfied(labels)
        answer = by_constraints(relation, codes, one.cap, one.k)
        assert answer.verdict == ("yes" if possible else "no")
        check(one, answer, possible)


def test_beyond_all_subsets_cp_sat_is_asked() -> None:
    verdicts = Counter()
    for seed in range(60):
        one = case(seed, rows=16)
        if one.rows <= deciding.SUBSETS:
            continue
        relation, codes = one.coded()
        answer = search_partition(relation, codes, one.cap, one.k)
        possible = Together().possible(one, relation.near[np.ix_(codes, codes)])
        assert answer.verdict == ("yes" if possible else "no")
        check(one, answer, possible)
        verdicts[answer.verdict] += 1
        with mock.patch.dict("sys.modules", {"ortools.sat.python": None}):
            assert search_partition(relation, codes, one.cap, one.k).verdict == "unknown"
    assert min(verdicts["yes"], verdicts["no"]) > 3


def test_too_much_for_cp_sat_is_unknown() -> None:
    relation, codes = SimilarityMatrix(np.eye(200, dtype=bool)), np.arange(200)
    assert (
        by_constraints(relation, codes, NeighborCap.of_share(Fraction(1)), 2).verdict == "unknown"
    )


# ---- necessary conditions


def together(relation: SimilarityMatrix, codes: Ints) -> int:
    """Count the rows of the crowd that is found, all of which are near each other."""
    values = clique(relation, codes)
    assert relation.near[np.ix_(values, values)].all()
    return int(np.isin(codes, values).sum())


def planted(seed: int) -> tuple[SimilarityMatrix, Ints, Ints, NeighborCap, int]:
    """Groups that satisfy a rule, each row near as many of its group as it may, many of others."""
    rng = np.random.default_rng(seed)
    delta, k = DELTAS[rng.integers(len(DELTAS))], int(rng.integers(2, 7))
    cap = NeighborCap.of_share(delta)
    sizes = rng.integers(k, 2 * k + 3, rng.integers(1, 60 // (2 * k + 2) + 1))
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    n = len(labels)
    near = np.eye(n, dtype=bool)
    pairs = rng.permutation(np.stack(np.triu_indices(n, 1), axis=1))
    dense = rng.choice([0.3, 0.9, 1.0])
    for i, j in pairs.tolist():
        if rng.random() > dense:
            continue
        if labels[i] == labels[j]:
            inside = labels == labels[i]
            if max((near[i] & inside).sum(), (near[j] & inside).sum()) > cap.of(inside.sum()):
                continue
        near[i, j] = near[j, i] = True
    return SimilarityMatrix(near), np.arange(n), labels, cap, k


def test_necessary_conditions_never_contradict_a_partition() -> None:
    for seed in range(200):
        relation, codes, labels, cap, k = planted(seed)
        n = len(codes)
        inside = (relation.near & (labels[:, None] == labels)).sum(axis=1) - 1
        assert (inside <= cap.of(np.bincount(labels)[labels])).all()  # as planted
        assert row_witness(n, int(relation.degrees(codes).max()), cap, k) is None
        found = together(relation, codes)
        assert found <= room_for_clique(n, cap, k)
        assert clique_witness(n, found, cap, k) is None
        assert decide_partition(relation, codes, cap, k, exact=False).verdict != "no"


def test_room_for_a_clique_is_tight() -> None:
    """A clique of that many, all others far from everybody, can be dealt; one more cannot."""
    for delta in DELTAS:
        for k in range(2, 6):
            cap = NeighborCap.of_share(delta)
            for n in range(k, 13):
                room = room_for_clique(n, cap, k)
                theory = delta * (n // k) + (1 - delta) * n
                assert room <= theory
                for many in (room, room + 1):
                    near = np.eye(n, dtype=bool)
                    near[:many, :many] = True
                    found = by_subsets(near, cap, k)
                    assert (found is not None) == (many == room or room >= n)
                assert together(SimilarityMatrix(near), np.arange(n)) == min(many, n)


def test_the_formula_bounds_the_room_of_many_rows() -> None:
    for delta in DELTAS:
        cap = NeighborCap.of_share(delta)
        for n in (50, 301, 1499):
            with mock.patch.object(deciding, "_SIZES", 0):
                bound = room_for_clique(n, cap, 5)
            assert room_for_clique(n, cap, 5) <= bound
            assert bound == (delta * (n // 5) + (1 - delta) * n) // 1


def test_a_clique_is_one() -> None:
    """Never more rows than some crowd really has; and of a line, the fullest window."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        points = np.sort(rng.integers(0, 40, 30))
        near = np.abs(points[:, None] - points) <= 5
        fullest = np.triu(near).sum(axis=1).max()
        assert together(SimilarityMatrix(near), np.arange(30)) == fullest
        values = int(rng.integers(2, 8))
        adjacent = np.triu(rng.random((values, values)) < 0.6, 1)
        near = adjacent | adjacent.T | np.eye(values, dtype=bool)
        codes = rng.integers(0, values, 12)
        truth = max(
            np.isin(codes, some).sum()
            for size in range(1, values + 1)
            for some in combinations(range(values), size)
            if near[np.ix_(some, some)].all()
        )
        assert together(SimilarityMatrix(near), codes) <= truth


def test_a_large_crowd_is_found_soon() -> None:
    """In fewer than a thousand steps: no step for each member of the crowd and each centre."""
    near = np.eye(1500, dtype=bool)
    near[:900, :900] = True
    with mock.patch.object(np, "ix_", wraps=np.ix_) as looked:
        assert len(clique(SimilarityMatrix(near), np.arange(1500))) == 900
    assert looked.call_count < 1000


def test_reasons_in_words() -> None:
    assert str(Witness("rows", 3, 5)) == "3 rows, fewer than the 5 of a group"
    lone = SimilarityMatrix(np.ones((1, 1), dtype=bool))
    half = NeighborCap.of_share(Fraction(1, 2))
    for relation, codes, kind in (
        (lone, [0, 0], "rows"),
        (lone, [0] * 9, "vertex"),
        (SimilarityMatrix(np.eye(2, dtype=bool)), [0] * 8 + [1], "vertex"),
        (SimilarityMatrix(np.eye(3, dtype=bool)), [0] * 7 + [1] + [2], "clique"),
    ):
        answer = decide_partition(relation, np.array(codes), half, 5)
        assert answer.verdict == "no"
        assert answer.witness is not None
        assert answer.witness.kind == kind
    near = np.eye(9, dtype=bool)
    near[:7, :7] = True
    answer = decide_partition(
        SimilarityMatrix(near), np.arange(9), NeighborCap.of_share(Fraction(2, 3)), 3
    )
    assert answer.witness == Witness("clique", 7, 4)
    assert str(answer.witness) == "7 rows are all near each other, groups have room for 4"


# ---- sufficient conditions


def graph(rng: np.random.Generator, n: int, most: int) -> Bools:
    """Draw a graph in which nobody has more than so many neighbours, some as many."""
    near = np.eye(n, dtype=bool)
    for i, j in rng.permutation(np.stack(np.triu_indices(n, 1), axis=1)).tolist():
        if near[i].sum() <= most and near[j].sum() <= most:
            near[i, j] = near[j, i] = True
    return near


def parts_of(near: Bools, cap: NeighborCap, k: int) -> list[Ints]:
    """What both ways to take rows apart find; they must find something."""
    codes = np.arange(len(near))
    answer = decide_partition(SimilarityMatrix(near), codes, cap, k, exact=False)
    assert answer.verdict == "yes"
    local = BlockRule(SimilarityMatrix(near), cap, k)
    assert local.hands(codes)
    assert answer.labels is not None
    return [answer.labels, next(local.ways(codes))]


def verify(near: Bools, labels: Ints, delta: Fraction, k: int) -> None:
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    far = (~near & (labels[:, None] == labels)).sum(axis=1)
    assert all(f >= delta * int(sizes[g] - 1) for f, g in zip(far.tolist(), labels, strict=True))


def test_the_whole_is_taken_if_it_will_do() -> None:
    """Δmax <= (1 - δ)(N - 1), N >= k; whatever else there is."""
    rng = np.random.default_rng(1)
    for delta in DELTAS:
        for k in (2, 5):
            for n in (k, 2 * k - 1, 2 * k, 17, 40):
                near = graph(rng, n, int((1 - delta) * (n - 1)))
                for labels in parts_of(near, NeighborCap.of_share(delta), k):
                    verify(near, labels, delta, k)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_hajnal_and_szemeredi(k: int) -> None:
    """N >= k(Δmax + 1) suffices for δ = 1; it is tight where all are in cliques of that size."""
    rng = np.random.default_rng(k)
    for most in (0, 1, 2, 4, 7):
        for more in (0, 1, k):
            n = k * (most + 1) + more
            cliques = np.arange(n) // (most + 1)
            for near in (graph(rng, n, most), cliques[:, None] == cliques):
                for labels in parts_of(near, NeighborCap.of_share(Fraction(1)), k):
                    verify(near, labels, Fraction(1), k)


def test_merging_classes_of_an_equitable_colouring() -> None:
    """THEORY: rs >= k and min(Δ, (r - 1)(s + 1)) <= (1 - δ)(rs - 1), r | Δ + 1."""
    rng = np.random.default_rng(6)
    met = 0
    for n in range(6, 60, 3):
        for most in range(1, 8):
            near = graph(rng, n, most)
            top = int(near.sum(axis=1).max()) - 1
            s = n // (top + 1)
            for r in (r for r in range(1, top + 2) if (top + 1) % r == 0):
                for delta in DELTAS:
                    k = r * s
                    fits = min(top, (r - 1) * (s + 1)) <= (1 - delta) * (k - 1)
                    if k < 2 or not fits or rng.random() > 0.2:
                        continue
                    met += 1
                    for labels in parts_of(near, NeighborCap.of_share(delta), k):
                        verify(near, labels, delta, k)
    assert met > 50


def test_colouring_where_the_search_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leaf that is known to be dealt is dealt, even if swapping rows does not get there."""
    rng = np.random.default_rng(8)
    n, k = 90, 3
    near = graph(rng, n, n // k - 1)
    local = BlockRule(SimilarityMatrix(near), NeighborCap.of_share(Fraction(1)), k)
    codes = rng.permutation(n)
    assert local.certified(codes)
    judge = mock.Mock()
    judge.codes = [codes]
    judge.task.guarded = [object()]
    judge.settle.return_value = None
    judge.accepts.return_value = True
    monkeypatch.setattr(blocks, "deal_apart", lambda *_: None)
    labels = blocks._deal(judge, local, np.arange(n), rng)
    assert labels is not None
    verify(near[np.ix_(codes, codes)], labels, Fraction(1), k)
    assert judge.accepts.called  # verified like any other
    judge.accepts.return_value = False
    assert blocks._deal(judge, local, np.arange(n), rng) is None
    few = BlockRule(SimilarityMatrix(near), NeighborCap.of_share(Fraction(1)), k + 1)
    assert blocks._deal(judge, few, np.arange(n), rng) is None  # not known to be possible
