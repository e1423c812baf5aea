"""Parquet and Arrow files, looked at before they are read: types, sizes, and damage.

polars and DuckDB trust what a file says of itself. A type that polars does not know, or damage in
the wrong place, makes them panic or crash; a file of a few kilobytes can claim billions of rows. So
pyarrow, which checks more, has a look first.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa

from wideberth.errors import TableError, what_to_type
from wideberth.io.formats import AGAIN, gigabytes, readable_bytes, require_memory

#: How deep lists and structs may be nested; work on them grows with a power of it.
_DEEPEST = 8
#: Bytes that polars holds for a cell of text, of bytes or of a list, apart from what is in it.
_PER_VIEW = 16
_DEEP = f"list or struct, nested more than {_DEEPEST} levels deep"
_EXTENSION: tuple[type, ...] = tuple(filter(None, [getattr(pl, "BaseExtension", None)]))
_HINT = "convert the column to numbers, dates or text first"


@contextmanager
def open_typed_file(path: Path, form: str) -> Iterator[Any]:
    """Open a Parquet or Arrow file with pyarrow, if its columns have types that can be read."""
    if form == "Parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file:
            _require_known(file.schema_arrow, path)
            yield file
        return
    with pa.memory_map(str(path)) as mapped:
        file = pa.ipc.open_file(mapped)
        _require_known(file.schema, path)
        yield file


def inspect(path: Path, form: str, *, whole: bool = True) -> None:
    """Raise a ``TableError`` about a file that must not be read."""
    # What pyarrow cannot open is left to polars, which has types of its own. An Arrow file is
    # checked as a whole, because polars would not do so; a Parquet file is decoded while it is
    # read, which finds damage.
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open_typed_file(path, form))
        except (OSError, UnicodeError, pa.ArrowException):
            _require_shallow(path, form)
            return
        if not whole:
            return
        if form == "Parquet":
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            stored = sum(max(group.total_byte_size, 0) for group in groups)
            rows, schema = file.metadata.num_rows, file.schema_arrow
        else:
            with pa.memory_map(str(path)) as mapped:
                claims = claims_of(mapped)
            stored, rows = sum(c.size for c in claims), sum(c.rows for c in claims)
            schema = file.schema
        needed = max(stored, rows * sum(map(_width, schema.types)))
        require_memory(needed, form=form, name=path.name, packed=path.stat().st_size)
        if form != "Parquet":
            for _ in sound_batches(file):
                pass


def ordered_categories(path: Path, form: str) -> dict[str, pl.Enum]:
    """Return the types of a file's ordered categories, whose order polars does not take over."""
    # pyarrow and pandas write all categories beside every piece of a column, in their order. Of a
    # file in which two pieces list different ones, the order is not known.
    found: dict[str, pl.Enum] = {}
    try:
        with open_typed_file(path, form) as file:
            schema = file.schema_arrow if form == "Parquet" else file.schema
            for name, kind in zip(schema.names, schema.types, strict=True):
                if not pa.types.is_dictionary(kind) or not kind.ordered:
                    continue
                lists = _categories(file, form, name)
                first = next(lists, None)
                if first and all(other == first for other in lists) and can_be_ordered(first):
                    found[name] = pl.Enum(first)
    except (OSError, UnicodeError, pa.ArrowException):
        return {}  # what pyarrow cannot open is left to polars
    return found


def _categories(file: Any, form: str, name: str) -> Iterator[list[Any]]:
    """Yield the categories of each piece of a column."""
    if form == "Parquet":
        for group in range(file.num_row_groups):
            for batch in file.iter_batches(1, row_groups=[group], columns=[name]):
                yield batch.column(0).dictionary.to_pylist()
                break
        return
    for batch in sound_batches(file):
        yield batch.column(name).dictionary.to_pylist()


def can_be_ordered(categories: Sequence[Any]) -> bool:
    """Return whether categories are texts that an ordered column can have.

    >>> can_be_ordered(["low", "high"]), can_be_ordered(["low", "low"]), can_be_ordered([])
    (True, False, False)
    """
    return 0 < len(categories) == len(set(categories)) and all(
        isinstance(category, str) for category in categories
    )


def require_unpacked(path: Path, most: int | None) -> None:
    """Refuse an Arrow file if one of its batches, which are unpacked whole, is too large."""
    with pa.memory_map(str(path)) as mapped:
        largest = max((claim.unpacked for claim in claims_of(mapped)), default=0)
    # A batch may take a quarter of the bytes that may be held at a time.
    rooms = [room for room in (most and most // 4, readable_bytes("Arrow")) if room is not None]
    if rooms and largest > min(rooms):
        raise TableError(
            f"{path.name} holds {gigabytes(largest)} of data in one packed piece, too much for "
            "the memory",
            hint=f"give more memory ({what_to_type(python='memory=', command='--memory')}), or "
            "write the file in smaller batches or as Parquet",
        )


def require_texts_fit(frame: pl.DataFrame, path: Path, form: str) -> None:
    """Refuse a table whose texts are stored once, and are too large where each cell has its own."""
    size = 0
    for named in frame:
        column = named.alias("")  # polars may take a name for a pattern
        if column.dtype == pl.String:
            size += int(column.str.len_bytes().sum() or 0)
        elif column.dtype == pl.Binary:
            size += int(column.bin.size().sum() or 0)
        elif isinstance(column.dtype, pl.Categorical | pl.Enum):
            size += int(column.cat.len_bytes().sum() or 0)
    require_memory(size, form=form, name=path.name, packed=path.stat().st_size)


def sound_batches(file: Any) -> Iterator[pa.RecordBatch]:
    """Yield the batches of an Arrow file, each as soon as it is known to be undamaged."""
    for number in range(file.num_record_batches):
        batch = file.get_batch(number)
        batch.validate(full=True)
        yield batch


def _width(kind: pa.DataType) -> int:
    """Return how many bytes a cell takes at least."""
    try:
        return -(-kind.bit_width // 8)
    except ValueError:  # no fixed width
        return _PER_VIEW


def _require_known(schema: pa.Schema, path: Path) -> None:
    for name, kind in zip(schema.names, schema.types, strict=True):
        if (unknown := _unknown(kind)) is not None:
            raise _unreadable(name, path, unknown)
    if not schema.names:
        raise TableError(f"{path.name} has no columns", hint=AGAIN)


def _unknown(kind: pa.DataType, depth: int = 0) -> str | None:
    """Name the type, or the part of it, that polars or DuckDB cannot hold; None if there is none.

    >>> _unknown(pa.list_(pa.decimal256(50, 2)))
    'decimal256'
    """
    is_a = pa.types
    if depth > _DEEPEST:
        return _DEEP
    for fits, name in (
        (is_a.is_union, "union"),
        (is_a.is_map, "map"),
        (is_a.is_interval, "interval"),
        (is_a.is_decimal256, "decimal256"),
        (is_a.is_run_end_encoded, "run-end encoded"),
        (is_a.is_list_view, "list view"),
        (is_a.is_large_list_view, "list view"),
    ):
        if fits(kind):
            return name
    if is_a.is_decimal(kind) and kind.scale < 0:
        return "decimal of a negative scale"
    if is_a.is_timestamp(kind) and kind.tz is not None and not _known_zone(kind.tz):
        return f"time of the zone {kind.tz!r}"
    if is_a.is_struct(kind) and not kind.num_fields:
        return "struct without fields"
    if is_a.is_fixed_size_list(kind) and not kind.list_size:
        return "list of length 0"
    if is_a.is_fixed_size_binary(kind) and not kind.byte_width:
        return "bytes of length 0"
    if isinstance(kind, pa.BaseExtensionType):
        return _unknown(kind.storage_type, depth)
    if is_a.is_dictionary(kind):
        return _unknown(kind.value_type, depth)
    inner = (kind.field(i).type for i in range(kind.num_fields))
    return next(filter(None, (_unknown(one, depth + 1) for one in inner)), None)


def _require_shallow(path: Path, form: str) -> None:
    with path.open("rb") as file:
        read_schema = pl.read_parquet_schema if form == "Parquet" else pl.read_ipc_schema
        for name, kind in read_schema(file).items():
            inner, depth = getattr(kind, "inner", None), 0
            while inner is not None:
                inner, depth = getattr(inner, "inner", None), depth + 1
            if depth > _DEEPEST:
                raise _unreadable(name, path, _DEEP)


def _unreadable(name: str, path: Path, kind: str) -> TableError:
    what = f"column {name!r} of {path.name} has the type {kind}, which cannot be read"
    return TableError(what, hint=_HINT)


def require_no_extension_types(types: Mapping[str, pl.DataType], path: Path) -> None:
    """Refuse extension types, of which nobody here knows how to publish their values alone."""
    for name, kind in types.items():
        if isinstance(kind, _EXTENSION):
            raise _unreadable(name, path, "extension")


def _known_zone(zone: str) -> bool:
    try:
        pl.Series([None], dtype=pl.Datetime("us", zone))
    except pl.exceptions.PolarsError:
        return False
    return True


# -----------------------------------------------------------------------------
# What an Arrow file says it holds, read without unpacking any of it.
#
# pyarrow unpacks a whole batch before it tells how many rows that has. But the lengths stand in the
# file: those of buffers in the metadata of each batch, and in front of each packed buffer that of
# what it unpacks to. Both are FlatBuffers, of which this reads the few fields that it needs; their
# numbers are fixed by the Arrow format.


_MAGIC = b"ARROW1"
_CONTINUES = 0xFFFFFFFF
#: Fields of FlatBuffers tables, by their numbers.
_DICTIONARIES, _BATCHES = 2, 3  # of a footer
_KIND, _HEADER = 1, 2  # of a message
_ROWS, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a record batch
_DATA = 1  # of a dictionary batch
_IS_DICTIONARY, _IS_BATCH = 2, 3  # kinds of messages
_BLOCK, _BUFFER = 24, 16  # bytes of these structs


class BatchClaim(NamedTuple):
    """What a batch says it holds: rows, bytes, and of these how many must be unpacked."""

    rows: int
    size: int
    unpacked: int


def claims_of(mapped: Any) -> list[BatchClaim]:
    """Return what the batches of a file claim, those of its dictionaries first.

    >>> table, made = pa.table({"age": [1, 2, 3]}), pa.BufferOutputStream()
    >>> with pa.ipc.new_file(made, table.schema) as writer:
    ...     writer.write_table(table)
    >>> claims_of(pa.BufferReader(made.getvalue()))
    [BatchClaim(rows=3, size=24, unpacked=0)]
    """
    mapped.seek(0)
    view = memoryview(mapped.read_buffer())
    try:
        return _claims(_Bytes(view))
    except (struct.error, ValueError):
        raise pa.ArrowInvalid("the metadata are damaged") from None


def _claims(file: _Bytes) -> list[BatchClaim]:
    end = len(file.view) - len(_MAGIC)
    size = file.number("<i", end - 4)
    footer = file.part(end - 4 - size, size)
    root = footer.number("<I", 0)
    known: dict[int, BatchClaim] = {}  # blocks may be one and the same, any number of times
    claims = []
    for part in (_DICTIONARIES, _BATCHES):
        for place in footer.vector(root, part, _BLOCK):
            offset = footer.number("<q", place)
            if offset not in known:
                known[offset] = _claim(file, offset)
            claims.append(known[offset])
    return claims


def _claim(file: _Bytes, offset: int) -> BatchClaim:
    """Read what the message at a place claims."""
    size, begin = file.number("<I", offset), offset + 4
    if size == _CONTINUES:
        size, begin = file.number("<I", begin), begin + 4
    message, body = file.part(begin, size), begin + size
    root = message.number("<I", 0)
    kind = message.number("<B", message.field(root, _KIND))
    batch = message.follow(message.field(root, _HEADER))
    if kind == _IS_DICTIONARY:
        batch = message.follow(message.field(batch, _DATA))
    elif kind != _IS_BATCH:
        raise ValueError
    rows = message.field(batch, _ROWS, required=False)
    packed = message.field(batch, _COMPRESSION, required=False)
    total = unpacked = 0
    for place in message.vector(batch, _BUFFERS, _BUFFER):
        start, length = message.number("<q", place), message.number("<q", place + 8)
        if packed and length > 0:
            claimed = file.number("<q", body + start)  # -1: it is stored as it is
            length = claimed if claimed >= 0 else length
            unpacked += max(claimed, 0)
        total += max(length, 0)
    return BatchClaim(message.number("<q", rows) if rows else 0, total, unpacked)


class _Bytes:
    """Bytes of which numbers are read, never from outside of them."""

    def __init__(self, view: memoryview) -> None:
        self.view = view

    def part(self, begin: int, size: int) -> _Bytes:
        if not 0 <= begin <= begin + size <= len(self.view):
            raise ValueError
        return _Bytes(self.view[begin : begin + size])

    def number(self, form: str, place: int) -> int:
        if place < 0:  # which would count from the end
            raise ValueError
        return int(struct.unpack_from(form, self.view, place)[0])

    def field(self, table: int, number: int, *, required: bool = True) -> int:
        """Return where a field of a table lies; 0 if it is not there."""
        index = table - self.number("<i", table)
        inside = 4 + 2 * number < self.number("<H", index)
        offset = self.number("<H", index + 4 + 2 * number) if inside else 0
        if required and not offset:
            raise ValueError
        return table + offset if offset else 0

    def follow(self, place: int) -> int:
        return place + self.number("<I", place)

    def vector(self, table: int, number: int, size: int) -> range:
        """Return where the structs of a vector lie."""
        place = self.field(table, number, required=False)
        if not place:
            return range(0)
        begin = self.follow(place)
        many = self.number("<I", begin)
        self.part(begin + 4, many * size)
        return range(begin + 4, begin + 4 + many * size, size)
