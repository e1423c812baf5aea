"""Table I of Wang et al. 2009 as a picture: who is near whom in a group, and in a release.

Run by ``python -m benchmarks.wang2009_picture -o docs/figures``: writes wang2009.svg.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import vl_convert

import wideberth as wb
from wideberth import datasets, tables
from wideberth.distances import space
from wideberth.encode import encode, join

DISEASE = ("flu", "asthma", "bronchitis", "none")
EPSILON = Fraction(1, 5)
#: What the groups on the right satisfy: the most that eight rows in groups of four permit.
FAR = wb.Dissimilarity(epsilon=EPSILON, delta=Fraction(2, 3), k=4, on=DISEASE)

#: Colours of Okabe and Ito: of those near each other, and of all others.
NEAR, OTHER = "#D55E00", "#0072B2"
SIZE = 250  # of a panel
CONFIG = {
    "font": "Liberation Sans, Arial, Helvetica, sans-serif",
    "view": {"stroke": "#C8C8C8"},
    "axis": {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "grid": False,
    },
    "aria": False,
}

#: A part of a Vega-Lite specification.
Spec = dict[str, Any]


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wang2009_picture")
    parser.add_argument("-o", "--output", type=Path, required=True, help="the folder it goes to")
    target = parser.parse_args().output / "wang2009.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    tables.write_text(vl_convert.vegalite_to_svg(picture()), target, force=True)
    print(f"wrote {target.name}")


def picture() -> Spec:
    """Return the specification: a group as printed, and the two groups of a release."""
    printed = datasets.wang2009_table1()
    before = printed.filter(group=1)
    after = [group.sort("row") for group in regrouped(printed).partition_by("group")]
    after.sort(key=lambda group: group["row"][0])  # Kevin's comes first
    panels = [panel(before, "as printed: group 1")]
    panels += [panel(group, f"regrouped: group {i}") for i, group in enumerate(after, start=1)]
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        "title": {
            "text": "Kevin is row 1. What does his group tell?",
            "subtitle": "Rows of Table I by two of their four shares. Lines join rows that are at "
            "most 0.2 apart; all four shares count.",
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "subtitlePadding": 6,
            "offset": 14,
        },
        "hconcat": panels,
        "spacing": 26,
        "config": CONFIG,
    }


def regrouped(printed: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the groups of a release; no two of its distributions are equal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wb.PrivacyWarning)  # of the seed, which makes it repeatable
        release = wb.anonymize(
            printed.drop("group"),
            quasi=["age", "zip"],
            sensitive=list(DISEASE),
            identifier="row",
            principles=FAR,
            seed=1,
        )
    return printed.drop("group").join(release.table.select(*DISEASE, "group"), on=list(DISEASE))


def panel(group: pl.DataFrame, name: str) -> Spec:
    """Return a group's rows as points, with lines between those that are near each other."""
    column = join("disease", [encode(group[part]) for part in DISEASE])
    near = space(column.domain, "variational").within(EPSILON).matrix(column.codes)
    most, others = int(near.sum(axis=1).max()) - 1, len(group) - 1
    points = [
        {**row, "close": bool(near[at].sum() - 1 > (1 - FAR.delta) * others)}
        for at, row in enumerate(group.to_dicts())
    ]
    pairs = [(a, b) for a, b in combinations(range(len(group)), 2) if near[a, b]]
    line = {"type": "line", "strokeWidth": 1.8, "color": NEAR if most > 1 else OTHER}
    return {
        "title": {
            "text": name,
            "subtitle": f"near a row: up to {most} of {others} others",
            "anchor": "start",
            "fontSize": 13,
            "subtitleFontSize": 12,
            "offset": 8,
        },
        "width": SIZE,
        "height": SIZE,
        "layer": [*(layer([points[a], points[b]], line) for a, b in pairs), *dots(points)],
    }


def dots(points: Sequence[Spec]) -> list[Spec]:
    """Return the rows: a disc each, with its number."""
    paint = {"condition": {"test": "datum.close", "value": NEAR}, "value": OTHER}
    disc = layer(points, {"type": "circle", "size": 340, "opacity": 1})
    disc["encoding"]["color"] = paint
    number = layer(points, {"type": "text", "color": "white", "fontWeight": "bold", "fontSize": 12})
    number["encoding"]["text"] = {"field": "row"}
    return [disc, number]


def layer(points: Sequence[Spec], mark: Spec) -> Spec:
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


if __name__ == "__main__":
    main()
