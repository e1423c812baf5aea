"""Verdicts on some groups at a time, folded into the verdict on all of them.

A principle sees one histogram per group, and no two groups at once. So it is enough that somebody
delivers the entries of histograms, whole groups together: what a principle says of a block of them
is a `Tally`, and tallies add up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.check import Verdict, ranking, weakest
from wideberth.checks.result import GroupReport, PrincipleReport
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups
from wideberth.principles import Principle, Rule
from wideberth.principles.counts import COUNT, ENTRY, first_rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """What is asked of every group."""

    principle: Principle
    on: str | None
    rule: Rule
    # of each of the table's distinct sensitive values; None if it looks at sizes only
    codes: Codes | None = None
    width: int = 1  # how many codes there are


@dataclass(frozen=True, eq=False)
class Block:
    """Some groups, whole."""

    keys: pl.DataFrame
    start: Ints  # where the entries of each group begin, and where the last ones end
    entries: Ints | None  # which of the table's distinct sensitive values; None if nobody asks
    counts: Ints  # how many rows of the group hold it

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Sequence[str]) -> Block:
        """Find the groups in a frame of keys, entries and counts that is sorted by its keys."""
        begins = np.flatnonzero(first_rows(frame.select(keys)).to_numpy())
        entries = frame[ENTRY].to_numpy() if ENTRY in frame.columns else None
        return cls(
            keys=frame.select(keys)[begins],
            start=np.append(begins, frame.height),
            entries=entries,
            counts=frame[COUNT].to_numpy().astype(np.int64, copy=False),
        )

    def groups(self, question: Question) -> Groups:
        """Return the histograms that a question is about."""
        sizes = np.add.reduceat(self.counts, self.start[:-1])
        if question.codes is None or self.entries is None:
            nothing = np.zeros(len(sizes), dtype=np.int64)
            return Groups(start=np.arange(len(sizes) + 1), codes=nothing, counts=sizes, width=1)
        codes = question.codes[self.entries].astype(np.int64)
        return _histograms(self.start, codes, self.counts, question.width)

    def verdict(self, question: Question) -> Verdict:
        """Ask a question about the groups."""
        groups = self.groups(question)
        return Verdict.of(
            question.principle, question.on, question.rule, groups, _cells_of(self.keys)
        )


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on all groups of several blocks, without reasons."""
    first = verdicts[0]
    return replace(
        first,
        sizes=np.concatenate([each.sizes for each in verdicts]),
        satisfied=np.concatenate([each.satisfied for each in verdicts]),
        achieved={
            key: np.concatenate([each.achieved[key] for each in verdicts]) for key in first.achieved
        },
    )


def _histograms(start: Ints, codes: Ints, counts: Ints, width: int) -> Groups:
    """Sort each group's entries by their codes, and add up those that have the same."""
    owner = np.repeat(np.arange(len(start) - 1), np.diff(start))
    place = owner * width + codes
    if len(place) > 1 and not bool((np.diff(place) > 0).all()):
        order = np.argsort(place, kind="stable")
        place = place[order]
        edges = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
        counts = np.add.reduceat(counts[order], edges)
        owner, codes = np.divmod(place[edges], width)
        start = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=len(start) - 1))))
    return Groups(start=start, codes=codes, counts=counts, width=width)


@dataclass(frozen=True)
class Tally:
    """The verdict on some groups: what of it is needed for the verdict on all."""

    groups: int
    rows: int
    squares: int  # the sum of the squares of the groups' sizes
    most: int  # of how many of the worst groups it keeps the details
    found: PrincipleReport  # as if there were no other groups

    @classmethod
    def of(cls, question: Question, groups: Groups, keys: pl.DataFrame, worst: int) -> Tally:
        """Judge some groups."""
        # Keys ascend: of groups that are equally bad, those with the smallest keys are kept, a
        # missing value being the largest.
        verdict = Verdict.of(
            question.principle, question.on, question.rule, groups, _cells_of(keys)
        )
        return cls.summed(verdict, worst)

    @classmethod
    def summed(cls, verdict: Verdict, worst: int) -> Tally:
        """Return the tally of a verdict."""
        sizes = verdict.sizes
        return cls(
            groups=len(sizes),
            rows=int(sizes.sum()),
            squares=int(sizes @ sizes),
            most=worst,
            found=verdict.report(worst),
        )

    def __add__(self, other: Tally) -> Tally:
        """Return the verdict on the groups of both. No group may be in both."""
        one, two = self.found, other.found
        principle = one.principle
        return Tally(
            groups=self.groups + other.groups,
            rows=self.rows + other.rows,
            squares=self.squares + other.squares,
            most=self.most,
            found=replace(
                one,
                satisfied=one.satisfied and two.satisfied,
                achieved={
                    key: weakest(principle, key, [figure, two.achieved[key]])
                    for key, figure in one.achieved.items()
                },
                violating_groups=one.violating_groups + two.violating_groups,
                violating_rows=one.violating_rows + two.violating_rows,
                worst=sorted([*one.worst, *two.worst], key=lambda g: _rank(principle, g))[
                    : self.most
                ],
            ),
        )

    def report(
        self, told: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    ) -> PrincipleReport:
        """Return the verdict; `told` turns keys, if they are codes, into what a reader knows."""
        worst = [
            replace(group, values=group.values if told is None else told(group.values), number=None)
            for group in self.found.worst
        ]
        return replace(self.found, worst=worst)


def _rank(principle: Principle, group: GroupReport) -> tuple[Any, ...]:
    figures = ranking(principle, group.satisfied, group.achieved, group.rows)
    return (*figures, _place(list(group.values.values())))


def _place(value: Any) -> Any:
    """Return what orders values as their codes do: a missing one is the largest."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        value = tuple(map(_place, value))
    return (1,) if value is None else (0, value)


def _cells_of(keys: pl.DataFrame) -> Callable[[int], dict[str, Any]]:
    # A slice, for a cell of a list column would be a series.
    return lambda row: {key.name: key.slice(row, 1).to_list()[0] for key in keys}
