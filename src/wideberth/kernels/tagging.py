"""Bounds on all nodes of a lattice, and the node whose check promises to settle the most others.

Nodes lie in a row; `strides` says how far the next level of each quasi-identifier is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from wideberth.kernels.sorting import JIT


@njit(**JIT)
def lift(bounds, strides, low, high, terms, at):
    """Raise the bounds of a box of nodes to a sum of terms, one for each level of each axis.

    Parameters
    ----------
    bounds : array of float
        One for each node.
    strides : array of int
        Of the axes.
    low, high : array of int
        The finest and the coarsest node of the box.
    terms : array of float
        What a level adds; a line for each axis.
    at : array of int
        Memory: a place for each axis.
    """
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
    """Return the node to be checked next; -1 if nothing is left to decide.

    Nodes with bounds below the bar are undecided. If a check fails, it decides the undecided nodes
    under it; if it succeeds, those that come later in the order are of no interest any more. The
    geometric mean of the two, by how likely they are, is to be as large as possible. Any node that
    is not ruled out may be checked, for what it decides.

    Parameters
    ----------
    floor : array of float
        The bounds, infinite for nodes that are ruled out.
    bar : float
        The best score so far.
    order : array of int32
        The nodes, promising ones first.
    dims, strides : array of int
        Of the axes.
    kind : array of int32
        Nodes of a kind are equally likely to succeed.
    chance : array of float32
        How likely that is.
    logs : array of float32
        Logarithms of whole numbers; of 0, something below.
    under, later : array of int32
        Memory: a place for each node.
    """
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
    """Return the undecided node that comes after such a share of them all; -1 if there is none."""
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
