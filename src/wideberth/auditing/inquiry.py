"""audit: what an adversary learns from a published table, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from wideberth import tables
from wideberth.attacks import Faced, Identity, Measures, Risk, Settings, among, learn
from wideberth.auditing.believing import Believed, Priors
from wideberth.auditing.judging import (
    judge_attribute,
    judge_beliefs,
    judge_identity,
    judge_mixture,
    judge_policy,
    many,
    people,
)
from wideberth.auditing.sensing import Sensed, epsilon_of, sense
from wideberth.auditing.taking import Taken, take
from wideberth.auditing.tracing import trace, trace_others, trace_swaps
from wideberth.checking import judged
from wideberth.errors import TableError
from wideberth.exact import Ints
from wideberth.examining import Examined
from wideberth.findings import Finding, by_severity
from wideberth.groups import Partition
from wideberth.memory import bounded
from wideberth.policy import Policy
from wideberth.principles import Dissimilarity, LEDiversity, Principle
from wideberth.published import Covering, Published
from wideberth.results import CheckResult, GroupReport
from wideberth.subject import require_column, told_of
from wideberth.twofold import table_of


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """What is learnt of one sensitive attribute.

    Parameters
    ----------
    on : str
        The attribute; ``disease.*`` for all columns of one value.
    values : int
        How many different values it has.
    known : Measures
        What an adversary learns who knows the victim's group.
    covering : Measures, optional
        What one learns who knows the victim's quasi-identifiers only, and so faces all groups that
        cover them. None if that is not known, as of anatomised tables.
    victims : mapping, optional
        For how many people the latter was computed, of how many, and whether for all.
    believed : sequence of Believed
        What is believed of people about whom `priors` say something.
    """

    on: str
    values: int
    known: Measures
    covering: Measures | None = None
    victims: Mapping[str, Any] | None = None
    believed: Sequence[Believed] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "on": self.on,
            "values": self.values,
            "known": self.known.to_dict(),
            "covering": None if self.covering is None else self.covering.to_dict(),
            "victims": None if self.victims is None else dict(self.victims),
            "believed": [one.to_dict() for one in self.believed],
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit:
    """What an audit found. True in a condition if nothing grave was.

    Parameters
    ----------
    rows, groups, boxes : int
        Rows and groups of the table, and how many combinations of quasi-identifiers it publishes.
    original_rows, suppressed : int, optional
        How many rows the original has, and how many of them are not in the table.
    roles : mapping
        The columns by role.
    reasons : mapping
        Why columns have their roles, where these were guessed.
    checked : CheckResult, optional
        Whether the principles hold.
    identity : Identity
        Who can be told from the others.
    attributes : list of Attribute
        What is learnt of each sensitive attribute.
    findings : list of Finding
        What it all means, the gravest first.
    notes : list of str
        What the reader must know about the audit.
    """

    rows: int
    groups: int
    boxes: int
    original_rows: int | None
    suppressed: int | None
    roles: Mapping[str, Sequence[str]]
    group: str | None
    reasons: Mapping[str, str]
    checked: CheckResult | None
    identity: Identity
    attributes: list[Attribute]
    findings: list[Finding]
    notes: list[str]

    @property
    def guessed(self) -> bool:
        """Whether roles were guessed."""
        return bool(self.reasons)

    @property
    def satisfied(self) -> bool | None:
        """Whether the principles hold; None if there are none."""
        return None if self.checked is None else self.checked.satisfied

    @property
    def safe(self) -> bool:
        """Whether no finding is of high severity: a principle violated is one."""
        return all(finding.severity != "high" for finding in self.findings)

    def __bool__(self) -> bool:
        """Return whether no finding is of high severity."""
        return self.safe

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        checked = {} if self.checked is None else self.checked.to_dict()
        return {
            "rows": self.rows,
            "groups": self.groups,
            "boxes": self.boxes,
            "original_rows": self.original_rows,
            "suppressed": self.suppressed,
            "roles": {**{r: list(c) for r, c in self.roles.items()}, "group": self.group},
            "guessed": self.guessed,
            "reasons": dict(self.reasons),
            "safe": self.safe,
            "satisfied": self.satisfied,
            "principles": checked.get("principles", []),
            "identity": self.identity.to_dict(),
            "attributes": [attribute.to_dict() for attribute in self.attributes],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": self.notes,
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        from wideberth.showing import notebook

        return notebook.audit(self.to_dict())

    def __str__(self) -> str:
        """Return the findings, a line each."""
        lines = [f"{many(self.rows, 'row')} in {many(self.groups, 'group')}"]
        lines += [str(finding) for finding in self.findings] or ["nothing found"]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def audit(
    table: object,
    *,
    original: object = None,
    quasi: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None,
    principles: str | Principle | Sequence[str | Principle] | None = None,
    group: str | None = None,
    count: str | None = None,
    sensitive_table: object = None,
    population: object = None,
    others: Sequence[object] = (),
    priors: object = None,
    epsilon: str | float | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    types: Mapping[str, str] | None = None,
    policy: Policy | str | Path | None = None,
    everyone: bool = False,
    swaps: bool | None = None,
    worst: int = 5,
    max_memory: int | None = None,
) -> Audit:
    """Tell what an adversary learns from a published table.

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
    sensitive_table : dataframe or path, optional
        The second table of an anatomised release.
    population : dataframe or path, optional
        Everybody who might be in the table, with exact quasi-identifiers.
    others : sequence of dataframe or path
        Other releases of the same table, which an adversary combines with this one.
    priors : mapping, dataframe or path, optional
        What the adversary believes beforehand: the probability of each sensitive value, and of
        whom, in columns of quasi-identifiers, where it is not of everybody.
    epsilon : number or str, optional
        How near is near, for sensitive numbers; "10%" for a share. By default the policy's; else a
        round twentieth of the range in which most of the values lie.
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
    taken = take(
        table,
        original=original,
        quasi=quasi,
        sensitive=sensitive,
        principles=principles,
        group=group,
        count=count,
        sensitive_table=sensitive_table,
        hierarchies=hierarchies,
        types=types,
        policy=policy,
    )
    with bounded(max_memory):
        return audited(
            taken,
            population=population,
            others=others,
            priors=priors,
            epsilon=epsilon,
            everyone=everyone,
            swaps=swaps,
            worst=worst,
        )


def audited(
    taken: Taken,
    *,
    population: object = None,
    others: Sequence[object] = (),
    priors: object = None,
    epsilon: str | float | None = None,
    near: tuple[Fraction, bool] | None = None,
    everyone: bool = False,
    swaps: bool | None = None,
    worst: int = 5,
) -> Audit:
    """Audit a table whose columns have their roles; the arguments are those of `audit`.

    Instead of `epsilon`, `near` may say how near is near, and whether that is a share.
    """
    given, original = taken.examined, taken.original
    frame, subject = given.frame, given.subject
    if original is not None and frame.height > original.height:
        raise TableError(
            f"the release has {frame.height:,} rows, the original only {original.height:,}",
            hint="name the table that the release was made from",
        )
    anatomised = given.counted is not None
    checked = None
    if given.principles:
        everybody = population if given.population is None else given.population
        checked = judged(replace(given, population=everybody, reference=original), worst=worst)
        checked = _with_labels(checked, given)
    published = Published.read(
        frame,
        given.attributes,
        original=original,
        hierarchies=given.hierarchies,
        types=given.types,
    )
    cover = None if anatomised else published.covering(everyone=everyone)
    # Rows that say the same in other words are a group, too.
    groups = subject.partition if given.group is not None else published.boxes
    matching, doubts = (None, []) if population is None else _matching(given, groups, population)
    identity = Identity.of(
        published.sizes if anatomised else groups.sizes().sizes,
        population=matching,
        covering=None if cover is None else _among(published, cover),
    )
    sensed = sense(given, original)
    attributes = []
    findings = [
        *([] if checked is None else judge_policy(checked)),
        *judge_identity(identity, exact=anatomised),
    ]
    if identity.lacking:
        doubts.append(
            f"the population lacks people of the table: groups of {people(identity.lacking)} match "
            "fewer of it than they have rows"
        )
    notes = [
        *taken.notes,
        *_unread(published),
        *doubts,
        *(note for one in sensed for note in one.notes),
    ]
    believed = Priors.read(priors, sensed, given.attributes)
    for one in sensed:
        asked = _settings(one, epsilon, near, believed)
        attribute = _learn(one, groups, published, cover, asked)
        if believed is not None:
            boxes = published.boxes.histograms(one.column)
            found = list(believed.about(one, published, boxes))
            attribute = replace(attribute, believed=found)
            findings += judge_beliefs(found)
        attributes.append(attribute)
        findings += judge_attribute(attribute.on, attribute.known, attribute.covering, one.guards)
        findings += judge_mixture(attribute.on, attribute.known, attribute.covering, one.guards)
    findings += trace(taken, published, cover)
    findings += trace_others(taken, others)
    findings += trace_swaps(taken, asked=swaps)
    return Audit(
        rows=frame.height,
        groups=groups.count,
        boxes=published.boxes.count,
        original_rows=None if original is None else original.height,
        suppressed=None if original is None else original.height - frame.height,
        roles=taken.roles,
        group=given.group,
        reasons=taken.reasons,
        checked=checked,
        identity=identity,
        attributes=attributes,
        findings=by_severity(findings),
        notes=notes,
    )


def _with_labels(checked: CheckResult, given: Examined) -> CheckResult:
    """Let the worst groups be told by what is published of them, not by their ids alone."""
    if given.group is None:
        return checked
    ids = given.frame[given.group]

    def told(group: GroupReport) -> GroupReport:
        row = ids.index_of(group.values[ids.name])
        labels = given.frame[given.quasi].row(row or 0, named=True)
        return replace(group, values={**group.values, **labels})

    reports = [replace(r, worst=[told(group) for group in r.worst]) for r in checked.principles]
    return replace(checked, principles=reports)


def _settings(
    sensed: Sensed,
    epsilon: str | float | None,
    near: tuple[Fraction, bool] | None,
    priors: Priors | None,
) -> Settings:
    """Say what the adversary of an attribute knows and wants."""
    reach, relative, chosen = epsilon_of(sensed, epsilon) if sensed.numeric else (None, False, "")
    if near is not None and sensed.numeric:
        reach, relative = near
    apart = sensed.first(Dissimilarity)
    similar = sensed.first(LEDiversity)
    diverse = [guard.l for guard in sensed.guards if hasattr(guard, "l")]
    return Settings(
        epsilon=reach,
        relative=relative,
        chosen=chosen or "audit",
        e=None if similar is None else similar.e,
        far=None if apart is None else apart.epsilon,
        distance="auto" if apart is None else apart.distance,
        l=max(diverse, default=None),
        prior=None if priors is None else priors.about_everybody(sensed),
    )


def _learn(
    sensed: Sensed,
    groups: Partition,
    published: Published,
    cover: Covering | None,
    settings: Settings,
) -> Attribute:
    """Measure what is learnt of one attribute, with the group known and without."""
    domain = sensed.domain
    known = learn(Faced.known(groups.histograms(sensed.column)), domain, settings)
    covering, victims = None, None
    if cover is not None:
        covering = learn(_faced(sensed, published, cover), domain, settings)
        looked_at = len(cover.victims)
        victims = {"looked_at": looked_at, "of": cover.of, "exact": cover.exact}
    return Attribute(
        on=sensed.name,
        values=int(np.count_nonzero(domain.histogram[: domain.known])),
        known=known,
        covering=covering,
        victims=victims,
    )


def _faced(sensed: Sensed, published: Published, cover: Covering) -> Faced:
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


def _among(published: Published, cover: Covering) -> Risk:
    """Return the risk of being found among the rows of all groups that cover a victim."""
    rows = np.add.reduceat(published.sizes[cover.boxes], cover.start[:-1])
    covered = cover.situation >= 0
    ones = np.ones(len(cover.victims), dtype=np.int64)
    people = ones if published.original_rows is not None else published.sizes[cover.victims]
    return among(rows[cover.situation[covered]], people[covered])


def _matching(given: Examined, groups: Partition, population: object) -> tuple[Ints, list[str]]:
    """Count the people of a population who match each group, and say what is in doubt."""
    everybody, _ = tables.adopt(table_of(population, given.options))
    for column in given.attributes:
        require_column(everybody, column, "the population")
    with told_of("the population"):
        boxes = Published.read(
            given.frame,
            given.attributes,
            original=everybody,
            hierarchies=given.hierarchies,
            types=given.types,
        )
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
    return of_box[boxes.boxes.labels[groups.first_rows()]], doubts


def _unread(published: Published) -> list[str]:
    """Say which columns publish what could not be understood."""
    return [
        f"what '{axis.name}' publishes could not be read as ranges, sets or nodes: each label was "
        "taken for a value"
        + (", and it rules nobody out" if published.original_rows is not None else "")
        for axis in published.axes
        if not axis.read
    ]
