"""The lattice as an array with an axis for each quasi-identifier.

A node is one level per quasi-identifier. What is no coarser than a node, or no finer, is then a
box: a slice of the array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, TypeAlias

import numpy as np

from wideberth.core.exact import Ints

Node: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """How many levels each quasi-identifier has.

    >>> shape = Shape((2, 3))
    >>> tags = np.zeros(shape.dims, int)
    >>> tags[shape.below((1, 1))] = 1
    >>> tags[shape.above((1, 1))] += 2
    >>> tags.tolist()
    [[1, 1, 0], [1, 3, 2]]
    """

    dims: tuple[int, ...]

    @property
    def top(self) -> Node:
        """The coarsest node."""
        return tuple(levels - 1 for levels in self.dims)

    @property
    def bottom(self) -> Node:
        """The finest node."""
        return (0,) * len(self.dims)

    @cached_property
    def nodes(self) -> int:
        """How many nodes there are."""
        return prod(self.dims)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """How far the next level of each quasi-identifier is, counting nodes in a row."""
        return tuple(prod(self.dims[i + 1 :]) for i in range(len(self.dims)))

    def node(self, index: int) -> Node:
        """Return the node at a place in the row of all nodes."""
        return tuple(
            index // step % many for step, many in zip(self.strides, self.dims, strict=True)
        )

    def index(self, node: Node) -> int:
        """Return a node's place in the row of all nodes."""
        return sum(level * step for level, step in zip(node, self.strides, strict=True))

    def below(self, node: Node) -> tuple[slice, ...]:
        """Return the nodes that are no coarser in any quasi-identifier."""
        return tuple([slice(level + 1) for level in node])

    def above(self, node: Node) -> tuple[slice, ...]:
        """Return the nodes that are no finer in any quasi-identifier."""
        return tuple([slice(level, None) for level in node])

    @cached_property
    def heights(self) -> Ints:
        """The sum of the levels of each node."""
        return outer_sum([np.arange(levels) for levels in self.dims])


def outer_sum(terms: list[Any]) -> Any:
    """Add up terms that depend on one axis each, for all combinations.

    >>> outer_sum([np.array([0, 10]), np.array([1, 2, 3])]).tolist()
    [[1, 2, 3], [11, 12, 13]]
    """
    total = terms[0]
    for term in terms[1:]:
        total = np.add.outer(total, term)
    return total
