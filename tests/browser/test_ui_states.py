"""What comes in the way: wrong files, impossible wishes, reloads, other tabs, lost processes."""

from __future__ import annotations

import os
import re
import signal
import tomllib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import expect

from tests.browser.running import Server, is_gone, until
from tests.browser.ui import Walk
from wideberth import datasets

Visit = Callable[..., Walk]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@pytest.fixture(scope="module")
def incomes(folder: Path) -> Path:
    path = folder / "incomes.csv"
    datasets.sal(1000).write_csv(path)
    return path


@pytest.fixture(scope="module")
def people(folder: Path) -> Path:
    path = folder / "people.csv"
    datasets.census(800).select("age", "zip", "sex", "disease").write_csv(path)
    return path


# Step 1


def test_wrong_files_are_told_of_and_harm_nothing(visit: Visit, folder: Path, people: Path) -> None:
    walk = visit(refusals=[422])
    for path in (folder / "none.csv", folder, " ", "/dev/null"):
        walk.alert.evaluate("alert => alert.replaceChildren()")
        walk.try_path(path)
        expect(walk.alert).to_contain_text("Try:")
    binary = folder / "binary.csv"
    binary.write_bytes(bytes(range(256)) * 200)
    empty = folder / "empty.csv"
    empty.write_bytes(b"")
    other = folder / "people.docx"
    other.write_bytes(people.read_bytes())
    torn = folder / "torn.parquet"
    torn.write_bytes(b"PAR1 and nothing of the kind")
    for path in (binary, empty, other, torn):
        walk.try_path(path)
        expect(walk.page.get_by_text("This table cannot be opened")).to_be_visible()
        expect(walk.page.locator(".message.bad .hint")).to_be_visible()
        walk.page.get_by_role("link", name="Open another file").click()
    titled = folder / "titled.csv"
    titled.write_text(f"People of today\n{people.read_text()}")
    walk.try_path(titled)
    expect(walk.page.locator(".message.bad .hint")).to_contain_text("Lines above the header")
    walk.page.get_by_label("Lines above the header").fill("1")
    walk.page.get_by_role("button", name="Read again").click()
    expect(walk.row("age")).to_be_visible()
    walk.go("/")
    walk.open(people)
    walk.go("/")
    # What could not be read is no open table, and its file is not kept.
    expect(walk.page.get_by_role("link", name="people.csv").first).to_be_visible()
    expect(walk.page.get_by_text("torn.parquet")).to_have_count(0)


@pytest.mark.parametrize("way", ["choose", "drop"])
def test_upload(visit: Visit, server: Server, people: Path, way: str) -> None:
    walk = visit()
    if way == "choose":
        walk.page.get_by_label("Choose a file").set_input_files(people)
    else:
        carried = walk.page.evaluate_handle(
            """text => {
                const carried = new DataTransfer();
                carried.items.add(new File([text], "people.csv", {type: "text/csv"}));
                return carried;
            }""",
            people.read_text(),
        )
        walk.page.locator("#drop").dispatch_event("drop", {"dataTransfer": carried})
    expect(walk.page.locator("table.columns")).to_be_visible()
    (kept,) = (server.private / walk.table.rpartition("/")[2]).glob("people.csv")
    assert kept.read_bytes() == people.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    walk.go("/")
    close = walk.page.locator(f"[data-close='{kept.parent.name}']")
    walk.page.once("dialog", lambda asked: asked.dismiss())
    close.click()
    assert kept.exists()
    walk.page.once("dialog", lambda asked: asked.accept())
    close.click()
    until(lambda: not kept.parent.exists(), "the upload is removed")


def test_roles_chosen_quickly_are_all_kept(visit: Visit, people: Path) -> None:
    walk = visit().open(people)
    walk.page.evaluate(
        """() => {
            for (const [column, role] of [["zip", "insensitive"], ["sex", "sensitive"],
                                          ["age", "identifier"]]) {
                const select = document.querySelector(`tr[data-column=${column}] select.role`);
                select.value = role;
                select.dispatchEvent(new Event("change", {bubbles: true}));
            }
        }"""
    )
    expect(walk.row("age")).to_have_class("role-identifier")
    walk.onward()
    walk.step("Data and roles")
    for column, role in (("zip", "insensitive"), ("sex", "sensitive"), ("age", "identifier")):
        expect(walk.role(column)).to_have_value(role)


def test_step_1_refuses_a_wrong_type_and_proposes_protection(visit: Visit, people: Path) -> None:
    walk = visit(refusals=[422]).open(people)
    kind = walk.row("disease").locator("select.type")
    before = kind.input_value()
    kind.select_option("integer")
    expect(walk.alert).to_contain_text("not an integer")
    expect(kind).to_have_value(before)
    walk.role("sex").select_option("sensitive")
    expect(walk.page.locator("#advice")).to_contain_text("roposed for sex")
    walk.onward()
    heading = walk.page.get_by_role("heading", name="sex")
    section = walk.page.locator("section.attribute", has=heading)
    expect(section.locator("article.asked")).to_have_count(1)


def test_hierarchy_that_lacks_values_is_refused(visit: Visit, folder: Path, people: Path) -> None:
    walk = visit(refusals=[422]).open(people)
    partial = folder / "partial.csv"
    partial.write_text("F;*\n")
    editor = walk.hierarchy("sex").kind("Tree, from a file")
    editor.dialog.get_by_label("File", exact=True).set_input_files(partial)
    editor.attempt()
    expect(editor.dialog.locator(".message.bad")).to_be_visible()
    expect(editor.dialog.get_by_role("button", name="Use it")).to_be_disabled()
    editor.dialog.get_by_role("button", name="Cancel").click()
    expect(editor.dialog).to_be_hidden()


# Step 2


def test_what_is_typed_last_is_kept_by_who_leaves_at_once(visit: Visit, incomes: Path) -> None:
    walk = visit().open(incomes)
    walk.onward()
    asked = walk.protect("income", "epsilon-m")
    asked.possible()
    asked.box("m").fill("3")
    walk.onward()
    walk.step("Principle")
    expect(walk.asked_of("epsilon-m").box("m")).to_have_value("3")


# Step 3


def test_impossible_wish_and_a_lesser_one(visit: Visit, incomes: Path) -> None:
    walk = visit(refusals=[404]).open(incomes)
    walk.onward()
    asked = walk.protect("income", "epsilon-m")
    asked.possible()
    asked.set("m", 40)
    asked.impossible()
    expect(asked.verdict.locator(".hint")).to_contain_text("m = ")
    walk.onward()
    walk.start()
    said = walk.page.locator("#outcome")
    expect(said).to_contain_text("this cannot be promised", ignore_case=True)
    expect(said).to_contain_text("Nothing was made")
    expect(said.locator(".hint")).to_contain_text("epsilon")
    # Nothing to judge, nothing to take along.
    steps = walk.page.get_by_role("navigation", name="Steps")
    expect(steps.get_by_role("link", name="Export")).to_have_count(0)
    answer = walk.page.request.get(f"{walk.server.root}{walk.table}/runs/1/files/release.csv")
    assert answer.status == 404

    walk.reload()
    expect(walk.page.locator("#outcome")).to_contain_text(
        "this cannot be promised", ignore_case=True
    )
    # The reason and the way out stand in step 3, too, and the way out works. A message that comes
    # or goes while the button is pressed does not take it away from under the pointer.
    possible = walk.page.locator("#possible")
    expect(possible).to_contain_text("rows lie within")
    button = possible.get_by_role("button", name=re.compile(r"^m=\d+ with"))
    go = walk.page.locator("#go")
    go.hover()
    there = go.bounding_box()
    walk.page.mouse.down()
    with walk.saving():
        button.evaluate("button => button.click()")
    expect(possible.locator(".message")).to_have_count(0)
    assert go.bounding_box() == there
    walk.page.mouse.up()
    walk.judged()
    expect(walk.page.get_by_role("heading", level=1)).to_have_text("Risk and utility")


def test_cancel(visit: Visit, server: Server, folder: Path) -> None:
    large = folder / "large.parquet"
    datasets.sal(300_000).write_parquet(large)
    walk = visit(refusals=[404]).open(large)
    walk.step("Anonymize")
    walk.settings(cuts="quality")
    walk.start()
    pid = server.worker()
    expect(walk.page.locator("#working")).to_be_visible()
    walk.page.locator("#cancel").click()
    expect(walk.page.locator("#outcome")).to_contain_text("cancelled")
    assert is_gone(pid)
    expect(walk.page.locator("#working")).to_be_hidden()
    expect(walk.page.locator("#go")).to_be_enabled()
    run = f"{walk.server.root}{walk.table}/runs/1"
    for page in ("export", "files/release.parquet", "files/recipients.zip"):
        assert walk.page.request.get(f"{run}/{page}").status == 404
    made = server.private / walk.table.rpartition("/")[2] / "run-1" / "made"
    assert [path for path in made.glob("**/*") if path.is_file()] == []
    walk.reload()
    expect(walk.page.locator("#runs")).to_contain_text("cancelled")


def test_lost_process_is_told_of_and_the_app_lives_on(
    visit: Visit, server: Server, incomes: Path
) -> None:
    walk = visit().open(incomes)
    walk.step("Anonymize")
    begun: list[str] = []
    walk.page.on("request", lambda one: begun.append(one.url) if one.method == "POST" else None)
    walk.page.locator("#go").dblclick()
    with server.frozen() as held:
        # An answer that is lost on the way is asked for again.
        walk.page.route("**/api/tables/*/runs/*", lambda route: route.abort(), times=1)
        with walk.page.expect_event("requestfailed"):
            pass
        with walk.page.expect_response("**/api/tables/*/runs/*"):
            pass
        expect(walk.page.locator("#working")).to_be_visible()
        expect(walk.page.locator("#go")).to_be_disabled()
        expect(walk.alert).to_be_empty()
        # What is changed meanwhile does not let another run begin, nor did a double click.
        walk.settings(cuts="quality")
        walk.settings(cuts="best")
        expect(walk.page.locator("#go")).to_be_disabled()
        walk.complaints[:] = [one for one in walk.complaints if "net::ERR_FAILED" not in one]
        assert len([url for url in begun if url.endswith("/runs")]) == 1
        os.kill(held[0], signal.SIGKILL)
        expect(walk.page.locator("#outcome")).to_contain_text("ended by the system")
        expect(walk.page.locator("#outcome .hint")).to_be_visible()
    walk.reload()
    expect(walk.page.locator("#outcome")).to_contain_text("ended by the system")
    walk.make()


def test_reload_and_history_keep_everything(visit: Visit, server: Server, people: Path) -> None:
    walk = visit().open(people)
    walk.roles(quasi="age zip", sensitive="disease")
    walk.hierarchy("age").intervals("10, 30")
    walk.hierarchy("zip").mask(5)
    walk.reload()
    for column, role in (("age", "quasi"), ("sex", "insensitive"), ("disease", "sensitive")):
        expect(walk.role(column)).to_have_value(role)
    expect(walk.row("age").locator(".said")).to_contain_text("10, 30")
    expect(walk.row("zip").locator(".said")).to_contain_text("5")
    walk.onward()
    k = walk.asked_of("k-anonymity")
    k.set("k", 9)
    k.possible()
    walk.reload()
    expect(k.box("k")).to_have_value("9")
    walk.onward()
    walk.settings(algorithm="lattice", seed=3)
    walk.reload()
    expect(walk.page.locator("input[value=lattice]")).to_be_checked()
    expect(walk.page.locator("input[name=seed]")).to_have_value("3")

    walk.page.go_back()
    expect(walk.page).to_have_url(re.compile("/principle$"))
    expect(k.box("k")).to_have_value("9")
    walk.page.go_back()
    expect(walk.role("sex")).to_have_value("insensitive")
    walk.page.go_forward()
    walk.page.go_forward()
    expect(walk.page).to_have_url(re.compile("/anonymize$"))
    expect(walk.page.locator("input[name=seed]")).to_have_value("3")

    walk.start()
    with server.frozen():
        walk.reload()
        expect(walk.page.locator("#working")).to_be_visible()
        expect(walk.page.locator("#go")).to_be_disabled()
        walk.step("Principle")
        expect(walk.asked_of("k-anonymity").box("k")).to_have_value("9")
        walk.onward()
        expect(walk.page.locator("#working")).to_be_visible()
    walk.judged()
    told = walk.page.locator("main").inner_text()
    walk.reload()
    walk.judged()
    assert walk.page.locator("main").inner_text() == told
    walk.onward()
    files = walk.files()
    walk.reload()
    assert walk.files() == files
    walk.page.go_back()
    walk.judged()


# Several tabs


def test_two_tables_and_two_jobs_do_not_mix(
    visit: Visit, server: Server, incomes: Path, people: Path, tmp_path: Path
) -> None:
    # Of the second, the columns are called like what every object of JavaScript has.
    odd = tmp_path / "odd.csv"
    names = ["constructor", "toString", "hasOwnProperty", "__proto__"]
    pl.read_csv(people).rename(
        dict(zip(["age", "zip", "sex", "disease"], names, strict=True))
    ).write_csv(odd)
    one = visit().open(incomes)
    other = one.tab().open(odd)
    other.roles(quasi=" ".join(names[:3]), sensitive=names[3])
    expect(other.page.locator("#advice")).to_contain_text("roposed for __proto__")
    for walk, seed in ((one, 1), (other, 2)):
        walk.step("Anonymize")
        walk.settings(seed=seed)
    # Each job is held as soon as it exists: the first must not end before the second begins.
    one.start()
    with server.frozen():
        other.start()
        with server.frozen(2) as held:
            assert len(set(held)) == 2
            expect(one.page.locator("#working")).to_be_visible()
            expect(other.page.locator("#working")).to_be_visible()
    for walk, table in ((one, incomes), (other, odd)):
        walk.judged()
        walk.step("Export")
        taken = walk.take(tmp_path / table.stem)
        published = pl.read_csv(taken / "release.csv")
        assert set(pl.read_csv(table).columns) <= set(published.columns)
        assert table.name in (taken / "policy.toml").read_text()


def test_second_tab_on_the_same_table_is_told(visit: Visit, people: Path) -> None:
    one = visit(refusals=[409]).open(people)
    other = one.tab()
    other.go(f"{one.table}/data")
    with one.saving():
        one.role("zip").select_option("insensitive")
    with other.saving():
        other.role("sex").select_option("sensitive")
    expect(other.alert).to_contain_text("changed in another tab")
    expect(other.alert).to_contain_text("reload")
    other.reload()
    expect(other.role("zip")).to_have_value("insensitive")
    expect(other.role("sex")).not_to_have_value("sensitive")
    with other.saving():
        other.role("sex").select_option("sensitive")
    expect(other.row("sex")).to_have_class("role-sensitive")


# Settings again


def test_runs_are_compared_and_taken_up_again(visit: Visit, people: Path, tmp_path: Path) -> None:
    walk = visit(refusals=[422]).open(people)
    walk.roles(quasi="age sex", sensitive="disease")
    diseases = set(pl.read_csv(people)["disease"].drop_nulls())
    walk.hierarchy("sex").tree({"F": "any", "M": "any"})
    walk.onward()
    for k in (6, 40):
        card = walk.asked_of("k-anonymity")
        card.set("k", k)
        card.possible()
        walk.onward()
        walk.make()
        walk.step("Principle")
    walk.page.get_by_role("link", name="Compare runs").click()
    rows = walk.page.locator("main tbody tr")
    for k in (6, 40):
        expect(rows.filter(has_text=re.compile(rf"k ?= ?{k}\b"))).to_have_count(1)
    chart = walk.page.locator("[data-chart] svg")
    expect(chart).to_contain_text("run 1")
    expect(chart).to_contain_text("run 2")
    walk.page.get_by_label("Show run 2").uncheck()
    expect(chart).not_to_contain_text("run 2")

    # The settings of the first run, by the list of runs.
    walk.step("Anonymize")
    walk.page.get_by_role("button", name=re.compile("settings again.*run 1")).click()
    expect(walk.page.locator("#outcome")).to_contain_text("run 1")
    walk.step("Principle")
    expect(walk.asked_of("k-anonymity").box("k")).to_have_value("6")

    # Those of the second, by its policy, which holds no data.
    walk.step("Export")
    taken = walk.take(tmp_path / "taken")
    text = (taken / "policy.toml").read_text()
    assert [each for each in diseases if each in text] == []
    assert tomllib.loads(text)["principle"][0] == {"name": "k-anonymity", "k": 40}
    again = walk.tab().open(people)
    again.page.get_by_label("By its path").fill(str(taken / "policy.toml"))
    again.page.get_by_role("button", name="Take up").click()
    expect(again.alert).to_contain_text("taken up")
    expect(again.row("sex").locator(".said")).to_have_text("tree")
    expect(again.role("zip")).to_have_value("insensitive")
    again.onward()
    expect(again.asked_of("k-anonymity").box("k")).to_have_value("40")

    # An uploaded policy comes alone: what is attached here stays, and what is not is lacking.
    again.step("Data and roles")
    again.page.get_by_label("Or choose the file").set_input_files(taken / "policy.toml")
    expect(again.alert).to_contain_text("are taken up")
    expect(again.row("sex").locator(".said")).to_have_text("tree")
    again = walk.tab().open(people)
    again.page.get_by_label("Or choose the file").set_input_files(taken / "policy.toml")
    expect(again.alert).to_contain_text("sex")
    expect(again.alert).to_contain_text("not found")
    expect(again.row("sex").locator(".said")).not_to_have_text("tree")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text('version = 1\n[roles]\nquasi = ["height"]\n')
    for text in (wrong.read_text(), "no policy", "\x00"):
        wrong.write_text(text)
        again.page.get_by_label("Or choose the file").set_input_files(wrong)
        expect(again.alert.locator(".message.bad")).to_be_visible()
        again.reload()
    expect(again.role("zip")).to_have_value("insensitive")


def test_undecided_columns_hold_up_a_release(visit: Visit, tmp_path: Path) -> None:
    path = tmp_path / "undecided.csv"
    datasets.census(200).select("age", "disease", q7="sex").write_csv(path)
    walk = visit().open(path)
    expect(walk.role("q7")).to_have_value("undecided")
    expect(walk.row("q7").locator(".why")).to_contain_text("neither its name nor its values")
    expect(walk.page.locator("#advice")).to_contain_text("ou must decide what q7 is")
    walk.require_accessible("undecided")
    walk.step("Anonymize")
    expect(walk.page.locator("#go")).to_be_disabled()
    expect(walk.page.locator("#lacking")).to_contain_text("ou must decide what q7 is")
    walk.page.get_by_role("link", name="Decide in step 1").click()
    walk.alive()
    with walk.saving():
        walk.role("q7").select_option("quasi")
    expect(walk.page.locator("#advice")).not_to_contain_text("q7")
    walk.step("Anonymize")
    expect(walk.page.locator("#go")).to_be_enabled()
