"""The study of (δ,l)-diversity: slow twins of its principles, the printed code, its verdicts."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth import datasets
from wideberth_papers.deltal import CLASSES, FIGURES, HALVES, intervals, plan
from wideberth_papers.deltal.claims import (
    WAYS,
    judge_chain,
    judge_code,
    judge_drawback,
    judge_examples,
    judge_monotonicity,
    judge_repair,
    judge_time,
    slope,
)
from wideberth_papers.deltal.intervals import literal, near, stab
from wideberth_papers.shapes import SAL
from wideberth_papers.study import Setting


@pytest.fixture(scope="module")
def outcome(measured):
    return measured("deltal", 400)


def shown(outcome, name: str):
    return next(one for one in outcome.shown if one.figure.name == name)


# ---- the principles, pair by pair


def naive_literal(values, delta, ell) -> bool:
    """Decide by Definition 5: intervals that overlap, ends included."""
    for v in values:
        similar = sum(v - delta <= w + delta and w - delta <= v + delta for w in values)
        if similar * ell > len(values):
            return False
    return True


def naive_stab(values, delta, ell) -> bool:
    """No closed interval of length 2δ is too full; it may begin at a value."""
    return all(sum(v <= w <= v + 2 * delta for w in values) * ell <= len(values) for v in values)


WHOLE = st.lists(st.integers(0, 12), min_size=1, max_size=7)
HALF = st.integers(0, 8).map(lambda twice: Fraction(twice, 2))


@given(st.lists(WHOLE, min_size=1, max_size=5), HALF, st.integers(1, 4))
def test_groups_are_judged_as_defined(groups, delta, ell):
    asked = [literal(float(delta), ell), stab(float(delta), ell)]
    expected = [[judge(g, delta, ell) for g in groups] for judge in (naive_literal, naive_stab)]
    assert intervals.judged(groups, asked).tolist() == expected


@given(WHOLE, HALF, st.integers(1, 4))
def test_the_chain_holds(group, delta, ell):
    chain = (
        naive_stab(group, 2 * delta, ell),
        naive_literal(group, delta, ell),
        naive_stab(group, delta, ell),
        bool(intervals.judged([group], [near(float(delta), ell)])[0, 0]),
    )
    assert all(then or not first for first, then in pairwise(chain))


def test_the_chain_is_counted():
    holds = np.array([[1, 0], [1, 0], [1, 1], [1, 1]], dtype=bool)
    assert intervals.chained(holds) == {"implied": 4, "broken": 0}
    holds[2, 0] = False
    assert intervals.chained(holds)["broken"] == 1


def test_ratings_are_those_of_the_paper():
    assert intervals.rated([490, 500, 510, 1000], stab(10, 2)) == pytest.approx(4 / 3)
    for group in ([40, 60], [40, 50, 60]):
        assert intervals.rated(group, literal(15, 2)) == intervals.rated(group, stab(15, 2)) == 1
    assert [intervals.rated(g, near(15, 2)) for g in ([40, 60], [40, 50, 60])] == [2, 1]


# ---- unions


def test_unions_are_counted_as_by_hand():
    """The same draws, group by group."""
    row = intervals.united(4, 10, 2, 300, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    drawn = rng.integers(0, 100, (300, 4)).tolist()
    for name, judge in (("literal", naive_literal), ("stab", naive_stab)):
        passing = rng.permutation([i for i, g in enumerate(drawn) if judge(g, 10, 2)])
        unions = [drawn[a] + drawn[b] for a, b in zip(passing[0::2], passing[1::2], strict=False)]
        failed = sum(not judge(union, 10, 2) for union in unions)
        counted = row[f"{name}_pass"], row[f"{name}_unions"], row[f"{name}_failed"]
        assert counted == (len(passing), len(unions), failed)
    assert row["literal_failed"] > 0 == row["stab_failed"]


def test_a_repair_that_is_not_monotone_is_a_defect(monkeypatch):
    monkeypatch.setattr(intervals, "stab", literal)
    with pytest.raises(wb.VerificationError, match="unions do not satisfy"):
        intervals.united(4, 10, 2, 300, np.random.default_rng(5))


# ---- the printed code


@given(WHOLE.map(sorted).filter(lambda v: len(v) > 1), HALF, st.integers(1, 4))
def test_the_code_is_right_with_the_other_sign_but_for_single_rows(values, delta, ell):
    assert intervals.printed(values, delta, ell) == naive_literal(values, delta, ell)


@given(WHOLE.map(sorted), HALF, st.integers(1, 4))
def test_as_printed_it_errs_where_ends_touch_or_a_row_is_alone(values, delta, ell):
    touching = any(abs(v - w) == 2 * delta for v in values for w in values)
    if not touching and len(values) > 1:
        said = intervals.printed(values, delta, ell, closed=False)
        assert said == naive_literal(values, delta, ell)


def test_its_faults():
    assert intervals.printed([1, 3, 9], 3, 1.5, closed=False) is True
    assert not naive_literal([1, 3, 9], 3, 1.5)
    assert intervals.printed([7], 1, 99) is True
    assert intervals.printed([1, 2], 0, 2, closed=False) is None


@given(WHOLE.map(sorted), HALF)
def test_it_moves_at_most_three_times_a_row(values, delta):
    assert len(values) - 1 <= intervals.moves(values, delta) <= 3 * len(values)


def test_moves_are_counted_one_by_one():
    """Windows of 1, 2 and 9, each a move: the first reaches 2, the last leaves 1, 2 behind."""
    assert intervals.moves([1, 2, 9], 1) == (1 + 1) + 1 + (1 + 2 + 1)
    assert intervals.moves([5], 1) == 0


@pytest.mark.parametrize("values", ["whole numbers", "real numbers"])
def test_misjudged_classes_are_counted(values):
    row = intervals.misjudged(values, 400, 1, 2, np.random.default_rng(2))
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 9, 400)
    draw = rng.integers if values == "whole numbers" else rng.uniform
    groups = [sorted(draw(0, 20, size).tolist()) for size in sizes]
    wrong = [g for g in groups if intervals.printed(g, 1, 2) != naive_literal(g, 1, 2)]
    assert row["misjudged"] == len(wrong)
    assert row["of_one_row"] == sum(len(g) == 1 for g in wrong) == row["misjudged"] > 0
    assert (row["misjudged_open"] > row["misjudged"]) == (values == "whole numbers")


# ---- releases


@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_releases_are_measured():
    table = datasets.sal(400, seed=1)
    dealt = intervals.released(table, SAL, 1000, 5, literal(1000, 5), seed=1)
    plain = intervals.released(table, SAL, 1000, 5, stab(1000, 5), seed=1)
    assert 0 < dealt["ncp"] < 1
    assert (dealt["broken"], plain["broken"]) == (0, 0)
    assert plain["leaves"] == plain["groups"]
    assert set(intervals.released(table, SAL, 1, 5, stab(90_000, 5), seed=1).values()) == {None}


def test_the_whole_table_is_one_group():
    table = datasets.sal(400, seed=1)
    assert intervals.whole(table, "income", stab(100, 2))
    assert not intervals.whole(table, "income", stab(90_000, 2))


# ---- all of it


def test_every_figure_has_rows_and_a_verdict(outcome):
    assert [one.figure.name for one in outcome.shown] == [figure.name for figure in FIGURES]
    for one in outcome.shown:
        assert one.rows
        assert one.verdict.because
        assert (one.verdict.word == "contradicted") == (one.verdict.counterexample is not None)
        if one.figure.draw is not None:
            assert vl_convert.vegalite_to_svg(json.dumps(one.figure.draw(one.rows)))


def test_what_it_says(outcome):
    words = {one.figure.name: one.verdict.word for one in outcome.shown}
    assert words == {
        "examples": "contradicted",
        "drawback": "contradicted",
        "monotonicity": "contradicted",
        "repair": "contradicted",
        "chain": "confirmed",
        "checking-code": "contradicted",
        "checking-time": "confirmed",
    }
    assert "{0, 2}, {1, 3}" in shown(outcome, "monotonicity").verdict.counterexample
    code = shown(outcome, "checking-code").verdict
    assert code.counterexample.startswith("{7}, δ = 1, l = 2: satisfied by the code, violated")
    assert "Of two rows or more it is right" in code.because


def test_nothing_measured_is_nothing_tested():
    for figure in FIGURES:
        assert figure.judge([]).word == "not tested here"


def test_the_plan_follows_the_table():
    keys = [step.key for step in plan(Setting()).steps]
    assert len(set(keys)) == len(keys)
    assert f"time of checking {CLASSES[-1]:,} rows" in keys
    assert "time of checking 100,000 rows" not in [s.key for s in plan(Setting(rows=400)).steps]


# ---- verdicts can go either way


def test_examples_may_differ(outcome):
    rows = [dict(row) for row in shown(outcome, "examples").rows]
    assert "25%" in judge_examples(rows).counterexample
    rows[0]["certain"] = 1.0
    assert judge_examples(rows).word == "confirmed"
    rows[2]["epsilon_m"] = 3.0
    assert judge_examples(rows).counterexample == "{40, 50, 60} has m = 3, not 1."


def test_a_principle_of_its_own_would_be_confirmed(outcome):
    rows = [dict(row) for row in shown(outcome, "drawback").rows]
    for row in rows:
        row["literal"] = row["literal"] and 1.0
    assert judge_drawback(rows).word == "confirmed"
    for row in rows:
        row["epsilon_m"] = row["epsilon_m"] and 1.0
    assert judge_drawback(rows).word == "confirmed with differences"


def test_monotone_unions_would_be_confirmed(outcome):
    rows = [row | {"failed": 0, "share": 0.0} for row in shown(outcome, "monotonicity").rows]
    assert judge_monotonicity(rows).word == "confirmed"
    rows[-2] |= {"failed": 1, "share": 0.1}  # a random one under `literal`
    assert "random groups of 32" in judge_monotonicity(rows).counterexample
    never = [row | {"unions": 0, "failed": 0, "share": None} for row in rows]
    assert judge_monotonicity(never).word == "not tested here"


def test_the_repair_is_judged_by_where_splitting_begins():
    def rows(whole):
        return [
            {"rows": 900, "delta": delta, "l": 5, "way": way, "whole": whole, "ncp": ncp}
            | {"leaves": 3, "groups": 4, "query_error": ncp}
            for delta in HALVES
            for way, ncp in zip(WAYS, (0.1, 0.2, None), strict=True)
        ]

    assert judge_repair(rows(True)).word == "confirmed"
    lossless = [row | {"ncp": 0.0, "query_error": 0.0} for row in rows(True)]
    assert "times as much" not in judge_repair(lossless).because
    verdict = judge_repair(rows(False))
    assert "2.00 to 2.00 times" in verdict.because
    assert verdict.counterexample.startswith(f"δ = {HALVES[0]}, l = 5")
    nothing = [row | {"ncp": None} for row in rows(True)]
    assert judge_repair(nothing).word == "not tested here"


def test_a_broken_chain_is_told():
    row = {"on": "random groups", "delta": 1, "groups": 9, "implied": 5, "broken": 0}
    assert judge_chain([row]).word == "confirmed"
    assert judge_chain([row | {"broken": 1}]).word == "contradicted"


def test_code_without_faults_would_be_confirmed(outcome):
    faults = ("misjudged", "of_one_row")
    rows = [row | dict.fromkeys(faults, 0) for row in shown(outcome, "checking-code").rows]
    assert judge_code(rows).word == "confirmed"
    rows[-1] |= {"misjudged": 3, "of_one_row": 1}
    verdict = judge_code(rows)
    assert verdict.counterexample.endswith("3 of 1,000 classes are misjudged.")
    assert "it is right" not in verdict.because


@pytest.mark.parametrize(
    ("power", "word"),
    [(0, "confirmed"), (0.1, "confirmed with differences"), (0.5, "contradicted")],
)
def test_time_is_judged_by_moves(power, word):
    rows = [
        {"size": size, "way": way, "moves_a_row": moves, "seconds": 1e-9 * size**1.2}
        for size in CLASSES
        for way, moves in (("a", 2 * size**power), ("b", None))
    ]
    verdict = judge_time(rows)
    assert verdict.word == word
    assert "a: 1.2; b: 1.2" in verdict.because
    assert judge_time(rows[:2]).word == "not tested here"


def test_the_slope_is_the_power():
    assert slope([(x, 3 * x**1.3) for x in CLASSES]) == pytest.approx(1.3)
