"""The speed of `check` on a file larger than the memory it may take, and the memory it does take.

``python -m benchmarks.large`` makes 50 million rows in the shape of SAL, on the spot, in a folder
that is removed afterwards; ``--rows 5000000`` tries it in a minute. Every run is a process of its
own, whose peak is that of all its memory, Python and libraries included (Linux). The reference is
what DuckDB takes to count the same columns (GROUP BY) under the same limit.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import wideberth as wb
from benchmarks.check import EVERYTHING, QUASI, line, status
from wideberth.core.memory import parse_size

FEW = ["k-anonymity:k=5", "epsilon-m:epsilon=2000,m=5"]
CHUNK = 2_500_000


def main() -> None:
    """Measure and print one line per claim."""
    given = arguments()
    if given.task:
        print(json.dumps(TASKS[given.task](given)))
        return
    with TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder, "sal.parquet")
        make(path, given.rows)
        size = path.stat().st_size
        print(f"table: made up like SAL, {given.rows:,} rows, {size:,} bytes of Parquet")
        found: dict[str, list[dict[str, Any]]] = {task: [] for task in TASKS}
        for _ in range(given.runs):
            for task, runs in found.items():
                runs.append(measured(task, path, given))
        seconds = {task: median(run["seconds"] for run in runs) for task, runs in found.items()}
        peak = max(run["peak"] for task in ("few", "all") for run in found[task])
    first = found["all"][0]
    print(f"{first['groups']:,} groups; limit {given.memory}; {given.runs} runs, their median")
    reference = "DuckDB's GROUP BY of the same columns"
    print(f"{reference}: {seconds['reference']:.1f} s")
    line("peak memory of the process / the limit", peak / parse_size(given.memory), 1)
    few, every = (seconds[task] / seconds["reference"] for task in ("few", "all"))
    line(f"{len(FEW)} principles / {reference}", few)
    line(f"{len(EVERYTHING)} principles / {reference}", every)
    line(f"{len(FEW)} principles, seconds", seconds["few"])
    line(f"{len(EVERYTHING)} principles, seconds", seconds["all"])


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.large")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--folder", help="where the table is made; it needs 5 bytes a row")
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--table", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(path: Path, rows: int) -> None:
    """Write the table, a chunk at a time."""
    writer = None
    for begin in range(0, rows, CHUNK):
        chunk: pa.Table = wb.datasets.sal(min(CHUNK, rows - begin), seed=begin).to_arrow()
        writer = writer or parquet.ParquetWriter(path, chunk.schema)
        writer.write_table(chunk, row_group_size=500_000)
    if writer is not None:
        writer.close()


def measured(task: str, path: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run a task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large", "--task", task]
    command += ["--table", str(path), "--memory", given.memory]
    result: dict[str, Any] = json.loads(subprocess.check_output(command))
    return result


def check(path: str, memory: str, principles: list[str]) -> dict[str, Any]:
    """Check the table."""
    begin = perf_counter()
    result = wb.check(path, quasi=QUASI, sensitive="income", principles=principles, memory=memory)
    return figures(begin, result.groups)


def count(path: str, memory: str) -> dict[str, Any]:
    """Let DuckDB count the combinations of the same columns, and look at all of them."""
    import duckdb

    begin = perf_counter()
    with TemporaryDirectory() as folder:
        limits = {"memory_limit": f"{parse_size(memory) >> 20}MiB", "temp_directory": folder}
        with duckdb.connect(config=limits) as connection:
            columns = ", ".join([*QUASI, "income"])
            query = f"SELECT {columns}, count(*) FROM read_parquet($path) GROUP BY ALL"  # noqa: S608
            relation = connection.sql(query, params={"path": path})
            rows = sum(batch.num_rows for batch in relation.to_arrow_reader(1 << 18))
    return figures(begin, rows)


def figures(begin: float, groups: int) -> dict[str, Any]:
    """Return what a run took."""
    return {"seconds": perf_counter() - begin, "peak": status("VmHWM"), "groups": groups}


TASKS = {
    "reference": lambda given: count(given.table, given.memory),
    "few": lambda given: check(given.table, given.memory, FEW),
    "all": lambda given: check(given.table, given.memory, EVERYTHING),
}


if __name__ == "__main__":
    main()
