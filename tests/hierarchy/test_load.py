"""Hierarchies from files: a row for each leaf, or children and parents."""

from __future__ import annotations

import csv
import pickle
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import wideberth as wb
from tests.hierarchy.test_tree import UNEQUAL, as_csv, same, trees, write
from wideberth.errors import HierarchyError, HierarchyWarning
from wideberth.hierarchy import (
    Hierarchy,
    from_parents,
    from_rows,
    intervals,
    parse_spec,
    read_hierarchy,
    read_parents,
    summary,
)

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is absent")


def read_text(text: str, **options: object) -> Hierarchy:
    with tempfile.TemporaryDirectory() as folder:
        return read_hierarchy(write(Path(folder, "h.csv"), text), **options)  # type: ignore[arg-type]


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
