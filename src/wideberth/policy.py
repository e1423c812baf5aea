"""policy.toml: roles, types, principles and hierarchies of a table, as objects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wideberth.errors import ParameterError, PolicyError
from wideberth.principles import Principle, make
from wideberth.schema import ROLES, TYPES
from wideberth.tables import ReadOptions

#: The sections a policy may have, and the keys of those whose keys are fixed.
_SECTIONS: dict[str, tuple[str, ...] | None] = {
    "version": None,
    "roles": ROLES,
    "types": None,
    "table": ("missing", "delimiter", "encoding"),
    "principle": None,
    "population": None,
    "group": None,
    "hierarchies": None,
    "transform": ("algorithm", "cuts", "suppression_limit", "dealing"),
}


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a custodian has decided about a table.

    Parameters
    ----------
    roles : mapping
        Columns by role: identifier, quasi, sensitive, insensitive.
    principles : sequence of Principle
        What a release must satisfy.
    types : mapping
        Column types, where they are not to be guessed.
    hierarchies : mapping
        Column to hierarchy file or rule, as `wideberth.hierarchy.parse_spec` reads it.
    options : ReadOptions
        How CSV files are read.
    transform : mapping
        How a release is made.
    population : str, optional
        A table of the population, for δ-presence.
    group : str, optional
        The column that holds a release's group ids.
    folder : Path
        Where relative paths start: the policy's own folder.
    """

    roles: Mapping[str, Sequence[str]]
    principles: Sequence[Principle] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    options: ReadOptions = field(default_factory=ReadOptions)
    transform: Mapping[str, Any] = field(default_factory=dict)
    population: str | None = None
    group: str | None = None
    folder: Path = field(default_factory=Path)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PolicyError(
                f"there is no policy {path}", hint="wideberth init TABLE -o policy.toml"
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise PolicyError(f"cannot read policy {path}: {reason}") from None
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:  # its message ends in "(at line 3, column 7)"
            raise PolicyError(f"{path} is not valid TOML: {error}") from None
        return cls.of(content, where=str(path), folder=path.parent)

    @classmethod
    def of(
        cls, content: Mapping[str, Any], *, where: str = "policy", folder: Path | None = None
    ) -> Policy:
        """Build a policy from the contents of a file.

        >>> policy = Policy.of({"roles": {"quasi": ["age"]},
        ...                     "principle": [{"name": "k-anonymity", "k": 5}]})
        >>> policy.principles
        [KAnonymity(on=None, k=5)]
        """
        _check_keys(content, where)
        if content.get("version", 1) != 1:
            raise PolicyError(
                f"{where} has a version this program does not know", hint="version = 1"
            )
        roles = {role: _columns(content.get("roles", {}), role, where) for role in ROLES}
        types = content.get("types", {})
        for column, kind in types.items():
            if kind not in TYPES:
                raise PolicyError(
                    f"{where}: column '{column}' cannot have the type {kind!r}",
                    hint=f"one of {', '.join(TYPES)}",
                )
        table = content.get("table", {})
        options = ReadOptions(
            delimiter=table.get("delimiter"),
            encoding=table.get("encoding"),
            **({"missing": tuple(table["missing"])} if "missing" in table else {}),
        )
        return cls(
            roles=roles,
            principles=_principles(content.get("principle", []), where),
            types=types,
            hierarchies=content.get("hierarchies", {}),
            options=options,
            transform=content.get("transform", {}),
            population=content.get("population"),
            group=content.get("group"),
            folder=folder or Path(),
        )


def _columns(roles: Mapping[str, Any], role: str, where: str) -> list[str]:
    columns = roles.get(role, [])
    if not isinstance(columns, list) or not all(isinstance(c, str) for c in columns):
        raise PolicyError(f"{where}: roles.{role} must be a list of column names")
    return columns


def _principles(entries: object, where: str) -> list[Principle]:
    if not isinstance(entries, list):
        raise PolicyError(
            f"{where}: write [[principle]], with two brackets", hint="one per principle"
        )
    made = []
    for number, entry in enumerate(entries, start=1):
        settings = dict(entry)
        name = settings.pop("name", None)
        if not isinstance(name, str):
            raise PolicyError(
                f"{where}: principle {number} has no name", hint='name = "k-anonymity"'
            )
        try:
            made.append(make(name, settings))
        except ParameterError as error:
            raise PolicyError(
                f"{where}: principle {number}: {error.what}", hint=error.hint
            ) from None
    return made


def _check_keys(content: Mapping[str, Any], where: str) -> None:
    """Refuse keys that nothing reads: a misspelt one would silently change the policy."""
    for key, value in content.items():
        _known(key, _SECTIONS, where)
        allowed = _SECTIONS[key]
        if key in ("roles", "types", "table", "hierarchies", "transform"):
            if not isinstance(value, dict):
                raise PolicyError(f"{where}: {key} must be a section, [{key}]")
            for inner in value if allowed else ():
                _known(inner, allowed or (), f"{where}, [{key}]")


def _known(key: str, allowed: Mapping[str, object] | Sequence[str], where: str) -> None:
    if key not in allowed:
        close = get_close_matches(key, list(allowed), n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(allowed)}"
        raise PolicyError(f"{where} has an unknown key '{key}'", hint=hint)
