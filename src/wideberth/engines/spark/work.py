"""What executors do: look at rows, send them to their parts, finish a part.

All of it depends on what rows hold, never on the order in which they come, so a task that is run
again, on whatever machine, comes to the same result. Jobs and scans come pickled, as broadcasts.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wideberth.engines.spark.failures import carry_refusals
from wideberth.engines.split.scan import Scan
from wideberth.errors import EngineError

if TYPE_CHECKING:
    import pyarrow as pa

    from wideberth.release.parts import BoundRequest, FinishedPart

#: Our own columns, beside codes and what is published as it is, which go by numbers.
BUCKET, TIES, PLACE, TOLD = "bucket", "ties", "place", "told"


@dataclass(frozen=True, eq=False)
class ScanTask:
    """A scan of a partition."""

    asked: Any  # broadcast: the scan
    # the codes that are quasi-identifiers and, after these, sensitive attributes
    lines: Sequence[int]
    attributes: int  # how many quasi-identifiers there are

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return what is not zero, in one batch."""
        import pyarrow as pa

        scan: Scan = pickle.loads(self.asked.value)  # noqa: S301 - our own
        d = self.attributes
        split = (
            (self._lines(batch, self.lines[:d]), self._lines(batch, self.lines[d:]))
            for batch in batches
            if batch.num_rows
        )
        yield pa.RecordBatch.from_pydict(scan.look(split).lines())

    def _lines(self, batch: pa.RecordBatch, lines: Sequence[int]) -> Any:
        found = [_codes(batch, line) for line in lines]
        return np.stack(found) if found else np.zeros((0, batch.num_rows), np.int32)


@dataclass(frozen=True, eq=False)
class RouteTask:
    """The assignment of rows to the parts they belong to."""

    asked: Any  # broadcast: the tree
    attributes: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Add the number of the part."""
        import pyarrow as pa

        tree = pickle.loads(self.asked.value)  # noqa: S301 - our own
        for batch in batches:
            codes = np.stack([_codes(batch, place) for place in range(self.attributes)])
            part = np.searchsorted(tree.leaves, tree.route(codes)).astype(np.int32)
            yield batch.append_column(BUCKET, pa.array(part))


@dataclass(frozen=True, eq=False)
class FinishTask:
    """The work on a part: it is split to the end, or published by labels."""

    asked: Any  # broadcast: the job, and the labels of a lattice, if that is the way
    columns: Sequence[str]  # what is published, in this order
    schema: Any  # the types that Spark expects

    def __call__(self, table: pa.Table) -> pa.Table:
        """Return what is published of a part."""
        job, labels = pickle.loads(self.asked.value)  # noqa: S301 - our own
        part, ties = table[BUCKET][0].as_py(), table[TIES].to_numpy()
        codes = [_codes(table, place) for place in range(len(job.codings))]
        payload = _payload(job, table)
        if labels is None:
            with carry_refusals():
                done = job.finish(part, codes, payload, ties=ties, threads=1)
        else:
            done = labels.publish(job, part, codes, payload, ties=ties)
        return _told(done, self.columns, self.schema)


def _payload(job: BoundRequest, rows: pa.Table | pa.RecordBatch) -> pl.DataFrame:
    held = [rows[f"held{i}"] for i in range(len(job.untouched))]
    return pl.DataFrame(
        [pl.Series(name, pl.from_arrow(c)) for name, c in zip(job.untouched, held, strict=True)]
    )


def _told(done: FinishedPart, columns: Sequence[str], schema: Any) -> pa.Table:
    """Return what is published, and with its first row the figures."""
    import pyarrow as pa

    arrow = done.table.to_arrow(compat_level=pl.CompatLevel.oldest())
    told = [json.dumps(done.told), *[None] * (done.table.height - 1)][: done.table.height]
    made = [arrow[name] for name in columns]
    made += [pa.array(done.place), pa.array(told, pa.string())]
    return pa.table(made, names=schema.names).cast(schema)


def _codes(table: pa.Table | pa.RecordBatch, place: int) -> Any:
    column = table[f"code{place}"]
    if column.null_count:
        raise EngineError(
            "a row holds a value that the table did not have before: it changed meanwhile",
            hint="work on a copy that stays as it is: write it, and read it again",
        )
    return column.to_numpy()
