"""Types told from all values, and values converted to them."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal, localcontext

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth.core.types import _numbers, _significant, convert, infer_type
from wideberth.errors import ParameterError, TableError
from wideberth.policy.guesses import guess_columns

LONG = Decimal("12345678901234567.5")


HIDDEN = "Zanzibar7"


TEXT_COLUMNS = [
    ("integer", ["1", "-20", "+3", "0"]),
    ("integer", [" 1", "2 "]),
    ("integer", ["9223372036854775807", "-9223372036854775808"]),
    ("integer", ["0", "1"]),
    ("text", ["01234", "12345"]),
    ("integer", ["9223372036854775808", "1"]),
    ("integer", ["9" * 38, "-1"]),
    ("text", ["9" * 39, "1"]),
    ("integer", ["9" * 39, "1", "+1"]),  # refused where it is read: as text, 1 is not +1
    ("float", ["1" * 39, "1", "1.00"]),
    ("text", ["1_000", "2_000"]),
    ("text", ["١", "٢"]),
    ("decimal", ["1.50", "-2.25", "+0.00"]),
    ("decimal", ["1234567890123456.78", "0.10"]),
    ("decimal", ["12345678901234567.78", "0.10"]),
    ("decimal", ["1" * 30 + "." + "1" * 8, "0." + "1" * 8]),
    ("text", ["1" * 31 + "." + "1" * 8, "0." + "1" * 8]),
    ("float", ["12345678901234567.78", "0.1"]),
    ("text", ["1e-40", "12345678901234567"]),
    ("text", ["1e400", "1"]),
    ("float", ["1e400", "10e399"]),
    ("text", ["1e-400", "0"]),
    ("float", ["1.5", "2"]),
    ("float", ["1.5", "2.25"]),
    ("float", ["1e3", "2E-4"]),
    ("float", ["1.", ".5"]),
    ("float", ["1", "NaN"]),
    ("float", ["inf", "-Infinity", "nan", "+INF"]),
    ("text", ["00.5", "1.5"]),
    ("text", ["1,5", "2,5"]),
    ("boolean", ["true", "False", "YES", "no"]),
    ("text", ["true", "0"]),
    ("date", ["2024-02-29", "1999-12-31"]),
    ("date", ["2024/02/29", "1999/12/31"]),
    ("date", ["29.02.2024", "31.12.1999"]),
    ("text", ["2023-02-29", "1999-12-31"]),
    ("text", ["2024-2-9", "1999-12-31"]),
    ("text", ["0000-01-01", "1999-12-31"]),
    ("text", ["2024-02-29", "31.12.1999"]),
    ("text", ["a", "b"]),
    ("category", ["a", "b", "a"]),
    ("text", []),
]


@pytest.mark.parametrize(("expected", "values"), TEXT_COLUMNS)
def test_text_columns_are_told_by_all_their_values(expected: str, values: list[str]) -> None:
    assert infer_type(pl.Series([*values, None], dtype=pl.String)) == expected


def test_one_late_value_changes_the_type() -> None:
    values = ["1"] * 10_000
    assert infer_type(pl.Series(values)) == "integer"
    assert infer_type(pl.Series([*values, "one"])) == "category"


def test_a_category_is_few_values_that_recur() -> None:
    names = [f"v{i}" for i in range(30)]
    assert infer_type(pl.Series(names * 2)) == "text"
    assert infer_type(pl.Series(names * 100)) == "category"


@pytest.mark.parametrize(
    ("expected", "series"),
    [
        ("integer", pl.Series([1, 2], dtype=pl.UInt8)),
        ("float", pl.Series([1.0], dtype=pl.Float32)),
        ("decimal", pl.Series([Decimal("1.5")])),
        ("date", pl.Series([dt.date(2024, 1, 1)])),
        ("date", pl.Series([dt.datetime(2024, 1, 1, 12)])),
        ("boolean", pl.Series([True])),
        ("category", pl.Series(["a"], dtype=pl.Categorical)),
        ("category", pl.Series(["a"], dtype=pl.Enum(["a"]))),
        ("text", pl.Series([None, None])),
        ("vector", pl.Series([[0.5, 0.5]])),
        ("vector", pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2))),
        ("text", pl.Series([["a"]])),
        ("vector", pl.Series([{"a": 1}])),
        ("text", pl.Series([{"a": "b"}])),
        ("text", pl.Series([b"a"])),
        ("text", pl.Series([dt.time(1, 2)])),
    ],
)
def test_typed_columns_keep_their_type(expected: str, series: pl.Series) -> None:
    assert infer_type(series) == expected


@pytest.mark.parametrize(
    ("type_", "values", "dtype", "expected"),
    [
        ("integer", ["+5", None, " -7 "], pl.Int64, [5, None, -7]),
        ("float", ["1e3", ".5", "-Inf"], pl.Float64, [1000.0, 0.5, float("-inf")]),
        ("decimal", ["1.10", "-2.25"], pl.Decimal(18, 2), [Decimal("1.10"), Decimal("-2.25")]),
        ("decimal", ["1", "2.5"], pl.Decimal(18, 1), [Decimal("1.0"), Decimal("2.5")]),
        ("integer", [str(2**63), "+5", None], pl.Decimal(38, 0), [2**63, 5, None]),
        ("float", [str(2**53 + 1), "2e-1"], pl.Decimal(18, 1), [2**53 + 1, Decimal("0.2")]),
        ("float", ["12345678901234567.50", None], pl.Decimal(18, 1), [LONG, None]),
        ("float", ["9007199254740993", "0e-99"], pl.Decimal(18, 0), [2**53 + 1, 0]),
        ("float", ["0.1234567890123456", "1e22"], pl.Float64, [0.1234567890123456, 1e22]),
        ("float", ["0.3000000000000000000", "1e-300"], pl.Float64, [0.3, 1e-300]),
        ("boolean", ["Yes", "no", None], pl.Boolean, [True, False, None]),
        ("date", ["29.02.2024", None], pl.Date, [dt.date(2024, 2, 29), None]),
        ("text", ["01", None], pl.String, ["01", None]),
        ("category", ["a", "a"], pl.String, ["a", "a"]),
        ("integer", [None, None], pl.Int64, [None, None]),
        ("date", [None], pl.Date, [None]),
        ("decimal", [None], pl.Decimal(18, 0), [None]),
    ],
)
def test_text_converts(type_: str, values: list[str], dtype: pl.DataType, expected: list) -> None:
    converted = convert(pl.Series("c", values, dtype=pl.String), type_)
    assert converted.dtype == dtype
    assert converted.to_list() == expected
    assert converted.name == "c"


@pytest.mark.parametrize(
    ("type_", "series", "expected"),
    [
        ("integer", pl.Series([1.0, None, 3.0]), [1, None, 3]),
        ("integer", pl.Series([7], dtype=pl.Int8), [7]),
        ("integer", pl.Series([Decimal("2.0")]), [2]),
        ("float", pl.Series([1, 2]), [1.0, 2.0]),
        ("decimal", pl.Series([1, 2]), [Decimal(1), Decimal(2)]),
        ("decimal", pl.Series([0.1, 2.5]), [Decimal("0.1"), Decimal("2.5")]),
        ("text", pl.Series([1, 2]), ["1", "2"]),
        ("category", pl.Series(["a"], dtype=pl.Categorical), ["a"]),
        ("boolean", pl.Series([True, None]), [True, None]),
        ("date", pl.Series([dt.datetime(2024, 1, 1, 12)]), [dt.datetime(2024, 1, 1, 12)]),
        ("vector", pl.Series([[1, 2]], dtype=pl.Array(pl.Int64, 2)), [[1.0, 2.0]]),
    ],
)
def test_typed_columns_convert(type_: str, series: pl.Series, expected: list) -> None:
    assert convert(series, type_).to_list() == expected


@pytest.mark.parametrize(
    ("type_", "good", "noun"),
    [
        ("integer", "1", "an integer"),
        ("float", "1.5", "a number"),
        ("decimal", "1.50", "a decimal"),
        ("boolean", "yes", "true or false"),
        ("date", "2024-01-01", "a date"),
    ],
)
def test_a_misfit_is_named_by_column_and_row_alone(type_: str, good: str, noun: str) -> None:
    series = pl.Series("salary", [good, None] * 8 + [HIDDEN, good, HIDDEN])
    with pytest.raises(TableError, match="try: write") as caught:
        convert(series, type_)
    assert caught.value.what == f"column 'salary', row 17: not {noun}"
    assert HIDDEN not in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "series", "row"),
    [
        ("integer", pl.Series("c", [1.0, 2.0, 2.5]), 3),
        ("integer", pl.Series("c", [1.0, float("nan")]), 2),
        ("integer", pl.Series("c", [1e300]), 1),
        ("boolean", pl.Series("c", [1, 0]), 1),
    ],
)
def test_values_out_of_range_do_not_fit(type_: str, series: pl.Series, row: int) -> None:
    with pytest.raises(TableError, match=f"^column 'c', row {row}: not "):
        convert(series, type_)


@pytest.mark.parametrize(
    ("type_", "values", "row"),
    [
        ("integer", ["1", "9" * 39], 2),
        ("decimal", ["1.5", "9" * 38], 1),
        ("decimal", ["1.5", "0." + "1" * 39], 2),
        ("float", ["1", "12345678901234567", "1e-30"], 3),
        ("float", ["1", "1e400"], 2),
        ("float", ["0", None, "1e-99999999999999999999"], 3),
        ("float", ["1", "12345678901234567", "1e999999999"], 3),
    ],
)
def test_numbers_of_more_digits_than_can_be_held_are_refused(
    type_: str, values: list[str], row: int
) -> None:
    with pytest.raises(TableError, match="needs more than 38 digits") as caught:
        convert(pl.Series("c", values), type_)
    assert caught.value.what.startswith(f"column 'c', row {row}: ")


def test_long_integers_of_a_typed_column_are_not_rounded_to_floats() -> None:
    for numbers in (pl.Series([2**53 + 1, 5]), pl.Series([Decimal("0.1234567890123456789")])):
        assert convert(numbers, "float").equals(numbers)


@pytest.mark.parametrize(
    ("series", "type_", "kind"),
    [
        (pl.Series("c", [[HIDDEN]]), "text", "List"),
        (pl.Series("c", [[1.0]]), "text", "List"),
        (pl.Series("c", [[HIDDEN]]), "vector", "List"),
        (pl.Series("c", [HIDDEN]), "vector", "String"),
        (pl.Series("c", [HIDDEN], dtype=pl.Enum([HIDDEN])), "vector", "Enum"),
        (pl.Series("c", [b"x"]), "text", "Binary"),
    ],
)
def test_nested_and_flat_do_not_convert(series: pl.Series, type_: str, kind: str) -> None:
    with pytest.raises(TableError) as caught:
        convert(series, type_)
    assert caught.value.what == f"column 'c' has polars type {kind}, which makes no {type_}"
    assert HIDDEN not in str(caught.value)


def test_an_unknown_type_lists_the_known() -> None:
    with pytest.raises(ParameterError, match="there is no type 'number'") as caught:
        convert(pl.Series([1]), "number")
    assert "integer" in str(caught.value.hint)


@given(st.lists(st.one_of(st.none(), st.text(max_size=5), st.integers().map(str))))
def test_a_column_always_converts_to_its_inferred_type(values: list[str | None]) -> None:
    series = pl.Series("c", values, dtype=pl.String)
    converted = convert(series, infer_type(series))
    assert converted.is_null().to_list() == series.is_null().to_list()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_integers_come_back_exactly(values: list[int]) -> None:
    series = pl.Series([str(v) for v in values])
    assert infer_type(series) == "integer"
    assert convert(series, "integer").to_list() == values


@given(st.lists(st.decimals(-(10**15), 10**15, places=2), min_size=1))
def test_decimals_come_back_exactly(values: list[Decimal]) -> None:
    series = pl.Series([f"{v:f}" for v in values])
    assert infer_type(series) == "decimal"
    assert convert(series, "decimal").to_list() == values


@given(st.lists(st.dates(), min_size=1))
def test_dates_come_back_exactly(values: list[dt.date]) -> None:
    series = pl.Series([v.isoformat() for v in values])
    assert infer_type(series) == "date"
    assert convert(series, "date").to_list() == values


def test_one_slip_among_numbers_is_remarked_on() -> None:
    pay = [str(1000 + i) for i in range(100)]
    pay[41] = "n.n."
    (found,) = guess_columns(pl.DataFrame({"salary": pay}))
    assert found.type == "text"
    assert "ALL BUT 1 ARE NUMBERS, see row 42" in found.why
    assert "n.n." not in found.why
    (plain,) = guess_columns(pl.DataFrame({"city": ["Bonn", "Ulm", "7"]}))
    assert "NUMBERS" not in plain.why
    leading = [f"{i:05}" for i in range(100)]  # postcodes: text, and no slip
    (codes,) = guess_columns(pl.DataFrame({"zip": leading}))
    assert "NUMBERS" not in codes.why


def test_thousands_are_no_decimals() -> None:
    with pytest.raises(TableError, match=r'pay = "1234,56" or pay = "1,234\.56" under'):
        convert(pl.Series("pay", ["66030", "66,030"]), "integer")
    with pytest.raises(TableError, match='try: pay = "1234,56" under'):
        convert(pl.Series("pay", ["66030", "66,03"]), "float")


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.from_regex(
                r"[+-]?((0|[1-9][0-9]{0,24})(\.[0-9]{0,24})?|\.[0-9]{1,24})([eE][+-]?[0-9]{1,3})?",
                fullmatch=True,
            ).filter(str.isascii),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_numbers_are_read_exactly_or_not_at_all(texts: list[str]) -> None:
    """Against Python's own decimals, one by one."""
    read = _numbers(pl.Series(texts)).to_list()
    with localcontext() as context:
        context.prec = 2000
        for number, text in zip(read, texts, strict=True):
            if number is not None:
                assert Decimal(repr(number) if isinstance(number, float) else number) == Decimal(
                    text
                )
        denoted = all(Decimal(repr(float(text))) == Decimal(text) for text in texts)
    assert denoted <= all(isinstance(number, float) for number in read)


@given(st.lists(st.tuples(st.integers(-(10**20), 10**20), st.integers(-30, 30)), min_size=1))
def test_numbers_written_alike_are_equal(pairs: list[tuple[int, int]]) -> None:
    texts = [f"{digits}e{power}" for digits, power in pairs]
    texts += [f"{digits}0e{power - 1}" for digits, power in pairs]
    written = _significant(pl.Series(texts)).to_list()
    for one, same in zip(written[: len(pairs)], written[len(pairs) :], strict=True):
        assert one == same
    with localcontext() as context:
        context.prec = 60
        values = [Decimal(text) for text in texts]
    numbers = {value if value else Decimal(0) for value in values}
    assert len(set(written)) == len(numbers)
