"""The cost of (ε,δ)^k-dissimilarity: releases and checks of distributions, vectors, places, texts.

Run by ``python -m benchmarks.dissimilarity``; tables may be named: ``python -m
benchmarks.dissimilarity symptoms notes``. With ``--scale 0.01`` there are fewer rows. With
``--equitable`` only the dealing of leaves is compared, with networkx's equitable colouring. What is
printed is Markdown.

Every measurement has a process of its own, in which a small table went before. A release is made
once; for a check, the time is the median of three. Memory is the peak above what the process had
before, the table included. The reference runs in the same process, after the peak has been read:
for texts rapidfuzz's `cdist` of 2,000 different ones, times the square of how many more there are;
for all others scipy's `cKDTree` of the different values, and the neighbours within ε of 2,000 of
them, times how many more there are.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

import wideberth as wb
from benchmarks.check import interleaved, status
from wideberth import datasets
from wideberth.core.exact import Bools, Floats
from wideberth.principles import Dissimilarity

QUASI = ["age", "zip", "sex"]
DELTA, K = 0.8, 5
SAMPLE = 2_000
WARMING = 500
EARTH = 6371.0088
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Case:
    """A table of so many rows at full size, and what is near in it."""

    make: Callable[[int], pl.DataFrame]
    rows: int
    distance: str
    epsilon: float

    def question(self, frame: pl.DataFrame) -> dict[str, Any]:
        """Say what to ask of the table."""
        sensitive = [name for name in frame.columns if name not in (*QUASI, "group")]
        principle = Dissimilarity(
            epsilon=self.epsilon, delta=DELTA, k=K, distance=self.distance, on=sensitive
        )
        return {"quasi": QUASI, "sensitive": sensitive, "principles": principle}


CASES = {
    "symptoms": Case(datasets.symptoms, 200_000, "variational", 0.1),
    "measurements": Case(datasets.measurements, 100_000, "euclidean", 1),
    "addresses": Case(datasets.addresses, 50_000, "haversine", 1),
    "notes": Case(datasets.notes, 20_000, "edit", 10),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dissimilarity")
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(CASES)}; by default all")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--equitable", action="store_true", help="compare the dealing of leaves")
    parser.add_argument("--child", choices=TASKS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(_measured(asked.child, *asked.tables)))
        return
    if unknown := set(asked.tables) - set(CASES):
        parser.error(f"there is no table {', '.join(unknown)}; there are {', '.join(CASES)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before\n", flush=True)
    if asked.equitable:
        equitable()
    else:
        scale(asked.tables or list(CASES), asked.scale)
    print(f"\n(load {os.getloadavg()[0]:.1f})")


# ---- releases and checks


def scale(names: list[str], share: float) -> None:
    """Measure at half and at full size, and print a line for each."""
    module = "wideberth.kernels.cache"
    subprocess.check_call([sys.executable, "-m", module, "splitting"])
    print(f"(ε, {DELTA:g})^{K}; growth is the exponent from half to full size, 1 is linear\n")
    print("| table, distance, ε | rows | | seconds | growth | / reference | MB | growth | |")
    print("|---|---:|---|---:|---:|---:|---:|---:|---|")
    for name in names:
        case = CASES[name]
        full = max(round(share * case.rows), 2 * K)
        half: dict[str, Mapping[str, Any]] = {}
        with TemporaryDirectory() as folder:
            for rows in (full // 2, full):
                for task in TASKS:
                    found = child(task, name, str(rows), str(Path(folder, f"{rows}.parquet")))
                    where = f"{name}, {case.distance}, {case.epsilon:g}"
                    print(f"| {where} | {rows:,} | {_line(task, found, half.get(task))} |")
                    sys.stdout.flush()
                    half.setdefault(task, found)


def _line(task: str, found: Mapping[str, Any], half: Mapping[str, Any] | None) -> str:
    if "failed" in found:
        return f"{task} | | | | | | {found['failed']}"
    ratio = found["seconds"] / found["reference"]
    return (
        f"{task} | {found['seconds']:.2f} | {_growth('seconds', found, half)} | {ratio:.2f} | "
        f"{found['peak'] / MEGABYTE:.0f} | {_growth('peak', found, half)} | {found['told']}; "
        f"reference {found['reference']:.2f} s"
    )


def _growth(what: str, found: Mapping[str, Any], half: Mapping[str, Any] | None) -> str:
    """Return the exponent with which a figure has grown with the rows."""
    if half is None or min(half.get(what, 0), found[what]) <= 0:
        return ""
    more = math.log(found[what] / half[what]) / math.log(found["rows"] / half["rows"])
    return f"{more:.2f}"


def child(*words: str) -> Mapping[str, Any]:
    """Measure in a process of its own; what goes wrong there becomes a line of the table."""
    arguments = [sys.executable, "-m", "benchmarks.dissimilarity", "--child", *words]
    answer = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if answer.returncode:
        last = answer.stderr.strip().splitlines()[-1:] or [f"exit code {answer.returncode}"]
        return {"failed": f"failed: {last[0]}"}
    found: Mapping[str, Any] = json.loads(answer.stdout)
    return found


def _measured(task: str, name: str, rows: str, path: str) -> dict[str, Any]:
    """Do a task in this process, after a small one of its kind, and then the reference."""
    case, run = CASES[name], TASKS[task]

    def table(size: int, release: Path) -> pl.DataFrame:
        return pl.read_parquet(release) if run is _check else case.make(size)

    with TemporaryDirectory() as folder:
        small = Path(folder, "small.parquet")
        _release(case, case.make(WARMING), small)
        run(case, table(WARMING, small), small)
    frame = table(int(rows), Path(path))
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    seconds, told = run(case, frame, Path(path))
    return {
        "rows": frame.height,
        "seconds": seconds,
        "told": told,
        "peak": max(status("VmHWM") - before, 0) + frame.estimated_size(),
        "reference": reference(case, frame),
    }


def _release(case: Case, frame: pl.DataFrame, path: Path) -> tuple[float, str]:
    """Make a verified release, and keep it for the check."""
    begin = perf_counter()
    made = wb.anonymize(frame, **case.question(frame))
    taken = perf_counter() - begin
    made.table.write_parquet(path)
    told = made.manifest
    phases = ", ".join(f"{phase} {spent:.2f}" for phase, spent in told["seconds"].items())
    left_out = told["suppressed"]["rows"]
    return taken, (
        f"{told['groups']:,} groups, NCP {told['loss']['ncp_percent']:.2f} %, "
        f"{left_out:,} rows left out; {phases}"
    )


def _check(case: Case, frame: pl.DataFrame, path: Path) -> tuple[float, str]:
    """Check a release that was made before."""
    question = case.question(frame)
    if "group" in frame.columns:
        question["group"] = "group"
    times = []
    for _ in range(3):
        begin = perf_counter()
        result = wb.check(frame, **question)
        times.append(perf_counter() - begin)
    kept = "satisfied" if result.satisfied else "not satisfied"
    achieved = ", ".join(
        f"{name} {most:.4g}" for name, most in result.principles[0].achieved.items()
    )
    return median(times), f"{kept}: {achieved}"


def _check_whole(case: Case, frame: pl.DataFrame, path: Path) -> tuple[float, str]:
    """Check the table as it was collected, all of it one group."""
    return _check(case, frame.with_columns(group=pl.lit(1)), path)


TASKS: dict[str, Callable[[Case, pl.DataFrame, Path], tuple[float, str]]] = {
    "release": _release,
    "check of it": _check,
    "check as one group": _check_whole,
}


# ---- references


def reference(case: Case, frame: pl.DataFrame) -> float:
    """Return the seconds in which a library finds the neighbours of all different values."""
    values = frame.select(case.question(frame)["sensitive"]).unique(maintain_order=True)
    if case.distance == "edit":
        return _texts(values.to_series().to_list(), case.epsilon)
    if case.distance == "variational":
        return _tree(values.to_numpy(), 2 * case.epsilon, 1)
    points = np.array(values.to_series().to_list())
    if case.distance == "haversine":
        return _tree(_on_the_sphere(points), 2 * math.sin(case.epsilon / EARTH / 2), 2)
    return _tree(points, case.epsilon, 2)


def _texts(texts: list[str], epsilon: float) -> float:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cdist

    some = texts[:SAMPLE]
    begin = perf_counter()
    cdist(some, some, scorer=Levenshtein.distance, score_cutoff=int(epsilon), workers=-1)
    return (perf_counter() - begin) * (len(texts) / len(some)) ** 2


def _tree(points: Floats, radius: float, norm: int) -> float:
    from scipy.spatial import cKDTree

    some = np.random.default_rng(0).permutation(points)[:SAMPLE]
    begin = perf_counter()
    tree = cKDTree(points)
    built = perf_counter()
    tree.query_ball_point(some, radius, p=norm, workers=-1, return_length=True)
    return built - begin + (perf_counter() - built) * len(points) / len(some)


def _on_the_sphere(places: Floats) -> Floats:
    latitude, longitude = np.radians(places).T
    ring = np.cos(latitude)
    return np.stack([ring * np.cos(longitude), ring * np.sin(longitude), np.sin(latitude)], axis=1)


# ---- dealing


def equitable() -> None:
    """Compare dealing to Δ + 1 groups of equal size with networkx's equitable colouring."""
    import networkx as nx

    from wideberth.principles.partition.swap import NeighborCap, SimilarityMatrix, deal_apart

    def dealt(near: Bools, hands: int) -> bool:
        """Deal rows so that nobody is near anybody; tell whether as many groups were found."""
        size = len(near)
        labels = deal_apart(
            SimilarityMatrix(near),
            np.arange(size),
            hands,
            NeighborCap.of_share(Fraction(1)),
            size // hands,
            2 * size,
            1 << 24,
        )
        return labels is not None and int(labels.max()) == hands - 1

    print("Δ + 1 groups of equal size in which nobody is near anybody; medians over graphs\n")
    print("| graph | rows | Δ + 1 | networkx, ms | own, ms | own / networkx | own found |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for kind, rows, graphs in _graphs():
        most = [int(near.sum(axis=1).max()) for near in graphs]  # each is near itself
        found = sum(map(dealt, graphs, most))
        times = [
            interleaved(partial(nx.equitable_color, graph, g), partial(dealt, near, g), runs=1)
            for near, g in zip(graphs, most, strict=True)
            for graph in [nx.from_numpy_array(near & ~np.eye(rows, dtype=bool))]
        ]
        theirs, own = (1000 * median(column) for column in zip(*times, strict=True))
        print(
            f"| {kind} | {rows} | {median(most):.0f} | {theirs:.2f} | {own:.2f} | "
            f"{own / theirs:.3f} | {found} of {len(graphs)} |",
            flush=True,
        )


def _graphs() -> Iterator[tuple[str, int, list[Bools]]]:
    """Yield graphs as leaves have them: any pairs near, points near each other, and clusters."""
    rng = np.random.default_rng(2009)
    for rows in (20, 50, 100, 300, 1_000):
        count = 9 if rows < 1_000 else 3
        yield "random", rows, [_pairs(rng.random((rows, rows)) < 0.08) for _ in range(count)]
        planes = [rng.random((rows, 2)) for _ in range(count)]
        yield "in the plane", rows, [_close(points, 0.15) for points in planes]
        kinds = [rng.integers(0, 12, rows) for _ in range(count)]
        yield "clusters", rows, [_pairs(kind[:, None] == kind) for kind in kinds]


def _pairs(chosen: Bools) -> Bools:
    """Make a relation of a matrix: mutual, and everybody near themselves."""
    upper = np.triu(chosen, 1)
    return upper | upper.T | np.eye(len(chosen), dtype=bool)


def _close(points: Floats, radius: float) -> Bools:
    apart = ((points[:, None] - points) ** 2).sum(axis=2)
    return _pairs(apart <= radius**2)


if __name__ == "__main__":
    main()
