"""The tree of a hierarchy, its levels and its distance."""

from __future__ import annotations

import csv
import io
import json
import pickle
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth.errors import HierarchyError, ParameterError
from wideberth.hierarchy import (
    Hierarchy,
    from_parents,
    from_rows,
    outline,
    summary,
)

DISEASES = from_rows(
    [
        ("flu", "respiratory infection", "respiratory disease", "disease"),
        ("pneumonia", "respiratory infection", "respiratory disease", "disease"),
        ("asthma", "airway obstruction", "respiratory disease", "disease"),
        ("gastritis", "stomach disease", "digestive disease", "disease"),
        ("gastric ulcer", "stomach disease", "digestive disease", "disease"),
    ]
)


UNEQUAL = from_rows([("b", "R"), ("a", "X1", "X", "R"), ("c", "Y1", "Y", "R")])


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def as_csv(rows: list[list[str]], delimiter: str = ";") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    return text.getvalue()


def same(one: Hierarchy, other: Hierarchy) -> bool:
    return one.labels == other.labels and one.parent.tolist() == other.parent.tolist()


@st.composite
def trees(draw: st.DrawFn, balanced: bool = False) -> Hierarchy:
    """Draw a tree with distinct labels; a balanced one has all leaves at one depth."""
    if balanced:
        height = draw(st.integers(1, 4))
        branches = st.lists(st.integers(0, 2), min_size=height, max_size=height)
        paths = draw(st.lists(branches, min_size=1, max_size=12))
        names = [["/".join(map(str, p[:n])) or "*" for n in range(height, -1, -1)] for p in paths]
        return from_rows(names)
    size = draw(st.integers(1, 25))
    above = [draw(st.integers(0, node - 1)) for node in range(1, size)]
    return Hierarchy.build([f"n{i}" for i in range(size)], [-1, *above])


def slow_distance(h: Hierarchy, a: int, b: int) -> Fraction:
    up_a, up_b = (a, *h.ancestors(a)), (b, *h.ancestors(b))
    meeting = next(node for node in up_a if node in up_b)
    return Fraction(up_a.index(meeting) + up_b.index(meeting), 2)


# ---- the tree


def test_shape_of_a_balanced_tree() -> None:
    assert DISEASES.labels[0] == "disease"
    assert DISEASES.leaves == ("flu", "pneumonia", "asthma", "gastritis", "gastric ulcer")
    assert (DISEASES.height, DISEASES.levels, DISEASES.balanced) == (3, 4, True)
    assert DISEASES.parent[0] == -1
    assert DISEASES.depth[0] == 0
    assert DISEASES.parent.dtype == DISEASES.depth.dtype == np.int32
    assert DISEASES.leaf_counts[0] == 5
    assert DISEASES.leaf_counts[DISEASES.node("respiratory disease")] == 3
    assert len(DISEASES) == 5 + 3 + 2 + 1


def test_shape_of_an_unequal_tree() -> None:
    assert (UNEQUAL.height, UNEQUAL.levels, UNEQUAL.balanced) == (3, 4, False)
    assert UNEQUAL.leaf_counts[0] == 3


def test_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        DISEASES.parent[1] = 0
    with pytest.raises(ValueError, match="read-only"):
        DISEASES.depth[1] = 0


def test_the_caller_keeps_its_own_array_writable() -> None:
    parent = np.array([-1, 0], dtype=np.int32)
    Hierarchy(("*", "a"), parent)
    parent[1] = 7


def test_a_root_alone_is_a_leaf() -> None:
    h = Hierarchy(("*",), np.array([-1], dtype=np.int32))
    assert (h.leaves, h.height, h.levels, h.balanced) == (("*",), 0, 1, True)
    assert h.distance("*", "*") == 0
    assert h.generalize("*", 3) == "*"
    assert h.to_rows() == [["*"]]


def test_pickles() -> None:
    assert same(pickle.loads(pickle.dumps(DISEASES)), DISEASES)  # noqa: S301


@pytest.mark.parametrize(
    ("labels", "parent", "message"),
    [
        (("*",), [-1, 0], r"1 labels do not match parents \(2,\)"),
        ((), [], "a hierarchy has one root, not 0"),
        (("a", "*"), [1, -1], "node 0 is out of preorder"),
        (("*", "+"), [-1, -1], "node 1 is out of preorder"),
        (("*", "x", "y", "z"), [-1, 0, 0, 1], "node 3 is out of preorder"),
        (("*", "x"), [-1, 1], "node 1 is out of preorder"),
        (("*", "x", "x"), [-1, 0, 0], "2 leaves share one label"),
    ],
)
def test_wrong_arrays(labels: tuple[str, ...], parent: list[int], message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Hierarchy(labels, np.array(parent, dtype=np.int32))


def test_wrong_numbering_says_how_to_do_it() -> None:
    with pytest.raises(HierarchyError) as caught:
        Hierarchy(("a", "*"), np.array([1, -1], dtype=np.int32))
    assert caught.value.hint == "make the tree with Hierarchy.build"


def test_build_needs_one_root_and_no_circle() -> None:
    with pytest.raises(HierarchyError, match="one root, not 2"):
        Hierarchy.build(["a", "b"], [-1, -1])
    with pytest.raises(HierarchyError, match="one root, not 0"):
        Hierarchy.build([], [])
    with pytest.raises(HierarchyError, match="some nodes are their own ancestors"):
        Hierarchy.build(["r", "a", "b"], [-1, 2, 1])


@given(trees())
def test_numbering(h: Hierarchy) -> None:
    """Nodes under a node are consecutive, and as many leaves as counted are among them."""
    leaves = set(h.leaf_nodes.tolist())
    for node in range(len(h)):
        under = [n for n in range(len(h)) if node in (n, *h.ancestors(n))]
        assert under == list(range(node, node + len(under)))
        assert h.leaf_counts[node] == len(leaves.intersection(under))
        assert h.depth[node] == len(h.ancestors(node))


# ---- values


def test_a_leaf_goes_before_an_inner_node_of_the_same_label() -> None:
    h = from_rows([("Other", "Other", "*"), ("x", "X", "*")])
    node = h.node("Other")
    assert node in h.leaf_nodes
    assert h.generalize("Other", 1) == "Other"
    assert h.generalize("Other", 2) == "*"
    assert len(h) == 5


def test_inner_nodes_are_found_by_a_label_of_their_own() -> None:
    assert DISEASES.labels[DISEASES.node("stomach disease")] == "stomach disease"
    twice = from_rows([("a", "Y", "Y", "*"), ("b", "Z", "Q", "*")])
    assert twice.uncovered(["Z", "Q", "Y", "*"]) == [2]
    with pytest.raises(HierarchyError, match="1 value is missing from the hierarchy"):
        twice.node("Y")


def test_nodes_of() -> None:
    nodes = DISEASES.nodes_of(["asthma", "flu", "asthma"])
    assert nodes.dtype == np.int32
    assert [DISEASES.labels[n] for n in nodes] == ["asthma", "flu", "asthma"]
    assert DISEASES.nodes_of([]).shape == (0,)


def test_messages_do_not_repeat_table_values() -> None:
    with pytest.raises(HierarchyError) as caught:
        DISEASES.nodes_of(["flu", "secret", "secret", "hidden"])
    assert caught.value.what == "2 values are missing from the hierarchy (first in row 2)"
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    with pytest.raises(HierarchyError) as caught:
        DISEASES.generalize("secret", 1)
    assert "secret" not in str(caught.value)


def test_uncovered_passes_over_missing_values() -> None:
    assert DISEASES.uncovered(["flu", None, "x", "asthma", "y", None, "x"]) == [2, 4, 6]
    assert DISEASES.uncovered([None]) == []


def test_require() -> None:
    DISEASES.require(["flu", None], "disease")
    with pytest.raises(HierarchyError) as caught:
        DISEASES.require(["x", "flu", "y", None, "z", "x"], "zip", rows=[40, 2, 17, 1, 23, 41])
    assert caught.value.what == (
        "column 'zip': 3 values are missing from the hierarchy (first in row 17)"
    )
    assert caught.value.hint is not None
    assert "spelling, case and spaces count" in caught.value.hint
    with pytest.raises(HierarchyError, match=r"'zip': 1 value is missing .* \(first in row 2\)"):
        DISEASES.require(["flu", "x"], "zip")


# ---- levels


def test_generalize_stops_at_the_root() -> None:
    path = [DISEASES.generalize("flu", level) for level in range(6)]
    assert path == [
        "flu",
        "respiratory infection",
        "respiratory disease",
        "disease",
        "disease",
        "disease",
    ]
    assert [UNEQUAL.generalize("b", level) for level in range(4)] == ["b", "R", "R", "R"]
    assert UNEQUAL.generalize("X", 1) == "R"


def test_level_below_zero() -> None:
    with pytest.raises(ParameterError, match="level -1 is below 0"):
        DISEASES.generalize("flu", -1)


@given(trees(), st.integers(0, 6), st.data())
def test_level_codes_are_generalize_in_bulk(h: Hierarchy, level: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.sampled_from(h.labels), max_size=20))
    codes = h.level_codes(values, level)
    assert [h.labels[code] for code in codes] == [h.generalize(v, level) for v in values]


@given(trees(), st.integers(0, 4))
def test_levels_nest(h: Hierarchy, level: int) -> None:
    fine, coarse = h.level_codes(h.leaves, level), h.level_codes(h.leaves, level + 1)
    parents: dict[int, int] = {}
    for node, above in zip(fine.tolist(), coarse.tolist(), strict=True):
        assert parents.setdefault(node, above) == above


def test_ancestors() -> None:
    flu = DISEASES.node("flu")
    assert [DISEASES.labels[n] for n in DISEASES.ancestors(flu)] == [
        "respiratory infection",
        "respiratory disease",
        "disease",
    ]
    assert DISEASES.ancestors(0) == ()


# ---- distance


def test_distances_of_the_disease_tree() -> None:
    assert DISEASES.distance("flu", "pneumonia") == 1
    assert DISEASES.distance("flu", "asthma") == 2
    assert DISEASES.distance("flu", "gastritis") == 3
    assert DISEASES.distance("flu", "flu") == 0
    assert DISEASES.distance("flu", "respiratory infection") == Fraction(1, 2)


def test_similarity_is_not_transitive_at_unequal_depth() -> None:
    assert UNEQUAL.distance("a", "b") == UNEQUAL.distance("b", "c") == 2
    assert UNEQUAL.distance("a", "c") == 3


@given(trees())
def test_distance_is_a_metric(h: Hierarchy) -> None:
    nodes = np.arange(len(h))
    twice = h.distances_twice(nodes[:, None], nodes[None, :])
    assert ((twice == 0) == np.eye(len(h), dtype=bool)).all()
    assert (twice == twice.T).all()
    assert (twice[:, None, :] <= twice[:, :, None] + twice[None, :, :]).all()


@given(trees(balanced=True))
def test_distance_is_an_ultrametric_at_equal_depth(h: Hierarchy) -> None:
    assert h.balanced
    nodes = h.leaf_nodes
    twice = h.distances_twice(nodes[:, None], nodes[None, :])
    assert (twice[:, None, :] <= np.maximum(twice[:, :, None], twice[None, :, :])).all()
    assert (twice % 2 == 0).all()


@given(trees(), st.data())
def test_distances_in_bulk_against_the_slow_way(h: Hierarchy, data: st.DataObject) -> None:
    node = st.integers(0, len(h) - 1)
    a, b = data.draw(node), data.draw(node)
    expected = slow_distance(h, a, b)
    assert h.distance(h.labels[a], h.labels[b]) == expected
    assert h.distances_twice(np.array([a, a]), np.array([b, a])).tolist() == [2 * expected, 0]


def test_distances_broadcast() -> None:
    leaves = DISEASES.leaf_nodes
    block = DISEASES.distances_twice(leaves[:2, None], leaves[None, :])
    assert block.dtype == np.int32
    assert block.tolist() == [[0, 2, 4, 6, 6], [2, 0, 4, 6, 6]]


def test_distances_in_a_very_deep_tree() -> None:
    h = from_parents([(str(i), str(i + 1)) for i in range(400)] + [("x", "400")])
    assert h.distance("0", "x") == Fraction(401, 2)
    assert h.distance("0", "1") == Fraction(1, 2)


# ---- for people


def test_summary() -> None:
    told = summary(UNEQUAL)
    assert told == {
        "leaves": 3,
        "nodes": 8,
        "levels": 4,
        "nodes_per_level": [3, 3, 3, 1],
        "balanced": False,
        "min_depth": 1,
        "max_depth": 3,
    }
    assert json.loads(json.dumps(told)) == told
    assert summary(DISEASES)["nodes_per_level"] == [5, 3, 2, 1]


def test_outline() -> None:
    assert outline(UNEQUAL) == [
        (0, "R", 3),
        (1, "b", 1),
        (1, "X", 1),
        (2, "X1", 1),
        (3, "a", 1),
        (1, "Y", 1),
        (2, "Y1", 1),
        (3, "c", 1),
    ]
    assert outline(UNEQUAL, 4) == [(0, "R", 3), (1, "b", 1), (1, "X", 1), (1, "Y", 1)]
    assert outline(UNEQUAL, limit=0) == []


@given(trees(), st.integers(1, 30))
def test_an_outline_never_skips_a_level(h: Hierarchy, limit: int) -> None:
    listed = outline(h, limit)
    assert len(listed) == min(limit, len(h))
    assert listed[0][0] == 0
    assert all(below[0] <= above[0] + 1 for above, below in pairwise(listed))
