"""Types of columns, told from all their values: text becomes numbers, dates and truth values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from functools import reduce
from operator import and_

import numpy as np
import polars as pl

from wideberth.core.notation import DIGITS, READ, SURE, decimals, notations, too_long
from wideberth.core.strings import is_text
from wideberth.errors import ParameterError, TableError, what_to_type

# A vector is a list or a struct of numbers in each row, such as a probability distribution.
TYPES = ("integer", "float", "decimal", "date", "boolean", "text", "category", "vector")

_INTEGER = r"^[+-]?(0|[1-9][0-9]*)$"
_DECIMAL = r"^[+-]?(0|[1-9][0-9]*)(\.[0-9]+)?$"
_FLOAT = r"^([+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf(inity)?)$"
_BOOLEANS = {"true": True, "yes": True, "false": False, "no": False}
_ORDINARY = (1e-300, 1e300)  # floats that have so many
_A_FEW = 64  # numbers looked at one by one, before all are
_FAR = 400  # a power of ten beyond any that so few digits reach
_BEYOND = "1" + "0" * DIGITS  # stands for every number that is too long


def infer_type(series: pl.Series) -> str:
    """Return the type of a column, one of TYPES, by all its values.

    >>> infer_type(pl.Series(["21", "34"])), infer_type(pl.Series(["01234", "99999"]))
    ('integer', 'text')
    """
    # Digits with leading zeros are text: as numbers, different codes could become the same. So are
    # numbers that 38 digits over the column's smallest unit cannot hold, unless two texts are the
    # same number: as text these would count as different, so it is a column of numbers, and
    # converting refuses it.
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
    if not _may_be_read(distinct[0]):  # one cell mostly tells: a wide table has many columns
        return _text_or_category(present, distinct)
    if distinct.str.contains(_INTEGER).all():
        fits = not _integers(distinct).has_nulls()
        return "integer" if fits or _repeats_a_number(distinct) else "text"
    scales = distinct.str.extract(r"\.([0-9]+)$").str.len_chars()
    if scales.n_unique() == 1 and not scales.has_nulls() and not _decimals(distinct).has_nulls():
        return "decimal"
    for kind in ("float", "boolean", "date"):
        if not _PARSERS[kind](distinct).has_nulls():
            return kind
    if not floats(distinct).has_nulls() and _repeats_a_number(distinct):
        return "float"
    return _text_or_category(present, distinct)


def is_read_plainly(distinct: pl.Series) -> bool:
    """Return whether different texts are numbers or dates as the program writes them.

    >>> is_read_plainly(pl.Series(["7", "1.5"])), is_read_plainly(pl.Series(["7", "a"]))
    (True, False)
    """
    if distinct.is_empty() or not _may_be_read(distinct[0].strip()):
        return False
    return infer_type(distinct) in ("integer", "float", "decimal", "date")


def _may_be_read(text: str) -> bool:
    """Return whether a text looks like a number, a date or a truth value."""
    plain = text.lower()
    return plain in _BOOLEANS or any(re.match(form, plain) for form in (_FLOAT, *READ.values()))


def _text_or_category(present: pl.Series, distinct: pl.Series) -> str:
    few = max(20, len(present) // 100)
    recurring = len(distinct) < len(present)
    return "category" if recurring and len(distinct) <= few else "text"


def _repeats_a_number(texts: pl.Series) -> bool:
    """Return whether two of a column's texts are one number, as 1 and 1.0 are, however long."""
    seen = set()
    for text in texts.to_list():
        try:
            sign, digits, exponent = Decimal(text).as_tuple()
        except InvalidOperation:  # an exponent beyond all bounds
            continue
        if not isinstance(exponent, int):  # nan and infinity
            continue
        significant = "".join(map(str, digits)).lstrip("0")
        bare = significant.rstrip("0")
        number = (sign, bare, exponent + len(significant) - len(bare)) if bare else ()
        if number in seen:
            return True
        seen.add(number)
    return False


def convert(series: pl.Series, type_: str) -> pl.Series:
    """Turn a column into the polars type that stands for `type_`.

    >>> convert(pl.Series("paid", ["yes", None, "No"]), "boolean").to_list()
    [True, None, False]
    """
    # Numbers are exact: an integer beyond 64 bits becomes a Decimal, and so does a float column
    # with a number that is not the shortest decimal of a Float64. A Datetime stays one, and so does
    # an Enum, as its categories are ordered.
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
    if type_ == "category" and dtype == pl.Enum:  # which has an order of its own
        return series
    if type_ in ("text", "category"):
        return series.cast(pl.String)
    if type_ == "float" and dtype.is_numeric() and not dtype.is_float():
        return series.cast(pl.Float64) if _short(series) else series
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
        row = int(bad.arg_true()[0])
        what = f"column {series.name!r}, row {row + 1}: not {noun}"
        first = plain.filter(bad).cast(pl.String)[0]
        if type_ in _LONG and re.fullmatch(_LONG[type_], first.strip().lower()):
            raise too_long(series.name, row)
        hint = f'write {form}, list it as missing, or make the type "text"'
        if is_text(dtype) and (ways := notations(plain)):
            hint = confirmation(series.name, ways)
        raise TableError(what, hint=hint)
    return converted.alias(series.name)


def confirmation(name: str, ways: Sequence[str]) -> str:
    """Return what to write so that a column is read in one of several notations."""
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'
    entry = " or ".join(f'{key} = "{way}"' for way in ways)
    policy = f"{entry} under [formats] of the policy"
    return what_to_type(
        python=policy,
        command=f"{policy}, or --written '{name}={ways[0]}'",
        app=f"choose in step 1, as the type of {name}, how it is read"
        if len(ways) > 1
        else f"download the settings in step 1, write {entry} under [formats] of policy.toml, and "
        "take them up again there",
    )


def _short(numbers: pl.Series) -> bool:
    """Return whether floats give back integers or decimals as they are."""
    scale = numbers.dtype.scale if isinstance(numbers.dtype, pl.Decimal) else 0
    ends = [abs(Decimal(end)) for end in (numbers.min(), numbers.max()) if end is not None]  # type: ignore[arg-type]
    return max(ends, default=Decimal()) < Decimal(10) ** (SURE - scale)


def _lists(series: pl.Series) -> pl.Series:
    if not isinstance(series.dtype, pl.Struct):
        return series.cast(pl.List(pl.Float64))
    parts = [
        part.cast(pl.Float64).alias(str(i)) for i, part in enumerate(vector_components(series))
    ]
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
    plain = _only(text, _INTEGER)
    whole = plain.cast(pl.Int64, strict=False)
    if whole.null_count() == plain.null_count():
        return whole
    return decimals(plain)


def _decimals(text: pl.Series) -> pl.Series:
    return decimals(_only(text, _DECIMAL))


def _numbers(text: pl.Series) -> pl.Series:
    """Read numbers exactly: as floats if those denote all of them, else as decimals."""
    # A float denotes the shortest decimal that is read as it (see `wideberth.core.exact`).
    read = floats(text)
    numbers = read.is_not_null() & text.str.contains("[0-9]")  # nan and inf are refused elsewhere
    # Far from the ends of their range, floats give back so many digits, whatever their power is.
    raised = text.str.contains("[eE]")
    ordinary = read.abs().is_between(*_ORDINARY) | ~raised
    digits = text.str.count_matches("[0-9]") if raised.any() else text.str.len_bytes()  # or fewer
    doubtful = numbers & ((digits > SURE) | ~ordinary)
    if not doubtful.any() or numbers.sum() < read.count():
        return read
    if _all_denoted(read.filter(doubtful), text.filter(doubtful)):
        return read
    return decimals(_plain(text.set(~numbers, None)))


def _all_denoted(read: pl.Series, text: pl.Series) -> bool:
    """Return whether floats denote the numbers that they were read from."""
    written = read.cast(pl.String)
    unlike = written != text
    # A few tell as much as all, if most of them have more digits than floats do.
    few = unlike.arg_true().head(_A_FEW)
    if not all(map(_denotes, read.gather(few), text.gather(few))):
        return False
    read, text, written = (one.filter(unlike) for one in (read, text, written))
    unlike = (_significant(text) != _significant(written)).fill_null(True)
    return all(map(_denotes, read.filter(unlike), text.filter(unlike)))


def _significant(text: pl.Series) -> pl.Series:
    """Write numbers as their digits, without zeros at either end, and a power of ten.

    >>> _significant(pl.Series(["-12.50", "1250e-3", "100", "0.0"])).to_list()
    ['-125e-1', '125e-2', '1e2', 'e']
    """
    # Numbers written alike are equal. Missing if the power is beyond all bounds.
    mantissa = text.str.extract(r"^[+-]?([0-9.]+)")
    behind = mantissa.str.extract(r"\.([0-9]*)$").str.len_chars().fill_null(0)
    digits = mantissa.str.replace_all(".", "", literal=True)
    bare = digits.str.strip_chars_end("0")
    power = text.str.extract(r"[eE](.+)$").fill_null("0").cast(pl.Int64, strict=False)
    power = power - behind.cast(pl.Int64) + digits.str.len_chars().cast(pl.Int64)
    power = power - bare.str.len_chars().cast(pl.Int64)
    sign = pl.Series(["", "-"]).gather(text.str.starts_with("-").cast(pl.UInt32))
    written = sign + bare.str.strip_chars_start("0") + "e" + power.cast(pl.String)
    return written.set(bare == "", "e")


def _denotes(number: float, text: str) -> bool:
    try:
        return Decimal(repr(number)) == Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return False


def _plain(text: pl.Series) -> pl.Series:
    """Write numbers without an exponent, and without zeros at their end."""
    plain = text.str.strip_chars_start("+").str.replace(r"^(-?)\.", "${1}0.")
    pointed = plain.str.contains(".", literal=True).fill_null(False)
    plain = plain.str.strip_chars_end("0").str.strip_chars_end(".").zip_with(pointed, plain)
    raised = text.str.contains("[eE]").fill_null(False)
    if not raised.any():
        return plain
    return plain.scatter(raised.arg_true(), [_unraised(one) for one in text.filter(raised)])


def _unraised(text: str) -> str:
    """Write a number without its exponent, and without zeros at its end."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return _BEYOND
    if not number:
        return "0"
    if abs(number.adjusted()) > _FAR:
        return _BEYOND
    plain = f"{number:f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def floats(text: pl.Series) -> pl.Series:
    """Read numbers; what is none becomes missing."""
    return _only(text.str.to_lowercase(), _FLOAT).cast(pl.Float64, strict=False)


def _booleans(text: pl.Series) -> pl.Series:
    return text.str.to_lowercase().replace_strict(_BOOLEANS, default=None, return_dtype=pl.Boolean)


def _dates(text: pl.Series) -> pl.Series:
    def read(style: str) -> pl.Series:
        dates = _only(text, READ[style]).str.to_date(style, strict=False)
        return dates.set((dates.dt.year() < 1).fill_null(False), None)  # Python knows no year 0

    return min(map(read, READ), key=pl.Series.null_count)


def _only(text: pl.Series, pattern: str) -> pl.Series:
    return text.set(~text.str.contains(pattern), None)


_PARSERS: dict[str, Callable[[pl.Series], pl.Series]] = {
    "integer": _integers,
    "decimal": _decimals,
    "float": _numbers,
    "boolean": _booleans,
    "date": _dates,
}
_NOUNS = {
    "integer": ("an integer", "digits only"),
    "decimal": ("a decimal", "digits and a point"),
    "float": ("a number", "digits and a point"),
    "boolean": ("true or false", "true, false, yes or no"),
    "date": ("a date", "all dates as YYYY-MM-DD"),
}
# What is a number of its kind, but with more digits than can be held.
_LONG = {"integer": _INTEGER, "decimal": _DECIMAL, "float": _FLOAT}


# -----------------------------------------------------------------------------
# Columns whose every cell is a vector: lists, arrays and structs of numbers.


_FINITE = "replace it by a number, or leave out the whole vector (missing)"
_EQUALLY_LONG = "give every row numbers of the same components, or no value at all (missing)"


def is_vector(dtype: pl.DataType) -> bool:
    """Return whether the cells of a column are lists or structs of numbers.

    >>> is_vector(pl.List(pl.Float64)), is_vector(pl.Struct({"flu": pl.String}))
    (True, False)
    """
    if isinstance(dtype, pl.List | pl.Array):
        return _number(dtype.inner)
    return (
        isinstance(dtype, pl.Struct)
        and bool(dtype.fields)
        and all(_number(field.dtype) for field in dtype.fields)
    )


def _number(dtype: object) -> bool:
    kind = dtype() if isinstance(dtype, type) else dtype
    return isinstance(kind, pl.DataType) and kind.is_numeric()


def vector_components(series: pl.Series) -> list[pl.Series]:
    """Split a column of lists or structs into its components; none if it has no value."""
    # Components are named `profile[0]` of a list, `disease.flu` of a struct. A missing value lacks
    # all of them. Lists that are not as long as the first are refused.
    name, cells = series.name, series.alias("")
    if isinstance(cells.dtype, pl.Struct):
        lacking = cells.is_null()
        return [
            # What a missing struct is made of does not count.
            field.alias("").set(lacking, None).alias(f"{name}.{field.name}")
            for field in cells.struct.unnest()
        ]
    lists = cells.arr.to_list() if isinstance(cells.dtype, pl.Array) else cells
    lengths = lists.list.len()
    widths = lengths.drop_nulls()
    if widths.is_empty():
        return []
    _refuse(name, lengths == 0, "an empty list", "leave out the list (missing)")
    _refuse(name, lengths != widths[0], "not as long as the first list", _EQUALLY_LONG)
    return [lists.list.get(i).alias(f"{name}[{i}]") for i in range(int(widths[0]))]


def require_vectors(series: pl.Series) -> None:
    """Refuse a column unless all its values are whole vectors of finite numbers."""
    name = series.name
    if not is_vector(series.dtype):
        hint = "a list or a struct of numbers in every row"
        _refuse(name, series.alias("").is_not_null(), "not a vector of numbers", hint)
        return
    parts = vector_components(series)
    lacking = [part.alias("").is_null() for part in parts]
    whole = reduce(and_, lacking, pl.zeros(len(series), pl.Boolean, eager=True).not_())
    for part, missing in zip(parts, lacking, strict=True):
        _refuse(name, missing & ~whole, f"'{part.name}' is missing", _EQUALLY_LONG)
        if part.dtype.is_float():
            odd = ~part.alias("").is_finite()
            _refuse(name, odd, f"'{part.name}' is NaN or infinite", _FINITE)


def require_finite(series: pl.Series) -> None:
    """Refuse numbers that are none: NaN and infinity."""
    fine = series.alias("").is_finite().fill_null(True)
    if not fine.all():
        row = int((~fine).arg_true()[0])
        kind = "NaN" if np.isnan(series[row]) else "an infinite number"
        raise TableError(
            f"column '{series.name}', row {row + 1}: {kind} is neither a value nor missing",
            hint="replace it by a number, or leave the cell empty (missing)",
        )


def _refuse(name: str, wrong: pl.Series, what: str, hint: str) -> None:
    rows = wrong.fill_null(False).arg_true()
    if len(rows):
        raise TableError(f"column '{name}', row {rows[0] + 1}: {what}", hint=hint)
