"""Columns of a release and of its original, in codes that mean the same in both."""

from __future__ import annotations

import polars as pl

from wideberth.core.codes import Column, encode, encode_as
from wideberth.core.strings import as_string, is_text
from wideberth.core.types import infer_type
from wideberth.release.align import written


def read(series: pl.Series) -> Column:
    """Encode a published column, whatever it holds: text that is numbers as numbers.

    >>> read(pl.Series("pay", ["100", "20", None, "20"])).codes.tolist()
    [1, 0, 2, 0]
    """
    # A number that is none (NaN) counts as missing: other tools write it so.
    if series.dtype == pl.Null:
        series = series.cast(pl.String)
    series = _finite(series)
    return encode_as(series, infer_type(series)) if is_text(series.dtype) else encode(series)


def read_both(above: pl.Series, *below: pl.Series) -> Column:
    """Encode two columns, or more, as one: each below the one before.

    >>> read_both(pl.Series("pay", ["7", "8"]), pl.Series("pay", [8.0])).codes.tolist()
    [0, 1, 1]
    """
    # Of different types, they are compared as they are written: a CSV file's 25 is a number's 25.
    columns = [as_string(_finite(series)) for series in (above, *below)]
    if len({series.dtype for series in columns}) > 1:
        columns = [_as_text(series) for series in columns]
    return read(pl.concat([series.alias("") for series in columns]).alias(above.name))


def _finite(series: pl.Series) -> pl.Series:
    if not series.dtype.is_float() or bool(series.alias("").is_finite().all()):
        return series
    return pl.select(pl.when(series.is_finite()).then(series).alias("")).to_series()


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Boolean:
        return series.cast(pl.String)
    if series.dtype.is_nested():
        return pl.Series(series.name, [str(cell) for cell in series.to_list()], dtype=pl.String)
    return written(series) if series.dtype.is_float() else series.cast(pl.String)
