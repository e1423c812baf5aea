"""Files as Spark DataFrames, read as :mod:`wideberth.io` reads them.

Parquet has its types. A CSV file is text, all of it, and the same cells are missing as elsewhere.
Its dialect is found out on the driver, which has to see the file, as all executors have to.
"""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from wideberth.core.notation import by_column
from wideberth.engines.spark.failures import readable
from wideberth.errors import EngineError, TableError, what_to_type
from wideberth.io import ReadOptions, csv
from wideberth.io.formats import AGAIN, check_names, format_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARQUET = "convert it to Parquet"
#: The encodings of text that Spark reads, by the names that Python has for them.
_ENCODINGS = {"ascii": "us-ascii", "iso8859-1": "iso-8859-1", "utf-8-sig": "utf-8"} | {
    name: name for name in ("utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
}
_BLOCK = 1 << 20
_SCHEME = re.compile(r"\w[\w+.-]+:/")


class _Look(NamedTuple):
    """Findings on a whole file: its first invalid line, and whether a cell may span lines."""

    bad_line: int | None
    quoted: bool


def read(spark: SparkSession, path: str | Path, options: ReadOptions | None = None) -> DataFrame:
    """Read a table from a place that the executors see, too."""
    # A URL such as s3a://… stands for Parquet. The columns of a CSV file all become text.
    local = None if _SCHEME.match(str(path)) else Path(path)
    if options is not None and options.skip_rows:
        raise TableError("Spark does not skip lines above the header", hint=PARQUET)
    frame = _frame(spark, path, local, options or ReadOptions())
    require_plain(frame, options)
    return frame


def require_plain(frame: DataFrame, options: ReadOptions | None) -> None:
    """Refuse columns of text for which the options say how numbers or dates are written."""
    texts = [name for name, kind in frame.dtypes if kind == "string"]
    for name in by_column(options.formats if options else {}, texts):
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
    with _reading(path), readable():
        frame = spark.read.parquet(_escaped(local) if local.exists() else str(path))
        check_names(frame.columns, local.name)
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
    check_names(names, path.name)
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
    with _reading(path), readable():
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


def _looked_through(path: Path, encoding: str) -> _Look:
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
            return _Look(line + failed.count(b"\n"), quoted)
    return _Look(None, quoted)


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
