"""What the executors have: a Python that fits, wideberth itself, and what it needs.

Executors unpickle our functions by name, so they need the package, in our version. Their Python is
named by PYSPARK_PYTHON; without that it is whatever ``python3`` is there, in local mode too, even
if the driver runs in a virtual environment. All of this is asked before the work, in one small job.
"""

from __future__ import annotations

import atexit
import platform
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth.engines.spark.failures import python_setting, readable_spark_errors
from wideberth.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What our functions import on executors.
EXECUTOR_PACKAGES = ("pyarrow", "numpy", "numba", "polars")
_ITSELF = "wideberth"
_SHIP = "or send it there: wideberth.engines.spark.executors.ship(spark)"
#: What was found, by application: it is asked once for each.
_FOUND: dict[str, dict[str, str]] = {}


def require_executors(spark: SparkSession) -> dict[str, str]:
    """Return the versions that executors have, if they can run wideberth."""
    # Tasks go where there is room, so an executor that differs from the others may be overlooked;
    # its first task fails then, and says so.
    context = spark.sparkContext
    known = _FOUND.get(context.applicationId)
    if known is None:
        with readable_spark_errors():
            answers = probe_executors(spark)
        for answer in answers:
            _judge(answer, context.pythonExec)
        known = _FOUND[context.applicationId] = answers[0]["versions"]
    return known


def ship(spark: SparkSession) -> None:
    """Send this installation of wideberth to the executors of a session."""
    # For clusters that have what wideberth needs (pyarrow, numpy, numba, polars) but not wideberth.
    context, package = spark.sparkContext, Path(__file__).parents[2]
    folder = tempfile.mkdtemp(prefix="wideberth-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # till then executors may ask for it
    archive = Path(folder) / f"{_ITSELF}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for file in sorted(package.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                zipped.write(file, file.relative_to(package))
    with readable_spark_errors():
        # Unpacked where executors look for modules. As a zip file (addPyFile) it could be imported,
        # but some of it, and numba's cache of compiled code, want files.
        context.addArchive(f"{archive}#{_ITSELF}")
    # Another environment makes for new processes: the old may have imported another version.
    context.environment["WIDEBERTH_SHIPPED"] = folder
    _FOUND.pop(context.applicationId, None)


def probe_executors(spark: SparkSession) -> list[dict[str, Any]]:
    """Ask executors where they are and which versions they have."""
    # By plain RDDs, which need nothing there but Python: a missing pyarrow is an answer, too.
    asked = (_ITSELF, *EXECUTOR_PACKAGES)

    # Within this function, for it must be pickled by value, whatever the executors lack.
    def versions(_: Iterable[int]) -> Iterator[dict[str, Any]]:
        import importlib
        import platform
        import socket

        found = {"python": platform.python_version()}
        broken = {}
        for name in asked:
            try:
                found[name] = str(importlib.import_module(name).__version__)
            except Exception as error:
                broken[name] = type(error).__name__
        yield {"host": socket.gethostname(), "versions": found, "broken": broken}

    context = spark.sparkContext
    tasks = min(max(2, context.defaultParallelism), 64)
    return context.parallelize(range(tasks), tasks).mapPartitions(versions).collect()


def _judge(answer: dict[str, Any], executable: str) -> None:
    """Raise if an executor cannot run wideberth."""
    where, versions, broken = f"on {answer['host']}", answer["versions"], answer["broken"]
    setting = python_setting(executable)
    here, there = platform.python_version(), versions["python"]
    if _minor(here) != _minor(there):
        what = f"executors run Python {there} ({where}), the driver {here}"
        raise EngineError(what, hint=setting)
    for name in EXECUTOR_PACKAGES:
        if name in broken:
            lacks = "lacks" if broken[name] == "ModuleNotFoundError" else "cannot import"
            what = f"the executors' Python {lacks} {name} ({where})"
            raise EngineError(what, hint=f"{setting}; pip install wideberth brings it along")
    if _ITSELF in broken:
        what = f"wideberth cannot be imported by the executors' Python ({where})"
        raise EngineError(what, hint=f"{setting}; {_SHIP}")
    if versions[_ITSELF] != version(_ITSELF):
        what = (
            f"executors have wideberth {versions[_ITSELF]} ({where}), the driver {version(_ITSELF)}"
        )
        raise EngineError(what, hint=f"install the same version there, {_SHIP}")


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]
