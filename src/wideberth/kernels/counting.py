"""Counting rows that boxes let one expect: in the intervals of a query, and in single cells."""

from __future__ import annotations

from numba import njit

from wideberth.kernels.sorting import JIT


@njit(**JIT)
def shares(start, first, last, missing, atoms, low, high, out):
    """Return the share of what each label covers that lies in an interval of codes.

    Parameters
    ----------
    start, first, last : array of int
        Label i covers the codes ``first[j]`` to ``last[j]``, j from ``start[i]`` to
        ``start[i + 1]``.
    missing : array of bool
        Which labels cover the code of missing values, too.
    atoms : int
        That code; all others are below.
    low, high : int
        The interval, both ends included.
    out : array of float
        The share of each label.
    """
    for label in range(start.size - 1):
        inside = 0
        total = 0
        for run in range(start[label], start[label + 1]):
            total += last[run] - first[run] + 1
            begin = max(first[run], low)
            end = min(last[run], high)
            if begin <= end:
                inside += end - begin + 1
        if missing[label]:
            total += 1
            if low <= atoms <= high:
                inside += 1
        out[label] = inside / total if total else 0.0


@njit(**JIT)
def expected(labels, inside, asked, low, high, start, codes, counts, share, some):
    """Return how many rows of all boxes are expected in a query's intervals.

    Parameters
    ----------
    labels : array of int
        The labels of boxes, one line an axis.
    inside : array of float
        One line an axis: the share of each label that is inside.
    asked : array of int
        The axes that the query asks about.
    low, high : int
        The interval of sensitive codes, both ends included.
    start, codes, counts : array of int
        The sensitive values of each box: codes, and how many rows have each.
    share : array of float
        Memory: a place for each box.
    some : array of int
        Memory: a place for each box, and one more.
    """
    boxes = labels.shape[1]
    share[:boxes] = 1.0
    for axis in asked:
        for box in range(boxes):
            share[box] *= inside[axis, labels[axis, box]]
    many = 0
    for box in range(boxes):  # without a branch, which nobody could foresee
        some[many] = box
        many += share[box] > 0.0
    total = 0.0
    for i in range(many):
        box = some[i]
        rows = 0
        for entry in range(start[box], start[box + 1]):
            rows += counts[entry] * ((codes[entry] >= low) & (codes[entry] <= high))
        total += share[box] * rows
    return total


@njit(**JIT)
def likelihoods(begin, boxes, situation, value, weight, start, codes, counts, out):
    """Add up how many rows boxes put into cells: of each box, those with the value by its weight.

    Parameters
    ----------
    begin, boxes : array of int
        Situation s is covered by the boxes from ``begin[s]`` to ``begin[s + 1]``.
    situation, value : array of int
        The situation and the sensitive code of each cell.
    weight : array of float
        Of each box: one over the number of cells that it covers.
    start, codes, counts : array of int
        The sensitive values of each box: codes, ascending, and how many rows have each.
    out : array of float
        The sum for each cell.
    """
    for cell in range(situation.size):
        total = 0.0
        wanted = value[cell]
        for place in range(begin[situation[cell]], begin[situation[cell] + 1]):
            box = boxes[place]
            low = start[box]
            high = start[box + 1]
            while low < high:
                middle = (low + high) // 2
                if codes[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < start[box + 1] and codes[low] == wanted:
                total += counts[low] * weight[box]
        out[cell] = total
