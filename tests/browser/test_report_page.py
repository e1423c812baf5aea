"""The report in a real browser: it fetches nothing, everybody can read it, it fits the window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

import wideberth as wb
from tests.reports import samples
from wideberth import Report, datasets
from wideberth.reports.content import compose

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
}


def failing() -> dict[str, Any]:
    """Return the parts of a report on a table that fails, with findings of every severity."""
    told = samples.audit()
    told.update(satisfied=False, principles=samples.principles(satisfied=False), guessed=True)
    found = samples.findings()[1]
    told["findings"] = [{**found, "severity": s} for s in ("high", "medium", "low", "info")]
    told["notes"] = ["a note"]
    told["attributes"][0]["on"] = "a_name+that+is+long+and_has+no_place_to+break_it"
    return {
        "audit": told,
        "queries": samples.queries(),
        "utility": samples.utility(),
        "probe": samples.probe(),
    }


def of_numbers() -> Report:
    """Report on a release of numbers, with everything that there is to say."""
    people = datasets.sal(2000)
    release = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles="epsilon-m:epsilon=4500,m=4",
        seed=1,
    )
    return wb.report(release, original=people, probe=True, swaps=False)


def of_lattice() -> Report:
    """Report on a release by levels of hierarchies, which leaves out some rows."""
    people = datasets.census(2000).select("age", "zip", "sex", "disease")
    release = wb.anonymize(
        people,
        quasi=["age", "zip", "sex"],
        sensitive="disease",
        principles=["k-anonymity:k=5", "distinct-l:l=3"],
        algorithm="lattice",
        suppression_limit=0.05,
        hierarchies={"age": {"interval": [5, 10, 20]}, "zip": {"mask": 5}, "sex": {"flat": True}},
        seed=1,
    )
    return wb.report(release, original=people, swaps=False)


REPORTS = {
    "met": lambda: compose(**samples.parts()),
    "failing": lambda: compose(**failing()),
    "numbers": of_numbers,
    "lattice": of_lattice,
}


@pytest.fixture(scope="module", params=REPORTS)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    REPORTS[request.param]().save(path)
    return path


@pytest.fixture(
    params=[
        (390, "screen", "dark"),
        pytest.param((1280, "screen", "light"), marks=pytest.mark.nightly),
        pytest.param((720, "print", "light"), marks=pytest.mark.nightly),
    ],
    ids=lambda given: "-".join(map(str, given)),
)
def page(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    width, media, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    opened = context.new_page()
    opened.emulate_media(media=media, color_scheme=scheme)
    yield opened
    context.close()


def test_page_is_accessible_and_fetches_nothing(page: Page, file: Path) -> None:
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(file.as_uri())
    assert asked == [file.as_uri()]
    assert said == []
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0, "the page scrolls sideways"
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    found = Axe().run(page, options=RULES)
    assert found.violations_count == 0, found.generate_report()


def test_page_is_small(file: Path) -> None:
    assert file.stat().st_size < 1_000_000


def test_texts_of_pictures_are_inside(browser: Browser, file: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    outside = page.evaluate(
        """() => [...document.querySelectorAll('figure svg')].flatMap(svg => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return box.left < frame.left - 1 || box.right > frame.right + 1;
            }).map(text => text.textContent);
        })"""
    )
    page.close()
    assert outside == []
