"""Columns that remember nothing: neither the order of the original rows, nor rows left out.

To take rows of a column in another order may leave what lies behind it as it was: texts in one
shared buffer, texts under missing values, categories in the order of their first appearance. Some
file formats write all of it. So columns that can hold more than their values are built anew.
"""

from __future__ import annotations

from typing import Any, cast

import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa

from wideberth.core.strings import as_string, held_as_words
from wideberth.core.types import is_vector

#: An order of more categories, or with fewer rows for each, is no scale that somebody stated: it
#: may well be the order in which the rows came.
_SCALE = 20
_ROWS_EACH = 10


def sanitized_series(series: pl.Series) -> pl.Series:
    """Rebuild a polars column from the values that occur in it."""
    # Categories lose those that do not occur. They keep their order if it can be that of a scale.
    dtype = series.dtype
    if held_as_words(dtype):
        series, dtype = as_string(series), pl.String()
    if isinstance(dtype, pl.Enum):
        present = set(series.drop_nulls().unique().to_list())
        named = [name for name in dtype.categories if name in present]
        return series.cast(pl.String).cast(pl.Enum(_ordered(named, len(series))))
    if isinstance(dtype, pl.Categorical):
        # In categories of its own: those of a process, or a file, know other columns' values.
        fresh = pl.Categorical(pl.Categories.random("published"))
        return _texts(series.cast(pl.String)).cast(fresh)
    if dtype.is_nested():
        return _nested(series.alias("").cast(_plain(dtype))).alias(series.name)
    if dtype in (pl.String, pl.Binary):
        return _texts(series)
    # To take all rows, one by one, leaves behind what lies under missing ones.
    return series[np.arange(len(series))] if series.has_nulls() else series


def _ordered(categories: list[str], rows: int) -> list[str]:
    """Keep the order of a scale; sort what is none."""
    scale = len(categories) <= _SCALE and len(categories) * _ROWS_EACH <= rows
    return categories if scale else sorted(categories)


def _texts(series: pl.Series) -> pl.Series:
    """Copy texts, and only those of the column itself: none under missing values."""
    missing = series.is_null()
    filled = series.fill_null("" if series.dtype == pl.String else b"")
    plain = filled.to_arrow(compat_level=pl.CompatLevel.oldest())
    fresh = cast("pl.Series", pl.from_arrow(plain)).alias(series.name).cast(series.dtype)
    return fresh.set(missing, None) if missing.any() else fresh


def _nested(series: pl.Series) -> pl.Series:
    """Rebuild lists and structs from what is in them: nothing under those that are missing."""
    dtype, lacking = series.dtype, series.is_null()
    if isinstance(dtype, pl.Array):
        return _nested(series.arr.to_list()).cast(dtype)
    if isinstance(dtype, pl.Struct):
        fields = [
            sanitized_series(field.alias("").set(lacking, None)).to_arrow()
            for field in series.struct.unnest()
        ]
        names = [field.name for field in dtype.fields]
        made = pa.StructArray.from_arrays(fields, names, mask=lacking.to_arrow())
    else:
        lengths = series.list.len().fill_null(0).to_numpy()
        cells = sanitized_series(series.filter(lengths > 0).explode()).to_arrow()
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        made = pa.LargeListArray.from_arrays(ends, cells, mask=lacking.to_arrow())
    return cast("pl.Series", pl.from_arrow(made)).cast(dtype)


def _plain(dtype: pl.DataType) -> pl.DataType:
    """Return the type of the same values, with categories as the texts they stand for."""
    if isinstance(dtype, pl.Enum | pl.Categorical):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_plain(cast("pl.DataType", dtype.inner)))
    if isinstance(dtype, pl.Array):
        return pl.Array(_plain(cast("pl.DataType", dtype.inner)), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({f.name: _plain(cast("pl.DataType", f.dtype)) for f in dtype.fields})
    return dtype


def sanitized_table(table: Any) -> Any:
    """Rebuild what columns of a pandas or pyarrow table hold by reference or out of sight."""
    if isinstance(table, pa.Table):
        for position, name in enumerate(table.column_names):
            table = table.set_column(position, name, _rebuilt(table.column(position)))
    elif nw.dependencies.is_pandas_dataframe(table):
        table = table.assign(**{name: _of_pandas(table[name]) for name in table.columns})
    return table


def _of_pandas(series: Any) -> Any:
    dtype, held = series.dtype, series.array
    if hasattr(dtype, "pyarrow_dtype"):  # Arrow's own columns, held by pandas
        return type(held)(_rebuilt(pa.chunked_array([pa.array(series)])))
    if str(dtype) == "category":
        series = series.cat.remove_unused_categories()
        names = list(series.cat.categories)
        named = _ordered(names, len(series)) if series.cat.ordered else sorted(names, key=str)
        ordered = series.cat.ordered and named == names
        return series.cat.set_categories(named, ordered=ordered)
    if hasattr(held, "_mask"):  # numbers beside a mask: what it hides is still there
        missing = series.isna().to_numpy()
        return type(held)(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), missing)
    if str(dtype) == "object":
        return series.map(_anew)
    if getattr(dtype, "kind", "") == "f" and isinstance(dtype, np.dtype):
        return series.where(series.notna(), np.nan)  # one kind of NaN
    return series


def _anew(cell: Any) -> Any:
    """Rebuild a cell: a text may be of a class of its own, an array a part of one of all rows."""
    if isinstance(cell, str):
        return str(cell)
    if isinstance(cell, np.ndarray):
        return np.array(list(map(_anew, cell)), cell.dtype) if cell.dtype == object else cell.copy()
    if isinstance(cell, list):
        return [_anew(inner) for inner in cell]
    if isinstance(cell, dict):
        return {_anew(key): _anew(inner) for key, inner in cell.items()}
    return cell


def _rebuilt(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Rebuild what an Arrow column holds by reference, categories within lists included."""
    kind = column.type
    if pa.types.is_dictionary(kind) and not pa.types.is_nested(kind.value_type):
        return column.cast(kind.value_type).dictionary_encode().cast(kind)
    if not pa.types.is_nested(kind) and not pa.types.is_dictionary(kind):
        return column
    if not pa.types.is_dictionary(kind):
        series = cast("pl.Series", pl.from_arrow(column))
        if is_vector(series.dtype):  # the same, without a detour by Python's own numbers
            return pa.chunked_array([sanitized_series(series).to_arrow().cast(kind)])
    return pa.chunked_array([pa.array(column.to_pylist(), type=_without_categories(kind))])


def _without_categories(kind: pa.DataType) -> pa.DataType:
    """Return the type of the same values, with categories as the values they stand for."""
    if pa.types.is_dictionary(kind):
        return _without_categories(kind.value_type)
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_without_categories(kind.value_type), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(_without_categories(kind.value_type))
    if pa.types.is_list(kind):
        return pa.list_(_without_categories(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(_without_categories(kind.key_type), _without_categories(kind.item_type))
    if pa.types.is_struct(kind):
        fields = (kind.field(i) for i in range(kind.num_fields))
        return pa.struct([(f.name, _without_categories(f.type)) for f in fields])
    return kind
