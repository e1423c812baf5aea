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
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Guess the role and type of each column of TABLE and write a policy to start from.

    Every guess is explained in a comment: read them, and correct what is wrong. A column whose
    name and values show no role is left undecided, and nothing can be published until you have
    decided what it is.

    \b
    wideberth init people.csv -o policy.toml
    """
    from wideberth import io
    from wideberth.checks.protection import proposed_policy
    from wideberth.policy.guesses import guess_columns
    from wideberth.policy.people import find_people
    from wideberth.policy.proposal import (
        policy_text,
        proposed_reading,
        reading_remarks,
        require_moderate_width,
    )
    from wideberth.policy.roles import UNDECIDED

    if output is not None:
        io.check_target(output, force=force)
    options = read_options(delimiter, encoding, missing, skip_rows=skip_rows, written=written)
    with console(stderr=True).status("reading …"):
        frame = io.read(table, options)
        require_moderate_width(frame, table)
        reading = proposed_reading(frame, options)
        notes = reading_remarks(frame, options, reading)
        if reading != options:
            frame = io.read(table, reading)
        guesses = guess_columns(frame)
        people = find_people(
            frame,
            identifier=[guess.column for guess in guesses if guess.role == "identifier"],
            ignored=[guess.column for guess in guesses if guess.role == "sensitive"],
        )
        proposal = proposed_policy(frame, guesses)
    text = policy_text(guesses, Path(table).name, reading, notes, people, proposal)
    if output is not None:
        io.write_text(text, output, force=force)
        click.echo(f"wrote {output}: check the roles of {len(guesses)} columns", err=True)
    for note in notes:
        click.echo(f"note: {note}", err=True)
    if all(guess.role != "sensitive" for guess in guesses):
        click.echo("note: no column looks sensitive; if one is, say so in the policy", err=True)
    if people is not None:
        click.echo(
            f"note: {people}: several rows for one person? Then principles, which count rows, "
            "protect nobody; see rows_are_people in the policy",
            err=True,
        )
    undecided = [guess.column for guess in guesses if guess.role == UNDECIDED]
    if undecided:
        several = "1 column" if len(undecided) == 1 else f"{len(undecided):,} columns"
        names = ", ".join(f"'{name}'" for name in undecided)
        where = "undecided in the policy" if output is None else f"undecided in {output}"
        click.echo(
            f"you must decide {several} before you can publish: {names}, see {where}", err=True
        )
    if form == "json":
        columns = [asdict(guess) for guess in guesses]
        formats = dict(reading.formats)
        proposed = {part: value for part, value in asdict(proposal).items() if part != "types"}
        echo_json(
            {
                "policy": output,
                "columns": columns,
                "undecided": undecided,
                "formats": formats,
                "notes": notes,
                "people": None if people is None else people.to_dict(),
                "proposed": proposed,
            }
        )
    elif output is None:
        click.echo(text, nl=False)
    return 0
