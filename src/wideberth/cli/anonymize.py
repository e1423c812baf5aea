"""wideberth anonymize."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.asking import (
    ask,
    release_options,
    release_target,
    require_principles,
    search_options,
)
from wideberth.cli.check import render
from wideberth.cli.nodes import assigned, certainty
from wideberth.cli.options import SETTINGS, console, echo_json, format_option, table_options
from wideberth.cli.progress import telling
from wideberth.transform import ALGORITHMS, CUTS, DEALING

if TYPE_CHECKING:
    from wideberth.release import Release

NOT_PROMISED = """\
not promised: safety from those who know how the groups were chosen, who know more than the
principles allow for, who combine several releases, or who ask only whether somebody is in it"""


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@click.option("-o", "--output", metavar="OUT", help="Where to write the release.")
@release_options
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    help="mondrian makes ranges group by group; lattice publishes a column on one level of its "
    "hierarchy.  [default: mondrian]",
)
@click.option("--cuts", type=click.Choice(CUTS), help="Where to cut groups.  [default: best]")
@click.option(
    "--dealing",
    type=click.Choice(DEALING),
    help="How rows are dealt into groups; matching loses less and gives away more."
    "  [default: rank]",
)
@search_options
@click.option(
    "--local-rounds",
    type=click.IntRange(0),
    metavar="N",
    help="How often the lattice generalises the rows that it would leave out by themselves."
    "  [default: 0]",
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
    table: str, output: str | None, dry_run: bool, force: bool, form: str, **asked: Any
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
    wideberth anonymize people.csv -p policy.toml --algorithm lattice --level age=1-2 -o out.csv

    Exit code 3 if the principles cannot be met: nothing is written then.
    """
    require_principles(asked["policy"], asked["principles"])
    if output is None and not dry_run:
        raise click.UsageError("say where the release goes (-o OUT), or --dry-run")
    with telling() as progress:
        from wideberth.anonymizing import anonymize as run
        from wideberth.release import manifest_path

        question = ask(table, **asked)
        if output is not None:
            release_target(output, question, force=force)
        release = run(Path(table), **question.arguments, progress=progress)
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


def summarize(release: Release, name: str) -> None:
    """Print what a person wants to know of a release: whether it is safe, and what that cost."""
    out = console()
    for part in render(release.verified or release.check(), name, out):
        out.print(part)
    out.print()
    for line in (*chosen(release.manifest), cost(release.manifest)):
        out.print(line)


def chosen(manifest: dict[str, Any]) -> list[str]:
    """Put into words which levels a lattice's release has, a line for each round."""
    told = manifest.get("lattice", {"rounds": []})
    lines = []
    for number, one in enumerate(told["rounds"], start=1):
        round_ = f"round {number}, {one['rows']:,} rows: " if len(told["rounds"]) > 1 else ""
        best = certainty(
            told["nodes"], told["measure"], one["score"], one["no_better_than"], one["proven"]
        )
        lines.append(f"{round_}levels {', '.join(assigned(one['levels']))}; {best}")
    return lines


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
