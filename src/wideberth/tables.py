"""Tables in and out: CSV, Parquet and Arrow files, and any dataframe in memory.

Inside wideberth a table is a polars ``DataFrame`` in which null means missing. A CSV file
arrives as text, all of it: what a column *is* gets decided in :mod:`wideberth.schema`, where
"01234" can stay a postcode. Rows are counted from 1, the header not included.

What cannot be read is a ``TableError``, what cannot be written an ``OutputError``. They never
quote a cell, as the parsers' own errors do, which are therefore replaced (``from None``).
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import secrets
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import narwhals as nw
import polars as pl
import polars.selectors as cs
import pyarrow as pa

from wideberth.errors import OutputError, ParameterError, TableError

Back: TypeAlias = Callable[[pl.DataFrame], Any]

_FORMATS = (
    dict.fromkeys((".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"), "CSV")
    | dict.fromkeys((".parquet", ".pq"), "Parquet")
    | dict.fromkeys((".feather", ".arrow", ".ipc"), "Arrow")
)
# Occurs in no text, so that a line of a one-column file is one value, commas and all.
_NO_DELIMITER = "\x1f"
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_AGAIN = "export the table again"
_SAMPLE = 1 << 16
_BLOCK = 1 << 23  # pyarrow needs a row to lie within two blocks


class TableWarning(UserWarning):
    """A table that could be read, but only by assuming something about it."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    r"""How to read a CSV file; other formats need none of it.

    Parameters
    ----------
    delimiter : str, optional
        One character, or ``\t`` spelled out. By default whichever of comma, semicolon, tab
        and bar splits the first rows into equally many fields.
    encoding : str, optional
        By default UTF-8 or UTF-16 by their byte order mark, else UTF-8, else Windows-1252
        with a :class:`TableWarning`.
    missing : tuple of str
        What stands for a missing value, blanks around it ignored, quoted or not.
    """

    delimiter: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ("?", "", "NA")


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
        suffix, form = _format(path, TableError)
        if not size:
            raise TableError(f"{path.name} is empty", hint=_AGAIN)
        if form == "CSV":
            frame = _read_csv(path, suffix, options or ReadOptions())
        else:  # an open file: polars would take a path for a pattern
            with path.open("rb") as file:
                frame = pl.read_parquet(file) if form == "Parquet" else pl.read_ipc(file)
    _check_names(frame.columns, path.name)
    if not frame.height:
        raise TableError(f"{path.name} has no rows", hint=_AGAIN)
    return frame


def write(frame: pl.DataFrame, path: str | Path, *, force: bool = False) -> None:
    """Write a table, its format told by the suffix, all of it or nothing.

    Parameters
    ----------
    frame : polars.DataFrame
        The table; in CSV a missing value becomes an empty field.
    path : str or Path
        Where to; the suffixes are those of :func:`read`.
    force : bool
        Whether to replace a file that exists.
    """
    suffix, form = _format(Path(path), OutputError)
    for series in frame if form == "CSV" else ():
        if series.dtype.is_nested():
            what = f"column {series.name!r} holds lists, which a CSV file cannot"
            raise OutputError(what, hint="write a .parquet file")
    with _replacing(Path(path), force) as file:
        if form == "Parquet":
            frame.write_parquet(file)
        elif form == "Arrow":
            frame.write_ipc(file)
        else:
            data = frame.write_csv(separator="\t" if ".tsv" in suffix else ",").encode()
            # Without a time stamp the same table is the same file.
            file.write(gzip.compress(data, mtime=0) if suffix.endswith(".gz") else data)


def write_text(text: str, path: str | Path, *, force: bool = False) -> None:
    """Write a text file in UTF-8, all of it or nothing; see :func:`write`."""
    with _replacing(Path(path), force) as file:
        file.write(text.encode())


def check_target(path: str | Path, *, force: bool = False) -> None:
    """Raise now the :class:`OutputError` that writing would raise later, after the work."""
    path = Path(path)
    if path.exists() and not path.is_file():  # renaming onto a device would remove it
        what = "a directory" if path.is_dir() else "not a regular file"
        raise OutputError(f"{path} is {what}", hint="name a file")
    if path.exists() and not force:
        raise OutputError(f"{path} exists", hint="choose another name, or replace it with --force")
    if not path.parent.is_dir():
        raise OutputError(f"there is no directory {path.parent}", hint="create it first")


def adopt(frame: object) -> tuple[pl.DataFrame, Back]:
    """Take in a table from memory, and remember what kind it was.

    Parameters
    ----------
    frame : object
        A pandas, polars (eager or lazy) or pyarrow table, or another that narwhals knows.
        An index is ignored. NaN means missing in pandas, and stays NaN elsewhere.

    Returns
    -------
    table : polars.DataFrame
        At least one row and one column.
    back : callable
        Turns a polars table into the caller's kind; a lazy table comes back eager.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table, back = adopt(pa.table({"age": [21, 22]}))
    >>> back(table.head(1)).to_pydict()
    {'age': [21]}
    """
    # Ahead of narwhals, which would report duplicate names without their positions.
    native: Any = nw.to_native(frame, pass_through=True)
    if isinstance(native, pa.Table):
        _check_names(native.column_names, "the table")
    elif nw.dependencies.is_pandas_like_dataframe(native):
        _check_names(list(native.columns), "the table")
    try:
        known = nw.from_native(native)
    except TypeError:
        what = f"expected a pandas, polars or pyarrow table, got {type(frame).__name__}"
        raise TableError(what, hint="build a dataframe, or name a file") from None
    eager = known.collect("polars") if isinstance(known, nw.LazyFrame) else known
    _check_names(eager.columns, "the table")
    if not eager.columns or not len(eager):
        what = "rows" if eager.columns else "columns"
        raise TableError(f"the table has no {what}", hint="check how it was made")
    adopted, kind = _to_polars(eager), eager.implementation
    if kind.is_polars():
        return adopted, lambda table: table
    if kind.is_pandas_like():
        adopted = adopted.with_columns(cs.float().fill_nan(None))
    backend = cast("Any", kind)
    return adopted, lambda table: nw.from_arrow(table.to_arrow(), backend=backend).to_native()


def _to_polars(frame: nw.DataFrame[Any]) -> pl.DataFrame:
    panic = pl.exceptions.PanicException  # not even an Exception
    refusals = (pa.ArrowException, pl.exceptions.PolarsError, TypeError, ValueError, OverflowError)
    with suppress(*refusals, panic):
        table = frame.to_polars()
        if pl.Object not in table.dtypes:
            return table
    for position in range(frame.shape[1] if frame.shape[1] > 1 else 0):
        _to_polars(frame[:, [position]])  # raises at the first that is to blame
    what = f"column {frame.columns[0]!r} holds values of mixed or unsupported types"
    raise TableError(what, hint="make them all numbers or all text")


def _check_names(names: Sequence[object], where: str) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        if not isinstance(name, str):
            what = f"column {position} of {where} is named by {type(name).__name__}, not by text"
        elif not name.strip():
            what = f"column {position} of {where} has no name"
        elif name in seen:
            what = f"columns {seen[name]} and {position} of {where} are both named {name!r}"
        else:
            seen[name] = position
            continue
        raise TableError(what, hint="give every column a name of its own")


def _format(path: Path, error: type[TableError | OutputError]) -> tuple[str, str]:
    suffix = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else [path.suffix]).lower()
    if suffix not in _FORMATS:
        hint = f"use {', '.join(_FORMATS)}"
        raise error(f"{path.name} has the unknown suffix {suffix!r}", hint=hint)
    return suffix, _FORMATS[suffix]


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
        raise TableError(what, hint=_AGAIN) from None


@contextmanager
def _replacing(path: Path, force: bool) -> Iterator[IO[bytes]]:
    """Yield a new file beside `path` that takes its place only when complete."""
    check_target(path, force=force)
    target = Path(os.path.realpath(path))  # a link stays a link
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        what = f"{path} cannot be written: {error.strerror or type(error).__name__}"
        raise OutputError(what, hint="check the disk and the permissions") from None
    finally:
        draft.unlink(missing_ok=True)


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))


def _read_csv(path: Path, suffix: str, options: ReadOptions) -> pl.DataFrame:
    with _open(path) as file:
        sample = file.read(_SAMPLE)
    bom = next((name for mark, name in _BOMS.items() if sample.startswith(mark)), None)
    known = _known(options.encoding) or bom
    delimiter = "\t" if ".tsv" in suffix and not options.delimiter else options.delimiter
    try:
        table = _parse(path, _dialect(path, sample, known or "utf-8", delimiter))
    except UnicodeError as failure:
        what = f"line {failure} of {path.name} is not valid {known or 'UTF-8'}"
        if known or _undecodable_line(path, "cp1252"):
            raise TableError(what, hint="give its true encoding (--encoding)") from None
        what += ": read as Windows-1252; --encoding cp1252 confirms that"
        warnings.warn(what, TableWarning, stacklevel=3)
        table = _parse(path, _dialect(path, sample, "cp1252", delimiter))
    names = [column[0].as_py().strip() for column in table.columns]
    _check_names(names, path.name)
    tokens = [token.strip() for token in options.missing]
    # Named last: polars would take a name such as "^a$" for a pattern.
    columns = (cast("pl.Series", pl.from_arrow(column)) for column in table.slice(1).columns)
    blanked = [text.set(text.str.strip_chars().is_in(tokens), None) for text in columns]
    return pl.DataFrame(dict(zip(names, blanked, strict=True)))


def _known(encoding: str | None) -> str | None:
    try:
        "a".encode(encoding or "utf-8")  # unlike codecs.lookup, refuses hex and the like
    except (LookupError, ValueError):
        what = f"there is no encoding {encoding!r}"
        raise TableError(what, hint="utf-8, utf-16, cp1252 and latin-1 are common") from None
    return encoding


@dataclass(frozen=True)
class _Dialect:
    delimiter: str
    encoding: str
    width: int  # fields in the header


def _dialect(path: Path, sample: bytes, encoding: str, delimiter: str | None) -> _Dialect:
    whole = len(sample) < _SAMPLE
    text = sample.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not text.strip():
        raise TableError(f"{path.name} is empty", hint=_AGAIN)
    chosen = _detect(text, whole) if delimiter is None else delimiter.replace("\\t", "\t")
    if len(chosen) != 1 or not chosen.isascii() or chosen in '"\r\n':
        raise ParameterError(f"{delimiter!r} cannot be a delimiter", hint="use one ASCII character")
    widths = _widths(text, chosen, whole)
    if whole and len(widths) == 1:
        raise TableError(f"{path.name} has a header but no rows", hint=_AGAIN)
    return _Dialect(chosen, encoding, widths[0])


def _detect(text: str, whole: bool) -> str:
    def merit(delimiter: str) -> tuple[bool, int]:
        widths = _widths(text, delimiter, whole)
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    best = max(",;\t|", key=merit)  # the first of equals
    return best if merit(best)[1] > 1 else _NO_DELIMITER


def _widths(text: str, delimiter: str, whole: bool) -> list[int]:
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    widths = [len(record) for record in records if record]
    return widths if whole else widths[:-1] or widths  # the last may be cut off


def _parse(path: Path, dialect: _Dialect) -> pa.Table:
    try:
        table = _arrow(path, dialect)
        if table.num_columns == dialect.width and not _unclosed(path, table):
            return table
    except (pa.ArrowInvalid, UnicodeError):
        if line := _undecodable_line(path, dialect.encoding):
            raise UnicodeError(line) from None
    ragged: list[str] = []

    def note(row: Any) -> str:
        ragged.append(f"row {row.number - 1} of {path.name} has {row.actual_columns} fields")
        return "skip"

    with suppress(pa.ArrowInvalid):
        _arrow(path, dialect, note)
    if not ragged:
        what = f"{path.name} cannot be split into rows"
        raise TableError(what, hint="look for a quote that is never closed")
    hint = "count rows after the header, and quote fields that hold the delimiter"
    raise TableError(f"{ragged[0]}, the header has {dialect.width}", hint=hint)


def _arrow(path: Path, dialect: _Dialect, note: Callable[[Any], str] | None = None) -> pa.Table:
    from pyarrow import csv as arrow

    return arrow.read_csv(
        pa.input_stream(str(path), compression="gzip" if path.suffix.lower() == ".gz" else None),
        arrow.ReadOptions(
            autogenerate_column_names=True,  # the header is a row, so that we see duplicates
            encoding=dialect.encoding,
            block_size=_BLOCK,
            use_threads=note is None,  # rows are numbered only in one thread
        ),
        arrow.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=True,
            ignore_empty_lines=dialect.width > 1,  # in a single column it is a missing value
            invalid_row_handler=note,
        ),
        arrow.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(dialect.width)}),
    )


def _unclosed(path: Path, table: pa.Table) -> bool:
    # pyarrow takes all that follows an open quote for the last cell, without a word.
    multiline = not {"\n", "\r"}.isdisjoint(table.columns[-1][-1].as_py())
    with _open(path) as file:
        return multiline and not file.read().rstrip(b"\r\n\0").endswith(b'"')


def _undecodable_line(path: Path, encoding: str) -> int | None:
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with _open(path) as file:
        try:
            for raw in file:
                line += decoder.decode(raw).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeError:
            return line
    return None
