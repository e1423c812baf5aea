"""A Spark DataFrame as a table that can be asked: its columns, and the distinct values in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wideberth.engines.digest import Digest, of_no_row
from wideberth.engines.folding import COUNT
from wideberth.errors import TableError
from wideberth.schema import require_finite

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


class Cluster:
    """A Spark DataFrame as a table that can be asked.

    Its columns go by their positions: Spark takes `Age` and `age` for one name, and dots in names
    for something else.
    """

    def __init__(self, table: DataFrame) -> None:
        from pyspark.sql import functions as sql
        from pyspark.sql.types import StringType

        places = [f"c{i}" for i in range(len(table.columns))]
        self.places = dict(zip(table.columns, places, strict=True))
        frame = table.toDF(*places)
        # A collation would take different texts for equal ones.
        self.frame = frame.select(
            *(
                sql.col(field.name).cast(StringType()).alias(field.name)
                if isinstance(field.dataType, StringType)
                else sql.col(field.name)
                for field in frame.schema.fields
            )
        )
        self.schema = _polars(self.frame.limit(0).toArrow(), table.columns)

    def looked_at(self, keys: Sequence[str]) -> tuple[int, list[str]]:
        """Return the number of rows, and which of the columns have no value in any of them."""
        from pyspark.sql import functions as sql

        counts = [sql.count(sql.lit(1))]
        for key in keys:
            column = sql.col(self.places[key])
            counts.append(sql.count(column))
            if self.schema[key].dtype.is_float():
                for odd in ("NaN", "Infinity", "-Infinity"):
                    counts.append(sql.count_if(column == sql.lit(odd).cast("double")))
        (found,) = self.frame.agg(*counts).collect()
        figures = iter(found)
        rows, empty = int(next(figures)), []
        for key in keys:
            dtype = self.schema[key].dtype
            if dtype.is_nested():
                raise TableError(
                    f"column '{key}' holds lists or structs, which make no groups in Spark",
                    hint="make columns of its parts",
                )
            if not next(figures):
                empty.append(key)
            for odd in ("nan", "inf", "-inf") if dtype.is_float() else ():
                if next(figures):
                    _refuse(key, float(odd))
        return rows, empty

    def digest(self, columns: Sequence[str]) -> Digest:
        """Return the distinct combinations of values of some columns, counted."""
        places = [self.places[name] for name in columns]
        found = _polars(self.frame.groupBy(*places).count().toArrow(), [*columns, COUNT])
        counts = found.to_series(len(places)).to_numpy().astype(np.int64)
        return Digest(found[:, : len(places)], counts)

    def histograms(self, keys: Sequence[str], on: Sequence[str]) -> DataFrame:
        """Return keys, values and counts, the entries of a group one after the other."""
        from pyspark.sql import functions as sql

        columns = [sql.col(self.places[name]).alias(f"k{i}") for i, name in enumerate(keys)]
        columns += [sql.col(self.places[name]).alias(f"v{i}") for i, name in enumerate(on)]
        names = [f"k{i}" for i in range(len(keys))]
        held = [*names, *(f"v{i}" for i in range(len(on)))]
        return (
            self.frame.select(*columns)
            .groupBy(*held)
            .count()
            .repartition(*names)
            .sortWithinPartitions(*(sql.col(name).asc_nulls_last() for name in names))
        )


def _polars(table: pa.Table, names: Sequence[str]) -> pl.DataFrame:
    frame = pl.DataFrame(pl.from_arrow(table))
    frame.columns = list(names)
    return frame


def _refuse(name: str, odd: float) -> None:
    with of_no_row():
        require_finite(pl.Series(name, [odd]))
