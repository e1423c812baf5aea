"""Work that is kept from the first step on, and pages that hold whatever names there are."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.browser.running import Server
from tests.browser.ui import Walk
from wideberth import datasets

Visit = Callable[..., Walk]

LONG = "a_name_without_any_space_" * 7


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "people.csv"
    datasets.census(200).select("age", "zip", "sex", "disease").write_csv(path)
    return path


def decide(walk: Walk) -> None:
    """Decide about roles, types and hierarchies."""
    walk.roles(quasi="age sex", sensitive="disease")
    with walk.saving():
        walk.row("age").locator("select.type").select_option("decimal")
    walk.hierarchy("age").intervals("10, 30")
    walk.hierarchy("sex").tree({"F": "any", "M": "any"})


def require_decided(walk: Walk) -> None:
    """See what was decided."""
    for column, role in (("age", "quasi"), ("zip", "insensitive"), ("disease", "sensitive")):
        expect(walk.role(column)).to_have_value(role)
    expect(walk.row("age").locator("select.type")).to_have_value("decimal")
    expect(walk.row("age").locator(".said")).to_have_text("intervals of 10, 30")
    editor = walk.hierarchy("sex")
    expect(editor.dialog.get_by_label("F, level 1", exact=True)).to_have_value("any")
    editor.dialog.get_by_role("button", name="Cancel").click()


@pytest.mark.parametrize("way", ["path", pytest.param("upload", marks=pytest.mark.nightly)])
def test_a_killed_server_s_work_is_taken_up_again(
    visit: Visit, people: Path, tmp_path: Path, way: str
) -> None:
    state = tmp_path / "state"
    first = Server(tmp_path / "first", state=state)
    walk = visit(first)
    if way == "path":
        walk.open(people)
    else:
        walk.page.get_by_label("Choose a file").set_input_files(people)
        expect(walk.page.locator("table.columns")).to_be_visible()
        walk.alive()
    decide(walk)
    assert first.stop(signal.SIGKILL) == -signal.SIGKILL

    second = Server(tmp_path / "second", state=state)
    try:
        walk = visit(second)
        item = walk.page.locator("#drafts li")
        expect(item).to_have_count(1)
        expect(item).to_contain_text("people.csv")
        walk.require_accessible("drafts on the first page")
        if way == "path":
            item.get_by_role("button", name="Take up again").click()
        else:
            with walk.page.expect_file_chooser() as chooser:
                item.get_by_role("button", name="Take up again").click()
            chooser.value.set_files(people)
        expect(walk.page.locator("#notice")).to_contain_text("taken up again")
        walk.alive()
        require_decided(walk)
        walk.go("/")
        expect(walk.page.locator("#drafts")).to_have_count(0)  # it is open
        walk.page.once("dialog", lambda asked: asked.accept())
        walk.page.get_by_role("button", name="Close people.csv").click()
        expect(item).to_have_count(1)
        walk.page.once("dialog", lambda asked: asked.accept())
        item.get_by_role("button", name="Remove").click()
        expect(item).to_have_count(0)
        walk.alive()  # it was reloaded
    finally:
        assert second.stop() == 0


def test_settings_are_downloaded_and_taken_up_before_any_run(
    visit: Visit, people: Path, tmp_path: Path
) -> None:
    walk = visit().open(people)
    decide(walk)
    with walk.page.expect_download() as download:
        walk.page.get_by_role("link", name="Download the settings").click()
    assert download.value.suggested_filename == "people-settings.zip"
    taken = tmp_path / "people-settings.zip"
    download.value.save_as(taken)
    again = walk.tab().open(people)
    again.page.get_by_label("Or choose the file").set_input_files(taken)
    expect(again.alert).to_contain_text("are taken up")
    require_decided(again)


def test_a_cancelled_run_is_not_at_work(visit: Visit, server: Server, people: Path) -> None:
    walk = visit().open(people)
    walk.step("Anonymize")
    walk.start()
    with server.frozen():
        walk.reload()
        listed = walk.page.locator("#runs li .state")
        expect(listed).to_have_text("at work")
        walk.page.locator("#cancel").click()
        expect(walk.page.locator("#outcome")).to_contain_text("cancelled")
    expect(listed).to_have_text("cancelled")


def test_why_a_role_is_guessed_is_told_in_full(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "slip.csv"
    texts = [*map(str, range(100, 199)), "12O"]
    pl.DataFrame({"wage": texts, "sex": ["F", "M"] * 50}).write_csv(path)
    walk = visit(viewport={"width": 820, "height": 900}).open(path)
    why = walk.row("wage").locator(".why")
    expect(why).to_contain_text("see row 100")
    # It has its place: nothing hides it.
    assert why.evaluate("w => w.scrollWidth <= w.clientWidth && w.offsetHeight > 0")
    table = walk.page.locator(".scroll", has=walk.page.locator("table.columns"))
    assert table.evaluate("t => t.scrollWidth <= t.clientWidth")


def test_long_names_widen_no_page(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / f"{LONG}.csv"
    made = datasets.census(120).select("age", "sex", "disease")
    made.rename({"sex": f"{LONG}sex", "disease": f"{LONG}disease"}).write_csv(path)
    walk = visit().open(path)
    walk.roles(quasi=f"age {LONG}sex", sensitive=f"{LONG}disease")

    def require_narrow(what: str) -> None:
        walk.settled()
        for width in (1280, 820):
            walk.page.set_viewport_size({"width": width, "height": 900})
            wide = walk.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{what} scrolls sideways by {wide} px at {width} px"

    require_narrow("data")
    table = walk.page.locator(".scroll", has=walk.page.locator("table.columns"))
    assert table.evaluate("t => t.scrollWidth <= t.clientWidth")
    editor = walk.hierarchy(f"{LONG}sex")
    assert editor.dialog.evaluate("d => d.scrollWidth <= d.clientWidth")
    editor.dialog.get_by_role("button", name="Cancel").click()
    walk.step("Principle")
    require_narrow("principle")
    walk.step("Anonymize")
    walk.settings(algorithm="lattice")
    require_narrow("lattice")
    walk.settings(algorithm="mondrian")
    walk.make()
    require_narrow("judge")
    walk.step("Export")
    require_narrow("export")
    walk.step("Anonymize")
    require_narrow("runs")
    walk.go("/")
    require_narrow("home")
    walk.page.once("dialog", lambda asked: asked.accept())
    walk.page.locator(".plain-list li", has_text=LONG).get_by_role("button", name="Close").click()
    expect(walk.page.locator("#drafts li", has_text=LONG)).to_have_count(1)
    require_narrow("drafts")
