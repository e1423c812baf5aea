"""Hierarchies for columns that have none: what people would write by hand, told from the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import tables
from wideberth.attributes import require_column
from wideberth.clock import Progress
from wideberth.policy import Policy
from wideberth.schema import by_column, convert, infer_type
from wideberth.ui.tasks.opening import round_number

#: The finest intervals cut the range into about so many; each level joins two of the one before.
_PARTS, _LEVELS = 24, 4
#: Codes are masked letter by letter if there are more than so many, none of them too long.
_CODES, _LETTERS = 20, 12


def usual(
    *, path: str, content: Mapping[str, Any], folder: str, columns: Sequence[str], tell: Progress
) -> dict[str, Any]:
    """Propose a rule for each of some columns.

    Parameters
    ----------
    path : str
        The table.
    content, folder
        A policy, and where the files lie that it names.
    columns : sequence of str
        Those that need a hierarchy.
    tell : callable
        Told how far it is.
    """
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 1)
    frame = tables.read(path, policy.options)
    kinds = by_column(policy.types, frame.columns)
    for column in columns:
        require_column(frame, column)
    return {
        "rules": {
            name: rule_for(frame[name], kinds.get(name) or infer_type(frame[name]))
            for name in columns
        }
    }


def rule_for(series: pl.Series, kind: str) -> dict[str, Any]:
    """Return a rule as a policy writes it.

    >>> rule_for(pl.Series([17, 90]), "integer")
    {'interval': [2, 4, 8, 16]}
    >>> rule_for(pl.Series(["f", "m"]), "category")
    {'flat': True}
    """
    values = series.alias("").drop_nulls()
    if kind in ("integer", "float", "decimal"):
        numbers = convert(values, kind).cast(pl.Float64)
        low, high = numbers.min(), numbers.max()
        if isinstance(low, float) and isinstance(high, float) and high > low:
            width = round_number(Fraction(high - low) / _PARTS)
            width = max(1, width) if kind == "integer" else width
            return {"interval": [width * 2**level for level in range(_LEVELS)]}
    if kind == "date":
        return {"date": ["month", "quarter", "year"]}
    texts = values.cast(pl.String).unique() if not values.dtype.is_nested() else values.clear()
    lengths = texts.str.len_chars().unique().to_list() if texts.dtype == pl.String else []
    if len(lengths) == 1 and len(texts) > _CODES and 1 < lengths[0] <= _LETTERS:
        return {"mask": lengths[0]}
    return {"flat": True}
