"""anonymize by anatomy: exact quasi-identifiers, and sensitive values by groups beside them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.algorithms import Demand
from wideberth.algorithms.anatomy import Dealt, anatomize
from wideberth.anatomy import Anatomy, suffix_for
from wideberth.binding import demands_of
from wideberth.clock import Clock
from wideberth.encode import Column
from wideberth.errors import ParameterError
from wideberth.exact import Ints
from wideberth.metrics import AnatomyFigures
from wideberth.policy import GROUP
from wideberth.principles import AlphaKAnonymity
from wideberth.publishing import group_ids, publish, require_new
from wideberth.release import describe, fingerprint
from wideberth.request import Request
from wideberth.twofold import COUNT
from wideberth.verifying import require_anatomy, require_principles

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
    with clock("publishing", rows):
        order = rng.permutation(len(dealt.rows))
        ids = group_ids(group, partition, order, rng)
        shown = dealt.rows[order]
        gone = {*request.roles["identifier"], value}
        kept = [name for name in request.columns if name not in gone]
        quasi = publish(request, shown, [*kept, group], {group: ids})
        lines = counted(ids, frame[value].gather(shown))
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
    with clock("verifying", rows):
        require_anatomy(published, counts, frame, shown, untouched=kept, group=group, value=value)
        verified = require_principles(published, question)
    manifest = describe(
        request,
        partition=partition,
        made={"anatomy": _account(dealt, rows)},
        suppressed=rows - len(dealt.rows),
        loss=_figures(demands, dealt, rows).to_dict(),
        verified=verified,
        warnings=[*cautions, EXACT],
        seed=seed,
        group=group,
        seconds=clock.seconds,
    )
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
    if len(sensitive) != 1:
        raise ParameterError(
            f"anatomy publishes one sensitive attribute, not {len(sensitive)}",
            hint='one sensitive column, others as quasi-identifiers; or algorithm = "mondrian"',
        )
    for principle in request.principles:
        if principle.needs == "size" or isinstance(principle, AlphaKAnonymity):
            raise ParameterError(
                f"{principle.name} speaks of rows with equal quasi-identifiers, which anatomy "
                "publishes exactly",
                hint="leave it out; group_rows makes groups larger",
            )
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


def _figures(demands: Sequence[Demand], dealt: Dealt, rows: int) -> AnatomyFigures:
    column = next(d.column for d in demands if d.column is not None)
    kept: Ints = dealt.rows
    groups = dealt.partition.histograms(Column(column.codes[kept], column.domain))
    return AnatomyFigures.of(groups, column.domain, rows - len(kept))
