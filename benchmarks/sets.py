"""File size and loss by `max_set`: what a bound on published sets costs, and what it saves.

Made-up people in 3,000 towns, most in a few of them, and no hierarchy of the towns.

    python -m benchmarks.sets
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import wideberth as wb

ROWS, TOWNS = 40_000, 3_000
BOUNDS = (5, 10, 20, 50, 100, 200, 10**6)


def people() -> pl.DataFrame:
    """Return a table with a long column of categories."""
    rng = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "town": [f"Town {i:04d}" for i in rng.zipf(1.3, size=ROWS) % TOWNS],
            "pay": rng.integers(1_000, 9_000, ROWS),
        }
    )


def main() -> None:
    """Print a line for each group size and each bound."""
    warnings.simplefilter("ignore", wb.PrivacyWarning)
    table = people()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        table.write_csv(file)
        print(f"table: {file.stat().st_size / 1e6:.1f} MB")
        for k in (5, 50, 1_000):
            for bound in BOUNDS:
                release = wb.anonymize(
                    table,
                    quasi=["age", "sex", "town"],
                    sensitive="pay",
                    principles=[f"k-anonymity:k={k}", "distinct-l:l=2"],
                    max_set=bound,
                    seed=1,
                )
                release.table.write_csv(file)
                lost = release.manifest["loss"]["ncp_percent_by_attribute"]["town"]
                starred = (release.table["town"].cast(pl.String) == "*").mean()
                print(
                    f"k = {k:>5,}  max_set = {bound:>9,}  {file.stat().st_size / 1e6:5.1f} MB  "
                    f"loss on town {lost:6.2f}%  * in {starred:.1%}"
                )


if __name__ == "__main__":
    main()
