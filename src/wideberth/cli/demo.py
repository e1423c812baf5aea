"""wideberth demo."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from wideberth.cli.check import render
from wideberth.cli.options import SETTINGS, console, echo_json, format_option

if TYPE_CHECKING:
    import polars as pl

    from wideberth.results import CheckResult


@click.command(context_settings=SETTINGS)
@click.option(
    "--rows",
    type=click.IntRange(100),
    default=10_000,
    show_default=True,
    help="How many people to make up.",
)
@click.option("-o", "--output", metavar="DIR", help="Keep the demo's files there.")
@click.option("--force", is_flag=True, help="Overwrite files of an earlier demo.")
@format_option()
def demo(rows: int, output: str | None, force: bool, form: str) -> int:
    """Show on made-up tables what the principles see, and what they do not.

    \b
    wideberth demo -o demo      keeps the tables and the policy to play with
    """
    from wideberth import datasets, schema, tables
    from wideberth.checking import check

    out = console()
    found: dict[str, Any] = {}

    def told(text: str) -> None:
        if form == "text":
            out.print(f"\n{text}\n", style="bold")

    def shown(name: str, result: CheckResult) -> None:
        found[name] = result.to_dict()
        if form == "text":
            for part in render(result, name, out):
                out.print(part)

    told("1. Four salaries, all different, and yet three of them are 'about 1000' (Li et al. 2008)")
    shown(
        "Table 1b",
        check(
            datasets.li2008_table1b(),
            quasi=["age", "zip"],
            sensitive="salary",
            principles=["k-anonymity:k=2", "distinct-l:l=2", "epsilon-m:epsilon=100,m=2"],
        ),
    )
    with TemporaryDirectory() as temporary:
        folder = Path(output or temporary)
        _make(folder, force)
        told(f"2. A census of {rows:,} made-up people: what init guesses about it")
        tables.write(datasets.census(rows), folder / "census.csv", force=force)
        frame = tables.read(folder / "census.csv")
        policy = schema.policy_text(schema.guess(frame), "census.csv")
        tables.write_text(policy, folder / "policy.toml", force=force)
        if form == "text":
            click.echo(policy)

        told("3. The census as it is: nearly everyone is alone with age, zip, sex and education")
        shown("census.csv", check(frame, policy=folder / "policy.toml", worst=3))

        told("4. The same, much coarser: k-anonymous and diverse, but not far apart")
        coarse = _generalized(frame)
        tables.write(coarse, folder / "generalized.csv", force=force)
        shown(
            "generalized.csv",
            check(
                coarse,
                quasi=["age", "zip", "sex"],
                sensitive=["disease", "salary"],
                principles=[
                    "k-anonymity:k=5",
                    "distinct-l:on=disease,l=3",
                    "distinct-l:on=salary,l=5",
                    "epsilon-m:on=salary,epsilon=2000,m=5",
                    "delta-l:on=salary,delta=2000,l=5",
                ],
                worst=3,
            ),
        )
    if form == "json":
        echo_json(found)
    elif output is not None:
        click.echo(f"\nkept in {output}: census.csv, policy.toml, generalized.csv")
        click.echo(
            f"next: wideberth check {Path(output, 'generalized.csv')} --qi age,zip,sex"
            " --sensitive salary --principle epsilon-m:epsilon=2000,m=2"
        )
    return 0


def _make(folder: Path, force: bool) -> None:
    """Make the folder, and refuse it before the work if it holds an earlier demo."""
    from wideberth.errors import OutputError
    from wideberth.tables import check_target

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"{folder} cannot be made: {error.strerror}"
        raise OutputError(what, hint="name a new directory") from None
    for name in ("census.csv", "policy.toml", "generalized.csv"):
        check_target(folder / name, force=force)


def _generalized(people: pl.DataFrame) -> pl.DataFrame:
    """Coarsen the census by hand, as many a table is published today."""
    import polars as pl

    band = pl.col("age").cast(pl.Int64) // 30
    labels = {0: "under 30", 1: "30 to 59"}
    return (
        people.drop("id", "education")
        .drop_nulls("zip")
        .with_columns(
            band.replace_strict(labels, default="60 and over").alias("age"),
            (pl.col("zip").str.slice(0, 1) + "****").alias("zip"),
        )
    )
