"""wideberth report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.audit import NOT_SAFE, arguments, audit_options
from wideberth.cli.options import (
    SETTINGS,
    console,
    echo_json,
    format_option,
    progress_display,
    speaks_unicode,
    table_options,
)

#: The options that name files.
_READ = ("original", "policy", "sensitive_table", "population", "priors")

if TYPE_CHECKING:
    from wideberth.reports.content import Report


@click.command(context_settings=SETTINGS)
@click.argument("release", metavar="RELEASE")
@click.option(
    "-o",
    "--output",
    metavar="REPORT",
    help="Where to write it: .html for people, .json for programs.",
)
@audit_options
@click.option("--title", metavar="TEXT", help="What to call the report.")
@click.option(
    "--probe",
    is_flag=True,
    help="Also try how well models learn from RELEASE (needs scikit-learn, and takes a while).",
)
@click.option("--force", is_flag=True, help="Overwrite an earlier report.")
@table_options
@format_option()
def report(
    release: str,
    output: str | None,
    title: str | None,
    probe: bool,
    force: bool,
    fail_on: str,
    form: str,
    **asked: Any,
) -> int:
    """Report on RELEASE: what it risks, what it costs, what it promises and what not.

    The report is one HTML file that needs nothing else: no network, no scripts. It shows no
    sensitive value. Without -o, a summary is printed. Give the original to compare before and
    after.

    \b
    wideberth report release.csv --original people.csv -p policy.toml -o report.html
    wideberth report release.csv -p policy.toml
    wideberth report foreign.csv --qi age,zip,sex --sensitive salary -o report.json

    Exit code 3 if a principle is violated or a finding is of high severity (--fail-on: or of a
    lower one), else 0; the report is written in either case.
    """
    with progress_display() as progress:
        from wideberth.io.manifest import manifest_path
        from wideberth.reports.content import check_path
        from wideberth.reports.report import report as run

        if output is not None:
            read = [asked[key] for key in _READ] + [*asked["others"], release]
            sources = [*filter(None, read), manifest_path(release)]
            check_path(output, force=force, sources=sources)
        told = run(**arguments(release, asked), title=title, probe=probe, progress=progress)
        if output is not None:
            told.save(output, force=force)
    if form == "json":
        echo_json(told.to_dict())
    else:
        print_report_summary(told)
        if output is not None:
            click.echo(f"wrote {Path(output)}")
    return NOT_SAFE if told.fails(fail_on) else 0


def print_report_summary(told: Report) -> None:
    """Print a report's summary."""
    from wideberth.reports.terminal import render_report

    out = console()
    for part in render_report(told, unicode=speaks_unicode(out)):
        out.print(part)
