"""The speed of the lattice search, beside ARX; and the l-diversity paper's tables of Adult.

Run by ``python -m benchmarks.lattice``; parts may be named: ``python -m benchmarks.lattice speed
million eleven huge command compile paper``. It needs adult_arx/ (the census extract and hierarchies
that ARX ships) in the folder named by WIDEBERTH_DATA, or in shared/data beside the checkout.

The unit of time is R: one polars `group_by` of the eight integer-coded quasi-identifiers, measured
in turn with each case. ARX's figures are those of ARX 3.9.2 on a machine of this kind, warm, in R.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from benchmarks.check import line, status, stored
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice import kernel_judge
from wideberth.algorithms.lattice.generalize import SearchSettings, search
from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.algorithms.lattice.measures import NODE_MEASURES
from wideberth.algorithms.lattice.problem import LatticeProblem
from wideberth.algorithms.lattice.rule_judge import node_partition
from wideberth.algorithms.lattice.search import NodeChecks, SearchBudget, SearchResult
from wideberth.core.codes import Column, Domain, encode, encode_as
from wideberth.hierarchy import Hierarchy, intervals, read_hierarchy
from wideberth.hierarchy.quasi import read_quasi
from wideberth.principles import parse

EIGHT = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "salary-class",
]
NINE = [*EIGHT[:7], "occupation", "salary-class"]


@dataclass(frozen=True)
class Case:
    """One search: what is demanded, how much may be suppressed, and ARX's time in R."""

    principles: tuple[str, ...]
    limit: str
    arx: float | None = None
    measure: str = "loss"
    quasi: Sequence[str] = tuple(EIGHT)
    sensitive: str = "occupation"

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        what = " + ".join(self.principles)
        nine = ", 9 QIs" if len(self.quasi) == 9 else ""
        return f"{what}, {self.measure}, suppression {float(self.limit):.0%}{nine}"


K5 = "k-anonymity:k=5"
CASES = [
    Case((K5,), "0", 11),
    Case((K5,), "0.04", 130),
    Case((K5,), "1", 200),
    Case((K5,), "0", None, "discernibility"),
    Case((K5,), "0.04", 140, "discernibility"),
    Case(("distinct-l:l=3",), "0"),
    Case(("distinct-l:l=3",), "0.04", 180),
    Case(("entropy-l:l=3",), "0"),
    Case(("entropy-l:l=3",), "0.04", 265),
    Case(("recursive-cl:c=4,l=3",), "0"),
    Case(("recursive-cl:c=4,l=3",), "0.04", 265),
    Case((K5, "t-closeness:t=0.2,distance=equal"), "0.04"),
    Case((K5, "t-closeness:t=0.2,distance=hierarchical"), "0.04", 420),
    Case((K5, "t-closeness:t=0.2,distance=ordered"), "0.04", 5800, sensitive="ldl"),
    Case((K5,), "0.04", 530, quasi=NINE),
]


def main() -> None:
    """Measure and print one line per claim."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lattice")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; by default all")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        print(json.dumps(first_call()))
        return
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(unknown)}; there are {', '.join(PARTS)}")
    if not stored("adult_arx").exists():
        raise SystemExit("adult_arx/ is not there; see the first lines of this file")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    for name in asked.parts or PARTS:
        print(f"--- {name}", flush=True)
        PARTS[name]()


# ---- tables


def adult() -> pl.DataFrame:
    """Return ARX's extract of Adult, with a made column of numbers."""
    path = stored("adult_arx") / "arx_example_ldl.csv"
    return pl.read_csv(path, separator=";", infer_schema=False)


def tree(column: str) -> Hierarchy:
    """Return ARX's hierarchy of a column."""
    return read_hierarchy(stored("adult_arx") / f"arx_adult_hierarchy_{column}.csv")


def noisy(rows: int) -> pl.DataFrame:
    """Draw rows of Adult, and in each column exchange one value in twenty for a random one."""
    rng = np.random.default_rng(1994)
    frame = adult()
    drawn = frame[rng.integers(frame.height, size=rows)]
    columns = []
    for series in drawn:
        other = frame[series.name].gather(rng.integers(frame.height, size=rows))
        keep = pl.Series(rng.random(rows) < 0.95)
        columns.append(series.zip_with(keep, other))
    return pl.DataFrame(columns)


class Coded:
    """A table in integer codes, with the levels of its quasi-identifiers."""

    def __init__(self, frame: pl.DataFrame, quasi: Sequence[str]) -> None:
        self.rows = frame.height
        self.frame = frame
        self.quasis = [read_quasi(frame[name], kind="text", hierarchy=tree(name)) for name in quasi]
        self.quasi_levels = [QuasiLevels.of(one) for one in self.quasis]
        self._columns: dict[str, Column] = {}

    def column(self, name: str) -> Column:
        """Encode a sensitive attribute."""
        if name not in self._columns:
            if name == "ldl":
                self._columns[name] = encode_as(self.frame[name], "float")
            else:
                self._columns[name] = encode(self.frame[name]).with_tree(tree(name))
        return self._columns[name]

    def ground(self, principles: Sequence[str], limit: str, sensitive: str) -> LatticeProblem:
        """Put together what a search works on."""
        demands = []
        for principle in map(parse, principles):
            sizes = principle.needs == "size"
            column = None if sizes else self.column(sensitive)
            rows = Domain(name="rows", histogram=np.array([self.rows]))
            rule = principle.bind(rows if column is None else column.domain)
            demands.append(Demand(principle, rule, column))
        return LatticeProblem(self.quasi_levels, demands, int(Fraction(limit) * self.rows))

    def reference(self) -> pl.DataFrame:
        """Return the codes of the quasi-identifiers, for polars."""
        return pl.DataFrame({one.name: one.codes for one in self.quasis})


def solve(
    ground: LatticeProblem, measure: str, budget: SearchBudget | None = None
) -> tuple[NodeChecks, SearchResult]:
    """Search: from integer codes to the best node, by compiled code."""
    assert kernel_judge.CompiledNodeChecker  # noqa: S101 - what is loaded is used
    settings = SearchSettings(budget=budget or SearchBudget())
    return search(ground, NODE_MEASURES[measure], settings, None)


def best_times(*tasks: Any, runs: int) -> list[float]:
    """Return each task's shortest time, the tasks taking turns."""
    times = [float("inf")] * len(tasks)
    for run in range(runs + 1):
        for number, task in enumerate(tasks):
            begin = perf_counter()
            task()
            if run:  # the first run warms up
                times[number] = min(times[number], perf_counter() - begin)
    return times


# ---- parts


def speed() -> None:
    """Compare searches of Adult's lattice with ARX."""
    frame = adult()
    coded = {len(names): Coded(frame, names) for names in (EIGHT, NINE)}
    reference = coded[8].reference()
    factors = []
    for case in CASES:
        table = coded[len(case.quasi)]
        ground = table.ground(case.principles, case.limit, case.sensitive)
        unit, taken = best_times(
            lambda: reference.group_by(EIGHT).len(),
            lambda ground=ground, case=case: solve(ground, case.measure),
            runs=9,
        )
        probe, found = solve(ground, case.measure)
        suppressed = found.ranking[0][2].suppressed
        print(
            f"{case.name}: score {found.score:.6g}, {suppressed:,} rows suppressed, "
            f"{probe.checks} of {ground.shape.nodes:,} nodes checked, {taken * 1e3:.1f} ms "
            f"= {taken / unit:.1f} R"
        )
        if case.arx is not None:
            wanted = 4 if case.limit == "0" else 10
            factors.append(case.arx * unit / taken)
            line(f"ARX ({case.arx:g} R) / this", factors[-1], least=wanted)
    (alone,) = best_times(lambda: reference.group_by(EIGHT).len(), runs=50)
    print(f"R = {unit * 1e3:.2f} ms in turn with the last case; {alone * 1e3:.2f} ms by itself")
    begin = perf_counter()
    quasi_levels = [QuasiLevels.of(one) for one in coded[8].quasis]
    for quasi_level in quasi_levels:
        _ = quasi_level.changes, quasi_level.crowding
    print(
        f"levels of eight hierarchies as integers (not in these times): "
        f"{(perf_counter() - begin) * 1e3:.1f} ms"
    )


def million() -> None:
    """Search with a million rows."""
    coded = Coded(noisy(1_000_000), EIGHT)
    for principle, arx in ((K5, 0.93), ("distinct-l:l=3", 5.4)):
        ground = coded.ground([principle], "0.04", "occupation")
        (taken,) = best_times(lambda ground=ground: solve(ground, "loss"), runs=5)
        probe, found = solve(ground, "loss")
        print(
            f"1,000,000 rows, {principle}, suppression 4%: {taken:.3f} s, score {found.score:.5f}, "
            f"{probe.checks} nodes checked"
        )
        line(f"ARX ({arx} s on a table made likewise) / this", arx / taken, least=10)


def with_made_columns(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, Hierarchy]]:
    """Add hours a week and weeks a year, which depend on the age a little; four levels each."""
    rng = np.random.default_rng(52)
    age = frame["age"].cast(pl.Int64).to_numpy()
    hours = np.clip(rng.normal(45 - abs(age - 45) / 3, 8), 1, 99).astype(int)
    weeks = np.clip(52 - rng.exponential(3, len(age)), 1, 52).astype(int)
    made = frame.with_columns(pl.Series("hours", hours), pl.Series("weeks", weeks))
    trees = {
        "hours": intervals(made["hours"].to_list(), [10, 50]),
        "weeks": intervals(made["weeks"].to_list(), [4, 16]),
    }
    return made, trees


def eleven() -> None:
    """Search a lattice of eleven quasi-identifiers, to the end and with budgets."""
    frame, trees = with_made_columns(adult())
    coded = Coded(frame, NINE)
    more = [read_quasi(frame[name], hierarchy=one) for name, one in trees.items()]
    coded.quasi_levels += [QuasiLevels.of(quasi) for quasi in more]
    for principle, limit in ((K5, "0.04"), (K5, "0"), ("entropy-l:l=3", "0.04")):
        ground = coded.ground([principle], limit, "ldl" if "entropy" in principle else "")
        begin = perf_counter()
        probe, exact = solve(ground, "loss")
        print(
            f"11 QIs, {ground.shape.nodes:,} nodes, {principle}, suppression {float(limit):.0%}: "
            f"{perf_counter() - begin:.1f} s to the end, {probe.checks:,} checked, "
            f"loss {exact.score:.5f}, proven: {exact.proven}",
            flush=True,
        )
        for budget in (
            SearchBudget(checks=20),
            SearchBudget(checks=100),
            SearchBudget(seconds=0.5),
        ):
            begin = perf_counter()
            probe, found = solve(ground, "loss", budget)
            print(
                f"  {budget}: {perf_counter() - begin:.2f} s, {probe.checks:,} checked, "
                f"loss {found.score:.5f}, no node below {found.bound:.5f}, proven: {found.proven}"
            )


def huge() -> None:
    """Search a lattice too large to be listed, within a budget; and with little memory."""
    frame, trees = with_made_columns(adult())
    coded = Coded(frame, NINE)
    rng = np.random.default_rng(7)
    for number in range(4):  # four more: as hours, but drawn anew
        trees[f"hours{number}"] = trees["hours"]
        frame = frame.with_columns(
            pl.Series(f"hours{number}", rng.permutation(frame["hours"].to_numpy()))
        )
    coded.quasi_levels += [
        QuasiLevels.of(read_quasi(frame[name], hierarchy=one)) for name, one in trees.items()
    ]
    ground = coded.ground([K5], "0.04", "")
    for seconds in (2.0, 10.0):
        begin = perf_counter()
        probe, found = solve(ground, "loss", SearchBudget(seconds=seconds))
        print(
            f"15 QIs, {ground.shape.nodes:,} nodes, {K5}, suppression 4%, {seconds:g} s allowed: "
            f"{perf_counter() - begin:.1f} s, {probe.checks:,} checked, loss {found.score:.4f}, "
            f"no node below {found.bound:.4f}",
            flush=True,
        )
    print(f"peak memory of the process: {status('VmHWM') / 1e6:,.0f} MB")


POLICY = """version = 1
[roles]
quasi = {quasi}
sensitive = ["occupation"]
[[principle]]
name = "k-anonymity"
k = 5
[transform]
algorithm = "lattice"
suppression_limit = 0.04
[hierarchies]
{trees}
"""


def command() -> None:
    """Time the whole command, from CSV to verified CSV."""
    source = stored("adult_arx")
    with TemporaryDirectory() as folder:
        policy = Path(folder, "policy.toml")
        trees = [f'{name} = "{source / f"arx_adult_hierarchy_{name}.csv"}"' for name in EIGHT]
        policy.write_text(POLICY.format(quasi=json.dumps(EIGHT), trees="\n".join(trees)))
        script = str(Path(sys.executable).with_name("wideberth"))
        arguments = [script, "anonymize", str(source / "arx_adult.csv"), "-p", str(policy)]
        arguments += ["-o", str(Path(folder, "release.csv")), "--force"]
        efforts, walls = [], []
        for run in range(6):
            begin = perf_counter()
            process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
            _, code, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(code)
            if process.returncode:
                raise SystemExit("wideberth anonymize failed")
            if run:
                walls.append(perf_counter() - begin)
                efforts.append(usage.ru_utime + usage.ru_stime)
    print(f"arx_adult.csv to verified CSV: {median(walls):.2f} s by the clock")
    line("the same, CPU seconds (ARX: 3.6 to 4.7)", median(efforts), 1.2)


def compiling() -> None:
    """Time the first search in a process, with and without compiled code from an earlier one."""
    cold, warm = [], []
    for _ in range(3):
        with TemporaryDirectory() as folder:
            for times in (cold, warm):
                answer = subprocess.check_output(
                    [sys.executable, "-m", "benchmarks.lattice", "--child"],
                    env={**os.environ, "NUMBA_CACHE_DIR": folder},
                )
                times.append(float(json.loads(answer)))
    line("first search in a process, all kernels of the lattice to compile, s", median(cold), 10)
    line("the same with compiled code from an earlier process, seconds", median(warm))


def first_call() -> float:
    """Search once, with a demand on sensitive values; return the seconds."""
    ground = Coded(adult(), EIGHT).ground([K5, "entropy-l:l=3"], "0.04", "occupation")
    begin = perf_counter()
    solve(ground, "loss")
    return perf_counter() - begin


def paper() -> None:
    """Count minimal tables, and those open to the homogeneity attack, as the paper does."""
    print("Machanavajjhala et al. 2006, Sec. 6: QIs age, gender, race, marital status, education.")
    print("Theirs: 45,222 rows of Adult (45 % more than here), their own hierarchies.")
    quasi = ["age", "sex", "race", "marital-status", "education"]
    coded = Coded(adult(), quasi)
    for sensitive, theirs in (("occupation", (12, 1)), ("salary-class", (9, 8))):
        ground = coded.ground(["k-anonymity:k=6"], "0", sensitive)
        nodes, checks = minimal_nodes(ground)
        open_ = [node for node in nodes if homogeneous(ground, node, coded.column(sensitive))]
        print(
            f"6-anonymous, sensitive {sensitive}: {len(nodes)} minimal tables, {len(open_)} of "
            f"them open to the homogeneity attack ({checks} of {ground.shape.nodes} nodes "
            f"checked); the paper: {theirs[0]} and {theirs[1]}"
        )
    for level in (5, 6):
        for principle in (f"entropy-l:l={level}", f"recursive-cl:c=3,l={level}"):
            ground = coded.ground([principle], "0", "occupation")
            nodes, checks = minimal_nodes(ground)
            column = coded.column("occupation")
            open_ = [node for node in nodes if homogeneous(ground, node, column)]
            print(
                f"{principle} on occupation: {len(nodes)} minimal tables, {len(open_)} open "
                f"({checks} checked)"
            )


def minimal_nodes(ground: LatticeProblem) -> tuple[list[tuple[int, ...]], int]:
    """Return all minimal nodes, and how many nodes were checked."""
    from wideberth.algorithms.lattice.generalize import node_checker_for
    from wideberth.algorithms.lattice.search import find_minimal_nodes

    probe = NodeChecks(node_checker_for(ground, None, SearchSettings()), SearchBudget())
    nodes, _ = find_minimal_nodes(ground, probe)
    return nodes, probe.checks


def homogeneous(ground: LatticeProblem, node: tuple[int, ...], column: Column) -> bool:
    """Tell whether some group of a node has one sensitive value only."""
    return bool((node_partition(ground, node).histograms(column).distinct == 1).any())


PARTS = {
    "speed": speed,
    "million": million,
    "eleven": eleven,
    "huge": huge,
    "command": command,
    "compile": compiling,
    "paper": paper,
}


if __name__ == "__main__":
    main()
