"""Count queries: against counting by hand, over joined tables, and over all cells of boxes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import isnan
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wideberth as wb
from wideberth import datasets
from wideberth.core.codes import Column, Domain
from wideberth.core.groups import Groups
from wideberth.errors import ParameterError, TableError
from wideberth.hierarchy import Hierarchy
from wideberth.labels import PublishedBoxes
from wideberth.utility.queries import query_error
from wideberth.utility.workload import (
    QueryError,
    Workload,
    anatomy_answers,
    answers,
    box_answers,
    relative_errors,
)

# ---- slow twins: rows are tuples of codes, the sensitive one last


def matches(row: Sequence[int], workload: Workload, query: int) -> bool:
    ends = zip(workload.first[query], workload.last[query], strict=True)
    return all(a <= code <= b for code, (a, b) in zip(row, ends, strict=True))


def actual(rows: Sequence[Sequence[int]], workload: Workload) -> list[int]:
    return [sum(matches(row, workload, q) for row in rows) for q in range(len(workload))]


def joined(
    rows: Sequence[Sequence[int]], labels: Sequence[int]
) -> list[tuple[tuple[int, ...], Fraction]]:
    """Join the two published tables: every row with every value of its group, and how likely."""
    view = []
    for row, group in zip(rows, labels, strict=True):
        values = [r[-1] for r, g in zip(rows, labels, strict=True) if g == group]
        for value, count in Counter(values).items():
            view.append(((*row[:-1], value), Fraction(count, len(values))))
    return view


def expected(
    rows: Sequence[Sequence[int]], labels: Sequence[int], workload: Workload
) -> list[Fraction]:
    view = joined(rows, labels)
    return [
        sum((p for row, p in view if matches(row, workload, q)), Fraction(0))
        for q in range(len(workload))
    ]


# ---- random tables

SIZES = [4, 3, 5]


@st.composite
def anatomies(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], list[int], Workload]:
    """Draw rows, their groups, and queries."""
    cell = st.tuples(*(st.integers(0, size - 1) for size in SIZES))
    rows = draw(st.lists(cell, min_size=1, max_size=25))
    drawn = draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    names = sorted(set(drawn))
    workload = Workload.draw(
        SIZES,
        dimensions=draw(st.integers(1, 3)),
        volume=draw(st.sampled_from([0.01, 0.1, 0.3, 0.7, 1])),
        queries=6,
        seed=draw(st.integers(0, 1000)),
    )
    return rows, [names.index(name) for name in drawn], workload


def published(
    rows: Sequence[Sequence[int]], labels: Sequence[int]
) -> tuple[list[Any], np.ndarray[Any, Any], Groups]:
    values = [
        [r[-1] for r, g in zip(rows, labels, strict=True) if g == group]
        for group in range(max(labels) + 1)
    ]
    *quasi, _ = np.array(rows, dtype=np.int32).T
    return quasi, np.array(labels, dtype=np.int32), Groups.of(values, SIZES[-1])


@given(anatomies())
def test_answers(drawn: tuple[list[tuple[int, ...]], list[int], Workload]) -> None:
    rows, _, workload = drawn
    *quasi, sensitive = np.array(rows, dtype=np.int32).T
    assert answers(workload, quasi, sensitive).tolist() == actual(rows, workload)


@given(anatomies())
def test_estimates_by_an_explicit_join(
    drawn: tuple[list[tuple[int, ...]], list[int], Workload],
) -> None:
    rows, labels, workload = drawn
    found = anatomy_answers(workload, *published(rows, labels))
    assert found.tolist() == pytest.approx([float(x) for x in expected(rows, labels, workload)])


@given(anatomies())
def test_exact_if_each_group_has_one_value(
    drawn: tuple[list[tuple[int, ...]], list[int], Workload],
) -> None:
    rows, _, workload = drawn
    present = sorted({row[-1] for row in rows})
    labels = [present.index(row[-1]) for row in rows]
    found = anatomy_answers(workload, *published(rows, labels))
    assert found.tolist() == actual(rows, workload)


@given(anatomies())
def test_exact_if_a_query_asks_for_all_sensitive_values(
    drawn: tuple[list[tuple[int, ...]], list[int], Workload],
) -> None:
    rows, labels, workload = drawn
    workload.first[:, -1], workload.last[:, -1] = 0, SIZES[-1] - 1
    found = anatomy_answers(workload, *published(rows, labels))
    assert found.tolist() == actual(rows, workload)


@given(anatomies())
def test_a_group_that_matches_as_a_whole_is_counted_exactly(
    drawn: tuple[list[tuple[int, ...]], list[int], Workload],
) -> None:
    """Without conditions on quasi-identifiers, only the counts of sensitive values matter."""
    rows, labels, workload = drawn
    workload.first[:, :-1], workload.last[:, :-1] = 0, np.array(SIZES[:-1]) - 1
    found = anatomy_answers(workload, *published(rows, labels))
    assert found.tolist() == pytest.approx(actual(rows, workload))


def test_more_rows_than_one_block_and_a_group_larger_than_one() -> None:
    rng = np.random.default_rng(5)
    many = 150_000
    labels = np.where(rng.random(many) < 0.4, 0, rng.integers(1, 30_000, many))
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    quasi = [rng.integers(0, size, many).astype(np.int32) for size in (300, 7)]
    sensitive = rng.integers(0, 40, many).astype(np.int32)
    workload = Workload.draw([300, 7, 40], queries=5, seed=3)
    table = pl.DataFrame({"group": labels, "a": quasi[0], "b": quasi[1], "s": sensitive})
    counts = table.group_by("group", "s").len().sort("group", "s")
    groups = Groups(
        start=np.searchsorted(counts["group"].to_numpy(), np.arange(labels.max() + 2)),
        codes=counts["s"].to_numpy().astype(np.int64),
        counts=counts["len"].to_numpy().astype(np.int64),
        width=40,
    )
    sizes = np.bincount(labels)
    for q, (act, est) in enumerate(
        zip(
            answers(workload, quasi, sensitive),
            anatomy_answers(workload, quasi, labels, groups),
            strict=True,
        )
    ):
        (a, b, s), (c, d, t) = workload.first[q], workload.last[q]
        people = table.filter(pl.col("a").is_between(a, c), pl.col("b").is_between(b, d))
        values = table.filter(pl.col("s").is_between(s, t))
        assert act == people.filter(pl.col("s").is_between(s, t)).height
        here = np.bincount(people["group"], minlength=len(sizes))
        there = np.bincount(values["group"], minlength=len(sizes))
        assert est == pytest.approx(float((here * there / sizes).sum()))


# ---- the generator


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=5),
    st.sampled_from([0.001, 0.008, 0.027, 0.1, 0.25, 0.3, 0.81, 0.9, 1]),
    st.data(),
)
def test_intervals(sizes: list[int], volume: float, data: st.DataObject) -> None:
    w = data.draw(st.integers(1, len(sizes)))
    workload = Workload.draw(sizes, dimensions=w, volume=volume, queries=40, seed=1)
    assert len(workload) == 40
    assert (workload.asked.sum(axis=1) == w).all()
    assert workload.asked[:, -1].all()
    assert (workload.first >= 0).all()
    assert (workload.last < sizes).all()
    s = Fraction(str(volume))
    for length, asked in zip(
        (workload.last - workload.first + 1).tolist(), workload.asked.tolist(), strict=True
    ):
        for size, many, chosen in zip(sizes, length, asked, strict=True):
            # The largest whole number up to |A| s^(1/w), in integers.
            by_hand = max(n for n in range(size + 1) if n**w <= size**w * s)
            assert many == (max(by_hand, 1) if chosen else size)


def test_places_and_attributes_are_spread_evenly() -> None:
    workload = Workload.draw([10, 10, 10, 10], dimensions=2, volume=0.25, queries=6000)
    shares = workload.asked[:, :-1].mean(axis=0)
    assert shares == pytest.approx([1 / 3] * 3, abs=0.03)
    places = np.bincount(workload.first[:, -1], minlength=6) / 6000
    assert places == pytest.approx([1 / 6] * 6, abs=0.03)  # five of ten codes: six places


def test_equal_seeds_give_equal_queries() -> None:
    one, same, other = (Workload.draw([9, 30, 50], seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.first, same.first)
    assert np.array_equal(one.last, same.last)
    assert not np.array_equal(one.first, other.first)
    assert len(one) == 1000


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dimensions": 4}, "4 dimensions does not fit 3 attributes"),
        ({"dimensions": 0}, "0 dimensions"),
        ({"volume": 0}, "volume must be a number above 0 to 1, not 0"),
        ({"volume": 1.1}, "volume"),
        ({"volume": float("nan")}, "volume"),
        ({"queries": 0}, "at least one query"),
    ],
)
def test_impossible_workloads(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Workload.draw([3, 3, 3], **wrong)


# ---- errors


def test_relative_errors_leave_out_empty_answers() -> None:
    act, est = np.array([4, 0, 2, 10, 0]), np.array([5.0, 1.0, 2.0, 5.0, 0.0])
    assert relative_errors(act, est).tolist() == [0.25, 0, 0.5]
    error = QueryError.of(act, est)
    assert (error.queries, error.left_out) == (5, 2)
    assert (error.mean, error.median) == (0.25, 0.25)
    assert error.quantiles[0.75] == 0.375
    assert json.loads(json.dumps(error.to_dict())) == error.to_dict()
    assert error.to_dict()["quantiles"]["0.75"] == 0.375


def test_no_query_has_an_answer() -> None:
    error = QueryError.of(np.array([0, 0]), np.array([0.0, 1.0]))
    assert error.left_out == 2
    assert isnan(error.mean)
    assert isnan(error.median)
    told = error.to_dict()
    assert told["mean"] is told["median"] is None
    assert set(told["quantiles"].values()) == {None}


# ---- tables

QUASI = ["age", "sex", "zip"]
PEOPLE = datasets.wang2013_table1()
EXACT = datasets.wang2013_table4()
COUNTED = datasets.wang2013_table5().group_by("group", "disease", maintain_order=True).len("count")


def measured(**changed: Any) -> QueryError:
    given: dict[str, Any] = {
        "table": PEOPLE,
        "quasi": QUASI,
        "sensitive": "disease",
        "quasi_table": EXACT,
        "sensitive_table": COUNTED,
        "volume": 0.3,
        "queries": 200,
    }
    return query_error(**{**given, **changed})


def by_hand(people: pl.DataFrame, exact: pl.DataFrame, counted: pl.DataFrame) -> QueryError:
    """The same through codes looked up one by one, in the original's own order of values."""
    names = [*QUASI, "disease"]
    domains = [
        sorted(set(people[name]), key=lambda value: (value is None, value)) for name in names
    ]
    workload = Workload.draw([len(d) for d in domains], volume=0.3, queries=200)
    rows = [
        [d.index(value) for d, value in zip(domains, row, strict=True)]
        for row in people.select(names).rows()
    ]
    estimates = []
    for q in range(len(workload)):
        total = Fraction(0)
        for *quasi, group in exact.select(*QUASI, "group").rows():
            values = counted.filter(pl.col("group").eq_missing(group))
            for value, count in values.select("disease", "count").rows():
                cells = [*quasi, value]
                row = [d.index(cell) for d, cell in zip(domains, cells, strict=True)]
                if matches(row, workload, q):
                    total += Fraction(count, values["count"].sum())
        estimates.append(float(total))
    return QueryError.of(np.array(actual(rows, workload)), np.array(estimates))


def close(one: QueryError, other: QueryError) -> bool:
    return (one.queries, one.left_out) == (other.queries, other.left_out) and (
        [one.mean, one.median, *one.quantiles.values()]
        == pytest.approx([other.mean, other.median, *other.quantiles.values()])
    )


def test_tables_4_and_5_of_wang_2013() -> None:
    error = measured()
    assert close(error, by_hand(PEOPLE, EXACT, COUNTED))
    assert 0 < error.left_out < error.queries


def test_suppressed_rows_take_their_values_along() -> None:
    """Without the third group some values are published nowhere; codes stay the original's."""
    exact, counted = (t.filter(pl.col("group") != 3) for t in (EXACT, COUNTED))
    error = measured(quasi_table=exact, sensitive_table=counted)
    assert close(error, by_hand(PEOPLE, exact, counted))


def test_missing_values_are_a_code_of_their_own() -> None:
    people = PEOPLE.with_columns(
        age=pl.when(pl.col("age") != 42).then("age"),
        disease=pl.when(pl.col("disease") != "Cancer").then("disease"),
    )
    exact = EXACT.with_columns(age=pl.when(pl.col("age") != 42).then("age"))
    counted = COUNTED.with_columns(
        disease=pl.when(pl.col("disease") != "Cancer").then("disease"),
    )
    error = measured(table=people, quasi_table=exact, sensitive_table=counted)
    assert close(error, by_hand(people, exact, counted))


def test_exact_if_everybody_is_a_group() -> None:
    alone = PEOPLE.select(*QUASI, group=pl.col("tuple"))
    values = PEOPLE.select("disease", group=pl.col("tuple"), count=pl.lit(1))
    error = measured(quasi_table=alone, sensitive_table=values)
    assert (error.mean, error.quantiles[0.95]) == (0, 0)
    # The others are suppressed, and missed by whoever asks for them.
    assert measured(quasi_table=alone.head(6), sensitive_table=values.head(6)).mean > 0


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.to_pandas(),
        lambda t: t.to_arrow(),
        lambda t: t.with_columns(pl.all().cast(pl.String)),  # as read from a file
        lambda t: t.with_columns(pl.col(pl.Int64).cast(pl.Int32)),
        lambda t: t.with_columns(pl.col(pl.Int64).cast(pl.Float64)),
        lambda t: t.with_columns(pl.col(pl.String).cast(pl.Categorical)),
        lambda t: t.sample(fraction=1, shuffle=True, seed=1),
    ],
)
def test_kinds_of_tables_and_columns_do_not_matter(change: Any) -> None:
    assert close(measured(), measured(quasi_table=change(EXACT), sensitive_table=change(COUNTED)))
    assert close(measured(), measured(table=change(PEOPLE)))


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt64, pl.Float64, pl.String])
def test_counts_of_any_type(dtype: Any) -> None:
    typed = COUNTED.with_columns(pl.col("count").cast(dtype))
    assert close(measured(), measured(sensitive_table=typed))
    lacking = typed.with_columns(count=pl.when(pl.col("disease") != "Flu").then("count"))
    with pytest.raises(TableError, match="row 1: not a number of rows"):
        measured(sensitive_table=lacking)


def test_intervals_beyond_all_codes_that_are_published() -> None:
    """Codes are held in 8 bits where they fit; the ends of an interval need not."""
    workload = Workload(
        first=np.array([[300, 0], [0, 300], [3, 3]]),
        last=np.array([[400, 400], [400, 400], [400, 400]]),
        asked=np.ones((3, 2), dtype=bool),
    )
    codes = np.array([2, 3, 4, 5], dtype=np.int32)
    assert answers(workload, [codes], codes).tolist() == [0, 0, 3]
    groups = Groups.of([[2, 3], [4, 5]], width=401)
    labels = np.array([0, 0, 1, 1], dtype=np.int32)
    assert anatomy_answers(workload, [codes], labels, groups).tolist() == [0, 0, 2.5]


def test_a_value_on_several_lines_is_added_up() -> None:
    lines = datasets.wang2013_table5().with_columns(count=pl.lit(1))
    assert close(measured(), measured(sensitive_table=lines))


def test_one_quasi_identifier_and_other_names() -> None:
    exact = EXACT.select("age", bucket="group")
    counted = COUNTED.rename({"group": "bucket"})
    error = measured(
        quasi="age",
        quasi_table=exact,
        sensitive_table=counted,
        group="bucket",
        dimensions=2,
    )
    again = measured(quasi=["age"], dimensions=2)
    assert close(error, again)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"sensitive": "diseas"}, "the original has no column 'diseas'"),
        ({"group": "bucket"}, "the table of quasi-identifiers has no column 'bucket'"),
        (
            {"quasi_table": datasets.wang2013_table4(as_printed=True)},
            "the table of quasi-identifiers: column 'zip', row 6: a value that the original does",
        ),
        (
            {"quasi_table": EXACT.with_columns(age=pl.lit("young"))},
            "the table of quasi-identifiers: column 'age', row 1: not an integer",
        ),
        (
            {"sensitive_table": COUNTED.with_columns(group=pl.lit(7))},
            r"4 groups do not have as many rows .* \(the first is group 1\)",
        ),
        ({"quasi_table": EXACT.head(8)}, "1 group does not have as many rows"),
        ({"sensitive_table": COUNTED.head(8)}, "1 group does not have as many rows"),
        (
            {"sensitive_table": COUNTED.with_columns(count=pl.lit(-1))},
            "the table of sensitive values: column 'count', row 1: not a number of rows",
        ),
        (
            {"sensitive_table": COUNTED.with_columns(count=None)},
            "the table of sensitive values: column 'count', row 1: not a number of rows",
        ),
    ],
)
def test_tables_that_do_not_belong_together(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(TableError, match=said):
        measured(**wrong)


def test_columns_that_cannot_be_compared() -> None:
    people = PEOPLE.with_columns(age=pl.col("age").cast(pl.Duration("us")))
    exact = EXACT.with_columns(age=pl.col("age").cast(pl.Date))
    with pytest.raises(TableError, match="'age' has different types in the original and"):
        measured(table=people, quasi_table=exact)


def test_a_column_named_twice() -> None:
    with pytest.raises(ParameterError, match="named twice"):
        measured(quasi=["age", "disease"])


# ---- generalised tables

JOBS = Hierarchy.build(["*", "office", "clerk", "kitchen", "cook", "nurse"], [-1, 0, 1, 0, 3, 3])
ATOMS: dict[str, list[Any]] = {
    "age": [1, 2, 3, 5, 8, None],
    "job": ["clerk", "cook", "nurse"],
    "sex": ["a", "b", "c"],
}
LABELS: dict[str, dict[str | None, list[Any]]] = {
    "age": {
        "1": [1],
        "1..4": [1, 2, 3],
        "3..8": [3, 5, 8],
        None: [None],
        "2..5 or missing": [2, 3, 5, None],
        "*": ATOMS["age"],
    },
    "job": {"cook": ["cook"], "kitchen": ["cook", "nurse"], "*": ATOMS["job"]},
    "sex": {"a": ["a"], "{a|c}": ["a", "c"], "{a|b|c}": ATOMS["sex"]},
}
EVERYBODY = pl.DataFrame(
    {
        "age": [1, 2, 3, 5, 8, None],
        "job": ["clerk", "cook", "nurse"] * 2,
        "sex": ["a", "b", "c"] * 2,
        "pay": [0, 1, 2, 3, 0, 1],
    }
)


def boxes_of(release: pl.DataFrame) -> tuple[PublishedBoxes, Groups]:
    published = PublishedBoxes.read(
        release, list(ATOMS), original=EVERYBODY, hierarchies={"job": JOBS}, types={}
    )
    codes = release["pay"].to_numpy().astype(np.int32)
    domain = Domain(name="pay", histogram=np.bincount(codes, minlength=4))
    return published, published.boxes.histograms(Column(codes, domain))


@st.composite
def generalised(draw: st.DrawFn) -> tuple[pl.DataFrame, Workload]:
    row = st.tuples(*(st.sampled_from(list(said)) for said in LABELS.values()), st.integers(0, 3))
    rows = draw(st.lists(row, min_size=1, max_size=15))
    workload = Workload.draw(
        [*map(len, ATOMS.values()), 4],
        dimensions=draw(st.integers(1, 4)),
        volume=draw(st.sampled_from([0.01, 0.1, 0.3, 0.7, 1])),
        queries=6,
        seed=draw(st.integers(0, 1000)),
    )
    schema = {"age": pl.String, "job": pl.String, "sex": pl.String, "pay": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row"), workload


@given(generalised())
def test_boxes_by_all_their_cells(drawn: tuple[pl.DataFrame, Workload]) -> None:
    """Spread each row over the cells that its labels cover, and count those that match."""
    release, workload = drawn
    estimates = []
    for query in range(len(workload)):
        total = Fraction(0)
        for *labels, pay in release.rows():
            inside = [
                [ATOMS[name].index(value) for value in LABELS[name][label]]
                for name, label in zip(ATOMS, labels, strict=True)
            ]
            cells = list(product(*inside))
            hits = sum(matches((*cell, pay), workload, query) for cell in cells)
            total += Fraction(hits, len(cells))
        estimates.append(float(total))
    assert box_answers(workload, *boxes_of(release)).tolist() == pytest.approx(estimates)


def test_what_is_published_as_it_was_has_no_error() -> None:
    people = datasets.sal(2000, seed=1)
    quasi = ["age", "birthplace", "occupation"]
    error = query_error(people, quasi, "income", release=people, queries=300)
    assert error.mean == pytest.approx(0, abs=1e-12)
    assert error.left_out < 300


def test_one_box_is_spread_evenly() -> None:
    """Everybody in one box: the share of the domain that a query asks for, times its values."""
    people = datasets.sal(500, seed=1).select("age", "income")
    ages, incomes = people["age"].unique().sort(), people["income"].unique().sort()
    release = people.with_columns(age=pl.lit("*"))
    error = query_error(people, "age", "income", release=release, dimensions=2, queries=200)
    workload = Workload.draw([len(ages), len(incomes)], dimensions=2, queries=200)
    actual, estimate = [], []
    for query in range(200):
        low, high = workload.first[query], workload.last[query]
        within = people.filter(
            pl.col("income").is_between(incomes[int(low[1])], incomes[int(high[1])])
        )
        estimate.append(within.height * (high[0] - low[0] + 1) / len(ages))
        actual.append(
            within.filter(pl.col("age").is_between(ages[int(low[0])], ages[int(high[0])])).height
        )
    assert close(error, QueryError.of(np.array(actual), np.array(estimate)))


@pytest.mark.parametrize("recoding", ["interval", "bounds", "set"])
def test_a_release_of_ours(recoding: str) -> None:
    """However it is written, it says the same; sets say a little more."""
    people = datasets.sal(1500, seed=2).drop("occupation")
    release = wb.anonymize(
        people,
        quasi=["age", "birthplace"],
        sensitive="income",
        principles="k-anonymity:k=5",
        recoding=recoding,
        seed=1,
    )
    error = query_error(people, release=release, dimensions=2, queries=200)
    named = query_error(
        people, ["age", "birthplace"], "income", release=release.table, dimensions=2, queries=200
    )
    assert error == named
    assert 0 < error.median < 0.2


def test_an_anatomy_object() -> None:
    people = PEOPLE.select(*QUASI, "disease")
    release = wb.anonymize(
        people,
        quasi=QUASI,
        sensitive="disease",
        principles="frequency-l:l=2",
        algorithm="anatomy",
        seed=1,
    )
    assert query_error(people, release=release, queries=50) == release.query_error(
        people, queries=50
    )


def test_what_must_be_said() -> None:
    with pytest.raises(ParameterError, match="in one way"):
        query_error(PEOPLE, QUASI, "disease")
    with pytest.raises(ParameterError, match="in one way"):
        measured(release=PEOPLE)
    with pytest.raises(ParameterError, match="must be named"):
        query_error(PEOPLE, release=PEOPLE)
    with pytest.raises(TableError, match="the release has no column 'disease'"):
        query_error(PEOPLE, QUASI, "disease", release=PEOPLE.drop("disease"))
    other = PEOPLE.with_columns(disease=pl.lit("boredom"))
    with pytest.raises(TableError, match="the release: column 'disease', row 1: a value that"):
        query_error(PEOPLE, QUASI, "disease", release=other)


def test_a_release_knows_its_hierarchies_and_types() -> None:
    rng = np.random.default_rng(0)
    people = pl.DataFrame(
        {
            "age": rng.integers(20, 70, 60).astype(str),
            "job": rng.choice(["clerk", "cook", "nurse"], 60),
            "pay": rng.integers(0, 9, 60),
        }
    )
    known: dict[str, Any] = {"hierarchies": {"job": JOBS}, "types": {"age": "integer"}}
    asked: dict[str, Any] = {"quasi": ["age", "job"], "sensitive": "pay"}
    release = wb.anonymize(people, **asked, **known, principles="k-anonymity:k=5", seed=1)
    with pytest.raises(TableError, match="'job' could not be understood"):
        wb.query_error(people, **asked, release=release.table)
    said = wb.query_error(people, **asked, **known, release=release.table)
    assert wb.query_error(people, release=release) == said


def test_the_module_is_found_by_its_name():
    import wideberth as wb

    assert wb.workload.Workload is Workload
    assert "ncp" in wb.metrics.METRICS
    assert {"datasets", "metrics", "workload"} <= set(dir(wb))
