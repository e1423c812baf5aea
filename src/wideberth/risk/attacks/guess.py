"""Guessing a value from its share, and from what else can be ruled out.

Machanavajjhala et al. 2006: whoever knows that somebody is in a group guesses a value with the
share it has there. A group of one value gives it away (homogeneity). One of few values gives it
away to whoever can rule out the others (background knowledge).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.risk.attacks.situations import VictimClasses, weighted_median

#: Values ruled out, at most, unless more are asked for.
RULED_OUT = 5


def own_shares(faced: VictimClasses) -> Floats:
    """Return, for each class of victims, the share of the faced rows that have their value."""
    return faced.own / faced.sizes


def share_without(faced: VictimClasses, values: int) -> Floats:
    """Return, for each class, the share of its value once so many others are ruled out."""
    # The others are the most frequent ones. If all are ruled out, the share is 1; that of a value
    # that no row has is 0.
    groups = faced.groups
    begin = groups.start[:-1][faced.owner]
    running = np.concatenate(([0], np.cumsum(groups.descending)))
    top = np.minimum(begin + values, groups.start[1:][faced.owner])
    out = running[top] - running[begin]
    # Among the most frequent, the victim's own value makes room for one more.
    more = np.minimum(top + 1, groups.start[1:][faced.owner])
    last = np.where(top > begin, groups.descending[np.maximum(top - 1, 0)], 0)
    within = (faced.own >= last) & (values > 0)
    out = np.where(within, running[more] - running[begin] - faced.own, out)
    return np.where(faced.own > 0, faced.own / np.maximum(faced.sizes - out, 1), 0.0)


@dataclass(frozen=True)
class Homogeneity:
    """The people who face rows that all have one value, which is theirs."""

    people: int
    groups: int  # how many histograms they face

    @classmethod
    def of(cls, faced: VictimClasses) -> Homogeneity:
        """Count.

        >>> from wideberth.core.groups import Groups
        >>> Homogeneity.of(VictimClasses.known(Groups.of([[0, 0, 0], [0, 1]], width=2)))
        Homogeneity(people=3, groups=1)
        """
        people = faced.count(faced.own == faced.sizes)
        return cls(int(people.sum()), int(np.count_nonzero(people)))

    @classmethod
    def merged(cls, parts: Sequence[Homogeneity]) -> Homogeneity:
        """Add up."""
        return cls(sum(part.people for part in parts), sum(part.groups for part in parts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"people": self.people, "groups": self.groups}


@dataclass(frozen=True, eq=False)
class BackgroundKnowledge:
    """The effect of ruling out values."""

    # with 0, 1, 2, … values ruled out (the most frequent others), the largest share that a value
    # has of what is left, over all histograms and values
    worst: tuple[float, ...]
    # how many people's value is certain once 0, 1, 2, … values are ruled out, and not before
    people: Ints

    @classmethod
    def of(
        cls, faced: VictimClasses, values: int = RULED_OUT, harmless: Bools | None = None
    ) -> BackgroundKnowledge:
        """Rule out up to so many values; harmless ones are ruled out, but not guessed.

        >>> from wideberth.core.groups import Groups
        >>> faced = VictimClasses.known(Groups.of([[0, 0, 1, 2]], width=3))
        >>> found = BackgroundKnowledge.of(faced, values=2)
        >>> [round(share, 3) for share in found.worst], found.people.tolist()
        ([0.5, 0.667, 1.0], [0, 0, 4])
        """
        groups = faced.groups
        running = np.concatenate(([0], np.cumsum(groups.descending)))
        begin, end = groups.start[:-1], groups.start[1:]
        largest = running[begin + 1] - running[begin]
        worst = []
        for count in range(values + 1):
            if harmless is not None:
                worst.append(float(share_without(faced, count).max(initial=0.0)))
                continue
            # The most frequent value gains most: it is set against what is left beside the top
            # values, and a larger count against the same is a larger share.
            left = running[end] - running[np.minimum(begin + count + 1, end)]
            worst.append(float((largest / (largest + left)).max(initial=0.0)))
        known = faced.count(faced.own > 0)
        people = np.bincount(groups.distinct - 1, known)
        return cls(tuple(worst), people.astype(np.int64))

    @classmethod
    def merged(cls, parts: Sequence[BackgroundKnowledge]) -> BackgroundKnowledge:
        """Put together what is known of different people."""
        longest = max(len(part.people) for part in parts)
        padded = (np.pad(part.people, (0, longest - len(part.people))) for part in parts)
        worst = zip(*(part.worst for part in parts), strict=True)
        return cls(tuple(map(max, worst)), reduce(np.add, padded))

    @property
    def certain(self) -> tuple[int, ...]:
        """How many people's value is certain with 0, 1, 2, … values ruled out."""
        running = np.cumsum(np.pad(self.people, (0, len(self.worst))))
        return tuple(running[: len(self.worst)].tolist())

    @property
    def least(self) -> int | None:
        """The fewest values that must be ruled out until anybody's is certain."""
        return int(np.flatnonzero(self.people)[0]) if self.people.any() else None

    @property
    def median(self) -> int | None:
        """The fewest that must be ruled out until half of the people's values are certain."""
        numbers = np.arange(len(self.people), dtype=np.float64)
        return int(weighted_median(numbers, self.people)) if self.people.any() else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        listed = len(self.worst)
        shown = np.pad(self.people, (0, listed))[:listed].tolist()
        pairs = zip(self.worst, self.certain, strict=True)
        return {
            "ruled_out": [
                {"values": values, "worst": worst, "certain": certain}
                for values, (worst, certain) in enumerate(pairs)
            ],
            "needed": {
                "least": self.least,
                "median": self.median,
                "people": {
                    **{str(values): people for values, people in enumerate(shown)},
                    "more": int(self.people[listed:].sum()),
                },
            },
        }
