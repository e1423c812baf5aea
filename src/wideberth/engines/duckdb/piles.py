"""Rows put on piles, by number, on the disk; each pile is taken up again as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import ipc

from wideberth.core.exact import Ints


class Piles:
    """Piles of rows."""

    def __init__(self, folder: Path, name: str, wait: int) -> None:
        # `wait` rows are gathered before they are written: each writing touches all piles.
        self._folder, self._name, self._wait = folder, name, wait
        self._waiting: list[tuple[pl.DataFrame, Ints]] = []
        self._rows = 0

    def put(self, rows: pl.DataFrame, piles: Ints) -> None:
        """Put rows on piles, given by their numbers."""
        self._waiting.append((rows, piles))
        self._rows += rows.height
        if self._rows >= self._wait:
            self._write()

    def _write(self) -> None:
        if not self._waiting:
            return
        rows = pl.concat([frame for frame, _ in self._waiting])
        piles = np.concatenate([numbers for _, numbers in self._waiting])
        self._waiting, self._rows = [], 0
        order = np.argsort(piles, kind="stable")
        rows, piles = rows[order], piles[order]
        edges = np.flatnonzero(np.diff(piles, prepend=-1)).tolist()
        table = rows.to_arrow()
        for begin, end in zip(edges, [*edges[1:], len(piles)], strict=True):
            # A stream of its own each time: no file need stay open, however many piles there are.
            with (
                self._path(int(piles[begin])).open("ab") as file,
                ipc.new_stream(file, table.schema) as stream,
            ):
                stream.write_table(table.slice(begin, end - begin))

    def take(self, pile: int) -> pl.DataFrame | None:
        """Take up a pile: it is gone then. None if nothing was put there."""
        self._write()
        path = self._path(pile)
        if not path.exists():
            return None
        tables: list[Any] = []
        with path.open("rb") as file:
            size = path.stat().st_size
            while file.tell() < size:
                tables.append(ipc.open_stream(file).read_all())
        path.unlink()
        return pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))

    def _path(self, pile: int) -> Path:
        return self._folder / f"{self._name}{pile}.arrow"
