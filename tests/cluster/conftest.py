"""Tests on a cluster take a minute and several Java processes: `make test-cluster` runs them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster, running

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests here unless they are asked for."""
    if "WIDEBERTH_CLUSTER" not in os.environ:
        for item in items:
            if HERE in item.path.parents and item.path.name.startswith("test_"):
                item.add_marker(pytest.mark.skip(reason="on a cluster: make test-cluster"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a master and two workers with one core each."""
    pytest.importorskip("pyspark", reason="no PySpark: pip install '.[spark]'")
    if shutil.which("java") is None:
        pytest.skip("no Java: apt install openjdk-17-jre-headless")
    with running(tmp_path) as started:
        yield started
    assert started.alive() == []
