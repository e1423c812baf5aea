"""A finding: something that a release gives away, what that means, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

#: From what must not be published to what is good to know.
SEVERITIES = ("high", "medium", "low", "info")
#: The name of what is found of several releases together, and what is always true of it.
SEVERAL = "several-releases"
NOT_EXHAUSTED = "joint inference over the releases was not exhausted"
#: The name of the finding that no principle is on a sensitive column.
UNPROTECTED = "unprotected"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that a release gives away.

    Parameters
    ----------
    name : str
        What kind of finding it is, the same in every audit: "row-order", say.
    severity : str
        One of `SEVERITIES`.
    title : str
        What was found, in one line.
    meaning : str
        What an adversary gains by it.
    advice : str
        What to do.
    figures : mapping
        The numbers behind it: counts and shares, never a value of the table.

    Examples
    --------
    >>> found = Finding(
    ...     name="row-numbers", severity="high", title="column 'Unnamed: 0' numbers the rows",
    ...     meaning="Whoever has the original's order knows who is who.", advice="Drop it.",
    ... )
    >>> print(found)
    high: column 'Unnamed: 0' numbers the rows
    """

    name: str
    severity: str
    title: str
    meaning: str
    advice: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return severity and title."""
        return f"{self.severity}: {self.title}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "name": self.name,
            "severity": self.severity,
            "title": self.title,
            "meaning": self.meaning,
            "advice": self.advice,
            "figures": dict(self.figures),
        }


def graver(one: str, other: str) -> bool:
    """Return whether a severity is above another.

    >>> graver("high", "medium"), graver("low", "low")
    (True, False)
    """
    return SEVERITIES.index(one) < SEVERITIES.index(other)


def by_severity(findings: Iterable[Finding]) -> list[Finding]:
    """Sort findings, the gravest first."""
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
