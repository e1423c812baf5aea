"""The last look before a release is handed out: does it keep its word, does it tell the truth.

Everything is judged from the table that is about to be published, so that a mistake anywhere
before is found here. What fails is not published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.check import check
from wideberth.checks.result import CheckResult
from wideberth.core.codes import encode
from wideberth.core.exact import Ints
from wideberth.core.threads import spread
from wideberth.errors import VerificationError
from wideberth.hierarchy.quasi import Quasi
from wideberth.policy.two_tables import COUNT
from wideberth.release.styles import Style
from wideberth.release.verify import covers


def require_truth(
    table: pl.DataFrame,
    original: pl.DataFrame,
    order: Ints,
    *,
    quasis: Sequence[Quasi],
    styles: Mapping[str, Style],
    untouched: Sequence[str],
    group: str | None,
    consistent: bool = False,
) -> None:
    """Raise unless a table that is about to be published says the truth about its rows."""
    # original: the columns that must be as they were, of the rows behind the table. order: the row
    # of the original that each published row stands for. consistent: a value must be published in
    # the same way wherever it occurs.
    rows = len(quasis[0].codes)
    seen = np.zeros(rows, dtype=bool)
    seen[order] = True
    if len(order) != rows or not seen.all():
        raise _defect("rows were lost or doubled")
    expected = [name for quasi in quasis for name in styles[quasi.name].columns(quasi)]
    alike = list(expected)
    expected += [*untouched, *([group] if group else [])]
    if sorted(table.columns) != sorted(expected):
        raise _defect("its columns are not those to be published")

    def covered(quasi: Quasi) -> bool:
        columns = [table[name] for name in styles[quasi.name].columns(quasi)]
        _require_no_more(columns)
        return covers(quasi, styles[quasi.name], columns, quasi.codes[order])

    for quasi, fine in zip(quasis, spread(covered, quasis), strict=True):
        if not fine:
            raise _defect(f"published values of '{quasi.name}' do not cover the original ones")
    if group:
        _require_uniform(table, group, alike)
    if consistent:
        _require_consistent(table, quasis, order)
    for name in untouched:
        _require_same(table[name], original[name][order])


def require_anatomy(
    quasi: pl.DataFrame,
    sensitive: pl.DataFrame,
    original: pl.DataFrame,
    rows: Ints,
    *,
    untouched: Sequence[str],
    group: str,
    value: str,
) -> None:
    """Raise unless two tables that are about to be published say the truth, and no more."""
    # rows: the row of the original that each published row stands for. untouched: the columns that
    # must be as they were.
    if len(np.unique(rows)) < quasi.height or len(rows) != quasi.height:
        raise _defect("rows were lost or doubled")
    if [quasi.columns, sensitive.columns] != [[*untouched, group], [group, value, COUNT]]:
        raise _defect("its columns are not those to be published")
    _require_no_more([*quasi, *sensitive])
    for name in untouched:
        _require_same(quasi[name], original[name][rows])
    truth = pl.DataFrame([quasi[group], _as_text(original[value][rows])])
    told = pl.DataFrame([sensitive[group], _as_text(sensitive[value]), sensitive[COUNT]])
    if not _tally(truth, pl.len()).equals(_tally(told, pl.nth(2))):
        raise _defect(f"values of '{value}' are not counted as they are")
    if not _as_text(sensitive[value]).equals(told.sort(pl.nth(0, 1), nulls_last=True)[value]):
        # Their order must not be that of rows.
        raise _defect(f"values of '{value}' are not sorted")


def _tally(table: pl.DataFrame, many: pl.Expr) -> pl.DataFrame:
    """Count rows by the first two columns."""
    return table.group_by(pl.nth(0, 1)).agg(many.cast(pl.Int64).sum().alias("")).sort(pl.nth(0, 1))


def require_principles(table: pl.DataFrame, question: Mapping[str, Any]) -> CheckResult:
    """Raise unless a table that is about to be published keeps its principles."""
    # question: how `wideberth.check` asks whether the principles are kept.
    result = check(table, worst=0, **question)
    if result.uneven is not None:
        raise _defect(f"'{result.uneven.columns[0]}' differs within a group")
    if not result:
        failing = next(report for report in result.principles if not report.satisfied)
        raise _defect(f"{failing.violating_groups:,} groups violate {failing.principle}")
    # It lives as long as the release, and must not keep alive all that led to it.
    return replace(result, _table_of_groups=partial(_groups, table, question))


def _groups(table: pl.DataFrame, question: Mapping[str, Any]) -> object:
    return check(table, worst=0, **question).table


def _require_same(published: pl.Series, original: pl.Series) -> None:
    """Raise unless a column is published as it was."""
    if not _as_text(published).equals(_as_text(original)):
        raise _defect(f"values of '{published.name}' have changed")


def _require_no_more(columns: Sequence[pl.Series]) -> None:
    """Raise if categories name what no row holds: some file formats write them all."""
    for series in columns:
        dtype = series.dtype
        if isinstance(dtype, pl.Enum) and series.alias("").drop_nulls().n_unique() < len(
            dtype.categories
        ):
            raise _defect(f"'{series.name}' names values that it does not publish")


def _as_text(series: pl.Series) -> pl.Series:
    """Let categories be compared whatever others there are."""
    return series.cast(pl.String) if isinstance(series.dtype, pl.Enum | pl.Categorical) else series


def _require_uniform(table: pl.DataFrame, group: str, quasi: Sequence[str]) -> None:
    """Raise unless all rows of a group are published with the same quasi-identifiers."""
    ids = encode(table[group])
    for name in quasi:
        codes = _numbered(table[name])
        one = np.zeros(ids.domain.size, dtype=np.int32)
        one[ids.codes] = codes
        if not np.array_equal(one[ids.codes], codes):
            raise _defect(f"'{name}' differs within a group")


def _require_consistent(table: pl.DataFrame, quasis: Sequence[Quasi], order: Ints) -> None:
    """Raise unless equal values are published alike in all rows."""
    for quasi in quasis:
        codes, published = quasi.codes[order], _numbered(table[quasi.name])
        one = np.zeros(quasi.domain.size, dtype=np.int32)
        one[codes] = published
        if not np.array_equal(one[codes], published):
            raise _defect(f"equal values of '{quasi.name}' are published differently")


def _numbered(series: pl.Series) -> Any:
    """Return the same number for the same value, another for another."""
    if series.dtype != pl.Enum:
        return encode(series).codes
    return series.alias("").to_physical().cast(pl.Int32).fill_null(-1).to_numpy()


def _defect(what: str) -> VerificationError:
    return VerificationError(
        f"the release failed its own verification: {what}",
        hint="nothing was published; this is a defect of wideberth, please report it",
    )
