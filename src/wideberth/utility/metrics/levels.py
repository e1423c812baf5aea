"""Metrics of how far up their hierarchies values are published."""

from __future__ import annotations

import numpy as np

from wideberth.utility.metrics.base import Figure, Material, Metric, NotMeasuredError, register
from wideberth.utility.metrics.spans import levels_of, mean_over_rows


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
            levels, _ = levels_of(axis)
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
            _, common = levels_of(axis)
            if common is None:
                raise NotMeasuredError(f"'{axis.name}' is not published on one level")
            levels[axis.name] = float(common)
        return Figure(value=sum(levels.values()), by_attribute=levels)
