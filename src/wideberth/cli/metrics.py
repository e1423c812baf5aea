"""wideberth metrics."""

from __future__ import annotations

import click

from wideberth.cli.options import SETTINGS, console, echo_json, format_option


@click.command(context_settings=SETTINGS)
@click.argument("name", required=False)
@format_option("text", "json", "markdown")
def metrics(name: str | None, form: str) -> int:
    """List the metrics of what a release is worth, or explain the one called NAME.

    \b
    wideberth metrics
    wideberth metrics ncp
    """
    from wideberth.utility.metrics import iterate, lookup
    from wideberth.utility.metrics.base import (
        NEEDS_IN_WORDS,
        better,
        metric_as_dict,
        metrics_as_markdown,
        span,
    )

    chosen = list(iterate()) if name is None else [lookup(name)]
    if form == "json":
        content = [metric_as_dict(metric) for metric in chosen]
        echo_json(content if name is None else content[0])
    elif form == "markdown":
        click.echo(metrics_as_markdown(chosen), nl=False)
    elif name is None:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("name", "better", "range", "what"):
            table.add_column(heading)
        for metric in chosen:
            table.add_row(metric.name, better(metric), span(metric), metric.title)
        console().print(table)
        click.echo("\nwideberth metrics NAME explains one.")
    else:
        from rich.padding import Padding

        out = console()
        metric = chosen[0]
        out.print(f"{metric.title}  ({metric.name})\n", style="bold")
        out.print(f"{metric_as_dict(metric)['definition']}\n")
        for heading, text in (
            ("better", better(metric)),
            ("range", span(metric)),
            ("needs", ", ".join(NEEDS_IN_WORDS[need] for need in metric.needs)),
            ("reference", metric.reference),
        ):
            out.print(heading, style="bold")
            out.print(Padding.indent(text, 2))
    return 0
