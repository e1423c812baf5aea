"""A table that is to be examined: read, its columns' roles settled, by arguments or by a policy.

Whoever looks at a published table, to check, to audit or to measure it, is told the same things
about it, and this is where they come together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.core.names import BOUNDS, expand_short_forms, spread_over_columns
from wideberth.core.types import TYPES
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.policy.people import People, find_people
from wideberth.policy.policy import GROUP_COLUMN, Policy
from wideberth.policy.roles import UNDECIDED, check_roles, require_decided
from wideberth.policy.two_tables import (
    AnatomyTables,
    load_table,
    read_if_path,
    require_anatomy_principle,
)
from wideberth.principles import Principle, parse
from wideberth.principles.columns import GroupedTable, require_column, unguarded_columns

_UNKNOWN = (
    "no quasi-identifiers are given, so it was not checked that the rows of a group are published "
    "with the same ones"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExaminedTable:
    """A table, and what is known about it."""

    # of an anatomised release, each row has one of its group's sensitive values
    frame: pl.DataFrame
    back: Callable[[pl.DataFrame], Any]  # turns a polars table into the kind that came in
    quasi: list[str]  # as they are published
    sensitive: list[str]
    group: str | None
    hierarchies: Mapping[str, Any]
    types: Mapping[str, str]
    principles: list[Principle]
    population: Any  # a table to compare with, like `reference`
    reference: Any
    counted: pl.DataFrame | None  # the second table of an anatomised release
    options: io.ReadOptions
    policy: Policy | None  # where what was not given came from
    rows_are_people: bool = False  # whether somebody said that every row is a different person

    @property
    def person(self) -> dict[str, Sequence[str]]:
        """Where to look for an identifier that repeats."""
        identifiers = () if self.policy is None else self.policy.roles.get("identifier", ())
        groups = [] if self.group is None else [self.group]
        return {
            "identifier": expand_short_forms(identifiers, self.frame.columns),
            "ignored": [*self.sensitive, *groups],
        }

    @cached_property
    def people(self) -> People | None:
        """An identifier that repeats, unless somebody said that rows are people."""
        return None if self.rows_are_people else find_people(self.frame, **self.person)

    @cached_property
    def subject(self) -> GroupedTable:
        """The table made ready for principles."""
        return GroupedTable(
            self.frame,
            quasi=self.quasi,
            sensitive=self.sensitive,
            group=self.group,
            hierarchies=self.hierarchies,
            types=self.types,
            reference=None if self.reference is None else io.adopt(self.reference)[0],
        )

    @property
    def uniform(self) -> list[str]:
        """The columns that must not differ within a group."""
        # Those are the quasi-identifiers if there are group ids; two tables publish them as they
        # are, on purpose. Without ids they make the groups.
        return self.quasi if self.group is not None and self.counted is None else []

    @property
    def unguarded(self) -> list[str]:
        """The sensitive columns that no principle looks at."""
        return unguarded_columns(self.principles, self.sensitive)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of what could not be checked."""
        by_ids = self.group is not None and self.counted is None
        return [_UNKNOWN] if by_ids and not self.quasi else []

    @property
    def attributes(self) -> list[str]:
        """The quasi-identifiers as the original names them: age, though age_min is published.

        >>> original_names(["sex", "age_min", "age_max"], ["sex", "age_min", "age_max", "pay"])
        ['sex', 'age']
        """
        return original_names(self.quasi, self.frame.columns)


def examine(
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
) -> ExaminedTable:
    """Read a table and settle what its columns are; the arguments are those of `check`."""
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    options = policy.options if policy else io.ReadOptions()
    frame, back = load_table(table, options)
    wanted = principles_of(principles) or (list(policy.principles) if policy else [])
    counted = None
    if sensitive_table is not None:
        group = group or (policy and policy.group) or GROUP_COLUMN
        counted, _ = load_table(sensitive_table, options)
        for principle in wanted:
            require_anatomy_principle(principle)
        frame = AnatomyTables.of(frame, counted, group).paired()
    elif policy is not None and policy.transform.get("algorithm") == "anatomy":
        _require_sensitive(frame, policy)
    hierarchies = spread_over_columns(hierarchies or {}, frame.columns)
    types = spread_over_columns(types or {}, frame.columns)
    published = [*frame.columns, *original_names(frame.columns, frame.columns)]
    for column in [*hierarchies, *types]:
        if column not in published:
            require_column(frame, column)
    for kind in types.values():
        if kind not in TYPES:
            raise ParameterError(f"there is no type '{kind}'", hint=f"one of {', '.join(TYPES)}")
    if policy is not None:
        decided = [*columns_named(quasi, frame.columns), *columns_named(sensitive, frame.columns)]
        if group is None and policy.group in frame.columns:  # an original has no groups yet
            group = policy.group
        quasi = quasi or as_published(policy.roles.get("quasi", ()), frame.columns)
        sensitive = sensitive or policy.roles.get("sensitive")
        # A release lacks identifiers, and what its policy says of their types and hierarchies.
        said = (spread_over_columns(kept, published) for kept in (policy.hierarchies, policy.types))
        trees, kinds = ({k: v for k, v in one.items() if k in published} for one in said)
        hierarchies, types = {**trees, **hierarchies}, {**kinds, **types}
        population = policy.population if population is None else population
        _check_policy(frame, policy, group, decided)
    columns = [column for column in frame.columns if column != group]
    if rows_are_people is None:
        rows_are_people = policy is not None and policy.rows_are_people
    return ExaminedTable(
        frame=frame,
        back=back,
        quasi=columns_named(quasi, columns),
        sensitive=columns_named(sensitive, columns),
        group=group,
        hierarchies=hierarchies,
        types=types,
        principles=wanted,
        population=_compared(population, options),
        reference=_compared(reference, options),
        counted=counted,
        options=options,
        policy=policy,
        rows_are_people=rows_are_people,
    )


def _compared(other: object, options: io.ReadOptions) -> object:
    """Return a table to compare with, with its numbers and dates read."""
    if other is None or isinstance(other, str | Path) or not options.formats:
        return read_if_path(other, options)
    return load_table(other, options)[0]


def original_names(quasi: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Return quasi-identifiers by their own names, where their bounds are published.

    >>> original_names(["sex", "age_min", "age_max"], ["sex", "age_min", "age_max", "pay"])
    ['sex', 'age']
    """
    names, known = [], set(columns)
    for column in quasi:
        base, _, end = column.rpartition("_")
        bounded = end in BOUNDS and base not in known
        both = f"{base}_min" in known and f"{base}_max" in known
        names.append(base if bounded and both else column)
    return list(dict.fromkeys(names))


def as_published(quasi: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Name the columns in which a release publishes quasi-identifiers: perhaps as bounds."""
    found = []
    for column in quasi:
        bounds = [end for part in BOUNDS if (end := f"{column}_{part}") in columns]
        found += bounds if column not in columns and len(bounds) > 1 else [column]
    return found


def columns_named(names: str | Sequence[str] | None, columns: Sequence[str]) -> list[str]:
    """Return the columns named by an argument, those of a table that a short form means included.

    >>> columns_named("disease.*", ["age", "disease.flu", "disease.asthma"])
    ['disease.flu', 'disease.asthma']
    """
    if names is None:
        return []
    return list(
        dict.fromkeys(expand_short_forms([names] if isinstance(names, str) else names, columns))
    )


def principles_of(
    given: str | Principle | Sequence[str | Principle] | None,
) -> list[Principle]:
    """Return the principles of an argument, be they objects or text."""
    if given is None:
        return []
    several = [given] if isinstance(given, str | Principle | type) else given
    for one in several:
        if not isinstance(one, str | Principle):
            raise ParameterError(
                f"a principle must be an object or text, not {type(one).__name__}",
                hint='wb.KAnonymity(k=5) or "k-anonymity:k=5"',
            )
    return [parse(p) if isinstance(p, str) else p for p in several]


def _require_sensitive(frame: pl.DataFrame, policy: Policy) -> None:
    """Refuse a table that lacks sensitive columns because a second table has them."""
    for column in expand_short_forms(policy.roles.get("sensitive", ()), frame.columns):
        if column not in frame.columns and (policy.group or GROUP_COLUMN) in frame.columns:
            raise TableError(
                f"the table has no column '{column}': an anatomised release has it in a second one",
                hint=what_to_type(python="sensitive_table=", command="--sensitive-table FILE"),
            )


def _check_policy(
    frame: pl.DataFrame, policy: Policy, group: str | None, decided: Sequence[str]
) -> None:
    """Require a role for every column of the table; a release need not have all the columns."""
    # What the policy leaves undecided may be decided by the arguments.
    columns = [c for c in frame.columns if c != group]
    needed = ("quasi", "sensitive")
    roles = {
        role: [c for c in expand_short_forms(listed, columns) if role in needed or c in columns]
        for role, listed in policy.roles.items()
    }
    check_roles(columns, {**roles, "quasi": as_published(roles.get("quasi", ()), columns)})
    require_decided([name for name in roles.get(UNDECIDED, ()) if name not in decided])
