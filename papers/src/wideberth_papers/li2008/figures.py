"""The figures of the study of (ε,m)-anonymity: which rows they show, how, and what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from wideberth.core.text import percent
from wideberth_papers.li2008 import breaches, claims
from wideberth_papers.li2008.points import FIXED, MS, USUAL, M
from wideberth_papers.li2008.releases import (
    ABSOLUTE,
    BEST,
    DRAWS,
    MATCHING,
    PAPER,
    PERTURBATION,
    QUERIES,
    RELATIVE,
    SAMPLE,
)
from wideberth_papers.plotting import Axis, lines, table_map
from wideberth_papers.study import Figure, Row, Rows, Spec

_METHODS = (PAPER, BEST, PERTURBATION)
_ALL = (PAPER, BEST, PERTURBATION, MATCHING)
_ERROR = Axis("error", "mean relative error", format="~%", log=True)
_SECONDS = Axis("grouping", "seconds of one processor", format="~g", log=True)
_TIMES = ("grouping", "whole", "grouping_wall", "whole_wall", "rows")
_NAMED = {"epsilon": "ε", "m": "m", "volume": "s, share of the space"}
_BOUND = percent(claims.ERROR)
_LIMIT = claims.ERROR, f"the paper's {_BOUND}"
_QUERIED = (
    f"{QUERIES:,} queries a point (fewer on small tables), drawn over the domains from the lowest "
    "to the highest value, gaps included (of ATO, over the values that occur); a query that "
    "matches no row counts for nothing."
)
_OURS = (
    "The table is not the paper's own. Nor is the algorithm to the letter, in three points: it "
    "cuts nearest the median, where the paper cuts at or below it, and so leaves a column whole "
    "whose median is its highest value; it deals N rows into ⌊N/m⌋ hands, where the paper deals "
    "them into as many as there are rows in the fullest interval; and it deals every bucket, where "
    "the paper keeps one whole that satisfies as it is. All three lose less, except close to the "
    "limit of what is possible, where it is a matter of chance."
)
#: What an implementation to the letter of the paper, written for once, found at absolute ε = 4500
#: with 3-D queries of three seeds.
_LETTER = (
    "How much less: on ato_tax_2004_2008.parquet at ε = 4500, the algorithm to the letter leaves "
    "11\u00a0% of error instead of 0.8\u00a0%, and 8\u00a0% if it deals as ours does. The "
    "rest is that of its cuts, at columns of two values and at the others about alike."
)
_LETTER_BY_M = (
    "How much chance: on sal_correlated_500k.parquet at m = 7, the algorithm to the letter leaves "
    "48 to 51\u00a0% of error, not the 58 to 64\u00a0% of cuts nearest the median. Of 500,000 rows "
    "these leave 256,838 together that no median can cut further; to the letter it is 121,102 at "
    "most. Into how many hands rows are dealt makes no difference there."
)
_AGES = (
    "Of ATO, ages under 20 come first; in the order of texts they would come last, next to those "
    "over 70, and best cuts would leave 0.9\u00a0% of error at ε = 4500 instead of 0.4\u00a0%."
)
_NOISE = (
    "Perturbation keeps as many values as formula 3 allows, and estimates beyond what is possible "
    "are brought back to it, which is kind: close to its limit its errors would be several times "
    "as large without. Values that it does not keep are drawn from all whole numbers between "
    "the lowest and the highest income; of ATO, where hardly any of these occur, from the incomes "
    "that do."
)
_LAST = (
    f"Its errors are means of {DRAWS} perturbed tables. Where incomes heap at round numbers, short "
    "neighbourhoods are the fullest for their length: a somewhat larger ε then allows to keep "
    "more, and the error falls at first. At the last possible ε hardly any value may be kept: "
    "tiny differences of table, queries and chance decide the error there."
)
_ONCE = "It is tried once a point, but for 3-D queries of 10\u00a0%."
_TIMED = (
    "Drawn are seconds of one processor on one thread, for sorting, splitting and dealing "
    "(`grouping`; with reading, writing and verifying `whole`); the best of three where they are "
    "few. In columns that end in `wall`, the same by the clock on all cores, while the machine may "
    "have been busy with something else. The paper's are of 2008. That all stay below one second "
    "is shown for the paper's algorithm, not for best cuts, which try more cuts than medians."
)
_CHANCE = (
    "Times differ by a tenth or more from run to run: a factor below 1.5 counts for no difference."
)


def figures() -> list[Figure]:
    """List the figures."""
    return [
        *(_reach(name, kind) for name, kind in (("4a", ABSOLUTE), ("4b", RELATIVE))),
        _best(),
        *(_by_m(name, kind) for name, kind in (("5a", ABSOLUTE), ("5b", RELATIVE))),
        *(_by_volume(name, kind) for name, kind in (("6a", ABSOLUTE), ("6b", RELATIVE))),
        Figure(
            name="figure-7a",
            title="Figure 7a: time against m, ε = 4500",
            claim="The time falls as m grows, and never reaches a minute.",
            select=partial(_select, _timed_by_m, ("epsilon", "m", *_TIMES)),
            judge=claims.judge_time_by_m,
            draw=lambda rows: lines(
                rows, Axis("m", "m", ticks=list(MS)), _SECONDS, "method", order=_METHODS
            ),
            note=_noted(
                _TIMED, f"{_CHANCE} The paper explains the fall by the fewer splits there are."
            ),
        ),
        Figure(
            name="figure-7b",
            title="Figure 7b: time against ε, m = 5",
            claim="As ε grows the time first rises and then falls; it never reaches a minute.",
            select=partial(_select, _timed_by_reach, ("kind", "epsilon", "m", *_TIMES)),
            judge=claims.judge_time_by_reach,
            draw=_draw_times,
            note=_noted(
                _TIMED,
                _CHANCE,
                "The paper draws the relative case and calls the absolute one analogous.",
            ),
        ),
        Figure(
            name="improvement",
            title="Beyond the paper: better cuts, and dealing that looks at quasi-identifiers",
            claim=(
                "The best of all cuts leave less error than medians, and dealing by matching less "
                "again."
            ),
            ours=True,
            select=_select_compared,
            judge=claims.judge_improvement,
            draw=_draw_ratios,
            note=(
                f"On at most {SAMPLE:,} rows: matching may take minutes on half a million. It "
                "reads quasi-identifiers and sensitive values together, and so gives away more to "
                f"an adversary who knows the algorithm. {_QUERIED}"
            ),
        ),
        Figure(
            name="breaches",
            title="Section 3.1: which principle catches which breach",
            claim=(
                f"Each of {len(breaches.EARLIER)} principles proposed before lets groups pass in "
                "which somebody's number can be placed in a short interval with confidence; "
                "(ε,m)-anonymity does not. Two groups may be equally far from the whole table's "
                "distribution, 0.1, and yet one of them is breached and the other not."
            ),
            select=_select_breaches,
            judge=breaches.judge,
            draw=_draw_breaches,
            note=(
                f"The groups, with the largest share that lies within {breaches.NEAR} of a member: "
                f"{breaches.listed()}. A group is breached if that is more than half. ✓ means that "
                "it satisfies the principle, ✗ that it does not. The thresholds are about as "
                "strict as groups of three to five rows allow. Stricter ones would not help: "
                "whatever lets G pass, where nothing is breached, lets B pass; and t-closeness "
                "lets E pass if it lets F pass. (c,k)-safety, privacy skyline and δ-presence are "
                "left out: the first two ask what an adversary knows besides, the third for a "
                "population. "
                f"{breaches.LATER} came later."
            ),
        ),
    ]


def _reach(name: str, kind: str) -> Figure:
    limit = f"{claims.END[kind]:g}"
    return Figure(
        name=f"figure-{name}",
        title=f"Figure {name}: error against {kind} ε, m = 5",
        claim=(
            f"The error grows with ε, but stays below {_BOUND}. Perturbation errs by much more, "
            f"and more and more as ε approaches {limit}, beyond which it is impossible."
        ),
        select=partial(
            _select,
            lambda row: _is_error(row, kind) and row["m"] == M and _is_usual(row),
            (
                "kind",
                "epsilon",
                "m",
                "dimensions",
                "error",
                "median",
                "least",
                "most",
                "draws",
                "keep",
                "rows",
            ),
        ),
        judge=claims.judge_reach,
        draw=partial(_draw_errors, x="epsilon", limit=_LIMIT),
        note=_noted(_QUERIED, _OURS, _LETTER if kind == ABSOLUTE else "", _AGES, _NOISE, _LAST),
    )


def _best() -> Figure:
    return Figure(
        name="best",
        title="Beyond Figure 4: what the best cuts leave of the error, m = 5",
        claim=(
            f"With the best of all cuts errors stay below {_BOUND} for every ε, below those of "
            "perturbation wherever that is possible, and below those of the paper's algorithm."
        ),
        ours=True,
        select=partial(
            _select,
            lambda row: row["measured"] == "error" and row["m"] == M and _is_usual(row),
            ("kind", "epsilon", "m", "error", "rows"),
        ),
        judge=claims.judge_best,
        draw=_draw_best,
        note=_noted(_QUERIED, _OURS, _AGES, _NOISE, _LAST),
    )


def _by_m(name: str, kind: str) -> Figure:
    bound = claims.ERROR_BY_KIND[kind]
    return Figure(
        name=f"figure-{name}",
        title=f"Figure {name}: error against m, {kind} ε = {float(FIXED[kind]):g}",
        claim=f"The error grows with m, but is no more than {percent(bound)} even for the largest.",
        select=partial(
            _select,
            lambda row: (
                _is_error(row, kind)
                and row["epsilon"] == float(FIXED[kind])
                and row["volume"] == float(USUAL.volume)
            ),
            ("kind", "epsilon", "m", "dimensions", "error", "median", "keep", "rows"),
        ),
        judge=claims.judge_m,
        draw=partial(_draw_errors, x="m", limit=(bound, f"the paper's {percent(bound)}")),
        note=_noted(
            _QUERIED,
            _OURS,
            _LETTER_BY_M if kind == ABSOLUTE else "",
            "The paper does not show perturbation here.",
            _NOISE,
            _ONCE,
        ),
    )


def _by_volume(name: str, kind: str) -> Figure:
    return Figure(
        name=f"figure-{name}",
        title=f"Figure {name}: error against s, {kind} ε = {float(FIXED[kind]):g}, m = 5",
        claim=(
            "The error falls as queries cover more of the space, and is small even for those of "
            f"{percent(0.01)}."
        ),
        select=partial(
            _select,
            lambda row: (
                _is_error(row, kind) and row["epsilon"] == float(FIXED[kind]) and row["m"] == M
            ),
            ("kind", "epsilon", "m", "dimensions", "volume", "error", "median", "keep", "rows"),
        ),
        judge=claims.judge_volume,
        draw=partial(_draw_errors, x="volume"),
        note=_noted(
            _QUERIED,
            _OURS,
            f"How small is small, the paper does not say: {percent(claims.SMALL)} is the largest "
            f"error that it calls good, and {percent(claims.NOTHING)} that of who answers 0 to "
            "every query.",
            _NOISE,
            _ONCE,
        ),
    )


def _noted(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _is_error(row: Row, kind: str) -> bool:
    return row["measured"] == "error" and row["kind"] == kind


def _is_usual(row: Row) -> bool:
    asked = row["dimensions"], row["volume"]
    return asked == (USUAL.dimensions, float(USUAL.volume))


def _timed_by_m(row: Row) -> bool:
    return (
        row["measured"] == "time"
        and row["kind"] == ABSOLUTE
        and row["epsilon"] == float(FIXED[ABSOLUTE])
    )


def _timed_by_reach(row: Row) -> bool:
    return row["measured"] == "time" and row["m"] == M


def _select(belongs: Callable[[Row], bool], columns: Sequence[str], rows: Rows) -> Rows:
    """Choose rows and columns, by method and then by parameters."""
    chosen = [row for row in rows if belongs(row)]
    chosen.sort(
        key=lambda row: (
            _ALL.index(row["method"]),
            row["kind"],
            row.get("dimensions", 0),
            row["epsilon"],
            row["m"],
            row.get("volume", 0),
        )
    )
    return [{name: row.get(name) for name in ("method", *columns)} for row in chosen]


def _select_compared(rows: Rows) -> Rows:
    """Set each method's error against that of the paper's algorithm at the same point."""
    some = [row for row in rows if row["measured"] == "sample"]
    theirs = {(r["kind"], r["epsilon"]): r["error"] for r in some if r["method"] == PAPER}
    columns = ("method", "kind", "epsilon", "m", "error", "ncp_percent", "rows")
    chosen = []
    for row in some:
        beside = theirs[row["kind"], row["epsilon"]]
        known = row["error"] is not None and beside
        ratio = row["error"] / beside if known else None
        chosen.append({name: row[name] for name in columns} | {"ratio": ratio})
    return chosen


def _select_breaches(rows: Rows) -> Rows:
    return [
        {name: value for name, value in row.items() if name != "measured"}
        for row in rows
        if row["measured"] == "breach"
    ]


def _draw_errors(rows: Rows, *, x: str, limit: tuple[float, str] | None = None) -> Spec:
    several = len({row["dimensions"] for row in rows}) > 1
    named = [row | {"panel": f"{row['dimensions']}-D queries"} for row in rows]
    ticks = list(MS) if x == "m" else None
    form = "~%" if x == "volume" else ",~r"
    return lines(
        named,
        Axis(x, _NAMED[x], format=form, ticks=ticks),
        _ERROR,
        "method",
        order=_METHODS,
        panels="panel" if several else None,
        limit=limit,
    )


def _draw_best(rows: Rows) -> Spec:
    named = [row | {"panel": f"{row['kind']} ε"} for row in rows]
    return lines(
        named,
        Axis("epsilon", "ε"),
        _ERROR,
        "method",
        order=_METHODS,
        panels="panel",
        limit=_LIMIT,
    )


def _draw_times(rows: Rows) -> Spec:
    named = [row | {"panel": f"{row['kind']} ε"} for row in rows]
    return lines(named, Axis("epsilon", "ε"), _SECONDS, "method", order=_METHODS, panels="panel")


def _draw_ratios(rows: Rows) -> Spec:
    named = [row | {"panel": f"{row['kind']} ε"} for row in rows]
    return lines(
        named,
        Axis("epsilon", "ε"),
        Axis("ratio", "error, beside the paper's algorithm", format="~%"),
        "method",
        order=(PAPER, BEST, MATCHING),
        panels="panel",
    )


def _draw_breaches(rows: Rows) -> Spec:
    named = [
        row
        | {
            "sign": "✓" if row["judgement"] == breaches.PASSES else "✗",
            "seen": "passes a breach"
            if row["breached"] and row["judgement"] == breaches.PASSES
            else "catches a breach"
            if row["breached"]
            else "no breach",
        }
        for row in rows
    ]
    colours = {
        "passes a breach": "#D55E00",
        "catches a breach": "#0072B2",
        "no breach": "#d5dae0",
    }
    return table_map(
        named,
        "letter",
        "principle",
        "seen",
        title_x="group",
        title_y="principle",
        colours=colours,
        text="sign",
    )
