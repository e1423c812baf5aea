"""The levels of one quasi-identifier: its values, and ever coarser ones up to a single one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from wideberth.core.codes import Codes
from wideberth.core.exact import Floats, Ints
from wideberth.errors import HierarchyError, ParameterError, what_to_type
from wideberth.hierarchy import Hierarchy
from wideberth.hierarchy.quasi import Quasi

#: Levels by quasi-identifier: a number, or the lowest and the highest.
Range: TypeAlias = int | Sequence[int]


@dataclass(frozen=True, eq=False)
class QuasiLevels:
    """The levels of one quasi-identifier.

    >>> import polars as pl
    >>> from wideberth.hierarchy.quasi import read_quasi
    >>> age = read_quasi(pl.Series("age", [34, 38, 21]), hierarchy={"interval": 10})
    >>> ladder = QuasiLevels.of(age)
    >>> [ladder.labels(rung) for rung in range(len(ladder))]
    [['21', '34', '38'], ['20-29', '30-39'], ['*']]
    """

    quasi: Quasi  # it has a hierarchy
    levels: Sequence[int]  # those of the hierarchy that may be used, ascending

    @classmethod
    def of(cls, quasi: Quasi, within: Range | None = None) -> QuasiLevels:
        """Take all levels of a hierarchy, or those within a range."""
        tree = quasi.tree
        if tree is None:
            raise HierarchyError(
                f"quasi-identifier '{quasi.name}' has no hierarchy, and the lattice needs its "
                "levels",
                hint=hierarchy_hint(quasi),
            )
        if tree.completed:
            raise HierarchyError(
                f"the hierarchy of '{quasi.name}' has no common root: its top labels differ",
                hint="end every row of the file in the same label, such as *",
            )
        low, high = 0, tree.height
        if within is not None:
            low, high = (within, within) if isinstance(within, int) else (within[0], within[-1])
        if not 0 <= low <= high <= tree.height:
            raise ParameterError(
                f"levels: the hierarchy of '{quasi.name}' has levels 0 to {tree.height}",
                hint=what_to_type(
                    python=f'levels={{"{quasi.name}": [0, {tree.height}]}}',
                    command=f'levels = {{ "{quasi.name}" = [0, {tree.height}] }}, or '
                    f"--level {quasi.name}=0-{tree.height}",
                ),
            )
        return cls(quasi, range(low, high + 1))

    def __len__(self) -> int:
        """Return how many levels there are to choose from."""
        return len(self.levels)

    @property
    def name(self) -> str:
        """The quasi-identifier."""
        return self.quasi.name

    @property
    def tree(self) -> Hierarchy:
        """The hierarchy."""
        assert self.quasi.tree is not None  # noqa: S101 - `of` has seen to it
        return self.quasi.tree

    @cached_property
    def _nodes(self) -> list[Ints]:
        """By level, the hierarchy's nodes that the values are generalised to; in order."""
        return [np.unique(nodes) for nodes in self._climbed]

    @cached_property
    def _climbed(self) -> list[Ints]:
        return [self.tree.climb(self.quasi.nodes, level).astype(np.int64) for level in self.levels]

    def _apart(self, level_index: int) -> bool:
        """Return whether missing values are a value of their own there."""
        # On all levels but the top one, which discloses nothing at all.
        return self.quasi.domain.missing is not None and self.levels[level_index] < self.tree.height

    @cached_property
    def codes(self) -> list[Codes]:
        """By level, the coarser code of each code of the quasi-identifier."""
        tables = []
        for level_index, (nodes, climbed) in enumerate(
            zip(self._nodes, self._climbed, strict=True)
        ):
            table = np.searchsorted(nodes, climbed)
            if self.quasi.domain.missing is not None:
                table = np.append(table, len(nodes) if self._apart(level_index) else 0)
            tables.append(table.astype(np.int32))
        return tables

    def width(self, level_index: int) -> int:
        """Return how many codes a level has."""
        return self._widths[level_index]

    @cached_property
    def _widths(self) -> list[int]:
        return [
            len(nodes) + self._apart(level_index) for level_index, nodes in enumerate(self._nodes)
        ]

    @cached_property
    def rows(self) -> int:
        """How many rows there are; not how many codes, which may stand for several each."""
        return int(self.quasi.domain.histogram.sum())

    def counts(self, level_index: int) -> Ints:
        """Return how many rows have each code of a level."""
        return self._counts[level_index]

    @cached_property
    def _counts(self) -> list[Ints]:
        rows = self.quasi.domain.histogram
        levels = zip(self.codes, self._widths, strict=True)
        return [np.bincount(codes, rows, width).astype(np.int64) for codes, width in levels]

    @cached_property
    def crowding(self) -> Floats:
        """By level, how likely two rows are to share a value."""
        shares = [counts / self.rows for counts in self._counts]
        return np.array([share @ share for share in shares])

    @cached_property
    def changes(self) -> tuple[Ints, Ints]:
        """The amounts that raise codes to higher levels, and where those of two levels begin."""
        begins = np.zeros((len(self), len(self)), dtype=np.int64)
        parts, end = [np.zeros(0, dtype=np.int64)], 0
        for low in range(len(self)):
            for high in range(low + 1, len(self)):
                change = np.zeros(self.width(low), dtype=np.int64)
                change[self.codes[low]] = self.codes[high] - self.codes[low]
                begins[low, high] = end
                parts.append(change)
                end += len(change)
        return np.concatenate(parts), begins

    def leaves(self, level_index: int) -> Ints:
        """Return how many leaves of the hierarchy each code of a level stands for."""
        leaves = self.tree.leaf_counts[self._nodes[level_index]].astype(np.int64)
        return np.append(leaves, 1) if self._apart(level_index) else leaves

    def extents(self, level_index: int) -> Floats:
        """Return the share of the domain that each code spans: 0 for a value, 1 for all."""
        return (self.leaves(level_index) - 1) / max(int(self.tree.leaf_counts[0]) - 1, 1)

    def labels(self, level_index: int) -> list[str | None]:
        """Return what is published for each code of a level; None for missing values."""
        labels: list[str | None] = [self.tree.labels[node] for node in self._nodes[level_index]]
        return [*labels, None] if self._apart(level_index) else labels

    def example(self, level_index: int) -> str | None:
        """Return what is published most often on a level; None on the level of the values."""
        if not self.levels[level_index]:
            return None
        known = self.counts(level_index)[: len(self._nodes[level_index])]
        return self.labels(level_index)[int(known.argmax())]


def hierarchy_hint(quasi: Quasi) -> str:
    """Return a hint on how a hierarchy could be made."""
    if quasi.domain.dated:
        rule = 'date = ["month", "year"]'
    elif quasi.numeric:
        rule = "interval = [5, 10, 20]"
    else:
        rule = "flat = true"
    option = "--" + rule.replace(" = true", "").replace(" = ", " ").translate(_BARE)
    return (
        f'under [hierarchies] in the policy: "{quasi.name}" = {{ {rule} }}; or let wideberth '
        f"hierarchy build --table TABLE --column '{quasi.name}' {option.replace(', ', ',')} write "
        "a file"
    )


_BARE = str.maketrans("", "", '[]"')
