"""Spark as an engine: tables that no single machine holds, in the caller's own session.

A PySpark DataFrame goes in, a PySpark DataFrame comes out, and rows never pass through the driver.
The library neither creates nor stops a session; only the command line does, for itself
(:mod:`~wideberth.engines.spark.session`).

PySpark (extra ``[spark]``) is imported when a table turns out to be Spark's, never before.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FUNCTIONS = {
    "advise": ("wideberth.checks.advise_large", "advise_spark"),
    "anonymize": ("wideberth.release.release_spark", "anonymize_spark"),
    "check": ("wideberth.checks.check_spark", "check_spark"),
}


def __getattr__(name: str) -> Any:
    """Load a function when it is asked for: executors need little of all this."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, function = _FUNCTIONS[name]
    return getattr(import_module(module), function)
