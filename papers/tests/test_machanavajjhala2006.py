"""The study of l-diversity: its searches against slow twins, its calculation, its verdicts."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from itertools import product
from math import exp, fsum, log

import numpy as np
import polars as pl
import pytest
import vl_convert

from wideberth import datasets
from wideberth.hierarchy.derive import flat, intervals
from wideberth_papers import machanavajjhala2006, study_of
from wideberth_papers.machanavajjhala2006 import SPELLED, plan
from wideberth_papers.machanavajjhala2006.claims import (
    ANONYMITY,
    ENTROPY,
    FORMS,
    RECURSIVE,
    SIX,
    judge_adults,
    judge_discernibility,
    judge_envelope,
    judge_heights,
    judge_large,
    judge_orders,
    judge_sizes,
    judge_times,
)
from wideberth_papers.machanavajjhala2006.figures import FIGURES, SAMPLE, SAMPLES, WHOLE
from wideberth_papers.machanavajjhala2006.measuring import (
    Subject,
    attacked,
    calculated,
    dealt,
    split,
    timed,
    useful,
)
from wideberth_papers.machanavajjhala2006.trees import adult_trees
from wideberth_papers.running import run
from wideberth_papers.shapes import ADULT
from wideberth_papers.sources import Source
from wideberth_papers.study import Setting

SOURCE = Source(
    shape=ADULT,
    name="Adult-like",
    path=None,
    make=datasets.adults,
    rows=400,
    usual=400,
    seed=3,
)
PEOPLE = Subject(
    name="Adult",
    source=SOURCE,
    quasi=("age", "sex", "marital_status"),
    sensitive=("occupation", "income"),
    trees=adult_trees,
)
TABLE = PEOPLE.table
TREES = {
    "age": intervals(TABLE["age"], [5, 10, 20]),
    "sex": flat(TABLE["sex"]),
    "marital_status": adult_trees(TABLE)["marital_status"],
}


# ---- hierarchies


def test_trees_are_as_high_as_printed():
    people = datasets.adults(100_000)
    trees = adult_trees(people)
    heights = {
        name: 1 if tree == {"flat": True} else tree.height
        for name, tree in trees.items()
        if name != "age"
    }
    assert trees["age"] == {"interval": [5, 10, 20]}  # and all of them: four steps
    assert heights == {
        "sex": 1,
        "race": 1,
        "marital_status": 2,
        "education": 3,
        "native_country": 2,
        "workclass": 2,
        "income": 1,
    }
    for name in ("marital_status", "education", "native_country", "workclass"):
        assert trees[name].balanced
        assert set(people[name]) <= set(trees[name].leaves)


def test_unknown_values_stand_under_other():
    trees = adult_trees(pl.DataFrame({"education": ["Masters", "Apprenticeship", None]}))
    assert list(trees) == ["education"]
    tree = trees["education"]
    assert [tree.generalize("Apprenticeship", level) for level in range(1, 4)] == [
        "other",
        "other",
        "*",
    ]
    assert tree.balanced
    assert (
        "Apprenticeship"
        not in adult_trees(pl.DataFrame({"education": ["9th"]}))["education"].leaves
    )


# ---- slow twins: every table of the lattice, value by value


def groups(node: tuple[int, ...], sensitive: str) -> list[list[str]]:
    """Return the sensitive values of each group."""
    found = defaultdict(list)
    for *values, own in TABLE.select(*PEOPLE.quasi, sensitive).iter_rows():
        labels = (
            TREES[name].generalize(str(value), level)
            for name, value, level in zip(PEOPLE.quasi, values, node, strict=True)
        )
        found[tuple(labels)].append(own)
    return list(found.values())


def diversity(values: list[str]) -> float:
    """Return the l of entropy l-diversity."""
    shares = [values.count(value) / len(values) for value in set(values)]
    return exp(-fsum(share * log(share) for share in shares))


def recursive(values: list[str], ell: int) -> bool:
    """Tell whether a group is recursive (3,l)-diverse."""
    counts = sorted((values.count(value) for value in set(values)), reverse=True)
    return counts[0] < 3 * sum(counts[ell - 1 :])


def satisfying(holds, sensitive: str) -> dict[tuple[int, ...], list[list[str]]]:
    """Return all tables whose groups satisfy, with their groups."""
    nodes = product(range(5), range(2), range(3))
    all_groups = {node: groups(node, sensitive) for node in nodes}
    return {node: some for node, some in all_groups.items() if all(map(holds, some))}


def minima(nodes) -> set[tuple[int, ...]]:
    return {
        node
        for node in nodes
        if not any(o != node and all(a <= b for a, b in zip(o, node, strict=True)) for o in nodes)
    }


def text(node: tuple[int, ...]) -> str:
    return ", ".join(f"{name} {level}" for name, level in zip(PEOPLE.quasi, node, strict=True))


@pytest.mark.parametrize("sensitive", ["occupation", "income"])
@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_attacks_find_what_a_slow_look_at_all_tables_finds(k, sensitive):
    allowed = satisfying(lambda values: len(values) >= k, sensitive)
    attacks = attacked(PEOPLE, 3, PEOPLE.sensitive, k, 1)
    rows = [row for row in attacks if row["sensitive"] == sensitive]
    assert {row["levels"] for row in rows} == {text(node) for node in minima(allowed)}
    assert [row["number"] for row in rows] == list(range(1, len(rows) + 1))
    for node in minima(allowed):
        row = next(row for row in rows if row["levels"] == text(node))
        alike = [values for values in allowed[node] if len(set(values)) == 1]
        assert (row["rows"], row["groups"]) == (400, len(allowed[node]))
        assert (row["alike"], row["revealed"]) == (len(alike), sum(map(len, alike)))
        assert row["entropy_l"] == pytest.approx(min(map(diversity, allowed[node])))
        assert (row["c"] is None) == bool(alike)
        assert (row["size_alike"] is None) != bool(alike)


def test_some_tables_of_the_twin_are_vulnerable():
    """Else the test above would say little."""
    allowed = satisfying(lambda values: len(values) >= 2, "income")
    alike = [any(len(set(values)) == 1 for values in allowed[node]) for node in minima(allowed)]
    assert any(alike)


@pytest.mark.parametrize("at", [2, 4, 8])
@pytest.mark.parametrize("form", FORMS)
def test_the_least_of_minimal_tables_is_the_least_of_all(form, at):
    holds = {
        ANONYMITY: lambda values: len(values) >= at,
        ENTROPY: lambda values: diversity(values) >= at - 1e-12,
        RECURSIVE: lambda values: recursive(values, at),
    }[form]
    allowed = satisfying(holds, "occupation")
    row = useful(PEOPLE, 3, "occupation", SPELLED[form].format(at))
    assert row["tables"] == len(minima(allowed))
    assert row["height"] == min(map(sum, allowed))
    assert row["average_size"] == pytest.approx(min(400 / len(some) for some in allowed.values()))
    squares = [sum(len(values) ** 2 for values in some) for some in allowed.values()]
    assert row["discernibility"] == min(squares)


def test_a_search_is_timed_and_counted():
    principles = {"small": "k-anonymity:k=2", "large": "k-anonymity:k=400"}
    small, large = timed(PEOPLE, 2, "occupation", principles)
    assert [small["principle"], large["principle"]] == list(principles)
    for row in (small, large):
        assert row["seconds"] > 0
        assert (row["quasi"], row["nodes"]) == (2, 10)
        assert 0 < row["checked"] <= 10
    assert large["minimal"] == 1  # only the coarsest


def test_what_is_impossible_has_no_figures():
    principle = "entropy-l:l=15"  # there are 14 occupations
    assert set(useful(PEOPLE, 3, "occupation", principle).values()) == {400, 0, None}
    (row,) = timed(PEOPLE, 3, "occupation", {"too diverse": principle})
    assert row["checked"] is row["minimal"] is None
    few = replace(PEOPLE, source=replace(SOURCE, rows=5))
    first, second = attacked(few, 3, PEOPLE.sensitive, 6, 1)
    assert [first["sensitive"], second["sensitive"]] == list(PEOPLE.sensitive)
    assert first["groups"] is first["c"] is None
    assert first.keys() == next(attacked(PEOPLE, 3, PEOPLE.sensitive, 6, 1)).keys()


def test_a_sample_is_a_twentieth():
    many = replace(PEOPLE, source=replace(SOURCE, rows=20_000))
    one, same, other = many.sample(1, 1), many.sample(1, 1), many.sample(1, 2)
    assert 900 < one.table.height < 1100
    assert one.table.equals(same.table)
    assert not one.table.equals(other.table)
    assert many.table.height == 20_000


# ---- the envelope


def test_the_calculation_is_an_enumeration():
    alike = [len(set(values)) == 1 for values in product(range(3), repeat=5)]
    assert calculated(60_000, 5, 3)["alike"] == pytest.approx(12_000 * np.mean(alike))


def test_draws_are_near_the_calculation():
    row = dealt(6_000, 3, 2, 300, np.random.default_rng(1))
    told = calculated(6_000, 3, 2)
    assert row["alike"] == pytest.approx(told["alike"], abs=4 * told["spread"] / 300**0.5)
    assert row["spread"] == pytest.approx(told["spread"], rel=0.2)


@pytest.mark.filterwarnings("ignore::wideberth.PrivacyWarning")
def test_releases_have_as_many_groups_alike_as_their_sizes_let_expect():
    row = split(3_000, 3, 2, [(1, number) for number in range(4)])
    assert 500 < row["groups"] <= 1_000
    assert row["expected"] <= row["groups"] / 4
    assert row["alike"] == pytest.approx(row["expected"], abs=4 * (row["expected"] / 4) ** 0.5)
    assert row["revealed"] >= 3 * row["alike"]


# ---- all of it


@pytest.fixture(scope="module")
def outcome(measured):
    return measured("machanavajjhala2006", 1000)


def test_every_figure_has_a_verdict_and_a_picture(outcome):
    assert [shown.figure.name for shown in outcome.shown] == [figure.name for figure in FIGURES]
    for shown in outcome.shown:
        assert shown.rows
        assert shown.verdict.because
        if shown.figure.draw is not None:
            assert vl_convert.vegalite_to_svg(json.dumps(shown.figure.draw(shown.rows)))


def test_a_small_table_tells_some_things_only(outcome):
    words = {shown.figure.name: shown.verdict.word for shown in outcome.shown}
    assert {name for name, word in words.items() if word == "not tested here"} >= {
        "homogeneity-lands-end",
        "figure-5",
        "figure-6",
        "figure-7b",
        "figure-7c",
    }
    assert words["back-of-the-envelope"] == "confirmed with differences"


@pytest.mark.parametrize("rows", [1, 7])
def test_a_few_rows_tell_nothing(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(machanavajjhala2006, "split", lambda *_: ENVELOPE[2])  # takes a while
    shown = run(study_of("machanavajjhala2006"), Setting(rows=rows), tmp_path).shown
    told = {one.figure.name for one in shown if one.verdict.word != "not tested here"}
    assert told == {"back-of-the-envelope"}
    for one in shown:
        assert one.rows
        if one.figure.draw is not None:
            assert vl_convert.vegalite_to_svg(json.dumps(one.figure.draw(one.rows)))


def test_steps_have_names_of_their_own():
    keys = [step.key for step in plan(Setting()).steps]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("income", ["income", "salary-class"])
def test_a_real_table_is_used_if_it_fits(income, tmp_path):
    path = tmp_path / "adult.csv"
    datasets.adults(300).rename({"income": income}).write_csv(path)
    planned = plan(Setting(given=[str(path)]))
    assert planned.source.path == str(path)
    attack = next(step for step in planned.steps if step.key == "4-anonymous tables, Adult")
    assert {row["rows"] for row in attack.run()} == {300}


def test_samples_are_averaged_where_all_of_them_have_a_table():
    def row(of: str, at: int, size: float | None) -> dict[str, object]:
        return {"measured": "utility", "of": of, "principle": ENTROPY, "at": at, "rows": 50,
                "average_size": size}  # fmt: skip

    rows = [row(SAMPLE, 2, 3.0), row(SAMPLE, 2, 5.0), row(SAMPLE, 4, 3.0), row(SAMPLE, 4, None)]
    figure = next(figure for figure in FIGURES if figure.name == "figure-7b")
    shown = figure.select([*rows, row(WHOLE, 2, 99.0)])
    assert [(one["at"], one["samples"], one["average_size"]) for one in shown] == [
        (2, 2, 4.0),
        (4, 2, None),
    ]
    assert SAMPLES > 1


# ---- verdicts can go either way


def envelope(drawn: float, released: float, values: int = 3) -> list[dict[str, object]]:
    told = calculated(60_000, 5, values)
    return [
        told,
        {**told, "way": "drawn at random", "runs": 100, "alike": drawn},
        {**told, "way": "split by anonymize", "runs": 3, "expected": released},
    ]


ENVELOPE = envelope(148.0, 148.0)


@pytest.mark.parametrize(
    ("drawn", "released", "values", "word"),
    [
        (148.5, 145, 3, "confirmed"),
        (148.5, 130, 3, "confirmed with differences"),
        (120.0, 145, 3, "contradicted"),
        (750.0, 145, 2, "contradicted"),
    ],
)
def test_verdicts_on_the_envelope(drawn, released, values, word):
    verdict = judge_envelope(envelope(drawn, released, values))
    assert verdict.word == word
    if values == 2:
        assert verdict.counterexample == "750.0 (alike) by calculation, not 148."


def attack(
    sensitive: str, *alike: int, rows: int = 45_222, size: int = 7, c: float = 5.5
) -> list[dict[str, object]]:
    return [
        {"table": "Adult", "rows": rows, "sensitive": sensitive, "levels": f"age {number}",
         "groups": 50, "alike": many, "revealed": size * many,
         "size_alike": size if many else None, "entropy_l": 1.0 if many else 1.6,
         "c": None if many else c}
        for number, many in enumerate(alike)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("work", "pay", "c", "rows", "word"),
    [
        ((1, *[0] * 11), (*[2] * 8, 0), 5.5, 45_222, "confirmed"),
        ((1, *[0] * 11), (*[2] * 8, 0), 17.0, 45_222, "confirmed with differences"),
        ((1, *[0] * 10), (*[2] * 8, 0), 5.5, 45_222, "confirmed with differences"),
        ((0, 0, 0), (2, 1, 1), 5.5, 45_222, "confirmed with differences"),
        ((1, 1, 0), (2, 1, 0), 5.5, 45_222, "contradicted"),
        ((0, 0, 1), (1, 0, 0), 5.5, 45_222, "contradicted"),
        ((0, 0, 0), (0, 0, 0), 5.5, 1_000, "not tested here"),
        ((1, *[0] * 11), (*[2] * 8, 0), 5.5, 400, "not tested here"),
    ],
)
def test_verdicts_on_adults(work, pay, c, rows, word):
    told = [*attack("occupation", *work, rows=rows), *attack("income", *pay, rows=rows, c=c)]
    assert judge_adults(told).word == word


@pytest.mark.parametrize("alike", [(0, 9, 9), (0, 0, 0)])
def test_made_up_orders_tell_nothing_of_real_ones(alike):
    verdict = judge_orders(attack("cost", *alike, size=150))
    assert verdict.word == "not tested here"
    found = sum(map(bool, alike))
    assert f"{found} of 3 minimal tables" in verdict.because
    assert f"; {found} reveal more than 1,000 costs" in verdict.because


@pytest.mark.parametrize(
    ("ratios", "fewer", "word"),
    [
        ((0.6, 1.5), (3,), "confirmed"),
        ((0.6, 1.5), (4,), "confirmed with differences"),  # another one is faster
        ((0.9, 1.1), (3, 4), "confirmed with differences"),  # by chance, it may be
        ((0.6, 2.9, 3.0), (3,), "confirmed with differences"),
        ((3.0, 4.0), (3, 4), "contradicted"),
        ((0.2, 0.3), (3, 4), "contradicted"),
    ],
)
def test_verdicts_on_times(ratios, fewer, word):
    rows = [
        {"rows": 20_000, "quasi": many, "principle": SIX[i], "seconds": 1 + i * (ratio - 1),
         "checked": 9 - i * (many in fewer)}
        for many, ratio in enumerate(ratios, 3)
        for i in range(2)
    ]  # fmt: skip
    assert judge_times(rows).word == judge_times(rows[::-1]).word == word
    small = [{**row, "rows": 1_000} for row in rows]
    assert judge_times([{**row, "checked": None} for row in rows]).word == "not tested here"
    assert judge_times(rows[:1]).word == "not tested here"
    assert judge_times(small).word == "not tested here"


def used(field: str, **by_form: tuple[float, ...]) -> list[dict[str, object]]:
    forms = {"plain": ANONYMITY, "entropy": ENTROPY, "recursive": RECURSIVE}
    return [
        {"principle": forms[name], "at": at, "rows": 1_000, field: value}
        for name, values in by_form.items()
        for at, value in zip((2, 4, 6), values, strict=True)
    ]


@pytest.mark.parametrize(
    ("entropy", "word"),
    [
        ((3, 4, 5), "confirmed"),
        ((3, 4, 7), "confirmed with differences"),
        ((6, 7, 8), "contradicted"),
    ],
)
def test_verdicts_on_heights(entropy, word):
    rows = used("height", plain=(3, 4, 4), entropy=entropy, recursive=entropy)
    assert judge_heights(rows).word == word
    assert judge_heights([{**row, "rows": 400} for row in rows]).word == "not tested here"
    none = (None, None, None)
    assert judge_heights(used("height", plain=none, entropy=none, recursive=none)).word == (
        "not tested here"
    )


@pytest.mark.parametrize(
    ("entropy", "recursive", "word", "against"),
    [
        ((12, 20, 50), (11, 18, 40), "confirmed", None),
        ((12, 20, 50), (12, 18, 40), "confirmed with differences", None),  # once no smaller
        ((12, 20, 50), (12, 20, 50), "confirmed with differences", None),
        ((10, 20, 30), (9, 20, 30), "confirmed with differences", None),  # costs nowhere more
        ((12, 18, 40), (12, 20, 50), "contradicted", "At 4:"),
        ((90, 90, 30), (80, 80, 30), "contradicted", "At 2: k-anonymity 10, entropy l-div"),
        ((None, None, None), (12, 18, 40), "not tested here", None),
    ],
)
def test_verdicts_on_sizes(entropy, recursive, word, against):
    rows = used("average_size", plain=(10, 20, 30), entropy=entropy, recursive=recursive)
    verdict = judge_sizes(rows)
    assert verdict.word == word
    assert against is None or verdict.counterexample.startswith(against)


@pytest.mark.parametrize(
    ("entropy", "word", "against"),
    [
        ((12, 20, 50), "confirmed", None),
        ((12, 20, 90), "confirmed with differences", None),
        ((90, 90, 90), "contradicted", "l = 2: 90 and 11."),
        ((1, 1, 40), "contradicted", "l = 4: 1 and 20."),
        ((None, None, None), "not tested here", None),
    ],
)
def test_verdicts_on_discernibility(entropy, word, against):
    rows = used("discernibility", plain=(10, 20, 30), entropy=entropy, recursive=(11, 20, 40))
    verdict = judge_discernibility(rows)
    assert (verdict.word, verdict.counterexample) == (word, against)


@pytest.mark.parametrize(
    ("rows", "size", "word"),
    [
        (20_000, 1_200, "confirmed"),
        (20_000, 900, "not tested here"),
        (30_162, 900, "contradicted"),
    ],
)
def test_verdicts_on_large_groups(rows, size, word):
    told = [{"rows": rows, "levels": "age 4", "groups": 9, "average_size": size}]
    assert judge_large(told).word == word
