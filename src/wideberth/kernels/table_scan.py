"""One look at some rows of a large table: what a split tree wants to know of them.

Rows find their node by going down the tree. A node may want a table: by attribute and value, how
many rows there are, and the extremes of all attributes among them. And it may put questions: the
histogram of sensitive values of the rows on the left of a cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt
from numba import njit

from wideberth.kernels.sort import JIT

NumberLine = npt.NDArray[Any]


class ScanTree(NamedTuple):
    """The tree, and what is asked where; an entry for each node."""

    by: NumberLine  # the attribute a node is cut by; -1: it is not cut
    value: NumberLine  # the last value on the left
    child: NumberLine  # the number of the left child; the right one is next
    table: NumberLine  # the table that rows are entered in; -1: none
    # the questions put to all rows that pass, as a place in `CountedCuts.first`; -1: none
    ask: NumberLine


class CountedCuts(NamedTuple):
    """Cuts whose left halves are counted."""

    first: NumberLine  # those asked under number i are first[i] to first[i + 1], exclusive
    by: NumberLine  # the attribute; -1: all rows of the node
    value: NumberLine  # the last value on the left


class ScanArrays(NamedTuple):
    """What is found."""

    counts: NumberLine  # rows by table and cell, a cell for each value of each attribute
    lows: NumberLine  # by table, cell and attribute: the extremes among these rows
    highs: NumberLine  # likewise
    # rows by question and cell, a cell for each sensitive value or class of values
    histograms: NumberLine


@njit(**JIT)
def look(codes, views, begins, cells, cell_begins, paths, questions, scan_counts):
    """Look at rows once; codes and sensitive values have a line for each attribute."""
    d, n = codes.shape
    for i in range(n):
        node = 0
        asked = -1
        while True:
            if paths.ask[node] >= 0:
                asked = paths.ask[node]
            by = paths.by[node]
            if by < 0:
                break
            node = paths.child[node] + (codes[by, i] > paths.value[node])
        table = paths.table[node]
        if table >= 0:
            for a in range(d):
                cell = begins[a] + codes[a, i]
                scan_counts.counts[table, cell] += 1
                low, high = scan_counts.lows[table, cell], scan_counts.highs[table, cell]
                for b in range(d):
                    x = codes[b, i]
                    if x < low[b]:
                        low[b] = x
                    if x > high[b]:
                        high[b] = x
        if asked < 0:
            continue
        for q in range(questions.first[asked], questions.first[asked + 1]):
            by = questions.by[q]
            if by < 0 or codes[by, i] <= questions.value[q]:
                for j in range(views.shape[0]):
                    scan_counts.histograms[q, cells[cell_begins[j] + views[j, i]]] += 1


@njit(**JIT)
def route(codes, by, value, child, nodes):
    """Fill `nodes` with the leaf that each row ends in."""
    for i in range(codes.shape[1]):
        node = 0
        while by[node] >= 0:
            node = child[node] + (codes[by[node], i] > value[node])
        nodes[i] = node
