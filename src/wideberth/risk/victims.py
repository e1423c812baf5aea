"""Who faces which rows: victims, and all groups that cover them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Partition
from wideberth.errors import TableError
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.policy.spec import ExaminedTable
from wideberth.policy.two_tables import load_table
from wideberth.principles.columns import require_column
from wideberth.risk.attacks import Risk, VictimClasses, identification_risk
from wideberth.risk.attribute import AuditedAttribute

#: Of so many groups, labels may cover fewer people than they should: some tools err by one.
_SOME = 0.1


def faced_groups(
    sensed: AuditedAttribute, published: PublishedBoxes, cover: BoxCover
) -> VictimClasses:
    """Let each victim face all groups that cover it, together."""
    return faced_box_histograms(published.boxes.histograms(sensed.column), sensed.own, cover)


def faced_box_histograms(
    by_box: Groups, own: Codes | Ints | None, cover: BoxCover
) -> VictimClasses:
    """Let each victim face the histograms of all boxes that cover it."""
    # `own` has the value of each row of the original. Without it, victims are boxes.
    pooled = cover.pooled(by_box)
    if own is not None:
        owner, codes = cover.situation, own[cover.victims].astype(np.int64)
        people = np.ones(len(owner), dtype=np.int64)
    else:  # each victim is a box, and stands for the people in it
        theirs = by_box.some(cover.victims)
        codes, people, owner = theirs.codes, theirs.counts, cover.situation[theirs.owner]
    covered = owner >= 0
    # People in the same situation with the same value are one class.
    key, at = np.unique(owner[covered] * pooled.width + codes[covered], return_inverse=True)
    return VictimClasses(
        groups=pooled,
        owner=key // pooled.width,
        codes=key % pooled.width,
        people=np.bincount(at, people[covered], len(key)).astype(np.int64),
    )


def group_identification_risk(published: PublishedBoxes, cover: BoxCover) -> Risk:
    """Return the risk of being found among the rows of all groups that cover a victim."""
    rows = np.add.reduceat(published.sizes[cover.boxes], cover.start[:-1])
    covered = cover.situation >= 0
    ones = np.ones(len(cover.victims), dtype=np.int64)
    people = ones if published.original_rows is not None else published.sizes[cover.victims]
    return identification_risk(rows[cover.situation[covered]], people[covered])


def foreign_values(
    sensed: AuditedAttribute, published: PublishedBoxes, groups: Partition
) -> tuple[int, int]:
    """Count people of the original whose own value is in no group that can be theirs; of how many.

    At least so many: people who are left out of the release may be among them.
    """
    if sensed.own is None or published.original_rows is None:
        return 0, 0
    cover = published.covering(everyone=True)
    rows = pl.DataFrame(
        {
            "box": published.boxes.labels.astype(np.int64),
            "group": groups.labels.astype(np.int64),
            "code": sensed.column.codes.astype(np.int64),
        }
    )
    held = rows.select("group", "code").unique()
    in_box = rows.select("box", "group").unique().join(held, on="group").select("box", "code")
    situations = np.repeat(np.arange(len(cover.start) - 1), np.diff(cover.start))
    boxes = pl.DataFrame({"situation": situations, "box": cover.boxes.astype(np.int64)})
    possible = boxes.join(in_box.unique(), on="box").select("situation", "code").unique()
    covered = cover.situation >= 0
    victims = pl.DataFrame(
        {
            "situation": cover.situation[covered].astype(np.int64),
            "code": sensed.own[cover.victims[covered]].astype(np.int64),
        }
    )
    without = victims.join(possible, on=["situation", "code"], how="anti").height
    left_out = published.original_rows - published.rows - int((~covered).sum())
    return max(0, without - max(0, left_out)), victims.height


def require_matching_original(
    published: PublishedBoxes, cover: BoxCover, sensed: Sequence[AuditedAttribute]
) -> None:
    """Refuse an original whose values are not the release's, if its people are not either."""
    # A group cannot have more rows than there are people whom its labels cover. Sensitive values
    # may have been changed on purpose, so they alone prove nothing.
    unlike = [one.name for one in sensed if 2 * one.changed > published.rows]
    if not unlike or not cover.exact or published.original_rows is None:
        return
    short = _covered(published, cover) < published.sizes
    if short.sum() > _SOME * published.boxes.count:
        raise TableError(
            f"most values of '{unlike[0]}' are not those of the original, and "
            f"{int(short.sum()):,} of {published.boxes.count:,} groups have more rows than they "
            "cover people of it",
            hint="name the table that the release was made from",
        )


def _covered(published: PublishedBoxes, cover: BoxCover) -> Ints:
    """Count the people whom each box covers."""
    in_situation = np.bincount(
        cover.situation[cover.situation >= 0], minlength=len(cover.start) - 1
    )
    many = np.repeat(in_situation, np.diff(cover.start))
    return np.bincount(cover.boxes, many, published.boxes.count).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class PopulationMatch:
    """People of a population, and the groups that could be theirs."""

    counts: Ints  # how many people match each group
    outside: int  # how many match none
    notes: list[str]  # what is in doubt

    def generalised(self, given: ExaminedTable, groups: Partition) -> pl.DataFrame:
        """Return the population as if it were published like the table, for δ-presence."""
        rows = given.frame[given.subject.keys]
        inside = rows[np.repeat(groups.first_rows(), self.counts)]
        return pl.concat([inside, rows.clear(self.outside)])


def match_population(
    given: ExaminedTable, groups: Partition, population: object
) -> PopulationMatch:
    """Find the people of a population who match each group."""
    everybody, _ = load_table(population, given.options)
    for column in given.attributes:
        require_column(everybody, column, "the population")
    try:
        boxes = PublishedBoxes.read(
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
    of_box = _covered(boxes, cover)
    unread = [axis.name for axis in boxes.axes if not axis.read]
    doubts = [
        f"'{name}' of the population is of another kind: it rules nobody out" for name in unread
    ]
    return PopulationMatch(
        counts=of_box[boxes.boxes.labels[groups.first_rows()]],
        outside=int((cover.situation < 0).sum()),
        notes=doubts,
    )
