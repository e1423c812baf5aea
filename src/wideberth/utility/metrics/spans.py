"""What one published label amounts to: how much of the domain it spans, and on which level it is.

There are few labels, however many rows: a metric asks once for each and then counts rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import polars as pl

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.hierarchy.tree import Nodes
from wideberth.labels import PublishedQuasi
from wideberth.labels.parse import OR_MISSING, TO, parse_number

#: Letters of a number that a float always gives back as it was.
_SURE = 15


def mean_over_rows(axis: PublishedQuasi, figures: Floats, absent: int, of_absent: float) -> float:
    """Return the mean over all rows of what their labels are worth; absent rows have none."""
    total = float(figures @ axis.counts) + absent * of_absent
    return total / (int(axis.counts.sum()) + absent)


def covered_amounts(axis: PublishedQuasi, amounts: Floats) -> Floats:
    """Add up, for each label, the amounts of the atoms that it covers, a missing value included."""
    # amounts: one for each atom, and one for a missing value, last.
    running = np.concatenate(([0.0], np.cumsum(amounts[:-1])))
    runs = running[axis.last + 1] - running[axis.first]
    owner = np.repeat(np.arange(len(axis.texts)), np.diff(axis.start))
    return np.bincount(owner, runs, len(axis.texts)) + axis.missing * amounts[-1]


def counts(axis: PublishedQuasi) -> Ints:
    """Count the atoms that each label covers, a missing value apart."""
    amounts = np.append(np.ones(len(axis.atoms)), 0.0)
    return covered_amounts(axis, amounts).round().astype(np.int64)


def atoms_covered(axis: PublishedQuasi) -> Floats:
    """Count the atoms that each label covers; a missing value is one if the original has any."""
    amounts = np.ones(len(axis.atoms) + 1)
    amounts[-1] = float(has_missing(axis))
    return np.maximum(covered_amounts(axis, amounts), 1)


def has_missing(axis: PublishedQuasi) -> bool:
    """Return whether people's values can be missing."""
    if axis.histogram is not None:
        return bool(axis.histogram[-1])
    return bool((axis.missing & ~axis.everything).any())


def extents(axis: PublishedQuasi) -> Floats:
    """Return the share of the domain that each label spans: 0 for one value, 1 for all."""
    # An interval of numbers or dates spans its length over that of the domain; a node of a
    # hierarchy the leaves under it but one, over all leaves but one; a set likewise its values.
    # That a value may be missing adds nothing.
    many = counts(axis)
    extent = np.maximum(many - 1, 0) / max(len(axis.atoms) - 1, 1)
    if axis.numeric and len(axis.places):
        length = float(axis.places[-1] - axis.places[0])
        spans = _lengths(axis) / length if length > 0 else np.zeros(len(axis.texts))
        extent = np.where(_sets(axis), extent, spans)
    if axis.tree is not None:
        nodes, leaves = nodes_of(axis), axis.tree.leaf_counts
        below = (leaves[nodes] - 1) / max(int(leaves[0]) - 1, 1)
        extent = np.where(nodes >= 0, below, extent)
    extent = np.where(many == 0, 0.0, np.where(axis.missing, 1.0, extent))
    return np.where(axis.everything, 1.0, np.clip(extent, 0.0, 1.0))


def nodes_of(axis: PublishedQuasi) -> Ints:
    """Return the node of the hierarchy that each label names; -1 where it names none."""
    # Where several nodes have that name, it is the lowest that has what the label covers below it.
    tree = axis.tree
    assert tree is not None  # noqa: S101 - asked only where there is one
    named: dict[str, list[int]] = defaultdict(list)
    for node, name in enumerate(tree.labels):
        named[name].append(node)
    leaf, ends = _atom_nodes(axis), tree.ends
    found = np.full(len(axis.texts), -1)
    for label, text in enumerate(axis.texts):
        runs = slice(axis.start[label], axis.start[label + 1])
        if text is None or runs.start == runs.stop:
            continue
        low, high = leaf[axis.first[runs].min()], leaf[axis.last[runs].max()]
        named_so = [*named.get(text, ()), *named.get(text.removesuffix(OR_MISSING), ())]
        fits = [node for node in named_so if node <= low and high < ends[node]]
        found[label] = max(fits, key=lambda node: tree.depth[node], default=-1)
    found[axis.everything] = 0
    return found


def label_levels(axis: PublishedQuasi) -> tuple[Ints, int | None]:
    """Return the level of each label, and the one level on which all are; None if there is none."""
    # A level is a number of steps up from the values; -1 where a label is no node. ``*`` for
    # everything is on the highest one, and may stand beside any other.
    tree = axis.tree
    assert tree is not None  # noqa: S101 - asked only where there is one
    nodes, leaf = nodes_of(axis), _atom_nodes(axis)
    told = np.diff(axis.start) > 0
    told[axis.everything] = False
    some = np.flatnonzero(told)
    top = np.where(axis.everything, tree.height, 0)
    if not len(some):  # nothing but * and missing values
        return top, tree.height if axis.everything.any() else 0
    base, node = leaf[axis.first[axis.start[some]]], nodes[some]
    for level in range(tree.height + 1):
        if _same(tree.labels, tree.climb(base, level), node):
            return np.where(axis.everything, tree.height, level), level
    levels = np.where(told, -1, top)
    levels[some] = np.where(node >= 0, tree.depth[base] - tree.depth[node], -1)
    return levels, None


def _same(labels: tuple[str, ...], nodes: Nodes, others: Nodes) -> bool:
    """Return whether nodes have the labels of others; -1 is none."""
    pairs = zip(nodes.tolist(), others.tolist(), strict=True)
    return all(b >= 0 and labels[a] == labels[b] for a, b in pairs)


def _atom_nodes(axis: PublishedQuasi) -> Ints:
    tree = axis.tree
    assert tree is not None  # noqa: S101 - asked only where there is one
    histogram = np.zeros(len(axis.atoms), dtype=np.int64)
    texts = Domain(name=axis.name, histogram=histogram, values=axis.atoms).texts
    return tree.nodes_of(texts).astype(np.int64)


def _lengths(axis: PublishedQuasi) -> Floats:
    """Return how long each interval is: as it is written, or else from value to value."""
    # Ends that lie on a grid are seldom values of the table.
    texts = pl.Series(axis.texts, dtype=pl.String).str.strip_suffix(OR_MISSING)
    ends = texts.str.split_exact(TO, 1).struct.unnest()
    kind = axis.atoms.dtype
    low, high = (
        end.str.to_date("%Y-%m-%d", strict=False).to_physical().cast(pl.Float64)
        if kind.is_temporal()
        else end.cast(pl.Float64, strict=False)
        for end in ends
    )
    lengths = (high - low).fill_null(pl.Series(axis.spans())).to_numpy().copy()
    for label, exact in _of_long_ends(ends):
        lengths[label] = exact
    return lengths


def _of_long_ends(ends: pl.DataFrame) -> Iterator[tuple[int, float]]:
    """Return how long the intervals are whose ends have more digits than a float does."""
    low, high = ends
    long = (low.str.len_chars() > _SURE) | (high.str.len_chars() > _SURE)
    for label in (long & low.is_not_null() & high.is_not_null()).arg_true().to_list():
        least, most = parse_number(low[label]), parse_number(high[label])
        if least is not None and most is not None:
            yield label, float(most.high - least.low)


def _sets(axis: PublishedQuasi) -> Bools:
    """Return which labels list their values instead of giving the first and the last."""
    braces = np.array([text is not None and text.startswith("{") for text in axis.texts])
    return braces | (np.diff(axis.start) > 1)
