"""A private folder for what does not fit into memory.

It holds what a table holds, so only its owner may look into it, and nothing of it is left when the
work ends, however it ends. A run that is killed leaves its folder behind; the next one removes it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from wideberth import tables
from wideberth.errors import OutputError

#: Where the folder is made, if not among the system's temporary files.
VARIABLE = "WIDEBERTH_SPILL"
_PREFIX = "wideberth-spill-"
_LOCK = "lock"


@contextmanager
def spill() -> Iterator[Path]:
    """Yield the folder, and remove it with all that is in it."""
    parent, owner = Path(os.environ.get(VARIABLE) or tempfile.gettempdir()), os.getpid()
    _remove_left_behind(parent)
    try:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))  # for its owner only
    except OSError as error:
        raise OutputError(
            f"no folder for intermediate results can be made in {parent}: {error.strerror}",
            hint=f"name one with enough room: {VARIABLE}=/path",
        ) from None
    try:
        with (folder / "locking").open("xb") as file:
            tables.lock(file)
            (folder / "locking").rename(folder / _LOCK)  # nobody sees it before it is locked
            yield folder
    finally:
        if os.getpid() == owner:  # a process that was forked off ends earlier
            rmtree(folder, ignore_errors=True)


def _remove_left_behind(parent: Path) -> None:
    """Remove the folders of runs that were killed; a run that lives holds a lock on its own."""
    with suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            with suppress(OSError), (folder / _LOCK).open("rb") as file:
                if not folder.is_symlink() and tables.lock(file):
                    rmtree(folder, ignore_errors=True)
