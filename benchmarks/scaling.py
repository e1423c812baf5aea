"""A release beyond one process: CPU seconds, memory and shuffled bytes, against one in memory.

``python -m benchmarks.scaling`` makes 5 million rows in the shape of SAL, and a release of them in
memory, by files under a limit, and on Spark (local[2]); ``--rows 20000000`` of more. Every run is a
process of its own. Its memory is the sum over all its processes, shared pages counted once (PSS),
looked at four times a second; its CPU seconds are those of all its processes (Linux). The release
is made with a fixed seed, and must have the same groups, rows and losses each time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter
from typing import Any

import wideberth as wb
from benchmarks.check import QUASI, line
from benchmarks.large import make

PRINCIPLES = ["k-anonymity:k=5", "epsilon-m:epsilon=2000,m=5"]
ASKED: dict[str, Any] = {
    "quasi": QUASI,
    "sensitive": "income",
    "principles": PRINCIPLES,
    "seed": 7,
}


def main() -> None:
    """Measure and print one line per claim."""
    given = arguments()
    if given.task:
        print(json.dumps(TASKS[given.task](given)))
        return
    with TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder, "sal.parquet")
        make(path, given.rows)
        print(f"table: made up like SAL, {given.rows:,} rows; {' and '.join(PRINCIPLES)}")
        found = {task: measured(task, path, given) for task in given.only or TASKS}
    for task, run in found.items():
        took = f"{run['cpu']:.1f} CPU s, {run['seconds']:.1f} s, {run['peak'] / 2**30:.2f} GB"
        print(f"{task}: {took}, {run['told']['groups']:,} groups")
        print(f"    {json.dumps({k: v for k, v in run['told'].items() if k != 'loss'})}")
    whole = found.get("memory")
    for task, run in found.items() if whole is not None else ():
        if run is whole:
            continue
        same = all(run["told"][key] == whole["told"][key] for key in ("groups", "rows", "loss"))
        print(f"{task}: {'the same' if same else 'NOT THE SAME'} groups, rows and losses")
        line(f"{task} / memory, CPU seconds", run["cpu"] / whole["cpu"])
        line(f"{task} / memory, peak memory", run["peak"] / whole["peak"])
        if "shuffled" in run["told"]:
            line(f"{task}, bytes shuffled a row", run["told"]["shuffled"] / given.rows)


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="benchmarks.scaling")
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--memory", default="2GB", help="for files")
    parser.add_argument("--bucket-rows", type=int, default=500_000)
    parser.add_argument("--folder", help="where the table is made; it needs 5 bytes a row")
    parser.add_argument("--only", action="append", choices=TASKS)
    parser.add_argument("--task", choices=TASKS, help=argparse.SUPPRESS)
    parser.add_argument("--table", help=argparse.SUPPRESS)
    return parser.parse_args()


def measured(task: str, path: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run a task in a process of its own, and look at its memory meanwhile."""
    command = [sys.executable, "-m", "benchmarks.scaling", "--task", task]
    command += ["--table", str(path), "--memory", given.memory]
    command += ["--bucket-rows", str(given.bucket_rows)]
    begin = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    peak, over = [0], Event()

    def watch() -> None:
        while not over.wait(0.25):
            peak[0] = max(peak[0], memory_of(child.pid))

    watcher = Thread(target=watch)
    watcher.start()
    told = child.stdout.read() if child.stdout else b""
    _, code, used = os.wait4(child.pid, 0)
    over.set()
    watcher.join()
    if code:
        raise SystemExit(f"{task} failed")
    return {
        "told": json.loads(told.splitlines()[-1]),
        "cpu": used.ru_utime + used.ru_stime,
        "seconds": perf_counter() - begin,
        "peak": peak[0],
    }


def memory_of(root: int) -> int:
    """Add up the memory of a process and of all that it started, in bytes."""
    total, waiting = 0, [root]
    while waiting:
        process = waiting.pop()
        try:
            rolled = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += next(int(row.split()[1]) for row in rolled.splitlines() if "Pss:" in row) << 10
            for thread in Path(f"/proc/{process}/task").iterdir():
                waiting += map(int, (thread / "children").read_text().split())
        except (OSError, StopIteration):
            continue  # it is over
    return total


def in_memory(given: argparse.Namespace) -> dict[str, Any]:
    """Make the release in memory."""
    return told(wb.anonymize(given.table, **ASKED))


def by_files(given: argparse.Namespace) -> dict[str, Any]:
    """Make it under a limit."""
    return told(
        wb.anonymize(
            given.table, **ASKED, memory=given.memory, bucket_rows=min(given.bucket_rows, 500_000)
        )
    )


def on_spark(given: argparse.Namespace) -> dict[str, Any]:
    """Make it on Spark, with a log of events from which the shuffled bytes are read."""
    with TemporaryDirectory() as folder:
        settings = {
            "spark.driver.memory": "4g",
            "spark.sql.shuffle.partitions": "8",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.eventLog.dir": f"file://{folder}",
            "spark.local.dir": folder,
        }
        words = [f"--conf {key}={value}" for key, value in settings.items()]
        os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join([*words, "pyspark-shell"])
        from wideberth.engines.spark.session import open_spark_session

        with open_spark_session("local[2]") as spark:
            table = spark.read.parquet(given.table)
            release = wb.anonymize(table, **ASKED, bucket_rows=given.bucket_rows)
            found = told(release)
        found["shuffled"] = sum(map(shuffled, Path(folder).glob("local-*")))
        return found


def shuffled(log: Path) -> int:
    """Add up the bytes that tasks have written for others."""
    total = 0
    with log.open() as lines:
        for text in lines:
            if '"Event":"SparkListenerTaskEnd"' in text:
                metrics = json.loads(text).get("Task Metrics") or {}
                total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def told(release: Any) -> dict[str, Any]:
    """Return what is compared."""
    kept = ("groups", "rows", "loss", "seconds", "engine")
    return {key: release.manifest[key] for key in kept if key in release.manifest}


TASKS = {"memory": in_memory, "files": by_files, "spark": on_spark}


if __name__ == "__main__":
    main()
