"""anonymize: from a table about people to a release that keeps its principles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.advice import refusal
from wideberth.algorithms import Demand
from wideberth.algorithms.lattice.measures import Facts
from wideberth.algorithms.suppression import suppress
from wideberth.anatomizing import by_anatomy
from wideberth.binding import blaming, demands_of, quasis_of
from wideberth.clock import Clock, Progress
from wideberth.elsewhere import engine_for
from wideberth.encode import encode
from wideberth.errors import InfeasibleError, ParameterError, PrivacyWarning
from wideberth.exact import Ints
from wideberth.groups import Partition
from wideberth.latticing import ground_of
from wideberth.making import Task, by_levels, by_splitting
from wideberth.memory import bounded
from wideberth.policy import GROUP, Policy
from wideberth.principles import Principle
from wideberth.publishing import group_ids, publish, require_new
from wideberth.quasi import Quasi
from wideberth.recode import Recoded
from wideberth.release import Release, describe, fingerprint, percentages
from wideberth.request import Request
from wideberth.styling import Style, styles
from wideberth.transform import Grid
from wideberth.verifying import require_principles, require_truth

_MATCHING = (
    "dealing by matching reads quasi-identifiers and sensitive values together, so an adversary "
    "who knows the algorithm learns more than from dealing by rank"
)
_FIXED = "the seed is fixed, for tests only: anyone who knows it can undo the shuffling"


def anonymize(
    table: object,
    *,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    identifier: str | Sequence[str] | None = None,
    insensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    algorithm: str | None = None,
    cuts: str | None = None,
    dealing: str | None = None,
    suppression_limit: float | None = None,
    recoding: str | Mapping[str, str] | None = None,
    align: str | Mapping[str, Grid] | None = None,
    weights: Mapping[str, float] | None = None,
    measure: str | Callable[[Facts], float] | None = None,
    levels: Mapping[str, int | Sequence[int]] | None = None,
    local_rounds: int | None = None,
    max_checks: int | None = None,
    max_seconds: float | None = None,
    max_memory: int | None = None,
    method: str | None = None,
    group_rows: int | None = None,
    group: str | bool | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    bucket_rows: int | None = None,
    progress: Progress | None = None,
) -> Release:
    """Make a release of a table: group its rows, generalise, verify.

    Identifiers are dropped, quasi-identifiers generalised, sensitive and insensitive columns
    published as they are; rows and groups come in a random order. What is returned has been
    verified from its own published values; what cannot be verified is not returned.

    Parameters
    ----------
    table : dataframe or path
        A pandas, polars or pyarrow table, or a CSV, Parquet or Arrow file; or a Spark DataFrame.
    quasi, sensitive, identifier, insensitive : str or sequence of str
        The columns of each role. Every column must have one.
    principles : Principle, str, or sequence of them
        What the release must satisfy, as objects or as on the command line. At most one of them
        may be non-monotone.
    hierarchies : mapping, optional
        By column: a `Hierarchy`, a file, or a rule as in a policy. Quasi-identifiers are
        generalised by it; a sensitive attribute's is its semantic tree.
    types : mapping, optional
        Types of columns, where guessing would be wrong.
    policy : Policy or path, optional
        Where everything that is not given here comes from.
    algorithm, cuts, dealing, suppression_limit, recoding, align, weights : optional
        How the release is made; see `wideberth.transform.Transform`.
    measure, levels, local_rounds, max_checks, max_seconds : optional
        The same for the algorithm "lattice".
    max_memory : int, optional
        How many megabytes distances may take at a time, 256 by default; for the algorithm
        "lattice" instead its tables, 1024 by default.
    method, group_rows : optional
        The same for the algorithm "anatomy".
    group : str or bool, optional
        The name of a column of group ids. By default there is one, named "group", exactly when a
        non-monotone principle is in force: its groups cannot be told from their published values;
        and always in the two tables of the algorithm "anatomy".
    seed : int, optional
        For tests only. By default the randomness is secret and comes from the operating system.
    threads : int, optional
        How many threads to use; by default as many as there are cores.
    memory : str or int, optional
        For a file larger than memory: how much of it the work may take ("2GB"). The release is
        the same; it lies on the disk, and its `table` is a lazy polars table.
    bucket_rows : int, optional
        For such a file, and on Spark: how many rows are finished at a time, 500,000 by default.
    progress : callable, optional
        Told the phase, how many rows are settled, and how many there are; nodes of the lattice
        while it is searched.

    Returns
    -------
    Release
        Of the algorithm "anatomy" an `Anatomy`, which has two tables.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [21, 34, 25, 38], "pay": [10, 90, 50, 30]})
    >>> release = anonymize(table, quasi="age", sensitive="pay", principles="distinct-l:l=4")
    >>> release.table["age"].to_list()
    ['21..38', '21..38', '21..38', '21..38']
    >>> release.check().satisfied
    True
    """
    roles = {
        "quasi": quasi,
        "sensitive": sensitive,
        "identifier": identifier,
        "insensitive": insensitive,
    }
    asked: dict[str, Any] = {
        "principles": principles,
        "hierarchies": hierarchies,
        "types": types,
        "policy": policy,
        "transform": {
            "algorithm": algorithm,
            "cuts": cuts,
            "dealing": dealing,
            "suppression_limit": suppression_limit,
            "recoding": recoding,
            "align": align,
            "weights": weights,
            "measure": measure,
            "levels": levels,
            "local_rounds": local_rounds,
            "max_checks": max_checks,
            "max_seconds": max_seconds,
            "max_memory": max_memory,
            "method": method,
            "group_rows": group_rows,
        },
        "group": group,
    }
    if (engine := engine_for(table, memory)) is not None:
        with blaming(policy, principles, levels):
            made: Release = engine.anonymize(
                table,
                memory=memory,
                roles=roles,
                **asked,
                bucket_rows=bucket_rows,
                seed=seed,
                progress=progress,
            )
        return made
    if bucket_rows is not None:
        raise ParameterError(
            "bucket_rows is for files larger than memory and for Spark", hint='memory="2GB"'
        )
    clock = Clock(progress)
    with clock("reading"):
        request = Request.of(table, roles=roles, **asked)
    cautions = cautions_of(request, seed)
    with bounded(request.transform.memory_for_distances):
        if request.transform.exact:
            with blaming(policy, principles, method, group_rows):
                rng = np.random.default_rng(seed)
                return by_anatomy(request, rng=rng, clock=clock, cautions=cautions, seed=seed)
        blame = blaming(policy, principles, levels)
        return _by_groups(request, clock, blame, cautions, seed, threads, progress)


def _by_groups(
    request: Request,
    clock: Clock,
    blame: AbstractContextManager[None],
    cautions: Sequence[str],
    seed: int | None,
    threads: int | None,
    progress: Progress | None,
) -> Release:
    """Make one table: group its rows, and generalise each group."""
    rng = np.random.default_rng(seed)
    with clock("encoding", request.frame.height), blame:
        task = _prepare(request, rng)
    total = request.frame.height
    request = request.lighter()
    besides = None
    if seed is not None:  # the same groups whatever the order of the rows, and on any engine
        besides = [encode(task.frame[name]).codes for name in request.unguarded]
    with clock("searching" if task.ground else "splitting"):  # which tell their own progress
        made = (
            by_levels(task, request, rng, progress)
            if task.ground
            else by_splitting(task, request, rng, threads, progress, besides=besides)
        )
    task, partition = made.task, made.partition
    with clock("recoding", len(task.rows)):
        order = rng.permutation(len(task.rows))
        recoded = made.recode(order)
        ids = None if task.group is None else group_ids(task.group, partition, order, rng)
        published = _publish(request, task.rows[order], recoded, ids)
        frame, _ = tables.adopt(published)
    suppressed, named = total - len(task.rows), task.group
    question = {
        "quasi": _telling(frame, task),
        "principles": list(request.principles),
        "group": named,
        **request.guarded,
        **made.question,
    }
    # What its labels stand for, for whoever reads them.
    trees = {quasi.name: quasi.tree for quasi in task.quasis if quasi.tree is not None}
    question["hierarchies"] = {**question["hierarchies"], **trees}
    kinds = {q.name: request.types[q.name] for q in task.quasis if q.name in request.types}
    question["types"] = {**question["types"], **kinds}
    with clock("verifying", len(task.rows)):
        require_truth(
            frame,
            task.frame,
            order,
            quasis=task.quasis,
            styles=task.styles,
            untouched=[*request.roles["sensitive"], *request.roles["insensitive"]],
            group=named,
            consistent=made.consistent,
        )
        told, weights = made.told, [quasi.weight for quasi in task.quasis]
        del task, made, order, ids  # the original; a large table leaves little room for the rest
        verified = require_principles(frame, question)
    manifest = describe(
        request,
        groups=partition.count,
        squares=partition.squares,
        made=told,
        suppressed=suppressed,
        loss=percentages(recoded.losses, weights),
        verified=verified,
        warnings=cautions,
        seed=seed,
        group=named,
        seconds=clock.seconds,
    )
    return Release(published, manifest, question, verified, fingerprint(frame))


def cautions_of(request: Request, seed: int | None) -> list[str]:
    """Return what a custodian must know of how a release is made."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise ParameterError("the seed must be a whole number from 0", hint="leave it out")
    cautions = [] if seed is None else [_FIXED]
    if request.transform.dealing == "matching":
        warnings.warn(_MATCHING, PrivacyWarning, stacklevel=3)
        cautions.append(_MATCHING)
    return cautions + [
        f"no principle protects '{column}': its values may be the same in all rows of a group"
        for column in request.unguarded
    ]


def _prepare(request: Request, rng: np.random.Generator) -> Task:
    """Encode the table, and leave out rows if it cannot be published otherwise."""
    rows = np.arange(request.frame.height)
    demands = demands_of(request, request.frame)
    group = group_column(request, demands)
    lattice = request.transform.algorithm == "lattice"
    # The lattice leaves out whole groups, and finds out itself whether that helps.
    limit = request.transform.suppression_limit
    gone = rows[:0] if lattice else suppress(demands, len(rows), limit, rng)
    if len(gone):
        rows = np.setdiff1d(rows, gone)
        demands = demands_of(request, request.frame[rows])
        for demand in demands:
            if not len(rows) or not _feasible(demand, len(rows)):
                raise refusal(demand.principle, demand.column, len(rows))
    frame = request.frame[rows] if len(gone) else request.frame
    untouched = [*request.roles["sensitive"], *request.roles["insensitive"]]
    quasis = quasis_of(request, frame)
    how = styles(quasis, request.transform.recoding, request.transform.align)
    ground = None
    if lattice:
        ground = ground_of(quasis, demands, request.transform)
        how = {quasi.name: Style("hierarchy") for quasi in quasis}
    check_names(request, quasis, how, group)
    return Task(
        rows=rows,
        frame=pl.DataFrame([frame[name] for name in untouched]),
        quasis=quasis,
        demands=demands,
        styles=how,
        group=group,
        ground=ground,
    )


def group_column(request: Request, demands: Sequence[Demand]) -> str | None:
    """Decide whether group ids are published, and under which name."""
    intricate = next((d.principle for d in demands if not d.rule.monotone), None)
    if request.group is False:
        if intricate is not None:
            raise ParameterError(
                f"{intricate.name} is non-monotone: without group ids, groups with equal published "
                "values would be taken together, and might not satisfy it",
                hint="publish group ids, or use delta-l, which is monotone",
            )
        return None
    if request.group is None:
        return None if intricate is None else GROUP
    return str(request.group)


def check_names(
    request: Request, quasis: Sequence[Quasi], how: Mapping[str, Style], group: str | None
) -> None:
    """Refuse new columns with the names of others."""
    taken = list(request.frame.columns)
    fresh = [name for q in quasis for name in how[q.name].columns(q) if name != q.name]
    if group is not None:
        fresh.append(group)
    for name in fresh:
        hint = 'group="another name"' if name == group else f"rename the table's '{name}'"
        require_new(name, taken, hint)
        taken.append(name)


def _feasible(demand: Demand, rows: int) -> bool:
    """Tell whether the whole table can be partitioned into groups that satisfy a principle."""
    whole = Partition(np.zeros(rows, dtype=np.int32), 1)
    groups = whole.sizes() if demand.column is None else whole.histograms(demand.column)
    return bool(demand.rule.feasible(groups)[0])


def _telling(frame: pl.DataFrame, task: Task) -> list[str]:
    """Return the published quasi-identifiers, but for those that are missing in all rows.

    These tell groups apart no more, and a check would take them for a mistake.
    """
    names = [name for q in task.quasis for name in task.styles[q.name].columns(q)]
    telling = [name for name in names if frame[name].null_count() < frame.height]
    if not telling and task.group is None:
        raise InfeasibleError(
            "all rows that could be published lack every quasi-identifier",
            hint="a lower suppression_limit, so that other rows are kept",
        )
    return telling


def _publish(request: Request, rows: Ints, recoded: Recoded, ids: pl.Series | None) -> Any:
    """Put the release together, in the table's own order of columns."""
    new = {series.name: series for columns in recoded.columns.values() for series in columns}
    names = []
    for column in request.columns:
        if column in recoded.columns:
            names += [series.name for series in recoded.columns[column]]
        elif column not in request.roles["identifier"]:
            names.append(column)
    if ids is not None:
        new[ids.name] = ids
        names.append(ids.name)
    return publish(request, rows, names, new)
