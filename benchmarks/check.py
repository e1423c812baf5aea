"""The speed of `check`, and the memory it takes.

Run by ``make bench``. Every time is the median of several runs, interleaved with those of the
reference, for the machine may be busy with something else. The table is sal_like_500k.parquet from
the folder named by WIDEBERTH_DATA (or of shared/data beside the checkout), or made here likewise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import polars as pl

import wideberth as wb

QUASI = ["age", "birthplace", "occupation"]
EVERYTHING = [
    "k-anonymity:k=5",
    "distinct-l:l=5",
    "frequency-l:l=5",
    "entropy-l:l=5",
    "recursive-cl:c=3,l=5",
    "t-closeness:t=0.2,distance=ordered",
    "epsilon-m:epsilon=2000,m=5",
    "delta-l:delta=1000,l=5",
]
RUNS = 9


def main() -> None:
    """Measure and print one line per claim."""
    if sys.argv[1:] == ["memory"]:
        print(json.dumps(peak_memory(table()[1])))
        return
    name, frame = table()
    print(f"table: {name}, {frame.height:,} rows, {frame.estimated_size():,} bytes in memory")
    reference = "polars sort by the QIs and S"
    seconds = interleaved(
        lambda: frame.sort(*QUASI, "income"),
        lambda: check(frame, EVERYTHING),
        lambda: check(frame, ["t-closeness:t=0.2,distance=ordered"]),
    )
    print(f"{reference}: {seconds[0] * 1000:.0f} ms")
    line(f"{len(EVERYTHING)} principles in one call / {reference}", seconds[1] / seconds[0], 3)
    line(f"ordered t-closeness alone / {reference}", seconds[2] / seconds[0], 1.5)
    raw = raw_table()
    gaps = frame.with_columns(
        pl.when(pl.int_range(pl.len()) % 50 > 0).then("income").alias("income")
    )
    harder = interleaved(
        lambda: frame.sort(*QUASI, "income"),
        lambda: check(raw, EVERYTHING),
        lambda: check(gaps, EVERYTHING),
    )
    line(f"the same on the ungeneralised table / {reference}", harder[1] / harder[0])
    line(f"the same with 2 % of the incomes missing / {reference}", harder[2] / harder[0])
    memory = json.loads(
        subprocess.check_output([sys.executable, "-m", "benchmarks.check", "memory"])
    )
    line("peak memory, the table included / the table", memory["peak"] / memory["table"], 6)
    with TemporaryDirectory() as folder:
        small = Path(folder, "small.csv")
        small.write_text("age,salary\n" + "".join(f"{i // 5},{i}\n" for i in range(10)))
        script = str(Path(sys.executable).with_name("wideberth"))
        arguments = [
            "--qi",
            "age",
            "--sensitive",
            "salary",
            "--principle",
            "epsilon-m:epsilon=0,m=5",
        ]
        cold = interleaved(
            lambda: subprocess.check_output([script, "--help"]),
            lambda: subprocess.check_output([script, "check", str(small), *arguments]),
        )
    line("wideberth --help, seconds", cold[0], 0.3)
    line("wideberth check of a 10-row CSV, cold, seconds", cold[1], 1.5)


def table() -> tuple[str, pl.DataFrame]:
    """Return the benchmark's table, generalised as published."""
    path = stored("sal_like_500k.parquet")
    name = path.name if path.exists() else "synthetic, shaped like SAL"
    return name, raw_table().with_columns(
        pl.col("age") // 10, pl.col("birthplace") // 100, pl.col("occupation") // 100
    )


def raw_table() -> pl.DataFrame:
    """Return the benchmark's table as it was collected."""
    path = stored("sal_like_500k.parquet")
    return pl.read_parquet(path) if path.exists() else sal_like(500_000)


def stored(name: str) -> Path:
    """Return where one of the real tables would be."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("WIDEBERTH_DATA", shared), name)


def sal_like(rows: int) -> pl.DataFrame:
    """Make a table in the shape of the literature's SAL."""
    rng = np.random.default_rng(20080609)
    return pl.DataFrame(
        {
            "age": rng.integers(16, 94, rows).astype(np.int16),
            "birthplace": (1 + 709 * rng.random(rows) ** 3).astype(np.int16),
            "occupation": rng.integers(1, 984, rows).astype(np.int16),
            "income": (rng.integers(10, 1001, rows) * 100).astype(np.int32),
        }
    )


def check(frame: pl.DataFrame, principles: list[str]) -> None:
    """Check the table."""
    wb.check(frame, quasi=QUASI, sensitive="income", principles=principles)


def interleaved(*tasks: Callable[[], object], runs: int = RUNS) -> list[float]:
    """Return each task's median time, the tasks taking turns."""
    times: list[list[float]] = [[] for _ in tasks]
    for run in range(runs + 1):
        for task, taken in zip(tasks, times, strict=True):
            begin = perf_counter()
            task()
            if run:  # the first run warms up
                taken.append(perf_counter() - begin)
    return [median(taken) for taken in times]


def peak_memory(frame: pl.DataFrame) -> dict[str, int]:
    """Return the table's size, and the most that it and a check of it took together (Linux)."""
    check(frame.head(1000), EVERYTHING)  # imports are not the check's
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    check(frame, EVERYTHING)
    size = int(frame.estimated_size())
    return {"table": size, "peak": status("VmHWM") - before + size}


def status(key: str) -> int:
    """Return a figure about this process's memory in bytes (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def line(
    claim: str, measured: float, limit: float | None = None, *, least: float | None = None
) -> None:
    """Print a figure beside its limit, if it has one."""
    if limit is not None:
        wanted = f"at most {limit:g}: {'ok' if measured <= limit else 'MISSED'}"
    elif least is not None:
        wanted = f"at least {least:g}: {'ok' if measured >= least else 'MISSED'}"
    else:
        wanted = ""
    print(f"{measured:8.2f}  {wanted:20}  {claim}")


if __name__ == "__main__":
    main()
