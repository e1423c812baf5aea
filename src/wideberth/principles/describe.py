"""The registry in words: the same facts as JSON and as the documentation's page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING, fields
from inspect import cleandoc
from typing import Any

from wideberth.principles.base import Principle, plain


def as_dict(cls: type[Principle]) -> dict[str, Any]:
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
                "default": None if defaults[key] is MISSING else plain(defaults[key]),
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


def as_markdown(principles: Iterable[type[Principle]]) -> str:
    """Write the documentation page of the given principles."""
    lines = [
        "# Principles",
        "",
        "Written by `make docs` from the registry (`wideberth principles --format markdown`).",
        "A group is a set of rows with the same published quasi-identifiers. All thresholds are",
        "compared exactly; a missing value is a value of its own, far from every other.",
        "",
    ]
    for cls in principles:
        facts = as_dict(cls)
        lines += [
            f"## {facts['title']}",
            "",
            f"`{facts['name']}` · `{cls.__name__}` · {facts['reference']}",
            "",
            facts["definition"],
            "",
            f"- **Protects against:** {facts['protects']}",
            f"- **Does not protect against:** {facts['does_not_protect']}",
            f"- **Union of groups:** {facts['monotone']}",
            f"- **Example:** `--principle {facts['example']}`",
            "",
            "| parameter | meaning | values | default |",
            "|---|---|---|---|",
        ]
        for p in facts["parameters"]:
            usual = (
                "required" if p["required"] else "–" if p["default"] in (None, "") else p["default"]
            )
            lines.append(f"| `{p['name']}` | {p['doc']} | {p['range']} | {usual} |")
        lines.append("")
    return "\n".join(lines)


def _prose(cls: type[Principle]) -> str:
    """Return the docstring without its doctests."""
    paragraphs = cleandoc(cls.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs if not p.startswith(">>>"))
