"""wideberth hierarchy, as a user types it: semantic trees, and what is wrong with some of them."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

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
