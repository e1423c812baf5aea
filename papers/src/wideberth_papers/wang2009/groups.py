"""What the paper says of single groups: Theorem 1, and how the principle relates to two others.

Groups are given to `check` all at once, as a table with a column of group ids, and judged one by
one in what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wideberth.checks.check import check
from wideberth.core.exact import Bools
from wideberth.errors import VerificationError
from wideberth.principles import (
    AlphaKAnonymity,
    Dissimilarity,
    EpsilonMAnonymity,
    Principle,
    plain_value,
)
from wideberth.principles.convert import (
    implied_by_alpha_k,
    implied_by_breach,
    implying_alpha_k,
    implying_breach,
)
from wideberth_papers.plotting import Axis, bars
from wideberth_papers.study import Row, Rows, Spec, Verdict

_DELTAS = tuple(map(Fraction, ("0", "1/4", "1/3", "1/2", "2/3", "3/4", "1")))
#: A group that separates the two principles for numbers, with ε = 1 and m = 3.
_SEPARATING = (1, 1, 1, 5, 7, 11, 12)


def judged(groups: Sequence[Sequence[Any]], principles: Sequence[Principle]) -> list[Bools]:
    """Tell for each principle which of some groups satisfy it.

    >>> judged([[1, 5], [1, 2]], [Dissimilarity(epsilon=1, delta=1, k=2)])[0].tolist()
    [True, False]
    """
    table = pl.DataFrame(
        {
            "group": np.repeat(np.arange(len(groups)), [len(group) for group in groups]),
            "value": [value for group in groups for value in group],
        }
    )
    found = check(table, group="group", sensitive="value", principles=list(principles), worst=0)
    by_group = pl.DataFrame(found.table).sort("group")
    return [by_group[str(principle)].to_numpy() for principle in principles]


def _written(group: Sequence[Any]) -> str:
    return "{" + ", ".join(map(str, group)) + "}"


# ---- Theorem 1: risk and dissimilarity


def measure_risk() -> Iterator[Row]:
    """Compare, for all groups of up to five of six numbers, the risk with the principle.

    The library goes by the risk, also where a value is alone.
    """
    for size in range(1, 6):
        groups = list(combinations_with_replacement(range(6), size))
        rules = [Dissimilarity(epsilon=1, delta=delta, k=1) for delta in _DELTAS]  # type: ignore[arg-type]
        row: Row = {"measured": "theorem-1", "size": size, "cases": len(groups) * len(rules)}
        literal_only, risk_only, example = 0, 0, None
        for delta, satisfied in zip(_DELTAS, judged(groups, rules), strict=True):
            for group, ours in zip(groups, satisfied.tolist(), strict=True):
                low = _risk(group) <= 1 - delta
                literal = _least_far(group) >= delta * (size - 1)
                literal_only += literal and not low
                risk_only += low and not literal
                if ours != low:
                    raise VerificationError(f"at δ = {delta}, check does not go by the risk")
                if literal != low and example is None:
                    example = f"{_written(group)}, ε = 1, δ = {delta}"
        yield row | {
            "dissimilar, risk above 1 - δ": literal_only,
            "risk 1 - δ at most, not dissimilar": risk_only,
            "example": example,
        }


def _risk(group: Sequence[int]) -> Fraction:
    """Equation 3, with ε = 1."""
    if len(group) == 1:
        return Fraction(1)
    near = max(sum(abs(v - w) <= 1 for w in group) for v in group)
    return Fraction(near - 1, len(group) - 1)


def _least_far(group: Sequence[int]) -> int:
    """Return how many others the value is dissimilar to that has the fewest of them."""
    return min(sum(abs(v - w) > 1 for w in group) for v in group)


def judge_risk(rows: Rows) -> Verdict:
    """Look for groups in which low risk and dissimilarity are not the same."""
    wrong = {
        row["size"]: row["dissimilar, risk above 1 - δ"] + row["risk 1 - δ at most, not dissimilar"]
        for row in rows
    }
    cases = {row["size"]: row["cases"] for row in rows}
    if not cases:
        return Verdict("not tested here", "No groups were looked at.")
    if not any(wrong.values()):
        return Verdict("confirmed", f"Both agree in all {sum(cases.values()):,} cases.")
    said = f"They differ in {sum(wrong.values()):,} of {sum(cases.values()):,} cases."
    if not any(many for size, many in wrong.items() if size > 1):
        said = (
            f"They differ in {wrong[1]} of the {cases[1]} cases with a value that is alone: its "
            "risk is 1 by definition, but there are no others that it could be too similar to. "
            f"The theorem holds in all {sum(cases.values()) - cases[1]:,} cases with two values "
            "or more. The library goes by the risk."
        )
    return Verdict(
        "contradicted", said, next(f"{row['example']}." for row in rows if row["example"])
    )


# ---- two principles that are said to be special forms


class Related(NamedTuple):
    """A principle, the dissimilarity that it implies, and those that imply it."""

    other: Principle
    implied: Dissimilarity
    implying: Sequence[Dissimilarity]


def measure_numbers(seed: int, groups: int) -> Iterator[Row]:
    """Compare with (ε,m)-anonymity on random groups of numbers."""
    rng = np.random.default_rng([seed, 7])
    drawn: list[tuple[int, ...]] = [_SEPARATING]
    for _ in range(groups - 1):
        width, size = rng.integers(4, 40), rng.integers(2, 21)
        drawn.append(tuple(sorted(rng.integers(0, width, size).tolist())))
    for m in (2, 3, 4, 5):
        related = Related(
            EpsilonMAnonymity(epsilon=1, m=m),
            implied_by_breach(m, epsilon=1),
            [implying_breach(m, epsilon=1, k=k) for k in (m, m + 1, 2 * m)],
        )
        yield {"measured": "epsilon-m", "bound": f"m = {m}", **_compared(drawn, related)}


def measure_categories() -> Iterator[Row]:
    """Compare with (α,k)-anonymity on all groups of four to nine of four letters."""
    groups = [g for size in range(4, 10) for g in combinations_with_replacement("abcd", size)]
    for share in ("1/4", "1/3", "1/2", "2/3"):
        for k in (4, 6):
            related = Related(
                AlphaKAnonymity(alpha=Fraction(share), k=k),  # type: ignore[arg-type]
                implied_by_alpha_k(Fraction(share), k),
                [implying_alpha_k(Fraction(share), k)],
            )
            yield {"measured": "alpha-k", "bound": f"α = {share}", **_compared(groups, related)}


def _compared(groups: Sequence[Sequence[Any]], related: Related) -> Row:
    """Count the groups that satisfy one principle, and of these those that fail the other.

    That `implying` implies the other is proven; an exception would be an error of the library.
    """
    other, implied, *implying = judged(groups, [related.other, related.implied, *related.implying])
    if np.any(implying & ~other):
        raise VerificationError(f"a group satisfies what implies {related.other}, but not that")
    lost, apart = (
        [group for group, bad in zip(groups, failing, strict=True) if bad]
        for failing in (other & ~implied, implied & ~other)
    )
    return {
        "groups": len(groups),
        "implied": _parameters(related.implied),
        "implying": "; ".join(map(_parameters, related.implying)),
        "satisfy the other": int(other.sum()),
        "of these not the implied": len(lost),
        "satisfy the implied": int(implied.sum()),
        "of these not the other": len(apart),
        "satisfy the implying": int(np.sum(implying)),
        "example": _simplest(lost) or _simplest(apart),
    }


def _simplest(groups: Sequence[Sequence[Any]]) -> str | None:
    """Write down a group that is known to separate principles, or the smallest; None if none."""
    if not groups:
        return None
    return _written(
        _SEPARATING if _SEPARATING in groups else min(groups, key=lambda g: (len(g), g))
    )


def _parameters(principle: Dissimilarity) -> str:
    return f"δ = {plain_value(principle.delta)}, k = {principle.k}"


def judge_relation(rows: Rows, other: str) -> Verdict:
    """Tell whether one principle is about the same as the other.

    It is contradicted if it does not imply the form that is to be about the same; if only the form
    does not imply it, the bounds differ by a row.
    """
    forth, back = (
        (sum(row[bad] for row in rows), sum(row[of] for row in rows))
        for of, bad in (
            ("satisfy the other", "of these not the implied"),
            ("satisfy the implied", "of these not the other"),
        )
    )
    if not forth[1] or not back[1]:
        return Verdict("not tested here", "No group satisfies both.")
    if not forth[0] and not back[0]:
        return Verdict(
            "confirmed", f"Each implies the other, in {forth[1]:,} and {back[1]:,} cases."
        )
    larger = sum(row["satisfy the implying"] for row in rows)
    said = (
        f"In {back[0]:,} of {back[1]:,} cases of dissimilarity with 1 - δ equal to its bound, "
        f"{other} is violated. "
    )
    said += (
        f"It does imply such dissimilarity, in all {forth[1]:,} cases"
        if not forth[0]
        else f"Nor does it imply such dissimilarity, in {forth[0]:,} of {forth[1]:,} cases"
    )
    row = next(row for row in rows if row["example"])
    said += (
        f"; and a larger δ, which accounts for the row itself, implies it in all {larger:,} cases. "
        "A case is a group, with a bound and a k."
    )
    example = f"{row['bound']}, {row['implied']}: {row['example']}."
    if forth[0]:
        return Verdict("contradicted", said, example)
    # The claim is of about the same bound, and one row more or less is by another amount.
    return Verdict("confirmed with differences", f"{said} The first to differ: {example}")


def draw_relation(rows: Rows, other: str) -> Spec:
    """Draw the share of groups that satisfy one principle, but not the other."""
    series = {
        f"{other}, but not the same 1 - δ": ("satisfy the other", "of these not the implied"),
        "the same 1 - δ, but not it": ("satisfy the implied", "of these not the other"),
    }
    shown = [
        {
            "bound": bound,
            "series": name,
            "share": sum(r[bad] for r in here) / max(sum(r[of] for r in here), 1),
        }
        for bound in dict.fromkeys(row["bound"] for row in rows)
        for here in [[row for row in rows if row["bound"] == bound]]
        for name, (of, bad) in series.items()
    ]
    y = Axis("share", "share of groups", ".0%")
    return bars(shown, "bound", y, "series", order=list(series), title_x="bound on a share")
