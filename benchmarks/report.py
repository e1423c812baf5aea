"""The time and the size of a report of a large release.

Run by ``python -m benchmarks.report``. The report is of 500,000 people's incomes, with everything
in it: audits before and after, utility, 1,000 count queries. Making the release is not part of it.
Each figure has a limit, so that a run tells whether it still holds.
"""

from __future__ import annotations

import argparse
from time import perf_counter

import wideberth as wb
from wideberth import datasets
from wideberth.reports.report import report

SECONDS, BYTES = 15, 1_000_000


def main() -> None:
    """Measure and print one line per claim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.report")
    parser.add_argument("--rows", type=int, default=500_000, help="how many people")
    people = datasets.sal(parser.parse_args().rows)
    release = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles=["k-anonymity:k=5", "epsilon-m:epsilon=4500,m=5"],
    )
    moments: list[tuple[str, float]] = []
    begin = perf_counter()
    made = report(
        release,
        original=people,
        progress=lambda step, done, total: moments.append((step, perf_counter())),
    )
    page = made.html()
    end = perf_counter()
    ends = [at for _, at in moments[1:]] + [end]
    for (step, at), until in zip(moments, ends, strict=True):
        print(f"{step}: {until - at:.2f} s")
    line("seconds in all", end - begin, SECONDS)
    line("bytes of the page", len(page.encode()), BYTES)


def line(what: str, figure: float, limit: float) -> None:
    """Print a figure beside its limit."""
    digits = 1 if limit > 1 else 2
    met = "ok" if figure <= limit else "MISSED"
    print(f"{what}: {figure:,.{digits}f} (limit {limit:,}): {met}")


if __name__ == "__main__":
    main()
