"""From groups to published values: what a release says of each quasi-identifier.

A group publishes one value per quasi-identifier that covers all of its rows: an interval, two
bounds, a node of a hierarchy, or a set. Nothing here looks at a row: a group's distinct codes, and
the ends or nodes of each code, are all it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from wideberth.algorithms.mondrian.arrangement import GroupBoxes
from wideberth.core.codes import Codes, Column, compress
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Partition
from wideberth.core.threads import map_threads
from wideberth.hierarchy import Hierarchy
from wideberth.hierarchy.quasi import Quasi
from wideberth.labels.parse import OR_MISSING, STAR, TO
from wideberth.release.align import interval_ends, values_as_text
from wideberth.release.styles import Recoding, choose_recodings

_BITS = 62  # a set of so many codes is one number
_LETTERS = 20  # characters of a set, for each value that it may list


@dataclass(frozen=True, eq=False)
class RecodedColumns:
    """What is published of the quasi-identifiers, and what it cost."""

    # the published columns of each quasi-identifier, row by row
    columns: Mapping[str, list[pl.Series]]
    # The normalized certainty penalty: the mean over the rows of the share of the domain that the
    # row's published value spans.
    losses: Mapping[str, float]
    loss: float  # the mean of these by weight
    # How many rows are published as ``*``, because their set would be too long; only columns with
    # such rows.
    starred: Mapping[str, int] = field(default_factory=dict)


def recode(
    quasis: Sequence[Quasi],
    partition: Partition,
    how: Mapping[str, Recoding] | None = None,
    order: Ints | None = None,
    boxes: GroupBoxes | None = None,
) -> RecodedColumns:
    """Publish one value per group for each quasi-identifier.

    >>> from wideberth.hierarchy.quasi import read_quasi
    >>> quasis = [read_quasi(pl.Series("age", [25, 34, 61])),
    ...           read_quasi(pl.Series("sex", ["m", "f", "f"]))]
    >>> recoded = recode(quasis, Partition(np.array([0, 0, 1], dtype=np.int32), 2))
    >>> [series.to_list() for columns in recoded.columns.values() for series in columns]
    [['25..34', '25..34', '61'], ['{f|m}', '{f|m}', 'f']]
    """
    # order: the rows as they are to be published. boxes: the lowest and highest codes of every
    # group, if they are known already.
    how = how or choose_recodings(quasis)
    sizes = np.bincount(partition.labels, minlength=partition.count)
    labels = partition.labels if order is None else partition.labels[order]
    rows = _GroupRows(partition)

    def one(number: int) -> tuple[list[pl.Series], float, int]:
        quasi = quasis[number]
        style = how[quasi.name]
        ends = None if boxes is None else (boxes[0][:, number], boxes[1][:, number])
        held = _GroupCodes(rows, quasi, ends)
        published, extent, *starred = _RECODERS[style.recoding](quasi, held, style)
        names = style.columns(quasi)
        series = [v.by_row(labels).alias(name) for name, v in zip(names, published, strict=True)]
        extent = np.where(held.mixed, 1.0, np.clip(extent, 0.0, 1.0))
        hidden = int(sizes[starred[0]].sum()) if starred else 0
        return series, float(extent @ sizes / sizes.sum()), hidden

    recoded = dict(zip((q.name for q in quasis), map_threads(one, range(len(quasis))), strict=True))
    columns = {name: series for name, (series, _, _) in recoded.items()}
    losses = {name: loss for name, (_, loss, _) in recoded.items()}
    starred = {name: rows for name, (_, _, rows) in recoded.items() if rows}
    weights = [quasi.weight for quasi in quasis]
    loss = float(np.average(list(losses.values()), weights=weights))
    return RecodedColumns(columns, losses, loss, starred)


def long_set_cautions(
    starred: Mapping[str, int], how: Mapping[str, Recoding], rows: int
) -> list[str]:
    """Warn of columns whose sets would be too long to list, as they have no hierarchy.

    >>> long_set_cautions({"town": 37}, {"town": Recoding("set")}, 100)[0].partition(";")[0]
    "in 37% of rows '*' is published for column 'town'"
    """
    return [
        f"in {100 * many / rows:.3g}% of rows '*' is published for column '{name}'; its set would "
        f"list more than {how[name].max_set:,} values, or {_letters(how[name]):,} characters: give "
        "the column a hierarchy (wideberth hierarchy build; --mask for codes), or drop it if it is "
        "free text"
        for name, many in starred.items()
    ]


@dataclass(frozen=True, eq=False)
class PublishedValues:
    """What each group, or each row, publishes: one of a few values."""

    values: pl.Series  # texts may occur twice
    which: Ints | Codes  # the value of each group

    @classmethod
    def of_keys(cls, keys: Ints, size: int, values: Callable[[Ints], pl.Series]) -> PublishedValues:
        """Compute the values of distinct keys below `size`: groups are many, keys are few."""
        distinct, which = compress(keys, size)
        return cls(values(distinct), which)

    def by_row(self, labels: Codes) -> pl.Series:
        """Publish the values row by row."""
        # Each text is held once, in an order that tells nothing, and none that no group publishes:
        # a file would keep it.
        used, which = compress(self.which, len(self.values))
        values = self.values.alias("")  # polars may take a name such as ^a.*$ for a pattern
        values = values.gather(used)
        if values.dtype == pl.String:
            values = values.cast(pl.Enum(values.drop_nulls().unique().sort()))
        return values.gather(which[labels])


@dataclass(frozen=True, eq=False)
class _GroupCodes:
    """The codes that each group holds, missing ones apart."""

    rows: _GroupRows
    quasi: Quasi
    ends: GroupBoxes | None  # the lowest and highest code of each group, if known

    @property
    def start(self) -> Ints:
        """Where the rows of each group begin."""
        return self.rows.start

    @cached_property
    def codes(self) -> Codes:
        """The codes of the rows, sorted by group; -1 for missing values."""
        codes = self.quasi.codes[self.rows.sorted]
        if self.quasi.domain.missing is None:
            return codes
        return np.where(codes == self.quasi.domain.missing, np.int32(-1), codes)

    @property
    def known(self) -> GroupBoxes | None:
        """The ends, where they are known and none of them stands for a missing value."""
        return self.ends if self.quasi.domain.missing is None else None

    @cached_property
    def highs(self) -> Ints:
        """The last code of each group; 0 where every value is missing."""
        if self.known is not None:
            return self.known[1].astype(np.int64)
        return np.maximum(np.maximum.reduceat(self.codes, self.start), 0).astype(np.int64)

    @cached_property
    def lows(self) -> Ints:
        """The first code of each group that is not missing; 0 where there is none."""
        if not self.lacking.any():
            return self._lowest
        # As unsigned numbers, -1 is the largest of all.
        lows = np.minimum.reduceat(self.codes.view(np.uint32), self.start)
        return np.where(self.absent, 0, lows).astype(np.int64)

    @cached_property
    def _lowest(self) -> Ints:
        if self.known is not None:
            return self.known[0].astype(np.int64)
        return np.minimum.reduceat(self.codes, self.start).astype(np.int64)

    @cached_property
    def lacking(self) -> Bools:
        """Whether some of the group's rows are missing."""
        return self._lowest < 0

    @cached_property
    def absent(self) -> Bools:
        """Whether all of the group's rows are missing."""
        if not self.lacking.any():
            return self.lacking
        return np.maximum.reduceat(self.codes, self.start) < 0

    @cached_property
    def mixed(self) -> Bools:
        """Whether some of the group's rows are missing, but not all."""
        return self.lacking & ~self.absent

    def label(self, said: PublishedValues) -> PublishedValues:
        """Add to the texts what must be said of missing values."""
        if not self.mixed.any() and not self.absent.any():
            return said
        few = len(said.values)
        nothing = pl.Series([None], dtype=pl.String)
        values = pl.concat([said.values, said.values + OR_MISSING, nothing])
        which = np.where(self.absent, 2 * few, said.which + few * self.mixed)
        return PublishedValues(values, which)


_Published: TypeAlias = (
    tuple[list[PublishedValues], Floats] | tuple[list[PublishedValues], Floats, Bools]
)


def _interval(quasi: Quasi, held: _GroupCodes, style: Recoding) -> _Published:
    at = interval_ends(quasi, style.grid)
    lows, highs = held.lows, held.highs
    size = quasi.domain.size

    def texts(keys: Ints) -> pl.Series:
        low, high = at.low_texts.gather(keys // size), at.high_texts.gather(keys % size)
        return low.zip_with(low == high, low + TO + high)

    said = PublishedValues.of_keys(lows * size + highs, size * size, texts)
    return [held.label(said)], at.high_places[highs] - at.low_places[lows]


def _bounds(quasi: Quasi, held: _GroupCodes, style: Recoding) -> _Published:
    at = interval_ends(quasi, style.grid)
    lows, highs = held.lows, held.highs
    extent = at.high_places[highs] - at.low_places[lows]
    published = []
    for ends_at, which in ((at.lows, lows), (at.highs, highs)):
        # Whole numbers of a column of floats stay floats: next month's may not be whole.
        whole = quasi.floats and ends_at.dtype.is_integer()
        values = ends_at.cast(pl.Float64) if whole else ends_at
        if quasi.domain.missing is not None:
            values = pl.concat([values, pl.Series([None], dtype=values.dtype)])
            which = np.where(held.absent, len(ends_at), which)
        published.append(PublishedValues(values, which))
    lacking = (held.mixed | held.absent).astype(np.int64)
    return [*published, PublishedValues(pl.Series([False, True]), lacking)], extent


def _hierarchy(quasi: Quasi, held: _GroupCodes, style: Recoding) -> _Published:
    tree = quasi.tree
    assert tree is not None  # noqa: S101 - `choose_recodings` has seen to it
    # One more for missing values, which must not count as the first or the last node.
    first, last = (np.append(quasi.nodes, other) for other in (len(tree), -1))
    if held.known is not None and (np.diff(quasi.nodes) >= 0).all():  # codes in leaf order
        low, high = first[held.lows], last[held.highs]
    else:
        low = np.where(held.absent, 0, np.minimum.reduceat(first[held.codes], held.start))
        high = np.where(held.absent, 0, np.maximum.reduceat(last[held.codes], held.start))
    nodes = _common_ancestors(tree, low, high)
    said = PublishedValues(pl.Series(tree.labels, dtype=pl.String), nodes)
    leaves = tree.leaf_counts
    extent = (leaves[nodes] - 1) / max(int(leaves[0]) - 1, 1)
    return [held.label(said)], np.where(held.absent, 0.0, extent)


def _set(quasi: Quasi, held: _GroupCodes, style: Recoding) -> _Published:
    values = quasi.domain.values
    assert values is not None  # noqa: S101 - a column that is not all missing has values
    if values.dtype == pl.Boolean:
        values = pl.Series(quasi.domain.texts, dtype=pl.String)
    plain = values_as_text(values)
    # Quotes tell a value from the marks of the set around it.
    marked = plain.str.contains(r'[{}|"\r\n]')
    quoted = '"' + plain.str.replace_all('"', '""') + '"'
    inside = quoted.zip_with(marked, plain).to_list()
    which, sets = _distinct_sets(quasi, held)

    def label(codes: list[int]) -> str | None:
        """Return what is published of a set; None if that would be too long."""
        if len(codes) == 1:  # stands for itself, however long it is
            return str(plain[codes[0]])
        if len(codes) > style.max_set:
            return None
        text = "{" + "|".join(map(inside.__getitem__, codes)) + "}"
        return text if len(text) <= _letters(style) else None

    texts = [label(codes) for codes in sets]
    endless = np.array([text is None for text in texts])
    sizes = np.array([len(codes) for codes in sets])
    extent = np.maximum(sizes - 1, 0) / max(quasi.domain.known - 1, 1)
    extent[endless] = 1.0
    said = PublishedValues(pl.Series(texts, dtype=pl.String).fill_null(STAR), which)
    return [held.label(said)], extent[which], endless[which]


def _letters(style: Recoding) -> int:
    """Return how many characters a published set may have."""
    return _LETTERS * style.max_set


def _distinct_sets(quasi: Quasi, held: _GroupCodes) -> tuple[Ints, list[list[int]]]:
    """Return the sets of codes that groups hold, and which of them each group holds."""
    known = quasi.domain.known
    if known <= _BITS:
        bit = np.append(np.int64(1) << np.arange(known), 0)
        masks = np.bitwise_or.reduceat(bit[held.codes], held.start)
        distinct, which = np.unique(masks, return_inverse=True)
        members = [
            [code for code in range(known) if mask >> code & 1] for mask in distinct.tolist()
        ]
        return which, members
    groups = held.rows.partition.histograms(Column(quasi.codes, quasi.domain))
    codes = groups.codes.tolist()
    number: dict[tuple[int, ...], int] = {}
    which = np.empty(len(groups), dtype=np.int64)
    for group, (begin, end) in enumerate(pairwise(groups.start.tolist())):
        if codes[end - 1] == quasi.domain.missing:
            end -= 1
        which[group] = number.setdefault(tuple(codes[begin:end]), len(number))
    return which, [list(members) for members in number]


_RECODERS: dict[str, Any] = {
    "interval": _interval,
    "bounds": _bounds,
    "hierarchy": _hierarchy,
    "set": _set,
}


@dataclass(frozen=True, eq=False)
class _GroupRows:
    """The rows of each group, found when somebody asks."""

    partition: Partition

    @cached_property
    def start(self) -> Ints:
        """Where the rows of each group begin, when rows are sorted by group."""
        sizes = np.bincount(self.partition.labels, minlength=self.partition.count)
        return np.concatenate(([0], np.cumsum(sizes)[:-1]))

    @cached_property
    def sorted(self) -> Ints:
        """The rows sorted by group."""
        # To sort whole numbers that hold label and row is faster than any argsort.
        rows = len(self.partition.labels)
        bits = max(rows - 1, 1).bit_length()
        keys = self.partition.labels.astype(np.int64) << bits
        keys |= np.arange(rows)
        keys.sort()
        keys &= (1 << bits) - 1
        return keys


def _common_ancestors(tree: Hierarchy, low: Ints, high: Ints) -> Ints:
    """Return the lowest nodes that have both nodes below them; `low` comes no later than `high`."""
    # In preorder the nodes below a node are consecutive, so what covers the first and the last of
    # several nodes covers all of them.
    end = _last_below(tree)
    nodes = low
    for _ in range(tree.height):
        nodes = np.where(end[nodes] < high, tree.parent[nodes], nodes)
    return nodes


def _last_below(tree: Hierarchy) -> Ints:
    """Return the last node below each node; a leaf is its own."""
    last = list(range(len(tree)))
    above = tree.parent.tolist()
    for node in range(len(tree) - 1, 0, -1):
        last[above[node]] = max(last[above[node]], last[node])
    return np.array(last, dtype=np.int64)
