"""wideberth reproduce."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from wideberth.cli.options import SETTINGS, console, echo_json, format_option
from wideberth_papers import PAPERS, SEED

_STYLES = {"confirmed": "green", "confirmed with differences": "yellow", "contradicted": "red"}


@click.command(context_settings=SETTINGS)
@click.argument("paper", metavar="PAPER", type=click.Choice([*PAPERS, "all"]))
@click.option(
    "--data",
    multiple=True,
    metavar="PATH",
    help="A real table to use, or a folder with some (SAL, ATO, Adult); several times if needed.",
)
@click.option(
    "--rows",
    type=click.IntRange(200),
    help="How many rows the tables have at most.  [default: as many as in the paper]",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    default="reproduction",
    show_default=True,
    help="Where pages, pictures and tables go.",
)
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of all that is random.")
@click.option("--force", is_flag=True, help="Begin anew, and replace the pages of another run.")
@format_option()
def reproduce(
    paper: str,
    data: tuple[str, ...],
    rows: int | None,
    output: str,
    seed: int,
    force: bool,
    form: str,
) -> int:
    """Run the experiments of PAPER anew, and say whether its claims hold.

    Writes a CSV file and a picture (SVG and PNG) for each figure, and a page in Markdown with the
    paper's claim and our verdict: confirmed, confirmed with differences, contradicted, with a
    counterexample, or not tested here, where the table is too small to tell (some claims need
    10,000 rows, some the paper's number). Tables are made up in the paper's shape unless real ones
    are given. A run that was interrupted goes on where it stopped when the same command is given
    again.

    \b
    machanavajjhala2006   l-diversity: homogeneity, time, utility
    li2008                (ε,m)-anonymity: query error and time, against perturbation
    wang2009              dissimilarity: what can be satisfied, and how well it is found
    wang2013              (l,e)-diversity by anatomy: loss, diversity, time
    deltal                (δ,l)-diversity: monotonicity, its repair, checking time

    \b
    wideberth reproduce li2008 --rows 20000
    wideberth reproduce all --rows 20000 -o reproduction
    wideberth reproduce machanavajjhala2006 --data adult.csv

    Exit code 0 once all is written, whatever the verdicts.
    """
    with _telling() as progress:
        from wideberth_papers import reproduce as run

        made = run(
            paper, output=output, data=data, rows=rows, seed=seed, force=force, progress=progress
        )
    if form == "json":
        echo_json(made.to_dict())
        return 0
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("paper", "figure", "verdict"):
        table.add_column(heading)
    for outcome in made.outcomes:
        for shown in outcome.shown:
            word = shown.verdict.word
            verdict = Text(word, style=_STYLES.get(word, ""))
            table.add_row(outcome.study.name, Text(shown.figure.title), verdict)
    console().print(table)
    click.echo()
    for outcome in made.outcomes:
        click.echo(f"{outcome.study.name}: {outcome.table}, {outcome.seconds:,.0f} s")
    pages = [path for path in made.files if path.suffix == ".md"]
    click.echo(f"wrote {', '.join(str(path) for path in pages)}")
    click.echo(f"and {len(made.files) - len(pages)} tables and pictures in {Path(output)}")
    return 0


@contextmanager
def _telling() -> Iterator[Callable[[str, str, int, int], None]]:
    """Yield what shows progress: a bar on a terminal, elsewhere a line for each paper."""
    err = console(stderr=True)
    if not err.is_terminal:
        begun: set[str] = set()

        def line(paper: str, step: str, done: int, total: int) -> None:
            if paper not in begun and done < total:
                begun.add(paper)
                again = f", {done} of them done before" if done else ""
                click.echo(f"{paper}: {total} steps{again}", err=True)

        yield line
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.fields[paper]}", markup=False),
        BarColumn(),
        TextColumn("{task.completed} of {task.total} steps", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        tasks: dict[str, Any] = {}

        def tell(paper: str, step: str, done: int, total: int) -> None:
            if paper not in tasks:
                tasks[paper] = bar.add_task(step, total=total, paper=paper)
            bar.update(tasks[paper], description=step, completed=done)

        yield tell
