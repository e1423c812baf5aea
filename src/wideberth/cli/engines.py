"""Options that say where the work is done, and a table made ready there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.options import F, added

if TYPE_CHECKING:
    from wideberth.io import ReadOptions
    from wideberth.policy.policy import Policy

ENGINES = ("memory", "spark")
#: What tells whether a release can be made at all where the table is not in memory.
_TOLD = ("algorithm", "cuts", "dealing")


def engine_options(command: F) -> F:
    """Add the options that say where the work is done; `chosen` takes what they bring."""
    return added(
        command,
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            help="memory works in this process, spark in a Spark session (extra [spark]), for "
            "tables that no single machine holds.  [default: memory]",
        ),
        click.option(
            "--master",
            metavar="URL",
            help="Spark's master, such as local[4] or spark://HOST:7077.  [default: Spark's "
            "own configuration, else this machine]",
        ),
    )


memory_option = click.option(
    "--memory",
    metavar="SIZE",
    help="For a file larger than memory: how much of it the work may take, such as 2GB.",
)

bucket_option = click.option(
    "--bucket-rows",
    type=click.IntRange(1),
    metavar="N",
    help="With --memory or spark: how many rows are finished at a time.  [default: 500000, with "
    "--memory as many as it allows for]",
)


@dataclass(frozen=True)
class Engine:
    """The engine that does the work, and its settings."""

    name: str = "memory"  # one of ``ENGINES``
    master: str | None = None  # Spark's
    memory: str | None = None
    bucket_rows: int | None = None  # how many rows are finished at a time

    @property
    def is_spark(self) -> bool:
        """Whether the table is to be Spark's."""
        return self.name == "spark"

    @property
    def elsewhere(self) -> bool:
        """Whether the table is not read into memory."""
        return self.is_spark or self.memory is not None

    def require_at_hand(self, option: str, given: object) -> None:
        """Refuse an option that needs the table in memory."""
        if self.elsewhere and given:
            where = "--engine spark" if self.is_spark else "--memory"
            raise click.UsageError(f"{option} needs all of TABLE in memory: not with {where}")

    def require_possible(self, policy: Policy, asked: Mapping[str, Any]) -> None:
        """Refuse, before anything is started or read, what takes the table in memory."""
        if self.elsewhere:
            from wideberth.policy.settings import Transform
            from wideberth.release.parts import require_possible

            said = {name: asked.get(name) or policy.transform.get(name) for name in _TOLD}
            require_possible(Transform(**{name: value for name, value in said.items() if value}))

    @contextmanager
    def table(self, path: str, options: ReadOptions | None = None) -> Iterator[Any]:
        """Yield what the library is to be given: the path, or a Spark DataFrame."""
        # The Spark session is stopped when this ends.
        if not self.is_spark:
            yield Path(path)
            return
        from wideberth.errors import TableError

        if "://" not in path and not Path(path).exists():
            raise TableError(f"there is no file {path}", hint="check the path")
        from wideberth.engines.spark.input import read
        from wideberth.engines.spark.session import opened

        with opened(self.master) as spark:
            yield read(spark, path, options)


def chosen(
    engine: str | None, master: str | None, memory: str | None, bucket_rows: int | None = None
) -> Engine:
    """Return the engine that was asked for, if its options fit together."""
    where = Engine(engine or "memory", master, memory, bucket_rows)
    if master is not None and not where.is_spark:
        raise click.UsageError("--master is for --engine spark")
    if memory is not None and where.is_spark:
        raise click.UsageError("--memory is for files; Spark has settings of its own")
    if bucket_rows is not None and not where.elsewhere:
        raise click.UsageError("--bucket-rows is for --memory and --engine spark")
    return where
