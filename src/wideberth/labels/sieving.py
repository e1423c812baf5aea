"""Boxes on several axes, and which of them enclose a victim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wideberth.core.exact import Ints
from wideberth.labels.axes import Axis

#: For how many pairs of victims and boxes room is made at a time.
_ROOM = 1 << 22
#: Boxes are sieved for so many times fewer victims at each level.
_FEWER = 4
_BITS = 60

Atoms = npt.NDArray[np.int32]


class Found(NamedTuple):
    """The boxes of victims: ``boxes[start[i]:start[i + 1]]`` are those of victim ``order[i]``."""

    order: Ints
    start: Ints
    boxes: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint64]  # equal lists of boxes have equal hashes


class Sieve:
    """Boxes in which those that enclose a victim can be found."""

    def __init__(self, axes: Sequence[Axis], labels: npt.NDArray[np.int32]) -> None:
        # labels: boxes × axes.
        self._runs = [_with_missing(axis) for axis in axes]
        counts = np.cumsum([0, *(len(start) - 1 for start, _, _ in self._runs)])
        self._labels = labels + counts[:-1]
        lengths = np.concatenate([np.diff(start) for start, _, _ in self._runs])
        self._start = np.concatenate(([0], np.cumsum(lengths)))
        self._first = np.concatenate([first for _, first, _ in self._runs])
        self._last = np.concatenate([last for _, _, last in self._runs])
        self._plain = (lengths[self._labels] == 1).all(axis=1)
        low, high = self._first[self._start[:-1]], self._last[self._start[1:] - 1]
        # The outermost atoms of each box, axes × boxes; missing is the last of all atoms.
        self.low: Atoms = low[self._labels.T].astype(np.int32)
        self.high: Atoms = high[self._labels.T].astype(np.int32)

    def enclosing(self, low: Atoms, high: Atoms, own: Ints | None = None) -> Found:
        """Find the boxes that enclose each victim."""
        # low, high: the outermost atoms of each victim, victims × axes. own: the box that each
        # victim is; without it, victims are points.
        from wideberth.kernels.exposure import enclose  # numba takes its time

        victims, boxes = len(low), self.low.shape[1]
        order = _nearby(low, high)
        low, high = low[order], high[order]
        self_own = np.zeros(0, dtype=np.int64) if own is None else own[order]
        sizes = [1]
        while sizes[-1] * _FEWER < victims:
            sizes.append(sizes[-1] * _FEWER)
        levels = np.array([victims, *reversed(sizes)])
        lists = np.empty((len(levels), boxes + 1), dtype=np.int32)  # one more to be overwritten
        lists[0, :boxes] = np.arange(boxes)
        many = np.zeros(len(levels), dtype=np.int64)
        many[0] = boxes
        hull = np.zeros((2, low.shape[1]), dtype=np.int32)
        ends = np.zeros(victims, dtype=np.int64)
        hashes = np.zeros(victims, dtype=np.uint64)
        parts = []
        done = 0
        while done < victims:
            room = np.empty(max(_ROOM, boxes), dtype=np.int32)
            before = ends[done - 1] if done else 0
            given = (self.low, self.high, self._plain, self._labels)
            runs = (self._start, self._first, self._last)
            whom = (self_own, low, high, done, levels, lists, many, hull)
            done = enclose(*given, *runs, *whom, room, ends, hashes)
            parts.append(room[: ends[done - 1] - before])
        found = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return Found(order, np.concatenate(([0], ends)), found, hashes)


def _with_missing(axis: Axis) -> tuple[Ints, Ints, Ints]:
    """Return the runs of each label, where a missing value is one more atom after the others."""
    atoms = len(axis.atoms)
    start, first, last = axis.start, axis.first, axis.last.copy()
    after = start[1:]
    touching = axis.missing & (after > start[:-1])
    touching[touching] = last[after[touching] - 1] == atoms - 1
    last[after[touching] - 1] = atoms
    apart = axis.missing & ~touching
    first, last = (np.insert(ends, after[apart], atoms) for ends in (first, last))
    return start + np.concatenate(([0], np.cumsum(apart))), first, last


def _nearby(low: Atoms, high: Atoms) -> Ints:
    """Put victims into an order in which neighbours are close."""
    from wideberth.kernels.exposure import curve

    bits = max(_BITS // low.shape[1], 1)
    width = [int(top).bit_length() for top in low.max(axis=0) + high.max(axis=0)]
    bits = min(bits, max(width))
    shift = np.array([max(w - bits, 0) for w in width], dtype=np.int64)
    keys = np.empty(len(low), dtype=np.int64)
    curve(low, high, shift, bits, keys)
    return np.argsort(keys, kind="stable")
