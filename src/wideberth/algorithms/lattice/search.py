"""The best node: checks where they settle the most, until nothing better is left."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from time import monotonic

import numpy as np

from wideberth.algorithms.lattice.bounds import Bounds, bounds_module
from wideberth.algorithms.lattice.measures import AttributeMeasure, NodeMeasure
from wideberth.algorithms.lattice.problem import (
    LatticeNode,
    LatticeProblem,
    NodeChecker,
    NodeResult,
    Prices,
    outer_sum,
)
from wideberth.core.exact import Floats
from wideberth.core.progress import Progress
from wideberth.errors import ParameterError

# -----------------------------------------------------------------------------
# Checks under a budget, each node at most once.


@dataclass(frozen=True)
class SearchBudget:
    """How long to search."""

    checks: int | None = None  # the most nodes to check
    seconds: float | None = None  # the longest time

    @property
    def endless(self) -> bool:
        """Whether there is no end before everything is settled."""
        return self.checks is None and self.seconds is None

    def less(self, checks: int, until: float) -> SearchBudget | None:
        """Return what is left after some checks, and until a moment; None if that is nothing."""
        many = None if self.checks is None else self.checks - checks
        seconds = None if self.seconds is None else until - monotonic()
        if (many is not None and many <= 0) or (seconds is not None and seconds <= 0):
            return None
        return SearchBudget(many, seconds)


class NodeChecks:
    """Checks of nodes under a budget, each done once and remembered."""

    def __init__(
        self, engine: NodeChecker, budget: SearchBudget, progress: Progress | None = None
    ) -> None:
        self.engine = engine
        self.budget = budget
        self.progress = progress
        self.known: dict[LatticeNode, NodeResult] = {}
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

    def __call__(self, node: LatticeNode) -> NodeResult:
        """Check a node."""
        if node not in self.known:
            self.known[node] = self.engine.check(node)
        return self.known[node]

    def tell(self, phase: str, settled: Callable[[], int], nodes: int) -> None:
        """Report how far the work is, a few times a second."""
        if self.progress is not None and monotonic() > self._told:
            self._told = monotonic() + 0.2
            self.progress(phase, settled(), nodes)


# -----------------------------------------------------------------------------
# Which node to check next.


#: Nothing, for a logarithm.
_LITTLE = 0.1
#: So many degrees of coarseness are told apart.
_KINDS = 256
#: Where to look among the undecided nodes: small groups are more often near the best.
_SHARE = 0.3


class PromisingNodes:
    """A choice of the node whose check promises to settle the most others."""

    # A failure settles the nodes below, a success those later in the order of `merit`, the lower
    # the better. How likely either is has to be learned: the fewer values the levels have, the
    # fewer and larger groups there can be, so successes of finer nodes and failures of coarser ones
    # count.
    def __init__(self, ground: LatticeProblem, merit: Floats) -> None:
        shape = ground.shape
        self.marks = bounds_module()
        self.order = np.argsort(merit).astype(np.int32)
        self.axes = np.array(shape.dims, np.int64), np.array(shape.strides, np.int64)
        widths = [
            [x.width(level_index) for level_index in range(len(x))] for x in ground.quasi_levels
        ]
        fineness = outer_sum([np.log(width) for width in widths]).ravel()
        coarseness = 1 - fineness / max(float(fineness.max()), 1e-9)
        self.kind = np.rint(coarseness * (_KINDS - 1)).astype(np.int32)
        self.passed = np.full(_KINDS, 0.5, np.float32)
        self.failed = np.full(_KINDS, 0.5, np.float32)
        logs = np.log(np.maximum(np.arange(shape.nodes + 1), _LITTLE)).astype(np.float32)
        self.rest = logs, np.empty(shape.nodes, np.int32), np.empty(shape.nodes, np.int32)

    def __call__(self, low: Floats, bar: float) -> int:
        """Return a node to check, -1 if no node's bound is below the bar."""
        chance = self.passed / (self.passed + self.failed)
        rest = *self.axes, self.kind, chance, *self.rest
        return int(self.marks.choose(low, bar, self.order, *rest))

    def learn(self, index: int, success: bool) -> None:
        """Take note of a check."""
        kind = self.kind[index]
        if success:
            self.passed[kind:] += 1
        else:
            self.failed[: kind + 1] += 1


class NodesInOrder:
    """A choice of undecided nodes in the order of the sizes of groups that are to be expected."""

    # Where groups are too large, coarser nodes are settled, and where too many rows are lost, finer
    # ones are. Each check moves either front.
    def __init__(self, ground: LatticeProblem) -> None:
        self.marks = bounds_module()
        self.order = np.argsort(log_collision_chance(ground), kind="stable").astype(np.int32)

    def __call__(self, low: Floats, bar: float) -> int:
        """Return a node to check, -1 if no node's bound is below the bar."""
        return int(self.marks.choose_in_order(low, bar, self.order, _SHARE))

    def learn(self, index: int, success: bool) -> None:
        """Do nothing: there is nothing to learn."""


def log_collision_chance(ground: LatticeProblem) -> Floats:
    """Return how likely two rows are to share all values, if values were independent; as a log."""
    total: Floats = outer_sum(
        [np.log(quasi_level.crowding) for quasi_level in ground.quasi_levels]
    ).ravel()
    return total


# -----------------------------------------------------------------------------
# The best node: checks where they settle the most, until nothing better is left.


#: Scores that differ by less, relatively, count as equal.
SCORE_TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The result of a search."""

    node: LatticeNode | None  # the best node; None if none is admissible, or none was found
    verdict: NodeResult | None
    score: float  # its measure
    bound: float  # no node is better than that; the score itself, if the node is proven best
    proven: bool  # whether it is proven best
    ranking: Sequence[tuple[float, LatticeNode, NodeResult]] = ()  # the best nodes, the best first


class Ranking:
    """The best few nodes, the best first."""

    def __init__(self, many: int) -> None:
        self.many = many
        self.entries: list[tuple[float, LatticeNode, NodeResult]] = []

    @property
    def worst(self) -> float:
        """What a node must be better than to be among them."""
        return self.entries[-1][0] if len(self.entries) == self.many else np.inf

    def add(self, score: float, node: LatticeNode, verdict: NodeResult) -> None:
        """Put a node among them, if it is one of the best and not there yet."""
        if all(node != entry[1] for entry in self.entries):
            self.entries.append((score, node, verdict))
            self.entries.sort(key=lambda entry: entry[:2])
            del self.entries[self.many :]

    def refine(self, look: Callable[[LatticeNode], tuple[float, NodeResult] | None]) -> None:
        """Let the best node be the finest of those with its score, which no search looks for."""
        # `look` returns None if a node is not worth looking at.
        node: LatticeNode | None = self.entries[0][1] if self.entries else None
        while node is not None:
            steps = [lower(node, i) for i, level in enumerate(node) if level]
            node = None
            for finer in steps:
                seen = look(finer)
                best = self.entries[0][0]
                if seen is not None and seen[0] <= best + abs(best) * SCORE_TOLERANCE:
                    rest = [entry for entry in self.entries if entry[1] != finer]
                    self.entries = [(seen[0], finer, seen[1]), *rest][: len(self.entries)]
                    node = finer
                    break

    def found(self, floor: float, shown: Callable[[float], float] = float) -> SearchResult:
        """Return what was found, given that no other node is better than `floor`."""
        entries = [(shown(score), node, verdict) for score, node, verdict in self.entries]
        floor = shown(floor)
        if not entries:
            return SearchResult(None, None, np.inf, floor, floor == np.inf)
        score, node, verdict = entries[0]
        proven = floor >= score - abs(score) * SCORE_TOLERANCE
        return SearchResult(node, verdict, score, min(score, floor), proven, entries)


def lower(node: LatticeNode, i: int) -> LatticeNode:
    """Return the node with a quasi-identifier one level lower."""
    return (*node[:i], node[i] - 1, *node[i + 1 :])


def optimum(bounds: Bounds, probe: NodeChecks, many: int = 1) -> SearchResult:
    """Find a node with the best score, or the best few nodes."""
    ground, shape = bounds.ground, bounds.shape
    pick = NodesInOrder(ground) if bounds.two_sided else PromisingNodes(ground, bounds.low())
    ranking = Ranking(many)

    def look(node: LatticeNode) -> tuple[float, NodeResult] | None:
        ruled_out = bounds.floor[shape.index(node)] == np.inf
        if node not in probe.known and (probe.spent or ruled_out):
            return None
        verdict = probe(node)
        return (bounds.score(node, verdict), verdict) if ground.admits(verdict) else None

    while True:
        low = bounds.low()
        best = ranking.worst
        bar = best - abs(best) * SCORE_TOLERANCE if best < np.inf else best
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


# -----------------------------------------------------------------------------
# All minimal admissible nodes: Incognito's answer.


def find_minimal_nodes(ground: LatticeProblem, probe: NodeChecks) -> tuple[list[LatticeNode], bool]:
    """Find the nodes that are admissible while no finer one is; return whether these are all."""
    # Whatever lies above an admissible node is not minimal, and below a node where too many rows
    # are lost nothing is admissible. A minimal node is neither, so it is never skipped, whether
    # demands are monotone or not.
    shape = ground.shape
    undecided = np.zeros(shape.dims)  # infinite, where a node is decided
    flat = undecided.reshape(-1)
    pick = PromisingNodes(ground, shape.heights.ravel().astype(np.float64))
    admissible: list[LatticeNode] = []

    def learn(node: LatticeNode, verdict: NodeResult) -> None:
        fine = ground.admits(verdict)
        pick.learn(shape.index(node), fine)
        if fine:
            admissible.append(node)
            undecided[shape.above(node)] = np.inf
        if verdict.lost > ground.limit:
            undecided[shape.below(node)] = np.inf
        undecided[node] = np.inf

    for node, verdict in probe.known.items():  # by an earlier search
        learn(node, verdict)
    while (index := pick(flat, 1.0)) >= 0 and not probe.spent:
        node = shape.node(index)
        learn(node, probe(node))
        probe.tell("minimal nodes", lambda: int(np.isinf(flat).sum()), shape.nodes)
    return _minima(admissible), index < 0


def _minima(nodes: list[LatticeNode]) -> list[LatticeNode]:
    """Keep the nodes that are not above another.

    >>> _minima([(1, 1), (0, 1), (2, 0)])
    [(0, 1), (2, 0)]
    """
    if not nodes:
        return []
    levels = np.array(sorted(nodes, key=lambda node: (sum(node), node)))
    kept, many = np.empty_like(levels), 0
    for node in levels:
        if not (kept[:many] <= node).all(axis=1).any():
            kept[many] = node
            many += 1
    return sorted(tuple(node) for node in kept[:many].tolist())


# -----------------------------------------------------------------------------
# The best node of a lattice too large to be listed: branch and bound over boxes of nodes.
#
# A box is all that lies between a finest and a coarsest node. If the coarsest loses too many rows,
# the box holds nothing; else its lost rows, priced on the finest levels, bound the score of all
# nodes in it. The box with the lowest bound is cut in two, until the best node found is as good as
# any bound, or time is up; then the lowest bound says how far from the best it can be.


class BoxSearch:
    """A search without a list of nodes."""

    def __init__(self, ground: LatticeProblem, measure: NodeMeasure) -> None:
        if not isinstance(measure, AttributeMeasure):
            raise ParameterError(
                f"the lattice has {ground.shape.nodes:,} nodes, too many for the measure "
                f"'{measure.name}'",
                hint='measure = "loss", or levels = { age = [1, 3] } to have fewer nodes',
            )
        self.ground = ground
        self.measure = measure
        self.prices = Prices(ground.quasi_levels, measure.price)
        self.shares = measure.shares(np.array([x.quasi.weight for x in ground.quasi_levels]))

    def optimum(self, probe: NodeChecks, many: int = 1) -> SearchResult:
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

        def look(node: LatticeNode) -> tuple[float, NodeResult] | None:
            if probe.spent or not ground.admits(probe(node)):
                return None
            return self._score(node, probe(node).here), probe(node)

        ranking.refine(look)
        return ranking.found(np.inf, self._shown)

    def _halves(self, low: LatticeNode, high: LatticeNode) -> list[tuple[LatticeNode, LatticeNode]]:
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

    def _descend(self, probe: NodeChecks, ranking: Ranking) -> None:
        """Go down from the top, each time to the first finer node that is better: a good start."""
        node: LatticeNode | None = self.ground.shape.top
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

    def _consider(self, node: LatticeNode, probe: NodeChecks, ranking: Ranking) -> NodeResult:
        """Check a node, and put it among the best if it is one of them."""
        verdict = probe(node)
        if self.ground.admits(verdict):
            ranking.add(self._score(node, verdict.here), node, verdict)
        return verdict

    def _score(self, node: LatticeNode, costs: Floats | float) -> float:
        return self.measure.total(self.prices, self.ground.quasi_levels, node, costs)

    def _shown(self, score: float) -> float:
        return float(self.measure.unbend(score))
