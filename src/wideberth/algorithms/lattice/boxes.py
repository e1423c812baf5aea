"""The best node of a lattice too large to be listed: branch and bound over boxes of nodes.

A box is all that lies between a finest and a coarsest node. If the coarsest loses too many rows,
the box holds nothing; else its lost rows, priced on the finest levels, bound the score of all nodes
in it. The box with the lowest bound is cut in two, until the best node found is as good as any
bound, or time is up; then the lowest bound says how far from the best it can be.
"""

from __future__ import annotations

import heapq
from itertools import count

import numpy as np

from wideberth.algorithms.lattice.measures import ByAttribute, Measure
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.problem import Ground, Prices, Verdict
from wideberth.algorithms.lattice.search import Found, Ranking, lower
from wideberth.algorithms.lattice.shape import Node
from wideberth.core.exact import Floats
from wideberth.errors import ParameterError


class Boxes:
    """A search without a list of nodes."""

    def __init__(self, ground: Ground, measure: Measure) -> None:
        if not isinstance(measure, ByAttribute):
            raise ParameterError(
                f"the lattice has {ground.shape.nodes:,} nodes, too many for the measure "
                f"'{measure.name}'",
                hint='measure = "loss", or levels = { age = [1, 3] } to have fewer nodes',
            )
        self.ground = ground
        self.measure = measure
        self.prices = Prices(ground.ladders, measure.price)
        self.shares = measure.shares(np.array([x.quasi.weight for x in ground.ladders]))

    def optimum(self, probe: Probe, many: int = 1) -> Found:
        """Find the best node or the best few; or good ones within the budget."""
        ground = self.ground
        ranking = Ranking(many)
        self._descend(probe, ranking)
        ties = count()
        bottom, top = ground.shape.bottom, ground.shape.top
        heap = [(self._score(bottom, 0.0), next(ties), bottom, top)]
        done = 0
        while heap:
            bound, _, low, high = heapq.heappop(heap)
            if bound >= ranking.worst:
                break
            if probe.spent:
                return ranking.found(bound, self._shown)
            verdict = self._consider(high, probe, ranking)
            if verdict.lost <= ground.limit and low != high:
                for part in self._halves(low, high):
                    own = max(bound, self._score(part[0], verdict.below))
                    if own < ranking.worst:
                        heapq.heappush(heap, (own, next(ties), *part))
            done += 1
            probe.tell("searching", lambda: done, done + len(heap))  # noqa: B023

        def look(node: Node) -> tuple[float, Verdict] | None:
            if probe.spent or not ground.admits(probe(node)):
                return None
            return self._score(node, probe(node).here), probe(node)

        ranking.refine(look)
        return ranking.found(np.inf, self._shown)

    def _halves(self, low: Node, high: Node) -> list[tuple[Node, Node]]:
        """Cut a box in two, where the coarser half has to lose the most."""

        def loss(i: int) -> float:
            means = self.prices.means[i]
            middle = (low[i] + high[i]) // 2
            return float(self.shares[i] * (means[middle + 1] - means[low[i]]))

        i = max((i for i in range(len(low)) if low[i] < high[i]), key=loss)
        middle = (low[i] + high[i]) // 2
        lower = (*high[:i], middle, *high[i + 1 :])
        upper = (*low[:i], middle + 1, *low[i + 1 :])
        return [(low, lower), (upper, high)]

    def _descend(self, probe: Probe, ranking: Ranking) -> None:
        """Go down from the top, each time to the first finer node that is better: a good start."""
        node: Node | None = self.ground.shape.top
        self._consider(self.ground.shape.top, probe, ranking)
        while node is not None:
            steps = [lower(node, i) for i, level in enumerate(node) if level]
            steps.sort(key=lambda finer: self._score(finer, 0.0))
            node = None
            for finer in steps:
                if probe.spent:
                    break
                self._consider(finer, probe, ranking)
                if ranking.entries and ranking.entries[0][1] == finer:
                    node = finer
                    break

    def _consider(self, node: Node, probe: Probe, ranking: Ranking) -> Verdict:
        """Check a node, and put it among the best if it is one of them."""
        verdict = probe(node)
        if self.ground.admits(verdict):
            ranking.add(self._score(node, verdict.here), node, verdict)
        return verdict

    def _score(self, node: Node, costs: Floats | float) -> float:
        return self.measure.total(self.prices, self.ground.ladders, node, costs)

    def _shown(self, score: float) -> float:
        return float(self.measure.unbend(score))
