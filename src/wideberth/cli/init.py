"""wideberth init."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from wideberth.cli.options import (
    SETTINGS,
    console,
    echo_json,
    format_option,
    read_options,
    table_options,
)


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@click.option(
    "-o", "--output", metavar="FILE", help="Where to write the policy.  [default: print it]"
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@table_options
@format_option()
def init(
    table: str,
    output: str | None,
    force: bool,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    form: str,
) -> int:
    """Guess the role and type of each column of TABLE and write a policy to start from.

    Every guess is explained in a comment: read them, and correct what is wrong. A column that no
    role is certain for is taken for a quasi-identifier.

    \b
    wideberth init people.csv -o policy.toml
    """
    from wideberth import schema, tables

    if output is not None:
        tables.check_target(output, force=force)
    options = read_options(delimiter, encoding, missing)
    with console(stderr=True).status("reading …"):
        guesses = schema.guess(tables.read(table, options))
    text = schema.policy_text(guesses, Path(table).name, options)
    if output is not None:
        tables.write_text(text, output, force=force)
        click.echo(f"wrote {output}: check the roles of {len(guesses)} columns", err=True)
    if all(guess.role != "sensitive" for guess in guesses):
        click.echo("note: no column looks sensitive; if one is, say so in the policy", err=True)
    if form == "json":
        echo_json({"policy": output, "columns": [asdict(guess) for guess in guesses]})
    elif output is None:
        click.echo(text, nl=False)
    return 0
