"""What is known of a table that is not at hand: the distinct values of its columns, counted.

Types, codes and domains depend on distinct values alone, so the encoders of tables in memory serve
here as well; only the counts must be put right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column
from wideberth.core.exact import Ints
from wideberth.errors import HierarchyError, TableError
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.principles import Principle
from wideberth.principles.columns import SensitiveColumns, with_counts

#: The columns of a block beside its keys: which of the distinct sensitive values, and how often.
ENTRY, COUNT = "entry", "count"


@dataclass(frozen=True, eq=False)
class DistinctCounts:
    """The distinct combinations of values that some columns hold."""

    frame: pl.DataFrame  # each combination once; a missing value is a value of its own
    counts: Ints  # how many rows hold it

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns, in the order asked for."""
        return tuple(self.frame.columns)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.counts.sum())


#: How errors name a row.
_ROW = re.compile(r" \(first in row \d+\)|,? row \d+")

#: Asks an engine for the digest of some columns.
DistinctQuery: TypeAlias = Callable[[tuple[str, ...]], DistinctCounts]


@dataclass(frozen=True, eq=False)
class Coding:
    """Which code stands for which values."""

    values: pl.DataFrame  # distinct combinations of some columns' values, as they are in the table
    codes: Codes  # different ways to write a value have the same one

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return tuple(self.values.columns)


def quasi_of(
    digest: DistinctCounts, *, kind: str | None = None, hierarchy: Any = None, weight: float = 1.0
) -> tuple[Quasi, Coding]:
    """Encode a quasi-identifier; see `wideberth.hierarchy.quasi.read_quasi`.

    >>> digest = DistinctCounts(pl.DataFrame({"age": [30, 20, None]}), np.array([5, 1, 2]))
    >>> age, coding = quasi_of(digest)
    >>> age.domain.histogram.tolist(), coding.codes.tolist()
    ([1, 5, 2], [1, 0, 2])
    """
    # The codes of the quasi-identifier itself are those of the distinct values, not of rows.
    with without_row_numbers():
        quasi = read_quasi(digest.frame.to_series(), kind=kind, hierarchy=hierarchy, weight=weight)
    column = with_row_counts(Column(quasi.codes, quasi.domain), digest)
    return replace(quasi, domain=column.domain), Coding(digest.frame, column.codes)


class CountedSensitiveColumns:
    """The sensitive attributes of a table that is not at hand, as principles read them."""

    def __init__(
        self,
        ask: DistinctQuery,
        schema: pl.DataFrame,
        *,
        sensitive: Sequence[str],
        hierarchies: Mapping[str, Any],
        types: Mapping[str, str],
    ) -> None:
        self._ask = ask
        self._known = {"sensitive": sensitive, "hierarchies": hierarchies, "types": types}
        self._schema = SensitiveColumns(schema, **self._known)  # type: ignore[arg-type]
        self._attributes: dict[tuple[str, ...], tuple[SensitiveColumns, DistinctCounts]] = {}
        self._columns: dict[int, Column] = {}
        self._kept: list[Column] = []  # so that their ids stay theirs

    def attribute(self, principle: Principle) -> tuple[str, ...]:
        """Return the sensitive columns that a principle guards."""
        return self._schema.attribute(principle)

    def column(self, principle: Principle) -> tuple[Column, Coding] | None:
        """Return the attribute that a principle guards, if any, and which values its codes mean."""
        # Codes are those of the distinct values, not of rows. Principles that read an attribute
        # alike get the same column.
        on = self.attribute(principle)
        if not on:
            return None
        if on not in self._attributes:
            digest = self._ask(on)
            self._attributes[on] = SensitiveColumns(digest.frame, **self._known), digest  # type: ignore[arg-type]
        attributes, digest = self._attributes[on]
        with without_row_numbers():
            raw = attributes.column(on, principle)
        if id(raw) not in self._columns:
            self._columns[id(raw)] = with_row_counts(raw, digest)
            self._kept.append(raw)
        column = self._columns[id(raw)]
        return column, Coding(digest.frame, column.codes)


def with_row_counts(column: Column, digest: DistinctCounts) -> Column:
    """Count rows instead of distinct values."""
    size = column.domain.size
    counts = np.zeros(size, dtype=np.int64)
    np.add.at(counts, column.codes, digest.counts)
    return Column(column.codes, with_counts(column.domain, counts))


@contextmanager
def without_row_numbers() -> Iterator[None]:
    """Leave row numbers out of errors: here they would count distinct values."""
    try:
        yield
    except (TableError, HierarchyError) as error:
        raise type(error)(re.sub(_ROW, "", error.what), hint=error.hint) from None


def first_rows(keys: pl.DataFrame) -> pl.Series:
    """Return which rows differ from the one above; missing equals missing."""
    others = [pl.col(key).ne_missing(pl.col(key).shift()) for key in keys.columns]
    first = pl.int_range(pl.len()) == 0
    return keys.select(pl.any_horizontal(first, *others)).to_series()


def whole_groups(
    frames: Iterable[pl.DataFrame], keys: Sequence[str], entries: int
) -> Iterator[pl.DataFrame]:
    """Cut a stream of frames, sorted by their keys, into blocks that part no group."""
    # `entries` is the fewest rows of a block, but for the last one.
    held: list[pl.DataFrame] = []
    for frame in frames:
        held.append(frame)
        if sum(map(len, held)) < entries:
            continue
        block = pl.concat(held, rechunk=True)
        begins = first_rows(block.select(keys)).arg_true()
        last = int(begins[-1])
        if last:
            yield block.head(last)
        held = [block.slice(last)]
    if held and (block := pl.concat(held, rechunk=True)).height:
        yield block
