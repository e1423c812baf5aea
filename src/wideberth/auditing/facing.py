"""Who faces which rows: victims, and all groups that cover them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from wideberth import tables
from wideberth.attacks import Faced, Risk, among
from wideberth.auditing.sensing import Sensed
from wideberth.errors import TableError
from wideberth.exact import Ints
from wideberth.examining import Examined
from wideberth.groups import Partition
from wideberth.published import Covering, Published
from wideberth.subject import require_column
from wideberth.twofold import table_of


def faced(sensed: Sensed, published: Published, cover: Covering) -> Faced:
    """Let each victim face all groups that cover it, together."""
    by_box = published.boxes.histograms(sensed.column)
    pooled = cover.pooled(by_box)
    if sensed.own is not None:
        owner, codes = cover.situation, sensed.own[cover.victims].astype(np.int64)
        people = np.ones(len(owner), dtype=np.int64)
    else:  # each victim is a box, and stands for the people in it
        length = by_box.distinct[cover.victims]
        first = np.repeat(by_box.start[cover.victims], length)
        within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        codes, people = by_box.codes[first + within], by_box.counts[first + within]
        owner = np.repeat(cover.situation, length)
    covered = owner >= 0
    # People in the same situation with the same value are one class.
    key, at = np.unique(owner[covered] * pooled.width + codes[covered], return_inverse=True)
    return Faced(
        groups=pooled,
        owner=key // pooled.width,
        codes=key % pooled.width,
        people=np.bincount(at, people[covered], len(key)).astype(np.int64),
    )


def found_among(published: Published, cover: Covering) -> Risk:
    """Return the risk of being found among the rows of all groups that cover a victim."""
    rows = np.add.reduceat(published.sizes[cover.boxes], cover.start[:-1])
    covered = cover.situation >= 0
    ones = np.ones(len(cover.victims), dtype=np.int64)
    people = ones if published.original_rows is not None else published.sizes[cover.victims]
    return among(rows[cover.situation[covered]], people[covered])


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching:
    """People of a population, and the groups that could be theirs.

    Parameters
    ----------
    counts : array of int
        How many people match each group.
    outside : int
        How many match none.
    notes : list of str
        What is in doubt.
    """

    counts: Ints
    outside: int
    notes: list[str]

    def generalised(self, given: Examined, groups: Partition) -> pl.DataFrame:
        """Return the population as if it were published like the table, for δ-presence."""
        rows = given.frame[given.subject.keys]
        inside = rows[np.repeat(groups.first_rows(), self.counts)]
        return pl.concat([inside, rows.clear(self.outside)])


def match(given: Examined, groups: Partition, population: object) -> Matching:
    """Find the people of a population who match each group."""
    everybody, _ = tables.adopt(table_of(population, given.options))
    for column in given.attributes:
        require_column(everybody, column, "the population")
    try:
        boxes = Published.read(
            given.frame,
            given.attributes,
            original=everybody,
            hierarchies=given.hierarchies,
            types=given.types,
        )
    except TableError as error:
        raise TableError(
            "the population: "
            + error.what.replace("that the original does not have", "that nobody of it has"),
            hint="it must hold everybody who might be in the table",
        ) from None
    cover = boxes.covering(everyone=True)
    in_situation = np.bincount(
        cover.situation[cover.situation >= 0], minlength=len(cover.start) - 1
    )
    many = np.repeat(in_situation, np.diff(cover.start))
    of_box = np.bincount(cover.boxes, many, boxes.boxes.count).astype(np.int64)
    unread = [axis.name for axis in boxes.axes if not axis.read]
    doubts = [
        f"'{name}' of the population is of another kind: it rules nobody out" for name in unread
    ]
    return Matching(
        counts=of_box[boxes.boxes.labels[groups.first_rows()]],
        outside=int((cover.situation < 0).sum()),
        notes=doubts,
    )
