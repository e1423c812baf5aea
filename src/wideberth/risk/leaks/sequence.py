"""Row order: a release in the order of its original tells whose row is whose.

The order of the rows tells nothing if it follows from what is published anyway. So only rows with
equal published quasi-identifiers (and equal group ids) are compared, and if these are sorted by a
published column, only rows that are equal there too. What is left must be in a random order:

- *pairs*: of two such rows, the one with the larger value, or with the later place in the original,
  comes first as often as last. Pairs that share no row are fair coins, so the number of heads has a
  binomial distribution. Two kinds of pairs are looked at: neighbours, and rows half a group apart.
- *places*: as many rows as chance permits have the value that the original has in the same place.
  The bound is Chatterjee's (2007, Prop. 1.1): P(|X - E| >= t) <= 2 exp(-t^2 / (4E + 2t)).
- *all of it*: of all orders that the rows could have, how many are the original's, but for rows
  that are left out?

A file that was shuffled passes all tests together with a probability of at least 1 - 1e-6.

Severity
--------
high
    the rows are in the original's order, in the whole file or in each group;
medium
    some of them are, or they follow it less strictly; or, where there is no original to compare
    with, they follow a column without being sorted by it: this may be the order in which they were
    collected;
low
    the whole file is sorted by a sensitive or insensitive column, which tells something only if the
    original is kept in that order by people who see no values.

What it cannot see: an order in tables of fewer than about ten rows; an order that has to do with no
published column, if there is no original; with one, an order within groups whose rows can be told
apart neither by untouched values nor by boxes that cover them alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column, compress, join_columns
from wideberth.core.exact import Ints
from wideberth.core.groups import Partition
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.risk.findings import Finding
from wideberth.risk.inputs import encode_published, encode_together
from wideberth.risk.leaks.identifiers import row_numbers

# -----------------------------------------------------------------------------
# How likely a shuffled file is to look like this one.
#
# Rows are compared within groups only: within them, every order is equally likely.


#: Places to compare, of very many.
_PLACES = 20_000
_GLANCE = 1_000


@dataclass(frozen=True, eq=False)
class GroupListing:
    """Rows group by group, those of a group as they come in the file."""

    partition: Partition
    order: Ints
    start: Ints  # group ``g`` has the rows ``order[start[g]:start[g + 1]]``

    @classmethod
    def of(cls, partition: Partition) -> GroupListing:
        """List all rows."""
        sizes = np.bincount(partition.labels, minlength=partition.count)
        # To sort whole numbers that hold group and row is faster than a stable sort of groups.
        bits = len(partition.labels).bit_length()
        keys = partition.labels.astype(np.int64) << bits | np.arange(len(partition.labels))
        keys.sort()
        order = keys & ((1 << bits) - 1)
        return cls(partition, order, np.concatenate(([0], np.cumsum(sizes))))

    @classmethod
    def whole(cls, rows: int) -> GroupListing:
        """List the rows of a file as a single group."""
        partition = Partition(np.zeros(rows, dtype=np.int32), 1)
        return cls(partition, np.arange(rows), np.array([0, rows]))

    def only(self, rows: Ints) -> GroupListing:
        """Leave out all rows but some; groups may become empty, and labels are of no use then."""
        kept = np.zeros(len(self.order), dtype=bool)
        kept[rows] = True
        before = np.concatenate(([0], np.cumsum(kept[self.order])))
        return GroupListing(self.partition, self.order[kept[self.order]], before[self.start])

    def sorted(self, codes: Codes) -> bool:
        """Return whether all groups are sorted, all in the same direction."""
        # A glance at the first rows mostly tells that they are not.
        return self._sorted(codes, _GLANCE) and self._sorted(codes, len(self.order))

    def _sorted(self, codes: Codes, rows: int) -> bool:
        steps = np.diff(codes[self.order[:rows]])
        begins = self.start[1 : np.searchsorted(self.start, len(steps), side="right")]
        steps[begins - 1] = 0  # from one group to the next
        return bool((steps >= 0).all() or (steps <= 0).all())

    def pairs(self, *, far: bool) -> tuple[Ints, Ints]:
        """Return pairs of rows of one group, the earlier first; no row is in two of them."""
        sizes = np.diff(self.start)
        halves = sizes // 2
        owner = np.repeat(np.arange(len(sizes)), halves)
        nth = np.arange(len(owner)) - np.repeat(np.cumsum(halves) - halves, halves)
        first = self.start[owner] + (nth if far else 2 * nth)
        second = first + (sizes - halves)[owner] if far else first + 1
        return self.order[first], self.order[second]


@dataclass(frozen=True)
class Agreement:
    """How many rows have the value that the original has in their place."""

    chance: float  # a bound on the probability that so many agree in a shuffled file
    places: int  # how many were looked at
    agreeing: int  # in how many of them the values agree
    expected: float  # in how many they do in a shuffled file, on average


def compare_in_place(partition: Partition, ours: Codes, theirs: Codes, width: int) -> Agreement:
    """Compare two sequences place by place, one of which may be shuffled within groups.

    >>> found = compare_in_place(Partition(np.zeros(4, int), 1), np.arange(4), np.arange(4), 4)
    >>> found.agreeing, found.expected
    (4, 1.0)
    """
    # Chatterjee 2007, Proposition 1.1; it holds for several permutations as for one, because it is
    # a bound on the moment generating function, and that of independent sums is a product.
    labels = partition.labels.astype(np.int64)
    sizes = np.bincount(labels, minlength=partition.count)
    held = np.sort(labels * width + ours)
    some = slice(None, None, -(-len(ours) // _PLACES))  # any places do, if they are fixed before
    ours, theirs, labels = ours[some], theirs[some], labels[some]
    wanted = np.sort(labels * width + theirs)  # in order, they are found faster
    same = np.searchsorted(held, wanted, "right") - np.searchsorted(held, wanted, "left")
    expected = float((same / sizes[wanted // width]).sum())
    agree = int((ours == theirs).sum())
    beyond = agree - expected
    chance = 2 * exp(-(beyond**2) / (4 * expected + 2 * beyond)) if beyond > 0 else 1.0
    return Agreement(chance, len(ours), agree, round(expected, 1))


def log_orders(partition: Partition, codes: Codes) -> float:
    """Return the logarithm of how many orders the rows could have, group by group."""
    from scipy.special import gammaln

    sizes = np.bincount(partition.labels)
    _, counts = np.unique(
        partition.labels.astype(np.int64) * (int(codes.max()) + 1) + codes, return_counts=True
    )
    return float(gammaln(sizes + 1).sum() - gammaln(counts + 1).sum())


@dataclass(frozen=True)
class PairOrderTest:
    """How many pairs of rows are in ascending order, or in descending order, if these are more."""

    chance: float  # the probability that so many are, in a shuffled file
    pairs: int
    share: float  # of the pairs that are in the same order


def pair_order_test(listing: GroupListing, values: Ints | Codes) -> PairOrderTest | None:
    """Toss a coin for each pair: does the larger value come last? None if there is no pair."""
    from scipy.special import bdtrc

    worst = None
    for far in (True, False):
        first, second = listing.pairs(far=far)
        rising = int((values[first] < values[second]).sum())
        pairs = int((values[first] != values[second]).sum())
        if pairs:
            most = max(rising, pairs - rising)
            chance = min(1.0, 2 * float(bdtrc(most - 1, pairs, 0.5)))
            found = PairOrderTest(chance, pairs, round(most / pairs, 3))
            if worst is None or found.chance < worst.chance:
                worst = found
    return worst


# -----------------------------------------------------------------------------
# Row order: a release in the order of its original tells whose row is whose.


#: A shuffled file is accused with at most this probability.
LEVEL = 1e-6
#: Compared with the original, following a column, sorted by one: each takes its part of that.
_FAMILIES = 3
#: From this share of pairs on, rows are as good as sorted.
_NEARLY = 0.9

_SHUFFLE = "Put the rows into a random order before publishing; wideberth anonymize does."


def row_order(
    frame: pl.DataFrame,
    original: pl.DataFrame | None = None,
    *,
    quasi: Sequence[str],
    sensitive: Sequence[str],
    group: str | None = None,
    published: PublishedBoxes | None = None,
    covering: BoxCover | None = None,
) -> list[Finding]:
    """Find out whether the order of a release's rows gives something away.

    >>> table = pl.DataFrame({"age": ["*"] * 12, "pay": range(0, 24, 2)})
    >>> [str(finding) for finding in row_order(table, table, quasi=["age"], sensitive=["pay"])]
    ["low: the rows are sorted by 'pay'"]
    """
    # Columns without a role are compared with the original, too. With `published` and `covering`,
    # people can be found whom a single box covers.
    if frame.height < 2:
        return []
    keys = [*quasi, *([] if group is None else [group])]
    keys += [name for axis in (published.axes if published else ()) for name in axis.columns]
    if group is not None:  # rows of a group are published alike
        boxes = Partition.by_equality([encode_published(frame[group])], frame.height)
    elif published is not None:
        boxes = published.boxes
    else:
        boxes = Partition.by_equality((encode_published(frame[key]) for key in quasi), frame.height)
    names = [name for name in dict.fromkeys([*sensitive, *frame.columns]) if name not in keys]
    free = {
        name: encode_published(frame[name])
        for name in names
        # Row numbers are no content that the rows could have been sorted by.
        if name in frame.columns and (name in sensitive or not row_numbers(frame[name]))
    }
    if published is not None:  # rows of a group that are published differently are told apart
        finer = boxes.labels.astype(np.int64) * published.boxes.count + published.boxes.labels
        present, labels = compress(finer, boxes.count * published.boxes.count)
        boxes = Partition(labels, len(present))
    rows = _told_apart(boxes, free)
    found: list[Finding] = []
    if original is not None:
        found = _as_original(frame, original, rows, list(free), published, covering)
    return found or _following(rows, free) or _sorted_by(free)


def _told_apart(partition: Partition, free: Mapping[str, Column]) -> GroupListing:
    """Split each group by the columns that it is sorted by, one after the other, and list it."""
    left = dict(free)
    while True:
        listing = GroupListing.of(partition)
        by = next((n for n, c in left.items() if any(map(listing.sorted, _orders(c)))), None)
        if by is None:
            return listing
        column = left.pop(by)
        width = column.domain.size
        key = partition.labels.astype(np.int64) * width + column.codes
        present, labels = compress(key, partition.count * width)
        partition = Partition(labels, len(present))


def _orders(column: Column) -> list[Codes]:
    """Return the codes with missing values last, and first."""
    missing = column.domain.missing
    if missing is None:
        return [column.codes]
    return [column.codes, np.where(column.codes == missing, np.int32(-1), column.codes)]


def _as_original(
    frame: pl.DataFrame,
    original: pl.DataFrame,
    rows: GroupListing,
    names: Sequence[str],
    published: PublishedBoxes | None,
    covering: BoxCover | None,
) -> list[Finding]:
    """Compare with the original: the columns that both have, all of them taken together."""
    shared = [name for name in names if name in original.columns]
    if not shared:
        return []
    parts = [encode_together(frame[name], original[name]) for name in shared]
    untouched = [part for part in parts if _untouched(part, frame.height)]
    together = join_columns("", untouched) if len(untouched) > 1 else None
    figures: dict[str, object] = {"rows": frame.height, "original_rows": original.height}
    # Each column and all together, in both directions, by two tests each; rows left out in both
    # directions, two kinds of pairs, and boxes.
    tests = _FAMILIES * (4 * (len(parts) + 1) + 5)
    if frame.height == original.height:
        columns = parts if together is None else [*parts, together]
        if found := _in_place(rows.partition, columns, tests):
            strict = found.agreeing >= _NEARLY * found.places
            return [_in_order({**figures, **_told(found)}, strict=strict)]
    if not untouched:
        return []
    ours, theirs = np.split((together or untouched[0]).codes, [frame.height])
    if frame.height < original.height and _left_out(rows.partition, ours, theirs, tests):
        return [_in_order({**figures, "agreeing": len(ours)}, strict=True)]
    return _linked(rows, ours, theirs, figures, tests) or _by_boxes(
        rows, ours, theirs, figures, tests, published, covering
    )


def _untouched(column: Column, rows: int) -> bool:
    """Return whether the first rows of a column have no value more often than the others."""
    ours, theirs = np.split(column.codes, [rows])
    size = column.domain.size
    return bool((np.bincount(ours, minlength=size) <= np.bincount(theirs, minlength=size)).all())


def _in_place(partition: Partition, columns: Sequence[Column], tests: int) -> Agreement | None:
    """Compare place by place, forwards and backwards; return what agrees best, if by no chance."""
    rows = len(partition.labels)
    best = None
    for column in columns:
        for step in (1, -1):
            ours, theirs = column.codes[:rows], column.codes[rows:][::step]
            found = compare_in_place(partition, ours, theirs, column.domain.size)
            all_of_them = found.agreeing == found.places and bool((ours == theirs).all())
            if found.chance * tests < LEVEL or (
                all_of_them and log_orders(partition, ours) > log(tests / LEVEL)
            ):
                best = found if best is None else max(best, found, key=lambda one: one.agreeing)
    return best


def _left_out(partition: Partition, ours: Codes, theirs: Codes, tests: int) -> bool:
    """Return whether rows are in the original's order but for some that were left out."""
    gaps = len(theirs) - len(ours)
    ways = lgamma(len(theirs) + 1) - lgamma(gaps + 1) - lgamma(len(ours) + 1)
    if log_orders(partition, ours) - ways <= log(tests / LEVEL):
        return False  # in so many ways could rows be left out that it would be no wonder
    return any(_within(ours.tolist(), theirs[::step].tolist()) for step in (1, -1))


def _within(ours: Sequence[int], theirs: Sequence[int]) -> bool:
    """Return whether one sequence is another with some left out."""
    spare = len(theirs) - len(ours)
    place = 0
    for code in ours:
        while theirs[place] != code:
            place += 1
            spare -= 1
            if spare < 0:
                return False
        place += 1
    return True


def _linked(
    rows: GroupListing, ours: Codes, theirs: Codes, figures: Mapping[str, object], tests: int
) -> list[Finding]:
    """Look at rows with untouched values that nobody else has: where are they in the original."""
    width = max(int(ours.max()), int(theirs.max())) + 1
    once = (np.bincount(ours, minlength=width) == 1) & (np.bincount(theirs, minlength=width) == 1)
    place = np.full(width, -1, dtype=np.int64)
    place[theirs] = np.arange(len(theirs))
    linked = np.flatnonzero(once[ours])
    listing = rows.only(linked)
    found = pair_order_test(listing, place[ours])
    if found is None or found.chance * tests >= LEVEL:
        return []
    return [
        _in_groups({**figures, "linked": len(linked), "pairs": found.pairs, "share": found.share})
    ]


def _by_boxes(
    rows: GroupListing,
    ours: Codes,
    theirs: Codes,
    figures: Mapping[str, object],
    tests: int,
    published: PublishedBoxes | None,
    covering: BoxCover | None,
) -> list[Finding]:
    """Look at boxes that cover as many people as they have rows: are these in the same order."""
    if published is None or covering is None or published.original_rows is None:
        return []
    known = np.flatnonzero(covering.situation >= 0)
    alone = known[np.diff(covering.start)[covering.situation[known]] == 1]
    people = covering.victims[alone]
    box = covering.boxes[covering.start[covering.situation[alone]]]
    counts = np.bincount(box, minlength=published.boxes.count)
    full = counts == published.sizes
    people, box = people[full[box]], box[full[box]]
    place = np.flatnonzero(full[published.boxes.labels])
    if not len(place):
        return []
    place = place[np.argsort(published.boxes.labels[place], kind="stable")]
    people = people[np.lexsort((people, box))]
    part = compress(rows.partition.labels[place], rows.partition.count)
    width = max(int(ours.max()), int(theirs.max())) + 1
    partition = Partition(part[1], len(part[0]))
    found = compare_in_place(partition, ours[place], theirs[people], width)
    if found.chance * tests >= LEVEL:
        return []
    share = round(found.agreeing / found.places, 3)
    return [_in_groups({**figures, **_told(found), "share": share})]


def _told(found: Agreement) -> dict[str, object]:
    return {
        "compared": found.places,
        "agreeing": found.agreeing,
        "expected": found.expected,
    }


def _following(rows: GroupListing, free: Mapping[str, Column]) -> list[Finding]:
    """Look for a column that rows follow within their groups, without being sorted by it."""
    tests = _FAMILIES * 2 * len(free)
    for name, column in free.items():
        found = pair_order_test(rows, column.codes)
        if found is not None and found.chance * tests < LEVEL:
            return [_follow(name, found)]
    return []


def _sorted_by(free: Mapping[str, Column]) -> list[Finding]:
    """Look for a column that the whole file is sorted by."""
    tests = _FAMILIES * 4 * len(free)  # ascending or descending, missing values first or last
    for name, column in free.items():
        whole = GroupListing.whole(len(column.codes))
        if any(map(whole.sorted, _orders(column))) and (
            log_orders(whole.partition, column.codes) > log(tests / LEVEL)
        ):
            return [_sorted(name, len(column.codes))]
    return []


def _in_order(figures: Mapping[str, object], *, strict: bool) -> Finding:
    return Finding(
        name="row-order",
        severity="high" if strict else "medium",
        title="the rows are in the order of the original"
        if strict
        else "many rows are in the place that they have in the original",
        meaning="Whoever knows where somebody is in the original (by its order of names, dates or "
        "numbers, or from another extract of it) finds that person's row, and with it the "
        "sensitive value. The groups protect nobody from that.",
        advice=_SHUFFLE,
        figures=figures,
    )


def _in_groups(figures: Mapping[str, object]) -> Finding:
    share = figures["share"]
    assert isinstance(share, float)  # noqa: S101 - both who find it say so
    strict = share >= _NEARLY
    return Finding(
        name="row-order",
        severity="high" if strict else "medium",
        title="the rows of a group are in the order of the original"
        if strict
        else "the rows of a group tend to be in the order of the original",
        meaning="Whoever knows who comes first in the original tells the members of a group apart, "
        "though their quasi-identifiers are published alike.",
        advice=_SHUFFLE,
        figures=figures,
    )


def _follow(name: str, found: PairOrderTest) -> Finding:
    return Finding(
        name="row-order",
        severity="medium",
        title=f"the rows of a group follow '{name}', but are not sorted by it",
        meaning="Chance does not explain this order, nor do the published values. It may be that "
        "of the original, say by date of entry; whoever knows that order tells the members of a "
        "group apart.",
        advice=_SHUFFLE,
        figures={"column": name, "pairs": found.pairs, "share": found.share},
    )


def _sorted(name: str, rows: int) -> Finding:
    return Finding(
        name="row-order",
        severity="low",
        title=f"the rows are sorted by '{name}'",
        meaning="If they were sorted for publication, this tells nothing. If the original is kept "
        "in that order, a person's place in it is the place in this file.",
        advice="If in doubt, put the rows into a random order.",
        figures={"column": name, "rows": rows},
    )
