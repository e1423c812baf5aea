"""audit: what an adversary learns from a published table, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from wideberth.checks.check import check_resolved
from wideberth.checks.result import CheckResult, GroupReport
from wideberth.core.groups import Partition
from wideberth.core.memory import bounded
from wideberth.core.text import nearness_in_words
from wideberth.core.text import people as counted_people
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.policy.policy import Policy
from wideberth.policy.spec import ExaminedTable
from wideberth.policy.strays import find_non_person_rows
from wideberth.principles import Dissimilarity, LEDiversity, Principle
from wideberth.risk.attacks import AdversarySettings, IdentityRisk, VictimClasses, learn
from wideberth.risk.attribute import (
    AuditedAttribute,
    Epsilon,
    audited_attributes,
    epsilon_of,
    require_numbers,
)
from wideberth.risk.counsel import RemedyAdvice
from wideberth.risk.dependence import judge_determined
from wideberth.risk.disclosure import Disclosure, disclose, judge_disclosures
from wideberth.risk.findings import Finding, by_severity
from wideberth.risk.inputs import AuditInputs, take_inputs
from wideberth.risk.judgments import (
    judge_attribute,
    judge_beliefs,
    judge_columns,
    judge_foreign_values,
    judge_groups,
    judge_identity,
    judge_mixture,
    judge_people,
    judge_policy,
    judge_protection,
    judge_total,
)
from wideberth.risk.leaks.survey import audit_swaps, combine_releases, find_leaks
from wideberth.risk.outcome import AttributeResult, Audit
from wideberth.risk.priors import BeliefResult, Priors
from wideberth.risk.verdict import seeded
from wideberth.risk.victims import (
    PopulationMatch,
    faced_groups,
    foreign_values,
    group_identification_risk,
    match_population,
    require_matching_original,
)
from wideberth.utility.measure import Utility, detail

#: How many pairs of a victim and a box that covers it are looked at, unless all of them are. A
#: victim without an original is a box, and stands for the people in it: fewer will do.
_FEW_PAIRS, _MANY_PAIRS = 500_000, 2_000_000
#: What counts as a disclosure can be set by these names.
LIMITS = ("delta", "negligible", "floor", "rho1", "rho2")


def audit(
    table: object,
    *,
    original: object = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    group: str | None = None,
    count: str | None = None,
    source: str | Path | None = None,
    sensitive_table: object = None,
    population: object = None,
    others: object = (),
    priors: object = None,
    epsilon: Epsilon | Mapping[str, Epsilon] | None = None,
    limits: Mapping[str, float] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    rows_are_people: bool | None = None,
    everyone: bool = False,
    swaps: bool | None = None,
    worst: int = 5,
    max_memory: int | None = None,
) -> Audit:
    """Return what an adversary learns from a published table.

    Parameters
    ----------
    table : Release, dataframe or path
        What to audit, whoever made it. A path may be the folder of an anatomised release.
    original : dataframe or path, optional
        What it was made from. Then it is known who is covered by which groups.
    quasi, sensitive, group, hierarchies, types, policy
        As in `check`. Roles that nobody tells are guessed from names and values.
    principles
        What the table should satisfy; by default what the policy says.
    count : str, optional
        A column that says for how many people a row stands, if it is not one.
    source : str or Path, optional
        The file that the table was read from, if `table` does not name it. A manifest beside it
        tells the roles of the columns, if nobody else does.
    sensitive_table : dataframe or path, optional
        The second table of an anatomised release.
    population : dataframe or path, optional
        Everybody who might be in the table, with exact quasi-identifiers.
    others : dataframe, path or Release, or a list of them
        Other releases of the same table, which an adversary combines with this one.
    priors : mapping, dataframe or path, optional
        What the adversary believes beforehand: the probability of each sensitive value, and of
        whom, in columns of quasi-identifiers, where it is not of everybody.
    epsilon : number, str, or mapping of attributes to them, optional
        How near is near, for sensitive numbers; "10%" for a share. By default the policy's; else a
        round twentieth of the range in which most of the values lie.
    limits : mapping, optional
        What counts as a disclosure: positive if a value is believed with more than 1 - ``delta``
        (0.1); negative if one of which at least ``floor`` (0.1) was believed is believed with less
        than ``negligible`` (0.05); a breach if a belief goes from ``rho1`` (0.1) or less to
        ``rho2`` (0.5) or more.
    rows_are_people : bool, optional
        Whether every row is a different person, though an identifier repeats, in the table or in
        the original. That stays a finding, of medium severity.
    everyone : bool
        Whether to look at every victim even where a random sample would do.
    swaps : bool, optional
        Whether to make the release anew with sensitive values swapped, to see whether the groups
        depend on them. It takes a few seconds; by default it is done for tables of up to 5,000
        rows, if original and policy are given.
    worst : int
        How many groups to report in detail for each principle.
    max_memory : int, optional
        How many megabytes distances may take at a time, 256 by default.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"zip": ["130**"] * 3, "disease": ["cancer"] * 3})
    >>> print(audit(table, quasi="zip", sensitive="disease"))
    3 rows in 1 group
    high: disease of 3 people is certain: 1 group with one value
    """
    taken = take_inputs(
        table,
        original=original,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        group=group,
        count=count,
        source=source,
        sensitive_table=sensitive_table,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
        rows_are_people=rows_are_people,
    )
    with bounded(max_memory):
        return run_audit(
            taken,
            population=population,
            others=others,
            priors=priors,
            epsilon=epsilon,
            limits=limits,
            everyone=everyone,
            swaps=swaps,
            worst=worst,
        )


def run_audit(
    taken: AuditInputs,
    *,
    population: object = None,
    others: object = (),
    priors: object = None,
    epsilon: Epsilon | Mapping[str, Epsilon] | None = None,
    limits: Mapping[str, float] | None = None,
    near: tuple[Fraction, bool] | None = None,
    everyone: bool = False,
    swaps: bool | None = None,
    worst: int = 5,
) -> Audit:
    """Audit a table whose columns have their roles; the arguments are those of `audit`."""
    # Instead of `epsilon`, `near` may give it: how near is near, and whether that is a share.
    given, original = taken.examined, taken.original
    frame = given.frame
    if original is not None and frame.height > original.height:
        raise TableError(
            f"the release has {frame.height:,} rows, the original only {original.height:,}",
            hint="name the table that the release was made from",
        )
    given = replace(given, reference=original)
    sensed = audited_attributes(
        given, original, made=taken.manifest is not None
    )  # says what is wrong
    require_numbers(sensed, epsilon)
    believed = Priors.read(priors, sensed, given.attributes)
    everybody = given.population if population is None else population
    with ThreadPoolExecutor(1) as pool:  # much of the work lets other threads work meanwhile
        audit_work = _lay_out(pool, replace(taken, examined=given), everybody, everyone, worst)
        published, cover = audit_work.published, audit_work.cover
        if cover is not None:
            require_matching_original(published, cover, sensed)
        determining = pool.submit(judge_determined, taken, published, sensed)
        attributes = [
            _learn(one, audit_work, _settings(one, epsilon, limits or {}, near, believed), believed)
            for one in sensed
        ]
        checked, traces = audit_work.checking.result(), audit_work.tracing.result()
        disclosures, overlooked = audit_work.disclosing.result()
        determined, left = determining.result()
    identity = IdentityRisk.of(
        audit_work.alike.sizes().sizes,
        population=None if audit_work.matched is None else audit_work.matched.counts,
        covering=None if cover is None else group_identification_risk(published, cover),
    )
    sampled = cover is not None and not cover.exact
    people, where = taken.people
    reports = [] if checked is None else checked.principles
    holding = [report.principle for report in reports if report.satisfied]
    rows = frame.height if original is None else original.height
    sizes = [p for p in given.principles if p.needs in ("size", "population")]
    crowds = RemedyAdvice(None, rows, sizes, [p for p in holding if p in sizes])
    counsels = [one.counsel([p for p in holding if p in one.guards]) for one in sensed]
    findings = [
        *([] if checked is None else judge_policy(checked, [crowds, *counsels])),
        *([] if checked is None else judge_protection(given.unguarded)),
        *judge_groups(given.subject.uneven(given.uniform) if checked is None else checked.uneven),
        *judge_people(people, where=where, decided=given.rows_are_people),
        *judge_total(
            what=find_non_person_rows(frame if original is None else original).what,
            where="the table" if original is None else "the original",
        ),
        *judge_columns(taken.unlisted),
        *judge_identity(identity, crowds, exact=given.counted is not None, sampled=sampled),
    ]
    for counsel, attribute in zip(counsels, attributes, strict=True):
        on, known, covering = attribute.on, attribute.known, attribute.covering
        findings += judge_beliefs(attribute.believed, known, counsel)
        findings += judge_attribute(on, known, counsel)
        if given.counted is not None and original is not None:
            one = next(one for one in sensed if one.name == on)
            findings += judge_foreign_values(on, *foreign_values(one, published, audit_work.groups))
        findings += judge_mixture(on, known, covering, counsel, sampled=sampled)
    findings += [*judge_disclosures(disclosures), *determined]
    findings += [*traces, *combine_releases(taken, others), *audit_swaps(taken, asked=swaps)]
    worth = detail(given, original, published, manifest=taken.manifest)
    return Audit(
        rows=frame.height,
        groups=audit_work.groups.count,
        boxes=published.boxes.count,
        original_rows=None if original is None else original.height,
        suppressed=None if original is None else original.height - frame.height,
        people=people,
        rows_are_people=given.rows_are_people,
        roles=taken.roles,
        group=given.group,
        reasons=taken.reasons,
        checked=checked,
        identity=identity,
        attributes=attributes,
        disclosures=disclosures,
        findings=by_severity(findings),
        notes=[
            *taken.notes,
            *given.subject.notes,
            *_unread(published),
            *_looked_at(published, cover),
            *overlooked,
            *left,
            *_in_doubt(audit_work.matched, identity),
            *(note for one in sensed for note in one.notes),
            *_own_epsilon(attributes),
        ],
        lost=worth.figures["ncp"].value if "ncp" in worth.figures else None,
        left_out=_left_out(worth, taken.manifest),
        seeded=seeded(taken.manifest),
    )


def _left_out(worth: Utility, manifest: Mapping[str, Any] | None) -> float | None:
    """Return the share of rows that are not published, or only as ``*``, if it is known."""
    total = worth.rows + worth.suppressed
    known = worth.original_rows is not None or manifest is not None
    return worth.suppressed / total if known and total else None


def _own_epsilon(attributes: Sequence[AttributeResult]) -> list[str]:
    """Return a note for each attribute whose ε the audit chose itself."""
    notes = []
    for attribute in attributes:
        asked = attribute.known.attacks
        if asked.neighbourhoods is not None and asked.chosen == "audit":
            reach = attribute.known.to_dict()["nearness"]
            notes.append(
                f"{attribute.on}: this audit chose ε = {nearness_in_words(reach)} itself, for "
                "neither a principle nor --epsilon says how near is near"
            )
    return notes


@dataclass(frozen=True, eq=False, kw_only=True)
class _AuditWork:
    """A table laid out: what it publishes, its groups, and who is covered by which boxes."""

    published: PublishedBoxes
    groups: Partition  # as published
    alike: Partition  # rows that nobody can tell apart by their quasi-identifiers
    cover: BoxCover | None
    matched: PopulationMatch | None
    checking: Future[CheckResult | None]
    tracing: Future[list[Finding]]
    disclosing: Future[tuple[list[Disclosure], list[str]]]


def _lay_out(
    pool: ThreadPoolExecutor, taken: AuditInputs, everybody: object, everyone: bool, worst: int
) -> _AuditWork:
    """Read what is published, and start what can be done meanwhile."""
    given, original = taken.examined, taken.original
    grouping = pool.submit(lambda: given.subject.partition)
    published = PublishedBoxes.read(
        given.frame,
        given.attributes,
        original=original,
        hierarchies=given.hierarchies,
        types=given.types,
    )
    # Rows that say the same in other words are a group, too.
    groups = grouping.result() if given.group is not None else published.boxes
    anatomised = given.counted is not None
    alike = published.boxes if anatomised else groups
    matched = None if everybody is None else match_population(given, alike, everybody)
    checking = pool.submit(copy_context().run, _checked, given, alike, matched, worst)
    most = _FEW_PAIRS if original is None else _MANY_PAIRS
    cover = None if anatomised else published.covering(most=most, everyone=everyone)
    return _AuditWork(
        published=published,
        groups=groups,
        alike=alike,
        cover=cover,
        matched=matched,
        checking=checking,
        tracing=pool.submit(find_leaks, taken, published, cover),
        disclosing=pool.submit(disclose, taken, published, everyone=everyone),
    )


def _checked(
    given: ExaminedTable, alike: Partition, matched: PopulationMatch | None, worst: int
) -> CheckResult | None:
    """Check the principles, if there are any."""
    if not given.principles:
        return None
    asked = any(principle.needs == "population" for principle in given.principles)
    people = matched.generalised(given, alike) if matched is not None and asked else None
    return _with_labels(check_resolved(given, population=people, worst=worst), given)


def _with_labels(checked: CheckResult, given: ExaminedTable) -> CheckResult:
    """Let the worst groups be told by what is published of them, not by their ids alone."""
    if given.group is None or given.counted is not None:  # an anatomy's rows are exact
        return checked
    ids = given.frame[given.group]

    def told(group: GroupReport) -> GroupReport:
        row = ids.index_of(group.values[ids.name])
        labels = given.frame[given.quasi].row(row or 0, named=True)
        return replace(group, values={**group.values, **labels})

    reports = [replace(r, worst=[told(group) for group in r.worst]) for r in checked.principles]
    return replace(checked, principles=reports)


def _settings(
    sensed: AuditedAttribute,
    epsilon: Epsilon | Mapping[str, Epsilon] | None,
    limits: Mapping[str, Any],
    near: tuple[Fraction, bool] | None,
    priors: Priors | None,
) -> AdversarySettings:
    """Return what the adversary of an attribute knows and wants."""
    for name in limits:
        if name not in LIMITS:
            raise ParameterError(
                f"limits: there is no '{name}'", hint=f"one of {', '.join(LIMITS)}"
            )
    reach, relative, chosen = epsilon_of(sensed, epsilon) if sensed.numeric else (None, False, "")
    if near is not None and sensed.numeric:
        reach, relative = near
    apart = sensed.first(Dissimilarity)
    similar = sensed.first(LEDiversity)
    diverse = [guard.l for guard in sensed.guards if hasattr(guard, "l")]
    return AdversarySettings(
        epsilon=reach,
        relative=relative,
        chosen=chosen or "audit",
        e=None if similar is None else similar.e,
        far=None if apart is None else apart.epsilon,
        distance="auto" if apart is None else apart.distance,
        l=max(diverse, default=None),
        prior=None if priors is None else priors.about_everybody(sensed),
        harmless=sensed.harmless,
        **limits,
    )


def _learn(
    sensed: AuditedAttribute,
    audit_work: _AuditWork,
    settings: AdversarySettings,
    believed: Priors | None,
) -> AttributeResult:
    """Measure what is learnt of one attribute, with the group known and without."""
    domain, published, cover = sensed.domain, audit_work.published, audit_work.cover
    known = learn(
        VictimClasses.known(audit_work.groups.histograms(sensed.column)), domain, settings
    )
    covering, victims = None, None
    if cover is not None:
        covering = learn(faced_groups(sensed, published, cover), domain, settings)
        victims = {"looked_at": len(cover.victims), "of": cover.of, "exact": cover.exact}
    about: list[BeliefResult] = []
    if believed is not None:
        boxes = published.boxes.histograms(sensed.column)
        about = list(believed.about(sensed, published, boxes))
    return AttributeResult(
        on=sensed.name,
        values=int(np.count_nonzero(domain.histogram[: domain.known])),
        known=known,
        covering=covering,
        victims=victims,
        believed=about,
        allowed=sensed.allowed,
    )


def _in_doubt(matched: PopulationMatch | None, identity: IdentityRisk) -> list[str]:
    """Return notes on what is wrong with the population."""
    notes = [] if matched is None else list(matched.notes)
    if identity.lacking:
        notes.append(
            "the population lacks people of the table: groups of "
            f"{counted_people(identity.lacking)} match fewer of it than they have rows"
        )
    return notes


def _looked_at(published: PublishedBoxes, cover: BoxCover | None) -> list[str]:
    """Return notes on how far it is known who is covered by which groups."""
    if cover is None:
        return []
    notes, people = [], "people" if published.original_rows is not None else "boxes"
    if not cover.exact:
        notes.append(
            f"group not known: {len(cover.victims):,} of {cover.of:,} {people} were looked at, "
            "drawn at random; the worst risk and the counts are of these (all: "
            f"{what_to_type(python='everyone=True', command='--everyone')})"
        )
    if published.original_rows is None and len(cover.boxes) > len(cover):
        notes.append(
            "group not known: without the original, only those groups count that cover all of "
            "another, so the figures are an indication"
        )
    return notes


def _unread(published: PublishedBoxes) -> list[str]:
    """Return a note for each column whose published labels could not be understood."""
    return [
        f"what '{axis.name}' publishes could not be read as ranges, sets or nodes: each label was "
        "taken for a value"
        + (", and it rules nobody out" if published.original_rows is not None else "")
        for axis in published.axes
        if not axis.read
    ]
