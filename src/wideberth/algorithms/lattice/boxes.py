"""The best node of a lattice too large to be listed: branch and bound over boxes of nodes.

A box is all that lies between a finest and a coarsest node. If the coarsest loses too many rows,
the box holds nothing; else its lost rows, priced on the finest levels, bound the score of all nodes
in it. The box with the lowest bound is cut in two, until the best node found is as good as any
bound, or time is up; then the lowest bound says how far from the best it can be.
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count

import numpy as np

from wideberth.algorithms.lattice.ground import Ground, Prices, Verdict
from wideberth.algorithms.lattice.measures import ByAttribute, Measure
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.search import Found
from wideberth.algorithms.lattice.shape import Node
from wideberth.errors import ParameterError
from wideberth.exact import Floats


class Boxes:
    """A search without a list of nodes.

    Parameters
    ----------
    ground : Ground
        The lattice.
    measure : Measure
        What is to be as small as possible; one that prices quasi-identifiers by themselves.
    """

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

    def optimum(self, probe: Probe) -> Found:
        """Find the best node, or a good one within the budget."""
        ground = self.ground
        found = self._descend(probe)
        ties = count()
        heap = [(-np.inf, next(ties), ground.shape.bottom, ground.shape.top)]
        done = 0
        while heap:
            bound, _, low, high = heapq.heappop(heap)
            if self._shown(bound) >= found.score:
                break
            if probe.spent:
                return replace(found, bound=self._shown(bound), proven=False)
            done += 1
            verdict = probe(high)
            found = self._better(found, high, verdict)
            if verdict.lost <= ground.limit and low != high:
                for part in self._halves(low, high):
                    bound = self._score(part[0], verdict.below)
                    if self._shown(bound) < found.score:
                        heapq.heappush(heap, (bound, next(ties), *part))
            probe.tell("searching", lambda: done, done + len(heap))  # noqa: B023
        return found

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

    def _descend(self, probe: Probe) -> Found:
        """Go down from the top, each time to the first finer node that is better: a good start."""
        node: Node | None = self.ground.shape.top
        found = Found(None, None, np.inf, np.inf, True)
        while node is not None:
            found = self._better(found, node, probe(node))
            steps = [_lower(node, i) for i, level in enumerate(node) if level]
            steps.sort(key=lambda finer: self._score(finer, 0.0))
            node = None
            for finer in steps:
                if probe.spent:
                    break
                if self._better(found, finer, probe(finer)) is not found:
                    node = finer
                    break
        return found

    def _better(self, found: Found, node: Node, verdict: Verdict) -> Found:
        """Return the better of two nodes."""
        if not self.ground.admits(verdict):
            return found
        score = self._shown(self._score(node, verdict.here))
        return found if score >= found.score else Found(node, verdict, score, score, True)

    def _score(self, node: Node, costs: Floats | float) -> float:
        return self.measure.total(self.prices, self.ground.ladders, node, costs)

    def _shown(self, score: float) -> float:
        return float(self.measure.unbend(score))


def _lower(node: Node, i: int) -> Node:
    return (*node[:i], node[i] - 1, *node[i + 1 :])
