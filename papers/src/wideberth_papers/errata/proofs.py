"""The names that the proofs of errata are written with.

To evaluate one, ``from wideberth_papers.errata.proofs import *`` is all that is needed.
Principles are written as on the command line, groups as lists of sensitive values or, where these
are single letters, as texts. `F` is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from fractions import Fraction as F
from itertools import product
from math import comb, log, log2
from statistics import median, pvariance, variance

import numpy as np
import polars as pl

from wideberth import datasets
from wideberth.core.codes import encode
from wideberth.core.groups import Groups, Partition
from wideberth.hierarchy import from_rows
from wideberth.principles import Rule, parse
from wideberth_papers.deltal.intervals import printed as delta_l_checking

__all__ = [
    "AGES",
    "APART",
    "SALARIES",
    "TREE",
    "UNEVEN",
    "F",
    "anonymity_check",
    "comb",
    "datasets",
    "deal",
    "delta_l_checking",
    "feasible",
    "log",
    "log2",
    "maxsize",
    "median",
    "product",
    "pvariance",
    "retention",
    "risk",
    "satisfies",
    "span",
    "variance",
]

_COMPANY = datasets.li2008_table1a().sort("salary")
#: Table 1a of Li et al. in the order of its running example: salaries, and the ages beside them.
SALARIES: list[int] = _COMPANY["salary"].to_list()
AGES: list[int] = _COMPANY["age"].to_list()
#: The diseases of Wang et al. 2013, and a tree whose leaves are at different depths.
TREE = datasets.wang2013_figure1()
UNEVEN = from_rows([["b", "R"], ["a", "X1", "X", "R"], ["c", "Y1", "Y", "R"]])
#: Words of a group must differ by two letters or more.
APART = "dissimilarity:epsilon=1,delta=1,k=2,distance=edit"


def satisfies(principle: str, group: Iterable[Hashable]) -> bool:
    """Tell whether a group satisfies a principle; (l,e)-diversity is asked of diseases.

    Examples
    --------
    >>> satisfies("epsilon-m:epsilon=15,m=2", [40, 60])
    True
    >>> satisfies("epsilon-m:epsilon=15,m=2", [40, 60, 50, 80])
    False
    """
    rule, groups = _bind(principle, group)
    return bool(rule.satisfies(groups)[0])


def feasible(principle: str, group: Iterable[Hashable]) -> bool:
    """Tell whether some partition of a group has every part satisfy a principle.

    Examples
    --------
    >>> feasible("epsilon-m:epsilon=15,m=2", [40, 60, 50, 80])
    True
    """
    rule, groups = _bind(principle, group)
    return bool(rule.feasible(groups)[0])


def _bind(principle: str, group: Iterable[Hashable]) -> tuple[Rule, Groups]:
    column = encode(pl.Series("s", list(group), strict=False))
    asked = parse(principle)
    if asked.needs == "tree":
        column = column.with_tree(TREE)
    whole = Partition(np.zeros(len(column.codes), dtype=np.int32), 1)
    return asked.bind(column.domain), whole.histograms(column)


def maxsize(group: Sequence[float], e: float) -> int:
    """Return how many values fit in a window of width e; Definition 11 of Li et al.

    Examples
    --------
    >>> maxsize(SALARIES, 10000)
    3
    """
    return max(sum(low <= value <= low + e for value in group) for low in group)


def deal(ordered: Sequence[int], g: int) -> list[Sequence[int]]:
    """Deal a list to g groups, one after the other.

    Examples
    --------
    >>> deal([1, 2, 3, 4, 5], 2)
    [[1, 3, 5], [2, 4]]
    """
    return [ordered[first::g] for first in range(g)]


def span(groups: Iterable[Sequence[int]]) -> int:
    """Add up, over all rows, how far the values of their groups reach.

    Examples
    --------
    >>> span([[1, 3, 5], [2, 4]])
    16
    """
    return sum(len(group) * (max(group) - min(group)) for group in groups)


def risk(group: Sequence[float], epsilon: float) -> Fraction:
    """Return the risk of a group of numbers; Equation 3 of Wang et al. 2009.

    Examples
    --------
    >>> risk([1, 1, 5, 9], 0)
    Fraction(1, 3)
    >>> risk([7], 0)
    Fraction(1, 1)
    """
    if len(group) == 1:
        return Fraction(1)
    most = max(sum(abs(one - other) <= epsilon for other in group) for one in group)
    return Fraction(most - 1, len(group) - 1)


def retention(length: str, m: int) -> Fraction:
    """Return the most that perturbation may retain of uniform values; Equation 3 of Li et al.

    With uniform values, a neighbourhood holds the share of the tuples that it has of the domain.
    The equation is then p + (1 - p) · length, which must not exceed 1/m.

    Examples
    --------
    >>> retention("0.2", 5)
    Fraction(0, 1)
    """
    share = Fraction(length)
    return (Fraction(1, m) - share) / (1 - share)


def anonymity_check(group: Sequence[float], e1: float, e2: float, m: int) -> bool:
    """Judge ascending values as Figure 3 of Li et al. prints it.

    Examples
    --------
    >>> anonymity_check([40, 50, 60, 80], 15, 15, 2)
    False
    """
    size = len(group)
    at = first = 0
    end = 1
    while end < size:
        if group[first] < group[at] - e1:
            first += 1
            continue
        if group[end] <= group[at] + e2:
            end += 1
        if end == size or group[end] > group[at] + e2:
            if Fraction(end - first, size) > Fraction(1, m):
                return False
            at += 1
    return True
