"""measure of a file under a limit on memory says what measure of the same file says in memory."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets, io
from wideberth.engines.duckdb.source import FileSource
from wideberth.errors import EngineError, WideberthError
from wideberth.utility import measure_file
from wideberth.utility.metrics import METRICS, Figure, Material, Metric, register

pytest.importorskip("duckdb")

MEMORY = "512MB"
ROWS = "it looks at rows of the original, which is not in memory"


def same(path: Path, **known: Any) -> wb.Utility:
    """Measure a file both ways, and return what is found if they agree."""
    there, here = wb.measure(path, memory=MEMORY, **known), wb.measure(path, **known)
    one, other = there.to_dict(), here.to_dict()
    if "kl-divergence" in here.figures:
        assert there.not_measured["kl-divergence"] == ROWS
        del one["not_measured"], other["not_measured"]
        other["figures"] = [f for f in other["figures"] if f["name"] != "kl-divergence"]
    assert one == other
    assert there.not_measured.keys() >= here.not_measured.keys()
    return there


def people(rows: int = 300) -> pl.DataFrame:
    rng = random.Random(7)

    def some(*values: Any) -> list[Any]:
        return [rng.choice(values) for _ in range(rows)]

    return pl.DataFrame(
        {
            "age": some(*range(20, 60), None),
            "job": some("cook", "clerk", "nurse", "smith"),
            "zip": some("13053", "13068", "14850", "14853"),
            "born": some(dt.date(1990, 1, 1), dt.date(1990, 1, 9), dt.date(1950, 5, 17)),
            "pay": some(*range(10), None),
        }
    )


def labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Write intervals, sets, masks and stars, as tools do."""
    low = pl.col("age") // 10 * 10
    return frame.with_columns(
        age=pl.format("{}..{}", low, low + 9),
        job=pl.col("job").replace({"cook": "{clerk|cook}", "clerk": "{cook, clerk}"}),
        zip=pl.col("zip").str.head(3) + "**",
    ).with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 0).then(pl.lit("*")).otherwise(pl.col(c)).alias(c)
        for c in ("age", "job", "zip")
    )


ROLES: dict[str, Any] = {"quasi": ["age", "job", "zip"], "sensitive": "pay"}


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_labels_of_all_kinds(tmp_path: Path, suffix: str) -> None:
    original = people()
    release = labels(original)[5:]
    io.write(original, before := tmp_path / f"people.{suffix}")
    io.write(release, path := tmp_path / f"release.{suffix}")
    found = same(path, **ROLES)
    assert found.groups > 10
    assert "discernibility" in found.figures
    found = same(path, **ROLES, original=before, k=3)
    assert found.suppressed == 5 + 7
    assert {"ncp", "loss", "entropy", "c-avg"} <= set(found.figures)
    same(path, **ROLES, original=before, metrics=["ncp", "group-sizes"])


def test_sets_written_in_two_orders(tmp_path: Path) -> None:
    """They are one label, but two groups; then stars are no groups of their own."""
    release = pl.DataFrame({"job": ["{a, b}", "{b, a}", "*", "*", "c"], "age": [*"111**"]})
    release.write_parquet(path := tmp_path / "r.parquet")
    found = same(path, quasi=["job"])
    assert (found.groups, found.suppressed) == (4, 0)
    assert same(path, quasi=["age"]).suppressed == 2
    same(path, quasi=["job", "age"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("recoding", ["interval", "bounds", "set"])
def test_our_own_releases(tmp_path: Path, suffix: str, recoding: str) -> None:
    original = people().with_columns(age=pl.col("age").fill_null(33))
    quasi = ["age"] if recoding == "bounds" else ["age", "job"]
    kind = {"age": recoding} if recoding != "set" else {"job": "set"}
    release = wb.anonymize(
        original.select(*quasi, "pay"),
        quasi=quasi,
        sensitive="pay",
        principles=["k-anonymity:k=4", "epsilon-m:epsilon=1,m=2"],
        recoding=kind,
        seed=1,
    )
    io.write(release.table, path := tmp_path / f"r.{suffix}")
    io.write(original, before := tmp_path / f"o.{suffix}")
    published = [c for c in release.table.columns if c not in ("pay", "group")]
    for known in ({}, {"original": before}):
        assert same(path, quasi=published, sensitive="pay", **known).groups > 5
        same(path, quasi=published, sensitive="pay", group="group", **known)
        same(path, group="group", **known)


def test_missing_values_and_dates(tmp_path: Path) -> None:
    original = people()
    release = original.with_columns(
        age=pl.when(pl.col("age").is_null()).then(None).otherwise(pl.lit("20..59")),
        born=pl.format("{}-01-01..{}-12-31", pl.col("born").dt.year(), pl.col("born").dt.year()),
        pay=pl.col("pay"),
    )
    original.write_parquet(before := tmp_path / "o.parquet")
    release.write_parquet(path := tmp_path / "r.parquet")
    for known in ({}, {"original": before}):
        found = same(path, quasi=["age", "born"], sensitive="pay", **known)
        assert found.figures["ncp"].by_attribute["age"] < 1


def test_hierarchies_weights_and_k_of_a_policy(tmp_path: Path) -> None:
    original = people()
    (tmp_path / "zip.csv").write_text(
        "13053;130**;*\n13068;130**;*\n14850;148**;*\n14853;148**;*\n"
    )
    (policy := tmp_path / "p.toml").write_text(
        'version = 1\n[roles]\nquasi = ["zip"]\nsensitive = ["pay"]\n'
        'insensitive = ["age", "job", "born"]\n'
        '[[principle]]\nname = "k-anonymity"\nk = 7\n'
        '[[principle]]\nname = "delta-presence"\ndelta_max = 0.5\n'
        '[hierarchies]\nzip = "zip.csv"\n'
    )
    release = original.with_columns(zip=pl.col("zip").str.head(3) + "**")
    io.write(original, before := tmp_path / "o.csv")
    io.write(release, path := tmp_path / "r.csv")
    for known in ({}, {"original": before}):
        found = same(path, policy=policy, **known)
        assert found["precision"] == 0.5
        assert found["height"] == 1
        assert found.figures["c-avg"].details == {"k": 7}


def test_values_that_are_no_labels(tmp_path: Path) -> None:
    release = pl.DataFrame({"age": ["20..30", "old", "?!"], "pay": [1, 2, 3]})
    release.write_parquet(path := tmp_path / "r.parquet")
    assert "could not be understood" in same(path, quasi="age").not_measured["ncp"]


def test_boxes_are_those_of_memory(tmp_path: Path) -> None:
    """A metric of one's own sees the same material, sensitive values by group included."""
    seen: list[Material] = []

    @register
    class Looking(Metric):
        """Looks."""

        name, title, reference = "looking", "looking", "here"
        goal, low, high = "none", None, None
        needs = ("sizes", "boxes", "sensitive")

        def compute(self, material: Material) -> Figure:
            """Look."""
            seen.append(material)
            return Figure(value=0.0)

    try:
        release = labels(people())
        release.write_parquet(path := tmp_path / "r.parquet")
        same(path, **ROLES, metrics="looking")
    finally:
        del METRICS["looking"]
    there, here = seen
    assert np.array_equal(there.boxes.labels, here.boxes.labels)
    assert np.array_equal(there.boxes.sizes, here.boxes.sizes)
    for one, other in zip(there.boxes.axes, here.boxes.axes, strict=True):
        assert one.texts == other.texts
        assert one.counts.tolist() == other.counts.tolist()
        assert one.atoms.equals(other.atoms)
    assert there.groups is not None
    assert here.groups is not None
    for field in ("start", "codes", "counts"):
        assert np.array_equal(getattr(there.groups, field), getattr(here.groups, field))


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "no quasi-identifiers are given"),
    ({"quasi": "agge"}, "no column 'agge'"),
    ({"quasi": "age", "metrics": "nccp"}, "no metric 'nccp'"),
    ({"quasi": "age", "metrics": []}, "no metric is asked for"),
    ({"quasi": "age", "memory": "1MB"}, "not enough"),
    ({"quasi": "age", "sensitive_table": "s.csv"}, "for a table in memory"),
    ({"quasi": "age", "original": pl.DataFrame({"age": [1]})}, "must be a file, too"),
    ({"quasi": "age", "original": "none.csv"}, "there is no file none.csv"),
    ({"quasi": "nothing"}, "missing in every row"),
]


@pytest.mark.parametrize(("known", "message"), BAD, ids=lambda v: v if isinstance(v, str) else "")
def test_bad_input(tmp_path: Path, known: dict[str, Any], message: str) -> None:
    frame = labels(people()).with_columns(nothing=pl.lit(None, dtype=pl.Int64))
    frame.write_parquet(path := tmp_path / "r.parquet")
    with pytest.raises(WideberthError, match=message) as caught:
        wb.measure(path, **{"memory": MEMORY, **known})
    assert caught.value.hint


def test_an_original_that_does_not_belong(tmp_path: Path) -> None:
    people().write_parquet(path := tmp_path / "r.parquet")
    people(9).write_parquet(small := tmp_path / "s.parquet")
    people().drop("job").write_parquet(narrow := tmp_path / "n.parquet")
    people(400).with_columns(age=pl.lit(99)).write_parquet(strange := tmp_path / "x.parquet")
    for before, message in (
        (small, "the release has 300 rows, the original only 9"),
        (narrow, "the original has no column 'job'"),
        (strange, "a value that the original does not have"),
    ):
        with pytest.raises(wb.TableError, match=message) as caught:
            wb.measure(path, **ROLES, original=before, memory=MEMORY)
        assert "row 1" not in caught.value.what


def test_more_groups_than_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people().write_parquet(path := tmp_path / "r.parquet")
    monkeypatch.setattr(measure_file, "_SHARE", 2**20)
    with pytest.raises(EngineError, match=r"more than \d+ groups"):
        wb.measure(path, **ROLES, memory=MEMORY)


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (spilled := tmp_path / "spill").mkdir()
    monkeypatch.setenv("WIDEBERTH_SPILL", str(spilled))
    io.write(people(), path := tmp_path / "r.csv")
    wb.measure(path, **ROLES, original=path, memory=MEMORY)
    assert not list(spilled.iterdir())


def test_a_larger_release(tmp_path: Path) -> None:
    original = datasets.census(4000, seed=1)
    release = wb.anonymize(
        original,
        quasi=["age", "zip", "sex"],
        sensitive="salary",
        insensitive=[c for c in original.columns if c not in ("age", "zip", "sex", "salary")],
        principles="epsilon-m:epsilon=2000,m=4",
        seed=3,
    )
    io.write(release.table, path := tmp_path / "r.parquet")
    io.write(original, before := tmp_path / "o.parquet")
    same(path, quasi=["age", "zip", "sex"], sensitive="salary", group="group", original=before)


@pytest.mark.parametrize("batch", [1, 2, 7, 131])
def test_groups_that_straddle_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """Rows arrive sorted, in batches; the rows of a group may begin in one and end in a later."""
    whole = FileSource.stream

    def cut(self: FileSource, query: str) -> Iterator[pl.DataFrame]:
        for frame in whole(self, query):
            yield from (frame[at : at + batch] for at in range(0, max(frame.height, 1), batch))

    release = labels(people()).with_columns(group=pl.int_range(pl.len()) // 3 % 90)
    release.write_parquet(path := tmp_path / "r.parquet")
    monkeypatch.setattr(FileSource, "stream", cut)
    assert same(path, **ROLES).groups == release.select(ROLES["quasi"]).n_unique() - 1
    assert same(path, **ROLES, group="group").groups == 90
    assert same(path, group="group").groups == 90
    by = ["age", "group", "pay"]
    with FileSource.opened(path, memory=2**29) as source:
        found = pl.concat(list(source.grouped(by[:2], by[2:], entries=5)))
        expected = release.group_by(by).agg(count=pl.len().cast(pl.Int64))
        assert found.sort(by).equals(expected.sort(by))
        found = pl.concat(list(source.grouped(by[:2], entries=5)))
        assert found["count"].sum() == release.height
        assert not found.select(by[:2]).is_duplicated().any()
