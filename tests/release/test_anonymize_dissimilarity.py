"""Releases under (ε,δ)^k-dissimilarity, from a table to what is published, for every distance.

What is published is judged by `naive`, which shares nothing with the package.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any
from unittest import mock

import networkx
import numpy as np
import polars as pl
import pytest

import wideberth as wb
from tests import naive
from wideberth.algorithms.mondrian import blocks
from wideberth.cli import main
from wideberth.errors import (
    InfeasibleError,
    ParameterError,
    PrivacyWarning,
    TableError,
    WideberthError,
)
from wideberth.principles.partition import decide

QUASI = ["age", "zip"]
TREE: dict[str, str | None] = {"*": None, **dict.fromkeys("wxyz", "*")}
TREE |= {f"{p}{i}": p for p in "wxyz" for i in range(4)} | {"v": "*", "x00": "x0"}
LEAVES = [node for node in TREE if node not in TREE.values()]
WORDS = ["cough", "fever", "rash", "cramp", "ache", "nausea", "burn", "fall"]
PLACES = ["left", "right", "night", "day", "week", "often", "mild"]


def by_length(a: str, b: str) -> int:
    """A distance of one's own."""
    return abs(len(a) - len(b))


def people(rows: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    ages, zips = rng.integers(20, 80, rows), rng.integers(100, 140, rows)
    return {"row": np.arange(rows), "age": ages, "zip": zips}


def shares(rng: np.random.Generator, rows: int) -> Any:
    """Distributions over four diseases, in hundredths."""
    whole = np.floor(rng.dirichlet(np.ones(4), rows) * 100).astype(int)
    whole[:, 3] = 100 - whole[:, :3].sum(axis=1)
    return whole / 100


def sensitive(kind: str, rows: int) -> dict[str, Any]:
    """Sensitive columns that suit a distance; some values occur often."""
    rng = np.random.default_rng(len(kind))
    some = rng.integers(0, rows, rows // 3)
    if kind in ("variational", "jensen-shannon"):
        vectors = shares(rng, rows)
        vectors[some] = vectors[0]
        vectors[some[::2]] = vectors[1]
        if kind == "variational":
            return {f"p.{i}": vectors[:, i] for i in range(4)}
        return {"p": pl.Series(vectors.tolist(), dtype=pl.List(pl.Float64))}
    if kind in ("euclidean", "manhattan", "cosine"):
        vectors = rng.integers(1, 30, (rows, 3)).astype(float)
        cells: list[Any] = vectors.tolist()
        for row in some[:9]:
            cells[row] = None  # a missing value is near missing ones only
        return {"p": pl.Series(cells, dtype=pl.List(pl.Float64))}
    if kind == "haversine":
        towns = rng.uniform([45, 5], [55, 15], (12, 2))[rng.integers(0, 12, rows)]
        places = (towns + rng.normal(0, 0.05, (rows, 2))).round(4)
        return {"p.lat": places[:, 0], "p.lon": places[:, 1]}
    if kind in ("edit", "callable"):
        texts = [f"{WORDS[a]} {PLACES[b]}" for a, b in rng.integers(0, 7, (rows, 2))]
        return {"p": texts}
    if kind == "tree":
        return {"p": [LEAVES[i] for i in rng.integers(0, len(LEAVES), rows)]}
    if kind == "discrete":
        return {"p": [f"v{i}" for i in np.minimum(rng.geometric(0.2, rows), 9)]}
    return {"p": rng.lognormal(8, 1, rows).round(-1).astype(int)}  # absolute, relative


#: ε and δ that ask something of the table and leave it possible.
ASKED: dict[str, tuple[float, float]] = {
    "variational": (0.1, 0.8),
    "jensen-shannon": (0.2, 0.8),
    "euclidean": (5, 0.9),
    "manhattan": (8, 1),
    "cosine": (0.02, 0.75),
    "haversine": (30, 0.75),
    "edit": (5, 0.75),
    "callable": (0, 0.5),
    "tree": (1, 0.75),
    "discrete": (0, 0.6),
    "absolute": (200, 0.9),
    "relative": (0.1, 0.8),
}
each = pytest.mark.parametrize("kind", ASKED)


def task(kind: str, rows: int = 150, k: int = 4) -> tuple[pl.DataFrame, dict[str, Any]]:
    """A table, and what to ask of `anonymize`."""
    columns = sensitive(kind, rows)
    epsilon, delta = ASKED[kind]
    principle = wb.Dissimilarity(
        epsilon=epsilon, delta=delta, k=k, distance=by_length if kind == "callable" else kind
    )
    asked: dict[str, Any] = {
        "quasi": QUASI,
        "sensitive": "p.*" if len(columns) > 1 else "p",
        "insensitive": "row",
        "principles": principle,
        "recoding": "bounds",
    }
    if kind == "tree":
        labels = list(TREE)
        parents = [labels.index(p) if p else -1 for p in TREE.values()]
        asked["hierarchies"] = {"p": wb.Hierarchy.build(labels, parents)}
    return pl.DataFrame({**people(rows), **columns}), asked


def groups_of(table: pl.DataFrame) -> dict[Any, list[dict[str, Any]]]:
    found = defaultdict(list)
    for row in table.iter_rows(named=True):
        found[row["group"]].append(row)
    return found


def rows_of(table: pl.DataFrame) -> set[frozenset[int]]:
    """Who is with whom."""
    return {frozenset(row["row"] for row in group) for group in groups_of(table).values()}


def value_of(row: dict[str, Any]) -> Any:
    """The sensitive value of a published row."""
    parts = [cell for name, cell in row.items() if name == "p" or name.startswith("p.")]
    if len(parts) > 1:
        return tuple(parts)
    return tuple(parts[0]) if isinstance(parts[0], list) else parts[0]


def verify(table: pl.DataFrame, original: pl.DataFrame, principle: wb.Dissimilarity) -> None:
    """Every group by the definition, every box by the rows in it, every value as it was."""
    assert sorted(table["row"].to_list()) == original["row"].to_list()
    truth = {row["row"]: row for row in original.iter_rows(named=True)}
    context = naive.Context([value_of(row) for row in truth.values()], TREE)
    wanted = (principle.epsilon, principle.delta, principle.k, principle.distance)
    for group in groups_of(table).values():
        assert naive.dissimilarity([value_of(row) for row in group], context, *wanted)
        for row in group:
            assert value_of(row) == value_of(truth[row["row"]])
        for name in QUASI:
            inside = [truth[row["row"]][name] for row in group]
            box = {(row[f"{name}_min"], row[f"{name}_max"]) for row in group}
            assert box == {(min(inside), max(inside))}


# ---- every distance


@each
def test_a_release_by_its_own_values(kind: str) -> None:
    original, asked = task(kind)
    release = wb.anonymize(original, **asked)
    verify(release.table, original, asked["principles"])
    assert release.check().satisfied
    assert release.manifest["groups"] == len(groups_of(release.table)) > 8
    assert release.manifest["group"] == "group"


@each
def test_the_question_is_not_an_idle_one(kind: str) -> None:
    """The rows as they come, in groups of the size that is asked for, do not satisfy."""
    original, asked = task(kind)
    some = original.with_columns(group=pl.col("row") // asked["principles"].k)
    rest = {key: asked[key] for key in ("sensitive", "principles", "hierarchies") if key in asked}
    assert not wb.check(some, group="group", **rest).satisfied


@pytest.mark.parametrize("kind", ["variational", "edit", "discrete"])
def test_the_seed_decides_and_nothing_else(kind: str) -> None:
    original, asked = task(kind, 400)
    runs = [
        wb.anonymize(original, **asked, seed=seed, threads=threads).table
        for seed, threads in ((1, 1), (1, 2), (2, 1))
    ]
    assert runs[0].equals(runs[1])
    one, other = rows_of(runs[0]), rows_of(runs[2])
    assert one != other  # not by much: many leaves are too small to be dealt
    ids = [dict(run.select("row", "group").iter_rows()) for run in runs[::2]]
    same = sum(ids[0][row] == ids[1][row] for row in range(len(original)))
    assert same < len(original) / 8
    secret = [rows_of(wb.anonymize(original, **asked).table) for _ in range(2)]
    assert secret[0] != secret[1]


def test_rows_without_ids_may_come_in_any_order() -> None:
    """Whether there is a release does not depend on the order of the rows."""
    original, asked = task("manhattan")
    for seed in range(3):
        shuffled = original.sample(fraction=1, shuffle=True, seed=seed)
        verify(wb.anonymize(shuffled, **asked).table, original, asked["principles"])


def test_group_ids_cannot_be_left_out() -> None:
    original, asked = task("edit")
    with pytest.raises(ParameterError, match="without group ids"):
        wb.anonymize(original, **asked, group=False)
    with (
        pytest.warns(PrivacyWarning, match="matching"),
        pytest.raises(ParameterError, match="matching needs values on a line"),
    ):
        wb.anonymize(original, **asked, dealing="matching")


@pytest.mark.parametrize("cuts", ["paper", "disjoint", "best", "quality"])
def test_each_way_to_cut(cuts: str) -> None:
    original, asked = task("variational")
    verify(wb.anonymize(original, **asked, cuts=cuts).table, original, asked["principles"])


# ---- beside others


def with_jobs(kind: str) -> tuple[pl.DataFrame, dict[str, Any], wb.Dissimilarity]:
    """A table with another sensitive attribute, and demands on both."""
    original, asked = task(kind, 300)
    rng = np.random.default_rng(1)
    on = [name for name in original.columns if name.startswith("p")]
    original = original.with_columns(job=pl.Series(rng.choice(list("abcde"), 300)))
    first = replace(asked["principles"], on=on if len(on) > 1 else on[0])
    asked["principles"] = [first, "k-anonymity:k=7", "distinct-l:l=3,on=job"]
    asked["sensitive"] = [*on, "job"]
    return original, asked, first


@pytest.mark.parametrize("kind", ["variational", "haversine", "discrete"])
def test_together_with_other_principles(kind: str) -> None:
    original, asked, first = with_jobs(kind)
    release = wb.anonymize(original, **asked, seed=0)
    verify(release.table, original, first)
    for group in groups_of(release.table).values():
        assert len(group) >= 7
        assert len({row["job"] for row in group}) >= 3
    assert release.manifest["groups"] > 10


def test_whether_there_is_a_release_does_not_depend_on_the_seed() -> None:
    original, asked, _ = with_jobs("variational")
    for seed in range(6):
        assert wb.anonymize(original, **asked, seed=seed).manifest["groups"] > 10


def test_only_one_that_is_not_monotone() -> None:
    original, asked = task("absolute")
    asked["principles"] = [asked["principles"], "epsilon-m:epsilon=10,m=2"]
    with pytest.raises(ParameterError, match="both non-monotone"):
        wb.anonymize(original, **asked)


# ---- more rows than a block holds


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Blocks of some dozen rows; how many rows each had, and whether it could be split."""
    monkeypatch.setattr(blocks, "_MOST", 64)
    monkeypatch.setattr(blocks, "_LEAST", 24)
    seen: list[tuple[int, bool]] = []
    block = blocks._BlockSplitter.block

    def watched(self: Any, rows: Any, *rest: Any) -> Any:
        found = block(self, rows, *rest)
        seen.append((len(rows), found is not None))
        return found

    monkeypatch.setattr(blocks._BlockSplitter, "block", watched)
    return seen


def correlated(rows: int, noise: int) -> pl.DataFrame:
    """Points that follow from the age, more or less: who is of one age is near."""
    table = people(rows)
    rng = np.random.default_rng(3)
    points = np.stack((table["age"] + rng.integers(-noise, noise + 1, rows), table["zip"] % 3), 1)
    return pl.DataFrame({**table, "p": pl.Series(points.tolist(), dtype=pl.List(pl.Float64))})


ASKING: dict[str, Any] = {
    "quasi": QUASI,
    "sensitive": "p",
    "insensitive": "row",
    "recoding": "bounds",
}


def far(epsilon: float, delta: float = 0.7, k: int = 4) -> wb.Dissimilarity:
    return wb.Dissimilarity(epsilon=epsilon, delta=delta, k=k, distance="euclidean")


def test_many_blocks(small_blocks: list[tuple[int, bool]]) -> None:
    original, asked = task("euclidean", 700)
    release = wb.anonymize(original, **asked)
    verify(release.table, original, asked["principles"])
    assert len(small_blocks) > 8
    assert max(rows for rows, _ in small_blocks) <= 64
    assert all(good for _, good in small_blocks)


def test_blocks_that_fail_are_pooled(small_blocks: list[tuple[int, bool]]) -> None:
    """Who is of one age is near, so a block of a few ages cannot be dealt, half the table can."""
    original = correlated(600, noise=0)
    release = wb.anonymize(original, **ASKING, principles=far(8))
    verify(release.table, original, far(8))
    verdicts = {good for _, good in small_blocks}
    assert verdicts == {True, False}
    assert release.manifest["leaves"] > 1
    again = [wb.anonymize(original, **ASKING, principles=far(8), seed=3, threads=t) for t in (1, 2)]
    assert again[0].table.equals(again[1].table)
    assert again[0].manifest["leaves"] == again[1].manifest["leaves"] <= release.manifest["groups"]


def test_the_whole_table_dealt_at_once(small_blocks: list[tuple[int, bool]]) -> None:
    """The last resort: no blocks at all."""
    original = correlated(300, noise=2)
    with mock.patch.object(blocks._BlockSplitter, "block", return_value=None) as failing:
        release = wb.anonymize(original, **ASKING, principles=far(8))
    assert failing.called
    verify(release.table, original, far(8))
    assert release.manifest["leaves"] == 1


def test_the_whole_table_dealt_at_once_keeps_other_demands(
    small_blocks: list[tuple[int, bool]],
) -> None:
    """Or else it is refused, as what it is: not a defect."""
    original = correlated(300, noise=2)
    with mock.patch.object(blocks._BlockSplitter, "block", return_value=None):
        release = wb.anonymize(original, **ASKING, principles=[far(8), "k-anonymity:k=9"])
        verify(release.table, original, far(8, k=9))
        with_job = original.with_columns(job=pl.Series(["a"] * 290 + ["b"] * 10))
        hard = [
            wb.Dissimilarity(on="p", epsilon=8, delta=0.7, k=2, distance="euclidean"),
            "distinct-l:l=2,on=job",
        ]
        with pytest.raises(InfeasibleError):
            wb.anonymize(with_job, **{**ASKING, "sensitive": ["p", "job"]}, principles=hard)


def test_a_leaf_that_swapping_does_not_solve_is_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    """networkx colours it equitably, and the result is verified like any other."""
    original, asked = task("manhattan", 200, k=3)
    halves = original.with_columns(pl.col("age") % 2, zip=1)  # two leaves of many rows
    monkeypatch.setattr(blocks, "deal_apart", lambda *_: None)
    monkeypatch.setattr(blocks.RankJudge, "settle", lambda *_: None)
    with mock.patch("networkx.equitable_color", wraps=networkx.equitable_color) as coloured:
        release = wb.anonymize(halves, **asked, cuts="disjoint")
    assert coloured.call_count == release.manifest["leaves"] == 2
    verify(release.table, halves, asked["principles"])
    assert release.manifest["groups"] > 60


# ---- refusals


def refusal(principle: wb.Dissimilarity, table: pl.DataFrame, **rest: Any) -> str:
    with pytest.raises(InfeasibleError) as caught:
        wb.anonymize(table, **ASKING, principles=principle, **rest)
    message = str(caught.value)
    assert "  try: " in message or "\n" in message
    return message


def test_impossible_with_a_witness() -> None:
    original = correlated(120, noise=0)
    assert "needs 200 rows, the table has 120" in refusal(far(1, k=200), original)
    assert "one row is near 119 others" in refusal(far(500), original)
    crowd = original.with_columns(
        p=pl.Series([[1.0, 1.0]] * 70 + [[9.0 + i, 1.0] for i in range(50)])
    )
    message = refusal(far(0.5, delta=1, k=2), crowd)
    assert "70 rows are all near each other, groups have room for 60" in message


def odd_cycle() -> pl.DataFrame:
    """Five near each other in a ring, thrice: no clique beyond two, yet hard to deal in pairs."""
    corners = [[float(x), float(y)] for x, y in ((0, 0), (2, 0), (3, 2), (1, 3), (-1, 2))]
    return pl.DataFrame({**people(15), "p": corners * 3})


def test_impossible_by_search() -> None:
    """A small table that no vertex and no clique rules out: every partition was."""
    table = odd_cycle().head(5)
    near = [[naive.similar(tuple(a), tuple(b), naive.Context([]), "euclidean", 2.5)
             for a in table["p"].to_list()] for b in table["p"].to_list()]  # fmt: skip
    assert max(map(sum, near)) == 3
    principle = far(2.5, delta=1, k=2)
    message = refusal(principle, table)
    assert "all were ruled out" in message


def test_unknown_says_that_none_was_ruled_out() -> None:
    original = correlated(120, noise=0)
    unsure = decide.PartitionAnswer("unknown")
    with mock.patch("wideberth.principles.partition.caps.decide_partition", return_value=unsure):
        message = refusal(far(8, delta=0.8), original)
    assert "none was ruled out" in message


# ---- bad input


def vectors(*cells: Any) -> pl.DataFrame:
    rows = len(cells)
    return pl.DataFrame(
        {**people(rows), "p": pl.Series(list(cells), dtype=pl.List(pl.Float64), strict=False)}
    )


GOOD = [[0.25, 0.75], [0.5, 0.5], [0.75, 0.25], [1.0, 0.0], [0.0, 1.0], [0.4, 0.6]]
SECRET = 0.87123


def bad() -> Iterator[tuple[str, pl.DataFrame, str, tuple[type[WideberthError], str]]]:
    """Name, table, principle, and what is raised. No message may quote the odd cell."""
    plain = "dissimilarity:epsilon=0.1,delta=0.5,k=2,distance="
    numbers = pl.DataFrame({**people(6), "p": [1, 2, 3, 4, 5, 6]})
    yield (
        "NaN",
        vectors([nan, SECRET], *GOOD),
        f"{plain}euclidean",
        (TableError, "row 1|NaN|number"),
    )
    yield "sum", vectors([SECRET, 0.5], *GOOD), f"{plain}variational", (TableError, "add up to 1")
    yield (
        "negative",
        vectors([1 + SECRET, -SECRET], *GOOD),
        f"{plain}jensen-shannon",
        (TableError, "negative"),
    )
    yield (
        "epsilon",
        vectors(*GOOD),
        "dissimilarity:epsilon=1.5,delta=0.5,k=2,distance=variational",
        (ParameterError, "epsilon must be at most 1"),
    )
    yield "distance", vectors(*GOOD), f"{plain}hamming", (ParameterError, "hamming")
    yield (
        "k",
        vectors(*GOOD),
        "dissimilarity:epsilon=0.1,delta=0.5,k=7,distance=variational",
        (InfeasibleError, "needs 7 rows, the table has 6"),
    )
    yield "places", vectors([90 + SECRET, 1], *GOOD), f"{plain}haversine", (TableError, "latitude")
    yield (
        "longitude",
        vectors([1, 180 + SECRET], *GOOD),
        f"{plain}haversine",
        (TableError, "longitude"),
    )
    yield "zero", vectors([0, 0], *GOOD), f"{plain}cosine", (TableError, "no direction")
    yield "numbers", numbers, f"{plain}edit", (TableError, "needs text")
    yield "lengths", vectors([SECRET], *GOOD), f"{plain}euclidean", (TableError, "row|length")
    yield "no tree", numbers, f"{plain}tree", (ParameterError, "no hierarchy")
    yield "text", pl.DataFrame({**people(2), "p": ["a", "b"]}), f"{plain}cosine", (TableError, "p")
    yield "one", numbers, f"{plain}variational", (TableError, "distribution")


BAD = {name: rest for name, *rest in bad()}
each_bad = pytest.mark.parametrize(("table", "principle", "error"), BAD.values(), ids=BAD)


@each_bad
def test_bad_input_in_python(table: pl.DataFrame, principle: str, error: Any) -> None:
    kind, words = error
    for work in (wb.anonymize, wb.check):
        if work is wb.check and kind is InfeasibleError:
            continue
        rest = {"quasi": QUASI, "sensitive": "p", "insensitive": "row"}
        if work is wb.check:
            del rest["insensitive"]
        with pytest.raises(kind, match=words) as caught:
            work(table, **rest, principles=principle)
        assert str(SECRET)[2:] not in str(caught.value)
        assert caught.value.hint


@each_bad
@pytest.mark.parametrize("command", ["anonymize", "check"])
def test_bad_input_on_the_command_line(
    table: pl.DataFrame,
    principle: str,
    error: Any,
    command: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, words = error
    if command == "check" and kind is InfeasibleError:
        pytest.skip("a check has no need of a partition")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    table.write_parquet("in.parquet")
    more = ["--insensitive", "row", "--output", "out.parquet"] if command == "anonymize" else []
    words_given = ["--qi", "age,zip", "--sensitive", "p", "--principle", principle, *more]
    with pytest.raises(SystemExit) as stop:
        main([command, "in.parquet", *words_given])
    captured = capsys.readouterr()
    assert stop.value.code == kind.exit_code, captured.err
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert "unexpectedly" not in captured.err
    assert str(SECRET)[2:] not in captured.err
    assert re.search(words, captured.err)
    assert not Path("out.parquet").exists()


def raising(a: str, b: str) -> float:
    raise ValueError(f"cannot compare {a} and {b}")


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (lambda a, b: len(a) + 2 * len(b) if a != b else 0, "not symmetric"),
        (lambda a, b: 1, "not 0 between a value and itself"),
        (raising, "raised ValueError"),
        (lambda a, b: nan if a != b else 0, "NaN"),
        (lambda a, b: -by_length(a, b), "negative"),
        (lambda a, b: None, "returned NoneType"),
    ],
    ids=["asymmetric", "reflexive", "raises", "NaN", "negative", "None"],
)
def test_what_is_no_metric(metric: Any, words: str) -> None:
    original, asked = task("edit", 60)
    asked["principles"] = wb.Dissimilarity(epsilon=1, delta=0.5, distance=metric)
    with pytest.raises(ParameterError, match=words) as caught:
        wb.anonymize(original, **asked)
    assert caught.value.hint
    assert not any(word in str(caught.value) for word in [*WORDS, "left", "often"])


@pytest.mark.parametrize("setting", ["epsilon=-1", "delta=1.2", "delta=-0.1", "k=0", "epsilon=nan"])
def test_parameters_out_of_range(setting: str) -> None:
    given = {"epsilon": "0.1", "delta": "0.5", "k": "2"} | dict([setting.split("=")])
    text = ",".join(f"{key}={value}" for key, value in given.items())
    with pytest.raises(ParameterError, match=setting.split("=")[0]):
        wb.check(vectors(*GOOD), quasi="age", sensitive="p", principles=f"dissimilarity:{text}")


@pytest.mark.parametrize("rows", [24, 400, 2500])
@pytest.mark.parametrize("delta", ["1", "0.7"])
def test_with_a_seed_the_order_of_rows_does_not_matter(rows: int, delta: str) -> None:
    rng = np.random.default_rng(rows)
    table = pl.DataFrame(
        {
            "age": rng.integers(0, 40, rows),
            "sex": rng.choice(["f", "m"], rows),
            "kind": [f"v{i}" for i in rng.integers(0, 30, rows)],
        }
    )
    asked: dict[str, Any] = {
        "quasi": ["age", "sex"],
        "sensitive": "kind",
        "principles": f"dissimilarity:epsilon=0,delta={delta},k=3",
        "seed": 5,
    }

    def groups(given: pl.DataFrame) -> list[Any]:
        made = wb.anonymize(given, **asked).table
        return sorted(sorted(g.drop("group").rows()) for _, g in made.group_by("group"))

    first = groups(table)
    for seed in range(2):
        assert groups(table.sample(fraction=1, shuffle=True, seed=seed)) == first
    assert groups(table.reverse()) == first
