"""A page for each command, from click's own account of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from wideberth.cli import plugins, wideberth

#: What every command answers by, unless its own help says more.
CODES = {
    0: "done, and whatever was asked about is satisfied",
    1: "an error, such as a file that cannot be read; the message says what to try",
    2: "wrong usage, such as an option that does not exist",
    3: "it ran, but a policy is not met, not achievable or (`audit`, `report`) a table is not safe",
    130: "interrupted",
}


def commands(
    command: click.Command = wideberth, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Go through all commands: the words that call each, and the command."""
    if path:
        yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if inner := command.get_command(context, name):
                yield from commands(inner, (*path, name))


def pages() -> dict[str, str]:
    """Return the overview and the page of each command."""
    known = list(commands())
    written = {f"commands/{'-'.join(path)}.md": page(path, command) for path, command in known}
    return {"commands.md": overview(known), **written}


def overview(known: list[tuple[tuple[str, ...], click.Command]]) -> str:
    """Write what all commands have in common, and list them."""
    lines = [
        "# Command line",
        "",
        "Each command calls one function of the library. `--help` says the same as its page.",
        "",
        "| command | what it does |",
        "|---|---|",
        *(
            f"| [`wideberth {' '.join(path)}`](commands/{'-'.join(path)}.md) | {first(command)} |"
            for path, command in known
        ),
        "",
        "## Tables",
        "",
        "A TABLE is a CSV file (delimiter and encoding detected; `?`, `NA` and empty cells are",
        "missing), a Parquet or an Arrow file, original or already generalised: `[17,24]`, `130**`",
        "and `*` are labels like any other. Files are written whole or not at all, existing ones",
        "are replaced with `--force` only, and the original never.",
        "",
        "## Output",
        "",
        "Results go to standard output, progress and notes to standard error. `--format json` is",
        "for programs. Errors are then JSON as well (`error`, `what`, `hint`, `exit_code`), beside",
        "the message on standard error; a refusal has an `outcome` (`impossible`, `not found`) and",
        "a `witness`.",
        "Messages name columns and rows, never a cell's value.",
        "",
        "## Exit codes",
        "",
        *_codes(),
        "These pages are written by `make docs` from the commands themselves.",
        "",
    ]
    return "\n".join(lines)


def page(path: tuple[str, ...], command: click.Command) -> str:
    """Write the page of one command."""
    parts = list(_parts(command))
    prose = [text for kind, text in parts if kind == "prose"]
    lines = [
        f"# wideberth {' '.join(path)}",
        "",
        *_origin(path[0]),
        *(line for text in prose for line in (text, "")),
        "```text",
        usage(path, command),
        "```",
        "",
    ]
    if isinstance(command, click.Group):
        lines += ["| command | what it does |", "|---|---|"]
        for name, inner in sorted(command.commands.items()):
            words = (*path, name)
            lines.append(
                f"| [`wideberth {' '.join(words)}`]({'-'.join(words)}.md) | {first(inner)} |"
            )
        lines.append("")
    examples = [text for kind, text in parts if kind == "example"]
    if examples:
        lines += ["## Examples", "", "```sh", *examples, "```", ""]
    lines += ["## Options", "", "| option | meaning | values | default |", "|---|---|---|---|"]
    lines += [_option(o) for o in command.get_params(_context(path, command)) if _listed(o)]
    lines += ["", "## Exit codes", ""]
    lines += [line for kind, text in parts if kind == "code" for line in (text, "")]
    lines += [
        *_codes(),
        "More about files, output and messages: [Command line](../commands.md).",
        "",
    ]
    return "\n".join(lines)


def _origin(word: str) -> list[str]:
    """Say which distribution a command comes with, unless it is wideberth itself."""
    if word in wideberth.commands or word not in plugins.installed():
        return []
    names = [entry.dist.name for entry in plugins.installed()[word] if entry.dist is not None]
    return [f"This command comes with `{' '.join(names)}`: [Install](../install.md).", ""]


def usage(path: tuple[str, ...], command: click.Command) -> str:
    """Return the line that says how a command is called."""
    pieces = command.collect_usage_pieces(_context(path, command))
    return " ".join(["wideberth", *path, *pieces])


def first(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    return _cell(" ".join(cleandoc(command.help or "").split("\n\n")[0].split()))


def _context(path: tuple[str, ...], command: click.Command) -> click.Context:
    return click.Context(command, info_name=path[-1], **command.context_settings)


def _parts(command: click.Command) -> Iterator[tuple[str, str]]:
    """Tell apart the paragraphs of a help text: prose, examples, and what exit codes mean."""
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b"):
            block = paragraph.removeprefix("\b\n")
            if block.startswith("wideberth "):
                yield "example", block
            else:
                yield "prose", f"```text\n{block}\n```"
            continue
        text = " ".join(paragraph.split())
        before, mark, after = text.partition("Exit code")
        if before.strip():
            yield "prose", _prose(before.strip())
        if mark:
            yield "code", _prose(mark + after)


def _prose(text: str) -> str:
    """Return a paragraph as Markdown: options, file names and the like as code."""
    text = re.sub(r"(?<![`\w])(--?[a-z][-a-z]*)", r"`\1`", text)
    return re.sub(r"(?<![`\w])([\w.]*\.\*)", r"`\1`", text)


def _listed(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option) and not parameter.hidden


def _option(option: click.Parameter) -> str:
    """Return an option's line in the table."""
    assert isinstance(option, click.Option)  # noqa: S101 - by _listed
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    said, default = _default(option)
    values = "" if option.is_flag else _values(option)
    if option.multiple:
        values += ", may be repeated" if "repeated" not in said else ""
    return f"| {names} | {_prose(_cell(said))} | {_cell(values)} | {_cell(default)} |"


def _default(option: click.Option) -> tuple[str, str]:
    """Part an option's help from the default that it names at its end."""
    said = " ".join((option.help or "").split())
    named = re.search(r" *\[default: (.*?)\]$", said)
    if named is not None:
        return said[: named.start()], named[1]
    if option.required:
        return said, "required"
    if option.show_default and option.default is not None and not option.is_flag:
        return said, f"`{option.default}`"
    return said, ""


def _values(option: click.Option) -> str:
    """Say which values an option takes."""
    if isinstance(option.type, click.Choice):
        return " ".join(f"`{choice}`" for choice in option.type.choices)
    shown = f"`{option.metavar}`" if option.metavar else f"`{option.type.name.upper()}`"
    if isinstance(option.type, click.IntRange | click.FloatRange):
        shown += f" {_range(option.type)}"
    return shown


def _range(kind: click.IntRange | click.FloatRange) -> str:
    if kind.max is not None:
        return f"from {kind.min} to {kind.max}"
    return f"above {kind.min}" if kind.min_open else f"from {kind.min}"


def _codes() -> list[str]:
    return [
        "| code | meaning |",
        "|---|---|",
        *(f"| {c} | {said} |" for c, said in CODES.items()),
        "",
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
