"""Sensitive values of several numbers, as a user types them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from wideberth import io

COLUMNS = ["disease.flu", "disease.asthma", "disease.none"]
QI = ("--qi", "age,zip")
DISSIMILAR = "dissimilarity:epsilon=0.1,delta=0.6,k=3"
ON_PREFIX = (*QI, "--sensitive", "disease.*", "--principle", DISSIMILAR)
ON_COLUMN = (*QI, "--sensitive", "disease", "--principle", DISSIMILAR)


def people(rows: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(6)
    shares = np.floor(rng.dirichlet(np.ones(3), rows) * 100).astype(int)
    shares[:, 2] = 100 - shares[:, :2].sum(axis=1)
    table = {"age": rng.integers(20, 80, rows), "zip": rng.integers(100, 120, rows)}
    return pl.DataFrame(table | {c: shares[:, i] / 100 for i, c in enumerate(COLUMNS)})


@pytest.fixture
def files(write):
    """One table in every shape."""
    wide = people()
    wide.write_csv("wide.csv")
    wide.write_parquet("wide.parquet")
    quasi = ("age", "zip")
    wide.select(*quasi, disease=pl.concat_list(COLUMNS)).write_parquet("lists.parquet")
    structs = wide.select(*quasi, disease=pl.struct(pl.col(c).alias(c[8:]) for c in COLUMNS))
    structs.write_parquet("structs.parquet")
    structs.write_ipc("structs.arrow")
    return wide


SHAPES = {
    "wide.csv": ON_PREFIX,
    "wide.parquet": ON_PREFIX,
    "lists.parquet": ON_COLUMN,
    "structs.parquet": ON_COLUMN,
    "structs.arrow": ON_COLUMN,
}


@pytest.mark.parametrize(("name", "asked"), SHAPES.items(), ids=SHAPES)
def test_from_the_table_to_a_checked_release(run, files, name, asked):
    out = f"release{Path(name).suffix}"
    made = run("anonymize", name, *asked, "-o", out, "--format", "json")
    assert made.code == 0, made.err
    manifest = json.loads(made.out)
    on = "+".join(COLUMNS) if name.startswith("wide") else "disease"
    assert manifest["principles"][0].endswith(f" on {on}")
    again = run("check", out, "--group", "group", *asked[2:], "--format", "json")
    assert again.code == 0, again.err
    report = json.loads(again.out)["principles"][0]
    assert (report["on"], report["satisfied"]) == (on, True)
    if not name.startswith("wide"):
        assert io.column_types(out)["disease"] == io.column_types(name)["disease"]


def test_a_prefix_everywhere(run, files):
    wide = files.rename({"age": "home.age", "zip": "home.zip"})
    wide.write_csv("home.csv")
    plain = run("check", "wide.csv", *ON_PREFIX, "--format", "json")
    short = run(
        *("check", "home.csv", "--qi", "home.*", "--sensitive", "disease.*", "--format", "json"),
        *("--principle", "dissimilarity:on=disease.*,epsilon=0.1,delta=0.6,k=3"),
    )
    one, other = json.loads(plain.out), json.loads(short.out)
    assert one["groups"] == other["groups"]
    assert one["principles"][0]["achieved"] == other["principles"][0]["achieved"]


def test_a_prefix_in_a_policy(run, write, files):
    write(
        "policy.toml",
        'group = "group"\n[roles]\nquasi = ["age", "zip"]\nsensitive = ["disease.*"]\n[types]\n'
        '"disease.flu" = "float"\n[[principle]]\nname = "dissimilarity"\non = "disease.*"\n'
        "epsilon = 0.1\ndelta = 0.6\nk = 3\n[transform]\nmax_memory = 8\n",
    )
    made = run("anonymize", "wide.csv", "-p", "policy.toml", "-o", "out.csv", "--format", "json")
    assert made.code == 0, made.err
    assert json.loads(made.out)["roles"]["sensitive"] == COLUMNS
    assert run("check", "out.csv", "-p", "policy.toml").code == 0


def test_bad_prefixes(run, write, files):
    run("check", "wide.csv", *QI, "--sensitive", "diseas.*", "--principle", DISSIMILAR).refuses(
        1, "no column that begins with 'diseas.'", "'disease.*'"
    )
    run("check", "wide.csv", *ON_PREFIX[:-1], f"{DISSIMILAR},on=x.*").refuses(
        2, "no sensitive attribute begins with 'x.'", "on=disease.*"
    )
    run("check", "wide.csv", "--qi", "age,disease.*", *ON_PREFIX[2:]).refuses(
        1, "is both quasi-identifier and sensitive"
    )
    asked = ("--qi", "age,zip,disease.*", *ON_PREFIX[2:], "--dry-run")
    run("anonymize", "wide.csv", *asked).refuses(1, "listed as quasi and as sensitive")
    write(
        "policy.toml",
        '[roles]\nquasi = ["age", "zip"]\nsensitive = ["disease.*", "disease.*"]\n'
        '[[principle]]\nname = "distinct-l"\non = "disease.flu"\nl = 2\n',
    )
    run("check", "wide.csv", "-p", "policy.toml").refuses(1, "listed twice as sensitive")


@pytest.mark.parametrize("name", ["lists.parquet", "structs.parquet", "structs.arrow"])
def test_no_vectors_in_a_file_of_text(run, files, name, monkeypatch):
    def never(*_: object, **__: object) -> None:
        raise AssertionError("work was begun")

    monkeypatch.setattr("wideberth.release.anonymize.anonymize", never)
    held = "lists" if name == "lists.parquet" else "structs"
    run("anonymize", name, *ON_COLUMN, "-o", "out.csv").refuses(
        1, f"column 'disease' holds {held}, which a CSV file cannot", ".parquet"
    )
    assert not Path("out.csv").exists()


def test_vectors_that_are_dropped_need_no_room(run, files):
    pl.read_parquet("lists.parquet").with_columns(
        pl.Series("face.a", [[1.0]] * 40), pay=pl.int_range(40)
    ).write_parquet("faces.parquet")
    asked = (*QI, "--identifier", "face.*,disease", "--sensitive", "pay")
    made = run(
        "anonymize", "faces.parquet", *asked, "--principle", "distinct-l:l=2", "-o", "out.csv"
    )
    assert made.code == 0, made.err


@pytest.mark.parametrize(
    ("cells", "phrase"),
    [
        ([[0.5, 0.5], [0.5, float("nan")]], "'disease[1]' is NaN or infinite"),
        ([[0.5, 0.5], [1.0]], "not as long as the first list"),
        ([[0.5, 0.5], []], "an empty list"),
        ([None, ["Zq7Xhush"]], "not a vector of numbers"),
        ([{"a": 1.0}, {"a": float("inf")}], "'disease.a' is NaN or infinite"),
        ([{"a": 0.5, "b": 0.5}, {"a": 1.0, "b": None}], "'disease.b' is missing"),
        ([None, {"a": "Zq7Xhush"}], "not a vector of numbers"),
    ],
)
@pytest.mark.parametrize("command", ["check", "anonymize"])
def test_bad_vectors(run, cells, phrase, command):
    table = pl.DataFrame({"age": [1, 1], "zip": [2, 2], "disease": cells})
    table.write_parquet("bad.parquet")
    more = ("-o", "out.parquet") if command == "anonymize" else ()
    run(command, "bad.parquet", *ON_COLUMN, *more).refuses(1, "column 'disease', row 2: ", phrase)


@pytest.mark.parametrize(
    ("cell", "phrase"),
    [
        ("nan", "column 'disease.flu', row 2: NaN"),
        ("Zq7Xhush", "column 'disease.flu', row 2: not a number"),
        ("", "column 'disease.flu', row 2: missing, but other components are not"),
    ],
)
def test_bad_components(run, write, cell, phrase):
    write("bad.csv", f"age,zip,disease.flu,disease.none\n1,2,0.5,0.5\n1,2,{cell},0.5\n")
    run("check", "bad.csv", *ON_PREFIX[:-1], f"{DISSIMILAR},distance=variational").refuses(
        1, phrase
    )


def test_more_rows_than_there_are(run, files):
    asked = (*QI, "--sensitive", "disease.*", "--principle", "dissimilarity:epsilon=0,delta=0,k=41")
    run("anonymize", "wide.csv", *asked, "-o", "out.csv").refuses(3, "k=4")
    assert not Path("out.csv").exists()


def test_memory(run, files):
    ample = run("check", "wide.csv", *ON_PREFIX)
    assert run("check", "wide.csv", *ON_PREFIX, "--max-memory", "1") == ample
    assert run("check", "wide.csv", *ON_PREFIX, "--max-memory", "0").code == 2
    assert run("check", "wide.csv", *ON_PREFIX, "--max-memory", "1.5").code == 2
    asked = ("--max-memory", "2", "--dry-run", "--format", "json")
    manifest = json.loads(run("anonymize", "wide.csv", *ON_PREFIX, *asked).out)
    assert manifest["transform"]["max_memory"] == 2


@pytest.mark.parametrize(
    ("name", "on", "distance"),
    [
        ("wide.csv", "disease.*", "variational"),
        ("lists.parquet", "disease", "euclidean"),
        ("structs.parquet", "disease", "euclidean"),
    ],
)
def test_init(run, write, files, name, on, distance):
    outcome = run("init", name)
    assert (outcome.code, outcome.err) == (0, "")
    before, after = outcome.out.split("remove the marks:\n")
    principle, rest = after.split("\n\n", 1) if "\n\n" in after else (after, "")
    inner = principle.replace("# ", "") + "\n" + rest
    principle = tomllib.loads(inner)["principle"][0]
    assert principle == {
        "name": "dissimilarity",
        "on": on,
        "epsilon": 0.1,
        "delta": 0.8,
        "k": 5,
        "distance": distance,
    }
    write("policy.toml", before.rsplit("\n#", 1)[0] + "\n" + inner.replace("0.8", "0.2"))
    made = run("anonymize", name, "-p", "policy.toml", "-o", f"out{Path(name).suffix}")
    assert made.code == 0, made.err
    guesses = json.loads(run("init", name, "--format", "json").out)["columns"]
    assert {g["part_of"] for g in guesses} == ({None, "disease"} if on[-1] == "*" else {None})
