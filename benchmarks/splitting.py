"""The speed of `anonymize`: of splitting alone, of compiling, and of the whole command.

Run by ``python -m benchmarks.splitting``, with ``--huge`` also for 50 million rows; parts may be
named: ``python -m benchmarks.splitting speed shuffles threads beside compile command``. Times are
medians of several runs, interleaved with those of the reference, for the machine may be busy with
something else. The 500,000 rows are sal_like_500k.parquet from the folder named by WIDEBERTH_DATA
(or of shared/data beside the checkout), or else drawn from `datasets.sal`, as all larger tables
are.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import polars as pl

from benchmarks.check import QUASI, interleaved, line, status, stored
from wideberth import datasets
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.split import SplitResult, split
from wideberth.core.codes import Column, encode
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.kernels.randomness import Stream, hash_row_numbers, root_key
from wideberth.principles import parse

PRINCIPLE = "epsilon-m:epsilon=4500,m=5"
MILLION = 1_000_000
#: More than the plain engine is ever chosen for.
FEW = 60_000


def main() -> None:
    """Measure and print one line per claim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.splitting")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--huge", action="store_true", help="50 million rows too")
    parser.add_argument("--child", choices=CHILDREN, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(CHILDREN[asked.child](*asked.parts)))
        return
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    parts = [PARTS[name] for name in asked.parts or PARTS] + [huge] * asked.huge
    for part in parts:
        part()
        print(f"(load {os.getloadavg()[0]:.1f})", flush=True)


# ---- splitting alone


def table(rows: int) -> tuple[str, pl.DataFrame]:
    """Return a table in the shape of SAL, and where it comes from."""
    path = stored("sal_like_500k.parquet")
    if rows == MILLION // 2 and path.exists():
        return path.name, pl.read_parquet(path)
    return f"datasets.sal({rows:,})", datasets.sal(rows)


def encoded(frame: pl.DataFrame) -> tuple[list[Quasi], Column]:
    """Encode the quasi-identifiers and the income."""
    return [read_quasi(frame[name]) for name in QUASI], encode(frame["income"])


def run(
    quasis: list[Quasi],
    income: Column,
    cuts: str = "paper",
    threads: int = 1,
    asked: Sequence[str] = (PRINCIPLE,),
) -> SplitResult:
    """Split a table for (ε,m)-anonymity, from encoded columns to labels and bounds."""
    demands = []
    for principle in map(parse, asked):
        column = None if principle.needs == "size" else income
        demands.append(Demand(principle, principle.bind(income.domain), column))
    rng = np.random.default_rng(20080609)
    return split(quasis, demands, rng=rng, cuts=cuts, threads=threads)


def speed() -> None:
    """Compare splitting with building a k-d tree on the same columns."""
    from scipy.spatial import cKDTree

    for rows, limit, runs in ((MILLION // 2, 0.5, 9), (5 * MILLION, 0.35, 5)):
        name, frame = table(rows)
        columns = encoded(frame)
        points = frame.select(QUASI).to_numpy().astype(np.float64)
        outcome = run(*columns)
        bucket = round(rows / outcome.leaves)
        print(
            f"table: {name}; {PRINCIPLE}, cuts paper: {outcome.leaves:,} leaves of {bucket} rows, "
            f"{outcome.partition.count:,} groups"
        )
        seconds = interleaved(
            lambda points=points, bucket=bucket: cKDTree(points, leafsize=bucket),
            lambda columns=columns: run(*columns),
            lambda frame=frame: run(*encoded(frame)),
            runs=runs,
        )
        print(f"cKDTree of the quasi-identifiers, leafsize {bucket}: {seconds[0] * 1000:.0f} ms")
        what = f"{rows:,} rows, one thread"
        line(f"splitting, {what} / cKDTree", seconds[1] / seconds[0], limit)
        line(f"encoding and splitting, {what} / cKDTree", seconds[2] / seconds[0])


def shuffles() -> None:
    """Compare the secret shuffles of a release with NumPy's."""
    rows = 5 * MILLION
    generator, stream = np.random.default_rng(), Stream(root_key(), "row order")
    seconds = interleaved(
        lambda: generator.permutation(rows),
        lambda: stream.permutation(rows),
        lambda: stream.words(rows),
        lambda: hash_row_numbers(root_key(), rows),
        runs=7,
    )
    print(f"NumPy's permutation of {rows:,} rows: {seconds[0] * 1000:.0f} ms")
    line(f"secret permutation, {rows:,} rows / NumPy's", seconds[1] / seconds[0], 2)
    line("its random words (SHAKE-256) / NumPy's permutation", seconds[2] / seconds[0])
    line("words that break ties (SipHash) / NumPy's permutation", seconds[3] / seconds[0])


def threads() -> None:
    """Compare one thread with two."""
    name, frame = table(5 * MILLION)
    columns = encoded(frame)
    print(f"table: {name}; {PRINCIPLE}")
    for cuts, least in (("paper", 1.4), ("best", None)):
        seconds = interleaved(
            lambda cuts=cuts: run(*columns, cuts, 1),
            lambda cuts=cuts: run(*columns, cuts, 2),
            runs=7 if cuts == "paper" else 3,
        )
        line(f"one thread / two, cuts {cuts}", seconds[0] / seconds[1], least=least)


def beside() -> None:
    """Compare (ε,m) beside a larger k, near what is possible, with (ε,m) alone."""
    rows, rng = MILLION // 4, np.random.default_rng(1)
    pay = np.exp(rng.normal(10.2, 0.7, rows))
    grain = rng.choice(
        [1, 100, 500, 1000, 5000, 10_000], rows, p=[0.15, 0.1, 0.1, 0.25, 0.25, 0.15]
    )
    wages = pl.Series("income", (np.rint(pay / grain) * grain).astype(np.int64))
    columns = encoded(datasets.sal(rows).with_columns(wages))
    alone = ["epsilon-m:epsilon=10000,m=2"]
    both = [*alone, "k-anonymity:k=5"]
    for cuts in ("paper", "best"):
        one, two = (run(*columns, cuts, 1, asked).partition.count for asked in (alone, both))
        print(
            f"{rows:,} made-up wages, cuts {cuts}: {one:,} groups, beside k-anonymity:k=5 {two:,}"
        )
        seconds = interleaved(
            lambda cuts=cuts: run(*columns, cuts, 1, alone),
            lambda cuts=cuts: run(*columns, cuts, 1, both),
            runs=3,
        )
        line(f"{both[0]} beside {both[1]} / alone, cuts {cuts}", seconds[1] / seconds[0])


def huge() -> None:
    """Split 50 million rows in a process of their own; medians of CPU time, for runs are few."""
    found = child("huge")
    print(
        f"datasets.sal, cuts paper, one thread: 500,000 rows in {found['small']:.3f} CPU s, "
        f"50,000,000 in {found['large']:.1f} CPU s, {found['wall']:.1f} s by the clock "
        f"({found['groups']:,} groups)"
    )
    line("growth exponent of CPU time, 500,000 to 50,000,000 rows", found["exponent"], 1.15)
    line("peak memory of splitting, encoded columns included, GB", found["peak"] / 1e9, 6)
    line("peak memory of the process, making the table included, GB", found["process"] / 1e9, 6)


def _huge() -> dict[str, float]:
    small = encoded(datasets.sal(MILLION // 2))
    run(*small)
    columns = encoded(datasets.sal(50 * MILLION))
    process = status("VmHWM")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    few, many, walls = [], [], []
    for _ in range(3):
        few += [_timed(lambda: run(*small), process_time) for _ in range(5)]
        begin, wall = process_time(), perf_counter()
        groups = run(*columns).partition.count
        many.append(process_time() - begin)
        walls.append(perf_counter() - wall)
    peak = status("VmHWM")
    return {
        "small": median(few),
        "large": median(many),
        "wall": median(walls),
        "exponent": math.log(median(many) / median(few)) / math.log(100),
        "groups": groups,
        "peak": peak,
        "process": max(process, peak),
    }


# ---- compiling

#: Principle and cuts of each call.
CALLS = {
    "paper": (PRINCIPLE, "paper"),
    "best": (PRINCIPLE, "best"),
    "quality": (PRINCIPLE, "quality"),
    "sizes": ("k-anonymity:k=5", "quality"),
    "values": ("entropy-l:l=3", "best"),
}


def compiling() -> None:
    """Time the first call in a process, with and without compiled code from an earlier one."""
    print(f"first call in a process, {FEW:,} rows; seconds with an empty cache, CPU seconds; with")
    print("a filled cache, CPU seconds:")
    for name, call in CALLS.items():
        (cold, effort), (warm, again) = _compiled(name)
        what = ", ".join(call)
        print(f"{cold:8.2f} {effort:6.2f} {warm:8.2f} {again:6.2f}  {what}", flush=True)
        if name == "best":
            line("first call in a process, kernels in the cache, seconds", warm, 1)
    walls, efforts = [], []
    for _ in range(3):
        with TemporaryDirectory() as folder:
            before, begin = _cpu(), perf_counter()
            module = "wideberth.kernels.cache"
            environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
            subprocess.check_call([sys.executable, "-m", module, "splitting"], env=environment)
            walls.append(perf_counter() - begin)
            efforts.append(_cpu() - before)
    line(f"python -m {module} splitting: its kernels from nothing, seconds", median(walls), 10)
    line("the same, CPU seconds", median(efforts))


def _compiled(*names: str) -> tuple[list[float], list[float]]:
    """Return the seconds and CPU seconds of calls in a fresh process, without and with a cache."""
    cold, warm = [], []
    for _ in range(3):
        with TemporaryDirectory() as folder:
            cold.append(child("calls", *names, NUMBA_CACHE_DIR=folder))
            warm.append(child("calls", *names, NUMBA_CACHE_DIR=folder))
    first, second = (
        [median(run[clock] for run in runs) for clock in ("wall", "CPU")] for runs in (cold, warm)
    )
    return first, second


def _calls(*names: str) -> dict[str, float]:
    quasis, income = encoded(datasets.sal(FEW))
    begin, before = perf_counter(), _cpu()
    for name in names:
        written, cuts = CALLS[name]
        principle = parse(written)
        column = None if name == "sizes" else income
        demand = Demand(principle, principle.bind(income.domain), column)
        split(quasis, [demand], rng=np.random.default_rng(1), cuts=cuts, threads=1)
    return {"wall": perf_counter() - begin, "CPU": _cpu() - before}


# ---- the whole command


def command() -> None:
    """Compare the command, from CSV to verified CSV, with reading and writing the two files."""
    with TemporaryDirectory() as folder:
        for rows in (MILLION, 5 * MILLION):
            original = Path(folder, f"original{rows}.csv")
            frame = datasets.sal(rows)
            frame.write_csv(original)
            size = sum(column.codes.nbytes + _dictionary(column) for column in map(encode, frame))
            del frame
            for cuts in ("paper", "best"):
                full = rows == 5 * MILLION and cuts == "paper"
                _command(original, cuts, size, (8, 8) if full else (None, None))


def _command(
    original: Path, cuts: str, size: int, limits: tuple[float | None, float | None]
) -> None:
    release = original.with_name("release.csv")
    copy = original.with_name("copy.csv")
    told: list[dict[str, float]] = []
    peaks: list[int] = []
    effort: tuple[list[float], list[float]] = ([], [])

    def whole() -> None:
        arguments = ["--qi", ",".join(QUASI), "--sensitive", "income", "--principle", PRINCIPLE]
        script = str(Path(sys.executable).with_name("wideberth"))
        target = ["-o", str(release), "--force", "--cuts", cuts]
        process = subprocess.Popen(
            [script, "anonymize", str(original), *arguments, *target], stdout=subprocess.DEVNULL
        )
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
        if process.returncode:
            raise SystemExit("wideberth anonymize failed")
        peaks.append(usage.ru_maxrss * 1024)
        effort[1].append(usage.ru_utime + usage.ru_stime)
        manifest = Path(f"{release}.manifest.json").read_text(encoding="utf-8")
        told.append(json.loads(manifest)["seconds"])

    whole()
    published = pl.read_csv(release)

    def plain() -> None:
        before = _cpu()
        pl.read_csv(original)
        published.write_csv(copy)
        effort[0].append(_cpu() - before)

    seconds = interleaved(plain, whole, runs=3)
    rows = f"{published.height:,} rows, cuts {cuts}"
    print(f"{rows}: {seconds[1]:.1f} s; polars read_csv + write_csv: {seconds[0]:.2f} s")
    phases = {phase: median(run[phase] for run in told[-3:]) for phase in told[0]}
    phases["the rest"] = seconds[1] - sum(phases.values())
    print("  " + ", ".join(f"{phase} {taken:.2f}" for phase, taken in phases.items()))
    line(f"the command, {rows} / polars read_csv + write_csv", seconds[1] / seconds[0], limits[0])
    line("the same, CPU seconds", median(effort[1]) / median(effort[0]))
    line(f"its peak memory, {rows} / the encoded table", median(peaks) / size, limits[1])
    print(f"  ({median(peaks) / 1e6:,.0f} MB; int32 codes and dictionaries: {size / 1e6:,.0f} MB)")


def _dictionary(column: Column) -> int:
    values = column.domain.values
    return 0 if values is None else int(values.estimated_size())


# ---- helpers


def child(name: str, *words: str, **environment: str) -> Mapping[str, Any]:
    """Run a part in a process of its own."""
    arguments = [sys.executable, "-m", "benchmarks.splitting", "--child", name, *words]
    answer = subprocess.check_output(arguments, env={**os.environ, **environment})
    found: Mapping[str, Any] = json.loads(answer)
    return found


def _cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _timed(task: Callable[[], object], clock: Callable[[], float] = perf_counter) -> float:
    begin = clock()
    task()
    return clock() - begin


PARTS = {
    "speed": speed,
    "shuffles": shuffles,
    "threads": threads,
    "beside": beside,
    "compile": compiling,
    "command": command,
}
CHILDREN: dict[str, Callable[..., dict[str, float]]] = {"huge": _huge, "calls": _calls}


if __name__ == "__main__":
    main()
