"""The experiments of Wang, Han, Wang and Wang 2013: (l,e)-diversity beside l-diversity, on Adult.

Schooling is sensitive; age, employer, marital status, sex and race are published exactly. Both
principles are met by the paper's greedy method, mbf, and by the optimal one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import polars as pl

from wideberth.datasets import adults
from wideberth_papers import sources
from wideberth_papers.shapes import ADULT
from wideberth_papers.sources import Source
from wideberth_papers.study import Plan, Row, Setting, Step, Study
from wideberth_papers.wang2013.anatomies import (
    CALLS,
    FAR_WAYS,
    QUASI,
    SENSITIVE,
    WAYS,
    asked,
    called,
    compared,
    ordered,
)
from wideberth_papers.wang2013.claims import TIMEABLE
from wideberth_papers.wang2013.figures import FAR_LS, FIGURES, LS, L

SHAPE = replace(ADULT, quasi=QUASI, sensitive=(SENSITIVE,), keep=None)
ROWS, LARGEST = 32_561, 30_000
#: Numbers of rows, in sixths of the largest; over them l is fixed, over l there are all six.
SIXTHS = range(1, 7)
#: Where releases answer queries.
ASKED = (3, 4)


def plan(setting: Setting) -> Plan:
    """Plan the study."""
    source = sources.choose(
        [SHAPE],
        setting,
        make=adults,
        made="Adult-like",
        usual=ROWS,
    )
    seed = setting.seed
    settings = [*((k, L) for k in SIXTHS), *((SIXTHS[-1], ell) for ell in LS if ell != L)]
    steps = [
        Step(
            f"groups and releases, {k}/6 of the rows, l = {ell}",
            partial(_measure, source, k, ell, seed),
        )
        for k, ell in settings
    ]
    steps += [Step(f"e = 2, l = {ell}", partial(_farther, source, ell, seed)) for ell in FAR_LS]
    steps += [
        Step(f"orders of values, l = {ell}", partial(_order, source, ell, seed)) for ell in LS
    ]
    steps += [Step(f"count queries, l = {ell}", partial(_ask, source, ell, seed)) for ell in ASKED]
    return Plan(source, steps, FIGURES)


def drawn(source: Source, sixths: int) -> pl.DataFrame:
    """Return so many sixths of the rows, of 30,000 if there are as many."""
    table = source.table
    return table.head(max(1, round(min(table.height, LARGEST) * sixths / 6)))


def _measure(source: Source, sixths: int, ell: int, seed: int) -> Iterable[Row]:
    table = drawn(source, sixths)
    rows = compared(table, WAYS, ell, seed)
    calls = CALLS if drawn(source, 6).height >= TIMEABLE else 0
    for row, seconds in zip(rows, called(table, WAYS, ell, seed, calls=calls), strict=True):
        yield {"measured": "groups", "sixths": sixths, **row, "call_seconds": seconds}


def _farther(source: Source, ell: int, seed: int) -> Iterable[Row]:
    for row in compared(drawn(source, 6), FAR_WAYS, ell, seed, runs=3):
        yield {"measured": "farther", **row}


def _order(source: Source, ell: int, seed: int) -> Iterable[Row]:
    table = drawn(source, 6)
    yield {"measured": "orders", "n": table.height, "l": ell, **ordered(table, ell, seed)}


def _ask(source: Source, ell: int, seed: int) -> Iterable[Row]:
    for row in asked(drawn(source, 6), WAYS, ell, seed):
        yield {"measured": "queries", **row}


STUDY = Study(
    name="wang2013",
    paper=(
        "Haiyuan Wang, Jianmin Han, Jiye Wang, Lixia Wang: (l,e)-Diversity – a privacy preserving "
        "model to resist semantic similarity attack, 2013"
    ),
    about=(
        "Two tables instead of one, by l-diversity and by (l,e)-diversity, whose groups have no "
        "similar values: what is lost, how diverse the groups are, how long it takes."
    ),
    plan=plan,
)
