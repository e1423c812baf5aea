"""Metrics of how much of its domain a published value spans."""

from __future__ import annotations

from math import prod

from wideberth.utility.metrics.base import Figure, Material, Metric, register
from wideberth.utility.metrics.spans import mean_over_rows


def losses(material: Material, *, suppressed: bool = True) -> dict[str, float]:
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
        lost = losses(material)
        published = losses(material, suppressed=False)
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
        lost = losses(material)
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
        left = {name: 1 - share for name, share in losses(material).items()}
        return Figure(value=sum(left.values()) / len(left), by_attribute=left)
