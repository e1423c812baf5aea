"""The web app with a large table: how soon the roles are there, how it feels, what it holds.

Run by ``python -m benchmarks.ui``. The table is a CSV file of 3 million people and 104 MB, opened
by its path and once more by an upload, in a real browser (chromium, or WIDEBERTH_CHROMIUM). Times
are compared with reading the file and guessing the roles in a process that has done so before;
each figure has a limit, so that a run tells whether it still holds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import numpy as np
import polars as pl
from playwright.sync_api import Page, sync_playwright

from benchmarks.report import line
from wideberth import datasets, io
from wideberth.policy.guesses import guess_columns

ROLES, REDRAW, MEMORY = 10, 50, 400  # seconds, milliseconds, megabytes

#: Move a slider, and wait until the point of the curve has been drawn where it belongs now.
_MOVE = """async ([slider, value]) => {
    const picture = slider.closest("article").querySelector(".curve svg");
    const drawn = new Promise((resolve) => {
        new MutationObserver((_, seen) => { seen.disconnect(); resolve(); })
            .observe(picture, {subtree: true, attributes: true, childList: true});
    });
    const begun = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    await drawn;
    picture.getBoundingClientRect();  // and laid out
    return performance.now() - begun;
}"""


def main() -> None:
    """Measure and print one line per claim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ui")
    parser.add_argument("--rows", type=int, default=3_000_000, help="how many people")
    rows = parser.parse_args().rows
    with TemporaryDirectory() as folder:
        table = Path(folder) / "people.csv"
        write(table, rows)
        print(f"{rows:,} rows, {table.stat().st_size / 1e6:.0f} MB")
        guess_columns(io.read(table))
        begin = perf_counter()
        guess_columns(io.read(table))
        reference = perf_counter() - begin
        print(f"reading and guessing in a warm process (reference): {reference:.2f} s")
        said = Path(folder) / "said"
        with said.open("w") as output:
            command = [sys.executable, "-m", "wideberth", "ui", "--no-browser"]
            app = subprocess.Popen(command, stdout=output, stderr=subprocess.DEVNULL)
        try:
            while not (address := said.read_text().split()):
                sleep(0.05)
            walk(address[1], app.pid, table, reference)
        finally:
            app.terminate()
            app.wait(20)


def write(table: Path, rows: int) -> None:
    """Make up people: numbered, so that a line has about 35 bytes."""
    random = np.random.default_rng(2008)
    people = datasets.sal(rows).with_columns(
        id=pl.int_range(10**9, 10**9 + rows),
        sex=pl.Series(random.choice(["female", "male"], rows)),
        visits=pl.Series(random.integers(0, 90, rows)),
    )
    names = ["id", "age", "sex", "birthplace", "occupation", "visits", "income"]
    people.select(names).write_csv(table)


def walk(address: str, server: int, table: Path, reference: float) -> None:
    """Open the table, look at the roles, move the point of the curve."""
    path = os.environ.get("WIDEBERTH_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium: apt-get install chromium, or set WIDEBERTH_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(address)
        home = page.url
        page.wait_for_selector("main:not([inert])")
        page.fill("#path", str(table))
        seconds = until_roles(page, lambda: page.press("#path", "Enter"))
        line("roles shown, by path, seconds", seconds, ROLES)
        print(f"  that is {seconds / reference:.1f} times the reference")
        moves = redraws(page)
        line("a slider moved and redrawn, milliseconds, median", median(moves), REDRAW)
        line("a slider moved and redrawn, milliseconds, worst of 60", max(moves), REDRAW)
        line("server's memory before the job, MB (most so far)", peak(server), MEMORY)
        page.goto(home)
        page.wait_for_selector("main:not([inert])")
        seconds = until_roles(page, lambda: page.set_input_files("#file", table))
        line("roles shown, by upload, seconds", seconds, ROLES)
        line("server's memory after the upload, MB (most so far)", peak(server), MEMORY)
        browser.close()


def until_roles(page: Page, act: Callable[[], object]) -> float:
    """Return how long it takes from an act to the table of roles."""
    begin = perf_counter()
    act()
    page.wait_for_selector("table.columns")
    return perf_counter() - begin


def redraws(page: Page) -> list[float]:
    """Return how many milliseconds each of 60 moves of a slider takes."""
    page.click("#next")
    card = page.locator("article.asked", has=page.locator(".curve svg"))
    card.wait_for()
    slider = card.locator("input[type=range]").first
    handle = slider.element_handle()
    most = float(slider.get_attribute("max") or 1)
    values = [most * (0.1 + 0.8 * at / 60) for at in range(60)]
    return [page.evaluate(_MOVE, [handle, value]) for value in values]


def peak(process: int) -> float:
    """Return the most megabytes that a process has held."""
    for said in Path(f"/proc/{process}/status").read_text().splitlines():
        if said.startswith("VmHWM"):
            return int(said.split()[1]) / 1000
    return float("nan")


if __name__ == "__main__":
    main()
