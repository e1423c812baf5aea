"""The app without a browser: what its addresses answer, for a table of four columns."""

from __future__ import annotations

import json
import os
import re
import tomllib
import zipfile
from collections.abc import Iterator
from html import unescape
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

import wideberth as wb
from tests.everyday import export
from wideberth import datasets, io
from wideberth.ui import jobs
from wideberth.ui.app import create
from wideberth.ui.jobs import JobError, Jobs
from wideberth.ui.open_tables import AppSession
from wideberth.ui.security import HEADER, Key
from wideberth.ui.workspace import Workspace

PORT = 4321
KEY = Key("token", "way", "cookie", "csrf")
SEXES = ("F", "M")
PATIENCE = 90  # seconds: kernels may have to be compiled


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    io.write(wb.datasets.census(300).select("age", "zip", "sex", "salary"), path)
    return path


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with Workspace.open() as workspace:
        app = create(AppSession(workspace, Jobs()), key=KEY, port=PORT)
        headers = {"Cookie": f"wideberth-{PORT}=cookie", HEADER: "csrf"}
        base = f"http://127.0.0.1:{PORT}/way"
        with TestClient(app, base_url=base, headers=headers) as client:
            yield client


def until(client: TestClient, address: str, wanted: str = "done") -> dict[str, Any]:
    """Ask until the job of an address has ended, as wanted."""
    end = monotonic() + PATIENCE
    while (told := client.get(address).json())["job"]["state"] == "running":
        assert monotonic() < end
        sleep(0.05)
    assert told["job"]["state"] == wanted, told["job"]
    return told


@pytest.fixture
def table(client: TestClient, census: Path) -> str:
    """Open the table; return the address of its interface."""
    opened = client.post("/api/tables", json={"path": str(census)}).json()
    address = f"/api/tables/{opened['table']}"
    until(client, address)
    return address


@pytest.fixture(scope="module")
def run_once(client: TestClient, census: Path) -> str:
    """Open a table and make a release; return the address of the table's interface."""
    opened = client.post("/api/tables", json={"path": str(census)}).json()
    address = f"/api/tables/{opened['table']}"
    until(client, address)
    change(client, address)
    made(client, address)
    return address


def change(client: TestClient, table: str, **parts: Any) -> Any:
    """Change parts of the settings."""
    now = client.get(table).json()
    content = {**now["content"], **parts}
    given = {"content": content, "version": now["version"], "seed": 1}
    return client.put(f"{table}/plan", json=given)


def made(client: TestClient, table: str, state: str = "done") -> str:
    """Make a release; return the address of the run's pages."""
    run = client.post(f"{table}/runs").json()
    until(client, f"{table}/runs/{run['run']}", state)
    return str(run["url"]).removeprefix(KEY.root).removesuffix("/judge")


def test_a_table_is_read_and_a_policy_proposed(client: TestClient, table: str, census: Path):
    told = client.get(table).json()
    assert told["profile"]["rows"] == 300
    assert told["content"]["roles"]["sensitive"] == ["salary"]
    assert told["content"] == told["profile"]["proposal"]
    page = client.get(table.removeprefix("/api") + "/data")
    assert page.status_code == 200
    assert "people.csv" in page.text
    assert wb.Policy.of(told["content"]).principles


def test_every_step_has_a_page(client: TestClient, table: str):
    base = table.removeprefix("/api")
    change(client, table)
    run = made(client, table)
    for address in ("/", *(f"{base}/{step}" for step in ("data", "principle", "anonymize"))):
        assert client.get(address).status_code == 200
    for step in ("judge", "export", "report"):
        assert client.get(f"{run}/{step}").status_code == 200
    assert "nothing to compare yet" in client.get(f"{base}/compare").text
    made(client, table)
    assert "Run 2" in client.get(f"{base}/compare").text


def test_files_are_those_of_the_run(client: TestClient, table: str, tmp_path: Path):
    change(client, table)
    run = made(client, table)
    packed = {}
    for name in ("recipients.zip", "for-you-alone.zip"):
        answer = client.get(f"{run}/files/{name}")
        assert f"run-1-{name}" in answer.headers["content-disposition"]
        packed[name] = zipfile.ZipFile(BytesIO(answer.content))
        packed[name].extractall(tmp_path)
    given, kept = ({Path(n).name for n in archive.namelist()} for archive in packed.values())
    assert given == {"release.csv", "release.csv.manifest.json"}
    assert kept == {"report.html", "report.json", "policy.toml"}
    one = client.get(f"{run}/files/release.csv")
    assert one.content == packed["recipients.zip"].read("run-1/release.csv")
    assert one.headers["content-disposition"].startswith("attachment")
    folder = tmp_path / "run-1"
    checked = wb.check(folder / "release.csv", policy=folder / "policy.toml")
    assert checked.satisfied


def test_the_page_says_the_verdict_that_an_audit_of_its_files_has(
    client: TestClient, table: str, census: Path, tmp_path: Path
):
    """With a seed, with principles too weak for the column, and with the proposal itself."""
    proposal = client.get(table).json()["content"]["principle"]
    levels = []
    for number, principle in enumerate((proposal, [{"name": "k-anonymity", "k": 2}], proposal)):
        change(client, table, principle=principle)
        if number == 2:
            now = client.get(table).json()
            settings = {"content": now["content"], "version": now["version"], "seed": None}
            client.put(f"{table}/plan", json=settings)
        run = made(client, table)
        folder = tmp_path / str(number)
        for name in ("recipients.zip", "for-you-alone.zip"):
            packed = client.get(f"{run}/files/{name}")
            zipfile.ZipFile(BytesIO(packed.content)).extractall(folder)
        (taken,) = folder.iterdir()
        audit = wb.audit(taken / "release.csv", original=census, policy=taken / "policy.toml")
        told = json.loads((taken / "report.json").read_text())["verdict"]
        assert audit.verdict == f"{told['word']}: {told['headline']}"
        page = " ".join(unescape(re.sub("<[^>]+>", " ", client.get(f"{run}/judge").text)).split())
        assert audit.verdict in page
        levels.append(told["level"])
    assert levels[0] != "good"  # its seed is fixed
    assert levels[1] != "good"  # nothing protects the salary


def test_a_seed_is_for_one_run_and_export_warns_of_it(client: TestClient, table: str):
    change(client, table)
    assert client.get(table).json()["seed"] == 1
    begun = client.post(f"{table}/runs").json()
    until(client, f"{table}/runs/{begun['run']}", "done")
    now = client.get(table).json()
    assert now["seed"] is None
    assert begun["now"] == {key: now[key] for key in begun["now"]}
    first = begun["url"].removeprefix(KEY.root).removesuffix("/judge")
    second = made(client, table)
    said = "made with a fixed seed"
    assert said in client.get(f"{first}/export").text
    assert said not in client.get(f"{second}/export").text
    # The settings of the first run are taken up again, but for its seed.
    assert client.post(f"/api{first}/reopen", json={}).json()["seed"] is None
    sorted_, random = "in the order of", "in the random order"
    shown = client.get(f"{second}/judge").text
    assert (sorted_ in shown, random in shown) == (False, True)
    # The second table of anatomy stands in the order of its groups.
    distinct = [{"name": "distinct-l", "on": "salary", "l": 2}]
    change(client, table, principle=distinct, transform={"algorithm": "anatomy"})
    shown = client.get(f"{made(client, table)}/judge").text
    assert re.findall("in the (random|order of <code>[^<]+)", shown) == [
        "random",
        "order of <code>group",
    ]


def test_a_run_that_was_not_judged_is_exported_on_demand_only(client: TestClient, table: str):
    change(client, table)
    run = made(client, table)
    session: AppSession = client.app.state.session  # type: ignore[attr-defined]
    result = session.run(table.rpartition("/")[2], "1").result
    assert result is not None
    result.update(report=None, charts=None, problem={"what": "out of memory", "hint": None})
    result["files"] = [name for name in result["files"] if not name.startswith("report")]
    page = client.get(f"{run}/export").text
    assert "was not judged" in page
    assert "Out of memory" in page
    assert "files/release.csv" not in page
    for name in ("release.csv", "recipients.zip", "policy.toml"):
        assert client.get(f"{run}/files/{name}").status_code == 404
    assert "files/release.csv?unjudged=yes" in client.get(f"{run}/export?unjudged=yes").text
    packed = client.get(f"{run}/files/recipients.zip?unjudged=yes")
    assert "not-judged" in packed.headers["content-disposition"]
    assert client.get(f"{run}/judge").status_code == 200


@pytest.mark.parametrize("name", ["../policy.toml", "..%2f..%2fpeople.csv", "/etc/passwd", ".lock"])
def test_other_files_are_not_handed_over(client: TestClient, run_once: str, name: str):
    run = f"{run_once.removeprefix('/api')}/runs/1"
    assert client.get(f"{run}/files/release.csv").status_code == 200
    assert client.get(f"{run}/files/{name}").status_code == 404


def test_settings_that_were_changed_elsewhere_are_not_overwritten(client: TestClient, table: str):
    first = client.get(table).json()
    assert change(client, table, group="cell").status_code == 200
    given = {"content": first["content"], "version": first["version"], "seed": None}
    answer = client.put(f"{table}/plan", json=given)
    assert answer.status_code == 409
    assert "another tab" in answer.json()["what"]
    assert client.get(table).json()["content"]["group"] == "cell"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"principle": [{"name": "k-anonymity", "k": 0}]}, "k must be"),
        ({"principle": [{"name": "nothing"}]}, "nothing"),
        ({"transform": {"algorithm": "magic"}}, "algorithm"),
        ({"hierarchies": {"zip": "../people.csv"}}, "no such file"),
        ({"hierarchies": {"zip": {"file": "/etc/passwd"}}}, "no such file"),
        ({"hierarchies": {"zip": {"parents": "/etc/passwd"}}}, "no such file"),
        ({"unknown": 1}, "unknown"),
        ({"roles": [1]}, "roles"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)
def test_settings_that_make_no_policy_are_refused(
    client: TestClient, run_once: str, parts: dict[str, Any], said: str
):
    before = client.get(run_once).json()["content"]
    answer = change(client, run_once, **parts)
    assert answer.status_code == 422
    assert said in answer.json()["what"]
    assert client.get(run_once).json()["content"] == before


@pytest.mark.parametrize("body", [b"", b"[1]", b"{", b'{"path": 5}', b'{"path": "a\\u0000b"}'])
def test_strange_requests_are_refused(client: TestClient, body: bytes):
    answer = client.post("/api/tables", content=body)
    assert answer.status_code == 422
    assert answer.json()["what"]


def test_what_is_not_there_is_told(client: TestClient, table: str):
    base = table.removeprefix("/api")
    for address in ("/nothing", "/tables/none/data", f"{base}/runs/7/judge"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "That did not work" in answer.text
    assert client.get("/api/tables/none").json()["kind"] == "UnknownError"


def test_a_table_by_upload(client: TestClient, census: Path):
    sent = client.post("/api/tables/upload?name=../../my%20people.csv", content=census.read_bytes())
    address = f"/api/tables/{sent.json()['table']}"
    told = until(client, address)
    assert told["name"] == "my_people.csv"
    assert told["profile"]["rows"] == 300


def test_a_table_that_cannot_be_read(client: TestClient):
    sent = client.post("/api/tables/upload?name=people.csv", content=b"\0\1\2\3" * 100)
    address = f"/api/tables/{sent.json()['table']}"
    until(client, address, "failed")
    url = sent.json()["url"].removeprefix(KEY.root)
    assert "This table cannot be opened." in client.get(url).text
    assert client.get(url.replace("data", "principle")).url.path.endswith("/data")


def test_a_title_above_the_header_is_passed_over(client: TestClient, tmp_path: Path):
    path = tmp_path / "export.csv"
    path.write_text(export().text)
    opened = client.post("/api/tables", json={"path": str(path)}).json()
    table = f"/api/tables/{opened['table']}"
    hint = until(client, table, "failed")["job"]["error"]["hint"]
    assert hint == "“Lines above the header” = 1 under “Is the file read wrongly?”"
    page = f"{table.removeprefix('/api')}/data"
    assert re.search(
        '<details class="reading" open>.*name="skip_rows"', client.get(page).text, re.S
    )
    given = {"missing": ["?", "", "NA"], "delimiter": "", "encoding": "", "skip_rows": 1}
    assert client.post(f"{table}/reread", json=given).status_code == 200
    assert until(client, table)["content"]["table"] == {"skip_rows": 1}
    assert re.search('name="skip_rows"[^>]* value="1"', client.get(page).text)


def test_a_table_is_read_differently(client: TestClient, table: str):
    change(client, table, group="cell")
    given = {"missing": ["F"], "delimiter": "", "encoding": ""}
    assert client.post(f"{table}/reread", json=given).status_code == 200
    told = until(client, table)
    assert told["content"]["table"] == {"missing": ["F"]}
    assert told["content"]["group"] == "cell"


def test_advice_comes_with_its_pictures(client: TestClient, table: str):
    told = client.post(f"{table}/advice", json={"column": "salary"}).json()
    assert told["numeric"]
    assert set(told["spec"]) == {"absolute", "halved", "relative"}
    axis = told["spec"]["halved"]["layer"][0]["encoding"]["x"]["title"]
    assert axis.startswith("δ")


def test_possible_or_not(client: TestClient, table: str):
    asked = [{"name": "k-anonymity", "k": k} for k in (300, 301)]
    change(client, table, principle=asked)
    told = client.post(f"{table}/possible").json()["principles"]
    assert [one["verdict"] for one in told] == ["yes", "no"]


def test_hierarchies_are_tried_and_kept(client: TestClient, table: str):
    rule = {"interval": [10, 20]}
    told = client.post(f"{table}/hierarchy", json={"column": "age", "rule": rule}).json()
    assert told["rule"] == rule
    assert [level["level"] for level in told["levels"]] == [0, 1, 2, 3]
    rows = [[value, "people", "*"] for value in SEXES]
    told = client.post(f"{table}/hierarchy", json={"column": "sex", "rows": rows})
    assert told.json()["leaves"] == 2
    lacking = client.post(f"{table}/hierarchy", json={"column": "sex", "rows": rows[:1]})
    assert lacking.status_code == 422
    assert lacking.json()["kind"] == "HierarchyError"
    # A file is called as the user calls it, whatever it looks like.
    for name in ("my sex-202401.csv", "tree-of-sex.csv", "größe 50 %~1.csv"):
        asked = {"column": "sex", "form": "leaves", "name": name}
        sent = client.post(f"{table}/hierarchy/file", params=asked, content=b"x;y;z\nx;y;*;*\n")
        assert sent.status_code == 422
        assert f"of 'sex': {name}: " in sent.json()["what"]
    sent = client.post(f"{table}/hierarchy/file", params=asked, content=b"F;*\nM;*\n").json()
    change(client, table, hierarchies={"sex": sent["rule"]})
    run = made(client, table)
    (link,) = re.findall('href="/way([^"]+/hierarchies/[^"]+)"', client.get(f"{run}/export").text)
    assert client.get(link).content == b"F;*\nM;*\n"
    # What was taken along and comes back still has the user's name.
    packed = client.get(f"{table.removeprefix('/api')}/settings.zip").content
    told = client.post(f"{table}/policy", content=packed).json()
    assert told["content"]["hierarchies"]["sex"].startswith("hierarchies/größe~2050~20~25~7E1~~")


def test_hierarchies_that_are_usual(client: TestClient, table: str):
    change(client, table, hierarchies={"age": {"interval": 5}})
    rules = client.post(f"{table}/hierarchy/usual").json()["rules"]
    assert set(rules) == {"zip", "sex"}


def test_settings_are_taken_up_again(client: TestClient, table: str, tmp_path: Path):
    (tmp_path / "sex.csv").write_text("F;*\nM;*\n")
    (tmp_path / "policy.toml").write_text(
        '[roles]\nquasi = ["age", "sex"]\nsensitive = ["salary"]\ninsensitive = ["zip"]\n'
        '[[principle]]\nname = "k-anonymity"\nk = 7\n'
        '[hierarchies]\nsex = "sex.csv"\nage = "../elsewhere.csv"\n'
    )
    path = str(tmp_path / "policy.toml")
    told = client.post(f"{table}/policy", json={"path": path}).json()
    assert told["lacking"] == ["age"]
    assert told["content"]["principle"] == [{"name": "k-anonymity", "k": 7}]
    assert told["content"]["hierarchies"]["sex"].startswith("hierarchies/sex")
    text = (tmp_path / "policy.toml").read_bytes()
    told = client.post(
        f"{table}/policy", content=text, headers={"Content-Type": "application/toml"}
    ).json()
    assert told["lacking"] == ["age"]  # the other is here already
    bad = client.post(f"{table}/policy", content=b"[roles", headers={"Content-Type": "x/toml"})
    assert bad.status_code == 422
    other = text.replace(b'"zip"', b'"postcode"').partition(b"[hierarchies]")[0]
    answer = client.post(f"{table}/policy", content=other, headers={"Content-Type": "x/toml"})
    assert answer.status_code == 422
    assert "postcode" in answer.json()["what"]


def test_a_run_is_taken_up_again_with_other_levels(client: TestClient, table: str):
    trees = {"age": {"interval": [10, 20]}, "zip": {"flat": True}, "sex": {"flat": True}}
    lattice = {"algorithm": "lattice"}
    principle = [{"name": "k-anonymity", "k": 3}]
    assert change(client, table, hierarchies=trees, transform=lattice, principle=principle)
    run = made(client, table)
    page = client.get(f"{run}/judge").text
    assert "Other levels that will do" in page
    assert "this release" in page
    change(client, table, transform={}, principle=[{"name": "k-anonymity", "k": 9}])
    given = {"levels": {"age": 3, "zip": 1, "sex": 0}}
    told = client.post(f"/api{run}/reopen", json=given).json()
    assert told["content"]["principle"] == principle
    assert told["content"]["transform"]["levels"] == given["levels"]
    again = made(client, table)
    manifest = client.get(f"{again}/files/release.csv.manifest.json").json()
    assert manifest["lattice"]["rounds"][0]["levels"] == given["levels"]


def test_what_is_infeasible_is_told_and_nothing_kept(client: TestClient, table: str):
    asked = [{"name": "epsilon-m", "on": "salary", "epsilon": 10**9, "m": 5}]
    change(client, table, principle=asked)
    run = made(client, table, "failed")
    told = client.get(f"/api{run}").json()["job"]["error"]
    assert told["kind"] == "InfeasibleError"
    assert told["outcome"] == "impossible"
    assert told["witness"] in told["what"]
    assert told["hint"]
    assert client.get(f"{run}/export").status_code == 404
    session: AppSession = client.app.state.session  # type: ignore[attr-defined]
    folder = session.tables[table.rpartition("/")[2]].folder
    end = monotonic() + PATIENCE
    while any(folder.glob("run-*/made")):
        assert monotonic() < end
        sleep(0.02)


def test_a_run_is_cancelled(client: TestClient, table: str):
    run = client.post(f"{table}/runs").json()
    told = client.post(f"{table}/runs/{run['run']}/cancel").json()
    assert told["job"]["state"] in ("cancelled", "done")  # it may have been quicker
    assert client.get(table).status_code == 200


def test_a_table_is_closed(client: TestClient, table: str):
    assert client.delete(table).json() == {"url": "/way/"}
    assert client.get(table).status_code == 404


def test_a_policy_of_the_app_holds_no_data(client: TestClient, table: str, census: Path):
    change(client, table)
    run = made(client, table)
    policy = client.get(f"{run}/files/policy.toml").text
    values = {cell for row in io.read(census).rows() for cell in map(str, row) if len(cell) > 3}
    assert not [value for value in values if value in policy]
    json.dumps(client.get(table).json()["content"])


_STRANGE: list[Any] = [
    None, True, -1, 10**400, 1e308, "", "\ud800", "\0", "x" * 3000, [], {}, [[]], [{}], [None],
    {"\ud800": "\ud800"}, {"": {"": {}}}, ["\ud800"], [["\ud800"]],
]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "path", "keys"),
    [
        ("POST", "/api/tables", ["path"]),
        ("POST", "{table}/reread", ["delimiter", "missing"]),
        ("PUT", "{table}/plan", ["content", "version", "seed"]),
        ("POST", "{table}/policy", ["path"]),
        ("POST", "{table}/advice", ["column"]),
        ("POST", "{table}/hierarchy", ["column", "rule", "rows"]),
        ("POST", "{table}/runs/1/reopen", ["levels"]),
    ],
)
def test_strange_requests_are_refused_without_a_bug(
    client: TestClient, run_once: str, method: str, path: str, keys: list[str]
):
    usual: dict[str, Any] = {"column": "age", "version": 0, "seed": None, "content": {}}
    # What is taken there starts a process: so only some of them.
    values = _STRANGE[::3] if path.endswith(("reread", "hierarchy")) else _STRANGE
    for key in keys:
        for value in values:
            given = {name: usual[name] for name in keys if name in usual} | {key: value}
            body = json.dumps(given)
            answer = client.request(method, path.format(table=run_once), content=body,
                                    headers={"Content-Type": "application/json"})  # fmt: skip
            assert answer.status_code < 500, (path, body[:80], answer.text)


@pytest.mark.parametrize(
    "content",
    [
        {"roles": value} for value in _STRANGE
    ] + [
        {"roles": {"quasi": ["age"]}, key: value}
        for key in ("principle", "hierarchies", "transform", "table", "types", "group", "bounds")
        for value in _STRANGE
    ] + [
        {"roles": {"quasi": ["age"]}, "principle": [{"name": "k-anonymity", "k": value}]}
        for value in _STRANGE
    ],
)  # fmt: skip
def test_strange_settings_are_refused_without_a_bug(
    client: TestClient, run_once: str, content: Any
):
    version = client.get(run_once).json()["version"]
    body = json.dumps({"content": content, "version": version, "seed": None})
    answer = client.put(f"{run_once}/plan", content=body)
    assert answer.status_code < 500, answer.text
    assert client.get(run_once).status_code == 200


@pytest.mark.parametrize("body", [b"[" * 100_000, b"{", b"\xff", b"1", b'{"path": 1e999}', b"NaN"])
def test_bodies_that_are_no_object(client: TestClient, run_once: str, body: bytes):
    for path in ("/api/tables", f"{run_once}/plan", f"{run_once}/advice"):
        method = "PUT" if path.endswith("plan") else "POST"
        answer = client.request(method, path, content=body)
        assert answer.status_code in (409, 422), answer.text


def test_a_policy_is_a_file_of_moderate_size(client: TestClient, table: str, tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (2 << 20))
    strange = [str(tmp_path / "pipe.toml"), "/dev/zero", "x" * 5000]
    for name in [*strange, str(tmp_path / "large.toml")]:
        assert client.post(f"{table}/policy", json={"path": name}).status_code == 422
    for name in strange:
        assert client.post("/api/tables", json={"path": name}).status_code == 422
    deep = "[" + ".".join(["a"] * 5000) + "]\nb = 1"
    answer = client.post(f"{table}/policy", content=deep, headers={"Content-Type": "x/toml"})
    assert answer.status_code == 422
    assert client.post(f"{table}/policy", content=b"[" * 100_000).status_code == 422
    assert client.get(f"{table}/runs/{'9' * 5000}").status_code == 404


def test_a_run_that_could_not_begin_is_in_nobodys_way(client: TestClient, table: str):
    rows = [[value, "*"] for value in SEXES]
    told = client.post(f"{table}/hierarchy", json={"column": "sex", "rows": rows}).json()
    change(client, table, hierarchies={"sex": told["rule"]})
    session: AppSession = client.app.state.session  # type: ignore[attr-defined]
    (session.tables[table.rpartition("/")[2]].folder / told["rule"]["file"]).unlink()
    assert client.post(f"{table}/runs").status_code == 422
    change(client, table, hierarchies={})
    made(client, table)


def test_a_name_that_is_no_text(client: TestClient, census: Path, tmp_path: Path):
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    path.write_bytes(census.read_bytes())
    session: AppSession = client.app.state.session  # type: ignore[attr-defined]
    assert client.portal is not None
    table = client.portal.call(session.open_path, str(path))  # JSON has no form for such a name
    assert "caf\ufffd.csv" in client.get("/").text
    assert client.get(f"/tables/{table.number}/data").status_code == 200


def test_runs_are_compared_on_one_yardstick(client: TestClient, table: str):
    page = table.removeprefix("/api") + "/compare"
    for epsilon in (10, 3000):
        asked = [{"name": "epsilon-m", "on": "salary", "epsilon": epsilon, "m": 3}]
        change(client, table, principle=asked)
        made(client, table)
    assert "on the same scale" in client.get(page).text
    assert client.post(f"{table}/weigh").status_code == 200
    text = client.get(page).text
    assert "on the same scale" not in text
    assert "to within 3,000" in text
    # Of two adversaries it is the worse one, as in the figures of a release.
    for what in ("Worst chance to guess", "Worst chance to find a row"):
        assert f"{what}, group known or not" in text
    session: AppSession = client.app.state.session  # type: ignore[attr-defined]
    weighed = session.tables[table.rpartition("/")[2]].weighed
    near, wide = (weighed[run, "salary", "3000"] for run in (1, 2))
    assert near > wide  # who asks for less gets less, which his own reach of 10 would hide


def test_what_is_not_sensitive_everywhere_is_left_out_of_a_comparison(
    client: TestClient, table: str
):
    k = [{"name": "k-anonymity", "k": 3}]
    change(client, table, principle=k)
    made(client, table)
    roles = {"quasi": ["age", "sex"], "sensitive": ["zip"], "insensitive": ["salary"]}
    change(client, table, principle=k, roles=roles)
    made(client, table)
    text = client.get(table.removeprefix("/api") + "/compare").text
    assert "Left out: salary and zip, sensitive in some of the runs only" in text


def test_a_reading_that_fails_changes_nothing(client: TestClient, table: str):
    before = client.get(table).json()
    given = {"missing": [], "delimiter": "", "encoding": "no-such"}
    answer = client.post(f"{table}/reread", json=given)
    assert answer.status_code == 422
    assert client.get(table).json() == before


def test_the_release_is_shown(client: TestClient, table: str):
    change(client, table)
    run = made(client, table)
    first = client.get(f"{run}/files/release.csv").text.splitlines()[1].split(",")[0]
    assert "First rows of the release" in client.get(f"{run}/judge").text
    assert first in client.get(f"{run}/judge").text


def test_a_policy_of_a_user_that_is_not_there(client: TestClient, table: str) -> None:
    answer = client.post(f"{table}/policy", json={"path": "~nobodyxx/x"})
    assert answer.status_code == 422
    assert "no such policy file" in answer.text


def test_what_is_refused_as_busy_leaves_nothing(
    client: TestClient, census: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> None:
        raise JobError(**jobs._BUSY)

    session = client.app.state.session  # type: ignore[attr-defined]
    before = sorted(session.workspace.path.iterdir())
    monkeypatch.setattr(session.jobs, "start", busy)
    for answer in (
        client.post("/api/tables/upload?name=secret.csv", content=b"a,b\n1,2\n"),
        client.post("/api/tables", json={"path": str(census)}),
    ):
        assert answer.status_code == 422
        assert "jobs are running" in answer.text
    assert sorted(session.workspace.path.iterdir()) == before


def test_undecided_columns_are_decided_before_a_release(client: TestClient, tmp_path: Path):
    path = tmp_path / "undecided.csv"
    datasets.census(200).select(pl.col("age", "disease"), q7=pl.col("sex")).write_csv(path)
    opened = client.post("/api/tables", json={"path": str(path)}).json()
    table = f"/api/tables/{opened['table']}"
    until(client, table)
    roles = client.get(table).json()["content"]["roles"]
    assert roles["undecided"] == ["q7"]
    page = client.get(f"{table.removeprefix('/api')}/data").text
    assert 'value="undecided" selected' in page
    assert "Undecided: neither its name nor its values show its role" in page
    packed = client.get(f"{table.removeprefix('/api')}/settings.zip").content
    policy = tomllib.loads(zipfile.ZipFile(BytesIO(packed)).read("policy.toml").decode())
    assert policy["roles"]["undecided"] == ["q7"]

    refused = client.post(f"{table}/runs")
    assert refused.status_code == 422
    assert "'q7' is undecided" in refused.json()["what"]
    assert client.get(table).json()["runs"] == []

    decided = {**roles, "undecided": [], "quasi": ["age", "q7"]}
    assert change(client, table, roles=decided).status_code == 200
    made(client, table)
