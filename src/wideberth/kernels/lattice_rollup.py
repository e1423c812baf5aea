"""Tables of the nodes of a lattice: rows are counted once, then counts are rolled up.

The table of a node lists its groups: a key, how many rows, and a histogram of sensitive values. In
a key every quasi-identifier has a field of its own; to raise one by some levels is to add a number
that depends on the field alone. So the table of a node comes from the table of any finer one,
without a look at the rows. All tables lie in one pool; when it is full, all are dropped but the
first, from which every other can be made again.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from wideberth.kernels.sort import INNER, JIT

#: 2^64 over the golden ratio spreads whatever it multiplies over the high bits.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
#: A table with more groups is rolled up one quasi-identifier at a time, for the sake of others.
_LARGE = 4000

#: Entries of TablePool.state: how many tables there are, groups, entries of histograms; how often
#: all tables were dropped.
TABLES, GROUPS, ENTRIES, DROPPED = range(4)
#: Columns of TablePool.spans: the first group of a table, and how many there are.
BEGIN, MANY = range(2)
#: Columns of KeyLayout.fields.
WORD, SHIFT, MASK = range(3)


class TablePool(NamedTuple):
    """The tables that there are."""

    keys: Any  # of all groups, a line for each word of a key
    sizes: Any  # rows of each group
    lines: Any  # histograms with a place for every value; no places if there are lists
    start: Any  # histograms as lists: where those of a group begin; empty if there are lines
    codes: Any  # the values that occur, ascending within a group
    counts: Any  # how often they occur
    levels: Any  # the node of each table
    spans: Any  # by table, columns see above
    state: Any  # see above


class KeyLayout(NamedTuple):
    """Where quasi-identifiers are in a key, and how they are raised."""

    fields: Any  # a line for each: word, shift and mask
    deltas: Any  # what raises a field, by its content
    at: Any  # where that begins: by quasi-identifier, lower and higher level
    crowding: Any  # how likely two rows share a value: by quasi-identifier and level


class RollupBuffers(NamedTuple):
    """Memory to work in."""

    slots: Any  # for hashing: a power of 2, at least twice the number of groups
    raised: Any  # raised keys, a line for each word
    label: Any  # a place for each group, as in the next two
    head: Any
    after: Any
    dense: Any  # a place for each value; zero before and after
    bits: Any  # a bit for each value; zero before and after
    level: Any  # a place for each quasi-identifier


#: The most tables there can be at a time.
_TABLES = 4096


def make_table_pool(
    groups: int, words: int, axes: int, lines: int = 0, entries: int = 0
) -> TablePool:
    """Return a pool without tables."""
    # `groups` and `entries` are room; `lines` is the width of a histogram with a place for each
    # value.
    return TablePool(
        keys=np.empty((words, groups), np.int64),
        sizes=np.empty(groups, np.int32),
        lines=np.empty((groups if lines else 0, lines), np.int32),
        start=np.empty(groups + 1 if entries else 0, np.int32),
        codes=np.empty(entries, np.int32),
        counts=np.empty(entries, np.int32),
        levels=np.zeros((_TABLES, axes), np.int16),
        spans=np.zeros((_TABLES, 2), np.int64),
        state=np.zeros(4, np.int64),
    )


def make_rollup_buffers(groups: int, words: int, width: int, axes: int) -> RollupBuffers:
    """Return memory for tables of `groups` groups, and histograms of `width` values."""
    return RollupBuffers(
        slots=np.empty(1 << max(2 * groups - 1, 1).bit_length(), np.int32),
        raised=np.empty((words, groups), np.int64),
        label=np.empty(groups, np.int32),
        head=np.empty(groups, np.int32),
        after=np.empty(groups, np.int32),
        dense=np.zeros(width, np.int32),
        bits=np.zeros(width // 64 + 1, np.uint64),
        level=np.zeros(axes, np.int16),
    )


@njit(**JIT)
def count_keys(keys, weights, entries, pool, room):
    """Make the first table from the entries' keys; `room.label` gets the group of each."""
    # An entry stands for as many rows as its weight; without weights, for one.
    for w in range(keys.shape[0]):
        for j in range(entries):
            room.raised[w, j] = keys[w, j]
    found = _distinct(entries, 0, pool, room)
    for g in range(found):
        pool.sizes[g] = 0
    if weights.size:
        for j in range(entries):
            pool.sizes[room.label[j]] += weights[j]
    else:
        for j in range(entries):
            pool.sizes[room.label[j]] += 1
    return found


@njit(**JIT)
def count_values(label, codes, weights, offset, lines):
    """Count the values of rows in histograms that have a place for every value."""
    if weights.size:
        for j in range(label.size):
            lines[label[j], offset + codes[j]] += weights[j]
    else:
        for j in range(label.size):
            lines[label[j], offset + codes[j]] += 1


@njit(**INNER, inline="always")
def node_table(node, pool, layout, room):
    """Find or make the table of a node; return which it is."""
    source = _nearest(pool, node)
    straight = False
    while True:
        begin, many = pool.spans[source, BEGIN], pool.spans[source, MANY]
        entries = 0
        if pool.start.size:
            entries = pool.start[begin + many] - pool.start[begin]
        changes = 0
        merged = np.inf
        most = 0
        for i in range(node.size):
            a, b = pool.levels[source, i], node[i]
            room.level[i] = b
            if a != b:
                changes += 1
                merging = layout.crowding[i, a] / layout.crowding[i, b]
                if merging < merged:
                    merged = merging
                    most = i
        if changes == 0:
            return source
        if changes > 1 and many > _LARGE and not straight:
            for i in range(node.size):
                if i != most:
                    room.level[i] = pool.levels[source, i]
        if (
            pool.state[TABLES] == pool.spans.shape[0]
            or pool.state[GROUPS] + many > pool.sizes.size
            or pool.state[ENTRIES] + entries > pool.codes.size
        ):
            pool.state[DROPPED] += 1
            pool.state[TABLES] = 1
            pool.state[GROUPS] = pool.spans[0, MANY]
            pool.state[ENTRIES] = 0
            if pool.start.size:
                pool.state[ENTRIES] = pool.start[pool.spans[0, MANY]]
            source = 0
            straight = True  # there is always room for one more table, but perhaps not for two
            continue
        source = _roll(source, pool, layout, room)


@njit(**INNER, inline="always")
def _nearest(pool, node):
    """Return the smallest table that is no coarser than a node."""
    chosen = 0
    for t in range(1, pool.state[TABLES]):
        if pool.spans[t, MANY] < pool.spans[chosen, MANY]:
            finer = True
            for i in range(node.size):
                finer &= pool.levels[t, i] <= node[i]
            if finer:
                chosen = t
    return chosen


@njit(**INNER, inline="always")
def _roll(source, pool, layout, room):
    """Make the table of the node `room.level` from a finer one; return which it is."""
    first, many = pool.spans[source, BEGIN], pool.spans[source, MANY]
    for w in range(pool.keys.shape[0]):
        raised = room.raised[w]
        keys = pool.keys[w, first : first + many]
        for j in range(many):
            raised[j] = keys[j]
    for i in range(layout.fields.shape[0]):
        a, b = pool.levels[source, i], room.level[i]
        if a != b:
            raised = room.raised[layout.fields[i, WORD]]
            shift, mask = layout.fields[i, SHIFT], layout.fields[i, MASK]
            delta = layout.deltas[layout.at[i, a, b] :]
            for j in range(many):
                raised[j] += delta[(raised[j] >> shift) & mask]
    begin = pool.state[GROUPS]
    found = _distinct(many, begin, pool, room)
    label = room.label[:many]
    old, new = pool.sizes[first : first + many], pool.sizes[begin : begin + found]
    for g in range(found):
        new[g] = 0
    for j in range(many):
        new[label[j]] += old[j]
    if pool.lines.shape[1]:
        _add_lines(pool.lines[first : first + many], pool.lines[begin : begin + found], label)
    if pool.start.size:
        pool.state[ENTRIES] = _add_lists(first, begin, found, label, pool, room)
    table = pool.state[TABLES]
    pool.spans[table, BEGIN] = begin
    pool.spans[table, MANY] = found
    for i in range(room.level.size):
        pool.levels[table, i] = room.level[i]
    pool.state[TABLES] = table + 1
    pool.state[GROUPS] = begin + found
    return table


@njit(**INNER, inline="always")
def _distinct(many, begin, pool, room):
    """Find out which raised keys are equal, and put the distinct ones into the pool."""
    size = 2
    shift = np.uint64(63)
    while size < 2 * many:
        size *= 2
        shift -= np.uint64(1)
    mask = size - 1
    slots = room.slots[:size]
    for i in range(size):
        slots[i] = -1
    found = np.int32(0)
    first, keys, label = room.raised[0], pool.keys[0, begin:], room.label
    if room.raised.shape[0] == 1:  # the rule, and worth a loop that is quick
        for j in range(many):
            key = first[j]
            at = np.int64((np.uint64(key) * _GOLDEN) >> shift)
            while True:
                group = slots[at]
                if group < 0:
                    slots[at] = group = found
                    keys[found] = key
                    found += 1
                    break
                if keys[group] == key:
                    break
                at = (at + 1) & mask
            label[j] = group
        return found
    for j in range(many):
        mixed = np.uint64(0)
        for w in range(room.raised.shape[0]):
            mixed = (mixed ^ np.uint64(room.raised[w, j])) * _GOLDEN
        at = np.int64(mixed >> shift)
        while True:
            group = slots[at]
            if group < 0:
                slots[at] = group = found
                for w in range(room.raised.shape[0]):
                    pool.keys[w, begin + found] = room.raised[w, j]
                found += 1
                break
            same = True
            for w in range(room.raised.shape[0]):
                same &= pool.keys[w, begin + group] == room.raised[w, j]
            if same:
                break
            at = (at + 1) & mask
        label[j] = group
    return found


@njit(**INNER, inline="always")
def _add_lines(old, new, label):
    """Add up histograms that have a place for every value."""
    for g in range(new.shape[0]):
        for v in range(new.shape[1]):
            new[g, v] = 0
    for j in range(label.size):
        g = label[j]
        for v in range(new.shape[1]):
            new[g, v] += old[j, v]


@njit(**INNER, inline="always")
def _add_lists(first, begin, groups, label, pool, room):
    """Add up histograms that list their values; return where the entries end."""
    head, after, dense, bits = room.head, room.after, room.dense, room.bits
    start, codes, counts = pool.start, pool.codes, pool.counts
    for g in range(groups):
        head[g] = -1
    for j in range(label.size):  # a list of the parts of each group
        after[j] = head[label[j]]
        head[label[j]] = j
    end = pool.state[ENTRIES]
    for g in range(groups):
        start[begin + g] = end
        j = head[g]
        if after[j] < 0:  # a single part
            for e in range(start[first + j], start[first + j + 1]):
                codes[end] = codes[e]
                counts[end] = counts[e]
                end += 1
            continue
        low = bits.size
        high = -1
        while j >= 0:
            for e in range(start[first + j], start[first + j + 1]):
                v = codes[e]
                dense[v] += counts[e]
                bits[v >> 6] |= np.uint64(1) << np.uint64(v & 63)
                low = min(low, v >> 6)
                high = max(high, v >> 6)
            j = after[j]
        for w in range(low, high + 1):
            rest = bits[w]
            bits[w] = 0
            v = w << 6
            while rest:
                while rest & np.uint64(0xFF) == 0:
                    rest >>= np.uint64(8)
                    v += 8
                if rest & np.uint64(1):
                    codes[end] = v
                    counts[end] = dense[v]
                    dense[v] = 0
                    end += 1
                rest >>= np.uint64(1)
                v += 1
    start[begin + groups] = end
    return end
