"""Cells of text that a spreadsheet program would run as formulas.

Excel, LibreOffice and others evaluate a cell of a CSV file that begins with `=`, `+`, `-` or `@`,
some of them also after blanks, or if these signs are of full width; such a cell can fetch what lies
beside it and send it elsewhere. Whether it may stay as it is only the custodian can tell: cells are
counted here, never changed and never shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from wideberth.io.formats import is_csv

#: What all such cells begin with, in words.
BEGINNINGS = "=, +, -, @, a tab or a carriage return"

_SIGN = "+\uff0b\uff0d\u2212-"  # of full width, and the minus of typesetters
_FORMULA = rf"(?s)^(?:[\t\r]|\s*[=@\uff1d\uff20{_SIGN}])."
_NUMBER = (
    rf"[{_SIGN}]?(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+(?:\.[0-9]*)?|[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:e[+-]?[0-9]+)? ?%?"
)
#: Numbers, and intervals of them as releases write them, are no formulas.
_HARMLESS = (
    rf"(?i)^ *(?:{_NUMBER}(?:\.\.{_NUMBER})?(?: or missing)?|[{_SIGN}](?:inf(?:inity)?|nan))$"
)
_MANY = 5  # columns that are named


def formula_cells(frame: pl.DataFrame | pl.LazyFrame) -> dict[str, int]:
    """Count the cells of each column, its name among them, that look like formulas.

    >>> formula_cells(pl.DataFrame({"note": ["=1+1", "fine", "-5"], "+a": [-1, -2, -3]}))
    {'note': 1, '+a': 1}
    """
    total = {}
    for place, (name, dtype) in enumerate(frame.collect_schema().items()):
        column = frame.lazy().select(pl.nth(place))
        total[name] = _many(pl.LazyFrame({"": [name]}))
        categories = isinstance(dtype, pl.Categorical | pl.Enum)
        # Of categories, each text is looked at but once unless one is a formula.
        if dtype == pl.String or (categories and _many(column.unique())):
            total[name] += _many(column)
    return {name: many for name, many in total.items() if many}


def _many(cells: pl.LazyFrame) -> int:
    text = pl.first().cast(pl.String)
    # Most cells are passed over by comparing, which is fast; a formula begins up to - or = to @,
    # or with what is no ASCII.
    few = text.filter((text < ".") | text.is_between(pl.lit("="), pl.lit("A")) | (text > "~"))
    runs = few.str.contains(_FORMULA) & ~few.str.contains(_HARMLESS)
    return int(cells.select(runs.sum()).collect(engine="streaming").item())


def formula_caution(files: Mapping[Path, pl.DataFrame | pl.LazyFrame]) -> list[str]:
    """Warn of cells that look like formulas in the files of text that are written."""
    found: dict[str, int] = {}
    for path, frame in files.items():
        if is_csv(path):
            for name, many in formula_cells(frame).items():
                found[name] = found.get(name, 0) + many
    if not found:
        return []
    many = sum(found.values())
    cells = "1 cell begins" if many == 1 else f"{many:,} cells begin"
    return [
        f"{cells} with {BEGINNINGS}, and a spreadsheet program may run "
        f"{'it' if many == 1 else 'them'} as {'a formula' if many == 1 else 'formulas'}: "
        f"{by_column(found)}; nothing was changed"
    ]


def by_column(found: Mapping[str, int]) -> str:
    """List columns with their numbers, the first few of them.

    >>> by_column({"note": 3, "name": 1})
    "'note' (3), 'name' (1)"
    """
    named = [f"'{name}' ({many:,})" for name, many in found.items()]
    more = len(named) - _MANY
    return ", ".join(named[:_MANY]) + (f" and {more:,} more columns" if more > 0 else "")
