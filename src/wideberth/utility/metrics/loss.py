"""Metrics of how much of its domain a published value spans."""

from __future__ import annotations

from math import prod

import numpy as np

from wideberth.utility.metrics.base import Figure, Material, Metric, NotMeasuredError, register
from wideberth.utility.metrics.spans import label_levels, mean_over_rows


def quasi_losses(material: Material, *, suppressed: bool = True) -> dict[str, float]:
    """Return what each quasi-identifier loses: the mean over the rows of what its label spans."""
    # A suppressed row counts 1; or not at all, if only published rows are asked about.
    lost = material.absent if suppressed else 0
    pairs = zip(material.boxes.axes, material.extents, strict=True)
    return {axis.name: mean_over_rows(axis, extent, lost, 1.0) for axis, extent in pairs}


@register
class NCP(Metric):
    """The mean over rows and quasi-identifiers of the share of the domain that a value spans.

    The normalized certainty penalty, which the papers call information loss. An interval costs its
    length over that of the domain, a node (leaves - 1) / (all leaves - 1), a suppressed row 1.
    """

    name = "ncp"
    title = "normalized certainty penalty"
    goal = "lower"
    low, high = 0.0, 1.0
    reference = "Xu, Wang, Pei, Wang, Shi, Fu 2006, Sec. 3"
    needs = ("sizes", "boxes")

    def compute(self, material: Material) -> Figure:
        """Average over rows, then over quasi-identifiers by their weights."""
        lost = quasi_losses(material)
        published = quasi_losses(material, suppressed=False)
        return Figure(
            value=material.mean(lost),
            by_attribute=lost,
            details={"published_rows": material.mean(published)},
        )


@register
class Loss(Metric):
    """The geometric mean over the quasi-identifiers of 1 plus that share, less 1; as in ARX."""

    name = "loss"
    title = "loss (geometric, as in ARX)"
    goal = "lower"
    low, high = 0.0, 1.0
    reference = "Iyengar 2002; Prasser, Kohlmayer 2015"
    needs = ("sizes", "boxes")

    def compute(self, material: Material) -> Figure:
        """Multiply, and take the root."""
        lost = quasi_losses(material)
        value = prod(1 + share for share in lost.values()) ** (1 / len(lost)) - 1
        return Figure(value=min(max(value, 0.0), 1.0), by_attribute=lost)


@register
class Granularity(Metric):
    """How much of the quasi-identifiers' detail is left: 1 less the mean loss."""

    name = "granularity"
    title = "granularity"
    goal = "higher"
    low, high = 0.0, 1.0
    reference = "Iyengar 2002"
    needs = ("sizes", "boxes")

    def compute(self, material: Material) -> Figure:
        """Turn the loss around."""
        left = {name: 1 - share for name, share in quasi_losses(material).items()}
        return Figure(value=sum(left.values()) / len(left), by_attribute=left)


# -----------------------------------------------------------------------------
# Metrics of how far up their hierarchies values are published.


@register
class Precision(Metric):
    """1 less the mean over rows and quasi-identifiers of a value's level over the highest one.

    A suppressed row is on the highest level.
    """

    name = "precision"
    title = "precision (Prec)"
    goal = "higher"
    low, high = 0.0, 1.0
    reference = "Sweeney 2002, Def. 4"
    needs = ("sizes", "boxes", "lattice")

    def compute(self, material: Material) -> Figure:
        """Average the levels."""
        precise = {}
        for axis in material.boxes.axes:
            levels, _ = label_levels(axis)
            if (levels < 0).any():
                raise NotMeasuredError(f"not all labels of '{axis.name}' are of its hierarchy")
            height = 1 if axis.tree is None else max(axis.tree.height, 1)
            cost = mean_over_rows(axis, levels / height, material.absent, 1.0)
            precise[axis.name] = 1 - cost
        return Figure(value=float(np.mean(list(precise.values()))), by_attribute=precise)


@register
class Height(Metric):
    """The sum of the levels, where each quasi-identifier is published on one: a lattice's node.

    Suppressed rows do not count.
    """

    name = "height"
    title = "height of the node"
    goal = "lower"
    low, high = 0.0, None
    reference = "Samarati 2001; LeFevre, DeWitt, Ramakrishnan 2005"
    needs = ("sizes", "boxes", "lattice")

    def compute(self, material: Material) -> Figure:
        """Add up the levels."""
        levels = {}
        for axis in material.boxes.axes:
            _, common = label_levels(axis)
            if common is None:
                raise NotMeasuredError(f"'{axis.name}' is not published on one level")
            levels[axis.name] = float(common)
        return Figure(value=sum(levels.values()), by_attribute=levels)
