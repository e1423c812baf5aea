"""A hierarchy for people to look at: a few numbers, or an outline."""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from wideberth.hierarchy.tree import Hierarchy


class Summary(TypedDict):
    """What `summary` tells."""

    leaves: int
    nodes: int
    levels: int
    nodes_per_level: list[int]
    balanced: bool
    min_depth: int
    max_depth: int


def summary(h: Hierarchy) -> Summary:
    """Describe a hierarchy in a few numbers.

    >>> summary(Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0]))["nodes_per_level"]
    [3, 2, 1]
    """
    depths = h.depth[h.leaf_nodes]
    return Summary(
        leaves=len(h.leaves),
        nodes=len(h),
        levels=h.levels,
        nodes_per_level=[len(np.unique(h.climb(h.leaf_nodes, i))) for i in range(h.levels)],
        balanced=h.balanced,
        min_depth=int(depths.min()),
        max_depth=int(depths.max()),
    )


def outline(h: Hierarchy, limit: int | None = None) -> list[tuple[int, str, int]]:
    """List at most `limit` nodes, those nearest the root, in outline: (depth, label, leaves).

    >>> h = Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0])
    >>> outline(h, limit=3)
    [(0, '*', 3), (1, 'odd', 2), (1, '2', 1)]
    """
    # A node stands below its parent, which is always listed too. `leaves` counts all leaves under
    # the node, listed or not.
    nearest = np.argsort(h.depth, kind="stable")[:limit]
    return [(int(h.depth[i]), h.labels[i], int(h.leaf_counts[i])) for i in np.sort(nearest)]
