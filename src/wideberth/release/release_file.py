"""anonymize for a file that does not fit into memory, and the release that comes of it."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.checks.check_file import check_file
from wideberth.checks.result import CheckResult
from wideberth.core.progress import Clock, Progress
from wideberth.engines.duckdb.file_rows import FileEngine
from wideberth.engines.duckdb.source import FileSource, limit_of, require_for_release
from wideberth.errors import OutputError, VerificationError
from wideberth.io.manifest import manifest_path, sha256
from wideberth.io.scratch import scratch_folder
from wideberth.kernels.randomness import RootKey
from wideberth.policy.policy import Policy
from wideberth.policy.request import Request
from wideberth.release.large import BUCKET_ROWS, anonymize_on_engine, require_kept
from wideberth.release.release import Release, manifest_text


@dataclass(frozen=True, eq=False, repr=False)
class StoredRelease(Release):
    """A release on the disk, in a private folder that `close` or the end of the program removes."""

    path: Path = Path()  # what `table`, a lazy polars table, reads
    memory: int = 0
    folder: ExitStack = field(default_factory=ExitStack)
    source: Path = Path()
    verified_as: str = ""  # SHA-256 of the file that was verified

    def check(self) -> CheckResult:
        """Check the principles again, from the published values alone."""
        return check_file(self.path, memory=self.memory, **self.question)

    def save(self, path: str | Path, *, force: bool = False) -> dict[str, Any]:
        """Write the table, and beside it the manifest; both or nothing. See `Release.save`."""
        target = Path(path)
        io.check_target(target, force=force, table=True, sources=[self.source])
        suffix, form = io.check_fits(self.table.collect_schema(), target)
        with io.drafts(target, manifest_path(target), force=force) as (table, note):
            if form == "Parquet":
                shutil.copyfile(self.path, table)
            else:
                _put(self.table, table, suffix, form)
                self._check_text(table)
            output = {"name": target.name, "sha256": sha256(table)}
            if form == "Parquet" and output["sha256"] != self.verified_as:
                raise VerificationError(
                    "the file in the private folder is not what was verified",
                    hint="make the release again",
                )
            manifest = self._described(output, {target: self.table})
            note.write_text(manifest_text(manifest), encoding="utf-8")
        return manifest

    def _check_text(self, path: Path) -> None:
        """Read a file of text, or of Arrow, back, and check what is in it."""
        question, schema = dict(self.question), self.table.collect_schema()
        asked = [schema[name] for name in self.question["sensitive"]]
        # Text does not tell that a column was of moments, so it cannot be judged, but counted.
        if io.is_csv(path) and any(d in (pl.Datetime, pl.Time) for d in asked):
            question["principles"] = "k-anonymity:k=1"
        found = check_file(path, memory=self.memory, worst=0, options=_OURS, **question)
        groups = self.manifest["groups"] if self.manifest["group"] is not None else None
        try:
            require_kept(found, self.manifest["rows"], groups)
        except VerificationError as error:
            raise VerificationError(
                f"read back from the file, {error.what}",
                hint="write a .parquet file, which keeps types and missing values as they are",
            ) from None

    def close(self) -> None:
        """Remove the file, which otherwise lies there until the program ends."""
        atexit.unregister(self.close)
        self.folder.close()


#: How many bytes of rows, and how many rows, are written as text at a time.
_BYTES, _ROWS = 1 << 24, 1 << 17
#: Only an empty field is missing in what we wrote ourselves, whatever it was in the input.
_OURS = io.ReadOptions(missing=("",))


def _put(table: pl.LazyFrame, path: Path, suffix: str, form: str) -> None:
    if form == "Arrow":
        table.sink_ipc(path)
    elif suffix.endswith(".gz"):
        raise OutputError(
            f"{path.name.split('.draft.')[-1]}: a large release is not packed while it is written",
            hint="write .parquet, which is packed, or .csv",
        )
    else:
        _put_text(table, path, separator="\t" if ".tsv" in suffix else ",")


def _put_text(table: pl.LazyFrame, path: Path, *, separator: str) -> None:
    """Write CSV some rows at a time: polars' own stream fills more memory than allowed."""
    rows = table.select(pl.len()).collect().item()
    some = table.head(1000).collect()
    step = max(min(_BYTES * some.height // max(int(some.estimated_size()), 1), _ROWS), 1)
    with path.open("wb") as file:
        for at in range(0, max(rows, 1), step):
            part = table.slice(at, step).collect()
            part.write_csv(file, separator=separator, include_header=at == 0)


def anonymize_file(
    table: str | Path,
    *,
    memory: str | int,
    roles: Mapping[str, Any],
    policy: Policy | str | Path | None,
    bucket_rows: int | None,
    root: RootKey,
    progress: Progress | None,
    **asked: Any,
) -> Release:
    """Make a release of a file under a limit on memory."""
    limit = limit_of(memory)
    clock = Clock(progress)
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    options = None if policy is None else policy.options
    with ExitStack() as stack:
        folder = stack.enter_context(scratch_folder())
        with FileSource.opened(table, memory=limit, options=options) as source:
            request = Request.of(table, roles=roles, policy=policy, schema=source.schema, **asked)
            engine = FileEngine(source, folder)
            if bucket_rows is None:
                require_for_release(limit, source.rows, len(source.types))
                bucket_rows = min(BUCKET_ROWS, engine.rows_in(limit // 4))

            def check(question: Mapping[str, Any]) -> CheckResult:
                source.close()  # it is read no more; two databases would take twice their limit
                return check_file(engine.path, memory=limit, worst=0, **question)

            outcome = anonymize_on_engine(
                request, engine, check=check, root=root, bucket_rows=bucket_rows, clock=clock
            )
        release = StoredRelease(
            pl.scan_parquet(engine.path),
            outcome.manifest,
            outcome.question,
            outcome.verified,
            path=engine.path,
            memory=limit,
            folder=stack.pop_all(),
            source=Path(table),
            verified_as=sha256(engine.path),
        )
    atexit.register(release.close)
    return release
