"""How much memory the work on a file may take."""

from __future__ import annotations

from pathlib import Path

from wideberth.core.memory import parse_size
from wideberth.errors import ParameterError
from wideberth.io import form_of

#: Less is not enough: Python, polars and DuckDB take half of it before they have seen a row.
LEAST = 512 * 2**20
#: What a file takes that must be rewritten as Parquet, unless it is small: 694 MB, measured with
#: one million rows of 8 texts and 4 numbers (270 MB of CSV).
LEAST_TO_REWRITE = 768 * 2**20
_SMALL_FILE = 64 * 2**20
_PACKED = 8  # what a compressed file may grow by
#: What anonymize takes of a table that is not small: 970 MB of 3 million rows of 4 columns, 871 MB
#: of one million rows of 12 columns, measured.
LEAST_TO_ANONYMIZE = 2**30
#: Up to so many cells it takes less than `LEAST`. Measured with 4 columns: 469 MB of 50,000 rows,
#: 563 MB of 175,000.
_SMALL = 300_000
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


def require_to_read(limit: int, path: Path) -> None:
    """Raise unless a file, which is rewritten if it is not Parquet, can be read within a limit."""
    if limit >= LEAST_TO_REWRITE or path.is_dir() or form_of(path) == "Parquet":
        return
    size = path.stat().st_size * (_PACKED if path.suffix.lower() == ".gz" else 1)
    if size > _SMALL_FILE:
        raise ParameterError(
            f"{limit >> 20}MB of memory are not enough to read {path.name}",
            hint=f"give at least {LEAST_TO_REWRITE >> 20}MB, or convert it to Parquet",
        )


def require_for_release(limit: int, rows: int, columns: int) -> None:
    """Raise unless a release of a table of this size can be made within a limit.

    >>> require_for_release(2**29, 1000, 4)
    >>> require_for_release(2**29, 3_000_000, 4)
    Traceback (most recent call last):
    wideberth.errors.ParameterError: 512MB of memory are not enough to anonymize 3,000,000 rows
      try: give at least 1GB
    """
    if limit < LEAST_TO_ANONYMIZE and rows * columns > _SMALL:
        what = f"{limit >> 20}MB of memory are not enough to anonymize {rows:,} rows"
        raise ParameterError(what, hint=f"give at least {LEAST_TO_ANONYMIZE >> 30}GB")


def for_distances(limit: int, max_memory: int | None) -> int:
    """Return how many megabytes distances may take of it at a time.

    >>> for_distances(2**31, None)
    256
    """
    return min(limit >> 23, max_memory or _BLOCK)
