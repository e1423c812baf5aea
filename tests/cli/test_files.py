"""Files outlive what befalls a program: kill -9, Ctrl-C, a full disk, a folder that is closed.

Wherever a release goes, its place holds the old file or all of the new one. The children here are
killed in the middle of writing by a hook of their own, so that no test depends on timing; where one
does, every outcome that is allowed is accepted.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from wideberth import datasets, tables
from wideberth.errors import OutputError

POLICY = """\
version = 1
[roles]
quasi = ["age", "birthplace", "occupation"]
sensitive = ["income"]
[[principle]]
name = "k-anonymity"
k = 5
[[principle]]
name = "epsilon-m"
epsilon = 4500
m = 5
"""
ANONYMIZE = ("anonymize", "census.csv", "-p", "census.toml", "-o")
#: Runs the command line, but is hit by a signal when half a table is written.
HIT_MIDWAY = """
import os, signal, sys
import polars as pl
whole = pl.DataFrame.write_csv
def part(self, file, **options):
    whole(self.head(self.height // 2), file, **options)
    file.flush()
    os.kill(os.getpid(), signal.{signal})
pl.DataFrame.write_csv = part
from wideberth.cli import main
main(sys.argv[1:])
"""
#: Runs the command line with files limited to 10,000 bytes, as a full disk would.
LIMITED = """
import resource, sys
from wideberth.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
main(sys.argv[1:])
"""
#: Runs the command line, and says when the work begins.
TELLING = """
import sys
from wideberth import anonymizing
from wideberth.cli import main
work = anonymizing.anonymize
def told(*arguments, **options):
    print("begun", flush=True)
    return work(*arguments, **options)
anonymizing.anonymize = told
main(sys.argv[1:])
"""

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")


@pytest.fixture
def census(write):
    """A folder with a table of 2,000 people, its policy, and nothing else."""
    for path in Path().iterdir():
        path.unlink()
    datasets.sal(2_000).write_csv("census.csv")
    Path("census.toml").write_text(POLICY)
    return Path("census.csv").read_bytes()


def names(folder="."):
    return sorted(os.listdir(folder))


def child(script, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        **options,
    )


def complete(path):
    """Tell whether a release is whole: it can be read, and is what its manifest says."""
    manifest = json.loads(Path(f"{path}.manifest.json").read_text())
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    rows = manifest["verified"]["rows"]
    return manifest["output"]["sha256"] == digest and tables.read(path).height == rows


# Where all is well


def test_a_release_and_its_manifest_and_nothing_else(run, census):
    assert run(*ANONYMIZE, "out.csv").code == 0
    assert names() == ["census.csv", "census.toml", "out.csv", "out.csv.manifest.json"]
    assert complete("out.csv")
    assert Path("census.csv").read_bytes() == census


def test_a_dry_run_writes_nothing(run, census):
    assert run(*ANONYMIZE, "out.csv", "--dry-run").code == 0
    assert run(*ANONYMIZE[:-1], "--dry-run").code == 0
    assert names() == ["census.csv", "census.toml"]


# Targets that are refused before the work


@pytest.fixture
def idle(monkeypatch):
    """Let no work be done."""

    def work(*_, **__):
        raise AssertionError("the target was not checked first")

    monkeypatch.setattr("wideberth.anonymizing.anonymize", work)


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("way", ["census.csv", "./x/../census.csv", "link.csv", "twin.csv", "full"])
def test_the_original_is_never_replaced(run, census, idle, way, force):
    Path("x").mkdir()
    Path("link.csv").symlink_to("census.csv")
    os.link("census.csv", "twin.csv")
    out = Path("census.csv").resolve() if way == "full" else way
    run(*ANONYMIZE, out, *force).refuses(1, "is the file that is read", "another name")
    assert Path("census.csv").read_bytes() == census


def test_the_policy_is_never_replaced(run, census, idle):
    Path("policy.csv").write_text(POLICY)
    line = ("anonymize", "census.csv", "-p", "policy.csv", "-o", "policy.csv", "--force")
    run(*line).refuses(1, "is the file that is read")
    assert Path("policy.csv").read_text() == POLICY


@pytest.mark.parametrize("given", [[], ["--hierarchy", "age=age.csv"]])
def test_a_hierarchy_is_never_replaced(run, census, idle, given):
    rules = "" if given else '[hierarchies]\nage = { file = "age.csv" }\n'
    Path("census.toml").write_text(POLICY + rules)
    Path("age.csv").write_text("21;*\n")
    run(*ANONYMIZE, "age.csv", *given, "--force").refuses(1, "is the file that is read")


@pytest.mark.parametrize("name", ["out.csv", "out.csv.manifest.json"])
def test_what_exists_stays_unless_forced(run, census, idle, write, name):
    write(name, "precious")
    run(*ANONYMIZE, "out.csv").refuses(1, f"{name} exists", "--force")
    assert Path(name).read_text() == "precious"


def test_what_exists_is_replaced_on_demand(run, census, write):
    write("out.csv", "old")
    write("out.csv.manifest.json", "old")
    assert run(*ANONYMIZE, "out.csv", "--force").code == 0
    assert complete("out.csv")


def test_a_folder_that_is_not_there(run, census, idle):
    run(*ANONYMIZE, "no/out.csv").refuses(1, "there is no directory no", "create it first")
    assert not Path("no").exists()


@pytest.mark.parametrize("name", ["out.xlsx", "out"])
def test_a_suffix_nobody_knows(run, census, idle, name):
    run(*ANONYMIZE, name).refuses(1, "unknown suffix", ".parquet")
    assert names() == ["census.csv", "census.toml"]


# Signals


@posix
@pytest.mark.parametrize("old", [None, "precious"])
def test_killed_while_writing(census, old):
    if old:
        Path("out.csv").write_text(old)
    hit = child(HIT_MIDWAY.format(signal="SIGKILL"), *ANONYMIZE, "out.csv", "--force")
    assert hit.returncode == -signal.SIGKILL, hit.stderr
    assert (Path("out.csv").read_text() if old else names()) == (
        old or [*stale(), "census.csv", "census.toml"]
    )
    assert not Path("out.csv.manifest.json").exists()
    again = child(TELLING, *ANONYMIZE, "out.csv", "--force")
    assert again.returncode == 0, again.stderr
    assert complete("out.csv")
    assert not stale()


def stale():
    return sorted(name for name in os.listdir() if name.startswith("."))


@posix
def test_interrupted_while_writing(census):
    hit = child(HIT_MIDWAY.format(signal="SIGINT"), *ANONYMIZE, "out.csv")
    assert (hit.returncode, hit.stdout) == (130, "")
    assert hit.stderr.strip() == "interrupted"
    assert names() == ["census.csv", "census.toml"]


@posix
@pytest.mark.parametrize("delay", [0, 0.3, 1])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL], ids=["SIGINT", "SIGKILL"])
def test_stopped_at_any_time(census, how, delay):
    datasets.sal(100_000).write_csv("census.csv")
    running = subprocess.Popen(
        [sys.executable, "-c", TELLING, *ANONYMIZE, "out.csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert running.stdout.readline() == "begun\n"
        time.sleep(delay)
        running.send_signal(how)
        _, told = running.communicate(timeout=120)
    finally:
        running.kill()
        running.wait()
    assert running.returncode in (0, 130, -how), told  # -SIGINT: when all was done
    assert "Traceback" not in told
    if running.returncode == 130:
        assert told.strip() == "interrupted"
        assert not stale()
    if Path("out.csv").exists():
        assert complete("out.csv")


# Disks and folders


@posix
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_file_that_cannot_grow(run, census, name):
    run(*ANONYMIZE[:-1], "--dry-run")  # the limit is for the release, not for compiled code
    done = child(LIMITED, *ANONYMIZE, name)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {name} cannot be written: File too large\n  try: ")
    assert names() == ["census.csv", "census.toml"]


def mounted(line, mount):
    """Run a command line where `mount` has been done, which nobody else sees; or skip the test."""
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare")
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode:
        pytest.skip("mounting is not permitted")
    script = Path(sys.executable).with_name("wideberth")
    return subprocess.run(
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            f"{mount} && {script} {line}; code=$?; ls -A disk; exit $code",
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def test_a_full_disk(census):
    Path("disk").mkdir()
    line = " ".join((*ANONYMIZE, "disk/out.csv"))
    done = mounted(line, "mount -t tmpfs -o size=16k none disk")
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.startswith("error: disk/out.csv cannot be written: No space left on device")


def test_a_folder_that_is_read_only(census):
    Path("disk").mkdir()
    if os.geteuid() == 0:  # whom permissions do not stop
        line = " ".join((*ANONYMIZE, "disk/out.csv"))
        done = mounted(line, "mount -t tmpfs none disk && mount -o remount,ro disk")
    else:
        Path("disk").chmod(0o555)
        done = child(TELLING, *ANONYMIZE, "disk/out.csv")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"error: nothing may be written in {Path('disk').resolve()}\n  try: " in done.stderr
    assert names("disk") == []


# What all of this rests on


def test_drafts_take_their_places_together(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.json"]
    with tables.drafts(*paths) as (table, text):
        tables.put(pl.DataFrame({"a": [1]}), table)
        text.write_text("{}")
        assert not any(path.exists() for path in paths)
        assert (table.suffix, text.suffix) == (".csv", ".json")
        assert tables.read(table).rows() == [("1",)]
    assert names(tmp_path) == ["a.csv", "b.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OutputError])
def test_drafts_of_a_failure_vanish(tmp_path, error):
    (tmp_path / "a.csv").write_text("old")

    def fail():
        with tables.drafts(tmp_path / "a.csv", tmp_path / "b", force=True) as (draft, _):
            draft.write_text("new")
            raise error("stop")

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == ["a.csv"]
    assert (tmp_path / "a.csv").read_text() == "old"


@posix
def test_drafts_of_the_living_stay(tmp_path):
    """Two runs may write the same file; the one that is done last has the last word."""
    target, other = tmp_path / "a.csv", tmp_path / "b.a.csv"
    left = tmp_path / ".0123abcd.draft.a.csv"
    left.write_text("of a run that was killed")
    unrelated = [tmp_path / ".0123abcd.draft.b.a.csv", tmp_path / ".a.csv", tmp_path / ".x.draft.a"]
    for path in (*unrelated, other):
        path.write_text("kept")
    with tables.drafts(target) as (living,):
        assert not left.exists()
        tables.write_text("first", target)
        assert living.exists()
        living.write_text("second")
        target.unlink()
    assert target.read_text() == "second"
    assert all(path.read_text() == "kept" for path in (*unrelated, other))
