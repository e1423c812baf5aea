"""Numbers that are nearly known: Li, Tao, Xiao 2008, and Zare-Mirakabad 2012.

Two questions. How much of what a victim faces lies near the victim's own number? And which interval
of a given length, wherever it lies, holds most of it: what an adversary would claim, who does not
know that number.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, Numbers, WholeNumbers, fraction, ratios, whole
from wideberth.core.groups import Groups
from wideberth.distances import numbers_of, windows
from wideberth.errors import ParameterError
from wideberth.principles import plain_value
from wideberth.risk.attacks.situations import CONFIDENCES, Risk, VictimClasses, weighted_median

#: A default epsilon is so much of the distance between the 10 % and the 90 % quantile.
_PART = Fraction(1, 20)
#: From so many entries on, compiled code pays.
_MANY = 20_000


def usual_epsilon(domain: Domain) -> Fraction:
    """Return a reach that fits a column of numbers: 1, 2 or 5 times a power of ten.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> usual_epsilon(encode(pl.Series("pay", range(0, 100_000, 100))).domain)
    Fraction(5000, 1)
    """
    # A twentieth of the distance between which four fifths of the numbers lie, rounded; 1 at least,
    # if all numbers are whole.
    numbers = numbers_of(domain, "an interval")
    running = np.cumsum(domain.histogram[: domain.known])
    if not len(running):
        return Fraction(1)
    low, high = np.searchsorted(running, [0.1 * running[-1], 0.9 * running[-1]])
    if numbers.units[low] == numbers.units[high]:  # nearly all are equal: then of all of them
        low, high = 0, -1
    span = _PART * Fraction(int(numbers.units[high]) - int(numbers.units[low]), numbers.per)
    least = Fraction(1) if numbers.per == 1 else Fraction(0)
    return max(_short(span), least) if span else least


@dataclass(frozen=True)
class IntervalClaim:
    """The claim that a number lies in an interval."""

    low: Any  # the least value of the group that the interval holds
    high: Any  # the greatest
    confidence: Fraction  # the share of the group that it holds


def interval_claim(
    groups: Groups,
    group: int,
    domain: Domain,
    *,
    epsilon: float | str | Fraction,
    relative: bool = False,
) -> IntervalClaim | None:
    """Return the interval that holds most of one group; None if all its values are missing.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> pay = encode(pl.Series("pay", [490, 500, 510, 1000]))
    >>> interval_claim(Groups.of([[0, 1, 2, 3]], width=4), 0, pay.domain, epsilon=10)
    IntervalClaim(low=490, high=510, confidence=Fraction(3, 4))
    """
    alone = groups[group : group + 1]
    near = ProximityAttack(domain, epsilon=fraction(epsilon), relative=relative)
    held, last = near.held(alone)
    if not held.any() or domain.values is None:
        return None
    numbers = near.numbers.units
    best = max(
        np.flatnonzero(held == held.max()).tolist(),
        key=lambda entry: numbers[alone.codes[entry]] - numbers[alone.codes[last[entry]]],
    )
    return IntervalClaim(
        low=domain.values[int(alone.codes[best])],
        high=domain.values[int(alone.codes[last[best]])],
        confidence=Fraction(int(held[best]), int(alone.sizes[0])),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ProximityResult:
    """What is known of numbers, nearly."""

    risk: Risk  # share of what each person faces that lies near their own number
    # the largest share that one interval of that reach holds, wherever it lies, of what anybody
    # faces: how sure a claim can be
    fullest: float
    # for each of `CONFIDENCES`, people who face rows of which one interval holds that share
    known: tuple[int, ...]
    # For each of `CONFIDENCES` (rows) and each histogram (columns), the length of the shortest
    # interval that holds that share; infinite if too many values are missing.
    widths: Floats
    facing: Ints  # how many people face each histogram

    def best(self) -> Risk:
        """Return what the best interval is worth, as a risk of each person."""
        return Risk(
            worst=self.fullest,
            mean=float("nan"),
            people=self.risk.people,
            above=dict(zip(CONFIDENCES, self.known, strict=True)),
        )

    @classmethod
    def merged(cls, parts: Sequence[ProximityResult]) -> ProximityResult:
        """Put together what is known of different people."""
        return cls(
            risk=Risk.merged([part.risk for part in parts]),
            fullest=max(part.fullest for part in parts),
            known=tuple(map(sum, zip(*(part.known for part in parts), strict=True))),
            widths=np.concatenate([part.widths for part in parts], axis=1),
            facing=np.concatenate([part.facing for part in parts]),
        )


class ProximityAttack:
    """The numbers near each number of a column."""

    def __init__(
        self,
        domain: Domain,
        *,
        epsilon: Fraction,
        relative: bool = False,
        harmless: Bools | None = None,
    ) -> None:
        # Near is [x - ε, x + ε], ends included; if relative, [x - ε|x|, x + ε|x|].
        self.harmless = harmless
        if epsilon < 0 or (relative and epsilon > 1):
            raise ParameterError(
                f"epsilon must be {'from 0 to 1' if relative else '0 or more'}",
                hint="the largest distance at which a number is as good as known",
            )
        if relative and domain.dated:
            raise ParameterError(
                f"a share of a date means nothing (column '{domain.name}')",
                hint="give epsilon as a number of days",
            )
        self.domain, self.epsilon, self.relative = domain, epsilon, relative
        self.numbers = numbers_of(domain, "nearness")
        if relative:
            self.near = windows(domain, *self.numbers.within_share(epsilon))
            self.reach = _last_within_share(self.numbers, epsilon)
        else:
            self.near = windows(domain, *self.numbers.within(epsilon, epsilon))
            self.reach = self.numbers.within(Fraction(0), 2 * epsilon)[1]
        self.places = self.numbers.units
        if domain.missing is not None:  # nowhere, and no interval holds it
            self.reach = np.append(self.reach, -1)
            self.places = np.append(self.places, 0)

    def shares(self, faced: VictimClasses) -> Floats:
        """Return, for each class of victims, the share of the faced rows near their number."""
        if (kernels := _compiled(faced.groups)) is None:
            first, last = self.near.first[faced.codes], self.near.last[faced.codes]
            return faced.between(first, last) / faced.sizes
        groups, rows = faced.groups, np.empty(len(faced), dtype=np.int64)
        histograms = (groups.start, groups.codes, groups.running)
        victims = (faced.owner.astype(np.int64), faced.codes.astype(np.int64))
        kernels.count_between(*histograms, *victims, self.near.first, self.near.last, rows)
        return rows / faced.sizes

    def held(self, groups: Groups) -> tuple[Ints, Ints]:
        """Return, for each entry, how many rows the interval that begins there holds."""
        # Also the last entry that it holds. A missing value begins nothing.
        base = groups.place - groups.codes
        last = np.searchsorted(groups.place, base + self.reach[groups.codes], side="right") - 1
        held = groups.running[last + 1] - groups.running[:-1]
        return np.maximum(held, 0), last

    def intervals(self, groups: Groups) -> tuple[Ints, Floats]:
        """Return what each group's fullest interval holds, and the widths of `ProximityResult`."""
        stop = groups.start[1:]
        if self.domain.missing is not None:  # the last code, so at most a group's last entry
            stop = stop - (groups.codes[stop - 1] == self.domain.missing)
        wanted = np.stack([_share_of(groups.sizes, confidence) for confidence in CONFIDENCES])
        kernels = None if self.places.dtype == object else _compiled(groups)
        if kernels is None:
            most, widths = groups.max(self.held(groups)[0]), self._shortest(groups, stop, wanted)
        else:
            most, widths = np.empty(len(groups), dtype=np.int64), np.empty_like(wanted)
            histograms = (groups.start, stop, groups.codes, groups.counts)
            kernels.sweep_intervals(*histograms, self.reach, self.places, wanted, most, widths)
        found = np.full(wanted.shape, np.inf)
        found[widths >= 0] = ratios(widths[widths >= 0], self.numbers.per)
        return most, found

    def _shortest(self, groups: Groups, stop: Ints, wanted: Ints) -> WholeNumbers:
        """Return the lengths of the shortest intervals in units; -1 where there is none."""
        place = self.places[groups.codes]
        widths = np.full(wanted.shape, -1, dtype=place.dtype)
        inside = groups.running[stop] - groups.running[groups.start[:-1]]
        longest = int(place.max(initial=0)) - int(place.min(initial=0))
        for line, rows in zip(widths, wanted, strict=True):
            # The first entry up to which there are enough rows, from each entry on.
            last = np.searchsorted(groups.running, groups.running[:-1] + rows[groups.owner]) - 1
            enough = last < stop[groups.owner]
            width = np.where(enough, place[np.where(enough, last, 0)] - place, longest)
            line[inside >= rows] = groups.min(width)[inside >= rows]
        return widths

    def fullest_of_all(self) -> float:
        """Return the largest share of the whole table that one interval holds."""
        codes = np.flatnonzero(self.domain.histogram)
        table = Groups(
            start=np.array([0, len(codes)]),
            codes=codes,
            counts=self.domain.histogram[codes].astype(np.int64),
            width=self.domain.size,
        )
        if self.harmless is not None:
            table = VictimClasses.known(table).sparing(self.harmless).groups
        return float(self.intervals(table)[0][0] / table.sizes[0])

    def on(self, faced: VictimClasses) -> ProximityResult:
        """Look at all histograms."""
        most, widths = self.intervals(faced.groups)
        fullest = most / faced.groups.sizes
        return ProximityResult(
            risk=Risk.of(self.shares(faced), faced.people),
            fullest=float(fullest[faced.facing > 0].max(initial=0.0)),
            known=tuple(int(faced.facing[fullest >= level].sum()) for level in CONFIDENCES),
            widths=widths,
            facing=faced.facing,
        )

    def to_dict(self, found: ProximityResult, chosen: str) -> dict[str, Any]:
        """Return plain values, for JSON, with the claims in words."""
        return {
            "epsilon": plain_value(self.epsilon),
            "relative": self.relative,
            "unit": "days" if self.domain.dated else None,
            "chosen": chosen,
            "risk": found.risk.to_dict(),
            "fullest": found.fullest,
            "claims": [
                {
                    "people": people,
                    "confidence": confidence,
                    "within": plain_value(self.epsilon),
                    "text": self._claim(people, confidence),
                }
                for people, confidence in zip(found.known, CONFIDENCES, strict=True)
            ],
            "widths": [
                self._width(confidence, widths, found.facing)
                for confidence, widths in zip(CONFIDENCES, found.widths, strict=True)
            ],
        }

    def _claim(self, people: int, confidence: float) -> str:
        who = {0: "nobody's", 1: "1 person's"}.get(people, f"{people:,} people's")
        within = f"{_amount(100 * self.epsilon)} %" if self.relative else self._length(self.epsilon)
        return f"{who} {self.domain.name} is known to within {within} {_surely(confidence)}"

    def _width(self, confidence: float, widths: Floats, facing: Ints) -> dict[str, Any]:
        least = float(widths[facing > 0].min(initial=np.inf))
        median = weighted_median(widths, facing)
        text = None
        if isfinite(median):
            length = self._length(fraction(median))
            text = (
                f"for half of the people, an interval of width {length} holds "
                f"{100 * confidence:g} % of their group"
            )
        return {
            "confidence": confidence,
            "least": least if isfinite(least) else None,
            "median": median if isfinite(median) else None,
            "text": text,
        }

    def _length(self, length: Fraction) -> str:
        unit = "" if not self.domain.dated else " day" if length == 1 else " days"
        return _amount(length) + unit


def _last_within_share(numbers: Numbers, share: Fraction) -> Ints:
    """Return how far an interval [x - ε|x|, x + ε|x|] can reach that begins at each number."""
    # One that begins at v > 0 is centred at v / (1 - ε) and ends at v (1 + ε) / (1 - ε). One that
    # begins at v < 0 is centred at v / (1 + ε) and ends at v (1 - ε) / (1 + ε). For ε = 1 all
    # intervals to the right of 0 begin there, and have no end.
    more, less = share.denominator + share.numerator, share.denominator - share.numerator
    units = whole(numbers.units, max(numbers.bound, 1) * 2 * more)
    negative = units < 0
    if not less:
        top = units[-1] if len(units) else 0
        ends = np.where(negative, 0, top)
    else:
        ends = np.where(negative, units * less // more, units * more // less)
    return (np.searchsorted(numbers.units, ends, side="right") - 1).astype(np.int64)


def _short(number: Fraction) -> Fraction:
    """Return the number among …, 1, 2, 5, 10, 20, … that is nearest as a ratio."""
    decade = Fraction(10) ** floor(log10(number))
    candidates = [decade * step for step in (1, 2, 5, 10)]
    return min(candidates, key=lambda other: max(other / number, number / other))


def _share_of(sizes: Ints, confidence: float) -> Ints:
    """Return the least number of rows that is such a share of a group."""
    share = fraction(confidence)
    return -(-sizes * share.numerator // share.denominator)


def _compiled(groups: Groups) -> Any:
    """Return the kernels, if there is much to do and numba has been loaded anyway."""
    if len(groups.codes) < _MANY or "numba" not in sys.modules:
        return None
    from wideberth.kernels import exposure

    return exposure


def _amount(number: Fraction) -> str:
    """Write a number with thousands separators.

    >>> _amount(Fraction(12500)), _amount(Fraction(5, 2))
    ('12,500', '2.5')
    """
    return f"{int(number):,}" if number.denominator == 1 else f"{float(number):,.10g}"


def _surely(confidence: float) -> str:
    return f"with {100 * confidence:g} % confidence"
