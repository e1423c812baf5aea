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

from wideberth.algorithms.lattice.ground import Ground, Prices, Verdict
from wideberth.algorithms.lattice.measures import ByAttribute, Measure
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.search import EQUAL, Found, rank
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

    def optimum(self, probe: Probe, many: int = 1) -> Found:
        """Find the best node or the best few; or good ones within the budget."""
        ground = self.ground
        ranking: list[tuple[float, Node, Verdict]] = []
        self._descend(probe, ranking, many)
        ties = count()
        bottom, top = ground.shape.bottom, ground.shape.top
        heap = [(self._score(bottom, 0.0), next(ties), bottom, top)]
        done = 0
        while heap:
            bound, _, low, high = heapq.heappop(heap)
            worst = ranking[-1][0] if len(ranking) == many else np.inf
            if self._shown(bound) >= worst:
                break
            if probe.spent:
                return rank(ranking, self._shown(bound))
            verdict = probe(high)
            self._consider(high, verdict, ranking, many)
            if verdict.lost <= ground.limit and low != high:
                for part in self._halves(low, high):
                    own = max(bound, self._score(part[0], verdict.below))
                    if self._shown(own) < worst:
                        heapq.heappush(heap, (own, next(ties), *part))
            done += 1
            probe.tell("searching", lambda: done, done + len(heap))  # noqa: B023
        self._refine(probe, ranking)
        return rank(ranking, np.inf)

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

    def _descend(self, probe: Probe, ranking: list[tuple[float, Node, Verdict]], many: int) -> None:
        """Go down from the top, each time to the first finer node that is better: a good start."""
        node: Node | None = self.ground.shape.top
        self._consider(self.ground.shape.top, probe(self.ground.shape.top), ranking, many)
        while node is not None:
            steps = [_lower(node, i) for i, level in enumerate(node) if level]
            steps.sort(key=lambda finer: self._score(finer, 0.0))
            node = None
            for finer in steps:
                if probe.spent:
                    break
                best = ranking[0][0] if ranking else np.inf
                self._consider(finer, probe(finer), ranking, many)
                if ranking and ranking[0][0] < best:
                    node = finer
                    break

    def _refine(self, probe: Probe, ranking: list[tuple[float, Node, Verdict]]) -> None:
        """Let the best node be the finest of those with its score, which are not looked for."""
        node: Node | None = ranking[0][1] if ranking else None
        while node is not None:
            steps = [_lower(node, i) for i, level in enumerate(node) if level]
            node = None
            for finer in steps:
                if probe.spent:
                    return
                verdict = probe(finer)
                if self.ground.admits(verdict):
                    score = self._shown(self._score(finer, verdict.here))
                    if score <= ranking[0][0] * (1 + EQUAL):
                        rest = [entry for entry in ranking if entry[1] != finer]
                        ranking[:] = [(score, finer, verdict), *rest][: len(ranking)]
                        node = finer
                        break

    def _consider(
        self,
        node: Node,
        verdict: Verdict,
        ranking: list[tuple[float, Node, Verdict]],
        many: int,
    ) -> None:
        """Put a node among the best, if it is one of them."""
        if self.ground.admits(verdict) and all(node != entry[1] for entry in ranking):
            ranking.append((self._shown(self._score(node, verdict.here)), node, verdict))
            ranking.sort(key=lambda entry: entry[:2])
            del ranking[many:]

    def _score(self, node: Node, costs: Floats | float) -> float:
        return self.measure.total(self.prices, self.ground.ladders, node, costs)

    def _shown(self, score: float) -> float:
        return float(self.measure.unbend(score))


def _lower(node: Node, i: int) -> Node:
    return (*node[:i], node[i] - 1, *node[i + 1 :])
