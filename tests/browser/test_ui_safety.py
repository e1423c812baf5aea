"""Nothing leaves the machine, nothing is left behind, and nobody else looks in."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import polars as pl
import pytest
from playwright.sync_api import Error, expect

from tests.browser.running import Server, is_gone
from tests.browser.ui import Walk
from wideberth import datasets

Visit = Callable[..., Walk]
#: What stands in every cell of a column, and nowhere else.
MARK = "Zq7Xhush"


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    """Return a table whose values are recognised wherever they turn up."""
    path = tmp_path / "marked.csv"
    people = datasets.census(500).select("age", "sex", "disease")
    people.with_columns(
        pl.col("disease").fill_null("none") + f"-{MARK}", pl.col("sex") + f"-{MARK}"
    ).write_csv(path)
    return path


def test_whole_walk_keeps_to_itself(visit: Visit, marked: Path, tmp_path: Path) -> None:
    before = sorted(path for path in tmp_path.rglob("*"))
    server = Server(tmp_path / "server", marked)
    walk = visit(server)
    expect(walk.page.locator("table.columns")).to_be_visible()
    assert MARK in walk.page.locator("table.preview").inner_text()
    walk.roles(quasi="age sex", sensitive="disease")
    walk.hierarchy("sex").tree({f"F-{MARK}": "any", f"M-{MARK}": "any"})
    walk.onward()
    walk.asked_of("k-anonymity").possible()
    walk.onward()
    walk.make(seed=4)
    require_private(server.private)
    with walk.context.expect_page() as opened:
        walk.page.get_by_role("link", name="The whole report").click()
    expect(opened.value.get_by_role("heading").first).to_be_visible()
    opened.value.close()
    walk.onward()
    walk.take(tmp_path / "taken")
    with walk.page.expect_download() as download:
        walk.page.get_by_role("link", name="For recipients (.zip)").click()
    download.value.save_as(tmp_path / "taken" / "recipients.zip")
    require_private(server.private)
    assert MARK in (tmp_path / "taken" / "release.csv").read_text()
    for name in ("policy.toml", "release.csv.manifest.json"):
        assert MARK not in (tmp_path / "taken" / name).read_text()

    # Only the app's own origin was asked: Walk.close sees to that. Here is what it looks at.
    assert {url.partition("/static")[0] for url in walk.asked if "/static/" in url} == {server.root}
    # An end in the middle of a job: everything is gone, the job as well.
    walk.step("Anonymize")
    walk.start()
    pid = server.worker()
    walk.page.goto("about:blank")
    assert server.stop(signal.SIGTERM) == 0
    assert is_gone(pid)
    assert list(server.folder.glob("*wideberth*")) == []
    assert MARK not in server.said
    assert marked.name not in server.errors
    state = server.folder / "state"
    left = [path for path in tmp_path.rglob("*") if "taken" not in path.parts]
    outside = [path for path in left if not path.is_relative_to(state)]
    assert sorted(outside) == sorted([*before, server.folder, server.folder / "stderr.txt"])
    # Settings are all that outlives the app: of the table's values, those of the tree alone.
    (draft,) = (state / "wideberth" / "drafts").iterdir()
    (tree,) = (draft / "hierarchies").iterdir()
    kept = [draft / ".lock", draft / "about.json", draft / "policy.toml", tree]
    assert sorted(path for path in state.rglob("*") if path.is_file()) == sorted(kept)
    assert [path for path in kept if MARK in path.read_text()] == [tree]
    assert {line.partition(";")[0] for line in tree.read_text().split()} == {
        f"F-{MARK}",
        f"M-{MARK}",
    }
    for path in (draft.parent, draft, tree.parent, *kept):
        mode = stat.S_IMODE(path.lstat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path.name


def require_private(folder: Path) -> None:
    """See that nobody else can look into a folder or a file."""
    found = [folder, *folder.rglob("*")]
    assert any(path.name == "release.csv" for path in found)
    for path in found:
        told = path.lstat()
        assert told.st_uid == os.geteuid()
        assert stat.S_IMODE(told.st_mode) == (0o700 if path.is_dir() else 0o600), path.name


def test_pages_forbid_what_they_do_not_need(visit: Visit) -> None:
    walk = visit()
    with pytest.raises(Error, match="Content Security Policy"):
        walk.page.add_script_tag(content="window.foreign = 1")
    with pytest.raises(Error):
        walk.page.evaluate("fetch('http://127.0.0.1:9/')")
    assert walk.page.evaluate("window.foreign") is None
    assert walk.page.evaluate("document.cookie") == ""
    assert walk.complaints
    assert all("Content Security Policy" in each for each in walk.complaints)
    walk.complaints.clear()


def test_unknown_browser_is_told_what_to_do(visit: Visit, server: Server) -> None:
    walk = visit(refusals=[403])
    walk.context.clear_cookies()
    walk.go("/")
    expect(walk.page.get_by_role("heading")).to_contain_text("not been let in")
    expect(walk.page.get_by_text("wideberth ui")).to_be_visible()
    walk.require_accessible("the refusal")
    walk.page.goto(server.address)
    expect(walk.page.get_by_label("Choose a file")).to_be_visible()


def test_servers_on_other_ports_never_get_the_cookie(visit: Visit, server: Server) -> None:
    """Browsers send a cookie to every port of a host: other users' pages could ask for it."""
    heard: list[str] = []

    class Listener(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<p>hello</p>")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        walk = visit()
        assert walk.context.cookies(server.root + "/")
        for path in ("/", "/tables", "/static/app.js", "/api/tables"):
            walk.page.goto(f"http://127.0.0.1:{other.server_port}{path}")
        other.shutdown()
    assert len(heard) >= 4
    assert not [cookie for cookie in heard if "wideberth" in cookie]
    walk.go("/")  # the app itself still knows this browser
    expect(walk.page.get_by_label("Choose a file")).to_be_visible()
    for heard_of in (walk.asked, walk.complaints):  # what the other server's pages did
        heard_of[:] = [each for each in heard_of if f":{other.server_port}/" not in each]
