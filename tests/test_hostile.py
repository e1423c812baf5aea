"""A fuzzer: whatever a file holds, a command ends with one message of its own.

No library panics or crashes, nothing takes too long or too much memory, and no message repeats a
value. WIDEBERTH_EXPLORE=1 runs more cases, and other ones each time.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests import hostile
from tests.hostile import SECRET, VERBS, Case, Outcome, Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux does")
pytest.importorskip("duckdb")

EXPLORE = "WIDEBERTH_EXPLORE" in os.environ
MANY = 4000 if EXPLORE else 120
FIRST = int(time.time()) * 10_000 if EXPLORE else 0


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    """A process that lives for all tests: what it loads and compiles, it does once."""
    with Worker(tmp_path_factory.mktemp("hostile"), seconds=60) as running:
        yield running


def faults(worker: Worker, cases: Iterable[Case]) -> dict[str, object]:
    """Run cases; return those that end as they must not."""
    found = {}
    for case in cases:
        outcome = worker.run(case)
        if wrong := outcome.faults():
            found[case.name] = (wrong, outcome.err[-500:])
    return found


def test_the_files_are_right_to_begin_with(worker: Worker) -> None:
    valid = hostile.seeds()
    for name, verbs in VERBS.items():
        for verb in verbs if name == "people.parquet" or "people" not in name else verbs[:1]:
            argv = tuple(name if word == "TABLE" else word for word in verb)
            outcome = worker.run(Case(name, argv, valid))
            assert outcome.code in (0, 3), (argv, outcome.err)
            assert not outcome.faults()


def test_many_words_for_missing_take_no_longer(worker: Worker) -> None:
    """A policy of 55 kB lists 5,000 of them, and each cell is compared with all."""
    tokens = ", ".join(f'"token{i}"' for i in range(5_000))
    policy = hostile.POLICY.replace('missing = ["?", ""]', f"missing = [{tokens}]")
    files = hostile.seeds() | {"many.toml": policy.encode()}
    outcome = worker.run(Case("many tokens", ("check", "people.csv", "-p", "many.toml"), files))
    assert outcome.code in (0, 3), outcome.err
    assert not outcome.faults()


def test_a_fault_is_seen() -> None:
    for err in ("error: wideberth failed unexpectedly", "thread panicked at", f"error: {SECRET}"):
        assert Outcome(1, err, 0, 0).faults()
    assert Outcome(None, "died with -11", 0, 0).faults()
    assert Outcome(0, "", 0, 3 << 30).faults()
    assert not Outcome(1, "error: no such file\n  try: another", 0, 0).faults()


def test_damaged_files(worker: Worker) -> None:
    assert faults(worker, hostile.cases(FIRST, FIRST + MANY)) == {}


def test_what_libraries_print_is_not_shown(worker: Worker) -> None:
    """Damaged pages of this file make polars panic, and print that by itself."""
    assert faults(worker, hostile.cases(20051, 20052)) == {}


def test_files_that_are_small_and_mean_much(worker: Worker) -> None:
    assert faults(worker, hostile.deep_cases()) == {}


def test_types_of_every_kind(worker: Worker) -> None:
    every = hostile.typed_cases()
    assert faults(worker, every if EXPLORE else islice(every, 0, None, 97)) == {}


def test_originals_are_never_harmed(worker: Worker, tmp_path: Path) -> None:
    for case in hostile.cases(FIRST, FIRST + 20):
        worker.run(case)
        for name, data in case.files.items():
            assert (worker.folder / name).read_bytes() == data, case.name
