"""Full-domain generalization: one level per quasi-identifier for the whole table.

Rows of groups that fail may be suppressed, up to a limit. Further rounds may then generalise the
suppressed rows by themselves, each round again with one level per quasi-identifier: local recoding.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from wideberth.algorithms.lattice.bounds import NoBounds, bounds_for
from wideberth.algorithms.lattice.measures import AttributeMeasure, Facts, NodeMeasure, measure_of
from wideberth.algorithms.lattice.problem import LatticeProblem, NodeChecker, Prices
from wideberth.algorithms.lattice.rule_judge import (
    PlainNodeChecker,
    node_partition,
    satisfying_groups,
)
from wideberth.algorithms.lattice.search import (
    BoxSearch,
    NodeChecks,
    SearchBudget,
    SearchResult,
    optimum,
)
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition, count_group_rows
from wideberth.core.progress import Progress
from wideberth.errors import InfeasibleError, ParameterError
from wideberth.principles.base import rows_in_words
from wideberth.principles.feasibility.refusal import Alternative, infeasible_error, weaker

#: More nodes are not listed: that would take more memory than the table.
LISTED = 5_000_000
#: With more nodes, it may take longer to look through the list than to check some more of them.
_BY_BOXES = 50_000
#: A check of so many sensitive values takes about ten times as long.
_MANY_VALUES, _LONGER = 64, 10
#: Kernels count rows in 32 bits.
_COUNTED = 2**31
#: Shares of rows that a refusal proposes to leave out.
_SHARES = (0.01, 0.02, 0.05, 0.1)
#: Up to so many rows and nodes the rules themselves are asked: compiled code is not worth loading.
_FEW_ROWS, _FEW_NODES = 2_000, 1_000
#: The same if the rules say all that compiled code would say, and it is not loaded.
_SOME_ROWS, _SOME_NODES = 50_000, 10_000
MEGABYTE = 2**20


@dataclass(frozen=True)
class SearchSettings:
    """How to search."""

    measure: str | NodeMeasure | Callable[[Facts], float] = (
        "loss"  # what is to be as small as possible
    )
    budget: SearchBudget = field(default_factory=SearchBudget)
    memory: int = 1024  # how many megabytes tables of nodes may take
    rounds: int = 0  # how often suppressed rows may be generalised by themselves


@dataclass(frozen=True, eq=False)
class Round:
    """Rows that share one level per quasi-identifier."""

    found: SearchResult
    entries: Ints  # those of the ground that are published so, ascending
    checks: int  # how many nodes were checked

    @property
    def node(self) -> tuple[int, ...]:
        """The levels."""
        assert self.found.node is not None  # noqa: S101 - a round has one
        return self.found.node


@dataclass(frozen=True, eq=False)
class Generalization:
    """What became of a table."""

    ground: LatticeProblem
    measure: NodeMeasure
    rounds: Sequence[Round]  # one, or more with local recoding
    suppressed: Ints  # the entries of the ground that are left out, ascending

    def partition(self) -> Partition:
        """Group the entries that are kept, in their order: round by round as each node does."""
        # Groups of two rounds that are published alike are still two.
        labels = np.full(self.ground.entries, -1, dtype=np.int64)
        count = 0
        for one in self.rounds:
            part = node_partition(self.ground.only(one.entries), one.node)
            labels[one.entries] = part.labels + count
            count += part.count
        return Partition(labels[labels >= 0].astype(np.int32), count)


def generalize(
    ground: LatticeProblem, settings: SearchSettings, progress: Progress | None = None
) -> Generalization:
    """Find the best node, and perhaps further ones for the rows that it suppresses."""
    measure = measure_of(settings.measure)
    until = monotonic() + (settings.budget.seconds or 0)
    rounds: list[Round] = []
    left = np.arange(ground.entries)
    part = ground
    while len(left) and len(rounds) <= settings.rounds:
        budget: SearchBudget | None = settings.budget
        if rounds:  # one budget for all of them
            budget = settings.budget.less(sum(one.checks for one in rounds), until)
        if budget is None:
            break
        probe, found = search(part, measure, replace(settings, budget=budget), progress)
        if found.node is None:
            if not rounds:
                raise no_admissible_node_error(ground, found)
            break
        groups = node_partition(part, found.node)
        kept = satisfying_groups(part, groups)[groups.labels]
        rounds.append(Round(found, left[kept], probe.checks))
        left = left[~kept]
        part = ground.only(left)
    return Generalization(ground, measure, rounds, left)


def search(
    ground: LatticeProblem,
    measure: NodeMeasure,
    settings: SearchSettings,
    progress: Progress | None,
    many: int = 1,
) -> tuple[NodeChecks, SearchResult]:
    """Find the best node, or the best few."""
    require_searchable(ground, settings.budget)
    if not _modest(ground):
        load_kernels()
    if ground.shape.nodes > LISTED or (
        isinstance(measure, AttributeMeasure) and _boxes_pay(ground)
    ):
        boxes = BoxSearch(ground, measure)
        probe = NodeChecks(
            node_checker_for(ground, boxes.prices, settings), settings.budget, progress
        )
        return probe, boxes.optimum(probe, many)
    bounds = bounds_for(ground, measure)
    probe = NodeChecks(node_checker_for(ground, bounds.prices, settings), settings.budget, progress)
    if isinstance(bounds, NoBounds):
        bounds.engine = probe.engine
    return probe, optimum(bounds, probe, many)


def _boxes_pay(ground: LatticeProblem) -> bool:
    """Return whether boxes are searched faster than a list, despite several times the checks."""
    # Rows count, not entries: of equally good nodes the two searches may find different ones, and a
    # table that is given in another way must not be published in another way.
    columns = {id(d.column): d.column.domain.size for d in ground.demands if d.column is not None}
    effort = ground.rows * (_LONGER if sum(columns.values()) > _MANY_VALUES else 1)
    return ground.shape.nodes > max(_BY_BOXES, effort)


def load_kernels() -> None:
    """Load compiled code, which is then used wherever it may be."""
    import wideberth.algorithms.lattice.kernel_judge  # noqa: F401


def node_checker_for(
    ground: LatticeProblem, prices: Prices | None, settings: SearchSettings
) -> NodeChecker:
    """Return what checks nodes."""
    if _modest(ground):
        return PlainNodeChecker(ground, prices)
    from wideberth.algorithms.lattice.kernel_judge import CompiledNodeChecker

    return CompiledNodeChecker(ground, prices, settings.memory * MEGABYTE)


def _modest(ground: LatticeProblem) -> bool:
    """Return whether the rules themselves check nodes, not compiled code."""
    if not compilable(ground):
        return True
    rows, nodes = ground.rows, ground.shape.nodes
    if rows <= _FEW_ROWS and nodes <= _FEW_NODES:
        return True
    # The result must not depend on what is loaded. So either compiled code is never loaded for such
    # a table, or both ways know the same of every node: rules of which it is not known how much of
    # a failing group can be kept leave it to compiled code.
    same = all(demand.rule.upward for demand in ground.demands) or not ground.limit
    return same and rows <= _SOME_ROWS and nodes <= _SOME_NODES and "numba" not in sys.modules


def require_searchable(ground: LatticeProblem, budget: SearchBudget) -> None:
    """Refuse a lattice too large to be searched to the end."""
    if ground.shape.nodes > LISTED and budget.endless:
        raise ParameterError(
            f"the lattice has {ground.shape.nodes:,} nodes, too many to search to the end",
            hint="max_seconds = 60, max_checks = 10000, or levels = { age = [1, 3] } to have fewer",
        )


def compilable(ground: LatticeProblem) -> bool:
    """Return whether every demand has a compiled form, as a test of the group as it is."""
    if ground.rows >= _COUNTED:
        return False
    for demand in ground.demands:
        kernel = demand.rule.kernel
        if kernel is None or not kernel.modest:
            return False
        if not demand.rule.monotone:  # its compiled form is about groups to be dealt
            return False
    return True


def no_admissible_node_error(ground: LatticeProblem, found: SearchResult) -> InfeasibleError:
    """Return the error that there is no admissible node, with what may help."""
    if not found.proven:
        return InfeasibleError(
            "no admissible node was found before the budget was used up",
            hint="allow more (max_seconds, max_checks), or suppression (suppression_limit = 0.01)",
        )
    if not ground.limit:
        whole = Partition(np.zeros(ground.entries, dtype=np.int32), 1)
        for demand in ground.demands:
            groups = count_group_rows(whole, demand.column, ground.weights)
            if demand.rule.certain and not demand.rule.feasible(groups)[0]:
                counts = np.zeros(groups.width, dtype=np.int64)
                counts[groups.codes] = groups.counts
                return infeasible_error(demand.principle, demand.column, ground.rows, counts)
    names = " and ".join(map(str, ground.demands))
    intricate = [demand.principle.name for demand in ground.demands if not demand.rule.monotone]
    hint = "a higher suppression_limit, higher levels, or weaker principles"
    if ground.limit == ground.rows:
        hint = "weaker principles"
    if intricate:
        hint = (
            f"{intricate[0]} is not monotone, so coarser nodes need not be better: delta-l, which "
            'is, or algorithm = "mondrian"'
        )
    return InfeasibleError(
        f"none of the {ground.shape.nodes:,} nodes satisfies {names} with at most "
        f"{rows_in_words(ground.limit)} suppressed",
        hint=hint,
        proposals=[*_limits(ground), *(w for d in ground.demands for w in weaker(d.principle))],
    )


def _limits(ground: LatticeProblem) -> list[Alternative]:
    """Return larger shares of rows to leave out, which may help."""
    shares = (share for share in _SHARES if share * ground.rows > max(ground.limit, 1))
    return [
        Alternative(words, setting=words, key="suppression_limit", suppression_limit=share)
        for share in shares
        if (words := f"suppression_limit={share:g}")
    ]
