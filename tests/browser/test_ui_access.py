"""Everybody can use the app: no fault that axe finds, by keys alone, and in a narrow window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.browser.running import Client, Server
from tests.browser.ui import RULES, Walk
from wideberth import datasets

Visit = Callable[..., Walk]


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "people.csv"
    datasets.census(600).write_csv(path)
    return path


@pytest.fixture(scope="module")
def made(server: Server, people: Path) -> dict[str, str]:
    """Bring the app into every state that it has, and return where each is seen."""
    broken = people.with_name("broken.parquet")
    broken.write_bytes(b"no table")
    with Client(server) as client:
        table, other, wrong = (client.open(path) for path in (people, people, broken))
        roles = {"quasi": ["age", "zip", "sex"], "sensitive": ["disease", "salary"]}
        roles |= {"identifier": ["id"], "insensitive": ["education"]}
        rules = {"age": {"interval": [10, 30]}, "zip": {"mask": 5}, "sex": {"flat": True}}
        near = {"name": "epsilon-m", "on": "salary", "epsilon": 500, "m": 3}
        alike = {"name": "k-anonymity", "k": 5}
        client.plan(
            table,
            seed=1,
            roles=roles,
            principle=[alike, near, {"name": "distinct-l", "on": "disease", "l": 2}],
            hierarchies=rules,
            transform={"algorithm": "lattice", "suppression_limit": 0.05},
        )
        run = client.run(table)
        client.plan(table, transform={})
        client.run(table)
        client.plan(other, roles=roles, principle=[alike, {**near, "m": 300}])
        client.run(other)
    return {
        "data": f"{table}/data",
        "principle": f"{table}/principle",
        "anonymize": f"{table}/anonymize",
        "judge": f"{run}/judge",
        "export": f"{run}/export",
        "compare": f"{table}/compare",
        "impossible": f"{other}/principle",
        "infeasible": f"{other}/anonymize",
        "nothing to compare": f"{other}/compare",
        "not a table": f"{wrong}/data",
        "not found": "/tables/none/data",
        "home": "/",
    }


#: The pages, and what must be seen before one is looked at.
SHOWN = {
    "home": "#path",
    "data": "table.columns",
    "principle": ".curve svg",
    "anonymize": "#settings",
    "judge": "[data-chart] svg",
    "export": "table.files",
    "compare": "[data-chart] svg",
    "impossible": ".says.bad",
    "infeasible": "#outcome .message",
    "nothing to compare": "main .button",
    "not a table": ".message.bad",
    "not found": ".message.bad",
}


#: What a walk through the app passes; the pages of what went wrong are looked at every night.
PASSED = ("home", "data", "principle", "anonymize", "judge", "export")


@pytest.mark.parametrize(
    "name",
    [n if n in PASSED else pytest.param(n, marks=pytest.mark.nightly) for n in SHOWN],
)
def test_page_is_accessible(visit: Visit, made: dict[str, str], name: str) -> None:
    walk = visit(refusals=[404])
    walk.go(made[name])
    expect(walk.page.locator(SHOWN[name]).first).to_be_visible()
    walk.settled()
    walk.page.evaluate("for (const part of document.querySelectorAll('details')) part.open = 1")
    walk.require_accessible(name)


def test_alert_is_accessible(visit: Visit) -> None:
    walk = visit(refusals=[422])
    walk.try_path("/nowhere.csv")
    expect(walk.alert.locator(".message.bad")).to_be_visible()
    walk.require_accessible("an alert")


def test_editor_of_hierarchies_is_accessible(visit: Visit, made: dict[str, str]) -> None:
    walk = visit(refusals=[422])
    walk.go(made["data"])
    editor = walk.hierarchy("sex")
    kinds = editor.dialog.get_by_role("radio").all()
    assert len(kinds) >= 5
    for kind in kinds:
        kind.check()
        walk.require_no_fault(f"the editor of {kind.get_attribute('value')}", RULES)
    editor.kind("All or nothing").attempt()
    expect(editor.dialog.locator(".message.good")).to_be_visible()
    walk.require_accessible("a hierarchy that was tried")
    editor.kind("Dates").attempt()
    expect(editor.dialog.locator(".message.bad")).to_be_visible()
    walk.require_accessible("a hierarchy that does not fit")


def test_colours_can_be_chosen(visit: Visit, made: dict[str, str]) -> None:
    walk = visit(color_scheme="light")
    root = walk.page.locator("html")
    button = walk.page.get_by_role("button", name="Colours")
    for shown, said in (("light", "light"), ("dark", "dark"), ("light", "as the system")):
        button.click()
        expect(root).to_have_attribute("data-theme", shown)
        expect(button).to_have_accessible_name(f"Colours: {said}")
    button.click()
    button.click()
    walk.go(made["data"])
    expect(root).to_have_attribute("data-theme", "dark")


def test_by_keys_alone(visit: Visit, people: Path, tmp_path: Path) -> None:
    walk = visit()
    press = walk.page.keyboard.press
    walk.tab_to(walk.page.locator("#path"))
    walk.page.keyboard.type(str(people))
    press("Enter")
    expect(walk.page.locator("table.columns")).to_be_visible()

    walk.tab_to(walk.role("education"))
    with walk.saving():
        walk.page.keyboard.type("Ins")
    expect(walk.row("education")).to_have_class("role-insensitive")
    walk.tab_to(walk.row("zip").locator("button.hierarchy"))
    press("Enter")
    dialog = walk.page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    walk.tab_to(dialog.get_by_role("button", name="Try it"))
    press("Space")
    expect(dialog.locator(".message.good, .message.bad")).to_be_visible()
    press("Escape")
    expect(dialog).to_be_hidden()
    expect(walk.row("zip").locator("button.hierarchy")).to_be_focused()
    walk.tab_to(walk.page.locator("#next"))
    press("Enter")

    walk.tab_to(walk.page.locator("summary", has_text="Protect salary further"))
    press("Enter")
    chooser = walk.page.locator("details", has_text="Protect salary further")
    walk.tab_to(chooser.get_by_role("combobox"))
    walk.page.keyboard.type("(ε,m)")
    walk.tab_to(chooser.get_by_role("button", name="Add"))
    with walk.saving():
        press("Enter")
    asked = walk.asked_of("epsilon-m")
    asked.possible()
    walk.tab_to(asked.slider("m"))
    before = asked.box("m").input_value()
    with walk.saving():
        press("ArrowLeft")
    expect(asked.box("m")).not_to_have_value(before)
    walk.tab_to(asked.curve)
    reach = asked.box("ε").input_value()
    with walk.saving():
        press("ArrowLeft")
    expect(asked.box("ε")).not_to_have_value(reach)
    asked.possible()
    walk.tab_to(walk.page.get_by_role("link", name="Next: anonymize"))
    press("Enter")

    chosen = walk.page.locator("input[name=algorithm][value=mondrian]")
    walk.tab_to(chosen)
    with walk.saving():
        press("ArrowRight")
    expect(walk.page.locator("input[name=algorithm][value=lattice]")).to_be_checked()
    with walk.saving():
        press("ArrowLeft")
    expect(chosen).to_be_checked()
    walk.tab_to(walk.page.locator("#go"))
    press("Enter")
    walk.judged()
    walk.tab_to(walk.page.get_by_role("link", name="Next: export"))
    press("Enter")
    walk.tab_to(walk.page.get_by_role("link", name="release.csv", exact=True))
    with walk.page.expect_download() as download:
        press("Enter")
    download.value.save_as(tmp_path / "release.csv")
    assert "id" not in pl.read_csv(tmp_path / "release.csv").columns


def test_first_tab_leads_to_the_content(visit: Visit, made: dict[str, str]) -> None:
    walk = visit()
    walk.go(made["judge"])
    skip = walk.page.get_by_role("link", name="To the content")
    walk.page.keyboard.press("Tab")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    walk.page.keyboard.press("Enter")
    expect(walk.page.locator("main")).to_be_focused()
