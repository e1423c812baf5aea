"""What is asked of a release: table, roles, principles and settings, complete and consistent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from wideberth import tables
from wideberth.attributes import guarded_by, require_column
from wideberth.errors import ParameterError, PolicyError
from wideberth.examining import names_of, principles_of
from wideberth.policy import GROUP, Policy
from wideberth.principles import Principle
from wideberth.schema import ROLES, TYPES, by_column, check_roles, expanded, infer_type
from wideberth.transform import STRANGE_TO, Transform
from wideberth.words import is_text, with_numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What is asked of a release.

    Parameters
    ----------
    native : object
        The table as it was given; a polars one if it was a file.
    frame : polars.DataFrame
        The same for us to work on.
    columns : sequence of str
        The names of its columns.
    source : Path, optional
        The file it came from.
    roles : mapping
        Columns by role; every column has one.
    principles : sequence of Principle
        What the release must satisfy.
    hierarchies, types : mapping
        By column.
    transform : Transform
        How it is made.
    group : str, bool or None
        The name of the column of group ids, whether there is to be one, or None: if need be.
    """

    native: Any
    frame: pl.DataFrame
    columns: Sequence[str]
    source: Path | None
    roles: Mapping[str, Sequence[str]]
    principles: Sequence[Principle]
    hierarchies: Mapping[str, Any]
    types: Mapping[str, str]
    transform: Transform
    group: str | bool | None

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
        schema: pl.DataFrame | None = None,
    ) -> Request:
        """Put arguments and policy together; an argument that is given goes first.

        Of a table that is not at hand its `schema` is given: its columns, without rows.
        """
        if policy is not None and not isinstance(policy, Policy):
            policy = Policy.load(policy)
        rules = policy or Policy(roles={})
        source = Path(table) if isinstance(table, str | Path) else None
        native: Any = schema
        if schema is None:
            native = table if source is None else tables.read(source, rules.options)
        frame = tables.adopt(native)[0] if schema is None else schema
        hierarchies = by_column(hierarchies or {}, frame.columns)
        types = by_column(types or {}, frame.columns)
        kinds = {**by_column(rules.types, frame.columns), **types}
        for column in [*hierarchies, *types]:
            require_column(frame, column)
        for kind in types.values():
            if kind not in TYPES:
                raise ParameterError(
                    f"there is no type '{kind}'", hint=f"one of {', '.join(TYPES)}"
                )
        chosen = {
            role: names_of(roles.get(role), frame.columns)
            or expanded(rules.roles.get(role, ()), frame.columns)
            for role in ROLES
        }
        check_roles(frame.columns, chosen)
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
        given = {key: value for key, value in transform.items() if value is not None}
        settings = Transform(**{**_fitting(rules.transform, given.get("algorithm")), **given})
        if schema is None and source is not None and tables.is_csv(source):
            roles_kept = ("sensitive", "insensitive", "quasi")[: 3 if settings.exact else 2]
            untouched = [name for role in roles_kept for name in chosen[role]]
            whole = [name for name in untouched if kinds.get(name, "integer") == "integer"]
            native = frame = with_numbers(frame, whole)
        for key in ("weights", "levels"):
            for column in getattr(settings, key):
                if column not in chosen["quasi"]:
                    raise ParameterError(
                        f"{key}: '{column}' is no quasi-identifier",
                        hint=f"one of {', '.join(chosen['quasi'])}",
                    )
        return cls(
            native=native,
            frame=frame,
            columns=frame.columns,
            source=source,
            roles=chosen,
            principles=wanted,
            hierarchies={**by_column(rules.hierarchies, frame.columns), **hierarchies},
            types=kinds,
            transform=settings,
            group=_group(group, rules.group),
        )

    def lighter(self) -> Request:
        """Let go of what was read from a file and will be published anew, or not at all."""
        if self.source is None:
            return self
        gone = {*self.roles["quasi"], *self.roles["identifier"]}
        frame = pl.DataFrame([series for series in self.frame if series.name not in gone])
        return replace(self, frame=frame, native=frame)

    def kind(self, series: pl.Series) -> str | None:
        """Return the type to read a quasi-identifier as, given its values; None to infer it.

        It is published anew, and should look as it did: yes stays yes, 25.0 is written 25, and
        the labels of a hierarchy file are values as written.
        """
        column = series.name
        if column in self.types:
            return self.types[column]
        if series.dtype.is_float():
            whole = series.alias("").drop_nulls()
            fits = bool(((whole == whole.floor()) & (whole.abs() < 2**53)).all())
            return "integer" if fits else None
        if not is_text(series.dtype):
            return None
        kind = infer_type(series)
        rule = self.hierarchies.get(column)
        derived = isinstance(rule, Mapping) and ("interval" in rule or "date" in rule)
        as_written = rule is not None and not derived and kind not in ("integer", "category")
        return "text" if as_written or kind == "boolean" else kind

    @property
    def guarded(self) -> dict[str, Any]:
        """What checks need to know of the sensitive attributes."""
        sensitive = self.roles["sensitive"]
        return {
            "sensitive": sensitive,
            "hierarchies": {c: h for c, h in self.hierarchies.items() if c in sensitive},
            "types": {c: t for c, t in self.types.items() if c in sensitive},
        }

    @property
    def unguarded(self) -> list[str]:
        """The sensitive attributes that no principle looks at."""
        looks = [p for p in self.principles if p.needs not in ("size", "population")]
        if any(p.on is None for p in looks):
            return []
        sensitive = self.roles["sensitive"]
        seen = {name for p in looks for name in guarded_by(p, sensitive)}
        return [column for column in sensitive if column not in seen]


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
        raise ParameterError("group must be a column name, or False", hint=f'group="{GROUP}"')
    if given is True:
        given = GROUP
    if isinstance(given, str) and not given.strip():
        raise ParameterError("the column of group ids needs a name", hint=f'group="{GROUP}"')
    return given
