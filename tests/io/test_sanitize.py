"""What is published holds its own values, and nothing that it was made from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wideberth.io.sanitize import sanitized_series, sanitized_table

HIDDEN = "somebody else"


def buffers(series: pl.Series) -> bytes:
    """All bytes behind a column."""
    arrays = pa.chunked_array([series.to_arrow(compat_level=pl.CompatLevel.oldest())]).chunks
    return b"".join(bytes(b) for array in arrays for b in array.buffers() if b is not None)


def hidden(kind: pl.DataType) -> pl.Series:
    """A text that is missing by now; polars leaves its letters where they were."""
    frame = pl.DataFrame({"s": ["a", HIDDEN, "b"], "keep": [True, False, True]})
    return frame.select(pl.when("keep").then("s")).to_series().cast(kind)


def test_texts_under_missing_values():
    column = hidden(pl.String())
    assert HIDDEN.encode() in buffers(column)  # else this tests nothing
    fresh = sanitized_series(column)
    assert HIDDEN.encode() not in buffers(fresh)
    assert fresh.to_list() == ["a", None, "b"]
    assert fresh.name == column.name


def test_rows_that_are_not_taken():
    column = pl.Series("s", ["a long text that is kept", HIDDEN * 9]).gather([0])
    assert HIDDEN.encode() not in buffers(sanitized_series(column))


@pytest.mark.parametrize(("kinds", "each", "kept"), [(3, 20, True), (3, 2, False), (30, 20, False)])
def test_the_order_of_categories_is_that_of_a_scale_or_of_the_alphabet(kinds, each, kept):
    names = [f"c{i:02}" for i in reversed(range(kinds))]
    values = names * each
    expected = names if kept else sorted(names)
    enum = pl.Series(values, dtype=pl.Enum([*names, "never"]))
    assert sanitized_series(enum).dtype == pl.Enum(expected)
    assert sanitized_series(enum).to_list() == values
    ordered = pd.Categorical(values, categories=[*names, "never"], ordered=True)
    fresh = sanitized_table(pd.DataFrame({"s": ordered}))["s"]
    assert list(fresh.cat.categories) == expected
    assert fresh.cat.ordered == kept
    assert fresh.tolist() == values


def test_categories_of_a_process_know_other_columns():
    pl.Series([HIDDEN], dtype=pl.Categorical)
    column = pl.Series("s", ["b", "a", None], dtype=pl.Categorical)
    fresh = sanitized_series(column.gather([1, 2, 0]))
    assert isinstance(fresh.dtype, pl.Categorical)
    assert fresh.to_list() == ["a", None, "b"]
    assert set(fresh.dtype.categories.to_series()) == {"a", "b"}
    assert fresh.to_physical().to_list() == [0, None, 1]  # in the order of the published rows


@pytest.mark.parametrize("nest", [pl.List, lambda d: pl.Array(d, 1), lambda d: pl.Struct({"x": d})])
def test_categories_deep_down(nest):
    inner = pl.Enum(["a", "b", HIDDEN])
    cells = [["a"], ["b"]] if nest is pl.List or nest(inner) == pl.Array(inner, 1) else None
    cells = cells or [{"x": "a"}, {"x": "b"}]
    fresh = sanitized_series(pl.Series("s", cells, dtype=nest(inner)))
    assert fresh.dtype == nest(pl.String())
    assert fresh.to_list() == cells


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean"])
def test_numbers_under_a_mask(kind):
    column = pd.Series([1, 1, 0], dtype=kind)
    column[1] = pd.NA
    assert column.array._data[1]
    fresh = sanitized_table(pd.DataFrame({"s": column}))["s"]
    assert not fresh.array._data[1]
    assert fresh.isna().tolist() == [False, True, False]
    assert fresh.dtype == column.dtype


def test_one_kind_of_nan():
    odd = np.array([0x7FF8000000001234], dtype=np.uint64).view(np.float64)
    fresh = sanitized_table(pd.DataFrame({"s": [1.5, odd[0]]}))["s"].to_numpy()
    assert fresh.view(np.uint64)[1] == np.array([np.nan]).view(np.uint64)[0]
    assert fresh[0] == 1.5


def test_texts_that_know_more():
    class Told(str):
        __slots__ = ("row",)

    text = Told("a")
    text.row = 7
    cells = sanitized_table(pd.DataFrame({"s": pd.Series([text, None], dtype=object)}))[
        "s"
    ].tolist()
    assert type(cells[0]) is str
    assert cells[0] == "a"


WORDS = pa.array(["a", "b", HIDDEN]).dictionary_encode()


@pytest.mark.parametrize(
    "column",
    [
        WORDS,
        pa.ListArray.from_arrays(pa.array([0, 1, 2, 3]), WORDS),
        pa.LargeListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int64()), WORDS),
        pa.FixedSizeListArray.from_arrays(WORDS, 1),
        pa.StructArray.from_arrays([WORDS], ["x"]),
        pa.MapArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["k"] * 3), WORDS),
    ],
    ids=lambda column: str(column.type)[:20],
)
def test_dictionaries_of_arrow(column):
    taken = pa.table({"s": column}).take([1, 0])
    fresh = sanitized_table(taken).column("s")
    assert fresh.to_pylist() == taken.column("s").to_pylist()
    whole = fresh.combine_chunks()
    held = b"".join(bytes(b) for b in whole.buffers() if b is not None)
    if pa.types.is_dictionary(fresh.type):
        held += str(whole.dictionary).encode()
    assert HIDDEN.encode() not in held
    assert "dictionary" not in str(fresh.type) or fresh.type == column.type
