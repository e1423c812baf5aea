"""Groups of l rows or more, no two of them similar, where being similar is not transitive.

How many rows can be kept is bounded by cliques: g groups hold at most g rows of each, and need
g * l rows. `TreeConflicts` gives the most rows that g groups can hold, and it grows no faster
than g, so the bound is its value at the largest g that it fills. Rows then go to groups by
dealing, by colouring, or by whole components; what is found is compared with the bound. If it
falls short, `best_packing` searches. The result names what was found and what was proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from math import floor, prod
from typing import TypeAlias

import numpy as np

from wideberth.core.exact import Bools, Ints
from wideberth.distances import NearbyNodes, TreeSimilarity
from wideberth.kernels.randomness import Chance
from wideberth.principles.partition.deal import shuffled_within

# -----------------------------------------------------------------------------
# Which of a group's values are too near each other on a tree whose values lie at unequal depth.
#
# Being similar is not transitive there: with b right below the root, a and c two steps further down
# on other branches, b is as near to a as to c, though these are far apart. What helps is that
# similarity on a tree is a chordal graph. Of the values similar to v, those that lie no deeper than
# v are similar to each other, so every maximal clique is {such values, v} for its deepest v.


@dataclass(frozen=True, eq=False)
class TreeConflicts:
    """The classes of a group's rows, and which of them are similar."""

    near: TreeSimilarity
    codes: Ints

    @cached_property
    def _classes(self) -> tuple[Ints, Ints, Ints]:
        """Return the class of each row, and for each class its rows and the node it stands at."""
        # Leaves below one node are similar to the same values, and to each other if similarity
        # reaches two steps: they are one class, any two rows of which are similar. Classes are
        # numbered in preorder, missing values last.
        present, place = np.unique(self.codes, return_inverse=True)
        tree, lone = self.near.tree, len(self.near.tree)
        nodes = np.append(self.near.nodes, lone)[present]  # the missing code is the last one
        order = np.argsort(nodes, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        nodes = nodes[order]
        key = nodes.copy()
        if self.near.limit >= 2:
            above = np.append(tree.parent, -1)[nodes]
            barren = np.append(nodes[1:], lone + 1) >= np.append(tree.ends, lone)[nodes]
            twin = barren & (above >= 0)
            key[twin] = lone + 1 + above[twin]
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        by_node = np.argsort(first, kind="stable")
        number = np.empty_like(by_node)
        number[by_node] = np.arange(len(by_node))
        member = number[inverse.reshape(-1)][rank][place.reshape(-1)]
        return member, np.bincount(member, minlength=len(first)), nodes[first[by_node]]

    @property
    def member(self) -> Ints:
        """The class of each row."""
        return self._classes[0]

    @property
    def count(self) -> Ints:
        """The rows of each class."""
        return self._classes[1]

    @cached_property
    def depth(self) -> Ints:
        """How deep each class lies; missing values on no tree, at 0."""
        return self.near.depth[self._classes[2]]

    @cached_property
    def shallow_first(self) -> list[int]:
        """The classes, those near the root first."""
        return np.argsort(self.depth, kind="stable").tolist()

    @cached_property
    def similar(self) -> list[Ints]:
        """The classes that are similar to each, itself included."""
        nodes = self._classes[2]
        known = nodes[: len(nodes) - (nodes[-1:] == len(self.near.tree)).sum()]
        around = NearbyNodes(self.near.tree, known, self.near.limit)
        found = [around.of(v) for v in range(len(known))]
        # Missing values are similar to missing values only.
        return found + [np.array([v]) for v in range(len(known), len(nodes))]

    @cached_property
    def shallower(self) -> list[Ints]:
        """The similar classes that lie no deeper, itself included: a clique."""
        return [s[self.depth[s] <= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def deeper(self) -> list[Ints]:
        """The similar classes that lie no higher, itself included; it is in their cliques."""
        return [s[self.depth[s] >= self.depth[v]] for v, s in enumerate(self.similar)]

    @cached_property
    def fullest(self) -> int:
        """The rows of the largest clique: so many groups are needed, and they suffice."""
        return max((int(self.count[clique].sum()) for clique in self.shallower), default=0)

    def most(self, groups: int) -> Ints:
        """Return how many rows of each class to keep: the most with no clique above `groups`."""
        # Deepest first, each class keeps what fits into all cliques that it is in. Of the classes
        # in these cliques that come later, every one is in all cliques that the deeper of two
        # similar ones is in, so none of them could be kept in its place with more profit.
        kept = np.zeros_like(self.count)
        used = np.zeros_like(self.count)
        for v in reversed(self.shallow_first):
            cliques = self.deeper[v]
            kept[v] = min(int(self.count[v]), groups - int(used[cliques].max()))
            used[cliques] += kept[v]
        return kept

    def apart(self, classes: list[int]) -> Bools:
        """Return which classes are similar to none of the given ones."""
        free = np.ones(len(self.count), dtype=bool)
        for v in classes:
            free[self.similar[v]] = False
        return free


# -----------------------------------------------------------------------------
# The most rows that groups of dissimilar rows can hold: found, and proven where that is possible.
#
# A dozen rows are searched to the end. Beyond, it is a question of how often to use each pattern: a
# set of classes of which a group has one row each. There are as many unknowns as patterns, however
# many rows there are. CP-SAT answers it with a proof, if the extra [exact] is installed; else SciPy
# looks for an answer, which is as good, but whose bound is a matter of rounded numbers.


_ROWS = 100  # that are searched to the end, row by row
_STATES = 1 << 15  # what such a search may look at
_PATTERNS = 5000  # what a solver is given
_EFFORT = 3.0  # of CP-SAT, in a measure of its own that does not depend on the machine's mood
_NODES = 500  # of SciPy's search tree
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class PackingProof:
    """What was found."""

    most: int | None  # no groups hold more rows; None if that is not proven
    held: list[Ints]  # for each class, the groups that hold a row of it


def best_packing(conflicts: TreeConflicts, smallest: int) -> PackingProof | None:
    """Return the groups that hold the most rows, if there are not too many ways to look at."""
    few = len(conflicts.codes) <= _ROWS
    if few and prod(int(c) + 1 for c in conflicts.count) <= _STATES:
        return exhaustive(conflicts, smallest)
    similar = [set(s.tolist()) for s in conflicts.similar]
    every = range(len(similar))
    found = (p for v in every for p in _patterns(v, every[v + 1 :], similar, smallest))
    patterns = list(islice(found, _PATTERNS + 1))
    if not patterns or len(patterns) > _PATTERNS:
        return None
    return packing_by_cp_sat(conflicts, patterns) or packing_by_milp(conflicts, patterns)


def _patterns(
    first: int, others: Sequence[int], similar: Sequence[set[int]], smallest: int
) -> Iterator[tuple[int, ...]]:
    """Yield the sets of dissimilar classes with a given one, too small to be two groups."""

    def extended(group: tuple[int, ...], others: Sequence[int]) -> Iterator[tuple[int, ...]]:
        if len(group) >= smallest:
            yield group
        if len(group) < 2 * smallest - 1:
            for i, v in enumerate(others):
                yield from extended(
                    (*group, v), [u for u in others[i + 1 :] if u not in similar[v]]
                )

    yield from extended((first,), [u for u in others if u not in similar[first]])


def exhaustive(conflicts: TreeConflicts, smallest: int) -> PackingProof:
    """Try all ways to form groups, remembering what is left after each."""
    similar = [set(s.tolist()) for s in conflicts.similar]
    every = range(len(similar))

    @cache
    def most(left: tuple[int, ...]) -> tuple[int, tuple[int, ...] | None]:
        """Return how many rows fit into groups, and one group to begin with."""
        first = next((v for v in every if left[v]), None)
        if first is None:
            return 0, ()
        best, chosen = most(_less(left, (first,)))[0], None
        others = [v for v in every[first + 1 :] if left[v]]
        for group in _patterns(first, others, similar, smallest):
            kept = len(group) + most(_less(left, group))[0]
            if kept > best:
                best, chosen = kept, group
        return best, chosen

    left = tuple(conflicts.count.tolist())
    used: list[tuple[int, ...]] = []
    total = most(left)[0]
    while any(left):
        group = most(left)[1]
        if group is None:  # the first row left is in no group
            group = (next(v for v in every if left[v]),)
        else:
            used.append(group)
        left = _less(left, group)
    return PackingProof(total, _held(conflicts, used, [1] * len(used)))


def _less(left: tuple[int, ...], group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(many - (v in group) for v, many in enumerate(left))


def packing_by_cp_sat(
    conflicts: TreeConflicts, patterns: Sequence[tuple[int, ...]]
) -> PackingProof | None:
    """Ask CP-SAT how often to use each pattern, if it is installed."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        return None
    model = cp_model.CpModel()
    counts = conflicts.count.tolist()
    times = [model.new_int_var(0, min(counts[v] for v in p), "") for p in patterns]
    inside: list[list[cp_model.IntVar]] = [[] for _ in counts]
    for pattern, many in zip(patterns, times, strict=True):
        for v in pattern:
            inside[v].append(many)
    for used, count in zip(inside, counts, strict=True):
        model.add(sum(used) <= count)
    model.maximize(sum(len(p) * many for p, many in zip(patterns, times, strict=True)))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = _EFFORT
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return None
    most = floor(solver.best_objective_bound + _ROUNDING)
    return PackingProof(most, _held(conflicts, patterns, [solver.value(many) for many in times]))


def packing_by_milp(
    conflicts: TreeConflicts, patterns: Sequence[tuple[int, ...]]
) -> PackingProof | None:
    """Ask SciPy how often to use each pattern: no proof, but groups that are right."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    sizes = np.array([len(p) for p in patterns])
    start = np.concatenate(([0], np.cumsum(sizes)))
    classes = np.concatenate([np.array(p) for p in patterns])
    width = len(conflicts.count)
    holds = csr_array((np.ones(len(classes)), classes, start), shape=(len(patterns), width)).T
    most = np.minimum.reduceat(conflicts.count[classes], start[:-1])
    answer = milp(
        -sizes,
        constraints=LinearConstraint(holds, ub=conflicts.count),
        integrality=np.ones(len(patterns)),
        bounds=Bounds(0, most),
        options={"node_limit": _NODES, "mip_rel_gap": 0},
    )
    if answer.x is None:
        return None
    times = np.rint(answer.x).astype(np.int64)
    if (holds @ times > conflicts.count).any():  # rounded the wrong way
        return None
    return PackingProof(None, _held(conflicts, patterns, times.tolist()))


def _held(
    conflicts: TreeConflicts, patterns: Sequence[tuple[int, ...]], times: Sequence[int]
) -> list[Ints]:
    """Number the groups, and note for each class in which it is."""
    held: list[list[int]] = [[] for _ in conflicts.count]
    groups = 0
    for pattern, many in zip(patterns, times, strict=True):
        for v in pattern:
            held[v] += range(groups, groups + many)
        groups += many
    return [np.array(numbers, dtype=np.int64) for numbers in held]


# -----------------------------------------------------------------------------
# Groups of l rows or more, no two of them similar, where being similar is not transitive.


#: For each class, the groups that hold a row of it.
Held: TypeAlias = list[Ints]

#: How groups are looked for.
SEARCH_METHODS = ("dealing", "colouring", "components", "patterns")

_FEW = 8  # numbers of groups to try
_FEWER = 3  # if there are many, and only groups of all rows will do
_AGAIN = 5  # times to try again by chance
_FEW_ROWS = 5000  # up to which that is done
_FAILURES = 50  # groups that cannot be filled
_PAIRS = 2000  # pairs of groups between which an exchange is tried


@dataclass(frozen=True, eq=False)
class ScatterResult:
    """Rows in groups."""

    labels: Ints  # the group of each row; -1 if it is left out
    at_least: int  # so many rows must be left out, whatever the groups
    how: str  # one of WAYS

    @property
    def left_out(self) -> int:
        """How many rows are in no group."""
        return int((self.labels < 0).sum())


def group_dissimilar(
    codes: Ints,
    near: TreeSimilarity,
    smallest: int,
    rng: Chance,
    ways: Sequence[str] = SEARCH_METHODS,
    *,
    complete: bool = False,
) -> ScatterResult:
    """Put rows into groups of dissimilar ones, leaving out as few as possible."""
    # `rng` picks among the rows of a class, and has no say in how many are left out. `complete`:
    # only groups of all rows will do, so others need not be looked for.
    conflicts = TreeConflicts(near, codes)
    found: Held = [np.empty(0, dtype=np.int64) for _ in conflicts.count]
    how = ways[0]
    if complete and conflicts.fullest > len(codes) // smallest:
        return ScatterResult(_labels(conflicts, found, rng), 1, how)
    hands, kept = _most(conflicts, smallest)
    most = int(kept.sum())
    for name, held in _attempts(conflicts, smallest, hands, kept, ways, complete):
        if _rows(held) > _rows(found):
            found, how = held, name
        if _rows(found) == most:
            break
    if _rows(found) < most and "patterns" in ways:
        proof = best_packing(conflicts, smallest)
        if proof is not None:
            most = most if proof.most is None else min(most, proof.most)
            if _rows(proof.held) > _rows(found):
                found, how = proof.held, "patterns"
    return ScatterResult(_labels(conflicts, found, rng), len(codes) - most, how)


def _rows(held: Held) -> int:
    return sum(map(len, held))


def _most(conflicts: TreeConflicts, smallest: int) -> tuple[int, Ints]:
    """Return the most groups that cliques leave room for, and the rows of each class they hold."""
    low, high = 0, len(conflicts.codes) // smallest
    if conflicts.fullest <= high:
        return high, conflicts.count
    while low < high:
        middle = (low + high + 1) // 2
        if int(conflicts.most(middle).sum()) >= middle * smallest:
            low = middle
        else:
            high = middle - 1
    return low, conflicts.most(low)


def _attempts(
    conflicts: TreeConflicts,
    smallest: int,
    top: int,
    kept: Ints,
    ways: Sequence[str],
    complete: bool,
) -> Iterator[tuple[str, Held]]:
    """Yield groups, those that are made quickly first."""
    if not top:
        return
    if "dealing" in ways:
        held = _dealt(conflicts, kept, top)
        yield "dealing", _settled(conflicts, smallest, top, held, complete)
    roomy = conflicts.fullest <= top
    least = conflicts.fullest if roomy else (top + 1) // 2
    for hands in _numbers(least, top, _FEWER if complete else _FEW) if "colouring" in ways else ():
        quota = kept if roomy else conflicts.most(hands)
        held = _coloured(conflicts, quota, hands)
        yield "colouring", _settled(conflicts, smallest, hands, held, complete)
    # Of few rows, what ties and the order within a depth make of it; the same for equal tables.
    again = np.random.default_rng(0)
    few = "colouring" in ways and len(conflicts.codes) <= _FEW_ROWS
    for hands in [top, max(top - 1, 1)] * _AGAIN if few else ():
        quota = kept if conflicts.fullest <= hands else conflicts.most(hands)
        held = _coloured(conflicts, quota, hands, again)
        yield "colouring", _settled(conflicts, smallest, hands, held, complete)
    if "components" in ways:
        yield "components", _by_components(conflicts, smallest)


def _numbers(least: int, top: int, few: int) -> list[int]:
    """Return a few numbers from the top down."""
    if top - least < _FEW:
        return list(range(top, least - 1, -1))
    return sorted({*np.geomspace(least, top, few).astype(int).tolist(), top}, reverse=True)


def _dealt(conflicts: TreeConflicts, kept: Ints, hands: int) -> Held:
    """Deal the rows to the groups in turn, in the order of the tree."""
    # Similar classes mostly lie side by side in it; where two would meet in a group, the row of the
    # deeper one is left over.
    begin = np.cumsum(kept) - kept
    held: Held = [np.empty(0, dtype=np.int64) for _ in kept]
    for v in conflicts.shallow_first:
        turns = np.arange(begin[v], begin[v] + kept[v]) % hands
        held[v] = turns[_free(held, conflicts.shallower[v], hands)[turns]]
    return held


def _free(held: Held, classes: Ints, hands: int) -> Bools:
    """Return which groups hold none of some classes."""
    free = np.ones(hands, dtype=bool)
    free[np.concatenate([held[v] for v in classes.tolist()])] = False
    return free


def _coloured(conflicts: TreeConflicts, kept: Ints, hands: int, rng: Chance | None = None) -> Held:
    """Give each class, those near the root first, to the smallest groups that it fits in."""
    # Of classes equally near and groups equally small, `rng` decides if there is one. What is
    # similar to a class and lies no deeper is a clique, so a group is always free if there are as
    # many groups as rows in any clique.
    held: Held = [np.empty(0, dtype=np.int64) for _ in kept]
    sizes = np.zeros(hands, dtype=np.int64)
    order, turn, rank = conflicts.shallow_first, 0, np.arange(hands)
    if rng is not None:
        order = np.lexsort((rng.random(len(kept)), conflicts.depth)).tolist()
    for v in order:
        many = int(kept[v])
        open_ = np.flatnonzero(_free(held, conflicts.shallower[v], hands))
        if many < len(open_):  # of equally small ones those whose turn it is, as in dealing
            rank = rank if rng is None else rng.permutation(hands)
            key = sizes[open_] * hands + (rank[open_] - turn) % hands
            open_ = open_[np.argpartition(key, many)[:many]]
        held[v] = open_
        sizes[open_] += 1
        turn = (turn + many) % hands
    return held


def _by_components(conflicts: TreeConflicts, smallest: int) -> Held:
    """Treat all classes that are connected by similar ones as one bucket: safe, but coarse."""
    bucket = np.arange(len(conflicts.count))
    for similar in conflicts.similar:
        joined = np.unique(bucket[similar])
        if len(joined) > 1:
            bucket[np.isin(bucket, joined)] = joined[0]
    place = np.unique(bucket, return_inverse=True)[1].reshape(-1)
    total = np.zeros(len(bucket), dtype=np.int64)
    np.add.at(total, place, conflicts.count)
    hands = len(conflicts.codes) // smallest
    while (rows := int(np.minimum(total, hands).sum())) < hands * smallest:
        hands = rows // smallest
    room = np.minimum(total, hands)
    held: Held = [np.empty(0, dtype=np.int64) for _ in bucket]
    start = 0
    for v in np.argsort(place, kind="stable").tolist() if hands else ():
        many = min(int(conflicts.count[v]), int(room[place[v]]))
        room[place[v]] -= many
        held[v] = np.arange(start, start + many) % hands
        start += many
    return held


def _settled(
    conflicts: TreeConflicts, smallest: int, hands: int, held: Held, complete: bool
) -> Held:
    """Place rows left over, fill groups that are too small, and give up those that stay so."""
    # If only groups of all rows will do, too many groups that cannot be filled are reason to stop.
    tables = _MovableGroups(conflicts, smallest, hands, held)
    tables.place(np.arange(hands))
    small = np.flatnonzero(tables.sizes < smallest)
    failures = 0
    for group in small[np.argsort(-tables.sizes[small], kind="stable")].tolist():
        tables.fill(group)
        failures += tables.sizes[group] < smallest
        if complete and failures > _FAILURES:
            return [np.empty(0, dtype=np.int64) for _ in held]
    small = np.flatnonzero((tables.sizes < smallest) & (tables.sizes > 0))
    for group in small[np.argsort(tables.sizes[small], kind="stable")].tolist():
        if tables.sizes[group] < smallest:  # another one's rows may have filled it
            tables.give_up(group)
    tables.place(np.flatnonzero(tables.sizes >= smallest))
    return tables.held


class _MovableGroups:
    """Groups while rows still move between them."""

    def __init__(self, conflicts: TreeConflicts, smallest: int, hands: int, held: Held) -> None:
        self.conflicts = conflicts
        self.smallest = smallest
        self.held = held
        self.inside: list[list[int]] = [[] for _ in range(hands)]
        for v, groups in enumerate(held):
            for group in groups.tolist():
                self.inside[group].append(v)
        self.sizes = np.array([len(classes) for classes in self.inside])
        self.patience = _PAIRS

    def move(self, v: int, source: int | None, target: int | None) -> None:
        """Move a class's row from a group to another; None stands for no group."""
        groups = self.held[v]
        if source is not None:
            groups = groups[groups != source]
            self.inside[source].remove(v)
            self.sizes[source] -= 1
        if target is not None:
            groups = np.append(groups, target)
            self.inside[target].append(v)
            self.sizes[target] += 1
        self.held[v] = groups

    def open_to(self, v: int) -> Bools:
        """Return which groups hold nothing similar to a class."""
        return _free(self.held, self.conflicts.similar[v], len(self.sizes))

    def place(self, targets: Ints) -> None:
        """Put rows that are in no group into any of these that they fit in, the smallest first."""
        lacking = self.conflicts.count - [len(groups) for groups in self.held]
        for v in np.flatnonzero(lacking).tolist():
            fits = targets[self.open_to(v)[targets]]
            groups = fits[np.argsort(self.sizes[fits], kind="stable")][: lacking[v]]
            self.held[v] = np.append(self.held[v], groups)
            self.sizes[groups] += 1
            for group in groups.tolist():
                self.inside[group].append(v)

    def fill(self, group: int) -> None:
        """Let a group that is too small have rows of others that can spare them."""
        while self.sizes[group] < self.smallest:
            if not self._lend(group) and not self._exchange(group):
                return

    def _lend(self, group: int) -> bool:
        """Take a row that fits from a group that is larger than need be."""
        free = self.conflicts.apart(self.inside[group]).tolist()
        for other in np.flatnonzero(self.sizes > self.smallest).tolist():
            for v in self.inside[other]:
                if free[v]:
                    self.move(v, other, group)
                    return True
        return False

    def _exchange(self, group: int) -> bool:
        """Swap rows with another group so that this one gains, and the other can afford it."""
        for other in np.flatnonzero(self.sizes > self.smallest).tolist():
            if not self.patience:
                return False
            self.patience -= 1
            for mine, theirs in self._chains(self.inside[group], self.inside[other]):
                gain = len(theirs) - len(mine)
                if 0 < gain <= self.sizes[other] - self.smallest:
                    for v in mine:
                        self.move(v, group, other)
                    for v in theirs:
                        self.move(v, other, group)
                    return True
        return False

    def _chains(self, own: list[int], theirs: list[int]) -> Iterator[tuple[list[int], list[int]]]:
        """Yield rows of two groups that are linked by being similar, those of each side apart."""
        # They can change sides together: neither group gets two similar rows by that.
        unseen = [set(own), set(theirs)]
        while unseen[1]:
            chain: tuple[list[int], list[int]] = ([], [])
            pending = [(min(unseen[1]), 1)]
            unseen[1].discard(pending[0][0])
            while pending:
                v, side = pending.pop()
                chain[side].append(v)
                near = unseen[1 - side].intersection(self.conflicts.similar[v].tolist())
                unseen[1 - side] -= near
                pending += [(u, 1 - side) for u in near]
            yield chain

    def give_up(self, group: int) -> None:
        """Dissolve a group; its rows go where they fit, first of all to others that lack some."""
        members = list(self.inside[group])
        for v in members:
            self.move(v, group, None)
        for v in members:
            fits = np.flatnonzero(self.open_to(v) & (self.sizes > 0))
            fits = fits[fits != group]
            if len(fits):
                self.move(v, None, int(fits[np.argmin(self.sizes[fits])]))


def _labels(conflicts: TreeConflicts, held: Held, rng: Chance) -> Ints:
    """Give the groups of each class to its rows at random, and number those that have any."""
    labels = np.full(len(conflicts.codes), -1, dtype=np.int64)
    order = shuffled_within(conflicts.member, rng)
    begin = np.cumsum(conflicts.count) - conflicts.count
    for start, groups in zip(begin.tolist(), held, strict=True):
        labels[order[start : start + len(groups)]] = groups
    used = np.unique(labels[labels >= 0])
    return np.where(labels >= 0, np.searchsorted(used, labels), -1)
