"""Values that are different but of one kind: Wang, Han, Wang, Wang 2013.

Gastric ulcer, dyspepsia and gastritis are three diseases, but all of them say "stomach".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Groups
from wideberth.distances import DistanceFunction, Similarity, similarity, space
from wideberth.errors import ParameterError, what_to_type
from wideberth.principles import plain_value
from wideberth.risk.attacks.situations import Risk, VictimClasses


@dataclass(frozen=True, kw_only=True)
class SimilarityLevel:
    """How much of what people face is of one kind, at one level of the tree."""

    level: int  # steps below the root
    worst: float  # the largest share of any histogram under one node of that level
    # Of the share that is of a person's own kind, over all people. A value that is missing, or
    # above the level, is of no kind: it counts 0.
    mean: float
    people: int
    certain_people: int  # of how many the kind is certain
    # the node with the worst share; it tells of a single group: not for publication
    kind: str = field(repr=False)

    @classmethod
    def merged(cls, parts: Sequence[SimilarityLevel]) -> SimilarityLevel:
        """Put together the levels of different people."""
        worst = max(parts, key=lambda part: part.worst)
        people = sum(part.people for part in parts)
        return cls(
            level=worst.level,
            worst=worst.worst,
            mean=sum(part.mean * part.people for part in parts) / max(people, 1),
            people=people,
            certain_people=sum(part.certain_people for part in parts),
            kind=worst.kind,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, without the kind itself."""
        return {
            "level": self.level,
            "worst": self.worst,
            "mean": self.mean,
            "certain_people": self.certain_people,
        }


@dataclass(frozen=True, kw_only=True)
class SimilarityResult:
    """How much of what people face is of one kind."""

    levels: tuple[SimilarityLevel, ...]  # the children of the root first
    similarity: Risk | None  # how much is at most e apart from each person's own value

    @classmethod
    def merged(cls, parts: Sequence[SimilarityResult]) -> SimilarityResult:
        """Put together what was found of different people."""
        levels = zip(*(part.levels for part in parts), strict=True)
        risks = [part.similarity for part in parts if part.similarity is not None]
        return cls(
            levels=tuple(SimilarityLevel.merged(level) for level in levels),
            similarity=Risk.merged(risks) if risks else None,
        )


@dataclass(frozen=True, eq=False)
class _NodeCounts:
    """The rows of each histogram under each node of one level that has any."""

    level: int
    owner: Ints  # ascending, and the nodes of each histogram
    node: Ints
    rows: Ints
    of_entry: Ints  # for each entry of the histograms, the rows under the same node


class SimilarityAttack:
    """The kinds of a column's values, by a tree.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> from wideberth.hierarchy import Hierarchy
    >>> tree = Hierarchy(("*", "odd", "1", "3", "even", "2"), [-1, 0, 1, 1, 0, 4])
    >>> domain = encode(pl.Series("s", ["1", "2", "3"])).with_tree(tree).domain
    >>> faced = VictimClasses.known(Groups.of([[0, 2], [0, 1]], width=3))
    >>> [(level.worst, level.certain_people) for level in SimilarityAttack(domain).on(faced).levels]
    [(1.0, 2), (0.5, 0)]
    """

    def __init__(self, domain: Domain, e: Fraction | None = None) -> None:
        if domain.tree is None:
            raise ParameterError(
                f"'{domain.name}' has no hierarchy to tell which values are of one kind",
                hint=what_to_type(
                    python='hierarchies={"column": "tree.csv"}',
                    command="--hierarchy COLUMN=FILE, or [hierarchies] in the policy",
                ),
            )
        self.tree, self.e = domain.tree, e
        nodes = self.tree.nodes_of(domain.texts).astype(np.int64)
        #: The node of each code; that of a missing value is none.
        self.nodes = nodes if domain.missing is None else np.append(nodes, -1)
        # For each level, the node there that each code is at or below; -1 if there is none.
        self.above: list[Ints] = []
        node = self.nodes
        for level in range(self.tree.height, 0, -1):
            here = (node >= 0) & (self.tree.depth[node] == level)
            self.above.insert(0, np.where(here, node, -1))
            node = np.where(here, self.tree.parent[node], node)
        #: Who is similar to whom. Where all values are equally deep, that is to have an ancestor
        #: in common: the level of those ancestors.
        self.near: Similarity | None = None
        self.step: int | None = None
        if e is not None:
            self.near = similarity(domain, "tree", e)
            depth = self.tree.depth[nodes]
            if len(depth) and depth.min() == depth.max():
                self.step = max(int(depth[0]) - floor(e), 0)

    def shares(self, faced: VictimClasses, level: int) -> Floats:
        """Return, for each class of victims, the share of the faced rows of their own kind."""
        (crowd,) = self._crowds(faced.groups, [level])
        return self._own(faced, crowd)

    def similar_shares(self, faced: VictimClasses) -> Floats:
        """Return, for each class of victims, the share of the faced rows similar to their value."""
        if self.step:
            return self._of_kind(faced, self.shares(faced, self.step))
        if self.step == 0:  # all values are similar
            lacking = faced.groups.codes == len(self.nodes) - 1
            known = faced.groups.counts * ~(lacking & (self.nodes[-1] < 0))
            return self._of_kind(faced, faced.groups.sum(known)[faced.owner] / faced.sizes)
        assert self.near is not None  # noqa: S101 - an e was given
        filled = faced.filled()
        return filled.of_own(self.near.crowd(filled.groups)) / faced.sizes

    def _of_kind(self, faced: VictimClasses, shares: Floats) -> Floats:
        """Correct the shares of missing values, which are near to themselves only."""
        return np.where(self.nodes[faced.codes] >= 0, shares, faced.own / faced.sizes)

    def on(self, faced: VictimClasses) -> SimilarityResult:
        """Look at all histograms."""
        sizes, people = faced.groups.sizes, int(faced.people.sum())
        levels, similar = [], None
        for crowd in self._crowds(faced.groups, range(1, self.tree.height + 1)):
            share = crowd.rows / sizes[crowd.owner]
            worst = int(share.argmax()) if len(share) else None
            own = self._own(faced, crowd)
            if crowd.level == self.step:
                similar = self._of_kind(faced, own)
            levels.append(
                SimilarityLevel(
                    level=crowd.level,
                    worst=0.0 if worst is None else float(share[worst]),
                    mean=float((own * faced.people).sum()) / max(people, 1),
                    people=people,
                    certain_people=int(faced.people[own >= 1].sum()),
                    kind="" if worst is None else self.tree.labels[int(crowd.node[worst])],
                )
            )
        if similar is None and self.e is not None:
            similar = self.similar_shares(faced)
        risk = None if similar is None else Risk.of(similar, faced.people)
        return SimilarityResult(levels=tuple(levels), similarity=risk)

    def to_dict(self, found: SimilarityResult) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "levels": [level.to_dict() for level in found.levels],
            "similarity": None if found.similarity is None else found.similarity.to_dict(),
            "e": None if self.e is None else plain_value(self.e),
        }

    def _crowds(self, groups: Groups, levels: Sequence[int]) -> Iterator[_NodeCounts]:
        """Count, level by level, the rows of each histogram under each node that has any."""
        # What lies below a node follows it: sorted once, entries are in order at every level.
        order = np.argsort(groups.owner * (len(self.tree) + 1) + self.nodes[groups.codes] + 1)
        owner, codes, counts = groups.owner[order], groups.codes[order], groups.counts[order]
        for level in levels:
            node = self.above[level - 1][codes]
            here = np.flatnonzero(node >= 0)
            branch = owner[here] * len(self.tree) + node[here]
            first = np.flatnonzero(np.diff(branch, prepend=-1))
            rows = np.add.reduceat(counts[here], first) if len(first) else first
            of_entry = np.zeros(len(order), dtype=np.int64)
            of_entry[order[here]] = np.repeat(rows, np.diff(first, append=len(here)))
            yield _NodeCounts(level, owner[here[first]], node[here[first]], rows, of_entry)

    def _own(self, faced: VictimClasses, crowd: _NodeCounts) -> Floats:
        """Return the share of each class's own kind."""
        rows = faced.of_own(crowd.of_entry)
        if faced.entries is not None and len(crowd.rows):
            # A value that is lacking may still have others of its kind there.
            lacking = np.flatnonzero(faced.entries < 0)
            kind = self.above[crowd.level - 1][faced.codes[lacking]]
            branch = crowd.owner * len(self.tree) + crowd.node
            wanted = faced.owner[lacking] * len(self.tree) + kind
            at = np.minimum(np.searchsorted(branch, wanted), len(branch) - 1)
            rows[lacking] = np.where((branch[at] == wanted) & (kind >= 0), crowd.rows[at], 0)
        return rows / faced.sizes


# -----------------------------------------------------------------------------
# Values of any kind that lie near each other: Wang, Meng, Bamba, Liu, Pu 2009.


class DissimilarityAttack:
    """The values near each value of a domain, by any distance.

    >>> import polars as pl
    >>> from wideberth.core.codes import encode
    >>> from wideberth.core.groups import Groups
    >>> domain = encode(pl.Series("s", [1, 2, 9])).domain
    >>> faced = VictimClasses.known(Groups.of([[0, 1, 2], [2]], width=3))
    >>> DissimilarityAttack(domain, Fraction(1)).shares(faced)
    array([0.5, 0.5, 0. , 1. ])
    """

    def __init__(
        self, domain: Domain, epsilon: Fraction, distance: str | DistanceFunction = "auto"
    ) -> None:
        chosen = space(domain, distance)
        self.epsilon, self.near = epsilon, chosen.within(epsilon)
        self.distance = chosen.name

    def shares(self, faced: VictimClasses) -> Floats:
        """Return, for each class of victims, the share of the other rows that are near theirs."""
        # Of a row that is alone it is 1. If the victim's own row is not among those faced, all of
        # these are others.
        filled = faced.filled()
        near = filled.of_own(self.near.crowd(filled.groups))
        itself = faced.own > 0
        others = faced.sizes - itself
        return np.where(others > 0, (near - itself) / np.maximum(others, 1), 1.0)

    def on(self, faced: VictimClasses) -> Risk:
        """Look at all histograms."""
        return Risk.of(self.shares(faced), faced.people)

    def to_dict(self, risk: Risk) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {"epsilon": plain_value(self.epsilon), "distance": self.distance, **risk.to_dict()}
