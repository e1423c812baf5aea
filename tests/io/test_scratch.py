"""The private folder of a run under a memory limit: signals, kills, full disks."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth.engines.duckdb import source
from wideberth.errors import OutputError, ParameterError
from wideberth.io import scratch as module
from wideberth.io.scratch import reserve, scratch_folder

pytest.importorskip("duckdb")

POLICY = {"quasi": ["age", "zip"], "sensitive": "pay", "principles": "k-anonymity:k=2"}


@pytest.fixture(autouse=True)
def spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of this test's own for what does not fit."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setenv("WIDEBERTH_SPILL", str(folder))
    return folder


def table(path: Path, rows: int) -> Path:
    numbers = pl.int_range(rows, eager=True)
    pl.DataFrame(
        {"age": numbers % 71, "zip": (numbers * 7919) % 1009, "pay": (numbers * 31) % 5003}
    ).write_parquet(path)
    return path


#: Opens the folder as the command line does, says so, and waits as if it were at work.
_AT_WORK = """
import sys, time
import wideberth.cli as cli
from wideberth.io.scratch import scratch_folder as spill

def work(**_):
    with spill() as folder:
        (folder / "rows.bin").write_bytes(b"x")
        print("ready", flush=True)
        time.sleep(100)

cli.wideberth.main = work
cli.main([])
"""


#: Under nohup, as in some pipelines, children would ignore a hangup from the start.
_HEARS = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_nothing_is_left_after_a_signal(name: str, spilled: Path) -> None:
    number = getattr(signal, name)
    with subprocess.Popen([sys.executable, "-c", _HEARS + _AT_WORK], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        (folder,) = spilled.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        with scratch_folder():
            assert folder.exists()  # a run that lives keeps its folder
        run.send_signal(number)
        code = run.wait(60)
    if name == "SIGKILL":
        with scratch_folder():  # the next run sweeps
            pass
    else:
        assert code == 128 + number
    assert not list(spilled.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_program_that_handles_no_signals_leaves_it_to_the_next_run(spilled: Path) -> None:
    """A library does not change what signals do to the program that uses it."""
    alone = _AT_WORK.replace("cli.main([])", "work()")
    with subprocess.Popen([sys.executable, "-c", alone], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()
        run.send_signal(signal.SIGTERM)
        assert run.wait(60) == -signal.SIGTERM
    (left,) = spilled.iterdir()
    assert stat.S_IMODE(left.stat().st_mode) == 0o700
    with scratch_folder():
        assert not left.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_that_is_ignored_stays_so(spilled: Path) -> None:
    ignoring = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + _AT_WORK
    with subprocess.Popen([sys.executable, "-c", ignoring], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()
        run.send_signal(signal.SIGHUP)
        run.send_signal(signal.SIGTERM)
        assert run.wait(60) == 128 + signal.SIGTERM
    assert not list(spilled.iterdir())


def test_folders_that_were_never_locked_are_swept_when_they_are_old(spilled: Path) -> None:
    for name, age in (("old", 2 * 3600), ("new", 0)):
        folder = spilled / f"wideberth-spill-{name}"
        folder.mkdir()
        os.utime(folder, (time.time() - age, time.time() - age))
    with scratch_folder():
        assert {path.name for path in spilled.glob("*-old")} == set()
        assert (spilled / "wideberth-spill-new").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_planted_pipe_does_not_hold_a_run_up(spilled: Path) -> None:
    planted = spilled / "wideberth-spill-planted"
    planted.mkdir()
    os.mkfifo(planted / "lock")
    (spilled / "wideberth-spill-link").symlink_to(planted)
    with scratch_folder() as folder:
        assert folder.is_dir()


def test_a_full_disk_is_noticed_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Codes are held in a file that is mapped into memory: a full disk there would kill us."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", refuse, raising=False)
    with pytest.raises(OutputError, match="is full: intermediate results") as caught:
        wb.anonymize(table(tmp_path / "t.parquet", 500), memory="512MB", **POLICY)
    assert "WIDEBERTH_SPILL" in str(caught.value.hint)


def test_room_is_reserved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(2):
        path = tmp_path / str(number)
        reserve(path, 3_000_001)
        assert path.stat().st_size == 3_000_001
        assert path.stat().st_blocks * 512 >= 3_000_001
        monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(module, "_BLOCK", 7)
    reserve(tmp_path / "small", 20)
    assert (tmp_path / "small").read_bytes() == bytes(20)


_IN_A_SMALL_ROOM = """
mount -t tmpfs -o size={size} none "$WIDEBERTH_SPILL" || exit 99
exec "{python}" -m wideberth anonymize {table} --qi age,zip --sensitive pay \
    --principle k-anonymity:k=2 --memory 1GB -o {out}
"""


@pytest.mark.parametrize("size", ["16k", "64k", "512k", "2m"])
def test_a_full_disk_ends_in_a_message(size: str, tmp_path: Path) -> None:
    """On a disk of our own that is small, wherever the room runs out."""
    path, out = table(tmp_path / "t.parquet", 150_000), tmp_path / "out.parquet"
    script = _IN_A_SMALL_ROOM.format(size=size, python=sys.executable, table=path, out=out)
    try:
        run = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, timeout=110
        )
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if run.returncode == 99 or "unshare" in run.stderr:
        pytest.skip("no disk can be made here")
    assert run.returncode == 1, run.stderr
    assert "intermediate results" in run.stderr
    assert "unexpectedly" not in run.stderr
    assert not out.exists()


#: Makes and saves a release, and prints the most memory that the process had.
_MEASURED = """
import sys
import wideberth as wb
path, out, columns = sys.argv[1], sys.argv[2], int(sys.argv[3])
asked = {"quasi": ["age", "zip"], "sensitive": "pay", "principles": "k-anonymity:k=5"}
asked |= {"insensitive": [f"c{i}" for i in range(columns)], "rows_are_people": True}
wb.anonymize(path, memory="1GB", **asked).save(out)
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")][0])
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
def test_wide_tables_keep_to_the_memory(tmp_path: Path) -> None:
    """Batches and parts have fewer rows where a row is long."""
    rows, columns = 60_000, 150
    path, out = table(tmp_path / "t.parquet", rows), tmp_path / "out.csv"
    texts = (pl.int_range(rows, eager=True) * 7919).cast(pl.String) + "abcdefghijklmnopqrstuvwxyz"
    wide = {f"c{i}": texts.str.slice(i % 3) for i in range(columns)}
    pl.read_parquet(path).with_columns(**wide).write_parquet(path)
    argv = [sys.executable, "-c", _MEASURED, path, out, str(columns)]
    run = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=True)
    assert int(run.stdout.split()[-1]) << 10 < 2**30


def test_the_least_memory_is_named_before_work_begins(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,disease\n1,a\n")
    os.truncate(path, 100 * 2**20)
    with pytest.raises(ParameterError, match="512MB of memory are not enough to read") as no:
        wb.check(path, quasi=["age"], principles="k-anonymity:k=2", memory="512MB")
    assert no.value.hint is not None
    assert "768MB" in no.value.hint
    with pytest.raises(ParameterError, match="not enough to anonymize 200,000 rows"):
        source.require_for_release(2**29, 200_000, 12)
