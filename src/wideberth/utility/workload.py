"""Count queries: how well a published table answers them, beside the original.

A query asks how many people lie in an interval of each of some attributes, the sensitive one always
among them. Intervals are of codes, which follow the order of the values; a missing value comes
last.

References
----------
Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008, Section 6.
Xiao, Tao: Anatomy: simple and effective privacy preservation. VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes
from wideberth.core.exact import Bools, Floats, Ints, fraction
from wideberth.core.groups import Groups
from wideberth.core.text import as_html
from wideberth.errors import ParameterError
from wideberth.labels import PublishedBoxes
from wideberth.utility.metrics.spans import has_missing

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Rows looked at in one go: what is derived from them stays in the cache.
_BLOCK = 1 << 15
#: Queries that one thread answers in one go.
_QUERIES = 50
#: The quantiles of the errors that are reported.
_QUANTILES = (0.25, 0.5, 0.75, 0.9, 0.95)

_Narrow = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Workload:
    """Count queries on the quasi-identifiers, in their order, and the sensitive attribute, last.

    Parameters
    ----------
    first, last : array of int
        One row a query, one column an attribute: the interval of codes, both ends included. It is
        the whole domain where the query does not ask.
    asked : array of bool
        Which attributes a query asks about.
    """

    first: Ints
    last: Ints
    asked: Bools

    @classmethod
    def draw(
        cls,
        sizes: Sequence[int],
        *,
        dimensions: int = 3,
        volume: float | Fraction = 0.1,
        queries: int = 1000,
        seed: int = 0,
    ) -> Workload:
        """Draw random queries, as Li, Tao and Xiao do.

        Parameters
        ----------
        sizes : sequence of int
            How many codes each attribute has, the sensitive attribute last.
        dimensions : int
            How many attributes a query asks about (w): the sensitive one, and others by chance.
        volume : float
            How much of the space of these attributes it covers (s), above 0 and up to 1: on an
            attribute with |A| codes, an interval of ⌊|A| s^(1/w)⌋, but at least 1.
        queries : int
            How many there are.
        seed : int
            Equal seeds give equal queries.

        Examples
        --------
        >>> asked = Workload.draw([10, 20, 50], dimensions=2, volume=0.01, queries=2)
        >>> (asked.last - asked.first + 1)[:, -1].tolist(), asked.asked.sum(axis=1).tolist()
        ([5, 5], [2, 2])
        """
        if not 1 <= dimensions <= len(sizes):
            raise ParameterError(
                f"a query of {dimensions} dimensions does not fit {len(sizes)} attributes",
                hint="the sensitive attribute is one of its dimensions",
            )
        if not 0 < volume <= 1:
            raise ParameterError(f"volume must be a number above 0 to 1, not {volume}")
        if queries < 1:
            raise ParameterError(f"a workload needs at least one query, not {queries}")
        rng = np.random.default_rng(seed)
        every = len(sizes) - 1
        order = rng.permuted(np.tile(np.arange(every), (queries, 1)), axis=1)
        asked = np.zeros((queries, len(sizes)), dtype=bool)
        np.put_along_axis(asked, order[:, : dimensions - 1], True, axis=1)
        asked[:, -1] = True
        lengths = [_interval(size, fraction(volume), dimensions) for size in sizes]
        places = np.subtract(sizes, lengths) + 1
        first = np.where(asked, rng.integers(0, places, (queries, len(sizes))), 0)
        last = np.where(asked, first + lengths, sizes) - 1
        return cls(first=first, last=last, asked=asked)

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.first)

    def matches(self, query: int, columns: Sequence[_Narrow], rows: int) -> Bools:
        """Return which of so many rows lie in a query's intervals, on the columns that are given.

        They are those of the first attributes, and may be fewer than all.
        """
        found = np.ones(rows, dtype=bool)
        for i in np.flatnonzero(self.asked[query, : len(columns)]).tolist():
            found &= _between(columns[i], int(self.first[query, i]), int(self.last[query, i]))
        return found


def answers(workload: Workload, quasi_codes: Sequence[Codes], sensitive_codes: Codes) -> Ints:
    """Answer queries on an original table.

    Parameters
    ----------
    workload : Workload
        The queries.
    quasi_codes : sequence of array of int
        The codes of each quasi-identifier.
    sensitive_codes : array of int
        The codes of the sensitive attribute.

    Returns
    -------
    array of int
        How many rows match each query.

    Examples
    --------
    >>> codes = np.array([0, 1, 2, 2])
    >>> ask = Workload(
    ...     first=np.array([[1, 0]]), last=np.array([[2, 1]]), asked=np.array([[True, True]])
    ... )
    >>> answers(ask, [codes], codes)
    array([1])
    """
    columns = [_narrow(codes) for codes in (*quasi_codes, sensitive_codes)]
    found = np.zeros(len(workload), dtype=np.int64)
    for begin in range(0, len(sensitive_codes), _BLOCK):
        block = [codes[begin : begin + _BLOCK] for codes in columns]
        for query in range(len(workload)):
            found[query] += np.count_nonzero(workload.matches(query, block, len(block[-1])))
    return found


def anatomy_answers(
    workload: Workload, quasi_codes: Sequence[Codes], labels: Codes, groups: Groups
) -> Floats:
    """Estimate the answers to queries from an anatomised table.

    In each group, the rows whose quasi-identifiers match are taken to have matching sensitive
    values as often as the whole group has: their number times that share, added up over groups.

    Parameters
    ----------
    workload : Workload
        The queries.
    quasi_codes : sequence of array of int
        The codes of each quasi-identifier, for the rows of the quasi-identifier table.
    labels : array of int
        The group of each of these rows. Each group has some.
    groups : Groups
        The sensitive values of each group, counted.

    Returns
    -------
    array of float
        How many rows are expected to match each query.

    Examples
    --------
    One of two rows matches, and 1/2 of their group's sensitive values do.

    >>> ask = Workload(
    ...     first=np.array([[1, 0]]), last=np.array([[2, 1]]), asked=np.array([[True, True]])
    ... )
    >>> groups = Groups.of([[1, 2]], width=3)
    >>> anatomy_answers(ask, [np.array([0, 1])], np.array([0, 0], dtype=np.int32), groups)
    array([0.5])
    """
    order = np.argsort(labels, kind="stable")
    columns = [_narrow(codes[order]) for codes in quasi_codes]
    start = np.concatenate(([0], np.cumsum(np.bincount(labels, minlength=len(groups)))))
    found = np.zeros(len(workload), dtype=np.float64)
    for begin, end in _runs(start):
        edges, some = start[begin : end + 1] - start[begin], groups[begin:end]
        block = [codes[start[begin] : start[end]] for codes in columns]
        values, rows = _narrow(some.codes), int(edges[-1])
        rows_by_group = _adder(edges, np.ones(rows))
        values_by_group = _adder(some.start, some.counts)
        for query in range(len(workload)):
            matching = workload.matches(query, block, rows)
            inside = _between(values, int(workload.first[query, -1]), int(workload.last[query, -1]))
            share = (values_by_group @ inside.astype(np.float64)) / some.sizes
            many = rows_by_group @ matching.astype(np.float64)
            found[query] += (many * share).sum()  # BLAS would start threads for so little
    return found


def box_answers(workload: Workload, published: PublishedBoxes, groups: Groups) -> Floats:
    """Estimate the answers to queries from generalised quasi-identifiers.

    The rows of a box are taken to lie evenly among all values that its labels cover: the share of
    these that a query asks for, attribute by attribute, times the rows of the box with sensitive
    values in the query's interval; added up over boxes.

    Parameters
    ----------
    workload : Workload
        The queries, on the atoms of the axes. A missing value comes after the last atom.
    published : Published
        What the release says of its quasi-identifiers.
    groups : Groups
        The sensitive values of each box, counted.

    Returns
    -------
    array of float
        How many rows are expected to match each query.

    Examples
    --------
    Two rows lie among the ages 20 to 23; the query asks for 20 to 22, and one sensitive value.

    >>> import polars as pl
    >>> release = pl.DataFrame({"age": ["20..23", "20..23"]})
    >>> ask = Workload(
    ...     first=np.array([[0, 1]]), last=np.array([[2, 1]]), asked=np.array([[True, True]])
    ... )
    >>> box_answers(ask, PublishedBoxes.read(release, ["age"]), Groups.of([[0, 1]], width=2))
    array([0.75])
    """
    from wideberth.kernels.exposure import expected, shares

    axes = published.axes
    labels = np.ascontiguousarray(published.labels.T)
    runs = [(axis.start, axis.first, axis.last) for axis in axes]
    missing = [axis.missing & has_missing(axis) for axis in axes]
    values = [part.astype(np.int32) for part in (groups.start, groups.codes, groups.counts)]
    boxes, widest = len(groups), max(len(axis.texts) for axis in axes)

    def answer(queries: range) -> list[float]:
        inside, found = np.empty((len(axes), widest)), []
        share, some = np.empty(boxes), np.empty(boxes + 1, dtype=np.int32)
        for query in queries:
            low, high = workload.first[query], workload.last[query]
            asked = np.flatnonzero(workload.asked[query, :-1])
            for i in asked.tolist():
                atoms = len(axes[i].atoms)
                shares(*runs[i], missing[i], atoms, low[i], high[i], inside[i])
            wanted = labels, inside, asked, low[-1], high[-1]
            found.append(expected(*wanted, *values, share, some))
        return found

    parts = range(0, len(workload), _QUERIES)
    with ThreadPoolExecutor() as pool:  # the kernels run without the interpreter's lock
        some = pool.map(answer, (range(i, min(i + _QUERIES, len(workload))) for i in parts))
        return np.array([estimate for part in some for estimate in part])


def relative_errors(actual: Ints, estimate: Floats) -> Floats:
    """Return |estimate - actual| / actual, of the queries that match any row at all.

    >>> relative_errors(np.array([4, 0, 2]), np.array([5.0, 1.0, 2.0]))
    array([0.25, 0.  ])
    """
    some = actual > 0
    return np.abs(estimate[some] - actual[some]) / actual[some]


@dataclass(frozen=True, kw_only=True)
class QueryError:
    """How far off the answers to a workload are.

    Parameters
    ----------
    queries : int
        How many there were.
    left_out : int
        How many of them match no row of the original, so that no error is relative to it.
    mean, median : float
        The relative error of the others; NaN if there are none.
    quantiles : dict of float to float
        The error that so large a share of them does not exceed.
    """

    queries: int
    left_out: int
    mean: float
    median: float
    quantiles: dict[float, float]

    @classmethod
    def of(cls, actual: Ints, estimate: Floats) -> QueryError:
        """Sum up the errors of a workload.

        Examples
        --------
        >>> error = QueryError.of(np.array([4, 0, 2]), np.array([5.0, 1.0, 2.0]))
        >>> error.mean, error.left_out
        (0.125, 1)
        """
        errors = relative_errors(actual, estimate)
        left_out = len(actual) - len(errors)
        if not len(errors):
            errors = np.array([np.nan])
        quantiles = np.quantile(errors, _QUANTILES).tolist()
        return cls(
            queries=len(actual),
            left_out=left_out,
            mean=float(errors.mean()),
            median=float(np.median(errors)),
            quantiles=dict(zip(_QUANTILES, quantiles, strict=True)),
        )

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return as_html("queries", self.to_dict())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON. It knows no NaN: an error of no queries is null."""
        return {
            "queries": self.queries,
            "left_out": self.left_out,
            "mean": _jsonable(self.mean),
            "median": _jsonable(self.median),
            "quantiles": {f"{q:g}": _jsonable(error) for q, error in self.quantiles.items()},
        }


def _interval(size: int, volume: Fraction, dimensions: int) -> int:
    """Return the largest whole number up to size · volume^(1 / dimensions), but at least 1.

    >>> _interval(10, fraction(0.027), 3), _interval(10, fraction(0.0001), 3)
    (3, 1)
    """
    # A root in floats may be a little too small, and then so is the interval.
    most = size**dimensions * volume
    length = int(size * float(volume) ** (1 / dimensions))
    while length**dimensions > most:
        length -= 1
    while (length + 1) ** dimensions <= most:
        length += 1
    return max(length, 1)


def _between(codes: _Narrow, low: int, high: int) -> Bools:
    inside = codes >= low
    return np.logical_and(inside, codes <= high, out=inside)


def _narrow(codes: npt.NDArray[Any]) -> _Narrow:
    """Hold codes in the smallest type: they are compared over and over."""
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))


def _adder(start: Ints, weights: npt.NDArray[Any]) -> csr_array:
    """Return a matrix whose product with marks adds up the weights of the marked, run by run."""
    # Many short runs are added up several times as fast as by `numpy.add.reduceat`.
    from scipy.sparse import csr_array

    place = np.arange(len(weights), dtype=np.int32)
    shape = (len(start) - 1, len(weights))
    return csr_array((weights.astype(np.float64), place, start.astype(np.int32)), shape=shape)


def _runs(start: Ints) -> Iterator[tuple[int, int]]:
    """Cut groups into runs of about one block of rows."""
    edges = np.searchsorted(start, np.arange(0, start[-1], _BLOCK), side="left")
    return pairwise(dict.fromkeys([*edges.tolist(), len(start) - 1]))


def _jsonable(number: float) -> float | None:
    return number if isfinite(number) else None
