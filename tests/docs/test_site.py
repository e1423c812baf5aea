"""The site as it is built: strictly, without a network, with every page in its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from navigation import LEFT_OUT, expanded, title

from .conftest import DOCS

#: What makes a browser fetch something by itself.
LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "embed": "src",
    "link": "href",
}


class Page(HTMLParser):
    """The links, loads and anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}
        self.text = text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style", ""))


@pytest.fixture(scope="module")
def built(site: Path) -> dict[Path, Page]:
    found = (page for page in sorted(site.rglob("*.html")) if page.name != "404.html")
    return {page: Page(page.read_text(encoding="utf-8")) for page in found}


def sources() -> Iterator[Path]:
    return (page for page in sorted(DOCS.rglob("*.md")) if page.name not in LEFT_OUT)


def test_every_page_is_built(site: Path) -> None:
    for source in sources():
        assert (site / source.relative_to(DOCS)).with_suffix(".html").exists(), source


def test_every_page_is_in_the_navigation(site: Path, built: dict[Path, Page]) -> None:
    home = built[site / "index.html"]
    nav = home.text[home.text.index('<div class="md-sidebar md-sidebar--primary"') :]
    nav = nav[: nav.index('<div class="md-content"')]
    listed = {unquote(link) for link in Page(nav).links}
    for source in sources():
        page = source.relative_to(DOCS).with_suffix(".html").as_posix()
        assert page in listed, f"{page} is not in the nav of mkdocs.yml"


def test_links_lead_somewhere(site: Path, built: dict[Path, Page]) -> None:
    dead = []
    for page, found in built.items():
        for link in found.links:
            address, anchor = urldefrag(link)
            if urlsplit(link).scheme in ("http", "https", "mailto"):
                continue
            goal = (page.parent / unquote(address)).resolve() if address else page
            if not goal.exists() or (goal in built and unquote(anchor) not in built[goal].anchors):
                dead.append(f"{page.relative_to(site)}: {link}")
    assert dead == []


def test_pages_load_nothing_from_elsewhere(site: Path, built: dict[Path, Page]) -> None:
    for page, found in built.items():
        for load in found.loads:
            parts = urlsplit(load)
            assert parts.scheme in ("", "data"), (page, load)
            assert parts.netloc == "", (page, load)
            if parts.scheme == "":
                assert (page.parent / unquote(parts.path)).exists(), (page, load)
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        for load in re.findall(r"url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", text):
            assert not urlsplit(load[0] or load[1]).netloc, (sheet, load)


def test_search_knows_the_pages(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"]}
    assert {"tutorial.html", "principles/epsilon-m.html", "commands/check.html"} <= places
    assert "api/checking.html#wideberth.check" in places


def test_sources_of_the_generator_are_not_published(site: Path) -> None:
    assert list(site.rglob("*.py*")) == []


def test_docstrings_are_shown(site: Path, built: dict[Path, Page]) -> None:
    page = built[site / "api" / "anonymizing.html"]
    assert "wideberth.anonymize" in page.anchors
    assert "<code>suppression_limit</code>" in page.text
    principles = built[site / "api" / "principles.html"]
    assert "parameter(" not in principles.text, "a declaration was taken for a default"
    assert "Largest share of one value." in principles.text
    quoted = [p for p in built if "<blockquote>\n<blockquote>" in built[p].text]
    assert quoted == [], "a doctest was taken for a quotation"


def test_doctests_are_fenced_once() -> None:
    reading = pytest.importorskip("reading", reason="no griffe: pip install '.[docs]'")
    assert reading.fenced("Add.\n\n>>> 1\n1") == "Add.\n\n```pycon\n>>> 1\n1\n```"
    headed = "Add.\n\nExamples\n--------\n>>> 1\n1"
    assert reading.fenced(headed) == headed


def test_a_folder_of_the_navigation_stands_for_its_pages(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.md").write_text("Text.\n\n# Second: a page\n")
    (tmp_path / "more" / "a.md").write_text("# First\n")
    nav = [{"Home": "index.md"}, {"All": ["more.md", "more/"]}, "none/"]
    assert expanded(nav, tmp_path) == [
        {"Home": "index.md"},
        {"All": ["more.md", {"First": "more/a.md"}, {"Second: a page": "more/b.md"}]},
    ]
    (tmp_path / "more.md").write_text("[b](more/b.md#there), then [a](more/a.md)\n")
    assert list(expanded(["more/"], tmp_path)[0]) == ["Second: a page"]
    assert title(tmp_path / "more" / "a.md") == "First"
