"""A searched rule among a few rows: who is near whom is known for all pairs of their values."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wideberth.core.exact import Bools, Floats, Ints
from wideberth.core.groups import Groups
from wideberth.errors import InfeasibleError
from wideberth.kernels import kinds
from wideberth.kernels.kinds import Kernel
from wideberth.kernels.randomness import Chance
from wideberth.principles.base import Rule
from wideberth.principles.partition.swap import Cap, Relation, fewer, part


class Local(Rule):
    """The rule of a block of rows; codes are places among the block's values."""

    monotone = False
    certain = False

    def __init__(self, relation: Relation, cap: Cap, smallest: int) -> None:
        self.relation, self.cap = relation, cap
        self.smallest = self.least = smallest
        self.kernel = Kernel(kinds.APART, (cap.a, cap.b, cap.q), relation.bits)

    def satisfies(self, groups: Groups) -> Bools:
        """Return which groups have rows enough, none of them near too many."""
        near = np.array([self._crowd(groups, g) for g in range(len(groups))]) - 1
        return (near <= self.cap.of(groups.sizes)) & (groups.sizes >= self.smallest)

    def _crowd(self, groups: Groups, group: int) -> int:
        entries = slice(groups.start[group], groups.start[group + 1])
        codes, counts = groups.codes[entries], groups.counts[entries]
        return int((self.relation.near[np.ix_(codes, codes)] @ counts).max())

    def achieved(self, groups: Groups) -> dict[str, Floats]:
        """Return the size of each group."""
        return {"k": groups.sizes.astype(np.float64)}

    def reason(self, groups: Groups, group: int) -> str:
        """Return in words how many rows are near one of them."""
        return f"one row is near {self._crowd(groups, group) - 1:,} others"

    def feasible(self, groups: Groups) -> Bools:
        """Return for which groups a partition is found."""
        found = [self.hands(groups.rows(group)) > 0 for group in range(len(groups))]
        return np.array(found, dtype=bool)

    def finish(self, codes: Ints, rng: Chance) -> Ints:
        """Partition one feasible group."""
        labels = next(self.ways(codes), None)
        if labels is None:
            raise InfeasibleError(f"found no partition of a group of {len(codes)} rows")
        return labels

    def certified(self, codes: Ints) -> bool:
        """Return whether Hajnal and Szemerédi's condition for equitable colouring is met."""
        # With one more colour than the most neighbours, every class has rows enough.
        most = int(self.relation.degrees(codes).max(initial=0))
        return len(codes) >= kinds.CERTIFIED and len(codes) >= self.smallest * (most + 1)

    def hands(self, codes: Ints) -> int:
        """Return into how many groups rows are to be dealt, 0 if no way is found."""
        if self.certified(codes):
            return len(codes) // self.smallest
        return next((int(labels.max()) + 1 for labels in self.ways(codes)), 0)

    def ways(self, codes: Ints) -> Iterator[Ints]:
        """Go through the groups that are found, the most first."""
        n = len(codes)
        hands = n // self.smallest
        while hands:
            steps = 2 * n + kinds.SWAPS
            labels = part(self.relation, codes, hands, self.cap, self.smallest, steps, kinds.WORK)
            if labels is None:
                return
            yield labels
            hands = fewer(int(labels.max()) + 1, n, self.smallest, self.cap)
