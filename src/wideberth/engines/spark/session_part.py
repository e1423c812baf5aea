"""Whether a table is Spark's, and its session one that we can work in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from wideberth.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The major version whose plans, errors and Arrow functions this engine knows.
MAJOR = 4
INSTALL = "pip install 'wideberth[spark]'"
_CONNECT = "pyspark.sql.connect.dataframe"


def require_session(frame: Any) -> SparkSession:
    """Return the session of a PySpark DataFrame, if we can work in it."""
    require_pyspark()
    if _is_from(frame, _CONNECT):
        # It has neither broadcasts nor plans.
        what = "the table is a Spark Connect DataFrame, which lacks what wideberth needs of Spark"
        hint = "make it in a classic session: SparkSession.builder.master(…), not .remote(…)"
        raise EngineError(what, hint=hint)
    spark: SparkSession = frame.sparkSession
    if is_stopped(spark):
        what = "the Spark session of the table is stopped"
        raise EngineError(what, hint="make the table anew in a session that runs, and leave it on")
    _require_versions(spark)
    return spark


def require_pyspark() -> None:
    """Raise unless there is PySpark of a version that we know."""
    try:
        import pyspark
    except ImportError:
        raise EngineError("PySpark is not installed", hint=INSTALL) from None
    if _release(pyspark.__version__)[0] != MAJOR:
        what = f"wideberth needs PySpark {MAJOR}, and {pyspark.__version__} is installed"
        raise EngineError(what, hint=INSTALL)


def is_stopped(spark: SparkSession) -> bool:
    """Return whether a session cannot run anything any more."""
    context = spark.sparkContext._jsc
    return context is None or bool(context.sc().isStopped())


def _require_versions(spark: SparkSession) -> None:
    import pyspark

    here, there = pyspark.__version__, spark.version
    if _release(there)[0] != MAJOR:
        what = f"wideberth needs Spark {MAJOR}, and the session runs {there}"
        raise EngineError(what, hint=f"use a cluster with Spark {MAJOR}")
    if _release(here) != _release(there):
        what = f"PySpark {here} does not fit the session's Spark {there}"
        raise EngineError(
            what, hint=f"pip install 'pyspark=={'.'.join(map(str, _release(there)))}.*'"
        )


def _release(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, whatever a vendor has put after them."""
    return tuple(map(int, re.findall(r"\d+", version)[:2])) or (0,)


def _is_from(table: object, module: str) -> bool:
    kinds = type(table).__mro__
    return any(kind.__name__ == "DataFrame" and kind.__module__ == module for kind in kinds)
