"""How far two sensitive values are apart, and what principles ask of that: who is near whom.

`space` joins a domain with a distance; for a threshold ε that yields a `Similarity`. A missing
value is near to missing values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np

from wideberth.core.codes import Domain
from wideberth.core.exact import Ints
from wideberth.distances.base import DistanceFunction, Similarity, Space
from wideberth.distances.custom import FunctionDistance
from wideberth.distances.distributions import JensenShannon, Variational
from wideberth.distances.geographic import Haversine
from wideberth.distances.numeric import Absolute, Discrete, Relative, Windows, numbers_of, windows
from wideberth.distances.texts import Edit
from wideberth.distances.trees import (
    NearbyNodes,
    TreeDistance,
    TreeSimilarity,
    expand_rows,
    paths_to_root,
)
from wideberth.distances.vectors import Cosine, Euclidean, Manhattan
from wideberth.errors import ParameterError

__all__ = [
    "DISTANCE_NAMES",
    "TOPS",
    "DistanceFunction",
    "NearbyNodes",
    "Similarity",
    "Space",
    "TreeSimilarity",
    "Windows",
    "classes",
    "expand_rows",
    "numbers_of",
    "paths_to_root",
    "similarity",
    "space",
    "windows",
]

_SPACES: dict[str, type[Space]] = {
    kind.name: kind
    for kind in (
        Absolute,
        Relative,
        Discrete,
        TreeDistance,
        Variational,
        JensenShannon,
        Euclidean,
        Cosine,
        Manhattan,
        Haversine,
        Edit,
    )
}

DISTANCE_NAMES = ("auto", *_SPACES)

#: The largest ε of those distances that have one.
TOPS: Mapping[str, Fraction] = MappingProxyType(
    {name: kind.top for name, kind in _SPACES.items() if kind.top is not None}
)

_MANY = 4000  # values of which all pairs are still looked at


def space(domain: Domain, distance: str | DistanceFunction) -> Space:
    """Return the space that a domain's values have under a distance."""
    # `auto` picks by the domain: a tree's values by the tree, vectors variational, numbers
    # absolute, anything else discrete.
    if callable(distance):
        return FunctionDistance(domain, distance)
    kind = _SPACES.get(_usual(domain) if distance == "auto" else distance)
    if kind is None:
        known = ", ".join(DISTANCE_NAMES)
        raise ParameterError(f"there is no distance '{distance}'", hint=f"one of {known}")
    return kind(domain)


def similarity(domain: Domain, distance: str | DistanceFunction, epsilon: Fraction) -> Similarity:
    """Return who is at distance ε or less from whom; see `space`."""
    return space(domain, distance).within(epsilon)


def classes(similar: Similarity, size: int) -> Ints | None:
    """Return each code's similarity class, or None where being similar is not transitive."""
    if (
        isinstance(similar, TreeSimilarity)
        and len(np.unique(similar.depth_of[: len(similar.nodes)])) < 2
    ):
        # All values at equal depth: being similar is having the same ancestor so far up.
        ancestors = similar.tree.climb(similar.nodes, similar.limit // 2)
        lone = [] if similar.missing is None else [len(similar.tree.parent)]
        return np.append(ancestors, lone).astype(np.int64)
    # Too many to look at every pair: None is the cautious answer.
    if size > _MANY:
        return None
    near = similar.matrix(np.arange(size))
    label = near.argmax(axis=1)
    transitive = all(np.array_equal(near[code], near[label[code]]) for code in range(size))
    return label if transitive else None


def _usual(domain: Domain) -> str:
    if domain.tree is not None:
        return "tree"
    if domain.components:
        return "variational"
    return "absolute" if domain.numbers is not None else "discrete"
