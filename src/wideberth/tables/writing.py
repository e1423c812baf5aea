"""Files that are written whole or not at all.

A file is written beside its target, hidden and under another name (`.1a2b3c4d.draft.people.csv`),
and takes the target's place when all of it is on the disk. Whoever looks sees the old file or the
new one, even when the power fails. A run that is killed can leave such a draft behind; the next one
that writes the same target removes it.
"""

from __future__ import annotations

import gzip
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import polars as pl

from wideberth.errors import OutputError
from wideberth.tables.formats import format_of


def write(frame: pl.DataFrame, path: str | Path, *, force: bool = False) -> None:
    """Write a table, its format told by the suffix, all of it or nothing.

    Parameters
    ----------
    frame : polars.DataFrame
        The table; in CSV a missing value becomes an empty field.
    path : str or Path
        Where to; the suffixes are those of :func:`read`.
    force : bool
        Whether to replace a file that exists.
    """
    check_fits(frame.schema, path)
    with drafts(path, force=force) as (draft,):
        put(frame, draft)


def write_text(text: str, path: str | Path, *, force: bool = False) -> None:
    """Write a text file in UTF-8, all of it or nothing; see :func:`write`."""
    with drafts(path, force=force) as (draft,):
        draft.write_bytes(text.encode())


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
    """Tell whether a file that was just written holds a table exactly; in doubt, no."""
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
    """Tell whether a file of text says what a table of text and whole numbers holds."""
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
    """Raise now the :class:`OutputError` that writing would raise later, after the work.

    Parameters
    ----------
    path : str or Path
        Where something is to be written.
    force : bool
        Whether a file that exists may be replaced.
    table : bool
        Whether it is a table, whose format the suffix must tell.
    sources : iterable of str or Path
        Files that are read for it. They are never replaced, by whatever name they go.
    """
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
        raise OutputError(f"{path} exists", hint="choose another name, or replace it with --force")
    if not path.parent.is_dir():
        raise OutputError(f"there is no directory {path.parent}", hint="create it first")
    folder = os.path.dirname(os.path.realpath(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"nothing may be written in {folder}", hint="choose another directory")


@contextmanager
def drafts(*paths: str | Path, force: bool = False) -> Iterator[list[Path]]:
    """Yield an empty file for each path, which takes its place when the block ends well.

    Parameters
    ----------
    *paths : str or Path
        What is to be written, the most important first. It comes last into its place, so that
        whoever sees it sees the others as well.
    force : bool
        Whether to replace files that exist.

    Yields
    ------
    list of Path
        Files beside the targets, with their suffixes. Write into them, and do not replace them.
    """
    for path in paths:
        check_target(path, force=force)
    targets = [Path(os.path.realpath(path)) for path in paths]  # a link stays a link
    made: list[Path] = []
    try:
        with ExitStack() as opened:
            files = []
            for target in targets:
                _remove_stale_drafts(target)
                made.append(target.with_name(f".{secrets.token_hex(4)}.draft.{target.name}"))
                files.append(opened.enter_context(made[-1].open("xb")))
                lock(files[-1])
                if target.exists():  # what only its owner may read stays so
                    made[-1].chmod(stat.S_IMODE(target.stat().st_mode) | 0o600)
            yield list(made)
            for file in files:
                os.fsync(file.fileno())
        for draft, target in reversed(list(zip(made, targets, strict=True))):
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            draft.replace(target)
            _sync(target.parent)
    except (OSError, pl.exceptions.PolarsError) as error:
        what = f"{paths[0]} cannot be written: {_reason(error)}"
        raise OutputError(what, hint="check the disk and the permissions") from None
    finally:
        for draft in made:
            with suppress(OSError):  # it has been renamed, or the folder is gone as well
                draft.unlink(missing_ok=True)


def _reason(error: OSError | pl.exceptions.PolarsError) -> str:
    # polars tells the system's error only by its number, after a text that may be about cells.
    number = re.search(r"\(os error (\d+)\)", str(error))
    said = os.strerror(int(number[1])) if number else getattr(error, "strerror", None)
    return said or type(error).__name__


def _remove_stale_drafts(target: Path) -> None:
    """Remove what runs that were killed have left; a run that lives holds a lock on its draft."""
    draft = re.compile(rf"\.[0-9a-f]{{8}}\.draft\.{re.escape(target.name)}")
    with suppress(OSError):
        for found in [p for p in target.parent.iterdir() if draft.fullmatch(p.name)]:
            with suppress(OSError), found.open("rb") as file:
                if lock(file):
                    found.unlink()


def lock(file: IO[Any]) -> bool:
    """Lock a file until it is closed, and tell whether that was possible."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):  # no such thing here, or another has locked it
        return False
    return True


def _sync(folder: Path) -> None:
    """Put a folder's names on the disk as well, where the system knows how."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
