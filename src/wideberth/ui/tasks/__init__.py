"""What a job can do: plain values in, plain values out, by the library's own functions.

A task takes its arguments by name, and besides them `tell`, which it tells how far it is. It runs
in a process of its own (:mod:`wideberth.ui.worker`), and only there is a table ever read.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from wideberth.errors import InfeasibleError, WideberthError, unexpected
from wideberth.ui.attachments import with_own_names

#: By name: the module and its function. A module is loaded when it is needed.
_TASKS = {
    "open": ("open", "profile"),
    "advise": ("advise", "advise_task"),
    "possible": ("possible", "possible"),
    "fits": ("open", "fits_task"),
    "protect": ("hierarchy", "protect"),
    "hierarchy": ("hierarchy", "hierarchy_task"),
    "usual": ("hierarchy", "usual"),
    "release": ("release", "release_task"),
    "weigh": ("compare", "weigh_task"),
}


def names() -> list[str]:
    """Return the names of all tasks.

    >>> names()
    ['open', 'advise', 'possible', 'fits', 'protect', 'hierarchy', 'usual', 'release', 'weigh']
    """
    return list(_TASKS)


def named(name: str) -> Callable[..., dict[str, Any]]:
    """Return the task of that name."""
    module, function = _TASKS[name]
    found: Callable[..., dict[str, Any]] = getattr(import_module(f"{__name__}.{module}"), function)
    return found


def failure(error: BaseException, folder: str | None = None) -> dict[str, Any]:
    """Describe an error as plain values; a bug without anything that could be a table's value.

    >>> failure(WideberthError("the file is empty", hint="export it again"))
    {'kind': 'WideberthError', 'what': 'the file is empty', 'hint': 'export it again'}
    """
    # `folder`: where hierarchy files lie; messages then name them as the user does.
    told = _described(error)
    if folder is None:
        return told
    return {k: with_own_names(v, folder) if isinstance(v, str) else v for k, v in told.items()}


def _described(error: BaseException) -> dict[str, Any]:
    kind = type(error).__name__
    if isinstance(error, InfeasibleError):
        keys = ("what", "hint", "outcome", "witness", "tries")
        return {"kind": kind, **{key: getattr(error, key) for key in keys}}
    if isinstance(error, WideberthError):
        return {"kind": kind, "what": error.what, "hint": error.hint}
    if isinstance(error, MemoryError):
        hint = "close other programs and try again, or take fewer rows or columns"
        return {"kind": kind, "what": "out of memory", "hint": hint}
    if isinstance(error, OSError):  # a full disk, say
        what = error.strerror or "input or output failed"
        return {"kind": "OSError", "what": what, "hint": "check the disk and the permissions"}
    told = unexpected(error)
    return {"kind": "InternalError", "what": told.what, "hint": told.hint}
