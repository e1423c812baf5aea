"""One level of generalization per quasi-identifier: the lattice of all choices."""

from wideberth.algorithms.lattice.generalizing import Generalized, Settings, generalize
from wideberth.algorithms.lattice.ground import Ground
from wideberth.algorithms.lattice.ladder import Ladder

__all__ = ["Generalized", "Ground", "Ladder", "Settings", "generalize"]
