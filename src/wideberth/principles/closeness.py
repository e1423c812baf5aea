"""t-closeness: every group's distribution of sensitive values is near the whole table's."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush, heapreplace
from typing import ClassVar

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, WholeNumbers, at_most, fraction, ratios, whole
from wideberth.core.groups import Groups
from wideberth.distances import expand_rows, paths_to_root
from wideberth.errors import ParameterError, what_to_type
from wideberth.kernels import kinds
from wideberth.kernels.kinds import CompiledRule
from wideberth.principles.base import Principle, Rule, parameter, register, remembered


@register
@dataclass(frozen=True, kw_only=True)
class TCloseness(Principle):
    """The earth mover's distance between a group's values and the table's is at most t.

    The distance between two values is 1 for `equal`; the difference of ranks over the largest such
    difference for `ordered`; and for `hierarchical` the semantic tree's distance over its height.
    `auto` takes `ordered` for numbers and dates, else `equal`. A missing value is at distance 1
    from every other one (or more, in a tree whose leaves are at unequal depths).
    """

    t: float = parameter("largest permitted distance", low=0, high=1, stronger="lower")
    distance: str = parameter(
        "how far two values are apart",
        kind="choice",
        choices=("auto", "equal", "ordered", "hierarchical"),
        default="auto",
    )

    name: ClassVar[str] = "t-closeness"
    example: ClassVar[str] = "t-closeness:t=0.2"
    title: ClassVar[str] = "t-closeness"
    reference: ClassVar[str] = "Li, Li, Venkatasubramanian 2007, Def. 2"
    protects: ClassVar[str] = (
        "Skew: a group that tells much more of a person than the table tells of everyone."
    )
    does_not_protect: ClassVar[str] = (
        "Proximity: {1, 3, 5000} and {2, 4000, 6000} are equally close to their table, yet in the "
        "first, two of three people are known to within 2."
    )
    monotonicity: ClassVar[str] = "Monotone: the distance to a fixed distribution is convex."

    def bind(self, domain: Domain) -> Rule:
        """Bind to a domain: numbers, dates or ordered categories, or a tree."""
        numeric = domain.numbers is not None
        kind = self.distance
        if kind == "auto":
            kind = "ordered" if numeric else "equal"
        if kind == "ordered" and not (numeric or domain.ordered):
            raise ParameterError(
                f"t-closeness: '{domain.name}' has no order", hint="distance=equal or hierarchical"
            )
        if kind == "hierarchical" and domain.tree is None:
            raise ParameterError(
                f"t-closeness: '{domain.name}' has no hierarchy",
                hint=what_to_type(
                    python='hierarchies={"column": "tree.csv"}, or distance="equal"',
                    command="--hierarchy COLUMN=FILE, [hierarchies] of the policy, or "
                    "distance=equal",
                ),
            )
        rule = {"equal": _Equal, "ordered": _Ordered, "hierarchical": _Hierarchical}[kind]
        return rule(domain, fraction(self.t))


class _Closeness(Rule):
    """The distance of group g is ``moved(groups)[g] / (scale * N_g * n)``, all integers."""

    scale: int

    def __init__(self, domain: Domain, t: Fraction) -> None:
        self.domain = domain
        self.t = t
        self.table = domain.histogram.astype(np.int64)
        self.rows = int(self.table.sum())

    def _kernel(self, kind: int, numbers: tuple[int, ...], table: Ints) -> CompiledRule | None:
        """Return the rule for compiled code, if 64 bits hold every sum it may make."""
        if self.rows * self.rows * self.scale >= 2**62:
            return None
        return CompiledRule(
            kind, (self.t.numerator, self.t.denominator, self.rows, *numbers), table
        )

    def moved(self, groups: Groups) -> WholeNumbers:
        raise NotImplementedError

    @remembered
    def _moved(self, groups: Groups) -> WholeNumbers:
        return self.moved(groups)

    def _unit(self, groups: Groups) -> WholeNumbers:
        """Return what a distance of 1 amounts to in each group."""
        sizes = whole(groups.sizes, self.rows * self.rows * self.scale)
        return sizes * self.rows * self.scale

    def satisfies(self, groups: Groups) -> Bools:
        return at_most(self._moved(groups), self.t, self._unit(groups))

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        return {"t": ratios(self._moved(groups), self._unit(groups))}

    def reason(self, groups: Groups, group: int) -> str:
        distance = self.achieved(groups)["t"][group]
        return f"distance {distance:.4g} from the table's distribution"


class _Equal(_Closeness):
    """1 - sum of min(p, q). Only values that the group holds can contribute."""

    scale = 1

    def __init__(self, domain: Domain, t: Fraction) -> None:
        super().__init__(domain, t)
        self.kernel = self._kernel(kinds.EQUAL_CLOSENESS, (), self.table)

    def moved(self, groups: Groups) -> WholeNumbers:
        bound = self.rows * self.rows
        kept = np.minimum(
            whole(groups.counts, bound) * self.rows,
            whole(self.table, bound)[groups.codes] * whole(groups.sizes, bound)[groups.owner],
        )
        return whole(groups.sizes, bound) * self.rows - groups.sum(kept)


class _Ordered(_Closeness):
    """The sum over ranks of |P - Q|, P and Q the cumulative shares, over the number of steps."""

    def __init__(self, domain: Domain, t: Fraction) -> None:
        super().__init__(domain, t)
        # P only changes where the group has values. Between two of them, |P - Q| is a sum over a
        # stretch of the table's own cumulative counts, split where Q overtakes P: two look-ups in a
        # running sum.
        self.steps = max(domain.known - 1, 0)
        self.scale = max(self.steps, 1)
        self.below = np.cumsum(self.table[: domain.known])  # rows of the table up to each rank
        self.bound = self.rows * self.rows * self.scale
        below = whole(self.below, self.bound)
        self.area = np.concatenate((np.zeros(1, below.dtype), np.cumsum(below)))
        if domain.missing is None:
            self.kernel = self._kernel(
                kinds.ORDERED, (self.steps,), np.append(self.below, self.area)
            )

    def moved(self, groups: Groups) -> WholeNumbers:
        if self.domain.missing is None:
            return self._along_ranks(groups)
        # A missing value is far from everything, off the line: no closed form, group by group.
        return np.array([self._with_missing(groups, g) for g in range(len(groups))], dtype=object)

    def _along_ranks(self, groups: Groups) -> WholeNumbers:
        sizes = whole(groups.sizes, self.bound)
        begin = groups.codes
        end = np.append(groups.codes[1:], self.steps)
        end[groups.start[1:] - 1] = self.steps  # the group's last value: up to the last rank
        upto = groups.running[1:] - groups.running[groups.start[:-1]][groups.owner]
        size = groups.sizes[groups.owner]
        # Q >= P from the first rank whose cumulative count reaches P's share of the table.
        reach = -(-whole(upto, self.bound) * self.rows // whole(size, self.bound))
        turn = np.clip(np.searchsorted(self.below, reach), begin, np.maximum(begin, end))
        mass = whole(upto, self.bound) * self.rows
        surplus = mass * (turn - begin) - sizes[groups.owner] * (self.area[turn] - self.area[begin])
        deficit = sizes[groups.owner] * (self.area[end] - self.area[turn]) - mass * (end - turn)
        lead = sizes * self.area[groups.codes[groups.start[:-1]]]  # before the first value, P = 0
        return lead + groups.sum(surplus + deficit)

    def _with_missing(self, groups: Groups, group: int) -> int:
        """Add the cost of carrying mass to or from the missing value, at distance 1."""
        # Which ranks that mass comes from is free: the flow along the ranks is the difference of
        # cumulative counts, less an ascending function from 0 to the mass carried. The best such
        # function is an isotonic regression for absolute deviations.
        entries = slice(groups.start[group], groups.start[group + 1])
        gap = whole(self.table, self.bound) * -int(groups.sizes[group])
        gap[groups.codes[entries]] += groups.counts[entries] * self.rows
        carried = -int(gap[-1])
        flow = np.cumsum(gap[:-1])[: self.steps] * (1 if carried >= 0 else -1)
        return abs(carried) * self.scale + _isotonic_cost(flow, abs(carried))


def _isotonic_cost(targets: WholeNumbers, top: int) -> int:
    """Return the least sum of |target - f| over ascending f from 0 to ``top``.

    >>> _isotonic_cost(np.array([3, 1, 2]), 2)
    2
    """
    # The classical method keeps a heap of the values f may still be lowered to. Targets outside the
    # range count as its ends, so that long runs of equal ones go through the heap as one.
    inside = np.clip(targets, 0, top)
    cost = int(np.abs(targets - inside).sum())
    begin = np.flatnonzero(np.concatenate(([True], inside[1:] != inside[:-1]))[: len(inside)])
    lengths = np.diff(begin, append=len(inside))
    heap: list[tuple[int, int]] = []
    for target, length in zip(inside[begin].tolist(), lengths.tolist(), strict=True):
        heappush(heap, (-target, 2 * length))
        left = length
        while left:
            negative, weight = heap[0]
            used = min(left, weight)
            cost += (-negative - target) * used
            left -= used
            if used == weight:
                heappop(heap)
            else:
                heapreplace(heap, (negative, weight - used))
    return cost


class _Hierarchical(_Closeness):
    """Half the sum, over all edges of the tree, of the share that must cross, over its height."""

    def __init__(self, domain: Domain, t: Fraction) -> None:
        super().__init__(domain, t)
        # With all leaves at equal depth this is Li's recursive formula; it holds for any tree.
        tree = domain.tree
        assert tree is not None  # noqa: S101 - checked by bind
        nodes = tree.nodes_of(domain.texts).astype(np.int64)
        self.scale = 2 * max(tree.height, 1)
        # The edges above each value: one for each node on its way up, the root left out.
        start, way = paths_to_root(tree, nodes)
        self.node_of = way[tree.parent[way] >= 0]
        self.first = start - np.arange(len(start))
        # A missing value hangs under the root alone, on an edge so long that it is at distance 1
        # from the value nearest to the root.
        self.extra = domain.missing
        self.edge = self.scale - int(tree.depth[nodes].min(initial=tree.height))
        if domain.missing is not None:
            self.first = np.append(self.first, self.first[-1])
        self.many = len(tree.parent)
        above = np.repeat(self.table, np.diff(self.first))
        self.under = np.bincount(self.node_of, weights=above, minlength=self.many).astype(np.int64)
        missing = -1 if domain.missing is None else domain.missing
        lacking = 0 if domain.missing is None else int(self.table[domain.missing])
        self.kernel = self._kernel(
            kinds.TREE,
            (
                self.scale,
                self.many,
                self.edge if missing >= 0 else 0,
                missing,
                lacking,
                domain.size,
                len(self.node_of),
                2 if missing < 0 and len(np.unique(tree.depth[nodes])) == 1 else 1,
            ),
            np.concatenate((self.first, self.node_of, self.under)),
        )

    def moved(self, groups: Groups) -> WholeNumbers:
        bound = self.rows * self.rows * self.scale
        sizes = whole(groups.sizes, bound)
        # Expand each entry to the nodes above its value, and add up per (group, node).
        lengths, at = expand_rows(self.first, groups.codes)
        node = self.node_of[at]
        owner = np.repeat(groups.owner, lengths)
        key, inverse = np.unique(owner * self.many + node, return_inverse=True)
        inside = np.bincount(inverse, weights=np.repeat(groups.counts, lengths)).astype(np.int64)
        owner, node = np.divmod(key, self.many)
        # A node the group does not reach contributes its table share; so start from all nodes.
        share = whole(self.under[node], bound) * sizes[owner]
        change = np.abs(whole(inside, bound) * self.rows - share) - share
        total = sizes * int(self.under.sum())
        if len(key):
            np.add.at(total, owner, change)
        if self.extra is not None:
            everyone = np.arange(len(groups))
            lacking = whole(groups.lookup(everyone, self.extra), bound)
            far = np.abs(lacking * self.rows - sizes * int(self.table[self.extra]))
            total = total + far * self.edge
        return total
