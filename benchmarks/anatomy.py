"""The speed of anatomy: from sensitive codes to groups, and of whole releases.

Run by ``python -m benchmarks.anatomy``; parts may be named: ``python -m benchmarks.anatomy labels
growth release icd``. Times are medians of several runs, interleaved with those of the reference,
for the machine may be busy with something else. The 500,000 rows are sal_like_500k.parquet from
the folder named by WIDEBERTH_DATA (or of shared/data beside the checkout), or else drawn from
`datasets.sal`, as all larger tables are.
"""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl

import wideberth as wb
from benchmarks.check import interleaved, line
from benchmarks.splitting import MILLION, table
from wideberth import datasets
from wideberth.algorithms.anatomy import anatomize
from wideberth.algorithms.demand import Demand
from wideberth.core.codes import Column, encode
from wideberth.core.exact import Ints
from wideberth.principles import parse

L = 5
SORT = 'np.argsort(S, kind="stable")'


def main() -> None:
    """Measure and print one line per claim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.anatomy")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    asked = parser.parse_args()
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    for name in asked.parts or PARTS:
        PARTS[name]()
        print(f"(load {os.getloadavg()[0]:.1f})", flush=True)


def classes(rows: int) -> tuple[str, pl.DataFrame]:
    """Return a table with incomes in classes of 5,000, and where it comes from."""
    source, frame = table(rows)
    return source, frame.with_columns(income=pl.col("income") // 5000)


def dealt(column: Column, method: str = "optimal") -> Ints:
    """Make groups for frequency l-diversity, from codes to labels."""
    principle = parse(f"frequency-l:l={L}")
    demand = Demand(principle, principle.bind(column.domain), column)
    rng = np.random.default_rng()
    return anatomize([demand], len(column.codes), rng=rng, method=method).labels


def labels() -> None:
    """Compare with the sort that any such method needs."""
    source, frame = classes(MILLION // 2)
    values, column = frame["income"].to_numpy(), encode(frame["income"])
    print(f"{source}, S = income // 5000 ({column.domain.size} values), l = {L}")
    reference, ours, greedy = interleaved(
        lambda: np.argsort(values, kind="stable"),
        lambda: dealt(column),
        lambda: dealt(column, "mbf"),
    )
    print(f"{SORT}: {1000 * reference:.0f} ms; from codes to labels: {1000 * ours:.0f} ms")
    line(f"from codes to group labels / {SORT}", ours / reference, 3)
    line(f"the same by MBF / {SORT}", greedy / reference)


def growth() -> None:
    """Show that the work grows as the rows do."""
    sizes = (MILLION // 2, 10 * MILLION)
    times = []
    for rows in sizes:
        column = encode(classes(rows)[1]["income"])
        times.append(median(seconds(lambda column=column: dealt(column)) for _ in range(3)))
    exponent = math.log(times[1] / times[0]) / math.log(sizes[1] / sizes[0])
    print(f"{sizes[0]:,} rows {times[0]:.3f} s, {sizes[1]:,} rows {times[1]:.2f} s")
    line("exponent; 1 is linear", exponent)
    values = classes(sizes[1])[1]["income"].to_numpy()
    reference = median(seconds(lambda: np.argsort(values, kind="stable")) for _ in range(3))
    line(f"10 million rows / {SORT}", times[1] / reference, 3)


def release() -> None:
    """Time a whole release: encode, deal, publish, verify."""
    source, frame = classes(MILLION // 2)
    took = seconds(
        lambda: wb.anonymize(
            frame,
            quasi=["age", "birthplace", "occupation"],
            sensitive="income",
            principles=f"frequency-l:l={L}",
            algorithm="anatomy",
        )
    )
    line(f"seconds for a whole release of {source}, verified", took)


def icd() -> None:
    """Time diseases on a tree with leaves at unequal depth."""
    frame = datasets.patients(200_000)
    start = perf_counter()
    made = wb.anonymize(
        frame,
        quasi=["age", "sex", "zip", "admitted"],
        sensitive="diagnosis",
        principles="l-e:l=4,e=1.5",
        hierarchies={"diagnosis": "icd-10"},
        algorithm="anatomy",
    )
    took = perf_counter() - start
    told = made.manifest
    line("seconds for a whole release of patients(200,000), ICD-10, l-e:l=4,e=1.5", took)
    print(
        f"{told['groups']:,} groups by {told['anatomy']['handling']}, "
        f"{told['suppressed']['rows']:,} rows left out, verified again: {made.check().satisfied}"
    )


def seconds(run: Callable[[], object]) -> float:
    """Time one run."""
    start = perf_counter()
    run()
    return perf_counter() - start


PARTS = {"labels": labels, "growth": growth, "release": release, "icd": icd}

if __name__ == "__main__":
    main()
