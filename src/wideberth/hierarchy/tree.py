"""The tree behind every hierarchy: labels, parents, and what follows from them.

Nodes are numbered in preorder: the root is 0, a parent comes before its children, and the nodes
below any node are consecutive. So leaves stand in taxonomy order, and one pass backwards over the
nodes adds up whole subtrees.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from wideberth.errors import HierarchyError, HierarchyWarning, ParameterError

IntArray: TypeAlias = npt.NDArray[np.int32]
Nodes: TypeAlias = npt.NDArray[np.integer[Any]]

TOP = "*"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """A rooted tree whose leaves, and sometimes inner nodes, are an attribute's values.

    Parameters
    ----------
    labels : tuple of str
        The label of each node, in preorder. No two leaves share one; other nodes may.
    parent : array of int32
        The parent of each node; -1 for the root, which is node 0.
    completed : bool, default False
        Whether the root was put above several tops, because the file had none in common.
    header : str, optional
        The first cell of the row that was left out of the file as its header.
    first : str, optional
        The first value of the file, if its row may be a header that was taken for a value.

    Attributes
    ----------
    depth : array of int32
        Steps from the root to each node.

    See Also
    --------
    Hierarchy.build : The same from nodes in any order.

    Examples
    --------
    >>> h = Hierarchy(("*", "infection", "flu", "pneumonia", "gastritis"), [-1, 0, 1, 1, 0])
    >>> h.leaves
    ('flu', 'pneumonia', 'gastritis')
    >>> h.generalize("flu", 1), h.height, h.balanced
    ('infection', 2, False)
    >>> h.distance("flu", "pneumonia")
    Fraction(1, 1)
    """

    labels: tuple[str, ...]
    parent: IntArray
    completed: bool = field(default=False, kw_only=True)
    header: str | None = field(default=None, kw_only=True)
    first: str | None = field(default=None, kw_only=True)
    depth: IntArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the numbering and freeze the arrays."""
        parent = np.array(self.parent, dtype=np.int32)
        if parent.shape != (len(self.labels),):
            raise HierarchyError(f"{len(self.labels)} labels do not match parents {parent.shape}")
        depth = _depths(parent)
        for array in (parent, depth):
            array.flags.writeable = False
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "parent", parent)
        object.__setattr__(self, "depth", depth)
        if len(set(self.leaves)) < len(self.leaves):
            _, count = Counter(self.leaves).most_common(1)[0]
            raise HierarchyError(f"{count} leaves share one label")

    @classmethod
    def build(
        cls, labels: Sequence[str], parent: Sequence[int], *, completed: bool = False
    ) -> Hierarchy:
        """Make a hierarchy from nodes in any order; siblings keep theirs.

        Parameters
        ----------
        labels : sequence of str
            The label of each node.
        parent : sequence of int
            The parent of each node; -1 for the one root.
        completed : bool, default False
            Whether the root was put above several tops.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> Hierarchy.build(["a", "b", "letters"], [2, 2, -1]).labels
        ('letters', 'a', 'b')
        """
        children: list[list[int]] = [[] for _ in labels]
        roots: list[int] = []
        for node, up in enumerate(parent):
            (children[up] if up >= 0 else roots).append(node)
        if len(roots) != 1:
            raise HierarchyError(f"a hierarchy has one root, not {len(roots)}")
        order: list[int] = []
        pending = roots
        while pending:
            node = pending.pop()
            order.append(node)
            pending.extend(reversed(children[node]))
        if len(order) != len(labels):
            raise HierarchyError("some nodes are their own ancestors")
        rank = np.empty(len(order), dtype=np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        above = rank[np.asarray(parent)[order]]
        above[0] = -1
        return cls(tuple(labels[node] for node in order), above, completed=completed)

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.labels)

    # ---- shape

    @cached_property
    def leaf_nodes(self) -> IntArray:
        """The nodes without children, in order."""
        childless = np.ones(len(self), dtype=bool)
        childless[self.parent[1:]] = False
        return np.flatnonzero(childless).astype(np.int32)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves, siblings side by side."""
        return tuple(self.labels[node] for node in self.leaf_nodes)

    @cached_property
    def leaf_counts(self) -> IntArray:
        """The number of leaves under each node; 1 for a leaf."""
        counts = [0] * len(self)
        for node in self.leaf_nodes:
            counts[node] = 1
        above = self.parent.tolist()
        for node in range(len(self) - 1, 0, -1):
            counts[above[node]] += counts[node]
        return np.array(counts, dtype=np.int32)

    @cached_property
    def ends(self) -> IntArray:
        """The node after the last one below each: what lies below a node follows it."""
        ends = list(range(1, len(self) + 1))
        above = self.parent.tolist()
        for node in range(len(self) - 1, 0, -1):
            ends[above[node]] = max(ends[above[node]], ends[node])
        return np.array(ends, dtype=np.int32)

    @cached_property
    def height(self) -> int:
        """The depth of the deepest leaf."""
        return int(self.depth.max())

    @property
    def levels(self) -> int:
        """The number of generalization levels: 0 is the value itself, the last is the root."""
        return self.height + 1

    @cached_property
    def balanced(self) -> bool:
        """Whether all leaves are equally deep, which makes the distance an ultrametric."""
        return bool((self.depth[self.leaf_nodes] == self.height).all())

    # ---- values to nodes

    @cached_property
    def _index(self) -> dict[str, int]:
        """The node of each value: leaves first, then inner nodes whose label occurs once."""
        index = dict(zip(self.leaves, self.leaf_nodes.tolist(), strict=True))
        inner = np.unique(self.parent[1:]).tolist()
        times = Counter(self.labels[node] for node in inner)
        for node in inner:
            if times[self.labels[node]] == 1:
                index.setdefault(self.labels[node], node)
        return index

    def node(self, value: str) -> int:
        """Find the node of a value: the leaf of that label, or else the one inner node.

        Parameters
        ----------
        value : str
            A value of the attribute.

        Returns
        -------
        int

        Raises
        ------
        HierarchyError
            If no leaf and not exactly one inner node has that label. The message does not repeat
            the value, which may come from a table.
        """
        return int(self.nodes_of([value])[0])

    def nodes_of(self, values: Sequence[str]) -> IntArray:
        """Find the node of each value, as `node` does.

        Parameters
        ----------
        values : sequence of str
            Values of the attribute, none of them missing.

        Returns
        -------
        array of int32

        Examples
        --------
        >>> h = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
        >>> h.nodes_of(["3", "2", "even"]).tolist()
        [3, 5, 4]
        """
        try:
            return np.fromiter(map(self._index.__getitem__, values), np.int32, len(values))
        except KeyError:
            bad = [i for i, value in enumerate(values) if value not in self._index]
            # "from None": the KeyError would print the value.
            raise missing_values_error(
                describe_faults(values, bad, "missing from the hierarchy")
            ) from None

    def uncovered(self, values: Iterable[str | None]) -> list[int]:
        """Give the positions of the values that the hierarchy lacks; None is never lacking.

        Parameters
        ----------
        values : iterable of str or None
            A column, or its distinct values.

        Returns
        -------
        list of int
        """
        known = self._index
        return [i for i, value in enumerate(values) if value is not None and value not in known]

    def require(
        self,
        values: Sequence[str | None],
        column: str,
        rows: Sequence[int] | None = None,
        counts: Sequence[int] | None = None,
    ) -> None:
        """Raise unless the hierarchy holds every value that is not missing.

        Parameters
        ----------
        values : sequence of str or None
            A column, or its distinct values.
        column : str
            The column's name, for the message.
        rows : sequence of int, optional
            The row number of each value, for the message; position + 1 by default.
        counts : sequence of int, optional
            How many rows hold each value; by default how often it is among the values.

        Warns
        -----
        HierarchyWarning
            If the first row of the file may be a header that was taken for a value.

        Raises
        ------
        HierarchyError
            Names the column, how many distinct values are missing and the first row with one.
            Quotes up to 3 values, of those only that at least 5 rows hold.

        Examples
        --------
        >>> h = Hierarchy(("*", "f", "m"), [-1, 0, 0])
        >>> h.require(["m", None, "f"], "sex")
        >>> h.require(["m", "x", "y"], "sex", rows=[1, 9, 4])
        Traceback (most recent call last):
        wideberth.errors.HierarchyError: column 'sex': 2 values are missing from the hierarchy \
(first in row 4)
          try: add them, or correct the table; spelling, case and spaces count
        """
        if bad := self.uncovered(values):
            what = describe_faults(values, bad, "missing from the hierarchy", rows)
            held: Counter[str] = Counter()
            for i in bad:
                held[str(values[i])] += 1 if counts is None else int(counts[i])
            what += common(list(held), list(held.values()))
            if self.header is not None and self.header in {values[i] for i in bad}:
                raise HierarchyError(
                    f"column {column!r}: {what}; one of them is the first row of the file, which "
                    "was taken for a header",
                    hint="if it is a value, set header = false beside the file's path in a policy",
                )
            raise missing_values_error(
                f"column {column!r}: {what}", [str(values[i]) for i in bad], self._index
            )
        if (doubt := self.doubt(values)) is not None:
            warnings.warn(f"the hierarchy of '{column}': {doubt}", HierarchyWarning, stacklevel=2)

    def doubt(self, values: Sequence[str | None]) -> str | None:
        """Say that the first row of the file may be a header, if no value is the one it has.

        Parameters
        ----------
        values : sequence of str or None
            A column, or its distinct values.

        Returns
        -------
        str or None

        Examples
        --------
        >>> h = Hierarchy(("*", "kind", "job", "Public", "City"), [-1, 0, 1, 0, 3], first="job")
        >>> h.doubt(["City"]).partition(";")[0]
        'the first row of the file is taken for a value, which the column does not have'
        >>> h.doubt(["City", "job"])
        """
        if self.first is None or self.first in values:
            return None
        return (
            "the first row of the file is taken for a value, which the column does not have; if "
            "it is a header, delete it, or set header = true beside the file's path in a policy "
            "(false if it is none)"
        )

    # ---- levels

    def ancestors(self, node: int) -> tuple[int, ...]:
        """Give the nodes above a node, its parent first and the root last.

        Parameters
        ----------
        node : int
            A node.

        Returns
        -------
        tuple of int
        """
        path = []
        while (node := int(self.parent[node])) >= 0:
            path.append(node)
        return tuple(path)

    def climb(self, nodes: Nodes, level: int) -> IntArray:
        """Go from each node as many steps up as `level` says, at most to the root.

        Parameters
        ----------
        nodes : array of int
            Nodes, in any shape.
        level : int
            Steps.

        Returns
        -------
        array of int32
        """
        if level < 0:
            raise ParameterError(f"level {level} is below 0")
        above = np.maximum(self.parent, 0)
        climbed = np.asarray(nodes, dtype=np.int32)
        for _ in range(min(level, self.height)):
            climbed = above[climbed]
        return climbed

    def generalize(self, value: str, level: int) -> str:
        """Give the label of the value's ancestor `level` steps up, at most of the root.

        Parameters
        ----------
        value : str
            A value of the attribute.
        level : int
            Steps; 0 gives the value itself.

        Returns
        -------
        str
        """
        return self.labels[int(self.level_codes([value], level)[0])]

    def level_codes(self, values: Sequence[str], level: int) -> IntArray:
        """Give the node to which each value is generalized at a level.

        Parameters
        ----------
        values : sequence of str
            Values of the attribute, none of them missing.
        level : int
            Steps up from each value.

        Returns
        -------
        array of int32

        Examples
        --------
        >>> h = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
        >>> h.level_codes(["1", "2", "3"], 1).tolist()
        [1, 4, 1]
        """
        return self.climb(self.nodes_of(values), level)

    # ---- distance

    def distance(self, a: str, b: str) -> Fraction:
        """Give the semantic distance of two values: half the steps between them.

        With h1 and h2 the depths of the two and hc that of their lowest common ancestor:
        ((h1 - hc) + (h2 - hc)) / 2.

        Parameters
        ----------
        a, b : str
            Values of the attribute.

        Returns
        -------
        Fraction
        """
        one, other = self.nodes_of([a, b])
        return Fraction(int(self.distances_twice(one, other)), 2)

    def distances_twice(self, a: Nodes, b: Nodes) -> IntArray:
        """Give twice the distance of nodes, which is a whole number.

        Parameters
        ----------
        a, b : array of int
            Nodes, of shapes that broadcast.

        Returns
        -------
        array of int32
            Of the shape to which `a` and `b` broadcast.

        Examples
        --------
        >>> h = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
        >>> leaves = h.leaf_nodes
        >>> h.distances_twice(leaves[:, None], leaves[None, :]).tolist()
        [[0, 2, 4], [2, 0, 4], [4, 4, 0]]
        """
        a, b = np.asarray(a, dtype=np.int32), np.asarray(b, dtype=np.int32)
        twice = np.asarray(self.depth[a] + self.depth[b])
        shared = np.zeros(twice.shape, dtype=np.min_scalar_type(self.height))
        # Both sides rise together, one depth at a time, and are compared where they stand; only
        # the comparison has the broadcast shape. A side that starts higher waits for the other.
        for level in range(self.height, 0, -1):
            here_a, here_b = self.depth[a] == level, self.depth[b] == level
            shared += np.where(here_a, a, -1) == np.where(here_b, b, -2)
            a, b = np.where(here_a, self.parent[a], a), np.where(here_b, self.parent[b], b)
        twice -= shared
        twice -= shared
        return twice

    # ---- writing

    def to_rows(self) -> list[list[str]]:
        """Give one row a leaf: the value, then each ancestor's label up to the root.

        Leaves of unequal depth give rows of unequal length.

        Returns
        -------
        list of list of str

        Examples
        --------
        >>> Hierarchy(("*", "odd", "1", "3", "2"), [-1, 0, 1, 1, 0]).to_rows()
        [['1', 'odd', '*'], ['3', 'odd', '*'], ['2', '*']]
        """
        return [
            [self.labels[i] for i in (node, *self.ancestors(node))]
            for node in self.leaf_nodes.tolist()
        ]


def _depths(parent: IntArray) -> IntArray:
    """Walk the nodes in order, which must be preorder, and note the depth of each."""
    depth: list[int] = []
    path = [-1]
    for node, up in enumerate(parent.tolist()):
        while path and path[-1] != up:
            path.pop()
        # Only the first node may hang on nothing, and it must.
        if not path or (up < 0) != (node == 0):
            raise HierarchyError(
                f"node {node} is out of preorder", hint="make the tree with Hierarchy.build"
            )
        depth.append(len(path) - 1)
        path.append(node)
    if not depth:
        raise HierarchyError("a hierarchy has one root, not 0")
    return np.array(depth, dtype=np.int32)


# -----------------------------------------------------------------------------
# What to say of values that a hierarchy lacks, without showing one.


#: A value that so many rows hold is a category, not what is true of one person.
_ENOUGH = 5
#: How many values are quoted at most, and how many letters of each.
_QUOTED, _LONG = 3, 40
#: What people write differently, and how to make it the same.
_SAME: dict[str, Callable[[str], str]] = {
    "capital letters": str.casefold,
    "spaces around it": str.strip,
    "dots": lambda text: text.replace(".", ""),
    "capital letters, spaces and dots": lambda text: text.replace(".", "").strip().casefold(),
}


def describe_faults(
    values: Sequence[object], bad: Sequence[int], fault: str, rows: Sequence[int] | None = None
) -> str:
    """Return how many values have a fault and which row shows it first, without showing a value.

    >>> describe_faults(["1", "x", "y", "x"], [1, 2, 3], "not numeric")
    '2 values are not numeric (first in row 2)'
    """
    # `fault` follows "is" or "are". rows: the row number of each value; position + 1 by default.
    count = len({values[i] for i in bad})
    first = min(i + 1 if rows is None else rows[i] for i in bad)
    return f"{count} {'value is' if count == 1 else 'values are'} {fault} (first in row {first})"


def common(values: Sequence[str], rows: Sequence[int]) -> str:
    """Quote the values that many rows hold, to follow a sentence; return "" if there are none.

    >>> common(["north", "Jane Doe", "south"], [12, 1, 7])
    ": 'north' in 12 rows, 'south' in 7 rows"
    """
    # A value that at least `_ENOUGH` rows hold is a category. A rarer one may be what is written of
    # a single person, and stays unquoted.
    held = sorted(zip(rows, values, strict=True), key=lambda pair: (-pair[0], pair[1]))
    often = [(many, value) for many, value in held if many >= _ENOUGH]
    said = [
        f"'{value if len(value) <= _LONG else value[: _LONG - 1] + '…'}' in {many:,} rows"
        for many, value in often[:_QUOTED]
    ]
    if len(often) > _QUOTED:
        said.append(f"and {len(often) - _QUOTED:,} more")
    return ": " + ", ".join(said) if said else ""


def missing_values_error(
    what: str, values: Collection[str] = (), labels: Collection[str] = ()
) -> HierarchyError:
    """Return the error, with a hint if all of the values differ from labels in one thing only.

    >>> error = missing_values_error("1 value is missing", ["a001"], ["A00.1"])
    >>> error.hint.split(":")[1].split("(")[0]
    ' they differ in capital letters, spaces and dots only '
    """
    for difference, same in _SAME.items() if values else ():
        known = {same(label) for label in labels}
        if all(same(value) in known for value in values):
            hint = f"correct the table or the tree: they differ in {difference} only"
            if "dots" in difference:
                hint += " (ICD-10 without dots: icd-10-undotted)"
            return HierarchyError(what, hint=hint)
    return HierarchyError(
        what, hint="add them, or correct the table; spelling, case and spaces count"
    )


# -----------------------------------------------------------------------------
# A hierarchy for people to look at: a few numbers, or an outline.


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
