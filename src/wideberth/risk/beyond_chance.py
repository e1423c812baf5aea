"""Count the guesses that chance does not explain.

Even if a column depends on nothing, some groups of five rows hold one value three times. So we
count the people whose value an adversary guesses, and subtract the number expected if all rows but
the victim's own had random values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wideberth.core.exact import Bools, Floats
from wideberth.risk.attacks import Faced

#: How sure an adversary must be for a guess to count.
LEVELS = (0.9, 0.75, 0.5)
#: Standard deviations above what chance explains, for one column.
MARGIN = 4.0
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """Counts of people whose value is guessed, and of those whom chance explains."""

    of: int  # all people
    people: Mapping[float, int]  # by confidence: how many are guessed with that much or more
    expected: Mapping[float, float]  # by confidence: how many would be by chance alone
    spread: Mapping[float, float]  # by confidence: the standard deviation of that

    @classmethod
    def of_faced(cls, faced: Faced, shares: Floats, chance: Floats, counted: Bools) -> Beyond:
        """Count the guessed values at each level of confidence, and what chance would give.

        >>> from wideberth.core.groups import Groups
        >>> faced = Faced.known(Groups.of([[0, 0]], width=1))
        >>> found = Beyond.of_faced(faced, np.ones(1), np.array([0.1]), np.array([True]))
        >>> found.people[0.9], round(found.expected[0.9], 3)
        (2, 0.2)
        """
        # All three arrays have an entry for each class of victims. `chance`: the probability that a
        # row has the value of the class by chance; `counted`: which classes count. The example:
        # both rows of a group agree on a value that one row in ten has.
        from scipy.special import bdtrc  # takes its time

        shares, chance, people = shares[counted], chance[counted], faced.people[counted]
        sizes = faced.sizes[counted]
        found, expected, spread = {}, {}, {}
        for level in LEVELS:
            others = np.ceil(level * sizes - _ROUNDING).astype(np.int64) - 1  # beside their own
            likely = np.ones(len(sizes))
            some = others > 0
            likely[some] = bdtrc(others[some] - 1, sizes[some] - 1, chance[some])
            found[level] = int(people[shares >= level - _ROUNDING].sum())
            expected[level] = float((people * likely).sum())
            # Whoever faces the same rows and has the same value is guessed or not together.
            together = people * likely * (1 - likely) * np.maximum(level * sizes, 1)
            spread[level] = float(np.sqrt(together.sum()))
        return cls(of=int(people.sum()), people=found, expected=expected, spread=spread)

    def share(self, level: float, margin: float = MARGIN) -> float:
        """Return the share of people beyond what chance explains; 0 if it may explain all."""
        more = self.people[level] - self.expected[level]
        return more / self.of if more > margin * self.spread[level] else 0.0

    def explained(self, level: float) -> str:
        """Return in words how many of the people chance explains."""
        many = round(self.expected[level])
        return f"about {many:,}" if many else "hardly any"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            f"{level:g}": {
                "people": self.people[level],
                "by_chance": round(self.expected[level], 1),
                "share": self.share(level),
            }
            for level in LEVELS
        }
