"""Several releases of one table: what is possible in all of them is less than in each.

In each release a victim faces a histogram: the sensitive values of all boxes that cover the
victim. A value must be in all of them (a composition, or intersection, attack). With the original,
the rows of a box are also shared out among the people whom it covers, and what one person cannot
have another must (`wideberth.risk.leaks.joint_inference`), unless the table is too large for that.

What is ruled out is certain, but not everything that could be ruled out is: how many people are
certain is a lower bound, always. A release from which rows were left out rules nothing out for
those who may be among them. How likely a value is that is left is an estimate: it counts as
often as in the release that has it least. That is no posterior of Bayes, for which one would have
to know how the releases were made. Of a release that makes a guess worse, an adversary may take no
notice; so a person's chance is that from all releases together, or that from one of them, whichever
is greater.

With the original, victims are its rows, and the boxes that cover them are known. Without it,
victims are the rows of the first release, whose box is known; of the other releases all boxes that
overlap it are taken, which are too many.

Severity
--------
high
    for somebody, a single value is left, though the first release by itself leaves several;
medium
    somebody's value can be guessed with a probability of 3/4, by the estimate, and not from the
    first release by itself;
low
    on average, the probability of guessing right rises by a tenth or more;
info
    nothing of the kind was found, but it may be so all the same.

What it cannot see: releases that are not given; people who are in one release only, but are taken
to be in all; values that changed between releases; and what follows only from several releases at
once, as each is looked at by itself, again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.core.codes import Codes, Column, encode
from wideberth.core.exact import Bools, Floats, Ints, Numbers, WholeNumbers, whole
from wideberth.core.groups import Groups
from wideberth.distances.trees import expand_rows
from wideberth.errors import ParameterError
from wideberth.labels import BoxCover, PublishedBoxes, PublishedQuasi
from wideberth.risk.attacks import CONFIDENCES
from wideberth.risk.findings import NOT_EXHAUSTED, SEVERAL, Finding
from wideberth.risk.inputs import encode_together
from wideberth.risk.leaks.joint_inference import LINKS, PossibleValues, deduce

_LIKELY = 0.75
_PEOPLE = 10_000  # victims to look at if not everybody, a random sample
_ENTRIES = 5_000_000  # histogram entries to intersect; beyond, a sample of the victims is taken
_PAIRS = 10_000_000  # pairs of victims and boxes
_PROBE = 100  # victims that tell how many pairs there will be
_RISE = 1.1
_UNPROVEN = float(np.nextafter(1.0, 0.0))
_ADVICE = (
    "Publish one release of a table, and keep it; or make the second from the groups of the first, "
    "by taking some of them together."
)


def intersect(
    frames: Sequence[pl.DataFrame],
    published: Sequence[PublishedBoxes],
    *,
    on: str,
    original: pl.DataFrame | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Find out what an adversary learns who has several releases of one table.

    >>> one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
    >>> two = pl.DataFrame({"age": ["20..34"] * 3 + ["35..39"], "ill": ["a", "c", "x", "d"]})
    >>> read = [PublishedBoxes.read(table, ["age"]) for table in (one, two)]
    >>> [str(finding) for finding in intersect([one, two], read, on="ill")]
    ["high: together, the releases leave at least 1 of 4 people one 'ill' only"]
    """
    # published: all read with the original, or none.
    if len(frames) < 2 or len(frames) != len(published):
        raise ParameterError(
            "an intersection needs two releases or more", hint="give another release of the table"
        )
    given = [*(frame[on] for frame in frames), *([] if original is None else [original[on]])]
    column = encode_together(*given)
    codes = np.split(column.codes, np.cumsum([len(series) for series in given])[:-1])
    groups = [
        release.boxes.histograms(Column(its, column.domain))
        for release, its in zip(published, codes, strict=False)  # the original's are not published
    ]
    if original is None:
        victims = _rows_of_first(published, groups, seed)
    else:
        victims = _rows_of_original(published, groups, codes[-1], seed)
    if not victims.people.sum():
        return [
            not_combined(f"no one was found in all of the releases, so '{on}' was not compared")
        ]
    return [_judged(on, _outcome(victims, seed), victims)]


def not_combined(title: str) -> Finding:
    """Return the finding that releases were not combined, so nothing is known of them together."""
    return Finding(
        name=SEVERAL,
        severity="info",
        title=title,
        meaning="What an adversary learns who has several of these releases is not known.",
        advice=_ADVICE,
        figures={"lower_bound": True},
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _VictimKinds:
    """Classes of people: what they face in each release, and what is true of them."""

    faced: Sequence[Groups]
    situations: npt.NDArray[np.int64]  # a line for each class: which histogram of each release
    codes: Ints
    people: Ints
    of: int
    outside: int  # people whom no box covers in some release
    left: Groups | PossibleValues  # lists of the values that are left
    at: Ints  # which of them is that of each class
    alone: Bools  # whether the first release leaves one value by itself, as is proven
    whole: Sequence[bool]  # for each release, whether everybody is in it
    together: Bools | None = None  # whether all releases leave one value; None: still to be seen
    inference: str = "person by person"
    original: bool = True


def _rows_of_original(
    published: Sequence[PublishedBoxes], groups: Sequence[Groups], truth: Codes, seed: int
) -> _VictimKinds:
    """Take the rows of the original, or the same random sample of them for every release."""
    rows = np.random.default_rng(seed).permutation(len(truth))
    most = max(_covered_by(release, rows[:_PROBE]) for release in published)
    everybody = len(rows) * most <= LINKS
    if not everybody:
        rows = rows[: min(_PEOPLE, max(int(_PAIRS / most), 1))]
    rows = np.sort(rows)
    covering = [_of(release, rows).covering(everyone=True) for release in published]
    situations = np.stack([one.situation for one in covering], axis=1).astype(np.int64)
    inside = (situations >= 0).all(axis=1)
    possible = deduce(covering, groups, truth) if everybody else None
    alone = deduce(covering[:1], groups[:1], truth) if possible is not None else None
    lines = np.column_stack(
        [
            situations,
            truth[rows],
            np.zeros(len(rows)) if possible is None else possible.member,
            np.zeros(len(rows)) if alone is None else alone.certain(truth),
            np.zeros(len(rows)) if possible is None else possible.certain(truth),
        ]
    ).astype(np.int64)
    lines, people = np.unique(lines[inside], axis=0, return_counts=True)
    *_, codes, member, before, after = lines.T
    faced = [one.pooled(its) for one, its in zip(covering, groups, strict=True)]
    return _VictimKinds(
        faced=faced,
        situations=lines[:, :-4],
        codes=codes,
        people=people,
        of=len(truth),
        outside=int((~inside).sum()),
        left=faced[0] if possible is None else possible,
        at=lines[:, 0] if possible is None else member,
        alone=before > 0,
        whole=[release.rows == len(truth) for release in published],
        together=None if possible is None else after > 0,
        inference="person by person" if possible is None else "matching",
    )


def _covered_by(published: PublishedBoxes, rows: Ints) -> float:
    """Return how many boxes cover a person, on average."""
    covering = _of(published, rows).covering(everyone=True)
    known = covering.situation[covering.situation >= 0]
    return float(np.diff(covering.start)[known].sum() / len(rows)) or 1.0


def _of(published: PublishedBoxes, rows: Ints) -> PublishedBoxes:
    """Leave out all rows of the original but some."""
    axes = []
    for axis in published.axes:
        assert axis.points is not None  # noqa: S101 - it was read with the original
        axes.append(replace(axis, points=axis.points[rows]))
    return replace(published, axes=tuple(axes), original_rows=len(rows))


def _rows_of_first(
    published: Sequence[PublishedBoxes], groups: Sequence[Groups], seed: int
) -> _VictimKinds:
    """Take the rows of the first release; boxes of the others that overlap theirs may hold them."""
    first, counts = published[0], groups[0]
    largest = max(release.boxes.count for release in published[1:])
    boxes = np.arange(first.boxes.count)
    if len(boxes) * largest > _PAIRS:
        some = max(_PAIRS // largest, 1)
        boxes = np.sort(np.random.default_rng(seed).choice(len(boxes), some, replace=False))
    covering = [_overlapping(first, release, boxes) for release in published[1:]]
    at = np.full(len(counts), -1)
    at[boxes] = np.arange(len(boxes))
    entries = np.flatnonzero(at[counts.owner] >= 0)
    place = at[counts.owner[entries]]
    situations = np.stack(
        [counts.owner[entries], *(one.situation[place] for one in covering)], axis=1
    ).astype(np.int64)
    inside = (situations >= 0).all(axis=1)
    people = counts.counts[entries]
    return _VictimKinds(
        faced=[counts, *(one.pooled(its) for one, its in zip(covering, groups[1:], strict=True))],
        situations=situations[inside],
        codes=counts.codes[entries][inside],
        people=people[inside],
        of=first.rows,
        outside=int(people[~inside].sum()),
        left=counts,
        at=situations[inside, 0],
        alone=np.zeros(int(inside.sum()), dtype=bool),
        whole=[release.rows >= first.rows for release in published],
        original=False,
    )


def _overlapping(first: PublishedBoxes, other: PublishedBoxes, boxes: Ints) -> BoxCover:
    """Find the boxes of another release that overlap some boxes of the first."""
    there = {axis.name: (i, axis) for i, axis in enumerate(other.axes)}
    shared = [
        (i, there[axis.name][0], _touching(axis, there[axis.name][1]))
        for i, axis in enumerate(first.axes)
        if axis.name in there
    ]
    lists = []
    for labels in first.labels[boxes]:
        alive = np.ones(other.boxes.count, dtype=bool)
        for here, elsewhere, touching in shared:
            alive &= touching(int(labels[here]))[other.labels[:, elsewhere]]
        lists.append(np.flatnonzero(alive))
    sizes = np.array([len(found) for found in lists])
    situation = np.where(sizes > 0, np.cumsum(sizes > 0) - 1, -1)
    return BoxCover(
        victims=boxes,
        of=first.boxes.count,
        situation=situation,
        start=np.concatenate(([0], np.cumsum(sizes[sizes > 0]))),
        boxes=np.concatenate(lists),
        exact=len(boxes) == first.boxes.count,
    )


def _touching(here: PublishedQuasi, there: PublishedQuasi) -> Callable[[int], Bools]:
    """Return a function from a label to those of another release that may cover the same person."""
    # Of numbers, only the outermost values are looked at.
    every = np.ones(len(there.texts), dtype=bool)
    if here.numeric != there.numeric:  # not to be compared, so nothing is ruled out
        return lambda label: every
    if here.numbers is not None and there.numbers is not None:
        per = lcm(here.numbers.per, there.numbers.per)
        low, high, some = _hulls(here, here.numbers, per)
        least, greatest, others_some = _hulls(there, there.numbers, per)

        def meet(label: int) -> Bools:
            return some[label] & others_some & (low[label] <= greatest) & (least <= high[label])

    else:
        atoms = pl.concat([axis.atoms.cast(pl.String).alias("") for axis in (here, there)])
        codes = encode(atoms).codes
        ours, theirs = np.split(codes, [len(here.atoms)])
        width = int(codes.max()) + 1
        members, others = _members(here, ours, width), _members(there, theirs, width)

        def meet(label: int) -> Bools:
            return np.logical_or.reduce(others[:, members[label]], axis=1)

    def touching(label: int) -> Bools:
        if here.everything[label]:
            return every
        return meet(label) | there.everything | (there.missing & here.missing[label])

    return cache(touching)


def _hulls(
    axis: PublishedQuasi, numbers: Numbers, per: int
) -> tuple[WholeNumbers, WholeNumbers, Bools]:
    """Return the least and the greatest value of each label, of a unit, and which have any."""
    scale = per // numbers.per
    units = whole(numbers.units, numbers.bound * scale) * scale
    some = np.diff(axis.start) > 0
    low, high = np.zeros(len(some), units.dtype), np.zeros(len(some), units.dtype)
    low[some] = units[axis.first[axis.start[:-1][some]]]
    high[some] = units[axis.last[axis.start[1:][some] - 1]]
    return low, high, some


def _members(axis: PublishedQuasi, codes: Codes, width: int) -> Bools:
    """Mark the atoms that each label covers."""
    table = np.zeros((len(axis.texts), width), dtype=bool)
    for label in range(len(axis.texts)):
        for run in range(axis.start[label], axis.start[label + 1]):
            table[label, codes[axis.first[run] : axis.last[run] + 1]] = True
    return table


@dataclass(frozen=True, kw_only=True)
class _IntersectionResult:
    """What is learnt, before (from the first release) and after (with the others beside it)."""

    # Nobody counts for less after: how many more people pass a level is how many pass it newly.
    # Whose value alone is left has a chance of 1.

    people: int
    of: int
    outside: int
    mean: tuple[float, float]
    above: dict[float, tuple[int, int]]


def _outcome(victims: _VictimKinds, seed: int) -> _IntersectionResult:
    """Weigh the values that are left for each class of victims."""
    left, faced = victims.left, victims.faced
    order = np.random.default_rng(seed).permutation(len(victims.codes))
    entries = np.diff(left.start)[victims.at]
    chosen = order[np.cumsum(entries[order]) <= max(_ENTRIES, int(entries.max()))]
    situations, codes, people = (
        part[chosen] for part in (victims.situations, victims.codes, victims.people)
    )
    lengths, entry = expand_rows(left.start, victims.at[chosen])
    owner, value = np.repeat(np.arange(len(chosen)), lengths), left.codes[entry]
    weight = np.full(len(entry), np.iinfo(np.int64).max)
    guesses = []
    for its, at, complete in zip(faced, situations.T, victims.whole, strict=True):
        shown = its.lookup(at[owner], value)
        # What is left is possible, and somebody who was left out may have any value.
        possible = not complete or victims.together is not None
        weight = np.minimum(weight, np.maximum(shown, 1) if possible else shown)
        guesses.append(its.lookup(at, codes) / its.sizes[at])
    total = np.bincount(owner, weights=weight, minlength=len(chosen))
    own = np.bincount(owner, weights=weight * (value == codes[owner]), minlength=len(chosen))
    guess = own / np.maximum(total, 1)
    alone = victims.alone[chosen]
    if victims.together is not None:
        together = victims.together[chosen]
    else:
        alone = alone | ((guesses[0] == 1) & victims.whole[0])
        together = alone | ((guess == 1) & victims.whole[0])
    # An estimate proves nothing, however high it is.
    before = np.where(alone, 1.0, np.minimum(guesses[0], _UNPROVEN))
    guessed = np.maximum.reduce([before, *guesses[1:], guess])
    after = np.where(together, 1.0, np.minimum(guessed, _UNPROVEN))
    looked_at = int(people.sum())

    def mean(shares: Floats) -> float:
        return round(float((shares * people).sum() / looked_at), 4)

    def many_at(shares: Floats, level: float) -> int:
        return int(people[shares >= level].sum())

    return _IntersectionResult(
        people=looked_at,
        of=victims.of,
        outside=victims.outside,
        mean=(mean(before), mean(after)),
        above={x: (many_at(before, x), many_at(after, x)) for x in CONFIDENCES},
    )


def _judged(on: str, found: _IntersectionResult, victims: _VictimKinds) -> Finding:
    above = {f"{x:g}": {"before": b, "after": a} for x, (b, a) in found.above.items()}
    certain, likely = (found.above[x][1] - found.above[x][0] for x in (1.0, _LIKELY))
    rises = found.mean[1] >= _RISE * found.mean[0] > 0
    people = f"{found.of:,} people"
    if certain:
        severity = "high"
        title = f"together, the releases leave at least {certain:,} of {people} one '{on}' only"
    elif likely:
        severity = "medium"
        title = (
            f"together, the releases make '{on}' likely for an estimated {likely:,} of {people}, "
            "as the first does not by itself"
        )
    elif rises:
        severity = "low"
        title = f"together, the releases tell more of '{on}' than the first by itself"
    elif victims.original:
        severity = "info"
        title = f"of '{on}' the releases together were not found to tell more than the first"
    else:
        severity = "info"
        title = f"how much the releases tell of '{on}' together cannot be told without the original"
    figures: dict[str, Any] = {
        "column": on,
        "looked_at": found.people,
        "of": found.of,
        "covered_in_some_only": found.outside,
        "mean": {"before": found.mean[0], "after": found.mean[1]},
        "certain": above["1"],
        "above": above,
        "inference": victims.inference,
        "lower_bound": True,
    }
    return Finding(
        name=SEVERAL,
        severity=severity,
        title=title,
        meaning="A value that is possible in one release may be ruled out by another one."
        + _change(*found.mean)
        + " Chances are estimates: a value counts as often as in the release that has it least. "
        + _limit(victims)
        + (f" (Of {people}, {found.people:,} were looked at.)" if found.people < found.of else ""),
        advice=_ADVICE,
        figures=figures,
    )


def _limit(victims: _VictimKinds) -> str:
    """Return why more people may be certain than were found."""
    if not victims.original:
        why = (
            "Without the original, everybody in the first release was taken to be in the others, "
            "and boxes were taken for possible that are not"
        )
    elif victims.inference == "matching":
        why = "Each release was shared out among its people by itself, not all at once"
    else:
        why = "Each person was looked at alone, as the table is too large for more"
    return f"{why}: more people may be certain than were found, as {NOT_EXHAUSTED}."


def _change(before: float, after: float) -> str:
    """Describe how the mean chance changes, if the figures that are shown do."""
    was, becomes = (f"{100 * mean:.3g} %" for mean in (before, after))
    if was == becomes:
        return f" On average, the chance of guessing right stays at about {was}."
    return f" On average, the chance of guessing right rises from {was} to {becomes}."
