"""Studies that several tests look at are run once, however many processes test them."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from wideberth.reproducing import study_of
from wideberth.reproducing.running import Outcome, run
from wideberth.reproducing.study import Setting


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, int], Outcome]:
    """Run a study of a paper with so many rows; who comes second finds its journal."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if base.name.startswith("popen") else base  # of all xdist workers

    def outcome(paper: str, rows: int) -> Outcome:
        folder = Path(shared, f"{paper}-{rows}")
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return run(study_of(paper), Setting(rows=rows), folder)

    return outcome
