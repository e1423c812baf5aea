"""The distance of values on a semantic tree: half the path between them."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.core.memory import budget
from wideberth.distances.base import Similarity, Space
from wideberth.errors import ParameterError, what_to_type
from wideberth.hierarchy import Hierarchy, require_one_root

_PER_PAIR = 16  # bytes that the distance of two nodes takes


def expand_rows(start: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """Look up codes in compressed rows: how many entries each has, and where they all are.

    >>> expand_rows(np.array([0, 2, 5]), np.array([1, 0]))
    (array([3, 2]), array([2, 3, 4, 0, 1]))
    """
    lengths = np.diff(start)[codes]
    before = np.cumsum(lengths) - lengths
    return lengths, np.repeat(start[codes] - before, lengths) + np.arange(int(lengths.sum()))


def paths_to_root(tree: Hierarchy, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the ways from nodes up to the root, both ends included, as compressed rows."""
    start = np.concatenate(([0], np.cumsum(tree.depth[nodes] + 1))).astype(np.int64)
    way = np.empty(start[-1], dtype=np.int64)
    place, node = start[:-1], nodes
    while len(node):
        way[place] = node
        up = tree.parent[node].astype(np.int64)
        place, node = place[up >= 0] + 1, up[up >= 0]
    return start, way


class NearbyNodes:
    """What lies at most `limit` steps from a node, for some nodes of a tree."""

    def __init__(self, tree: Hierarchy, nodes: Ints, limit: int) -> None:
        # The nodes are ascending.
        self.parent, self.limit = tree.parent.tolist(), limit
        self.depths, self.depth = tree.depth.tolist(), tree.depth[nodes]
        self.nodes = nodes.tolist()
        # Nodes below another follow it.
        self.begins = np.searchsorted(nodes, np.arange(len(tree))).tolist()
        self.ends = np.searchsorted(nodes, tree.ends).tolist()

    def of(self, place: int) -> Ints:
        """Return the places of all nodes that are near the node at a place, itself included."""
        # On the way up, each ancestor adds what is near enough below it. What lies below the step
        # before has been added already, by a looser bound.
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


class TreeSimilarity:
    """The similarity of codes that are at most ε apart on a tree."""

    # Two values at depths d and d' with their lowest common ancestor at depth h are (d + d' - 2h) /
    # 2 apart. So a row's neighbours are found on its way up: at each ancestor, the rows below it at
    # depth d' <= 2ε - d + 2h, less those counted below the step before. That takes the group's
    # counts by ancestor and depth, never a matrix of all pairs.

    def __init__(self, domain: Domain, tree: Hierarchy, epsilon: Fraction) -> None:
        self.tree = tree
        self.nodes = tree.nodes_of(domain.texts).astype(np.int64)
        self.limit = min(floor(2 * epsilon), 2 * tree.height)
        self.start, self.way = paths_to_root(tree, self.nodes)
        self.depth = np.append(tree.depth, 0).astype(np.int64)
        if domain.missing is not None:  # a tree of its own
            self.start = np.append(self.start, self.start[-1] + 1)
            self.way = np.append(self.way, len(tree.parent))
        self.depth_of = self.depth[self.way[self.start[:-1]]]
        self.missing = domain.missing
        self.budget = budget()

    def crowd(self, groups: Groups) -> Ints:
        """Count, for each entry, the rows of its group that are similar to it, itself included."""
        lengths, at = expand_rows(self.start, groups.codes)
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

    def matrix(self, codes: Ints) -> Bools:
        """Return who of some codes is similar to whom."""
        result = codes[:, None] == codes  # as for a missing value
        known = np.flatnonzero(codes < len(self.nodes))
        nodes = self.nodes[codes[known]]
        step = max(1, self.budget // (_PER_PAIR * max(len(nodes), 1)))
        for begin in range(0, len(nodes), step):
            block = slice(begin, begin + step)
            twice = self.tree.distances_twice(nodes[block, None], nodes[None, :])
            result[np.ix_(known[block], known)] = twice <= self.limit
        return result

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.nodes, kind="stable")

    @cached_property
    def _place(self) -> Ints:
        return np.argsort(self._order)

    @cached_property
    def _around(self) -> NearbyNodes:
        return NearbyNodes(self.tree, self.nodes[self._order], self.limit)


class TreeDistance(Space):
    """Half the path between two values on their semantic tree."""

    name = "tree"

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        if domain.tree is None:
            raise ParameterError(
                f"distance=tree: '{domain.name}' has no hierarchy",
                hint=what_to_type(
                    python='hierarchies={"column": "tree.csv"}',
                    command="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
                ),
            )
        require_one_root(domain.tree, f"the tree of '{domain.name}'")
        self.tree = domain.tree
        self.nodes = domain.tree.nodes_of(domain.texts).astype(np.int64)

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        one, other = self.nodes[ones], self.nodes[others]
        return np.asarray(self.tree.distances_twice(one[:, None], other[None, :]) / 2)

    def _within(self, epsilon: Fraction) -> Similarity:
        return TreeSimilarity(self.domain, self.tree, epsilon)
