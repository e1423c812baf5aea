"""check: which principles does a table satisfy, where does it fail, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth.claiming import Claim, worst_claims
from wideberth.encode import Domain
from wideberth.errors import ParameterError, PolicyError
from wideberth.exact import Bools, Floats, Ints
from wideberth.examining import Examined, examine
from wideberth.groups import Groups
from wideberth.memory import bounded
from wideberth.policy import Policy
from wideberth.principles import Dissimilarity, Principle
from wideberth.principles.dissimilarity import Dissimilar
from wideberth.results import CheckResult, GroupReport, PrincipleReport
from wideberth.subject import Subject, told_of
from wideberth.twofold import SENSITIVE_TABLE
from wideberth.words import as_string


def check(
    table: object,
    *,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    group: str | None = None,
    population: object = None,
    reference: object = None,
    sensitive_table: object = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    worst: int = 5,
    max_memory: int | None = None,
) -> CheckResult:
    """Check a table, original or published, against privacy principles.

    Parameters
    ----------
    table : dataframe or path
        A pandas, polars or pyarrow table, or a CSV, Parquet or Arrow file. Generalised values
        (intervals, ``130**``, ``*``) are labels like any other.
    quasi : str or sequence of str
        The quasi-identifiers. Rows that agree on all of them form a group; a missing value agrees
        with missing values only. Here and below, "disease.*" stands for all columns that begin
        with "disease.".
    sensitive : str or sequence of str, optional
        The sensitive attributes.
    principles : Principle, str, or sequence of them
        What to check, as objects or as on the command line ("epsilon-m:epsilon=4500,m=5").
    group : str, optional
        A column with group ids, which then make the groups instead of the quasi-identifiers.
    population : dataframe or path, optional
        For δ-presence: a table of the population with the same quasi-identifiers.
    reference : dataframe or path, optional
        For t-closeness of a release from which rows were suppressed: the table it was made from,
        with whose distribution the groups are then compared. By default that is the table itself.
    sensitive_table : dataframe or path, optional
        The second table of an anatomised release: group id, sensitive value, and how many rows of
        the group hold it. `table` is then the first one, with quasi-identifiers and group ids.
    hierarchies : mapping, optional
        Semantic trees by sensitive attribute: a `Hierarchy`, a file, or a rule as in a policy.
    types : mapping, optional
        Types of sensitive attributes, where guessing would be wrong.
    policy : Policy or path, optional
        Where everything that is not given here comes from. Every column must have a role in it.
    worst : int
        How many groups to report in detail for each principle.
    max_memory : int, optional
        How many megabytes distances may take at a time, 256 by default. Less takes longer.

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"zip": ["130**"] * 3, "disease": ["flu", "flu", "cancer"]})
    >>> result = check(table, quasi="zip", sensitive="disease", principles="frequency-l:l=2")
    >>> result.satisfied, result.principles[0].achieved
    (False, {'l': 1.5})
    """
    if worst < 0:
        raise ParameterError("worst must be a whole number from 0", hint="worst=5")
    if max_memory is not None and (type(max_memory) is not int or max_memory < 1):
        raise ParameterError("max_memory must be a whole number from 1", hint="max_memory=256")
    given = examine(
        table,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        group=group,
        population=population,
        reference=reference,
        sensitive_table=sensitive_table,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
    )
    try:
        with bounded(max_memory):
            return judged(given, worst=worst)
    except ParameterError as error:
        if principles or policy is None:
            raise
        raise PolicyError(error.what, hint=error.hint) from None  # the policy's mistake


def judged(given: Examined, *, population: object = None, worst: int = 5) -> CheckResult:
    """Check a table whose columns have their roles against the principles that it should satisfy.

    Parameters
    ----------
    given : Examined
        The table.
    population : dataframe, optional
        For δ-presence, if it is not the one that the table came with.
    worst : int
        How many groups to report in detail for each principle.
    """
    if given.counted is not None:  # whose mistakes are told by its own rows
        lines = replace(given, frame=given.counted, quasi=[], reference=None).subject
        with told_of(SENSITIVE_TABLE):
            for principle in given.principles:
                lines.column(lines.attribute(principle), principle)
    if not given.principles:
        raise ParameterError("there is no principle to check", hint='for example "k-anonymity:k=5"')
    subject = given.subject
    people = given.population if population is None else population
    verdicts = [_judge(subject, principle, people) for principle in given.principles]
    return CheckResult(
        rows=given.frame.height,
        groups=subject.partition.count,
        principles=[verdict.report(worst) for verdict in verdicts],
        notes=list(dict.fromkeys(note for verdict in verdicts for note in verdict.notes)),
        _table_of_groups=lambda: given.back(_group_table(subject, verdicts)),
    )


@dataclass(frozen=True)
class _Verdict:
    """A principle's answers for all groups."""

    principle: Principle
    on: str | None
    sizes: Ints
    satisfied: Bools
    achieved: dict[str, Floats]
    reason: Callable[[int], str]
    values: Callable[[int], dict[str, Any]]
    places: Ints | slice  # where the table's own groups are among those judged
    notes: list[str]
    claims: Callable[[int], list[Claim]] | None

    def report(self, worst: int) -> PrincipleReport:
        failing = ~self.satisfied
        parameters = self.principle.parameters()
        weakest = {
            key: (np.min if parameters[key].stronger == "higher" else np.max)(figures)
            for key, figures in self.achieved.items()
        }
        return PrincipleReport(
            principle=self.principle,
            on=self.on,
            satisfied=not failing.any(),
            achieved={key: float(value) for key, value in weakest.items()},
            violating_groups=int(failing.sum()),
            violating_rows=int(self.sizes[failing].sum()),
            worst=[self._group(int(g)) for g in self._ranked(worst)],
            _claims=self.claims,
        )

    def _ranked(self, many: int) -> Sequence[int]:
        """Rank the groups: violating ones first, then by what they achieve, then larger ones."""
        if not many:
            return []
        keys: list[Any] = [-self.sizes]
        parameters = self.principle.parameters()
        for key, figures in reversed(self.achieved.items()):
            keys.append(figures if parameters[key].stronger == "higher" else -figures)
        keys.append(self.satisfied)
        order: Sequence[int] = np.lexsort(keys)[:many].tolist()
        return order

    def _group(self, group: int) -> GroupReport:
        return GroupReport(
            values=self.values(group),
            rows=int(self.sizes[group]),
            satisfied=bool(self.satisfied[group]),
            achieved={key: float(figures[group]) for key, figures in self.achieved.items()},
            reason=self.reason(group),
        )


def _judge(subject: Subject, principle: Principle, population: object) -> _Verdict:
    on = subject.attribute(principle)
    column = subject.column(on, principle) if on else None
    domain = (
        column.domain if column else Domain(name="rows", histogram=np.array([len(subject.frame)]))
    )
    rule = principle.bind(domain)
    values: Callable[[int], dict[str, Any]] = subject.group_values
    places: Ints | slice = slice(None)
    if principle.needs == "population":
        groups, values, places = subject.with_population(population)
    else:
        groups = subject.groups(column)
    answers = [(rule.satisfies(block), rule.achieved(block)) for block in groups.blocks()]
    return _Verdict(
        principle=principle,
        on="+".join(on) or None,
        sizes=groups.sizes,
        satisfied=np.concatenate([satisfied for satisfied, _ in answers]),
        achieved={
            key: np.concatenate([achieved[key] for _, achieved in answers]) for key in answers[0][1]
        },
        reason=lambda group: rule.reason(groups[group : group + 1], 0),
        values=values,
        places=places,
        notes=_notes(principle, domain, groups, subject.reference_for(principle)),
        claims=partial(worst_claims, subject, on, column, rule.near, principle.epsilon)
        if column is not None
        and isinstance(principle, Dissimilarity)
        and isinstance(rule, Dissimilar)
        else None,
    )


def _notes(
    principle: Principle, domain: Domain, groups: Groups, reference: pl.DataFrame | None
) -> list[str]:
    """What a reader of the verdict should know, but would not ask."""
    notes = []
    if domain.missing is not None:
        # Counted in the groups, for the domain may be the reference's.
        lacking = int(groups.counts[groups.codes == domain.missing].sum())
        if lacking:
            notes.append(
                f"{domain.name} is missing in {lacking:,} of {int(groups.sizes.sum()):,} rows: "
                "missing counts as a value of its own, far from every other"
            )
    if reference is not None:
        notes.append(
            f"{principle.name} compares with the {reference.height:,} rows of the reference"
        )
    for key, parameter in principle.parameters().items():
        if parameter.kind == "values":
            unknown = [v for v in getattr(principle, key) if domain.code_of(v) is None]
            if unknown:
                listed = ", ".join(map(str, unknown))
                notes.append(f"{principle.name}: {key} names what does not occur: {listed}")
    if groups.population is not None and not groups.population[groups.sizes > 0].any():
        notes.append("nobody of the population matches: is it generalised in the same way?")
    return notes


def _group_table(subject: Subject, verdicts: Sequence[_Verdict]) -> pl.DataFrame:
    first = subject.partition.first_rows()
    result = pl.DataFrame([as_string(subject.frame[column][first]) for column in subject.keys])
    sizes = np.bincount(subject.partition.labels, minlength=subject.partition.count)
    result = result.with_columns(pl.Series(_unused("rows", result), sizes))
    titles = [str(verdict.principle) for verdict in verdicts]
    for title, verdict in zip(titles, verdicts, strict=True):
        name = f"{title} on {verdict.on}" if titles.count(title) > 1 and verdict.on else title
        name = _unused(name, result)
        result = result.with_columns(
            pl.Series(name, verdict.satisfied[verdict.places]),
            *(
                pl.Series(f"{name} {key}", figures[verdict.places])
                for key, figures in verdict.achieved.items()
            ),
        )
    return result


def _unused(name: str, table: pl.DataFrame) -> str:
    """Return the name, or one like it: a column of the table must not give way to another."""
    while name in table.columns:
        name += "'"
    return name
