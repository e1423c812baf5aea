"""Distances of vectors of numbers: Euclid's, Manhattan's, and that of their directions."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, Numbers, WholeNumbers, short_decimals, whole
from wideberth.distances.base import Similarity, Space
from wideberth.distances.pairs import PairwiseSimilarity, PointCloud, PointTest
from wideberth.errors import TableError

_EXACT = 2**52  # floats hold such integers, and halves between them
_UNIT = 2.0**-53  # a float is at most this far from what it stands for, relatively


class Vectors:
    """The vectors of a domain: as floats to search with, as integers to decide with."""

    def __init__(self, domain: Domain) -> None:
        # The domain has several number columns, a column of lists, or a single number column.
        self.domain = domain
        self.floats, self.denoted = domain.floats()
        self.width = self.floats.shape[1]

    @cached_property
    def _exact(self) -> Numbers | None:
        """All vectors exactly, if that is no great effort."""
        return short_decimals(self.floats) if self.denoted else self.domain.vectors()

    @cached_property
    def units(self) -> Numbers | None:
        """The vectors as integers that floats can hold, if these suffice."""
        exact = self._exact
        return exact if exact is not None and exact.bound < _EXACT else None

    def exactly(self, codes: Ints) -> Numbers:
        """Return some of the vectors exactly."""
        if self._exact is None:
            # Where many pairs are in doubt, few numbers occur again and again.
            different, place = np.unique(self.floats[codes], return_inverse=True)
            read = Numbers.of(different)
            return Numbers(read.units[place.reshape(len(codes), self.width)], read.per)
        return Numbers.whole(self._exact.units[codes], self._exact.per)

    @cached_property
    def scaled(self) -> tuple[Floats, int]:
        """The vectors, moved and divided by a power of two to lie within ±1, and its exponent."""
        # Each coordinate is wrong by at most 4 `_UNIT`: it was rounded when it was read and when it
        # was moved.
        floats = self.floats
        largest = float(np.abs(floats).max(initial=0))
        exponent = int(np.frexp(largest)[1]) + 1
        shrunk = np.ldexp(floats, -exponent)
        if not len(shrunk):
            return shrunk, exponent
        return shrunk - (shrunk.min(axis=0) / 2 + shrunk.max(axis=0) / 2), exponent


class VectorTest(PointTest):
    """Points of vectors whose doubtful pairs are decided in integers."""

    def __init__(self, vectors: Vectors, p: int, reach: Fraction) -> None:
        # p is 1 or 2; reach is what the sum of differences to the power of p may be.
        super().__init__(_whole_cloud(vectors, p, reach) or _rounded_cloud(vectors, p, reach))
        self.vectors, self.reach = vectors, reach

    def settle(self, ones: Ints, others: Ints) -> Bools:
        """Decide pairs that floats cannot."""
        one, other, per = exact_pairs(self.vectors, ones, others, self.p)
        sums = (np.abs(one - other) ** self.p).sum(axis=1)
        return np.asarray(sums <= floor(self.reach * per**self.p), dtype=bool)


def exact_pairs(
    vectors: Vectors, ones: Ints, others: Ints, p: int
) -> tuple[WholeNumbers, WholeNumbers, int]:
    """Return the two sides of some pairs as integers that can be added up to the power of p."""
    codes, place = np.unique(np.concatenate((ones, others)), return_inverse=True)
    exact = vectors.exactly(codes)
    units = whole(exact.units, vectors.width * (2 * exact.bound) ** p)
    return units[place[: len(ones)]], units[place[len(ones) :]], exact.per


def _whole_cloud(vectors: Vectors, p: int, reach: Fraction) -> PointCloud | None:
    """Take integers as points, if no sum can become too large for a float."""
    if vectors.units is None:
        return None
    units, per = vectors.units.units, vectors.units.per
    if len(units):
        units = units - (units.min(axis=0) + units.max(axis=0)) // 2
    largest = int(np.abs(units).max(initial=0))
    if vectors.width * (2 * largest) ** p >= _EXACT:
        return None
    limit = min(floor(reach * per**p), _EXACT) + 0.5  # never an integer, so never in doubt
    points = units.astype(np.float64)
    return PointCloud(points=points, p=p, inner=limit, outer=limit, whole=True)


def _rounded_cloud(vectors: Vectors, p: int, reach: Fraction) -> PointCloud:
    """Take floats as points, and let the sums be wrong by what rounding can do."""
    points, exponent = vectors.scaled
    width = vectors.width
    # Coordinates differ by at most 2, so a larger reach takes in everything.
    limit = float(min(reach / Fraction(2) ** (exponent * p), Fraction(2**p * width + 1)))
    # A difference up to 2 is wrong by 10 units, its square by 40; then they are added up.
    margin = 64 * _UNIT * width * (width + 4)
    return PointCloud(points=points, p=p, inner=limit - margin, outer=limit + margin)


class Manhattan(Space):
    """The sum of absolute differences."""

    name = "manhattan"
    p = 1

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.vectors = Vectors(domain)

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        from scipy.spatial.distance import cdist

        floats = self.vectors.floats
        # Only squares of enormous numbers are too large for a float.
        shift = max(0, self.vectors.scaled[1] - 500)
        one, other = np.ldexp(floats[ones], -shift), np.ldexp(floats[others], -shift)
        return np.ldexp(cdist(one, other, "minkowski", p=self.p), shift)

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, VectorTest(self.vectors, self.p, epsilon**self.p))


class Euclidean(Manhattan):
    """The root of the sum of squared differences."""

    name = "euclidean"
    p = 2


class Cosine(Space):
    """1 - cos of the angle between two vectors."""

    name = "cosine"
    top = Fraction(2)

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.vectors = Vectors(domain)
        zero = int((~self.vectors.floats.any(axis=1)).sum())
        if zero:
            raise TableError(
                f"distance=cosine: {zero:,} of the distinct values of '{domain.name}' "
                f"{'is' if zero == 1 else 'are'} all zeros, which has no direction",
                hint="distance=euclidean or distance=manhattan, or leave such cells empty",
            )
        floats = self.vectors.floats
        # By powers of two, row by row, so that no square is too large or too small for a float.
        shrunk = np.ldexp(floats, -np.frexp(np.abs(floats).max(axis=1))[1][:, None])
        self.directions = shrunk / np.sqrt(np.einsum("ij,ij->i", shrunk, shrunk))[:, None]

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        apart = 1 - self.directions[ones] @ self.directions[others].T
        return np.where(ones[:, None] == others, 0.0, np.clip(apart, 0, 2))

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, AngleTest(self, epsilon))


class AngleTest(PointTest):
    """Directions as points on a sphere: two of them are 2 - 2 cos apart, squared."""

    def __init__(self, space: Cosine, epsilon: Fraction) -> None:
        self.vectors, self.cosine = space.vectors, 1 - epsilon
        limit = 2 * float(epsilon)
        # A direction is wrong by less than width + 8 units, so differences by twice that.
        margin = 64 * _UNIT * (space.vectors.width + 8)
        points = space.directions
        super().__init__(PointCloud(points=points, p=2, inner=limit - margin, outer=limit + margin))

    def settle(self, ones: Ints, others: Ints) -> Bools:
        """Compare xy with |x| |y| cos, by their signs and squares."""
        one, other, _ = exact_pairs(self.vectors, ones, others, 2)
        product = (one * other).sum(axis=1)
        lengths = [(side * side).sum(axis=1) for side in (one, other)]
        above, below = abs(self.cosine.numerator), self.cosine.denominator
        bound = max((int(np.abs(n).max(initial=1)) for n in (product, *lengths)), default=1)
        product, *lengths = (
            whole(n, (bound * max(above, below)) ** 2) for n in (product, *lengths)
        )
        left, right = product**2 * below**2, lengths[0] * lengths[1] * above**2
        if self.cosine > 0:
            near = (product > 0) & (left >= right)
        else:
            near = (product >= 0) | (left <= right)
        return np.asarray(near, dtype=bool)
