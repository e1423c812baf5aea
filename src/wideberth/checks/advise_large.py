"""advise for a file that does not fit into memory: DuckDB counts the values of an attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth import io
from wideberth.checks.advise import Advice, AdvisedAttribute
from wideberth.core.codes import Column
from wideberth.engines.duckdb.source import FileSource, for_distances, limit_of
from wideberth.engines.spark.cluster import SparkTable
from wideberth.engines.spark.failures import readable_spark_errors
from wideberth.engines.spark.input import require_no_formats
from wideberth.engines.spark.session import require_session
from wideberth.errors import TableError
from wideberth.io.formats import require_unique_names
from wideberth.policy.policy import Policy
from wideberth.principles import Principle
from wideberth.principles.columns import GroupedTable
from wideberth.principles.counts import (
    DistinctCounts,
    DistinctQuery,
    with_row_counts,
    without_row_numbers,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# -----------------------------------------------------------------------------
# Advice on a table that is not at hand: from the distinct values of the attribute, counted.


class CountedSubject(GroupedTable):
    """A sensitive attribute by its distinct values; the histograms of its columns count rows."""

    def __init__(self, digest: DistinctCounts, **known: Any) -> None:
        super().__init__(digest.frame, **known)
        self._digest = digest
        self._counted: dict[Column, Column] = {}

    def column(self, on: tuple[str, ...], principle: Principle) -> Column:
        """Return the attribute encoded; see `SensitiveColumns.column`."""
        with without_row_numbers():
            raw = super().column(on, principle)
        if raw not in self._counted:
            self._counted[raw] = with_row_counts(raw, self._digest)
        return self._counted[raw]


def advice_on(
    about: AdvisedAttribute,
    ask: DistinctQuery,
    *,
    max_memory: int | None = None,
    allowed: object = (),
) -> Advice:
    """Return the advice on an attribute."""
    digest = ask(tuple(about.names))
    if not digest.rows:
        raise TableError("the table has no rows", hint="check how it was made")
    subject = CountedSubject(digest, **about.known)
    return Advice(subject, max_memory=max_memory, rows=digest.rows, allowed=allowed)


# -----------------------------------------------------------------------------
# advise for a file that does not fit into memory: DuckDB counts the values of an attribute.


def advise_file(
    table: str | Path,
    sensitive: str | Sequence[str] | None = None,
    *,
    memory: str | int,
    types: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    policy: Policy | str | Path | None = None,
    allowed: object = (),
    max_memory: int | None = None,
    options: io.ReadOptions | None = None,
) -> Advice:
    """Advise on a file under a limit on memory; the answers are those of `wideberth.advise`."""
    limit = limit_of(memory)
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    if options is None and policy is not None:
        options = policy.options
    with FileSource.opened(table, memory=limit, options=options) as source:
        about = AdvisedAttribute.of(
            source.schema,
            sensitive=sensitive,
            types=types,
            hierarchies=hierarchies,
            policy=policy,
        )
        most = for_distances(limit, max_memory)
        # Reads the file once, before this returns; the distinct values must fit into the memory.
        return advice_on(about, source.digest, max_memory=most, allowed=allowed)


# -----------------------------------------------------------------------------
# advise for a Spark DataFrame: Spark counts the values of an attribute.


def advise_spark(
    table: DataFrame,
    sensitive: str | Sequence[str] | None = None,
    *,
    types: Mapping[str, str] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    policy: Policy | str | Path | None = None,
    allowed: object = (),
    max_memory: int | None = None,
) -> Advice:
    """Advise on a Spark DataFrame; the answers are those of `wideberth.advise`."""
    require_session(table)
    require_unique_names(table.columns, "the table")
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    require_no_formats(table, policy.options if policy else None)
    with readable_spark_errors():
        cluster = SparkTable(table)
        about = AdvisedAttribute.of(
            cluster.schema,
            sensitive=sensitive,
            types=types,
            hierarchies=hierarchies,
            policy=policy,
        )
        # The distinct values must fit into the driver's memory. Nothing else leaves Spark.
        return advice_on(about, cluster.digest, max_memory=max_memory, allowed=allowed)
