"""wideberth demo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.anonymize import NOT_PROMISED_NOTE, cost
from wideberth.cli.check import render
from wideberth.cli.options import SETTINGS, console, echo_json, format_option

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from wideberth.checks.advise import Advice

_EPSILON, _M = 4500, 5
_FILES = ("census.csv", "policy.toml", "release.csv", "report.html")
_POLICY = f"""\
# Everyone is to be hidden among five, no more than one of them with an income near anybody's.
version = 1

[roles]  # every column has exactly one
quasi = ["age", "birthplace", "occupation"]  # what a neighbour may know: published as ranges
sensitive = ["income"]  # what a neighbour must not learn: published as it is

[[principle]]
name = "k-anonymity"
k = 5

[[principle]]
name = "epsilon-m"
epsilon = {_EPSILON}
m = {_M}
"""


@click.command(context_settings=SETTINGS)
@click.option(
    "--rows",
    type=click.IntRange(100),
    default=20_000,
    show_default=True,
    help="How many people to make up.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="wideberth-demo",
    show_default=True,
    help="Where the files go.",
)
@click.option("--force", is_flag=True, help="Overwrite files of an earlier demo.")
@format_option()
def demo(rows: int, output: str, force: bool, form: str) -> int:
    """Make up a census, ask what can be promised, make a release, verify it and report on it.

    \b
    wideberth demo                       20,000 people, a few seconds
    wideberth demo --rows 500000 -o big  as many as in the literature
    """
    from wideberth import datasets, io
    from wideberth.checks.advise import advise
    from wideberth.checks.check import check
    from wideberth.io.manifest import manifest_path
    from wideberth.release.anonymize import anonymize
    from wideberth.reports.report import report

    folder = Path(output)
    census, policy, release, page = (folder / name for name in _FILES)
    files = [census, policy, release, manifest_path(release), page]
    _make(folder, files, force)
    out = console()

    def say(*parts: RenderableType) -> None:
        for part in parts if form == "text" else ():
            out.print(part)

    def head(text: str) -> None:
        if form == "text":
            out.print(f"\n{text}\n", style="bold")

    head("1. Four salaries, all different, and yet three of them are 'about 1000' (Li et al. 2008)")
    printed = check(
        datasets.li2008_table1b(),
        quasi=["age", "zip"],
        sensitive="salary",
        principles=["k-anonymity:k=2", "distinct-l:l=2", "epsilon-m:epsilon=100,m=2"],
    )
    say(*render(printed, "Table 1b", out))

    head(f"2. A census of {rows:,} made-up people, and what its custodian wants to promise")
    people = datasets.sal(rows)
    io.write(people, census, force=force)
    io.write_text(_POLICY, policy, force=force)
    alone = _alone(people)
    say(
        f"{alone:,} of {rows:,} people ({alone / rows:.0%}) are the only ones of their age, "
        "birthplace and occupation:",
        f"who knows these of somebody knows the income. {policy.name} asks for better:\n",
        _POLICY,
    )

    head("3. Can that be promised?")
    advice = advise(people, "income")
    most, bound = advice.max_m(epsilon=_EPSILON), advice.max_epsilon(m=_M)
    say(
        f"{'Yes' if most >= _M else 'No'}. With incomes {_EPSILON:,} apart, any m up to {most} is "
        f"possible; with m = {_M}, any distance below {float(bound):,.0f}:\n",
        _curve(advice),
    )

    head("4. The release: ranges for what a neighbour may know, the incomes as they are")
    made = anonymize(census, policy=policy)
    manifest = made.save(release, force=force)
    published = io.read(release)
    say(_beside(people, published), "", *cost(manifest))

    head("5. Verified: the file that was written, read again and checked as anybody could")
    verified = check(published, policy=policy, group=manifest["group"])
    say(*render(verified, release.name, out))

    head("6. Reported: what an adversary learns, before and after, and what the release is worth")
    told = report(replace(made, manifest=manifest), original=people, source=release)
    told.save(page, force=force)
    say(*_told(told.to_dict()["verdict"], page))

    if form == "json":
        echo_json(
            {
                "Table 1b": printed.to_dict(),
                "alone": alone,
                "advice": {"max_m": most, "max_epsilon_exclusive": float(bound)},
                "manifest": manifest,
                "verified": verified.to_dict(),
                "report": told.to_dict()["verdict"],
            }
        )
        return 0
    click.echo(
        f"\nWho knows the age, birthplace, occupation and even the group of somebody is left with "
        f"{_M} incomes\nor more. To guess one of them, give or take {_EPSILON:,}, is right for at "
        f"most 1 in {_M} of the group.\n{NOT_PROMISED_NOTE}\n\n"
        f"in {folder}: {', '.join(file.name for file in files)}\n"
        f"next: open {page} in a browser;\n"
        f"      wideberth audit {release} --original {census} -p {policy}"
    )
    return 0


def _told(verdict: dict[str, Any], page: Path) -> list[RenderableType]:
    """Show a report's verdict, and where the rest is."""
    from rich.table import Table
    from rich.text import Text

    lines = Table(box=None, pad_edge=False, show_header=False)
    lines.add_column(style="dim")
    lines.add_column(overflow="fold")
    for sentence in verdict["sentences"]:
        lines.add_row(sentence["about"], sentence["text"])
    return [Text(verdict["headline"], style="bold"), lines, f"\nthe whole report: {page}"]


def _make(folder: Path, targets: list[Path], force: bool) -> None:
    """Make the folder, and refuse it before the work if it holds an earlier demo."""
    from wideberth.errors import OutputError
    from wideberth.io import check_target

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{folder} cannot be made: {error.strerror}"
        raise OutputError(what, hint="name a new directory") from None
    for target in targets:
        check_target(target, force=force)


def _alone(people: pl.DataFrame) -> int:
    """Count those who share all of their quasi-identifiers with nobody."""
    return int(people.select("age", "birthplace", "occupation").is_unique().sum())


def _curve(advice: Advice) -> RenderableType:
    """Show how far apart incomes can be kept, the more of them are to hide one another."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("m", justify="right")
    table.add_column("distance below", justify="right")
    table.add_column("")
    bounds = {m: float(advice.max_epsilon(m=m)) for m in (2, 3, 5, 8, 12, 20)}
    for m, bound in bounds.items():
        table.add_row(str(m), f"{bound:,.0f}", "#" * round(50 * bound / bounds[2]))
    return table


def _beside(people: pl.DataFrame, published: pl.DataFrame) -> RenderableType:
    """Show a few people of the census, and one whole group of the release."""
    import polars as pl
    from rich.table import Table

    group = published.filter(pl.col("group") == published["group"][0])
    group = group.cast(pl.String).sort(pl.col("income").cast(pl.Int64))
    table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
    table.title = "some rows of census.csv, and one whole group of release.csv"
    for heading in (*people.columns, "   ", *group.columns):
        table.add_column(heading, justify="right")
    for one, other in zip(people.head(group.height).rows(), group.rows(), strict=True):
        table.add_row(*map(str, one), "", *other)
    return table
