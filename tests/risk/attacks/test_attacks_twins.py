"""What is learnt from histograms, against slow twins that see lists of values."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numba  # noqa: F401 - compiled code is used only where it is loaded
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from tests import naive
from tests.samples import Sample, principles, samples
from wideberth.core.codes import encode
from wideberth.core.groups import Groups
from wideberth.risk.attacks import (
    CONFIDENCES,
    AdversarySettings,
    BackgroundKnowledge,
    BeliefAttack,
    DissimilarityAttack,
    Homogeneity,
    ProximityAttack,
    Risk,
    SimilarityAttack,
    VictimClasses,
    interval_claim,
    intervals,
    learn,
    own_shares,
    posterior,
    share_without,
)
from wideberth.risk.attacks.situations import weighted_median


@dataclass(frozen=True)
class Scene:
    """Who faces what, in both worlds."""

    table: Sample
    faced: VictimClasses
    rows: list[list[Any]]  # what each histogram counts
    victims: list[tuple[Any, int]]  # everybody's value, and which histogram they face

    def of_each(self, figures: Any) -> dict[tuple[Any, int], Any]:
        """Return the figure of each class of victims, by value and histogram."""
        faced = self.faced
        assert len(figures) == len(faced)
        codes = self.table.column.codes.tolist()
        value = dict(zip(codes, self.table.values, strict=True))
        return {
            (value[code], owner): figure
            for code, owner, figure in zip(
                faced.codes.tolist(), faced.owner.tolist(), figures.tolist(), strict=True
            )
        }

    def faces(self) -> list[tuple[Any, list[Any]]]:
        """Return everybody's value, and the rows they face."""
        return [(value, self.rows[owner]) for value, owner in self.victims]


@st.composite
def scenes(draw: st.DrawFn, table: Sample) -> Scene:
    """Let rows face their groups, or any union of groups, with their own row in it or not."""
    if draw(st.booleans()):
        rows = [table.of(part) for part in table.parts]
        victims = [(value, owner) for owner, part in enumerate(rows) for value in part]
        return Scene(table, VictimClasses.known(table.groups(table.parts)), rows, victims)
    several = st.sets(st.integers(0, len(table.parts) - 1), min_size=1)
    unions = [
        [row for part in sorted(chosen) for row in table.parts[part]]
        for chosen in draw(st.lists(several, min_size=1, max_size=4))
    ]
    everybody = range(len(table.values))
    facing = [draw(st.integers(0, len(unions) - 1)) for _ in everybody]
    classes = Counter((facing[row], int(table.column.codes[row])) for row in everybody)
    order = draw(st.permutations(sorted(classes)))
    faced = VictimClasses(
        groups=table.groups(unions),
        owner=np.array([owner for owner, _ in order]),
        codes=np.array([code for _, code in order]),
        people=np.array([classes[key] for key in order]),
    )
    victims = [(table.values[row], facing[row]) for row in everybody]
    return Scene(table, faced, [table.of(union) for union in unions], victims)


def same(found: dict[Any, float], expected: dict[Any, Any]) -> None:
    assert found.keys() == expected.keys()
    for key, figure in expected.items():
        assert found[key] == pytest.approx(float(figure), abs=1e-12), key


def risk_of(shares: list[Fraction]) -> dict[str, Any]:
    return {
        "worst": float(max(shares)),
        "mean": pytest.approx(float(sum(shares) / len(shares))),
        "people": len(shares),
        "above": {
            text: sum(share >= Fraction(text) for share in shares)
            for text in ("0.5", "0.75", "0.9", "1")
        },
    }


values = samples(wb.DistinctLDiversity, rows=9)
numbers = samples(wb.EpsilonMAnonymity, rows=9)
trees = samples(wb.LEDiversity, rows=9)


@settings(max_examples=150)
@given(values.flatmap(scenes))
def test_guesses(scene: Scene) -> None:
    shares = {(v, owner): naive.share(v, scene.rows[owner]) for v, owner in scene.victims}
    same(scene.of_each(own_shares(scene.faced)), shares)
    everybody = [naive.share(value, rows) for value, rows in scene.faces()]
    found = learn(scene.faced, scene.table.column.domain).to_dict()
    assert found["guess"] == risk_of(everybody)
    sure = [owner for value, owner in scene.victims if set(scene.rows[owner]) == {value}]
    assert found["certain"] == {"people": len(sure), "groups": len(set(sure))}


@settings(max_examples=150)
@given(values.flatmap(scenes), st.integers(0, 5))
def test_background_knowledge(scene: Scene, ruled_out: int) -> None:
    found = scene.of_each(share_without(scene.faced, ruled_out))
    same(
        found,
        {
            (v, owner): naive.share_without(v, scene.rows[owner], ruled_out)
            for v, owner in scene.victims
        },
    )
    background = BackgroundKnowledge.of(scene.faced, ruled_out).to_dict()
    for step in background["ruled_out"]:
        out = step["values"]
        posteriors = [naive.share_without(v, rows, out) for rows in scene.rows for v in rows]
        assert step["worst"] == pytest.approx(float(max(posteriors)))
        sure = [naive.share_without(value, rows, out) == 1 for value, rows in scene.faces()]
        assert step["certain"] == sum(sure)
    assert len(background["ruled_out"]) == ruled_out + 1
    needed = sorted(len(set(rows)) - 1 for value, rows in scene.faces() if value in rows)
    assert background["needed"]["least"] == min(needed, default=None)
    if needed:
        assert background["needed"]["median"] == needed[(len(needed) - 1) // 2]
    people = background["needed"]["people"]
    assert people.pop("more") == sum(number > ruled_out for number in needed)
    assert people == {str(out): needed.count(out) for out in range(ruled_out + 1)}


@settings(max_examples=200)
@given(numbers, st.data())
def test_nearness(table: Sample, data: st.DataObject) -> None:
    scene = data.draw(scenes(table))
    principle = data.draw(
        principles(wb.EpsilonMAnonymity, table).filter(lambda p: p.epsilon is not None)
    )
    epsilon, relative = naive.given(principle.epsilon), principle.relative
    context, domain = table.context, table.column.domain
    near = ProximityAttack(domain, epsilon=epsilon, relative=relative)

    def around(value: Any, rows: list[Any]) -> Fraction:
        inside = [naive.near(value, y, context, epsilon, relative, None, None) for y in rows]
        return Fraction(sum(inside), len(rows))

    shares = {(v, owner): around(v, scene.rows[owner]) for v, owner in scene.victims}
    same(scene.of_each(near.shares(scene.faced)), shares)
    told = learn(scene.faced, domain, AdversarySettings(epsilon=epsilon, relative=relative))
    found = told.to_dict()["nearness"]
    assert found["risk"] == risk_of([around(value, rows) for value, rows in scene.faces()])
    held = [
        Fraction(naive.fullest(rows, context, epsilon, relative), len(rows)) for rows in scene.rows
    ]
    facing = Counter(owner for _, owner in scene.victims)
    for claim, widths in zip(found["claims"], found["widths"], strict=True):
        confidence = naive.given(claim["confidence"])
        sure = [owner for owner, share in enumerate(held) if share >= confidence]
        assert claim["people"] == sum(facing[owner] for owner in sure)
        shortest = [naive.shortest(rows, context, confidence) for rows in scene.rows]
        lengths = [shortest[owner] for _, owner in scene.victims]
        ordered = sorted((float("inf") if x is None else x) for x in lengths)
        for name, wanted in (("least", ordered[0]), ("median", ordered[(len(ordered) - 1) // 2])):
            exact = None if wanted == float("inf") else float(wanted)
            assert widths[name] == (exact if exact is None else pytest.approx(exact))
    for group, rows in enumerate(scene.rows):
        told_of = interval_claim(
            scene.faced.groups, group, domain, epsilon=epsilon, relative=relative
        )
        if told_of is None:
            assert set(rows) == {None}
            continue
        assert told_of.confidence == held[group]
        low, high = context.exact(told_of.low), context.exact(told_of.high)
        assert sum(low <= x <= high for x in context.numbers(rows)) == held[group] * len(rows)
        assert naive.fullest([told_of.low, told_of.high], context, epsilon, relative) == 2


@settings(max_examples=100)
@given(numbers, st.data())
def test_compiled_code_says_the_same(table: Sample, data: st.DataObject) -> None:
    scene = data.draw(scenes(table))
    principle = data.draw(
        principles(wb.EpsilonMAnonymity, table).filter(lambda p: p.epsilon is not None)
    )
    epsilon, relative = naive.given(principle.epsilon), principle.relative
    near = ProximityAttack(table.column.domain, epsilon=epsilon, relative=relative)
    found = []
    for many in (10**9, 0):
        with mock.patch.object(intervals, "_MANY", many):
            assert (intervals._compiled(scene.faced.groups) is None) == (many > 0)
            most, widths = near.intervals(scene.faced.groups)
            found.append((near.shares(scene.faced).tolist(), most.tolist(), widths.tolist()))
    assert found[0] == found[1]


def test_numba_is_not_loaded_for_it() -> None:
    with mock.patch.object(intervals, "_MANY", 0), mock.patch.dict(sys.modules):
        sys.modules.pop("numba", None)
        assert intervals._compiled(Groups.of([[0]], width=1)) is None


@settings(max_examples=150)
@given(trees, st.data())
def test_kinds(table: Sample, data: st.DataObject) -> None:
    scene = data.draw(scenes(table))
    e = data.draw(st.sampled_from([Fraction(n, 2) for n in range(9)]))
    context, domain = table.context, table.column.domain
    kinds = SimilarityAttack(domain, e)
    found = kinds.to_dict(kinds.on(scene.faced))
    assert len(found["levels"]) == domain.tree.height
    for level in found["levels"]:
        depth = level["level"]

        def alike(value: Any, rows: list[Any], depth: int = depth) -> Fraction:
            kind = naive.kind(value, context, depth)
            same_kind = [kind is not None and naive.kind(y, context, depth) == kind for y in rows]
            return Fraction(sum(same_kind), len(rows))

        shares = {(v, owner): alike(v, scene.rows[owner]) for v, owner in scene.victims}
        same(scene.of_each(kinds.shares(scene.faced, depth)), shares)
        everybody = [alike(value, rows) for value, rows in scene.faces()]
        assert level["mean"] == pytest.approx(float(sum(everybody) / len(everybody)))
        assert level["certain_people"] == sum(share == 1 for share in everybody)
        worst = max(alike(value, rows) for rows in scene.rows for value in rows)
        assert level["worst"] == float(worst)
    similar = [
        Fraction(sum(naive.similar(v, y, context, "tree", e) for y in rows), len(rows))
        for v, rows in scene.faces()
    ]
    assert found["similarity"] == risk_of(similar)


@settings(max_examples=150)
@given(samples(wb.Dissimilarity, rows=9), st.data())
def test_farness(table: Sample, data: st.DataObject) -> None:
    scene = data.draw(scenes(table))
    principle = data.draw(principles(wb.Dissimilarity, table))
    try:
        far = DissimilarityAttack(
            table.column.domain, naive.given(principle.epsilon), principle.distance
        )
    except (wb.ParameterError, wb.TableError):
        return  # an epsilon or a distance that the values do not allow
    everybody = [
        naive.near_others(v, rows, table.context, principle.distance, principle.epsilon)
        for v, rows in scene.faces()
    ]
    found = far.to_dict(far.on(scene.faced))
    assert {key: found[key] for key in ("worst", "mean", "people", "above")} == risk_of(everybody)


@settings(max_examples=150)
@given(values, st.data())
def test_changes_of_belief(table: Sample, data: st.DataObject) -> None:
    scene = data.draw(scenes(table))
    domain = table.column.domain
    tenths = st.integers(0, 10).map(lambda n: n / 10)
    limits = {name: data.draw(tenths) for name in ("delta", "epsilon", "floor", "rho1", "rho2")}
    code = dict(zip(table.values, table.column.codes.tolist(), strict=True))
    alpha = {v: Fraction(table.values.count(v), len(table.values)) for v in code}
    group_prior = None
    if data.draw(st.booleans()):
        drawn = {v: data.draw(st.integers(1, 4)) for v in code}
        group_prior = {v: Fraction(n, sum(drawn.values())) for v, n in drawn.items()}
    as_array = None
    if group_prior is not None:
        as_array = np.zeros(domain.size)
        for value, share in group_prior.items():
            as_array[code[value]] = share
    change = BeliefAttack(domain, group_prior=as_array, **limits).change(scene.faced)
    names = list(code)
    beta = []
    for rows in scene.rows:
        counts = [rows.count(v) for v in names]
        gamma = None if group_prior is None else [group_prior[v] for v in names]
        believed = posterior(counts, [alpha[v] for v in names], gamma)
        beta.append(dict(zip(names, believed, strict=True)))
    present = [(v, beta[owner][v]) for owner, rows in enumerate(scene.rows) for v in set(rows)]
    assert change.largest_ratio == pytest.approx(float(max(b / alpha[v] for v, b in present)))
    gain = max(0.0, *(float(b - alpha[v]) for v, b in present))
    assert change.largest_gain == pytest.approx(gain)
    if group_prior is not None:
        # Floats; what is exactly at a limit may fall on either side.
        ends = {float(b) for beliefs in beta for b in beliefs.values()}
        edges = [1 - limits["delta"], limits["epsilon"], limits["rho2"], 1 - limits["rho2"]]
        if any(abs(end - edge) < 1e-9 for end in ends for edge in edges):
            return
    exact = {name: naive.given(number) for name, number in limits.items()}
    positive = [o for v, o in scene.victims if beta[o][v] > 1 - exact["delta"]]
    assert change.positive == (len(positive), len(set(positive)))
    negative = [
        owner
        for value, owner in scene.victims
        if any(
            alpha[s] >= exact["floor"] and beta[owner][s] < exact["epsilon"] and s != value
            for s in names
        )
    ]
    assert change.negative == (len(negative), len(set(negative)))
    rho1, rho2 = exact["rho1"], exact["rho2"]
    upward = [any(alpha[s] <= rho1 and beta[o][s] >= rho2 for s in names) for _, o in scene.victims]
    downward = [
        any(alpha[s] >= 1 - rho1 and beta[o][s] <= 1 - rho2 for s in names)
        for _, o in scene.victims
    ]
    assert (change.upward, change.downward) == (sum(upward), sum(downward))
    assert change.breached == sum(map(any, zip(upward, downward, strict=True)))


@settings(max_examples=60)
@given(st.data())
def test_posteriors_are_those_of_all_tables(data: st.DataObject) -> None:
    """Theorem 3.1, by going through every table of a few people."""
    cells = [(q, s) for q in ("q", "like q", "outside") for s in "abc"]
    drawn = [data.draw(st.integers(0 if q != "q" else 1, 4)) for q, _ in cells]
    prior = {cell: Fraction(n, sum(drawn)) for cell, n in zip(cells, drawn, strict=True)}
    seen = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3))
    inside = {s: prior["q", s] + prior["like q", s] for s in "abc"}
    if not sum(prior["outside", s] for s in "abc"):
        return  # there is one more person, who must be somewhere
    expected = naive.posterior("q", seen, prior)
    found = posterior(
        [seen.count(s) for s in "abc"],
        [prior["q", s] for s in "abc"],
        [inside[s] for s in "abc"],
    )
    for s, belief in zip("abc", found, strict=True):
        assert belief == expected.get(s, 0)


@settings(max_examples=60)
@given(numbers, st.data())
def test_parts_add_up(table: Sample, data: st.DataObject) -> None:
    """In however many blocks, the measures are the same."""
    scene = data.draw(scenes(table))
    domain = table.column.domain
    whole = learn(scene.faced, domain, AdversarySettings(far=1, distance="absolute")).to_dict()
    blocks = list(scene.faced.blocks(entries=data.draw(st.integers(1, 4))))
    parts = learn(iter(blocks), domain, AdversarySettings(far=1, distance="absolute")).to_dict()
    flat, flat_parts = _flat(whole), _flat(parts)
    assert flat.keys() == flat_parts.keys()
    for key, figure in flat.items():
        assert flat_parts[key] == (pytest.approx(figure) if isinstance(figure, float) else figure)


def _flat(tree: Any, path: tuple[Any, ...] = ()) -> dict[Any, Any]:
    if isinstance(tree, dict | list):
        pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
        return {k: v for key, part in pairs for k, v in _flat(part, (*path, key)).items()}
    return {path: tree}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=1))
def test_the_middle(pairs: list[tuple[int, int]]) -> None:
    everybody = sorted(value for value, people in pairs for _ in range(people))
    found = weighted_median(
        np.array([v for v, _ in pairs], dtype=float), np.array([people for _, people in pairs])
    )
    assert found == everybody[(len(everybody) - 1) // 2]


def test_shares_at_a_confidence_count() -> None:
    """A quotient that is exactly a confidence is at it, and the next smaller one is not."""
    for confidence in CONFIDENCES:
        exact = Fraction(str(confidence))
        for size in (20, 1000, 10**6, 10**9):
            at = np.array([int(exact * size), int(exact * size) - 1])
            risk = Risk.of(at / size, np.array([1, 1]))
            assert risk.above[confidence] == 1


def test_nobody() -> None:
    """Where everything is suppressed, nothing is learnt."""
    empty = np.zeros(0, dtype=np.int64)
    groups = Groups(start=np.zeros(1, np.int64), codes=empty, counts=empty, width=2)
    domain = encode(pl.Series("s", [1, 2])).domain
    found = learn(VictimClasses.known(groups), domain).to_dict()
    assert found["guess"]["people"] == 0
    assert found["certain"] == {"people": 0, "groups": 0}
    assert found["background"]["needed"]["least"] is None
    assert found["nearness"]["widths"][0]["median"] is None
    assert Homogeneity.of(VictimClasses.known(groups)) == Homogeneity(0, 0)
