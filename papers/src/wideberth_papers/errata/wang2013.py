"""Errata of Wang, Han, Wang, Wang: (l,e)-diversity. 2013."""

from __future__ import annotations

from wideberth_papers.errata.erratum import Erratum

ERRATA = (
    Erratum(
        "wang2013",
        "imprecise",
        "Abstract, with Section III",
        "The algorithm has linear complexity.",
        "For a given number m of buckets, by the paper's own bound (quoted) of n/l · m log m; if "
        "m grows with n it is n² log n, and twice the rows take more than four times as long.",
        "[2 * b * log(b) / (a * log(a)) > 4 for a, b in ((16, 16), (1000, 2000))] == [False, True]",
    ),
    Erratum(
        "wang2013",
        "gap",
        "Definition 2, with the abstract and Section III",
        "Two values are e-similar if their distance is e, and a group must hold no e-similar "
        "values.",
        "If their distance is at most e, as Definition 3 has it: at e = 3 also flu and pneumonia, "
        "at distance 1, must not meet.",
        'TREE.distance("Flu", "pneumonia") == 1 and not satisfies("l-e:l=2,e=3", ["Flu", '
        '"pneumonia"])',
    ),
    Erratum(
        "wang2013",
        "gap",
        "Definition 3",
        "Any two values of a class are more than e apart.",
        "It is left open whether a value may occur twice; the buckets of the algorithm exclude it, "
        "so tuples are meant.",
        'TREE.distance("Flu", "Flu") == 0 and not satisfies("l-e:l=2,e=1", ["Flu", "Flu", '
        '"Cancer"])',
    ),
    Erratum(
        "wang2013",
        "misprint",
        "Table IV",
        "The second class has the rows 36 M 13226 and 53 M 13482.",
        "Table I has neither: they are 42 M 13226 and 53 M 14862, t6 and t8 of Section III.",
        'datasets.wang2013_table4(as_printed=True).join(datasets.wang2013_table1(), on=["age", '
        '"sex", "zip"]).height == 7',
    ),
    Erratum(
        "wang2013",
        "gap",
        "Section III, Algorithm 1, step 1",
        "Records with e-similar values form buckets.",
        "Where all leaves are at one depth they do; otherwise similarity need not be transitive, "
        "and a record may belong to two buckets.",
        'UNEVEN.distance("a", "b") == UNEVEN.distance("b", "c") == 2 < UNEVEN.distance("a", "c")',
    ),
    Erratum(
        "wang2013",
        "gap",
        "Section III, Algorithm 1, step 3",
        "A remaining record joins its nearest class if it may; those that cannot be added to any "
        "class are suppressed. What is nearest is not defined.",
        "Read as the second half says, all classes are tried, and as few as possible suppressed: "
        "where the nearest class has a similar value another may not.",
        '[satisfies("l-e:l=2,e=1", [*g, "Carcinoid"]) for g in (["Flu", "Cancer"], ["Flu", '
        '"Gastritis"])] == [False, True]',
    ),
    Erratum(
        "wang2013",
        "wrong",
        "Section IV.A, example after formula 5",
        "The loss of a record among three equally likely values is (1/3 - 1)², about 0.44.",
        "That is the term at the true value; formula 5 also counts the two others: 2/3.",
        "(F(1, 3) - 1) ** 2 == F(4, 9) and F(4, 9) + 2 * F(1, 3) ** 2 == F(2, 3)",
    ),
    Erratum(
        "wang2013",
        "misprint",
        "Section IV.B, formula 7",
        "A distance is the ancestor's level minus those of the values.",
        "The signs are reversed, for levels count from the root; Definition 2 has it right.",
        'F((0 - 3) + (0 - 3), 2) == -TREE.distance("Flu", "Gastritis")',
    ),
    Erratum(
        "wang2013",
        "gap",
        "Section IV.B, formula 9",
        "The sum of all distances divided by the number of values tells how diverse a class is.",
        "There are more pairs than values, so it grows with the class: 3 for three values at "
        "distance 3, 4.5 for four.",
        "[F(comb(q, 2) * 3, q) for q in (3, 4)] == [3, F(9, 2)]",
    ),
    Erratum(
        "wang2013",
        "gap",
        "Section V",
        "Adult's education is made (l,e)-diverse for l = 4; suppressed records are not mentioned.",
        "10,501 of Adult's 32,561 (quoted) have one value, HS-grad, and a class takes one of them: "
        "from l = 4 on some must be suppressed.",
        "10501 > 32561 // 4",
    ),
    Erratum(
        "wang2013",
        "imprecise",
        "Section V.A",
        "(l,e)-diversity loses more than l-diversity, for it lowers the chance of reconstruction.",
        "By formula 5, l different values lose 1 - 1/l a record whatever they mean, as in Tables "
        "III and V. Only classes of other sizes can make a difference, which the paper does not "
        "mention.",
        "datasets.wang2013_table3().n_unique() == datasets.wang2013_table5().n_unique() == 9",
    ),
)
