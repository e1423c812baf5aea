"""wideberth lattice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.anonymize import anonymize
from wideberth.cli.options import (
    SETTINGS,
    console,
    echo_json,
    format_option,
    progress_display,
    speaks_unicode,
    table_options,
)
from wideberth.cli.release_options import (
    certainty,
    format_levels,
    format_measure,
    read_release_options,
    release_options,
    require_policy_or_principle,
    retyped,
    search_options,
)
from wideberth.policy.settings import MEASURES

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from wideberth.release.lattice import Lattice, NodeFigures

#: How many letters of a column's name a narrow table shows, and how it breaks other headings.
_SHORT = 6
_BROKEN = {
    "suppressed": "sup-\npressed",
    "discernibility": "discern-\nibility",
    "average-size": "average-\nsize",
    "precision": "preci-\nsion",
}
#: What must not be typed again: levels are chosen now, so there is nothing to search.
_DONE = ("levels", "measure", "max_seconds", "max_checks", "max_memory", "force", "form")


@click.command(context_settings=SETTINGS)
@click.argument("table", metavar="TABLE")
@release_options
@search_options
@click.option(
    "--best",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="How many of the best nodes to find.",
)
@click.option(
    "--minimal",
    "shown",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many of the minimal nodes to list; JSON lists all.",
)
@click.option(
    "--picture",
    metavar="FILE",
    help="Draw the lattice: an .svg or .png file.  Of some principles, every node is then checked.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing picture.")
@table_options
@format_option()
def lattice(
    table: str,
    best: int,
    shown: int,
    picture: str | None,
    force: bool,
    form: str,
    **asked: Any,
) -> int:
    """Tell on which levels of their hierarchies the columns of TABLE can be published.

    A node of the lattice is one level for each quasi-identifier, the same for the whole table. It
    is admissible if all groups satisfy the principles, but for rows that may be suppressed, and
    minimal if no finer node is admissible. The best nodes lose the least.

    \b
    wideberth lattice people.csv -p policy.toml
    wideberth lattice people.csv -p policy.toml --measure discernibility --level age=1-2
    wideberth lattice people.csv -p policy.toml --max-seconds 60 --format json
    wideberth lattice people.csv -p policy.toml --picture lattice.svg

    Exit code 0 if a node is admissible, 3 if none is.
    """
    require_policy_or_principle(asked["policy"], asked["principles"])
    with progress_display() as progress:
        from wideberth.release import lattice_plot
        from wideberth.release.lattice import lattice as run

        question = read_release_options(table, **asked)
        if picture is not None:
            lattice_plot.check_drawing_target(picture, force=force, sources=question.sources)
        result = run(Path(table), **question.arguments, best=best, progress=progress)
        told = result.to_dict()  # measures all nodes in every way, which takes its time
        if picture is not None:
            lattice_plot.draw(result, picture, force=force, progress=progress)
    if form == "json":
        echo_json(told)
        return 0
    out = console()
    for part in _render(result, table, shown, out):
        out.print(part)
    if picture is not None:
        click.echo(f"wrote {picture}")
    levels = [word for one in format_levels(result.best[0].levels) for word in ("--level", one)]
    line = retyped(anonymize, "--algorithm", "lattice", *levels, "-o", "release.csv", without=_DONE)
    click.echo(f"to publish the best node (or another, by its levels):\n  {line}")
    return 0


def _render(result: Lattice, name: str, shown: int, out: Console) -> Iterator[RenderableType]:
    """Yield what a person reads: what was searched, the best nodes, the minimal nodes."""
    from rich.text import Text

    from wideberth.principles.base import rows_in_words

    ground = result.ground
    yield Text(
        f"{name}: {rows_in_words(ground.rows)}; a lattice of {result.nodes:,} nodes, "
        f"{result.checked:,} of them checked"
    )
    yield Text(f"principles: {', '.join(result.principles)}")
    yield Text(f"rows that may be suppressed: {ground.limit:,}\n")
    yield _nodes(result, f"best nodes by {result.measure}", result.best, out)
    mark = "✓ " if speaks_unicode(out) else "ok "
    found = result.found
    yield Text(
        (mark if result.proven else "")
        + certainty(result.nodes, result.measure, found.score, found.bound, result.proven)
        + "\n",
        style="green bold" if result.proven else "yellow bold",
    )
    yield Text("\n".join(_legend(result)) + "\n")
    if result.found_minimal is None:
        yield Text("minimal nodes are not listed: the lattice has too many nodes\n")
        return
    listed = result.minimal[:shown]
    title = f"minimal nodes: {len(result.minimal):,}" + ("" if result.complete else " found so far")
    yield _nodes(result, title, listed, out) if listed else Text(title)
    more = len(result.minimal) - len(listed)
    yield Text(f"… and {more:,} more (--minimal)\n" if more and listed else "")


def _legend(result: Lattice) -> Iterator[str]:
    """Yield what is published of each column on each level, by the most frequent value."""
    yield "levels, by what is published most often:"
    for quasi_level in result.ground.quasi_levels:
        named = zip(quasi_level.levels, result.examples[quasi_level.name], strict=True)
        said = [f"{level} {'the value' if text is None else text}" for level, text in named]
        yield f"  {quasi_level.name}: {', '.join(said)}"


def _nodes(
    result: Lattice, title: str, nodes: Sequence[NodeFigures], out: Console
) -> RenderableType:
    """Return a table of nodes; in a narrow terminal with less and less in it."""
    from rich.console import Group
    from rich.measure import Measurement
    from rich.text import Text

    others = [name for name in MEASURES if name != result.measure]
    for names, short in ((others, False), (others, True), ([], False), ([], True)):
        made = _table(result, title, nodes, [result.measure, *names], short)
        needed = Measurement.get(out, out.options.update(max_width=10_000), made).maximum
        if needed <= out.width:
            break
    note = Text("(other measures: a wider terminal, or --format json)", style="dim")
    return made if names else Group(made, note)


def _table(
    result: Lattice, title: str, nodes: Sequence[NodeFigures], measures: Sequence[str], short: bool
) -> Table:
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, collapse_padding=short, header_style="dim")
    made.title, made.title_style, made.title_justify = title, "bold", "left"
    highest = result.highest
    headings = [*highest, "suppressed", "groups", *measures]
    if short:
        headings = [_shortened(name) for name in highest] + [
            _BROKEN.get(name, name) for name in headings[len(highest) :]
        ]
    for heading in headings:
        made.add_column(Text(heading), justify="right", vertical="bottom", no_wrap=True)
    for node in nodes:
        made.add_row(
            *(f"{node.levels[column]}/{top}" for column, top in highest.items()),
            f"{node.suppressed:,}",
            f"{node.groups:,}",
            *(format_measure(node.scores[name]) for name in measures),
        )
    return made


def _shortened(name: str) -> str:
    return name if len(name) <= _SHORT else name[: _SHORT - 1] + "…"
