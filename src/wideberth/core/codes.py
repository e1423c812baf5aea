"""Columns become small integers; a `Domain` remembers what the integers stand for.

Codes follow the order of the values (numbers ascending, ordered categories in their own order, text
by code point), so that an interval of values is an interval of codes. A missing value is a value of
its own: the last code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.core.exact import Floats, Ints, Numbers, fraction, whole
from wideberth.core.notation import too_long
from wideberth.core.strings import held_as_words, in_words, is_text
from wideberth.core.types import convert, infer_type, is_vector, require_finite, vector_components
from wideberth.errors import TableError

if TYPE_CHECKING:
    from wideberth.hierarchy import Hierarchy

Codes = npt.NDArray[np.int32]

#: From so many rows on, it pays to find a column's distinct texts first.
_LONG = 10_000
#: If a value has more rows than this on average, there are few values.
_FEW = 16
_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


@dataclass(frozen=True, eq=False, kw_only=True)
class Domain:
    """What the codes of a sensitive attribute mean.

    Parameters
    ----------
    name : str
        The attribute, for messages.
    histogram : array of int
        How often each code occurs in the whole table.
    missing : int, optional
        The code of missing values, if there are any: the last one.
    values : polars.Series, optional
        The value behind each other code.
    parts : array of int, optional
        For an attribute of several columns: the code of each column, one row per joint code.
    components : tuple of Domain
        For an attribute of several columns: their domains.
    tree : Hierarchy, optional
        A semantic tree that holds every value.
    ordered : bool
        Whether the values are categories in an order of their own, which the codes follow.
    """

    name: str
    histogram: Ints
    missing: int | None = None
    values: pl.Series | None = None
    parts: npt.NDArray[np.int32] | None = None
    components: tuple[Domain, ...] = field(default=())
    tree: Hierarchy | None = None
    ordered: bool = False

    @property
    def size(self) -> int:
        """How many codes there are, that of missing values included."""
        return len(self.histogram)

    @property
    def known(self) -> int:
        """How many codes stand for values that are not missing."""
        return self.size if self.missing is None else self.missing

    @cached_property
    def texts(self) -> list[str]:
        """The values as text, as a user would write them in a policy."""
        return [] if self.values is None else _texts(self.values)

    @cached_property
    def numbers(self) -> Numbers | None:
        """The values as exact numbers (days for dates), if they are numbers."""
        if self.values is None:
            return None
        dtype = self.values.dtype
        if dtype.is_decimal():
            return Numbers.of(np.array(self.values.to_list(), dtype=object))
        if dtype.is_numeric() or dtype == pl.Date:
            return Numbers.of(self.values.to_physical().to_numpy())
        if dtype in (pl.Datetime, pl.Duration):
            per = _PER_DAY[dtype.time_unit]  # type: ignore[attr-defined]
            return Numbers.whole(self.values.to_physical().to_numpy(), per)
        return None

    def code_of(self, value: object) -> int | None:
        """Return the code of a value as a user writes it; None if it does not occur.

        A date is the moment at which it begins; a moment without a time zone is of the column's.
        """
        keys: Sequence[object] = self.texts
        key: object = str(value)
        kind = self.values.dtype if self.values is not None else pl.String()
        if isinstance(kind, pl.Date | pl.Datetime):
            assert self.values is not None  # noqa: S101 - it has a type
            keys, key = self.values.to_physical().to_list(), _ticks(value, kind)
        elif kind == pl.Boolean:  # yes is true
            try:
                written = pl.Series([str(value)], dtype=pl.String)
                key = _texts(convert(written, infer_type(written)))[0]
            except TableError:
                return None
        elif self.numbers is not None and not self.dated:
            keys = self.numbers.units.tolist()
            try:
                key = fraction(str(value)) * self.numbers.per  # 1, 1.0 and "1" are the same
            except (ValueError, ZeroDivisionError):
                return None
        return keys.index(key) if key in keys else None

    @property
    def dated(self) -> bool:
        """Whether the values are dates, though they count as numbers of days."""
        return self.values is not None and self.values.dtype.is_temporal()

    def vectors(self) -> Numbers:
        """Return the values of several number columns as rows of one exact matrix.

        A single number column is a matrix of one column. Long decimals take their time.
        """
        lines = [(part.numbers, codes) for part, codes in self._lines()]
        exact = [(line, codes) for line, codes in lines if line is not None]
        per = lcm(*(line.per for line, _ in exact))
        bound = max((line.bound * (per // line.per) for line, _ in exact), default=0)
        columns = [whole(line.units, bound)[codes] * (per // line.per) for line, codes in exact]
        return Numbers(np.stack(columns, axis=1), per)

    def floats(self) -> tuple[Floats, bool]:
        """Return the same rows rounded to floats, and whether these still denote the values.

        They do if the shortest decimal that denotes a float is the value it was rounded from.
        """
        if not self.known:
            return np.empty((0, max(len(self.components), 1))), True
        columns, denoted = [], True
        for part, codes in self._lines():
            values = part.values
            assert values is not None  # noqa: S101 - it holds numbers
            if values.dtype == pl.Float32:  # 0.1 in single precision is a tenth, too
                values = values.cast(pl.String).cast(pl.Float64)
            if values.dtype == pl.Float64:
                floats = values.to_numpy()
            else:
                numbers = part.numbers
                assert numbers is not None  # noqa: S101 - it holds numbers
                floats = numbers.floats()
                denoted &= numbers.per == 1 and numbers.bound < 2**53
            columns.append(floats[codes])
        return np.stack(columns, axis=1), denoted

    def _lines(self) -> list[tuple[Domain, Codes]]:
        """Return the number columns that make up the values, each with every value's code in it."""
        columns = self.components or (self,)
        if not all(column._holds_numbers for column in columns):
            raise TableError(
                f"'{self.name}' is no vector of numbers",
                hint="name a list column, or several number columns joined by '+'",
            )
        if self.parts is None:
            return [(self, np.arange(self.known, dtype=np.int32))]
        parts = self.parts[: self.known]
        for column, codes in zip(columns, parts.T, strict=True):
            if column.missing is not None and bool((codes == column.missing).any()):
                raise TableError(
                    f"'{self.name}': some rows lack the component '{column.name}' only",
                    hint="give all components of a row, or none",
                )
        return list(zip(columns, parts.T, strict=True))

    @property
    def _holds_numbers(self) -> bool:
        dtype = None if self.values is None else self.values.dtype
        return dtype is not None and (
            dtype.is_numeric() or dtype in (pl.Date, pl.Datetime, pl.Duration)
        )


@dataclass(frozen=True, eq=False)
class Column:
    """One code per row, and what the codes mean."""

    codes: Codes
    domain: Domain

    def with_tree(self, tree: Hierarchy) -> Column:
        """Attach a semantic tree."""
        return Column(self.codes, replace(self.domain, tree=tree))


def encode(series: pl.Series) -> Column:
    """Encode one typed column.

    >>> column = encode(pl.Series("salary", [1020, None, 1000, 1020]))
    >>> column.codes, column.domain.texts, column.domain.missing
    (array([1, 2, 0, 1], dtype=int32), ['1000', '1020'], 2)
    """
    dtype, name = series.dtype, series.name
    if dtype in (pl.List, pl.Array) or is_vector(dtype):
        return _vector(series)
    if dtype.is_float():
        require_finite(series)
    if dtype in (pl.Int128, pl.UInt128):  # beyond what NumPy holds
        dtype = pl.Decimal(38, 0)
        decimals = series.alias("").cast(dtype, strict=False)
        if decimals.null_count() > series.null_count():
            row = (decimals.is_null() & series.alias("").is_not_null()).arg_true()[0]
            raise too_long(name, int(row))
        series = decimals
    series = series.alias("")  # polars may take a name such as ^a.*$ for a pattern
    if dtype.is_integer() or dtype.is_temporal():
        codes, values = _encode_integers(series)
    elif dtype.is_float():
        codes, values = _encode_by_search(series)
    else:
        codes, values = _encode_by_name(series)
    return _column(name, codes, values, ordered=dtype == pl.Enum)


def content_order(columns: Iterable[pl.Series]) -> Ints:
    """Return the rows of columns in an order that depends on what they hold alone.

    >>> content_order([pl.Series([2, 1, 2]), pl.Series(["b", "a", "a"])]).tolist()
    [1, 2, 0]
    """
    # Floats by rank, for an exact quasi-identifier may be infinite.
    keys = [
        (s.rank("dense").fill_null(0).to_numpy() if s.dtype.is_float() else encode(s).codes)
        for s in columns
    ]
    return np.lexsort(keys[::-1])


def encode_as(series: pl.Series, kind: str) -> Column:
    """Read a column as a type, and encode it.

    >>> encode_as(pl.Series("paid", ["7", None, "10", "7"]), "integer").codes
    array([0, 2, 1, 0], dtype=int32)
    """
    # Text is looked at value by value, not row by row: a long column may hold few of them.
    if not is_text(series.dtype) or len(series) < _LONG:
        return encode(convert(series, kind))
    if held_as_words(series.dtype):
        texts, at = in_words(series)
    else:
        packed = series.rechunk().to_arrow().dictionary_encode()
        texts = pl.Series(packed.dictionary, dtype=pl.String)
        at = packed.indices.fill_null(-1).to_numpy()
    occurs = np.bincount(at + 1, minlength=len(texts) + 1)[1:] > 0
    try:
        column = encode(convert(texts.filter(occurs), kind))
    except TableError:
        return encode(convert(series.cast(pl.String), kind))  # which says in which row
    position = np.full(len(texts) + 1, -1, dtype=np.int32)  # the last is for -1
    position[:-1][occurs] = column.codes
    values = column.domain.values
    assert values is not None  # noqa: S101 - text becomes neither vectors nor several columns
    return _column(series.name, position[at], values)


def _ticks(value: object, kind: pl.Date | pl.Datetime) -> int | None:
    """Return a date or a moment as a column holds it: 05.03.2024 is 2024-03-05T00:00."""
    written = pl.Series([str(value).strip()], dtype=pl.String)
    if infer_type(written) == "date":
        written = convert(written, "date").cast(pl.String)
    try:
        moment = datetime.fromisoformat(written[0])
    except ValueError:
        return None
    zone = kind.time_zone if isinstance(kind, pl.Datetime) else None
    if zone is None and moment.tzinfo is not None:
        return None
    ticks = pl.Series([moment], dtype=pl.Datetime("us", "UTC" if moment.tzinfo else None))
    if zone is not None and moment.tzinfo is None:
        ticks = ticks.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    held = ticks.to_physical()[0]
    # Not by a cast, which cuts off what the column's type cannot hold.
    ticks_a_day = _PER_DAY[kind.time_unit] if isinstance(kind, pl.Datetime) else 1
    per = Fraction(_PER_DAY["us"], ticks_a_day)
    return None if held is None or held % per else int(held / per)


def _texts(values: pl.Series) -> list[str]:
    if values.dtype == pl.Boolean:
        return ["true" if v else "false" for v in values]
    return [str(v) for v in values]


def join_columns(name: str, columns: Sequence[Column]) -> Column:
    """Encode several columns together: one code per combination that occurs."""
    # A row counts as missing when every one of its parts is.
    sizes = [c.domain.size for c in columns]
    key = columns[0].codes.astype(np.int64)
    parts: list[Ints | Codes] = [np.arange(sizes[0])]
    rows: Ints | None = None
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if len(parts[0]) == len(key):  # every row has a code of its own, whatever follows
            rows = np.argsort(key) if rows is None else rows
            parts.append(column.codes[rows])
            continue
        key = key * size + column.codes
        present, dense = compress(key, len(parts[0]) * size)
        parts = [part[present // size] for part in parts] + [present % size]
        key = dense.astype(np.int64)
    codes = key.astype(np.int32)
    table = np.stack(parts, axis=1).astype(np.int32)
    # Columns put their missing code last, so the all-missing combination is the last one too.
    lacking = [c.domain.missing for c in columns]
    all_missing = None not in lacking and table[-1].tolist() == lacking
    return Column(
        codes,
        Domain(
            name=name,
            histogram=np.bincount(codes, minlength=len(table)),
            missing=len(table) - 1 if all_missing else None,
            parts=table,
            components=tuple(c.domain for c in columns),
        ),
    )


def compress(key: Ints | Codes, size: int) -> tuple[Ints, Codes]:
    """Return the distinct keys in order, and each row's position among them."""
    # `size` bounds the keys; a small one is counted into a table, a large one sorted.
    if size <= 4 * len(key) + 1024:
        occurs = np.zeros(size, dtype=bool)
        occurs[key] = True
        position = np.cumsum(occurs, dtype=np.int32)
        position -= 1
        return np.flatnonzero(occurs), position[key]
    present, inverse = np.unique(key, return_inverse=True)
    return present.astype(np.int64), inverse.astype(np.int32)


def _column(name: str, codes: Codes, values: pl.Series, *, ordered: bool = False) -> Column:
    """Turn code -1 into the missing code, and count."""
    known = len(values)
    absent = codes < 0
    missing = known if bool(absent.any()) else None
    if missing is not None:
        codes = np.where(absent, np.int32(missing), codes)
    histogram = np.bincount(codes, minlength=known)
    return Column(
        codes,
        Domain(name=name, histogram=histogram, missing=missing, values=values, ordered=ordered),
    )


def _encode_integers(series: pl.Series) -> tuple[Codes, pl.Series]:
    """Encode integers and dates: through a table if their range is small, else by search."""
    physical = series.to_physical()
    low, high = physical.min(), physical.max()
    if not isinstance(low, int) or not isinstance(high, int):
        return np.full(len(series), -1, dtype=np.int32), series.head(0)
    if high - low > 4 * len(series) + 1024 or max(high, -low) >= 2**62:
        return _encode_by_search(series)
    absent = series.is_null().to_numpy() if series.has_nulls() else None
    filled = physical.to_numpy() if absent is None else physical.fill_null(low).to_numpy()
    offset = np.empty(len(filled), dtype=np.int32)
    np.subtract(filled, low, out=offset, dtype=np.int64, casting="unsafe")
    if absent is not None:
        present, _ = compress(offset[~absent], high - low + 1)
        position = np.zeros(high - low + 1, dtype=np.int32)
        position[present] = np.arange(len(present))
        codes = np.where(absent, np.int32(-1), position[offset])
    else:
        present, codes = compress(offset, high - low + 1)
    values = pl.Series(present + low).cast(physical.dtype).cast(series.dtype)
    return codes, values


def _encode_by_search(series: pl.Series) -> tuple[Codes, pl.Series]:
    values = series.drop_nulls().unique().sort()
    if not len(values):
        return np.full(len(series), -1, dtype=np.int32), values
    physical, distinct = series.to_physical(), values.to_physical()
    filled = physical.fill_null(distinct[0]).to_numpy()
    if len(values) * _FEW < len(series):
        codes = np.searchsorted(distinct.to_numpy(), filled).astype(np.int32)
    else:  # to sort all rows once is faster than a search for each
        codes = np.unique(filled, return_inverse=True)[1].astype(np.int32)
    if series.has_nulls():
        codes[series.is_null().to_numpy()] = -1
    return codes, values


def _encode_by_name(series: pl.Series) -> tuple[Codes, pl.Series]:
    """Encode text, categories, booleans and decimals: whatever polars can hash and sort."""
    if series.dtype == pl.Enum:
        names = series.dtype.categories  # type: ignore[attr-defined]
        at = series.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
        return _encode_words(names, at, ordered=True)
    if held_as_words(series.dtype):
        return _encode_words(*in_words(series))
    if isinstance(series.dtype, pl.Categorical):
        series = series.cast(pl.String)
    values = series.drop_nulls().unique().sort()
    if series.dtype == pl.String:
        found = series.cast(pl.Enum(values)).to_physical()
    else:
        found = series.replace_strict(values, pl.arange(len(values), eager=True), default=None)
    return found.cast(pl.Int32).fill_null(-1).to_numpy().astype(np.int32), values


def _encode_words(texts: pl.Series, at: Codes, *, ordered: bool = False) -> tuple[Codes, pl.Series]:
    """Encode a column that is encoded already: drop what does not occur, and sort the rest."""
    present = np.flatnonzero(np.bincount(at + 1, minlength=len(texts) + 1)[1:])
    values = texts.gather(present)
    order = np.arange(len(values)) if ordered else values.arg_sort().to_numpy()
    position = np.full(len(texts) + 1, -1, dtype=np.int32)  # the last is for -1
    position[present[order]] = np.arange(len(order))
    return position[at], values.gather(order)


def _vector(series: pl.Series) -> Column:
    """Encode a column of lists or structs as its components taken together."""
    columns = [encode(part) for part in vector_components(series)]
    if columns:
        return join_columns(series.name, columns)
    return Column(
        np.zeros(len(series), dtype=np.int32),
        Domain(name=series.name, histogram=np.array([len(series)]), missing=0),
    )
