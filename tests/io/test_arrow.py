"""Tables that are hostile or damaged: one message each, within the memory."""

from __future__ import annotations

import gzip
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import wideberth as wb
from wideberth import io
from wideberth.errors import ParameterError, TableError
from wideberth.io import arrow, formats, reader
from wideberth.io.arrow import claims_of
from wideberth.principles import make


def put(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


def nested(depth: int) -> pa.DataType:
    kind: pa.DataType = pa.int64()
    for _ in range(depth):
        kind = pa.list_(kind)
    return kind


UNKNOWN = {
    "union": pa.sparse_union([pa.field("a", pa.int64())]),
    "interval": pa.month_day_nano_interval(),
    "decimal256": pa.decimal256(70, 2),
    "decimal of a negative scale": pa.decimal128(20, -3),
    "run-end encoded": pa.run_end_encoded(pa.int32(), pa.string()),
    "list view": pa.list_view(pa.int64()),
    "map": pa.map_(pa.string(), pa.int64()),
    "struct without fields": pa.struct([]),
    "list of length 0": pa.list_(pa.int64(), 0),
    "time of the zone '+05:45'": pa.timestamp("us", "+05:45"),
    "list or struct, nested more than 8 levels deep": nested(60),
    "extension": pa.opaque(pa.string(), "x", "y"),
}


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(("name", "kind"), UNKNOWN.items(), ids=UNKNOWN)
def test_a_type_that_cannot_be_read(
    name: str, kind: pa.DataType, form: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    schema = pa.schema([("age", pa.int64()), ("it", kind)])
    try:
        path = put(schema.empty_table(), tmp_path / f"t.{form}")
    except (pa.ArrowException, OSError):
        pytest.skip("the format has no such type")
    for read in (io.read, io.column_types, lambda path: list(io.batches(path))):
        with pytest.raises(TableError, match="cannot be read") as caught:
            read(path)
        assert (
            caught.value.what
            == f"column 'it' of t.{form} has the type {name}, which cannot be read"
        )
        assert caught.value.hint
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_types_that_can_be_read(form: str, tmp_path: Path) -> None:
    table = pa.table(
        {
            "zone": pa.array([datetime(2000, 1, 1)], pa.timestamp("us", "Europe/Berlin")),
            "nested": pa.array([[[[1]]]]),
            "words": pa.array(["a"]).dictionary_encode(),
            "null": pa.nulls(1),
            "decimal": pa.array([1], pa.decimal128(20, 2)),
            "view": pa.array(["a"], pa.string_view()),
        }
    )
    path = put(table, tmp_path / f"t.{form}")
    assert io.read(path).height == 1
    assert [frame.height for frame in io.batches(path)] == [1]
    pl.DataFrame({"i": pl.Series([1], dtype=pl.Int128)}).write_parquet(path := tmp_path / "i.pq")
    assert io.read(path).dtypes == [pl.Int128]  # which pyarrow does not know


def test_damaged_arrow_files_are_refused(tmp_path: Path) -> None:
    """Offsets beyond the texts made the process crash where the file was read in pieces."""
    path = put(pa.table({"a": ["xx", "yyy", "zz"]}), tmp_path / "t.arrow")
    whole = path.read_bytes()
    offsets = pa.array([0, 2, 5, 7], pa.int32()).buffers()[1].to_pybytes()[:16]
    assert offsets in whole
    for good, bad in ((offsets, offsets[:8] + b"\0\0\0\x40" * 2), (b"xxyyyzz", b"\xff" * 7)):
        path.write_bytes(whole.replace(good, bad))
        with pytest.raises(TableError, match="is damaged"):
            list(io.batches(path))
        with pytest.raises(TableError, match="is damaged"):
            io.read(path)


def test_a_parquet_file_that_cannot_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes can hold a billion rows, if all are the same."""
    path = put(
        pa.table({"a": pa.array([7] * 200_000), "b": ["x"] * 200_000}), tmp_path / "t.parquet"
    )
    assert path.stat().st_size < 20_000
    assert io.read(path).height == 200_000
    for form in (path, put(parquet.read_table(path), tmp_path / "t.arrow")):
        twice = 2 if form == path else 3  # what reading takes
        monkeypatch.setattr(formats, "available", lambda n=twice: 200_000 * 24 * n - 1)
        with pytest.raises(TableError, match="GB of memory are free") as caught:
            io.read(form)
        assert "memory" in str(caught.value.hint)
    monkeypatch.setattr(formats, "available", lambda: None)  # unknown
    assert io.read(path).height == 200_000


def packed(table: pa.Table, path: Path, codec: str = "zstd", rows: int | None = None) -> Path:
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with pa.ipc.new_file(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("codec", ["zstd", "lz4", None])
@pytest.mark.parametrize("rows", [None, 700])
def test_what_an_arrow_file_claims(codec: str | None, rows: int | None, tmp_path: Path) -> None:
    table = pa.table(
        {
            "a": range(2000),
            "b": pa.array([None, "x"] * 1000),
            "c": pa.array(["long text"] * 2000).dictionary_encode(),
            "d": pa.array(["a text that is longer than a view"] * 2000, pa.string_view()),
        }
    )
    path = packed(table, tmp_path / "t.arrow", codec, rows)
    with pa.memory_map(str(path)) as mapped:
        claims = claims_of(mapped)
        found = pa.ipc.open_file(mapped)
        batches = [found.get_batch(i) for i in range(found.num_record_batches)]
        held = [
            sum(b.size for c in batch.columns for b in c.buffers() if b is not None)
            for batch in batches
        ]
    assert [claim.rows for claim in claims[1:]] == [batch.num_rows for batch in batches]
    for claim, size in zip(claims[1:], held, strict=True):
        assert size <= claim.size <= size + 64 * 12  # padded
        assert claim.unpacked <= claim.size
        assert bool(claim.unpacked) == bool(codec)


def test_a_packed_arrow_file_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """74 kB took 4 GB, or ended the process."""
    zeros = pa.array([0]).take(pa.array([0] * 3_000_000))
    path = packed(pa.table({"a": zeros, "b": zeros}), tmp_path / "t.arrow")
    assert path.stat().st_size < 10_000
    assert sum(frame.height for frame in io.batches(path)) == 3_000_000
    with pa.memory_map(str(path)) as mapped:
        (claim,) = claims_of(mapped)
    assert claim == (3_000_000, 48_000_000, 48_000_000)
    monkeypatch.setattr(arrow, "sound_batches", None)  # which unpacks
    monkeypatch.setattr(reader, "sound_batches", None)
    with pytest.raises(TableError, match="in one packed piece"):
        list(io.batches(path, memory=4 * 48_000_000 - 4))
    monkeypatch.setattr(formats, "_ROOMY", 40_000_000)
    with pytest.raises(TableError, match="no table about people can be packed so well"):
        io.read(path)
    monkeypatch.setattr(formats, "available", lambda: 3 * 48_000_000 - 1)
    with pytest.raises(TableError, match="GB of memory are free"):
        io.read(path)
    with pytest.raises(TableError, match="in one packed piece"):
        list(io.batches(path))


def test_a_packed_arrow_file_under_a_memory_limit(tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    zeros = pa.array([0]).take(pa.array([0] * 20_000_000))
    path = packed(pa.table({"a": zeros}), tmp_path / "t.arrow")
    known: dict[str, Any] = {"quasi": "a", "sensitive": "a", "principles": "k-anonymity:k=2"}
    with pytest.raises(TableError, match="in one packed piece"):
        wb.check(path, memory="512MB", **known)


def test_metadata_that_are_damaged(tmp_path: Path) -> None:
    path = packed(pa.table({"a": range(3000)}), tmp_path / "t.arrow")
    whole = path.read_bytes()
    for place in range(8, len(whole) - 10, 3):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        with suppress(pa.ArrowInvalid):
            claims_of(pa.BufferReader(bytes(damaged)))
    for length in (0, 3, 9, len(whole) // 2):
        with pytest.raises(pa.ArrowInvalid):
            claims_of(pa.BufferReader(whole[:length]))


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_a_long_text_that_is_stored_once(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """588 bytes with one text of 1 MB in 3,000 rows took 3 GB to publish."""
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array(["x" * 10**5]))
    table = pa.table({"a": [1] * 300, "b": words})
    if form == "parquet":
        path = tmp_path / "t.parquet"
        parquet.write_table(table, path, store_schema=False, compression="zstd")
    else:
        path = packed(table, tmp_path / "t.arrow")
    assert path.stat().st_size < 30_000
    assert io.read(path).height == 300
    monkeypatch.setattr(formats, "_ROOMY", 10**7)
    with pytest.raises(TableError, match="no table about people can be packed so well"):
        io.read(path)
    monkeypatch.setattr(formats, "available", lambda: 3 * 10**7)
    with pytest.raises(TableError, match="GB of memory are free"):
        io.read(path)


def test_a_packed_file_that_cannot_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 50_000))
    assert io.read(path).height == 50_000
    monkeypatch.setattr(formats, "available", lambda: 200_000 * 8 - 1)  # reading takes 8 times it
    with pytest.raises(TableError, match="unpacks to more than") as caught:
        io.read(path)
    assert "memory=" in str(caught.value.hint)
    assert sum(frame.height for frame in io.batches(path)) == 50_000


def test_a_packed_file_that_no_table_packs_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000))
    assert path.stat().st_size * 200 < 2_000_000  # whatever memory is free
    assert io.read(path).height == 500_000  # so little does no harm
    monkeypatch.setattr(formats, "_HARMLESS_TEXT", 10**6)
    with pytest.raises(TableError, match="no table about people can be packed so well") as caught:
        io.read(path)
    assert "unpack it yourself" in str(caught.value.hint)


def test_encodings(tmp_path: Path) -> None:
    text = "age,disease\n20,grippe\n30,rhume é\n"
    for encoding in ("utf-16", "utf-32", "utf-8-sig"):  # with a mark
        (path := tmp_path / "t.csv").write_text(text, encoding=encoding)
        assert io.read(path)["age"].to_list() == ["20", "30"]
        assert [frame.height for frame in io.batches(path)] == [2]
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"):  # without one
        path.write_text(text, encoding=encoding)
        for read in (io.read, lambda path: list(io.batches(path))):
            with pytest.raises(TableError) as caught:
                read(path)
            assert "encoding" in str(caught.value)
        assert io.read(path, io.ReadOptions(encoding=encoding)).height == 2


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("us"), pl.Datetime("ms")])
def test_dates_that_python_does_not_have(
    kind: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """polars panics when it is to show them."""
    day = 1 if kind == pl.Date else 86_400_000 * (1000 if kind.time_unit == "us" else 1)
    numbers = pl.Series([0, 0, 10_000_000 * day, 10_000_000 * day])
    far = numbers.cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    frame = pl.DataFrame({"q": far, "s": [1, 2, 3, 4]})
    frame.write_parquet(path := tmp_path / "t.parquet")
    frame.write_ipc(tmp_path / "t.arrow")
    known: dict[str, Any] = {"quasi": "q", "sensitive": "s", "principles": "k-anonymity:k=2"}
    for table in (frame, path, tmp_path / "t.arrow"):
        with pytest.raises(TableError, match="row 3: a date outside the years 1 to 9999"):
            wb.check(table, **known)
    pytest.importorskip("duckdb")
    for table in (path, tmp_path / "t.arrow"):
        with pytest.raises(TableError, match="a date outside the years 1 to 9999"):
            wb.check(table, memory="512MB", quasi="s", sensitive="q", principles="distinct-l:l=1")
    if kind == pl.Date:
        with pytest.raises(TableError, match="a date outside the years 1 to 9999"):
            wb.check(path, memory="512MB", **known)
    assert "panicked" not in capfd.readouterr().err


def test_the_first_and_the_last_date(tmp_path: Path) -> None:
    days = pl.Series([date.min, date.max])
    times = pl.Series([datetime.min, datetime.max])
    frame = pl.DataFrame({"d": days, "t": times})
    io.write(frame, path := tmp_path / "t.parquet")
    assert io.read(path).equals(frame)


def test_a_long_message_is_cut() -> None:
    assert len(TableError("x" * 10**6, hint="y").what) == 1000


@pytest.mark.parametrize("name", ["punycode", "idna", "rot13", "base64", "undefined", "hex"])
def test_what_is_no_encoding_of_tables(name: str, tmp_path: Path) -> None:
    (path := tmp_path / "t.csv").write_text("age,disease\n20,flu\n30,flu\n")
    options = io.ReadOptions(encoding=name)
    for read in (io.read, lambda *given: list(io.batches(*given))):
        with pytest.raises(TableError, match="there is no encoding") as caught:
            read(path, options)
        assert "utf-8" in str(caught.value.hint)


def test_a_number_beyond_all_measure() -> None:
    for value in (1e308, "1e400", 1e-310):
        with pytest.raises(ParameterError, match="from 1e-300 to 1e300") as caught:
            make("epsilon-m", {"epsilon": value, "m": 2})
        assert len(caught.value.what) < 200
    with pytest.raises(ParameterError, match="at most 9,007,199,254,740,992"):
        make("k-anonymity", {"k": 2**60})
    with pytest.raises(ParameterError, match="must be a number from 0, not -1"):
        make("epsilon-m", {"epsilon": -1, "m": 2})
