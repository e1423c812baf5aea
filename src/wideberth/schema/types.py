"""Types of columns, told from all their values: text becomes numbers, dates and truth values."""

from __future__ import annotations

import re
from collections.abc import Callable

import polars as pl

from wideberth.errors import ParameterError, TableError
from wideberth.schema.vectors import components, is_vector
from wideberth.words import is_text

# A vector is a list or a struct of numbers in each row, such as a probability distribution.
TYPES = ("integer", "float", "decimal", "date", "boolean", "text", "category", "vector")

_INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
_DECIMAL = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_FLOAT = r"^([+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?)$"
_DATES = {
    "%Y-%m-%d": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
    "%Y/%m/%d": r"^[0-9]{4}/[0-9]{2}/[0-9]{2}$",
    "%d.%m.%Y": r"^[0-9]{2}\.[0-9]{2}\.[0-9]{4}$",
}
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_DIGITS = 18  # so many always fit into 64 bits


def infer_type(series: pl.Series) -> str:
    """Tell the type of a column from all its values.

    Parameters
    ----------
    series : polars.Series
        Text, as read from CSV, or already typed.

    Returns
    -------
    str
        One of :data:`TYPES`. Digits with leading zeros, or too many for 64 bits, are text: as
        numbers, different codes could become the same.

    Examples
    --------
    >>> infer_type(pl.Series(["21", "34"])), infer_type(pl.Series(["01234", "99999"]))
    ('integer', 'text')
    """
    dtype = series.dtype
    if is_text(dtype) or dtype == pl.Null:
        return _infer_from_text(unnamed(series))
    if dtype.is_nested():
        return "vector" if is_vector(dtype) else "text"
    kinds = {
        "integer": dtype.is_integer(),
        "float": dtype.is_float(),
        "decimal": dtype.is_decimal(),
        "date": dtype in (pl.Date, pl.Datetime, pl.Duration),
        "boolean": dtype == pl.Boolean,
        "category": isinstance(dtype, pl.Categorical | pl.Enum),
    }
    return next((kind for kind, fits in kinds.items() if fits), "text")


def _infer_from_text(series: pl.Series) -> str:
    present = series.drop_nulls()
    distinct = present.unique().cast(pl.String).str.strip_chars()
    if distinct.is_empty():
        return "text"
    if distinct.str.contains(_INTEGER).all():
        return "text" if _integers(distinct).has_nulls() else "integer"
    scales = distinct.str.extract(r"\.([0-9]+)$").str.len_chars()
    if scales.n_unique() == 1 and not scales.has_nulls() and not _decimals(distinct).has_nulls():
        return "decimal"
    for kind in ("float", "boolean", "date"):
        if not _PARSERS[kind](distinct).has_nulls():
            return kind
    few = max(20, len(present) // 100)
    recurring = len(distinct) < len(present)
    return "category" if recurring and len(distinct) <= few else "text"


def convert(series: pl.Series, type_: str) -> pl.Series:
    """Turn a column into the polars type that stands for `type_`.

    Parameters
    ----------
    series : polars.Series
        Text or already typed; blanks around numbers, dates and truth values do not count.
    type_ : str
        One of :data:`TYPES`.

    Returns
    -------
    polars.Series
        an integer or float type, ``Decimal``, ``Date`` (a ``Datetime`` stays one), ``Boolean``,
        ``List(Float64)``, or ``String`` for text and category; missing stays missing.
        The first value that does not fit is a ``TableError`` with its row.

    Examples
    --------
    >>> convert(pl.Series("paid", ["yes", None, "No"]), "boolean").to_list()
    [True, None, False]
    """
    if type_ not in TYPES:
        raise ParameterError(f"there is no type {type_!r}", hint=f"use one of {', '.join(TYPES)}")
    dtype, inferred = series.dtype, infer_type(series) if series.dtype.is_nested() else None
    if inferred == type_ == "vector":
        return _lists(series)
    if type_ == "vector" or inferred or dtype in (pl.Binary, pl.Object):
        # Not the type in full, as that of an Enum lists its values.
        kind = dtype.base_type().__name__
        what = f"column {series.name!r} has polars type {kind}, which makes no {type_}"
        raise TableError(what, hint="convert it first, or leave it out")
    if type_ in ("text", "category"):
        return series.cast(pl.String)
    if type_ == "float" and dtype.is_numeric() and not dtype.is_float():
        return series.cast(pl.Float64)
    if (
        (type_ == "float" and dtype.is_float())  # single precision, too: see exact.Numbers
        or (type_ == "integer" and dtype.is_integer())
        or (type_ == "decimal" and dtype.is_decimal())
        or (type_ == "date" and dtype in (pl.Date, pl.Datetime, pl.Duration))
    ):
        return series
    plain = unnamed(series)
    whole = type_ == "integer" and dtype.is_numeric()
    converted = _whole(plain) if whole else _parse(plain, type_)
    bad = converted.is_null() & plain.is_not_null()
    if bad.any():
        noun, form = _NOUNS[type_]
        what = f"column {series.name!r}, row {bad.arg_true()[0] + 1}: not {noun}"
        first = plain.filter(bad).cast(pl.String)[0]
        hint = f'write {form}, list it as missing, or make the type "text"'
        if re.fullmatch(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*", first):
            hint = "write thousands without commas, and a point for a decimal comma"
        elif re.fullmatch(r"\s*[+-]?[\d.]*,\d+\s*", first):
            hint = "write a point for the decimal comma"
        raise TableError(what, hint=hint)
    return converted.alias(series.name)


def _lists(series: pl.Series) -> pl.Series:
    if not isinstance(series.dtype, pl.Struct):
        return series.cast(pl.List(pl.Float64))
    parts = [part.cast(pl.Float64).alias(str(i)) for i, part in enumerate(components(series))]
    listed = pl.when(unnamed(series).is_not_null()).then(pl.concat_list(pl.all()))
    return pl.DataFrame(parts).select(listed.alias("")).to_series().alias(series.name)


def _whole(series: pl.Series) -> pl.Series:
    # Floats too: pandas makes floats of integers as soon as one is missing.
    whole = series.cast(pl.Int64, strict=False)
    return whole.set((whole.cast(series.dtype) != series).fill_null(False), None)


def _parse(series: pl.Series, type_: str) -> pl.Series:
    # By way of the distinct values: half a million rows may hold but a hundred.
    text = series.cast(pl.String)
    distinct = text.drop_nulls().unique()
    parsed = _PARSERS[type_](distinct.str.strip_chars())
    return text.replace_strict(distinct, parsed, default=None, return_dtype=parsed.dtype)


def unnamed(series: pl.Series) -> pl.Series:
    """Drop the name: polars may take one for a pattern, even in methods of a series."""
    return series.alias("")


def _integers(text: pl.Series) -> pl.Series:
    return _only(text, _INTEGER).cast(pl.Int64, strict=False)


def _decimals(text: pl.Series) -> pl.Series:
    plain = _only(text, _DECIMAL)
    plain = plain.set(plain.str.count_matches("[0-9]") > _DIGITS, None)
    scale = plain.str.extract(r"\.([0-9]+)$").str.len_chars().max() or 0
    return plain.cast(pl.Decimal(_DIGITS, scale), strict=False)  # type: ignore[arg-type]


def floats(text: pl.Series) -> pl.Series:
    """Read numbers; what is none becomes missing."""
    return _only(text.str.to_lowercase(), _FLOAT).cast(pl.Float64, strict=False)


def _booleans(text: pl.Series) -> pl.Series:
    return text.str.to_lowercase().replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)


def _dates(text: pl.Series) -> pl.Series:
    def read(style: str) -> pl.Series:
        dates = _only(text, _DATES[style]).str.to_date(style, strict=False)
        return dates.set((dates.dt.year() < 1).fill_null(False), None)  # Python knows no year 0

    return min(map(read, _DATES), key=pl.Series.null_count)


def _only(text: pl.Series, pattern: str) -> pl.Series:
    return text.set(~text.str.contains(pattern), None)


_PARSERS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "integer": _integers,
    "decimal": _decimals,
    "float": floats,
    "boolean": _booleans,
    "date": _dates,
}
_NOUNS = {
    "integer": ("an integer", "digits only, within 64 bits"),
    "decimal": ("a decimal", f"a point and at most {_DIGITS} digits"),
    "float": ("a number", "digits and a point"),
    "boolean": ("true or false", "true, false, yes or no"),
    "date": ("a date", "all dates as YYYY-MM-DD"),
}
