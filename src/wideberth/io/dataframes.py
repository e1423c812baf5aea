"""Dataframes of any kind, taken in as polars tables and given back as what they were."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any, TypeAlias, cast

import narwhals as nw
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from wideberth.errors import TableError
from wideberth.io.arrow import can_be_ordered
from wideberth.io.formats import check_dates, require_unique_names

Back: TypeAlias = Callable[[pl.DataFrame], Any]

_DIGITS = 38  # digits of the longest decimal


def adopt(frame: object) -> tuple[pl.DataFrame, Back]:
    """Take in a table from memory, and remember what kind it was.

    >>> import pyarrow as pa
    >>> table, back = adopt(pa.table({"age": [21, 22]}))
    >>> back(table.head(1)).to_pydict()
    {'age': [21]}
    """
    # An index is ignored. NaN means missing in pandas, and stays NaN elsewhere. `back` turns a
    # polars table into the caller's kind; a lazy table comes back eager.
    # Ahead of narwhals, which would report duplicate names without their positions.
    native: Any = nw.to_native(frame, pass_through=True)
    if isinstance(native, pa.Table):
        require_unique_names(native.column_names, "the table")
    elif nw.dependencies.is_pandas_like_dataframe(native):
        require_unique_names(list(native.columns), "the table")
    try:
        known = nw.from_native(native)
    except TypeError:
        what = f"expected a pandas, polars or pyarrow table, got {type(frame).__name__}"
        raise TableError(what, hint="build a dataframe, or name a file") from None
    eager = known.collect("polars") if isinstance(known, nw.LazyFrame) else known
    require_unique_names(eager.columns, "the table")
    if not eager.columns or not len(eager):
        what = "rows" if eager.columns else "columns"
        raise TableError(f"the table has no {what}", hint="check how it was made")
    adopted, kind = _to_polars(eager), eager.implementation
    check_dates(adopted, "the table")
    adopted = adopted.with_columns(*_ordered(native, adopted))
    if kind.is_polars():
        return adopted, lambda table: table
    if kind.is_pandas_like():
        adopted = adopted.with_columns(cs.float().fill_nan(None))
    backend = cast("Any", kind)
    return adopted, lambda table: nw.from_arrow(table.to_arrow(), backend=backend).to_native()


def _ordered(native: Any, adopted: pl.DataFrame) -> list[pl.Series]:
    """Return the columns of ordered categories, in their order, which polars does not take over."""
    found: dict[str, list[Any]] = {}
    if isinstance(native, pa.Table):
        for field, column in zip(native.schema, native.columns, strict=True):
            if pa.types.is_dictionary(field.type) and field.type.ordered:
                merged = column.unify_dictionaries().chunk(0) if column.num_chunks else None
                found[field.name] = [] if merged is None else merged.dictionary.to_pylist()
    elif nw.dependencies.is_pandas_dataframe(native):
        for name, dtype in native.dtypes.items():
            if getattr(dtype, "ordered", False):
                found[name] = list(dtype.categories)
    return [
        adopted[name].cast(pl.Enum(names))
        for name, names in found.items()
        if can_be_ordered(names)
        if isinstance(adopted[name].dtype, pl.Categorical)
    ]


def _to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    panic = pl.exceptions.PanicException  # not even an Exception
    refusals = (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, OverflowError)
    with suppress(*refusals, panic):
        table = frame.to_polars()
        if pl.Object not in table.dtypes:
            return table
    if frame.shape[1] > 1:  # one by one, which raises at the first that is to blame
        columns = [_to_polars(frame[:, [i]]).to_series() for i in range(frame.shape[1])]
        return pl.DataFrame(columns)
    if (numbers := _long_integers(frame)) is not None:
        return pl.DataFrame(numbers)
    what = f"column {frame.columns[0]!r} holds values of mixed or unsupported types"
    raise TableError(what, hint="make them all numbers or all text")


def _long_integers(frame: nw.DataFrame[Any]) -> pl.Series | None:
    """Read a column of Python's own integers, however long, as decimals; None if it is another."""
    if not frame.implementation.is_pandas_like():
        return None
    name, column = frame.columns[0], frame[:, 0]
    missing = column.is_null().to_list()
    values = [None if no else value for value, no in zip(column.to_list(), missing, strict=True)]
    if not all(value is None or type(value) is int for value in values):
        return None
    for row, value in enumerate(values):
        if value is not None and abs(value) >= 10**_DIGITS:
            what = f"column {name!r}, row {row + 1}: a number of more than {_DIGITS} digits"
            raise TableError(what, hint="round the column, or make it text")
    exact = [None if value is None else Decimal(value) for value in values]
    return pl.Series(name, exact, dtype=pl.Decimal(_DIGITS, 0))
