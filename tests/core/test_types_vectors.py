"""Sensitive values of several numbers: over several columns, in lists, arrays and structs."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wideberth as wb
from wideberth import io
from wideberth.checks.protection import proposed_policy
from wideberth.core import memory
from wideberth.core.codes import encode, join_columns
from wideberth.core.names import expand_short_forms, prefix_of, spread_over_columns
from wideberth.core.types import convert, infer_type, is_vector
from wideberth.errors import OutputError, ParameterError, PolicyError, TableError
from wideberth.io.sanitize import sanitized_series, sanitized_table
from wideberth.policy.guesses import guess_columns
from wideberth.policy.policy import Policy
from wideberth.policy.proposal import policy_text
from wideberth.policy.settings import Transform

DISEASES = ("flu", "asthma", "bronchitis", "none")
COLUMNS = [f"disease.{name}" for name in DISEASES]
QUASI = ["age", "zip"]
DISSIMILAR = "dissimilarity:epsilon=0.1,delta=0.6,k=3,distance=variational"


def spread_out(rows: int = 40) -> pl.DataFrame:
    """People, and how likely each has which disease: shares in hundredths that add up to 1."""
    rng = np.random.default_rng(4)
    shares = np.floor(rng.dirichlet(np.ones(4), rows) * 100).astype(int)
    shares[:, 3] = 100 - shares[:, :3].sum(axis=1)
    people = {"age": rng.integers(20, 80, rows), "zip": rng.integers(100, 120, rows)}
    numbers = {name: shares[:, i] / 100 for i, name in enumerate(COLUMNS)}
    return pl.DataFrame({**people, **numbers})


WIDE = spread_out()
LISTS = WIDE.select(*QUASI, disease=pl.concat_list(COLUMNS))
ARRAYS = LISTS.with_columns(pl.col("disease").list.to_array(4))
STRUCTS = WIDE.select(*QUASI, disease=pl.struct(pl.col(c).alias(c[8:]) for c in COLUMNS))
#: The same sensitive values in all shapes, and how they are named.
SHAPES = {
    "columns": (WIDE, "disease.*"),
    "lists": (LISTS, "disease"),
    "arrays": (ARRAYS, "disease"),
    "structs": (STRUCTS, "disease"),
}
each_shape = pytest.mark.parametrize(("table", "named"), SHAPES.values(), ids=SHAPES)
each_kind = pytest.mark.parametrize(
    "kind",
    [lambda t: t, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow],
    ids=["polars", "pandas", "pyarrow"],
)


def checked(table: object, sensitive: Any, principles: Any = DISSIMILAR, **rest: Any):
    rest.setdefault("quasi", QUASI)
    return wb.check(table, sensitive=sensitive, principles=principles, **rest)


# A prefix for all its columns.


def test_a_short_form_stands_for_the_columns_of_its_prefix():
    columns = ["p.a", "age", "p.b", "pp.c", "p"]
    assert expand_short_forms(["age", "p.*"], columns) == ["age", "p.a", "p.b"]
    assert expand_short_forms(["q.*"], columns) == ["q.*"]  # whoever needs it says so
    assert expand_short_forms(["p.*"], [*columns, "p.*"]) == ["p.*"]  # literally so named


def test_in_all_roles_and_in_on():
    expected = checked(WIDE, COLUMNS, f"{DISSIMILAR},on={'+'.join(COLUMNS)}").to_dict()
    for principle in (DISSIMILAR, f"{DISSIMILAR},on=disease.*"):
        assert checked(WIDE, "disease.*", principle).to_dict() == expected
    principle = wb.Dissimilarity(on=["disease.*"], epsilon=0.1, delta=0.6, k=3)
    found = checked(WIDE, ["disease.*"], principle).to_dict()["principles"][0]
    assert found["on"] == "+".join(COLUMNS)
    assert found["violating_rows"] == expected["principles"][0]["violating_rows"]
    renamed = WIDE.rename({"age": "home.age", "zip": "home.zip"})
    again = checked(renamed, "disease.*", quasi="home.*")
    assert again.groups == expected["groups"]


def test_in_a_policy():
    content = {
        "roles": {"quasi": ["home.*"], "sensitive": ["disease.*"], "identifier": ["name.*"]},
        "types": {"disease.flu": "float", "home.age": "integer"},
        "hierarchies": {"home.zip": {"mask": 3}},
        "transform": {"weights": {"home.age": 2}},
        "principle": [
            {"name": "dissimilarity", "on": "disease.*", "epsilon": 0.1, "delta": 0.6, "k": 3}
        ],
    }
    policy = Policy.of(content)
    table = WIDE.rename({"age": "home.age", "zip": "home.zip"}).with_columns(
        pl.Series("name.first", ["x"] * len(WIDE)), pl.Series("name.last", ["y"] * len(WIDE))
    )
    assert wb.check(table, policy=policy).rows == len(WIDE)
    release = wb.anonymize(table, policy=policy)
    assert release.table.columns == ["home.age", "home.zip", *COLUMNS, "group"]
    assert release.manifest["roles"]["sensitive"] == COLUMNS
    # It has no names any more.
    assert wb.check(release.table, policy=policy, group="group")
    assert not any("no principle protects" in note for note in release.manifest["warnings"])


def test_a_policy_may_type_a_whole_prefix():
    content = {"roles": {"sensitive": ["p.*"]}, "types": {"p.*": "text", "p.b": "float"}}
    types = spread_over_columns(Policy.of(content).types, ["p.a", "p.b", "q"])
    assert types == {"p.a": "text", "p.b": "float"}
    table = pl.DataFrame({"q": [1, 1], "p.a": ["1.0", "1"]})  # as numbers, one value
    roles = {"quasi": "q", "sensitive": "p.*", "principles": "distinct-l:l=2"}
    assert not wb.check(table, **roles)
    assert wb.check(table, **roles, types={"p.*": "text"})


def test_released_bounds_of_a_prefix():
    policy = Policy.of(
        {
            "roles": {"quasi": ["home.*"], "sensitive": ["disease.*"]},
            "principle": [{"name": "k-anonymity", "k": 2}],
            "transform": {"recoding": "bounds"},
        }
    )
    table = WIDE.rename({"age": "home.age", "zip": "home.zip"})
    release = wb.anonymize(table, policy=policy)
    assert "home.age_min" in release.table.columns
    assert wb.check(release.table, policy=policy)


def test_one_prefix_is_guarded_together_by_distances_alone():
    assert checked(WIDE, COLUMNS).principles[0].on == "+".join(COLUMNS)
    with pytest.raises(ParameterError, match="must say which") as caught:
        checked(WIDE, COLUMNS, "epsilon-m:epsilon=0.1,m=2")
    assert "on='disease.flu'" in str(caught.value)
    with pytest.raises(ParameterError, match="must say which") as caught:
        checked(WIDE.with_columns(x=1), [*COLUMNS, "x"])
    assert "on='disease.*'" in str(caught.value)
    with pytest.raises(ParameterError, match="must say which") as caught:
        checked(WIDE.rename({c: c[8:] for c in COLUMNS}), list(DISEASES))
    assert "on=['flu'" in str(caught.value)


@pytest.mark.parametrize(
    ("columns", "prefix"),
    [
        (["a.x", "a.y"], "a"),
        (["a.b.x", "a.b.y"], "a.b"),
        (["a.b.x", "a.c.y"], "a"),
        (["a.x"], None),
        (["a.x", "b.y"], None),
        (["a.x", "a"], None),
        (["x", "y"], None),
        ([], None),
    ],
)
def test_prefixes(columns, prefix):
    assert prefix_of(columns) == prefix


def test_a_prefix_of_nothing():
    with pytest.raises(TableError, match=r"no column that begins with 'dissease\.'") as caught:
        checked(WIDE, "dissease.*")
    assert "did you mean 'disease.*'?" in str(caught.value)
    with pytest.raises(PolicyError, match=r"no column that begins with 'p\.'"):
        wb.anonymize(WIDE, quasi=QUASI, sensitive="p.*", principles=DISSIMILAR)
    with pytest.raises(ParameterError, match=r"no sensitive attribute begins with 'p\.'") as caught:
        checked(WIDE, "disease.*", f"{DISSIMILAR},on=p.*")
    assert "on=disease.*" in str(caught.value)


def test_a_prefix_with_two_roles():
    with pytest.raises(TableError, match="both quasi-identifier and sensitive"):
        checked(WIDE, "disease.*", quasi=["age", "disease.*"])
    with pytest.raises(PolicyError, match=r"'disease\.flu' is listed as quasi and as sensitive"):
        wb.anonymize(
            WIDE, quasi=[*QUASI, "disease.*"], sensitive="disease.*", principles=DISSIMILAR
        )
    twice = Policy.of({"roles": {"quasi": QUASI, "sensitive": ["disease.*", "disease.flu"]}})
    for work in (wb.check, wb.anonymize):
        with pytest.raises(PolicyError, match=r"'disease\.flu' is listed twice as sensitive"):
            work(WIDE, policy=twice, principles=DISSIMILAR)


# Lists, arrays and structs.


@each_kind
@each_shape
def test_the_shape_does_not_matter(table, named, kind):
    columns = checked(WIDE, "disease.*", quasi="zip").principles[0]
    report = checked(kind(table), named, quasi="zip").principles[0]
    assert report.achieved == columns.achieved
    assert report.violating_rows == columns.violating_rows


@each_kind
@each_shape
def test_published_unchanged_and_verified_from_the_file(table, named, kind, tmp_path):
    release = wb.anonymize(kind(table), quasi=QUASI, sensitive=named, principles=DISSIMILAR)
    assert type(release.table) is type(kind(table))
    published, _ = io.adopt(release.table)
    original, _ = io.adopt(kind(table))
    sensitive = [c for c in table.columns if c.startswith("disease")]
    assert [published.schema[c] for c in sensitive] == [original.schema[c] for c in sensitive]

    def cells(frame: pl.DataFrame) -> list[str]:
        return sorted(map(str, frame.select(sensitive).rows()))

    assert cells(published) == cells(original)
    for suffix in (".parquet", ".arrow"):
        release.save(path := tmp_path / f"release{suffix}")
        written = io.read(path)
        assert [written.schema[c] for c in sensitive] == [published.schema[c] for c in sensitive]
        assert checked(path, named, quasi=None, group="group")


@each_shape
def test_other_ways_to_publish(table, named):
    if named == "disease":
        anatomy = wb.anonymize(
            table, quasi=QUASI, sensitive=named, principles=DISSIMILAR, algorithm="anatomy"
        )
        assert anatomy.check()
        assert anatomy.sensitive.schema["disease"] == table.schema["disease"]
    lattice = wb.anonymize(
        table,
        quasi=QUASI,
        sensitive=named,
        principles="dissimilarity:epsilon=0.05,delta=0.5,k=2,distance=variational",
        algorithm="lattice",
        hierarchies={"age": {"interval": [20, 60]}, "zip": {"flat": True}},
        suppression_limit=0.5,
    )
    assert lattice.check()


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ([[0.5, 0.5], [1.0]], "not as long as the first list"),
        ([[0.5, 0.5], []], "an empty list"),
        ([[0.5, 0.5], [0.5, float("inf")]], r"'p\[1\]' is NaN or infinite"),
        ([[0.5, 0.5], [None, 1.0]], r"'p\[0\]' is missing"),
        ([None, ["Zq7Xhush"]], "not a vector of numbers"),
        ([None, [[1.0], [2.0]]], "not a vector of numbers"),
        ([None, {"a": "Zq7Xhush"}], "not a vector of numbers"),
        ([None, {"a": 1.0, "b": [1.0]}], "not a vector of numbers"),
        ([{"a": 0.5, "b": 0.5}, {"a": None, "b": 1.0}], r"'p\.a' is missing"),
        ([{"a": 0.5, "b": 0.5}, {"a": 1.0, "b": float("-inf")}], r"'p\.b' is NaN or infinite"),
    ],
)
@each_kind
def test_what_is_no_vector_is_named_by_column_and_row(cells, what, kind):
    table = kind(pl.DataFrame({"q": [1, 1], "p": cells}))
    for principle in (DISSIMILAR, "dissimilarity:epsilon=0,delta=1", "distinct-l:l=2"):
        with pytest.raises(TableError, match=f"^column 'p', row 2: {what}\n  try: ") as caught:
            checked(table, "p", principle, quasi="q")
        assert "Zq7Xhush" not in str(caught.value)


@pytest.mark.parametrize("cell", [[0.5, float("nan")], {"a": 0.5, "b": float("nan")}])
def test_nan_in_a_vector(cell):
    whole = [0.5, 0.5] if isinstance(cell, list) else {"a": 0.5, "b": 0.5}
    table = pl.DataFrame({"q": [1, 1], "p": [whole, cell]})
    for kind in (table, table.to_arrow()):
        with pytest.raises(TableError, match=r"^column 'p', row 2: .* is NaN or infinite"):
            checked(kind, "p", quasi="q")
    # To pandas NaN is missing, but a vector lacks all of its numbers or none.
    frame = pd.DataFrame({"q": [1, 1], "p": [whole, cell]})
    with pytest.raises(TableError, match=r"^column 'p', row 2: .* is (NaN or infinite|missing)"):
        checked(frame, "p", quasi="q")


def test_nan_in_separate_columns():
    columns = {"q": [1, 1], "p.a": [0.5, float("nan")], "p.b": [0.5, 0.5]}
    with pytest.raises(TableError, match=r"column 'p\.a', row 2: NaN"):
        checked(pl.DataFrame(columns), "p.*", quasi="q")
    with pytest.raises(TableError, match=r"^column 'p\.a', row 2: missing, but other components"):
        checked(pd.DataFrame(columns), "p.*", quasi="q")
    columns["p.b"] = [0.5, float("nan")]
    assert checked(pd.DataFrame(columns), "p.*", quasi="q").notes  # missing altogether


def test_components_that_are_text():
    table = pl.DataFrame({"q": [1, 1], "p.a": ["0.5", "Zq7Xhush"], "p.b": ["0.5", "1"]})
    what = r"^dissimilarity needs numbers; column 'p\.a', row 2: not a number"
    with pytest.raises(TableError, match=what) as caught:
        checked(table, "p.*", quasi="q")
    assert "Zq7Xhush" not in str(caught.value)


def test_a_vector_is_a_type_of_vectors_alone():
    table = pl.DataFrame({"q": [1, 1], "p": ["a", "b"]})
    with pytest.raises(TableError, match="String, which makes no vector"):
        checked(table, "p", quasi="q", types={"p": "vector"})
    assert checked(LISTS, "disease", types={"disease": "vector"}).rows == len(LISTS)
    with pytest.raises(TableError, match="List, which makes no text"):
        checked(LISTS, "disease", types={"disease": "text"})
    with pytest.raises(TableError, match="epsilon-m needs numbers; column 'disease'"):
        checked(LISTS, "disease", "epsilon-m:epsilon=1,m=2")


@pytest.mark.parametrize("cells", [[{"a": 1, "b": 2}, None], [[1, 2], None]])
def test_missing_vectors(cells):
    column = encode(pl.Series("p", cells))
    assert (column.domain.missing, column.codes.tolist()) == (1, [0, 1])
    only = pl.Series("p", [None, None], dtype=pl.Series(cells).dtype)
    assert encode(only).domain.known == 0
    table = pl.DataFrame([pl.Series("q", [1, 1]), only])
    result = checked(table, "p", "dissimilarity:epsilon=0,delta=0,k=2", quasi="q")
    assert result
    assert "p is missing in 2 of 2 rows" in result.notes[0]


@pytest.mark.parametrize(
    ("dtype", "vector"),
    [
        (pl.List(pl.Int8), True),
        (pl.List(pl.Decimal(9, 2)), True),
        (pl.Array(pl.Float32, 2), True),
        (pl.Struct({"a": pl.Float64, "b": pl.Int64}), True),
        (pl.List(pl.String), False),
        (pl.List(pl.List(pl.Float64)), False),
        (pl.Struct({"a": pl.Float64, "b": pl.Date}), False),
        (pl.Struct({}), False),
        (pl.Float64(), False),
    ],
)
def test_types_of_vectors(dtype, vector):
    assert is_vector(dtype) == vector
    assert (infer_type(pl.Series(dtype=dtype)) == "vector") == vector


def test_components_have_names():
    structs = encode(pl.Series("^p$", [{"^a.*$": 1, "b": 2}, {"^a.*$": 3, "b": 2}])).domain
    assert [c.name for c in structs.components] == ["^p$.^a.*$", "^p$.b"]
    assert structs.vectors().units.tolist() == [[1, 2], [3, 2]]
    lists = encode(pl.Series("p", [[1, 2], [3, 2]])).domain
    assert [c.name for c in lists.components] == ["p[0]", "p[1]"]


def test_decimals_in_lists_and_structs_stay_exact():
    cells = [Decimal("0.10"), Decimal("0.90")]
    for series in (pl.Series("p", [cells]), pl.Series("p", [{"a": cells[0], "b": cells[1]}])):
        vectors = encode(series).domain.vectors()
        assert [int(u) * 10 // vectors.per for u in vectors.units[0]] == [1, 9]


def test_a_struct_converts_to_a_list():
    structs = pl.Series("p", [{"a": 1, "b": 2}, None, {"a": 3, "b": 4}])
    converted = convert(structs, "vector")
    assert converted.dtype == pl.List(pl.Float64)
    assert converted.to_list() == [[1.0, 2.0], None, [3.0, 4.0]]
    assert converted.name == "p"


@pytest.mark.parametrize("distinct", [3, 10_000])
def test_codes_of_many_columns_follow_the_order_of_rows(distinct):
    """As soon as all rows differ, the columns that follow decide nothing."""
    rng = np.random.default_rng(distinct)
    table = rng.integers(0, distinct, (300, 5))
    joint = join_columns("p", [encode(pl.Series(str(i), table[:, i])) for i in range(5)])
    values, codes = np.unique(table, axis=0, return_inverse=True)
    assert joint.codes.tolist() == codes.tolist()
    parts = [
        np.array(component.texts, dtype=int)[joint.domain.parts[:, i]]
        for i, component in enumerate(joint.domain.components)
    ]
    assert np.stack(parts, axis=1).tolist() == values.tolist()
    assert joint.domain.histogram.sum() == 300


@pytest.mark.parametrize("few", [True, False])
def test_floats_are_encoded_alike_be_they_few_or_many(few):
    rng = np.random.default_rng(0)
    cells = rng.choice([-1.5, 0.25, 3.0], 200) if few else rng.normal(size=200)
    series = pl.Series("p", cells).set(pl.Series(rng.random(200) < 0.1), None)
    column = encode(series)
    known = sorted(set(series.drop_nulls()))
    codes = {value: code for code, value in enumerate(known)} | {None: len(known)}
    assert column.codes.tolist() == [codes[value] for value in series]
    assert column.domain.values.to_list() == known


def test_quasi_identifiers_that_are_vectors():
    """They can be checked for what they are: values that are equal or not."""
    for table, value in ((LISTS, [0.5, 0.5]), (STRUCTS, {"a": 0.5, "b": 0.5})):
        people = pl.DataFrame({"p": [value] * 3, "pay": [1, 2, 3]})
        result = wb.check(people, quasi="p", principles="k-anonymity:k=4")
        assert result.to_dict(show_rows=True)["principles"][0]["worst"][0]["group"] == {
            "p": str(value)
        }
        with pytest.raises(TableError, match="quasi-identifier 'disease'"):
            wb.anonymize(table, quasi=[*QUASI, "disease"], principles="k-anonymity:k=2")


def test_one_column_read_as_numbers_and_by_its_tree():
    table = pl.DataFrame({"q": [1] * 4, "s": [1, 2, 11, 12]})
    principles = ["dissimilarity:epsilon=1,delta=1,distance=absolute", "l-e:l=2,e=0"]
    rest = {"hierarchies": {"s": {"interval": [10]}}, "types": {"s": "integer"}, "quasi": "q"}
    for order in (principles, principles[::-1]):
        found = checked(table, "s", order, **rest)
        assert {type(r.principle).__name__: r.satisfied for r in found.principles} == {
            "Dissimilarity": False,
            "LEDiversity": True,
        }


# What is published remembers nothing.

HIDDEN = 7777777.25
MASK = pa.array([False, True, False])
NUMBERS = pa.array([1.0, HIDDEN, 2.0])


def bytes_behind(array: pa.Array) -> bytes:
    return b"".join(bytes(b) for b in array.buffers() if b is not None)


HIDING = {
    "struct": pa.StructArray.from_arrays([NUMBERS], ["x"], mask=MASK),
    "list": pa.LargeListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int64()), NUMBERS, mask=MASK),
    "array": pa.FixedSizeListArray.from_arrays(NUMBERS, 1, mask=MASK),
    "number": pa.Array.from_buffers(
        pa.float64(), 3, [pa.array([True, False, True]).buffers()[1], NUMBERS.buffers()[1]]
    ),
}


@pytest.mark.parametrize("column", HIDING.values(), ids=HIDING)
def test_nothing_lies_under_missing_vectors(column):
    secret = np.array([HIDDEN]).tobytes()
    assert secret in bytes_behind(column)  # else this tests nothing
    series = pl.Series("p", pl.from_arrow(column))
    fresh = sanitized_series(series)
    assert fresh.to_list() == column.to_pylist()
    assert fresh.dtype == series.dtype
    assert secret not in bytes_behind(fresh.to_arrow())
    if pa.types.is_nested(column.type):
        rebuilt = sanitized_table(pa.table({"p": column})).column("p")
        assert rebuilt.type == column.type
        assert rebuilt.to_pylist() == column.to_pylist()
        assert secret not in b"".join(map(bytes_behind, rebuilt.chunks))


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("p", [[1.0, 2.0], None, []]),
        pl.Series("p", [], dtype=pl.List(pl.Float32)),
        pl.Series("p", [[[1], None], None, []], dtype=pl.List(pl.List(pl.Int8))),
        pl.Series("p", [[[1, 2], [None, 4]], None], dtype=pl.Array(pl.Int16, (2, 2))),
        pl.Series("p", [{"a": [1], "b": {"c": Decimal("1.5")}}, None, {"a": None, "b": None}]),
        pl.Series("p", [[dt.datetime(2020, 1, 1)], None]).cast(pl.List(pl.Datetime("ns"))),
        pl.Series("^p$", [["a", None], None, ["b"]]),
        pl.Series("p", [{"^a$": True}, None]),
    ],
    ids=lambda series: str(series.dtype),
)
def test_rebuilt_as_it_was(series):
    fresh = sanitized_series(series)
    assert fresh.equals(series, check_dtypes=True, check_names=True)


def test_arrays_within_pandas_are_their_own():
    whole = np.arange(6.0).reshape(3, 2)
    cells = pd.Series([whole[0], [whole[1], "b"], {"a": whole[2]}], dtype=object)
    one, (two, _), three = sanitized_table(pd.DataFrame({"p": cells}))["p"]
    for fresh, row in zip((one, two, three["a"]), whole, strict=True):
        assert fresh.base is None
        assert fresh.tolist() == row.tolist()


@pytest.mark.parametrize(
    ("cells", "held"), [([[1.0]], "lists"), ([{"a": 1.0}], "structs"), ([b"a"], "bytes")]
)
def test_a_file_of_text_holds_no_vectors(cells, held, tmp_path):
    frame = pl.DataFrame({"p": cells})
    with pytest.raises(OutputError, match=f"'p' holds {held}, .* CSV") as caught:
        io.write(frame, tmp_path / "p.csv")
    assert ".parquet" in str(caught.value)
    io.write(frame, tmp_path / "p.parquet")
    assert io.column_types(tmp_path / "p.parquet") == dict(frame.schema)


# What init proposes.


def proposed(frame: pl.DataFrame) -> tuple[str, dict]:
    """Return a policy, as it is and with all principles that are commented out put in force."""
    guesses = guess_columns(frame)
    text = policy_text(guesses, "table.csv", proposal=proposed_policy(frame, guesses))
    lines, marked = [], False
    for line in text.splitlines():
        marked = line == "# [[principle]]" or (marked and line.startswith("#"))
        lines.append(line[2:] if marked else line)
    return text, tomllib.loads("\n".join(lines))


@pytest.mark.parametrize("as_text", [False, True])
def test_shares_of_one_are_one_distribution(as_text):
    frame = WIDE.with_columns(pl.col(COLUMNS).cast(pl.String)) if as_text else WIDE
    text, policy = proposed(frame)
    assert policy["roles"]["sensitive"] == COLUMNS
    assert policy["principle"][1:] == [
        {"name": "frequency-l", "on": "disease.*", "l": 3},
        {
            "name": "dissimilarity",
            "on": "disease.*",
            "epsilon": 0.1,
            "delta": 0.8,
            "k": 5,
            "distance": "variational",
        },
    ]
    assert 'the columns "disease.*" add up to 1' in text
    assert len(tomllib.loads(text)["principle"]) == 2  # distances are for the user to choose
    assert wb.check(frame, policy=Policy.of(policy)).rows == len(frame)


@pytest.mark.parametrize(
    ("columns", "whole"),
    [
        ({"p.a": [0.5, 1.0], "p.b": [0.5, 0.0]}, True),
        ({"p.a": [1, 0], "p.b": [0, 1]}, True),
        ({"p.a": [0.5, None], "p.b": [0.5, None]}, True),
        ({"p.a": [0.5, None], "p.b": [0.5, 1.0]}, False),
        ({"p.a": [None, None], "p.b": [None, None]}, False),
        ({"p.a": [0.5, 1.0], "p.b": [0.5, 0.1]}, False),
        ({"p.a": [1.5, 1.0], "p.b": [-0.5, 0.0]}, False),
        ({"p.a": [1.0, 1.0]}, False),
        ({"p.a": [0.5, 1.0], "p.b": [0.5, 0.0], "p.c": ["x", "y"]}, False),
        ({"a": [0.5, 1.0], "b": [0.5, 0.0]}, False),
        ({"p.a": [0.5, float("nan")], "p.b": [0.5, 0.5]}, False),
    ],
)
def test_what_a_distribution_is(columns, whole):
    guesses = guess_columns(pl.DataFrame(columns))
    assert [g.part_of for g in guesses] == ["p" if whole else None] * len(columns)


def test_a_distribution_that_never_changes():
    text, policy = proposed(pl.DataFrame({"age": [1, 2], "p.a": [0.5, 0.5], "p.b": [0.5, 0.5]}))
    assert '"p.*" has one value at most' in text
    assert len(policy["principle"]) == 1


@pytest.mark.parametrize("table", [LISTS, ARRAYS, STRUCTS], ids=["list", "array", "struct"])
def test_vectors_are_sensitive(table):
    _, policy = proposed(table)
    assert policy["roles"]["sensitive"] == ["disease"]
    assert policy["types"]["disease"] == "vector"
    assert policy["principle"][-1]["distance"] == "euclidean"
    assert wb.check(table, policy=Policy.of(policy)).rows == len(table)


# How much memory distances may take.


def seen(monkeypatch: pytest.MonkeyPatch, work: Callable[[], object]) -> set[int]:
    """Return the budgets, in megabytes, in force when distances are prepared."""
    found = set()
    bind = wb.Dissimilarity.bind

    def told(self, domain):
        found.add(memory.budget() // 2**20)
        return bind(self, domain)

    monkeypatch.setattr(wb.Dissimilarity, "bind", told)
    work()
    return found


@pytest.mark.parametrize(("given", "megabytes"), [(None, 256), (3, 3)])
def test_check_keeps_to_its_memory(monkeypatch, given, megabytes):
    assert seen(monkeypatch, lambda: checked(WIDE, "disease.*", max_memory=given)) == {megabytes}
    assert memory.budget() == 256 * 2**20


def test_memory_decides_nothing():
    ample = checked(WIDE, "disease.*", quasi="zip").to_dict()
    assert checked(WIDE, "disease.*", quasi="zip", max_memory=1).to_dict() == ample


@pytest.mark.parametrize("given", [0, -1, 1.5, True, "1"])
def test_memory_of_no_sensible_size(given):
    with pytest.raises(ParameterError, match="max_memory must be a whole number from 1"):
        checked(WIDE, "disease.*", max_memory=given)
    with pytest.raises(ParameterError, match="max_memory must be a whole number from 1"):
        wb.anonymize(
            WIDE, quasi=QUASI, sensitive="disease.*", principles=DISSIMILAR, max_memory=given
        )


@pytest.mark.parametrize(
    ("how", "megabytes"),
    [({}, 256), ({"max_memory": 3}, 3), ({"algorithm": "anatomy", "max_memory": 5}, 5)],
)
def test_anonymize_keeps_to_its_memory(monkeypatch, how, megabytes):
    def work() -> None:
        wb.anonymize(LISTS, quasi=QUASI, sensitive="disease", principles=DISSIMILAR, **how)

    assert seen(monkeypatch, work) == {megabytes}


def test_memory_of_each_algorithm():
    assert Transform().max_memory == Transform(algorithm="anatomy").max_memory == 256
    assert Transform(algorithm="lattice").max_memory == 1024
    assert Transform(max_memory=7).memory_for_distances == 7
    assert Transform(algorithm="lattice", max_memory=7).memory_for_distances is None
    release = wb.anonymize(
        WIDE, quasi=QUASI, sensitive="disease.*", principles=DISSIMILAR, max_memory=2
    )
    assert release.manifest["transform"]["max_memory"] == 2


def test_a_file_of_several_columns(tmp_path: Path):
    WIDE.write_csv(tmp_path / "wide.csv")
    release = wb.anonymize(
        tmp_path / "wide.csv", quasi=QUASI, sensitive="disease.*", principles=DISSIMILAR
    )
    release.save(tmp_path / "release.csv")
    assert checked(tmp_path / "release.csv", "disease.*", group="group", quasi=None)
