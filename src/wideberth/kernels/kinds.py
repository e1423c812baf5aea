"""How a rule tells the compiled code what to test: a kind, a few whole numbers, and a table.

Also what both engines must agree on. Nothing here needs numba.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wideberth.core.exact import Ints

SIZE = 0  # (least,)
CROWD = 1  # (p, q, dealt, alone); table: reach, and if dealt first, last; empty: each its own.
#           What reaches less far than itself, the last class only, is in no crowd, and free
DISTINCT = 2  # (l, free, class): whether a group of that class alone satisfies
ENTROPY = 3  # (p, q, class, free): the same, and rows of the class may be left out
RECURSIVE = 4  # (p, q, l, p2, q2, required); table: allowed or not, required codes
EQUAL_CLOSENESS = 5  # (p, q, rows); table: the whole table's histogram
ORDERED = 6  # (p, q, rows, steps); table: the whole table's running histogram, its running sum
TREE = 7  # (p, q, rows, scale, nodes, edge, missing, lacking, width, length, sides); table: first,
#           node_of, under. What is lacking is missed on so many sides: twice if values are level
RANGE = 8  # (k, least, missing); table: values in units
VARIANCE = 9  # (p, q, missing); table: offsets in units
APART = (
    10  # (a, b, q): at most (a * size - b) / q others are near; table: who is near whom, as bits
)

#: Cuts judged in a node: as many as take about so many rows, at values and at ranks; never fewer
#: than a few.
EFFORT_AT_VALUES, EFFORT_AT_RANKS, FEWEST = 1 << 24, 1 << 22, 64
#: The same where judging looks at pairs of rows, and how many are never too many.
_PAIRS, _A_FEW = 1 << 13, 8

#: Rows dealt by who is near whom. From so many on, a sufficient condition is taken for an answer,
#: and nothing is dealt yet; else so many pairs of them may change places, on top of two for each
#: row, and so many rows be looked at for that.
CERTIFIED, SWAPS, WORK = 64, 20, 1 << 18
#: Up to so many groups every number of them is tried; and two rows that change places set no more
#: others at ease, but for rare cases.
EACH, PER_STEP = 8, 4
#: Judge.dealt for such rows.
BY_NEARNESS = 2

#: Parameters beyond this could overflow a product of two.
MODEST = 2**31 - 1


def cut_tries(effort: int, rows: int, dealt: int) -> int:
    """Return how many cuts of a node of `rows` rows are judged."""
    if dealt == BY_NEARNESS:
        return max(_A_FEW, min(FEWEST, _PAIRS // rows))
    return max(FEWEST, effort // rows)


def next_group_count(hands: int, rows: int, unit: int) -> int:
    """Return the next smaller number of hands to deal rows to, 0 if there is none.

    >>> [next_group_count(hands, 60, 5) for hands in (12, 10, 8, 7, 3, 1)]
    [10, 8, 7, 6, 2, 0]
    """
    # Whether hands are crowded is not monotone in their size, so sizes are not doubled: every size
    # up to four units is tried, then 16 in each doubling.
    size = rows // hands
    if size < 4 * unit:
        return rows // (size + 1)
    doubled = 8 * unit
    while doubled <= size:
        doubled *= 2
    return rows // min(size + max(doubled // 32, 1), doubled)


def least_group_count(near: int, rows: int, p: int, q: int) -> int:
    """Return a lower bound on the hands it takes if a row is near `near` others."""
    # Of these, its hand of at most rows / g + 1 rows holds more than near / g - 2. With the row
    # itself that must not be more than p/q of the hand.
    return max((q * near - p * rows) // (p + q) + 1, 1)


def column_layout(rows: int, unit: int, per: int) -> tuple[int, int]:
    """Return how many hands of whole columns there are, and how far apart similar rows must be."""
    # Rows are dealt to rows // per columns in turn: a column has `per` rows or one more. A hand of
    # c neighbouring columns has c rows side by side, no more than its share, and the next of its
    # rows are at least rows // per - c + 1 places on. If those are not similar, it will do.
    width = rows // per
    hands = width // -(-unit // per)
    return hands, width + 1 - -(-width // max(hands, 1))


@dataclass(frozen=True, eq=False)
class CompiledRule:
    """A rule in the form the compiled code reads."""

    kind: int  # one of the constants above
    numbers: tuple[int, ...]  # its parameters, see there; a fraction is a pair p, q
    # what it looks up, by code
    table: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    order: Ints | None = None  # the class of each code, if the rule looks at classes

    @property
    def modest(self) -> bool:
        """Whether all parameters are small enough for exact 64-bit arithmetic."""
        return all(abs(number) <= MODEST for number in self.numbers)
