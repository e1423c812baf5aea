"""Whether rows can be dealt to groups in which nobody is near too many: yes, no, or unknown.

In general that is NP-hard (Wang et al. 2009, Theorem 2). A yes comes with the groups, a no with a
witness: a row near too many others, a crowd of rows all near each other, or a search to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.core.exact import Bools, Ints
from wideberth.principles.base import rows_in_words
from wideberth.principles.partition.swap import (
    NeighborCap,
    SimilarityMatrix,
    color_equitably,
    deal_apart,
)

PartitionVerdict: TypeAlias = Literal["yes", "no", "unknown"]
Singles: TypeAlias = npt.NDArray[np.float32]

#: Swaps for each row, and on top of that, when an answer is wanted.
_PER_ROW, _MORE = 4, 400
#: Rows that may be looked at for that.
_WORK = 1 << 23
#: Up to so many rows are coloured equitably, if nothing else helps and that is sure to.
_COLOURED = 2000
#: Rows whose subsets are all looked at.
SUBSETS = 12
#: Unknowns that CP-SAT is given, and for how long, in a measure of its own.
_UNKNOWNS, _EFFORT = 2000, 1.0
#: Rows whose groups' sizes are all considered; beyond, a formula bounds them.
_SIZES = 1500
#: Crowds are looked for around so many values, with so many others each.
_CENTRES, _SECONDS = 24, 3


@dataclass(frozen=True)
class Witness:
    """The reason why there are no such groups."""

    # "rows": too few; "vertex": one row is near too many; "clique": too many are all near each
    # other; "search": all ways were tried
    kind: Literal["rows", "vertex", "clique", "search"]
    rows: int  # how many it is about: in the whole, near that row, in the crowd, searched through
    most: int  # how many there could be; for "rows", how many there must be

    def __str__(self) -> str:
        """Return the reason in words."""
        return {
            "rows": f"{rows_in_words(self.rows)}, fewer than the {self.most:,} of a group",
            "vertex": f"one row is near {self.rows:,} others, more than the {self.most:,} that "
            "leave enough far ones for any group",
            "clique": f"{self.rows:,} rows are all near each other, groups have room for "
            f"{self.most:,}",
            "search": f"no partition of the {self.rows:,} rows will do: all were ruled out",
        }[self.kind]


@dataclass(frozen=True, eq=False)
class PartitionAnswer:
    """The answer whether rows can be dealt to satisfying groups."""

    verdict: PartitionVerdict
    labels: Ints | None = None  # with a yes: the group of each row
    witness: Witness | None = None  # with a no: the reason

    @classmethod
    def of(cls, labels: Ints | None) -> PartitionAnswer:
        """Answer yes with groups, unknown without."""
        return cls("unknown") if labels is None else cls("yes", labels=labels)

    @classmethod
    def no(cls, witness: Witness) -> PartitionAnswer:
        """Answer no, with the reason."""
        return cls("no", witness=witness)


def decide_partition(
    relation: SimilarityMatrix, codes: Ints, cap: NeighborCap, unit: int, *, exact: bool = True
) -> PartitionAnswer:
    """Look for groups, and for a reason why there are none."""
    degrees = relation.degrees(codes)
    witness = row_witness(len(codes), int(degrees.max(initial=0)), cap, unit)
    if witness is not None:
        return PartitionAnswer.no(witness)
    labels = search_equal_groups(relation, codes, cap, unit)
    if labels is not None:
        return PartitionAnswer("yes", labels=labels)
    together = int(np.isin(codes, clique(relation, codes)).sum())
    witness = clique_witness(len(codes), together, cap, unit)
    if witness is not None:
        return PartitionAnswer.no(witness)
    return search_partition(relation, codes, cap, unit) if exact else PartitionAnswer("unknown")


def search_equal_groups(
    relation: SimilarityMatrix, codes: Ints, cap: NeighborCap, unit: int
) -> Ints | None:
    """Look for groups: of equal size, as many as there can be, then ever fewer."""
    n = len(codes)
    labels = deal_apart(relation, codes, n // unit, cap, unit, _PER_ROW * n + _MORE, _WORK)
    most = int(relation.degrees(codes).max(initial=0))
    if labels is None and unit * (most + 1) <= n <= _COLOURED:
        return color_equitably(relation.near[np.ix_(codes, codes)], n // unit)
    return labels


# ---- reasons why there are no groups


def row_witness(n: int, most: int, cap: NeighborCap, unit: int) -> Witness | None:
    """Return a witness if rows are too few, or one has too many neighbours for any group."""
    # In a group of s rows, one needs s - 1 - cap(s) far ones. That never falls as s grows: cap
    # grows by one at most with each row.
    if n < unit:
        return Witness("rows", n, unit)
    room = n - 1 - (unit - 1 - int(cap.of(unit)))
    return Witness("vertex", most, room) if most > room else None


def clique_witness(n: int, together: int, cap: NeighborCap, unit: int) -> Witness | None:
    """Return a witness if more rows are all near each other than groups have room for."""
    # A group of s rows has room for 1 + cap(s) of them: each is near all the others.
    room = room_for_clique(n, cap, unit)
    return Witness("clique", together, room) if together > room else None


def room_for_clique(n: int, cap: NeighborCap, unit: int) -> int:
    """Return how many rows all near each other fit into groups, at most, of n rows in all."""
    # Each of g groups has room for 1 + (a s - b) / q, and all sizes s together are n.
    q, groups = cap.q, n // unit
    per_group = q - cap.b  # what each further group adds, times q; if it takes, one group is best
    bound = (cap.a * n + per_group * (groups if per_group > 0 else 1)) // q
    if n > _SIZES:
        return min(bound, n)
    size = np.arange(n + 1)
    alone = np.where(size >= unit, 1 + cap.of(size), -n)
    best = np.full(n + 1, -n)
    best[0] = 0
    for upto in range(unit, n + 1):  # the last group has s rows
        best[upto] = (alone[unit : upto + 1] + best[upto - unit :: -1]).max()
    return min(bound, int(best[n]), n)


def clique(relation: SimilarityMatrix, codes: Ints, centres: int = _CENTRES) -> Ints:
    """Return the values of a large crowd of rows all near each other, found by a quick search."""
    # It is grown from pairs: one of the values with most neighbours, and one of those that share
    # the most of them.
    counts = np.bincount(codes, minlength=len(relation.near))
    held = np.flatnonzero(counts)
    near = relation.near[np.ix_(held, held)]
    # Floats are added up fast, and exactly up to 2**24 rows.
    weights, rows = near.astype(np.float32), counts[held].astype(np.float32)
    best, most = held[:0], 0.0
    for centre in np.argsort(-(weights @ rows), kind="stable")[:centres].tolist():
        around = np.flatnonzero(near[centre])
        shared = weights[np.ix_(around, around)] @ rows[around]
        for second in around[np.argsort(-shared, kind="stable")][:_SECONDS].tolist():
            found = _grown(weights, rows, around[near[second, around]], most)
            if rows[found].sum() > most:
                best, most = held[found], float(rows[found].sum())
    return best


def _grown(near: Singles, rows: Singles, left: Ints, most: float) -> Ints:
    """Add the value that leaves the most rows, again and again; nothing unless above `most`."""
    chosen = [left[:0]]
    weight = near[np.ix_(left, left)] @ rows[left]
    total = float(rows[left].sum())  # of those chosen and left
    while len(left) and total > most:
        full = weight == rows[left].sum()  # near all that are left: they all belong to it
        if full.any():
            chosen.append(left[full])
            left, weight = left[~full], weight[~full] - rows[left[full]].sum()
            continue
        stay = near[left[int(weight.argmax())], left] > 0
        gone, left, weight = left[~stay], left[stay], weight[stay]
        weight = weight - near[np.ix_(left, gone)] @ rows[gone]
        total -= float(rows[gone].sum())
    return np.concatenate(chosen) if total > most else left[:0]


# ---- searching to the end


def search_partition(
    relation: SimilarityMatrix, codes: Ints, cap: NeighborCap, unit: int
) -> PartitionAnswer:
    """Try everything, if there are few rows; or ask CP-SAT, if the extra [exact] is there."""
    if len(codes) <= SUBSETS:
        labels = by_subsets(relation.near[np.ix_(codes, codes)], cap, unit)
        if labels is None:
            return PartitionAnswer.no(Witness("search", len(codes), 0))
        return PartitionAnswer("yes", labels=labels)
    return by_constraints(relation, codes, cap, unit)


def by_subsets(near: Bools, cap: NeighborCap, unit: int) -> Ints | None:
    """Find groups of a few rows by looking at all their subsets."""
    n = len(near)
    subsets = np.arange(1 << n)
    inside = (subsets[:, None] >> np.arange(n)) & 1
    sizes = inside.sum(axis=1)
    crowd = np.where(inside == 1, inside @ near.astype(np.int64) - 1, 0).max(axis=1, initial=0)
    return cover_by_subsets((sizes >= unit) & (crowd <= cap.of(sizes)))


def cover_by_subsets(good: Bools) -> Ints | None:
    """Partition a few rows into good groups, if that can be done: a label for each row."""
    # `good`: for each set of rows, whether it makes a good group; bit i of its number is row i.
    n = len(good).bit_length() - 1
    fine = good.tolist()
    chosen: dict[int, int] = {0: 0}

    def group(left: int) -> int:
        """Return a good group with the lowest row left that leaves a solvable rest; 0 if none."""
        if left not in chosen:
            lowest = left & -left
            others = subset = left ^ lowest
            found = 0
            while True:
                rest = others ^ subset
                if fine[subset | lowest] and (not rest or group(rest)):
                    found = subset | lowest
                    break
                if not subset:
                    break
                subset = (subset - 1) & others
            chosen[left] = found
        return chosen[left]

    labels = np.zeros(n, dtype=np.int64)
    left, number = (1 << n) - 1, 0
    while left:
        found = group(left)
        if not found:
            return None
        labels[(found >> np.arange(n)) & 1 == 1] = number
        left ^= found
        number += 1
    return labels


def by_constraints(
    relation: SimilarityMatrix, codes: Ints, cap: NeighborCap, unit: int
) -> PartitionAnswer:
    """Ask CP-SAT how many rows of each value go to each group, if it is installed."""
    values, counts = np.unique(codes, return_counts=True)
    groups = len(codes) // unit
    if len(values) * groups > _UNKNOWNS:
        return PartitionAnswer("unknown")
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return PartitionAnswer("unknown")
    near = relation.near[np.ix_(values, values)]
    model = cp_model.CpModel()
    every = range(len(values))
    rows = [[model.new_int_var(0, int(counts[v]), "") for v in every] for _ in range(groups)]
    sizes = [model.new_int_var(0, len(codes), "") for _ in range(groups)]
    for v in every:
        model.add(sum(group[v] for group in rows) == int(counts[v]))
    for group, size in zip(rows, sizes, strict=True):
        used = model.new_bool_var("")
        model.add(size == sum(group))
        model.add(size >= unit).only_enforce_if(used)
        model.add(size == 0).only_enforce_if(~used)
        for v in every:
            inside = model.new_bool_var("")
            model.add(group[v] == 0).only_enforce_if(~inside)
            crowd = sum(group[w] for w in np.flatnonzero(near[v]).tolist())
            model.add(cap.q * (crowd - 1) <= cap.a * size - cap.b).only_enforce_if(inside)
    for one, other in pairwise(sizes):
        model.add(one >= other)  # groups have no names
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = _EFFORT
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return PartitionAnswer.no(Witness("search", len(codes), 0))
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return PartitionAnswer("unknown")
    held = [[solver.value(x) for x in group] for group in rows]
    return PartitionAnswer("yes", labels=_labels(codes, values, held))


def _labels(codes: Ints, values: Ints, held: Sequence[Sequence[int]]) -> Ints:
    """Give the rows of each value the groups that hold it, in turn."""
    labels = np.empty(len(codes), dtype=np.int64)
    used = [group for group in held if any(group)]
    for v, value in enumerate(values.tolist()):
        labels[codes == value] = np.repeat(np.arange(len(used)), [group[v] for group in used])
    return labels
