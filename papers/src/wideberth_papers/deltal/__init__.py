"""(δ,l)-diversity, of Zare-Mirakabad 2012: its examples, its claims, its repair.

The paper has no experiments. What it claims can be measured all the same: that its principle is
monotone, that it mends what is wrong with (ε,m)-anonymity, and that its code checks it in linear
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from wideberth.datasets import sal, zaremirakabad2012_figure1, zaremirakabad2012_figure2
from wideberth_papers import sources
from wideberth_papers.deltal import intervals
from wideberth_papers.deltal.claims import LITERAL, STAB, STAB_TWICE, WAYS
from wideberth_papers.deltal.figures import FIGURES
from wideberth_papers.deltal.intervals import literal, near, stab
from wideberth_papers.shapes import ATO, SAL
from wideberth_papers.sources import Source
from wideberth_papers.study import Plan, Row, Setting, Step, Study

ROWS = 500_000
#: Random groups: their sizes, how many, and δ in values from 0 to 99; l is 2.
SIZES, GROUPS, DELTAS = (2, 4, 6, 8, 12, 16, 24, 32), 4_000, (2.5, 5, 7.5, 10)
#: Releases: δ of incomes, and l.
HALVES, ELL = (500, 1000, 1500, 2000, 2500, 3000, 3500, 4000), 5
#: Classes that are timed.
CLASSES = tuple(round(10 ** (half / 2)) for half in range(6, 13))
CODE = ("whole numbers", "real numbers")


def plan(setting: Setting) -> Plan:
    """Plan the study."""
    source = sources.choose(
        [SAL, ATO],
        setting,
        make=sal,
        made="SAL-like",
        usual=ROWS,
    )
    seed = setting.seed
    groups = GROUPS if setting.rows is None else min(GROUPS, max(setting.rows, 1000))
    largest = max(CLASSES) if setting.rows is None else 100 * setting.rows
    steps = [Step("the paper's examples", _examples), Step("the checking code", _code)]
    steps += [
        Step(f"unions, δ = {delta}", partial(_unions, delta, groups, seed)) for delta in DELTAS
    ]
    steps += [
        Step(f"{way}, δ = {delta}", partial(_release, source, delta, way, seed))
        for delta in HALVES
        for way in WAYS
    ]
    steps += [
        Step(f"the checking code on {values}", partial(_misjudged, values, groups, seed))
        for values in CODE
    ]
    steps += [
        Step(f"time of checking {size:,} rows", partial(_time, size, seed))
        for size in CLASSES
        if size <= max(largest, 1000)
    ]
    return Plan(source, steps, FIGURES)


# ---- what is measured


def _examples() -> Iterable[Row]:
    alice = zaremirakabad2012_figure1()["salary"].to_list()[:4]
    small, large = (
        group["s"].to_list()
        for _, group in zaremirakabad2012_figure2().group_by("group", maintain_order=True)
    )
    within = sum(490 <= salary <= 510 for salary in alice) / len(alice)
    yield {"measured": "examples", **_rated("Figure 1, class 1", alice, 10), "certain": within}
    for delta in (15, 7.5):
        for name, group in (("Figure 2, G1", small), ("Figure 2, G2", large)):
            yield {"measured": "examples", **_rated(name, group, delta), "certain": None}
    for group in ([0, 2], [1, 3], [0, 1, 2, 3]):
        yield {"measured": "union", **_rated("", group, 0.5)}


def _rated(name: str, group: Sequence[float], delta: float) -> Row:
    return {
        "example": name,
        "values": _set(group),
        "delta": delta,
        "literal": intervals.rated(group, literal(delta, 2)),
        "stab": intervals.rated(group, stab(delta, 2)),
        "epsilon_m": intervals.rated(group, near(delta, 2)),
    }


def _set(group: Sequence[float]) -> str:
    return "{" + ", ".join(f"{value:g}" for value in group) + "}"


def _unions(delta: float, groups: int, seed: int) -> Iterable[Row]:
    rng = np.random.default_rng([seed, round(10 * delta)])
    for size in SIZES:
        yield {"measured": "unions", **intervals.united(size, delta, 2, groups, rng)}


def _release(source: Source, delta: float, way: str, seed: int) -> Iterable[Row]:
    table, shape = source.table, source.shape
    principle = {
        LITERAL: literal(delta, ELL),
        STAB: stab(delta, ELL),
        STAB_TWICE: stab(2 * delta, ELL),
    }[way]
    yield {
        "measured": "release",
        "delta": delta,
        "l": ELL,
        "way": way,
        "rows": table.height,
        "whole": intervals.whole(table, shape.sensitive[0], principle),
        **intervals.released(table, shape, delta, ELL, principle, seed),
    }


def _code() -> Iterable[Row]:
    for group in ([7], [7, 7], [7, 9], [7, 10]):
        answer = bool(intervals.judged([group], [literal(1, 2)])[0, 0])
        printed, open_ = (intervals.printed(group, 1, 2, closed=closed) for closed in (True, False))
        yield {
            "measured": "code",
            "case": _set(group),
            "delta": 1,
            "l": 2,
            "classes": 1,
            "definition": answer,
            "printed": printed,
            "misjudged": int(printed != answer),
            "of_one_row": int(len(group) == 1 and printed != answer),
            "misjudged_open": int(open_ != answer),
        }


def _misjudged(values: str, classes: int, seed: int) -> Iterable[Row]:
    rng = np.random.default_rng([seed, CODE.index(values)])
    for delta, ell in ((1, 2), (2, 2), (1, 3)):
        row = intervals.misjudged(values, classes, delta, ell, rng)
        yield {"measured": "code", "definition": None, "printed": None, **row}


def _time(size: int, seed: int) -> Iterable[Row]:
    for row in intervals.timed(size, np.random.default_rng([seed, size])):
        yield {"measured": "time", **row, "nanoseconds_a_row": 1e9 * row["seconds"] / size}


STUDY = Study(
    name="deltal",
    paper=(
        "Mohammad-Reza Zare-Mirakabad: (δ,l)-diversity: privacy preservation for publication "
        "numerical sensitive data, CS & IT-CSCP 2012"
    ),
    about=(
        "A principle for sensitive numbers that is meant to be monotone where (ε,m)-anonymity is "
        "not: whether it is, what it takes to make it so, and whether its code checks it."
    ),
    plan=plan,
)
