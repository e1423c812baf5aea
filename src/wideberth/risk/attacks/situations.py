"""Who faces which histogram: all that an adversary needs for a guess.

If the victim's group is known, the adversary faces the histogram of that group. If only the
victim's quasi-identifiers are known, it is the sum of the histograms of all groups that cover
them. Whatever is learnt from a histogram is learnt in the same way from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups

#: How sure is worth a figure of its own.
CONFIDENCES = (0.5, 0.75, 0.9, 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class GuardedGroups(Groups):
    """Histograms whose harmless rows count in the sizes only."""

    besides: Ints  # the harmless rows of each group

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each group."""
        return self.sum(self.counts) + self.besides


@dataclass(frozen=True, eq=False, kw_only=True)
class VictimClasses:
    """Classes of victims: people who face the same histogram and have the same value."""

    groups: Groups  # the histograms; none is empty, and no count is 0
    owner: Ints  # for each class, which histogram it faces
    # True values of the people of each class. A histogram that they face may lack theirs, if their
    # own rows were suppressed.
    codes: Ints
    people: Ints  # how many are in each class

    @classmethod
    def known(cls, groups: Groups) -> VictimClasses:
        """Let every row face its own group.

        >>> faced = VictimClasses.known(Groups.of([[0, 2, 2], [1]], width=3))
        >>> faced.own.tolist(), faced.sizes.tolist(), faced.people.tolist()
        ([1, 2, 1], [3, 3, 1], [1, 2, 1])
        """
        return cls(groups=groups, owner=groups.owner, codes=groups.codes, people=groups.counts)

    def guarded(self, harmless: Bools) -> VictimClasses:
        """Leave out the people whose own value is harmless; they still hide the others."""
        kept = ~harmless[self.codes]
        owner, codes, people = self.owner[kept], self.codes[kept], self.people[kept]
        return VictimClasses(groups=self.groups, owner=owner, codes=codes, people=people)

    def sparing(self, harmless: Bools) -> VictimClasses:
        """Let rows with harmless values be near nothing: they count in the sizes only."""
        groups, free = self.groups, harmless[self.groups.codes]
        faced = GuardedGroups(
            start=groups.start,
            codes=groups.codes,
            counts=np.where(free, 0, groups.counts),
            width=groups.width,
            besides=groups.sum(np.where(free, groups.counts, 0)),
        )
        return VictimClasses(groups=faced, owner=self.owner, codes=self.codes, people=self.people)

    def __len__(self) -> int:
        """Return the number of classes."""
        return len(self.owner)

    @cached_property
    def entries(self) -> Ints | None:
        """The entry of each class's own value in the histograms; -1 if there is none."""
        # None stands for the usual case: each entry is a class, in the same order.
        if self._each_entry:
            return None
        place = self.groups.place
        wanted = self.owner * self.groups.width + self.codes
        at = np.minimum(np.searchsorted(place, wanted), max(len(place) - 1, 0))
        return np.where(place[at] == wanted, at, -1) if len(place) else at

    def of_own(self, figures: Any, absent: float = 0) -> Any:
        """Return for each class the figure of its own value's entry."""
        if self.entries is None:
            return figures
        return np.where(self.entries < 0, absent, figures[self.entries])

    @cached_property
    def own(self) -> Ints:
        """For each class, how many rows of the faced histogram have its value."""
        return self.of_own(self.groups.counts)

    @cached_property
    def sizes(self) -> Ints:
        """For each class, how many rows it faces."""
        return self.groups.sizes[self.owner]

    @cached_property
    def facing(self) -> Ints:
        """For each histogram, how many people face it."""
        if self.entries is None:
            return self.groups.sizes
        return self.count(np.ones(len(self), dtype=bool))

    def count(self, classes: Bools) -> Ints:
        """Count, for each histogram, the people of some classes that face it."""
        chosen = np.where(classes, self.people, 0)
        if self.entries is None:
            return self.groups.sum(chosen)
        # Floats hold such numbers exactly.
        return np.bincount(self.owner, chosen, len(self.groups)).astype(np.int64)

    def between(self, first: Ints, last: Ints) -> Ints:
        """Count, for each class, the faced rows whose code lies in a range, ends included."""
        base = self.owner * self.groups.width
        begin = np.searchsorted(self.groups.place, base + first, side="left")
        end = np.searchsorted(self.groups.place, base + last, side="right")
        return self.groups.running[end] - self.groups.running[begin]

    def filled(self) -> VictimClasses:
        """Give every class an entry: one that counts nobody, where its own value is lacking."""
        if self.entries is None or not (self.entries < 0).any():
            return self
        groups, lacking = self.groups, self.entries < 0
        added = np.unique(self.owner[lacking] * groups.width + self.codes[lacking])
        place = np.concatenate((groups.place, added))
        order = np.argsort(place)
        counts = np.concatenate((groups.counts, np.zeros_like(added)))[order]
        edges = np.arange(len(groups) + 1) * groups.width
        filled = Groups(
            start=np.searchsorted(place[order], edges),
            codes=place[order] % groups.width,
            counts=counts,
            width=groups.width,
        )
        return VictimClasses(groups=filled, owner=self.owner, codes=self.codes, people=self.people)

    def blocks(self, entries: int = 1 << 15) -> Iterator[VictimClasses]:
        """Go through the histograms a block at a time: what is derived from one stays in cache."""
        if self._each_entry:
            yield from map(VictimClasses.known, self.groups.blocks(entries))
            return
        order = np.argsort(self.owner, kind="stable")
        owner, codes, people = (a[order] for a in (self.owner, self.codes, self.people))
        edges = np.cumsum([0, *(len(block) for block in self.groups.blocks(entries))])
        at = np.searchsorted(owner, edges)
        spans = zip(self.groups.blocks(entries), pairwise(edges), pairwise(at), strict=True)
        for block, (first, _), (begin, end) in spans:
            here = slice(begin, end)
            yield VictimClasses(
                groups=block, owner=owner[here] - first, codes=codes[here], people=people[here]
            )

    @property
    def _each_entry(self) -> bool:
        return self.owner is self.groups.owner and self.codes is self.groups.codes


@dataclass(frozen=True, kw_only=True)
class Risk:
    """A probability for each person, summed up."""

    worst: float  # 0 if there are no people, as is the mean
    mean: float
    people: int
    above: Mapping[float, int]  # how many people are at or above each of `CONFIDENCES`

    @classmethod
    def of(cls, shares: Floats, people: Ints) -> Risk:
        """Sum up the probabilities of classes of people.

        >>> risk = Risk.of(np.array([0.5, 0.9, 0.2]), np.array([1, 2, 7]))
        >>> risk.worst, round(risk.mean, 2), risk.people, risk.above[0.9]
        (0.9, 0.37, 10, 2)
        """
        # Each share is one quotient of whole numbers: rounded once, it is at or above a short
        # decimal just when it is so exactly.
        inhabited = people > 0
        if not inhabited.all():
            shares, people = shares[inhabited], people[inhabited]
        total = int(people.sum())
        added = float((shares * people).sum())
        worst = float(shares.max(initial=0.0))
        above = {}
        for level in CONFIDENCES:  # each leaves fewer to look at
            high = shares >= level
            shares, people = shares[high], people[high]
            above[level] = int(people.sum())
        return cls(
            worst=worst,
            mean=added / total if total else 0.0,
            people=total,
            above=above,
        )

    @classmethod
    def merged(cls, parts: Sequence[Risk]) -> Risk:
        """Sum up the risks of different people."""
        total = sum(part.people for part in parts)
        added = sum(part.mean * part.people for part in parts)
        return cls(
            worst=max((part.worst for part in parts), default=0.0),
            mean=added / total if total else 0.0,
            people=total,
            above={level: sum(part.above[level] for part in parts) for level in CONFIDENCES},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "worst": self.worst,
            "mean": self.mean,
            "people": self.people,
            "above": {f"{level:g}": number for level, number in self.above.items()},
        }


def weighted_median(values: Floats, people: Ints) -> float:
    """Return the least value that at least half of the people are at or below; NaN of nobody.

    >>> weighted_median(np.array([5.0, 1.0, 2.0]), np.array([1, 1, 3]))
    2.0
    """
    if not people.sum():
        return float("nan")
    order = np.argsort(values)
    running = np.cumsum(people[order])
    return float(values[order][np.searchsorted(2 * running, running[-1])])
