"""Tables in and out: the same table by every road, and an error for every bad one."""

from __future__ import annotations

import codecs
import datetime as dt
import gzip
import os
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import wideberth as wb
from wideberth import io
from wideberth.errors import OutputError, ParameterError, TableError
from wideberth.io import ReadOptions, TableWarning

HIDDEN = "Zanzibar7"
PEOPLE = pl.DataFrame(
    {
        "zip": ["01234", None, "99999", "01234"],
        "note": ["a, b", 'say "x"', "two\nlines", None],
        "sex": ["f", "m", "é", "ß"],
    }
)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- every road in and out ---------------------------------------------------------------


def by_file(name: str) -> Callable[[pl.DataFrame, Path], pl.DataFrame]:
    def travel(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
        io.write(frame, folder / name)
        return io.read(folder / name)

    return travel


def by_memory(
    make: Callable[[pl.DataFrame], Any], kind: type
) -> Callable[[pl.DataFrame, Path], pl.DataFrame]:
    def travel(frame: pl.DataFrame, _: Path) -> pl.DataFrame:
        inside, back = io.adopt(make(frame))
        outside = back(inside)
        assert isinstance(outside, kind)
        return io.adopt(outside)[0]

    return travel


FILES = [
    *("t.csv", "t.CSV", "t.tsv", "t.txt", "t.csv.gz", "t.tsv.gz", "T.CSV.GZ"),
    *("t.parquet", "t.pq", "t.feather", "t.arrow", "t.ipc", "a[0]*.parquet", "a[0]*.csv"),
]
MEMORY = {
    "pandas": by_memory(lambda f: f.to_pandas(), pd.DataFrame),
    "pandas-index": by_memory(
        lambda f: f.to_pandas().set_axis([7, 7, 5, 5], axis="index"), pd.DataFrame
    ),
    "polars": by_memory(lambda f: f, pl.DataFrame),
    "polars-lazy": by_memory(lambda f: f.lazy(), pl.DataFrame),
    "pyarrow": by_memory(lambda f: f.to_arrow(), pa.Table),
    "narwhals": by_memory(lambda f: nw.from_native(f), pl.DataFrame),
}
ROADS = {name: by_file(name) for name in FILES} | MEMORY


@pytest.fixture(params=ROADS)
def road(request: pytest.FixtureRequest) -> Callable[[pl.DataFrame, Path], pl.DataFrame]:
    return ROADS[request.param]


def test_every_road_brings_the_same_table(road: Any, tmp_path: Path) -> None:
    assert_frame_equal(road(PEOPLE, tmp_path), PEOPLE)


@pytest.mark.parametrize(
    "values", [["a", None, "b", "c"], ["x,y", "x;y", None, "z"], ["p", "q", "r", None]]
)
def test_a_single_column_keeps_its_missing_rows(
    road: Any, tmp_path: Path, values: list[str | None]
) -> None:
    frame = pl.DataFrame({"only": values})
    assert_frame_equal(road(frame, tmp_path), frame)


def test_names_that_look_like_patterns_are_names(road: Any, tmp_path: Path) -> None:
    frame = pl.DataFrame({"^a.*$": ["1", None, "?x", "2"], "ab": ["x", "y", "z", "w"], "*": "s"})
    assert_frame_equal(road(frame, tmp_path), frame)


TYPED = pl.DataFrame(
    {
        "i": [1, 2],
        "f": [0.1 + 0.2, 1e-7],
        "b": [True, False],
        "d": [dt.datetime(2024, 2, 29, 1), None],
        "c": pl.Series(["u", "v"], dtype=pl.Categorical),
        "m": [Decimal("1.50"), Decimal("2.25")],
        "l": [[1.0], [2.0, 3.0]],
    }
)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_typed_files_keep_types(name: str, tmp_path: Path) -> None:
    assert_frame_equal(by_file(name)(TYPED, tmp_path), TYPED)


@pytest.mark.parametrize("kind", [k for k in MEMORY if k != "pandas-index"])
def test_memory_keeps_types(kind: str, tmp_path: Path) -> None:
    # pandas has no decimal type of its own, so precision may differ.
    frame = TYPED.drop("m", "l")
    assert_frame_equal(MEMORY[kind](frame, tmp_path), frame, check_dtypes=kind != "pandas")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
CELLS = TEXT.filter(lambda s: s.strip() not in ("", "?", "NA"))


@given(st.lists(st.tuples(CELLS, CELLS | st.none()), min_size=1), st.booleans())
def test_any_text_survives_csv(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str | None]], tab: bool
) -> None:
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    path = tmp_path_factory.mktemp("csv") / ("t.tsv" if tab else "t.csv")
    io.write(frame, path)
    delimiter = None if tab else ","
    assert_frame_equal(io.read(path, ReadOptions(delimiter=delimiter)), frame)


# --- CSV, its dialects and encodings -----------------------------------------------------


def test_csv_stays_text(tmp_path: Path) -> None:
    frame = io.read(put(tmp_path / "t.csv", "a,b,c\n007,1.50,true\n"))
    assert frame.rows() == [("007", "1.50", "true")]
    assert set(frame.dtypes) == {pl.String}


def test_missing_tokens_are_compared_without_blanks_or_quotes(tmp_path: Path) -> None:
    content = 'a,b\n?,x\n" ? ",y\nNA, NA\n"",  \nn/a,NAN\n'
    path = put(tmp_path / "t.csv", content)
    rows = [(None, "x"), (None, "y"), (None, None), (None, None), ("n/a", "NAN")]
    assert io.read(path).rows() == rows
    other = io.read(path, ReadOptions(missing=(" n/a ",)))
    assert other["a"].to_list() == ["?", " ? ", "NA", "", None]
    assert io.read(path, ReadOptions(missing=()))["a"].null_count() == 0


BLANKS = " \t\x0b\x0c\x85\xa0\u1680\u2003\u2028\u3000"


@given(st.lists(st.tuples(*[st.text(BLANKS + "?NA~!é–x", max_size=5)] * 2), min_size=1))
def test_any_blank_around_a_missing_token(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.String}, orient="row")
    io.write(frame, path)
    expected = [
        tuple(None if cell.strip() in ("", "?", "NA", "–") else cell for cell in row)
        for row in rows
    ]
    options = ReadOptions(delimiter=",", missing=("?", "", "NA", "–"))
    assert io.read(path, options).rows() == expected


@pytest.mark.parametrize(
    ("content", "width"),
    [
        ("a,b\n1,2\n", 2),
        ("a;b\n1,5;2,5\n", 2),
        ("a\tb\n1,2\t3;4\n", 2),
        ("a|b|c\n1|2|3\n", 3),
        ('"a;x",b\n"1;2",3\n', 2),
        ("a,b;c\n1,2;3\n", 2),
        ("a;b;c,d\n1;2;3,4\n", 3),
        ("comment\nwell, yes\nno\n", 1),
        ("a\n1;2\n3,4\n", 1),
        ("a,b\r1,2\r", 2),
        ("a,b\r\n1,2\r\n", 2),
        ("\n\na,b\n\n1,2\n\n", 2),
        ("a,b\n1,2", 2),
        (' a , b \n"x\ny",2\n', 2),
    ],
)
def test_delimiters_are_detected(tmp_path: Path, content: str, width: int) -> None:
    frame = io.read(put(tmp_path / "t.csv", content))
    assert frame.width == width
    assert all(name == name.strip() for name in frame.columns)


def test_a_header_of_any_length(tmp_path: Path) -> None:
    """The first look at a file is long enough for its header and a row."""
    names = [f"{'a rather long name of a column ' * 12}{i}" for i in range(400)]
    lines = [";".join(names), *(";".join("1,5" for _ in names) for _ in range(4))]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(lines))
    assert len(lines[0]) > 1 << 17
    table = io.read(path)
    assert table.columns == names
    assert table.height == 4


def test_detection_sees_whole_records_only(tmp_path: Path) -> None:
    row = '"' + "line; with, marks\n" * 50 + '";2\n'
    frame = io.read(put(tmp_path / "t.csv", "a;b\n" + row * 200))
    assert frame.shape == (200, 2)


@pytest.mark.parametrize("given_", ["\t", "\\t", "|", " ", ";"])
def test_a_given_delimiter_is_used(tmp_path: Path, given_: str) -> None:
    mark = given_.replace("\\t", "\t")
    path = put(tmp_path / "t.csv", f"a,x{mark}b,y\n1,2{mark}3,4\n")
    assert io.read(path, ReadOptions(delimiter=given_)).columns == ["a,x", "b,y"]


@pytest.mark.parametrize("bad", ["", ",,", "é", '"', "\n"])
def test_a_delimiter_is_one_character(tmp_path: Path, bad: str) -> None:
    path = put(tmp_path / "t.csv", "a,b\n1,2\n")
    with pytest.raises(ParameterError, match="cannot be a delimiter"):
        io.read(path, ReadOptions(delimiter=bad))


@pytest.mark.parametrize(
    ("encoding", "given_"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-8-sig", "utf-8"),
        ("utf-16", None),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("latin-1", "latin-1"),
        ("cp1252", "cp1252"),
        ("utf-32", "utf-32"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_encodings(tmp_path: Path, encoding: str, given_: str | None, name: str) -> None:
    data = 'é,b\nß,1\nx,"y\nz"\n'.encode(encoding)
    path = put(tmp_path / name, gzip.compress(data) if name.endswith(".gz") else data)
    frame = io.read(path, ReadOptions(encoding=given_))
    assert frame.rows(named=True) == [{"é": "ß", "b": "1"}, {"é": "x", "b": "y\nz"}]


def test_big_endian_utf16_is_told_by_its_mark(tmp_path: Path) -> None:
    path = put(tmp_path / "t.csv", codecs.BOM_UTF16_BE + "a,b\né,2\n".encode("utf-16-be"))
    assert io.read(path).rows() == [("é", "2")]


@pytest.mark.parametrize("content", [b"a,b\n1,2\n\xe9,3\n", b"\xe9,b\n1,2\n"])
def test_windows_1252_is_assumed_aloud(tmp_path: Path, content: bytes) -> None:
    path = put(tmp_path / "t.csv", content)
    with pytest.warns(TableWarning, match=r"of t\.csv is not valid UTF-8: read as") as caught:
        frame = io.read(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert "é" in [*frame.columns, *frame.to_series()]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        io.read(path, ReadOptions(encoding="cp1252"))


def test_late_bad_bytes_are_located(tmp_path: Path) -> None:
    content = b"a,b\n" + b"1,2\n" * 50_000 + b"\xff,2\n"
    path = put(tmp_path / "t.csv", content)
    with pytest.raises(TableError, match=r"^line 50002 of t\.csv is not valid utf-8\n"):
        io.read(path, ReadOptions(encoding="utf-8"))


# --- every bad file ----------------------------------------------------------------------

ROWS_2 = f"a,b\n1,2\n{HIDDEN},3\n"
BAD_FILES: list[tuple[str, str | bytes, str]] = [
    ("t.csv", "", "t.csv is empty"),
    ("t.parquet", "", "t.parquet is empty"),
    ("t.csv", "\n\n", "t.csv is empty"),
    ("t.csv", codecs.BOM_UTF8, "t.csv is empty"),
    ("t.csv", "a,b", "t.csv has a header but no rows"),
    ("t.csv", "a,b\n\n", "t.csv has a header but no rows"),
    ("t.csv", ROWS_2 + f"{HIDDEN}\n", "row 3 of t.csv has 1 fields, the header has 2"),
    ("t.csv", ROWS_2 + f"4,5,{HIDDEN}\n6\n", "row 3 of t.csv has 3 fields, the header has 2"),
    ("t.csv", f'a,b\n"{HIDDEN}\n1",2\n3\n', "row 2 of t.csv has 1 fields, the header has 2"),
    (
        "t.csv",
        "a,b\n" + "1,2\n" * 3_000_000 + f"{HIDDEN}\n",
        "row 3000001 of t.csv has 1 fields, the header has 2",
    ),
    ("t.csv", f'a,b\n1,"{HIDDEN}\n2,3\n', "t.csv cannot be split into rows"),
    ("t.csv", f'a\n1\n"{HIDDEN}\n2', "t.csv cannot be split into rows"),
    ("t.csv", f'a,b\n1,"{HIDDEN}\n' + "2,3\n" * 5_000_000, "t.csv cannot be split into rows"),
    ("t.csv", f"a,b,a\n{HIDDEN},2,3\n", "columns 1 and 3 of t.csv are both named 'a'"),
    ("t.csv", f"a,a \n{HIDDEN},2\n", "columns 1 and 2 of t.csv are both named 'a'"),
    ("t.csv", f"a,b, \n{HIDDEN},2,3\n", "column 3 of t.csv has no name"),
    ("t.csv", f"a,b\n{HIDDEN},\x81é\n".encode("latin-1"), "line 2 of t.csv is not valid UTF-8"),
    ("t.csv", codecs.BOM_UTF8 + b"a,b\n1,\xff\n", "line 2 of t.csv is not valid utf-8"),
    ("t.csv", codecs.BOM_UTF16_LE + b"a\0,\0b\0\n\0" + b"1", "line 2 of t.csv is not valid utf-16"),
    ("t.xlsx", HIDDEN, "t.xlsx has the unknown suffix '.xlsx'"),
    ("t", HIDDEN, "t has the unknown suffix ''"),
    ("t.parquet.gz", HIDDEN, "t.parquet.gz has the unknown suffix '.parquet.gz'"),
    ("t.parquet", HIDDEN, "t.parquet is damaged, or not what its suffix says"),
    ("t.feather", HIDDEN, "t.feather is damaged, or not what its suffix says"),
    ("t.csv.gz", HIDDEN, "t.csv.gz is damaged, or not what its suffix says"),
    (
        "t.csv.gz",
        gzip.compress(f"a,b\n{HIDDEN},2\n".encode() * 99)[:-12],
        "t.csv.gz is damaged, or not what its suffix says",
    ),
]


@pytest.mark.parametrize(("name", "content", "what"), BAD_FILES, ids=range(len(BAD_FILES)))
def test_bad_files(tmp_path: Path, name: str, content: str | bytes, what: str) -> None:
    with pytest.raises(TableError) as caught:
        io.read(put(tmp_path / name, content))
    assert caught.value.what == what
    assert caught.value.hint
    assert HIDDEN not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "no.csv"
    with pytest.raises(TableError, match="check the path") as caught:
        io.read(str(path))
    assert caught.value.what == f"there is no file {path}"


def test_a_directory(tmp_path: Path) -> None:
    (tmp_path / "t.csv").mkdir()
    with pytest.raises(TableError, match=r"t\.csv is a directory"):
        io.read(tmp_path / "t.csv")


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_file_that_may_not_be_read(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    io.write(PEOPLE, tmp_path / name)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(TableError, match=r"may not be read\n  try: ask for permission"):
        io.read(tmp_path / name)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_no_rows(tmp_path: Path, name: str) -> None:
    io.write(PEOPLE.clear(), tmp_path / name)
    with pytest.raises(TableError, match=rf"^{name} has no rows\n"):
        io.read(tmp_path / name)


@pytest.mark.parametrize("cut", [5, 60, 200])
def test_truncated_parquet(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.parquet"
    io.write(PEOPLE, path)
    put(path, path.read_bytes()[:-cut])
    with pytest.raises(TableError, match="is damaged, or not what its suffix says"):
        io.read(path)


@pytest.mark.parametrize("encoding", ["klingon", "hex", "a\0b"])
def test_an_unknown_encoding(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path / "t.csv", ROWS_2)
    with pytest.raises(TableError, match="there is no encoding") as caught:
        io.read(path, ReadOptions(encoding=encoding))
    assert repr(encoding) in caught.value.what


# --- writing -----------------------------------------------------------------------------


def test_csv_writes_missing_as_nothing(tmp_path: Path) -> None:
    io.write(pl.DataFrame({"a": [1, None], "b": [None, "x"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,b\n1,\n,x\n"


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.arrow"])
def test_the_same_table_is_the_same_file(tmp_path: Path, name: str) -> None:
    io.write(PEOPLE, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    io.write(PEOPLE, tmp_path / name, force=True)
    assert (tmp_path / name).read_bytes() == first


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    io.write_text("é\r\n\n", tmp_path / "policy.toml")
    assert (tmp_path / "policy.toml").read_bytes() == "é\r\n\n".encode()


def write_table(path: Path, **options: bool) -> None:
    io.write(PEOPLE, path, **options)


def write_text(path: Path, **options: bool) -> None:
    io.write_text("new", path, **options)


@pytest.mark.parametrize("write", [write_table, write_text])
def test_nothing_is_replaced_without_force(tmp_path: Path, write: Callable[..., None]) -> None:
    path = put(tmp_path / "t.csv", "old")
    with pytest.raises(OutputError, match=r"t\.csv exists\n  try: .*force=True"):
        write(path)
    assert path.read_text() == "old"
    write(path, force=True)
    assert path.read_text() != "old"
    assert os.listdir(tmp_path) == ["t.csv"]


@pytest.mark.parametrize("write", [write_table, write_text])
def test_a_link_stays_a_link(tmp_path: Path, write: Callable[..., None]) -> None:
    path = put(tmp_path / "t.csv", "old")
    (tmp_path / "link.csv").symlink_to(path)
    write(tmp_path / "link.csv", force=True)
    assert (tmp_path / "link.csv").is_symlink()
    assert path.read_text() != "old"


@pytest.mark.parametrize("write", [write_table, write_text, io.check_target])
def test_places_that_cannot_be_written(tmp_path: Path, write: Callable[..., None]) -> None:
    with pytest.raises(OutputError, match=r"there is no directory .*\n  try: create it first"):
        write(tmp_path / "no" / "t.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(OutputError, match=r"d\.csv is a directory"):
        write(tmp_path / "d.csv", force=True)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(OutputError, match="is not a regular file"):
        write(tmp_path / "pipe.csv", force=True)


def test_what_is_read_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path / "t.csv", "old")
    (tmp_path / "link.csv").symlink_to(path)
    os.link(path, tmp_path / "twin.csv")
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "./t.csv", str(path), "link.csv", "twin.csv"):
        with pytest.raises(OutputError, match=r"is the file that is read \(.*t\.csv\)"):
            io.check_target(name, force=True, sources=["no.csv", path])
    io.check_target("new.csv", sources=["no.csv", path])


def test_new_files_get_the_usual_permissions(tmp_path: Path) -> None:
    usual = put(tmp_path / "usual", "")
    io.write(PEOPLE, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").stat().st_mode == usual.stat().st_mode


def test_a_failure_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "t.csv", "old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=r"t\.csv cannot be written: No space left on device"):
        io.write(PEOPLE, path, force=True)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_an_unknown_suffix_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"t\.xlsx has the unknown suffix '\.xlsx'"):
        io.write(PEOPLE, tmp_path / "t.xlsx")
    assert not os.listdir(tmp_path)


def test_csv_holds_no_lists(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="column 'l' holds lists, which a CSV file cannot"):
        io.write(TYPED, tmp_path / "t.csv")
    assert not os.listdir(tmp_path)


# --- tables in memory --------------------------------------------------------------------


def test_pandas_types_and_missing_values() -> None:
    frame = pd.DataFrame(
        {
            "float": [1.5, np.nan],
            "Float64": pd.array([1.5, None], dtype="Float64"),
            "arrow": pd.array([1.5, np.nan], dtype="float64[pyarrow]"),
            "Int64": pd.array([1, None], dtype="Int64"),
            "object": pd.Series(["x", np.nan], dtype=object),
            "str": pd.Series(["x", None], dtype="str"),
            "string": pd.Series(["x", None], dtype="string"),
            "category": pd.Categorical(["x", None]),
            "datetime": pd.to_datetime(["2024-01-01", None]),
            "boolean": pd.array([True, None], dtype="boolean"),
        }
    ).set_axis(["r", "r"], axis="index")
    table, _ = io.adopt(frame)
    assert table.columns == list(frame.columns)
    assert table.row(1) == (None,) * 10
    assert table.row(0)[:4] == (1.5, 1.5, 1.5, 1)
    assert table["category"].dtype == pl.Categorical
    assert table["datetime"].dtype == pl.Datetime


def test_pandas_names_that_are_attributes_or_patterns_are_names() -> None:
    frame = pd.DataFrame({"column_names": ["x", "x"], "^c.*$": [np.nan, 1.0], "columns": [1, 2]})
    table, back = io.adopt(frame)
    assert table.rows() == [("x", None, 1), ("x", 1.0, 2)]
    pd.testing.assert_frame_equal(back(table), frame)


@pytest.mark.parametrize("make", [pl.DataFrame, pl.LazyFrame, pa.table])
def test_nan_is_a_number_elsewhere(make: Callable[..., Any]) -> None:
    table, _ = io.adopt(make({"x": [1.0, float("nan"), None]}))
    assert table["x"].is_nan().to_list() == [False, True, None]


def test_the_way_back_takes_another_table() -> None:
    _, back = io.adopt(pd.DataFrame({"a": [1]}, index=[9]))
    out = back(pl.DataFrame({"b": ["x", None]}))
    assert list(out.index) == [0, 1]
    assert out["b"].isna().to_list() == [False, True]


TWICE = [[1, 2, 3]]
BAD_FRAMES: list[tuple[Any, str]] = [
    ([1], "expected a pandas, polars or pyarrow table, got list"),
    ({"a": [1]}, "expected a pandas, polars or pyarrow table, got dict"),
    (None, "expected a pandas, polars or pyarrow table, got NoneType"),
    ("t.csv", "expected a pandas, polars or pyarrow table, got str"),
    (np.zeros((2, 2)), "expected a pandas, polars or pyarrow table, got ndarray"),
    (pl.Series([1]), "expected a pandas, polars or pyarrow table, got Series"),
    (pd.DataFrame(), "the table has no columns"),
    (pd.DataFrame(index=[1, 2]), "the table has no columns"),
    (pl.DataFrame(), "the table has no columns"),
    (pa.table({}), "the table has no columns"),
    (pd.DataFrame({"a": []}), "the table has no rows"),
    (pl.LazyFrame({"a": []}), "the table has no rows"),
    (pa.table({"a": []}), "the table has no rows"),
    (
        pd.DataFrame(TWICE, columns=["a", "b", "a"]),
        "columns 1 and 3 of the table are both named 'a'",
    ),
    (
        pa.table([[1], [2], [3]], names=["b", "a", "a"]),
        "columns 2 and 3 of the table are both named 'a'",
    ),
    (pd.DataFrame(TWICE), "column 1 of the table is named by int, not by text"),
    (
        pd.DataFrame(TWICE, columns=["a", ("b", "c"), "d"]),
        "column 2 of the table is named by tuple, not by text",
    ),
    (pl.DataFrame({"a": [1], "": [2]}), "column 2 of the table has no name"),
    *(
        (
            pd.DataFrame({"ok": [1, 2], "bad": pd.Series(values, dtype=object)}),
            "column 'bad' holds values of mixed or unsupported types",
        )
        for values in ([1, HIDDEN], [[HIDDEN], 1], [object(), HIDDEN], [2**70, 1.5], [2**70, True])
    ),
    (
        pd.DataFrame({"ok": [1, 2], "bad": pd.Series([2**70, -(10**38)], dtype=object)}),
        "column 'bad', row 2: a number of more than 38 digits",
    ),
    (
        pd.DataFrame({"ok": [1], "bad": [1 + 2j]}),
        "column 'bad' holds values of mixed or unsupported types",
    ),
    (
        pl.DataFrame({"ok": [1], "^b$": pl.Series([object()], dtype=pl.Object)}),
        "column '^b$' holds values of mixed or unsupported types",
    ),
]


@pytest.mark.parametrize(("frame", "what"), BAD_FRAMES, ids=range(len(BAD_FRAMES)))
def test_bad_frames(frame: Any, what: str) -> None:
    with pytest.raises(TableError) as caught:
        io.adopt(frame)
    assert caught.value.what == what
    assert caught.value.hint
    assert HIDDEN not in str(caught.value)
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_integers_of_pandas_that_64_bits_do_not_hold(missing: Any) -> None:
    values = [2**70, 2**70 + 1, -(10**38) + 1, missing]
    frame = pd.DataFrame({"ok": range(4), "s": pd.Series(values, dtype=object)})
    table, back = io.adopt(frame)
    assert table["s"].to_list() == [*values[:3], None]
    assert back(table)["s"].tolist() == [*values[:3], None]
    for epsilon, satisfied in ((0, True), (1, False)):
        principle = f"epsilon-m:epsilon={epsilon},m=2"
        near = frame.head(2).assign(q="a")
        assert bool(wb.check(near, quasi="q", sensitive="s", principles=principle)) is satisfied


def test_a_file_that_only_its_owner_may_read_stays_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    io.write(PEOPLE, path)
    path.chmod(0o600)
    io.write(PEOPLE, path, force=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_a_csv_file_cannot_hold(tmp_path: Path) -> None:
    spans = pl.DataFrame({"t": pl.Series([1], dtype=pl.Duration)})
    with pytest.raises(OutputError, match="'t' holds durations"):
        io.write(spans, tmp_path / "t.csv")


FORMULAS = ["=1+1", "+49 30 12345", "-x", "--1", "@SUM(A1)", "\t=1", "\r=1", "-1-1", "=", "-5..x"]
FORMULAS += [" =1", "\u00a0@a", "\uff1d1+1", "\uff0bx", "\uff0d1-1", "\uff20SUM", "\u2212x"]
NO_FORMULAS = [
    *("-5", "+3", "-1.5", "-.5", "-1,234.5", "+1e-5", "-5%", "-5 %", "-10..-5", "-1..2 or missing"),
    *(
        "-",
        "+",
        "-inf",
        "-NaN",
        "a=1",
        " -5",
        "\u22125",
        "\uff0d5",
        "\u00e9=",
        "1-2",
        "",
        "{-1|=}",
        "*",
    ),
]


def test_cells_that_look_like_formulas() -> None:
    cells = [*FORMULAS, *NO_FORMULAS, None]
    expected = len(FORMULAS) - 1  # a lone = does nothing
    frame = pl.DataFrame({"^x$": cells, "n": range(-15, len(cells) - 15)})
    kinds = [pl.String, pl.Categorical(), pl.Enum([c for c in cells if c is not None])]
    for kind in kinds:
        table = frame.cast({"^x$": kind}) if kind != pl.String else frame
        for held in (table, table.lazy()):
            assert io.formula_cells(held) == {"^x$": expected}
    for cell in cells:
        found = io.formula_cells(pl.DataFrame({"x": [cell]}, schema={"x": pl.String}))
        assert bool(found) == (cell in FORMULAS and cell != "="), cell
    assert io.formula_cells(pl.DataFrame({"=x": [1], "-5": [2]})) == {"=x": 1}
    assert io.formula_cells(pl.DataFrame()) == {}
