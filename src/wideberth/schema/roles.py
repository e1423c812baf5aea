"""Roles: what a column does to privacy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wideberth.errors import PolicyError
from wideberth.schema.naming import absent

ROLES = ("identifier", "quasi", "sensitive", "insensitive")


def check_roles(columns: Iterable[str], roles: Mapping[str, Sequence[str]]) -> None:
    """Raise a ``PolicyError`` unless every column has exactly one role.

    Parameters
    ----------
    columns : iterable of str
        The columns of the table.
    roles : mapping of str to sequence of str
        The columns of each role in :data:`ROLES`.
    """
    columns = list(columns)
    given: dict[str, str] = {}
    for role, members in roles.items():
        if role not in ROLES:
            raise PolicyError(f"there is no role {role!r}", hint=f"use one of {', '.join(ROLES)}")
        if isinstance(members, str):
            raise PolicyError(f"role {role!r} is not a list", hint=f'write ["{members}"]')
        for column in members:
            if column in given:
                twice = given[column] == role
                what = f"column {column!r} is listed " + (
                    f"twice as {role}" if twice else f"as {given[column]} and as {role}"
                )
                raise PolicyError(what, hint="keep one of them")
            if column not in columns:
                what, near = absent(str(column), columns)
                hint = f"did you mean '{near}'?" if near else "is it another table's policy?"
                raise PolicyError(what, hint=hint)
            given[column] = role
    for column in columns:
        if column not in given:
            what = f"column {column!r} has no role"
            hint = f"list it under one of {', '.join(ROLES)}"
            if column == "group":
                hint = "--group group, if it holds the group ids of a release; else " + hint
            raise PolicyError(what, hint=hint)
