"""Row numbers: a column that says which row of the original a row is.

Severity
--------
high
    rows are numbered, and not just as they come in the file: so these are the numbers of another
    table's rows;
medium
    rows are numbered as they come in the file, which keeps the order of a file that was not
    shuffled before.

What it cannot see: numbers that were scrambled, and rows numbered in a table of fewer than twenty
rows under a name that does not say so.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from wideberth.core.strings import as_string, is_text
from wideberth.risk.findings import Finding

#: What pandas, R and their users call a column of row numbers.
_INDEX = ("", "index", "level_0", "unnamed: 0", "__index_level_0__", "rownames", "row.names", "row")
_ENOUGH = 20  # rows below which being unique means little


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
    if rows < _ENOUGH and not called:
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
