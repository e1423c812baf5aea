"""The speed of measuring what a release is worth, beside one sort of the same release.

Run by ``python -m benchmarks.utility``. Times are medians of several runs, interleaved with those
of the reference, for the machine may be busy with something else. The 500,000 rows are
sal_correlated_500k.parquet from the folder named by WIDEBERTH_DATA (or of shared/data beside the
checkout), or else drawn from `datasets.sal`; they are released by (ε,m)-anonymity with ε = 4500 and
m = 5.
"""

from __future__ import annotations

import os

import polars as pl

import wideberth as wb
from benchmarks.check import interleaved, line
from benchmarks.splitting import MILLION, QUASI, stored
from wideberth import datasets
from wideberth.core.codes import Column
from wideberth.labels import PublishedBoxes
from wideberth.utility.measure import measure
from wideberth.utility.metrics import iterate
from wideberth.utility.models import probe
from wideberth.utility.queries import encoded_alike
from wideberth.utility.workload import Workload, answers, box_answers

SORT = "polars sort of the release by all its columns"


def main() -> None:
    """Measure and print one line per claim."""
    source, original = people()
    made = wb.anonymize(
        original, quasi=QUASI, sensitive="income", principles="epsilon-m:epsilon=4500,m=5", seed=1
    )
    release: pl.DataFrame = made.table
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {source}, {made!r}")
    published = PublishedBoxes.read(release, QUASI, original=original)
    known, theirs = encoded_alike(original["income"], release["income"], "the release")
    groups = published.boxes.histograms(Column(theirs, known.domain))
    workload = Workload.draw([*(len(axis.atoms) for axis in published.axes), groups.width])
    points = [axis.points for axis in published.axes if axis.points is not None]
    quick = [metric.name for metric in iterate() if metric.name != "kl-divergence"]
    sort, all_metrics, without, exact, boxes = interleaved(
        lambda: release.sort(release.columns),
        lambda: measure(made, original=original),
        lambda: measure(made, original=original, metrics=quick),
        lambda: answers(workload, points, known.codes),
        lambda: box_answers(workload, published, groups),
    )
    print(f"{SORT}: {1000 * sort:.0f} ms")
    line(f"measure, all metrics / {SORT}", all_metrics / sort)
    line(f"measure, without the divergence / {SORT}", without / sort)
    line(f"1,000 queries on the original / {SORT}", exact / sort)
    line(f"1,000 queries on the release / {SORT}", boxes / sort)
    for metric in ("ncp", "entropy", "kl-divergence"):
        print(f"{metric}: {measure(made, original=original, metrics=metric)[metric]:.4f}")
    error = wb.query_error(original, release=made)
    print(f"relative error of 1,000 queries: median {error.median:.4f}, mean {error.mean:.4f}")
    print(probe(made, original))


def people() -> tuple[str, pl.DataFrame]:
    """Return a table in the shape of SAL, and where it comes from."""
    path = stored("sal_correlated_500k.parquet")
    if path.exists():
        return path.name, pl.read_parquet(path)
    return f"datasets.sal({MILLION // 2:,})", datasets.sal(MILLION // 2)


if __name__ == "__main__":
    main()
