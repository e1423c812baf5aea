"""Rows that are no people: totals, averages, footnotes, and rows that are empty.

Spreadsheets end with them, and some have subtotals in between. Published, they count as people. A
remark names rows and counts, and never a person's value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from wideberth.core.strings import is_text
from wideberth.core.types import convert, infer_type, unnamed
from wideberth.errors import UndecidedError
from wideberth.policy.people import how_to_declare_people

_TOTALS = (
    *("total", "totals", "grand total", "overall total", "sum", "summe", "gesamt", "gesamtsumme"),
    *("insgesamt", "somme", "suma", "summa", "totale", "totales", "totaal", "totalt"),
    *("subtotal", "sub-total", "sub total", "subtotals", "zwischensumme", "teilsumme"),
    *("sous-total", "sous total", "subtotale", "total general", "total général", "sumas"),
)
#: These may be values as well, as an average build is, so that a row needs more than such a word.
_AVERAGES = (
    *(
        "average",
        "avg",
        "avg.",
        "mean",
        "median",
        "durchschnitt",
        "mittelwert",
        "mittel",
        "moyenne",
    ),
    *("media", "mediana", "promedio", "gemiddelde", "count", "anzahl", "recuento"),
    *("minimum", "maximum"),
)
_WORDS = "|".join(re.escape(w) for w in sorted((*_TOTALS, *_AVERAGES), key=len, reverse=True))
#: A cell that begins with such a word; read alike by polars, DuckDB and Spark.
CALLED = rf"(?i)^\s*(?:{_WORDS})\s*(?:[:.]\s*)?(?:$|\s\S)"
#: Rows at the end that are looked at; rows elsewhere that are looked at if a word fits.
ENDS, CANDIDATES = 5, 1000
_NUMBERS = ("integer", "float", "decimal")
_ROUNDING, _ABOUT = 1e-9, 1e-2
_MANY = 8  # rows above which a row without such a word may be taken for a sum
_SELDOM, _FEW = 0.1, 5  # the share of rows, or rows, that lack a cell which people usually have


@dataclass(frozen=True, eq=False, kw_only=True)
class TableFacts:
    """What is asked of a table, wherever its rows are."""

    rows: int
    empty: int  # how many rows are empty in all columns
    ends: pl.DataFrame | None  # the last rows; None of a table without an order
    called: pl.DataFrame  # rows in which a text begins with a word for a total
    numbers: Sequence[int]  # which rows these are, from 1; 0 if rows have no numbers
    nulls: Callable[[], Mapping[str, int]]  # how many rows lack a cell, by column
    sums: Callable[[str], float | None]  # the sum of a column of numbers; None of another column
    count: Callable[[str, str], int]  # how many rows have a text in a column


@dataclass(frozen=True)
class NonPersonRows:
    """Rows of a table that are no people, by their numbers from 1; 0 if rows have no numbers."""

    rows: int
    totals: tuple[int, ...] = ()
    footnotes: tuple[int, ...] = ()
    empty: int = 0

    @property
    def what(self) -> str | None:
        """What must be answered before the table is published; None if nothing."""
        said = []
        if self.totals:
            one = len(self.totals) == 1
            which = _which(self.totals, self.rows)
            said.append(
                f"{which} looks like a total, not like a person"
                if one
                else f"{which} look like totals, not like people"
            )
        if self.footnotes:
            one = len(self.footnotes) == 1
            which = _which(self.footnotes, self.rows)
            said.append(
                f"{which} has one cell only, and looks like a footnote, not like a person"
                if one
                else f"{which} have one cell only, and look like footnotes, not like people"
            )
        return "; ".join(said) or None

    @property
    def notes(self) -> list[str]:
        """What must be said of them."""
        said = [] if self.what is None else [f"{self.what}: delete {self._it}"]
        if self.empty == 1:
            said.append("1 row is empty in all columns, but counts as a person: delete it")
        elif self.empty:
            said.append(
                f"{self.empty:,} rows are empty in all columns, but count as people: delete them"
            )
        return said

    @property
    def _it(self) -> str:
        return "it" if len(self.totals) + len(self.footnotes) == 1 else "them"

    def require_none(self) -> None:
        """Refuse a table with a total or a footnote: it would be published as a person.

        >>> table = pl.DataFrame({"name": ["a", "b", "Total"], "pay": [1, 2, 3]})
        >>> find_non_person_rows(table).require_none()
        Traceback (most recent call last):
        wideberth.errors.UndecidedError: the last row (row 3) looks like a total, not like a person
          try: delete it; or, if every row is a different person, rows_are_people=True
        """
        if self.what is not None:
            raise UndecidedError(
                self.what, hint=f"delete {self._it}; or, {how_to_declare_people()}"
            )


def _which(numbers: Sequence[int], rows: int) -> str:
    if len(numbers) == 1:
        (number,) = numbers
        if number == rows:
            return f"the last row (row {number})"
        return f"row {number}" if number else "a row"
    if not all(numbers):
        return f"{len(numbers):,} rows"
    listed = [str(number) for number in numbers[:3]]
    if more := len(numbers) - len(listed):
        return f"rows {', '.join(listed)} and {more:,} more"
    return f"rows {', '.join(listed[:-1])} and {listed[-1]}"


def non_person_remarks(frame: pl.DataFrame) -> list[str]:
    """Remark on rows that are no people.

    >>> non_person_remarks(pl.DataFrame({"name": ["a", "b", "Total"], "pay": [1, 2, 3]}))
    ['the last row (row 3) looks like a total, not like a person: delete it']
    """
    return find_non_person_rows(frame).notes


def find_non_person_rows(frame: pl.DataFrame) -> NonPersonRows:
    """Return the rows of a table that are no people.

    >>> table = pl.DataFrame({"name": ["a", "b", "Sum", None], "pay": [1, 2, 3, None]})
    >>> find_non_person_rows(table)
    NonPersonRows(rows=4, totals=(3,), footnotes=(), empty=1)
    """
    texts = [series for series in frame if is_text(series.dtype)]
    hit = pl.repeat(False, frame.height, eager=True, dtype=pl.Boolean)
    for series in texts:
        hit |= unnamed(series).cast(pl.String).str.contains(CALLED).fill_null(False)
    at = hit.arg_true().head(CANDIDATES)
    lacking = pl.repeat(True, frame.height, eager=True, dtype=pl.Boolean)
    for series in frame if frame.width > 1 else ():
        lacking &= unnamed(series).is_null()
    called = frame[at]

    def sums(name: str) -> float | None:
        numbers = _numbers(frame[name])
        return None if numbers is None else float(numbers.sum())

    return non_person_rows_by_facts(
        TableFacts(
            rows=frame.height,
            empty=int(lacking.sum()) if frame.width > 1 else 0,
            ends=frame.tail(2 * ENDS),
            called=called,
            numbers=[int(row) + 1 for row in at],
            nulls=lambda: {series.name: series.null_count() for series in frame},
            sums=sums,
            count=lambda name, text: int((unnamed(frame[name]).cast(pl.String) == text).sum()),
        )
    )


def non_person_rows_by_facts(facts: TableFacts) -> NonPersonRows:
    """Return the rows of a table that are no people, by what is known of it."""
    if facts.rows < 3:
        return NonPersonRows(facts.rows)
    look = _RowInspection(facts)
    footnotes, last = look.footnotes()
    totals = [
        number
        for number, row in zip(facts.numbers, facts.called.iter_rows(named=True), strict=True)
        if look.is_total(row, near=last - ENDS < number <= last)
    ]
    if not totals and facts.ends is not None and look.is_sum(last):
        totals = [last]
    kept = [number for number in footnotes if number not in totals]
    return NonPersonRows(facts.rows, tuple(totals), tuple(kept), facts.empty)


class _RowInspection:
    """A look at single rows of a table."""

    def __init__(self, facts: TableFacts) -> None:
        self.facts = facts
        self._nulls: Mapping[str, int] | None = None

    @property
    def nulls(self) -> Mapping[str, int]:
        """How many rows lack a cell, by column."""
        if self._nulls is None:
            self._nulls = self.facts.nulls()
        return self._nulls

    def lacking(self, row: Mapping[str, object]) -> list[str]:
        """Return the columns that a row lacks, and people usually have."""
        most = max(_SELDOM * self.facts.rows, _FEW) + self.facts.empty
        return [name for name, cell in row.items() if cell is None and self.nulls[name] <= most]

    def row(self, number: int) -> dict[str, object]:
        """Return one of the last rows; an empty one if it is not among them."""
        ends = self.facts.ends
        at = -1 if ends is None else number - 1 - (self.facts.rows - ends.height)
        return {} if ends is None or at < 0 else ends.row(at, named=True)

    def footnotes(self) -> tuple[list[int], int]:
        """Return the rows at the end that are footnotes, and the last one that is not."""
        found: list[int] = []
        last = self.facts.rows
        while (row := self.row(last)) and len(found) < ENDS:
            present = [cell for cell in row.values() if cell is not None]
            if len(present) == 1 and len(self.lacking(row)) > 1 and isinstance(present[0], str):
                if not re.search(CALLED, present[0]):
                    found.append(last)
            elif present:
                break
            last -= 1
        return found[::-1], last

    def is_total(self, row: Mapping[str, object], *, near: bool) -> bool:
        """Return whether a row with a word for a total is one; near the end, less is enough."""
        texts = {name: cell for name, cell in row.items() if isinstance(cell, str)}
        words = {name: cell.strip().rstrip(":.").strip().lower() for name, cell in texts.items()}
        named = [name for name, cell in texts.items() if re.search(CALLED, cell)]
        if near and any(
            words[name] in _TOTALS and self.facts.count(name, texts[name]) == 1 for name in named
        ):
            return True
        lacking = self.lacking(row)
        others = max(len(row) - len(named), 1)
        if len(lacking) * 2 > others or (near and lacking):
            return True
        averaged = any(words[name] in _AVERAGES for name in named)
        return any(self._adds_up(name, cell, averaged) for name, cell in row.items())

    def is_sum(self, last: int) -> bool:
        """Return whether the last row alone lacks a cell, and has the sum of a column."""
        # Of few numbers the last may be the sum of the others by chance.
        if last <= _MANY:
            return False
        row = self.row(last)
        alone = 1 + self.facts.rows - last
        if not any(cell is None and self.nulls[name] <= alone for name, cell in row.items()):
            return False
        return any(self._adds_up(name, cell, False) for name, cell in row.items())

    def _adds_up(self, name: str, cell: object, averaged: bool) -> bool:
        """Return whether a cell is the sum of the others in its column, or their average."""
        value = _number(cell)
        if not value or (total := self.facts.sums(name)) is None:
            return False
        rest = total - value
        mean = rest / (self.facts.rows - 1)
        return abs(rest - value) <= _ROUNDING * abs(value) or (
            averaged and abs(mean - value) <= _ABOUT * abs(value)
        )


def _number(cell: object) -> float | None:
    if isinstance(cell, bool) or cell is None:
        return None
    try:
        return float(str(cell))
    except ValueError:
        return None


def _numbers(series: pl.Series) -> pl.Series | None:
    """Return a column's numbers; None if it holds others than numbers, or a word beside them."""
    cells = unnamed(series)
    kind = infer_type(cells)
    return convert(cells, kind).cast(pl.Float64) if kind in _NUMBERS else None
