"""Errata of Li, Tao, Xiao: Preservation of proximity privacy in numerical data. SIGMOD 2008."""

from __future__ import annotations

from wideberth_papers.errata.erratum import Erratum

ERRATA = (
    Erratum(
        "li2008",
        "imprecise",
        "Section 2.1, Definition 3",
        "An adversary who knows the victim's group is called the unfortunate scenario.",
        "It need not be the worst one, which the paper does not say either. As the principle is "
        "not monotone, to face two candidate groups can be worse: 1/2 if the "
        "group of 50 is known, 3/4 if both fit.",
        '[satisfies("epsilon-m:epsilon=15,m=2", g) for g in ([40, 60], [50, 80], [40, 60, 50, '
        "80])] == [True, True, False]",
    ),
    Erratum(
        "li2008",
        "gap",
        "Sections 3.1.2 and 3.1.3",
        "Variance control is monotone; which variance it bounds is not said.",
        "The variance that divides by N is; the one that divides by N - 1 is not.",
        "variance([0, 1]) > variance([0, 1, 0, 1]) and pvariance([0, 1]) == pvariance([0, 1, 0, "
        "1])",
    ),
    Erratum(
        "li2008",
        "wrong",
        "Sections 3.1.3 and 5.1",
        "All principles surveyed before are monotone, m-invariance among them.",
        "A principle that wants all values of a group to differ is not: two groups may share a "
        "value.",
        'satisfies("m-uniqueness:m=2", "ab") and not satisfies("m-uniqueness:m=2", "abab")',
    ),
    Erratum(
        "li2008",
        "wrong",
        "Section 3.2, example of perturbation",
        "With ε = 0.1 a neighbourhood has length 0.1, and m = 4 needs a retention below 7 %.",
        "It reaches 0.1 to either side: length 0.2 gives 6.25 %, and 0 for m = 5 as the paper "
        "says; length 0.1 would give 16.7 %.",
        'retention("0.2", 4) == F("0.0625") and retention("0.2", 5) == 0 and retention("0.1", 4) '
        "== F(1, 6)",
    ),
    Erratum(
        "li2008",
        "rounding",
        "Section 4.1, Lemma 1",
        "Logarithms reduce relative to absolute neighborhoods.",
        "They do, in real numbers. But 12,100 is exactly 10 % more than 11,000, and rounded "
        "logarithms put it outside the neighborhood.",
        'log2(12100) - log2(11000) > log2(1.1) and F(12100) == F(11000) * F("1.1")',
    ),
    Erratum(
        "li2008",
        "gap",
        "Section 4.1, with Definition 6",
        "The reduction sets e1 to the logarithm of 1/(1 - ε), and ε may be 1.",
        "At ε = 1 there is no such number; any smaller positive value is then in a larger one's "
        "neighbourhood, and no m above 1 can be achieved.",
        '1 - F(1) == 0 and not feasible("epsilon-m:epsilon=100%,m=2", [1, 9, 99, 999])',
    ),
    Erratum(
        "li2008",
        "misprint",
        "Section 4.2, running example",
        "With e1 = 20, the left covering set of the salary 1,020 is sought in [0, 1020].",
        "In [1000, 1020]; the set is the one printed.",
        "SALARIES[2] - 20 == 1000 and [s for s in SALARIES if 1000 <= s <= 1020] == SALARIES[:3]",
    ),
    Erratum(
        "li2008",
        "misprint",
        "Section 4.2, proof of Lemma 2",
        "|G| times α(G) equals the sum of |G1| α(G1) and |G2| α(G2).",
        "It is at most that sum, which is what the next step needs: 3 and 2 + 3 in the running "
        "example.",
        "maxsize(SALARIES, 10000) < maxsize(SALARIES[:2], 10000) + maxsize(SALARIES[2:], 10000)",
    ),
    Erratum(
        "li2008",
        "misprint",
        "Section 4.3, before Theorem 2",
        "The tuples are numbered from the largest sensitive value.",
        "From the smallest, as in the example and in Figure 2; otherwise the bound of the theorem "
        "is negative.",
        "min(b - a for a, b in zip(SALARIES[::-1], SALARIES[::-1][2:])) < 0",
    ),
    Erratum(
        "li2008",
        "misprint",
        "Section 4.3, proof of Theorem 2, step 2",
        "Tuples h ranks apart are not covered by their own neighbourhoods.",
        "Not by each other's; every tuple is in its own. In the running example h is 3, and no "
        "salary is near the third after it.",
        "maxsize(SALARIES, 10000) == 3 and all(b - a > 10000 for a, b in zip(SALARIES, "
        "SALARIES[3:]))",
    ),
    Erratum(
        "li2008",
        "misprint",
        "Section 4.3, running example",
        "The second difference is 14,900.",
        "16,000 - 1,010 is 14,990; the minimum of 20 is right.",
        "SALARIES[3] - SALARIES[1] == 14990 and SALARIES[2] - SALARIES[0] == 20",
    ),
    Erratum(
        "li2008",
        "rounding",
        "Section 4.4, with Section 4.1",
        "Whether relative (ε,m)-anonymity can be achieved is found on the logarithms.",
        "Rounded, they call 750 and 1,000 dissimilar at ε = 25 %, and so two tuples 2-anonymous "
        "that are not.",
        'log2(1000) - log2(750) > log2(1 / (1 - 0.25)) and not feasible("epsilon-m:epsilon=25%,'
        'm=2", [750, 1000])',
    ),
    Erratum(
        "li2008",
        "gap",
        "Section 5.2, splitting",
        "A bucket is cut into the tuples at most the median and those above it.",
        "None is above if the median is the largest value, as it often is of few categories; a cut "
        "below it may be possible.",
        "max([1, 2, 2, 2]) <= median([1, 2, 2, 2]) and min([1, 2, 2, 2]) < 2",
    ),
    Erratum(
        "li2008",
        "wrong",
        "Section 5.2, Figure 3",
        "The check returns true exactly if a bucket is anonymous.",
        "It returns true for every bucket of one tuple, whose risk is 1; for larger ones it is "
        "right.",
        'anonymity_check([7], 1, 1, 2) and not satisfies("epsilon-m:epsilon=1,m=2", [7])',
    ),
    Erratum(
        "li2008",
        "choice",
        "Section 5.2, partitioning",
        "A bucket is dealt to maxsize groups.",
        "That is sound. Any number up to |G|/m is as safe, and the largest usually loses least: "
        "on Table 1a, four groups less than three.",
        'span(deal(AGES, 4)) < span(deal(AGES, 3)) and all(satisfies("epsilon-m:e1=20,e2=10000,'
        'm=2", g) for g in deal(SALARIES, 4))',
    ),
)
