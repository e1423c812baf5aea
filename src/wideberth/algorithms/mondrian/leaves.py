"""Leaves: what splitting makes, and refining improves, before rows are dealt to groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes
from wideberth.core.exact import Floats, Ints
from wideberth.core.groups import Partition


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
class Style:
    """How leaves are taken apart at ranks; see `wideberth.kernels.refine.Style`."""

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


def exchanged(
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
Boxes: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def boxes_of(partition: Partition, columns: Sequence[Codes]) -> Boxes:
    """Find the box of every group from the codes of its rows."""
    order = np.argsort(partition.labels, kind="stable")
    start = np.searchsorted(partition.labels[order], np.arange(partition.count))
    codes = np.stack([column[order] for column in columns], axis=1)
    return np.minimum.reduceat(codes, start), np.maximum.reduceat(codes, start)


class Engine(Protocol):
    """What does the work of splitting: compiled code, or the rules themselves."""

    def prepare(self, cuts: str) -> None:
        """Do what has to be done once, such as compiling, before the work begins."""

    def cut(self, *, paper: bool, block: int) -> Leaves:
        """Cut the table at values, down to nodes without a cut or with fewer rows than a block."""

    def solve(self, leaves: Leaves, pools: Pools, style: Style) -> tuple[Leaves, float]:
        """Pool leaves and take them apart at ranks, if that loses less; also return the gain."""

    def exchange(self, leaves: Leaves, near: Ints) -> tuple[Leaves, int]:
        """Move rows to, and swap them with, near leaves; also return how many loss steps less."""

    def centres(self, leaves: Leaves) -> Floats:
        """Return the middle of each leaf's box, in steps."""

    def deal(self, leaves: Leaves) -> tuple[Partition, Boxes]:
        """Deal the rows of each leaf to its groups; also return their boxes."""
