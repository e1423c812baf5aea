"""Files larger than memory, on one machine: DuckDB counts and sorts them under a limit.

Functions are named like wideberth's own, and give the same answers. Each is loaded when it is asked
for: what one of them needs would take memory from the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FUNCTIONS = {
    "advise": ("wideberth.checks.advise_large", "advise_file"),
    "anonymize": ("wideberth.release.release_file", "anonymize_file"),
    "check": ("wideberth.checks.check_file", "check_file"),
    "measure": ("wideberth.utility.measure_file", "measure_file"),
}


def __getattr__(name: str) -> Any:
    """Load a function."""
    if name not in _FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, function = _FUNCTIONS[name]
    return getattr(import_module(module), function)
