"""The strongest value of one parameter with which a table can satisfy a principle at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isinf
from struct import pack, unpack
from typing import Any

import numpy as np

from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.exact import Ints, fraction
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError
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
from wideberth.principles.allowance import allowed_codes
from wideberth.principles.dissimilarity import LEDiversityRule
from wideberth.principles.diversity import _Frequency, _Unique
from wideberth.principles.feasibility.gaps import Spacing
from wideberth.principles.feasibility.nearness import (
    MAX_SEARCHED_ROWS,
    DissimilarityAdvice,
    last_possible,
)
from wideberth.principles.partition.caps import LinearOrder, SearchedRule
from wideberth.principles.partition.decide import PartitionVerdict
from wideberth.principles.proximity import _NeighborhoodShare, _WindowShare

# -----------------------------------------------------------------------------
# Rules that say one thing only: no crowd of similar rows may exceed a share of its group.
#
# Most principles about sensitive values are of this kind: equal values, numbers in one window, a
# bucket of a semantic tree. What is possible for a table then follows from its fullest crowd.


@dataclass(frozen=True, eq=False)
class WindowShareLimit(LinearOrder):
    """Codes on a line, and how large a share of a group may be similar."""

    share: Fraction  # the most of a group that any crowd may hold

    def fullest(self, codes: Ints | Codes, counts: Ints | None = None) -> tuple[int, int]:
        """Return how many rows the fullest crowd has, and the place where it begins."""
        held = np.zeros(len(self.reach), dtype=np.int64)
        np.add.at(held, self.place[codes], 1 if counts is None else counts)
        running = np.concatenate(([0], np.cumsum(held)))
        rows = running[self.reach + 1] - running[:-1]
        begin = int(rows.argmax())
        return int(rows[begin]), begin


def window_share_limit(rule: Rule, size: int) -> WindowShareLimit | None:
    """Return what a rule for a domain of `size` codes says about crowds; None if it says more."""
    # A smallest group size (of (α,k)-anonymity) does not matter to crowds and stays with the rule.
    each = np.arange(size)
    beside = rule.allowance
    if beside is not None and isinstance(rule, _WindowShare | _Frequency):
        # Allowed values come last, and reach less far than themselves: they are in no crowd.
        reach, share = each, Fraction(1)
        if isinstance(rule, _Frequency):
            share = rule.share
        else:
            reach = rule.reach if isinstance(rule, _NeighborhoodShare) else rule.near.last
            share = 1 / rule.wanted
        return WindowShareLimit(beside.order, beside.last_of(reach), share)
    if isinstance(rule, _NeighborhoodShare):
        return WindowShareLimit(each, rule.reach, Fraction(1, rule.m))
    if isinstance(rule, _WindowShare):
        return WindowShareLimit(each, rule.near.last, 1 / rule.wanted)
    if isinstance(rule, _Frequency):
        return WindowShareLimit(each, each, rule.share)
    if isinstance(rule, _Unique):
        return WindowShareLimit(each, each, Fraction(1, rule.m))
    if isinstance(rule, SearchedRule) and rule.line is not None:
        return WindowShareLimit(rule.line.place, rule.line.reach, Fraction(1, rule.smallest))
    return None


# -----------------------------------------------------------------------------
# The strongest value of one parameter with which a table can satisfy a principle at all.


#: The positive numbers that a parameter takes.
_LEAST, _MOST = 1e-300, 1e300


@dataclass(frozen=True)
class Limit:
    """The strongest possible value of a parameter."""

    # None if every value is possible. An entropy, which no fraction denotes, is given as the last
    # float that is possible.
    value: Fraction | None
    exclusive: bool = False  # whether the value itself is just out of reach


class WholeTable:
    """A table as a principle sees it before it is partitioned: one group of all rows."""

    def __init__(self, column: Column | None, rows: int, counts: Ints | None = None) -> None:
        # counts: how many rows hold each code. A table that is not in memory must give them, as the
        # column's codes are then those of its distinct values.
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
        self._spacings: dict[tuple[bool, tuple[object, ...]], Spacing] = {}

    def bind(self, principle: Principle) -> Rule:
        """Bind a principle to the table."""
        return principle.bind(self.domain)

    def feasible(self, principle: Principle) -> bool:
        """Return whether some partition satisfies a principle (for some, whether one was found)."""
        rule = self.bind(principle)
        return self.looked_at(rule) and bool(rule.feasible(self.groups)[0])

    def verdict(self, principle: Principle) -> PartitionVerdict:
        """Return whether some partition satisfies a principle, as far as that can be told.

        >>> from wideberth.core.codes import encode
        >>> from wideberth.principles import parse
        >>> import polars as pl
        >>> table = WholeTable(encode(pl.Series("pay", [1, 2, 3, 50])), 4)
        >>> table.verdict(parse("epsilon-m:epsilon=1,m=2"))
        'yes'
        >>> table.verdict(parse("epsilon-m:epsilon=2,m=2"))
        'no'
        """
        rule = self.bind(principle)
        if isinstance(rule, SearchedRule) and rule.line is None:
            return rule.answer(self.groups.rows(0)).verdict if self.looked_at(rule) else "unknown"
        if bool(rule.feasible(self.groups)[0]):
            return "yes"
        return "no" if rule.certain else "unknown"

    def looked_at(self, rule: Rule) -> bool:
        """Return whether a rule can answer: some look at row by row, of which there may be many."""
        return self.at_hand or self.rows <= MAX_SEARCHED_ROWS or not self.searched(rule)

    @staticmethod
    def searched(rule: Rule) -> bool:
        """Return whether a rule compares rows with one another to find groups, which takes long."""
        return isinstance(rule, SearchedRule) and rule.line is None

    def spacing(self, relative: bool, allowed: tuple[object, ...] = ()) -> Spacing:
        """Return how far apart the numbers lie, but for values that need no protection."""
        if self.column is None:
            raise ParameterError("there is no epsilon without an attribute", hint="name one")
        if (relative, allowed) not in self._spacings:
            free = allowed_codes(self.domain, allowed) if allowed else None
            self._spacings[relative, allowed] = Spacing.of(
                self.domain, self.counts, relative=relative, allowed=free
            )
        return self._spacings[relative, allowed]

    def free(self, rule: Rule) -> bool:
        """Return whether no row of the table needs the rule's protection."""
        beside = rule.allowance
        return beside is not None and not bool(beside.counts(self.groups).any())

    def strongest(self, name: str, key: str, others: Mapping[str, Any]) -> Limit | None:
        """Return the strongest value of a parameter, given the others; None if none is known."""
        weakest = self._weakest(name, key, others)
        if weakest is None:
            return None
        if key in ("epsilon", "delta") and isinstance(weakest, EpsilonMAnonymity | DeltaLDiversity):
            return self._farthest(weakest)
        if isinstance(weakest, Dissimilarity):
            return self._dissimilar(weakest, key)
        if not self.feasible(weakest):
            return None
        rule = self.bind(weakest)
        crowd = window_share_limit(rule, self.domain.size)
        specification = weakest.parameters()[key]
        if self.free(rule) and not isinstance(weakest, LEDiversity):
            return Limit(None)
        if crowd is not None and key in ("m", "l", "alpha"):
            fullest, _ = crowd.fullest(self.groups.codes, self.groups.counts)
            fullest = max(fullest, 1)  # groups must have l rows, whatever these are
            if key == "alpha":
                return Limit(Fraction(fullest, self.rows))
            share = Fraction(self.rows, fullest)
            return Limit(Fraction(int(share)) if specification.kind == "whole" else share)

        def possible(value: Fraction) -> bool:
            try:
                return self.feasible(make(name, {**others, key: value}))
            except ParameterError:  # such as an l that must be whole
                return False

        if specification.kind == "whole":
            low, high = specification.low or 0, self.rows
            if isinstance(rule, LEDiversityRule):
                high //= max(rule.fullest(self.groups.rows(0)), 1)
                if possible(Fraction(high)):
                    return Limit(Fraction(high))
            more = last_possible(max(high, low) - low, lambda more: possible(Fraction(low + more)))
            return Limit(Fraction(low + more))
        if isinstance(weakest, LEDiversity) and self.domain.tree is not None:
            # Distances on a tree are halves.
            halves = last_possible(
                2 * self.domain.tree.height, lambda many: possible(Fraction(many, 2))
            )
            return Limit(Fraction(halves, 2))
        figures = rule.achieved(self.groups)
        if key not in figures:
            return None
        figure = float(figures[key][0])
        return _settled(figure, specification, possible, self.rows, rule.certain)

    def _weakest(self, name: str, key: str, others: Mapping[str, Any]) -> Principle | None:
        """Return the principle that asks least of a table, given all but one parameter."""
        for value in (self.weakest(name, key), fraction(_LEAST)):
            try:
                return make(name, {**others, key: value})
            except ParameterError:  # such as required values without a share of them
                continue
        return None

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
        if counts is not None and self.rows > MAX_SEARCHED_ROWS:
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
            spacing = self.spacing(principle.relative, principle.allowed)
            epsilon = spacing.supremum(self.rows // principle.m)
        else:
            wanted = fraction(principle.l)
            if principle.variant == "literal" and wanted.denominator != 1:
                return None  # Theorem 1 does not hold for it
            epsilon = self.spacing(False, principle.allowed).supremum(int(self.rows / wanted))
            epsilon = None if epsilon is None else epsilon / 2
        return None if epsilon == 0 else Limit(epsilon, exclusive=True)


def _settled(
    figure: float,
    specification: Parameter,
    possible: Callable[[Fraction], bool],
    rows: int,
    certain: bool,
) -> Limit | None:
    """Turn a rounded figure into the last float that is possible, or into an exact bound."""
    if specification.exclusive and not isinf(figure):
        # A ratio of two counts, which are no more than the rows together.
        most = max(1, ceil(rows / (1 + figure)))
        exact = Fraction(figure).limit_denominator(most)
        # No two such ratios are so close that both could be the bound.
        if possible(exact + Fraction(1, 4 * most**2)) and not (exact and possible(exact)):
            return Limit(exact, exclusive=True)
    # Floats by their place among those that the parameter takes, the weakest at place 0.
    low, high = specification.low or 0, specification.high
    first = _place(float(low)) if low else _place(_LEAST) - 1
    end = _place(_MOST if high is None else float(high)) - first
    higher = specification.stronger == "higher"

    def value(place: int) -> Fraction:
        place = place if higher else end - place
        return fraction(_float(first + place) if place or low else 0.0)

    rough = min(max(_place(figure) - first, 0), end)
    place = last_possible_near(
        rough if higher else end - rough, end, lambda place: possible(value(place)), certain
    )
    if place is None:
        return None
    return Limit(None if place == end and high is None and higher else value(place))


def _place(number: float) -> int:
    """Count the floats from 0 to a number that is not negative; infinity comes last."""
    place: int = unpack("<q", pack("<d", number))[0]
    return place


def _float(place: int) -> float:
    number: float = unpack("<d", pack("<q", place))[0]
    return number


def last_possible_near(
    guess: int, end: int, possible: Callable[[int], bool], beyond: bool
) -> int | None:
    """Return the last possible place up to the end, where all possible places come first.

    >>> last_possible_near(7, 100, lambda place: place < 5, True)
    4
    >>> last_possible_near(7, 100, lambda place: place <= 60, True)
    60
    """
    # It is looked for around a guess, in steps that double; above the guess only if `beyond`.
    step = 1
    if possible(guess):
        if not beyond:
            return guess
        low, high = guess, guess + 1
        while high <= end and possible(high):
            low, high, step = high, high + step, 2 * step
        high = min(high, end + 1)
    else:
        low, high = max(guess - 1, 0), guess
        while high and not possible(low):
            low, high, step = max(low - step, 0), low, 2 * step
        if not high:
            return None
    return low + last_possible(high - low - 1, lambda more: possible(low + more))
