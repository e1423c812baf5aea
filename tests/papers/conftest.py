"""What the tests of all five papers share: groups given by their values alone."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth.core.codes import Column, encode
from wideberth.core.groups import Groups, Partition


@dataclass(frozen=True)
class Judged:
    """A principle bound to some groups; the answers are plain lists, one entry a group."""

    rule: wb.Rule
    column: Column
    groups: Groups

    @property
    def satisfied(self) -> list[bool]:
        return self.rule.satisfies(self.groups).tolist()

    @property
    def feasible(self) -> list[bool]:
        return self.rule.feasible(self.groups).tolist()

    def achieved(self, key: str) -> list[float]:
        return self.rule.achieved(self.groups)[key].tolist()

    def finished(self, group: int = 0) -> list[list[Hashable]]:
        """Partition one group; return the values of each part, in order of their first ones."""
        codes = self.groups.rows(group)
        labels = self.rule.finish(codes, np.random.default_rng(0))
        values = self.column.domain.values.to_list()
        parts = [[values[code] for code in codes[labels == one]] for one in np.unique(labels)]
        return sorted(parts)


@pytest.fixture
def judge():
    """Bind a principle to groups given as lists of values."""

    def bind(
        principle: wb.Principle,
        *groups: Sequence[Hashable],
        tree: wb.Hierarchy | None = None,
    ) -> Judged:
        column = encode(pl.Series("s", list(chain.from_iterable(groups)), strict=False))
        if tree is not None:
            column = column.with_tree(tree)
        labels = np.repeat(np.arange(len(groups), dtype=np.int32), [len(g) for g in groups])
        histograms = Partition(labels, len(groups)).histograms(column)
        return Judged(principle.bind(column.domain), column, histograms)

    return bind
