"""Files of any kind as Parquet files: rewritten piece by piece where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from wideberth import io
from wideberth.core.notation import formats_by_column
from wideberth.core.strings import is_text
from wideberth.errors import TableError
from wideberth.io.formats import AGAIN, require_unique_names
from wideberth.io.manifest import as_made

#: Rows and bytes of a piece of Parquet that is written at once: writing holds it several times.
_ROWS, _BYTES = 1 << 18, 1 << 24


def as_parquet(
    path: Path,
    folder: Path,
    options: io.ReadOptions | None = None,
    memory: int | None = None,
) -> tuple[Path, dict[str, pl.DataType]]:
    """Return a Parquet file in a folder that holds a table, and the types of its columns."""
    # Of a Parquet file it is a link, whose name has nothing that could be taken for a pattern; of a
    # folder of them, as Spark writes it, a pattern of links.
    options = as_made(path, options or io.ReadOptions())
    if path.is_dir() and (parts := sorted(path.glob("*.parquet"))):
        _require_typed(path, io.column_types(parts[0]), options)
        return _linked(path, parts, folder)
    held = folder / "table.parquet"
    if io.file_format(path) == "Parquet" and not _written(io.column_types(path), options):
        types = io.column_types(path)
        require_unique_names(list(types), path.name)
        held.symlink_to(path.resolve())
        return held, types
    return held, _rewritten(path, held, options, memory)


def _written(types: dict[str, pl.DataType], options: io.ReadOptions) -> list[str]:
    """Return the columns of text whose numbers or dates must be rewritten."""
    formats = {} if options.made else formats_by_column(options.formats, list(types))
    return [name for name in formats if is_text(types[name])]


def _require_typed(path: Path, types: dict[str, pl.DataType], options: io.ReadOptions) -> None:
    for name in _written(types, options):
        raise TableError(
            f"column {name!r} of the folder {path.name} holds text, and [formats] says how to "
            "read it: files of a folder are read as they are",
            hint="make it a number or a date there, or name one file",
        )


def _linked(path: Path, parts: Sequence[Path], folder: Path) -> tuple[Path, dict[str, pl.DataType]]:
    """Link the files of a folder, which together are one table."""
    types, stored = io.column_types(parts[0]), io.column_types(parts[0], ordered=False)
    require_unique_names(list(types), path.name)
    links = folder / "parts"
    links.mkdir()
    for number, part in enumerate(parts):
        if io.column_types(part, ordered=False) != stored:
            raise TableError(
                f"the files of {path.name} have different columns", hint="name one of them"
            )
        if types != stored and io.column_types(part) != types:
            types = stored  # other categories in another file: their order is not known
        (links / f"{number}.parquet").symlink_to(part.resolve())
    return links / "*.parquet", types


def _rewritten(
    path: Path, held: Path, options: io.ReadOptions, memory: int | None
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
        for piece in io.batches(path, options, memory=memory):
            types = types or dict(piece.schema)
            waiting.append(_plain(piece))
            rows, size = sum(map(len, waiting)), sum(p.estimated_size() for p in waiting)
            if rows >= _ROWS or size >= _BYTES:
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
