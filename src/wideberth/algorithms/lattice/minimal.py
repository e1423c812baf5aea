"""All minimal admissible nodes: Incognito's answer."""

from __future__ import annotations

import numpy as np

from wideberth.algorithms.lattice.picking import Promising
from wideberth.algorithms.lattice.probing import Probe
from wideberth.algorithms.lattice.problem import Ground, Verdict
from wideberth.algorithms.lattice.shape import Node


def minimal(ground: Ground, probe: Probe) -> tuple[list[Node], bool]:
    """Find the nodes that are admissible while no finer one is; return whether these are all."""
    # Whatever lies above an admissible node is not minimal, and below a node where too many rows
    # are lost nothing is admissible. A minimal node is neither, so it is never skipped, whether
    # demands are monotone or not.
    shape = ground.shape
    undecided = np.zeros(shape.dims)  # infinite, where a node is decided
    flat = undecided.reshape(-1)
    pick = Promising(ground, shape.heights.ravel().astype(np.float64))
    admissible: list[Node] = []

    def learn(node: Node, verdict: Verdict) -> None:
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


def _minima(nodes: list[Node]) -> list[Node]:
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
