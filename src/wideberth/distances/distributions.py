"""Distances of probability distributions: variational, and Jensen and Shannon's."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from math import fsum, log, log1p, log2

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.distances.base import Similarity, Space
from wideberth.distances.pairs import PairwiseSimilarity, PointCloud, PointTest
from wideberth.distances.vectors import Manhattan, Vectors, VectorTest
from wideberth.errors import TableError

_TOLERANCE = Fraction(1, 10**6)  # by which shares may miss 1
_SAFE_SIDE = 1 + 1e-9  # of ε: who is so little beyond it counts as near
_ROUNDED = 1e-12  # relatively: more than a float formula is ever wrong by
_MANY = 1 / 32  # of the pairs of a block
_LEAST = np.float32(1e-37)  # which has a logarithm
_FLAT = 0.125  # where `_bend` is a short series
_SERIES = [1 / (2 * k * (2 * k - 1)) for k in range(9, 0, -1)]


def distributions(domain: Domain, name: str) -> Vectors:
    """Return the vectors of a domain, all of them probability distributions."""
    vectors = Vectors(domain)
    if domain.known and not domain.components:
        raise TableError(
            f"distance={name}: '{domain.name}' is a single number, no distribution",
            hint="distance=absolute, or name all columns of the distribution joined by '+'",
        )
    negative = int((vectors.floats < 0).any(axis=1).sum())
    sums = vectors.floats.sum(axis=1)
    odd = np.flatnonzero(np.abs(sums - 1) > float(_TOLERANCE) * 0.999)
    exact = vectors.exactly(odd)
    off = [abs(int(row.sum()) - exact.per) > _TOLERANCE * exact.per for row in exact.units]
    complaints = [
        (negative, "with a negative share"),
        (sum(off), "whose shares do not add up to 1"),
    ]
    if wrong := [f"{many:,} {what}" for many, what in complaints if many]:
        raise TableError(
            f"distance={name}: '{domain.name}' does not hold probability distributions: of its "
            f"{domain.known:,} distinct values, {' and '.join(wrong)}",
            hint="divide percentages by 100; distance=euclidean, manhattan or cosine for other "
            "vectors",
        )
    return vectors


class Variational(Manhattan):
    """Half the sum of absolute differences: the most by which an event's probability differs."""

    name = "variational"
    top = Fraction(1)

    def __init__(self, domain: Domain) -> None:
        Space.__init__(self, domain)
        self.vectors = distributions(domain, self.name)

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        return super()._apart(ones, others) / 2

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, VectorTest(self.vectors, 1, 2 * epsilon))


class JensenShannon(Space):
    """The square root of the Jensen-Shannon divergence, in bits, of two distributions."""

    # That is the mean divergence of the two from their middle. Where two shares have the mean s and
    # differ from it by ds, they add s · bend(d) to it, with bend(d) = ((1 + d) log(1 + d) + (1 - d)
    # log(1 - d)) / 2. No term is negative, so nothing cancels.

    name = "jensen-shannon"
    top = Fraction(1)

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        self.shares = distributions(domain, self.name).floats

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        apart = [divergences(self.shares[[one]], self.shares[others]) for one in ones]
        return np.sqrt(np.array(apart).reshape(len(ones), len(others)))

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, DivergenceTest(self.shares, float(epsilon)))


class DivergenceTest(PointTest):
    """Distributions compared by their divergence."""

    # Half the squared distance h of the roots of two distributions is easily computed, and near
    # enough for most pairs: term by term, h <= divergence <= h / log 2.

    def __init__(self, shares: Floats, epsilon: float) -> None:
        self.shares = shares
        self.limit = (epsilon * _SAFE_SIDE) ** 2
        margin = 1e-13 * shares.shape[1]
        inner, outer = 2 * log(2) * self.limit - margin, 2 * self.limit + margin
        super().__init__(PointCloud(points=np.sqrt(shares), p=2, inner=inner, outer=outer))

    def decide(self, near: Bools, doubtful: Bools, ones: Ints, others: Ints) -> None:
        """Where many pairs of a matrix are in doubt, compute it roughly before."""
        if doubtful.mean() > _MANY:
            found = self._roughly(ones, others)
            # Some terms are as large as 1; each of them, and their sum, is rounded a few times.
            width = self.shares.shape[1]
            margin = 2.0**-22 * (width + 16) * (3 + log2(width))
            near |= doubtful & (found <= self.limit - margin)
            doubtful = doubtful & (np.abs(found - self.limit) <= margin)
        super().decide(near, doubtful, ones, others)

    def _roughly(self, ones: Ints, others: Ints) -> Floats:
        """Compute the divergences of a block in single precision."""
        # With t = p + q for each share, twice the divergence is the sum of p log p + p, of q log q
        # + q, and of -t log t (in bits).
        one, other = self._single[:, ones], self._single[:, others]
        found = np.add.outer(one[-1], other[-1])
        both, logs = np.empty_like(found), np.empty_like(found)
        for p, q in zip(one[:-1], other[:-1], strict=True):
            np.add.outer(p, q, out=both)
            np.log(np.maximum(both, _LEAST, out=logs), out=logs)
            found -= np.multiply(both, logs, out=logs)
        return found / np.float32(2 * log(2))

    @cached_property
    def _single(self) -> npt.NDArray[np.float32]:
        """The shares, a row for each outcome, and last what depends on one distribution only."""
        from scipy.special import xlogy

        own = (xlogy(self.shares, self.shares) + log(2) * self.shares).sum(axis=1)
        return np.vstack((self.shares.T, own)).astype(np.float32)

    def settle(self, ones: Ints, others: Ints) -> Bools:
        """Compute the divergence; near ε, with canonical care."""
        found = divergences(self.shares[ones], self.shares[others])
        near = found <= self.limit
        for at in np.flatnonzero(np.abs(found - self.limit) <= self.limit * _ROUNDED):
            one, other = self.shares[ones[at]].tolist(), self.shares[others[at]].tolist()
            near[at] = divergence(one, other) <= self.limit
        return near


def divergences(ones: Floats, others: Floats) -> Floats:
    """Return the divergences of pairs of distributions, in bits."""
    from scipy.special import xlog1py

    twice = ones + others
    d = np.abs(ones - others) / np.where(twice > 0, twice, 1)
    square = d * d
    flat = np.polyval([*_SERIES, 0], square)
    steep = (xlog1py(1 + d, d) + xlog1py(1 - d, -d)) / 2
    bend = np.where(d < _FLAT, flat, steep)
    return np.einsum("ij,ij->i", twice / 2, bend) / log(2)


def divergence(one: list[float], other: list[float]) -> float:
    """Return the divergence of two distributions: slow, but always the same.

    >>> divergence([1.0, 0.0], [0.0, 1.0])
    1.0
    """
    terms = []
    for p, q in zip(one, other, strict=True):
        if p != q:
            d = abs(p - q) / (p + q)
            rest = (1 - d) * log1p(-d) if d < 1 else 0.0
            bend = ((1 + d) * log1p(d) + rest) / 2
            if d < _FLAT:
                bend = 0.0
                for factor in _SERIES:
                    bend = (bend + factor) * d * d
            terms.append((p + q) / 2 * bend)
    return fsum(terms) / log(2)
