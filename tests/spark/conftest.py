"""One Spark session for all tests here, in the process that runs them.

PySpark warns that it does not know pandas 3 well. Our library keeps that quiet, but these tests
call PySpark themselves.
"""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What PySpark says to whoever has pandas 3.
PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put Spark's tests first.

    pytest-xdist deals tests to processes in one piece each, and idle processes steal from the end
    of a piece. So what comes first stays with the first process, and there is one Java process.
    """
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(PANDAS))
    items.sort(key=lambda item: here not in item.path.parents)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start Spark on two cores, with this very Python as its executors'."""
    pytest.importorskip("pyspark", reason="no PySpark: pip install '.[spark]'")
    if shutil.which("java") is None:
        pytest.skip("no Java: apt install openjdk-17-jre-headless")
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").appName("wideberth's tests")
        warehouse = str(tmp_path_factory.mktemp("warehouse"))
        session = (
            builder.config("spark.sql.warehouse.dir", warehouse).config(map=SETTINGS).getOrCreate()
        )
    yield session
    session.stop()
