"""The speed of `advise`: the whole trade-off between ε and m for three million incomes.

Run by ``python -m benchmarks.advise``. The reference is sorting the same column. Every time is the
median of several runs, interleaved with those of the reference.
"""

from __future__ import annotations

import numpy as np
import polars as pl

import wideberth as wb
from benchmarks.check import interleaved, line

ROWS = 3_000_000


def main() -> None:
    """Measure and print one line per claim."""
    rng = np.random.default_rng(20080609)
    exact = np.round(np.exp(rng.normal(10.3, 0.8, ROWS))).astype(np.int64)
    for name, incomes in (("in hundreds", exact // 100 * 100), ("to the last unit", exact)):
        column = pl.Series("income", incomes)
        distinct = column.n_unique()
        print(f"incomes {name}: {ROWS:,} rows, {distinct:,} distinct")
        seconds = interleaved(
            lambda incomes=incomes: np.sort(incomes),
            lambda column=column: wb.advise(column).curve(),
            lambda column=column: wb.advise(column).curve(relative=True),
            lambda column=column: wb.advise(column).max_m(epsilon=2000),
        )
        print(f"numpy sort: {seconds[0] * 1000:.0f} ms")
        for what, taken in zip(
            ("whole curve", "whole curve, relative", "largest m for one epsilon"),
            seconds[1:],
            strict=True,
        ):
            line(f"{what} / numpy sort", taken / seconds[0])
            line(f"{what}, seconds", taken)


if __name__ == "__main__":
    main()
