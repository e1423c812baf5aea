"""Errata of Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-diversity. ICDE 2006."""

from __future__ import annotations

from wideberth_papers.errata.erratum import Erratum

ERRATA = (
    Erratum(
        "machanavajjhala2006",
        "rounding",
        "Section 4.2, Definition 4.1",
        "A group is entropy l-diverse if its entropy is at least log(l).",
        "l values equally often have that entropy exactly, and sums of rounded logarithms often "
        "fall short of it: the test has to be made in whole numbers.",
        "any(-sum(1 / l * log(1 / l) for _ in range(l)) < log(l) for l in (3, 6, 7, 10)) and "
        'satisfies("entropy-l:l=3", "abc")',
    ),
    Erratum(
        "machanavajjhala2006",
        "wrong",
        "Section 4.2, before Definition 4.3",
        "The definition amounts to (l - y + 1)-diversity of what is left without the y - 1 values "
        "that are more frequent and may be disclosed.",
        "Not if y exceeds l - 1: what is left has to be 1-diverse, which asks nothing, and the "
        "definition still asks something if c is below 1.",
        'satisfies("recursive-cl:c=0.5,l=1", "aaaaa") and not satisfies("recursive-cl:c=0.5,l=2,'
        'allowed=h", "hhhhhhaaaaa")',
    ),
    Erratum(
        "machanavajjhala2006",
        "wrong",
        "Section 4.2, remark after Definition 4.3",
        "If a block holds only values that may be disclosed, both conditions of the definition are "
        "met trivially.",
        "With fewer than l - 1 such values the first condition reads 0 < c · 0; that these blocks "
        "pass has to be said on its own.",
        'not 0 < 9 * sum([10][2:]) and satisfies("recursive-cl:c=9,l=3,allowed=h", "h" * 10)',
    ),
    Erratum(
        "machanavajjhala2006",
        "wrong",
        "Section 4.3, example",
        "A block in which a value occurs twice and two others once is recursive (2,3)-diverse.",
        "The inequality is strict, and 2 < 2 · 1 does not hold: it is so for every c above 2.",
        '[satisfies(f"recursive-cl:c={c},l=3", ["s1", "s1", "s2", "s3"]) for c in (2, 2.001)] == '
        "[False, True]",
    ),
    Erratum(
        "machanavajjhala2006",
        "gap",
        "Section 6, homogeneity attack",
        "Adult has 12 minimal 6-anonymous tables with one sensitive attribute and 9 with another, "
        "by the same five quasi-identifiers.",
        "Whether a table is 6-anonymous does not depend on the sensitive attribute, so both "
        "numbers cannot be right for the same rows and hierarchies.",
        'satisfies("k-anonymity:k=6", "xxxxxx") and satisfies("k-anonymity:k=6", "uvwxyz")',
    ),
    Erratum(
        "machanavajjhala2006",
        "wrong",
        "Section 6, homogeneity attack",
        "One of Adult's two salary classes is four times as frequent as the other.",
        "Three times: by the description that comes with Adult, 75.22 % and 24.78 % of the "
        "complete rows have them (quoted).",
        'F("3.0") < F("75.22") / F("24.78") < F("3.1")',
    ),
)
