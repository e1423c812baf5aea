"""The app's private folder: for uploads and releases, and gone when the app is.

A process that is killed cannot tidy up, so the next one does: it removes the folders of this user
that nobody holds a lock on. Where the system has no such locks, nothing is swept.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from types import TracebackType
from typing import IO

from wideberth.errors import OutputError, TableError, WideberthError
from wideberth.io import lock, suffix_of

PREFIX = "wideberth-ui-"
_LOCK = ".lock"
_LONGEST = 100
#: File systems count bytes, and permit 255.
_MOST_BYTES = 200
#: What Windows takes for a device, whatever the suffix.
_DEVICE = re.compile(r"(?:con|prn|aux|nul|(?:com|lpt)[0-9])(?:\..*)?", re.IGNORECASE)
_TRIES = 3
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class RefusedError(WideberthError):
    """A name that leads to nothing, or out of the folder in which it must stay."""


@dataclass(frozen=True)
class Workspace:
    """A folder that only this user may look into, for as long as the app runs.

    >>> with Workspace.open() as workspace:
    ...     with workspace.file(workspace.folder("table-1"), "people.csv") as file:
    ...         _ = file.write(b"age,pay")
    ...     within(workspace.path, "table-1/people.csv").read_text()
    'age,pay'
    >>> workspace.path.exists()
    False
    """

    path: Path
    held: IO[bytes]  # its lock file, open

    @classmethod
    def open(cls, base: str | Path | None = None) -> Workspace:
        """Sweep what killed processes have left, and make a new folder."""
        root = Path(tempfile.gettempdir() if base is None else base).resolve()
        sweep_workspaces(root)
        # It gets the name that is swept when its lock is held: no moment is between.
        fresh = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=root))
        try:
            fresh.chmod(0o700)  # whatever the umask
            held = _new(fresh / _LOCK)
            lock(held)
            if os.name == "nt":  # where there is no lock, and what is open cannot be renamed
                held.close()
            path = fresh.rename(root / f"{PREFIX}{secrets.token_hex(8)}")
        except BaseException:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        return cls(path, held)

    def folder(self, name: str) -> Path:
        """Return a folder in this one, made if it is not there; slashes lead deeper."""
        path = self.path
        for part in _parts(name):
            path = path / part
            with suppress(FileExistsError):
                path.mkdir()
            if not stat.S_ISDIR(path.lstat().st_mode):
                raise _refused()
            path.chmod(0o700)  # whatever the umask
        return path

    def file(self, folder: Path, name: str) -> IO[bytes]:
        """Open a new file in a folder of ours, to write; see `safe_name` for a name."""
        (only,) = _parts(name, most=1)
        if not _real(folder).is_relative_to(self.path):
            raise _refused()
        try:
            return _new(folder / only)
        except FileExistsError:
            raise OutputError(f"{only} exists", hint="choose another name") from None

    def close(self) -> None:
        """Remove everything. Once is enough."""
        for _ in range(_TRIES):  # a process that has just been ended may have written meanwhile
            if self.path.exists():
                _remove(self.path)
        self.held.close()
        if self.path.exists():
            raise OutputError(f"{self.path} cannot be removed", hint="remove it by hand")

    def __enter__(self) -> Workspace:
        """Use the folder in a block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove it at the end."""
        self.close()


def within(folder: Path, name: str) -> Path:
    """Return the path of an existing file in a folder, by a name from outside."""
    base = _real(folder)
    path = _real(base.joinpath(*_parts(name)))
    if path.is_relative_to(base) and stat.S_ISREG(path.stat().st_mode):
        return path
    raise _refused()


def small_file(path: Path, most: int) -> bytes:
    """Read a regular file of at most so many bytes: no pipe that never ends, no device."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise _refused()
        text = file.read(most + 1)
    if len(text) > most:
        raise RefusedError(f"the file has more than {most:,} bytes", hint="is it the right one?")
    return text


def sweep_workspaces(root: Path) -> None:
    """Remove the folders of this user's processes that are gone."""
    with suppress(OSError):
        for found in [path for path in root.iterdir() if path.name.startswith(PREFIX)]:
            with suppress(OSError):
                if _is_ours(found):
                    _sweep_one(found)


def _sweep_one(path: Path) -> None:
    try:
        held = os.fdopen(os.open(path / _LOCK, os.O_RDONLY | _NO_LINK), "rb")
    except FileNotFoundError:  # the lock goes last: somebody was ended while removing the rest
        _remove(path)
        return
    with held:
        if lock(held):
            _remove(path)


def _is_ours(path: Path) -> bool:
    found = path.lstat()
    mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
    return stat.S_ISDIR(found.st_mode) and mine


def _remove(path: Path) -> None:
    """Remove a folder as far as possible, its lock last: until then it can be swept."""
    with suppress(OSError):
        for inner in [inner for inner in path.iterdir() if inner.name != _LOCK]:
            if inner.is_dir() and not inner.is_symlink():
                shutil.rmtree(inner, ignore_errors=True)
            else:
                inner.unlink(missing_ok=True)
        (path / _LOCK).unlink(missing_ok=True)
        path.rmdir()


def _new(path: Path) -> IO[bytes]:
    """Open a new file that nobody else may read."""
    number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600)
    path.chmod(0o600)  # whatever the umask
    return os.fdopen(number, "wb")


def _parts(name: str, most: int | None = None) -> list[str]:
    """Return the steps of a name that leads down and to nothing hidden, wherever the app runs."""
    parts = name.split("/")
    if len(parts) > (most or len(parts)) or not all(map(_is_plain, parts)):
        raise _refused()
    return parts


def _is_plain(part: str) -> bool:
    strange = not part or part.startswith(".") or "\\" in part or "\0" in part
    return not strange and not PureWindowsPath(part).drive


def _real(path: Path) -> Path:
    """Return where a path leads, all links followed."""
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # not there, a circle of links, no text
        raise _refused() from None


def _refused() -> RefusedError:
    # The same for all causes: what lies elsewhere is nobody's business.
    return RefusedError("there is no such file here", hint="choose one that the page lists")


def safe_name(text: str, default: str = "table") -> str:
    """Return a name for a file that somebody calls so.

    >>> safe_name("C:/data/My people (2024).csv")
    'My_people_2024.csv'
    >>> safe_name("../../.csv.gz"), safe_name("nul.parquet")
    ('table.csv.gz', 'table_nul.parquet')
    """
    # First this: other writings of "/" and "." become plain ones.
    last = re.split(r"[/\\]", unicodedata.normalize("NFKC", text))[-1]
    last = re.sub(r"[^\w.-]+", "_", last).rstrip("._-")
    try:
        known = len(suffix_of(f"x{last}"))  # a name that is nothing but a suffix would be hidden
    except TableError:
        known = 0
    stem, suffix = last[: len(last) - known], last[len(last) - known :]
    stem = _trimmed(
        _trimmed(stem)[: _LONGEST - known].encode()[:_MOST_BYTES].decode(errors="ignore")
    )
    if _DEVICE.fullmatch(stem):
        stem = f"{default}_{stem}"
    return (stem or default) + suffix


def _trimmed(stem: str) -> str:
    """Leave out what would hide a file, or make an option of its name."""
    return stem.strip("._-")
