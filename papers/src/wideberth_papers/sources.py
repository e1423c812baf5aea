"""The tables that experiments are run on: real ones if they are given, else made up.

A shape is what an experiment asks of a table: which columns are quasi-identifiers, which are
sensitive. Names are compared without regard to case, and "-" is "_". A file fits a shape if it has
these columns; whatever else it has is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from wideberth import io
from wideberth.core.types import convert, infer_type
from wideberth.errors import TableError

if TYPE_CHECKING:
    from wideberth_papers.study import Setting

#: On fewer rows the experiments tell nothing.
LEAST = 200
#: Whole numbers beyond are no ages, codes or incomes; a domain of so many could not be held.
_FARTHEST = 10_000_000
#: Other names of columns.
_ALIASES = {"salary_class": "income"}


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The columns that an experiment asks for.

    Parameters
    ----------
    name : str
        What tables of this shape are called: "SAL".
    quasi, sensitive : sequence of str
        The columns, in small letters with "_".
    whole : sequence of str
        Those of them that hold whole numbers.
    sparse : bool
        Whether hardly any of the numbers between the lowest and the highest value occur.
    keep : callable, optional
        From a real table to the rows of it that are used, in the form in which they are.
    """

    name: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    whole: tuple[str, ...] = ()
    sparse: bool = False
    keep: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.quasi, *self.sensitive)


@dataclass(frozen=True, kw_only=True)
class Source:
    """A table of a shape: read or made when it is first needed, then kept.

    Parameters
    ----------
    shape : Shape
        Its columns.
    name : str
        What pages call it.
    path : str, optional
        Where it is read from; without, it is made up.
    make : callable
        From a number of rows and a seed to a made-up table.
    rows : int, optional
        How many rows to make up, or to draw at random from what is read. Without, all of the file
        or `usual`.
    usual : int
        How many rows a made-up table has.
    seed : int
        Of the drawing or the making up.
    accepted : sequence of Shape
        What a table may look like to be used; none if it is always made up.
    """

    shape: Shape
    name: str
    path: str | None
    make: Callable[[int, int], pl.DataFrame]
    rows: int | None
    usual: int
    seed: int
    accepted: Sequence[Shape] = ()

    @cached_property
    def table(self) -> pl.DataFrame:
        """The table, its columns in the order of the shape, rows in a random order."""
        if self.path is None:
            return self.make(self.rows or self.usual, self.seed).select(self.shape.columns)
        frame = _typed(io.read(self.path), self.shape)
        if self.shape.keep is not None:
            frame = self.shape.keep(frame)
        if frame.height < LEAST:
            raise TableError(
                f"{Path(self.path).name} has {frame.height} rows that the experiments can use",
                hint=f"give a table of {LEAST} or more, or leave out --data",
            )
        order = np.random.default_rng(self.seed).permutation(frame.height)
        return frame[order[: self.rows or frame.height]]

    def describe(self) -> str:
        """Say what it is, for a page; the table is read or made for it."""
        origin = f"made up (seed {self.seed})" if self.path is None else Path(self.path).name
        return f"{self.name}, {self.table.height:,} rows, {origin}"


def choose(
    shapes: Sequence[Shape],
    setting: Setting,
    *,
    make: Callable[[int, int], pl.DataFrame],
    made: str,
    usual: int,
) -> Source:
    """Take the first given table that fits a shape, the first shapes first; else make one up.

    Parameters
    ----------
    shapes : sequence of Shape
        What the experiments can be run on. Made-up tables have the first shape.
    setting : Setting
        Which tables are given, how many rows are asked for, and the seed.
    make : callable
        From a number of rows and a seed to a made-up table.
    made : str
        What the made-up table is called.
    usual : int
        How many rows it has unless asked otherwise.
    """
    found = list(_files(setting.given))
    fitting = (
        (shape, shape.name, path)
        for shape in shapes
        for path, columns in found
        if set(shape.columns) <= columns
    )
    shape, name, path = next(fitting, (shapes[0], made, None))
    return Source(
        shape=shape,
        name=name,
        path=path,
        make=make,
        rows=setting.rows,
        usual=usual,
        seed=setting.seed,
        accepted=shapes,
    )


def _files(given: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield the tables among files and folders, with the names of their columns."""
    for name in given:
        if not Path(name).is_dir():
            yield name, _columns(name)
            continue
        for path in sorted(Path(name).iterdir()):
            if path.is_file() and io.is_table(path):
                with suppress(TableError):  # a folder may hold other files too
                    yield str(path), _columns(path)


def _columns(path: str | Path) -> set[str]:
    return {_plain(name) for name in io.column_names(path)}


def _plain(name: str) -> str:
    """Write a column's name as shapes do."""
    plain = name.strip().lower().replace("-", "_")
    return _ALIASES.get(plain, plain)


def _typed(frame: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Choose and name columns, and read texts as the numbers they are."""
    by_name = {_plain(name): frame[name] for name in reversed(frame.columns)}  # the first counts
    kinds = {name: infer_type(by_name[name]) for name in shape.columns}
    kinds |= dict.fromkeys(shape.whole, "integer")
    try:
        read = pl.DataFrame(
            [_converted(by_name[name], kind).alias(name) for name, kind in kinds.items()]
        )
    except TableError as error:
        raise TableError(error.what, hint="write whole numbers, or leave out --data") from None
    for name in shape.whole:
        far = (read[name].cast(pl.Int64).abs() > _FARTHEST).arg_true()
        if len(far):
            raise TableError(
                f"column {name!r}, row {far[0] + 1}: beyond {_FARTHEST:,}",
                hint="count in a larger unit, or leave out --data",
            )
    return read


def _converted(series: pl.Series, kind: str) -> pl.Series:
    """Read a column as a kind of values; whole numbers may be written as decimals.

    >>> _converted(pl.Series(["12000.0", "-3", None]), "integer").to_list()
    [12000, -3, None]
    """
    if kind == "integer" and series.dtype == pl.String:
        # As a CSV file has them that was written from floats; Parquet keeps those as numbers.
        series = series.str.replace(r"^(\s*[+-]?\d+)\.0+(\s*)$", "$1$2")
    return convert(series, kind)
