"""What a search knows of all nodes: scores that they cannot be better than.

A node that is ruled out has an infinite bound. Two things are learned from a check. The rows that
are lost here are lost in every finer node, where they cost no less; if they are too many, the finer
nodes are ruled out. And where sizes of groups count, coarser nodes can only have larger ones.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from wideberth.algorithms.lattice.measures import (
    AttributeMeasure,
    CustomMeasure,
    Facts,
    NCPMeasure,
    NodeMeasure,
    SizeMeasure,
    node_levels,
)
from wideberth.algorithms.lattice.problem import (
    LatticeNode,
    LatticeProblem,
    NodeChecker,
    NodeResult,
    Prices,
    outer_sum,
)
from wideberth.core.exact import Floats, Ints
from wideberth.errors import ParameterError

# -----------------------------------------------------------------------------
# Bounds on all nodes, and which node to check next, in NumPy.
#
# The twin of `wideberth.kernels.lattice_judge`, which says what the functions do; both come to the
# same results, to the last bit. For small lattices numba takes longer to load than these take to
# run.


def bounds_module() -> Any:
    """Return the module to use: the compiled one, if numba has been loaded anyway."""
    if "numba" in sys.modules:
        from wideberth.kernels import lattice_judge

        return lattice_judge
    return sys.modules[__name__]


def lift(bounds: Floats, strides: Ints, low: Ints, high: Ints, terms: Floats, at: Ints) -> None:
    """Raise the bounds of a box of nodes to a sum of terms, one for each level of each axis."""
    box = tuple(slice(a, b + 1) for a, b in zip(low.tolist(), high.tolist(), strict=True))
    part = bounds.reshape(_dims(len(bounds), strides))[box]
    total = outer_sum([line[side] for line, side in zip(terms, box, strict=True)])
    np.maximum(part, total, out=part)


def choose(
    floor: Floats,
    bar: float,
    order: Any,
    dims: Ints,
    strides: Ints,
    kind: Any,
    chance: Any,
    logs: Any,
    under: Any,
    later: Any,
) -> int:
    """Return the node to check next, -1 if nothing is left to decide."""
    undecided = (floor < bar).astype(np.int32)
    if not undecided.any():
        return -1
    after = np.cumsum(undecided[order][::-1], dtype=np.int32)[::-1]
    later[order] = after * undecided[order]
    below = undecided.reshape(tuple(dims.tolist()))
    for axis in range(len(dims)):
        below = np.cumsum(below, axis=axis, dtype=np.int32)
    p = chance[kind]
    gain = (np.float32(1) - p) * logs[below.ravel()] + p * logs[later]
    return int(np.where(floor < np.inf, gain, np.float32(-np.inf)).argmax())


def choose_in_order(floor: Floats, bar: float, order: Any, share: float) -> int:
    """Return the undecided node that comes after a share of them all, -1 if there is none."""
    left = order[floor[order] < bar]
    return int(left[int(share * len(left))]) if len(left) else -1


def _dims(nodes: int, strides: Ints) -> tuple[int, ...]:
    """Return how many levels each axis has.

    >>> _dims(6, np.array([3, 1]))
    (2, 3)
    """
    steps = strides.tolist()
    return tuple(a // b for a, b in zip([nodes, *steps], steps, strict=False))


# -----------------------------------------------------------------------------
# What a search knows of all nodes: scores that they cannot be better than.


class Bounds(ABC):
    """Lower bounds of a measure, for all nodes of a lattice."""

    def __init__(self, ground: LatticeProblem, measure: NodeMeasure) -> None:
        self.ground = ground
        self.shape = ground.shape
        self.measure = measure
        self.strides = np.array(self.shape.strides, np.int64)
        self._marks = bounds_module()
        self._low = np.zeros(len(self.shape.dims), np.int64)
        self._top = np.array(self.shape.top, np.int64)
        self._at = np.zeros(len(self.shape.dims), np.int64)
        self._never = np.full((len(self.shape.dims), max(self.shape.dims)), np.inf)
        self._terms = np.zeros_like(self._never)
        self.floor = np.zeros(self.shape.nodes)

    #: Whether what is learned of a node raises the bounds of coarser nodes, too.
    two_sided: bool = False
    #: What suppressed rows cost, for the engine; None if it does not matter which rows they are.
    prices: Prices | None = None

    def low(self) -> Floats:
        """Return the bound of each node."""
        return self.floor

    @abstractmethod
    def score(self, node: LatticeNode, verdict: NodeResult) -> float:
        """Return what is minimised: the measure itself, or something that grows with it."""

    def shown(self, score: float) -> float:
        """Return the measure of a score."""
        return score

    def learn(self, node: LatticeNode, verdict: NodeResult) -> None:
        """Draw conclusions from a check. The node itself needs no further one."""
        here = np.array(node, np.int64)
        if verdict.lost > self.ground.limit:
            self._lift(self.floor, self._low, here, self._never)
            return
        self._infer(here, verdict)
        self.floor[self.shape.index(node)] = np.inf

    def _infer(self, here: Any, verdict: NodeResult) -> None:  # noqa: B027 - by default, nothing
        """Raise bounds of other nodes."""

    def _lift(self, bounds: Floats, low: Any, high: Any, terms: Floats) -> None:
        self._marks.lift(bounds, self.strides, low, high, terms, self._at)


class AttributeBounds(Bounds):
    """Bounds of a measure that adds up what quasi-identifiers lose."""

    measure: AttributeMeasure

    def __init__(self, ground: LatticeProblem, measure: AttributeMeasure) -> None:
        super().__init__(ground, measure)
        self.prices = Prices(ground.quasi_levels, measure.price)
        weights = np.array([quasi_level.quasi.weight for quasi_level in ground.quasi_levels])
        self.weights = measure.shares(weights)
        self.means = np.zeros_like(self._terms)
        for line, means in zip(self.means, self.prices.means, strict=True):
            line[: len(means)] = means
        self.floor = outer_sum(
            [w * measure.bend(x) for w, x in zip(self.weights, self.prices.means, strict=True)]
        ).ravel()

    def score(self, node: LatticeNode, verdict: NodeResult) -> float:
        """Add up what quasi-identifiers lose."""
        losses = self.means[range(len(node)), node] + verdict.here / self.ground.rows
        return float(self.weights @ self.measure.bend(losses))

    def shown(self, score: float) -> float:
        """Return the measure."""
        return float(self.measure.unbend(score))

    def _infer(self, here: Any, verdict: NodeResult) -> None:
        if verdict.lost:
            losses = self.means + (verdict.below / self.ground.rows)[:, None]
            terms = self.weights[:, None] * self.measure.bend(losses)
            self._lift(self.floor, self._low, here, terms)


class SizeBounds(Bounds):
    """Bounds of a measure of the sizes of groups."""

    measure: SizeMeasure

    def __init__(self, ground: LatticeProblem, measure: SizeMeasure) -> None:
        super().__init__(ground, measure)
        self.apart = np.zeros(self.shape.nodes)
        self.two_sided = ground.limit > 0  # else the first admissible node settles all above it

    def low(self) -> Floats:
        """Return the bound of each node."""
        return self.floor + self.apart

    def score(self, node: LatticeNode, verdict: NodeResult) -> float:
        """Return the measure."""
        return self.measure.score(verdict, self.ground.rows)

    def learn(self, node: LatticeNode, verdict: NodeResult) -> None:
        """Learn from a check; also of a node that is ruled out, for coarser ones may not be."""
        terms = self._terms
        terms[0] = self.measure.floor(verdict, self.ground.rows, self.ground.limit)
        self._lift(self.floor, np.array(node, np.int64), self._top, terms)
        super().learn(node, verdict)

    def _infer(self, here: Any, verdict: NodeResult) -> None:
        if apart := self.measure.apart(verdict):
            self._terms[0] = apart
            self._lift(self.apart, self._low, here, self._terms)


class NoBounds(Bounds):
    """A measure of which nothing is known."""

    measure: CustomMeasure

    def __init__(self, ground: LatticeProblem, measure: CustomMeasure) -> None:
        super().__init__(ground, measure)
        self.prices = Prices(ground.quasi_levels, NCPMeasure().price)
        self.floor -= np.inf
        self.engine: NodeChecker | None = None

    def score(self, node: LatticeNode, verdict: NodeResult) -> float:
        """Ask the function."""
        ground, engine, prices = self.ground, self.engine, self.prices
        assert engine is not None  # noqa: S101 - set before the search
        assert prices is not None  # noqa: S101 - they are the NCP's
        means = [means[level_index] for means, level_index in zip(prices.means, node, strict=True)]
        losses = np.array(means) + verdict.here / ground.rows
        facts = Facts(
            levels=node_levels(ground.quasi_levels, node),
            rows=ground.rows,
            suppressed=verdict.suppressed,
            groups=verdict.kept,
            losses=dict(zip((x.name for x in ground.quasi_levels), losses.tolist(), strict=True)),
            sizes=lambda: engine.sizes(node),
        )
        score = self.measure.function(facts)
        if isinstance(score, bool) or not isinstance(score, int | float | np.number):
            raise ParameterError("the measure must return a number, for every node")
        if np.isnan(score):
            raise ParameterError("the measure returned no number (NaN) for some node")
        return float(score)


def bounds_for(ground: LatticeProblem, measure: NodeMeasure) -> Bounds:
    """Return the bounds of a measure."""
    if isinstance(measure, AttributeMeasure):
        return AttributeBounds(ground, measure)
    if isinstance(measure, SizeMeasure):
        return SizeBounds(ground, measure)
    assert isinstance(measure, CustomMeasure)  # noqa: S101 - there are no others
    return NoBounds(ground, measure)
