"""Pictures of a lattice: which nodes are admissible, minimal, best.

A small lattice is drawn node by node, as a Hasse diagram; of a large one, how many nodes of each
kind there are on each height.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from wideberth import io
from wideberth.algorithms.lattice.problem import LatticeNode
from wideberth.core.exact import Bools, Ints
from wideberth.core.progress import Progress
from wideberth.errors import OutputError, ParameterError, what_to_type
from wideberth.principles.base import rows_in_words
from wideberth.release.lattice import Lattice

#: Up to so many nodes are drawn one by one.
DRAWN = 150
#: Up to so many nodes are checked for a picture.
CHECKED = 20_000
DRAWING_SUFFIXES = (".svg", ".png")

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_BEST, _MINIMAL, _ADMISSIBLE, _NOT = "best", "minimal", "admissible", "not admissible"
#: Okabe and Ito's colours, which the colour-blind tell apart, from the best to the rest; and the
#: colour of text upon each.
_COLOURS = {
    _BEST: ("#E69F00", "#000000"),
    _MINIMAL: ("#0072B2", "#FFFFFF"),
    _ADMISSIBLE: ("#9AD0F5", "#000000"),
    _NOT: ("#E4E4E4", "#555555"),
}
_FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
#: In pixels: a letter of a label, a node's margin and height, the way to the next row of nodes.
_LETTER, _MARGIN, _TALL, _ROW = 6.2, 16, 22, 64


def check_drawing_target(
    path: str | Path, *, force: bool, sources: Iterable[str | Path] = ()
) -> None:
    """Raise now what drawing would raise later; see `wideberth.io.check_target`."""
    if Path(path).suffix.lower() not in DRAWING_SUFFIXES:
        raise OutputError(
            f"{path} has an unknown suffix '{Path(path).suffix}'", hint="name an .svg or .png file"
        )
    io.check_target(path, force=force, sources=sources)


def draw(
    result: Lattice, path: str | Path, *, force: bool = False, progress: Progress | None = None
) -> None:
    """Draw a lattice into a file, all of it or nothing."""
    import vl_convert

    check_drawing_target(path, force=force)
    spec = lattice_spec(result, progress)
    if Path(path).suffix.lower() == ".svg":
        content = vl_convert.vegalite_to_svg(spec).encode()
    else:
        content = vl_convert.vegalite_to_png(spec, scale=2)
    with io.drafts(path, force=force) as (draft,):
        draft.write_bytes(content)


def lattice_spec(result: Lattice, progress: Progress | None = None) -> dict[str, Any]:
    """Return the picture of a lattice as a Vega-Lite specification."""
    kinds = _kinds(result, progress)
    return _diagram(result, kinds) if result.nodes <= DRAWN else _bars(result, kinds)


def _kinds(result: Lattice, progress: Progress | None) -> Any:
    """Return the kind of each node, but for the best one: that is of another kind as well."""
    admissible = _admissible(result, progress)
    kinds = np.where(admissible, _ADMISSIBLE, _NOT).astype(object)
    kinds[admissible & ~_above_another(admissible)] = _MINIMAL
    return kinds


def _admissible(result: Lattice, progress: Progress | None) -> Bools:
    """Return which nodes are admissible: from the minimal ones if these tell, else by checks."""
    shape, ground = result.ground.shape, result.ground
    known = np.zeros(shape.dims, dtype=bool)
    if shape.nodes > DRAWN and ground.monotone and result.complete:
        for node in result.found_minimal or ():
            known[shape.above(node)] = True
        return known
    if shape.nodes > CHECKED:
        raise ParameterError(
            f"the lattice has {shape.nodes:,} nodes, too many for a picture",
            hint=what_to_type(
                python='fewer levels (levels={"age": [1, 2]})',
                command="fewer levels (--level age=1-2)",
            )
            + ", or no suppression where principles are monotone",
        )
    for done, node in enumerate(np.ndindex(*shape.dims)):
        known[node] = ground.admits(result.verdict(node))
        if progress is not None:
            progress("drawing", done + 1, shape.nodes)
    return known


def _above_another(admissible: Bools) -> Bools:
    """Return which nodes have a finer admissible one."""
    here_or_finer = admissible.copy()
    for axis in range(admissible.ndim):
        np.logical_or.accumulate(here_or_finer, axis=axis, out=here_or_finer)
    above = np.zeros_like(admissible)
    for axis in range(admissible.ndim):
        coarser = [slice(None)] * admissible.ndim
        finer = list(coarser)
        coarser[axis], finer[axis] = slice(1, None), slice(None, -1)
        above[tuple(coarser)] |= here_or_finer[tuple(finer)]
    return above


def _heights(result: Lattice) -> Ints:
    """Return the sum of the levels of each node."""
    return result.ground.shape.heights + sum(x.levels[0] for x in result.ground.quasi_levels)


def _diagram(result: Lattice, kinds: Any) -> dict[str, Any]:
    """Draw every node, the finest at the bottom, and lines between neighbours."""
    kinds = kinds.copy()
    if result.found.node is not None:
        kinds[result.found.node] = _BEST
    heights = _heights(result)
    places = _places(heights)
    nodes = [
        {
            "x": place,
            "height": int(heights[node]),
            "kind": kinds[node],
            "label": _label(result, node),
        }
        for node, place in places.items()
    ]
    wide = max(len(entry["label"]) for entry in nodes) * _LETTER + _MARGIN
    most = max(places.values()) * 2 + 1
    row = max(_ROW, 4 * most)  # the flatter lines are, the harder they are to follow
    space = {"width": max(most * (wide + 14), 260), "height": row * len(set(heights.flat))}
    x = {"type": "quantitative", "axis": None, "scale": {"domain": [-most / 2, most / 2]}}
    y = _by_height(heights)
    edges = {
        "data": {"values": _edges(heights, places)},
        "mark": {"type": "rule", "color": "#B5B5B5", "strokeWidth": 1},
        "encoding": {
            "x": {**x, "field": "x"},
            "x2": {"field": "x2"},
            "y": {**y, "field": "height"},
            "y2": {"field": "height2"},
        },
    }
    place = {"x": {**x, "field": "x"}, "y": {**y, "field": "height"}}
    boxes = {
        "data": {"values": nodes},
        "mark": {
            "type": "point",
            "shape": _box(_TALL / wide),
            "size": wide**2,
            "opacity": 1,
            "stroke": "#8A8A8A",
            "strokeWidth": 1,
        },
        "encoding": {**place, "fill": _legend(kinds)},
    }
    labels = {
        "data": {"values": nodes},
        "mark": {"type": "text", "fontSize": 11, "baseline": "middle"},
        "encoding": {
            **place,
            "text": {"field": "label"},
            "color": _scale("kind", 1, legend=None),
        },
    }
    names = ", ".join(quasi_level.name for quasi_level in result.ground.quasi_levels)
    return _framed(result, f"Each box: the levels of {names}", space, [edges, boxes, labels])


def _places(heights: Ints) -> dict[LatticeNode, float]:
    """Return where each node lies in its row, which is centred."""
    rows: dict[int, list[LatticeNode]] = {}
    for node in np.ndindex(*heights.shape):
        rows.setdefault(int(heights[node]), []).append(node)
    return {
        node: place - (len(row) - 1) / 2
        for row in rows.values()
        for place, node in enumerate(sorted(row, reverse=True))
    }


def _edges(heights: Ints, places: dict[LatticeNode, float]) -> list[dict[str, float]]:
    """Return a line from each node to those one level up."""
    edges = []
    for node, place in places.items():
        for axis, level in enumerate(node):
            above = (*node[:axis], level + 1, *node[axis + 1 :])
            if above in places:
                here = int(heights[node])
                edges.append({"x": place, "height": here, "x2": places[above], "height2": here + 1})
    return edges


def _label(result: Lattice, node: LatticeNode) -> str:
    levels = (
        quasi_level.levels[r]
        for quasi_level, r in zip(result.ground.quasi_levels, node, strict=True)
    )
    return ",".join(map(str, levels))


def _box(tall: float) -> str:
    """Return a box of width 2 with round ends, as Vega wants it."""
    a, b = 1 - tall, tall
    return f"M{-a},{-b}H{a}A{b},{b},0,0,1,{a},{b}H{-a}A{b},{b},0,0,1,{-a},{-b}Z"


def _bars(result: Lattice, kinds: Any) -> dict[str, Any]:
    """Draw a bar for each height: how many nodes of each kind it has."""
    heights = _heights(result)
    order = [kind for kind in _COLOURS if kind != _BEST]
    values = [
        {"height": int(height), "kind": kind, "order": place, "nodes": count}
        for height in np.unique(heights)
        for place, kind in enumerate(order)
        if (count := int((kinds[heights == height] == kind).sum()))
    ]
    y = {"field": "height", "type": "ordinal", "sort": "descending", **_axis()}
    bars = {
        "data": {"values": values},
        "mark": {"type": "bar", "stroke": "white", "strokeWidth": 0.5},
        "encoding": {
            "x": {
                "field": "nodes",
                "type": "quantitative",
                "title": "nodes",
                "axis": {"gridColor": "#EEEEEE", "tickMinStep": 1, "tickCount": 6, "format": ",d"},
            },
            "y": y,
            "order": {"field": "order"},
            "fill": _legend(kinds),
        },
    }
    mark = {
        "data": {"values": [_longest(heights, result.found.node)]},
        "mark": {"type": "text", "align": "left", "dx": 6, "fontWeight": "bold", "fontSize": 12},
        "encoding": {
            "x": {"field": "nodes", "type": "quantitative"},
            "y": y,
            "text": {"value": _BEST if result.proven else "best so far"},
        },
    }
    space = {"width": 520, "height": {"step": 26}}
    return _framed(result, "Nodes on each height", space, [bars, mark])


def _longest(heights: Ints, node: LatticeNode | None) -> dict[str, int]:
    """Return the end of the bar that a node is in."""
    height = int(heights[node]) if node is not None else int(heights.max())
    return {"height": height, "nodes": int((heights == height).sum())}


def _by_height(heights: Ints) -> dict[str, Any]:
    """Return the axis of heights: the finest nodes are at the bottom."""
    low, high = int(heights.min()), int(heights.max())
    return {
        "type": "quantitative",
        "scale": {"domain": [low - 0.5, high + 0.5]},
        **_axis(values=list(range(low, high + 1)), format="d"),
    }


def _axis(**more: Any) -> dict[str, Any]:
    """Return a title and labels without any lines."""
    lines = {"grid": False, "domain": False, "ticks": False, "labelPadding": 8}
    return {"title": "height (sum of the levels)", "axis": {**lines, **more}}


def _scale(field: str, which: int, **more: Any) -> dict[str, Any]:
    """Return colours by kind: of nodes, or of text upon them."""
    return {
        "field": field,
        "type": "nominal",
        "scale": {
            "domain": list(_COLOURS),
            "range": [colours[which] for colours in _COLOURS.values()],
        },
        **more,
    }


def _legend(kinds: Any) -> dict[str, Any]:
    """Return the colours of nodes, with a legend of those that occur."""
    there = [kind for kind in _COLOURS if (kinds == kind).any()]
    legend = {
        "title": None,
        "orient": "bottom",
        "values": there,
        "symbolType": "square",
        "symbolSize": 160,
        "symbolStrokeWidth": 0.5,
        "symbolStrokeColor": "#7A7A7A",
        "labelFontSize": 12,
        "columnPadding": 20,
    }
    return _scale("kind", 0, legend=legend)


def _framed(
    result: Lattice, what: str, space: dict[str, Any], layers: list[dict[str, Any]]
) -> dict[str, Any]:
    """Put layers into one picture, and say above it what it is about."""
    best = result.best[0]
    levels = ", ".join(f"{name} {level}" for name, level in best.levels.items())
    certain = "best" if result.proven else "best so far"
    limit = result.ground.limit
    lines = [
        f"{what}; {rows_in_words(result.ground.rows)}, at most {limit:,} suppressed",
        *_wrapped(result.principles),
        f"{certain} by {result.measure}: {levels}",
    ]
    return {
        "$schema": _SCHEMA,
        "background": "white",
        "padding": 16,
        "title": {
            "text": f"Generalization lattice of {result.nodes:,} nodes",
            "subtitle": lines,
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "subtitlePadding": 6,
            "offset": 14,
        },
        **space,
        "layer": layers,
        "config": {
            "font": _FONT,
            "view": {"stroke": None},
            "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
        },
    }


def _wrapped(texts: Iterable[str], width: int = 70) -> list[str]:
    """Join texts by commas, in lines that are not too long.

    >>> _wrapped(["k-anonymity:k=5", "distinct-l:l=2"], width=20)
    ['k-anonymity:k=5,', 'distinct-l:l=2']
    """
    lines: list[str] = []
    for text in texts:
        if lines and len(lines[-1]) + len(text) < width:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
    return [f"{line}," for line, _ in pairwise(lines)] + lines[-1:]
