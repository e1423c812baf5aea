"""What is published tells nothing of how it came about."""

import numpy as np
import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets
from wideberth.engines.duckdb import file_rows
from wideberth.errors import EngineError, OutputError, VerificationError
from wideberth.kernels.randomness import permuted
from wideberth.release import parts as lots

QUASI = ["age", "birthplace", "occupation"]


def test_ids_show_neither_their_part_nor_their_order():
    """Neighbors by number, in any of the 52 bits, are neighbors by chance."""
    parts = [lots.random_group_ids(b"secret", part, 500) for part in range(20)]
    ids, part = np.concatenate(parts) - 1, np.repeat(np.arange(20), 500)
    assert ids.min() >= 0
    assert ids.max() < 2**52
    assert len(np.unique(ids)) == len(ids)
    alike = (part[:, None] == part[None, :]).mean()  # of pairs drawn at random: 5%
    for shift in range(0, 52, 4):
        turned = ((ids >> shift) | (ids << (52 - shift))) & (2**52 - 1)
        order = np.argsort(turned)
        assert abs((part[order][1:] == part[order][:-1]).mean() - alike) < 0.02
    assert abs(np.corrcoef(np.argsort(np.argsort(parts[3])), np.arange(500))[0, 1]) < 0.2


def test_ids_are_a_permutation():
    for bits in (2, 8, 12):
        numbers = np.arange(2**bits, dtype=np.uint64)
        one, other = (permuted(bytes([key] * 32), numbers, bits) for key in (1, 2))
        assert np.array_equal(np.sort(one), numbers)
        assert bits == 2 or not np.array_equal(one, other)


def test_parts_and_secrets_differ():
    seen = [lots.random_group_ids(secret, part, 500) for secret in (b"a", b"b") for part in (0, 1)]
    assert len(np.unique(np.concatenate(seen[:2]))) == 1_000
    assert not np.array_equal(seen[0], seen[2])
    assert np.array_equal(seen[0], lots.random_group_ids(b"a", 0, 500))
    assert not np.array_equal(lots.random_places(b"a", 0, 9), lots.random_places(b"a", 1, 9))
    with pytest.raises(EngineError, match="million parts"):
        lots.random_group_ids(b"a", 2**20, 1)


@pytest.fixture
def in_small_piles(monkeypatch):
    monkeypatch.setattr(file_rows, "_BLOCK", 500)


def asked(**more):
    return {"sensitive": "income", "memory": "600MB", "bucket_rows": 700, **more}


def test_equal_rows_do_not_lie_side_by_side(tmp_path, in_small_piles):
    """Who shares exact values must not show by the order of the rows of a lattice's release."""
    people = datasets.sal(300, seed=1).select("age", "income")
    table = pl.concat([people] * 8)
    path = tmp_path / "people.parquet"
    table.write_parquet(path)
    release = wb.anonymize(
        path,
        **asked(quasi="age", principles="k-anonymity:k=5", algorithm="lattice"),
        hierarchies={"age": {"interval": [20, 40]}},
    )
    rows = release.table.collect()
    alike = (rows["income"] == rows["income"].shift(1)).sum()
    assert alike < 0.05 * rows.height  # by chance a few in a hundred; sorted, seven of eight
    assert rows.height == table.height


def test_few_distinct_rows(tmp_path, in_small_piles):
    path = tmp_path / "people.parquet"
    pl.DataFrame({"age": [30, 40] * 2_000, "income": [1, 2] * 2_000}).write_parquet(path)
    release = wb.anonymize(
        path,
        **asked(quasi="age", principles="k-anonymity:k=5", algorithm="lattice"),
        hierarchies={"age": {"interval": [20]}},
    )
    assert release.table.collect().height == 4_000


def test_categories_of_all_pieces(tmp_path, in_small_piles):
    people = datasets.sal(4_000, seed=1).with_columns(
        pl.int_range(4_000).cast(pl.String).cast(pl.Categorical).alias("name"),
        pl.Series("kind", ["a", "b", "c", "d"] * 1_000, dtype=pl.Enum(["d", "c", "b", "a"])),
    )
    path = tmp_path / "people.parquet"
    people.write_parquet(path)
    release = wb.anonymize(
        path, **asked(quasi=QUASI, insensitive=["name", "kind"], principles="k-anonymity:k=5")
    )
    for name in ("name", "kind"):
        found = release.table.collect()[name].cast(pl.String).sort()
        assert found.equals(people[name].cast(pl.String).sort())
    release.save(tmp_path / "out.csv")
    assert pl.read_csv(tmp_path / "out.csv")["name"].n_unique() == 4_000


def test_originals_stay_and_originals_go(tmp_path, monkeypatch):
    """The table is never replaced; its codes do not lie beside the release."""
    monkeypatch.setenv("WIDEBERTH_SPILL", str(tmp_path))
    path = tmp_path / "people.parquet"
    datasets.sal(2_000, seed=1).write_parquet(path)
    release = wb.anonymize(path, **asked(quasi=QUASI, principles="k-anonymity:k=5"))
    with pytest.raises(OutputError, match="is the file that is read"):
        release.save(path, force=True)
    (folder,) = tmp_path.glob("wideberth-spill-*")
    assert {file.name for file in folder.iterdir()} == {"lock", "release.parquet"}
    pl.read_parquet(release.path).head(9).write_parquet(release.path)
    with pytest.raises(VerificationError, match="not what was verified"):
        release.save(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


def test_the_table_outlives_the_release(tmp_path):
    path = tmp_path / "people.parquet"
    datasets.sal(500, seed=1).write_parquet(path)
    table = wb.anonymize(path, **asked(quasi=QUASI, principles="k-anonymity:k=5")).table
    assert table.collect().height == 500


@pytest.mark.parametrize(
    ("break_it", "told"),
    [
        (lambda rows: rows.head(rows.height - 1), "3,999 rows instead of 4,000"),
        (lambda rows: rows.with_columns(pl.col("group") // 2**51), "2 groups instead of"),
        (
            lambda rows: rows.with_columns(pl.col("age").shift(1, fill_value="1–2")),
            "'age' differs within a group",
        ),
        (lambda rows: rows.with_columns(pl.lit(5).alias("income")), "violate epsilon-m"),
    ],
    ids=["a row lost", "groups merged", "labels mixed", "values changed"],
)
def test_what_is_written_is_verified(tmp_path, monkeypatch, break_it, told):
    """A release is judged by its file, whatever wrote it."""
    path = tmp_path / "people.parquet"
    datasets.sal(4_000, seed=1).write_parquet(path)
    write = file_rows.FileEngine._write

    def broken(self, mixed, many):
        write(self, mixed, many)
        break_it(pl.read_parquet(self.path)).write_parquet(self.path)

    monkeypatch.setattr(file_rows.FileEngine, "_write", broken)
    with pytest.raises(VerificationError, match=told):
        wb.anonymize(path, **asked(quasi=QUASI, principles="epsilon-m:epsilon=100,m=2"))
