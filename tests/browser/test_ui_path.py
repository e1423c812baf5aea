"""The whole path in a real browser, from a table to files that the command line makes again."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import expect

import wideberth as wb
from tests.browser.running import wideberth
from tests.browser.ui import Walk
from wideberth import datasets

DATA = Path(os.environ.get("WIDEBERTH_DATA", Path(__file__).parents[3] / "shared" / "data"))
SEED = 20
Visit = Callable[..., Walk]


def exported(walk: Walk, table: Path, folder: Path, *, python: bool = True) -> Path:
    """Take everything along, and see that engineers get the same: by command line and by Python."""
    walk.step("Export")
    taken = walk.take(folder / "taken")
    command = shlex.split(walk.page.locator("#command").inner_text())
    program = walk.page.locator("#python").inner_text()
    # The app's own commands make another release of the same promise: the seed is not in them.
    command += ["--seed", str(SEED)]
    program = program.replace("\n)\nrelease.save", f"\n    seed={SEED},\n)\nrelease.save")
    ways = {"by-command": ["-m", *command]} | ({"by-python": ["-c", program]} if python else {})
    for name, arguments in ways.items():
        place = folder / name
        (place / "hierarchies").mkdir(parents=True)
        for file in [taken / "policy.toml", *taken.glob("hierarchies/*")]:
            (place / file.relative_to(taken)).write_bytes(file.read_bytes())
        (place / table.name).symlink_to(table)
        done = subprocess.run(
            [sys.executable, *arguments], cwd=place, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        for made in published(taken):
            again = place / made.relative_to(taken)
            assert again.read_bytes() == made.read_bytes(), f"{name}: {made.name} differs"
    assert (taken / "policy.toml").read_text() == walk.page.locator("#toml").inner_text()
    require_verified(taken)
    return taken


def published(taken: Path) -> list[Path]:
    """Return the tables of a release."""
    found = [
        path
        for path in [*taken.glob("release.*"), *taken.glob("release/*")]
        if not path.name.endswith("manifest.json")
    ]
    assert found
    return found


def require_verified(taken: Path) -> None:
    """Check the release as anybody could: by its files alone."""
    if (taken / "release").is_dir():
        done = wideberth("check", "release", "-p", "policy.toml", folder=taken)
        assert done.returncode == 0, done.stdout + done.stderr
        return
    (release,) = published(taken)
    grouped = "group" in pl.scan_csv(release).collect_schema().names()
    group = "group" if grouped else None
    assert wb.check(release, policy=taken / "policy.toml", group=group).satisfied


def of_adult(folder: Path) -> Path:
    path = DATA / "adult.csv"
    if not path.exists():
        pytest.skip("no shared/data/adult.csv beside the checkout, nor in WIDEBERTH_DATA")
    return path


def of_adults(folder: Path) -> Path:
    path = folder / "adults.csv"
    datasets.adults(3000).write_csv(path)
    return path


@pytest.mark.nightly
@pytest.mark.parametrize("source", [of_adult, of_adults])
def test_lattice(visit: Visit, tmp_path: Path, source: Callable[[Path], Path]) -> None:
    table = source(tmp_path)
    walk = visit().open(table)
    walk.roles(quasi="age sex race", sensitive="occupation")
    walk.hierarchy("age").intervals("5, 10, 20, 40")
    walk.hierarchy("sex").flat()
    others = ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other"]
    walk.hierarchy("race").tree({"White": "White", **dict.fromkeys(others, "not White")})
    expect(walk.row("age").locator(".said")).to_contain_text("5, 10, 20, 40")
    walk.onward()
    asked = walk.protect("occupation", "entropy-l", "Categories")
    asked.set("l", 4)
    asked.possible()
    walk.onward()
    walk.make(algorithm="lattice", seed=SEED)

    nodes = walk.page.locator("button.node")
    assert nodes.count() > 1, "choose another table: this one has a single minimal node"
    levels = json.loads(nodes.nth(1).get_attribute("data-levels") or "")
    first = walk.page.url
    nodes.nth(1).click()
    walk.page.wait_for_url(lambda url: url.endswith("/judge") and url != first)
    expect(walk.page.locator("[data-chart] svg").first).to_be_visible()
    walk.step("Anonymize")  # the seed was for the first run alone
    expect(walk.page.locator("input[name=seed]")).to_have_value("")
    walk.make(seed=SEED)

    taken = exported(walk, table, tmp_path, python=source is of_adults)
    policy = tomllib.loads((taken / "policy.toml").read_text())
    assert policy["transform"]["levels"] == levels
    assert policy["hierarchies"]["age"] == {"interval": [5, 10, 20, 40]}
    manifest = json.loads((taken / "release.csv.manifest.json").read_text())
    assert manifest["lattice"]["rounds"][0]["levels"] == levels
    assert manifest["rows"] == pl.read_csv(table).height


def test_mondrian_and_the_curve(visit: Visit, tmp_path: Path) -> None:
    table = tmp_path / "sal.csv"
    datasets.sal(3000).write_csv(table)
    limits = wb.advise(table, sensitive="income")
    walk = visit().open(table)
    expect(walk.role("income")).to_have_value("sensitive")
    walk.onward()
    walk.asked_of("delta-l").possible()
    asked = walk.protect("income", "epsilon-m")
    asked.possible()

    def require_truth() -> None:
        """See that box, slider, curve and verdict agree, and with the library."""
        epsilon, m = float(asked.box("ε").input_value()), int(asked.box("m").input_value())
        most = limits.max_m(epsilon=epsilon)
        (asked.possible if m <= most else asked.impossible)()
        words = re.compile(rf"ε = {epsilon:,.0f}, m may be (up to|at most) {most:,};")
        expect(asked.verdict).to_contain_text(words)
        told = re.compile(rf"ε = {epsilon:,.0f}, m = {m}: {'' if m <= most else 'not '}possible")
        expect(asked.curve).to_have_attribute("aria-valuetext", told)
        expect(asked.slider("m")).to_have_value(str(m))

    # By mouse: high and to the right nothing is possible, low and to the left everything.
    asked.curve.scroll_into_view_if_needed()
    drawn = asked.curve.locator("svg").bounding_box()
    assert drawn is not None
    for right, down in ((0.9, 0.1), (0.3, 0.8)):
        walk.page.mouse.move(*centre(drawn))
        walk.page.mouse.down()
        walk.page.mouse.move(
            drawn["x"] + right * drawn["width"], drawn["y"] + down * drawn["height"], steps=3
        )
        (asked.impossible if right > 0.5 else asked.possible)()
        with walk.saving():
            walk.page.mouse.up()
        require_truth()

    # By keys, on the curve and on a slider.
    for place, key, letter in (
        (asked.curve, "ArrowRight", "ε"),
        (asked.curve, "ArrowUp", "m"),
        (asked.slider("ε"), "ArrowLeft", "ε"),
        (asked.slider("m"), "ArrowRight", "m"),
    ):
        before = asked.box(letter).input_value()
        with walk.saving():
            place.press(key)
        expect(asked.box(letter)).not_to_have_value(before)
        require_truth()

    # By numbers: the bound itself is not possible, anything below it is.
    bound = limits.max_epsilon(m=6)
    asked.set("m", 6)
    for epsilon in (bound, bound - 1):
        asked.set("ε", epsilon)
        require_truth()
    asked.possible()
    last = asked.verdict.inner_text()

    walk.onward()
    walk.step("Principle")
    expect(walk.asked_of("epsilon-m").verdict).to_have_text(last, use_inner_text=True)
    walk.onward()
    walk.make(algorithm="mondrian", seed=SEED)
    taken = exported(walk, table, tmp_path)
    policy = tomllib.loads((taken / "policy.toml").read_text())
    (asked_for,) = [entry for entry in policy["principle"] if entry["name"] == "epsilon-m"]
    assert asked_for == {"name": "epsilon-m", "on": "income", "epsilon": bound - 1, "m": 6}

    with walk.page.expect_download() as download:
        walk.page.get_by_role("link", name="For recipients (.zip)").click()
    with zipfile.ZipFile(download.value.path()) as packed:
        assert sorted(packed.namelist()) == [
            "run-1/release.csv",
            "run-1/release.csv.manifest.json",
        ]
        assert packed.read("run-1/release.csv") == (taken / "release.csv").read_bytes()


def centre(box: Any) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_anatomy_with_a_tree_from_a_file(visit: Visit, tmp_path: Path) -> None:
    table, tree = tmp_path / "census.parquet", tmp_path / "diseases.csv"
    datasets.census(2000).write_parquet(table)
    lines = (";".join(row) for row in datasets.wang2013_figure1().to_rows())
    tree.write_text("\n".join(lines) + "\n")
    walk = visit().open(table)
    walk.roles(identifier="id", quasi="age zip sex", sensitive="disease")
    walk.hierarchy("disease").file(tree)
    walk.onward()
    with walk.saving():  # what was proposed, and no groups of two tables satisfy beside the other
        walk.asked_of("frequency-l").card.get_by_role("button", name="Remove").click()
    asked = walk.protect("disease", "l-e", "Categories with a tree")
    asked.set("l", 2)
    asked.set("e", 1)
    asked.possible()
    walk.onward()
    walk.settings(algorithm="anatomy", seed=SEED)
    with walk.saving():  # groups of exact rows are not alike
        walk.page.get_by_role("button", name="Leave k-anonymity out").click()
    walk.make()
    taken = exported(walk, table, tmp_path)
    assert sorted(path.name for path in (taken / "release").iterdir()) == [
        "manifest.json",
        "quasi.parquet",
        "sensitive.parquet",
    ]
    published = pl.read_parquet(taken / "release" / "quasi.parquet")
    assert "id" not in published.columns
    assert published["age"].sort().equals(pl.read_parquet(table)["age"].sort())
    (kept,) = (taken / "hierarchies").iterdir()
    assert kept.read_text() == tree.read_text()
