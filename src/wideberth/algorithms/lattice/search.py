"""The best node: checks where they settle the most, until nothing better is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wideberth.algorithms.lattice.bounds import Bounds
from wideberth.algorithms.lattice.ground import Verdict
from wideberth.algorithms.lattice.picking import InOrder, Promising
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.shape import Node

#: Scores that differ by less, relatively, count as equal.
EQUAL = 1e-12


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
    ranking : sequence
        The best nodes, with their measures and what was learned of them; the best first.
    """

    node: Node | None
    verdict: Verdict | None
    score: float
    bound: float
    proven: bool
    ranking: Sequence[tuple[float, Node, Verdict]] = ()


def optimum(bounds: Bounds, probe: Probe, many: int = 1) -> Found:
    """Find a node with the best score, or the best few nodes."""
    ground, shape = bounds.ground, bounds.shape
    pick = InOrder(ground) if bounds.two_sided else Promising(ground, bounds.low())
    ranking: list[tuple[float, Node, Verdict]] = []
    while True:
        low = bounds.low()
        best = ranking[-1][0] if len(ranking) == many else np.inf
        bar = best - abs(best) * EQUAL if best < np.inf else best
        index = pick(low, bar)
        late = index >= 0 and not ranking and (probe.last or probe.spent)
        if late and probe.budget.checks != probe.checks and shape.top not in probe.known:
            index = shape.index(shape.top)  # if anything at all is admissible, most likely this
        elif index < 0 or probe.spent:
            floor = np.inf if index < 0 else float(low.min())
            if ranking:
                _refine(bounds, probe, ranking)
            return _found(bounds, ranking, floor)
        node = shape.node(index)
        verdict = probe(node)
        pick.learn(index, verdict.lost <= ground.limit)
        if ground.admits(verdict):
            ranking.append((bounds.score(node, verdict), node, verdict))
            ranking.sort(key=lambda entry: entry[:2])
            del ranking[many:]
        bounds.learn(node, verdict)
        probe.tell("searching", lambda: int((low >= bar).sum()), shape.nodes)  # noqa: B023


def _refine(bounds: Bounds, probe: Probe, ranking: list[tuple[float, Node, Verdict]]) -> None:
    """Let the best node be the finest of those with its score: equal ones were never looked at."""
    node = ranking[0][1]
    finer = [(*node[:i], level - 1, *node[i + 1 :]) for i, level in enumerate(node) if level]
    for other in finer:
        known = other in probe.known
        if not known and (probe.spent or bounds.floor[bounds.shape.index(other)] == np.inf):
            continue
        verdict = probe(other)
        score = bounds.score(other, verdict) if bounds.ground.admits(verdict) else np.inf
        if score <= ranking[0][0] + abs(ranking[0][0]) * EQUAL:
            rest = [entry for entry in ranking if entry[1] != other]
            ranking[:] = [(score, other, verdict), *rest][: len(ranking)]
            _refine(bounds, probe, ranking)
            return


def _found(bounds: Bounds, ranking: list[tuple[float, Node, Verdict]], floor: float) -> Found:
    """Say what was found, if nothing that is left is better than `floor`."""
    return rank(
        [(bounds.shown(score), node, verdict) for score, node, verdict in ranking],
        bounds.shown(floor),
    )


def rank(ranking: Sequence[tuple[float, Node, Verdict]], floor: float) -> Found:
    """Say what was found: some nodes, the best first, and that no other is better than `floor`."""
    if not ranking:
        return Found(None, None, np.inf, floor, floor == np.inf)
    score, node, verdict = ranking[0]
    proven = floor >= score - abs(score) * EQUAL
    return Found(node, verdict, score, min(score, floor), proven, ranking)
