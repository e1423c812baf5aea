"""What a check reports: objects first, text and JSON are renderings of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wideberth.core.groups import Uneven
from wideberth.core.names import attribute_label
from wideberth.core.text import as_html
from wideberth.errors import ParameterError
from wideberth.policy.people import People
from wideberth.principles import Principle, plain_value

if TYPE_CHECKING:
    from wideberth.checks.claims import Claim


_IF_TIED = "satisfied if both tables are of one release"


@dataclass(frozen=True)
class GroupReport:
    """One group as a principle judges it."""

    # The quasi-identifiers as published. They may be those of a single person, so they are shown
    # and put into JSON on request only.
    values: dict[str, Any] = field(repr=False)
    rows: int  # its size
    satisfied: bool
    achieved: dict[str, float]  # the strongest parameters it reaches
    reason: str  # what the verdict rests on
    # its row in `CheckResult.table`, counted from 1, where that is known
    number: int | None = field(default=None, compare=False)

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON; quasi-identifiers only if they are to be shown."""
        values = self.values if show_rows else {}
        return {
            "number": self.number,
            "group": {
                k: v if isinstance(v, int | float | str | None) else str(v)
                for k, v in values.items()
            },
            "rows": self.rows,
            "satisfied": self.satisfied,
            "achieved": {key: _jsonable(value) for key, value in self.achieved.items()},
            "reason": self.reason,
        }


@dataclass(frozen=True)
class PrincipleReport:
    """A principle's verdict on a table."""

    principle: Principle
    on: str | None
    satisfied: bool
    # The strongest value of each parameter that every group reaches while the others stay as they
    # are.
    achieved: dict[str, float]
    violating_groups: int
    violating_rows: int
    worst: list[GroupReport]  # the worst first
    _claims: Callable[[int], list[Claim]] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out how claims are made, which takes the whole table."""
        return {**vars(self), "_claims": None if self._claims is None else _claims_not_kept}

    @property
    def shown(self) -> str | None:
        """The attribute for people: ``disease.*`` for all columns of one value."""
        return None if self.on is None else attribute_label(self.on.split("+"))

    def claims(self, worst: int = 5) -> list[Claim]:
        """Return what an adversary can claim about the worst groups, where near means something."""
        # Unlike all else in a report, claims quote sensitive values. Principles without a distance
        # have none.
        return [] if self._claims is None else self._claims(worst)

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON; see `CheckResult.to_dict`."""
        return {
            "name": self.principle.name,
            "on": self.on,
            "parameters": {
                key: plain_value(value) for key, value in self.principle.given().items()
            },
            "satisfied": self.satisfied,
            "achieved": {key: _jsonable(value) for key, value in self.achieved.items()},
            "violating_groups": self.violating_groups,
            "violating_rows": self.violating_rows,
            "worst": [group.to_dict(show_rows=show_rows) for group in self.worst],
        }


@dataclass(frozen=True, repr=False)
class CheckResult:
    """What a check found. True in a condition if every principle is satisfied, by people.

    `squares` is the sum of the squares of the groups' sizes.

    Rows of a group must be published with the same quasi-identifiers. If they are not (`uneven`),
    whoever knows these tells the rows apart, and no principle is of use. Principles count rows; if
    an identifier repeats (`people`), rows are no people, and the result is false in a condition
    even where every principle is satisfied by rows. So it is if nothing says that the two tables of
    an anatomy are of one release (`untied`): groups of one beside values of another say nothing.
    """

    rows: int
    groups: int
    principles: list[PrincipleReport]
    notes: list[str]
    _table_of_groups: Callable[[], object] = field(repr=False, compare=False)
    squares: int = field(repr=False)
    uneven: Uneven | None = None
    people: People | None = None
    untied: str | None = None

    @property
    def satisfied(self) -> bool:
        """Whether the table satisfies every principle, by groups that are groups."""
        return self.uneven is None and all(report.satisfied for report in self.principles)

    @property
    def verdict(self) -> str:
        """The result in words.

        "satisfied", "not satisfied", "satisfied by rows only" or "satisfied if both tables are of
        one release".
        """
        if not self.satisfied:
            return "not satisfied"
        if self.people is not None:
            return "satisfied by rows only"
        return "satisfied" if self.untied is None else _IF_TIED

    def __bool__(self) -> bool:
        """Return whether the table satisfies every principle, and nothing makes that doubtful."""
        return self.satisfied and self.people is None and self.untied is None

    def __getstate__(self) -> dict[str, Any]:
        """Keep the table of groups, but not what it was made from."""
        return {**vars(self), "_table_of_groups": partial(_kept, self.table)}

    @cached_property
    def table(self) -> Any:
        """One row per group, in the caller's own kind of table.

        Quasi-identifiers, size, and for each principle whether the group satisfies it and what it
        achieves.
        """
        return self._table_of_groups()

    def to_dict(self, *, show_rows: bool = False) -> dict[str, Any]:
        """Return plain values, for JSON.

        Parameters
        ----------
        show_rows : bool
            Whether to include the quasi-identifiers of the worst groups, which may be those of
            single people. Without it, `table` of this object still has them.
        """
        return {
            "rows": self.rows,
            "groups": self.groups,
            "satisfied": self.satisfied,
            "verdict": self.verdict,
            "people": None if self.people is None else self.people.to_dict(),
            "uneven": None if self.uneven is None else self.uneven.to_dict(),
            "principles": [report.to_dict(show_rows=show_rows) for report in self.principles],
            "notes": self.notes,
            **({} if self.untied is None else {"untied": self.untied}),
        }

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("check", self.to_dict())

    def __str__(self) -> str:
        """Return one line per principle."""
        lines = [f"{self.rows:,} rows in {self.groups:,} groups"]
        for report in self.principles:
            verdict = "satisfied" if report.satisfied else "NOT satisfied"
            figures = ", ".join(f"{key}={value:g}" for key, value in report.achieved.items())
            lines.append(f"{report.principle} on {report.shown or 'sizes'}: {verdict} ({figures})")
        if self.uneven is not None:
            lines.append(f"NOT satisfied: {self.uneven}")
        if self.people is not None:
            lines.append(f"{self.people}: a person seems to have several rows")
        return "\n".join(lines + self.notes)

    __repr__ = __str__


def _kept(value: object) -> object:
    return value


def _claims_not_kept(worst: int) -> list[Claim]:
    raise ParameterError(
        "claims quote values of the table, which a pickled result does not keep",
        hint="check the table again",
    )


def _jsonable(value: object) -> int | float | str | None:
    """Return a value that JSON can hold. It knows no infinity: what nothing achieves is null."""
    if isinstance(value, float):
        if not np.isfinite(value):
            return None
        return int(value) if value.is_integer() else value
    return value if isinstance(value, int | str | None) else str(value)
