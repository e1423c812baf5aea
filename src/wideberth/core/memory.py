"""How much memory a piece of work may fill: the one setting of it.

What could be computed in one go is computed in blocks of this size. It bounds the memory, never
the result.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from decimal import Decimal
from pathlib import Path

from wideberth.errors import ParameterError

#: Powers of 1024, as everywhere in wideberth; "GiB" and "G" say the same.
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT])(?:i?B)?\s*", re.IGNORECASE)

#: Where Linux says how much a container may fill and how much it does, and of that the files that
#: it would drop for others.
_CONTAINERS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
)
_CGROUP = Path("/sys/fs/cgroup")

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


def available() -> int | None:
    """Return how many bytes of memory this process could still fill; None if unknown."""
    free: list[int] = []
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith(("MemAvailable:", "SwapFree:")):
                free.append(int(line.split()[1]) << 10)
        free = [sum(free)] if free else []
    with suppress(AttributeError, OSError, ValueError):
        if not free:
            free.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    free += _within_limits()
    return max(min(free), 0) if free else None


def _within_limits() -> list[int]:
    """Return what the limits of this process and of its container still leave."""
    left = []
    for most, current, dropped in _CONTAINERS:
        with suppress(OSError, ValueError):  # "max" if it has no limit
            room = int((_CGROUP / most).read_text(encoding="ascii"))
            used = int((_CGROUP / current).read_text(encoding="ascii"))
            stat = (_CGROUP / most).with_name("memory.stat").read_text(encoding="ascii")
            files = dict(line.split() for line in stat.splitlines()).get(dropped, 0)
            left.append(room - max(used - int(files), 0))
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        # Of /proc/self/statm: all, resident, shared, text, library, and data with the stacks.
        held = Path("/proc/self/statm").read_text(encoding="ascii").split()
        for kind, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
            room, page = resource.getrlimit(kind)[0], resource.getpagesize()
            if room != resource.RLIM_INFINITY:
                left.append(room - int(held[place]) * page)
    return left


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
