"""Where Spark writes: on any file system that it knows, whole or not at all."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth import io
from wideberth.errors import OutputError, what_to_type
from wideberth.io.manifest import files_sha256, manifest_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


#: Spark takes no larger file as one value.
_LARGE = 2**30
#: Seconds after which a run that left its record elsewhere is taken to have been stopped.
_RECENT = 600
#: Seconds without a change after which a draft is taken to have been left behind: elsewhere, where
#: there are no locks; and here, if it has none, for a lock is there at once.
_LATE_ELSEWHERE, _LATE_HERE = 7 * 24 * 3600, 3600
_LOCK = "lock"
#: Permissions of folders and files that are nobody else's business.
_OWNER_ONLY = ("700", "600")


def record_name(name: str) -> str:
    """Name the file that says what a run is about to replace."""
    return f".{name}.unfinished"


def require_folder(path: str, table: str, *, force: bool) -> None:
    """Refuse, before Spark is started, a place where it cannot write."""
    if not path.rstrip("/").endswith((".parquet", ".pq")):
        raise OutputError(f"Spark writes Parquet, and {path} is none", hint="-o release.parquet")
    # On a file system of another machine nothing can be told yet.
    if "://" in path:
        return
    target = Path(path.rstrip("/"))
    if target.exists() and Path(table).exists() and target.samefile(table):
        raise OutputError(
            f"{path} is the file that is read", hint="choose another name: originals are kept"
        )
    if target.with_name(record_name(target.name)).exists():
        return  # what is there is put in order first, which takes Spark
    for taken in (target, manifest_path(target)):
        if taken.exists() and not force:
            raise OutputError(
                f"{taken} exists",
                hint=what_to_type(
                    python="choose another name, or replace it with force=True",
                    command="choose another name, or replace it with --force",
                ),
            )
    if target.is_dir() and not manifest_path(target).exists():
        raise _foreign(path)
    if not target.parent.is_dir():
        raise OutputError(f"there is no directory {target.parent}", hint="create it first")


def _foreign(path: str) -> OutputError:
    return OutputError(
        f"{path} is a folder without a manifest, so it is no release that could be replaced",
        hint="choose another name, or remove it yourself",
    )


@dataclass(frozen=True, eq=False)
class SparkTarget:
    """A folder to be, and the manifest beside it."""

    path: Any  # paths of Hadoop's
    note_path: Any
    system: Any  # their file system, an instance of our own: the caller's settings stay as they are
    jvm: Any
    force: bool  # whether to replace what is there

    @classmethod
    def of(
        cls, spark: SparkSession, path: str, *, force: bool, sources: Sequence[str] = ()
    ) -> SparkTarget:
        """Find a place, and refuse one that is taken."""
        jvm: Any = spark._jvm
        hadoop = jvm.org.apache.hadoop.fs
        target = hadoop.Path(path.rstrip("/"))
        note = hadoop.Path(path.rstrip("/") + ".manifest.json")
        conf = spark._jsc.hadoopConfiguration()
        system = hadoop.FileSystem.newInstance(target.getFileSystem(conf).getUri(), conf)
        system.setWriteChecksum(False)  # hidden files beside the manifest
        here = system.makeQualified(target).toUri()
        for source in map(jvm.java.net.URI.create, sources):  # which Spark writes as URLs
            alike = source.getScheme() == here.getScheme()
            if alike and _within(source.getPath(), here.getPath()):
                raise OutputError(
                    f"{path} is what is read", hint="choose another name: originals are kept"
                )
        place = cls(target, note, system, jvm, force)
        if system.exists(place.record):
            with place._locked():
                place._recover()
        place._sweep()
        place._require_free()
        above = target.getParent()
        if above is not None and above.toString() and not system.exists(above):
            raise OutputError(f"there is no directory {above.toString()}", hint="create it first")
        return place

    @property
    def name(self) -> str:
        """The folder's name."""
        return str(self.path.getName())

    @contextmanager
    def drafts(self) -> Iterator[tuple[str, Callable[[str], None]]]:
        """Yield a folder beside the place, and a function that writes the manifest."""
        # Both are made in a folder that its owner alone may enter. They take their places when the
        # block ends well, the folder last; else neither does, and what was there before stays. What
        # they replace is first put aside, so that no manifest is ever beside a table of another
        # release, and a record says so until all is done.
        mark = secrets.token_hex(4)
        made, aside = self._names(mark)
        begun = False
        try:
            with self._private(self._draft(mark)):
                yield str(made[1].toString()), lambda text: self._write(made[0], text)
                with self._locked():
                    self._recover()
                    self._require_free()
                    existed = [bool(self.system.exists(goal)) for goal in self.goals]
                    told = json.dumps({"mark": mark, "existed": existed})
                    self._write(self.record, told, new=True)
                    begun = True
                    try:
                        for goal, old, was in zip(self.goals, aside, existed, strict=True):
                            if was:
                                self._rename(goal, old)
                        for draft, goal in zip(made, self.goals, strict=True):
                            self._rename(draft, goal)
                    finally:
                        self._end(mark, existed)
        finally:
            if not begun:
                self._delete(self._draft(mark))
            self.system.close()

    @contextmanager
    def _private(self, folder: Any) -> Iterator[None]:
        """Make a folder that its owner alone may enter, and hold a lock on it if it is here."""
        owner_only = self._permission(_OWNER_ONLY[0])
        self.system.mkdirs(folder, owner_only)
        self.system.setPermission(folder, owner_only)
        if self.local is None:
            yield
            return
        here = self.local.with_name(str(folder.getName()))
        with (here / "locking").open("xb") as file:
            io.lock(file)
            (here / "locking").rename(here / _LOCK)  # nobody sees it before it is locked
            yield

    def _permission(self, octal: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.permission.FsPermission(octal)

    def _sweep(self) -> None:
        """Remove drafts of runs that were killed before they had a record."""
        draft = re.compile(rf"\.[0-9a-f]{{8}}\.draft\.{re.escape(self.name)}")
        above = self.system.makeQualified(self.path).getParent()
        if above is None or not self.system.exists(above):
            return
        for found in self.system.listStatus(above):
            name = str(found.getPath().getName())
            if draft.fullmatch(name) and found.isDirectory() and self._left_behind(found):
                self._delete(found.getPath())

    def _left_behind(self, found: Any) -> bool:
        """Return whether a draft is of a run that no longer lives."""
        path = found.getPath()
        if self.local is None:
            inside = [one.getModificationTime() for one in self.system.listStatus(path)]
            changed = max([found.getModificationTime(), *inside])
            return bool(time.time() - changed / 1000 > _LATE_ELSEWHERE)
        folder = self.local.with_name(str(path.getName()))
        if folder.is_symlink() or (hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid()):
            return False
        try:
            with io.open_regular(folder / _LOCK, os.O_RDONLY) as file:
                return io.lock(file)
        except FileNotFoundError:  # killed before it could lock
            return time.time() - folder.stat().st_mtime > _LATE_HERE
        except OSError:
            return False

    @property
    def goals(self) -> list[Any]:
        """The manifest and the folder, in the order in which they take their places."""
        return [self.note_path, self.path]

    @property
    def record(self) -> Any:
        """The file that says what is about to happen."""
        return self._beside(record_name(self.name))

    def _draft(self, mark: str) -> Any:
        """Name the private folder in which manifest and folder are made."""
        return self._beside(f".{mark}.draft.{self.name}")

    def _names(self, mark: str) -> tuple[list[Any], list[Any]]:
        """Return the drafts of manifest and folder, and the names for what they replace."""
        names = [str(goal.getName()) for goal in self.goals]
        path, folder = self.jvm.org.apache.hadoop.fs.Path, self._draft(mark)
        drafts = [path(folder, name) for name in names]
        return drafts, [self._beside(f".{mark}.old.{name}") for name in names]

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock on the place, if it is on this machine; elsewhere the record is the lock."""
        if self.local is None:
            yield
            return
        with io.locked(self.local, manifest_path(self.local)):
            yield

    @property
    def local(self) -> Path | None:
        """Where it is on this machine; None if it is elsewhere."""
        here = self.system.makeQualified(self.path).toUri()
        return Path(here.getPath()) if here.getScheme() == "file" else None

    def _recover(self) -> None:
        """Put in order what a run has left that was stopped; refuse if it may still be running."""
        if not self.system.exists(self.record):
            return
        if self.local is None:
            age = time.time() - self.system.getFileStatus(self.record).getModificationTime() / 1000
            if age < _RECENT:
                raise self._busy()
        elif self._is_strange(self.local.with_name(record_name(self.name))):
            raise OutputError(
                f"{self.record.toString()} is in the way: it is not a file of yours",
                hint="remove it, or choose another name",
            )
        mark, existed = self._told()
        if not mark:  # nothing had begun
            self._delete(self.record)
            return
        done = self._end(mark, existed)
        said = "all its files had their places" if done else "what it had replaced is back"
        what = f"a run was stopped while it wrote {self.name}; {said}"
        warnings.warn(what, io.TableWarning, stacklevel=6)

    @staticmethod
    def _is_strange(path: Path) -> bool:
        found = path.lstat()
        ours = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        return not (stat.S_ISREG(found.st_mode) and ours)

    def _told(self) -> tuple[str, list[bool]]:
        """Read the record; an empty mark if it was not written to its end."""
        stream = self.system.open(self.record)
        try:
            text = self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()
        try:
            told = json.loads(text)
            mark, (note, folder) = str(told["mark"]), told["existed"]
        except (ValueError, TypeError, KeyError):
            return "", []
        return (mark, [bool(note), bool(folder)]) if re.fullmatch("[0-9a-f]{8}", mark) else ("", [])

    def _end(self, mark: str, existed: Sequence[bool]) -> bool:
        """Undo what was begun unless all is done; remove the record; return whether all is done."""
        # If undoing fails, the record stays, and the next run tries again.
        made, aside = self._names(mark)
        done = not any(map(self.system.exists, made)) and all(map(self.system.exists, self.goals))
        if not done:
            for draft, goal, old, was in zip(made, self.goals, aside, existed, strict=True):
                self._put_back(draft, goal, old, was)
        for path in (*aside, self._draft(mark), self.record):
            self._delete(path)
        return done

    def _put_back(self, draft: Any, goal: Any, old: Any, existed: bool) -> None:
        """Undo what has been done for one of the two; refuse if that is not possible."""
        kept = self.system.exists(old)
        if self.system.exists(goal) and not self.system.exists(draft) and (kept or not existed):
            self._delete(goal)  # it was the draft
        if kept and (self.system.exists(goal) or not self.system.rename(old, goal)):
            raise OutputError(
                f"{goal.toString()} could not be put back", hint=f"it is now {old.toString()}"
            )

    def _busy(self) -> OutputError:
        return OutputError(
            f"another run is writing {self.path.toString()}, or was stopped a moment ago",
            hint=f"wait ten minutes, or remove {self.record.toString()} if no other run is left",
        )

    def _require_free(self) -> None:
        """Refuse a place that is taken."""
        for taken in (self.path, self.note_path):
            if self.system.exists(taken) and not self.force:
                raise OutputError(
                    f"{taken.toString()} exists",
                    hint=what_to_type(
                        python="choose another name, or replace it with force=True",
                        command="choose another name, or replace it with --force",
                    ),
                )
        if self.system.exists(self.path) and not self.system.exists(self.note_path):
            raise _foreign(self.path.toString())

    def _delete(self, path: Any) -> None:
        if self.system.exists(path):
            self.system.delete(path, True)

    def _rename(self, source: Any, target: Any) -> None:
        if not self.system.rename(source, target):
            raise OutputError(
                f"{self.path.toString()} cannot be written: renaming failed",
                hint="check the permissions",
            )

    def _beside(self, name: str) -> Any:
        above, path = self.path.getParent(), self.jvm.org.apache.hadoop.fs.Path
        return path(name) if above is None else path(above, name)

    def _write(self, path: Any, text: str, *, new: bool = False) -> None:
        stream = self.system.create(path, not new)
        try:
            if new:  # the record; what is in the private folder gets the usual permissions
                self.system.setPermission(path, self._permission(_OWNER_ONLY[1]))
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def _within(path: str, folder: str) -> bool:
    """Return whether a path is in a folder, or the folder itself, whatever links lead there."""
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return inner == outer or outer in inner.parents


def folder_sha256(spark: SparkSession, path: str) -> str | None:
    """Return a SHA-256 over the names and hashes of a folder's files; None if one is too large."""
    from pyspark.sql import functions as sql

    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(path)
    if files.where(sql.col("length") > _LARGE).count():
        return None
    name = sql.element_at(sql.split("path", "/"), -1)
    found = files.select(name, sql.sha2("content", 256)).collect()
    return files_sha256(dict(map(tuple, found)))
