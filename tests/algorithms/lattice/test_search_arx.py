"""The lattice against ARX 3.9.2 on its own extract of Adult, and against itself without pruning.

Needs shared/data beside the checkout, or WIDEBERTH_DATA; skipped where there is none.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wideberth.algorithms.demand import Demand
from wideberth.algorithms.lattice.generalize import SearchSettings, generalize
from wideberth.algorithms.lattice.kernel_judge import CompiledNodeChecker
from wideberth.algorithms.lattice.levels import QuasiLevels
from wideberth.algorithms.lattice.measures import NODE_MEASURES
from wideberth.algorithms.lattice.problem import LatticeProblem
from wideberth.algorithms.lattice.rule_judge import node_partition
from wideberth.algorithms.lattice.search import NodeChecks, SearchBudget, find_minimal_nodes
from wideberth.core.codes import Column, Domain, encode
from wideberth.hierarchy import read_hierarchy
from wideberth.hierarchy.quasi import Quasi, read_quasi
from wideberth.principles import parse

DATA = Path(os.environ.get("WIDEBERTH_DATA", Path(__file__).parents[4] / "shared" / "data"))
ADULT = DATA / "adult_arx"
GOLDEN = DATA / "arx_adult_golden.csv"
pytestmark = pytest.mark.skipif(not ADULT.exists(), reason="the tables are not there")

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
LIMITS = ("0", "0.01", "0.04", "1")


@cache
def table() -> pl.DataFrame:
    return pl.read_csv(ADULT / "arx_adult.csv", separator=";", infer_schema=False)


@cache
def quasi(name: str) -> Quasi:
    tree = read_hierarchy(ADULT / f"arx_adult_hierarchy_{name}.csv")
    return read_quasi(table()[name], kind="text", hierarchy=tree)


@cache
def sensitive(name: str) -> Column:
    tree = read_hierarchy(ADULT / f"arx_adult_hierarchy_{name}.csv")
    return encode(table()[name]).with_tree(tree)


def ground(
    principles: Sequence[str],
    limit: str,
    names: Sequence[str] = EIGHT,
    on: str = "occupation",
) -> LatticeProblem:
    demands = []
    for principle in map(parse, principles):
        column = None if principle.needs == "size" else sensitive(on)
        rows = Domain(name="rows", histogram=np.array([table().height]))
        rule = principle.bind(rows if column is None else column.domain)
        demands.append(Demand(principle, rule, column))
    quasi_levels = [QuasiLevels.of(quasi(name)) for name in names]
    return LatticeProblem(quasi_levels, demands, int(Fraction(limit) * table().height))


def golden() -> list[dict[str, str]]:
    if not GOLDEN.exists():
        return []
    with GOLDEN.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


PATTERNS = {
    r"k(\d+)$": "k-anonymity:k={}",
    r"distinct-(\d+)": "distinct-l:l={}",
    r"entropy-(\d+)": "entropy-l:l={}",
    r"recursive\((\d+),(\d+)\)": "recursive-cl:c={},l={}",
    r"t-closeness\(([\d.]+) (\w+)\)": "t-closeness:t={},distance={}",
}


def asked(config: str) -> tuple[list[str], str]:
    """Read "k5 t-closeness(0.2 equal) s4%"."""
    config, _, share = config.rpartition(" s")
    principles = []
    for word in re.findall(r"[^\s(]+(?:\([^)]*\))?", config):
        (form, match) = next(
            (form, match)
            for pattern, form in PATTERNS.items()
            if (match := re.match(pattern, word))
        )
        principles.append(form.format(*match.groups()))
    return principles, str(Fraction(share.rstrip("%")) / (100 if share.endswith("%") else 1))


@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['config']} {row['metric']}")
def test_optima_are_those_of_arx(row: dict[str, str]) -> None:
    """Scores and suppressed rows agree to all digits that ARX prints; optimal nodes may tie."""
    principles, limit = asked(row["config"])
    made = generalize(ground(principles, limit), SearchSettings(measure=row["metric"]))
    (one,) = made.rounds
    digits = len(row["score"].partition(".")[2])
    assert round(one.found.score, digits) == float(row["score"])
    assert one.found.proven
    assert made.ground.shape.nodes == int(row["lattice"])
    if row["suppressed_rows"]:
        assert len(made.suppressed) == int(row["suppressed_rows"])


LISTS = {
    "sizes": ["k-anonymity:k=5"],
    "two": ["k-anonymity:k=10", "distinct-l:l=4"],
    "three": ["k-anonymity:k=3", "entropy-l:l=3", "recursive-cl:c=4,l=3"],
    "closeness": ["k-anonymity:k=5", "t-closeness:t=0.35,distance=equal"],
    "frequency": ["frequency-l:l=2.5"],
}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", LISTS)
def test_pruning_loses_nothing(name: str, limit: str) -> None:
    """All 360 nodes of five quasi-identifiers, checked one by one, against the pruned searches."""
    names = ["sex", "age", "education", "marital-status", "native-country"]
    task = ground(LISTS[name], limit, names)
    every = CompiledNodeChecker(task, None, 2**30)
    admissible = {
        node for node in product(*map(range, task.shape.dims)) if task.admits(every.check(node))
    }
    finer = {
        node: any(
            (*node[:i], node[i] - step, *node[i + 1 :]) in admissible
            for i in range(len(node))
            for step in range(1, node[i] + 1)
        )
        for node in admissible
    }
    probe = NodeChecks(CompiledNodeChecker(task, None, 2**30), SearchBudget())
    found, complete = find_minimal_nodes(task, probe)
    assert complete
    if task.monotone:
        assert set(found) == {node for node, above in finer.items() if not above}
    else:  # an admissible node may lie far below, with none between
        below = {
            node: any(other != node and all(map(int.__le__, other, node)) for other in admissible)
            for node in admissible
        }
        assert set(found) == {node for node, above in below.items() if not above}
    for measure in ("loss", "discernibility"):
        made = generalize(task, SearchSettings(measure=measure))
        (one,) = made.rounds
        scores = _scores(task, sorted(admissible), measure)
        assert one.found.score == pytest.approx(min(scores), rel=1e-12)
        assert one.found.proven
        assert one.checks < task.shape.nodes


def _scores(task: LatticeProblem, nodes: Sequence[tuple[int, ...]], measure: str) -> list[float]:
    """Measure nodes one by one, from the groups alone."""
    rows = table().height
    scores = []
    for node in nodes:
        partition = node_partition(task, node)
        sizes = partition.sizes().sizes
        fine = np.ones(len(sizes), dtype=bool)
        for demand in task.demands:
            column = demand.column
            groups = partition.sizes() if column is None else partition.histograms(column)
            fine &= demand.rule.satisfies(groups)
        kept = fine[partition.labels]
        if measure == "discernibility":
            scores.append(float(sizes[fine] @ sizes[fine] + (~kept).sum() * rows))
            continue
        total = 1.0
        for quasi_level, level_index in zip(task.quasi_levels, node, strict=True):
            extent = quasi_level.extents(level_index)[
                quasi_level.codes[level_index][quasi_level.quasi.codes]
            ]
            total *= 1 + np.where(kept, extent, 1.0).mean()
        scores.append(total ** (1 / len(node)) - 1)
    return scores


def test_the_papers_minimal_tables() -> None:
    """Machanavajjhala et al. 2006, Sec. 6.

    The paper counts 12 minimal 6-anonymous tables, one of them open to the homogeneity attack on
    occupation, and 9, of which 8 are open, for the salary class. Its table has 45,222 rows, ours
    30,162, and its hierarchies are not printed; why the number of 6-anonymous tables should depend
    on the sensitive attribute it does not say. Ours: 8, of which 0 and 6 are open.
    """
    names = ["age", "sex", "race", "marital-status", "education"]
    for on, vulnerable in (("occupation", 0), ("salary-class", 6)):
        task = ground(["k-anonymity:k=6"], "0", names, on)
        found, _ = find_minimal_nodes(
            task, NodeChecks(CompiledNodeChecker(task, None, 2**30), SearchBudget())
        )
        groups = [node_partition(task, node).histograms(sensitive(on)) for node in found]
        assert len(found) == 8
        assert sum(bool((one.distinct == 1).any()) for one in groups) == vulnerable
    minima = {"entropy-l:l=5": 6, "recursive-cl:c=3,l=5": 6}
    minima |= {"entropy-l:l=6": 5, "recursive-cl:c=3,l=6": 5}
    for principle, many in minima.items():
        task = ground([principle], "0", names)
        found, _ = find_minimal_nodes(
            task, NodeChecks(CompiledNodeChecker(task, None, 2**30), SearchBudget())
        )
        groups = [node_partition(task, node).histograms(sensitive("occupation")) for node in found]
        # What is diverse is open to no such attack.
        assert len(found) == many
        assert all((one.distinct > 1).all() for one in groups)


def test_measures_are_all_found() -> None:
    """Every measure has an optimum on Adult, and none is beaten by another measure's optimum."""
    task = ground(["k-anonymity:k=5"], "0.04", EIGHT[:6])
    best = {}
    for name in NODE_MEASURES:
        made = generalize(task, SearchSettings(measure=name))
        best[name] = made.rounds[0]
    from wideberth.release.lattice import Lattice

    engine = CompiledNodeChecker(task, None, 2**30)
    for name, one in best.items():
        for other in best.values():
            shown = Lattice(
                ground=task,
                principles=[],
                settings=SearchSettings(measure=name),
                found=other.found,
                checked=0,
                complete=False,
                engine=engine,
                known={},
                found_minimal=None,
            ).figures(other.node)
            assert shown.scores[name] >= one.found.score * (1 - 1e-9)
