"""A real browser, where one is installed: Debian's chromium, or what WIDEBERTH_CHROMIUM names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

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
