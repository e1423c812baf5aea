"""wideberth ui."""

from __future__ import annotations

import click

from wideberth.cli.options import SETTINGS


@click.command(context_settings=SETTINGS)
@click.argument("table", required=False)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Where to listen, on this machine only.  [default: any that is free]",
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
def ui(table: str | None, port: int, no_browser: bool) -> int:
    """Open the web app, on TABLE if one is given: from a table to a judged release, in the browser.

    It answers this machine only, and asks nothing of the network. What was uploaded lies in a
    private folder, which is removed when the app ends: by Ctrl-C here. Needs the extra [ui].

    \b
    wideberth ui
    wideberth ui people.csv
    wideberth ui people.csv --port 8000 --no-browser

    The address holds a key: whoever has it can use the app while it runs.
    """
    from wideberth.ui import missing_extra_error

    try:
        from wideberth.ui.server import serve
    except ModuleNotFoundError as error:
        raise missing_extra_error(error) from None

    def announce(address: str) -> None:
        click.echo(f"open {address}")
        click.echo(
            "for this machine only; Ctrl-C ends it and removes what was uploaded or made", err=True
        )

    serve(table, port=port, browser=not no_browser, announce=announce)
    click.echo("ended; everything private was removed", err=True)
    return 0
