"""Texts that look like addresses or numbers of people.

Severity: high if one row of a hundred or more has such a text, else medium.

What it cannot see: names, addresses of houses, and numbers of countries whose patterns are not
listed. What it takes for a number of a person may be something else: only its shape is looked at.
"""

from __future__ import annotations

import polars as pl

from wideberth.findings import Finding
from wideberth.words import is_text

_MANY = 0.01  # share of rows that is no accident
_DATE = r"\b[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}\b"
_DECIMAL = r"^\s*[+-]?[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?\s*$"  # a number of something else
#: What a text looks like, by what people call it. A date is no telephone number.
_SHAPES = {
    "e-mail addresses": r"[\w.+-]+@[\w-]+\.[A-Za-z]{2,}",
    "telephone numbers": r"\+[0-9]{1,3}[ /-]?\(?[0-9][0-9 ()/-]{5,}[0-9]\b"
    r"|\b0[0-9]{1,5}[ /-][0-9][0-9 /-]{4,}[0-9]\b"
    r"|\(?\b[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b",
    "bank account numbers (IBAN)": r"\b[A-Z]{2}[0-9]{2} ?([A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\b",
    "national identity numbers": r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b"  # United States
    r"|\b[A-CEGHJ-PR-TW-Z]{2} ?([0-9]{2} ?){3}[A-D]\b"  # United Kingdom
    r"|\b[A-Z]{6}[0-9]{2}[A-Z][0-9]{2}[A-Z][0-9]{3}[A-Z]\b"  # Italy
    r"|\b[12] ?[0-9]{2} ?[01][0-9] ?[0-9]{2} ?[0-9]{3} ?[0-9]{3} ?[0-9]{2}\b"  # France
    r"|\b[0-9]{6}[-+A][0-9]{3}[0-9A-Y]\b"  # Finland, Sweden, Denmark
    r"|\b[0-9XYZ][0-9]{7}-?[A-Z]\b",  # Spain
}


def personal_texts(series: pl.Series) -> list[Finding]:
    """Count the rows of a column whose texts look like addresses or numbers of people.

    >>> [str(finding) for finding in personal_texts(pl.Series("note", ["to a.b@example.org"]))]
    ["high: column 'note' holds texts that look like e-mail addresses"]
    """
    if not is_text(series.dtype) and not isinstance(series.dtype, pl.Categorical | pl.Enum):
        return []
    counted = series.alias("text").cast(pl.String).drop_nulls().value_counts()
    # Every pattern has an @ or three digits at least; nearly all texts of a table have neither.
    counted = counted.filter(pl.col("text").str.contains(r"@|[0-9].*[0-9].*[0-9]"))
    counted = counted.filter(~pl.col("text").str.contains(_DECIMAL))
    texts = counted["text"]
    found = []
    for what, pattern in _SHAPES.items():
        if texts.is_empty():
            break
        hits = texts.str.contains(pattern)
        if what == "telephone numbers":
            hits &= ~texts.str.contains(_DATE)
        rows = int(counted["count"].filter(hits).sum())
        if rows:
            often = rows >= _MANY * len(series)
            found.append(
                Finding(
                    name="personal-texts",
                    severity="high" if often else "medium",
                    title=f"column '{series.name}' holds texts that look like {what}",
                    meaning=f"{rows:,} of {len(series):,} rows may name a person outright.",
                    advice="Look at them; drop the column, or replace what names people.",
                    figures={"column": series.name, "rows": rows, "looks_like": what},
                )
            )
    return found
