"""Wang, Meng, Bamba, Liu, Pu: A general proximity privacy principle. ICDE 2009."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.core.codes import encode, join_columns

TABLE_I = datasets.wang2009_table1()
DISEASE = ("flu", "asthma", "bronchitis", "none")


def check(table, principle, sensitive=DISEASE, **groups):
    groups = groups or {"quasi": ["age", "zip"]}
    result = wb.check(table, sensitive=list(sensitive), principles=principle, **groups)
    return result.principles[0]


def far(epsilon, delta, k=2, **rest):
    return wb.Dissimilarity(epsilon=epsilon, delta=delta, k=k, **rest)


def variational(p, q):
    """Footnote 1, in floating point: rounding matters at the threshold, so round it away."""
    return round(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2, 9)


def joined(table):
    """Return the four columns as one sensitive attribute."""
    return join_columns("disease", [encode(table[name]) for name in DISEASE])


# ---- Table I


def test_table_1_holds_distributions():
    sums = TABLE_I.select(pl.sum_horizontal(DISEASE).round(9)).to_series()
    assert (sums == 1).all()


def test_example_1_kevin_has_each_value_with_20_percent():
    """Group 1 has five tuples, all different: no exact value is likelier than 1/5."""
    report = check(TABLE_I, wb.FrequencyLDiversity(on=DISEASE, l=3), group="group")
    assert report.satisfied
    by_group = {g.values["group"]: g.achieved["l"] for g in report.worst}
    assert by_group == {1: 5, 2: 3}


def test_example_1_groups_agree_with_quasi_identifiers():
    by_id = wb.check(TABLE_I, group="group", principles=wb.KAnonymity(k=3))
    by_box = wb.check(TABLE_I, quasi=["age", "zip"], principles=wb.KAnonymity(k=3))
    assert by_id.satisfied
    assert by_box.satisfied
    assert by_id.groups == by_box.groups == 2


def test_example_2_and_4_neighbourhood_of_the_second_value():
    """ε = 0.1: Φ(v2) = {v1, v2, v3, v4}, all exactly 0.1 off, which is 80 % of Kevin's group."""
    column = joined(TABLE_I.filter(group=1))
    rule = far(0.1, 1).bind(column.domain)
    neighbourhoods = [
        {row for row, other in enumerate(column.codes, start=1) if other in rule.near.near(code)}
        for code in column.codes
    ]
    assert neighbourhoods[1] == {1, 2, 3, 4}
    assert neighbourhoods == [{1, 2}, {1, 2, 3, 4}, {2, 3}, {2, 4}, {5}]
    assert len(neighbourhoods[1]) / len(column.codes) == 0.8


def test_equation_3_risk_of_group_1_is_3_of_4():
    report = check(TABLE_I, far(0.1, 0.5, on=DISEASE))
    assert not report.satisfied
    worst, best = report.worst
    assert worst.values == {"age": "18-30", "zip": "12-17k"}
    assert 1 - worst.achieved["delta"] == 3 / 4
    assert "3 of" in worst.reason
    assert best.rows == 3


def test_equation_3_group_2_is_free_of_proximity_breach():
    """All three distributions are farther than 0.1 apart: risk 0."""
    report = check(TABLE_I.filter(group=2), far(0.1, 1, k=3, on=DISEASE))
    assert report.satisfied
    assert 1 - report.achieved["delta"] == 0


def test_equation_4_risk_of_the_partition_is_the_largest():
    """Theorem 1: risk <= 1 - δ if and only if (ε, δ)-dissimilar; here up to δ = 1/4."""
    report = check(TABLE_I, far(0.1, 0.25, on=DISEASE))
    assert report.satisfied
    assert report.achieved == {"delta": 0.25, "k": 3}
    assert not check(TABLE_I, far(0.1, 0.2501, on=DISEASE)).satisfied


@pytest.mark.parametrize(
    ("epsilon", "risk"), [(0, 0), (0.0999, 0), (0.1, 0.75), (0.3, 1), (0.2999, 0.75)]
)
def test_table_1_risk_of_group_1_by_epsilon(epsilon, risk):
    """Distances are exact at the thresholds; from 0.3 on, v4 is near v5 and all the others."""
    report = check(TABLE_I.filter(group=1), far(epsilon, 0, on=DISEASE))
    assert 1 - report.achieved["delta"] == risk


@pytest.mark.parametrize("epsilon", [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
def test_table_1_by_a_metric_in_python(epsilon):
    """The distance may be any function of two values; it agrees with the built-in one."""
    built_in = check(TABLE_I, far(epsilon, 0.5, on=DISEASE, distance="variational"))
    own = check(TABLE_I, far(epsilon, 0.5, on=DISEASE, distance=variational))
    assert own.achieved == built_in.achieved
    assert own.satisfied == built_in.satisfied


def test_table_1_as_one_column_of_lists():
    lists = TABLE_I.with_columns(disease=pl.concat_list(DISEASE))
    report = check(lists, far(0.1, 0.25), sensitive=["disease"])
    assert report.achieved == {"delta": 0.25, "k": 3}


def test_table_1_is_published_as_printed():
    """Two QI-groups with these ranges; rows 1 to 5 and 6 to 8."""
    printed = TABLE_I.group_by("group", "age", "zip", maintain_order=True).agg("row")
    assert printed.rows() == [
        (1, "18-30", "12-17k", [1, 2, 3, 4, 5]),
        (2, "32-40", "22-30k", [6, 7, 8]),
    ]


def test_example_2_the_claim_about_kevin():
    """Section I: "Kevin's disease value is fairly close to [0.4, 0.3, 0.2, 0.1]", with 80 %."""
    first, second = wb.claims(
        TABLE_I, quasi=["age", "zip"], sensitive=DISEASE, on=DISEASE, epsilon=0.1
    )
    assert (first.centre, first.neighbours) == (2, (1, 2, 3, 4))
    assert first.value == (0.4, 0.3, 0.2, 0.1)
    assert first.confidence == Fraction(4, 5)
    assert (first.risk, second.risk) == (Fraction(3, 4), 0)
    assert (first.prior, second.prior) == (Fraction(1, 5), Fraction(1, 3))  # Example 3: 20 %
    named = TABLE_I.rename({name: f"disease.{name}" for name in DISEASE})
    claim = wb.claims(named, quasi=["age", "zip"], sensitive="disease.*", epsilon=0.1)[0]
    assert str(claim) == (
        "anybody in the group (age 18-30, zip 12-17k) has a disease within 0.1 of "
        "(0.4, 0.3, 0.2, 0.1) with 80 % confidence"
    )


def test_example_2_the_other_claims_in_kevins_group_are_weaker():
    """By hand: around 1, 3 and 4 two rows each, around 5 none but itself."""
    near = {1: {1, 2}, 2: {1, 2, 3, 4}, 3: {2, 3}, 4: {2, 4}, 5: {5}}
    values = TABLE_I.filter(group=1).select(DISEASE).rows()
    for row, value in enumerate(values, 1):
        close = {i for i, other in enumerate(values, 1) if variational(value, other) <= 0.1}
        assert close == near[row]


def test_equation_4_risk_of_the_table_as_published_and_as_one_group():
    claims = wb.claims(TABLE_I, group="group", sensitive=DISEASE, on=DISEASE, epsilon=0.1)
    assert max(claim.risk for claim in claims) == Fraction(3, 4)
    curve = dict(wb.advise(TABLE_I, DISEASE).dissimilarity().risk_curve())
    assert curve[Fraction(1, 10)] == Fraction(3, 7)  # row 2 again, among all eight


# ---- Section II.B, III.A


def test_section_2_b_a_single_value_has_risk_1(judge):
    """(|Φ| - 1)/(|G| - 1) is defined as 1 where the group has one tuple."""
    alone = judge(far(1, 0.01, k=1), [7])
    assert alone.satisfied == [False]
    assert 1 - alone.achieved("delta")[0] == 1
    assert judge(far(1, 0, k=1), [7]).satisfied == [True]


def test_section_2_b_risk_is_1_if_one_value_is_similar_to_all(judge):
    """{4, 5, 6}, ε = 1: 5 is similar to both others; values count as a multiset."""
    assert judge(far(1, 0), [4, 5, 6], [4, 4]).achieved("delta") == [0, 0]


def test_section_3_a_k_rules_out_small_groups_of_dissimilar_values(judge):
    """(ε, δ)-dissimilarity alone accepts two far values; k = 3 does not."""
    assert judge(far(1, 1, k=2), [1, 100]).satisfied == [True]
    assert judge(far(1, 1, k=3), [1, 100], [1, 100, 200]).satisfied == [False, True]


def test_theorem_1_risk_bounds_dissimilarity(judge):
    groups = [g for n in (2, 3, 4) for g in combinations_with_replacement(range(5), n)]
    delta = judge(far(1, 0), *groups).achieved("delta")
    half = judge(far(1, 0.5), *groups).satisfied
    assert half == [1 - d <= 0.5 for d in delta]


def test_dissimilarity_is_not_monotone_even_for_equality(judge):
    principle = far(0, 1)
    assert not principle.monotone
    judged = judge(principle, ["a", "b"], ["a", "a", "b", "b"])
    assert judged.satisfied == [True, False]
    assert judged.feasible == [True, True]
    assert judged.finished(1) == [["a", "b"], ["a", "b"]]


# ---- Section III.B, relations to other principles


@pytest.mark.parametrize("alpha", [Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)])
def test_section_3_b_1_alpha_k_anonymity(judge, alpha):
    """ε = 0 and 1 - δ ≈ α; in a group of N exactly 1 - δ = (αN - 1)/(N - 1)."""
    size = 8
    groups = list(combinations_with_replacement("abc", size))
    by_share = judge(wb.AlphaKAnonymity(alpha=alpha, k=size), *groups).satisfied
    delta = 1 - (alpha * size - 1) / (size - 1)
    assert judge(far(0, delta, k=size), *groups).satisfied == by_share


def test_section_3_b_1_alpha_is_only_about_1_minus_delta(judge):
    """{a, a, b, c}: one value has 1/2 of the group, but its holder is near 1/3 of the others."""
    group = ["a", "a", "b", "c"]
    assert judge(wb.AlphaKAnonymity(alpha=0.5, k=4), group).satisfied == [True]
    assert judge(far(0, Fraction(2, 3), k=4), group).satisfied == [True]
    assert judge(far(0, 0.67, k=4), group).satisfied == [False]
    assert judge(wb.AlphaKAnonymity(alpha=0.49, k=4), group).satisfied == [False]


def test_section_3_b_2_epsilon_m_implies_dissimilarity(judge):
    """(ε, m)-anonymity implies (ε, 1 - 1/m)^m-dissimilarity."""
    groups = [g for n in (3, 4, 5) for g in combinations_with_replacement(range(7), n)]
    anonymous = judge(wb.EpsilonMAnonymity(epsilon=1, m=3), *groups).satisfied
    dissimilar = judge(far(1, Fraction(2, 3), k=3), *groups).satisfied
    assert any(anonymous)
    assert all(d or not a for a, d in zip(anonymous, dissimilar, strict=True))


def test_section_3_b_2_but_not_conversely(judge):
    """{1, 1, 1, 5, 7, 11, 12}, ε = 1, m = 3: 3 of 7 is more than 1/3."""
    group = [1, 1, 1, 5, 7, 11, 12]
    assert judge(far(1, Fraction(2, 3), k=3), group).satisfied == [True]
    assert judge(wb.EpsilonMAnonymity(epsilon=1, m=3), group).satisfied == [False]


@pytest.mark.parametrize("k", [3, 4, 5])
def test_section_3_b_2_the_delta_that_bounds_a_breach_by_1_over_m(judge, k):
    """k >= m and δ >= (1 - 1/m)/(1 - 1/k) suffice for (ε, m)-anonymity."""
    m = 2
    delta = (1 - Fraction(1, m)) / (1 - Fraction(1, k))
    groups = [g for n in (k, k + 1) for g in combinations_with_replacement(range(6), n)]
    dissimilar = judge(far(1, delta, k=k), *groups).satisfied
    anonymous = judge(wb.EpsilonMAnonymity(epsilon=1, m=m), *groups).satisfied
    assert any(dissimilar)
    assert all(a or not d for d, a in zip(dissimilar, anonymous, strict=True))


def test_section_3_b_2_delta_is_stepless(judge):
    """m offers 1/2, 1/3, … only; δ any share between."""
    group = [1, 2, 10, 20, 30]  # each is near at most 1 of 4 others
    assert judge(far(1, 0.75), group).satisfied == [True]
    assert judge(far(1, 0.7501), group).satisfied == [False]


# ---- Section IV, satisfiability


def test_theorem_2_delta_1_is_a_colouring(judge):
    """Similar values are adjacent: the groups of δ = 1 are independent sets of k or more."""
    path = [1, 2, 3, 4, 5, 6]  # ε = 1: a path, which two colours suffice for
    judged = judge(far(1, 1, k=3), path)
    assert (judged.satisfied, judged.feasible) == ([False], [True])
    assert judge(far(1, 1, k=3), *judged.finished()).satisfied == [True, True]


def test_theorem_2_a_clique_needs_as_many_groups_as_values(judge):
    """Three equal values and two others: three groups are needed, five tuples fill two of k = 2."""
    assert judge(far(0, 1, k=2), ["a", "a", "a", "b", "c"]).feasible == [False]
    assert judge(far(0, 1, k=2), ["a", "a", "b", "b", "c"]).feasible == [True]


def test_table_1_can_be_partitioned_dissimilarly():
    """All eight tuples, ε = 0.1, δ = 1, k = 2: a partition is found, and every part satisfies."""
    principle = far(0.1, 1, k=2, on=DISEASE)
    assert not check(TABLE_I, principle).satisfied
    column = joined(TABLE_I)
    labels = principle.bind(column.domain).finish(column.codes, np.random.default_rng(0))
    dealt = TABLE_I.with_columns(hand=pl.Series(labels))
    assert check(dealt, principle, group="hand").satisfied
    assert dealt["hand"].n_unique() > 1
