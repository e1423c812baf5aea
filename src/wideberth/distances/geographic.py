"""The distance of places on Earth, along a great circle."""

from __future__ import annotations

import re
from fractions import Fraction
from math import atan2, cos, hypot, pi, radians, sin

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Bools, Floats, Ints
from wideberth.distances.base import Similarity, Space
from wideberth.distances.pairs import PairwiseSimilarity, PointCloud, PointTest
from wideberth.distances.vectors import Vectors
from wideberth.errors import TableError

_RADIUS = 6371.0088  # of the Earth on average, in kilometres
_SAFE_SIDE = 1 + 1e-9  # of ε: who is so little beyond it counts as near
_SAME = 1e-9  # kilometres: the pole has many longitudes, and 180 degrees east is west
_LATITUDE = {"lat", "latitude"}
_LONGITUDE = {"lon", "lng", "long", "longitude"}


class Haversine(Space):
    """Kilometres along a great circle, on a sphere of the Earth's mean radius."""

    name = "haversine"
    top = Fraction(20_015_115, 1000)  # half the circumference, rounded up

    def __init__(self, domain: Domain) -> None:
        super().__init__(domain)
        vectors = Vectors(domain)
        if vectors.width != 2:
            raise TableError(
                f"distance=haversine needs two numbers for each value of '{domain.name}', "
                f"latitude and longitude, not {vectors.width}",
                hint="name two columns joined by '+', or a column of lists of two",
            )
        self.places = _ordered(domain, vectors.floats)
        wrong = np.abs(self.places) > (90, 180)
        for many, what in zip(wrong.sum(axis=0).tolist(), ("latitude", "longitude"), strict=True):
            if many:
                limit = 90 if what == "latitude" else 180
                raise TableError(
                    f"distance=haversine: of {domain.known:,} distinct values of '{domain.name}', "
                    f"{many:,} {'has' if many == 1 else 'have'} a {what} beyond ±{limit} degrees",
                    hint="latitude comes first, unless the columns' names say otherwise",
                )

    def _apart(self, ones: Ints, others: Ints) -> Floats:
        one, other = np.radians(self.places[ones])[:, None], np.radians(self.places[others])
        half = np.sin((one - other) / 2) ** 2
        haversine = half[..., 0] + np.cos(one[..., 0]) * np.cos(other[..., 0]) * half[..., 1]
        return 2 * _RADIUS * np.arcsin(np.sqrt(np.clip(haversine, 0, 1)))

    def _within(self, epsilon: Fraction) -> Similarity:
        return PairwiseSimilarity(self.domain, GreatCircleTest(self.places, float(epsilon)))


def _ordered(domain: Domain, floats: Floats) -> Floats:
    """Put latitude first, where the components' names tell them apart."""
    names = [re.split(r"[._\[]", part.name)[-1].lower() for part in domain.components]
    swapped = len(names) == 2 and names[0] in _LONGITUDE and names[1] in _LATITUDE
    return floats[:, ::-1] if swapped else floats


class GreatCircleTest(PointTest):
    """Places as points on a unit sphere: an angle of θ is a chord of 2 sin(θ/2)."""

    def __init__(self, places: Floats, epsilon: float) -> None:
        self.places, self.limit = places, epsilon * _SAFE_SIDE + _SAME
        latitude, longitude = np.radians(places).T
        flat = np.cos(latitude)
        points = np.stack(
            (flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)), axis=1
        )
        chord = 2 * sin(min(self.limit / _RADIUS, pi) / 2)
        # A point is wrong by less than 1e-15, so is a chord by 2e-15, and its square by 1e-14.
        margin = 1e-13
        super().__init__(
            PointCloud(points=points, p=2, inner=chord**2 - margin, outer=chord**2 + margin)
        )

    def settle(self, ones: Ints, others: Ints) -> Bools:
        """Measure along the great circle, one by one."""
        pairs = zip(self.places[ones].tolist(), self.places[others].tolist(), strict=True)
        return np.array([great_circle(*a, *b) <= self.limit for a, b in pairs], dtype=bool)


def great_circle(latitude: float, longitude: float, north: float, east: float) -> float:
    """Return the kilometres between two places, accurately for near ones and for antipodes.

    >>> round(great_circle(52.52, 13.405, 48.8566, 2.3522))
    877
    """
    a, b, turn = radians(latitude), radians(north), radians(east - longitude)
    across = hypot(cos(b) * sin(turn), cos(a) * sin(b) - sin(a) * cos(b) * cos(turn))
    return _RADIUS * atan2(across, sin(a) * sin(b) + cos(a) * cos(b) * cos(turn))
