"""The figures of the study of (δ,l)-diversity: which rows they show, how they are drawn."""

from __future__ import annotations

from functools import partial

from wideberth_papers import plotting
from wideberth_papers.deltal.claims import (
    STEADY,
    WAYS,
    judge_chain,
    judge_code,
    judge_drawback,
    judge_examples,
    judge_monotonicity,
    judge_repair,
    judge_time,
)
from wideberth_papers.plotting import Axis
from wideberth_papers.study import Figure, Rows, Spec, chosen


def _select(what: str, *columns: str) -> partial[Rows]:
    return partial(chosen, columns=columns, measured=what)


def _monotonicity(rows: Rows) -> Rows:
    """Put the counterexample before the shares of random unions that fail."""
    shown: Rows = []
    for name in ("literal", "stab"):
        first, second, union = chosen(rows, ("values", "delta", name), measured="union")
        passing = first[name] >= 2 and second[name] >= 2
        counts = {"unions": int(passing), "failed": int(passing and union[name] < 2)}
        shown.append(
            {"size": 2, "delta": union["delta"], "l": 2, "principle": name}
            | {"values": f"{first['values']}, {second['values']}", **counts}
        )
    shown += [
        {"size": row["size"], "delta": row["delta"], "l": row["l"], "principle": name}
        | {"values": "random", "unions": row[f"{name}_unions"], "failed": row[f"{name}_failed"]}
        for row in rows
        if row["measured"] == "unions"
        for name in ("literal", "stab")
    ]
    return [
        row | {"share": row["failed"] / row["unions"] if row["unions"] else None} for row in shown
    ]


def _drawback(rows: Rows) -> Rows:
    """Put the paper's two groups above how often the principles differ on random ones."""
    columns = ("example", "values", "delta", "literal", "stab", "epsilon_m")
    shown = [
        row | {"groups": 1, "judged_otherwise": None}
        for row in chosen(rows, columns, measured="examples")
        if row["example"].startswith("Figure 2")
    ]
    empty = dict.fromkeys(("literal", "stab", "epsilon_m"))
    drawn = [row for row in rows if row["measured"] == "unions"]
    for delta in dict.fromkeys(row["delta"] for row in drawn):
        counts = {
            name: sum(row[name] for row in drawn if row["delta"] == delta)
            for name in ("groups", "judged_otherwise")
        }
        shown.append({"example": "random groups", "values": "", "delta": delta, **empty, **counts})
    return shown


def _chain(rows: Rows) -> Rows:
    shown: Rows = []
    for what, on in (("unions", "random groups"), ("release", "groups of releases")):
        here = [r for r in rows if r["measured"] == what and r["implied"] is not None]
        shown += [
            {"on": on, "delta": delta}
            | {
                name: sum(r[name] for r in here if r["delta"] == delta)
                for name in ("groups", "implied", "broken")
            }
            for delta in dict.fromkeys(r["delta"] for r in here)
        ]
    return shown


# ---- how it is drawn


def _draw_monotonicity(rows: Rows) -> Spec:
    drawn = [row for row in rows if row["values"] == "random"]
    deltas = list(dict.fromkeys(row["delta"] for row in drawn))
    points = [
        row
        | {"series": f"literal, δ = {row['delta']:g}" if row["principle"] == "literal" else "stab"}
        for row in drawn
        if row["principle"] == "literal" or row["delta"] == deltas[-1]
    ]
    order = [*(f"literal, δ = {delta:g}" for delta in deltas), "stab"]
    sizes = list(dict.fromkeys(row["size"] for row in drawn))
    x = Axis(
        "size",
        "rows of each of the two groups",
        "d",
        log=True,
        domain=(0.8 * sizes[0], 1.25 * sizes[-1]),
        ticks=[size for size in sizes if not size & (size - 1)],  # powers of two
    )
    return plotting.lines(
        points, x, Axis("share", "unions that fail", ".0%"), "series", order=order
    )


def _draw_repair(rows: Rows) -> Spec:
    panels = {"ncp": "loss of quasi-identifiers (NCP)", "query_error": "mean error of counts"}
    points = [
        row | {"value": row[field], "panel": said} for field, said in panels.items() for row in rows
    ]
    x, y = Axis("delta", "δ", ",d"), Axis("value", "share", ".1~%", log=True)
    return plotting.lines(points, x, y, "way", order=WAYS, panels="panel")


def _draw_time(rows: Rows) -> Spec:
    x = Axis("size", "rows of the class", "~s", log=True)
    y = Axis("nanoseconds_a_row", "CPU nanoseconds a row", ",~r", log=True)
    return plotting.lines(rows, x, y, "way", order=list(dict.fromkeys(r["way"] for r in rows)))


_RATED = ("example", "values", "delta", "literal", "stab", "epsilon_m")
FIGURES = (
    Figure(
        name="examples",
        title="Figures 1 and 2, Examples 2 and 3: groups of numbers, and how they are rated",
        claim=(
            "Whoever finds Alice in the first class of Figure 1 is sure that her salary is near "
            "500. (ε,m)-anonymity rates {40, 60} with m = 2, and {40, 50, 60} with 1; "
            "(δ,l)-diversity rates the first with l = 1."
        ),
        select=lambda rows: [
            row
            for row in chosen(rows, (*_RATED, "certain"), measured="examples")
            if row["delta"] != 7.5
        ],
        judge=judge_examples,
        note=(
            "`certain` is the share of the class in [490, 510]; `literal`, `stab` and `epsilon_m` "
            "are the l, or m, that a group reaches by (δ,l)-diversity as printed, by its repair "
            "and by (ε,m)-anonymity with ε = δ."
        ),
    ),
    Figure(
        name="drawback",
        title="Section 3.1: a value more, and a lower rating",
        claim=(
            "Unlike (ε,m)-anonymity, (δ,l)-diversity does not rate a group lower because of a "
            "further value in its middle."
        ),
        select=_drawback,
        judge=judge_drawback,
        note=(
            "Two intervals of length 2δ overlap if their centres are at most 2δ apart: as printed "
            "the principle is (2δ,l)-anonymity under another name. `stab` rates both groups by the "
            "fullest interval of length 2δ, wherever its centre is."
        ),
    ),
    Figure(
        name="monotonicity",
        title="Section 4: unions of groups",
        claim="(δ,l)-diversity is monotone: the union of two groups that satisfy it satisfies it.",
        select=_monotonicity,
        judge=judge_monotonicity,
        draw=_draw_monotonicity,
        note=(
            "Whole numbers from 0 to 99 at random, l = 2; groups that satisfy the principle, in "
            "pairs. Of `stab`, which is proven to be monotone, one δ is drawn."
        ),
    ),
    Figure(
        name="repair",
        title="Section 4: releases by plain splitting, as printed and repaired",
        claim=(
            "Algorithms that rely on monotonicity can be used for (δ,l)-diversity as they are: "
            "wherever groups are possible, a splitting may begin with the whole table as one."
        ),
        select=_select(
            "release", "rows", "delta", "l", "way", "whole", "ncp", "query_error", "leaves",
            "groups", "seconds",
        ),
        judge=judge_repair,
        draw=_draw_repair,
        note=(
            "literal(δ) is made by splitting the table as long as parts can be dealt to groups, "
            "and by dealing them; stab by plain splitting. stab(2δ) implies literal(δ). `whole` "
            "tells whether the table as one group satisfies the principle of its line. Counts are "
            "over values that occur, so that errors differ from those of the study of li2008."
        ),
    ),
    Figure(
        name="chain",
        title="Beyond the paper: what implies what",
        claim=(
            "With equal parameters (δ,l)-diversity implies (ε,m)-anonymity. More exactly, stab(2δ) "
            "implies literal(δ), which implies stab(δ), which implies (δ,l)-anonymity."
        ),
        ours=True,
        select=_chain,
        judge=judge_chain,
        note="`implied` counts the groups that satisfy one of the three, for each of them.",
    ),
    Figure(
        name="checking-code",
        title="Figure 3: the code that checks a class",
        claim="The code of Figure 3 tells whether a class satisfies (δ,l)-diversity.",
        select=_select(
            "code", "case", "delta", "l", "classes", "definition", "printed", "misjudged",
            "of_one_row", "misjudged_open",
        ),
        judge=judge_code,
        note=(
            "In our copy both comparisons of ends are <, though intervals are closed; a sign may "
            "have been lost in it, so the second is taken for ≤. `misjudged_open` is with <. "
            "Random classes have one to eight values from 0 to 20."
        ),
    ),
    Figure(
        name="checking-time",
        title="Section 5: time to check a class",
        claim="A class whose values are sorted is checked in time proportional to its rows.",
        select=_select("time", "size", "way", "moves_a_row", "seconds", "nanoseconds_a_row"),
        judge=judge_time,
        draw=_draw_time,
        note=(
            "CPU time. `check` is the whole call: it reads, sorts and counts the values first. As "
            "times depend on the machine, moves of the code of Figure 3 decide: how often it goes "
            f"on by a value. They are proportional if no class has more than {STEADY} times as "
            "many a row as another."
        ),
    ),
)  # fmt: skip
