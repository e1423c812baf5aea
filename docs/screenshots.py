"""The pictures of docs/ui.md: every step of the web app, as a browser shows it, light and dark.

Run by ``python docs/screenshots.py``: starts ``wideberth ui``, walks through it as a custodian
would, writes docs/figures/ui-*.png, and ends the app again. The tables are made up: the demo's
census of incomes, and a census with diseases for hierarchies and the lattice. No seed is fixed, so
figures differ a little from one run to the next. Needs chromium, as docs/pictures.py does.
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from pictures import FIGURES, chromium, keep
from playwright.sync_api import FloatRect, Locator, Page, expect

from wideberth import datasets

WIDTH, HEIGHT = 1280, 960  # of a window
PATIENCE = 120_000  # milliseconds: the first run of its kind compiles what it needs
EDGES = "it.getBoundingClientRect()"
SCHEMES = {"light": "", "dark": "-dark"}


def main() -> None:
    """Start the app, walk through it and take pictures on the way."""
    parser = argparse.ArgumentParser(prog="python docs/screenshots.py")
    parser.add_argument("-o", "--output", type=Path, default=FIGURES, help="where they go")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        census, people = Path(name) / "census.csv", Path(name) / "people.csv"
        datasets.sal(20_000).write_csv(census)
        datasets.census(5_000).write_csv(people)
        with app() as address, chromium() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(PATIENCE)
            expect.set_options(timeout=PATIENCE)
            walk = Walk(page, given.output)
            page.on("pageerror", lambda error: walk.errors.append(str(error)))
            page.goto(address)
            numbers(walk, census)
            levels(walk, people)
    if walk.errors:
        raise SystemExit(f"a page's script failed: {walk.errors[0]}")


@contextmanager
def app() -> Iterator[str]:
    """Run the app; its address, as it is printed."""
    command = [sys.executable, "-m", "wideberth", "ui", "--no-browser"]
    with subprocess.Popen(  # noqa: S603 - our own command
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            yield process.stdout.readline().removeprefix("open ").strip()
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


@dataclass
class Walk:
    """A way through the app: what a custodian does again and again, and pictures of it."""

    page: Page
    output: Path
    errors: list[str] = field(default_factory=list)

    def shoot(self, name: str, top: Locator | None = None) -> None:
        """Take a picture of what the window shows, from an element on if one is named."""
        self.page.mouse.move(0, 0)  # nothing is pointed at
        self.page.evaluate("document.activeElement?.blur()")
        if top is None:
            self.page.evaluate("window.scrollTo(0, 0)")
        else:
            top.evaluate(f"it => window.scrollTo(0, {EDGES}.top + scrollY - 16)")
        taken = self.seen(top)
        for scheme, suffix in SCHEMES.items():
            self.page.emulate_media(color_scheme=scheme)
            target = self.output / f"ui-{name}{suffix}.png"
            keep(self.page.screenshot(animations="disabled", clip=taken), target)
            sys.stdout.write(f"wrote {target.name}\n")
        self.page.emulate_media(color_scheme="light")

    def seen(self, top: Locator | None) -> FloatRect:
        """Return what to take: the window, but for what is above `top` and below the page."""
        above = 0 if top is None else max(0, top.evaluate(f"it => {EDGES}.top - 16"))
        dialog = self.page.locator("dialog[open]").count()
        end = HEIGHT if dialog else self.page.locator("main").evaluate(f"it => {EDGES}.bottom")
        return {"x": 0, "y": above, "width": WIDTH, "height": min(HEIGHT, end) - above}

    def step(self, number: int) -> None:
        """Go to a step by its link."""
        self.page.locator("nav.steps li a").filter(
            has=self.page.locator(".number", has_text=str(number))
        ).click()
        self.page.wait_for_load_state("networkidle")

    def open(self, path: Path) -> None:
        """Open a table by its path."""
        self.page.goto(self.page.url.split("tables/")[0])
        self.page.fill("#path", str(path))
        self.page.click("#by-path button")
        self.page.wait_for_selector("table.columns")

    def ask(self, principle: str, **parameters: float) -> None:
        """Give the parameters of a principle that is asked for."""
        self.step(2)
        self.settled()
        card = self.page.locator(f"article[data-principle={principle}]").first
        if not card.count():  # the app begins with others
            chooser = self.page.locator("section.attribute details").last
            chooser.locator("summary").click()
            chooser.locator("select").select_option(principle)
            chooser.get_by_role("button", name="Add").click()
            if principle == "epsilon-m":  # which says less than what was proposed, and is shown
                proposed = self.page.locator("article[data-principle=delta-l]")
                proposed.get_by_role("button", name="Remove").click()
        for letter, value in parameters.items():
            name = {"epsilon": "ε", "delta": "δ"}.get(letter, letter)
            control = card.locator(".control").filter(
                has=self.page.locator(f'label b:text-is("{name}")')
            )
            control.locator("input[type=number]").fill(f"{value:g}")
        self.settled()

    def settled(self) -> None:
        """Wait until all principles have their verdict, and the settings are saved."""
        self.page.wait_for_timeout(600)  # they are saved when nobody has typed for a while
        expect(self.page.locator("article.asked .says").first).to_be_visible()
        expect(self.page.locator(".says.waiting, .message.waiting")).to_have_count(0)

    def run(self) -> None:
        """Make a release; its judgement is shown next."""
        self.page.click("#go")
        refused = self.page.locator("#outcome .message")
        expect(self.page.locator(".verdict").or_(refused).first).to_be_visible()
        if refused.count():
            raise SystemExit(f"no release was made: {refused.inner_text()}")
        self.drawn()

    def drawn(self) -> None:
        """Wait for all pictures of the page."""
        for chart in self.page.locator(".chart").all():
            chart.locator("svg").wait_for()

    def hierarchy(self, column: str, kind: str, **typed: str) -> None:
        """Open the editor of a column's hierarchy, and try one."""
        self.page.locator(f'tr[data-column="{column}"] .hierarchy').click()
        self.page.locator("#editor .choice").filter(has_text=kind).first.click()
        for label, value in typed.items():
            self.page.get_by_label(label).fill(value)
        self.page.locator("#editor form button[type=submit]").click()
        self.page.locator("#editor .ladder").wait_for()

    def use(self) -> None:
        """Keep the hierarchy that was tried."""
        self.page.locator("#editor .foot button", has_text="Use it").click()
        self.page.locator("#editor").wait_for(state="hidden")


def numbers(walk: Walk, census: Path) -> None:
    """Go all the way with a sensitive number, several times, and compare."""
    page = walk.page
    page.wait_for_selector("#by-path")
    walk.shoot("home")
    walk.open(census)
    walk.shoot("1-data")
    walk.ask("epsilon-m", epsilon=4500, m=5)
    income = page.locator("section.attribute")
    income.locator(".curve svg").wait_for()
    walk.shoot("2-principle", page.locator("main h1"))
    walk.ask("epsilon-m", epsilon=4500, m=12)
    walk.shoot("infeasible", income)
    walk.ask("epsilon-m", epsilon=4500, m=5)
    walk.step(3)
    walk.shoot("3-anonymize")
    walk.run()
    walk.shoot("4-judge")
    walk.step(5)
    walk.shoot("5-export")
    for epsilon, m in ((2000, 3), (2000, 8)):
        walk.ask("epsilon-m", epsilon=epsilon, m=m)
        walk.step(3)
        walk.run()
    page.click("text=Compare runs")
    page.wait_for_url("**/compare")
    walk.drawn()
    walk.shoot("compare")


def levels(walk: Walk, people: Path) -> None:
    """Attach hierarchies, and publish each column on one level."""
    page = walk.page
    walk.open(people)
    for column in ("education", "salary"):
        with page.expect_response(lambda answer: answer.request.method == "PUT"):
            page.get_by_label(f"Role of {column}").select_option("insensitive")
    walk.hierarchy("age", "Intervals")
    walk.shoot("hierarchy")
    walk.use()
    walk.hierarchy("zip", "Masks")
    walk.use()
    walk.hierarchy("sex", "All or nothing")
    walk.use()
    walk.step(3)
    page.locator("input[value=lattice]").check()
    page.fill("input[name=suppression]", "1")
    walk.run()
    walk.shoot("nodes", page.locator("ul.glance"))


if __name__ == "__main__":
    main()
