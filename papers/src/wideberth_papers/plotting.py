"""The pictures of reproductions: lines, bars and maps, as specifications of Vega-Lite.

Series are told apart by colour (of Okabe and Ito), by dashes and by the shape of their marks, so
that a picture can be read in black and white.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import floor, log10
from typing import NamedTuple

from wideberth_papers.study import Row, Rows, Spec

INK, RULE = "#1f2933", "#d5dae0"
#: Colour, dashes and shape of the first series, the second, and so on.
_LOOKS = (
    ("#0072B2", (1, 0), "circle"),
    ("#D55E00", (7, 3), "square"),
    ("#009E73", (2, 2), "triangle-up"),
    ("#555555", (7, 3, 2, 3), "diamond"),
    ("#CC79A7", (4, 2), "cross"),
    ("#E69F00", (9, 2), "triangle-down"),
    ("#56B4E9", (1, 3), "triangle-right"),
    ("#000000", (12, 4), "triangle-left"),
)
WIDTH, HEIGHT = 420, 260
_NOTHING: Spec = {"type": "text", "text": "nothing was measured", "fontSize": 12, "color": INK}
#: Letters of names that fit into one line of the legend.
_LETTERS = 60
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
CONFIG: Spec = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "aria": False,
    "view": {"stroke": RULE},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "gridColor": RULE,
        "gridOpacity": 0.5,
        "labelLimit": 260,
    },
    "header": {"labelFontSize": 12, "labelFontWeight": "bold", "title": None, "labelColor": INK},
    "title": {
        "fontSize": 14,
        "anchor": "start",
        "color": INK,
        "offset": 10,
        "subtitleFontSize": 12,
        "subtitleColor": "#5b6470",
        "subtitlePadding": 5,
    },
}
_LEGEND: Spec = {
    "title": None,
    "orient": "top",
    "direction": "horizontal",
    "labelFontSize": 12,
    "labelLimit": 320,
    "symbolSize": 90,
    "symbolStrokeWidth": 0,  # else dashes would fray the outline of the marks
    "columnPadding": 22,
}


class Axis(NamedTuple):
    """An axis of a picture.

    Parameters
    ----------
    field : str
        The column of the rows.
    title : str
        What is written at the axis, with the unit.
    format : str
        How numbers are written, as d3 says it: ",d", ".0%", "~g".
    log : bool
        Whether it is logarithmic; zero cannot be shown then.
    domain : tuple of float, optional
        Where it begins and ends; by default at zero and above the largest value, on a logarithmic
        axis around the values.
    ticks : sequence of float, optional
        Where numbers are written.
    """

    field: str
    title: str
    format: str = ",~r"
    log: bool = False
    domain: tuple[float, float] | None = None
    ticks: Sequence[float] | None = None

    def spec(self, *, zero: bool) -> Spec:
        """Return it as Vega-Lite knows it."""
        scale: Spec = {"zero": zero and not self.log, "nice": True}
        if self.log:
            scale["type"] = "log"
        if self.domain is not None:
            scale |= {"domain": list(self.domain), "nice": False, "zero": False}
        # Left to itself, d3 finds a precision by which two ticks may be written alike.
        axis: Spec = {"format": re.sub("^(,?)~", r"\1.6~", self.format), "tickCount": 6}
        if self.ticks is not None:
            axis["values"] = list(self.ticks)
        return {
            "field": self.field,
            "type": "quantitative",
            "title": self.title,
            "scale": scale,
            "axis": axis,
        }

    def around(self, rows: Rows) -> Axis:
        """Return the axis with ends for all rows, so that several panels have the same."""
        values = [row[self.field] for row in rows]
        if self.domain is not None or not values:
            return self
        low = _rounded(min(values), up=False) if self.log else 0.0
        return self._replace(domain=(low, _rounded(max(values), up=True)))


def lines(
    rows: Rows,
    x: Axis,
    y: Axis,
    by: str,
    *,
    order: Sequence[str],
    panels: str | None = None,
    limit: tuple[float, str] | None = None,
) -> Spec:
    """Draw a line with marks for each series.

    Parameters
    ----------
    rows : list of dict
        The points; those without a y leave a gap.
    x, y : Axis
        What is drawn against what. All panels have the same y.
    by : str
        The column that names the series.
    order : sequence of str
        All series, in the order of the legend; it gives each its look.
    panels : str, optional
        The column that names the panels, side by side in the order of the rows.
    limit : tuple of float and str, optional
        A y at which a grey line is drawn, and what is written at it: the paper's limit.
    """
    shown = [row for row in rows if row[y.field] is not None]
    level = [] if limit is None else [{y.field: limit[0]}]
    if panels is not None or y.log:
        y = y.around([*shown, *level])
    looks = _looks(shown, by, order)
    parts = _parts(shown, panels) if shown else ()
    return _whole([_panel(part, x, y, looks, limit) | named for part, named in parts])


def bars(rows: Rows, x: str, y: Axis, by: str, *, order: Sequence[str], title_x: str) -> Spec:
    """Draw a group of bars for each x, a bar for each series; see `lines`.

    `x` is the column of names or numbers below the groups, in the order of the rows.
    """
    shown = [row for row in rows if row[y.field] is not None]
    place: Spec = {
        "x": {"field": x, "type": "nominal", "title": title_x, "sort": None,
              "axis": {"labelAngle": 0}},
        "y": y.spec(zero=True),
    }  # fmt: skip
    if len({row[x] for row in shown}) < len(shown):  # else each x has one bar, in the middle
        place["xOffset"] = {"field": by, "sort": list(order)}
    picture: Spec = {
        "data": {"values": shown},
        "width": WIDTH,
        "height": HEIGHT,
        "mark": {"type": "bar"},
        "encoding": {**place, "color": _looks(shown, by, order)["color"]},
    }
    return _whole([picture] if shown else [])


def table_map(
    rows: Rows,
    x: str,
    y: str,
    value: str,
    *,
    title_x: str,
    title_y: str,
    colours: Mapping[str, str],
    text: str,
    panels: str | None = None,
) -> Spec:
    """Draw a map: a cell for each x and y, coloured by a value.

    Parameters
    ----------
    rows : list of dict
        The cells.
    x, y, value : str
        Their columns, of names or numbers, in the order of the rows.
    title_x, title_y : str
        What is written at the axes.
    colours : mapping
        The colour of each value.
    text : str
        The column of what is written in a cell.
    panels : str, optional
        As for `lines`.
    """
    return _whole(
        [
            _map(part, (x, title_x), (y, title_y), value, colours, text) | named
            for part, named in _parts(rows, panels)
        ]
    )


def _map(
    rows: Rows,
    x: tuple[str, str],
    y: tuple[str, str],
    value: str,
    colours: Mapping[str, str],
    text: str,
) -> Spec:
    (across, title_x), (down, title_y) = x, y
    xs, ys = (list(dict.fromkeys(row[name] for row in rows)) for name in (across, down))
    place: Spec = {
        "x": {"field": across, "type": "nominal", "sort": xs, "title": title_x,
              "axis": {"labelAngle": 0}},
        "y": {"field": down, "type": "nominal", "sort": ys, "title": title_y},
    }  # fmt: skip
    paint: Spec = {
        "field": value,
        "type": "nominal",
        "scale": {"domain": list(colours), "range": list(colours.values())},
        "legend": _LEGEND,
    }
    dark = [name for name, colour in colours.items() if _is_dark(colour)]
    on_dark = {"test": f"indexof({dark!r}, datum[{value!r}]) >= 0", "value": "white"}
    written: Spec = {
        "text": {"field": text, "type": "nominal"},
        "color": {"condition": on_dark, "value": INK},
    }
    return {
        "data": {"values": rows},
        "width": max(46 * len(xs), 120),
        "height": max(26 * len(ys), 60),
        "layer": [
            {"mark": {"type": "rect", "stroke": "white"}, "encoding": {**place, "color": paint}},
            {"mark": {"type": "text", "fontSize": 11}, "encoding": {**place, **written}},
        ],
    }


def _parts(rows: Rows, panels: str | None) -> Iterator[tuple[Rows, Spec]]:
    """Yield the rows of each panel, and its title; all rows if there are no panels."""
    if panels is None:
        yield rows, {}
        return
    for name in dict.fromkeys(row[panels] for row in rows):
        yield [row for row in rows if row[panels] == name], {"title": str(name)}


def _panel(rows: Rows, x: Axis, y: Axis, looks: Spec, limit: tuple[float, str] | None) -> Spec:
    place = {"x": x.spec(zero=False), "y": y.spec(zero=True)}
    color, dash, shape = (looks[part] for part in ("color", "strokeDash", "shape"))
    layers: list[Spec] = [
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 1.8},
            "encoding": {**place, "color": color, "strokeDash": dash},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
            "encoding": {**place, "color": color, "shape": shape},
        },
    ]
    if limit is not None and rows:
        level, text = limit
        side = _freer_side(rows, x.field, y.field, level)
        mark = [{x.field: side(row[x.field] for row in rows), y.field: level}]
        align = "left" if side is min else "right"
        rule: Spec = {
            "data": {"values": mark},
            "mark": {"type": "rule", "strokeDash": [3, 3], "color": "#8a8f98"},
            "encoding": {"y": place["y"]},
        }
        label: Spec = {
            "data": {"values": mark},
            "mark": {"type": "text", "align": align, "dx": 4 if side is min else -4, "dy": -7,
                     "fontSize": 11, "text": text, "color": "#5b6470"},
            "encoding": place,
        }  # fmt: skip
        layers = [rule, *layers, label]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _freer_side(rows: Sequence[Row], x: str, y: str, level: float) -> Callable[..., float]:
    """Tell on which side a text at a level is farther from the lines: `min` or `max` of x."""

    def room(side: Callable[..., float]) -> float:
        end = side(row[x] for row in rows)
        return min(abs(row[y] - level) / (row[y] + level or 1) for row in rows if row[x] == end)

    return max((max, min), key=room)


def _looks(rows: Rows, by: str, order: Sequence[str]) -> Spec:
    """Let colour, dashes and shape of a series depend on its name; those without rows are out."""
    present = {row[by] for row in rows}
    names = [name for name in order if name in present]
    columns = 4 if sum(map(len, names)) < _LETTERS else 2
    channels = ("color", "strokeDash", "shape")
    return {
        channel: {
            "field": by,
            "type": "nominal",
            "scale": {
                "domain": names,
                "range": [_LOOKS[order.index(name) % len(_LOOKS)][part] for name in names],
            },
            "legend": {**_LEGEND, "columns": columns},
        }
        for part, channel in enumerate(channels)
    }


def _rounded(value: float, *, up: bool) -> float:
    """Return the nearest 1, 2 or 5 times a power of ten that is not below, or not above.

    >>> _rounded(0.13, up=True), _rounded(64, up=False), _rounded(0, up=True)
    (0.2, 50.0, 1.0)
    """
    if value <= 0:
        return 1.0
    power = floor(log10(value))
    steps = [float(f"{digit}e{power}") for digit in (1, 2, 5, 10)]
    return next(s for s in steps if s >= value) if up else max(s for s in steps if s <= value)


def _is_dark(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.3 * red + 0.6 * green + 0.1 * blue < 140


def _whole(pictures: list[Spec]) -> Spec:
    """Put panels side by side, at most two in a row; say so if there are none."""
    if not pictures:
        pictures = [{"data": {"values": [{}]}, "width": WIDTH, "height": 60, "mark": _NOTHING}]
    return {
        "$schema": _SCHEMA,
        "background": "white",
        "padding": 12,
        "config": CONFIG,
        "concat": pictures,
        "columns": 2,
        "spacing": {"row": 28, "column": 36},
    }
