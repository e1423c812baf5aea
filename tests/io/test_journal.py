"""A release and its manifest are one thing, whatever stops the run that writes them.

Every rename, link and synchronization fails once, or fails from there on, or is where the process
is killed. Then a place shows the old release or the new one, or files that are refused; the old
ones still exist under some name; and the next run repairs everything and leaves nothing behind.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import wideberth as wb
from wideberth import io
from wideberth.errors import OutputError, TableError
from wideberth.io import journal, writer
from wideberth.io.manifest import compare
from wideberth.io.scratch import scratch_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, locks and modes of POSIX")

PEOPLE = pl.DataFrame(
    {
        "age": [21 + i % 40 for i in range(48)],
        "sex": ["f", "m"] * 24,
        "ill": ["flu", "ulcer", "cancer", "cold", "gout", "mumps"] * 8,
    }
)
HOW: dict[str, Any] = {"quasi": ["age", "sex"], "sensitive": "ill", "principles": "distinct-l:l=2"}
#: What is injected into: all that gives names, and all that puts things on the disk.
CALLS = ("replace", "rename", "link", "unlink", "fsync", "fchmod")


def made(seed: int, **how: Any) -> wb.Release:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the seed is fixed
        return wb.anonymize(PEOPLE, seed=seed, **HOW, **how)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: what is called is what counts."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def releases() -> dict[str, list[wb.Release]]:
    return {
        "one table": [made(seed) for seed in range(3)],
        "two tables": [made(seed, algorithm="anatomy") for seed in range(3)],
    }


def contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def shown(folder: Path) -> dict[str, bytes]:
    return {name: held for name, held in contents(folder).items() if not name.startswith(".")}


@contextmanager
def failing(at: int, error: int, *, once: bool) -> Iterator[list[str]]:
    """Let the call of a number fail, and those that follow if not only once; yield what failed."""
    count, failed = 0, []
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            honest = getattr(os, name)

            def call(*given: Any, _name: str = name, _honest: Any = honest, **more: Any) -> Any:
                nonlocal count
                count += 1
                if count == at or (count > at and not once):
                    failed.append(_name)
                    raise OSError(error, os.strerror(error))
                return _honest(*given, **more)

            patch.setattr(os, name, call)
        yield failed


def table_in(folder: Path) -> tuple[Path, Path | None]:
    quasi, sensitive = folder / "out" / "quasi.csv", folder / "out" / "sensitive.csv"
    return (quasi, sensitive) if (folder / "out").is_dir() else (folder / "out.csv", None)


def refused(folder: Path) -> bool:
    """Tell whether the files that are shown are refused, or there is no table to be looked at."""
    table, second = table_in(folder)
    if not table.exists():
        return True
    try:
        compare(table, second)
    except TableError as error:
        return "belong together" in str(error)
    return False


@pytest.mark.parametrize(
    ("error", "once"), [(errno.EIO, True), (errno.ENOSPC, False)], ids=["once", "from there on"]
)
@pytest.mark.parametrize("replacing", [True, False], ids=["old", "none"])
@pytest.mark.parametrize("kind", ["one table", "two tables"])
def test_every_call_fails(releases, kind, replacing, error, once, tmp_path):
    old, new, next_ = releases[kind]
    for at in range(1, 100):
        folder = tmp_path / str(at)
        folder.mkdir()
        target = folder / ("out" if kind == "two tables" else "out.csv")
        if replacing:
            old.save(target)
        before, said = shown(folder), ""
        with failing(at, error, once=once) as failed:
            try:
                new.save(target, force=replacing)
            except OutputError as refusal:
                said = str(refusal)
        after = shown(folder)
        if said:
            assert os.strerror(error) in said
            # If the permissions cannot be set and nothing put back, all of the new is there.
            whole = failed[0] == "fchmod" and not set(after.values()) & set(before.values())
            assert after == before or (not once and (refused(folder) or whole)), failed
            # Nothing of the old is lost before the new is complete.
            assert set(before.values()) <= set(contents(folder).values()), failed
        else:
            assert not refused(folder)
            assert after != before
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", io.TableWarning)
            next_.save(target, force=True)
        assert not refused(folder)
        assert shown(folder) == contents(folder), failed
        assert set(shown(folder).values()).isdisjoint(before.values())
        if not failed:
            break
    assert at > 8


# ---- kills

#: Writes three files, and is killed at the call of each number, in a folder for each.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from wideberth import io as tables
root, replacing = Path(sys.argv[1]), sys.argv[2] == "old"
os.fsync = lambda _: None
if sys.argv[3] == "no links":
    def link(*_):
        raise OSError(1, "Operation not permitted")
    os.link = link
elif sys.argv[3] == "new numbers":  # as where the layers of a file system are copied first
    honest, rename = os.link, os.rename
    def link(source, *_):
        shutil.copy2(source, f"{{source}}.copy")
        rename(f"{{source}}.copy", source)
        honest(source, *_)
    os.link = link
os.umask(0o027)
names = ("t.csv", "s.csv", "m.json")
def save(folder, text):
    with tables.drafts(*(folder / n for n in names), force=True) as drafts:
        for draft in drafts:
            draft.write_text(text + draft.name.split(".draft.")[1])
def armed(at):
    count = 0
    for name in {calls}:
        def call(*given, _honest=getattr(os, name), **more):
            nonlocal count
            count += 1
            if count == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return _honest(*given, **more)
        setattr(os, name, call)
for at in range(1, 100):
    folder = root / str(at)
    folder.mkdir()
    if replacing:
        save(folder, "old ")
    child = os.fork()
    if not child:
        armed(at)
        save(folder, "new ")
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        break
"""


def texts(folder: Path) -> set[str]:
    return texts_of(shown(folder))


def texts_of(left: dict[str, bytes]) -> set[str]:
    return {held.decode().split()[0] for held in left.values()}


NAMES = ("t.csv", "s.csv", "m.json")


def killed(root: Path, replacing: str, links: str) -> list[Path]:
    """Return folders in which a run was killed: at its first call, its second, and so on."""
    root.mkdir()
    line = [sys.executable, "-c", KILLED.format(calls=CALLS), root, replacing, links]
    subprocess.run(line, check=True, timeout=100)
    folders = sorted(root.iterdir(), key=lambda path: int(path.name))
    assert len(folders) > 8
    return folders


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Folders in which an old release was to be replaced; tests take copies of them."""
    return killed(tmp_path_factory.mktemp("left") / "killed", "old", "links")


def copies(folders: list[Path], to: Path) -> Iterator[Path]:
    for folder in folders:
        yield Path(shutil.copytree(folder, to / folder.name))


def repaired(folder: Path) -> list[str]:
    """Repair what was left; return what is said of it."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        io.repair(*(folder / name for name in NAMES))
    return [str(warning.message) for warning in told]


@pytest.mark.parametrize("moved", [False, True], ids=["in place", "copied"])
@pytest.mark.parametrize(
    ("replacing", "links"),
    [("old", "links"), ("old", "no links"), ("old", "new numbers"), ("none", "links")],
)
def test_killed_at_every_call(replacing, links, moved, tmp_path):
    """Whatever is left is repaired, also after the folder came out of a backup."""
    mixed = 0
    for folder in killed(tmp_path / "killed", replacing, links):
        if moved:  # to files of other numbers
            folder = Path(shutil.copytree(folder, tmp_path / "copies" / folder.name))
        target, left = folder / "t.csv", shown(folder)
        if replacing == "old" and links == "links":
            assert set(left) == set(NAMES)
        # The table comes last: whoever sees a new one sees the others as well.
        if "t.csv" in left and left["t.csv"].startswith(b"new"):
            assert texts(folder) == {"new"}
        whole = len(texts(folder)) <= 1 and len(left) in ((3,) if replacing == "old" else (0, 3))
        if {"new"} < texts(folder):
            assert io.unfinished(target) == "stopped"
        mixed += not whole
        told = repaired(folder)
        assert texts(folder) == (texts_of(left) if whole else {replacing} - {"none"})
        assert len(shown(folder)) == (3 if texts(folder) else 0)
        if not whole:
            assert "a run was stopped while it wrote t.csv; what it had replaced is back" in told[0]
        assert {mode(folder / name) for name in shown(folder)} <= {0o640}
        assert not list(folder.glob(".*.pending"))
        assert not list(folder.glob(".*.old.*"))
        with io.drafts(*(folder / name for name in NAMES), force=True) as drafts:
            for draft in drafts:
                draft.write_text("next")
        assert shown(folder) == contents(folder)
    assert mixed >= 2


def test_what_a_kill_leaves_is_private_until_all_have_their_places(left):
    """Drafts are their owner's alone, and so are new files beside old ones."""
    alone = 0
    for folder in left:
        for path in folder.iterdir():
            new = path.is_file() and path.read_bytes().startswith(b"new")
            if new and texts(folder) != {"new"}:
                assert mode(path) == 0o600
            elif new and mode(path) == 0o600:
                alone += 1
    assert alone  # killed before they got their permissions; the repair gives them


@pytest.mark.parametrize("harm", ["table changed", "old lost", "old changed", "new changed"])
def test_what_cannot_be_told_is_kept(harm, left, tmp_path):
    """Whatever somebody did since: all is old, or all is new, or nothing is touched."""
    said: list[str] = []
    for folder in copies(left, tmp_path):
        olds, target = list(folder.glob(".*.old.m.json")), folder / "t.csv"
        if not journal.members_of(target):
            continue  # nothing had begun, or all was done
        new = [folder / n for n, held in shown(folder).items() if held.startswith(b"new")]
        if harm == "table changed":
            target.unlink()
            target.write_text("mine")
        elif harm == "new changed" and new:
            new[0].write_text("new, and cut")
        elif harm == "old lost" and olds:
            olds[0].unlink()
        elif harm == "old changed" and olds:
            olds[0].unlink()
            olds[0].write_text("old, and cut")
        before = contents(folder)
        try:
            repaired(folder)
        except OutputError as error:
            assert contents(folder) == before
            said.append(str(error))
        else:
            assert texts(folder) in ({"old"}, {"new"})
    assert said
    assert all("all files are left as they are" in one for one in said)
    assert all(".t.csv.pending" in one for one in said)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_for_any_of_the_files_repairs_all(name, left, tmp_path):
    for folder in copies(left, tmp_path):
        whole = len(texts(folder)) == 1
        assert bool(io.unfinished(folder / name)) is not whole
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            with io.drafts(folder / "x.csv", folder / name, force=True) as drafts:
                for draft in drafts:
                    draft.write_text("next")
        assert told or whole
        rest = {n: held for n, held in shown(folder).items() if n not in (name, "x.csv")}
        assert len(texts_of(rest)) == 1
        assert not any(journal.members_of(folder / name) for name in NAMES)
        assert not list(folder.glob(".*.old.*"))


def test_files_in_two_folders_are_repaired_from_either(tmp_path):
    targets = [tmp_path / "a" / "q.csv", tmp_path / "b" / "s.csv"]
    for target in targets:
        target.parent.mkdir()
        target.write_text("old")
    stopped_midway(*targets)
    assert io.unfinished(targets[1]) == "stopped"
    with pytest.warns(io.TableWarning, match=r"while it wrote q\.csv; what it had replaced"):
        io.repair(targets[1])
    assert contents(tmp_path) == {"q.csv": b"old", "s.csv": b"old"}


def stopped_midway(*targets: Path, text: str = "newer") -> None:
    """Replace files, and neither come to an end nor back after the first of them."""
    failed: list[str] = []

    def replace(*given: Any, _honest: Callable[..., None] = os.replace) -> None:
        failed.append("")
        if len(failed) > 1:
            raise OSError(errno.EIO, "")
        _honest(*given)

    def write() -> None:
        with io.drafts(*targets, force=True) as drafts:
            for draft in drafts:
                draft.write_text(text)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(OutputError, match="could neither all be written nor all be put back"):
            write()


def test_a_run_that_is_at_work_was_not_stopped(tmp_path):
    write_both(tmp_path)
    seen: list[str] = []

    def replace(*given: Any, _honest: Callable[..., None] = os.replace) -> None:
        seen.extend(io.unfinished(tmp_path / name) for name in ("a.csv", "b"))
        if seen[-1]:
            with pytest.raises(TableError, match=r"a\.csv is being written by another run"):
                compare(tmp_path / "a.csv")
        _honest(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace)
        write_both(tmp_path, "newer", force=True)
    assert seen == ["", "", "running", "running"]
    assert io.unfinished(tmp_path / "a.csv") == ""


# ---- several at once


def test_two_runs_at_once_never_mix(tmp_path):
    targets = [tmp_path / name for name in ("t.csv", "s.csv", "m.json")]

    def save(text: str, start: threading.Barrier) -> None:
        with io.drafts(*targets, force=True) as drafts:
            for draft in drafts:
                draft.write_text(text)
            start.wait()

    for _ in range(40):
        start = threading.Barrier(2)
        threads = [threading.Thread(target=save, args=(text, start)) for text in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({target.read_text() for target in targets}) == 1
    assert sorted(contents(tmp_path)) == ["m.json", "s.csv", "t.csv"]


def test_a_run_that_holds_the_lock_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(journal, "LOCK_WAIT_SECONDS", 0)
    held = io.locked(tmp_path / "a.csv", tmp_path / "b")
    with held, pytest.raises(OutputError, match="another run is writing"):
        write_both(tmp_path)
    write_both(tmp_path)
    assert sorted(contents(tmp_path)) == ["a.csv", "b"]


def write_both(
    folder: Path, text: str = "new", *, force: bool = False, meanwhile: Any = lambda: None
) -> None:
    with io.drafts(folder / "a.csv", folder / "b", force=force) as drafts:
        for draft in drafts:
            draft.write_text(text)
        meanwhile()


def test_what_came_meanwhile_is_not_replaced_without_force(tmp_path):
    with pytest.raises(OutputError, match="exists"):
        write_both(tmp_path, "late", meanwhile=lambda: write_both(tmp_path))
    assert contents(tmp_path) == {"a.csv": b"new", "b": b"new"}


# ---- what others may plant


def planted(path: Path, what: str) -> None:
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "link":
        path.with_name("elsewhere").write_text("precious")
        path.symlink_to("elsewhere")
    else:
        path.with_name("elsewhere").write_text("precious")
        os.link(path.with_name("elsewhere"), path)


@pytest.mark.parametrize("what", ["pipe", "folder", "link", "second name"])
def test_what_is_planted_as_a_lock_is_not_opened(what, tmp_path):
    planted(tmp_path / ".a.csv.pending", what)
    with pytest.raises(OutputError, match=r"\.a\.csv\.pending is in the way"):
        write_both(tmp_path)
    assert not (tmp_path / "a.csv").exists()
    if what in ("link", "second name"):
        assert (tmp_path / "elsewhere").read_text() == "precious"


@pytest.mark.parametrize("what", ["pipe", "folder", "link"])
def test_what_is_planted_as_a_draft_hangs_nobody(what, tmp_path):
    planted(tmp_path / ".0123abcd.draft.a.csv", what)
    write_both(tmp_path)
    assert (tmp_path / "a.csv").read_text() == "new"


def test_a_pipe_as_the_lock_of_a_spill_hangs_nobody(monkeypatch, tmp_path):
    monkeypatch.setenv("WIDEBERTH_SPILL", str(tmp_path))
    (tmp_path / "wideberth-spill-x").mkdir()
    planted(tmp_path / "wideberth-spill-x" / "lock", "pipe")
    with scratch_folder() as folder:
        assert folder.is_dir()


def test_a_pipe_as_a_manifest_hangs_nobody(releases, tmp_path):
    io.write(releases["one table"][0].table, tmp_path / "a.csv")
    os.mkfifo(tmp_path / "a.csv.manifest.json")
    assert compare(tmp_path / "a.csv").told is None


def test_a_record_of_somebody_else_does_not_count(monkeypatch, tmp_path):
    """Whoever may write into the folder could have any file of ours removed with it."""
    (tmp_path / "precious").write_text("kept")
    known = [4, hashlib.sha256(b"kept").hexdigest()]
    files = [{"path": "a.csv", "new": [1, ""]}, {"path": "precious", "new": known}]
    files = [{**file, "before": None, "mode": 0o600} for file in files]
    told = {"mark": "0123abcd", "files": files}
    (tmp_path / ".a.csv.pending").write_text(json.dumps(told))
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(OutputError, match="is in the way: it is not a file of yours"):
        write_both(tmp_path)
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "3", '{"of": 3}', '{"of": "../.."}', '{"of": "b"}', "[" * 9999]
)
def test_a_record_that_was_not_written_to_its_end(text, tmp_path):
    (tmp_path / ".a.csv.pending").write_text(text)
    write_both(tmp_path)
    assert sorted(contents(tmp_path)) == ["a.csv", "b"]


@pytest.mark.parametrize(
    "text",
    [
        '{"mark": 3}',
        '{"mark": "0123abcd", "files": []}',
        '{"mark": "0123abcd", "files": [{}]}',
        '{"mark": "0123abcd", "files": [{"path": "a.csv", "new": [1, 2, 3], "before": null}]}',
    ],
)
def test_a_record_that_nobody_knows_how_to_read(text, tmp_path):
    """It may tell of old files: better to ask than to forget them."""
    (tmp_path / ".a.csv.pending").write_text(text)
    with pytest.raises(OutputError, match="in words that are not known here"):
        write_both(tmp_path)
    assert contents(tmp_path) == {".a.csv.pending": text.encode()}


def test_what_was_changed_since_stays(tmp_path):
    """A run was stopped; then somebody put a file of their own in a place."""
    write_both(tmp_path)
    stopped_midway(tmp_path / "a.csv", tmp_path / "b")
    assert io.unfinished(tmp_path / "a.csv")
    (tmp_path / "b").unlink()
    (tmp_path / "b").write_text("mine")
    left = contents(tmp_path)
    with pytest.raises(OutputError, match="b can neither be told to be its own") as refusal:
        write_both(tmp_path, "next", force=True)
    assert contents(tmp_path) == left
    assert ".old.b" in str(refusal.value)
    (tmp_path / "b").rename(tmp_path / "elsewhere")
    with pytest.warns(io.TableWarning, match="what it had replaced is back"):
        io.repair(tmp_path / "a.csv", tmp_path / "b")
    assert contents(tmp_path) == {"a.csv": b"new", "b": b"new", "elsewhere": b"mine"}


# ---- who may read


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("names", [["a.csv"], ["a.csv", "b"]])
def test_drafts_are_private_until_they_take_their_places(names, tmp_path):
    before = os.umask(0o027)
    try:
        for expected in (0o640, 0o604):
            targets = [tmp_path / name for name in names]
            with io.drafts(*targets, force=True) as drafts:
                assert {mode(draft) for draft in drafts} == {0o600}
                assert sorted(drafts) == sorted(tmp_path.glob(".*.draft.*"))
            assert {mode(target) for target in targets} == {expected}
            for target in targets:
                target.chmod(0o604)  # which the next one keeps
    finally:
        os.umask(before)


def test_a_draft_that_another_run_sweeps_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """A run that begins just then takes it for a dead run's, and removes it."""
    target, free = tmp_path / "a.csv", writer.is_free
    swept: list[Path] = []

    def is_free(file: Any) -> bool:
        if not swept:
            swept.extend(tmp_path.glob(".*.draft.*"))
            writer.sweep_drafts(target)
        return free(file)

    monkeypatch.setattr(writer, "is_free", is_free)
    with io.drafts(target) as (draft,):
        assert swept == [draft]
        writer.sweep_drafts(target)  # now it is locked
        draft.write_text("new")
        assert mode(draft) == 0o600
    assert target.read_text() == "new"


@pytest.mark.parametrize("names", [["a.csv"], ["a.csv", "b"]])
def test_a_draft_is_private_when_it_takes_its_place(names, tmp_path):
    targets, modes = [tmp_path / name for name in names], []
    for target in targets:
        target.write_text("old")
        target.chmod(0o644)

    def replace(source: Path, *given: Any, _honest: Callable[..., None] = os.replace) -> None:
        modes.append([mode(path) for path in (source, *targets)])
        _honest(source, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with io.drafts(*targets, force=True):
            pass
    several = [[0o600, 0o644, 0o644], [0o600, 0o644, 0o600]]  # the first comes last
    assert modes == (several if len(names) > 1 else [[0o600, 0o644]])
    assert {mode(target) for target in targets} == {0o644}
