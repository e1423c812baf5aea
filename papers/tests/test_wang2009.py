"""The statements of Wang et al. 2009, tested by slow twins and by judges that can reject them."""

from __future__ import annotations

import warnings
from fractions import Fraction
from itertools import combinations, product

import numba
import numpy as np
import polars as pl
import pytest
import vl_convert

import wideberth as wb
from tests import naive
from wideberth import datasets
from wideberth.principles.partition.decide import PartitionAnswer
from wideberth_papers.study import Setting
from wideberth_papers.wang2009 import STUDY, groups, maps, printed, truth
from wideberth_papers.wang2009.graphs import (
    KINDS,
    all_graphs,
    best_delta,
    chromatic,
    edges,
    ensuring,
    holds,
    largest_clique,
    metric,
    padded,
    possible,
    random_graph,
    refuting,
)

DELTAS = [Fraction(d) for d in ("0", "1/3", "1/2", "2/3", "1")]
STAR = np.eye(4, dtype=bool) | (np.arange(4) == 0) | (np.arange(4) == 0)[:, None]
compiled = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="too many tables for the interpreter"
)
#: Steps that take long: their kind is tried on less.
LONG = ("ε = 0.4", "ε = 0.5", "ε = 0.6", "ε = 0.7", "tables of 12", "tables of 14", "tables of 16")


def graphs(rows, count=12):
    rng = np.random.default_rng(rows)
    return [random_graph(KINDS[i % 3], rows, 0.1 + 0.05 * i, rng) for i in range(count)]


def labels_of(parts):
    found = {row: number for number, part in enumerate(parts) for row in part}
    return [found[row] for row in range(len(found))]


def share_of(near, part):
    """The share of far rows of the one that has the fewest; alone, nobody is far."""
    if len(part) == 1:
        return Fraction(0)
    return min(Fraction(sum(not near[v, w] for w in part), len(part) - 1) for v in part)


# ---- graphs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("density", [0.1, 0.5])
def test_random_graphs_have_about_the_density(kind, density):
    rng = np.random.default_rng(3)
    drawn = [random_graph(kind, 40, density, rng) for _ in range(40)]
    for near in drawn:
        assert (near == near.T).all()
        assert near.diagonal().all()
    share = np.mean([(near.sum() - 40) / (40 * 39) for near in drawn])
    assert abs(share - density) < 0.05


def test_graphs_on_a_line_are_of_numbers():
    """Intervals of one length make no ring of four without a chord."""
    near = random_graph("on a line", 15, 0.3, np.random.default_rng(1))
    for a, b, c, d in combinations(range(15), 4):
        hole = near[a, b] and near[b, c] and near[c, d] and near[d, a]
        assert not hole or near[a, c] or near[b, d]


@pytest.mark.parametrize(("rows", "count"), [(2, 2), (3, 4), (4, 11), (5, 34), (6, 156)])
def test_all_graphs_are_as_many_as_are_known(rows, count):
    assert len(list(all_graphs(rows))) == count


def test_the_metric_gives_the_graph():
    near = graphs(9)[5]
    apart = metric(near)
    for a, b, c in product(range(9), repeat=3):
        assert (apart(a, b) <= 1) == near[a, b]
        assert apart(a, b) == apart(b, a)
        assert (apart(a, b) == 0) == (a == b)
        assert apart(a, c) <= apart(a, b) + apart(b, c)


def test_edges_are_written_down():
    assert edges(STAR) == "4 rows; near each other: 1-2 1-3 1-4"
    assert edges(np.eye(2, dtype=bool)) == "2 rows; near each other: none"


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_definition_agrees_with_check(delta, k):
    """Random groups of random numbers, ε = 1; a row that is alone fails unless δ = 0."""
    rng = np.random.default_rng(5)
    rule = wb.Dissimilarity(epsilon=1, delta=delta, k=k)
    for _ in range(25):
        size = int(rng.integers(1, 9))
        values, labels = rng.integers(0, 12, size), rng.integers(0, 2, size).tolist()
        near = np.abs(values[:, None] - values) <= 1
        frame = {"value": values, "group": labels}
        found = wb.check(pl.DataFrame(frame), group="group", sensitive="value", principles=rule)
        assert holds(near, labels, delta, k) == found.satisfied


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_delta_by_all_partitions(k):
    for near in [*all_graphs(4), *graphs(6)]:
        reached = [
            min(share_of(near, part) for part in parts)
            for parts in naive.partitions(range(len(near)))
            if min(map(len, parts)) >= k
        ]
        assert best_delta(near, k) == max(reached)
    assert best_delta(STAR, 5) is None


def test_the_best_delta_is_reached_and_not_exceeded():
    for near in graphs(6):
        best = best_delta(near, 2)
        every = [labels_of(parts) for parts in naive.partitions(range(6))]
        assert any(holds(near, labels, best, 2) for labels in every)
        assert not any(holds(near, labels, best + Fraction(1, 1000), 2) for labels in every)


@pytest.mark.parametrize("delta", DELTAS)
def test_cp_sat_agrees_with_all_partitions(delta):
    pytest.importorskip("ortools")
    for near, k in product(graphs(8, 6), (1, 2, 3, 4)):
        assert possible(near, delta, k) == (best_delta(near, k) >= delta)


def test_colours_and_cliques_by_trying_all():
    for near in [*all_graphs(5), *graphs(6)]:
        n = len(near)
        pairs = [(a, b) for a, b in combinations(range(n), 2) if near[a, b]]
        fewest = next(
            m
            for m in range(1, n + 1)
            if any(
                all(colours[a] != colours[b] for a, b in pairs)
                for colours in product(range(m), repeat=n)
            )
        )
        assert chromatic(near) == fewest
        cliques = [
            len(rows)
            for size in range(1, n + 1)
            for rows in combinations(range(n), size)
            if all(near[a, b] for a, b in combinations(rows, 2))
        ]
        assert largest_clique(near) == max(cliques)


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_condition_is_wrong(delta, k):
    """Also for k = 1 and δ = 0, which the study leaves out."""
    for near in [*all_graphs(5), *graphs(8, 9)]:
        best = best_delta(near, k)
        if refuting(near, delta, k):
            assert best < delta
        if ensuring(near, delta, k):
            assert best >= delta


def test_each_condition_is_met_by_some_graph():
    empty, full = np.eye(6, dtype=bool), np.ones((6, 6), dtype=bool)
    assert refuting(full, Fraction(1), 2) == ["crowd", "row"]
    assert ensuring(empty, Fraction(1), 3) == ["whole", "colours", "merged"]
    ring = empty | np.roll(empty, 1, 0) | np.roll(empty, -1, 0)
    assert ensuring(ring, Fraction(1), 2) == ["colours", "merged"]
    assert refuting(ring, Fraction(1), 4) == ["crowd"]  # one group, and two are near
    assert refuting(STAR, Fraction(1), 2) == ["row"]


def test_a_star_has_two_colours_and_no_two_groups():
    """What the proof of Theorem 2 overlooks, and how it is mended."""
    assert chromatic(STAR) == 2
    assert best_delta(STAR, 2) < 1
    assert truth.satisfiable(STAR, Fraction(1), 2) == "no"
    assert truth.satisfiable(padded(STAR, 8), Fraction(1), 4) == "yes"


# ---- groups


def test_groups_are_judged_one_by_one():
    many = [[1, 1, 1, 5, 7, 11, 12], [0, 5, 9], [0, 0, 9], [3]]
    rules = [
        wb.EpsilonMAnonymity(epsilon=1, m=3),
        wb.Dissimilarity(epsilon=1, delta=Fraction(2, 3), k=3),
    ]
    anonymous, dissimilar = groups.judged(many, rules)
    assert anonymous.tolist() == [False, True, False, False]
    assert dissimilar.tolist() == [True, True, False, False]


def test_epsilon_m_counts_by_the_definition():
    rows = list(groups.measure_numbers(1, 60))
    rng = np.random.default_rng([1, 7])
    drawn = [(1, 1, 1, 5, 7, 11, 12)]
    for _ in range(59):
        width, size = rng.integers(4, 40), rng.integers(2, 21)
        drawn.append(tuple(rng.integers(0, width, size).tolist()))
    for row, m in zip(rows, (2, 3, 4, 5), strict=True):
        crowds = [max(sum(abs(v - w) <= 1 for w in g) for v in g) for g in drawn]
        anonymous = [c * m <= len(g) for g, c in zip(drawn, crowds, strict=True)]
        dissimilar = [
            len(g) >= m and (c - 1) * m <= len(g) - 1 for g, c in zip(drawn, crowds, strict=True)
        ]
        assert row["satisfy the other"] == sum(anonymous)
        assert row["satisfy the implied"] == sum(dissimilar)
        apart = sum(d and not a for a, d in zip(anonymous, dissimilar, strict=True))
        assert row["of these not the other"] == apart
    assert rows[1]["example"] == "{1, 1, 1, 5, 7, 11, 12}"
    assert rows == list(groups.measure_numbers(1, 60))


def relation(**changed):
    row = {
        "bound": "m = 3",
        "implied": "δ = 2/3, k = 3",
        "satisfy the other": 10,
        "of these not the implied": 0,
        "satisfy the implied": 12,
        "of these not the other": 0,
        "satisfy the implying": 4,
        "example": None,
    }
    return [row | changed]


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({}, "confirmed"),
        ({"of these not the other": 2, "example": "{7}"}, "confirmed with differences"),
        ({"of these not the implied": 1, "example": "{7}"}, "contradicted"),
        ({"satisfy the other": 0}, "not tested here"),
    ],
)
def test_relations_are_judged_from_rows(changed, word):
    verdict = groups.judge_relation(relation(**changed), "it")
    assert verdict.word == word
    if "example" in changed:
        told = verdict.counterexample or verdict.because
        assert told.endswith("m = 3, δ = 2/3, k = 3: {7}.")
        assert ("It does imply" in verdict.because) == (word != "contradicted")
    assert groups.judge_relation([], "it").word == "not tested here"


def test_a_relation_that_does_not_hold_is_found_out():
    """With too small a δ, dissimilarity does not imply (ε,m)-anonymity: ours would be wrong."""
    weak = wb.Dissimilarity(epsilon=1, delta=Fraction(1, 2), k=3)
    implied = wb.implied_by_breach(2, epsilon=1)
    related = groups.Related(wb.EpsilonMAnonymity(epsilon=1, m=2), implied, [weak])
    with pytest.raises(wb.VerificationError, match=r"implies epsilon-m:.*m=2"):
        groups._compared([(0, 5, 9), (0, 0, 9)], related)
    strong = wb.implying_breach(2, epsilon=1, k=3)
    row = groups._compared([(0, 5, 9), (0, 0, 9)], related._replace(implying=[strong]))
    assert (row["of these not the other"], row["example"]) == (1, "{0, 0, 9}")


@pytest.mark.parametrize(
    ("size", "wrong", "word", "said"),
    [
        (1, 0, "confirmed", "all 84 cases"),
        (1, 3, "contradicted", "3 of the 42 cases with a value that is alone"),
        (2, 1, "contradicted", "1 of 84 cases"),
    ],
)
def test_theorem_1_is_judged_from_rows(size, wrong, word, said):
    rows = [
        {
            "size": n,
            "cases": 42,
            "dissimilar, risk above 1 - δ": wrong if n == size else 0,
            "risk 1 - δ at most, not dissimilar": 0,
            "example": "{0}" if n == size and wrong else None,
        }
        for n in (1, 2)
    ]
    verdict = groups.judge_risk(rows)
    assert verdict.word == word
    assert said in verdict.because
    assert groups.judge_risk([]).word == "not tested here"


def test_a_check_that_does_not_go_by_the_risk_is_a_defect(monkeypatch):
    monkeypatch.setattr(groups, "_risk", lambda group: Fraction(0))
    with pytest.raises(wb.VerificationError, match="does not go by the risk"):
        list(groups.measure_risk())


# ---- Table I


def test_table_1_is_judged_from_rows():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wb.PrivacyWarning)
        rows = list(printed.measure())
    assert printed.judge(rows).word == "confirmed"
    second = rows[1]
    assert (second["row"], second["within 0.1"]) == (2, "1 2 3 4")
    assert (second["surest claim"], second["risk"]) == (0.8, 0.75)
    regrouped = [row for row in rows if row["panel"].startswith("regrouped")]
    assert sorted(row["row"] for row in regrouped) == list(range(1, 9))
    assert all(len(row["within 0.2"].split()) <= 2 for row in regrouped)
    second["within 0.1"] = "1 2"
    verdict = printed.judge(rows)
    assert verdict.word == "contradicted"
    assert "near row" in verdict.counterexample
    assert printed.judge([]).word == "not tested here"


# ---- maps and the solver


def cell(**changed):
    row = {"kind": "clusters", "density": 0.1, "delta": "1", "k": 2, "tables": 20, "yes": 20}
    row |= {"no": 0, "unknown": 0, "conditions say yes": 12, "conditions say no": 0}
    return row | changed


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({}, "confirmed"),
        ({"yes": 19, "unknown": 1}, "confirmed"),
        ({"yes": 18, "unknown": 2}, "confirmed with differences"),
        ({"conditions say yes": 9}, "confirmed with differences"),
        ({"tables": 0, "yes": 0}, "not tested here"),
    ],
)
def test_maps_are_judged_from_rows(changed, word):
    assert maps.judge([cell(**changed)]).word == word


def test_maps_that_are_mostly_open_are_contradicted():
    verdict = maps.judge([cell(), cell(k=4, yes=9, unknown=11)])
    assert verdict.word == "contradicted"
    where = "clusters, density 0.1, δ = 1, k = 4: 11 of 20 questions stay open."
    assert verdict.counterexample == where
    people = [
        {"epsilon": "0.3", "delta": "1", "k": 2, "tables": 2, "yes": 1, "no": 0, "unknown": 1}
    ]
    assert maps.judge(people).counterexample.startswith("ε = 0.3, δ = 1, k = 2: 1 of 2")
    assert maps.judge([]).word == "not tested here"


def test_a_no_at_odds_with_a_yes_is_wrong():
    def asked(epsilon, verdict):
        return {
            "measured": "map-distributions",
            "sample": 1,
            "rows": 9,
            "epsilon": epsilon,
            "delta": "1/2",
            "k": 2,
            "verdict": verdict,
        }

    fine = maps.select_people([asked("0.1", "yes"), asked("0.2", "no")])
    assert [(row["yes"], row["no"]) for row in fine] == [(1, 0), (0, 1)]
    with pytest.raises(wb.VerificationError, match=r"a no at ε = 0\.1"):
        maps.select_people([asked("0.1", "no"), asked("0.2", "yes")])


@compiled
def test_maps_of_people_are_those_of_advise():
    people = datasets.symptoms(200, seed=1)
    on = [name for name in people.columns if name.startswith("disease.")]
    rows = list(maps.measure_people(people, on, Fraction("0.3"), 1, 60, 5))
    picked = people.select(on)[np.random.default_rng([5, 1]).permutation(200)[:60]]
    near = (np.abs(picked.to_numpy()[:, None] - picked.to_numpy()).sum(axis=2) / 2).round(9) <= 0.3
    for row in rows:
        if refuting(near, Fraction(row["delta"]), row["k"]):
            assert row["verdict"] == "no"
        if ensuring(near, Fraction(row["delta"]), row["k"]):
            assert row["verdict"] == "yes"
    assert {row["verdict"] for row in rows} >= {"yes"}


@compiled
def test_groups_of_people_are_checked(monkeypatch):
    people = datasets.symptoms(80, seed=1)
    on = [name for name in people.columns if name.startswith("disease.")]
    never = type("Never", (), {"satisfied": False})()
    monkeypatch.setattr(maps, "check", lambda *_, **__: never)
    with pytest.raises(wb.VerificationError, match="do not satisfy"):
        list(maps.measure_people(people, on, Fraction("0.1"), 1, 60, 5))


def test_conditions_at_odds_with_answers_are_defects(monkeypatch):
    monkeypatch.setattr(maps, "satisfiable", lambda near, delta, k: "no")
    with pytest.raises(wb.VerificationError, match="near each other"):
        list(maps.measure_graphs("clusters", 0.1, 8, 1, 1))


@compiled
def test_the_solver_is_never_wrong_and_finds_what_there_is():
    (row,) = truth.measure_solver(8, 25, seed=4)
    assert row["unknown"] == 0
    assert row["found"] == row["possible"]
    assert row["refuted"] == row["tables"] - row["possible"]
    assert row["optima advised"] == row["optima"] > 0
    assert row["found at once"] <= row["found"]


@compiled
def test_a_solver_that_is_wrong_is_found_out(monkeypatch):
    def one_group(relation, codes, cap, unit, *, exact):
        return PartitionAnswer.of(np.zeros(len(codes), dtype=np.int64))

    monkeypatch.setattr(truth, "decide_partition", one_group)
    with pytest.raises(wb.VerificationError, match=r"groups are not .* near each other"):
        list(truth.measure_solver(8, 25, seed=4))


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_an_answer_at_odds_with_the_truth_is_a_defect(monkeypatch, answer):
    monkeypatch.setattr(truth, "satisfiable", lambda near, delta, k: answer)
    with pytest.raises(wb.VerificationError, match="an answer is wrong"):
        list(truth.measure_solver(6, 25, seed=4))
    with pytest.raises(wb.VerificationError, match="misjudged"):
        list(truth.measure_padding(4))


@pytest.mark.parametrize(
    ("found", "word"),
    [
        (100, "confirmed"),
        (99, "confirmed"),
        (98, "confirmed with differences"),
        (90, "confirmed with differences"),
        (89, "contradicted"),
        (0, "contradicted"),
    ],
)
def test_the_solver_is_judged_by_what_it_finds_at_once(found, word):
    row = {"tables": 150, "possible": 100, "found": 100, "found at once": found}
    row |= {"refuted": 50, "refuted at once": 40, "unknown": 0}
    row |= {"optima": 9, "optima advised": 9, "optima at once": 5}
    row["not at once"] = None if found == 100 else "δ = 1, k = 2, a graph"
    verdict = truth.judge_solver([row])
    assert verdict.word == word
    if word == "contradicted":
        assert verdict.counterexample.endswith("δ = 1, k = 2, a graph.")
    assert truth.judge_solver([row | {"possible": 0}]).word == "not tested here"
    assert truth.judge_solver([]).word == "not tested here"


def test_without_cp_sat_larger_tables_are_not_tested(monkeypatch):
    monkeypatch.setattr(truth, "possible", lambda near, delta, k: None)
    (row,) = truth.measure_solver(12, 3, seed=4)
    assert row["possible"] is None
    assert truth.judge_solver([row]).word == "not tested here"
    (small,) = truth.measure_solver(6, 10, seed=4)
    verdict = truth.judge_solver([small, row])
    assert "confirmed" in verdict.word
    assert "CP-SAT is not installed" in verdict.because
    assert len(truth.draw_solver([small, row])["concat"]) == 1


def test_theorem_2_is_judged_from_rows():
    rows = [*truth.measure_graphs(4), *truth.measure_padding(4)]
    theorem = [row for row in rows if row["measured"] == "theorem-2"]
    verdict = truth.judge_theorem(theorem)
    assert verdict.word == "confirmed with differences"
    assert "k = 2, 4 rows; near each other: 1-4 2-4 3-4." in verdict.because
    assert "the same in 30 of 30 cases" in verdict.because
    assert truth.judge_theorem(theorem[:1]).word == "not tested here"
    agree = {"coloured, but no groups": 0, "example": None}
    assert truth.judge_theorem([row | agree for row in theorem]).word == "confirmed"
    other = agree | {"groups, but not coloured": 1, "example": "a graph"}
    assert truth.judge_theorem([row | other for row in theorem]).word == "contradicted"


def test_conditions_are_counted_by_the_truth():
    rows = truth.select_conditions(list(truth.measure_graphs(4)))
    total = sum(row["cases"] for row in rows if row["condition"] in ("either", "any"))
    assert total == 11 * 5  # graphs, and δ, with k = 2
    for kind in ("necessary", "sufficient"):
        *single, together = [row["decided"] for row in rows if row["kind"] == kind]
        assert max(single) <= together <= sum(single)


@pytest.mark.parametrize(
    ("necessary", "sufficient", "word"),
    [
        (0.5, 0.1, "confirmed"),
        (0.9, 0.05, "confirmed with differences"),
        (0.4, 0.9, "contradicted"),
        (0.0, 0.0, "contradicted"),
    ],
)
def test_conditions_are_judged_by_what_they_settle(necessary, sufficient, word):
    rows = [
        {
            "condition": name,
            "kind": kind,
            "cases": 100,
            "decided": round(100 * share),
            "share": share,
            "not settled": f"a graph of {name}",
        }
        for name, kind in truth.CONDITIONS.items()
        for share in [necessary if kind == "necessary" else sufficient]
    ]
    verdict = truth.judge_conditions(rows)
    assert verdict.word == word
    if word == "contradicted":
        assert verdict.counterexample == "Impossible, not refuted: a graph of either."
    assert truth.judge_conditions([]).word == "not tested here"
    none = [row | {"cases": 0, "share": None} for row in rows]
    assert truth.judge_conditions(none).word == "not tested here"


def test_a_wrong_condition_is_a_defect(monkeypatch):
    monkeypatch.setattr(truth, "refuting", lambda near, delta, k: ["row"])
    with pytest.raises(wb.VerificationError, match="a condition is wrong"):
        list(truth.measure_graphs(4))


# ---- the whole


@compiled
def test_the_study_judges_and_draws_every_figure():
    pytest.importorskip("ortools")  # without, more of a map is unknown
    plan = STUDY.plan(Setting(rows=400, seed=1))
    keys = [step.key for step in plan.steps]
    assert len(set(keys)) == len(keys)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wb.PrivacyWarning)
        rows = [
            row
            for step in plan.steps
            if not any(word in step.key for word in LONG)
            for row in step.run()
        ]
    words = {}
    for figure in plan.figures:
        chosen = figure.select(rows)
        assert chosen
        words[figure.name] = figure.judge(chosen).word
        if figure.draw is not None:
            assert "</svg>" in vl_convert.vegalite_to_svg(figure.draw(chosen))
    # How much of a map is decided, and how much is solved at once, may change with the solver.
    assert all("confirmed" in words.pop(name) for name in ("map-graphs", "map-distributions"))
    assert "confirmed" in words.pop("solver")
    assert words == {
        "table-1": "confirmed",
        "theorem-1": "contradicted",
        "against-alpha-k": "confirmed with differences",
        "against-epsilon-m": "confirmed with differences",
        "theorem-2": "confirmed with differences",
        "conditions": "confirmed",
    }


def test_a_given_table_is_used(tmp_path):
    datasets.symptoms(300, seed=3).write_csv(tmp_path / "patients.csv")
    source = STUDY.plan(Setting(rows=250, given=[str(tmp_path)])).source
    assert source.path is not None
    assert source.table.height == 250
    assert source.table.select(source.shape.sensitive).sum_horizontal().round(6).eq(1).all()


def test_more_rows_are_more_tables():
    few, many = (STUDY.plan(Setting(rows=rows)) for rows in (1_000, 20_000))
    assert len(many.steps) > len(few.steps)
    assert STUDY.plan(Setting()).source.rows is None
