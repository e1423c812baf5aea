"""From levels to published values: what a lattice's node says of each quasi-identifier.

Every value is published as its ancestor on the level chosen, the same for all rows of a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from wideberth.algorithms.lattice.generalize import Generalized, Round
from wideberth.algorithms.lattice.levels import Ladder
from wideberth.algorithms.lattice.rule_judge import merged
from wideberth.core.codes import Codes, compress
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition
from wideberth.labels.parse import OR_MISSING
from wideberth.release.recode import Recoded, Values


@dataclass(frozen=True, eq=False)
class Leveled:
    """The rows that a lattice keeps, and what is published of them."""

    # Where entries of the ground stand for several rows, "rows" are entries here, but for losses,
    # which are means over all rows that are kept.

    made: Generalized

    @cached_property
    def rows(self) -> Ints:
        """The rows that are kept, ascending."""
        return np.sort(np.concatenate([one.entries for one in self.made.rounds]))

    @cached_property
    def _columns(self) -> Sequence[tuple[pl.Series, Codes, Floats]]:
        """By quasi-identifier: labels, the label of each row, and the extent of each row's."""
        return [self._column(i) for i in range(len(self.made.ground.ladders))]

    def _column(self, i: int) -> tuple[pl.Series, Codes, Floats]:
        ladder = self.made.ground.ladders[i]
        label = np.empty(self.made.ground.entries, dtype=np.int64)
        extent = np.empty(self.made.ground.entries)
        texts: list[str | None] = []
        for one in self.made.rounds:
            rung = one.node[i]
            codes = ladder.codes[rung][ladder.quasi.codes[one.entries]]
            label[one.entries] = codes + len(texts)
            extent[one.entries] = ladder.extents(rung)[codes]
            texts += _labels(ladder, rung)
        # Only what is published, and each text once, whichever rounds have it.
        used, which = compress(label[self.rows], len(texts))
        number = {text: place for place, text in enumerate(dict.fromkeys(texts[i] for i in used))}
        same = np.array([number[texts[i]] for i in used], dtype=np.int32)
        return pl.Series(list(number), dtype=pl.String), same[which], extent[self.rows]

    @cached_property
    def partition(self) -> Partition:
        """The groups of the rows that are kept."""
        # Rows that are published alike make a group, whatever the round; but under a principle that
        # is not monotone each round has its own groups, which their ids tell apart.
        if not all(demand.rule.monotone for demand in self.made.ground.demands):
            return self.made.partition()
        return merged(label for _, label, _ in self._columns)

    def labels(self, one: Round) -> dict[str, list[str | None]]:
        """Return what a round publishes for each code of each quasi-identifier."""
        # By this, rows can be published that are not here themselves, only tuples of their codes.
        said = {}
        for ladder, rung in zip(self.made.ground.ladders, one.node, strict=True):
            texts = _labels(ladder, rung)
            said[ladder.name] = [texts[code] for code in ladder.codes[rung]]
        return said

    def recoded(self, order: Ints) -> Recoded:
        """Return what is published, the kept rows in a new order."""
        columns, losses = {}, {}
        ladders, held = self.made.ground.ladders, self.made.ground.weights
        if held is not None:
            held = held[self.rows]
        for ladder, (texts, label, extent) in zip(ladders, self._columns, strict=True):
            said = Values(texts, np.arange(len(texts)))
            columns[ladder.name] = [said.by_row(label[order]).alias(ladder.name)]
            losses[ladder.name] = float(np.average(extent, weights=held))
        weights = [ladder.quasi.weight for ladder in ladders]
        return Recoded(columns, losses, float(np.average(list(losses.values()), weights=weights)))


def _labels(ladder: Ladder, rung: int) -> list[str | None]:
    """Return what is published for each code; the top says that the value may be missing."""
    labels = ladder.labels(rung)
    if ladder.quasi.domain.missing is not None and None not in labels:
        return [None if label is None else label + OR_MISSING for label in labels]
    return labels
