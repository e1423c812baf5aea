"""Rows dealt to hands in turn, known by their ranks alone: whether a hand is crowded.

Hand h holds every g-th rank from h on. Of a window of L ranks each hand holds floor(L / g), and
some neighbouring hands (in a circle) hold one more. So no hand need be looked at: intervals of them
tell all.
"""

from __future__ import annotations

import numpy as np

from wideberth.core.exact import Bools, Ints


def crowded(
    running: Ints, windows: tuple[Ints, Ints], hands: int, rows: int, allowed: tuple[int, ...]
) -> bool:
    """Return whether some hand holds a value and too many rows of the value's window."""
    # `running` is the rank at which each value begins, at last the number of rows; `windows` are
    # the ranks at which each value's window begins and ends (exclusive). `allowed` is how many rows
    # of a window a smaller hand may hold, and one with a row more.
    begin, end = windows
    held = np.diff(running)
    there = held > 0
    begin, end, held, first = begin[there], end[there], held[there], running[:-1][there]
    own = _circle(first, np.minimum(held, hands), hands)
    more = _circle(begin, (end - begin) % hands, hands)
    base = (end - begin) // hands
    longer = rows % hands  # so many hands, the first ones, have a row more
    everywhere = [(np.zeros_like(base), np.full_like(base, hands))]
    for low, high, limit in ((longer, hands, allowed[0]), (0, longer, allowed[1])):
        if (_meet(own, everywhere, low, high) & (base > limit)).any():
            return True
        if (_meet(own, more, low, high) & (base + 1 > limit)).any():
            return True
    return False


def _circle(begin: Ints, length: Ints, hands: int) -> list[tuple[Ints, Ints]]:
    """Return an interval of hands, which may go round, as two that do not."""
    start = begin % hands
    end = start + length
    return [(start, np.minimum(end, hands)), (np.zeros_like(end), np.maximum(end - hands, 0))]


def _meet(
    some: list[tuple[Ints, Ints]], others: list[tuple[Ints, Ints]], low: int, high: int
) -> Bools:
    """Return where intervals of two kinds meet between two hands."""
    found = np.zeros(len(some[0][0]), dtype=bool)
    for a, b in some:
        for c, d in others:
            found |= np.maximum(np.maximum(a, c), low) < np.minimum(np.minimum(b, d), high)
    return found
