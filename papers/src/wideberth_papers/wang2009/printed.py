"""Table I of Wang et al. 2009: what Kevin's group tells, as printed and in a release of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
import polars as pl

from wideberth import datasets
from wideberth.checks.check import claims
from wideberth.core.codes import encode, join_columns
from wideberth.distances import space
from wideberth.principles import Dissimilarity
from wideberth.release.anonymize import anonymize
from wideberth_papers.plotting import CONFIG
from wideberth_papers.study import Row, Rows, Spec, Verdict

DISEASE = ("flu", "asthma", "bronchitis", "none")
#: The paper's ε, and twice that: what lies within ε of any value is within 2ε of each other.
_NEAR, _TWICE = Fraction(1, 10), Fraction(1, 5)
#: What the groups of the release satisfy: the most that eight rows in groups of four permit.
_FAR = Dissimilarity(epsilon=_TWICE, delta=Fraction(2, 3), k=4, on=DISEASE)  # type: ignore[arg-type]
_KEVIN = "as printed: group 1"
#: What the paper says of Kevin's group: a value's probability, the neighbourhood of the second
#: value and its probability; and what its Equation 3 makes of that.
_PRIOR, _AROUND, _SURE, _RISK = Fraction(1, 5), {1, 2, 3, 4}, Fraction(4, 5), Fraction(3, 4)

#: Colours of Okabe and Ito: of those near too many, and of all others.
_CLOSE, _OTHER = "#D55E00", "#0072B2"
_SIZE = 250  # of a panel


# ---- measuring


def measure() -> Iterator[Row]:
    """Yield the rows of Table I, group by group, each with those of its group that are near it."""
    printed = datasets.wang2009_table1()
    for number, group in enumerate(printed.partition_by("group"), start=1):
        yield from _described(group, f"as printed: group {number}")
    release = [group.sort("row") for group in _regrouped(printed).partition_by("group")]
    release.sort(key=lambda group: group["row"][0])  # Kevin's comes first
    for number, group in enumerate(release, start=1):
        yield from _described(group, f"regrouped: group {number}")


def _regrouped(printed: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the groups of a release; no two of its distributions are equal."""
    release = anonymize(
        printed.drop("group"),
        quasi=["age", "zip"],
        sensitive=list(DISEASE),
        identifier="row",
        principles=_FAR,
        seed=1,
    )
    published = pl.DataFrame(release.table).select(*DISEASE, "group")
    return printed.drop("group").join(published, on=list(DISEASE))


def _described(group: pl.DataFrame, panel: str) -> Iterator[Row]:
    column = join_columns("disease", [encode(group[part]) for part in DISEASE])
    apart = space(column.domain, "variational")
    codes = column.codes.astype(np.int64)
    one, two = (apart.within(epsilon).matrix(codes) for epsilon in (_NEAR, _TWICE))
    (surest,) = claims(group, group="group", sensitive=DISEASE, on=DISEASE, epsilon=0.1)
    numbers = group["row"].to_numpy()
    for at, row in enumerate(group.select("row", *DISEASE).to_dicts()):
        yield {
            "measured": "table-1",
            "panel": panel,
            **row,
            "within 0.1": " ".join(map(str, numbers[one[at]].tolist())),
            "within 0.2": " ".join(map(str, numbers[two[at]].tolist())),
            "surest claim": float(surest.confidence),
            "risk": float(surest.risk),
        }


# ---- judging


def judge(rows: Rows) -> Verdict:
    """Compare with what the paper says of Kevin's group."""
    kevins = [row for row in rows if row["panel"] == _KEVIN]
    own = {row["panel"]: row for row in rows if row["panel"].startswith("regrouped")}
    if not kevins or not own:
        return Verdict("not tested here", "Table I was not looked at.")
    around = {row["row"]: set(map(int, row["within 0.1"].split())) for row in kevins}
    size = len(kevins)
    most = max(around, key=lambda row: len(around[row]))
    prior, sure = Fraction(1, size), Fraction(len(around[most]), size)
    risk = Fraction(len(around[most]) - 1, size - 1)
    found = (
        f"with ε = 0.1 rows {' '.join(map(str, sorted(around[most])))} of Kevin's group are near "
        f"row {most}: a claim that holds with {_percent(sure)}, where each value has "
        f"{_percent(prior)}; risk {risk}"
    )
    after = max(row["surest claim"] for row in own.values())
    better = (
        f"In groups of a release with ε = 0.2, δ = 2/3 and k = 4 the surest has {_percent(after)}."
    )
    as_said = (prior, around.get(2), sure, risk) == (_PRIOR, _AROUND, _SURE, _RISK)
    if as_said and {row["surest claim"] for row in kevins} == {float(_SURE)}:
        return Verdict("confirmed", f"As printed, {found}. {better}")
    return Verdict("contradicted", f"The paper has 20 %, 80 % and, by Equation 3, 3/4. {better}",
                   f"{found[0].upper()}{found[1:]}.")  # fmt: skip


def _percent(share: Fraction | float) -> str:
    return f"{100 * float(share):.0f} %"


# ---- drawing


def draw(rows: Rows) -> Spec:
    """Draw Kevin's group as printed, and the groups of the release."""
    names = dict.fromkeys(row["panel"] for row in rows)
    shown = [name for name in names if name == _KEVIN or name.startswith("regrouped")]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        "title": {
            "text": "Kevin is row 1. What does his group tell?",
            "subtitle": [
                "Rows of Table I by two of their four shares. Lines join rows that are at most 0.2 "
                "apart, twice the ε; all four shares count.",
                "Orange: near more of its group than the release permits.",
            ],
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "subtitlePadding": 6,
            "offset": 14,
        },
        "hconcat": [_panel([r for r in rows if r["panel"] == name], name) for name in shown],
        "spacing": 26,
        "config": CONFIG | {"axis": CONFIG["axis"] | {"grid": False}},
    }


def _panel(group: Sequence[Row], name: str) -> Spec:
    """Return a group's rows as points, with lines between those that are near each other."""
    near = {row["row"]: set(map(int, row["within 0.2"].split())) for row in group}
    others = len(group) - 1
    most = max(map(len, near.values())) - 1
    points = [
        {**row, "close": bool(len(near[row["row"]]) - 1 > (1 - _FAR.delta) * others)}
        for row in group
    ]
    line: Spec = {"type": "line", "strokeWidth": 1.8, "color": _CLOSE if most > 1 else _OTHER}
    pairs = [(a, b) for a, b in combinations(points, 2) if b["row"] in near[a["row"]]]
    return {
        "title": {
            "text": name,
            "subtitle": f"near a row: up to {most} of {others} others",
            "anchor": "start",
            "fontSize": 13,
            "subtitleFontSize": 12,
            "offset": 8,
        },
        "width": _SIZE,
        "height": _SIZE,
        "layer": [*(_layer(pair, line) for pair in pairs), *_dots(points)],
    }


def _dots(points: Sequence[Row]) -> list[Spec]:
    """Return the rows: a disc each, with its number."""
    paint = {"condition": {"test": "datum.close", "value": _CLOSE}, "value": _OTHER}
    disc = _layer(points, {"type": "circle", "size": 340, "opacity": 1})
    disc["encoding"]["color"] = paint
    text: Spec = {"type": "text", "color": "white", "fontWeight": "bold", "fontSize": 12}
    number = _layer(points, text)
    number["encoding"]["text"] = {"field": "row"}
    return [disc, number]


def _layer(points: Sequence[Row], mark: Spec) -> Spec:
    """Return points with their mark, at their shares of flu and asthma."""
    place = {
        axis: {
            "field": field,
            "type": "quantitative",
            "title": f"share of {field}",
            "scale": {"domain": [0, 0.9], "nice": False},
            "axis": {"values": [0, 0.2, 0.4, 0.6, 0.8], "format": ".0%"},
        }
        for axis, field in (("x", "flu"), ("y", "asthma"))
    }
    return {"data": {"values": list(points)}, "mark": mark, "encoding": place}
