"""Whether a table fits into the memory, known before it is unpacked.

A file of a few kilobytes can hold gigabytes, if all its rows are the same. Reading takes several
times what a file holds, so what it holds is compared with a share of the memory that is free.
"""

from __future__ import annotations

from wideberth.core.memory import available
from wideberth.errors import TableError, what_to_type

#: How many times the data of a file its reading takes at the peak, measured with `check` and
#: `init`: 480 MB of an Arrow file 1,270 MB and of a Parquet file 810 MB, 105 MB of CSV 790 MB.
TIMES = {"Arrow": 3, "Parquet": 2, "CSV": 8}
#: No table about people is packed so well: all its rows would be the same.
_PACKED = 1000
#: Nor does text pack so well, of which reading takes more memory.
_PACKED_TEXT = 100
#: Up to so many bytes, it does no harm; text, which is held several times while it is read.
_HARMLESS = 2**30
_HARMLESS_TEXT = 2**28


def require_room(needed: int, *, form: str, name: str, packed: int) -> None:
    """Refuse a table that does not fit into the memory, however well its file is packed."""
    # needed: bytes of the table, unpacked. packed: bytes of its file.
    room = room_for(form)
    if room is not None and needed > room:
        free = room * TIMES[form]
        raise TableError(
            f"{name} holds {gigabytes(needed)} of data, which takes about "
            f"{gigabytes(needed * TIMES[form])} to read, and {gigabytes(free)} of memory are free",
            hint=what_to_type(
                python='memory="2GB", which reads a file in parts',
                command="--memory 2GB, which reads a file in parts",
            ),
        )
    if needed > max(_HARMLESS, _PACKED * packed):
        raise TableError(
            f"{name} has {packed:,} bytes, and claims to hold {gigabytes(needed)} of data: no "
            "table about people can be packed so well",
            hint="ask whoever made the file; write it again in smaller parts if it is right",
        )


def text_of(packed: int) -> int:
    """Return how many bytes a packed text may unpack to, whatever memory is free.

    >>> text_of(6_000_000) >> 20
    572
    """
    return max(_HARMLESS_TEXT, _PACKED_TEXT * packed)


def room_for(form: str) -> int | None:
    """Return how many bytes of data a file may hold to be read at once; None if unknown."""
    free = available()
    return None if free is None else free // TIMES[form]


def gigabytes(size: int) -> str:
    """Write a number of bytes.

    >>> gigabytes(3 * 2**29)
    '1.5 GB'
    """
    return f"{size / 2**30:,.1f} GB"
