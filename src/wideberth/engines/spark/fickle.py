"""Whether a DataFrame may have other rows each time it is computed.

The engine goes through a table several times, as it is too large to be kept. Spark computes it anew
each time, and again whenever a machine is lost. If rows then differ, what was counted is not what
is published, and the work was in vain. So it is told before.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from wideberth.io import TableWarning

#: Which row they take depends on the order in which rows arrive.
_BY_ARRIVAL = {"First": "first", "Last": "last", "AnyValue": "any_value"}
#: Spark asks the clock once for each computation.
_BY_CLOCK = ("CurrentTimestamp", "CurrentTime", "CurrentDate", "LocalTimestamp", "Now")
_LIMITS = {"GlobalLimit": "limit", "LocalLimit": "limit", "Offset": "offset", "Tail": "tail"}
#: What keeps rows where they are: a seeded sample of a file is the same each time.
_STEADY = ("Project", "Filter", "SubqueryAlias", "View", "Sort", "Sample")


def warn_if_fickle(frame: Any, *, stacklevel: int = 3) -> None:
    """Warn, once for a table, if its rows may differ each time they are computed."""
    causes = fickle(frame)
    if causes:
        what = (
            f"the rows of the table may change each time Spark computes it ({', '.join(causes)}): "
            "write it to Parquet, and read it from there"
        )
        warnings.warn(what, TableWarning, stacklevel=stacklevel)


def fickle(frame: Any) -> list[str]:
    """Return what may change the rows of a PySpark DataFrame from one computation to the next."""
    from py4j.protocol import Py4JError

    # Another DataFrame of the same plan: to ask the given one would settle for ever which of its
    # parts are cached.
    # What is cached or checkpointed is taken for settled.
    plan = frame.select("*")._jdf.queryExecution().withCachedData()
    causes: dict[str, None] = {}  # an ordered set
    with suppress(Py4JError):  # plans are Spark's own affair, and may look otherwise some day
        for node in _nodes(plan, inner=True):
            causes |= dict.fromkeys(_causes(node))
    if not causes and not plan.deterministic():
        causes["an expression that is not deterministic"] = None
    return list(causes)


def _causes(node: Any) -> Iterator[str]:
    """Yield what in a node of a plan, apart from its inputs, may change rows."""
    name = _name(node)
    if name in _LIMITS and not _is_ordered(node.child()):
        yield f"{_LIMITS[name]} without an order"
    if name == "Sample" and not _is_steady(node):
        yield "sample without a seed, or of rows in no fixed order"
    if name == "Deduplicate" and node.keys().size() < node.child().output().size():
        yield "dropDuplicates by some of the columns"
    for expression in _nodes(*_each(node.expressions())):
        kind = _name(expression)
        if kind in _BY_ARRIVAL:
            yield f"{_BY_ARRIVAL[kind]} without an order"
        elif kind in _BY_CLOCK:
            yield "the current time"
        elif not kind.endswith("Subquery") and _is_source(expression):
            python = kind == "PythonUDF"
            yield str(expression.name() if python else expression.prettyName().lower())


def _is_source(expression: Any) -> bool:
    """Return whether an expression is not deterministic by itself, whatever it is given."""
    given = _each(expression.children())
    return not expression.deterministic() and all(child.deterministic() for child in given)


def _is_ordered(node: Any) -> bool:
    """Return whether rows come in an order, by columns that may have been left out since."""
    while _name(node) in (*_STEADY, *_LIMITS) and _name(node) != "Sort":
        node = node.child()
    return not node.outputOrdering().isEmpty()


def _is_steady(sample: Any) -> bool:
    """Return whether a sample has a seed, and takes from rows that stay in their places."""
    node = sample
    while _name(node) in _STEADY:
        if _name(node) == "Sample" and not _has_seed(node):
            return False
        node = node.child()
    return bool(node.children().isEmpty())


def _has_seed(sample: Any) -> bool:
    seed = sample.seed()  # a number before Spark 4.1, which draws one where none is given
    return isinstance(seed, int) or not seed.isEmpty()


def _nodes(*roots: Any, inner: bool = False) -> Iterator[Any]:
    """Go through trees of Spark's, plans (and those within them) or expressions, downwards."""
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _each(node.children())
        if inner:
            waiting += _each(node.subqueries())


def _each(sequence: Any) -> list[Any]:
    """Make a list of a Scala sequence."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())
