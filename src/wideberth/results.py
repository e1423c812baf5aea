"""What a check reports: objects first, text and JSON are renderings of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from wideberth.principles import Principle, plain
from wideberth.schema import shown

if TYPE_CHECKING:
    from wideberth.claiming import Claim


@dataclass(frozen=True)
class GroupReport:
    """One group as a principle judges it.

    Parameters
    ----------
    values : dict
        The group's quasi-identifiers as published.
    rows : int
        Its size.
    satisfied : bool
        The verdict.
    achieved : dict
        The strongest parameters it reaches.
    reason : str
        What the verdict rests on.
    """

    values: dict[str, Any]
    rows: int
    satisfied: bool
    achieved: dict[str, float]
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "group": {
                k: v if isinstance(v, int | float | str | None) else str(v)
                for k, v in self.values.items()
            },
            "rows": self.rows,
            "satisfied": self.satisfied,
            "achieved": {key: _jsonable(value) for key, value in self.achieved.items()},
            "reason": self.reason,
        }


@dataclass(frozen=True)
class PrincipleReport:
    """A principle's verdict on a table.

    Parameters
    ----------
    principle : Principle
        The principle, with its parameters.
    on : str or None
        The sensitive attribute it was checked on.
    satisfied : bool
        Whether every group satisfies it.
    achieved : dict
        For each parameter, the strongest value that every group reaches while the other parameters
        stay as they are.
    violating_groups, violating_rows : int
        How many groups fail, and how many rows are in them.
    worst : list of GroupReport
        The worst groups, the worst first.
    """

    principle: Principle
    on: str | None
    satisfied: bool
    achieved: dict[str, float]
    violating_groups: int
    violating_rows: int
    worst: list[GroupReport]
    _claims: Callable[[int], list[Claim]] | None = field(default=None, repr=False, compare=False)

    @property
    def shown(self) -> str | None:
        """The attribute for people: ``disease.*`` for all columns of one value."""
        return None if self.on is None else shown(self.on.split("+"))

    def claims(self, worst: int = 5) -> list[Claim]:
        """Return what an adversary can claim about the worst groups, where near means something.

        Unlike all else in a report, claims quote sensitive values. Principles without a distance
        have none.
        """
        return [] if self._claims is None else self._claims(worst)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "name": self.principle.name,
            "on": self.on,
            "parameters": {key: plain(value) for key, value in self.principle.given().items()},
            "satisfied": self.satisfied,
            "achieved": {key: _jsonable(value) for key, value in self.achieved.items()},
            "violating_groups": self.violating_groups,
            "violating_rows": self.violating_rows,
            "worst": [group.to_dict() for group in self.worst],
        }


@dataclass(frozen=True, repr=False)
class CheckResult:
    """What a check found. True in a condition if every principle is satisfied."""

    rows: int
    groups: int
    principles: list[PrincipleReport]
    notes: list[str]
    _table_of_groups: Callable[[], object] = field(repr=False, compare=False)

    @property
    def satisfied(self) -> bool:
        """Whether the table satisfies every principle."""
        return all(report.satisfied for report in self.principles)

    def __bool__(self) -> bool:
        """Return whether the table satisfies every principle."""
        return self.satisfied

    @cached_property
    def table(self) -> Any:
        """One row per group, in the caller's own kind of table.

        Quasi-identifiers, size, and for each principle whether the group satisfies it and what it
        achieves.
        """
        return self._table_of_groups()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "rows": self.rows,
            "groups": self.groups,
            "satisfied": self.satisfied,
            "principles": [report.to_dict() for report in self.principles],
            "notes": self.notes,
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        from wideberth.showing import notebook

        return notebook.check(self.to_dict())

    def __str__(self) -> str:
        """Return one line per principle."""
        lines = [f"{self.rows:,} rows in {self.groups:,} groups"]
        for report in self.principles:
            verdict = "satisfied" if report.satisfied else "NOT satisfied"
            figures = ", ".join(f"{key}={value:g}" for key, value in report.achieved.items())
            lines.append(f"{report.principle} on {report.shown or 'sizes'}: {verdict} ({figures})")
        return "\n".join(lines + self.notes)

    __repr__ = __str__


def _jsonable(value: object) -> int | float | str | None:
    """Return a value that JSON can hold. It knows no infinity: what nothing achieves is null."""
    if isinstance(value, float):
        if not np.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value if isinstance(value, int | str | None) else str(value)
