"""Whether a set of rows satisfies, or can be dealt into groups that satisfy, all demands.

Rows are given by their ranks in the order of the first sensitive attribute, ascending. A demand
sees its attribute's histogram only: values ascending, with counts. The one exception is the crowd
of the first attribute, the test that is made most often: no more than t rows lie in a window if
the row t places on is always beyond the window, a plain comparison of two arrays.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit, types

from wideberth.core.exact import Ints
from wideberth.kernels import kinds
from wideberth.kernels.sort import INNER, JIT, POINTED, sort

#: Columns of GroupTests.tests.
KIND, ATTRIBUTE, WIDTH, OFFSET, NUMBERS, COLUMNS = 0, 1, 2, 3, 4, 15
#: Lines of the buffers.
CODE, VALUE, COUNT, TALLY, NEAR = 0, 1, 2, 3, 4
#: Of an entry of NEAR: rows near one row that come before it are in the higher bits.
_HALF, _LOWER = 32, (1 << 32) - 1

#: Relatively: far above the rounding error of sums of logarithms.
TOO_CLOSE = 1e-9
#: Sizes up to which a tie of entropies is decided in integers; beyond, it counts as too low.
_FACTORED = 4096


class GroupTests(NamedTuple):
    """All demands on a group."""

    unit: int  # the fewest rows a group may have
    p: int  # at most p/q of the rows may lie in one window of the first attribute
    q: int  # 0: there is no such demand
    dealt: int  # whether that is about groups to be dealt, not about the rows as they are
    # whether the windows of dealt groups may hold one row only; BY_NEARNESS: `b` of APART
    alone: int
    width: int  # how many values the first attribute has
    # a line for each further demand: kind, attribute, its width, offset in tables, numbers
    tests: Ints
    # what the tests look up; at first, for dealt groups, the first and the last similar value of
    # each value of the first attribute
    tables: Ints


def make_test_buffers(rows: int, judge: GroupTests) -> Ints:
    """Make room for judging up to `rows` rows."""
    lines = NEAR + 1 if judge.dealt else TALLY + 1
    if not (len(judge.tests) or judge.dealt):
        return np.zeros((lines, 1), np.int64)
    room = [rows, judge.width]
    for test in judge.tests:
        room.append(int(test[WIDTH]))
        if test[KIND] == kinds.TREE:
            room.append(int(test[NUMBERS + 4]))  # nodes
        if test[KIND] == kinds.ENTROPY:
            room.append(_FACTORED + 1)
    return np.zeros((lines, max(room)), np.int64)


@njit(**INNER)
def spaced(rows, s, e, t):
    """Return whether no window holds more than t rows: the row t places on is always beyond it."""
    if t < 1:
        return False
    i = s
    end = e - t
    while i < end:  # in pieces, to stop early
        j = min(i + 512, end)
        there = rows[0, i + t : j + t]
        here = rows[1, i:j]
        bad = np.uint32(0)
        for q in range(there.size):
            bad |= np.uint32(there[q] <= here[q])
        if bad:
            return False
        i = j
    return True


@njit(**INNER)
def _look_around(rows, s, e, sensitive, judge, test_buffers):
    """Count the rows near each row, before and behind it; return the most of any row."""
    n = e - s
    code, near = test_buffers[CODE], test_buffers[NEAR]
    for i in range(n):
        code[i] = sensitive[0, rows[0, s + i]]
    most = low = high = np.int64(0)
    for i in range(n):
        while low < i and code[low] < judge.tables[code[i]]:
            low += 1
        while high < n and code[high] <= judge.tables[judge.width + code[i]]:
            high += 1
        near[i] = ((i - low) << _HALF) | max(high - 1 - i, 0)
        most = max(most, high - 1 - low)
    return most


@njit(**INNER)
def _crowded(near, n, g, first, judge):
    """Return a row that is crowded in one of g hands, looking at `first` first; -1 if none is."""
    size = n // g
    larger = n - size * g  # so many hands, the first ones, have a row more
    allowed = 1 if judge.alone else size * judge.p // judge.q
    more = 1 if judge.alone else (size + 1) * judge.p // judge.q
    for begin, end in ((first, n), (np.int64(0), first)):
        for i in range(begin, end):
            # Rows are dealt in turn, so a hand holds every g-th of the rows around a row.
            crowd = 1 + (near[i] >> _HALF) // g + (near[i] & _LOWER) // g
            if crowd > allowed and (crowd > more or i % g >= larger):
                return i
    return np.int64(-1)


@njit(**INNER, inline="always")  # compiled once, not by itself and again
def hold(rows, s, e, g, sensitive, judge, test_buffers):
    """Return whether each of g hands passes all tests; g below 0 means hands of whole columns."""
    ranks = rows[0, s:e]
    code, value, count, tally = (
        test_buffers[CODE],
        test_buffers[VALUE],
        test_buffers[COUNT],
        test_buffers[TALLY],
    )
    hands = abs(g)
    width = g if g > 0 else ranks.size // judge.q  # columns
    for hand in range(hands):
        first, own = hand, 1  # its columns: a single one, if rows are dealt in turn
        if g < 0:
            first = -(-hand * width // hands)
            own = -(-(hand + 1) * width // hands) - first
        n = ranks.size // width * own + min(max(ranks.size % width - first, 0), own)
        attribute = np.int64(-1)
        entries = np.int64(0)
        for t in range(judge.tests.shape[0]):
            test = judge.tests[t]
            if test[ATTRIBUTE] != attribute:  # the attribute's histogram
                attribute = test[ATTRIBUTE]
                entries = np.int64(0)
                if 4 * n >= test[WIDTH]:
                    for begin in range(first, ranks.size, width):
                        for i in range(begin, min(begin + own, ranks.size)):
                            tally[sensitive[attribute, ranks[i]]] += 1
                    for v in range(test[WIDTH]):
                        if tally[v]:
                            value[entries] = v
                            count[entries] = tally[v]
                            tally[v] = 0
                            entries += 1
                else:
                    filled = np.int64(0)
                    for begin in range(first, ranks.size, width):
                        for i in range(begin, min(begin + own, ranks.size)):
                            code[filled] = sensitive[attribute, ranks[i]]
                            filled += 1
                    sort(code, n)
                    for i in range(n):
                        if i == 0 or code[i] != code[i - 1]:
                            value[entries] = code[i]
                            count[entries] = 0
                            entries += 1
                        count[entries - 1] += 1
            if not _passes(test, judge.tables, n, entries, value, count, tally):
                return False
    return True


@njit(**JIT)
def pass_tests(judge, edges, histogram, n, test_buffers):
    """Return whether n rows, known by their histograms, pass all tests."""
    # histogram[edges[a] : edges[a + 1]] is that of attribute a, an entry for each value.
    value, count, tally = test_buffers[VALUE], test_buffers[COUNT], test_buffers[TALLY]
    attribute = np.int64(-1)
    entries = np.int64(0)
    for t in range(judge.tests.shape[0]):
        test = judge.tests[t]
        if test[ATTRIBUTE] != attribute:
            attribute = test[ATTRIBUTE]
            entries = np.int64(0)
            for v in range(test[WIDTH]):
                if histogram[edges[attribute] + v]:
                    value[entries] = v
                    count[entries] = histogram[edges[attribute] + v]
                    entries += 1
        if not _passes(test, judge.tables, n, entries, value, count, tally):
            return False
    return True


jit_cut_tries = njit(**INNER)(kinds.cut_tries)
jit_next_group_count = njit(**INNER)(kinds.next_group_count)
jit_least_group_count = njit(**INNER)(kinds.least_group_count)
jit_column_layout = njit(**INNER)(kinds.column_layout)


@njit(**INNER)
def _share(p, q, total):
    """Return floor(total * p / q) without overflow."""
    return p * (total // q) + p * (total % q) // q


@njit(**INNER, inline="always")
def _passes(test, tables, n, entries, value, count, tally):
    """Put one histogram to one test; `kinds` says what the numbers mean."""
    kind = test[KIND]
    at = test[OFFSET]
    numbers = test[NUMBERS:]
    p, q, third, fourth = numbers[0], numbers[1], numbers[2], numbers[3]
    if kind == kinds.DISTINCT:
        return entries >= p or (q == 1 and entries == 1 and value[0] == third)
    if kind == kinds.CROWD:  # the most rows between a value and the last one in its reach
        inside = end = 0
        for i in range(entries):
            while end < entries and value[end] <= tables[at + value[i]]:
                inside += count[end]
                end += 1
            if inside > n * p // q:
                return False
            inside -= count[i]
        return True
    if kind == kinds.ENTROPY:
        if fourth and entries and value[entries - 1] == third:
            return _diverse_beside(p, q, n, entries, count, tally)
        return _diverse(p, q, n, entries, count, tally)
    if kind == kinds.RECURSIVE:
        return _recursive(numbers, at, test[WIDTH], tables, n, entries, value, count)
    moved = np.int64(0)
    if kind == kinds.EQUAL_CLOSENESS:
        for e in range(entries):
            more = count[e] * third - n * tables[at + value[e]]
            if more > 0:
                moved += more
        return moved <= _share(p, q, n * third)
    if kind == kinds.ORDERED:  # over the ranks, the differences of the running histograms
        allowed = _share(p, q, n * third * (fourth if fourth > 1 else 1))
        area = at + fourth + 1
        low = mass = np.int64(0)
        for e in range(entries + 1):  # between two of the group's values its own does not change
            high = value[e] if e < entries else fourth
            turn, end = low, high
            while turn < end:  # where the table's overtakes it
                middle = (turn + end) // 2
                if n * tables[at + middle] < mass:
                    turn = middle + 1
                else:
                    end = middle
            moved += mass * (2 * turn - low - high)
            moved += n * (tables[area + high] + tables[area + low] - 2 * tables[area + turn])
            if moved > allowed:
                return False
            low = high
            if e < entries:
                mass += count[e] * third
        return True
    if kind == kinds.TREE:  # over the edges, what crosses them
        node_of = at + numbers[8] + 1
        under = node_of + numbers[9]
        held = np.int64(0)
        for e in range(entries):
            if value[e] == numbers[6]:  # missing
                held = count[e]
            for i in range(tables[at + value[e]], tables[at + value[e] + 1]):
                tally[tables[node_of + i]] += count[e]
        for v in range(numbers[4]):
            moved += abs(tally[v] * third - n * tables[under + v])
            tally[v] = 0
        moved += numbers[5] * abs(held * third - n * numbers[7])
        return moved <= _share(p, q, n * third * fourth)
    known = entries  # the missing value, if any, is the last
    if known and value[known - 1] == third:
        known -= 1
    if kind == kinds.RANGE:
        span = tables[at + value[known - 1]] - tables[at + value[0]] if known else 0
        return entries >= p and span >= q
    return _varied(p, q, tables, at, known, value, count)


@njit(**INNER)
def _diverse(p, q, n, entries, count, powers):
    """Return whether exp(entropy) >= p / q; all `powers` are 0 before and after."""
    total = 0.0
    largest = np.int64(0)
    for e in range(entries):
        total += count[e] * np.log(count[e])
        largest = max(largest, count[e])
    if largest * entries == n:
        return entries * q >= p
    above = np.log(n) - total / n - np.log(p / q)
    if abs(above) > TOO_CLOSE:
        return above > 0
    common = count[0]
    for e in range(entries):  # shares decide, so common factors do not
        x, y = common, count[e]
        while y:
            x, y = y, x % y
        common = x
    n //= common
    if p > _FACTORED or n * q > _FACTORED:
        return False
    # A tie if every prime divides (product of c^c) * p^n as often as it divides (n * q)^n.
    for e in range(entries + 2):
        x, times = n * q, -n
        if e < entries:
            x = times = count[e] // common
        elif e == entries:
            x, times = p, n
        prime = 2
        while x > 1:
            if x % prime == 0:
                powers[prime] += times
                x //= prime
            else:
                prime += 1
    unlike = 0
    for prime in range(_FACTORED + 1):
        unlike += powers[prime] != 0
        powers[prime] = 0
    return unlike == 0


@njit(**INNER)
def _diverse_beside(p, q, n, entries, count, powers):
    """Return the same if rows of the last value may be left out; see `principles.allowance`."""
    if entries == 1:
        return True
    spare = count[entries - 1]
    rows = n - spare
    total = 0.0
    for e in range(entries - 1):
        total += count[e] * np.log(count[e])
    best = np.int64(np.exp(total / rows))
    good = False
    for more in range(2):
        stay = min(spare, max(best + more, 1))
        count[entries - 1] = stay
        good = good or _diverse(p, q, rows + stay, entries, count, powers)
    count[entries - 1] = spare
    return good


@njit(**INNER)
def _recursive(numbers, at, width, tables, n, entries, value, count):
    """Return whether r_s < c * tail, and every required value has its share."""
    for i in range(numbers[5]):
        held = np.int64(0)
        for e in range(entries):
            if value[e] == tables[at + width + i]:
                held = count[e]
        if held * numbers[4] < numbers[3] * n:
            return False
    if numbers[2] == 1:
        return True
    s = -1
    for e in range(entries):
        if not tables[at + value[e]] and (s < 0 or count[e] > count[s]):
            s = e
    if s < 0:
        return True
    # The top l - 2 counts among the others: count down from the largest.
    tail = n - count[s]
    left = numbers[2] - 2
    below = n + 1
    while left > 0 and below > 1:
        top = np.int64(0)
        times = np.int64(0)
        for e in range(entries):
            if e != s and count[e] < below:
                if count[e] > top:
                    top = count[e]
                    times = np.int64(1)
                elif count[e] == top:
                    times += 1
        tail -= top * (times if times < left else left)
        left -= times
        below = top
    return count[s] * numbers[1] < numbers[0] * tail


@njit(**INNER)
def _varied(p, q, offset, at, known, value, count):
    """Return whether the known values' variance is at least p / q, in units squared."""
    if p == 0 or known == 0:
        return p == 0
    n = np.int64(0)
    for e in range(known):
        n += count[e]
    base = offset[at + value[0]]
    span = max(offset[at + value[known - 1]] - base, 1)
    if n * n < 2**62 // span // span // q and n < 2**62 // p // n:
        total = squares = np.int64(0)
        for e in range(known):
            x = offset[at + value[e]] - base
            total += count[e] * x
            squares += count[e] * x * x
        return (n * squares - total * total) * q >= p * n * n
    mean = spread = 0.0
    for e in range(known):
        mean += count[e] * float(offset[at + value[e]] - base) / n
    for e in range(known):
        spread += count[e] * (float(offset[at + value[e]] - base) - mean) ** 2 / n
    return spread * q > p * (1 + TOO_CLOSE)  # what is too close to tell counts as too low


GROUP_TESTS = types.NamedTuple(
    (types.int64,) * 6 + (types.int64[:, ::1], types.int64[::1]), GroupTests
)
ROWS = types.uint32[:, ::1]
SENSITIVE = types.int32[:, ::1]
TEST_BUFFERS = types.int64[:, ::1]
GROUP_COUNT = types.int64(ROWS, types.int64, types.int64, SENSITIVE, GROUP_TESTS, TEST_BUFFERS)


def _hands(rows, s, e, sensitive, judge, test_buffers):
    """Return how many groups the rows are to be dealt to, 0 if they cannot satisfy the demands."""
    # Columns s to e of `rows` hold the rows' ranks, ascending, and below them the last rank in each
    # one's window. Less than 0 means hands of whole columns; see `column_layout`.
    n = e - s
    if n < judge.unit or (judge.q and not spaced(rows, s, e, n * judge.p // judge.q)):
        return np.int64(0)
    tested = judge.tests.shape[0] > 0
    most = n // judge.unit if judge.dealt else np.int64(1)
    if not tested and (not judge.dealt or spaced(rows, s, e, most)):
        return most
    # First all rows together, then dealt to ever fewer hands; columns where they make more groups.
    whole = tested
    looked = asked = False
    least, by_columns, crowded = np.int64(1), np.int64(0), np.int64(0)
    following = most
    g = np.int64(1) if whole else most
    while g:
        good = whole or g < 0 or (tested and spaced(rows, s, e, g))
        if not good:
            if not looked:
                looked = True
                near = _look_around(rows, s, e, sensitive, judge, test_buffers)
                least = max(least, jit_least_group_count(near, n, judge.p, judge.q))
            crowded = _crowded(test_buffers[NEAR], n, g, max(crowded, 0), judge)
            good = crowded < 0
        if good and (not tested or hold(rows, s, e, g, sensitive, judge, test_buffers)):
            if not (whole and judge.dealt):
                return g
        elif whole:
            return np.int64(0)
        elif g > 0:
            following = jit_next_group_count(g, n, judge.unit)
        whole = False
        if not asked:
            asked = True
            if judge.p == 1 and not judge.alone:
                hands, far = jit_column_layout(n, judge.unit, judge.q)
                if hands and spaced(rows, s, e, far):
                    by_columns = hands
        if by_columns and (by_columns > following or following < least):
            g = -by_columns
            by_columns = np.int64(0)
        else:
            g = following if following >= least else np.int64(0)
    return np.int64(0)


def _hands_by_rank(rows, s, e, sensitive, judge, test_buffers):
    """Return what `_hands` does if there are no tests, and dealing always succeeds."""
    n = e - s
    if n < judge.unit or (judge.q and not spaced(rows, s, e, n * judge.p // judge.q)):
        return 0
    return n // judge.unit if judge.dealt else 1


@cache
def group_count_kernel(judge_looks_up: bool):
    """Return the kernel. Others get it as a pointer, so that it is compiled but once."""
    return njit(GROUP_COUNT, **POINTED)(_hands if judge_looks_up else _hands_by_rank)
