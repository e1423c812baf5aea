"""How much memory is free."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from wideberth.core import memory


def test_free_memory_is_known_here() -> None:
    free = memory.available()
    assert free is None or free > 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux says it")
def test_free_memory_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    (tmp_path / "memory.max").write_text("70000\n")
    (tmp_path / "memory.current").write_text("50000\n")
    (tmp_path / "memory.stat").write_text("anon 9\ninactive_file 20000\n")
    assert memory.available() == 40000
    (tmp_path / "memory.current").write_text("99999\n")
    assert memory.available() == 0
    (tmp_path / "memory.max").write_text("max\n")
    assert (memory.available() or 0) > 2**20


@pytest.mark.skipif(sys.platform != "linux", reason="as Linux says it")
def test_free_memory_within_the_limits_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    most = 2**50  # of data; no less is free without a limit
    assert (memory.available() or 0) < most
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    limits = {resource.RLIMIT_DATA: held + 2**20}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits.get(kind, -1), -1))
    assert (memory.available() or 0) <= 2**20 + 2**24
