"""A published table as boxes: rows that say the same of all quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from wideberth.core.exact import Bools, Ints
from wideberth.core.groups import Partition, group_alike
from wideberth.core.names import BOUNDS, absent_column_message
from wideberth.errors import ParameterError, TableError, what_to_type
from wideberth.labels.axes import PublishedQuasi, read_published_quasi
from wideberth.labels.cover import BoxCover, find_cover


@dataclass(frozen=True, eq=False, kw_only=True)
class PublishedBoxes:
    """What a published table says of people's quasi-identifiers."""

    axes: tuple[PublishedQuasi, ...]
    rows: int  # how many rows were published
    boxes: Partition  # rows with equal labels on all axes; one row for each box if not in memory
    labels: npt.NDArray[np.int32]  # boxes × axes
    sizes: Ints  # the rows of each box
    original_rows: int | None  # if known

    @classmethod
    def read(
        cls,
        frame: pl.DataFrame,
        quasi: Sequence[str],
        *,
        original: pl.DataFrame | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        types: Mapping[str, str] | None = None,
    ) -> PublishedBoxes:
        """Read the quasi-identifiers of a published table.

        >>> frame = pl.DataFrame({"age": ["20..29", "20..29", "34"], "sex": ["*", "*", "f"]})
        >>> published = PublishedBoxes.read(frame, ["age", "sex"])
        >>> published.sizes.tolist(), [axis.widths().tolist() for axis in published.axes]
        ([2, 1], [[10, 1], [2, 1]])
        """
        # quasi: by their own names or by those of their published bounds. Without an original, the
        # values that people can have are those that labels and hierarchies tell.
        if not quasi:
            raise ParameterError(
                "no quasi-identifiers are given",
                hint=what_to_type(python='quasi=["age", "zip"]', command="--qi age,zip,sex"),
            )
        if not frame.height:
            raise TableError("the table has no rows", hint="give a table that says something")
        hierarchies, types = hierarchies or {}, types or {}
        axes = tuple(
            read_published_quasi(
                name,
                [frame[column] for column in columns],
                original=None if original is None else _column(original, name, "the original"),
                hierarchy=hierarchies.get(name),
                kind=types.get(name),
            )
            for name, columns in columns_of(frame, quasi).items()
        )
        boxes = group_alike([axis.labels for axis in axes], [len(axis.texts) for axis in axes])
        first = boxes.first_rows()
        return cls(
            axes=axes,
            rows=frame.height,
            boxes=boxes,
            labels=np.stack([axis.labels[first] for axis in axes], axis=1),
            sizes=np.bincount(boxes.labels, minlength=boxes.count),
            original_rows=None if original is None else original.height,
        )

    @property
    def starred(self) -> Bools:
        """Which boxes say ``*`` of every quasi-identifier.

        >>> table = pl.DataFrame({"age": ["*", "34", "*"], "sex": ["*", "*", "f"]})
        >>> PublishedBoxes.read(table, ["age", "sex"]).starred.tolist()
        [True, False, False]
        """
        every = np.ones(len(self.labels), dtype=bool)
        for i, axis in enumerate(self.axes):
            every &= axis.everything[self.labels[:, i]]
        return every

    def covering(
        self,
        *,
        most: int = 2_000_000,
        seed: int = 0,
        everyone: bool = False,
        few: int | None = None,
    ) -> BoxCover:
        """Find the boxes that cover each victim."""
        # With an original, a victim is a row of it. Without, a victim is known by its box only, and
        # the boxes that contain the whole of it are sure to cover it.
        # If there are more pairs of victims and boxes than `most`, or more victims than `few`, a
        # random sample of the victims is looked at, unless `everyone` is.
        return find_cover(self.axes, self.labels, most=most, seed=seed, everyone=everyone, few=few)

    def drawn(self, few: int, *, seed: int = 0) -> tuple[PublishedBoxes, Ints]:
        """Draw a person for each of at most `few` rows, at random among those its labels cover.

        >>> published = PublishedBoxes.read(pl.DataFrame({"age": ["20..29", "34"]}), ["age"])
        >>> people, rows = published.drawn(10)
        >>> rows.tolist(), people.axes[0].points.tolist()[1]
        ([0, 1], 14)
        """
        # They stand for the rows of an original that is not at hand. Returns the same boxes with
        # these people for an original, and the row of each.
        rng = np.random.default_rng(seed)
        many = len(self.boxes.labels)
        rows = np.arange(many)
        if few < many:
            rows = np.sort(rng.choice(many, few, replace=False))
        labels = self.labels[self.boxes.labels[rows]]
        axes = tuple(
            replace(axis, points=axis.drawn(labels[:, i], rng)) for i, axis in enumerate(self.axes)
        )
        return replace(self, axes=axes, original_rows=len(rows)), rows

    def without(self, axis: int) -> tuple[PublishedBoxes, Ints]:
        """Drop a quasi-identifier, and return which of the new boxes each box is part of.

        >>> frame = pl.DataFrame({"age": ["20..29", "20..29", "34"], "sex": ["m", "f", "f"]})
        >>> rest, part_of = PublishedBoxes.read(frame, ["age", "sex"]).without(1)
        >>> rest.sizes.tolist(), part_of.tolist()
        ([2, 1], [0, 0, 1])
        """
        others = [i for i in range(len(self.axes)) if i != axis]
        axes = tuple(self.axes[i] for i in others)
        merged = group_alike([self.labels[:, i] for i in others], [len(one.texts) for one in axes])
        boxes = Partition(merged.labels[self.boxes.labels], merged.count)
        fewer = PublishedBoxes(
            axes=axes,
            rows=self.rows,
            boxes=boxes,
            labels=self.labels[merged.first_rows()][:, others],
            sizes=np.bincount(merged.labels, self.sizes, merged.count).astype(np.int64),
            original_rows=self.original_rows,
        )
        return fewer, merged.labels.astype(np.int64)


def columns_of(frame: pl.DataFrame, quasi: Sequence[str]) -> dict[str, list[str]]:
    """Find the published columns of each quasi-identifier: one, or two bounds.

    >>> columns_of(pl.DataFrame(schema=["sex", "age_min", "age_max"]), ["sex", "age"])
    {'sex': ['sex'], 'age': ['age_min', 'age_max']}
    """
    found: dict[str, list[str]] = {}
    for name in quasi:
        stem, _, part = name.rpartition("_")
        if part in BOUNDS and name in frame.columns and stem not in frame.columns:
            bounds = _bounds(frame, stem)
            if name in bounds and all(end in quasi for end in bounds):
                found[stem] = bounds
                continue
        bounds = [] if name in frame.columns else _bounds(frame, name)
        found[name] = bounds or [_column(frame, name, "the table").name]
    return found


def _bounds(frame: pl.DataFrame, name: str) -> list[str]:
    ends = [f"{name}_{part}" for part in BOUNDS]
    there = [end for end in ends if end in frame.columns]
    return there if there[:2] == ends[:2] else []


def _column(frame: pl.DataFrame, name: str, where: str) -> pl.Series:
    if name not in frame.columns:
        what, near = absent_column_message(name, frame.columns, where)
        hint = f"did you mean '{near}'?" if near else "release and original must belong together"
        raise TableError(what, hint=hint)
    return frame[name]
