"""Perturbation, the competitor of generalisation: sensitive values are kept or made up.

Each sensitive value is kept with a probability p, else replaced by a random value of the domain;
quasi-identifiers stay as they are. Whoever sees somebody's published value in the neighbourhood I
of the true one believes the true one to lie there with probability

    P (p + (1 - p) |I|) / (P p + (1 - p) |I|),

where P is the share of the table's rows with values in I, and |I| the share of the domain that I
covers. The domain are the whole numbers from the lowest to the highest.

References
----------
Li, Tao, Xiao: Preservation of proximity privacy. SIGMOD 2008, Section 3.2, formula 3.
Agrawal, Srikant, Thomas: Privacy preserving OLAP. SIGMOD 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes
from wideberth.core.exact import Floats, Ints, Numbers, fraction, ratios, whole
from wideberth.errors import ParameterError, TableError
from wideberth.utility.workload import Workload, answers

#: Retention probabilities so close together, as floats, are compared exactly.
_CLOSE = 1e-9


class Span(NamedTuple):
    """A domain of whole numbers, both ends included.

    >>> Span(1, 5).size
    5
    """

    lowest: int
    highest: int

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.highest - self.lowest + 1


def retention(
    values: npt.ArrayLike,
    *,
    epsilon: float | str | Decimal | Fraction,
    m: int,
    relative: bool = False,
    domain: tuple[int, int] | Literal["occurring"] | None = None,
) -> Fraction | None:
    """Find the largest probability of keeping a value under which no belief exceeds 1/m.

    Parameters
    ----------
    values : array of int
        The sensitive values of all rows.
    epsilon : number
        The neighbourhood of x is [x - ε, x + ε].
    m : int
        The inverse of the largest belief.
    relative : bool
        Whether the neighbourhood is [x - ε|x|, x + ε|x|] instead, ε from 0 to 1.
    domain : pair of int or "occurring", optional
        The lowest and the highest value there may be; by default those that occur. Or only the
        values that occur make the domain: made-up ones are drawn from a list of these.

    Returns
    -------
    fractions.Fraction or None
        Exact. It is 0 if all published values must be made up, and None if even that is not
        enough: then more than 1/m of the rows lie in some neighbourhood, as everybody may know.

    Examples
    --------
    Where values are spread evenly, and a neighbourhood covers a fifth of them:

    >>> values = np.arange(5).repeat(100)
    >>> [retention(values, epsilon=0.5, m=m) for m in (4, 5, 6)]
    [Fraction(1, 16), Fraction(0, 1), None]
    """
    reach = fraction(epsilon)
    if reach < 0 or (relative and reach > 1):
        least = "from 0 to 1" if relative else "at least 0"
        raise ParameterError(f"epsilon must be {least}", hint="epsilon=4500")
    if m < 1:
        raise ParameterError("m must be at least 1", hint="m=5")
    present, counts = _counted(values)
    span = None if domain == "occurring" else _span(present, domain)
    numbers = Numbers.of(present)
    first, last = numbers.within_share(reach) if relative else numbers.within(reach, reach)
    total = np.concatenate(([0], np.cumsum(counts)))
    near, rows = total[last + 1] - total[first], int(total[-1])
    room = rows - m * near  # how far all rows stay below 1/m, times m
    if bool((room < 0).any()):
        return None
    if m == 1:
        return Fraction(1)
    if span is None:
        covered, size = last - first + 1, len(present)
    else:
        covered, size = _covered(numbers, reach, relative, span), span.size
    # m P (p + (1 - p) I) <= P p + (1 - p) I, solved for the odds p / (1 - p), with P = near / rows
    # and I = covered / size: odds <= I (1 - mP) / (P (m - 1)).
    bound = size * rows * m
    favour = whole(covered, bound) * room
    against = whole(near, bound) * ((m - 1) * size)
    odds = ratios(favour, against)
    lowest = np.flatnonzero(odds <= odds.min() * (1 + _CLOSE))
    exact = min(Fraction(int(favour[i]), int(against[i])) for i in lowest.tolist())
    return exact / (1 + exact)


def perturb(
    values: npt.ArrayLike,
    keep: float | Fraction,
    *,
    domain: tuple[int, int] | None = None,
    rng: np.random.Generator,
) -> Ints:
    """Keep each value with a probability, else draw any value of the domain.

    Parameters
    ----------
    values : array of int
        The sensitive values.
    keep : float or fractions.Fraction
        The retention probability p.
    domain : pair of int, optional
        The lowest and the highest value there may be; by default those that occur.
    rng : numpy.random.Generator
        Of the random numbers.

    Examples
    --------
    >>> perturb([3, 1, 4], 1, rng=np.random.default_rng()).tolist()
    [3, 1, 4]
    """
    if not 0 <= keep <= 1:
        raise ParameterError("a retention probability must be from 0 to 1", hint="see retention")
    true = _whole(values)
    span = _span(true, domain)
    made_up = rng.integers(span.lowest, span.highest, len(true), endpoint=True)
    return np.where(rng.random(len(true)) < float(keep), true, made_up)


def perturbed_answers(
    workload: Workload,
    quasi_codes: Sequence[Codes],
    perturbed: npt.ArrayLike,
    *,
    keep: float | Fraction,
    domain: tuple[int, int],
    possible: bool = False,
    matching: Ints | None = None,
) -> Floats | None:
    """Estimate the answers to queries from perturbed sensitive values.

    Of the N rows whose quasi-identifiers match a query, which are known exactly, those whose
    values were made up lie in its interval b of sensitive values as often as |b| says. So if c of
    them are seen in b, (c - (1 - p) N |b|) / p are expected there in truth.

    Parameters
    ----------
    workload : Workload
        The queries. Of the sensitive attribute, their codes are the distances from the lowest
        value of the domain.
    quasi_codes : sequence of array of int
        The codes of each quasi-identifier.
    perturbed : array of int
        The published sensitive values.
    keep : float or fractions.Fraction
        The probability p with which they were kept.
    domain : pair of int
        The lowest and the highest value there may be.
    possible : bool
        Whether estimates below 0 or above N are brought back to these. Without, they are unbiased.
    matching : array of int, optional
        N of each query, if it was counted before: it is the same however values are perturbed.

    Returns
    -------
    array of float or None
        The estimates; None if no value was kept.

    Examples
    --------
    >>> ask = Workload(
    ...     first=np.array([[0, 0]]), last=np.array([[0, 1]]), asked=np.array([[True, True]])
    ... )
    >>> rows = np.array([0, 0, 1], dtype=np.int32)
    >>> perturbed_answers(ask, [rows], [10, 13, 11], keep=0.5, domain=(10, 13))
    array([1.])
    """
    if not keep:
        return None
    span = Span(*domain)
    codes = (_whole(perturbed) - span.lowest).astype(np.int32)
    if matching is None:
        anything = workload.asked.copy()
        anything[:, -1] = False
        matching = answers(replace(workload, asked=anything), quasi_codes, codes)
    seen = answers(workload, quasi_codes, codes)
    share = (workload.last[:, -1] - workload.first[:, -1] + 1) / span.size
    kept = float(keep)
    found = (seen - (1 - kept) * matching * share) / kept
    return np.clip(found, 0, matching) if possible else np.asarray(found)


def belief(near: Fraction, covered: Fraction, keep: Fraction) -> Fraction:
    """Return how sure one may be that a value lies in its neighbourhood, by formula 3.

    Parameters
    ----------
    near : fractions.Fraction
        The share of the rows with values in the neighbourhood: P.
    covered : fractions.Fraction
        The share of the domain that it covers: |I|.
    keep : fractions.Fraction
        The retention probability p.

    Examples
    --------
    >>> belief(Fraction(1, 5), Fraction(1, 5), Fraction(1, 16))
    Fraction(1, 4)
    """
    made_up = (1 - keep) * covered
    return near * (keep + made_up) / (near * keep + made_up)


def _counted(values: npt.ArrayLike) -> tuple[Ints, Ints]:
    present, counts = np.unique(_whole(values), return_counts=True)
    if not len(present):
        raise TableError("there are no sensitive values", hint="give a table with rows")
    return present, counts.astype(np.int64)


def _whole(values: npt.ArrayLike) -> Ints:
    """Refuse anything but whole numbers: there is no random value of any other domain."""
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TableError(
            "perturbation needs whole numbers as sensitive values, none missing",
            hint="round them, or count them in a smaller unit",
        )
    return array.astype(np.int64)


def _span(values: Ints, domain: tuple[int, int] | None) -> Span:
    lowest, highest = int(values.min()), int(values.max())
    if domain is None:
        return Span(lowest, highest)
    if domain[0] > lowest or domain[1] < highest:
        raise ParameterError(
            "some sensitive values lie outside the domain", hint="leave domain out"
        )
    return Span(int(domain[0]), int(domain[1]))


def _covered(numbers: Numbers, reach: Fraction, relative: bool, span: Span) -> Ints:
    """Count the whole numbers of the domain in each neighbourhood."""
    units = whole(numbers.units, max(numbers.bound, 1) * (reach.numerator + reach.denominator))
    size = np.abs(units) if relative else np.ones_like(units)
    around = size * reach.numerator // reach.denominator
    low = np.maximum(units - around, span.lowest)
    high = np.minimum(units + around, span.highest)
    return np.asarray(high - low + 1)
