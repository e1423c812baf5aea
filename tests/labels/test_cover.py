"""Sieves and pools against plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth.core.groups import group_alike
from wideberth.kernels.exposure import curve, pool
from wideberth.labels import cover
from wideberth.labels.cover import BoxIndex, EnclosingBoxes

RUNS = st.sets(st.integers(0, 7), min_size=1, max_size=8)


class Labels:
    """As much of an axis as a sieve needs: sets of atoms, of which the last is a missing value."""

    def __init__(self, sets: list[set[int]], atoms: int) -> None:
        self.atoms = range(atoms)
        self.missing = np.array([atoms in s for s in sets])
        runs = [
            [
                (a, next(b for b in range(a, atoms) if b + 1 not in s or b + 1 == atoms))
                for a in sorted(s)
                if a < atoms and (a == 0 or a - 1 not in s)
            ]
            for s in sets
        ]
        self.start = np.cumsum([0, *map(len, runs)])
        self.first = np.array([a for found in runs for a, _ in found], dtype=np.int64)
        self.last = np.array([b for found in runs for _, b in found], dtype=np.int64)


@given(data=st.data(), axes=st.integers(1, 3), many=st.integers(1, 40), room=st.integers(1, 50))
def test_enclosing(data: st.DataObject, axes: int, many: int, room: int) -> None:
    sets = [data.draw(st.lists(RUNS, min_size=1, max_size=6)) for _ in range(axes)]
    which = [[data.draw(st.integers(0, len(s) - 1)) for s in sets] for _ in range(many)]
    labels = np.array(which, dtype=np.int32)
    boxes = [[s[label] for s, label in zip(sets, row, strict=True)] for row in which]
    sieve = BoxIndex([Labels(s, 7) for s in sets], labels)  # type: ignore[misc]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cover, "_SIEVE_ROOM", room)  # so it runs out
        found = sieve.enclosing(sieve.low.T.copy(), sieve.high.T.copy(), np.arange(many))
        points = np.array([[data.draw(st.integers(0, 7)) for _ in sets] for _ in range(9)])
        single = sieve.enclosing(points.astype(np.int32), points.astype(np.int32))
    for answer, victims in ((found, boxes), (single, [[{a} for a in p] for p in points.tolist()])):
        for i, victim in enumerate(answer.order.tolist()):
            inside = answer.boxes[answer.start[i] : answer.start[i + 1]].tolist()
            assert inside == [
                number
                for number, box in enumerate(boxes)
                if all(a <= b for a, b in zip(victims[victim], box, strict=True))
            ]


@given(
    histograms=st.lists(
        st.dictionaries(st.integers(0, 50), st.integers(1, 9), min_size=1), min_size=1, max_size=8
    ),
    data=st.data(),
)
def test_pool(histograms: list[dict[int, int]], data: st.DataObject) -> None:
    which = st.sets(st.integers(0, len(histograms) - 1), min_size=1)
    situations = [sorted(s) for s in data.draw(st.lists(which, max_size=6))]
    start = np.cumsum([0, *map(len, situations)])
    boxes = np.array([box for s in situations for box in s], dtype=np.int64)
    entries = np.cumsum([0, *map(len, histograms)])
    codes = np.array([code for h in histograms for code in sorted(h)], dtype=np.int64)
    counts = np.array([h[code] for h in histograms for code in sorted(h)], dtype=np.int64)
    filled, made = np.zeros_like(start), np.zeros((2, 51 * 6), dtype=np.int64)
    memory = (np.zeros(51, np.int64), np.zeros(51, np.int64))
    given_ = (start, boxes, entries, codes, counts, 0, *memory, made[0], made[1], filled[1:])
    assert pool(*given_) == len(situations)
    for number, situation in enumerate(situations):
        sums: dict[int, int] = {}
        for box in situation:
            for code, count in histograms[box].items():
                sums[code] = sums.get(code, 0) + count
        own = made[:, filled[number] : filled[number + 1]]
        assert own.T.tolist() == [list(pair) for pair in sorted(sums.items())]


def test_a_curve_interleaves_bits() -> None:
    points = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 3]], dtype=np.int32)
    keys = np.zeros(5, dtype=np.int64)
    curve(points, points, np.ones(2, dtype=np.int64), 2, keys)
    assert keys.tolist() == [0, 1, 2, 3, 13]


@given(
    lists=st.lists(
        st.sets(st.integers(0, 3)).map(lambda found: tuple(sorted(found))), min_size=1, max_size=12
    ),
    told=st.booleans(),
)
def test_situations_do_not_hang_on_hashes(lists: list[tuple[int, ...]], told: bool) -> None:
    hashes = [hash(found) % 2**60 if told else 7 for found in lists]
    found = EnclosingBoxes(
        np.arange(len(lists)),
        np.cumsum([0, *map(len, lists)]),
        np.array([box for found in lists for box in found], dtype=np.int32),
        np.array(hashes, dtype=np.uint64),
    )
    number, start, boxes = cover._situations(found)
    made = [tuple(boxes[a:b].tolist()) for a, b in pairwise(start)]
    assert len(set(made)) == len(made)
    assert [[*made, ()][n] for n in number] == lists


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_alike_is_equality(rows: list[tuple[int, int]]) -> None:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    quick = group_alike(columns, [4, 3])
    numbers = {row: number for number, row in enumerate(sorted(set(rows)))}
    assert quick.labels.tolist() == [numbers[row] for row in rows]
    assert quick.count == len(numbers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("wideberth.core.groups._LARGEST", 0)  # too many for one number
        slow = group_alike(columns, [4, 3])
    assert slow.labels.tolist() == quick.labels.tolist()
