"""Measures of anatomised tables, from what they publish: each group's sensitive values, counted.

An anatomy publishes the quasi-identifiers as they are. What it loses is which row of a group has
which sensitive value, and that is what the reconstruction error tells. What it risks is that the
values of a group, however many, are all of one kind; the other measures look for that on a tree.

References
----------
Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
Wang, Han, Wang, Wang: (l,e)-Diversity. 2013, Section IV.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Floats, Ints, ratios, whole
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, what_to_type
from wideberth.hierarchy import Hierarchy
from wideberth.utility.metrics.base import Figure, Material, Metric, NotMeasuredError, register


def reconstruction_error(groups: Groups) -> Floats:
    """Return how wrongly each group's rows are reconstructed, added up over its rows.

    A row is a point, of probability P = 1. Whoever has the release holds each value v of the
    group for possible, with its share P'(v). The error of a row is the sum of (P' - P)² over all
    points: over its own value, and over the others that it might have. With shares p, N rows add
    up to N(1 - Σ p²).

    Parameters
    ----------
    groups : Groups
        The sensitive values of each group. A missing value is a value, too.

    Returns
    -------
    array of float
        One sum a group; over its size, an error between 0 and 1 a row.

    See Also
    --------
    true_point_error : The part of it that Wang et al. print.

    Examples
    --------
    Three equally likely values give 2/3 a row.

    >>> reconstruction_error(Groups.of([[0, 1, 2], [0, 0]], width=3))
    array([2., 0.])
    """
    bound = _most(groups) ** 2
    sizes, counts = whole(groups.sizes, bound), whole(groups.counts, bound)
    return ratios(sizes * sizes - groups.sum(counts * counts), sizes)


def true_point_error(groups: Groups) -> Floats:
    """Return each group's reconstruction error at the true points alone, added up over its rows.

    The error of a row is (1 - p)², where p is the share of its own value. That it takes others
    for possible is not counted. Wang et al. define the `reconstruction_error`, but their example
    prints this: (1/3 - 1)², about 0.44.

    Parameters
    ----------
    groups : Groups
        The sensitive values of each group. A missing value is a value, too.

    Returns
    -------
    array of float
        One sum a group; over its size, an error between 0 and 1 a row.

    Examples
    --------
    >>> true_point_error(Groups.of([[0, 1, 2], [0, 0]], width=3)).round(2)
    array([1.33, 0.  ])
    """
    bound = _most(groups) ** 3
    sizes, counts = whole(groups.sizes, bound), whole(groups.counts, bound)
    others = sizes[groups.owner] - counts
    return ratios(groups.sum(counts * others * others), sizes * sizes)


def diversity_degree(groups: Groups, domain: Domain) -> Floats:
    """Return how far apart the values of each group are: DOD(E) of Wang et al., Definition 6.

    The distances of all pairs of rows, added up and divided by the number of rows. It grows with
    the group: only groups of similar size compare.

    Parameters
    ----------
    groups : Groups
        The sensitive values of each group.
    domain : Domain
        What their codes mean; its tree tells the distance.

    Returns
    -------
    array of float
        One degree a group. A missing value is nowhere on the tree: such rows neither have
        distances nor count. NaN if the group has no other rows.

    Examples
    --------
    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> tree = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
    >>> domain = encode(pl.Series("s", ["1", "2", "3"])).with_tree(tree).domain
    >>> diversity_degree(Groups.of([[0, 2], [0, 1, 2]], width=3), domain)
    array([0.5       , 1.66666667])
    """
    tree = _tree_of(domain)
    sizes = groups.sizes - _missing(groups, domain)
    # Two rows are half as far apart as the edges between them are many. An edge with m of the N
    # rows below it lies between m(N - m) pairs.
    bound = (_most(groups) ** 2) * max(tree.height, 1)
    total, sizes = whole(np.zeros_like(sizes), bound), whole(sizes, bound)
    for _, owner, below in _levels(groups, domain, tree):
        below = whole(below, bound)
        np.add.at(total, owner, below * (sizes[owner] - below))
    known = sizes > 0
    return np.where(known, ratios(total, 2 * np.where(known, sizes, 1)), np.nan)


def average_diversity(groups: Groups, domain: Domain) -> float:
    """Return the mean diversity degree of the groups: DOT(T) of Wang et al., Definition 7.

    Parameters
    ----------
    groups : Groups
        The sensitive values of each group.
    domain : Domain
        What their codes mean; its tree tells the distance.

    Returns
    -------
    float
        Each group counts once, whatever its size. Groups in which every value is missing do not
        count; NaN if there are no others.
    """
    degrees = diversity_degree(groups, domain)
    known = degrees[~np.isnan(degrees)]
    return float(known.mean()) if len(known) else float("nan")


def similarity_risk(groups: Groups, domain: Domain) -> Floats:
    """Return how much of each group is of one kind, for every level of the tree.

    Whoever knows the group of a person knows with this probability what kind of value they have:
    under which node of that level it is. Where it is 1, the group gives the kind away.

    Parameters
    ----------
    groups : Groups
        The sensitive values of each group.
    domain : Domain
        What their codes mean, and their tree.

    Returns
    -------
    array of float
        One row a group and one column a level: the children of the root first, the deepest values
        last. An entry is the largest share of the group's rows under one node; a node is under
        itself. Rows with a missing value, or with one above the level, are under none.

    Examples
    --------
    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> tree = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
    >>> domain = encode(pl.Series("s", ["1", "2", "3"])).with_tree(tree).domain
    >>> similarity_risk(Groups.of([[0, 2], [0, 1]], width=3), domain)
    array([[1. , 0.5],
           [0.5, 0.5]])
    """
    tree = _tree_of(domain)
    most = np.zeros((len(groups), tree.height), dtype=np.int64)
    for level, owner, below in _levels(groups, domain, tree):
        np.maximum.at(most[:, level - 1], owner, below)
    return most / groups.sizes[:, None]


@dataclass(frozen=True)
class LevelRisk:
    """How much of a group is of one kind, at one level of the tree.

    Parameters
    ----------
    level : int
        Steps below the root.
    worst : float
        The largest share in any group.
    mean : float
        The mean over all rows, each with the share in its group.
    """

    level: int
    worst: float
    mean: float


@dataclass(frozen=True, kw_only=True)
class AnatomyFigures:
    """What an anatomised table is worth and what it risks, in a few numbers.

    Parameters
    ----------
    reconstruction_error, true_point_error : float
        The mean over all rows of the original. Of a suppressed row nothing is reconstructed:
        its error is 1, in either sense.
    average_diversity : float, optional
        The mean diversity degree of the groups; None without a tree, or without values on it.
    similarity_risk : tuple of LevelRisk
        How much of a group is of one kind, level by level from below the root. None without a tree.
    """

    reconstruction_error: float
    true_point_error: float
    average_diversity: float | None = None
    similarity_risk: tuple[LevelRisk, ...] | None = None

    @classmethod
    def of(cls, groups: Groups, domain: Domain, rows_suppressed: int = 0) -> AnatomyFigures:
        """Measure an anatomised table.

        Parameters
        ----------
        groups : Groups
            The sensitive values of each group.
        domain : Domain
            What their codes mean, and their tree if there is one.
        rows_suppressed : int
            How many rows of the original are in no group.

        Examples
        --------
        >>> domain = Domain(name="s", histogram=np.ones(3))
        >>> figures = AnatomyFigures.of(Groups.of([[0, 1], [2, 2]], width=3), domain)
        >>> figures.reconstruction_error, figures.true_point_error
        (0.25, 0.125)
        """
        rows = int(groups.sizes.sum()) + rows_suppressed
        diversity, risks = None, None
        if domain.tree is not None and len(groups):
            diversity = average_diversity(groups, domain)
            shares = similarity_risk(groups, domain)
            mean = np.average(shares, axis=0, weights=groups.sizes)
            pairs = zip(shares.max(axis=0).tolist(), mean.tolist(), strict=True)
            risks = tuple(LevelRisk(level, *pair) for level, pair in enumerate(pairs, start=1))
        wrong, missed = reconstruction_error(groups).sum(), true_point_error(groups).sum()
        return cls(
            reconstruction_error=float(wrong + rows_suppressed) / rows,
            true_point_error=float(missed + rows_suppressed) / rows,
            average_diversity=diversity if diversity is not None and isfinite(diversity) else None,
            similarity_risk=risks,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        risks = self.similarity_risk
        return {
            "reconstruction_error": self.reconstruction_error,
            "true_point_error": self.true_point_error,
            "average_diversity": self.average_diversity,
            "similarity_risk": None if risks is None else [asdict(risk) for risk in risks],
        }


def _levels(groups: Groups, domain: Domain, tree: Hierarchy) -> Iterator[tuple[int, Ints, Ints]]:
    """Yield, level by level up the tree, the groups that have rows below a node, and how many."""
    nodes = tree.nodes_of(domain.texts).astype(np.int64)
    known = groups.codes < domain.known
    node = nodes[groups.codes[known]]
    # The nodes below any node are consecutive: sorted once, the entries are so at every level.
    order = np.argsort(groups.owner[known] * len(tree) + node)
    owner, counts, node = groups.owner[known][order], groups.counts[known][order], node[order]
    for level in range(tree.height, 0, -1):
        here = tree.depth[node] == level
        branch = owner[here] * len(tree) + node[here]
        first = np.flatnonzero(np.diff(branch, prepend=-1))
        yield level, owner[here][first], np.add.reduceat(counts[here], first)
        node = np.where(here, tree.parent[node], node)


def _missing(groups: Groups, domain: Domain) -> Ints:
    """Count the rows of each group whose value is missing."""
    if domain.missing is None:
        return np.zeros(len(groups), dtype=np.int64)
    return groups.lookup(np.arange(len(groups)), domain.missing)


def _most(groups: Groups) -> int:
    """Return the size of the largest group."""
    return int(groups.sizes.max(initial=1))


def _tree_of(domain: Domain) -> Hierarchy:
    if domain.tree is None:
        raise ParameterError(
            f"'{domain.name}' has no hierarchy to tell which values are of one kind",
            hint=what_to_type(
                python='hierarchies={"column": "tree.csv"}',
                command="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
            ),
        )
    return domain.tree


# -----------------------------------------------------------------------------
# The measures of anatomised tables as metrics; what they are is said in `anatomy`.


@register
class ReconstructionError(Metric):
    """The mean over rows of the squared error of what a reader takes each row's value to be.

    A suppressed row counts 1.
    """

    name = "reconstruction-error"
    title = "reconstruction error"
    goal = "lower"
    low, high = 0.0, 1.0
    reference = "Xiao, Tao 2006; Wang, Han, Wang, Wang 2013, Sec. IV"
    needs = ("sizes", "anatomy", "sensitive")

    def compute(self, material: Material) -> Figure:
        """Measure every group."""
        return Figure(value=_figures(material).reconstruction_error)


@register
class TruePointError(Metric):
    """The part of the reconstruction error at the rows' own values, as Wang et al. print it."""

    name = "true-point-error"
    title = "reconstruction error at the true points"
    goal = "lower"
    low, high = 0.0, 1.0
    reference = "Wang, Han, Wang, Wang 2013, Sec. IV"
    needs = ("sizes", "anatomy", "sensitive")

    def compute(self, material: Material) -> Figure:
        """Measure every group."""
        return Figure(value=_figures(material).true_point_error)


@register
class AverageDiversity(Metric):
    """How far apart on their tree the sensitive values of a group are, on average: DOT."""

    name = "average-diversity"
    title = "average degree of diversity"
    goal = "higher"
    low, high = 0.0, None
    reference = "Wang, Han, Wang, Wang 2013, Def. 7"
    needs = ("sizes", "anatomy", "sensitive", "tree")

    def compute(self, material: Material) -> Figure:
        """Measure every group."""
        value = _figures(material).average_diversity
        if value is None:
            raise NotMeasuredError("every sensitive value is missing")
        return Figure(value=value)


@register
class SimilarityRisk(Metric):
    """How much of the worst group is of one kind: under one child of the tree's root.

    The details tell the same of every level.
    """

    name = "similarity-risk"
    title = "similarity risk"
    goal = "lower"
    low, high = 0.0, 1.0
    reference = "Wang, Han, Wang, Wang 2013, Sec. IV"
    needs = ("sizes", "anatomy", "sensitive", "tree")

    def compute(self, material: Material) -> Figure:
        """Measure every group and level."""
        levels = _figures(material).similarity_risk
        if not levels:
            raise NotMeasuredError("the hierarchy of the sensitive attribute has one node only")
        return Figure(value=levels[0].worst, details={"levels": [asdict(one) for one in levels]})


def _figures(material: Material) -> AnatomyFigures:
    groups, domain = material.groups, material.domain
    if groups is None or domain is None:
        raise NotMeasuredError("no sensitive attribute is given")
    return AnatomyFigures.of(groups, domain, material.suppressed)
