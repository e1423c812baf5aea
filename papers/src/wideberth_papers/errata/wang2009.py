"""Errata of Wang, Meng, Bamba, Liu, Pu: A general proximity privacy principle. ICDE 2009."""

from __future__ import annotations

from wideberth_papers.errata.erratum import Erratum

ERRATA = (
    Erratum(
        "wang2009",
        "wrong",
        "Section II.A",
        "To assume that the adversary knows the victim's group is to assume the worst case.",
        "To face two candidate groups can be worse: two groups without risk, mixed, leave 50 "
        "similar to two of three others.",
        '[satisfies("dissimilarity:epsilon=15,delta=1,k=2", g) for g in ([40, 60], [50, 80])] == '
        "[True, True] and risk([40, 60, 50, 80], 15) == F(2, 3)",
    ),
    Erratum(
        "wang2009",
        "rounding",
        "Section II.B, Example 4",
        "At ε = 0.1 the fourth value is in the neighbourhood of the second.",
        "It is, at its very end; a plain sum of floating-point numbers puts it outside.",
        "sum(abs(a - b) for a, b in zip((0.4, 0.3, 0.2, 0.1), (0.3, 0.4, 0.2, 0.1))) / 2 > 0.1",
    ),
    Erratum(
        "wang2009",
        "imprecise",
        "Section III.A, before Theorem 1",
        "A partition is free of proximity breaches if and only if it is (ε,δ)-dissimilar.",
        "By Section II.B that would be a risk of 0, which needs δ = 1. The theorem that follows "
        "says what is meant: a risk of at most 1 - δ.",
        'satisfies("dissimilarity:epsilon=1,delta=0.5,k=2", [1, 2, 9]) and risk([1, 2, 9], 1) > 0',
    ),
    Erratum(
        "wang2009",
        "wrong",
        "Section III.A, Theorem 1",
        "The risk is at most 1 - δ if and only if the partition is (ε,δ)-dissimilar.",
        "A group of one tuple is dissimilar to δ · 0 others, but its risk is defined as 1: it has "
        "to be excluded, or counted as failing.",
        "0 >= F(1, 2) * (1 - 1) and risk([7], 0) > 1 - F(1, 2)",
    ),
    Erratum(
        "wang2009",
        "misprint",
        "Section III.A, proof of Theorem 1",
        "A risk of at least 1 - δ violates (ε,δ)-dissimilarity.",
        "A risk above 1 - δ does; one of exactly 1 - δ is allowed.",
        'risk([1, 1, 5, 9, 13], 0) == 1 - F("0.75") and satisfies("dissimilarity:epsilon=0,'
        'delta=0.75,k=2", [1, 1, 5, 9, 13])',
    ),
    Erratum(
        "wang2009",
        "wrong",
        "Section III.B.1",
        "l-diversity and its variants are special forms of (ε,δ)^k-dissimilarity.",
        "Distinct l-diversity is not: as a group grows, no δ above 0 is left for it, and δ = 0 "
        "asks nothing of the values.",
        '[satisfies(p, "a" * 199 + "b") for p in ("distinct-l:l=2", "dissimilarity:epsilon=0,'
        'delta=0.01,k=2")] == [True, False]',
    ),
    Erratum(
        "wang2009",
        "imprecise",
        "Section III.B.1",
        "(α,k)-anonymity is equivalent to ε = 0 and 1 - δ ≈ α.",
        "It implies that form with 1 - δ = α. Conversely a value may have α + (1 - α)/N of a group "
        "of N, 2/3 of three at α = 1/2; in large groups the difference vanishes, as ≈ says, but no "
        "δ makes both the same for all sizes if α is below 1.",
        '[satisfies(p, "aab") for p in ("dissimilarity:epsilon=0,delta=0.5,k=2", "alpha-k:alpha='
        '0.5,k=2")] == [True, False] and F(1, 2) + F(1, 2) / 3 == F(2, 3)',
    ),
    Erratum(
        "wang2009",
        "imprecise",
        "Section III.B.2",
        "(ε,m)-anonymity is a special form of it for numbers, with 1/m ≈ 1 - δ.",
        "With absolute ε it implies the form with k = m and 1 - δ = 1/m. Conversely a neighborhood "
        "may have 1/m + (1 - 1/m)/N of a group of N, 3/7 of seven at m = 3, and 1/m at most only "
        "if δ is (1 - 1/m)/(1 - 1/k) or more, k >= m.",
        '[satisfies(p, [1, 1, 1, 5, 7, 11, 12]) for p in ("dissimilarity:epsilon=1,delta=2/3,k=3", '
        '"epsilon-m:epsilon=1,m=3")] == [True, False]',
    ),
    Erratum(
        "wang2009",
        "gap",
        "Section IV.A, proof of Theorem 2",
        "With δ = 1, m groups need a proper coloring with m colors, m ≤ ⌊n/k⌋; to find one is "
        "NP-complete, which implies that the problem is NP-hard.",
        "A coloring is necessary, as the paper says, but does not suffice: one color may have "
        "fewer than k rows, as for one word near three others (two colors, k = 2). The theorem "
        "holds: with (m - 1)·n rows near nobody added, and k = n, both are the same.",
        'satisfies(APART, ["baa", "aba", "aab"]) and not feasible(APART, ["aaa", "baa", "aba", '
        '"aab"])',
    ),
)
