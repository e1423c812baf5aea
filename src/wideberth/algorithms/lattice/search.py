"""The best node: checks where they settle the most, until nothing better is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wideberth.algorithms.lattice.bounds import Bounds
from wideberth.algorithms.lattice.ground import Verdict
from wideberth.algorithms.lattice.picking import InOrder, Promising
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.shape import Node

#: Scores that differ by less, relatively, count as equal.
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search.

    Parameters
    ----------
    node, verdict : optional
        The best node; None if none is admissible, or none was found.
    score : float
        Its measure.
    bound : float
        No node is better than that. It is the score if the best node is proven best.
    proven : bool
        Whether it is.
    """

    node: Node | None
    verdict: Verdict | None
    score: float
    bound: float
    proven: bool


def optimum(bounds: Bounds, probe: Probe) -> Found:
    """Find a node with the best score."""
    ground, shape = bounds.ground, bounds.shape
    pick = InOrder(ground) if bounds.two_sided else Promising(ground, bounds.low())
    best, found = np.inf, Found(None, None, np.inf, np.inf, True)
    while True:
        low = bounds.low()
        bar = best - abs(best) * _EQUAL if best < np.inf else best
        index = pick(low, bar)
        if index < 0:
            return found
        if probe.spent:
            floor = bounds.shown(min(float(low.min()), best))
            return Found(found.node, found.verdict, found.score, floor, proven=False)
        node = shape.node(index)
        verdict = probe(node)
        pick.learn(index, verdict.lost <= ground.limit)
        if ground.admits(verdict):
            score = bounds.score(node, verdict)
            if score < best:
                best = score
                found = Found(node, verdict, bounds.shown(best), bounds.shown(best), True)
        bounds.learn(node, verdict)
        probe.tell("searching", lambda: int((low >= bar).sum()), shape.nodes)  # noqa: B023
