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

Row numbers are found by `wideberth.risk.leaks.identifiers`, and texts that look like addresses or
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
from wideberth.core.strings import as_string, is_text
from wideberth.core.types import infer_type
from wideberth.policy.guesses import guess_columns
from wideberth.risk.findings import Finding
from wideberth.risk.inputs import encode_published
from wideberth.risk.leaks.cells import personal_texts

# -----------------------------------------------------------------------------
# Row numbers: a column that says which row of the original a row is.
#
# Severity
# --------
# high
#     rows are numbered, and not just as they come in the file: so these are the numbers of another
#     table's rows;
# medium
#     rows are numbered as they come in the file, which keeps the order of a file that was not
#     shuffled before.
#
# What it cannot see: numbers that were scrambled, and rows numbered in a table of fewer than twenty
# rows under a name that does not say so.


#: What pandas, R and their users call a column of row numbers.
_INDEX = ("", "index", "level_0", "unnamed: 0", "__index_level_0__", "rownames", "row.names", "row")
_ENOUGH_NUMBERS = 20  # rows below which being unique means little


def row_numbers(series: pl.Series) -> list[Finding]:
    """Find out whether a column numbers the rows.

    >>> [str(finding) for finding in row_numbers(pl.Series("index", [7, 3, 5]))]
    ["high: column 'index' numbers the rows, in another order than the file's"]
    """
    # It does if its whole numbers differ, and either begin with 0 or 1 and leave out few, or
    # ascend, or have a name that says so.
    rows, name = len(series), series.name
    numbers = series.alias("")
    if is_text(numbers.dtype):
        numbers = as_string(numbers).cast(pl.Int64, strict=False)
    elif numbers.dtype.is_float():
        whole = numbers.cast(pl.Int64, strict=False)
        numbers = whole.set(whole != numbers, None)
    if not numbers.dtype.is_integer() or numbers.null_count() or rows < 2:
        return []
    values = numbers.cast(pl.Int64, strict=False).fill_null(0).to_numpy()
    called = name.strip().lower() in _INDEX
    if rows < _ENOUGH_NUMBERS and not called:
        return []
    low, span = int(values.min()), int(values.max()) - int(values.min()) + 1
    steps = np.diff(values)
    ascending = bool((steps > 0).all())
    if not ascending and len(np.unique(values)) < rows:
        return []
    # Numbers of another table's rows, of which some were left out, begin near 0, and are dense.
    dense = low in (0, 1) and span <= rows + max(1, rows // 10)
    if not (ascending or dense or called):
        return []
    in_turn = bool((steps == 1).all())
    figures = {"column": name, "rows": rows, "gaps": span - rows, "as_in_file": in_turn}
    if in_turn:
        return [
            Finding(
                name="row-numbers",
                severity="medium",
                title=f"column '{name}' numbers the rows as they come",
                meaning="If the file was not shuffled before, these are the numbers of the "
                "original's rows, and stay so even if somebody shuffles it now.",
                advice="Drop the column (pandas: to_csv(…, index=False); R: row.names = FALSE).",
                figures=figures,
            )
        ]
    order = "in ascending order, with gaps" if ascending else "in another order than the file's"
    return [
        Finding(
            name="row-numbers",
            severity="high",
            title=f"column '{name}' numbers the rows, {order}",
            meaning="These are the numbers of rows of another table, most likely of the original: "
            "whoever has seen it, or a list in its order, knows who is who.",
            advice="Drop the column (pandas: reset_index(drop=True), to_csv(…, index=False)).",
            figures=figures,
        )
    ]


# -----------------------------------------------------------------------------
# Residual identifiers: columns that tell whose row it is, whatever the groups say.


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
            boxes = Partition.by_equality(
                (encode_published(frame[name]) for name in quasi), frame.height
            )
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
        column = encode_published(frame[name])
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
