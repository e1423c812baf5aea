"""The measures of anatomised tables as metrics; what they are is said in `anatomy`."""

from __future__ import annotations

from dataclasses import asdict

from wideberth.utility.metrics.base import Figure, Material, Metric, NotMeasuredError, register
from wideberth.utility.metrics.buckets import AnatomyFigures


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
