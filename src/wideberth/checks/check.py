"""check: which principles does a table satisfy, where does it fail, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import engines
from wideberth.checks.claims import Claim, worst_claims
from wideberth.checks.result import CheckResult, GroupReport, PrincipleReport
from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.core.memory import bounded
from wideberth.core.questions import value_remarks
from wideberth.core.strings import as_string, is_text
from wideberth.distances import DistanceFunction
from wideberth.errors import ParameterError, PolicyError
from wideberth.io.manifest import compare_meanwhile
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable, examine
from wideberth.policy.strays import non_person_remarks
from wideberth.policy.two_tables import SENSITIVE_TABLE
from wideberth.principles import Dissimilarity, Principle, Rule
from wideberth.principles.columns import GroupedTable, name_table_in_errors
from wideberth.principles.dissimilarity import DissimilarityRule


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
    rows_are_people: bool | None = None,
    worst: int = 5,
    max_memory: int | None = None,
    memory: str | int | None = None,
) -> CheckResult:
    """Check a table, original or published, against privacy principles.

    Parameters
    ----------
    table : dataframe or path
        A pandas, polars or pyarrow table, or a CSV, Parquet or Arrow file; also a Spark DataFrame.
        Generalised values (intervals, ``130**``, ``*``) are labels like any other.
    quasi : str or sequence of str
        The quasi-identifiers. Rows that agree on all of them form a group; a missing value agrees
        with missing values only. Here and below, "disease.*" stands for all columns that begin
        with "disease.".
    sensitive : str or sequence of str, optional
        The sensitive attributes.
    principles : Principle, str, or sequence of them
        What to check, as objects or as on the command line ("epsilon-m:epsilon=4500,m=5").
    group : str, optional
        A column with group ids, which then make the groups instead of the quasi-identifiers. These
        must be the same in all rows of a group, or the table does not satisfy anything; anatomy,
        with its second table, publishes them as they are.
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
    rows_are_people : bool, optional
        Whether every row is a different person, though an identifier repeats. Otherwise a repeated
        identifier makes the result false in a condition (`CheckResult.people`).
    worst : int
        How many groups to report in detail for each principle.
    max_memory : int, optional
        How many megabytes distances may take at a time, 256 by default. Less takes longer.
    memory : str or int, optional
        For a file that does not fit into memory: how much of it the check may take in all, as
        "2GB" or in bytes. The answer is the same. Only `population`, `reference`,
        `sensitive_table` and claims need the table in memory; so it is with Spark.

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
    require_limits(worst, max_memory)
    known: dict[str, Any] = {
        "quasi": quasi,
        "sensitive": sensitive,
        "principles": principles,
        "group": group,
        "population": population,
        "reference": reference,
        "sensitive_table": sensitive_table,
        "hierarchies": hierarchies,
        "types": types,
        "policy": policy,
        "rows_are_people": rows_are_people,
    }
    if (engine := engines.engine_for(table, memory)) is not None:
        limits = {} if memory is None else {"memory": memory}
        with compare_meanwhile(table) as manifest:
            result: CheckResult = engine.check(
                table, **known, worst=worst, max_memory=max_memory, **limits
            )
        return replace(result, notes=[*result.notes, *manifest.notes])
    with compare_meanwhile(table, sensitive_table) as manifest:
        given = examine(table, **known)
        with bounded(max_memory), blame_policy_for_principles(policy if not principles else None):
            result = check_resolved(given, worst=worst)
    return replace(result, notes=[*result.notes, *manifest.notes], untied=manifest.untied)


def require_limits(worst: int, max_memory: int | None) -> None:
    """Refuse numbers that make no sense, before anything is read."""
    if worst < 0:
        raise ParameterError("worst must be a whole number from 0", hint="worst=5")
    if max_memory is not None and (type(max_memory) is not int or max_memory < 1):
        raise ParameterError("max_memory must be a whole number from 1", hint="max_memory=256")


@contextmanager
def blame_policy_for_principles(policy: object) -> Iterator[None]:
    """Call a wrong parameter the policy's mistake, if the principles are the policy's."""
    try:
        yield
    except ParameterError as error:
        if policy is None:
            raise
        raise PolicyError(error.what, hint=error.hint) from None


def check_resolved(
    given: ExaminedTable, *, population: object = None, worst: int = 5
) -> CheckResult:
    """Check a table whose columns have their roles against the principles it should satisfy."""
    # population: for δ-presence, if it is not the one that the table came with. worst: how many
    # groups to report in detail for each principle.
    if given.counted is not None:  # whose mistakes are told by its own rows
        lines = replace(given, frame=given.counted, quasi=[], reference=None).subject
        with name_table_in_errors(SENSITIVE_TABLE):
            for principle in given.principles:
                lines.column(lines.attribute(principle), principle)
    if not given.principles:
        raise ParameterError("there is no principle to check", hint='for example "k-anonymity:k=5"')
    subject = given.subject
    people = given.population if population is None else population
    judgements = [_judge(subject, principle, people) for principle in given.principles]
    notes = [note for judgement in judgements for note in judgement.notes]
    notes += [*given.notes, *subject.notes, *non_person_remarks(given.frame)]
    first = subject.partition.first_rows

    def table() -> pl.DataFrame:
        keys = pl.DataFrame([as_string(subject.key(column)[first()]) for column in subject.keys])
        sizes = np.bincount(subject.partition.labels, minlength=subject.partition.count)
        return table_of_groups(keys, sizes, [judgement.own for judgement in judgements])

    return CheckResult(
        rows=given.frame.height,
        groups=subject.partition.count,
        squares=subject.partition.squares,
        principles=[
            replace(judgement.report(worst), _claims=judgement.claims) for judgement in judgements
        ],
        notes=list(dict.fromkeys(notes)),
        uneven=subject.uneven(given.uniform),
        people=given.people,
        _table_of_groups=lambda: given.back(table()),
    )


@dataclass(frozen=True)
class PrincipleVerdict:
    """A principle's verdict on some groups."""

    principle: Principle
    on: str | None
    sizes: Ints  # the rows of each group
    satisfied: Bools
    achieved: dict[str, Floats]  # the strongest parameters that each group reaches
    reason: Callable[[int], str]  # what the verdict on a group rests on
    values: Callable[[int], dict[str, Any]]  # what identifies a group

    @classmethod
    def of(
        cls,
        principle: Principle,
        on: str | None,
        rule: Rule,
        groups: Groups,
        values: Callable[[int], dict[str, Any]],
    ) -> PrincipleVerdict:
        """Ask a rule about groups."""
        answers = [(rule.satisfies(block), rule.achieved(block)) for block in groups.blocks()]
        return cls(
            principle=principle,
            on=on,
            sizes=groups.sizes,
            satisfied=np.concatenate([satisfied for satisfied, _ in answers]),
            achieved={
                key: np.concatenate([achieved[key] for _, achieved in answers])
                for key in answers[0][1]
            },
            reason=lambda group: rule.reason(groups[group : group + 1], 0),
            values=values,
        )

    def report(self, worst: int) -> PrincipleReport:
        """Sum the verdict up, with the `worst` groups in detail."""
        failing = ~self.satisfied
        return PrincipleReport(
            principle=self.principle,
            on=self.on,
            satisfied=not failing.any(),
            achieved={key: weakest(self.principle, key, f) for key, f in self.achieved.items()},
            violating_groups=int(failing.sum()),
            violating_rows=int(self.sizes[failing].sum()),
            worst=[self._group(int(g)) for g in self._ranked(worst)],
        )

    def _ranked(self, many: int) -> Sequence[int]:
        """Return the first groups of the ranking; of equals, those that come first."""
        if not many:
            return []
        keys = ranking(self.principle, self.satisfied, self.achieved, self.sizes)
        order: Sequence[int] = np.lexsort(keys[::-1])[:many].tolist()
        return order

    def _group(self, group: int) -> GroupReport:
        return GroupReport(
            values=self.values(group),
            rows=int(self.sizes[group]),
            satisfied=bool(self.satisfied[group]),
            achieved={key: float(figures[group]) for key, figures in self.achieved.items()},
            reason=self.reason(group),
            number=group + 1,
        )


def weakest(principle: Principle, key: str, figures: Floats | Sequence[float]) -> float:
    """Return what all groups reach of a parameter."""
    stronger = principle.parameters()[key].stronger
    return float((np.min if stronger == "higher" else np.max)(figures))


def ranking(principle: Principle, satisfied: Any, achieved: Mapping[str, Any], sizes: Any) -> Any:
    """Return what groups are ranked by, for arrays of many groups or the figures of one."""
    # Violating ones come first, then those that achieve less, then larger ones.
    parameters = principle.parameters()
    figures = (f if parameters[key].stronger == "higher" else -f for key, f in achieved.items())
    return [satisfied, *figures, -sizes]


@dataclass(frozen=True)
class _TableVerdict:
    """A verdict on a table in memory, and what else is known of it."""

    verdict: PrincipleVerdict
    places: Ints | slice  # where the table's own groups are among those judged
    notes: list[str]
    claims: Callable[[int], list[Claim]] | None

    def report(self, worst: int) -> PrincipleReport:
        """Sum the verdict up; a group has a number if it is one of the table's own."""
        found = self.verdict.report(worst)
        if isinstance(self.places, slice):
            return found
        numbers = {int(place): number for number, place in enumerate(self.places, start=1)}
        groups = [replace(g, number=numbers.get((g.number or 0) - 1)) for g in found.worst]
        return replace(found, worst=groups)

    @property
    def own(self) -> PrincipleVerdict:
        """The verdict on the table's own groups."""
        at, verdict = self.places, self.verdict
        return replace(
            verdict,
            sizes=verdict.sizes[at],
            satisfied=verdict.satisfied[at],
            achieved={key: figures[at] for key, figures in verdict.achieved.items()},
        )


def _judge(subject: GroupedTable, principle: Principle, population: object) -> _TableVerdict:
    on = subject.attribute(principle)
    column = subject.column(on, principle) if on else None
    domain = column.domain if column else size_only_domain(len(subject.frame))
    rule = principle.bind(domain)
    values: Callable[[int], dict[str, Any]] = subject.group_values
    places: Ints | slice = slice(None)
    if principle.needs == "population":
        groups, values, places = subject.with_population(population)
    else:
        groups = subject.groups(column)
    # Counted in the groups, for the domain may be the reference's.
    lacking = 0 if domain.missing is None else groups.counts[groups.codes == domain.missing].sum()
    notes = principle_notes(principle, domain, int(lacking), int(groups.sizes.sum()))
    if (reference := subject.reference_for(principle)) is not None:
        notes.append(
            f"{principle.name} compares with the {reference.height:,} rows of the reference"
        )
    if groups.population is not None and not groups.population[groups.sizes > 0].any():
        notes.append("nobody of the population matches: is it generalised in the same way?")
    return _TableVerdict(
        verdict=PrincipleVerdict.of(principle, "+".join(on) or None, rule, groups, values),
        places=places,
        notes=notes,
        claims=partial(worst_claims, subject, on, column, rule.near, principle.epsilon)
        if column is not None
        and isinstance(principle, Dissimilarity)
        and isinstance(rule, DissimilarityRule)
        else None,
    )


def size_only_domain(rows: int) -> Domain:
    """Return the domain of principles that look at sizes only."""
    return Domain(name="rows", histogram=np.array([rows]))


def principle_notes(principle: Principle, domain: Domain, lacking: int, rows: int) -> list[str]:
    """Return what a reader of the verdict should know, but would not ask."""
    # lacking: in how many of the rows the value is missing.
    notes = []
    if lacking:
        notes.append(
            f"{domain.name} is missing in {lacking:,} of {rows:,} rows: "
            "missing counts as a value of its own, far from every other"
        )
    notes += lookalike_notes(domain)
    for key, parameter in principle.parameters().items():
        if parameter.kind == "values":
            unknown = [v for v in getattr(principle, key) if domain.code_of(v) is None]
            if unknown:
                listed = ", ".join(map(str, unknown))
                notes.append(f"{principle.name}: {key} names what does not occur: {listed}")
    return notes


def lookalike_notes(domain: Domain) -> list[str]:
    """Return notes on values that look alike, missing or numeric, but count as different texts.

    >>> ill = Domain(name="ill", histogram=np.ones(2), values=pl.Series(["flu", "flu "]))
    >>> lookalike_notes(ill)[0].partition(" (")[0]
    'ill has 1 pair of values that look the same'
    """
    values = domain.values
    if values is None or not is_text(values.dtype):
        return []
    return value_remarks(domain.name, values)


def table_of_groups(
    keys: pl.DataFrame, sizes: Ints, verdicts: Sequence[PrincipleVerdict]
) -> pl.DataFrame:
    """Return one row per group: what identifies it, its size, and every verdict on it."""
    result = keys.with_columns(pl.Series(_unused("rows", keys), sizes))
    titles = [str(verdict.principle) for verdict in verdicts]
    for title, verdict in zip(titles, verdicts, strict=True):
        name = f"{title} on {verdict.on}" if titles.count(title) > 1 and verdict.on else title
        name = _unused(name, result)
        result = result.with_columns(
            pl.Series(name, verdict.satisfied),
            *(pl.Series(f"{name} {key}", figures) for key, figures in verdict.achieved.items()),
        )
    return result


def _unused(name: str, table: pl.DataFrame) -> str:
    """Return the name, or one like it: a column of the table must not give way to another."""
    while name in table.columns:
        name += "'"
    return name


# -----------------------------------------------------------------------------
# claims: what an adversary who knows a victim's group can say about the victim's value.


def claims(
    table: object,
    *,
    epsilon: float,
    distance: str | DistanceFunction = "auto",
    on: str | Sequence[str] | None = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    group: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    worst: int = 5,
    max_memory: int | None = None,
) -> list[Claim]:
    """Return what an adversary who knows a victim's group can claim, for the worst groups.

    Parameters
    ----------
    table : dataframe or path
        The published table.
    epsilon : number
        The largest distance that counts as near.
    distance, on
        As in `Dissimilarity`.
    quasi, sensitive, group, hierarchies, types, policy, max_memory
        As in `check`.
    worst : int
        For how many groups: those whose claims are surest, of these the highest risk first.

    Returns
    -------
    list of Claim

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"age": ["18-30"] * 4, "salary": [1000, 1010, 1020, 50000]})
    >>> print(*claims(table, quasi="age", sensitive="salary", epsilon=10))
    anybody in the group (age 18-30) has a salary within 10 of 1010 with 75 % confidence
    """
    if worst < 0:
        raise ParameterError("worst must be a whole number from 0", hint="worst=5")
    asked = Dissimilarity(on=on, epsilon=epsilon, delta=0, k=1, distance=distance)
    result = check(
        table,
        quasi=quasi,
        sensitive=sensitive,
        principles=asked,
        group=group,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
        worst=0,
        max_memory=max_memory,
    )
    return result.principles[0].claims(worst)
