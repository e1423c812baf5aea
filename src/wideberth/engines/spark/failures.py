"""Spark's failures in one sentence each: no Java stack trace, and no value of the table.

What Spark and Python say of a failed task may quote a cell ("cannot be cast", "invalid literal").
So only errors of our own, which never do, and those of a query's analysis, which has seen no cell,
come through with their text. Of all others the kind is told, and where it was.
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from wideberth.errors import EngineError, InfeasibleError, WideberthError

#: PySpark writes failed queries to these, with values and Java stack trace, to standard error.
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_OURS = re.compile(r"^\s*wideberth\.(?:\w+\.)*(\w+): (.+)(?:\n\s*try: (.+))?", re.M)
_PLACE = re.compile(r'^\s*File ".*?([^/\\"]+)", line (\d+)', re.M)
_PYTHON = re.compile(r"^\s*(?:\w+\.)*(\w+(?:Error|Exception|Interrupt|Exit))\b(?!\()", re.M)
_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_JAVA = re.compile(r"((?:\w+\.)+(\w+(?:Error|Exception|Failure)))\b")
_CONDITION = re.compile(r"\[([A-Z][A-Z_]+(?:\.[A-Z_]+)?)\] ?")

_LOG = "look into the log of the executors (it may include values of the table)"
_MEMORY = "give executors more memory (spark.executor.memory, spark.executor.memoryOverhead)"
#: Java fixes its heap when it starts: later it is too late to say how large.
_HEAP = (
    "give Java more before the session starts: spark.driver.memory where Spark runs on this "
    "machine (PYSPARK_SUBMIT_ARGS='--driver-memory 8g pyspark-shell'), spark.executor.memory on a "
    "cluster"
)
#: Spark stops the session as well when its heap is full, and does not say that it was.
_STOPPED = (
    "if you did not stop it, Java may have run out of heap: " + _HEAP + "; else leave it on during "
    "the work, and make the table in a session that runs"
)
#: What stands in a failure, what that means, and what to try; the first that fits.
_KNOWN = (
    ("PYTHON_VERSION_MISMATCH", "the executors run another Python version than this one", "python"),
    ("Cannot run program", "the executors cannot start Python", "python"),
    ("No module named pyspark", "the executors' Python lacks PySpark", "python"),
    ("Java heap space", "Spark ran out of Java heap", _HEAP),
    ("GC overhead limit exceeded", "Spark ran out of Java heap", _HEAP),
    ("OutOfMemoryError", "Spark ran out of memory", _HEAP),
    ("Not enough memory to build and broadcast", "Spark ran out of Java heap", _HEAP),
    ("exceeding memory limits", "an executor ran out of memory", _MEMORY),
    (
        "No space left on device",
        "a disk is full",
        "free space where Spark writes (spark.local.dir)",
    ),
    ("Python worker exited unexpectedly", "an executor's Python died, perhaps for memory", _MEMORY),
    ("ExecutorLostFailure", "executors were lost again and again", _MEMORY),
    ("maxResultSize", "the driver may not hold the result", "raise spark.driver.maxResultSize"),
    ("SparkContext was shut down", "the Spark session was stopped", _STOPPED),
    ("SparkContext has been shut", "the Spark session was stopped", _STOPPED),
    ("stopped SparkContext", "the Spark session is stopped", _STOPPED),
    ("JOB_CANCELLED", "the Spark job was cancelled", "start it again"),
    ("FILE_NOT_EXIST", "a file of the table is gone", "make the table anew: spark.read again"),
    ("MALFORMED_RECORD", "a row has more or fewer fields than the header", "look for open quotes"),
    ("FAILED_READ_FILE", "a file of the table is damaged", "export the table again"),
)


def python_setting(executable: str | None = None) -> str:
    """Return a hint on how executors are given a Python."""
    now = "" if executable is None else f" (now {executable})"
    return (
        f"set PYSPARK_PYTHON{now} to a Python that fits and has wideberth, "
        "before the session starts"
    )


#: What a refusal is made of again, where it arrives.
_OF_REFUSALS = ("what", "hint", "outcome", "witness", "tries")


class ExecutorRefusal(Exception):
    """A refusal on its way from an executor, of which only the text arrives: all of it, as JSON."""


@contextmanager
def carry_refusals() -> Iterator[None]:
    """Let a refusal keep its outcome and witness; to be put around what executors do."""
    try:
        yield
    except InfeasibleError as error:
        told = {key: getattr(error, key) for key in _OF_REFUSALS}
        raise ExecutorRefusal(json.dumps(told)) from None


@contextmanager
def readable_spark_errors() -> Iterator[None]:
    """Turn whatever Spark raises inside into one error of ours; to be put around every job."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            # Else PySpark says, once for each function, that it does not know pandas 3 well.
            warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
            yield
    except WideberthError:
        raise
    except Exception as error:
        if not is_spark_error(error):
            raise
        raise translate_spark_error(error) from None
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def is_spark_error(error: BaseException) -> bool:
    """Return whether an error comes from Spark, or from the lack of it."""
    origins = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return bool(origins & {"pyspark", "py4j"}) or isinstance(error, ConnectionError)


def translate_spark_error(error: BaseException) -> WideberthError:
    """Return an error of ours that says in a sentence what one of Spark's means."""
    try:
        text = str(error)
    except Exception:  # the text lies in a Java process, which may be gone
        text = ""
    if ours := list(_OURS.finditer(text)):
        name, what, hint = ours[-1].groups()
        if name == ExecutorRefusal.__name__:
            return InfeasibleError(**json.loads(what))
        return _kinds().get(name, EngineError)(what.strip(), hint=hint)
    if absent := _MODULE.search(text):
        what = f"the executors' Python has no module {absent[1]!r}"
        return EngineError(what, hint=python_setting())
    for mark, what, hint in _KNOWN:
        if mark in text:
            return EngineError(what, hint=python_setting() if hint == "python" else hint)
    return _otherwise(error, text)


def _otherwise(error: BaseException, text: str) -> EngineError:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "Traceback (most recent call last)" in text:
        places, names = _PLACE.findall(text), _PYTHON.findall(text)
        where = f" in {places[-1][0]}:{places[-1][1]}" if places else ""
        name = names[-1] if names else "an error"
        return EngineError(f"a task failed with {name}{where} on an executor", hint=_LOG)
    if "AnalysisException" in kinds:
        first = _CONDITION.sub("", text.strip().partition("\n")[0]).partition(" SQLSTATE")[0]
        hint = "compare with the columns of the table (printSchema)"
        return EngineError(f"Spark cannot do that: {first.rstrip('.;')}", hint=hint)
    if isinstance(error, ConnectionError) or "Py4JNetworkError" in kinds or not text:
        hint = f"start a new session. If Java ended for lack of memory, {_HEAP}"
        return EngineError("the connection to Spark is lost", hint=hint)
    if condition := _CONDITION.search(text):
        return EngineError(f"Spark stopped with {condition[1]}", hint=_LOG)
    raised = [name for path, name in _JAVA.findall(text) if not path.startswith("py4j")]
    return EngineError(
        f"Spark stopped with {raised[-1] if raised else type(error).__name__}", hint=_LOG
    )


def _kinds(base: type[WideberthError] = WideberthError) -> dict[str, type[WideberthError]]:
    """Return the errors of ours, by name."""
    found = {base.__name__: base}
    for kind in base.__subclasses__():
        found |= _kinds(kind)
    return found
