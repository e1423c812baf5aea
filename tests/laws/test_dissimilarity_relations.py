"""(ε,δ)^k-dissimilarity beside its relatives: where they must agree, and what implies what.

THEORY §4. The implications between single groups of numbers are in `test_counterexamples`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import wideberth as wb
from tests import naive
from tests.samples import Sample, bound, sample
from wideberth.principles import Principle, Rule
from wideberth.principles.partition.caps import SearchedRule

DELTAS = [Fraction(d) for d in ("0", "1/4", "1/2", "2/3", "0.8", "0.95", "1")]
TREE: dict[str, str | None] = {"*": None, **dict.fromkeys("wxyz", "*")}
TREE |= {f"{p}{i}": p for p in "wxyz" for i in range(3)}
#: The same, but for two leaves that hang higher or lower.
CROOKED = TREE | {"u": "*", "v": "w0"}


def feasible(rule: Rule, table: Sample) -> bool:
    return bool(rule.feasible(table.groups(table.parts))[0])


def groups_by(rule: Rule, table: Sample, seed: int = 0) -> list[list[int]]:
    """Take the table apart, and return the rows of each group, all of which satisfy the rule."""
    labels = rule.finish(table.column.codes.astype(np.int64), np.random.default_rng(seed))
    parts = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    assert rule.satisfies(table.groups(parts)).all()
    return parts


def defined(principle: wb.Dissimilarity, table: Sample, parts: list[list[int]]) -> bool:
    """Judge groups by the definition."""
    wanted = (principle.epsilon, principle.delta, principle.k, principle.distance)
    return all(naive.dissimilarity(table.of(part), table.context, *wanted) for part in parts)


def numbers(seed: int) -> tuple[Sample, np.random.Generator]:
    """Draw up to some hundred numbers, some missing, crowded in places; negative ones as well."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 8, 20, 60, 400]))
    values: list[Any] = np.rint(rng.normal(0, rng.choice([4, 30, 3000]), n)).astype(int).tolist()
    if seed % 3 == 0:
        values = [None if rng.random() < 0.15 else v for v in values]
    if all(v is None for v in values):
        values[0] = 1
    return sample("integers", values), rng


# ---- (ε,m)


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_of_numbers_delta_1_is_theorem_1_of_epsilon_m(relative: bool) -> None:
    """δ = 1, k = m: feasible exactly if (ε,m) is, at any size; and the answer is never unknown.

    In one group the two differ: (ε,m) also accepts a few near ones among very many.
    """
    verdicts = Counter[bool]()
    for seed in range(100):
        table, rng = numbers(seed)
        m = int(rng.integers(2, 6))
        epsilon: Any = Fraction(int(rng.integers(0, 9)))
        if relative:
            epsilon /= 20
        kind = "relative" if relative else "absolute"
        ours = wb.Dissimilarity(epsilon=epsilon, delta=1, k=m, distance=kind)
        theirs = wb.EpsilonMAnonymity(epsilon=epsilon, m=m, relative=relative)
        rule = bound(ours, table)
        assert isinstance(rule, SearchedRule)
        assert rule.certain
        possible = feasible(bound(theirs, table), table)
        assert feasible(rule, table) == possible
        answer = rule.answer(np.sort(table.column.codes.astype(np.int64)))
        assert answer.verdict == ("yes" if possible else "no")
        verdicts[possible] += 1
        if possible:
            parts = groups_by(rule, table)
            if len(table.values) <= 60:
                assert defined(ours, table, parts)
            # Nobody is near anybody, so that is (ε,m) as well.
            assert bound(theirs, table).satisfies(table.groups(parts)).all()
        else:
            assert answer.witness is not None
            assert answer.witness.kind in ("clique", "rows")
    assert min(verdicts[True], verdicts[False]) > 15


def test_a_partition_for_epsilon_m_is_one_for_dissimilarity() -> None:
    """(ε,m) ⇒ (ε, 1 - 1/m)^m, group by group; so where the one is possible the other is no no."""
    met = 0
    for seed in range(80):
        table, rng = numbers(seed)
        m, epsilon = int(rng.integers(2, 5)), int(rng.integers(0, 9))
        strong = bound(wb.EpsilonMAnonymity(epsilon=epsilon, m=m), table)
        if not feasible(strong, table):
            continue
        met += 1
        weak = bound(wb.Dissimilarity(epsilon=epsilon, delta=1 - Fraction(1, m), k=m), table)
        assert weak.satisfies(table.groups(groups_by(strong, table))).all()
        assert isinstance(weak, SearchedRule)
        codes = np.sort(table.column.codes.astype(np.int64))
        assert weak.answer(codes, exact=False).verdict != "no"
    assert met > 25


def test_the_converse_is_wrong() -> None:
    """{1,1,1,5,7,11,12} is (1, 2/3)^3, with three of seven near the first: more than 1/3."""
    group = [1, 1, 1, 5, 7, 11, 12]
    table = sample("integers", group)
    whole = table.groups(table.parts)
    assert bound(wb.Dissimilarity(epsilon=1, delta=Fraction(2, 3), k=3), table).satisfies(whole)[0]
    assert not bound(wb.EpsilonMAnonymity(epsilon=1, m=3), table).satisfies(whole)[0]
    # What would do: δ >= (1 - 1/m) / (1 - 1/k), here (2/3) / (6/7), and k = 7.
    enough = Fraction(2, 3) / Fraction(6, 7)
    assert not bound(wb.Dissimilarity(epsilon=1, delta=enough, k=7), table).satisfies(whole)[0]


def test_breach_of_at_most_one_in_m_for_any_distance() -> None:
    """k >= m and δ >= (1 - 1/m) / (1 - 1/k): at most 1/m of a group is near anybody; not less."""
    rng = np.random.default_rng(4)
    tight = 0
    for _ in range(200):
        m, k = int(rng.integers(1, 5)), int(rng.integers(2, 8))
        k = max(k, m)
        delta = (1 - Fraction(1, m)) / (1 - Fraction(1, k))
        n = int(rng.integers(k, k + 4))
        values = [(int(x), int(y)) for x, y in rng.integers(0, 5, (n, 2))]
        table = sample("vectors", values)
        principle = wb.Dissimilarity(epsilon=1, delta=delta, k=k, distance="manhattan")
        held = bool(bound(principle, table).satisfies(table.groups(table.parts))[0])
        assert held == defined(principle, table, table.parts)
        if held:
            crowds = [
                sum(naive.similar(a, b, table.context, "manhattan", 1) for b in values)
                for a in values
            ]
            assert max(crowds) * m <= n
            tight += max(crowds) * m == n
    assert tight > 5


# ---- (α,k)


def share(delta: Fraction, size: int) -> Fraction:
    """The largest share of one value that δ permits in a group of that size."""
    return ((1 - delta) * (size - 1) + 1) / size


def texts(seed: int, most: int) -> tuple[Sample, np.random.Generator]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, most))
    pool: list[str | None] = [*"abcdef"[: rng.integers(1, 7)], *([None] if seed % 4 == 0 else [])]
    return sample("text", [pool[i] for i in rng.integers(0, len(pool), n)]), rng


def test_of_equal_values_a_group_is_alpha_k() -> None:
    for seed in range(120):
        table, rng = texts(seed, 14)
        size, k = len(table.values), int(rng.integers(2, 5))
        for delta in DELTAS[1:]:
            ours = wb.Dissimilarity(epsilon=0, delta=delta, k=k, distance="discrete")
            theirs = wb.AlphaKAnonymity(alpha=min(share(delta, size), Fraction(1)), k=k)
            verdicts = [
                bool(bound(p, table).satisfies(table.groups(table.parts))[0])
                for p in (ours, theirs)
            ]
            assert verdicts[0] == verdicts[1] == defined(ours, table, table.parts)


def test_of_equal_values_delta_1_is_possible_exactly_if_one_in_k_is() -> None:
    """(1/k, k) is monotone: the whole tells. And groups without equal values satisfy it."""
    verdicts = Counter[bool]()
    for seed in range(200):
        table, rng = texts(seed, 60)
        k = int(rng.integers(2, 5))
        rule = bound(wb.Dissimilarity(epsilon=0, delta=1, k=k, distance="discrete"), table)
        theirs = bound(wb.AlphaKAnonymity(alpha=Fraction(1, k), k=k), table)
        possible = bool(theirs.satisfies(table.groups(table.parts))[0])
        assert feasible(rule, table) == possible
        verdicts[possible] += 1
        if possible:
            parts = groups_by(rule, table)
            assert theirs.satisfies(table.groups(parts)).all()
            assert all(len(set(table.of(part))) == len(part) for part in parts)
    assert min(verdicts.values()) > 40


# ---- (l,e)


def on_trees(parents: dict[str, str | None]) -> Iterator[tuple[Sample, int, Fraction]]:
    leaves = [node for node in parents if node not in parents.values()]
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, many = int(rng.integers(2, 40)), int(rng.integers(2, len(leaves) + 1))
        values = [leaves[i] for i in rng.integers(0, many, n)]
        wanted, e = int(rng.integers(2, 5)), Fraction(int(rng.integers(0, 5)), 2)
        yield sample("balanced", values, parents), wanted, e


@pytest.mark.parametrize("parents", [TREE, CROOKED], ids=["balanced", "crooked"])
def test_on_a_tree_delta_1_is_l_e(parents: dict[str, str | None]) -> None:
    verdicts = Counter[bool]()
    for table, wanted, e in on_trees(parents):
        ours: Principle = wb.Dissimilarity(epsilon=e, delta=1, k=wanted, distance="tree")
        theirs: Principle = wb.LEDiversity(l=wanted, e=e)
        rules = [bound(ours, table), bound(theirs, table)]
        rng = np.random.default_rng(len(table.values))
        some = [
            sorted(rng.permutation(len(table.values))[: rng.integers(1, 6)].tolist())
            for _ in range(12)
        ]
        judged = [rule.satisfies(table.groups(some)).tolist() for rule in rules]
        defined_so = [naive.l_e(table.of(part), table.context, wanted, e) for part in some]
        assert judged[0] == judged[1] == defined_so
        found = [feasible(rule, table) for rule in rules]
        assert found[0] == found[1]
        verdicts[found[0]] += 1
        if found[0]:
            for rule, other in (rules, rules[::-1]):
                assert other.satisfies(table.groups(groups_by(rule, table))).all()
    assert min(verdicts.values()) > 8


# ---- δ, k and ε themselves


def test_stronger_parameters_are_stronger() -> None:
    """Group by group: more δ, more k, more ε never accept what less did not."""
    rng = np.random.default_rng(9)
    for seed in range(30):
        table, _ = numbers(seed)
        rows = rng.permutation(len(table.values))
        parts = [p.tolist() for p in np.array_split(rows, max(len(rows) // 5, 1))]
        base = {"epsilon": 3, "delta": Fraction(1, 2), "k": 3}
        for key, values in (("epsilon", range(8)), ("delta", DELTAS), ("k", range(1, 8))):
            before = np.ones(len(parts), dtype=bool)
            for value in values:
                rule = bound(wb.Dissimilarity(**{**base, key: value}), table)
                now = rule.satisfies(table.groups(parts))
                assert not (now & ~before).any()
                before = now
