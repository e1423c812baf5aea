"""Bounds on all nodes of a lattice, and the node whose check promises to settle the most others.

Nodes lie in a row; `strides` says how far the next level of each quasi-identifier is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wideberth.kernels.sort import JIT


@njit(**JIT)
def lift(bounds, strides, low, high, terms, at):
    """Raise the bounds of a box of nodes to a sum of terms, one for each level of each axis."""
    # `low` and `high` are the finest and the coarsest node of the box; terms[i, level] is what a
    # level of axis i adds. `at` is memory.
    last = low.size - 1
    first = np.int64(0)
    total = 0.0
    for i in range(last + 1):
        at[i] = low[i]
        first += low[i] * strides[i]
    while True:
        total = 0.0
        for i in range(last):
            total += terms[i, at[i]]
        for level in range(low[last], high[last] + 1):
            here = first + (level - low[last]) * strides[last]
            value = total + terms[last, level]
            if value > bounds[here]:
                bounds[here] = value
        i = last - 1
        while i >= 0:
            if at[i] < high[i]:
                at[i] += 1
                first += strides[i]
                break
            first -= (high[i] - low[i]) * strides[i]
            at[i] = low[i]
            i -= 1
        if i < 0:
            return


@njit(**JIT)
def choose(floor, bar, order, dims, strides, kind, chance, logs, under, later):
    """Return the node to check next, -1 if nothing is left to decide."""
    # Nodes with bounds below the bar are undecided; infinite bounds are ruled out. A check that
    # fails decides the undecided nodes under it; one that succeeds, those later in `order`. The
    # geometric mean of the two numbers, weighted by how likely they are, is to be as large as
    # possible. chance[kind[x]] is how likely a check of x succeeds; logs[0] is below log 1. Last
    # two: memory.
    nodes = floor.size
    left = np.int32(0)
    for x in range(nodes):
        under[x] = floor[x] < bar
    for place in range(nodes - 1, -1, -1):
        x = order[place]
        left += under[x]
        later[x] = left * under[x]
    if left == 0:
        return -1
    for i in range(dims.size):  # running sums along each axis: all that is under a node
        stride = strides[i]
        for begin in range(0, nodes, stride * dims[i]):
            if stride < 8:
                for x in range(begin + stride, begin + stride * dims[i]):
                    under[x] += under[x - stride]
                continue
            for at in range(begin, begin + stride * (dims[i] - 1), stride):  # many at a time
                here, there = under[at : at + stride], under[at + stride : at + 2 * stride]
                for x in range(stride):
                    there[x] += here[x]
    most = np.float32(-np.inf)
    chosen = -1
    for x in range(nodes):
        if floor[x] < np.inf:
            p = chance[kind[x]]
            gain = (np.float32(1) - p) * logs[under[x]] + p * logs[later[x]]
            if gain > most:
                most = gain
                chosen = x
    return chosen


@njit(**JIT)
def choose_in_order(floor, bar, order, share):
    """Return the undecided node that comes after a share of them all, -1 if there is none."""
    left = 0
    for x in range(floor.size):
        left += floor[x] < bar
    skip = int(share * left)
    for place in range(order.size):
        if floor[order[place]] < bar:
            if skip == 0:
                return order[place]
            skip -= 1
    return -1
