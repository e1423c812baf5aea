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

from wideberth.core.exact import Bools, Ints
from wideberth.distances import Branches, Surroundings


@dataclass(frozen=True, eq=False)
class Conflicts:
    """The classes of a group's rows, and which of them are similar."""

    near: Branches
    codes: Ints

    @cached_property
    def _classes(self) -> tuple[Ints, Ints, Ints]:
        """Return the class of each row, and for each class its rows and the node it stands at."""
        # Leaves below one node are similar to the same values, and to each other if similarity
        # reaches two steps: they are one class, any two rows of which are similar. Classes are
        # numbered in preorder, missing values last.
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
            barren = np.append(nodes[1:], lone + 1) >= np.append(tree.ends, lone)[nodes]
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
        known = nodes[: len(nodes) - (nodes[-1:] == len(self.near.tree)).sum()]
        around = Surroundings(self.near.tree, known, self.near.limit)
        found = [around.of(v) for v in range(len(known))]
        # Missing values are similar to missing values only.
        return found + [np.array([v]) for v in range(len(known), len(nodes))]

    @cached_property
    def shallower(self) -> list[Ints]:
        """The similar classes that lie no deeper, itself included: a clique."""
        return [s[self.depth[s] <= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def deeper(self) -> list[Ints]:
        """The similar classes that lie no higher, itself included; it is in their cliques."""
        return [s[self.depth[s] >= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def fullest(self) -> int:
        """The rows of the largest clique: so many groups are needed, and they suffice."""
        return max((int(self.count[clique].sum()) for clique in self.shallower), default=0)

    def most(self, groups: int) -> Ints:
        """Return how many rows of each class to keep: the most with no clique above `groups`."""
        # Deepest first, each class keeps what fits into all cliques that it is in. Of the classes
        # in these cliques that come later, every one is in all cliques that the deeper of two
        # similar ones is in, so none of them could be kept in its place with more profit.
        kept = np.zeros_like(self.count)
        used = np.zeros_like(self.count)
        for v in reversed(self.shallow_first):
            cliques = self.deeper[v]
            kept[v] = min(int(self.count[v]), groups - int(used[cliques].max()))
            used[cliques] += kept[v]
        return kept

    def apart(self, classes: list[int]) -> Bools:
        """Return which classes are similar to none of the given ones."""
        free = np.ones(len(self.count), dtype=bool)
        for v in classes:
            free[self.similar[v]] = False
        return free
