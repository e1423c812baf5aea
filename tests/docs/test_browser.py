"""The site in a real browser: it asks nobody else for anything, fits a telephone, is readable."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

#: In a process of its own, as playwright runs once in a process. Prints what is wrong, as JSON.
LOOK = """
import json, sys, threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

# Typed again until the site's scripts listen, which on a busy machine may take a while.
TYPE = '''() => {
    const field = document.querySelector("input.md-search__input");
    field.value = "proximity";
    for (const kind of ["input", "keyup"]) field.dispatchEvent(new Event(kind, {bubbles: true}));
    return document.querySelectorAll(".md-search-result__item").length > 0;
}'''

class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

folder, chromium, *names = sys.argv[1:]
server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
threading.Thread(target=server.serve_forever, daemon=True).start()
home = f"http://127.0.0.1:{server.server_port}/"
found = {"elsewhere": [], "errors": [], "too wide": [], "unreadable": [], "search": 0}
with sync_playwright() as playwright:
    arguments = ["--disable-gpu", "--disable-quic"]
    browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
    for scheme, width in (("light", 1280), ("dark", 390)):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("request", lambda r: r.url.startswith((home, "data:", "blob:"))
                or found["elsewhere"].append(r.url))
        page.on("pageerror", lambda error: found["errors"].append(str(error)))
        for name in names:
            page.goto(home + name, wait_until="load")
            where = f"{name}, {scheme}, {width}"
            if page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                found["too wide"].append(where)
            rules = {"runOnly": ["color-contrast", "link-in-text-block", "image-alt"]}
            seen = Axe().run(page, options=rules).response["violations"]
            found["unreadable"] += [f"{where}: {each['id']}" for each in seen]
        if scheme == "light":
            page.focus("input.md-search__input")
            page.wait_for_function(TYPE, polling=500, timeout=60_000)
            found["search"] = page.locator(".md-search-result__item").count()
        page.close()
    browser.close()
print(json.dumps(found))
"""
NAMES = (
    "index.html",
    "ui.html",
    "tutorial.html",
    "threat-model.html",
    "principles/epsilon-m.html",
    "api/checking.html",
)


def test_the_site_in_a_browser(site: Path) -> None:
    chromium = os.environ.get("WIDEBERTH_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: apt-get install chromium, or set WIDEBERTH_CHROMIUM to its path")
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(site), chromium, *NAMES],
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("search") > 0
    assert found == {"elsewhere": [], "errors": [], "too wide": [], "unreadable": []}
