"""A file that does not fit into memory, as a table that can be asked.

DuckDB counts and sorts it under a limit on its memory; what is over it puts into a folder of ours.
A file of text, or an Arrow file, is first rewritten there as Parquet, by our own rules of reading.

SQL here names columns by their positions: DuckDB takes `Age` and `age` for one name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.memory import parse_size
from wideberth.core.strings import is_text
from wideberth.engines.duckdb.coded import PackedKeys, code_column, fits_in_word, require_held
from wideberth.engines.duckdb.rewrite import as_parquet
from wideberth.errors import EngineError, ParameterError, TableError
from wideberth.io import file_format
from wideberth.io.formats import AGAIN, check_dates
from wideberth.io.scratch import disk_full_error, scratch_folder
from wideberth.policy.people import MAX_LOOKED_AT_VALUES, People, find_people_by_counts
from wideberth.policy.strays import (
    CALLED,
    CANDIDATES,
    ENDS,
    NonPersonRows,
    TableFacts,
    non_person_rows_by_facts,
)
from wideberth.principles.counts import COUNT, ENTRY, DistinctCounts, whole_groups

if TYPE_CHECKING:
    import duckdb


INSTALL_LARGE = "pip install 'wideberth[large]'"
#: What Python, polars, numba and DuckDB take before they have seen a row: 245 MB, measured.
_BASE = 256 * 2**20
#: Bytes that an entry of a block takes while it is judged, all copies included.
_PER_ENTRY = 256
#: How many rows are read at a time, fewer of wide ones: each batch is copied several times.
_BATCH, _LEAST_BATCH, _BATCHES = 1 << 17, 1 << 11, 64
#: What no column is called: the number of a row.
ROW_NUMBER_NAME = "\0number"
#: Bytes of memory that a thread of DuckDB should have.
_PER_THREAD = 96 * 2**20
#: What DuckDB says of a full disk, be it in the system's words or its own.
_FULL = ("No space left on device", "max_temp_directory_size", "Disk quota exceeded")
#: Bytes that a number of a digest takes until it is encoded and looked up, and any other cell.
_PER_NUMBER, _PER_CELL = 160, 320


class FileSource:
    """A file, opened by `FileSource`."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, types: dict[str, pl.DataType], memory: int
    ) -> None:
        # It knows the file as the view `source`. Types are as `wideberth.io.read` would give
        # them; memory is in bytes.
        self._connection = connection
        self.types = types
        self.memory = memory
        self._places = {name: f"t.c{i}" for i, name in enumerate(types)}
        self._digests: dict[tuple[str, ...], tuple[DistinctCounts, str]] = {}
        self._groupings: dict[tuple[str, ...], PackedKeys] = {}
        self._names = map("x{}".format, count())
        self.table = f"source AS t({', '.join(f'c{i}' for i in range(len(types)))})"

    @classmethod
    @contextmanager
    def opened(
        cls, path: str | Path, *, memory: int, options: io.ReadOptions | None = None
    ) -> Iterator[FileSource]:
        """Open a file, and leave nothing of it behind."""
        path = Path(path)
        require_to_read(memory, path)
        with ExitStack() as stack:
            folder = stack.enter_context(scratch_folder())
            held, types = as_parquet(path, folder, options, memory)
            connection = stack.enter_context(_connected(folder, memory))
            with translate_database_errors(path.name):
                # The name that DuckDB sees is ours: it would take others for patterns.
                connection.read_parquet(str(held), hive_partitioning=False).create_view("source")
                connection.read_parquet(
                    str(held), hive_partitioning=False, file_row_number=True
                ).create_view("numbered")
            source = cls(connection, types, memory)
            if not source.rows:
                raise TableError(f"{path.name} has no rows", hint=AGAIN)
            yield source

    def close(self) -> None:
        """Give back the memory that the database holds; after that, nothing more is read."""
        self._connection.close()

    @cached_property
    def width(self) -> int:
        """How many bytes a row holds, by the first ones."""
        first = f"SELECT * FROM {self.table} LIMIT 1000"  # noqa: S608 - no names of users
        with translate_database_errors():
            some = pl.DataFrame(pl.from_arrow(self._connection.sql(first).to_arrow_table()))
        return -(-int(some.estimated_size()) // max(some.height, 1))

    @cached_property
    def _batch(self) -> int:
        rows = self.memory // _BATCHES // max(self.width, 1)
        return max(min(rows, _BATCH), _LEAST_BATCH)

    @property
    def schema(self) -> pl.DataFrame:
        """The table without its rows."""
        return pl.DataFrame(schema=self.types)

    @cached_property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.row("SELECT count(*)")[0])

    @property
    def entries(self) -> int:
        """How many entries of histograms a block should have."""
        return max(1 << 14, min(1 << 20, (self.memory - _BASE) // 8 // _PER_ENTRY))

    def digest(self, columns: Sequence[str]) -> DistinctCounts:
        """Return the distinct combinations of values of some columns, counted."""
        return self.numbered(tuple(columns))[0]

    def people(self, **person: Sequence[str]) -> People | None:
        """Return the identifier that repeats; see `find_people_by_counts`."""
        names = list(self.types)
        places = ", ".join(map(self.place, names))
        return find_people_by_counts(
            self._framed(f"SELECT {places} FROM {self.table} LIMIT 1000", names),  # noqa: S608
            self._distinct,
            self.rows,
            self._some,
            **person,
        )

    def strays(self) -> NonPersonRows:
        """Return the rows that are no people; see `non_person_rows_by_facts`."""
        names = list(self.types)
        numbered = f"numbered AS t({', '.join(f'c{i}' for i in range(len(names)))}, number)"
        places = ", ".join(map(self.place, names))
        texts = [self.place(name) for name in names if is_text(self.types[name])]
        plain = [name for name in names if self.types[name].is_numeric()]
        fits = " OR ".join(f"regexp_matches({at}::VARCHAR, '{CALLED}')" for at in texts)
        called = self._framed(
            f"SELECT {places}, number FROM {numbered} "  # noqa: S608 - no names of users
            f"WHERE {fits or 'false'} ORDER BY number LIMIT {CANDIDATES}",
            [*names, None],
        )
        ends = self._framed(
            f"SELECT {places} FROM {numbered} "  # noqa: S608
            f"WHERE number >= {self.rows - 2 * ENDS} ORDER BY number",
            names,
        )
        void = " AND ".join(f"{self.place(name)} IS NULL" for name in names)
        (empty,) = self.row(f"SELECT count(*) FILTER (WHERE {void})") if len(names) > 1 else (0,)

        def nulls() -> dict[str, int]:
            listed = ", ".join(f"count(*) - count({self.place(name)})" for name in names)
            return dict(zip(names, map(int, self.row(f"SELECT {listed}")), strict=True))

        def sums(name: str) -> float | None:
            if name not in plain:
                return None
            (total,) = self.row(f"SELECT sum({self.place(name)}::DOUBLE)")
            return None if total is None else float(total)

        def many(name: str, text: str) -> int:
            lent = self.lent(pl.DataFrame({"v": [text]}))
            (found,) = self.row(
                f"SELECT count(*) FILTER (WHERE {self.place(name)}::VARCHAR = "  # noqa: S608
                f"(SELECT v FROM {lent}))"
            )
            return int(found)

        numbers = [int(number) + 1 for number in called.to_series(len(names))]
        return non_person_rows_by_facts(
            TableFacts(
                rows=self.rows,
                empty=int(empty),
                ends=ends,
                called=called[:, : len(names)],
                numbers=numbers,
                nulls=nulls,
                sums=sums,
                count=many,
            )
        )

    def _some(self, *names: str) -> pl.DataFrame:
        """Return columns of all rows that hold some values of the first one."""
        places = [self.place(name) for name in names]
        query = (
            f"SELECT {', '.join(places)} FROM {self.table} "  # noqa: S608
            f"WHERE hash({places[0]}) % {max(self.rows // MAX_LOOKED_AT_VALUES, 1)} = 0 "
            f"LIMIT {4 * MAX_LOOKED_AT_VALUES}"
        )
        return self._framed(query, names)

    def _framed(self, query: str, names: Sequence[str | None]) -> pl.DataFrame:
        """Return what a query finds, as columns of the table; None is a number of rows."""
        schema = {
            ROW_NUMBER_NAME if name is None else name: pl.Int64()
            if name is None
            else self.types[name]
            for name in names
        }
        found = [
            batch.rename(dict(zip(batch.columns, schema, strict=True)))
            for batch in self.stream(query)
        ]
        return pl.concat(found) if found else pl.DataFrame(schema=schema)

    def _distinct(self, name: str) -> tuple[int, int]:
        """Count the different values of a column, and the rows without one."""
        place = self.place(name)
        # Not count(DISTINCT …), which holds all values in memory.
        known = f"SELECT count(*) FROM (SELECT DISTINCT {place} FROM {self.table} "  # noqa: S608
        (many,) = self.only(f"{known}WHERE {place} IS NOT NULL)")
        (missing,) = self.row(f"SELECT count(*) - count({place})")
        return int(many), int(missing)

    def grouped(
        self, keys: Sequence[str], columns: Sequence[str] = (), entries: int | None = None
    ) -> Iterator[pl.DataFrame]:
        """Yield keys, columns and `count` in the order of the keys, no group in two blocks."""
        grouping = self.grouping(keys)
        digest = self.digest(columns) if columns else None
        for block in self.blocks(grouping, columns, entries=entries):
            made = grouping.values(block)
            if digest is not None:
                made = made.hstack(digest.frame[block[ENTRY]])
            yield made.with_columns(block[COUNT])

    def grouping(
        self, keys: Sequence[str], readable: Mapping[str, Any] | None = None
    ) -> PackedKeys:
        """Return what makes the groups; see `blocks`."""
        # `readable` are those whose text may be numbers or dates; see `GroupedTable.readable`.
        wanted, read = tuple(keys), readable or {}
        if wanted not in self._groupings:
            for name in wanted:
                require_held(name, self.types[name])
            self._groupings[wanted] = PackedKeys(
                {name: code_column(self, name, read) for name in wanted}
            )
        return self._groupings[wanted]

    def blocks(
        self,
        grouping: PackedKeys,
        columns: Sequence[str] = (),
        ranks: Ints | None = None,
        entries: int | None = None,
    ) -> Iterator[pl.DataFrame]:
        """Yield words of a grouping, `entry` if there are columns, and `count`, group by group."""
        # `ranks` has the number of each row of the columns' digest, by which entries of a group are
        # ordered; by default its position.
        words, joins = grouping.words(), [column.join for column in grouping.columns.values()]
        size, apart = 1, False
        if columns:
            expression, join, size = self.ranked(tuple(columns), ranks)
            joins.append(join)
            apart = not fits_in_word(grouping.spans[-1], size)
            if apart:
                words.append(expression)
            else:
                words[-1] = f"({words[-1]} * {size} + {expression})"
        names = [f"w{i}" for i in range(len(words))]
        listed = ", ".join(f"{w}::BIGINT AS {n}" for w, n in zip(words, names, strict=True))
        # Few combinations are counted in passing. Many are sorted, which is faster than to hash
        # them, and what is equal then comes together.
        few = grouping.combinations * size * 8 <= self.rows
        counted = f", count(*) AS {COUNT}" if few else ""
        query = (
            f"SELECT {listed}{counted} FROM {self.table} {' '.join(joins)} "  # noqa: S608
            f"{'GROUP BY ' + ', '.join(names) if few else ''} ORDER BY {', '.join(names)}"
        )
        frames = (
            _entries(frame, names, grouping, size if columns else 0, apart)
            for frame in _counted(_in_order(self.stream(query), names), names)
        )
        return whole_groups(frames, grouping.names, entries or self.entries)

    def ranked(self, columns: tuple[str, ...], ranks: Ints | None) -> tuple[str, str, int]:
        """Return the number of a row's values, what to join for it, and how many there are."""
        digest, table = self.numbered(columns)
        number = f"{table}.i"
        if ranks is not None:
            made, lent = (
                self.unused(),
                self.lent(pl.DataFrame({"i": np.arange(len(ranks)), "r": ranks})),
            )
            self.run(
                f"CREATE TABLE {made} AS SELECT {table}.*, {lent}.r "  # noqa: S608
                f"FROM {table} JOIN {lent} USING (i)"
            )
            table, number = made, f"{made}.r"
        same = [
            f"{self.place(name)} IS NOT DISTINCT FROM {table}.v{i}"
            for i, name in enumerate(columns)
        ]
        return number, f"JOIN {table} ON {' AND '.join(same)}", len(digest.counts)

    # What codings ask of the database.

    def place(self, name: str) -> str:
        """Return a column's name in SQL."""
        return self._places[name]

    def unused(self) -> str:
        """Return a name for a table."""
        return next(self._names)

    def run(self, statement: str) -> None:
        """Execute a statement."""
        with translate_database_errors():
            self._connection.execute(statement)

    def row(self, select: str) -> tuple[Any, ...]:
        """Return the only row of a query over the whole table."""
        return self.only(f"{select} FROM {self.table}")

    def only(self, query: str) -> tuple[Any, ...]:
        """Return the only row of a query."""
        with translate_database_errors():
            found: list[tuple[Any, ...]] = self._connection.sql(query).fetchall()
        return found[0]

    def stream(self, query: str) -> Iterator[pl.DataFrame]:
        """Return what a query finds, piece by piece."""
        size = self._batch
        with translate_database_errors():
            # Not by execute(), which would hold the whole result.
            for batch in self._connection.sql(query).to_arrow_reader(size):
                yield pl.DataFrame(pl.from_arrow(batch))

    def lent(self, frame: pl.DataFrame) -> str:
        """Show a frame to the database; return the table's name."""
        name = self.unused()
        self._connection.register(name, frame.to_arrow())
        return name

    def looked_up(self, table: str, codes: Ints) -> pl.Series:
        """Return the values behind ascending codes; beyond the last one, it is missing."""
        query = f"SELECT v FROM wanted LEFT JOIN {table} USING (code) ORDER BY wanted.code"  # noqa: S608
        # Beside the stream that may be open, in which only this one knows what is lent to it.
        with translate_database_errors(), self._connection.cursor() as beside:
            beside.register("wanted", pl.DataFrame({"code": codes}).to_arrow())
            found = pl.DataFrame(pl.from_arrow(beside.sql(query).to_arrow_table()))
        return found.to_series().alias("")

    def numbered(self, columns: tuple[str, ...]) -> tuple[DistinctCounts, str]:
        """Return a digest, and the table that numbers its rows in its column i."""
        if columns in self._digests:
            return self._digests[columns]
        for name in columns:
            require_held(name, self.types[name])
        table = self.unused()
        cells = [f"v{i}" for i in range(len(columns))]
        listed = ", ".join(f"{self.place(n)} AS {v}" for n, v in zip(columns, cells, strict=True))
        held = ", ".join(cells)
        self.run(
            f"CREATE TABLE {table} AS "  # noqa: S608 - no names of users
            f"SELECT row_number() OVER () - 1 AS i, {held}, n FROM "
            f"(SELECT {listed}, count(*) AS n FROM {self.table} GROUP BY {held})"
        )
        (distinct,) = self.only(f"SELECT count(*) FROM {table}")  # noqa: S608
        numbers = sum(self.types[name].is_numeric() for name in columns)
        needed = numbers * _PER_NUMBER + (len(columns) - numbers) * _PER_CELL
        if distinct * needed > self.memory - _BASE:
            raise EngineError(
                f"{' and '.join(columns)} hold {distinct:,} distinct values, which do not fit into "
                "the memory",
                hint="allow more memory",
            )
        query = f"SELECT {held}, n FROM {table} ORDER BY i"  # noqa: S608
        found = pl.concat(list(self.stream(query)), rechunk=True)
        series = [
            found[cell].cast(self.types[name]).alias(name)
            for cell, name in zip(cells, columns, strict=True)
        ]
        check_dates(pl.DataFrame(series), "the distinct values")
        digest = DistinctCounts(pl.DataFrame(series), found["n"].to_numpy().astype(np.int64))
        self._digests[columns] = digest, table
        return self._digests[columns]


def _in_order(frames: Iterator[pl.DataFrame], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Refuse a stream that is not in the order it was asked for: groups would fall apart."""
    last: tuple[int, ...] = ()
    for frame in frames:
        words = [frame[name].to_numpy() for name in names]
        tied = np.ones(max(frame.height - 1, 0), dtype=bool)
        wrong = False
        for word in words:
            wrong |= bool((tied & (word[1:] < word[:-1])).any())
            tied &= word[1:] == word[:-1]
        if frame.height:
            wrong |= tuple(int(word[0]) for word in words) < last
            last = tuple(int(word[-1]) for word in words)
        if wrong:
            raise EngineError("DuckDB returned rows out of order", hint="report this as a defect")
        yield frame


def _counted(frames: Iterator[pl.DataFrame], names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Count equal rows of a stream in order, also those that a seam between frames parts."""
    held: list[Ints] = [np.zeros(0, np.int64) for _ in names]
    many = 0  # of the last combination, which may go on in the next frame
    for frame in frames:
        if COUNT in frame.columns:
            yield frame
            continue
        words = [
            np.concatenate((last, frame[name].to_numpy()))
            for last, name in zip(held, names, strict=True)
        ]
        differs = np.zeros(max(len(words[0]) - 1, 0), dtype=bool)
        for word in words:
            differs |= word[1:] != word[:-1]
        begins = np.concatenate(([0], np.flatnonzero(differs) + 1))
        counts = np.diff(begins, append=len(words[0]))
        if many:
            counts[0] += many - 1  # it is there as one row
        yield _frame(names, [word[begins[:-1]] for word in words], counts[:-1])
        held, many = [word[-1:] for word in words], int(counts[-1])
    if many:
        yield _frame(names, held, np.array([many]))


def _frame(names: Sequence[str], words: Sequence[Ints], counts: Ints) -> pl.DataFrame:
    return pl.DataFrame({**dict(zip(names, words, strict=True)), COUNT: counts})


def _entries(
    frame: pl.DataFrame, names: Sequence[str], grouping: PackedKeys, size: int, apart: bool
) -> pl.DataFrame:
    """Part the entry from the key."""
    words = [frame[name].to_numpy() for name in names]
    entry: Ints | Codes | None = None
    if size:
        entry = words.pop() if apart else None
        if entry is None:
            words[-1], entry = np.divmod(words[-1], size)
    made: dict[str, Any] = dict(zip(grouping.names, words, strict=True))
    if entry is not None:
        made[ENTRY] = entry
    return pl.DataFrame({**made, COUNT: frame[COUNT]})


@contextmanager
def _connected(folder: Path, memory: int) -> Iterator[duckdb.DuckDBPyConnection]:
    try:
        import duckdb
    except ImportError:
        raise EngineError(
            "DuckDB is not installed, which reads large files", hint=INSTALL_LARGE
        ) from None
    limit = max(memory - _BASE, 0) // 2  # it takes somewhat more than it is told to
    connection = duckdb.connect(
        config={
            "memory_limit": f"{limit >> 10}KiB",
            "temp_directory": str(folder / "duckdb"),
            "threads": str(max(1, min(os.cpu_count() or 1, limit // _PER_THREAD))),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",  # a table is never taken from our variables
        }
    )
    try:
        yield connection
    finally:
        connection.close()


@contextmanager
def translate_database_errors(name: str = "the table") -> Iterator[None]:
    """Turn errors of the database into ours, without its own words: they may quote cells."""
    import duckdb

    try:
        yield
    except duckdb.OutOfMemoryException as error:
        if any(mark in str(error) for mark in _FULL):
            raise disk_full_error() from None
        raise EngineError(
            "the memory does not suffice", hint="allow more memory, or more room for spilling"
        ) from None
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except RuntimeError as error:
        if str(error) == "Query interrupted":  # what DuckDB makes of Ctrl-C
            raise KeyboardInterrupt from None
        raise
    except duckdb.Error as error:
        if any(mark in str(error) for mark in _FULL):
            raise disk_full_error() from None
        raise EngineError(
            f"DuckDB failed on {name} ({type(error).__name__})", hint="is the file damaged?"
        ) from None


# -----------------------------------------------------------------------------
# How much memory the work on a file may take.


#: Less is not enough: Python, polars and DuckDB take half of it before they have seen a row.
LEAST = 512 * 2**20
#: What a file takes that must be rewritten as Parquet, unless it is small: 694 MB, measured with
#: one million rows of 8 texts and 4 numbers (270 MB of CSV).
LEAST_TO_REWRITE = 768 * 2**20
_SMALL_FILE = 64 * 2**20
_PACKED = 8  # what a compressed file may grow by
#: What anonymize takes of a table that is not small: 970 MB of 3 million rows of 4 columns, 871 MB
#: of one million rows of 12 columns, measured.
LEAST_TO_ANONYMIZE = 2**30
#: Up to so many cells it takes less than `LEAST`. Measured with 4 columns: 469 MB of 50,000 rows,
#: 563 MB of 175,000.
_SMALL = 300_000
_BLOCK = 256


def limit_of(memory: str | int) -> int:
    """Return a limit in bytes.

    >>> limit_of("2GB")
    2147483648
    """
    if isinstance(memory, bool) or not isinstance(memory, str | int):
        raise ParameterError(
            f"memory must be an amount such as 2GB, not {type(memory).__name__}", hint="2GB"
        )
    limit = parse_size(memory) if isinstance(memory, str) else memory
    if limit < LEAST:
        raise ParameterError(
            f"{memory} of memory are not enough: the least is {LEAST >> 20}MB", hint="2GB"
        )
    return limit


def require_to_read(limit: int, path: Path) -> None:
    """Raise unless a file, which is rewritten if it is not Parquet, can be read within a limit."""
    if limit >= LEAST_TO_REWRITE or path.is_dir() or file_format(path) == "Parquet":
        return
    size = path.stat().st_size * (_PACKED if path.suffix.lower() == ".gz" else 1)
    if size > _SMALL_FILE:
        raise ParameterError(
            f"{limit >> 20}MB of memory are not enough to read {path.name}",
            hint=f"give at least {LEAST_TO_REWRITE >> 20}MB, or convert it to Parquet",
        )


def require_for_release(limit: int, rows: int, columns: int) -> None:
    """Raise unless a release of a table of this size can be made within a limit.

    >>> require_for_release(2**29, 1000, 4)
    >>> require_for_release(2**29, 3_000_000, 4)
    Traceback (most recent call last):
    wideberth.errors.ParameterError: 512MB of memory are not enough to anonymize 3,000,000 rows
      try: give at least 1GB
    """
    if limit < LEAST_TO_ANONYMIZE and rows * columns > _SMALL:
        what = f"{limit >> 20}MB of memory are not enough to anonymize {rows:,} rows"
        raise ParameterError(what, hint=f"give at least {LEAST_TO_ANONYMIZE >> 30}GB")


def for_distances(limit: int, max_memory: int | None) -> int:
    """Return how many megabytes distances may take of it at a time.

    >>> for_distances(2**31, None)
    256
    """
    return min(limit >> 23, max_memory or _BLOCK)
