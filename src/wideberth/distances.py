"""How far two sensitive values are apart, reduced to what principles ask: who is near whom.

For a threshold ε a distance yields a `Similarity`: for every code, the codes at distance at most ε.
It is a window of codes for numbers, and lists of codes for everything else. A missing value is
near to missing values only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from wideberth.encode import Domain
from wideberth.errors import ParameterError, TableError
from wideberth.exact import Bools, Ints, Whole
from wideberth.groups import Groups

Metric: TypeAlias = Callable[[Any, Any], float]

NAMES = ("auto", "absolute", "discrete", "tree", "variational")

_BLOCK = 1 << 22  # pairs looked at in one go: bounds the memory, not the result
_SUM_TOLERANCE = Fraction(1, 10**6)


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
            length = lengths[piece]
            skip = np.repeat(np.cumsum(length) - length, length)
            at = np.repeat(self.start[groups.codes[piece]], length)
            at += np.arange(len(skip)) - skip
            found = groups.lookup(np.repeat(groups.owner[piece], length), self.codes[at])
            result[piece] = np.add.reduceat(found, np.cumsum(length) - length)
        return result

    def near(self, code: int) -> Ints:
        """Return the codes similar to one."""
        return self.codes[self.start[code] : self.start[code + 1]]


Similarity: TypeAlias = Windows | Neighbours


def windows(domain: Domain, first: Ints, last: Ints) -> Windows:
    """Add the missing code, similar to itself alone, to the windows of the other codes."""
    if domain.missing is None:
        return Windows(first, last)
    return Windows(np.append(first, domain.missing), np.append(last, domain.missing))


def numbers_of(domain: Domain, who: str) -> Any:
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
        return _by_blocks(domain, _called(domain, distance, float(epsilon)))
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
        return _by_blocks(domain, _on_tree(domain, epsilon))
    if distance == "variational":
        return _by_blocks(domain, _variational(domain, epsilon))
    raise ParameterError(f"there is no distance '{distance}'", hint=f"one of {', '.join(NAMES)}")


def classes(similar: Similarity, size: int) -> Ints | None:
    """Return each code's similarity class, or None where being similar is not transitive."""
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


def _on_tree(domain: Domain, epsilon: Fraction) -> Callable[[Ints], Bools]:
    tree = domain.tree
    if tree is None:
        raise ParameterError(
            f"distance=tree: '{domain.name}' has no hierarchy",
            hint="name one under [hierarchies] in the policy, or use --hierarchy",
        )
    nodes = tree.nodes_of(domain.texts)
    limit = 2 * epsilon.numerator // epsilon.denominator

    def near(block: Ints) -> Bools:
        return tree.distances_twice(nodes[block, None], nodes[None, :]) <= limit

    return near


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


def _called(domain: Domain, metric: Metric, epsilon: float) -> Callable[[Ints], Bools]:
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
        return np.array([[metric(values[i], v) <= epsilon for v in values] for i in block], bool)

    return near


def _listed(domain: Domain) -> list[Any]:
    return [] if domain.values is None else domain.values.to_list()


def _spot_check(metric: Metric, values: list[Any]) -> None:
    """Refuse what is plainly no distance. A few pairs suffice to catch an honest mistake."""
    sample = values[:: max(1, len(values) // 8)][:8]
    for a in sample:
        if metric(a, a) != 0:
            raise ParameterError("the given metric is not 0 between a value and itself")
        for b in sample:
            there, back = metric(a, b), metric(b, a)
            if there != back or there < 0:
                raise ParameterError(
                    "the given metric is not symmetric, or negative",
                    hint="metric(a, b) must equal metric(b, a) and be at least 0",
                )


def _pieces(lengths: Ints) -> Iterator[slice]:
    """Cut entries into runs whose lengths add up to about one block."""
    run = np.cumsum(lengths) // _BLOCK
    edges = [*np.flatnonzero(np.diff(run, prepend=-1)), len(lengths)]
    return (slice(a, b) for a, b in pairwise(edges) if b > a)
