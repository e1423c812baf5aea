"""How much memory a piece of work may fill: the one setting of it.

What could be computed in one go is computed in blocks of this size. It bounds the memory, never
the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from wideberth.errors import ParameterError

#: Powers of 1024, as everywhere in wideberth; "GiB" and "G" say the same.
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])(?:i?B)?\s*", re.IGNORECASE)

#: In bytes. A thread does not inherit it: ask for the budget before starting one.
limit: ContextVar[int] = ContextVar("limit", default=256 * 2**20)


def budget() -> int:
    """Return how many bytes a block may fill.

    >>> with bounded(64):
    ...     budget()
    67108864
    """
    return limit.get()


@contextmanager
def bounded(megabytes: int | None) -> Iterator[None]:
    """Bound the memory of all that is begun inside; None leaves the bound as it is."""
    if megabytes is not None and megabytes < 1:
        raise ParameterError(f"max_memory must be at least 1 MB, not {megabytes}")
    token = limit.set(budget() if megabytes is None else megabytes * 2**20)
    try:
        yield
    finally:
        limit.reset(token)


def parse_size(text: str) -> int:
    """Return how many bytes an amount of memory has that a person wrote.

    >>> parse_size("2GB"), parse_size("1.5 gib"), parse_size("512m")
    (2147483648, 1610612736, 536870912)
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        lacks = "has no unit" if re.fullmatch(r"\s*\d+(\.\d+)?\s*", text) else "is not one"
        what = f"an amount of memory is a number and a unit, and {text!r} {lacks}"
        raise ParameterError(what, hint="512MB, 2GB and 1.5TB are amounts")
    size = int(Decimal(found[1]) * _UNITS[found[2].upper()])
    if size < 2**20:
        raise ParameterError(f"{text!r} is less than 1 MB of memory", hint="give 64MB or more")
    return size
