"""What a policy may say about a column's hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from wideberth.errors import HierarchyError
from wideberth.hierarchy.derive import dates, flat, intervals, masks
from wideberth.hierarchy.load import read_hierarchy, read_parents
from wideberth.hierarchy.semantic import icd10, named_icd10
from wideberth.hierarchy.tree import Hierarchy

_PARENTS = "parents:"
Check: TypeAlias = Callable[[object], bool]


def parse_spec(
    spec: str | Mapping[str, Any],
    values: Iterable[object],
    base_dir: Path,
    *,
    rows: Sequence[int] | None = None,
    column: str | None = None,
) -> Hierarchy:
    """Make the hierarchy that an entry of a policy's `[hierarchies]` describes.

    >>> parse_spec({"interval": 10}, ["34", "38"], Path()).generalize("38", 1)
    '30-39'
    >>> parse_spec({"mask": 1, "width": 2}, [], Path())
    Traceback (most recent call last):
    wideberth.errors.HierarchyError: hierarchy key 'width' does not exist
      try: mask takes char
    """
    # If it does not follow from the values, the hierarchy need not hold all of them: see
    # `Hierarchy.require`. rows: for messages; position + 1 by default. column: the header of a file
    # may be known by its name.
    if isinstance(spec, str):
        spec = as_rule(spec, base_dir)
    if not isinstance(spec, Mapping):
        raise HierarchyError("a hierarchy is neither a path nor a table of keys", hint=_KINDS_HINT)
    kind = _kind(spec)
    options = {key: value for key, value in spec.items() if key != kind}
    _check(kind, spec)
    match kind:
        case "file":
            return read_hierarchy(base_dir / spec[kind], **options, column=column)
        case "parents":
            return read_parents(base_dir / spec[kind], **options, column=column)
        case "interval":
            return intervals(values, spec[kind], **options, rows=rows)
        case "mask":
            return masks(values, spec[kind], **options)
        case "date":
            return dates(values, spec[kind], rows=rows)
        case "icd":
            return icd10(**options)
        case _:
            return flat(values)


def as_rule(text: str, folder: Path) -> Mapping[str, Any]:
    """Return the rule, as a policy has it, that a text in place of a rule stands for.

    >>> as_rule("parents:x.csv", Path())
    {'parents': 'x.csv'}
    """
    # A path to a file with one row per leaf, "parents:" and a path to a list of children and
    # parents, "icd-10" or "icd-10-undotted".
    if text.startswith(_PARENTS) and not (folder / text).exists():
        return {"parents": text.removeprefix(_PARENTS)}
    return named_icd10(text, folder) or {"file": text}


def _is(*types: type) -> Check:
    # bool is an int to Python, but `mask = true` is a mistake.
    return lambda value: isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _is_one_or_list(*types: type) -> Check:
    one = _is(*types)
    return lambda value: all(map(one, value)) if isinstance(value, list | tuple) else one(value)


_TEXT = ("a text", _is(str))
_NUMBER = (int, float, str)

# The first key of each kind says what it is; the others are its options.
_KEYS: dict[str, dict[str, tuple[str, Check]]] = {
    "file": {"file": _TEXT, "header": ("true or false", _is(bool)), "delimiter": _TEXT},
    "parents": {"parents": _TEXT, "header": ("true or false", _is(bool)), "delimiter": _TEXT},
    "interval": {
        "interval": ("a number or a list of numbers", _is_one_or_list(*_NUMBER)),
        "origin": ("a number", _is(*_NUMBER)),
    },
    "mask": {"mask": ("a whole number", _is(int)), "char": _TEXT},
    "date": {"date": ("a text or a list of texts", _is_one_or_list(str))},
    "flat": {"flat": ("true", lambda value: value is True)},
    "icd": {
        "icd": ("10, the only revision known", lambda value: _is(int)(value) and value == 10),
        "dots": ("true or false", _is(bool)),
    },
}
_KINDS_HINT = f"give a path, or a table with one of the keys {', '.join(_KEYS)}"


def _kind(spec: Mapping[str, Any]) -> str:
    """Find the one key that says which kind of hierarchy this is."""
    kinds = [key for key in _KEYS if key in spec]
    if len(kinds) > 1:
        raise HierarchyError(f"a hierarchy is both {kinds[0]} and {kinds[1]}", hint=_KINDS_HINT)
    if not kinds:
        unknown = ", ".join(map(repr, spec)) or "none"
        raise HierarchyError(f"no key of a hierarchy is known: {unknown}", hint=_KINDS_HINT)
    return kinds[0]


def _check(kind: str, spec: Mapping[str, Any]) -> None:
    """Refuse keys that the kind does not have, and values of a wrong type."""
    keys = _KEYS[kind]
    for key, value in spec.items():
        if key not in keys:
            others = ", ".join(list(keys)[1:]) or "no other key"
            raise HierarchyError(
                f"hierarchy key {key!r} does not exist", hint=f"{kind} takes {others}"
            )
        expected, fits = keys[key]
        if not fits(value):
            raise HierarchyError(f"hierarchy key {key!r} is not {expected}")
