"""Hierarchies: the tree, its distance, and every way to come by one."""

from __future__ import annotations

import csv
import io
import json
import pickle
import tempfile
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import wideberth as wb
from wideberth.errors import HierarchyError, HierarchyWarning, ParameterError
from wideberth.hierarchy import (
    Hierarchy,
    dates,
    flat,
    from_parents,
    from_rows,
    intervals,
    masks,
    outline,
    parse_spec,
    read_hierarchy,
    read_parents,
    summary,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is absent")

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


def read_text(text: str, **options: object) -> Hierarchy:
    with tempfile.TemporaryDirectory() as folder:
        return read_hierarchy(write(Path(folder, "h.csv"), text), **options)  # type: ignore[arg-type]


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


# ---- one row a leaf


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_marks_and_line_ends(delimiter: str, start: str, newline: str) -> None:
    rows = [["flu", "infection", "*"], ["ulcer, acute", "stomach", "*"]]
    text = start + as_csv(rows, delimiter).replace("\r\n", newline)
    assert read_text(text).to_rows() == rows


def test_semicolons_win_over_commas_in_every_label() -> None:
    assert read_text("a, b;x, y;*\nc, d;x, y;*").to_rows() == [
        ["a, b", "x, y", "*"],
        ["c, d", "x, y", "*"],
    ]


def test_a_quoted_semicolon_does_not_divide() -> None:
    assert read_text('"a; b",x,*\n"c; d",x,*').leaves == ("a; b", "c; d")


def test_forced_delimiter() -> None:
    assert read_text("a,b;c", delimiter=",").to_rows() == [["a", "b;c"]]


def test_header_is_detected() -> None:
    assert read_text("region,state,all\nr1,s1,*\nr2,s1,*").leaves == ("r1", "r2")
    assert read_text("r1,s1,*\nr2,s1,*").leaves == ("r1", "r2")


@pytest.mark.parametrize(
    ("first", "column"),
    [
        ("value,kind", None),
        ("Leaf,kind", None),
        ("sector,level1", None),
        ("sector,Level 1,level_2", None),
        ("Sector,kind", "sector"),
        (" sector ,kind,all", "Sector"),
        ("sector,*", "sector"),
    ],
)
@pytest.mark.parametrize("top", ["", ",*"])
def test_header_that_names_its_cells(first: str, column: str | None, top: str) -> None:
    rows = ["State,Public", "City,Public", "Firm,Private"]
    for many in (1, 2, 3):
        text = "\n".join([first, *(row + top for row in rows[:many])])
        h = read_text(text, column=column)
        assert h.leaves == ("State", "City", "Firm")[:many]
        assert h.header == first.split(",")[0]


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("sector,kind\nState,Public\nFirm,Private", None),  # may be a value, alone in its kind
        ("sector,kind\nState,Public\nFirm,Private", "work"),
        ("value,Public\nState,Public\nFirm,Private", None),  # a name that another row has
        ("a,level1,*\nb,level1,*\nc,level2,*", None),  # levels are the labels here
        ("sex,X\nf,sex\nm,Y", "sex"),
        ("sex,all", "sex"),
    ],
)
def test_a_first_row_that_may_be_a_value_is_one(text: str, column: str | None) -> None:
    h = read_text(text, column=column)
    assert text.split(",")[0] in h.labels
    assert h.header is None


def test_a_value_that_was_taken_for_a_header_is_not_lost_silently(tmp_path: Path) -> None:
    """The file is refused where the value occurs, and reads as it should once that is said."""
    files = {"top": "a;X;1\nb;Y;*\nc;Y;*\n", "named": "S;X\na;X2\nb;X2\nc;X2\n"}
    for name, text in files.items():
        path = write(tmp_path / f"{name}.csv", text)
        lost = text[0]
        table = pl.DataFrame({"s": [lost, "b", "c"] * 3, "v": range(9)})
        known: dict[str, Any] = {"quasi": "s", "sensitive": "v", "principles": "k-anonymity:k=2"}
        with pytest.raises(HierarchyError, match="which was taken for a header") as caught:
            wb.anonymize(table, hierarchies={"s": path}, **known)
        assert "header = false" in (caught.value.hint or "")
        rule = {"file": str(path), "header": False}
        assert wb.anonymize(table, hierarchies={"s": rule}, **known).table.height == 9
        others = table.filter(pl.col("s") != lost)
        assert wb.anonymize(others, hierarchies={"s": path}, **known).table.height == 6


HEADED = "sector,kind\nState,Public\nCity,Public\nFirm,Private\nShop,Private\n"


@pytest.mark.parametrize("top", ["", ",*"])
def test_a_header_that_was_taken_for_a_value_is_said(tmp_path: Path, top: str) -> None:
    path = write(tmp_path / "h.csv", HEADED.replace("\n", f"{top}\n"))
    jobs = ["State", "City", "Firm", "Shop"]
    table = pl.DataFrame({"job": jobs * 3, "ill": list("abcabcabcabc")})
    known: dict[str, Any] = {"quasi": "job", "sensitive": "ill", "principles": "k-anonymity:k=4"}
    said = "'job': the first row of the file is taken for a value, which the column does not have"
    for ask in (wb.anonymize, wb.lattice) if top else (wb.anonymize,):  # which needs a root
        with pytest.warns(HierarchyWarning, match=said) as caught:
            made = ask(table, hierarchies={"job": path}, **known)
        assert not any("sector" in str(one.message) for one in caught)
        if ask is wb.anonymize:
            assert any(said in warning for warning in made.manifest["warnings"])
    headed = {"job": {"file": str(path), "header": True}}
    warnings_left = wb.anonymize(table, hierarchies=headed, **known).manifest["warnings"]
    assert not any("first row" in warning for warning in warnings_left)
    if top:  # which a distance needs, too
        ill = {"quasi": "ill", "sensitive": "job", "principles": "l-e:l=1,e=1"}
        with pytest.warns(HierarchyWarning, match=said):
            wb.check(table, hierarchies={"job": path}, **ill)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (HEADED, {"header": False}),  # a decision
        ("sector,Public\nState,Public\nFirm,Private", {}),  # a value that nobody has
        ("State,Public\nFirm,Private\nCity,Public", {}),
        ("sector\nState\nFirm\nCity", {}),  # nothing tells
    ],
)
def test_a_value_that_nobody_has_is_no_header(tmp_path: Path, text: str, rule: dict) -> None:
    path = write(tmp_path / "h.csv", text)
    tree = parse_spec({"file": str(path), **rule}, [], tmp_path)
    assert tree.doubt(["State", "Firm"]) is None
    headed = write(tmp_path / "p.csv", "code,group\na,X\nb,X\nX,\n")
    assert read_parents(headed).doubt(["a", "b"])
    assert read_parents(headed).doubt(["a", "code"]) is None


def test_a_header_adds_no_leaf_to_a_release(tmp_path: Path) -> None:
    """With it or without, the same tree: same labels, same loss, also from labels alone."""
    rows = "a,X\nb,X\nc,Y\nd,Y\n"
    plain = write(tmp_path / "plain.csv", rows)
    headed = write(tmp_path / "headed.csv", "s,kind\n" + rows)
    table = pl.DataFrame({"s": [*"abcd"] * 2, "v": range(8)})
    found = []
    for path in (plain, headed):
        known: dict[str, Any] = {"quasi": "s", "sensitive": "v", "hierarchies": {"s": path}}
        release = wb.anonymize(table, principles="k-anonymity:k=3", seed=1, **known)
        found.append(
            (
                release.table.rows(),
                release.manifest["loss"],
                wb.measure(release.table, **known)["ncp"],
            )
        )
    assert found[0] == found[1]


def test_header_is_not_guessed_from_two_rows() -> None:
    h = read_text("Male;M\nFemale;F")
    assert h.leaves == ("Male", "Female")
    assert h.labels[0] == "*"


def test_header_forced() -> None:
    text = "a;X;*\nb;X;*\nc;X;*"
    assert read_text(text, header=True).leaves == ("b", "c")
    assert read_text("a;X;1\nb;Y;*\nc;Y;*", header=False).leaves == ("a", "b", "c")


def test_siblings_come_together() -> None:
    assert read_text("a;X;*\nb;Y;*\nc;X;*").leaves == ("a", "c", "b")


def test_rows_of_unequal_length() -> None:
    h = read_text("b;R;;\na;X1;X;R\nc;Y1;Y;R\n")
    assert same(h, UNEQUAL)


def test_blank_lines_and_repeated_rows_do_not_count() -> None:
    assert same(read_text("\na;X;*\n\nb;X;*\na;X;*\n;;\n"), read_text("a;X;*\nb;X;*"))


def test_a_root_is_added_where_the_tops_differ() -> None:
    h = read_text("a;X\nb;X\nc;Y\nd;Y")
    assert h.labels[0] == "*"
    assert h.generalize("a", 2) == "*"


def test_an_added_root_joins_the_one_that_is_written() -> None:
    h = read_text("a;X;*\nb;Y")
    assert h.to_rows() == [["a", "X", "*"], ["b", "Y", "*"]]


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("a;X\nb;X\nc;Y\nd;Y", True),
        ("a;X;*\nb;Y", True),
        ("red\ngreen\nblue", True),
        ("a;X;*\nb;Y;*", False),
        ("a;X;R\nb;R", False),
        ("a;X", False),
    ],
)
def test_an_added_root_is_remembered(text: str, completed: bool) -> None:
    h = read_text(text)
    assert h.completed is completed
    assert from_rows([line.split(";") for line in text.split("\n")]).completed is completed
    assert pickle.loads(pickle.dumps(h)).completed is completed  # noqa: S301
    # What is written has the root, so reading it again adds nothing.
    assert not from_rows(h.to_rows()).completed


def test_a_plain_list_of_values() -> None:
    assert read_text("red\ngreen\nblue").to_rows() == [["red", "*"], ["green", "*"], ["blue", "*"]]


def test_a_row_may_name_an_inner_node() -> None:
    h = read_text("E11;E10-E14;*\nE11.9;E11;E10-E14;*\nI10;I10-I15;*")
    assert h.leaves == ("E11.9", "I10")
    assert h.generalize("E11", 1) == "E10-E14"


def test_one_label_at_two_levels_may_be_two_nodes() -> None:
    h = read_text("Atlanta;Georgia;US;*\nBatumi;Adjara;Georgia;*")
    assert h.generalize("Atlanta", 1) == h.generalize("Batumi", 2) == "Georgia"
    assert h.level_codes(["Atlanta"], 1) != h.level_codes(["Batumi"], 2)


_TWO = "cell {} holds one label (line {}) and (line {}) under different parents"
_CIRCLE = "a label is its own ancestor (line {}): from line to line {}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a;X;P;*\nb;Y;P;*\n\nc;X;Q;*",
            _TWO.format(2, 1, 4),
        ),
        (
            "a;X;*\nb;X;*\na;Y;*",
            _TWO.format(1, 1, 3),
        ),
        (
            "a;X;P;*\na;X;Q;*",
            _TWO.format(2, 1, 2),
        ),
        ("a;X;*\nb;X;Y;*", _TWO.format(2, 1, 2)),
        ("b;*\na;*;*", _TWO.format(2, 1, 2)),
        ("a;;*\nb;X;*", "cell 2 is empty (line 1)"),
        ("a;X;*\n;X;*", "cell 1 is empty (line 2)"),
        ("X;*\nc;X;*\na;q;X;Y;*", "a value is the label of several inner nodes (line 1)"),
        ("", "there are no rows"),
        ("\n;;\n", "there are no rows"),
        ('a;X;*\n"b;X;*', "cannot be split into cells: unexpected end of data (line 2)"),
    ],
)
def test_wrong_rows(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "h.csv", text)
    with pytest.raises(HierarchyError) as caught:
        read_hierarchy(path)
    assert caught.value.what == f"{path}: {message}"
    assert caught.value.hint


def test_wrong_rows_in_memory() -> None:
    with pytest.raises(
        HierarchyError, match=r"^cell 1 holds one label \(row 1\) and \(row 2\) under"
    ):
        from_rows([("a", "X", "*"), ("a", "Y", "*")])
    with pytest.raises(HierarchyError, match=r"^there are no rows"):
        from_rows([])
    with pytest.raises(HierarchyError, match=r"^a row is empty"):
        from_rows([("a", "*"), ()])


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"no\.csv: cannot be read \(No such file"):
        read_hierarchy(tmp_path / "no.csv")
    with pytest.raises(HierarchyError, match="cannot be read"):
        read_parents(tmp_path)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("Köln;*".encode("latin-1"))
    with pytest.raises(HierarchyError, match=r"latin\.csv: not UTF-8 \(byte 2\)"):
        read_hierarchy(latin)
    path = write(tmp_path / "h.csv", "a;*")
    for delimiter in ("", ";;", "\n", '"'):
        with pytest.raises(HierarchyError, match="is no delimiter"):
            read_hierarchy(path, delimiter=delimiter)


@given(trees(), st.sampled_from(";,\t|"))
def test_round_trip(h: Hierarchy, delimiter: str) -> None:
    assert same(read_text(as_csv(h.to_rows(), delimiter)), h)


@given(trees(balanced=True))
def test_round_trip_of_balanced_trees(h: Hierarchy) -> None:
    assert same(read_text(as_csv(h.to_rows())), h)
    assert same(from_rows(h.to_rows()), h)


# ---- child and parent


def test_parents_in_any_order() -> None:
    pairs = [("flu", "infection"), ("ulcer", "disease"), ("infection", "disease")]
    for order in (pairs, pairs[::-1], pairs + pairs):
        h = from_parents(order)
        assert h.labels[0] == "disease"
        assert h.distance("flu", "ulcer") == Fraction(3, 2)
        assert h.generalize("infection", 1) == "disease"
        assert h.uncovered(["flu", "infection", "disease"]) == []


def test_parents_of_several_roots() -> None:
    h = from_parents([("a", "X"), ("b", "Y")])
    assert h.to_rows() == [["a", "X", "*"], ["b", "Y", "*"]]
    joined = from_parents([("a", "*"), ("b", "Y")])
    assert joined.to_rows() == [["a", "*"], ["b", "Y", "*"]]


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("a,X\nb,Y\n", True),
        ("a,*\nb,Y\n", True),
        ("a,X\nX,\nb,\n", True),
        ("a,X\nb,X\n", False),
        ("a,X\nb,Y\nX,*\nY,*\n", False),
    ],
)
def test_an_added_root_above_parents_is_remembered(
    tmp_path: Path, text: str, completed: bool
) -> None:
    h = read_parents(write(tmp_path / "p.csv", text))
    assert h.completed is completed
    assert (h.labels[0] == "*") is (completed or "X,*" in text)


def test_an_empty_parent_makes_a_root() -> None:
    assert from_parents([("r", ""), ("a", "r")]).labels == ("r", "a")


@pytest.mark.parametrize("header", ["child,parent\n", "Child;Parent\n", ""])
def test_read_parents(tmp_path: Path, header: str) -> None:
    mark = ";" if ";" in header else ","
    path = write(tmp_path / "p.csv", header + f"a{mark}X\nb{mark}X\nX{mark}\n")
    assert read_parents(path).labels == ("X", "a", "b")


def test_read_parents_with_a_forced_header(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "code,within\na,X\n")
    assert read_parents(path, header=True).labels == ("X", "a")
    assert read_parents(path, header=False).leaves == ("code", "a")
    assert read_parents(path).leaves == ("code", "a")
    assert read_parents(path, column="Code").leaves == ("a",)
    path = write(tmp_path / "p.csv", "code,parent\na,X\n")
    assert read_parents(path).labels == ("X", "a")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,X\nb,X\na,Y\n", "one child has different parents (line 1) and (line 3)"),
        ("a,X\na,\n", "one child has different parents (line 1) and (line 2)"),
        (
            "child,parent\nx,a\na,b\nb,c\nc,a\n",
            _CIRCLE.format(5, "3 → 4 → 5 → 3"),
        ),
        ("a,a\n", _CIRCLE.format(1, "1 → 1")),
        ("a,b,c\n", "not a child and its parent (line 1)"),
        ("a,X\n,X\n", "not a child and its parent (line 2)"),
        ("*,X\na,X\nb,Y\n", "there are 2 roots, and '*' has a parent (line 1)"),
        ("child,parent\n", "there are no rows"),
        ("", "there are no rows"),
    ],
)
def test_wrong_parents(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path / "p.csv", text)
    with pytest.raises(HierarchyError) as caught:
        read_parents(path)
    assert caught.value.what == f"{path}: {message}"
    assert caught.value.hint


def test_a_long_circle_is_shortened() -> None:
    pairs = [(f"n{i}", f"n{(i + 1) % 50}") for i in range(50)]
    with pytest.raises(HierarchyError, match=r"ancestor \(row 50\): .* 7 → 8 → … → 1"):
        from_parents(pairs)


@given(trees(), st.randoms())
def test_parents_make_the_same_tree(h: Hierarchy, random: object) -> None:
    assume(len(h) > 1)
    pairs = [(h.labels[i], h.labels[h.parent[i]]) for i in range(1, len(h))]
    random.shuffle(pairs)  # type: ignore[attr-defined]
    again = from_parents(pairs)
    assert {frozenset(row) for row in map(tuple, again.to_rows())} == {
        frozenset(row) for row in map(tuple, h.to_rows())
    }


# ---- intervals


def test_whole_intervals() -> None:
    h = intervals(["34", None, "7", "38", "34"], [5, 10, 20])
    assert h.to_rows() == [
        ["7", "5-9", "0-9", "0-19", "*"],
        ["34", "30-34", "30-39", "20-39", "*"],
        ["38", "35-39", "30-39", "20-39", "*"],
    ]


def test_negative_intervals() -> None:
    assert intervals([-1, -10, -11, 0, 9], 10).to_rows() == [
        ["-11", "-20 to -11", "*"],
        ["-10", "-10 to -1", "*"],
        ["-1", "-10 to -1", "*"],
        ["0", "0 to 9", "*"],
        ["9", "0 to 9", "*"],
    ]
    assert intervals(["-0.5"], 1).generalize("-0.5", 1) == "[-1, 0)"


def test_decimal_intervals() -> None:
    h = intervals(["30.0", "39.99", "40"], 10)
    assert [h.generalize(v, 1) for v in ("30.0", "39.99", "40")] == [
        "[30, 40)",
        "[30, 40)",
        "[40, 50)",
    ]
    # In binary, 0.3 // 0.1 is 2.
    assert intervals([0.3], 0.1).generalize("0.3", 1) == "[0.3, 0.4)"
    assert intervals(["0.1234567890123456789012345678901234"], "0.01").labels[1] == "[0.12, 0.13)"
    assert intervals([1], [0.5]).labels[1] == "[1, 1.5)"


def test_numbers_as_people_write_them() -> None:
    h = intervals(["1e3", "+7", "0007", "-0", "1000.0"], 10.0)
    assert h.generalize("1e3", 1) == h.generalize("1000.0", 1) == "[1000, 1010)"
    assert h.generalize("0007", 1) == h.generalize("+7", 1) == h.generalize("-0", 1) == "[0, 10)"
    assert intervals(["1e3", "7"], Decimal(10)).generalize("1e3", 1) == "1000-1009"


def test_origin() -> None:
    assert intervals([17, 18, 24], [5, 10], origin=18).to_rows() == [
        ["17", "13-17", "8-17", "*"],
        ["18", "18-22", "18-27", "*"],
        ["24", "23-27", "18-27", "*"],
    ]


def test_width_one_is_labelled_by_its_number() -> None:
    assert intervals([3, 4], [1, 2]).to_rows() == [["3", "3", "2-3", "*"], ["4", "4", "4-5", "*"]]


def test_no_values_leave_the_top() -> None:
    assert intervals([], 5).labels == ("*",)
    assert masks([None], 5).labels == ("*",)
    assert dates([None]).labels == ("*",)
    assert flat([None]).labels == ("*",)


@pytest.mark.parametrize(
    ("widths", "origin", "message"),
    [
        ([5, 12], 0, "interval width 12 is not a multiple of 5"),
        ([10, 5], 0, "interval width 5 is not a multiple of 10"),
        ([0.1, 0.25], 0, "interval width 0.25 is not a multiple of 0.1"),
        (0, 0, "interval width 0 is not above 0"),
        ([5, -10], 0, "interval width -10 is not above 0"),
        ([], 0, "there is no interval width"),
        ("wide", 0, "interval width 'wide' is not a number"),
        (True, 0, "interval width True is not a number"),
        (float("inf"), 0, "interval width inf is not a number"),
        (5, "nan", "interval origin 'nan' is not a number"),
    ],
)
def test_wrong_intervals(widths: object, origin: object, message: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        intervals([1], widths, origin)  # type: ignore[arg-type]
    assert caught.value.what == message


@pytest.mark.parametrize("value", ["x1", "", "NaN", "inf", "1/3", "1e999", "9" * 2000, "1e-999"])
def test_values_that_are_no_numbers(value: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        intervals(["1", None, value, value], 5)
    assert caught.value.what == "1 value is not numeric (first in row 3)"
    with pytest.raises(HierarchyError, match=r"2 values are not numeric \(first in row 11\)"):
        intervals(["1", value, "?"], 5, rows=[1, 12, 11])


decimals = st.decimals(-1000, 1000, places=2)


@given(st.lists(decimals, max_size=20), decimals, st.sampled_from([1, "0.5", "0.25", 7]))
def test_intervals_nest_and_hold_their_values(
    values: list[Decimal], origin: Decimal, width: int | str
) -> None:
    wide = Decimal(width) * 4
    h = intervals(values, [width, wide], origin)
    for value in values:
        for level, size in ((1, Decimal(width)), (2, wide)):
            low, high = (Decimal(x) for x in h.generalize(str(value), level)[1:-1].split(", "))
            assert low <= value < high
            assert high - low == size
            assert (low - origin) % size == 0
    assert h.balanced


@given(st.lists(st.integers(-300, 300), min_size=1, max_size=30), st.integers(-20, 20))
def test_whole_intervals_hold_their_values(values: list[int], origin: int) -> None:
    h = intervals(values, [6, 12], origin)
    mark = " to " if any(" to " in label for label in h.labels) else "-"
    for value in values:
        low, high = map(int, h.generalize(str(value), 1).split(mark))
        assert low <= value <= high == low + 5
    assert h.leaves == tuple(str(value) for value in sorted(set(values)))


# ---- masks


def test_masks_of_zip_codes() -> None:
    h = masks(["13053", "13068", "14850"], 5)
    assert [h.generalize("13053", i) for i in range(6)] == [
        "13053",
        "1305*",
        "130**",
        "13***",
        "1****",
        "*****",
    ]
    assert h.levels == 6


def test_a_top_is_added_while_the_mask_shows_something() -> None:
    assert masks(["13053", "14850"], 3).to_rows()[0] == ["13053", "1305*", "130**", "13***", "*"]
    assert masks(["13053", "13068"], 3).to_rows()[0][-2:] == ["13***", "*"]
    assert masks(["13053"], 1).to_rows() == [["13053", "1305*", "*"]]


def test_masks_of_unequal_length() -> None:
    assert masks(["7", "123", ""], 2, char="x").to_rows() == [
        ["", "x", "x", "*"],
        ["7", "x", "x", "*"],
        ["123", "12x", "1xx", "*"],
    ]


def test_masks_of_values_that_look_masked() -> None:
    h = masks(["12", "1*", "**"], 2)
    assert h.generalize("1*", 1) == h.generalize("12", 1) == "1*"
    assert h.generalize("**", 2) == h.generalize("12", 2) == "**"


def test_rules_of_too_many_levels() -> None:
    with pytest.raises(HierarchyError, match="more than 1000 levels"):
        masks(["12"], 1001)
    with pytest.raises(HierarchyError, match="more than 1000 widths"):
        intervals([12], [1] * 1001)


@pytest.mark.parametrize("levels", [0, -1, 1.5, True, "5"])
def test_wrong_mask(levels: object) -> None:
    with pytest.raises(HierarchyError, match=r"^mask .* is not a whole number above 0$"):
        masks(["1"], levels)  # type: ignore[arg-type]


@pytest.mark.parametrize("char", ["", "**"])
def test_wrong_mask_character(char: str) -> None:
    with pytest.raises(HierarchyError, match="is not one character"):
        masks(["1"], 1, char=char)


@given(st.lists(st.text("01*", max_size=4), max_size=12), st.integers(1, 5))
def test_masks_nest(values: list[str], levels: int) -> None:
    h = masks(values, levels)
    for value in values:
        for level in range(1, levels + 1):
            shown = h.generalize(value, level)
            assert shown[: max(0, len(value) - level)] == value[: max(0, len(value) - level)]
            assert set(shown[max(0, len(value) - level) :]) == {"*"}
    assert set(h.labels[0]) == {"*"}
    if values:
        assert h.balanced
        assert set(h.leaves) == set(values)


# ---- dates


def test_dates() -> None:
    h = dates(["2024-03-05", None, "1999-12-31T23:59:00"])
    assert h.to_rows() == [
        ["1999-12-31T23:59:00", "1999-12", "1999", "*"],
        ["2024-03-05", "2024-03", "2024", "*"],
    ]


def test_every_date_level() -> None:
    h = dates(["2024-03-05 10:00:00+02:00"], ["day", "month", "quarter", "year", "decade"])
    assert h.to_rows()[0][1:] == ["2024-03-05", "2024-03", "2024-Q1", "2024", "2020s", "*"]
    assert dates(["2024-12-05"], "quarter").labels[1] == "2024-Q4"


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (["week"], "date level 'week' does not exist"),
        (["year", "month"], "date levels year, month do not go from fine to coarse"),
        (["year", "year"], "date levels year, year do not go from fine to coarse"),
        ([], "date levels (none) do not go from fine to coarse"),
    ],
)
def test_wrong_date_levels(levels: list[str], message: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        dates(["2024-03-05"], levels)
    assert caught.value.what == message
    assert "day, month, quarter, year, decade" in (caught.value.hint or "")


def test_values_that_are_no_dates() -> None:
    with pytest.raises(HierarchyError) as caught:
        dates(["2024-03-05", "05.03.2024", "2024-02-30"], rows=[1, 9, 5])
    assert caught.value.what == "2 values are not in ISO date form (first in row 5)"


@given(st.lists(st.dates(), min_size=1, max_size=20))
def test_dates_nest(days: list[object]) -> None:
    levels = ["day", "month", "quarter", "year", "decade"]
    h = dates(days, levels)
    assert h.balanced
    assert h.leaves == tuple(sorted({str(day) for day in days}))


@given(st.permutations(["2024-03-05", "2023-01-01", "2024-12-31"]))
def test_row_order_does_not_matter(values: list[str]) -> None:
    assert same(dates(values), dates(sorted(values)))
    assert same(masks(values, 3), masks(sorted(values), 3))
    assert same(flat(values), flat(sorted(values)))
    years = [value[:4] for value in values]
    assert same(intervals(years, 10), intervals(sorted(years), 10))


# ---- nothing in between


def test_flat() -> None:
    h = flat(["m", "f", None, 7, "m"])
    assert h.to_rows() == [["7", "*"], ["f", "*"], ["m", "*"]]
    assert (h.levels, h.balanced, h.completed) == (2, True, False)


def test_flat_over_a_value_that_looks_like_the_top(tmp_path: Path) -> None:
    h = flat(["f", "*"])
    assert h.labels == ("*", "*", "f")
    assert h.generalize("*", 0) == h.generalize("*", 1) == h.generalize("f", 1) == "*"
    assert h.distance("*", "f") == 1
    assert same(read_hierarchy(write(tmp_path / "h.csv", as_csv(h.to_rows()))), h)
    assert flat(["*"]).to_rows() == [["*", "*"]]


@given(st.lists(st.none() | st.text("01*", max_size=2), max_size=8))
def test_flat_holds_its_values(values: list[str | None]) -> None:
    h = flat(values)
    known = {value for value in values if value is not None}
    assert set(h.leaves) == (known or {"*"})
    assert h.levels == (2 if known else 1)
    for value in known:
        assert h.labels[h.node(value)] == value
        assert h.climb(np.array([h.node(value)]), 1).tolist() == [0]


# ---- what a policy says


def test_specs(tmp_path: Path) -> None:
    write(tmp_path / "sex.csv", "f;*\nm;*\n")
    write(tmp_path / "tree.csv", "code,within\na,X\nb,X\n")
    sex = read_hierarchy(tmp_path / "sex.csv")
    assert same(parse_spec("sex.csv", [], tmp_path), sex)
    assert same(parse_spec(str(tmp_path / "sex.csv"), [], Path("/nowhere")), sex)
    assert parse_spec({"file": "sex.csv", "header": True}, [], tmp_path).leaves == ("m",)
    assert parse_spec({"file": "sex.csv", "delimiter": ","}, [], tmp_path).leaves == ("f;*", "m;*")
    parents = parse_spec({"parents": "tree.csv", "header": True}, [], tmp_path)
    assert parents.labels == ("X", "a", "b")

    numbers = ["34", None, "38"]
    assert same(parse_spec({"interval": [5, 10]}, numbers, tmp_path), intervals(numbers, [5, 10]))
    assert same(
        parse_spec({"interval": 10, "origin": 4}, numbers, tmp_path), intervals(numbers, 10, 4)
    )
    assert same(parse_spec({"mask": 2}, numbers, tmp_path), masks(numbers, 2))
    assert same(parse_spec({"mask": 2, "char": "x"}, numbers, tmp_path), masks(numbers, 2, "x"))
    days = ["2024-03-05"]
    assert same(parse_spec({"date": ["year"]}, days, tmp_path), dates(days, ["year"]))
    assert same(parse_spec({"date": "month"}, days, tmp_path), dates(days, "month"))
    assert same(parse_spec({"flat": True}, numbers, tmp_path), flat(numbers))


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        (5, "a hierarchy is neither a path nor a table of keys", "file, parents, interval, mask"),
        ({}, "no key of a hierarchy is known: none", "parents, interval, mask, date, flat"),
        ({"masks": 5}, "no key of a hierarchy is known: 'masks'", "mask, date"),
        ({"mask": 5, "date": "year"}, "a hierarchy is both mask and date", "one of the keys"),
        ({"mask": 5, "origin": 1}, "hierarchy key 'origin' does not exist", "mask takes char"),
        ({"date": "year", "x": 1}, "hierarchy key 'x' does not exist", "date takes no other key"),
        ({"file": "a", "x": 1}, "hierarchy key 'x' does not exist", "file takes header, delimiter"),
        ({"mask": "5"}, "hierarchy key 'mask' is not a whole number", ""),
        ({"mask": True}, "hierarchy key 'mask' is not a whole number", ""),
        ({"mask": 5, "char": 0}, "hierarchy key 'char' is not a text", ""),
        ({"interval": True}, "hierarchy key 'interval' is not a number or a list of numbers", ""),
        ({"interval": [5, [6]]}, "hierarchy key 'interval' is not a number or a list", ""),
        ({"interval": 5, "origin": []}, "hierarchy key 'origin' is not a number", ""),
        ({"date": 5}, "hierarchy key 'date' is not a text or a list of texts", ""),
        ({"flat": False}, "hierarchy key 'flat' is not true", ""),
        ({"flat": 1}, "hierarchy key 'flat' is not true", ""),
        ({"flat": True, "x": 1}, "hierarchy key 'x' does not exist", "flat takes no other key"),
        ({"flat": True, "mask": 5}, "a hierarchy is both mask and flat", "one of the keys"),
        ({"file": 5}, "hierarchy key 'file' is not a text", ""),
        ({"file": "a", "header": 1}, "hierarchy key 'header' is not true or false", ""),
    ],
)
def test_wrong_specs(spec: object, message: str, hint: str) -> None:
    with pytest.raises(HierarchyError) as caught:
        parse_spec(spec, [], Path())  # type: ignore[arg-type]
    assert caught.value.what.startswith(message)
    assert hint in (caught.value.hint or "")


def test_a_spec_passes_row_numbers_on() -> None:
    with pytest.raises(HierarchyError, match="first in row 17"):
        parse_spec({"interval": 5}, ["x"], Path(), rows=[17])
    with pytest.raises(HierarchyError, match="first in row 17"):
        parse_spec({"date": "year"}, ["x"], Path(), rows=[17])


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


# ---- real files and real sizes


@needs_data
@pytest.mark.parametrize(
    ("column", "per_level"),
    [
        ("age", [100, 20, 10, 5, 1]),
        ("education", [16, 5, 3, 1]),
        ("marital-status", [7, 2, 1]),
        ("native-country", [41, 5, 1]),
        ("occupation", [14, 3, 1]),
        ("race", [5, 1]),
        ("salary-class", [2, 1]),
        ("sex", [2, 1]),
        ("workclass", [8, 3, 1]),
    ],
)
def test_adult(column: str, per_level: list[int]) -> None:
    folder = DATA / "adult_arx"
    h = read_hierarchy(folder / f"arx_adult_hierarchy_{column}.csv")
    assert summary(h)["nodes_per_level"] == per_level
    assert h.balanced
    assert h.labels[0] == "*"
    with (folder / "arx_adult.csv").open(encoding="utf-8", newline="") as file:
        h.require([row[column] for row in csv.DictReader(file, delimiter=";")], column)


@needs_data
def test_regions() -> None:
    h = read_hierarchy(DATA / "ato_region_hierarchy.csv")
    assert summary(h)["nodes_per_level"] == [35, 8, 1]
    assert h.generalize("NSW rural", 1) == "NSW"


def test_sizes_met_in_practice() -> None:
    """No timing: with anything quadratic these would not come back."""
    h = intervals(range(30_000), [5, 10, 100])
    assert summary(h)["nodes_per_level"] == [30_000, 6_000, 3_000, 300, 1]
    codes = [(f"{c}.{k}.{s}", f"{c}.{k}") for c in range(22) for k in range(80) for s in range(6)]
    blocks = [(f"{c}.{k}", str(c)) for c in range(22) for k in range(80)]
    tree = from_parents(codes + blocks)
    assert summary(tree)["nodes_per_level"] == [10_560, 1_760, 22, 1]
    assert int(tree.leaf_counts[0]) == 10_560


def test_a_missing_label_is_quoted_if_it_is_no_single_persons():
    """At least 5 rows must hold it; at most 3 are quoted."""
    tree = Hierarchy(("*", "f", "m"), [-1, 0, 0])
    rare = ["f", "x", "x", "x", "x"]
    with pytest.raises(HierarchyError) as caught:
        tree.require(rare, "sex")
    assert (
        caught.value.what == "column 'sex': 1 value is missing from the hierarchy (first in row 2)"
    )
    with pytest.raises(HierarchyError) as caught:
        tree.require([*rare, "x", "Jane Doe"], "sex")
    assert caught.value.what.endswith("(first in row 2): 'x' in 5 rows")
    many = [label * 30 for label in "abcde"]
    with pytest.raises(HierarchyError) as caught:
        tree.require(many, "sex", [1, 2, 3, 4, 5], [9, 4, 8, 7, 6])
    assert caught.value.what.count("'") == 2 + 2 * 3
    assert caught.value.what.endswith("'ddd" + "d" * 27 + "' in 7 rows, and 1 more")
    assert "b" * 30 not in caught.value.what


def test_a_missing_label_is_quoted_by_anonymize_and_check():
    people = pl.DataFrame({"sex": ["f", "m"] * 5 + ["d"] * 5, "ill": ["flu", "cold", "gout"] * 5})
    how = {"quasi": "sex", "sensitive": "ill", "principles": "k-anonymity:k=2"}
    tree = {"sex": Hierarchy(("*", "f", "m"), [-1, 0, 0])}
    with pytest.raises(HierarchyError, match=r"1 value is missing .*: 'd' in 5 rows"):
        wb.anonymize(people, **how, hierarchies=tree)
    ills = {"ill": Hierarchy(("*", "flu", "cold"), [-1, 0, 0])}
    how["principles"] = "l-e:l=2,e=1"
    with pytest.raises(HierarchyError, match=r"1 value is missing .*: 'gout' in 5 rows"):
        wb.check(people, **how, hierarchies=ills)
    with pytest.raises(HierarchyError) as caught:
        wb.check(people[:12], **how, hierarchies=ills)
    assert "gout" not in str(caught.value)
