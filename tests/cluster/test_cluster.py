"""A machine dies in the last stage, and the result is what it would have been."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import wideberth
from tests.cluster.cluster import Cluster, reducing, run_with_a_kill, running
from wideberth.engines.spark.executors import require_executors, ship
from wideberth.engines.spark.session import open_spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)
ROWS, GROUPS = 20_000, 40


def counting(signal: Path) -> Callable[[SparkSession], dict[int, int]]:
    """Return a job with a shuffle: rows are given groups, and groups are counted slowly."""

    def job(spark: SparkSession) -> dict[int, int]:
        # Nested, so that they are pickled by value: executors do not have this module.
        def grouped(batches):
            import time

            import pyarrow as pa

            for batch in batches:
                time.sleep(0.2)  # so that no executor does all of it
                groups = [number % GROUPS for number in batch["id"].to_pylist()]
                yield pa.RecordBatch.from_pydict({"group": groups, "id": batch["id"]})

        def counted(key, table):
            import time

            import pyarrow as pa

            signal.touch()  # groups arrive, so the shuffle has been written
            time.sleep(0.2)
            return pa.table({"group": [key[0].as_py()], "rows": [table.num_rows]})

        frame = spark.range(0, ROWS, 1, 8).mapInArrow(grouped, "group long, id long")
        groups = frame.groupBy("group").applyInArrow(counted, "group long, rows long")
        return {row.group: row.rows for row in groups.collect()}

    return job


@pytest.mark.parametrize("when", [None, reducing], ids=["a task says so", "by Spark's status"])
def test_a_worker_dies_in_the_last_stage(cluster, when):
    outcome = run_with_a_kill(
        cluster,
        counting(cluster.signal),
        when=when,
        settings={"spark.sql.shuffle.partitions": "8"},
    )
    assert outcome.result == dict.fromkeys(range(GROUPS), ROWS // GROUPS)
    assert outcome.lost >= 1
    assert outcome.retried, "the killed worker had nothing that was needed"
    assert outcome.seconds < 180
    assert [process.popen.poll() is None for process in cluster.workers] == [False, True]


def test_the_command_lines_own_session_on_a_cluster(cluster, monkeypatch):
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    with open_spark_session(cluster.url) as spark:
        assert spark.sparkContext.master == cluster.url
        assert require_executors(spark)["wideberth"] == wideberth.__version__
        ship(spark)
        require_executors(spark)

        def place(_):
            import wideberth

            yield wideberth.__file__

        tasks = spark.sparkContext.parallelize(range(4), 4)
        places = {Path(file) for file in tasks.mapPartitions(place).collect()}
    assert places
    assert all(cluster.folder in file.parents for file in places), places  # where executors work


def test_everything_ends_when_the_test_fails(tmp_path):
    with pytest.raises(KeyError), running(tmp_path, workers=1) as cluster:
        fail_if_running(cluster)
    assert cluster.alive() == []


def fail_if_running(cluster: Cluster) -> None:
    assert any("Worker" in line for line in cluster.alive())
    raise KeyError
