"""check for a file that does not fit into memory: a pass over it for each sensitive attribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.checks.check import (
    PrincipleVerdict,
    blame_policy_for_principles,
    require_limits,
    table_of_groups,
)
from wideberth.checks.fold import (
    CheckPass,
    CheckPlan,
    GroupBlock,
    PartialVerdict,
    joined_verdict,
    require_values,
    resolve_engine_table,
    uneven_groups,
)
from wideberth.checks.result import CheckResult
from wideberth.core.groups import Uneven
from wideberth.core.memory import bounded
from wideberth.engines.duckdb.coded import PackedKeys
from wideberth.engines.duckdb.source import FileSource, for_distances, limit_of
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable


def check_file(
    table: str | Path,
    *,
    memory: str | int,
    worst: int = 5,
    max_memory: int | None = None,
    options: io.ReadOptions | None = None,
    policy: Policy | str | Path | None = None,
    **asked: Any,
) -> CheckResult:
    """Check a file under a limit on memory; the answer is that of `wideberth.check`."""
    # Distinct values of sensitive attributes must fit into the memory; groups need not.
    require_limits(worst, max_memory)
    limit = limit_of(memory)
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if options is None and policy is not None:
        options = policy.options
    known = {**asked, "policy": policy}
    opened = partial(FileSource.opened, table, memory=limit, options=options)
    blame = policy if not asked.get("principles") else None

    # `CheckResult.table`: reads the file again, and takes memory for all groups.
    def figures() -> pl.DataFrame:
        with opened() as source, blame_policy_for_principles(blame):
            return _table(source, *_asked(source, known))

    with (
        opened() as source,
        bounded(for_distances(limit, max_memory)),
        blame_policy_for_principles(blame),
    ):
        inquiry, grouping = _asked(source, known)
        tallies: dict[int, PartialVerdict] = {}
        for each, block in _blocks(source, inquiry, grouping):
            for number, question in each.questions.items():
                tally = PartialVerdict.summed(block.verdict(question), worst)
                tallies[number] = tallies[number] + tally if number in tallies else tally

        def told(words: Mapping[str, Any]) -> dict[str, Any]:
            return grouping.values(pl.DataFrame([words])).row(0, named=True)

        made = {number: [tally] for number, tally in tallies.items()}
        rewritten = [name for name, column in grouping.columns.items() if column.rewritten]
        given = inquiry.given
        people = None if given.rows_are_people else source.people(**given.person)
        inquiry = replace(inquiry, notes=[*inquiry.notes, *source.strays().notes])
        return inquiry.result(made, figures, told, _uneven(source, given), rewritten, people)


def _asked(source: FileSource, known: Mapping[str, Any]) -> tuple[CheckPlan, PackedKeys]:
    """Settle what is asked, and what makes the groups."""
    given = resolve_engine_table(source.schema, **known)
    inquiry = CheckPlan.of(given, source.digest, source.rows)
    grouping = source.grouping(inquiry.keys, given.subject.readable)
    for name, column in grouping.columns.items():
        if not column.known:
            require_values(given, name, source.types[name])
    return inquiry, grouping


def _uneven(source: FileSource, given: ExaminedTable) -> Uneven | None:
    """Find groups whose rows are published with different quasi-identifiers."""
    if given.group is None or not given.uniform:
        return None
    differs = [
        f"(min({at}) IS DISTINCT FROM max({at}) OR count({at}) NOT IN (0, count(*)))"
        for at in map(source.place, given.uniform)
    ]
    cells = [f"d{i}" for i in range(len(differs))]
    listed = ", ".join(f"{what} AS {cell}" for what, cell in zip(differs, cells, strict=True))
    some = " OR ".join(cells)
    counts = ", ".join(f"count(*) FILTER ({cell})" for cell in cells)
    groups, rows, *each = source.only(
        f"SELECT count(*) FILTER ({some}), coalesce(sum(n) FILTER ({some}), 0), {counts} "  # noqa: S608
        f"FROM (SELECT count(*) AS n, {listed} FROM {source.table} "
        f"GROUP BY {source.place(given.group)})"
    )
    return uneven_groups(given.uniform, groups, rows, each)


def _blocks(
    source: FileSource, inquiry: CheckPlan, grouping: PackedKeys
) -> Iterator[tuple[CheckPass, GroupBlock]]:
    """Go through the table, once for each pass, a block of groups at a time."""
    for each in inquiry.passes:
        for frame in source.blocks(grouping, each.on, each.ranks):
            yield each, GroupBlock.of(frame, grouping.names)


def _table(source: FileSource, inquiry: CheckPlan, grouping: PackedKeys) -> pl.DataFrame:
    """Return all figures of all groups."""
    keys = []
    found: dict[int, list[PrincipleVerdict]] = {}
    for each, block in _blocks(source, inquiry, grouping):
        if each is inquiry.passes[0]:
            keys.append(grouping.values(block.keys))
        for number, question in each.questions.items():
            found.setdefault(number, []).append(block.verdict(question))
    verdicts = [joined_verdict(found[number]) for number in sorted(found)]
    return table_of_groups(pl.concat(keys), verdicts[0].sizes, verdicts)
