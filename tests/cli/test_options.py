"""The options of the command line that say where the work is done."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from wideberth.cli.options import (
    EngineOptions,
    bucket_option,
    chosen_engine,
    engine_options,
    memory_option,
)
from wideberth.core.memory import parse_size
from wideberth.errors import ParameterError


@click.command()
@engine_options
@memory_option
@bucket_option
def command(**said) -> None:
    engine = chosen_engine(**said)
    click.echo(f"{engine.name} {engine.master} {engine.memory} {engine.bucket_rows}")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("", "memory None None None"),
        ("--engine memory --memory 640MB", "memory None 640MB None"),
        ("--memory 2GB --bucket-rows 9", "memory None 2GB 9"),
        ("--engine spark", "spark None None None"),
        ("--engine spark --master local[4] --bucket-rows 9", "spark local[4] None 9"),
    ],
)
def test_options(line, told):
    done = CliRunner().invoke(command, line.split())
    assert (done.exit_code, done.output) == (0, f"{told}\n")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--master local[4]", "--master is for --engine spark"),
        ("--engine memory --bucket-rows 3", "--bucket-rows is for --memory and --engine spark"),
        ("--engine spark --memory 2GB", "--memory is for files"),
        ("--engine dask", "'dask' is not one of"),
        ("--engine spark --bucket-rows 0", "0 is not in the range"),
    ],
)
def test_wrong_usage(line, told):
    done = CliRunner().invoke(command, line.split())
    assert done.exit_code == 2
    assert told in done.output


def test_help():
    assert "spark://HOST:7077" in CliRunner().invoke(command, ["--help"]).output


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2**31),
        ("2 gb", 2**31),
        (" 2g ", 2**31),
        ("2GiB", 2**31),
        ("1.5TB", 3 * 2**39),
        ("64MB", 2**26),
        ("4096K", 2**22),
    ],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2", "has no unit"),
        ("2.5", "has no unit"),
        ("", "is not one"),
        ("GB", "is not one"),
        ("-1GB", "is not one"),
        ("2 XB", "is not one"),
        ("1e3GB", "is not one"),
        ("nan", "is not one"),
        ("0GB", "less than 1 MB"),
        ("1KB", "less than 1 MB"),
    ],
)
def test_sizes_that_are_none(text, told):
    with pytest.raises(ParameterError, match=told) as caught:
        parse_size(text)
    assert caught.value.hint


def test_in_memory_a_table_is_its_path():
    with EngineOptions().table("people.csv") as table:
        assert table == Path("people.csv")


def test_on_spark_it_is_a_dataframe(spark, tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,salary\n30,NA\n40,2000\n")
    with EngineOptions("spark").table(str(path)) as table:
        assert [tuple(row) for row in table.collect()] == [("30", None), ("40", "2000")]
    assert spark.range(2).count() == 2
