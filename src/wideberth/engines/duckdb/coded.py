"""Columns as ascending integers inside the database, so that rows are sorted by few of them.

Codes follow the order of the values, a missing one last, as those of `wideberth.core.codes` do; so
groups come in the same order as in memory. Several codes are packed into one 64-bit word.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from wideberth.core.codes import encode
from wideberth.core.exact import Ints
from wideberth.core.strings import is_text
from wideberth.core.types import require_finite
from wideberth.errors import TableError
from wideberth.hierarchy.quasi import FIXED, ONE_WAY, PERHAPS, one_text_per_value
from wideberth.io.formats import check_dates
from wideberth.principles.counts import without_row_numbers

if TYPE_CHECKING:
    from wideberth.engines.duckdb.source import FileSource

#: Words stay below, so that a product of sizes never overflows.
_MOST = 2**62


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """A column as codes."""

    size: int  # codes lie below; not all need occur, and the last one may stand for missing
    known: bool  # whether any value is not missing
    expression: str  # the code, in SQL
    join: str  # what must be joined for it, in SQL
    # returns the values behind codes, without a name: polars may take one for a pattern
    values: Callable[[Ints], pl.Series]
    rewritten: bool = False  # whether texts that differ have the same code


def code_column(source: FileSource, name: str, readable: Mapping[str, Any]) -> CodedColumn:
    """Find codes for a column; text that may be numbers or dates has one for each value."""
    dtype = source.types[name]
    if dtype.is_nested() or dtype == pl.Enum:
        return _by_encoding(source, name)
    if dtype.is_integer() or dtype in (pl.Date, pl.Duration):
        offset = _by_offset(source, name)
        if offset is not None:
            return offset
    if dtype.is_float():
        _require_finite(source, name)
    return _by_rank(source, name, readable)


def _by_offset(source: FileSource, name: str) -> CodedColumn | None:
    """Count whole numbers or dates from the lowest one; None if they span too much."""
    dtype, column = source.types[name], source.place(name)
    # In numbers before they come here: not every date of the database is one of Python's.
    number = column if dtype != pl.Date else f"({column} - DATE '1970-01-01')"
    low, high, known = source.row(f"SELECT min({number}), max({number}), count({column})")
    if not known:
        low, high = 0, -1
    if dtype == pl.Date and known:
        ends = pl.Series(name, [low, high]).cast(pl.Int32).cast(pl.Date)
        check_dates(ends.to_frame(), "the distinct values")
    if max(abs(low), abs(high)) >= _MOST or high - low >= _MOST:
        return None
    span = high - low + 1

    def values(codes: Ints) -> pl.Series:
        series = pl.Series(codes + low)
        return series.set(pl.Series(codes == span), None).cast(dtype)

    expression = f"coalesce({number}::BIGINT - ({low}), {span})"
    return CodedColumn(span + (known < source.rows), known > 0, expression, "", values)


def _by_rank(source: FileSource, name: str, readable: Mapping[str, Any]) -> CodedColumn:
    """Number text and the like in the database, whose order of them is ours."""
    column, table = source.place(name), source.unused()
    source.run(
        f"CREATE TABLE {table} AS "  # noqa: S608 - no names of users
        "SELECT v, row_number() OVER (ORDER BY v) - 1 AS code "
        f"FROM (SELECT DISTINCT {column} AS v FROM {source.table} WHERE {column} IS NOT NULL)"
    )
    looked_up = distinct = table
    if name in readable and is_text(source.types[name]):
        table, looked_up = _merged(source, name, table, readable[name])
    span, known = source.row(
        f"SELECT (SELECT count(*) FROM {looked_up}), count({column})"  # noqa: S608
    )

    def values(codes: Ints) -> pl.Series:
        wanted, place = np.unique(codes, return_inverse=True)
        return source.looked_up(looked_up, wanted).cast(source.types[name]).gather(place)

    return CodedColumn(
        span + (known < source.rows),
        known > 0,
        f"coalesce({table}.code, {span})",
        f"LEFT JOIN {table} ON {column} = {table}.v",
        values,
        rewritten=table != distinct,
    )


def _merged(source: FileSource, name: str, table: str, hierarchy: object) -> tuple[str, str]:
    """Give texts of the same number or date the same code."""
    # Returns the names of two tables: codes by text, and texts by code.
    matching = (f"count(*) FILTER (regexp_full_match(v, '{p}'))" for p in (PERHAPS, ONE_WAY, FIXED))
    places = "length(v) - strpos(v, '.')"
    perhaps, one_way, fixed, least, most, all_of_them = source.only(
        f"SELECT {', '.join(matching)}, min({places}), max({places}), count(*) FROM {table}"  # noqa: S608
    )
    if all_of_them in (0, one_way) or perhaps < all_of_them:
        return table, table
    if fixed == all_of_them and least == most:
        return table, table
    texts = source.digest((name,)).frame.to_series().drop_nulls()
    written = one_text_per_value(texts, hierarchy)
    if written is texts:
        return table, table
    lent = source.lent(pl.DataFrame({"v": texts, "s": written, "code": encode(written).codes}))
    codes, values = source.unused(), source.unused()
    source.run(f"CREATE TABLE {codes} AS SELECT v, code FROM {lent}")  # noqa: S608
    source.run(f"CREATE TABLE {values} AS SELECT DISTINCT s AS v, code FROM {lent}")  # noqa: S608
    return codes, values


def _by_encoding(source: FileSource, name: str) -> CodedColumn:
    """Encode lists, structs and ordered categories as in memory, by their distinct values."""
    digest, table = source.numbered((name,))
    series = digest.frame.to_series()
    with without_row_numbers():
        column = encode(series)
    first = np.full(column.domain.size, -1)
    first[column.codes[::-1]] = np.arange(len(series))[::-1]
    codes = source.lent(pl.DataFrame({"i": np.arange(len(series)), "code": column.codes}))
    made = source.unused()
    source.run(
        f"CREATE TABLE {made} AS SELECT {table}.v0 AS v, {codes}.code "  # noqa: S608
        f"FROM {table} JOIN {codes} USING (i)"
    )
    return CodedColumn(
        column.domain.size,
        column.domain.known > 0,
        f"{made}.code",
        f"JOIN {made} ON {source.place(name)} IS NOT DISTINCT FROM {made}.v",
        lambda wanted: series.alias("").gather(first[wanted]),
    )


def _require_finite(source: FileSource, name: str) -> None:
    column = source.place(name)
    for odd in ("nan", "inf", "-inf"):
        if source.row(f"SELECT count(*) FILTER ({column} = '{odd}'::DOUBLE)")[0]:
            with without_row_numbers():
                require_finite(pl.Series(name, [float(odd)]))


class PackedKeys:
    """What makes the groups: some columns, their codes packed into words."""

    def __init__(self, columns: dict[str, CodedColumn]) -> None:
        self.columns = columns
        self.spans = _packed([column.size for column in columns.values()])

    @property
    def names(self) -> list[str]:
        """The words, by the names they have in blocks."""
        return [f"k{i}" for i in range(len(self.spans))]

    @property
    def combinations(self) -> int:
        """How many groups there can be at most."""
        return prod(column.size for column in self.columns.values())

    def words(self) -> list[str]:
        """Return the words in SQL."""
        codes = iter(self.columns.values())
        words = []
        for sizes in self.spans:
            word = "0::BIGINT"
            for size in sizes:
                word = f"({word} * {size} + {next(codes).expression})"
            words.append(word)
        return words

    def values(self, keys: pl.DataFrame) -> pl.DataFrame:
        """Return what words stand for: the cells that identify groups."""
        codes: list[Ints] = []
        for name, sizes in zip(self.names, self.spans, strict=True):
            word, parts = keys[name].to_numpy(), []
            for size in reversed(sizes):
                word, code = np.divmod(word, size)
                parts.append(code)
            codes += reversed(parts)
        cells = [c.values(code) for c, code in zip(self.columns.values(), codes, strict=True)]
        named = zip(cells, self.columns, strict=True)
        return pl.DataFrame([series.alias(name) for series, name in named])


def _packed(sizes: Sequence[int]) -> list[list[int]]:
    """Part sizes into runs whose product is that of a word.

    >>> _packed([2**40, 2**20, 2**30])
    [[1099511627776, 1048576], [1073741824]]
    """
    words: list[list[int]] = []
    for size in sizes:
        if words and fits_in_word(words[-1], size):
            words[-1].append(size)
        else:
            words.append([size])
    return words


def fits_in_word(word: Sequence[int], size: int) -> bool:
    """Return whether one more code goes into a word."""
    return prod(word) * size < _MOST


def require_held(name: str, dtype: pl.DataType) -> None:
    """Refuse a column whose type the database does not know."""
    if dtype in (pl.Int128, pl.UInt128, pl.Object):
        raise TableError(
            f"column '{name}' has polars type {dtype.base_type().__name__}, which cannot be read "
            "in parts",
            hint="convert it to 64 bits, a decimal or text first, or leave out memory=",
        )
