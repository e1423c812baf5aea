"""Long files: columns of text held by their distinct values are text like any other."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wideberth as wb
from wideberth import datasets, io
from wideberth.core.codes import encode, encode_as
from wideberth.core.strings import held_as_words, in_words, is_text, words
from wideberth.core.types import infer_type
from wideberth.errors import TableError

ROWS = 12_000  # more than the first look at a file takes in
SAL = {"quasi": ["age", "birthplace"], "sensitive": "income"}


def write(path: Path, columns: dict[str, list[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


cells = st.sampled_from(
    [
        "",
        "?",
        "NA",
        " NA ",
        " ",
        "a",
        " a",
        "a ",
        "7",
        "007",
        "+7",
        "7.0",
        'q"q',
        "x,y",
        "x\ny",
        "ä",
    ]
)


@settings(max_examples=20)
@given(st.lists(cells, min_size=1, max_size=9), st.integers(0, 2**32))
def test_what_a_long_file_says(tmp_path_factory: pytest.TempPathFactory, few: list[str], seed: int):
    path = tmp_path_factory.mktemp("long") / "table.csv"
    drawn = np.random.default_rng(seed).integers(0, len(few), ROWS)
    some = [few[i] for i in drawn]
    write(path, {"few": some, "name": [f"person {i}" for i in range(ROWS)]})
    frame = io.read(path)
    assert held_as_words(frame["few"].dtype)
    assert frame["name"].dtype == pl.String  # no value occurs twice
    missing = ("", "?", "NA")
    plain = pl.Series("few", [None if c.strip() in missing else c for c in some], dtype=pl.String)
    assert frame["few"].cast(pl.String).equals(plain)
    # Whatever is asked of the one gets the other's answer.
    kind = infer_type(plain)
    assert infer_type(frame["few"]) == kind
    for as_words, as_text in (
        (encode(frame["few"]), encode(plain)),
        (encode_as(frame["few"], kind), encode_as(plain, kind)),
    ):
        assert as_words.codes.tolist() == as_text.codes.tolist()
        assert as_words.domain.texts == as_text.domain.texts
        assert as_words.domain.missing == as_text.domain.missing
        assert as_words.domain.histogram.tolist() == as_text.domain.histogram.tolist()


def test_a_header_is_no_value(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    write(path, {"age": [str(20 + i % 50) for i in range(30_000)]})
    frame = io.read(path)
    assert held_as_words(frame["age"].dtype)
    assert infer_type(frame["age"]) == "integer"
    assert encode_as(frame["age"], "integer").domain.size == 50


def test_a_bad_cell_is_found_in_its_row(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    ages = [str(20 + i % 50) for i in range(30_000)]
    ages[23_456] = "secret"
    write(path, {"age": ages})
    with pytest.raises(TableError, match="row 23457: not an integer"):
        encode_as(io.read(path)["age"], "integer")


def test_a_users_categories_are_a_type() -> None:
    users = pl.Series(["1", "2"], dtype=pl.Categorical)
    ours = words(pl.Series(["1", "2"]), pl.Series([0, 1, 0], dtype=pl.UInt32))
    assert not is_text(users.dtype)
    assert infer_type(users) == "category"
    assert infer_type(ours) == "integer"
    texts, codes = in_words(ours)
    assert (texts.to_list(), codes.tolist()) == (["1", "2"], [0, 1, 0])


def test_a_long_file_is_checked_like_the_table_it_holds(tmp_path: Path) -> None:
    people = datasets.sal(ROWS, seed=3).select("age", "birthplace", "income")
    people.write_csv(tmp_path / "people.csv")
    asked = {**SAL, "principles": ["k-anonymity:k=2", "epsilon-m:epsilon=2000,m=2"]}
    found, expected = (wb.check(t, worst=0, **asked) for t in (tmp_path / "people.csv", people))
    assert found.to_dict() == expected.to_dict()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_whole_numbers_are_published_as_such(tmp_path: Path, suffix: str) -> None:
    people = datasets.sal(ROWS, seed=3).select("age", "birthplace", "income")
    odd = pl.Series("code", [f"{i % 40:03}" for i in range(ROWS)])
    number = pl.Series("number", [str(i % 40) for i in range(ROWS)])
    note = number.alias("note")
    people = people.with_columns(odd, number, note)
    people.write_csv(tmp_path / "people.csv")
    release = wb.anonymize(
        tmp_path / "people.csv",
        **SAL,
        insensitive=["code", "number", "note"],
        types={"note": "text"},
        principles="k-anonymity:k=5",
        cuts="paper",
    )
    target = tmp_path / f"release.{suffix}"
    release.save(target)
    table = release.table if suffix == "csv" else pl.read_parquet(target)
    assert table.schema["income"] == table.schema["number"] == pl.Int64
    assert table.schema["code"] == table.schema["note"] == pl.String  # 007 is no number
    for name in ("income", "code", "number"):
        assert sorted(table[name].cast(pl.String)) == sorted(people[name].cast(pl.String))


def test_tables_of_groups_hold_plain_text(tmp_path: Path) -> None:
    people = datasets.sal(ROWS, seed=3).select("age", "birthplace", "income")
    people.write_csv(tmp_path / "people.csv")
    table = wb.check(tmp_path / "people.csv", **SAL, principles="k-anonymity:k=2").table
    assert table.schema["age"] == pl.String
