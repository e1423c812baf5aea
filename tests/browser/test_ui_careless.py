"""Who follows what the app proposes makes a safe release, or is asked, or is told it is unsafe.

Everything proposed is accepted, and columns that stay undecided are decided wrongly. The release is
judged by its published text: a green verdict on an unsafe one is a failure. The command line's half
is in tests/cli/test_careless_path.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.ui import Walk
from tests.everyday import TABLES, Everyday, german, renamed, unsafe, visits

Visit = Callable[..., Walk]


def carelessly(walk: Walk, everyday: Everyday, path: Path, told: str) -> None:
    """Open a table, see what step 1 says of it, decide what must be decided, and go to step 3."""
    path.write_text(everyday.text)
    walk.open(path)
    expect(walk.page.locator("main")).to_contain_text(told)
    for column, role in everyday.decisions.items():
        expect(walk.role(column)).to_have_value("undecided")
        with walk.saving():
            walk.role(column).select_option(role)
        expect(walk.row(column)).to_have_class(f"role-{role}")
    walk.onward()
    walk.onward()


@pytest.mark.parametrize(
    ("make", "told"),
    [
        pytest.param(german, "Gehalt is written as 1.234,56", id="german"),
        pytest.param(renamed("quasi"), "ou must decide what kz7 is", id="taken for known"),
    ],
)
def test_no_green_verdict_on_an_unsafe_release(
    visit: Visit, tmp_path: Path, make: Callable[[], Everyday], told: str
) -> None:
    everyday, people = make(), tmp_path / "people.csv"
    walk = visit()
    carelessly(walk, everyday, people, told)
    walk.make()
    verdict = walk.page.locator("section.verdict")
    said, level = verdict.inner_text(), (verdict.get_attribute("class") or "").split()[-1]
    assert level in ("good", "caution", "bad")
    walk.onward()
    release = walk.take(tmp_path / "taken") / "release.csv"
    if level == "good":
        assert not unsafe(everyday, people, release), said


def test_several_rows_of_a_person_are_asked_about(visit: Visit, tmp_path: Path) -> None:
    walk = visit()
    carelessly(walk, visits(), tmp_path / "people.csv", "a person seems to have several rows")
    walk.start()
    outcome = walk.page.locator("#outcome")
    expect(outcome).to_contain_text("several rows")
    expect(outcome.locator(".hint")).to_contain_text("tick the box")
    expect(outcome).to_contain_text("Nothing was made")
    steps = walk.page.get_by_role("navigation", name="Steps")
    expect(steps.get_by_role("link", name="Export")).to_have_count(0)
    made = f"{walk.server.root}{walk.table}/runs/1/files/release.csv"
    assert walk.page.request.get(made).status == 404


def test_how_dates_are_read_is_chosen_in_step_1(visit: Visit, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text(TABLES["dates"]().text)
    walk = visit().open(people)
    kind = walk.row("born").locator("select.type")
    advice = walk.page.locator("#advice")

    def settings() -> dict[str, Any]:
        told = walk.page.request.get(f"{walk.server.root}/api{walk.table}").json()["content"]
        return {part: told.get(part, {}).get("born") for part in ("types", "formats")}

    expect(kind).to_have_value("")
    expect(advice).to_contain_text("ou must decide how born is read")
    for label, kept in (
        ("text", {"types": "text", "formats": None}),
        ("month first: 05/31/2013", {"types": None, "formats": "%m/%d/%Y"}),
        ("text", {"types": "text", "formats": None}),
        ("day first: 31/05/2013", {"types": None, "formats": "%d/%m/%Y"}),
    ):
        with walk.saving():
            kind.select_option(label=label)
        expect(advice).not_to_contain_text("born is read")
        assert settings() == kept
    walk.reload()
    expect(kind).to_have_value("way:%d/%m/%Y")
    walk.step("Anonymize")
    walk.make()
