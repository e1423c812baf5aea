"""What mkdocstrings runs on the code that it reads, so that it shows what a reader needs.

Docstrings here may hold doctests without a heading, which Markdown would take for quotations. And
the parameters of a principle are declared with what they mean (`wideberth.parameter`), which is
neither a default nor a docstring to anybody but us.
"""

from __future__ import annotations

import re
from typing import Any

import griffe


class Reading(griffe.Extension):
    """Fence doctests, and tell what is declared of a principle's parameters."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Look at one function, class, attribute or module."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_attribute_instance(self, *, attr: Any, **kwargs: Any) -> None:
        """Take a parameter's declaration apart: its default, if it has one, and its meaning."""
        if isinstance(attr.value, griffe.ExprCall) and str(attr.value.function) == "parameter":
            doc, *rest = attr.value.arguments
            named = {each.name: each.value for each in rest if isinstance(each, griffe.ExprKeyword)}
            attr.value = named.get("default")
            attr.docstring = griffe.Docstring(str(doc).strip("\"'").capitalize() + ".", parent=attr)


def fenced(text: str) -> str:
    r"""Return a docstring with its doctests fenced, but for those that stand under a heading.

    >>> print(fenced("Add.\n\n>>> 1 + 1\n2"))
    Add.
    <BLANKLINE>
    ```pycon
    >>> 1 + 1
    2
    ```
    """
    if re.search(r"^Examples\n-+$", text, flags=re.MULTILINE):
        return text
    paragraphs = (
        f"```pycon\n{part.rstrip()}\n```" if part.startswith(">>>") else part
        for part in text.split("\n\n")
    )
    return "\n\n".join(paragraphs)
