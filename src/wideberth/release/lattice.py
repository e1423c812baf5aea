"""lattice: which levels of generalization satisfy, which of them are minimal, which are best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.bounds import NoBounds
from wideberth.algorithms.lattice.generalize import (
    LISTED,
    Generalization,
    Round,
    SearchSettings,
    load_kernels,
    no_admissible_node_error,
    search,
)
from wideberth.algorithms.lattice.levels import QuasiLevels, hierarchy_hint
from wideberth.algorithms.lattice.measures import (
    NODE_MEASURES,
    AttributeMeasure,
    CustomMeasure,
    Facts,
    SizeMeasure,
    measure_of,
    node_levels,
)
from wideberth.algorithms.lattice.problem import (
    LatticeNode,
    LatticeProblem,
    NodeChecker,
    NodeResult,
    Prices,
)
from wideberth.algorithms.lattice.rule_judge import group_equal_columns
from wideberth.algorithms.lattice.search import SearchBudget, SearchResult, find_minimal_nodes
from wideberth.core.codes import Codes, compress
from wideberth.core.exact import Floats, Ints, fraction
from wideberth.core.groups import Partition
from wideberth.core.progress import Progress
from wideberth.errors import HierarchyError
from wideberth.hierarchy.quasi import Quasi
from wideberth.labels.parse import OR_MISSING
from wideberth.policy.policy import Policy
from wideberth.policy.request import Request
from wideberth.policy.settings import Transform
from wideberth.principles import Principle
from wideberth.release.prepare import blame_policy, demands_of, quasis_of
from wideberth.release.recode import PublishedValues, RecodedColumns

# -----------------------------------------------------------------------------
# From levels to published values: what a lattice's node says of each quasi-identifier.
#
# Every value is published as its ancestor on the level chosen, the same for all rows of a round.


@dataclass(frozen=True, eq=False)
class LatticeRecoding:
    """The rows that a lattice keeps, and what is published of them."""

    # Where entries of the ground stand for several rows, "rows" are entries here, but for losses,
    # which are means over all rows that are kept.

    made: Generalization

    @cached_property
    def rows(self) -> Ints:
        """The rows that are kept, ascending."""
        return np.sort(np.concatenate([one.entries for one in self.made.rounds]))

    @cached_property
    def _columns(self) -> Sequence[tuple[pl.Series, Codes, Floats]]:
        """By quasi-identifier: labels, the label of each row, and the extent of each row's."""
        return [self._column(i) for i in range(len(self.made.ground.quasi_levels))]

    def _column(self, i: int) -> tuple[pl.Series, Codes, Floats]:
        quasi_level = self.made.ground.quasi_levels[i]
        label = np.empty(self.made.ground.entries, dtype=np.int64)
        extent = np.empty(self.made.ground.entries)
        texts: list[str | None] = []
        for one in self.made.rounds:
            level_index = one.node[i]
            codes = quasi_level.codes[level_index][quasi_level.quasi.codes[one.entries]]
            label[one.entries] = codes + len(texts)
            extent[one.entries] = quasi_level.extents(level_index)[codes]
            texts += _labels(quasi_level, level_index)
        # Only what is published, and each text once, whichever rounds have it.
        used, which = compress(label[self.rows], len(texts))
        number = {text: place for place, text in enumerate(dict.fromkeys(texts[i] for i in used))}
        same = np.array([number[texts[i]] for i in used], dtype=np.int32)
        return pl.Series(list(number), dtype=pl.String), same[which], extent[self.rows]

    @cached_property
    def partition(self) -> Partition:
        """The groups of the rows that are kept."""
        # Rows that are published alike make a group, whatever the round; but under a principle that
        # is not monotone each round has its own groups, which their ids tell apart.
        if not all(demand.rule.monotone for demand in self.made.ground.demands):
            return self.made.partition()
        return group_equal_columns(label for _, label, _ in self._columns)

    def labels(self, one: Round) -> dict[str, list[str | None]]:
        """Return what a round publishes for each code of each quasi-identifier."""
        # By this, rows can be published that are not here themselves, only tuples of their codes.
        said = {}
        for quasi_level, level_index in zip(self.made.ground.quasi_levels, one.node, strict=True):
            texts = _labels(quasi_level, level_index)
            said[quasi_level.name] = [texts[code] for code in quasi_level.codes[level_index]]
        return said

    def recoded(self, order: Ints) -> RecodedColumns:
        """Return what is published, the kept rows in a new order."""
        columns, losses = {}, {}
        quasi_levels, held = self.made.ground.quasi_levels, self.made.ground.weights
        if held is not None:
            held = held[self.rows]
        for quasi_level, (texts, label, extent) in zip(quasi_levels, self._columns, strict=True):
            said = PublishedValues(texts, np.arange(len(texts)))
            columns[quasi_level.name] = [said.by_row(label[order]).alias(quasi_level.name)]
            losses[quasi_level.name] = float(np.average(extent, weights=held))
        weights = [quasi_level.quasi.weight for quasi_level in quasi_levels]
        return RecodedColumns(
            columns, losses, float(np.average(list(losses.values()), weights=weights))
        )


def _labels(quasi_level: QuasiLevels, level_index: int) -> list[str | None]:
    """Return what is published for each code; the top says that the value may be missing."""
    labels = quasi_level.labels(level_index)
    if quasi_level.quasi.domain.missing is not None and None not in labels:
        return [None if label is None else label + OR_MISSING for label in labels]
    return labels


# -----------------------------------------------------------------------------
# lattice: which levels of generalization satisfy, which of them are minimal, which are best.


def lattice(
    table: object,
    *,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    identifier: str | Sequence[str] | None = None,
    insensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    suppression_limit: float | str | None = None,
    weights: Mapping[str, float] | None = None,
    measure: str | Callable[[Facts], float] | None = None,
    levels: Mapping[str, int | Sequence[int]] | None = None,
    max_checks: int | None = None,
    max_seconds: float | None = None,
    max_memory: int | None = None,
    rows_are_people: bool | None = None,
    best: int = 5,
    progress: Progress | None = None,
) -> Lattice:
    """Find all minimal nodes of the generalization lattice, and the best ones.

    A node publishes every quasi-identifier on one level of its hierarchy, the same for the whole
    table. It is admissible if all groups satisfy the principles, but for some whose rows are
    suppressed, up to a limit. It is minimal if it is admissible and no finer node is.

    Parameters
    ----------
    table, quasi, sensitive, identifier, insensitive, principles, hierarchies, types, policy
        As in `anonymize`.
    suppression_limit, weights, measure, levels, max_checks, max_seconds, max_memory : optional
        As in `wideberth.policy.settings.Transform`.
    rows_are_people : bool, optional
        As in `anonymize`.
    best : int
        How many of the best nodes to find.
    progress : callable, optional
        Told the phase, how many nodes are settled, and how many there are.

    Returns
    -------
    Lattice

    Raises
    ------
    InfeasibleError
        If no node is admissible, or none was found.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": [21, 24, 34, 38], "sex": ["f", "m", "f", "m"]})
    >>> result = lattice(
    ...     table, quasi=["age", "sex"], principles="k-anonymity:k=2",
    ...     hierarchies={"age": {"interval": 10}, "sex": {"flat": True}},
    ... )
    >>> [node.levels for node in result.minimal]
    [{'age': 2, 'sex': 0}, {'age': 1, 'sex': 1}]
    >>> result.best[0].levels, round(result.best[0].scores["ncp"], 3), result.proven
    ({'age': 2, 'sex': 0}, 0.5, True)
    """
    request = Request.of(
        table,
        roles={
            "quasi": quasi,
            "sensitive": sensitive,
            "identifier": identifier,
            "insensitive": insensitive,
        },
        principles=principles,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
        transform={
            "algorithm": "lattice",
            "suppression_limit": suppression_limit,
            "weights": weights,
            "measure": measure,
            "levels": levels,
            "max_checks": max_checks,
            "max_seconds": max_seconds,
            "max_memory": max_memory,
        },
        group=None,
        rows_are_people=rows_are_people,
    )
    with blame_policy(policy, principles, levels):
        quasis = quasis_of(request, request.frame)
        ground = lattice_problem(quasis, demands_of(request, request.frame), request.transform)
    settings = settings_of(request.transform)
    load_kernels()  # to find all minimal nodes takes more checks than to find the best
    probe, found = search(ground, measure_of(settings.measure), settings, progress, max(best, 1))
    if found.node is None:
        raise no_admissible_node_error(ground, found)
    nodes, complete = None, False
    if ground.shape.nodes <= LISTED:
        nodes, complete = find_minimal_nodes(ground, probe)
    return Lattice(
        ground=ground,
        principles=[str(demand) for demand in ground.demands],
        settings=settings,
        found=found,
        checked=probe.checks,
        complete=complete,
        engine=probe.engine,
        known=probe.known,
        found_minimal=nodes,
    )


def lattice_problem(
    quasis: Sequence[Quasi],
    demands: Sequence[Demand],
    how: Transform,
    weights: Ints | None = None,
) -> LatticeProblem:
    """Build the lattice of some quasi-identifiers; weights are those of `LatticeProblem`."""
    lacking = [quasi for quasi in quasis if quasi.tree is None]
    if len(lacking) > 1:
        names = ", ".join(f"'{quasi.name}'" for quasi in lacking)
        raise HierarchyError(
            f"the lattice needs levels, but {len(lacking)} quasi-identifiers have no hierarchy: "
            + names,
            hint=hierarchy_hint(lacking[0]),
        )
    quasi_levels = [QuasiLevels.of(quasi, how.levels.get(quasi.name)) for quasi in quasis]
    limit = int(fraction(how.suppression_limit) * quasi_levels[0].rows)
    return LatticeProblem(quasi_levels, demands, limit, weights)


def settings_of(how: Transform) -> SearchSettings:
    """Read how to search."""
    budget = SearchBudget(how.max_checks, how.max_seconds)
    return SearchSettings(how.measure, budget, how.max_memory, how.local_rounds)


def lattice_account(made: Generalization) -> dict[str, Any]:
    """Return what was chosen, for the manifest."""
    # A measure of bits, or one's own, would tell what was suppressed; the others follow from what
    # is published, and from how many rows are not.
    told = [name for name in NODE_MEASURES if name != "entropy"]
    open_ = not len(made.suppressed) or made.measure.name in told
    return {
        "nodes": made.ground.shape.nodes,
        "measure": made.measure.name,
        "rounds": [
            {
                "levels": node_levels(made.ground.quasi_levels, one.node),
                "rows": made.ground.rows_of(one.entries),
                "score": _short(one.found.score) if open_ else None,
                "no_better_than": _short(one.found.bound) if open_ else None,
                "proven": one.found.proven,
                "checked": one.checks,
            }
            for one in made.rounds
        ],
    }


def _short(figure: float) -> float | None:
    """Keep five digits. Nothing is known of a measure of one's own, so its bound is infinite."""
    return float(f"{figure:.5g}") if isfinite(figure) else None


@dataclass(frozen=True, eq=False)
class NodeFigures:
    """The figures of a node of the lattice."""

    levels: dict[str, int]  # of each quasi-identifier
    suppressed: int  # rows that would be suppressed
    groups: int  # groups that would be published
    scores: dict[str, float]  # by measure
    minimal: bool | None  # whether no finer node is admissible; None if that is not known

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "levels": self.levels,
            "suppressed": self.suppressed,
            "groups": self.groups,
            "scores": self.scores,
            "minimal": self.minimal,
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Lattice:
    """What a search found out about a lattice.

    Parameters
    ----------
    ground : Ground
        The lattice, and what was demanded.
    principles : sequence of str
        The same as text.
    settings : Settings
        How it was searched.
    found : Found
        The best nodes.
    checked : int
        How many nodes were checked.
    complete : bool
        Whether all minimal nodes are known.
    engine : Engine
        What checks nodes.
    known : mapping
        What was learned of the nodes that were checked.
    found_minimal : sequence of Node, optional
        The minimal nodes; None if the lattice is too large to look for them.
    """

    ground: LatticeProblem
    principles: Sequence[str]
    settings: SearchSettings
    found: SearchResult
    checked: int
    complete: bool
    engine: NodeChecker
    known: Mapping[LatticeNode, NodeResult]
    found_minimal: Sequence[LatticeNode] | None

    def __repr__(self) -> str:
        """Return what was found in a few words."""
        best = self.best[0]
        levels = ", ".join(f"{name} {level}" for name, level in best.levels.items())
        sure = "proven" if self.proven else "not proven"
        many = "" if self.found_minimal is None else f"; {len(self.found_minimal):,} minimal nodes"
        return (
            f"lattice of {self.nodes:,} nodes, {self.checked:,} checked; best by {self.measure}: "
            f"{levels} ({best.scores[self.measure]:.4g}, {sure}){many}"
        )

    @property
    def examples(self) -> dict[str, list[str | None]]:
        """By quasi-identifier, what is published most often on each level; None for the values."""
        quasi_levels = self.ground.quasi_levels
        return {
            x.name: [x.example(level_index) for level_index in range(len(x))] for x in quasi_levels
        }

    @property
    def nodes(self) -> int:
        """How many nodes the lattice has."""
        return self.ground.shape.nodes

    @property
    def highest(self) -> dict[str, int]:
        """The highest level of each quasi-identifier's hierarchy, whether it may be used or not."""
        return {
            quasi_level.name: quasi_level.tree.height for quasi_level in self.ground.quasi_levels
        }

    @property
    def measure(self) -> str:
        """The name of the measure."""
        return measure_of(self.settings.measure).name

    @property
    def proven(self) -> bool:
        """Whether the best node is proven to be the best."""
        return self.found.proven

    @cached_property
    def minimal(self) -> list[NodeFigures]:
        """The minimal nodes, the best first."""
        figures = [self.figures(node) for node in self.found_minimal or ()]
        return sorted(figures, key=lambda one: one.scores[self.measure])

    @cached_property
    def best(self) -> list[NodeFigures]:
        """The best nodes, the best first; of a lattice too large to be listed, the best one."""
        ranked: list[LatticeNode | None] = [node for _, node, _ in self.found.ranking]
        return [self.figures(node) for node in ranked or [self.found.node] if node is not None]

    @property
    def gap(self) -> float:
        """How much better than the best node found another one could be; 0 if it is proven."""
        return max(self.found.score - self.found.bound, 0.0) if not self.proven else 0.0

    def verdict(self, node: LatticeNode) -> NodeResult:
        """Return what a check says of a node, which may not have been checked before."""
        return self.known[node] if node in self.known else self.engine.check(node)

    def figures(self, node: LatticeNode) -> NodeFigures:
        """Measure a node in every way."""
        quasi_levels, rows = self.ground.quasi_levels, self.ground.rows
        verdict = self.verdict(node)
        scores: dict[str, float] = {}
        for name, one in NODE_MEASURES.items():
            if isinstance(one, SizeMeasure):
                scores[name] = one.score(verdict, rows)
            elif isinstance(one, AttributeMeasure):
                prices = self._prices[name]
                costs = self.engine.price(node, prices)
                scores[name] = float(one.unbend(one.total(prices, quasi_levels, node, costs)))
        if self._own is not None:
            scores[self.measure] = self._own.score(node, verdict)
        known = self.found_minimal
        return NodeFigures(
            levels=node_levels(quasi_levels, node),
            suppressed=verdict.suppressed,
            groups=verdict.kept,
            scores=scores,
            minimal=None if known is None or not self.complete else node in known,
        )

    @cached_property
    def _prices(self) -> dict[str, Prices]:
        named = NODE_MEASURES.items()
        return {
            name: Prices(self.ground.quasi_levels, one.price)
            for name, one in named
            if isinstance(one, AttributeMeasure)
        }

    @cached_property
    def _own(self) -> NoBounds | None:
        """What asks the user's own measure, if that is the one."""
        measure = measure_of(self.settings.measure)
        if not isinstance(measure, CustomMeasure):
            return None
        asking = NoBounds(self.ground, measure)
        asking.engine = self.engine
        return asking

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        limit = Fraction(self.ground.limit, self.ground.rows)
        return {
            "rows": self.ground.rows,
            "quasi": {
                quasi_level.name: list(quasi_level.levels)
                for quasi_level in self.ground.quasi_levels
            },
            "examples": self.examples,
            "principles": list(self.principles),
            "suppression_limit": {"rows": self.ground.limit, "share": float(limit)},
            "nodes": self.nodes,
            "checked": self.checked,
            "measure": self.measure,
            "best": [one.to_dict() for one in self.best],
            "score": self.found.score,
            "no_better_than": self.found.bound if isfinite(self.found.bound) else None,
            "proven": self.proven,
            "minimal": None if self.found_minimal is None else [x.to_dict() for x in self.minimal],
            "minimal_complete": self.complete,
        }
