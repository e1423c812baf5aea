"""A Spark DataFrame as a table that can be asked: its columns, and the distinct values in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wideberth.core.strings import is_text
from wideberth.core.types import require_finite
from wideberth.errors import TableError
from wideberth.hierarchy.quasi import FIXED, ONE_WAY, PERHAPS, one_text_per_value
from wideberth.policy.people import MAX_LOOKED_AT_VALUES, People, find_people_by_counts
from wideberth.policy.strays import (
    CALLED,
    CANDIDATES,
    NonPersonRows,
    TableFacts,
    non_person_rows_by_facts,
)
from wideberth.principles.counts import COUNT, DistinctCounts, without_row_numbers

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: Rows by whose values columns are known for identifiers.
_FIRST = 1000


class SparkTable:
    """A Spark DataFrame as a table that can be asked."""

    def __init__(self, table: DataFrame) -> None:
        from pyspark.sql import functions as sql
        from pyspark.sql.types import StringType

        # Columns go by positions: Spark takes `Age` and `age` for one name, and dots in
        # names for something else.
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

    def looked_at(
        self, keys: Sequence[str], readable: Collection[str] = ()
    ) -> tuple[int, list[str], list[str]]:
        """Return the row count, keys without values, and keys that write one in several ways."""
        # `readable` are the keys whose text may be numbers or dates.
        from pyspark.sql import functions as sql

        texts = [name for name in readable if is_text(self.schema[name].dtype)]
        counts = [sql.count(sql.lit(1))]
        for key in keys:
            column = sql.col(self.places[key])
            counts.append(sql.count(column))
            if self.schema[key].dtype.is_float():
                for odd in ("NaN", "Infinity", "-Infinity"):
                    counts.append(sql.count_if(column == sql.lit(odd).cast("double")))
            if key in texts:
                for pattern in (PERHAPS, ONE_WAY, FIXED):
                    counts.append(sql.count_if(column.rlike(f"^({pattern})$")))
                places = sql.length(column) - sql.instr(column, ".")
                counts += [sql.min(places), sql.max(places)]
        (found,) = self.frame.agg(*counts).collect()
        figures = iter(found)
        rows, empty, several = int(next(figures)), [], []
        for key in keys:
            dtype = self.schema[key].dtype
            if dtype.is_nested():
                raise TableError(
                    f"column '{key}' holds lists or structs, which make no groups in Spark",
                    hint="make columns of its parts",
                )
            known = next(figures)
            if not known:
                empty.append(key)
            for odd in ("nan", "inf", "-inf") if dtype.is_float() else ():
                if next(figures):
                    _refuse(key, float(odd))
            if key in texts:
                perhaps, one_way, fixed, least, most = (next(figures) for _ in range(5))
                alike = one_way == known or (fixed == known and least == most)
                if perhaps == known and not alike:
                    several.append(key)
        return rows, empty, several

    def write_in_one_way(self, name: str, hierarchy: object) -> bool:
        """Write equal numbers or dates in a column of text alike; return whether any differed."""
        from pyspark.sql import functions as sql

        texts = self.digest([name]).frame.to_series().drop_nulls()
        written = one_text_per_value(texts, hierarchy)
        changed = [(t, w) for t, w in zip(texts, written, strict=True) if t != w]
        if not changed:
            return False
        place = self.places[name]
        ways = self.frame.sparkSession.createDataFrame(changed, f"{place} string, way string")
        joined = self.frame.join(sql.broadcast(ways), place, "left")
        one = sql.coalesce(sql.col("way"), sql.col(place)).alias(place)
        self.frame = joined.select(
            *(one if other == place else sql.col(other) for other in self.places.values())
        )
        return True

    def digest(self, columns: Sequence[str]) -> DistinctCounts:
        """Return the distinct combinations of values of some columns, counted."""
        places = [self.places[name] for name in columns]
        found = _polars(self.frame.groupBy(*places).count().toArrow(), [*columns, COUNT])
        counts = found.to_series(len(places)).to_numpy().astype(np.int64)
        return DistinctCounts(found[:, : len(places)], counts)

    def people(self, person: Mapping[str, Sequence[str]], rows: int | None = None) -> People | None:
        """Return the identifier that repeats; see `find_people_by_counts`."""
        first = _polars(self.frame.limit(_FIRST).toArrow(), list(self.places))
        rows = self.frame.count() if rows is None else rows
        from pyspark.sql import functions as sql

        def some(*names: str) -> pl.DataFrame:
            places = [self.places[name] for name in names]
            chosen = (
                sql.pmod(sql.xxhash64(places[0]), sql.lit(max(rows // MAX_LOOKED_AT_VALUES, 1)))
                == 0
            )
            found = self.frame.where(chosen).select(*places).limit(4 * MAX_LOOKED_AT_VALUES)
            return _polars(found.toArrow(), names)

        return find_people_by_counts(first, self._distinct, rows, some, **person)

    def strays(self) -> NonPersonRows:
        """Return the rows that are no people: by words alone, for Spark's rows have no order."""
        from pyspark.sql import functions as sql

        texts = [at for name, at in self.places.items() if is_text(self.schema[name].dtype)]
        cells = [sql.col(at) for at in self.places.values()]
        void = reduce(and_, (cell.isNull() for cell in cells))
        nulls = [sql.count_if(cell.isNull()) for cell in cells]
        rows, empty, *lacking = self.frame.agg(
            sql.count(sql.lit(1)), sql.count_if(void), *nulls
        ).collect()[0]
        fits = reduce(or_, (sql.col(at).rlike(CALLED) for at in texts), sql.lit(False))
        called = _polars(self.frame.where(fits).limit(CANDIDATES).toArrow(), list(self.places))

        def sums(name: str) -> float | None:
            if not self.schema[name].dtype.is_numeric():
                return None
            ((total,),) = self.frame.agg(
                sql.sum(sql.col(self.places[name]).cast("double"))
            ).collect()
            return None if total is None else float(total)

        return non_person_rows_by_facts(
            TableFacts(
                rows=int(rows),
                empty=int(empty) if len(cells) > 1 else 0,
                ends=None,
                called=called,
                numbers=[0] * called.height,
                nulls=lambda: dict(zip(self.places, map(int, lacking), strict=True)),
                sums=sums,
                count=lambda name, text: self.frame.where(
                    sql.col(self.places[name]) == sql.lit(text)
                ).count(),
            )
        )

    def _distinct(self, name: str) -> tuple[int, int]:
        """Count the different values of a column, and the rows without one."""
        column = self.frame.select(self.places[name])
        known = column.dropna()
        return known.distinct().count(), column.count() - known.count()

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
    with without_row_numbers():
        require_finite(pl.Series(name, [odd]))
