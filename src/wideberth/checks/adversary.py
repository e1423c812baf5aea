"""claims: what an adversary who knows a victim's group can say about the victim's value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wideberth.checks.check import check
from wideberth.checks.claims import Claim
from wideberth.distances import Metric
from wideberth.errors import ParameterError
from wideberth.policy.policy import Policy
from wideberth.principles import Dissimilarity


def claims(
    table: object,
    *,
    epsilon: float,
    distance: str | Metric = "auto",
    on: str | Sequence[str] | None = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    group: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    worst: int = 5,
    max_memory: int | None = None,
) -> list[Claim]:
    """Return what an adversary who knows a victim's group can claim, for the worst groups.

    Parameters
    ----------
    table : dataframe or path
        The published table.
    epsilon : number
        The largest distance that counts as near.
    distance, on
        As in `Dissimilarity`.
    quasi, sensitive, group, hierarchies, types, policy, max_memory
        As in `check`.
    worst : int
        For how many groups: those whose claims are surest, of these the highest risk first.

    Returns
    -------
    list of Claim

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["18-30"] * 4, "salary": [1000, 1010, 1020, 50000]})
    >>> print(*claims(table, quasi="age", sensitive="salary", epsilon=10))
    anybody in the group (age 18-30) has a salary within 10 of 1010 with 75 % confidence
    """
    if worst < 0:
        raise ParameterError("worst must be a whole number from 0", hint="worst=5")
    asked = Dissimilarity(on=on, epsilon=epsilon, delta=0, k=1, distance=distance)
    result = check(
        table,
        quasi=quasi,
        sensitive=sensitive,
        principles=asked,
        group=group,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
        worst=0,
        max_memory=max_memory,
    )
    return result.principles[0].claims(worst)
