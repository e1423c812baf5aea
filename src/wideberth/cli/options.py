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

    from wideberth.tables import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])

#: How every command is set up, so that each answers to -h whatever leads to it.
SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def added(command: F, *options: Callable[[F], F]) -> F:
    """Add options to a command, in the order in which its help is to list them."""
    for option in reversed(options):
        command = option(command)
    return command


def table_options(command: F) -> F:
    """Add the options that say how a CSV file is read."""
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
    )


def format_option(*choices: str) -> Callable[[F], F]:
    """Add --format."""
    return click.option(
        "--format",
        "form",
        type=click.Choice(choices or ("text", "json")),
        default="text",
        show_default=True,
        help="Text for people, JSON for programs.",
    )


def read_options(
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    usual: ReadOptions | None = None,
) -> ReadOptions:
    """Return what was said about reading CSV; the rest is as usual."""
    from wideberth.tables import ReadOptions

    tokens = None if missing is None else tuple(missing.split(","))
    said = {"delimiter": delimiter, "encoding": encoding, "missing": tokens}
    given: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    return replace(usual or ReadOptions(), **given)


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
    """Tell whether marks such as a tick can be shown."""
    try:
        "✓✗".encode(out.encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
