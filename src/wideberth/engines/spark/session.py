"""A Spark session of our own, for the command line alone.

Whatever Spark and Java have to say goes to a file that is removed with the session: what a user
reads are our messages. WIDEBERTH_TRACEBACK=1 lets them speak.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wideberth.engines.spark.failures import is_spark_error, translate_spark_error
from wideberth.errors import EngineError, what_to_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# -----------------------------------------------------------------------------
# Whether a table is Spark's, and its session one that we can work in.


#: The major version whose plans, errors and Arrow functions this engine knows.
MAJOR = 4
INSTALL_SPARK = "pip install 'wideberth[spark]'"
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
        raise EngineError("PySpark is not installed", hint=INSTALL_SPARK) from None
    if _release(pyspark.__version__)[0] != MAJOR:
        what = f"wideberth needs PySpark {MAJOR}, and {pyspark.__version__} is installed"
        raise EngineError(what, hint=INSTALL_SPARK)


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


# -----------------------------------------------------------------------------
# A Spark session of our own, for the command line alone.


#: Spark 4 runs on no older Java.
JAVA = 17
_INSTALL = f"install Java {JAVA} (apt install openjdk-{JAVA}-jre-headless), or set JAVA_HOME"
_SECONDS = 10
_LOOPBACK = "127.0.0.1"
_MASTERS = "local[4], spark://HOST:PORT, yarn and k8s://HOST:PORT are masters"
_KNOWN = re.compile(r"local(\[.*\])?$|local-cluster\[|spark://|yarn$|k8s://")
#: Used unless spark-defaults.conf or PYSPARK_SUBMIT_ARGS say otherwise.
_USUAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}


@contextmanager
def open_spark_session(master: str | None) -> Iterator[SparkSession]:
    """Start a Spark session, and stop it at the end."""
    require_pyspark()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        running = SparkContext._active_spark_context
        # A session that this process has already is left on: it is somebody else's.
        if running is not None:
            if master not in (None, running.master):
                what = f"there is a Spark session already, with the master {running.master}"
                raise EngineError(
                    what,
                    hint=what_to_type(
                        python="stop that session",
                        command="leave out --master, or stop that session",
                    ),
                )
            yield SparkSession.builder.getOrCreate()
            return
        _require_java()
        address = _reached(master)
        with tempfile.TemporaryDirectory(prefix="wideberth-spark-") as folder:
            log = Path(folder) / "log"
            try:
                yield _started(master, address, log)
            finally:
                _ended()


def _started(master: str | None, address: str | None, log: Path) -> SparkSession:
    """Start Java, and in it a Spark session."""
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.sql import SparkSession

    try:
        if SparkContext._gateway is None:
            with _silent(log) as output:
                launch: Any = java_gateway.launch_gateway  # without types
                gateway = launch(popen_kwargs=output)
            SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
        conf = SparkConf()  # with what spark-defaults.conf says, now that Java runs
        conf.setAppName("wideberth")
        if master is not None:
            conf.setMaster(master)
        conf.setIfMissing("spark.master", "local[*]")
        local = (conf.get("spark.master") or "").startswith("local")
        if local:
            conf.setIfMissing("spark.driver.bindAddress", _LOOPBACK)
            address = _LOOPBACK
        if address is not None:
            conf.setIfMissing("spark.driver.host", address)
        for key, value in _USUAL.items():
            conf.setIfMissing(key, value)
        with _same_python() if local else nullcontext():
            return SparkSession(SparkContext(conf=conf))
    except Exception as error:
        if not is_spark_error(error):
            raise
        raise _reason(error, master, log) from None


@contextmanager
def _same_python() -> Iterator[None]:
    """Let a context that starts run our own Python, unless another was asked for."""
    if "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        del os.environ["PYSPARK_PYTHON"]


@contextmanager
def _silent(log: Path) -> Iterator[dict[str, Any]]:
    """Yield where Java's output is to go; that of its Python workers follows it."""
    if os.environ.get("WIDEBERTH_TRACEBACK"):
        yield {}
    else:
        with log.open("wb") as file:
            yield {"stdout": file, "stderr": file}


def _ended() -> None:
    """Stop whatever has been started of Spark, and the Java process with it."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    for running in (SparkSession._instantiatedSession, SparkContext._active_spark_context):
        if running is not None:
            with suppress(Exception):  # it may have broken down already
                running.stop()
    gateway: Any = SparkContext._gateway
    if gateway is None or getattr(gateway, "proc", None) is None:
        return  # none has been started, or spark-submit did
    SparkContext._gateway = SparkContext._jvm = None
    with suppress(Exception):
        gateway.shutdown()
    process: subprocess.Popen[bytes] = gateway.proc
    with suppress(OSError):
        process.stdin.close()  # type: ignore[union-attr]  # the end of it is what Java waits for
    try:
        process.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _reason(error: Exception, master: str | None, log: Path) -> EngineError:
    """Return the error that says why Spark did not start."""
    with suppress(Exception):
        text = str(error)
        if "Master URL" in text:
            return EngineError(f"Spark knows no master {master!r}", hint=_MASTERS)
    said = ""
    with suppress(OSError):
        lines = log.read_text(errors="replace").splitlines()
        told = [line for line in lines if re.match(r"(Error|Exception|\S*Exception:)", line)]
        said = f": {told[0][:200]}" if told else ""
    if said or "JAVA_GATEWAY_EXITED" in str(error):
        hint = "look at SPARK_HOME and PYSPARK_SUBMIT_ARGS; WIDEBERTH_TRACEBACK=1 tells more"
        return EngineError(f"Spark did not start{said}", hint=hint)
    if master is not None and master.startswith("spark://"):
        what = f"what answers at {master} does not take us in"
        return EngineError(what, hint="check that it is a Spark master, of the version of PySpark")
    found = translate_spark_error(error)
    return EngineError(f"Spark did not start: {found.what}", hint=found.hint)


def _require_java() -> None:
    """Raise unless there is a Java that Spark runs on."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return  # spark-submit has started it
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        at = f" at JAVA_HOME ({home})" if home else ""
        raise EngineError(f"Spark needs Java, and there is none{at}", hint=_INSTALL)
    try:
        said = subprocess.run(  # noqa: S603 - the very program that Spark would run
            [java, "-version"], capture_output=True, text=True, timeout=6 * _SECONDS, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        raise EngineError(f"Java ({java}) does not run", hint=_INSTALL) from None
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if version is None or int(version[1]) < JAVA:
        had = f"Java {version[1]}" if version else "an unknown version"
        raise EngineError(f"Spark needs Java {JAVA} or newer, and {java} is {had}", hint=_INSTALL)


def _reached(master: str | None) -> str | None:
    """Return our address as a standalone master sees it, which is where executors find us."""
    # Spark itself would look for a master for a minute, and then give up without a word why.
    if master is not None and not _KNOWN.match(master):
        raise EngineError(f"Spark knows no master {master!r}", hint=_MASTERS)
    if master is None or not master.startswith("spark://"):
        return None
    for place in master.removeprefix("spark://").split(","):
        host, colon, port = place.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise EngineError(f"Spark knows no master {master!r}", hint=_MASTERS)
        with (
            suppress(OSError, OverflowError),
            socket.create_connection((host.strip("[]"), int(port)), timeout=_SECONDS) as line,
        ):
            return str(line.getsockname()[0])
    what = f"no Spark master answers at {master}"
    raise EngineError(what, hint="check host and port, and that the master runs")
