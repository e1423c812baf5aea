"""Which rows to leave out, as few as possible, so that the rest can satisfy all demands.

Least for a single demand of these kinds, by the proofs beside the code: no crowd beyond a share
((ε,m), (δ,l), frequency l, (α,k), m-uniqueness, (l,e) on trees with leaves at equal depth),
entropy l, and recursive (c,l) without required values. Where it matters who is near whom, and if
several demands are met in turn until all are: sound, but not always least. `fewest_suppressed`
bounds from below how many rows must go, and a refusal says no more than is proven.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.core.codes import Column
from wideberth.core.exact import Ints, fraction
from wideberth.core.groups import Groups
from wideberth.errors import InfeasibleError
from wideberth.kernels.randomness import Chance
from wideberth.principles import Rule
from wideberth.principles.dissimilarity import LEDiversityRule
from wideberth.principles.diversity import RecursiveCLDiversity, _Entropy, _Recursive
from wideberth.principles.feasibility.limits import WindowShareLimit, window_share_limit
from wideberth.principles.feasibility.nearness import last_possible
from wideberth.principles.feasibility.refusal import Alternative, infeasible_error
from wideberth.principles.partition.caps import SearchedRule
from wideberth.principles.partition.deal import shuffled_within
from wideberth.principles.partition.decide import clique, clique_witness, row_witness
from wideberth.principles.partition.swap import deal_apart
from wideberth.principles.partition.tree_conflicts import group_dissimilar
from wideberth.principles.proximity import _Variance

#: Rows are picked so often at most, or so many in all; where it takes a search, far fewer.
_TRIES, _ROWS, _SLOW = 64, 1 << 22, 256


def suppress(
    demands: Sequence[Demand],
    rows: int,
    limit: float | Fraction,
    rng: Chance,  # which of the rows with equal sensitive values goes must tell nothing
    *,
    # returns all rows in an order that depends on what they hold; asked if some must go, so that
    # the choice does not depend on where rows stand
    order: Callable[[], Ints] | None = None,
) -> Ints:
    """Return the rows to leave out, ascending; none if all demands are feasible as they are."""
    everyone = np.arange(rows)
    culprit = next((d for d in demands if not rows or not _feasible(d, everyone)), None)
    if culprit is None:
        return np.empty(0, dtype=np.int64)
    given = everyone if order is None else order()
    most = int(fraction(limit) * rows)
    best: Ints | None = None
    at_least: int | None = None
    begin = demands.index(culprit) + 1
    for _ in range(_tries(demands, rows)):
        first = _reduced(culprit, given, rng)
        kept = None if first is None else _in_turn(demands, first, rng, begin)
        if kept is not None and (best is None or len(kept) > len(best)):
            best = kept
        if best is not None and rows - len(best) <= most:
            return np.setdiff1d(everyone, best, assume_unique=True)
        if at_least is None:
            at_least = fewest_suppressed(demands, rows)
        if at_least > most:  # others would not do either
            break
    assert at_least is not None  # noqa: S101 - there is one try at least
    lost = None if best is None else rows - len(best)
    raise suppression_error(
        culprit, rows, lost, limit, at_least=at_least, enough=_together(demands)
    )


def _tries(demands: Sequence[Demand], rows: int) -> int:
    """Return how often rows are picked at most."""
    if len(demands) == 1:
        return 1
    # Which of several equal rows goes may decide whether other attributes' demands can be met.
    slow = any(isinstance(d.rule, SearchedRule) and d.rule.line is None for d in demands)
    return min(max(_ROWS // ((_SLOW if slow else 1) * max(rows, 1)), 1), _TRIES)


def _in_turn(demands: Sequence[Demand], kept: Ints, rng: Chance, begin: int) -> Ints | None:
    """Leave out rows for one demand after the other until all can be met; None if none is left."""
    # The demands up to `begin` have had their turn.
    changed = True
    while changed:
        changed = begin > 0
        for demand in demands[begin:]:
            if _feasible(demand, kept):
                continue
            fewer = _reduced(demand, kept, rng)
            if fewer is None:
                return None
            kept, changed = fewer, True
        begin = 0
    return kept


def fewest_suppressed(demands: Sequence[Demand], rows: int) -> int:
    """Return how many rows must be left out, at least: all of them if nothing helps."""
    least = max(_fewest(demand, rows) for demand in demands)
    return rows if rows - least < max(demand.rule.least for demand in demands) else least


def is_proven_fewest(demand: Demand) -> bool:
    """Return whether no fewer rows than `suppress` leaves out for one demand alone will do."""
    rule = demand.rule
    if demand.column is None or (isinstance(rule, SearchedRule) and rule.line is None):
        return False
    if isinstance(rule, _Recursive):
        return not rule.guarded
    return (
        isinstance(rule, _Entropy)
        or window_share_limit(rule, demand.column.domain.size) is not None
    )


def _fewest(demand: Demand, rows: int) -> int:
    """Return how many rows one demand takes, at least."""
    everyone, rng = np.arange(rows), np.random.default_rng(0)
    column, rule = demand.column, demand.rule
    if not rows or _feasible(demand, everyone):
        return 0
    if rule.upward or rows < rule.least:
        return rows
    if is_proven_fewest(demand):
        kept = _reduced(demand, everyone, rng)
        return rows if kept is None else rows - len(kept)
    if column is None:
        return 1
    counts = np.bincount(column.codes, minlength=column.domain.size)
    if isinstance(rule, LEDiversityRule) and rule.allowance is None:
        return group_dissimilar(column.codes.astype(np.int64), rule.near, rule.least, rng).at_least
    if isinstance(rule, SearchedRule):
        return 0  # no partition was found: there may be one
    if isinstance(rule, _Recursive):
        assert isinstance(demand.principle, RecursiveCLDiversity)  # noqa: S101
        alike = replace(demand.principle, required=(), c2=0)
        plain = Demand(alike, alike.bind(column.domain), column)
        held = min(0 if code is None else int(counts[code]) for code in rule.guarded)
        # Of each required value there are so many, and these are a share of all rows that stay.
        return max(_fewest(plain, rows), rows - int(held / rule.share), 1)
    if isinstance(rule, _Variance):
        # No rows vary more than the two that are farthest apart.
        known = np.flatnonzero(counts * rule.known)
        farthest = np.zeros_like(counts)
        farthest[known[:1]] = farthest[known[-1:]] = 1
        return 1 if len(known) > 1 and rule.satisfies(_group(farthest))[0] else rows
    return 1


def _together(demands: Sequence[Demand]) -> bool:
    """Return whether rows that can meet each demand by itself can surely meet all together."""
    dealt = [demand for demand in demands if not demand.rule.monotone]
    if not dealt or len(demands) == 1:
        return True
    # Groups of a principle that is not monotone have its rows, and perhaps not one more.
    others = [demand for demand in demands if demand is not dealt[0]]
    return all(d.column is None and d.rule.least <= dealt[0].rule.least for d in others)


def suppression_error(
    demand: Demand,
    rows: int,
    lost: int | None,  # how many were left out; None if it was not found which to leave out
    limit: float | Fraction,
    *,
    at_least: int,  # how many must be, whatever is found; all if leaving out rows does not help
    enough: bool = True,  # whether it is certain that the rest will do
) -> InfeasibleError:
    """Return the error that says how many rows would have to be left out, as far as is known."""
    error = infeasible_error(demand.principle, demand.column, rows)
    found = lost if enough and lost != rows else None
    return hint_at_suppression(error, rows, limit, at_least=at_least, found=found)


def hint_at_suppression(
    error: InfeasibleError,
    rows: int,
    limit: float | Fraction,
    *,
    at_least: int | None = None,  # as above; by default one, if all rows are proven not to do
    found: int | None = None,  # how many will do, if that is known
) -> InfeasibleError:
    """Add to a refusal of all rows what is known of leaving out some, and what that proves."""
    impossible = error.outcome == "impossible"
    at_least = int(impossible) if at_least is None else at_least
    most = int(fraction(limit) * rows)
    if at_least >= rows:
        what = f"{error.what}; leaving out rows does not help"
        return InfeasibleError(what, hint=error.hint, **_proof(error))
    if found is None and at_least <= most:
        unknown = "which rows to leave out is not known"
        if not impossible or most:
            return error.hedged(unknown)
        return InfeasibleError(f"{error.what}; {unknown}", hint=error.hint, **_proof(error))
    must = "would have to be suppressed"
    if found is None:
        many = f"at least {_rows(at_least)}"
    elif not at_least:
        many, must = _rows(found), "suppressed would do"
    else:
        many = _rows(found) if at_least >= found else f"{at_least:,} to {_rows(found)}"
    share = Fraction(at_least if found is None else found, rows)
    permitted = f", the limit is {_percent(fraction(limit))} %" if limit else ""
    said = f"{many} {must} ({_percent(share)} %){permitted}"
    hint = error.hint
    if found is not None:
        wide = ceil(share * 10**4) / 10**4  # four digits, rounded up: enough, and short
        words = f"suppression_limit={wide:g}"
        hint = f"{hint}, or {words}"
        fewer = Alternative(words, setting=words, key="suppression_limit", suppression_limit=wide)
        error.proposals = (*error.proposals, fewer)
    if impossible and max(at_least, 1) > most:
        return InfeasibleError(f"{error.what}; {said}", hint=hint, **_proof(error))
    return error.hedged(said, hint=hint)


def _rows(count: int) -> str:
    return f"{count:,} row" + ("" if count == 1 else "s")


def _proof(error: InfeasibleError) -> dict[str, Any]:
    """Return what is proven of a refusal, for another one in more words."""
    return {
        "outcome": error.outcome,
        "witness": error.witness,
        "fact": error.fact,
        "proposals": error.proposals,
    }


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
    """Return one group with the given count of each code."""
    held = np.flatnonzero(counts)
    return Groups(
        start=np.array([0, len(held)]), codes=held, counts=counts[held], width=len(counts)
    )


def _reduced(demand: Demand, kept: Ints, rng: Chance) -> Ints | None:
    """Return the most of the rows that make a demand feasible; None if none are known."""
    column, rule = demand.column, demand.rule
    if column is None:
        return None  # fewer rows do not make a group larger
    codes = column.codes[kept].astype(np.int64)
    scattered = isinstance(rule, LEDiversityRule) and rule.allowance is None
    if isinstance(rule, LEDiversityRule) and scattered and rule.line is None:
        found = group_dissimilar(codes, rule.near, rule.least, rng)
        return _verified(demand, kept[found.labels >= 0])
    if isinstance(rule, SearchedRule) and rule.line is None:
        quota = peel_crowds(rule, codes)
        if quota is None:
            return None
        places = rule.among(codes)[1]
        return _verified(demand, kept[_chosen(places, quota, rng)])
    crowd = window_share_limit(rule, column.domain.size)
    if crowd is not None:
        place = crowd.place[codes]
        return _verified(demand, kept[_chosen(place, thin_windows(place, crowd), rng)])
    capped = _capped(rule, column, codes, rng)
    return None if capped is None else _verified(demand, kept[_chosen(codes, capped, rng)])


def _verified(demand: Demand, kept: Ints) -> Ints | None:
    """Return the rows if they will do; they may not where a demand also asks for a group size."""
    return kept if len(kept) and _feasible(demand, kept) else None


def _chosen(places: Ints, quota: Ints, rng: Chance) -> Ints:
    """Pick as many rows at each place as its quota says, at random."""
    order = shuffled_within(places, rng)
    counts = np.bincount(places, minlength=len(quota))
    rank = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.sort(order[rank < quota[places[order]]])


def thin_windows(places: Ints, crowd: WindowShareLimit) -> Ints:
    """Return how many rows to keep at each place so that no crowd exceeds its share."""
    # Let keep(t) be the most rows without a crowd of more than t. A choice whose fullest crowd has
    # t rows is permitted if t is at most its share, so the best one has keep(t) rows for the
    # largest t with t <= share * keep(t). Halving finds that t, for keep(t) / t never rises: the
    # keep(t) rows, dealt in order to t hands, leave no two similar ones in a hand; without the
    # smallest hand, (t - 1) / t of them or more are left, and no crowd has more than t - 1. Rows in
    # no crowd, which are kept whatever t is, only make the quotient fall faster.
    counts = np.bincount(places, minlength=len(crowd.reach))
    each = np.arange(len(counts))
    many = int((crowd.reach >= each).sum())  # what follows is in no crowd, and stays
    first = np.searchsorted(crowd.reach[:many], each[:many], side="left")
    low, high = 0, int(counts.sum())
    best = np.where(each < many, 0, counts)
    while low < high:
        middle = (low + high + 1) // 2
        quota = np.append(_keep(counts[:many], first, middle), counts[many:])
        if middle <= crowd.share * int(quota.sum()):
            low, best = middle, quota
        else:
            high = middle - 1
    return best


def _keep(counts: Ints, first: Ints, most: int) -> Ints:
    """Return keep(t) of `thin_windows` as a quota for each place."""
    # From left to right, each place keeps as many rows as fit into the crowd that ends with it. If
    # that is too many, one row of the crowd must go, and the last reaches farthest to the right: it
    # is in the way of every row that any other is in the way of.
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


def _capped(rule: Rule, column: Column, codes: Ints, rng: Chance) -> Ints | None:
    """Return how many rows to keep of each code, by a cap on the most frequent ones."""
    # Recursive: for a given count of the most frequent value, keeping all that is not above it
    # leaves the most rows and the largest tail. The tail is a concave function of the cap, so a cap
    # that is too high stays so when raised. Values that may be disclosed need no cap.
    # Entropy: of all choices of so many rows, the most even one has the largest entropy: a cap of
    # t, and t + 1 for some of the values that have more. Raising the cap makes proportions less
    # even, so halving finds the largest t. With r rows on top of it, N log(N / l) - Σ n log n is
    # convex in r, is at least 0 for r = 0 and below 0 for all of them; so halving finds the largest
    # r as well. Beside allowed values, of which c rows count, that holds for each c, and so for the
    # best one: no best c is above the cap.
    counts = np.bincount(codes, minlength=column.domain.size)
    if isinstance(rule, _Recursive):
        free = rule.open_to_all
    elif isinstance(rule, _Entropy):
        beside = rule.allowance
        free = np.zeros(len(counts), dtype=bool) if beside is None else beside.codes
    else:
        return None

    def quota(cap: int) -> Ints:
        return np.where(free, counts, np.minimum(counts, cap))

    def good(kept: Ints) -> bool:
        return bool(kept.sum()) and bool(rule.satisfies(_group(kept))[0])

    cap = last_possible(int(counts.max()), lambda cap: good(quota(cap)))
    kept = quota(cap)
    if not good(kept) or not isinstance(rule, _Entropy):
        return kept
    more = rng.permutation(np.flatnonzero((counts > cap) & ~free))

    def topped(extra: int) -> Ints:
        result = kept.copy()
        result[more[:extra]] += 1
        return result

    return topped(last_possible(len(more), lambda extra: good(topped(extra))))


# -----------------------------------------------------------------------------
# Which rows to leave out where it matters who is near whom: sound, but not always the fewest.
#
# Each reason why there are no groups tells how many rows are too many: one that is near too many
# goes itself, of a crowd all near each other as many as groups have no room for. Where no reason is
# known and no groups are found, a few of those with most neighbours go.


#: One in so many rows goes at a time if no reason is known.
_AT_A_TIME = 50
#: Rows that may be looked at while others change places.
_WORK = 1 << 22
#: Up to so many rows all pairs are looked at.
_MOST = 4096


def peel_crowds(rule: SearchedRule, codes: Ints) -> Ints | None:
    """Return how many rows of each value to keep, in ascending order of values; None if unknown."""
    if len(codes) > _MOST:
        return None
    relation, places = rule.among(codes)
    near = relation.near.astype(np.int64)
    left = np.bincount(places, minlength=len(near))
    while left.sum() >= max(rule.smallest, len(codes) // 2):  # to lose more helps nobody
        crowd = near @ left
        worst = int(np.where(left > 0, crowd, 0).argmax())
        if row_witness(int(left.sum()), int(crowd[worst]) - 1, rule.cap, rule.smallest):
            left[worst] -= 1
            continue
        rows = np.repeat(np.arange(len(left)), left)
        together = clique(relation, rows)
        if _trimmed(left, together, rule):
            continue
        many = len(rows)
        hands, steps = many // rule.smallest, 2 * many
        if deal_apart(relation, rows, hands, rule.cap, rule.smallest, steps, _WORK) is not None:
            return left
        for _ in range(max(1, many // _AT_A_TIME)):
            worst = int(np.where(left > 0, near @ left, 0).argmax())
            left[worst] -= 1
    return None


def _trimmed(left: Ints, together: Ints, rule: SearchedRule) -> bool:
    """Take as many rows from a crowd as there is no room for; return whether there were any."""
    gone = 0
    while clique_witness(int(left.sum()), int(left[together].sum()), rule.cap, rule.smallest):
        left[together[int(left[together].argmax())]] -= 1
        gone += 1
    return gone > 0
