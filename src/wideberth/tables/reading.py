"""Files as polars tables."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa

from wideberth.errors import TableError
from wideberth.tables.delimited import ReadOptions, csv_batches, csv_header, read_csv
from wideberth.tables.formats import AGAIN, check_names, format_of

#: How many rows of a typed file are read at a time.
_ROWS = 1 << 17


def read(path: str | Path, options: ReadOptions | None = None) -> pl.DataFrame:
    """Read a table of at least one row, its format told by the suffix.

    Parameters
    ----------
    path : str or Path
        A ``.csv``, ``.tsv``, ``.txt`` (each also with ``.gz``), ``.parquet``, ``.pq``,
        ``.feather``, ``.arrow`` or ``.ipc`` file.
    options : ReadOptions, optional
        Delimiter, encoding and missing values of a CSV file, whose columns all become text.
    """
    path = Path(path)
    with _reading(path):
        suffix, form = _looked_at(path)
        if form == "CSV":
            frame = read_csv(path, suffix, options or ReadOptions())
        else:  # an open file: polars would take a path for a pattern
            with path.open("rb") as file:
                frame = pl.read_parquet(file) if form == "Parquet" else pl.read_ipc(file)
    check_names(frame.columns, path.name)
    if not frame.height:
        raise TableError(f"{path.name} has no rows", hint=AGAIN)
    return frame


def form_of(path: str | Path) -> str:
    """Return the format of a file that is there and has something in it: CSV, Parquet or Arrow."""
    path = Path(path)
    with _reading(path):
        return _looked_at(path)[1]


def batches(path: str | Path, options: ReadOptions | None = None) -> Iterator[pl.DataFrame]:
    """Read a table piece by piece: one after the other, they are what `read` returns.

    Of a file of text, all columns are plain text. A table without rows has no pieces.
    """
    path = Path(path)
    with _reading(path):
        suffix, form = _looked_at(path)
        if form == "CSV":
            yield from csv_batches(path, suffix, options or ReadOptions())
            return
        types = types_of(path)
        check_names(list(types), path.name)
        try:
            for piece in _arrow_pieces(path, form):
                made = pl.from_arrow(pa.Table.from_batches([piece]))
                yield pl.DataFrame(made).cast(types)  # type: ignore[arg-type]
        except pa.ArrowException:
            raise OSError from None


def _arrow_pieces(path: Path, form: str) -> Iterator[pa.RecordBatch]:
    if form == "Parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            yield from file.iter_batches(_ROWS)
        return
    with pa.memory_map(str(path)) as mapped:  # a batch of a file may be all of it
        file = pa.ipc.open_file(mapped)
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            for begin in range(0, batch.num_rows, _ROWS):
                yield batch.slice(begin, _ROWS)


def _looked_at(path: Path) -> tuple[str, str]:
    """Return suffix and format of a file that is there and has something in it."""
    size = path.stat().st_size
    if path.is_dir():
        raise _no_file(path)
    suffix, form = format_of(path, TableError)
    if not size:
        raise TableError(f"{path.name} is empty", hint=AGAIN)
    return suffix, form


def types_of(path: str | Path) -> dict[str, pl.DataType]:
    """Return the types of a file's columns without reading the rest; of a file of text, none."""
    path = Path(path)
    with _reading(path):
        form = format_of(path, TableError)[1]
        if form == "CSV" or not path.is_file() or not path.stat().st_size:  # see `read`
            return {}
        with path.open("rb") as file:
            read_schema = pl.read_parquet_schema if form == "Parquet" else pl.read_ipc_schema
            return dict(read_schema(file))


def names_of(path: str | Path) -> list[str]:
    """Return the names of a file's columns without reading the rest."""
    path = Path(path)
    with _reading(path):
        if path.is_dir():
            raise _no_file(path)
        suffix, form = format_of(path, TableError)
        if form == "CSV":
            return csv_header(path, suffix, ReadOptions())
    return list(types_of(path))


def _no_file(path: Path) -> TableError:
    hint = "name one file in it"
    if any(path.glob("*.parquet")):  # as Spark writes it: a table is all of them together
        hint = '--memory 2GB, or memory="2GB", which takes a folder of Parquet files as one table'
    return TableError(f"{path} is a directory", hint=hint)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"there is no file {path}", hint="check the path") from None
    except PermissionError:
        raise TableError(f"{path} may not be read", hint="ask for permission") from None
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        what = f"{path.name} is damaged, or not what its suffix says"
        raise TableError(what, hint=AGAIN) from None
