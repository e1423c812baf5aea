"""A custodian at work: somebody who walks through the pages of the app.

Every walk is watched: a page that asks another host for something, or that complains in the
console (as it does when its own rules forbid something), fails the test at its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, expect

from tests.browser.running import SECONDS, Server

expect.set_options(timeout=1000 * SECONDS)

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
}
COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}

#: Whether the focus is seen, by an outline of the element or of what it is the control of, and
#: whether it is at a place.
_FOCUS = """place => {
    const at = document.activeElement;
    const seen = at === document.body || [at, at.closest("label"), at.nextElementSibling]
        .some(each => each && getComputedStyle(each).outlineStyle !== "none");
    return [seen, at === place];
}"""


class Walk:
    """Somebody at a browser.

    Parameters
    ----------
    browser : Browser
        The browser.
    server : Server
        The app.
    refusals : sequence of int
        Which answers other than 200 the test means to provoke: a browser complains of them.
    context : object
        More of playwright's settings: the window's width, the colours.
    """

    def __init__(
        self, browser: Browser, server: Server, refusals: Sequence[int] = (), **context: Any
    ) -> None:
        self.server = server
        self.refusals = list(refusals)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        window = {"viewport": {"width": 1280, "height": 900}}
        self.context = browser.new_context(**{**window, **context})
        self.context.set_default_timeout(1000 * SECONDS)
        self.context.on("request", lambda request: self.asked.append(request.url))
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.complaints.append(str(error.error)))
        self.page = self.context.new_page()

    def _hear(self, message: Any) -> None:
        meant = any(f"status of {status} " in message.text for status in self.refusals)
        if message.type in ("error", "warning") and not meant:
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def close(self) -> None:
        """Go, and tell whether everything was as it should be."""
        self.context.close()
        assert self.complaints == []
        assert self.asked
        assert [url for url in self.asked if not url.startswith(f"{self.server.origin}/")] == []

    # Going about

    def enter(self) -> Walk:
        """Open the address that the terminal shows."""
        self.page.goto(self.server.address)
        self.page.wait_for_url(lambda url: "token" not in url)
        return self.alive()

    def alive(self) -> Walk:
        """Wait until the page reacts: until then nothing on it can be used."""
        self.page.wait_for_load_state()
        expect(self.page.locator("main[inert]")).to_have_count(0)
        return self

    def tab(self) -> Walk:
        """Open another tab of the same browser, and return whoever looks at it."""
        other = object.__new__(Walk)
        other.__dict__.update(self.__dict__)
        other.page = self.context.new_page()
        other.go("/")
        return other

    def go(self, path: str) -> None:
        self.page.goto(self.server.root + path)
        self.alive()

    def reload(self) -> None:
        self.page.reload()
        self.alive()

    def open(self, path: object) -> Walk:
        """Open a table by its path, and wait until its columns are shown."""
        self.try_path(path)
        expect(self.page.locator("table.columns")).to_be_visible()
        return self.alive()

    def try_path(self, path: object) -> None:
        self.page.get_by_label("Or name a file on this computer").fill(str(path))
        self.page.get_by_role("button", name="Open", exact=True).click()

    @property
    def table(self) -> str:
        """The address of the table whose page is shown."""
        found = re.search(r"/tables/[^/]+", self.page.url)
        assert found, self.page.url
        return found[0]

    def step(self, title: str) -> None:
        """Go to a step by the list of steps."""
        link = self.page.get_by_role("navigation", name="Steps").get_by_role("link", name=title)
        link.click()
        expect(
            self.page.get_by_role("navigation", name="Steps").locator("[aria-current=step]")
        ).to_contain_text(title)
        self.alive()

    def onward(self) -> None:
        """Go to the next step by the button at the end of the page."""
        before = self.page.url
        self.page.get_by_role("link", name=re.compile("^Next")).click()
        self.page.wait_for_url(lambda url: url != before)
        self.alive()

    @property
    def alert(self) -> Locator:
        return self.page.locator("#alerts")

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Wait until what is done within has been saved."""
        with self.page.expect_response(
            lambda answer: answer.request.method == "PUT" and answer.url.endswith("/plan")
        ):
            yield

    # Step 1

    def row(self, column: str) -> Locator:
        return self.page.locator(f'tr[data-column="{column}"]')

    def role(self, column: str) -> Locator:
        return self.row(column).locator("select.role")

    def roles(self, **given: str) -> None:
        """Give roles to columns, as in ``quasi="age zip"``; what is not named is insensitive."""
        wanted = {column: role for role, columns in given.items() for column in columns.split()}
        for row in self.page.locator("tr[data-column]").all():
            column = row.get_attribute("data-column") or ""
            role = wanted.get(column, "insensitive")
            if self.role(column).input_value() != role:
                with self.saving():
                    self.role(column).select_option(role)
                expect(row).to_have_class(f"role-{role}")

    def hierarchy(self, column: str) -> Editor:
        """Open the editor of a column's hierarchy."""
        self.row(column).locator("button.hierarchy").click()
        return Editor(self, column)

    # Step 2

    def asked_of(self, name: str) -> Asked:
        """Return the card of a principle."""
        return Asked(self, self.page.locator(f'article.asked[data-principle="{name}"]'))

    def protect(self, column: str, name: str, kind: str | None = None) -> Asked:
        """Choose a principle for a sensitive attribute."""
        heading = self.page.get_by_role("heading", name=column)
        section = self.page.locator("section.attribute", has=heading)
        chooser = section.locator("details", has_text=f"Protect {column}")
        expect(chooser).to_have_count(1)
        if chooser.get_attribute("open") is None:
            chooser.locator("summary").click()
        if kind is not None:
            title = self.page.get_by_text(kind, exact=True)
            chooser.locator("label", has=title).get_by_role("radio").check()
        chooser.get_by_role("combobox").select_option(name)
        with self.saving():
            chooser.get_by_role("button", name="Add").click()
        return self.asked_of(name)

    # Step 3

    def settings(
        self, *, algorithm: str | None = None, seed: int | None = None, **selected: str
    ) -> None:
        """Say how the release is made."""
        expect(self.page.locator("#settings")).to_be_visible()
        if algorithm is not None:
            radio = self.page.locator(f'input[name="algorithm"][value="{algorithm}"]')
            if not radio.is_checked():
                with self.saving():
                    radio.check()
        for name, value in selected.items():
            box = self.page.locator(f'select[name="{name}"]')
            if box.input_value() != value:
                with self.saving():
                    box.select_option(value)
        if seed is not None:
            box = self.page.get_by_label("Seed, for tests only")
            if not box.is_visible():
                self.page.get_by_text("More settings").click()
            if box.input_value() != str(seed):
                with self.saving():
                    box.fill(str(seed))
                    box.blur()

    def start(self) -> None:
        """Begin to make the release."""
        with self.page.expect_response(
            lambda answer: answer.request.method == "POST" and answer.url.endswith("/runs")
        ):
            self.page.locator("#go").click()

    def make(self, **settings: Any) -> None:
        """Make the release, and wait until it can be judged."""
        self.settings(**settings)
        self.page.locator("#go").click()
        self.judged()

    def judged(self) -> None:
        """Wait until a release is shown with its pictures."""
        self.page.wait_for_url("**/judge")
        expect(self.page.locator("[data-chart] svg").first).to_be_visible()

    # Step 5

    def files(self) -> list[str]:
        """Return what Export offers."""
        return [link.inner_text() for link in self.page.locator("table.files a").all()]

    def take(self, folder: Path) -> Path:
        """Download everything that Export lists, one by one, and return where it lies."""
        for name in self.files():
            with self.page.expect_download() as download:
                self.page.locator("table.files").get_by_role("link", name=name, exact=True).click()
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            download.value.save_as(target)
        return folder

    # By keys alone

    def tab_to(self, place: Locator) -> None:
        """Press Tab until a place has the focus, which must be seen wherever it is."""
        expect(place).to_have_count(1)
        self.alive()
        for _ in range(300):
            self.page.keyboard.press("Tab")
            seen, there = place.evaluate(_FOCUS)
            assert seen, self.page.evaluate("document.activeElement.outerHTML")
            if there:
                return
        raise AssertionError(f"{place} cannot be reached by Tab")

    # Looking at the page

    def settled(self) -> None:
        """Wait until the page is alive, nothing is being worked out, and nothing moves."""
        self.alive()
        expect(self.page.locator(".message.waiting, .says.waiting")).to_have_count(0)
        # Buttons that fade into their state have other colours on the way.
        self.page.evaluate(
            """() => Promise.all(document.getAnimations()
                .filter(a => a.effect.getComputedTiming().endTime !== Infinity)
                .map(a => a.finished.catch(() => {})))"""
        )

    def require_accessible(self, what: str) -> None:
        """Find no fault of accessibility, in a wide and a narrow window, by day and by night.

        Whatever the width, the colours are the same; so by night only they are looked at.
        """
        self.settled()
        for width in (1280, 820):
            self.page.set_viewport_size({"width": width, "height": 900})
            wide = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{what} scrolls sideways by {wide} px at {width} px"
            self.require_no_fault(f"{what} at {width} px", RULES)
        self.page.emulate_media(color_scheme="dark")
        self.settled()
        self.require_no_fault(f"{what} in the dark", COLOURS)
        self.page.emulate_media(color_scheme="light")

    def require_no_fault(self, what: str, rules: dict[str, Any]) -> None:
        found = Axe().run(self.page, options=rules)
        assert found.violations_count == 0, f"{what}\n{found.generate_report()}"


class Editor:
    """The dialog in which a hierarchy is written and tried."""

    def __init__(self, walk: Walk, column: str) -> None:
        self.walk = walk
        self.column = column
        self.dialog = walk.page.get_by_role("dialog")
        expect(self.dialog).to_be_visible()

    def kind(self, title: str) -> Editor:
        self.dialog.get_by_role("radio", name=title).check()
        return self

    def fill(self, label: str, text: object) -> Editor:
        self.dialog.get_by_label(label).fill(str(text))
        return self

    def attempt(self) -> Editor:
        self.dialog.get_by_role("button", name="Try it").click()
        return self

    def use(self) -> None:
        """Try it, see that it is consistent, and keep it."""
        self.attempt()
        expect(self.dialog.locator(".message.good")).to_be_visible()
        with self.walk.saving():
            self.dialog.get_by_role("button", name="Use it").click()
        expect(self.dialog).to_be_hidden()

    def intervals(self, widths: str) -> None:
        self.kind("Intervals").fill("Widths, from fine to coarse", widths).use()

    def mask(self, letters: int) -> None:
        self.kind("Masks").fill("Letters to hide", letters).use()

    def flat(self) -> None:
        self.kind("All or nothing").use()

    def tree(self, kinds: Mapping[str, str]) -> None:
        """Write a tree of one level: what each value belongs to."""
        self.kind("Tree, written here")
        for value, belongs in kinds.items():
            self.dialog.get_by_label(f"{value}, level 1", exact=True).fill(belongs)
        self.use()

    def file(self, path: Path) -> None:
        self.kind("Tree, from a file")
        self.dialog.get_by_label("File", exact=True).set_input_files(path)
        self.use()


class Asked:
    """The card of a principle: its controls, its curve, and what is said of it."""

    def __init__(self, walk: Walk, card: Locator) -> None:
        self.walk = walk
        self.card = card

    @property
    def verdict(self) -> Locator:
        return self.card.locator(".says")

    @property
    def curve(self) -> Locator:
        return self.card.get_by_role("slider", name="arrow keys")

    def control(self, letter: str) -> Locator:
        """Return the part of a parameter: its slider and its box."""
        return self.card.locator(".control", has=self.walk.page.locator(f'b:text-is("{letter}")'))

    def box(self, letter: str) -> Locator:
        return self.control(letter).get_by_role("spinbutton")

    def slider(self, letter: str) -> Locator:
        return self.control(letter).get_by_role("slider")

    def set(self, letter: str, value: object) -> None:
        """Write a number into its box, and wait until it is saved."""
        with self.walk.saving():
            self.box(letter).fill(str(value))

    def possible(self) -> None:
        """Wait for the word that it is possible."""
        expect(self.verdict).to_have_class(re.compile(r"\bgood\b"))

    def impossible(self) -> None:
        """Wait for the word that it is not."""
        expect(self.verdict).to_have_class(re.compile(r"\bbad\b"))
