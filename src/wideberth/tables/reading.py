"""Files as polars tables."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from wideberth.errors import TableError
from wideberth.tables.delimited import ReadOptions, read_csv
from wideberth.tables.formats import AGAIN, check_names, format_of


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
        size = path.stat().st_size
        if path.is_dir():
            raise TableError(f"{path} is a directory", hint="name one file in it")
        suffix, form = format_of(path, TableError)
        if not size:
            raise TableError(f"{path.name} is empty", hint=AGAIN)
        if form == "CSV":
            frame = read_csv(path, suffix, options or ReadOptions())
        else:  # an open file: polars would take a path for a pattern
            with path.open("rb") as file:
                frame = pl.read_parquet(file) if form == "Parquet" else pl.read_ipc(file)
    check_names(frame.columns, path.name)
    if not frame.height:
        raise TableError(f"{path.name} has no rows", hint=AGAIN)
    return frame


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
