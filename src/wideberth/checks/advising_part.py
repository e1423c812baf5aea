"""advise for a file that does not fit into memory: DuckDB counts the values of an attribute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.checks.about import About
from wideberth.checks.advise import Advice
from wideberth.checks.advising import advice_on
from wideberth.engines.duckdb.limits import for_distances, limit_of
from wideberth.engines.duckdb.source import Source
from wideberth.policy.policy import Policy


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
    with Source.opened(table, memory=limit, options=options) as source:
        about = About.of(
            source.schema,
            sensitive=sensitive,
            types=types,
            hierarchies=hierarchies,
            policy=policy,
        )
        most = for_distances(limit, max_memory)
        # Reads the file once, before this returns; the distinct values must fit into the memory.
        return advice_on(about, source.digest, max_memory=most, allowed=allowed)
