"""Spark's part of the work, emulated: partitions are lists of batches, tasks are our own.

What executors run (`wideberth.engines.spark.work`) is called as Spark calls it, on partitions in
any order and of any size, without a cluster. What is emulated are the operations on DataFrames:
joins of codes, mapInArrow, groupBy().agg(), groupBy().applyInArrow().
"""

import json

import numpy as np
import polars as pl
import pyarrow as pa

from wideberth.engines.spark import work
from wideberth.engines.spark.work import BUCKET, TIES, TOLD
from wideberth.policy.people import find_people
from wideberth.policy.strays import find_non_person_rows
from wideberth.principles.counts import DistinctCounts


class Broadcast:
    """What executors get: pickled, as it would travel."""

    def __init__(self, what):
        from pyspark import cloudpickle

        self.value = cloudpickle.dumps(what)


class EmulatedRows:
    """An engine, see `wideberth.engines.base.Engine`, without Spark."""

    name = "emulated"

    def __init__(self, frame, partitions, seed=0, batch_rows=50_000):
        self.frame, self.batch_rows = frame, batch_rows
        self.rng = np.random.default_rng(seed)
        self.partitions = partitions
        self.looks = 0

    def strays(self):
        return find_non_person_rows(self.frame)

    def people(self, **person):
        return find_people(self.frame, **person)

    def digest(self, columns):
        counted = self.frame.group_by(columns).len()
        counted = counted.sample(fraction=1.0, shuffle=True, seed=1)
        return DistinctCounts(counted.select(columns), counted["len"].to_numpy().astype(np.int64))

    def encode(self, job):
        frame = self.frame
        for place, coding in enumerate(job.codings):
            values = coding.values.with_columns(pl.Series(f"code{place}", coding.codes))
            frame = frame.join(values, on=coding.columns, how="left", nulls_equal=True)
        held = [pl.col(name).alias(f"held{i}") for i, name in enumerate(job.untouched)]
        ties = pl.struct(job.untouched).hash(seed=7).cast(pl.Int64, wrap_numerical=True)
        codes = [f"code{place}" for place in range(len(job.codings))]
        coded = frame.select(*codes, *held, ties.alias(TIES))
        self.lines = [*range(len(job.quasis)), *job.views(job.node_judge())]
        # Rows come to partitions by chance, and in any order.
        coded = coded[self.rng.permutation(coded.height)]
        edges = np.sort(self.rng.integers(0, coded.height, self.partitions - 1)).tolist()
        self.coded = [
            coded.slice(a, b - a).to_arrow(compat_level=pl.CompatLevel.oldest())
            for a, b in zip([0, *edges], [*edges, coded.height], strict=True)
        ]

    def batches(self, table):
        return iter(table.to_batches(self.batch_rows))

    def look(self, scan):
        self.looks += 1
        looking = work.ScanTask(Broadcast(scan), self.lines, len(scan.layout.spans))
        found = [
            pl.DataFrame(pl.from_arrow(batch))
            for part in self.coded
            for batch in looking(self.batches(part))
        ]
        ends = [c for c in found[0].columns if c not in ("sheet", "cell", "rows")]
        total = (
            pl.concat(found)
            .group_by("sheet", "cell")
            .agg(
                pl.col("rows").sum(),
                *(pl.col(c).min() if c.startswith("low") else pl.col(c).max() for c in ends),
            )
        )
        scan_counts = scan.empty()
        scan_counts.enter({c: total[c].to_numpy() for c in total.columns})
        return scan_counts

    def finish(self, job, tree, columns, progress):
        routing = work.RouteTask(Broadcast(tree), len(job.quasis))
        routed = pa.Table.from_batches(
            [batch for part in self.coded for batch in routing(self.batches(part))]
        )
        return self.finished(routed, job, None, columns)

    def finished(self, routed, job, labels, columns):
        schema = self.schema(job, columns)
        finishing = work.FinishTask(Broadcast((job.slim, labels)), columns, schema)
        made = []
        buckets = pl.Series(pl.from_arrow(routed[BUCKET])).unique().to_list()
        for bucket in self.rng.permutation(buckets).tolist():
            rows = routed.filter(pa.compute.equal(routed[BUCKET], bucket))
            rows = rows.take(self.rng.permutation(rows.num_rows))
            made.append(finishing(rows))
        return self.keep(pa.concat_tables(made), columns)

    def keep(self, made, columns):
        told = [json.loads(one) for one in made[TOLD].drop_null().to_pylist()]
        self.published = pl.DataFrame(pl.from_arrow(made.drop_columns([TOLD, "place"])))
        self.published.columns = list(columns)
        return told

    def schema(self, job, columns):
        kinds = {n: s.to_arrow().type for n, s in job.example_row().items()}
        held = self.frame.select(job.untouched).to_arrow(compat_level=pl.CompatLevel.oldest())
        kinds |= {name: held.schema.field(name).type for name in job.untouched}
        kinds[job.group] = pa.int64()
        fields = [(f"p{i}", kinds[name]) for i, name in enumerate(columns)]
        return pa.schema([*fields, ("place", pa.int64()), (TOLD, pa.string())])

    def tuples(self, job):
        self.encode(job)
        names = [f"code{place}" for place in range(len(job.quasis) + len(job.columns))]
        rows = pl.concat([pl.DataFrame(pl.from_arrow(part)) for part in self.coded])
        found = rows.group_by(names).len()
        return [found[n].to_numpy() for n in names], found["len"].to_numpy().astype(np.int64)

    def publish(self, job, labels, at_a_time, columns, progress):
        coded = pa.concat_tables(self.coded)
        held = pl.DataFrame(pl.from_arrow(coded)).hash_rows(seed=1) % 3
        routed = coded.append_column(BUCKET, held.cast(pl.Int32).to_arrow())
        return sum(one["rows"] for one in self.finished(routed, job, labels, columns))

    def check(self, question):
        from wideberth import check

        return check(self.published, worst=0, **question)


def emulated(frame, *, partitions=3, bucket_rows=60_000, seed=0, key=None, rows_seed=0, **asked):
    """Make a release as `wideberth.anonymize` would on Spark; return its table and manifest."""
    from wideberth.core.progress import Clock
    from wideberth.kernels.randomness import RootKey
    from wideberth.policy.request import Request
    from wideberth.release.large import anonymize_on_engine

    roles = {role: asked.pop(role, None) for role in ("quasi", "sensitive", "identifier")}
    roles["insensitive"] = asked.pop("insensitive", None)
    said = {key: asked.pop(key, None) for key in ("principles", "hierarchies", "types", "policy")}
    group = asked.pop("group", None)
    request = Request.of(
        None, roles=roles, **said, transform=asked, group=group, schema=frame.clear()
    )
    engine = EmulatedRows(frame, partitions, seed=rows_seed)
    root = RootKey.of(seed if key is None else None, key)
    outcome = anonymize_on_engine(
        request,
        engine,
        check=engine.check,
        root=root,
        bucket_rows=bucket_rows,
        clock=Clock(None),
    )
    return engine.published, outcome.manifest


def groups_of(table, columns, group="group"):
    """Return the rows of each group, in an order that depends on nothing else."""
    texts = [pl.col(c).cast(pl.String).fill_null("\0") for c in columns]
    row = pl.concat_str(texts, separator="\1")
    if group in table.columns:
        held = table.group_by(group).agg(row.sort().str.join("\2").alias("rows"))["rows"]
    else:
        held = table.select(row.alias("rows"))["rows"]
    return held.sort()
