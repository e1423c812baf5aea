"""Which values a label covers, as runs of their positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import polars as pl

from wideberth.core.codes import Domain
from wideberth.core.exact import Ints
from wideberth.hierarchy import Hierarchy
from wideberth.labels.atoms import Masks
from wideberth.labels.parse import (
    ANY,
    NOTHING,
    OR_MISSING,
    TO,
    anything,
    bracketed,
    interval,
    masked,
    members,
    unpacked,
)
from wideberth.labels.points import calendar, number

Run = tuple[int, int]


class Place(NamedTuple):
    """What a label covers: runs of atoms, both ends included, and perhaps missing values."""

    runs: Sequence[Run]
    missing: bool = False
    everything: bool = False


class Line:
    """The values that people can have, ready to be looked up."""

    def __init__(self, domain: Domain, tree: Hierarchy | None, *, suppressing: bool) -> None:
        # suppressing: a missing label stands for any value, because none of the values is missing.
        self.domain = domain
        self.tree = tree
        self.count = domain.known
        self.numeric = domain.numbers is not None
        self._dtype = None if domain.values is None else domain.values.dtype
        self._dated = domain.dated
        self.nothing = self._anything if suppressing else Place((), missing=True)
        self._exact = dict(zip(domain.texts, range(self.count), strict=True))
        self._edges: dict[str, Run | None] = {}

    @property
    def _anything(self) -> Place:
        return Place([(0, self.count - 1)], missing=True, everything=True)

    def place(self, label: str | None) -> Place | None:
        """Return what a label covers; None if it cannot be understood."""
        if label is None:
            return self.nothing
        if self.numeric and TO in label and label not in self._exact:  # nearly all, so fast
            low, _, high = label.partition(TO)
            ends = self._edge(low), self._edge(high)
            if ends[0] and ends[1] and ends[0][0] < ends[1][1]:
                return Place(((ends[0][0], ends[1][1] - 1),))
        if anything(label):
            return self._anything
        value = self._value(label)
        if value:
            return Place(value)
        bare = label.removesuffix(OR_MISSING)
        if bare != label:
            rest = self.place(bare)
            return rest and rest._replace(missing=True)
        if label in ANY:
            return self._anything
        if label in NOTHING:
            return self.nothing
        if (inner := unpacked(label)) != label:
            return self.place(inner)
        if (covered := self._interval(label)) is not None:
            return Place(covered)
        # A list or a mask that fits no value was meant in another way, and is not understood.
        if covered := self._set(label) or self._mask(label):
            return Place(covered)
        return None if value is None else Place(value)

    def single(self, label: str | None) -> Place:
        """Take a label for a value of its own, unless it says nothing at all."""
        if label is None:
            return self.nothing
        bare = label.removesuffix(OR_MISSING)
        if anything(bare):
            return self._anything
        at = self._exact[label if label in self._exact else bare]
        return Place([(at, at)], missing=label not in self._exact)

    # ---- values and nodes

    def _value(self, label: str) -> list[Run] | None:
        """Find a value, or a node of the hierarchy; no runs if it is one that does not occur."""
        if self.tree is not None and label in self._nodes:
            return self._below(self._nodes[label])
        if label in self._exact:
            return [(self._exact[label], self._exact[label])]
        if self.numeric:
            edge = None if TO in label else self._edge(label)
            if edge is None or (edge[0] == edge[1] and self._between(label)):
                return None
            return [(edge[0], edge[1] - 1)] if edge[0] < edge[1] else []
        if self._dtype == pl.Boolean:  # yes is true
            code = self.domain.code_of(label)
            return None if code is None else [(code, code)]
        return None

    @cached_property
    def _nodes(self) -> dict[str, list[int]]:
        nodes = defaultdict(list)
        for node, label in enumerate(self.tree.labels if self.tree is not None else ()):
            nodes[label].append(node)
        return dict(nodes)

    @cached_property
    def _by_node(self) -> tuple[Ints, Ints]:
        """The atoms' nodes in order, and which atom each is."""
        assert self.tree is not None  # noqa: S101 - asked only where there is a hierarchy
        nodes = self.tree.nodes_of(self.domain.texts).astype(np.int64)
        order = np.argsort(nodes, kind="stable")
        return nodes[order], order

    def _below(self, nodes: Sequence[int]) -> list[Run]:
        """Find the atoms at nodes and below them: their nodes are consecutive."""
        assert self.tree is not None  # noqa: S101 - asked only where there is a hierarchy
        places, order = self._by_node
        found = [
            order[np.searchsorted(places, node) : np.searchsorted(places, self.tree.ends[node])]
            for node in nodes
        ]
        return runs(np.concatenate(found))

    # ---- numbers and dates

    def _interval(self, label: str) -> list[Run] | None:
        ends = interval(label) if self.numeric else None
        if ends is None:
            return None
        low = (0, 0) if ends.low is None else self._edge(ends.low)
        high = (self.count, self.count) if ends.high is None else self._edge(ends.high)
        if low is None or high is None or high[1] < low[0]:
            return None
        first = low[0] if ends.with_low else low[1]
        after = high[1] if ends.with_high else high[0]
        if first >= after:  # some tools put a value that is an end into the interval beside it
            first, after = low[0], high[1]
        return [(first, after - 1)] if first < after else []

    def _edge(self, text: str) -> Run | None:
        """Return how many values lie below an end, and how many do not lie above it."""
        if text not in self._edges:
            self._edges[text] = self._measured(text.strip())
        return self._edges[text]

    def _measured(self, text: str) -> Run | None:
        numbers = self.domain.numbers
        assert numbers is not None  # noqa: S101 - asked of numbers only
        at = self._exact.get(text, self._as_written.get(text))
        if at is not None:
            return at, at + 1
        if self._dtype == pl.Duration:
            return None
        point = calendar(text) if self._dated else number(text)
        if point is None:
            return None
        units, per = numbers.units, numbers.per
        if self._dtype == pl.Datetime and isinstance(point.low, int):  # a day, or several
            units, per = self._days, 1
        below = np.searchsorted(units, ceil(point.low * per), side="left")
        upto = np.searchsorted(units, floor(point.high * per), side="right")
        return (int(below), int(upto)) if below <= upto else (int(below), int(below))

    def _between(self, text: str) -> bool:
        """Return whether a number is too fine to be anybody's: a mean, perhaps, of several."""
        numbers, point = self.domain.numbers, number(text)
        assert numbers is not None  # noqa: S101 - asked of numbers only
        return point is not None and (point.low * numbers.per).denominator != 1

    @cached_property
    def _days(self) -> Ints:
        assert self.domain.values is not None  # noqa: S101 - dates have values
        return self.domain.values.dt.date().to_physical().cast(pl.Int64).to_numpy()

    @cached_property
    def _as_written(self) -> dict[str, int]:
        """The moments as they are published: without fractions of whole seconds."""
        values = self.domain.values
        if values is None or values.dtype != pl.Datetime:
            return {}
        texts = values.cast(pl.String)
        brief = texts.str.replace(r"\.0+\b", "")
        both = (dict(zip(t.to_list(), range(len(t)), strict=True)) for t in (texts, brief))
        return {text: at for table in both for text, at in table.items()}

    # ---- sets and masks

    def _set(self, label: str) -> list[Run] | None:
        found = [self._value(member) for member in members(label) or ()]
        known = [run for covered in found if covered for run in covered]
        if not found or (len(known) < len(found) and not bracketed(label)):
            return None
        return joined(known)

    def _mask(self, label: str) -> list[Run] | None:
        return runs(self._masks.matching(label)) if masked(label) else None

    @cached_property
    def _masks(self) -> Masks:
        return Masks(self.domain.texts)


def runs(positions: Iterable[int]) -> list[Run]:
    """Put positions together to runs.

    >>> runs([4, 0, 1])
    [(0, 1), (4, 4)]
    """
    return joined([(at, at) for at in positions])


def joined(given: Iterable[Run]) -> list[Run]:
    """Join runs that touch."""
    found: list[Run] = []
    for first, last in sorted((int(first), int(last)) for first, last in given):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
