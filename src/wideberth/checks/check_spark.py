"""check for a Spark DataFrame: executors judge the groups they have, the driver folds verdicts.

Rows never leave Spark. Spark counts the histograms and brings those of a group together; what comes
to the driver is the distinct values of sensitive attributes, and a tally for each partition.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_, or_
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wideberth.checks.check import (
    PrincipleVerdict,
    blame_policy_for_principles,
    require_limits,
    table_of_groups,
)
from wideberth.checks.fold import (
    CheckPass,
    CheckPlan,
    CodedDemand,
    GroupBlock,
    PartialVerdict,
    require_values,
    resolve_engine_table,
    uneven_groups,
)
from wideberth.checks.result import CheckResult
from wideberth.core.groups import Uneven
from wideberth.core.memory import bounded
from wideberth.engines.spark.cluster import SparkTable
from wideberth.engines.spark.executors import require_executors
from wideberth.engines.spark.failures import readable_spark_errors
from wideberth.engines.spark.input import require_no_formats, warn_if_nondeterministic
from wideberth.engines.spark.session import require_session
from wideberth.errors import TableError
from wideberth.io.formats import require_unique_names
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable
from wideberth.principles.counts import ENTRY, whole_groups

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

#: How many entries of histograms an executor judges at a time.
_ENTRIES = 1 << 18


def check_spark(
    table: DataFrame,
    *,
    worst: int = 5,
    max_memory: int | None = None,
    policy: Policy | str | Path | None = None,
    **asked: Any,
) -> CheckResult:
    """Check a Spark DataFrame; the answer is that of `wideberth.check`."""
    # Distinct values of sensitive attributes must fit into the driver's memory.
    require_limits(worst, max_memory)
    spark = require_session(table)
    require_unique_names(table.columns, "the table")
    require_executors(spark)
    warn_if_nondeterministic(table, stacklevel=4)
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    require_no_formats(table, policy.options if policy else None)
    blame = policy if not asked.get("principles") else None
    with readable_spark_errors(), bounded(max_memory), blame_policy_for_principles(blame):
        cluster = SparkTable(table)
        given = resolve_engine_table(cluster.schema, policy=policy, **asked)
        keys = given.subject.keys
        read = given.subject.readable
        rows, empty, several = cluster.looked_at(keys, read)
        if not rows:
            raise TableError("the table has no rows", hint="check how it was made")
        for name in empty:
            require_values(given, name, cluster.schema[name].dtype)
        rewritten = [name for name in several if cluster.write_in_one_way(name, read[name])]
        inquiry = CheckPlan.of(given, cluster.digest, rows)
        inquiry = replace(inquiry, notes=[*inquiry.notes, *cluster.strays().notes])
        tallies: dict[int, list[PartialVerdict]] = {}
        for each in inquiry.passes:
            found = cluster.histograms(keys, each.on).mapInArrow(
                _PartitionCheck.of(each, len(keys), worst, spark), "tallies binary"
            )
            for (pickled,) in found.collect():
                for number, tally in pickle.loads(pickled).items():  # noqa: S301 - our own
                    # Its principle has been abroad; ours is the one that the caller knows.
                    own = replace(tally.found, principle=each.questions[number].principle)
                    tallies.setdefault(number, []).append(replace(tally, found=own))
        return inquiry.result(
            tallies,
            # `CheckResult.table`: computed when Spark is asked for it.
            lambda: _table(cluster, inquiry, spark),
            lambda values: dict(zip(keys, values.values(), strict=True)),
            _uneven(cluster, given),
            rewritten,
            None if given.rows_are_people else cluster.people(given.person, rows),
        )


def _uneven(cluster: SparkTable, given: ExaminedTable) -> Uneven | None:
    """Find groups whose rows are published with different quasi-identifiers."""
    from pyspark.sql import functions as sql

    if given.group is None or not given.uniform:
        return None
    differs = []
    for i, at in enumerate(sql.col(cluster.places[name]) for name in given.uniform):
        partly = sql.count(at).isin(0) | (sql.count(at) == sql.count(sql.lit(1)))
        differs.append((~sql.min(at).eqNullSafe(sql.max(at)) | ~partly).alias(f"d{i}"))
    group = sql.col(cluster.places[given.group])
    groups = cluster.frame.groupBy(group).agg(sql.count(sql.lit(1)).alias("n"), *differs)
    cells = [sql.col(f"d{i}") for i in range(len(differs))]
    some = reduce(or_, cells)
    many, rows, *each = groups.select(
        sql.count_if(some),
        sql.coalesce(sql.sum(sql.when(some, sql.col("n"))), sql.lit(0)),
        *map(sql.count_if, cells),
    ).collect()[0]
    return uneven_groups(given.uniform, many, rows, each)


@dataclass(frozen=True, eq=False)
class _PartitionCheck:
    """The work of an executor on a partition: to find its groups, and judge them."""

    asked: Any  # broadcast and pickled: distinct values with their numbers, and questions
    keys: int
    worst: int

    @classmethod
    def of(cls, each: CheckPass, keys: int, worst: int, spark: Any) -> _PartitionCheck:
        from pyspark import cloudpickle

        values = pl.DataFrame([cells.alias(f"v{i}") for i, cells in enumerate(each.values)])
        if each.on:
            values = values.with_columns(pl.Series(ENTRY, each.ranks))
        pickled = cloudpickle.dumps((values, each.questions))  # type: ignore[no-untyped-call]
        return cls(spark.sparkContext.broadcast(pickled), keys, worst)

    def blocks(
        self, batches: Iterable[pa.RecordBatch]
    ) -> Iterator[tuple[GroupBlock, dict[int, CodedDemand]]]:
        """Go through a partition, a block of groups at a time."""
        values, questions = pickle.loads(self.asked.value)  # noqa: S301 - our own
        names = [f"k{i}" for i in range(self.keys)]
        find = _finder(values)
        frames = (find(pl.DataFrame(pl.from_arrow(batch))) for batch in batches)
        for frame in whole_groups((f for f in frames if f.height), names, _ENTRIES):
            yield GroupBlock.of(frame, names), questions

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the tallies of a partition, pickled."""
        import pyarrow as pa
        from pyspark import cloudpickle

        tallies: dict[int, PartialVerdict] = {}
        for block, questions in self.blocks(batches):
            for number, question in questions.items():
                tally = PartialVerdict.summed(block.verdict(question), self.worst)
                tallies[number] = tallies[number] + tally if number in tallies else tally
        if tallies:
            pickled = cloudpickle.dumps(tallies)  # type: ignore[no-untyped-call]
            yield pa.RecordBatch.from_pydict({"tallies": [pickled]})


@dataclass(frozen=True, eq=False)
class _PartitionFigures:
    """The same, but returns what is found of every group."""

    judging: _PartitionCheck

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return keys, sizes and figures of a partition's groups."""
        for block, questions in self.judging.blocks(batches):
            verdicts = [block.verdict(question) for question in questions.values()]
            sizes = np.add.reduceat(block.counts, block.start[:-1])
            cells: dict[str, Any] = {"rows": sizes}
            for i, verdict in enumerate(verdicts):
                cells[f"s{i}"] = verdict.satisfied
                cells |= {f"s{i}a{j}": f for j, f in enumerate(verdict.achieved.values())}
            listed = pl.DataFrame([*block.keys, *(pl.Series(n, c) for n, c in cells.items())])
            yield from listed.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def _finder(values: pl.DataFrame) -> Callable[[pl.DataFrame], pl.DataFrame]:
    """Return what gives each row of a frame the number of its sensitive values."""
    cells = [name for name in values.columns if name != ENTRY]
    if not cells:
        return lambda frame: frame
    if not any(values[name].dtype.is_nested() for name in cells):
        return lambda frame: frame.join(
            values, on=cells, how="left", nulls_equal=True, maintain_order="left"
        )
    known = {_hashable(row[:-1]): row[-1] for row in values.select(*cells, ENTRY).iter_rows()}
    return lambda frame: frame.with_columns(
        pl.Series(ENTRY, [known[_hashable(row)] for row in frame.select(cells).iter_rows()])
    )


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _table(cluster: SparkTable, inquiry: CheckPlan, spark: Any) -> DataFrame:
    """Return every group's figures, in the order of columns that they have in memory."""
    from pyspark.sql import types as sql

    keys = inquiry.keys
    names = [f"k{i}" for i in range(len(keys))]
    held = {field.name: field.dataType for field in cluster.frame.schema.fields}
    kinds = [sql.StructField(n, held[cluster.places[k]]) for n, k in zip(names, keys, strict=True)]
    parts: list[DataFrame] = []
    order: dict[int, list[str]] = {}
    example: dict[int, PrincipleVerdict] = {}
    for at, each in enumerate(inquiry.passes):
        made = sql.StructType([*kinds, sql.StructField("rows", sql.LongType())])
        for i, (number, question) in enumerate(each.questions.items()):
            example[number] = GroupBlock(
                pl.DataFrame(), np.array([0, 1]), np.array([0]), np.array([1])
            ).verdict(replace(question, codes=np.zeros(1, np.int32)) if each.on else question)
            figures = [f"s{i}", *(f"s{i}a{j}" for j in range(len(example[number].achieved)))]
            order[number] = [f"p{at}{name}" for name in figures]
            for name in figures:
                kind = sql.DoubleType() if "a" in name else sql.BooleanType()
                made.add(name, kind)
        judging = _PartitionCheck.of(each, len(keys), 0, spark)
        part = cluster.histograms(keys, each.on).mapInArrow(_PartitionFigures(judging), made)
        parts.append(part.toDF(*(f"p{at}{name}" for name in made.names)))

    def beside(one: DataFrame, other: DataFrame) -> DataFrame:
        there = other.columns[0].partition("k")[0]
        same = [one[f"p0{name}"].eqNullSafe(other[f"{there}{name}"]) for name in names]
        return one.join(other, reduce(and_, same))

    all_of_it = reduce(beside, parts)
    columns = [*(f"p0{name}" for name in names), "p0rows"]
    columns += [name for number in sorted(order) for name in order[number]]
    titles = table_of_groups(
        pl.DataFrame({key: [None] for key in keys}),
        np.array([1]),
        [example[number] for number in sorted(example)],
    ).columns
    return all_of_it.select(*columns).toDF(*titles)
