"""advise of a Spark DataFrame says what advise of the same table says in memory."""

from __future__ import annotations

import datetime as dt
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import wideberth as wb
from tests import samples
from wideberth.checks.advise_large import advise_spark
from wideberth.errors import WideberthError
from wideberth.principles import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def people(rows: int = 200) -> pl.DataFrame:
    rng = random.Random(5)

    def some(*values: Any) -> list[Any]:
        return [rng.choice(values) for _ in range(rows)]

    return pl.DataFrame(
        {
            "salary": some(*range(1000, 1300, 7), 1000, None),
            "Salary": some("1.1", "1.10", "2", None),
            "a disease.x": some("flu", "cold", "ulcer", None),
            "born": some(dt.date(1990, 1, 1), dt.date(1950, 5, 17), None),
            "profile": some([0.5, 0.5], [0.25, 0.75], None),
        }
    )


def test_advice_is_that_of_memory(spark: SparkSession) -> None:
    frame = people()
    table = spark.createDataFrame(frame.to_arrow())
    for name in ("salary", "Salary", "born"):
        there, here = advise_spark(table, name), wb.advise(frame, name)
        assert there.to_dict(epsilon=20, m=3) == here.to_dict(epsilon=20, m=3)
        principle = parse("epsilon-m:epsilon=100,m=60")
        assert str(there.refusal(principle)) == str(here.refusal(principle))
    tree = samples.hierarchy({"any": None, "flu": "any", "cold": "any", "ulcer": "any"})
    known: dict[str, Any] = {"hierarchies": {"a disease.x": tree}}
    there, here = (
        f(t, "a disease.x", **known) for f, t in ((advise_spark, table), (wb.advise, frame))
    )
    assert there.to_dict() == here.to_dict()
    there, here = advise_spark(table, "profile"), wb.advise(frame, "profile")
    asked = {"epsilon": 0.1, "delta": 0.5, "k": 3}
    assert there.dissimilarity().to_dict(**asked) == here.dissimilarity().to_dict(**asked)


@pytest.mark.parametrize(
    ("known", "message"),
    [({"sensitive": "salry"}, "no column 'salry'"), ({}, "is not said")],
)
def test_bad_input(spark: SparkSession, known: dict[str, Any], message: str) -> None:
    table = spark.createDataFrame(people(5).to_arrow())
    with pytest.raises(WideberthError, match=message):
        advise_spark(table, **known)


def test_a_table_without_rows(spark: SparkSession) -> None:
    table = spark.createDataFrame(people(5).to_arrow()).limit(0)
    with pytest.raises(wb.TableError, match="no rows"):
        advise_spark(table, "salary")


def test_a_spark_table_is_not_measured(spark: SparkSession) -> None:
    table = spark.createDataFrame(people(5).to_arrow())
    with pytest.raises(wb.ParameterError, match="Spark DataFrame cannot be measured"):
        wb.measure(table, quasi="salary")
