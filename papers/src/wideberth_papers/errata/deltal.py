"""Errata of Zare-Mirakabad: (δ,l)-diversity. 2012."""

from __future__ import annotations

from wideberth_papers.errata.erratum import Erratum

ERRATA = (
    Erratum(
        "deltal",
        "wrong",
        "Abstract and Section 4",
        "(δ,l)-diversity is monotone, unlike (ε,m)-anonymity.",
        "As defined it is not; the paper's own counterexample to the other, with δ = ε/2, serves. "
        "To bound windows of length 2δ would be.",
        '[satisfies("delta-l:delta=7.5,l=2,variant=literal", g) for g in ([40, 60], [50, 80], '
        "[40, 50, 60, 80])] == [True, True, False]",
    ),
    Erratum(
        "deltal",
        "wrong",
        "Section 1, Figure 1",
        "Alice's salary is within [490K, 510K] with probability 1.",
        "With 3/4: her class also holds 1000K.",
        "sum(490 <= salary <= 510 for salary in [490, 500, 510, 1000]) == 3",
    ),
    Erratum(
        "deltal",
        "wrong",
        "Section 3.2 and Section 4",
        "All other principles are monotone.",
        "Neither m-invariance nor (ε,δ)-dissimilarity is.",
        '[[satisfies(p, g) for g in ("ab", "abab")] for p in ("m-uniqueness:m=2", "dissimilarity:'
        'epsilon=0,delta=1,k=2")] == [[True, False]] * 2',
    ),
    Erratum(
        "deltal",
        "wrong",
        "Sections 3.1 and 4",
        "It no longer calls {40, 60} safer than {40, 50, 60}.",
        "Not at δ = 15, but at δ = 7.5 it does.",
        '[satisfies("delta-l:delta=7.5,l=2,variant=literal", g) for g in ([40, 60], [40, 50, 60])] '
        "== [True, False]",
    ),
    Erratum(
        "deltal",
        "gap",
        "Section 4, Definition 5",
        "(δ,l)-diversity is proposed as another model than (ε,m)-anonymity.",
        "Intervals of two values overlap if these differ by at most 2δ, so it is absolute "
        "(ε,m)-anonymity with ε = 2δ, m = l.",
        'all(satisfies("delta-l:delta=0.5,l=2,variant=literal", g) == satisfies("epsilon-m:'
        'epsilon=1,m=2", g) for g in product(range(5), repeat=3))',
    ),
    Erratum(
        "deltal",
        "wrong",
        "Section 5, Figure 3",
        "The check returns true exactly if a class is (δ,l)-diverse.",
        "It returns true for every class of one tuple, whatever l.",
        'delta_l_checking([7], 1, 2) and not satisfies("delta-l:delta=1,l=2", [7])',
    ),
)
