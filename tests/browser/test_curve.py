"""Charts and the curve in a real browser, under the strict policy of the app's pages."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

import wideberth as wb
from tests.reports import samples
from wideberth.reports import charts
from wideberth.reports.content import compose
from wideberth.reports.html import report_charts

STATIC = Path(str(files("wideberth") / "ui" / "static"))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'"
)
RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
}
PAGES = {
    "/": (
        "text/html",
        """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Curve</title>
        <link rel="icon" href="data:,"><link rel="stylesheet" href="charts.css">
        <link rel="stylesheet" href="page.css"><script type="module" src="page.js"></script>
        </head><body><main><h1>Curve</h1><div id="curve"></div><div id="chart"></div></main>
        </body></html>""",
    ),
    "/page.css": (
        "text/css",
        ":root { color-scheme: light dark; } body { background: Canvas; color: CanvasText; }",
    ),
    "/page.js": (
        "text/javascript",
        """import * as curves from "./curve.js";
        import { draw } from "./charts.js";
        const moves = [], refused = [];
        const note = (event) => refused.push(event.violatedDirective);
        document.addEventListener("securitypolicyviolation", note);
        const onmove = (to) => moves.push(to);
        const curve = new curves.Curve(document.getElementById("curve"), { onmove });
        Object.assign(window, { ...curves, draw, curve, moves, refused });
        document.documentElement.dataset.ready = "yes";""",
    ),
}  # fmt: skip


class Handler(SimpleHTTPRequestHandler):
    """Serve the static files and a page that has room for a curve."""

    def do_GET(self) -> None:
        if self.path not in PAGES:
            return super().do_GET()
        kind, text = PAGES[self.path]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())
        return None

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=STATIC)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(browser: Browser, address: str) -> Iterator[Callable[..., Page]]:
    """Open the page; at the end nothing was said, refused or fetched from elsewhere."""
    said: list[str] = []
    contexts = []

    def open_(**options: Any) -> Page:
        contexts.append(browser.new_context(viewport={"width": 800, "height": 700}, **options))
        page = contexts[-1].new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on(
            "request",
            lambda r: None if r.url.startswith((address, "data:")) else said.append(r.url),
        )
        page.goto(address)
        page.wait_for_selector("html[data-ready]")
        return page

    yield open_
    for context in contexts:
        assert context.pages[0].evaluate("refused") == []
        context.close()
    assert said == []


def told(steps: list[list[Any]], **more: Any) -> dict[str, Any]:
    """Return what `show` takes."""
    asked = {"on": "income", "relative": more.get("relative", False), "epsilon": None, "m": None}
    spec = charts.tradeoff({**asked, "curve": steps}, name="curve", movable=True).spec
    return {"spec": spec, "steps": steps, "on": "income", **more}


def show(page: Page, epsilon: float, m: int, steps: Any = None, **more: Any) -> None:
    given = [
        told(samples.curve() if steps is None else steps, **more),
        {"epsilon": epsilon, "m": m},
    ]
    page.evaluate("([told, point]) => curve.show(told, point)", given)


def point(page: Page) -> dict[str, Any]:
    """Return where the point is drawn, and its fill, shape and text."""
    return page.evaluate("""() => {
        const path = document.querySelector("#curve .mark-symbol path");
        const box = path.getBoundingClientRect();
        return {x: box.x + box.width / 2, y: box.y + box.height / 2, shape: path.getAttribute("d"),
                fill: getComputedStyle(path).fill,
                text: document.querySelector("#curve .mark-text.role-mark").textContent};
    }""")  # fmt: skip


def place(page: Page, epsilon: float, m: float) -> tuple[float, float]:
    """Return where on the screen a point belongs."""
    x, y = page.evaluate(
        """([epsilon, m]) => {
            const to = new DOMPoint(curve.view.scale("x")(epsilon), curve.view.scale("y")(m));
            const frame = document.querySelector("#curve .role-frame.root > g");
            const at = to.matrixTransform(frame.getScreenCTM());
            return [at.x, at.y];
        }""",
        [epsilon, m],
    )
    return x, y


def test_every_chart_of_a_report_is_drawn(opened: Callable[..., Page], scheme: str) -> None:
    found = report_charts(compose(**samples.parts()).to_dict())
    drawn = [c for part in found["attributes"] for c in part["charts"]]
    drawn += [c for kind, listed in found.items() if kind != "attributes" for c in listed]
    drawn.append(charts.comparison_chart([{"name": "run 1", "loss": 0.02, "risk": 0.2}]))
    page = opened(color_scheme=scheme)
    for chart in drawn:
        page.evaluate(
            "async c => { await draw(document.getElementById('chart'), c.spec, {label: c.title}) }",
            chart.to_dict(),
        )
        svg = page.locator("#chart svg")
        assert svg.count() == 1
        assert svg.get_attribute("aria-label") == chart.title
        # The same texts as in the report.
        texts = page.evaluate(
            "[...document.querySelectorAll('#chart text')].map(t => t.textContent)"
        )
        told = re.findall(r"<text[^>]*>([^<]+)</text>", chart.svg())
        assert sorted(filter(None, texts)) == sorted(told)
        inks = page.evaluate(
            "[...document.querySelectorAll('#chart text')].map(t => getComputedStyle(t).fill)"
        )
        assert set(inks) == {"rgb(31, 41, 51)" if scheme == "light" else "rgb(230, 234, 238)"}
    show(page, 4500, 5)
    result = Axe().run(page, options=RULES)
    assert result.violations_count == 0, result.generate_report()


def test_a_chosen_theme_goes_before_the_system(opened: Callable[..., Page]) -> None:
    page = opened(color_scheme="dark")
    show(page, 4500, 5)
    dark = point(page)["fill"]
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    assert point(page)["fill"] == "rgb(180, 83, 9)" != dark
    page.emulate_media(color_scheme="light")
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert point(page)["fill"] == dark


def test_a_chart_fetches_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    spec = {"data": {"url": "/page.css"}, "mark": "point", "encoding": {}}
    page.evaluate("async spec => { await draw(document.getElementById('chart'), spec) }", spec)
    assert page.evaluate("performance.getEntriesByName(location.href + 'page.css').length") == 1


def test_the_point_is_where_it_belongs(opened: Callable[..., Page]) -> None:
    page = opened()
    for epsilon, m in [(4500, 5), (400, 36), (24000, 2), (20000, 20)]:
        show(page, epsilon, m)
        seen = point(page)
        assert (seen["x"], seen["y"]) == pytest.approx(place(page, epsilon, m), abs=0.6)
    assert page.evaluate("typeof curve.lastRedraw") == "number"


def test_what_cannot_be_had_differs_in_shape_and_words(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 4500, 5)
    can = point(page)
    page.evaluate("curve.move({epsilon: 24100, m: 2})")  # the bound itself
    cannot = point(page)
    assert cannot["shape"] != can["shape"]
    assert cannot["fill"] != can["fill"]
    assert can["text"] == "ε = 4,500, m = 5"
    assert cannot["text"] == "ε = 24,100, m = 2not possible: m up to 1"
    assert "not possible" in str(page.locator("#curve").get_attribute("aria-valuetext"))
    assert page.evaluate("moves") == [], "a move from outside is no news there"


def test_axes_stay_and_a_point_beyond_them_is_at_the_edge(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 4500, 5)
    ticks = "[...document.querySelectorAll('#curve .role-axis-label text')].map(t => t.textContent)"
    before = page.evaluate(ticks)
    page.evaluate("curve.move({epsilon: 1e9, m: 1e6})")
    assert page.evaluate(ticks) == before
    seen = point(page)
    right, top = page.evaluate("[curve.wide.domain[1], curve.high.domain[1]]")
    assert (seen["x"], seen["y"]) == pytest.approx(place(page, right, top), abs=0.6)
    assert "off the axes" in seen["text"]


def test_dragged_by_the_mouse(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 4500, 5)
    page.mouse.move(*place(page, 4500, 5))
    page.mouse.down()
    for epsilon, m in [(5000, 6), (3000, 10), (2000, 7)]:
        page.mouse.move(*place(page, epsilon, m), steps=4)
    page.mouse.up()
    page.mouse.move(*place(page, 10000, 2))  # nobody holds it any more
    moves = page.evaluate("moves")
    assert len(moves) >= 3
    assert moves[-1]["m"] == 7
    assert moves[-1]["epsilon"] == pytest.approx(2000, rel=0.02)
    assert moves[-1] == page.evaluate("curve.point")
    for move in moves:
        assert isinstance(move["m"], int)
        assert move["epsilon"] == float(f"{move['epsilon']:.3g}"), "plain figures only"
    assert f"ε = {moves[-1]['epsilon']:,}, m = 7" == point(page)["text"]
    seen = point(page)
    assert (seen["x"], seen["y"]) == pytest.approx(place(page, 2000, 7), abs=3)


def test_dragged_beyond_the_frame(opened: Callable[..., Page]) -> None:
    page = opened()
    steps = [[None, 1], [0.9, 2], [0.3, 3]]
    show(page, 0.2, 2, steps, relative=True)
    page.mouse.move(*place(page, 0.2, 2))
    page.mouse.down()
    page.mouse.move(790, 5)
    page.mouse.move(790, 690)
    page.mouse.up()
    right = page.evaluate("curve.wide.domain[1]")
    last = page.evaluate("moves.at(-1)")
    assert last["m"] == 1
    assert last["epsilon"] == pytest.approx(min(right, 1), abs=0.01)
    assert last["epsilon"] <= 1


def test_moved_by_keys(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 4500, 5)
    page.keyboard.press("Tab")
    slider = page.get_by_role("slider")
    assert slider.evaluate("e => e === document.activeElement")
    for key in ["ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowDown", "Shift+ArrowRight"]:
        page.keyboard.press(key)
    assert page.evaluate("moves") == [
        {"epsilon": 4600, "m": 5},
        {"epsilon": 4600, "m": 6},
        {"epsilon": 4500, "m": 6},
        {"epsilon": 4400, "m": 6},
        {"epsilon": 4400, "m": 5},
        {"epsilon": 5000, "m": 5},
    ]
    assert slider.get_attribute("aria-valuenow") == "5000"
    assert slider.get_attribute("aria-valuetext") == (
        "ε = 5,000, m = 5: possible; with this ε, m can be up to 7; "
        "with this m, ε must stay below 8,500"
    )
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")  # there is no further
    for _ in range(7):
        page.keyboard.press("ArrowDown")
    last = page.evaluate("moves.at(-1)")
    assert last["m"] == 1
    assert str(last["epsilon"]) == slider.get_attribute("aria-valuemax")
    page.keyboard.press("Home")
    assert str(page.evaluate("moves.at(-1).epsilon")) == slider.get_attribute("aria-valuemin")


def test_steps_are_as_large_as_makes_sense(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 3, 2, [[None, 1], [9, 2], [4, 3]], grain=1, unit="days")
    page.locator("#curve").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert [move["epsilon"] for move in page.evaluate("moves")] == [4, 5]
    assert point(page)["text"].startswith("ε = 5 days, m = 2")


def test_one_that_is_shown_again_listens_once(opened: Callable[..., Page]) -> None:
    page = opened()
    page.evaluate("curve = new Curve(curve.element, {onmove: curve.onmove})")
    given = [[told(samples.curve()), told([[None, 1], [9, 2], [4, 3]])], {"epsilon": 3, "m": 2}]
    page.evaluate(
        "([[one, two], at]) => Promise.all([curve.show(one, at), curve.show(two, at)])", given
    )
    assert page.locator("#curve svg").count() == 1
    page.locator("#curve").focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("moves") == [{"epsilon": 3, "m": 3}]
    assert point(page)["text"] == "ε = 3, m = 3"


def test_ends_of_a_table_where_nothing_gives_way(opened: Callable[..., Page]) -> None:
    page = opened()
    show(page, 0.5, 1, [[None, 1]])
    assert point(page)["text"] == "ε = 0.5, m = 1"
    page.evaluate("curve.move({epsilon: 0, m: 2})")
    assert point(page)["text"] == "ε = 0, m = 2not possible: m up to 1"


def test_the_line_is_that_of_the_report(opened: Callable[..., Page]) -> None:
    page = opened()
    for steps in (samples.curve(), [[None, 2], [0.4, 3], [0.01, 7]]):
        given = told(steps)
        show(page, 0.5, 2, steps)
        rows = page.evaluate("curve.view.data('curve').map(({epsilon, m}) => ({epsilon, m}))")
        corners = given["spec"]["datasets"]["curve"]
        assert {(r["epsilon"], r["m"]) for r in rows} == {(c["epsilon"], c["m"]) for c in corners}


@pytest.mark.parametrize("relative", [False, True])
def test_verdicts_are_those_of_the_library(opened: Callable[..., Page], relative: bool) -> None:
    page = opened()
    chance = random.Random(7)
    for _ in range(12):
        spread = chance.choice([10, 300, 10**6])
        unit = chance.choice([1, 0.25, 0.1])
        values: list[float | None] = [
            round(unit * chance.randint(-9, spread), 2) for _ in range(chance.randint(2, 120))
        ]
        values += [None] * chance.randint(0, 3)
        advice = wb.advise(values)
        steps = advice.to_dict(relative=relative)["curve"]
        bounds = [below for below, _ in steps if below is not None]
        asked = [0, *bounds, *(b * chance.random() for b in bounds), *(b * 0.999 for b in bounds)]
        asked += [chance.random() * (1 if relative else spread) for _ in range(10)]
        asked = [json.loads(repr(e)) for e in asked if not relative or e <= 1]
        most = page.evaluate(
            "([steps, asked]) => asked.map(e => allowed(steps, e))", [steps, asked]
        )
        exact = {
            float(b) for b, _ in advice.curve(relative=relative) if not isinstance(b, Fraction)
        }
        for epsilon, m in zip(asked, most, strict=True):
            true = advice.max_m(epsilon, relative=relative)
            # A bound that no float denotes is rounded down: there less is said, never more.
            assert m <= true
            assert m == true or (epsilon in bounds and epsilon not in exact)
        ms = range(1, len(values) + 3)
        found = page.evaluate("([steps, ms]) => ms.map(m => bound(steps, m))", [steps, list(ms)])
        for m, below in zip(ms, found, strict=True):
            asked_of = advice.to_dict(m=m, relative=relative)
            assert below == asked_of["max_epsilon_exclusive"], m


def test_no_steps_promise_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    assert page.evaluate("[allowed([], 1), bound([], 2), allowed([[null, 1]], NaN)]") == [0, 0, 0]
    assert page.evaluate("allowed([[null, 1], [5, 2]], -1)") == 0


def test_redraws_are_measured(
    opened: Callable[..., Page], record_testsuite_property: Callable[[str, object], None]
) -> None:
    steps = [[None, 1], *([1e6 / m, m] for m in range(2, 2002))]
    page = opened()
    show(page, 1000, 5, steps)
    times = page.evaluate("""async () => {
        const times = [];
        for (let at = 1; at <= 60; at++) {
            await curve.move({epsilon: 500 * at, m: at});
            times.push(curve.lastRedraw);
        }
        return times;
    }""")
    assert len(times) == 60
    assert all(time >= 0 for time in times)
    record_testsuite_property("longest redraw, ms", max(times))
