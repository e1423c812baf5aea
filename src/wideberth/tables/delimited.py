"""CSV and its kin: which dialect a file speaks, its cells as text, what counts as missing."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

import polars as pl
import pyarrow as pa

from wideberth.errors import ParameterError, TableError
from wideberth.tables.formats import AGAIN, check_names
from wideberth.words import words

# Occurs in no text, so that a line of a one-column file is one value, commas and all.
_NO_DELIMITER = "\x1f"
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SAMPLE = 1 << 16
_BLOCK = 1 << 23  # pyarrow needs a row to lie within two blocks
#: What pandas calls the nameless first column that it and R write: the names of rows.
ROW_NAMES = "Unnamed: 0"
_WORDS = pa.dictionary(pa.int32(), pa.string())


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


def read_csv(path: Path, suffix: str, options: ReadOptions) -> pl.DataFrame:
    """Read a file of delimited text, in which the first row is the header."""
    sample, known, delimiter = _first_look(path, suffix, options)
    try:
        table = _parse(path, _dialect(path, sample, known or "utf-8", delimiter))
    except UnicodeError as failure:
        encoding = _instead(path, known, failure)
        table = _parse(path, _dialect(path, sample, encoding, delimiter))
    names = _names(path, table)
    columns = []
    while table.num_columns:  # one at a time, so that no more than one is held twice
        columns.append(_column(table.column(0).slice(1), options))
        table = table.remove_column(0)
    pa.default_memory_pool().release_unused()  # it would keep what it has no more use for
    # Named last: polars would take a name such as "^a$" for a pattern.
    return pl.DataFrame([text.alias(name) for text, name in zip(columns, names, strict=True)])


def csv_batches(path: Path, suffix: str, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Read such a file a piece at a time: the same cells, but every column as plain text.

    What is wrong with a file may show only when some of it has been read.
    """
    sample, known, delimiter = _first_look(path, suffix, options)
    encoding = known or "utf-8"
    if not _decodes(path, encoding):
        line = _undecodable_line(path, encoding) or 1
        encoding = _instead(path, known, UnicodeError(line))
    dialect = _dialect(path, sample, encoding, delimiter)
    names: list[str] = []
    last = ""
    try:
        for batch in _stream(path, dialect):
            table = pa.Table.from_batches([batch])
            if table.num_columns != dialect.width:
                raise _unsplit(path, dialect)
            if not table.num_rows:
                continue
            last = table.columns[-1][-1].as_py()
            if not names:
                names = _names(path, table)
                table = table.slice(1)
            columns = [_column(cells, options) for cells in table.columns]
            # Named last: polars would take a name such as "^a$" for a pattern.
            yield pl.DataFrame([t.alias(name) for t, name in zip(columns, names, strict=True)])
    except pa.ArrowInvalid:
        raise _unsplit(path, dialect) from None
    if _unclosed(path, last):
        raise _unsplit(path, dialect)


def csv_header(path: Path, suffix: str, options: ReadOptions) -> list[str]:
    """Read the names of the columns alone."""
    sample, known, delimiter = _first_look(path, suffix, options)
    return [name.strip() for name in _dialect(path, sample, known or "utf-8", delimiter).header]


def _first_look(
    path: Path, suffix: str, options: ReadOptions
) -> tuple[bytes, str | None, str | None]:
    """Return how a file begins, and its encoding and delimiter as far as they are known."""
    with _open(path) as file:
        sample = file.read(_SAMPLE)
    bom = next((name for mark, name in _BOMS.items() if sample.startswith(mark)), None)
    delimiter = "\t" if ".tsv" in suffix and not options.delimiter else options.delimiter
    return sample, _known(options.encoding) or bom, delimiter


def _names(path: Path, table: pa.Table) -> list[str]:
    """Return the names in a table's first row, if every column has one of its own."""
    names = [column[0].as_py().strip() for column in table.columns]
    names[0] = names[0] or ROW_NAMES
    check_names(names, path.name)
    return names


def _instead(path: Path, known: str | None, failure: UnicodeError) -> str:
    """Return the encoding of a file that is not in the one it seemed to be in."""
    what = f"line {failure} of {path.name} is not valid {known or 'UTF-8'}"
    if known or _undecodable_line(path, "cp1252"):
        raise TableError(what, hint="give its true encoding (--encoding)") from None
    what += ": read as Windows-1252; --encoding cp1252 confirms that"
    warnings.warn(what, TableWarning, stacklevel=4)
    return "cp1252"


def _column(cells: pa.ChunkedArray, options: ReadOptions) -> pl.Series:
    """Turn the cells of a column into text, or into words where values recur."""
    if not pa.types.is_dictionary(cells.type):
        return _blanked(cast("pl.Series", pl.from_arrow(cells)).rechunk(), options)
    packed = cells.unify_dictionaries().combine_chunks()
    texts = cast("pl.Series", pl.from_arrow(packed.dictionary))
    codes = cast("pl.Series", pl.from_arrow(packed.indices))
    return words(_blanked(texts, options), codes)


def _blanked(text: pl.Series, options: ReadOptions) -> pl.Series:
    """Make null what stands for a missing value, blanks around it or not."""
    tokens = [token.strip() for token in options.missing]
    cell = pl.col("")
    # Stripping every cell would take longer than reading them all. Only those can become a token
    # that begin with one, or with a blank: those are below "!" or above "~", or there is no text.
    suspect = (cell < "!") | (cell > "~")
    for token in filter(None, tokens):
        suspect |= cell.str.starts_with(token)
    text = text.alias("")
    rows = text.to_frame().select(suspect).to_series().arg_true()
    blank = rows.filter(text.gather(rows).str.strip_chars().is_in(tokens))
    if blank.is_empty():
        return text
    mask = pl.zeros(len(text), pl.Boolean, eager=True).scatter(blank, True)
    return text.set(mask, None)


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
    header: tuple[str, ...]
    recurring: tuple[int, ...] = ()  # columns whose values recur

    @property
    def width(self) -> int:
        return len(self.header)


def _dialect(path: Path, sample: bytes, encoding: str, delimiter: str | None) -> _Dialect:
    whole = len(sample) < _SAMPLE
    text = sample.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not text.strip():
        raise TableError(f"{path.name} is empty", hint=AGAIN)
    chosen = _detect(text, whole) if delimiter is None else delimiter.replace("\\t", "\t")
    if len(chosen) != 1 or not chosen.isascii() or chosen in '"\r\n':
        raise ParameterError(f"{delimiter!r} cannot be a delimiter", hint="use one ASCII character")
    records = _records(text, chosen, whole)
    if whole and len(records) == 1:
        raise TableError(f"{path.name} has a header but no rows", hint=AGAIN)
    width = len(records[0])
    recurring = () if whole else _recurring([r for r in records[1:] if len(r) == width])
    return _Dialect(chosen, encoding, tuple(records[0]), recurring)


def _recurring(records: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Which columns of a long file, by its first rows, hold values that occur again and again."""
    columns = enumerate(zip(*records, strict=True))
    return tuple(i for i, cells in columns if 2 * len(set(cells)) < len(cells))


def _detect(text: str, whole: bool) -> str:
    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(record) for record in _records(text, delimiter, whole)]
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    best = max(",;\t|", key=merit)  # the first of equals
    return best if merit(best)[1] > 1 else _NO_DELIMITER


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records = [record for record in read if record]
    return records if whole else records[:-1] or records  # the last may be cut off


def _parse(path: Path, dialect: _Dialect) -> pa.Table:
    try:
        table = _arrow(path, dialect)
        last = table.columns[-1][-1].as_py()
        if table.num_columns == dialect.width and not _unclosed(path, last):
            return table
    except (pa.ArrowInvalid, UnicodeError):
        if line := _undecodable_line(path, dialect.encoding):
            raise UnicodeError(line) from None
    raise _unsplit(path, dialect)


def _unsplit(path: Path, dialect: _Dialect) -> TableError:
    """Say what keeps a file from being split into rows of equally many fields."""
    ragged: list[str] = []

    def note(row: Any) -> str:
        ragged.append(f"row {row.number - 1} of {path.name} has {row.actual_columns} fields")
        return "skip"

    with suppress(pa.ArrowInvalid):
        for _ in _stream(path, dialect, note):
            if ragged:
                break
    if not ragged:
        what = f"{path.name} cannot be split into rows"
        return TableError(what, hint="look for a quote that is never closed")
    hint = "count rows after the header, and quote fields that hold the delimiter"
    return TableError(f"{ragged[0]}, the header has {dialect.width}", hint=hint)


def _arrow(path: Path, dialect: _Dialect) -> pa.Table:
    from pyarrow import csv as arrow

    return arrow.read_csv(*_how(path, dialect))


def _stream(
    path: Path, dialect: _Dialect, note: Callable[[Any], str] | None = None
) -> Iterator[pa.RecordBatch]:
    """Read in one thread, a block at a time; `note` is told of rows with too many fields."""
    from pyarrow import csv as arrow

    with arrow.open_csv(*_how(path, replace(dialect, recurring=()), note)) as batches:
        yield from batches


def _how(
    path: Path, dialect: _Dialect, note: Callable[[Any], str] | None = None
) -> tuple[Any, Any, Any, Any]:
    """Return what pyarrow must know to read a file of a dialect."""
    from pyarrow import csv as arrow

    return (
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
        arrow.ConvertOptions(
            column_types={
                f"f{i}": _WORDS if i in dialect.recurring else pa.string()
                for i in range(dialect.width)
            }
        ),
    )


def _unclosed(path: Path, cell: str) -> bool:
    # pyarrow takes all that follows an open quote for the last cell, without a word.
    if {"\n", "\r"}.isdisjoint(cell):
        return False
    end = b""
    with _open(path) as file:
        while piece := file.read(_BLOCK):
            end = (end + piece).rstrip(b"\r\n\0")[-1:]
    return end != b'"'


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with _open(path) as file:
            while piece := file.read(_BLOCK):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


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


def _open(path: Path) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))
