"""Every error a user can cause, as one sentence each: what, where, what to try.

The messages name columns and row numbers, never cell values: they end up in logs.
"""

from __future__ import annotations

import os
import traceback


class WideberthError(Exception):
    """Base of all errors that are the input's fault, not the program's.

    Parameters
    ----------
    what : str
        What is wrong and where, as one sentence without a full stop.
    hint : str, optional
        What to try next.
    """

    exit_code = 1

    def __init__(self, what: str, *, hint: str | None = None) -> None:
        super().__init__(what if hint is None else f"{what}\n  try: {hint}")
        self.what = what
        self.hint = hint


class TableError(WideberthError):
    """A table that cannot be read, or that does not hold what was asked of it."""


class HierarchyError(WideberthError):
    """A hierarchy that is inconsistent, or that lacks a value of the table."""


class PolicyError(WideberthError):
    """A policy file that cannot be read or contradicts its table."""


class ParameterError(WideberthError, ValueError):
    """A principle or parameter that does not exist or is out of range."""

    exit_code = 2


class OutputError(WideberthError):
    """A file that cannot be written, or exists already."""


class EngineError(WideberthError):
    """An engine such as Spark that is missing, unfit, or failed at its work."""


class InfeasibleError(WideberthError):
    """A group that no partition makes satisfy a principle, or none was found."""

    exit_code = 3


class VerificationError(WideberthError):
    """A release that does not keep its promise: a defect of the program, never of the input.

    It is raised before anything is published.
    """


class PrivacyWarning(UserWarning):
    """A choice that gives an adversary more than the default does."""


def unexpected(error: BaseException) -> WideberthError:
    """Describe a bug without the values that its own message may mention.

    >>> unexpected(MemoryError()).what
    'out of memory'
    >>> unexpected(KeyError("flu")).what
    'wideberth failed unexpectedly (KeyError)'
    """
    if isinstance(error, MemoryError):
        return WideberthError("out of memory")
    where = ""
    if places := traceback.extract_tb(error.__traceback__, limit=-1):
        where = f" in {os.path.basename(places[0].filename)}:{places[0].lineno}"
    return WideberthError(
        f"wideberth failed unexpectedly ({type(error).__name__}{where})",
        hint="WIDEBERTH_TRACEBACK=1 shows more (it may include values of the table)",
    )
