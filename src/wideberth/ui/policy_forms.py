"""A policy's content, as the app keeps it, in other words: as a file, a command line, Python.

The content is the dict that a policy.toml holds. Whatever form it takes, it makes the same release;
it consists of names of columns and of parameters, and never of rows.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from wideberth.errors import ParameterError, PolicyError
from wideberth.hierarchy import as_rule
from wideberth.io import documents, is_table, suffix_of
from wideberth.policy.policy import as_toml, normal
from wideberth.principles import Principle, lookup, make, plain_value

Content = dict[str, Any]

_FILES = ("file", "parents")
_MADE = "Made by `wideberth ui`"
#: The roles in the order in which `anonymize` has them.
_TOLD = ("quasi", "sensitive", "identifier", "insensitive")
#: How long a line of Python may be.
_WIDTH = 88


def policy_toml(content: Mapping[str, Any], *, name: str | None = None) -> str:
    """Write the policy of a table of that name as the text of a policy.toml.

    >>> policy_toml({"roles": {"quasi": ["age"]}}, name="people.csv").splitlines()[0]
    '# Made by `wideberth ui` for "people.csv".'
    """
    return as_toml(content, name=name, head=_MADE)


def read_policy_text(text: str | bytes, *, folder: Path | None = None) -> Content:
    """Read the text of somebody's policy file: valid, and plain enough for JSON."""
    try:
        decoded = text.decode() if isinstance(text, bytes) else text
    except UnicodeDecodeError:
        raise PolicyError("the policy is not UTF-8 text", hint="save it as UTF-8") from None
    content = documents.parse_toml(decoded.removeprefix("\ufeff"), "the policy")
    return normal(content, folder=folder)


def files_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return by column the hierarchy files that a policy names, as it names them."""
    rules = content.get("hierarchies")
    found = {}
    for column, rule in rules.items() if isinstance(rules, Mapping) else ():
        for key, path in _as_mapping(rule).items():
            if key in _FILES and isinstance(path, str):
                found[column] = path
    return found


def relocated(content: Mapping[str, Any], paths: Mapping[str, str]) -> Content:
    """Return the content with other names of hierarchy files, by column.

    >>> relocated({"hierarchies": {"zip": {"file": "/data/z.csv", "header": True}}},
    ...           {"zip": "hierarchies/zip.csv"})
    {'hierarchies': {'zip': {'file': 'hierarchies/zip.csv', 'header': True}}}
    """
    if not paths:
        return dict(content)
    rules = dict(content["hierarchies"])
    for column, path in paths.items():
        rule = _as_mapping(rules[column])
        moved = {key: path if key in _FILES else value for key, value in rule.items()}
        rules[column] = path if list(moved) == ["file"] else moved
    return {**content, "hierarchies": rules}


def _as_mapping(rule: Any) -> Mapping[str, Any]:
    if isinstance(rule, str):
        return as_rule(rule, Path())
    return rule if isinstance(rule, Mapping) else {}


def command_line(
    content: Mapping[str, Any],
    *,
    table: str,
    output: str,
    policy: str = "policy.toml",
    report: str | None = None,
) -> str:
    """Return the line for a shell that makes such a release from the policy's file.

    >>> command_line({}, table="my people.csv", output="release.csv")
    "wideberth anonymize 'my people.csv' -p policy.toml -o release.csv"
    """
    words = ["wideberth", "anonymize", _path(table), "-p", _path(policy)]
    words += ["-o", _path(_target(content, output))]
    if report is not None:
        words += ["--report", _path(report)]
    return shlex.join(words)


def _path(name: str) -> str:
    """Return a name that is not taken for an option."""
    return f"./{name}" if name.startswith("-") else name


def _target(content: Mapping[str, Any], output: str) -> str:
    """Return where a release goes: that of anatomy, which is two tables, into a folder."""
    anatomy = content.get("transform", {}).get("algorithm") == "anatomy"
    return output[: -len(suffix_of(output))] if anatomy and is_table(output) else output


def python(content: Mapping[str, Any], *, table: str, output: str) -> str:
    """Return a program that makes such a release without the policy's file.

    >>> print(python({"roles": {"quasi": ["age"], "sensitive": ["pay"]},
    ...               "principle": [{"name": "delta-l", "delta": "1/3", "l": 2}]},
    ...              table="people.csv", output="release.csv"))
    from fractions import Fraction
    <BLANKLINE>
    import wideberth as wb
    <BLANKLINE>
    release = wb.anonymize(
        "people.csv",
        quasi=["age"],
        sensitive=["pay"],
        principles=[wb.DeltaLDiversity(delta=Fraction(1, 3), l=2)],
    )
    release.save("release.csv")
    <BLANKLINE>
    """
    said = normal(content)
    aside = {key: said[key] for key in ("population", "table", "formats") if key in said}
    arguments = {
        **{role: said["roles"][role] for role in _TOLD},
        "principles": [_call(entry) for entry in said["principle"]],
        "types": said.get("types"),
        "hierarchies": said.get("hierarchies"),
        "group": said.get("group"),
        "rows_are_people": said.get("rows_are_people"),
        **said.get("transform", {}),
        # There are no arguments for this.
        "policy": _Code(f"wb.Policy.of({_shown(aside, 22)})") if aside else None,
    }
    given = {key: value for key, value in arguments.items() if value is not None and value != []}
    lines = [f"    {_shown(table, 0)},"]
    lines += [f"    {key}={_shown(value, len(key) + 1)}," for key, value in given.items()]
    call = "\n".join(["release = wb.anonymize(", *lines, ")"])
    target = _flat(_target(said, output))
    return f"{_imports(said['principle'])}\n{call}\nrelease.save({target})\n"


class _Code(str):
    """Text that is written as Python code, unquoted."""

    __slots__ = ()


def _imports(entries: Sequence[Mapping[str, Any]]) -> str:
    exact = any("Fraction(" in _call(entry) for entry in entries)
    lines = ["from fractions import Fraction\n"] if exact else []
    classes = {lookup(entry["name"]) for entry in entries}
    others = {f"from {c.__module__} import {c.__name__}" for c in classes if not _is_ours(c)}
    return "\n".join([*lines, "import wideberth as wb", *sorted(others)]) + "\n"


def _is_ours(cls: type[Principle]) -> bool:
    import wideberth

    return getattr(wideberth, cls.__name__, None) is cls


def _call(entry: Mapping[str, Any]) -> _Code:
    """Write a principle as Python: in the policy's words if Python understands them."""
    settings = {key: value for key, value in entry.items() if key != "name"}
    principle = make(entry["name"], settings)
    cls = type(principle)
    on = {} if principle.on is None else {"on": principle.on}
    exact = {**on, **principle.given()}
    short = {key: value for key, value in settings.items() if key in exact}
    try:
        told = short if cls(**short) == principle else exact
    except ParameterError:  # such as "5/6"
        told = exact
    inner = ", ".join(f"{key}={_flat(value)}" for key, value in told.items())
    return _Code(f"{'wb.' if _is_ours(cls) else ''}{cls.__name__}({inner})")


def _shown(value: Any, before: int, indent: int = 4) -> str:
    """Write a value as Python, an element in each line if it is long."""
    # `before`: characters that stand before it in its line, without the indentation.
    flat = _flat(value)
    if indent + before + len(flat) < _WIDTH or not value or not isinstance(value, list | dict):
        return flat
    inner = indent + 4
    if isinstance(value, dict):
        parts = [(f"{_flat(key)}: ", each) for key, each in value.items()]
    else:
        parts = [("", each) for each in value]
    lines = [f"{' ' * inner}{key}{_shown(each, len(key), inner)}," for key, each in parts]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return "\n".join([begin, *lines, " " * indent + end])


def _flat(value: Any) -> str:
    """Write a value as Python in one line."""
    if isinstance(value, _Code):
        return str(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_flat(k)}: {_flat(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flat, value)) + "]"
    if isinstance(value, Fraction):
        short = plain_value(value)
        ratio = f"Fraction({value.numerator}, {value.denominator})"
        return ratio if isinstance(short, str) else repr(short)
    shown = repr(value)  # which escapes what could not be seen
    if isinstance(value, str) and shown[0] == "'" and '"' not in shown:
        return f'"{shown[1:-1]}"'
    return shown
