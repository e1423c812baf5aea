"""A table made ready for principles: rows grouped, sensitive attributes encoded on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Column, encode
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Partition, Uneven
from wideberth.core.questions import on_values
from wideberth.core.strings import is_text
from wideberth.core.types import convert, infer_type
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.hierarchy.quasi import in_one_way, several_ways
from wideberth.principles.columns import Attributes, require_column, stacked


class Subject(Attributes):
    """A table, its groups, and its sensitive attributes."""

    def __init__(
        self,
        frame: pl.DataFrame,
        *,
        quasi: Sequence[str],
        sensitive: Sequence[str],
        group: str | None,
        hierarchies: Mapping[str, Any],
        types: Mapping[str, str],
        reference: pl.DataFrame | None = None,
    ) -> None:
        # group: a column of group ids, which then make the groups. reference: see `Attributes`.
        if not quasi and group is None:
            raise ParameterError(
                "no quasi-identifiers are given",
                hint=what_to_type(
                    python='quasi=["age", "zip"], or group="column"',
                    command="--qi age,zip,sex, or --group COLUMN",
                ),
            )
        for column in [*quasi, *sensitive, *([group] if group else [])]:
            require_column(frame, column)
        if both := set(quasi) & set(sensitive):
            raise TableError(
                f"column '{min(both)}' is both quasi-identifier and sensitive",
                hint="name it once",
            )
        super().__init__(
            frame, sensitive=sensitive, hierarchies=hierarchies, types=types, reference=reference
        )
        self.quasi = list(quasi)
        self.group = group
        self._groups: dict[Column | None, Groups] = {}
        self._rewritten: dict[str, pl.Series] = {}
        self._odd: dict[str, list[str]] = {}

    @cached_property
    def partition(self) -> Partition:
        """The groups: rows with equal quasi-identifiers, or with equal group ids."""
        if self.group is not None:
            return Partition.by_equality([encode(self.frame[self.group])], self.frame.height)
        return Partition.by_equality(map(self._quasi, self.quasi), self.frame.height)

    @property
    def readable(self) -> dict[str, Any]:
        """The keys whose text may be read as numbers and dates, with their hierarchies."""
        # Labels of groups are text as it is, as is what has the type of text.
        return {
            name: self.hierarchies.get(name)
            for name in ([] if self.group is not None else self.quasi)
            if self.types.get(name) not in ("text", "category")
        }

    def _quasi(self, name: str) -> Column:
        given = self.frame[name]
        column, series = self._read(given)
        if column.domain.known == 0:
            raise TableError(
                f"quasi-identifier '{name}' is missing in every row",
                hint="leave it out, or look at what counts as missing",
            )
        if series is not given:
            self._rewritten[name] = series
        if column.domain.values is not None and is_text(column.domain.values.dtype):
            self._odd[name] = on_values(name, column.domain.values)
        return column

    def _read(self, series: pl.Series) -> tuple[Column, pl.Series]:
        """Encode a key, and return it with one text for each value."""
        name, column = series.name, encode(series)
        texts = column.domain.values
        if name not in self.readable or texts is None or not is_text(series.dtype):
            return column, series
        named = texts.alias(name)
        written = in_one_way(named, self.readable[name])
        if written is named:
            return column, series
        series = written.extend_constant(None, 1).gather(column.codes).alias(name)
        return encode(series), series

    @property
    def notes(self) -> list[str]:
        """What a reader must know of how the quasi-identifiers are written."""
        _ = self.partition
        odd = [note for notes in self._odd.values() for note in notes]
        return [*several_ways([name for name in self.quasi if name in self._rewritten]), *odd]

    def key(self, name: str) -> pl.Series:
        """Return a column that identifies groups, with one text for each value."""
        _ = self.partition  # finds out what is written in several ways
        return self._rewritten.get(name, self.frame[name])

    def groups(self, column: Column | None) -> Groups:
        """Return the histograms of a sensitive attribute; of none, the sizes alone."""
        if column not in self._groups:
            self._groups[column] = (
                self.partition.sizes() if column is None else self.partition.histograms(column)
            )
        return self._groups[column]

    def uneven(self, columns: Sequence[str]) -> Uneven | None:
        """Find groups within which some columns differ; None if there are none."""
        labels, count = self.partition.labels, self.partition.count
        first = self.partition.first_rows()[labels]
        differs = np.zeros(count, dtype=bool)
        found = []
        for name in columns:
            series = self.frame[name].alias("")  # polars may take a name for a pattern
            if series.dtype.is_nested():  # any list is a label here, and compares by its text
                series = pl.Series(map(repr, series.to_list()))
            other = series.ne_missing(series.gather(first)).to_numpy()
            if other.any():
                found.append(name)
                differs[labels[other]] = True
        if not found:
            return None
        return Uneven(int(differs.sum()), int(np.count_nonzero(differs[labels])), found)

    @property
    def keys(self) -> list[str]:
        """The columns that identify a group: quasi-identifiers, or the group id."""
        return [self.group] if self.group is not None else self.quasi

    def group_values(self, group: int) -> dict[str, Any]:
        """Return what identifies a group."""
        row = int((self.partition.labels == group).argmax())
        return {column: _cell(self.key(column), row) for column in self.keys}

    def with_population(
        self, population: object
    ) -> tuple[Groups, Callable[[int], dict[str, Any]], Ints]:
        """Group the table and a population together, for the latter may have more groups."""
        # Returns the sizes in both, also of groups that the table lacks; what identifies one of
        # these groups; and where the table's own groups are among them.
        if population is None:
            raise ParameterError(
                "delta-presence needs a table of the population",
                hint=what_to_type(python="population=table", command="--population FILE"),
            )
        people, _ = io.adopt(population)
        for column in self.keys:
            require_column(people, column, "the population")
        both, columns = {}, []
        for name in self.keys:
            own, theirs = self.frame[name], people[name]
            if name in self.readable and is_text(own.dtype) != is_text(theirs.dtype):
                own, theirs = _as_values(own), _as_values(theirs)
            series = stacked(own, theirs, "the population").alias(name)
            encoded, both[name] = self._read(series)
            columns.append(encoded)
        rows = self.frame.height
        partition = Partition.by_equality(columns, rows + people.height)
        groups = replace(
            Partition(partition.labels[:rows], partition.count).sizes(),
            population=np.bincount(partition.labels[rows:], minlength=partition.count),
        )
        first = partition.first_rows()

        def values(group: int) -> dict[str, Any]:
            return {column: _cell(series, int(first[group])) for column, series in both.items()}

        return groups, values, partition.labels[self.partition.first_rows()].astype(np.int64)


def _as_values(series: pl.Series) -> pl.Series:
    """Read text as what it is, so that it compares with values of that type."""
    kind = infer_type(series) if is_text(series.dtype) else "text"
    return series if kind in ("text", "category") else convert(series, kind)


def _cell(series: pl.Series, row: int) -> Any:
    """Return a cell as a plain value: a list as a list."""
    return series.slice(row, 1).to_list()[0]
