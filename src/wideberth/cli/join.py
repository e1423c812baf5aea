"""wideberth join."""

from __future__ import annotations

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
@click.argument("quasi", metavar="QUASI")
@click.argument("sensitive", metavar="SENSITIVE", required=False)
@click.option("-o", "--output", required=True, metavar="OUT", help="Where to write the join.")
@click.option(
    "--group", default="group", show_default=True, metavar="COLUMN", help="Column of group ids."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@table_options
@format_option()
def join(
    quasi: str,
    sensitive: str | None,
    output: str,
    group: str,
    force: bool,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Join the two tables of an anatomised release into one, for analyses that need one.

    Every row of QUASI is paired with all values that its group has in SENSITIVE. A column says
    how likely each is; weighted by it, counts over OUT estimate those over the original.

    \b
    wideberth join release/quasi.csv release/sensitive.csv -o joined.csv
    wideberth join release -o joined.csv            the two tables of a folder
    """
    with console(stderr=True).status("reading and joining …"):
        from wideberth import io
        from wideberth.policy.two_tables import PROBABILITY_COLUMN
        from wideberth.policy.two_tables import join as run
        from wideberth.release.anatomized import published

        if sensitive is None:
            pair = published(quasi)
            if pair is None:
                raise click.UsageError("name the two tables, or the folder that holds them")
            quasi, sensitive = map(str, pair)
        io.check_target(output, force=force, table=True, sources=(quasi, sensitive))
        options = read_options(delimiter, encoding, missing, skip_rows=skip_rows, written=written)
        joined = run(quasi, sensitive, group=group, options=options)
        io.write(joined, output, force=force)
    rows = round(joined[PROBABILITY_COLUMN].sum())
    if form == "json":
        echo_json({"output": output, "rows": joined.height, "people": rows})
    else:
        click.echo(f"wrote {output}: {joined.height:,} rows for {rows:,} people")
    return 0
