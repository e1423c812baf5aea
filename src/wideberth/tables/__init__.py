"""Tables in and out: CSV, Parquet and Arrow files, and any dataframe in memory.

Inside wideberth a table is a polars ``DataFrame`` in which null means missing. A CSV file
arrives as text, all of it (long columns as :mod:`wideberth.words`): what a column *is* gets decided
in :mod:`wideberth.schema`, where "01234" can stay a postcode. Rows are counted from 1, the header
not included.

What cannot be read is a ``TableError``, what cannot be written an ``OutputError``. They never
quote a cell, as the parsers' own errors do, which are therefore replaced (``from None``).
"""

from wideberth.tables.delimited import ReadOptions, TableWarning
from wideberth.tables.formats import is_csv, is_table, suffix_of
from wideberth.tables.memory import Back, adopt
from wideberth.tables.reading import batches, form_of, names_of, read, types_of
from wideberth.tables.writing import (
    check_fits,
    check_target,
    drafts,
    holds,
    lock,
    put,
    write,
    write_text,
)

__all__ = [
    "Back",
    "ReadOptions",
    "TableWarning",
    "adopt",
    "batches",
    "check_fits",
    "check_target",
    "drafts",
    "form_of",
    "holds",
    "is_csv",
    "is_table",
    "lock",
    "names_of",
    "put",
    "read",
    "suffix_of",
    "types_of",
    "write",
    "write_text",
]
