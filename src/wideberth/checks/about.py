"""Which sensitive attribute advice is asked about, and the table it is in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa

from wideberth import io
from wideberth.core.names import by_column, prefix_of
from wideberth.core.types import TYPES
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.policy.policy import Policy
from wideberth.policy.spec import names_of
from wideberth.principles.columns import require_column


@dataclass(frozen=True)
class About:
    """The sensitive attribute that is asked about, and what is known of its columns."""

    names: list[str]
    types: dict[str, str]
    hierarchies: dict[str, Any]

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        *,
        sensitive: str | Sequence[str] | None,
        types: Mapping[str, str] | None,
        hierarchies: Mapping[str, Any] | None,
        policy: Policy | None,
    ) -> About:
        """Settle it by a table's columns; see `advise`."""
        types, hierarchies = dict(types or {}), dict(hierarchies or {})
        names = names_of(sensitive, frame.columns)
        if policy is not None:
            types, hierarchies = {**policy.types, **types}, {**policy.hierarchies, **hierarchies}
            listed = names_of(policy.roles.get("sensitive"), frame.columns)
            if not names and (len(listed) == 1 or prefix_of(listed) is not None):
                names = listed
        if not names and frame.width == 1:
            names = frame.columns
        if not names:
            several = [] if policy is None else list(policy.roles.get("sensitive", ()))
            raise ParameterError(
                "which column is sensitive is not said"
                + (f": the policy has {len(several)}" if several else ""),
                hint=what_to_type(
                    python=f'sensitive="{several[0] if several else "column"}"',
                    command=f"--sensitive {several[0] if several else 'COLUMN'}",
                ),
            )
        types, hierarchies = by_column(types, frame.columns), by_column(hierarchies, frame.columns)
        for name in names:
            require_column(frame, name)
        for kind in types.values():
            if kind not in TYPES:
                what = f"there is no type '{kind}'"
                raise ParameterError(what, hint=f"one of {', '.join(TYPES)}")
        return cls(
            names,
            {k: v for k, v in types.items() if k in names},
            {k: v for k, v in hierarchies.items() if k in names},
        )

    @property
    def known(self) -> dict[str, Any]:
        """What a `Subject` must be told of the attribute."""
        # A column is its own group id: nothing here looks at groups.
        return {
            "quasi": [],
            "sensitive": self.names,
            "group": self.names[0],
            "hierarchies": self.hierarchies,
            "types": self.types,
        }


def adopted(table: object, policy: Policy | None) -> pl.DataFrame:
    """Take in a table, a file or a single column, with its numbers and dates read."""
    if isinstance(table, str | Path):
        return io.read(table, policy.options if policy else None)
    frame = _in_memory(table)
    return frame if policy is None else io.in_formats(frame, policy.options)


def _in_memory(table: object) -> pl.DataFrame:
    if isinstance(table, Mapping):
        what = f"expected a table or the values of a column, got {type(table).__name__}"
        raise TableError(what, hint="build a dataframe, or name a file")
    native: Any = nw.to_native(table, pass_through=True)
    if isinstance(native, pa.Array):
        native = pa.chunked_array([native])
    try:
        column = nw.from_native(native, series_only=True)
    except TypeError:
        if not isinstance(native, Iterable) or hasattr(native, "columns"):
            return io.adopt(table)[0]
        if isinstance(native, pa.Table):
            return io.adopt(table)[0]
        try:
            listed = native if hasattr(native, "dtype") else list(native)
            column = nw.from_native(pl.Series(listed, strict=False), series_only=True)
        except (TypeError, ValueError, pl.exceptions.PolarsError):
            raise TableError(
                "the values are of no kind that a column can hold", hint="numbers, texts or dates"
            ) from None
    named = column if column.name else column.alias("values")
    return io.adopt(named.to_frame().to_native())[0]
