"""What `init` remarks on a table: notations, missing cells, and rows that are no people.

A remark names columns, counts and rows, and never a person's value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from wideberth.core.notation import plainly_numbers
from wideberth.core.questions import is_read, is_remarked, like_missing, on_values, tokens
from wideberth.core.strings import is_text
from wideberth.core.types import unnamed
from wideberth.io import ReadOptions, in_formats, notation, notations
from wideberth.policy.strays import strays_in


def proposed(frame: pl.DataFrame, options: ReadOptions) -> ReadOptions:
    """Propose how to read a table better: notations that leave no doubt, and what is missing.

    >>> people = pl.DataFrame({"wage": ["1200,50", "N/A"], "sex": ["f", "m"]})
    >>> better = proposed(people, ReadOptions())
    >>> better.missing, better.formats
    (('?', '', 'NA', 'N/A'), {'wage': '1234,56'})
    """
    # A token counts as missing if numbers or dates stand beside it in every column that has it.
    texts = {
        series.name: unnamed(series).drop_nulls().unique().cast(pl.String)
        for series in frame
        if is_text(series.dtype)
    }
    texts = {name: column for name, column in texts.items() if not plainly_numbers(column)}
    found: dict[str, bool] = {}
    for column in texts.values():
        blank = like_missing(column)
        if blank.any():
            rest = column.filter(~blank)
            read = len(rest) > 0 and is_read(rest)
            for token in tokens(column.filter(blank)):
                found[token] = read and found.get(token, True)
    sure = [token for token, read in found.items() if read]
    formats = dict(options.formats)
    for name, column in texts.items():
        ways = notations(column.filter(~column.str.strip_chars().is_in(sure)))
        if len(ways) == 1 and name not in formats:
            formats[name] = ways[0]
    return replace(options, missing=(*options.missing, *sure), formats=formats)


def noticed(frame: pl.DataFrame, options: ReadOptions, better: ReadOptions) -> list[str]:
    """Return what `init` noticed: how columns are read, what looks missing or alike, strays."""
    added = [token for token in better.missing if token not in options.missing]
    said = [f'"{token}" is proposed as missing: {_counted(frame, token)}' for token in added]
    said += [
        f"{column} is written as {way}: read as {'dates' if notation(way).date else 'numbers'}, "
        "see [formats]"
        for column, way in better.formats.items()
        if column not in options.formats
    ]
    for series in frame:
        if is_remarked(series.dtype):
            texts = unnamed(series).drop_nulls().unique().cast(pl.String)
            texts = texts.filter(~texts.str.strip_chars().is_in(added))
            known = series.name in better.formats
            said += on_values(series.name, pl.Series() if known else texts) if len(texts) else []
    return [*said, *strays_in(in_formats(frame, options)).notes]


def _counted(frame: pl.DataFrame, token: str) -> str:
    counts: Mapping[str, int] = {
        series.name: int((unnamed(series).cast(pl.String).str.strip_chars() == token).sum())
        for series in frame
        if is_text(series.dtype)
    }
    found: Sequence[str] = [f"{many:,} in {name}" for name, many in counts.items() if many]
    return ", ".join(found)
