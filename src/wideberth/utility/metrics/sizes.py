"""Metrics of the sizes of groups: from how many others a row cannot be told."""

from __future__ import annotations

from typing import Any

import numpy as np

from wideberth.core.exact import Ints
from wideberth.utility.metrics.base import Figure, Material, Metric, register


@register
class Discernibility(Metric):
    """Every row costs as many rows as it cannot be told from; a suppressed row costs all rows.

    The sum of |g|² over the groups, and s · n for s suppressed of n rows.
    """

    name = "discernibility"
    title = "discernibility"
    goal = "lower"
    low, high = 0.0, None
    reference = "Bayardo, Agrawal 2005"
    needs = ("sizes",)

    def compute(self, material: Material) -> Figure:
        """Add up the squares."""
        squares = sum(size * size * many for size, many in _tally(material.sizes))
        cost, rows = squares + material.suppressed * material.rows, material.rows
        return Figure(value=float(cost), details={"per_row": cost / rows})


@register
class AverageSize(Metric):
    """The published rows per published group."""

    name = "average-size"
    title = "average class size"
    goal = "lower"
    low, high = 1.0, None
    reference = "LeFevre, DeWitt, Ramakrishnan 2006"
    needs = ("sizes",)

    def compute(self, material: Material) -> Figure:
        """Divide rows by groups."""
        return Figure(value=float(material.sizes.mean()))


@register
class NormalizedAverageSize(Metric):
    """The average class size over the least that was asked for: 1 is as small as can be."""

    name = "c-avg"
    title = "average class size over k"
    goal = "lower"
    low, high = 0.0, None
    reference = "LeFevre, DeWitt, Ramakrishnan 2006"
    needs = ("sizes", "k")

    def compute(self, material: Material) -> Figure:
        """Divide by k once more."""
        k = material.k or 1
        return Figure(value=float(material.sizes.mean()) / k, details={"k": k})


@register
class GroupSizes(Metric):
    """How large groups are: the median, beside it the extremes, quartiles and a histogram.

    The bins of the histogram end at 1, 2, 5, 10, 20, 50 and so on.
    """

    name = "group-sizes"
    title = "sizes of groups"
    goal = "none"
    low, high = 1.0, None
    reference = "descriptive"
    needs = ("sizes",)

    def compute(self, material: Material) -> Figure:
        """Sort the sizes into bins."""
        sizes = material.sizes
        least, lower, median, upper, most = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1]).tolist()
        return Figure(
            value=median,
            details={
                "groups": len(sizes),
                "smallest": int(least),
                "lower_quartile": lower,
                "median": median,
                "upper_quartile": upper,
                "largest": int(most),
                "mean": float(sizes.mean()),
                "histogram": size_histogram(sizes),
            },
        )


def size_histogram(sizes: Ints) -> list[dict[str, Any]]:
    """Count groups and their rows by size, in bins that end at 1, 2, 5, 10 and so on.

    Empty bins below the smallest group are left out, and those above the largest.

    >>> size_histogram(np.array([1, 3, 4, 11]))[1:]
    [{'from': 2, 'to': 2, 'groups': 0, 'rows': 0}, {'from': 3, 'to': 5, 'groups': 2, 'rows': 7}, \
{'from': 6, 'to': 10, 'groups': 0, 'rows': 0}, {'from': 11, 'to': 20, 'groups': 1, 'rows': 11}]
    """
    ends = [1]
    while ends[-1] < sizes.max(initial=1):
        ends += [ends[-1] * 2, ends[-1] * 5, ends[-1] * 10]
    bins = np.searchsorted(ends, sizes)
    groups = np.bincount(bins, minlength=len(ends))
    rows = np.bincount(bins, minlength=len(ends), weights=sizes).astype(np.int64)
    used = np.flatnonzero(groups)
    return [
        {
            "from": ends[i - 1] + 1 if i else 1,
            "to": ends[i],
            "groups": int(groups[i]),
            "rows": int(rows[i]),
        }
        for i in range(int(used[0]), int(used[-1]) + 1)
    ]


def _tally(sizes: Ints) -> list[tuple[int, int]]:
    """Return each size and how many groups have it, as numbers that know no overflow."""
    distinct, many = np.unique(sizes, return_counts=True)
    return list(zip(distinct.tolist(), many.tolist(), strict=True))
