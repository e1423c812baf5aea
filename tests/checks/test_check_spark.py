"""check of a Spark DataFrame says what check in memory says of the same rows."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import wideberth as wb
from tests.naive import unnumbered
from wideberth.checks.check_spark import check_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PRINCIPLES = [
    "k-anonymity:k=3",
    "entropy-l:on=disease,l=2",
    "recursive-cl:on=disease,c=2,l=2",
    "t-closeness:on=salary,t=0.3,distance=ordered",
    "epsilon-m:on=salary,epsilon=20,m=2",
    "alpha-k:on=disease,alpha=0.5,k=2",
]


def people(rows: int = 400) -> pl.DataFrame:
    rng = random.Random(4)
    return pl.DataFrame(
        {
            "Age": [rng.choice([20, 30, None]) for _ in range(rows)],
            "age": [rng.choice(["2*", "3*", "it's", None]) for _ in range(rows)],
            "birth.day": [rng.choice([dt.date(1990, 1, 1), None]) for _ in range(rows)],
            "^s`x$": [rng.choice([0.5, 1.5]) for _ in range(rows)],
            "disease": [rng.choice(["flu", "ulcer", "cancer", None]) for _ in range(rows)],
            "salary": [Decimal(rng.randrange(100, 140)) / 10 for _ in range(rows)],
            "profile": [rng.choice([[0.5, 0.5], [0.1, 0.9], None]) for _ in range(rows)],
            "group": [rng.randrange(40) for _ in range(rows)],
        },
        schema_overrides={"salary": pl.Decimal(10, 1)},
    )


def in_spark(spark: SparkSession, frame: pl.DataFrame) -> Any:
    return spark.createDataFrame(frame.to_arrow(compat_level=pl.CompatLevel.oldest()))


QUASI = ["Age", "age", "birth.day", "^s`x$"]


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> Any:
    return in_spark(spark, people()).repartition(3).localCheckpoint()


@pytest.mark.parametrize("where", [{"quasi": QUASI}, {"group": "group"}], ids=["quasi", "group"])
def test_the_answer_is_that_of_memory(table: Any, where: dict[str, Any]) -> None:
    known = {**where, "sensitive": ["disease", "salary"], "principles": PRINCIPLES, "worst": 7}
    there, here = check_spark(table, **known), wb.check(people(), **known)
    assert unnumbered(there) == unnumbered(here)
    found = pl.DataFrame(pl.from_arrow(there.table.toArrow()))
    assert found.columns == here.table.columns
    assert sorted(map(str, found.rows())) == sorted(map(str, here.table.rows()))


def test_groups_must_be_uniform(spark: SparkSession, table: Any) -> None:
    known = {"sensitive": "disease", "group": "group", "principles": "k-anonymity:k=2"}
    there, here = check_spark(table, quasi=QUASI, **known), wb.check(people(), quasi=QUASI, **known)
    assert unnumbered(there) == unnumbered(here)
    assert there.uneven.columns == QUASI
    even = people().with_columns(pl.lit("*").alias("age"), pl.lit(None, pl.Int64).alias("Age"))
    assert check_spark(in_spark(spark, even), quasi=["age", "Age"], **known).uneven is None


def test_vectors_and_their_distances(table: Any) -> None:
    known = {
        "quasi": "Age",
        "sensitive": "profile",
        "principles": "dissimilarity:epsilon=0.1,delta=0.5,k=5,distance=variational",
    }
    there = check_spark(table, **known)
    assert unnumbered(there) == unnumbered(wb.check(people(), **known))
    with pytest.raises(wb.ParameterError, match="claims"):
        there.principles[0].claims()


def test_a_function_of_the_users_is_the_distance(table: Any) -> None:
    principle = wb.Dissimilarity(
        epsilon=1, delta=0.5, k=2, distance=lambda a, b: abs(len(a) - len(b))
    )
    known = {"quasi": "age", "sensitive": "disease", "principles": principle}
    there = check_spark(table, **known)
    assert unnumbered(there) == unnumbered(wb.check(people(), **known))
    assert there.principles[0].principle is principle


def test_what_is_refused(spark: SparkSession, table: Any) -> None:
    with pytest.raises(wb.ParameterError, match="reference is for a table in memory"):
        check_spark(table, quasi="age", principles="k-anonymity:k=2", reference=people())
    with pytest.raises(wb.WideberthError, match="did you mean 'disease'"):
        check_spark(table, quasi="age", sensitive="diseas", principles="distinct-l:l=2")
    with pytest.raises(wb.WideberthError, match="lists or structs"):
        check_spark(table, quasi="profile", principles="k-anonymity:k=2")
    odd = in_spark(spark, pl.DataFrame({"a": [1.0, float("nan")], "b": [None, None]}))
    with pytest.raises(wb.WideberthError, match="column 'a': NaN is neither"):
        check_spark(odd, quasi="a", principles="k-anonymity:k=2")
    empty = in_spark(spark, pl.DataFrame({"a": ["x"], "b": pl.Series([None], dtype=pl.String)}))
    with pytest.raises(wb.WideberthError, match="'b' is missing in every row"):
        check_spark(empty, quasi="b", principles="k-anonymity:k=2")
    with pytest.raises(wb.WideberthError, match="the table has no rows"):
        check_spark(empty.filter("a = 'y'"), quasi="a", principles="k-anonymity:k=2")


def test_a_collation_makes_no_texts_equal(spark: SparkSession) -> None:
    loose = spark.sql(
        "SELECT collate(q, 'UTF8_LCASE') AS q, s FROM VALUES ('a', 1), ('A', 2) AS t(q, s)"
    )
    assert check_spark(loose, quasi="q", principles="k-anonymity:k=1").groups == 2


def test_text_is_read_as_in_memory(spark: SparkSession) -> None:
    """Quasi-identifiers that are written in several ways, and numbers that floats would round."""
    frame = pl.DataFrame(
        {
            "weight": ["1.1", "1.10", "2", "+2.0", None, "30"],
            "zip": ["10", "9", "9", "9", "10", "10"],
            "pay": ["9223372036854776831", "9223372036854776833", "1.5", "2", "7", "9"],
        }
    )
    known: dict[str, Any] = {
        "quasi": ["weight"],
        "sensitive": "pay",
        "principles": ["k-anonymity:k=2", "epsilon-m:epsilon=1.5,m=2"],
    }
    for asked in (known, {**known, "types": {"weight": "text"}}, {**known, "quasi": ["zip"]}):
        there, here = check_spark(in_spark(spark, frame), **asked), wb.check(frame, **asked)
        assert unnumbered(there) == unnumbered(here)
    assert wb.check(frame, **known).groups == 4
