"""Which boxes cover which victims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes, compress
from wideberth.core.exact import Ints
from wideberth.core.groups import Groups, group_alike
from wideberth.labels.axes import PublishedQuasi

# -----------------------------------------------------------------------------
# Boxes on several axes, and which of them enclose a victim.


#: For how many pairs of victims and boxes room is made at a time.
_SIEVE_ROOM = 1 << 22
#: Boxes are sieved for so many times fewer victims at each level.
_FEWER = 4
_BITS = 60

Atoms = npt.NDArray[np.int32]


class EnclosingBoxes(NamedTuple):
    """The boxes of victims: ``boxes[start[i]:start[i + 1]]`` are those of victim ``order[i]``."""

    order: Ints
    start: Ints
    boxes: npt.NDArray[np.int32]
    hashes: npt.NDArray[np.uint64]  # equal lists of boxes have equal hashes


class BoxIndex:
    """Boxes in which those that enclose a victim can be found."""

    def __init__(self, axes: Sequence[PublishedQuasi], labels: npt.NDArray[np.int32]) -> None:
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

    def enclosing(self, low: Atoms, high: Atoms, own: Ints | None = None) -> EnclosingBoxes:
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
            room = np.empty(max(_SIEVE_ROOM, boxes), dtype=np.int32)
            before = ends[done - 1] if done else 0
            given = (self.low, self.high, self._plain, self._labels)
            runs = (self._start, self._first, self._last)
            whom = (self_own, low, high, done, levels, lists, many, hull)
            done = enclose(*given, *runs, *whom, room, ends, hashes)
            parts.append(room[: ends[done - 1] - before])
        found = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return EnclosingBoxes(order, np.concatenate(([0], ends)), found, hashes)


def _with_missing(axis: PublishedQuasi) -> tuple[Ints, Ints, Ints]:
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


# -----------------------------------------------------------------------------
# Which boxes cover which victims.


#: So many victims tell about how many boxes cover one.
_PROBE = 400
#: A sample is to stay below what is allowed by so much, as that is an estimate.
_SHARE = 0.95
#: For how many entries of histograms room is made at a time.
_ROOM = 1 << 22


@dataclass(frozen=True, eq=False, kw_only=True)
class BoxCover:
    """Which boxes cover which victims."""

    victims: Ints  # rows of the original; without one, boxes, each for all its rows
    of: int  # how many victims there are in all
    # Those whom the same boxes cover are in the same situation; -1 if no box covers a victim.
    situation: Ints
    # Situation ``s`` is covered by ``boxes[start[s]:start[s + 1]]``, ascending. No two are equal.
    start: Ints
    boxes: Ints
    exact: bool  # whether every victim was looked at

    def pooled(self, groups: Groups) -> Groups:
        """Return one histogram per situation: the sum of the histograms of its boxes."""
        from wideberth.kernels.exposure import pool  # numba takes its time

        many = np.add.reduceat(groups.distinct[self.boxes], self.start[:-1]) if len(self) else [0]
        seen = np.zeros(min(groups.width, int(np.max(many))), dtype=np.int64)
        sums = np.zeros(groups.width, dtype=np.int64)
        given = (self.start, self.boxes, groups.start, groups.codes, groups.counts)
        start = np.zeros_like(self.start)
        parts = [np.zeros((2, 0), dtype=np.int64)]
        done = 0
        while done < len(self):
            room = np.empty((2, max(_ROOM, len(seen))), dtype=np.int64)
            before = start[done]
            done = pool(*given, done, sums, seen, room[0], room[1], start[1:])
            parts.append(room[:, : start[done] - before])
        codes, counts = np.concatenate(parts, axis=1)
        return Groups(start=start, codes=codes, counts=counts, width=groups.width)

    def __len__(self) -> int:
        """Return the number of situations."""
        return len(self.start) - 1


def find_cover(
    axes: Sequence[PublishedQuasi],
    labels: npt.NDArray[np.int32],
    *,
    most: int,
    seed: int,
    everyone: bool,
    few: int | None = None,
) -> BoxCover:
    """Find the boxes that cover each victim; see `PublishedBoxes.covering`."""
    # With an original, labels that cannot be understood exclude nobody: they are left out.
    points = axes[0].points
    rng = np.random.default_rng(seed)
    used = [i for i, axis in enumerate(axes) if points is None or axis.read]
    if not used:  # nothing is known of anybody
        return _everybody(0 if points is None else len(points), len(labels))
    sieve = BoxIndex([axes[i] for i in used], labels[:, used])
    of = len(labels) if points is None else len(points)
    few = of if few is None or everyone else min(few, of)
    rows = np.arange(of) if few == of else np.sort(rng.choice(of, few, replace=False))
    if points is None:  # each victim is a box
        who = rows.astype(np.int32)
        low, high = (np.ascontiguousarray(ends.T) for ends in (sieve.low, sieve.high))
    else:  # victims with the same values are one
        values = [column[rows] for i in used if (column := axes[i].points) is not None]
        same = group_alike(values, [len(axes[i].atoms) + 1 for i in used])
        who = same.labels
        first = same.first_rows()
        low = high = np.stack([column[first] for column in values], axis=1)

    def look(chosen: Ints) -> EnclosingBoxes:
        return sieve.enclosing(low[chosen], high[chosen], chosen if points is None else None)

    many, unlike = len(who), who if points is None else np.arange(len(low))
    if not everyone and _mean(look, rng, unlike) * len(unlike) > most:
        many = min(many, max(int(_SHARE * most / (_mean(look, rng, who) or 1.0)), 1))
    while True:
        victims = np.arange(len(who))
        if many < len(who):
            victims = np.sort(rng.choice(len(who), many, replace=False))
        chosen, place = compress(who[victims], len(low))
        found = look(chosen)
        if everyone or many == 1 or len(found.boxes) <= most:
            break
        many = max(int(_SHARE * many * most / len(found.boxes)), 1)
    number, start, boxes = _situations(found)
    situation = np.empty(len(chosen), dtype=np.int64)
    situation[found.order] = number
    return BoxCover(
        victims=rows[victims],
        of=of,
        situation=situation[place],
        start=start,
        boxes=boxes,
        exact=many == of,
    )


def _mean(
    look: Callable[[Ints], EnclosingBoxes], rng: np.random.Generator, who: Ints | Codes
) -> float:
    """Estimate how many boxes cover a victim."""
    some = np.unique(rng.choice(who, min(len(who), _PROBE), replace=False))
    return len(look(some).boxes) / len(some)


def _everybody(victims: int, boxes: int) -> BoxCover:
    """Every box covers every victim."""
    return BoxCover(
        victims=np.arange(victims),
        of=victims,
        situation=np.zeros(victims, dtype=np.int64),
        start=np.array([0, boxes]),
        boxes=np.arange(boxes),
        exact=True,
    )


def _situations(found: EnclosingBoxes) -> tuple[Ints, Ints, Ints]:
    """Number the different lists of boxes, and keep each once; -1 stands for no box at all."""
    sizes = np.diff(found.start)
    _, first, same = np.unique(found.hashes, return_index=True, return_inverse=True)
    twin = first[same]
    if not _agree(found, twin):  # chance: different lists have the same hash
        lists = [part.tobytes() for part in np.split(found.boxes, found.start[1:-1])]
        number_of = {text: at for at, text in reversed(list(enumerate(lists)))}
        twin = np.array([number_of[text] for text in lists])
    own = np.flatnonzero((twin == np.arange(len(sizes))) & (sizes > 0))
    number = np.full(len(sizes), -1, dtype=np.int64)
    number[own] = np.arange(len(own))
    start = np.concatenate(([0], np.cumsum(sizes[own])))
    if len(own) == len(sizes):  # all are different
        return number, start, found.boxes.astype(np.int64)
    entries = np.repeat(found.start[own] - start[:-1], sizes[own]) + np.arange(start[-1])
    return number[twin], start, found.boxes[entries].astype(np.int64)


def _agree(found: EnclosingBoxes, twin: Ints) -> bool:
    """Return whether each list is the same as its twin's."""
    others = np.flatnonzero(twin != np.arange(len(twin)))
    begin, size = found.start[others], np.diff(found.start)[others]
    if not np.array_equal(size, np.diff(found.start)[twin[others]]):
        return False
    at = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    mine = found.boxes[np.repeat(begin, size) + at]
    return np.array_equal(mine, found.boxes[np.repeat(found.start[twin[others]], size) + at])
