"""Histograms of groups against counting by hand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth.core.codes import Column, Domain, encode
from wideberth.core.groups import Groups, Partition, group_alike

WIDTH = 6


lists_of_codes = st.lists(
    st.lists(st.integers(0, WIDTH - 1), min_size=1, max_size=9), min_size=1, max_size=5
)


def entries(groups: Groups) -> list[list[tuple[int, int]]]:
    """Return the code and count of every entry, group by group."""
    pairs = list(zip(groups.codes.tolist(), groups.counts.tolist(), strict=True))
    return [pairs[a:b] for a, b in zip(groups.start[:-1], groups.start[1:], strict=True)]


def columns_of(codes: list[int], width: int) -> Column:
    histogram = np.bincount(codes, minlength=width)
    return Column(np.array(codes, dtype=np.int32), Domain(name="s", histogram=histogram))


@given(lists_of_codes)
def test_counts(lists: list[list[int]]) -> None:
    groups = Groups.of(lists, WIDTH)
    counters = [Counter(codes) for codes in lists]
    assert entries(groups) == [sorted(c.items()) for c in counters]
    assert groups.sizes.tolist() == [len(codes) for codes in lists]
    assert groups.distinct.tolist() == [len(c) for c in counters]
    assert groups.largest.tolist() == [max(c.values()) for c in counters]
    assert groups.descending.tolist() == [
        n for c in counters for n in sorted(c.values(), reverse=True)
    ]
    assert [groups.rows(g).tolist() for g in range(len(groups))] == [sorted(g) for g in lists]
    assert groups.min(groups.codes).tolist() == [min(g) for g in lists]


def test_descending_when_counts_are_too_large_for_a_joint_key() -> None:
    groups = Groups(
        start=np.array([0, 3, 5]),
        codes=np.array([0, 1, 2, 0, 3]),
        counts=np.array([1, 2**61, 7, 2, 9]),
        width=4,
    )
    assert groups.descending.tolist() == [2**61, 7, 1, 9, 2]


@given(lists_of_codes, st.data())
def test_within_stays_in_its_group(lists: list[list[int]], data: st.DataObject) -> None:
    groups = Groups.of(lists, WIDTH)
    many = len(groups.codes)
    code = st.integers(0, WIDTH - 1)
    ends = data.draw(st.lists(st.tuples(code, code).map(sorted), min_size=many, max_size=many))
    first, last = np.array(ends).T
    counted = [
        sum(a <= code <= b for code in lists[owner])
        for owner, (a, b) in zip(groups.owner, ends, strict=True)
    ]
    assert groups.within(first, last).tolist() == counted


@given(lists_of_codes)
def test_lookup(lists: list[list[int]]) -> None:
    groups = Groups.of(lists, WIDTH)
    owner, codes = (a.ravel() for a in np.indices((len(lists), WIDTH)))
    found = groups.lookup(owner, codes).tolist()
    assert found == [lists[g].count(c) for g in range(len(lists)) for c in range(WIDTH)]
    everyone = np.arange(len(lists))
    assert groups.lookup(everyone, 2).tolist() == [codes.count(2) for codes in lists]


@given(lists_of_codes, st.integers(1, 7))
def test_blocks_are_the_groups_in_order(lists: list[list[int]], size: int) -> None:
    groups = Groups.of(lists, WIDTH, population=list(range(len(lists))))
    blocks = list(groups.blocks(size))
    assert [group for block in blocks for group in entries(block)] == entries(groups)
    assert [p for block in blocks for p in block.population] == list(range(len(lists)))
    assert all(block.width == WIDTH and len(block) for block in blocks)
    assert entries(groups[1:3]) == entries(groups)[1:3]


rows = st.lists(
    st.tuples(st.sampled_from(["x", "y", None]), st.sampled_from([3, 1, None]), st.integers(0, 3)),
    min_size=1,
    max_size=20,
)


@given(rows)
def test_partition_and_histograms(table: list[tuple[str | None, int | None, int]]) -> None:
    first, second, sensitive = zip(*table, strict=True)
    quasi = [
        encode(pl.Series("a", list(first), dtype=pl.String)),
        encode(pl.Series("b", list(second), dtype=pl.Int64)),
    ]
    partition = Partition.by_equality(quasi, len(table))
    keys = [row[:2] for row in table]
    # Value order, a missing value last.
    ordered = sorted(set(keys), key=lambda k: [(v is None, v) for v in k])
    assert partition.labels.tolist() == [ordered.index(key) for key in keys]
    assert partition.count == len(ordered)
    assert partition.first_rows().tolist() == [keys.index(key) for key in ordered]
    assert partition.sizes().sizes.tolist() == [keys.count(key) for key in ordered]
    groups = partition.histograms(columns_of(list(sensitive), 4))
    assert entries(groups) == [
        sorted(Counter(s for k, s in zip(keys, sensitive, strict=True) if k == key).items())
        for key in ordered
    ]


def test_small_and_large_keys_give_the_same_histograms() -> None:
    """Keys of 32 bits below 2**31 cells, of 64 bits from there on; few and many rows per cell."""
    random = np.random.default_rng(7)
    for count, width in [(3, 4), (2_000, 1_000), (50_000, 50_000)]:
        labels = np.concatenate((np.arange(count), random.integers(0, count, 500)))
        labels = labels.astype(np.int32)
        codes = random.integers(0, width, len(labels))
        codes[:2] = width - 1  # the last cells of the table
        groups = Partition(labels, count).histograms(columns_of(codes.tolist(), width))
        by_hand = Counter(zip(labels.tolist(), codes.tolist(), strict=True))
        got = zip(groups.owner.tolist(), groups.codes.tolist(), groups.counts.tolist(), strict=True)
        assert list(got) == [(*cell, n) for cell, n in sorted(by_hand.items())]
        assert (len(groups), groups.width) == (count, width)


def test_partition_of_many_columns_without_a_table_of_all_combinations() -> None:
    """Ten columns of 40 values have 40**10 combinations; only those that occur are counted."""
    random = np.random.default_rng(3)
    cells = random.integers(0, 40, (300, 10))
    cells[200:] = cells[:100]
    partition = Partition.by_equality([encode(pl.Series("q", list(c))) for c in cells.T], 300)
    rows = [tuple(row) for row in cells.tolist()]
    ordered = sorted(set(rows))
    assert partition.labels.tolist() == [ordered.index(row) for row in rows]


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_alike_is_equality(rows: list[tuple[int, int]]) -> None:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    quick = group_alike(columns, [4, 3])
    numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
    assert quick.labels.tolist() == [numbers[row] for row in rows]
    assert quick.count == len(numbers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wideberth.core.groups._LARGEST", 0)  # too many for one number
        slow = group_alike(columns, [4, 3])
    assert slow.labels.tolist() == quick.labels.tolist()
