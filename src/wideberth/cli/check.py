"""wideberth check."""

from __future__ import annotations

from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.options import (
    SETTINGS,
    assignments,
    chosen_engine,
    console,
    echo_json,
    engine_options,
    format_option,
    memory_option,
    read_options,
    rows_are_people_option,
    speaks_unicode,
    split_names,
    table_options,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from wideberth.checks.claims import Claim
    from wideberth.checks.result import CheckResult, PrincipleReport
    from wideberth.policy.policy import Policy
    from wideberth.principles import Principle

NOT_SATISFIED = 3


@click.command(context_settings=SETTINGS)
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
@click.option(
    "--group",
    metavar="COLUMN",
    help="Column of group ids, which then make the groups; --qi must not differ within one.",
)
@click.option("--population", metavar="FILE", help="Table of the population, for delta-presence.")
@click.option(
    "--reference",
    metavar="FILE",
    help="Table that TABLE was made from, if rows were suppressed: t-closeness compares with it.",
)
@click.option(
    "--sensitive-table",
    metavar="FILE",
    help="Second table of an anatomised release: group, value, count.  TABLE is the first.",
)
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
@click.option(
    "--show-rows",
    is_flag=True,
    help="Show the quasi-identifiers of the worst groups, which may be those of single people.",
)
@click.option(
    "--claims",
    is_flag=True,
    help="Say what an adversary could claim about the worst groups: quotes sensitive values and "
    "quasi-identifiers.",
)
@click.option(
    "--max-memory",
    type=click.IntRange(1),
    metavar="MB",
    help="Memory for distances at a time.  [default: 256]",
)
@rows_are_people_option()
@engine_options
@memory_option
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
    reference: str | None,
    sensitive_table: str | None,
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    worst: int,
    show_rows: bool,
    claims: bool,
    max_memory: int | None,
    rows_are_people: bool | None,
    engine: str | None,
    master: str | None,
    memory: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Tell which privacy principles TABLE satisfies, where it fails and by how much.

    TABLE is a CSV, Parquet or Arrow file, original or already generalised, or the folder of an
    anatomised release. With a policy, --qi, --sensitive and --principle replace what it says.
    disease.* stands for all columns that begin with "disease.".

    \b
    wideberth check people.csv -p policy.toml
    wideberth check release.csv --qi age,zip,sex --sensitive salary \\
        --principle k-anonymity:k=5 --principle epsilon-m:epsilon=4500,m=5
    wideberth check release.parquet --group group --qi age,zip,sex --sensitive salary \\
        --principle "epsilon-m:epsilon=10%,m=4" --format json
    wideberth check release.csv -p policy.toml --reference people.csv
    wideberth check release.csv --qi age,zip --sensitive "disease.*" \\
        --principle dissimilarity:epsilon=0.1,delta=0.8,k=5 --claims
    wideberth check quasi.csv --sensitive-table sensitive.csv --sensitive disease \\
        --hierarchy disease=diseases.csv --principle l-e:l=3,e=1
    wideberth check census.parquet -p policy.toml --memory 2GB
    wideberth check census.parquet -p policy.toml --engine spark --master spark://host:7077

    A manifest beside TABLE has its checksum: a table that differs from it is refused, and so are
    two tables of different releases.

    Without a manifest, nothing ties two tables together, and the code is 3.

    Exit code 0 if all principles are satisfied, 3 if not. Principles count rows: if an identifier
    repeats, as in a table of visits, the code is 3 as well, whatever they say, unless the policy or
    --rows-are-people says that every row is a different person.
    """
    if policy is None and not principles:
        raise click.UsageError("give a policy (-p FILE) or a principle (--principle NAME:P=V,…)")
    where = chosen_engine(engine, master, memory)
    where.require_in_memory("--claims", claims)
    trees = assignments(hierarchies, "--hierarchy")
    kinds = assignments(types, "--type")
    with console(stderr=True).status("reading and checking …"):
        from wideberth import engines
        from wideberth.checks.check import check as run
        from wideberth.io.manifest import compare_meanwhile
        from wideberth.policy.policy import Policy
        from wideberth.policy.two_tables import read_if_path
        from wideberth.principles import parse
        from wideberth.release.anatomized import published

        wanted = [parse(text) for text in principles]
        plan = None if policy is None else Policy.load(policy)
        usual = plan.options if plan else None
        options = read_options(
            delimiter, encoding, missing, usual, skip_rows=skip_rows, written=written
        )
        if plan is not None:
            plan = replace(plan, options=options)  # for the policy's own population
        for note in overridden(plan, qi, sensitive, wanted, population, reference):
            click.echo(f"note: {note}", err=True)
        if (pair := published(table)) is not None and sensitive_table is None:
            table, sensitive_table = map(str, pair)
        known: dict[str, Any] = {
            "quasi": split_names(qi),
            "sensitive": split_names(sensitive),
            "principles": wanted,
            "group": group,
            "hierarchies": trees,
            "types": kinds,
            "policy": plan,
            "rows_are_people": rows_are_people,
            "worst": worst,
            "max_memory": max_memory,
        }
        others = {
            "population": population,
            "reference": reference,
            "sensitive_table": sensitive_table,
        }
        with compare_meanwhile(table, sensitive_table) as manifest:
            if where.elsewhere:
                with where.table(table, options) as given:
                    engine_at = engines.engine_for(given, memory)
                    read = {} if where.is_spark else {"memory": memory, "options": options}
                    result = engine_at.check(given, **read, **others, **known)
            else:
                frame = read_if_path(table, options)
                for name, path in others.items():
                    known[name] = read_if_path(path, options)
                result = run(frame, **known)
        notes = [*result.notes, *manifest.notes]
        result = replace(result, notes=notes, untied=manifest.untied)
        found = [report.claims(worst) if claims else [] for report in result.principles]
    if form == "json":
        content = result.to_dict(show_rows=show_rows)
        if manifest.path is not None:
            content["manifest"] = {"name": manifest.path.name, "matches": manifest.matches}
        if claims:
            for entry, claimed in zip(content["principles"], found, strict=True):
                entry["claims"] = [claim.to_dict() for claim in claimed]
        echo_json(content)
    else:
        out = console()
        for part in [
            *render(result, table, out, show_rows=show_rows),
            *_claims(result, found, claims),
        ]:
            out.print(part)
    return 0 if result else NOT_SATISFIED


def overridden(
    plan: Policy | None,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    wanted: list[Principle],
    population: str | None = None,
    reference: str | None = None,
) -> list[str]:
    """Return notes on the given options that override something else."""
    from wideberth.principles.columns import compares_with_table

    notes = []
    if plan is not None:
        for option, given, listed_there in (
            ("--qi", qi, plan.roles.get("quasi")),
            ("--sensitive", sensitive, plan.roles.get("sensitive")),
            ("--principle", wanted, plan.principles),
        ):
            if given and listed_there:
                notes.append(f"{option} replaces the {len(listed_there)} that the policy lists")
    asked = wanted or (list(plan.principles) if plan else [])
    if population is not None and all(p.needs != "population" for p in asked):
        notes.append("no principle asks for the --population")
    if reference is not None and not any(map(compares_with_table, asked)):
        notes.append("no principle asks for the --reference")
    return notes


def render(
    result: CheckResult, name: str, out: Console, *, show_rows: bool = False
) -> list[RenderableType]:
    """Return what a person reads: a table of verdicts, the worst groups, a closing line."""
    from rich.text import Text

    yes, no = _marks(out)
    parts: list[RenderableType] = [
        Text(f"{name}: {_many(result.rows, 'row')} in {_many(result.groups, 'group')}"),
        verdicts(result, out),
    ]
    parts += [
        _worst(report, out, show_rows=show_rows)
        for report in result.principles
        if not report.satisfied and report.worst
    ]
    if result.uneven is not None:
        parts.append(Text(f"\n{no} {result.uneven}", style="red bold"))
    parts += [Text(f"\nnote: {note}", style="yellow") for note in result.notes]
    failing = sum(not report.satisfied for report in result.principles)
    if result.people is not None:
        parts.append(Text(f"\n{no} {result.people}", style="red bold"))
        parts.append(
            Text(
                "A person seems to have several rows, but principles count rows: a group of five "
                "rows may be one person.\n  try: " + result.people.hint()
            )
        )
    if result.untied is not None:
        parts.append(
            Text(
                "Groups of one release beside values of another protect nobody.\n  try: put the "
                "release's manifest beside them, or make the release again"
            )
        )
    closing = (
        f"{no} {result.verdict}: {_many(len(result.principles), 'principle')}"
        if result.satisfied and not result
        else f"{yes} satisfied: {_many(len(result.principles), 'principle')}"
        if result.satisfied
        else f"{no} not satisfied: {failing} of {_many(len(result.principles), 'principle')}"
        if failing
        else f"{no} not satisfied: the groups are not uniform"
    )
    parts.append(Text(closing, style="green bold" if result else "red bold"))
    return parts


def verdicts(result: CheckResult, out: Console) -> RenderableType:
    """Return a table of verdicts, a line for each principle."""
    from rich.table import Table
    from rich.text import Text

    yes, no = _marks(out)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "principle", "on", "achieved", "violating"):
        table.add_column(heading, overflow="fold")
    for report in result.principles:
        table.add_row(
            Text(yes, style="green") if report.satisfied else Text(no, style="red"),
            str(report.principle),
            report.shown or "-",
            _figures(report, report.achieved),
            _violating(report),
        )
    return table


def _marks(out: Console) -> tuple[str, str]:
    """Return what stands for yes and no."""
    return ("✓", "✗") if speaks_unicode(out) else ("ok", "FAIL")


def _claims(result: CheckResult, found: list[list[Claim]], asked: bool) -> list[RenderableType]:
    """Return what an adversary could claim, a line for each group."""
    from rich.text import Text

    if asked and not any(found):
        return [Text("\nno claims: no principle here says what is near (dissimilarity does)")]
    parts: list[RenderableType] = []
    for report, claimed in zip(result.principles, found, strict=True):
        if claimed:
            parts.append(Text(f"\nwhat could be claimed ({report.principle})", style="bold"))
        for claim in claimed:
            around = f"{len(claim.neighbours):,} of {claim.rows:,} rows, around row {claim.centre}"
            parts.append(Text(f"{claim} ({around}; risk {_number(float(claim.risk))})"))
    return parts


def _worst(report: PrincipleReport, out: Console, *, show_rows: bool) -> RenderableType:
    """Return the worst groups, with a column per quasi-identifier if these are to be shown."""
    # If the columns are too wide, there is one for all of them.
    from rich.measure import Measurement
    from rich.table import Table

    on = f" on {report.shown}" if report.on else ""

    def table(*headings: str) -> Table:
        made = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        made.title, made.title_style = f"\nworst groups for {report.principle}{on}", "bold"
        for heading in headings:
            made.add_column(
                heading, justify="right" if heading == "rows" else "left", overflow="fold"
            )
        return made

    def shown(value: object) -> str:
        return "<missing>" if value is None else str(value)

    if not show_rows:
        plain = table("group", "rows", "achieved", "why")
        plain.caption, plain.caption_justify = "--show-rows shows their quasi-identifiers", "left"
        for group in report.worst:
            if not group.satisfied:
                number = "-" if group.number is None else f"{group.number:,}"
                reached = _figures(report, group.achieved)
                plain.add_row(number, f"{group.rows:,}", reached, group.reason)
        return plain
    wide = table(*report.worst[0].values, "rows", "achieved", "why")
    narrow = table("rows", "achieved", "why", "group")
    for group in report.worst:
        if not group.satisfied:
            figures = (f"{group.rows:,}", _figures(report, group.achieved), group.reason)
            wide.add_row(*map(shown, group.values.values()), *figures)
            narrow.add_row(*figures, ", ".join(f"{k}={shown(v)}" for k, v in group.values.items()))
    needed = Measurement.get(out, out.options.update(max_width=10_000), wide).maximum
    return wide if needed <= out.width else narrow


def _violating(report: PrincipleReport) -> str:
    if report.satisfied:
        return "none"
    return f"{_many(report.violating_groups, 'group')}, {_many(report.violating_rows, 'row')}"


def _figures(report: PrincipleReport, achieved: dict[str, float]) -> str:
    parameters = report.principle.parameters()
    return ", ".join(
        f"no {key}"
        if isinf(value)
        else f"{key}{'>' if parameters[key].exclusive else '='}{_number(value)}"
        for key, value in achieved.items()
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
