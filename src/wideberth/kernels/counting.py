"""Counting rows that boxes let one expect: in the intervals of a query, and in single cells."""

from __future__ import annotations

from numba import njit

from wideberth.kernels.sort import JIT


@njit(**JIT)
def shares(start, first, last, missing, atoms, low, high, out):
    """Fill `out` with the share of what each label covers that lies in an interval of codes."""
    # Label i covers the codes first[j] to last[j], j from start[i] to start[i + 1], exclusive;
    # where `missing`, also the code `atoms`, above all others. `low` and `high` are both included.
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
    """Return how many rows of all boxes are expected in a query's intervals."""
    # `labels` and `inside` have a line for each axis; `low` and `high` are both included. Memory:
    # `share` has a place for each box, `some` one more.
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
    """Fill `out` with the rows expected in each cell: those with its value, weighted by box."""
    # Situation s is covered by boxes[begin[s] : begin[s + 1]]. A box weighs one over the number of
    # cells that it covers; its codes ascend.
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
