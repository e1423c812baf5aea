"""Wang, Han, Wang, Wang: (l,e)-Diversity. 2013."""

from fractions import Fraction
from itertools import combinations

import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.hierarchy import from_rows

TREE = datasets.wang2013_figure1()
TABLE_I = datasets.wang2013_table1()
TABLE_II = datasets.wang2013_table2()
TABLE_III = datasets.wang2013_table3()
TABLE_IV = datasets.wang2013_table4()
TABLE_V = datasets.wang2013_table5()
QUASI = ["age", "sex", "zip"]

BUCKETS = [
    ["Flu", "pneumonia", "bronchitis"],
    ["Cancer", "Carcinoid"],
    ["Gastric ulcer", "Dyspepsia", "Gastritis"],
]


def check(table, principle):
    result = wb.check(
        table,
        group="group",
        sensitive="disease",
        principles=principle,
        hierarchies={"disease": TREE},
    )
    return result.principles[0]


def diseases(table):
    """Return the diseases of each group."""
    return [table.filter(group=g)["disease"].to_list() for g in (1, 2, 3)]


# ---- Figure 1


def test_figure_1_leaves_are_at_level_3():
    """Flu and gastritis share the great-grandparent only; here that is the root."""
    assert TREE.balanced
    assert TREE.height == 3
    assert set(TREE.leaves) == {leaf for bucket in BUCKETS for leaf in bucket}


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [("Flu", "pneumonia", 1), ("Flu", "Gastritis", 3), ("Flu", "Flu", 0)],
)
def test_definition_2_distances(one, other, distance):
    """((h1 - hc) + (h2 - hc)) / 2; formula 7 reverses the sign, which would make it negative."""
    assert TREE.distance(one, other) == TREE.distance(other, one) == distance


def test_definition_2_1_similar_values_share_a_father():
    """Respiratory infection, tumour and stomach, as listed in Section III."""
    for one, other in combinations(TREE.leaves, 2):
        together = any({one, other} <= set(bucket) for bucket in BUCKETS)
        assert TREE.distance(one, other) == (1 if together else 3)
        assert (TREE.generalize(one, 1) == TREE.generalize(other, 1)) is together


def test_definition_2_distance_is_an_ultrametric_at_equal_depth():
    for a, b, c in combinations(TREE.leaves, 3):
        assert TREE.distance(a, c) <= max(TREE.distance(a, b), TREE.distance(b, c))


# ---- Tables II to V are anatomies of Table I


@pytest.mark.parametrize(
    ("quasi", "sensitive"), [(TABLE_II, TABLE_III), (TABLE_IV, TABLE_V)], ids=["II+III", "IV+V"]
)
def test_tables_2_to_5_are_anatomies_of_table_1(quasi, sensitive):
    """Every person of Table I is in the first table once, and their disease in the second."""
    found = TABLE_I.join(quasi, on=QUASI, validate="1:1")
    assert found.height == quasi.height == 9
    for group in (1, 2, 3):
        published = sensitive.filter(group=group)["disease"].sort()
        assert published.equals(found.filter(group=group)["disease"].sort())


def test_table_4_misprints_two_rows():
    """As printed, two rows match nobody of Table I; the tuples are named in Section III."""
    printed = datasets.wang2013_table4(as_printed=True)
    strangers = printed.join(TABLE_I, on=QUASI, how="anti")
    assert strangers.rows() == [(36, "M", "13226", 2), (53, "M", "13482", 2)]
    missing = TABLE_I.join(printed, on=QUASI, how="anti")
    assert missing["tuple"].to_list() == ["t6", "t8"]
    corrected = TABLE_IV.join(TABLE_I, on=QUASI).filter(group=2)
    assert set(corrected["tuple"]) == {"t3", "t6", "t8"}


# ---- Definition 3 on the tables


@pytest.mark.parametrize("table", [TABLE_III, TABLE_V], ids=["III", "V"])
@pytest.mark.parametrize("principle", ["distinct-l:l=3", "frequency-l:l=3", "entropy-l:l=3"])
def test_tables_3_and_5_are_3_diverse(table, principle):
    assert check(table, principle).satisfied


def test_table_3_tells_that_tom_has_stomach_trouble():
    """Section I: the third class is 3-diverse, yet all of it is gastropathy."""
    third = diseases(TABLE_III)[2]
    assert {TREE.generalize(disease, 1) for disease in third} == {"stomach"}
    by_kind = [TREE.generalize(d, 1) for d in TABLE_III["disease"]]
    table = TABLE_III.with_columns(kind=pl.Series(by_kind))
    kinds = wb.check(table, group="group", sensitive="kind", principles="distinct-l:l=2")
    failing = [g.values for g in kinds.principles[0].worst if not g.satisfied]
    assert failing == [{"group": 3}]


def test_table_3_is_not_3_1_diverse():
    """Not the third class; nor the others, which hold flu with pneumonia, and both tumours."""
    report = check(TABLE_III, wb.LEDiversity(l=3, e=1))
    assert not report.satisfied
    assert report.violating_groups == 3
    similar = {g.values["group"]: g.reason[: len("n of 3")] for g in report.worst}
    assert similar == {1: "2 of 3", 2: "2 of 3", 3: "3 of 3"}


def test_table_5_is_3_1_diverse():
    report = check(TABLE_V, wb.LEDiversity(l=3, e=1))
    assert report.satisfied
    assert report.achieved == {"l": 3}


@pytest.mark.parametrize(
    ("wanted", "e", "verdict"),
    [(3, 0, True), (3, 1, True), (3, 2.99, True), (3, 3, False), (4, 1, False), (2, 1, True)],
)
def test_definition_3_on_table_5(wanted, e, verdict):
    """More than e, so 3 is too much; and at least l."""
    assert check(TABLE_V, wb.LEDiversity(l=wanted, e=e)).satisfied is verdict


def test_definition_3_counts_tuples_not_values(judge):
    """Equal values are at distance 0, so they never share a group."""
    judged = judge(wb.LEDiversity(l=2, e=0), ["Flu", "Flu", "Cancer"], ["Flu", "Cancer"], tree=TREE)
    assert judged.satisfied == [False, True]


def test_definition_3_is_dissimilarity_with_delta_1(judge):
    """(l,e)-diversity is (ε = e, δ = 1)^l-dissimilarity on the tree."""
    groups = [list(g) for n in (2, 3) for g in combinations(TREE.leaves, n)]
    for e in (0, 1, 2):
        diverse = judge(wb.LEDiversity(l=2, e=e), *groups, tree=TREE)
        dissimilar = judge(wb.Dissimilarity(epsilon=e, delta=1, k=2), *groups, tree=TREE)
        assert diverse.satisfied == dissimilar.satisfied


def test_l_e_diversity_is_not_monotone(judge):
    principle = wb.LEDiversity(l=3, e=1)
    assert not principle.monotone
    one, other, _ = diseases(TABLE_V)
    assert judge(principle, one, other, one + other, tree=TREE).satisfied == [True, True, False]


# ---- Section III, the MBF algorithm


def test_section_3_buckets_of_table_1():
    """{t1, t2, t3}, {t4, t5, t6} and {t7, t8, t9}."""
    kinds = [TREE.generalize(disease, 1) for disease in TABLE_I["disease"]]
    assert kinds == ["respiratory infection"] * 3 + ["tumour"] * 3 + ["stomach"] * 3


def test_section_3_table_1_can_be_made_3_1_diverse(judge):
    """Three groups, each with one tuple of every bucket, as in Table V."""
    principle = wb.LEDiversity(l=3, e=1)
    judged = judge(principle, TABLE_I["disease"].to_list(), tree=TREE)
    assert (judged.satisfied, judged.feasible) == ([False], [True])
    parts = judged.finished()
    assert len(parts) == 3
    assert sorted(d for part in parts for d in part) == sorted(TABLE_I["disease"])
    for part in parts:
        assert {TREE.generalize(d, 1) for d in part} == {
            *("respiratory infection", "tumour", "stomach")
        }
    assert judge(principle, *parts, tree=TREE).satisfied == [True] * 3


@pytest.mark.parametrize(
    ("wanted", "e", "possible"),
    [
        (3, 1, True),  # three buckets of 3, floor(9 / 3) = 3
        (4, 1, False),  # floor(9 / 4) = 2
        (4, 0, True),  # flu and cancer twice each
        (5, 0, False),
        (2, 3, False),  # all diseases in one bucket
        (1, 3, True),
    ],
)
def test_section_3_feasible_if_the_largest_bucket_fits(judge, wanted, e, possible):
    """Without suppression, if and only if the largest bucket is at most floor(n / l)."""
    judged = judge(wb.LEDiversity(l=wanted, e=e), TABLE_I["disease"].to_list(), tree=TREE)
    assert judged.feasible == [possible]


def test_section_3_remaining_records_join_other_groups(judge):
    """Step 3: a tenth record of a fourth kind fits into any of the three groups."""
    grown = from_rows([*TREE.to_rows(), ["Fracture", "injury", "trauma", "disease"]])
    ten = [*TABLE_I["disease"], "Fracture"]
    judged = judge(wb.LEDiversity(l=3, e=1), ten, tree=grown)
    assert judged.feasible == [True]
    assert sorted(len(part) for part in judged.finished()) == [3, 3, 4]


# ---- trees of unequal depth

UNEVEN = from_rows([["b", "R"], ["a", "X1", "X", "R"], ["c", "Y1", "Y", "R"]])


def test_unequal_depth_similarity_is_not_transitive(judge):
    """R → {b, X → X1 → a, Y → Y1 → c}: d(a,b) = d(b,c) = 2 but d(a,c) = 3."""
    assert not UNEVEN.balanced
    assert UNEVEN.distance("a", "b") == UNEVEN.distance("b", "c") == 2
    assert UNEVEN.distance("a", "c") == 3
    judged = judge(wb.LEDiversity(l=2, e=2), ["a", "b"], ["b", "c"], ["a", "c"], tree=UNEVEN)
    assert judged.satisfied == [False, False, True]


def test_unequal_depth_is_partitioned_without_buckets(judge):
    """{a, c} and {a, c} share no bucket problem; b has no partner at e = 2."""
    judged = judge(wb.LEDiversity(l=2, e=2), list("aacc"), list("abc"), tree=UNEVEN)
    assert judged.feasible == [True, False]
    assert judged.finished(0) == [["a", "c"], ["a", "c"]]


def test_distance_may_be_half_a_step():
    assert UNEVEN.distance("X1", "X") == Fraction(1, 2)


# ---- Section III, from Table I to two tables


def anatomized(**how):
    return wb.anonymize(
        TABLE_I,
        identifier=["tuple", "name"],
        quasi=QUASI,
        sensitive="disease",
        hierarchies={"disease": TREE},
        principles=wb.LEDiversity(l=3, e=1),
        algorithm="anatomy",
        **how,
    )


@pytest.mark.parametrize("method", ["mbf", "optimal"])
@pytest.mark.parametrize("seed", [None, *range(5)])
def test_section_3_makes_three_groups_of_three(method, seed):
    """As Tables IV and V, though chance picks the tuples from the buckets."""
    release = anatomized(method=method, seed=seed)
    assert release.table.columns == [*QUASI, "group"]
    assert release.sensitive.columns == ["group", "disease", "count"]
    found = TABLE_I.join(release.table, on=QUASI, validate="1:1")
    assert found.height == release.table.height == 9
    for group in (1, 2, 3):
        published = release.sensitive.filter(group=group)
        assert published["count"].to_list() == [1, 1, 1]
        assert published["disease"].to_list() == sorted(found.filter(group=group)["disease"])
        for one, other in combinations(published["disease"], 2):
            assert TREE.distance(one, other) > 1
    assert release.manifest["suppressed"]["rows"] == 0


def test_section_3_many_pairs_of_tables_are_possible():
    """Tables IV and V are one of them: t1, t5, t7 and t3, t6, t8 and t2, t4, t9."""
    found = {
        frozenset(
            frozenset(TABLE_I.join(release.table.filter(group=g), on=QUASI)["tuple"])
            for g in (1, 2, 3)
        )
        for release in (anatomized(method="mbf", seed=seed) for seed in range(20))
    }
    assert len(found) > 5
    for groups in found:
        for group in groups:
            buckets = sorted((int(name[1:]) - 1) // 3 for name in group)
            assert buckets == [0, 1, 2]


def test_section_3_one_tuple_more_than_fits_is_refused_or_suppressed():
    """Step 3 (2): a fourth case of flu or pneumonia fits into none of three groups."""
    ten = pl.concat(
        [TABLE_I, TABLE_I[:1].with_columns(age=pl.lit(24, pl.Int64), zip=pl.lit("13011"))]
    )
    for method in ("mbf", "optimal"):
        how = {
            "rows_are_people": True,  # though the tenth row is a copy
            "identifier": ["tuple", "name"],
            "quasi": QUASI,
            "sensitive": "disease",
            "hierarchies": {"disease": TREE},
            "principles": wb.LEDiversity(l=3, e=1),
            "algorithm": "anatomy",
            "method": method,
        }
        with pytest.raises(wb.InfeasibleError, match="1 row would have to be suppressed"):
            wb.anonymize(ten, **how)
        release = wb.anonymize(ten, **how, suppression_limit=0.1)
        assert release.table.height == 9
        assert sorted(release.table["group"]) == [1, 1, 1, 2, 2, 2, 3, 3, 3]


# ---- Tables II to V as pairs


def counted(sensitive):
    """The paper lists a value once a tuple; a count makes it a table of groups and values."""
    return sensitive.group_by("group", "disease", maintain_order=True).len("count")


def check_pair(quasi, sensitive, principle):
    result = wb.check(
        quasi,
        sensitive_table=counted(sensitive),
        group="group",
        sensitive="disease",
        principles=principle,
        hierarchies={"disease": TREE},
    )
    assert (result.rows, result.groups) == (9, 3)
    return result.principles[0]


def test_tables_2_and_3_are_3_diverse_but_not_3_1_diverse():
    report = check_pair(TABLE_II, TABLE_III, wb.LEDiversity(l=3, e=1))
    assert not report.satisfied
    assert (report.violating_groups, report.violating_rows) == (3, 9)
    assert check_pair(TABLE_II, TABLE_III, wb.DistinctLDiversity(l=3)).satisfied


def test_tables_4_and_5_are_3_1_diverse():
    report = check_pair(TABLE_IV, TABLE_V, wb.LEDiversity(l=3, e=1))
    assert report.satisfied
    assert report.achieved == {"l": 3}


def test_table_4_as_printed_is_no_anatomy_of_table_1():
    """A check of the pair cannot tell; that two rows match nobody shows beside Table I only."""
    printed = datasets.wang2013_table4(as_printed=True)
    assert check_pair(printed, TABLE_V, wb.LEDiversity(l=3, e=1)).satisfied
    assert printed.join(TABLE_I, on=QUASI).height == 7
    assert TABLE_IV.join(TABLE_I, on=QUASI).height == 9


def test_tables_of_two_releases_do_not_belong_together():
    """Table II with Table V: groups of equal sizes, so only the diseases are wrong."""
    assert check_pair(TABLE_II, TABLE_V, wb.LEDiversity(l=3, e=1)).satisfied
    with pytest.raises(wb.TableError, match="not have as many rows"):
        check_pair(TABLE_II, TABLE_V[:8], wb.LEDiversity(l=3, e=1))


def test_formula_5_of_a_release_of_table_1():
    """2/3 a row by formula (5); 0.44 is the true point alone, as the worked example has it."""
    loss = anatomized(method="mbf").manifest["loss"]
    assert loss["reconstruction_error"] == pytest.approx(2 / 3)
    assert round(loss["true_point_error"], 2) == 0.44
    assert loss["average_diversity"] == 3  # three pairs at distance 3, divided by three rows
