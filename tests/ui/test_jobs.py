"""Jobs in processes of their own: told, cancelled, killed, lost, and none left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import polars as pl
import pytest

from wideberth.errors import ParameterError, TableError, WideberthError
from wideberth.ui import tasks
from wideberth.ui.jobs import Job, JobError, Jobs

#: Longer than any of these jobs takes.
SOON = 60.0


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    rows = "".join(f"{20 + i % 40},{i % 2},{1000 * (i % 50)}\n" for i in range(2000))
    path.write_text("age,sex,salary\n" + rows)
    return str(path)


#: Run by every Python of a test: reading this one file never ends.
ENDLESS = """
import time
from wideberth.io import documents

def read_text(path, most, read=documents.read_text):
    while path.name == "endless.csv":
        time.sleep(0.1)
    return read(path, most)

documents.read_text = read_text
"""


@pytest.fixture
def waiting(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Arguments of the task "hierarchy" with which it never ends."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(ENDLESS)
    known = os.environ.get("PYTHONPATH")
    paths = [str(tmp_path / "site"), *([known] if known else [])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    (tmp_path / "endless.csv").write_text("18,*\n")
    roles = {"quasi": ["age", "sex"], "sensitive": ["salary"]}
    asked = {"content": {"roles": roles}, "folder": str(tmp_path)}
    return {"path": table, **asked, "column": "age", "rule": "endless.csv"}


def with_jobs(play: Callable[[Jobs], Awaitable[Any]]) -> Any:
    """Do something with jobs in a loop of its own, and leave no process behind."""

    async def main() -> Any:
        jobs = Jobs()
        try:
            return await asyncio.wait_for(play(jobs), SOON)
        finally:
            await asyncio.wait_for(jobs.close(), SOON)

    return asyncio.run(main())


async def at_work(job: Job) -> None:
    """Wait until a job says what it does."""
    while job.phase != "building":
        assert job.state == "running"
        await asyncio.sleep(0.01)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_progress_and_result(table: str) -> None:
    async def play(jobs: Jobs) -> None:
        job = await jobs.start("open", {"path": table})
        assert job.state == "running"
        assert not gone(job.pid)
        phases = []
        while job.state == "running":
            phases.append(job.phase)
            await asyncio.sleep(0.001)
        assert {"reading", "looking at columns"} & set(phases)
        assert job.state == "done"
        assert job.result is not None
        assert job.result["rows"] == 2000
        assert job.outcome() is job.result
        view = job.view()
        assert json.loads(json.dumps(view)) == view
        assert (view["state"], view["task"], view["error"]) == ("done", "open", None)
        assert "result" not in view
        assert job.seconds == job.seconds > 0
        assert gone(job.pid)
        await job.cancel()  # which is too late
        assert job.state == "done"

    with_jobs(play)


@pytest.mark.parametrize("stuck", [False, True], ids=["at work", "stuck"])
def test_cancel(waiting: dict[str, Any], stuck: bool) -> None:
    async def play(jobs: Jobs) -> None:
        job = await jobs.start("hierarchy", waiting)
        await at_work(job)
        if stuck:
            os.kill(job.pid, signal.SIGSTOP)  # from now on it hears nothing but SIGKILL
        await asyncio.gather(job.cancel(), job.cancel())
        assert job.state == "cancelled"
        assert gone(job.pid)
        with pytest.raises(JobError, match="cancelled") as caught:
            job.outcome()
        assert caught.value.kind == "CancelledError"

    with_jobs(play)


def test_a_worker_that_is_killed_takes_nobody_with_it(waiting: dict[str, Any], table: str) -> None:
    async def play(jobs: Jobs) -> None:
        lost, other = await asyncio.gather(
            jobs.start("hierarchy", waiting), jobs.start("open", {"path": table})
        )
        await at_work(lost)
        os.kill(lost.pid, signal.SIGKILL)
        await lost.finished()
        await other.finished()
        assert (lost.state, other.state) == ("failed", "done")
        assert lost.error is not None
        assert lost.error["kind"] == "LostError"
        assert "lack of memory" in lost.error["what"]
        assert lost.error["hint"]

    with_jobs(play)


def test_jobs_do_not_mix(tmp_path: Path) -> None:
    for number in range(4):
        pl.DataFrame({"age": range(number + 2)}).write_csv(tmp_path / f"{number}.csv")

    async def play(jobs: Jobs) -> None:
        started = [await jobs.start("open", {"path": str(tmp_path / f"{n}.csv")}) for n in range(4)]
        assert len({job.number for job in started}) == len({job.pid for job in started}) == 4
        for number, job in enumerate(started):
            await job.finished()
            assert job.outcome()["rows"] == number + 2

    with_jobs(play)


def test_closing_ends_all(waiting: dict[str, Any]) -> None:
    async def play(jobs: Jobs) -> None:
        started = [await jobs.start("hierarchy", waiting) for _ in range(3)]
        await at_work(started[0])
        await jobs.close()
        assert [job.state for job in started] == ["cancelled"] * 3
        assert all(gone(job.pid) for job in started)
        with pytest.raises(JobError):
            await jobs.start("hierarchy", waiting)

    with_jobs(play)


SERVER = """
import asyncio, json, sys
from wideberth.ui.jobs import Jobs

async def main():
    job = await Jobs().start("hierarchy", json.loads(sys.argv[1]))
    while job.phase != "building":
        await asyncio.sleep(0.01)
    print(job.pid, flush=True)
    await job.finished()

asyncio.run(main())
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_server_that_ends_leaves_no_process(waiting: dict[str, Any], end: signal.Signals) -> None:
    words = [sys.executable, "-c", SERVER, json.dumps(waiting)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        pid = int(server.stdout.readline())
        assert not _ended(pid)
        server.send_signal(end)
        server.wait(SOON)
    until = monotonic() + SOON
    while not _ended(pid):
        assert monotonic() < until
        sleep(0.01)


def _ended(pid: int) -> bool:
    """Tell whether a process is gone, or waits for nothing but to be asked how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_who_waits_no_longer_ends_the_job(waiting: dict[str, Any]) -> None:
    async def play(jobs: Jobs) -> None:
        request = asyncio.create_task(jobs.run("hierarchy", waiting))
        while not (running := list(jobs._running)):
            await asyncio.sleep(0.01)
        await at_work(running[0])
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        await running[0].finished()
        assert running[0].state == "cancelled"
        assert gone(running[0].pid)

    with_jobs(play)


@pytest.mark.parametrize(
    ("task", "arguments", "kind", "said"),
    [
        ("open", {"path": "/nowhere/people.csv"}, "TableError", "there is no file"),
        ("open", {"path": "x.csv", "options": {"delimeter": ";"}}, "PolicyError", "unknown key"),
        ("advise", {"content": {"principles": []}, "column": "age"}, "PolicyError", "principles"),
        ("advise", {"content": {}, "column": "wage"}, "TableError", "no column 'wage'"),
        ("open", {"nonsense": 1}, "InternalError", "TypeError"),
        ("conquer", {}, "InternalError", "KeyError"),
    ],
)
def test_kinds_of_errors(
    table: str, task: str, arguments: dict[str, Any], kind: str, said: str
) -> None:
    usual = {} if task != "advise" else {"path": table, "folder": ""}

    async def play(jobs: Jobs) -> None:
        with pytest.raises(JobError) as caught:
            await jobs.run(task, {**usual, **arguments})
        assert caught.value.kind == kind
        assert said in caught.value.what
        assert caught.value.hint
        assert isinstance(caught.value, WideberthError)

    with_jobs(play)


def test_a_release_that_is_not_possible(table: str, tmp_path: Path) -> None:
    content = {
        "roles": {"quasi": ["age", "sex"], "sensitive": ["salary"]},
        "principle": [{"name": "epsilon-m", "epsilon": 40000, "m": 5}],
    }
    made = tmp_path / "made"
    made.mkdir()
    asked = {"path": table, "content": content, "folder": "", "seed": None, "output": str(made)}

    async def play(jobs: Jobs) -> None:
        with pytest.raises(JobError) as caught:
            await jobs.run("release", asked)
        assert caught.value.kind == "InfeasibleError"
        assert "(tried: 0% loss)" in str(caught.value.hint)
        assert list(made.iterdir()) == []

    with_jobs(play)


def test_large_results_arrive_whole(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    values = [f"{'y' * 150} {i}" for i in range(150)]
    pl.DataFrame({f"city {i}": values for i in range(100)}).write_csv(path)

    async def play(jobs: Jobs) -> None:
        found = await jobs.run("open", {"path": str(path)})
        assert all(column["values"] == sorted(values) for column in found["columns"])
        assert len(json.dumps(found)) > 2_000_000

    with_jobs(play)


# ---- the process by itself

COMMAND = [sys.executable, "-P", "-m", "wideberth.ui.worker"]


def begun(task: str, arguments: dict[str, Any], **more: Any) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*COMMAND, task], stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True, **more
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(arguments).encode() + b"\n")
    process.stdin.flush()
    return process


def test_it_refuses_in_the_words_of_the_app(tmp_path: Path) -> None:
    (tmp_path / "pay.csv").write_text('pay\n"1.234,56"\n"2.500,00"\n')
    asked = {"content": {}, "folder": "", "column": "pay", "kind": "float"}
    with begun("fits", {"path": str(tmp_path / "pay.csv"), **asked}) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        *_, last = process.stdout
        process.stdin.close()
    hint = json.loads(last)["error"]["hint"]
    assert "--written" not in hint
    assert "settings in step 1" in hint


def test_it_ends_when_nobody_waits(waiting: dict[str, Any]) -> None:
    with begun("hierarchy", waiting) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert b"reading" in process.stdout.readline()
        assert process.poll() is None
        process.stdin.close()
        assert process.wait(SOON) != 0


def test_it_ends_when_nothing_is_asked() -> None:
    ended = subprocess.run(
        [*COMMAND, "open"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


def test_it_hears_no_interruption(waiting: dict[str, Any]) -> None:
    with begun("hierarchy", waiting) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.terminate()
        assert process.wait(SOON) == -signal.SIGTERM


@pytest.mark.parametrize("talkative", [False, True])
def test_it_says_nothing_but_what_was_agreed(tmp_path: Path, talkative: bool) -> None:
    """A bug is told without values, and whatever prints, prints elsewhere."""
    (tmp_path / "wideberth.py").write_text("")  # which must not be imported instead
    (tmp_path / "secret.csv").write_text("name,salary\nhush,1\nhush,2\n")
    env = {**os.environ, "PYTHONWARNINGS": "error"}
    env.pop("WIDEBERTH_TRACEBACK", None)
    if talkative:
        env["WIDEBERTH_TRACEBACK"] = "1"
    asked = {"path": "secret.csv", "content": {"roles": 5}, "folder": 7, "column": "salary"}
    with begun("advise", asked, cwd=tmp_path, env=env) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stdout]
        assert ("Traceback" in process.stderr.read().decode()) == talkative
        assert process.wait(SOON) == 0
    assert lines[-1]["error"]["kind"] == "InternalError"
    assert "hush" not in str(lines)


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (TableError("the table is empty", hint="another"), "TableError", "the table is empty"),
        (ParameterError("k is wrong"), "ParameterError", "k is wrong"),
        (MemoryError("hush"), "MemoryError", "out of memory"),
        (OSError(28, "No space left on device"), "OSError", "No space left on device"),
        (ValueError("hush"), "InternalError", "wideberth failed unexpectedly (ValueError)"),
        (pl.exceptions.PanicException("hush"), "InternalError", "PanicException"),
    ],
)
def test_errors_hold_no_values(error: BaseException, kind: str, said: str) -> None:
    told = tasks.failure(error)
    assert told["kind"] == kind
    assert said in told["what"]
    assert "hush" not in str(told)


def test_every_task_is_there() -> None:
    assert all(callable(tasks.named(name)) for name in tasks.names())


def test_more_than_the_most_at_once(
    waiting: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One more waits for its turn, and is refused if that does not come."""
    monkeypatch.setattr("wideberth.ui.jobs.MAX_JOBS", 2)

    async def play(jobs: Jobs) -> None:
        running = [await jobs.start("hierarchy", waiting) for _ in range(2)]
        monkeypatch.setattr("wideberth.ui.jobs._PATIENCE", 0.05)
        with pytest.raises(JobError, match="the most at once") as refused:
            await jobs.start("hierarchy", waiting)
        assert refused.value.kind == "BusyError"
        assert refused.value.hint
        monkeypatch.setattr("wideberth.ui.jobs._PATIENCE", SOON)
        next_one = asyncio.create_task(jobs.start("hierarchy", waiting))
        await asyncio.sleep(0)
        assert not next_one.done()
        await running[0].cancel()
        assert (await next_one).state == "running"

    with_jobs(play)
