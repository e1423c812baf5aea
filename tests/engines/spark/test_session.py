"""Sessions that fit and those that do not, executors, failures, fickle tables, files."""

from __future__ import annotations

import codecs
import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth
from wideberth import io
from wideberth.engines import is_spark
from wideberth.engines.spark import executors, session
from wideberth.engines.spark.executors import require_executors, ship
from wideberth.engines.spark.failures import readable_spark_errors
from wideberth.engines.spark.input import (
    nondeterministic_causes,
    read_spark_table,
    warn_if_nondeterministic,
)
from wideberth.engines.spark.session import require_pyspark, require_session
from wideberth.errors import EngineError, InfeasibleError, TableError, WideberthError
from wideberth.io import ReadOptions, TableWarning

#: Stands in cells that are wrong; no message may repeat it.
SECRET = "Zq7Xhush"  # noqa: S105 - a marker


def refusal(caught: pytest.ExceptionInfo[WideberthError]) -> str:
    """Return the message, which has a hint, and neither a value nor a Java stack trace."""
    error = caught.value
    assert error.hint
    for never in (SECRET, "\tat ", "Traceback", "org.apache", "py4j"):
        assert never not in str(error)
    assert len(str(error).splitlines()) == 2
    return str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "ran out of Java heap"),
        ("java.lang.OutOfMemoryError: GC overhead limit exceeded", "ran out of Java heap"),
        ("java.lang.OutOfMemoryError: Unable to acquire 64 bytes", "ran out of memory"),
        ("Not enough memory to build and broadcast the table to all worker nodes", "of Java heap"),
        ("Job 3 cancelled because SparkContext was shut down", "session was stopped"),
        ("Cannot call methods on a stopped SparkContext.", "session is stopped"),
        ("", "connection to Spark is lost"),
    ],
)
def test_a_heap_that_is_too_small(text, message):
    """What Java says comes through py4j; who reads it must learn how to give more."""

    class Py4JJavaError(Exception):
        __module__ = "py4j.protocol"

    with pytest.raises(EngineError, match=message) as caught, readable_spark_errors():
        raise Py4JJavaError(
            f"An error occurred while calling o1.\n: {text}\n\tat x" if text else ""
        )
    assert "spark.driver.memory" in str(caught.value.hint)
    assert "spark.executor.memory" in str(caught.value.hint)
    refusal(caught)


# whose table it is


def test_tables_of_spark_are_known(spark):
    assert is_spark(spark.range(2))
    assert is_spark(spark.range(2).select("id"))


@pytest.mark.parametrize("other", [None, "people.csv", [1], pl.DataFrame({"a": [1]})])
def test_others_are_not(other):
    assert not is_spark(other)


def test_nobody_imports_pyspark_to_find_out():
    line = (
        "import sys, polars;"
        "from wideberth.engines.spark import executors, input, session;"
        "import wideberth.cli, wideberth.cli.options;from wideberth import engines;"
        "engines.is_spark(polars.DataFrame()); sys.exit('pyspark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", line]).returncode == 0


def connected() -> object:
    """Make what looks like a DataFrame of Spark Connect, which needs packages of its own."""
    return type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()


def test_a_connect_table_is_known_and_refused():
    pytest.importorskip("pyspark")
    assert is_spark(connected())
    with pytest.raises(EngineError, match="Spark Connect") as caught:
        require_session(connected())
    assert "classic session" in refusal(caught)


# whether its session fits


def test_a_session_that_fits(spark):
    assert require_session(spark.range(1)) is spark


def test_no_pyspark(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(EngineError, match="not installed") as caught:
        require_pyspark()
    assert "wideberth[spark]" in refusal(caught)


def test_an_old_pyspark(spark, monkeypatch):
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(EngineError, match=r"needs PySpark 4, and 3\.5\.1") as caught:
        require_session(spark.range(1))
    refusal(caught)


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("3.5.1-amzn-0", "needs Spark 4, and the session runs 3.5.1-amzn-0"),
        ("4.99.0", "does not fit the session's Spark 4.99.0"),
    ],
)
def test_another_spark(spark, monkeypatch, version, message):
    monkeypatch.setattr(type(spark), "version", property(lambda _: version))
    with pytest.raises(EngineError) as caught:
        require_session(spark.range(1))
    assert message in refusal(caught)


def test_a_patch_of_the_same_release_fits(spark, monkeypatch):
    import pyspark

    major, minor, *_ = pyspark.__version__.split(".")
    monkeypatch.setattr(type(spark), "version", property(lambda _: f"{major}.{minor}.99-vendor"))
    require_session(spark.range(1))


def test_a_stopped_session(spark, monkeypatch):
    frame = spark.range(1)
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)  # as stop() leaves it
    with pytest.raises(EngineError, match="is stopped") as caught:
        require_session(frame)
    refusal(caught)


# what executors have


@pytest.fixture
def context(spark, monkeypatch):
    """Give a context whose executors have not been asked yet, and may be changed."""
    monkeypatch.setattr(executors, "_FOUND", {})
    context = spark.sparkContext
    monkeypatch.setattr(context, "environment", dict(context.environment))
    return context


def shadow(context, folder: Path, module: str, content: str) -> None:
    """Let executors find another module by that name."""
    (folder / f"{module}.py").write_text(content)
    context.environment["PYTHONPATH"] = str(folder)


def test_executors_that_fit_are_asked_once(spark, context, monkeypatch):
    versions = require_executors(spark)
    assert versions["wideberth"] == wideberth.__version__
    assert versions["polars"] == pl.__version__
    monkeypatch.setattr(executors, "probe_executors", None)
    assert require_executors(spark) is versions


def test_a_python_that_lacks_everything(spark, context, monkeypatch, tmp_path):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')  # no site, no packages
    bare.chmod(0o755)
    monkeypatch.setattr(context, "pythonExec", str(bare))
    with pytest.raises(EngineError, match="lacks pyarrow") as caught:
        require_executors(spark)
    assert f"set PYSPARK_PYTHON (now {bare})" in refusal(caught)


def test_no_python(spark, context, monkeypatch):
    monkeypatch.setattr(context, "pythonExec", "/nowhere/python")
    with pytest.raises(EngineError, match="cannot start Python") as caught:
        require_executors(spark)
    assert "PYSPARK_PYTHON" in refusal(caught)


def test_another_python(spark, context, monkeypatch):
    monkeypatch.setattr(context, "pythonVer", "3.9")  # what the driver says it is
    with pytest.raises(EngineError, match="another Python version") as caught:
        require_executors(spark)
    assert "PYSPARK_PYTHON" in refusal(caught)


@pytest.mark.parametrize(
    ("module", "content", "message"),
    [
        ("numba", "raise ModuleNotFoundError", "lacks numba"),
        ("polars", "raise OSError", "cannot import polars"),
        ("wideberth", "raise ModuleNotFoundError", "wideberth cannot be imported"),
        ("wideberth", "__version__ = '0.0.7'", "executors have wideberth 0.0.7"),
    ],
)
def test_something_is_missing_there(spark, context, tmp_path, module, content, message):
    shadow(context, tmp_path, module, content)
    with pytest.raises(EngineError, match=message) as caught:
        require_executors(spark)
    if module == "wideberth":
        assert "ship(spark)" in refusal(caught)


def test_another_minor_version(spark, context, monkeypatch):
    answer = {"host": "there", "versions": {"python": "3.9.1"}, "broken": {}}
    monkeypatch.setattr(executors, "probe_executors", lambda _: [answer])
    with pytest.raises(
        EngineError, match=r"run Python 3\.9\.1 \(on there\), the driver 3"
    ) as caught:
        require_executors(spark)
    refusal(caught)


# failures in one sentence


def failing(kind: str) -> Any:
    """Return a function for executors; nested, for they have no module of that name."""

    def fail(batches: Any) -> Any:
        import os

        from wideberth.errors import InfeasibleError, TableError

        if kind == "ours":
            raise TableError("column 'a' holds text", hint="make it numbers")
        if kind == "infeasible":
            raise InfeasibleError("nothing can be done")
        if kind == "module":
            import nosuchmodule  # noqa: F401
        if kind == "crash":
            os._exit(3)
        if kind == "value":
            int("Zq7Xhush")
        yield from batches

    return fail


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("ours", TableError, "column 'a' holds text\n  try: make it numbers"),
        ("module", EngineError, "the executors' Python has no module 'nosuchmodule'"),
        ("crash", EngineError, "an executor's Python died"),
        ("value", EngineError, "a task failed with ValueError in test_session.py:"),
    ],
)
def test_a_task_that_fails(spark, capfd, kind, error, message):
    with pytest.raises(error) as caught, readable_spark_errors():
        spark.range(3).mapInArrow(failing(kind), "id long").collect()
    assert refusal(caught).startswith(message)
    assert "ERROR" not in capfd.readouterr().err


def test_our_error_keeps_its_exit_code(spark):
    with pytest.raises(InfeasibleError) as caught, readable_spark_errors():
        spark.range(3).mapInArrow(failing("infeasible"), "id long").collect()
    assert (caught.value.exit_code, caught.value.hint) == (3, None)


def test_a_query_that_cannot_be(spark, capfd):
    with (
        pytest.raises(EngineError, match=r"cannot do that: A .*`nope`") as caught,
        readable_spark_errors(),
    ):
        spark.range(3).select("nope")
    refusal(caught)
    assert capfd.readouterr().err == ""


def test_a_cell_that_cannot_be_cast(spark, capfd):
    frame = spark.createDataFrame([(SECRET,)], "a string")
    with pytest.raises(EngineError, match="CAST_INVALID_INPUT") as caught, readable_spark_errors():
        frame.selectExpr("cast(a as int)").collect()
    refusal(caught)
    assert SECRET not in capfd.readouterr().err


def test_other_errors_pass():
    with pytest.raises(KeyError), readable_spark_errors():
        raise KeyError("a")
    with pytest.raises(TableError, match="as it is"), readable_spark_errors():
        raise TableError("as it is")


def test_a_lost_connection():
    with (
        pytest.raises(EngineError, match="connection to Spark is lost") as caught,
        readable_spark_errors(),
    ):
        raise ConnectionRefusedError
    refusal(caught)


# rows that change


@pytest.fixture(scope="module")
def people(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("people") / "people.parquet")
    spark.range(100).selectExpr("id", "id % 7 as k").write.parquet(path)
    frame = spark.read.parquet(path)
    frame.createOrReplaceTempView("people")
    return frame


FICKLE = {
    "rand": "select *, rand() from people",
    "seeded": "select *, rand(3) from people",
    "monotonically_increasing_id": "select *, monotonically_increasing_id() from people",
    "uuid": "select *, uuid() from people",
    "shuffle": "select *, shuffle(array(1, 2)) from people",
    "spark_partition_id": "select *, spark_partition_id() from people",
    "the current time": "select *, now() from people",
    "limit without an order": "select * from people limit 3",
    "offset without an order": "select * from people offset 3",
    "sample without a seed": "select * from people tablesample (10 percent)",
    "sample after a join": "select * from (select * from people join people p using (id)) "
    "tablesample (10 percent) repeatable (3)",
    "first without an order": "select k, first(id) from people group by k",
    "in a subquery": "select * from people where id in (select id from people limit 3)",
    "in a join": "select * from people join (select id, rand() from people) using (id)",
}
STEADY = {
    "plain": "select * from people",
    "filtered": "select id + 1 from people where k > 2",
    "grouped": "select k, count(*), max(id) from people group by k",
    "ordered limit": "select * from people order by id limit 3",
    "ordered, projected, limited": "select id + 1, k from people order by id, k limit 3 offset 1",
    "numbered": "select *, row_number() over (order by id) from people",
    "distinct": "select distinct * from people",
    "seeded sample of a file": "select * from people tablesample (10 percent) repeatable (3)",
    "who asks": "select *, current_user() from people",
}


@pytest.mark.parametrize("query", FICKLE.values(), ids=FICKLE)
def test_fickle(spark, people, query):
    assert nondeterministic_causes(spark.sql(query))


@pytest.mark.parametrize("query", STEADY.values(), ids=STEADY)
def test_steady(spark, people, query):
    assert nondeterministic_causes(spark.sql(query)) == []


def test_fickle_methods(spark, people):
    from pyspark.sql import functions

    with warnings.catch_warnings(record=True):
        chance = functions.udf(lambda x: x, "long").asNondeterministic()
    assert nondeterministic_causes(people.withColumn("x", chance("id"))) == ["<lambda>"]
    assert nondeterministic_causes(people.dropDuplicates(["k"])) == [
        "dropDuplicates by some of the columns"
    ]
    assert nondeterministic_causes(people.dropDuplicates()) == []
    assert (
        nondeterministic_causes(people.sample(0.5)) == []
    )  # PySpark draws a seed when the table is made
    assert nondeterministic_causes(people.repartition(3).sample(0.5))


def test_what_is_kept_is_settled(people):
    chance = people.selectExpr("*", "rand() as chance")
    assert nondeterministic_causes(chance) == ["rand"]
    assert nondeterministic_causes(chance.localCheckpoint()) == []
    chance.persist()  # after it was asked
    try:
        assert nondeterministic_causes(chance) == []
        assert nondeterministic_causes(chance.select("chance")) == []
    finally:
        chance.unpersist()


def test_the_warning_says_why(people):
    with pytest.warns(TableWarning, match=r"may change .* \(limit without an order\): write it"):
        warn_if_nondeterministic(people.limit(3))
    warn_if_nondeterministic(people)


# files


def both(spark, path: Path, options: ReadOptions) -> tuple[Any, Any]:
    """Return a file's columns and rows, read by Spark and by ourselves."""
    ours = io.read(path, options)
    with readable_spark_errors():
        frame = read_spark_table(spark, path, options)
        rows = [tuple(row) for row in frame.collect()]
    return (frame.columns, rows), (ours.columns, ours.rows())


CSV = {
    "plain.csv": b'a,b,c\n1,,3\n"",NA, x \n\n4, ? ,6\n',
    "semicolons.csv": b"a;b;c\n1;,;3\n",
    "tabs.tsv": b"a\tb.x\tc`d\n1\t2\t3\n",
    "quotes.csv": b'a,b\n"x,1","he said ""hi"""\n4,"new\nline"\n"back\\slash",\n',
    "mark.csv": codecs.BOM_UTF8 + b"a,b\n1,2\n",
    "windows.csv": b"a,b\r\n1,2\r\n3,4\r\n",
    "utf16.csv": "a,b\n1,ü\n2,x\n".encode("utf-16"),
    "blanks.csv": "a, b \n\u00a0NA\u2003,1\n\u3000,2\n NAN ,NA NA\n".encode(),
    "names.csv": b",a\n1,2\n",
    "zipped.csv.gz": gzip.compress(b"a,b\n1,2\n"),
    "we ird[1]*{x}.csv": b"a,b\n1,2\n",
}


@pytest.mark.parametrize("name", CSV)
def test_csv_is_read_alike(spark, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(CSV[name])
    theirs, ours = both(spark, path, ReadOptions())
    assert theirs == ours


@pytest.mark.parametrize("missing", [(), ("NA",), ("", "-9"), (".*", " ? ")])
def test_what_is_missing(spark, tmp_path, missing):
    path = tmp_path / "people.csv"
    path.write_bytes(b'a,b\n1,\n"",NA\n -9 ,.*\n?,x\n')
    theirs, ours = both(spark, path, ReadOptions(missing=missing))
    assert theirs == ours


def test_options(spark, tmp_path):
    path = tmp_path / "people.txt"
    path.write_bytes("a#b\n1#ü\n".encode("latin-1"))
    theirs, ours = both(spark, path, ReadOptions(delimiter="#", encoding="latin-1"))
    assert theirs == ours


def test_parquet(spark, tmp_path):
    table = pl.DataFrame({"age": [1, None], "name.x": ["a", "b"]})
    for path in (tmp_path / "one.parquet", tmp_path / "folder" / "part-0.parquet"):
        path.parent.mkdir(exist_ok=True)
        table.write_parquet(path)
    for path in (tmp_path / "one.parquet", str(tmp_path / "folder"), f"file://{tmp_path}/folder"):
        frame = read_spark_table(spark, path)
        assert [tuple(row) for row in frame.collect()] == table.rows()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.csv", None, "there is no file"),
        ("gone.parquet", None, "there is no file"),
        ("gone", None, "unknown suffix"),
        ("table.xlsx", b"x", "unknown suffix"),
        ("table.feather", b"x", "Spark does not read Arrow files"),
        ("bad.parquet", SECRET.encode(), "bad.parquet is damaged"),
        ("bad.csv.gz", SECRET.encode(), "bad.csv.gz is damaged"),
        ("empty.csv", b"", "empty.csv is empty"),
        ("header.csv", b"a,b\n", "has a header but no rows"),
        ("twice.csv", b"a,a\n1,2\n", "are both named 'a'"),
        ("case.csv", b"a,A\n1,2\n", "differ in nothing but case"),
        ("single.csv", b"a\n1\n", "has a single column"),
        ("bytes.csv", b"a,b\n1,2\n3,\xff\n", "line 3 of bytes.csv is not valid UTF-8"),
    ],
)
def test_files_that_cannot_be_read(spark, tmp_path, name, content, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_spark_table(spark, path)
    assert message in refusal(caught)


def test_an_encoding_unknown_to_spark(spark, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(TableError, match="does not read the encoding cp1252") as caught:
        read_spark_table(spark, path, ReadOptions(encoding="cp1252"))
    refusal(caught)


def test_a_folder_without_tables(spark, tmp_path):
    with pytest.raises(TableError, match="holds no Parquet files") as caught:
        read_spark_table(spark, tmp_path)
    refusal(caught)


@pytest.mark.parametrize("row", ["1,2", "1,2,3,4", '1,"2,3'])
@pytest.mark.parametrize("column", ["a", "c"])
def test_a_ragged_row_fails_whichever_column_is_asked_for(spark, tmp_path, row, column):
    path = tmp_path / "people.csv"
    path.write_text(f"a,b,c\n{row}\n{SECRET},5,6\n")
    frame = read_spark_table(spark, path)
    for job in (frame.select(column).collect, frame.count):
        with (
            pytest.raises(EngineError, match="more or fewer fields") as caught,
            readable_spark_errors(),
        ):
            job()
        refusal(caught)


def test_somewhere_that_cannot_be_reached(spark):
    with pytest.raises(TableError, match="Spark cannot read s3a://nobody/table") as caught:
        read_spark_table(spark, "s3a://nobody/table")
    refusal(caught)


# a session of our own


def test_a_session_that_is_there_is_used_and_left_on(spark):
    with session.open_spark_session(None) as opened:
        assert opened.sparkContext is spark.sparkContext
    with session.open_spark_session("local[2]"):
        pass
    assert spark.range(3).count() == 3
    with pytest.raises(EngineError, match="is a Spark session already") as caught:
        session.open_spark_session("local[1]").__enter__()
    refusal(caught)


@pytest.fixture
def alone(monkeypatch):
    """Pretend that there is no session yet; what is tested fails before it starts one."""
    pytest.importorskip("pyspark")
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)

    def fail(*_: object) -> None:
        raise AssertionError("a session would be started")

    monkeypatch.setattr(session, "_started", fail)
    return monkeypatch


@pytest.mark.parametrize(
    ("master", "message"),
    [
        ("spark://127.0.0.1:9", "no Spark master answers at spark://127.0.0.1:9"),
        ("spark://127.0.0.1:9,127.0.0.1:10", "no Spark master answers"),
        ("spark://somewhere", "Spark knows no master 'spark://somewhere'"),
        ("spark://127.0.0.1:99999999", "no Spark master answers"),
    ],
)
def test_masters_out_of_reach(alone, master, message):
    with pytest.raises(EngineError) as caught:
        session.open_spark_session(master).__enter__()
    assert message in refusal(caught)


def test_no_java(alone, tmp_path):
    alone.delenv("JAVA_HOME", raising=False)
    alone.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="needs Java, and there is none") as caught:
        session.open_spark_session(None).__enter__()
    assert "openjdk-17" in refusal(caught)
    alone.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"none at JAVA_HOME"):
        session.open_spark_session(None).__enter__()


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ('openjdk version "11.0.2"', "is Java 11"),
        ('java version "1.8.0_292"', "is Java 8"),
        ("hello", "is an unknown version"),
    ],
)
def test_another_java(alone, tmp_path, said, message):
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)
    alone.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match="needs Java 17 or newer") as caught:
        session.open_spark_session(None).__enter__()
    assert message in refusal(caught)


#: Opens a session in a process of its own, tells about it, and looks what it leaves behind.
ALONE = """
import os, sys
from wideberth.engines.spark.executors import require_executors
from wideberth.engines.spark.failures import readable_spark_errors as readable
from wideberth.engines.spark.session import open_spark_session as opened
from wideberth.errors import EngineError

def fail(batches):
    raise ValueError("Zq7Xhush")

try:
    with opened("nonsense"):
        pass
except EngineError as error:
    print(error.what)
with opened(None) as spark:
    from pyspark import SparkContext
    java = SparkContext._gateway.proc
    print(spark.sparkContext.master, *map(spark.conf.get, ("spark.app.name", "spark.ui.enabled")))
    print(require_executors(spark)["python"] == sys.version.split()[0])
    try:
        with readable():
            spark.range(3).mapInArrow(fail, "id long").collect()
    except EngineError as error:
        print(error.what)
print(java.poll() is not None, "PYSPARK_PYTHON" in os.environ)
"""


def test_a_session_of_its_own_is_silent_and_ends(tmp_path):
    pytest.importorskip("pyspark")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYSPARK", "SPARK"))}
    environment["TMPDIR"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", ALONE],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        timeout=600,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "Spark knows no master 'nonsense'",
        "local[*] wideberth false",
        "True",
        "a task failed with ValueError in <string>:9 on an executor",
        "True False",
    ]
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith("wideberth")] == []


# at the end, for the executors have it from then on


def test_ship(spark, context, tmp_path):
    shadow(context, tmp_path, "wideberth", "raise ModuleNotFoundError")
    with pytest.raises(EngineError, match="cannot be imported"):
        require_executors(spark)
    ship(spark)
    assert require_executors(spark)["wideberth"] == wideberth.__version__

    def publish(_: Any) -> Any:
        import polars as pl

        import wideberth as wb

        table = pl.DataFrame({"age": [1, 2, 3, 4] * 5, "salary": list(range(20))})
        release = wb.anonymize(table, quasi="age", sensitive="salary", principles="k-anonymity:k=5")
        yield release.manifest["groups"], wb.__file__

    [(groups, file)] = spark.sparkContext.parallelize([1], 1).mapPartitions(publish).collect()
    assert groups >= 1
    assert Path(file).parent != Path(wideberth.__file__).parent
