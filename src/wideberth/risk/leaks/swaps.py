"""Swap audit: whether groups would be the same if two of their members had swapped secrets.

Whoever knows the algorithm may ask for which sensitive values it would have made these groups. If
swapping the values of two members of a group mostly changes the groups, the groups themselves tell
who has which value. The share of swaps that leave all groups as they are is 1.00 where groups are
made without a look at sensitive values, or dealt from the whole table by rank; 0.86 to 0.91 with
the cuts of the paper, somewhat less with better ones, and 0.36 to 0.62 with dealing by matching.

It takes the original, the policy and the algorithm, so a custodian can do it and an adversary
cannot. Rather than two people's sensitive values, their quasi-identifiers are swapped, and then
their places: it comes to the same, and ties are broken alike.

Severity
--------
medium
    the share is below 0.63: as with dealing by matching;
low
    it is below 0.95;
nothing
    above.

What it cannot see: how much a changed partition tells; the share is an indicator, not a bound. Of
a large table, a random sample of the rows is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.generalize import generalize
from wideberth.algorithms.mondrian.split import SplitResult, split
from wideberth.algorithms.suppression import suppress
from wideberth.core.codes import Codes
from wideberth.core.text import sentence
from wideberth.errors import HierarchyError, InfeasibleError, what_to_type
from wideberth.hierarchy.quasi import Quasi
from wideberth.policy.request import Request
from wideberth.policy.settings import Transform
from wideberth.release.lattice import LatticeRecoding, lattice_problem, settings_of
from wideberth.release.prepare import demands_of, quasis_of
from wideberth.risk.findings import Finding

_ROLES = ("quasi", "sensitive", "identifier", "insensitive")
_OTHERS = ("principles", "hierarchies", "types", "policy", "group")
_LIKE_MATCHING, _HARDLY_ANY = 0.63, 0.95
_LEAST = 10  # swaps, whatever the time

#: From quasi-identifiers to the group of each row; -1 if it is left out.
Maker = Callable[[Sequence[Quasi]], Codes]


def swap_audit(
    original: pl.DataFrame,
    *,
    swaps: int = 100,
    most_rows: int = 5_000,
    sample: int = 2_000,
    seconds: float = 3.0,
    seed: int = 0,
    **how: Any,
) -> list[Finding]:
    """Swap sensitive values within groups, and count how often the groups stay as they are.

    >>> table = pl.DataFrame({"age": range(40), "pay": range(0, 400, 10)})
    >>> swap_audit(table, quasi="age", sensitive="pay", principles="k-anonymity:k=5")
    []
    """
    # Of more than `most_rows`, a random sample is looked at. After some seconds it stops, but ten
    # swaps are tried in any case. The seed also stands for the algorithm's secret. how: what
    # `anonymize` takes.
    rng = np.random.default_rng(seed)
    rows = original.height
    looked_at = original
    if rows > most_rows:
        looked_at = original[np.sort(rng.choice(rows, sample, replace=False))]
    request = Request.of(
        looked_at,
        roles={role: how.get(role) for role in _ROLES},
        **{key: how.get(key) for key in _OTHERS},
        rows_are_people=True,  # which was settled when the release was made
        transform={key: said for key, said in how.items() if key not in (*_ROLES, *_OTHERS)},
    )
    figures: dict[str, Any] = {"rows": looked_at.height, "of": rows}
    unseen = all(principle.needs == "size" for principle in request.principles)
    if unseen or request.transform.exact:  # anatomy does not look at quasi-identifiers
        return []
    try:
        tried, share = _tried(request, swaps, seconds, seed, rng)
    except (InfeasibleError, HierarchyError) as error:
        if looked_at.height == rows:
            raise
        return [_impossible(figures, error.what)]
    if not tried:
        return []
    figures |= {"swaps": tried, "unchanged": round(share, 3)}
    return _judged(share, less_telling(request), figures)


def _tried(
    request: Request, swaps: int, seconds: float, seed: int, rng: np.random.Generator
) -> tuple[int, float]:
    """Return how many swaps were tried, and the share of them that left the groups as they were."""
    how, frame = request.transform, request.frame
    demands = demands_of(request, frame)
    if how.algorithm == "lattice":
        quasis = quasis_of(request, frame)
        return _swapped(quasis, lambda q: _leveled(q, demands, how), swaps, seconds, rng)
    gone = suppress(demands, frame.height, how.suppression_limit, np.random.default_rng(seed))
    if len(gone):
        frame = frame[np.setdiff1d(np.arange(frame.height), gone)]
        demands = demands_of(request, frame)

    def made(quasis: Sequence[Quasi]) -> SplitResult:
        alike = np.random.default_rng(seed)
        return split(quasis, demands, rng=alike, cuts=how.cuts, dealing=how.dealing, threads=1)

    quasis = quasis_of(request, frame)
    if how.dealing == "matching" and (own := made(quasis).swap_audit):
        return int(own["swaps"]), own["unchanged"]  # it tries swaps itself, in each leaf
    return _swapped(quasis, lambda q: made(q).partition.labels, swaps, seconds, rng)


def _leveled(quasis: Sequence[Quasi], demands: Sequence[Demand], how: Transform) -> Codes:
    leveled = LatticeRecoding(generalize(lattice_problem(quasis, demands, how), settings_of(how)))
    labels = np.full(len(quasis[0].codes), -1, dtype=np.int32)
    labels[leveled.rows] = leveled.partition.labels
    return labels


def _swapped(
    quasis: Sequence[Quasi], make: Maker, swaps: int, seconds: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Swap, make the groups again, and compare."""
    labels = make(quasis)
    sizes = np.bincount(labels[labels >= 0])
    until = monotonic() + seconds
    tried = unchanged = 0
    several = np.flatnonzero((labels >= 0) & (sizes[labels] > 1))  # -1 is left out in any case
    while len(several) and tried < swaps and (tried < _LEAST or monotonic() < until):
        a = int(rng.choice(several))
        others = np.flatnonzero(labels == labels[a])
        b = int(rng.choice(others[others != a]))
        people = [replace(quasi, codes=_exchanged(quasi.codes, a, b)) for quasi in quasis]
        again = _exchanged(make(people), a, b)
        tried += 1
        unchanged += _same(labels, again)
    return tried, unchanged / max(tried, 1)


def _exchanged(codes: Codes, a: int, b: int) -> Codes:
    codes = codes.copy()
    codes[[a, b]] = codes[[b, a]]
    return codes


def _same(labels: Codes, again: Codes) -> bool:
    """Return whether two partitions have the same groups, whatever their numbers."""
    if not np.array_equal(labels < 0, again < 0):
        return False
    pairs = len(np.unique(labels.astype(np.int64) * (len(labels) + 1) + again))
    return pairs == len(np.unique(labels)) == len(np.unique(again))


def less_telling(request: Request) -> str:
    """Return which other choices would give away less than how this release was made."""
    how = request.transform
    dealt = not all(demand.rule.monotone for demand in demands_of(request, request.frame))
    ways = []
    if how.algorithm == "mondrian":
        if dealt and how.dealing != "rank":
            ways.append(
                what_to_type(
                    python='dealing="rank"',
                    command="--dealing rank",
                    app="the dealing “rank” (more settings, step 3)",
                )
            )
        if how.cuts != "paper":
            ways.append(
                what_to_type(
                    python='cuts="paper"',
                    command="--cuts paper",
                    app="the cuts “paper” (step 3)",
                )
            )
        if dealt:
            ways.append("principles whose groups need no dealing (frequency-l, delta-l)")
    ways.append("larger groups")
    less = " or ".join([", ".join(ways[:-1]), ways[-1]] if ways[1:] else ways)
    return f"less is told by {less}, and nothing of this kind by k-anonymity alone"


def _judged(share: float, less: str, figures: dict[str, Any]) -> list[Finding]:
    if share >= _HARDLY_ANY:
        return []
    much = share < _LIKE_MATCHING
    some = figures["rows"] < figures["of"]
    return [
        Finding(
            name="swap-audit",
            severity="medium" if much else "low",
            title=f"{100 * (1 - share):.0f} % of swaps within a group would change the groups",
            meaning="The groups were chosen by a look at sensitive values. Whoever knows the "
            "algorithm can rule out some ways to assign a group's values to its members, and be "
            "surer of others than the principles say."
            + (
                f" (Tried on a random sample of {figures['rows']:,} of {figures['of']:,} rows.)"
                if some
                else ""
            ),
            advice=sentence(
                less if much else f"if the algorithm is no secret and this matters: {less}"
            ),
            figures=figures,
        )
    ]


def _impossible(figures: dict[str, Any], why: str) -> Finding:
    return Finding(
        name="swap-audit",
        severity="info",
        title="the swap audit could not be made on a sample of the rows",
        meaning=f"Of a sample of {figures['rows']:,} of {figures['of']:,} rows no release can be "
        f"made: {why}.",
        advice="Ask for it on all rows, if there is time: most_rows.",
        figures=figures,
    )
