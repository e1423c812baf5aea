"""What one scan is to do, put together node by node, within bounds of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from wideberth.core.exact import Ints
from wideberth.engines.split.candidates import Table
from wideberth.engines.split.scan import CELLS, Layout, Scan, Sheets

if TYPE_CHECKING:
    from wideberth.engines.split.growth import Node


class Script:
    """A scan being put together; nodes for which there is no room are left for another one."""

    def __init__(
        self, by: Sequence[int], value: Sequence[int], child: Sequence[int], layout: Layout
    ) -> None:
        self.layout = layout
        self.by, self.value, self.child = list(by), list(value), list(child)
        self.tables: dict[int, int] = {}  # by number of the node
        self.filled: list[Node] = []
        self.asked: dict[Node, Sequence[int]] = {}
        self._first: dict[Node, int] = {}
        self._ahead: dict[Node, list[int | None]] = {}
        self._by: list[int] = []
        self._value: list[int] = []
        width, d = int(layout.begins[-1]), len(layout.spans)
        self._room = max(CELLS // (width * (1 + d)), 2)
        self._space = max(CELLS // max(int(layout.edges[-1]), 1), 2)

    def fill(self, node: Node) -> None:
        """Let a node's table be filled."""
        if len(self.tables) < self._room:
            self._slot(node.number)
            self.filled.append(node)

    def _slot(self, number: int) -> int:
        return self.tables.setdefault(number, len(self.tables))

    def ask(
        self, node: Node, cuts: Sequence[int], *, whole: bool = False, ahead: Sequence[bool] = ()
    ) -> None:
        """Let the left halves of cuts be counted."""
        # If there is no room for all cuts, the first ones. `whole`: all of the node's rows are
        # counted first. `ahead`: for each half of the first cut, whether its table is filled as
        # well.
        if self.asked and len(self._by) + whole + len(cuts) > self._space:
            return
        self.asked[node] = cuts[: max(self._space - whole, 1)]
        self._first[node] = len(self._by)
        if whole:
            self._by.append(-1)
            self._value.append(0)
        assert node.cuts is not None  # noqa: S101 - some of them are asked about
        for cut in self.asked[node]:
            self._by.append(int(node.cuts.by[cut]))
            self._value.append(int(node.cuts.value[cut]))
        if any(ahead) and len(self.tables) + sum(ahead) <= self._room:
            # As if the first cut were made already.
            number = len(self.by)
            cut = self.asked[node][0]
            self.by[node.number] = int(node.cuts.by[cut])
            self.value[node.number] = int(node.cuts.value[cut])
            self.child[node.number] = number
            for line in (self.by, self.value, self.child):
                line += [-1, -1]
            self._ahead[node] = [
                self._slot(number + side) if wanted else None for side, wanted in enumerate(ahead)
            ]

    def scan(self) -> Scan:
        """Return what is to be asked of the rows."""
        table = np.full(len(self.by), -1, np.int64)
        for number, slot in self.tables.items():
            table[number] = slot
        ask = np.full(len(self.by), -1, np.int64)
        for place, node in enumerate(self.asked):
            ask[node.number] = place
        return Scan(
            layout=self.layout,
            by=np.array(self.by, np.int64),
            value=np.array(self.value, np.int64),
            child=np.array(self.child, np.int64),
            table=table,
            ask=ask,
            first=np.array([*self._first.values(), len(self._by)], np.int64),
            question_by=np.array(self._by, np.int64),
            question_value=np.array(self._value, np.int64),
        )

    def table(self, sheets: Sheets, node: Node) -> Table:
        """Return the table of a node that was to be filled."""
        return self._table(sheets, self.tables[node.number])

    def promised(self, sheets: Sheets, node: Node) -> tuple[Table | None, Table | None]:
        """Return the tables of the halves of a node's first cut, those that were to be filled."""
        left, right = self._ahead.get(node, (None, None))
        return (
            None if left is None else self._table(sheets, left),
            None if right is None else self._table(sheets, right),
        )

    def _table(self, sheets: Sheets, slot: int) -> Table:
        # Copies: the sheets of a scan must not live as long as one of its nodes.
        lows, highs = sheets.lows[slot].copy(), sheets.highs[slot].copy()
        return Table(self.layout.begins, sheets.counts[slot].copy(), lows, highs)

    def histograms(self, sheets: Sheets, node: Node) -> Ints:
        """Return what was counted for a node."""
        order = list(self._first)
        at = order.index(node)
        first = self._first[node]
        last = self._first[order[at + 1]] if at + 1 < len(order) else len(self._by)
        return sheets.histograms[first:last]
