"""Settings outlive the app, packed or in the state folder; the table's rows do not."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from tests.ui.test_app import KEY, PORT, change, until
from wideberth.errors import PolicyError
from wideberth.ui import attachments
from wideberth.ui.app import create
from wideberth.ui.jobs import Jobs
from wideberth.ui.open_tables import AppSession
from wideberth.ui.saved import MAX_SAVED_SETTINGS, SettingsStore, state_folder
from wideberth.ui.security import HEADER
from wideberth.ui.workspace import Workspace

ROLES = {"quasi": ["age", "sex"], "sensitive": ["pay"]}
POLICY = {"roles": ROLES, "principle": [{"name": "k-anonymity", "k": 3}]}


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    rows = {"age": range(20, 44), "sex": ["F", "M"] * 12, "pay": range(70_001, 70_025)}
    pl.DataFrame(rows).write_csv(path, separator="|")
    return path


@contextmanager
def app(state: Path) -> Iterator[TestClient]:
    """Run the app in a folder of its own; at the end it is gone, as if killed, without a word."""
    with Workspace.open() as workspace:
        session = AppSession(workspace, Jobs(), SettingsStore(state))
        headers = {"Cookie": f"wideberth-{PORT}=cookie", HEADER: "csrf"}
        base = f"http://127.0.0.1:{PORT}/way"
        with TestClient(
            create(session, key=KEY, port=PORT), base_url=base, headers=headers
        ) as client:
            yield client
        for table in session.tables.values():
            if table.draft is not None:
                table.draft.release()  # as the system does when a process is gone


def opened(client: TestClient, address: str = "/api/tables", **given: Any) -> str:
    """Open a table; return the address of its interface."""
    told = client.post(address, **given).json()
    table = f"/api/tables/{told['table']}"
    until(client, table)
    return table


def decided(client: TestClient, table: str) -> dict[str, Any]:
    """Decide about all that a policy holds; return it."""
    client.post(f"{table}/reread", json={"delimiter": "|"})
    rows = [["F", "any", "*"], ["M", "any", "*"]]
    rule = client.post(f"{table}/hierarchy", json={"column": "sex", "rows": rows}).json()["rule"]
    answer = change(
        client,
        table,
        **POLICY,
        types={"age": "integer", "sex": "category", "pay": "decimal"},
        hierarchies={"sex": rule, "age": {"interval": [5, 10]}},
    )
    assert answer.status_code == 200, answer.text
    return dict(answer.json()["content"])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Tell whether settings agree in all but the digits of their files' names."""
    plain = [{**each, "hierarchies": {**each["hierarchies"], "sex": None}} for each in (one, other)]
    return plain[0] == plain[1] and set(one["hierarchies"]["sex"]) == {"file", "header"}


def numbers(client: TestClient, state: Path) -> list[str]:
    """Return the drafts that the first page offers."""
    page = client.get("/").text
    return [draft.number for draft in SettingsStore(state).left() if draft.number in page]


def test_settings_are_exported_and_reopened_before_any_run(tmp_path: Path, people: Path) -> None:
    with app(tmp_path / "state") as client:
        table = opened(client, json={"path": str(people)})
        before = decided(client, table)
        answer = client.get(table.removeprefix("/api") + "/settings.zip")
        assert "people-settings.zip" in answer.headers["content-disposition"]
        packed = zipfile.ZipFile(BytesIO(answer.content))
        assert sorted(packed.namelist()) == [before["hierarchies"]["sex"]["file"], "policy.toml"]
        assert not any("70001" in packed.read(name).decode() for name in packed.namelist())

        other = opened(client, json={"path": str(people)})
        client.post(f"{other}/reread", json={"delimiter": "|"})
        told = client.post(f"{other}/policy", content=answer.content).json()
        assert told["lacking"] == []
        assert same(told["content"], before)
        saved = tmp_path / "settings.zip"
        saved.write_bytes(answer.content)
        told = client.post(f"{other}/policy", json={"path": str(saved)}).json()
        assert same(told["content"], before)
        # What a run hands over has its files in a folder.
        nested = BytesIO()
        with zipfile.ZipFile(nested, "w") as archive:
            for name in packed.namelist():
                archive.writestr(f"run-1/{name}", packed.read(name))
        told = client.post(f"{other}/policy", content=nested.getvalue()).json()
        assert same(told["content"], before)


def test_packages_that_are_no_good(tmp_path: Path, people: Path) -> None:
    def packed(**files: str) -> bytes:
        held = BytesIO()
        with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in files.items():
                archive.writestr(name.replace("_", "/").replace("toml", ".toml"), text)
        return held.getvalue()

    whole = packed(policytoml="version = 1\n")
    big = packed(policytoml="#" * (attachments.MAX_ATTACHMENT_BYTES + 1))
    assert len(big) < 1 << 20  # what is small packed need not be small
    for data in (packed(other="x"), packed(policytoml="", a_policytoml=""), whole[:-30], big):
        with pytest.raises(PolicyError):
            attachments.unpack_policy(data)
    with app(tmp_path / "state") as client:
        table = opened(client, json={"path": str(people)})
        assert client.post(f"{table}/policy", content=big).status_code == 422


@pytest.mark.parametrize("uploaded", [False, True])
def test_settings_are_taken_up_again(tmp_path: Path, people: Path, uploaded: bool) -> None:
    state = tmp_path / "state"
    with app(state) as client:
        if uploaded:
            table = opened(
                client, "/api/tables/upload?name=people.csv", content=people.read_bytes()
            )
        else:
            table = opened(client, json={"path": str(people)})
        before = decided(client, table)
        assert numbers(client, state) == []  # it is open
    with app(state) as client:
        (number,) = numbers(client, state)
        page = client.get("/").text
        assert "Take up again" in page
        assert "people.csv" in page
        if uploaded:
            assert client.post(f"/api/drafts/{number}").status_code == 422
            way = f"/api/tables/upload?name=people.csv&draft={number}"
            table = opened(client, way, content=people.read_bytes())
        else:
            table = opened(client, f"/api/drafts/{number}")
        told = client.get(table).json()
        assert same(told["content"], before)
        assert "are taken up again" in client.get(table.removeprefix("/api") + "/data").text
        assert numbers(client, state) == []
        # What is changed now is kept in the same place.
        change(client, table, principle=[{"name": "k-anonymity", "k": 4}])
        assert len(list(state.iterdir())) == 1
        client.delete(table)
        assert numbers(client, state) == [number]
        assert "k = 4" in (state / number / "policy.toml").read_text()
        assert client.delete(f"/api/drafts/{number}").status_code == 200
        assert list(state.iterdir()) == []
        assert client.post(f"/api/drafts/{number}").status_code == 422


def test_what_is_kept_is_private_and_holds_no_data(tmp_path: Path, people: Path) -> None:
    state = tmp_path / "above" / "state"
    old = os.umask(0)
    try:
        with app(state) as client:
            table = opened(
                client, "/api/tables/upload?name=people.csv", content=people.read_bytes()
            )
            assert not state.exists()  # nothing was decided yet
            decided(client, table)
            rows = [["F", "some", "*"], ["M", "some", "*"]]
            asked = {"column": "sex", "rows": rows}
            rule = client.post(f"{table}/hierarchy", json=asked).json()["rule"]
            change(client, table, hierarchies={"sex": rule})
    finally:
        os.umask(old)
    (draft,) = state.iterdir()
    for path in (state, draft, *draft.rglob("*")):
        mode = path.lstat().st_mode
        assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path
    files = sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*.*"))
    # The hierarchy that is not used any more is gone.
    assert files == [".lock", "about.json", rule["file"], "policy.toml"]
    text = "".join(path.read_text() for path in draft.rglob("*") if path.is_file())
    for row in pl.read_csv(people, separator="|").rows():
        assert str(row[2]) not in text


def test_settings_of_another_table_are_left_alone(tmp_path: Path, people: Path) -> None:
    state = tmp_path / "state"
    with app(state) as client:
        decided(client, opened(client, json={"path": str(people)}))
    (number,) = [path.name for path in state.iterdir()]
    kept = (state / number / "policy.toml").read_text()
    people.write_text("height|weight\n" + "".join(f"{i}|{2 * i}\n" for i in range(30)))
    with app(state) as client:
        table = opened(client, f"/api/drafts/{number}")
        assert "do not fit this table" in client.get(table.removeprefix("/api") + "/data").text
        now = client.get(table).json()
        assert now["content"] == now["profile"]["proposal"]
        change(client, table, principle=[{"name": "k-anonymity", "k": 9}])
        assert (state / number / "policy.toml").read_text() == kept
        assert numbers(client, state) == [number]


def test_a_state_folder_that_cannot_be_used_is_told(tmp_path: Path, people: Path) -> None:
    state = tmp_path / "state"
    state.write_text("no folder")
    with app(state) as client:
        table = opened(client, json={"path": str(people)})
        decided(client, table)
        text = client.get(table.removeprefix("/api") + "/data").text
        assert "lost when the app ends" in text


def test_only_drafts_of_this_user_are_listed(tmp_path: Path) -> None:
    drafts = SettingsStore(tmp_path / "state")
    draft = drafts.new("people.csv", None)
    draft.keep(POLICY, tmp_path)
    assert drafts.left() == []  # it is held
    draft.release()
    assert [one.number for one in drafts.left()] == [draft.number]
    draft.folder.chmod(0o755)
    assert drafts.left() == []
    draft.folder.chmod(0o700)
    (drafts.folder / "0123456789abcdef").symlink_to(draft.folder)
    (drafts.folder / "other").mkdir(mode=0o700)
    (drafts.folder / "fedcba9876543210").mkdir(mode=0o700)
    assert [one.number for one in drafts.left()] == [draft.number]
    (draft.folder / "about.json").write_text("[]")
    assert drafts.left() == []
    with pytest.raises(PolicyError):
        drafts.named(draft.number)


def test_the_oldest_go(tmp_path: Path) -> None:
    drafts = SettingsStore(tmp_path / "state")
    for number in range(MAX_SAVED_SETTINGS + 2):
        draft = drafts.new(f"{number}.csv", None)
        draft.keep(POLICY, tmp_path)
        about = draft.folder / "about.json"
        about.write_text(about.read_text().replace(draft.saved, f"2024-01-01T00:00:{number:02}"))
        draft.release()
    assert [one.name for one in drafts.left()] == [
        f"{n}.csv" for n in range(MAX_SAVED_SETTINGS + 1, 1, -1)
    ]
    assert len(list(drafts.folder.iterdir())) == MAX_SAVED_SETTINGS


def test_the_state_folder_is_where_the_system_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/data/state")
    assert state_folder() == Path("/data/state/wideberth/drafts")
    monkeypatch.setenv("XDG_STATE_HOME", "relative")  # which the specification says to ignore
    monkeypatch.setenv("HOME", "/home/me")
    assert state_folder() == Path("/home/me/.local/state/wideberth/drafts")


def test_files_that_could_not_be_read_are_not_listed(tmp_path: Path, people: Path) -> None:
    torn = tmp_path / "torn.parquet"
    torn.write_bytes(b"PAR1 and nothing of the kind")
    with app(tmp_path / "state") as client:
        wrong = client.post(
            "/api/tables/upload?name=torn.parquet", content=torn.read_bytes()
        ).json()["table"]
        until(client, f"/api/tables/{wrong}", "failed")
        session: AppSession = client.app.state.session  # type: ignore[attr-defined]
        folder = session.tables[wrong].folder
        assert "torn.parquet" not in client.get("/").text
        assert "cannot be opened" in client.get(f"/tables/{wrong}/data").text
        assert (folder / "torn.parquet").exists()
        opened(client, json={"path": str(people)})
        assert not folder.exists()  # it lies nowhere any more
        assert client.get(f"/tables/{wrong}/data").status_code == 404
