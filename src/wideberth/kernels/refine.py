"""Taking a small block of rows apart at ranks, with a narrow beam.

Near the leaves, cuts at values waste rows: a group of 14 where 10 would do. Here the rows are
ordered by one attribute, ties by the others, and may be cut at any place, also between equal
values. Cuts that waste no rows (both halves hold as many units as the whole) are preferred.
"""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, njit, types

from wideberth.kernels.group_tests import (
    GROUP_COUNT,
    GROUP_TESTS,
    SENSITIVE,
    TEST_BUFFERS,
    jit_cut_tries,
)
from wideberth.kernels.kinds import EFFORT_AT_RANKS
from wideberth.kernels.sort import INNER, JIT, POINTED, heapify, sift, sort


class BeamParameters(NamedTuple):
    """How to look for cuts at ranks."""

    # how many of the cheapest cuts are followed up in nodes of `narrow` rows to fewer than `wide`;
    # elsewhere one
    beam: int
    narrow: int
    wide: int
    thrifty: int  # whether cuts that waste rows are out of the question


class LeafArrays(NamedTuple):
    """The leaves: their rows' ranks side by side, and for each its size and number of hands."""

    ranks: npt.NDArray[np.uint32]
    sizes: npt.NDArray[np.int32]
    hands: npt.NDArray[np.int32]


class RankedRows(NamedTuple):
    """Rows in the order of the first sensitive attribute."""

    rows: npt.NDArray[np.uint32]  # their ranks, and below them their limits
    codes: npt.NDArray[np.int32]  # their quasi-identifiers, as in the next
    places: npt.NDArray[np.int32]
    # their places in a secret order, the row of each such place, and room for an index: rows with
    # equal quasi-identifiers must not be told apart by their sensitive values
    ties: npt.NDArray[np.int32]


@njit(**INNER)
def leaf_loss(places, chosen, n, g, line):
    """Return rows times extent; for a leaf to be dealt, the mean of that over random hands."""
    # The deal itself must not be looked at: it depends on the sensitive values. The expected range
    # of a random q-subset weighs the i-th smallest place by the chance that it is the largest.
    total = 0.0
    g = abs(g)
    q = n // g
    for b in range(places.shape[1]):
        low = high = np.int64(places[chosen[0], b])
        for i in range(n):
            line[i] = places[chosen[i], b]
            low = min(low, line[i])
            high = max(high, line[i])
        if g == 1 or low == high:
            total += high - low
            continue
        if q == 1:  # a row by itself has no extent, which the sum below might miss by rounding
            continue
        sort(line, n)
        chance = q / n
        for i in range(n - 1, q - 2, -1):
            total += chance * (line[i] - line[n - 1 - i])
            chance = chance * (i - q + 1) / max(i, 1)
    return max(total, 0.0) * n  # rounding may leave less than nothing


@njit(**INNER)
def _candidates(block, chosen, n, unit, room):
    """Compute the loss of every cut at a rank, -1 where there is none; return the largest."""
    d = block.codes.shape[1]
    low, high, wide, least, most = room[0], room[1], room[2], room[3], room[4]
    keys, behind = room[5], room[6]
    for b in range(d):
        low[b] = high[b] = block.codes[chosen[0], b]
        x = y = np.int64(block.places[chosen[0], b])
        for i in range(n):
            low[b] = min(low[b], block.codes[chosen[i], b])
            high[b] = max(high[b], block.codes[chosen[i], b])
            x = min(x, block.places[chosen[i], b])
            y = max(y, block.places[chosen[i], b])
        wide[b] = (np.int64(2**31) - (y - x)) * d + b
    sort(wide, d)
    worst = np.int64(0)
    for a in range(d):
        # Of the i-th chosen row, its place in the order of a, ties by the other attributes, the
        # widest first; and, for every i, the loss of the cut before the i-th place of that order.
        at, loss = room[_FIXED + 2 * a], room[_FIXED + 2 * a + 1]
        for i in range(n):
            loss[i] = -1
            keys[i] = block.codes[chosen[i], a] - low[a]
        if low[a] == high[a]:
            continue
        full = high[a] - low[a] + 1
        for step in range(d):
            b = wide[step] % d
            span = high[b] - low[b] + 1
            if b != a and span > 1 and full <= 2**31 // span:
                full *= span
                for i in range(n):
                    keys[i] = keys[i] * span + (block.codes[chosen[i], b] - low[b])
        size = np.int64(block.ties.shape[1])
        for i in range(n):
            keys[i] = keys[i] * size + block.ties[0, chosen[i]]
            block.ties[2, chosen[i]] = i
        sort(keys, n)
        for i in range(n):
            keys[i] = block.ties[2, block.ties[1, keys[i] % size]]
            at[keys[i]] = i
        for side in range(2):  # from the end, what lies behind each cut; then from the start
            for b in range(d):
                least[b] = 2**31
                most[b] = -1
            for i in range(n - unit):
                row = chosen[keys[n - 1 - i if side == 0 else i]]
                extent = np.int64(0)
                for b in range(d):
                    x = np.int64(block.places[row, b])
                    least[b] = min(least[b], x)
                    most[b] = max(most[b], x)
                    extent += most[b] - least[b]
                if side == 0:
                    behind[n - 1 - i] = extent
                elif i + 1 >= unit:
                    loss[i + 1] = (i + 1) * extent + (n - i - 1) * behind[i + 1]
                    worst = max(worst, loss[i + 1])
    return worst


BEAM_PARAMETERS = types.NamedUniTuple(types.int64, 4, BeamParameters)
RANKED_ROWS = types.NamedTuple((types.uint32[:, ::1], *[types.int32[:, ::1]] * 3), RankedRows)
LINE = types.int64[::1]
SOLVE = types.float64(
    types.FunctionType(GROUP_COUNT),
    RANKED_ROWS,
    LINE,
    types.int64,
    types.int64,
    BEAM_PARAMETERS,
    SENSITIVE,
    GROUP_TESTS,
    TEST_BUFFERS,
    LINE,
    LINE,
    LINE,
)
#: Lines of the room that do not belong to an attribute.
_FIXED = 15


@njit(**{**POINTED, "_nrt": True})
def solve(hands, block, chosen, n, g, style, sensitive, judge, test_buffers, out, sizes, dealt):
    """Take chosen rows, to be dealt to g hands as they are, apart; return the loss."""
    # The leaves' rows go to `out`. From place 1 on, `sizes` and `dealt` get the leaves' sizes and
    # hands; sizes[0] is how many there are.
    unit = judge.unit
    d = block.codes.shape[1]
    total = d * n
    whole = leaf_loss(block.places, chosen, n, g, out)
    for i in range(n):
        out[i] = chosen[i]
    sizes[0] = 1
    sizes[1] = n
    dealt[1] = g
    if n < 2 * unit or whole == 0.0:
        return whole
    # The only memory that a kernel asks for itself: nobody knows how deep this will go.
    room = np.empty((_FIXED + 3 * d, max(n, d) + 2), np.int64)
    worst = _candidates(block, chosen, n, unit, room)
    # Losses and positions in one number, if need be with less precise losses.
    shift = 0
    while (worst >> shift) > 2**62 // total:
        shift += 1
    heap = np.empty((1, total), np.int64)[0]
    rows = np.empty((2, n), np.uint32)
    for a in range(d):
        for i in range(n // unit + 1):
            room[_FIXED + 2 * d + a, i] = 0  # no cut that leaves so many units was followed up
    beam = style.beam if style.narrow <= n and n < style.wide else 1
    effort = jit_cut_tries(EFFORT_AT_RANKS, n, judge.dealt)
    best = -1.0
    found = 0
    for wasteful in range(1 if style.thrifty else 2):
        many = np.int64(0)
        for a in range(d):
            for p in range(unit, n - unit + 1):
                wastes = p // unit + (n - p) // unit < n // unit
                loss = room[_FIXED + 2 * a + 1, p]
                if loss >= 0 and wastes == (wasteful == 1) and found == 0:
                    heap[many] = (loss >> shift) * total + a * n + p
                    many += 1
        heapify(heap, many)
        while many and found < beam and effort:
            a = heap[0] % total // n
            p = heap[0] % total % n
            many -= 1
            heap[0] = heap[many]
            sift(heap, many, np.int64(0))
            seen = room[_FIXED + 2 * d + a]
            if seen[p // unit]:
                continue
            effort -= 1
            at = room[_FIXED + 2 * a]
            g1 = g2 = np.int64(0)
            for side in range(2):
                k = np.int64(0)
                for i in range(n):
                    if (at[i] < p) == (side == 0):
                        room[7 + side, k] = chosen[i]
                        rows[0, k] = block.rows[0, chosen[i]]
                        rows[1, k] = block.rows[1, chosen[i]]
                        k += 1
                g1, g2 = g2, hands(rows, np.int64(0), k, sensitive, judge, test_buffers)
                if not g2:
                    break
            if not g2:
                continue
            seen[p // unit] = 1
            found += 1
            z = 0.0
            for side in range(2):  # a single call: the compiler looks into each
                z += solve(
                    hands,
                    block,
                    room[7 + side],
                    n - p if side else p,
                    g2 if side else g1,
                    style,
                    sensitive,
                    judge,
                    test_buffers,
                    room[9 + side],
                    room[11 + side],
                    room[13 + side],
                )
            if z <= whole and (best < 0 or z < best):
                best = z
                for i in range(n):
                    out[i] = room[9, i] if i < p else room[10, i - p]
                first = room[11, 0]
                sizes[0] = first + room[12, 0]
                for i in range(sizes[0]):
                    side = np.int64(i >= first)
                    j = i + 1 - first * side
                    sizes[i + 1] = room[11 + side, j]
                    dealt[i + 1] = room[13 + side, j]
    return whole if best < 0 else best


_COMPILING = Lock()


def solver() -> Any:
    """Return the kernel. Others get it as a pointer, so that it is compiled but once."""
    with _COMPILING:
        if hasattr(solve, "compile") and not solve.overloads:  # not with the compiler turned off
            solve.compile(SOLVE)
            solve.disable_compile()
    return solve


LEAF_ARRAYS = types.NamedTuple((types.uint32[::1], types.int32[::1], types.int32[::1]), LeafArrays)


def _solve_pools(
    hands,
    solve,
    old,
    begins,
    pools,
    pool_begins,
    first,
    last,
    target,
    limits,
    secret,
    matrix,
    places,
    style,
    sensitive,
    judge,
    test_buffers,
    block,
    room,
    new,
):
    """Pool some leaves, take the pools apart anew, and keep the result where it loses less."""
    # Pool i, of those from `first` to `last`, is made of the old leaves pools[pool_begins[i] :
    # pool_begins[i + 1]]; the rows of leaf j begin at begins[j]. Its new rows go to target[i] and
    # on, its leaves to slot target[i] // unit and on: no leaf has fewer rows than a unit, so
    # threads never share a slot. Returns the gain.
    keys, chosen, before_it, out, sizes, dealt = (
        room[0], room[1], room[2], room[3], room[4], room[5],
    )  # fmt: skip
    d = matrix.shape[1]
    gain = 0.0
    for i in range(first, last):
        n = np.int64(0)
        for m in range(pool_begins[i], pool_begins[i + 1]):
            n += old.sizes[pools[m]]
        k = 0
        for m in range(pool_begins[i], pool_begins[i + 1]):
            leaf = pools[m]
            for j in range(begins[leaf], begins[leaf] + old.sizes[leaf]):
                keys[k] = np.int64(old.ranks[j]) * n + k
                k += 1
        sort(keys, n)
        for j in range(n):
            rank = keys[j] // n
            block.rows[0, j] = rank
            block.rows[1, j] = limits[rank]
            chosen[j] = j
            before_it[keys[j] % n] = j
            for b in range(d):
                block.codes[j, b] = matrix[rank, b]
                block.places[j, b] = places[b, matrix[rank, b]]
        for j in range(n):
            keys[j] = np.int64(secret[block.rows[0, j]]) * n + j
        sort(keys, n)
        for j in range(n):
            block.ties[0, keys[j] % n] = j
            block.ties[1, j] = keys[j] % n
        g = hands(block.rows, np.int64(0), n, sensitive, judge, test_buffers)
        before = -1.0
        if g and pool_begins[i + 1] - pool_begins[i] > 1:
            before = 0.0
            k = 0
            for m in range(pool_begins[i], pool_begins[i + 1]):
                size = np.int64(old.sizes[pools[m]])
                g_old = np.int64(old.hands[pools[m]])
                before += leaf_loss(block.places, before_it[k:], size, g_old, keys)
                k += size
        after = 0.0
        if g:
            after = solve(
                hands, block, chosen, n, g, style, sensitive, judge, test_buffers, out, sizes, dealt
            )
        if not g or (before >= 0 and after >= before):
            sizes[0] = 0
            for m in range(pool_begins[i], pool_begins[i + 1]):
                sizes[0] += 1
                sizes[sizes[0]] = old.sizes[pools[m]]
                dealt[sizes[0]] = old.hands[pools[m]]
            for j in range(n):
                out[j] = before_it[j]
        elif before >= 0:
            gain += before - after
        for j in range(n):
            new.ranks[target[i] + j] = block.rows[0, out[j]]
        slot = target[i] // judge.unit
        for j in range(sizes[0]):
            new.sizes[slot + j] = sizes[1 + j]
            new.hands[slot + j] = dealt[1 + j]
    return gain


def make_pool_buffers(rows: int, attributes: int) -> tuple[RankedRows, npt.NDArray[np.int64]]:
    """Make room for pools of up to `rows` rows."""
    block = RankedRows(
        np.empty((2, rows), np.uint32),
        np.empty((rows, attributes), np.int32),
        np.empty((rows, attributes), np.int32),
        np.empty((3, rows), np.int32),
    )
    return block, np.empty((6, rows + 2), np.int64)


@cache
def pools_for(kind):
    """Return the kernel for codes of a type; explicit types keep it from being compiled twice."""
    codes = from_dtype(np.dtype(kind))
    number, numbers = types.int64, types.int64[::1]
    return njit(
        types.float64(
            types.FunctionType(GROUP_COUNT), types.FunctionType(SOLVE), LEAF_ARRAYS, numbers,
            numbers, numbers, number, number, numbers, types.uint32[::1], types.uint32[::1],
            codes[:, ::1], types.int32[:, ::1], BEAM_PARAMETERS, SENSITIVE, GROUP_TESTS,
            TEST_BUFFERS, RANKED_ROWS, types.int64[:, ::1], LEAF_ARRAYS,
        ),
        **JIT,
    )(_solve_pools)  # fmt: skip


@njit(**INNER)
def _deal_columns(leaves, begin, leaf, group, order, codes, per, labels, boxes):
    """Number the groups of a leaf whose hands are of whole columns, and find their boxes."""
    n = np.int64(leaves.sizes[leaf])
    g = -np.int64(leaves.hands[leaf])
    width = n // per
    for i in range(n):
        hand = group + i % width * g // width
        labels[order[leaves.ranks[begin + i]]] = hand
        for b in range(codes.shape[0]):
            x = codes[b, begin + i]
            if i < width and (i == 0 or i * g // width > (i - 1) * g // width):
                boxes[0, hand, b] = x
                boxes[1, hand, b] = x
            boxes[0, hand, b] = min(boxes[0, hand, b], x)
            boxes[1, hand, b] = max(boxes[1, hand, b], x)


@njit(**JIT)
def number_groups(leaves, begin, first, last, group, order, codes, per, labels, boxes):
    """Number the groups of the leaves from `first` to `last`, and find their boxes."""
    # Rows lie in the order of the first sensitive attribute, so the i-th row of a leaf goes to hand
    # i mod g; or, if its hands are of columns with `per` rows, to that of column i mod (n // per).
    # `codes` are in the order of the leaves, a line for each attribute.
    for leaf in range(first, last):
        g = leaves.hands[leaf]
        if g < 0:
            g = -g
            _deal_columns(leaves, begin, leaf, group, order, codes, per, labels, boxes)
            begin += leaves.sizes[leaf]
            group += g
            continue
        ranks = leaves.ranks[begin : begin + leaves.sizes[leaf]]
        # Rows are all over the memory. A short loop without branches waits for many at a time.
        hand = group
        for i in range(ranks.size):
            labels[order[ranks[i]]] = hand
            hand = hand + 1 if hand + 1 < group + g else group
        for b in range(codes.shape[0]):
            line = codes[b, begin : begin + leaves.sizes[leaf]]
            for i in range(g):
                boxes[0, group + i, b] = line[i]
                boxes[1, group + i, b] = line[i]
            hand = group
            for i in range(g, ranks.size):
                x = line[i]
                boxes[0, hand, b] = min(boxes[0, hand, b], x)
                boxes[1, hand, b] = max(boxes[1, hand, b], x)
                hand = hand + 1 if hand + 1 < group + g else group
        begin += leaves.sizes[leaf]
        group += g


# -----------------------------------------------------------------------------
# Moving rows to near leaves, and swapping them, where that loses less.
#
# Only for principles about sizes: where one guards sensitive values, deciding row by row who goes
# where would read quasi-identifiers and sensitive values together.


@njit(**INNER)
def _ends(at, members, n, ends):
    """Find the two lowest and two highest places on each attribute; return the extent."""
    # With two of each, the box without any one member is known at once; see `_without`.
    extent = np.int64(0)
    for b in range(at.shape[1]):
        low = low2 = np.int64(2**40)
        high = high2 = np.int64(-(2**40))
        for i in range(n):
            x = np.int64(at[members[i], b])
            if x < low:
                low2 = low
                low = x
            elif x < low2:
                low2 = x
            if x > high:
                high2 = high
                high = x
            elif x > high2:
                high2 = x
        ends[0, b], ends[1, b], ends[2, b], ends[3, b] = low, low2, high, high2
        extent += high - low
    return extent


@njit(**INNER)
def _without(ends, at, out, extra):
    """Return the extent of a leaf without one member and, unless `extra` is -1, with that row."""
    extent = np.int64(0)
    for b in range(at.shape[1]):
        x = np.int64(at[out, b])
        low = ends[1, b] if x == ends[0, b] else ends[0, b]
        high = ends[3, b] if x == ends[2, b] else ends[2, b]
        if extra >= 0:
            y = np.int64(at[extra, b])
            low = min(low, y)
            high = max(high, y)
        extent += high - low
    return extent


def _exchange_rows(members, sizes, near, at, unit, most, ends, extents):
    """Give every row in turn its best move or swap with a near leaf; return what that gains."""
    # `members` (a line for each leaf) and `sizes` are changed in place; a leaf keeps `unit` to
    # `most` rows. `near` holds the nearest leaves of each leaf; the last two are memory.
    many, d = sizes.size, at.shape[1]
    for leaf in range(many):
        extents[leaf] = _ends(at, members[leaf], np.int64(sizes[leaf]), ends[leaf])
    nobody = np.int64(-1)
    total = np.int64(0)
    for leaf in range(many):
        i = 0
        while i < sizes[leaf]:
            n = np.int64(sizes[leaf])
            row = np.int64(members[leaf, i])
            own = ends[leaf]
            rest = _without(own, at, row, nobody)
            best = np.int64(0)
            mate = partner = -1
            if n > unit or rest < extents[leaf]:
                for c in range(near.shape[1]):
                    there = near[leaf, c]
                    m = np.int64(sizes[there])
                    if there == leaf:
                        continue
                    other = ends[there]
                    if n > unit and m < most:
                        wider = np.int64(0)
                        for b in range(d):
                            x = np.int64(at[row, b])
                            wider += max(other[2, b], x) - min(other[0, b], x)
                        gain = n * extents[leaf] - (n - 1) * rest
                        gain -= (m + 1) * wider - m * extents[there]
                        if gain > best:
                            best, mate, partner = gain, there, -1
                    if rest < extents[leaf]:
                        for j in range(m):
                            swapped = np.int64(members[there, j])
                            gain = n * (extents[leaf] - _without(own, at, row, swapped))
                            gain += m * (extents[there] - _without(other, at, swapped, row))
                            if gain > best:
                                best, mate, partner = gain, there, j
            if mate < 0:
                i += 1
                continue
            total += best
            if partner < 0:
                members[leaf, i] = members[leaf, n - 1]
                sizes[leaf] -= 1
                members[mate, sizes[mate]] = row
                sizes[mate] += 1
            else:
                members[leaf, i], members[mate, partner] = members[mate, partner], row
                i += 1
            extents[leaf] = _ends(at, members[leaf], np.int64(sizes[leaf]), ends[leaf])
            extents[mate] = _ends(at, members[mate], np.int64(sizes[mate]), ends[mate])
    return total


@cache
def exchanger():
    """Return the kernel."""
    number, numbers = types.int64, types.int64[:, ::1]
    places = types.int32[:, ::1]
    room = (types.int64[:, :, ::1], types.int64[::1])
    return njit(number(numbers, types.int32[::1], numbers, places, number, number, *room), **JIT)(
        _exchange_rows
    )


def exchange_rows(members, sizes, near, at, unit, most):
    """Give every row in turn its best move or swap with a near leaf; return what that gains."""
    many = len(sizes)
    room = np.empty((many, 4, at.shape[1]), np.int64), np.empty(many, np.int64)
    return exchanger()(members, sizes, near, at, unit, most, *room)
