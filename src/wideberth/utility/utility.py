"""What a release is worth: the answers of all metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from wideberth.core.text import as_html
from wideberth.utility.metrics import Figure, Metric, lookup


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Utility:
    """What a release is worth.

    Parameters
    ----------
    rows, groups : int
        What is published. A group of rows that say ``*`` of everything is none.
    suppressed : int
        How many rows of the original are not published, or only as ``*``.
    original_rows : int, optional
        How many rows the original has.
    figures : mapping
        The answer of each metric, by name.
    not_measured : mapping
        Why other metrics have none, by name.
    notes : list of str
        What a reader must know.
    """

    rows: int
    groups: int
    suppressed: int
    original_rows: int | None
    figures: Mapping[str, Figure]
    not_measured: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> float:
        """Return the value of a metric."""
        if name not in self.figures:
            reason = self.not_measured.get(name, "there is no such metric among those asked for")
            raise KeyError(f"{name}: {reason}")
        return self.figures[name].value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        sizes = self.figures.get("group-sizes")
        return {
            "rows": self.rows,
            "groups": self.groups,
            "suppressed": self.suppressed,
            "original_rows": self.original_rows,
            "figures": [
                {**_facts(lookup(name)), **figure.to_dict()}
                for name, figure in self.figures.items()
            ],
            "not_measured": [
                {"name": name, "title": lookup(name).title, "reason": reason}
                for name, reason in self.not_measured.items()
            ],
            "group_sizes": None if sizes is None else dict(sizes.details),
            "notes": self.notes,
        }

    @property
    def table(self) -> pl.DataFrame:
        """The figures by quasi-identifier: one row each, one column a metric."""
        by_name = {n: f.by_attribute for n, f in self.figures.items() if f.by_attribute}
        names = list(dict.fromkeys(name for by in by_name.values() for name in by))
        columns = {metric: [by.get(name) for name in names] for metric, by in by_name.items()}
        return pl.DataFrame({"quasi-identifier": names, **columns})

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("utility", self.to_dict())

    def __str__(self) -> str:
        """Return one line a metric."""
        lines = [f"{self.rows:,} rows in {self.groups:,} groups, {self.suppressed:,} suppressed"]
        for name, figure in self.figures.items():
            by = ", ".join(f"{key} {value:.4g}" for key, value in figure.by_attribute.items())
            note = f"; {figure.note}" if figure.note else ""
            lines.append(f"{name}: {figure.value:.4g}" + (f" ({by})" if by else "") + note)
        lines += [f"{name}: not measured, {why}" for name, why in self.not_measured.items()]
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    __repr__ = __str__


def _facts(metric: type[Metric]) -> dict[str, Any]:
    return {
        "name": metric.name,
        "title": metric.title,
        "goal": metric.goal,
        "low": metric.low,
        "high": metric.high,
    }
