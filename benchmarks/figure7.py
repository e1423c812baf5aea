"""Every computation of Figure 7 of the (ε,m) paper by the clock, on all cores: time by m and by ε.

Run by ``python -m benchmarks.figure7 [--data TABLE]``; without a table, on a made-up one. A time is
that of sorting, splitting and dealing, as in the paper, the least of three; each has a
limit of one second, where the paper's took up to a minute. The machine should be idle.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path

import polars as pl

import wideberth as wb
from benchmarks.report import line
from wideberth import datasets
from wideberth_papers.li2008.points import FIXED, MS, REACHES, M

LIMIT = 1.0


def main() -> None:
    """Measure and print one line per point."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figure7")
    parser.add_argument("--data", type=Path, help="a table in the shape of SAL")
    data = parser.parse_args().data
    people = datasets.sal(500_000) if data is None else pl.read_parquet(data)
    warnings.simplefilter("ignore", wb.PrivacyWarning)  # of the seed, which makes it repeatable
    print(f"{people.height:,} rows, load {os.getloadavg()[0]:.1f}")
    points = {(kind, FIXED[kind], m) for kind in FIXED for m in MS}
    points |= {(kind, epsilon, M) for kind, reaches in REACHES.items() for epsilon in reaches}
    for cuts in ("paper", "best"):
        for kind, epsilon, m in sorted(points):
            asked = wb.EpsilonMAnonymity(epsilon=epsilon, m=m, relative=kind == "relative")
            try:
                least = min(seconds(people, asked, cuts) for _ in range(3))
            except wb.InfeasibleError:
                continue
            line(f"{cuts} cuts, {asked}, seconds", least, LIMIT)


def seconds(people: pl.DataFrame, asked: wb.Principle, cuts: str) -> float:
    """Return how long sorting, splitting and dealing take."""
    made = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles=asked,
        cuts=cuts,
        seed=1,
    )
    taken: dict[str, float] = made.manifest["seconds"]
    return taken["encoding"] + taken["splitting"]


if __name__ == "__main__":
    main()
