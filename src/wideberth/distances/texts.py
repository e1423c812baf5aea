"""The distance of texts: how many letters must be typed, deleted or replaced."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isqrt

import numpy as np
import polars as pl
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints, WholeNumbers
from wideberth.distances.base import Similarity, Space
from wideberth.distances.pairs import PairTest, PairwiseSimilarity, sum_near_counts
from wideberth.errors import TableError


class Edit(Space):
    """Levenshtein's distance: insertions, deletions and replacements of Unicode characters."""

    name = "edit"

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        if domain.values is None or domain.values.dtype != pl.String:
            raise TableError(
                f"distance=edit needs text, but '{domain.name}' holds none",
                hint="distance=euclidean or another one for vectors"
                if domain.components
                else "distance=absolute for numbers, or set its type",
            )
        self.texts = np.array(domain.texts, dtype=object)

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        found = cdist(self.texts[ones], self.texts[others], scorer=Levenshtein.distance, workers=-1)
        return np.asarray(found, dtype=np.float64)

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, EditTest(self.texts, floor(epsilon)))


class EditTest(PairTest):
    """Texts by the steps from one to the other."""

    def __init__(self, texts: WholeNumbers, limit: int) -> None:
        super().__init__(per_pair=64)
        self.texts = texts
        self.lengths = np.array([len(text) for text in texts], dtype=np.int64)
        # No two texts are farther apart than the longer one is long.
        self.limit = min(limit, int(self.lengths.max(initial=0)))

    def listed(self, ones: Ints, others: Ints) -> Bools:
        """Return which pairs of a list are near."""
        near = np.abs(self.lengths[ones] - self.lengths[others]) <= self.limit
        likely = np.flatnonzero(near)
        found = cpdist(
            self.texts[ones[likely]],
            self.texts[others[likely]],
            scorer=Levenshtein.distance,
            score_cutoff=self.limit,
            dtype=np.int32,
            workers=-1,
        )
        near[likely] = found <= self.limit
        return near

    def block(self, ones: Ints, others: Ints) -> Bools:
        """Return who of one list is near whom of the other, as a matrix."""
        found = cdist(
            self.texts[ones],
            self.texts[others],
            scorer=Levenshtein.distance,
            score_cutoff=self.limit,
            dtype=np.int32,
            workers=-1,
        )
        return np.asarray(found <= self.limit)

    def by_blocks(self, codes: Ints, counts: Ints) -> Ints:
        """Compare each text with those that are not too long or too short to be near."""
        order = np.argsort(self.lengths[codes], kind="stable")
        codes, weight, lengths = codes[order], counts[order], self.lengths[codes[order]]
        result = counts[order]
        begin = 0
        while begin < len(codes):
            # Texts from here on, and all that are at most so much longer than the last of them.
            end = min(begin + isqrt(self.cells_at_once), len(codes))
            stop = int(np.searchsorted(lengths, lengths[end - 1] + self.limit, side="right"))
            own = slice(begin, end)
            for at in range(begin, stop, end - begin):
                others = slice(at, min(at + end - begin, stop))
                near = self.block(codes[own], codes[others])
                if at == begin:
                    np.fill_diagonal(near, False)
                else:
                    result[others] += sum_near_counts(near.T, weight[own])
                result[own] += sum_near_counts(near, weight[others])
            begin = end
        back = np.empty_like(result)
        back[order] = result
        return back
