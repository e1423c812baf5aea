"""Dealing by matching: hands that lie close together, at a price in privacy.

The rows of a leaf, in the order of the sensitive values, are cut into stripes of as many rows as
there are hands. Each stripe is assigned to the hands by a matching of least cost on the
quasi-identifiers, in which no hand gets a row similar to its last one. Such a matching always
exists: rows t places on are beyond a window of t rows.

Dealing by rank does not look at quasi-identifiers; this does. Someone who knows the algorithm can
tell that other assignments would have been chosen for other sensitive values. The swap audit
measures that: of two members of a group, swap the sensitive values, and see whether the groups
would still be the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wideberth.algorithms.mondrian.arrangement import Leaves, SplitProblem
from wideberth.algorithms.mondrian.rule_splitter import RankJudge
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition
from wideberth.kernels.randomness import Chance

_SWAPS = 400


@dataclass(frozen=True)
class MatchedPartition:
    """A partition dealt by matching, and its swap audit."""

    partition: Partition
    swaps: int  # how many swaps were tried
    unchanged: float  # the share of them that left the groups as they were; 1 for dealing by rank


def deal_by_matching(
    task: SplitProblem, judge: RankJudge, leaves: Leaves, rng: Chance
) -> MatchedPartition:
    """Deal the rows of every leaf by matching, where the demands permit; else by rank."""
    places = np.stack(
        [line[q.codes[task.order]] for q, line in zip(task.quasis, task.places, strict=True)],
        axis=1,
    ).astype(np.float64)
    labels = np.empty(task.rows, np.int32)
    groups = leaves.groups
    first = np.cumsum(groups) - groups
    several: list[tuple[Ints, Ints, int]] = []
    for begin, size, hands, group in zip(leaves.begins, leaves.sizes, groups, first, strict=True):
        ranks = leaves.ranks[begin : begin + size].astype(np.int64)
        dealt = _deal(task, judge, ranks, places[ranks], int(hands))
        labels[task.order[ranks]] = group + dealt
        if hands > 1:
            several.append((ranks, dealt, int(hands)))
    return MatchedPartition(
        Partition(labels, int(groups.sum())), *_audit(task, judge, several, places, rng)
    )


def _deal(task: SplitProblem, judge: RankJudge, ranks: Ints, places: Floats, hands: int) -> Ints:
    from scipy.optimize import linear_sum_assignment

    n = len(ranks)
    usual = judge.settle(ranks)
    assert usual is not None  # noqa: S101 - only leaves that can be dealt are made
    demand = task.dealt
    if hands == 1 or demand is None or demand.rule.kernel is None:
        return usual  # nothing to deal, or not by rank
    similar = _similar(task, judge, ranks)
    labels = np.arange(n) % hands
    low, high = places[:hands].copy(), places[:hands].copy()
    last = np.arange(hands)  # the position of each hand's latest row
    for begin in range(hands, n, hands):
        stripe = np.arange(begin, min(begin + hands, n))
        x = places[stripe][:, None, :]
        wider = np.maximum(high, x) - np.minimum(low, x) - (high - low)
        cost = wider.sum(axis=2)
        forbidden = similar[last][None, :] >= stripe[:, None]
        cost[forbidden] = 1e3 * (1 + cost.max()) * hands
        rows, chosen = linear_sum_assignment(cost)
        if forbidden[rows, chosen].any():
            return usual
        labels[stripe[rows]] = chosen
        last[chosen] = stripe[rows]
        low[chosen] = np.minimum(low[chosen], places[stripe[rows]])
        high[chosen] = np.maximum(high[chosen], places[stripe[rows]])
    return labels if judge.accepts(ranks, labels) else usual


def _similar(task: SplitProblem, judge: RankJudge, ranks: Ints) -> Ints:
    """Return the last position whose row is similar to the row at each position."""
    demand = task.dealt
    assert demand is not None  # noqa: S101 - only then is there anything to deal
    kernel = demand.rule.kernel
    assert kernel is not None  # noqa: S101 - else `_deal` does not ask
    codes = judge.codes[0][ranks].astype(np.int64)
    if kernel.order is not None:
        codes = kernel.order[codes]
    reach = kernel.table[codes] if len(kernel.table) else codes
    return np.searchsorted(codes, reach, side="right") - 1


def _audit(
    task: SplitProblem,
    judge: RankJudge,
    leaves: list[tuple[Ints, Ints, int]],
    places: Floats,
    rng: Chance,
) -> tuple[int, float]:
    """Swap sensitive values within groups, deal again, and count how often nothing changes."""
    tried = unchanged = 0
    for _ in range(_SWAPS if leaves else 0):
        ranks, labels, hands = leaves[int(rng.integers(len(leaves)))]
        members = np.flatnonzero(labels == rng.integers(hands))
        if len(members) < 2:
            continue
        a, b = rng.permutation(members)[:2]
        people = np.arange(len(ranks))
        people[[a, b]] = people[[b, a]]
        again = np.empty_like(labels)
        again[people] = _deal(task, judge, ranks, places[ranks][people], hands)
        tried += 1
        unchanged += len(np.unique(labels * hands + again)) == hands
    return tried, unchanged / tried if tried else 1.0
