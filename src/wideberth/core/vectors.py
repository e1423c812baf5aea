"""Columns whose every cell is a vector: lists, arrays and structs of numbers."""

from __future__ import annotations

from functools import reduce
from operator import and_

import numpy as np
import polars as pl

from wideberth.errors import TableError

_FINITE = "replace it by a number, or leave out the whole vector (missing)"
_EQUALLY_LONG = "give every row numbers of the same components, or no value at all (missing)"


def is_vector(dtype: pl.DataType) -> bool:
    """Return whether the cells of a column are lists or structs of numbers.

    >>> is_vector(pl.List(pl.Float64)), is_vector(pl.Struct({"flu": pl.String}))
    (True, False)
    """
    if isinstance(dtype, pl.List | pl.Array):
        return _number(dtype.inner)
    return (
        isinstance(dtype, pl.Struct)
        and bool(dtype.fields)
        and all(_number(field.dtype) for field in dtype.fields)
    )


def _number(dtype: object) -> bool:
    kind = dtype() if isinstance(dtype, type) else dtype
    return isinstance(kind, pl.DataType) and kind.is_numeric()


def components(series: pl.Series) -> list[pl.Series]:
    """Split a column of lists or structs into its components; none if it has no value."""
    # Components are named `profile[0]` of a list, `disease.flu` of a struct. A missing value lacks
    # all of them. Lists that are not as long as the first are refused.
    name, cells = series.name, series.alias("")
    if isinstance(cells.dtype, pl.Struct):
        lacking = cells.is_null()
        return [
            # What a missing struct is made of does not count.
            field.alias("").set(lacking, None).alias(f"{name}.{field.name}")
            for field in cells.struct.unnest()
        ]
    lists = cells.arr.to_list() if isinstance(cells.dtype, pl.Array) else cells
    lengths = lists.list.len()
    widths = lengths.drop_nulls()
    if widths.is_empty():
        return []
    _refuse(name, lengths == 0, "an empty list", "leave out the list (missing)")
    _refuse(name, lengths != widths[0], "not as long as the first list", _EQUALLY_LONG)
    return [lists.list.get(i).alias(f"{name}[{i}]") for i in range(int(widths[0]))]


def require_vectors(series: pl.Series) -> None:
    """Refuse a column unless all its values are whole vectors of finite numbers."""
    name = series.name
    if not is_vector(series.dtype):
        hint = "a list or a struct of numbers in every row"
        _refuse(name, series.alias("").is_not_null(), "not a vector of numbers", hint)
        return
    parts = components(series)
    lacking = [part.alias("").is_null() for part in parts]
    whole = reduce(and_, lacking, pl.zeros(len(series), pl.Boolean, eager=True).not_())
    for part, missing in zip(parts, lacking, strict=True):
        _refuse(name, missing & ~whole, f"'{part.name}' is missing", _EQUALLY_LONG)
        if part.dtype.is_float():
            odd = ~part.alias("").is_finite()
            _refuse(name, odd, f"'{part.name}' is NaN or infinite", _FINITE)


def require_finite(series: pl.Series) -> None:
    """Refuse numbers that are none: NaN and infinity."""
    fine = series.alias("").is_finite().fill_null(True)
    if not fine.all():
        row = int((~fine).arg_true()[0])
        kind = "NaN" if np.isnan(series[row]) else "an infinite number"
        raise TableError(
            f"column '{series.name}', row {row + 1}: {kind} is neither a value nor missing",
            hint="replace it by a number, or leave the cell empty (missing)",
        )


def _refuse(name: str, wrong: pl.Series, what: str, hint: str) -> None:
    rows = wrong.fill_null(False).arg_true()
    if len(rows):
        raise TableError(f"column '{name}', row {rows[0] + 1}: {what}", hint=hint)
