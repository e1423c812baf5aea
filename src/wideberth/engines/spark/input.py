"""Files as Spark DataFrames, read as :mod:`wideberth.io` reads them.

Parquet has its types. A CSV file is text, all of it, and the same cells are missing as elsewhere.
Its dialect is found out on the driver, which has to see the file, as all executors have to.
"""

from __future__ import annotations

import codecs
import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from wideberth.core.notation import formats_by_column
from wideberth.engines.spark.failures import readable_spark_errors
from wideberth.errors import EngineError, TableError, what_to_type
from wideberth.io import ReadOptions, TableWarning, csv
from wideberth.io.formats import AGAIN, format_of, require_unique_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


PARQUET = "convert it to Parquet"
#: The encodings of text that Spark reads, by the names that Python has for them.
_ENCODINGS = {"ascii": "us-ascii", "iso8859-1": "iso-8859-1", "utf-8-sig": "utf-8"} | {
    name: name for name in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
}
_BLOCK = 1 << 20
_SCHEME = re.compile(r"\w[\w+.-]+:/")


class _TextFindings(NamedTuple):
    """Findings on a whole file: its first invalid line, and whether a cell may span lines."""

    bad_line: int | None
    quoted: bool


def read_spark_table(
    spark: SparkSession, path: str | Path, options: ReadOptions | None = None
) -> DataFrame:
    """Read a table from a place that the executors see, too."""
    # A URL such as s3a://… stands for Parquet. The columns of a CSV file all become text.
    local = None if _SCHEME.match(str(path)) else Path(path)
    if options is not None and options.skip_rows:
        raise TableError("Spark does not skip lines above the header", hint=PARQUET)
    frame = _frame(spark, path, local, options or ReadOptions())
    require_no_formats(frame, options)
    return frame


def require_no_formats(frame: DataFrame, options: ReadOptions | None) -> None:
    """Refuse columns of text for which the options say how numbers or dates are written."""
    texts = [name for name, kind in frame.dtypes if kind == "string"]
    for name in formats_by_column(options.formats if options else {}, texts):
        raise TableError(
            f"column {name!r} holds text, and [formats] says how to read it: Spark reads numbers "
            "with points and dates as YYYY-MM-DD alone",
            hint="convert the column before, or work in memory or with "
            + what_to_type(python="memory=", command="--memory"),
        )


def _frame(
    spark: SparkSession, path: str | Path, local: Path | None, options: ReadOptions
) -> DataFrame:
    if local is None or local.is_dir():
        return _parquet(spark, path)
    form = format_of(local, TableError)[1]
    if form == "Parquet":
        return _parquet(spark, path)
    if form != "CSV":
        raise TableError(f"Spark does not read {form} files such as {local.name}", hint=PARQUET)
    return _csv(spark, local, options)


def _parquet(spark: SparkSession, path: str | Path) -> DataFrame:
    local = Path(path)
    if local.is_dir() and not any(local.rglob("*.parquet")):
        raise TableError(f"the folder {path} holds no Parquet files", hint="check the path")
    with _reading(path), readable_spark_errors():
        frame = spark.read.parquet(_escaped(local) if local.exists() else str(path))
        require_unique_names(frame.columns, local.name)
        return frame


def _csv(spark: SparkSession, path: Path, options: ReadOptions) -> DataFrame:
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructField, StructType

    with _reading(path):
        suffix = format_of(path, TableError)[0]
        sample, known, delimiter = csv._first_look(path, suffix, options)
        encoding = known or "utf-8"
        dialect = csv._dialect(path, sample, encoding, delimiter)
        look = _looked_through(path, encoding)
    names = [name.strip() for name in dialect.header]
    names[0] = names[0] or csv.ROW_NAMES
    require_unique_names(names, path.name)
    if dialect.width == 1:  # of which Spark would drop empty lines, and people with them
        raise TableError(f"{path.name} has a single column, which Spark misreads", hint=PARQUET)
    charset = _ENCODINGS.get(codecs.lookup(encoding).name)
    if charset is None:
        what = f"Spark does not read the encoding {encoding} of {path.name}"
        raise TableError(what, hint="convert it to UTF-8, or to Parquet")
    if look.bad_line is not None:
        what = f"line {look.bad_line} of {path.name} is not valid {encoding.upper()}"
        raise TableError(
            what,
            hint="give its true encoding ("
            + what_to_type(python="encoding under [table] of the policy", command="--encoding")
            + "), or convert it to UTF-8",
        )
    # With lines in quotes, or letters of several bytes, one task must read the whole file.
    whole = look.quoted or charset.startswith(("utf-16", "utf-32"))
    with _reading(path), readable_spark_errors():
        frame = (
            spark.read.schema(StructType([StructField(name, StringType()) for name in names]))
            .options(header=True, sep=dialect.delimiter, encoding=charset, multiLine=whole)
            .options(quote='"', escape='"', nullValue="", emptyValue="")
            # A row with a field too many or too few fails, whichever columns are asked for.
            .options(mode="FAILFAST", columnPruning=False)
            .csv(_escaped(path))
        )
        tokens = "|".join(re.escape(token.strip()) for token in options.missing)
        missing = rf"(?U)\A\s*(?:{tokens})\s*\z" if options.missing else "(?!)"
        cells = {name: sql.coalesce(sql.col(f"`{_quoted(name)}`"), sql.lit("")) for name in names}
        return frame.select(
            *(sql.when(~cell.rlike(missing), cell).alias(name) for name, cell in cells.items())
        )


def _looked_through(path: Path, encoding: str) -> _TextFindings:
    decoder = codecs.getincrementaldecoder(encoding)()
    line, quoted = 1, False
    with csv._open(path) as file:
        try:
            while block := file.read(_BLOCK):
                quoted = quoted or b'"' in block
                line += decoder.decode(block).count("\n")
            decoder.decode(b"", final=True)
        except UnicodeError as error:
            failed = error.object[: error.start] if isinstance(error, UnicodeDecodeError) else b""
            return _TextFindings(line + failed.count(b"\n"), quoted)
    return _TextFindings(None, quoted)


@contextmanager
def _reading(path: str | Path) -> Iterator[None]:
    """Turn errors of Spark and Python on a file into ours, which name the file."""
    damaged = TableError(f"{Path(path).name} is damaged, or not what its suffix says", hint=AGAIN)
    try:
        yield
    except FileNotFoundError:
        raise TableError(f"there is no file {path}", hint="check the path") from None
    except PermissionError:
        raise TableError(f"{path} may not be read", hint="ask for permission") from None
    except (OSError, EOFError, zlib.error):
        raise damaged from None
    except EngineError as error:
        said = error.what
        if "does not exist" in said:
            raise TableError(f"there is no file {path}", hint="check the path") from None
        if "already exists" in said:
            what = f"two columns of {Path(path).name} have names that differ in nothing but case"
            raise TableError(what, hint="rename one of them") from None
        if "damaged" in said or "infer schema" in said:
            raise damaged from None
        raise TableError(f"Spark cannot read {path}: {said}", hint=error.hint) from None


def _escaped(path: Path) -> str:
    """Return a local file's URL, in which Hadoop is to see no pattern."""
    return "file://" + re.sub(r"([\\{}\[\]*?])", r"\\\1", str(path.resolve()))


def _quoted(name: str) -> str:
    return name.replace("`", "``")


# -----------------------------------------------------------------------------
# Whether a DataFrame may have other rows each time it is computed.
#
# The engine goes through a table several times, as it is too large to be kept. Spark computes it
# anew each time, and again whenever a machine is lost. If rows then differ, what was counted is not
# what is published, and the work was in vain. So it is told before.


#: Which row they take depends on the order in which rows arrive.
_BY_ARRIVAL = {"First": "first", "Last": "last", "AnyValue": "any_value"}
#: Spark asks the clock once for each computation.
_BY_CLOCK = ("CurrentTimestamp", "CurrentTime", "CurrentDate", "LocalTimestamp", "Now")
_LIMITS = {"GlobalLimit": "limit", "LocalLimit": "limit", "Offset": "offset", "Tail": "tail"}
#: What keeps rows where they are: a seeded sample of a file is the same each time.
_STEADY = ("Project", "Filter", "SubqueryAlias", "View", "Sort", "Sample")


def warn_if_nondeterministic(frame: Any, *, stacklevel: int = 3) -> None:
    """Warn, once for a table, if its rows may differ each time they are computed."""
    causes = nondeterministic_causes(frame)
    if causes:
        what = (
            f"the rows of the table may change each time Spark computes it ({', '.join(causes)}): "
            "write it to Parquet, and read it from there"
        )
        warnings.warn(what, TableWarning, stacklevel=stacklevel)


def nondeterministic_causes(frame: Any) -> list[str]:
    """Return what may change the rows of a PySpark DataFrame from one computation to the next."""
    from py4j.protocol import Py4JError

    # Another DataFrame of the same plan: to ask the given one would settle for ever which of its
    # parts are cached.
    # What is cached or checkpointed is taken for settled.
    plan = frame.select("*")._jdf.queryExecution().withCachedData()
    causes: dict[str, None] = {}  # an ordered set
    with suppress(Py4JError):  # plans are Spark's own affair, and may look otherwise some day
        for node in _nodes(plan, inner=True):
            causes |= dict.fromkeys(_causes(node))
    if not causes and not plan.deterministic():
        causes["an expression that is not deterministic"] = None
    return list(causes)


def _causes(node: Any) -> Iterator[str]:
    """Yield what in a node of a plan, apart from its inputs, may change rows."""
    name = _name(node)
    if name in _LIMITS and not _is_ordered(node.child()):
        yield f"{_LIMITS[name]} without an order"
    if name == "Sample" and not _is_steady(node):
        yield "sample without a seed, or of rows in no fixed order"
    if name == "Deduplicate" and node.keys().size() < node.child().output().size():
        yield "dropDuplicates by some of the columns"
    for expression in _nodes(*_each(node.expressions())):
        kind = _name(expression)
        if kind in _BY_ARRIVAL:
            yield f"{_BY_ARRIVAL[kind]} without an order"
        elif kind in _BY_CLOCK:
            yield "the current time"
        elif not kind.endswith("Subquery") and _is_source(expression):
            python = kind == "PythonUDF"
            yield str(expression.name() if python else expression.prettyName().lower())


def _is_source(expression: Any) -> bool:
    """Return whether an expression is not deterministic by itself, whatever it is given."""
    given = _each(expression.children())
    return not expression.deterministic() and all(child.deterministic() for child in given)


def _is_ordered(node: Any) -> bool:
    """Return whether rows come in an order, by columns that may have been left out since."""
    while _name(node) in (*_STEADY, *_LIMITS) and _name(node) != "Sort":
        node = node.child()
    return not node.outputOrdering().isEmpty()


def _is_steady(sample: Any) -> bool:
    """Return whether a sample has a seed, and takes from rows that stay in their places."""
    node = sample
    while _name(node) in _STEADY:
        if _name(node) == "Sample" and not _has_seed(node):
            return False
        node = node.child()
    return bool(node.children().isEmpty())


def _has_seed(sample: Any) -> bool:
    seed = sample.seed()  # a number before Spark 4.1, which draws one where none is given
    return isinstance(seed, int) or not seed.isEmpty()


def _nodes(*roots: Any, inner: bool = False) -> Iterator[Any]:
    """Go through trees of Spark's, plans (and those within them) or expressions, downwards."""
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += _each(node.children())
        if inner:
            waiting += _each(node.subqueries())


def _each(sequence: Any) -> list[Any]:
    """Make a list of a Scala sequence."""
    return [sequence.apply(i) for i in range(sequence.size())]


def _name(node: Any) -> str:
    return str(node.getClass().getSimpleName())
