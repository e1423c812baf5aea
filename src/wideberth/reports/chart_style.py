"""What all pictures of a report share: how they look, how they are drawn, what is told besides.

A chart is a title, a sentence that says what it shows, its specification (Vega-Lite, a plain
dict), and its data as a table, for those who cannot see it. Nothing is told by colour alone: what
is compared differs in shape or pattern as well, and bars carry their numbers. Drawing needs no
network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

Spec = dict[str, Any]

#: Ink of texts, lines of axes, and two colours (of Okabe and Ito, darkened) that differ in
#: lightness as well. The page's style sheet knows them by these names: see report.css.
INK, RULE, AFTER, BEFORE = "#1f2933", "#c3cad1", "#0b5c8f", "#b45309"
#: The colour and the shape of what cannot be.
REFUSED = "#9b1c1c"
CROSS = "M0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0L-1,-.7L-.7,-1Z"
WIDTH = 470  # of a picture, so that it can still be read on a telephone
_NAMES = "names"  # the parameter of a picture that holds the names of its rows
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
_CONFIG: Spec = {
    "font": _FONT,
    "aria": False,
    "view": {"stroke": None},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelColor": INK,
        "titleColor": INK,
        "domainColor": RULE,
        "tickColor": RULE,
        "gridColor": RULE,
        "gridOpacity": 0.6,
        "labelLimit": 190,
    },
    "legend": {
        "labelFontSize": 12,
        "labelColor": INK,
        "labelLimit": 300,
        "title": None,
        "orient": "top",
        "symbolSize": 90,
        "columnPadding": 28,
    },
}


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A picture, with what it shows in words and in numbers."""

    name: str  # of letters and hyphens; no other chart of a page has it
    title: str  # what it shows, in a few words; `text` is a sentence
    text: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]  # the data as a table, with `columns` as its heads
    spec: Spec

    def to_dict(self) -> Spec:
        """Return plain values, for JSON: all but the picture itself, which the spec tells."""
        return {
            "name": self.name,
            "title": self.title,
            "text": self.text,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
            "spec": self.spec,
        }

    def svg(self) -> str:
        """Draw it, with its title and text for those who hear it read."""
        import vl_convert  # takes a while to load

        full = {"$schema": "https://vega.github.io/schema/vega-lite/v5.json", **self.spec}
        drawn = vl_convert.vegalite_to_svg(_drawable(full))
        size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn)
        inner = drawn[drawn.index(">", drawn.index("<svg")) + 1 :]
        wide, high = size.groups() if size else (str(WIDTH), "300")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" '
            f'height="{high}" role="img" aria-labelledby="{self.name}-title {self.name}-text">'
            f'<title id="{self.name}-title">{escape(self.title)}</title>'
            f'<desc id="{self.name}-text">{escape(self.text)}</desc>{_own_ids(inner, self.name)}'
        )


#: What no picture can hold: control characters, halves of pairs, and what is no character.
_UNDRAWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def _drawable(part: Any) -> Any:
    """Replace what would end the program that draws, such as a bell in a column's name."""
    if isinstance(part, str):
        return _UNDRAWABLE.sub("\ufffd", part)
    if isinstance(part, dict):
        return {key: _drawable(value) for key, value in part.items()}
    return [_drawable(value) for value in part] if isinstance(part, list) else part


def _own_ids(svg: str, name: str) -> str:
    """Make ids different from those of other pictures on the page; drop what is said twice."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    return re.sub(r' (?:aria-[a-z]+|role)="[^"]*"', "", svg)


def distinguish(names: list[str]) -> Spec:
    """Assign a colour and a shape to each of two names."""
    domain = {"domain": names}
    named = {"field": "who", "type": "nominal", "title": None}
    return {
        "color": {**named, "scale": {**domain, "range": [AFTER, BEFORE][: len(names)]}},
        "shape": {**named, "scale": {**domain, "range": ["circle", "diamond"][: len(names)]}},
    }


def bars(
    data: Iterable[Spec],
    field: str,
    order: list[str],
    by: str,
    names: list[str],
    *,
    title: str,
    domain: float | None,
    share: bool | None = None,
) -> Spec:
    """Draw bars that lie, each with its number; of two kinds, the first is pale and outlined."""
    data, rows = row_axis(data, field, order)
    two = len(names) > 1
    share = domain is not None if share is None else share
    top = domain or max([bar["share"] for bar in data] or [1]) or 1
    left, right = text_width(order), text_width(bar["label"] for bar in data)
    wide = WIDTH - left
    scale = {"domain": [0, top * wide / (wide - right)], "nice": False}
    ticks = {"values": [0, 0.25, 0.5, 0.75, 1]} if domain else {"tickCount": 4, "tickMinStep": 1}
    if share and not domain:
        del ticks["tickMinStep"]
    place: Spec = {
        "y": {**rows, "scale": {"paddingInner": 0.22, "paddingOuter": 0.1},
              "axis": {**rows["axis"], "domain": False, "ticks": False, "labelPadding": 6,
                       "minExtent": left}},
        "x": {"field": "share", "type": "quantitative", "title": title, "scale": scale,
              "axis": {"format": "~%" if share else ",d", **ticks}},
    }  # fmt: skip
    if two:
        place["yOffset"] = {"field": by, "sort": names}
    colours = {"before": BEFORE, "after": AFTER}
    range_ = [colours.get(name, AFTER) for name in names]
    coloured: Spec = {
        "color": {
            "field": by,
            "type": "nominal",
            "title": None,
            "scale": {"domain": names, "range": range_},
            "legend": None,
        }
    }
    if two:  # before is pale with an outline, after is solid: also without colours
        coloured["fillOpacity"] = {
            "condition": {"test": f"datum.{by} == 'before'", "value": 0.25},
            "value": 1,
        }
    labels = {"type": "text", "align": "left", "dx": 5, "fontSize": 11.5, "color": INK}
    layers = [
        {
            "data": {"values": data},
            "mark": {"type": "bar", "strokeWidth": 1.5},
            "encoding": {**place, **coloured, "stroke": {**coloured["color"], "legend": None}},
        },
        {
            "data": {"values": data},
            "mark": labels,
            "encoding": {**place, "text": {"field": "label"}},
        },
    ]
    return chart_spec(layers, height=45 + (40 if two else 25) * len(order), rows=order)


def row_axis(data: Iterable[Spec], field: str, order: list[str]) -> tuple[list[Spec], Spec]:
    """Number the rows of a picture, and return the axis that writes a name beside each."""
    # Vega keeps names as keys of objects and puts them into expressions, where it takes
    # `constructor` for what every object has. Numbers are safe; names are values of a parameter.
    places = {name: place for place, name in enumerate(order)}
    axis = {
        "field": field,
        "type": "ordinal",
        "title": None,
        "axis": {"labelExpr": f"{_NAMES}[datum.value]"},
    }
    return [{**entry, field: places[entry[field]]} for entry in data], axis


def text_width(texts: Iterable[str]) -> int:
    """Return how wide texts may get. Which font a reader has is not known: take a wide one."""
    return 12 + round(7.4 * max((len(text) for text in texts), default=0))


def chart_spec(layers: list[Spec], *, height: int, rows: Sequence[str] = ()) -> Spec:
    """Return a whole specification: layers in a frame of a fixed size, without a background."""
    # rows: the names that `row_axis` numbered.
    named = {"params": [{"name": _NAMES, "value": list(rows)}]} if rows else {}
    return {
        **named,
        "width": WIDTH,
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "background": None,
        "padding": 4,
        "layer": layers,
        "config": _CONFIG,
    }
