"""The study of (l,e)-diversity: its tree, its measurements against slow twins, its verdicts."""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import vl_convert

import wideberth as wb
from wideberth import datasets
from wideberth.core.groups import Partition
from wideberth.errors import VerificationError
from wideberth.hierarchy import read_hierarchy
from wideberth_papers import study_of
from wideberth_papers.running import run
from wideberth_papers.study import Setting
from wideberth_papers.wang2013 import anatomies, drawn, plan
from wideberth_papers.wang2013.anatomies import FAR_WAYS, QUASI, TREE, WAYS
from wideberth_papers.wang2013.claims import (
    EXACT,
    READINGS,
    Pair,
    Tally,
    judge_alike,
    judge_farther,
    judge_longer,
    judge_loss,
    judge_more,
    judge_orders,
    judge_similar,
    pairs,
)
from wideberth_papers.wang2013.figures import FIGURES, NAMES

ROOT = Path(__file__).parents[2]
PEOPLE = datasets.adults(900, seed=3).select(*QUASI, "education")


@pytest.fixture(scope="module")
def outcome(measured):
    return measured("wang2013", 900)


# ---- the tree


def test_the_tree_is_that_of_the_docs():
    file = read_hierarchy(ROOT / "docs" / "trees" / "education.csv")
    assert (TREE.labels, TREE.parent.tolist()) == (file.labels, file.parent.tolist())


def test_made_up_schooling_is_on_the_tree():
    assert set(PEOPLE["education"]) <= set(TREE.leaves)


# ---- measurements, against a slow twin on what a release publishes


def naive(release, rows: int) -> dict[str, float]:
    """Measure the two tables of a release value by value."""
    groups = defaultdict(list)
    for group, value, count in release.sensitive.select("group", "education", "count").iter_rows():
        groups[group] += [value] * count
    full = true = 0.0
    degrees, similar, one_kind = [], [], []
    for values in groups.values():
        size = len(values)
        for own in values:
            shares = {v: values.count(v) / size for v in set(values)}
            full += sum((share - (v == own)) ** 2 for v, share in shares.items())
            true += (1 - shares[own]) ** 2
        apart = [float(TREE.distance(a, b)) for a, b in combinations(values, 2)]
        degrees.append(sum(apart) / size)
        similar.append(min(apart) <= 1)
        one_kind.append(len({TREE.generalize(v, 2) for v in values}) == 1)
    kept = sum(map(len, groups.values()))
    return {
        "suppressed": rows - kept,
        "kept": kept,
        "groups": len(groups),
        "full_kept": full,
        "full_all": full + rows - kept,
        "true_kept": true,
        "true_all": true + rows - kept,
        "dot": mean(degrees),
        "similar": mean(similar),
        "one_kind": mean(one_kind),
    }


@pytest.mark.parametrize("ell", [2, 4])
@pytest.mark.parametrize("number", range(4))
@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_a_release_has_the_figures_of_the_groups(ell, number):
    """Both are drawn by themselves; what depends on the draw is near, all else is equal."""
    way = (*WAYS[:2], *FAR_WAYS[2:])[number]
    measured = anatomies.compared(PEOPLE, [way], ell, seed=1)[0]
    told = naive(anatomies.released(PEOPLE, way, ell, seed=5), PEOPLE.height)
    drawn_anew = {"dot": 0.05, "similar": 0.1, "one_kind": 0.1}
    for name, value in told.items():
        assert measured[name] == pytest.approx(value, abs=drawn_anew.get(name, 1e-6)), name


@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_every_way_satisfies_its_principle():
    for way in (*WAYS, *FAR_WAYS):
        release = anatomies.released(PEOPLE, way, 3, seed=5)
        assert release.check().satisfied
        assert release.manifest["principles"][0].startswith(way.principle.format(l=3))


def test_equal_seeds_give_equal_groups():
    first, second = (anatomies.compared(PEOPLE, WAYS, 3, seed=8) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}


def test_impossible_groups_have_no_figures():
    people = pl.DataFrame({"education": ["9th"] * 9})
    for row in anatomies.compared(people, WAYS, 2, seed=0):
        assert row["groups"] is row["dot"] is row["seconds"] is None
    assert set(anatomies.ordered(people, 2, seed=0).values()) == {None}


def test_similar_values_under_the_principle_are_a_defect(monkeypatch):
    """A group of two that are 1 apart is none of (l,1)-diversity: no figure is made of it."""
    people = pl.DataFrame({"education": ["Masters", "Doctorate"]})

    def wrong(demands, rows, **_):
        one_group = Partition(np.zeros(rows, np.int32), 1)
        return SimpleNamespace(rows=np.arange(rows), partition=one_group)

    monkeypatch.setattr(anatomies, "anatomize", wrong)
    assert anatomies.compared(people, WAYS[:1], 2, seed=0, runs=1)[0]["similar"] == 1
    with pytest.raises(VerificationError, match=r"groups for l-e:l=2,e=1 have similar values"):
        anatomies.compared(people, WAYS[1:2], 2, seed=0, runs=1)


def test_orders_change_diversity_and_nothing_else():
    row = anatomies.ordered(PEOPLE, 2, seed=1)
    assert row["random_least"] < row["random_mean"] < row["random_most"] <= anatomies.most(2)
    dealt = anatomies.compared(PEOPLE, WAYS[2:3], 2, seed=1)[0]["dot"]
    assert row["alphabetical"] == pytest.approx(dealt, abs=0.02)


@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_queries_are_those_of_the_library():
    row = next(iter(anatomies.asked(PEOPLE, WAYS, 3, seed=4, draws=1)))
    release = anatomies.released(PEOPLE, WAYS[0], 3, seed=4)
    assert row["mean"] == wb.query_error(PEOPLE, release=release, seed=0).mean


# ---- the plan


def test_rows_are_sixths_of_the_table():
    source = plan(Setting(rows=900)).source
    assert [drawn(source, k).height for k in range(1, 7)] == [150, 300, 450, 600, 750, 900]
    assert source.table.columns == [*QUASI, "education"]


def test_no_more_rows_than_the_paper_has():
    source = plan(Setting(rows=40_000)).source
    assert drawn(source, 6).height == 30_000


def test_steps_have_names_of_their_own():
    keys = [step.key for step in plan(Setting()).steps]
    assert len(set(keys)) == len(keys)


def test_a_real_table_is_used_if_it_fits(tmp_path):
    path = tmp_path / "adult.csv"
    PEOPLE.rename({"marital_status": "marital-status"}).write_csv(path)
    source = plan(Setting(given=[str(path)])).source
    assert (source.path, source.table.height) == (str(path), 900)


# ---- all of it


def test_every_figure_has_rows_a_picture_and_a_verdict(outcome):
    assert [shown.figure.name for shown in outcome.shown] == [figure.name for figure in FIGURES]
    for shown in outcome.shown:
        assert shown.rows
        assert shown.verdict.because
        assert vl_convert.vegalite_to_svg(json.dumps(shown.figure.draw(shown.rows)))


def test_small_tables_tell_nothing_of_times(outcome):
    words = {shown.figure.name: shown.verdict.word for shown in outcome.shown}
    untested = {name for name, word in words.items() if word == "not tested here"}
    assert untested == {"figure-6", "figure-7", "whole-call"}


def test_claims_that_the_paper_does_not_make_are_ours(outcome):
    ours = {shown.figure.name for shown in outcome.shown if shown.figure.ours}
    assert ours == {"whole-call", "larger-e", "orders", "queries"}


def test_what_does_not_depend_on_chance(outcome):
    """As in the docs: no difference of losses, no similar values under (l,1)-diversity."""
    by_name = {shown.figure.name: shown for shown in outcome.shown}
    assert by_name["figure-2"].verdict.word == by_name["figure-3"].verdict.word == "contradicted"
    for row in by_name["similar-groups"].rows:
        assert row["way"].startswith("l-") or row["similar"] == 0


@pytest.mark.parametrize("rows", [1, 7])
def test_a_few_rows_tell_nothing(rows, tmp_path):
    shown = run(study_of("wang2013"), Setting(rows=rows), tmp_path).shown
    assert {one.verdict.word for one in shown} == {"not tested here"}


# ---- verdicts can go either way


def rows_of(field: str, plain: float, semantic: float, **others) -> list[dict]:
    """Make rows of all four ways, at six settings."""
    return [
        {"n": n, "l": 4, "way": name, field: semantic if "(" in name else plain, **others}
        for n in range(5_000, 30_001, 5_000)
        for name in NAMES
    ]


@pytest.mark.parametrize(
    ("semantic", "word"), [(11, "confirmed"), (10, "contradicted"), (9, "contradicted")]
)
def test_more_is_confirmed_or_contradicted(semantic, word):
    verdict = judge_more("dot", EXACT, "{:.1f}", rows_of("dot", 10, semantic))
    assert verdict.word == word
    if word == "contradicted":
        assert verdict.counterexample.endswith(
            f"10.0 for l-diversity, {semantic:.1f} for (l,e)-diversity ({semantic / 10 - 1:+.1%})."
        )


def test_the_paper_s_method_decides():
    rows = rows_of("dot", 10, 11)
    for row in rows:
        row["dot"] = row["dot"] if "mbf" in row["way"] else 10
    assert judge_more("dot", EXACT, "{}", rows).word == "confirmed with differences"
    for row in rows:
        row["dot"] = 10 if "mbf" in row["way"] else 10 - ("(" in row["way"])
    verdict = judge_more("dot", EXACT, "{}", rows)
    assert verdict.word == "contradicted"
    assert ", mbf: 10 for l-diversity, 10 for" in verdict.counterexample


def test_more_in_most_settings_only():
    rows = rows_of("dot", 10, 11)
    rows[1]["dot"] = 9
    assert judge_more("dot", EXACT, "{}", rows).word == "confirmed with differences"
    few = [row | {"n": 100} for row in rows]
    assert judge_more("dot", EXACT, "{}", few).word == "not tested here"


@pytest.mark.parametrize(
    ("semantic", "word"),
    [
        (0.7, "contradicted"),
        (0.85, "not tested here"),
        (1.2, "not tested here"),
        (1.3, "confirmed"),
        (None, "not tested here"),
    ],
)
def test_times_count_beyond_noise(semantic, word):
    verdict = judge_longer(rows_of("seconds", 1, semantic))
    assert verdict.word == word
    if semantic in (0.85, 1.2):
        assert verdict.because.startswith("No difference of mbf beyond noise")
    small = [row | {"n": row["n"] / 10} for row in rows_of("seconds", 1, semantic)]
    assert judge_longer(small).word == "not tested here"


def test_longer_in_most_settings_only():
    rows = rows_of("seconds", 1, 2)
    rows[1]["seconds"] = 0.7
    assert judge_longer(rows).word == "confirmed with differences"
    assert judge_longer([]).word == "not tested here"


@pytest.mark.parametrize(
    ("semantic", "word"),
    [
        (1.4, "confirmed"),
        (0.7, "confirmed"),
        (2.5, "confirmed with differences"),
        (3.5, "contradicted"),
        (0.2, "contradicted"),
        (None, "not tested here"),
    ],
)
def test_alike_is_within_a_factor(semantic, word):
    form = "takes {:.2f} times as long"
    verdict = judge_alike("mean", form, rows_of("mean", 1, semantic))
    assert verdict.word == word
    by_optimal = [
        row | {"mean": 1} if "mbf" in row["way"] else row for row in rows_of("mean", 1, semantic)
    ]
    verdict = judge_alike("mean", form, by_optimal)
    assert verdict.word == word
    if word == "contradicted":
        assert "optimal: 1 for l-diversity" in verdict.counterexample


def test_losses_are_judged_in_all_readings():
    def losses(**semantic):
        return [
            {"n": 5_000, "l": 4, "way": name, "suppressed": 1}
            | {r: 10 + ("(" in name) * semantic.get(r, 0) for r in READINGS}
            for name in NAMES
        ]

    assert judge_loss(losses(full_kept=1)).word == "confirmed"
    assert judge_loss(losses()).word == "contradicted"
    assert "all four readings" in judge_loss(losses()).because
    assert "with e = 1, on a tree of ours" in judge_loss(losses()).because
    other = judge_loss(losses(full_kept=-1, full_all=1))
    assert (other.word, other.counterexample) == ("confirmed with differences", None)


def test_larger_e_is_judged_in_two_readings():
    def losses(kept, whole):
        return [
            {"n": 5_000, "l": 4, "way": way.name}
            | {"full_kept": 10 + ("(" in way.name) * kept}
            | {"full_all": 10 + ("(" in way.name) * whole}
            for way in FAR_WAYS
        ]

    assert judge_farther(losses(-1, 1)).word == judge_farther(losses(0, 1)).word == "confirmed"
    assert judge_farther(losses(-1, 0)).word == "confirmed with differences"
    assert judge_farther(losses(1, 1)).word == "contradicted"
    assert judge_farther([]).word == "not tested here"


def test_similar_values_are_found():
    def rows(plain, semantic, plain_kind=0.0, semantic_kind=0.0):
        made = rows_of("similar", plain, semantic)
        for row, kind in zip(made, rows_of("k", plain_kind, semantic_kind), strict=True):
            row["one_kind"] = kind["k"]
        return made

    assert judge_similar(rows(0.1, 0.0)).word == "confirmed"
    assert judge_similar(rows(0.1, 0.0, 0.2, 0.1)).word == "confirmed with differences"
    against = judge_similar(rows(0.1, 0.0, 0.1, 0.2))
    assert against.word == "contradicted"
    assert "20.00% of the groups give their kind away, under l-diversity 10.00%" in (
        against.counterexample
    )
    assert judge_similar(rows(0.0, 0.0)).word == "not tested here"
    assert judge_similar(rows(0.1, 0.0)[1::2]).word == "not tested here"


@pytest.mark.parametrize(
    ("alphabetical", "gains", "word"),
    [
        (1.0, (1.01, 1.02, 1.03), "confirmed"),
        (1.0, (1.01, 1.02, 1.3), "confirmed with differences"),
        (1.0, (1.01, 1.3, 1.3), "contradicted"),
        (0.5, (1.01, 1.3, 1.3), "confirmed"),  # the alphabet is one of the orders
        (None, (1.01, 1.02, 1.03), "not tested here"),
    ],
)
def test_orders_are_judged_by_what_they_change(alphabetical, gains, word):
    rows = [
        {"n": 5_000, "l": ell, "alphabetical": alphabetical, "random_mean": 1.0}
        | {"random_least": 0.95, "random_most": 1.05, "mbf": 1.0, "mbf_semantic": semantic}
        for ell, semantic in enumerate(gains, 2)
    ]
    verdict = judge_orders(rows)
    assert verdict.word == word
    if word == "contradicted":
        assert verdict.counterexample == (
            "l = 3: the principle adds 30.0%, the order of values 10.5%."
        )


def test_tallies():
    found = [Pair(1, 2, 1.0, 2.0), Pair(2, 2, 1.0, 1.0), Pair(3, 2, 2.0, 1.0), Pair(4, 2, 0, 0)]
    assert Tally.of(found, 0.01) == (1, 2, 1, pytest.approx(1))
    assert Tally.of(found, 0.01).word == "contradicted"
    assert Tally.of(found[:2], 0.01).word == "confirmed with differences"


def test_pairs_need_both():
    rows = [{"n": 1, "l": 2, "way": name, "dot": 1.0} for name in NAMES[:3]]
    assert pairs(rows, "dot", "mbf") == [(1, 2, 1.0, 1.0)]
    assert pairs(rows, "dot", "optimal") == []


def test_pairs_do_not_depend_on_the_order_of_rows():
    rows = rows_of("dot", 1.0, 2.0)
    assert sorted(pairs(rows, "dot", "mbf")) == sorted(pairs(rows[::-1], "dot", "mbf"))
