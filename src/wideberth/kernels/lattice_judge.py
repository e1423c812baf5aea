"""Which groups of a node satisfy, how many rows any finer node must lose, and what that costs.

A node that suppresses few enough rows is admissible. Whether finer ones can be is another question
unless every demand survives the addition of rows: a group that fails may hold smaller ones that
satisfy. But satisfying groups are closed under union, so all that can be kept of a group, however
it is divided, is a multiset that satisfies. The size of the largest one, M, bounds what any finer
node keeps; the rows beyond M are lost below, whatever one does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from wideberth.kernels import kinds
from wideberth.kernels.group_tests import (
    ATTRIBUTE,
    CODE,
    COUNT,
    KIND,
    NUMBERS,
    OFFSET,
    TALLY,
    VALUE,
    WIDTH,
    _passes,
    _share,
)
from wideberth.kernels.lattice_rollup import BEGIN, MANY, MASK, SHIFT, WORD, node_table
from wideberth.kernels.sort import INNER, JIT

# -----------------------------------------------------------------------------
# Bounds on all nodes of a lattice, and the node whose check promises to settle the most others.
#
# Nodes lie in a row; `strides` says how far the next level of each quasi-identifier is.


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


# -----------------------------------------------------------------------------
# Which groups of a node satisfy, how many rows any finer node must lose, and what that costs.


#: Kinds of eased tests: all of a failing group may be kept below, or nothing.
ALL, NOTHING = -1, -2


class LatticeTests(NamedTuple):
    """What is demanded of groups."""

    unit: int  # the fewest rows a group may have
    limit: int  # how many rows may be lost; beyond that nothing else matters, and the work ends
    rows: int
    tests: Any  # as in `GroupTests`, but an attribute is where its values begin in histograms
    tables: Any  # as in `GroupTests`
    eased: Any  # for each test, the test of a multiset kept of a failing group; or ALL or NOTHING
    test_buffers: Any  # memory, as in `wideberth.kernels.group_tests`


class SuppressionCosts(NamedTuple):
    """What suppression costs, and memory for a verdict on each group."""

    prices: Any  # by content of a field: how much more a suppressed row costs than a published one
    at: Any  # where the prices begin: by quasi-identifier and level
    fine: Any  # for each group, whether it satisfies
    most: Any  # for each group, how many of its rows can be kept below
    bad: Any  # the groups that fail
    # by quasi-identifier: of all rows of failing groups; of those no finer node can keep
    costs: Any
    totals: Any  # what else is counted, see below


#: Entries of SuppressionCosts.totals: rows that are lost here and below, rows of failing groups,
#: groups that satisfy, all groups, squares of all sizes, of those of groups that satisfy, and what
#: the lost rows add to the squares of any finer node.
LOST, SUPPRESSED, KEPT, GROUPS, SQUARES, SQUARES_KEPT, APART = range(7)


@njit(**JIT)
def reach_node(node, pool, layout, room, lattice_tests, suppression_costs):
    """Find or make the table of a node, and mark the groups that are large enough."""
    # Returns the number of the table. The rows of smaller groups are lost.
    table = node_table(node, pool, layout, room)
    begin, many = pool.spans[table, BEGIN], pool.spans[table, MANY]
    sizes, fine, most = (
        pool.sizes[begin : begin + many],
        suppression_costs.fine,
        suppression_costs.most,
    )
    lost = squares = np.int64(0)
    for g in range(many):
        n = np.int64(sizes[g])
        enough = n >= lattice_tests.unit
        fine[g] = enough
        most[g] = n * enough
        lost += n * (not enough)
        squares += n * n
    suppression_costs.totals[LOST] = lost
    suppression_costs.totals[GROUPS] = many
    suppression_costs.totals[SQUARES] = squares
    return table


@njit(**JIT)
def judge_node_groups(table, pool, lattice_tests, suppression_costs):
    """Put all groups to all tests; return how many rows are lost here and below."""
    begin, many = pool.spans[table, BEGIN], pool.spans[table, MANY]
    lost = suppression_costs.totals[LOST]
    for g in range(many):
        if lost > lattice_tests.limit:
            break
        kept = np.int64(suppression_costs.most[g])
        if kept == 0:
            continue
        attribute = np.int64(-1)
        entries = 0
        for t in range(lattice_tests.tests.shape[0]):
            test = lattice_tests.tests[t]
            if test[ATTRIBUTE] != attribute:
                attribute = test[ATTRIBUTE]
                entries = _histogram(begin + g, test, pool, lattice_tests.test_buffers)
            size, line = np.int64(pool.sizes[begin + g]), COUNT
            cap = low = np.int64(0)
            high = np.int64(-1)  # the highest cap that passes is between low and high
            while True:
                # What could be kept of a failing group is tried by this same call: a second one
                # would take twice as long to compile.
                good = _passes(
                    test,
                    lattice_tests.tables,
                    size,
                    entries,
                    lattice_tests.test_buffers[VALUE],
                    lattice_tests.test_buffers[line],
                    lattice_tests.test_buffers[TALLY],
                )
                if line == COUNT:
                    if good:
                        break
                    suppression_costs.fine[g] = 0
                    test = lattice_tests.eased[t]
                    if test[KIND] != kinds.ENTROPY and test[KIND] != kinds.RECURSIVE:
                        kept = min(
                            kept,
                            _most(
                                test,
                                lattice_tests.tables,
                                size,
                                entries,
                                lattice_tests.test_buffers,
                            ),
                        )
                        break
                    line = CODE
                    for e in range(entries):
                        high = max(high, lattice_tests.test_buffers[COUNT, e])
                elif good:
                    low = cap
                else:
                    high = cap - 1
                cap = (low + high + 1) // 2
                if low >= high:  # entropy: some of the values may have one more
                    some = low or test[NUMBERS + 3]
                    cap = low + 1 if some and test[KIND] == kinds.ENTROPY else low
                size = _cap(test, lattice_tests.tables, entries, lattice_tests.test_buffers, cap)
                if low >= high:
                    kept = min(kept, size)
                    break
        if kept < lattice_tests.unit:
            kept = np.int64(0)
        lost += suppression_costs.most[g] - kept
        suppression_costs.most[g] = kept
    suppression_costs.totals[LOST] = lost
    return lost


@njit(**INNER, inline="always")
def _histogram(group, test, pool, test_buffers):
    """Put the histogram of an attribute in the buffers; return how many entries it has."""
    value, count = test_buffers[VALUE], test_buffers[COUNT]
    first = test[ATTRIBUTE]
    entries = 0
    if pool.start.size:
        for e in range(pool.start[group], pool.start[group + 1]):
            v = pool.codes[e] - first
            if 0 <= v < test[WIDTH]:
                value[entries] = v
                count[entries] = pool.counts[e]
                entries += 1
    else:
        for v in range(test[WIDTH]):
            value[entries] = v
            count[entries] = pool.lines[group, first + v]
            entries += count[entries] != 0
    return entries


@njit(**INNER)
def _most(test, tables, n, entries, test_buffers):
    """Return the size of the largest multiset within a group that passes a test, or more."""
    kind = test[KIND]
    at = test[OFFSET]
    value, count, tally = test_buffers[VALUE], test_buffers[COUNT], test_buffers[TALLY]
    p, q, third = test[NUMBERS], test[NUMBERS + 1], test[NUMBERS + 2]
    # By halving: each of these tests fails for all larger sizes once it fails for one (the proofs
    # are with `wideberth.algorithms.suppression`).
    low, high = np.int64(0), n
    if kind < 0:
        return n if kind == ALL else low
    if kind == kinds.CROWD:
        # What is free is kept without any crowd.
        free = entries > 0 and tables[at + value[entries - 1]] < value[entries - 1]
        best = np.int64(count[entries - 1]) if free else np.int64(0)
        while low < high:  # the largest crowd that is no more than its share of what is kept then
            crowd = (low + high + 1) // 2
            kept = _thin(at, tables, entries, value, count, crowd, test_buffers[CODE])
            if crowd <= kept * p // q:
                low = crowd
                best = kept
            else:
                high = crowd - 1
        return best
    # t-closeness: a multiset of so many rows lacks at least what the group has too little of.
    nodes = under = np.int64(0)
    scale = np.int64(1)
    if kind == kinds.TREE:
        nodes, scale = test[NUMBERS + 4], test[NUMBERS + 3]
        node_of = at + test[NUMBERS + 8] + 1
        under = node_of + test[NUMBERS + 9]
        for e in range(entries):
            for i in range(tables[at + value[e]], tables[at + value[e] + 1]):
                tally[tables[node_of + i]] += count[e]
    while low < high:
        size = (low + high + 1) // 2
        lacking = np.int64(0)
        if kind == kinds.TREE:
            for v in range(nodes):
                lacking += max(size * tables[under + v] - tally[v] * third, 0)
            lacking *= test[NUMBERS + 10]
        else:
            lacking = size * third
            for e in range(entries):
                lacking -= min(size * tables[at + value[e]], count[e] * third)
        if lacking <= _share(p, q, size * third * scale):
            low = size
        else:
            high = size - 1
    for v in range(nodes):
        tally[v] = 0
    return low


@njit(**INNER, inline="always")
def _cap(test, tables, entries, test_buffers, cap):
    """Cap the counts, but not those of values that may be disclosed; return their sum."""
    kept = np.int64(0)
    for e in range(entries):
        count = test_buffers[COUNT, e]
        if test[KIND] == kinds.RECURSIVE:
            free = tables[test[OFFSET] + test_buffers[VALUE, e]] != 0
        else:
            free = test[NUMBERS + 3] != 0 and test_buffers[VALUE, e] == test[NUMBERS + 2]
        test_buffers[CODE, e] = count if free else min(count, cap)
        kept += test_buffers[CODE, e]
    return kept


@njit(**INNER, inline="always")
def _thin(at, tables, entries, value, count, crowd, quota):
    """Return the most rows without a larger crowd: from the left, each value keeps what it can."""
    kept = inside = first = np.int64(0)
    for e in range(entries):
        while first < e and tables[at + value[first]] < value[e]:
            inside -= quota[first]
            first += 1
        free = tables[at + value[e]] < value[e]
        quota[e] = count[e] if free else min(count[e], crowd - inside)
        inside += quota[e]
        kept += quota[e]
    return kept


@njit(**JIT)
def weigh_suppression(node, table, pool, layout, lattice_tests, suppression_costs):
    """Add up what suppression costs here, and what lost rows will cost in all finer nodes."""
    begin, many = pool.spans[table, BEGIN], pool.spans[table, MANY]
    sizes, bad, most, totals = (
        pool.sizes[begin : begin + many],
        suppression_costs.bad,
        suppression_costs.most,
        suppression_costs.totals,
    )
    failing = 0
    for g in range(many):
        bad[failing] = g
        failing += suppression_costs.fine[g] == 0
    suppressed = squares = apart = np.int64(0)
    for b in range(failing):
        n = np.int64(sizes[bad[b]])
        suppressed += n
        squares += n * n
        apart += (n - most[bad[b]]) * (lattice_tests.rows - n)
    totals[SUPPRESSED] = suppressed
    totals[KEPT] = many - failing
    totals[SQUARES_KEPT] = totals[SQUARES] - squares
    totals[APART] = apart
    for i in range(node.size):
        fields = layout.fields[i]
        keys = pool.keys[fields[WORD], begin : begin + many]
        prices = suppression_costs.prices[suppression_costs.at[i, node[i]] :]
        here = below = 0.0
        for b in range(failing):
            g = bad[b]
            price = prices[(keys[g] >> fields[SHIFT]) & fields[MASK]]
            here += sizes[g] * price
            below += (sizes[g] - most[g]) * price
        suppression_costs.costs[0, i] = here
        suppression_costs.costs[1, i] = below
