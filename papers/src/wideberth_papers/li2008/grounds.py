"""A table with the domains of its columns, and the errors of count queries over these.

Papers draw their queries over domains, not over the values that happen to occur: an interval of
[16, 93] or [1, 983], gaps and all. A published interval is spread over all that it covers, too.
Where hardly any of the numbers between the lowest and the highest occur, as of incomes with a few
in the millions, a domain are the values that do: else most queries would ask for nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column, Domain, encode
from wideberth.core.exact import Ints
from wideberth.errors import TableError
from wideberth.labels import PublishedBoxes
from wideberth.utility.perturbation import Span, perturb, perturbed_answers
from wideberth.utility.workload import QueryError, Workload, answers, box_answers
from wideberth_papers.sources import Shape


class Asked(NamedTuple):
    """A kind of queries: how many dimensions they have (w), and how much they cover (s)."""

    dimensions: int
    volume: Fraction


@dataclass(frozen=True, eq=False, kw_only=True)
class Ground:
    """A table, and what is asked of it.

    Parameters
    ----------
    table : polars.DataFrame
        The original.
    shape : Shape
        Its columns. The sensitive attribute holds whole numbers.
    queries : int
        How many make a workload.
    seed : int
        Of the queries.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [20, 23, 21], "pay": [5, 1, 3]})
    >>> shape = Shape(name="few", quasi=("age",), sensitive=("pay",))
    >>> ground = Ground(table=table, shape=shape, queries=50, seed=1)
    >>> ground.domains[0].to_list(), ground.size
    ([20, 21, 22, 23], 5)
    >>> error = ground.errors(table, [Asked(2, Fraction(1, 2))])[0]
    >>> error.queries, error.mean
    (50, 0.0)
    """

    table: pl.DataFrame
    shape: Shape
    queries: int
    seed: int
    _known: dict[Asked, tuple[Workload, Ints]] = field(default_factory=dict, init=False)
    _matching: dict[Asked, Ints] = field(default_factory=dict, init=False)

    @property
    def sensitive(self) -> str:
        """The sensitive attribute."""
        return self.shape.sensitive[0]

    @cached_property
    def values(self) -> Ints:
        """The sensitive value of each row."""
        series = self.table[self.sensitive]
        if not series.dtype.is_integer() or series.has_nulls():
            raise TableError(
                f"column '{self.sensitive}' must hold whole numbers, none missing",
                hint="round it, and leave out rows without a value",
            )
        return series.to_numpy().astype(np.int64)

    @cached_property
    def places(self) -> Ints:
        """The place of each row's sensitive value in its domain, from 0."""
        return self._placed(self.values)

    @cached_property
    def size(self) -> int:
        """How many sensitive values there may be."""
        return int(self.places.max()) + 1

    @cached_property
    def domains(self) -> list[pl.Series]:
        """The values that each quasi-identifier may have; of whole numbers, those between, too."""
        if self.shape.sparse:
            return [self.table[name].unique().sort() for name in self.shape.quasi]
        return [_domain(self.table[name]) for name in self.shape.quasi]

    @cached_property
    def codes(self) -> list[Codes]:
        """The place of each row's value in the domain of each quasi-identifier."""
        if self.shape.sparse:
            return [encode(self.table[name]).codes for name in self.shape.quasi]
        named = zip(self.shape.quasi, self.domains, strict=True)
        return [_places(self.table[name], domain) for name, domain in named]

    def workload(self, asked: Asked) -> tuple[Workload, Ints]:
        """Return queries and their true answers; they are drawn and counted once."""
        if asked not in self._known:
            workload = Workload.draw(
                [*map(len, self.domains), self.size],
                dimensions=asked.dimensions,
                volume=asked.volume,
                queries=self.queries,
                seed=self.seed,
            )
            actual = answers(workload, self.codes, self.places.astype(np.int32))
            self._known[asked] = workload, actual
        return self._known[asked]

    def errors(self, release: pl.DataFrame, asked: Iterable[Asked]) -> list[QueryError]:
        """Measure how well a generalised table answers each kind of queries."""
        boxes = PublishedBoxes.read(release, self.shape.quasi, original=self._everything)
        domain = Domain(name=self.sensitive, histogram=np.zeros(self.size, dtype=np.int64))
        places = self._placed(release[self.sensitive].to_numpy().astype(np.int64))
        groups = boxes.boxes.histograms(Column(places.astype(np.int32), domain))
        known = [self.workload(kind) for kind in asked]
        return [
            QueryError.of(actual, box_answers(workload, boxes, groups))
            for workload, actual in known
        ]

    def perturbed_errors(
        self, keep: Fraction, asked: Iterable[Asked], rng: np.random.Generator
    ) -> list[QueryError | None]:
        """Measure the same of one perturbed table; there is no answer if no value is kept."""
        domain = Span(0, self.size - 1)  # of places: to draw a place is to draw a value
        seen = perturb(self.places, keep, domain=domain, rng=rng)
        found = []
        for kind in asked:
            workload, actual = self.workload(kind)
            estimate = perturbed_answers(
                workload,
                self.codes,
                seen,
                keep=keep,
                domain=domain,
                possible=True,
                matching=self._matching_rows(kind),
            )
            found.append(None if estimate is None else QueryError.of(actual, estimate))
        return found

    def _matching_rows(self, asked: Asked) -> Ints:
        """Count the rows whose quasi-identifiers match, once for all perturbed tables."""
        if asked not in self._matching:
            workload, _ = self.workload(asked)
            anything = workload.asked.copy()
            anything[:, -1] = False
            workload = replace(workload, asked=anything)
            self._matching[asked] = answers(workload, self.codes, self.places.astype(np.int32))
        return self._matching[asked]

    @cached_property
    def _everything(self) -> pl.DataFrame:
        """A table in which each value of each domain occurs: labels are read by it."""
        rows = max(map(len, self.domains))
        return pl.DataFrame([d.gather(np.arange(rows) % len(d)) for d in self.domains])

    def _placed(self, values: Ints) -> Ints:
        """Return the places of sensitive values: among those that occur, or all whole numbers."""
        if self.shape.sparse:
            return np.searchsorted(np.unique(self.values), values)
        return values - self.values.min()


def _domain(series: pl.Series) -> pl.Series:
    low, high = series.min(), series.max()
    if isinstance(low, int) and isinstance(high, int) and not series.has_nulls():
        return pl.int_range(low, high + 1, dtype=pl.Int64, eager=True).alias(series.name)
    return series.unique().sort()


def _places(series: pl.Series, domain: pl.Series) -> Codes:
    if series.dtype.is_integer() and not series.has_nulls():
        return (series.to_numpy().astype(np.int64) - int(domain[0])).astype(np.int32)
    return encode(series).codes  # in the same order, missing values last
