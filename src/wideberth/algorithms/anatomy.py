"""Groups for two tables: quasi-identifiers stay as they are, so only sensitive values matter.

The optimal method sorts the rows by buckets of similar values and deals them to the groups in
turn: no group gets two of a bucket that has no more rows than there are groups. Rows are left out
only where some bucket has more than its share, and then as few as possible. MBF (Wang et al. 2013)
is the greedy method that it is compared with. Where similarity has no buckets, because leaves of
the tree lie at unequal depth, `group_dissimilar` takes care of every conflict by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import chain
from math import ceil

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.suppression import (
    is_proven_fewest,
    suppress,
    suppression_error,
    thin_windows,
)
from wideberth.core.codes import Column
from wideberth.core.exact import Ints, fraction
from wideberth.core.groups import Partition
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.kernels.randomness import Chance
from wideberth.principles.dissimilarity import LEDiversityRule
from wideberth.principles.feasibility.limits import WindowShareLimit, window_share_limit
from wideberth.principles.feasibility.refusal import weaker
from wideberth.principles.partition.deal import deal, shuffled_within
from wideberth.principles.partition.tree_conflicts import SEARCH_METHODS, group_dissimilar
from wideberth.principles.proximity import _NeighborhoodShare


@dataclass(frozen=True, eq=False)
class AnatomyGroups:
    """Groups of a table."""

    labels: Ints  # -1: the row is left out
    # "buckets", the principle's own "search", or the way that `group_dissimilar` found: "dealing",
    # "colouring", "components" or "patterns"
    how: str
    at_least: int | None  # how many rows must be left out, whatever the groups; None if not known

    @cached_property
    def rows(self) -> Ints:
        """The rows that are in a group."""
        return np.flatnonzero(self.labels >= 0)

    @cached_property
    def partition(self) -> Partition:
        """The groups of these rows."""
        kept = self.labels[self.rows].astype(np.int32)
        return Partition(kept, int(kept.max(initial=-1)) + 1)


def anatomize(
    demands: Sequence[Demand],
    rows: int,
    *,
    rng: Chance,
    method: str = "optimal",
    group_rows: int | None = None,
    limit: float = 0.0,
) -> AnatomyGroups:
    """Put the rows of a table into groups by their sensitive values alone."""
    # The demands are all on one attribute; at most one of them is not monotone.
    lead = next((d for d in demands if not d.rule.monotone), demands[0])
    if lead.rule.monotone:  # one that speaks of buckets knows best how to deal
        lead = next((d for d in demands if _crowds(d) is not None), lead)
    rule, codes = lead.rule, _codes(lead)
    if method != "optimal" and rule.allowance is not None:
        raise ParameterError(
            f"method {method} knows no values that need no protection", hint='method = "optimal"'
        )
    if isinstance(rule, LEDiversityRule) and rule.line is None and rule.allowance is None:
        dealt = _scattered(rule, codes, method, group_rows, rng)
    elif method == "mbf":
        dealt = _largest_first(lead, codes, rng)
    else:
        return _in_turn(demands, lead, rows, group_rows, limit, rng)
    lost = rows - len(dealt.rows)
    if lost == rows or lost > fraction(limit) * rows:
        least = dealt.at_least or 0
        if method == "components" and least < lost:
            raise InfeasibleError(
                f"connected components of similar values would leave out {lost:,} of {rows:,} rows",
                hint='method = "optimal", which needs no components',
            )
        if method == "mbf" and least < lost:  # it makes groups for the next whole l
            raise InfeasibleError(
                f"maximal bucket first would leave out {lost:,} of {rows:,} rows",
                hint=f'method = "optimal", which leaves out {least:,}',
            )
        raise suppression_error(lead, rows, lost, limit, at_least=least)
    if not _satisfied([d for d in demands if d is not lead], dealt):
        raise _unable(lead, demands)
    return dealt


def _column(demand: Demand) -> Column:
    assert demand.column is not None  # noqa: S101 - the caller refuses principles without one
    return demand.column


def _codes(demand: Demand) -> Ints:
    return _column(demand).codes.astype(np.int64)


def _crowds(demand: Demand) -> WindowShareLimit | None:
    return window_share_limit(demand.rule, _column(demand).domain.size)


def _satisfied(demands: Sequence[Demand], dealt: AnatomyGroups) -> bool:
    """Return whether all groups satisfy demands that were not dealt for."""
    for demand in demands:
        column = _column(demand)
        kept = Column(column.codes[dealt.rows], column.domain)
        if not demand.rule.satisfies(dealt.partition.histograms(kept)).all():
            return False
    return True


def _unable(lead: Demand, demands: Sequence[Demand]) -> InfeasibleError:
    others = ", ".join(str(d.principle) for d in demands if d is not lead)
    also = f" that also satisfy {others}" if others else ""
    return InfeasibleError(
        f"anatomy found no groups for {lead.principle}{also}",
        hint='weaker parameters, or algorithm = "mondrian"',
        proposals=[one for demand in demands for one in weaker(demand.principle)],
    )


# ---- conflicts pair by pair


def _scattered(
    rule: LEDiversityRule, codes: Ints, method: str, group_rows: int | None, rng: Chance
) -> AnatomyGroups:
    """Handle similarity that is not transitive; larger groups only if they cost no row."""
    if method == "mbf":
        raise ParameterError(
            "method mbf needs buckets, and where values lie at unequal depth of the tree being "
            "similar makes none",
            hint='method = "optimal", or "components": coarser, but safe',
        )
    ways = ("components",) if method == "components" else SEARCH_METHODS
    for rows in range(group_rows or 0, rule.least, -1):
        found = group_dissimilar(codes, rule.near, rows, rng, ways, complete=True)
        if not found.left_out:
            break
    else:
        found = group_dissimilar(codes, rule.near, rule.least, rng, ways)
    return AnatomyGroups(found.labels, found.how, found.at_least)


# ---- dealing in turn


def _in_turn(
    demands: Sequence[Demand],
    lead: Demand,
    rows: int,
    group_rows: int | None,
    limit: float,
    rng: Chance,
) -> AnatomyGroups:
    """Leave out what must be, then deal the rest in the order of their buckets."""
    gone = suppress(demands, rows, limit, rng)
    kept = np.setdiff1d(np.arange(rows), gone, assume_unique=True) if len(gone) else slice(None)
    crowd = _crowds(lead)
    codes = _codes(lead)[kept]
    # For several demands rows are left out in turn, and for some even one takes more than it must.
    least = not len(gone) or (len(demands) == 1 and is_proven_fewest(lead))
    at_least = len(gone) if least else None
    labels = np.full(rows, -1, dtype=np.int64)
    unit = max(d.rule.unit for d in demands)
    numbers = _numbers(unit, demands, crowd, codes, group_rows)
    if isinstance(lead.rule, _NeighborhoodShare):
        numbers = chain(numbers, lead.rule.numbers(codes, unit))
    for hands in numbers:
        places = codes if crowd is None else crowd.place[codes]
        labels[kept] = deal(places, hands, rng, per=lead.rule.unit)
        # If no crowd has more rows than there are groups, a group has one row of it at most. And
        # that is no more than its share: no group has fewer rows than the rule asks for.
        sure = crowd is not None and crowd.fullest(codes)[0] <= hands
        dealt = AnatomyGroups(labels, "buckets", at_least)
        if _satisfied([d for d in demands if not sure or d is not lead], dealt):
            return dealt
    if crowd is None and not lead.rule.monotone:  # it may know better than any order of values
        labels[kept] = lead.rule.finish(codes, rng)
        dealt = AnatomyGroups(labels, "search", at_least)
        if _satisfied(demands, dealt):
            return dealt
    raise _unable(lead, demands)


def _numbers(
    unit: int,
    demands: Sequence[Demand],
    crowd: WindowShareLimit | None,
    codes: Ints,
    group_rows: int | None,
) -> Iterator[int]:
    """Yield numbers of groups to try: as many as are wished for, then fewer, then more."""
    top = max(1, len(codes) // unit)
    fewest = 1
    if crowd is not None and not all(d.rule.monotone for d in demands):
        fewest = min(top, max(1, crowd.fullest(codes)[0]))  # else similar rows must meet
    wish = top if group_rows is None else min(max(len(codes) // group_rows, fewest), top)
    hands = wish
    while hands > fewest:
        yield hands
        hands = max(fewest, hands * 3 // 4)
    yield fewest
    if wish < top:
        yield top


# ---- the paper's greedy method


def _largest_first(lead: Demand, codes: Ints, rng: Chance) -> AnatomyGroups:
    crowd = _crowds(lead)
    if crowd is None or (crowd.reach != np.arange(len(crowd.reach))).any():
        raise ParameterError(
            f"method mbf takes rows from buckets of similar values, and {lead.principle.name} has "
            "none",
            hint='method = "optimal"',
        )
    place = crowd.place[codes]
    labels = maximal_bucket_first(place, ceil(1 / crowd.share), rng)
    return AnatomyGroups(labels, "buckets", len(place) - int(thin_windows(place, crowd).sum()))


def maximal_bucket_first(buckets: Ints, wanted: int, rng: Chance) -> Ints:
    """Form groups of one row each from the largest buckets (MBF of Wang et al. 2013).

    >>> maximal_bucket_first(np.array([7, 7, 8]), 2, np.random.default_rng(0)).tolist().count(-1)
    1
    """
    counts = np.bincount(buckets)
    chance = iter(rng.random(2 * len(buckets) + len(counts)).tolist())
    heap = [(-many, next(chance), b) for b, many in enumerate(counts.tolist()) if many]
    heapify(heap)
    given: list[list[int]] = [[] for _ in counts]
    groups = 0
    # Step 2: while as many buckets as wanted have rows, a new group gets a row of each of the
    # largest.
    while len(heap) >= wanted:
        for less, _, bucket in [heappop(heap) for _ in range(wanted)]:
            given[bucket].append(groups)
            if less < -1:
                heappush(heap, (less + 1, next(chance), bucket))
        groups += 1
    # Step 3: every row that remains joins a group without a row of its bucket, if there is one,
    # else gets -1. All groups are tried, for the nearest one alone may be unfit while others are
    # not.
    for less, _, bucket in heap:
        lacking = np.setdiff1d(np.arange(groups), given[bucket])
        given[bucket] += rng.permutation(lacking)[:-less].tolist()
    labels = np.full(len(buckets), -1, dtype=np.int64)
    order = shuffled_within(buckets, rng)
    start = np.cumsum(counts) - counts
    for begin, into in zip(start.tolist(), given, strict=True):
        labels[order[begin : begin + len(into)]] = into
    return labels
