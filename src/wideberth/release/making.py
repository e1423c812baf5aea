"""How the rows of a table come into groups: by splitting it, or by levels of its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.generalize import generalize
from wideberth.algorithms.lattice.problem import Ground
from wideberth.algorithms.mondrian.split import split
from wideberth.algorithms.suppression import with_rows
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError
from wideberth.hierarchy.quasi import Quasi
from wideberth.io.sanitize import forgetful_series
from wideberth.kernels.randomness import Stream
from wideberth.policy.request import Request
from wideberth.principles.columns import compares
from wideberth.release.lattice import account, settings_of
from wideberth.release.leveling import Leveled
from wideberth.release.recode import Recoded, recode
from wideberth.release.styles import Style


@dataclass(frozen=True, eq=False, kw_only=True)
class Task:
    """The rows that will be published, made ready for the algorithm."""

    rows: Ints
    frame: pl.DataFrame  # the columns that are published as they are
    quasis: Sequence[Quasi]
    demands: Sequence[Demand]
    styles: Mapping[str, Style]
    group: str | None
    ground: Ground | None  # the lattice, if levels are to be chosen


@dataclass(frozen=True, eq=False, kw_only=True)
class Made:
    """Groups, and how they are published."""

    task: Task  # with the rows that are left
    partition: Partition
    recode: Callable[[Ints], Recoded]  # returns what is published, for the rows in an order
    told: Mapping[str, Any]  # what the manifest says of how it was made
    question: Mapping[str, Any] = field(default_factory=dict)  # what `check` must know besides
    consistent: bool = False  # whether equal values are published alike


def by_splitting(
    task: Task,
    request: Request,
    key: bytes,
    threads: int | None,
    progress: Progress | None,
    *,
    besides: Sequence[Codes] | None = None,
) -> Made:
    """Split the table again and again."""
    try:
        outcome = split(
            task.quasis,
            task.demands,
            rng=Stream(key, "splitting"),
            cuts=request.transform.cuts,
            dealing=request.transform.dealing,
            besides=besides,
            threads=threads,
            progress=progress,
        )
    except InfeasibleError as error:
        rows = request.frame.height
        if len(task.rows) < rows:  # others might have been left out instead
            raise error.hedged("which rows to leave out is not known") from None
        raise with_rows(error, rows, request.transform.suppression_limit) from None
    return Made(
        task=task,
        partition=outcome.partition,
        recode=lambda order: recode(
            task.quasis, outcome.partition, task.styles, order, outcome.boxes
        ),
        told={"leaves": outcome.leaves, "swap_audit": outcome.swap_audit},
    )


def by_levels(task: Task, request: Request, key: bytes, progress: Progress | None) -> Made:
    """Choose a level for each quasi-identifier; leave out the rows of groups that fail then."""
    assert task.ground is not None  # noqa: S101 - whoever asks for levels has them
    leveled = Leveled(generalize(task.ground, settings_of(request.transform), progress))
    rows = leveled.rows
    rest = replace(
        task,
        rows=task.rows[rows],
        frame=pl.DataFrame([series[rows] for series in task.frame]),
        quasis=[replace(quasi, codes=quasi.codes[rows]) for quasi in task.quasis],
    )
    question = {}
    if len(rows) < len(task.rows) and any(compares(p) for p in request.principles):
        # What t-closeness compares with, in an order that tells nothing.
        order = Stream(key, "reference").permutation(len(task.rows))
        columns = [task.frame[name][order] for name in request.roles["sensitive"]]
        question = {"reference": pl.DataFrame([forgetful_series(series) for series in columns])}
    return Made(
        task=rest,
        partition=leveled.partition,
        recode=leveled.recoded,
        told={"lattice": account(leveled.made)},
        question=question,
        consistent=len(leveled.made.rounds) == 1,
    )
