"""Options that several commands share, and how results are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from wideberth.io import ReadOptions
    from wideberth.policy.policy import Policy


F = TypeVar("F", bound=Callable[..., Any])

#: How every command is set up, so that each answers to -h whatever leads to it.
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def add_options(command: F, *options: Callable[[F], F]) -> F:
    """Add options to a command, in the order in which its help is to list them."""
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """Add the options that say how a table is read."""
    return add_options(
        command,
        click.option(
            "--delimiter", metavar="CHAR", help="Delimiter of a CSV file.  [default: detected]"
        ),
        click.option(
            "--encoding", metavar="NAME", help="Encoding of a CSV file.  [default: detected]"
        ),
        click.option(
            "--missing",
            metavar="TOKENS",
            help="What counts as missing, separated by commas.  [default: '?', '', 'NA']",
        ),
        click.option(
            "--skip-rows",
            type=click.IntRange(0),
            metavar="N",
            help="Lines above the header of a CSV file, such as a title.  [default: 0]",
        ),
        click.option(
            "--written",
            multiple=True,
            metavar="COLUMN=FORMAT",
            help="How numbers or dates of a column are written: 'wage=1.234,56', 'born=%m/%d/%Y'.",
        ),
    )


def format_option(*choices: str) -> Callable[[F], F]:
    """Add --format. Errors are written as JSON too: see `wideberth.cli.main`."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices or ("text", "json")),
        default="text",
        show_default=True,
        help="Text for people, JSON for programs.",
    )


def rows_are_people_option() -> Callable[[F], F]:
    """Add the answer to the question whether rows are people."""
    return click.option(
        "--rows-are-people",
        is_flag=True,
        default=None,
        help="Every row is a different person, though an identifier repeats.",
    )


def read_options(
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    usual: ReadOptions | None = None,
    *,
    skip_rows: int | None = None,
    written: Sequence[str] = (),
) -> ReadOptions:
    """Return what was said about reading a table; the rest is as usual."""
    from wideberth.io import ReadOptions, notation

    tokens = None if missing is None else tuple(missing.split(","))
    said: dict[str, Any] = {"delimiter": delimiter, "encoding": encoding, "missing": tokens}
    said["skip_rows"] = skip_rows
    if written:
        ways = assignments(written, "--written")
        for way in ways.values():
            notation(way)  # refuses what is none
        said["formats"] = {**(usual.formats if usual else {}), **ways}
    given: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    return replace(usual or ReadOptions(), **given)


class Share(click.ParamType[float]):
    """A share of a whole: 0.05 or 5%."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read a share, exactly as it is written."""
        if isinstance(value, float):
            return value
        from wideberth.core.exact import share  # which numpy comes with

        try:
            read = share(str(value))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r} is not a share: write 0.05 or 5%", param, ctx)
        if not 0 <= read <= 1:
            self.fail(f"{value!r} is not from 0 to 1, or from 0% to 100%", param, ctx)
        return float(read)


def split_names(values: Sequence[str]) -> list[str]:
    """Split comma-separated names; the option may also be repeated."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def assignments(values: Sequence[str], option: str) -> dict[str, str]:
    """Read COLUMN=VALUE options."""
    pairs = {}
    for value in values:
        column, equals, rest = value.rpartition("=")
        if not equals or not column or not rest:
            raise click.UsageError(f"{option} {value!r} is not of the form COLUMN=VALUE")
        if column in pairs:
            raise click.UsageError(f"{option} names the column {column!r} twice")
        pairs[column] = rest
    return pairs


def echo_json(content: object) -> None:
    """Write JSON to standard output, in ASCII where that cannot hold all letters."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(content, indent=2, ensure_ascii=not unicode))


def console(*, stderr: bool = False) -> Console:
    """Return where text for people goes: as it is, for "[a]" and ":x:" may be a table's values."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, markup=False, emoji=False)


def speaks_unicode(out: Console) -> bool:
    """Return whether marks such as a tick can be shown."""
    try:
        "✓✗".encode(out.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


# -----------------------------------------------------------------------------
# Options that say where the work is done, and a table made ready there.


ENGINES = ("memory", "spark")
#: What tells whether a release can be made at all where the table is not in memory.
_TOLD = ("algorithm", "cuts", "dealing")


def engine_options(command: F) -> F:
    """Add the options that say where the work is done; `chosen_engine` takes what they bring."""
    return add_options(
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
class EngineOptions:
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

    def require_in_memory(self, option: str, given: object) -> None:
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
        from wideberth.engines.spark.input import read_spark_table
        from wideberth.engines.spark.session import open_spark_session

        with open_spark_session(self.master) as spark:
            yield read_spark_table(spark, path, options)


def chosen_engine(
    engine: str | None, master: str | None, memory: str | None, bucket_rows: int | None = None
) -> EngineOptions:
    """Return the engine that was asked for, if its options fit together."""
    where = EngineOptions(engine or "memory", master, memory, bucket_rows)
    if master is not None and not where.is_spark:
        raise click.UsageError("--master is for --engine spark")
    if memory is not None and where.is_spark:
        raise click.UsageError("--memory is for files; Spark has settings of its own")
    if bucket_rows is not None and not where.elsewhere:
        raise click.UsageError("--bucket-rows is for --memory and --engine spark")
    return where


# -----------------------------------------------------------------------------
# How far the work is, shown on a terminal.


#: The phases that go through nodes of a lattice; the others go through rows of the table.
_OF_NODES = ("searching", "minimal nodes", "drawing")


@contextmanager
def progress_display() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what shows progress, on a terminal; elsewhere nothing."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} {task.fields[unit]}", markup=False),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    with bar:
        phases: dict[str, Any] = {}

        def tell(phase: str, done: int, total: int) -> None:
            if phase not in phases:
                for earlier in phases.values():
                    bar.update(earlier, visible=False)
                unit = "nodes" if phase in _OF_NODES else "rows"
                phases[phase] = bar.add_task(phase, total=total, unit=unit)
            bar.update(phases[phase], completed=done, total=total)

        yield tell
