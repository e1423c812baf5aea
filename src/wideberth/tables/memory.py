"""Dataframes of any kind, taken in as polars tables and given back as what they were."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias, cast

import narwhals as nw
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from wideberth.errors import TableError
from wideberth.tables.formats import check_names

Back: TypeAlias = Callable[[pl.DataFrame], Any]


def adopt(frame: object) -> tuple[pl.DataFrame, Back]:
    """Take in a table from memory, and remember what kind it was.

    Parameters
    ----------
    frame : object
        A pandas, polars (eager or lazy) or pyarrow table, or another that narwhals knows.
        An index is ignored. NaN means missing in pandas, and stays NaN elsewhere.

    Returns
    -------
    table : polars.DataFrame
        At least one row and one column.
    back : callable
        Turns a polars table into the caller's kind; a lazy table comes back eager.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table, back = adopt(pa.table({"age": [21, 22]}))
    >>> back(table.head(1)).to_pydict()
    {'age': [21]}
    """
    # Ahead of narwhals, which would report duplicate names without their positions.
    native: Any = nw.to_native(frame, pass_through=True)
    if isinstance(native, pa.Table):
        check_names(native.column_names, "the table")
    elif nw.dependencies.is_pandas_like_dataframe(native):
        check_names(list(native.columns), "the table")
    try:
        known = nw.from_native(native)
    except TypeError:
        what = f"expected a pandas, polars or pyarrow table, got {type(frame).__name__}"
        raise TableError(what, hint="build a dataframe, or name a file") from None
    eager = known.collect("polars") if isinstance(known, nw.LazyFrame) else known
    check_names(eager.columns, "the table")
    if not eager.columns or not len(eager):
        what = "rows" if eager.columns else "columns"
        raise TableError(f"the table has no {what}", hint="check how it was made")
    adopted, kind = _to_polars(eager), eager.implementation
    if kind.is_polars():
        return adopted, lambda table: table
    if kind.is_pandas_like():
        adopted = adopted.with_columns(cs.float().fill_nan(None))
    backend = cast("Any", kind)
    return adopted, lambda table: nw.from_arrow(table.to_arrow(), backend=backend).to_native()


def _to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    panic = pl.exceptions.PanicException  # not even an Exception
    refusals = (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, OverflowError)
    with suppress(*refusals, panic):
        table = frame.to_polars()
        if pl.Object not in table.dtypes:
            return table
    for position in range(frame.shape[1] if frame.shape[1] > 1 else 0):
        _to_polars(frame[:, [position]])  # raises at the first that is to blame
    what = f"column {frame.columns[0]!r} holds values of mixed or unsupported types"
    raise TableError(what, hint="make them all numbers or all text")
