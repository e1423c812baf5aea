"""The values that people can have: those of the original, of a hierarchy, or those labels tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import groupby
from math import ceil, floor
from typing import Any, NamedTuple

import polars as pl

from wideberth.labels.parse import (
    ANY,
    NOTHING,
    OR_MISSING,
    TO,
    anything,
    interval,
    masked,
    members,
    unpacked,
)
from wideberth.labels.points import MICROSECONDS, Point, calendar, number

#: More whole numbers than these are not listed one by one.
_MOST = 100_000
#: Whole numbers below these fit into 64 bits, and into the digits of a decimal.
_LARGEST, _LONGEST = 2**62, 10**37
_NUMERIC = ("integer", "float", "decimal")


class Told(NamedTuple):
    """The values that labels tell of, and whether all labels could be understood."""

    atoms: pl.Series
    kind: str
    read: bool


class _Stretch(NamedTuple):
    low: int | Fraction | None
    high: int | Fraction | None
    with_low: bool = True
    with_high: bool = True


def told(name: str, texts: Sequence[str | None], kind: str | None) -> Told:
    """Find the values behind labels when nothing else tells them.

    >>> told("age", ["20-21", "23", "*"], None).atoms.to_list()
    [20, 21, 22, 23]
    >>> told("job", ["{nurse|clerk}", "cook"], None).atoms.to_list()
    ['clerk', 'cook', 'nurse']
    """
    said = [unpacked(text.removesuffix(OR_MISSING)) for text in texts if text is not None]
    said = [text for text in said if not anything(text) and text not in ANY]
    plain = [text for text in said if text not in NOTHING]
    if plain and (kind is None or kind in _NUMERIC):
        found = _stretches(plain, number)
        if found is not None:
            return _numbers(name, found)
    if plain and kind in (None, "date"):
        found = _stretches(plain, calendar)
        if found is not None:
            return Told(_days(name, found), "date", True)
    if any(_as_interval(text) for text in said):
        return Told(pl.Series(name, sorted(set(said)), dtype=pl.String), "text", False)
    return Told(pl.Series(name, _categories(said) or ["*"], dtype=pl.String), "text", True)


def _as_interval(text: str) -> bool:
    return any(_stretches([text], read) and interval(text) for read in (number, calendar))


def _stretches(texts: Iterable[str], read: Callable[[str], Point | None]) -> list[_Stretch] | None:
    """Read all labels as values, intervals or sets of one kind; None if that fails for any."""
    found = []
    points: dict[str, Point | None] = {}
    closed: set[str] = set()

    def at(text: str) -> Point | None:
        if text not in points:
            points[text] = read(text.strip())
        return points[text]

    for text in texts:
        if TO in text:  # all of these have both ends, and both belong
            closed.update(text.split(TO, 1))
            continue
        if point := at(text):
            found.append(_Stretch(*point))
        elif ends := interval(text):
            low = None if ends.low is None else at(ends.low)
            high = None if ends.high is None else at(ends.high)
            if (low is None) != (ends.low is None) or (high is None) != (ends.high is None):
                return None
            if low and high and low.low > high.high:
                return None
            found.append(
                _Stretch(
                    low and (low.low if ends.with_low else low.high),
                    high and (high.high if ends.with_high else high.low),
                    ends.with_low,
                    ends.with_high,
                )
            )
        else:
            listed = members(text)
            values = [at(member) for member in listed or ()]
            if not values or None in values:
                return None
            found += [_Stretch(*point) for point in values if point]
    ends_of = [at(text) for text in closed]
    return None if None in ends_of else found + [_Stretch(*point) for point in ends_of if point]


def _ends(stretches: Sequence[_Stretch]) -> list[int | Fraction]:
    both = ((stretch.low, stretch.high) for stretch in stretches)
    return [end for ends in both for end in ends if end is not None]


def _numbers(name: str, stretches: Sequence[_Stretch]) -> Told:
    ends = _ends(stretches)
    if all(end.denominator == 1 for end in ends):
        if all(-_LARGEST < end < _LARGEST for end in ends):
            return Told(_listed(name, stretches, pl.Int64), "integer", True)
        if all(-_LONGEST < end < _LONGEST for end in ends):
            return Told(_listed(name, stretches, pl.Decimal(38, 0)), "decimal", True)
    inside = {float(value) for stretch in stretches for value in _inside(stretch, whole=False)}
    return Told(pl.Series(name, sorted(inside), dtype=pl.Float64), "float", True)


def _days(name: str, stretches: Sequence[_Stretch]) -> pl.Series:
    """List days; where times of day are told, only the moments that are."""
    if all(end.denominator == 1 for end in _ends(stretches)):
        return _listed(name, stretches, pl.Int64).cast(pl.Int32).cast(pl.Date)
    inside = {value for stretch in stretches for value in _inside(stretch, whole=False)}
    moments = sorted(int(value * MICROSECONDS) for value in inside)
    return pl.Series(name, moments, dtype=pl.Int64).cast(pl.Datetime("us"))


def _listed(name: str, stretches: Sequence[_Stretch], dtype: Any) -> pl.Series:
    """List whole numbers from the first to the last, or just the ends if they are too many."""
    inside = {value for stretch in stretches for value in _inside(stretch, whole=True)}
    low, high = floor(min(inside, default=0)), ceil(max(inside, default=0))
    values: Sequence[Any] = range(low, high + 1)
    if high - low >= _MOST:
        values = sorted({int(value) for value in inside})
    if dtype != pl.Int64:
        values = [Decimal(value) for value in values]
    return pl.Series(name, values, dtype=dtype)


def _inside(stretch: _Stretch, *, whole: bool) -> list[int | Fraction]:
    """Return the outermost numbers of a stretch, or some number of it where it has no outermost."""
    low, high, with_low, with_high = stretch
    found: list[int | Fraction] = []
    if low is not None and (with_low or whole):
        found.append(low if with_low else floor(low) + 1)
    if high is not None and (with_high or whole):
        found.append(high if with_high else ceil(high) - 1)
    if found or (low is None and high is None):
        return found
    if low is None or high is None:
        return [low + 1 if low is not None else high - 1]  # type: ignore[operator]
    return [Fraction(low + high) / 2]


def _categories(texts: Sequence[str]) -> list[str]:
    """List single values and the members of sets; then masks that match none of them."""
    found: set[str] = set()
    for text in texts:
        if not masked(text):
            found.update(members(text) or (text,))
    masks = sorted(filter(masked, texts), key=lambda text: text.count("*"))
    for _, alike in groupby(masks, key=lambda text: text.count("*")):  # 1305* is one of 130**
        known = Masks(list(found))
        found.update([mask for mask in alike if not known.matching(mask)])
    return sorted(found)


class Masks:
    """A search for the texts that a mask stands for.

    >>> Masks(["13053", "13068", "14850"]).matching("130**")
    [0, 1]
    """

    # A star is one character; ``13*`` may also be meant for whatever begins with 13.

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        self._shapes: dict[tuple[int, tuple[int, ...]], dict[str, list[int]]] = {}

    def matching(self, mask: str) -> list[int]:
        """Return the positions of the texts that match, ascending."""
        stars = tuple(at for at, letter in enumerate(mask) if letter == "*")
        shape = (len(mask), stars)
        if shape not in self._shapes:
            table = self._shapes[shape] = defaultdict(list)
            for at, text in enumerate(self._texts):
                if len(text) == len(mask):
                    hidden = "".join("*" if i in stars else c for i, c in enumerate(text))
                    table[hidden].append(at)
        found = self._shapes[shape].get(mask, [])
        begin = mask.rstrip("*")
        if not found and "*" not in begin:
            found = [at for at, text in enumerate(self._texts) if text.startswith(begin)]
        return found
