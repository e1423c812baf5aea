"""The experiment of Wang, Han, Wang and Wang 2013: (l,e)-diversity beside l-diversity, on Adult.

Run by ``python -m benchmarks.wang2013 -o docs/figures``. It prints Markdown tables, each with its
verdict on what Figures 2 to 7 of the paper claim, and draws these figures into wang2013.svg.
Education is sensitive, with the tree docs/trees/education.csv; age, workclass, marital status, sex
and race are published exactly. Both principles are met by the paper's greedy method (mbf) and by
the optimal one. Times are CPU times, the shortest of runs that take turns; diversities are means
over these runs, each with its own tie-breaks. The table is the adult.csv named by --data, or the
one in the folder named by WIDEBERTH_DATA (or shared/data beside the checkout); without it, a table
made up here stands in.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from math import fsum
from pathlib import Path
from statistics import geometric_mean, mean
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
import polars as pl

import wideberth as wb
from benchmarks.check import stored
from benchmarks.wang2013_picture import Point, draw
from wideberth.algorithms import Demand
from wideberth.algorithms.anatomy import Dealt, anatomize
from wideberth.encode import Column, encode
from wideberth.groups import Partition
from wideberth.hierarchy import parse_spec
from wideberth.metrics import anatomy as metrics
from wideberth.principles import parse
from wideberth.principles.dealing import deal

QUASI = ("age", "workclass", "marital_status", "sex", "race")
SENSITIVE = "education"
TREE = Path(__file__).resolve().parents[1] / "docs" / "trees" / "education.csv"
ROWS, LS = range(5_000, 30_001, 5_000), range(2, 7)
#: The setting that both series share.
N, L = 30_000, 4
SETTINGS = [*((n, L) for n in ROWS), *((N, ell) for ell in LS if ell != L)]
SEED = 2013
#: How many edges lie between the root of the tree and its leaves: no distance is larger.
HEIGHT = 3


class Way(NamedTuple):
    """A name, a principle but for l, and the method of anatomy to meet it."""

    name: str
    principle: str
    method: str


PLAIN, SEMANTIC, FAR = "frequency-l:l={l}", "l-e:l={l},e=1", "l-e:l={l},e=2"
WAYS = (
    Way("l-diversity, mbf", PLAIN, "mbf"),
    Way("(l,1)-diversity, mbf", SEMANTIC, "mbf"),
    Way("l-diversity, optimal", PLAIN, "optimal"),
    Way("(l,1)-diversity, optimal", SEMANTIC, "optimal"),
)
#: Which ways the paper compares, by method: l-diversity first.
PAIRS = {"mbf": WAYS[:2], "optimal": WAYS[2:]}
#: The head of the columns that `Loss.cells` fill.
LOSS = (
    "suppressed", "groups", "full, kept", "a row", "full, all", "a row",
    "true, kept", "a row", "true, all", "a row",
)  # fmt: skip


class Loss(NamedTuple):
    """What a release loses; formula 6 of the paper, read in four ways."""

    suppressed: int
    groups: int
    kept: int
    #: Sums over kept rows of the squared error: over all points, and at the true point alone.
    full: float
    true: float

    @property
    def readings(self) -> dict[str, float]:
        """The four sums: of kept rows, and with 1 for each suppressed row."""
        return {
            "full integral, kept rows": self.full,
            "full integral, suppressed rows count 1": self.full + self.suppressed,
            "true point, kept rows": self.true,
            "true point, suppressed rows count 1": self.true + self.suppressed,
        }

    @property
    def cells(self) -> list[str]:
        """The cells below `LOSS`; means are over kept rows, or over all."""
        rows = [self.kept, self.kept + self.suppressed] * 2
        sums = zip(self.readings.values(), rows, strict=True)
        told = [cell for total, n in sums for cell in (f"{total:,.0f}", f"{total / n:.3f}")]
        return [f"{self.suppressed:,}", f"{self.groups:,}", *told]


@dataclass
class Outcome:
    """What came of one way in one setting, over all runs."""

    loss: Loss | None = None
    diversity: list[float] = field(default_factory=list)
    #: Shares of groups with two values at most 1 apart, and of those all of one kind on level 1.
    alike: list[float] = field(default_factory=list)
    one_kind: list[float] = field(default_factory=list)
    grouping: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)


#: By n and l, and by way.
Outcomes = dict[tuple[int, int], dict[Way, Outcome]]


def main() -> None:
    """Run the experiment, print its tables, draw its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.wang2013")
    parser.add_argument("--data", type=Path, help="adult.csv, or the folder that it is in")
    parser.add_argument("-o", "--output", type=Path, help="the folder that wang2013.svg goes to")
    parser.add_argument(
        "--runs", type=int, default=15, help="runs of each, of the whole call a third"
    )
    asked = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    warnings.simplefilter("ignore", wb.PrivacyWarning)  # the seed is fixed, and nobody is at risk
    begin = perf_counter()
    name, table = adult(asked.data)
    top, count = table[SENSITIVE].value_counts(sort=True).row(0)
    print(
        f"\n{name}: {table.height:,} rows, of which n are drawn with seed {SEED}; "
        f"the largest share has {top}, {100 * count / table.height:.1f} %"
    )
    outcomes = measure(table, asked.runs)
    losses(outcomes)
    diversities(outcomes)
    times(outcomes)
    farther(table)
    orders(table)
    queries(table)
    if asked.output is not None:
        draw(points(outcomes), {"n": N, "l": L}, name, asked.output)
    print(f"\nload {os.getloadavg()[0]:.1f} after, {perf_counter() - begin:.0f} s")


def adult(given: Path | None) -> tuple[str, pl.DataFrame]:
    """Return a name, and the columns of Adult that the paper uses with rows in a random order."""
    path = stored("adult.csv") if given is None else given
    if path.is_dir():
        path = path / "adult.csv"
    if path.exists():
        name, table = "Adult", pl.read_csv(path, null_values="?").select(*QUASI, SENSITIVE)
    elif given is not None:
        sys.exit(f"there is no {path}")
    else:
        print("adult.csv is absent: a table made up with similar shares stands in for it")
        name, table = "stand-in for Adult", stand_in(32_561)
    return name, table[np.random.default_rng(SEED).permutation(table.height)]


def stand_in(rows: int) -> pl.DataFrame:
    """Make up a table with Adult's columns and, rounded, its shares of education."""
    shares = {
        "HS-grad": 32, "Some-college": 22, "Bachelors": 16, "Masters": 5, "Assoc-voc": 4,
        "11th": 4, "Assoc-acdm": 3, "10th": 3, "7th-8th": 2, "Prof-school": 2, "9th": 2,
        "12th": 1, "Doctorate": 1, "5th-6th": 1, "1st-4th": 1, "Preschool": 1,
    }  # fmt: skip
    rng = np.random.default_rng(SEED)
    weights = np.array(list(shares.values())) / sum(shares.values())
    columns = {
        "age": 17 + (73 * rng.random(rows) ** 1.7).astype(np.int64),
        "workclass": rng.choice(["Private", "Public", "Self-employed"], rows),
        "marital_status": rng.choice(["Never-married", "Married", "Divorced"], rows),
        "sex": rng.choice(["Female", "Male"], rows),
        "race": rng.choice(["A", "B", "C", "D", "E"], rows),
        SENSITIVE: rng.choice(list(shares), rows, p=weights),
    }
    return pl.DataFrame(columns)


def measure(table: pl.DataFrame, runs: int) -> Outcomes:
    """Make all groups, in turn so that a busy machine is busy for all of them."""
    outcomes = {setting: {way: Outcome() for way in WAYS} for setting in SETTINGS}
    turns = [(*setting, *one) for setting, here in outcomes.items() for one in here.items()]
    columns = {n: coded(table.head(n)) for n in ROWS}
    for run in range(runs + 1):
        for n, ell, way, outcome in turns:
            begin = process_time()
            demand, dealt = group(columns[n], way, ell, run)
            taken = process_time() - begin
            if run:  # the first run warms up
                outcome.grouping.append(taken)
                record(outcome, demand, dealt)
    for run in range((runs + 2) // 3 + 1):
        for n, ell, way, outcome in turns:
            begin = process_time()
            release(table.head(n), way, ell)
            if run:
                outcome.whole.append(process_time() - begin)
    return outcomes


def coded(table: pl.DataFrame) -> Column:
    """Return the codes of the sensitive values, and their tree."""
    return encode(table[SENSITIVE]).with_tree(parse_spec(str(TREE), [], Path()))


def group(column: Column, way: Way, ell: int, seed: int) -> tuple[Demand, Dealt]:
    """Go from codes to labels; the buckets are made here as well."""
    principle = parse(way.principle.format(l=ell))
    demand = Demand(principle, principle.bind(column.domain), column)
    rng = np.random.default_rng(seed)
    return demand, anatomize([demand], len(column.codes), rng=rng, method=way.method, limit=1.0)


def release(table: pl.DataFrame, way: Way, ell: int) -> wb.Anatomy:
    """Make and verify a release, from a table to two."""
    return wb.anonymize(
        table,
        quasi=list(QUASI),
        sensitive=SENSITIVE,
        principles=way.principle.format(l=ell),
        hierarchies={SENSITIVE: str(TREE)},
        algorithm="anatomy",
        method=way.method,
        suppression_limit=1.0,
        seed=SEED,
    )


def record(outcome: Outcome, demand: Demand, dealt: Dealt) -> None:
    """Measure groups, once they are found to be what was asked for."""
    column = demand.column
    groups = dealt.partition.histograms(Column(column.codes[dealt.rows], column.domain))
    if not demand.rule.satisfies(groups).all():
        sys.exit(f"{demand.principle} is violated: a defect")
    loss = Loss(
        suppressed=len(column.codes) - len(dealt.rows),
        groups=len(groups),
        kept=len(dealt.rows),
        full=fsum(metrics.reconstruction_error(groups)),  # the same in any order
        true=fsum(metrics.true_point_error(groups)),
    )
    if outcome.loss is not None and outcome.loss != loss:
        sys.exit("a loss depends on chance: not what the tables assume")
    outcome.loss = loss
    outcome.diversity.append(metrics.average_diversity(groups, column.domain))
    apart = parse("l-e:l=1,e=1").bind(column.domain)  # any two rows are more than 1 apart
    outcome.alike.append(1 - float(apart.satisfies(groups).mean()))
    largest = metrics.similarity_risk(groups, column.domain)[:, 0]  # of kinds, as a share
    outcome.one_kind.append(float((largest == 1).mean()))


def losses(outcomes: Outcomes) -> None:
    """Print the figures of Figures 2 and 3; ways with the same figures share a line."""
    print("\nFigures 2 and 3: information loss IL(T), its sum over rows and per row.\n")
    header("n", "l", "", *LOSS)
    for (n, ell), here in outcomes.items():
        alike: dict[Loss, list[str]] = {}
        for way, outcome in here.items():
            alike.setdefault(outcome.loss, []).append(way.name)
        for loss, names in alike.items():
            who = "all four" if len(names) == len(WAYS) else "; ".join(names)
            row(f"{n:,}", ell, who, *loss.cells)
    print()
    for name in outcomes[N, L][WAYS[0]].loss.readings:
        claim = f"(l,1) loses more: {name}"
        judge(claim, outcomes, lambda o, name=name: o.loss.readings[name], 1e-9)


def diversities(outcomes: Outcomes) -> None:
    """Print the figures of Figures 4 and 5, and what they do not show."""
    print(
        "\nFigures 4 and 5: average diversity DOT, and the most that groups of l rows can have.\n"
    )
    header("n", "l", *heads(), "most")
    for (n, ell), here in outcomes.items():
        found = [f"{mean(o.diversity):.4f}" for o in here.values()]
        row(f"{n:,}", ell, *found, f"{most(ell):g}")
    print()
    judge("(l,1) is more diverse", outcomes, lambda o: mean(o.diversity), 1e-4)
    print(
        "\nGroups with two values at most 1 apart, and groups that are all of one kind on level 1"
    )
    print("of the tree (school, secondary, college, university), in percent.\n")
    header("n", "l", *heads("similar: "), *heads("one kind: "))
    for (n, ell), here in outcomes.items():
        similar = [percent(mean(o.alike)) for o in here.values()]
        row(f"{n:,}", ell, *similar, *(percent(mean(o.one_kind)) for o in here.values()))


def most(ell: int) -> float:
    """Return the diversity of l rows that are all as far apart as the tree is high."""
    return HEIGHT * (ell - 1) / 2


def times(outcomes: Outcomes) -> None:
    """Print the figures of Figures 6 and 7."""
    print("\nFigures 6 and 7: CPU milliseconds to make groups, from codes to labels, and of the")
    print("whole call, from a table to two verified ones.\n")
    header("n", "l", *heads("groups: "), *heads("call: "))
    for (n, ell), here in outcomes.items():
        grouping = [f"{1000 * min(o.grouping):.1f}" for o in here.values()]
        row(f"{n:,}", ell, *grouping, *(f"{1000 * min(o.whole):.0f}" for o in here.values()))
    print()
    judge("(l,1) is slower: groups", outcomes, lambda o: min(o.grouping), 0.05)
    judge("(l,1) is slower: the whole call", outcomes, lambda o: min(o.whole), 0.05)


def judge(claim: str, outcomes: Outcomes, of: Callable[[Outcome], float], least: float) -> None:
    """Print in how many settings (l,1)-diversity has more than l-diversity, by a least share."""
    verdicts: dict[str, list[str]] = {}
    for method, (plain, semantic) in PAIRS.items():
        ratios = [of(here[semantic]) / of(here[plain]) for here in outcomes.values()]
        more, less = sum(r > 1 + least for r in ratios), sum(r < 1 - least for r in ratios)
        same = len(ratios) - more - less
        word = "confirmed" if more == len(ratios) else "contradicted" if not more else "unclear"
        verdict = (
            f"{word} (more in {more} settings, the same in {same}, less in {less}; "
            f"mean ratio {geometric_mean(ratios):.3f})"
        )
        verdicts.setdefault(verdict, []).append(method)
    for verdict, methods in verdicts.items():
        print(f"- {claim}; {' and '.join(methods)}: {verdict}")


def farther(table: pl.DataFrame) -> None:
    """Print losses with e = 2, where the tree makes a difference to what is suppressed."""
    print(f"\nThe same at n = {N:,} with e = 2: only four buckets.\n")
    header("l", "", *LOSS, "DOT")
    column = coded(table.head(N))
    for ell in (2, 3, 4):
        for name, principle in (("l-diversity", PLAIN), ("(l,2)-diversity", FAR)):
            outcome = Outcome()
            for method in PAIRS:
                record(outcome, *group(column, Way(name, principle, method), ell, SEED))
            row(ell, name, *outcome.loss.cells, f"{outcome.diversity[-1]:.3f}")
    print("\nSuppressed rows, groups and losses are those of both methods, DOT that of optimal.")


def orders(table: pl.DataFrame, draws: int = 30) -> None:
    """Print how much of DOT is owed to the order in which plain l-diversity deals values."""
    print(
        f"\nDOT of l-diversity, optimal, at n = {N:,}: values dealt in alphabetical order, and in"
    )
    print(f"{draws} random ones.\n")
    header("l", "alphabetical", "random: mean", "least", "most")
    column = coded(table.head(N))
    names = np.arange(column.domain.size)
    for ell in LS:
        rows = group(column, WAYS[2], ell, SEED)[1].rows
        kept = Column(column.codes[rows], column.domain)
        found = []
        for seed in range(draws + 1):
            rng = np.random.default_rng(seed)
            place = rng.permutation(names) if seed else names
            labels = deal(place[kept.codes], len(rows) // ell, rng).astype(np.int32)
            groups = Partition(labels, int(labels.max()) + 1).histograms(kept)
            found.append(metrics.average_diversity(groups, column.domain))
        first, *others = found
        row(ell, *(f"{x:.4f}" for x in (first, mean(others), min(others), max(others))))


def queries(table: pl.DataFrame) -> None:
    """Print how well releases answer count queries."""
    print(
        f"\nCount queries at n = {N:,}: 1,000 of three attributes that cover 10 %; their relative"
    )
    print("error in percent. Rows of the original that are suppressed count as missed.\n")
    header("l", "", "suppressed", "groups", "mean", "median", "95 % are below")
    original = table.head(N)
    for ell, way in product((L - 1, L), WAYS):
        made = release(original, way, ell)
        both = {"quasi_table": made.table, "sensitive_table": made.sensitive}
        error = wb.query_error(original, list(QUASI), SENSITIVE, **both)
        counts = (made.manifest["suppressed"]["rows"], made.manifest["groups"])
        errors = (error.mean, error.median, error.quantiles[0.95])
        row(ell, way.name, *(f"{c:,}" for c in counts), *(f"{100 * e:.1f}" for e in errors))


def heads(prefix: str = "") -> list[str]:
    """Name a column for each way."""
    return [prefix + way.name.replace("-diversity", "") for way in WAYS]


def header(*names: str) -> None:
    """Begin a table; numbers stand on the right, and words below no name."""
    row(*names)
    print("|" + "|".join("---:" if name else "---" for name in names) + "|")


def row(*cells: object) -> None:
    """Print a line of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def percent(share: float) -> str:
    """Return a share in percent with two digits, "< 0.01" if they would be 0, "0" if it is none."""
    return "0" if not share else "< 0.01" if share < 0.0001 else f"{100 * share:.2f}"


def points(outcomes: Outcomes) -> list[Point]:
    """Return what is drawn: losses in thousands, DOT in percent of the most, milliseconds."""
    return [
        {
            "n": n,
            "l": ell,
            "way": way.name,
            **{name: total / 1000 for name, total in outcome.loss.readings.items()},
            "diversity": 100 * mean(outcome.diversity) / most(ell),
            "time": 1000 * min(outcome.grouping),
        }
        for (n, ell), here in outcomes.items()
        for way, outcome in here.items()
    ]


if __name__ == "__main__":
    main()
