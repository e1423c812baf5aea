"""The pictures of a report, a function each: people at risk, trade-off, sizes, losses, errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from wideberth.core.text import FEWER_THAN_3, as_risk, count, figure, percent, reach_in_words
from wideberth.reports.chart_style import (
    AFTER,
    BEFORE,
    CROSS,
    INK,
    REFUSED,
    RULE,
    WIDTH,
    Chart,
    Spec,
    bars,
    chart_spec,
    distinguish,
    row_axis,
    text_width,
)
from wideberth.reports.tables import between

# -----------------------------------------------------------------------------
# Several runs of one table side by side: what each lost, against the risk it leaves.


_HEIGHT = 260
_LONGEST = 30  # letters of a name that are written beside its point
_LETTER, _LINE = 6.4, 15  # how much room a letter and a line take, in pixels


def comparison_chart(runs: Iterable[Mapping[str, Any]], *, name: str = "compared") -> Chart:
    """Draw the loss of each run against its worst chance to guess.

    >>> chart = comparison_chart([{"name": "run 1", "loss": 0.02, "risk": 0.25}])
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
        spec=chart_spec(layers, height=_HEIGHT),
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


# -----------------------------------------------------------------------------
# The pictures of a report, a function each: people at risk, trade-off, sizes, losses, errors.


_ADVERSARIES = ("group known", "group not known")
_LEVELS = {"0.5": "50 % or more", "0.75": "75 % or more", "0.9": "90 % or more", "1": "certain"}


def at_risk(
    after: Spec, before: Spec | None, *, name: str, title: str, what: str, of: str = "people"
) -> Chart:
    """Compare how many people can be told with a chance of at least one half, and so on."""
    given = [("before", before), ("after", after)] if before else [("after", after)]
    drawn, rows = [], []
    for key, level in _LEVELS.items():
        cells = [level]
        for when, risk in given:
            people = (risk or {})["above"].get(key, 0)
            shares = 1.5 if people == FEWER_THAN_3 else people
            total = max((risk or {})["people"], 1)
            label = count(people)
            if people and people != FEWER_THAN_3:
                label += f" ({percent(people / total)})"
            cells.append(label)
            label = f"{when}: {label}" if before else label
            drawn.append({"level": level, "when": when, "share": shares / total, "label": label})
        rows.append(tuple(cells))
    names = [when for when, _ in given]
    spec = bars(
        drawn, "level", list(_LEVELS.values()), "when", names, title=f"share of {of}", domain=1.0
    )
    return Chart(
        name=name,
        title=title,
        text=f"{what} Worst chance: "
        + ", ".join(f"{when} {as_risk((risk or {})['worst'])}" for when, risk in given)
        + ".",
        columns=("chance", *names),
        rows=rows,
        spec=spec,
    )


def tradeoff(
    curve: Spec, *, name: str, movable: bool = False, letters: tuple[str, str] = ("ε", "m")
) -> Chart:
    """Draw which m is possible for each ε, and the point that was chosen."""
    # The datasets are named, "curve" and "chosen", for a page that replaces them. If the point is
    # `movable`, it has a place even where none was chosen, and the frame leaves room above the
    # line.
    relative, (near, among) = curve["relative"], letters
    chosen = None
    if curve["epsilon"] is not None and curve["m"] is not None:
        chosen = (float(curve["epsilon"]), float(curve["m"]))
    always = max((int(m) for e, m in curve["curve"] if e is None), default=1)
    steps = sorted((float(e), int(m)) for e, m in curve["curve"] if e is not None)
    rows = [(f"below {reach_in_words(e, relative)}", count(m)) for e, m in reversed(steps)]
    if not steps:  # nothing gives way, however large ε is
        rows = [("any", count(always))]
        steps = [(chosen[0] if chosen and chosen[0] else 1.0, always)]
    low, high = steps[0], steps[-1]
    positive = low[0] > 0 and (chosen is None or chosen[0] > 0)
    wide = positive and high[0] / low[0] > 20
    left = min(low[0], chosen[0] if chosen else low[0]) * (0.7 if wide else 0)
    right = max(high[0], chosen[0] if chosen else 0) * (1.4 if wide else 1.08)
    line = [(left, low[1]), *steps, (high[0], always), (right, always)]
    log = {"type": "log"} if wide else {}
    tall = {"type": "log"} if low[1] > 20 else {"zero": False}
    tops = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10**4, 10**5, 10**6]
    top = max(low[1], chosen[1] if chosen else 1)
    above = max(top * 1.3, top + 1.2) if movable else top * 1.1
    ticks: Spec = {"values": [t for t in tops if t <= top], "format": ",d"} if wide else {}
    if movable and "type" not in tall:
        ticks = {"tickMinStep": 1, "format": ",d"}
    place = {
        "x": {
            "field": "epsilon",
            "type": "quantitative",
            "title": f"{near}: how near is near{' (share of the value)' if relative else ''}",
            "scale": {**log, "domain": [left, right], "nice": False},
            "axis": {"format": "~%" if relative else ",~r", "tickCount": 5, "grid": False},
        },
        "y": {
            "field": "m",
            "type": "quantitative",
            "title": f"{among}: among how many",
            "scale": {**tall, "domain": [1, above]},
            "axis": ticks,
        },
    }
    shape = {"interpolate": "step-before"}
    layers: list[Spec] = [
        {
            "data": {"name": "curve"},
            "mark": {"type": "area", **shape, "color": AFTER, "opacity": 0.14},
            "encoding": {**place, "y2": {"datum": 1}},
        },
        {
            "data": {"name": "curve"},
            "mark": {"type": "line", **shape, "color": AFTER, "strokeWidth": 2},
            "encoding": place,
        },
    ]
    datasets: Spec = {"curve": [{"epsilon": e, "m": m} for e, m in line]}
    text = "Below the line a release is possible, above it none is."
    if chosen:
        said = (
            f"{near} = {reach_in_words(curve['epsilon'], relative)}, {among} = {figure(curve['m'])}"
        )
        right_half = (chosen[0] / left > right / chosen[0]) if wide else chosen[0] > right / 2
        write = {"align": "right", "dx": -9} if right_half else {"align": "left", "dx": 9}
        write |= {"baseline": "top", "dy": 7}
        datasets["chosen"] = [
            {"epsilon": chosen[0], "m": chosen[1], "text": f"chosen: {said}", **write}
        ]
        text += f" Chosen: {said}."
    if chosen or movable:
        datasets.setdefault("chosen", [])
        layers += _point(place)
    return Chart(
        name=name,
        title=f"What {curve['on']} permits: {near} against {among}",
        text=text,
        columns=(near, f"{among} up to"),
        rows=rows,
        spec={**chart_spec(layers, height=250), "datasets": datasets},
    )


def _point(place: Spec) -> list[Spec]:
    """Mark the point of a trade-off; where its text stands is told by its data."""
    colour = {"condition": {"test": "datum.refused", "value": REFUSED}, "value": BEFORE}
    shape = {"condition": {"test": "datum.refused", "value": CROSS}, "value": "diamond"}
    write = {key: {"expr": f"datum.{key}"} for key in ("align", "dx", "baseline", "dy")}
    return [
        {
            "data": {"name": "chosen"},
            "mark": {"type": "point", "size": 150, "filled": True, "opacity": 1},
            "encoding": {**place, "color": colour, "shape": shape},
        },
        {
            "data": {"name": "chosen"},
            "mark": {"type": "text", "fontSize": 12, "fontWeight": "bold", "color": INK, **write},
            "encoding": {**place, "text": {"field": "text"}},
        },
    ]


def group_sizes(sizes: Spec, *, name: str = "sizes") -> Chart:
    """Draw how many groups there are of each size."""
    found = [{"size": between(bar["from"], bar["to"]), **bar} for bar in sizes["histogram"]]
    order = [bar["size"] for bar in found]
    data = [
        {"size": b["size"], "when": "groups", "share": b["groups"], "label": count(b["groups"])}
        for b in found
    ]
    return Chart(
        name=name,
        title="Groups by size",
        text="How many groups have so many rows.",
        columns=("rows in a group", "groups", "rows in all"),
        rows=[(b["size"], count(b["groups"]), count(b["rows"])) for b in found],
        spec=bars(data, "size", order, "when", ["groups"], title="groups", domain=None),
    )


def loss_chart(shares: dict[str, float], *, name: str = "losses") -> Chart:
    """Draw what each quasi-identifier lost."""
    order = sorted(shares, key=lambda key: -shares[key])
    data = [
        {"on": key, "when": "loss", "share": shares[key], "label": percent(shares[key])}
        for key in order
    ]
    return Chart(
        name=name,
        title="Loss of each quasi-identifier",
        text="How much of an attribute's range a published value covers on average (NCP): nothing "
        "is lost at 0 %, everything at 100 %.",
        columns=("quasi-identifier", "loss"),
        rows=[(key, percent(shares[key])) for key in order],
        spec=bars(data, "on", order, "when", ["loss"], title="loss", domain=None, share=True),
    )


def query_errors(queries: Spec, *, name: str = "queries") -> Chart:
    """Draw by how much answers to count queries are off."""
    quantiles = [(float(q), e) for q, e in queries["quantiles"].items() if e is not None]
    given = [(f"{percent(q)} of the queries", e) for q, e in sorted(quantiles)]
    data = [{"q": q, "when": "error", "share": e, "label": percent(e)} for q, e in given]
    return Chart(
        name=name,
        title="Error of count queries",
        text="The relative error that so many of the queries do not exceed.",
        columns=("queries", "error at most"),
        rows=given and [(q, percent(e)) for q, e in given],
        spec=bars(
            data, "q", [q for q, _ in given], "when", ["error"],
            title="relative error", domain=None, share=True,
        ),
    )  # fmt: skip


def adversary_chart(
    pairs: Sequence[tuple[str, Spec, Spec | None]],
    *,
    name: str,
    on: str,
    bound: float | None = None,
) -> Chart:
    """Compare adversaries who know the victim's group with those who must find it."""
    # pairs: what is learnt, with the risk for the one and for the other; worst and mean chances are
    # drawn. bound: what the policy permits.
    dots, rows = [], []
    for what, known, covering in pairs:
        for who, risk in zip(_ADVERSARIES, (known, covering), strict=True):
            if risk is None:
                continue
            for kind in ("worst", "mean"):
                dots.append({"what": f"{what}, {kind}", "who": who, "share": risk[kind]})
        rows += [
            (
                f"{what}, {kind}",
                as_risk(known[kind]),
                as_risk(covering[kind]) if covering else "–",
            )
            for kind in ("worst", "mean")
        ]
    order = list(dict.fromkeys(dot["what"] for dot in dots))
    share = {
        "field": "share",
        "type": "quantitative",
        "title": "chance of being right",
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "tickCount": 5},
    }
    dots, named = row_axis(dots, "what", order)
    place: Spec = {
        "y": {**named, "axis": {**named["axis"], "domain": False, "ticks": False, "grid": True,
                                "minExtent": text_width(order)}},
        "x": share,
    }  # fmt: skip
    layers = [
        {
            "data": {"values": dots},
            "mark": {"type": "rule", "color": RULE, "strokeWidth": 3},
            "encoding": {
                "y": place["y"],
                "x": {**share, "aggregate": "min"},
                "x2": {"field": "share", "aggregate": "max"},
            },
        },
        {
            "data": {"values": dots},
            # Open, so that one does not hide the other.
            "mark": {
                "type": "point",
                "filled": False,
                "size": 130,
                "strokeWidth": 2.4,
                "opacity": 1,
            },
            "encoding": {**place, **distinguish(list(_ADVERSARIES))},
        },
    ]
    permitted = ""
    if bound is not None:
        permitted = f" The dotted line is what the policy permits: {percent(bound)}."
        layers.insert(
            0,
            {
                "data": {"values": [{"share": bound}]},
                "mark": {"type": "rule", "color": INK, "strokeWidth": 1.5, "strokeDash": [2, 3]},
                "encoding": {"x": share},
            },
        )
    return Chart(
        name=name,
        title=f"Guessing {on}: group known, or not",
        text="The chance of an adversary to be right about a person, the worst and the mean, "
        "whether the person's group is known, or only the quasi-identifiers." + permitted,
        columns=("what is learnt", *_ADVERSARIES),
        rows=rows,
        spec=chart_spec(layers, height=70 + 34 * len(order), rows=order),
    )


def background(known: Sequence[Spec], covering: Sequence[Spec], *, name: str, on: str) -> Chart:
    """Draw the worst chance when an adversary can rule out some values."""
    given = [
        (who, steps) for who, steps in zip(_ADVERSARIES, (known, covering), strict=True) if steps
    ]
    data = [
        {"values": step["values"], "share": step["worst"], "who": who}
        for who, steps in given
        for step in steps
    ]
    most = max(step["values"] for step in data)
    place = {
        "x": {
            "field": "values",
            "type": "quantitative",
            "title": "values that the adversary can rule out",
            "scale": {"domain": [0, max(most, 1)], "nice": False},
            "axis": {
                "format": "d",
                "tickMinStep": 1,
                "grid": False,
                "tickCount": min(most + 1, 10),
            },
        },
        "y": {
            "field": "share",
            "type": "quantitative",
            "title": "worst chance",
            "scale": {"domain": [0, 1]},
            "axis": {"format": ".0%", "tickCount": 5},
        },
    }
    apart = distinguish([who for who, _ in given])
    apart["color"]["legend"] = {"symbolStrokeWidth": 0}  # which would be dashed
    drawn = {"domain": [who for who, _ in given], "range": [[1, 0], [5, 4]][: len(given)]}
    dash = {"field": "who", "type": "nominal", "title": None, "scale": drawn}
    layers = [
        {"data": {"values": data}, "mark": {"type": "line", "strokeWidth": 2},
         "encoding": {**place, "color": apart["color"], "strokeDash": dash}},
        {"data": {"values": data},
         "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1, "clip": False},
         "encoding": {**place, **apart}},
    ]  # fmt: skip
    by = {who: {step["values"]: step for step in steps} for who, steps in given}
    ticks = sorted({step["values"] for step in data})
    return Chart(
        name=name,
        title=f"What background knowledge adds about {on}",
        text="The worst chance of guessing a person's value, once so many values of those it "
        "could be are known not to be it.",
        columns=(
            "values ruled out",
            *(f"{who}: {what}" for who, _ in given for what in ("worst chance", "people certain")),
        ),
        rows=[
            (
                str(tick),
                *(
                    cell
                    for who, _ in given
                    for cell in (
                        as_risk(by[who].get(tick, {}).get("worst")),
                        count(by[who].get(tick, {}).get("certain")),
                    )
                ),
            )
            for tick in ticks
        ],
        spec=chart_spec(layers, height=230),
    )
