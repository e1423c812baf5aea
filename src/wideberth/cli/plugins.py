"""Commands of other distributions, found through the entry-point group ``wideberth.commands``.

A distribution names its click command in its own pyproject.toml:

    [project.entry-points."wideberth.commands"]
    mine = "my_package.command:mine"

The distributions are only searched if the command line does not know a word, or lists its commands.
``wideberth --help`` then imports each command for its short help, so a command should import what
is slow when it runs, as those of this package do.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import click

from wideberth.errors import WideberthError, papers_missing

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "wideberth.commands"


class Commands(click.Group):
    """The commands of this package, and beside them those of other distributions."""

    # No other distribution can replace a command of this package. `reproduce` is listed even if its
    # distribution is not installed, and then says how to get it.

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all words that call a command."""
        return sorted({*self.commands, *installed(), "reproduce"})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command that a word calls."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        if cmd_name in installed():
            return load_command(cmd_name)
        if cmd_name == "reproduce":
            about = "Run a paper's experiments: pip install wideberth-papers"
            return failing_command(cmd_name, papers_missing, about)
        return None


@cache
def installed() -> dict[str, list[EntryPoint]]:
    """Return the entry points of all distributions, by the word that calls the command."""
    from importlib.metadata import entry_points  # most runs do without

    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        found[entry.name].append(entry)
    return dict(found)


@cache
def load_command(name: str) -> click.Command:
    """Import a command of another distribution."""
    # If that fails, the result is a command that reports the failure: the others still work.
    entry, *others = installed()[name]
    if others:
        names = " and ".join(sorted(map(_origin, (entry, *others))))
        what = f"{names} both bring a command {name!r}"
        return failing_command(
            name, lambda: WideberthError(what, hint="uninstall one of them"), what
        )
    try:
        command = entry.load()
    except (Exception, SystemExit) as error:
        return _broken(entry, error)
    if not isinstance(command, click.Command):
        return _broken(entry, TypeError(f"{entry.value} is not a click command"))
    return command


def failing_command(name: str, error: Callable[[], BaseException], about: str) -> click.Command:
    """Return a command that raises an error, whatever arguments it is given."""

    def refuse() -> None:
        raise error()

    return click.Command(
        name,
        callback=refuse,
        help=about,
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )


def _broken(entry: EntryPoint, error: BaseException) -> click.Command:
    """Return a command that says that its code cannot be imported."""
    why = " ".join(f"{type(error).__name__}: {error}".split())
    origin = _origin(entry)

    def failure() -> BaseException:
        if os.environ.get("WIDEBERTH_TRACEBACK"):
            return error
        return WideberthError(
            f"the command {entry.name!r} of {origin} cannot be loaded ({why})",
            hint=f"reinstall or uninstall {origin}; WIDEBERTH_TRACEBACK=1 shows more",
        )

    return failing_command(entry.name, failure, f"cannot be loaded ({why})")


def _origin(entry: EntryPoint) -> str:
    """Name the distribution of an entry point."""
    return entry.dist.name if entry.dist is not None else entry.value
