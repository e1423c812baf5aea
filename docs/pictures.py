"""The pictures of the README: reports of two releases as a browser shows them.

Run by ``python docs/pictures.py``: writes docs/figures/report.png, of the demo's census, and
docs/figures/report-adult.png, of a lattice release. The latter is of the Adult table where
``--adult`` names the folder that has it with its hierarchies, as ARX publishes them
(``arx_adult.csv``, ``arx_adult_hierarchy_age.csv`` and so on); else of a made-up census.
Needs chromium: ``apt-get install chromium``, or its path in WIDEBERTH_CHROMIUM.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl
from playwright.sync_api import Browser, sync_playwright

import wideberth as wb
from wideberth import datasets
from wideberth.reports.report import report

FIGURES = Path(__file__).parent / "figures"
WIDTH, HEIGHT = 1180, 1000  # of a window
LARGEST = 300_000  # bytes of a picture
ARGUMENTS = ["--disable-gpu", "--disable-quic"]  # as in the tests of reports


def main() -> None:
    """Make the reports and take their pictures."""
    parser = argparse.ArgumentParser(prog="python docs/pictures.py")
    parser.add_argument("--adult", type=Path, help="the folder of the Adult table")
    parser.add_argument("-o", "--output", type=Path, default=FIGURES, help="where they go")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as name:
        folder = Path(name)
        pages = {"report": demo(folder / "demo"), "report-adult": lattice(folder, given.adult)}
        for name, page in pages.items():
            shoot(page, given.output / f"{name}.png")
            sys.stdout.write(f"wrote {name}.png\n")


def demo(folder: Path) -> Path:
    """Run the demo and return its report."""
    command = [sys.executable, "-m", "wideberth", "demo", "-o", str(folder)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own command
    return folder / "report.html"


def lattice(folder: Path, adult: Path | None) -> Path:
    """Report on a release in which every quasi-identifier is on one level of its hierarchy."""
    trees: dict[str, Any]
    if adult is None:
        people = datasets.census(20_000).select("age", "zip", "sex", "disease")
        trees = {"age": {"interval": [5, 10, 20]}, "zip": {"mask": 5}, "sex": {"flat": True}}
    else:
        people = pl.read_csv(adult / "arx_adult.csv", separator=";", infer_schema=False)
        names = ["age", "sex", "race", "marital-status", "education", "workclass"]
        people = people.select(*names, "occupation")
        trees = {name: adult / f"arx_adult_hierarchy_{name}.csv" for name in names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wb.PrivacyWarning)  # of the seed: it makes it repeatable
        release = wb.anonymize(
            people,
            quasi=list(trees),
            sensitive=people.columns[-1],
            principles=["k-anonymity:k=5", "distinct-l:l=3"],
            algorithm="lattice",
            suppression_limit=0.05,
            hierarchies=trees,
            seed=1,
        )
    page = folder / "lattice.html"
    title = f"Privacy report: {'Adult' if adult else 'a census'} by lattice"
    report(release, original=people, title=title).save(page)
    return page


def shoot(page: Path, target: Path, *, width: int = WIDTH, height: int = HEIGHT) -> None:
    """Take a picture of the upper part of a page, as a browser of that size shows it."""
    with chromium() as browser:
        window = browser.new_page(viewport={"width": width, "height": height})
        window.goto(page.as_uri())
        keep(window.screenshot(), target)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a browser without a screen."""
    path = os.environ.get("WIDEBERTH_CHROMIUM") or shutil.which("chromium")
    if path is None:
        raise SystemExit("no chromium: apt-get install chromium, or set WIDEBERTH_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def keep(picture: bytes, target: Path) -> None:
    """Write a picture, unless it has become too large for a repository."""
    if len(picture) > LARGEST:
        raise SystemExit(f"{target.name} has {len(picture):,} bytes, more than {LARGEST:,}")
    target.write_bytes(picture)


if __name__ == "__main__":
    main()
