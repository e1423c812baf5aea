"""`--help` of every command, on a terminal of fixed width without colors."""

from __future__ import annotations

from collections.abc import Iterator

import click

from tests.conftest import Run

from .inside import wideberth
from .snapshots import compare

FILES = ["help.txt"]


def paths(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Go through all commands: the words that call each."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from paths(command.get_command(context, name), (*path, name))


def test_help(run: Run) -> None:
    parts = []
    for path in paths(wideberth):
        outcome = run(*path, "--help")
        assert (outcome.code, outcome.err) == (0, "")
        parts.append(f"$ {' '.join(['wideberth', *path, '--help'])}\n{outcome.out}")
    compare("help.txt", "\n\n".join(parts))
