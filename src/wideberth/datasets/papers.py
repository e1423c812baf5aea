"""The tables printed in the papers, each named after its paper and its number there.

Generalised values are text, as printed; `row` counts tuples where the paper numbers them. All the
people are fictitious.

References
----------
- Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam: l-Diversity. ICDE 2006.
- Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008.
- Wang, Meng, Bamba, Liu, Pu: A general proximity privacy principle. ICDE 2009.
- Zare-Mirakabad: (δ,l)-diversity. 2012.
- Wang, Han, Wang, Wang: (l,e)-Diversity. 2013.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from wideberth.hierarchy import Hierarchy, from_rows

_HEART, _VIRAL, _CANCER = "Heart Disease", "Viral Infection", "Cancer"


def machanavajjhala2006_figure1() -> pl.DataFrame:
    """Figure 1 of Machanavajjhala et al. 2006: the inpatient microdata.

    Bob, whom the homogeneity attack is aimed at, is row 9. Umeko, the 21-year-old Japanese of
    the background knowledge attack, is row 3.

    Examples
    --------
    >>> machanavajjhala2006_figure1().row(8)
    (9, '13053', 31, 'American', 'Cancer')
    """
    american, indian, japanese, russian = "American", "Indian", "Japanese", "Russian"
    zips = "13053 13068 13068 13053 14853 14853 14850 14850 13053 13053 13068 13068"
    return pl.DataFrame(
        {
            "row": range(1, 13),
            "zip": zips.split(),
            "age": [28, 29, 21, 23, 50, 55, 47, 49, 31, 37, 36, 35],
            "nationality": [
                *(russian, american, japanese, american),
                *(indian, russian, american, american),
                *(american, indian, japanese, american),
            ],
            "condition": [
                *(_HEART, _HEART, _VIRAL, _VIRAL),
                *(_CANCER, _HEART, _VIRAL, _VIRAL),
                *(_CANCER, _CANCER, _CANCER, _CANCER),
            ],
        }
    )


def machanavajjhala2006_figure2() -> pl.DataFrame:
    """Figure 2 of Machanavajjhala et al. 2006: the inpatients, 4-anonymous.

    All of the third group have cancer.

    Examples
    --------
    >>> machanavajjhala2006_figure2().row(8)
    (9, '130**', '3*', '*', 'Cancer')
    """
    return machanavajjhala2006_figure1().with_columns(
        zip=_blocks("130**", "1485*", "130**", size=4),
        age=_blocks("<30", ">=40", "3*", size=4),
        nationality=pl.lit("*"),
    )


def machanavajjhala2006_figure3() -> pl.DataFrame:
    """Figure 3 of Machanavajjhala et al. 2006: the inpatients, 3-diverse; `row` refers to Figure 1.

    Examples
    --------
    >>> machanavajjhala2006_figure3().row(2)
    (9, '1305*', '<=40', '*', 'Cancer')
    """
    microdata = machanavajjhala2006_figure1()
    return microdata[[0, 3, 8, 9, 4, 5, 6, 7, 1, 2, 10, 11]].with_columns(
        zip=_blocks("1305*", "1485*", "1306*", size=4),
        age=_blocks("<=40", ">40", "<=40", size=4),
        nationality=pl.lit("*"),
    )


def li2008_table1a() -> pl.DataFrame:
    """Table 1a of Li et al. 2008: the microdata of a company. The first row is Andy's.

    The running example of its Section 4 numbers the tuples by ascending salary instead.

    Examples
    --------
    >>> li2008_table1a().row(0)
    (17, '12k', 1000)
    """
    return pl.DataFrame(
        {
            "age": [17, 19, 20, 24, 29, 34, 39, 45],
            "zip": ["12k", "13k", "14k", "16k", "21k", "24k", "36k", "39k"],
            "salary": [1000, 1010, 1020, 50000, 16000, 24000, 33000, 31000],
        }
    )


def li2008_table1b() -> pl.DataFrame:
    """Table 1b of Li et al. 2008: Table 1a generalised into three groups.

    Three of the four salaries in the first group lie close together.

    Examples
    --------
    >>> li2008_table1b().row(0)
    (1, '[17,24]', '[12k,16k]', 1000)
    """
    return pl.DataFrame(
        {
            "group": [1] * 4 + [2] * 2 + [3] * 2,
            "age": ["[17,24]"] * 4 + ["[29,34]"] * 2 + ["[39,45]"] * 2,
            "zip": ["[12k,16k]"] * 4 + ["[21k,24k]"] * 2 + ["[36k,39k]"] * 2,
            "salary": li2008_table1a()["salary"],
        }
    )


def wang2009_table1() -> pl.DataFrame:
    """Table I of Wang et al. 2009: diseases that are uncertain, each a distribution over four.

    Together the columns `flu`, `asthma`, `bronchitis` and `none` are the sensitive attribute.
    Row 1 is Kevin's.

    Examples
    --------
    >>> wang2009_table1().row(0)
    (1, '18-30', '12-17k', 0.5, 0.3, 0.1, 0.1, 1)
    """
    return pl.DataFrame(
        {
            "row": range(1, 9),
            "age": ["18-30"] * 5 + ["32-40"] * 3,
            "zip": ["12-17k"] * 5 + ["22-30k"] * 3,
            "flu": [0.5, 0.4, 0.4, 0.3, 0.2, 0.2, 0.8, 0.3],
            "asthma": [0.3, 0.3, 0.2, 0.4, 0.7, 0.6, 0.1, 0.1],
            "bronchitis": [0.1, 0.2, 0.2, 0.2, 0.1, 0.2, 0.0, 0.5],
            "none": [0.1, 0.1, 0.2, 0.1, 0.0, 0.0, 0.1, 0.1],
            "group": [1] * 5 + [2] * 3,
        }
    )


def zaremirakabad2012_figure1() -> pl.DataFrame:
    """Figure 1 of Zare-Mirakabad 2012: employees' data, 3-diverse; salaries in thousands.

    Examples
    --------
    >>> zaremirakabad2012_figure1().row(0)
    ('[17,25]', '11***', 490)
    """
    return pl.DataFrame(
        {
            "age": ["[17,25]"] * 4 + ["[26,35]"] * 3 + ["[36-45]"] * 3,
            "zip": ["11***"] * 10,
            "salary": [490, 500, 510, 1000, 500, 600, 700, 1000, 510, 680],
        }
    )


def zaremirakabad2012_figure2() -> pl.DataFrame:
    """Figure 2 of Zare-Mirakabad 2012: two groups of numbers, used by its Examples 2 and 3.

    Examples
    --------
    >>> zaremirakabad2012_figure2().row(0)
    ('G1', 40)
    """
    return pl.DataFrame({"group": ["G1"] * 2 + ["G2"] * 3, "s": [40, 60, 40, 50, 60]})


def wang2013_table1() -> pl.DataFrame:
    """Table I of Wang et al. 2013: the original table.

    Examples
    --------
    >>> wang2013_table1().row(0)
    ('t1', 'Alice', 23, 'F', '13010', 'Flu')
    """
    names = "Alice Bill Bob Sophia Lucy Steven Tom Paul Ellen"
    zips = "13010 13050 13020 13220 13221 13226 14850 14862 14802"
    return pl.DataFrame(
        {
            "tuple": [f"t{i}" for i in range(1, 10)],
            "name": names.split(),
            "age": [23, 25, 30, 36, 39, 42, 52, 53, 61],
            "sex": list("FFMFMMFMM"),
            "zip": zips.split(),
            "disease": [
                *("Flu", "pneumonia", "Flu"),
                *("Carcinoid", "Cancer", "Cancer"),
                *("Gastric ulcer", "Dyspepsia", "Gastritis"),
            ],
        }
    )


def wang2013_table2() -> pl.DataFrame:
    """Table II of Wang et al. 2013: the quasi-identifiers of a 3-diverse anatomy of Table I.

    The paper heads the column `group` "Ground-ID".

    Examples
    --------
    >>> wang2013_table2().row(2)
    (39, 'M', '13221', 1)
    """
    return _anatomised(["age", "sex", "zip"], [1, 2, 5, 3, 4, 6, 7, 8, 9])


def wang2013_table3() -> pl.DataFrame:
    """Table III of Wang et al. 2013: the sensitive attribute table that goes with Table II.

    Examples
    --------
    >>> wang2013_table3()["disease"].to_list()[6:]
    ['Gastric ulcer', 'Dyspepsia', 'Gastritis']
    """
    return _anatomised(["disease"], [1, 2, 5, 3, 4, 6, 7, 8, 9]).select("group", "disease")


def wang2013_table4(*, as_printed: bool = False) -> pl.DataFrame:
    """Table IV of Wang et al. 2013: the quasi-identifiers of a (3,1)-diverse anatomy of Table I.

    Parameters
    ----------
    as_printed : bool
        Keep two misprints, rows that Table I does not have: 36 M 13226 for Steven, who is 42, and
        53 M 13482 for Paul, who lives in 14862.

    Examples
    --------
    >>> wang2013_table4().row(4), wang2013_table4(as_printed=True).row(4)
    ((42, 'M', '13226', 2), (36, 'M', '13226', 2))
    """
    table = _anatomised(["age", "sex", "zip"], [1, 5, 7, 3, 6, 8, 2, 4, 9])
    if not as_printed:
        return table
    return table.with_columns(
        age=pl.when(pl.col("zip") == "13226").then(36).otherwise("age"),
        zip=pl.col("zip").replace("14862", "13482"),
    )


def wang2013_table5() -> pl.DataFrame:
    """Table V of Wang et al. 2013: the sensitive attribute table that goes with Table IV.

    Examples
    --------
    >>> wang2013_table5()["disease"].to_list()[:3]
    ['Flu', 'Cancer', 'Gastric ulcer']
    """
    return _anatomised(["disease"], [1, 5, 7, 3, 6, 8, 2, 4, 9]).select("group", "disease")


def wang2013_figure1() -> Hierarchy:
    """Figure 1 of Wang et al. 2013: the semantic tree of diseases, spelled as in Table I.

    Its text gives the leaves and their parents, and that flu and gastritis have no nearer common
    ancestor than their great-grandparent. The level between is a guess: one node above each
    parent. Hence leaves of one parent are at distance 1, all others at distance 3.

    Examples
    --------
    >>> tree = wang2013_figure1()
    >>> tree.distance("Flu", "pneumonia"), tree.distance("Flu", "Gastritis")
    (Fraction(1, 1), Fraction(3, 1))
    """
    branches = {
        ("respiratory infection", "respiratory system"): ["Flu", "pneumonia", "bronchitis"],
        ("tumour", "neoplasm"): ["Cancer", "Carcinoid"],
        ("stomach", "digestive system"): ["Gastric ulcer", "Dyspepsia", "Gastritis"],
    }
    return from_rows(
        (leaf, *above, "disease") for above, leaves in branches.items() for leaf in leaves
    )


def _blocks(*values: str, size: int) -> pl.Series:
    """Repeat each value for a block of rows."""
    return pl.Series([value for value in values for _ in range(size)])


def _anatomised(columns: list[str], tuples: list[int]) -> pl.DataFrame:
    """Take tuples of Table I of Wang et al. 2013 in the given order, and group them by threes."""
    table = wang2013_table1()[[number - 1 for number in tuples]].select(columns)
    return table.with_columns(group=np.repeat([1, 2, 3], 3))
