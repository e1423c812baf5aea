"""The strongest value of one parameter with which a table can satisfy a principle at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf, nextafter
from typing import Any

import numpy as np

from wideberth.advice.brackets import last
from wideberth.advice.crowding import crowding
from wideberth.advice.dissimilar import MOST, DissimilarityAdvice
from wideberth.advice.spacing import Spacing
from wideberth.encode import Column, Domain
from wideberth.errors import ParameterError
from wideberth.exact import Ints, fraction
from wideberth.groups import Groups
from wideberth.principles import (
    DeltaLDiversity,
    Dissimilarity,
    EpsilonMAnonymity,
    LEDiversity,
    Parameter,
    Principle,
    Rule,
    lookup,
    make,
)
from wideberth.principles.deciding import Verdict
from wideberth.principles.dissimilarity import Scattered
from wideberth.principles.search import Searched

_ULPS = 4  # a figure is rounded so often at most
_TINY = 1e-12


@dataclass(frozen=True)
class Limit:
    """The strongest possible value.

    Parameters
    ----------
    value : Fraction or None
        None if every value is possible.
    exclusive : bool
        Whether the value itself is just out of reach.
    """

    value: Fraction | None
    exclusive: bool = False


class Whole:
    """A table as a principle sees it before it is partitioned: one group of all rows.

    Parameters
    ----------
    column : Column or None
        A sensitive attribute; None for principles that look at sizes only.
    rows : int
        How many rows there are.
    counts : array of int, optional
        How many rows hold each code. By default the column's codes are counted, one for each row;
        those of a table that is not in memory are of its distinct values, so they do not tell.
    """

    def __init__(self, column: Column | None, rows: int, counts: Ints | None = None) -> None:
        self.column = column
        self.rows = rows
        self.at_hand = counts is None
        self.domain = (
            Domain(name="rows", histogram=np.array([rows])) if column is None else column.domain
        )
        if column is None:
            counts = np.array([rows])
        elif counts is None:
            counts = np.bincount(column.codes, minlength=self.domain.size)
        # A histogram of distinct values, or of a reference, would give wrong advice silently.
        if len(counts) != self.domain.size or int(counts.sum()) != rows:
            raise ValueError(f"the counts of '{self.domain.name}' are not those of {rows} rows")
        self.counts = counts
        held = np.flatnonzero(counts)
        self.groups = Groups(
            start=np.array([0, len(held)]), codes=held, counts=counts[held], width=self.domain.size
        )
        self._spacings: dict[bool, Spacing] = {}

    def bind(self, principle: Principle) -> Rule:
        """Bind a principle to the table."""
        return principle.bind(self.domain)

    def feasible(self, principle: Principle) -> bool:
        """Tell whether some partition satisfies a principle (for some, whether one was found)."""
        rule = self.bind(principle)
        return self.looked_at(rule) and bool(rule.feasible(self.groups)[0])

    def verdict(self, principle: Principle) -> Verdict:
        """Tell whether some partition satisfies a principle, as far as that can be told.

        >>> from wideberth.encode import encode
        >>> from wideberth.principles import parse
        >>> import polars as pl
        >>> table = Whole(encode(pl.Series("pay", [1, 2, 3, 50])), 4)
        >>> table.verdict(parse("epsilon-m:epsilon=1,m=2"))
        'yes'
        >>> table.verdict(parse("epsilon-m:epsilon=2,m=2"))
        'no'
        """
        rule = self.bind(principle)
        if isinstance(rule, Searched) and rule.line is None:
            return rule.answer(self.groups.rows(0)).verdict if self.looked_at(rule) else "unknown"
        if bool(rule.feasible(self.groups)[0]):
            return "yes"
        return "no" if rule.certain else "unknown"

    def looked_at(self, rule: Rule) -> bool:
        """Tell whether a rule can answer: some look at row by row, of which there may be many."""
        if self.at_hand or self.rows <= MOST:
            return True
        return not isinstance(rule, Searched) or rule.line is not None

    def spacing(self, relative: bool) -> Spacing:
        """Return how far apart the numbers lie."""
        if self.column is None:
            raise ParameterError("there is no epsilon without an attribute", hint="name one")
        if relative not in self._spacings:
            self._spacings[relative] = Spacing.of(self.domain, self.counts, relative=relative)
        return self._spacings[relative]

    def strongest(self, name: str, key: str, others: Mapping[str, Any]) -> Limit | None:
        """Return the strongest value of a parameter, given the others.

        None if no value will do, or if none could be told.
        """
        try:
            weakest = make(name, {**others, key: self.weakest(name, key)})
        except ParameterError:  # such as required values without a share: none of it is weakest
            return None
        if key in ("epsilon", "delta") and isinstance(weakest, EpsilonMAnonymity | DeltaLDiversity):
            return self._farthest(weakest)
        if isinstance(weakest, Dissimilarity):
            return self._dissimilar(weakest, key)
        if not self.feasible(weakest):
            return None
        crowd = crowding(self.bind(weakest), self.domain.size)
        specification = weakest.parameters()[key]
        if crowd is not None and key in ("m", "l", "alpha"):
            fullest, _ = crowd.fullest(self.groups.codes, self.groups.counts)
            if key == "alpha":
                return Limit(Fraction(fullest, self.rows))
            share = Fraction(self.rows, fullest)
            return Limit(Fraction(int(share)) if specification.kind == "whole" else share)

        def possible(value: Fraction) -> bool:
            return self.feasible(make(name, {**others, key: value}))

        if specification.kind == "whole":
            low, high = specification.low or 0, self.rows
            rule = self.bind(weakest)
            if isinstance(rule, Scattered):
                high //= rule.fullest(self.groups.rows(0))
                if possible(Fraction(high)):
                    return Limit(Fraction(high))
            more = last(max(high, low) - low, lambda more: possible(Fraction(low + more)))
            return Limit(Fraction(low + more))
        if isinstance(weakest, LEDiversity) and self.domain.tree is not None:
            # Distances on a tree are halves.
            halves = last(2 * self.domain.tree.height, lambda many: possible(Fraction(many, 2)))
            return Limit(Fraction(halves, 2))
        figures = self.bind(weakest).achieved(self.groups)
        if key not in figures:
            return None
        return _settled(float(figures[key][0]), specification, possible, self.rows)

    @staticmethod
    def weakest(name: str, key: str) -> Any:
        """Return the value of a parameter that asks least of a table."""
        specification = lookup(name).parameters()[key]
        if specification.stronger == "lower":
            return 10**300 if specification.high is None else specification.high
        return specification.low

    def _dissimilar(self, principle: Dissimilarity, key: str) -> Limit | None:
        """Return the strongest value for which groups are known; there may be stronger ones."""
        assert self.column is not None  # noqa: S101 - it guards an attribute
        counts = None if self.at_hand else self.counts
        if counts is not None and self.rows > MOST:
            return None
        advice = DissimilarityAdvice(self.column, principle.distance, counts=counts)
        if key == "k":
            most = advice.max_k(principle.epsilon, principle.delta).feasible
            return None if most is None else Limit(most)
        if key == "delta":
            bracket = advice.max_delta(principle.epsilon, principle.k)
        else:
            bracket = advice.max_epsilon(principle.delta, principle.k)
        if bracket.every:
            return Limit(None)
        if bracket.feasible is None:
            return None
        return Limit(bracket.feasible, exclusive=not bracket.attained)

    def _farthest(self, principle: EpsilonMAnonymity | DeltaLDiversity) -> Limit | None:
        if isinstance(principle, EpsilonMAnonymity):
            epsilon = self.spacing(principle.relative).supremum(self.rows // principle.m)
        else:
            wanted = fraction(principle.l)
            if principle.variant == "literal" and wanted.denominator != 1:
                return None  # Theorem 1 does not hold for it
            epsilon = self.spacing(False).supremum(int(self.rows / wanted))
            epsilon = None if epsilon is None else epsilon / 2
        return None if epsilon == 0 else Limit(epsilon, exclusive=True)


def _settled(
    figure: float, specification: Parameter, possible: Callable[[Fraction], bool], rows: int
) -> Limit | None:
    """Turn a rounded figure into one that is certainly possible, or certainly a bound."""
    if isinf(figure):
        return None
    towards = -inf if specification.stronger == "higher" else inf
    if specification.exclusive:  # a ratio of two counts, which a float tells apart from others
        exact = Fraction(figure).limit_denominator(rows)
        beyond = nextafter(figure, towards) if figure else _TINY
        if float(exact) == figure and possible(fraction(beyond)):
            return Limit(exact, exclusive=True)
        return Limit(fraction(nextafter(beyond, towards)), exclusive=True)
    for _ in range(_ULPS):
        if possible(fraction(figure)):
            return Limit(fraction(figure))
        figure = nextafter(figure, towards)
    return None
