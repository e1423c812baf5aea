"""Files that are written whole or not at all.

A file is written beside its target, hidden and under another name (`.1a2b3c4d.draft.people.csv`),
and takes the target's place when all of it is on the disk. Whoever looks sees the old file or the
new one, even when the power fails. Until then only its owner may read it. A run that is killed can
leave such a draft behind; the next one that writes the same target removes it. Several files take
their places together: see :mod:`wideberth.io.transaction`.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import secrets
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, cast

import polars as pl

from wideberth.errors import OutputError, what_to_type
from wideberth.io.formats import format_of
from wideberth.io.journal import CAREFUL, draft_path, is_free, is_there, lock, open_regular
from wideberth.io.transaction import place, repair


def write(frame: pl.DataFrame, path: str | Path, *, force: bool = False) -> None:
    """Write a table in the format that the suffix names, all of it or nothing."""
    # In CSV a missing value becomes an empty field.
    check_fits(frame.schema, path)
    with drafts(path, force=force) as (draft,):
        put(frame, draft)


def write_text(text: str, path: str | Path, *, force: bool = False) -> None:
    """Write a text file in UTF-8, all of it or nothing; see :func:`write`."""
    with drafts(path, force=force) as (draft,):
        draft.write_bytes(text.encode())


#: In seconds: how long a draft is made again that another run sweeps.
_PATIENCE = 5.0
#: How many bytes of a file are read back at a time.
_PIECE = 1 << 24


def put(frame: pl.DataFrame, path: Path) -> None:
    """Write a table into a file that nobody looks at yet: one of :func:`drafts`."""
    suffix, form = check_fits(frame.schema, path)
    with path.open("wb") as file:
        if form == "Parquet":
            frame.write_parquet(file)
        elif form == "Arrow":
            frame.write_ipc(file)
        elif suffix.endswith(".gz"):
            # Without a time stamp and a name the same table is the same file.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                frame.write_csv(cast("IO[bytes]", packed), separator=_separator(suffix))
        else:
            frame.write_csv(file, separator=_separator(suffix))


def holds(path: Path, frame: pl.DataFrame) -> bool:
    """Return whether a file that was just written holds a table exactly; in doubt, no."""
    suffix, form = format_of(path, OutputError)
    try:
        with path.open("rb") as file:
            if form == "Parquet":
                return pl.read_parquet(file).equals(frame)
            if form == "Arrow":
                return pl.read_ipc(file).equals(frame)
        return _says(path, suffix, frame)
    except pl.exceptions.PolarsError:
        return False


def _says(path: Path, suffix: str, frame: pl.DataFrame) -> bool:
    """Return whether a file of text says what a table of text and whole numbers holds."""
    plain = (pl.Enum, pl.String, pl.Boolean)
    for series in (*frame, pl.Series(frame.columns)):
        texts = _texts(series)
        # Others may read an empty field as missing, and with newlines a line is not a row.
        if (texts == "").any() or texts.str.contains("[\n\r]").any():
            return False
        if series.dtype not in plain and not series.dtype.is_integer():
            return False
    comma = _separator(suffix)
    begin = 0
    with cast("IO[bytes]", gzip.open(path) if suffix.endswith(".gz") else path.open("rb")) as file:
        header = file.readline()
        while piece := file.read(_PIECE):  # a piece at a time, so that little memory is needed
            text = header + piece + file.readline()
            written = pl.read_csv(text, separator=comma, schema=frame.schema)
            if not written.equals(frame.slice(begin, written.height)):
                return False
            begin += written.height
    names = pl.read_csv(header, separator=comma).columns
    return begin == frame.height and names == frame.columns


def _texts(series: pl.Series) -> pl.Series:
    """Return the texts that a column may hold; none for a column of numbers."""
    dtype = series.dtype
    texts = dtype.categories if isinstance(dtype, pl.Enum) else series
    return texts.alias("") if texts.dtype == pl.String else pl.Series([], dtype=pl.String)


_UNFIT: dict[type[pl.DataType], str] = {
    pl.List: "lists",
    pl.Array: "lists",
    pl.Struct: "structs",
    pl.Binary: "bytes",
    pl.Duration: "durations",
    pl.Object: "objects",
}


def _separator(suffix: str) -> str:
    return "\t" if ".tsv" in suffix else ","


def check_fits(columns: Mapping[str, pl.DataType], path: str | Path) -> tuple[str, str]:
    """Return suffix and format of a file that can hold columns of these types, or raise."""
    suffix, form = format_of(Path(path), OutputError)
    for name, dtype in columns.items() if form == "CSV" else ():
        held = _UNFIT.get(dtype.base_type())
        if held is not None:
            what = f"column {name!r} holds {held}, which a CSV file cannot"
            raise OutputError(what, hint="write a .parquet file")
    return suffix, form


def check_target(
    path: str | Path,
    *,
    force: bool = False,
    table: bool = False,
    sources: Iterable[str | Path] = (),
) -> None:
    """Raise now the :class:`OutputError` that writing would raise later, after the work."""
    # table: it is a table, whose format the suffix must name. sources: files that are read for it;
    # they are never replaced, by whatever name they go.
    path = Path(path)
    if table:
        format_of(path, OutputError)
    for source in sources:
        with suppress(OSError):  # what cannot be looked at cannot be the same file
            if path.samefile(source):
                what = f"{path} is the file that is read ({source})"
                raise OutputError(what, hint="choose another name: originals are never replaced")
    if path.exists() and not path.is_file():  # renaming onto a device would remove it
        what = "a directory" if path.is_dir() else "not a regular file"
        raise OutputError(f"{path} is {what}", hint="name a file")
    if path.exists() and not force:
        raise OutputError(
            f"{path} exists",
            hint=what_to_type(
                python="choose another name, or replace it with force=True",
                command="choose another name, or replace it with --force",
            ),
        )
    if not path.parent.is_dir():
        raise OutputError(f"there is no directory {path.parent}", hint="create it first")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"nothing may be written in {folder}", hint="choose another directory")


@contextmanager
def drafts(*paths: str | Path, force: bool = False) -> Iterator[list[Path]]:
    """Yield an empty file for each path, which takes its place when the block ends well."""
    # The first comes last into its place, so that whoever sees it sees the others as well. Write
    # into the files that this yields, and do not replace them.
    targets = [Path(os.path.realpath(path)) for path in paths]  # a link stays a link
    repair(*targets)
    for path in paths:
        check_target(path, force=force)
    mark = secrets.token_hex(4)
    made: list[Path] = []
    try:
        modes = []
        with ExitStack() as stack:
            files = []
            for target in targets:
                sweep_drafts(target)
                draft = draft_path(target, mark)
                modes.append(_mode(target, mark))
                files.append(stack.enter_context(_draft(draft)))
                made.append(draft)
            yield list(made)
            for file in files:
                os.fsync(file.fileno())
        place(targets, mark, modes, force=force)
    except (OSError, pl.exceptions.PolarsError) as error:
        what = f"{paths[0]} cannot be written: {_reason(error)}"
        raise OutputError(what, hint="check the disk and the permissions") from None
    finally:
        for draft in made:
            with suppress(OSError):  # it has been renamed, or the folder is gone as well
                draft.unlink(missing_ok=True)


def _draft(path: Path) -> IO[bytes]:
    """Make a draft, and lock it; where another run has just swept it, make it again."""
    end = time.monotonic() + _PATIENCE
    while True:
        with suppress(FileExistsError):  # that run holds it, and removes it next
            file = _new(path, 0o600)
            if is_free(file) and is_there(file, path):
                return file
            file.close()
        if time.monotonic() > end:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        time.sleep(0.01)


def _new(path: Path, mode: int) -> IO[bytes]:
    """Make a file that was not there, and open it."""
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | CAREFUL, mode), "r+b")


def _mode(target: Path, mark: str) -> int:
    """Return the permissions of the file that is replaced, or those that a new one gets here."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    probe = target.with_name(f".{mark}.usual.{target.name}")  # empty, and gone at once
    with _new(probe, 0o666) as usual:
        probe.unlink(missing_ok=True)
        return stat.S_IMODE(os.fstat(usual.fileno()).st_mode)


def _reason(error: OSError | pl.exceptions.PolarsError) -> str:
    # polars tells the system's error only by its number, after a text that may be about cells.
    number = re.search(r"\(os error (\d+)\)", str(error))
    said = os.strerror(int(number[1])) if number else getattr(error, "strerror", None)
    return said or type(error).__name__


def sweep_drafts(*targets: str | Path) -> None:
    """Remove drafts of runs that were killed; a run that lives holds a lock on its draft."""
    for target in map(Path, targets):
        draft = re.compile(rf"\.[0-9a-f]{{8}}\.(draft|usual)\.{re.escape(target.name)}")
        with suppress(OSError):
            for found in [p for p in target.parent.iterdir() if draft.fullmatch(p.name)]:
                with suppress(OSError), open_regular(found, os.O_RDONLY) as file:
                    if lock(file):
                        found.unlink()
