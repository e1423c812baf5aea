"""Quasi-identifiers as algorithms see them: codes in the order of cutting, and their places.

A cut separates low codes from high ones, so the codes follow the order of the values, or of the
leaves of a hierarchy. A code's place says how far it is along the attribute's domain, from 0 to 1;
the extent of a group on an attribute is the distance between its outermost places (the paper's
|range| / |domain|).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth.core.codes import Codes, Column, Domain, encode_as
from wideberth.core.exact import Floats, Ints, ratios
from wideberth.core.notation import too_long
from wideberth.core.types import convert, infer_type, unnamed
from wideberth.errors import HierarchyError, TableError
from wideberth.hierarchy import Hierarchy, parse_spec

#: Where missing values are: so far off that mixing them with others costs the whole domain.
FAR = 2.0

#: Text that cannot be written in another way, whatever type it has.
ONE_WAY = r"0|-?[1-9][0-9]*|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}|[0-9]{2}\.[0-9]{2}\.[0-9]{4}"
#: Nor can this, if all have the same number of places.
FIXED = r"(0|-?[1-9][0-9]*)\.[0-9]+"
#: What numbers and dates are made of.
PERHAPS = r"\s*[+-]?\.?[0-9][0-9./eE+-]*\s*"
_READ = ("integer", "decimal", "float", "date")


@dataclass(frozen=True, eq=False, kw_only=True)
class Quasi:
    """One quasi-identifier."""

    name: str
    codes: Codes  # one per row, in the order of cutting; a missing value has the last one
    domain: Domain
    places: Floats  # of each code: ascending, from 0 to 1, and `FAR` for missing values
    weight: float = 1.0  # how much its loss counts beside that of the others
    tree: Hierarchy | None = None  # a hierarchy that holds every value
    floats: bool = False  # whether the table holds it as floats, though all may be whole numbers

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers or dates."""
        return self.domain.numbers is not None

    @cached_property
    def nodes(self) -> Ints:
        """The hierarchy's node of each code that is not missing."""
        assert self.tree is not None  # noqa: S101 - asked only where there is a hierarchy
        return self.tree.nodes_of(self.domain.texts).astype(np.int64)


def read_quasi(
    series: pl.Series,
    *,
    kind: str | None = None,
    hierarchy: Hierarchy | str | Path | Mapping[str, Any] | None = None,
    weight: float = 1.0,
) -> Quasi:
    """Encode one quasi-identifier.

    >>> age = read_quasi(pl.Series("age", [30, 20, 60]))
    >>> age.codes.tolist(), age.places.tolist()
    ([1, 0, 2], [0.0, 0.25, 1.0])
    """
    kind = kind or infer_type(series)
    if kind == "vector" or series.dtype.is_nested():
        raise TableError(
            f"quasi-identifier '{series.name}' holds lists",
            hint="make a column of each component",
        )
    column = encode_as(series, kind)
    if column.domain.known == 0:
        raise TableError(
            f"quasi-identifier '{series.name}' is missing in every row",
            hint="leave it out, or look at what counts as missing",
        )
    tree = None if hierarchy is None else _tree(column, hierarchy)
    if column.domain.numbers is not None:
        offsets = column.domain.numbers.offsets  # as floats, large numbers could all be the same
        places = ratios(offsets, max(int(offsets[-1]), 1))
    elif tree is not None:
        column, places = _in_leaf_order(column, tree)
    else:
        places = np.arange(column.domain.known, dtype=np.float64)
    return Quasi(
        name=series.name,
        codes=column.codes,
        domain=column.domain,
        places=_scaled(places, column.domain.missing),
        weight=weight,
        tree=tree,
        floats=series.dtype.is_float(),
    )


def kind_of_text(texts: pl.Series, hierarchy: object = None) -> str:
    """Return the type to read the text of a quasi-identifier as."""
    # It is published anew, and should look as it did: yes stays yes, and the labels of a hierarchy
    # file are values as written.
    kind = infer_type(texts)
    as_written = labels_as_written(hierarchy) and kind not in ("integer", "category")
    return "text" if as_written or kind == "boolean" else kind


def labels_as_written(hierarchy: object) -> bool:
    """Return whether a hierarchy is about a column's texts, not about numbers or dates in them.

    >>> labels_as_written("cities.csv"), labels_as_written({"interval": [5]})
    (True, False)
    """
    derived = isinstance(hierarchy, Mapping) and ("interval" in hierarchy or "date" in hierarchy)
    return hierarchy is not None and not derived


def one_text_per_value(texts: pl.Series, hierarchy: object = None) -> pl.Series:
    """Write each of a quasi-identifier's distinct texts as the shortest one of the same value.

    >>> one_text_per_value(pl.Series(["1.1", "1.10", "2", "+2.0"])).to_list()
    ['1.1', '1.1', '2', '2']
    """
    given, texts = texts, unnamed(texts)
    if not texts.head(1).str.contains(f"^({PERHAPS})$").all():  # mostly, one text decides
        return given
    if texts.str.contains(f"^({ONE_WAY})$").all():
        return given
    kind = kind_of_text(texts, hierarchy)
    if kind not in _READ:
        return given
    try:
        values = convert(texts, kind)
    except TableError:  # its row would be that of a distinct text
        raise too_long(given.name) from None
    if values.dtype.is_float() and not values.is_finite().all():  # text to those who group it
        return given
    if values.n_unique() == len(texts):
        return given
    table = pl.DataFrame([texts.alias("text"), values.alias("value")])
    shortest = pl.col("text").sort_by(pl.col("text").str.len_chars(), "text").first()
    return table.select(shortest.over("value")).to_series().alias(given.name)


def spelling_notes(names: Sequence[str]) -> list[str]:
    """Warn of quasi-identifiers with texts that differ, but are the same number or date."""
    return [
        f"{name} has numbers or dates that are written in several ways, as 1.1 and 1.10 are: they "
        "count as equal, but readers can tell such rows apart; write them alike before you publish"
        for name in names
    ]


def hierarchy_doubts(quasis: Sequence[Quasi]) -> list[str]:
    """Warn of quasi-identifiers whose hierarchy may have been misread from its file."""
    said = ((quasi.name, quasi.tree.doubt(quasi.domain.texts)) for quasi in quasis if quasi.tree)
    return [f"the hierarchy of '{name}': {doubt}" for name, doubt in said if doubt is not None]


def _tree(column: Column, hierarchy: Any) -> Hierarchy:
    texts = column.domain.texts
    first = np.full(column.domain.size, -1)
    first[column.codes[::-1]] = np.arange(len(column.codes))[::-1]
    rows = (first[: len(texts)] + 1).tolist()
    if isinstance(hierarchy, Path):
        hierarchy = str(hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        try:
            name = column.domain.name
            hierarchy = parse_spec(hierarchy, texts, Path(), rows=rows, column=name)
        except HierarchyError as error:
            what = f"the hierarchy of '{column.domain.name}': {error.what}"
            raise HierarchyError(what, hint=error.hint) from None
    hierarchy.require(texts, column.domain.name, rows, column.domain.histogram.tolist())
    return hierarchy


def _in_leaf_order(column: Column, tree: Hierarchy) -> tuple[Column, Floats]:
    """Reorder the codes as the hierarchy orders its nodes; a place is a number of leaves."""
    nodes = tree.nodes_of(column.domain.texts)
    order = np.argsort(nodes, kind="stable")
    rank = np.empty(column.domain.size, dtype=np.int32)
    rank[order] = np.arange(len(order))
    values = column.domain.values
    histogram = column.domain.histogram[order]
    if column.domain.missing is not None:
        rank[-1] = column.domain.missing
        histogram = np.append(histogram, column.domain.histogram[-1])
    domain = Domain(
        name=column.domain.name,
        histogram=histogram,
        missing=column.domain.missing,
        values=None if values is None else values[order],
    )
    leaves_before = np.searchsorted(tree.leaf_nodes, nodes[order])
    return Column(rank[column.codes], domain), leaves_before.astype(np.float64)


def _scaled(places: Floats, missing: int | None) -> Floats:
    """Stretch places to the range from 0 to 1; a single place is at 0."""
    # Halves, so that the distance of the extreme floats is finite.
    low, high = places[0] / 2, places[-1] / 2
    scaled = (places / 2 - low) / (high - low) if high > low else np.zeros_like(places)
    return scaled if missing is None else np.append(scaled, FAR)
