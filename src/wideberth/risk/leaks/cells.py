"""Texts that look like addresses or numbers of people, or like formulas of a spreadsheet.

Severity: high if one row of a hundred or more names a person, else medium; low for formulas, which
endanger who opens the file.

What it cannot see: names, addresses of houses, and numbers of countries whose patterns are not
listed (`wideberth.policy.personal`). What it takes for a number of a person may be something else:
only its shape and its check digits are looked at.
"""

from __future__ import annotations

import polars as pl

from wideberth import io
from wideberth.core.strings import is_text
from wideberth.io.formats import BEGINNINGS, list_columns
from wideberth.policy.personal import POSSIBLE, WEB, find_personal, has_words
from wideberth.risk.findings import Finding

#: Share of rows that is no accident.
_MANY = 0.01
#: How many different texts of a column are searched, how many letters of each, and of all.
TEXTS, LETTERS, _ALL = 100_000, 10_000, 20_000_000
#: Whole numbers below this are no numbers of people that could be told by their digits.
_LONG = 10**9
#: Names of a kind of thing, not of a person by themselves.
_LESS = (WEB,)


def personal_texts(series: pl.Series) -> list[Finding]:
    """Count the rows of a column whose texts hold addresses or numbers of people.

    >>> [str(finding) for finding in personal_texts(pl.Series("note", ["to a.b@example.org"]))]
    ["high: column 'note' holds texts that look like e-mail addresses"]
    """
    # Sets and lists are searched as they are written, whole numbers if they are long. A sample of
    # the texts is searched if there are too many.
    texts = _texts(series)
    if texts is None:
        return []
    counted = texts.alias("text").drop_nulls().value_counts()
    words = has_words(counted["text"])
    counted = counted.filter(pl.col("text").str.contains(POSSIBLE))
    searched, all_of_them = _sample(counted)
    found = []
    for what, hits in find_personal(searched["text"], words=words).items():
        rows = int(searched["count"].filter(pl.Series(hits)).sum())
        often = rows >= _MANY * len(series) and what not in _LESS
        found.append(
            Finding(
                name="personal-texts",
                severity="high" if often else "medium",
                title=f"column '{series.name}' holds texts that look like {what}",
                meaning=f"{'' if all_of_them else 'At least '}{rows:,} of {len(series):,} rows may "
                "name a person outright.",
                advice="Look at them; drop the column, or replace what names people.",
                figures={"column": series.name, "rows": rows, "looks_like": what},
            )
        )
    if not all_of_them:
        found.append(
            Finding(
                name="texts-sampled",
                severity="info",
                title=f"not all texts of column '{series.name}' were searched for addresses and "
                "numbers of people",
                meaning=f"{searched.height:,} of {counted.height:,} different texts were searched, "
                f"drawn at random, the first {LETTERS:,} letters of each.",
                advice="Free text may name people in any row: drop the column.",
                figures={
                    "column": series.name,
                    "searched": searched.height,
                    "of": counted.height,
                },
            )
        )
    return found


def _texts(series: pl.Series) -> pl.Series | None:
    """Return a column as texts; None if it can hold no address or number of a person."""
    dtype, bare = series.dtype, series.alias("text")
    if is_text(dtype) or isinstance(dtype, pl.Categorical | pl.Enum):
        return bare.cast(pl.String)
    if dtype.is_integer():
        largest = bare.max()
        return bare.cast(pl.String) if isinstance(largest, int) and largest >= _LONG else None
    if isinstance(dtype, pl.List | pl.Array):
        inner = dtype.inner
        if inner == pl.String or isinstance(inner, pl.Categorical | pl.Enum):
            lists = bare.cast(pl.List(pl.String))
            return lists.list.join(" | ", ignore_nulls=True)
    return None


def _sample(counted: pl.DataFrame) -> tuple[pl.DataFrame, bool]:
    """Take some texts if there are too many, or if they are too long; tell whether it is all."""
    letters = counted["text"].str.len_bytes()
    whole = int(letters.max() or 0) <= LETTERS  # type: ignore[arg-type]
    if not whole:
        counted = counted.with_columns(pl.col("text").str.slice(0, LETTERS))
    mean = max(float(letters.clip(0, LETTERS).mean() or 0), 1.0)  # type: ignore[arg-type]
    many = min(TEXTS, int(_ALL / mean))
    if counted.height <= many:
        return counted, whole
    return counted.sample(many, seed=0), False


def formulas(frame: pl.DataFrame) -> list[Finding]:
    """Count the cells of a file of text that a spreadsheet program would run.

    >>> [str(finding) for finding in formulas(pl.DataFrame({"note": ["=A1", "-5"]}))]
    ['low: 1 cell looks like a formula of a spreadsheet']
    """
    found = io.formula_cells(frame)
    if not found:
        return []
    many = sum(found.values())
    cells = "1 cell looks like a formula" if many == 1 else f"{many:,} cells look like formulas"
    return [
        Finding(
            name="formulas",
            severity="low",
            title=f"{cells} of a spreadsheet",
            meaning=f"They begin with {BEGINNINGS}: {list_columns(found)}. A spreadsheet program "
            "that opens the file may run them, and what they do is up to whoever entered them.",
            advice="Look at these cells; publish a .parquet file, or tell readers to import the "
            "columns as text.",
            figures={"cells": many, "by_column": found},
        )
    ]
