"""Which node to check next."""

from __future__ import annotations

import numpy as np

from wideberth.algorithms.lattice.marking import marks
from wideberth.algorithms.lattice.problem import Ground
from wideberth.algorithms.lattice.shape import outer_sum
from wideberth.core.exact import Floats

#: Nothing, for a logarithm.
_LITTLE = 0.1
#: So many degrees of coarseness are told apart.
_KINDS = 256
#: Where to look among the undecided nodes: small groups are more often near the best.
_SHARE = 0.3


class Promising:
    """A choice of the node whose check promises to settle the most others."""

    # A failure settles the nodes below, a success those later in the order of `merit`, the lower
    # the better. How likely either is has to be learned: the fewer values the levels have, the
    # fewer and larger groups there can be, so successes of finer nodes and failures of coarser ones
    # count.
    def __init__(self, ground: Ground, merit: Floats) -> None:
        shape = ground.shape
        self.marks = marks()
        self.order = np.argsort(merit).astype(np.int32)
        self.axes = np.array(shape.dims, np.int64), np.array(shape.strides, np.int64)
        widths = [[x.width(rung) for rung in range(len(x))] for x in ground.ladders]
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


class InOrder:
    """A choice of undecided nodes in the order of the sizes of groups that are to be expected."""

    # Where groups are too large, coarser nodes are settled, and where too many rows are lost, finer
    # ones are. Each check moves either front.
    def __init__(self, ground: Ground) -> None:
        self.marks = marks()
        self.order = np.argsort(crowding(ground), kind="stable").astype(np.int32)

    def __call__(self, low: Floats, bar: float) -> int:
        """Return a node to check, -1 if no node's bound is below the bar."""
        return int(self.marks.choose_in_order(low, bar, self.order, _SHARE))

    def learn(self, index: int, success: bool) -> None:
        """Do nothing: there is nothing to learn."""


def crowding(ground: Ground) -> Floats:
    """Return how likely two rows are to share all values, if values were independent; as a log."""
    total: Floats = outer_sum([np.log(ladder.crowding) for ladder in ground.ladders]).ravel()
    return total
