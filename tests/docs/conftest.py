"""The documentation as it stands, and the site that is built of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))  # what writes the generated pages lies beside them

#: Builds the site in a process that cannot reach the network.
BUILD = """
import socket, sys
def refuse(*_):
    raise OSError("the documentation must be built without a network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from mkdocs.__main__ import cli
cli()
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, strictly, and return its folder."""
    pytest.importorskip("mkdocs", reason="no mkdocs: pip install '.[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-c", BUILD, "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder
