"""The best node: checks where they settle the most, until nothing better is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wideberth.algorithms.lattice.bounds import Bounds
from wideberth.algorithms.lattice.picking import InOrder, Promising
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.problem import Verdict
from wideberth.algorithms.lattice.shape import Node

#: Scores that differ by less, relatively, count as equal.
EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a search."""

    node: Node | None  # the best node; None if none is admissible, or none was found
    verdict: Verdict | None
    score: float  # its measure
    bound: float  # no node is better than that; the score itself, if the node is proven best
    proven: bool  # whether it is proven best
    ranking: Sequence[tuple[float, Node, Verdict]] = ()  # the best nodes, the best first


class Ranking:
    """The best few nodes, the best first."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.entries: list[tuple[float, Node, Verdict]] = []

    @property
    def worst(self) -> float:
        """What a node must be better than to be among them."""
        return self.entries[-1][0] if len(self.entries) == self.many else np.inf

    def add(self, score: float, node: Node, verdict: Verdict) -> None:
        """Put a node among them, if it is one of the best and not there yet."""
        if all(node != entry[1] for entry in self.entries):
            self.entries.append((score, node, verdict))
            self.entries.sort(key=lambda entry: entry[:2])
            del self.entries[self.many :]

    def refine(self, look: Callable[[Node], tuple[float, Verdict] | None]) -> None:
        """Let the best node be the finest of those with its score, which no search looks for."""
        # `look` returns None if a node is not worth looking at.
        node: Node | None = self.entries[0][1] if self.entries else None
        while node is not None:
            steps = [lower(node, i) for i, level in enumerate(node) if level]
            node = None
            for finer in steps:
                seen = look(finer)
                best = self.entries[0][0]
                if seen is not None and seen[0] <= best + abs(best) * EQUAL:
                    rest = [entry for entry in self.entries if entry[1] != finer]
                    self.entries = [(seen[0], finer, seen[1]), *rest][: len(self.entries)]
                    node = finer
                    break

    def found(self, floor: float, shown: Callable[[float], float] = float) -> Found:
        """Return what was found, given that no other node is better than `floor`."""
        entries = [(shown(score), node, verdict) for score, node, verdict in self.entries]
        floor = shown(floor)
        if not entries:
            return Found(None, None, np.inf, floor, floor == np.inf)
        score, node, verdict = entries[0]
        proven = floor >= score - abs(score) * EQUAL
        return Found(node, verdict, score, min(score, floor), proven, entries)


def lower(node: Node, i: int) -> Node:
    """Return the node with a quasi-identifier one level lower."""
    return (*node[:i], node[i] - 1, *node[i + 1 :])


def optimum(bounds: Bounds, probe: Probe, many: int = 1) -> Found:
    """Find a node with the best score, or the best few nodes."""
    ground, shape = bounds.ground, bounds.shape
    pick = InOrder(ground) if bounds.two_sided else Promising(ground, bounds.low())
    ranking = Ranking(many)

    def look(node: Node) -> tuple[float, Verdict] | None:
        ruled_out = bounds.floor[shape.index(node)] == np.inf
        if node not in probe.known and (probe.spent or ruled_out):
            return None
        verdict = probe(node)
        return (bounds.score(node, verdict), verdict) if ground.admits(verdict) else None

    while True:
        low = bounds.low()
        best = ranking.worst
        bar = best - abs(best) * EQUAL if best < np.inf else best
        index = pick(low, bar)
        late = index >= 0 and not ranking.entries and (probe.last or probe.spent)
        if late and probe.budget.checks != probe.checks and shape.top not in probe.known:
            index = shape.index(shape.top)  # if anything at all is admissible, most likely this
        elif index < 0 or probe.spent:
            floor = np.inf if index < 0 else float(low.min())
            ranking.refine(look)
            return ranking.found(floor, bounds.shown)
        node = shape.node(index)
        verdict = probe(node)
        pick.learn(index, verdict.lost <= ground.limit)
        if ground.admits(verdict):
            ranking.add(bounds.score(node, verdict), node, verdict)
        bounds.learn(node, verdict)
        probe.tell("searching", lambda: int((low >= bar).sum()), shape.nodes)  # noqa: B023
