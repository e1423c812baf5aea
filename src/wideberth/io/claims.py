"""What an Arrow file says it holds, read without unpacking any of it.

pyarrow unpacks a whole batch before it tells how many rows that has. But the lengths stand in the
file: those of buffers in the metadata of each batch, and in front of each packed buffer that of
what it unpacks to. Both are FlatBuffers, of which this reads the few fields that it needs; their
numbers are fixed by the Arrow format.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import pyarrow as pa

_MAGIC = b"ARROW1"
_CONTINUES = 0xFFFFFFFF
#: Fields of FlatBuffers tables, by their numbers.
_DICTIONARIES, _BATCHES = 2, 3  # of a footer
_KIND, _HEADER = 1, 2  # of a message
_ROWS, _BUFFERS, _COMPRESSION = 0, 2, 3  # of a record batch
_DATA = 1  # of a dictionary batch
_IS_DICTIONARY, _IS_BATCH = 2, 3  # kinds of messages
_BLOCK, _BUFFER = 24, 16  # bytes of these structs


class Claim(NamedTuple):
    """What a batch says it holds: rows, bytes, and of these how many must be unpacked."""

    rows: int
    size: int
    unpacked: int


def claims_of(mapped: Any) -> list[Claim]:
    """Return what the batches of a file claim, those of its dictionaries first.

    >>> table, made = pa.table({"age": [1, 2, 3]}), pa.BufferOutputStream()
    >>> with pa.ipc.new_file(made, table.schema) as writer:
    ...     writer.write_table(table)
    >>> claims_of(pa.BufferReader(made.getvalue()))
    [Claim(rows=3, size=24, unpacked=0)]
    """
    mapped.seek(0)
    view = memoryview(mapped.read_buffer())
    try:
        return _claims(_Bytes(view))
    except (struct.error, ValueError):
        raise pa.ArrowInvalid("the metadata are damaged") from None


def _claims(file: _Bytes) -> list[Claim]:
    end = len(file.view) - len(_MAGIC)
    size = file.number("<i", end - 4)
    footer = file.part(end - 4 - size, size)
    root = footer.number("<I", 0)
    known: dict[int, Claim] = {}  # blocks may be one and the same, any number of times
    claims = []
    for part in (_DICTIONARIES, _BATCHES):
        for place in footer.vector(root, part, _BLOCK):
            offset = footer.number("<q", place)
            if offset not in known:
                known[offset] = _claim(file, offset)
            claims.append(known[offset])
    return claims


def _claim(file: _Bytes, offset: int) -> Claim:
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
    return Claim(message.number("<q", rows) if rows else 0, total, unpacked)


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
