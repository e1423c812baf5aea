"""Suppressed rows: what is left out of a release, or published as stars, is still told about.

Whoever knows the original's totals (they may have been published, too) subtracts the release's:
the difference is the sensitive values of the people who were left out. And whose values no
published label covers was left out for certain.

Severity
--------
high
    all rows that were left out, two or more of them, have the same sensitive value;
medium
    a single row was left out, so that totals tell its value; or a value is far more common among
    them than in the original: in a random sample of as many rows it would be so with a probability
    below one in a thousand, all values taken together;
low
    rows were left out, and nothing of the kind is true of them;
info
    rows are published as stars; these make up a group like any other.

What it cannot see: without the original, rows that were left out. With a release that has other
sensitive values than its original (because they were changed), the difference means nothing, and
only the number of rows is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from wideberth.core.exact import Ints
from wideberth.labels import BoxCover, PublishedBoxes
from wideberth.risk.findings import Finding
from wideberth.risk.inputs import encode_together

#: A sample is skewed if chance would make it so with less than this probability.
_LEVEL = 1e-3
_ADVICE = (
    "Publish no exact totals of the original; suppress rows of several values, or none: larger "
    "groups or a coarser hierarchy may do without."
)


def suppression_findings(
    frame: pl.DataFrame,
    original: pl.DataFrame | None = None,
    *,
    sensitive: Sequence[str],
    published: PublishedBoxes | None = None,
    covering: BoxCover | None = None,
) -> list[Finding]:
    """Find out what is learnt about people whose rows were suppressed.

    >>> table = pl.DataFrame({"illness": ["flu"] * 4 + ["HIV"] * 2})
    >>> found = suppression_findings(table.head(4), table, sensitive=["illness"])
    >>> [str(finding) for finding in found]
    ["high: all 2 rows that were left out have the same value of 'illness'"]
    """
    found = [] if published is None else _starred(published)
    if original is None or original.height <= frame.height:
        return found
    gone = original.height - frame.height
    figures: dict[str, Any] = {"suppressed": gone, "original_rows": original.height}
    if covering is not None and published is not None and published.original_rows is not None:
        figures["covered_by_no_box"] = int((covering.situation < 0).sum())
        figures["looked_at"] = len(covering.victims)
    told = []
    for name in sensitive:
        if name in frame.columns and name in original.columns:
            left, whole = _difference(frame[name], original[name])
            if (left >= 0).all():
                told += _about(name, left, whole, figures)
    return [*(told or [_some(figures)]), *found]


def _difference(here: pl.Series, there: pl.Series) -> tuple[Ints, Ints]:
    """Return how often each value was left out, and how often the original has it."""
    column = encode_together(here, there)
    ours, theirs = np.split(column.codes, [len(here)])
    size = column.domain.size
    whole = np.bincount(theirs, minlength=size)
    return whole - np.bincount(ours, minlength=size), whole


def _about(name: str, left: Ints, whole: Ints, figures: dict[str, Any]) -> list[Finding]:
    """Judge the rows that were left out by one sensitive attribute."""
    gone = int(left.sum())
    figures = {
        **figures,
        "column": name,
        "values": int((left > 0).sum()),
        "largest_share": round(float(left.max()) / gone, 3),
    }
    if gone == 1:
        title = f"the only row that was left out has a value of '{name}' that totals tell"
        severity = "medium"
    elif figures["values"] == 1:
        title = f"all {gone:,} rows that were left out have the same value of '{name}'"
        severity = "high"
    elif _skewed(left, whole):
        title = f"the {gone:,} rows that were left out have unusual values of '{name}'"
        severity = "medium"
    else:
        return []
    return [
        Finding(
            name="suppression",
            severity=severity,
            title=title,
            meaning="Whoever knows how often the original has each value subtracts, and learns "
            "what is true of the people who were left out"
            + _who(figures)
            + ". Whoever knows only that such rows are left out learns it as well.",
            advice=_ADVICE,
            figures=figures,
        )
    ]


def _skewed(left: Ints, whole: Ints) -> bool:
    """Return whether some value is more common than in a random sample."""
    # The probability of x or more in a sample of n is at most exp(-n D(x/n || p)), whether it is
    # drawn with replacement or without (Hoeffding 1963), where p is the value's share of the whole.
    from scipy.special import xlogy

    values = np.flatnonzero(whole)
    n, usual = left.sum(), whole[values] / whole.sum()
    share = left[values] / n
    divergence = xlogy(share, share / usual)
    some = usual < 1
    divergence[some] += xlogy(1 - share[some], (1 - share[some]) / (1 - usual[some]))
    chance = np.where(share > usual, np.exp(-n * divergence), 1.0)
    return bool((chance * len(values) < _LEVEL).any())


def _some(figures: dict[str, Any]) -> Finding:
    return Finding(
        name="suppression",
        severity="low",
        title=f"{figures['suppressed']:,} of {figures['original_rows']:,} rows were left out",
        meaning="Whoever knows how often the original has each sensitive value learns which values "
        "the people who were left out have, all together" + _who(figures) + ".",
        advice="Publish no exact totals of the original beside the release.",
        figures=figures,
    )


def _who(figures: dict[str, Any]) -> str:
    """Describe how many of them are known to be left out, by their quasi-identifiers."""
    outside = figures.get("covered_by_no_box")
    if not outside:
        return ""
    looked_at, people = figures["looked_at"], figures["original_rows"]
    if looked_at == people:
        return f"; {outside:,} of whom no published label covers"
    return (
        f"; at least {outside:,} of whom no published label covers (of {people:,} people, "
        f"{looked_at:,} were looked at)"
    )


def _starred(published: PublishedBoxes) -> list[Finding]:
    """Count rows of which nothing is told but their sensitive values."""
    rows = int(published.sizes[published.starred].sum())
    if not rows or rows == published.rows:
        return []
    return [
        Finding(
            name="starred-rows",
            severity="info",
            title=f"{rows:,} rows are published without any quasi-identifier",
            meaning="They are a group like any other, and a small one perhaps: whom no other group "
            "covers must be there.",
            advice="Check that this group satisfies the principles, too, or leave it out.",
            figures={"rows": rows, "of": published.rows},
        )
    ]
