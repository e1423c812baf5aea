"""Metrics of releases: against tables worked out by hand, our manifests, and ARX's figures."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import log2, prod
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.effort import examples
from wideberth import datasets
from wideberth.cli.metrics import metrics
from wideberth.errors import ParameterError, TableError
from wideberth.hierarchy import Hierarchy, read_hierarchy
from wideberth.utility.measure import Utility, measure
from wideberth.utility.metrics import (
    METRICS,
    NEEDS,
    Figure,
    Material,
    Metric,
    iterate,
    lookup,
    register,
    size_histogram,
)
from wideberth.utility.metrics.base import NEEDS_IN_WORDS, metric_as_dict, metrics_as_markdown

DATA = Path(os.environ.get("WIDEBERTH_DATA", Path(__file__).parents[3] / "shared" / "data"))
ADULT = DATA / "adult_arx"

# ---- a table of six people, and what is published of it

PEOPLE = pl.DataFrame(
    {
        "age": [20, 22, 24, 30, 36, 40],
        "job": ["cook", "clerk", "cook", "nurse", "cook", "clerk"],
        "pay": [1, 2, 1, 3, 3, 2],
    }
)
JOBS = Hierarchy.build(["*", "office", "clerk", "kitchen", "cook", "nurse"], [-1, 0, 1, 0, 3, 3])
RELEASE = pl.DataFrame(
    {
        "age": ["20..24", "20..24", "20..24", "30..36", "30..36"],
        "job": ["{clerk|cook}"] * 3 + ["{cook|nurse}"] * 2,
        "pay": [1, 2, 1, 3, 3],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "job"], "sensitive": "pay"}


def both(**changed: Any) -> Utility:
    return measure(**{"table": RELEASE, "original": PEOPLE, **ROLES, **changed})


def test_losses() -> None:
    """Five rows are published, one of six is not: it counts as a whole loss."""
    found = both()
    age = (3 * 4 / 20 + 2 * 6 / 20 + 1) / 6
    job = (5 * 1 / 2 + 1) / 6
    assert found.suppressed == 1
    assert found.original_rows == 6
    ncp = found.figures["ncp"]
    assert ncp.by_attribute == pytest.approx({"age": age, "job": job})
    assert ncp.value == pytest.approx((age + job) / 2)
    assert ncp.details["published_rows"] == pytest.approx(((0.6 + 0.6) / 5 + 0.5) / 2)
    assert found["loss"] == pytest.approx(((1 + age) * (1 + job)) ** 0.5 - 1)
    assert found["granularity"] == pytest.approx(1 - (age + job) / 2)


def test_sizes() -> None:
    found = both(k=2)
    assert found["discernibility"] == 3**2 + 2**2 + 1 * 6
    assert found["average-size"] == 2.5
    assert found["c-avg"] == 1.25
    sizes = found.figures["group-sizes"]
    assert sizes.value == 2.5
    assert (sizes.details["smallest"], sizes.details["largest"]) == (2, 3)
    assert sizes.details["histogram"] == [
        {"from": 2, "to": 2, "groups": 1, "rows": 2},
        {"from": 3, "to": 5, "groups": 1, "rows": 3},
    ]


def test_bins_end_at_1_2_5() -> None:
    sizes = np.array([1, 1, 2, 3, 5, 6, 99, 100])
    told = size_histogram(sizes)
    assert [one["to"] for one in told] == [1, 2, 5, 10, 20, 50, 100]
    assert [one["groups"] for one in told] == [2, 1, 2, 1, 0, 0, 2]
    assert sum(one["rows"] for one in told) == sizes.sum()


def entropy(counts: Sequence[int]) -> float:
    total = sum(counts)
    return -sum(c / total * log2(c / total) for c in counts if c)


def test_entropy() -> None:
    """Ages are all different; jobs are cook 3, clerk 2, nurse 1."""
    age = (3 * log2(3) + 2 * log2(2) + log2(6)) / 6 / log2(6)
    most = entropy([3, 2, 1])
    job = (3 * entropy([2, 3]) + 2 * entropy([3, 1]) + most) / 6 / most
    found = both().figures["entropy"]
    assert found.by_attribute == pytest.approx({"age": age, "job": job})
    assert found.value == pytest.approx((age + job) / 2)


def test_divergence() -> None:
    """The same by adding up over all cells of the domain, with fractions."""
    covers = {
        0: ([20, 22, 24], ["clerk", "cook"], {1: 2, 2: 1}),
        1: ([30, 36], ["cook", "nurse"], {3: 2}),
    }
    estimate: Counter[Any] = Counter()
    for ages, jobs, pays in covers.values():
        for (age, job), (pay, many) in product(product(ages, jobs), pays.items()):
            estimate[age, job, pay] += Fraction(many, len(ages) * len(jobs))
    for cell in product(PEOPLE["age"], PEOPLE["job"].unique(), (1, 2, 3)):
        estimate[cell] += Fraction(1, 6 * 3 * 3)  # the suppressed row
    assert sum(estimate.values()) == 6
    bits = [log2(1 / estimate[row]) for row in PEOPLE.rows()]
    found = both().figures["kl-divergence"]
    assert found.value == pytest.approx(sum(bits) / 6)
    assert found.details["exact"]


def test_nothing_is_lost_where_all_is_published() -> None:
    found = measure(PEOPLE, original=PEOPLE, **ROLES)
    for name in ("ncp", "loss", "entropy", "kl-divergence"):
        assert found[name] == 0
    assert found["granularity"] == 1


def test_a_ruled_out_row_has_no_divergence() -> None:
    wrong = RELEASE.with_columns(pay=pl.Series([1, 2, 1, 2, 2]))
    found = measure(wrong, original=PEOPLE.head(5), **ROLES)
    assert "rules out 2 of the 5" in found.not_measured["kl-divergence"]
    strange = RELEASE.with_columns(pay=pl.Series([1, 2, 1, 7, 7]))
    found = measure(strange, original=PEOPLE.head(5), **ROLES)
    assert "does not have" in found.not_measured["kl-divergence"]


def test_levels() -> None:
    release = pl.DataFrame({"job": ["kitchen", "office", "kitchen", "kitchen"]})
    found = measure(
        release, original=PEOPLE.select("job").head(4), quasi="job", hierarchies={"job": JOBS}
    )
    assert found["height"] == 1
    assert found["precision"] == 0.5
    # kitchen has two of three leaves, office one
    assert found["ncp"] == pytest.approx(3 / 4 * 1 / 2)


def test_a_node_spans_its_leaves_whoever_has_them() -> None:
    people = pl.DataFrame({"job": ["cook", "clerk"]})  # nobody is a nurse
    release = pl.DataFrame({"job": ["kitchen", "clerk"]})
    found = measure(release, original=people, quasi="job", hierarchies={"job": JOBS})
    assert found["ncp"] == pytest.approx((1 / 2 + 0) / 2)


def test_levels_that_differ_have_no_height() -> None:
    release = pl.DataFrame({"job": ["cook", "clerk", "kitchen", "kitchen"]})
    found = measure(release, quasi="job", hierarchies={"job": JOBS})
    assert found["precision"] == 1 - (2 / 4) / 2
    assert "not published on one level" in found.not_measured["height"]


def test_rows_of_stars_count_as_suppressed() -> None:
    starred = pl.concat([RELEASE, pl.DataFrame({"age": ["*"], "job": ["*"], "pay": [2]})])
    found, without = both(table=starred), both()
    for name in ("ncp", "loss", "discernibility", "average-size", "granularity", "entropy"):
        assert found[name] == pytest.approx(without[name]), name
    assert (found.rows, found.suppressed) == (5, 1)
    assert any("count as suppressed: 1" in note for note in found.notes)


def test_missing_values() -> None:
    """Missing beside others says nothing; missing alone says all."""
    people = pl.DataFrame({"age": [20, 30, None, None, 40]})
    release = pl.DataFrame({"age": ["20..30", "20..30", None, "40 or missing", "40 or missing"]})
    found = measure(release, original=people, quasi="age")
    assert found["ncp"] == pytest.approx((2 * 0.5 + 0 + 2 * 1) / 5)
    bits = (2 * log2(2) + 0 + 2 * entropy([2, 1])) / 5
    assert found.figures["entropy"].details["bits"]["age"] == pytest.approx(bits)


# ---- our own releases say the same


def sal(rows: int = 3000) -> pl.DataFrame:
    return datasets.sal(rows, seed=4)


@pytest.mark.parametrize(
    "style",
    [
        {"recoding": "interval"},
        {"recoding": "bounds"},
        {"recoding": "set"},
        {"align": {"age": 5, "occupation": 50}},
        {"align": {"age": 5}, "recoding": "bounds"},
        {"weights": {"age": 3}},
    ],
    ids=str,
)
def test_the_loss_is_that_of_the_manifest(style: dict[str, Any]) -> None:
    people = sal()
    release = wb.anonymize(
        people,
        quasi=["age", "birthplace", "occupation"],
        sensitive="income",
        principles=["k-anonymity:k=5", "epsilon-m:epsilon=2000,m=3"],
        **style,
        seed=1,
    )
    found = measure(release, original=people)
    told = release.manifest["loss"]
    assert float(f"{100 * found['ncp']:.3g}") == told["ncp_percent"]
    by_attribute = {
        n: float(f"{100 * x:.3g}") for n, x in found.figures["ncp"].by_attribute.items()
    }
    assert by_attribute == told["ncp_percent_by_attribute"]
    assert found["discernibility"] == told["discernibility"]
    assert found["average-size"] == told["average_group_size"]
    assert found.figures["c-avg"].details["k"] == 5
    assert found.groups == release.manifest["groups"]


def test_dates() -> None:
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 12, 31), eager=True)
    born = days.sample(400, with_replacement=True, seed=1)
    people = pl.DataFrame({"born": born, "pay": np.arange(400) % 7})
    for more in ({}, {"align": {"born": "month"}}):
        release = wb.anonymize(
            people, quasi="born", sensitive="pay", principles="k-anonymity:k=5", seed=1, **more
        )
        found = measure(release, original=people)
        assert float(f"{100 * found['ncp']:.3g}") == release.manifest["loss"]["ncp_percent"]


def census(rows: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, rows),
            "job": rng.choice(["cook", "clerk", "nurse", None], rows),
            "pay": rng.integers(0, 4, rows),
        }
    )
    return frame, {"age": {"interval": [5, 10, 20]}, "job": JOBS}


@pytest.mark.parametrize("algorithm", ["mondrian", "lattice"])
def test_nodes_of_hierarchies(algorithm: str) -> None:
    people, trees = census(400)
    release = wb.anonymize(
        people,
        quasi=["age", "job"],
        sensitive="pay",
        principles=["k-anonymity:k=12", "distinct-l:l=2"],
        hierarchies=trees,
        algorithm=algorithm,
        suppression_limit=0.1,
        seed=1,
    )
    found = measure(release, original=people, hierarchies=trees)
    published = found.figures["ncp"].details["published_rows"]
    assert float(f"{100 * published:.3g}") == release.manifest["loss"]["ncp_percent"]
    assert found["discernibility"] == release.manifest["loss"]["discernibility"]
    if algorithm == "lattice":
        looked = wb.lattice(
            people,
            quasi=["age", "job"],
            sensitive="pay",
            principles=["k-anonymity:k=12", "distinct-l:l=2"],
            hierarchies=trees,
            suppression_limit=0.1,
        )
        scores = looked.best[0].scores
        assert found["loss"] == pytest.approx(scores["loss"])
        assert found["height"] == scores["height"]
        assert found["precision"] == pytest.approx(1 - scores["precision"])


def test_entropy_of_whole_levels_is_the_usual_one() -> None:
    """A row with value a, published as g, loses log2(n_g / n_a); no row is suppressed here."""
    people = census(300)[0].drop_nulls()
    release = people.with_columns(
        job=pl.col("job").replace({"cook": "kitchen", "nurse": "kitchen", "clerk": "office"})
    )
    counts, above = Counter(people["job"]), Counter(release["job"])
    lost = [log2(above[g] / counts[a]) for a, g in zip(people["job"], release["job"], strict=True)]
    usual = sum(lost) / (people.height * entropy(list(counts.values())))
    found = measure(release, original=people, quasi=["job"], hierarchies={"job": JOBS})
    assert found["entropy"] == pytest.approx(usual)


EIGHT = ["sex", "age", "race", "marital-status", "education", "native-country"]
EIGHT += ["workclass", "salary-class"]


@pytest.mark.skipif(not ADULT.exists(), reason="the tables are not there")
@pytest.mark.parametrize(
    ("config", "metric", "principle", "limit"),
    [
        ("k5 s0", "loss", "k-anonymity:k=5", 0),
        ("k5 s4%", "loss", "k-anonymity:k=5", 0.04),
        ("k5 s4%", "discernibility", "k-anonymity:k=5", 0.04),
        ("distinct-5 s4%", "loss", "distinct-l:l=5", 0.04),
    ],
)
def test_the_figures_of_arx(config: str, metric: str, principle: str, limit: float) -> None:
    """From the table as it is published, not from its node."""
    golden = pl.read_csv(DATA / "arx_adult_golden.csv")
    row = golden.filter(config=config, metric=metric).row(0, named=True)
    people = pl.read_csv(ADULT / "arx_adult.csv", separator=";", infer_schema=False)
    trees = {name: read_hierarchy(ADULT / f"arx_adult_hierarchy_{name}.csv") for name in EIGHT}
    release = wb.anonymize(
        people.select(*EIGHT, "occupation"),
        quasi=EIGHT,
        sensitive="occupation",
        principles=principle,
        hierarchies=trees,
        types=dict.fromkeys(EIGHT, "text"),
        algorithm="lattice",
        measure=metric,
        suppression_limit=limit,
    )
    found = measure(
        release,
        original=people,
        hierarchies=trees,
        types=dict.fromkeys(EIGHT, "text"),
        metrics=["loss", "discernibility", "height", "precision", "entropy"],
    )
    digits = len(str(row["score"]).partition(".")[2]) if metric == "loss" else 0
    assert round(found[metric], digits) == row["score"]
    if row["suppressed_rows"] is not None:
        assert found.suppressed == row["suppressed_rows"]


def test_an_anatomy() -> None:
    people = datasets.wang2013_table1()
    tree = datasets.wang2013_figure1()
    release = wb.anonymize(
        people.select("age", "sex", "zip", "disease"),
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        principles="frequency-l:l=2",
        hierarchies={"disease": tree},
        algorithm="anatomy",
        seed=2,
    )
    found = measure(release, original=people)
    told = release.manifest["loss"]
    assert found["reconstruction-error"] == pytest.approx(told["reconstruction_error"])
    assert found["true-point-error"] == pytest.approx(told["true_point_error"])
    assert found["average-diversity"] == pytest.approx(told["average_diversity"])
    risk = found.figures["similarity-risk"]
    assert risk.value == told["similarity_risk"][0]["worst"]
    assert risk.details["levels"] == told["similarity_risk"]
    assert found["ncp"] == 0
    assert "anatomy" in found.not_measured["kl-divergence"]


# ---- the registry


@pytest.mark.parametrize("metric", list(iterate()), ids=lambda metric: metric.name)
def test_a_metric_declares_everything(metric: type[Metric]) -> None:
    facts = metric_as_dict(metric)
    assert facts["goal"] in ("lower", "higher", "none")
    assert set(facts["needs"]) <= set(NEEDS) == set(NEEDS_IN_WORDS)
    for key in ("title", "definition", "reference"):
        assert len(facts[key]) > 5
    assert facts["definition"].endswith(".")
    assert f"`{metric.name}`" in metrics_as_markdown([metric])
    assert lookup(metric.name) is metric
    json.dumps(facts)


def test_the_page_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "metrics.md"
    assert page.read_text(encoding="utf-8") == metrics_as_markdown(iterate())


def test_the_command() -> None:
    runner = CliRunner()
    told = json.loads(runner.invoke(metrics, ["--format", "json"]).stdout)
    assert [one["name"] for one in told] == sorted(METRICS)
    assert json.loads(runner.invoke(metrics, ["ncp", "--format", "json"]).stdout)["low"] == 0
    assert runner.invoke(metrics, ["--format", "markdown"]).stdout == metrics_as_markdown(iterate())
    assert "wideberth metrics NAME explains one." in runner.invoke(metrics, []).stdout
    one = runner.invoke(metrics, ["entropy"]).stdout
    assert "non-uniform entropy  (entropy)" in one
    assert "Gionis" in one
    assert isinstance(runner.invoke(metrics, ["npc"]).exception, ParameterError)


def test_a_metric_of_ones_own() -> None:
    class Largest(Metric):
        """The largest group."""

        name, title, reference = "largest", "largest group", "none"
        goal, low, high = "lower", 1.0, None
        needs = ("sizes",)

        def compute(self, material: Material) -> Figure:
            return Figure(value=float(material.sizes.max()))

    register(Largest)
    try:
        found = both()
        assert found["largest"] == 3
        assert "largest" in [one["name"] for one in found.to_dict()["figures"]]
        with pytest.raises(ValueError, match="registered already"):
            register(type("Other", (Largest,), {}))
    finally:
        del METRICS["largest"]


@pytest.mark.parametrize(
    ("facts", "complaint"),
    [
        ({"name": None}, "name"),
        ({"goal": "up"}, "goal"),
        ({"low": "0"}, "low"),
        ({"needs": ("luck",)}, "needs"),
    ],
)
def test_a_metric_that_does_not_declare_everything(facts: dict[str, Any], complaint: str) -> None:
    said = {"name": "x", "title": "x", "reference": "x", "goal": "lower", "low": 0, "high": 1}
    with pytest.raises(TypeError, match=complaint):
        register(type("Bad", (Metric,), {**said, "needs": (), **facts}))


# ---- random releases


@st.composite
def releases(draw: st.DrawFn) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Draw a table, put its rows into groups, and publish intervals, nodes and sets of each."""
    people = draw(
        st.lists(
            st.tuples(
                st.one_of(st.none(), st.integers(1, 6)),
                st.sampled_from(["cook", "clerk", "nurse"]),
                st.sampled_from("abc"),
                st.integers(0, 2),
            ),
            min_size=2,
            max_size=12,
        )
    )
    people[0] = (3, *people[0][1:])
    group = draw(st.lists(st.integers(-1, 2), min_size=len(people), max_size=len(people)))
    group[0] = 0
    rows = []
    for row, own in zip(people, group, strict=True):
        if own < 0:
            continue
        members = [p for p, g in zip(people, group, strict=True) if g == own]
        ages = [p[0] for p in members if p[0] is not None]
        lacks = len(ages) < len(members)
        age = f"{min(ages)}..{max(ages)}" + " or missing" * lacks if ages else None
        jobs = {p[1] for p in members}
        kitchen = jobs == {"cook", "nurse"}
        job = jobs.pop() if len(jobs) == 1 else "kitchen" if kitchen else "*"
        sexes = sorted({p[2] for p in members})
        rows.append((age, job, sexes[0] if len(sexes) == 1 else f"{{{'|'.join(sexes)}}}", row[3]))
    names = ["age", "job", "sex", "pay"]
    types = {"age": pl.Int64, "job": pl.String, "sex": pl.String, "pay": pl.Int64}
    original = pl.DataFrame(people, schema=types, orient="row")
    return original, pl.DataFrame(rows, schema={**types, "age": pl.String}, orient="row")[names]


RANDOM: dict[str, Any] = {
    "quasi": ["age", "job", "sex"],
    "sensitive": "pay",
    "hierarchies": {"job": JOBS, "age": {"interval": [2]}, "sex": {"flat": True}},
    "types": {"age": "integer"},
    "k": 2,
}


@examples(60, 20)
@given(releases(), st.randoms(use_true_random=False))
def test_metrics_lie_in_their_ranges_whatever_the_order(
    drawn: tuple[pl.DataFrame, pl.DataFrame], random: Any
) -> None:
    original, release = drawn
    if release["age"].null_count() == release.height:
        return
    found = measure(release, original=original, **RANDOM)
    for name, figure in found.figures.items():
        metric = lookup(name)
        for value in (figure.value, *figure.by_attribute.values()):
            assert metric.low is None or value >= metric.low - 1e-12
            assert metric.high is None or value <= metric.high + 1e-12
    json.dumps(found.to_dict(), allow_nan=False)
    mixed = [
        frame[random.sample(range(frame.height), frame.height)] for frame in (release, original)
    ]
    again = measure(mixed[0], original=mixed[1], **RANDOM)
    assert again.not_measured == found.not_measured
    for name, figure in again.figures.items():
        assert figure.value == pytest.approx(found[name])
        assert figure.by_attribute == pytest.approx(found.figures[name].by_attribute)


@examples(40, 13)
@given(releases())
def test_divergence_against_all_cells(drawn: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    """Add up the estimate over the whole domain, cell by cell."""
    original, release = drawn
    if release["age"].null_count() == release.height:
        return
    found = measure(release, original=original, **RANDOM)
    domains = [original[name].unique().to_list() for name in ("age", "job", "sex")]
    values = original["pay"].unique().to_list()
    below = {"*": {"cook", "clerk", "nurse"}, "kitchen": {"cook", "nurse"}}

    def covers(name: str, label: Any, value: Any) -> bool:
        if name == "age":
            if value is None:
                return label is None or label.endswith("missing")
            if label is None:
                return False
            low, high = map(int, label.removesuffix(" or missing").split(".."))
            return low <= value <= high
        if name == "job":
            return value in below.get(label, {label})
        return value in label.strip("{}").split("|")

    lost = original.height - release.height
    every = prod(map(len, domains)) * len(values)
    estimate: Counter[Any] = Counter()
    for *labels, pay in release.rows():
        inside = [
            [value for value in domain if covers(name, label, value)]
            for name, label, domain in zip(("age", "job", "sex"), labels, domains, strict=True)
        ]
        for cell in product(*inside):
            estimate[*cell, pay] += 1 / prod(map(len, inside))
    counts = Counter(original.rows())
    bits = [log2(counts[row] / (estimate[row] + lost / every)) for row in original.rows()]
    assert found["kl-divergence"] == pytest.approx(sum(bits) / len(bits), abs=1e-9)


# ---- the object, and what it refuses


def test_shown() -> None:
    found = both(metrics=["ncp", "c-avg"])
    assert str(found).splitlines()[0] == "5 rows in 2 groups, 1 suppressed"
    assert "c-avg: not measured, no k is known" in str(found)
    assert found.table.columns == ["quasi-identifier", "ncp"]
    assert found.table["quasi-identifier"].to_list() == ["age", "job"]
    told = found.to_dict()
    assert told["figures"][0]["name"] == "ncp"
    assert told["not_measured"][0]["reason"] == "no k is known"
    assert told["group_sizes"] is None
    with pytest.raises(KeyError, match="no k is known"):
        found["c-avg"]


def test_without_the_original() -> None:
    found = measure(RELEASE, **ROLES)
    assert found["ncp"] == pytest.approx(((3 * 4 + 2 * 6) / 16 / 5 + 0.5) / 2)
    assert found.not_measured["entropy"] == "the original is not given"
    assert len(found.notes) == 2


def test_labels_that_cannot_be_read() -> None:
    release = RELEASE.with_columns(age=pl.Series(["22.4", "22.4", "22.4", "young", "young"]))
    found = measure(release, original=PEOPLE, **ROLES)
    assert found.not_measured["ncp"] == "the labels of 'age' could not be understood"
    assert found["discernibility"] == both()["discernibility"]
    with pytest.raises(TableError, match="the labels of column 'age' could not be understood"):
        wb.query_error(PEOPLE, ["age", "job"], "pay", release=release)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="did you mean 'ncp'"):
        both(metrics=["npc"])
    with pytest.raises(ParameterError, match="no metric"):
        both(metrics=[])
    with pytest.raises(TableError, match="only 3"):
        both(original=PEOPLE.head(3))
    with pytest.raises(TableError, match="the original"):
        both(original=PEOPLE.drop("job"))
    with pytest.raises(TableError):
        both(original=PEOPLE.with_columns(age=pl.col("age") + 100))


@pytest.mark.parametrize("base", [2**53, 2**62, 10**25, -(10**25)])
@pytest.mark.parametrize("step", [1, 7])
def test_where_numbers_begin_makes_no_difference(base: int, step: int) -> None:
    """Long quasi-identifiers are as far apart as short ones."""

    def figures(base: int) -> dict[str, float | None]:
        people = pl.DataFrame({"q": [str(base + step * i) for i in range(8)]})
        ends = [(base + step * i, base + step * (i + 1)) for i in range(0, 8, 2)]
        table = pl.DataFrame({"q": [f"{low}..{high}" for low, high in ends for _ in "ab"]})
        measured = wb.measure(table, original=people, quasi=["q"])
        return {name: figure.value for name, figure in measured.figures.items()}

    assert figures(base) == figures(0)
    assert figures(base)["ncp"] == pytest.approx(1 / 7)
