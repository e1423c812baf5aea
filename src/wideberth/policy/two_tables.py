"""What the two tables of an anatomised release say together.

One has the quasi-identifiers of each row and its group; the other, for each group, its sensitive
values and how many of its rows hold each. Which row holds which is what nobody is told.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.codes import Codes, Column, encode
from wideberth.core.exact import Ints
from wideberth.core.strings import as_string, with_numbers
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.io.manifest import as_made, compare
from wideberth.principles import AlphaKAnonymity, Principle
from wideberth.principles.columns import require_column

QUASI_TABLE = "the table of quasi-identifiers"
SENSITIVE_TABLE = "the table of sensitive values"
#: The column that says how many rows of a group hold a value.
COUNT = "count"
#: The column of the join that says how likely a row holds a value.
PROBABILITY_COLUMN = "probability"
_BELONG = "both tables must belong to one release"
_ORDER = "name the two tables in the right order: quasi-identifiers first"


@dataclass(frozen=True, eq=False)
class AnatomyTables:
    """The two tables of an anatomised release."""

    quasi: pl.DataFrame  # a row for each person, with a column of group ids
    # group id, sensitive value, and how many rows hold it: one, if no column says so
    sensitive: pl.DataFrame
    group: str  # column of group ids; `value` is that of sensitive values
    value: str
    # the group of each row of `quasi`; `owner` is that of `sensitive`, numbered alike
    member: Codes
    owner: Codes
    counts: Ints  # how many rows each line of the sensitive table stands for

    @classmethod
    def of(cls, quasi: pl.DataFrame, sensitive: pl.DataFrame, group: str) -> AnatomyTables:
        """Take two tables together, or say why they do not belong together."""
        require_column(quasi, group, QUASI_TABLE)
        if COUNT in quasi.columns and COUNT not in sensitive.columns:
            raise TableError(
                f"{QUASI_TABLE} has a column '{COUNT}', {SENSITIVE_TABLE} has none", hint=_ORDER
            )
        require_column(sensitive, group, SENSITIVE_TABLE)
        if COUNT not in sensitive.columns:  # each line is one row then
            sensitive = sensitive.group_by(pl.all(), maintain_order=True).len(COUNT)
        values = [name for name in sensitive.columns if name not in (group, COUNT)]
        if len(values) != 1:
            raise TableError(
                f"{SENSITIVE_TABLE} has {len(values)} columns besides '{group}' and '{COUNT}', "
                "not one",
                hint=_ORDER,
            )
        if values[0] in quasi.columns:
            raise TableError(
                f"both tables have a column '{values[0]}'",
                hint="sensitive values beside quasi-identifiers are not hidden: remove them there",
            )
        ids = _ids(quasi[group], sensitive[group])
        member, owner = ids.codes[: quasi.height], ids.codes[quasi.height :]
        counts = whole_counts(sensitive[COUNT], SENSITIVE_TABLE)
        sizes = np.bincount(member, minlength=ids.domain.size)
        told = np.bincount(owner, minlength=ids.domain.size, weights=counts)
        wrong = np.flatnonzero(sizes != told)
        if len(wrong):
            many = "1 group does" if len(wrong) == 1 else f"{len(wrong):,} groups do"
            first = f"group {ids.domain.texts[int(wrong[0])]}"
            raise TableError(
                f"{many} not have as many rows in {QUASI_TABLE} as in {SENSITIVE_TABLE} "
                f"({'' if len(wrong) == 1 else 'the first is '}{first})",
                hint=_BELONG,
            )
        return cls(quasi, sensitive, group, values[0], member, owner, counts)

    def paired(self) -> pl.DataFrame:
        """Return the rows, each with one of its group's values, never mind which."""
        # All that a principle asks of groups is the same for every such pairing.
        order = np.argsort(self.owner, kind="stable")
        rows = self.quasi[np.argsort(self.member, kind="stable")]
        values = self.sensitive[self.value][np.repeat(order, self.counts[order])]
        return rows.with_columns(values)

    def joined(self) -> pl.DataFrame:
        """Pair each row with all values of its group, and say how likely each is."""
        if PROBABILITY_COLUMN in self.quasi.columns or self.value == PROBABILITY_COLUMN:
            raise TableError(
                f"the join needs a column '{PROBABILITY_COLUMN}', but there is one of that name",
                hint="rename it",
            )
        order = np.argsort(self.owner, kind="stable")
        many = np.bincount(self.owner)
        begin = np.cumsum(many) - many
        length = many[self.member]
        first = np.cumsum(length) - length
        within = np.arange(int(length.sum())) - np.repeat(first, length)
        line = order[np.repeat(begin[self.member], length) + within]
        sizes = np.bincount(self.member)
        likely = (self.counts / sizes[self.owner])[line]
        return self.quasi[np.repeat(np.arange(self.quasi.height), length)].with_columns(
            self.sensitive[self.value][line], pl.Series(PROBABILITY_COLUMN, likely)
        )


def require_anatomy_principle(principle: Principle) -> None:
    """Refuse a principle that two tables cannot answer for."""
    # Exact quasi-identifiers tell rows apart, so there are no groups of equal rows to check. And
    # which values of several attributes go together is not the same for every pairing.
    if principle.needs in ("size", "population") or isinstance(principle, AlphaKAnonymity):
        raise ParameterError(
            f"{principle.name} speaks of rows with equal quasi-identifiers, which anatomy "
            "publishes exactly",
            hint="leave it out; "
            + what_to_type(
                python="group_rows makes groups larger",
                command="--group-rows makes groups larger",
                app="“Rows in a group” in step 3 makes groups larger",
            ),
        )
    if principle.needs == "several" or isinstance(principle.on, tuple | list):
        raise ParameterError(
            f"{principle.name} is about several attributes, and anatomy publishes one",
            hint='algorithm = "mondrian", which publishes all of them',
        )


def join(
    quasi: object,
    sensitive: object,
    *,
    group: str = "group",
    options: io.ReadOptions | None = None,
) -> Any:
    """Join the two tables of an anatomised release, for analyses that need one.

    Every row is paired with all values of its group. Weighted by `probability`, counts and sums
    over the join estimate those over the original.

    Parameters
    ----------
    quasi, sensitive : dataframe or path
        The two published tables.
    group : str
        Their column of group ids.
    options : ReadOptions, optional
        How CSV files are read.

    Returns
    -------
    dataframe
        Of the kind of the first one.

    Examples
    --------
    >>> people = pl.DataFrame({"age": [23, 52], "group": [1, 1]})
    >>> found = pl.DataFrame({"group": [1, 1], "disease": ["flu", "ulcer"], "count": [1, 1]})
    >>> join(people, found).rows()
    [(23, 1, 'flu', 0.5), (23, 1, 'ulcer', 0.5), (52, 1, 'flu', 0.5), (52, 1, 'ulcer', 0.5)]
    """
    frame, back = load_table(quasi, options)
    other, _ = load_table(sensitive, options)
    together = AnatomyTables.of(frame, other, group)
    for note in compare(quasi, sensitive).notes:
        warnings.warn(note, io.TableWarning, stacklevel=2)
    joined = together.joined()
    # What comes from a file of text is text, or whole numbers.
    return back(pl.DataFrame([as_string(s) for s in with_numbers(joined, joined.columns)]))


def read_if_path(given: object, options: io.ReadOptions | None) -> object:
    """Return a table: what is given, or the file that it names."""
    if isinstance(given, str | Path):
        return io.read(given, as_made(given, options or io.ReadOptions()))
    return given


def load_table(given: object, options: io.ReadOptions | None) -> tuple[pl.DataFrame, io.Back]:
    """Take in a table, or the file that it names, with its numbers and dates read."""
    frame, back = io.adopt(read_if_path(given, options))
    if options is not None and not isinstance(given, str | Path):
        frame = io.in_formats(frame, options)
    return frame, back


def _ids(one: pl.Series, other: pl.Series) -> Column:
    """Number the groups of both tables alike."""
    if one.dtype != pl.Int64 or other.dtype != pl.Int64:  # 1 may be "1" in the other
        one, other = _written(one, QUASI_TABLE), _written(other, SENSITIVE_TABLE)
    for series, where in ((one, QUASI_TABLE), (other, SENSITIVE_TABLE)):
        if series.has_nulls():
            row = int(series.is_null().arg_true()[0]) + 1
            raise TableError(f"{where}: row {row} has no group", hint=_BELONG)
    return encode(pl.concat([one, other]))


def _written(series: pl.Series, where: str) -> pl.Series:
    """Return group ids as text; 1.0 is written 1."""
    if series.dtype.is_nested() or series.dtype == pl.Binary:
        raise TableError(f"{where}: column '{series.name}' holds no group ids", hint="numbers")
    if series.dtype.is_float() and (series == series.floor()).all():
        series = series.cast(pl.Int64, strict=False)
    return series.cast(pl.String)


def whole_counts(series: pl.Series, where: str) -> Ints:
    """Read a column of counts: whole numbers from 1."""
    whole = as_string(series).cast(pl.Int64, strict=False)
    if series.dtype.is_float():  # 1.5 is cut to 1, and no number of rows
        whole = whole.set(series != whole, None)
    many = whole.fill_null(0).to_numpy()
    if bool((many < 1).any()):
        row = int((many < 1).argmax()) + 1
        raise TableError(
            f"{where}: column '{series.name}', row {row}: not a number of rows",
            hint="whole numbers from 1",
        )
    return np.asarray(many, dtype=np.int64)
