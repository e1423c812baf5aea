"""How many rows groups have, where entries of a table may stand for several rows each.

An entry is a group of its own, of equal rows. So to count is to roll up: the histograms of entries
that fall together are added up, as those of groups are.
"""

from __future__ import annotations

import numpy as np

from wideberth.core.codes import Column
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Partition


def tally(partition: Partition, column: Column | None, weights: Ints | None) -> Groups:
    """Count the rows of each group, by the codes of a column if there is one.

    >>> halves = Partition(np.array([0, 1, 0], dtype=np.int32), 2)
    >>> tally(halves, None, None).sizes.tolist()
    [2, 1]
    >>> tally(halves, None, np.array([5, 1, 3])).sizes.tolist()
    [8, 1]
    """
    if weights is None:
        return partition.sizes() if column is None else partition.histograms(column)
    entries = len(weights)
    apart = Groups(
        start=np.arange(entries + 1),
        codes=np.zeros(entries, np.int64) if column is None else column.codes.astype(np.int64),
        counts=weights,
        width=1 if column is None else column.domain.size,
    )
    return rolled(apart, partition)


def rolled(groups: Groups, partition: Partition) -> Groups:
    """Add up the histograms of groups that fall together."""
    if groups.width == 1:  # sizes
        counts = np.bincount(partition.labels, groups.counts, partition.count).astype(np.int64)
        start = np.arange(partition.count + 1)
        return Groups(start=start, codes=np.zeros_like(counts), counts=counts, width=1)
    key = partition.labels[groups.owner].astype(np.int64) * groups.width + groups.codes
    present, position = np.unique(key, return_inverse=True)
    counts = np.bincount(position, weights=groups.counts).astype(np.int64)
    owner, codes = np.divmod(present, groups.width)
    start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=partition.count))))
    return Groups(start=start, codes=codes, counts=counts, width=groups.width)
