"""Long columns of text held by their distinct values: a cell is a number, a text is kept once.

They are polars categoricals of a namespace of our own, so that they can be told from a user's
categories, which are a type; these are text still, and may turn out to be numbers or dates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

_OURS = "wideberth"

DType: TypeAlias = pl.DataType | type[pl.DataType]


def held_as_words(dtype: DType) -> bool:
    """Return whether a column holds text by its distinct values."""
    return isinstance(dtype, pl.Categorical) and dtype.categories.namespace() == _OURS


def is_text(dtype: DType) -> bool:
    """Return whether a column holds text, in whichever way."""
    return dtype == pl.String or held_as_words(dtype)


def words(texts: pl.Series, codes: pl.Series) -> pl.Series:
    """Hold text by its distinct values; null stands for a missing one, as does a null code.

    >>> column = words(pl.Series(["a", None, "b"]), pl.Series([2, 0, 1], dtype=pl.UInt32))
    >>> column.to_list()
    ['b', 'a', None]
    """
    kind = pl.Categorical(pl.Categories.random(_OURS))
    return texts.cast(kind).gather(codes)


def as_string(column: pl.Series) -> pl.Series:
    """Return a column that is held as words as plain text; any other as it is."""
    return column.cast(pl.String) if held_as_words(column.dtype) else column


def by_word(column: pl.Series, function: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Apply a function of texts to a column, to each text but once if it is held as words."""
    if not held_as_words(column.dtype):
        return function(column)
    return function(_texts(column)).gather(column.to_physical()).alias(column.name)


def with_numbers(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Make whole numbers of columns of text, where that changes no character of them.

    >>> with_numbers(pl.DataFrame({"a": ["7", None], "b": ["07", "8"]}), ["a", "b"]).dtypes
    [Int64, String]
    """
    # So a typed file gets numbers, and a file of text the same text as before.
    made = []
    for series in frame:
        if series.name in columns and is_text(series.dtype):
            texts = series.alias("").drop_nulls().unique().cast(pl.String)
            numbers = texts.cast(pl.Int64, strict=False)
            if len(texts) and numbers.cast(pl.String).equals(texts):
                series = by_word(series, lambda t: t.cast(pl.Int64, strict=False))
        made.append(series)
    return pl.DataFrame(made)


def in_words(column: pl.Series) -> tuple[pl.Series, npt.NDArray[np.int32]]:
    """Return the texts of a column, and for each row which of them it holds; -1 if none."""
    # A text may occur in no row.
    return _texts(column), column.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()


def _texts(column: pl.Series) -> pl.Series:
    assert isinstance(column.dtype, pl.Categorical)  # noqa: S101 - somebody has seen to it
    return column.dtype.categories.to_series().alias("")
