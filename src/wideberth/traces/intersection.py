"""Several releases of one table: what is possible in all of them is less than in each.

In each release a victim faces a histogram: the sensitive values of all boxes that cover the
victim. A value must be in all of them, at least as often as in the one that has it least: the
minimum of the counts, value by value (a composition, or intersection, attack).

Which values are left is certain. How likely each of them is, by these counts, is an estimate only:
it is no posterior of Bayes, for which one would have to know how the releases were made. Of a
release that makes a guess worse, an adversary may take no notice; so a person's chance is that
from all releases together, or that from one of them, whichever is greater.

With the original, victims are its rows, and the boxes that cover them are known. Without it,
victims are the rows of the first release, whose box is known; of the other releases all boxes that
overlap it are taken, which are too many: how many are certain is a lower bound then.

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
    nothing of the kind was found, but without the original it may be so all the same;
nothing
    otherwise.

What it cannot see: releases that are not given; people who are in one release only, but are taken
to be in all; values that changed between releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.attacks import CONFIDENCES
from wideberth.encode import Codes, Column, encode
from wideberth.errors import ParameterError
from wideberth.exact import Bools, Floats, Ints
from wideberth.findings import Finding
from wideberth.groups import Groups
from wideberth.published import Axis, Covering, Published
from wideberth.traces.columns import read_both

_LIKELY = 0.75
_PEOPLE = 10_000  # victims to look at, of more a random sample
_ENTRIES = 5_000_000  # histogram entries to intersect; beyond, a sample of the victims is taken
_PAIRS = 10_000_000  # pairs of victims and boxes
_PROBE = 100  # victims that tell how many pairs there will be
_RISE = 1.1


def intersect(
    frames: Sequence[pl.DataFrame],
    published: Sequence[Published],
    *,
    on: str,
    original: pl.DataFrame | None = None,
    seed: int = 0,
) -> list[Finding]:
    """Tell what an adversary learns who has several releases of one table.

    Parameters
    ----------
    frames : sequence of polars.DataFrame
        The releases.
    published : sequence of Published
        What their labels say; all read with the original, or none.
    on : str
        The sensitive attribute.
    original : polars.DataFrame, optional
        The table they were made from.
    seed : int
        For the sample of victims that is looked at if there are very many.

    Examples
    --------
    >>> one = pl.DataFrame({"age": ["20..29"] * 2 + ["30..39"] * 2, "ill": ["a", "b", "c", "d"]})
    >>> two = pl.DataFrame({"age": ["20..34"] * 3 + ["35..39"], "ill": ["a", "c", "x", "d"]})
    >>> read = [Published.read(table, ["age"]) for table in (one, two)]
    >>> [str(finding) for finding in intersect([one, two], read, on="ill")]
    ["high: together, the releases leave 1 of 4 people one 'ill' only"]
    """
    if len(frames) < 2 or len(frames) != len(published):
        raise ParameterError(
            "an intersection needs two releases or more", hint="give another release of the table"
        )
    given = [*(frame[on] for frame in frames), *([] if original is None else [original[on]])]
    column = read_both(*given)
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
        return []
    return _judged(on, _outcome(victims, seed), lower_bound=original is None)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Victims:
    """Classes of people: what they face in each release, and what is true of them."""

    faced: Sequence[Groups]
    situations: npt.NDArray[np.int64]  # a line for each class: which histogram of each release
    codes: Ints
    people: Ints
    of: int
    outside: int  # people whom no box covers in some release


def _rows_of_original(
    published: Sequence[Published], groups: Sequence[Groups], truth: Codes, seed: int
) -> _Victims:
    """Take the rows of the original, or the same random sample of them for every release."""
    rows = np.random.default_rng(seed).permutation(len(truth))
    most = max(_covered_by(release, rows[:_PROBE]) for release in published)
    rows = np.sort(rows[: min(_PEOPLE, max(int(_PAIRS / most), 1))])
    covering = [_of(release, rows).covering(everyone=True) for release in published]
    situations = np.stack([one.situation for one in covering], axis=1).astype(np.int64)
    inside = (situations >= 0).all(axis=1)
    lines = np.column_stack([situations[inside], truth[rows[inside]]])
    lines, people = np.unique(lines, axis=0, return_counts=True)
    return _Victims(
        faced=[one.pooled(its) for one, its in zip(covering, groups, strict=True)],
        situations=lines[:, :-1],
        codes=lines[:, -1],
        people=people,
        of=len(truth),
        outside=int((~inside).sum()),
    )


def _covered_by(published: Published, rows: Ints) -> float:
    """Return how many boxes cover a person, on average."""
    covering = _of(published, rows).covering(everyone=True)
    known = covering.situation[covering.situation >= 0]
    return float(np.diff(covering.start)[known].sum() / len(rows)) or 1.0


def _of(published: Published, rows: Ints) -> Published:
    """Leave out all rows of the original but some."""
    axes = []
    for axis in published.axes:
        assert axis.points is not None  # noqa: S101 - it was read with the original
        axes.append(replace(axis, points=axis.points[rows]))
    return replace(published, axes=tuple(axes), original_rows=len(rows))


def _rows_of_first(published: Sequence[Published], groups: Sequence[Groups], seed: int) -> _Victims:
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
    return _Victims(
        faced=[counts, *(one.pooled(its) for one, its in zip(covering, groups[1:], strict=True))],
        situations=situations[inside],
        codes=counts.codes[entries][inside],
        people=people[inside],
        of=first.rows,
        outside=int(people[~inside].sum()),
    )


def _overlapping(first: Published, other: Published, boxes: Ints) -> Covering:
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
    return Covering(
        victims=boxes,
        of=first.boxes.count,
        situation=situation,
        start=np.concatenate(([0], np.cumsum(sizes[sizes > 0]))),
        boxes=np.concatenate(lists),
        exact=len(boxes) == first.boxes.count,
    )


def _touching(here: Axis, there: Axis) -> Callable[[int], Bools]:
    """Return what tells the labels of another release that may cover the same person as a label.

    Of numbers, only the outermost values are looked at.
    """
    every = np.ones(len(there.texts), dtype=bool)
    if here.numeric != there.numeric:  # not to be compared, so nothing is ruled out
        return lambda label: every
    if here.numeric:
        low, high = _hulls(here)
        least, greatest = _hulls(there)

        def meet(label: int) -> Bools:
            return (low[label] <= greatest) & (least <= high[label])

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


def _hulls(axis: Axis) -> tuple[Floats, Floats]:
    some = np.diff(axis.start) > 0
    low, high = np.full(len(some), np.inf), np.full(len(some), -np.inf)
    low[some] = axis.places[axis.first[axis.start[:-1][some]]]
    high[some] = axis.places[axis.last[axis.start[1:][some] - 1]]
    return low, high


def _members(axis: Axis, codes: Codes, width: int) -> Bools:
    """Mark the atoms that each label covers."""
    table = np.zeros((len(axis.texts), width), dtype=bool)
    for label in range(len(axis.texts)):
        for run in range(axis.start[label], axis.start[label + 1]):
            table[label, codes[axis.first[run] : axis.last[run] + 1]] = True
    return table


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What is learnt, before (from the first release) and after (with the others beside it).

    Nobody counts for less after: how many more people pass a level is how many pass it newly. Whose
    value alone is left has a chance of 1.
    """

    people: int
    of: int
    outside: int
    mean: tuple[float, float]
    above: dict[float, tuple[int, int]]


def _outcome(victims: _Victims, seed: int) -> _Outcome:
    """Intersect the histograms that each class of victims faces."""
    first, *others = victims.faced
    order = np.random.default_rng(seed).permutation(len(victims.codes))
    entries = first.distinct[victims.situations[:, 0]]
    chosen = order[np.cumsum(entries[order]) <= max(_ENTRIES, int(entries.max()))]
    situations, codes = victims.situations[chosen], victims.codes[chosen]
    people, many = victims.people[chosen], entries[chosen]
    owner = np.repeat(np.arange(len(chosen)), many)
    begin = np.repeat(first.start[situations[:, 0]] - np.cumsum(many) + many, many)
    entry = begin + np.arange(len(owner))
    value, left = first.codes[entry], first.counts[entry]
    guesses = [first.lookup(situations[:, 0], codes) / first.sizes[situations[:, 0]]]
    for k, other in enumerate(others, start=1):
        at = situations[:, k]
        left = np.minimum(left, other.lookup(at[owner], value))
        guesses.append(other.lookup(at, codes) / other.sizes[at])
    total = np.bincount(owner, weights=left, minlength=len(chosen))
    own = np.bincount(owner, weights=left * (value == codes[owner]), minlength=len(chosen))
    before, after = guesses[0], np.maximum.reduce([*guesses, own / np.maximum(total, 1)])
    looked_at = int(people.sum())

    def mean(shares: Floats) -> float:
        return round(float((shares * people).sum() / looked_at), 4)

    def many_at(shares: Floats, level: float) -> int:
        return int(people[shares >= level].sum())

    return _Outcome(
        people=looked_at,
        of=victims.of,
        outside=victims.outside,
        mean=(mean(before), mean(after)),
        above={x: (many_at(before, x), many_at(after, x)) for x in CONFIDENCES},
    )


def _judged(on: str, found: _Outcome, *, lower_bound: bool) -> list[Finding]:
    above = {f"{x:g}": {"before": b, "after": a} for x, (b, a) in found.above.items()}
    certain, likely = (found.above[x][1] - found.above[x][0] for x in (1.0, _LIKELY))
    rises = found.mean[1] >= _RISE * found.mean[0] > 0
    least, people = "at least " if found.people < found.of else "", f"{found.of:,} people"
    if certain:
        severity = "high"
        title = f"together, the releases leave {least}{certain:,} of {people} one '{on}' only"
    elif likely:
        severity = "medium"
        title = (
            f"together, the releases make '{on}' likely for {least}{likely:,} of {people}, "
            "as the first does not by itself"
        )
    elif rises:
        severity = "low"
        title = f"together, the releases tell more of '{on}' than the first by itself"
    elif lower_bound:
        severity = "info"
        title = f"how much the releases tell of '{on}' together cannot be told without the original"
    else:
        return []
    figures: dict[str, Any] = {
        "column": on,
        "looked_at": found.people,
        "of": found.of,
        "covered_in_some_only": found.outside,
        "mean": {"before": found.mean[0], "after": found.mean[1]},
        "certain": above["1"],
        "above": above,
        "lower_bound": lower_bound,
    }
    some = f" (Of {people}, {found.people:,} were looked at.)"
    return [
        Finding(
            name="several-releases",
            severity=severity,
            title=title,
            meaning="A value that is possible in one release may be ruled out by another one."
            + _change(*found.mean)
            + " Chances are estimates: a value counts as often as in the release that has it least."
            + (
                " Without the original, boxes were taken for possible that are not: more people "
                "may be certain than were found."
                if lower_bound
                else ""
            )
            + (some if found.people < found.of else ""),
            advice="Publish one release of a table, and keep it; or make the second from the "
            "groups of the first, by taking some of them together.",
            figures=figures,
        )
    ]


def _change(before: float, after: float) -> str:
    """Say how the mean chance changes, if the figures that are shown do."""
    was, becomes = (f"{100 * mean:.3g} %" for mean in (before, after))
    if was == becomes:
        return f" On average, the chance of guessing right stays at about {was}."
    return f" On average, the chance of guessing right rises from {was} to {becomes}."
