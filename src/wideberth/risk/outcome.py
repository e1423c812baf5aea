"""What an audit found: objects first, text and JSON are renderings of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wideberth.checks.result import CheckResult
from wideberth.core.text import as_html, counted
from wideberth.policy.people import People
from wideberth.risk import verdict as rule
from wideberth.risk.attacks import AttackResults, IdentityRisk
from wideberth.risk.disclosure import Disclosure
from wideberth.risk.findings import SEVERAL, Finding
from wideberth.risk.priors import BeliefResult
from wideberth.risk.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class AttributeResult:
    """What is learnt of one sensitive attribute."""

    on: str  # `disease.*` stands for all columns of one value
    values: int  # how many different ones
    known: AttackResults  # the adversary knows the victim's group
    # The adversary knows the quasi-identifiers only, and so faces all groups that cover them. None
    # if that is not known, as of anatomised tables.
    covering: AttackResults | None = None
    # for `covering`: how many were "looked_at", "of" how many, and whether that is "exact"
    victims: Mapping[str, Any] | None = None
    believed: Sequence[BeliefResult] = ()  # of people about whom `priors` are given
    # How many "values" the policy allows, and in how many "rows" they are. All figures are about
    # the other people.
    allowed: Mapping[str, int] | None = None

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON; see `Audit.to_dict`."""
        return {
            "on": self.on,
            "values": self.values,
            "known": self.known.to_dict(),
            "covering": None if self.covering is None else self.covering.to_dict(),
            "victims": None if self.victims is None else dict(self.victims),
            "believed": [one.to_dict(show_rows=show_rows) for one in self.believed],
            "allowed": None if self.allowed is None else dict(self.allowed),
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
    people : People, optional
        An identifier that repeats, in the table or in the original.
    rows_are_people : bool
        Whether somebody said that every row is a different person all the same.
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
    disclosures : list of Disclosure
        What the release says of quasi-identifiers and insensitive columns to an adversary who knows
        the other quasi-identifiers.
    findings : list of Finding
        What it all means, the gravest first.
    notes : list of str
        What the reader must know about the audit.
    lost, left_out : float, optional
        The share of the quasi-identifiers' detail that is lost (NCP), and of the rows that are not
        published, or only as ``*``.
    seeded : bool
        Whether the release was made with a fixed seed, which is for tests.
    """

    rows: int
    groups: int
    boxes: int
    original_rows: int | None
    suppressed: int | None
    people: People | None
    rows_are_people: bool
    roles: Mapping[str, Sequence[str]]
    group: str | None
    reasons: Mapping[str, str]
    checked: CheckResult | None
    identity: IdentityRisk
    attributes: list[AttributeResult]
    disclosures: list[Disclosure]
    findings: list[Finding]
    notes: list[str]
    lost: float | None = None
    left_out: float | None = None
    seeded: bool = False

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

    @property
    def settled(self) -> bool:
        """Whether this is the only release that was looked at."""
        return all(finding.name != SEVERAL for finding in self.findings)

    @property
    def judgement(self) -> Verdict:
        """The verdict by the one rule that reports and the app apply as well."""
        return rule.judge_release(
            [finding.to_dict() for finding in self.findings],
            satisfied=self.satisfied,
            principles=[] if self.checked is None else self.checked.to_dict()["principles"],
            guessed=self.guessed,
            lost=self.lost,
            left_out=self.left_out,
            seeded=self.seeded,
        )

    @property
    def verdict(self) -> str:
        """The verdict in one sentence, a word first: "In order", "With care" or "Not ready"."""
        return str(self.judgement)

    def fails(self, fail_on: str = "high") -> bool:
        """Return whether a finding has this severity or a higher one."""
        return rule.is_severe([finding.to_dict() for finding in self.findings], fail_on)

    def __bool__(self) -> bool:
        """Return whether no finding is of high severity."""
        return self.safe

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON.

        Parameters
        ----------
        show_rows : bool
            Whether to include quasi-identifiers: those of the worst groups, which may be those of
            single people, and those of people of whom something was believed.
        """
        checked = {} if self.checked is None else self.checked.to_dict(show_rows=show_rows)
        return {
            "rows": self.rows,
            "groups": self.groups,
            "boxes": self.boxes,
            "original_rows": self.original_rows,
            "suppressed": self.suppressed,
            "people": None if self.people is None else self.people.to_dict(),
            "rows_are_people": self.rows_are_people,
            "roles": {**{r: list(c) for r, c in self.roles.items()}, "group": self.group},
            "guessed": self.guessed,
            "reasons": dict(self.reasons),
            "safe": self.safe,
            "verdict": self.verdict,
            "level": self.judgement.level,
            "lost": self.lost,
            "left_out": self.left_out,
            "satisfied": self.satisfied,
            "principles": checked.get("principles", []),
            "identity": self.identity.to_dict(),
            "attributes": [one.to_dict(show_rows=show_rows) for one in self.attributes],
            "disclosures": [disclosure.to_dict() for disclosure in self.disclosures],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": self.notes,
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("audit", self.to_dict())

    def __str__(self) -> str:
        """Return the findings, a line each."""
        lines = [f"{counted(self.rows, 'row')} in {counted(self.groups, 'group')}"]
        lines += [str(finding) for finding in self.findings] or ["nothing found"]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__
