"""wideberth principles."""

from __future__ import annotations

import click

from wideberth.cli.options import SETTINGS, console, echo_json, format_option


@click.command(context_settings=SETTINGS)
@click.argument("name", required=False)
@format_option("text", "json", "markdown")
def principles(name: str | None, form: str) -> int:
    """List the privacy principles, or explain the one called NAME.

    \b
    wideberth principles
    wideberth principles epsilon-m
    """
    from wideberth.principles import iterate, lookup
    from wideberth.principles.catalog import principle_as_dict, principles_as_markdown

    chosen = list(iterate()) if name is None else [lookup(name)]
    if form == "json":
        content = [principle_as_dict(cls) for cls in chosen]
        echo_json(content if name is None else content[0])
    elif form == "markdown":
        click.echo(principles_as_markdown(chosen), nl=False)
    elif name is None:
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("name", "parameters", "protects against"):
            table.add_column(heading)
        for cls in chosen:
            table.add_row(cls.name, ", ".join(cls.parameters()), cls.protects)
        console().print(table)
        click.echo("\nwideberth principles NAME explains one.")
    else:
        from rich.padding import Padding

        out = console()
        cls = chosen[0]
        out.print(f"{cls.title}  ({cls.name})\n", style="bold")
        out.print(f"{principle_as_dict(cls)['definition']}\n")
        for heading, text in (
            ("protects against", cls.protects),
            ("does not protect against", cls.does_not_protect),
            ("union of groups", cls.monotonicity),
            ("reference", cls.reference),
        ):
            out.print(heading, style="bold")
            out.print(Padding.indent(text, 2))
        out.print("parameters", style="bold")
        for parameter in principle_as_dict(cls)["parameters"]:
            unset = parameter["default"] in (None, "")
            usual = "" if unset else f" (default {parameter['default']})"
            line = f"{parameter['name']}: {parameter['doc']}; {parameter['range']}{usual}"
            out.print(Padding.indent(line, 2))
        out.print("example", style="bold")
        out.print(f"  --principle {principle_as_dict(cls)['example']}")
    return 0
