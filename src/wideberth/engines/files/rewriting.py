"""Files of any kind as Parquet files: rewritten piece by piece where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wideberth import tables
from wideberth.errors import TableError
from wideberth.tables.formats import AGAIN, check_names

#: Rows of a piece of Parquet that is written at once.
_ROWS = 1 << 18


def as_parquet(
    path: Path, folder: Path, options: tables.ReadOptions | None
) -> tuple[Path, dict[str, pl.DataType]]:
    """Return a Parquet file in a folder that holds a table, and the types of its columns.

    Of a Parquet file it is a link, whose name has nothing that could be taken for a pattern; of a
    folder of them, as Spark writes it, a pattern of links.

    Parameters
    ----------
    path : Path
        The table.
    folder : Path
        Where to write.
    options : ReadOptions, optional
        How a CSV file is read.
    """
    if path.is_dir() and (parts := sorted(path.glob("*.parquet"))):
        return _linked(path, parts, folder)
    held = folder / "table.parquet"
    if tables.form_of(path) == "Parquet":
        types = tables.types_of(path)
        check_names(list(types), path.name)
        held.symlink_to(path.resolve())
        return held, types
    return held, _rewritten(path, held, options)


def _linked(path: Path, parts: Sequence[Path], folder: Path) -> tuple[Path, dict[str, pl.DataType]]:
    """Link the files of a folder, which together are one table."""
    types = tables.types_of(parts[0])
    check_names(list(types), path.name)
    links = folder / "parts"
    links.mkdir()
    for number, part in enumerate(parts):
        if tables.types_of(part) != types:
            raise TableError(
                f"the files of {path.name} have different columns", hint="name one of them"
            )
        (links / f"{number}.parquet").symlink_to(part.resolve())
    return links / "*.parquet", types


def _rewritten(
    path: Path, held: Path, options: tables.ReadOptions | None
) -> dict[str, pl.DataType]:
    from pyarrow import parquet

    types: dict[str, pl.DataType] = {}
    waiting: list[pl.DataFrame] = []
    writer = None

    def write() -> None:
        nonlocal writer
        table = pl.concat(waiting, rechunk=True).to_arrow()
        table = table.rename_columns([f"c{i}" for i in range(table.num_columns)])
        if writer is None:
            writer = parquet.ParquetWriter(held, table.schema, compression="lz4")
        writer.write_table(table)
        waiting.clear()

    try:
        for piece in tables.batches(path, options):
            types = types or dict(piece.schema)
            waiting.append(_plain(piece))
            if sum(map(len, waiting)) >= _ROWS:
                write()
        if waiting:
            write()
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise TableError(f"{path.name} has no rows", hint=AGAIN)
    return types


def _plain(piece: pl.DataFrame) -> pl.DataFrame:
    """Return categories as text: each piece would have its own."""
    return pl.DataFrame(
        [s.cast(pl.String) if isinstance(s.dtype, pl.Categorical | pl.Enum) else s for s in piece]
    )
