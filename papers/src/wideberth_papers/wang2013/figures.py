"""The figures of the study of (l,e)-diversity: which rows they show, how, and what is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import floor

from wideberth_papers import plotting
from wideberth_papers.plotting import Axis
from wideberth_papers.study import Figure, Rows, Spec, chosen
from wideberth_papers.wang2013.anatomies import FAR_WAYS, WAYS, most
from wideberth_papers.wang2013.claims import (
    DRAWN,
    READINGS,
    judge_alike,
    judge_farther,
    judge_longer,
    judge_loss,
    judge_more,
    judge_orders,
    judge_similar,
)

#: The l of the figures, where n varies, and where e is 2.
LS, L, FAR_LS = range(2, 7), 4, (2, 3, 4)
NAMES = tuple(way.name for way in WAYS)
FAR_NAMES = tuple(way.name for way in FAR_WAYS)


# ---- which rows


def _over_n(rows: Rows, *columns: str) -> Rows:
    return chosen(rows, ("n", "l", "way", *columns), measured="groups", l=L)


def _over_l(rows: Rows, *columns: str) -> Rows:
    found = chosen(rows, ("n", "l", "way", *columns), measured="groups", sixths=6)
    return sorted(found, key=lambda r: int(r["l"]))


def _all(rows: Rows, *columns: str) -> Rows:
    return chosen(rows, ("n", "l", "way", *columns), measured="groups")


def _orders(rows: Rows) -> Rows:
    """Put the diversities of mbf beside those of other orders of values."""
    greedy = {
        (r["way"], r["l"]): r["dot"] for r in rows if r["measured"] == "groups" and r["sixths"] == 6
    }
    columns = ("n", "l", "alphabetical", "random_mean", "random_least", "random_most")
    return [
        row | {"mbf": greedy[NAMES[0], row["l"]], "mbf_semantic": greedy[NAMES[1], row["l"]]}
        for row in chosen(rows, columns, measured="orders")
    ]


# ---- how they are drawn


def _line(x: Axis, y: Axis, rows: Rows) -> Spec:
    return plotting.lines(rows, _at(x, rows), y, "way", order=NAMES)


def _at(x: Axis, rows: Rows) -> Axis:
    """Write numbers where something was measured."""
    return x._replace(ticks=sorted({row[x.field] for row in rows}))


_N = Axis("n", "rows n", ",d")
_ELL = Axis("l", "l", "d")


def _draw_loss(x: Axis, names: Sequence[str], rows: Rows) -> Spec:
    """Draw the two readings that differ; the other two look alike."""
    points = [
        row | {"loss": row[field], "reading": READINGS[field]}
        for field in ("full_kept", "full_all")
        for row in rows
    ]
    y = Axis("loss", "information loss", ",d")
    return plotting.lines(points, _at(x, rows), y, "way", order=names, panels="reading")


def _draw_diversity(x: Axis, rows: Rows) -> Spec:
    points = [row | {"share": _share(row["dot"], row["l"])} for row in rows]
    return _line(x, _of_the_most(points), points)


def _share(value: float | None, ell: int) -> float | None:
    """Return the share of the most that groups of l rows can have: so diversities compare."""
    return None if value is None else value / most(ell)


def _of_the_most(points: Rows) -> Axis:
    shares = [row["share"] for row in points if row["share"] is not None]
    low, high = min(shares, default=0.0), max(shares, default=1.0)
    title = "DOT, of the most that l rows can have"
    return Axis("share", title, ".0%", domain=(floor(20 * low) / 20, max(high, 1.0)))


def _draw_time(x: Axis, field: str, rows: Rows) -> Spec:
    points = [row | {"ms": None if row[field] is None else 1000 * row[field]} for row in rows]
    return _line(x, Axis("ms", "CPU milliseconds", ",~r"), points)


def _draw_similar(rows: Rows) -> Spec:
    largest = max(row["n"] for row in rows)
    panels = {"similar": "two values at most 1 apart", "one_kind": "all of one kind on level 1"}
    points = [
        row | {"share": row[field], "kind": said}
        for field, said in panels.items()
        for row in sorted(rows, key=lambda r: int(r["l"]))
        if row["n"] == largest
    ]
    y = Axis("share", "share of groups", ".0%")
    return plotting.lines(points, _at(_ELL, rows), y, "way", order=NAMES, panels="kind")


_SERIES = {
    "mbf": "l-diversity, mbf",
    "mbf_semantic": "(l,1)-diversity, mbf",
    "alphabetical": "l-diversity, alphabetical",
    "random_mean": "l-diversity, random order",
    "random_least": "the least of them",
    "random_most": "the most of them",
}


def _draw_orders(rows: Rows) -> Spec:
    points = [
        {"l": row["l"], "series": said, "share": _share(row[field], row["l"])}
        for field, said in _SERIES.items()
        for row in rows
    ]
    y = _of_the_most(points)
    return plotting.lines(points, _at(_ELL, rows), y, "series", order=tuple(_SERIES.values()))


def _draw_queries(rows: Rows) -> Spec:
    y = Axis("mean", "mean relative error", ".0%")
    return plotting.bars(rows, "l", y, "way", order=NAMES, title_x="l")


# ---- the figures

_LOSS = ("suppressed", "groups", *READINGS)
_NOTE_LOSS = (
    "The paper does not print its tree, so the result is that of ours. "
    "All four ways may coincide: where all values of a group differ, the loss of a row depends on "
    "the size of its group alone. Formula 5 is the whole integral; the paper's worked example "
    "prints its term at the true point. Formula 6 takes a row that is not published for no loss."
)
_CLAIM_LOSS = "(l,e)-diversity loses more information than l-diversity."
_CLAIM_DOT = "Groups under (l,e)-diversity are more diverse than those under l-diversity."
_CLAIM_TIME = "MBF takes longer for (l,e)-diversity than for l-diversity."
_NOTE_TIME = (
    "CPU time from codes to groups, the making of buckets included; the least of 15 runs that "
    "take turns. A mean ratio between 0.8 and 1.25 counts for no difference: single ones change as "
    "much from run to run."
)
_ALIKE = "'About' means within a factor of 1.5 on average, up to 3 with differences."
FIGURES = (
    Figure(
        name="figure-2",
        title="Figure 2: information loss over n, l = 4",
        claim=_CLAIM_LOSS,
        select=lambda rows: _over_n(rows, *_LOSS),
        judge=judge_loss,
        draw=partial(_draw_loss, _N, NAMES),
        note=_NOTE_LOSS,
    ),
    Figure(
        name="figure-3",
        title="Figure 3: information loss over l",
        claim=_CLAIM_LOSS,
        select=lambda rows: _over_l(rows, *_LOSS),
        judge=judge_loss,
        draw=partial(_draw_loss, _ELL, NAMES),
        note="Where rows are suppressed, formula 6 falls as l grows; with 1 for each, it rises.",
    ),
    Figure(
        name="figure-4",
        title="Figure 4: average diversity over n, l = 4",
        claim=_CLAIM_DOT,
        select=lambda rows: _over_n(rows, "dot", "most"),
        judge=partial(judge_more, "dot", DRAWN, "{:.4f}"),
        draw=partial(_draw_diversity, _N),
        note="Means over 15 draws. Formula 7 has the sign of the distance reversed.",
    ),
    Figure(
        name="figure-5",
        title="Figure 5: average diversity over l",
        claim=_CLAIM_DOT,
        select=lambda rows: _over_l(rows, "dot", "most"),
        judge=partial(judge_more, "dot", DRAWN, "{:.4f}"),
        draw=partial(_draw_diversity, _ELL),
        note=(
            "The degree of a group grows with its size, so it is drawn in percent of 1.5 (l - 1), "
            "that of l rows which are as far apart as the tree is high."
        ),
    ),
    Figure(
        name="figure-6",
        title="Figure 6: time over n, l = 4",
        claim=_CLAIM_TIME,
        select=lambda rows: _over_n(rows, "seconds"),
        judge=judge_longer,
        draw=partial(_draw_time, _N, "seconds"),
        note=_NOTE_TIME,
    ),
    Figure(
        name="figure-7",
        title="Figure 7: time over l",
        claim=_CLAIM_TIME,
        select=lambda rows: _over_l(rows, "seconds"),
        judge=judge_longer,
        draw=partial(_draw_time, _ELL, "seconds"),
        note=_NOTE_TIME,
    ),
    Figure(
        name="whole-call",
        title="Beyond the paper: time of the whole call over n, l = 4",
        claim="A whole release, verified, takes about as long under either principle.",
        select=lambda rows: _over_n(rows, "call_seconds"),
        judge=partial(judge_alike, "call_seconds", "takes {:.2f} times as long"),
        draw=partial(_draw_time, _N, "call_seconds"),
        note=f"CPU time from a table to two verified ones, the least of three. {_ALIKE}",
        ours=True,
    ),
    Figure(
        name="similar-groups",
        title="Section I: groups whose values are alike",
        claim="(l,e)-diversity withstands the similarity attack that l-diversity is open to.",
        select=lambda rows: _all(rows, "similar", "one_kind"),
        judge=judge_similar,
        draw=_draw_similar,
        note=(
            "The paper does not measure it. Level 1 of the tree are school, secondary, college and "
            "university. The average diversity does not show such groups. Drawn for the largest n."
        ),
    ),
    Figure(
        name="larger-e",
        title="Beyond the paper: information loss with e = 2",
        claim=(
            "With e = 2, (l,e)-diversity loses more than l-diversity by suppressing more rows, and "
            "by nothing else: over the rows that it keeps, formula 6, it does not lose more."
        ),
        select=lambda rows: chosen(
            rows, ("n", "l", "way", *_LOSS, "dot", "most"), measured="farther"
        ),
        judge=judge_farther,
        draw=partial(_draw_loss, _ELL, FAR_NAMES),
        note="With e = 2 the tree has four buckets, one for each stage of schooling.",
        ours=True,
    ),
    Figure(
        name="orders",
        title="Beyond the paper: diversity, and the order in which values are dealt",
        claim=(
            "Another order of dealing values changes the diversity of l-diverse groups by more "
            "than (l,e)-diversity adds to those of mbf."
        ),
        select=_orders,
        judge=judge_orders,
        draw=_draw_orders,
        note=(
            "The optimal method deals values to groups in turn; any order of values keeps "
            "l-diversity. Alphabetical, and 30 random ones."
        ),
        ours=True,
    ),
    Figure(
        name="queries",
        title="Beyond the paper: errors of count queries",
        claim="Count queries are answered about as well under either principle.",
        select=lambda rows: chosen(
            rows,
            ("n", "l", "way", "mean", "spread", "median", "largest"),
            measured="queries",
        ),
        judge=partial(judge_alike, "mean", "errs by {:.2f} times as much"),
        draw=_draw_queries,
        note=(
            "1,000 queries on three attributes that cover 10 % of their space, relative errors, "
            "means of three releases; `largest` is what 95 % do not exceed. Intervals of education "
            f"are of its values in alphabetical order. {_ALIKE}"
        ),
        ours=True,
    ),
)  # fmt: skip
