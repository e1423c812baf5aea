"""advise for a Spark DataFrame: Spark counts the values of an attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth.checks.about import About
from wideberth.checks.advise import Advice
from wideberth.checks.advising import advice_on
from wideberth.engines.spark.cluster import Cluster
from wideberth.engines.spark.failures import readable
from wideberth.engines.spark.input import require_plain
from wideberth.engines.spark.session_part import require_session
from wideberth.io.formats import check_names
from wideberth.policy.policy import Policy

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
    check_names(table.columns, "the table")
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    require_plain(table, policy.options if policy else None)
    with readable():
        cluster = Cluster(table)
        about = About.of(
            cluster.schema,
            sensitive=sensitive,
            types=types,
            hierarchies=hierarchies,
            policy=policy,
        )
        # The distinct values must fit into the driver's memory. Nothing else leaves Spark.
        return advice_on(about, cluster.digest, max_memory=max_memory, allowed=allowed)
