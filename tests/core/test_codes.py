"""Codes stand for values, in order, a missing one last, whatever the order of the rows."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wideberth.core.codes import Column, compress, encode, join_columns
from wideberth.errors import TableError

_DTYPES: dict[Any, st.SearchStrategy[Any]] = {
    pl.Int64: st.one_of(st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1)),
    pl.Int8: st.integers(-128, 127),
    pl.UInt64: st.one_of(st.integers(0, 5), st.integers(2**63, 2**64 - 1)),
    pl.Float64: st.floats(allow_nan=False, allow_infinity=False),
    pl.Decimal(20, 2): st.decimals(-(10**6), 10**6, places=2),
    pl.Boolean: st.booleans(),
    pl.String: st.text(max_size=3),
    pl.Date: st.dates(),
    pl.Datetime("us"): st.datetimes(),
    pl.Time: st.times(),
}


@st.composite
def series(draw: st.DrawFn) -> pl.Series:
    dtype = draw(st.sampled_from(list(_DTYPES)))
    pool = draw(st.lists(_DTYPES[dtype], min_size=1, max_size=5))
    cells = draw(st.lists(st.sampled_from([*pool, None]), min_size=1, max_size=12))
    return pl.Series("s", cells, dtype=dtype)


def decoded(column: Column) -> list[Any]:
    values = column.domain.values.to_list()
    return [None if code == column.domain.missing else values[code] for code in column.codes]


@given(series())
@example(pl.Series("s", [None, None], dtype=pl.Int64))
@example(pl.Series("s", [None], dtype=pl.String))
@example(pl.Series("s", [None], dtype=pl.Boolean))
@example(pl.Series("s", [2**63 + 5, 2**63 + 6], dtype=pl.UInt64))
@example(pl.Series("s", [-(2**63), 2**63 - 1], dtype=pl.Int64))
@example(pl.Series("^s$", ["a", "", None], dtype=pl.String))
def test_codes_round_trip(cells: pl.Series) -> None:
    column = encode(cells)
    domain = column.domain
    assert column.codes.dtype == np.int32
    assert decoded(column) == cells.to_list()
    assert domain.values.dtype == cells.dtype
    values = domain.values.to_list()
    assert values == sorted(set(values))
    assert domain.histogram.tolist() == [
        *(cells.to_list().count(v) for v in values),
        *([cells.null_count()] if cells.null_count() else []),
    ]
    assert domain.missing == (len(values) if cells.null_count() else None)
    assert (domain.known, domain.size) == (len(values), len(domain.histogram))


@given(series(), st.randoms(use_true_random=False))
def test_row_order_only_orders_rows(cells: pl.Series, random: Any) -> None:
    order = list(range(len(cells)))
    random.shuffle(order)
    before, after = encode(cells), encode(cells[order])
    assert after.codes.tolist() == before.codes[order].tolist()
    assert after.domain.values.to_list() == before.domain.values.to_list()
    assert after.domain.histogram.tolist() == before.domain.histogram.tolist()


@given(series())
def test_codes_of_values_as_a_user_writes_them(cells: pl.Series) -> None:
    domain = encode(cells).domain
    assert [domain.code_of(text) for text in domain.texts] == list(range(domain.known))
    assert [domain.code_of(value) for value in domain.values] == list(range(domain.known))
    assert domain.code_of("no such value") is None


def test_both_ways_to_encode_integers_agree() -> None:
    """A small range is counted into a table, a large one searched."""
    narrow = [3, None, -7, 3, 0]
    wide = [v * 10**9 if v is not None else None for v in narrow]
    assert encode(pl.Series(narrow)).codes.tolist() == encode(pl.Series(wide)).codes.tolist()
    assert encode(pl.Series(wide)).domain.texts == ["-7000000000", "0", "3000000000"]


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_none_is_refused_by_row(bad: float) -> None:
    with pytest.raises(TableError, match="row 3") as error:
        encode(pl.Series("s", [1.0, None, bad]))
    assert "infinite" in error.value.what or "NaN" in error.value.what


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.booleans())
def test_compress(key: list[int], sparse: bool) -> None:
    """Counted into a table if the keys are bounded well, sorted if not."""
    present, place = compress(np.array(key), 10**9 if sparse else 10)
    assert present.tolist() == sorted(set(key))
    assert [present[p] for p in place] == key


cell = st.sampled_from(["a", "b", "c", None])


@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.tuples(*[cell] * n), min_size=1, max_size=9))
)
def test_join(rows: list[tuple[str | None, ...]]) -> None:
    parts = [
        encode(pl.Series(f"s{i}", list(column), dtype=pl.String))
        for i, column in enumerate(zip(*rows, strict=True))
    ]
    joint = join_columns("joint", parts)
    assert joint.domain.parts is not None
    cells = [
        tuple(
            None if code == part.domain.missing else part.domain.texts[code]
            for part, code in zip(parts, line, strict=True)
        )
        for line in joint.domain.parts
    ]
    assert [cells[code] for code in joint.codes] == rows
    assert len(set(cells)) == len(cells)
    assert joint.domain.histogram.tolist() == [rows.count(c) for c in cells]
    lacking = (None,) * len(parts)
    assert joint.domain.missing == (cells.index(lacking) if lacking in rows else None)
    assert joint.domain.missing in (None, len(cells) - 1)


def test_vectors_share_one_unit() -> None:
    cells = [[0.5, 0.25], None, [0.1, 0.9]]
    domain = encode(pl.Series("p", cells, dtype=pl.List(pl.Float64))).domain
    vectors = domain.vectors()
    assert (domain.known, domain.missing) == (2, 2)
    assert (vectors.units.tolist(), vectors.per) == ([[10, 90], [50, 25]], 100)


def test_a_vector_is_whole_or_missing() -> None:
    with pytest.raises(TableError, match="row 2"):
        encode(pl.Series("p", [[0.5, 0.5], [1.0]]))
    with pytest.raises(TableError, match="lack the component"):
        encode(pl.Series("p", [[0.5, 0.5], [1.0, None]])).domain.vectors()


def test_vectors_that_are_all_missing() -> None:
    column = encode(pl.Series("p", [None, None], dtype=pl.List(pl.Float64)))
    assert (column.domain.known, column.domain.missing) == (0, 0)
    assert column.codes.tolist() == [0, 0]


MIDNIGHT, NOON = dt.datetime(2024, 3, 5), dt.datetime(2024, 3, 5, 12)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_dates_that_users_write_are_moments(unit, zone):
    """A date is midnight of its column's time zone, however it is written."""
    series = pl.Series("s", [NOON, MIDNIGHT]).cast(pl.Datetime(unit))
    domain = encode(series if zone is None else series.dt.replace_time_zone(zone)).domain
    for value in (MIDNIGHT.date(), MIDNIGHT, "2024-03-05", "05.03.2024", "2024-03-05 00:00"):
        assert domain.code_of(value) == 0
    for value in (NOON, "2024-03-05T12:00:00", "2024-03-05 12:00:00.000"):
        assert domain.code_of(value) == 1
    for value in ("2024-03-06", "2024-03-05 12:00:00.000001", "noon", "2024-13-05", 5):
        assert domain.code_of(value) is None
    if zone == "America/New_York":
        assert domain.code_of("2024-03-05T17:00:00+00:00") == 1
    assert zone is not None or domain.code_of("2024-03-05T12:00:00+00:00") is None


def test_a_moment_is_a_date_only_at_midnight():
    domain = encode(pl.Series("s", [MIDNIGHT.date()])).domain
    assert [domain.code_of(value) for value in (MIDNIGHT, NOON, "5.3.2024")] == [0, None, None]
