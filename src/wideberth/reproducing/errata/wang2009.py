"""Errata of Wang, Meng, Bamba, Liu, Pu: A general proximity privacy principle. ICDE 2009."""

from __future__ import annotations

from wideberth.reproducing.errata.erratum import Erratum

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
        "gap",
        "Section II.B, Example 4",
        "At ε = 0.1 the fourth value is in the neighbourhood of the second.",
        "It is, at its very end; a plain sum of floating-point numbers puts it outside.",
        "sum(abs(a - b) for a, b in zip((0.4, 0.3, 0.2, 0.1), (0.3, 0.4, 0.2, 0.1))) / 2 > 0.1",
    ),
    Erratum(
        "wang2009",
        "wrong",
        "Section III.A, before Theorem 1",
        "A partition is free of proximity breaches if and only if it is (ε,δ)-dissimilar.",
        "It is free of them, by Section II.B, if its risk is 0, which needs δ = 1; otherwise the "
        "risk is bounded by 1 - δ.",
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
        "wrong",
        "Section III.B.1",
        "(α,k)-anonymity is equivalent to ε = 0 and 1 - δ ≈ α.",
        "In a group of N, 1 - δ must be (αN - 1)/(N - 1), so no δ fits all sizes; with 1 - δ = α "
        "a value may have more than α of a group.",
        'satisfies("dissimilarity:epsilon=0,delta=0.5,k=2", "aab") and not satisfies("alpha-k:'
        'alpha=0.5,k=2", "aab")',
    ),
    Erratum(
        "wang2009",
        "wrong",
        "Section III.B.2",
        "(ε,m)-anonymity is the special form with 1/m ≈ 1 - δ.",
        "It implies that form with k = m, but not conversely: here 3 of 7 are within ε, more than "
        "1/m = 1/3.",
        '[satisfies(p, [1, 1, 1, 5, 7, 11, 12]) for p in ("dissimilarity:epsilon=1,delta=2/3,k=3", '
        '"epsilon-m:epsilon=1,m=3")] == [True, False]',
    ),
    Erratum(
        "wang2009",
        "wrong",
        "Section IV.A, proof of Theorem 2",
        "With δ = 1, whether the principle can be satisfied is whether ⌊n/k⌋ colours suffice.",
        "Colours may suffice where some class is smaller than k, as for one word near three others "
        "(two colours, k = 2). The theorem holds: with rows near nobody, both are the same.",
        'satisfies(APART, ["baa", "aba", "aab"]) and not feasible(APART, ["aaa", "baa", "aba", '
        '"aab"])',
    ),
)
