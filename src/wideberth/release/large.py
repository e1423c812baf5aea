"""anonymize for tables that are not in memory: the same steps, whatever engine holds the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wideberth.algorithms.mondrian.split import rank_block_rows
from wideberth.checks.check import lookalike_notes
from wideberth.checks.result import CheckResult
from wideberth.core.progress import Clock
from wideberth.engines.base import Engine
from wideberth.engines.split.growth import SplitTree, SplitTreeBuilder
from wideberth.errors import EngineError, ParameterError, VerificationError
from wideberth.hierarchy.quasi import hierarchy_doubts
from wideberth.kernels.randomness import RootKey
from wideberth.policy.request import Request, require_people
from wideberth.release.anonymize import cautions_of, warn_of_choices
from wideberth.release.parts import BoundRequest, bind, choose_levels, sum_part_figures
from wideberth.release.recode import long_set_cautions
from wideberth.release.release import compose_manifest, percentages
from wideberth.release.styles import require_coarse_recoding

#: How many rows a worker takes at a time, unless somebody says otherwise.
BUCKET_ROWS = 500_000
#: A bucket that cannot be cut may have so many times the rows that one should have.
_TOO_LARGE = 8


@dataclass(frozen=True, eq=False)
class ReleaseParts:
    """What is known of a release besides its table; see `wideberth.release.release.Release`."""

    manifest: dict[str, Any]
    question: dict[str, Any]
    verified: CheckResult


def anonymize_on_engine(
    request: Request,  # its frame has no rows
    engine: Engine,
    *,
    check: Callable[[Mapping[str, Any]], CheckResult],
    root: RootKey,
    bucket_rows: int | None,
    clock: Clock,
) -> ReleaseParts:
    """Make a release of a table part by part."""
    at_a_time = BUCKET_ROWS if bucket_rows is None else bucket_rows
    if type(at_a_time) is not int or at_a_time < 1:
        raise ParameterError(
            "bucket_rows must be a whole number from 1", hint=f"bucket_rows={BUCKET_ROWS}"
        )
    cautions = cautions_of(request, root)
    with clock("counting"):
        request = replace(request, people=engine.people(**request.person))
        strays = engine.strays()
        if not request.rows_are_people:
            strays.require_none()
        cautions += strays.notes
        require_people(request.people, said=request.rows_are_people)
        job = bind(request, engine.digest, root)
    cautions = [*cautions, *hierarchy_doubts(job.quasis)]  # of which a warning was given
    cautions += warn_of_choices(require_coarse_recoding(job.quasis, job.styles))
    way = _by_levels if request.transform.algorithm == "lattice" else _by_splitting
    made = way(request, job, engine, clock, at_a_time)
    question = _question(request, job)
    with clock("verifying", job.rows):
        verified = check(question)
    require_kept(verified, made["rows"], made["groups"] if job.group is not None else None)
    endless = long_set_cautions(made.get("starred", {}), job.styles, made["rows"])
    manifest = compose_manifest(
        request,
        made={**made["made"], "engine": {"name": engine.name, **made["engine"]}},
        suppressed=job.rows - made["rows"],
        loss=percentages(made["losses"], [quasi.weight for quasi in job.quasis]),
        verified=verified,
        warnings=[
            *cautions,
            *endless,
            *(n for quasi in job.quasis for n in lookalike_notes(quasi.domain)),
        ],
        origin=root.origin,
        group=job.group,
        seconds=clock.seconds,
    )
    return ReleaseParts(manifest, question, verified)


def require_kept(verified: CheckResult, rows: int, groups: int | None) -> None:
    """Raise unless what is published keeps its principles, with all rows and groups in it."""
    # `groups` is None if no group ids are published.
    what = None
    if verified.rows != rows:
        what = f"it has {verified.rows:,} rows instead of {rows:,}"
    elif groups is not None and verified.groups != groups:
        what = f"it has {verified.groups:,} groups instead of {groups:,}"
    elif verified.uneven is not None:
        what = f"'{verified.uneven.columns[0]}' differs within a group"
    elif not verified:
        failing = next(report for report in verified.principles if not report.satisfied)
        what = f"{failing.violating_groups:,} groups violate {failing.principle}"
    if what is not None:
        raise VerificationError(
            f"the release failed its own verification: {what}",
            hint="nothing was published; this is a defect of wideberth, please report it",
        )


def _by_splitting(
    request: Request, job: BoundRequest, engine: Engine, clock: Clock, at_a_time: int
) -> dict[str, Any]:
    """Grow the upper part of the split tree, and finish its leaves."""
    node_judge = job.node_judge()
    with clock("encoding", job.rows):
        engine.encode(job)
    with clock("splitting"):
        tree = SplitTreeBuilder(
            job.task,
            node_judge,
            rows=job.rows,
            paper=job.cuts == "paper",
            bucket_rows=at_a_time,
            block=rank_block_rows(job.cuts, job.task.unit),
            progress=clock.progress,
        ).run(engine.look)
        _require_small(tree, at_a_time)
    with clock("finishing"):
        total = sum_part_figures(engine.finish(job, tree, _columns(request, job), clock.progress))
    _require_all(total["rows"], job.rows)
    return {
        **total,
        "made": {"leaves": total["leaves"], "swap_audit": None},
        "engine": {
            "scans": tree.scans,
            "buckets": len(tree.leaves),
            "bucket_rows": at_a_time,
        },
    }


def _by_levels(
    request: Request, job: BoundRequest, engine: Engine, clock: Clock, at_a_time: int
) -> dict[str, Any]:
    """Count distinct tuples, search the lattice on them, and publish all rows."""
    with clock("encoding", job.rows):
        codes, counts = engine.tuples(job)
    with clock("searching"):
        labels, told = choose_levels(request, job, codes, counts, clock.progress)
    with clock("finishing"):
        columns = _columns(request, job)
        rows = engine.publish(job, labels, at_a_time, columns, clock.progress)
    _require_all(rows, told["rows"])
    return {**told, "engine": {"tuples": len(counts)}}


def _require_all(rows: int, expected: int) -> None:
    if rows != expected:
        raise EngineError(
            f"{rows:,} rows were finished instead of {expected:,}: the table changed meanwhile",
            hint="work on a copy that stays as it is",
        )


def _columns(request: Request, job: BoundRequest) -> list[str]:
    """Name the columns of a release, in the table's own order."""
    new = {quasi.name: job.styles[quasi.name].columns(quasi) for quasi in job.quasis}
    names: list[str] = []
    for column in request.columns:
        if column in new:
            names += new[column]
        elif column not in request.roles["identifier"]:
            names.append(column)
    return [*names, job.group] if job.group is not None else names


def _question(request: Request, job: BoundRequest) -> dict[str, Any]:
    """Return the arguments of a check whether the release keeps its principles."""
    guarded = request.guarded
    trees = {quasi.name: quasi.tree for quasi in job.quasis if quasi.tree is not None}
    kinds = {q.name: request.types[q.name] for q in job.quasis if q.name in request.types}
    return {
        "quasi": [name for q in job.quasis for name in job.styles[q.name].columns(q)],
        "principles": list(request.principles),
        "group": job.group,
        "rows_are_people": True,  # else the table would have been refused
        "sensitive": guarded["sensitive"],
        "hierarchies": {**guarded["hierarchies"], **trees},
        "types": {**guarded["types"], **kinds},
    }


def _require_small(tree: SplitTree, bucket_rows: int) -> None:
    """Refuse a tree with a leaf that is too large for a worker, before rows are moved."""
    largest = int(tree.rows[tree.leaves].max())
    if largest > _TOO_LARGE * bucket_rows:
        raise EngineError(
            f"{largest:,} rows cannot be cut any further under these principles, and a worker is "
            f"to take {bucket_rows:,} at a time",
            hint=f"bucket_rows={-(-largest // _TOO_LARGE)} or more, on workers with memory for it; "
            "or weaker principles",
        )
