"""Splitting: Mondrian generalised to every principle, with cuts that lose less.

A cut is admissible if both halves can satisfy all demands, dealt to groups if need be. Four ways
to choose among admissible cuts:

paper
    of each attribute the cut next to its median (Li, Tao, Xiao 2008), the one that loses least.
    Three things differ from the paper, all of which lose less: the cut is the one nearest the
    median, not the one at or below it; N rows are dealt to floor(N/m) groups, not to as many as
    the fullest interval has rows; and every leaf is dealt, also one that satisfies as it is;
disjoint
    of all cuts at values the one that loses least, so that boxes never overlap;
best
    the same down to small blocks, then cuts at ranks that waste no rows, with a narrow beam;
quality
    then neighbouring leaves are pooled and taken apart anew, and, where no demand guards sensitive
    values, rows move and swap between near leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.arrangement import (
    BeamSettings,
    GroupBoxes,
    Leaves,
    Pools,
    SplitProblem,
    Splitter,
    boxes_of,
    require_combinable,
)
from wideberth.algorithms.mondrian.blocks import split_in_blocks
from wideberth.algorithms.mondrian.rule_splitter import PlainSplitter, RankJudge
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.hierarchy.quasi import Quasi
from wideberth.kernels.cache import missing, needed, warm
from wideberth.kernels.randomness import KEY, Chance
from wideberth.policy.settings import CUTS, DEALING
from wideberth.principles.feasibility.refusal import weaker
from wideberth.principles.partition.caps import SearchedRule
from wideberth.principles.partition.decide import SUBSETS, Witness

#: Blocks below so many units are cut at ranks.
_BLOCK = 16
#: Leaves pooled, passes over all of them, and how many near ones are looked at.
_POOLED, _PASSES, _NEAR = 4, 4, 12
#: Passes of moves and swaps.
_EXCHANGES = 2
#: Up to so many rows the plain engine is done before a compiler would be.
_FEW = {"paper": 20_000, "disjoint": 10_000, "best": 4_000, "quality": 1_000}
#: The same where rows are dealt by who is near whom.
_FEW_NEAR = 200


@dataclass(frozen=True, eq=False)
class SplitResult:
    """What splitting found."""

    partition: Partition
    boxes: GroupBoxes  # their lowest and highest codes, a line for each group
    leaves: int  # how many leaves their rows were dealt from
    # for dealing by matching: how many swaps of sensitive values within a group were tried, and the
    # share that left the groups unchanged (1 for dealing by rank)
    swap_audit: dict[str, float] | None


def split(
    quasis: Sequence[Quasi],
    demands: Sequence[Demand],
    *,
    rng: Chance,  # its seed must stay secret
    cuts: str = "best",
    dealing: str = "rank",
    # see `SplitProblem`; if given, the groups do not depend on the order of the rows
    besides: Sequence[Codes] | None = None,
    threads: int | None = None,  # the result is the same for any number
    progress: Progress | None = None,
) -> SplitResult:
    """Partition a table into groups, each of which satisfies all demands."""
    for given, known, what in ((cuts, CUTS, "cuts"), (dealing, DEALING, "dealing")):
        if given not in known:
            raise ParameterError(f"{what} cannot be '{given}'", hint=f"one of {', '.join(known)}")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise ParameterError("threads must be a whole number from 1", hint="threads=1")
    require_combinable(demands)
    task = SplitProblem(quasis, demands, rng.bytes(KEY), besides)
    tally = _SettledRows(progress, task.rows)
    rule = None if task.dealt is None else task.dealt.rule
    if isinstance(rule, SearchedRule) and rule.line is None:
        return _by_nearness(task, cuts, dealing, threads, rng, tally)
    engine, leaves = find_leaves(task, cuts, threads=threads, tally=tally)
    if dealing == "matching" and task.dealt is not None:
        from wideberth.algorithms.mondrian.assignment import deal_by_matching

        judge = engine.judge if isinstance(engine, PlainSplitter) else RankJudge(task)
        matched = deal_by_matching(task, judge, leaves, rng)
        audit = {"swaps": matched.swaps, "unchanged": matched.unchanged}
        boxes = boxes_of(matched.partition, [quasi.codes for quasi in quasis])
        return SplitResult(matched.partition, boxes, len(leaves), audit)
    return SplitResult(*engine.deal(leaves), len(leaves), None)


def find_leaves(
    task: SplitProblem,
    cuts: str,
    *,
    threads: int | None = None,
    tally: _SettledRows | None = None,
    few: bool | None = None,
) -> tuple[Splitter, Leaves]:
    """Find leaves that can be dealt, and return the engine that can deal them."""
    # `few`: whether rows count as so few that nothing is compiled for them; by default they are
    # counted.
    tally = tally or _SettledRows(None, task.rows)
    engine = _engine(task, cuts, threads, tally, few)
    leaves = grow(engine, task, cuts, tally)
    if not leaves.hands.all():
        if task.dealt is not None:
            return _by_search(task, tally)
        if not RankJudge(task).hands(np.arange(task.rows)):
            raise _refused(task)
        leaves.hands[:] = 1  # too close to call for a kernel, but exactly satisfied
    return engine, leaves


def require_groups(task: SplitProblem) -> None:
    """Raise the refusal that `split` would, if a table cannot be dealt to groups at all."""
    require_combinable(task.demands)
    judge = RankJudge(task)
    found = judge.hands(np.arange(task.rows))
    if not found and (task.dealt is None or judge.search() is None):
        raise _refused(task)


def _by_search(task: SplitProblem, tally: _SettledRows) -> tuple[PlainSplitter, Leaves]:
    """Search for groups, if no way to deal the rows is found; refuse if there are none."""
    engine = PlainSplitter(task, tally.settled)
    labels = engine.judge.search()
    if labels is None:
        raise _refused(task)
    ranks = np.arange(task.rows, dtype=np.uint32)
    one = np.ones(1, np.int32)
    return engine, Leaves(ranks, one * task.rows, one * (int(labels.max()) + 1))


def _by_nearness(
    task: SplitProblem,
    cuts: str,
    dealing: str,
    threads: int | None,
    rng: Chance,
    tally: _SettledRows,
) -> SplitResult:
    """Split a table whose rows cannot be dealt by rank, only by who is near whom."""
    if dealing == "matching":
        raise ParameterError(
            "dealing by matching needs values on a line (epsilon-m)", hint='dealing="rank"'
        )
    quiet, given = _SettledRows(None, task.rows), np.arange(task.rows)
    if task.tagged:  # what is drawn below goes by where rows stand
        given = np.argsort(task.tags, kind="stable")
        task = task.reordered(given)

    def blocks(sizes: SplitProblem, most: int) -> Leaves:
        tally("cutting into blocks")
        return _engine(sizes, "disjoint", threads, quiet).cut(paper=False, block=most)

    few = task.rows <= _FEW_NEAR
    others = [demand.rule.kernel for demand in task.demands if demand is not task.dealt]
    if not few and all(others):  # here, not by the threads, which would all begin to
        tally("preparing")
        widest = max(quasi.domain.size for quasi in task.quasis)
        kind = np.uint16 if widest <= 2**16 else np.int32
        warm(kind, needed(cuts, looks_up=True, apart=True))

    def leaves(block: SplitProblem) -> Leaves:
        return grow(_engine(block, cuts, 1, quiet, few=few), block, cuts)

    tally("cutting blocks")
    found = split_in_blocks(task, blocks, leaves, rng=rng, threads=threads, settled=tally.settled)
    if found is None:
        engine, whole = _by_search(task, quiet)
        return SplitResult(*engine.deal(whole), 1, None)
    partition, many = found
    boxes = boxes_of(partition, [quasi.codes for quasi in task.quasis])
    labels = np.empty_like(partition.labels)
    labels[given] = partition.labels
    return SplitResult(Partition(labels, partition.count), boxes, many, None)


def grow(
    engine: Splitter, task: SplitProblem, cuts: str, tally: Callable[[str], None] | None = None
) -> Leaves:
    """Find the leaves."""
    say = tally or (lambda phase: None)
    unit, guarded = task.unit, not task.only_sizes
    say("preparing")  # the first time, kernels are compiled here
    block = rank_block_rows(cuts, unit)
    engine.prepare(cuts)
    say("cutting")
    leaves = engine.cut(paper=cuts == "paper", block=block)
    if not block:
        return leaves
    say("cutting at ranks")
    first = BeamSettings(2, 3 * unit, (_BLOCK if guarded else 8) * unit, not guarded)
    leaves, _ = engine.solve(leaves, Pools.single(len(leaves)), first)
    if cuts == "quality":
        again = BeamSettings(3 if guarded else 2, 3 * unit, _BLOCK * unit, not guarded)
        for turn in range(_PASSES):
            say(f"taking apart anew ({turn + 1} of {_PASSES})")
            pools = _pools(_nearest(engine, leaves, _NEAR), turn, leaves, unit)
            leaves, _ = engine.solve(leaves, pools, again)
        for turn in range(0 if guarded else _EXCHANGES):
            say(f"exchanging ({turn + 1} of {_EXCHANGES})")
            leaves, _ = engine.exchange(leaves, _nearest(engine, leaves, _NEAR))
            leaves, _ = engine.solve(leaves, Pools.single(len(leaves)), first)
    return leaves


def rank_block_rows(cuts: str, unit: int) -> int:
    """Return how few rows are not cut at values, because they will be at ranks."""
    return _BLOCK * unit if cuts in ("best", "quality") else 0


def _refused(task: SplitProblem) -> InfeasibleError:
    """Return the refusal of a table although each demand by itself can be satisfied."""
    dealt = task.dealt
    others = " and ".join(str(d.principle) for d in task.demands if d is not dealt)
    if dealt is None:
        what = f"the table does not satisfy {others}"
        return InfeasibleError(what, outcome="impossible", witness=what)
    hint = "weaken one of them, or take a monotone principle instead" + (
        " (delta-l, variant stab)" if dealt.principle.needs == "numbers" else ""
    )
    assert dealt.column is not None  # noqa: S101 - not monotone, so it looks at values
    proposals = [one for demand in task.demands for one in weaker(demand.principle)]
    witness = dealt.rule.ruled_out(dealt.column.codes.astype(np.int64), task.unit)
    if witness is None and task.rows <= SUBSETS:
        witness = Witness("search", task.rows, 0)
    if witness is not None:
        return InfeasibleError.together(str(dealt.principle), others, str(witness), hint, proposals)
    return InfeasibleError(
        f"{dealt.principle} is not monotone, and no way was found to deal the rows to groups that "
        f"also satisfy {others}; that there is none is not proven",
        hint=hint,
        proposals=proposals,
    )


def _engine(
    task: SplitProblem, cuts: str, threads: int | None, tally: _SettledRows, few: bool | None = None
) -> Splitter:
    """Choose the compiled engine, unless the plain one is done before a compiler would be."""
    few = task.rows <= _FEW[cuts] if few is None else few
    if not task.compilable or (few and missing(task.kernels(cuts))):
        return PlainSplitter(task, tally.settled)
    from wideberth.algorithms.mondrian.kernel_splitter import CompiledSplitter

    return CompiledSplitter(task, threads, tally.settled)


def _nearest(engine: Splitter, leaves: Leaves, many: int) -> Ints:
    """Return the leaves whose middles are nearest to each leaf's, itself left out."""
    from scipy.spatial import cKDTree

    middles = engine.centres(leaves)
    _, found = cKDTree(middles).query(middles, k=min(many + 1, len(leaves)), p=1)
    near: Ints = np.ascontiguousarray(found.reshape(len(leaves), -1)[:, 1:].astype(np.int64))
    return near


def _pools(near: Ints, turn: int, leaves: Leaves, unit: int) -> Pools:
    """Pool each leaf that is still free with its nearest free ones, others in every turn."""
    shift = 3 * turn % max(near.shape[1] - _POOLED + 2, 1)
    near = np.roll(near, -shift, axis=1)
    free = np.ones(len(leaves), dtype=bool)
    members: list[int] = []
    begins = [0]
    sizes = leaves.sizes.tolist()
    for leaf, others in enumerate(near.tolist()):
        if not free[leaf]:
            continue
        free[leaf] = False
        members.append(leaf)
        rows = sizes[leaf]
        pooled = 1
        for other in others:
            if pooled == _POOLED:
                break
            if free[other] and rows + sizes[other] <= _BLOCK * unit:
                free[other] = False
                members.append(other)
                rows += sizes[other]
                pooled += 1
        begins.append(len(members))
    return Pools(np.array(members), np.array(begins))


class _SettledRows:
    """The number of rows settled, reported as progress."""

    def __init__(self, progress: Progress | None, rows: int) -> None:
        self.progress = progress
        self.rows = rows
        self.phase = "cutting"
        self.done = 0

    def __call__(self, phase: str) -> None:
        self.phase, self.done = phase, 0
        self.settled(0)

    def settled(self, rows: int) -> None:
        self.done += rows
        if self.progress is not None:
            self.progress(self.phase, min(self.done, self.rows), self.rows)
