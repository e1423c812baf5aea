"""Files as polars tables."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa

from wideberth.core.notation import formats_by_column, rewritten, rewritten_piece
from wideberth.errors import TableError
from wideberth.io.arrow import (
    inspect,
    open_typed_file,
    ordered_categories,
    require_no_extension_types,
    require_texts_fit,
    require_unpacked,
    sound_batches,
)
from wideberth.io.csv import ReadOptions, csv_batches, csv_header, read_csv
from wideberth.io.formats import AGAIN, check_dates, format_of, require_unique_names

#: How many rows of a typed file are read at a time.
_ROWS = 1 << 17


def read(path: str | Path, options: ReadOptions | None = None) -> pl.DataFrame:
    """Read a table of at least one row, in the format that the suffix names."""
    path, options = Path(path), options or ReadOptions()
    with _reading(path):
        suffix, form = _looked_at(path)
        if form == "CSV":
            frame = read_csv(path, suffix, options)
        else:
            with path.open("rb") as file:  # open: polars would take a path for a pattern
                inspect(path, form)
                frame = pl.read_parquet(file) if form == "Parquet" else pl.read_ipc(file)
            frame = frame.cast(_in_order(path, form, frame.schema))  # type: ignore[arg-type]
    require_unique_names(frame.columns, path.name)
    require_no_extension_types(frame.schema, path)
    if form != "CSV":
        require_texts_fit(frame, path, form)
    check_dates(frame, path.name)
    if not frame.height:
        raise TableError(f"{path.name} has no rows", hint=AGAIN)
    return in_formats(frame, options)


def in_formats(frame: pl.DataFrame, options: ReadOptions) -> pl.DataFrame:
    """Read the columns of text whose notation is known as numbers or dates; others stay."""
    return rewritten(frame, formats_by_column(options.formats, frame.columns), made=options.made)


def file_format(path: str | Path) -> str:
    """Return the format of a file that is there and has something in it: CSV, Parquet or Arrow."""
    path = Path(path)
    with _reading(path):
        return _looked_at(path)[1]


def batches(
    path: str | Path, options: ReadOptions | None = None, *, memory: int | None = None
) -> Iterator[pl.DataFrame]:
    """Read a table piece by piece: one after the other, they are what `read` returns."""
    # Of a file of text, all columns are plain text, but dates whose notation is known. A table
    # without rows has no pieces. memory: bytes; an Arrow file whose batches need more is refused.
    path, options = Path(path), options or ReadOptions()
    formats = {} if options.made else options.formats
    rows = 0
    for piece in _pieces(path, options, memory):
        if rows == 0:
            formats = formats_by_column(formats, piece.columns)
        yield rewritten_piece(piece, formats, rows) if formats else piece
        rows += piece.height


def _pieces(path: Path, options: ReadOptions, memory: int | None) -> Iterator[pl.DataFrame]:
    with _reading(path):
        suffix, form = _looked_at(path)
        if form == "CSV":
            yield from csv_batches(path, suffix, options)
            return
        types = column_types(path)
        require_unique_names(list(types), path.name)
        if form == "Arrow":
            require_unpacked(path, memory)
        for piece in _arrow_pieces(path, form):
            made = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([piece])))
            check_dates(made, f"a part of {path.name}")
            yield made.cast(types)  # type: ignore[arg-type]


def _arrow_pieces(path: Path, form: str) -> Iterator[pa.RecordBatch]:
    with open_typed_file(path, form) as file:
        if form == "Parquet":
            yield from file.iter_batches(_ROWS)
            return
        for batch in sound_batches(file):  # a batch of a file may be all of it
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


def column_types(path: str | Path, *, ordered: bool = True) -> dict[str, pl.DataType]:
    """Return the types of a file's columns without reading the rest; none of a file of text."""
    # ordered: ordered categories of pandas and pyarrow are an ``Enum``, as `read` has them.
    path = Path(path)
    with _reading(path):
        form = format_of(path, TableError)[1]
        if form == "CSV" or not path.is_file() or not path.stat().st_size:  # see `read`
            return {}
        inspect(path, form, whole=False)
        with path.open("rb") as file:
            read_schema = pl.read_parquet_schema if form == "Parquet" else pl.read_ipc_schema
            types = dict(read_schema(file))
        require_no_extension_types(types, path)
        return types | _in_order(path, form, types) if ordered else types


def _in_order(path: Path, form: str, types: Mapping[str, pl.DataType]) -> dict[str, pl.Enum]:
    """Return the types of the columns that have ordered categories."""
    if not any(isinstance(kind, pl.Categorical) for kind in types.values()):
        return {}
    found = ordered_categories(path, form)
    return {name: kind for name, kind in found.items() if isinstance(types[name], pl.Categorical)}


def column_names(path: str | Path) -> list[str]:
    """Return the names of a file's columns without reading the rest."""
    path = Path(path)
    with _reading(path):
        if path.is_dir():
            raise _no_file(path)
        suffix, form = format_of(path, TableError)
        if form == "CSV":
            return csv_header(path, suffix, ReadOptions())
    return list(column_types(path))


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
    except (
        OSError,
        EOFError,
        UnicodeError,
        zlib.error,
        pa.ArrowException,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ):
        what = f"{path.name} is damaged, or not what its suffix says"
        raise TableError(what, hint=AGAIN) from None
