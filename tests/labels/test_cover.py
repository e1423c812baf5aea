"""Boxes that enclose boxes, against plain loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
