"""What an audit found: objects first, text and JSON are renderings of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wideberth.attacks import Identity, Measures
from wideberth.auditing.believing import Believed
from wideberth.findings import Finding
from wideberth.results import CheckResult
from wideberth.showing.wording import counted


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
        lines = [f"{counted(self.rows, 'row')} in {counted(self.groups, 'group')}"]
        lines += [str(finding) for finding in self.findings] or ["nothing found"]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__
