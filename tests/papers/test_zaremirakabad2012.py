"""Zare-Mirakabad: (δ,l)-diversity. 2012.

"stab", the default, counts a group's tuples in windows of length 2δ; "literal" is Def. 5 as
printed.
"""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise

import pytest

import wideberth as wb
from wideberth import datasets

FIGURE_1 = datasets.zaremirakabad2012_figure1()
FIGURE_2 = datasets.zaremirakabad2012_figure2()
VARIANTS = ("stab", "literal")


def check(table, principle, **groups):
    """Return the report on a table by quasi-identifiers, or by group ids."""
    sensitive = table.columns[-1]
    return wb.check(table, sensitive=sensitive, principles=principle, **groups).principles[0]


# ---- Figure 1


@pytest.mark.parametrize(
    "principle", ["distinct-l:l=3", "frequency-l:l=3", "entropy-l:l=3", "recursive-cl:c=1.1,l=3"]
)
def test_figure_1_is_3_diverse(principle):
    """ "Satisfies diversity based on all diversity principles": distinct and frequency l = 3."""
    report = check(FIGURE_1, principle, quasi=["age", "zip"])
    assert report.satisfied
    assert report.violating_groups == 0


@pytest.mark.parametrize("principle", ["distinct-l:l=4", "frequency-l:l=3.01"])
def test_figure_1_is_no_more_than_3_diverse(principle):
    assert not check(FIGURE_1, principle, quasi=["age", "zip"]).satisfied


@pytest.mark.parametrize("variant", VARIANTS)
def test_figure_1_alices_salary_is_about_500(variant):
    """Her class is {490, 500, 510, 1000}: [490, 510] with 3/4, so l = 4/3 at δ = 10.

    The paper says "with probability 1", overlooking the 1000.
    """
    principle = wb.DeltaLDiversity(delta=10, l=2, variant=variant)
    report = check(FIGURE_1, principle, quasi=["age", "zip"])
    assert report.violating_groups == 1
    assert report.achieved == {"l": pytest.approx(4 / 3)}
    worst = report.worst[0]
    assert worst.values == {"age": "[17,25]", "zip": "11***"}
    assert "3 of 4" in worst.reason
    assert [g.achieved["l"] for g in report.worst[1:]] == [3, 3]


def test_figure_1_first_class_reaches_exactly_4_thirds(judge):
    group = [490, 500, 510, 1000]
    exactly = Fraction(4, 3)
    assert judge(wb.DeltaLDiversity(delta=10, l=exactly), group).satisfied == [True]
    assert judge(wb.DeltaLDiversity(delta=10, l=1.3334), group).satisfied == [False]
    assert judge(wb.DeltaLDiversity(delta=9.99, l=2), group).satisfied == [True]


# ---- Section 3, Example 1


def test_section_3_1_epsilon_m_prefers_two_values_to_three(judge):
    """ε = 15: {40, 60} reaches m = 2 and {40, 50, 60} only m = 1, though it says less."""
    judged = judge(wb.EpsilonMAnonymity(epsilon=15, m=2), [40, 60], [40, 50, 60])
    assert judged.satisfied == [True, False]
    assert judged.achieved("m") == [2, 1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_section_3_1_delta_l_treats_them_alike(judge, variant):
    principle = wb.DeltaLDiversity(delta=15, l=2, variant=variant)
    judged = judge(principle, [40, 60], [40, 50, 60])
    assert judged.satisfied == [False, False]
    assert judged.achieved("l") == [1, 1]


def test_section_3_2_example_1_union_breaks_epsilon_m(judge):
    """E1 = {40, 60}, E2 = {50, 80}: [35, 65] holds 3 of the union's 4, more than 1/2."""
    judged = judge(wb.EpsilonMAnonymity(epsilon=15, m=2), [40, 60], [50, 80], [40, 50, 60, 80])
    assert judged.satisfied == [True, True, False]


# ---- Section 4, Examples 2 and 3


def test_example_2_figure_2_reaches_m_2_and_m_1(judge):
    """ε = 15: G1 has n(40) = n(60) = 1, G2 has n(50) = 3; the table has the lesser, m = 1."""
    report = check(FIGURE_2, wb.EpsilonMAnonymity(epsilon=15, m=2), group="group")
    assert {g.values["group"]: g.achieved["m"] for g in report.worst} == {"G1": 2, "G2": 1}
    assert report.achieved == {"m": 1}
    assert (report.violating_groups, report.violating_rows) == (1, 3)


def test_example_2_neighbours_in_g2(judge):
    """n(40) = 2, n(50) = 3, n(60) = 2."""
    judged = judge(wb.EpsilonMAnonymity(epsilon=15, m=1), [40, 50, 60])
    assert judged.rule.near.crowd(judged.groups).tolist() == [2, 3, 2]


@pytest.mark.parametrize("variant", VARIANTS)
def test_example_3_figure_2_has_l_1(variant):
    """δ = 15: [25, 55] and [45, 75] overlap, so 40 and 60 are δ-similar and l is 2/2."""
    principle = wb.DeltaLDiversity(delta=15, l=1, variant=variant)
    report = check(FIGURE_2, principle, group="group")
    assert {g.values["group"]: g.achieved["l"] for g in report.worst} == {"G1": 1, "G2": 1}


def test_definition_4_touching_intervals_overlap(judge):
    """δ-similar up to a difference of 2δ, its end included."""
    for variant in VARIANTS:
        principle = wb.DeltaLDiversity(delta=10, l=2, variant=variant)
        assert judge(principle, [40, 60], [40, 61]).satisfied == [False, True]


def test_definition_5_with_delta_0_is_frequency_l_diversity(judge):
    """ "Exactly the same", equality in the place of δ-similarity."""
    groups = list(combinations_with_replacement(range(4), 4))
    frequency = judge(wb.FrequencyLDiversity(l=2), *groups)
    for variant in VARIANTS:
        judged = judge(wb.DeltaLDiversity(delta=0, l=2, variant=variant), *groups)
        assert judged.satisfied == frequency.satisfied
        assert judged.achieved("l") == frequency.achieved("l")


def test_definition_5_literally_is_2_delta_m_anonymity(judge):
    groups = [g for n in (2, 3, 4) for g in combinations_with_replacement(range(7), n)]
    literal = judge(wb.DeltaLDiversity(delta=1.5, l=2, variant="literal"), *groups)
    doubled = judge(wb.EpsilonMAnonymity(epsilon=3, m=2), *groups)
    assert literal.satisfied == doubled.satisfied
    assert literal.feasible == doubled.feasible


# ---- the claim of monotonicity


def test_section_4_literal_definition_is_not_monotone(judge):
    """Against the paper: δ = 1/2, l = 2, {0, 2} and {1, 3} pass and {0, 1, 2, 3} fails."""
    literal = wb.DeltaLDiversity(delta=0.5, l=2, variant="literal")
    assert not literal.monotone
    assert judge(literal, [0, 2], [1, 3], [0, 1, 2, 3]).satisfied == [True, True, False]


def test_section_4_repaired_definition_passes_that_union(judge):
    repaired = wb.DeltaLDiversity(delta=0.5, l=2)
    assert repaired.monotone
    assert judge(repaired, [0, 2], [1, 3], [0, 1, 2, 3]).satisfied == [True] * 3


def test_section_4_repaired_definition_is_monotone(judge):
    """All pairs of satisfying groups of two or three values up to 6."""
    principle = wb.DeltaLDiversity(delta=1, l=2)
    groups = [g for n in (2, 3) for g in combinations_with_replacement(range(7), n)]
    verdicts = judge(principle, *groups).satisfied
    good = [g for g, verdict in zip(groups, verdicts, strict=True) if verdict]
    assert len(good) > 5
    assert all(judge(principle, *(a + b for a, b in combinations(good, 2))).satisfied)


def test_repaired_and_literal_definitions_form_a_chain(judge):
    """stab(2δ) implies literal(δ) implies stab(δ) implies (δ, l)-anonymity; none conversely."""
    groups = [g for n in (2, 3, 4) for g in combinations_with_replacement(range(8), n)]
    chain = [
        judge(principle, *groups).satisfied
        for principle in (
            wb.DeltaLDiversity(delta=2, l=2),
            wb.DeltaLDiversity(delta=1, l=2, variant="literal"),
            wb.DeltaLDiversity(delta=1, l=2),
            wb.EpsilonMAnonymity(epsilon=1, m=2),
        )
    ]
    for stronger, weaker in pairwise(chain):
        assert all(w or not s for s, w in zip(stronger, weaker, strict=True))
        assert stronger != weaker


# ---- Section 5, Figure 3


def test_figure_3_closed_ends(judge):
    """[1, 3, 9], δ = 3: the intervals of 3 and 9 touch at 6, which the printed code overlooks.

    By Def. 5 all three are similar to 3, so l = 1; no window of length 6 holds more than two.
    """
    group = [1, 3, 9]
    literal = judge(wb.DeltaLDiversity(delta=3, l=2, variant="literal"), group)
    assert (literal.satisfied, literal.achieved("l")) == ([False], [1])
    stab = judge(wb.DeltaLDiversity(delta=3, l=1.5), group)
    assert (stab.satisfied, stab.achieved("l")) == ([True], [1.5])
    assert judge(wb.DeltaLDiversity(delta=3, l=1.51), group).satisfied == [False]


@pytest.mark.parametrize("variant", VARIANTS)
def test_figure_3_a_single_tuple_is_not_diverse(judge, variant):
    """The printed code accepts every class of one tuple."""
    assert judge(wb.DeltaLDiversity(delta=3, l=2, variant=variant), [5]).satisfied == [False]


def test_section_5_checking_code_misjudges_what_the_literal_definition_says(judge):
    """[1, 3, 9], δ = 3, l = 3/2: 3 is δ-similar to all three, so that l is 1."""
    literal = judge(wb.DeltaLDiversity(delta=3, l=1.5, variant="literal"), [1, 3, 9], [1, 3, 19])
    assert literal.satisfied == [False, True]
    assert literal.achieved("l") == [1, 1.5]
    assert literal.feasible == [False, True]
