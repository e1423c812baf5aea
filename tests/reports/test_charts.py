"""The pictures of a report as plain values, for a page that draws them itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from typing import Any

import pytest

import wideberth as wb
from tests.reports import samples
from wideberth.reports import charts
from wideberth.reports.chart_style import Chart
from wideberth.reports.content import compose
from wideberth.reports.html import report_charts


def tradeoff(curve: list[list[Any]], **asked: Any) -> Chart:
    told = {"on": "income", "relative": False, "epsilon": None, "m": None, "curve": curve}
    options = {key: asked.pop(key) for key in ("movable", "letters") if key in asked}
    return charts.tradeoff({**told, **asked}, name="t", **options)


def line(chart: Chart) -> list[tuple[float, float]]:
    return [(point["epsilon"], point["m"]) for point in chart.spec["datasets"]["curve"]]


def test_a_report_draws_each_of_its_pictures() -> None:
    made = compose(**samples.parts())
    found = report_charts(made.to_dict())
    assert list(found) == ["identity", "attributes", "tradeoffs", "sizes", "losses", "errors"]
    assert [part["on"] for part in found["attributes"]] == ["income"]
    drawn = [chart for part in found["attributes"] for chart in part["charts"]]
    drawn += [chart for kind, charts in found.items() if kind != "attributes" for chart in charts]
    names = [chart.name for chart in drawn]
    assert len(set(names)) == len(names) >= 8
    page = made.html()
    assert all(f'id="{name}-title"' in page for name in names)
    assert page.count("<figure") == len(names)


def test_what_was_not_measured_has_no_picture() -> None:
    parts = {**samples.parts(), "queries": None, "group_sizes": None, "advice": []}
    found = report_charts(compose(**parts).to_dict())
    assert found["errors"] == found["sizes"] == found["tradeoffs"] == []


def test_charts_are_plain_values() -> None:
    chart = report_charts(compose(**samples.parts()).to_dict())["tradeoffs"][0]
    told = chart.to_dict()
    assert list(told) == ["name", "title", "text", "columns", "rows", "spec"]
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_a_point_that_moves_has_room_and_a_place() -> None:
    steps = [[None, 1], [3, 2], [1, 4]]
    fixed, movable = tradeoff(steps), tradeoff(steps, movable=True)
    assert "chosen" not in fixed.spec["datasets"]
    assert movable.spec["datasets"]["chosen"] == []
    assert line(fixed) == line(movable)
    tops = [c.spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1] for c in (fixed, movable)]
    assert tops[0] < 5 < tops[1]


def test_the_line_ends_where_every_epsilon_will_do() -> None:
    never_near = wb.advise([-5, 5, -7, 7, -7.5, 7.5]).to_dict(relative=True)["curve"]
    assert never_near[0] == [None, 2]
    assert line(tradeoff(never_near))[-1][1] == 2
    assert line(tradeoff([[None, 3]])) == [(0.0, 3), (1.0, 3), (1.0, 3), (1.08, 3)]
    assert tradeoff([[None, 3]]).rows == [("any", "3")]


def test_other_letters() -> None:
    chart = tradeoff([[None, 1], [3, 2]], epsilon=1, m=2, letters=("δ", "l"))
    assert chart.columns == ("δ", "l up to")
    drawn = chart.svg()
    assert "chosen: δ = 1, l = 2" in drawn
    assert "ε" not in drawn


def test_runs_are_compared() -> None:
    same = {"loss": 0.02, "risk": 0.2}
    runs = [{"name": f"run {at}", **same} for at in range(4)]
    chart = charts.comparison_chart([*runs, {"name": "no loss", "loss": None, "risk": 0.5}])
    assert [row[0] for row in chart.rows] == ["run 0", "run 1", "run 2", "run 3", "no loss"]
    points = chart.spec["layer"][1]["data"]["values"]
    assert len({(point["dx"], point["dy"]) for point in points}) == 4, "texts lie on another"
    drawn = chart.svg()
    assert all(f">run {at}<" in drawn for at in range(4))
    assert "no loss" not in drawn


@pytest.mark.parametrize("share", [0, 1])
def test_runs_at_the_edges(share: int) -> None:
    name = "a run with a name that is much too long"
    drawn = charts.comparison_chart([{"name": name, "loss": share, "risk": share}]).svg()
    assert "a run with a name that is muc…" in drawn
    assert charts.comparison_chart([]).svg()


@pytest.mark.parametrize("letter", ["\x00", "\x08", "\x1b", "\ufffe", "\ud800"])
def test_names_that_no_picture_can_hold(letter: str):
    # In a process of its own: what draws would end the whole program.
    name = ascii(f"a{letter}b")
    script = (
        f"from wideberth.reports.charts import loss_chart as losses; losses({{{name}: 0.5}}).svg()"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


#: Names that JavaScript gives to every object, or reads as a path, a string's end or a line's.
ODD = [
    *("constructor", "__proto__", "prototype", "toString", "valueOf", "hasOwnProperty"),
    *("isPrototypeOf", "__defineGetter__", "toLocaleString", "length", "datum", "names"),
    *("a.b", "a[0]", "a['b']", '"', "it's", "a\\b", "\\", "</script>", "a:Q", "a\u2028b", "${1}"),
]


def test_names_that_a_script_would_take_for_its_own() -> None:
    shares = {name: (at + 1) / 100 for at, name in enumerate(ODD)}
    drawn = unescape(charts.loss_chart(shares).svg())
    beside = re.findall(r'<text text-anchor="end"[^>]*>(.*?)</text>', drawn, flags=re.S)
    assert beside == ODD[::-1]
    for name in ODD:
        assert f">{name}<" in unescape(charts.loss_chart({name: 0.5, "z": 0.25}).svg())
        chart = charts.adversary_chart(
            [(name, *[samples.risk(0.5, 0.5, 9)] * 2)], name="x", on=name
        )
        assert f">{name}, worst<" in unescape(chart.svg())
