"""Roles: what a column does to privacy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wideberth.core.names import absent_column_message
from wideberth.errors import PolicyError, UndecidedError, what_to_type

ROLES = ("identifier", "quasi", "sensitive", "insensitive")
#: Beside a role: what a column has as long as nobody has decided what it is.
UNDECIDED = "undecided"
#: What a policy may list columns under.
LISTS = (*ROLES, UNDECIDED)
#: What becomes of a column of each role.
MEANING = {
    "identifier": "it leads to a person: dropped",
    "quasi": "others may know it: coarsened, but its value is not protected",
    "sensitive": "nobody must learn it: published as it is, and protected by a principle on it",
    "insensitive": "harmless: published as it is, unprotected",
}


def check_roles(columns: Iterable[str], roles: Mapping[str, Sequence[str]]) -> None:
    """Raise a ``PolicyError`` unless every column has exactly one role, or is undecided."""
    columns = list(columns)
    given: dict[str, str] = {}
    for role, members in roles.items():
        if role not in LISTS:
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
                what, near = absent_column_message(str(column), columns)
                hint = f"did you mean '{near}'?" if near else "is it another table's policy?"
                raise PolicyError(what, hint=hint)
            given[column] = role
    if lacking := [column for column in columns if column not in given]:
        names = ", ".join(f"'{column}'" for column in lacking)
        one = len(lacking) == 1
        what = f"column {names} has no role" if one else f"columns {names} have no role"
        hint = how_to_decide("it" if one else "each")
        if "group" in lacking:
            named = what_to_type(python='group="group"', command="--group group")
            hint = f"{named}, if it holds the group ids of a release; else {hint}"
        raise PolicyError(what, hint=hint)


def require_decided(undecided: Sequence[str]) -> None:
    """Refuse to go on while somebody must still decide what columns are.

    >>> require_decided(["icd10"])
    Traceback (most recent call last):
    wideberth.errors.UndecidedError: column 'icd10' is undecided
      try: give it a role in the policy's roles instead of undecided: identifier (it leads to a \
person: dropped), quasi (others may know it: coarsened, but its value is not protected), \
sensitive (nobody must learn it: published as it is, and protected by a principle on it) or \
insensitive (harmless: published as it is, unprotected)
    """
    if not undecided:
        return
    names = ", ".join(f"'{column}'" for column in undecided)
    one = len(undecided) == 1
    what = f"column {names} is" if one else f"{len(undecided):,} columns are"
    it = "it" if one else "each"
    way = what_to_type(
        python=f"give {it} a role in the policy's roles instead of undecided",
        command=f"move {it} from undecided to another list under [roles] of the policy",
    )
    raise UndecidedError(
        f"{what} undecided{'' if one else f': {names}'}",
        hint=f"{way}: {_meanings()}",
    )


def how_to_decide(it: str) -> str:
    """Return where to list columns that have no role yet, and what each role means.

    >>> how_to_decide("it").partition(" (")[0]
    'list it under one of the roles: identifier'
    """
    where = what_to_type(python="", command=" in [roles] of the policy")
    return f"list {it} under one of the roles{where}: {_meanings()}"


def _meanings() -> str:
    meanings = [f"{role} ({meaning})" for role, meaning in MEANING.items()]
    return f"{', '.join(meanings[:-1])} or {meanings[-1]}"
