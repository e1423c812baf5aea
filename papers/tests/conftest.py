"""Studies that several tests look at are run once, however many processes test them.

Commands are run as in tests/conftest.py.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import run, shell, write  # noqa: F401 - fixtures
from wideberth_papers import running, study_of
from wideberth_papers.running import Outcome
from wideberth_papers.study import Setting


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Outcome]:
    """Run a paper's study on a table of the given size, or reuse the journal of an earlier run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen") else base  # of all xdist workers

    def outcome(paper: str, rows: int) -> Outcome:
        folder = Path(shared, f"{paper}-{rows}")
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return running.run(study_of(paper), Setting(rows=rows), folder)

    return outcome
