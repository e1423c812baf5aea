"""What is possible for a sensitive attribute: the trade-off between ε and m, and other limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wideberth import io
from wideberth.checks.advise import Advice, down
from wideberth.checks.advise import advise as advice_on
from wideberth.core.progress import Progress
from wideberth.policy.policy import Policy

#: Steps of a curve that are told.
MAX_CURVE_STEPS = 20_000
#: Limits that take long to tell of so many values, and then say little.
_SLOW, _MANY = ("entropy-l", "t-closeness"), 100_000

Step = list[float | None]


def advise_task(
    *,
    path: str,
    content: Mapping[str, Any],
    folder: str,
    column: str | Sequence[str],
    tell: Progress,
) -> dict[str, Any]:
    """Return what is possible for an attribute, as ``wideberth advise`` does."""
    policy = Policy.of(content, folder=Path(folder))
    tell("reading", 0, 2)
    frame = io.read(path, policy.options)
    tell("sorting", 1, 2)
    advice = advice_on(frame, column, policy=policy)
    domain = advice.domain
    slow = _SLOW if domain.known > _MANY else ()
    numbers = domain.numbers if advice.numeric else None
    low, high = (None, None) if numbers is None or not domain.known else numbers.floats()[[0, -1]]
    return {
        "column": column if isinstance(column, str) else advice.sensitive,
        "rows": advice.rows,
        "distinct": domain.known,
        "missing": 0 if domain.missing is None else int(domain.histogram[domain.missing]),
        "numeric": advice.numeric,
        "dates": domain.dated,  # then numbers, and ε, are days
        "vector": advice.vector,
        "tree": domain.tree is not None,
        "low": None if low is None else float(low),
        "high": None if high is None else float(high),
        "absolute": _curve(advice, relative=False) if advice.numeric else None,
        # A share of a date means nothing.
        "relative": _curve(advice, relative=True) if advice.numeric and not domain.dated else None,
        "limits": advice.limits(without=slow),
    }


def _curve(advice: Advice, *, relative: bool) -> list[Step]:
    return thin_curve([[down(bound), m] for bound, m in advice.curve(relative=relative)])


def thin_curve(steps: Sequence[Step], most: int = MAX_CURVE_STEPS) -> list[Step]:
    """Leave out steps where there are too many, but never the first or the last.

    >>> thin_curve([[None, 1], [9, 2], [5, 3], [4, 4], [1, 5]], 3)
    [[None, 1], [5, 3], [1, 5]]
    """
    # A step holds the largest ε at which an m is possible. Where one is left out, the one before
    # goes on with its smaller m, so nothing untrue is claimed.
    if len(steps) <= most:
        return list(steps)
    return [steps[place * (len(steps) - 1) // (most - 1)] for place in range(most)]
