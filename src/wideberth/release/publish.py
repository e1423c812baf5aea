"""Published tables, in the kind of table that came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.errors import ParameterError
from wideberth.io.sanitize import sanitized_series, sanitized_table
from wideberth.kernels.randomness import Stream
from wideberth.policy.request import Request


def publish(
    request: Request, rows: Ints, names: Sequence[str], new: Mapping[str, pl.Series]
) -> Any:
    """Put a table together from original columns, in the order of `rows`, and new ones."""
    # Columns that are published as they are never leave the kind of table that came in, so their
    # types stay as well.
    new = {name: labels_as_text(series) for name, series in new.items()}
    if isinstance(request.native, pl.DataFrame):  # whose select would take a name for a pattern
        return _assembled(request, rows, names, new)
    _, back = io.adopt(request.native)
    fresh = back(pl.DataFrame(list(new.values())))
    if isinstance(fresh, pl.DataFrame):  # a lazy table comes back eager
        return _assembled(request, rows, names, new)
    parts = [nw.from_native(fresh, eager_only=True)]
    if kept := [name for name in names if name not in new]:
        native = nw.from_native(request.native, eager_only=True)
        taken = nw.maybe_reset_index(native[kept][rows])
        parts.append(nw.from_native(sanitized_table(taken.to_native()), eager_only=True))
    return nw.concat(parts, how="horizontal")[list(names)].to_native()


def labels_as_text(series: pl.Series) -> pl.Series:
    """Make text of labels: categories, and so the column's type, would depend on the table."""
    return series.cast(pl.String) if isinstance(series.dtype, pl.Enum) else series


def _assembled(
    request: Request, rows: Ints, names: Sequence[str], new: Mapping[str, pl.Series]
) -> pl.DataFrame:
    """Put a polars table together."""
    return pl.DataFrame(
        [new[n] if n in new else sanitized_series(request.frame[n][rows]) for n in names]
    )


def random_row_order(rows: int, key: bytes) -> Ints:
    """Return the order in which rows are published."""
    return Stream(key, "row order").permutation(rows)


def original_rows(rows: Ints | int, key: bytes) -> Ints:
    """Return the row of the table behind each published row."""
    # A number stands for all of that many rows.
    if isinstance(rows, int):
        return random_row_order(rows, key)
    return rows[random_row_order(len(rows), key)]


def group_ids(name: str, partition: Partition, order: Ints, key: bytes) -> pl.Series:
    """Number the groups in random order: the order of their making tells something about them."""
    names = Stream(key, "group ids").permutation(partition.count).astype(np.int32) + 1
    return pl.Series(name, names[partition.labels[order]], dtype=pl.Int64)


def require_new_name(name: str, taken: Sequence[str], hint: str) -> None:
    """Refuse a new column with the name of another."""
    if name in taken:
        raise ParameterError(
            f"the release needs a column '{name}', but the table has one of that name", hint=hint
        )
