"""The registry in words: the same facts as JSON and as the documentation's page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import MISSING, fields
from inspect import cleandoc
from typing import Any

from wideberth.principles.base import Needs, Principle, parse, plain_value

#: The families of the overview, by what their principles must know.
FAMILIES: dict[str, tuple[Needs, ...]] = {
    "Whose row it is": ("size", "population"),
    "Which values a group has": ("values", "several"),
    "How close its numbers lie": ("numbers",),
    "How alike its values are, whatever they are": ("tree", "distance"),
}
#: What a principle must know, in words.
NEEDS_TITLES: dict[Needs, str] = {
    "size": "how many rows a group has",
    "values": "which sensitive values are equal, and how they are ordered or related if it says so",
    "numbers": "sensitive numbers or dates",
    "tree": "sensitive values and their semantic tree",
    "distance": "sensitive values of any kind that has a distance",
    "several": "several sensitive attributes at once",
    "population": "how many rows a group has, and a table of the population",
}


def principle_as_dict(cls: type[Principle]) -> dict[str, Any]:
    """Describe a principle in plain values."""
    defaults = {f.name: f.default for f in fields(cls)}
    required = cls.mandatory()
    return {
        "name": cls.name,
        "title": cls.title,
        "definition": _prose(cls),
        "parameters": [
            {
                "name": key,
                "doc": parameter.doc,
                "range": parameter.range,
                "required": key in required,
                "default": None if defaults[key] is MISSING else plain_value(defaults[key]),
                "stronger": parameter.stronger,
            }
            for key, parameter in cls.parameters().items()
        ],
        "example": cls.example,
        "needs": cls.needs,
        "monotone": cls.monotonicity,
        "protects": cls.protects,
        "does_not_protect": cls.does_not_protect,
        "reference": cls.reference,
    }


def principles_as_markdown(principles: Iterable[type[Principle]]) -> str:
    """Write a page of the documentation: that of one principle, or an overview of several."""
    chosen = list(principles)
    return _page(chosen[0]) if len(chosen) == 1 else _overview(chosen)


def _overview(principles: list[type[Principle]]) -> str:
    lines = [
        "# Principles",
        "",
        "Written by `make docs` from the registry (`wideberth principles --format markdown`).",
        "A group is a set of rows with the same published quasi-identifiers. All thresholds are",
        "compared exactly; a missing value is a value of its own, far from every other.",
        "",
        "No principle protects against everything, so several are asked for together. Each has a",
        "page of its own: definition, parameters, what it does not protect against, an example.",
        "",
    ]
    for heading, needs in FAMILIES.items():
        family = [cls for cls in principles if cls.needs in needs]
        if family:
            lines += [f"## {heading}", "", "| principle | name | it asks | protects against |"]
            lines.append("|---|---|---|---|")
            lines += [_row(cls) for cls in family]
            lines.append("")
    return "\n".join(lines)


def _row(cls: type[Principle]) -> str:
    asked = _prose(cls).split("\n\n")[0]
    link = f"[{cls.title}](principles/{cls.name}.md)"
    return f"| {link} | `{cls.name}` | {_cell(asked)} | {_cell(cls.protects)} |"


def _page(cls: type[Principle]) -> str:
    facts = principle_as_dict(cls)
    lines = [
        f"# {facts['title']}",
        "",
        f"`{facts['name']}` · `{cls.__name__}` · {facts['reference']}",
        "",
        facts["definition"],
        "",
        f"- **Protects against:** {facts['protects']}",
        f"- **Does not protect against:** {facts['does_not_protect']}",
        f"- **Union of groups:** {facts['monotone']}",
        f"- **Looks at:** {NEEDS_TITLES[cls.needs]}",
        "",
        "## Parameters",
        "",
        "| parameter | meaning | values | default |",
        "|---|---|---|---|",
    ]
    for p in facts["parameters"]:
        usual = "required" if p["required"] else "–" if p["default"] in (None, "") else p["default"]
        lines.append(f"| `{p['name']}` | {_cell(p['doc'])} | {p['range']} | {usual} |")
    if not facts["parameters"]:
        lines.append("| none | | | |")
    return "\n".join([*lines, "", *_spellings(cls)])


def _spellings(cls: type[Principle]) -> list[str]:
    """Return the example as written on the command line, in a policy and in Python."""
    given = parse(cls.example).given()
    python = ", ".join(f"{key}={_code(value)}" for key, value in given.items())
    return [
        "## How to write it",
        "",
        "On the command line:",
        "",
        "```text",
        f"--principle {cls.example}",
        "```",
        "",
        "In a policy file:",
        "",
        "```toml",
        "[[principle]]",
        f'name = "{cls.name}"',
        *(f"{key} = {_toml(value)}" for key, value in given.items()),
        "```",
        "",
        "In Python:",
        "",
        "```python",
        f"wb.{cls.__name__}({python})",
        "```",
        "",
    ]


def _code(value: object) -> str:
    """Return a parameter's value as Python."""
    return repr(list(value) if isinstance(value, tuple) else plain_value(value))


def _toml(value: object) -> str:
    """Return a parameter's value as TOML, which is JSON but for what does not occur here."""
    shown = list(value) if isinstance(value, tuple) else plain_value(value)
    return json.dumps(shown, ensure_ascii=False)


def _cell(text: str) -> str:
    """Return text that stands in a cell of a table."""
    return text.replace("|", "\\|")


def _prose(cls: type[Principle]) -> str:
    """Return the docstring without its doctests."""
    paragraphs = cleandoc(cls.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs if not p.startswith(">>>"))
