"""CSV and its kin: which dialect a file speaks, its cells as text, what counts as missing."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, cast

import polars as pl
import pyarrow as pa

from wideberth.core.strings import words
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.io.formats import (
    AGAIN,
    TIMES,
    gigabytes,
    readable_bytes,
    require_unique_names,
    unpacked_text_limit,
)

# Occurs in no text, so that a line of a one-column file is one value, commas and all.
_NO_DELIMITER = "\x1f"
_BOMS = {  # the first that fits: that of UTF-32 begins with that of UTF-16
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_TRIAL = "a..b;1\n"  # names of machines, which have encodings too, have no two dots
_SAMPLE = 1 << 16
_TITLES = 9  # lines above a header that are looked through
#: So many tokens of missing values are looked for one by one.
_FEW_TOKENS = 16
_LINES = 3  # of which a sample has at least the header and a row that are not cut off
_BLOCK = 1 << 23  # pyarrow needs a row to lie within two blocks
#: What pandas calls the nameless first column that it and R write: the names of rows.
ROW_NAMES = "Unnamed: 0"
_WORDS = pa.dictionary(pa.int32(), pa.string())


class TableWarning(UserWarning):
    """A table that could be read, but only by assuming something about it."""


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading a CSV file; other formats need none but `formats`."""

    # One character, or ``\t`` spelled out. By default whichever of comma, semicolon, tab and bar
    # splits the first rows into equally many fields.
    delimiter: str | None = None
    # By default UTF-8, UTF-16 or UTF-32 by their byte order mark, else UTF-8, else Windows-1252
    # with a `TableWarning`.
    encoding: str | None = None
    missing: tuple[str, ...] = ("?", "", "NA")  # quoted or not, blanks ignored
    skip_rows: int = 0  # lines above the header, such as a title
    # How the numbers or dates of a column are written, where that is not as the program writes
    # them: {"wage": "1.234,56", "born": "%m/%d/%Y"}. It counts for text in any file.
    formats: Mapping[str, str] = field(default_factory=dict)
    made: bool = False  # whether this program wrote the file, a release: its numbers have points


def read_csv(path: Path, suffix: str, options: ReadOptions) -> pl.DataFrame:
    """Read a file of delimited text, in which the first row is the header."""
    sample, known, delimiter = _first_look(path, suffix, options)
    skip = options.skip_rows
    try:
        table = _parse(path, _dialect(path, sample, known or "utf-8", delimiter, skip))
    except UnicodeError as failure:
        encoding = _instead(path, known, failure)
        table = _parse(path, _dialect(path, sample, encoding, delimiter, skip))
    names = _names(path, table)
    columns = []
    left = table.columns[::-1]
    del table
    while left:  # one at a time, so that no more than one is held twice
        columns.append(_column(left.pop().slice(1), options))
    pa.default_memory_pool().release_unused()  # it would keep what it has no more use for
    # Named last: polars would take a name such as "^a$" for a pattern.
    return pl.DataFrame([text.alias(name) for text, name in zip(columns, names, strict=True)])


def csv_batches(path: Path, suffix: str, options: ReadOptions) -> Iterator[pl.DataFrame]:
    """Read a CSV file piece by piece: the same cells, but every column as plain text."""
    # What is wrong with a file may show only when some of it has been read.
    sample, known, delimiter = _first_look(path, suffix, options)
    encoding = known or "utf-8"
    if not _decodes(path, encoding):
        line = _undecodable_line(path, encoding) or 1
        encoding = _instead(path, known, UnicodeError(line))
    dialect = _dialect(path, sample, encoding, delimiter, options.skip_rows)
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
    dialect = _dialect(path, sample, known or "utf-8", delimiter, options.skip_rows)
    return [name.strip() for name in dialect.header]


def _first_look(
    path: Path, suffix: str, options: ReadOptions
) -> tuple[bytes, str | None, str | None]:
    """Return how a file begins, and its encoding and delimiter as far as they are known."""
    with _open(path) as file:
        sample = more = file.read(_SAMPLE)
        while len(more) == _SAMPLE and len(sample) < _BLOCK and sample.count(b"\n") < _LINES:
            more = file.read(_SAMPLE)
            sample += more
    bom = next((name for mark, name in _BOMS.items() if sample.startswith(mark)), None)
    if not (bom or options.encoding) and b"\0" in sample.partition(b"\n")[0]:
        raise TableError(
            f"the first line of {path.name} holds zero bytes, as UTF-16 and UTF-32 do",
            hint=what_to_type(
                python='give its encoding: encoding = "utf-16-le" under [table] of the policy',
                command="give its encoding: --encoding utf-16-le",
                app="give its encoding under “Is the file read wrongly?”: utf-16-le",
            ),
        )
    delimiter = "\t" if ".tsv" in suffix and not options.delimiter else options.delimiter
    return sample, _known(options.encoding) or bom, delimiter


def _names(path: Path, table: pa.Table) -> list[str]:
    """Return the names in a table's first row, if every column has one of its own."""
    names = [column[0].as_py().strip() for column in table.columns]
    names[0] = names[0] or ROW_NAMES
    require_unique_names(names, path.name)
    return names


def _instead(path: Path, known: str | None, failure: UnicodeError) -> str:
    """Return the encoding of a file that is not in the one it seemed to be in."""
    what = f"line {failure} of {path.name} is not valid {known or 'UTF-8'}"
    if known or _undecodable_line(path, "cp1252"):
        raise TableError(
            what,
            hint=what_to_type(
                python="give its true encoding: encoding under [table] of the policy",
                command="give its true encoding (--encoding)",
                app="give its true encoding under “Is the file read wrongly?”",
            ),
        ) from None
    what += ": read as Windows-1252; " + what_to_type(
        python='encoding = "cp1252" under [table] of the policy confirms that',
        command="--encoding cp1252 confirms that",
        app="the encoding cp1252 under “Is the file read wrongly?” confirms that",
    )
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
    tokens = list({token.strip() for token in options.missing})
    cell = pl.col("")
    # Stripping every cell would take longer than reading them all. Only those can become a token
    # that begin with one, or with a blank: those are below "!" or above "~", or there is no text.
    suspect = (cell < "!") | (cell > "~")
    begins = [token for token in tokens if token]
    if len(begins) > _FEW_TOKENS:
        suspect |= cell.str.head(1).is_in([token[0] for token in begins])
    else:
        for token in begins:
            suspect |= cell.str.starts_with(token)
    text = text.alias("")
    rows = text.to_frame().select(suspect).to_series().arg_true()
    if rows.is_empty():
        return text
    blank = rows.filter(text.gather(rows).str.strip_chars().is_in(tokens))
    if blank.is_empty():
        return text
    mask = pl.zeros(len(text), pl.Boolean, eager=True).scatter(blank, True)
    return text.set(mask, None)


def _known(encoding: str | None) -> str | None:
    try:  # unlike codecs.lookup, this refuses hex and what cannot be read piece by piece
        decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
        pieces = [bytes([byte]) for byte in _TRIAL.encode(encoding or "utf-8")]
        read = "".join([*map(decoder.decode, pieces), decoder.decode(b"", final=True)])
        if read.removeprefix("\ufeff") != _TRIAL:
            raise LookupError
    except (LookupError, ValueError, TypeError, AttributeError):
        what = f"there is no encoding {encoding!r}"
        raise TableError(what, hint="utf-8, utf-16, cp1252 and latin-1 are common") from None
    return encoding


@dataclass(frozen=True)
class _Dialect:
    delimiter: str
    encoding: str
    header: tuple[str, ...]
    recurring: tuple[int, ...] = ()  # columns whose values recur
    skip: int = 0  # lines above the header

    @property
    def width(self) -> int:
        return len(self.header)


def _dialect(
    path: Path, sample: bytes, encoding: str, delimiter: str | None, skip: int = 0
) -> _Dialect:
    whole = len(sample) % _SAMPLE > 0
    text = sample.decode(encoding, errors="replace").removeprefix("\ufeff")
    if not text.strip():
        raise TableError(f"{path.name} is empty", hint=AGAIN)
    text = _below(text, skip)
    if not text.strip():
        what = f"{path.name} has nothing below the {skip} lines that are skipped"
        raise TableError(
            what,
            hint=what_to_type(
                python="a smaller skip_rows under [table] of the policy",
                command="a smaller --skip-rows, or skip_rows under [table]",
                app="fewer “Lines above the header” under “Is the file read wrongly?”",
            ),
        )
    chosen = _detect(text, whole) if delimiter is None else delimiter.replace("\\t", "\t")
    if len(chosen) != 1 or not chosen.isascii() or chosen in '"\r\n':
        raise ParameterError(f"{delimiter!r} cannot be a delimiter", hint="use one ASCII character")
    records = _records(text, chosen, whole)
    if titles := _titles(text, chosen if delimiter is not None else None, whole):
        lines = "line of" if titles == 1 else f"{titles} lines of"
        raise TableError(
            f"the first {lines} {path.name} {'looks' if titles == 1 else 'look'} like a title "
            "above the header",
            hint=what_to_type(
                python=f"skip_rows = {skip + titles} under [table] of the policy",
                command=f"--skip-rows {skip + titles}, or skip_rows = {skip + titles} under "
                "[table] of the policy",
                app=f"“Lines above the header” = {skip + titles} under “Is the file read wrongly?”",
            ),
        )
    if not records:
        what = f"the header of {path.name} has a name above {csv.field_size_limit() >> 10} KB"
        raise TableError(what, hint="look for a quote that is never closed")
    if whole and len(records) == 1:
        raise TableError(f"{path.name} has a header but no rows", hint=AGAIN)
    width = len(records[0])
    recurring = () if whole else _recurring([r for r in records[1:] if len(r) == width])
    return _Dialect(chosen, encoding, tuple(records[0]), recurring, skip)


def _below(text: str, skip: int) -> str:
    """Return what is below some lines."""
    for _ in range(skip):
        text = re.sub(r"\A[^\r\n]*(\r\n|\r|\n|\Z)", "", text, count=1)
    return text


def _titles(text: str, delimiter: str | None, whole: bool) -> int:
    """Count the lines that seem to be a title: below them are names, and rows of as many fields."""
    first = _filled(text, delimiter, whole)
    if first is None or first > 1:
        return 0
    for lines in range(1, _TITLES + 1):
        text = _below(text, 1)
        fields = _filled(text, delimiter, whole)
        if fields is None:
            return 0
        if fields > max(first, 1):
            return lines
    return 0


def _filled(text: str, delimiter: str | None, whole: bool) -> int | None:
    """Count the names in a possible header: 1 if rows do not fit, None if fewer than two follow."""
    if not text.strip():
        return None
    if re.match(r"[ \t]*(\r|\n)", text):  # an empty line
        return 1
    chosen = _detect(text, whole) if delimiter is None else delimiter
    records = _records(text, chosen, whole)
    if len(records) < 3:
        return None
    names = [name.strip() for name in records[0]]
    widths = {len(record) for record in records}
    named = [name for name in names if name and not re.fullmatch(r"[\d.,\s+-]+", name)]
    if len(widths) > 1 or len(set(named)) < len(names):
        return 1
    return len(names)


def _recurring(records: Sequence[Sequence[str]]) -> tuple[int, ...]:
    """Return which columns of a long file, by its first rows, hold values that recur."""
    columns = enumerate(zip(*records, strict=True))
    return tuple(i for i, cells in columns if 2 * len(set(cells)) < len(cells))


def _detect(text: str, whole: bool) -> str:
    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(record) for record in _records(text, delimiter, whole)] or [0]
        return widths[0] > 1 and len(set(widths)) == 1, widths[0]

    best = max(",;\t|", key=merit)  # the first of equals
    return best if merit(best)[1] > 1 else _NO_DELIMITER


def _records(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    read = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    records: list[list[str]] = []
    with suppress(csv.Error):  # a field above 128 KB: what is known up to there will do
        records.extend(record for record in read if record)
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
    """Return what keeps a file from being split into rows of equally many fields, as an error."""
    ragged: list[str] = []

    def note(row: Any) -> str:
        number = row.number - 1 - dialect.skip
        ragged.append(f"row {number} of {path.name} has {row.actual_columns} fields")
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

    if path.suffix.lower() == ".gz":
        _require_room(path)
    return arrow.read_csv(*_how(path, dialect))


def _require_room(path: Path) -> None:
    """Refuse a packed file that unpacks to too much, before any of it is held."""
    # Arrow's reader cannot be stopped on its way: its threads would wait for each other at the end
    # of the program.
    packed, unpacked = path.stat().st_size, 0
    room, credible = readable_bytes("CSV"), unpacked_text_limit(packed)
    with suppress(OSError, EOFError), pa.input_stream(str(path), compression="gzip") as stream:
        while piece := stream.read(_BLOCK):  # damage is named by the reader
            unpacked += len(piece)
            if unpacked > credible:
                raise TableError(
                    f"{path.name} has {packed:,} bytes, and unpacks to more than "
                    f"{gigabytes(credible)} of text: no table about people can be packed so well",
                    hint="ask whoever made the file; unpack it yourself if it is right",
                )
            if room is not None and unpacked > room:
                raise TableError(
                    f"{path.name} unpacks to more than {gigabytes(room)} of text, too much "
                    f"for the {gigabytes(room * TIMES['CSV'])} of memory that are free",
                    hint=what_to_type(
                        python='memory="2GB", which reads a file in parts',
                        command="--memory 2GB, which reads a file in parts",
                    ),
                )


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
            skip_rows=dialect.skip,
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
