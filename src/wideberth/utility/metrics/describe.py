"""The registry in words: the same facts as JSON and as the documentation's page."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

from wideberth.utility.metrics.base import Metric

#: What a metric needs, in words.
NEEDED = {
    "sizes": "the published table",
    "boxes": "quasi-identifiers whose labels can be read",
    "lattice": "a hierarchy of every quasi-identifier",
    "original": "the original",
    "sensitive": "a sensitive attribute",
    "tree": "its hierarchy",
    "anatomy": "an anatomised release",
    "k": "the k that was asked for",
}


def as_dict(metric: type[Metric]) -> dict[str, Any]:
    """Describe a metric in plain values."""
    return {
        "name": metric.name,
        "title": metric.title,
        "definition": _prose(metric),
        "goal": metric.goal,
        "low": metric.low,
        "high": metric.high,
        "needs": list(metric.needs),
        "reference": metric.reference,
    }


def as_markdown(metrics: Iterable[type[Metric]]) -> str:
    """Write the documentation page of the given metrics."""
    lines = [
        "# Metrics",
        "",
        "Written by `make docs` from the registry (`wideberth metrics --format markdown`).",
        "What a release is still worth, measured on what it publishes: `wb.measure(release)`. A",
        "group is a set of rows with the same published quasi-identifiers, or with one group id.",
        "",
    ]
    for metric in metrics:
        facts = as_dict(metric)
        lines += [
            f"## {facts['title'][0].upper()}{facts['title'][1:]}",
            "",
            f"`{facts['name']}` · `{metric.__name__}` · {facts['reference']}",
            "",
            facts["definition"],
            "",
            f"- **Better:** {better(metric)}",
            f"- **Range:** {span(metric)}",
            f"- **Needs:** {', '.join(NEEDED[need] for need in metric.needs)}",
            "",
        ]
    return "\n".join(lines)


def better(metric: type[Metric]) -> str:
    """Return whether low or high values are better, or neither."""
    return "neither" if metric.goal == "none" else metric.goal


def span(metric: type[Metric]) -> str:
    """Describe between which numbers a metric lies.

    >>> from wideberth.utility.metrics import NCP, Discernibility
    >>> span(NCP), span(Discernibility)
    ('0 to 1', 'from 0')
    """
    if metric.low is None:
        return "any number" if metric.high is None else f"up to {metric.high:g}"
    return f"from {metric.low:g}" if metric.high is None else f"{metric.low:g} to {metric.high:g}"


def _prose(metric: type[Metric]) -> str:
    """Return the docstring, a paragraph a line."""
    paragraphs = cleandoc(metric.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(p.split()) for p in paragraphs if not p.startswith(">>>"))
