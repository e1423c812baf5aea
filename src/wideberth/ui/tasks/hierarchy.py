"""Trying a hierarchy on a column: what it makes of the values, level by level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.checks.protection import proposed_protection, rule_for
from wideberth.core.codes import Domain
from wideberth.core.names import expand_short_forms, spread_over_columns
from wideberth.core.progress import Progress
from wideberth.core.types import infer_type
from wideberth.hierarchy import Hierarchy, IntArray, outline
from wideberth.hierarchy.quasi import read_quasi
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.policy.request import Request
from wideberth.policy.settings import Transform
from wideberth.principles import LEDiversity
from wideberth.principles.columns import SensitiveColumns, require_column

#: Values that are shown on each level, and nodes of the outline.
_EXAMPLES, _NODES = 6, 60


def hierarchy_task(
    *,
    path: str,
    content: Mapping[str, Any],
    folder: str,
    column: str,
    rule: str | Mapping[str, Any],
    tell: Progress,
) -> dict[str, Any]:
    """Build the hierarchy of a column, and return what it does to the values."""
    policy = Policy.of({**content, "hierarchies": {column: rule}}, folder=Path(folder))
    tell("reading", 0, 2)
    frame = io.read(path, policy.options)
    require_column(frame, column)
    tell("building", 1, 2)
    tree, domain = _built(frame, column, policy)
    nodes = tree.nodes_of(domain.texts)
    shown = _spread(len(nodes))
    kinds = column in expand_short_forms(policy.roles["sensitive"], frame.columns)
    levels = []
    for level in range(tree.levels):
        at = _kinds(tree, nodes, level) if kinds else tree.climb(nodes, level)
        examples = [[domain.texts[i], tree.labels[at[i]]] for i in shown]
        levels.append({"level": level, "values": len(np.unique(at)), "examples": examples})
    return {
        "levels": levels,
        "leaves": len(tree.leaves),
        "balanced": tree.balanced,
        "outline": [list(node) for node in outline(tree, _NODES)],
    }


def _built(frame: pl.DataFrame, column: str, policy: Policy) -> tuple[Hierarchy, Domain]:
    """Return the hierarchy, and the values as it names them: as a release would read both."""
    types = spread_over_columns(policy.types, frame.columns)
    rule = policy.hierarchies[column]
    if column in expand_short_forms(policy.roles["sensitive"], frame.columns):
        kinds = {column: types[column]} if column in types else {}
        attributes = SensitiveColumns(
            frame[[column]], sensitive=[column], hierarchies={column: rule}, types=kinds
        )
        principle = LEDiversity(l=1, e=0)
        domain = attributes.column((column,), principle).domain
        principle.bind(domain)  # which a tree of several roots does not suit
        assert domain.tree is not None  # noqa: S101 - it was given
        return domain.tree, domain
    request = Request(
        native=frame,
        frame=frame,
        columns=frame.columns,
        source=None,
        roles=policy.roles,
        principles=[],
        hierarchies={column: rule},
        types=types,
        transform=Transform(),
        group=None,
    )
    quasi = read_quasi(frame[column], kind=request.kind(frame[column]), hierarchy=rule)
    assert quasi.tree is not None  # noqa: S101 - it was given
    return quasi.tree, quasi.domain


def _kinds(tree: Hierarchy, nodes: IntArray, level: int) -> IntArray:
    """Return the kind of each value on a level, as an audit's findings count it."""
    # Where values lie at unequal depth, kinds of one level are equally far from the root; a value
    # that is itself no deeper stays as it is.
    at = np.asarray(nodes, dtype=np.int32)
    for _ in range(tree.height):
        at = np.where(tree.depth[at] > tree.height - level, tree.parent[at], at)
    return at


def _spread(many: int) -> list[int]:
    """Return a few places out of so many, the first and the last among them.

    >>> _spread(4), _spread(101)
    ([0, 1, 2, 3], [0, 20, 40, 60, 80, 100])
    """
    if many <= _EXAMPLES:
        return list(range(many))
    return [place * (many - 1) // (_EXAMPLES - 1) for place in range(_EXAMPLES)]


# -----------------------------------------------------------------------------
# Hierarchies for columns that have none: what people would write by hand, told from the values.


def usual(
    *, path: str, content: Mapping[str, Any], folder: str, columns: Sequence[str], tell: Progress
) -> dict[str, Any]:
    """Propose a rule for each of some columns."""
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 1)
    frame = io.read(path, policy.options)
    kinds = spread_over_columns(policy.types, frame.columns)
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
    kinds = spread_over_columns(policy.types, frame.columns)
    prefix = column.rpartition(".")[0]
    family = [name for name in frame.columns if prefix and name.rpartition(".")[0] == prefix]
    shares = [one.column for one in guess_columns(frame[family]) if one.part_of] if family else []
    sensitive = expand_short_forms(policy.roles["sensitive"], frame.columns)
    parts = shares if column in shares and set(shares) <= set(sensitive) else [column]
    found = proposed_protection(frame[parts], kinds.get(column) or infer_type(frame[column]))
    entries = [one.value for one in found if one.active and one.value]
    return {"principle": entries, "why": None if entries else found[0].why}
