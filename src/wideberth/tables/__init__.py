"""Tables in and out: CSV, Parquet and Arrow files, and any dataframe in memory.

Inside wideberth a table is a polars ``DataFrame`` in which null means missing. A CSV file
arrives as text, all of it (long columns as :mod:`wideberth.words`): what a column *is* gets decided
in :mod:`wideberth.schema`, where "01234" can stay a postcode. Rows are counted from 1, the header
not included.

What cannot be read is a ``TableError``, what cannot be written an ``OutputError``. They never
quote a cell, as the parsers' own errors do, which are therefore replaced (``from None``).
"""

from wideberth.tables.delimited import ReadOptions, TableWarning
from wideberth.tables.formats import SUFFIXES, is_csv, is_table, suffix_of
from wideberth.tables.formulas import formula_caution, formula_cells
from wideberth.tables.memory import Back, adopt
from wideberth.tables.notation import notation, notations
from wideberth.tables.reading import batches, form_of, in_formats, names_of, read, types_of
from wideberth.tables.record import lock, opened
from wideberth.tables.transaction import locked, repair, unfinished
from wideberth.tables.writing import (
    check_fits,
    check_target,
    drafts,
    holds,
    put,
    sweep,
    write,
    write_text,
)

__all__ = [
    "SUFFIXES",
    "Back",
    "ReadOptions",
    "TableWarning",
    "adopt",
    "batches",
    "check_fits",
    "check_target",
    "drafts",
    "form_of",
    "formula_caution",
    "formula_cells",
    "holds",
    "in_formats",
    "is_csv",
    "is_table",
    "lock",
    "locked",
    "names_of",
    "notation",
    "notations",
    "opened",
    "put",
    "read",
    "repair",
    "suffix_of",
    "sweep",
    "types_of",
    "unfinished",
    "write",
    "write_text",
]
