"""Quasi-identifiers as algorithms see them: codes in the order of cutting, and their places.

A cut separates low codes from high ones, so the codes follow the order of the values, or of the
leaves of a hierarchy. A code's place says how far it is along the attribute's domain, from 0 to 1;
the extent of a group on an attribute is the distance between its outermost places (the paper's
|range| / |domain|).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wideberth.encode import Codes, Column, Domain, encode_as
from wideberth.errors import HierarchyError, TableError
from wideberth.exact import Floats, Ints, ratios, whole
from wideberth.hierarchy import Hierarchy, parse_spec
from wideberth.schema import infer_type

#: Where missing values are: so far off that mixing them with others costs the whole domain.
FAR = 2.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Quasi:
    """One quasi-identifier.

    Parameters
    ----------
    name : str
        The column.
    codes : array of int32
        One code per row, in the order of cutting; a missing value has the last one.
    domain : Domain
        What the codes mean.
    places : array of float
        The place of each code: ascending, from 0 to 1, and `FAR` for missing values.
    weight : float
        How much its loss counts beside that of the others.
    tree : Hierarchy, optional
        A hierarchy that holds every value.
    """

    name: str
    codes: Codes
    domain: Domain
    places: Floats
    weight: float = 1.0
    tree: Hierarchy | None = None

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

    Parameters
    ----------
    series : polars.Series
        The column, typed or as text.
    kind : str, optional
        Its type, one of `wideberth.schema.TYPES`; guessed by default.
    hierarchy : Hierarchy, path or mapping, optional
        How its values may be generalised, as in a policy.
    weight : float
        How much its loss counts.

    Examples
    --------
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
        units = column.domain.numbers.units
        # From the first on, exactly: as floats, large numbers could all be the same.
        far = whole(units, 2 * column.domain.numbers.bound)
        places = ratios(far - far[0], max(int(far[-1]) - int(far[0]), 1))
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
    )


def _tree(column: Column, hierarchy: Any) -> Hierarchy:
    texts = column.domain.texts
    first = np.full(column.domain.size, -1)
    first[column.codes[::-1]] = np.arange(len(column.codes))[::-1]
    rows = (first[: len(texts)] + 1).tolist()
    if isinstance(hierarchy, Path):
        hierarchy = str(hierarchy)
    if not isinstance(hierarchy, Hierarchy):
        try:
            hierarchy = parse_spec(hierarchy, texts, Path(), rows=rows)
        except HierarchyError as error:
            what = f"the hierarchy of '{column.domain.name}': {error.what}"
            raise HierarchyError(what, hint=error.hint) from None
    hierarchy.require(texts, column.domain.name, rows)
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
