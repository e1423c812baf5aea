"""What the study of (l,e)-diversity measures: groups of equal people, made in several ways.

Groups are made from codes alone, and many times, so that times and diversities rest on more than
one draw; whole releases are made by `anonymize`. Ways take turns, for a busy machine is then busy
for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from wideberth.algorithms.anatomy import anatomize
from wideberth.algorithms.demand import Demand
from wideberth.core.codes import Column, encode
from wideberth.core.groups import Groups, Partition
from wideberth.errors import InfeasibleError, VerificationError
from wideberth.principles import parse
from wideberth.principles.partition.deal import deal
from wideberth.release.anonymize import anonymize
from wideberth.release.release import Release
from wideberth.utility.metrics import buckets as metrics
from wideberth.utility.queries import query_error
from wideberth_papers.study import Row
from wideberth_papers.wang2013.education import education

QUASI = ("age", "workclass", "marital_status", "sex", "race")
SENSITIVE = "education"
TREE = education()


class Way(NamedTuple):
    """A principle but for l, and the method of anatomy to meet it."""

    name: str
    principle: str
    method: str


PLAIN, SEMANTIC, FAR = "frequency-l:l={l}", "l-e:l={l},e=1", "l-e:l={l},e=2"
#: By name, (l,e)-diversity after the l-diversity that it is compared with.
WAYS = (
    Way("l-diversity, mbf", PLAIN, "mbf"),
    Way("(l,1)-diversity, mbf", SEMANTIC, "mbf"),
    Way("l-diversity, optimal", PLAIN, "optimal"),
    Way("(l,1)-diversity, optimal", SEMANTIC, "optimal"),
)
FAR_WAYS = (
    Way("l-diversity, mbf", PLAIN, "mbf"),
    Way("(l,2)-diversity, mbf", FAR, "mbf"),
    Way("l-diversity, optimal", PLAIN, "optimal"),
    Way("(l,2)-diversity, optimal", FAR, "optimal"),
)
#: Any two rows of a group are more than 1 apart.
_APART = parse("l-e:l=1,e=1")
#: How often groups, whole releases, and orders of values are drawn.
RUNS, CALLS, ORDERS = 15, 3, 30
#: What is told of groups; nothing if they are impossible.
_MEASURES = (
    "suppressed", "groups", "kept", "full_kept", "full_all", "true_kept", "true_all", "dot",
    "similar", "one_kind", "seconds",
)  # fmt: skip


def compared(
    table: pl.DataFrame, ways: Sequence[Way], ell: int, seed: int, *, runs: int = RUNS
) -> list[Row]:
    """Make groups in several ways, and measure them: a row for each.

    Parameters
    ----------
    table : DataFrame
        With the column of schooling.
    ways : sequence of Way
        How.
    ell : int
        The l of their principles.
    seed : int
        Of the drawing.
    runs : int
        How often.

    Returns
    -------
    list of dict
        `suppressed` rows, `kept` ones, `groups`; the information loss, whole or at the `true` point
        alone, of `kept` rows or of `all` with 1 for a suppressed one; `dot`, the average
        diversity; the shares of groups with two `similar` values, and of those that are of
        `one_kind` on the first level of the tree; CPU `seconds` from codes to groups, the least.
        All are means over the runs but the last. None if there are no such groups.

    Examples
    --------
    >>> people = pl.DataFrame({"education": ["9th", "Masters", "Doctorate", "HS-grad"]})
    >>> plain, semantic = compared(people, WAYS[2:], 2, 0, runs=3)
    >>> plain["groups"], plain["full_kept"], semantic["similar"]
    (2, 2.0, 0.0)
    """
    column = encode(table[SENSITIVE]).with_tree(TREE)
    found: dict[Way, list[Row]] = {way: [] for way in ways}
    for run in range(runs + 1):
        for way, here in found.items():
            measured = _grouped(column, way, ell, np.random.default_rng([seed, run]))
            if run and measured is not None:  # the first run warms up
                here.append(measured)
    return [
        {"n": table.height, "l": ell, "way": way.name, "most": most(ell), **_summed(here)}
        for way, here in found.items()
    ]


def most(ell: int) -> float:
    """Return the diversity of l rows that are all as far apart as the tree is high.

    >>> most(3)
    3.0
    """
    return TREE.height * (ell - 1) / 2


def _grouped(column: Column, way: Way, ell: int, rng: np.random.Generator) -> Row | None:
    rows = len(column.codes)
    begin = process_time()
    principle = parse(way.principle.format(l=ell))
    demand = Demand(principle, principle.bind(column.domain), column)
    try:
        dealt = anatomize([demand], rows, rng=rng, method=way.method, limit=1.0)
    except InfeasibleError:
        return None
    seconds = process_time() - begin
    groups = dealt.partition.histograms(Column(column.codes[dealt.rows], column.domain))
    lost = rows - len(dealt.rows)
    full = fsum(metrics.reconstruction_error(groups))  # the same in any order
    true = fsum(metrics.true_point_error(groups))
    largest = metrics.similarity_risk(groups, column.domain)[:, 0]
    similar = 1 - float(_APART.bind(column.domain).satisfies(groups).mean())
    if similar and way.principle != PLAIN:
        raise VerificationError(f"groups for {principle} have similar values")
    return {
        "suppressed": lost,
        "groups": len(groups),
        "kept": rows - lost,
        "full_kept": full,
        "full_all": full + lost,
        "true_kept": true,
        "true_all": true + lost,
        "dot": metrics.average_diversity(groups, column.domain),
        "similar": similar,
        "one_kind": float((largest == 1).mean()),
        "seconds": seconds,
    }


def _summed(runs: Sequence[Row]) -> Row:
    """Take the mean over runs, of times the least; whole numbers that are always the same stay."""
    if not runs:
        return dict.fromkeys(_MEASURES)
    ways: dict[str, Callable[[list[Any]], Any]] = {"seconds": min}
    return {name: ways.get(name, _mean)([run[name] for run in runs]) for name in _MEASURES}


def _mean(values: list[Any]) -> Any:
    return values[0] if len(set(values)) == 1 else mean(values)


def released(table: pl.DataFrame, way: Way, ell: int, seed: int) -> Release:
    """Make and verify a release, from a table to two."""
    return anonymize(
        table,
        quasi=list(QUASI),
        sensitive=SENSITIVE,
        principles=way.principle.format(l=ell),
        hierarchies={SENSITIVE: TREE},
        algorithm="anatomy",
        method=way.method,
        suppression_limit=1.0,
        seed=seed,
    )


def called(
    table: pl.DataFrame, ways: Sequence[Way], ell: int, seed: int, *, calls: int = CALLS
) -> list[float | None]:
    """Return the CPU seconds of whole releases, the least of several, for each way."""
    found: dict[Way, list[float]] = {way: [] for way in ways}
    for call in range(calls + 1 if calls else 0):  # the first warms up
        for way, here in found.items():
            begin = process_time()
            try:
                released(table, way, ell, seed + call)
            except InfeasibleError:
                continue
            if call:
                here.append(process_time() - begin)
    return [min(here, default=None) for here in found.values()]


def ordered(table: pl.DataFrame, ell: int, seed: int, *, draws: int = ORDERS) -> Row:
    """Tell how much of the diversity of plain l-diversity is owed to the order of its values.

    The optimal method deals rows in the order of their values. Any order keeps l-diversity; that
    of the alphabet is what it uses.

    Returns
    -------
    dict
        The diversity by `alphabetical` order; by random ones the `random_mean`, `random_least`
        and `random_most`.
    """
    column = encode(table[SENSITIVE]).with_tree(TREE)
    principle = parse(PLAIN.format(l=ell))
    demand = Demand(principle, principle.bind(column.domain), column)
    names = np.arange(column.domain.size)
    found: list[float] = []
    try:
        rng = np.random.default_rng([seed, 0])
        rows = anatomize([demand], len(column.codes), rng=rng, limit=1.0).rows
    except InfeasibleError:
        return dict.fromkeys(("alphabetical", "random_mean", "random_least", "random_most"))
    kept = Column(column.codes[rows], column.domain)
    for draw in range(draws + 1):
        rng = np.random.default_rng([seed, draw])
        place = rng.permutation(names) if draw else names
        found.append(metrics.average_diversity(_dealt(kept, place, ell, rng), column.domain))
    first, *others = found
    return {
        "alphabetical": first,
        "random_mean": mean(others),
        "random_least": min(others),
        "random_most": max(others),
    }


def _dealt(column: Column, place: Any, ell: int, rng: np.random.Generator) -> Groups:
    """Deal rows to groups of l in the order of the places of their values."""
    labels = deal(place[column.codes], len(column.codes) // ell, rng).astype(np.int32)
    return Partition(labels, int(labels.max()) + 1).histograms(column)


def asked(
    table: pl.DataFrame, ways: Sequence[Way], ell: int, seed: int, *, draws: int = CALLS
) -> Iterator[Row]:
    """Answer count queries from releases: a row for each way, means over several releases.

    The queries are of three attributes and cover 10 % of their space; those of one draw are the
    same for all ways. Errors are relative; that suppressed rows are missed is part of them.
    """
    for way in ways:
        errors = []
        for draw in range(draws):
            try:
                release = released(table, way, ell, seed + draw)
            except InfeasibleError:
                break
            errors.append(query_error(table, release=release, seed=draw))
        usable = [e for e in errors if e.left_out < e.queries]
        yield {
            "n": table.height,
            "l": ell,
            "way": way.name,
            "mean": mean(e.mean for e in usable) if usable else None,
            "spread": max(e.mean for e in usable) - min(e.mean for e in usable) if usable else None,
            "median": mean(e.median for e in usable) if usable else None,
            "largest": mean(e.quantiles[0.95] for e in usable) if usable else None,
        }
