"""How much memory the work on a file may take."""

from __future__ import annotations

from wideberth.errors import ParameterError
from wideberth.memory import parse_size

#: Less is not enough: Python, polars and DuckDB take half of it before they have seen a row.
LEAST = 512 * 2**20
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


def for_distances(limit: int, max_memory: int | None) -> int:
    """Return how many megabytes distances may take of it at a time.

    >>> for_distances(2**31, None)
    256
    """
    return min(limit >> 23, max_memory or _BLOCK)
