"""Hierarchies for columns that have none: what people would write by hand, told from the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.checks.protection import proposed_protection, rule_for
from wideberth.core.names import by_column, expanded
from wideberth.core.progress import Progress
from wideberth.core.types import infer_type
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.principles.columns import require_column


def usual(
    *, path: str, content: Mapping[str, Any], folder: str, columns: Sequence[str], tell: Progress
) -> dict[str, Any]:
    """Propose a rule for each of some columns."""
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 1)
    frame = io.read(path, policy.options)
    kinds = by_column(policy.types, frame.columns)
    for column in columns:
        require_column(frame, column)
    return {
        "rules": {
            name: rule_for(frame[name], kinds.get(name) or infer_type(frame[name]))
            for name in columns
        }
    }


def protect(
    *, path: str, content: Mapping[str, Any], folder: str, column: str, tell: Progress
) -> dict[str, Any]:
    """Propose principles for a column that became sensitive, as `wideberth init` does."""
    # "principle" has entries of a policy; if there are none, "why" gives the reason.
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 0)
    frame = io.read(path, policy.options)
    require_column(frame, column)
    tell("looking at what is possible", 0, 0)
    kinds = by_column(policy.types, frame.columns)
    prefix = column.rpartition(".")[0]
    family = [name for name in frame.columns if prefix and name.rpartition(".")[0] == prefix]
    shares = [one.column for one in guess_columns(frame[family]) if one.part_of] if family else []
    sensitive = expanded(policy.roles["sensitive"], frame.columns)
    parts = shares if column in shares and set(shares) <= set(sensitive) else [column]
    found = proposed_protection(frame[parts], kinds.get(column) or infer_type(frame[column]))
    entries = [one.value for one in found if one.active and one.value]
    return {"principle": entries, "why": None if entries else found[0].why}
