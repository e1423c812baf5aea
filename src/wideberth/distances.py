"""How far two sensitive values are apart, reduced to what principles ask: who is near whom.

For a threshold ε a distance yields a `Similarity`: for every code, the codes at distance at most ε.
It is a window of codes for numbers, and lists of codes for everything else. A missing value is
near to missing values only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import floor, isfinite
from typing import Any, TypeAlias

import numpy as np

from wideberth.encode import Domain
from wideberth.errors import ParameterError, TableError
from wideberth.exact import Bools, Ints, Numbers, Whole
from wideberth.groups import Groups
from wideberth.hierarchy import Hierarchy, require_one_root

Metric: TypeAlias = Callable[[Any, Any], float]

NAMES = ("auto", "absolute", "discrete", "tree", "variational")

_BLOCK = 1 << 22  # pairs looked at in one go: bounds the memory, not the result
_MANY = 4000  # values of which all pairs are still looked at
_SUM_TOLERANCE = Fraction(1, 10**6)
_ROUNDING = 1e-9  # relatively: what a user's function may have rounded


def spread(start: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Look up codes in compressed rows: how many entries each has, and where they all are.

    >>> spread(np.array([0, 2, 5]), np.array([1, 0]))
    (array([3, 2]), array([2, 3, 4, 0, 1]))
    """
    lengths = np.diff(start)[codes]
    before = np.cumsum(lengths) - lengths
    return lengths, np.repeat(start[codes] - before, lengths) + np.arange(int(lengths.sum()))


def ways_up(tree: Hierarchy, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the ways from nodes up to the root, both ends included, as compressed rows."""
    start = np.concatenate(([0], np.cumsum(tree.depth[nodes] + 1))).astype(np.int64)
    way = np.empty(start[-1], dtype=np.int64)
    place, node = start[:-1], nodes
    while len(node):
        way[place] = node
        up = tree.parent[node].astype(np.int64)
        place, node = place[up >= 0] + 1, up[up >= 0]
    return start, way


@dataclass(frozen=True, eq=False)
class Windows:
    """Each code is similar to the codes from ``first[code]`` to ``last[code]``."""

    first: Ints
    last: Ints

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        return groups.within(self.first[groups.codes], self.last[groups.codes])

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        return np.arange(self.first[code], self.last[code] + 1)


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Each code is similar to the codes ``codes[start[code] : start[code + 1]]``, ascending."""

    start: Ints
    codes: Ints

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        lengths = np.diff(self.start)[groups.codes]
        result = np.empty(len(lengths), dtype=np.int64)
        for piece in _pieces(lengths):
            length, at = spread(self.start, groups.codes[piece])
            found = groups.lookup(np.repeat(groups.owner[piece], length), self.codes[at])
            result[piece] = np.add.reduceat(found, np.cumsum(length) - length)
        return result

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        return self.codes[self.start[code] : self.start[code + 1]]


class Surroundings:
    """What lies at most so many steps from a node, of some nodes of a tree.

    Parameters
    ----------
    tree : Hierarchy
        The tree.
    nodes : array of int
        Some of its nodes, ascending.
    limit : int
        How many steps.
    """

    def __init__(self, tree: Hierarchy, nodes: Ints, limit: int) -> None:
        self.parent, self.limit = tree.parent.tolist(), limit
        self.depths, self.depth = tree.depth.tolist(), tree.depth[nodes]
        self.nodes = nodes.tolist()
        # Nodes below another follow it.
        self.begins = np.searchsorted(nodes, np.arange(len(tree))).tolist()
        self.ends = np.searchsorted(nodes, tree.ends).tolist()

    def of(self, place: int) -> Ints:
        """Return the places of all that is near the node at a place, itself included.

        On the way up, each ancestor adds what is near enough below it. What lies below the step
        before has been added already, by a looser bound.
        """
        parts = []
        node, height = self.nodes[place], 0
        left = right = place
        while node >= 0 and height <= self.limit:
            low, high = self.begins[node], self.ends[node]
            deepest = self.limit - height + self.depths[node]
            for start, end in ((low, left), (right, high)):
                if start < end:
                    parts.append(np.flatnonzero(self.depth[start:end] <= deepest) + start)
            left, right = low, high
            node, height = self.parent[node], height + 1
        return np.sort(np.concatenate(parts))


class Branches:
    """Codes at most so far apart on a tree are similar.

    Two values at depths d and d' with their lowest common ancestor at depth h are (d + d' - 2h) / 2
    apart. So a row's neighbours are found on its way up: at each ancestor, the rows below it at
    depth d' <= 2ε - d + 2h, less those counted below the step before. That takes the group's
    counts by ancestor and depth, never a matrix of all pairs.
    """

    def __init__(self, domain: Domain, tree: Hierarchy, epsilon: Fraction) -> None:
        self.tree = tree
        self.nodes = tree.nodes_of(domain.texts).astype(np.int64)
        self.limit = min(floor(2 * epsilon), 2 * tree.height)
        self.start, self.way = ways_up(tree, self.nodes)
        self.depth = np.append(tree.depth, 0).astype(np.int64)
        if domain.missing is not None:  # a tree of its own
            self.start = np.append(self.start, self.start[-1] + 1)
            self.way = np.append(self.way, len(tree.parent))
        self.depth_of = self.depth[self.way[self.start[:-1]]]
        self.missing = domain.missing

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        lengths, at = spread(self.start, groups.codes)
        begin = np.cumsum(lengths) - lengths
        node = self.way[at]
        own = np.repeat(self.depth_of[groups.codes], lengths)
        levels = int(self.depth.max()) + 2
        place = (np.repeat(groups.owner, lengths) * len(self.depth) + node) * levels
        order = np.argsort(place + own, kind="stable")
        counts = np.repeat(groups.counts, lengths)[order]
        table, running = (place + own)[order], np.concatenate(([0], np.cumsum(counts)))

        def below(branch: Ints, deepest: Ints) -> Ints:
            end = np.searchsorted(table, branch + np.clip(deepest, -1, levels - 2), side="right")
            first = np.searchsorted(table, branch, side="left")
            return running[np.maximum(end, first)] - running[first]

        deepest = self.limit - own + 2 * self.depth[node]
        here = below(place, deepest)
        # The step before on the way up; the value itself has none.
        inner = below(place[:-1], deepest[1:]) if len(place) > 1 else here[:0]
        here[1:] -= np.where(np.isin(np.arange(1, len(place)), begin), 0, inner)
        return np.add.reduceat(here, begin)

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        if code == self.missing:
            return np.array([code])
        return np.sort(self._order[self._around.of(int(self._place[code]))])

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.nodes, kind="stable")

    @cached_property
    def _place(self) -> Ints:
        return np.argsort(self._order)

    @cached_property
    def _around(self) -> Surroundings:
        return Surroundings(self.tree, self.nodes[self._order], self.limit)


Similarity: TypeAlias = Windows | Neighbours | Branches


def windows(domain: Domain, first: Ints, last: Ints) -> Windows:
    """Add the missing code, similar to itself alone, to the windows of the other codes."""
    if domain.missing is None:
        return Windows(first, last)
    return Windows(np.append(first, domain.missing), np.append(last, domain.missing))


def numbers_of(domain: Domain, who: str) -> Numbers:
    """Return the domain's numbers, or say that it has none."""
    if domain.numbers is None:
        raise TableError(
            f"{who} needs numbers, but column '{domain.name}' holds none",
            hint="choose a principle for categories (wideberth principles), or set its type",
        )
    return domain.numbers


def similarity(domain: Domain, distance: str | Metric, epsilon: Fraction) -> Similarity:
    """Return who is near whom.

    Parameters
    ----------
    domain : Domain
        The values.
    distance : str or callable
        One of `NAMES`, or a Python function of two values. `auto` picks by the domain: numbers
        absolute, vectors variational, a tree's values by the tree, anything else discrete.
    epsilon : Fraction
        The largest distance that counts as near.
    """
    if callable(distance):
        return _by_blocks(domain, _called(domain, distance, epsilon))
    if distance == "auto":
        distance = _usual(domain)
    if distance == "absolute":
        return windows(domain, *numbers_of(domain, "distance=absolute").within(epsilon, epsilon))
    if distance == "discrete":
        every = np.arange(domain.known)
        everything = epsilon >= 1
        low, high = np.zeros_like(every), np.full_like(every, domain.known - 1)
        return windows(domain, low if everything else every, high if everything else every)
    if distance == "tree":
        if domain.tree is None:
            raise ParameterError(
                f"distance=tree: '{domain.name}' has no hierarchy",
                hint="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
            )
        require_one_root(domain.tree, f"the tree of '{domain.name}'")
        return Branches(domain, domain.tree, epsilon)
    if distance == "variational":
        return _by_blocks(domain, _variational(domain, epsilon))
    raise ParameterError(f"there is no distance '{distance}'", hint=f"one of {', '.join(NAMES)}")


def classes(similar: Similarity, size: int) -> Ints | None:
    """Return each code's similarity class, or None where being similar is not transitive.

    Where values are too many to look at every pair, None is the cautious answer.
    """
    if isinstance(similar, Branches) and len(np.unique(similar.depth_of[: len(similar.nodes)])) < 2:
        # All values at equal depth: being similar is having the same ancestor so far up.
        ancestors = similar.tree.climb(similar.nodes, similar.limit // 2)
        lone = [] if similar.missing is None else [len(similar.tree.parent)]
        return np.append(ancestors, lone).astype(np.int64)
    if size > _MANY:
        return None
    label = np.array([similar.near(code)[0] for code in range(size)], dtype=np.int64)
    many = np.bincount(label, minlength=size)
    for code in range(size):
        near = similar.near(code)
        if len(near) != many[label[code]] or (label[near] != label[code]).any():
            return None
    return label


def _usual(domain: Domain) -> str:
    if domain.tree is not None:
        return "tree"
    if domain.components:
        return "variational"
    return "absolute" if domain.numbers is not None else "discrete"


def _by_blocks(domain: Domain, near: Callable[[Ints], Bools]) -> Neighbours:
    """Collect the neighbours of all codes, a block of rows of the matrix at a time."""
    rows: list[Ints] = []
    columns: list[Ints] = []
    step = max(1, _BLOCK // max(domain.known, 1))
    for begin in range(0, domain.known, step):
        block = np.arange(begin, min(begin + step, domain.known))
        row, column = np.nonzero(near(block))
        rows.append(row + begin)
        columns.append(column)
    if domain.missing is not None:
        rows.append(np.array([domain.missing]))
        columns.append(np.array([domain.missing]))
    row = np.concatenate(rows)
    return Neighbours(np.searchsorted(row, np.arange(domain.size + 1)), np.concatenate(columns))


def _variational(domain: Domain, epsilon: Fraction) -> Callable[[Ints], Bools]:
    """Half the sum of absolute differences, as integers."""
    vectors = domain.vectors()
    units: Whole = vectors.units
    sums = units.sum(axis=1)
    off = np.abs(sums - vectors.per) * _SUM_TOLERANCE.denominator > vectors.per
    if bool((units < 0).any()) or bool(off.any()):
        raise TableError(
            f"'{domain.name}' does not hold probability distributions: "
            "a negative share, or shares that do not add up to 1",
            hint="distance=absolute for a single number column; a Python metric for other vectors",
        )
    limit = 2 * epsilon.numerator * vectors.per // epsilon.denominator

    def near(block: Ints) -> Bools:
        total: Any = 0
        for column in units.T:
            total = total + np.abs(column[block, None] - column[None, :])
        return np.asarray(total <= limit, dtype=bool)

    return near


def _called(domain: Domain, metric: Metric, epsilon: Fraction) -> Callable[[Ints], Bools]:
    values: list[Any]
    if domain.components:
        parts = domain.parts
        assert parts is not None  # noqa: S101 - components imply parts
        single = [[*_listed(c), None] for c in domain.components]
        values = [
            tuple(column[code] for column, code in zip(single, row, strict=True))
            for row in parts[: domain.known].tolist()
        ]
    else:
        values = _listed(domain)
    _spot_check(metric, values)

    def near(block: Ints) -> Bools:
        return np.array(
            [[_is_near(_measured(metric, values[i], v), epsilon) for v in values] for i in block],
            dtype=bool,
        )

    return near


def _is_near(distance: Any, epsilon: Fraction) -> bool:
    """Compare exactly what is exact; of a float, count what may be rounding as near."""
    if isinstance(distance, float):
        return distance <= float(epsilon) * (1 + _ROUNDING)
    return bool(Fraction(distance) <= epsilon)


def _measured(metric: Metric, a: Any, b: Any) -> Any:
    try:
        distance = metric(a, b)
        if isinstance(distance, np.generic):
            distance = distance.item()
        if distance >= 0 and isfinite(distance):
            return distance
    except Exception as error:  # its message may quote the values
        kind = type(error).__name__
        raise ParameterError(
            f"the given metric raised {kind} for a pair of values", hint="mind values with gaps"
        ) from None
    raise ParameterError(
        "the given metric is negative, infinite or NaN for a pair of values",
        hint="a distance is a finite number from 0",
    )


def _listed(domain: Domain) -> list[Any]:
    return [] if domain.values is None else domain.values.to_list()


def _spot_check(metric: Metric, values: list[Any]) -> None:
    """Refuse what is plainly no distance. A few pairs suffice to catch an honest mistake."""
    sample = values[:: max(1, len(values) // 8)][:8]
    for a in sample:
        if _measured(metric, a, a) != 0:
            raise ParameterError("the given metric is not 0 between a value and itself")
        for b in sample:
            if _measured(metric, a, b) != _measured(metric, b, a):
                raise ParameterError(
                    "the given metric is not symmetric",
                    hint="metric(a, b) must equal metric(b, a)",
                )


def _pieces(lengths: Ints) -> Iterator[slice]:
    """Cut entries into runs whose lengths add up to about one block."""
    run = np.cumsum(lengths) // _BLOCK
    edges = [*np.flatnonzero(np.diff(run, prepend=-1)), len(lengths)]
    return (slice(a, b) for a, b in pairwise(edges) if b > a)
