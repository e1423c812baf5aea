"""What is asked of a release: table, roles, principles and settings, complete and consistent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import io
from wideberth.core.codes import content_order
from wideberth.core.exact import Ints
from wideberth.core.names import expand_short_forms, spread_over_columns
from wideberth.core.questions import require_one_way
from wideberth.core.strings import is_text, with_numbers
from wideberth.core.types import TYPES, convert
from wideberth.errors import ParameterError, PolicyError
from wideberth.hierarchy.quasi import kind_of_text, labels_as_written
from wideberth.policy.people import People, find_people
from wideberth.policy.policy import GROUP_COLUMN, Policy
from wideberth.policy.roles import ROLES, UNDECIDED, check_roles, require_decided
from wideberth.policy.settings import STRANGE_TO, Transform
from wideberth.policy.spec import columns_named, principles_of
from wideberth.policy.strays import find_non_person_rows
from wideberth.principles import Principle
from wideberth.principles.columns import require_column, unguarded_columns


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What a release is asked to be."""

    native: Any  # as it was given; a polars table if it was a file
    frame: pl.DataFrame  # the same for us to work on
    columns: Sequence[str]
    source: Path | None  # the file it came from
    roles: Mapping[str, Sequence[str]]  # columns by role; every column has one
    principles: Sequence[Principle]
    hierarchies: Mapping[str, Any]  # by column, as are types
    types: Mapping[str, str]
    transform: Transform
    # the name of the column of group ids, whether there is to be one, or None: if need be
    group: str | bool | None
    rows_are_people: bool = False  # whether somebody said that every row is a different person
    # An identifier that repeats. Of a table whose rows are not at hand, an engine finds it.
    people: People | None = None

    @classmethod
    def of(
        cls,
        table: object,
        *,
        roles: Mapping[str, str | Sequence[str] | None],
        principles: str | Principle | Sequence[str | Principle] | None,
        hierarchies: Mapping[str, Any] | None,
        types: Mapping[str, str] | None,
        policy: Policy | str | Path | None,
        transform: Mapping[str, Any],
        group: str | bool | None,
        rows_are_people: bool | None = None,
        schema: pl.DataFrame | None = None,
    ) -> Request:
        """Put arguments and policy together; an argument that is given goes first."""
        # Of a table that is not at hand its `schema` is given: its columns, without rows.
        if policy is not None and not isinstance(policy, Policy):
            policy = Policy.load(policy)
        rules = policy or Policy(roles={})
        source = Path(table) if isinstance(table, str | Path) else None
        native: Any = schema
        if schema is None:
            native = table if source is None else io.read(source, rules.options)
        frame, back = io.adopt(native) if schema is None else (schema, None)
        if back is not None and source is None:
            read = io.in_formats(frame, rules.options)
            if read is not frame:  # published as it was read
                frame, native = read, back(read)
        hierarchies = spread_over_columns(hierarchies or {}, frame.columns)
        types = spread_over_columns(types or {}, frame.columns)
        kinds = {**spread_over_columns(rules.types, frame.columns), **types}
        for column in [*hierarchies, *types]:
            require_column(frame, column)
        for kind in types.values():
            if kind not in TYPES:
                raise ParameterError(
                    f"there is no type '{kind}'", hint=f"one of {', '.join(TYPES)}"
                )
        given = {role: columns_named(roles.get(role), frame.columns) for role in ROLES}
        chosen = {
            role: named or expand_short_forms(rules.roles.get(role, ()), frame.columns)
            for role, named in given.items()
        }
        decided = [name for named in given.values() for name in named]
        left = expand_short_forms(rules.roles.get(UNDECIDED, ()), frame.columns)
        left = [name for name in left if name not in decided]
        check_roles(frame.columns, {**chosen, UNDECIDED: left})
        require_decided(left)
        if not chosen["quasi"]:
            raise PolicyError(
                "there is no quasi-identifier, so nothing to generalise",
                hint='quasi=["age", "zip"]: what others may know of a person',
            )
        wanted = principles_of(principles) or list(rules.principles)
        if not wanted:
            raise ParameterError(
                "there is no principle to satisfy", hint='for example "k-anonymity:k=5"'
            )
        chosen_how = {key: value for key, value in transform.items() if value is not None}
        usual = _fitting(rules.transform, chosen_how.get("algorithm"))
        settings = Transform(**{**usual, **chosen_how})
        if schema is None and source is not None and io.is_csv(source):
            roles_kept = ("sensitive", "insensitive", "quasi")[: 3 if settings.exact else 2]
            untouched = [name for role in roles_kept for name in chosen[role]]
            whole = [name for name in untouched if kinds.get(name, "integer") == "integer"]
            frame = with_numbers(frame, whole)
            # A type that is given decides, whatever this table's values look like.
            texts = [name for name in whole if name in kinds and is_text(frame[name].dtype)]
            native = frame = frame.with_columns(convert(frame[name], "integer") for name in texts)
        for key in ("weights", "levels"):
            for column in getattr(settings, key):
                if column not in chosen["quasi"]:
                    raise ParameterError(
                        f"{key}: '{column}' is no quasi-identifier",
                        hint=f"one of {', '.join(chosen['quasi'])}",
                    )
        each = rules.rows_are_people if rows_are_people is None else rows_are_people
        if schema is None and not each:
            find_non_person_rows(frame).require_none()
        people = None if schema is not None else find_people(frame, **_person(chosen))
        require_people(people, said=each)
        return cls(
            native=native,
            frame=frame,
            columns=frame.columns,
            source=source,
            roles=chosen,
            principles=wanted,
            hierarchies={**spread_over_columns(rules.hierarchies, frame.columns), **hierarchies},
            types=kinds,
            transform=settings,
            group=_group(group, rules.group),
            rows_are_people=each,
            people=people,
        )

    def lighter(self) -> Request:
        """Let go of what was read from a file and will be published anew, or not at all."""
        if self.source is None:
            return self
        gone = {*self.roles["quasi"], *self.roles["identifier"]}
        frame = pl.DataFrame([series for series in self.frame if series.name not in gone])
        return replace(self, frame=frame, native=frame)

    def kind(self, series: pl.Series) -> str | None:
        """Return the type to read a quasi-identifier as, given its values; None to infer it."""
        # It is published anew, and should look as it did: 25.0 is written 25. Text that can be read
        # in two ways is refused, unless a type or a hierarchy says that it is text.
        column = series.name
        if column in self.types:
            return self.types[column]
        if series.dtype.is_float():
            whole = series.alias("").drop_nulls()
            fits = bool(((whole == whole.floor()) & (whole.abs() < 2**53)).all())
            return "integer" if fits else None
        if not is_text(series.dtype):
            return None
        hierarchy = self.hierarchies.get(column)
        if not labels_as_written(hierarchy):
            require_one_way(series)
        return kind_of_text(series, hierarchy)

    @property
    def person(self) -> dict[str, Sequence[str]]:
        """Where to look for an identifier that repeats."""
        return _person(self.roles)

    @property
    def guarded(self) -> dict[str, Any]:
        """What checks need to know of the sensitive attributes."""
        sensitive = self.roles["sensitive"]
        return {
            "sensitive": sensitive,
            "hierarchies": {c: h for c, h in self.hierarchies.items() if c in sensitive},
            "types": {c: t for c, t in self.types.items() if c in sensitive},
        }

    def by_content(self) -> Ints:
        """Return the rows in an order that depends on what they hold, not on where they stand."""
        names = [*self.roles["quasi"], *self.roles["sensitive"]]
        return content_order(self.frame[name] for name in names)

    @property
    def unguarded(self) -> list[str]:
        """The sensitive attributes that no principle looks at."""
        return unguarded_columns(self.principles, self.roles["sensitive"])


def _person(roles: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return where to look for an identifier that repeats."""
    return {"identifier": roles["identifier"], "ignored": roles["sensitive"]}


def require_people(people: People | None, *, said: bool) -> None:
    """Refuse a table in which an identifier repeats, unless somebody said that rows are people."""
    if people is not None and not said:
        raise people.error


def _fitting(said: Mapping[str, Any], algorithm: str | None) -> dict[str, Any]:
    """Leave out what a policy says to its own algorithm, if another one is asked for beside it."""
    usual = said.get("algorithm", Transform.algorithm)
    strange = () if algorithm in (None, usual) else STRANGE_TO.get(algorithm, ())
    return {key: value for key, value in said.items() if key not in strange}


def _group(given: str | bool | None, named: str | None) -> str | bool | None:
    if given == "auto":
        given = None
    if given is None:
        given = named
    if given is not None and not isinstance(given, str | bool):
        raise ParameterError(
            "group must be a column name, or False", hint=f'group="{GROUP_COLUMN}"'
        )
    if given is True:
        given = GROUP_COLUMN
    if isinstance(given, str) and not given.strip():
        raise ParameterError("the column of group ids needs a name", hint=f'group="{GROUP_COLUMN}"')
    return given
