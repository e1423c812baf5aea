"""wideberth measure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.options import (
    SETTINGS,
    assignments,
    console,
    echo_json,
    format_option,
    read_options,
    split_names,
    table_options,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from wideberth.utility.measure import Utility
    from wideberth.utility.metrics import Figure


@click.command(context_settings=SETTINGS)
@click.argument("release", metavar="RELEASE")
@click.option("--original", metavar="FILE", help="The table that RELEASE was made from.")
@click.option("-p", "--policy", metavar="FILE", help="Roles, types, hierarchies: a policy.toml.")
@click.option("--qi", multiple=True, metavar="C,…", help="Quasi-identifiers.")
@click.option("--sensitive", multiple=True, metavar="C,…", help="Sensitive attributes.")
@click.option("--group", metavar="COLUMN", help="Column of group ids, which then make the groups.")
@click.option(
    "--sensitive-table",
    metavar="FILE",
    help="Second table of an anatomised release: group, value, count.  RELEASE is the first.",
)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME,…",
    help="Which metrics; see `wideberth metrics`.  [default: all]",
)
@click.option(
    "--k",
    type=click.IntRange(1),
    metavar="K",
    help="Smallest group that was asked for.  [default: the policy's]",
)
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="Hierarchy of a column.",
)
@click.option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of a column.")
@click.option(
    "--memory",
    metavar="SIZE",
    help="Memory for everything, such as 2GB: files are then read in parts, and may be larger.",
)
@table_options
@format_option()
def measure(
    release: str,
    original: str | None,
    policy: str | None,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    group: str | None,
    sensitive_table: str | None,
    metrics: tuple[str, ...],
    k: int | None,
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    memory: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Tell what RELEASE is still worth, by every metric that can be computed.

    RELEASE is a CSV, Parquet or Arrow file, whoever made it, or the folder of an anatomised
    release. With the original, losses are shares of the values that it has, and suppressed rows
    count; without it, they are shares of what the labels span together. Of metrics that cannot be
    computed it is said why. With a policy, --qi and --sensitive replace what it says.

    \b
    wideberth measure release.csv --original people.csv -p policy.toml
    wideberth measure release.csv -p policy.toml --group group --metric ncp,loss
    wideberth measure foreign.csv --qi age,zip,sex --sensitive salary --k 5
    wideberth measure release.csv --qi age,zip --hierarchy zip=zip.csv --format json
    wideberth measure release.parquet --original people.parquet -p policy.toml --memory 2GB
    """
    trees, kinds = assignments(hierarchies, "--hierarchy"), assignments(types, "--type")
    with console(stderr=True).status("reading and measuring …"):
        from wideberth import engines
        from wideberth.io.manifest import compare
        from wideberth.policy.policy import Policy
        from wideberth.policy.two_tables import read_if_path
        from wideberth.release.anatomized import published
        from wideberth.utility.measure import measure as run

        plan = None if policy is None else Policy.load(policy)
        usual = plan.options if plan else None
        options = read_options(
            delimiter, encoding, missing, usual, skip_rows=skip_rows, written=written
        )
        if plan is not None:
            plan = replace(plan, options=options)
        if sensitive_table is None and (pair := published(release)) is not None:
            release, sensitive_table = map(str, pair)
        manifest = compare(release, sensitive_table)
        if group is None and plan is not None and sensitive_table is None and manifest.told:
            named = manifest.told.get("group")
            listed_there = [name for names in plan.roles.values() for name in names]
            group = None if named in listed_there else named
        known: dict[str, Any] = {
            "quasi": split_names(qi) or None,
            "sensitive": split_names(sensitive) or None,
            "group": group,
            "hierarchies": trees,
            "types": kinds,
            "policy": plan,
            "metrics": split_names(metrics) or None,
            "k": k,
        }
        others = {"original": original, "sensitive_table": sensitive_table}
        if memory is not None:
            engine = engines.engine_for(release, memory)
            found = engine.measure(release, memory=memory, options=options, **others, **known)
        else:
            frame = read_if_path(release, options)
            for name, path in others.items():
                known[name] = read_if_path(path, options)
            found = run(frame, **known)
        found = replace(found, notes=[*found.notes, *manifest.notes])
    if form == "json":
        echo_json(found.to_dict())
    else:
        out = console()
        for part in render(found, release):
            out.print(part)
    return 0


def render(found: Utility, name: str) -> list[RenderableType]:
    """Return what a person reads: a table of figures, what was not measured, notes."""
    from rich.text import Text

    groups = f"{found.groups:,} group" + ("" if found.groups == 1 else "s")
    rows = f"{found.rows:,} row" + ("" if found.rows == 1 else "s")
    parts: list[RenderableType] = [
        Text(f"{name}: {rows} in {groups}, {found.suppressed:,} suppressed")
    ]
    if found.figures:
        parts.append(_figures(found))
        parts += [
            Text(f"note: {metric}: {figure.note}", style="yellow")
            for metric, figure in found.figures.items()
            if figure.note
        ]
    if found.not_measured:
        parts += [Text("\nnot measured", style="bold"), _reasons(found)]
    parts += [Text(f"\nnote: {note}", style="yellow") for note in found.notes]
    return parts


def _figures(found: Utility) -> RenderableType:
    """Return a table of figures, a line for each metric."""
    from rich.table import Table
    from rich.text import Text

    from wideberth.core.text import figure as written
    from wideberth.utility.metrics import lookup
    from wideberth.utility.metrics.base import better, span

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("metric", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    for heading in ("better", "range", "by quasi-identifier"):
        table.add_column(heading, overflow="fold")
    for name, figure in found.figures.items():
        metric = lookup(name)
        table.add_row(name, written(figure.value), better(metric), span(metric), Text(_by(figure)))
    return table


def _by(figure: Figure) -> str:
    from wideberth.core.text import figure as written

    return ", ".join(f"{name} {written(value)}" for name, value in figure.by_attribute.items())


def _reasons(found: Utility) -> RenderableType:
    """Return the reasons why some metrics have no figure."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, reason in found.not_measured.items():
        table.add_row(name, Text(reason))
    return table
