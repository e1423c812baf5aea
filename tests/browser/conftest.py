"""A real browser, where one is installed: Debian's chromium, or what WIDEBERTH_CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

#: So that the browser itself asks nothing of the network, and runs as root in a container.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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
