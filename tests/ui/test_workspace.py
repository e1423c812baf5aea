"""What the app keeps is private, is gone afterwards, and no name leads out of it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wideberth.errors import OutputError
from wideberth.io import is_table
from wideberth.ui.workspace import PREFIX, RefusedError, Workspace, safe_name, within

#: Holds a workspace until it is ended, one way or another.
HOLDER = """
import sys
from wideberth.ui.workspace import Workspace
workspace = Workspace.open(sys.argv[1])
with workspace.file(workspace.folder("table"), "people.csv") as file:
    file.write(b"age")
print(workspace.path, flush=True)
sys.stdin.read()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def left(base: Path) -> list[str]:
    return sorted(path.name for path in base.iterdir())


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path) as made:
        yield made


# Private


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_nobody_else_may_look(tmp_path, umask):
    before = os.umask(umask)
    try:
        with Workspace.open(tmp_path) as made:
            folder = made.folder("table/run-1")
            with made.file(folder, "people.csv") as file:
                file.write(b"age\n1\n")
            assert [mode(path) for path in (made.path, folder.parent, folder)] == [0o700] * 3
            assert mode(folder / "people.csv") == 0o600
            assert mode(made.path / ".lock") == 0o600
            assert (folder / "people.csv").read_bytes() == b"age\n1\n"
    finally:
        os.umask(before)
    assert left(tmp_path) == []


def test_it_lies_where_temporary_files_do(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Workspace.open() as made:
        assert made.path.parent == tmp_path.resolve()
        assert made.path.name.startswith(PREFIX)


def test_two_do_not_mix(tmp_path):
    with Workspace.open(tmp_path) as one:
        with Workspace.open(tmp_path) as other:
            assert one.path != other.path
        assert one.path.is_dir()
        assert not other.path.exists()


# Gone


def test_everything_is_removed_and_once_is_enough(tmp_path):
    (outside := tmp_path / "outside").mkdir()
    (outside / "kept").touch()
    made = Workspace.open(tmp_path)
    folder = made.folder("a/b")
    made.file(folder, "x.csv").close()
    (folder / "link").symlink_to(outside)
    (made.path / "link").symlink_to(outside)
    for _ in range(3):
        made.close()
    assert left(tmp_path) == ["outside"]
    assert left(outside) == ["kept"]


def test_an_error_in_the_block_removes_it_too(tmp_path):
    with pytest.raises(KeyError), Workspace.open(tmp_path) as made:
        raise KeyError
    assert not made.path.exists()


def test_what_cannot_be_removed_is_told(tmp_path, monkeypatch):
    made = Workspace.open(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(Path, "rmdir", _fails)
        with pytest.raises(OutputError, match="cannot be removed\n  try: remove it by hand"):
            made.close()
    made.close()
    assert left(tmp_path) == []


def _fails(*_: object) -> None:
    raise PermissionError


# Swept


@pytest.fixture
def holder(tmp_path):
    """Return a process that holds a workspace, and its folder."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_of_a_process_that_lives_nothing_is_swept_and_of_a_dead_one_all(tmp_path, holder):
    process, folder = holder
    with Workspace.open(tmp_path):
        assert (folder / "table" / "people.csv").read_bytes() == b"age"
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert folder.exists()
    with Workspace.open(tmp_path) as made:
        assert left(tmp_path) == [made.path.name]


def test_what_another_process_is_just_making_is_not_swept(tmp_path):
    (tmp_path / f".{PREFIX}new").mkdir()
    Workspace.open(tmp_path).close()
    assert left(tmp_path) == [f".{PREFIX}new"]


def test_what_was_swept_in_part_is_swept(tmp_path):
    """The lock goes last; what has none was being removed."""
    (tmp_path / f"{PREFIX}old" / "table").mkdir(parents=True)
    Workspace.open(tmp_path).close()
    assert left(tmp_path) == []


def test_a_link_is_not_swept(tmp_path):
    (outside := tmp_path / "outside").mkdir()
    (outside / "kept").touch()
    (tmp_path / f"{PREFIX}link").symlink_to(outside)
    (tmp_path / f"{PREFIX}file").touch()
    (tmp_path / "other").mkdir()
    Workspace.open(tmp_path).close()
    assert left(tmp_path) == ["other", "outside", f"{PREFIX}file", f"{PREFIX}link"]
    assert left(outside) == ["kept"]


def test_a_link_in_what_is_swept_is_not_followed(tmp_path):
    (outside := tmp_path / "outside").mkdir()
    (outside / "kept").touch()
    (old := tmp_path / f"{PREFIX}old").mkdir()
    (old / "link").symlink_to(outside)
    (old / ".lock").symlink_to(outside / "kept")
    Workspace.open(tmp_path).close()
    assert left(outside) == ["kept"]


def test_of_other_users_nothing_is_swept(tmp_path, monkeypatch):
    (tmp_path / f"{PREFIX}old").mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    Workspace.open(tmp_path).close()
    assert left(tmp_path) == [f"{PREFIX}old"]


def test_without_locks_nothing_is_swept(tmp_path, monkeypatch):
    monkeypatch.setattr("wideberth.ui.workspace.lock", lambda file: False)
    with Workspace.open(tmp_path) as one, Workspace.open(tmp_path):
        assert one.path.is_dir()


# New files and folders


def test_a_file_is_new(workspace, tmp_path):
    folder = workspace.folder("table")
    workspace.file(folder, "people.csv").close()
    (target := tmp_path / "target").touch()
    (folder / "link.csv").symlink_to(target)
    (folder / "nowhere.csv").symlink_to(tmp_path / "made")
    for name in ("people.csv", "link.csv", "nowhere.csv"):
        with pytest.raises(OutputError, match=rf"{name} exists"):
            workspace.file(folder, name)
    assert not (tmp_path / "made").exists()


def test_a_file_lies_in_the_workspace(workspace, tmp_path):
    (workspace.path / "link").symlink_to(tmp_path)
    for folder in (tmp_path, workspace.path / "link", workspace.path / "..", tmp_path / "none"):
        with pytest.raises(RefusedError):
            workspace.file(folder, "people.csv")


@pytest.mark.parametrize("name", ["a/b.csv", "../x.csv", ".lock", "", "/etc/x", "a\\b", "a\0"])
def test_a_file_has_a_plain_name(workspace, name):
    with pytest.raises(RefusedError):
        workspace.file(workspace.path, name)


def test_a_folder_may_be_there_already(workspace):
    assert workspace.folder("a") == workspace.folder("a") == workspace.path / "a"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/..", "../a", "/etc", "a//b", ".a", "a\\b", "C:"]
)
def test_a_folder_has_a_plain_name(workspace, name):
    with pytest.raises(RefusedError):
        workspace.folder(name)


def test_a_link_is_no_folder(workspace, tmp_path):
    (workspace.path / "link").symlink_to(tmp_path)
    for name in ("link", "link/a"):
        with pytest.raises(RefusedError):
            workspace.folder(name)


# Names from outside


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a file, beside which lies what nobody must read."""
    (tmp_path / "secret.csv").write_text("secret")
    (tmp_path / "table-and-more").mkdir()
    (tmp_path / "table-and-more" / "secret.csv").write_text("secret")
    (made := tmp_path / "table").mkdir()
    (made / "release").mkdir()
    (made / "release" / "quasi.csv").write_text("fine")
    (made / "people.csv").write_text("fine")
    (made / "..%2fpercent.csv").write_text("hidden")
    (made / "%2e%2e").write_text("fine")
    (made / ".hidden").write_text("hidden")
    (made / "inside.csv").symlink_to(made / "people.csv")
    (made / "outside.csv").symlink_to(tmp_path / "secret.csv")
    (made / "up").symlink_to(tmp_path)
    (made / "circle").symlink_to(made / "circle")
    (made / "nowhere").symlink_to(made / "none")
    os.mkfifo(made / "pipe")
    return made


@pytest.mark.parametrize(
    "name", ["people.csv", "release/quasi.csv", "inside.csv", "%2e%2e", "up/table/people.csv"]
)
def test_a_file_within(folder, name):
    """What counts is where a name leads in the end."""
    assert within(folder, name).read_text() == "fine"


ATTACKS = [
    "",
    ".",
    "..",
    "/",
    "../secret.csv",
    "release/../../secret.csv",
    "release/../people.csv",
    "./people.csv",
    "release//quasi.csv",
    "release/",
    "people.csv/",
    "people.csv/.",
    "people.csv/../../secret.csv",
    "..\\secret.csv",
    "release\\..\\..\\secret.csv",
    "\\secret.csv",
    "%2e%2e/secret.csv",
    "..%2fsecret.csv",
    "..%2fpercent.csv",
    "%2e%2e%2fsecret.csv",
    "..%c0%afsecret.csv",
    "．．/secret.csv",
    "..／secret.csv",
    "../table-and-more/secret.csv",
    "secret.csv",
    "people.csv\0",
    "people.csv\0.html",
    "\0",
    "/etc/passwd",
    "//etc/passwd",
    "file:///etc/passwd",
    "~/.bashrc",
    "~root",
    "C:\\Windows\\win.ini",
    "C:people.csv",
    "\\\\server\\share",
    ".hidden",
    "outside.csv",
    "up/secret.csv",
    "circle",
    "nowhere",
    "pipe",
    "release",
    "none",
    "people.csv ",
    "people.csv\n",
    "\udcff",
    "\ud800",
    "a" * 5000,
    "a/" * 3000 + "a",
]


@pytest.mark.parametrize("name", ATTACKS)
def test_no_name_leads_out(folder, name):
    with pytest.raises(RefusedError) as refused:
        within(folder, name)
    assert str(refused.value) == (
        "there is no such file here\n  try: choose one that the page lists"
    )


def test_an_absolute_name_of_a_file_within(folder):
    with pytest.raises(RefusedError):
        within(folder, str(folder / "people.csv"))


def test_a_folder_that_is_gone(tmp_path):
    with pytest.raises(RefusedError):
        within(tmp_path / "gone", "people.csv")


@given(name=st.text(st.sampled_from("./\\ab%~:\0-")))
def test_whatever_the_name(name, tmp_path_factory):
    with Workspace.open(tmp_path_factory.getbasetemp()) as made:
        made.file(made.path, "a").close()
        made.file(folder := made.folder("b"), "a").close()
        try:
            found = within(folder, name)
        except RefusedError:
            return
        assert found == folder / "a"


# Names for what is uploaded


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("people.csv", "people.csv"),
        ("People 2024 (final).CSV", "People_2024_final.CSV"),
        ("people.2024.csv.gz", "people.2024.csv.gz"),
        ("données.parquet", "données.parquet"),
        ("表.feather", "表.feather"),
        ("/etc/passwd", "passwd"),
        ("../../secret.csv", "secret.csv"),
        ("C:\\Users\\me\\people.tsv", "people.tsv"),
        ("..／secret.csv", "secret.csv"),
        ("a\0b\nc.csv", "a_b_c.csv"),
        ("<script>.csv", "script.csv"),
        ("-rf.csv", "rf.csv"),
        (".csv", "table.csv"),
        (".hidden.csv", "hidden.csv"),
        (".bashrc", "bashrc"),
        ("people.csv...", "people.csv"),
        ("people.xlsx", "people.xlsx"),
        ("", "table"),
        (".", "table"),
        ("..", "table"),
        ("/", "table"),
        ("   ", "table"),
        ("NUL", "table_NUL"),
        ("con.csv", "table_con.csv"),
        ("com1.tar.csv", "table_com1.tar.csv"),
        ("lpt¹.csv", "table_lpt1.csv"),
        ("console.csv", "console.csv"),
        ("\u202efdp.csv", "fdp.csv"),
        ("\udcff.csv", "table.csv"),
    ],
)
def test_a_safe_name(text, name):
    assert safe_name(text) == name


def test_a_name_by_default():
    assert safe_name("???.csv", default="zip") == "zip.csv"


@pytest.mark.parametrize("text", ["a" * 300 + ".csv.gz", "漢" * 300 + ".parquet", "x" * 300])
def test_a_long_name(text, workspace):
    name = safe_name(text)
    assert len(name) <= 100
    assert is_table(name) == is_table(text)
    workspace.file(workspace.path, name).close()


@given(
    st.text() | st.text(st.sampled_from("./\\-_ .:cCoOnN1\u202e漢"), max_size=130),
    st.sampled_from(["", ".csv", ".CSV.gz"]),
)
def test_every_name_is_safe(text, suffix):
    name = safe_name(text + suffix)
    assert name
    assert name == safe_name(name)
    assert len(name) <= 100 + len("table_")
    assert name.isprintable()
    assert not name.startswith((".", "-"))
    assert not set('/\\:*?"<>| ') & set(name)
    assert len(name.encode()) <= 255
    assert not suffix or name.endswith(suffix)
