"""wideberth anonymize."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.check import render
from wideberth.cli.options import (
    SETTINGS,
    EngineOptions,
    bucket_option,
    chosen_engine,
    console,
    echo_json,
    engine_options,
    format_option,
    memory_option,
    progress_display,
    table_options,
)
from wideberth.cli.release_options import (
    ReleaseArguments,
    certainty,
    format_levels,
    read_release_options,
    release_options,
    release_target,
    require_policy_or_principle,
    search_options,
)
from wideberth.errors import WideberthError, unexpected
from wideberth.policy.settings import ALGORITHMS, CUTS, DEALING, METHODS

if TYPE_CHECKING:
    from wideberth.release.release import Release

#: How warnings begin that were printed before the work.
_SAID = ("dealing by matching", "the seed is fixed", "numbers of single people")
NOT_PROMISED_NOTE = """\
not promised: safety from those who know how the groups were chosen, who know more than the
principles allow for, who combine several releases, or who ask only whether somebody is in it"""


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@click.option(
    "-o",
    "--output",
    multiple=True,
    metavar="OUT",
    help="Where to write the release: a file; for anatomy a folder, or two files (-o twice).",
)
@release_options
@click.option(
    "--algorithm",
    type=click.Choice(ALGORITHMS),
    help="mondrian makes ranges group by group; lattice publishes a column on one level of its "
    "hierarchy; anatomy keeps columns exact, and puts sensitive values into a second table."
    "  [default: mondrian]",
)
@click.option(
    "--cuts",
    type=click.Choice(CUTS),
    help="Where to cut groups; paper: at medians, but for three points in docs/policy.md."
    "  [default: best]",
)
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
    "--method",
    type=click.Choice(METHODS),
    help="How anatomy makes groups.  [default: optimal]",
)
@click.option(
    "--group-rows",
    type=click.IntRange(1),
    metavar="N",
    help="Rows that anatomy's groups should have, if the principles permit.  [default: as few as "
    "they need]",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    metavar="N",
    help="For tests only: whoever guesses it can undo the shuffling.  [default: secret]",
)
@click.option(
    "--key",
    metavar="FILE",
    help="A secret key file: the same table, policy and key give the same release. If FILE does "
    "not exist, it is created, for you alone; never give it to recipients.",
)
@click.option(
    "--threads",
    type=click.IntRange(1),
    metavar="N",
    help="How many to use at a time.  [default: one per core]",
)
@click.option(
    "--report",
    metavar="REPORT",
    help="Also write a report on the release: .html for people, .json for programs.",
)
@engine_options
@memory_option
@bucket_option
@click.option("--dry-run", is_flag=True, help="Do everything but writing.")
@click.option("--force", is_flag=True, help="Overwrite an earlier release.")
@table_options
@format_option()
def anonymize(
    table: str,
    output: tuple[str, ...],
    report: str | None,
    key: str | None,
    engine: str | None,
    master: str | None,
    memory: str | None,
    bucket_rows: int | None,
    dry_run: bool,
    force: bool,
    form: str,
    **asked: Any,
) -> int:
    """Make a release of TABLE that satisfies every principle, and verify it.

    Quasi-identifiers become ranges, identifiers are dropped, sensitive values stay as they are.
    Beside the release a manifest (OUT.manifest.json) says how it was made and what it promises.
    With a policy, options replace what it says.

    Anatomy instead publishes two tables: quasi-identifiers as they are, with a group for each row,
    and for each group its sensitive values with their counts.

    \b
    wideberth anonymize people.csv -p policy.toml -o release.csv
    wideberth anonymize people.csv -p policy.toml -o release.csv --report report.html
    wideberth anonymize people.csv -p policy.toml --dry-run --format json
    wideberth anonymize people.csv --qi age,zip,sex --sensitive salary --identifier name \\
        --principle k-anonymity:k=5 --principle epsilon-m:epsilon=4500,m=5 -o release.csv
    wideberth anonymize people.csv -p policy.toml --algorithm lattice --level age=1-2 -o out.csv
    wideberth anonymize people.parquet --qi age,zip,sex --sensitive "disease.*" \\
        --principle dissimilarity:epsilon=0.1,delta=0.8,k=5 -o release.parquet
    wideberth anonymize people.csv --qi age,zip,sex --sensitive disease --identifier name \\
        --hierarchy disease=diseases.csv --principle l-e:l=3,e=1 --algorithm anatomy -o folder
    wideberth anonymize people.csv -p policy.toml -o release.csv --key my.key
    wideberth anonymize census.parquet -p policy.toml -o release.parquet --memory 4GB
    wideberth anonymize census.parquet -p policy.toml -o release.parquet --engine spark

    A file that is larger than memory (--memory) and a table on Spark (--engine spark) give the same
    release as in memory. Spark writes a folder of Parquet files.

    Exit code 3 if the principles cannot be met: nothing is written then.
    """
    require_policy_or_principle(asked["policy"], asked["principles"])
    if not output and not dry_run:
        raise click.UsageError("say where the release goes (-o OUT), or --dry-run")
    if report is not None and dry_run:
        raise click.UsageError("--report is on what is written: leave out --dry-run")
    if key is not None and asked["seed"] is not None:
        raise click.UsageError("give --seed, which is for tests only, or --key, not both")
    where = chosen_engine(engine, master, memory, bucket_rows)
    where.require_in_memory("--report", report)
    where.require_in_memory("--threads", asked["threads"])
    with progress_display() as progress:
        from wideberth.release.anonymize import anonymize as run

        question = read_release_options(table, **asked)
        if key is not None:
            question = replace(question, sources=[*question.sources, key])
        where.require_possible(question.arguments["policy"], question.arguments)
        written = _target(output, table, question, where, force=force, dry_run=dry_run)
        if report is not None:
            from wideberth.io.manifest import manifest_path
            from wideberth.reports.content import check_path

            written_too = [Path(path) for path in output]
            written_too += [manifest_path(path) for path in output]
            check_path(report, force=force, sources=[*question.sources, *written_too])
            if Path(report).resolve() in [path.resolve() for path in written_too]:
                raise click.UsageError(f"--report {report} would replace the release")
        if key is not None:
            _require_key(key, output)
        with where.table(table, question.arguments["policy"].options) as given:
            release = run(
                given,
                **question.arguments,
                key=key,
                memory=memory,
                bucket_rows=bucket_rows,
                progress=progress,
            )
            manifest = release.manifest
            manifest["input"]["name"] = Path(table).name
            if not dry_run:
                manifest = release.save(*output, force=force)
        if report is not None:
            with _after(written):
                _report(release, manifest, table, output[0], question, report, force=force)
    if form == "json":
        echo_json(manifest)
        return 0
    summarize(release, output[0] if output else "release")
    told = "" if report is None else f", and the report {report}"
    click.echo("nothing was written (--dry-run)" if dry_run else f"wrote {written}{told}")
    said = release.verified.notes if release.verified else []
    for caution in release.manifest["warnings"]:  # those of saving were printed
        if not caution.startswith(_SAID) and caution not in said:
            console().print(f"note: {caution}")
    click.echo(NOT_PROMISED_NOTE)
    return 0


def _require_key(key: str, output: Sequence[str]) -> None:
    """Create the key file if there is none, and say so; refuse one that recipients would get."""
    from wideberth.kernels.randomness import read_key

    for path in output:
        if Path(path).resolve() in Path(key).resolve().parents:
            raise click.UsageError(f"the key file {key} would lie in the release's own folder")
    fresh = not os.path.lexists(key)
    read_key(key)
    if fresh:
        click.echo(
            f"note: created the key file {key}: keep it secret, for whoever has it can undo the "
            "shuffling of every release made with it",
            err=True,
        )


def _target(
    output: tuple[str, ...],
    table: str,
    question: ReleaseArguments,
    where: EngineOptions,
    *,
    force: bool,
    dry_run: bool,
) -> str:
    """Refuse what a release cannot be written to, before the work; say what will be written."""
    if where.is_spark:
        from wideberth.engines.spark.store import require_folder

        for path in output:
            require_folder(path, table, force=force)
        if len(output) > 1:
            raise click.UsageError("one release, one -o")
        return f"the folder {output[0]} and {output[0]}.manifest.json" if output else ""
    if not output:
        return ""
    written = release_target(output, table, question, force=force, dry_run=dry_run)
    if len(output) == 1:
        _require_fit(table, output[0], question)
    return written


@contextmanager
def _after(written: str) -> Iterator[None]:
    """Add to whatever error the block raises that the release has been written."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):  # Ctrl-C, or a signal that ends the program
        click.echo(f"note: wrote {written}, but not its report", err=True)
        raise
    except Exception as error:
        if os.environ.get("WIDEBERTH_TRACEBACK") and not isinstance(error, WideberthError):
            raise
        failed = error if isinstance(error, WideberthError) else unexpected(error)
        raise WideberthError(
            f"the release was written ({written}), but its report failed: {failed.what}",
            hint=failed.hint,
        ) from None


def _report(
    release: Release,
    manifest: dict[str, Any],
    table: str,
    output: str,
    question: ReleaseArguments,
    target: str,
    *,
    force: bool,
) -> None:
    """Write a report on a release that has been written."""
    from wideberth import io
    from wideberth.reports.report import report

    original = io.read(table, question.arguments["policy"].options)
    told = report(replace(release, manifest=manifest), original=original, source=output)
    told.save(target, force=force)


def _require_fit(table: str, output: str, question: ReleaseArguments) -> None:
    """Refuse a file of text for columns that it cannot hold, before the work."""
    from wideberth import io
    from wideberth.core.names import expand_short_forms

    if io.is_table(output):
        columns, said = io.column_types(table), question.arguments
        named = said["identifier"] or said["policy"].roles.get("identifier", ())
        gone = expand_short_forms(named, columns)
        io.check_fits({c: t for c, t in columns.items() if c not in gone}, output)


def summarize(release: Release, name: str) -> None:
    """Print what a person wants to know of a release: whether it is safe, and what that cost."""
    out = console()
    for part in render(release.verified or release.check(), name, out):
        out.print(part)
    out.print()
    for line in (*describe_levels(release.manifest), *cost(release.manifest)):
        out.print(line)


def describe_levels(manifest: dict[str, Any]) -> list[str]:
    """Put into words which levels a lattice's release has, a line for each round."""
    told = manifest.get("lattice", {"rounds": []})
    lines = []
    for number, one in enumerate(told["rounds"], start=1):
        round_ = f"round {number}, {one['rows']:,} rows: " if len(told["rounds"]) > 1 else ""
        best = certainty(
            told["nodes"], told["measure"], one["score"], one["no_better_than"], one["proven"]
        )
        lines.append(f"{round_}levels {', '.join(format_levels(one['levels']))}; {best}")
    return lines


def cost(manifest: dict[str, Any]) -> list[str]:
    """Put into words what the release lost.

    >>> cost({"loss": {"ncp_percent": 1.94}, "suppressed": {"rows": 0}})
    ["no row is left out; on average a range spans 1.9 % of an attribute's domain"]
    """
    rows = manifest["suppressed"]["rows"]
    left_out = {0: "no row is", 1: "1 row is"}.get(rows, f"{rows:,} rows are") + " left out"
    if "anatomy" in manifest:
        return _anatomized(manifest, left_out)
    share = manifest["loss"]["ncp_percent"]
    digits = 1 if share >= 0.1 else 3
    weighted = ", weighted" if manifest.get("transform", {}).get("weights") else ""
    return [
        f"{left_out}; "
        f"on average a range spans {share:.{digits}f} % of an attribute's domain{weighted}"
    ]


def _anatomized(manifest: dict[str, Any], left_out: str) -> list[str]:
    told, loss = manifest["anatomy"], manifest["loss"]
    fewest = ""
    if not told["suppression_proven_least"]:
        least = told["suppressed_at_least"]
        fewest = " (perhaps fewer would do)" if least is None else f" (at least {least:,} must be)"
    lines = [
        f"{left_out}{fewest}; quasi-identifiers are exact, sensitive values known by group",
        f"reconstruction error {loss['reconstruction_error']:.3g} a row, "
        f"{loss['true_point_error']:.3g} at the true value",
    ]
    if loss["average_diversity"] is not None:
        lines[-1] += f"; average diversity of a group {loss['average_diversity']:.3g}"
    if loss["similarity_risk"]:
        # Counted from the values up, as a hierarchy's levels are.
        risks = [
            f"{risk['worst']:.0%} at level {up}"
            for up, risk in enumerate(reversed(loss["similarity_risk"]))
        ]
        lines.append(
            f"most that any group holds of one kind: {', '.join(risks)} (0 is the value itself)"
        )
    return lines
