"""policy.toml: roles, types, principles and hierarchies of a table, as objects."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime, time
from difflib import get_close_matches
from math import isfinite
from pathlib import Path
from typing import Any

import tomli_w

from wideberth import io
from wideberth.core.names import name_covers_column
from wideberth.core.types import TYPES
from wideberth.errors import ParameterError, PolicyError
from wideberth.hierarchy import as_rule
from wideberth.io import ReadOptions, documents, notation
from wideberth.policy.roles import LISTS, ROLES, UNDECIDED, how_to_decide
from wideberth.policy.settings import Transform, as_number
from wideberth.principles import Principle, lookup, make, plain_value

#: The sections a policy may have, and the keys of those whose keys are fixed.
_SECTIONS: dict[str, tuple[str, ...] | None] = {
    "version": None,
    "roles": LISTS,
    "types": None,
    "formats": None,
    "table": ("missing", "delimiter", "encoding", "skip_rows"),
    "principle": None,
    "population": None,
    "group": None,
    "rows_are_people": None,
    "hierarchies": None,
    "transform": Transform.keys(),
}
#: The name of a release's column of group ids, unless another is given.
GROUP_COLUMN = "group"
_MOST = 10_000  # lines above a header
_MADE = "Made by wideberth"
#: The sections of a file in the order in which people read them; `principle` is an array.
_ORDER = ("roles", "types", "formats", "table", "principle", "hierarchies", "transform")
_NEW = "wideberth init TABLE -o policy.toml"


@dataclass(frozen=True, kw_only=True)
class Policy:
    """What a custodian has decided about a table.

    Parameters
    ----------
    roles : mapping
        Columns by role: identifier, quasi, sensitive, insensitive; and those that are undecided,
        as long as there are any. "disease.*" stands for all that begin with "disease.".
    principles : sequence of Principle
        What a release must satisfy.
    types : mapping
        Column types, where they are not to be guessed.
    hierarchies : mapping
        Column to hierarchy file or rule, as `wideberth.hierarchy.parse_spec` reads it. In a policy
        file, relative paths start at its own folder.
    options : ReadOptions
        How CSV files are read, and how the numbers and dates of columns are written: the sections
        table and formats of a file.
    transform : mapping
        How a release is made; see `wideberth.policy.settings.Transform`.
    population : str, optional
        A table of the population, for δ-presence.
    group : str, optional
        The column that holds a release's group ids.
    rows_are_people : bool
        Whether every row is a different person, though an identifier repeats.
    """

    roles: Mapping[str, Sequence[str]]
    principles: Sequence[Principle] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    options: ReadOptions = field(default_factory=ReadOptions)
    transform: Mapping[str, Any] = field(default_factory=dict)
    population: str | None = None
    group: str | None = None
    rows_are_people: bool = False

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file."""
        path = Path(path)
        try:
            text = documents.read_text(path, documents.LARGEST_POLICY)
        except FileNotFoundError:
            raise PolicyError(f"there is no policy {path}", hint=_NEW) from None
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise PolicyError(f"cannot read policy {path}: {reason}", hint=_NEW) from None
        content = documents.parse_toml(text, str(path))
        return cls.of(content, where=str(path), folder=path.parent)

    def to_dict(self, *, folder: str | Path | None = None) -> dict[str, Any]:
        """Return what a policy file would say, as `of` reads it.

        Parameters
        ----------
        folder : str or Path, optional
            Where the file would lie: paths start there. By default they are absolute.

        Examples
        --------
        >>> policy = Policy(roles={"quasi": ["age"]}, principles=[make("k-anonymity", {"k": 5})])
        >>> policy.to_dict()["principle"]
        [{'name': 'k-anonymity', 'k': 5}]
        """
        usual = asdict(ReadOptions())
        read = {key: value for key, value in asdict(self.options).items() if key != "made"}
        formats = read.pop("formats")
        return normal(
            {
                "group": self.group,
                "population": None if self.population is None else _path(self.population, folder),
                "rows_are_people": self.rows_are_people,
                "roles": {role: list(columns) for role, columns in self.roles.items()},
                "types": dict(self.types),
                "formats": formats,
                "table": {key: value for key, value in read.items() if value != usual[key]},
                "principle": [_entry(principle) for principle in self.principles],
                "hierarchies": {
                    column: _written_rule(column, rule, folder)
                    for column, rule in self.hierarchies.items()
                },
                "transform": dict(self.transform),
            },
            folder=None if folder is None else Path(folder),
        )

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the policy to a file that `load` reads.

        Paths of hierarchies and of a population are written relative to the file's folder.

        Parameters
        ----------
        path : str or Path
            Where to, such as "policy.toml".
        force : bool
            Whether to replace a file that exists.
        """
        text = as_toml(self.to_dict(folder=Path(path).absolute().parent))
        io.write_text(text, path, force=force)

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
        given = content.get("roles", {})
        lists = LISTS if UNDECIDED in given else ROLES
        roles = {role: _columns(given, role, where) for role in lists}
        types, hierarchies = content.get("types", {}), content.get("hierarchies", {})
        listed = [column for columns in roles.values() for column in columns]
        _require_roles(content, listed, where)
        for column, kind in types.items():
            if kind not in TYPES:
                raise PolicyError(
                    f"{where}: column '{column}' cannot have the type {kind!r}",
                    hint=f"one of {', '.join(TYPES)}",
                )
        table = dict(content.get("table", {}))
        if "missing" in table:
            table["missing"] = tuple(table["missing"])
        formats = _formats(content.get("formats", {}), where)
        # Whoever says how numbers are written says that they are numbers.
        types = {**{c: notation(way).type for c, way in formats.items()}, **types}
        transform = _in_numbers(content.get("transform", {}))
        _check_transform(transform, roles["quasi"], where)
        base = folder or Path()
        population = content.get("population")
        return cls(
            roles=roles,
            principles=_principles(content.get("principle", []), where),
            types=types,
            hierarchies={column: _located(rule, base) for column, rule in hierarchies.items()},
            options=ReadOptions(**table, formats=formats),
            transform=transform,
            population=None if population is None else str(base / population),
            group=content.get("group"),
            rows_are_people=content.get("rows_are_people", False),
        )


def _path(path: str | Path, folder: str | Path | None) -> str:
    """Write a path as it is read in a folder."""
    whole = os.path.abspath(path)
    return whole if folder is None else os.path.relpath(whole, folder)


def _entry(principle: Principle) -> dict[str, Any]:
    """Write a principle as an entry of a file."""
    on = {} if principle.on is None else {"on": principle.on}
    entry: dict[str, Any] = {"name": principle.name, **on}
    for key, value in principle.given().items():
        if callable(value):
            raise PolicyError(
                f"{principle.name}: {key} is a Python function, which no file can hold",
                hint="give the principle to anonymize or check beside the policy",
            )
        entry[key] = (
            list(map(plain_value, value)) if isinstance(value, tuple) else plain_value(value)
        )
    return entry


def _written_rule(column: str, rule: Any, folder: str | Path | None) -> Any:
    """Write a hierarchy's rule, its paths as they are read in a folder."""
    if isinstance(rule, str):
        rule = as_rule(rule, Path())
        if "file" in rule:
            return _path(rule["file"], folder)
    if not isinstance(rule, Mapping):
        raise PolicyError(
            f"the hierarchy of '{column}' is a Python object, which no file can hold",
            hint="give a file or a rule, such as {'interval': [5, 10]}",
        )
    return {
        key: _path(value, folder) if key in ("file", "parents") else value
        for key, value in rule.items()
    }


def as_toml(content: Mapping[str, Any], *, name: str | None = None, head: str = _MADE) -> str:
    """Write a policy as the text of a policy.toml.

    >>> print(as_toml({"roles": {"quasi": ["age"]}, "principle": [{"name": "k-anonymity", "k": 5}]},
    ...               name="people.csv"))
    # Made by wideberth for "people.csv".
    version = 1
    <BLANKLINE>
    [roles]
    quasi = [
        "age",
    ]
    <BLANKLINE>
    [[principle]]
    name = "k-anonymity"
    k = 5
    <BLANKLINE>
    """
    said = normal(content)
    about = "" if name is None else f" for {_for_comment(name)}"
    parts = [f"# {head}{about}.\n"]
    parts += [tomli_w.dumps({k: v for k, v in said.items() if k not in _ORDER})]
    for section in _ORDER:
        if section == "principle":
            parts += ["\n[[principle]]\n" + tomli_w.dumps(entry) for entry in said[section]]
        elif kept := {key: value for key, value in said.get(section, {}).items() if value != []}:
            parts.append("\n" + tomli_w.dumps({section: kept}))
    return "".join(parts)


def _for_comment(name: str) -> str:
    """Quote a name so that it stays in its line, and can be written whatever it holds."""
    quoted = json.dumps(name.encode(errors="replace").decode(), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")


def normal(content: Mapping[str, Any], *, folder: Path | None = None) -> dict[str, Any]:
    """Return a valid policy's content in its one form: ordered, without what need not be said."""
    # There are always a version, every role, and a list of principles.
    given = {
        key: value for key, value in _plain(content, "policy").items() if value not in ({}, [])
    }
    Policy.of(given, where="the policy", folder=folder)
    roles = given.get("roles", {})
    said = {
        "version": 1,
        "group": given.get("group"),
        "population": given.get("population"),
        "rows_are_people": given.get("rows_are_people") or None,
        "roles": {role: roles.get(role, []) for role in LISTS if role in ROLES or role in roles},
        "types": given.get("types"),
        "formats": given.get("formats"),
        "table": given.get("table"),
        "principle": [_ordered(entry) for entry in given.get("principle", [])],
        "hierarchies": given.get("hierarchies"),
        "transform": _settings(given),
    }
    return {key: value for key, value in said.items() if value is not None and value != {}}


def _plain(value: Any, where: str) -> Any:
    """Return what JSON and TOML both have a form for; nothing is said by None."""
    if isinstance(value, Mapping):
        return {key: _plain(v, f"{where}.{key}") for key, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_plain(inner, where) for inner in value]
    if isinstance(value, date | datetime | time):  # a value as a user writes it
        return str(value)
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise PolicyError(f"{where} is not text", hint="write it anew") from None
    elif not isinstance(value, int) and not (isinstance(value, float) and isfinite(value)):
        raise PolicyError(f"{where} is neither text nor a number", hint="write it in quotes")
    return value


def _ordered(entry: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("name", "on", *lookup(entry["name"]).parameters())
    return {key: entry[key] for key in keys if key in entry}


def _settings(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what [transform] says that would be otherwise without it."""
    given = _in_numbers(content.get("transform", {}))
    algorithm = given.get("algorithm", Transform.algorithm)
    usual = Transform(algorithm=algorithm)
    order = Transform.keys()
    kept = {
        key: given[key] for key in order if given.get(key, vars(usual)[key]) != vars(usual)[key]
    }
    return kept if algorithm == Transform.algorithm else {"algorithm": algorithm, **kept}


def _in_numbers(transform: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return how a release is made, with the share of rows that may go as a number."""
    key = "suppression_limit"
    return {**transform, key: as_number(transform[key])} if key in transform else transform


def _formats(said: Mapping[str, Any], where: str) -> dict[str, str]:
    """Refuse what is no way to write numbers or dates."""
    for column, way in said.items():
        try:
            if not isinstance(way, str):
                raise ParameterError("it must be text", hint='"1.234,56"')
            notation(way)
        except ParameterError as error:
            what = f"{where}, [formats], column '{column}': {error.what}"
            raise PolicyError(what, hint=error.hint) from None
    return dict(said)


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
        if key in ("roles", "types", "formats", "table", "hierarchies", "transform"):
            if not isinstance(value, Mapping):
                raise PolicyError(f"{where}: {key} must be a section", hint=f"[{key}]")
            for inner in value if allowed else ():
                _known(inner, allowed or (), f"{where}, [{key}]")
        elif key in ("population", "group") and not isinstance(value, str):
            raise PolicyError(f"{where}: {key} must be text", hint=f'{key} = "…"')
        elif key == "rows_are_people" and not isinstance(value, bool):
            raise PolicyError(f"{where}: {key} must be true or false", hint=f"{key} = true")
    for key, value in content.get("table", {}).items():
        if key == "skip_rows":
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST:
                what = f"{where}: table.skip_rows must be a whole number from 0"
                raise PolicyError(what, hint="skip_rows = 1")
            continue
        several = key == "missing"
        if not (_texts(value) if several else isinstance(value, str)):
            hint = 'missing = ["?", ""]' if several else f'{key} = "…"'
            what = "a list of texts" if several else "text"
            raise PolicyError(f"{where}: table.{key} must be {what}", hint=hint)


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(text, str) for text in value)


def _require_roles(content: Mapping[str, Any], listed: Sequence[str], where: str) -> None:
    """Refuse a policy that says something of columns to which it gives no role."""
    lacking: dict[str, str] = {}
    for section in ("types", "formats", "hierarchies"):
        for column in content.get(section, {}) if listed or section != "formats" else ():
            if not any(name_covers_column(known, column) for known in listed):
                lacking.setdefault(column, section)
    if not lacking:
        return
    names = ", ".join(f"'{column}'" for column in lacking)
    sections = " and ".join(f"[{section}]" for section in dict.fromkeys(lacking.values()))
    one = len(lacking) == 1
    first = next(iter(lacking))
    close = get_close_matches(first, list(listed), n=1) if one else []
    nearest = f"did you mean '{close[0]}'? If not, " if close else ""
    lines = "its line" if one else "their lines"
    raise PolicyError(
        f"{where}: column{'' if one else 's'} {names} {'has' if one else 'have'} no role, but "
        f"{'stands' if one else 'stand'} under {sections}",
        hint=f"{nearest}{how_to_decide('it' if one else 'each')}; or delete {lines} under "
        f"{sections} if the table has no such column",
    )


def _known(
    key: str,
    allowed: Mapping[str, object] | Sequence[str],
    where: str,
    what: str = "an unknown key",
) -> None:
    if not any(name_covers_column(known, key) for known in allowed):
        close = get_close_matches(key, list(allowed), n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"known: {', '.join(allowed)}"
        raise PolicyError(f"{where} has {what} '{key}'", hint=hint)
