"""Jobs: each is done by a process of its own, which tells how far it is and can be ended.

So a table is never in the server's memory, a crash takes nothing with it, and whoever waits no
longer need not wait. How the two talk is said in :mod:`wideberth.ui.worker`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Literal, TypeAlias

from wideberth.errors import WideberthError

State: TypeAlias = Literal["running", "done", "failed", "cancelled"]

#: Seconds that a process has to end by itself.
_GRACE = 2.0
#: Jobs at once, and seconds that another one waits for its turn.
MAX_JOBS = 8
_PATIENCE = 10.0
#: Bytes that are read at a time; a result may be many times as long.
_PIECE = 1 << 18
_LOST: dict[str, Any] = {
    "kind": "LostError",
    "what": "the job was ended by the system, perhaps for lack of memory",
    "hint": "close other programs and try again, or take fewer rows or columns",
}
_CANCELLED: dict[str, Any] = {
    "kind": "CancelledError",
    "what": "the job was cancelled",
    "hint": None,
}


_BUSY: dict[str, Any] = {
    "kind": "BusyError",
    "what": f"{MAX_JOBS} jobs are running, which is the most at once",
    "hint": "wait until one of them has ended, or cancel one",
}


class JobError(WideberthError):
    """A job that failed or was cancelled."""

    def __init__(
        self,
        kind: str,
        what: str,
        hint: str | None = None,
        outcome: str | None = None,
        witness: str | None = None,
        tries: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        # `kind` is the name of the error in the process (InfeasibleError, say); LostError if it
        # died, InternalError if it has a bug, CancelledError if it was ended, BusyError if it never
        # began.
        super().__init__(what, hint=hint)
        self.kind, self.outcome, self.witness = kind, outcome, witness
        self.tries = list(tries) or None


class Job:
    """A task at work, made by `Jobs.start`."""

    def __init__(self, number: int, task: str, process: asyncio.subprocess.Process) -> None:
        self.number = number
        self.task = task
        self.state: State = "running"
        self.phase: str | None = None
        self.done = 0
        self.total = 0
        self.result: dict[str, Any] | None = None
        self.error: dict[str, Any] | None = None
        self._process = process
        self._begun = monotonic()
        self._seconds: float | None = None
        self._ended = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def seconds(self) -> float:
        """How long it has been at work, or was."""
        return monotonic() - self._begun if self._seconds is None else self._seconds

    def view(self) -> dict[str, Any]:
        """Return plain values, for JSON: all but the result."""
        return {
            "number": self.number,
            "task": self.task,
            "state": self.state,
            "phase": self.phase,
            "done": self.done,
            "total": self.total,
            "seconds": round(self.seconds, 1),
            "error": self.error,
        }

    async def finished(self) -> None:
        """Wait until it has ended, in whichever way."""
        await self._ended.wait()

    def stop(self) -> None:
        """End it soon, without waiting for that; nothing if it has ended."""
        if self._ending is None and not self._ended.is_set():
            # A task of its own: whoever asks for it may be cancelled meanwhile.
            self._ending = asyncio.create_task(self._end())

    async def cancel(self) -> None:
        """End it, and wait until its process is gone; nothing if it has ended."""
        self.stop()
        await self._ended.wait()

    def outcome(self) -> dict[str, Any]:
        """Return the result of a job that has ended, or raise why there is none."""
        if self.result is None:
            raise JobError(**(self.error or _CANCELLED))
        return self.result

    async def _end(self) -> None:
        self._signal("SIGTERM")
        try:
            await asyncio.wait_for(self._ended.wait(), _GRACE)
        except TimeoutError:
            self._signal("SIGKILL")
            await self._ended.wait()

    def _signal(self, name: str) -> None:
        """Send a signal to the process and all that it has started."""
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self.pid, signal.Signals[name])

    async def follow(self, request: bytes) -> None:
        """Send the process its request, and read what it writes until it has ended."""
        told: dict[str, Any] = {}
        try:
            stdin, stdout = self._process.stdin, self._process.stdout
            assert stdin is not None  # noqa: S101 - both are pipes
            assert stdout is not None  # noqa: S101
            with suppress(ConnectionError):  # it is gone already, which is found out below
                stdin.write(request)
                await stdin.drain()
            heard = bytearray()
            while piece := await stdout.read(_PIECE):
                heard += piece
                if b"\n" in piece:
                    *lines, rest = heard.split(b"\n")
                    heard = rest
                    for line in lines:
                        told = self._hear(line) or told
            stdin.close()  # till now it was open: the process ends itself when it closes
            await self._process.wait()
            with suppress(ConnectionError):
                await stdin.wait_closed()
        finally:
            self._settle(told)

    def _hear(self, line: bytearray) -> dict[str, Any] | None:
        """Take in a line; return it if it is the last word."""
        with suppress(ValueError):
            said: dict[str, Any] = json.loads(line)
            if "progress" not in said:
                return said
            self.phase, self.done, self.total = said["progress"]
        return None

    def _settle(self, told: Mapping[str, Any]) -> None:
        self._seconds = self.seconds
        if self._ending is not None:
            self.state, self.error = "cancelled", dict(_CANCELLED)
        elif "result" in told:
            self.state, self.result = "done", told["result"]
        else:
            self.state, self.error = "failed", told.get("error", dict(_LOST))
        if not told:
            self._signal("SIGKILL")  # what it had started: it could not see to that itself
        self._ended.set()


class Jobs:
    """All jobs that are at work."""

    def __init__(self) -> None:
        self._started = 0
        self._free = asyncio.Semaphore(MAX_JOBS)
        self._running: dict[Job, asyncio.Task[None]] = {}
        self._closed = asyncio.Event()

    async def start(self, task: str, arguments: Mapping[str, Any]) -> Job:
        """Start a job; a `JobError` if too many others are running."""
        if self._closed.is_set():
            raise JobError(**_CANCELLED)
        request = json.dumps(arguments).encode() + b"\n"
        try:
            await asyncio.wait_for(self._free.acquire(), _PATIENCE)
        except TimeoutError:
            raise JobError(**_BUSY) from None
        try:
            process = await _worker(task)
        except BaseException:
            self._free.release()
            raise
        self._started += 1
        job = Job(self._started, task, process)
        following = asyncio.create_task(job.follow(request))
        self._running[job] = following
        following.add_done_callback(lambda _: self._ended(job))
        if self._closed.is_set():  # while the process was being started
            job.stop()
        return job

    def _ended(self, job: Job) -> None:
        del self._running[job]
        self._free.release()

    async def run(self, task: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Do a job and return its result; a job that fails is a `JobError`."""
        # If the waiting task is cancelled, the job is ended.
        job = await self.start(task, arguments)
        try:
            await job.finished()
        except asyncio.CancelledError:
            job.stop()
            raise
        return job.outcome()

    async def close(self) -> None:
        """End all jobs, and start no more."""
        self._closed.set()
        while running := dict(self._running):
            for job in running:
                job.stop()
            await asyncio.wait(running.values())


async def _worker(task: str) -> asyncio.subprocess.Process:
    """Start a process that waits to be told the arguments of its task."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # nothing that lies in the current folder is imported
        "-m",
        "wideberth.ui.worker",
        task,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        # What a library prints there may hold values of the table.
        stderr=None if os.environ.get("WIDEBERTH_TRACEBACK") else asyncio.subprocess.DEVNULL,
        limit=_PIECE,
        start_new_session=True,  # Ctrl-C is for the server, which ends its jobs itself
    )
