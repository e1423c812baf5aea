"""The record of files that are about to take their places, which is also their lock.

It lies beside the first of the files (`.people.csv.pending`). It names all of them, and says by
size and SHA-256 what was in each place and what will be: a file is still known when its folder was
copied or came out of a backup. Beside each of the others lies a file that points to the first.
Whoever replaces files holds a lock on the record's file of each.

In a folder where others may write, they may plant what they like under these names. So nothing is
opened that is not a regular file, no link is followed, and a record counts only if it is our own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from wideberth.errors import OutputError

#: Never follow a link, never wait for a pipe, never hand the file on to a child.
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
#: Seconds to wait for another run that replaces the same files, which takes it a moment.
LOCK_WAIT_SECONDS = 10.0
#: What a file is known by, wherever it is moved or copied: its size and SHA-256.
FileIdentity = tuple[int, str]
#: How a place gets back what was in it.
WayBack = Literal["stay", "remove", "restore"]
#: A record of three files with the longest of paths has less.
_MOST = 1 << 16
#: What a file is known by that cannot be read.
_UNREADABLE: FileIdentity = (-1, "")
_PRIVATE = 0o600


@dataclass(frozen=True)
class RecordedFile:
    """One of the files, and what it replaces."""

    target: Path
    mark: str  # what the names of its draft and of the old file begin with
    new: FileIdentity  # what it is known by
    before: FileIdentity | None  # the same of the file that was in its place, if there was one
    mode: int  # the permissions that it gets

    @property
    def draft(self) -> Path:
        """Its name before it takes its place."""
        return draft_path(self.target, self.mark)

    @property
    def old(self) -> Path:
        """The second name of the file that it replaces."""
        return self.target.with_name(f".{self.mark}.old.{self.target.name}")

    @property
    def placed(self) -> bool:
        """Whether it has its place."""
        return _seen(self.target) == self.new

    @property
    def way_back(self) -> WayBack | None:
        """How its place gets back what was there; None if that cannot be told for certain."""
        found = _seen(self.target)
        if self.before is None:
            if found is None:
                return "stay"
            return "remove" if found == self.new else None
        if found in (None, self.new) and _seen(self.old) == self.before:
            return "restore"
        return "stay" if found == self.before else None

    def keep(self) -> None:
        """Give the file that it replaces a second name, or rename it where there are no links."""
        if self.before is not None:
            try:
                os.link(self.target, self.old)
            except OSError:
                os.replace(self.target, self.old)

    def publish(self) -> None:
        """Set its permissions, once it has its place: until then it was its owner's alone."""
        with open_regular(self.target, os.O_RDONLY) as file:
            if hasattr(os, "fchmod") and not stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                os.fchmod(file.fileno(), self.mode)

    def undo(self, way: WayBack) -> None:
        """Go the way back."""
        if way == "remove":
            os.unlink(self.target)
        elif way == "restore":
            os.replace(self.old, self.target)

    def tidy(self) -> None:
        """Remove what is left under its other names."""
        for path in (self.old, self.draft):
            with suppress(FileNotFoundError):
                os.unlink(path)


def draft_path(target: Path, mark: str) -> Path:
    """Name the file that is written before it takes a place."""
    return target.with_name(f".{mark}.draft.{target.name}")


def record_of(target: Path) -> Path:
    """Name the file that is the record and the lock of a place."""
    return target.with_name(f".{target.name}.pending")


def file_identity(path: Path) -> FileIdentity | None:
    """Return what a file is known by; None if there is no such file."""
    try:
        with open_regular(path, os.O_RDONLY) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
            return os.fstat(file.fileno()).st_size, digest
    except FileNotFoundError:
        return None


def _seen(path: Path) -> FileIdentity | None:
    """Return what a file is known by, if it can be read: nothing that is known equals it if not."""
    try:
        return file_identity(path)
    except OSError:
        return _UNREADABLE


def open_regular(path: Path, flags: int, mode: int = _PRIVATE) -> IO[bytes]:
    """Open a regular file; OSError if it is a link, a pipe, a folder or a device."""
    descriptor = os.open(path, flags | CAREFUL, mode)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return os.fdopen(descriptor, "r+b" if flags & os.O_RDWR else "rb")
    except BaseException:
        with suppress(OSError):
            os.close(descriptor)
        raise


# The lock


def lock(file: IO[Any]) -> bool:
    """Lock a file until it is closed, and tell whether that was possible."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # no such thing here, or another has locked it
        return False
    return True


@contextmanager
def hold_lock(target: Path) -> Iterator[IO[bytes]]:
    """Hold the lock of one place; its file is removed in the end, unless it holds a record."""
    path, end = record_of(target), time.monotonic() + LOCK_WAIT_SECONDS
    while True:
        file = _open_record(path)
        if is_free(file) and is_there(file, path):
            break
        file.close()
        if time.monotonic() > end:
            raise OutputError(
                f"another run is writing {target}", hint="wait until it has ended, or another name"
            )
        time.sleep(0.02)
    with file:
        try:
            yield file
        finally:
            with suppress(OSError):
                if not os.fstat(file.fileno()).st_size:
                    os.unlink(path)


def is_free(file: IO[bytes], *, shared: bool = False) -> bool:
    """Lock a file, and tell whether nobody else has; where there are no locks, nobody has."""
    try:
        import fcntl

        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except ImportError:
        return True
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return True


def _open_record(path: Path) -> IO[bytes]:
    """Open the file of a lock, made if it is not there, and let nobody else hold it."""
    try:
        file = open_regular(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO):
            raise
        raise _in_the_way(path) from None
    found = os.fstat(file.fileno())
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_nlink > 1):
        file.close()
        raise _in_the_way(path)
    return file


def _in_the_way(path: Path) -> OutputError:
    return OutputError(
        f"{path} is in the way: it is not a file of yours", hint="remove it, or choose another name"
    )


def is_there(file: IO[bytes], path: Path) -> bool:
    """Return whether a file still has its name: whoever held the lock before has removed it."""
    try:
        return path.lstat().st_ino == os.fstat(file.fileno()).st_ino
    except FileNotFoundError:
        return False


# The record


def write_record(records: Sequence[IO[bytes]], members: Sequence[RecordedFile]) -> None:
    """Put on the disk what is about to happen; the first record tells, the others point to it."""
    first = members[0].target
    for record, member in zip(records[1:], members[1:], strict=True):
        _put(record, {"of": os.path.relpath(first, member.target.parent)})
    files = [
        {
            "path": os.path.relpath(member.target, first.parent),
            "new": member.new,
            "before": member.before,
            "mode": member.mode,
        }
        for member in members
    ]
    _put(records[0], {"mark": members[0].mark, "files": files})


def _put(record: IO[bytes], told: Mapping[str, Any]) -> None:
    record.seek(0)
    record.write(json.dumps(told).encode())
    record.flush()
    os.fsync(record.fileno())


def empty(records: Sequence[IO[bytes]]) -> None:
    """Empty the records: nothing is about to happen any more."""
    for record in records:
        record.seek(0)
        record.truncate()


def members_of(place: Path) -> list[RecordedFile]:
    """Read the record that a place is in; none if there is none, or if nothing had begun."""
    # Raises if a record was written to its end, and yet is not one that we know how to read.
    told, first = _told(place), place
    if told is not None and isinstance(told.get("of"), str):
        first = Path(os.path.normpath(place.parent / told["of"]))
        told = _told(first)
    if told is None or "of" in told:
        return []
    try:
        mark = told["mark"]
        if not (isinstance(mark, str) and len(mark) == 8 and mark.isalnum()):
            raise ValueError
        members = [_member(entry, mark, first.parent) for entry in told["files"]]
        if members[0].target != first:
            raise ValueError
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise OutputError(
            f"{record_of(first)} tells of a run that was stopped, in words that are not known here",
            hint="look at the files that it names, and remove it when they are right",
        ) from None
    return members if place in [member.target for member in members] else []


def _told(place: Path) -> dict[str, Any] | None:
    """Read what lies beside a place; None if it was not written to its end, or not by us."""
    try:
        with open_regular(record_of(place), os.O_RDONLY) as file:
            owner = os.fstat(file.fileno()).st_uid
            if hasattr(os, "geteuid") and owner not in (os.geteuid(), 0):
                return None
            told = json.loads(file.read(_MOST))
    except (OSError, ValueError, RecursionError):  # whoever writes there says what is in the way
        return None
    return told if isinstance(told, dict) else None


def _member(entry: Mapping[str, Any], mark: str, folder: Path) -> RecordedFile:
    target = Path(os.path.normpath(folder / str(entry["path"])))
    mode = entry["mode"]
    if not target.name or type(mode) is not int or not 0 <= mode <= 0o7777:
        raise ValueError
    before = entry["before"]
    return RecordedFile(
        target, mark, _known(entry["new"]), None if before is None else _known(before), mode
    )


def _known(given: Sequence[Any]) -> FileIdentity:
    size, digest = given
    if type(size) is not int or size < 0 or not isinstance(digest, str):
        raise ValueError
    return size, digest
