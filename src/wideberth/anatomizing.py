"""anonymize by anatomy: exact quasi-identifiers, and sensitive values by groups beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.algorithms import Demand
from wideberth.algorithms.anatomy import Dealt, anatomize
from wideberth.anatomy import NAMES, Anatomy, suffix_for
from wideberth.attributes import compares
from wideberth.binding import demands_of
from wideberth.clock import Clock
from wideberth.encode import Column, Domain
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.forgetting import forgetful_series
from wideberth.groups import Groups
from wideberth.metrics import AnatomyFigures
from wideberth.policy import GROUP
from wideberth.publishing import group_ids, publish, require_new
from wideberth.release import describe, fingerprint
from wideberth.request import Request
from wideberth.twofold import COUNT, require_fit
from wideberth.verifying import require_anatomy, require_principles
from wideberth.words import is_text

_MANY = 20  # rows, from which on it is no chance that all values of a column differ
EXACT = (
    "quasi-identifiers are published exactly: anatomy hides what is true of somebody, not that "
    "somebody is in the table"
)


def by_anatomy(
    request: Request,
    *,
    rng: np.random.Generator,
    clock: Clock,
    cautions: Sequence[str],
    seed: int | None,
) -> Anatomy:
    """Make two tables of one.

    Parameters
    ----------
    request : Request
        What is asked.
    rng : numpy.random.Generator
        The secret: picks rows from buckets, numbers groups, and shuffles.
    clock : Clock
        Takes the time of each phase.
    cautions : sequence of str
        What the manifest must warn of.
    seed : int, optional
        The seed, if it was no secret.
    """
    frame, rows = request.frame, request.frame.height
    how = request.transform
    with clock("encoding", rows):
        group, value = _names(request)
        demands = demands_of(request, frame)
    with clock("dealing", rows):
        dealt = anatomize(
            demands,
            rows,
            rng=rng,
            method=how.method,
            group_rows=how.group_rows,
            limit=how.suppression_limit,
        )
    partition = dealt.partition
    groups, domain = _histograms(demands, dealt)
    if alone := int((groups.distinct < 2).sum()):
        raise InfeasibleError(
            f"{alone:,} of {len(groups):,} groups would hold a single value, which two tables tell "
            "as plainly as one",
            hint='ask for more as well, such as "frequency-l:l=2"',
        )
    with clock("publishing", rows):
        order = rng.permutation(len(dealt.rows))
        ids = group_ids(group, partition, order, rng)
        shown = dealt.rows[order]
        gone = {*request.roles["identifier"], value}
        kept = [name for name in request.columns if name not in gone]
        quasi = publish(request, shown, [*kept, group], {group: ids})
        lines = counted(ids, frame[value][shown])
        sensitive = publish(
            request,
            shown[lines["row"].to_numpy()],
            [group, value, COUNT],
            {group: lines["group"].alias(group), COUNT: lines["count"]},
        )
        published, counts = tables.adopt(quasi)[0], tables.adopt(sensitive)[0]
    question = {
        "quasi": request.roles["quasi"],
        "principles": list(request.principles),
        "group": group,
        "sensitive_table": sensitive,
        **request.guarded,
    }
    lost = rows - len(dealt.rows)
    if lost and any(compares(p) for p in request.principles):
        # What t-closeness compares with, in an order that tells nothing.
        shuffled = frame[value][rng.permutation(rows)]
        question["reference"] = pl.DataFrame([forgetful_series(shuffled)])
    with clock("verifying", rows):
        require_anatomy(published, counts, frame, shown, untouched=kept, group=group, value=value)
        verified = require_principles(published, question)
    manifest = describe(
        request,
        groups=partition.count,
        squares=partition.squares,
        made={"anatomy": _account(dealt, rows)},
        suppressed=lost,
        loss=AnatomyFigures.of(groups, domain, lost).to_dict(),
        verified=verified,
        warnings=[*cautions, *_cautions(request, groups, lost)],
        seed=seed,
        group=group,
        seconds=clock.seconds,
    )
    manifest["output"] = {part: {"name": None, "sha256": None} for part in NAMES}
    return Anatomy(
        quasi,
        manifest,
        question,
        verified,
        fingerprint(published, counts),
        sensitive=sensitive,
        suffix=suffix_for(request.source),
    )


def counted(ids: pl.Series, values: pl.Series) -> pl.DataFrame:
    """Count the values of each group, sorted as text: in no order that rows have.

    Returns
    -------
    polars.DataFrame
        `group`, `value`, a `row` that has it, and the `count` of such rows.

    Examples
    --------
    >>> counted(pl.Series([2, 1, 2, 2]), pl.Series(["b", "c", "a", "b"])).rows()
    [(1, 'c', 1, 1), (2, 'a', 2, 1), (2, 'b', 0, 2)]
    """
    labels = isinstance(values.dtype, pl.Enum | pl.Categorical)
    pairs = pl.DataFrame(
        [ids.alias("group"), (values.cast(pl.String) if labels else values).alias("value")]
    )
    found = (
        pairs.with_row_index("row")
        .group_by("group", "value")
        .agg(pl.col("row").first(), pl.len().cast(pl.Int64).alias("count"))
    )
    return found.sort("group", "value", nulls_last=True)


def _names(request: Request) -> tuple[str, str]:
    """Return the columns of group ids and of sensitive values, or say what anatomy cannot do."""
    sensitive = request.roles["sensitive"]
    if not sensitive:
        raise ParameterError("anatomy needs a sensitive attribute", hint="name one")
    if len(sensitive) != 1:
        raise ParameterError(
            f"anatomy publishes one sensitive attribute, not {len(sensitive)}",
            hint='drop the others (identifier), or algorithm = "mondrian"',
        )
    for principle in request.principles:
        require_fit(principle)
    if request.group is False:
        raise ParameterError(
            "anatomy cannot do without group ids: they hold its two tables together",
            hint=f'group="{GROUP}"',
        )
    group = GROUP if request.group in (None, True) else str(request.group)
    require_new(group, request.columns, 'group="another name"')
    if COUNT in (group, sensitive[0]):
        raise ParameterError(
            f"the table of sensitive values has a column '{COUNT}' of its own",
            hint="give yours another name",
        )
    return group, sensitive[0]


def _account(dealt: Dealt, rows: int) -> dict[str, object]:
    """Say how the groups were made, and whether fewer rows could have been left out."""
    lost = rows - len(dealt.rows)
    return {
        "handling": dealt.how,
        "suppressed_at_least": dealt.at_least if lost else 0,
        "suppression_proven_least": not lost or dealt.at_least == lost,
    }


def _histograms(demands: Sequence[Demand], dealt: Dealt) -> tuple[Groups, Domain]:
    """Return the sensitive values of each group, and what their codes mean."""
    column = next(d.column for d in demands if d.column is not None)
    kept = Column(column.codes[dealt.rows], column.domain)
    return dealt.partition.histograms(kept), column.domain


def _cautions(request: Request, groups: Groups, lost: int) -> list[str]:
    """Say what whoever publishes the two tables must know."""
    cautions = [EXACT]
    quasi = request.roles["quasi"]
    if lost:
        cautions.append(
            f"{lost:,} row{'' if lost == 1 else 's'} left out, of the most frequent kinds: whoever "
            "knows that somebody was in the table, and misses them, knows nearly what they have"
        )
    wanted, smallest = request.transform.group_rows, int(groups.sizes.min())
    if wanted is not None and smallest < wanted:
        cautions.append(
            f"groups of {wanted:,} rows were asked for, but the smallest has {smallest:,}: similar "
            "values are too frequent"
        )
    if unused := [name for name in quasi if name in request.hierarchies]:
        cautions.append(f"hierarchies of quasi-identifiers are not looked at: {', '.join(unused)}")
    if unique := [n for n in quasi if _identifies(request.frame[n])]:
        cautions.append(
            "every row has a value of its own, as identifiers have: " + ", ".join(unique)
        )
    return cautions


def _identifies(series: pl.Series) -> bool:
    """Tell whether a column of names or numbers tells all rows apart."""
    named = is_text(series.dtype) or series.dtype.is_integer()
    return named and len(series) >= _MANY and series.alias("").n_unique() == len(series)
