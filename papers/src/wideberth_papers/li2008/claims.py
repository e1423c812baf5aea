"""What Li, Tao and Xiao claim of their experiments, judged by what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from wideberth.core.text import join_names, percent
from wideberth_papers.li2008.releases import (
    ABSOLUTE,
    BEST,
    MATCHING,
    PAPER,
    PERTURBATION,
    RELATIVE,
)
from wideberth_papers.study import Row, Rows, Verdict
from wideberth_papers.trends import (
    Finding,
    Points,
    below,
    if_measured,
    peak,
    quicker,
    together,
    trend,
)

#: From so many rows on, what exceeds a bound of the paper's speaks against it: errors grow as
#: tables get smaller, and the paper's has 500,000.
LARGE = 250_000
#: From so many rows on, the lack of a trend does.
MIDDLING = 10_000
#: The paper's bounds: the error whatever ε; the error whatever m, by kind; seconds.
ERROR, ERROR_BY_KIND, SECONDS = 0.15, {ABSOLUTE: 0.20, RELATIVE: 0.08}, 60.0
#: Ours, for the paper's algorithm, on a processor of today.
_SECOND = 1.0
#: The largest error that the paper calls good; and that of who answers 0 to every query.
SMALL, NOTHING = 0.20, 1.0
#: Where the paper finds perturbation to end.
END = {ABSOLUTE: 4000.0, RELATIVE: 0.15}
#: From so many times the error on, perturbation errs by much more.
_MUCH = 2.0
#: How much of itself perturbation's error, a mean of few tables, may differ by chance.
_NOISY = 0.2
#: Groupings that take no longer cannot be compared by their times.
_SHORT = 0.05
_MINE = "The error of the paper's algorithm"
_SIGNS = {"epsilon": "ε", "m": "m", "volume": "s"}


@if_measured
def judge_reach(rows: Rows) -> Verdict:
    """Figure 4: errors against ε."""
    mine, theirs = (_points(rows, method, "epsilon") for method in (PAPER, PERTURBATION))
    enough = _middling(rows)
    return together(
        [
            trend(mine, _MINE, sign="ε", enough=enough),
            below(_places(rows, PAPER, "epsilon"), ERROR, "It", enough=_large(rows)),
            *_missing(rows, "epsilon"),
            _beaten(rows),
            # What the paper says of its own algorithm does not hang on the noise of the other.
            trend(
                theirs,
                "The error of perturbation",
                sign="ε",
                slack=_NOISY,
                flat="differs",
                enough=enough,
            ),
            _end(rows),
        ]
    )


@if_measured
def judge_best(rows: Rows) -> Verdict:
    """Beyond Figure 4: the best cuts, beside both methods."""
    places = [(f"at {where}", error) for where, error in _errors(rows, BEST).items()]
    name = "The error of best cuts"
    return together(
        [
            below(places, ERROR, name, promised=True, enough=_large(rows)),
            _less(rows, BEST, PERTURBATION, always=True),
            _less(rows, BEST, PAPER),
        ]
    )


@if_measured
def judge_m(rows: Rows) -> Verdict:
    """Figure 5: errors against m."""
    bound = ERROR_BY_KIND[rows[0]["kind"]]
    return together(
        [
            *_each(rows, "m", falling=False),
            below(_places(rows, PAPER, "m"), bound, "The error", enough=_large(rows)),
            *_missing(rows, "m"),
            *_beside(rows, "m"),
        ]
    )


@if_measured
def judge_volume(rows: Rows) -> Verdict:
    """Figure 6: errors against s."""
    return together(
        [*_each(rows, "volume", falling=True), _small(rows), *_beside(rows, "volume")],
    )


@if_measured
def judge_time_by_m(rows: Rows) -> Verdict:
    """Figure 7a: times against m."""
    mine = _points(rows, PAPER, "m", "grouping")
    name = "The time of the paper's algorithm"
    return together([_untimed(rows, mine) or quicker(mine, name, _seconds), *_quick(rows)])


@if_measured
def judge_time_by_reach(rows: Rows) -> Verdict:
    """Figure 7b: times against ε. One kind of ε decides, if the other does not bear it out."""
    found: list[Finding] = []
    for kind in (RELATIVE, ABSOLUTE):  # the paper draws the first
        mine = _points([row for row in rows if row["kind"] == kind], PAPER, "epsilon", "grouping")
        found.append(_untimed(rows, mine) or peak(mine, f"The time for {kind} ε", _seconds))
    if any(one.state in {"holds", "differs"} for one in found):
        found = [Finding("differs", f.said) if f.state == "fails" else f for f in found]
        found.sort(key=lambda one: one.state == "open")
    return together([*found, *_quick(rows)])


@if_measured
def judge_improvement(rows: Rows) -> Verdict:
    """Beyond the paper: other cuts, other dealing."""
    return together([_less(rows, BEST, PAPER), _less(rows, MATCHING, BEST)])


def _points(rows: Rows, method: str, x: str, y: str = "error") -> Points:
    """Return what a method reached, by ascending x; where it is impossible there is nothing."""
    mine = [row for row in rows if row["method"] == method and row[y] is not None]
    return sorted((float(row[x]), float(row[y])) for row in mine)


def _places(rows: Rows, method: str, x: str) -> list[tuple[str, float]]:
    """Return the errors of a method, and where they were measured, in words."""
    several = len(_dimensions(rows)) > 1
    return [
        (f"at {_SIGNS[x]} = {row[x]:g}" + (f" ({row['dimensions']}-D)" if several else ""), error)
        for row in rows
        if row["method"] == method and (error := row["error"]) is not None
    ]


def _errors(rows: Rows, method: str) -> dict[str, float]:
    """Return the errors of a method by kind and ε."""
    mine = [row for row in rows if row["method"] == method and row["error"] is not None]
    return {f"{row['kind']} ε = {row['epsilon']:g}": float(row["error"]) for row in mine}


def _large(rows: Rows) -> bool:
    return bool(rows) and rows[0]["rows"] >= LARGE


def _middling(rows: Rows) -> bool:
    return bool(rows) and rows[0]["rows"] >= MIDDLING


def _missing(rows: Rows, x: str) -> list[Finding]:
    """Say where the paper's algorithm finds no release, so that nothing is known."""
    at = sorted({row[x] for row in rows if row["method"] == PAPER and row["error"] is None})
    if not at:
        return []
    where = join_names([f"{value:g}" for value in at])
    return [Finding("open", f"It has no result on this table at {_SIGNS[x]} = {where}.")]


def _beaten(rows: Rows) -> Finding:
    """Compare with perturbation, wherever both are possible."""
    mine, theirs = (_errors(rows, method) for method in (PAPER, PERTURBATION))
    both = [where for where in mine if where in theirs]
    if not both:
        return Finding("open", "Perturbation is possible nowhere.")
    factors = [theirs[where] / mine[where] for where in both if mine[where]]
    errors = [theirs[where] for where in both]
    said = f"Perturbation errs by {percent(min(errors))} to {percent(max(errors))}"
    if factors:
        said += f", {min(factors):,.1f} to {max(factors):,.1f} times as much"
    if len(factors) < len(both):
        said += f"; at {len(both) - len(factors)} of {len(both)} points it alone has an error"
    lost = [where for where in both if mine[where] >= theirs[where]]
    if lost and not _middling(rows):
        return Finding("open", f"{said}: the table is too small to tell.")
    if lost:
        where = lost[0]
        against = f"perturbation errs by {percent(theirs[where])} at {where}, "
        return Finding("fails", f"{said}.", f"{against}the paper's by {percent(mine[where])}")
    if factors and min(factors) < _MUCH:
        return Finding("differs", f"{said}, which is not much everywhere.")
    return Finding("holds", f"{said}.")


def _end(rows: Rows) -> Finding:
    """Find where perturbation ends: no probability will do, or the only one is to keep nothing.

    On the way it should keep less and less.
    """
    kept = sorted(
        (row["epsilon"], row["keep"] or 0.0) for row in rows if row["method"] == PERTURBATION
    )
    possible = [point for point in kept if point[1] > 0]
    impossible = [x for x, keep in kept if not keep]
    if not possible:
        return Finding("differs", "No value may be kept at any ε.")
    (first, most), (last, least) = possible[0], possible[-1]
    claimed = END[rows[0]["kind"]]
    top, high = max(possible, key=lambda point: point[1])
    rising = f", even {_exactly(high)} at {top:g} instead of less," if high > most else ""
    said = f"It keeps {_exactly(most)} of the values at ε = {first:g}{rising} and "
    said += f"{_exactly(least)} at {last:g}"
    if not impossible:
        # Where it ends depends on the table, which is not the paper's.
        return Finding("differs", f"{said}, and is possible throughout: its limit lies beyond.")
    said += f", and is impossible from {impossible[0]:g} on"
    if last == claimed:
        return Finding("differs" if rising else "holds", f"{said}.")
    return Finding("differs", f"{said}; in the paper it is possible up to {claimed:g}.")


def _less(rows: Rows, method: str, other: str, *, always: bool = False) -> Finding:
    """Find out whether one method errs by less than another: on the whole, or always."""
    mine, theirs = _errors(rows, method), _errors(rows, other)
    # Where neither errs there is nothing to be less.
    both = [where for where in mine if where in theirs and (mine[where] or theirs[where])]
    if not both:
        return Finding("open", f"{method.capitalize()} cannot be compared with {other}.")
    lost = [where for where in both if mine[where] >= theirs[where]]
    shares = [mine[where] / theirs[where] for where in both if theirs[where]]
    said = f"{method.capitalize()} err by less than {_the(other)} at "
    said += f"{len(both) - len(lost)} of {len(both)} points"
    if shares:
        said += f", with {percent(fmean(shares))} of its error on average"
        said += f" ({percent(min(shares))} to {percent(max(shares))})"
    if not lost:
        return Finding("holds", f"{said}.")
    worst = max(lost, key=lambda where: mine[where] - theirs[where])
    against = f"{method} err by {percent(mine[worst])}, {_the(other)} by {percent(theirs[worst])}"
    if not always and 2 * len(lost) < len(both) and shares and fmean(shares) < 1:
        return Finding("differs", f"{said}; it is not less at {join_names(lost)}.")
    if not _middling(rows):
        return Finding("open", f"{said}: the table is too small to tell.")
    return Finding("fails", f"{said}.", f"{against} at {worst}")


def _each(rows: Rows, x: str, *, falling: bool) -> list[Finding]:
    """Look for the trend in queries of each number of dimensions, those that tell first."""
    found = [
        trend(
            _points([row for row in rows if row["dimensions"] == w], PAPER, x),
            f"The error of {w}-D queries",
            sign=_SIGNS[x],
            falling=falling,
            enough=_middling(rows),
        )
        for w in _dimensions(rows)
    ]
    return sorted(found, key=lambda one: one.state == "open")


def _small(rows: Rows) -> Finding:
    """Judge the errors of the smallest queries: whether they are small, or as bad as nothing."""
    least = min(row["volume"] for row in rows)
    places = _places([row for row in rows if row["volume"] == least], PAPER, "volume")
    useless = any(error > NOTHING for _, error in places)
    name = "The error of the smallest queries"
    return below(places, SMALL, name, promised=useless, enough=_large(rows))


def _beside(rows: Rows, x: str) -> Iterator[Finding]:
    """Say what the others do; it is no claim of the paper's, and decides nothing."""
    if places := _places(rows, BEST, x):
        where, most = max(places, key=lambda place: place[1])
        least = min(error for _, error in places)
        said = f"Best cuts err by {percent(least)} to {percent(most)}, the most {where}."
        yield Finding("aside", said)
    if not _places(rows, PERTURBATION, x):
        yield Finding("aside", "Perturbation is impossible here.")


def _dimensions(rows: Rows) -> list[int]:
    return sorted({row["dimensions"] for row in rows})


def _untimed(rows: Rows, points: Points) -> Finding | None:
    """Refuse to compare times that are all but nothing."""
    longest = max((seconds for _, seconds in points), default=0.0)
    if longest >= _SHORT and _middling(rows):
        return None
    return Finding("open", f"No grouping takes more than {_seconds(longest)}: too little to tell.")


def _quick(rows: Rows) -> Iterator[Finding]:
    """Judge the paper's bound by its own algorithm; say how long best cuts take beside it."""
    timed: list[tuple[float, Row]] = [
        (row["grouping"], row) for row in rows if row["method"] == PAPER and row["grouping"]
    ]
    if not timed:
        yield Finding("open", "No grouping was timed.")
        return
    longest, row = max(timed, key=lambda pair: pair[0])
    at = f"at ε = {row['epsilon']:g}, m = {row['m']}"
    said = f"By the paper's algorithm the longest takes {_seconds(longest)} on one thread, {at}"
    if longest > SECONDS:
        yield Finding("fails", f"{said}.", f"{_seconds(longest)} {at}")
    elif longest > _SECOND:
        yield Finding("holds", f"{said}.")
    else:
        yield Finding("holds", f"{said}: all stay below one second.")
    if alone := _span(rows, BEST, "grouping"):
        yield Finding("aside", f"Best cuts take {alone} on one thread.")
    grouping, whole = (_span(rows, BEST, column) for column in ("grouping_wall", "whole_wall"))
    if grouping and whole:
        said = f"On all cores they take {grouping} by the clock, the whole call {whole}"
        theirs = _span(rows, PAPER, "whole_wall")
        yield Finding("aside", f"{said} (by the paper's algorithm {theirs or 'not timed'}).")


def _span(rows: Rows, method: str, column: str) -> str:
    """Return the least and the most seconds of a method, in words; nothing if it is not timed."""
    times = [row[column] for row in rows if row["method"] == method and row.get(column)]
    return f"{_seconds(min(times))} to {_seconds(max(times))}" if times else ""


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}\u202fs" if seconds < 1 else f"{seconds:.1f}\u202fs"


def _the(method: str) -> str:
    return f"the {method}" if method == PAPER else method


def _exactly(share: float) -> str:
    """Write a share that may be tiny, with two digits that matter."""
    return f"{100 * share:.2g}\u00a0%"
