"""Where the study measures: parameters, and the queries that are asked there."""

from __future__ import annotations

from fractions import Fraction

from wideberth_papers.li2008.grounds import Asked
from wideberth_papers.li2008.releases import ABSOLUTE, RELATIVE, Point

#: The ε of Figure 4, at m = 5.
REACHES = {
    ABSOLUTE: [Fraction(500 * i) for i in range(1, 10)],
    RELATIVE: [Fraction(i, 40) for i in range(1, 9)],
}
M = 5
#: The m of Figures 5 and 7a, and the ε for which they vary.
MS, FIXED = range(2, 8), {ABSOLUTE: Fraction(4500), RELATIVE: Fraction(1, 8)}
#: The queries: of all figures, of Figure 5, of Figure 6.
USUAL = Asked(3, Fraction(1, 10))
VOLUMES = [Fraction(i, 100) for i in (1, 5, 10, 15, 20)]
#: Where dealing by matching is compared: on a sample, as it takes long.
COMPARED = {
    ABSOLUTE: [Fraction(i) for i in (1000, 2000, 3000, 4000, 4500)],
    RELATIVE: [Fraction(i, 40) for i in (2, 4, 5, 6, 8)],
}


def points() -> list[Point]:
    """List all pairs of parameters, those of Figure 4 first."""
    across = [Point(kind, reach, M) for kind, reaches in REACHES.items() for reach in reaches]
    along = [Point(kind, reach, m) for kind, reach in FIXED.items() for m in MS]
    return list(dict.fromkeys([*across, *along]))


def compared() -> list[Point]:
    """List those where dealing by matching is tried."""
    return [Point(kind, reach, M) for kind, reaches in COMPARED.items() for reach in reaches]


def asked_at(point: Point) -> list[Asked]:
    """Return the queries to ask: more of them where several figures meet."""
    asked = [USUAL]
    if point.epsilon == FIXED[point.kind]:
        volumes = VOLUMES if point.m == M else [USUAL.volume]
        asked += [Asked(w, volume) for w in (2, 3, 4) for volume in volumes]
    return list(dict.fromkeys(asked))
