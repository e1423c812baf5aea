"""Rules that say one thing only: no crowd of similar rows may exceed a share of its group.

Most principles about sensitive values are of this kind: equal values, numbers in one window, a
bucket of a semantic tree. What is possible for a table then follows from its fullest crowd.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.principles import Rule
from wideberth.principles.diversity import _Frequency, _Unique
from wideberth.principles.partition.caps import Line, Searched
from wideberth.principles.proximity import _Crowd, _Neighbourhoods


@dataclass(frozen=True, eq=False)
class Crowding(Line):
    """Codes on a line, and how large a share of a group may be similar."""

    share: Fraction  # the most of a group that any crowd may hold

    def fullest(self, codes: Ints | Codes, counts: Ints | None = None) -> tuple[int, int]:
        """Return how many rows the fullest crowd has, and the place where it begins."""
        held = np.zeros(len(self.reach), dtype=np.int64)
        np.add.at(held, self.place[codes], 1 if counts is None else counts)
        running = np.concatenate(([0], np.cumsum(held)))
        rows = running[self.reach + 1] - running[:-1]
        begin = int(rows.argmax())
        return int(rows[begin]), begin


def crowding(rule: Rule, size: int) -> Crowding | None:
    """Return what a rule for a domain of `size` codes says about crowds; None if it says more."""
    # A smallest group size (of (α,k)-anonymity) does not matter to crowds and stays with the rule.
    each = np.arange(size)
    beside = rule.allowance
    if beside is not None and isinstance(rule, _Crowd | _Frequency):
        # Allowed values come last, and reach less far than themselves: they are in no crowd.
        reach, share = each, Fraction(1)
        if isinstance(rule, _Frequency):
            share = rule.share
        else:
            reach = rule.reach if isinstance(rule, _Neighbourhoods) else rule.near.last
            share = 1 / rule.wanted
        return Crowding(beside.order, beside.last_of(reach), share)
    if isinstance(rule, _Neighbourhoods):
        return Crowding(each, rule.reach, Fraction(1, rule.m))
    if isinstance(rule, _Crowd):
        return Crowding(each, rule.near.last, 1 / rule.wanted)
    if isinstance(rule, _Frequency):
        return Crowding(each, each, rule.share)
    if isinstance(rule, _Unique):
        return Crowding(each, each, Fraction(1, rule.m))
    if isinstance(rule, Searched) and rule.line is not None:
        return Crowding(rule.line.place, rule.line.reach, Fraction(1, rule.smallest))
    return None
