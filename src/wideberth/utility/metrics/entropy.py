"""Metrics of information: the bits that generalisation takes from values, and from their ties."""

from __future__ import annotations

import numpy as np

from wideberth.core.codes import Codes
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Groups
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.utility.metrics.base import Figure, Material, Metric, NotMeasuredError, register
from wideberth.utility.metrics.spans import (
    atoms_covered,
    covered_amounts,
    has_missing,
    mean_over_rows,
)


@register
class NonUniformEntropy(Metric):
    """The bits that labels leave open, as a share of all bits of the quasi-identifiers.

    A label leaves open the entropy of the original's distribution among the values that it covers;
    a suppressed row leaves open all of it. Where every value is published on one level this is the
    usual definition, and at most 1. Where labels overlap, rare values that are mixed with each
    other can bring it above 1.
    """

    name = "entropy"
    title = "non-uniform entropy"
    goal = "lower"
    low, high = 0.0, None
    reference = "De Waal, Willenborg 1999; Gionis, Tassa 2009, Sec. 4"
    needs = ("sizes", "boxes", "original")

    def compute(self, material: Material) -> Figure:
        """Average the open bits over rows, then over quasi-identifiers."""
        lost, bits = {}, {}
        for axis in material.boxes.axes:
            every = open_bits(axis, everything=True)
            most = float(every[0])
            mean = mean_over_rows(axis, open_bits(axis), material.absent, most)
            bits[axis.name] = mean
            lost[axis.name] = mean / most if most > 0 else 0.0
        return Figure(value=material.mean(lost), by_attribute=lost, details={"bits": bits})


def open_bits(axis: PublishedQuasi, *, everything: bool = False) -> Floats:
    """Return the entropy of the original's values that each label covers; or of all, once."""
    if axis.histogram is None:
        raise NotMeasuredError("the original is not given")
    rows = axis.histogram.astype(np.float64)
    product = rows * np.log2(np.maximum(rows, 1))
    if everything:
        total, inside, many = (np.array([x.sum()]) for x in (rows, product, rows > 0))
    else:
        total, inside = covered_amounts(axis, rows), covered_amounts(axis, product)
        many = covered_amounts(axis, (rows > 0).astype(np.float64))
    total = np.maximum(total, 1)
    bits = np.maximum(np.log2(total) - inside / total, 0.0)
    return np.where(many > 1, bits, 0.0)  # a single value leaves nothing open, not even a rounding


@register
class KLDivergence(Metric):
    """How far the distribution that a reader estimates is from the original's, in bits.

    The estimate spreads every row evenly over the values that its labels cover, and a row that is
    not published over everything. The divergence is the mean over the original's rows of
    log2(p / q), with p the share of rows that have the same quasi-identifiers and sensitive
    values, q the estimate.
    """

    name = "kl-divergence"
    title = "Kullback-Leibler divergence"
    goal = "lower"
    low, high = 0.0, None
    reference = "Kifer, Gehrke 2006"
    needs = ("sizes", "boxes", "original")

    def compute(self, material: Material) -> Figure:
        """Look at every row of the original, or at a sample."""
        if material.anatomised:
            raise NotMeasuredError("the rows of an anatomy are not spread over boxes")
        if material.unlike is not None:
            raise NotMeasuredError(material.unlike)
        published = material.boxes
        if any(axis.points is None for axis in published.axes):
            raise NotMeasuredError("it looks at rows of the original, which is not in memory")
        groups, values = material.boxed, material.values
        if groups is None or values is None:  # quasi-identifiers alone
            groups = published.boxes.sizes()
            values = np.zeros(published.original_rows or 0, dtype=np.int32)
        seen = published.covering(most=material.most, seed=material.seed)
        real = _shares(published, values, seen.victims)
        # Of a suppressed row nothing is known: it may be anywhere.
        anywhere = material.absent * _per_cell(published) / groups.width
        estimate = np.zeros(len(seen.victims))
        found = seen.situation >= 0
        estimate[found] = _spread(
            groups,
            1 / _cells(published),
            (seen.start, seen.boxes),
            (seen.situation[found], values[seen.victims[found]]),
        )
        estimate = (estimate + anywhere) / material.rows
        if not (estimate > 0).all():
            many = int((estimate <= 0).sum())
            raise NotMeasuredError(
                f"infinite: the release rules out {many:,} of the {len(estimate):,} rows looked at"
            )
        bits = np.log2(real / estimate)
        note = None
        if not seen.exact:
            error = float(bits.std() / np.sqrt(len(bits)))
            note = f"from {len(bits):,} of {seen.of:,} rows, standard error {error:.2g}"
        mean = float(bits.mean())
        return Figure(
            value=max(mean, 0.0) if seen.exact else mean,
            details={"rows_looked_at": len(bits), "rows": seen.of, "exact": seen.exact},
            note=note,
        )


def _shares(published: PublishedBoxes, values: Codes, rows: Ints) -> Floats:
    """Return, for some rows of the original, the share of all its rows that are like them."""
    key, size = values.astype(np.int64), int(values.max(initial=0)) + 1
    for axis in published.axes:
        if axis.points is None:
            raise NotMeasuredError("the original is not given")
        width = len(axis.atoms) + 1
        if size * width >= 2**62:  # number what occurs anew
            key = np.unique(key, return_inverse=True)[1]
            size = len(key)
        key, size = key * width + axis.points, size * width
    ordered = np.sort(key)
    same = np.searchsorted(ordered, key[rows], "right") - np.searchsorted(ordered, key[rows])
    return same / len(key)


def _cells(published: PublishedBoxes) -> Floats:
    """Return over how many cells the rows of each box are spread."""
    cells = np.ones(len(published.sizes))
    for i, axis in enumerate(published.axes):
        cells *= atoms_covered(axis)[published.labels[:, i]]
    return cells


def _per_cell(published: PublishedBoxes) -> float:
    """Return the share of one cell of the whole domain."""
    share = 1.0
    for axis in published.axes:
        share /= len(axis.atoms) + has_missing(axis)
    return share


def _spread(
    groups: Groups,
    weight: Floats,
    covering: tuple[Ints, Ints],
    cells: tuple[Ints, Codes],
) -> Floats:
    """Return how many rows the boxes that cover each cell put there."""
    from wideberth.kernels.exposure import likelihoods

    situation, value = cells
    key, which = np.unique(situation * groups.width + value, return_inverse=True)
    out = np.empty(len(key))
    likelihoods(
        *covering,
        key // groups.width,
        key % groups.width,
        weight,
        groups.start,
        groups.codes,
        groups.counts,
        out,
    )
    return out[which]
