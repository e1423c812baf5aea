"""The app as a process, asked by programs: who is let in, what is handed over, what is left."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.running import Client, Server, until
from wideberth import datasets

MARK = "Zq7Xhush"
SECRET = "not for anybody"  # noqa: S105 - a text


#: The request and the end of the connection arrive together.
_HALF_CLOSED = (
    "joined.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1); joined.sendall(asked); "
    "joined.shutdown(socket.SHUT_WR)"
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    (folder / "secret.csv").write_text(f"F;{SECRET}\nM;{SECRET}\n")
    people = datasets.census(300).select("age", "sex", "disease")
    people.write_csv(folder / "people.csv")
    return folder


@pytest.fixture(scope="module")
def client(place: Path) -> Iterator[Client]:
    server = Server(place / "server")
    try:
        with Client(server) as found:
            yield found
    finally:
        assert server.stop() == 0
    assert SECRET not in server.said


@pytest.fixture(scope="module")
def run(client: Client, place: Path) -> str:
    """Return the address of a run that made a release."""
    table = client.open(place / "people.csv")
    rows = [["F", "any", "*"], ["M", "any", "*"]]
    rule = client.ask("POST", f"{table}/hierarchy", {"column": "sex", "rows": rows})["rule"]
    client.plan(
        table,
        roles={"quasi": ["age", "sex"], "sensitive": ["disease"]},
        principle=[{"name": "k-anonymity", "k": 4}],
        hierarchies={"sex": rule},
    )
    return client.run(table)


@pytest.fixture(scope="module")
def table(run: str) -> str:
    return run.partition("/runs/")[0]


def raw(
    client: Client, target: str, *, method: str = "GET", **headers: str | None
) -> tuple[int, str]:
    """Send a request exactly as written: other clients tidy an address up."""
    target = client.server.root.removeprefix(client.server.origin) + target
    cookie = "; ".join(f"{key}={value}" for key, value in client.http.cookies.items())
    given = {"Host": f"127.0.0.1:{client.server.port}", "Cookie": cookie, **client.headers}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", client.server.port, timeout=60)
    with contextlib.closing(connection):
        connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")


# Who is let in


def test_foreign_host(client: Client) -> None:
    for host in ("evil.example", f"evil.example:{client.server.port}", "127.0.0.1", ""):
        assert raw(client, "/", Host=host)[0] == 400, host
    assert raw(client, f"/?token={client.server.address}", Host="evil.example")[0] == 400
    assert raw(client, "/", Host=f"localhost:{client.server.port}")[0] == 200


def test_without_the_token(client: Client, run: str, table: str) -> None:
    pages = ["/", f"{table}/data", f"{run}/export", f"{run}/files/release.csv", "/static/app.js"]
    for path in [*pages, f"/api{table}"]:
        assert raw(client, path, Cookie=None)[0] == 403, path
        assert raw(client, path, Cookie=f"wideberth-{client.server.port}=guess")[0] == 403, path
    assert raw(client, "/?token=guess", Cookie=None)[0] == 403
    assert raw(client, "/?token=", Cookie=None)[0] == 403


def test_foreign_origin(client: Client, table: str) -> None:
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{client.server.port}",
                   f"http://127.0.0.1:{client.server.port + 1}"):  # fmt: skip
        assert raw(client, f"/api{table}", Origin=origin)[0] == 403, origin
        assert raw(client, f"/api{table}", method="DELETE", Origin=origin)[0] == 403, origin
    assert raw(client, f"/api{table}", Origin=client.server.origin)[0] == 200
    assert raw(client, f"{table}/data", Sec_Fetch_Site="cross-site")[0] == 403


def test_without_the_header_of_our_pages(client: Client, run: str, table: str) -> None:
    for method, path in (
        ("POST", "/tables"),
        ("POST", "/tables/upload?name=x.csv"),
        ("PUT", f"{table}/plan"),
        ("POST", f"{table}/policy"),
        ("POST", f"{table}/advice"),
        ("POST", f"{table}/possible"),
        ("POST", f"{table}/hierarchy"),
        ("POST", f"{table}/hierarchy/file?column=sex"),
        ("POST", f"{table}/runs"),
        ("POST", f"{run}/cancel"),
        ("POST", f"{run}/reopen"),
        ("DELETE", table),
    ):
        for header in (None, "", "guess"):
            sent = raw(client, f"/api{path}", method=method, X_Wideberth=header)
            assert sent[0] == 403, (method, path)
    assert client.http.get(f"{table}/data").status_code == 200


def test_headers(client: Client, run: str) -> None:
    cookie = client.welcome.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert cookie.endswith(f"Path=/{client.server.root.rpartition('/')[2]}/")
    answers = [client.welcome, client.http.get("/static/app.js"), client.http.get("/nowhere")]
    answers += [client.http.get(f"{run}/{page}") for page in ("judge", "export")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
    assert client.http.get(f"{run}/judge").headers["cache-control"] == "no-store"
    # The report brings its style along, but no script runs in it, and it is nobody's origin.
    policy = client.http.get(f"{run}/report").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "sandbox" in policy


@pytest.mark.parametrize(
    "onward",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "javascript:alert(1)",
     "/%2F/evil.example", "/\t/evil.example", "%00//evil.example", 'x" onload="alert(1)'],
)  # fmt: skip
def test_token_leads_to_our_own_pages_only(client: Client, onward: str) -> None:
    token = client.server.address.partition("token=")[2]
    answer = client.http.get("/", params={"token": token, "next": onward})
    assert answer.status_code == 200
    (target,) = set(re.findall(r'(?:url=|<a href=")([^"]*)"', answer.text))
    assert target.startswith(client.server.root.removeprefix(client.server.origin) + "/")
    assert "//" not in target
    assert "\\" not in target


# Names that lead elsewhere

UP = ["..", "%2e%2e", "..%2f", "%2e%2e%2f", "..%5c", "....//", "%252e%252e"]


def test_files_of_a_run(client: Client, run: str) -> None:
    names = [f"{up}/{up}/{up}/{up}/{up}/{up}/{up}/etc/passwd" for up in UP]
    names += [f"{up}/policy.toml" for up in UP] + [f"hierarchies/{up}/policy.toml" for up in UP]
    names += ["/etc/passwd", "%2fetc%2fpasswd", "", ".", "made/release.csv", "policy.toml%00"]
    names += ["policy.toml/", "./policy.toml", "release.csv%00.html", "hierarchies/", "hierarchies"]
    for name in names:
        status, text = raw(client, f"{run}/files/{name}")
        assert status == 404, name
        assert "root:" not in text
        assert "version = 1" not in text
    assert raw(client, f"{run}/files/policy.toml")[0] == 200


def test_files_of_the_app(client: Client) -> None:
    for up in UP:
        for name in ("app.py", "templates/home.html", "../ui/app.py"):
            for begin in ("/static/", "/static/vendor/", "/static//"):
                status, text = raw(client, f"{begin}{up}/{name}")
                assert status in (400, 404), (begin, up, name)
                assert "import annotations" not in text
    for name in ("", "vendor", "vendor/", "/etc/passwd", "%2fetc%2fpasswd", "app.js%00"):
        assert raw(client, f"/static/{name}")[0] in (400, 404), name


def test_numbers_of_tables_and_runs(client: Client, run: str, table: str) -> None:
    for number in (*UP, "none", "%00", "0" * 5000, table[8:] + "/..", "*", "[!]"):
        assert raw(client, f"/tables/{number}/data")[0] == 404, number
        assert raw(client, f"/api/tables/{number}")[0] in (307, 404, 405), number
    for number in (
        "0",
        "2",
        "-1",
        "99999999999999999999999",
        "1.0",
        "1e0",
        "%31/..",
        "%D9%A1",
        *UP,
    ):
        target = f"{table}/runs/{number}"
        assert raw(client, f"{target}/judge")[0] == 404, number
        assert raw(client, f"/api{target}")[0] in (307, 404, 405), number


@pytest.mark.parametrize(
    "name",
    ["../../evil.csv", "/etc/evil.csv", "..\\..\\evil.csv", "C:\\evil.csv", ".lock", "..", "",
     "evil.csv\0.txt", "．．/evil.csv", "a/../../evil.csv", "x" * 3000 + ".csv", ".bashrc"],
)  # fmt: skip
def test_names_of_uploads(client: Client, place: Path, name: str) -> None:
    everything = set(place.rglob("*"))
    answer = client.try_to("POST", "/tables/upload", params={"name": name}, content=b"a,b\n1,2\n")
    assert answer.status_code == 200
    table = "/tables/" + answer.json()["table"]
    client.wait(table)
    (folder, *files) = sorted(set(place.rglob("*")) - everything)
    assert folder.parent == client.server.private
    assert [file.parent for file in files] == [folder]
    assert not files[0].name.startswith(".")
    assert files[0].read_bytes() == b"a,b\n1,2\n"
    client.ask("DELETE", table)
    assert set(place.rglob("*")) == everything


def elsewhere(client: Client, place: Path) -> list[Any]:
    """Return rules that name files which are not the table's own."""
    own = str(client.server.private)
    paths = [str(place / "secret.csv"), "../../../secret.csv", "../../secret.csv", "/etc/passwd"]
    paths += [f"{own}/.lock", "hierarchies/../../../../secret.csv", "..\\secret.csv", ".", ""]
    return [
        *paths,
        *({"file": path} for path in paths),
        *({"parents": path} for path in paths),
    ]


def test_hierarchies_of_settings(client: Client, table: str, place: Path) -> None:
    now = client.ask("GET", table)
    for rule in elsewhere(client, place):
        content = {**now["content"], "hierarchies": {"sex": rule}}
        given = {"content": content, "version": now["version"], "seed": None}
        for answer in (
            client.try_to("PUT", f"{table}/plan", given),
            client.try_to("POST", f"{table}/hierarchy", {"column": "sex", "rule": rule}),
        ):
            assert answer.status_code == 422, rule
            assert SECRET not in answer.text
    assert client.ask("GET", table)["content"] == now["content"]


def test_hierarchies_of_policies(client: Client, place: Path) -> None:
    table = client.open(place / "people.csv")
    folder = place / "policies"
    folder.mkdir()
    roles = '[roles]\nquasi = ["age", "sex"]\nsensitive = ["disease"]\n'
    (place / "link.csv").symlink_to(place / "secret.csv")
    (folder / "link.csv").symlink_to(place / "secret.csv")
    for path in ("../secret.csv", str(place / "secret.csv"), "link.csv", "a/../../secret.csv"):
        for rule in (json.dumps(path), f"{{ parents = {json.dumps(path)} }}"):
            policy = folder / "policy.toml"
            policy.write_text(f"version = 1\n{roles}[hierarchies]\nsex = {rule}\n")
            for answer in (
                client.try_to("POST", f"{table}/policy", {"path": str(policy)}),
                client.try_to("POST", f"{table}/policy", content=policy.read_bytes()),
            ):
                assert answer.status_code == 200
                assert answer.json()["lacking"] == ["sex"]
                assert answer.json()["content"].get("hierarchies", {}) == {}
    kept = client.server.private / table.rpartition("/")[2]
    assert [path for path in kept.rglob("*") if path.is_file()] == []
    client.ask("DELETE", table)


def test_columns_that_are_called_like_paths(client: Client, place: Path) -> None:
    path = place / "strange.csv"
    name = "../../../x"
    path.write_text(f"{name},b\n" + "".join(f"{i % 2},{i}\n" for i in range(20)))
    table = client.open(path)
    everything = set(place.rglob("*"))
    rows = [["0", "*"], ["1", "*"]]
    client.ask("POST", f"{table}/hierarchy", {"column": name, "rows": rows})
    new = [made for made in set(place.rglob("*")) - everything if made.is_file()]
    assert [made.parent.name for made in new] == ["hierarchies"]
    client.ask("DELETE", table)


# Requests that are no good


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b"\xff", b'{"path": 1}', b'{"path": "\\u0000"}']
)
def test_requests_that_are_no_good(client: Client, table: str, body: bytes) -> None:
    for path in ("/tables", f"{table}/plan", f"{table}/advice", f"{table}/hierarchy"):
        method = "PUT" if path.endswith("plan") else "POST"
        more = {"content-type": "application/json", **client.headers}
        answer = client.http.request(method, f"/api{path}", content=body, headers=more)
        assert answer.status_code == 422, path
        assert answer.json()["what"]


# The process


def test_listens_on_loopback_only(client: Client) -> None:
    listening = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            address, port = local.split(":")
            if state == "0A" and int(port, 16) == client.server.port:
                listening.append(address)
    assert listening == [socket.inet_aton("127.0.0.1")[::-1].hex().upper()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signal_ends_it_and_leaves_nothing(tmp_path: Path, number: int) -> None:
    table = tmp_path / "marked.csv"
    table.write_text("age,disease\n" + "".join(f"{i},{MARK}-{i % 3}\n" for i in range(60)))
    server = Server(tmp_path / "server", table)
    with Client(server) as client:
        given = table.read_bytes()
        client.ask("POST", "/tables/upload", params={"name": "kept.csv"}, content=given)
        opened = client.open(table)
        client.try_to("POST", f"{opened}/advice", {"column": "disease"})
        client.try_to("POST", f"{opened}/advice", {"column": MARK})
        (kept,) = server.private.rglob("kept.csv")
        assert kept.stat().st_mode & 0o777 == 0o600
        assert kept.parent.stat().st_mode & 0o777 == 0o700
        assert server.private.stat().st_mode & 0o777 == 0o700
        client.ask("POST", f"{opened}/runs")
        private = server.private
        assert server.stop(number) == 0
    assert not private.exists()
    assert [path.name for path in server.folder.iterdir()] == ["stderr.txt"]
    assert MARK not in server.said
    assert "Traceback" not in server.said


def test_killed_server_takes_its_jobs_along_and_the_next_sweeps(tmp_path: Path) -> None:
    table = tmp_path / "incomes.csv"
    datasets.sal(1000).write_csv(table)
    folder = tmp_path / "server"
    server = Server(folder, table)
    with Client(server) as client:
        opened = client.open(table)
        client.ask("POST", f"{opened}/runs")
        job = server.worker()
        left = server.private
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: not Path(f"/proc/{job}").exists(), "the job has ended as well")
    assert left.exists()
    living = Server(tmp_path / "living")
    other = living.private.rename(folder / living.private.name)  # of a process that is alive
    try:
        server = Server(folder)
        assert not left.exists()
        assert other.exists()
        assert server.stop() == 0
    finally:
        other.rename(living.folder / other.name)
        assert living.stop() == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["missing.csv"], "there is no file"), (["--port", "1"], "port 1 cannot be used")],
)
def test_start_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    if arguments[0] == "--port":
        taken = socket.create_server(("127.0.0.1", 0))
        arguments = ["--port", str(taken.getsockname()[1])]
        said = f"port {arguments[1]} cannot be used"
    else:
        taken = None
    done = subprocess.run(
        [sys.executable, "-m", "wideberth", "ui", "--no-browser", *arguments],
        env={**os.environ, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if taken is not None:
        taken.close()
    assert done.returncode not in (0, -signal.SIGKILL)
    assert said in done.stderr
    assert "try:" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(
    not os.path.exists("/proc/net/tcp") or os.geteuid() != 0, reason="only root can be another"
)
@pytest.mark.parametrize("more", ["", "X-Forwarded-For: 10.0.0.1\r\n"], ids=["plain", "forwarded"])
@pytest.mark.parametrize(
    "way",
    ["joined.sendall(asked)", _HALF_CLOSED],
    ids=["open", "half closed"],
)
def test_another_user_with_all_secrets_gets_no_answer(client: Client, more: str, way: str) -> None:
    host = client.server.origin.removeprefix("http://")
    root = client.server.root.removeprefix(client.server.origin)
    cookie = "; ".join(f"{name}={value}" for name, value in client.http.cookies.items())
    request = (
        f"GET {root}/ HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{more}"
        "Connection: close\r\n\r\n"
    )
    script = (
        "import os, socket, sys\nos.setuid(int(sys.argv[1]))\njoined = socket.socket()\n"
        "asked = sys.argv[3].encode()\n"
        f"joined.connect(('127.0.0.1', int(sys.argv[2])))\ntry:\n    {way}\n"
        "    print(joined.recv(100).split()[1].decode())\n"
        "except (OSError, IndexError):\n    print('nothing')\n"
    )
    for uid, status in ((0, "200"), (65534, "nothing")):
        words = [sys.executable, "-c", script, str(uid), host.partition(":")[2], request]
        told = subprocess.run(words, capture_output=True, text=True, check=True)
        assert told.stdout.strip() == status


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux sets others' limits")
def test_idle_connections_keep_nobody_out(client: Client) -> None:
    most = 256  # files that the server may have open
    pid, kind = client.server.process.pid, resource.RLIMIT_NOFILE
    before = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (most, before[1]))
    with contextlib.ExitStack() as held:
        for _ in range(most + 20):
            held.enter_context(socket.create_connection(("127.0.0.1", client.server.port)))
        assert client.http.get("/", timeout=20).status_code == 200
    resource.prlimit(pid, kind, before)


_MANY = """
import encodings.idna, os, resource, socket, sys
port, uid, many = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
os.setuid(uid)
held = [socket.create_connection(("127.0.0.1", port)) for _ in range(many)]
print("made", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="only Linux tells")
@pytest.mark.parametrize("other", [False, True], ids=["own", "of another user"])
def test_many_connections_do_not_stall_the_app(client: Client, other: bool) -> None:
    if other and os.geteuid() != 0:
        pytest.skip("only root can be another")
    words = [client.server.port, 65534 if other else os.geteuid(), 1100]
    script = [sys.executable, "-c", _MANY, *map(str, words)]
    with subprocess.Popen(
        script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "made\n"
        assert raw(client, "/")[0] == 200  # within a minute: an app that is stalled fails
        running.communicate()
