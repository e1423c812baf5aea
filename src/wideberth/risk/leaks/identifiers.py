"""Residual identifiers: columns that tell whose row it is, whatever the groups say.

Severity
--------
high
    a column that a policy calls an identifier is still there; (nearly) every row has a name or
    number of its own;
medium
    an insensitive number with decimals is nearly unique;
low
    a column's name says that it identifies people; insensitive columns tell rows apart whose
    quasi-identifiers are published alike;
info
    a sensitive number is nearly unique, so that whoever knows it exactly finds its row.

Row numbers are found by `wideberth.risk.leaks.numbering`, and texts that look like addresses or
numbers of people by `wideberth.risk.leaks.cells`, in every column, also within published sets.

What it cannot see: names in free text, and which columns others know. Who is alone with published
quasi-identifiers is no trace: an audit counts them itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from wideberth.core.codes import Column, compress
from wideberth.core.groups import Partition
from wideberth.core.types import infer_type
from wideberth.policy.guesses import guess_columns
from wideberth.risk.columns import read
from wideberth.risk.findings import Finding
from wideberth.risk.leaks.cells import personal_texts
from wideberth.risk.leaks.numbering import row_numbers

_NEARLY = 0.95  # share of distinct values that makes a column as good as unique
_ENOUGH = 20  # rows below which being unique means little

_WITHOUT = "Drop the column; if it is needed, give out random numbers that nobody can look up."


def identifiers(
    frame: pl.DataFrame,
    *,
    quasi: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    identifier: Sequence[str] = (),
    group: str | None = None,
    boxes: Partition | None = None,
) -> list[Finding]:
    """Find the columns of a release that identify rows.

    >>> table = pl.DataFrame({"index": [4, 2, 9, 7], "age": ["2*"] * 4, "pay": [1, 2, 3, 4]})
    >>> [str(finding) for finding in identifiers(table, quasi=["age"], sensitive=["pay"])]
    ["high: column 'index' numbers the rows, in another order than the file's"]
    """
    # Columns without a role count as insensitive. boxes: rows with equal quasi-identifiers, if
    # found already.
    found = [
        _still_there(name, series)
        for name in identifier
        if name in frame.columns and _tells(series := frame[name])
    ]
    taken = {*quasi, *sensitive, *identifier, group}
    others = [name for name in frame.columns if name not in taken]
    numbers = [finding for name in others for finding in row_numbers(frame[name])]
    said = {finding.figures["column"] for finding in numbers}
    others = [name for name in others if name not in said]
    found += numbers
    found += _guessed(pl.DataFrame([frame[name] for name in others]))
    for name in frame.columns:
        if name != group:
            found += personal_texts(frame[name])
    if quasi and frame.height > 1:
        if boxes is None:
            boxes = Partition.by_equality((read(frame[name]) for name in quasi), frame.height)
        found += _extending(boxes, frame, others)
    said = {finding.figures.get("column") for finding in found}
    for name in [*others, *sensitive]:
        if name in frame.columns and name not in said:
            found += _fine(frame[name], name in sensitive)
    return found


def _tells(series: pl.Series) -> bool:
    """Return whether a column has two values or more: some tools publish identifiers as stars."""
    return series.alias("").n_unique() > 1


def _still_there(name: str, series: pl.Series) -> Finding:
    return Finding(
        name="identifier",
        severity="high",
        title=f"identifier '{name}' is still there",
        meaning="It names the people whom the groups are to hide.",
        advice="Drop the column.",
        figures={"column": name, "rows": len(series), "distinct": series.alias("").n_unique()},
    )


def _guessed(frame: pl.DataFrame) -> list[Finding]:
    """Find what looks like an identifier, by name or because its values are unique."""
    found = []
    for about in guess_columns(frame) if frame.height else ():
        if about.role != "identifier" or about.distinct < 2:
            continue
        unique = about.distinct >= _NEARLY * (frame.height - about.missing)
        sure = (unique and frame.height >= _ENOUGH) or not about.named
        found.append(
            Finding(
                name="identifier",
                severity="high" if sure else "low",
                title=f"(nearly) every row has its own '{about.column}'"
                if unique and frame.height >= _ENOUGH
                else f"column '{about.column}' leads to people: {about.why.partition('; ')[0]}"
                if sure
                else f"the name of column '{about.column}' says that it identifies people",
                meaning="Whoever knows the value of a person finds that person's row, whatever "
                "the groups say.",
                advice=_WITHOUT if sure else "Look at the column; drop it if it names people.",
                figures={
                    "column": about.column,
                    "rows": frame.height,
                    "distinct": about.distinct,
                },
            )
        )
    return found


def _extending(boxes: Partition, frame: pl.DataFrame, others: Sequence[str]) -> list[Finding]:
    """Count the rows that are alone only if an insensitive column is known, or all of them are."""
    by_column, together, before = {}, boxes, _single(boxes)  # these stay alone
    for name in others:
        column = read(frame[name])
        if single := _single(_parted(boxes, column)) - before:
            by_column[name] = single
        together = _parted(together, column)
    single = _single(together) - before
    if not single:
        return []
    named = ", ".join(f"'{name}'" for name in by_column) or "insensitive columns together"
    tell = "tells" if len(by_column) == 1 else "tell"
    return [
        Finding(
            name="insensitive-columns",
            severity="low",
            title=f"{named} {tell} rows apart whose quasi-identifiers are published alike",
            meaning=f"{single:,} of {frame.height:,} rows have the quasi-identifiers of others, "
            "but not their insensitive values as well. Whoever knows both of a person finds the "
            "row: the groups protect from that no more.",
            advice="If others may know such a column, it is a quasi-identifier: say so in the "
            "policy; else drop it, or publish it less exactly.",
            figures={"rows": single, "of": frame.height, "by_column": by_column},
        )
    ]


def _parted(partition: Partition, column: Column) -> Partition:
    width = column.domain.size
    key = partition.labels.astype(np.int64) * width + column.codes
    present, labels = compress(key, partition.count * width)
    return Partition(labels, len(present))


def _single(partition: Partition) -> int:
    return int((np.bincount(partition.labels) == 1).sum())


def _fine(series: pl.Series, sensitive: bool) -> list[Finding]:
    """Find numbers with decimals of which (nearly) every row has its own."""
    rows = len(series) - series.null_count()
    if rows < _ENOUGH or infer_type(series) not in ("float", "decimal"):
        return []
    distinct = series.alias("").drop_nulls().n_unique()
    if distinct < _NEARLY * rows:
        return []
    return [
        Finding(
            name="fine-numbers",
            severity="info" if sensitive else "medium",
            title=f"(nearly) every row has its own number in '{series.name}'",
            meaning="Whoever knows that number exactly, perhaps from another table, finds the row"
            + (", and then the group it is in." if sensitive else ", whatever the groups say."),
            advice=f"Round '{series.name}' as far as its use permits.",
            figures={"column": series.name, "rows": rows, "distinct": distinct},
        )
    ]
