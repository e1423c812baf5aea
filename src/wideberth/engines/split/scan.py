"""A scan: what the split tree asks of all rows at once, and what parts of the table answer.

Answers add up, whoever has looked at which rows: counts are sums, extremes are extremes of
extremes. So a scan is one pass over the rows, wherever they lie, and a sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from wideberth.core.exact import Ints

#: Cells that one scan may fill: those of tables hold extremes besides, and count for more.
CELLS = 1 << 23


@dataclass(frozen=True, eq=False)
class ScanLayout:
    """Where each count is in the sheets of a scan."""

    spans: Sequence[int]  # how many codes each quasi-identifier has
    # for each sensitive attribute, the cell that each of its codes is counted in
    cells: Sequence[Ints]

    @cached_property
    def begins(self) -> Ints:
        """Where the cells of each quasi-identifier begin in a table; at last, where they end."""
        return np.concatenate(([0], np.cumsum(self.spans, dtype=np.int64)))

    @cached_property
    def edges(self) -> Ints:
        """Where the cells of each sensitive attribute begin in a histogram, and the end."""
        widths = [int(cells.max(initial=-1)) + 1 for cells in self.cells]
        return np.concatenate(([0], np.cumsum(widths, dtype=np.int64)))

    @cached_property
    def line(self) -> tuple[Ints, Ints]:
        """All codes' cells in one line, and where each attribute's begin."""
        sizes = [len(cells) for cells in self.cells]
        shifted = [cells + begin for cells, begin in zip(self.cells, self.edges, strict=False)]
        joined = np.concatenate([np.zeros(0, np.int64), *shifted])
        return joined, np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


@dataclass(frozen=True, eq=False, kw_only=True)
class Scan:
    """What is asked of the rows; see `wideberth.kernels.table_scan`."""

    layout: ScanLayout
    by: Ints
    value: Ints
    child: Ints
    table: Ints
    ask: Ints
    first: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    question_by: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    question_value: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def tables(self) -> int:
        """How many tables are filled."""
        return int(self.table.max(initial=-1)) + 1

    @property
    def questions(self) -> int:
        """How many histograms are."""
        return len(self.question_by)

    def empty(self) -> ScanCounts:
        """Return sheets with nothing in them."""
        d, width = len(self.layout.spans), int(self.layout.begins[-1])
        return ScanCounts(
            counts=np.zeros((self.tables, width), np.int64),
            lows=np.full((self.tables, width, d), np.iinfo(np.int32).max, np.int32),
            highs=np.full((self.tables, width, d), -1, np.int32),
            histograms=np.zeros((self.questions, int(self.layout.edges[-1])), np.int64),
        )

    def look(self, blocks: Iterable[tuple[Any, Any]]) -> ScanCounts:
        """Look at blocks of rows: their codes, and their sensitive values, a line an attribute."""
        from wideberth.kernels import table_scan as kernels

        scan_counts = self.empty()
        cells, edges = self.layout.line
        for codes, views in blocks:
            kernels.look(
                codes,
                views,
                self.layout.begins,
                cells,
                edges,
                kernels.ScanTree(self.by, self.value, self.child, self.table, self.ask),
                kernels.CountedCuts(self.first, self.question_by, self.question_value),
                kernels.ScanArrays(
                    scan_counts.counts, scan_counts.lows, scan_counts.highs, scan_counts.histograms
                ),
            )
        return scan_counts


@dataclass(frozen=True, eq=False, kw_only=True)
class ScanCounts:
    """What some rows answered; see `wideberth.kernels.table_scan.ScanArrays`."""

    counts: Ints
    lows: npt.NDArray[np.int32]
    highs: npt.NDArray[np.int32]
    histograms: Ints

    def add(self, other: ScanCounts) -> None:
        """Take in what other rows answered."""
        np.add(self.counts, other.counts, out=self.counts)
        np.minimum(self.lows, other.lows, out=self.lows)
        np.maximum(self.highs, other.highs, out=self.highs)
        np.add(self.histograms, other.histograms, out=self.histograms)

    # What is not zero, as columns: for engines whose rows are tables themselves.

    def lines(self) -> dict[str, Any]:
        """Return what is not zero: tables first, then histograms, whose extremes mean nothing."""
        table, cell = np.nonzero(self.counts)
        question, place = np.nonzero(self.histograms)
        none = np.zeros(len(question), np.int32)
        found: dict[str, Any] = {
            "sheet": np.concatenate((table, len(self.counts) + question)).astype(np.int32),
            "cell": np.concatenate((cell, place)).astype(np.int32),
            "rows": np.concatenate((self.counts[table, cell], self.histograms[question, place])),
        }
        for b in range(self.lows.shape[2]):
            found[f"low{b}"] = np.concatenate((self.lows[table, cell, b], none))
            found[f"high{b}"] = np.concatenate((self.highs[table, cell, b], none))
        return found

    def enter(self, lines: dict[str, Any]) -> None:
        """Enter such lines, of which no two have the same place."""
        sheet, cell = lines["sheet"], lines["cell"]
        table = sheet < len(self.counts)
        at = sheet[table], cell[table]
        self.counts[at] = lines["rows"][table]
        for b in range(self.lows.shape[2]):
            self.lows[(*at, b)] = lines[f"low{b}"][table]
            self.highs[(*at, b)] = lines[f"high{b}"][table]
        rest = ~table
        self.histograms[sheet[rest] - len(self.counts), cell[rest]] = lines["rows"][rest]
