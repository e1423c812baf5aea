"""The rows of a file, held as codes on the disk: what an algorithm looks at, again and again.

Codes are written once. The upper part of the split tree is grown by scans over them; then the file
is read a second time, its rows are put on piles, one for each leaf, and the piles are finished one
after the other. What is to be published is put on piles again, by chance, and so comes out mixed.
Memory holds a pile, never the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from pyarrow import ipc

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.progress import Progress
from wideberth.core.threads import cores, map_threads
from wideberth.engines.duckdb.source import FileSource
from wideberth.engines.split.growth import SplitTree
from wideberth.engines.split.scan import Scan, ScanCounts
from wideberth.io.sanitize import sanitized_series
from wideberth.io.scratch import reserve
from wideberth.policy.people import People
from wideberth.policy.strays import NonPersonRows
from wideberth.principles.counts import Coding, DistinctCounts

if TYPE_CHECKING:
    from wideberth.release.parts import BoundRequest, FinishedPart, LabelTable

#: Rows looked at, or written, at a time.
_BLOCK = 1 << 20
#: Bytes that a row takes while its part is finished, besides several copies of what it holds.
_PER_ROW, _COPIES = 400, 4


class FileEngine:
    """An engine for a file; see `wideberth.engines.base.Engine`."""

    name = "files"

    def __init__(self, source: FileSource, folder: Path) -> None:
        self.source, self.folder = source, folder
        self._codes: npt.NDArray[Any] = np.zeros((0, 0), np.int32)
        self._views: npt.NDArray[np.int32] = np.zeros((0, 0), np.int32)

    def rows_in(self, memory: int) -> int:
        """Return how many rows can be finished at a time in `memory` bytes."""
        return max(memory // (_PER_ROW + _COPIES * self.source.width), 1)

    @property
    def _wait(self) -> int:
        """How many rows are gathered before they are written."""
        return min(_BLOCK, max(self.source.memory // 8 // (64 + _COPIES * self.source.width), 1))

    @property
    def path(self) -> Path:
        """Where the release is written."""
        return self.folder / "release.parquet"

    def digest(self, columns: tuple[str, ...]) -> DistinctCounts:
        """Return the distinct values of columns, counted."""
        return self.source.digest(columns)

    def people(self, **person: Sequence[str]) -> People | None:
        """Return the identifier that repeats."""
        return self.source.people(**person)

    def strays(self) -> NonPersonRows:
        """Return the rows that are no people."""
        return self.source.strays()

    def encode(self, job: BoundRequest) -> None:
        """Write the codes of all rows: quasi-identifiers, and what judges look at."""
        d, lines = len(job.quasis), job.views(job.node_judge())
        widest = max(quasi.domain.size for quasi in job.quasis)
        kind = np.uint16 if widest <= 2**16 else np.int32
        self._codes = self._mapped("codes", kind, d, job.rows)
        self._views = self._mapped("views", np.int32, len(lines), job.rows)
        wanted = [*job.codings[:d], *(job.codings[line] for line in lines)]
        at = 0
        for block in _coded(self.source, wanted):
            end = at + block.height
            for place in range(len(wanted)):
                line = self._codes[place] if place < d else self._views[place - d]
                line[at:end] = block[f"code{place}"].to_numpy()
            at = end

    def _mapped(self, name: str, kind: Any, lines: int, rows: int) -> npt.NDArray[Any]:
        if not lines:
            return np.zeros((0, rows), kind)
        path = self.folder / f"{name}.bin"
        reserve(path, lines * rows * np.dtype(kind).itemsize)
        return np.memmap(path, dtype=kind, mode="r+", shape=(lines, rows))

    def _forget_codes(self) -> None:
        """Remove the codes: they are the original, and the release may lie beside them for long."""
        self._codes = self._views = np.zeros((0, 0), np.int32)
        for path in self.folder.glob("*.bin"):
            path.unlink()

    def look(self, scan: Scan) -> ScanCounts:
        """Look at all rows once, a thread on each share of them."""
        rows, many = self._codes.shape[1], cores()

        def blocks(first: int) -> Iterator[tuple[Any, Any]]:
            for begin in range(first * _BLOCK, rows, many * _BLOCK):
                here = slice(begin, begin + _BLOCK)
                yield (
                    np.ascontiguousarray(self._codes[:, here]),
                    np.ascontiguousarray(self._views[:, here]),
                )

        total, *others = map_threads(lambda first: scan.look(blocks(first)), range(many))
        for other in others:
            total.add(other)
        return total

    def finish(
        self, job: BoundRequest, tree: SplitTree, columns: Sequence[str], progress: Progress | None
    ) -> list[Mapping[str, Any]]:
        """Finish the leaves one after the other, and write what is to be published."""
        self._forget_codes()
        piles = DiskBuckets(self.folder, "part", self._wait)
        d = len(job.quasis)
        names = [f"code{place}" for place in range(len(job.codings))]
        for block in _coded(self.source, job.codings, job.untouched):
            lines = np.stack([block[name].to_numpy() for name in names[:d]])
            piles.put(block, tree.route(lines).astype(np.int64))
        mixed = DiskBuckets(self.folder, "mixed", self._wait)
        many = -(-job.rows // self._wait)
        told: list[Mapping[str, Any]] = []
        settled = 0
        for part, leaf in enumerate(tree.leaves.tolist()):
            held = piles.take(leaf)
            if held is None:
                continue  # the table changed meanwhile, as the counts will show
            codes = [held[name].to_numpy() for name in names]
            payload = pl.DataFrame([held[name] for name in job.untouched])
            done = job.finish(part, codes, payload)
            _mix(done, columns, mixed, many)
            told.append(done.told)
            settled += done.table.height
            if progress is not None:
                progress("finishing", settled, job.rows)
        self._write(mixed, many)
        return told

    def tuples(self, job: BoundRequest) -> tuple[list[Codes], Ints]:
        """Return the distinct tuples of codes, counted."""
        names = [f"code{place}" for place in range(len(job.codings))]
        d = len(job.quasis) + len(job.columns)
        found = pl.concat(list(_coded(self.source, job.codings[:d], counted=True)))
        return [found[name].to_numpy() for name in names[:d]], found["rows"].to_numpy()

    def publish(
        self,
        job: BoundRequest,
        labels: LabelTable,
        at_a_time: int,
        columns: Sequence[str],
        progress: Progress | None,
    ) -> int:
        """Publish all rows that have labels, block by block."""
        mixed = DiskBuckets(self.folder, "mixed", self._wait)
        many = -(-job.rows // self._wait)
        d = len(job.quasis)
        seen = kept = 0
        codings = job.codings[: d + len(job.columns)]
        for part, block in enumerate(_coded(self.source, codings, job.untouched)):
            codes = [block[f"code{place}"].to_numpy() for place in range(len(codings))]
            payload = pl.DataFrame([block[name] for name in job.untouched])
            done = labels.publish(job, part, codes, payload)
            _mix(done, columns, mixed, many)
            seen, kept = seen + block.height, kept + done.table.height
            if progress is not None:
                progress("finishing", seen, job.rows)
        self._write(mixed, many)
        return kept

    def _write(self, mixed: DiskBuckets, many: int) -> None:
        """Write the release, pile by pile, each in the order of its rows' secret places."""
        from pyarrow import parquet

        writer = None
        try:
            for pile in range(many):
                rows = mixed.take(pile)
                if rows is None:
                    continue
                rows = rows[rows.to_series(-1).arg_sort(), :-1]
                table = pl.DataFrame([sanitized_series(series) for series in rows]).to_arrow()
                writer = writer or parquet.ParquetWriter(self.path, table.schema)
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()


def _mix(done: FinishedPart, columns: Sequence[str], mixed: DiskBuckets, many: int) -> None:
    """Put what is published of a part on piles by lot."""
    rows = pl.DataFrame([done.table[name] for name in columns])
    mixed.put(rows.with_columns(pl.Series("", done.place)), done.place % many)


def _coded(
    source: FileSource,
    codings: Sequence[Coding],
    payload: Sequence[str] = (),
    *,
    counted: bool = False,
) -> Iterator[pl.DataFrame]:
    """Yield a file in no certain order: the rows' codes, and columns as they are."""
    # Or its distinct tuples of codes, counted in a column `rows`.
    wanted, joins = [], []
    for place, coding in enumerate(codings):
        number, join, _ = source.ranked(coding.columns, coding.codes.astype(np.int64))
        wanted.append(f"{number}::INTEGER AS code{place}")
        joins.append(join)
    wanted += [f"{source.place(name)} AS held{place}" for place, name in enumerate(payload)]
    query = f"SELECT {', '.join(wanted)} FROM {source.table} {' '.join(joins)}"  # noqa: S608
    if counted:
        names = ", ".join(f"code{place}" for place in range(len(codings)))
        query = f"SELECT {names}, count(*) AS rows FROM ({query}) GROUP BY {names}"  # noqa: S608
        yield from source.stream(query)
        return
    for block in source.stream(query):
        codes = [block[f"code{place}"] for place in range(len(codings))]
        held = [
            _restored(block[f"held{place}"], source.types[name]).alias(name)
            for place, name in enumerate(payload)
        ]
        yield pl.DataFrame([*codes, *held])


def _restored(series: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Give a column its type back; categories stay text, for a file is written piece by piece."""
    return series if isinstance(dtype, pl.Enum | pl.Categorical) else series.cast(dtype)


# -----------------------------------------------------------------------------
# Rows put on piles, by number, on the disk; each pile is taken up again as a whole.


class DiskBuckets:
    """Piles of rows."""

    def __init__(self, folder: Path, name: str, wait: int) -> None:
        # `wait` rows are gathered before they are written: each writing touches all piles.
        self._folder, self._name, self._wait = folder, name, wait
        self._waiting: list[tuple[pl.DataFrame, Ints]] = []
        self._rows = 0

    def put(self, rows: pl.DataFrame, piles: Ints) -> None:
        """Put rows on piles, given by their numbers."""
        self._waiting.append((rows, piles))
        self._rows += rows.height
        if self._rows >= self._wait:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        rows = pl.concat([frame for frame, _ in self._waiting])
        piles = np.concatenate([numbers for _, numbers in self._waiting])
        self._waiting, self._rows = [], 0
        order = np.argsort(piles, kind="stable")
        rows, piles = rows[order], piles[order]
        edges = np.flatnonzero(np.diff(piles, prepend=-1)).tolist()
        table = rows.to_arrow()
        for begin, end in zip(edges, [*edges[1:], len(piles)], strict=True):
            # A stream of its own each time: no file need stay open, however many piles there are.
            with (
                self._path(int(piles[begin])).open("ab") as file,
                ipc.new_stream(file, table.schema) as stream,
            ):
                stream.write_table(table.slice(begin, end - begin))

    def take(self, pile: int) -> pl.DataFrame | None:
        """Take up a pile: it is gone then. None if nothing was put there."""
        self._write()
        path = self._path(pile)
        if not path.exists():
            return None
        tables: list[Any] = []
        with path.open("rb") as file:
            size = path.stat().st_size
            while file.tell() < size:
                tables.append(ipc.open_stream(file).read_all())
        path.unlink()
        return pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))

    def _path(self, pile: int) -> Path:
        return self._folder / f"{self._name}{pile}.arrow"
