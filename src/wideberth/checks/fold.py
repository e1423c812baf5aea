"""A check of a table that is not at hand: what must be asked, and what becomes of the answers.

Arguments are settled by the table's columns alone, principles are bound by the distinct values of
what they guard. What is left are questions about histograms, which an engine answers pass by pass:
one pass over the table for each sensitive attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.check import (
    PrincipleVerdict,
    principle_notes,
    ranking,
    size_only_domain,
    weakest,
)
from wideberth.checks.result import CheckResult, GroupReport, PrincipleReport
from wideberth.core.codes import Codes
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, Uneven
from wideberth.errors import ParameterError
from wideberth.hierarchy.quasi import spelling_notes
from wideberth.policy.people import People
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable, examine
from wideberth.principles import Dissimilarity, Principle, Rule
from wideberth.principles.counts import (
    COUNT,
    ENTRY,
    Coding,
    CountedSensitiveColumns,
    DistinctQuery,
    first_rows,
)

# -----------------------------------------------------------------------------
# Verdicts on some groups at a time, folded into the verdict on all of them.
#
# A principle sees one histogram per group, and no two groups at once. So it is enough that somebody
# delivers the entries of histograms, whole groups together: what a principle says of a block of
# them is a `PartialVerdict`, and tallies add up.


@dataclass(frozen=True, eq=False, kw_only=True)
class CodedDemand:
    """What is asked of every group."""

    principle: Principle
    on: str | None
    rule: Rule
    # of each of the table's distinct sensitive values; None if it looks at sizes only
    codes: Codes | None = None
    width: int = 1  # how many codes there are


@dataclass(frozen=True, eq=False)
class GroupBlock:
    """Some groups, whole."""

    keys: pl.DataFrame
    start: Ints  # where the entries of each group begin, and where the last ones end
    entries: Ints | None  # which of the table's distinct sensitive values; None if nobody asks
    counts: Ints  # how many rows of the group hold it

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Sequence[str]) -> GroupBlock:
        """Find the groups in a frame of keys, entries and counts that is sorted by its keys."""
        begins = np.flatnonzero(first_rows(frame.select(keys)).to_numpy())
        entries = frame[ENTRY].to_numpy() if ENTRY in frame.columns else None
        return cls(
            keys=frame.select(keys)[begins],
            start=np.append(begins, frame.height),
            entries=entries,
            counts=frame[COUNT].to_numpy().astype(np.int64, copy=False),
        )

    def groups(self, question: CodedDemand) -> Groups:
        """Return the histograms that a question is about."""
        sizes = np.add.reduceat(self.counts, self.start[:-1])
        if question.codes is None or self.entries is None:
            nothing = np.zeros(len(sizes), dtype=np.int64)
            return Groups(start=np.arange(len(sizes) + 1), codes=nothing, counts=sizes, width=1)
        codes = question.codes[self.entries].astype(np.int64)
        return _histograms(self.start, codes, self.counts, question.width)

    def verdict(self, question: CodedDemand) -> PrincipleVerdict:
        """Ask a question about the groups."""
        groups = self.groups(question)
        return PrincipleVerdict.of(
            question.principle, question.on, question.rule, groups, _cells_of(self.keys)
        )


def joined_verdict(verdicts: Sequence[PrincipleVerdict]) -> PrincipleVerdict:
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
class PartialVerdict:
    """The verdict on some groups: what of it is needed for the verdict on all."""

    groups: int
    rows: int
    squares: int  # the sum of the squares of the groups' sizes
    most: int  # of how many of the worst groups it keeps the details
    found: PrincipleReport  # as if there were no other groups

    @classmethod
    def of(
        cls, question: CodedDemand, groups: Groups, keys: pl.DataFrame, worst: int
    ) -> PartialVerdict:
        """Judge some groups."""
        # Keys ascend: of groups that are equally bad, those with the smallest keys are kept, a
        # missing value being the largest.
        verdict = PrincipleVerdict.of(
            question.principle, question.on, question.rule, groups, _cells_of(keys)
        )
        return cls.summed(verdict, worst)

    @classmethod
    def summed(cls, verdict: PrincipleVerdict, worst: int) -> PartialVerdict:
        """Return the tally of a verdict."""
        sizes = verdict.sizes
        return cls(
            groups=len(sizes),
            rows=int(sizes.sum()),
            squares=int(sizes @ sizes),
            most=worst,
            found=verdict.report(worst),
        )

    def __add__(self, other: PartialVerdict) -> PartialVerdict:
        """Return the verdict on the groups of both. No group may be in both."""
        one, two = self.found, other.found
        principle = one.principle
        return PartialVerdict(
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


# -----------------------------------------------------------------------------
# A check of a table that is not at hand: what must be asked, and what becomes of the answers.


_INTO_MEMORY = "read it into memory: without memory=, as a polars or pandas table"


@dataclass(frozen=True, eq=False)
class CheckPass:
    """What one pass over the table must find out: the histograms of a sensitive attribute."""

    on: tuple[str, ...]  # its columns; none if only sizes are asked for
    values: pl.DataFrame  # their distinct values
    # the number of each of them as an entry: entries come in the order of the codes that most
    # questions read
    ranks: Ints
    questions: dict[int, CodedDemand]  # by the number of the principle


@dataclass(frozen=True, eq=False)
class CheckPlan:
    """All that a check must ask."""

    given: ExaminedTable  # of the table's rows it knows nothing
    passes: list[CheckPass]
    notes: list[str]  # what a reader should know

    @classmethod
    def of(cls, given: ExaminedTable, ask: DistinctQuery, rows: int) -> CheckPlan:
        """Bind the principles to the distinct values of what they guard."""
        if not given.principles:
            raise ParameterError(
                "there is no principle to check", hint='for example "k-anonymity:k=5"'
            )
        sensed = CountedSensitiveColumns(
            ask,
            given.frame.clear(),
            sensitive=given.sensitive,
            hierarchies=given.hierarchies,
            types=given.types,
        )
        found: dict[tuple[str, ...], dict[int, tuple[CodedDemand, Coding]]] = {}
        sizes: dict[int, CodedDemand] = {}
        notes: list[str] = []
        for number, principle in enumerate(given.principles):
            on = sensed.attribute(principle)
            column = sensed.column(principle)
            domain = size_only_domain(rows) if column is None else column[0].domain
            rule = principle.bind(domain)
            lacking = 0 if domain.missing is None else int(domain.histogram[domain.missing])
            notes += principle_notes(principle, domain, lacking, rows)
            question = CodedDemand(principle=principle, on="+".join(on) or None, rule=rule)
            if column is None:
                sizes[number] = question
                continue
            coding = column[1]
            question = replace(question, codes=coding.codes, width=domain.size)
            found.setdefault(on, {})[number] = question, coding
        passes = [_pass(on, questions) for on, questions in found.items()]
        if not passes:
            passes = [CheckPass((), pl.DataFrame(), np.zeros(0, dtype=np.int64), {})]
        passes[0].questions.update(sizes)  # sizes are the same, whatever is counted in a group
        return cls(given, passes, list(dict.fromkeys([*notes, *given.notes])))

    @property
    def keys(self) -> list[str]:
        """The columns that make the groups."""
        return self.given.subject.keys

    def result(
        self,
        tallies: Mapping[int, Sequence[PartialVerdict]],
        table: Callable[[], object],
        told: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None,
        uneven: Uneven | None = None,
        rewritten: Sequence[str] = (),
        people: People | None = None,
    ) -> CheckResult:
        """Return the result of the check."""
        # `tallies` go by the number of the principle; `told`: see `PartialVerdict.report`;
        # `rewritten` are the keys with texts that differ but have the same value.
        folded = [reduce(add, tallies[number]) for number in range(len(self.given.principles))]
        return CheckResult(
            rows=folded[0].rows,
            groups=folded[0].groups,
            squares=folded[0].squares,
            principles=[_without_claims(tally.report(told)) for tally in folded],
            notes=[*self.notes, *spelling_notes(rewritten)],
            uneven=uneven,
            people=people,
            _table_of_groups=table,
        )


def resolve_engine_table(
    schema: pl.DataFrame,
    *,
    population: object = None,
    reference: object = None,
    sensitive_table: object = None,
    policy: Policy | str | Path | None = None,
    **known: Any,
) -> ExaminedTable:
    """Settle what a table's columns are, and refuse what cannot be asked of it."""
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    others = {
        "population": population,
        "reference": reference,
        "sensitive_table": sensitive_table,
    }
    for name, other in others.items():
        if other is not None:
            raise ParameterError(
                f"{name} is for a table in memory, not for one that is read in parts",
                hint=_INTO_MEMORY,
            )
    if policy is not None:
        policy = replace(policy, population=None)
    # A row without values, for a table without rows would be refused. Not by schema.clear(1), which
    # takes names for patterns.
    nothing = pl.DataFrame([pl.Series(c.name, [None], dtype=c.dtype) for c in schema])
    given = examine(nothing, policy=policy, **known)
    for principle in given.principles:
        if principle.needs == "population":
            raise ParameterError(
                f"{principle.name} compares with a population, which needs the table in memory",
                hint=_INTO_MEMORY,
            )
    _ = given.subject.keys  # refuses columns that do not exist, or have two roles
    return given


def require_values(given: ExaminedTable, name: str, dtype: pl.DataType) -> None:
    """Refuse a quasi-identifier that has no value in any row, in the words of a check in memory."""
    # There, a row without a value is all that it takes.
    if given.group is None:
        nothing = pl.DataFrame([pl.Series(name, [None], dtype=dtype)])
        _ = replace(given, frame=nothing, quasi=[name], sensitive=[]).subject.partition


def uneven_groups(
    columns: Sequence[str], groups: int, rows: int, differing: Sequence[int]
) -> Uneven | None:
    """Return groups that are not uniform, as an engine counted them; None if there are none."""
    # `groups` and `rows` count those that are not uniform; `differing` says in how many groups each
    # column differs.
    found = [name for name, many in zip(columns, differing, strict=True) if many]
    return Uneven(int(groups), int(rows), found) if found else None


def _pass(on: tuple[str, ...], found: Mapping[int, tuple[CodedDemand, Coding]]) -> CheckPass:
    """Number the distinct values by the codes of the first question, which others mostly share."""
    coding = next(coding for _, coding in found.values())
    order = np.argsort(coding.codes, kind="stable")
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.arange(len(order))
    return CheckPass(
        on,
        coding.values,
        ranks,
        {
            number: replace(question, codes=other.codes[order])
            for number, (question, other) in found.items()
        },
    )


def _without_claims(report: PrincipleReport) -> PrincipleReport:
    if not isinstance(report.principle, Dissimilarity):
        return report
    return replace(report, _claims=_no_claims)


def _no_claims(worst: int) -> Any:
    raise ParameterError(
        "claims name rows and quote their values, which needs the table in memory",
        hint=_INTO_MEMORY,
    )
