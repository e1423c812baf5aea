"""policy.toml: roles, types, principles and hierarchies of a table, as objects."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wideberth.errors import ParameterError, PolicyError
from wideberth.hierarchy import as_rule
from wideberth.principles import Principle, make
from wideberth.schema import ROLES, TYPES, covers
from wideberth.tables import ReadOptions
from wideberth.transform import Transform

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
    "transform": Transform.keys(),
}
#: The name of a release's column of group ids, unless another is given.
GROUP = "group"
_NEW = "wideberth init TABLE -o policy.toml"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a custodian has decided about a table.

    Parameters
    ----------
    roles : mapping
        Columns by role: identifier, quasi, sensitive, insensitive. "disease.*" stands for all that
        begin with "disease.".
    principles : sequence of Principle
        What a release must satisfy.
    types : mapping
        Column types, where they are not to be guessed.
    hierarchies : mapping
        Column to hierarchy file or rule, as `wideberth.hierarchy.parse_spec` reads it. In a policy
        file, relative paths start at its own folder.
    options : ReadOptions
        How CSV files are read.
    transform : mapping
        How a release is made; see `wideberth.transform.Transform`.
    population : str, optional
        A table of the population, for δ-presence.
    group : str, optional
        The column that holds a release's group ids.
    """

    roles: Mapping[str, Sequence[str]]
    principles: Sequence[Principle] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    options: ReadOptions = field(default_factory=ReadOptions)
    transform: Mapping[str, Any] = field(default_factory=dict)
    population: str | None = None
    group: str | None = None

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PolicyError(f"there is no policy {path}", hint=_NEW) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise PolicyError(f"cannot read policy {path}: {reason}", hint=_NEW) from None
        try:
            content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:  # its message ends in "(at line 3, column 7)"
            twice = "twice" in str(error) or "overwrite" in str(error).lower()
            hint = "[[principle]], two brackets" if twice else 'write texts in quotes: "age"'
            raise PolicyError(f"{path} is not valid TOML: {error}", hint=hint) from None
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
        types, hierarchies = content.get("types", {}), content.get("hierarchies", {})
        listed = [column for columns in roles.values() for column in columns]
        for section in ("types", "hierarchies"):
            for column in content.get(section, {}):
                _known(column, listed, f"{where}, [{section}]", "a column without a role:")
        for column, kind in types.items():
            if kind not in TYPES:
                raise PolicyError(
                    f"{where}: column '{column}' cannot have the type {kind!r}",
                    hint=f"one of {', '.join(TYPES)}",
                )
        table = dict(content.get("table", {}))
        if "missing" in table:
            table["missing"] = tuple(table["missing"])
        _check_transform(content.get("transform", {}), roles["quasi"], where)
        base = folder or Path()
        population = content.get("population")
        return cls(
            roles=roles,
            principles=_principles(content.get("principle", []), where),
            types=types,
            hierarchies={column: _located(rule, base) for column, rule in hierarchies.items()},
            options=ReadOptions(**table),
            transform=content.get("transform", {}),
            population=None if population is None else str(base / population),
            group=content.get("group"),
        )


def _check_transform(transform: Mapping[str, Any], quasi: Sequence[str], where: str) -> None:
    try:
        Transform(**transform)
    except ParameterError as error:
        raise PolicyError(f"{where}, [transform]: {error.what}", hint=error.hint) from None
    for key in ("recoding", "align", "weights", "levels"):
        for column in transform[key] if isinstance(transform.get(key), Mapping) else ():
            _known(column, quasi, f"{where}, transform.{key}", "what is no quasi-identifier:")


def _columns(roles: Mapping[str, Any], role: str, where: str) -> list[str]:
    columns: list[str] = roles.get(role, [])
    if not _texts(columns):
        raise PolicyError(
            f"{where}: roles.{role} must be a list of column names", hint=f'{role} = ["column"]'
        )
    return columns


def _located(rule: Any, folder: Path) -> Any:
    """Let the path in a hierarchy's rule, if there is one, start at the policy's folder."""
    if isinstance(rule, str):
        rule = as_rule(rule, folder)
        if "file" in rule:
            return str(folder / rule["file"])
    if not isinstance(rule, Mapping):
        return rule  # `parse_spec` refuses it
    return {
        key: str(folder / value) if key in ("file", "parents") and isinstance(value, str) else value
        for key, value in rule.items()
    }


def _principles(entries: object, where: str) -> list[Principle]:
    if not isinstance(entries, list) or not all(isinstance(e, Mapping) for e in entries):
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
        on = settings.get("on", "")
        if not isinstance(on, str) and not _texts(on):
            raise PolicyError(
                f"{where}: principle {number}: on must name columns", hint='on = "salary"'
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
            if not isinstance(value, Mapping):
                raise PolicyError(f"{where}: {key} must be a section", hint=f"[{key}]")
            for inner in value if allowed else ():
                _known(inner, allowed or (), f"{where}, [{key}]")
        elif key in ("population", "group") and not isinstance(value, str):
            raise PolicyError(f"{where}: {key} must be text", hint=f'{key} = "…"')
    for key, value in content.get("table", {}).items():
        several = key == "missing"
        if not (_texts(value) if several else isinstance(value, str)):
            hint = 'missing = ["?", ""]' if several else f'{key} = "…"'
            what = "a list of texts" if several else "text"
            raise PolicyError(f"{where}: table.{key} must be {what}", hint=hint)


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _known(
    key: str,
    allowed: Mapping[str, object] | Sequence[str],
    where: str,
    what: str = "an unknown key",
) -> None:
    if not any(covers(known, key) for known in allowed):
        close = get_close_matches(key, list(allowed), n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(allowed)}"
        raise PolicyError(f"{where} has {what} '{key}'", hint=hint)
