"""wideberth anonymize."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.check import overridden, render
from wideberth.cli.options import (
    SETTINGS,
    assignments,
    console,
    echo_json,
    format_option,
    listed,
    read_options,
    table_options,
)
from wideberth.transform import CUTS, DEALING

if TYPE_CHECKING:
    from wideberth.release import Release

NOT_PROMISED = """\
not promised: safety from those who know how the groups were chosen, who know more than the
principles allow for, who combine several releases, or who ask only whether somebody is in it"""


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@click.option("-p", "--policy", metavar="FILE", help="Roles, types and principles: a policy.toml.")
@click.option("-o", "--output", metavar="OUT", help="Where to write the release.")
@click.option("--qi", multiple=True, metavar="C,…", help="Quasi-identifiers, which are coarsened.")
@click.option("--sensitive", multiple=True, metavar="C,…", help="Sensitive attributes, kept.")
@click.option("--identifier", multiple=True, metavar="C,…", help="Identifiers, which are dropped.")
@click.option("--insensitive", multiple=True, metavar="C,…", help="Other columns, kept.")
@click.option(
    "--principle",
    "principles",
    multiple=True,
    metavar="NAME:P=V,…",
    help="A principle to satisfy; may be repeated. See `wideberth principles`.",
)
@click.option(
    "--hierarchy",
    "hierarchies",
    multiple=True,
    metavar="COLUMN=FILE",
    help="Hierarchy of a quasi-identifier, or semantic tree of a sensitive attribute.",
)
@click.option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="Type of a column.")
@click.option("--cuts", type=click.Choice(CUTS), help="Where to cut groups.  [default: best]")
@click.option(
    "--dealing",
    type=click.Choice(DEALING),
    help="How rows are dealt into groups; matching loses less and gives away more."
    "  [default: rank]",
)
@click.option(
    "--suppression-limit",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Share of rows that may be left out where nothing else helps.  [default: 0]",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="For tests only: whoever knows it can undo the shuffling.  [default: secret]",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="How many to use at a time.  [default: one per core]",
)
@click.option("--dry-run", is_flag=True, help="Do everything but writing.")
@click.option("--force", is_flag=True, help="Overwrite an earlier release.")
@table_options
@format_option()
def anonymize(
    table: str,
    policy: str | None,
    output: str | None,
    qi: tuple[str, ...],
    sensitive: tuple[str, ...],
    identifier: tuple[str, ...],
    insensitive: tuple[str, ...],
    principles: tuple[str, ...],
    hierarchies: tuple[str, ...],
    types: tuple[str, ...],
    cuts: str | None,
    dealing: str | None,
    suppression_limit: float | None,
    seed: int | None,
    threads: int | None,
    dry_run: bool,
    force: bool,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    form: str,
) -> int:
    """Make a release of TABLE that satisfies every principle, and verify it.

    Quasi-identifiers become ranges, identifiers are dropped, sensitive values stay as they are.
    Beside the release a manifest (OUT.manifest.json) says how it was made and what it promises.
    With a policy, options replace what it says.

    \b
    wideberth anonymize people.csv -p policy.toml -o release.csv
    wideberth anonymize people.csv -p policy.toml --dry-run --format json
    wideberth anonymize people.csv --qi age,zip,sex --sensitive salary --identifier name \\
        --principle k-anonymity:k=5 --principle epsilon-m:epsilon=4500,m=5 -o release.csv

    Exit code 3 if the principles cannot be met: nothing is written then.
    """
    if policy is None and not principles:
        raise click.UsageError("give a policy (-p FILE) or a principle (--principle NAME:P=V,…)")
    if output is None and not dry_run:
        raise click.UsageError("say where the release goes (-o OUT), or --dry-run")
    trees = assignments(hierarchies, "--hierarchy")
    kinds = assignments(types, "--type")
    with _telling() as progress:
        from wideberth import tables
        from wideberth.anonymizing import anonymize as run
        from wideberth.policy import Policy
        from wideberth.principles import parse
        from wideberth.release import manifest_path

        wanted = [parse(text) for text in principles]
        plan = None if policy is None else Policy.load(policy)
        options = read_options(delimiter, encoding, missing, plan.options if plan else None)
        plan = Policy(roles={}, options=options) if plan is None else replace(plan, options=options)
        if output is not None:
            sources = [table, *([policy] if policy else []), *_files({**plan.hierarchies, **trees})]
            tables.check_target(output, force=force, table=True, sources=sources)
            tables.check_target(manifest_path(output), force=force, sources=sources)
        for note in overridden(plan, qi, sensitive, wanted):
            click.echo(f"note: {note}", err=True)
        release = run(
            Path(table),
            quasi=listed(qi),
            sensitive=listed(sensitive),
            identifier=listed(identifier),
            insensitive=listed(insensitive),
            principles=wanted,
            hierarchies=trees,
            types=kinds,
            policy=plan,
            cuts=cuts,
            dealing=dealing,
            suppression_limit=suppression_limit,
            seed=seed,
            threads=threads,
            progress=progress,
        )
        manifest = release.manifest
        if output is not None and not dry_run:
            manifest = release.save(output, force=force)
    if form == "json":
        echo_json(manifest)
        return 0
    summarize(release, output or "release")
    written = "nothing was written (--dry-run)"
    if output is not None and not dry_run:
        written = f"wrote {output} and {manifest_path(output).name} beside it"
    click.echo(written)
    for caution in manifest["warnings"]:
        if caution.startswith("no principle protects"):  # others were said before the work
            click.echo(f"note: {caution}")
    click.echo(NOT_PROMISED)
    return 0


def _files(rules: Mapping[str, Any]) -> list[str]:
    """Return the hierarchy files that rules name, and some texts that are no files."""
    inner = (rule.values() if isinstance(rule, Mapping) else [rule] for rule in rules.values())
    return [value for values in inner for value in values if isinstance(value, str)]


def summarize(release: Release, name: str) -> None:
    """Print what a person wants to know of a release: whether it is safe, and what that cost."""
    out = console()
    for part in render(release.verified or release.check(), name, out):
        out.print(part)
    out.print("\n" + cost(release.manifest))


def cost(manifest: dict[str, Any]) -> str:
    """Put the information loss into words.

    >>> cost({"loss": {"ncp_percent": 1.94}, "suppressed": {"rows": 0}})
    "no row is left out; on average a range spans 1.9 % of an attribute's domain"
    """
    rows = manifest["suppressed"]["rows"]
    left_out = {0: "no row is", 1: "1 row is"}.get(rows, f"{rows:,} rows are")
    share = manifest["loss"]["ncp_percent"]
    digits = 1 if share >= 0.1 else 3
    weighted = ", weighted" if manifest.get("transform", {}).get("weights") else ""
    return (
        f"{left_out} left out; "
        f"on average a range spans {share:.{digits}f} % of an attribute's domain{weighted}"
    )


@contextmanager
def _telling() -> Iterator[Callable[[str, int, int], None] | None]:
    """Yield what shows progress, on a terminal; elsewhere nothing."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows", markup=False),
        TimeRemainingColumn(),
        console=err,
        transient=True,
    )
    with bar:
        phases: dict[str, Any] = {}

        def tell(phase: str, done: int, total: int) -> None:
            if phase not in phases:
                for earlier in phases.values():
                    bar.update(earlier, visible=False)
                phases[phase] = bar.add_task(phase, total=total)
            bar.update(phases[phase], completed=done, total=total)

        yield tell
