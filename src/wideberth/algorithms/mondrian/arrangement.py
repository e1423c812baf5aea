"""A table arranged for splitting: rows in the order of a sensitive attribute, losses as integers.

Every row gets a rank: its place in the order of the first sensitive attribute, rows with equal
values in a secret random order. A node of the splitting tree is a set of ascending ranks, so that
dealing its rows in turn, or finding the rows in a window, needs no sorting.

The secret order is drawn row by row; or rows carry tags, secret numbers that depend on what a row
holds, and then neither the order of the rows nor where they lie matters: each part of a table, by
itself and on any machine, is arranged as it would be within the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.algorithms.demand import Demand
from wideberth.core.codes import Codes, Column
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition
from wideberth.errors import ParameterError
from wideberth.hierarchy.quasi import Quasi
from wideberth.kernels import kinds
from wideberth.kernels.cache import needed
from wideberth.kernels.randomness import (
    MAX_UNCOMPILED_ROWS,
    Stream,
    hash_row_numbers,
    hashed,
    subkey,
)

#: A place on an attribute of weight 1 as an integer: sums and comparisons of losses are exact,
#: whatever their order, and 2^24 steps are finer than anybody can tell.
LOSS_STEPS = 2**24


@dataclass(frozen=True, eq=False)
class SplitProblem:
    """What splitting works on."""

    quasis: Sequence[Quasi]
    demands: Sequence[Demand]  # at most one of them not monotone
    key: bytes  # the secret that breaks ties
    # if given, ties are broken by tags, made of the codes of all attributes above and of these, not
    # by where rows stand
    besides: Sequence[Codes] | None = None

    @property
    def tagged(self) -> bool:
        """Whether ties are broken by tags."""
        return self.besides is not None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.quasis[0].codes)

    @cached_property
    def unit(self) -> int:
        """The fewest rows that a group is made of."""
        return max((demand.rule.unit for demand in self.demands), default=1)

    @property
    def least(self) -> int:
        """The fewest rows that any group can have."""
        return max((demand.rule.least for demand in self.demands), default=1)

    @cached_property
    def guarded(self) -> list[Demand]:
        """The demands that look at sensitive values, the leading one first."""

        # The one that is not monotone leads; else one about windows of values, for these are judged
        # fastest in the order of the values.
        def merit(demand: Demand) -> tuple[bool, bool]:
            kernel = demand.rule.kernel
            return demand.rule.monotone, kernel is None or kernel.kind != kinds.CROWD

        return sorted((d for d in self.demands if d.column is not None), key=merit)

    @property
    def dealt(self) -> Demand | None:
        """The demand that is not monotone, if there is one."""
        leading = self.guarded[:1]
        return leading[0] if leading and not leading[0].rule.monotone else None

    @cached_property
    def leading(self) -> tuple[Codes, int]:
        """The values that order the rows, and how many there are."""
        if not self.guarded:
            return np.zeros(self.rows, dtype=np.int32), 1
        column, kernel = self.guarded[0].column, self.guarded[0].rule.kernel
        assert column is not None  # noqa: S101 - guarded demands have one
        if kernel is not None and kernel.order is not None:
            classes = kernel.order.astype(np.int32)
            return classes[column.codes], int(classes.max()) + 1
        return column.codes, column.domain.size

    @cached_property
    def begins(self) -> Ints:
        """The rank at which each value begins; the last entry is the number of rows."""
        codes, width = self.leading
        return np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=width))))

    @cached_property
    def order(self) -> npt.NDArray[np.uint32]:
        """The row of each rank."""
        codes, _ = self.leading
        if self.tagged:
            ties = np.argsort(self.tags, kind="stable")
        elif self.rows <= MAX_UNCOMPILED_ROWS:
            ties = Stream(self.key, "order").permutation(self.rows)
        if self.rows <= MAX_UNCOMPILED_ROWS:
            return ties[np.argsort(codes[ties], kind="stable")].astype(np.uint32)
        from wideberth.kernels.sort import placed, secret_order

        order = np.empty(self.rows, np.uint32)
        if self.tagged:
            placed(codes, self.begins[:-1].copy(), ties, order)
        else:
            words = hash_row_numbers(subkey(self.key, "order"), self.rows)
            secret_order(codes, self.begins[:-1].copy(), words, order)
        return order

    @property
    def tags(self) -> npt.NDArray[np.uint64]:
        """A secret number for each row; rows with equal codes, and hardly any others, share it."""
        columns = {id(d.column): d.column for d in self.demands if d.column is not None}
        codes = [quasi.codes for quasi in self.quasis] + [c.codes for c in columns.values()]
        return hashed(subkey(self.key, "tags"), [*codes, *(self.besides or ())])

    def reordered(self, order: Ints) -> SplitProblem:
        """Return the same with its rows in another order, in which they then stand."""
        return SplitProblem(
            [replace(quasi, codes=quasi.codes[order]) for quasi in self.quasis],
            reorder_demands(self.demands, order),
            self.key,
        )

    @cached_property
    def ties(self) -> npt.NDArray[np.uint32]:
        """A secret number for each rank, which orders rows with equal quasi-identifiers."""
        if self.tagged:
            again = hashed(subkey(self.key, "ties"), [self.tags[self.order]])
            return (again >> np.uint64(33)).astype(np.uint32)
        return Stream(self.key, "ties").words(self.rows, np.uint32) >> np.uint32(1)

    @cached_property
    def places(self) -> npt.NDArray[np.int32]:
        """The place of each code of each quasi-identifier, weighted, in whole steps."""
        heaviest = max(quasi.weight for quasi in self.quasis)
        table = np.zeros((len(self.quasis), max(q.domain.size for q in self.quasis)), np.int32)
        for line, quasi in zip(table, self.quasis, strict=True):
            line[: quasi.domain.size] = np.rint(
                quasi.places * (quasi.weight / heaviest * LOSS_STEPS)
            )
        return table

    @property
    def compilable(self) -> bool:
        """Whether every demand has a compiled form."""
        kernels = [demand.rule.kernel for demand in self.demands]
        return all(kernel is not None and kernel.modest for kernel in kernels)

    @property
    def looks_up(self) -> bool:
        """Whether judging ever looks at single values, not at ranks alone."""
        # Ranks alone tell whether windows are crowded, and how to deal if a group need not be
        # larger than its rule demands.
        kernels = [demand.rule.kernel for demand in self.guarded]
        if not kernels or kernels[0] is None:
            return bool(kernels)
        if len(kernels) > 1 or kernels[0].kind != kinds.CROWD:
            return True
        p, q, dealt, _ = kernels[0].numbers
        return bool(dealt and self.unit * p > q)

    @property
    def apart(self) -> bool:
        """Whether rows are dealt by who is near whom, not by rank."""
        kernel = self.dealt.rule.kernel if self.dealt is not None else None
        return kernel is not None and kernel.kind == kinds.APART

    def kernels(self, cuts: str) -> list[str]:
        """Return the names of the kernels that splitting it takes."""
        return needed(cuts, looks_up=self.looks_up, only_sizes=self.only_sizes, apart=self.apart)

    @property
    def only_sizes(self) -> bool:
        """Whether no demand looks at sensitive values."""
        return not self.guarded


def reorder_demands(demands: Sequence[Demand], order: Ints) -> list[Demand]:
    """Return demands on the same rows in another order."""
    return [
        replace(d, column=d.column and Column(d.column.codes[order], d.column.domain))
        for d in demands
    ]


def require_combinable(demands: Sequence[Demand]) -> None:
    """Refuse lists that no partition could be guaranteed for."""
    dealt = [demand.principle for demand in demands if not demand.rule.monotone]
    if len(dealt) > 1:
        raise ParameterError(
            f"{dealt[0]} and {dealt[1]} are both non-monotone: groups dealt for one may break "
            "the other",
            hint="keep one, or use delta-l, which is monotone in its default variant",
        )


# -----------------------------------------------------------------------------
# Leaves: what splitting makes, and refining improves, before rows are dealt to groups.


@dataclass(frozen=True, eq=False)
class Leaves:
    """Leaves side by side."""

    ranks: npt.NDArray[np.uint32]  # of the rows, ascending within a leaf
    sizes: npt.NDArray[np.int32]  # for each leaf, its rows
    # the groups each will be dealt to; below 0, hands of whole columns (`kinds.columns`)
    hands: npt.NDArray[np.int32]
    # the quasi-identifiers of the rows, a line for each, if at hand
    codes: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self.sizes)

    @property
    def groups(self) -> Ints:
        """How many groups each leaf is dealt to."""
        return np.abs(self.hands).astype(np.int64)

    @cached_property
    def begins(self) -> Ints:
        """Where each leaf begins."""
        return np.cumsum(self.sizes, dtype=np.int64) - self.sizes


@dataclass(frozen=True)
class BeamSettings:
    """How leaves are taken apart at ranks; see `wideberth.kernels.refine.BeamParameters`."""

    beam: int
    narrow: int
    wide: int
    thrifty: bool


@dataclass(frozen=True, eq=False)
class Pools:
    """Which leaves are put together: pool i is ``leaves[begins[i] : begins[i + 1]]``."""

    leaves: Ints
    begins: Ints

    @classmethod
    def single(cls, many: int) -> Pools:
        """Return pools of one leaf each."""
        return cls(np.arange(many), np.arange(many + 1))

    def rows(self, leaves: Leaves) -> Ints:
        """Return the number of rows of each pool."""
        running = np.concatenate(([0], np.cumsum(leaves.sizes[self.leaves], dtype=np.int64)))
        return np.diff(running[self.begins])


def exchange_between_leaves(
    leaves: Leaves, near: Ints, at: Ints, unit: int, exchange: Callable[..., int]
) -> tuple[Leaves, int]:
    """Let rows change places between near leaves; also return the gain, in steps times rows."""
    most = max(int(leaves.sizes.max()), 2 * unit + 2)
    members = np.full((len(leaves), most), -1, np.int64)
    held = np.arange(most) < leaves.sizes[:, None]
    members[held] = leaves.ranks
    sizes = leaves.sizes.copy()
    gain = exchange(members, sizes, near, at, unit, most)
    members[np.arange(most) >= sizes[:, None]] = np.iinfo(np.int64).max
    members.sort(axis=1)
    ranks = members[np.arange(most) < sizes[:, None]].astype(np.uint32)
    return Leaves(ranks, sizes, np.ones_like(sizes)), int(gain)


#: The lowest and the highest code of every group, a line for each group.
GroupBoxes: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def boxes_of(partition: Partition, columns: Sequence[Codes]) -> GroupBoxes:
    """Find the box of every group from the codes of its rows."""
    order = np.argsort(partition.labels, kind="stable")
    start = np.searchsorted(partition.labels[order], np.arange(partition.count))
    codes = np.stack([column[order] for column in columns], axis=1)
    return np.minimum.reduceat(codes, start), np.maximum.reduceat(codes, start)


class Splitter(Protocol):
    """What does the work of splitting: compiled code, or the rules themselves."""

    def prepare(self, cuts: str) -> None:
        """Do what has to be done once, such as compiling, before the work begins."""

    def cut(self, *, paper: bool, block: int) -> Leaves:
        """Cut the table at values, down to nodes without a cut or with fewer rows than a block."""

    def solve(self, leaves: Leaves, pools: Pools, style: BeamSettings) -> tuple[Leaves, float]:
        """Pool leaves and take them apart at ranks, if that loses less; also return the gain."""

    def exchange(self, leaves: Leaves, near: Ints) -> tuple[Leaves, int]:
        """Move rows to, and swap them with, near leaves; also return how many loss steps less."""

    def centres(self, leaves: Leaves) -> Floats:
        """Return the middle of each leaf's box, in steps."""

    def deal(self, leaves: Leaves) -> tuple[Partition, GroupBoxes]:
        """Deal the rows of each leaf to its groups; also return their boxes."""
