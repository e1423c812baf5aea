"""Several runs of one table side by side: what each lost, against the risk it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from wideberth.core.text import as_risk, percent
from wideberth.reports.chart_style import AFTER, INK, WIDTH, Chart, Spec, picture

_HEIGHT = 260
_LONGEST = 30  # letters of a name that are written beside its point
_LETTER, _LINE = 6.4, 15  # how much room a letter and a line take, in pixels


def compared(runs: Iterable[Mapping[str, Any]], *, name: str = "compared") -> Chart:
    """Draw the loss of each run against its worst chance to guess.

    >>> chart = compared([{"name": "run 1", "loss": 0.02, "risk": 0.25}])
    >>> chart.columns
    ('run', 'detail lost (NCP)', 'worst chance to guess, group known or not')
    """
    # Each run has a "name", a "loss" (NCP, a share) and a "risk" (a chance). One that lacks either
    # stands in the table only.
    runs = list(runs)
    known = [run for run in runs if run["loss"] is not None and run["risk"] is not None]
    right = max([run["loss"] for run in known], default=0) * 1.15 or 1
    top = min(max([run["risk"] for run in known], default=0) * 1.15 or 1, 1.05)
    frame = {"type": "quantitative"}
    place = {
        "x": {
            **frame,
            "field": "loss",
            "title": "detail lost (NCP)",
            "scale": {"domain": [0, right], "nice": False},
            "axis": {"format": "~%", "tickCount": 5, "grid": False},
        },
        "y": {
            **frame,
            "field": "risk",
            "title": "worst chance to guess",
            "scale": {"domain": [0, top], "nice": False},
            "axis": {"format": "~%", "tickCount": 5},
        },
    }
    points = [{**run, "text": _short(run["name"])} for run in known]
    data = {"values": _written(points, right, top)}
    write = {key: {"expr": f"datum.{key}"} for key in ("align", "dx", "dy")}
    layers: list[Spec] = [
        {
            "data": data,
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1, "color": AFTER},
            "encoding": place,
        },
        {
            "data": data,
            "mark": {"type": "text", "baseline": "middle", "fontSize": 12, "color": INK, **write},
            "encoding": {**place, "text": {"field": "text"}},
        },
    ]
    return Chart(
        name=name,
        title="Risk against loss",
        text="A point for each run: further left more detail is kept, further down less can be "
        "guessed, whether or not the group is known.",
        columns=("run", "detail lost (NCP)", "worst chance to guess, group known or not"),
        rows=[(run["name"], percent(run["loss"]), as_risk(run["risk"])) for run in runs],
        spec=picture(layers, height=_HEIGHT),
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _written(points: list[Spec], right: float, top: float) -> list[Spec]:
    """Place the text of each point so that no text covers another or a point."""
    wide, high = WIDTH - 70, _HEIGHT - 50  # of what is left between the axes
    places = [(p["loss"] / right * wide, high - p["risk"] / top * high) for p in points]
    taken = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    for point, (x, y) in zip(points, places, strict=True):
        long = _LETTER * len(point["text"])
        tried = []
        for dy, dx in product((0, -_LINE, _LINE, -2 * _LINE, 2 * _LINE), (9, -9)):
            begin = x + dx - (long if dx < 0 else 0)
            box = (begin, y + dy - _LINE / 2, begin + long, y + dy + _LINE / 2)
            outside = max(0, -box[0]) + max(0, box[2] - wide) + max(0, -box[1])
            tried.append((outside + sum(_shared(box, other) for other in taken), dx, dy, box))
        _, dx, dy, box = min(tried, key=lambda place: place[0])
        taken.append(box)
        point.update(align="left" if dx > 0 else "right", dx=dx, dy=dy)
    return points


def _shared(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return how much two boxes overlap."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0) * max(high, 0)
