"""The picture of ``benchmarks.wang2013``: Figures 2 to 7 of the paper, as panels of Vega-Lite."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import vl_convert

from wideberth import tables

#: What came of one way in one setting: n, l, the name of the way, and a number for each measure.
Point = dict[str, Any]
#: A part of a Vega-Lite specification.
Spec = dict[str, Any]

#: Colour (of Okabe and Ito), dashes, shape and size of the line of each way. Lines that coincide
#: are told apart by marks inside each other.
LOOKS = {
    "l-diversity, mbf": ("#0072B2", (1, 0), "circle", 190),
    "(l,1)-diversity, mbf": ("#D55E00", (7, 3), "square", 90),
    "l-diversity, optimal": ("#56B4E9", (2, 2), "triangle-up", 50),
    "(l,1)-diversity, optimal": ("#000000", (7, 3, 2, 3), "cross", 36),
}
#: The axes of n and l: a title, a margin on both sides, and what is written at a tick.
AXES = {
    "n": ("rows n, thousands", 1500, "datum.value / 1000"),
    "l": ("l", 0.25, "datum.value"),
}
LINE = {"type": "line", "strokeWidth": 1.6}
MARK = {"type": "point", "filled": False, "strokeWidth": 1.6, "opacity": 1}
GREY = {"type": "line", "color": "#8C8C8C", "strokeWidth": 1.2}
LABEL = {"type": "text", "align": "right", "fontSize": 11, "color": "#555555"}
CONFIG = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": "#C8C8C8"},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": "#EEEEEE",
    },
    "title": {
        "fontSize": 13,
        "anchor": "start",
        "fontWeight": "bold",
        "offset": 8,
        "frame": "group",
    },
    "aria": False,
}
LEGEND = {
    "title": None,
    "orient": "top",
    "direction": "horizontal",
    "columns": 4,
    "labelFontSize": 12,
    "labelLimit": 300,
    "symbolSize": 90,
    "symbolStrokeWidth": 1.6,
    "columnPadding": 22,
    "offset": 10,
}


class Measure(NamedTuple):
    """What a row of panels shows.

    Parameters
    ----------
    title : str
        The title of the axis; captions have it up to the comma.
    name : str
        The number of a point that is drawn.
    extent : tuple of float
        Where the axis begins and ends.
    grey : dict
        Other numbers of a point, drawn as grey lines, and their labels.
    """

    title: str
    name: str
    extent: tuple[float, float]
    grey: dict[str, str]


def draw(points: Sequence[Point], shared: dict[str, int], name: str, folder: Path) -> None:
    """Write wang2013.svg: one row a measure, over n and over l, in the paper's order.

    Parameters
    ----------
    points : sequence of dict
        A point for each setting and way.
    shared : dict
        The n that all points over l have, and the l that all points over n have.
    name : str
        What the table is called.
    folder : Path
        Where the picture goes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "wang2013.svg"
    text = vl_convert.vegalite_to_svg(picture(points, shared, name))
    tables.write_text(text, target, force=True)
    print(f"\nwrote {target.name}")


def picture(points: Sequence[Point], shared: dict[str, int], name: str) -> Spec:
    """Return the six figures as a Vega-Lite specification."""
    slowest = max(point["time"] for point in points)
    readings = {
        "full integral, suppressed rows count 1": "with 1 for each suppressed row",
        "true point, kept rows": "true point only",
    }
    measures = [
        Measure("information loss IL(T), thousands", "full integral, kept rows", (0, 30), readings),
        Measure("DOT, % of the most possible", "diversity", (89, 101), {}),
        Measure("time to make groups, CPU ms", "time", (0, 5 * (1 + slowest // 5)), {}),
    ]
    panels: list[Spec] = []
    for measure in measures:
        for along, held in (("n", "l"), ("l", "n")):
            shown = [point for point in points if point[held] == shared[held]]
            layers = panel(sorted(shown, key=itemgetter(along)), along, measure)
            what = f"{measure.title.split(',')[0]} over {along}, {held} = {shared[held]:,}"
            caption = f"Figure {2 + len(panels)}: {what}"
            panels.append({"title": caption, "width": 380, "height": 210, "layer": layers})
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        "title": {
            "text": f"{name}: l-diversity and (l,1)-diversity of education by anatomy",
            "subtitle": "The experiment of Wang et al. 2013. Where marks lie inside each other, "
            "the figures are equal.",
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "subtitlePadding": 6,
            "offset": 12,
        },
        "concat": panels,
        "columns": 2,
        "spacing": {"row": 26, "column": 34},
        "config": CONFIG,
    }


def panel(points: Sequence[Point], along: str, measure: Measure) -> list[Spec]:
    """Return the layers of one figure, grey lines first; points are in the order of the x axis."""
    x = axis_x(along, [point[along] for point in points])
    place = {"x": x, "y": axis_y(measure, measure.name)}
    end = [point for point in points if point[along] == points[-1][along]]
    highest = max(point[measure.name] for point in end)
    layers = []
    for name, label in measure.grey.items():
        there = {"x": x, "y": axis_y(measure, name)}
        text = {**LABEL, "text": label, "dy": -12 if end[0][name] > highest else 38}
        layers.append(layer(points, GREY, {**there, "detail": {"field": "way"}}))
        layers.append(layer(end[:1], text, there))
    color, dashes, shape, size = map(styled, range(4))
    marked = {"color": color, "shape": shape, "size": {**size, "legend": None}}
    layers.append(layer(points, LINE, {**place, "color": color, "strokeDash": dashes}))
    layers.append(layer(points, MARK, {**place, **marked}))
    return layers


def layer(points: Sequence[Point], mark: Spec, encoding: Spec) -> Spec:
    """Return points with their mark and what it depends on."""
    return {"data": {"values": points}, "mark": mark, "encoding": encoding}


def axis_x(along: str, values: Sequence[int]) -> Spec:
    """Return the axis of n or of l, with a tick at each value."""
    title, margin, label = AXES[along]
    return {
        "field": along,
        "type": "quantitative",
        "title": title,
        "scale": {"domain": [values[0] - margin, values[-1] + margin], "nice": False},
        "axis": {"values": sorted(set(values)), "labelExpr": label, "grid": False},
    }


def axis_y(measure: Measure, name: str) -> Spec:
    """Return the axis of a measure, for one of its numbers."""
    return {
        "field": name,
        "type": "quantitative",
        "title": measure.title,
        "scale": {"domain": measure.extent, "zero": False, "nice": False},
        "axis": {"tickCount": 6},
    }


def styled(part: int) -> Spec:
    """Let one part of the look of a line depend on its way."""
    scale = {"domain": list(LOOKS), "range": [look[part] for look in LOOKS.values()]}
    return {"field": "way", "type": "nominal", "scale": scale, "legend": LEGEND}
