"""Cutting a table at values of its quasi-identifiers, top down, into leaves.

The rows of a node lie side by side, in the order of the first sensitive attribute, in one of two
sets of buffers; cutting it moves them, stably, to the other set. So a half is ready to be judged
as soon as its ranks are moved. The candidates' losses need no judging, so they are computed for
all, and judged from the cheapest on.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import from_dtype, njit, types

from wideberth.kernels.group_tests import (
    GROUP_COUNT,
    GROUP_TESTS,
    ROWS,
    SENSITIVE,
    TEST_BUFFERS,
    jit_cut_tries,
)
from wideberth.kernels.kinds import EFFORT_AT_VALUES
from wideberth.kernels.refine import LEAF_ARRAYS
from wideberth.kernels.sort import INNER, JIT, POINTED, heapify, sift, sort

#: Above so many rows a median is found by counting values, below by bisection.
_COUNTED = 1 << 14
#: Nodes that can wait at a time: the smaller half is next, so each has twice the next one's rows.
_DEEP = 64

U64 = np.uint64
CodeArray = npt.NDArray[Any]


class RowBuffers(NamedTuple):
    """One of the two sets: codes by attribute; ranks of the rows, and below them their limits."""

    codes: CodeArray
    rows: npt.NDArray[np.uint32]


class CutBuffers(NamedTuple):
    """Room for one node's candidates."""

    keys: npt.NDArray[np.int64]  # rows by value, or sorted keys
    # by value: lowest and highest code of every attribute; or, if there is one cut per attribute,
    # its halves' boxes
    extremes: npt.NDArray[np.int32]
    loss: npt.NDArray[np.int64]  # by candidate, see the lines below
    # lowest and highest codes of the left half, of the right, and of the node itself
    box: npt.NDArray[np.int32]
    stack: npt.NDArray[np.int64]  # nodes that wait: begin, end, side, box


LOSS, BY, VALUE, LEFT, HEAP = 0, 1, 2, 3, 4  # lines of CutBuffers.loss


def make_cut_buffers(spans: list[int], paper: bool) -> CutBuffers:
    """Make room for cutting nodes, given how many codes each quasi-identifier has."""
    d, widest = len(spans), max(spans)
    return CutBuffers(
        np.empty(4 * widest if paper else 2 * widest + 2, np.int64),
        np.empty((d, 4, d) if paper else (widest, 2, d), np.int32),
        np.empty((5, d if paper else sum(spans)), np.int64),
        np.empty((6, d), np.int32),
        np.empty((_DEEP, 3 + 2 * d), np.int64),
    )


@njit(**INNER)
def _count_upto(codes, v):
    v = codes.dtype.type(v)
    found = np.uint16(0)  # as narrow as the codes, so that it is added up many at a time
    for q in range(codes.size):
        found = np.uint16(found + np.uint16(codes[q] <= v))
    return np.int64(found)


@njit(**INNER)
def _nearest_median(codes, lo, hi, count):
    """Return the value whose cut `<= value | > value` is nearest the middle, and the rows below."""
    n = codes.size
    r = (n - 1) // 2
    if n > _COUNTED:
        width = hi - lo + 1
        c = count[: 4 * width]
        c[:] = 0
        q = 0
        while q + 4 <= n:  # four counts: a heavy value does not wait for itself
            c[U64(codes[q] - lo)] += 1
            c[U64(width + codes[q + 1] - lo)] += 1
            c[U64(2 * width + codes[q + 2] - lo)] += 1
            c[U64(3 * width + codes[q + 3] - lo)] += 1
            q += 4
        while q < n:
            c[U64(codes[q] - lo)] += 1
            q += 1
        upto = 0
        v = -1
        below = 0
        while upto <= r:
            v += 1
            below = upto
            upto += c[v] + c[width + v] + c[2 * width + v] + c[3 * width + v]
        v += lo
    else:
        v = lo
        top = hi
        upto = n
        while v < top:
            mid = (v + top) >> 1
            x = _count_upto(codes, mid)
            if x > r:
                top = mid
                upto = x
            else:
                v = mid + 1
        below = 0 if v == lo else _count_upto(codes, v - 1)
    # A cut at the median itself never splits an attribute whose median is its top value.
    if upto == n or (below and n - 2 * below < 2 * upto - n):
        return v - 1, below
    return v, upto


@njit(**INNER)
def _boxes(cut, v, codes, top):
    """Return the extremes of one attribute on both sides of a cut of another."""
    v = cut.dtype.type(v)
    none = codes.dtype.type(0)
    low1 = low2 = codes.dtype.type(top)
    high1 = high2 = none
    full = codes.dtype.type(top)
    for q in range(cut.size):
        x = codes[q]
        left = cut[q] <= v
        low1 = min(low1, x if left else full)
        high1 = max(high1, x if left else none)
        low2 = min(low2, full if left else x)
        high2 = max(high2, none if left else x)
    return np.int32(low1), np.int32(high1), np.int32(low2), np.int32(high2)


@njit(**INNER)
def _move(cut, v, source, target, k):
    """Move one line of a node, rows up to the cut before the others."""
    v = cut.dtype.type(v)
    a = U64(0)
    for q in range(U64(cut.size)):
        left = cut[q] <= v
        target[a if left else U64(k) + q - a] = source[q]
        a += U64(left)


@njit(**INNER)
def _move_both(cut, v, source, target, s, e, k):
    v = cut.dtype.type(v)
    ranks, limits = source[0, s:e], source[1, s:e]
    new_ranks, new_limits = target[0, s:e], target[1, s:e]
    a = U64(0)
    for q in range(U64(cut.size)):
        left = cut[q] <= v
        i = a if left else U64(k) + q - a
        new_ranks[i] = ranks[q]
        new_limits[i] = limits[q]
        a += U64(left)


@njit(**INNER)
def _note(cut_buffers, many, loss, a, v, k):
    cut_buffers.loss[LOSS, many] = loss
    cut_buffers.loss[BY, many] = a
    cut_buffers.loss[VALUE, many] = v
    cut_buffers.loss[LEFT, many] = k
    return many + 1


def _median_cuts(codes, s, e, lo, hi, places, unit, cut_buffers):
    """Propose one cut per attribute, the nearest to its median."""
    d = codes.shape[0]
    n = e - s
    many = np.int64(0)
    for a in range(d):
        if lo[a] == hi[a]:
            continue
        v, k = _nearest_median(codes[a, s:e], np.int64(lo[a]), np.int64(hi[a]), cut_buffers.keys)
        if k < unit or n - k < unit:
            continue
        left = right = np.int64(0)
        for b in range(d):
            x1, y1, x2, y2 = _boxes(codes[a, s:e], v, codes[b, s:e], hi[b])
            left += places[b, y1] - places[b, x1]
            right += places[b, y2] - places[b, x2]
            ends = cut_buffers.extremes[a]
            ends[0, b], ends[1, b], ends[2, b], ends[3, b] = x1, y1, x2, y2
        many = _note(cut_buffers, many, k * left + (n - k) * right, a, v, k)
    return many


def _value_cuts(codes, s, e, lo, hi, places, unit, cut_buffers):
    """Propose every cut between two values that leaves both halves enough rows."""
    d = codes.shape[0]
    n = e - s
    many = np.int64(0)
    least, most = cut_buffers.box[0], cut_buffers.box[1]
    for a in range(d):
        if lo[a] == hi[a]:
            continue
        line = codes[a, s:e]
        first = np.int64(lo[a])
        span = hi[a] - first + 1
        # What lies at each value: rows and extremes. Where values are many, by sorting the rows.
        sparse = span > 4 * n
        steps = n if sparse else span
        keys = cut_buffers.keys[:steps]
        behind = cut_buffers.keys[steps : 2 * steps + 1]
        if sparse:
            for i in range(n):
                keys[i] = (line[i] - first) * n + i
            sort(keys, n)
        else:
            for v in range(span):
                keys[v] = 0
                for b in range(d):
                    cut_buffers.extremes[v, 0, b] = hi[b]
                    cut_buffers.extremes[v, 1, b] = lo[b]
            for i in range(n):
                keys[line[i] - first] += 1
            for b in range(d):
                if b != a:
                    other = codes[b, s:e]
                    for i in range(n):
                        x = np.int32(other[i])
                        ends = cut_buffers.extremes[line[i] - first]
                        ends[0, b] = min(ends[0, b], x)
                        ends[1, b] = max(ends[1, b], x)
        for side in range(2):  # from the end, what lies behind each cut; then from the start
            for b in range(d):
                least[b] = hi[b]
                most[b] = lo[b]
            upto = np.int64(0)
            for i in range(steps):
                j = steps - 1 - i if side == 0 else i
                v = first + (keys[j] // n if sparse else j)
                if not sparse and keys[j] == 0:
                    if side == 0:
                        behind[j] = behind[j + 1]
                    continue
                upto += 1 if sparse else keys[j]
                extent = np.int64(0)
                for b in range(d):
                    if b == a:
                        least[b] = min(least[b], v)
                        most[b] = max(most[b], v)
                    elif sparse:
                        x = np.int32(codes[b, s + keys[j] % n])
                        least[b] = min(least[b], x)
                        most[b] = max(most[b], x)
                    else:
                        least[b] = min(least[b], cut_buffers.extremes[j, 0, b])
                        most[b] = max(most[b], cut_buffers.extremes[j, 1, b])
                    extent += places[b, most[b]] - places[b, least[b]]
                if side == 0:
                    behind[j] = extent
                elif upto >= unit and n - upto >= unit:
                    if sparse and keys[j + 1] // n == keys[j] // n:
                        continue
                    loss = upto * extent + (n - upto) * behind[j + 1]
                    many = _note(cut_buffers, many, loss, a, v, upto)
    return many


def _subtree(
    hands,
    propose,
    front,
    back,
    s,
    e,
    side,
    lo,
    hi,
    places,
    block,
    once,
    sensitive,
    judge,
    test_buffers,
    cut_buffers,
    leaves,
):
    """Take a node apart, depth first, down to leaves; or cut it but once."""
    # A leaf is a node without an admissible cut, or with fewer rows than a block. The leaf of the
    # rows from s on is noted in slot s // unit: no leaf has fewer rows than a unit, so no two share
    # a slot.
    # If `once`, returns how many rows went to the left, 0 if there is no cut; the rows are then in
    # the other buffers, and the halves' boxes on the bench.
    d = lo.size
    stack = cut_buffers.stack
    stack[0, 0], stack[0, 1], stack[0, 2] = s, e, side
    for b in range(d):
        stack[0, 3 + b] = lo[b]
        stack[0, 3 + d + b] = hi[b]
    depth = 1
    low, high = cut_buffers.box[4], cut_buffers.box[5]
    while depth:
        depth -= 1
        s, e, side = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        for b in range(d):
            low[b] = stack[depth, 3 + b]
            high[b] = stack[depth, 3 + d + b]
        here = front if side == 0 else back
        there = back if side == 0 else front
        n = e - s
        many = np.int64(0)
        if n >= 2 * judge.unit and n >= block:
            many = propose(here.codes, s, e, low, high, places, judge.unit, cut_buffers)
        # Losses and positions in one number, if need be with less precise losses.
        heap = cut_buffers.loss[HEAP]
        worst = np.int64(0)
        for i in range(many):
            worst = max(worst, cut_buffers.loss[LOSS, i])
        shift = 0
        while (worst >> shift) > 2**62 // max(many, 1):
            shift += 1
        for i in range(many):
            heap[i] = (cut_buffers.loss[LOSS, i] >> shift) * many + i
        heapify(heap, many)
        waiting = many
        effort = jit_cut_tries(EFFORT_AT_VALUES, n, judge.dealt)
        k = np.int64(0)
        while waiting and effort and k == 0:
            i = heap[0] % many
            effort -= 1
            waiting -= 1
            heap[0] = heap[waiting]
            sift(heap, waiting, np.int64(0))
            v = cut_buffers.loss[VALUE, i]
            k = cut_buffers.loss[LEFT, i]
            line = here.codes[cut_buffers.loss[BY, i], s:e]
            _move_both(line, v, here.rows, there.rows, s, e, k)
            good = np.int64(1)
            for half in range(2):
                first = s if half == 0 else s + k
                last = s + k if half == 0 else e
                if good:
                    good = hands(there.rows, first, last, sensitive, judge, test_buffers)
            if good:
                ends = cut_buffers.extremes[cut_buffers.loss[BY, i] % cut_buffers.extremes.shape[0]]
                for b in range(d):
                    _move(line, v, here.codes[b, s:e], there.codes[b, s:e], k)
                    if ends.shape[0] == 4:  # the boxes are known
                        x1, y1, x2, y2 = ends[0, b], ends[1, b], ends[2, b], ends[3, b]
                    else:
                        x1, y1, x2, y2 = _boxes(line, v, here.codes[b, s:e], high[b])
                    cut_buffers.box[0, b], cut_buffers.box[1, b] = x1, y1
                    cut_buffers.box[2, b], cut_buffers.box[3, b] = x2, y2
            else:
                k = np.int64(0)
        if once:
            return k
        if k:
            for i in range(2):  # the smaller half last, to be next
                left = (2 * k > n) == (i == 0)
                stack[depth, 0] = s if left else s + k
                stack[depth, 1] = s + k if left else e
                stack[depth, 2] = 1 - side
                for b in range(d):
                    stack[depth, 3 + b] = cut_buffers.box[0 if left else 2, b]
                    stack[depth, 3 + d + b] = cut_buffers.box[1 if left else 3, b]
                depth += 1
        else:
            for i in range(s, e):
                leaves.ranks[i] = here.rows[0, i]
            for b in range(d if side else 0):  # all leaves' codes are in front in the end
                for i in range(s, e):
                    front.codes[b, i] = here.codes[b, i]
            leaves.sizes[s // judge.unit] = n
            leaves.hands[s // judge.unit] = hands(here.rows, s, e, sensitive, judge, test_buffers)
    return np.int64(0)


NUMBER, LINE, LINES = types.int64, types.int32[::1], types.int32[:, ::1]
CUT_BUFFERS = types.NamedTuple(
    (types.int64[::1], types.int32[:, :, ::1], types.int64[:, ::1], LINES, types.int64[:, ::1]),
    CutBuffers,
)


def _propose(kind):
    codes = from_dtype(np.dtype(kind))[:, ::1]
    return NUMBER(codes, NUMBER, NUMBER, LINE, LINE, LINES, NUMBER, CUT_BUFFERS)


@cache
def proposer(kind, paper):
    """Return the kernel that proposes cuts, for codes of a type."""
    return njit(_propose(kind), **POINTED)(_median_cuts if paper else _value_cuts)


@cache
def subtree_for(kind):
    """Return the kernel for codes of a type; explicit types keep it from being compiled twice."""
    buffers = types.NamedTuple((from_dtype(np.dtype(kind))[:, ::1], ROWS), RowBuffers)
    return njit(
        NUMBER(
            types.FunctionType(GROUP_COUNT), types.FunctionType(_propose(kind)), buffers, buffers,
            NUMBER, NUMBER, NUMBER, LINE, LINE, LINES, NUMBER, NUMBER, SENSITIVE, GROUP_TESTS,
            TEST_BUFFERS, CUT_BUFFERS, LEAF_ARRAYS,
        ),
        **JIT,
    )(_subtree)  # fmt: skip
