"""check of a file under a limit on memory says what check of the same file says in memory."""

from __future__ import annotations

import datetime as dt
import gzip
import json
import random
import re
import signal
import stat
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth as wb
from tests.naive import unnumbered
from wideberth import io
from wideberth.checks import check_file
from wideberth.engines.duckdb.source import FileSource
from wideberth.errors import EngineError
from wideberth.io.scratch import scratch_folder

pytest.importorskip("duckdb")

MEMORY = "512MB"
ODD = ['a "quoted" name', "it's", "^s.*$", "Age", "age", "c0", "count", "entry", "é b"]


@pytest.fixture(autouse=True)
def spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own for what does not fit; nothing may be left in it."""
    folder = tmp_path / "it's [spill] x=1"
    folder.mkdir()
    monkeypatch.setenv("WIDEBERTH_SPILL", str(folder))
    return folder


def same(path: Path, *, memory: str | int = MEMORY, **known: Any) -> wb.CheckResult:
    """Check a file both ways, and return the result if they agree in everything."""
    there, here = wb.check(path, memory=memory, **known), wb.check(path, **known)
    assert unnumbered(there) == unnumbered(here)
    for one, other in zip(there.principles, here.principles, strict=True):
        assert one.worst == other.worst
    assert there.table.equals(here.table), (there.table, here.table)
    assert there.table.dtypes == here.table.dtypes
    return there


def people(rows: int = 500, seed: int = 1) -> pl.DataFrame:
    rng = random.Random(seed)

    def some(*values: Any) -> list[Any]:
        return [rng.choice(values) for _ in range(rows)]

    return pl.DataFrame(
        {
            "sex": some("f", "m", None),
            "zip": some("130**", "1485*", "*", "01234"),
            "age": some("<30", "[30, 40[", "30..39", None),
            "born": some(dt.date(1990, 1, 1), dt.date(1950, 5, 17), None),
            "code": some("1.1", "1.10", "1.2"),
            "disease": some("flu", "ulcer", "cancer", "asthma", None),
            "salary": some(*range(1000, 1100, 7), None),
            "group": some(*range(30)),
        }
    )


PRINCIPLES = [
    "k-anonymity:k=3",
    "distinct-l:on=disease,l=3",
    "entropy-l:on=disease,l=2",
    "recursive-cl:on=disease,c=2,l=2",
    "alpha-k:on=disease,alpha=0.5,k=2",
    "t-closeness:on=salary,t=0.3,distance=ordered",
    "epsilon-m:on=salary,epsilon=20,m=2",
    "delta-l:on=salary,delta=10,l=2",
    "variance:on=salary,t=100",
    "k-e:on=salary,k=2,e=20",
    "m-uniqueness:on=disease,m=2",
    "recursive-cl:on=disease,c=3,l=2,allowed=healthy|flu",
    "multi-attribute-l:on=disease+salary,l=2,form=entropy",
]
KNOWN: dict[str, Any] = {
    "quasi": ["sex", "zip", "age", "born"],
    "sensitive": ["disease", "salary"],
    "principles": PRINCIPLES,
}


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "arrow"])
def test_every_kind_of_file(tmp_path: Path, suffix: str) -> None:
    io.write(people(), path := tmp_path / f"people.{suffix}")
    assert same(path, **KNOWN, worst=8).groups > 30
    same(path, **{**KNOWN, "quasi": None}, group="group")
    same(path, quasi="code", principles="k-anonymity:k=180")  # text, and not the number 1.1
    same(path, quasi="zip", sensitive="code", principles="distinct-l:l=3")
    same(path, quasi="zip", sensitive="code", types={"code": "text"}, principles="distinct-l:l=3")


def test_odd_names_of_columns_and_files(tmp_path: Path) -> None:
    rng = random.Random(3)
    frame = pl.DataFrame({name: [rng.choice("abc") for _ in range(60)] for name in ODD})
    for name in ('it\'s a "table" [1-3]*?.parquet', "x=1.csv", "a$b{c}.arrow"):
        io.write(frame, path := tmp_path / name)
        same(path, quasi=ODD[:7], sensitive=ODD[7:], principles="distinct-l:on=entry,l=2")
        same(path, quasi=["Age"], sensitive="age", principles="entropy-l:l=2")


TYPED = {
    "int8": pl.Series([1, None, -3, 1], dtype=pl.Int8),
    "uint64": pl.Series([2**64 - 1, None, 3, 3], dtype=pl.UInt64),
    "wide": pl.Series([-(2**63), 2**63 - 1, None, 0], dtype=pl.Int64),
    "float32": pl.Series([0.1, None, -0.0, 0.0], dtype=pl.Float32),
    "float64": pl.Series([0.1, None, 1e300, -0.5]),
    "decimal": pl.Series([Decimal("1.10"), None, Decimal("-2.25"), Decimal("1.10")]),
    "date": pl.Series([dt.date(2024, 1, 1), None, dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "ms": pl.Series([5, None, 7, 5]).cast(pl.Datetime("ms")),
    "ns": pl.Series([5, None, 7, 6]).cast(pl.Datetime("ns")),
    "zone": pl.Series([5, None, 7, 5]).cast(pl.Datetime("us", "Europe/Berlin")),
    "zone-ns": pl.Series([5, None, 7, 6]).cast(pl.Datetime("ns", "Europe/Berlin")),
    "duration": pl.Series([5, None, -7, 5]).cast(pl.Duration("us")),
    "time": pl.Series([5, None, 7, 6]).cast(pl.Time),
    "boolean": pl.Series([True, None, False, True]),
    "category": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "enum": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["b", "a", "c"])),
    "text": pl.Series(["é", None, "", "Z\n\0"]),
    "bytes": pl.Series([b"a", None, b"\xff", b""]),
    "list": pl.Series([[1.0, 2.0], None, [2.0, 0.5], [1.0, 2.0]]),
    "array": pl.Series([[1, 2], None, [2, 3], [0, 9]], dtype=pl.Array(pl.Int32, 2)),
    "struct": pl.Series([{"a": 1, "b": 2.0}, None, {"a": 0, "b": 5.5}, {"a": 1, "b": 2.0}]),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_every_type_of_column(tmp_path: Path, kind: str, suffix: str) -> None:
    """Values are equal, ordered and missing as in memory, as keys and as what is guarded."""
    column = pl.concat([TYPED[kind]] * 5)
    frame = pl.DataFrame([column.alias("x"), pl.Series("y", [*"abcde"] * 4)])
    path = tmp_path / f"typed.{suffix}"
    (frame.write_parquet if suffix == "parquet" else frame.write_ipc)(path)
    same(path, quasi=["x", "y"], principles="k-anonymity:k=2", worst=30)
    same(path, group="x", sensitive="y", principles="distinct-l:l=5")
    if kind != "bytes":
        same(path, quasi="y", sensitive="x", principles=["distinct-l:l=2", "frequency-l:l=2"])


def test_keys_that_do_not_fit_into_one_word(tmp_path: Path) -> None:
    rng = random.Random(5)
    wide = {f"q{i}": [rng.choice([-(2**40), 0, 2**40]) for _ in range(200)] for i in range(5)}
    frame = pl.DataFrame({**wide, "s": [rng.choice("ab") for _ in range(200)]})
    io.write(frame, path := tmp_path / "wide.parquet")
    same(path, quasi=list(wide), sensitive="s", principles="entropy-l:l=2", worst=300)


def test_vectors_trees_and_several_attributes(tmp_path: Path) -> None:
    rng = random.Random(6)
    rows = 200
    frame = pl.DataFrame(
        {
            "q": [rng.choice("abcdef") for _ in range(rows)],
            "d.flu": [rng.choice([0.1, 0.5]) for _ in range(rows)],
            "d.ulcer": [rng.choice([0.2, 0.5]) for _ in range(rows)],
            "p": [rng.choice([[0.5, 0.5], [0.1, 0.9], [0.2, 0.8], None]) for _ in range(rows)],
            "t": [rng.choice(["x1", "x2", "y1"]) for _ in range(rows)],
        }
    )
    io.write(frame, path := tmp_path / "vectors.parquet")
    dissimilar = "dissimilarity:epsilon=0.1,delta=0.4,k=5"
    same(path, quasi="q", sensitive="d.*", principles=dissimilar + ",distance=euclidean")
    result = same(path, quasi="q", sensitive="p", principles=dissimilar + ",distance=variational")
    with pytest.raises(wb.ParameterError, match="claims"):
        result.principles[0].claims()
    tree = tmp_path / "tree.csv"
    tree.write_text("x1;x;*\nx2;x;*\ny1;y;*\n")
    same(path, quasi="q", sensitive="t", hierarchies={"t": tree}, principles="l-e:l=2,e=1")


def test_a_policy_settles_everything(tmp_path: Path) -> None:
    io.write(people().drop("code", "group"), path := tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        'version = 1\npopulation = "nowhere.csv"\n'
        '[roles]\nquasi = ["sex", "zip", "age", "born"]\nsensitive = ["disease", "salary"]\n'
        '[table]\nmissing = ["m", ""]\n'
        '[[principle]]\nname = "k-anonymity"\nk = 3\n'
        '[[principle]]\nname = "epsilon-m"\non = "salary"\nepsilon = "2%"\nm = 2\n'
    )
    there = wb.check(path, policy=tmp_path / "policy.toml", memory=MEMORY)
    frame = io.read(path, io.ReadOptions(missing=("m", "")))
    known = {"quasi": KNOWN["quasi"], "sensitive": KNOWN["sensitive"]}
    principles = ["k-anonymity:k=3", "epsilon-m:on=salary,epsilon=2%,m=2"]
    assert unnumbered(there) == unnumbered(wb.check(frame, **known, principles=principles))


def test_a_file_larger_than_its_batches_and_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Text in several pieces, keys in many blocks, and a header that recurs as a row."""
    monkeypatch.setattr("wideberth.io.csv._BLOCK", 4096)
    monkeypatch.setattr("wideberth.engines.duckdb.rewrite._ROWS", 500)
    monkeypatch.setattr(FileSource, "entries", 100)
    frame = people(5000)
    path = tmp_path / "people.csv.gz"
    text = frame.write_csv()
    header = text.partition("\n")[0]
    path.write_bytes(gzip.compress((text + header + "\n").encode()))
    same(path, **{**KNOWN, "sensitive": "disease", "principles": ["entropy-l:l=2"]}, worst=40)


def test_little_memory_takes_longer(tmp_path: Path, spilled: Path) -> None:
    rows = 3_000_000
    frame = pl.select(
        a=(pl.int_range(rows) * 7919) % 1_000_003, b=(pl.int_range(rows) * 104729) % 97
    ).with_columns(s=pl.col("a").cast(pl.String).str.slice(0, 3), a=pl.col("a").cast(pl.String))
    frame.write_parquet(path := tmp_path / "large.parquet")
    seen = []
    begin = check_file.GroupBlock.of

    def watched(*arguments: Any) -> Any:
        seen.append([file for file in spilled.rglob("duckdb/*") if file.stat().st_size])
        return begin(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check_file.GroupBlock, "of", watched)
        known = {"quasi": ["a", "b"], "sensitive": "s", "principles": "distinct-l:l=2"}
        there = wb.check(path, memory="512MB", **known)
    assert any(seen), "nothing was spilled"
    assert unnumbered(there) == unnumbered(wb.check(path, **known))
    assert not list(spilled.iterdir())


# ---- bad input


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("q,s\n", "no rows"),
        ("q,s\na,1\nb,2,3\n", "row 2 of bad.csv has 3 fields"),
        ('q,s\na,1\nb,"2\nc,3\n', "cannot be split into rows"),
        ("q,q\na,1\n", "both named"),
        ("q,s\n,1\n,2\n", "quasi-identifier 'q' is missing in every row"),
        ("q,s\na,x\nb,2\n", "epsilon-m needs numbers; column 's': not a number"),
        ("q,z\na,1\n", "no column 's'"),
    ],
)
def test_bad_text_is_refused_as_in_memory(
    tmp_path: Path, spilled: Path, content: str, message: str
) -> None:
    (path := tmp_path / "bad.csv").write_text(content)
    known = {"quasi": "q", "sensitive": "s", "principles": "epsilon-m:epsilon=1,m=2"}
    with pytest.raises(wb.WideberthError, match=message) as there:
        wb.check(path, memory=MEMORY, **known)
    with pytest.raises(wb.WideberthError) as here:
        wb.check(path, **known)
    assert type(there.value) is type(here.value)
    assert there.value.hint == here.value.hint
    assert not list(spilled.iterdir())


def test_text_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "west.csv"
    path.write_bytes("q,s\né,1\nb,2\n".encode("cp1252"))
    known = {"quasi": "q", "principles": "k-anonymity:k=1"}
    with pytest.warns(io.TableWarning, match="line 2 of west.csv is not valid UTF-8"):
        there = wb.check(path, memory=MEMORY, **known)
    with pytest.warns(io.TableWarning):
        assert unnumbered(there) == unnumbered(wb.check(path, **known))
    (tmp_path / "wide.csv").write_text("q;s\né;1\nb;2\n", encoding="utf-16")
    same(tmp_path / "wide.csv", **known)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_none(tmp_path: Path, odd: float) -> None:
    path = tmp_path / "odd.parquet"
    pl.DataFrame({"q": [1.0, odd], "s": [odd, 2.0]}).write_parquet(path)
    for known in ({"quasi": "q"}, {"group": "q"}):
        with pytest.raises(wb.TableError, match=r"column 'q': .* is neither a value nor missing"):
            wb.check(path, memory=MEMORY, **known, principles="k-anonymity:k=1")
    pl.DataFrame({"q": ["a", "b"], "s": [odd, 2.0]}).write_parquet(path)
    with pytest.raises(wb.TableError, match=r"column 's': .* is neither a value nor missing"):
        wb.check(path, memory=MEMORY, quasi="q", sensitive="s", principles="distinct-l:l=1")


def test_files_that_cannot_be_read(tmp_path: Path, spilled: Path) -> None:
    known: dict[str, Any] = {"quasi": "q", "principles": "k-anonymity:k=1", "memory": MEMORY}
    with pytest.raises(wb.TableError, match="there is no file"):
        wb.check(tmp_path / "none.parquet", **known)
    with pytest.raises(wb.TableError, match="is a directory"):
        wb.check(tmp_path, **known)
    (tmp_path / "table.xlsx").touch()
    with pytest.raises(wb.TableError, match="unknown suffix"):
        wb.check(tmp_path / "table.xlsx", **known)
    frame = pl.DataFrame({"q": [1, 2] * 5000})
    for name in ("damaged.parquet", "damaged.arrow", "damaged.csv.gz"):
        io.write(frame, path := tmp_path / name)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        with pytest.raises(wb.TableError, match="damaged"):
            wb.check(path, **known)
    pl.DataFrame({"q": [1]}).clear().write_parquet(path := tmp_path / "empty.parquet")
    with pytest.raises(wb.TableError, match="has no rows"):
        wb.check(path, **known)
    pl.DataFrame({"q": pl.Series([1], dtype=pl.Int128)}).write_parquet(path)
    with pytest.raises(wb.TableError, match="Int128, which cannot be read in parts"):
        wb.check(path, **known)
    assert not list(spilled.iterdir())


def test_what_is_refused(tmp_path: Path) -> None:
    io.write(people(), path := tmp_path / "people.parquet")
    known: dict[str, Any] = {"quasi": "sex", "principles": "k-anonymity:k=1"}
    for memory in ("64MB", "much", True, 1.5, "2"):
        with pytest.raises(wb.ParameterError):
            wb.check(path, memory=memory, **known)
    with pytest.raises(wb.ParameterError, match="memory is for files"):
        wb.check(people(), memory=MEMORY, **known)
    for other in ("population", "reference", "sensitive_table"):
        with pytest.raises(wb.ParameterError, match=f"{other} is for a table in memory"):
            wb.check(path, memory=MEMORY, **known, **{other: people()})
    with pytest.raises(wb.ParameterError, match="compares with a population"):
        wb.check(path, memory=MEMORY, quasi="sex", principles="delta-presence:delta_max=0.5")
    with pytest.raises(wb.ParameterError, match="no principle"):
        wb.check(path, memory=MEMORY, quasi="sex")
    with pytest.raises(wb.ParameterError, match="no quasi-identifiers"):
        wb.check(path, memory=MEMORY, principles="k-anonymity:k=1")
    with pytest.raises(wb.ParameterError, match="worst"):
        wb.check(path, memory=MEMORY, **known, worst=-1)


def test_rows_out_of_order_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.write(people(), path := tmp_path / "people.parquet")
    ordered = FileSource.stream

    def unordered(self: FileSource, query: str) -> Any:
        for frame in ordered(self, query):
            yield frame.reverse() if "w0" in frame.columns else frame

    monkeypatch.setattr(FileSource, "stream", unordered)
    with pytest.raises(EngineError, match="out of order"):
        wb.check(path, memory=MEMORY, quasi="zip", principles="k-anonymity:k=1")


# ---- nothing is left behind


def test_the_folder_is_private_and_removed(spilled: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == spilled
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "x" / "y").mkdir(parents=True)
        with scratch_folder() as other:  # a run beside this one leaves it alone
            assert folder.exists()
            assert other != folder
    assert not list(spilled.iterdir())


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_the_folder_is_removed_after_an_error(
    tmp_path: Path, spilled: Path, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    io.write(people(), path := tmp_path / "people.csv")
    seen = []

    def fail(*_: Any) -> Any:
        seen.extend(spilled.iterdir())
        raise error

    monkeypatch.setattr(check_file.GroupBlock, "of", fail)
    with pytest.raises(error):
        wb.check(path, memory=MEMORY, quasi="zip", principles="k-anonymity:k=1")
    assert seen
    assert not list(spilled.iterdir())


def test_what_a_killed_run_left_is_removed(spilled: Path) -> None:
    left = spilled / "wideberth-spill-left"
    left.mkdir()
    (left / "lock").touch()
    (left / "table.parquet").write_text("secret")
    (spilled / "wideberth-spill-new").mkdir()  # somebody is about to lock it
    with scratch_folder():
        assert not left.exists()
    assert [folder.name for folder in spilled.iterdir()] == ["wideberth-spill-new"]


def test_no_room_for_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.write(people(), path := tmp_path / "people.parquet")
    monkeypatch.setenv("WIDEBERTH_SPILL", str(tmp_path / "nowhere"))
    with pytest.raises(wb.OutputError, match="no folder for intermediate results"):
        wb.check(path, memory=MEMORY, quasi="zip", principles="k-anonymity:k=1")


def test_ctrl_c_leaves_nothing(tmp_path: Path, spilled: Path) -> None:
    rows = 4_000_000
    frame = pl.select(a=(pl.int_range(rows) * 7919) % 1_000_003, s=pl.int_range(rows) % 1009)
    frame.write_parquet(path := tmp_path / "large.parquet")
    arguments = ["--qi", "a", "--sensitive", "s", "--principle", "entropy-l:l=2"]
    command = [sys.executable, "-m", "wideberth", "check", str(path), *arguments]
    run = subprocess.Popen(
        [*command, "--memory", "1GB"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    for _ in range(600):
        if list(spilled.glob("*/table.parquet")) or run.poll() is not None:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)
    assert run.returncode in (130, -signal.SIGINT)
    assert not list(spilled.iterdir())


# ---- the command line


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from wideberth.cli import main

    path = tmp_path / "people.csv"
    path.write_text(people().write_csv(separator="|", null_value="none"))
    command = ["check", str(path), "--qi", "sex,zip", "--sensitive", "disease", "--format", "json"]
    command += ["--principle", "entropy-l:l=4", "--delimiter", "|", "--missing", "none"]

    def said(*more: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stopped:
            main([*command, *more])
        out = re.sub(r'"number": [0-9]+', '"number": null', capsys.readouterr().out)
        return int(stopped.value.code or 0), out

    there, here = said("--memory", MEMORY), said()
    assert there == here
    assert json.loads(there[1])["groups"] == 12
    assert said("--memory", MEMORY, "--claims")[0] == 2
    assert said("--memory", "1MB")[0] == 2
    assert said("--memory", MEMORY, "--reference", str(path))[0] == 2


# ---- what others build on


def test_a_source_counts_and_groups(tmp_path: Path) -> None:
    frame = people()
    io.write(frame, path := tmp_path / "people.parquet")
    with FileSource.opened(path, memory=2**29) as source:
        assert (source.rows, source.schema.schema) == (500, frame.schema)
        digest = source.digest(["sex", "disease"])
        counted = digest.frame.with_columns(n=digest.counts)
        expected = frame.group_by("sex", "disease").agg(n=pl.len().cast(pl.Int64))
        by = ["sex", "disease"]
        assert counted.sort(by).equals(expected.sort(by))
        blocks = list(source.grouped(["zip", "born"], ["disease", "salary"], entries=50))
        assert len(blocks) > 1
        whole = frame.group_by("zip", "born", "disease", "salary").agg(count=pl.len())
        every = ["zip", "born", "disease", "salary"]
        found = pl.concat(blocks)
        assert found.sort(every).equals(
            whole.with_columns(pl.col("count").cast(pl.Int64)).sort(every)
        )
        keys = [key for block in blocks for key in block.select("zip", "born").unique().rows()]
        assert len(keys) == len(set(keys))
        assert found["zip"].is_sorted()
        (sizes,) = source.grouped(["zip"])
        assert sizes.columns == ["zip", "count"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_groups_must_be_uniform(tmp_path: Path, suffix: str) -> None:
    """Exact ages, missing ones among them, were put back into two of three groups."""
    table = pl.DataFrame(
        {
            "Group": [1, 1, 1, 2, 2, 2, None, None, None],
            "age": ["2*", "2*", "2*", "31", "35", "38", "40", None, "40"],
            "sex": ["*"] * 9,
            "zip": [None, None, None, 1, 1, 1, 2, 2, 2],
            "ill": list("abcabcabc"),
        }
    )
    path = tmp_path / f"table.{suffix}"
    io.write(table, path)
    known = {"sensitive": "ill", "group": "Group", "principles": "k-anonymity:k=3"}
    found = same(path, quasi=["age", "sex", "zip"], **known)
    assert not found
    assert found.uneven is not None
    assert found.uneven.to_dict() == {"groups": 2, "rows": 6, "columns": ["age"]}
    assert same(path, quasi=["sex", "zip"], **known)
