"""A real browser, where one is installed: Debian's chromium, or what WIDEBERTH_CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser.running import Server
from tests.browser.ui import Walk

#: What playwright does not say by itself; it asks nothing of the network, and runs as root.
ARGUMENTS = ["--disable-gpu", "--disable-quic"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield a browser; skip what needs one where there is none."""
    path = os.environ.get("WIDEBERTH_CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium: apt-get install chromium, or set WIDEBERTH_CHROMIUM to its path")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield the web app, without a table; tests share it, as tabs of a browser do."""
    running = Server(tmp_path_factory.mktemp("server"))
    yield running
    assert running.stop() == 0


@pytest.fixture
def visit(browser: Browser, server: Server) -> Iterator[Callable[..., Walk]]:
    """Yield what lets somebody in; at the end nobody may have had a complaint."""
    with ExitStack() as leaving:

        def enter(app: Server = server, **settings: Any) -> Walk:
            walk = Walk(browser, app, **settings)
            leaving.callback(walk.close)
            return walk.enter()

        yield enter
