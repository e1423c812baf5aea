"""A part of a large table, finished by itself: split to the end, published, and verified.

A leaf of the split tree holds all rows that could share a group, so nothing else need be known.
What comes out depends on what the rows hold, never on the order in which they came: a part that is
finished twice, because a machine was lost, comes out the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from wideberth.algorithms.mondrian.split import leaves_of
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.errors import InfeasibleError
from wideberth.release import lots
from wideberth.release.parts import Job, refused
from wideberth.release.publish import plain
from wideberth.release.recode import recode
from wideberth.release.verifying import require_truth


@dataclass(frozen=True, eq=False)
class Finished:
    """A finished part of a table."""

    table: pl.DataFrame
    place: Ints  # a lot for each row: in the order of these, rows of all parts are mixed
    told: dict[str, Any]  # figures that add up over the parts


def finish(
    job: Job,
    part: int,
    codes: Sequence[Codes],
    payload: pl.DataFrame,
    *,
    ties: Ints | None = None,
    threads: int | None = None,
) -> Finished:
    """Split a part's rows to the end, publish them, and verify what is published."""
    # `codes` has a line for each of the job's codings; `ties`: see `by_content`.
    order = by_content(job, codes, payload, ties)
    payload = pl.DataFrame([series.gather(order) for series in payload])
    codes = [np.ascontiguousarray(line[order]) for line in codes]
    task = job.arranged(codes)
    # As in a large table: were it done without compiled code, ties could be judged otherwise.
    try:
        engine, leaves = leaves_of(task, job.cuts, threads=threads, few=False)
    except InfeasibleError as error:
        if task.rows < job.rows:  # other cuts were not tried
            raise error.hedged("that is so of a part of the table") from None
        raise refused(error, job.limit) from None
    partition, boxes = engine.deal(leaves)
    recoded = recode(task.quasis, partition, job.styles, None, boxes)
    published = [plain(s) for columns in recoded.columns.values() for s in columns]
    if job.group is not None:
        numbers = lots.ids(job.secret, part, partition.count)[partition.labels]
        published.append(pl.Series(job.group, numbers, dtype=pl.Int64))
    table = pl.DataFrame([*published, *payload])
    require_truth(
        table,
        payload,
        np.arange(task.rows),
        quasis=task.quasis,
        styles=job.styles,
        untouched=job.untouched,
        group=job.group,
    )
    told = {
        "rows": task.rows,
        "groups": partition.count,
        "leaves": len(leaves),
        "losses": {name: loss * task.rows for name, loss in recoded.losses.items()},
        "starred": dict(recoded.starred),
    }
    return Finished(table, lots.places(job.secret, part, task.rows), told)


def by_content(job: Job, codes: Sequence[Codes], payload: pl.DataFrame, ties: Ints | None) -> Ints:
    """Order rows by what they hold; rows that hold the same may change places unnoticed."""
    # `ties` has a number for each row that depends on its payload. Those made here are the same
    # only within one run of the program.
    tags: Any = job.arranged(codes).tags
    if ties is None and not payload.width:
        return np.argsort(tags, kind="stable")
    return np.lexsort((payload.hash_rows().to_numpy() if ties is None else ties, tags))


def examples(job: Job) -> dict[str, pl.Series]:
    """Return a published row's quasi-identifiers, for their types."""
    quasis = [replace(quasi, codes=quasi.codes[:1]) for quasi in job.quasis]
    recoded = recode(quasis, Partition(np.zeros(1, np.int32), 1), job.styles)
    return {s.name: plain(s) for columns in recoded.columns.values() for s in columns}


def added(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up the figures of all parts; losses become means."""
    total = {key: sum(one[key] for one in told) for key in ("rows", "groups", "leaves")}
    names = told[0]["losses"]
    losses = {name: sum(one["losses"][name] for one in told) / total["rows"] for name in names}
    starred = {name: sum(one["starred"].get(name, 0) for one in told) for name in names}
    starred = {name: rows for name, rows in starred.items() if rows}
    return {**total, "losses": losses, "starred": starred}
