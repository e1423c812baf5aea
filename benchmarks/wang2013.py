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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import fsum
from pathlib import Path
from statistics import geometric_mean, mean
from time import perf_counter, process_time
from typing import Any

import numpy as np
import polars as pl

import wideberth as wb
from benchmarks.check import stored
from wideberth import tables
from wideberth.algorithms import Demand
from wideberth.algorithms.anatomy import Dealt, anatomize
from wideberth.encode import Column, encode
from wideberth.groups import Partition
from wideberth.hierarchy import parse_spec
from wideberth.metrics.anatomy import (
    average_diversity,
    reconstruction_error,
    similarity_risk,
    true_point_error,
)
from wideberth.principles import Rule, parse
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


@dataclass(frozen=True)
class Way:
    """A principle and a method to meet it, and how its lines look.

    Parameters
    ----------
    name, principle, method : str
        The name in tables; the principle but for l; the method of anatomy.
    look : tuple
        Colour, dashes, shape and size of a line in the picture.
    """

    name: str
    principle: str
    method: str
    look: tuple[str, tuple[int, ...], str, int]

    @property
    def short(self) -> str:
        """The name at the head of a column."""
        return self.name.replace("-diversity", "")

    def asked(self, ell: int) -> str:
        """Return the principle as on the command line."""
        return self.principle.format(l=ell)


# Colours of Okabe and Ito. Lines that coincide are told apart by marks inside each other.
PLAIN, SEMANTIC, FAR = "frequency-l:l={l}", "l-e:l={l},e=1", "l-e:l={l},e=2"
WAYS = (
    Way("l-diversity, mbf", PLAIN, "mbf", ("#0072B2", (1, 0), "circle", 190)),
    Way("(l,1)-diversity, mbf", SEMANTIC, "mbf", ("#D55E00", (7, 3), "square", 90)),
    Way("l-diversity, optimal", PLAIN, "optimal", ("#56B4E9", (2, 2), "triangle-up", 50)),
    Way("(l,1)-diversity, optimal", SEMANTIC, "optimal", ("#000000", (7, 3, 2, 3), "cross", 36)),
)
#: Which ways the paper compares, by method: l-diversity first.
PAIRS = {"mbf": (WAYS[0], WAYS[1]), "optimal": (WAYS[2], WAYS[3])}


@dataclass(frozen=True)
class Loss:
    """What a release loses; formula 6 of the paper, read in four ways.

    Parameters
    ----------
    suppressed, groups : int
        Rows left out, and groups of the others.
    kept : int
        Rows in groups.
    full, true : float
        The sum over kept rows of the squared error: over all points, and at the true point alone.
    """

    suppressed: int
    groups: int
    kept: int
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


Outcomes = dict[tuple[int, int, Way], Outcome]


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
    print(
        f"\n{name}: {table.height:,} rows, of which n are drawn with seed {SEED}; "
        f"the largest share has {shares(table)}"
    )
    outcomes = measure(table, asked.runs)
    losses(outcomes)
    diversities(outcomes)
    times(outcomes)
    farther(table)
    orders(table)
    queries(table)
    if asked.output is not None:
        draw(outcomes, name, asked.output)
    print(f"\nload {os.getloadavg()[0]:.1f} after, {perf_counter() - begin:.0f} s")


# ---- tables


def adult(given: Path | None) -> tuple[str, pl.DataFrame]:
    """Return the columns of Adult that the paper uses, in an order of their own, and a name."""
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
    """Make up a table with Adult's columns; its shares of education are rounded, its rest is not.

    >>> stand_in(10).columns == [*QUASI, SENSITIVE]
    True
    """
    percent = {
        "HS-grad": 32, "Some-college": 22, "Bachelors": 16, "Masters": 5, "Assoc-voc": 4,
        "11th": 4, "Assoc-acdm": 3, "10th": 3, "7th-8th": 2, "Prof-school": 2, "9th": 2,
        "12th": 1, "Doctorate": 1, "5th-6th": 1, "1st-4th": 1, "Preschool": 1,
    }  # fmt: skip
    rng = np.random.default_rng(SEED)
    weights = np.array(list(percent.values())) / sum(percent.values())
    return pl.DataFrame(
        {
            "age": 17 + (73 * rng.random(rows) ** 1.7).astype(np.int64),
            "workclass": rng.choice(["Private", "Public", "Self-employed"], rows),
            "marital_status": rng.choice(["Never-married", "Married", "Divorced"], rows),
            "sex": rng.choice(["Female", "Male"], rows),
            "race": rng.choice(["A", "B", "C", "D", "E"], rows),
            SENSITIVE: rng.choice(list(percent), rows, p=weights),
        }
    )


def shares(table: pl.DataFrame) -> str:
    """Name the most frequent value and its share: above 1/l, rows must be suppressed."""
    top = table[SENSITIVE].value_counts(sort=True).row(0)
    return f"{top[0]}, {100 * top[1] / table.height:.1f} %"


# ---- the experiment


def measure(table: pl.DataFrame, runs: int) -> Outcomes:
    """Make all groups, in turn so that a busy machine is busy for all of them."""
    outcomes = {(n, ell, way): Outcome() for n, ell in SETTINGS for way in WAYS}
    columns = {n: coded(table.head(n)) for n in ROWS}
    for run in range(runs + 1):
        for (n, ell, way), outcome in outcomes.items():
            begin = process_time()
            demand, dealt = group(columns[n], way, ell, run)
            taken = process_time() - begin
            if run:  # the first run warms up
                outcome.grouping.append(taken)
                record(outcome, demand, dealt)
    for run in range((runs + 2) // 3 + 1):
        for (n, ell, way), outcome in outcomes.items():
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
    principle = parse(way.asked(ell))
    demand = Demand(principle, principle.bind(column.domain), column)
    rows = len(column.codes)
    rng = np.random.default_rng(seed)
    return demand, anatomize([demand], rows, rng=rng, method=way.method, limit=1.0)


def release(table: pl.DataFrame, way: Way, ell: int) -> wb.Anatomy:
    """Make and verify a release, from a table to two."""
    return wb.anonymize(
        table,
        quasi=list(QUASI),
        sensitive=SENSITIVE,
        principles=way.asked(ell),
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
        full=fsum(reconstruction_error(groups)),  # the same in any order
        true=fsum(true_point_error(groups)),
    )
    if outcome.loss is not None and outcome.loss != loss:
        sys.exit("a loss depends on chance: not what the tables assume")
    outcome.loss = loss
    outcome.diversity.append(average_diversity(groups, column.domain))
    outcome.alike.append(1 - float(apart(column).satisfies(groups).mean()))
    outcome.one_kind.append(float((similarity_risk(groups, column.domain)[:, 0] == 1).mean()))


def apart(column: Column) -> Rule:
    """Return the rule that any two rows of a group are more than 1 apart."""
    return parse("l-e:l=1,e=1").bind(column.domain)


# ---- what it says


def losses(outcomes: Outcomes) -> None:
    """Print the figures of Figures 2 and 3; ways with the same figures share a line."""
    print("\nFigures 2 and 3: information loss IL(T), its sum over rows and per row.\n")
    header("n", "l", "", "suppressed", "groups", *loss_columns(), words=("",))
    for n, ell in SETTINGS:
        alike: dict[Loss, list[str]] = {}
        for way in WAYS:
            alike.setdefault(outcomes[n, ell, way].loss, []).append(way.name)
        for loss, names in alike.items():
            who = "all four" if len(names) == len(WAYS) else "; ".join(names)
            row(f"{n:,}", ell, who, f"{loss.suppressed:,}", f"{loss.groups:,}", *loss_cells(loss))
    print()
    claims = Claims()
    for reading in outcomes[N, L, WAYS[0]].loss.readings:
        for method, pair in PAIRS.items():
            found = [
                [outcomes[n, ell, w].loss.readings[reading] for w in pair] for n, ell in SETTINGS
            ]
            claims.judge(f"(l,1) loses more: {reading}", method, found, 1e-9)
    claims.tell()


def loss_columns() -> list[str]:
    """Name the columns of `loss_cells`."""
    return [
        "full, kept",
        "a row",
        "full, all",
        "a row",
        "true, kept",
        "a row",
        "true, all",
        "a row",
    ]


def loss_cells(loss: Loss) -> list[str]:
    """Return the four sums, each with its mean: over kept rows, or over all."""
    cells = []
    for many, total in zip(
        [loss.kept, loss.kept + loss.suppressed] * 2, loss.readings.values(), strict=True
    ):
        cells += [f"{total:,.0f}", f"{total / many:.3f}"]
    return cells


def diversities(outcomes: Outcomes) -> None:
    """Print the figures of Figures 4 and 5, and what they do not show."""
    print(
        "\nFigures 4 and 5: average diversity DOT, and the most that groups of l rows can have.\n"
    )
    header("n", "l", *(way.short for way in WAYS), "most")
    for n, ell in SETTINGS:
        found = [f"{mean(outcomes[n, ell, way].diversity):.4f}" for way in WAYS]
        row(f"{n:,}", ell, *found, f"{most(ell):g}")
    print()
    claims = Claims()
    for method, pair in PAIRS.items():
        found = [[mean(outcomes[n, ell, w].diversity) for w in pair] for n, ell in SETTINGS]
        claims.judge("(l,1) is more diverse", method, found, 1e-4)
    claims.tell()
    print(
        "\nGroups with two values at most 1 apart, and groups that are all of one kind on level 1"
    )
    print("of the tree (school, secondary, college, university), in percent.\n")
    header(
        "n", "l", *(f"similar: {way.short}" for way in WAYS),
        *(f"one kind: {way.short}" for way in WAYS),
    )  # fmt: skip
    for n, ell in SETTINGS:
        here = [outcomes[n, ell, way] for way in WAYS]
        cells = [mean(o.alike) for o in here] + [mean(o.one_kind) for o in here]
        row(f"{n:,}", ell, *map(percent, cells))


def most(ell: int) -> float:
    """Return the diversity of l rows that are all as far apart as the tree is high."""
    return HEIGHT * (ell - 1) / 2


def times(outcomes: Outcomes) -> None:
    """Print the figures of Figures 6 and 7."""
    print("\nFigures 6 and 7: CPU milliseconds to make groups, from codes to labels, and of the")
    print("whole call, from a table to two verified ones.\n")
    header(
        "n", "l", *(f"groups: {way.short}" for way in WAYS), *(f"call: {way.short}" for way in WAYS)
    )
    for n, ell in SETTINGS:
        here = [outcomes[n, ell, way] for way in WAYS]
        row(
            f"{n:,}",
            ell,
            *(f"{1000 * min(o.grouping):.1f}" for o in here),
            *(f"{1000 * min(o.whole):.0f}" for o in here),
        )
    print()
    kinds: dict[str, Callable[[Outcome], float]] = {
        "groups": lambda o: min(o.grouping),
        "the whole call": lambda o: min(o.whole),
    }
    claims = Claims()
    for kind, taken in kinds.items():
        for method, pair in PAIRS.items():
            found = [[taken(outcomes[n, ell, w]) for w in pair] for n, ell in SETTINGS]
            claims.judge(f"(l,1) is slower: {kind}", method, found, 0.05)
    claims.tell()


@dataclass
class Claims:
    """What the paper says, and what was found, by method."""

    found: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def judge(
        self, claim: str, method: str, found: Iterable[Sequence[float]], least: float
    ) -> None:
        """Note in how many settings the second number is larger than the first by a least share."""
        ratios = [second / first for first, second in found]
        more, less = (sum(r > 1 + least for r in ratios), sum(r < 1 - least for r in ratios))
        same = len(ratios) - more - less
        word = "confirmed" if more == len(ratios) else "contradicted" if not more else "unclear"
        verdict = (
            f"{word} (more in {more} settings, the same in {same}, less in {less}; "
            f"mean ratio {geometric_mean(ratios):.3f})"
        )
        self.found.setdefault((claim, verdict), []).append(method)

    def tell(self) -> None:
        """Print a line for each verdict."""
        for (claim, verdict), methods in self.found.items():
            print(f"- {claim}; {' and '.join(methods)}: {verdict}")


def farther(table: pl.DataFrame) -> None:
    """Print losses with e = 2, where the tree makes a difference to what is suppressed."""
    print(f"\nThe same at n = {N:,} with e = 2: only four buckets.\n")
    header("l", "", "suppressed", "groups", *loss_columns(), "DOT", words=("",))
    column = coded(table.head(N))
    for ell in (2, 3, 4):
        for name, principle in (("l-diversity", PLAIN), ("(l,2)-diversity", FAR)):
            outcome = Outcome()
            for method in ("mbf", "optimal"):
                outcome.diversity.clear()
                way = Way(name, principle, method, WAYS[0].look)
                record(outcome, *group(column, way, ell, SEED))
            loss = outcome.loss
            numbers = f"{loss.suppressed:,}", f"{loss.groups:,}"
            row(ell, name, *numbers, *loss_cells(loss), f"{outcome.diversity[0]:.3f}")
    print("\nSuppressed rows, groups and losses are those of both methods, DOT that of optimal.")


def orders(table: pl.DataFrame, draws: int = 30) -> None:
    """Print how much of DOT is owed to the order in which plain l-diversity deals values."""
    print(
        f"\nDOT of l-diversity, optimal, at n = {N:,}: values dealt in alphabetical order, and in"
    )
    print(f"{draws} random ones.\n")
    header("l", "alphabetical", "random: mean", "least", "most")
    column = coded(table.head(N))
    for ell in LS:
        rows = group(column, WAYS[2], ell, SEED)[1].rows
        kept = Column(column.codes[rows], column.domain)
        found = []
        for seed in range(draws + 1):
            rng = np.random.default_rng(seed)
            names = np.arange(column.domain.size)
            place = rng.permutation(names) if seed else names
            labels = deal(place[kept.codes], len(rows) // ell, rng).astype(np.int32)
            groups = Partition(labels, int(labels.max()) + 1).histograms(kept)
            found.append(average_diversity(groups, column.domain))
        first, *others = found
        row(ell, *(f"{x:.4f}" for x in (first, mean(others), min(others), max(others))))


def queries(table: pl.DataFrame) -> None:
    """Print how well releases answer count queries."""
    print(
        f"\nCount queries at n = {N:,}: 1,000 of three attributes that cover 10 %; their relative"
    )
    print("error in percent. Rows of the original that are suppressed count as missed.\n")
    header("l", "", "suppressed", "groups", "mean", "median", "95 % are below", words=("",))
    original = table.head(N)
    for ell, way in product((L - 1, L), WAYS):
        made = release(original, way, ell)
        error = wb.query_error(
            original,
            list(QUASI),
            SENSITIVE,
            quasi_table=made.table,
            sensitive_table=made.sensitive,
        )
        told = made.manifest
        row(
            ell,
            way.name,
            f"{told['suppressed']['rows']:,}",
            f"{told['groups']:,}",
            *(f"{100 * e:.1f}" for e in (error.mean, error.median, error.quantiles[0.95])),
        )


def header(*names: str, words: Sequence[str] = ()) -> None:
    """Begin a table; numbers stand on the right."""
    row(*names)
    print("|" + "|".join("---" if name in words else "---:" for name in names) + "|")


def row(*cells: object) -> None:
    """Print a line of a table."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def percent(share: float) -> str:
    """Return a share in percent; 0 means none at all.

    >>> percent(0), percent(0.0004), percent(0.00001)
    ('0', '0.04', '< 0.01')
    """
    if 0 < share < 0.0001:
        return "< 0.01"
    return f"{100 * share:.2f}" if share else "0"


# ---- the picture


def draw(outcomes: Outcomes, name: str, folder: Path) -> None:
    """Draw Figures 2 to 7 in the paper's order: one row a measure, over n and over l."""
    import vl_convert

    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "wang2013.svg"
    text = vl_convert.vegalite_to_svg(picture(outcomes, name))
    tables.write_text(text, target, force=True)
    print(f"\nwrote {target.name}")


def picture(outcomes: Outcomes, name: str) -> dict[str, Any]:
    """Return the six figures as a Vega-Lite specification."""
    over_n, over_l = [(n, L) for n in ROWS], [(N, ell) for ell in LS]
    scenes = [
        ("information loss IL(T), thousands", loss_lines, [0, 30]),
        ("DOT, % of the most possible", diversity_lines, [89, 101]),
        ("time to make groups, CPU ms", time_lines, [0, longest(outcomes)]),
    ]
    panels = []
    for place, (title, lines, extent) in enumerate(scenes):
        for along, (settings, where) in enumerate(
            [(over_n, f"over n, l = {L}"), (over_l, f"over l, n = {N:,}")]
        ):
            x = axis_x(along, settings)
            caption = f"Figure {2 + 2 * place + along}: {title.split(',')[0]} {where}"
            panels.append(panel(caption, title, x, lines(outcomes, settings, along), extent))
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": "white",
        "padding": 14,
        "title": {
            "text": f"{name}: l-diversity and (l,1)-diversity of education by anatomy",
            "subtitle": "The experiment of Wang et al. 2013. Where marks lie inside each other, "
            "the figures are equal.",
            "anchor": "start",
            "fontSize": 16,
            "subtitleFontSize": 12,
            "subtitleColor": "#444444",
            "subtitlePadding": 6,
            "offset": 12,
        },
        "concat": panels,
        "columns": 2,
        "spacing": {"row": 26, "column": 34},
        "config": {
            "font": "Liberation Sans, Arial, Helvetica, sans-serif",
            "view": {"stroke": "#C8C8C8"},
            "axis": {
                "labelFontSize": 12,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "gridColor": "#EEEEEE",
            },
            "title": {
                "fontSize": 13,
                "anchor": "start",
                "fontWeight": "bold",
                "offset": 8,
                "frame": "group",
            },
            "aria": False,
        },
    }


def axis_x(along: int, settings: Sequence[tuple[int, int]]) -> dict[str, Any]:
    """Return the axis of n, in thousands, or of l."""
    values = [n / 1000 for n, _ in settings] if not along else [ell for _, ell in settings]
    margin = 1.5 if not along else 0.25
    return {
        "field": "x",
        "type": "quantitative",
        "title": "l" if along else "rows n, thousands",
        "scale": {"domain": [values[0] - margin, values[-1] + margin], "nice": False},
        "axis": {"values": values, "format": "d", "grid": False},
    }


Line = list[dict[str, Any]]


def points(
    outcomes: Outcomes,
    settings: Sequence[tuple[int, int]],
    along: int,
    height: Callable[[Outcome, int], float],
) -> Line:
    """Return a point for each setting and way."""
    return [
        {
            "x": ell if along else n / 1000,
            "y": height(outcomes[n, ell, way], ell),
            "way": way.name,
        }
        for n, ell in settings
        for way in WAYS
    ]


def loss_lines(
    outcomes: Outcomes, settings: Sequence[tuple[int, int]], along: int
) -> dict[str, Line]:
    """Return the sum over kept rows as the paper has it, and two other readings of it."""

    def reading(name: str) -> Line:
        return points(outcomes, settings, along, lambda o, _: o.loss.readings[name] / 1000)

    return {
        "": reading("full integral, kept rows"),
        "with 1 for each suppressed row": reading("full integral, suppressed rows count 1"),
        "true point only": reading("true point, kept rows"),
    }


def diversity_lines(
    outcomes: Outcomes, settings: Sequence[tuple[int, int]], along: int
) -> dict[str, Line]:
    """Return DOT as a share of what it would be if all rows of a group were farthest apart."""
    return {
        "": points(outcomes, settings, along, lambda o, ell: 100 * mean(o.diversity) / most(ell))
    }


def time_lines(
    outcomes: Outcomes, settings: Sequence[tuple[int, int]], along: int
) -> dict[str, Line]:
    """Return the shortest time to make groups."""
    return {"": points(outcomes, settings, along, lambda o, _: 1000 * min(o.grouping))}


def longest(outcomes: Outcomes) -> float:
    """Return the end of an axis that has room for all times, in milliseconds."""
    return 5 * (1 + max(1000 * min(o.grouping) for o in outcomes.values()) // 5)


def panel(
    caption: str,
    title: str,
    x: dict[str, Any],
    lines: dict[str, Line],
    extent: list[float],
) -> dict[str, Any]:
    """Draw one figure; lines with a label of their own are grey."""
    y = {
        "field": "y",
        "type": "quantitative",
        "title": title,
        "scale": {"domain": extent, "zero": False, "nice": False},
        "axis": {"tickCount": 6},
    }
    place = {"x": x, "y": y}
    layers: list[dict[str, Any]] = []
    for label, values in lines.items():
        if not label:
            continue
        layers.append(
            {
                "data": {"values": values},
                "mark": {"type": "line", "color": "#8C8C8C", "strokeWidth": 1.2},
                "encoding": {**place, "detail": {"field": "way"}},
            }
        )
        last = max(values, key=lambda point: point["x"])
        above = last["y"] > max(p["y"] for p in lines[""] if p["x"] == last["x"])
        layers.append(
            {
                "data": {"values": [last]},
                "mark": {
                    "type": "text", "align": "right", "dy": -12 if above else 38, "fontSize": 11,
                    "color": "#555555", "text": label,
                },
                "encoding": place,
            }
        )  # fmt: skip
    layers += [
        {
            "data": {"values": lines[""]},
            "mark": {"type": "line", "strokeWidth": 1.6},
            "encoding": {**place, "color": styled(0), "strokeDash": styled(1)},
        },
        {
            "data": {"values": lines[""]},
            "mark": {"type": "point", "filled": False, "strokeWidth": 1.6, "opacity": 1},
            "encoding": {
                **place,
                "color": styled(0),
                "shape": styled(2),
                "size": {**styled(3), "legend": None},
            },
        },
    ]
    return {"title": caption, "width": 380, "height": 210, "layer": layers}


def styled(part: int) -> dict[str, Any]:
    """Let one part of the look of a line depend on its way."""
    legend = {
        "title": None,
        "orient": "top",
        "direction": "horizontal",
        "columns": 4,
        "labelFontSize": 12,
        "labelLimit": 300,
        "symbolSize": 90,
        "symbolStrokeWidth": 1.6,
        "columnPadding": 22,
        "offset": 10,
    }
    return {
        "field": "way",
        "type": "nominal",
        "scale": {"domain": [w.name for w in WAYS], "range": [w.look[part] for w in WAYS]},
        "legend": legend,
    }


if __name__ == "__main__":
    main()
