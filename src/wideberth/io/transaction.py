"""Several files that take their places together, or not at all.

One file takes its place by renaming, at once; several cannot. So before the first of them does, a
record of what is about to happen is put on the disk (see :mod:`wideberth.io.journal`), and every
file that is to be replaced gets a second name (`.1a2b3c4d.old.people.csv`). The record is emptied
when all files have their places, or when what was there before is back. Until then every old file
exists, under one name or the other. A run that finds the record of a run that was stopped puts back
what was there, unless all files had their places. If it cannot be sure of each file what it is, it
leaves all of them as they are, and says so.
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Literal

from wideberth.errors import OutputError, what_to_type
from wideberth.io import journal as records
from wideberth.io.csv import TableWarning
from wideberth.io.journal import (
    FileIdentity,
    RecordedFile,
    draft_path,
    file_identity,
    hold_lock,
    members_of,
    record_of,
)

#: What a system answers that cannot synchronize a folder at all.
_UNABLE = (errno.EINVAL, errno.EACCES, errno.EPERM, errno.EBADF, errno.ENOSYS, errno.ENOTSUP)


def place(targets: Sequence[Path], mark: str, modes: Sequence[int], *, force: bool) -> None:
    """Let drafts take their places, all or none, the first of them last."""
    # targets: without links. Drafts are their owner's alone until all of them have their places.
    # mark: what their names begin with; see `draft_path`.
    if len(targets) == 1:
        alone = RecordedFile(targets[0], mark, (0, ""), None, modes[0])
        os.replace(alone.draft, alone.target)
        alone.publish()
        sync(targets[0].parent, certain=False)
        return
    drafts = _contents([draft_path(target, mark) for target in targets])
    with locked(*targets) as locks:
        members = []
        for target, mode, new, old in zip(targets, modes, drafts, _contents(targets), strict=True):
            if new is None:
                raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
            if old is not None and not force:
                raise OutputError(
                    f"{target} exists",
                    hint=what_to_type(
                        python="choose another name, or replace it with force=True",
                        command="choose another name, or replace it with --force",
                    ),
                )
            members.append(RecordedFile(target, mark, new, old, mode))
        try:
            records.write_record(locks, members)
            sync(targets[0].parent, certain=True)
            for member in members:
                member.keep()
            _sync_all(members, certain=True)
            for member in reversed(members):
                os.replace(member.draft, member.target)
            for member in reversed(members):
                member.publish()
        except BaseException as error:
            _abandon(locks, members, error)
            raise
        _sync_all(members, certain=False)
        with suppress(OSError):  # it is whole; the next run removes what is left
            _tidy(locks, members)


def repair(*targets: str | Path) -> None:
    """Put in order what a run has left that was stopped while it replaced such a file; say so."""
    for target in targets:
        place = Path(os.path.realpath(target))
        if members := members_of(place):
            _repair(members)
        elif os.path.lexists(record_of(place)):  # of a run that had not begun
            with hold_lock(place) as file:
                if not members_of(place):
                    records.empty([file])


def unfinished(target: str | Path) -> Literal["", "running", "stopped"]:
    """Return whether only some of the files that a file belongs to are in their places, and why."""
    place = Path(os.path.realpath(target))
    with suppress(OSError, OutputError):
        members = members_of(place)
        placed = [member.placed for member in members]
        if any(placed) and not all(placed):
            with records.open_regular(record_of(members[0].target), os.O_RDONLY) as file:
                if not records.is_free(file, shared=True):
                    return "running"
                return "stopped" if members_of(place) == members else ""
    return ""


@contextmanager
def locked(*targets: Path) -> Iterator[list[IO[bytes]]]:
    """Lock places, and put in order what a run left that was stopped; yield their records."""
    while True:
        repair(*targets)
        with ExitStack() as stack:
            locks = {target: stack.enter_context(hold_lock(target)) for target in sorted(targets)}
            if any(members_of(target) for target in targets):
                continue  # another run has been stopped since
            found = [locks[target] for target in targets]
            records.empty(found)
            yield found
            return


def sync(folder: Path, *, certain: bool) -> None:
    """Write the names in a folder to the disk as well, where the system knows how."""
    # certain: a disk that fails is an error, as what follows relies on the names.
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if certain and error.errno not in _UNABLE:
            raise


def _sync_all(members: Sequence[RecordedFile], *, certain: bool) -> None:
    for folder in {member.target.parent for member in members}:
        sync(folder, certain=certain)


def _contents(paths: Sequence[Path]) -> list[FileIdentity | None]:
    with ThreadPoolExecutor(len(paths)) as pool:  # hashing lets others work meanwhile
        return list(pool.map(file_identity, paths))


def _repair(known: Sequence[RecordedFile]) -> None:
    """Put in order what a record tells of, unless another run has done so meanwhile."""
    first = known[0].target
    places = {first, *(member.target for member in known if member.target.parent.is_dir())}
    with ExitStack() as stack:
        locks = {target: stack.enter_context(hold_lock(target)) for target in sorted(places)}
        members = members_of(first)
        if not members or members != known:
            return
        try:
            done = all(member.placed for member in members)
            if done:
                for member in members:
                    member.publish()
            begun = done or _undo(members)
            _tidy([locks[first], *(locks[target] for target in places - {first})], members)
        except OSError as error:
            raise OutputError(
                f"a run was stopped while it wrote {first}, and its files cannot be put in order: "
                f"{error.strerror}",
                hint=_again(),
            ) from None
    if begun:
        warnings.warn(
            f"a run was stopped while it wrote {first.name}; " + (_DONE if done else _BACK),
            TableWarning,
            stacklevel=5,
        )


_DONE = "all its files had their places"
_BACK = "what it had replaced is back, and its own files are removed"


def _undo(members: Sequence[RecordedFile]) -> bool:
    """Put back what was there, if that is certain of every file; tell whether anything changed."""
    ways = [member.way_back for member in members]
    changed = [member for member, way in zip(members, ways, strict=True) if way is None]
    if changed:
        raise _uncertain(members[0].target, changed)
    for member, way in zip(members, ways, strict=True):
        if way is not None:
            member.undo(way)
    _sync_all(members, certain=False)
    return any(way != "stay" for way in ways)


def _uncertain(first: Path, changed: Sequence[RecordedFile]) -> OutputError:
    """Return an error: nothing was touched, and how to go on."""
    names = " and ".join(member.target.name for member in changed)
    kept = [str(member.old) for member in changed if os.path.lexists(member.old)]
    back = f"; what was there before is kept as {' and '.join(kept)}" if kept else ""
    return OutputError(
        f"a run was stopped while it wrote {first}, and {names} can neither be told to be its own "
        f"nor what was there before: all files are left as they are{back}",
        hint=f"move {names} elsewhere and run this again, which puts back what is kept; or, if the "
        f"files are right as they are, remove {record_of(first)}",
    )


def _tidy(locks: Sequence[IO[bytes]], members: Sequence[RecordedFile]) -> None:
    """Remove what is no longer needed, for all is done or all is back; empty the record."""
    for member in members:
        member.tidy()
    records.empty(locks)


def _abandon(
    locks: Sequence[IO[bytes]], members: Sequence[RecordedFile], error: BaseException
) -> None:
    """Undo what was begun; if that fails, the record stays, and the next run repairs the files."""
    try:
        _undo(members)
        _tidy(locks, members)
    except OSError as failed:
        if all(_is_back(member) for member in members):
            return  # it is whole; the next run removes what is left
        raise OutputError(
            f"{members[0].target} is unfinished: its files could neither all be written nor all be "
            f"put back ({(error if isinstance(error, OSError) else failed).strerror})",
            hint=_again(),
        ) from None


def _is_back(member: RecordedFile) -> bool:
    with suppress(OSError):
        return file_identity(member.target) == member.before
    return False


def _again() -> str:
    force = what_to_type(python="force=True", command="--force")
    return f"check the disk and the permissions, then run this again with {force}: it repairs them"
