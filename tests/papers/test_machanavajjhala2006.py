"""Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity. ICDE 2006."""

from fractions import Fraction
from itertools import combinations, product
from math import sqrt

import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets

QUASI = ["zip", "age", "nationality"]
HEART, VIRAL, CANCER = "Heart Disease", "Viral Infection", "Cancer"

FIGURE_1 = datasets.machanavajjhala2006_figure1()
FIGURE_2 = datasets.machanavajjhala2006_figure2()
FIGURE_3 = datasets.machanavajjhala2006_figure3()


def check(table, *principles):
    return wb.check(table, quasi=QUASI, sensitive="condition", principles=principles)


def achieved(table, principle):
    """Return what the whole table achieves, by parameter."""
    return check(table, principle).principles[0].achieved


def spelled(counts):
    """Return a group in which value i occurs counts[i] times."""
    return [f"s{i}" for i, count in enumerate(counts) for _ in range(count)]


# ---- the tables


def test_figures_2_and_3_generalise_figure_1():
    """Each row keeps its condition, and its published zip code covers its own."""
    for published in (FIGURE_2, FIGURE_3):
        both = published.join(FIGURE_1, on="row", suffix="_true", validate="1:1")
        assert both.height == 12
        assert (both["condition"] == both["condition_true"]).all()
        assert all(
            true.startswith(shown.rstrip("*"))
            for shown, true in both.select("zip", "zip_true").iter_rows()
        )


def test_figure_1_identifies_everyone():
    result = check(FIGURE_1, wb.KAnonymity(k=2))
    assert not result
    assert result.groups == 12
    assert result.principles[0].violating_rows == 12


def test_figure_2_is_4_anonymous():
    assert check(FIGURE_2, wb.KAnonymity(k=4))
    assert not check(FIGURE_2, wb.KAnonymity(k=5))
    assert achieved(FIGURE_2, wb.KAnonymity(k=4)) == {"k": 4}


@pytest.mark.parametrize("principle", ["distinct-l:l=2", "frequency-l:l=2", "entropy-l:l=2"])
def test_figure_2_third_group_is_homogeneous(principle):
    """Observation 1: k-anonymity can create groups that leak for lack of diversity."""
    report = check(FIGURE_2, principle).principles[0]
    assert (report.violating_groups >= 1, report.achieved) == (True, {"l": 1})
    worst = report.worst[0]
    assert worst.values == {"zip": "130**", "age": "3*", "nationality": "*"}
    assert (worst.rows, worst.achieved) == (4, {"l": 1})


def test_figure_3_is_3_diverse():
    """Distinct l = 3 in every group; the most frequent value has half of each."""
    assert check(FIGURE_3, wb.DistinctLDiversity(l=3), wb.KAnonymity(k=4))
    assert not check(FIGURE_3, wb.DistinctLDiversity(l=4))
    assert check(FIGURE_3, wb.FrequencyLDiversity(l=2))
    assert not check(FIGURE_3, wb.FrequencyLDiversity(l=2.01))


# ---- Section 1.1, attacks


def test_section_1_1_homogeneity_attack_on_figure_2():
    """Bob, 31, from 13053, is in the third group, so he has cancer: certainty, frequency l = 1."""
    group = FIGURE_2.filter(zip="130**", age="3*")
    assert group["row"].to_list() == [9, 10, 11, 12]
    assert achieved(group, wb.FrequencyLDiversity(l=1)) == {"l": 1}
    assert set(group["condition"]) == {CANCER}
    assert FIGURE_1.filter(age=31, zip="13053")["condition"].item() == CANCER


def test_section_1_1_background_knowledge_attack_on_figure_2():
    """Umeko, 21, Japanese, 13068: heart disease ruled out, only viral infection is left."""
    group = FIGURE_2.filter(zip="130**", age="<30")
    assert group["row"].to_list() == [1, 2, 3, 4]
    assert achieved(group, wb.FrequencyLDiversity(l=1)) == {"l": 2}
    left = group.filter(pl.col("condition") != HEART)
    assert achieved(left, wb.DistinctLDiversity(l=1)) == {"l": 1}
    assert set(left["condition"]) == {VIRAL}
    assert FIGURE_1.filter(age=21, nationality="Japanese")["condition"].item() == VIRAL


def test_section_3_2_negative_disclosure_of_figure_2():
    """Umeko does not have cancer: required in 1 % of every group, it is absent from hers."""
    wanted = wb.RecursiveCLDiversity(c=10, l=1, required=[CANCER], c2=1)
    failing = [g for g in check(FIGURE_2, wanted).principles[0].worst if not g.satisfied]
    assert [g.values["age"] for g in failing] == ["<30"]
    assert failing[0].achieved["c2"] == 0
    assert check(FIGURE_3, wanted)


def test_section_4_1_attacks_fail_on_figure_3():
    """Neither Bob's cancer nor, heart disease ruled out, Umeko's infection can be inferred."""
    bob = FIGURE_3.filter(zip="1305*")
    umeko = FIGURE_3.filter(zip="1306*")
    assert achieved(bob, wb.DistinctLDiversity(l=1)) == {"l": 3}
    left = umeko.filter(pl.col("condition") != HEART)
    assert set(left["condition"]) == {VIRAL, CANCER}
    assert achieved(left, wb.DistinctLDiversity(l=1)) == {"l": 2}


# ---- Definition 4.1, entropy


def test_definition_4_1_figure_3_is_entropy_2_8_diverse():
    """exp(H) of counts 1, 1, 2 is 2^(3/2) = 2.828…; the paper truncates it to 2.8."""
    assert check(FIGURE_3, wb.EntropyLDiversity(l=2.8))
    assert not check(FIGURE_3, wb.EntropyLDiversity(l=3))
    assert achieved(FIGURE_3, wb.EntropyLDiversity(l=2.8))["l"] == pytest.approx(2 * sqrt(2))


def test_definition_4_1_is_exact_at_the_square_root_of_8():
    """l = 2√2 is irrational: neighbours to 17 decimals, closer than doubles, fall either side."""
    below, above = Fraction("2.82842712474619009"), Fraction("2.82842712474619010")
    assert below**2 < 8 < above**2
    assert check(FIGURE_3, wb.EntropyLDiversity(l=below))
    assert not check(FIGURE_3, wb.EntropyLDiversity(l=above))


@pytest.mark.parametrize("wanted", range(2, 60))
@pytest.mark.parametrize("times", [1, 3])
def test_definition_4_1_accepts_uniform_groups(judge, wanted, times):
    """l values equally often are entropy l-diverse, which rounded logarithms often deny."""
    uniform = spelled([times] * wanted)
    assert judge(wb.EntropyLDiversity(l=wanted), uniform).satisfied == [True]
    assert judge(wb.EntropyLDiversity(l=wanted + Fraction(1, 10**12)), uniform).satisfied == [False]


def test_section_4_2_entropy_needs_the_whole_table_to_be_diverse(judge):
    """If 90 % have "heart problems", no table can be entropy 2-diverse, whatever its groups."""
    assert judge(wb.EntropyLDiversity(l=2), spelled([90, 5, 5])).satisfied == [False]
    assert judge(wb.RecursiveCLDiversity(c=10, l=2), spelled([90, 5, 5])).satisfied == [True]


@pytest.mark.parametrize(("one", "other"), [((1, 1, 2), (5, 0, 1)), ((3, 3), (0, 1, 7))])
def test_section_4_2_entropy_of_a_block_is_at_least_that_of_a_part(judge, one, other):
    parts = judge(wb.EntropyLDiversity(l=1), spelled(one), spelled(other)).achieved("l")
    union = judge(wb.EntropyLDiversity(l=1), spelled(one) + spelled(other)).achieved("l")
    assert union[0] >= min(parts)


def test_definition_4_1_implies_distinct_l(judge):
    """Every entropy l-diverse block has at least l distinct values."""
    blocks = [spelled(counts) for counts in product(range(1, 4), repeat=3)]
    by_entropy = judge(wb.EntropyLDiversity(l=1), *blocks).achieved("l")
    distinct = judge(wb.DistinctLDiversity(l=1), *blocks).achieved("l")
    assert all(e <= d + 1e-9 for e, d in zip(by_entropy, distinct, strict=True))


# ---- Definitions 4.2 to 4.4, recursive


@pytest.mark.parametrize(
    ("counts", "wanted", "least_c"),
    [
        ((1, 1, 2), 2, 1),  # 2 < c (1 + 1)
        ((1, 1, 2), 3, 2),  # 2 < c · 1
        ((9, 1), 2, 9),
        ((4, 1), 2, 4),  # Sec. 6: Salary Class, one value four times as frequent as the other
        ((3, 2, 2, 1), 3, 1),
    ],
)
def test_definition_4_2_needs_c_above_the_ratio(judge, counts, wanted, least_c):
    """r1 < c (r_l + … + r_m), and "less" means less."""
    block = spelled(counts)
    at = judge(wb.RecursiveCLDiversity(c=least_c, l=wanted), block)
    assert at.satisfied == [False]
    assert at.achieved("c") == [least_c]
    above = wb.RecursiveCLDiversity(c=least_c + Fraction(1, 10**9), l=wanted)
    assert judge(above, block).satisfied == [True]


def test_definition_4_2_1_diversity_is_always_satisfied(judge):
    assert judge(wb.RecursiveCLDiversity(c=0.001, l=1), ["x"] * 9).satisfied == [True]


def test_definition_4_2_fewer_than_l_values_never_suffice(judge):
    assert judge(wb.RecursiveCLDiversity(c=10**9, l=3), spelled([5, 5])).satisfied == [False]


def test_definition_4_2_on_figure_3():
    assert check(FIGURE_3, wb.RecursiveCLDiversity(c=2.001, l=3))
    assert not check(FIGURE_3, wb.RecursiveCLDiversity(c=2, l=3))


def test_definition_4_3_tie_between_allowed_and_forbidden(judge):
    """{h:5, a:5}, Y = {h}: a is half of the block, which c = 1, l = 2 does not allow."""
    block = ["h"] * 5 + ["a"] * 5
    strict = wb.RecursiveCLDiversity(c=1, l=2, allowed=["h"])
    assert judge(strict, block).satisfied == [False]
    assert judge(strict, [*block, "h"]).satisfied == [True]


def test_definition_4_3_disclosing_allowed_values_is_no_harm(judge):
    """r_y = 0: a block of nothing but values in Y trivially satisfies it."""
    healthy = ["Healthy"] * 10
    assert judge(wb.RecursiveCLDiversity(c=1, l=2, allowed=["Healthy"]), healthy).satisfied == [
        True
    ]
    assert judge(wb.RecursiveCLDiversity(c=1, l=2), healthy).satisfied == [False]


def test_definition_4_3_above_c_1_a_value_past_rank_l_1_passes(judge):
    """The remark after Def. 4.3: if c > 1, the second condition is just y > l - 1."""
    block = ["h"] * 9 + ["a"] * 8 + ["b"]
    assert judge(wb.RecursiveCLDiversity(c=1.01, l=2, allowed=["h"]), block).satisfied == [True]


def test_definition_4_3_literally(judge):
    """One formula replaces the two cases of the definition; here they are, on all small blocks."""
    names = "abcd"
    blocks = [
        [v for v, count in zip(names, counts, strict=True) for _ in range(count)]
        for counts in product(range(4), repeat=4)
        if any(counts)
    ]
    for many, wanted, c in product(range(4), range(1, 5), (Fraction(1, 2), 1, 2)):
        for allowed in combinations(names, many):
            principle = wb.RecursiveCLDiversity(c=c, l=wanted, allowed=allowed)
            expected = [_definition_4_3(block, set(allowed), wanted, c) for block in blocks]
            assert judge(principle, *blocks).satisfied == expected


def _definition_4_3(block, allowed, wanted, c):
    ranked = sorted(((block.count(v), v) for v in set(block)), reverse=True)
    r = [0] + [count for count, _ in ranked]  # from r[1], as printed
    y = next((i for i, (_, v) in enumerate(ranked, start=1) if v not in allowed), None)
    if wanted == 1 or y is None:
        return True
    if y <= wanted - 1:
        return r[y] < c * sum(r[wanted:])
    return r[y] < c * (sum(r[wanted - 1 : y]) + sum(r[y + 1 :]))


def test_definition_4_4_values_that_must_not_be_ruled_out(judge):
    """c2 percent of every block, each value of W; an absent value counts as 0."""
    block = ["flu"] * 5 + ["cold"] * 4 + ["ulcer"]
    exactly = wb.RecursiveCLDiversity(c=2, l=2, required=["ulcer", "cold"], c2=10)
    more = wb.RecursiveCLDiversity(c=2, l=2, required=["ulcer", "cold"], c2=10.1)
    absent = wb.RecursiveCLDiversity(c=2, l=2, required=["ulcer", "ebola"], c2=0.1)
    assert judge(exactly, block).satisfied == [True]
    assert judge(exactly, block).achieved("c2") == [10]
    assert judge(more, block).satisfied == [False]
    assert judge(absent, block).satisfied == [False]


# ---- Section 4.3, several sensitive attributes

BLOCK = pl.DataFrame(
    {"q": ["q*"] * 4, "s": ["s1", "s1", "s2", "s3"], "v": ["v1", "v2", "v3", "v3"]}
)


@pytest.mark.parametrize("attribute", ["s", "v"])
def test_section_4_3_block_is_3_diverse_in_each_attribute(attribute):
    alone = wb.DistinctLDiversity(l=3)
    assert wb.check(BLOCK, quasi="q", sensitive=attribute, principles=alone)


def test_section_4_3_block_is_not_quite_recursive_2_3_diverse():
    """The paper says it is; by Def. 4.2's strict inequality, 2 < 2 · 1, it needs c above 2."""
    for c, verdict in [(2, False), (Fraction(2001, 1000), True)]:
        principle = wb.RecursiveCLDiversity(c=c, l=3)
        result = wb.check(BLOCK, quasi="q", sensitive="s", principles=principle)
        assert result.satisfied is verdict


def test_section_4_3_one_piece_of_knowledge_gives_the_other_attribute_away():
    """Not s1, therefore v3."""
    left = BLOCK.filter(pl.col("s") != "s1")
    known = wb.check(left, quasi="q", sensitive="v", principles=wb.FrequencyLDiversity(l=1))
    assert known.principles[0].achieved == {"l": 1}


@pytest.mark.parametrize("form", ["distinct", "frequency", "entropy"])
def test_definition_4_5_finds_the_block_1_diverse(form):
    """With the other attribute as a quasi-identifier, s2 alone goes with v3, so l is 1."""
    both = {"quasi": "q", "sensitive": ["s", "v"]}
    result = wb.check(BLOCK, **both, principles=wb.MultiAttributeLDiversity(l=2, form=form))
    assert not result
    assert result.principles[0].achieved == {"l": 1}
    assert wb.check(BLOCK, **both, principles=wb.MultiAttributeLDiversity(l=1, form=form))


def test_definition_4_5_with_recursive_diversity():
    """No c makes up for a single value."""
    principle = wb.MultiAttributeLDiversity(l=2, form="recursive", c=10**6)
    assert not wb.check(BLOCK, quasi="q", sensitive=["s", "v"], principles=principle)


def test_definition_4_5_accepts_a_block_with_all_combinations():
    block = pl.DataFrame(list(product(["q*"], "ab", "xyz")), schema=["q", "s", "v"], orient="row")
    both = {"quasi": "q", "sensitive": ["s", "v"]}
    assert wb.check(block, **both, principles="multi-attribute-l:l=2")
    assert not wb.check(block, **both, principles="multi-attribute-l:l=3")
    alone = [wb.DistinctLDiversity(on="s", l=2), wb.DistinctLDiversity(on="v", l=3)]
    assert wb.check(block, **both, principles=alone)


# ---- Theorems 5.2 and 5.3, monotonicity


def test_theorem_5_1_bayes_optimal_privacy_is_not_monotone():
    """Two blocks that tell nothing, of people who differ in their priors; united they do.

    Both kinds of people are equally frequent where the priors are known, so that f(s|q*) of the
    union is the mean of theirs, whatever the numbers of rows.
    """
    half, tenth = Fraction(1, 2), Fraction(1, 10)
    one, other = [half, half], [9 * tenth, tenth]
    assert wb.posterior([1, 1], one) == one
    assert wb.posterior([9, 1], other) == other
    mean = [(a + b) / 2 for a, b in zip(one, other, strict=True)]
    united = wb.posterior([10, 2], one, mean)
    assert united == [Fraction(15, 22), Fraction(7, 22)]
    # A bound that both blocks keep, the union breaks: nothing up to 1/2 becomes likely.
    assert max(wb.posterior([1, 1], one)) <= half < united[0]


def test_theorem_5_1_does_not_concern_a_prior_that_all_share():
    """With one f(s) for everybody the belief is linear in the counts, and unions keep a bound."""
    weights = [Fraction(1, 6), Fraction(2, 6), Fraction(3, 6)]
    blocks = [counts for counts in product(range(3), repeat=3) if any(counts)]
    for one, two in product(blocks, repeat=2):
        beliefs = [wb.posterior(counts, weights, [1, 1, 1]) for counts in (one, two)]
        union = [a + b for a, b in zip(one, two, strict=True)]
        for s, belief in enumerate(wb.posterior(union, weights, [1, 1, 1])):
            assert belief <= max(beliefs[0][s], beliefs[1][s])


@pytest.mark.parametrize(
    "principle",
    [
        wb.DistinctLDiversity(l=2),
        wb.FrequencyLDiversity(l=2),
        wb.EntropyLDiversity(l=2),
        wb.RecursiveCLDiversity(c=1.5, l=2),
        wb.RecursiveCLDiversity(c=1.5, l=3, allowed=["s0"], required=["s1"], c2=20),
    ],
    ids=str,
)
def test_theorems_5_2_and_5_3_unions_of_satisfying_blocks_satisfy(judge, principle):
    blocks = [spelled(counts) for counts in product(range(4), repeat=3) if any(counts)]
    verdicts = judge(principle, *blocks).satisfied
    good = [block for block, verdict in zip(blocks, verdicts, strict=True) if verdict]
    assert principle.monotone
    assert len(good) > 5
    unions = [a + b for a, b in combinations(good, 2)]
    assert all(judge(principle, *unions).satisfied)
