"""The rows of a Spark DataFrame, as codes: what an algorithm looks at, again and again.

Spark joins the codes to the rows, which takes no Python. A scan is one pass over the codes and a
sum of few numbers; the leaves of the split tree are finished in one shuffle.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.progress import Progress
from wideberth.engines.spark.cluster import SparkTable
from wideberth.engines.spark.work import BUCKET, PLACE, TIES, TOLD, FinishTask, RouteTask, ScanTask
from wideberth.engines.split.growth import SplitTree
from wideberth.engines.split.scan import Scan, ScanCounts
from wideberth.errors import TableError
from wideberth.policy.people import People
from wideberth.policy.strays import NonPersonRows
from wideberth.principles.counts import Coding, DistinctCounts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

    from wideberth.release.parts import BoundRequest, LabelTable


class SparkEngine:
    """An engine for a Spark DataFrame; see `wideberth.engines.base.Engine`."""

    name = "spark"

    def __init__(self, table: DataFrame) -> None:
        self.cluster = SparkTable(table)
        self.spark = table.sparkSession
        self.kept: list[DataFrame] = []  # what Spark holds for us
        self.sent: list[Any] = []  # and what it has sent to executors, secrets among them
        self.coded = self.published = table
        self._lines: list[int] = []

    def digest(self, columns: tuple[str, ...]) -> DistinctCounts:
        """Return the distinct values of columns, counted."""
        return self.cluster.digest(columns)

    def people(self, **person: Sequence[str]) -> People | None:
        """Return the identifier that repeats."""
        return self.cluster.people(person)

    def strays(self) -> NonPersonRows:
        """Return the rows that are no people."""
        return self.cluster.strays()

    def encode(self, job: BoundRequest) -> None:
        """Join codes to the rows, and keep them where the rows are."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as sql

        places = [self.cluster.places[name] for name in job.untouched]
        _require_plain(self.cluster.frame, dict(zip(job.untouched, places, strict=True)))
        frame = self.cluster.frame
        for place, coding in enumerate(job.codings):
            frame = self._with_code(frame, coding, f"code{place}")
        payload = [sql.col(place).alias(f"held{i}") for i, place in enumerate(places)]
        ties = _content(self.cluster.frame, places)
        codes = [sql.col(f"code{place}") for place in range(len(job.codings))]
        self.coded = frame.select(*codes, *payload, ties.alias(TIES))
        self.kept.append(self.coded.persist(StorageLevel.MEMORY_AND_DISK))
        self._lines = [*range(len(job.quasis)), *job.views(job.node_judge())]

    def _with_code(self, frame: DataFrame, coding: Coding, name: str) -> DataFrame:
        """Add the code of some columns' values to every row."""
        from pyspark.sql import functions as sql

        places = [self.cluster.places[column] for column in coding.columns]
        line = pl.Series(name, coding.codes.astype(np.int32))
        values = [s.alias(f"{name}v{i}") for i, s in enumerate(coding.values)]
        held = pl.DataFrame([*values, line]).to_arrow(compat_level=pl.CompatLevel.oldest())
        dictionary = self.spark.createDataFrame(held)
        same: list[Column] = []
        for i, place in enumerate(places):
            # As Spark has it: what has been in polars may come back as a wider type.
            value = dictionary[f"{name}v{i}"].cast(frame.schema[place].dataType)
            same.append(frame[place].eqNullSafe(value))
        joined = frame.join(sql.broadcast(dictionary), reduce(and_, same), "left")
        return joined.drop(*(f"{name}v{i}" for i in range(len(places))))

    def look(self, scan: Scan) -> ScanCounts:
        """Look at all rows once."""
        from pyspark.sql import functions as sql

        d = len(scan.layout.spans)
        extremes = [f"low{b} int, high{b} int" for b in range(d)]
        schema = ", ".join(["sheet int, cell int, rows bigint", *extremes])
        looking = ScanTask(self._sent(scan), self._lines, d)
        sums = [sql.sum("rows").alias("rows")]
        for b in range(d):
            sums += [sql.min(f"low{b}").alias(f"low{b}"), sql.max(f"high{b}").alias(f"high{b}")]
        found = (
            self.coded.select(*(f"code{line}" for line in dict.fromkeys(self._lines)))
            .mapInArrow(looking, schema)
            .groupBy("sheet", "cell")
            .agg(*sums)
            .toArrow()
        )
        self.sent.pop().destroy()
        scan_counts = scan.empty()
        scan_counts.enter({name: found[name].to_numpy() for name in found.column_names})
        return scan_counts

    def finish(
        self, job: BoundRequest, tree: SplitTree, columns: Sequence[str], progress: Progress | None
    ) -> list[Mapping[str, Any]]:
        """Finish the leaves, each where Spark brings its rows together."""
        from pyspark.sql.types import IntegerType, StructField, StructType

        if progress is not None:
            progress("finishing", 0, job.rows)
        routed = StructType([*self.coded.schema, StructField(BUCKET, IntegerType())])
        parts = self.coded.mapInArrow(RouteTask(self._sent(tree), len(job.quasis)), routed)
        return self._finished(parts, job, None, columns)

    def _finished(
        self, parts: DataFrame, job: BoundRequest, labels: LabelTable | None, columns: Sequence[str]
    ) -> list[Mapping[str, Any]]:
        """Finish parts, let Spark hold what is to be published, and return what was told of it."""
        from pyspark import StorageLevel
        from pyspark.sql import functions as sql

        made = self._published(job, columns)
        finishing = FinishTask(self._sent((job.slim, labels)), list(columns), _arrow(made))
        finished = parts.groupBy(BUCKET).applyInArrow(
            lambda rows: finishing(rows),  # its arguments must be countable
            made,
        )
        self.kept.append(finished.persist(StorageLevel.MEMORY_AND_DISK))
        told = finished.select(TOLD).where(sql.col(TOLD).isNotNull()).collect()
        # In files chosen by lot, and there in the order of lots: rows of all parts are mixed.
        mixed = finished.repartition(PLACE).sortWithinPartitions(PLACE)
        self.published = mixed.drop(PLACE, TOLD).toDF(*columns)
        return [json.loads(line) for (line,) in told]

    def _sent(self, what: Any) -> Any:
        """Send something to all executors."""
        from pyspark import cloudpickle

        pickled = cloudpickle.dumps(what)  # type: ignore[no-untyped-call]
        self.sent.append(self.spark.sparkContext.broadcast(pickled))
        return self.sent[-1]

    def _published(self, job: BoundRequest, columns: Sequence[str]) -> StructType:
        """Return the types of what parts come to: columns by number, and our own."""
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import LongType, StringType, StructType

        here = self.cluster.frame.schema
        kinds = {name: here[self.cluster.places[name]].dataType for name in job.untouched}
        for name, series in job.example_row().items():
            arrow = series.to_arrow(compat_level=pl.CompatLevel.oldest())
            kinds[name] = from_arrow_type(arrow.type)
        made = StructType()
        for i, name in enumerate(columns):
            made.add(f"p{i}", LongType() if name == job.group else kinds[name])
        return made.add(PLACE, LongType()).add(TOLD, StringType())

    def tuples(self, job: BoundRequest) -> tuple[list[Codes], Ints]:
        """Return the distinct tuples of codes, counted."""
        self.encode(job)
        names = [f"code{place}" for place in range(len(job.quasis) + len(job.columns))]
        found = self.coded.groupBy(*names).count().toArrow()
        return [found[name].to_numpy() for name in names], found["count"].to_numpy()

    def publish(
        self,
        job: BoundRequest,
        labels: LabelTable,
        at_a_time: int,
        columns: Sequence[str],
        progress: Progress | None,
    ) -> int:
        """Publish all rows that have labels, in parts by what rows hold."""
        from pyspark.sql import functions as sql

        many = -(-job.rows // at_a_time)
        codes = [sql.col(f"code{place}") for place in range(len(job.codings))]
        part = sql.pmod(sql.xxhash64(*codes, sql.col(TIES)), sql.lit(many)).cast("int")
        told = self._finished(self.coded.withColumn(BUCKET, part), job, labels, columns)
        return sum(one["rows"] for one in told)

    def forget(self) -> None:
        """Let Spark forget what it held for us."""
        while self.kept:
            self.kept.pop().unpersist()
        while self.sent:
            self.sent.pop().destroy()


def _content(frame: DataFrame, places: Sequence[str]) -> Column:
    """Return a number that depends on what columns hold alone, so any machine finds it again."""
    # For an order among rows with the same codes. Spark's hash passes over missing values, so it is
    # told where they are; within lists and structs they are seen in text only.
    from pyspark.sql import functions as sql

    held: list[Column] = [sql.lit(0)]
    for place in places:
        column = sql.col(place)
        if frame.schema[place].dataType.typeName() in ("array", "struct"):
            column = sql.to_json(sql.struct(column), {"ignoreNullFields": "false"})
        held += [column, sql.isnull(column)]
    return sql.xxhash64(*held)


def _arrow(schema: StructType) -> Any:
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema)


def _require_plain(frame: DataFrame, places: Mapping[str, str]) -> None:
    """Refuse columns that cannot be taken along."""
    for name, place in places.items():
        kind = frame.schema[place].dataType.typeName()
        if kind in ("map", "variant", "interval"):
            raise TableError(
                f"column '{name}' holds values of the kind {kind}, which cannot be published",
                hint="make columns of its parts, or leave it out",
            )
