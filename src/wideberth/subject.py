"""A table made ready for principles: rows grouped, sensitive attributes encoded on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.attributes import Attributes, require_column, stacked
from wideberth.encode import Column, encode
from wideberth.errors import ParameterError, TableError
from wideberth.exact import Ints
from wideberth.groups import Groups, Partition


class Subject(Attributes):
    """A table, its groups, and its sensitive attributes.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    quasi, sensitive : sequence of str
        Its quasi-identifiers and sensitive attributes.
    group : str, optional
        A column of group ids, which then make the groups.
    hierarchies, types, reference : optional
        See `wideberth.attributes.Attributes`.
    """

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
        if not quasi and group is None:
            raise ParameterError(
                "no quasi-identifiers are given", hint="--qi age,zip,sex, or --group COLUMN"
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

    @cached_property
    def partition(self) -> Partition:
        """The groups: rows with equal quasi-identifiers, or with equal group ids."""
        if self.group is not None:
            return Partition.by_equality([encode(self.frame[self.group])], self.frame.height)
        encoded = (_encode_quasi(self.frame[column]) for column in self.quasi)
        return Partition.by_equality(encoded, self.frame.height)

    def groups(self, column: Column | None) -> Groups:
        """Return the histograms of a sensitive attribute; of none, the sizes alone."""
        if column not in self._groups:
            self._groups[column] = (
                self.partition.sizes() if column is None else self.partition.histograms(column)
            )
        return self._groups[column]

    @property
    def keys(self) -> list[str]:
        """The columns that identify a group: quasi-identifiers, or the group id."""
        return [self.group] if self.group is not None else self.quasi

    def group_values(self, group: int) -> dict[str, Any]:
        """Return what identifies a group."""
        row = int((self.partition.labels == group).argmax())
        return {column: _cell(self.frame[column], row) for column in self.keys}

    def with_population(
        self, population: object
    ) -> tuple[Groups, Callable[[int], dict[str, Any]], Ints]:
        """Group the table and a population together, for the latter may have more groups.

        Returns
        -------
        groups : Groups
            The sizes in both, also of groups that the table lacks.
        values : callable
            What identifies one of these groups.
        places : array of int
            Where the table's own groups are among them.
        """
        if population is None:
            raise ParameterError(
                "delta-presence needs a table of the population", hint="--population FILE"
            )
        people, _ = tables.adopt(population)
        for column in self.keys:
            require_column(people, column, "the population")
        both = {
            column: stacked(self.frame[column], people[column], "the population")
            for column in self.keys
        }
        rows = self.frame.height
        partition = Partition.by_equality(map(encode, both.values()), rows + people.height)
        groups = replace(
            Partition(partition.labels[:rows], partition.count).sizes(),
            population=np.bincount(partition.labels[rows:], minlength=partition.count),
        )
        first = partition.first_rows()

        def values(group: int) -> dict[str, Any]:
            return {column: _cell(series, int(first[group])) for column, series in both.items()}

        return groups, values, partition.labels[self.partition.first_rows()].astype(np.int64)


def _cell(series: pl.Series, row: int) -> Any:
    """Return a cell as a plain value: a list as a list."""
    return series.slice(row, 1).to_list()[0]


def _encode_quasi(series: pl.Series) -> Column:
    column = encode(series)
    if column.domain.known == 0:
        raise TableError(
            f"quasi-identifier '{series.name}' is missing in every row",
            hint="leave it out, or look at what counts as missing",
        )
    return column
