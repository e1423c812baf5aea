"""What a metric is: one question about what a release is still worth, and a registry of them all.

A metric never sees a row. It sees what the release publishes of its quasi-identifiers, the sizes
of its groups and their sensitive values, counted; and of the original, where it is given, the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.metadata import entry_points
from inspect import cleandoc
from math import isfinite
from typing import Any, ClassVar, TypeVar

import numpy as np

from wideberth.core.codes import Codes, Domain
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, what_to_type
from wideberth.labels import PublishedBoxes
from wideberth.principles.base import redefined
from wideberth.utility.metrics.spans import extents


class NotMeasuredError(Exception):
    """Raised by a metric that has no answer here; says why."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """The answer of a metric.

    Parameters
    ----------
    value : float
        The one number.
    by_attribute : mapping
        The same for each quasi-identifier, where it can be told apart.
    details : mapping
        What else is worth knowing; plain values.
    note : str, optional
        What a reader must know to read the number rightly.
    """

    value: float
    by_attribute: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    note: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON, which knows no infinity."""
        return {
            "value": self.value if isfinite(self.value) else None,
            "by_attribute": dict(self.by_attribute),
            "details": dict(self.details),
            "note": self.note,
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class Material:
    """What a metric may look at.

    Parameters
    ----------
    sizes : array of int
        The rows of each published group.
    suppressed : int
        How many rows of the original are not published, or only as ``*``.
    published : Published, optional
        What the release says of its quasi-identifiers.
    groups : Groups, optional
        The sensitive values of each group.
    domain : Domain, optional
        What the codes of `groups` mean, with their tree if there is one.
    boxed, values : Groups and array of int, optional
        The sensitive values of each box of `published`, and of each row of the original, by the
        same codes.
    unlike : str, optional
        Why the sensitive values of both cannot be compared.
    k : int, optional
        The least size of a group that was asked for.
    anatomised : bool
        Whether quasi-identifiers and sensitive values are published in two tables.
    weights : mapping
        How much each quasi-identifier's loss counts, where that is not 1.
    most, seed : int
        How many pairs of victim and box may be looked at, and how a sample is drawn.
    """

    sizes: Ints
    suppressed: int = 0
    published: PublishedBoxes | None = None
    groups: Groups | None = None
    domain: Domain | None = None
    boxed: Groups | None = None
    values: Codes | None = None
    unlike: str | None = None
    k: int | None = None
    anatomised: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)
    most: int = 2_000_000
    seed: int = 0

    @property
    def rows(self) -> int:
        """The rows of the original, as far as is known: those published and those suppressed."""
        return int(self.sizes.sum()) + self.suppressed

    @property
    def absent(self) -> int:
        """The rows that are suppressed without a trace: not even as ``*``."""
        return self.rows - self.boxes.rows

    @property
    def boxes(self) -> PublishedBoxes:
        """What is published of the quasi-identifiers; asked only where it is known."""
        if self.published is None:
            raise NotMeasuredError(_LACKING["boxes"])
        return self.published

    @cached_property
    def extents(self) -> list[Floats]:
        """For each quasi-identifier, the share of the domain that each label spans."""
        return [extents(axis) for axis in self.boxes.axes]

    def mean(self, by_attribute: Mapping[str, float]) -> float:
        """Return the mean over the quasi-identifiers, by their weights."""
        weights = [self.weights.get(name, 1.0) for name in by_attribute]
        return float(np.average(list(by_attribute.values()), weights=weights))

    def lacks(self, need: str) -> str | None:
        """Return why a need is not met; None if it is."""
        if need == "boxes" and self.published is not None:
            unread = [axis.name for axis in self.published.axes if not axis.read]
            return f"the labels of '{unread[0]}' could not be understood" if unread else None
        if need == "lattice" and self.published is not None:
            bare = [axis.name for axis in self.published.axes if axis.tree is None]
            return f"there is no hierarchy of '{bare[0]}'" if bare else None
        met = {
            "sizes": bool(len(self.sizes)),
            "original": self.published is not None and self.published.original_rows is not None,
            "sensitive": self.groups is not None,
            "tree": self.domain is not None and self.domain.tree is not None,
            "anatomy": self.anatomised and self.groups is not None,
            "k": self.k is not None,
        }
        return None if met.get(need, False) else _LACKING[need]


_LACKING = {
    "sizes": "nothing is published",
    "boxes": "no quasi-identifiers are given",
    "lattice": "no quasi-identifiers are given",
    "original": "the original is not given",
    "sensitive": "no sensitive attribute is given",
    "tree": "there is no hierarchy of the sensitive attribute",
    "anatomy": "the release is no anatomy",
    "k": "no k is known",
}
#: What a metric may say that it needs.
NEEDS = tuple(_LACKING)


class Metric(ABC):
    """A measure of what a release is worth. Subclasses declare the facts below.

    Attributes
    ----------
    name, title, reference : str
        Its name on the command line, its name in words, and the paper that defines it.
    goal : str
        Whether "lower" or "higher" is better; "none" where neither is.
    low, high : float, optional
        Its range; None where there is no bound.
    needs : tuple of str
        What it must be given, of `NEEDS`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    goal: ClassVar[str]
    low: ClassVar[float | None]
    high: ClassVar[float | None]
    reference: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]

    @abstractmethod
    def compute(self, material: Material) -> Figure:
        """Measure a release. Raises `NotMeasuredError` where there is no answer."""

    def answer(self, material: Material) -> Figure | str:
        """Measure a release, or say why that is not possible."""
        for need in self.needs:
            if (reason := material.lacks(need)) is not None:
                return reason
        try:
            return self.compute(material)
        except NotMeasuredError as error:
            return str(error)


#: All metrics by name, those of installed packages once `registry` was asked.
METRICS: dict[str, type[Metric]] = {}
_GOALS = ("lower", "higher", "none")

M = TypeVar("M", bound=type[Metric])


def register(cls: M) -> M:
    """Make a metric known to `measure`, the report, the command line and the documentation.

    A class of the same name in the same module takes the place of the one before. Packages may
    also list theirs under the entry point group ``wideberth.metrics``.
    """
    for wanted in ("name", "title", "reference"):
        if not isinstance(getattr(cls, wanted, None), str):
            raise TypeError(f"{cls.__name__} must say its {wanted}")
    if getattr(cls, "goal", None) not in _GOALS:
        raise TypeError(f"{cls.__name__} must say its goal: {', '.join(_GOALS)}")
    for wanted in ("low", "high"):
        if not isinstance(getattr(cls, wanted, ""), int | float | None):
            raise TypeError(f"{cls.__name__} must say its {wanted}: a number, or None")
    needs = getattr(cls, "needs", None)
    if not isinstance(needs, tuple) or not set(needs) <= set(NEEDS):
        raise TypeError(f"{cls.__name__} must say what it needs, of {', '.join(NEEDS)}")
    before = METRICS.get(cls.name)
    if before is not None and not redefined(before, cls):
        raise ValueError(
            f"a metric named {cls.name!r} is registered already, by {before.__module__}: "
            "give yours another name"
        )
    METRICS[cls.name] = cls
    return cls


def registry() -> Mapping[str, type[Metric]]:
    """Return all registered metrics by name, those of installed packages included."""
    _load_installed()
    return METRICS


@cache
def _load_installed() -> None:
    for entry in entry_points(group="wideberth.metrics"):
        entry.load()


def lookup(name: str) -> type[Metric]:
    """Return the metric of that name."""
    known = registry()
    if name not in known:
        close = get_close_matches(name, known, n=1)
        raise ParameterError(
            f"there is no metric '{name}'" + (f"; did you mean '{close[0]}'?" if close else ""),
            hint=what_to_type(
                python="wb.metrics.registry() lists them all",
                command="wideberth metrics   (lists them all)",
            ),
        )
    return known[name]


def iterate() -> Iterator[type[Metric]]:
    """Go through all registered metrics in alphabetical order."""
    known = registry()
    return (known[name] for name in sorted(known))


# -----------------------------------------------------------------------------
# The registry in words: the same facts as JSON and as the documentation's page.


#: What a metric needs, in words.
NEEDS_IN_WORDS = {
    "sizes": "the published table",
    "boxes": "quasi-identifiers whose labels can be read",
    "lattice": "a hierarchy of every quasi-identifier",
    "original": "the original",
    "sensitive": "a sensitive attribute",
    "tree": "its hierarchy",
    "anatomy": "an anatomised release",
    "k": "the k that was asked for",
}


def metric_as_dict(metric: type[Metric]) -> dict[str, Any]:
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


def metrics_as_markdown(metrics: Iterable[type[Metric]]) -> str:
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
        facts = metric_as_dict(metric)
        lines += [
            f"## {facts['title'][0].upper()}{facts['title'][1:]}",
            "",
            f"`{facts['name']}` · `{metric.__name__}` · {facts['reference']}",
            "",
            facts["definition"],
            "",
            f"- **Better:** {better(metric)}",
            f"- **Range:** {span(metric)}",
            f"- **Needs:** {', '.join(NEEDS_IN_WORDS[need] for need in metric.needs)}",
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
