"""A private folder for what does not fit into memory.

It holds what a table holds, so only its owner may look into it. It is removed when the work ends,
well or by an exception, on the command line also when SIGINT, SIGTERM or SIGHUP ends it. What ends
a program without cleaning up leaves the folder behind: SIGKILL, a power failure and, in a Python
program that does not handle them, SIGTERM and SIGHUP. The next run with a memory limit removes it.
A disk that is full ends the work with a message.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree

from wideberth import io
from wideberth.errors import OutputError

#: Where the folder is made, if not among the system's temporary files.
VARIABLE = "WIDEBERTH_SPILL"
_PREFIX = "wideberth-spill-"
_LOCK = "lock"
#: Seconds after which a folder without a lock was left behind: a lock is there at once.
_LATE = 3600
_BLOCK = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def scratch_folder() -> Iterator[Path]:
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
            io.lock(file)
            (folder / "locking").rename(folder / _LOCK)  # nobody sees it before it is locked
            yield folder
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise disk_full_error(parent) from None
    finally:
        if os.getpid() == owner:  # a process that was forked off ends earlier
            rmtree(folder, ignore_errors=True)


def _remove_left_behind(parent: Path) -> None:
    """Remove the folders of runs that were killed; a run that lives holds a lock on its own."""
    with suppress(OSError):
        for folder in parent.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if _left_behind(folder):
                    rmtree(folder, ignore_errors=True)


def _left_behind(folder: Path) -> bool:
    """Return whether a folder is ours, and no run that lives has it."""
    found = folder.lstat()
    ours = not hasattr(os, "getuid") or found.st_uid == os.getuid()
    if not ours or not stat.S_ISDIR(found.st_mode):
        return False
    try:
        with io.open_regular(folder / _LOCK, os.O_RDONLY) as file:
            return io.lock(file)
    except FileNotFoundError:  # killed before it could lock
        return time.time() - found.st_mtime > _LATE


def reserve(path: Path, size: int) -> None:
    """Make a file of a size, for which the disk has room."""
    # Without that, a full disk is noticed when something writes to the file's place in memory, and
    # the system ends the process at once (SIGBUS).
    with path.open("xb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
            return
        block = bytes(min(size, _BLOCK))
        for begin in range(0, size, _BLOCK):
            file.write(block[: size - begin])


def disk_full_error(parent: Path | None = None) -> OutputError:
    """Return the error that there is no more room for intermediate results."""
    where = parent or Path(os.environ.get(VARIABLE) or tempfile.gettempdir())
    return OutputError(
        f"the disk of {where} is full: intermediate results do not fit",
        hint=f"free some space, or name a folder with more room: {VARIABLE}=/path",
    )
