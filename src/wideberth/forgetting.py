"""Columns that remember nothing: neither the order of the original rows, nor rows left out.

To take rows of a column in another order may leave what lies behind it as it was: texts in one
shared buffer, categories in the order of their first appearance. Some file formats write all of it.
"""

from __future__ import annotations

from typing import Any, cast

import narwhals as nw
import polars as pl
import pyarrow as pa

from wideberth.words import as_string, held_as_words


def forgetful_series(series: pl.Series) -> pl.Series:
    """Rebuild a polars column from its own values.

    Categories keep their order, for somebody has stated it, but lose those that do not occur.
    """
    dtype = series.dtype
    if dtype == pl.Enum:
        present = set(series.drop_nulls().unique().to_list())
        named = [name for name in dtype.categories if name in present]  # type: ignore[attr-defined]
        return series.cast(pl.String).cast(pl.Enum(named))
    if held_as_words(dtype):
        return as_string(series)
    if dtype.is_nested() or dtype in (pl.String, pl.Binary) or isinstance(dtype, pl.Categorical):
        kind = pl.String if isinstance(dtype, pl.Categorical) else dtype
        plain = series.cast(kind).to_arrow(compat_level=pl.CompatLevel.oldest())
        fresh = cast("pl.Series", pl.from_arrow(plain)).alias(series.name)
        return fresh.cast(dtype)
    return series


def forgetful(table: Any) -> Any:
    """Rebuild the categories of a pandas or pyarrow table."""
    if isinstance(table, pa.Table):
        for position, name in enumerate(table.column_names):
            table = table.set_column(position, name, _rebuilt(table.column(position)))
    elif nw.dependencies.is_pandas_dataframe(table):
        for name, dtype in table.dtypes.items():
            if hasattr(dtype, "pyarrow_dtype"):  # Arrow's own columns, held by pandas
                held = _rebuilt(pa.chunked_array([pa.array(table[name])]))
                table = table.assign(**{name: type(table[name].array)(held)})
        for name in table.columns[table.dtypes.astype(str) == "category"]:
            held = table[name].cat.remove_unused_categories()
            if not held.cat.ordered:
                held = held.cat.reorder_categories(sorted(held.cat.categories, key=str))
            table = table.assign(**{name: held})
    return table


def _rebuilt(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Rebuild what an Arrow column holds by reference, categories within lists included."""
    kind = column.type
    plain = _without_categories(kind)
    if plain == kind:
        return column
    if not pa.types.is_dictionary(kind):  # there is no cast for what lies deeper
        return pa.chunked_array([pa.array(column.to_pylist(), type=plain)])
    return column.cast(plain).dictionary_encode().cast(kind)


def _without_categories(kind: pa.DataType) -> pa.DataType:
    """Return the type of the same values, with categories as the values they stand for."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(_without_categories(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_categories(kind.value_type))
    if pa.types.is_struct(kind):
        fields = (kind.field(i) for i in range(kind.num_fields))
        return pa.struct([(f.name, _without_categories(f.type)) for f in fields])
    return kind
