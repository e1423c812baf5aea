"""Does a published value cover the value it stands for? Judged by reading what was published.

This is the counterpart of `wideberth.release.recode` and shares none of its work: it parses the
published texts, so that a release is verified by what its readers will see.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from wideberth.checks.check import check
from wideberth.checks.result import CheckResult
from wideberth.core.codes import Codes, encode
from wideberth.core.exact import Bools, Ints
from wideberth.core.threads import map_threads
from wideberth.errors import VerificationError
from wideberth.hierarchy.quasi import Quasi
from wideberth.labels.parse import OR_MISSING, STAR, TO
from wideberth.policy.two_tables import COUNT
from wideberth.release.align import values_as_text
from wideberth.release.styles import Recoding


def labels_cover_values(
    quasi: Quasi, style: Recoding, published: Sequence[pl.Series], codes: Codes
) -> bool:
    """Return whether every row's published value covers its original one.

    >>> from wideberth.hierarchy.quasi import read_quasi
    >>> age = read_quasi(pl.Series("age", [25, 34, 61]))
    >>> labels = [pl.Series(["20..34", "34", "61"])]
    >>> labels_cover_values(age, Recoding("interval"), labels, age.codes)
    True
    >>> labels = [pl.Series(["20..34", "34", "60"])]
    >>> labels_cover_values(age, Recoding("interval"), labels, age.codes)
    False
    """
    # codes: the original ones, in the order of the published rows.
    if style.recoding == "bounds":
        return _within_bounds(quasi, published, codes)
    column = published[0].alias("")  # polars may take a name such as ^a.*$ for a pattern
    if column.dtype != pl.Enum:
        column = column.cast(pl.Enum(column.cast(pl.String).drop_nulls().unique()))
    labels = column.dtype.categories  # type: ignore[attr-defined]
    size = quasi.domain.size
    # A null stands for missing values only; it counts as one more label.
    said = column.to_physical().cast(pl.Int32).fill_null(len(labels)).to_numpy()
    label, code = said, codes
    if style.recoding != "interval":  # more work per value: look at each combination once
        key = said.astype(np.int64) * size + codes
        key.sort()
        label, code = np.divmod(key[np.flatnonzero(np.append(True, key[1:] != key[:-1]))], size)
    if quasi.domain.missing is not None:
        missing = code == size - 1
        admits = np.append(labels.str.ends_with(OR_MISSING).to_numpy(), True)
        if not admits[label[missing]].all():
            return False
        label, code = label[~missing], code[~missing]
    if (label == len(labels)).any():
        return False
    return bool(_PARSERS[style.recoding](quasi, style, labels, label, code).all())


Parser = Callable[[Quasi, Recoding, pl.Series, Any, Any], Bools]


def _within_interval(
    quasi: Quasi, style: Recoding, labels: pl.Series, label: Any, code: Any
) -> Bools:
    """Turn the ends of each interval into the first and the last code between them."""
    bare = labels.str.strip_suffix(OR_MISSING)
    parts = bare.str.split_exact(TO, 1).struct.unnest()
    low = parts["field_0"]
    high = parts["field_1"].fill_null(low)
    values = quasi.domain.values
    assert values is not None  # noqa: S101 - numbers and dates have values
    ordered, read = _reader(values, style)
    first = np.searchsorted(ordered, read(low), side="left")
    last = np.searchsorted(ordered, read(high), side="right") - 1
    first, last = first.astype(np.int32), last.astype(np.int32)
    return (first[label] <= code) & (code <= last[label])


def _reader(
    values: pl.Series, style: Recoding
) -> tuple[np.ndarray, Callable[[pl.Series], np.ndarray]]:
    """Return the values in their order, and what reads an end so that the two compare."""
    dtype = values.dtype
    if dtype.is_float():
        return values.to_numpy(), lambda ends: ends.cast(dtype).to_numpy()
    if dtype == pl.Date or (dtype == pl.Datetime and style.grid is not None):
        days = values.dt.date().to_physical().to_numpy()
        return days, lambda ends: ends.str.to_date("%Y-%m-%d").to_physical().to_numpy()
    if dtype.is_integer() or dtype.is_decimal():
        exact = np.array(values.to_list(), dtype=object)
        numbers = values.to_numpy() if dtype.is_integer() else exact

        def read(ends: pl.Series) -> np.ndarray:
            whole = ends.cast(pl.Int64, strict=False)
            if dtype.is_integer() and not whole.has_nulls():
                return whole.to_numpy()
            decimals = ends.cast(pl.Decimal(38, _most_places(ends)))
            return np.array(decimals.to_list(), dtype=object)

        return numbers, read
    # Moments and durations: an end is one of the values, as it is written.
    texts = values_as_text(values)
    order = pl.Series(np.arange(len(values)))
    return order.to_numpy(), lambda ends: ends.replace_strict(texts, order).to_numpy()


def _most_places(ends: pl.Series) -> int:
    most = ends.str.extract(r"\.([0-9]+)$").str.len_chars().max()
    return int(most) if isinstance(most, int) else 0


def _within_bounds(quasi: Quasi, published: Sequence[pl.Series], codes: Codes) -> bool:
    values = quasi.domain.values
    assert values is not None  # noqa: S101 - numbers and dates have values
    low, high = published[:2]
    missing = codes == quasi.domain.missing
    original = values.gather(np.where(missing, 0, codes))
    if original.dtype.is_decimal():  # a dataframe may have given the ends fewer digits
        scale = max(s.dtype.scale for s in (low, high, original))  # type: ignore[attr-defined]
        low, high, original = (s.cast(pl.Decimal(38, scale)) for s in (low, high, original))
    original = original.cast(low.dtype)
    inside = ((low <= original) & (original <= high)).fill_null(False).to_numpy()
    if quasi.domain.missing is None:
        return bool(inside.all())
    return bool(np.where(missing, published[2].to_numpy(), inside).all())


def _below_node(quasi: Quasi, style: Recoding, labels: pl.Series, label: Ints, code: Ints) -> Bools:
    """Climb from each value: one of the nodes on its way must have the published label."""
    tree = quasi.tree
    assert tree is not None  # noqa: S101 - only what has a hierarchy is published by it
    names = pl.Series(tree.labels, dtype=pl.String)
    distinct = names.unique()
    number = pl.Series(np.arange(len(distinct)))
    of_node = names.replace_strict(distinct, number).to_numpy()
    stated = [
        texts.replace_strict(distinct, number, default=-1).to_numpy()[label]
        for texts in (labels, labels.str.strip_suffix(OR_MISSING))
    ]
    node = quasi.nodes[code]
    found = np.zeros(len(code), dtype=bool)
    for _ in range(tree.height + 1):
        found |= (of_node[node] == stated[0]) | (of_node[node] == stated[1])
        node = np.maximum(tree.parent[node], 0)
    return found


def _in_set(quasi: Quasi, style: Recoding, labels: pl.Series, label: Ints, code: Ints) -> Bools:
    values = quasi.domain.values
    assert values is not None  # noqa: S101 - a column that is not all missing has values
    texts = quasi.domain.texts if values.dtype == pl.Boolean else values_as_text(values).to_list()
    code_of = {text: number for number, text in enumerate(texts)}
    size = quasi.domain.size
    held = [
        number * size + code_of[text]
        for number, said in enumerate(labels)
        for text in _members(said)
        if text in code_of
    ]
    anything = labels.str.strip_suffix(OR_MISSING) == STAR
    listed: Bools = np.isin(label * size + code, np.array(held, dtype=np.int64))
    return listed | anything.to_numpy()[label]


def _members(label: str) -> set[str]:
    """Read a set: {a|b|c}, a value with marks of its own in quotes. A value stands for itself."""
    found = {label}
    for text in (label, label.removesuffix(OR_MISSING)):
        found.add(text)
        if text.startswith("{") and text.endswith("}"):
            found.update(*csv.reader([text[1:-1]], delimiter="|"))
    return found


_PARSERS: dict[str, Parser] = {
    "interval": _within_interval,
    "hierarchy": _below_node,
    "set": _in_set,
}


# -----------------------------------------------------------------------------
# The last look before a release is handed out: does it keep its word, does it tell the truth.
#
# Everything is judged from the table that is about to be published, so that a mistake anywhere
# before is found here. What fails is not published.


def require_true_labels(
    table: pl.DataFrame,
    original: pl.DataFrame,
    order: Ints,
    *,
    quasis: Sequence[Quasi],
    styles: Mapping[str, Recoding],
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
        return labels_cover_values(quasi, styles[quasi.name], columns, quasi.codes[order])

    for quasi, fine in zip(quasis, map_threads(covered, quasis), strict=True):
        if not fine:
            raise _defect(f"published values of '{quasi.name}' do not cover the original ones")
    if group:
        _require_uniform(table, group, alike)
    if consistent:
        _require_consistent(table, quasis, order)
    for name in untouched:
        _require_same(table[name], original[name][order])


def require_true_anatomy(
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
