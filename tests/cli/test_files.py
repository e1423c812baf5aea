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
import warnings
from pathlib import Path

import polars as pl
import pytest

import wideberth as wb
from wideberth import datasets, io
from wideberth.errors import OutputError, TableError

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
from wideberth.release import anonymize as anonymizing
from wideberth.cli import main
work = anonymizing.anonymize
def told(*arguments, **options):
    print("begun", flush=True)
    return work(*arguments, **options)
anonymizing.anonymize = told
main(sys.argv[1:])
"""

#: Runs the command line, and is killed when it gives a file its place for the n-th time.
HIT_PLACING = """
import os, signal, sys
honest, left = os.replace, [{at}]
def replace(*given):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return honest(*given)
os.replace = replace
from wideberth.cli import main
main(sys.argv[1:])
"""

#: Runs the command line, and is hit by a signal when the release is written and the report is not.
HIT_REPORTING = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
from wideberth.reports.content import Report
Report.save = lambda *_, **__: os.kill(os.getpid(), signal.{signal})
from wideberth.cli import main
main(sys.argv[1:])
"""
#: Runs the command line, and is killed at the n-th call that gives names or reaches the disk.
HIT_CALLING = """
import os, signal, sys
left = [{at}]
for name in ("replace", "link", "unlink", "fsync", "fchmod"):
    def call(*given, _honest=getattr(os, name), **more):
        at = str(given[0])
        if "out.csv" in at or "out.parquet" in at or isinstance(given[0], int):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
        return _honest(*given, **more)
    setattr(os, name, call)
from wideberth.cli import main
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
    return manifest["output"]["sha256"] == digest and io.read(path).height == rows


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

    monkeypatch.setattr("wideberth.release.anonymize.anonymize", work)


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


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_stopped_while_reporting(census, name):
    line = (*ANONYMIZE, "out.csv", "--report", "report.html")
    hit = child(HIT_REPORTING.format(signal=name), *line)
    assert (hit.returncode, hit.stdout) == (128 + getattr(signal, name), "")
    said = "note: wrote out.csv and out.csv.manifest.json beside it, but not its report"
    assert hit.stderr.splitlines()[0] == said
    assert complete("out.csv")
    assert names() == ["census.csv", "census.toml", "out.csv", "out.csv.manifest.json"]


def repaired(run, *line):
    """Run a command that finds what another has left; return what it says of that."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        outcome = run(*line)
    assert outcome.code == 0, outcome.err
    return outcome.err


ANATOMY = ("--algorithm", "anatomy", "--principle", "distinct-l:l=4", "-o", "out")


@posix
def test_killed_between_two_tables(run, census):
    """The table of sensitive values is new, that of quasi-identifiers is not."""
    line = ("anonymize", "census.csv", "-p", "census.toml", *ANATOMY, "--force")
    assert run(*line).code == 0
    before = {name: Path("out", name).read_bytes() for name in names("out")}
    assert child(HIT_PLACING.format(at=3), *line).returncode == -signal.SIGKILL
    same = {name: Path("out", name).read_bytes() == held for name, held in before.items()}
    assert same == {"manifest.json": False, "quasi.csv": True, "sensitive.csv": False}
    checked = ("--sensitive", "income", "--principle", "distinct-l:l=4")
    second = ("--sensitive-table", "out/sensitive.csv")
    for verb in (
        ("check", "out", *checked),
        ("check", "out/quasi.csv", *second, *checked),
        ("measure", "out", "-p", "census.toml"),
        ("audit", "out"),
        ("audit", "out/quasi.csv", *second),
        ("report", "out"),
        ("join", "out", "-o", "joined.csv"),
    ):
        run(*verb).refuses(1, "quasi.csv is of an unfinished release", "make the release again")
    assert not Path("joined.csv").exists()
    assert "note: a run was stopped while it wrote quasi.csv; what it had" in repaired(run, *line)
    assert names("out") == sorted(before)
    assert run("check", "out", *checked).code == 0


#: Two drafts reach the disk; a pointer, the record and its folder do; two links and their folder;
#: two files take their places (9, 10), get their permissions (11, 12), and reach the disk (13); two
#: second names and two drafts are removed.
@posix
@pytest.mark.parametrize(
    ("engine", "at"), [("memory", 10), ("memory", 11), *(("files", at) for at in (5, 10, 11, 15))]
)
def test_a_whole_run_is_killed(run, census, engine, at):
    """Not only the part that writes: the command as it is typed, for either engine."""
    out = "out.csv" if engine == "memory" else "out.parquet"
    line = (*ANONYMIZE, out, *(["--memory", "512MB"] if engine == "files" else []))
    assert run(*line).code == 0
    before = {name: Path(name).read_bytes() for name in (out, f"{out}.manifest.json")}
    hit = child(HIT_CALLING.format(at=at), *line, "--force")
    assert hit.returncode == -signal.SIGKILL, hit.stderr
    new = {name: Path(name).read_bytes() != held for name, held in before.items()}
    assert list(new.values()) == [at > 10, at > 9]
    check = ("check", out, "-p", "census.toml", "--group", "group")
    if at == 10:
        run(*check).refuses(1, f"{out} is of an unfinished release")
    else:
        assert run(*check).code == 0
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        io.repair(out, f"{out}.manifest.json")
    assert [str(one.message).partition("; ")[2][:12] for one in told] == (
        [] if at < 10 else ["what it had " if at == 10 else "all its file"]
    )
    assert complete(out)
    assert all((Path(name).read_bytes() != held) is (at > 10) for name, held in before.items())
    assert {Path(name).stat().st_mode for name in before} == {Path("census.csv").stat().st_mode}
    assert names() == ["census.csv", "census.toml", out, f"{out}.manifest.json"]


@posix
@pytest.mark.parametrize("old", [False, True], ids=["none", "old"])
@pytest.mark.parametrize("hit", ["midway", "placing"])
def test_killed_in_another_format(run, census, hit, old):
    """The next run reads a Parquet file, and so would write other names into the folder."""
    line = ("anonymize", "census.csv", "-p", "census.toml", *ANATOMY, "--force")
    if old:
        assert run(*line).code == 0
    before = names("out") if old else []
    script = HIT_MIDWAY.format(signal="SIGKILL") if hit == "midway" else HIT_PLACING.format(at=3)
    assert child(script, *line).returncode == -signal.SIGKILL
    assert any(".draft." in name for name in names("out"))
    pl.read_csv("census.csv").write_parquet("census.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        outcome = run("anonymize", "census.parquet", *line[2:])
    if hit == "placing":
        assert "note: a run was stopped while it wrote quasi.csv; what it had" in outcome.err
    if old:  # which is back, and must not lie beside another
        assert outcome.code == 1
        assert "quasi.csv is of another release" in outcome.err
        assert names("out") == before
        assert run("check", "out", "--sensitive", "income", *ANATOMY[2:4]).code == 0
    else:
        assert outcome.code == 0, outcome.err
        assert names("out") == ["manifest.json", "quasi.parquet", "sensitive.parquet"]


@posix
def test_a_first_release_that_was_killed_is_no_obstacle(run, census):
    """Its manifest is there, its table is not; nobody needs --force to try again."""
    assert child(HIT_PLACING.format(at=2), *ANONYMIZE, "out.csv").returncode == -signal.SIGKILL
    left = names()
    assert [name for name in left if name[0] != "."][1:] == ["census.toml", "out.csv.manifest.json"]
    run(*ANONYMIZE, "out.csv", "--dry-run").refuses(1, "exists")  # which changes nothing
    assert names() == left
    assert "its own files are removed" in repaired(run, *ANONYMIZE, "out.csv")
    assert names() == ["census.csv", "census.toml", "out.csv", "out.csv.manifest.json"]
    assert complete("out.csv")


# Files that belong together


@pytest.fixture
def pairs(run, census):
    """Two anatomies of one table: groups of the same numbers and sizes, other people in them."""
    for folder in ("one", "two"):
        line = ("anonymize", "census.csv", "-p", "census.toml", *ANATOMY[:-1], folder)
        assert run(*line).code == 0


@pytest.mark.parametrize("by", ["folder", "hand", "two manifests"])
def test_tables_of_two_releases_are_refused(run, pairs, by):
    first, second = "one/quasi.csv", "two/sensitive.csv"
    if by == "folder":
        shutil.copy(second, "one/sensitive.csv")
        first, second = "one", None
    if by == "two manifests":
        for path in ("one/quasi.csv", "two/sensitive.csv"):
            shutil.copy(path, Path(path).name)
        shutil.copy("one/manifest.json", "quasi.csv.manifest.json")
        first, second = "quasi.csv", "sensitive.csv"
    more = [] if second is None else ["--sensitive-table", second]
    checked = ("--sensitive", "income", "--principle", "distinct-l:l=4")
    said = "sensitive.csv is not the file that", "do not belong together", "anonymize"
    run("check", first, *more, *checked).refuses(1, *said)
    run("check", first, *more, *checked, "--format", "json").refuses(1, *said)
    run("audit", first, *more).refuses(1, *said)
    run("report", first, *more).refuses(1, *said)
    run("measure", first, *more, "--qi", "age").refuses(1, *said)
    run("join", first, *filter(None, [second]), "-o", "joined.csv").refuses(1, *said)
    given = {"sensitive": "income", "principles": "distinct-l:l=4"}
    if second is not None:
        with pytest.raises(TableError, match="do not belong together"):
            wb.check(first, sensitive_table=second, **given)
        with pytest.raises(TableError, match="do not belong together"):
            wb.measure(first, sensitive_table=second, quasi="age", sensitive="income")
        with pytest.raises(TableError, match="do not belong together"):
            wb.join(first, second)
    assert wb.check("two/quasi.csv", sensitive_table="two/sensitive.csv", **given)


def test_two_tables_of_which_no_manifest_tells(run, pairs):
    """Without a manifest it is said; with one that cannot be read they are refused."""
    checked = ("check", "one", "--sensitive", "income", "--principle", "distinct-l:l=4")
    assert "of one release" not in run(*checked).out
    Path("one/manifest.json").write_text("{")
    run(*checked).refuses(1, "manifest.json could not be read", "nothing says that quasi.csv and")
    run("audit", "one").refuses(1, "manifest.json could not be read")
    run("audit", "two/quasi.csv").refuses(1, "one of the two tables", "name their folder")
    Path("one/manifest.json").unlink()
    outcome = run(*checked)
    assert outcome.code == 3
    assert "satisfied if both tables are of one release" in outcome.out
    assert "nothing says that quasi.csv and sensitive.csv are" in " ".join(outcome.out.split())
    files = ("one/quasi.csv", "--sensitive-table", "one/sensitive.csv")
    for named in (("one",), files):
        for verb in ("audit", "report"):
            told = json.loads(run(verb, *named, "--format", "json").out)
            [said] = [note for note in told["notes"] if "nothing says that" in note]
            assert said.startswith("there is no manifest.json: ")


def test_a_release_is_measured_by_its_own_groups(run, census):
    """Its manifest says which column has their ids, so that the policy alone will do."""
    assert run(*ANONYMIZE, "out.csv").code == 0
    line = ("measure", "out.csv", "-p", "census.toml", "--metric", "ncp")
    assert run(*line).out == run(*line, "--group", "group").out != ""


def test_a_table_that_is_not_its_manifests(run, census):
    """No verb says anything of it: what is judged must be what was made, or have no manifest."""
    assert run(*ANONYMIZE, "out.csv").code == 0
    line = ("check", "out.csv", "-p", "census.toml", "--group", "group")
    before = run(*line)
    assert (before.code, "manifest" in before.out) == (0, False)
    manifest = {"name": "out.csv.manifest.json", "matches": True}
    assert json.loads(run(*line, "--format", "json").out)["manifest"] == manifest
    lines = Path("out.csv").read_text().splitlines(keepends=True)
    Path("out.csv").write_text("".join([lines[0], *reversed(lines[1:])]))
    said = (
        "out.csv is not the file that out.csv.manifest.json describes",
        "if the change is meant, remove out.csv.manifest.json",
    )
    for verb in ("measure", "audit", "report"):
        run(verb, *line[1:]).refuses(1, *said)
    for more in ([], ["--format", "json"], ["--memory", "1GB"]):
        run(*line, *more).refuses(1, *said)
    run("measure", *line[1:], "--memory", "1GB").refuses(1, *said)
    how = {"policy": "census.toml", "group": "group"}
    for memory in (None, "1GB"):
        for judge in (wb.check, wb.measure):
            with pytest.raises(TableError, match=r"out\.csv is not the file that"):
                judge("out.csv", **how, memory=memory)
    Path("out.csv.manifest.json").unlink()
    assert run(*line).out == before.out
    assert run("audit", "out.csv", "-p", "census.toml").code in (0, 3)


@pytest.mark.parametrize("harm", ["changed", "unfinished"])
def test_another_release_is_compared_with_its_manifest(run, census, harm):
    """As the one that is audited is: what is combined must be what was published."""
    for name in ("out.csv", "other.csv"):
        assert run(*ANONYMIZE, name).code == 0
    line = ("out.csv", "-p", "census.toml", "--no-swaps", "--other", "other.csv")
    assert run("audit", *line).code in (0, 3)
    if harm == "changed":
        with Path("other.csv").open("a") as file:
            file.write(Path("other.csv").read_text().splitlines(keepends=True)[1])
        said = "other.csv is not the file that other.csv.manifest.json describes"
    else:
        hit = child(HIT_PLACING.format(at=2), *ANONYMIZE, "other.csv", "--force")
        assert hit.returncode == -signal.SIGKILL
        said = "other.csv is of an unfinished release"
    for verb in ("audit", "report"):
        run(verb, *line).refuses(1, said)
    with pytest.raises(TableError, match=said.split(" that ")[0]):
        wb.audit("out.csv", policy="census.toml", swaps=False, others="other.csv")


def test_a_table_without_a_manifest_has_no_word_of_it(run, census):
    line = ("check", "census.csv", "-p", "census.toml", "--format", "json")
    assert "manifest" not in json.loads(run(*line).out)


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
    with io.drafts(*paths) as (table, text):
        io.put(pl.DataFrame({"a": [1]}), table)
        text.write_text("{}")
        assert not any(path.exists() for path in paths)
        assert (table.suffix, text.suffix) == (".csv", ".json")
        assert io.read(table).rows() == [("1",)]
    assert names(tmp_path) == ["a.csv", "b.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OutputError])
def test_drafts_of_a_failure_vanish(tmp_path, error):
    (tmp_path / "a.csv").write_text("old")

    def fail():
        with io.drafts(tmp_path / "a.csv", tmp_path / "b", force=True) as (draft, _):
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
    with io.drafts(target) as (living,):
        assert not left.exists()
        io.write_text("first", target)
        assert living.exists()
        living.write_text("second")
        target.unlink()
    assert target.read_text() == "second"
    assert all(path.read_text() == "kept" for path in (*unrelated, other))
