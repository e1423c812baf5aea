"""Which values a label covers, as runs of their positions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wideberth.core.codes import Domain
from wideberth.core.exact import Ints
from wideberth.hierarchy import Hierarchy
from wideberth.labels.parse import (
    ANY,
    MICROSECONDS,
    NOTHING,
    OR_MISSING,
    TO,
    EndRange,
    bracketed,
    calendar,
    interval,
    is_all_stars,
    masked,
    members,
    parse_number,
    unwrap_text,
)

# -----------------------------------------------------------------------------
# The values that people can have: those of the original, of a hierarchy, or those labels tell.


#: More whole numbers than these are not listed one by one.
_MOST = 100_000
#: Whole numbers below these fit into 64 bits, and into the digits of a decimal.
_LARGEST, _LONGEST = 2**62, 10**37
_NUMERIC = ("integer", "float", "decimal")


class LabelAtoms(NamedTuple):
    """The values that labels tell of, and whether all labels could be understood."""

    atoms: pl.Series
    kind: str
    read: bool


class _AtomRange(NamedTuple):
    low: int | Fraction | None
    high: int | Fraction | None
    with_low: bool = True
    with_high: bool = True


def atoms_from_labels(name: str, texts: Sequence[str | None], kind: str | None) -> LabelAtoms:
    """Find the values behind labels when nothing else tells them.

    >>> atoms_from_labels("age", ["20-21", "23", "*"], None).atoms.to_list()
    [20, 21, 22, 23]
    >>> atoms_from_labels("job", ["{nurse|clerk}", "cook"], None).atoms.to_list()
    ['clerk', 'cook', 'nurse']
    """
    said = [unwrap_text(text.removesuffix(OR_MISSING)) for text in texts if text is not None]
    said = [text for text in said if not is_all_stars(text) and text not in ANY]
    plain = [text for text in said if text not in NOTHING]
    if plain and (kind is None or kind in _NUMERIC):
        found = _stretches(plain, parse_number)
        if found is not None:
            return _numbers(name, found)
    if plain and kind in (None, "date"):
        found = _stretches(plain, calendar)
        if found is not None:
            return LabelAtoms(_days(name, found), "date", True)
    if any(_as_interval(text) for text in said):
        return LabelAtoms(pl.Series(name, sorted(set(said)), dtype=pl.String), "text", False)
    return LabelAtoms(pl.Series(name, _categories(said) or ["*"], dtype=pl.String), "text", True)


def _as_interval(text: str) -> bool:
    return any(_stretches([text], read) and interval(text) for read in (parse_number, calendar))


def _stretches(
    texts: Iterable[str], read: Callable[[str], EndRange | None]
) -> list[_AtomRange] | None:
    """Read all labels as values, intervals or sets of one kind; None if that fails for any."""
    found = []
    points: dict[str, EndRange | None] = {}
    closed: set[str] = set()

    def at(text: str) -> EndRange | None:
        if text not in points:
            points[text] = read(text.strip())
        return points[text]

    for text in texts:
        if TO in text:  # all of these have both ends, and both belong
            closed.update(text.split(TO, 1))
            continue
        if point := at(text):
            found.append(_AtomRange(*point))
        elif ends := interval(text):
            low = None if ends.low is None else at(ends.low)
            high = None if ends.high is None else at(ends.high)
            if (low is None) != (ends.low is None) or (high is None) != (ends.high is None):
                return None
            if low and high and low.low > high.high:
                return None
            found.append(
                _AtomRange(
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
            found += [_AtomRange(*point) for point in values if point]
    ends_of = [at(text) for text in closed]
    return None if None in ends_of else found + [_AtomRange(*point) for point in ends_of if point]


def _ends(stretches: Sequence[_AtomRange]) -> list[int | Fraction]:
    both = ((stretch.low, stretch.high) for stretch in stretches)
    return [end for ends in both for end in ends if end is not None]


def _numbers(name: str, stretches: Sequence[_AtomRange]) -> LabelAtoms:
    ends = _ends(stretches)
    if all(end.denominator == 1 for end in ends):
        if all(-_LARGEST < end < _LARGEST for end in ends):
            return LabelAtoms(_listed(name, stretches, pl.Int64), "integer", True)
        if all(-_LONGEST < end < _LONGEST for end in ends):
            return LabelAtoms(_listed(name, stretches, pl.Decimal(38, 0)), "decimal", True)
    inside = {float(value) for stretch in stretches for value in _inside(stretch, whole=False)}
    return LabelAtoms(pl.Series(name, sorted(inside), dtype=pl.Float64), "float", True)


def _days(name: str, stretches: Sequence[_AtomRange]) -> pl.Series:
    """List days; where times of day are told, only the moments that are."""
    if all(end.denominator == 1 for end in _ends(stretches)):
        return _listed(name, stretches, pl.Int64).cast(pl.Int32).cast(pl.Date)
    inside = {value for stretch in stretches for value in _inside(stretch, whole=False)}
    moments = sorted(int(value * MICROSECONDS) for value in inside)
    return pl.Series(name, moments, dtype=pl.Int64).cast(pl.Datetime("us"))


def _listed(name: str, stretches: Sequence[_AtomRange], dtype: Any) -> pl.Series:
    """List whole numbers from the first to the last, or just the ends if they are too many."""
    inside = {value for stretch in stretches for value in _inside(stretch, whole=True)}
    low, high = floor(min(inside, default=0)), ceil(max(inside, default=0))
    values: Sequence[Any] = range(low, high + 1)
    if high - low >= _MOST:
        values = sorted({int(value) for value in inside})
    if dtype != pl.Int64:
        values = [Decimal(value) for value in values]
    return pl.Series(name, values, dtype=dtype)


def _inside(stretch: _AtomRange, *, whole: bool) -> list[int | Fraction]:
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
        known = MaskIndex(list(found))
        found.update([mask for mask in alike if not known.matching(mask)])
    return sorted(found)


class MaskIndex:
    """A search for the texts that a mask stands for.

    >>> MaskIndex(["13053", "13068", "14850"]).matching("130**")
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


# -----------------------------------------------------------------------------
# Which values a label covers, as runs of their positions.


PositionRun = tuple[int, int]


class LabelCoverage(NamedTuple):
    """What a label covers: runs of atoms, both ends included, and perhaps missing values."""

    runs: Sequence[PositionRun]
    missing: bool = False
    everything: bool = False


class LabelReader:
    """The values that people can have, ready to be looked up."""

    def __init__(self, domain: Domain, tree: Hierarchy | None, *, suppressing: bool) -> None:
        # suppressing: a missing label stands for any value, because none of the values is missing.
        self.domain = domain
        self.tree = tree
        self.count = domain.known
        self.numeric = domain.numbers is not None
        self._dtype = None if domain.values is None else domain.values.dtype
        self._dated = domain.dated
        self.nothing = self._anything if suppressing else LabelCoverage((), missing=True)
        self._exact = dict(zip(domain.texts, range(self.count), strict=True))
        self._edges: dict[str, PositionRun | None] = {}

    @property
    def _anything(self) -> LabelCoverage:
        return LabelCoverage([(0, self.count - 1)], missing=True, everything=True)

    def place(self, label: str | None) -> LabelCoverage | None:
        """Return what a label covers; None if it cannot be understood."""
        if label is None:
            return self.nothing
        if self.numeric and TO in label and label not in self._exact:  # nearly all, so fast
            low, _, high = label.partition(TO)
            ends = self._edge(low), self._edge(high)
            if ends[0] and ends[1] and ends[0][0] < ends[1][1]:
                return LabelCoverage(((ends[0][0], ends[1][1] - 1),))
        if is_all_stars(label):
            return self._anything
        value = self._value(label)
        if value:
            return LabelCoverage(value)
        bare = label.removesuffix(OR_MISSING)
        if bare != label:
            rest = self.place(bare)
            return rest and rest._replace(missing=True)
        if label in ANY:
            return self._anything
        if label in NOTHING:
            return self.nothing
        if (inner := unwrap_text(label)) != label:
            return self.place(inner)
        if (covered := self._interval(label)) is not None:
            return LabelCoverage(covered)
        # A list or a mask that fits no value was meant in another way, and is not understood.
        if covered := self._set(label) or self._mask(label):
            return LabelCoverage(covered)
        return None if value is None else LabelCoverage(value)

    def single(self, label: str | None) -> LabelCoverage:
        """Take a label for a value of its own, unless it says nothing at all."""
        if label is None:
            return self.nothing
        bare = label.removesuffix(OR_MISSING)
        if is_all_stars(bare):
            return self._anything
        at = self._exact[label if label in self._exact else bare]
        return LabelCoverage([(at, at)], missing=label not in self._exact)

    # ---- values and nodes

    def _value(self, label: str) -> list[PositionRun] | None:
        """Find a value, or a node of the hierarchy; no runs if it is one that does not occur."""
        if self.tree is not None and label in self._nodes:
            return self._below(self._nodes[label])
        if label in self._exact:
            return [(self._exact[label], self._exact[label])]
        if self.numeric:
            edge = None if TO in label else self._edge(label)
            if edge is None or (edge[0] == edge[1] and self._between(label)):
                return None
            return [(edge[0], edge[1] - 1)] if edge[0] < edge[1] else []
        if self._dtype == pl.Boolean:  # yes is true
            code = self.domain.code_of(label)
            return None if code is None else [(code, code)]
        return None

    @cached_property
    def _nodes(self) -> dict[str, list[int]]:
        nodes = defaultdict(list)
        for node, label in enumerate(self.tree.labels if self.tree is not None else ()):
            nodes[label].append(node)
        return dict(nodes)

    @cached_property
    def _by_node(self) -> tuple[Ints, Ints]:
        """The atoms' nodes in order, and which atom each is."""
        assert self.tree is not None  # noqa: S101 - asked only where there is a hierarchy
        nodes = self.tree.nodes_of(self.domain.texts).astype(np.int64)
        order = np.argsort(nodes, kind="stable")
        return nodes[order], order

    def _below(self, nodes: Sequence[int]) -> list[PositionRun]:
        """Find the atoms at nodes and below them: their nodes are consecutive."""
        assert self.tree is not None  # noqa: S101 - asked only where there is a hierarchy
        places, order = self._by_node
        found = [
            order[np.searchsorted(places, node) : np.searchsorted(places, self.tree.ends[node])]
            for node in nodes
        ]
        return runs(np.concatenate(found))

    # ---- numbers and dates

    def _interval(self, label: str) -> list[PositionRun] | None:
        ends = interval(label) if self.numeric else None
        if ends is None:
            return None
        low = (0, 0) if ends.low is None else self._edge(ends.low)
        high = (self.count, self.count) if ends.high is None else self._edge(ends.high)
        if low is None or high is None or high[1] < low[0]:
            return None
        first = low[0] if ends.with_low else low[1]
        after = high[1] if ends.with_high else high[0]
        if first >= after:  # some tools put a value that is an end into the interval beside it
            first, after = low[0], high[1]
        return [(first, after - 1)] if first < after else []

    def _edge(self, text: str) -> PositionRun | None:
        """Return how many values lie below an end, and how many do not lie above it."""
        if text not in self._edges:
            self._edges[text] = self._measured(text.strip())
        return self._edges[text]

    def _measured(self, text: str) -> PositionRun | None:
        numbers = self.domain.numbers
        assert numbers is not None  # noqa: S101 - asked of numbers only
        at = self._exact.get(text, self._as_written.get(text))
        if at is not None:
            return at, at + 1
        if self._dtype == pl.Duration:
            return None
        point = calendar(text) if self._dated else parse_number(text)
        if point is None:
            return None
        units, per = numbers.units, numbers.per
        if self._dtype == pl.Datetime and isinstance(point.low, int):  # a day, or several
            units, per = self._days, 1
        below = np.searchsorted(units, ceil(point.low * per), side="left")
        upto = np.searchsorted(units, floor(point.high * per), side="right")
        return (int(below), int(upto)) if below <= upto else (int(below), int(below))

    def _between(self, text: str) -> bool:
        """Return whether a number is too fine to be anybody's: a mean, perhaps, of several."""
        numbers, point = self.domain.numbers, parse_number(text)
        assert numbers is not None  # noqa: S101 - asked of numbers only
        return point is not None and (point.low * numbers.per).denominator != 1

    @cached_property
    def _days(self) -> Ints:
        assert self.domain.values is not None  # noqa: S101 - dates have values
        return self.domain.values.dt.date().to_physical().cast(pl.Int64).to_numpy()

    @cached_property
    def _as_written(self) -> dict[str, int]:
        """The moments as they are published: without fractions of whole seconds."""
        values = self.domain.values
        if values is None or values.dtype != pl.Datetime:
            return {}
        texts = values.cast(pl.String)
        brief = texts.str.replace(r"\.0+\b", "")
        both = (dict(zip(t.to_list(), range(len(t)), strict=True)) for t in (texts, brief))
        return {text: at for table in both for text, at in table.items()}

    # ---- sets and masks

    def _set(self, label: str) -> list[PositionRun] | None:
        found = [self._value(member) for member in members(label) or ()]
        known = [run for covered in found if covered for run in covered]
        if not found or (len(known) < len(found) and not bracketed(label)):
            return None
        return merge_runs(known)

    def _mask(self, label: str) -> list[PositionRun] | None:
        return runs(self._masks.matching(label)) if masked(label) else None

    @cached_property
    def _masks(self) -> MaskIndex:
        return MaskIndex(self.domain.texts)


def runs(positions: Iterable[int]) -> list[PositionRun]:
    """Put positions together to runs.

    >>> runs([4, 0, 1])
    [(0, 1), (4, 4)]
    """
    return merge_runs([(at, at) for at in positions])


def merge_runs(given: Iterable[PositionRun]) -> list[PositionRun]:
    """Join runs that touch."""
    found: list[PositionRun] = []
    for first, last in sorted((int(first), int(last)) for first, last in given):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found
