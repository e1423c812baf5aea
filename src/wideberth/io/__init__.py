"""Tables in and out: CSV, Parquet and Arrow files, and any dataframe in memory.

Inside wideberth a table is a polars ``DataFrame`` in which null means missing. A CSV file arrives
as text, all of it (long columns as :mod:`wideberth.core.strings`): what a column *is* gets decided
in :mod:`wideberth.policy`, where "01234" can stay a postcode. Rows are counted from 1, the header
not included.

What cannot be read is a ``TableError``, what cannot be written an ``OutputError``. They never
quote a cell, as the parsers' own errors do, which are therefore replaced (``from None``).
"""

from wideberth.core.notation import notation, notations
from wideberth.io.csv import ReadOptions, TableWarning
from wideberth.io.dataframes import Back, adopt
from wideberth.io.formats import (
    SUFFIXES,
    formula_caution,
    formula_cells,
    is_csv,
    is_table,
    suffix_of,
)
from wideberth.io.journal import lock, open_regular
from wideberth.io.reader import batches, column_names, column_types, file_format, in_formats, read
from wideberth.io.transaction import locked, repair, unfinished
from wideberth.io.writer import (
    check_fits,
    check_target,
    drafts,
    holds,
    put,
    sweep_drafts,
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
    "column_names",
    "column_types",
    "drafts",
    "file_format",
    "formula_caution",
    "formula_cells",
    "holds",
    "in_formats",
    "is_csv",
    "is_table",
    "lock",
    "locked",
    "notation",
    "notations",
    "open_regular",
    "put",
    "read",
    "repair",
    "suffix_of",
    "sweep_drafts",
    "unfinished",
    "write",
    "write_text",
]
