"""A table made ready for principles: rows grouped, sensitive attributes encoded on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.encode import Column, Domain, encode, join
from wideberth.errors import ParameterError, TableError
from wideberth.exact import Ints
from wideberth.groups import Groups, Partition
from wideberth.hierarchy import Hierarchy, parse_spec
from wideberth.principles import Principle
from wideberth.schema import convert, infer_type

_NUMERIC = ("integer", "float", "decimal", "date")


class Subject:
    """A table, its groups, and its sensitive attributes.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    quasi, sensitive : sequence of str
        Its quasi-identifiers and sensitive attributes.
    group : str, optional
        A column of group ids, which then make the groups.
    hierarchies : mapping
        Semantic trees by sensitive attribute, or files or rules for them.
    types : mapping
        Types of sensitive attributes, where they are not to be inferred.
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
    ) -> None:
        self.frame = frame
        self.quasi = list(quasi)
        self.sensitive = list(sensitive)
        self.group = group
        self.hierarchies = hierarchies
        self.types = types
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
        self._columns: dict[tuple[str, ...], Column] = {}
        self._groups: dict[tuple[str, ...], Groups] = {}

    @cached_property
    def partition(self) -> Partition:
        """The groups: rows with equal quasi-identifiers, or with equal group ids."""
        if self.group is not None:
            return Partition.by_equality([encode(self.frame[self.group])], self.frame.height)
        encoded = (_encode_quasi(self.frame[column]) for column in self.quasi)
        return Partition.by_equality(encoded, self.frame.height)

    def attribute(self, principle: Principle) -> tuple[str, ...]:
        """Return the sensitive columns that a principle guards."""
        if principle.needs in ("size", "population"):
            return ()
        if principle.on is not None:
            on = (principle.on,) if isinstance(principle.on, str) else tuple(principle.on)
            for column in on:
                if column not in self.sensitive:
                    raise ParameterError(
                        f"{principle.name}: '{column}' is no sensitive attribute",
                        hint=f"on={self.sensitive[0]}" if self.sensitive else "--sensitive COLUMN",
                    )
            return on
        if not self.sensitive:
            raise ParameterError(
                f"{principle.name} needs a sensitive attribute", hint="--sensitive COLUMN"
            )
        if len(self.sensitive) > 1 and principle.needs != "several":
            raise ParameterError(
                f"{principle.name} must say which sensitive attribute it is on",
                hint=f"{principle.name}:on={self.sensitive[0]},…",
            )
        return tuple(self.sensitive)

    def domain(self, on: tuple[str, ...], principle: Principle) -> Domain:
        """Return the domain of a sensitive attribute; several columns are taken together."""
        if not on:
            return Domain(name="rows", histogram=np.array([self.frame.height]))
        numeric = principle.needs == "numbers"
        if on not in self._columns:
            parts = [self._single(name, numeric) for name in on]
            self._columns[on] = parts[0] if len(parts) == 1 else join("+".join(on), parts)
        elif numeric and len(on) == 1 and self._columns[on].domain.numbers is None:
            self._single(on[0], numeric)  # says in which row there is no number
        return self._columns[on].domain

    def groups(self, on: tuple[str, ...]) -> Groups:
        """Return the histograms of a sensitive attribute; of none, the sizes alone."""
        if on not in self._groups:
            self._groups[on] = (
                self.partition.histograms(self._columns[on]) if on else self.partition.sizes()
            )
        return self._groups[on]

    def _single(self, name: str, numeric: bool) -> Column:
        series = self.frame[name]
        kind = self.types.get(name)
        if kind is None:
            kind = infer_type(series)
            # Converting says in which row there is no number; where nothing is known, none fails.
            if (numeric and kind not in _NUMERIC) or series.null_count() == len(series):
                kind = "float"
        if kind != "vector":
            series = convert(series, kind)
        column = encode(series)
        if name in self.hierarchies:
            column = column.with_tree(self._tree(name, column))
        return column

    def _tree(self, name: str, column: Column) -> Hierarchy:
        tree = self.hierarchies[name]
        texts = column.domain.texts
        _, first = np.unique(column.codes, return_index=True)
        rows = (first[: len(texts)] + 1).tolist()
        if not isinstance(tree, Hierarchy):
            rule = str(tree) if isinstance(tree, Path) else tree
            tree = parse_spec(rule, texts, Path(), rows=rows)
        tree.require(texts, name, rows)
        return tree

    @property
    def keys(self) -> list[str]:
        """The columns that identify a group: quasi-identifiers, or the group id."""
        return [self.group] if self.group is not None else self.quasi

    def group_values(self, group: int) -> dict[str, Any]:
        """Return what identifies a group."""
        row = int((self.partition.labels == group).argmax())
        return {column: self.frame[column][row] for column in self.keys}

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
        both = {column: _stacked(self.frame[column], people[column]) for column in self.keys}
        rows = self.frame.height
        partition = Partition.by_equality(map(encode, both.values()), rows + people.height)
        groups = replace(
            Partition(partition.labels[:rows], partition.count).sizes(),
            population=np.bincount(partition.labels[rows:], minlength=partition.count),
        )
        first = partition.first_rows()

        def values(group: int) -> dict[str, Any]:
            return {column: series[int(first[group])] for column, series in both.items()}

        return groups, values, partition.labels[self.partition.first_rows()].astype(np.int64)


def _stacked(above: pl.Series, below: pl.Series) -> pl.Series:
    """Put two columns into one: numbers as numbers, so that 25 is 25.0; else as text."""
    if above.dtype != below.dtype:
        kind = pl.Float64 if above.dtype.is_numeric() and below.dtype.is_numeric() else pl.String
        above, below = above.cast(kind), below.cast(kind)
    return pl.concat([above.alias(""), below.alias("")])


def _encode_quasi(series: pl.Series) -> Column:
    column = encode(series)
    if column.domain.known == 0:
        raise TableError(
            f"quasi-identifier '{series.name}' is missing in every row",
            hint="leave it out, or look at what counts as missing",
        )
    return column


def require_column(frame: pl.DataFrame, column: str, where: str = "the table") -> None:
    """Refuse a column that is not there, with the nearest name that is."""
    if column not in frame.columns:
        close = get_close_matches(column, frame.columns, n=1)
        listed = ", ".join(frame.columns[:12]) + (", …" if frame.width > 12 else "")
        raise TableError(
            f"{where} has no column '{column}'",
            hint=f"did you mean '{close[0]}'?" if close else f"its columns are {listed}",
        )
