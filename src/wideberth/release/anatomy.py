"""An anatomised release: exact quasi-identifiers in one table, sensitive values in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from wideberth import io
from wideberth.checks.check import check
from wideberth.errors import OutputError, VerificationError
from wideberth.io.manifest import MANIFEST, NAMES, manifest_path, sha256
from wideberth.policy.two_tables import join
from wideberth.release.release import Release, fingerprint, manifest_text
from wideberth.utility.queries import query_error
from wideberth.utility.workload import QueryError


class Targets(NamedTuple):
    """The files of an anatomised release, and the folder that is made for them if need be."""

    quasi: Path
    sensitive: Path
    manifest: Path
    folder: Path | None = None

    @property
    def files(self) -> tuple[Path, Path, Path]:
        """What is written."""
        return self[:3]


def targets(output: Sequence[str | Path], suffix: str) -> Targets:
    """Return the files that an anatomised release is written to.

    >>> [str(path) for path in targets(["out"], ".csv").files]
    ['out/quasi.csv', 'out/sensitive.csv', 'out/manifest.json']
    """
    # output: a folder, or two files, of which the first is for the quasi-identifiers.
    if len(output) == 2:
        quasi, sensitive = map(Path, output)
        if quasi.resolve() == sensitive.resolve():
            raise OutputError("both tables would be written to one file", hint="name two files")
        return Targets(quasi, sensitive, manifest_path(quasi))
    if len(output) > 2:
        raise OutputError(
            f"an anatomised release is two tables, not {len(output)}", hint="name two files"
        )
    folder = Path(output[0])
    if io.is_table(folder):
        raise OutputError(
            f"an anatomised release is two tables, {folder} is one file",
            hint="-o FOLDER, or -o QUASI-FILE -o SENSITIVE-FILE",
        )
    quasi, sensitive = (folder / f"{name}{suffix}" for name in NAMES)
    return Targets(quasi, sensitive, folder / MANIFEST, folder)


def suffix_for(source: str | Path | None) -> str:
    """Return the kind of files in a folder: that of the input, but no packed one."""
    return ".csv" if source is None else io.suffix_of(source).removesuffix(".gz")


def check_targets(goal: Targets, *, force: bool, sources: Sequence[str | Path] = ()) -> None:
    """Raise now what writing would raise later, after the work."""
    if goal.folder is not None and not goal.folder.is_dir():
        if goal.folder.exists():
            raise OutputError(
                f"{goal.folder} is a file", hint="name a folder, or two files (-o twice)"
            )
        io.check_target(goal.folder)  # its parent must be there, and open to us
        return
    for path in goal.files:
        io.check_target(path, force=force, table=path != goal.manifest, sources=sources)
    for path in others(goal):
        raise OutputError(
            f"{path} is of another release, which beside this one would give away more than both",
            hint="remove it, or choose another folder",
        )


def repair(goal: Targets) -> None:
    """Put in order what runs have left that were stopped in this place, whatever their format."""
    known = list(goal.files)
    if goal.folder is not None:
        known += [goal.folder / f"{name}{suffix}" for name in NAMES for suffix in io.SUFFIXES]
    io.repair(*known)
    io.sweep(*known)


def others(goal: Targets) -> list[Path]:
    """Return tables of another format in the folder: those of an earlier release."""
    found = [] if goal.folder is None else sorted(goal.folder.iterdir())
    return [
        path
        for path in found
        if path not in goal.files and io.is_table(path) and path.name.split(".")[0] in NAMES
    ]


def published(folder: str | Path) -> tuple[Path, Path] | None:
    """Return the two tables in the folder of a release; None if it has none."""
    folder = Path(folder)
    if not folder.is_dir():
        return None
    found = [
        [path for path in sorted(folder.glob(f"{name}.*")) if io.is_table(path)] for name in NAMES
    ]
    if [len(paths) for paths in found] != [1, 1]:
        return None
    return found[0][0], found[1][0]


@dataclass(frozen=True, eq=False, repr=False)
class Anatomy(Release):
    """Two tables that are safe to publish together under their principles.

    Parameters
    ----------
    table : dataframe
        The quasi-identifiers as they were, other columns, and the group of each row.
    sensitive : dataframe
        For each group its sensitive values, and how many of its rows hold each.
    suffix : str
        The kind of files that `save` writes into a folder.
    """

    sensitive: Any = None
    suffix: str = ".csv"

    def join(self) -> Any:
        """Pair every row with all values of its group, and say how likely each is."""
        return join(self.table, self.sensitive, group=self.question["group"])

    def query_error(self, table: object, **queries: Any) -> QueryError:
        """Measure how well the two tables answer random count queries on the original.

        Parameters
        ----------
        table : dataframe or path
            The original.
        **queries
            Which queries to ask: dimensions, volume, queries, seed; see `wideberth.query_error`.
        """
        return query_error(
            table,
            self.question["quasi"],
            self.question["sensitive"][0],
            quasi_table=self.table,
            sensitive_table=self.sensitive,
            group=self.question["group"],
            **queries,
        )

    def save(
        self, path: str | Path, sensitive: str | Path | None = None, *, force: bool = False
    ) -> dict[str, Any]:
        """Write both tables and the manifest; all or nothing.

        The files are read back and checked before they take their places.

        Parameters
        ----------
        path : str or Path
            A folder, which is made if it is not there; or a file for the quasi-identifiers.
        sensitive : str or Path, optional
            Then a file for the sensitive values.
        force : bool
            Whether to replace files that exist.

        Returns
        -------
        dict
            The manifest as written, with names and SHA-256 of the files.
        """
        goal = targets([path] if sensitive is None else [path, sensitive], self.suffix)
        frames = [io.adopt(table)[0] for table in (self.table, self.sensitive)]
        repair(goal)
        check_targets(goal, force=force)
        with _folder(goal.folder), io.drafts(*goal.files, force=force) as drafts:
            *files, note = drafts
            for frame, file in zip(frames, files, strict=True):
                io.put(frame, file)
            with ThreadPoolExecutor(1) as pool:  # hashing lets others work meanwhile
                hashing = pool.map(sha256, files)
                self._check_files(files, frames)
                hashes = list(hashing)
            output = {
                part: {"name": target.name, "sha256": digest}
                for part, target, digest in zip(NAMES, goal.files[:2], hashes, strict=True)
            }
            written = dict(zip(goal.files, frames, strict=False))
            manifest = self._described(output, written)
            note.write_text(manifest_text(manifest), encoding="utf-8")
        return manifest

    def _check_files(self, files: Sequence[Path], frames: Sequence[pl.DataFrame]) -> None:
        """Read both files back and check that what is in them keeps the principles."""
        exact = all(io.holds(*pair) for pair in zip(files, frames, strict=True))
        if exact and fingerprint(*frames) == self.fingerprint:
            return  # what was verified, to the letter
        written = [io.read(file, io.ReadOptions(missing=("",))) for file in files]
        for found, frame in zip(written, frames, strict=True):
            if found.shape != frame.shape or found.columns != frame.columns:
                raise VerificationError(
                    "the files written do not hold the tables",
                    hint="nothing was published; please report this",
                )
        question = {**self.question, "sensitive_table": written[1]}
        if not check(written[0], worst=0, **question):
            raise VerificationError(
                "read back from the files, the release does not keep its principles",
                hint="write .parquet files, which keep types and missing values as they are",
            )

    def __repr__(self) -> str:
        """Return the outcome in a few lines."""
        told = self.manifest
        return (
            f"{told['rows']:,} rows in {told['groups']:,} groups, two tables, "
            f"{told['suppressed']['rows']:,} rows suppressed; verified: "
            + ", ".join(told["principles"])
        )


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """Make a folder if there is none, and remove it again if nothing comes of it."""
    if path is None or path.is_dir():
        yield
        return
    try:
        path.mkdir()
    except OSError as error:
        raise OutputError(
            f"{path} cannot be made: {error.strerror}", hint="name a folder whose parent exists"
        ) from None
    try:
        yield
    except BaseException:
        with suppress(OSError):
            path.rmdir()
        raise
