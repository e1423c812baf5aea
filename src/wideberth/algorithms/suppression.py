"""Which rows to leave out, as few as possible, so that the rest can satisfy all demands.

Least for a single demand of these kinds, by the proofs beside the code: no crowd beyond a share
((ε,m), (δ,l), frequency l, (α,k), m-uniqueness, (l,e) on trees with leaves at equal depth),
entropy l, and recursive (c,l) without required values. Where it matters who is near whom, and if
several demands are met in turn until all are: sound, but not always least.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from wideberth.advice import refusal
from wideberth.advice.brackets import last
from wideberth.advice.crowding import Crowding, crowding
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.peeling import peeled
from wideberth.encode import Column
from wideberth.errors import InfeasibleError
from wideberth.exact import Ints, fraction
from wideberth.groups import Groups
from wideberth.principles import Rule
from wideberth.principles.dealing import shuffled_within
from wideberth.principles.dissimilarity import Scattered
from wideberth.principles.diversity import _Entropy, _Recursive
from wideberth.principles.scattering import scatter
from wideberth.principles.search import Searched


def suppress(
    demands: Sequence[Demand], rows: int, limit: float | Fraction, rng: np.random.Generator
) -> Ints:
    """Return the rows to leave out, ascending; none if all demands are feasible as they are.

    Parameters
    ----------
    demands : sequence of Demand
        What the rest of the table must be able to satisfy.
    rows : int
        How many rows the table has.
    limit : float or Fraction
        The largest share of rows that may be left out.
    rng : numpy.random.Generator
        Picks among rows with equal sensitive values: which of them goes must tell nothing.

    Raises
    ------
    InfeasibleError
        If more rows than permitted would have to go, or if leaving out rows does not help.
    """
    kept = np.arange(rows)
    culprit: Demand | None = None
    changed = True
    while changed:
        changed = False
        for demand in demands:
            if len(kept) and _feasible(demand, kept):
                continue
            culprit = culprit or demand
            fewer = _reduced(demand, kept, rng)
            if fewer is None or not len(fewer):
                raise refused(culprit, rows, None, limit)
            kept, changed = fewer, True
    if culprit is None:
        return np.empty(0, dtype=np.int64)
    lost = rows - len(kept)
    if lost > fraction(limit) * rows:
        raise refused(culprit, rows, lost, limit)
    return np.setdiff1d(np.arange(rows), kept, assume_unique=True)


def refused(
    demand: Demand,
    rows: int,
    lost: int | None,
    limit: float | Fraction,
    *,
    at_least: int | None = None,
) -> InfeasibleError:
    """Return the error that says how many rows would have to be left out.

    Parameters
    ----------
    demand : Demand
        What cannot be satisfied by all rows.
    rows : int
        How many rows there are.
    lost : int, optional
        How many were left out; None if leaving out rows does not help.
    limit : float or Fraction
        The largest share that may be left out.
    at_least : int, optional
        How many must be, if that is less than was found to do.
    """
    error = refusal(demand.principle, demand.column, rows)
    if lost is None or lost == rows:
        unsure = lost is None and not demand.rule.certain and rows >= demand.rule.least
        which = "whom to leave out is not known" if unsure else "leaving out rows does not help"
        return InfeasibleError(f"{error.what}; {which}", hint=error.hint)
    share = Fraction(lost, rows)
    many = f"{lost:,} row" + ("" if lost == 1 else "s")
    if at_least is not None and at_least < lost:
        many = f"{at_least:,} to {many}"
    permitted = f", the limit is {_percent(fraction(limit))} %" if limit else ""
    enough = ceil(share * 10**4) / 10**4  # four digits, rounded up: enough, and short
    must = "would have to be suppressed" if demand.rule.certain else "suppressed would do"
    return InfeasibleError(
        f"{error.what}; {many} {must} ({_percent(share)} %){permitted}",
        hint=f"{error.hint}, or suppression_limit={enough:g}",
    )


def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.4g}"


def _feasible(demand: Demand, kept: Ints) -> bool:
    if demand.column is None:
        counts, width = np.array([len(kept)]), 1
    else:
        width = demand.column.domain.size
        counts = np.bincount(demand.column.codes[kept], minlength=width)
    return bool(demand.rule.feasible(_group(counts))[0])


def _group(counts: Ints) -> Groups:
    """Return one group with so many rows of each code."""
    held = np.flatnonzero(counts)
    return Groups(
        start=np.array([0, len(held)]), codes=held, counts=counts[held], width=len(counts)
    )


def _reduced(demand: Demand, kept: Ints, rng: np.random.Generator) -> Ints | None:
    """Return the most of the rows that make a demand feasible; None if none are known."""
    column, rule = demand.column, demand.rule
    if column is None:
        return None  # fewer rows do not make a group larger
    codes = column.codes[kept].astype(np.int64)
    if isinstance(rule, Scattered) and rule.line is None:
        found = scatter(codes, rule.near, rule.least, rng)
        return _verified(demand, kept[found.labels >= 0])
    if isinstance(rule, Searched) and rule.line is None:
        quota = peeled(rule, codes)
        if quota is None:
            return None
        places = np.unique(codes, return_inverse=True)[1].reshape(-1)
        return _verified(demand, kept[_chosen(places, quota, rng)])
    crowd = crowding(rule, column.domain.size)
    if crowd is not None:
        place = crowd.place[codes]
        return _verified(demand, kept[_chosen(place, uncrowded(place, crowd), rng)])
    capped = _capped(rule, column, codes, rng)
    return None if capped is None else _verified(demand, kept[_chosen(codes, capped, rng)])


def _verified(demand: Demand, kept: Ints) -> Ints | None:
    """Return the rows if they will do; they may not where a demand also asks for a group size."""
    return kept if len(kept) and _feasible(demand, kept) else None


def _chosen(places: Ints, quota: Ints, rng: np.random.Generator) -> Ints:
    """Pick as many rows at each place as its quota says, at random."""
    order = shuffled_within(places, rng)
    counts = np.bincount(places, minlength=len(quota))
    rank = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < quota[places[order]]])


def uncrowded(places: Ints, crowd: Crowding) -> Ints:
    """Return how many rows to keep at each place so that no crowd exceeds its share.

    Let keep(t) be the most rows without a crowd of more than t. A choice whose fullest crowd has t
    rows is permitted if t is at most its share, so the best one has keep(t) rows for the largest t
    with t <= share * keep(t). Halving finds that t, for keep(t) / t never rises: the keep(t) rows,
    dealt in order to t hands, leave no two similar ones in a hand; without the smallest hand,
    (t - 1) / t of them or more are left, and no crowd has more than t - 1.
    """
    counts = np.bincount(places, minlength=len(crowd.reach))
    first = np.searchsorted(crowd.reach, np.arange(len(counts)), side="left")
    low, high = 0, int(counts.sum())
    best = np.zeros_like(counts)
    while low < high:
        middle = (low + high + 1) // 2
        quota = _keep(counts, first, middle)
        if middle <= crowd.share * int(quota.sum()):
            low, best = middle, quota
        else:
            high = middle - 1
    return best


def _keep(counts: Ints, first: Ints, most: int) -> Ints:
    """Return keep(t) as a quota for each place.

    From left to right, each place keeps as many rows as fit into the crowd that ends with it. If
    that is too many, one row of the crowd must go, and the last reaches farthest to the right: it
    is in the way of every row that any other is in the way of.
    """
    if bool((first == np.arange(len(first))).all()):  # no place is similar to another
        return np.minimum(counts, most)
    quota = np.empty_like(counts)
    running = [0]
    total = 0
    for count, begin in zip(counts.tolist(), first.tolist(), strict=True):
        room = most - (total - running[begin])
        total += count if count < room else room
        running.append(total)
    quota[:] = np.diff(running)
    return quota


def _capped(rule: Rule, column: Column, codes: Ints, rng: np.random.Generator) -> Ints | None:
    """Return how many rows to keep of each code, by a cap on the most frequent ones.

    Recursive: for a given count of the most frequent value, keeping all that is not above it leaves
    the most rows and the largest tail. The tail is a concave function of the cap, so a cap that is
    too high stays so when raised. Values that may be disclosed need no cap.

    Entropy: of all choices of so many rows, the most even one has the largest entropy: a cap of t,
    and t + 1 for some of the values that have more. Raising the cap makes proportions less even, so
    halving finds the largest t. With r rows on top of it, N log(N / l) - Σ n log n is convex in r,
    is at least 0 for r = 0 and below 0 for all of them; so halving finds the largest r as well.
    """
    counts = np.bincount(codes, minlength=column.domain.size)
    if isinstance(rule, _Recursive):
        free = rule.open_to_all
    elif isinstance(rule, _Entropy):
        free = np.zeros(len(counts), dtype=bool)
    else:
        return None

    def quota(cap: int) -> Ints:
        return np.where(free, counts, np.minimum(counts, cap))

    def good(kept: Ints) -> bool:
        return bool(kept.sum()) and bool(rule.satisfies(_group(kept))[0])

    cap = last(int(counts.max()), lambda cap: good(quota(cap)))
    kept = quota(cap)
    if not good(kept) or not isinstance(rule, _Entropy):
        return kept
    more = rng.permutation(np.flatnonzero(counts > cap))

    def topped(extra: int) -> Ints:
        result = kept.copy()
        result[more[:extra]] += 1
        return result

    return topped(last(len(more), lambda extra: good(topped(extra))))
