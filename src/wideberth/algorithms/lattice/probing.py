"""Checks under a budget, each node at most once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from wideberth.algorithms.lattice.problem import Engine, Verdict
from wideberth.algorithms.lattice.shape import Node
from wideberth.core.progress import Progress


@dataclass(frozen=True)
class Budget:
    """How long to search."""

    checks: int | None = None  # the most nodes to check
    seconds: float | None = None  # the longest time

    @property
    def endless(self) -> bool:
        """Whether there is no end before everything is settled."""
        return self.checks is None and self.seconds is None

    def less(self, checks: int, until: float) -> Budget | None:
        """Return what is left after some checks, and until a moment; None if that is nothing."""
        many = None if self.checks is None else self.checks - checks
        seconds = None if self.seconds is None else until - monotonic()
        if (many is not None and many <= 0) or (seconds is not None and seconds <= 0):
            return None
        return Budget(many, seconds)


class Probe:
    """Checks of nodes under a budget, each done once and remembered."""

    def __init__(self, engine: Engine, budget: Budget, progress: Progress | None = None) -> None:
        self.engine = engine
        self.budget = budget
        self.progress = progress
        self.known: dict[Node, Verdict] = {}
        self._until = None if budget.seconds is None else monotonic() + budget.seconds
        self._told = 0.0

    @property
    def checks(self) -> int:
        """How many nodes were checked."""
        return len(self.known)

    @property
    def last(self) -> bool:
        """Whether only one more check is allowed."""
        return self.budget.checks is not None and self.checks == self.budget.checks - 1

    @property
    def spent(self) -> bool:
        """Whether the budget is used up."""
        if self.budget.checks is not None and self.checks >= self.budget.checks:
            return True
        return self._until is not None and monotonic() > self._until

    def __call__(self, node: Node) -> Verdict:
        """Check a node."""
        if node not in self.known:
            self.known[node] = self.engine.check(node)
        return self.known[node]

    def tell(self, phase: str, settled: Callable[[], int], nodes: int) -> None:
        """Report how far the work is, a few times a second."""
        if self.progress is not None and monotonic() > self._told:
            self._told = monotonic() + 0.2
            self.progress(phase, settled(), nodes)
