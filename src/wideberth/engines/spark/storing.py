"""Where Spark writes: on any file system that it knows, whole or not at all."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth.errors import OutputError
from wideberth.release import manifest_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_LARGE = 2**30


def require_folder(path: str, table: str, *, force: bool) -> None:
    """Refuse, before Spark is started, a place where it cannot write.

    Parameters
    ----------
    path : str
        Where to; on a file system of another machine nothing can be told yet.
    table : str
        The table that is read, which is never replaced.
    force : bool
        Whether to replace what is there.
    """
    if not path.rstrip("/").endswith((".parquet", ".pq")):
        raise OutputError(f"Spark writes Parquet, and {path} is none", hint="-o release.parquet")
    if "://" in path:
        return
    target = Path(path)
    if target.exists() and Path(table).exists() and target.samefile(table):
        raise OutputError(
            f"{path} is the file that is read", hint="choose another name: originals are kept"
        )
    for taken in (target, manifest_path(target)):
        if taken.exists() and not force:
            raise OutputError(
                f"{taken} exists", hint="choose another name, or replace it with --force"
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
class Place:
    """A folder to be, and the manifest beside it.

    Parameters
    ----------
    path, note_path : java object
        Paths of Hadoop's.
    system : java object
        Their file system, an instance of our own: settings of the caller's stay as they are.
    jvm : java gateway
        Java.
    """

    path: Any
    note_path: Any
    system: Any
    jvm: Any

    @classmethod
    def of(
        cls, spark: SparkSession, path: str, *, force: bool, sources: Sequence[str] = ()
    ) -> Place:
        """Find a place, and refuse one that is taken.

        Parameters
        ----------
        spark : SparkSession
            Knows the file systems.
        path : str
            The folder to be.
        force : bool
            Whether to replace what is there.
        sources : sequence of str
            Files that are read; they are never replaced.
        """
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
        for taken in (target, note):
            if system.exists(taken) and not force:
                raise OutputError(
                    f"{taken.toString()} exists",
                    hint="choose another name, or replace it with --force",
                )
        if system.exists(target) and not system.exists(note):
            raise _foreign(path)
        above = target.getParent()
        if above is not None and above.toString() and not system.exists(above):
            raise OutputError(f"there is no directory {above.toString()}", hint="create it first")
        return cls(target, note, system, jvm)

    @property
    def name(self) -> str:
        """The folder's name."""
        return str(self.path.getName())

    @contextmanager
    def drafts(self) -> Iterator[tuple[str, Callable[[str], None]]]:
        """Yield a folder beside the place, and what writes the manifest.

        Both take their places when the block ends well, the folder last; else neither does, and
        what was there before stays.
        """
        mark = secrets.token_hex(4)
        goals = [self.note_path, self.path]
        made = [self._beside(f".{mark}.draft.{goal.getName()}") for goal in goals]
        aside = [self._beside(f".{mark}.old.{goal.getName()}") for goal in goals]
        begun = complete = False
        try:
            yield str(made[1].toString()), lambda text: self._write(made[0], text)
            begun = True
            for draft, goal, old in zip(made, goals, aside, strict=True):
                if self.system.exists(goal):
                    self._rename(goal, old)
                self._rename(draft, goal)
            complete = True
        finally:
            for draft, goal, old in zip(made, goals, aside, strict=True):
                if complete:
                    self._delete(old)
                elif begun:
                    self._put_back(draft, goal, old)
                self._delete(draft)
            self.system.close()

    def _put_back(self, draft: Any, goal: Any, old: Any) -> None:
        """Undo what has been done for one of the two; what cannot be undone is left, and said."""
        if self.system.exists(goal) and not self.system.exists(draft):
            self._delete(goal)  # it was the draft
        if self.system.exists(old) and (
            self.system.exists(goal) or not self.system.rename(old, goal)
        ):
            raise OutputError(
                f"{goal.toString()} could not be put back", hint=f"it is now {old.toString()}"
            )

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

    def _write(self, path: Any, text: str) -> None:
        stream = self.system.create(path, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()


def _within(path: str, folder: str) -> bool:
    """Tell whether a path is in a folder, or the folder itself, whatever links lead there."""
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return inner == outer or outer in inner.parents


def fingerprint(spark: SparkSession, path: str) -> str | None:
    """Return a SHA-256 over the Parquet files of a folder: over their names and own SHA-256.

    None if one of them is larger than Spark takes as one value. Executors read them.
    """
    from pyspark.sql import functions as sql

    files = spark.read.format("binaryFile").option("pathGlobFilter", "*.parquet").load(path)
    if files.where(sql.col("length") > _LARGE).count():
        return None
    name = sql.element_at(sql.split("path", "/"), -1)
    found = files.select(name, sql.sha2("content", 256)).collect()
    lines = "".join(sorted(f"{digest}  {file}\n" for file, digest in found))
    return hashlib.sha256(lines.encode()).hexdigest()
