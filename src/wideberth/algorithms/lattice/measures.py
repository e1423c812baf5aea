"""How good a node is: measures of what generalisation and suppression lose, lower is better.

Most measures price every quasi-identifier by itself: what a row loses when its value is published
on a level, and what more when the row is suppressed. The others look at the sizes of groups.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.algorithms.lattice.problem import LatticeNode, NodeResult, Prices
from wideberth.core.exact import Floats
from wideberth.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Facts:
    """What a measure may look at."""

    levels: dict[str, int]  # of each quasi-identifier
    rows: int  # of the table
    suppressed: int  # how many rows
    groups: int  # that are published
    # of each quasi-identifier, from 0 to 1: the mean over all rows of the share of the domain that
    # the published value spans; a suppressed row counts as spanning all of it
    losses: dict[str, float]
    sizes: Callable[[], Any]  # returns the sizes of the published groups


class NodeMeasure(ABC):
    """What is lost in a node. One number, lower is better."""

    name: ClassVar[str]
    title: ClassVar[str]
    reference: ClassVar[str]


class AttributeMeasure(NodeMeasure):
    """A measure that adds up what quasi-identifiers lose, after bending each one's loss."""

    @abstractmethod
    def price(self, quasi_level: QuasiLevels, level_index: int) -> tuple[float, Floats]:
        """Return the mean loss on a level, and how much more each of its codes would lose."""

    def total(
        self, prices: Prices, quasi_levels: Sequence[QuasiLevels], node: LatticeNode, costs: Any
    ) -> float:
        """Add up what a node loses, given what suppression costs; rows are those of the ladders."""
        rows = quasi_levels[0].rows
        means = [means[level_index] for means, level_index in zip(prices.means, node, strict=True)]
        shares = self.shares(np.array([quasi_level.quasi.weight for quasi_level in quasi_levels]))
        return float(shares @ self.bend(np.array(means) + costs / rows))

    def shares(self, weights: Floats) -> Floats:
        """Return how much each quasi-identifier counts, given their weights."""
        return weights / weights.sum()

    def bend(self, losses: Any) -> Any:
        """Return what is added up."""
        return losses

    def unbend(self, total: Any) -> Any:
        """Return the measure, given the sum by shares of what is added up."""
        return total


def _mean(quasi_level: QuasiLevels, level_index: int, costs: Floats) -> float:
    counts = quasi_level.counts(level_index)
    return float(costs @ counts / counts.sum())


class NCPMeasure(AttributeMeasure):
    """The mean over rows and quasi-identifiers of the share of the domain that a value spans."""

    name = "ncp"
    title = "normalized certainty penalty"
    reference = "Xu, Wang, Pei, Wang, Shi, Fu 2006, Sec. 3"

    def price(self, quasi_level: QuasiLevels, level_index: int) -> tuple[float, Floats]:
        """Price a value by the leaves it stands for."""
        costs = quasi_level.extents(level_index)
        return _mean(quasi_level, level_index, costs), 1 - costs


class LossMeasure(NCPMeasure):
    """The geometric mean over quasi-identifiers of 1 plus that share, less 1."""

    name = "loss"
    title = "loss (geometric, as in ARX)"
    reference = "Iyengar 2002; Prasser, Kohlmayer 2015"

    def bend(self, losses: Any) -> Any:
        """Return logarithms: their mean is that of the geometric mean."""
        return np.log1p(losses)

    def unbend(self, total: Any) -> Any:
        """Undo the logarithm."""
        return np.expm1(total)


class PrecisionMeasure(AttributeMeasure):
    """The mean over rows and quasi-identifiers of the level over the highest one; 1 less Prec."""

    name = "precision"
    title = "height of the levels used, 1 - Prec"
    reference = "Sweeney 2002, Def. 4"

    def price(self, quasi_level: QuasiLevels, level_index: int) -> tuple[float, Floats]:
        """Price a value by its level; a suppressed row is on the highest."""
        cost = quasi_level.levels[level_index] / max(quasi_level.tree.height, 1)
        return cost, np.full(quasi_level.width(level_index), 1.0 - cost)


class HeightMeasure(AttributeMeasure):
    """The sum of the levels, whatever is suppressed."""

    name = "height"
    title = "sum of the levels"
    reference = "LeFevre, DeWitt, Ramakrishnan 2005; Samarati 2001"

    def price(self, quasi_level: QuasiLevels, level_index: int) -> tuple[float, Floats]:
        """Price a level."""
        return float(quasi_level.levels[level_index]), np.zeros(quasi_level.width(level_index))

    def shares(self, weights: Floats) -> Floats:
        """Count all levels alike."""
        return np.ones_like(weights)


class EntropyMeasure(AttributeMeasure):
    """The bits that generalisation takes from the quasi-identifiers, as a share of all."""

    name = "entropy"
    title = "non-uniform entropy"
    reference = "Gionis, Tassa 2009, Sec. 4; De Waal, Willenborg 1999"

    def price(self, quasi_level: QuasiLevels, level_index: int) -> tuple[float, Floats]:
        """Price a value by the bits that it lacks."""
        # A row whose value a was generalised to g loses log(n_g / n_a), by how often both occur in
        # the table; a suppressed row log(n / n_a).
        rows = quasi_level.rows
        finest = quasi_level.quasi.domain.histogram
        all_bits = np.log2(rows) - float(_xlog(finest).sum()) / rows
        if all_bits <= 0:
            return 0.0, np.zeros(quasi_level.width(level_index))
        counts = quasi_level.counts(level_index)
        lost = float(_xlog(counts).sum() - _xlog(finest).sum()) / rows
        gap = np.log2(rows) - np.log2(np.maximum(counts, 1))
        return lost / all_bits, gap / all_bits


def _xlog(counts: Any) -> Floats:
    return counts * np.log2(np.maximum(counts, 1))


class SizeMeasure(NodeMeasure):
    """A measure of the sizes of groups."""

    @abstractmethod
    def score(self, verdict: NodeResult, rows: int) -> float:
        """Return the measure of a node."""

    @abstractmethod
    def floor(self, verdict: NodeResult, rows: int, limit: int) -> float:
        """Return what no coarser node can be better than."""

    def apart(self, verdict: NodeResult) -> float:
        """Return what lost rows add to that for every finer node at least."""
        return 0.0


class DiscernibilityMeasure(SizeMeasure):
    """The sum of squared sizes; a suppressed row counts as one that is confused with all others."""

    name = "discernibility"
    title = "discernibility"
    reference = "Bayardo, Agrawal 2005"

    def score(self, verdict: NodeResult, rows: int) -> float:
        """Charge every row the size of its group, and a suppressed one all rows."""
        return float(verdict.squares_kept + verdict.suppressed * rows)

    def floor(self, verdict: NodeResult, rows: int, limit: int) -> float:
        """Return the sum of squares: coarser groups are unions of these."""
        return float(verdict.squares)

    def apart(self, verdict: NodeResult) -> float:
        """Charge a lost row all rows, not those of its group."""
        return float(verdict.apart)


class AverageSizeMeasure(SizeMeasure):
    """The published rows per published group."""

    name = "average-size"
    title = "average class size"
    reference = "LeFevre, DeWitt, Ramakrishnan 2006 (without the division by k)"

    def score(self, verdict: NodeResult, rows: int) -> float:
        """Return the mean size, infinite if nothing is published."""
        return (rows - verdict.suppressed) / verdict.kept if verdict.kept else float("inf")

    def floor(self, verdict: NodeResult, rows: int, limit: int) -> float:
        """Return the least mean: coarser nodes have fewer groups, and suppress up to the limit."""
        return (rows - limit) / verdict.groups


@dataclass(frozen=True)
class CustomMeasure(NodeMeasure):
    """A user's measure: a function of `Facts`."""

    # nothing is assumed of it, so every node that may be admissible is checked
    function: Callable[[Facts], float]
    title: ClassVar[str] = "a measure of your own"
    reference: ClassVar[str] = ""

    @cached_property
    def name(self) -> str:  # type: ignore[override]
        """The function's name."""
        return getattr(self.function, "__name__", "custom")


NODE_MEASURES: dict[str, NodeMeasure] = {
    measure.name: measure
    for measure in (
        LossMeasure(),
        NCPMeasure(),
        DiscernibilityMeasure(),
        AverageSizeMeasure(),
        PrecisionMeasure(),
        HeightMeasure(),
        EntropyMeasure(),
    )
}


def measure_of(given: str | Callable[[Facts], float] | NodeMeasure) -> NodeMeasure:
    """Return a measure by name, or a user's function as one."""
    if isinstance(given, NodeMeasure):
        return given
    if callable(given):
        return CustomMeasure(given)
    if given not in NODE_MEASURES:
        raise ParameterError(
            f"measure must be one of {', '.join(NODE_MEASURES)}", hint='measure = "loss"'
        )
    return NODE_MEASURES[given]


def node_levels(quasi_levels: Sequence[QuasiLevels], node: LatticeNode) -> dict[str, int]:
    """Return the level of the hierarchy for each quasi-identifier of a node."""
    return {
        quasi_level.name: quasi_level.levels[level_index]
        for quasi_level, level_index in zip(quasi_levels, node, strict=True)
    }
