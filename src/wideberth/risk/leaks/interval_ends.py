"""Interval ends: an interval that ends where its people do tells two of their values exactly.

Ends on a grid, or at the cuts of a hierarchy, tell nothing. So ends are suspicious if they are on
no grid and intervals cross one another (those of a hierarchy lie within each other, or apart), or
if the original's values are sparse and yet nearly all ends are among them.

Severity
--------
medium
    in more than half of the boxes, an end is a value that a single person of the original has:
    whoever knows that person's value knows the box;
low
    ends are people's values, but each of several people; or there is no original to tell.

What it cannot see: ends that are exact but look like a grid's, because the values themselves are
on one. Ends that are excluded, as 40 in [20, 40[, are nobody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
import polars as pl

from wideberth.core.exact import Bools, Ints, Numbers, whole
from wideberth.core.text import join_names
from wideberth.labels import PublishedBoxes, PublishedQuasi
from wideberth.labels.parse import OR_MISSING, TO, calendar, interval, parse_number, unwrap_text
from wideberth.risk.findings import Finding

_FEW = 3  # intervals, below which nothing can be told from where they end
_NEARLY = 0.9  # of the ends are values of the original
_SPARSE = 0.5  # share of the places where a value could be that have one
_OFTEN = 0.5  # share of boxes
_MANY = 10_000  # values


def exact_ends(published: PublishedBoxes) -> list[Finding]:
    """Find intervals that end at people's own values.

    >>> import polars as pl
    >>> ages = pl.DataFrame({"age": ["21..33", "24..38", "30..41"]})
    >>> [str(finding) for finding in exact_ends(PublishedBoxes.read(ages, ["age"]))]
    ["low: the intervals of 'age' end at people's own values, it seems"]
    """
    found = [
        ends for axis in published.axes if axis.read and axis.numeric if (ends := _suspicious(axis))
    ]
    if not found:
        return []
    figures: dict[str, Any] = {"columns": [ends.axis.name for ends in found]}
    severity = "low"
    told = found[0].axis.histogram is not None
    if told:
        boxes = np.zeros(published.boxes.count, dtype=bool)
        for ends in found:
            at = published.axes.index(ends.axis)
            boxes |= ends.single()[published.labels[:, at]]
        single = int(boxes.sum())
        figures |= {
            "boxes": len(boxes),
            "boxes_with_an_end_of_one_person": single,
            "share_of_ends_that_are_values": {e.axis.name: e.share for e in found},
        }
        severity = "medium" if single > _OFTEN * len(boxes) else "low"
    named = join_names([f"'{ends.axis.name}'" for ends in found])
    example = found[0].axis.name
    return [
        Finding(
            name="exact-ends",
            severity=severity,
            title=f"the intervals of {named} end at people's own values"
            + ("" if told else ", it seems"),
            meaning="Of every group, the least and the greatest value are told exactly. Whoever "
            "knows that a single person has such a value knows this person's group"
            + (
                f"; {figures['boxes_with_an_end_of_one_person']:,} of {figures['boxes']:,} boxes "
                "end at a value that one person has."
                if told
                else "."
            ),
            advice=f"Let intervals end on a grid: align = {{ {example} = … }} in the policy, with "
            "a step, a calendar unit, or a hierarchy.",
            figures=figures,
        )
    ]


@dataclass(frozen=True, eq=False, kw_only=True)
class _AxisEnds:
    """The labels of an axis that are intervals, and where they end."""

    axis: PublishedQuasi
    label: Ints  # which label it is
    # Ends are whole numbers of a unit, of which `per` are one; None where an end is open or
    # excluded.
    per: int
    lows: Sequence[int | None]
    highs: Sequence[int | None]

    @cached_property
    def matching(self) -> tuple[Bools, Bools]:
        """Which low and high ends are values of the original."""
        axis = self.axis
        return (
            self._equal(self.lows, axis.first[axis.start[self.label]]),
            self._equal(self.highs, axis.last[axis.start[self.label + 1] - 1]),
        )

    def _equal(self, ends: Sequence[int | None], atoms: Ints) -> Bools:
        """Return which ends are the values at these places, in whole numbers of a common unit."""
        numbers = _numbers(self.axis)
        known = np.array([end is not None for end in ends], dtype=bool)
        own = np.array([end or 0 for end in ends], dtype=object)
        most = max(map(abs, own.tolist()), default=0) * numbers.per
        bound = max(most, numbers.bound * self.per)
        return known & (
            whole(own, bound) * numbers.per == whole(numbers.units, bound)[atoms] * self.per
        )

    @property
    def share(self) -> float:
        """The share of the ends that are values of the original."""
        known = sum(end is not None for end in [*self.lows, *self.highs])
        return round(float(sum(ends.sum() for ends in self.matching)) / max(known, 1), 3)

    def single(self) -> Bools:
        """Return for each label of the axis whether one person alone has the value of an end."""
        axis = self.axis
        assert axis.histogram is not None  # noqa: S101 - asked only if there is an original
        low, high = self.matching
        alone = axis.histogram == 1
        of = np.zeros(len(axis.texts), dtype=bool)
        of[self.label] = low & alone[axis.first[axis.start[self.label]]]
        of[self.label] |= high & alone[axis.last[axis.start[self.label + 1] - 1]]
        return of

    def on_grid(self, unit: Fraction | None) -> bool:
        """Return whether ends lie on a coarser grid than values do: by default, than decimals."""
        # An interval of whole numbers ends just before the grid's next point, others at it.
        below = {low for low in self.lows if low is not None}
        above = {high for high in self.highs if high is not None}
        if unit is None:
            unit = Fraction(1, 10 ** _decimals(self.per))
        finest = int(unit * self.per) or 1
        return any(
            _step([*below, *(high + shift for high in above)]) > finest
            for shift in (0, finest, self.per)
        )

    def crossing(self) -> bool:
        """Return whether some interval begins within another one and ends beyond it."""
        both = {
            (low, -high)
            for low, high in zip(self.lows, self.highs, strict=True)
            if low is not None and high is not None
        }
        open_until: list[int] = []
        for low, negative in sorted(both):
            while open_until and open_until[-1] < low:
                open_until.pop()
            if open_until and -negative > open_until[-1]:
                return True
            open_until.append(-negative)
        return False

    def by_months(self) -> bool:
        """Return whether dates begin and end with months."""
        if not self.axis.atoms.dtype.is_temporal():
            return False
        begins = [low // self.per for low in self.lows if low is not None]
        begins += [high // self.per + 1 for high in self.highs if high is not None]
        days = np.array(begins, dtype="datetime64[D]")
        return bool((days == days.astype("datetime64[M]")).all())


def _suspicious(axis: PublishedQuasi) -> _AxisEnds | None:
    """Return the ends of an axis if they are people's values, as far as can be told."""
    ends = _ends(axis)
    if len(ends.label) < _FEW or ends.by_months():
        return None
    unit = None
    if axis.histogram is not None:
        unit = _unit(axis)
    if ends.on_grid(unit):
        return None
    if ends.crossing():
        return ends
    numbers = _numbers(axis)
    reach = Fraction(int(numbers.offsets[-1]), numbers.per)
    sparse = unit is not None and len(axis.atoms) * unit < Fraction(_SPARSE) * reach
    return ends if sparse and ends.share >= _NEARLY else None


def _ends(axis: PublishedQuasi) -> _AxisEnds:
    """Read the ends of all intervals."""
    read = cache(
        calendar if axis.atoms.dtype.is_temporal() else parse_number
    )  # many share their ends
    label, lows, highs = _whole_ends(axis)
    seen = set(label)
    for at, text in enumerate(axis.texts):
        if at in seen:
            continue
        ends = interval(unwrap_text(text.removesuffix(OR_MISSING))) if text else None
        if ends is None or axis.start[at] == axis.start[at + 1]:
            continue
        below = read(ends.low) if ends.low is not None and ends.with_low else None
        above = read(ends.high) if ends.high is not None and ends.with_high else None
        if below is not None or above is not None:
            label.append(at)
            lows.append(None if below is None else below.low)
            highs.append(None if above is None else above.high)
    per = lcm(*(end.denominator for end in [*lows, *highs] if end is not None))
    return _AxisEnds(
        axis=axis,
        label=np.array(label, dtype=np.int64),
        per=per,
        lows=[None if low is None else int(low * per) for low in lows],
        highs=[None if high is None else int(high * per) for high in highs],
    )


def _whole_ends(axis: PublishedQuasi) -> tuple[list[int], list[Any], list[Any]]:
    """Read intervals of whole numbers as we write them: nearly all labels, so all at once."""
    parts = pl.Series(axis.texts, dtype=pl.String).str.split_exact(TO, 1).struct.unnest()
    low, high = (parts[name].cast(pl.Int64, strict=False) for name in parts.columns)
    some = low.is_not_null() & high.is_not_null() & pl.Series(np.diff(axis.start) > 0)
    return some.arg_true().to_list(), low.filter(some).to_list(), high.filter(some).to_list()


def _unit(axis: PublishedQuasi) -> Fraction:
    """Return the step of the finest grid that holds all values of the original."""
    numbers = _numbers(axis)
    units = numbers.units[:: -(-len(numbers.units) // _MANY)]  # so many tell it as well as all
    return Fraction(_step(units.tolist()) or 1, numbers.per)


def _numbers(axis: PublishedQuasi) -> Numbers:
    assert axis.numbers is not None  # noqa: S101 - only numbers and dates are asked for ends
    return axis.numbers


def _step(points: Sequence[int]) -> int:
    """Return the largest step of which all distances are multiples; 0 for a single point."""
    return gcd(*(point - points[0] for point in points))


def _decimals(per: int) -> int:
    """Return how many decimal places numbers have of which `per` are one."""
    return next((places for places in range(18) if 10**places % per == 0), 18)
