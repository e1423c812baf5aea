"""The policy that ``wideberth init`` proposes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict

from wideberth.schema.guessing import Guess
from wideberth.schema.roles import ROLES
from wideberth.tables import ReadOptions


def policy_text(
    guesses: Sequence[Guess], table_name: str, options: ReadOptions | None = None
) -> str:
    """Compose the policy that ``wideberth init`` proposes: names and counts, no values.

    Parameters
    ----------
    guesses : sequence of Guess
        From :func:`guess`.
    table_name : str
        Named in the first line.
    options : ReadOptions, optional
        How the table was read; what differs from the defaults is kept.
    """
    sensitive = [g for g in guesses if g.role == "sensitive"]
    wholes = dict.fromkeys(g.part_of for g in sensitive if g.part_of is not None)
    parts = [
        f"# Proposed by `wideberth init` for {_quoted(table_name)}. Roles are guesses: check each.",
        "version = 1",
        *_table_part(options or ReadOptions()),
        "",
        "[roles]  # every column has exactly one",
        *(line for role in ROLES for line in _role_part(role, guesses)),
        "",
        "[types]",
        *(f"{_key(g.column)} = {_quoted(g.type)}" for g in guesses),
        *([] if sensitive else _NOTHING_SENSITIVE),
        *_principle("k-anonymity", k=5),
        *(line for g in sensitive if g.part_of is None for line in _protection(g)),
        *(line for prefix in wholes for line in _of_distribution(prefix, sensitive)),
    ]
    return "\n".join(parts) + "\n"


_NOTHING_SENSITIVE = """
# WARNING: no column looks sensitive, so NOTHING BUT GROUP SIZE IS PROTECTED. If a column
# holds what nobody must learn of a person, move it to `sensitive` and add a principle on it.
""".rstrip().split("\n")


def _table_part(options: ReadOptions) -> list[str]:
    kept = {k: v for k, v in asdict(options).items() if v != getattr(ReadOptions(), k)}
    lines = [f"{key} = {_value(value)}" for key, value in kept.items()]
    return ["", "[table]", *lines] if lines else []


def _role_part(role: str, guesses: Sequence[Guess]) -> list[str]:
    lines = [
        f"    {_quoted(g.column)},  # {g.type}, {g.missing} missing: {g.why}"
        for g in guesses
        if g.role == role
    ]
    return [f"{role} = [", *lines, "]"] if lines else [f"{role} = []"]


def _protection(g: Guess) -> list[str]:
    number = g.type in ("integer", "float", "decimal")
    if g.distinct < 2:
        return ["", f"# {_quoted(g.column)} has one value at most: no grouping can hide it."]
    diversity = _principle("distinct-l", on=g.column, l=min(3 if number else 2, g.distinct))
    if g.type == "vector":
        return [*diversity, *_dissimilarity(g.column, "euclidean")]
    if not number:
        return diversity
    proximity = _principle("epsilon-m", on=g.column, epsilon="10%", m=3)
    return [
        *diversity,
        "",
        "# Different numbers can still lie close together: at most 1 in m people should be",
        "# within epsilon of anybody. Choose both and remove the marks:",
        *(f"# {line}" for line in proximity if line),
    ]


def _of_distribution(prefix: str, guesses: Sequence[Guess]) -> list[str]:
    """Protect columns that are one distribution together."""
    on = f"{prefix}.*"
    distinct = max(g.distinct for g in guesses if g.part_of == prefix)
    if distinct < 2:
        return ["", f"# {_quoted(on)} has one value at most: no grouping can hide it."]
    diversity = _principle("distinct-l", on=on, l=min(3, distinct))
    return [*diversity, *_dissimilarity(on, "variational")]


def _dissimilarity(on: str, distance: str) -> list[str]:
    proximity = _principle("dissimilarity", on=on, epsilon=0.1, delta=0.8, k=5, distance=distance)
    return [
        "",
        "# Different values can still lie close together: of the others in a group, a share",
        "# delta or more should be farther than epsilon from anybody. Choose and remove the marks:",
        *(f"# {line}" for line in proximity if line),
    ]


def _principle(name: str, **parameters: str | float) -> list[str]:
    lines = [f"{key} = {_value(value)}" for key, value in parameters.items()]
    return ["", "[[principle]]", f"name = {_quoted(name)}", *lines]


def _value(value: str | float | tuple[str, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_quoted, value))}]"
    return _quoted(value) if isinstance(value, str) else str(value)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(text: str) -> str:
    controls = {code: f"\\u{code:04x}" for code in (*range(0x20), 0x7F)}
    return '"' + text.translate(controls | {ord("\\"): "\\\\", ord('"'): '\\"'}) + '"'
