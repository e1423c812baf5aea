"""How strong a parameter can be where that is hard to tell: what is certain on either side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from wideberth.principles.feasibility.rounding import rounded
from wideberth.principles.partition.decide import Verdict

#: Asks for a value: the verdict, and the end that it moves: how far a yes, or a no, is known.
Probe = Callable[[Fraction], tuple[Verdict, Fraction]]


@dataclass(frozen=True)
class Bracket:
    """Bounds on the strongest value of a parameter; what lies between them is unknown."""

    feasible: Fraction | None  # possible up to here; None if no value is known to be
    infeasible: Fraction | None  # impossible from here on; None if no value is known to be
    attained: bool = True  # whether `feasible` itself is possible, not only what is below
    beyond: bool = False  # whether only values above `infeasible` are impossible, not itself
    every: bool = False  # whether all values are possible

    @property
    def gap(self) -> Fraction | None:
        """How far the two are apart: 0 if nothing is left to know, None if one is not known."""
        if self.every or (self.feasible is None and self.infeasible == 0):
            return Fraction(0)
        if self.feasible is None or self.infeasible is None:
            return None
        return self.infeasible - self.feasible


class Narrowing:
    """A search that moves both ends of a bracket towards each other."""

    def __init__(
        self,
        low: Fraction,
        high: Fraction | None,
        *,
        top: Fraction,
        between: Callable[[Fraction, Fraction], Fraction],
        close: Callable[[Fraction, Fraction], bool],
    ) -> None:
        # `low` is possible; all from `high` on is impossible; nothing above `top` is asked for.
        self.low, self.high, self.top = low, high, top
        self.between, self.close = between, close

    def ask(self, value: Fraction, probe: Probe) -> Verdict:
        """Ask for a value, and move an end if the answer is certain."""
        verdict, end = probe(value)
        if verdict == "yes":
            self.low = max(self.low, end)
        elif verdict == "no":
            self.high = end if self.high is None else min(self.high, end)
        return verdict

    def lower(self, probe: Probe, tries: int) -> None:
        """Look for the first no; below it, the answer may be unknown for a while."""
        edge = self.low
        for _ in range(tries):
            high = self.top if self.high is None else self.high
            edge = max(edge, self.low)
            if edge >= high or self.close(edge, high):
                break
            middle = self.between(edge, high)
            if self.ask(middle, probe) != "no":
                edge = middle

    def lift(self, probe: Probe, tries: int, guesses: Iterable[Fraction] = ()) -> None:
        """Look for the last yes, first at some guesses; above it, the answer may be unknown."""
        edge = self.top
        for guess in guesses:
            if self.low < guess <= edge and self.ask(guess, probe) != "yes":
                edge = guess
        for _ in range(tries):
            edge = min(edge, self.top if self.high is None else self.high)
            if self.low >= edge or self.close(self.low, edge):
                break
            middle = self.between(self.low, edge)
            if self.ask(middle, probe) != "yes":
                edge = middle


def halfway(low: Fraction, high: Fraction) -> Fraction:
    """Return a short number about halfway between two others.

    >>> halfway(Fraction(1, 2), Fraction(3, 4))
    Fraction(5, 8)
    """
    middle = (low + high) / 2
    short = rounded(middle, up=False)
    return short if low < short < high else middle


def last(most: int, possible: Callable[[int], bool]) -> int:
    """Return the last possible number from 1 to ``most``, possible ones coming first; else 0.

    >>> last(9, lambda number: number * number < 30)
    5
    """
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        if possible(middle):
            low = middle
        else:
            most = middle - 1
    return low
