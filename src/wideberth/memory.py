"""How much memory a piece of work may fill: the one setting of it.

What could be computed in one go is computed in blocks of this size. It bounds the memory, never
the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from wideberth.errors import ParameterError

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
