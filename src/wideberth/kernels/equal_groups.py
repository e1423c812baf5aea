"""Dealing rows to groups of equal size in which nobody is near too many others.

Who is near whom is any symmetric relation of values, a table of bits. Rows with most neighbours
are placed first, each where it has fewest; then rows that are still near too many change places
with others, whichever swap leaves the fewest such. The kernels see codes only, and all choices
follow from them: the secret is in the order of the rows.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import njit, types

from wideberth.kernels import kinds
from wideberth.kernels.group_tests import GROUP_COUNT, hold
from wideberth.kernels.sort import INNER, JIT, POINTED, sort

#: Lines of the buffers, beside those of `group_tests`: rows near each row by group; short lines.
HELD, SHORT = 4, 5
#: Parts of the short line, each a number for every row or group and one more.
CODE, DEGREE, ORDER, LABEL, SLOT, PLACE, REST, GROWTH, LINES = 0, 1, 2, 3, 4, 5, 6, 7, 8

_NEVER = np.int64(1) << 40


def part_buffer_length(rows: int, unit: int) -> int:
    """Return how long the lines of the buffers must be for `rows` rows."""
    return max(rows * (rows // max(unit, 1) + 1), LINES * (rows + 1))


@njit(**INNER)
def _similar(bits, words, one, other):
    return (bits[one * words + (other >> 6)] >> (other & 63)) & 1


@njit(**INNER)
def _allowed(size, a, b, q):
    """Return how many others in a group of that size may be near a row; below 0, none fits."""
    return (a * size - b) // q


@njit(**INNER)
def _place(bits, words, code, order, n, g, held, label, slot, place):
    """Place the rows, in order, in groups of equal size, each where it has fewest neighbours."""
    size, larger = n // g, n % g
    for i in range(n * g):
        held[i] = 0
    for h in range(g):
        place[h] = 0  # how many are in, for now
    for i in range(n):
        v = order[i]
        best = np.int64(-1)
        for h in range(g):
            if place[h] == size + (h < larger):
                continue
            if best >= 0:
                more = held[v * g + h] - held[v * g + best]
                if more > 0 or (more == 0 and place[h] >= place[best]):
                    continue
            best = h
        label[v] = best
        slot[best * size + min(best, larger) + place[best]] = v
        place[best] += 1
        for w in range(n):
            if _similar(bits, words, code[v], code[w]):
                held[w * g + best] += 1
    for v in range(n):
        held[v * g + label[v]] -= 1  # nobody is a neighbour of itself
    for i in range(n):
        place[slot[i]] = i


@njit(**INNER)
def _above(many, allowed):
    return many - allowed if many > allowed else np.int64(0)


@njit(**INNER)
def _change(bits, words, code, v, u, n, g, limits, held, label, slot):
    """Return by how much the surplus of two groups grows if v and u change places."""
    small, large, larger = limits
    size = n // g
    both = _similar(bits, words, code[v], code[u])
    total = np.int64(0)
    for side in range(2):
        out, into = (v, u) if side == 0 else (u, v)
        h = label[out]
        allowed = large if h < larger else small
        begin = h * size + min(h, larger)
        total += _above(held[into * g + h] - both, allowed) - _above(held[out * g + h], allowed)
        for i in range(begin, begin + size + (h < larger)):
            w = slot[i]
            if w == out:
                continue
            now = held[w * g + h]
            gone = _similar(bits, words, code[w], code[out])
            come = _similar(bits, words, code[w], code[into])
            total += _above(now - gone + come, allowed) - _above(now, allowed)
    return total


@njit(**INNER)
def _next(chance):
    """Return another number of 31 bits (Park and Miller's generator)."""
    return chance * 48271 % 0x7FFFFFFF


@njit(**INNER)
def _pick(line, n, wanted, number):
    """Return the place where a value stands after `number` earlier ones, -1 if nowhere."""
    for i in range(n):
        if line[i] == wanted:
            if number == 0:
                return np.int64(i)
            number -= 1
    return np.int64(-1)


@njit(**INNER)
def attempt(
    bits, words, code, order, n, g, a, b, q, steps, work, held, label, slot, place, rest, growth
):
    """Deal n rows to g groups; return whether none is near more than (a * size - b) / q others."""
    # `bits` says which values are near each other, in `words` numbers of 64 bits for each value. At
    # most `steps` pairs change places, and `work` rows are looked at for that. `label` is the
    # result.
    # Memory: `held` (neighbours of each row in each group), `slot` (the rows group by group),
    # `place` (where each row is among them), `rest` (until when it stays there), `growth` (cost of
    # a move).
    size, larger = n // g, n % g
    limits = _allowed(size, a, b, q), _allowed(size + 1, a, b, q), larger
    if limits[0] < 0:
        return False
    _place(bits, words, code, order, n, g, held, label, slot, place)
    for v in range(n):
        rest[v] = 0
    chance, step = np.int64(1), np.int64(0)
    steps = min(steps, work // (n * (size + 1)))
    while True:
        # Somebody who is near too many and has not just moved.
        surplus = many = np.int64(0)
        for w in range(n):
            h = label[w]
            more = _above(held[w * g + h], limits[1] if h < larger else limits[0])
            surplus += more
            growth[w] = more > 0 and rest[w] <= step
            many += growth[w]
        if surplus == 0:
            return True
        step += 1
        if step > steps or surplus > kinds.PER_STEP * (steps - step + 1):
            return False
        if many == 0:
            continue
        chance = _next(chance)
        v = _pick(growth, n, np.int64(1), chance % many)
        # Somebody to change places with, so that the fewest are near too many then.
        least, many = _NEVER, np.int64(0)
        for w in range(n):
            growth[w] = _NEVER
            if label[w] != label[v] and rest[w] <= step:
                growth[w] = _change(bits, words, code, v, w, n, g, limits, held, label, slot)
            if growth[w] < least:
                least, many = growth[w], np.int64(0)
            many += growth[w] == least
        if least == _NEVER:
            continue
        chance = _next(chance)
        u = _pick(growth, n, least, chance % many)
        one, other = label[v], label[u]
        for w in range(n):
            change = _similar(bits, words, code[w], code[u]) * (w != u)
            change -= _similar(bits, words, code[w], code[v]) * (w != v)
            held[w * g + one] += change
            held[w * g + other] -= change
        label[v], label[u] = other, one
        slot[place[v]], slot[place[u]] = u, v
        place[v], place[u] = place[u], place[v]
        chance = _next(chance)
        rest[v] = rest[u] = step + 2 + chance % 4


@njit(**INNER)
def next_part_count(g, n, unit, a, b, q):
    """Return the next smaller number of groups to try."""
    # If no two rows of a group may be near each other, groups of twice the smallest size could be
    # taken apart again, so there is no use in them.
    if a == 0:
        g -= max(g // 4, 1)
        return g if 2 * unit * g > n or n < 2 * unit else np.int64(0)
    if g == n // unit:  # the size from which on a row may have one neighbour more
        size = unit
        while size < n and _allowed(size, a, b, q) == _allowed(unit, a, b, q):
            size += 1
        if n // size < g - 1 and n // size > kinds.EACH:
            return n // size
    return g - 1 if g <= kinds.EACH else g // 2


@njit(**INNER)
def prepare(bits, words, n, unit, a, b, q, short):
    """Count neighbours, and order the rows by them; return the most, or -1 if that is too many."""
    line = n + 1
    code, degree, order = short[:line], short[DEGREE * line :], short[ORDER * line :]
    most = np.int64(0)
    for v in range(n):
        near = np.int64(-1)
        for w in range(n):
            near += _similar(bits, words, code[v], code[w])
        degree[v] = near
        most = max(most, near)
        order[v] = (n - near) * n + v
    # A row in a group of `unit` rows or more needs enough of them to be far.
    if n - 1 - most < unit - 1 - _allowed(unit, a, b, q):
        return np.int64(-1)
    sort(order, n)
    for i in range(n):
        order[i] %= n
    return most


@njit(**INNER)
def settle_part_count(bits, words, n, g, unit, a, b, q, steps, work, most, held, short):
    """Return into how many groups, from g down, the rows can be dealt, 0 if that is not found."""
    line = n + 1
    code, order, label = short[:line], short[ORDER * line :], short[LABEL * line :]
    slot, place = short[SLOT * line :], short[PLACE * line :]
    rest, growth = short[REST * line :], short[GROWTH * line :]
    while g > 1:
        if attempt(
            bits, words, code, order, n, g, a, b, q, steps, work,
            held, label, slot, place, rest, growth,
        ):  # fmt: skip
            return g
        g = next_part_count(g, n, unit, a, b, q)
    for v in range(n):
        label[v] = 0
    return np.int64(g == 1 and most <= _allowed(n, a, b, q))


@njit(**INNER)
def _in_turns(ranks, s, n, g, label, fill, out):
    """Bring rows into an order in which the i-th belongs to group i mod g."""
    for h in range(g):
        fill[h] = 0
    for v in range(n):
        h = label[v]
        out[h + fill[h] * g] = ranks[s + v]
        fill[h] += 1


def _hands_apart(rows, s, e, sensitive, judge, test_buffers):
    """Return how many groups the rows are to be dealt to, 0 if no way is found."""
    n = e - s
    unit, words = judge.unit, (judge.width + 63) >> 6
    if n < unit:
        return np.int64(0)
    others = judge.tests.shape[0] > 0
    if others and not hold(rows, s, e, np.int64(1), sensitive, judge, test_buffers):
        return np.int64(0)
    held, short = test_buffers[HELD], test_buffers[SHORT]
    for i in range(n):
        short[i] = sensitive[0, rows[0, s + i]]
    a, b, q = judge.p, judge.alone, judge.q
    most = prepare(judge.tables, words, n, unit, a, b, q, short)
    if most < 0:
        return np.int64(0)
    g = n // unit
    # Hajnal and Szemerédi: groups of equal size without any neighbours, if there are enough.
    if not others and n >= kinds.CERTIFIED and n >= unit * (most + 1):
        return g
    steps = 2 * n + kinds.SWAPS
    while g:
        g = settle_part_count(
            judge.tables, words, n, g, unit, a, b, q, steps, kinds.WORK, most, held, short
        )
        if not g or not others:
            return g
        line = n + 1
        turned = rows[0, s:e]
        _in_turns(
            turned, 0, n, g, short[LABEL * line :], short[PLACE * line :], short[SLOT * line :]
        )
        # The rows change places for the test, and back again.
        for i in range(n):
            short[REST * line + i] = turned[i]
        for i in range(n):
            turned[i] = short[SLOT * line + i]
        good = hold(rows, s, e, g, sensitive, judge, test_buffers)
        for i in range(n):
            turned[i] = short[REST * line + i]
        if good:
            return g
        g = next_part_count(g, n, unit, a, b, q)
    return g


@cache
def part_count_kernel():
    """Return the kernel. Others get it as a pointer, so that it is compiled but once."""
    return njit(GROUP_COUNT, **POINTED)(_hands_apart)


def _part(bits, words, n, g, unit, a, b, q, steps, work, held, short):
    """Deal rows whose codes are in `short`, to g groups or fewer; labels are left there."""
    most = prepare(bits, words, n, unit, a, b, q, short)
    if most < 0:
        return np.int64(0)
    return settle_part_count(bits, words, n, g, unit, a, b, q, steps, work, most, held, short)


_NUMBER, _LINE = types.int64, types.int64[::1]


@cache
def part_kernel():
    """Return the kernel for Python to call."""
    return njit(_NUMBER(_LINE, *[_NUMBER] * 9, _LINE, _LINE), **JIT)(_part)
