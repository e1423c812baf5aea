"""Which of a group's values are too near each other on a tree whose values lie at unequal depth.

Being similar is not transitive there: with b right below the root, a and c two steps further down
on other branches, b is as near to a as to c, though these are far apart. What helps is that
similarity on a tree is a chordal graph. Of the values similar to v, those that lie no deeper than
v are similar to each other, so every maximal clique is {such values, v} for its deepest v.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wideberth.distances import Branches
from wideberth.exact import Bools, Ints
from wideberth.hierarchy import IntArray


@dataclass(frozen=True, eq=False)
class Conflicts:
    """The classes of a group's rows, and which of them are similar.

    Leaves below one node are similar to the same values, and to each other if similarity reaches
    two steps; they are one class. Any two rows of a class are similar.

    Parameters
    ----------
    near : Branches
        Which values are similar.
    codes : array of int
        The values of the group's rows.

    Attributes
    ----------
    member : array of int
        The class of each row; classes are numbered in preorder, missing values come last.
    count : array of int
        The rows of each class.
    """

    near: Branches
    codes: Ints

    @cached_property
    def _classes(self) -> tuple[Ints, Ints, Ints]:
        """Return the class of each row, and for each class its rows and the node it stands at."""
        present, place = np.unique(self.codes, return_inverse=True)
        tree, lone = self.near.tree, len(self.near.tree)
        nodes = np.append(self.near.nodes, lone)[present]  # the missing code is the last one
        order = np.argsort(nodes, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        nodes = nodes[order]
        key = nodes.copy()
        if self.near.limit >= 2:
            above = np.append(tree.parent, -1)[nodes]
            barren = np.append(nodes[1:], lone + 1) >= np.append(_ends(tree.parent), lone)[nodes]
            twin = barren & (above >= 0)
            key[twin] = lone + 1 + above[twin]
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        by_node = np.argsort(first, kind="stable")
        number = np.empty_like(by_node)
        number[by_node] = np.arange(len(by_node))
        member = number[inverse.reshape(-1)][rank][place.reshape(-1)]
        return member, np.bincount(member, minlength=len(first)), nodes[first[by_node]]

    @property
    def member(self) -> Ints:
        """The class of each row."""
        return self._classes[0]

    @property
    def count(self) -> Ints:
        """The rows of each class."""
        return self._classes[1]

    @cached_property
    def depth(self) -> Ints:
        """How deep each class lies; missing values on no tree, at 0."""
        return self.near.depth[self._classes[2]]

    @cached_property
    def shallow_first(self) -> list[int]:
        """The classes, those near the root first."""
        return np.argsort(self.depth, kind="stable").tolist()

    @cached_property
    def similar(self) -> list[Ints]:
        """The classes that are similar to each, itself included."""
        nodes = self._classes[2]
        every = np.arange(len(self.near.tree))
        begins = np.searchsorted(nodes, every).tolist()
        ends = np.searchsorted(nodes, _ends(self.near.tree.parent)).tolist()
        return [self._similar(v, begins, ends) for v in range(len(nodes))]

    def _similar(self, v: int, begins: list[int], ends: list[int]) -> Ints:
        """Go up from a class, and collect at each ancestor what is near enough below it.

        What lies below the step before is collected already, by a looser bound.
        """
        node = int(self._classes[2][v])
        if node == len(self.near.tree):  # missing values are similar to missing values only
            return np.array([v])
        parts = []
        left = right = v
        height = 0
        while node >= 0 and height <= self.near.limit:
            low, high = begins[node], ends[node]
            # d(u, v) = height + (depth of u - depth of the ancestor), in steps.
            deepest = self.near.limit - height + self.near.depth[node]
            for piece in (slice(low, left), slice(right, high)):
                parts.append(np.flatnonzero(self.depth[piece] <= deepest) + piece.start)
            left, right = low, high
            node, height = int(self.near.tree.parent[node]), height + 1
        return np.sort(np.concatenate(parts))

    @cached_property
    def shallower(self) -> list[Ints]:
        """The similar classes that lie no deeper, itself included: a clique."""
        return [s[self.depth[s] <= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def deeper(self) -> list[Ints]:
        """The similar classes that lie no higher, itself included: in their cliques it is."""
        return [s[self.depth[s] >= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def fullest(self) -> int:
        """The rows of the largest clique: so many groups are needed, and they suffice."""
        return max((int(self.count[clique].sum()) for clique in self.shallower), default=0)

    def most(self, groups: int) -> Ints:
        """Return how many rows of each class to keep, as many as possible without a larger clique.

        Deepest first, each class keeps what fits into all cliques that it is in. Of the classes
        in these cliques that come later, every one is in all cliques that the deeper of two
        similar ones is in, so that none of them could be kept in its place with more profit.
        """
        kept = np.zeros_like(self.count)
        used = np.zeros_like(self.count)
        for v in reversed(self.shallow_first):
            cliques = self.deeper[v]
            kept[v] = min(int(self.count[v]), groups - int(used[cliques].max()))
            used[cliques] += kept[v]
        return kept

    def apart(self, classes: list[int]) -> Bools:
        """Tell which classes are similar to none of the given ones."""
        free = np.ones(len(self.count), dtype=bool)
        for v in classes:
            free[self.similar[v]] = False
        return free


def _ends(parent: IntArray) -> Ints:
    """Return, for nodes in preorder, the node after the last one below each."""
    ends = list(range(1, len(parent) + 1))
    above = parent.tolist()
    for node in range(len(parent) - 1, 0, -1):
        ends[above[node]] = max(ends[above[node]], ends[node])
    return np.array(ends)
