"""What a release loses: each kind of cuts on the same tables, beside other tools and a bound.

Run by ``python -m benchmarks.quality``; parts may be named: ``python -m benchmarks.quality adult``.
Loss is NCP in percent: the mean over rows and quasi-identifiers of (max - min of the group) /
(max - min of the table), computed here from the labels alone. Every partition is checked by the
exact `check` first. Times are medians of runs that take turns. The tables are those in the folder
named by WIDEBERTH_DATA (or shared/data beside the checkout); without them, `datasets.sal` stands in
for the synthetic one, and the others are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter

import numba as nb
import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial import cKDTree

import wideberth as wb
from benchmarks.check import stored
from wideberth import datasets
from wideberth.algorithms.demand import Demand
from wideberth.algorithms.mondrian.split import SplitResult, split
from wideberth.core.codes import encode
from wideberth.hierarchy.quasi import read_quasi
from wideberth.principles import parse

CUTS = ("paper", "disjoint", "best", "quality")
ADULT = (
    "age", "workclass", "education_num", "marital_status", "occupation", "race", "sex",
    "native_country",
)  # fmt: skip
SAL = ("age", "birthplace", "occupation")
ATO = ("age_range", "Occ_code", "Region", "Gender", "Partner_status")
#: Rows whose smallest boxes are searched for, and how many steps a search may take.
SAMPLE, STEPS = 3_000, 20_000_000


@dataclass(frozen=True)
class Case:
    """One principle on one table.

    Parameters
    ----------
    table : str
        One of `TABLES`.
    principle : str
        As on the command line.
    quasi : sequence of str
        The quasi-identifiers.
    sensitive : str, optional
        What the principle guards.
    limits : mapping
        By kind of cuts, the largest loss that is good enough.
    reference : str
        What others lose.
    """

    table: str
    principle: str
    quasi: Sequence[str]
    sensitive: str | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    reference: str = ""


def _mondrian(loss: float, groups: int) -> str:
    return f"a pure-Python Mondrian (strict, median cuts): {loss} % in {groups:,} groups"


CASES = (
    Case("adult", "k-anonymity:k=5", ADULT, limits={"best": 2.99}),
    Case(
        "adult", "k-anonymity:k=10", ADULT, limits={"best": 5.17, "quality": 4.88},
        reference=_mondrian(11.24, 1795),
    ),
    Case("adult", "k-anonymity:k=50", ADULT, limits={"best": 12.2}),
    Case("sal", "k-anonymity:k=5", SAL, limits={"best": 0.94}),
    Case(
        "sal", "k-anonymity:k=10", SAL, limits={"best": 1.56, "quality": 1.53},
        reference=_mondrian(1.92, 36095),
    ),
    Case("sal", "k-anonymity:k=50", SAL, limits={"best": 3.39}),
    Case(
        "sal", "epsilon-m:epsilon=4500,m=5", SAL, "income", {"best": 1.88, "quality": 1.78},
    ),
    Case("sal", "epsilon-m:epsilon=2000,m=5", SAL, "income", {"best": 1.18, "quality": 1.14}),
    Case("sal", "epsilon-m:epsilon=10%,m=4", SAL, "income", {"best": 1.06}),
    Case("sal", "epsilon-m:epsilon=12.5%,m=5", SAL, "income", {"best": 1.58}),
    Case("ato", "epsilon-m:epsilon=10%,m=4", ATO, "Taxable_Income"),
    Case("adult", "entropy-l:l=3", [q for q in ADULT if q != "occupation"], "occupation"),
    # Nearly half of all people work 40 hours, and nine of ten have no capital gains: of Adult's
    # numbers only the age can be spread so that no 6 years hold more than a third of a group.
    Case("adult", "delta-l:delta=3,l=3", [q for q in ADULT if q != "age"], "age"),
    Case("ato", "entropy-l:l=3", [q for q in ATO if q != "Occ_code"], "Occ_code"),
    Case("ato", "delta-l:delta=5000,l=3", ATO, "Taxable_Income"),
)  # fmt: skip


def main() -> None:
    """Print a table for each case, then the distance to the bound."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument("parts", nargs="*", help="of adult, sal, ato and bound; by default all")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of quality one")
    asked = parser.parse_args()
    parts = asked.parts or [*TABLES, "bound"]
    if unknown := set(parts) - {*TABLES, "bound"}:
        parser.error(f"there is no part {', '.join(unknown)}")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    warm_up()
    tables = {name: TABLES[name]() for name in TABLES}
    for case in CASES:
        frame = tables[case.table]
        if case.table not in parts or frame is None:
            continue
        compare(case, frame, asked.runs)
    if "bound" in parts:
        for name, quasi in (("sal", SAL), ("adult", ADULT)):
            frame = tables[name]
            if frame is not None:
                bound(name, frame, quasi)
    print(f"load {os.getloadavg()[0]:.1f} after")


# ---- tables


def adult() -> pl.DataFrame | None:
    """Return the complete rows of Adult, categories coded by order of appearance."""
    path = stored("adult.csv")
    if not path.exists():
        print("adult.csv is absent: left out")
        return None
    frame = pl.read_csv(path, null_values="?").drop_nulls()
    return frame.with_columns(
        pl.Series(name, _appearance(frame[name]))
        for name in frame.columns
        if frame[name].dtype == pl.String
    )


def sal() -> pl.DataFrame:
    """Return 500,000 rows in the shape of SAL."""
    path = stored("sal_like_500k.parquet")
    if path.exists():
        return pl.read_parquet(path)
    print("sal_like_500k.parquet is absent: datasets.sal(500_000) instead, limits do not apply")
    return datasets.sal(500_000)


def ato() -> pl.DataFrame | None:
    """Return the tax sample's rows with positive income; ages by order, genders as numbers."""
    path = stored("ato_tax_2004_2008.parquet")
    if not path.exists():
        print("ato_tax_2004_2008.parquet is absent: left out")
        return None
    frame = pl.read_parquet(path).filter(pl.col("Taxable_Income") > 0)
    ages = frame["age_range"].unique().sort().to_list()
    ages.sort(key=lambda text: (not text.startswith("under"), text))
    return frame.with_columns(
        pl.col("age_range").replace_strict(ages, list(range(len(ages)))),
        pl.col("Gender").replace_strict(["Female", "Male"], [0, 1]),
    )


TABLES = {"adult": adult, "sal": sal, "ato": ato}


def _appearance(column: pl.Series) -> npt.NDArray[np.int32]:
    distinct = column.unique(maintain_order=True)
    places = dict(zip(distinct.to_list(), range(len(distinct)), strict=True))
    return np.array([places[value] for value in column.to_list()], np.int32)


# ---- losses


def compare(case: Case, frame: pl.DataFrame, runs: int) -> None:
    """Split a table with each kind of cuts, check what comes out, and print what it loses."""
    guarded = f" of {case.sensitive}" if case.sensitive else ""
    print(
        f"\n{case.table}, {frame.height:,} rows, {case.principle}{guarded}; {', '.join(case.quasi)}"
    )
    if case.reference:
        print(f"  {case.reference}")
    times: dict[str, list[float]] = {cuts: [] for cuts in CUTS}
    outcomes = {}
    for turn in range(runs):
        for cuts in CUTS:
            if turn and cuts == "quality":
                continue  # takes long, and is measured well by one run
            begin = perf_counter()
            outcomes[cuts] = run(case, frame, cuts)
            times[cuts].append(perf_counter() - begin)
    seconds = {cuts: median(taken) for cuts, taken in times.items()}
    print("  cuts       NCP %   groups  seconds  / disjoint")
    for cuts, outcome in outcomes.items():
        assure(case, frame, outcome)
        lost = 100 * ncp(frame, case.quasi, outcome.partition.labels)
        ratio = seconds[cuts] / seconds["disjoint"]
        limit = case.limits.get(cuts)
        wanted = ""
        if limit is not None:  # as precise as the limit is told
            digits = len(str(limit).partition(".")[2])
            wanted = f"  at most {limit:g}: {'ok' if round(lost, digits) <= limit else 'MISSED'}"
        print(
            f"  {cuts:9}{lost:7.3f}{outcome.partition.count:9,}{seconds[cuts]:9.2f}{ratio:9.2f}"
            f"{wanted}",
            flush=True,
        )


def run(case: Case, frame: pl.DataFrame, cuts: str) -> SplitResult:
    """Split a table, from its columns on."""
    quasis = [read_quasi(frame[name]) for name in case.quasi]
    principle = parse(case.principle)
    column = None if case.sensitive is None else encode(frame[case.sensitive])
    domain = quasis[0].domain if column is None else column.domain
    demand = Demand(principle, principle.bind(domain), column)
    return split(quasis, [demand], rng=np.random.default_rng(20080609), cuts=cuts)


def assure(case: Case, frame: pl.DataFrame, outcome: SplitResult) -> None:
    """Stop unless every group satisfies the principle."""
    labelled = frame.with_columns(pl.Series("group", outcome.partition.labels))
    result = wb.check(
        labelled,
        quasi=list(case.quasi),
        group="group",
        sensitive=case.sensitive,
        principles=case.principle,
        worst=0,
    )
    if not result.satisfied or result.groups != outcome.partition.count:
        sys.exit(f"{case.principle} is violated: a defect")


def ncp(frame: pl.DataFrame, quasi: Sequence[str], labels: npt.NDArray[np.int32]) -> float:
    """Return the mean of (max - min of the group) / (max - min of the table)."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    start = np.cumsum(sizes) - sizes
    losses = []
    for name in quasi:
        values = frame[name].to_numpy().astype(np.float64)
        sorted_values = values[order]
        ranges = np.maximum.reduceat(sorted_values, start) - np.minimum.reduceat(
            sorted_values, start
        )
        losses.append(ranges @ sizes / len(labels) / np.ptp(values))
    return float(np.mean(losses))


def warm_up() -> None:
    """Load the compiled code."""
    frame = datasets.sal(20_000)
    for case in (CASES[3], CASES[6]):
        for cuts in CUTS:
            run(case, frame, cuts)


# ---- a bound


def bound(name: str, frame: pl.DataFrame, quasi: Sequence[str], k: int = 10) -> None:
    """Compare what is lost at k = 10 with the least that any partition must lose.

    No row's group can be smaller than the smallest box that holds the row and k - 1 others. The
    mean of these boxes over all rows bounds the loss of every partition from below; it is estimated
    from a sample. A search that takes too long yields its own bound: how far away the k-th nearest
    row is.
    """
    points = frame.select(quasi).to_numpy().astype(np.float64)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    tree = cKDTree(points)
    rows = np.random.default_rng(3).choice(len(points), SAMPLE, replace=False)
    begin = perf_counter()
    found, given_up = np.empty(SAMPLE), 0
    for i, row in enumerate(rows):
        found[i], complete = smallest_box(points, tree, int(row), k)
        given_up += not complete
    found *= 100 / len(quasi)
    least, error = found.mean(), found.std(ddof=1) / SAMPLE**0.5
    print(
        f"\n{name}, k = {k}: no partition loses less than {least:.2f} % (± {error:.2f}, standard "
        f"error of {SAMPLE} rows sampled, {given_up} searches given up; "
        f"{perf_counter() - begin:.0f} s)"
    )
    case = Case(name, f"k-anonymity:k={k}", quasi)
    for cuts in CUTS:
        lost = 100 * ncp(frame, quasi, run(case, frame, cuts).partition.labels)
        print(f"  {cuts:9}{lost:7.3f} is {lost / least:.2f} times as much", flush=True)


def smallest_box(
    points: npt.NDArray[np.float64], tree: cKDTree, row: int, k: int
) -> tuple[float, bool]:
    """Return the least sum of widths of a box that holds a row and k - 1 others.

    Also tells whether the search came to its end. If not, the sum is a lower bound.
    """
    here = points[row]
    distances, nearest = tree.query(here, k=4 * k, p=1)
    some = points[nearest]
    low, high = here.copy(), here.copy()
    left = np.ones(len(some), bool)
    for _ in range(k):  # a box to begin with: take in whatever widens it least
        widths = (np.maximum(high, some) - np.minimum(low, some)).sum(axis=1)
        chosen = int(np.argmin(np.where(left, widths, np.inf)))
        left[chosen] = False
        low, high = np.minimum(low, some[chosen]), np.maximum(high, some[chosen])
    widest = float((high - low).sum()) + 1e-9
    # Whatever lies in a box no wider than that is no further away than that.
    offsets = points[tree.query_ball_point(here, widest, p=1)] - here
    spread = [len(np.unique(line)) for line in offsets.T]
    offsets = np.ascontiguousarray(offsets[:, np.argsort(spread, kind="stable")])
    state = np.array([widest, float(STEPS)])
    _search(offsets, 0, 0.0, k, state)
    if state[1] <= 0:
        return float(distances[k - 1]), False
    return max(float(state[0]) - (1e-9 if state[0] == widest else 0.0), 0.0), True


@nb.njit(nb.void(nb.float64[:, ::1], nb.int64, nb.float64, nb.int64, nb.float64[::1]), cache=False)
def _search(offsets, axis, used, k, state):
    """Try all intervals around 0 on one axis, and within each the boxes on the others.

    `state` holds the best sum so far and the steps left. A box holds no row further away than its
    widths sum up to, so what is left of the k nearest rows bounds what the other axes need.
    """
    n, d = offsets.shape
    state[1] -= n
    if state[1] <= 0:
        return
    line = np.sort(offsets[:, axis])
    if axis == d - 1:
        for i in range(n - k + 1):
            width = max(line[i + k - 1], 0.0) - min(line[i], 0.0)
            state[0] = min(state[0], used + width)
        return
    rest = np.zeros(n)
    for b in range(axis + 1, d):
        for i in range(n):
            rest[i] += abs(offsets[i, b])
    for i in range(n - 1, -1, -1):
        low = line[i]
        if low > 0 or (i + 1 < n and line[i + 1] == low):
            continue
        if used - low >= state[0]:
            break
        for j in range(n):
            high = line[j]
            if high < 0 or (j and line[j - 1] == high):
                continue
            now = used + high - low
            if now >= state[0]:
                break
            many = 0
            for q in range(n):
                x = offsets[q, axis]
                many += low <= x and x <= high and now + rest[q] < state[0]
            state[1] -= n
            if state[1] <= 0:
                return
            if many < k:
                continue
            inner = np.empty((many, d))
            far = np.empty(many)
            many = 0
            for q in range(n):
                x = offsets[q, axis]
                if low <= x and x <= high and now + rest[q] < state[0]:
                    far[many] = rest[q]
                    for b in range(d):
                        inner[many, b] = offsets[q, b]
                    many += 1
            if now + np.partition(far, k - 1)[k - 1] < state[0]:
                _search(inner, axis + 1, now, k, state)


if __name__ == "__main__":
    main()
