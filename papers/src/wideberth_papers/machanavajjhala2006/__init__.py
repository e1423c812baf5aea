"""The experiments of Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006: l-diversity.

k-anonymous tables are found as the paper finds them, by generalizing whole columns, and attacked;
then l-diverse ones are found in the same way, and compared: the time it takes, and what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from wideberth.datasets import adults, orders
from wideberth_papers import sources
from wideberth_papers.machanavajjhala2006.claims import (
    ADULTS,
    ANONYMITY,
    ENTROPY,
    FORMS,
    RECURSIVE,
    SIX,
)
from wideberth_papers.machanavajjhala2006.figures import FIGURES, SAMPLE, SAMPLES, WHOLE
from wideberth_papers.machanavajjhala2006.measuring import (
    USEFUL,
    Subject,
    attacked,
    calculated,
    dealt,
    levels_text,
    minimal_tables,
    split,
    timed,
    useful,
)
from wideberth_papers.machanavajjhala2006.trees import adult_trees
from wideberth_papers.shapes import ADULT
from wideberth_papers.sources import Shape, Source
from wideberth_papers.study import Plan, Row, Setting, Step, Study

LANDS_END = Shape(
    name="Lands End",
    quasi=("zipcode", "order_date", "gender", "style", "price", "quantity", "shipment"),
    sensitive=("cost",),
)
#: The paper's has 4,591,581 rows; with fewer, the study takes minutes.
MANY_ORDERS = 1_000_000
ENVELOPE, GROUP, VALUES = 60_000, 5, 3
DRAWS, RELEASES = 400, 5
ATTACKED = 5  # quasi-identifiers
TIMED: Mapping[str, str] = dict(zip(SIX, ("k-anonymity:k=6", "entropy-l:l=6"), strict=True))
USED, PARAMETERS = 4, (2, 4, 6, 8)
LEAST_SAMPLED = 5_000  # a twentieth of fewer rows can hardly be generalized at all
SPELLED: Mapping[str, str] = {
    ANONYMITY: "k-anonymity:k={}",
    ENTROPY: "entropy-l:l={}",
    RECURSIVE: "recursive-cl:c=3,l={}",
}


def plan(setting: Setting) -> Plan:
    """Plan the study."""
    seed = setting.seed
    people = Subject(
        name="Adult",
        source=sources.choose(
            [ADULT],
            setting,
            make=adults,
            made="Adult-like",
            usual=ADULTS,
        ),
        quasi=ADULT.quasi,
        sensitive=("occupation", "income"),
        trees=adult_trees,
    )
    sales = Subject(
        name="Lands End",
        source=Source(  # never given: the real one is not public
            shape=LANDS_END,
            name="Lands-End-like",
            path=None,
            make=orders,
            rows=setting.rows,
            usual=MANY_ORDERS,
            seed=seed,
        ),
        quasi=LANDS_END.quasi,
        sensitive=("cost",),
        trees=_rounded,
    )
    steps = [
        Step("back of the envelope", partial(_calculate, seed)),
        Step("homogeneity, Adult", partial(_attack, people, 6, seed)),
        Step("homogeneity, Lands End", partial(_attack, sales, 3, seed)),
        Step("4-anonymous tables, Adult", partial(_enlarge, people)),
    ]
    steps += [
        Step(f"time, {subject.name}, {many} columns", partial(_time, subject, many))
        for subject, most in ((people, 8), (sales, 7))
        for many in range(3, most + 1)
    ]
    steps += [Step(f"utility, all rows, {form}", partial(_use, people, form)) for form in FORMS]
    steps += [
        Step(f"utility, sample {number}", partial(_use_sample, people, number, seed))
        for number in range(1, SAMPLES + 1)
    ]
    return Plan(people.source, steps, FIGURES)


def _rounded(_: pl.DataFrame) -> dict[str, Any]:
    """Give the hierarchies of Lands End: digits rounded, dates by month and quarter, else all."""
    flat = {"flat": True}
    return {
        "zipcode": {"mask": 5},
        "order_date": {"date": ["month", "quarter"]},
        "gender": flat,
        "style": flat,
        "price": {"interval": [10, 100, 1000]},
        "quantity": flat,
        "shipment": flat,
    }


# ---- steps


def _calculate(seed: int) -> Iterable[Row]:
    seeds = [(seed, 60, number) for number in range(RELEASES)]
    rng = np.random.default_rng([seed, 60])
    yield {"measured": "envelope", **calculated(ENVELOPE, GROUP, VALUES)}
    yield {"measured": "envelope", **dealt(ENVELOPE, GROUP, VALUES, DRAWS, rng)}
    yield {"measured": "envelope", **split(ENVELOPE, GROUP, VALUES, seeds)}


def _attack(subject: Subject, k: int, seed: int) -> Iterable[Row]:
    for row in attacked(subject, ATTACKED, subject.sensitive, k, seed):
        yield {"measured": "attack", **row}


def _enlarge(subject: Subject) -> Iterable[Row]:
    asked = subject.asked(ATTACKED, "occupation", "k-anonymity:k=4")
    some = {"measured": "large", "rows": subject.table.height}
    nodes = minimal_tables(asked)
    for node in nodes:
        yield {
            **some,
            "levels": levels_text(node.levels),
            "groups": node.groups,
            "average_size": node.scores["average-size"],
        }
    if not nodes:
        yield {**some, "levels": None, "groups": None, "average_size": None}


def _time(subject: Subject, many: int) -> Iterable[Row]:
    for row in timed(subject, many, subject.sensitive[0], TIMED):
        yield {"measured": "time", **row}


def _use(subject: Subject, form: str, of: str = WHOLE) -> Iterable[Row]:
    few = of == SAMPLE and subject.source.table.height < LEAST_SAMPLED
    for at in PARAMETERS:
        row = {"measured": "utility", "of": of, "principle": form, "at": at}
        row |= {"rows": subject.table.height, **dict.fromkeys(USEFUL)}
        if not few:
            row |= useful(subject, USED, "occupation", SPELLED[form].format(at))
        yield row


def _use_sample(subject: Subject, number: int, seed: int) -> Iterable[Row]:
    sample = subject.sample(seed, number)
    for form in FORMS:
        yield from _use(sample, form, SAMPLE)


STUDY = Study(
    name="machanavajjhala2006",
    paper="A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam: l-Diversity: Privacy "
    "beyond k-anonymity. ICDE 2006.",
    about="How often k-anonymous tables reveal sensitive values, and what l-diversity costs "
    "instead, in time and in utility.",
    plan=plan,
)
