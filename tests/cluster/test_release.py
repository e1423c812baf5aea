"""A machine dies while a release is made, and the release is what it would have been."""

from __future__ import annotations

import polars as pl
import pytest

import wideberth as wb
from tests.cluster.cluster import reducing, run_with_a_kill
from tests.engines.spark.emulation import groups_of
from wideberth import datasets

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
QUASI = ["age", "birthplace", "occupation"]
ASKED = {
    "quasi": QUASI,
    "sensitive": "income",
    "insensitive": "visit",
    "principles": ["epsilon-m:epsilon=3000,m=5", "k-anonymity:k=6"],
    "seed": 11,
}


@pytest.mark.parametrize("late", [False, True], ids=["before parts are read", "in the last stage"])
def test_the_release_is_the_same(cluster, late):
    people = datasets.sal(120_000, seed=3).with_row_index("visit")
    path = cluster.folder / "people.parquet"
    people.write_parquet(path, row_group_size=10_000)
    phases = set()

    def job(spark):
        frame = spark.read.parquet(str(path)).repartition(8, "visit")
        told = lambda phase, done, rows: phases.add(phase)  # noqa: E731
        release = wb.anonymize(frame, **ASKED, bucket_rows=6_000, progress=told)
        return pl.DataFrame(pl.from_arrow(release.table.toArrow()))

    def time_to_kill(spark):
        # Before the last stage what the others have written is lost; in it, parts are as well.
        return "finishing" in phases and (not late or reducing(spark))

    outcome = run_with_a_kill(
        cluster, job, when=time_to_kill, settings={"spark.sql.shuffle.partitions": "8"}
    )
    columns = [*QUASI, "income"]
    whole = wb.anonymize(people, **ASKED)
    assert groups_of(outcome.result, columns).equals(groups_of(whole.table, columns))
    # No row is lost, and none is there twice.
    assert outcome.result["visit"].sort().to_list() == list(range(people.height))
    assert outcome.lost >= 1
    assert outcome.retried or not late, "the killed worker had nothing that was needed"
    assert outcome.seconds < 240
