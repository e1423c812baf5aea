"""The speed of an audit, beside one sort of the same release.

Run by ``python -m benchmarks.audit``. Times are medians of several runs, interleaved with those of
the reference, for the machine may be busy with something else. The release is that of
`benchmarks.utility`: 500,000 rows in about 98,000 groups. It is sorted as it is read from Parquet,
where labels are categories, and as polars reads it from CSV, where they are text.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

import wideberth as wb
from benchmarks.check import interleaved, line
from benchmarks.splitting import QUASI
from benchmarks.utility import people
from wideberth import io

LIMIT = 5


def main() -> None:
    """Measure and print one line per claim."""
    source, original = people()
    made = wb.anonymize(
        original, quasi=QUASI, sensitive="income", principles="epsilon-m:epsilon=4500,m=5", seed=1
    )
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {source}, {made!r}")
    with TemporaryDirectory() as folder:
        packed, plain = (Path(folder) / f"release.{suffix}" for suffix in ("parquet", "csv"))
        made.save(packed)
        made.save(plain)
        typed, text = io.read(packed), io.read(plain)
        strings = pl.read_csv(plain)
    for what, reference, release in (("categories", typed, typed), ("text", strings, text)):
        run = partial(wb.audit, release, **asked(made))
        sort, alone, both = interleaved(
            partial(reference.sort, reference.columns), run, partial(run, original=original)
        )
        name = f"polars sort of the release by all its columns, labels as {what}"
        print(f"{name}: {1000 * sort:.0f} ms")
        line(f"audit / {name}", alone / sort, LIMIT)
        line(f"audit with the original / {name}", both / sort, LIMIT)
    found = wb.audit(made, original=original).attributes[0]
    print(f"mixture: {found.victims}, worst {found.covering.nearness.risk.worst:.4f}")


def asked(made: wb.Release) -> dict[str, object]:
    """Return what an audit is told of the release."""
    return {
        "quasi": QUASI,
        "sensitive": "income",
        "group": made.manifest["group"],
        "principles": "epsilon-m:epsilon=4500,m=5",
    }


if __name__ == "__main__":
    main()
