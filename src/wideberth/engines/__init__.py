"""Who answers for a table that is not in memory: an engine, or nobody."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from wideberth.errors import ParameterError

#: Where PySpark's DataFrames come from, whose own modules need not be loaded to know them.
_SPARK = ("pyspark.sql.dataframe", "pyspark.sql.connect.dataframe")


def engine_for(table: object, memory: str | int | None = None) -> Any:
    """Return the engine module for a table; None if it is at hand or is to be read into memory."""
    # It has functions named like wideberth's own. It is loaded by its name, not imported: it builds
    # on what asks for it here.
    if is_spark(table):
        if memory is not None:
            raise ParameterError("memory is for files; Spark has settings of its own")
        return import_module("wideberth.engines.spark")
    if memory is None:
        return None
    if not isinstance(table, str | Path):
        raise ParameterError(
            "memory is for files: a table in memory is there already", hint="name a Parquet file"
        )
    return import_module("wideberth.engines.duckdb")


def is_spark(table: object) -> bool:
    """Return whether a table is a Spark DataFrame, without loading PySpark.

    >>> is_spark([1, 2])
    False
    """
    kinds = type(table).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__ in _SPARK for kind in kinds)
