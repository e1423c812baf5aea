"""Which published boxes cover whom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from tests.labels.test_axes import AGES, TREE
from wideberth import datasets, io
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, TableError
from wideberth.labels import BoxCover, PublishedBoxes, PublishedQuasi


def test_release_and_original_must_belong_together() -> None:
    frame = pl.DataFrame({"age": ["20..34", "70..80"]})
    with pytest.raises(
        TableError, match=r"column 'age', row 2: a value that the original does not"
    ):
        PublishedBoxes.read(frame, ["age"], original=AGES.to_frame())
    with pytest.raises(TableError, match="row 1: a value"):
        PublishedBoxes.read(pl.DataFrame({"age": ["21"]}), ["age"], original=AGES.to_frame())
    with pytest.raises(TableError, match="the original has no column 'age'"):
        PublishedBoxes.read(frame, ["age"], original=pl.DataFrame({"aged": [1]}))
    with pytest.raises(TableError, match="the table has no column 'agee'"):
        PublishedBoxes.read(frame, ["agee"])
    with pytest.raises(ParameterError, match="no quasi-identifiers"):
        PublishedBoxes.read(frame, [])
    with pytest.raises(TableError, match="the table has no rows"):
        PublishedBoxes.read(frame.head(0), ["age"])
    with pytest.raises(TableError, match="holds lists"):
        PublishedBoxes.read(pl.DataFrame({"age": [[1, 2]]}), ["age"])


# ---- covering, against brute force


def brute(published: PublishedBoxes, original: bool) -> list[tuple[int, ...]]:
    """Compare every victim with every box."""
    axes = [axis for axis in published.axes if axis.read or not original]
    at = [i for i, axis in enumerate(published.axes) if axis.read or not original]

    def said(axis: PublishedQuasi, label: int) -> set[int]:
        runs = range(axis.start[label], axis.start[label + 1])
        found = {a for run in runs for a in range(axis.first[run], axis.last[run] + 1)}
        return found | {len(axis.atoms)} if axis.missing[label] else found

    boxes = [
        [said(axis, row[i]) for axis, i in zip(axes, at, strict=True)] for row in published.labels
    ]
    victims = boxes
    if original:
        victims = [
            [{int(axis.points[row])} for axis in axes]
            for row in range(published.original_rows or 0)
        ]
    return [
        tuple(
            number
            for number, box in enumerate(boxes)
            if all(inner <= outer for inner, outer in zip(victim, box, strict=True))
        )
        for victim in victims
    ]


def told(covering: BoxCover) -> dict[int, tuple[int, ...]]:
    lists = [
        tuple(covering.boxes[a:b].tolist())
        for a, b in zip(covering.start, covering.start[1:], strict=False)
    ]
    assert len(set(lists)) == len(lists)
    assert () not in lists
    lists.append(())  # for -1
    return {int(v): lists[s] for v, s in zip(covering.victims, covering.situation, strict=True)}


NUMBERS = st.one_of(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: f"{min(p)}..{max(p)}"),
    st.integers(0, 9).map(str),
    st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda p: f"{min(p)}..{max(p)} or missing"),
    st.just("*"),
    st.none(),
)


SETS = st.one_of(
    st.sets(st.sampled_from("abcdef"), min_size=2).map(lambda s: "{" + "|".join(sorted(s)) + "}"),
    st.sampled_from("abcdef"),
    st.sets(st.sampled_from("abcdef"), min_size=2).map(
        lambda s: "{" + "|".join(sorted(s)) + "} or missing"
    ),
    st.none(),
)


NODES = st.one_of(st.sampled_from(TREE.labels), st.none())


ROWS = st.lists(st.tuples(NUMBERS, SETS, NODES), min_size=1, max_size=30)


ORIGINALS = st.lists(
    st.tuples(
        st.one_of(st.integers(0, 9), st.none()),
        st.one_of(st.sampled_from("abcdef"), st.none()),
        st.one_of(st.sampled_from(TREE.leaves), st.none()),
    ),
    min_size=1,
    max_size=40,
)


EVERY = [(i, "abcdef"[i % 6], TREE.leaves[i % 4]) for i in range(10)] + [(None, None, None)]


def table(rows: list[tuple[object, ...]], **schema: object) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={**dict.fromkeys("nst", pl.String), **schema}, orient="row")


@given(rows=ROWS)
def test_covering_without_an_original(rows: list[tuple[object, ...]]) -> None:
    published = PublishedBoxes.read(table(rows), ["n", "s", "t"], hierarchies={"t": TREE})
    expected = dict(enumerate(brute(published, False)))
    assert told(published.covering(everyone=True)) == expected
    assert all(box in boxes for box, boxes in expected.items())


@given(rows=ROWS, people=ORIGINALS)
def test_covering_with_an_original(
    rows: list[tuple[object, ...]], people: list[tuple[object, ...]]
) -> None:
    original = table([*people, *EVERY], n=pl.Int64)
    published = PublishedBoxes.read(
        table(rows), ["n", "s", "t"], original=original, hierarchies={"t": TREE}
    )
    covering = published.covering()
    assert covering.exact
    assert told(covering) == dict(enumerate(brute(published, True)))


@given(rows=ROWS, people=ORIGINALS, most=st.integers(1, 40), seed=st.integers(0, 5))
def test_a_sample_stays_within_its_bounds(
    rows: list[tuple[object, ...]], people: list[tuple[object, ...]], most: int, seed: int
) -> None:
    original = table([*people, *EVERY], n=pl.Int64)
    published = PublishedBoxes.read(
        table(rows), ["n", "s", "t"], original=original, hierarchies={"t": TREE}
    )
    covering = published.covering(most=most, seed=seed)
    expected = brute(published, True)
    assert covering.of == len(expected)
    assert covering.exact == (len(covering.victims) == len(expected))
    found = told(covering)
    assert found == {victim: expected[victim] for victim in found}
    assert sum(map(len, set(found.values()))) <= most or len(found) == 1
    again = published.covering(most=most, seed=seed)
    assert again.victims.tolist() == covering.victims.tolist()


@given(rows=ROWS, data=st.data())
def test_pooled_histograms(rows: list[tuple[object, ...]], data: st.DataObject) -> None:
    published = PublishedBoxes.read(table(rows), ["n", "s", "t"], hierarchies={"t": TREE})
    covering = published.covering()
    codes = [
        data.draw(st.lists(st.integers(0, 40), min_size=1, max_size=6))
        for _ in range(published.boxes.count)
    ]
    pooled = covering.pooled(Groups.of(codes, width=41))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wideberth.labels.cover._ROOM", 1)  # so it runs out
        again = covering.pooled(Groups.of(codes, width=41))
    assert [again.start.tolist(), again.codes.tolist(), again.counts.tolist()] == [
        pooled.start.tolist(),
        pooled.codes.tolist(),
        pooled.counts.tolist(),
    ]
    for situation in range(len(covering)):
        boxes = covering.boxes[covering.start[situation] : covering.start[situation + 1]]
        assert pooled.rows(situation).tolist() == sorted(c for box in boxes for c in codes[box])


def test_what_cannot_be_read_excludes_nobody() -> None:
    frame = pl.DataFrame({"age": ["young", "old"], "sex": ["f", "m"]})
    original = pl.DataFrame({"age": [20, 60], "sex": ["f", "m"]})
    both = PublishedBoxes.read(frame, ["age", "sex"], original=original)
    assert told(both.covering()) == {0: (1,), 1: (0,)} or told(both.covering()) == {
        0: (0,),
        1: (1,),
    }
    alone = PublishedBoxes.read(frame, ["age"], original=original)
    assert told(alone.covering()) == {0: (0, 1), 1: (0, 1)}


# ---- real releases


def covers_everybody(published: PublishedBoxes) -> None:
    assert all(axis.read for axis in published.axes)
    covering = published.covering()
    assert covering.exact
    suppressed = covering.of - published.rows if published.original_rows else 0
    assert (covering.situation < 0).sum() <= suppressed


SAL = datasets.sal(3000)


QUASI = ["age", "birthplace", "occupation"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"recoding": "bounds"},
        {"recoding": "set"},
        {"align": {"age": 5}},
        {"hierarchies": {"age": {"interval": [5, 10, 20]}}},
        {
            "algorithm": "lattice",
            "suppression_limit": 0.05,
            "hierarchies": {
                "age": {"interval": [5, 10, 20]},
                "birthplace": {"mask": 3},
                "occupation": {"interval": [50, 100]},
            },
        },
    ],
    ids=["intervals", "bounds", "sets", "grid", "nodes", "lattice"],
)
def test_a_release_covers_everybody(tmp_path: Path, ending: str, how: dict[str, Any]) -> None:
    lacking = pl.when(pl.int_range(pl.len()) % 37 == 0).then(None).otherwise(pl.col("age"))
    table = SAL.with_columns(lacking.alias("age"))
    release = wb.anonymize(
        table, quasi=QUASI, sensitive="income", principles="k-anonymity:k=5", **how
    )
    path = tmp_path / f"release.{ending}"
    release.save(path)
    frame = io.read(path)
    hierarchies = how.get("hierarchies")
    covers_everybody(PublishedBoxes.read(frame, QUASI, original=table, hierarchies=hierarchies))
    covers_everybody(PublishedBoxes.read(frame, QUASI, hierarchies=hierarchies))


def test_other_tools() -> None:
    folder = Path(__file__).parents[1] / "peers"
    original = io.read(folder / "people.csv")
    for path in [*sorted(folder.glob("a*.csv")), folder / "sdcmicro.csv"]:
        frame = io.read(path)
        quasi = [name for name in ("age", "zip", "sex", "education") if name in frame.columns]
        for known in (None, original):
            published = PublishedBoxes.read(frame, quasi, original=known)
            unread = [axis.name for axis in published.axes if not axis.read]
            means = known is not None and path.stem == "arx_microaggregated"
            assert unread == (["age"] if means else []), path.stem
            covering = published.covering()
            assert covering.exact
            if "anjana" not in path.stem:  # it writes [20, 40) for people from 21 to 40
                assert (covering.situation >= 0).all(), path.stem
