"""What several releases leave possible for each person, if the rows of a box are shared out.

A world is an assignment of sensitive values to people that fits every box of every release. In a
release, each row is the row of one person whom its box covers. So the people share out the rows: a
perfect matching of people to rows. If there are more people than rows, some were left out, and
whoever may have been left out of a release may have any value, as far as that release goes. Nobody
is certain who may have been left out of all of them.

A value is kept for a person if it lies in some matching of each release, given the values that are
kept for all others; what is not kept in one release may rule out values in another, and so on until
nothing changes. No value that occurs in a world is ever removed, so whoever is left with a single
value is certain. The reverse does not hold: releases are looked at one at a time, so there may be
values left that occur in no world. Every figure is a lower bound.

One matching is known from the start, the truth. By Berge's theorem, another link lies in some
matching exactly if it lies on a cycle that alternates between links of the known matching and
others: if both of its ends lie in one strongly connected component. People whom the same boxes
cover in every release cannot be told apart, and are treated as one node; equal values of a box
likewise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wideberth.core.codes import Codes
from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Groups
from wideberth.distances.trees import expand_rows
from wideberth.labels import BoxCover

#: How many links of a kind of people, a box and a value are followed in a release. Boxes that
#: overlap count together; the smaller ones come first, and the others rule nothing out.
LINKS = 5_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class PossibleValues:
    """The values that people may still have."""

    # which kind of people each person is of: those whom the same boxes cover in each release
    member: Ints
    start: Ints  # For kind ``k``, the values ``codes[start[k]:start[k + 1]]`` are left, ascending.
    codes: Ints
    # which kinds are in some release for sure; others may have values that are not listed
    present: Bools

    def certain(self, truth: Codes) -> Bools:
        """Return for whom a single value is left, which is theirs by `truth`."""
        single = (np.diff(self.start) == 1) & self.present
        only = np.full(len(single), -1)
        only[single] = self.codes[self.start[:-1][single]]
        return np.asarray(only[self.member] == truth)


def deduce(
    coverings: Sequence[BoxCover],
    groups: Sequence[Groups],
    truth: Codes,
    *,
    most: int = LINKS,
) -> PossibleValues | None:
    """Return the values that are left for everybody, or None if there are too many to follow.

    >>> one = BoxCover(victims=np.arange(4), of=4, situation=np.array([0, 0, 1, 1]),
    ...     start=np.array([0, 1, 2]), boxes=np.array([0, 1]), exact=True)
    >>> two = BoxCover(victims=np.arange(4), of=4, situation=np.array([0, 1, 1, 1]),
    ...     start=np.array([0, 1, 2]), boxes=np.array([0, 1]), exact=True)
    >>> values = [Groups.of([[0, 1], [1, 2]], 3), Groups.of([[0], [1, 1, 2]], 3)]
    >>> deduce([one, two], values, np.array([0, 1, 1, 2])).certain(np.array([0, 1, 1, 2])).tolist()
    [True, True, False, False]
    """
    # Everybody must have been looked at in the coverings. most: how many links to follow in a
    # release.
    situations = np.stack([covering.situation for covering in coverings], axis=1)
    lines, member, people = np.unique(situations, axis=0, return_inverse=True, return_counts=True)
    member = member.reshape(-1)
    clusters = [
        _BoxComponents.find(covering, its, at, people)
        for covering, its, at in zip(coverings, groups, lines.T, strict=True)
    ]
    faced = [covering.pooled(its) for covering, its in zip(coverings, groups, strict=True)]
    candidates = _candidates(faced, lines, np.stack([one.full for one in clusters], axis=1), most)
    if candidates is None:
        return None
    owner, codes = candidates
    width = groups[0].width
    keys = owner * width + codes
    held, there = _found(member * width + truth, keys)
    supply = np.bincount(held[there], minlength=len(keys))
    graphs = [
        _Graph.of(cluster, its, people, keys, supply, most)
        for cluster, its in zip(clusters, groups, strict=True)
    ]
    alive = np.ones(len(codes), dtype=bool)
    present = np.zeros(len(lines), dtype=bool)
    settled = 0
    while settled < len(graphs):  # until each graph in turn has nothing more to remove
        for graph in graphs:
            kept, free = graph.kept(alive, owner)
            present |= ~free
            settled = settled + 1 if kept.sum() == alive.sum() else 0
            alive = kept
            if settled >= len(graphs):
                break
    left = np.concatenate(([0], np.cumsum(np.bincount(owner[alive], minlength=len(lines)))))
    return PossibleValues(member=member, start=left, codes=codes[alive], present=present)


@dataclass(frozen=True, eq=False, kw_only=True)
class _BoxComponents:
    """Clusters of boxes that cover the same people, directly or by way of others."""

    # If a cluster has as many rows as people, all of them are in the release. If it has fewer, some
    # were left out, and nobody is told who.

    whose: Ints  # pairs of a kind of people
    box: Ints  # and a box that covers it
    of: Ints  # the cluster of each kind
    inside: Bools  # kinds of people whom some box covers
    rows: Ints  # of each cluster
    people: Ints

    @classmethod
    def find(
        cls, covering: BoxCover, groups: Groups, situation: Ints, people: Ints
    ) -> _BoxComponents:
        """Find the clusters of a release."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        kinds, inside = len(situation), np.flatnonzero(situation >= 0)
        lengths, at = expand_rows(covering.start, situation[inside])
        whose, box = np.repeat(inside, lengths), covering.boxes[at]
        links = (np.ones(len(whose), dtype=np.int8), (whose, kinds + box))
        shape = (kinds + len(groups),) * 2
        many, part = connected_components(coo_array(links, shape), directed=False)
        cluster = part.astype(np.int64)
        used = np.unique(box)
        return cls(
            whose=whose,
            box=box,
            of=cluster[:kinds],
            inside=situation >= 0,
            rows=_summed(cluster[kinds + used], groups.sizes[used], many),
            people=_summed(cluster[inside], people[inside], many),
        )

    @property
    def full(self) -> Bools:
        """Which kinds of people are in the release for sure."""
        return self.inside & np.equal(self.rows, self.people)[self.of]


def _candidates(
    faced: Sequence[Groups], lines: Ints, full: Bools, most: int
) -> tuple[Ints, Ints] | None:
    """Return the values that each kind of people may have, or None if there are too many."""
    # Those are what it faces in each release that it is in for sure; of a kind that may have been
    # left out of all, whatever it faces anywhere.
    never = np.iinfo(np.int64).max
    many = np.stack(
        [np.where(at < 0, 0, its.distinct[at]) for its, at in zip(faced, lines.T, strict=True)],
        axis=1,
    )
    fewest = np.where(full, many, never).argmin(axis=1)
    best = fewest[:, None] == np.arange(len(faced))
    take = np.where(full.any(axis=1, keepdims=True), best, lines >= 0)
    if many[take].sum() > most:
        return None
    owners, values = [], []
    for at, its in enumerate(faced):
        some = np.flatnonzero(take[:, at])
        lengths, entries = expand_rows(its.start, lines[some, at])
        owners.append(np.repeat(some, lengths))
        values.append(its.codes[entries])
    owner, codes = np.concatenate(owners), np.concatenate(values)
    for at, its in enumerate(faced):
        sure = full[owner, at]
        fits = ~sure | (its.lookup(np.where(sure, lines[owner, at], 0), codes) > 0)
        owner, codes = owner[fits], codes[fits]
    width = faced[0].width
    keys = np.unique(owner * width + codes)
    return keys // width, keys % width


@dataclass(frozen=True, eq=False, kw_only=True)
class _Graph:
    """A release as a graph: links of candidates (kinds of people with a value) and cells."""

    # A cell is a value in a box, as often as the box has it.

    candidate: Ints  # of each link
    kind: Ints
    cell: Ints
    matched: Bools  # whether the known matching uses the link
    nodes: int  # kinds of people, cells, clusters
    room: tuple[Ints, Ints, Bools]  # a kind, its cluster's node, whether some of it were left out
    free: Bools  # kinds of people of whom the release says nothing

    @classmethod
    def of(
        cls,
        clusters: _BoxComponents,
        groups: Groups,
        people: Ints,
        keys: Ints,
        supply: Ints,
        most: int,
    ) -> _Graph:
        """Link candidates and cells, and find a matching in which everybody has the own value."""
        kinds, cells, many = len(people), len(groups.codes), len(clusters.rows)
        at, whose, box = clusters.of, clusters.whose, clusters.box
        links = _summed(at[whose], groups.distinct[box], many)
        order = np.argsort(links, kind="stable")
        follow = np.zeros(many, dtype=bool)
        follow[order] = np.cumsum(links[order]) <= most
        pairs = follow[at[whose]]
        lengths, cell = expand_rows(groups.start, box[pairs])
        kind = np.repeat(whose[pairs], lengths)
        candidate, there = _found(kind * groups.width + groups.codes[cell], keys)
        candidate, kind, cell = candidate[there], kind[there], cell[there]
        flow = _flow(candidate, cell, supply, groups.counts)
        # Every row is somebody's: a cluster with rows that nobody has, by the truth, tells nothing.
        follow &= _summed(at[kind], flow, many) == clusters.rows
        good = follow[at[kind]]
        some = np.flatnonzero(clusters.inside & (follow & (clusters.people > clusters.rows))[at])
        out = people > _summed(kind, flow, kinds)
        return cls(
            candidate=candidate[good],
            kind=kind[good],
            cell=kinds + cell[good],
            matched=flow[good] > 0,
            nodes=kinds + cells + many,
            room=(some, kinds + cells + at[some], out[some]),
            free=~(clusters.inside & follow[at]),
        )

    def kept(self, alive: Bools, owner: Ints) -> tuple[Bools, Bools]:
        """Return which candidates lie in some matching, and which kinds may have been left out."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        links = alive[self.candidate]
        candidate, kind, cell = (part[links] for part in (self.candidate, self.kind, self.cell))
        matched = self.matched[links]
        some, outside, out = self.room
        one = np.concatenate([kind, cell[matched], some, outside[out]])
        other = np.concatenate([cell, kind[matched], outside, some[out]])
        graph = coo_array((np.ones(len(one), dtype=np.int8), (one, other)), (self.nodes,) * 2)
        _, part = connected_components(graph, directed=True, connection="strong")
        fits = np.zeros(len(alive), dtype=bool)
        fits[candidate[matched | (part[kind] == part[cell])]] = True
        free = self.free.copy()
        free[some[out | (part[some] == part[outside])]] = True  # who may have been left out
        return alive & (fits | free[owner]), free


def _found(wanted: Ints, keys: Ints) -> tuple[Ints, Bools]:
    """Look for numbers among ascending ones: where they are, and whether they are there."""
    if not len(keys):
        return np.zeros_like(wanted), np.zeros(len(wanted), dtype=bool)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return at, keys[at] == wanted


def _summed(owner: Ints, numbers: Ints, many: int) -> Ints:
    """Add up numbers by their owners."""
    return np.bincount(owner, weights=numbers, minlength=many).astype(np.int64)


def _flow(candidate: Ints, cell: Ints, supply: Ints, counts: Ints) -> Ints:
    """Return by how many people the known matching uses each link."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    flow = np.zeros(len(candidate), dtype=np.int64)
    used = np.flatnonzero(supply[candidate])
    if not len(used):
        return flow
    givers, giver = np.unique(candidate[used], return_inverse=True)
    takers, taker = np.unique(cell[used], return_inverse=True)
    source, sink = 0, 1 + len(givers) + len(takers)
    giver, taker = 1 + giver, 1 + len(givers) + taker
    ends = 1 + np.arange(sink - 1)
    one = np.concatenate([np.full(len(givers), source), giver, ends[len(givers) :]])
    other = np.concatenate([ends[: len(givers)], taker, np.full(len(takers), sink)])
    capacity = np.concatenate([supply[givers], supply[candidate[used]], counts[takers]])
    network = coo_array((capacity.astype(np.int32), (one, other)), (sink + 1,) * 2).tocsr()
    found = maximum_flow(network, source, sink).flow
    flow[used] = np.asarray(found[giver, taker]).reshape(-1)
    return flow
