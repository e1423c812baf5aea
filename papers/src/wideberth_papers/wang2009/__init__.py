"""Wang, Meng, Bamba, Liu, Pu 2009: a general proximity privacy principle.

The paper has a table, two theorems and remarks on other principles, but no experiments. So every
statement is tried on groups and graphs small enough for all of them to be looked at; and its
outlook, that conditions will guide the choice of parameters, becomes maps of what is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import polars as pl

from wideberth import datasets
from wideberth_papers.sources import Shape, choose
from wideberth_papers.study import Figure, Plan, Row, Rows, Setting, Step, Study
from wideberth_papers.wang2009 import groups, maps, printed, truth
from wideberth_papers.wang2009.graphs import KINDS

_DISEASES = ("flu", "asthma", "bronchitis", "pneumonia", "angina", "reflux", "anaemia", "none")
#: Patients whose diseases are distributions, as in Table I; `datasets.symptoms` makes them up.
SYMPTOMS = Shape(
    name="symptoms",
    quasi=("age", "zip", "sex"),
    sensitive=tuple(f"disease.{name}" for name in _DISEASES),
)
_USUAL = 20_000
#: From so many rows on, every question is asked of several tables, and of larger ones.
_MANY, _SEVERAL = 10_000, 3
_GRAPHS, _SMALL_GRAPHS = 20, 14
#: Samples of people and their rows; tables of each size for the solver; groups of numbers.
_SAMPLES, _SAMPLE, _SMALL_SAMPLE = 2, 250, 150
_TABLES, _FEW_TABLES, _GROUPS = 80, 10, 2_000


def _plan(setting: Setting) -> Plan:
    source = choose(
        [SYMPTOMS],
        setting,
        make=_made,
        made="symptoms",
        usual=_USUAL,
    )
    rows, seed = setting.rows or _USUAL, setting.seed
    many = rows >= _MANY
    several, tables = (_SEVERAL, _TABLES) if many else (1, _FEW_TABLES)
    size = _GRAPHS if many else _SMALL_GRAPHS
    samples, people = (_SAMPLES, _SAMPLE) if many else (1, _SMALL_SAMPLE)

    def measure_people(epsilon: Fraction, number: int) -> Iterator[Row]:
        on = source.shape.sensitive
        return maps.measure_people(source.table, on, epsilon, number, people, seed)

    steps = [
        Step("Table I", printed.measure),
        Step("Theorem 1", groups.measure_risk),
        Step("(α,k)-anonymity", groups.measure_categories),
        Step("(ε,m)-anonymity", partial(groups.measure_numbers, seed, _GROUPS)),
        *(
            Step(f"all graphs of {n} rows", partial(truth.measure_graphs, n))
            for n in truth.GRAPHS[: None if many else -1]
        ),
        Step("padded graphs", partial(truth.measure_padding, 5 if many else 4)),
        *(
            Step(
                f"the solver, tables of {n} rows",
                partial(truth.measure_solver, n, tables, seed),
            )
            for n in truth.TABLES
        ),
        *(
            Step(
                f"graphs: {kind}, density {density}",
                partial(maps.measure_graphs, kind, density, size, several, seed),
            )
            for kind in KINDS
            for density in maps.DENSITIES
        ),
        *(
            Step(
                f"distributions, ε = {float(epsilon)}, sample {number}",
                partial(measure_people, epsilon, number),
            )
            for epsilon in (maps.EPSILONS if many else maps.EPSILONS[1::2])
            for number in range(1, samples + 1)
        ),
    ]
    return Plan(source, steps, _FIGURES)


def _made(rows: int, seed: int) -> pl.DataFrame:
    return datasets.symptoms(rows, seed=seed)


def _of(measured: str) -> Callable[[Rows], Rows]:
    """Select the rows of one measurement."""

    def select(rows: Rows) -> Rows:
        return [
            {key: value for key, value in row.items() if key != "measured"}
            for row in rows
            if row["measured"] == measured
        ]

    return select


_FIGURES = (
    Figure(
        name="table-1",
        title="Table I and Figure 1: a claim about Kevin",
        claim="In Kevin's group each of five values is as likely as any, 20 %. But with ε = 0.1 "
        "four of them are in the neighbourhood of the second, so that Kevin is near it with 80 %.",
        select=_of("table-1"),
        judge=printed.judge,
        draw=printed.draw,
        note="The picture has twice the ε, as rows that are all near some value are within twice "
        "the ε of each other. The release on the right is ours; the paper makes none.",
    ),
    Figure(
        name="theorem-1",
        title="Theorem 1: risk and dissimilarity",
        claim="The risk of a partition is at most 1 - δ if, and only if, it is (ε,δ)-dissimilar.",
        select=_of("theorem-1"),
        judge=groups.judge_risk,
        note="All groups of one to five numbers from 0 to 5, ε = 1, seven values of δ. The second "
        "half of the printed proof takes a risk of exactly 1 - δ for a breach; the theorem does "
        "not.",
    ),
    Figure(
        name="against-alpha-k",
        title="Section III.B.1: (α,k)-anonymity",
        claim="(α,k)-anonymity is the same as dissimilarity with ε = 0 and a 1 - δ of about α.",
        select=_of("alpha-k"),
        judge=partial(groups.judge_relation, other="(α,k)-anonymity"),
        draw=partial(groups.draw_relation, other="(α,k)-anonymity"),
        note="All groups of four to nine of four letters, 1 - δ = α. One bounds the share of a "
        "group that is near a row, the row included, the other the share of its others. The larger "
        "δ is (1 - α) / (1 - 1/k).",
    ),
    Figure(
        name="against-epsilon-m",
        title="Section III.B.2: (ε,m)-anonymity",
        claim="(ε,m)-anonymity is the special form of dissimilarity for numbers, with a 1 - δ of "
        "about 1/m.",
        select=_of("epsilon-m"),
        judge=partial(groups.judge_relation, other="(ε,m)-anonymity"),
        draw=partial(groups.draw_relation, other="(ε,m)-anonymity"),
        note=f"{_GROUPS:,} random groups of two to twenty numbers, ε = 1, 1 - δ = 1/m. The larger "
        "δ is (1 - 1/m) / (1 - 1/k) with k >= m.",
    ),
    Figure(
        name="theorem-2",
        title="Theorem 2, its proof: δ = 1 needs a coloring",
        claim="With δ = 1 a table has such groups only if its similarity graph can be colored with "
        "N/k colors. To tell that is NP-complete, so the question is NP-hard.",
        select=_of("theorem-2"),
        judge=truth.judge_theorem,
        note="That the question is NP-hard is not measured; it is, but a condition that is only "
        "necessary does not prove it. Every graph of four to seven rows (six, if few rows are "
        "asked for) is looked at, one of each form.",
    ),
    Figure(
        name="conditions",
        title="Section IV.B: conditions",
        claim="Of small tables without such groups conditions that need no search refute most; of "
        "those that have some they ensure a part.",
        ours=True,
        select=truth.select_conditions,
        judge=truth.judge_conditions,
        draw=truth.draw_conditions,
        note="The paper suggests to look for conditions and gives none. Necessary: no crowd is too "
        "large, no row is near too many. Sufficient: the whole table, an equitable colouring, or "
        "several of its colours merged. All graphs of four to seven rows, or six, for several δ "
        "and k; the truth is known by looking at all partitions. Most: half or more; a part: a "
        "tenth; bounds that were chosen when the figures were known.",
    ),
    Figure(
        name="map-graphs",
        title="Section IV: what random graphs permit",
        claim="Whether there are groups can nearly always be told, mostly by conditions alone.",
        ours=True,
        select=_of("map-graphs"),
        judge=maps.judge,
        draw=partial(maps.draw, x="density", title_x="share of pairs that are near", by="kind"),
        note="Graphs of 20 rows, or 14 if few rows are asked for; instead of ε, the share of pairs "
        "within it. In each cell, how many of the tables are possible; a point where conditions "
        "alone settle all of them. Groups of a yes are verified. Nearly always: at most 5 % of the "
        "questions stay open; contradicted above 20 %.",
    ),
    Figure(
        name="map-distributions",
        title="Section IV: what distributions permit",
        claim="For values like those of Table I, too, it can nearly always be told whether there "
        "are groups.",
        ours=True,
        select=maps.select_people,
        judge=maps.judge,
        draw=partial(maps.draw, x="epsilon", title_x="ε"),
        note="Samples of 250 rows, or 150; variational distance. Every yes is checked from "
        "values and groups, and no no is at odds with a yes for stronger parameters. Bounds as "
        "above. How many stay open depends on what is asked: far from the border none does.",
    ),
    Figure(
        name="solver",
        title="Section IV.B: how good the solver is",
        claim="The library's solver finds groups of nearly all tables that have some, without "
        "trying everything.",
        ours=True,
        select=_of("solver"),
        judge=truth.judge_solver,
        draw=truth.draw_solver,
        note="The paper suggests to look for one and gives none. Random tables, of which the truth "
        "is known by looking at all partitions, or, from 12 rows on, from CP-SAT. With 14 rows or "
        "more the library may ask CP-SAT, too, but differently. At once: without trying "
        "everything. Nearly all: 99 %; contradicted below 90 %.",
    ),
)

STUDY = Study(
    name="wang2009",
    paper="T. Wang, S. Meng, B. Bamba, L. Liu, C. Pu: A General Proximity Privacy Principle. "
    "ICDE 2009.",
    about="The paper defines (ε,δ)^k-dissimilarity and has no experiments: its statements are "
    "tried on all small groups and graphs, and what can be satisfied is drawn as maps.",
    plan=_plan,
)
