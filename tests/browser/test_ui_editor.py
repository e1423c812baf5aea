"""The editor of hierarchies: what it shows is what it keeps, whatever the server's pace."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Error, Route, expect

from tests.browser.ui import Editor, Walk
from wideberth import datasets

Visit = Callable[..., Walk]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def people(folder: Path) -> Path:
    path = folder / "people.csv"
    datasets.census(200).select("age", "zip", "sex", "disease").write_csv(path)
    return path


def rules(walk: Walk) -> Any:
    """Return the hierarchies of the settings as the server has them, but for what is proposed."""
    found = walk.page.evaluate(
        """async path => (await (await fetch(path)).json()).content.hierarchies ?? {}""",
        f"{walk.server.root}/api{walk.table}",
    )
    return {column: rule for column, rule in found.items() if rule != {"mask": 5}}


def use(editor: Editor) -> None:
    """Press "Use it", whatever was tried."""
    with editor.walk.saving():
        editor.dialog.get_by_role("button", name="Use it").click()
    expect(editor.dialog).to_be_hidden()


class Slow:
    """A server whose answers about hierarchies come when they are let go."""

    def __init__(self, walk: Walk) -> None:
        self.held: list[Route] = []
        walk.page.route(re.compile(r"/hierarchy(\?|$)"), self._hold)

    def _hold(self, route: Route) -> None:
        if route.request.method == "POST":
            self.held.append(route)
        else:
            route.continue_()

    def answer(self, walk: Walk) -> None:
        """Answer the oldest question, as the intervals of 5 and 10 that it was about."""
        assert self.held
        found = {"level": 0, "values": 7, "examples": []}
        answer = {"levels": [found], "leaves": 7, "rule": {"interval": [5, 10]}}
        with suppress(Error):  # a page that no longer waits may have hung up
            self.held.pop(0).fulfill(json=answer)
        # A page that still waits takes it in at once.
        walk.page.evaluate("() => new Promise(done => setTimeout(done, 100))")


def test_what_is_typed_is_used_not_what_was_tried(visit: Visit, people: Path) -> None:
    walk = visit().open(people)
    editor = walk.hierarchy("age").kind("Intervals").fill("Widths, from fine to coarse", "5, 10")
    editor.attempt()
    expect(editor.dialog.locator(".message.good")).to_be_visible()
    editor.fill("Widths, from fine to coarse", "10, 30")
    expect(editor.dialog.locator(".ladder")).to_have_count(0)  # it was about something else
    use(editor)
    assert rules(walk) == {"age": {"interval": [10, 30]}}
    expect(walk.row("age").locator(".said")).to_have_text("intervals of 10, 30")


def test_what_is_wrong_is_not_used(visit: Visit, people: Path) -> None:
    walk = visit(refusals=[422]).open(people)
    editor = walk.hierarchy("age").kind("Intervals").fill("Widths, from fine to coarse", "5, 10")
    editor.attempt()
    expect(editor.dialog.locator(".message.good")).to_be_visible()
    editor.fill("Widths, from fine to coarse", "5, 7")
    editor.dialog.get_by_role("button", name="Use it").click()
    expect(editor.dialog.locator(".message.bad")).to_contain_text("not a multiple")
    expect(editor.dialog.get_by_role("button", name="Use it")).to_be_disabled()
    assert rules(walk) == {}
    editor.fill("Widths, from fine to coarse", "5, 15")
    use(editor)
    assert rules(walk) == {"age": {"interval": [5, 15]}}


def test_a_late_answer_is_not_used_under_another_kind(visit: Visit, people: Path) -> None:
    walk = visit().open(people)
    slow = Slow(walk)
    editor = walk.hierarchy("age").kind("Intervals").fill("Widths, from fine to coarse", "5, 10")
    editor.attempt()
    expect(editor.dialog.locator(".message.waiting")).to_be_visible()
    editor.kind("Masks").fill("Letters to hide", 1)
    slow.answer(walk)  # of the intervals, which are no longer shown
    expect(editor.dialog.locator(".ladder")).to_have_count(0)
    walk.page.unroute(re.compile(r"/hierarchy(\?|$)"))
    use(editor)
    assert rules(walk) == {"age": {"mask": 1}}


def test_a_late_answer_is_not_used_for_what_is_typed_since(visit: Visit, people: Path) -> None:
    walk = visit().open(people)
    slow = Slow(walk)
    editor = walk.hierarchy("age").kind("Intervals").fill("Widths, from fine to coarse", "5, 10")
    editor.dialog.get_by_role("button", name="Use it").click()
    expect(editor.dialog.locator(".message.waiting")).to_be_visible()
    editor.fill("Widths, from fine to coarse", "20, 40")
    slow.answer(walk)
    expect(editor.dialog).to_be_visible()  # nothing was kept: it was changed meanwhile
    assert rules(walk) == {}
    walk.page.unroute(re.compile(r"/hierarchy(\?|$)"))
    use(editor)
    assert rules(walk) == {"age": {"interval": [20, 40]}}


def test_each_kind_keeps_what_was_typed(visit: Visit, people: Path, folder: Path) -> None:
    walk = visit().open(people)
    file = folder / "sexes.csv"
    file.write_text("F;*\nM;*\n")
    editor = walk.hierarchy("sex").kind("Tree, written here")
    editor.fill("F, level 1", "some").kind("Masks").fill("Letters to hide", 7)
    editor.kind("Dates").dialog.get_by_label("quarter").uncheck()
    editor.kind("Tree, from a file")
    editor.dialog.get_by_label("File", exact=True).set_input_files(file)
    editor.kind("Tree, written here")
    expect(editor.dialog.get_by_label("F, level 1", exact=True)).to_have_value("some")
    editor.kind("Masks")
    expect(editor.dialog.get_by_label("Letters to hide")).to_have_value("7")
    editor.kind("Dates")
    expect(editor.dialog.get_by_label("quarter")).not_to_be_checked()
    editor.kind("Tree, from a file")
    assert editor.dialog.get_by_label("File", exact=True).evaluate("f => f.files[0].name")
    walk.page.once("dialog", lambda asked: asked.accept())
    editor.dialog.get_by_role("button", name="Cancel").click()
    expect(editor.dialog).to_be_hidden()


def test_a_saved_tree_opens_as_it_was(visit: Visit, people: Path) -> None:
    walk = visit().open(people)
    kinds = {value: "lungs" if value in ("Flu", "bronchitis", "pneumonia") else "" for value in
             pl.read_csv(people)["disease"].drop_nulls().unique().sort()}  # fmt: skip
    editor = walk.hierarchy("disease").kind("Tree, written here")
    for value, kind in kinds.items():
        editor.fill(f"{value}, level 1", kind)
    editor.dialog.get_by_role("button", name="Add a level").click()
    editor.fill("Flu, level 2", "organs").fill("bronchitis, level 2", "organs")
    editor.fill("pneumonia, level 2", "organs")
    use(editor)
    walk.reload()
    editor = walk.hierarchy("disease")
    expect(editor.dialog.get_by_role("radio", name="Tree, written here")).to_be_checked()
    for value, kind in kinds.items():
        expect(editor.dialog.get_by_label(f"{value}, level 1", exact=True)).to_have_value(kind)
    expect(editor.dialog.get_by_label("Flu, level 2", exact=True)).to_have_value("organs")
    # It can be changed, and is then another.
    editor.fill("Cancer, level 1", "growth")
    use(editor)
    editor = walk.hierarchy("disease")
    expect(editor.dialog.get_by_label("Cancer, level 1", exact=True)).to_have_value("growth")
    expect(editor.dialog.get_by_label("Flu, level 1", exact=True)).to_have_value("lungs")
    editor.dialog.get_by_role("button", name="Cancel").click()


def test_a_saved_file_is_named_and_can_be_used_again(
    visit: Visit, people: Path, folder: Path
) -> None:
    walk = visit(refusals=[422]).open(people)
    file = folder / "both sexes-202401.csv"
    file.write_text("child,parent\nF,any\nM,any\n")
    editor = walk.hierarchy("sex").kind("Tree, from a file")
    editor.dialog.get_by_label("File", exact=True).set_input_files(file)
    editor.dialog.get_by_label("It has").select_option("parents")
    use(editor)
    before = rules(walk)
    editor = walk.hierarchy("sex")
    expect(editor.dialog.get_by_role("radio", name="Tree, from a file")).to_be_checked()
    expect(editor.dialog.get_by_label("It has")).to_have_value("parents")
    expect(editor.dialog.get_by_text("In use:")).to_contain_text("both sexes-202401.csv")
    use(editor)
    assert rules(walk) == before
    # The tree is there to be changed, too.
    editor = walk.hierarchy("sex").kind("Tree, written here")
    expect(editor.dialog.get_by_label("F, level 1", exact=True)).to_have_value("any")
    editor.dialog.get_by_role("button", name="Cancel").click()


def test_faults_name_the_user_s_file(visit: Visit, people: Path, folder: Path) -> None:
    walk = visit(refusals=[422]).open(people)
    file = folder / "my-tree.csv"
    file.write_text("F;;*\nM;any;*\n")
    editor = walk.hierarchy("sex").kind("Tree, from a file")
    editor.dialog.get_by_label("File", exact=True).set_input_files(file)
    editor.attempt()
    fault = editor.dialog.locator(".message.bad")
    expect(fault).to_contain_text(": my-tree.csv: cell 2 is empty (line 1)")
    editor.dialog.get_by_role("button", name="Cancel").click()
    editor = walk.hierarchy("disease").kind("Tree, written here")
    editor.dialog.get_by_role("button", name="Add a level").click()
    for value, above in (("Flu", "one"), ("Cancer", "another")):
        editor.fill(f"{value}, level 1", "kind").fill(f"{value}, level 2", above)
    editor.attempt()
    expect(fault).to_contain_text("The tree written here: cell 2 holds one label")
    assert "/" not in fault.inner_text()


def test_rules_of_a_policy_open_as_they_are(visit: Visit, people: Path, folder: Path) -> None:
    policy = folder / "policy.toml"
    policy.write_text(
        '[roles]\nquasi = ["age", "zip", "sex"]\nsensitive = ["disease"]\n[hierarchies]\n'
        'age = { interval = [5, 10], origin = 2 }\nzip = { mask = 3, char = "#" }\n'
        "disease = { icd = 10, dots = false }\n"
    )
    walk = visit().open(people)
    walk.page.get_by_label("By its path").fill(str(policy))
    walk.page.get_by_role("button", name="Take up", exact=True).click()
    expect(walk.alert).to_contain_text("taken up")
    editor = walk.hierarchy("disease")
    expect(editor.dialog.get_by_role("radio", name="ICD-10")).to_be_checked()
    expect(editor.dialog.get_by_label("with a dot")).not_to_be_checked()
    editor.dialog.get_by_role("button", name="Cancel").click()
    editor = walk.hierarchy("zip")
    expect(editor.dialog.get_by_label("Letters to hide")).to_have_value("3")
    use(editor)
    assert rules(walk)["zip"] == {"mask": 3, "char": "#"}
    editor = walk.hierarchy("age").kind("Dates")
    for unit in ("day", "month", "quarter", "year", "decade"):
        expect(editor.dialog.get_by_label(unit, exact=True)).to_be_visible()
    editor.dialog.get_by_role("button", name="Cancel").click()
