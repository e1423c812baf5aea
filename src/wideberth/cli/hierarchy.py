"""wideberth hierarchy show | validate | build."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import click

from wideberth.cli.options import (
    SETTINGS,
    console,
    echo_json,
    format_option,
    read_options,
    table_options,
)

if TYPE_CHECKING:
    import polars as pl

    from wideberth.hierarchy import Hierarchy

_PARENTS = click.option(
    "--parents", is_flag=True, help="FILE lists child and parent, not leaf paths."
)


@click.group(context_settings=SETTINGS)
def hierarchy() -> None:
    """Show, validate and build generalization hierarchies and semantic trees.

    A hierarchy file has one row a leaf (value;level1;level2;…;*), or with --parents one row a
    node (child;parent).

    \b
    wideberth hierarchy build --table people.csv --column age --interval 5,10,20 -o age.csv
    wideberth hierarchy show age.csv
    wideberth hierarchy validate age.csv --table people.csv --column age
    """


@hierarchy.command(context_settings=SETTINGS)
@click.argument("file", metavar="FILE")
@_PARENTS
@click.option(
    "--limit", type=click.IntRange(1), default=60, show_default=True, help="Nodes to draw."
)
@format_option()
def show(file: str, parents: bool, limit: int, form: str) -> int:
    """Draw the tree in FILE, with its levels and how many leaves are under each node.

    \b
    wideberth hierarchy show education.csv
    """
    from wideberth.hierarchy import outline, summary

    tree = _read(file, parents)
    facts = summary(tree)
    if form == "json":
        echo_json(facts)
        return 0
    out = console()
    shape = "all at equal depth" if facts["balanced"] else "at unequal depth"
    out.print(f"{file}: {facts['leaves']:,} leaves {shape}, {facts['levels']} levels")
    per_level = " → ".join(f"{many:,}" for many in facts["nodes_per_level"])
    out.print(f"distinct values per level: {per_level}\n")
    drawn = outline(tree, limit)
    for depth, label, leaves in drawn:
        under = f"  ({leaves:,})" if leaves > 1 else ""
        out.print(f"{'  ' * depth}{label}{under}")
    if len(drawn) < facts["nodes"]:
        out.print(f"… and {facts['nodes'] - len(drawn):,} more nodes (--limit)")
    return 0


@hierarchy.command(context_settings=SETTINGS)
@click.argument("file", metavar="FILE")
@_PARENTS
@click.option("--table", metavar="TABLE", help="A table whose values must all be in the hierarchy.")
@click.option("--column", metavar="COLUMN", help="The column of the table.")
@table_options
@format_option()
def validate(
    file: str,
    parents: bool,
    table: str | None,
    column: str | None,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    form: str,
) -> int:
    """Check that FILE nests consistently and, with --table, holds every value of a column.

    \b
    wideberth hierarchy validate zip.csv --table people.csv --column zip
    """
    if (table is None) != (column is None):
        raise click.UsageError("--table and --column go together")
    tree = _read(file, parents)
    checked = ""
    if table is not None and column is not None:
        series = _column(table, column, delimiter, encoding, missing)
        tree.require(series.to_list(), column)
        checked = f", and every value of '{column}'"
    if form == "json":
        echo_json({"file": file, "consistent": True, "table": table, "column": column})
        return 0
    click.echo(f"{file} is consistent: {len(tree.leaves):,} leaves, {tree.levels} levels{checked}")
    return 0


@hierarchy.command(context_settings=SETTINGS)
@click.option("--table", required=True, metavar="TABLE", help="The table.")
@click.option("--column", required=True, metavar="COLUMN", help="The column to generalise.")
@click.option("--interval", metavar="W,…", help="Widths of intervals, each a multiple of the last.")
@click.option("--origin", metavar="N", help="Where an interval begins.  [default: 0]")
@click.option("--mask", type=click.IntRange(1), metavar="N", help="Mask 1 to N last characters.")
@click.option("--date", metavar="L,…", help="Some of day, month, quarter, year, decade.")
@click.option("--flat", is_flag=True, help="Nothing between a value and * above all of them.")
@click.option("-o", "--output", metavar="FILE", help="Where to write it.  [default: print it]")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@table_options
@format_option()
def build(
    table: str,
    column: str,
    interval: str | None,
    origin: str | None,
    mask: int | None,
    date: str | None,
    flat: bool,
    output: str | None,
    force: bool,
    delimiter: str | None,
    encoding: str | None,
    missing: str | None,
    form: str,
) -> int:
    """Build a hierarchy for the values of a column.

    \b
    wideberth hierarchy build --table people.csv --column age --interval 5,10,20 -o age.csv
    wideberth hierarchy build --table people.csv --column zip --mask 5 -o zip.csv
    wideberth hierarchy build --table people.csv --column born --date month,year -o born.csv
    wideberth hierarchy build --table people.csv --column sex --flat -o sex.csv
    """
    from wideberth import hierarchy as library
    from wideberth import tables

    if sum(way is not None for way in (interval, mask, date)) + flat != 1:
        raise click.UsageError("give exactly one of --interval, --mask, --date and --flat")
    if origin is not None and interval is None:
        raise click.UsageError("--origin goes with --interval")
    if output is not None:
        tables.check_target(output, force=force)
    values = _column(table, column, delimiter, encoding, missing).to_list()
    if interval is not None:
        tree = library.intervals(values, interval.split(","), origin or 0)
    elif mask is not None:
        tree = library.masks(values, mask)
    elif date is not None:
        tree = library.dates(values, date.split(","))
    else:
        tree = library.flat(values)
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows(tree.to_rows())
    if output is not None:
        tables.write_text(text.getvalue(), output, force=force)
        click.echo(f"wrote {output}: {len(tree.leaves):,} leaves, {tree.levels} levels", err=True)
    if form == "json":
        echo_json({"output": output, "rows": tree.to_rows()})
    elif output is None:
        click.echo(text.getvalue(), nl=False)
    return 0


def _read(file: str, parents: bool) -> Hierarchy:
    from wideberth.hierarchy import read_hierarchy, read_parents

    return (read_parents if parents else read_hierarchy)(file)


def _column(
    table: str, column: str, delimiter: str | None, encoding: str | None, missing: str | None
) -> pl.Series:
    import polars as pl

    from wideberth import tables
    from wideberth.subject import require_column

    frame = tables.read(table, read_options(delimiter, encoding, missing))
    require_column(frame, column)
    return frame[column].cast(pl.String)
