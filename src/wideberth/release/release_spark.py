"""anonymize for a Spark DataFrame, and the release that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth.checks.check_spark import check_spark
from wideberth.checks.result import CheckResult
from wideberth.core.progress import Clock, Progress
from wideberth.engines.spark.executors import require_executors
from wideberth.engines.spark.failures import readable_spark_errors
from wideberth.engines.spark.input import require_no_formats, warn_if_nondeterministic
from wideberth.engines.spark.session import require_session
from wideberth.engines.spark.spark_rows import SparkEngine
from wideberth.engines.spark.store import SparkTarget, folder_sha256
from wideberth.io.formats import require_unique_names
from wideberth.kernels.randomness import RootKey
from wideberth.policy.policy import Policy
from wideberth.policy.request import Request
from wideberth.release.large import anonymize_on_engine, require_kept
from wideberth.release.release import Release, manifest_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, eq=False, repr=False)
class SparkRelease(Release):
    """A release whose `table` is a Spark DataFrame."""

    # Spark holds what led to `table` until they are forgotten; without it, the table would be made
    # again whenever it is looked at
    rows: SparkEngine | None = None

    def check(self) -> CheckResult:
        """Check the principles again, from the published values alone."""
        return check_spark(self.table, **self.question)

    def save(self, path: str | Path, *, force: bool = False) -> dict[str, Any]:
        """Let Spark write the table, and beside it the manifest; both or nothing."""
        spark = self.table.sparkSession
        sources = [] if self.rows is None else self.rows.cluster.frame.inputFiles()
        with readable_spark_errors():
            place = SparkTarget.of(spark, str(path), force=force, sources=sources)
            with place.drafts() as (draft, note):
                self.table.write.parquet(draft)
                # Read back, and checked before it takes its place.
                written = check_spark(spark.read.parquet(draft), worst=0, **self.question)
                groups = self.manifest["groups"] if self.manifest["group"] is not None else None
                require_kept(written, self.manifest["rows"], groups)
                output = {"name": place.name, "sha256": folder_sha256(spark, draft)}
                manifest = {**self.manifest, "output": output}
                note(manifest_text(manifest))
        return manifest

    def forget(self) -> None:
        """Let Spark forget what it holds for this release."""
        if self.rows is not None:
            self.rows.forget()


def anonymize_spark(
    table: DataFrame,
    *,
    memory: None = None,  # Spark has settings of its own
    roles: Mapping[str, Any],
    policy: Policy | str | Path | None,
    bucket_rows: int | None,  # that an executor's task takes at a time
    root: RootKey,
    progress: Progress | None,
    **asked: Any,
) -> Release:
    """Make a release of a Spark DataFrame, in its own session."""
    clock = Clock(progress)
    spark = require_session(table)
    require_unique_names(table.columns, "the table")
    require_executors(spark)
    warn_if_nondeterministic(table, stacklevel=5)
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    require_no_formats(table, policy.options if policy else None)
    with readable_spark_errors():
        engine = SparkEngine(table)
        try:
            schema = engine.cluster.schema
            request = Request.of(None, roles=roles, policy=policy, schema=schema, **asked)
            outcome = anonymize_on_engine(
                request,
                engine,
                check=lambda question: check_spark(engine.published, worst=0, **question),
                root=root,
                bucket_rows=bucket_rows,
                clock=clock,
            )
        except BaseException:
            engine.forget()
            raise
    return SparkRelease(
        engine.published, outcome.manifest, outcome.question, outcome.verified, rows=engine
    )
