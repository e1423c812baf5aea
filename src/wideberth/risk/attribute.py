"""A sensitive attribute as the adversary sees it: its values, and what counts as near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from wideberth.checks.check import lookalike_notes
from wideberth.core.codes import Codes, Column, Domain
from wideberth.core.exact import Bools, fraction
from wideberth.core.names import attribute_label, prefix_of
from wideberth.core.questions import column_question
from wideberth.core.types import infer_type
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.policy.spec import ExaminedTable
from wideberth.principles import (
    DeltaLDiversity,
    Dissimilarity,
    DistinctLDiversity,
    EpsilonMAnonymity,
    Principle,
)
from wideberth.principles.allowance import commonly_allowed
from wideberth.principles.columns import (
    GroupedTable,
    guarded_by,
    name_table_in_errors,
    require_column,
    stack_columns,
    with_counts,
)
from wideberth.risk.counsel import RemedyAdvice

#: How near is near: a number, or a share as in "10%".
Epsilon: TypeAlias = str | float
_NUMERIC = ("integer", "float", "decimal", "date")


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditedAttribute:
    """One sensitive attribute of a release, and of its original if that is at hand."""

    on: tuple[str, ...]
    column: Column  # the value of each row of the release
    own: Codes | None  # of each row of the original, by the same codes
    guards: tuple[Principle, ...]
    numeric: bool
    changed: int = 0  # rows whose values the original has not, or not so often

    @property
    def notes(self) -> list[str]:
        """What the reader of an audit must know."""
        alike = lookalike_notes(self.domain)
        if (harmless := self.allowed) is not None:
            many, held = harmless["values"], harmless["rows"]
            alike.append(
                f"'{self.name}': the policy allows {many:,} value{'' if many == 1 else 's'} "
                f"({held:,} of {len(self.column.codes):,} rows), which need no protection: "
                "findings are about the other rows"
            )
        if not self.changed:
            return alike
        return [
            *alike,
            f"'{self.name}' is not as in the original in {self.changed:,} "
            f"row{'' if self.changed == 1 else 's'}: what is true of a victim was taken from there",
        ]

    @property
    def name(self) -> str:
        """The attribute for people."""
        return attribute_label(self.on)

    @property
    def domain(self) -> Domain:
        """What the codes mean."""
        return self.column.domain

    @cached_property
    def harmless(self) -> Bools | None:
        """The codes of values that need no protection, if there are any."""
        return commonly_allowed(self.domain, self.guards)

    @property
    def allowed(self) -> dict[str, int] | None:
        """How many values need no protection, and in how many rows they are."""
        if self.harmless is None:
            return None
        rows = int(self.harmless[self.column.codes].sum())
        return {"values": int(self.harmless.sum()), "rows": rows}

    def counsel(self, holding: Sequence[Principle]) -> RemedyAdvice:
        """Advise on it by the table that can be anonymized again: the original, if it is known."""
        codes = self.column.codes if self.own is None else self.own
        return RemedyAdvice(Column(codes, self.domain), len(codes), self.guards, holding)

    def first(self, kind: type[Principle]) -> Any:
        """Return the first principle of a kind that guards it, or None."""
        return next((guard for guard in self.guards if isinstance(guard, kind)), None)


def audited_attributes(
    examined: ExaminedTable, original: pl.DataFrame | None, *, made: bool = False
) -> list[AuditedAttribute]:
    """Make the sensitive attributes of a table ready, each with what guards it."""
    # A column that may hold numbers in a notation that nobody confirmed is refused: as text, it
    # would seem safe.
    for name in examined.sensitive:
        if name in examined.types or name in examined.hierarchies:
            continue
        require_column(examined.frame, name)
        # Of a column that must be numbers, reading says in which row there is none.
        guards = [p for p in examined.principles if _guards(p, (name,), examined.sensitive)]
        slips = not any(isinstance(g, EpsilonMAnonymity | DeltaLDiversity) for g in guards)
        asked = column_question(examined.frame[name], made=made, slips=slips)
        if asked is None and original is not None and name in original.columns:
            asked = column_question(original[name], slips=slips)
        if asked is not None:
            raise asked.error
    found = [_sense(examined, original, on) for on in _attributes(examined)]
    if found and all(2 * one.changed > len(one.column.codes) for one in found):
        raise TableError(
            f"most values of '{found[0].name}' are not those of the original",
            hint="name the table that the release was made from; none, if all values were changed "
            "on purpose",
        )
    return found


def _attributes(examined: ExaminedTable) -> list[tuple[str, ...]]:
    """Return which columns are an attribute together: as principles say, or by their prefix."""
    names = examined.sensitive
    found = [
        on
        for principle in examined.principles
        if principle.needs == "distance" and len(on := guarded_by(principle, names)) > 1
    ]
    rest = [name for name in names if not any(name in on for on in found)]
    families: dict[str, list[str]] = {}
    for name in rest:
        families.setdefault(name.rpartition(".")[0], []).append(name)
    for prefix, columns in families.items():
        together = prefix and len(columns) > 1 and prefix_of(columns) == prefix
        found += [tuple(columns)] if together else [(column,) for column in columns]
    return list(dict.fromkeys(found))


def _sense(
    examined: ExaminedTable, original: pl.DataFrame | None, on: tuple[str, ...]
) -> AuditedAttribute:
    subject = examined.subject
    guards = tuple(p for p in examined.principles if _guards(p, on, examined.sensitive))
    kind = subject.types.get(on[0]) or infer_type(examined.frame[on[0]])
    vector = len(on) > 1 or kind == "vector"
    treed = not subject.hierarchies.keys().isdisjoint(on)
    computed = any(isinstance(g, EpsilonMAnonymity | DeltaLDiversity) for g in guards)
    numeric = not vector and (computed or (kind in _NUMERIC and not treed))
    reads: Principle = DistinctLDiversity(l=1)
    if numeric:
        reads = EpsilonMAnonymity(epsilon=0, m=1)
    elif vector:
        reads = Dissimilarity(on=on, epsilon=0, delta=0, k=1)
    try:
        column = subject.column(on, reads)
    except TableError as error:  # nobody asked for the principle by which we read
        raise TableError(error.what.rpartition("; ")[2], hint=error.hint) from None
    own, changed = None, 0
    if original is not None:
        column, own = _together(subject, original, on, reads)
        changed = _changed(column.codes, own, column.domain.size)
        if not changed:  # else values occur that the original does not have
            counts = np.bincount(own, minlength=column.domain.size)
            column = Column(column.codes, with_counts(column.domain, counts))
    return AuditedAttribute(
        on=on,
        column=column,
        own=own,
        guards=guards,
        numeric=numeric,
        changed=changed,
    )


def _changed(here: Codes, own: Codes, size: int) -> int:
    """Count the rows of a release whose values the original has not, or not so often."""
    more = np.bincount(here, minlength=size) - np.bincount(own, minlength=size)
    return int(np.maximum(more, 0).sum())


def _guards(principle: Principle, on: tuple[str, ...], sensitive: Sequence[str]) -> bool:
    if principle.needs in ("size", "population"):
        return False
    named = guarded_by(principle, sensitive)
    return set(named) == set(on) if named else len(on) == len(sensitive)


def _together(
    subject: GroupedTable, original: pl.DataFrame, on: tuple[str, ...], reads: Principle
) -> tuple[Column, Codes]:
    """Encode an attribute of the release and of its original by the same codes."""
    rows = subject.frame.height

    def encoded(frame: pl.DataFrame) -> Column:
        return GroupedTable(
            frame,
            quasi=[],
            sensitive=on,
            group=on[0],
            hierarchies={k: v for k, v in subject.hierarchies.items() if k in on},
            types={k: v for k, v in subject.types.items() if k in on},
        ).column(on, reads)

    with name_table_in_errors("the original"):
        encoded(original[list(on)])
    both = pl.DataFrame(
        [stack_columns(subject.frame[c], original[c], "the original").alias(c) for c in on]
    )
    column = encoded(both)
    return Column(column.codes[:rows], column.domain), column.codes[rows:]


def require_numbers(
    sensed: Sequence[AuditedAttribute], given: Epsilon | Mapping[str, Epsilon] | None
) -> None:
    """Refuse an ε for attributes that are no numbers: it would be answered by silence."""
    if given is None:
        return
    numeric = [one.name for one in sensed if one.numeric]
    for name in given if isinstance(given, Mapping) else ():
        if name not in [one.name for one in sensed]:
            raise ParameterError(
                f"epsilon is given for '{name}', which is no sensitive attribute",
                hint=f"one of {', '.join(numeric)}" if numeric else "name it as sensitive",
            )
        if name not in numeric:
            raise _not_numeric(name)
    if not isinstance(given, Mapping) and sensed and not numeric:
        raise _not_numeric(sensed[0].name)


def _not_numeric(name: str) -> ParameterError:
    return ParameterError(
        f"epsilon needs numbers or dates, and column '{name}' is read as neither",
        hint=what_to_type(
            python="[formats] of the policy if its numbers are written in another way; else leave "
            "out epsilon",
            command=f"--written '{name}=1.234,56' or [formats] of the policy if its numbers are "
            "written in another way; else leave out epsilon",
            app="choose another type in step 1, or a principle without epsilon in step 2",
        ),
    )


def epsilon_of(
    sensed: AuditedAttribute, given: Epsilon | Mapping[str, Epsilon] | None
) -> tuple[Any, bool, str]:
    """Return how near is near: as given, as the policy says, or not settled."""
    # Returns epsilon (None if the audit must choose), whether it is a share of the value, and who
    # chose it: "given", "policy" or "audit".
    if isinstance(given, Mapping):
        given = given.get(sensed.name)
    if given is not None:
        try:
            share = isinstance(given, str) and given.strip().endswith("%")
            asked = EpsilonMAnonymity(epsilon=given if share else float(fraction(given)), m=1)
        except (ParameterError, ValueError, OverflowError, TypeError):
            raise ParameterError(
                "epsilon must be a number from 0, or a share from 0 % to 100 %", hint="1000, or 10%"
            ) from None
        return fraction(given) if not share else asked.epsilon, asked.relative, "given"
    if (guard := sensed.first(EpsilonMAnonymity)) is not None:
        if guard.epsilon is not None:
            return guard.epsilon, guard.relative, "policy"
        return max(guard.e1, guard.e2), False, "policy"
    if (guard := sensed.first(DeltaLDiversity)) is not None:
        return guard.delta, False, "policy"
    return None, False, "audit"
