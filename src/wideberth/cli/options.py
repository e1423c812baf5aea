"""Options that several commands share, and how results are shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console

    from wideberth.io import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])

#: How every command is set up, so that each answers to -h whatever leads to it.
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def added(command: F, *options: Callable[[F], F]) -> F:
    """Add options to a command, in the order in which its help is to list them."""
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """Add the options that say how a table is read."""
    return added(
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


def listed(values: Sequence[str]) -> list[str]:
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
