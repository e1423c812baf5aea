"""wideberth check."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from wideberth.cli.options import (
    assignments,
    console,
    echo_json,
    format_option,
    listed,
    read_options,
    table_options,
)

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from wideberth.checking import CheckResult, PrincipleReport

NOT_SATISFIED = 3


@click.command()
@click.argument("table", metavar="TABLE")
@click.option("-p", "--policy", metavar="FILE", help="Roles, types and principles: a policy.toml.")
@click.option("--qi", multiple=True, metavar="C,…", help="Quasi-identifiers.")
@click.option("--sensitive", multiple=True, metavar="C,…", help="Sensitive attributes.")
@click.option(
    "--principle",
    "principles",
    multiple=True,
    metavar="NAME:P=V,…",
    help="A principle to check; may be repeated. See `wideberth principles`.",
)
@click.option("--group", metavar="COLUMN", help="Column of group ids, which then make the groups.")
@click.option("--population", metavar="FILE", help="Table of the population, for delta-presence.")
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="Semantic tree of a sensitive attribute.",
)
@click.option(
    "--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of a sensitive attribute."
)
@click.option(
    "--worst",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many groups to show for each principle.",
)
@table_options
@format_option()
def check(
    table: str,
    policy: str | None,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    principles: tuple[str, ...],
    group: str | None,
    population: str | None,
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    worst: int,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    form: str,
) -> int:
    """Tell which privacy principles TABLE satisfies, where it fails and by how much.

    TABLE is a CSV, Parquet or Arrow file, original or already generalised.

    \b
    wideberth check people.csv -p policy.toml
    wideberth check release.csv --qi age,zip,sex --sensitive salary \\
        --principle k-anonymity:k=5 --principle epsilon-m:epsilon=4500,m=5
    wideberth check release.parquet --group group --sensitive salary \\
        --principle "epsilon-m:epsilon=10%,m=4" --format json

    Exit code 0 if all principles are satisfied, 3 if not.
    """
    if policy is None and not principles:
        raise click.UsageError("give a policy (-p FILE) or a principle (--principle NAME:P=V,…)")
    trees = assignments(hierarchies, "--hierarchy")
    kinds = assignments(types, "--type")
    with console(stderr=True).status("reading and checking …"):
        from wideberth import tables
        from wideberth.checking import check as run
        from wideberth.policy import Policy
        from wideberth.principles import parse

        wanted = [parse(text) for text in principles]
        plan = None if policy is None else Policy.load(policy)
        options = read_options(delimiter, encoding, missing, plan.options if plan else None)
        if plan is not None:
            plan = replace(plan, options=options)  # for the policy's own population
        frame = tables.read(table, options)
        people = None if population is None else tables.read(population, options)
        result = run(
            frame,
            quasi=listed(qi),
            sensitive=listed(sensitive),
            principles=wanted,
            group=group,
            population=people,
            hierarchies=trees,
            types=kinds,
            policy=plan,
            worst=worst,
        )
    if form == "json":
        echo_json(result.to_dict())
    else:
        out = console()
        for part in render(result, table):
            out.print(part)
    return 0 if result.satisfied else NOT_SATISFIED


def render(result: CheckResult, name: str) -> list[RenderableType]:
    """Return what a person reads: a table of verdicts, the worst groups, a closing line."""
    from rich.table import Table
    from rich.text import Text

    parts: list[RenderableType] = [
        Text(f"{name}: {_many(result.rows, 'row')} in {_many(result.groups, 'group')}")
    ]
    verdicts = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "principle", "on", "achieved", "violating"):
        verdicts.add_column(heading)
    for report in result.principles:
        verdicts.add_row(
            _mark(report.satisfied),
            str(report.principle),
            report.on or "–",
            _figures(report.achieved),
            _violating(report),
        )
    parts.append(verdicts)
    parts += [
        _worst(report) for report in result.principles if not report.satisfied and report.worst
    ]
    failing = sum(not report.satisfied for report in result.principles)
    closing = (
        f"✓ satisfied: {_many(len(result.principles), 'principle')}"
        if result.satisfied
        else f"✗ not satisfied: {failing} of {_many(len(result.principles), 'principle')}"
    )
    parts.append(Text(closing, style="green bold" if result.satisfied else "red bold"))
    return parts


def _worst(report: PrincipleReport) -> RenderableType:
    from rich.table import Table

    title = f"\nworst groups for {report.principle}"
    table = Table(box=None, pad_edge=False, header_style="dim", title=title, title_justify="left")
    table.title_style = "bold"
    keys = list(report.worst[0].values)
    for heading in (*keys, "rows", "achieved", "why"):
        table.add_column(heading, justify="right" if heading == "rows" else "left")
    for group in report.worst:
        if not group.satisfied:
            values = ("missing" if v is None else str(v) for v in group.values.values())
            table.add_row(*values, f"{group.rows:,}", _figures(group.achieved), group.reason)
    return table


def _violating(report: PrincipleReport) -> str:
    if report.satisfied:
        return "none"
    return f"{_many(report.violating_groups, 'group')}, {_many(report.violating_rows, 'row')}"


def _figures(achieved: dict[str, float]) -> str:
    return ", ".join(f"{key}={_number(value)}" for key, value in achieved.items())


def _number(value: float) -> str:
    if value == float("inf"):
        return "∞"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def _mark(satisfied: bool) -> Text:
    from rich.text import Text

    return Text("✓", style="green") if satisfied else Text("✗", style="red")


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
