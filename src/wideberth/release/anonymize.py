"""anonymize: from a table about people to a release that keeps its principles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.generalize import generalize
from wideberth.algorithms.lattice.measures import Facts
from wideberth.algorithms.lattice.problem import LatticeProblem
from wideberth.algorithms.mondrian.split import split
from wideberth.algorithms.suppression import hint_at_suppression, suppress
from wideberth.core.codes import Codes, encode
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.memory import bounded
from wideberth.core.progress import Clock, Progress
from wideberth.core.questions import is_remarked, value_remarks
from wideberth.core.text import counted, join_names
from wideberth.engines import engine_for
from wideberth.errors import InfeasibleError, ParameterError, PrivacyWarning
from wideberth.hierarchy.quasi import Quasi, hierarchy_doubts
from wideberth.io.sanitize import sanitized_series
from wideberth.kernels.randomness import RootKey, Stream
from wideberth.policy.guesses import looks_of
from wideberth.policy.policy import GROUP_COLUMN, Policy
from wideberth.policy.request import Request
from wideberth.policy.settings import Grid
from wideberth.policy.strays import non_person_remarks
from wideberth.principles import Principle
from wideberth.principles.columns import compares_with_table
from wideberth.principles.feasibility.refusal import infeasible_error
from wideberth.release.anatomized import by_anatomy
from wideberth.release.lattice import LatticeRecoding, lattice_account, lattice_problem, settings_of
from wideberth.release.prepare import blame_policy, demands_of, quasis_of, release_identity
from wideberth.release.publish import (
    group_ids,
    original_rows,
    publish,
    random_row_order,
    require_new_name,
)
from wideberth.release.recode import RecodedColumns, long_set_cautions, recode
from wideberth.release.release import Release, compose_manifest, percentages, table_fingerprint
from wideberth.release.styles import Recoding, choose_recodings, require_coarse_recoding
from wideberth.release.trials import try_proposals, untried_proposals
from wideberth.release.verify import require_principles, require_true_labels

#: How many rows tell what a column looks like, and how many columns are named.
_HEAD, _NAMED = 1_000, 10
_MATCHING = (
    "dealing by matching reads quasi-identifiers and sensitive values together, so an adversary "
    "who knows the algorithm learns more than from dealing by rank"
)
_FIXED = (
    "the seed is fixed, for tests only: anyone who guesses it can undo the shuffling, so do not "
    "publish this release; a key file makes runs repeatable without that risk"
)


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
    suppression_limit: float | str | None = None,
    recoding: str | Mapping[str, str] | None = None,
    align: str | Mapping[str, Grid] | None = None,
    max_set: int | None = None,
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
    rows_are_people: bool | None = None,
    seed: int | None = None,
    key: str | Path | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    bucket_rows: int | None = None,
    trials: bool = True,
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
    algorithm, cuts, dealing, suppression_limit, recoding, align, max_set, weights : optional
        How the release is made; see `wideberth.policy.settings.Transform`.
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
    rows_are_people : bool, optional
        Whether every row is a different person. Without it, a table in which an identifier repeats
        is refused: principles count rows, and five rows may be one person.
    seed : int, optional
        For tests only, with a `PrivacyWarning`: whoever guesses it can undo the shuffling. By
        default the randomness is secret and comes from the operating system.
    key : str or Path, optional
        A file with a secret key, for runs that can be repeated: the same table, policy and key
        give the same release. If it does not exist, it is created, for its owner alone.
    threads : int, optional
        How many threads to use; by default as many as there are cores.
    memory : str or int, optional
        For a file larger than memory: how much of it the work may take ("2GB"). The release is
        the same; it lies on the disk, and its `table` is a lazy polars table.
    bucket_rows : int, optional
        For such a file, and on Spark: how many rows are finished at a time, 500,000 by default.
    trials : bool
        Whether a refusal proposes only what was tried on the table: with all other principles, and
        for its loss and what an audit finds. Trying stops after 20 seconds, and leaves out tables
        above 100,000 rows.
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
            "max_set": max_set,
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
        "rows_are_people": rows_are_people,
    }
    root = RootKey.of(seed, key)
    if root.origin == "seed":
        warnings.warn(_FIXED, PrivacyWarning, stacklevel=2)
    if (engine := engine_for(table, memory)) is not None:
        try:
            with blame_policy(policy, principles, levels):
                made: Release = engine.anonymize(
                    table,
                    memory=memory,
                    roles=roles,
                    **asked,
                    bucket_rows=bucket_rows,
                    root=root,
                    progress=progress,
                )
        except InfeasibleError as error:
            raise untried_proposals(error) from None
        return made
    if bucket_rows is not None:
        raise ParameterError(
            "bucket_rows is for files larger than memory and for Spark", hint='memory="2GB"'
        )
    clock = Clock(progress)
    with clock("reading"):
        request = Request.of(table, roles=roles, **asked)
    cautions = cautions_of(request, root)

    def run(request: Request, clock: Clock, told: Progress | None) -> Release:
        if request.transform.exact:
            with blame_policy(policy, principles, method, group_rows):
                return by_anatomy(request, clock=clock, cautions=cautions, root=root)
        blame = blame_policy(policy, principles, levels)
        return _by_groups(request, clock, blame, cautions, root, threads, told)

    with bounded(request.transform.memory_for_distances):
        try:
            return run(request, clock, progress)
        except InfeasibleError as error:
            if not trials:
                raise untried_proposals(error, request) from None

            def again(other: Request) -> Release:
                return run(other, Clock(None), None)

            raise try_proposals(error, request, again, progress) from None


def _by_groups(
    request: Request,
    clock: Clock,
    blame: AbstractContextManager[None],
    cautions: Sequence[str],
    root: RootKey,
    threads: int | None,
    progress: Progress | None,
) -> Release:
    """Make one table: group its rows, and generalise each group."""
    with clock("encoding", request.frame.height), blame:
        key = _key_of(request, root)
        task = _prepare(request, key, repeatable=root.repeatable)
    cautions = [*cautions, *hierarchy_doubts(task.quasis)]  # of which a warning was given
    cautions += warn_of_choices(require_coarse_recoding(task.quasis, task.styles))
    total = request.frame.height
    request = request.lighter()
    besides = None
    if root.repeatable:  # the same groups whatever the order of the rows, and on any engine
        besides = [encode(task.frame[name]).codes for name in request.unguarded]
    with clock("searching" if task.ground else "splitting"):  # which tell their own progress
        made = (
            by_levels(task, request, key, progress)
            if task.ground
            else by_splitting(task, request, key, threads, progress, besides=besides)
        )
    task, partition = made.task, made.partition
    with clock("recoding", len(task.rows)):
        order = random_row_order(len(task.rows), key)
        recoded = made.recode(order)
        ids = None if task.group is None else group_ids(task.group, partition, order, key)
        published = _publish(request, task.rows[order], recoded, ids)
        frame, _ = io.adopt(published)
    suppressed, named = total - len(task.rows), task.group
    kept = task.rows if suppressed else total
    question = {
        "quasi": _telling(frame, task),
        "principles": list(request.principles),
        "group": named,
        "rows_are_people": True,  # else the table would have been refused
        **request.guarded,
        **made.question,
    }
    # What its labels stand for, for whoever reads them.
    trees = {quasi.name: quasi.tree for quasi in task.quasis if quasi.tree is not None}
    question["hierarchies"] = {**question["hierarchies"], **trees}
    kinds = {q.name: request.types[q.name] for q in task.quasis if q.name in request.types}
    question["types"] = {**question["types"], **kinds}
    with clock("verifying", len(task.rows)):
        require_true_labels(
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
        cautions = [*cautions, *long_set_cautions(recoded.starred, task.styles, len(task.rows))]
        del task, made, order, ids  # the original; a large table leaves little room for the rest
        verified = require_principles(frame, question)
    manifest = compose_manifest(
        request,
        made=told,
        suppressed=suppressed,
        loss=percentages(recoded.losses, weights),
        verified=verified,
        warnings=cautions,
        origin=root.origin,
        group=named,
        seconds=clock.seconds,
    )
    return Release(
        published,
        manifest,
        question,
        verified,
        table_fingerprint(frame),
        _row_order=partial(original_rows, kept, key),
    )


def partition(table: object, **settings: Any) -> Ints:
    """Return the groups that `anonymize` would make, without a release.

    Parameters
    ----------
    table : dataframe or path
        As of `anonymize`: a table in memory.
    **settings
        The arguments of `anonymize`.

    Returns
    -------
    array of int
        The group of each row, numbered from 1; 0 for rows that are left out. It tells which
        released row is whose: keep it private.

    Examples
    --------
    >>> people = pl.DataFrame({"age": [21, 34, 25, 38], "pay": [10, 90, 50, 30]})
    >>> groups = partition(people, quasi="age", sensitive="pay", principles="k-anonymity:k=2")
    >>> bool(groups[0] == groups[2]), bool(groups[0] == groups[1])
    (True, False)
    """
    release = anonymize(table, **settings)
    labels, _ = io.adopt(release.groups_of(table))
    return labels[labels.columns[-1]].fill_null(0).cast(pl.Int64).to_numpy()


def cautions_of(request: Request, root: RootKey) -> list[str]:
    """Return what a custodian must know of how a release is made."""
    cautions = [_FIXED] if root.origin == "seed" else []
    if request.transform.dealing == "matching":
        warnings.warn(_MATCHING, PrivacyWarning, stacklevel=3)
        cautions.append(_MATCHING)
    for name in request.roles["quasi"]:
        if is_remarked(request.frame[name].dtype) and request.frame.height:
            cautions += value_remarks(name, request.frame[name].alias("").unique())
    cautions += non_person_remarks(request.frame)
    cautions += caution_unknown_columns(request)
    return cautions + [
        f"no principle protects '{column}': its values may be the same in all rows of a group"
        for column in request.unguarded
    ]


def caution_unknown_columns(request: Request) -> list[str]:
    """Warn of columns that are published exactly though nobody can tell what they hold."""
    # If the rows are not in memory, only the names of the columns are judged.
    harmless = request.roles["insensitive"]
    told = pl.DataFrame([s for s in request.frame if s.name in harmless and s.dtype != pl.Object])
    looks = looks_of(told.head(_HEAD))
    unknown = [name for name, look in looks.items() if look == "unknown" and _varies(told[name])]
    if not unknown:
        return []
    names = [f"'{name}'" for name in unknown[:_NAMED]]
    if more := len(unknown) - len(names):
        names.append(counted(more, "more column"))
    said = (
        "is published exactly, as insensitive, though its name does not show what it holds: make "
        "sure that it is harmless"
        if len(unknown) == 1
        else "are published exactly, as insensitive, though their names do not show what they "
        "hold: make sure that they are harmless"
    )
    return [f"{join_names(names)} {said}"]


def _varies(series: pl.Series) -> bool:
    """Return whether a column may say something: not if it is the same in every row."""
    plain = series.alias("")
    return not len(plain) or plain.dtype.is_nested() or plain.n_unique() > 1


def warn_of_choices(cautions: Sequence[str]) -> Sequence[str]:
    """Warn of what is not refused, but gives an adversary more than usual."""
    for caution in cautions:
        warnings.warn(caution, PrivacyWarning, stacklevel=4)
    return cautions


def _key_of(request: Request, root: RootKey) -> bytes:
    """Return the key of this release; the whole table is looked at only if the key needs it."""
    if root.origin != "key file":
        return root.secret
    frame = request.frame
    quasis, demands = quasis_of(request, frame), demands_of(request, frame)
    unguarded = [encode(frame[name]).domain for name in request.unguarded]
    return root.bound(release_identity(request, quasis, demands, unguarded))


def _prepare(request: Request, key: bytes, *, repeatable: bool) -> PreparedTable:
    """Encode the table, and leave out rows if it cannot be published otherwise."""
    rows = np.arange(request.frame.height)
    demands = demands_of(request, request.frame)
    group = group_column(request, demands)
    lattice = request.transform.algorithm == "lattice"
    # The lattice leaves out whole groups, and finds out itself whether that helps.
    limit = request.transform.suppression_limit
    rng = Stream(key, "suppression")
    order = request.by_content if repeatable else None
    gone = rows[:0] if lattice else suppress(demands, len(rows), limit, rng, order=order)
    if len(gone):
        rows = np.setdiff1d(rows, gone)
        demands = demands_of(request, request.frame[rows])
        for demand in demands:
            if not len(rows) or not _feasible(demand, len(rows)):
                why = infeasible_error(demand.principle, demand.column, len(rows))
                # Of these rows it is proven, if at all: others might have been left out.
                raise why.hedged("which rows to leave out is not known")
    frame = request.frame[rows] if len(gone) else request.frame
    untouched = [*request.roles["sensitive"], *request.roles["insensitive"]]
    quasis = quasis_of(request, frame)
    wish = request.transform
    how = choose_recodings(quasis, wish.recoding, wish.align, wish.max_set)
    ground = None
    if lattice:
        ground = lattice_problem(quasis, demands, request.transform)
        how = {quasi.name: Recoding("hierarchy") for quasi in quasis}
    require_new_names(request, quasis, how, group)
    return PreparedTable(
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
        return None if intricate is None else GROUP_COLUMN
    return str(request.group)


def require_new_names(
    request: Request, quasis: Sequence[Quasi], how: Mapping[str, Recoding], group: str | None
) -> None:
    """Refuse new columns with the names of others."""
    taken = list(request.frame.columns)
    fresh = [name for q in quasis for name in how[q.name].columns(q) if name != q.name]
    if group is not None:
        fresh.append(group)
    for name in fresh:
        hint = 'group="another name"' if name == group else f"rename the table's '{name}'"
        require_new_name(name, taken, hint)
        taken.append(name)


def _feasible(demand: Demand, rows: int) -> bool:
    """Return whether the whole table can be partitioned into groups that satisfy a principle."""
    whole = Partition(np.zeros(rows, dtype=np.int32), 1)
    groups = whole.sizes() if demand.column is None else whole.histograms(demand.column)
    return bool(demand.rule.feasible(groups)[0])


def _telling(frame: pl.DataFrame, task: PreparedTable) -> list[str]:
    """Return the published quasi-identifiers, but for those that are missing in all rows."""
    # Those no longer tell groups apart, and a check would take them for a mistake.
    names = [name for q in task.quasis for name in task.styles[q.name].columns(q)]
    telling = [name for name in names if frame[name].null_count() < frame.height]
    if not telling and task.group is None:
        raise InfeasibleError(
            "all rows that could be published lack every quasi-identifier",
            hint="a lower suppression_limit, so that other rows are kept",
        )
    return telling


def _publish(request: Request, rows: Ints, recoded: RecodedColumns, ids: pl.Series | None) -> Any:
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


# -----------------------------------------------------------------------------
# How the rows of a table come into groups: by splitting it, or by levels of its columns.


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedTable:
    """The rows that will be published, made ready for the algorithm."""

    rows: Ints
    frame: pl.DataFrame  # the columns that are published as they are
    quasis: Sequence[Quasi]
    demands: Sequence[Demand]
    styles: Mapping[str, Recoding]
    group: str | None
    ground: LatticeProblem | None  # the lattice, if levels are to be chosen


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupingResult:
    """Groups, and how they are published."""

    task: PreparedTable  # with the rows that are left
    partition: Partition
    recode: Callable[[Ints], RecodedColumns]  # returns what is published, for the rows in an order
    told: Mapping[str, Any]  # what the manifest says of how it was made
    question: Mapping[str, Any] = field(default_factory=dict)  # what `check` must know besides
    consistent: bool = False  # whether equal values are published alike


def by_splitting(
    task: PreparedTable,
    request: Request,
    key: bytes,
    threads: int | None,
    progress: Progress | None,
    *,
    besides: Sequence[Codes] | None = None,
) -> GroupingResult:
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
        raise hint_at_suppression(error, rows, request.transform.suppression_limit) from None
    return GroupingResult(
        task=task,
        partition=outcome.partition,
        recode=lambda order: recode(
            task.quasis, outcome.partition, task.styles, order, outcome.boxes
        ),
        told={"leaves": outcome.leaves, "swap_audit": outcome.swap_audit},
    )


def by_levels(
    task: PreparedTable, request: Request, key: bytes, progress: Progress | None
) -> GroupingResult:
    """Choose a level for each quasi-identifier; leave out the rows of groups that fail then."""
    assert task.ground is not None  # noqa: S101 - whoever asks for levels has them
    leveled = LatticeRecoding(generalize(task.ground, settings_of(request.transform), progress))
    rows = leveled.rows
    rest = replace(
        task,
        rows=task.rows[rows],
        frame=pl.DataFrame([series[rows] for series in task.frame]),
        quasis=[replace(quasi, codes=quasi.codes[rows]) for quasi in task.quasis],
    )
    question = {}
    if len(rows) < len(task.rows) and any(compares_with_table(p) for p in request.principles):
        # What t-closeness compares with, in an order that tells nothing.
        order = Stream(key, "reference").permutation(len(task.rows))
        columns = [task.frame[name][order] for name in request.roles["sensitive"]]
        question = {"reference": pl.DataFrame([sanitized_series(series) for series in columns])}
    return GroupingResult(
        task=rest,
        partition=leveled.partition,
        recode=leveled.recoded,
        told={"lattice": lattice_account(leveled.made)},
        question=question,
        consistent=len(leveled.made.rounds) == 1,
    )
